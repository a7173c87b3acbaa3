//! Requests of one block offered at a rate: an open loop over the same connections as a transfer. What comes is dropped
//! and nothing is compared: it measures times, and must never stand for a transfer of the whole.

use super::asked::{Manner, Moved, TransferError, TransferOptions};
use super::lookup;
use super::ready::made_ready;
use super::told::{cpu_between, describe, refusal};
use super::transfer::{Links, block_bytes, open_source, shape, total_bytes};
use crate::sys::cpu_ns;
use std::time::Instant;
use wirespeed::bulk::{self, Block, BulkError, Course, Hooks, Pace};
use wirespeed_control::StopFlag;
use wirespeed_schema::byteio::Answers;
use wirespeed_schema::units::nanoseconds as ns;

struct Watch<'a>(&'a StopFlag);

impl Hooks for Watch<'_> {
    fn done(&self, _: Block, _: &[u8]) -> Result<(), BulkError> {
        Ok(())
    }

    fn stop(&self) -> bool {
        self.0.is_requested()
    }
}

/// Offer requests once. An error: none was sent; an offer that broke off carries its error in the result.
pub(crate) fn offer(
    options: &TransferOptions,
    pace: Pace,
    stop: &StopFlag,
    course: &mut Course,
) -> Result<Moved, TransferError> {
    let mut options = options.clone();
    options.client.stop = stop.clone();
    let options = &options;
    let began = Instant::now();
    let found = lookup::find(&options.client, options.size_bytes.is_some())?;
    let before = found.own.then(|| lookup::facts(&options.client)).flatten();
    let lookup_ns = ns(began.elapsed());
    let source = open_source(options)?;
    let total_bytes = total_bytes(options, &found, source.as_deref())?;
    if total_bytes == 0 {
        return Err(TransferError::usage(
            "the resource is empty: there is nothing to ask for",
            "name one with at least a byte",
        ));
    }
    if found.whole_only {
        return Err(TransferError::usage(
            "the service knows no ranges: blocks cannot be asked for",
            "offer requests to one that does",
        ));
    }
    let block_bytes = block_bytes(options, total_bytes);
    let ready = made_ready(&options.client, found.own, total_bytes, block_bytes)?;
    let links = Links::new(ready.links.clone(), source, &found);
    let plan = shape(options, total_bytes, block_bytes);
    let cpu_before = cpu_ns();
    let outcome = bulk::offer(course, plan, pace, &links, &Watch(stop));
    let cpu_near_ns = cpu_ns() - cpu_before;
    let after = found.own.then(|| lookup::facts(&options.client)).flatten();
    lookup::close_stream(&links.options, ready.opened);
    ready.forget();
    let nothing_came = outcome.answers.as_ref().is_none_or(|answers| answers.count == 0);
    if let Some(error) = refusal(&outcome).filter(|_| nothing_came) {
        return Err(error);
    }
    let counters = links.counters.into_inner();
    let mut transfer = describe(&outcome, counters);
    (transfer.lookup_ns, transfer.cpu_near_ns) = (lookup_ns, cpu_near_ns);
    transfer.cpu_far_ns = cpu_between(before.as_ref(), after);
    // The times of single requests are the outcome's.
    transfer.answers = outcome.answers.as_ref().map(|answers| Answers {
        count: answers.count,
        spread_ns: ns(answers.spread),
        samples: Vec::new(),
    });
    Ok(Moved {
        total_bytes,
        transfer,
        outcome,
        far: before.map(|facts| facts.host),
        manner: Manner::of(&found),
    })
}
