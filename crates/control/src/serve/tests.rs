//! What only a client that breaks the rules can show: it speaks the protocol by hand.

use super::{Daemon, Listen, Log, ServeOptions, Served};
use crate::auth::keyfile::KeyFile;
use crate::auth::{Identity, tls};
use crate::error::ControlError;
use crate::frame::FrameLimits;
use crate::launch::program::RankProgram;
use crate::session::{Timing, hello};
use crate::stop::StopFlag;
use crate::wire::{Packet, ReceiveError, Receiver, Sender, Wire, tls as tls_wire};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wirespeed::Registry;
use wirespeed_schema::message::{Blob, Hello, RefusalCode, ServerLimits, SessionMessage};
use wirespeed_schema::version::PROTOCOL_VERSION;

const RANK_VARIABLE: &str = "WIRESPEED_TEST_RANK";
const PATIENCE: Duration = Duration::from_secs(20);

/// Entered by the rank processes of these tests; their registry is empty, so that every case fails at once.
#[test]
fn rank_entry() {
    if std::env::var_os(RANK_VARIABLE).is_some() {
        std::process::exit(crate::agent::run_stdio_agent(&Registry::empty()).into());
    }
}

struct Fixture {
    address: SocketAddr,
    identity: Identity,
    stop: StopFlag,
    thread: Option<JoinHandle<Result<Served, ControlError>>>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new(timing: Timing) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::load_or_make(&folder.path().join("key")).unwrap();
        let options = ServeOptions {
            once: false,
            cpus: None,
            listen: Listen::Loopback,
            port: 0,
            limits: ServerLimits::default(),
            timing,
            program: RankProgram {
                path: std::env::current_exe().unwrap(),
                arguments: ["serve::tests::rank_entry", "--exact", "--nocapture"]
                    .map(Into::into)
                    .to_vec(),
                environment: vec![(RANK_VARIABLE.into(), "1".into())],
            },
        };
        let stop = StopFlag::new();
        let log: Log = Arc::new(|_| ());
        let daemon = Daemon::bind(options, &key, &stop, log).unwrap();
        Fixture {
            address: daemon.addresses()[0],
            identity: key.identity().clone(),
            stop,
            thread: Some(std::thread::spawn(move || daemon.run())),
            _folder: folder,
        }
    }

    /// A connection after its handshake, with the proof that belongs to it.
    fn connect(&self) -> (Arc<tls_wire::TlsWire>, Receiver, Vec<u8>) {
        let stream = TcpStream::connect(self.address).unwrap();
        let mut connection = tls::client(&self.identity, tls::ALPN).unwrap();
        tls::shake_hands(&stream, &mut connection, Instant::now() + PATIENCE).unwrap();
        let proof = self.identity.prove(&tls::channel_value(&connection).unwrap());
        let (wire, reader) = tls_wire::halves(stream, connection).unwrap();
        (
            wire,
            Receiver::new(Box::new(reader), FrameLimits::OUTCOMES),
            proof,
        )
    }

    /// A session by hand.
    fn session(&self) -> (Arc<tls_wire::TlsWire>, Sender, Receiver) {
        let (wire, mut receiver, proof) = self.connect();
        let sender = Sender::new(wire.clone());
        sender.message(&greeting(proof, |_| ())).unwrap();
        assert!(matches!(
            next(&mut receiver),
            Some(SessionMessage::Welcome { .. })
        ));
        (wire, sender, receiver)
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

fn greeting(proof: Vec<u8>, change: impl FnOnce(&mut Hello)) -> SessionMessage {
    let mut first = Hello {
        proof: Some(Blob(proof)),
        ..hello()
    };
    change(&mut first);
    SessionMessage::Hello(first)
}

/// The next message that is no ping; `None` at the end of the connection.
fn next(receiver: &mut Receiver) -> Option<SessionMessage> {
    loop {
        match receiver.receive(Some(PATIENCE)) {
            Ok(Packet::Message(SessionMessage::Ping)) => {}
            Ok(Packet::Message(message)) => return Some(message),
            Err(ReceiveError::TimedOut) => panic!("the daemon says nothing"),
            _ => return None,
        }
    }
}

fn start(run: u64) -> SessionMessage {
    let case = serde_json::json!({
        "test": "am_lat", "size_bytes": 8, "layout": "short", "transport": "none", "group": "hosts",
        "ranks": [{"role": "source"}, {"role": "sink"}], "stop": {"by": "iterations", "count": 1},
        "warmup_iterations": 0, "warmup_ns_max": 0, "idle": "yield",
    });
    SessionMessage::Start {
        run,
        ranks: vec![1],
        case: wirespeed_schema::circle::CasePart::whole(&serde_json::from_value(case).unwrap()),
        together: false,
        fresh: false,
        turn: None,
    }
}

fn until_done(receiver: &mut Receiver, wanted: u64) {
    loop {
        match next(receiver).expect("the session ended") {
            SessionMessage::Done { run, .. } if run == wanted => return,
            SessionMessage::Refused(refusal) => panic!("{refusal:?}"),
            _ => {}
        }
    }
}

#[test]
fn versions_that_do_not_meet_are_explained_and_wider_ones_agree() {
    let fixture = Fixture::new(Timing::default());
    let (wire, mut receiver, proof) = fixture.connect();
    let newer = greeting(proof, |hello| {
        hello.protocol_min = PROTOCOL_VERSION + 1;
        hello.protocol_max = PROTOCOL_VERSION + 2;
    });
    Sender::new(wire).message(&newer).unwrap();
    let Some(SessionMessage::Refused(refusal)) = next(&mut receiver) else {
        panic!("not refused");
    };
    assert_eq!(refusal.code, RefusalCode::Version);
    let (wire, mut receiver, proof) = fixture.connect();
    let wider = greeting(proof, |hello| hello.protocol_max = PROTOCOL_VERSION + 2);
    Sender::new(wire).message(&wider).unwrap();
    let welcome = next(&mut receiver);
    assert!(
        matches!(welcome, Some(SessionMessage::Welcome { protocol, .. }) if protocol == PROTOCOL_VERSION)
    );
}

#[test]
fn a_proof_of_another_connection_is_worth_nothing() {
    let fixture = Fixture::new(Timing::default());
    let (_, _, replayed) = fixture.connect();
    for proof in [replayed, Vec::new()] {
        let (wire, mut receiver, _) = fixture.connect();
        Sender::new(wire).message(&greeting(proof, |_| ())).unwrap();
        let Some(SessionMessage::Refused(refusal)) = next(&mut receiver) else {
            panic!("not refused");
        };
        assert_eq!(refusal.code, RefusalCode::Identity);
    }
}

#[test]
fn oversized_and_malformed_frames_end_only_their_own_session() {
    let fixture = Fixture::new(Timing::default());
    let (_wire, sender, mut receiver) = fixture.session();
    // Before the hello: more than a stranger may send.
    let (wire, mut strange, _) = fixture.connect();
    wire.send(&[1, 0x00, 0x20, 0, 0]).unwrap();
    assert!(next(&mut strange).is_none());
    // After it: 4 GiB, an outcome, no JSON, nested JSON.
    let nested = [&[1, 0, 0x10, 0, 0][..], &[b'['; 4096]].concat();
    let frames: [&[u8]; 4] = [
        &[1, 0xff, 0xff, 0xff, 0xff],
        &[2, 1, 0, 0, 0, b'1'],
        &[1, 1, 0, 0, 0, 0xff],
        &nested,
    ];
    for bytes in frames {
        let (wire, _, mut receiver) = fixture.session();
        wire.send(bytes).unwrap();
        while let Some(message) = next(&mut receiver) {
            assert_eq!(message, SessionMessage::Bye);
        }
    }
    // A message of a later protocol changes nothing.
    let later = br#"{"type":"teleport"}"#;
    let frame = [&[1, later.len() as u8, 0, 0, 0][..], later].concat();
    _wire.send(&frame).unwrap();
    sender.message(&start(1)).unwrap();
    until_done(&mut receiver, 1);
}

#[test]
fn a_silent_or_idle_holder_loses_its_slot_to_those_who_wait() {
    let timing = Timing {
        lease: Duration::from_millis(600),
        ..Timing::default()
    };
    let fixture = Fixture::new(timing);
    let (_wire, sender, mut receiver) = fixture.session();
    sender.message(&start(1)).unwrap();
    until_done(&mut receiver, 1);
    // It holds the slot, says nothing more, and answers no ping.
    let (_other_wire, other, mut answers) = fixture.session();
    other.message(&start(7)).unwrap();
    until_done(&mut answers, 7);
    while let Some(message) = next(&mut receiver) {
        assert_eq!(message, SessionMessage::Bye, "it is told, and shown out");
    }
}

#[test]
fn a_case_out_of_turn_ends_the_session() {
    let fixture = Fixture::new(Timing::default());
    let (_holder, sender, mut receiver) = fixture.session();
    sender.message(&start(1)).unwrap();
    until_done(&mut receiver, 1);
    let (_wire, greedy, mut answers) = fixture.session();
    greedy.message(&start(1)).unwrap();
    assert!(matches!(
        next(&mut answers),
        Some(SessionMessage::Queued {
            sessions_ahead: 1,
            ..
        })
    ));
    greedy.message(&start(2)).unwrap();
    while let Some(message) = next(&mut answers) {
        assert_eq!(message, SessionMessage::Bye);
    }
}
