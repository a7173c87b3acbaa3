//! Tests on active messages: opens the port with the sizes that the case needs, and picks the rank's body by role and
//! layout. It must never touch the port once the body has it.

use super::all_to_all::Member;
use super::batch::Arrivals;
use super::datagram;
use super::flow::Flow;
use super::hub::Hub;
use super::meter::Meter;
use super::payload::{Any, Asked, Bcopy, Check, Never, Sender, Short, Shortiov, Zcopy, zcopy_slots};
use super::phases::{Body, drive, idle};
use super::pingpong::{Answerer, Arrival, Requester};
use super::rank::{Finished, Rank};
use super::relay::Relay;
use super::stream::{Outgoing, Sink, Source};
use super::wired::Wired;
use crate::engine::report::Report;
use crate::error::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::MessagePort;
use crate::transport::{MessageRunner, Messages, Needs, options_at};
use std::time::Duration;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::test::{Layout, Test};

/// Run a test on active messages as one rank of the group.
pub fn messages<T: Messages>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let options = options_at::<T>(case, bootstrap.rank())?;
    let rank = Rank::begin(case, bootstrap)?;
    let size = case.test.largest_message_bytes() as usize;
    let zcopy = case.test.layout() == Some(Layout::Zcopy);
    let needs = Needs {
        message_bytes: size,
        window_msgs: case.test.window(),
        buffer_bytes: if zcopy {
            size.saturating_mul(zcopy_slots(case.check)).max(64)
        } else {
            0
        },
        ..Needs::default()
    };
    let finished = T::open(&rank.connect(needs), &options, Run { rank: &rank, report })??;
    Ok(rank.finish(finished))
}

struct Run<'a, 'r> {
    rank: &'a Rank<'a>,
    report: Report<'r>,
}

impl MessageRunner for Run<'_, '_> {
    type Output = Result<Finished, MeasureError>;

    fn run<P: MessagePort>(self, port: P) -> Self::Output {
        let Run { rank, report } = self;
        rank.connected();
        let meter = rank.meter(report);
        let link = Wired::new(port, rank.waiter());
        // Where queues grow, memory does: that of this case, where the kernel tells it apart from that of earlier ones.
        let tells_memory = rank.case.test.stream().is_some() && crate::host::begin_resident_max();
        if rank.spec.role == Role::Idle {
            let facts = link.port.facts();
            return Ok(idle(rank, meter, facts));
        }
        let body = match (P::SLOW, rank.case.check) {
            (true, check) => chosen(rank, &meter, link, Asked(check)),
            (false, true) => laid_out(rank, &meter, link, Asked(true)),
            (false, false) => laid_out(rank, &meter, link, Never),
        }?;
        let mut finished = drive(rank, meter, body);
        if tells_memory && let Some(bytes) = crate::host::resident_max_bytes() {
            finished
                .facts
                .insert("resident_max_bytes".into(), bytes.to_string());
        }
        Ok(finished)
    }
}

/// The case's layout, if the port has it.
fn layout<P: MessagePort>(rank: &Rank) -> Result<Layout, MeasureError> {
    let unsupported = |what: &str| Err(MeasureError::Unsupported(what.to_owned()));
    match rank.case.test.layout().unwrap_or(Layout::Short) {
        Layout::Zcopy if !P::ZCOPY => unsupported("this port has no zcopy"),
        Layout::Shortiov if !P::SHORTIOV => unsupported("this port has no shortiov"),
        layout => Ok(layout),
    }
}

/// The rank's part, whose loops choose the layout as they run.
fn chosen<'a, P: MessagePort + 'a>(
    rank: &'a Rank,
    meter: &Meter,
    mut link: Wired<P>,
    checks: Asked,
) -> Result<Box<dyn Body + 'a>, MeasureError> {
    let sender = Any::new(layout::<P>(rank)?, sizes(rank).0, &mut link.port, checks);
    body(rank, meter, link, sender, checks)
}

/// The rank's part, with loops of the case's layout.
fn laid_out<'a, P: MessagePort + 'a, C: Check + 'a>(
    rank: &'a Rank,
    meter: &Meter,
    mut link: Wired<P>,
    checks: C,
) -> Result<Box<dyn Body + 'a>, MeasureError> {
    let (size, _) = sizes(rank);
    match layout::<P>(rank)? {
        Layout::Short => body(rank, meter, link, Short::new(size, P::PLACE, checks), checks),
        Layout::Bcopy => body(rank, meter, link, Bcopy::new(size, P::PLACE, checks), checks),
        Layout::Shortiov => {
            let sender = Shortiov::new(size, P::PLACE, checks);
            body(rank, meter, link, sender, checks)
        }
        Layout::Zcopy => {
            let sender = Zcopy::new(size, &mut link.port, checks);
            body(rank, meter, link, sender, checks)
        }
    }
}

/// The rank's part in the case's test.
fn body<'a, P: MessagePort + 'a, S: Sender + 'a>(
    rank: &'a Rank,
    meter: &Meter,
    link: Wired<P>,
    sender: S,
    checks: S::Checks,
) -> Result<Box<dyn Body + 'a>, MeasureError>
where
    S::Checks: 'a,
{
    if P::LOSSY {
        return datagram::body(rank, meter, link, sender);
    }
    let clock = meter.clock;
    let (out_bytes, in_bytes) = sizes(rank);
    let arrival = Arrival::new(in_bytes, checks);
    Ok(match (&rank.case.test, rank.spec.role) {
        (Test::AmLat(_), Role::Source) => Box::new(Requester::new(link, sender, arrival, meter)),
        (Test::AmLat(_), Role::Sink) | (Test::HubLat(_), Role::Worker) => {
            Box::new(Answerer::new(link, sender, arrival, out_bytes))
        }
        (Test::AmBw(p), Role::Sink) if rank.spec.load.message_sleep_ns > 0 => {
            let sleep = Duration::from_nanos(rank.spec.load.message_sleep_ns);
            let flow = Flow::new(p, Asked(checks.on())).slowed(sleep, rank.cancel.clone());
            Box::new(Sink::new(link, flow, Arrivals::new(meter), clock))
        }
        (Test::AmBw(p), Role::Sink) => {
            Box::new(Sink::new(link, Flow::new(p, checks), Arrivals::new(meter), clock))
        }
        (Test::AmBw(p), Role::Source) | (Test::AmBibw(p), Role::Source | Role::Sink) => {
            // A rank that is its own peer is both ends of its stream.
            let both = rank.case.test.is_both_ways() || rank.is_own_peer();
            let out = Outgoing::new(rank, meter, p, both);
            Box::new(Source::new(link, sender, Flow::new(p, checks), out, clock))
        }
        (Test::AmAlltoall(p), Role::Source) => Box::new(Member::new(rank, meter, link, (sender, checks), p)?),
        (Test::AmBw(_) | Test::AmAlltoall(_), Role::Relay) => Box::new(Relay::new(rank, link)?),
        (Test::HubLat(p), Role::Hub) => Box::new(Hub::new(rank, meter, link, (sender, checks), p)?),
        _ => return Err(rank.has_no_part()),
    })
}

/// Payload in bytes that this rank sends, and that which it receives.
fn sizes(rank: &Rank) -> (usize, usize) {
    let size = rank.case.test.size_bytes() as usize;
    match (rank.case.test.hub(), rank.spec.role) {
        (Some(hub), Role::Worker) => (hub.reply() as usize, size),
        (Some(hub), _) => (size, hub.reply() as usize),
        // What only receives or passes on has no payload of its own.
        (None, Role::Sink) if matches!(rank.case.test, Test::AmBw(_)) && !rank.is_own_peer() => (0, size),
        (None, Role::Relay) => (0, size),
        (None, _) => (size, size),
    }
}
