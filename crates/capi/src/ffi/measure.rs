//! The measurement itself, reports while it goes on, and the wish to end it.

use super::case::ws_case;
use super::error::{Problem, guarded, ws_error, ws_status};
use super::result::ws_result;
use super::rte::{Runtime, ws_rte};
use crate::figures::Figures;
use std::ffi::c_void;
use wirespeed::schema::outcome::{Interval, Outcome, StopReason};
use wirespeed::transport::cancel::CancelReason;
use wirespeed::{Cancel, measure};
use wirespeed_schema::units::counted;

/// One slice of a running measurement, as this rank sees it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ws_interval {
    /// Start of the slice, from the start of the measured phase, in ns.
    pub start_ns: u64,
    /// Length of the slice, in ns.
    pub duration_ns: u64,
    /// Messages sent, or operations completed, in it.
    pub sent_messages: u64,
    /// Their payload.
    pub sent_bytes: u64,
    /// Messages received in it.
    pub received_messages: u64,
    /// Their payload.
    pub received_bytes: u64,
    /// Median of its samples, in ns: round trips (not halved), completions, iterations of posted messages, or times
    /// between operations; -1 where the rank takes none.
    pub typical_ns: f64,
    /// Largest of its samples, in ns; -1 where the rank takes none.
    pub max_ns: f64,
    /// duration_ns / operations of the slice; -1 without any.
    pub average_ns: f64,
    /// The same from the start of the measured phase on.
    pub overall_ns: f64,
    /// Operations per second, of the slice.
    pub rate_msg_per_s: f64,
    /// Payload per second, of the slice.
    pub bandwidth_bytes_per_s: f64,
}

/// Called in the measuring thread at the case's "interval", outside every sample.
pub type ws_report = Option<extern "C" fn(context: *mut c_void, interval: *const ws_interval)>;

/// Ends measurements from another thread. Free it when no measurement that was given it still runs.
pub struct ws_stop {
    cancel: Cancel,
}

/// A wish that nobody has yet; never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn ws_stop_new() -> *mut ws_stop {
    Box::into_raw(Box::new(ws_stop {
        cancel: Cancel::new(),
    }))
}

/// Ask for an orderly end: sources mark their last message and every result is whole. Not for signal handlers.
///
/// # Safety
/// `stop` is NULL or comes from `ws_stop_new` and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_stop_request(stop: *const ws_stop) {
    // SAFETY: the caller's promise.
    if let Some(stop) = unsafe { stop.as_ref() } {
        stop.cancel.request_stop();
    }
}

/// End at once: every wait of the library returns. Call it on the other ranks when the runtime learns that one is gone, and let
/// their barrier and exchange return: a rank cannot see everywhere that its peer died. Not for signal handlers. A measurement
/// that fails does this to the stop that it was given, for the sake of ranks that share it: make a new one for the next.
///
/// # Safety
/// `stop` is NULL or comes from `ws_stop_new` and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_stop_cancel(stop: *const ws_stop) {
    // SAFETY: the caller's promise.
    if let Some(stop) = unsafe { stop.as_ref() } {
        stop.cancel.cancel(CancelReason::PeerLost);
    }
}

/// Free it. NULL is allowed.
///
/// # Safety
/// `stop` is NULL or comes from `ws_stop_new`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_stop_free(stop: *mut ws_stop) {
    if !stop.is_null() {
        // SAFETY: made by Box::into_raw in ws_stop_new, freed once: the caller's promise.
        drop(unsafe { Box::from_raw(stop) });
    }
}

/// Measure `given` as the rank that `rte` says, in this thread. Collective: every rank calls it with the same parameters;
/// where one has another test, size, transport or end, or parameters that make no sense, all get WS_USAGE. Nothing is printed,
/// nothing outlives the call, and it may be called again, also by several threads at once.
///
/// `report` (with `report_context`) and `stop` may be NULL. On WS_OK, WS_WRONG_DATA and WS_INTERRUPTED, and on WS_FAILED when
/// the run broke off after its start, `*result` is a result, to be freed with `ws_result_free`; otherwise NULL.
///
/// # Safety
/// `given` comes from `ws_case_new`; `rte` points to a ws_rte whose callbacks hold what they promise, and whose address is NULL
/// or a string; `stop` is NULL or comes from `ws_stop_new`; `result` may be written; `error` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ws_measure(
    given: *const ws_case,
    rte: *const ws_rte,
    report: ws_report,
    report_context: *mut c_void,
    stop: *const ws_stop,
    result: *mut *mut ws_result,
    error: *mut ws_error,
) -> ws_status {
    // SAFETY: the caller's promises; NULL is refused where it is not allowed.
    let (given, rte, stop, result) =
        unsafe { (given.as_ref(), rte.as_ref(), stop.as_ref(), result.as_mut()) };
    let body = || {
        let result = result.ok_or_else(|| Problem::usage("the place for the result is NULL", "give one"))?;
        *result = std::ptr::null_mut();
        let given = given.ok_or_else(|| Problem::usage("the case is NULL", "use ws_case_new"))?;
        let rte = rte.ok_or_else(|| Problem::usage("the runtime is NULL", "give a ws_rte"))?;
        let cancel = stop.map(|stop| stop.cancel.clone()).unwrap_or_default();
        // SAFETY: the caller's promise.
        let runtime =
            unsafe { Runtime::new(rte, cancel) }.map_err(|(why, remedy)| Problem::usage(why, remedy))?;
        let registry = crate::registry();
        let case = match given.words.case(&registry, runtime.group, rte.size) {
            Ok(case) => case,
            Err(error) => {
                crate::agree::give_up(&runtime);
                return Err(error.into());
            }
        };
        if let Some(cause) = crate::agree::difference(&case, &runtime)? {
            return Err(Problem::usage(cause, "give every rank the same parameters"));
        }
        let mut seen = Overall::default();
        let outcome = measure(&case, &registry, &runtime, &mut |interval| {
            let slice = seen.add(interval);
            if let Some(report) = report {
                report(report_context, &raw const slice);
            }
        })?;
        let problem = problem_of(&outcome);
        let figures = Figures::new(&case, outcome).map_err(Problem::failed)?;
        *result = Box::into_raw(Box::new(ws_result { figures }));
        problem.map_or(Ok(ws_status::WS_OK), Err)
    };
    // SAFETY: the caller's promise on `error`.
    unsafe { guarded(error, body) }
}

/// What is wrong with the data that arrived. Only an unreliable transport may lose messages, or change their order.
fn wrong_data(outcome: &Outcome) -> Option<String> {
    let faults = outcome.faults;
    let delivery = outcome.transport_facts.get("delivery");
    let reliable = delivery.is_none_or(|delivery| delivery != "unreliable");
    let kinds = [
        (faults.corrupt_messages, true, "arrived with other data than sent"),
        (faults.lost_messages, reliable, "never came"),
        (faults.reordered_messages, reliable, "came after a later one"),
        (faults.duplicate_messages, reliable, "came twice"),
    ];
    let (count, _, what) = kinds
        .into_iter()
        .find(|(count, counts, _)| *count > 0 && *counts)?;
    Some(format!("{} {what}", counted(count, "message")))
}

/// What is wrong with a result that there is.
fn problem_of(outcome: &Outcome) -> Option<Problem> {
    let error = outcome.error.as_deref();
    let (status, cause) = match (wrong_data(outcome), error) {
        (Some(wrong), error) => {
            let more = error.map(|error| format!("; {error}")).unwrap_or_default();
            (ws_status::WS_WRONG_DATA, wrong + &more)
        }
        (None, Some(error)) => (ws_status::WS_FAILED, error.to_owned()),
        (None, None) if outcome.stop == StopReason::Interrupted => {
            (ws_status::WS_INTERRUPTED, "stopped before its end".to_owned())
        }
        (None, None) => return None,
    };
    Some(Problem {
        status,
        cause,
        remedy: String::new(),
    })
}

/// What was seen since the start.
#[derive(Default)]
struct Overall {
    operations: u64,
}

impl Overall {
    fn add(&mut self, interval: &Interval) -> ws_interval {
        let (sent, received) = (interval.sent, interval.received);
        // A pure receiver counts what it received.
        let (operations, bytes) = match sent.messages {
            0 => (received.messages, received.bytes),
            _ => (sent.messages, sent.bytes),
        };
        self.operations += operations;
        let mean = |time_ns: u64, operations: u64| match operations {
            0 => -1.0,
            _ => time_ns as f64 / operations as f64,
        };
        let per_s = |count: u64| count as f64 * 1e9 / interval.duration_ns.max(1) as f64;
        ws_interval {
            start_ns: interval.start_ns,
            duration_ns: interval.duration_ns,
            sent_messages: sent.messages,
            sent_bytes: sent.bytes,
            received_messages: received.messages,
            received_bytes: received.bytes,
            typical_ns: interval.p50_ns.map_or(-1.0, |v| v.get()),
            max_ns: interval.max_ns.map_or(-1.0, |v| v.get()),
            average_ns: mean(interval.duration_ns, operations),
            overall_ns: mean(interval.start_ns + interval.duration_ns, self.operations),
            rate_msg_per_s: per_s(operations),
            bandwidth_bytes_per_s: per_s(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::schema::outcome::Faults;

    #[test]
    fn every_status_but_the_good_one_has_a_cause() {
        let of = |stop: StopReason, corrupt: u64, error: Option<&str>| {
            let mut outcome = crate::figures::tests::outcome();
            (outcome.stop, outcome.error) = (stop, error.map(str::to_owned));
            outcome.faults.corrupt_messages = corrupt;
            problem_of(&outcome).map(|problem| (problem.status, problem.cause))
        };
        assert_eq!(of(StopReason::Completed, 0, None), None);
        let wrong = "2 messages arrived with other data than sent";
        assert_eq!(
            of(StopReason::Completed, 2, None),
            Some((ws_status::WS_WRONG_DATA, wrong.into()))
        );
        let both = format!("{wrong}; the peer is gone");
        assert_eq!(
            of(StopReason::Failed, 2, Some("the peer is gone")),
            Some((ws_status::WS_WRONG_DATA, both))
        );
        assert_eq!(
            of(StopReason::Failed, 0, Some("x")),
            Some((ws_status::WS_FAILED, "x".into()))
        );
        let faulty = |faults: Faults, delivery: &str| {
            let mut outcome = crate::figures::tests::outcome();
            outcome.faults = faults;
            let facts = &mut outcome.transport_facts;
            facts.insert("delivery".to_owned(), delivery.to_owned());
            problem_of(&outcome).map(|problem| (problem.status, problem.cause))
        };
        for (lost, reordered, duplicate, told) in [
            (1, 0, 0, "1 message never came"),
            (0, 2, 0, "2 messages came after a later one"),
            (0, 0, 3, "3 messages came twice"),
        ] {
            let faults = Faults {
                lost_messages: lost,
                reordered_messages: reordered,
                duplicate_messages: duplicate,
                ..Faults::default()
            };
            let wrong = Some((ws_status::WS_WRONG_DATA, told.to_owned()));
            assert_eq!(faulty(faults, "in order"), wrong);
            assert_eq!(faulty(faults, "unreliable"), None);
        }
        let stopped = of(StopReason::Interrupted, 0, None);
        assert_eq!(
            stopped,
            Some((ws_status::WS_INTERRUPTED, "stopped before its end".into()))
        );
    }
}
