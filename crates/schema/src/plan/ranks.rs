//! Who takes part: how many ranks, where they live, their roles and peers, their CPUs and their background load.

use super::cpus::{CPUS, set_cpus};
use super::error::PlanError;
use super::load::{LOAD, set_load};
use super::surroundings::Surroundings;
use crate::case::{GroupKind, RankSpec, Role, TransportOptions};
use crate::kinds::{Kind, Roles};
use crate::order::map_of;
use crate::parameter::{Parameter, Section, Values};
use crate::units::counted;
use crate::words::Words;
use std::net::Ipv6Addr;

/// `--to`.
pub static TO: Parameter = Parameter {
    key: "to",
    letters: &['c'],
    value_name: "HOST[:PORT]",
    section: Section::Ranks,
    help: "Run the other rank on HOST, where `wirespeed serve` listens; for bulk_get and bulk_put http://HOST:PORT/PATH",
    remedy: "name the machine where `wirespeed serve` runs: HOST or HOST:PORT",
    example: "to = \"192.0.2.2:7411\"",
    ..Parameter::NAME
};

/// `--threads`.
pub static THREADS: Parameter = Parameter {
    key: "threads",
    section: Section::Ranks,
    help: "Use N threads of one process as ranks instead of processes",
    remedy: "give a number of ranks from 1 to 1024, such as 2",
    example: "threads = 2",
    ..Parameter::COUNT
};

/// `--procs`.
pub static PROCS: Parameter = Parameter {
    key: "procs",
    section: Section::Ranks,
    help: "Start N processes on this machine as ranks [default: 2, threads for transports that need them]",
    remedy: "give a number of ranks from 1 to 1024, such as 2",
    example: "procs = 2",
    ..Parameter::COUNT
};

/// `--roles`.
pub static ROLES: Parameter = Parameter {
    key: "roles",
    value_name: "LIST",
    values: Values::Lists,
    section: Section::Ranks,
    help: "What each rank does: source,sink,idle or hub,worker,worker [default: rank i sends to rank i + N/2]",
    remedy: "name one role a rank: source, sink, hub, worker, idle; separate alternatives by ;",
    example: "roles = \"sink,source\"",
    ..Parameter::NAME
};

/// Most ranks of one group.
pub(super) const RANKS_MAX: u64 = 1024;

/// The ranks of one case and where they live.
pub(super) struct Group {
    pub kind: GroupKind,
    pub ranks: Vec<RankSpec>,
    pub to: Option<String>,
    /// Options of the transport that follow from the place.
    pub options: TransportOptions,
}

pub(super) fn group(
    words: &Words,
    kind: &Kind,
    transport: &str,
    around: &dyn Surroundings,
) -> Result<Group, PlanError> {
    if let Roles::Near(role) = kind.roles {
        return near(words, role, around);
    }
    let named_roles = words.get(&ROLES).map(parse_roles).transpose()?;
    let (place, count, to) = place(words, transport, named_roles.as_ref().map(Vec::len), around)?;
    let roles = match named_roles {
        Some(roles) if roles.len() != count => {
            return Err(PlanError::new(
                format!(
                    "--roles names {} for {}",
                    counted(roles.len() as u64, "role"),
                    counted(count as u64, "rank")
                ),
                match roles.len() {
                    1 => name_roles(kind),
                    _ => "name one role a rank, or leave --threads and --procs out".to_owned(),
                },
            ));
        }
        Some(roles) => roles,
        None => default_roles(kind, count)?,
    };
    if count == 1 && place == GroupKind::Job && around.is_in_job() {
        return Err(PlanError::new(
            "the job has one rank, which has nobody to talk to",
            "start at least 2 ranks: mpirun -n 2, srun -n 2",
        ));
    }
    if count == 1 && around.default_group(transport, &transport_options(words)).1 != 1 {
        return Err(PlanError::new(
            format!("{transport} needs at least 2 ranks"),
            match (words.get(&ROLES), words.get(&THREADS), words.get(&PROCS)) {
                (None, ..) => "use --threads 2 or --procs 2".to_owned(),
                (Some(_), None, None) => name_roles(kind),
                (Some(_), ..) => format!("{}, and leave --threads and --procs out", name_roles(kind)),
            },
        ));
    }
    let mut ranks = pair_up(kind, &roles)?;
    // Where ranks of a launcher's job run is for the launcher to say, and only it knows the nodes' CPUs.
    let in_job = place == GroupKind::Job && around.is_in_job();
    let local = match &to {
        _ if in_job => 0,
        // The far end's CPUs are its own business unless the user names one.
        Some(_) => ranks.len() - far_ranks(&ranks),
        None => ranks.len(),
    };
    if !in_job || words.get(&CPUS).is_some() {
        set_cpus(words, local, &mut ranks, around)?;
    }
    if let Some(load) = words.get(&LOAD) {
        set_load(load, &mut ranks)?;
    }
    Ok(Group {
        kind: place,
        ranks,
        to,
        options: TransportOptions::new(),
    })
}

/// What to do where --roles names too few.
fn name_roles(kind: &Kind) -> String {
    let fewest = match kind.roles {
        Roles::Hub => [Role::Hub, Role::Worker],
        Roles::Neighbours => return format!("leave --roles out: in {} all ranks are neighbours", kind.name),
        Roles::Everybody => [Role::Source, Role::Source],
        Roles::Pairs | Roles::Near(_) => [Role::Source, Role::Sink],
    };
    format!(
        "name a role for each rank: --roles {}",
        fewest.map(Role::name).join(",")
    )
}

/// The one rank that moves data between here and a service. Its connections may run on any CPU, unless the user names one.
fn near(words: &Words, role: Role, around: &dyn Surroundings) -> Result<Group, PlanError> {
    let refuse = |cause: String| {
        Err(PlanError::new(
            cause,
            "name the service: --to http://HOST:PORT/PATH",
        ))
    };
    let Some(to) = words.get(&TO) else {
        return refuse("no service is named".to_owned());
    };
    let secure = to.starts_with("https://");
    if !secure && !to.starts_with("http://") {
        return refuse(format!("--to {to:?} is not the address of a service"));
    }
    let mut ranks = vec![RankSpec::new(role)];
    if words.get(&CPUS).is_some() {
        set_cpus(words, 1, &mut ranks, around)?;
    }
    if let Some(load) = words.get(&LOAD) {
        set_load(load, &mut ranks)?;
    }
    let encrypted = secure.then(|| ("encrypted".to_owned(), "yes".to_owned()));
    Ok(Group {
        kind: GroupKind::Hosts,
        ranks,
        to: Some(to.to_owned()),
        options: map_of(encrypted),
    })
}

/// The transport's own options, as a case has them.
pub(super) fn transport_options(words: &Words) -> TransportOptions {
    let options = words.options.iter();
    map_of(options.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())))
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
    let ranks = |parameter: &'static Parameter| {
        let count = words.count(parameter, 1..=RANKS_MAX)?;
        Ok(count.map(|count| count as usize))
    };
    if let Some(count) = ranks(&THREADS)? {
        return Ok((GroupKind::Threads, count, None));
    }
    let procs = ranks(&PROCS)?;
    match (words.get(&TO), procs) {
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
    let (kind, count) = around.default_group(transport, &transport_options(words));
    Ok((kind, named_roles.unwrap_or(count), None))
}

fn check_host(host: &str) -> Result<(), PlanError> {
    match host_fault(host) {
        Some(why) => Err(PlanError::new(format!("--to {host:?}: {why}"), TO.remedy)),
        None => Ok(()),
    }
}

/// Why `host` is neither HOST nor HOST:PORT; whether there is such a host is not asked.
pub fn host_fault(host: &str) -> Option<&'static str> {
    const NO_HOST: Option<&str> = Some("not a host");
    if host.is_empty() || host.contains(char::is_whitespace) || host.contains('/') {
        return NO_HOST;
    }
    // More than one colon is a bare IPv6 address; `[::1]:7` carries its port after the bracket.
    let bracketed = host.strip_prefix('[').map(|rest| rest.split_once(']'));
    let (address, port) = match bracketed {
        Some(Some((address, ""))) => (Some(address), None),
        Some(Some((address, rest))) => (Some(address), Some(rest.strip_prefix(':').unwrap_or(""))),
        Some(None) => return NO_HOST,
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
        return NO_HOST;
    }
    match port.map(str::parse::<u16>) {
        Some(Ok(0) | Err(_)) => Some("not a port from 1 to 65535"),
        _ => None,
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

fn default_roles(kind: &Kind, count: usize) -> Result<Vec<Role>, PlanError> {
    match kind.roles {
        Roles::Hub => {
            let workers = std::iter::repeat_n(Role::Worker, count.saturating_sub(1));
            return Ok(std::iter::once(Role::Hub).chain(workers).collect());
        }
        Roles::Neighbours => return Ok(vec![Role::Neighbour; count]),
        Roles::Everybody => return Ok(vec![Role::Source; count]),
        Roles::Near(role) => return Ok(vec![role]),
        Roles::Pairs if count == 1 => return Ok(vec![Role::Source]),
        Roles::Pairs => {}
    }
    if count % 2 == 1 {
        return Err(PlanError::new(
            format!("{} needs pairs of ranks, {count} do not pair up", kind.name),
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
fn pair_up(kind: &Kind, roles: &[Role]) -> Result<Vec<RankSpec>, PlanError> {
    let of = |role: Role| -> Vec<u32> {
        let numbered = roles.iter().enumerate();
        numbered
            .filter(|(_, r)| **r == role)
            .map(|(i, _)| i as u32)
            .collect()
    };
    let (sources, sinks, hubs, workers) = (of(Role::Source), of(Role::Sink), of(Role::Hub), of(Role::Worker));
    if kind.roles == Roles::Everybody {
        return everybody(kind, roles, sources.len());
    }
    if kind.roles == Roles::Neighbours {
        return match roles.iter().all(|role| *role == Role::Neighbour) {
            true => Ok(roles.iter().map(|&role| unpaired_rank(role)).collect()),
            false => Err(PlanError::new(
                format!("{} has no roles: all ranks are neighbours", kind.name),
                "leave --roles out",
            )),
        };
    }
    let hub_test = kind.roles == Roles::Hub;
    if hub_test && (hubs.len() != 1 || workers.is_empty() || !sources.is_empty() || !sinks.is_empty()) {
        return Err(PlanError::new(
            format!(
                "{} needs one hub and at least one worker, and no other roles but idle",
                kind.name
            ),
            "use at least 2 ranks, or name the roles: --roles hub,worker,worker",
        ));
    }
    let lone = roles == [Role::Source];
    let unpaired = sources.is_empty() || sources.len() != sinks.len();
    let strangers = !hubs.is_empty() || !workers.is_empty() || roles.contains(&Role::Neighbour);
    if !hub_test && !lone && (unpaired || strangers) {
        return Err(PlanError::new(
            format!(
                "{} needs as many sinks as sources, and no other roles but idle",
                kind.name
            ),
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
    let spec = |rank: u32| unpaired_rank(roles[rank as usize]).with_peer(peer(rank));
    Ok((0..roles.len() as u32).map(spec).collect())
}

/// Every source exchanges with every other one.
fn everybody(kind: &Kind, roles: &[Role], sources: usize) -> Result<Vec<RankSpec>, PlanError> {
    let strange = roles.iter().any(|r| !matches!(r, Role::Source | Role::Idle));
    if sources < 2 || strange {
        return Err(PlanError::new(
            format!(
                "{} needs at least 2 sources, and no other roles but idle",
                kind.name
            ),
            "use at least 2 ranks, or name the roles: --roles source,source,source",
        ));
    }
    Ok(roles.iter().map(|&role| unpaired_rank(role)).collect())
}

fn unpaired_rank(role: Role) -> RankSpec {
    RankSpec::new(role)
}
