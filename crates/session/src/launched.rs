//! A session whose computations a launcher has started: srun on the nodes of a Slurm, ssh on hosts that are named. On each
//! runs a node of this session's own, and all that is said goes through the launcher's pipes; data go past it. Nothing is
//! left behind there: a node ends with its pipe, its computations with it.

use crate::api::{self, NodeStatus};
use crate::coordinator::place;
use crate::definition::Computation;
use crate::live::{Ask as Session, DAEMON};
use crate::members::{self, Channels, Member};
use crate::node::{Free, too_much};
use crate::report::{ComputationReport, SessionReport};
use crate::say::{Work, hear, say};
use crate::stdio_node::{Answer, Ask, GREETING, Hello, TALK};
use crate::{failed, refused};
use std::io::{self, BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::net::UnixStream;
use std::process::ChildStdout;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wirespeed_control::launch::child::LauncherChild;
use wirespeed_control::launch::mux::Mux;
use wirespeed_control::launch::slurm::{self, Step};
use wirespeed_control::launch::ssh::SshHost;
use wirespeed_control::{ControlError, Failure, Launch, RankProgram, StopFlag};

/// A node must have said its first word by then: the binary may have to travel, and Slurm to find a place.
const HELLO_TIME: Duration = Duration::from_secs(60);
/// Any other answer must have come by then.
const ANSWER_TIME: Duration = Duration::from_secs(20);
/// Between two looks at the stop flag and the launcher.
const LOOK: Duration = Duration::from_millis(20);
/// A launcher whose pipe has ended says so within this time why.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Longest line before the greeting that is looked at.
const NOISE_BYTES_MAX: u64 = 64 << 10;

/// What starts the computations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// srun: a step for each computation.
    Slurm,
    /// ssh: these hosts.
    Ssh(Vec<SshHost>),
}

impl Engine {
    /// As typed and printed.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Slurm => "slurm",
            Engine::Ssh(_) => "ssh",
        }
    }

    /// What it says itself about enforcement.
    pub fn policy(&self) -> Option<String> {
        let policy = match self {
            Engine::Slurm => slurm::policy(),
            Engine::Ssh(_) => String::new(),
        };
        (!policy.is_empty()).then_some(policy)
    }
}

/// A node on the other side of a launcher's pipes.
struct Outpost {
    hello: Hello,
    talk: UnixStream,
    answers: Receiver<Answer>,
    mux: Mux,
    child: LauncherChild,
}

type Early = Arc<Mutex<Option<Failure>>>;

/// A session on nodes of its own.
pub(crate) struct Launched {
    members: Arc<Vec<Member>>,
    local_address: IpAddr,
    here: bool,
    early: Early,
    /// Before the members, whose channels they carry.
    outposts: Vec<Outpost>,
}

impl Launched {
    pub(crate) fn create(
        ask: &Session,
        engine: &Engine,
        program: &RankProgram,
        stop: &StopFlag,
    ) -> Result<Self, Failure> {
        let early = Early::default();
        let start = Starting {
            program,
            stop,
            early: &early,
        };
        let computations = ask.computations();
        let (outposts, places) = match engine {
            Engine::Slurm => start.steps(&computations)?,
            Engine::Ssh(hosts) => start.hosts(hosts, &computations)?,
        };
        let mut members: Vec<Option<Member>> = computations.iter().map(|_| None).collect();
        for (number, outpost) in outposts.iter().enumerate() {
            let own: Vec<usize> = (0..places.len()).filter(|at| places[*at] == number).collect();
            let started = outpost.start(own.iter().map(|at| computations[*at].clone()).collect(), stop)?;
            for (at, (pid, channel)) in own.into_iter().zip(started) {
                members[at] = Some(Member {
                    name: computations[at].0.name.clone(),
                    address: outpost.hello.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
                    pid,
                    channel: Mutex::new(Some(channel)),
                    open: Arc::new(AtomicBool::new(true)),
                });
            }
        }
        let machine = api::machine();
        let mut client = outposts.iter().filter_map(|outpost| outpost.hello.client_address);
        Ok(Launched {
            members: Arc::new(members.into_iter().flatten().collect()),
            local_address: client.next().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            here: outposts
                .iter()
                .all(|outpost| outpost.hello.status.machine == machine),
            early,
            outposts,
        })
    }

    pub(crate) fn go(&self) -> Result<(), Failure> {
        let mut all = self.outposts.iter();
        all.try_for_each(|outpost| say(&outpost.talk, &Ask::Go).map_err(lost))
    }

    pub(crate) fn launcher(&self, client: RankProgram) -> Arc<dyn Launch> {
        Arc::new(Channels {
            client,
            members: self.members.clone(),
            local_address: self.local_address,
        })
    }

    pub(crate) fn is_here(&self) -> bool {
        self.here
    }

    pub(crate) fn early_end(&self) -> Option<Failure> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn end(self) -> SessionReport {
        // A session is ended in order also when the user has had enough.
        let patient = StopFlag::new();
        for outpost in &self.outposts {
            // One that is gone has nothing to tell.
            let _ = say(&outpost.talk, &Ask::End);
        }
        let mut computations: Vec<ComputationReport> = Vec::new();
        for outpost in &self.outposts {
            if let Ok(Answer::Ended(reports)) = outpost.answer(&patient) {
                computations.extend(reports);
            }
        }
        let order = |report: &ComputationReport| self.members.iter().position(|m| m.name == report.name);
        computations.sort_by_key(order);
        SessionReport {
            computations,
            ..SessionReport::default()
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        // Ended side by side: each may take a while to be gone.
        for outpost in &self.outposts {
            // One that is closed already needs no closing.
            let _ = outpost.talk.shutdown(std::net::Shutdown::Both);
        }
        members::close(&self.members);
        std::thread::scope(|scope| {
            for outpost in self.outposts.drain(..) {
                scope.spawn(move || drop(outpost));
            }
        });
    }
}

/// Starts nodes.
struct Starting<'a> {
    program: &'a RankProgram,
    stop: &'a StopFlag,
    early: &'a Early,
}

/// Nodes, and the number of each computation's node.
type Places = (Vec<Outpost>, Vec<usize>);

impl Starting<'_> {
    /// One node on each host; computations go where there is room, as a coordinator places them.
    fn hosts(&self, hosts: &[SshHost], computations: &[(Computation, Work)]) -> Result<Places, Failure> {
        let begin = |host: &SshHost| {
            let program = RankProgram {
                arguments: vec!["__node".into(), "--travelled".into()],
                ..self.program.clone()
            };
            let child = host
                .start(&program)
                .map_err(|e| ssh_failure(host, &e.to_string()))?;
            let mut outpost = self.meet(child, |said| ssh_failure(host, said))?;
            outpost.hello.status.name = host.name().to_owned();
            Ok(outpost)
        };
        let mut outposts = side_by_side(hosts, begin)?;
        let nodes: Vec<NodeStatus> = outposts.iter().map(|o| o.hello.status.clone()).collect();
        let names = place(computations, &nodes)?;
        let number = |name: &String| nodes.iter().position(|node| node.name == *name).unwrap_or(0);
        let places: Vec<usize> = names.iter().map(number).collect();
        // A host without a computation keeps its place in the list, not its node.
        let used: Vec<usize> = (0..outposts.len()).filter(|at| places.contains(at)).collect();
        let mut at = 0;
        outposts.retain(|_| {
            at += 1;
            used.contains(&(at - 1))
        });
        let places = places
            .iter()
            .map(|p| used.iter().position(|u| u == p).unwrap_or(0));
        let places = places.collect();
        Ok((outposts, places))
    }

    /// A step for each computation; the daemon beside the main one.
    fn steps(&self, computations: &[(Computation, Work)]) -> Result<Places, Failure> {
        let begin = |computation: &Computation| {
            let program = RankProgram {
                arguments: vec!["__node".into(), "--slurm".into()],
                ..self.program.clone()
            };
            let cores = computation.resources.cores;
            let step = Step {
                name: computation.name.clone(),
                cpus: cores.map(|cores| cores.get().ceil() as u32),
                memory_bytes: computation.resources.memory_bytes,
                node: computation.node.clone(),
            };
            let child = LauncherChild::start(step.command(&program)).map_err(no_srun)?;
            self.meet(child, |said| slurm_failure(computation, said))
        };
        let (daemons, own): (Vec<_>, Vec<_>) = computations
            .iter()
            .map(|(computation, _)| computation.clone())
            .partition(|computation| computation.name == DAEMON);
        let mut outposts = side_by_side(&own, begin)?;
        for mut daemon in daemons {
            daemon.node = outposts.first().map(|main| main.hello.status.name.clone());
            outposts.push(begin(&daemon)?);
        }
        let places = (0..outposts.len()).collect();
        Ok((outposts, places))
    }

    /// Wait for a node's first word; `explain` makes a failure of what its launcher said instead.
    fn meet(&self, mut child: LauncherChild, explain: impl Fn(&str) -> Failure) -> Result<Outpost, Failure> {
        let reader = greeted(&mut child, self.stop, &explain)?;
        let stdin = child
            .child()
            .stdin
            .take()
            .ok_or_else(|| explain("it has no pipe"))?;
        let mux = Mux::over(reader, stdin).map_err(lost)?;
        let talk = mux.open(TALK).map_err(lost)?;
        let answers = listen(&talk, self.early.clone()).map_err(lost)?;
        let mut outpost = Outpost {
            hello: Hello {
                status: NodeStatus {
                    name: String::new(),
                    machine: String::new(),
                    free: Free {
                        cores: 0.0,
                        memory_bytes: 0,
                    },
                    sessions: Vec::new(),
                },
                address: None,
                client_address: None,
            },
            talk,
            answers,
            mux,
            child,
        };
        match outpost.answer(self.stop)? {
            Answer::Hello(hello) => outpost.hello = hello,
            _ => return Err(strange()),
        }
        outpost.child.pass_on();
        Ok(outpost)
    }
}

/// `begin` for each of `all` at once; all or nothing.
fn side_by_side<T: Sync>(
    all: &[T],
    begin: impl Fn(&T) -> Result<Outpost, Failure> + Sync,
) -> Result<Vec<Outpost>, Failure> {
    let begin = &begin;
    let begun: Vec<Result<Outpost, Failure>> = std::thread::scope(|scope| {
        let threads: Vec<_> = all.iter().map(|one| scope.spawn(move || begin(one))).collect();
        let broken = || failed("a session's thread failed", "please report it");
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(broken())))
            .collect()
    });
    begun.into_iter().collect()
}

/// Skip what shells say until the node's greeting.
fn greeted(
    child: &mut LauncherChild,
    stop: &StopFlag,
    explain: impl Fn(&str) -> Failure,
) -> Result<BufReader<ChildStdout>, Failure> {
    let stdout = child
        .child()
        .stdout
        .take()
        .ok_or_else(|| explain("it has no pipe"))?;
    let (sender, greeting) = mpsc::channel();
    std::thread::Builder::new()
        .name("greeting".into())
        .spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while let Ok(1..) = reader.by_ref().take(NOISE_BYTES_MAX).read_until(b'\n', &mut line) {
                if line.trim_ascii() == GREETING.as_bytes() {
                    // Nobody waits any more when it took too long.
                    let _ = sender.send(reader);
                    return;
                }
                line.clear();
            }
        })
        .map_err(lost)?;
    let deadline = Instant::now() + HELLO_TIME;
    loop {
        match greeting.recv_timeout(LOOK) {
            Ok(reader) => return Ok(reader),
            Err(RecvTimeoutError::Disconnected) => return Err(explain(&last_words(child))),
            Err(RecvTimeoutError::Timeout) if stop.is_requested() => {
                return Err(failed("interrupted", "run again"));
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                let said = child.explanation().unwrap_or_else(|| "nothing".into());
                return Err(explain(&format!(
                    "not there within {} s: {said}",
                    HELLO_TIME.as_secs()
                )));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// What a launcher whose output has ended says.
fn last_words(child: &mut LauncherChild) -> String {
    let deadline = Instant::now() + LAST_WORDS;
    while Instant::now() < deadline {
        if child.check().is_err() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    child
        .explanation()
        .unwrap_or_else(|| "it ended without a word".into())
}

/// Hear the node in a thread of its own: early ends are noted, answers are passed on.
fn listen(talk: &UnixStream, early: Early) -> io::Result<Receiver<Answer>> {
    let mut reader = BufReader::new(talk.try_clone()?);
    let (sender, answers) = mpsc::channel();
    let note = move |failure: Failure| {
        let mut early = early.lock().unwrap_or_else(PoisonError::into_inner);
        early.get_or_insert(failure);
    };
    std::thread::Builder::new().name("node".into()).spawn(move || {
        let mut has_ended = false;
        while let Ok(Some(answer)) = hear::<Answer>(&mut reader) {
            has_ended |= matches!(answer, Answer::Ended(_));
            match answer {
                Answer::Died(why) => note(why.into_failure()),
                answer => {
                    if sender.send(answer).is_err() {
                        return;
                    }
                }
            }
        }
        if !has_ended {
            note(failed(
                "a node of the session is lost: its launcher's pipe has closed",
                "look at the launcher's messages, and run again",
            ));
        }
    })?;
    Ok(answers)
}

impl Outpost {
    fn answer(&self, stop: &StopFlag) -> Result<Answer, Failure> {
        let deadline = Instant::now() + ANSWER_TIME;
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(Answer::Failed(why)) => return Err(why.into_failure()),
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) if stop.is_requested() => {
                    return Err(failed("interrupted", "run again"));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(error) => {
                    let silent = match error {
                        RecvTimeoutError::Timeout => "it says nothing",
                        RecvTimeoutError::Disconnected => "its pipe has closed",
                    };
                    let said = self.child.explanation().unwrap_or_else(|| silent.into());
                    return Err(failed(
                        format!("a node of the session does not answer: {said}"),
                        "look at that host, and run again",
                    ));
                }
            }
        }
    }

    /// Start these there; process and control channel of each.
    fn start(
        &self,
        computations: Vec<(Computation, Work)>,
        stop: &StopFlag,
    ) -> Result<Vec<(u32, UnixStream)>, Failure> {
        let count = computations.len() as u16;
        let channels: io::Result<Vec<UnixStream>> = (TALK + 1..=TALK + count)
            .map(|number| self.mux.open(number))
            .collect();
        let channels = channels.map_err(lost)?;
        say(&self.talk, &Ask::Start(computations)).map_err(lost)?;
        match self.answer(stop)? {
            Answer::Ready(pids) if pids.len() == channels.len() => {
                Ok(pids.into_iter().zip(channels).collect())
            }
            _ => Err(strange()),
        }
    }
}

fn lost(error: io::Error) -> Failure {
    failed(
        format!("cannot talk to a node of the session: {error}"),
        "look at the launcher's messages, and run again",
    )
}

fn strange() -> Failure {
    failed(
        "a node's answer is strange",
        "check that both ends run the same wirespeed",
    )
}

fn no_srun(error: ControlError) -> Failure {
    failed(error.to_string(), "--launch slurm needs srun in PATH")
}

fn ssh_failure(host: &SshHost, said: &str) -> Failure {
    let name = host.name();
    let cause = format!("{name}: {said}");
    if said.contains("verification failed") || said.contains("host key") {
        return refused(
            cause,
            format!("compare the host's key and accept it once: ssh {name} true"),
        );
    }
    if said.contains("denied") {
        return refused(cause, format!("let `ssh {name} true` work without a password"));
    }
    failed(
        cause,
        format!("check `ssh {name} true`; it needs this machine's kind of processor and C library"),
    )
}

fn slurm_failure(computation: &Computation, said: &str) -> Failure {
    if !slurm::is_refusal(said) {
        return failed(
            format!("srun, for {}: {said}", computation.name),
            "check `srun true`, and that all nodes have this program at the same path",
        );
    }
    let nodes = slurm::nodes();
    let free = nodes.iter().map(|node| {
        let free = Free {
            cores: f64::from(node.cpus_idle),
            memory_bytes: node.memory_bytes,
        };
        (node.name.as_str(), free)
    });
    let free: Vec<(&str, Free)> = free.collect();
    let mut failure = too_much(&computation.resources, &free);
    failure.message = format!("srun, for {}: {said}; {}", computation.name, failure.message);
    failure
}
