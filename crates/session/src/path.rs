//! Message paths as cases for the library's engine. The client is rank 0, computations follow in the definition's
//! order, the daemon that passes messages on is the last rank. It must never know a loop or a clock.

use crate::definition::{CLIENT, Definition};
use crate::usage;
use wirespeed_control::Failure;
use wirespeed_schema::Case;
use wirespeed_schema::case::{
    GroupKind, RankSpec, Role, Stop, TransportOptions, WARMUP_ITERATIONS, WARMUP_NS,
};
use wirespeed_schema::test::{Layout, Stream, Test};

/// Small messages are gathered into one write up to this size, when more than one may be under way.
const COALESCE: &str = "16K";
const COALESCE_BELOW_BYTES: u64 = 4 << 10;

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// The client to the main computation.
    ClientToComputation,
    /// The main computation to the client.
    ComputationToClient,
    /// The main computation to the second one.
    ComputationToComputation,
    /// Every computation to every other.
    ComputationsToComputations,
}

impl Path {
    /// Every path by its name.
    pub const ALL: [(&'static str, Path); 4] = [
        ("client_to_computation", Path::ClientToComputation),
        ("computation_to_client", Path::ComputationToClient),
        ("computation_to_computation", Path::ComputationToComputation),
        ("computations_to_computations", Path::ComputationsToComputations),
    ];

    /// The path called `name`.
    pub fn parse(name: &str) -> Result<Path, Failure> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, path)| *path).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|(name, _)| *name).collect();
            usage(
                format!("there is no path {name:?}"),
                format!("choose from: {}", known.join(", ")),
            )
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, path)| *path == self)
            .map_or("", |(name, _)| name)
    }

    /// Computations that the benchmark's own session has for it.
    pub fn computations(self, asked: Option<u32>) -> u32 {
        match self {
            Path::ComputationsToComputations => asked.unwrap_or(4),
            _ => asked.unwrap_or(2),
        }
    }

    /// Ranks that send and receive, and each one's peer, among `computations`.
    fn ends(self, computations: usize) -> Vec<(u32, Role, Option<u32>)> {
        let one = |from, to| vec![(from, Role::Source, Some(to)), (to, Role::Sink, Some(from))];
        match self {
            Path::ClientToComputation => one(0, 1),
            Path::ComputationToClient => one(1, 0),
            Path::ComputationToComputation => one(1, 2),
            Path::ComputationsToComputations => (1..=computations as u32)
                .map(|rank| (rank, Role::Source, None))
                .collect(),
        }
    }
}

/// Whether messages pass the node's daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Peers connect to each other.
    Direct,
    /// Every message passes the daemon.
    Daemon,
}

impl Route {
    /// As typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Route::Direct => "direct",
            Route::Daemon => "daemon",
        }
    }
}

/// One stream to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Streaming {
    /// Who sends to whom.
    pub path: Path,
    /// Past the daemon or not.
    pub route: Route,
    /// `shm`, `unix` or `tcp`.
    pub via: String,
    /// Payload.
    pub size_bytes: u64,
    /// Messages that may be unacknowledged.
    pub credits: u64,
    /// How long.
    pub duration_ns: u64,
    /// Between two interval reports.
    pub report_ns: u64,
    /// Sleep instead of spin; by default as there are cores enough.
    pub block: Option<bool>,
    /// The client sleeps so long after each message that it receives.
    pub client_sleep_ns: u64,
    /// Offered rate; as fast as credits allow without.
    pub pace_msg_per_s: Option<u64>,
    /// Check every byte.
    pub check: bool,
    /// Options of the transport.
    pub options: TransportOptions,
}

/// Whether the session has what `path` needs, and its filters let the messages through.
pub fn check(path: Path, definition: &Definition) -> Result<(), Failure> {
    let all = definition.expand();
    let needed = match path {
        Path::ClientToComputation | Path::ComputationToClient => 1,
        _ => 2,
    };
    if all.len() < needed {
        return Err(usage(
            format!(
                "{} needs {needed} computations, the session has {}",
                path.name(),
                all.len()
            ),
            "define more, or choose another path",
        ));
    }
    let name = |rank: u32| match rank {
        0 => CLIENT,
        rank => all[rank as usize - 1].name.as_str(),
    };
    let ends = path.ends(all.len());
    for (from, role, peer) in &ends {
        let receivers = ends.iter().filter(|(to, ..)| match peer {
            Some(peer) => to == peer,
            None => to != from,
        });
        for (to, ..) in receivers.filter(|_| *role == Role::Source) {
            if !definition.accepts(name(*to), name(*from)) {
                return Err(usage(
                    format!("{} does not accept messages of {}", name(*to), name(*from)),
                    format!("add {} to its `accepts` in the session definition", name(*from)),
                ));
            }
        }
    }
    Ok(())
}

/// The case of `streaming` in a session of `computations` computations, with a rank for the daemon where there is one.
pub fn case(streaming: &Streaming, computations: usize, daemon: bool, group: GroupKind) -> Case {
    let idle = RankSpec::new(Role::Idle);
    let mut ranks = vec![idle; 1 + computations + usize::from(daemon)];
    let relay = (streaming.route == Route::Daemon).then(|| ranks.len() as u32 - 1);
    let ends = streaming.path.ends(computations);
    for (rank, role, peer) in &ends {
        ranks[*rank as usize].role = *role;
        ranks[*rank as usize].peer = relay.or(*peer);
    }
    if let Some(relay) = relay {
        ranks[relay as usize].role = Role::Relay;
    }
    ranks[0].load.message_sleep_ns = streaming.client_sleep_ns;
    let stream = Stream::new(streaming.size_bytes, Layout::Short, streaming.credits)
        .with_pace(streaming.pace_msg_per_s);
    Case::new(
        match streaming.path {
            Path::ComputationsToComputations => Test::AmAlltoall(stream),
            _ => Test::AmBw(stream),
        },
        streaming.via.clone(),
    )
    .with_options(options(streaming))
    .with_group(group)
    .with_ranks(ranks)
    .with_stop(Stop::Duration {
        duration_ns: streaming.duration_ns,
    })
    .with_warmup(WARMUP_ITERATIONS, WARMUP_NS)
    .with_check(streaming.check)
    .with_report_interval_ns(streaming.report_ns)
}

/// Waiting as chosen, and small messages gathered; what the user named stays.
fn options(streaming: &Streaming) -> TransportOptions {
    let mut options = streaming.options.clone();
    let mut default = |name: &str, value: &str| {
        options.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    };
    if let Some(block) = streaming.block {
        default("wait", if block { "block" } else { "poll" });
    }
    let gather = streaming.credits > 1 && streaming.size_bytes < COALESCE_BELOW_BYTES;
    let registry = wirespeed::Registry::builtin();
    let entry = registry.find(&streaming.via);
    if gather && entry.is_some_and(|entry| entry.options.iter().any(|option| option.name == "coalesce")) {
        default("coalesce", COALESCE);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streaming(path: Path, route: Route) -> Streaming {
        Streaming {
            path,
            route,
            via: "unix".into(),
            size_bytes: 1,
            credits: 10,
            duration_ns: 1_000_000_000,
            report_ns: 0,
            block: None,
            client_sleep_ns: 0,
            pace_msg_per_s: None,
            check: false,
            options: TransportOptions::default(),
        }
    }

    #[test]
    fn every_path_and_route_is_a_case_that_transports_take() {
        let registry = wirespeed::Registry::builtin();
        for (_, path) in Path::ALL {
            for route in [Route::Direct, Route::Daemon] {
                let case = case(&streaming(path, route), 3, true, GroupKind::Processes);
                let entry = registry.find("unix").unwrap();
                (entry.check)(&case).unwrap();
                assert_eq!(case.ranks.len(), 5);
                let relayed = case.ranks[4].role == Role::Relay;
                assert_eq!(relayed, route == Route::Daemon);
            }
        }
    }

    #[test]
    fn one_credit_is_never_gathered() {
        let mut one = streaming(Path::ClientToComputation, Route::Direct);
        assert!(options(&one).contains_key("coalesce"));
        one.credits = 1;
        assert!(!options(&one).contains_key("coalesce"));
    }

    #[test]
    fn filters_and_missing_computations_are_refused() {
        let text = br#"{"name":"x","computations":[{"name":"a"},{"name":"b","accepts":["client"]}]}"#;
        let definition = Definition::from_json(text).unwrap();
        check(Path::ClientToComputation, &definition).unwrap();
        let failure = check(Path::ComputationToComputation, &definition).unwrap_err();
        assert!(
            failure.message.contains("b does not accept messages of a"),
            "{failure:?}"
        );
        assert!(check(Path::ComputationsToComputations, &Definition::benchmark(1)).is_err());
        assert!(Path::parse("client_to_client").is_err());
    }
}
