//! Tests on active messages: picks the loop for role, layout and checking once, runs its phases, gives the outcome.
//!
//! Phases, the same on every rank: the very first operation (timed apart), warm-up, a barrier, a few operations to
//! settle in-band (a barrier over a control channel leaves ranks up to a millisecond apart), the measured phase, and a
//! last barrier so that nobody closes while a peer still waits.

use super::all_to_all::{self, Mesh};
use super::datagram;
use super::flow::Flow;
use super::hub;
use super::meter::{Meter, batch_for};
use super::payload::{Any, Bcopy, Checks, Sender, Short, Shortiov, ZCOPY_SLOTS, Zcopy};
use super::phases::{self, Prelude};
use super::pingpong::{Arrival, Requester, SETTLE_ROUND_TRIPS, hot_answer};
use super::rank::{Finished, Rank};
use super::relay;
use super::slow::Slow;
use super::stream::{Incoming, Outgoing, Sink, Source};
use super::wired::Wired;
use crate::measure::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::{Facts, LinkError, MessagePort};
use crate::transport::registry::Report;
use crate::transport::{MessageRunner, Messages, Needs};
use std::time::Duration;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::{Count, Outcome, SampleKind, StopReason};
use wirespeed_schema::test::{Layout, Stream, Test};

/// Run a test on active messages as one rank of the group.
pub fn messages<T: Messages>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let options = T::parse(&case.options).map_err(|e| MeasureError::Usage(e.to_string()))?;
    let rank = Rank::begin(case, bootstrap)?;
    let size = case.test.largest_message_bytes() as usize;
    let zcopy = case.test.layout() == Some(Layout::Zcopy);
    let needs = Needs {
        message_bytes: size,
        window_msgs: case.test.window(),
        buffer_bytes: if zcopy {
            size.saturating_mul(ZCOPY_SLOTS).max(64)
        } else {
            0
        },
        ..Needs::default()
    };
    let finished = T::open(&rank.connect(needs), &options, Run { rank: &rank, report })?;
    let (finished, facts) = finished?;
    Ok(rank.finish(finished, facts))
}

struct Run<'a, 'r> {
    rank: &'a Rank<'a>,
    report: Report<'r>,
}

impl MessageRunner for Run<'_, '_> {
    type Output = Result<(Finished, Facts), MeasureError>;

    fn run<P: MessagePort>(self, port: P) -> Self::Output {
        let case = self.rank.case;
        self.rank.connected();
        let mut link = Wired::new(port, self.rank.waiter());
        // A slow port's loops have the branch on checking in them, others are compiled with and without.
        let mut finished = match P::SLOW || case.check {
            true => self.laid_out::<P, true>(&mut link),
            false => self.laid_out::<P, false>(&mut link),
        }?;
        // Where queues grow, memory does.
        if let Test::AmBw(_) | Test::AmBibw(_) | Test::AmAlltoall(_) = &case.test
            && let Some(bytes) = crate::host::resident_max_bytes()
        {
            finished
                .facts
                .insert("resident_max_bytes".into(), bytes.to_string());
        }
        Ok((finished, link.port.facts()))
    }
}

impl Run<'_, '_> {
    /// With the case's layout.
    fn laid_out<P: MessagePort, const CHECK: bool>(
        self,
        link: &mut Wired<P>,
    ) -> Result<Finished, MeasureError> {
        let case = self.rank.case;
        let (size, _) = sizes(case, self.rank.spec.role);
        let checks = Checks::<CHECK>::new(case.check);
        match case.test.layout().unwrap_or(Layout::Short) {
            Layout::Zcopy if !P::ZCOPY => Err(MeasureError::Unsupported("this port has no zcopy".to_owned())),
            Layout::Shortiov if !P::SHORTIOV => {
                Err(MeasureError::Unsupported("this port has no shortiov".to_owned()))
            }
            layout if P::SLOW => {
                let sender = Any::new(layout, size, &mut link.port, checks);
                self.with::<P, _, CHECK>(link, sender)
            }
            Layout::Short => self.with::<P, _, CHECK>(link, Short::new(size, P::PLACE, checks)),
            Layout::Bcopy => self.with::<P, _, CHECK>(link, Bcopy::new(size, P::PLACE, checks)),
            Layout::Shortiov => self.with::<P, _, CHECK>(link, Shortiov::new(size, P::PLACE, checks)),
            Layout::Zcopy => {
                let sender = Zcopy::new(size, &mut link.port, checks);
                self.with::<P, _, CHECK>(link, sender)
            }
        }
    }

    fn with<P: MessagePort, S: Sender, const CHECK: bool>(
        self,
        link: &mut Wired<P>,
        sender: S,
    ) -> Result<Finished, MeasureError> {
        let Run { rank, report } = self;
        let meter = Meter::new(rank.case, rank.spec.cpu, &rank.timebase, &rank.cancel, report);
        if P::LOSSY {
            return datagram::run::<P, S, CHECK>(rank, link, meter, sender);
        }
        let (out_bytes, in_bytes) = sizes(rank.case, rank.spec.role);
        let arrival = Arrival::new(in_bytes, Checks::<CHECK>::new(rank.case.check));
        Ok(match (&rank.case.test, rank.spec.role) {
            (_, Role::Idle) => idle(rank, link, meter),
            (Test::AmLat(_), Role::Source) => request(rank, link, meter, Requester { sender, arrival }),
            (Test::AmLat(_), Role::Sink) => answer(rank, link, meter, sender, (arrival, out_bytes)),
            // A rank that is its own peer is both ends of its stream.
            (Test::AmBw(p), Role::Source) if rank.is_own_peer() => {
                source::<P, S, CHECK, true>(rank, link, meter, sender, p)
            }
            (Test::AmBw(p), Role::Source) => source::<P, S, CHECK, false>(rank, link, meter, sender, p),
            (Test::AmBw(p), Role::Sink) if rank.spec.load.message_sleep_ns > 0 => {
                let sleep = Duration::from_nanos(rank.spec.load.message_sleep_ns);
                let mut slow = Wired::new(Slow::new(&mut link.port, sleep), rank.waiter());
                sink::<Slow<P>, CHECK>(rank, &mut slow, meter, p)
            }
            (Test::AmBw(p), Role::Sink) => sink::<P, CHECK>(rank, link, meter, p),
            (Test::AmBibw(p), Role::Source | Role::Sink) => {
                source::<P, S, CHECK, true>(rank, link, meter, sender, p)
            }
            (Test::AmAlltoall(p), Role::Source) => {
                let mesh = Mesh::<CHECK>::new(rank, p)?;
                all_to_all::exchange::<P, S, CHECK>(rank, link, meter, sender, mesh)
            }
            (Test::AmBw(_) | Test::AmAlltoall(_), Role::Relay) => relay::relay(rank, link, meter)?,
            (Test::HubLat(p), Role::Hub) => hub::hub::<P, S, CHECK>(rank, link, meter, sender, p)?,
            (Test::HubLat(_), Role::Worker) => answer(rank, link, meter, sender, (arrival, out_bytes)),
            (test, role) => {
                return Err(MeasureError::Usage(format!(
                    "{} has no role {role:?}",
                    test.name()
                )));
            }
        })
    }
}

/// Payload in bytes that a rank of this role sends, and that which it receives.
fn sizes(case: &Case, role: Role) -> (usize, usize) {
    let size = case.test.size_bytes() as usize;
    match (&case.test, role) {
        (Test::HubLat(hub), Role::Worker) => (hub.reply() as usize, size),
        (Test::HubLat(hub), _) => (size, hub.reply() as usize),
        _ => (size, size),
    }
}

/// Meet the other ranks; meanwhile only sends move: a peer that is ahead may have sent already.
pub fn meet<P: MessagePort>(rank: &Rank, link: &mut Wired<P>) -> Result<(), LinkError> {
    phases::meet(rank, || link.port.flush().map(drop))
}

pub(super) fn idle<P: MessagePort>(rank: &Rank, link: &mut Wired<P>, meter: Meter) -> Finished {
    // The ranks at work take three barriers; this one keeps them company.
    let end = (0..3)
        .try_for_each(|_| meet(rank, link))
        .map(|()| StopReason::Completed);
    Prelude::default().finished(end, 0, meter.finish(Vec::new()))
}

fn request<P: MessagePort, S: Sender, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    mut requester: Requester<S, CHECK>,
) -> Finished {
    let clock = meter.clock;
    let mut prelude = Prelude::default();
    let mut series = meter.series(SampleKind::RoundTrip);
    let mut elapsed_ticks = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        let mut ignored = meter.series(SampleKind::RoundTrip);
        meet(rank, link)?;
        let before = clock.now();
        requester.phase(link, &mut ignored, clock, 1)?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        requester.arrival.restart();
        prelude.warm_up(rank, |count, last| {
            requester.round(link, &mut ignored, clock, (count, last))
        })?;
        link.drain()?;
        series.batch_ops = batch_for(prelude.op_ticks, &rank.timebase);
        let armed = meter.arm();
        meet(rank, link)?;
        requester.phase(link, &mut ignored, clock, SETTLE_ROUND_TRIPS)?;
        meter.start(armed);
        let result = requester.measure(link, &mut series, &mut meter, prelude.op_ticks);
        elapsed_ticks = meter.stop();
        let stop = result?;
        link.drain()?;
        meet(rank, link)?;
        Ok(stop)
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(vec![series]))
}

fn answer<P: MessagePort, S: Sender, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    mut sender: S,
    (mut arrival, answer_bytes): (Arrival<CHECK>, usize),
) -> Finished {
    let mut prelude = Prelude::default();
    let mut elapsed_ticks = 0;
    let mut run = || -> Result<StopReason, LinkError> {
        let mut phase = |link: &mut Wired<P>, arrival: &mut Arrival<CHECK>| {
            arrival.restart();
            hot_answer(link, &mut sender, arrival)?;
            link.drain()
        };
        meet(rank, link)?;
        phase(link, &mut arrival)?;
        phase(link, &mut arrival)?;
        prelude.warmup_operations = arrival.tally.received.messages;
        let armed = meter.arm();
        meet(rank, link)?;
        phase(link, &mut arrival)?;
        meter.start(armed);
        let result = phase(link, &mut arrival);
        elapsed_ticks = meter.stop();
        meter.tally = arrival.tally;
        meter.tally.sent = Count {
            messages: arrival.tally.received.messages,
            bytes: arrival.tally.received.messages * answer_bytes as u64,
        };
        result?;
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run();
    prelude.finished(end, elapsed_ticks, meter.finish(Vec::new()))
}

/// Ticks between two sends of a paced stream, 0 for none.
pub(super) fn pace_ticks(rank: &Rank, stream: &Stream) -> f64 {
    stream
        .pace_msg_per_s
        .map_or(0.0, |rate| 1e9 / rate as f64 / rank.timebase.ns_per_tick())
}

fn source<P: MessagePort, S: Sender, const CHECK: bool, const BOTH: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    sender: S,
    stream: &Stream,
) -> Finished {
    let clock = meter.clock;
    let new_outgoing = |meter: &Meter| {
        let intervals = meter.series(SampleKind::SendInterval);
        let acknowledged = meter.series(SampleKind::Acknowledged);
        let paced = stream.pace_msg_per_s.map(|_| meter.series(SampleKind::Response));
        Outgoing::new(
            stream.window_msgs,
            (pace_ticks(rank, stream), paced),
            intervals,
            acknowledged,
        )
    };
    let flow = Flow::new(
        stream.size_bytes as usize,
        stream.window_msgs,
        stream.pace_msg_per_s.is_some(),
        Checks::<CHECK>::new(rank.case.check),
    );
    let mut prelude = Prelude::default();
    let mut source = Source {
        sender,
        flow,
        out: new_outgoing(&meter),
    };
    let mut elapsed_ticks = 0;
    let mut run = |source: &mut Source<S, CHECK>| -> Result<StopReason, LinkError> {
        meet(rank, link)?;
        let before = clock.now();
        source.phase::<P, BOTH>(link, clock, 1)?;
        prelude.first_operation_ticks = Some(clock.now() - before);
        source.restart(clock);
        prelude.warm_up(rank, |count, last| {
            source.round::<P, BOTH>(link, clock, (count, last))
        })?;
        link.drain()?;
        let armed = meter.arm();
        meet(rank, link)?;
        source.phase::<P, BOTH>(link, clock, 1)?;
        source.out = new_outgoing(&meter);
        source.out.intervals.batch_ops = batch_for(prelude.op_ticks, &rank.timebase);
        meter.start(armed);
        let (stop, elapsed) = source.measure::<P, BOTH>(link, &mut meter, prelude.op_ticks)?;
        elapsed_ticks = elapsed;
        meter.stop();
        link.drain()?;
        meet(rank, link)?;
        Ok(stop)
    };
    let end = run(&mut source);
    if end.is_err() && elapsed_ticks == 0 {
        elapsed_ticks = meter.stop();
    }
    let backlog_max = source.out.backlog_max;
    let mut series = vec![source.out.intervals, source.out.acknowledged];
    series.extend(source.out.responses);
    let mut finished = prelude.finished(end, elapsed_ticks, meter.finish(series));
    let facts = &mut finished.facts;
    facts.insert("unacknowledged_max_msgs".into(), backlog_max.to_string());
    finished
}

fn sink<P: MessagePort, const CHECK: bool>(
    rank: &Rank,
    link: &mut Wired<P>,
    mut meter: Meter,
    stream: &Stream,
) -> Finished {
    let clock = meter.clock;
    let new_incoming = |meter: &Meter| Incoming::new(meter.series_of_means(SampleKind::ReceiveInterval));
    let flow = Flow::new(
        stream.size_bytes as usize,
        stream.window_msgs,
        stream.pace_msg_per_s.is_some(),
        Checks::<CHECK>::new(rank.case.check),
    );
    let mut prelude = Prelude::default();
    let mut sink = Sink {
        flow,
        incoming: new_incoming(&meter),
    };
    let mut run = |sink: &mut Sink<CHECK>| -> Result<StopReason, LinkError> {
        meet(rank, link)?;
        sink.phase(link, clock)?;
        sink.phase(link, clock)?;
        prelude.warmup_operations = sink.flow.received();
        prelude.op_ticks = sink.incoming.elapsed_ticks() as f64 / prelude.warmup_operations.max(1) as f64;
        link.drain()?;
        let armed = meter.arm();
        meet(rank, link)?;
        sink.phase(link, clock)?;
        sink.incoming = new_incoming(&meter);
        sink.incoming.intervals.batch_ops = batch_for(prelude.op_ticks.max(1.0), &rank.timebase);
        meter.start(armed);
        sink.measure(link, &mut meter, prelude.op_ticks.max(1.0))?;
        meter.stop();
        link.drain()?;
        meet(rank, link)?;
        Ok(meter.stop_reason())
    };
    let end = run(&mut sink);
    let elapsed_ticks = sink.incoming.elapsed_ticks();
    prelude.finished(end, elapsed_ticks, meter.finish(vec![sink.incoming.intervals]))
}
