//! The case that is measured between two hosts: from the words behind `--`, as `run` takes them, checked between all hosts before
//! anything is started. It must never choose who is measured.

use super::roster::{Host, Roster, Source};
use crate::behind::{CHOSEN_BY_HOSTS, HOSTS_CHOOSE};
use crate::cmd::probe::{names_test, plan_of};
use crate::cmd::run::prepare;
use crate::errors::Failure;
use crate::experiment::Prepared;
use wirespeed::{Machine, Registry};
use wirespeed_schema::case::{Case, GroupKind, Role, Stop};
use wirespeed_schema::kinds::{Roles, UnderWay};
use wirespeed_schema::plan::{Plan, expand};
use wirespeed_schema::test::Test;

/// Time of one pair where the words do not say.
const DURATION: &str = "200ms";
/// Warm-up of one pair, in the same way.
const WARMUP: &str = "20ms";
/// What meeting and connecting are taken to cost a round.
const SETUP_NS: u64 = 60_000_000;
/// Payload from which on a stream is judged by its bytes and not by its messages.
const LARGE_BYTES: u64 = 1024;

/// What is measured where the words name no test.
const TESTS: &str = "latency,bandwidth";

/// The plan that the words behind `--` are.
pub fn plan(words: &[String], source: Source) -> Result<Plan, Failure> {
    let usual = match source {
        Source::Here => "shm",
        Source::Job => "mpi",
        Source::Ssh | Source::Servers => "tcp",
    };
    let names_test = names_test(words);
    let tests = (!names_test).then(|| TESTS.to_owned());
    let words: Vec<String> = tests.into_iter().chain(words.iter().cloned()).collect();
    let (mut plan, _) = plan_of(&words)?;
    for template in &mut plan.templates {
        for key in CHOSEN_BY_HOSTS {
            if template.axes.contains_key(key) {
                return Err(Failure::usage(
                    format!("--{key} is not allowed behind `--`"),
                    HOSTS_CHOOSE,
                ));
            }
        }
        if !names_test {
            template.add_default("via", usual)?;
        }
        if !template.axes.contains_key("iters") {
            template.add_default("duration", DURATION)?;
        }
        template.add_default("warmup", WARMUP)?;
    }
    Ok(plan)
}

/// The cases of `plan` between two hosts, each checked between all.
pub fn cases(registry: &Registry, plan: &Plan, roster: &Roster) -> Result<Vec<Prepared>, Failure> {
    let mut plan = plan.clone();
    if matches!(roster.source, Source::Ssh | Source::Servers) {
        // Cases between two machines; where they are is the group's business.
        for template in &mut plan.templates {
            template.add("to", &["elsewhere".to_owned()])?;
        }
    }
    let mut planned = expand(&plan, &Machine::new(registry))?;
    for case in &mut planned {
        case.case.to = None;
        // Each host has its own.
        case.case.ranks.iter_mut().for_each(|rank| rank.cpu = None);
        let kind = case.case.test.kind();
        if kind.is_none_or(|kind| kind.roles != Roles::Pairs) {
            return Err(Failure::usage(
                format!("{} is no test between two ranks", case.case.test.name()),
                "name one that is: latency, rate, bandwidth, tag_lat, put_bw, ..",
            ));
        }
        if roster.source == Source::Job {
            case.case.group = GroupKind::Job;
        }
        if case.case.group == GroupKind::Threads {
            return Err(Failure::usage(
                format!(
                    "{}{} works within one process only",
                    case.case.transport,
                    case.case.options_text()
                ),
                "name a transport between processes: --via shm, unix, tcp",
            ));
        }
        check_all(registry, &case.case, &roster.hosts)?;
    }
    prepare(registry, &crate::job::machine(registry), planned)
}

/// Whether the transport of `case` is a library whose ranks are those of a launcher's job, and has no others.
pub fn is_of_jobs(registry: &Registry, case: &Case) -> bool {
    registry.find(&case.transport).is_some_and(|entry| entry.job_wide)
}

/// Whether the transport takes as many ranks as there are hosts.
fn check_all(registry: &Registry, case: &Case, hosts: &[Host]) -> Result<(), Failure> {
    let whole = case.clone().with_ranks(
        (0u32..)
            .zip(hosts)
            .map(|(rank, host)| match (rank ^ 1) as usize >= hosts.len() {
                true => host.rank(Role::Idle),
                false => host.rank(case.ranks[rank as usize % 2].role).with_peer(rank ^ 1),
            })
            .collect(),
    );
    let checked = registry.find(&case.transport).map(|entry| (entry.check)(&whole));
    match checked {
        Some(Err(wirespeed::MeasureError::Unsupported(_))) | Some(Ok(())) | None => Ok(()),
        Some(Err(why)) => Err(Failure::usage(
            why.to_string(),
            format!("see `wirespeed list {}`", case.transport),
        )),
    }
}

/// The figure that pairs are compared by.
pub fn tag_of(test: &Test) -> &'static str {
    let kind = test.kind();
    match kind {
        Some(kind) if kind.is_round_trip => "rtt_p50_ns",
        Some(kind) if matches!(kind.under_way, UnderWay::Fixed(1)) => "completion_p50_ns",
        _ if test.size_bytes() >= LARGE_BYTES => "bandwidth_bytes_per_s",
        _ => "rate_msg_per_s",
    }
}

/// What a round of the case takes, about.
pub fn expected_ns(case: &Case) -> u64 {
    let measured = match case.stop {
        Stop::Duration { duration_ns } => duration_ns,
        // Nobody knows beforehand.
        Stop::Iterations { .. } => 500_000_000,
    };
    measured + case.warmup_ns_max.min(100_000_000) + SETUP_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_test_is_judged_by_its_own_figure() {
        let tag = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let registry = crate::registry();
            let plan = plan(&words, Source::Here).unwrap();
            let cases = cases(&registry, &plan, &Roster::named(&["a", "b", "c"])).unwrap();
            tag_of(&cases[0].planned.case.test)
        };
        assert_eq!(tag(&["am_lat", "--via", "tcp"]), "rtt_p50_ns");
        assert_eq!(tag(&["put_lat", "--via", "tcp"]), "rtt_p50_ns");
        assert_eq!(tag(&["am_bw", "--via", "tcp"]), "bandwidth_bytes_per_s");
        assert_eq!(tag(&["rate", "--via", "tcp"]), "rate_msg_per_s");
    }

    #[test]
    fn options_without_a_test_are_for_the_usual_ones() {
        for (words, source, via) in [
            (&[][..], Source::Here, "shm"),
            (&["--duration", "100ms"], Source::Here, "shm"),
            (&["-n", "1000"], Source::Ssh, "tcp"),
            (&["--via", "unix", "-t", "50ms"], Source::Here, "unix"),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let axes = &plan(&words, source).unwrap().templates[0].axes;
            assert_eq!(axes["test"], ["latency", "bandwidth"], "{words:?}");
            assert_eq!(axes["via"], [via], "{words:?}");
        }
        // A test may stand behind its options.
        let words = ["--via", "tcp", "am_lat"].map(str::to_owned);
        assert_eq!(
            plan(&words, Source::Here).unwrap().templates[0].axes["test"],
            ["am_lat"]
        );
    }

    #[test]
    fn words_that_name_ranks_are_refused() {
        let registry = crate::registry();
        let refused = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let made = plan(&words, Source::Here)
                .and_then(|plan| cases(&registry, &plan, &Roster::named(&["a", "b"])));
            made.map(|_| ()).unwrap_err()
        };
        for words in [
            &["am_lat", "--via", "tcp", "--to", "far"][..],
            &["am_lat", "--via", "tcp", "--roles", "source,sink"],
            &["am_lat", "--via", "inproc"],
            &["hub_lat", "--via", "tcp"],
            &["am_lat", "--via", "tcp", "--json"],
        ] {
            let failure = refused(words);
            assert_eq!(failure.code, 2, "{words:?}: {}", failure.cause);
        }
    }
}
