//! A cycle of a mesh as one run of a case: its rounds, one after the other, each a case whose ranks are the hosts. What fails
//! costs its own pair, and the others run again without it. It must never judge a figure.

use super::attempts::{Attempts, Broken, Ended};
use super::figures::{All, Figures, repetition};
use super::ground::Ground;
use super::known::Known;
use super::roster::{Host, Roster, Source};
use super::seats::Seats;
use super::shown::Shown;
use super::storm::Storm;
use super::turn::{Stage, Turn};
use crate::errors::Failure;
use crate::experiment::{Measured, OnSeen, PairSeen, Runner, Seen, Visit};
use crate::group::{GroupRun, Groups};
use crate::stderr;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use wirespeed_control::StopFlag;
use wirespeed_mesh::{Campaign, Lack, Pair};
use wirespeed_report::spoken;
use wirespeed_schema::Outcome;
use wirespeed_schema::case::{Case, Stop};
use wirespeed_schema::plan::PlannedCase;

/// Runs the rounds of campaigns, one for each case.
pub struct Rounds<'a> {
    groups: Groups<'a>,
    /// Makes the group anew when a host is lost, and another beside it for a storm.
    ground: &'a dyn Ground<'a>,
    /// The storms of each case.
    storms: Vec<Vec<Storm>>,
    seats: Seats,
    /// The network that the group's data take, where it has a name.
    rail: Option<String>,
    source: Source,
    hosts: &'a [Host],
    known: Rc<RefCell<Known>>,
    /// The figure of each case by which pairs are compared.
    tags: Vec<&'static str>,
    shown: Shown,
    /// Of the run that goes on, the time that was spent in servers' queues.
    queued: Duration,
    /// Why nothing further can be measured.
    over: Option<Failure>,
}

/// What the rounds of a run gave.
#[derive(Default)]
struct Cycle {
    /// Every pair's figures by tag.
    figures: All,
    /// The first failure.
    failed: Option<String>,
    /// All rounds were had.
    is_through: bool,
}

impl<'a> Rounds<'a> {
    /// Rounds over the hosts of `roster`, each of which `groups` gives a rank.
    pub fn new(
        (ground, storms): (&'a dyn Ground<'a>, Vec<Vec<Storm>>),
        roster: &'a Roster,
        (known, tags): (Rc<RefCell<Known>>, Vec<&'static str>),
        shown: Shown,
    ) -> Self {
        // A host that cannot have a rank is lost before the first round.
        let seats = (0..roster.hosts.len()).filter(|host| ground.gone(*host).is_none());
        let seats = Seats::of(seats);
        let mut rounds = Rounds {
            groups: ground.groups(seats.hosts(), None),
            ground,
            storms,
            seats,
            rail: None,
            source: roster.source,
            hosts: &roster.hosts,
            known,
            tags,
            shown,
            queued: Duration::ZERO,
            over: None,
        };
        for host in 0..roster.hosts.len() {
            if let Some(reason) = ground.gone(host) {
                rounds.lose(host, &reason);
            }
        }
        rounds
    }

    /// A host is gone for good.
    fn lose(&mut self, host: usize, reason: &str) {
        if self.known.borrow_mut().lose(host, reason) {
            stderr::say(&format!("{} is lost: {reason}", self.hosts[host].name));
        }
    }

    /// Why a host is lost.
    fn lost(&self, host: usize) -> Option<String> {
        self.known.borrow().lost[host].clone()
    }

    /// Ends all campaigns where the hosts that are left cannot measure `case`.
    fn check_ranks(&mut self, case: &Case) {
        let mut known = self.known.borrow_mut();
        let mut of_hosts = known.lost.iter().zip(self.hosts).rev();
        let last = of_hosts.find_map(|(lost, host)| Some((lost.clone()?, &host.name)));
        let Some((why, name)) = last.filter(|_| self.over.is_none()) else {
            return;
        };
        let (lost, hosts) = (known.lost_count(), self.hosts.len());
        let again = "start again with the hosts that are well";
        let (cause, remedy) = match lost + 2 > hosts {
            true => (
                format!("{lost} of {hosts} hosts are lost, {name} among them: {why}"),
                again.to_owned(),
            ),
            false if !self.ground.goes_on(case) => (
                format!(
                    "{name} is lost, and {} does not go on without it: {why}",
                    case.transport
                ),
                format!("{again}; --via tcp goes on without one that is lost"),
            ),
            false => return,
        };
        known.campaigns.iter_mut().for_each(Campaign::break_off);
        self.over = Some(Failure::failed(cause, remedy));
    }

    /// One round, with what became of each of its pairs; those that the user's wish to stop left out are absent.
    fn round(
        &mut self,
        planned: &PlannedCase,
        pairs: Vec<Pair>,
        stop: &StopFlag,
        on_seen: OnSeen,
    ) -> Vec<Ended> {
        let mut attempts = Attempts::of(pairs);
        while let Some(attempt) = attempts.next(|host| self.lost(host)) {
            self.check_ranks(&planned.case);
            if attempt.pairs.is_empty() {
                continue;
            }
            if stop.is_requested() || self.over.is_some() {
                attempts.give_up();
                continue;
            }
            self.reseat(planned.case.rail.as_deref());
            let case = self.seats.case_of(self.hosts, &planned.case, &attempt.pairs);
            let planned = PlannedCase {
                case,
                ..planned.clone()
            };
            let mut on_interval = |rank: u32, interval: &_| on_seen(Seen::Interval(rank, interval));
            let run = self.groups.run(&planned, stop, &mut on_interval);
            self.queued += run.queued;
            // What an interruption breaks off is no failure; ranks that ended in order say no more than that they were cut short.
            let is_whole = run.failure.is_none() && run.outcomes.iter().all(Outcome::is_complete);
            if !is_whole && stop.is_requested() {
                attempts.give_up();
                continue;
            }
            let mut found = self.seats.measured(&planned.case, &attempt.pairs, &run.outcomes);
            match &run.failure {
                None => attempts.ran(&attempt, found),
                Some(failure) => {
                    // Of a run that failed, only wrong data are certain.
                    found.retain(|(_, found)| matches!(found, Err(Lack::WrongData(_))));
                    attempts.failed(attempt, found, &self.broken(&run, failure));
                }
            }
        }
        attempts.ended
    }

    /// Who is to blame for a failure; hosts that are found to be gone are lost.
    fn broken<'r>(&mut self, run: &'r GroupRun, failure: &'r Failure) -> Broken<'r> {
        let lost_before = self.known.borrow().lost_count();
        let mut blamed: BTreeMap<usize, &str> = BTreeMap::new();
        for rank in &run.blamed {
            let Some(&host) = self.seats.hosts().get(rank.rank as usize) else {
                continue;
            };
            if rank.gone {
                self.lose(host, &rank.reason);
            }
            blamed.entry(host).or_insert(&rank.reason);
        }
        for host in self.seats.hosts().to_vec() {
            if let Some(reason) = self.ground.gone(host) {
                self.lose(host, &reason);
            }
        }
        Broken {
            blamed,
            has_lost: self.known.borrow().lost_count() > lost_before,
            cause: &failure.cause,
        }
    }

    /// Give ranks anew where hosts were lost, or where a case is on another rail than the one before.
    fn reseat(&mut self, rail: Option<&str>) {
        let seats = (0..self.hosts.len()).filter(|host| self.lost(*host).is_none());
        let seats = Seats::of(seats);
        if seats != self.seats || self.rail.as_deref() != rail {
            self.seats = seats;
            self.rail = rail.map(str::to_owned);
            // The ranks of a job are had once, and close up by themselves.
            if self.source != Source::Job {
                self.groups = self.ground.groups(self.seats.hosts(), self.rail.as_deref());
            }
        }
    }

    /// All rounds of a run.
    fn rounds(
        &mut self,
        (visit, turn): (Visit, Turn),
        planned: &PlannedCase,
        stop: &StopFlag,
        on_seen: OnSeen,
    ) -> Cycle {
        let subject = visit.subject;
        let Turn { stage, rounds } = turn;
        let Some(until) = self.until((visit, stage), rounds.len()) else {
            return Cycle::default();
        };
        let label = planned.case.label();
        self.shown
            .begin(&planned.case, rounds.len(), stage == Stage::Look);
        let mut cycle = Cycle {
            is_through: true,
            ..Cycle::default()
        };
        for round in rounds {
            // A host may be set aside while the cycle goes on.
            let round = self.known.borrow().asked((visit, stage), round);
            let lost = self.known.borrow().lost_count();
            self.shown.round(&label, lost);
            if round.is_empty() {
                continue;
            }
            let (began, queued_before) = (self.known.borrow().now(), self.queued);
            if !self.known.borrow().allowance.has_time(began, subject, until) {
                cycle.is_through = false;
                break;
            }
            let wanted = round.len();
            let found = self.round(planned, round, stop, on_seen);
            let is_whole = found.len() == wanted;
            let queued = self.queued.saturating_sub(queued_before);
            let took = self.known.borrow().now().saturating_sub(began + queued);
            self.known.borrow_mut().allowance.took(subject, took);
            for (pair, measured) in found {
                let figure = self.keep((visit, stage), pair, &measured, on_seen);
                if let Err(why) = figure {
                    cycle.failed.get_or_insert(why);
                }
                for (tag, (value, samples)) in measured.into_iter().flatten() {
                    cycle.figures.entry(tag).or_default().push((pair, value, samples));
                }
            }
            if !is_whole {
                cycle.is_through = false;
                break;
            }
        }
        self.known.borrow_mut().end((visit, stage), cycle.is_through);
        self.shown.end();
        cycle
    }

    /// Until when these rounds may run; `None` where they do not fit into the time that there is.
    fn until(&self, (visit, stage): (Visit, Stage), rounds: usize) -> Option<Duration> {
        let mut known = self.known.borrow_mut();
        let now = known.now();
        match stage {
            Stage::Look => known.allowance.check(now, visit.subject, rounds),
            Stage::Survey | Stage::UnderLoad => {
                known.allowance.cycle(now, (visit.cell, visit.subject), rounds)
            }
        }
    }

    /// The storm that a run is to be measured in.
    fn storm(&self, visit: Visit) -> Option<usize> {
        let storms = self.storms.get(visit.subject)?;
        storms
            .iter()
            .position(|storm| Some(storm.load.as_str()) == visit.load)
    }

    /// Have a turn at every server before a storm shares it at some: of whoever comes between, each would wait for the other.
    /// A pair that is to be measured does for it, since one that is dead would cost its time before every storm.
    fn take_turns(&mut self, turn: &Turn, planned: &PlannedCase, stop: &StopFlag) {
        let is_lost = |host| self.lost(host).is_some();
        let mut pairs = turn.rounds.iter().flatten().copied();
        let pair = pairs.find(|pair| !is_lost(pair.from) && !is_lost(pair.to));
        let Some(pair) = pair.filter(|_| self.source == Source::Servers) else {
            return;
        };
        let short = PlannedCase {
            case: planned.case.clone().with_stop(Stop::Iterations { count: 1 }),
            ..planned.clone()
        };
        // What fails here fails in the rounds, and is told there.
        let _ = self.round(&short, vec![pair], stop, &mut |_| ());
    }

    /// All rounds of a run, in a storm of other ranks.
    fn in_storm(
        &mut self,
        (visit, turn, number): (Visit, Turn, usize),
        planned: &PlannedCase,
        stop: &StopFlag,
        on_seen: OnSeen,
    ) -> Result<Cycle, Failure> {
        let storm = self.storms[visit.subject][number].clone();
        self.take_turns(&turn, planned, stop);
        let seats = storm.seats();
        let lost = seats
            .iter()
            .find_map(|seat| self.known.borrow().lost[*seat].clone());
        if let Some(why) = lost {
            let cause = format!("{}: {why}", storm.load);
            return Err(Failure::failed(cause, "leave that host out of the storm"));
        }
        let groups = self.ground.beside(&seats, planned.case.rail.as_deref());
        let rounds = || self.rounds((visit, turn), planned, stop, on_seen);
        let (found, moved) = storm.around(groups, stop, rounds)?;
        self.known.borrow_mut().moved.push((visit.subject, number, moved));
        Ok(found)
    }

    /// What a pair was measured at, to all who want to know.
    fn keep(
        &mut self,
        (visit, stage): (Visit, Stage),
        pair: Pair,
        measured: &Result<Figures, Lack>,
        on_seen: OnSeen,
    ) -> Result<f64, String> {
        let tag = self.tags[visit.subject];
        let figure = measured.as_ref().map_err(Lack::clone).and_then(|figures| {
            let figure = figures.get(tag).map(|(figure, _)| *figure);
            let few = || format!("too few samples for the {}: measure longer", spoken(tag));
            figure.ok_or_else(|| Lack::NoFigure(few()))
        });
        self.known.borrow_mut().keep((visit, stage), pair, figure.clone());
        let figure = figure.map_err(|lack| lack.why().to_owned());
        self.shown.pair(figure.is_ok());
        on_seen(Seen::Pair(&PairSeen {
            from: self.hosts[pair.from].name.clone(),
            to: self.hosts[pair.to].name.clone(),
            tag,
            measured: figure.clone(),
        }));
        figure
    }
}

impl Runner for Rounds<'_> {
    fn measure(&mut self, visit: Visit, planned: &PlannedCase, stop: &StopFlag, on_seen: OnSeen) -> Measured {
        let Some(turn) = self.known.borrow_mut().turn(visit) else {
            return Measured::default();
        };
        let is_look = turn.stage == Stage::Look;
        // Where no pair answers, no storm is needed.
        let storm = self.storm(visit).filter(|_| !turn.rounds.is_empty());
        let found = match storm {
            None => Ok(self.rounds((visit, turn), planned, stop, on_seen)),
            Some(number) => self.in_storm((visit, turn, number), planned, stop, on_seen),
        };
        let queued = std::mem::take(&mut self.queued);
        let cycle = match found {
            Ok(cycle) => cycle,
            // What the user broke off is no failure.
            Err(_) if stop.is_requested() => return Measured::default(),
            Err(failure) => {
                return Measured {
                    failure: Some(failure),
                    queued,
                    ..Measured::default()
                };
            }
        };
        let over = self.over.clone();
        let Cycle {
            figures,
            failed,
            is_through,
        } = cycle;
        let none = failed.filter(|_| figures.is_empty() && !is_look);
        let failure = over.clone().or(none.map(|why| {
            Failure::failed(
                format!("no pair could be measured: {why}"),
                "measure one pair of them alone with `wirespeed run`",
            )
        }));
        let repetition = (!figures.is_empty() && !is_look).then(|| repetition(visit.round, &figures));
        if repetition.is_some() {
            self.known.borrow_mut().compare(visit, figures);
        }
        Measured {
            repetition,
            broke_off: !is_through,
            failure,
            case: None,
            queued,
            is_last: over.is_some(),
        }
    }
}
