//! `wirespeed mesh`: which of many hosts is slow, or which link between them. Words to hosts, cases and campaigns; the experiment
//! runs cycles of rounds, the judgement asks for closer looks, and what is known goes into one section.

mod allowance;
mod attempts;
mod case;
mod congestion;
mod failures;
mod figures;
mod ground;
mod hostfile;
mod known;
mod pairs;
mod plan;
mod rails;
mod roster;
mod rounds;
mod seats;
mod shown;
mod storm;
#[cfg(test)]
mod tests;
mod turn;

use super::front::Front;
use crate::args::{ColorChoice, MeshArgs};
use crate::errors::{Ended, Failure, exit};
use crate::experiment::{Found, How, Prepared, loads};
use ground::Hosts;
use known::Known;
use plan::{Mesh, refused};
use rounds::Rounds;
use shown::Shown;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Instant;
use wirespeed::Registry;
use wirespeed_mesh::{Mode, Plan as Pairs};
use wirespeed_report::interference::Loaded;
use wirespeed_report::mesh::outcome::is_open;
use wirespeed_report::mesh::words::named;
use wirespeed_schema::Finite;
use wirespeed_schema::mesh::{MeshCulprit, MeshHost, MeshMode, MeshPairs, MeshProbe, MeshSection};
use wirespeed_schema::order::map_of;
use wirespeed_schema::run::{CaseResult, CaseStatus, Repetition, Status};

/// Cycles of the survey where the words do not say.
const CYCLES: u32 = 3;
/// Culprits that the last line names.
const NAMED_MAX: usize = 4;

/// Measure a mesh.
pub fn mesh(registry: &Registry, arguments: &MeshArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let began = Instant::now();
    let mut mesh = Mesh::of(arguments)?;
    let mut words = arguments.experiment.clone();
    // Those are one a host, and not one for each end of a pair.
    words.cpus.clear();
    let usual = if arguments.pattern.is_empty() {
        CYCLES
    } else {
        loads::ROUNDS
    };
    let mut how = How::of(&words, (&mut mesh.plan, usual), (&arguments.output, color))?;
    mesh.settle(registry, arguments, &how)?;
    how.repeats = mesh.cycles;
    let beside = |storm: &congestion::Asked| Loaded {
        load: storm.load.clone(),
        place: String::new(),
    };
    how.storms = mesh.storms.iter().map(beside).collect();
    let storms = |case: &Prepared| mesh.storms_of(registry, &case.planned.case);
    let storms = mesh.cases.iter().map(storms).collect::<Result<Vec<_>, _>>()?;
    if arguments.experiment.dry_run {
        return mesh.dry_run(&how, arguments.output.json);
    }
    let mut front = Front::open((&arguments.output, color), Some(mesh.plan.clone()))?;
    let draws = how.shows_its_own();
    let runs = how.repeats as usize * mesh.cases.len() * mesh.cells_of_case();
    let (campaigns, tags) = mesh.campaigns()?;
    let time = (mesh.allowance(), began);
    let known = Rc::new(RefCell::new(Known::new(mesh.roster.hosts.len(), campaigns, time)));
    let ground = Hosts::of(
        registry,
        &arguments.hosts,
        (&mesh.roster, !how.storms.is_empty(), mesh.silence),
        &front.stop,
    )?;
    let mut rounds = Rounds::new(
        (&ground, storms),
        &mesh.roster,
        (known.clone(), tags.clone()),
        Shown::new(runs, !draws),
    );
    let mut experiment = front.experiment(how, &mut rounds).with(vec![mesh.cases()])?;
    let all: Vec<usize> = (0..tags.len()).collect();
    experiment.measure(&all)?;
    for subject in all {
        // What seems slow is measured again, with others, until more would not help.
        while !experiment.is_over() && known.borrow_mut().wants_look(subject)? {
            experiment.rounds(&[subject], 1)?;
        }
    }
    let mut found = experiment.finish()?;
    drop(rounds);
    found.alike = alike(&mut known.borrow_mut(), &found);
    let section = section(&mesh, &mut known.borrow_mut(), (&tags, &found))?;
    let loaded = under_load(&mut known.borrow_mut(), &found);
    failures::tell(&mut found.results, &section, &loaded);
    front.draft.put(&section);
    let shown = section.clone().with_short_names();
    let slow = slow(&shown, &found.results);
    let ended = front.publish(found)?;
    let graver = [exit::INTERRUPTED, Status::WrongData.exit_code()];
    Ok(match slow {
        Some(failure) if !graver.contains(&ended.code) => Ended::badly(failure),
        None if ended.code == Ended::OK.code && is_open(&section) => Ended::badly(untold()),
        _ => ended,
    })
}

/// The runs of each cell that are compared: none where no cycle with its load met one without.
fn alike(known: &mut Known, found: &Found) -> BTreeMap<usize, [Vec<Repetition>; 2]> {
    let of_cell = |cell: &usize| (*cell, known.alike.remove(cell).unwrap_or_default());
    map_of(found.cells.iter().map(of_cell))
}

/// What became of the results under loads.
fn under_load(known: &mut Known, found: &Found) -> Vec<MeshProbe> {
    let cells = (0..).zip(&found.cells);
    let loaded = cells.filter_map(|(case, cell)| Some(known.under_load.remove(cell)?.told(case)));
    loaded.collect()
}

/// What is published of the mesh.
fn section(mesh: &Mesh, known: &mut Known, (tags, found): (&[&str], &Found)) -> Result<MeshSection, Failure> {
    let campaigns = std::mem::take(&mut known.campaigns);
    let hosts = mesh.roster.hosts.iter().zip(&known.lost).enumerate();
    let host = |(number, (host, lost)): (usize, (&roster::Host, &Option<String>))| MeshHost {
        name: host.name.clone(),
        unit: mesh.unit_of(number),
        options: host.options.clone(),
        lost: lost.clone(),
    };
    let mut section = MeshSection {
        hosts: hosts.map(host).collect(),
        units: mesh.unit_names.clone(),
        mode: match mesh.options.mode {
            Mode::Loaded => MeshMode::Loaded,
            Mode::Isolated => MeshMode::Isolated,
        },
        pairs: match mesh.pairs {
            Pairs::All => MeshPairs::All,
            Pairs::Budget(_) => MeshPairs::Matchings,
            Pairs::Given(_) => MeshPairs::Given,
        },
        rounds: mesh.schedule()?.estimate().rounds as u64,
        cycles: mesh.cycles,
        seed: mesh.options.seed,
        false_alarm_ratio: Finite::maybe(mesh.options.false_alarm).unwrap_or_default(),
        material_ratio: Finite::maybe(mesh.options.material).unwrap_or_default(),
        probes: Vec::new(),
        storms: Vec::new(),
    };
    for (subject, (campaign, tag)) in campaigns.into_iter().zip(tags).enumerate() {
        // A case that cannot run leaves no question open.
        let case = found.without_load(subject);
        if let Some(case) = case.filter(|case| found.results[*case].status != CaseStatus::Skipped) {
            let probe = campaign
                .finish(case as u32, tag)
                .map_err(|error| refused(&error))?;
            section.probes.push(probe);
            section
                .storms
                .extend(mesh.published_storms((subject, case), &known.moved));
        }
    }
    Ok(section)
}

/// That nothing is known to be slow is no news where something slow might hide.
fn untold() -> Failure {
    Failure::with(
        exit::INCONCLUSIVE,
        "cannot tell whether a host or link is slow",
        "measure each pair longer (--duration or -n behind the `--`), on quieter hosts, or more hosts; the result has the reason",
    )
}

/// What is slow, as the last words of a run, where something is.
fn slow(section: &MeshSection, results: &[CaseResult]) -> Option<Failure> {
    let rail = |probe: &MeshProbe| results.get(probe.case as usize)?.case.rail.as_deref();
    let rails: BTreeSet<&str> = section.probes.iter().filter_map(rail).collect();
    let mut found: Vec<(String, BTreeSet<&str>)> = Vec::new();
    let verdicts = || section.probes.iter().flat_map(|probe| &probe.verdicts);
    let is_open = verdicts().all(|verdict| matches!(verdict.culprit, MeshCulprit::Undecided { .. }));
    for probe in &section.probes {
        for verdict in &probe.verdicts {
            let name = named(section, verdict.culprit);
            let known = found.iter().position(|(known, _)| *known == name);
            let at = known.unwrap_or_else(|| {
                found.push((name, BTreeSet::new()));
                found.len() - 1
            });
            found[at].1.extend(rail(probe));
        }
    }
    let more = found.len().saturating_sub(NAMED_MAX);
    found.truncate(NAMED_MAX);
    let on_rails = |(name, on): (String, BTreeSet<&str>)| match on == rails {
        true => name,
        false => format!("{name} on rail {}", Vec::from_iter(on).join(" and ")),
    };
    let names: Vec<String> = found.into_iter().map(on_rails).collect();
    let tail = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (!names.is_empty()).then(|| {
        Failure::with(
            exit::GATE,
            format!("slow: {}{tail}", names.join(", ")),
            match is_open {
                true => "measure it with more hosts, or its pairs alone: --isolated with --pairs FILE",
                false => "take it out of use, or measure its pairs alone: --isolated with --pairs FILE",
            },
        )
    })
}
