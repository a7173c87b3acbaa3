//! The daemon that these tests talk to, in a thread of theirs.

use crate::common::{case, program, registry};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_control::{
    ControlError, Daemon, Group, GroupEvent, GroupOptions, GroupResult, GroupSpec, Identity, Listen, LogLine,
    ServeOptions, Served, ServerSpec, StopFlag, Timing, run_case,
};
use wirespeed_schema::Case;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::message::ServerLimits;

/// A daemon in a thread of the test.
pub struct Running {
    pub address: SocketAddr,
    pub identity: Identity,
    pub stop: StopFlag,
    log: Arc<Mutex<Vec<String>>>,
    pub thread: Option<JoinHandle<Result<Served, ControlError>>>,
    _folder: tempfile::TempDir,
}

impl Running {
    pub fn start(limits: ServerLimits, timing: Timing) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::load_or_make(&folder.path().join("key")).unwrap();
        let options = ServeOptions {
            once: false,
            cpus: None,
            listen: Listen::Loopback,
            port: 0,
            limits,
            timing,
            program: program(),
        };
        let (stop, log) = (StopFlag::new(), Arc::new(Mutex::new(Vec::new())));
        let lines = log.clone();
        let logger = Arc::new(move |line: LogLine| lines.lock().unwrap().push(line.to_string()));
        let daemon = Daemon::bind(options, &key, &stop, logger).unwrap();
        Running {
            address: daemon.addresses()[0],
            identity: daemon.identity().clone(),
            stop,
            log,
            thread: Some(std::thread::spawn(move || daemon.run())),
            _folder: folder,
        }
    }

    pub fn ordinary() -> Self {
        Self::start(ServerLimits::default(), Timing::default())
    }

    pub fn spec(&self) -> GroupSpec {
        GroupSpec::Hosts(vec![ServerSpec::new(
            self.address.to_string(),
            self.identity.clone(),
        )])
    }

    pub fn group(&self) -> Result<Group, ControlError> {
        let stop = StopFlag::new();
        Group::open(&self.spec(), &registry(), options(), &mut |_| (), &stop)
    }

    pub fn run(&self, case: &Case) -> GroupResult {
        run_case(
            &self.spec(),
            case,
            &registry(),
            options(),
            &mut |_| (),
            &StopFlag::new(),
        )
    }

    pub fn logged(&self, words: &str) -> bool {
        self.log.lock().unwrap().iter().any(|line| line.contains(words))
    }

    /// A client that is being measured until the flag asks it to stop.
    pub fn busy(&self) -> (JoinHandle<GroupResult>, StopFlag) {
        let (running, started) = mpsc::channel();
        let (spec, stop) = (self.spec(), StopFlag::new());
        let asked = stop.clone();
        let client = std::thread::spawn(move || {
            let mut events = |event: GroupEvent| {
                if let GroupEvent::Interval { rank: 0, .. } = event {
                    running.send(()).unwrap();
                }
            };
            let case = hosts_case(&[("all", "run")]);
            run_case(&spec, &case, &registry(), options(), &mut events, &stop)
        });
        started.recv_timeout(Duration::from_secs(20)).unwrap();
        (client, asked)
    }

    /// The daemon still serves.
    pub fn assert_serves(&self) {
        let result = self.run(&hosts_case(&[]));
        assert!(result.error.is_none(), "{:?}", result.error);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

pub fn options() -> GroupOptions {
    GroupOptions {
        timing: Timing::default(),
        program: program(),
        fresh: false,
        together: false,
        turn: None,
        bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

pub fn hosts_case(behaviour: &[(&str, &str)]) -> Case {
    case(2, behaviour).with_group(GroupKind::Hosts)
}

pub fn fact(result: &GroupResult, rank: usize, name: &str) -> String {
    result.outcomes[rank].as_ref().unwrap().transport_facts[name].clone()
}
