//! A session whose computations a launcher has started: srun on the nodes of a Slurm, ssh on hosts that are named. On each
//! runs a node of this session's own, and all that is said goes through the launcher's pipes; data go past it. Nothing is
//! left behind there: a node ends with its pipe, its computations with it.

use crate::Tell;
use crate::api::NodeStatus;
use crate::ask::{Ask as Session, DAEMON};
use crate::coordinator::place;
use crate::definition::Computation;
use crate::failed;
use crate::members::{Member, Members};
use crate::node::{Free, too_much};
use crate::outpost::{Early, Outpost, Outposts, lost};
use crate::report::{ComputationReport, SessionReport};
use crate::say::{Work, say};
use crate::stdio_node::{Answer, Ask};
use parking_lot::Mutex;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wirespeed_control::launch::child::LauncherChild;
use wirespeed_control::launch::slurm::{self, Step};
use wirespeed_control::launch::ssh::SshHost;
use wirespeed_control::launch::stdio;
use wirespeed_control::thread::side_by_side;
use wirespeed_control::{ControlError, Failure, RankProgram, StopFlag};

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

/// A session on nodes of its own.
pub(crate) struct Launched {
    pub(crate) members: Members,
    early: Early,
    /// Before the members, whose channels they carry.
    outposts: Outposts,
}

impl Launched {
    pub(crate) fn create(
        ask: &Session,
        engine: &Engine,
        program: &RankProgram,
        stop: &StopFlag,
        tell: &Tell,
    ) -> Result<Self, Failure> {
        let early = Early::default();
        let start = Starting {
            program,
            stop,
            early: &early,
            tell,
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
                    node: outpost.hello.status.name.clone(),
                    address: outpost.hello.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
                    pid,
                    channel: Mutex::new(Some(channel)),
                    open: Arc::new(AtomicBool::new(true)),
                });
            }
        }
        let machine = stdio::machine();
        let mut client = outposts.iter().filter_map(|outpost| outpost.hello.client_address);
        Ok(Launched {
            members: Members {
                all: Arc::new(members.into_iter().flatten().collect()),
                local_address: client.next().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
                here: outposts
                    .iter()
                    .all(|outpost| outpost.hello.status.machine == machine),
            },
            early,
            outposts,
        })
    }

    pub(crate) fn go(&self) -> Result<(), Failure> {
        let mut all = self.outposts.iter();
        all.try_for_each(|outpost| say(&outpost.talk, &Ask::Go).map_err(lost))
    }

    pub(crate) fn early_end(&self) -> Option<Failure> {
        self.early.lock().clone()
    }

    pub(crate) fn end(self) -> SessionReport {
        // A session is ended in order also when the user has had enough.
        let patient = StopFlag::new();
        for outpost in self.outposts.iter() {
            // One that is gone has nothing to tell.
            let _ = say(&outpost.talk, &Ask::End);
        }
        let mut computations: Vec<ComputationReport> = Vec::new();
        for outpost in self.outposts.iter() {
            if let Ok(Answer::Ended(reports)) = outpost.answer(&patient) {
                computations.extend(reports);
            }
        }
        self.members.account(computations)
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        for outpost in self.outposts.iter() {
            // One that is closed already needs no closing.
            let _ = outpost.talk.shutdown(std::net::Shutdown::Both);
        }
        self.members.close();
        drop(std::mem::take(&mut self.outposts));
    }
}

/// Starts nodes.
struct Starting<'a> {
    program: &'a RankProgram,
    stop: &'a StopFlag,
    early: &'a Early,
    tell: &'a Tell,
}

/// Nodes, and the number of each computation's node.
type Places = (Outposts, Vec<usize>);

impl Starting<'_> {
    /// One node on each host; computations go where there is room, as a coordinator places them.
    fn hosts(&self, hosts: &[SshHost], computations: &[(Computation, Work)]) -> Result<Places, Failure> {
        let begin = |host: &SshHost| {
            let program = RankProgram {
                arguments: vec!["__node".into(), "--travelled".into()],
                ..self.program.clone()
            };
            let child = host.start(&program, self.stop).map_err(|error| match error {
                ControlError::Interrupted => failed("interrupted", "run again"),
                ControlError::Lost { why, .. } => host.failure(&why),
                other => host.failure(&other.to_string()),
            })?;
            let mut outpost =
                Outpost::meet(child, self.stop, self.early, self.tell, |said| host.failure(said))?;
            outpost.hello.status.name = host.name().to_owned();
            Ok(outpost)
        };
        let mut outposts = Outposts::all(side_by_side(hosts, hosts.len(), begin))?;
        let nodes: Vec<NodeStatus> = outposts.iter().map(|o| o.hello.status.clone()).collect();
        let names = place(computations, &nodes)?;
        let number = |name: &String| nodes.iter().position(|node| node.name == *name).unwrap_or(0);
        let places: Vec<usize> = names.iter().map(number).collect();
        // A host without a computation keeps its place in the list, not its node.
        let used: Vec<usize> = (0..outposts.len()).filter(|at| places.contains(at)).collect();
        outposts.keep(&used);
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
            Outpost::meet(child, self.stop, self.early, self.tell, |said| {
                slurm_failure(computation, said)
            })
        };
        let (daemons, own): (Vec<_>, Vec<_>) = computations
            .iter()
            .map(|(computation, _)| computation.clone())
            .partition(|computation| computation.name == DAEMON);
        let mut outposts = Outposts::all(side_by_side(&own, own.len(), begin))?;
        for mut daemon in daemons {
            daemon.node = outposts.first().map(|main| main.hello.status.name.clone());
            outposts.push(begin(&daemon)?);
        }
        let places = (0..outposts.len()).collect();
        Ok((outposts, places))
    }
}

fn no_srun(error: ControlError) -> Failure {
    failed(error.to_string(), "--launch slurm needs srun in PATH")
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
