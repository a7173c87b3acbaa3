//! Ranks as processes of this machine: the program itself, started again with a hidden verb, its control channel as
//! standard input. No rank outlives its coordinator, and every process is waited for.

use super::files::check_ranks;
use super::program::RankProgram;
use super::seam::{Launch, Launched, RankProcess};
use crate::error::ControlError;
use crate::job::{Arrived, LauncherProcess};
use crate::session::heart::{Beat, Heart};
use crate::session::{Timing, agree};
use crate::stop::StopFlag;
use crate::thread;
use crate::wire::{Packet, ReceiveError, Receiver, Sender, unix};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wirespeed_schema::message::{OutcomeReport, RankMessage};
use wirespeed_schema::order::InOrder;

/// How often a starting group looks at the stop flag.
const START_LOOK: Duration = Duration::from_millis(100);

/// How often parts of a long message count as heard.
const PART_TIME: Duration = Duration::from_millis(50);
/// How long an ended process may take to leave the process table.
const REAP_TIME: Duration = Duration::from_secs(1);

/// What a rank's process says.
#[derive(Debug)]
pub(crate) enum Heard {
    Message(RankMessage),
    Outcome(Box<OutcomeReport>),
    /// Nothing more will come, and why.
    Closed(String),
}

struct LocalRank {
    rank: u32,
    /// Its number when it came: what is heard of it bears that.
    seat: u32,
    /// Its process, where it was started here or is known.
    process: Option<Box<dyn RankProcess>>,
    /// Its address for data, where that is its own.
    address: Option<IpAddr>,
    sender: Sender,
    reader: Option<JoinHandle<()>>,
    heart: Heart,
    open: bool,
}

/// Processes on this machine, each with a rank's number, ready for cases.
pub(crate) struct RankSet {
    /// By rank, and so by seat.
    ranks: Vec<LocalRank>,
    /// Until when nobody need be looked at.
    quiet_until: Option<Duration>,
    /// What started the ranks, where that was not this program itself.
    launcher: Option<LauncherProcess>,
}

impl RankSet {
    /// Start one process for each of `ranks` and wait until all have said hello; none where this process may not have so many
    /// files open. What they say goes to `hear`, called from threads of their own.
    pub(crate) fn start(
        program: &dyn Launch,
        ranks: &[u32],
        timing: Timing,
        stop: &StopFlag,
        now: Duration,
        hear: impl Fn(u32, Heard) + Clone + Send + 'static,
    ) -> Result<Self, ControlError> {
        check_ranks(ranks.len())?;
        let mut set = RankSet {
            ranks: Vec::new(),
            quiet_until: None,
            launcher: None,
        };
        let mut receivers = Vec::new();
        for &rank in ranks {
            let spawned = spawn(program, rank, timing, now);
            let (local, receiver) = spawned.map_err(|error| error.of_rank(rank))?;
            set.ranks.push(local);
            receivers.push(receiver);
        }
        let deadline = Instant::now() + timing.start;
        for (local, mut receiver) in set.ranks.iter_mut().zip(receivers) {
            let greeted = greet(local, &mut receiver, deadline, stop);
            greeted.map_err(|error| error.of_rank(local.rank))?;
            let listening = local.listen(receiver, hear.clone());
            listening.map_err(|e| launch_error(program, e))?;
        }
        Ok(set)
    }

    /// Ranks that a launcher started and that have come in already; `launcher` where it is a child of this process.
    pub(crate) fn adopt(
        mut arrived: Vec<Arrived>,
        launcher: Option<LauncherProcess>,
        timing: Timing,
        now: Duration,
        hear: impl Fn(u32, Heard) + Clone + Send + 'static,
    ) -> Result<Self, ControlError> {
        arrived.order_by_key(|rank| rank.rank);
        let found_at = arrived
            .iter()
            .find_map(|a| a.found_at.filter(|ip| !ip.is_loopback()));
        let mut set = RankSet {
            ranks: Vec::with_capacity(arrived.len()),
            quiet_until: None,
            launcher,
        };
        for rank in arrived {
            // Ranks of this machine use the address by which the others find it.
            let own = rank.address.filter(|ip| !ip.is_loopback());
            let mut local = LocalRank {
                rank: rank.rank,
                seat: rank.rank,
                process: None,
                address: own.or(found_at),
                sender: rank.sender,
                reader: None,
                heart: Heart::new(timing.silence, now),
                open: true,
            };
            let listening = local.listen(rank.receiver, hear.clone());
            listening.map_err(|e| ControlError::lost(format!("rank {}", local.rank), e))?;
            set.ranks.push(local);
        }
        Ok(set)
    }

    /// The address for data of `rank`, where it has one of its own.
    pub(crate) fn address(&self, rank: u32) -> Option<IpAddr> {
        self.at(rank)?.address
    }

    /// `ranks` by their addresses for data, which those of one machine share; all of one group's own have none.
    pub(crate) fn by_address(&self, ranks: &[u32]) -> Vec<Vec<u32>> {
        let mut machines: BTreeMap<Option<IpAddr>, Vec<u32>> = BTreeMap::new();
        for &rank in ranks {
            machines.entry(self.address(rank)).or_default().push(rank);
        }
        machines.into_values().collect()
    }

    /// The rank that came as number `seat`; `None` where the others go on without it.
    pub(crate) fn of_seat(&self, seat: u32) -> Option<u32> {
        let at = self.ranks.binary_search_by_key(&seat, |r| r.seat).ok()?;
        Some(self.ranks[at].rank)
    }

    /// Number of ranks, those that are gone included.
    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Go on without the ranks that are gone: the others, in their order, are ranks 0 and up of the next case.
    pub(crate) fn close_up(&mut self) {
        self.ranks.retain(|local| local.open);
        for (local, rank) in self.ranks.iter_mut().zip(0..) {
            local.rank = rank;
        }
    }

    /// How many are not gone.
    pub(crate) fn left(&self) -> usize {
        self.ranks.iter().filter(|r| r.open).count()
    }

    /// A rank that is gone, if any.
    pub(crate) fn gone(&self) -> Option<u32> {
        self.ranks.iter().find(|r| !r.open).map(|r| r.rank)
    }

    /// Whether exactly `ranks` are here and all are well.
    pub(crate) fn serves(&self, ranks: &[u32]) -> bool {
        self.ranks.iter().all(|r| r.open) && self.ranks.iter().map(|r| r.rank).eq(ranks.iter().copied())
    }

    /// Say `message` to `rank`; a failure shows as `Closed` of that rank.
    pub(crate) fn send(&self, rank: u32, message: &RankMessage) {
        if let Some(local) = self.at(rank)
            && local.sender.message(message).is_err()
        {
            local.sender.close();
        }
    }

    /// A run begins: silence counts from now.
    pub(crate) fn begin_run(&mut self, timing: Timing, now: Duration) {
        self.quiet_until = None;
        for local in &mut self.ranks {
            local.heart = Heart::new(timing.silence, now);
        }
    }

    /// Something of `rank` arrived.
    pub(crate) fn heard(&mut self, rank: u32, now: Duration) {
        if let Some(local) = self.find(rank) {
            local.heart.heard(now);
        }
    }

    /// Send the pings that are due. Returns the ranks that are silent, and when to come again.
    pub(crate) fn tick(&mut self, now: Duration) -> (Vec<u32>, Option<Duration>) {
        if let Some(until) = self.quiet_until.filter(|until| now < *until) {
            return (Vec::new(), Some(until));
        }
        let (mut silent, mut next) = (Vec::new(), None::<Duration>);
        for local in self.ranks.iter_mut().filter(|r| r.open) {
            let mut beat = local.heart.poll(now);
            if beat == Beat::Ping {
                if local.sender.message(&RankMessage::Ping).is_err() {
                    local.sender.close();
                }
                beat = local.heart.poll(now);
            }
            match beat {
                Beat::Silent => silent.push(local.rank),
                Beat::Wait(until) => next = Some(next.map_or(until, |n| n.min(until))),
                Beat::Ping => next = Some(now),
            }
        }
        // What is heard meanwhile only puts that off.
        self.quiet_until = next;
        (silent, next)
    }

    /// The connection of `rank` ended: how did its process end?
    pub(crate) fn reason_of_end(&mut self, rank: u32, closed: &str) -> String {
        let Some(local) = self.find(rank) else {
            return closed.to_owned();
        };
        local.open = false;
        local.how_it_ended().unwrap_or_else(|| closed.to_owned())
    }

    /// Kill the process of `rank`.
    pub(crate) fn kill(&mut self, rank: u32) {
        if let Some(local) = self.find(rank) {
            local.open = false;
            match &mut local.process {
                Some(process) => process.kill(),
                // A rank whose coordinator is gone ends its process by itself, whatever it is doing.
                None => local.sender.close(),
            }
        }
    }

    /// Process identifiers by rank, for tests and messages.
    pub(crate) fn process_ids(&self) -> Vec<u32> {
        let processes = self.ranks.iter().filter_map(|r| r.process.as_ref());
        processes.map(|process| process.id()).collect()
    }

    fn find(&mut self, rank: u32) -> Option<&mut LocalRank> {
        let at = self.ranks.binary_search_by_key(&rank, |r| r.rank).ok()?;
        self.ranks.get_mut(at)
    }

    fn at(&self, rank: u32) -> Option<&LocalRank> {
        let at = self.ranks.binary_search_by_key(&rank, |r| r.rank).ok()?;
        self.ranks.get(at)
    }
}

impl Drop for RankSet {
    fn drop(&mut self) {
        for local in &self.ranks {
            let _ = local.sender.message(&RankMessage::Bye);
        }
        let deadline = Instant::now() + REAP_TIME;
        for local in &mut self.ranks {
            let left = deadline.saturating_duration_since(Instant::now());
            if let Some(process) = &mut local.process
                && reap(&mut **process, left).is_none()
            {
                process.kill();
                reap(&mut **process, REAP_TIME);
            }
            local.sender.close();
            if let Some(reader) = local.reader.take() {
                let _ = reader.join();
            }
        }
        // Its ranks have been told to go.
        self.launcher = None;
    }
}

impl LocalRank {
    fn how_it_ended(&mut self) -> Option<String> {
        reap(&mut **self.process.as_mut()?, REAP_TIME)
    }

    /// The thread that hears what the rank says.
    fn listen(&mut self, receiver: Receiver, hear: impl Fn(u32, Heard) + Send + 'static) -> io::Result<()> {
        let seat = self.seat;
        let listening = move || listen(receiver, |heard| hear(seat, heard));
        self.reader = Some(thread::spawn(format!("rank {seat}"), listening)?);
        Ok(())
    }
}

fn launch_error(program: &dyn Launch, source: io::Error) -> ControlError {
    ControlError::Launch {
        program: program.name(),
        source,
    }
}

impl Launch for RankProgram {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn launch(&self, _: u32) -> io::Result<Launched> {
        let (channel, child) = self.spawn()?;
        Ok(Launched {
            channel,
            process: Box::new(child),
        })
    }
}

impl RankProgram {
    /// Start it; the other end of its standard input, and its process.
    pub(super) fn spawn(&self) -> io::Result<(UnixStream, Child)> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(&self.path)
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?))
            // Of its own, so that the terminal's Ctrl-C reaches the coordinator alone.
            .process_group(0)
            .spawn()?;
        Ok((ours, child))
    }
}

fn spawn(
    program: &dyn Launch,
    rank: u32,
    timing: Timing,
    now: Duration,
) -> Result<(LocalRank, Receiver), ControlError> {
    let started = program
        .launch(rank)
        .and_then(|launched| Ok((launched.process, unix::halves(launched.channel)?)));
    let (process, (sender, receiver)) = started.map_err(|e| launch_error(program, e))?;
    let local = LocalRank {
        rank,
        seat: rank,
        process: Some(process),
        address: program.bind_address(rank),
        sender,
        reader: None,
        heart: Heart::new(timing.silence, now),
        open: true,
    };
    Ok((local, receiver))
}

/// Wait for the rank's hello and answer it.
fn greet(
    local: &mut LocalRank,
    receiver: &mut Receiver,
    deadline: Instant,
    stop: &StopFlag,
) -> Result<(), ControlError> {
    let peer = format!("rank {}", local.rank);
    loop {
        if stop.is_requested() {
            return Err(ControlError::Interrupted);
        }
        match receiver.receive(Some(START_LOOK)) {
            Ok(Packet::Message(RankMessage::Hello(hello))) => {
                let answer = agree(&hello);
                let say = match &answer {
                    Ok(protocol) => RankMessage::Welcome { protocol: *protocol },
                    Err(refusal) => RankMessage::Refused(refusal.clone()),
                };
                let sent = local.sender.message(&say);
                answer.map_err(ControlError::Refused)?;
                return sent.map_err(|e| ControlError::lost(peer, e));
            }
            Ok(_) => {
                return Err(ControlError::Protocol {
                    peer,
                    why: "its first word is no hello".into(),
                });
            }
            Err(ReceiveError::TimedOut) if Instant::now() < deadline => {}
            Err(ReceiveError::TimedOut) => return Err(ControlError::lost(peer, "it did not start in time")),
            Err(ReceiveError::Closed) => {
                let how = local.how_it_ended();
                let why = how.unwrap_or_else(|| "it closed its channel".to_owned());
                return Err(ControlError::lost(peer, why));
            }
            Err(error) => {
                return Err(ControlError::Protocol {
                    peer,
                    why: error.to_string(),
                });
            }
        }
    }
}

/// The thread of one rank: sleeps until the rank says something.
fn listen(mut receiver: Receiver, hear: impl Fn(Heard)) {
    let mut told = Instant::now();
    loop {
        // A rank that sends a long outcome over a slow path cannot answer pings meanwhile, and is there all the same.
        let seen = || {
            if told.elapsed() > PART_TIME {
                told = Instant::now();
                hear(Heard::Message(RankMessage::Pong));
            }
        };
        match receiver.receive_seen(None, seen) {
            Ok(Packet::Message(message)) => hear(Heard::Message(message)),
            Ok(Packet::Outcome(report)) => hear(Heard::Outcome(report)),
            Err(ReceiveError::TimedOut) => {}
            Err(error) => return hear(Heard::Closed(error.to_string())),
        }
    }
}

/// Wait for `process` to end for at most `time`; how it did.
fn reap(process: &mut dyn RankProcess, time: Duration) -> Option<String> {
    let deadline = Instant::now() + time;
    loop {
        if let Some(how) = process.ended() {
            return Some(how);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
