//! Whether a case stays within a server's stated limits. Each refusal names its limit.

use wirespeed_schema::case::{Case, GroupKind, Load, Role, Stop};
use wirespeed_schema::message::{Refusal, RefusalCode, ServerLimits};
use wirespeed_schema::plan::takes;
use wirespeed_schema::units::{
    counted, format_asked_size, format_duration_exact, format_ns, format_size, format_size_exact,
};

/// Buffers of a rank, in messages: one to send, one to receive, a region, and room for a transport's own copy.
const BUFFERED_MESSAGES: u64 = 4;

/// Bookkeeping of one message in flight.
const WINDOW_ENTRY_BYTES: u64 = 64;

/// The least memory that a rank is counted to ask for: that of one empty message in flight.
pub const RANK_BYTES_MIN: u64 = WINDOW_ENTRY_BYTES;

/// Memory of one raw sample, its place in the report included.
const RAW_SAMPLE_BYTES: u64 = 64;

fn refuse(reason: String, remedy: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal {
        code: RefusalCode::Limit,
        reason,
        remedy: remedy.into(),
    })
}

/// Check that the server may run `ranks` of `case` for a client that is on the `same_machine` or not.
pub(super) fn check(
    case: &Case,
    ranks: &[u32],
    same_machine: bool,
    limits: &ServerLimits,
) -> Result<(), Refusal> {
    check_shape(case, ranks, same_machine)?;
    // A rank with a peer talks to that alone, and an idle one to nobody, however many others there are.
    let with_all = case
        .ranks
        .iter()
        .filter(|rank| rank.peer.is_none() && rank.role != Role::Idle);
    let (here, with_all, most) = (ranks.len(), with_all.count(), limits.ranks_max as usize);
    if here > most || with_all > most.saturating_mul(2) {
        return refuse(
            format!(
                "{} ranks are above this server's limit of {most}",
                here.max(with_all)
            ),
            "use fewer ranks",
        );
    }
    let size = case.test.largest_message_bytes();
    if size > limits.message_bytes_max {
        return refuse(
            format!(
                "messages of {} are above this server's limit of {}",
                format_asked_size(size),
                format_asked_size(limits.message_bytes_max)
            ),
            format!(
                "use {} {} or less",
                option_of_largest(case),
                format_size_exact(limits.message_bytes_max)
            ),
        );
    }
    check_time(case, limits)?;
    check_load(case, ranks, limits)?;
    check_rate(case, limits)
}

/// Nonsense that no honest client sends.
fn check_shape(case: &Case, ranks: &[u32], same_machine: bool) -> Result<(), Refusal> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let fits = sorted.len() == ranks.len() && sorted.last().is_some_and(|r| (*r as usize) < case.ranks.len());
    let processes_here = same_machine && case.group == GroupKind::Processes;
    if fits && (case.group == GroupKind::Hosts || processes_here) {
        return Ok(());
    }
    Err(Refusal {
        code: RefusalCode::Other,
        reason: "the case is not one between two machines".into(),
        remedy: "update the client".into(),
    })
}

/// The option that says how long the largest message is.
fn option_of_largest(case: &Case) -> &'static str {
    match case.test.largest_message_bytes() > case.test.size_bytes() {
        true => "--reply",
        false => "--size",
    }
}

fn check_time(case: &Case, limits: &ServerLimits) -> Result<(), Refusal> {
    let asked = match case.stop {
        Stop::Duration { duration_ns } => duration_ns,
        // How long iterations take is known only afterwards: the server's clock ends those that take too long.
        Stop::Iterations { .. } => 0,
    };
    if asked > limits.duration_ns_max {
        return refuse(
            format!(
                "a run of {} is above this server's limit of {}",
                format_ns(asked as f64),
                format_ns(limits.duration_ns_max as f64)
            ),
            format!(
                "use --duration {} or less",
                format_duration_exact(limits.duration_ns_max)
            ),
        );
    }
    Ok(())
}

fn check_load(case: &Case, ranks: &[u32], limits: &ServerLimits) -> Result<(), Refusal> {
    let own = || {
        ranks
            .iter()
            .filter_map(|r| case.ranks.get(*r as usize))
            .map(|rank| &rank.load)
    };
    let buffers = case
        .test
        .largest_message_bytes()
        .saturating_mul(BUFFERED_MESSAGES);
    let window = case.test.window().saturating_mul(WINDOW_ENTRY_BYTES);
    let raw = case.raw_samples_max.saturating_mul(RAW_SAMPLE_BYTES);
    let load = own().map(wirespeed::load::memory_bytes).max().unwrap_or(0);
    let asked = buffers
        .saturating_add(window)
        .saturating_add(raw)
        .saturating_add(load);
    if asked > limits.memory_bytes_max {
        // Of a test without a window it is one message's, which no option makes smaller.
        let window = if takes(case.test.name(), "window") {
            window
        } else {
            0
        };
        let limit = format_size(limits.memory_bytes_max);
        let (_, remedy) = [
            (
                buffers,
                format!("use smaller messages ({})", option_of_largest(case)),
            ),
            (window, "use a smaller window (--window)".to_owned()),
            (raw, "keep fewer raw samples (--raw)".to_owned()),
            (load, "use less load (--load)".to_owned()),
        ]
        .into_iter()
        .max_by_key(|(bytes, _)| *bytes)
        .unwrap_or_default();
        return refuse(
            format!(
                "{} of memory are above this server's limit of {limit}",
                format_size(asked)
            ),
            remedy,
        );
    }
    let threads = own().map(Load::threads).max().unwrap_or(0);
    if threads > u64::from(limits.load_threads_max) {
        let limit = limits.load_threads_max;
        return refuse(
            format!(
                "{} of load: above this server's limit of {limit}",
                counted(threads, "thread")
            ),
            "use fewer threads of load",
        );
    }
    Ok(())
}

fn check_rate(case: &Case, limits: &ServerLimits) -> Result<(), Refusal> {
    let Some(limit) = limits.rate_bytes_per_s_max else {
        return Ok(());
    };
    let paced = case.test.stream().and_then(|stream| stream.pace_msg_per_s);
    let asked = paced.map(|rate| rate.saturating_mul(case.test.size_bytes()));
    if asked.is_some_and(|rate| rate <= limit) {
        return Ok(());
    }
    refuse(
        format!(
            "this server accepts only streams paced at {}/s or less",
            format_size(limit)
        ),
        match (case.test.size_bytes().max(1), limit) {
            (size, limit) if limit < size => {
                "use `wirespeed run am_bw` with --pace and smaller messages".to_owned()
            }
            (size, limit) => format!(
                "use `wirespeed run am_bw --via {} --to HOST --size {size} --pace {}`",
                case.transport,
                limit / size
            ),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::case::RankSpec;
    use wirespeed_schema::test::Test;
    use wirespeed_schema::units::{parse_duration_ns, parse_size};

    fn case() -> Case {
        let case = serde_json::json!({
            "test": "am_bw", "size_bytes": 1024, "layout": "short", "window_msgs": 64, "transport": "tcp",
            "group": "hosts", "ranks": [{"role": "source"}, {"role": "sink"}],
            "stop": {"by": "duration", "duration_ns": 1_000_000_000u64},
            "warmup_iterations": 0, "warmup_ns_max": 0, "idle": "yield",
        });
        serde_json::from_value(case).unwrap()
    }

    #[test]
    fn an_ordinary_case_is_accepted() {
        assert_eq!(check(&case(), &[1], false, &ServerLimits::default()), Ok(()));
    }

    #[test]
    fn each_limit_is_named() {
        let refusal = |limits: ServerLimits| check(&case(), &[1], false, &limits).unwrap_err();
        let of = |change: fn(&mut ServerLimits)| {
            let mut limits = ServerLimits::default();
            change(&mut limits);
            refusal(limits)
        };
        assert!(of(|l| l.message_bytes_max = 1023).reason.contains("1023 B"));
        assert!(of(|l| l.duration_ns_max = 999_000_000).reason.contains("999 ms"));
        assert!(of(|l| l.memory_bytes_max = 4096).reason.contains("4 KiB"));
        assert!(
            of(|l| l.rate_bytes_per_s_max = Some(10_240))
                .remedy
                .ends_with("--pace 10`")
        );
        assert!(of(|l| l.ranks_max = 0).reason.contains("ranks"));
        assert_eq!(of(|l| l.ranks_max = 0).code, RefusalCode::Limit);
    }

    /// What a remedy names can be typed, one word after its option, and is accepted.
    #[test]
    fn a_named_limit_is_read_back() {
        let of = |limits: ServerLimits| check(&case(), &[1], false, &limits).unwrap_err().remedy;
        let word = |remedy: &str, option: &str| {
            let (_, after) = remedy.split_once(option).unwrap();
            after.split_whitespace().next().unwrap().to_owned()
        };
        for bytes in [1, 512, 1000, 1023] {
            let remedy = of(ServerLimits {
                message_bytes_max: bytes,
                ..ServerLimits::default()
            });
            assert_eq!(parse_size(&word(&remedy, "--size ")), Ok(bytes), "{remedy}");
        }
        for ns in [1, 1500, 2_500_000, 999_000_000] {
            let remedy = of(ServerLimits {
                duration_ns_max: ns,
                ..ServerLimits::default()
            });
            assert_eq!(
                parse_duration_ns(&word(&remedy, "--duration ")),
                Ok(ns),
                "{remedy}"
            );
        }
    }

    #[test]
    fn the_greatest_part_of_the_memory_is_named() {
        let limits = ServerLimits {
            memory_bytes_max: 32 << 20,
            ..ServerLimits::default()
        };
        let remedy = |change: fn(&mut Case)| {
            let mut case = case();
            change(&mut case);
            check(&case, &[1], false, &limits).unwrap_err().remedy
        };
        fn stream(case: &mut Case, size_bytes: u64, window_msgs: u64) {
            if let Test::AmBw(stream) = &mut case.test {
                (stream.size_bytes, stream.window_msgs) = (size_bytes, window_msgs);
            }
        }
        assert!(remedy(|case| stream(case, 16 << 20, 1)).contains("--size"));
        assert!(remedy(|case| stream(case, 8, 1 << 20)).contains("--window"));
        assert!(remedy(|case| case.raw_samples_max = 1 << 20).contains("--raw"));
        assert!(remedy(|case| case.ranks[1].load.memory_bytes = 64 << 20).contains("--load"));
    }

    #[test]
    fn load_and_overflow_are_counted() {
        let mut heavy = case();
        heavy.ranks[1].load.memory_bytes = u64::MAX;
        assert!(check(&heavy, &[1], false, &ServerLimits::default()).is_err());
        heavy.ranks[1].load = Default::default();
        heavy.ranks[0].load.memory_bytes = u64::MAX;
        assert_eq!(
            check(&heavy, &[1], false, &ServerLimits::default()),
            Ok(()),
            "the client's load is its own"
        );
        heavy.ranks[1].load.cpu_threads = u32::MAX;
        assert!(check(&heavy, &[1], false, &ServerLimits::default()).is_err());
        heavy.ranks[1].load = Load {
            cache_threads: u32::MAX,
            ..Load::default()
        };
        assert!(check(&heavy, &[1], false, &ServerLimits::default()).is_err());
    }

    #[test]
    fn pairs_between_others_cost_a_server_nothing() {
        let limits = ServerLimits::default();
        let pairs = |peer: Option<u32>| {
            let rank = |role| RankSpec::new(role).with_peer(peer);
            let mut ranks = vec![rank(Role::Source), rank(Role::Sink)];
            ranks.resize(400, rank(Role::Sink));
            case().with_ranks(ranks)
        };
        assert_eq!(check(&pairs(Some(1)), &[1], false, &limits), Ok(()));
        let refusal = check(&pairs(None), &[1], false, &limits).unwrap_err();
        assert!(refusal.reason.starts_with("400 ranks"), "{}", refusal.reason);
        let mesh = case().with_ranks(vec![RankSpec::new(Role::Idle); 400]);
        assert_eq!(check(&mesh, &[1], false, &limits), Ok(()));
    }

    #[test]
    fn a_paced_stream_within_the_rate_is_accepted() {
        let limits = ServerLimits {
            rate_bytes_per_s_max: Some(10_240),
            ..ServerLimits::default()
        };
        let mut paced = case();
        if let Test::AmBw(stream) = &mut paced.test {
            stream.pace_msg_per_s = Some(10);
        }
        assert_eq!(check(&paced, &[1], false, &limits), Ok(()));
        // What it advises is of the same size, and is accepted.
        let remedy = |size_bytes: u64| {
            let mut large = case();
            if let Test::AmBw(stream) = &mut large.test {
                stream.size_bytes = size_bytes;
            }
            check(&large, &[1], false, &limits).unwrap_err().remedy
        };
        assert_eq!(
            remedy(1024),
            "use `wirespeed run am_bw --via tcp --to HOST --size 1024 --pace 10`"
        );
        assert_eq!(
            remedy(10_241),
            "use `wirespeed run am_bw` with --pace and smaller messages"
        );
    }

    #[test]
    fn ranks_that_do_not_exist_are_refused() {
        for ranks in [&[][..], &[2], &[1, 1], &[u32::MAX]] {
            assert!(
                check(&case(), ranks, false, &ServerLimits::default()).is_err(),
                "{ranks:?}"
            );
        }
        let local = case().with_group(GroupKind::Processes);
        assert!(check(&local, &[1], false, &ServerLimits::default()).is_err());
        let here = check(&local, &[1], true, &ServerLimits::default());
        assert_eq!(
            here,
            Ok(()),
            "processes of one machine, half of them the server's"
        );
    }
}
