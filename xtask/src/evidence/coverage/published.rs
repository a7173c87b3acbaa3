//! The intervals that wirespeed publishes of launches, from the very function that publishes them. It must never compute
//! an interval itself.

use super::launch::{Kind, Launch, Own, Subject};
use anyhow::{Context as _, Result};
use wirespeed_report::{Limits, case_result, tags};
use wirespeed_schema::Case;
use wirespeed_schema::case::{IdlePolicy, Role};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::host::{ClockInfo, Disturbance, HostFingerprint};
use wirespeed_schema::outcome::{Count, Faults, Interval as Slice, Outcome, StopReason};
use wirespeed_schema::run::{CaseResult, Metric, Repetition, Resampled, Resampling};
use wirespeed_schema::test::{Layout, PingPong, Stream, Test};

/// Of every message.
const SIZE_BYTES: u64 = 8;

/// How an interval came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Order of the runs, about their median.
    Order,
    /// Runs drawn, median.
    Runs,
    /// Runs drawn, and in each blocks of its slices of time, median.
    RunsThenSlices,
    /// Runs drawn, mean without the best and the worst.
    TrimmedMean,
    /// Order of the samples of one run.
    OneOrder,
    /// Blocks of the slices of time of one run.
    OneSlices,
}

impl Method {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Method::Order => "order of runs",
            Method::Runs => "bootstrap, runs",
            Method::RunsThenSlices => "bootstrap, runs then blocks of slices",
            Method::TrimmedMean => "bootstrap, runs, trimmed mean",
            Method::OneOrder => "one run: order of its samples",
            Method::OneSlices => "one run: bootstrap, blocks of its slices",
        }
    }

    /// Whether it says nothing of the next run.
    pub fn is_of_one(self) -> bool {
        matches!(self, Method::OneOrder | Method::OneSlices)
    }
}

/// A published interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// How it came about.
    pub method: Method,
    /// Lower end, in the unit of the figure.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Level that it states.
    pub level: f64,
}

/// Everything published of `launches` as runs of one case: with their slices of time, and for several runs also without.
pub fn intervals(subject: Subject, launches: &[Launch]) -> Result<Vec<Interval>> {
    let (tag, trimmed) = (subject.tag(), trimmed_tag(subject)?);
    let is_one = launches.len() == 1;
    let whole = result(subject, launches, true)?;
    let ordered = whole.metrics.get(tag).and_then(|metric| {
        Some(Interval {
            method: if is_one { Method::OneOrder } else { Method::Order },
            lower: metric.lower?.get(),
            upper: metric.upper?.get(),
            level: metric.level?.get(),
        })
    });
    let mut found: Vec<Interval> = ordered.into_iter().collect();
    let within = whole.resampled.get(tag).and_then(drawn);
    // Without slices it is the interval of runs already.
    if within.is_some_and(|interval| interval.method == Method::RunsThenSlices) {
        let bare = result(subject, launches, false)?;
        found.extend(bare.resampled.get(tag).and_then(drawn));
    }
    found.extend(within);
    let mean = whole.resampled.get(trimmed).and_then(drawn);
    found.extend(mean.map(|mean| Interval {
        method: Method::TrimmedMean,
        ..mean
    }));
    Ok(found)
}

/// The tag of the trimmed mean beside the figure of `subject`.
fn trimmed_tag(subject: Subject) -> Result<&'static str> {
    let named = tags::HEADLINES.iter().find(|(tag, ..)| *tag == subject.tag());
    let (_, trimmed, _) = named.with_context(|| format!("{} is no headline", subject.tag()))?;
    Ok(trimmed)
}

/// A resampled interval under the name of what was drawn; raw samples are not kept here.
fn drawn(found: &Resampled) -> Option<Interval> {
    let method = match found.method {
        Resampling::Runs => Method::Runs,
        Resampling::RunsThenBlocksOfSlices => Method::RunsThenSlices,
        Resampling::BlocksOfSlices => Method::OneSlices,
        Resampling::BlocksOfSamples | Resampling::RunsThenBlocksOfSamples => return None,
    };
    Some(Interval {
        method,
        lower: found.lower.get(),
        upper: found.upper.get(),
        level: found.level.get(),
    })
}

/// The case as the program publishes it for these runs.
fn result(subject: Subject, launches: &[Launch], has_slices: bool) -> Result<CaseResult> {
    let repetitions = (0..).zip(launches).map(|(index, launch)| {
        let slices = if has_slices { &launch.slices[..] } else { &[] };
        Ok(Repetition {
            index,
            outcomes: vec![outcome(subject.kind, slices)?],
            metrics: [(subject.tag().to_owned(), metric(launch)?)].into(),
            setup_ns: 0,
            overlapping_sessions: 0,
        })
    });
    let repetitions: Vec<Repetition> = repetitions.collect::<Result<_>>()?;
    Ok(case_result(case(subject), repetitions, &Limits::default()))
}

fn case(subject: Subject) -> Case {
    let test = match subject.kind {
        Kind::Latency => Test::AmLat(PingPong::new(SIZE_BYTES, Layout::Short)),
        Kind::Rate => Test::AmBw(Stream::new(SIZE_BYTES, Layout::Short, 1)),
    };
    Case::new(test, subject.transport)
}

fn metric(launch: &Launch) -> Result<Metric> {
    let end = |pick: fn(&Own) -> f64| launch.own.as_ref().map(|own| Finite::new(pick(own))).transpose();
    Ok(Metric {
        value: Finite::new(launch.value)?,
        lower: end(|own| own.lower)?,
        upper: end(|own| own.upper)?,
        level: end(|own| own.level)?,
        samples: 1,
        derived: false,
    })
}

/// The rank that has the slices, and nothing else: what a slice was is all that an interval is made of.
fn outcome(kind: Kind, slices: &[f64]) -> Result<Outcome> {
    let slice = |value: &f64| -> Result<Slice> {
        let (p50_ns, received) = match kind {
            Kind::Latency => (Some(Finite::new(*value)?), Count::default()),
            Kind::Rate => (None, Count::of(*value as u64, 0)),
        };
        Ok(Slice {
            start_ns: 0,
            // A rate is of a second.
            duration_ns: 1_000_000_000,
            sent: Count::default(),
            received,
            p50_ns,
            p99_ns: None,
            max_ns: None,
        })
    };
    Ok(Outcome {
        rank: 0,
        role: match kind {
            Kind::Latency => Role::Source,
            Kind::Rate => Role::Sink,
        },
        stop: StopReason::Completed,
        elapsed_ns: 0,
        sent: Count::default(),
        received: Count::default(),
        received_before_msgs: 0,
        began_ns: None,
        faults: Faults::default(),
        warmup_operations: 0,
        first_operation_ns: None,
        connect_ns: None,
        samples: Vec::new(),
        intervals: slices.iter().map(slice).collect::<Result<_>>()?,
        peers: Vec::new(),
        clock: ClockInfo::default(),
        floor: None,
        cpu: None,
        idle: IdlePolicy::Spin,
        disturbance: Disturbance::default(),
        lacking: [].into(),
        noise: None,
        noise_after: None,
        load_done: [].into(),
        transport_facts: [].into(),
        transfer: None,
        host: HostFingerprint::default(),
        error: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::launch::SUBJECTS;
    use super::*;
    use wirespeed_report::repetition;
    use wirespeed_report::stats::{LEVEL, quantile_interval, summarize};

    fn launches(count: u32, slices: u32) -> Vec<Launch> {
        let launch = |number: u32| Launch {
            value: 100.0 + f64::from(number * number % 17),
            own: None,
            slices: (0..slices)
                .map(|slice| f64::from(100 + (slice * 7 + number) % 9))
                .collect(),
        };
        (0..count).map(launch).collect()
    }

    fn methods(subject: Subject, launches: &[Launch]) -> Vec<Method> {
        let found = intervals(subject, launches).unwrap();
        found.iter().map(|interval| interval.method).collect()
    }

    #[test]
    fn every_method_is_asked_of_a_block_and_of_a_launch() {
        use Method::{OneOrder, OneSlices, Order, Runs, RunsThenSlices, TrimmedMean};
        for subject in SUBJECTS {
            let eight = methods(subject, &launches(8, 40));
            assert_eq!(
                eight,
                [Order, Runs, RunsThenSlices, TrimmedMean],
                "{}",
                subject.name()
            );
            assert_eq!(methods(subject, &launches(1, 40)), [OneSlices]);
        }
        // Too few slices are not drawn from.
        assert_eq!(methods(SUBJECTS[0], &launches(8, 3)), [Order, Runs, TrimmedMean]);
        let mut own = launches(1, 0);
        own[0].own = Some(Own {
            lower: 99.0,
            upper: 102.0,
            level: 0.951,
        });
        let alone = intervals(SUBJECTS[0], &own).unwrap();
        assert_eq!(
            (alone[0].method, alone[0].lower, alone[0].level),
            (OneOrder, 99.0, 0.951)
        );
    }

    /// Eight runs: smallest to largest, at 1 - 2/256.
    #[test]
    fn the_order_of_eight_runs_has_a_level_of_its_own() {
        let block = launches(8, 0);
        let values: Vec<f64> = block.iter().map(|launch| launch.value).collect();
        let order = intervals(SUBJECTS[3], &block).unwrap()[0];
        let summary = summarize(&values, LEVEL).unwrap();
        assert_eq!((order.lower, order.upper), (summary.lower, summary.upper));
        let exact = quantile_interval(8, 0.5, LEVEL).unwrap().level;
        assert!((exact - 0.992_187_5).abs() < 1e-9 && (order.level - exact).abs() < 1e-6);
    }

    /// Both ranks of a stream, whose sink received `messages` in each millisecond, as the program takes them in.
    fn measured(messages: &[u64]) -> Repetition {
        let count = Count::of(messages.iter().sum(), SIZE_BYTES as usize);
        let elapsed_ns = 1_000_000 * messages.len() as u64;
        let slice = |messages: &u64| Slice {
            duration_ns: 1_000_000,
            received: Count::of(*messages, SIZE_BYTES as usize),
            ..outcome(Kind::Rate, &[1.0]).unwrap().intervals.remove(0)
        };
        let sink = Outcome {
            rank: 1,
            elapsed_ns,
            received: count,
            intervals: messages.iter().map(slice).collect(),
            ..outcome(Kind::Rate, &[]).unwrap()
        };
        let source = Outcome {
            rank: 0,
            role: Role::Source,
            received: Count::default(),
            sent: count,
            intervals: Vec::new(),
            ..sink.clone()
        };
        repetition(&case(SUBJECTS[3]), 0, vec![source, sink], 0, 0)
    }

    /// What a line of the archive leaves out makes no difference to any interval.
    #[test]
    fn what_is_kept_gives_what_the_program_publishes() {
        let subject = SUBJECTS[3];
        let runs = (0..8u64).map(|run| {
            let messages = (0..40).map(|slice| 1000 + 10 * run + (slice * slice * 7 + run * 13) % 97);
            measured(&messages.collect::<Vec<u64>>())
        });
        let runs: Vec<Repetition> = runs.collect();
        let kept = runs.iter().map(|run| {
            let one = case_result(case(subject), vec![run.clone()], &Limits::default());
            let line = Launch::of(&one, subject).unwrap().line(0, subject);
            Launch::parse(&line, 0, subject).unwrap()
        });
        let found = intervals(subject, &kept.collect::<Vec<Launch>>()).unwrap();
        let whole = case_result(case(subject), runs, &Limits::default());
        let [order, _, slices, trimmed] = found[..] else {
            panic!("{found:?}");
        };
        let metric = &whole.metrics[subject.tag()];
        let ends = (metric.lower.unwrap().get(), metric.upper.unwrap().get());
        assert_eq!((order.lower, order.upper), ends);
        assert!(ends.0 < ends.1);
        for (interval, tag) in [(slices, subject.tag()), (trimmed, trimmed_tag(subject).unwrap())] {
            let published = drawn(&whole.resampled[tag]).unwrap();
            let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
            assert!(
                near(interval.lower, published.lower) && near(interval.upper, published.upper),
                "{interval:?} {published:?}"
            );
        }
    }
}
