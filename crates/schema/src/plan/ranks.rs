//! Who takes part: how many ranks, where they live, their roles and peers, their CPUs and their background load.

use super::error::PlanError;
use super::keys::{option_name, remedy_of};
use super::resolve::Words;
use super::surroundings::Surroundings;
use crate::case::{GroupKind, IdlePolicy, Load, Place, RankSpec, Role};
use crate::units;
use std::net::Ipv6Addr;

/// Most ranks of one group.
const RANKS_MAX: u64 = 1024;

/// The ranks of one case and where they live.
pub(super) struct Group {
    pub kind: GroupKind,
    pub ranks: Vec<RankSpec>,
    pub idle: IdlePolicy,
    pub to: Option<String>,
}

pub(super) fn group(
    words: &Words,
    test: &str,
    transport: &str,
    around: &dyn Surroundings,
) -> Result<Group, PlanError> {
    let named_roles = words.get("roles").map(parse_roles).transpose()?;
    let (kind, count, to) = place(words, transport, named_roles.as_ref().map(Vec::len), around)?;
    let roles = match named_roles {
        Some(roles) if roles.len() != count => {
            return Err(PlanError::new(
                format!("--roles names {} roles for {count} ranks", roles.len()),
                "name one role a rank, or leave --threads and --procs out",
            ));
        }
        Some(roles) => roles,
        None => default_roles(test, count)?,
    };
    if count == 1 && kind == GroupKind::Job && around.job_is_crowded().is_some() {
        return Err(PlanError::new(
            "the job has one rank, which has nobody to talk to",
            "start at least 2 ranks: mpirun -n 2, srun -n 2",
        ));
    }
    if count == 1 && around.default_group(transport, &words.transport_options()).1 != 1 {
        return Err(PlanError::new(
            format!("{transport} needs at least 2 ranks"),
            "use --threads 2 or --procs 2",
        ));
    }
    let mut ranks = pair_up(test, &roles)?;
    // Where ranks of a launcher's job run is for the launcher to say, and only it knows the nodes' CPUs.
    let in_job = kind == GroupKind::Job && around.job_is_crowded().is_some();
    let local = match &to {
        _ if in_job => 0,
        // The far end's CPUs are its own business unless the user names one.
        Some(_) => ranks.len() - far_ranks(&ranks),
        None => ranks.len(),
    };
    if !in_job || words.get("cpus").is_some() {
        set_cpus(words, local, &mut ranks, around)?;
    }
    if let Some(load) = words.get("load") {
        set_load(load, &mut ranks)?;
    }
    let idle = idle_policy(kind, &ranks, around);
    Ok(Group {
        kind,
        ranks,
        idle,
        to,
    })
}

/// Ranks that live at the far end: the workers of a master, else half of all.
fn far_ranks(ranks: &[RankSpec]) -> usize {
    let workers = ranks.iter().filter(|rank| rank.role == Role::Worker).count();
    match workers {
        0 => ranks.len().div_ceil(2),
        workers => workers,
    }
}

fn place(
    words: &Words,
    transport: &str,
    named_roles: Option<usize>,
    around: &dyn Surroundings,
) -> Result<(GroupKind, usize, Option<String>), PlanError> {
    let ranks = |key: &str, text: &str| match units::parse_count(text) {
        Ok(count @ 1..=RANKS_MAX) => Ok(count as usize),
        _ => Err(PlanError::new(
            format!("{} {text} is not a number of ranks", option_name(key)),
            remedy_of(key),
        )),
    };
    if let Some(text) = words.get("threads") {
        return Ok((GroupKind::Threads, ranks("threads", text)?, None));
    }
    let procs = words.get("procs").map(|text| ranks("procs", text)).transpose()?;
    match (words.get("to"), procs) {
        (Some(host), procs) => {
            check_host(host)?;
            // Whoever counts processes means processes, where the server is on this very machine.
            let kind = match procs {
                Some(_) if around.is_this_machine(host) => GroupKind::Processes,
                _ => GroupKind::Hosts,
            };
            let count = procs.or(named_roles).unwrap_or(2);
            return Ok((kind, count, Some(host.to_owned())));
        }
        (None, Some(count)) => return Ok((around.process_group(transport), count, None)),
        (None, None) => {}
    }
    let (kind, count) = around.default_group(transport, &words.transport_options());
    Ok((kind, named_roles.unwrap_or(count), None))
}

fn check_host(host: &str) -> Result<(), PlanError> {
    let bad = |why: &str| Err(PlanError::new(format!("--to {host:?}: {why}"), remedy_of("to")));
    if host.is_empty() || host.contains(char::is_whitespace) || host.contains('/') {
        return bad("not a host");
    }
    // More than one colon is a bare IPv6 address; `[::1]:7` carries its port after the bracket.
    let bracketed = host.strip_prefix('[').map(|rest| rest.split_once(']'));
    let (address, port) = match bracketed {
        Some(Some((address, ""))) => (Some(address), None),
        Some(Some((address, rest))) => (Some(address), Some(rest.strip_prefix(':').unwrap_or(""))),
        Some(None) => return bad("not a host"),
        None if host.matches(':').count() > 1 => (Some(host), None),
        None => (None, host.split_once(':').map(|(_, port)| port)),
    };
    // A scope such as %eth0 may follow.
    let is_ipv6 = |text: &str| {
        text.split('%')
            .next()
            .is_some_and(|ip| ip.parse::<Ipv6Addr>().is_ok())
    };
    if address.is_some_and(|text| !is_ipv6(text)) || host.starts_with(':') && address.is_none() {
        return bad("not a host");
    }
    match port.map(str::parse::<u16>) {
        Some(Ok(0) | Err(_)) => bad("not a port from 1 to 65535"),
        _ => Ok(()),
    }
}

fn parse_roles(text: &str) -> Result<Vec<Role>, PlanError> {
    let offered = [
        Role::Source,
        Role::Sink,
        Role::Hub,
        Role::Worker,
        Role::Neighbour,
        Role::Idle,
    ];
    text.split(',')
        .map(|word| {
            let named = |role: &Role| role.name() == word.trim();
            let found = offered.into_iter().find(named);
            found.ok_or_else(|| PlanError::unknown("role", word.trim(), &offered.map(Role::name)))
        })
        .collect()
}

fn default_roles(test: &str, count: usize) -> Result<Vec<Role>, PlanError> {
    if test == "hub_lat" {
        let workers = std::iter::repeat_n(Role::Worker, count.saturating_sub(1));
        return Ok(std::iter::once(Role::Hub).chain(workers).collect());
    }
    if test == "msgrate" {
        return Ok(vec![Role::Neighbour; count]);
    }
    if count == 1 || test == "am_alltoall" {
        return Ok(vec![Role::Source; count]);
    }
    if count % 2 == 1 {
        return Err(PlanError::new(
            format!("{test} needs pairs of ranks, {count} do not pair up"),
            format!(
                "use {} ranks, or name the roles: --roles source,sink,idle",
                count + 1
            ),
        ));
    }
    let (half, source, sink) = (count / 2, Role::Source, Role::Sink);
    Ok((0..count).map(|r| if r < half { source } else { sink }).collect())
}

/// Gives every rank its peer: the first source pairs with the first sink, and so on (rank i with rank i + n/2 by
/// default); a lone source is its own peer; hub and workers have no single one.
fn pair_up(test: &str, roles: &[Role]) -> Result<Vec<RankSpec>, PlanError> {
    let of = |role: Role| -> Vec<u32> {
        let numbered = roles.iter().enumerate();
        numbered
            .filter(|(_, r)| **r == role)
            .map(|(i, _)| i as u32)
            .collect()
    };
    let (sources, sinks, hubs, workers) = (of(Role::Source), of(Role::Sink), of(Role::Hub), of(Role::Worker));
    if test == "am_alltoall" {
        return everybody(roles, sources.len());
    }
    if test == "msgrate" {
        return match roles.iter().all(|role| *role == Role::Neighbour) {
            true => Ok(roles.iter().map(|&role| unpaired_rank(role)).collect()),
            false => Err(PlanError::new(
                "msgrate has no roles: all ranks are neighbours",
                "leave --roles out",
            )),
        };
    }
    let hub_test = test == "hub_lat";
    if hub_test && (hubs.len() != 1 || workers.is_empty() || !sources.is_empty() || !sinks.is_empty()) {
        return Err(PlanError::new(
            "hub_lat needs one hub and at least one worker, and no other roles but idle",
            "use at least 2 ranks, or name the roles: --roles hub,worker,worker",
        ));
    }
    let lone = roles == [Role::Source];
    let unpaired = sources.is_empty() || sources.len() != sinks.len();
    let strangers = !hubs.is_empty() || !workers.is_empty() || roles.contains(&Role::Neighbour);
    if !hub_test && !lone && (unpaired || strangers) {
        return Err(PlanError::new(
            format!("{test} needs as many sinks as sources, and no other roles but idle"),
            "name the roles in pairs: --roles source,sink,idle",
        ));
    }
    let peer = |rank: u32| {
        let across = |from: &[u32], to: &[u32]| from.iter().position(|r| *r == rank).map(|at| to[at]);
        match roles[rank as usize] {
            Role::Source if lone => Some(rank),
            Role::Source => across(&sources, &sinks),
            Role::Sink => across(&sinks, &sources),
            _ => None,
        }
    };
    let spec = |rank: u32| RankSpec {
        peer: peer(rank),
        ..unpaired_rank(roles[rank as usize])
    };
    Ok((0..roles.len() as u32).map(spec).collect())
}

/// The ranks of `am_alltoall`: every source exchanges with every other one.
fn everybody(roles: &[Role], sources: usize) -> Result<Vec<RankSpec>, PlanError> {
    let strange = roles.iter().any(|r| !matches!(r, Role::Source | Role::Idle));
    if sources < 2 || strange {
        return Err(PlanError::new(
            "am_alltoall needs at least 2 sources, and no other roles but idle",
            "use at least 2 ranks, or name the roles: --roles source,source,source",
        ));
    }
    Ok(roles.iter().map(|&role| unpaired_rank(role)).collect())
}

fn unpaired_rank(role: Role) -> RankSpec {
    RankSpec {
        role,
        peer: None,
        cpu: None,
        load: Load::default(),
    }
}

fn set_cpus(
    words: &Words,
    local_ranks: usize,
    ranks: &mut [RankSpec],
    around: &dyn Surroundings,
) -> Result<(), PlanError> {
    match words.get("cpus") {
        None => {
            for (rank, cpu) in ranks.iter_mut().zip(around.default_cpus(local_ranks)) {
                rank.cpu = cpu;
            }
            Ok(())
        }
        Some(text) => pin(text, ranks, (local_ranks, &around.cpus_allowed())),
    }
}

/// Pin `ranks` to the CPUs of `text`, one a rank: `0,1`, `0-3`, `0,none`, or `none` for all. The first `local` of them run on
/// this machine, and may use `allowed` only, where that is known. Errors where the text makes no sense.
pub fn pin(text: &str, ranks: &mut [RankSpec], (local, allowed): (usize, &[u32])) -> Result<(), PlanError> {
    if text == "none" {
        return Ok(());
    }
    let cpus = parse_cpus(text)?;
    if cpus.len() != ranks.len() {
        let one = if ranks.len() == 1 { "rank" } else { "ranks" };
        return Err(PlanError::new(
            format!("--cpus names {} CPUs for {} {one}", cpus.len(), ranks.len()),
            remedy_of("cpus"),
        ));
    }
    let strange = cpus.iter().take(local).flatten().find(|c| !allowed.contains(c));
    if let Some(cpu) = strange.filter(|_| !allowed.is_empty()) {
        return Err(PlanError::new(
            format!("--cpus: CPU {cpu} is not one that this process may use"),
            format!("choose from: {}", list(allowed)),
        ));
    }
    for (rank, cpu) in ranks.iter_mut().zip(cpus) {
        rank.cpu = cpu;
    }
    Ok(())
}

fn list(cpus: &[u32]) -> String {
    let words: Vec<_> = cpus.iter().map(u32::to_string).collect();
    words.join(",")
}

/// `0,1`, `0-3`, `0,none`.
fn parse_cpus(text: &str) -> Result<Vec<Option<u32>>, PlanError> {
    let fail = || {
        PlanError::new(
            format!("--cpus {text:?} is not a list of CPUs"),
            remedy_of("cpus"),
        )
    };
    let mut cpus = Vec::new();
    for word in text.split(',').map(str::trim) {
        match word.split_once('-') {
            _ if word == "none" => cpus.push(None),
            None => cpus.push(Some(word.parse().map_err(|_| fail())?)),
            Some((first, last)) => {
                let first: u32 = first.parse().map_err(|_| fail())?;
                let last: u32 = last.parse().map_err(|_| fail())?;
                if last < first || u64::from(last - first) >= RANKS_MAX {
                    return Err(fail());
                }
                cpus.extend((first..=last).map(Some));
            }
        }
    }
    Ok(cpus)
}

/// `cpu=2,memory=1G` for every rank, `1:log=1` for rank 1; several, separated by blanks, add up.
fn set_load(text: &str, ranks: &mut [RankSpec]) -> Result<(), PlanError> {
    let fail = |why: &str| PlanError::new(format!("--load {text:?}: {why}"), remedy_of("load"));
    for clause in text.split_whitespace().filter(|clause| *clause != "none") {
        let (rank, settings) = match clause.split_once(':') {
            Some((rank, settings)) => {
                let rank: usize = rank.parse().map_err(|_| fail("no rank before the colon"))?;
                (Some(rank), settings)
            }
            None => (None, clause),
        };
        if rank.is_some_and(|r| r >= ranks.len()) {
            return Err(fail("no such rank"));
        }
        for (number, spec) in ranks.iter_mut().enumerate() {
            if rank.is_none_or(|r| r == number) {
                apply_load(settings, &mut spec.load).map_err(|why| fail(&why))?;
            }
        }
    }
    Ok(())
}

fn apply_load(settings: &str, load: &mut Load) -> Result<(), String> {
    let count = |text: &str| match units::parse_count(text) {
        Ok(n @ 0..=RANKS_MAX) => Ok(n as u32),
        _ => Err(format!("{text:?} is not a number of threads up to {RANKS_MAX}")),
    };
    let size = |text: &str| units::parse_size(text).map_err(|e| e.to_string());
    for setting in settings.split(',') {
        let (key, value) = setting.split_once('=').ok_or("a setting is KEY=VALUE")?;
        match key.trim().replace('_', "-").as_str() {
            "cpu" => load.cpu_threads = count(value)?,
            "log" => load.log_threads = count(value)?,
            "bandwidth" => load.bandwidth_threads = count(value)?,
            "cache" => load.cache_threads = count(value)?,
            "place" => load.place = place_of_load(value)?,
            "memory" => load.memory_bytes = size(value)?,
            "touch" => (load.touch_bytes, load.touch_once) = (size(value)?, false),
            "touch-once" => (load.touch_bytes, load.touch_once) = (size(value)?, true),
            other => return Err(format!("there is no load {other:?}")),
        }
    }
    if load.memory_bytes == 0 {
        load.memory_bytes = load.touch_bytes;
    }
    if load.touch_bytes > load.memory_bytes {
        return Err("touch is more than memory".to_owned());
    }
    Ok(())
}

fn place_of_load(name: &str) -> Result<Place, String> {
    let names = Place::ALL.map(Place::name).join(", ");
    Place::of_name(name).ok_or(format!("there is no place {name:?}; there are: {names}"))
}

/// Ranks spin while each has a CPU of its own; else they give it away at every empty poll.
fn idle_policy(kind: GroupKind, ranks: &[RankSpec], around: &dyn Surroundings) -> IdlePolicy {
    if let (GroupKind::Job, Some(crowded)) = (kind, around.job_is_crowded()) {
        return if crowded {
            IdlePolicy::Yield
        } else {
            IdlePolicy::Spin
        };
    }
    let busy = ranks.iter().filter(|r| r.role != Role::Idle);
    let mut pinned: Vec<u32> = busy.clone().filter_map(|r| r.cpu).collect();
    let named = pinned.len();
    pinned.sort_unstable();
    pinned.dedup();
    // A far machine that several workers share is thought to be like this one.
    let workers = busy.clone().filter(|rank| rank.role == Role::Worker).count();
    let local = match kind {
        GroupKind::Hosts => workers.max(1),
        _ => busy.count(),
    };
    let crowded = local > around.cpus_allowed().len().max(1);
    if crowded || (kind != GroupKind::Hosts && pinned.len() < named) {
        IdlePolicy::Yield
    } else {
        IdlePolicy::Spin
    }
}
