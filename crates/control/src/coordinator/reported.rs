//! What ranks reported of themselves while they measured, for a run of which nobody lives to tell more. It must never be
//! put beside what a rank delivered: it ends at another time.

use crate::session::group::Blamed;
use std::collections::BTreeMap;
use wirespeed_schema::case::{Case, IdlePolicy, RankSpec, Role};
use wirespeed_schema::host::{ClockInfo, Disturbance, HostFingerprint};
use wirespeed_schema::outcome::{Count, Faults, Interval, Outcome, StopReason};

/// Fields of an outcome that reports do not hold.
const LACKING: [&str; 11] = [
    "clock.",
    "connect_ns",
    "disturbance.",
    "faults.",
    "first_operation_ns",
    "floor.",
    "host.",
    "idle",
    "noise",
    "samples",
    "warmup_operations",
];

/// The slices of time that each rank of a run reported.
#[derive(Debug)]
pub(super) struct Reported(Vec<Vec<Interval>>);

impl Reported {
    pub fn new(ranks: usize) -> Self {
        Reported(vec![Vec::new(); ranks])
    }

    pub fn note(&mut self, rank: u32, interval: &Interval) {
        if let Some(slices) = self.0.get_mut(rank as usize) {
            slices.push(interval.clone());
        }
    }

    /// Where no rank with a part in `case` delivered anything, all of them get an outcome of what they had reported: of as
    /// many slices as each has, so that both ends of a stream are told of the same time.
    pub fn fill(mut self, case: &Case, outcomes: &mut [Option<Outcome>], blamed: &[Blamed]) {
        let takes_part = |rank: usize| case.ranks.get(rank).is_some_and(|spec| spec.role != Role::Idle);
        let with_part: Vec<usize> = (0..outcomes.len()).filter(|rank| takes_part(*rank)).collect();
        if with_part.iter().any(|rank| outcomes[*rank].is_some()) {
            return;
        }
        let slices = with_part.iter().map(|rank| self.0[*rank].len()).min();
        let slices = slices.unwrap_or(0);
        if slices == 0 {
            return;
        }
        for rank in with_part {
            let mut known = std::mem::take(&mut self.0[rank]);
            known.truncate(slices);
            let why = blamed.iter().find(|blamed| blamed.rank as usize == rank);
            let why = why.map_or("it went away", |blamed| &blamed.reason);
            outcomes[rank] = Some(outcome(rank as u32, &case.ranks[rank], known, why));
        }
    }
}

/// What `intervals` tell of a rank that was lost.
fn outcome(rank: u32, spec: &RankSpec, intervals: Vec<Interval>, why: &str) -> Outcome {
    let begin = intervals.first().map_or(0, |slice| slice.start_ns);
    let end = intervals
        .last()
        .map_or(0, |slice| slice.start_ns.saturating_add(slice.duration_ns));
    let reason = "the rank was lost: its reports are all that is known of it";
    let lacking: BTreeMap<_, _> = LACKING.map(|field| (field.to_owned(), reason.to_owned())).into();
    let sum = |count: fn(&Interval) -> Count| -> Count { intervals.iter().map(count).sum() };
    Outcome {
        rank,
        role: spec.role,
        stop: StopReason::Failed,
        elapsed_ns: end.saturating_sub(begin),
        sent: sum(|slice| slice.sent),
        received: sum(|slice| slice.received),
        received_before_msgs: 0,
        began_ns: None,
        faults: Faults::default(),
        warmup_operations: 0,
        first_operation_ns: None,
        connect_ns: None,
        samples: Vec::new(),
        intervals,
        peers: Vec::new(),
        clock: ClockInfo::default(),
        floor: None,
        cpu: None,
        idle: IdlePolicy::Spin,
        disturbance: Disturbance::default(),
        lacking,
        noise: None,
        noise_after: None,
        load_done: BTreeMap::new(),
        transport_facts: BTreeMap::new(),
        transfer: None,
        host: HostFingerprint::default(),
        error: Some(format!("lost; what it had reported: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::test::{Layout, PingPong, Test};

    fn case() -> Case {
        let test = Test::AmLat(PingPong::new(8, Layout::Short));
        let ranks = [Role::Idle, Role::Source, Role::Sink].map(RankSpec::new);
        Case::new(test, "tcp").with_ranks(ranks.to_vec())
    }

    fn slice(number: u64) -> Interval {
        Interval {
            start_ns: 10 + number * 100,
            duration_ns: 100,
            sent: Count::of(7, 8),
            received: Count::of(5, 8),
            p50_ns: None,
            p99_ns: None,
            max_ns: None,
        }
    }

    fn reported(slices: [u64; 2]) -> Reported {
        let mut reported = Reported::new(3);
        for (rank, count) in [1, 2].into_iter().zip(slices) {
            (0..count).for_each(|number| reported.note(rank, &slice(number)));
        }
        reported
    }

    #[test]
    fn ranks_that_are_all_lost_leave_what_both_had_reported() {
        let mut outcomes = vec![None; 3];
        let blamed = [Blamed {
            rank: 2,
            reason: "its node is gone".to_owned(),
            gone: true,
        }];
        reported([3, 2]).fill(&case(), &mut outcomes, &blamed);
        assert!(outcomes[0].is_none());
        for rank in [1, 2] {
            let outcome = outcomes[rank].as_ref().unwrap();
            assert_eq!((outcome.rank as usize, outcome.stop), (rank, StopReason::Failed));
            assert_eq!((outcome.intervals.len(), outcome.elapsed_ns), (2, 200));
            assert_eq!(
                (outcome.sent, outcome.received),
                (Count::of(14, 8), Count::of(10, 8))
            );
            assert!(outcome.lacking.contains_key("samples"));
            let why = ["it went away", "its node is gone"][rank - 1];
            assert!(outcome.error.as_ref().unwrap().ends_with(why));
        }
    }

    #[test]
    fn reports_are_never_put_beside_what_a_rank_delivered() {
        let mut lost = vec![None; 3];
        reported([2, 2]).fill(&case(), &mut lost, &[]);
        let mut outcomes = vec![None, lost[1].clone(), None];
        reported([2, 2]).fill(&case(), &mut outcomes, &[]);
        assert!(outcomes[2].is_none());
    }

    #[test]
    fn a_rank_that_reported_nothing_leaves_nothing_of_any() {
        let mut outcomes = vec![None; 3];
        reported([2, 0]).fill(&case(), &mut outcomes, &[]);
        assert!(outcomes.iter().all(Option::is_none));
    }
}
