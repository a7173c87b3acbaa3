//! The harness floor: the ping-pong loop over the transport that does nothing, on the machine and in the moment of the
//! measurement.

use super::payload::{Never, Short};
use super::pingpong::loops::{Arrival, hot_request};
use super::wired::Wired;
use crate::clock::Timebase;
use crate::record::Recorder;
use crate::transport::cancel::Cancel;
use crate::transport::null::NullPort;
use crate::transport::waiter::Waiter;
use std::hint::black_box;
use wirespeed_schema::Finite;
use wirespeed_schema::case::{Case, IdlePolicy};
use wirespeed_schema::host::Floor;
use wirespeed_schema::outcome::SampleKind;

const BATCHES: usize = 31;
const TURNS: u64 = 400;

/// Median cost of one loop turn on `null`, and what recording adds to it. Less than a millisecond.
pub fn measure(case: &Case, timebase: &Timebase) -> Floor {
    let mut ignore = |_: &wirespeed_schema::outcome::Interval| ();
    let cancel = Cancel::new();
    let meter = super::meter::Meter::new(case, None, timebase, &cancel, &mut ignore);
    let mut series = meter.series(SampleKind::RoundTrip);
    let mut link = Wired::new(
        NullPort::new(8, cancel.clone()),
        Waiter::new(IdlePolicy::Spin, cancel.clone()),
    );
    let mut sender = Short::new(8, 0, Never);
    let mut turns = [0.0; BATCHES];
    let turns = &mut turns[..batches(timebase)];
    for turn in turns.iter_mut() {
        let mut arrival = Arrival::new(8, Never);
        let start = timebase.clock.now();
        // The null port cannot fail: it has no peer to lose, and this flag is never set.
        let _ = hot_request(
            &mut link,
            &mut sender,
            &mut arrival,
            &mut series,
            timebase.clock,
            (TURNS, false),
        );
        *turn = (timebase.clock.now() - start) as f64 / TURNS as f64;
    }
    let record = record_ticks(timebase);
    let ns = |ticks: f64| Finite::maybe(ticks.max(0.0) * timebase.ns_per_tick()).unwrap_or_default();
    Floor {
        loop_ns: ns(median(turns)),
        record_ns: ns(record),
    }
}

/// Virtual time has no noise: once is enough.
fn batches(timebase: &Timebase) -> usize {
    if timebase.clock.is_virtual() { 1 } else { BATCHES }
}

/// What recording adds to a clock read: the loop of both, less the loop of reads alone, interleaved.
fn record_ticks(timebase: &Timebase) -> f64 {
    let clock = timebase.clock;
    let mut recorder = Recorder::new(0);
    let mut added = [0.0; BATCHES];
    let added = &mut added[..batches(timebase)];
    for added in added.iter_mut() {
        let start = clock.now();
        let mut last = start;
        for _ in 0..TURNS {
            let now = clock.now();
            black_box(now - last);
            last = now;
        }
        let middle = clock.now();
        last = middle;
        for _ in 0..TURNS {
            let now = clock.now();
            recorder.record(black_box(now - last));
            last = now;
        }
        let end = clock.now();
        *added = ((end - middle) as f64 - (middle - start) as f64) / TURNS as f64;
    }
    black_box(recorder.count());
    median(added)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
