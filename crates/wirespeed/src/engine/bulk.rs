//! A whole moved in blocks between here and a service: one rank, around a transfer that the transport leads and the bulk
//! engine times. It must never move a byte itself.

use super::meter::{Measured, Tally};
use super::rank::{Finished, Rank};
use crate::bulk::{BulkOutcome, Course};
use crate::engine::report::Report;
use crate::error::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::{Bulk, Carried, Needs, options_at};
use std::time::Duration;
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::Transfer;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::{Count, Faults, Outcome, SampleKind, Samples, StopReason};

/// Run a bulk transfer as the only rank of its group.
pub fn bulk<T: Bulk>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let options = options_at::<T>(case, bootstrap.rank())?;
    let rank = Rank::begin_alone(case, bootstrap)?;
    let mut course = Course::new(&rank.timebase, report)
        .on_cpu(rank.spec.cpu)
        .reporting_every(case.report_interval_ns);
    let carried = T::carry(&rank.connect(Needs::default()), &options, &mut course)?;
    let Carried {
        outcome: moved,
        record,
        facts,
    } = carried;
    let connect_ns = ns(moved.connect);
    let finished = Finished {
        elapsed_ticks: rank.timebase.to_ticks(ns(moved.elapsed)),
        warmup_operations: 0,
        first_operation_ticks: moved.first_block.map(|time| rank.timebase.to_ticks(ns(time))),
        end: Ok(match (&record.error, rank.is_asked_to_end()) {
            (None, _) => StopReason::Completed,
            (Some(_), true) => StopReason::Interrupted,
            (Some(_), false) => StopReason::Failed,
        }),
        measured: measured(&rank, moved, &record),
        facts,
    };
    let mut outcome = rank.finish(finished);
    outcome.elapsed_ns = record.elapsed_ns;
    outcome.connect_ns = Finite::maybe(connect_ns as f64);
    outcome.error.clone_from(&record.error);
    outcome.transfer = Some(Box::new(record));
    Ok(outcome)
}

/// What was counted: each block is an operation. Of requests at a rate also their times.
fn measured(rank: &Rank, moved: BulkOutcome, record: &Transfer) -> Measured {
    let count = Count {
        messages: moved.workers.iter().map(|worker| worker.blocks).sum(),
        bytes: moved.bytes,
    };
    let (sent, received) = match rank.spec.role {
        Role::Source => (count, Count::default()),
        _ => (Count::default(), count),
    };
    let samples = |kind, histogram| Samples {
        kind,
        batch_ops: 1,
        histogram,
        raw_ns: Vec::new(),
    };
    let answers = moved.answers.map(|answers| {
        vec![
            samples(SampleKind::Completion, answers.service),
            samples(SampleKind::Response, answers.response),
        ]
    });
    Measured {
        tally: Tally {
            sent,
            received,
            faults: Faults {
                corrupt_messages: record.wrong_blocks_count,
                ..Faults::default()
            },
            ..Tally::default()
        },
        samples: answers.unwrap_or_default(),
        intervals: moved.intervals,
        peers: Vec::new(),
        disturbance: moved.disturbance,
        began_ns: None,
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
