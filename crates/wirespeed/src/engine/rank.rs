//! One rank around its loop: what is set up before the port is opened and what is noted after it is closed.

use super::floor;
use super::meter::{Measured, Meter};
use super::phases;
use super::tagged;
use crate::clock::Timebase;
use crate::engine::report::Report;
use crate::error::MeasureError;
use crate::host::{PinGuard, pin_thread, recent_fingerprint, scan};
use crate::load::{Background, Measuring};
use crate::transport::bootstrap::Bootstrap;
use crate::transport::cancel::{Cancel, CancelReason};
use crate::transport::port::{Facts, LinkError};
use crate::transport::waiter::Waiter;
use crate::transport::{Connect, Needs, Room};
use std::cell::Cell;
use wirespeed_schema::Finite;
use wirespeed_schema::case::{Case, GroupKind, RankSpec, Role};
use wirespeed_schema::host::{Floor, Noise};
use wirespeed_schema::kinds::Roles;
use wirespeed_schema::outcome::{Outcome, StopReason};
use wirespeed_schema::test::{Capability, Stream};

/// Length of the noise scan before a run, and of that after it.
const NOISE_SCAN_MS: u32 = 3;

/// A rank during one measurement.
pub struct Rank<'a> {
    /// The case.
    pub case: &'a Case,
    /// The group.
    pub bootstrap: &'a dyn Bootstrap,
    /// This rank's part in it.
    pub spec: &'a RankSpec,
    /// Ranks that it exchanges data with, by slot.
    pub peers: Vec<u32>,
    /// Whether the ranks of this machine have CPUs of their own.
    room: Room,
    /// The flag that ends the run.
    pub cancel: Cancel,
    /// The clock.
    pub timebase: Timebase,
    /// When the port began to open, then how long it took, in ticks.
    connecting: Cell<u64>,
    connect_ticks: Cell<Option<u64>>,
    /// Absent where the rank has no part, and nothing to compare with it.
    floor: Option<Floor>,
    noise: Option<Noise>,
    load: Option<Background>,
    _pin: Option<PinGuard>,
}

/// The outcome of a rank without a part, where the others can do without it: it opens no port and meets nobody. Nothing where
/// it must stay, because its load runs while they measure or its bootstrap does not let it go.
pub fn absent(case: &Case, bootstrap: &dyn Bootstrap) -> Option<Outcome> {
    let spec = case.ranks.get(bootstrap.rank() as usize)?;
    let is_free = spec.role == Role::Idle && spec.load.is_idle() && bootstrap.busy_threads() == 0;
    if !is_free || !bootstrap.leave() {
        return None;
    }
    let rank = Rank::new((case, spec), bootstrap, Vec::new(), Room::said(case.idle));
    let mut unheard = |_: &_| ();
    let meter = rank.meter(&mut unheard);
    let finished = phases::nothing(meter, Facts::new(), Ok(StopReason::Completed));
    Some(rank.finish(finished))
}

/// How a rank's phases went.
pub struct Finished {
    /// Counts, samples, intervals.
    pub measured: Measured,
    /// From the first operation to the last completion, in ticks.
    pub elapsed_ticks: u64,
    /// Operations of the warm-up.
    pub warmup_operations: u64,
    /// Time of the very first operation.
    pub first_operation_ticks: Option<u64>,
    /// Why it stopped, or the error that ended it.
    pub end: Result<StopReason, LinkError>,
    /// Facts of the port and of the loop.
    pub facts: Facts,
}

impl<'a> Rank<'a> {
    /// Pin the thread, characterise the clock and the CPU, measure the floor, start the background load.
    pub fn begin(case: &'a Case, bootstrap: &'a dyn Bootstrap) -> Result<Self, MeasureError> {
        let me = bootstrap.rank();
        let spec = case
            .ranks
            .get(me as usize)
            .ok_or_else(|| MeasureError::Usage(format!("the case has no rank {me}")))?;
        let peers = peers_of(case, me)?;
        let pin = spec
            .cpu
            .map(pin_thread)
            .transpose()
            .map_err(|e| MeasureError::System(e.to_string()))?;
        let room = Room::meet(case, bootstrap)?;
        let mut rank = Rank::new((case, spec), bootstrap, peers, room);
        rank._pin = pin;
        rank.floor = (spec.role != Role::Idle).then(|| floor::measure(case, &rank.timebase));
        rank.noise = noise_of(spec, &rank.timebase);
        if !spec.load.is_idle() {
            rank.load = Some(Background::start(&spec.load, &Measuring::in_case(case, me))?);
        }
        Ok(rank)
    }

    fn new(
        (case, spec): (&'a Case, &'a RankSpec),
        bootstrap: &'a dyn Bootstrap,
        peers: Vec<u32>,
        room: Room,
    ) -> Self {
        Rank {
            case,
            bootstrap,
            spec,
            peers,
            room,
            cancel: bootstrap.cancel(),
            timebase: Timebase::start(),
            connecting: Cell::new(0),
            connect_ticks: Cell::new(None),
            floor: None,
            noise: None,
            load: None,
            _pin: None,
        }
    }

    /// As [`Rank::begin`], where the far end is no rank: this one is source or sink, and meets nobody but itself.
    pub fn begin_alone(case: &'a Case, bootstrap: &'a dyn Bootstrap) -> Result<Self, MeasureError> {
        let rank = Rank::begin(case, bootstrap)?;
        if !matches!(rank.spec.role, Role::Source | Role::Sink) || bootstrap.size() != 1 {
            return Err(rank.has_no_part());
        }
        // The set-up ends here.
        bootstrap.barrier(&mut || ())?;
        Ok(rank)
    }

    /// What a transport gets to open a port with `needs`. The time until [`Rank::connected`] is that of connecting.
    pub fn connect(&self, needs: Needs) -> Connect<'_> {
        self.connecting.set(self.timebase.clock.now());
        Connect {
            bootstrap: self.bootstrap,
            case: self.case,
            peers: &self.peers,
            needs,
            room: self.room,
            cancel: self.cancel.clone(),
        }
    }

    /// The port is open.
    pub fn connected(&self) {
        let ticks = self.timebase.clock.now().saturating_sub(self.connecting.get());
        self.connect_ticks.set(Some(ticks));
    }

    /// Ticks between two messages of a paced stream, 0 for none.
    pub fn interval_ticks(&self, stream: &Stream) -> f64 {
        let second_ticks = 1e9 / self.timebase.ns_per_tick();
        stream
            .pace_msg_per_s
            .map_or(0.0, |rate| second_ticks / rate as f64)
    }

    /// The case gives this rank a role that its test does not have.
    pub fn has_no_part(&self) -> MeasureError {
        let (test, role) = (self.case.test.name(), self.spec.role.name());
        MeasureError::Usage(format!("{test} has no role {role}"))
    }

    /// Whether this rank exchanges data with itself alone.
    pub fn is_own_peer(&self) -> bool {
        self.peers == [self.bootstrap.rank()]
    }

    /// Whether somebody wants the run to end, in order or at once.
    pub fn is_asked_to_end(&self) -> bool {
        self.cancel.stop_requested() || self.cancel.reason().is_some()
    }

    /// A meter for this rank's loop.
    pub fn meter<'m>(&'m self, report: Report<'m>) -> Meter<'m> {
        Meter::new(self.case, self.spec.cpu, &self.timebase, &self.cancel, report)
    }

    /// A waiter for the room that there is.
    pub fn waiter(&self) -> Waiter {
        Waiter::new(self.room.idle(), self.cancel.clone()).of_peers(self.peers.len())
    }

    /// Wait for all ranks asleep, with nothing to progress.
    pub fn barrier_asleep(&self) -> Result<(), LinkError> {
        self.bootstrap.barrier_asleep().map_err(|_| LinkError::Cancelled)
    }

    /// Wait for all ranks, calling `progress` meanwhile.
    pub fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), LinkError> {
        self.bootstrap.barrier(progress).map_err(|_| LinkError::Cancelled)
    }

    /// The rank's view of the run, after its port was closed.
    pub fn finish(mut self, finished: Finished) -> Outcome {
        self.timebase.recalibrate();
        let load_done = self.load.take().map(Background::stop).unwrap_or_default();
        let noise_after = noise_of(self.spec, &self.timebase);
        let (stop, error) = self.ending(&finished.end);
        let mut facts = finished.facts;
        if self.room == Room::Rationed {
            facts.insert(
                "cpu_quota".to_owned(),
                "grants less than a core a rank".to_owned(),
            );
        }
        // On one machine the document's own host entry says it once for all ranks.
        let host = match self.case.group {
            GroupKind::Hosts | GroupKind::Job => recent_fingerprint(),
            GroupKind::Threads | GroupKind::Processes => Default::default(),
        };
        let ns_per_tick = self.timebase.ns_per_tick();
        let in_ns = |ticks: u64| Finite::maybe(ticks as f64 * ns_per_tick);
        Outcome {
            rank: self.bootstrap.rank(),
            role: self.spec.role,
            stop,
            elapsed_ns: self.timebase.to_ns(finished.elapsed_ticks),
            sent: finished.measured.tally.sent,
            received: finished.measured.tally.received,
            received_before_msgs: finished.measured.tally.received_before_msgs,
            began_ns: finished.measured.began_ns,
            faults: finished.measured.tally.faults,
            warmup_operations: finished.warmup_operations,
            first_operation_ns: finished.first_operation_ticks.and_then(in_ns),
            connect_ns: self.connect_ticks.get().and_then(in_ns),
            samples: finished.measured.samples,
            intervals: finished.measured.intervals,
            peers: finished.measured.peers,
            clock: self.timebase.info(),
            floor: self.floor,
            cpu: self.spec.cpu,
            idle: self.room.idle(),
            disturbance: finished.measured.disturbance,
            lacking: Default::default(),
            transfer: None,
            noise: self.noise,
            noise_after,
            load_done,
            transport_facts: facts,
            host,
            error,
        }
    }

    fn ending(&self, end: &Result<StopReason, LinkError>) -> (StopReason, Option<String>) {
        match end {
            Ok(stop) => (*stop, None),
            // A cancel shuts the rank's own sockets: a send into one finds it closed.
            Err(LinkError::Closed | LinkError::Cancelled)
                if self.cancel.reason() == Some(CancelReason::Interrupted) =>
            {
                (StopReason::Interrupted, Some("interrupted".to_owned()))
            }
            Err(LinkError::Closed) => (
                StopReason::PeerLost,
                Some("the peer went away in mid-run".to_owned()),
            ),
            Err(LinkError::Cancelled) => (
                StopReason::PeerLost,
                Some("another rank of the group was lost".to_owned()),
            ),
            Err(error @ LinkError::TimedOut) => (StopReason::PeerLost, Some(error.to_string())),
            Err(error) => (StopReason::Failed, Some(error.to_string())),
        }
    }
}

/// How quiet the CPU of a pinned rank is now.
fn noise_of(spec: &RankSpec, timebase: &Timebase) -> Option<Noise> {
    let (clock, ns_per_tick) = (timebase.clock, timebase.ns_per_tick());
    let measures = spec.role != Role::Idle;
    let scan_cpu = |cpu| scan(cpu, || clock.now(), ns_per_tick, NOISE_SCAN_MS);
    spec.cpu.filter(|_| measures).map(scan_cpu)
}

/// The ranks that `me` exchanges data with.
fn peers_of(case: &Case, me: u32) -> Result<Vec<u32>, MeasureError> {
    match case.test.capability() {
        _ if case.test.is_posted() => return Ok(tagged::peers_of(case, me)),
        // The far end is a service, no rank.
        Capability::Bulk => return Ok(Vec::new()),
        _ => {}
    }
    let with_role = |role: Role| -> Vec<u32> {
        case.ranks
            .iter()
            .enumerate()
            .filter(|(_, r)| r.role == role)
            .map(|(i, _)| i as u32)
            .collect()
    };
    let spec = &case.ranks[me as usize];
    let size = case.ranks.len() as u32;
    match (spec.role, spec.peer) {
        (Role::Source, None) if case.test.roles() == Some(Roles::Everybody) => {
            let mut others = with_role(Role::Source);
            others.retain(|rank| *rank != me);
            Ok(others)
        }
        (Role::Relay, _) => {
            let passed = |rank: &RankSpec| rank.peer == Some(me);
            let ranks = (0..size).filter(|r| passed(&case.ranks[*r as usize]));
            Ok(ranks.collect())
        }
        (Role::Source | Role::Sink, Some(peer)) if peer < size => {
            let relay = case.ranks[peer as usize].role == Role::Relay;
            let mutual = relay || case.ranks[peer as usize].peer == Some(me);
            if mutual {
                Ok(vec![peer])
            } else {
                Err(MeasureError::Usage(format!(
                    "rank {me} names rank {peer} as its peer, but not the other way"
                )))
            }
        }
        (Role::Source | Role::Sink, peer) => Err(MeasureError::Usage(format!(
            "rank {me} needs a peer below {size}, has {peer:?}"
        ))),
        (Role::Hub, _) => Ok(with_role(Role::Worker)),
        (Role::Worker, _) => match with_role(Role::Hub).as_slice() {
            [hub] => Ok(vec![*hub]),
            hubs => Err(MeasureError::Usage(format!(
                "workers need exactly one hub, there are {}",
                hubs.len()
            ))),
        },
        (Role::Neighbour, _) => Err(MeasureError::Usage(format!(
            "{} has no neighbours",
            case.test.name()
        ))),
        (Role::Idle, _) => Ok(Vec::new()),
    }
}
