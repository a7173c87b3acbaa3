//! A daemon and its clients, over loopback: identity, turns, limits, deaths on either side, and strangers.

mod common;

use common::{case, deadline, eventually, program, registry};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_control::{
    ControlError, Daemon, Group, GroupEvent, GroupOptions, GroupResult, GroupSpec, HostsSpec, Identity,
    Listen, LogLine, ServeOptions, StopFlag, Timing, run_case,
};
use wirespeed_schema::Case;
use wirespeed_schema::case::{GroupKind, Stop};
use wirespeed_schema::message::{FailureClass, ServerLimits};
use wirespeed_schema::outcome::StopReason;

#[test]
fn rank_entry() {
    common::rank_entry();
}

/// A daemon in a thread of the test.
struct Running {
    address: SocketAddr,
    identity: Identity,
    stop: StopFlag,
    log: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<Result<(), ControlError>>>,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start(limits: ServerLimits, timing: Timing) -> Self {
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

    fn ordinary() -> Self {
        Self::start(ServerLimits::default(), Timing::default())
    }

    fn spec(&self) -> GroupSpec {
        GroupSpec::Hosts(HostsSpec {
            address: self.address.to_string(),
            identity: self.identity.clone(),
            remote_ranks: None,
        })
    }

    fn group(&self) -> Result<Group, ControlError> {
        let stop = StopFlag::new();
        Group::open(&self.spec(), &registry(), options(), &mut |_| (), &stop)
    }

    fn run(&self, case: &Case) -> GroupResult {
        run_case(
            &self.spec(),
            case,
            &registry(),
            options(),
            &mut |_| (),
            &StopFlag::new(),
        )
    }

    fn logged(&self, words: &str) -> bool {
        self.log.lock().unwrap().iter().any(|line| line.contains(words))
    }

    /// The daemon still serves.
    fn assert_serves(&self) {
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

fn options() -> GroupOptions {
    GroupOptions {
        timing: Timing::default(),
        program: program(),
        fresh: false,
        together: false,
        bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

fn hosts_case(behaviour: &[(&str, &str)]) -> Case {
    Case {
        group: GroupKind::Hosts,
        ..case(2, behaviour)
    }
}

fn fact(result: &GroupResult, rank: usize, name: &str) -> String {
    result.outcomes[rank].as_ref().unwrap().transport_facts[name].clone()
}

#[test]
fn a_case_runs_over_both_ends_and_again_over_the_same_session() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let mut group = daemon.group().unwrap();
    assert_eq!(group.server_limits(), Some(&ServerLimits::default()));
    for _ in 0..3 {
        let result = group.run(&hosts_case(&[]), &mut |_| (), &StopFlag::new());
        assert!(result.error.is_none(), "{:?}", result.error);
        assert_eq!(result.overlapping_sessions, 0);
        assert_ne!(fact(&result, 0, "pid"), fact(&result, 1, "pid"));
        assert_eq!(fact(&result, 1, "bind"), "127.0.0.1");
    }
    let four = Case {
        group: GroupKind::Hosts,
        ..case(4, &[])
    };
    let result = group.run(&four, &mut |_| (), &StopFlag::new());
    assert!(result.error.is_none() && result.outcomes.iter().all(Option::is_some));
}

#[test]
fn ipv6_works_where_the_machine_has_it() {
    let _deadline = deadline(60);
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6 loopback");
        return;
    }
    let daemon = Running::ordinary();
    let spec = GroupSpec::Hosts(HostsSpec {
        address: format!("[::1]:{}", daemon.address.port()),
        identity: daemon.identity.clone(),
        remote_ranks: Some(vec![0]),
    });
    let result = run_case(
        &spec,
        &hosts_case(&[]),
        &registry(),
        options(),
        &mut |_| (),
        &StopFlag::new(),
    );
    assert!(result.error.is_none(), "{:?}", result.error);
    assert_eq!(
        (fact(&result, 0, "bind"), fact(&result, 1, "bind")),
        ("::1".into(), "::1".into())
    );
}

#[test]
fn a_wrong_token_and_a_wrong_server_are_refused() {
    let _deadline = deadline(60);
    let (daemon, other) = (Running::ordinary(), Running::ordinary());
    let open = |identity: Identity| {
        let spec = GroupSpec::Hosts(HostsSpec {
            address: daemon.address.to_string(),
            identity,
            remote_ranks: None,
        });
        let opened = Group::open(&spec, &registry(), options(), &mut |_| (), &StopFlag::new());
        opened.err().expect("it was let in")
    };
    let error = open(other.identity.clone());
    assert!(matches!(error, ControlError::WrongServer { .. }), "{error:?}");
    assert_eq!(error.exit_code(), 5);
    let forged = forged(&daemon.identity);
    let error = open(forged);
    assert!(matches!(error, ControlError::Refused(_)), "{error:?}");
    assert!(error.to_string().contains("token") && error.exit_code() == 5);
    daemon.assert_serves();
}

/// The right fingerprint with another token: bytes 32 and on of the text's 64.
fn forged(identity: &Identity) -> Identity {
    let mut text = identity.to_text();
    // Near the end of the base64 text lies the token's end; another letter there is another token.
    let position = text.len() - 6;
    let other = if text.as_bytes()[position] == b'A' {
        "B"
    } else {
        "A"
    };
    text.replace_range(position..=position, other);
    Identity::from_text(&text).unwrap()
}

#[test]
fn nobody_there_is_an_error_with_a_remedy() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let identity = daemon.identity.clone();
    let port = daemon.address.port();
    drop(daemon);
    let open = |address: &str| {
        let spec = GroupSpec::Hosts(HostsSpec {
            address: address.into(),
            identity: identity.clone(),
            remote_ranks: None,
        });
        Group::open(&spec, &registry(), options(), &mut |_| (), &StopFlag::new())
            .err()
            .unwrap()
    };
    let refused = open(&format!("127.0.0.1:{port}"));
    assert!(matches!(refused, ControlError::Connect { .. }));
    assert!(refused.remedy().contains("wirespeed serve") && refused.exit_code() == 1);
    assert_eq!(open("::::").exit_code(), 2);
    // Something that is no wirespeed.
    let echo = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = echo.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = echo.accept().unwrap();
        stream.write_all(b"220 mail.example ESMTP\r\n").unwrap();
        let _ = stream.read(&mut [0; 64]);
    });
    assert!(matches!(open(&address), ControlError::Protocol { .. }));
    server.join().unwrap();
}

#[test]
fn two_clients_queue_and_both_are_measured_alone() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let (running, started) = mpsc::channel();
    let (first_stop, spec) = (StopFlag::new(), daemon.spec());
    let asked = first_stop.clone();
    let first = std::thread::spawn(move || {
        let mut events = |event: GroupEvent| {
            if let GroupEvent::Interval { rank: 0, .. } = event {
                running.send(()).unwrap();
            }
        };
        run_case(
            &spec,
            &hosts_case(&[("all", "run")]),
            &registry(),
            options(),
            &mut events,
            &first_stop,
        )
    });
    started.recv_timeout(Duration::from_secs(20)).unwrap();
    let mut queued = Vec::new();
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Queued { ahead, .. } = event {
            queued.push(ahead);
            asked.request();
        }
    };
    let spec = daemon.spec();
    let second = run_case(
        &spec,
        &hosts_case(&[]),
        &registry(),
        options(),
        &mut events,
        &StopFlag::new(),
    );
    let first = first.join().unwrap();
    assert_eq!(queued.first(), Some(&1));
    assert!(second.error.is_none(), "{:?}", second.error);
    assert!(first.error.is_none(), "{:?}", first.error);
    assert_eq!(first.outcomes[1].as_ref().unwrap().stop, StopReason::Interrupted);
    assert_eq!((first.overlapping_sessions, second.overlapping_sessions), (0, 0));
}

#[test]
fn a_shared_server_labels_results_that_overlapped() {
    let _deadline = deadline(60);
    let limits = ServerLimits {
        clients_max: 2,
        ..ServerLimits::default()
    };
    let daemon = Running::start(limits, Timing::default());
    let (spec, stop) = (daemon.spec(), StopFlag::new());
    let asked = stop.clone();
    let (running, started) = mpsc::channel();
    let first = std::thread::spawn(move || {
        let mut events = |event: GroupEvent| {
            if let GroupEvent::Interval { rank: 0, .. } = event {
                running.send(()).unwrap();
            }
        };
        run_case(
            &spec,
            &hosts_case(&[("all", "run")]),
            &registry(),
            options(),
            &mut events,
            &stop,
        )
    });
    started.recv_timeout(Duration::from_secs(20)).unwrap();
    let second = daemon.run(&hosts_case(&[]));
    asked.request();
    assert_eq!(second.overlapping_sessions, 1);
    assert_eq!(first.join().unwrap().overlapping_sessions, 1);
    let alone = daemon.run(&hosts_case(&[]));
    assert_eq!(alone.overlapping_sessions, 0);
}

#[test]
fn limits_are_refused_by_name_and_places_run_out() {
    let _deadline = deadline(60);
    let limits = ServerLimits {
        message_bytes_max: 4,
        queue_clients_max: 1,
        ..ServerLimits::default()
    };
    let daemon = Running::start(limits, Timing::default());
    let mut group = daemon.group().unwrap();
    let refused = group
        .run(&hosts_case(&[]), &mut |_| (), &StopFlag::new())
        .error
        .unwrap();
    assert_eq!(refused.class, FailureClass::Refused);
    assert!(
        refused.message.contains("4 B") && refused.remedy.unwrap().contains("--size"),
        "{}",
        refused.message
    );
    let again = group
        .run(&hosts_case(&[]), &mut |_| (), &StopFlag::new())
        .error
        .unwrap();
    assert_eq!(
        again.class,
        FailureClass::Refused,
        "the session goes on after a refusal"
    );
    let _second = daemon.group().unwrap();
    let third = daemon.group().err().expect("there were only two places");
    assert_eq!(third.exit_code(), 5);
}

#[test]
fn a_run_beyond_the_time_limit_is_ended_in_order_and_says_so() {
    let _deadline = deadline(60);
    let limits = ServerLimits {
        duration_ns_max: 300_000_000,
        ..ServerLimits::default()
    };
    let timing = Timing {
        start: Duration::from_millis(3000),
        ..Timing::default()
    };
    let daemon = Running::start(limits, timing);
    let result = daemon.run(&hosts_case(&[("all", "run")]));
    let error = result.error.unwrap();
    assert!(error.message.contains("limit of 300 ms"), "{error:?}");
    assert_eq!(error.class, FailureClass::Refused);
    assert!(
        result.outcomes.iter().all(Option::is_some),
        "what was measured is there"
    );
    let long = Case {
        stop: Stop::Duration {
            duration_ns: 400_000_000,
        },
        ..hosts_case(&[])
    };
    assert_eq!(daemon.run(&long).error.unwrap().class, FailureClass::Refused);
}

#[test]
fn a_death_among_the_servers_ranks_is_told_and_the_daemon_goes_on() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let result = daemon.run(&hosts_case(&[("0", "run"), ("1", "die")]));
    let error = result.error.unwrap();
    assert!(
        error.message.contains("rank 1") && error.message.contains("signal 6"),
        "{error:?}"
    );
    assert_eq!(result.outcomes[0].as_ref().unwrap().stop, StopReason::PeerLost);
    daemon.assert_serves();
    let result = daemon.run(&hosts_case(&[("0", "die"), ("1", "run")]));
    assert!(result.error.unwrap().message.contains("rank 0"));
    assert!(
        result.outcomes[1].is_some(),
        "the server's rank delivers what it has"
    );
    daemon.assert_serves();
}

#[test]
fn a_client_that_goes_frees_its_slot() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let (spec, stop) = (daemon.spec(), StopFlag::new());
    let asked = stop.clone();
    // A client that stops at once and whose server rank does not listen: it leaves while the rank still runs.
    let client = std::thread::spawn(move || {
        let mut options = options();
        options.timing.grace = Duration::from_millis(100);
        let mut events = |event: GroupEvent| {
            if let GroupEvent::Interval { rank: 0, .. } = event {
                asked.request();
                asked.request();
            }
        };
        let case = hosts_case(&[("0", "run"), ("1", "stubborn")]);
        run_case(&spec, &case, &registry(), options, &mut events, &stop)
    });
    assert!(client.join().unwrap().error.is_some());
    let left = Instant::now();
    daemon.assert_serves();
    assert!(
        left.elapsed() < Duration::from_secs(5),
        "the slot was not free in time"
    );
}

#[test]
fn a_stopping_daemon_tells_its_clients() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let stop = daemon.stop.clone();
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Interval { rank: 0, .. } = event {
            stop.request();
        }
    };
    let case = hosts_case(&[("all", "run")]);
    let result = run_case(
        &daemon.spec(),
        &case,
        &registry(),
        options(),
        &mut events,
        &StopFlag::new(),
    );
    let error = result.error.unwrap();
    assert!(error.message.contains("shutting down"), "{error:?}");
    for outcome in &result.outcomes {
        assert_eq!(outcome.as_ref().unwrap().stop, StopReason::Interrupted);
    }
}

#[test]
fn strangers_never_hold_anybody_up() {
    let _deadline = deadline(90);
    let timing = Timing {
        handshake: Duration::from_millis(1500),
        ..Timing::default()
    };
    let daemon = Running::start(ServerLimits::default(), timing);
    let idle: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(daemon.address).unwrap())
        .collect();
    daemon.assert_serves();
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 4096],
        &[0xff; 4096],
        // A frame of 4 GiB, half a frame, and a TLS record that promises more than it brings.
        &[1, 0xff, 0xff, 0xff, 0xff],
        &[1, 100, 0, 0, 0, b'{'],
        &[0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc],
    ];
    let mut noisy = Vec::new();
    for bytes in garbage {
        let mut stream = TcpStream::connect(daemon.address).unwrap();
        stream.write_all(bytes).unwrap();
        noisy.push(stream);
    }
    // Port scanners: connect and go, with and without a reset.
    for _ in 0..50 {
        drop(TcpStream::connect(daemon.address).unwrap());
    }
    daemon.assert_serves();
    for stream in idle.iter().chain(&noisy) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut left = Vec::new();
        // Shown out: the end of the stream or a reset, after an alert at most.
        let ended = (&mut &*stream).read_to_end(&mut left);
        assert!(
            !matches!(ended, Err(e) if e.kind() == std::io::ErrorKind::WouldBlock),
            "a stranger stayed"
        );
        assert!(left.len() < 64);
    }
    daemon.assert_serves();
    assert!(daemon.logged("turned away"));
}

#[test]
fn a_trickling_stranger_is_shown_out_by_the_deadline() {
    let _deadline = deadline(60);
    let timing = Timing {
        handshake: Duration::from_millis(500),
        ..Timing::default()
    };
    let daemon = Running::start(ServerLimits::default(), timing);
    let stream = TcpStream::connect(daemon.address).unwrap();
    // The head of a TLS record, then its body byte by byte: each read of the server succeeds.
    (&stream)
        .write_all(&[0x16, 3, 1, 0x02, 0, 1, 0, 0x01, 0xfc, 3, 3])
        .unwrap();
    eventually("the end of patience", || {
        std::thread::sleep(Duration::from_millis(20));
        (&stream).write_all(&[0]).is_err() || daemon.logged("turned away")
    });
    daemon.assert_serves();
}

/// A wire between a client and the daemon that can be cut, or fall silent.
struct Proxy {
    address: SocketAddr,
    silent: Arc<std::sync::atomic::AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    fn to(target: SocketAddr) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy {
            address: listener.local_addr().unwrap(),
            silent: Arc::default(),
            streams: Arc::default(),
        };
        let (silent, streams) = (proxy.silent.clone(), proxy.streams.clone());
        std::thread::spawn(move || {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(target).unwrap();
            for (from, to) in [(&client, &server), (&server, &client)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                streams.lock().unwrap().push(from.try_clone().unwrap());
                let silent = silent.clone();
                std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(n @ 1..) = from.read(&mut buffer) {
                        if !silent.load(std::sync::atomic::Ordering::Acquire)
                            && to.write_all(&buffer[..n]).is_err()
                        {
                            return;
                        }
                    }
                });
            }
        });
        proxy
    }

    fn cut(&self) {
        for stream in self.streams.lock().unwrap().iter() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

#[test]
fn a_cut_or_silent_wire_is_noticed_by_both_ends() {
    let _deadline = deadline(60);
    let timing = Timing {
        silence: Duration::from_millis(1200),
        ..Timing::default()
    };
    for silent in [false, true] {
        let daemon = Running::start(ServerLimits::default(), timing);
        let proxy = Proxy::to(daemon.address);
        let spec = GroupSpec::Hosts(HostsSpec {
            address: proxy.address.to_string(),
            identity: daemon.identity.clone(),
            remote_ranks: None,
        });
        let mut options = options();
        options.timing = timing;
        let mut events = |event: GroupEvent| match event {
            GroupEvent::Interval { rank: 0, .. } if silent => {
                proxy.silent.store(true, std::sync::atomic::Ordering::Release);
            }
            GroupEvent::Interval { rank: 0, .. } => proxy.cut(),
            _ => {}
        };
        let case = hosts_case(&[("all", "run")]);
        let result = run_case(&spec, &case, &registry(), options, &mut events, &StopFlag::new());
        let error = result.error.unwrap();
        assert!(error.message.contains("the server is lost"), "{error:?}");
        assert_eq!(error.message.contains("silent"), silent, "{error:?}");
        assert!(result.outcomes[0].is_some(), "the survivor delivers");
        assert!(result.outcomes[1].is_none());
        daemon.assert_serves();
    }
}
