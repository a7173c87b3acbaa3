//! How often a mesh is judged rightly, on simulated meshes: prints tables. It must never measure a machine, but for the
//! time and memory of the last row.

use std::time::Instant;
use wirespeed_mesh::simulate::{Fault, Mesh, Noise};
use wirespeed_mesh::{Culprit, Figure, Judgement, Mode, Options, Pair, Plan, Report, Schedule};
use wirespeed_report::stats::share_interval;

/// Meshes of a row where the environment's `MESHES` does not say how many.
const MESHES: usize = 200;

fn meshes() -> usize {
    let asked = std::env::var("MESHES").ok().and_then(|asked| asked.parse().ok());
    asked.unwrap_or(MESHES)
}

/// How often something was so.
#[derive(Default)]
struct Tally {
    right: usize,
    other_kind: usize,
    extra: usize,
    nothing: usize,
}

fn main() -> Result<(), wirespeed_mesh::MeshError> {
    println!("| mesh | found | other kind | more | nothing |");
    println!("|---|---|---|---|---|");
    for hosts in [16, 128] {
        let link = Pair { from: 3, to: 9 };
        row(hosts, "healthy", Plan::All, |_| {})?;
        for slow in [0.9, 0.8, 0.6] {
            for (what, fault) in [
                ("host sends", Fault::Sender(5, slow)),
                ("host receives", Fault::Receiver(5, slow)),
                ("host", Fault::Host(5, slow)),
                ("link", Fault::Link(link, slow)),
            ] {
                row(hosts, &format!("{what} at {slow}"), Plan::All, |mesh| {
                    mesh.faults = vec![fault]
                })?;
            }
        }
        outside(hosts, link)?;
    }
    for hosts in [128_usize, 256] {
        let budget = Plan::Budget(10 * hosts.ilog2() as usize);
        row(hosts, "budget, healthy", budget.clone(), |_| {})?;
        row(hosts, "budget, host at 0.8", budget.clone(), |mesh| {
            mesh.faults = vec![Fault::Host(5, 0.8)];
        })?;
        row(hosts, "budget, unit of 8 at 0.8", budget, |mesh| {
            mesh.unit = 8;
            mesh.faults = vec![Fault::Unit(2, 0.8)];
        })?;
    }
    small()?;
    cycles()?;
    missing()?;
    units()?;
    match is_asked("10000 hosts") {
        true => [0, 100].into_iter().try_for_each(large),
        false => Ok(()),
    }
}

/// What the model does not have.
fn outside(hosts: usize, link: Pair) -> Result<(), wirespeed_mesh::MeshError> {
    row(hosts, "heavy tails, healthy", Plan::All, |mesh| {
        mesh.law = Noise::HeavyTails
    })?;
    row(hosts, "heavy tails, host at 0.8", Plan::All, |mesh| {
        mesh.law = Noise::HeavyTails;
        mesh.faults = vec![Fault::Host(5, 0.8)];
    })?;
    row(hosts, "heavy tails, link at 0.8", Plan::All, |mesh| {
        mesh.law = Noise::HeavyTails;
        mesh.faults = vec![Fault::Link(link, 0.8)];
    })?;
    row(hosts, "two hosts at 0.8", Plan::All, |mesh| {
        mesh.faults = vec![Fault::Host(5, 0.8), Fault::Host(11, 0.8)];
    })?;
    row(hosts, "10 % of the hosts at 0.8", Plan::All, |mesh| {
        mesh.faults = (0..hosts.div_ceil(10))
            .map(|host| Fault::Host(host, 0.8))
            .collect();
    })?;
    row(hosts, "a quarter of the hosts at 0.8", Plan::All, |mesh| {
        mesh.faults = (0..hosts / 4).map(|host| Fault::Host(host, 0.8)).collect();
    })?;
    row(hosts, "host and link at 0.8", Plan::All, |mesh| {
        mesh.faults = vec![Fault::Host(5, 0.8), Fault::Link(link, 0.8)];
    })?;
    row(hosts, "spread 3 %, healthy", Plan::All, |mesh| mesh.spread = 0.03)?;
    row(hosts, "spread 3 %, host at 0.8", Plan::All, |mesh| {
        mesh.spread = 0.03;
        mesh.faults = vec![Fault::Host(5, 0.8)];
    })
}

/// Few partners.
fn small() -> Result<(), wirespeed_mesh::MeshError> {
    for hosts in [2, 3, 4, 5, 6, 8] {
        row(hosts, "healthy", Plan::All, |_| {})?;
        row(hosts, "spread 3 %, healthy", Plan::All, |mesh| mesh.spread = 0.03)?;
        row(hosts, "host sends at 0.6", Plan::All, |mesh| {
            mesh.faults = vec![Fault::Sender(1, 0.6)];
        })?;
        row(hosts, "host at 0.6", Plan::All, |mesh| {
            mesh.faults = vec![Fault::Host(1, 0.6)];
        })?;
        row(hosts, "link at 0.6", Plan::All, |mesh| {
            mesh.faults = vec![Fault::Link(Pair { from: 0, to: 1 }, 0.6)];
        })?;
        row(hosts, "3 cycles, host at 0.6", Plan::All, |mesh| {
            mesh.faults = vec![Fault::Host(1, 0.6)];
            mesh.cycles = 3;
        })?;
    }
    Ok(())
}

/// Several figures of each pair.
fn cycles() -> Result<(), wirespeed_mesh::MeshError> {
    for cycles in [2, 3, 5] {
        for (name, fault) in [
            ("healthy", None),
            ("host at 0.9", Some(Fault::Host(5, 0.9))),
            ("link at 0.9", Some(Fault::Link(Pair { from: 3, to: 9 }, 0.9))),
        ] {
            row(16, &format!("{cycles} cycles, {name}"), Plan::All, |mesh| {
                mesh.cycles = cycles;
                mesh.faults = fault.into_iter().collect();
            })?;
        }
    }
    Ok(())
}

/// Measurements that fail.
fn missing() -> Result<(), wirespeed_mesh::MeshError> {
    for (name, fault) in [
        ("healthy", None),
        ("host at 0.8", Some(Fault::Host(5, 0.8))),
        ("link at 0.8", Some(Fault::Link(Pair { from: 3, to: 9 }, 0.8))),
    ] {
        row(
            16,
            &format!("a host lost, 10 % of pairs fail, {name}"),
            Plan::All,
            |mesh| {
                (mesh.lost, mesh.failing) = (Some(7), 0.1);
                mesh.faults = fault.into_iter().collect();
            },
        )?;
    }
    Ok(())
}

/// A slow unit beside a slow host.
fn units() -> Result<(), wirespeed_mesh::MeshError> {
    for (hosts, unit) in [(32, 4), (128, 8)] {
        row(hosts, "unit and host of another at 0.8", Plan::All, |mesh| {
            mesh.unit = unit;
            mesh.faults = vec![Fault::Unit(2, 0.8), Fault::Host(1, 0.8)];
        })?;
        row(hosts, "units, healthy", Plan::All, |mesh| mesh.unit = unit)?;
    }
    Ok(())
}

/// Whether a row is to be made: arguments of the program are parts of the names of rows, and without any all are.
fn is_asked(row: &str) -> bool {
    let mut asked = std::env::args().skip(1).peekable();
    asked.peek().is_none() || asked.any(|part| row.contains(&part))
}

/// Judge meshes that `change` gives their faults, and print a line.
fn row(
    hosts: usize,
    name: &str,
    plan: Plan,
    change: impl Fn(&mut Mesh),
) -> Result<(), wirespeed_mesh::MeshError> {
    let line = format!("{hosts}: {name}");
    if !is_asked(&line) {
        return Ok(());
    }
    let mut tally = Tally::default();
    for seed in 1..=meshes() as u64 {
        let mut mesh = Mesh::healthy(hosts, seed);
        change(&mut mesh);
        let options = Options {
            seed,
            ..Options::default()
        };
        let report = mesh.judged(plan.clone(), options)?;
        count(&mut tally, &mesh, &report);
    }
    let share = |count: usize| {
        let (lower, upper) = share_interval(count, meshes());
        format!("{count} ({:.1} .. {:.1} %)", lower * 100.0, upper * 100.0)
    };
    println!(
        "| {line} | {} | {} | {} | {} |",
        share(tally.right),
        share(tally.other_kind),
        share(tally.extra),
        share(tally.nothing)
    );
    Ok(())
}

fn count(tally: &mut Tally, mesh: &Mesh, report: &Report) {
    let is = |fault: &Fault, culprit: Culprit| match (*fault, culprit) {
        (Fault::Sender(a, _), Culprit::Host { host, side }) => {
            a == host && side == wirespeed_mesh::Side::Sends
        }
        (Fault::Receiver(a, _), Culprit::Host { host, side }) => {
            a == host && side == wirespeed_mesh::Side::Receives
        }
        (Fault::Host(a, _), Culprit::Host { host, side }) => a == host && side == wirespeed_mesh::Side::Both,
        (Fault::Sender(a, _), Culprit::Undecided { host, side }) => {
            a == host && side == wirespeed_mesh::Side::Sends && mesh.hosts < 4
        }
        (Fault::Host(a, _), Culprit::Undecided { host, side }) => {
            a == host && side == wirespeed_mesh::Side::Both && mesh.hosts < 4
        }
        (Fault::Link(pair, _), Culprit::Link { from, to, both }) => pair == Pair { from, to } && !both,
        (Fault::Unit(a, _), Culprit::Unit { unit, .. }) => a == unit,
        _ => false,
    };
    let all = mesh
        .faults
        .iter()
        .all(|fault| report.verdicts.iter().any(|v| is(fault, v.culprit)));
    let mut extra = report
        .verdicts
        .iter()
        .filter(|v| !mesh.faults.iter().any(|fault| is(fault, v.culprit)));
    let of_link = |v: &wirespeed_mesh::Verdict| matches!(v.culprit, Culprit::Link { .. });
    let link_asked = mesh.faults.iter().any(|fault| matches!(fault, Fault::Link(..)));
    let is_other = !mesh.faults.is_empty() && extra.clone().any(|v| of_link(v) != link_asked);
    tally.right += usize::from(all && !is_other);
    tally.other_kind += usize::from(is_other);
    tally.extra += usize::from(extra.next().is_some());
    tally.nothing += usize::from(report.verdicts.is_empty());
}

/// Ten thousand hosts under a budget, the first `slow` of which send at 0.8.
fn large(slow: usize) -> Result<(), wirespeed_mesh::MeshError> {
    let hosts = 10_000_usize;
    let start = Instant::now();
    let budget = Plan::Budget(10 * hosts.ilog2() as usize);
    let schedule = Schedule::new(hosts, budget, Mode::Loaded, 1)?;
    let pairs = schedule.rounds().flatten().count();
    let scheduled = start.elapsed();
    let mut random = wirespeed_report::stats::Random::new(1);
    let mut measured = |pair: Pair| Figure {
        pair,
        value: Some((0.05 * random.normal()).exp() * if pair.from < slow { 0.8 } else { 1.0 }),
    };
    let survey: Vec<Figure> = schedule.rounds().flatten().map(&mut measured).collect();
    let start = Instant::now();
    let mut judgement = Judgement::new(hosts, &[], Options::default(), &survey)?;
    let mut looks = 0;
    while let Some(asked) = judgement.next_looks() {
        let figures: Vec<Figure> = asked.rounds.into_iter().flatten().map(&mut measured).collect();
        looks += figures.len();
        judgement.look(&figures)?;
    }
    let named = judgement.report().verdicts.len();
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = memory
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or_default();
    println!(
        "\n{hosts} hosts, {slow} slow, {pairs} pairs: schedule {:.2} s, judgement {:.2} s with {looks} fresh figures, {named} named; {peak}",
        scheduled.as_secs_f64(),
        start.elapsed().as_secs_f64(),
    );
    Ok(())
}
