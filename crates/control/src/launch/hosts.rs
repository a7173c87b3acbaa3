//! Ranks on many hosts, with nothing installed there: a starter goes to each by ssh or srun, once, and starts a rank
//! whenever a group asks for one. A host that fails or is lost costs itself alone; none is left with a process or a file.

use super::child::LauncherChild;
use super::greeted::{NoGreeting, greeted, last_words};
use super::post::Post;
use super::program::RankProgram;
use super::seam::{Launch, Launched};
use super::slurm::{self, Step};
use super::ssh::SshHost;
use super::starter::{GREETING, HostHello};
use crate::error::ControlError;
use crate::session::agree;
use crate::session::group::Failure;
use crate::stop::StopFlag;
use parking_lot::Mutex;
use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use wirespeed_schema::message::FailureClass;

/// A starter must have said its first word by then: the binary has to travel, and a host that others load takes its time.
const START_TIME: Duration = Duration::from_secs(60);
/// Between two looks at the stop flag.
const LOOK: Duration = Duration::from_millis(20);
/// A launcher whose pipe has ended says so within this time why: less than a group waits for the end of a rank.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The hidden verb of a starter, and its option where the program travels.
const STARTER: &str = "__ranks";
const TRAVELLED: &str = "--travelled";

/// What carries a starter to its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carrier {
    /// ssh, with the program itself.
    Ssh(SshHost),
    /// A step of Slurm on one node, which has the program at the same path.
    Slurm(Step),
}

impl Carrier {
    fn name(&self) -> &str {
        match self {
            Carrier::Ssh(host) => host.name(),
            Carrier::Slurm(step) => step.node.as_deref().unwrap_or(&step.name),
        }
    }

    fn start(&self, program: &RankProgram, stop: &StopFlag) -> Result<LauncherChild, ControlError> {
        let starter = |arguments: &[&str]| RankProgram {
            path: program.path.clone(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: Vec::new(),
        };
        match self {
            Carrier::Ssh(host) => host.start(&starter(&[STARTER, TRAVELLED]), stop),
            Carrier::Slurm(step) => LauncherChild::start(step.command(&starter(&[STARTER]))),
        }
    }

    /// What `said` by the launcher or the host means.
    fn failure(&self, said: &str) -> Failure {
        match self {
            Carrier::Ssh(host) => host.failure(said),
            Carrier::Slurm(_) => Failure {
                class: match slurm::is_refusal(said) {
                    true => FailureClass::Refused,
                    false => FailureClass::Failed,
                },
                message: format!("{}: {said}", self.name()),
                remedy: Some(
                    "check `srun true`, and that all nodes have this program at the same path".into(),
                ),
            },
        }
    }
}

/// A host that ranks are wanted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAsked {
    /// What carries a starter there.
    pub carrier: Carrier,
    /// Its address for data, where that is not the one that its launcher reached.
    pub address: Option<IpAddr>,
}

impl HostAsked {
    /// Its name, as typed.
    pub fn name(&self) -> &str {
        self.carrier.name()
    }
}

/// A host with a starter. Dropped, its ranks and its starter are ended.
pub struct RankHost {
    name: String,
    hello: HostHello,
    address: IpAddr,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    /// Before the launcher that carries it.
    post: Post,
    child: Arc<Mutex<LauncherChild>>,
}

impl std::fmt::Debug for RankHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RankHost({} at {})", self.name, self.address)
    }
}

impl RankHost {
    /// As typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The machine that it is: two names of one machine have the same.
    pub fn machine(&self) -> &str {
        &self.hello.machine
    }

    /// Its build of the program.
    pub fn build(&self) -> &str {
        &self.hello.hello.build
    }

    /// Its kind of processor.
    pub fn architecture(&self) -> &str {
        &self.hello.architecture
    }

    /// Its address for data: the one that was asked for, or its own towards us.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Our address, as it knows it.
    pub fn client_address(&self) -> Option<IpAddr> {
        self.hello.client_address
    }

    /// Why it is lost, once it is: it starts no rank any more.
    pub fn lost(&self) -> Option<String> {
        self.post.lost()
    }

    /// Carry a starter to `asked` and hear its first word.
    pub(super) fn start(
        asked: &HostAsked,
        program: &RankProgram,
        stop: &StopFlag,
    ) -> Result<RankHost, Failure> {
        let carrier = &asked.carrier;
        let mut child = carrier.start(program, stop).map_err(|error| match error {
            ControlError::Interrupted => interrupted(),
            ControlError::Lost { why, .. } => carrier.failure(&why),
            other => carrier.failure(&other.to_string()),
        })?;
        let mux = greeted(&mut child, GREETING, START_TIME, stop).map_err(|error| {
            // There is nothing more to wait for.
            child.hurry();
            match error {
                NoGreeting::Said(said) => carrier.failure(&said),
                NoGreeting::Interrupted => interrupted(),
                NoGreeting::Failed(error) => lacking(&error),
            }
        })?;
        child.keep_last();
        let child = Arc::new(Mutex::new(child));
        let launcher = child.clone();
        let explain = move || {
            let mut child = launcher.lock();
            // Whatever is left of it leads nowhere.
            child.hurry();
            last_words(&mut child, LAST_WORDS)
        };
        let (post, first) = Post::over(mux, carrier.name(), explain).map_err(|e| lacking(&e))?;
        let met = first_word(&first, &post, stop).and_then(|hello| Ok((settle(asked, &hello)?, hello)));
        let (address, hello) = met.inspect_err(|_| {
            child.lock().hurry();
        })?;
        let text = |words: &OsString| words.to_string_lossy().into_owned();
        let variables = program.environment.iter();
        Ok(RankHost {
            name: carrier.name().to_owned(),
            hello,
            address,
            arguments: program.arguments.iter().map(text).collect(),
            environment: variables.map(|(key, value)| (text(key), text(value))).collect(),
            post,
            child,
        })
    }

    /// Tell its starter to end, without waiting for that.
    pub(super) fn close(&self) {
        self.post.close();
    }

    fn launch(&self) -> io::Result<Launched> {
        let (channel, rank) = self
            .post
            .start(self.arguments.clone(), self.environment.clone())?;
        Ok(Launched {
            channel,
            process: Box::new(rank),
        })
    }
}

impl Drop for RankHost {
    fn drop(&mut self) {
        if self.lost().is_some() {
            self.child.lock().hurry();
        }
        self.close();
    }
}

/// What a starter says first.
fn first_word(first: &Receiver<HostHello>, post: &Post, stop: &StopFlag) -> Result<HostHello, Failure> {
    let deadline = Instant::now() + START_TIME;
    loop {
        match first.recv_timeout(LOOK) {
            Ok(hello) => return Ok(hello),
            Err(RecvTimeoutError::Timeout) if stop.is_requested() => return Err(interrupted()),
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline && post.lost().is_none() => {}
            Err(_) => {
                let why = post
                    .lost()
                    .unwrap_or_else(|| "its starter says nothing".to_owned());
                return Err(failed(why, "check that host, and run again"));
            }
        }
    }
}

/// Whether we can work with `asked`, and its address for data.
fn settle(asked: &HostAsked, hello: &HostHello) -> Result<IpAddr, Failure> {
    let name = asked.name();
    agree(&hello.hello).map_err(|refusal| {
        let message = format!("{name}: {}", refusal.reason);
        Failure::with_remedy(FailureClass::Refused, message, refusal.remedy)
    })?;
    let address = asked.address.or(hello.address);
    address.ok_or_else(|| {
        failed(
            format!("{name} does not know its address"),
            "give it: a line with address=IP in a file of hosts",
        )
    })
}

pub(super) fn failed(message: impl Into<String>, remedy: &str) -> Failure {
    Failure::with_remedy(FailureClass::Failed, message, remedy)
}

pub(super) fn interrupted() -> Failure {
    failed("interrupted", "run again")
}

/// This process lacks what another host takes.
fn lacking(error: &io::Error) -> Failure {
    failed(
        format!("no room for another host: {error}"),
        "name fewer hosts, or raise the limits of this shell: ulimit -n, ulimit -u",
    )
}

/// Starts ranks on hosts: rank N on the Nth of them.
#[derive(Debug, Clone)]
pub struct OnHosts {
    hosts: Vec<Arc<RankHost>>,
    /// Where data go in place of each host's own address; empty for that.
    addresses: Vec<IpAddr>,
}

impl OnHosts {
    /// These hosts, in this order.
    pub fn new(hosts: Vec<Arc<RankHost>>) -> Self {
        OnHosts {
            hosts,
            addresses: Vec::new(),
        }
    }

    /// The same, with data on another network: an address of each host there, in the same order.
    #[must_use]
    pub fn with_addresses(mut self, addresses: Vec<IpAddr>) -> Self {
        self.addresses = addresses;
        self
    }

    /// The host of `rank`.
    pub fn host(&self, rank: u32) -> Option<&RankHost> {
        self.hosts.get(rank as usize).map(|host| &**host)
    }
}

impl Launch for OnHosts {
    fn name(&self) -> String {
        "a rank".into()
    }

    fn launch(&self, rank: u32) -> io::Result<Launched> {
        let host = self.host(rank);
        host.ok_or_else(|| io::Error::other(format!("there is no host for rank {rank}")))?
            .launch()
    }

    fn bind_address(&self, rank: u32) -> Option<IpAddr> {
        if let Some(address) = self.addresses.get(rank as usize) {
            return Some(*address);
        }
        let own = self.host(rank)?.address;
        if !own.is_loopback() {
            return Some(own);
        }
        // It is this machine, which the others know by another address.
        let others = self.hosts.iter().filter(|host| !host.address.is_loopback());
        let known = others.filter_map(|host| host.hello.client_address);
        Some(known.into_iter().next().unwrap_or(own))
    }
}
