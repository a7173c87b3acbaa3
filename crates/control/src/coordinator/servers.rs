//! The servers of a group: connected side by side, each with the ranks that it runs, its part in the run, and an end of its
//! own. What happens to one must never close the session of another.

use super::event::{GroupEvent, Incoming};
use super::spec::{ServerSpec, default_remote_ranks};
use crate::client::Server;
use crate::error::ControlError;
use crate::session::Timing;
use crate::stop::StopFlag;
use crate::thread::side_by_side;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wirespeed_schema::case::Case;
use wirespeed_schema::message::{RankMessage, Refusal, RefusalCode, ServerLimits, SessionMessage};
use wirespeed_schema::order::InOrder;

/// Connections that are made at the same time.
const CONNECTS_MAX: usize = 32;

/// How far a server is in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has no part in it, or was not asked yet.
    Idle,
    /// It was given the case.
    Asked,
    /// Others are measured there first.
    Queued,
    /// Its ranks have the case.
    Begun,
    /// It said its last word on the run.
    Done,
}

/// A server, connected or not.
pub(super) struct Far {
    spec: ServerSpec,
    /// Ranks of the run.
    pub(super) ranks: Vec<u32>,
    pub(super) stage: Stage,
    connection: u64,
    session: Option<Server>,
}

impl Far {
    /// How the user named it.
    pub(super) fn address(&self) -> &str {
        &self.spec.address
    }

    /// How it is called in messages.
    pub(super) fn name(&self) -> String {
        format!("the server at {}", self.spec.address)
    }

    pub(super) fn is_open(&self) -> bool {
        self.session.as_ref().is_some_and(Server::is_open)
    }

    pub(super) fn session(&self) -> Option<&Server> {
        self.session.as_ref()
    }

    /// It was given the case, and has not had its last word.
    pub(super) fn is_waited_for(&self) -> bool {
        matches!(self.stage, Stage::Asked | Stage::Queued)
    }

    /// End the session: the server ends what is left of its ranks.
    pub(super) fn close(&mut self) {
        self.session = None;
    }

    /// Say `message`. A failed send closes the connection, which the reader reports.
    pub(super) fn send(&self, message: &SessionMessage) {
        if let Some(session) = &self.session {
            let _ = session.send(message);
        }
    }

    /// Whether it was found on loopback, where nobody on another machine reaches its ranks.
    fn is_loopback(&self) -> Option<bool> {
        Some(self.session.as_ref()?.peer().ip().is_loopback())
    }
}

/// What a caller may know of a server.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServerState<'a> {
    /// The server, as the caller named it.
    pub address: &'a str,
    /// Where it was found; absent while no session is open.
    pub found_at: Option<SocketAddr>,
    /// Its limits; absent while no session is open.
    pub limits: Option<&'a ServerLimits>,
}

/// All servers of a group, in the caller's order.
#[derive(Default)]
pub(super) struct Servers {
    all: Vec<Far>,
    connections: u64,
}

/// What a connection needs besides its server.
pub(super) struct Around<'a> {
    pub(super) timing: Timing,
    pub(super) stop: &'a StopFlag,
    pub(super) sender: &'a mpsc::Sender<Incoming>,
}

impl Servers {
    pub(super) fn new(specs: &[ServerSpec]) -> Self {
        let far = |spec: &ServerSpec| Far {
            spec: spec.clone(),
            ranks: Vec::new(),
            stage: Stage::Idle,
            connection: 0,
            session: None,
        };
        Servers {
            all: specs.iter().map(far).collect(),
            connections: 0,
        }
    }

    /// Give each server its ranks of `case`; those that are left are this machine's.
    pub(super) fn seat(&mut self, case: &Case) -> Result<Vec<u32>, ControlError> {
        let size = case.ranks.len() as u32;
        let given = |spec: &ServerSpec| spec.ranks.clone().unwrap_or_default();
        let mut taken: Vec<u32> = self.all.iter().flat_map(|far| given(&far.spec)).collect();
        for far in &mut self.all {
            far.ranks = far.spec.ranks.clone().unwrap_or_else(|| {
                let mut own = default_remote_ranks(case);
                own.retain(|rank| !taken.contains(rank));
                taken.extend(&own);
                own
            });
        }
        taken.sort_unstable();
        let refuse = |reason: String| {
            Err(ControlError::Refused(Refusal {
                code: RefusalCode::Other,
                reason,
                remedy: "give the case at least two ranks, or run it without --to".into(),
            }))
        };
        if let Some(twice) = taken.windows(2).find(|pair| pair[0] == pair[1]) {
            return refuse(format!("rank {} is given to two servers", twice[0]));
        }
        let is_beyond = taken.last().is_some_and(|last| *last >= size);
        if !self.all.is_empty() && (taken.is_empty() || is_beyond) {
            return refuse(format!("{} has no rank for the server", case.label()));
        }
        Ok((0..size)
            .filter(|rank| taken.binary_search(rank).is_err())
            .collect())
    }

    /// From the next run on, each server has these ranks.
    pub(super) fn assign(&mut self, ranks: &[Vec<u32>]) {
        for (number, far) in self.all.iter_mut().enumerate() {
            far.spec.ranks = Some(ranks.get(number).cloned().unwrap_or_default());
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Far> {
        self.all.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Far> {
        self.all.iter_mut()
    }

    pub(super) fn get(&mut self, number: usize) -> Option<&mut Far> {
        self.all.get_mut(number)
    }

    /// Those that have ranks in the run.
    pub(super) fn of_run(&self) -> impl Iterator<Item = (usize, &Far)> {
        self.all
            .iter()
            .enumerate()
            .filter(|(_, far)| !far.ranks.is_empty())
    }

    /// The server at the other end of `connection`, if that is its present one.
    pub(super) fn at(&self, connection: u64) -> Option<usize> {
        self.all
            .iter()
            .position(|far| far.connection == connection && far.session.is_some())
    }

    /// The ranks of the run that server `number` has.
    pub(super) fn ranks_of(&self, number: usize) -> &[u32] {
        self.all.get(number).map_or(&[], |far| &far.ranks)
    }

    /// The server that runs `rank`.
    pub(super) fn of_rank(&self, rank: u32) -> Option<usize> {
        self.all.iter().position(|far| far.ranks.contains(&rank))
    }

    pub(super) fn states(&self) -> Vec<ServerState<'_>> {
        fn state(far: &Far) -> ServerState<'_> {
            let session = far.session.as_ref().filter(|session| session.is_open());
            ServerState {
                address: &far.spec.address,
                found_at: session.map(Server::peer),
                limits: session.map(Server::limits),
            }
        }
        self.all.iter().map(state).collect()
    }

    /// Tell every server that nothing will be run there.
    pub(super) fn refuse(&self, refusal: &Refusal) {
        for far in &self.all {
            far.send(&SessionMessage::Refused(refusal.clone()));
        }
    }

    /// Say `message` to a rank whose server has begun.
    pub(super) fn say(&self, number: usize, rank: u32, message: RankMessage) {
        if let Some(far) = self.all.get(number).filter(|far| far.stage == Stage::Begun) {
            far.send(&SessionMessage::Rank { rank, message });
        }
    }

    /// `reason` as that of a server: by its name where there are others.
    pub(super) fn said_by(&self, number: usize, reason: &str) -> String {
        match self.all.get(number).filter(|_| self.of_run().count() > 1) {
            Some(far) => format!("{}: {reason}", far.name()),
            None => reason.to_owned(),
        }
    }

    /// End the sessions of servers that have not had their last word on the run.
    pub(super) fn close_unfinished(&mut self) {
        let unfinished = |far: &&mut Far| far.stage == Stage::Begun;
        self.all.iter_mut().filter(unfinished).for_each(Far::close);
    }

    /// End the sessions of all servers that have a part in the run.
    pub(super) fn close_run(&mut self) {
        let part = |far: &&mut Far| far.stage != Stage::Idle;
        self.all.iter_mut().filter(part).for_each(Far::close);
    }

    /// The servers with ranks in the run, in an order that is the same for all clients: one that has its turn on an earlier
    /// server may wait for a later one, and never the other way round, so that no two wait for each other.
    pub(super) fn in_turn(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.of_run().map(|(number, _)| number).collect();
        numbers.order_by_key(|number| self.all[*number].session.as_ref().map(Server::place));
        numbers
    }

    /// When the first of those that are asked or begun counts as silent.
    pub(super) fn silent_at(&self) -> Option<Instant> {
        self.watched().map(|(_, at)| at).min()
    }

    /// This end stood still for `time`: that was no silence of theirs.
    pub(super) fn forgive(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        for far in self.iter() {
            if let Some(session) = &far.session {
                session.forgive(time);
            }
        }
    }

    /// Those that are silent now.
    pub(super) fn silent(&self) -> Vec<usize> {
        let now = Instant::now();
        let silent = self.watched().filter(|(_, at)| now >= *at);
        silent.map(|(number, _)| number).collect()
    }

    fn watched(&self) -> impl Iterator<Item = (usize, Instant)> {
        let part = self.of_run().filter(|(_, far)| far.stage != Stage::Idle);
        part.filter_map(|(number, far)| Some((number, far.session.as_ref()?.silent_at())))
    }

    /// Servers of the run that are known by a loopback address, while others are elsewhere and cannot reach them there.
    pub(super) fn out_of_reach(&self) -> Vec<usize> {
        let of_run = || {
            self.of_run()
                .filter_map(|(number, far)| Some((number, far.is_loopback()?)))
        };
        if of_run().all(|(_, loopback)| loopback) {
            return Vec::new();
        }
        of_run()
            .filter(|(_, loopback)| *loopback)
            .map(|(number, _)| number)
            .collect()
    }

    /// The address of this machine under which the ranks of `number` reach it; of any server of the run where that has none.
    pub(super) fn own_address(&self, number: Option<usize>) -> Option<IpAddr> {
        let of = |far: &Far| far.session.as_ref().map(Server::local_address);
        let asked = number.and_then(|number| self.all.get(number)).and_then(of);
        asked.or_else(|| self.of_run().find_map(|(_, far)| of(far)))
    }

    /// Connect to those that `wanted` names and that have no open session, side by side. What became of those that could not
    /// be reached, by their number.
    pub(super) fn connect(
        &mut self,
        wanted: impl Fn(&Far) -> bool,
        around: &Around,
        events: &mut dyn FnMut(GroupEvent),
    ) -> Vec<(usize, ControlError)> {
        let mut calls = Vec::new();
        for (number, far) in self.all.iter_mut().enumerate() {
            if wanted(far) && !far.is_open() {
                self.connections += 1;
                (far.session, far.connection) = (None, self.connections);
                calls.push((number, far.connection, &far.spec));
            }
        }
        let mut failed = Vec::new();
        let numbers: Vec<usize> = calls.iter().map(|(number, ..)| *number).collect();
        let answers = side_by_side(&calls, CONNECTS_MAX, |(_, connection, spec)| {
            call(*connection, spec, around)
        });
        for (number, answer) in numbers.into_iter().zip(answers) {
            match answer {
                Ok(session) => {
                    if let Some(same) = self.same(&session) {
                        failed.push((number, one_server(same, self.all[number].address())));
                        continue;
                    }
                    let far = &mut self.all[number];
                    events(GroupEvent::Connected {
                        server: far.spec.address.clone(),
                        build: session.build().to_owned(),
                        limits: Box::new(session.limits().clone()),
                    });
                    far.session = Some(session);
                }
                Err(error) => failed.push((number, error)),
            }
        }
        failed
    }

    /// The address of another session with the server of `session`, which measures one client at a time: one session would wait
    /// for the turn of the other for ever.
    fn same(&self, session: &Server) -> Option<&str> {
        if session.limits().clients_max > 1 {
            return None;
        }
        let is_same = |far: &&Far| {
            let known = far.session.as_ref().filter(|known| known.is_open());
            known.is_some_and(|known| known.is_of_server(session))
        };
        self.all.iter().find(is_same).map(Far::address)
    }
}

fn one_server(first: &str, second: &str) -> ControlError {
    ControlError::Refused(Refusal {
        code: RefusalCode::Other,
        reason: format!("{second} is the same server as {first}"),
        remedy: "name each server once".into(),
    })
}

fn call(connection: u64, spec: &ServerSpec, around: &Around) -> Result<Server, ControlError> {
    if around.stop.is_requested() {
        return Err(ControlError::Interrupted);
    }
    let tx = around.sender.clone();
    Server::connect(
        &spec.address,
        &spec.identity,
        around.timing,
        around.stop,
        move |heard| {
            // Nobody listens any more when the group is gone.
            let _ = tx.send(Incoming::Server(connection, heard));
        },
    )
}
