//! A starter and what sees it from here, over socket pairs, with shells as ranks. Nothing here may wait without an end.

use super::*;
use crate::launch::{starter, stdio};
use std::io::{BufRead as _, Read as _, Write as _};
use std::time::Duration;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pipes there and back.
fn pipes() -> (Mux, UnixStream, UnixStream) {
    let (ours, their_reader) = UnixStream::pair().unwrap();
    let (our_reader, theirs) = UnixStream::pair().unwrap();
    let mux = Mux::over(BufReader::new(our_reader), ours).unwrap();
    (mux, their_reader, theirs)
}

fn silent() -> String {
    "the pipe has ended".to_owned()
}

/// A starter in a thread, whose ranks are shells.
fn starter() -> (Post, HostHello, JoinHandle<io::Result<()>>) {
    let (mux, reader, writer) = pipes();
    let far = Mux::over(BufReader::new(reader), writer).unwrap();
    let thread = std::thread::spawn(move || starter::serve(&far, "/bin/sh".into()));
    let (post, first) = Post::over(mux, "h1", silent).unwrap();
    let hello = first.recv_timeout(PATIENCE).unwrap();
    (post, hello, thread)
}

fn shell(post: &Post, script: &str) -> (UnixStream, FarRank) {
    let environment = vec![("WORD".to_owned(), "hello".to_owned())];
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    let (channel, rank) = post.start(arguments, environment).unwrap();
    channel.set_read_timeout(Some(PATIENCE)).unwrap();
    (channel, rank)
}

fn end(rank: &mut FarRank) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match rank.ended() {
            Some(how) => return how,
            None => assert!(Instant::now() < deadline, "it does not end"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn lost(post: &Post) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match post.lost() {
            Some(why) => return why,
            None => assert!(Instant::now() < deadline, "it is not lost"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn ranks_are_started_heard_killed_and_started_again() {
    let (post, hello, thread) = starter();
    assert_eq!(hello.machine, stdio::machine());
    let (mut a, mut first) = shell(&post, "echo $WORD >&0; read x; exit 3");
    let (_b, mut second) = shell(&post, "exec sleep 600");
    let mut word = [0; 6];
    a.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"hello\n");
    a.write_all(b"go\n").unwrap();
    assert_eq!(end(&mut first), "its process on h1 ended with code 3");
    assert!(first.id() != 0, "what was told before its end is known");
    assert_eq!(a.read(&mut word).unwrap(), 0, "its channel is closed");
    second.kill();
    assert_eq!(end(&mut second), "its process on h1 was killed by signal 9");
    drop((first, second));
    assert!(post.shared.known.lock().ranks.is_empty());
    for _ in 0..3 {
        let (_, mut again) = shell(&post, "exit 0");
        assert_eq!(end(&mut again), "its process on h1 ended with code 0");
    }
    drop(post);
    thread.join().unwrap().unwrap();
}

#[test]
fn ranks_end_with_their_starter_and_those_that_nobody_wants_by_themselves() {
    let (post, _, thread) = starter();
    let (mut a, unwanted) = shell(&post, "exec sleep 600");
    drop(unwanted);
    assert_eq!(a.read(&mut [0]).unwrap(), 0, "it was ended");
    let (mut b, _rank) = shell(&post, "echo $$ >&0; exec sleep 600");
    let mut id = String::new();
    BufReader::new(&b).read_line(&mut id).unwrap();
    let pid = rustix::process::Pid::from_raw(id.trim().parse().unwrap()).unwrap();
    drop(post);
    thread.join().unwrap().unwrap();
    assert_eq!(
        rustix::process::test_kill_process(pid),
        Err(rustix::io::Errno::SRCH)
    );
    assert_eq!(b.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_rank_that_cannot_be_started_says_why() {
    let (mux, reader, writer) = pipes();
    let far = Mux::over(BufReader::new(reader), writer).unwrap();
    std::thread::spawn(move || starter::serve(&far, "/nowhere".into()));
    let (post, _) = Post::over(mux, "h1", silent).unwrap();
    let (mut channel, mut rank) = shell(&post, "");
    assert_eq!(channel.read(&mut [0]).unwrap(), 0);
    let how = end(&mut rank);
    assert!(how.starts_with("it did not start on h1: No such file"), "{how}");
}

#[test]
fn what_is_no_answer_loses_the_host_and_its_ranks() {
    let talk = |text: &str| {
        use base64::Engine as _;
        let engine = base64::engine::general_purpose::STANDARD;
        format!("0 {}\n", engine.encode(text))
    };
    let endless = "1".repeat(2 << 20);
    for (sent, why) in [
        (talk("garbage\n"), "does not speak our language"),
        (
            talk("{\"ended\":{\"channel\":70000,\"how\":\"\"}}\n"),
            "does not speak our language",
        ),
        (
            talk("\"alive\"\n{\"started\":{\"channel\":9,\"id\":1}}\n"),
            "the pipe has ended",
        ),
        ("no line of ours\n".to_owned(), "the pipe has ended"),
        (endless, "the pipe has ended"),
        (String::new(), "the pipe has ended"),
    ] {
        let (mux, _reader, mut writer) = pipes();
        let (post, first) = Post::over(mux, "h1", silent).unwrap();
        let (_channel, mut rank) = shell(&post, "");
        // It may have been left by then.
        let _ = writer.write_all(sent.as_bytes());
        drop(writer);
        let lost = lost(&post);
        assert!(
            lost.starts_with("host h1 is lost: ") && lost.contains(why),
            "{sent:.30}: {lost}"
        );
        assert_eq!(end(&mut rank), lost);
        assert!(first.try_recv().is_err());
        assert!(post.start(Vec::new(), Vec::new()).is_err());
    }
}
