//! What came out.

use super::error::text;
use crate::figures::Figures;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of one rank.
pub struct ws_result {
    pub(super) figures: Figures,
}

/// The short list: what the rank did, and its typical, average and overall latency.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ws_summary {
    /// From the rank's first operation to its last completion, in ns.
    pub elapsed_ns: u64,
    /// Messages sent, or operations completed.
    pub sent_messages: u64,
    /// Their payload.
    pub sent_bytes: u64,
    /// Messages received.
    pub received_messages: u64,
    /// Their payload.
    pub received_bytes: u64,
    /// Median of all samples, in ns: round trips (not halved), completions, iterations of posted messages, or times
    /// between operations; -1 where the rank takes none.
    pub typical_ns: f64,
    /// Mean of all samples, in ns; -1 where the rank takes none.
    pub average_ns: f64,
    /// elapsed_ns / operations; -1 without any. A receiver's time is from its first arrival to its last: what had come before
    /// is none of its operations here.
    pub overall_ns: f64,
    /// Operations per second over elapsed_ns; 0 where that is no time.
    pub rate_msg_per_s: f64,
    /// Payload per second over elapsed_ns; 0 where that is no time.
    pub bandwidth_bytes_per_s: f64,
}

/// Fill `summary`. Returns 0, or 2 when a pointer is NULL.
///
/// # Safety
/// `result` is NULL or comes from `ws_measure`; `summary` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_result_summary(result: *const ws_result, summary: *mut ws_summary) -> i32 {
    // SAFETY: the caller's promises.
    let (Some(result), Some(summary)) = (unsafe { (result.as_ref(), summary.as_mut()) }) else {
        return 2;
    };
    let outcome = &result.figures.outcome;
    let within = result.figures.within;
    let (typical_ns, average_ns) = result.figures.typical_and_mean_ns().unwrap_or((-1.0, -1.0));
    let per_s = |count: u64| match outcome.elapsed_ns {
        0 => 0.0,
        elapsed_ns => count as f64 * 1e9 / elapsed_ns as f64,
    };
    *summary = ws_summary {
        elapsed_ns: outcome.elapsed_ns,
        sent_messages: outcome.sent.messages,
        sent_bytes: outcome.sent.bytes,
        received_messages: outcome.received.messages,
        received_bytes: outcome.received.bytes,
        typical_ns,
        average_ns,
        overall_ns: match (within.messages, outcome.elapsed_ns) {
            (0, _) | (_, 0) => -1.0,
            (operations, elapsed_ns) => elapsed_ns as f64 / operations as f64,
        },
        rate_msg_per_s: per_s(within.messages),
        bandwidth_bytes_per_s: per_s(within.bytes),
    };
    0
}

/// The figure called `tag` ("rtt_p99_ns", "one_way_p50_ns", "rate_msg_per_s", ...: see docs/metrics.md) into `*value`.
/// Returns 0; 1 when this rank has no such figure, because the test has none, too few samples, or only both ends together
/// tell; 2 when a pointer is NULL or the tag is no text.
///
/// # Safety
/// `result` is NULL or comes from `ws_measure`; `tag` is NULL or a C string; `value` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_result_value(
    result: *const ws_result,
    tag: *const c_char,
    value: *mut f64,
) -> i32 {
    // SAFETY: the caller's promises.
    let (Some(result), Ok(tag), Some(value)) =
        (unsafe { (result.as_ref(), text(tag, "the tag"), value.as_mut()) })
    else {
        return 2;
    };
    match result.figures.value(tag) {
        Some(figure) => {
            *value = figure;
            0
        }
        None => 1,
    }
}

/// Everything as JSON: a `Repetition` of docs/run.schema.json with this rank's outcome. Valid until the result is freed;
/// NULL only for NULL.
///
/// # Safety
/// `result` is NULL or comes from `ws_measure`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_result_json(result: *const ws_result) -> *const c_char {
    // SAFETY: the caller's promise.
    match unsafe { result.as_ref() } {
        Some(result) => result.figures.json.as_ptr(),
        None => std::ptr::null(),
    }
}

/// Free a result. NULL is allowed.
///
/// # Safety
/// `result` is NULL or comes from `ws_measure`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_result_free(result: *mut ws_result) {
    if !result.is_null() {
        // SAFETY: made by Box::into_raw in ws_measure, freed once: the caller's promise.
        let result = unsafe { Box::from_raw(result) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(result)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::schema::case::Case;
    use wirespeed::schema::test::{Layout, Stream, Test};

    fn summary(received_messages: u64, elapsed_ns: u64) -> ws_summary {
        let mut outcome = crate::figures::tests::outcome();
        (outcome.elapsed_ns, outcome.received_before_msgs) = (elapsed_ns, 1);
        outcome.received.messages = received_messages;
        outcome.received.bytes = received_messages * 100;
        let case = Case::new(Test::AmBw(Stream::new(100, Layout::Bcopy, 32)), "tcp");
        let figures = Figures::new(&case, outcome).unwrap();
        let result = ws_result { figures };
        let mut summary = std::mem::MaybeUninit::<ws_summary>::uninit();
        // SAFETY: both live through the call, which writes the summary.
        unsafe {
            assert_eq!(ws_result_summary(&raw const result, summary.as_mut_ptr()), 0);
            summary.assume_init()
        }
    }

    #[test]
    fn what_came_before_a_receivers_time_is_no_part_of_its_rate() {
        let two = summary(2, 1_000_000_000);
        assert_eq!(
            (
                two.received_messages,
                two.rate_msg_per_s,
                two.bandwidth_bytes_per_s
            ),
            (2, 1.0, 100.0)
        );
        assert_eq!(two.overall_ns, 1e9);
        let one = summary(1, 0);
        assert_eq!(
            (
                one.received_messages,
                one.rate_msg_per_s,
                one.bandwidth_bytes_per_s
            ),
            (1, 0.0, 0.0)
        );
        assert_eq!(one.overall_ns, -1.0);
    }
}
