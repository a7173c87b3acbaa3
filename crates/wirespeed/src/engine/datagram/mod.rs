//! Tests on active messages over a medium that may lose, double or reorder them: every message is accounted for.
//!
//! The phases are those of the reliable loops (first operation, warm-up, settling, measurement); what differs is that
//! nothing here waits for a message without a limit, that ends are agreed by repetition, and that what is late, lost
//! or double is counted instead of being an error.

mod ending;
mod header;
mod patience;
mod pingpong;
mod receive;
mod sequence;
mod stream;
mod traffic;

#[cfg(test)]
mod tests;

use super::messages::{idle, pace_ticks};
use super::meter::{Meter, batch_for};
use super::payload::Sender;
use super::phases::Prelude;
use super::pingpong::SETTLE_ROUND_TRIPS;
use super::rank::{Finished, Rank};
use super::wired::Wired;
use crate::measure::MeasureError;
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage};
use patience::Patience;
use pingpong::{Replies, Requester, Requests, hot_answer};
use receive::{Incoming, Sink};
use sequence::Tracker;
use stream::{Outgoing, Source};
use traffic::Traffic;
use wirespeed_schema::case::Role;
use wirespeed_schema::outcome::{Faults, SampleKind, StopReason};
use wirespeed_schema::test::{Stream, Test};

/// What must be answered even between phases, because the answer before may have been lost.
trait Attend: OnMessage {
    /// Answer what is due; sends that find no room are left out, the peer asks again.
    fn attend<P: MessagePort>(&mut self, port: &mut P) -> Result<(), LinkError>;
}

fn faults_of(tracker: &Tracker, total: u64, corrupt: u64) -> Faults {
    Faults {
        lost_messages: tracker.lost(total),
        reordered_messages: tracker.reordered,
        duplicate_messages: tracker.duplicates,
        corrupt_messages: corrupt,
    }
}

/// Run the case's test as this rank.
pub fn run<P: MessagePort, S: Sender, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    meter: Meter,
    sender: S,
) -> Result<Finished, MeasureError> {
    Ok(match (&rank.case.test, rank.spec.role) {
        (_, Role::Idle) => idle(rank, link, meter),
        (Test::AmLat(_), Role::Source) => request::<P, S, CHECK>(rank, link, meter, sender),
        (Test::AmLat(_), Role::Sink) => answer::<P, S, CHECK>(rank, link, meter, sender),
        (Test::AmBw(p), Role::Source) => source::<P, S, CHECK, false>(rank, link, meter, sender, p),
        (Test::AmBw(p), Role::Sink) => sink::<P, CHECK>(rank, link, meter, p),
        (Test::AmBibw(p), Role::Source | Role::Sink) => {
            source::<P, S, CHECK, true>(rank, link, meter, sender, p)
        }
        (test, _) => {
            return Err(MeasureError::Unsupported(format!(
                "{} needs a transport that loses no messages, {} may lose some",
                test.name(),
                rank.case.transport
            )));
        }
    })
}

/// Meet the other ranks, answering the peer meanwhile: it may lack an answer that was lost.
fn meet<P: MessagePort, A: Attend>(rank: &Rank, link: &mut Wired<P>, on: &mut A) -> Result<(), LinkError> {
    let mut step = || -> Result<(), LinkError> {
        link.port.poll(on)?;
        on.attend(&mut link.port)?;
        link.port.flush().map(drop)
    };
    rank.barrier(&mut || {
        // A broken port shows in the next phase; at the last barrier a peer may have closed its port already.
        let _ = step();
    })
}

fn request<P: MessagePort, S: Sender, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    sender: S,
) -> Finished {
    let clock = meter.clock;
    let mut prelude = Prelude::default();
    let mut series = meter.series(SampleKind::RoundTrip);
    let mut elapsed_ticks = 0;
    let mut requester = Requester {
        sender,
        replies: Replies::new(rank.case.test.size_bytes() as usize, Checks::<CHECK>::new(rank.case.check)),
        patience: Patience::new(&rank.timebase),
    };
    let mut run = || -> Result<StopReason, LinkError> {
        let mut ignored = meter.series(SampleKind::RoundTrip);
        meet(rank, link, &mut requester.replies)?;
        let before = clock.now();
        requester.round(link, &mut ignored, clock, (1, true))?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        requester.replies.restart();
        prelude.warm_up(rank, |count, last| {
            requester.round(link, &mut ignored, clock, (count, last))
        })?;
        let armed = meter.arm();
        meet(rank, link, &mut requester.replies)?;
        requester.replies.restart();
        requester.round(link, &mut ignored, clock, (SETTLE_ROUND_TRIPS, true))?;
        meter.start(armed);
        let result = requester.measure(link, &mut series, &mut meter, prelude.op_ticks);
        elapsed_ticks = meter.stop();
        let (stop, elapsed) = result?;
        elapsed_ticks = elapsed;
        meet(rank, link, &mut requester.replies)?;
        Ok(stop)
    };
    let end = run();
    let mut finished = prelude.finished(end, elapsed_ticks, meter.finish(vec![series]));
    note(&mut finished, "reply_timeouts", requester.replies.timeouts);
    note(&mut finished, "late_replies", requester.replies.late);
    finished
}

fn answer<P: MessagePort, S: Sender, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    mut sender: S,
) -> Finished {
    let limits = (meter.clock, Patience::new(&rank.timebase).silence_ticks(0.0));
    let mut prelude = Prelude::default();
    let mut elapsed_ticks = 0;
    let mut requests = Requests::new(rank.case.test.size_bytes() as usize, Checks::<CHECK>::new(rank.case.check));
    let mut run = || -> Result<StopReason, LinkError> {
        meet(rank, link, &mut requests)?;
        hot_answer(link, &mut sender, &mut requests, limits)?;
        requests.restart();
        hot_answer(link, &mut sender, &mut requests, limits)?;
        prelude.warmup_operations = requests.received();
        let armed = meter.arm();
        meet(rank, link, &mut requests)?;
        requests.restart();
        hot_answer(link, &mut sender, &mut requests, limits)?;
        requests.restart();
        meter.start(armed);
        let result = hot_answer(link, &mut sender, &mut requests, limits);
        elapsed_ticks = meter.stop();
        meter.tally = requests.tally();
        result?;
        meet(rank, link, &mut requests)?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(Vec::new()))
}

fn source<P: MessagePort, S: Sender, const CHECK: bool, const BOTH: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    sender: S,
    stream: &Stream,
) -> Finished {
    let clock = meter.clock;
    let pace_ticks = pace_ticks(rank, stream);
    let new_outgoing = |meter: &Meter, patience| {
        let intervals = meter.series(SampleKind::SendInterval);
        let acknowledged = meter.series(SampleKind::Acknowledged);
        Outgoing::new(
            stream.window_msgs,
            (pace_ticks, &rank.timebase),
            (intervals, acknowledged),
            patience,
        )
    };
    let mut prelude = Prelude::default();
    let mut source = Source {
        sender,
        traffic: Traffic::new(
            stream.size_bytes as usize,
            stream.window_msgs,
            Checks::<CHECK>::new(rank.case.check),
        ),
        out: new_outgoing(&meter, Patience::new(&rank.timebase)),
    };
    let mut elapsed_ticks = 0;
    let mut run = |source: &mut Source<S, CHECK>| -> Result<StopReason, LinkError> {
        meet(rank, link, &mut source.traffic)?;
        let before = clock.now();
        source.round::<P, BOTH>(link, clock, (1, true))?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        source.restart(clock);
        prelude.warm_up(rank, |count, last| {
            source.round::<P, BOTH>(link, clock, (count, last))
        })?;
        let armed = meter.arm();
        meet(rank, link, &mut source.traffic)?;
        source.restart(clock);
        source.round::<P, BOTH>(link, clock, (1, true))?;
        source.out = new_outgoing(&meter, source.out.patience);
        source.out.intervals.batch_ops = batch_for(prelude.op_ticks, &rank.timebase);
        meter.start(armed);
        let result = source.measure::<P, BOTH>(link, &mut meter, prelude.op_ticks);
        elapsed_ticks = meter.stop();
        let (stop, elapsed) = result?;
        elapsed_ticks = elapsed;
        meet(rank, link, &mut source.traffic)?;
        Ok(stop)
    };
    let end = run(&mut source);
    let samples = vec![source.out.intervals, source.out.acknowledged];
    let mut finished = prelude.finished(end, elapsed_ticks, meter.finish(samples));
    note(&mut finished, "window_stalls", source.out.stalls);
    if let Some(delivered) = source.traffic.peer_received {
        note(&mut finished, "delivered_messages", delivered);
    }
    finished
}

fn sink<P: MessagePort, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    stream: &Stream,
) -> Finished {
    let clock = meter.clock;
    let patience = Patience::new(&rank.timebase);
    let new_incoming = |meter: &Meter| {
        Incoming::new(
            meter.series_of_means(SampleKind::ReceiveInterval),
            &rank.timebase,
            patience.silence_ticks(pace_ticks(rank, stream)),
        )
    };
    let mut prelude = Prelude::default();
    let mut sink = Sink {
        traffic: Traffic::new(
            stream.size_bytes as usize,
            stream.window_msgs,
            Checks::<CHECK>::new(rank.case.check),
        ),
        incoming: new_incoming(&meter),
    };
    let mut run = |sink: &mut Sink<CHECK>| -> Result<StopReason, LinkError> {
        meet(rank, link, &mut sink.traffic)?;
        sink.phase(link, clock)?;
        sink.restart();
        sink.phase(link, clock)?;
        prelude.warmup_operations = sink.traffic.received();
        prelude.op_ticks = sink.incoming.elapsed_ticks() as f64 / prelude.warmup_operations.max(1) as f64;
        let armed = meter.arm();
        meet(rank, link, &mut sink.traffic)?;
        sink.restart();
        sink.phase(link, clock)?;
        sink.incoming = new_incoming(&meter);
        sink.incoming.intervals.batch_ops = batch_for(prelude.op_ticks.max(1.0), &rank.timebase);
        meter.start(armed);
        let result = sink.measure(link, &mut meter, prelude.op_ticks.max(1.0));
        meter.stop();
        result?;
        meet(rank, link, &mut sink.traffic)?;
        Ok(meter.stop_reason())
    };
    let end = run(&mut sink);
    let elapsed_ticks = sink.incoming.elapsed_ticks();
    prelude.finished(end, elapsed_ticks, meter.finish(vec![sink.incoming.intervals]))
}

/// Add a fact that only a lossy run has.
fn note(finished: &mut Finished, name: &str, value: u64) {
    let facts: &mut Facts = &mut finished.facts;
    facts.insert(name.to_owned(), value.to_string());
}
