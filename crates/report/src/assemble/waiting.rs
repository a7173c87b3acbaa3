//! Whether ranks sleep while they wait: only then is the CPU time that they use work.

use std::collections::BTreeMap;
use wirespeed_schema::case::Role;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::CaseResult;

/// Ways of waiting in which the kernel wakes the rank.
const SLEEPING: [&str; 3] = ["block", "uring", "sleep"];

/// How the first rank of `result` with a part waited, as its transport states it, else as was asked for.
pub fn way_of_waiting(result: &CaseResult) -> Option<&str> {
    let first = result
        .repetitions
        .first()
        .and_then(|repetition| repetition.outcomes.iter().find(|o| o.role != Role::Idle));
    let stated = first.and_then(|outcome| outcome.transport_facts.get("wait"));
    stated
        .or_else(|| result.case.options.get("wait"))
        .map(String::as_str)
}

/// Whether every end of `result` sleeps while it waits, as the transport states it, else as was asked for. A transport that
/// looks a while before it sleeps uses CPU time for that too, and counts as polling.
pub fn sleeps(result: &CaseResult) -> bool {
    let asked = result.case.options.get("wait").map(String::as_str);
    let sleeps = |outcome: &Outcome| {
        let fact = |name: &str| outcome.transport_facts.get(name).map(String::as_str);
        let looks = fact("spin").is_some_and(|turns| turns != "0");
        fact("wait")
            .or(asked)
            .is_some_and(|wait| SLEEPING.contains(&wait))
            && !looks
    };
    let mut ends = result
        .outcomes()
        .filter(|outcome| outcome.role != Role::Idle)
        .peekable();
    match ends.peek() {
        Some(_) => ends.all(sleeps),
        None => asked.is_some_and(|wait| SLEEPING.contains(&wait)),
    }
}

/// The share of its time that each rank of `result` with a part works: in its least busy run, and in its busiest.
pub fn busy_shares(result: &CaseResult) -> BTreeMap<u32, (f64, f64)> {
    let mut shares: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for outcome in result
        .outcomes()
        .filter(|outcome| outcome.role != Role::Idle && outcome.elapsed_ns > 0)
    {
        let worked_ns = outcome.disturbance.user_ns as f64 + outcome.disturbance.system_ns as f64;
        let share = worked_ns / outcome.observed_ns() as f64;
        let own = shares.entry(outcome.rank).or_insert((share, share));
        *own = (own.0.min(share), own.1.max(share));
    }
    shares
}
