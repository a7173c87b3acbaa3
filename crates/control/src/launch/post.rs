//! A starter of ranks as seen from here: what it is asked, and what it tells of its ranks and of itself. It must never wait
//! for the far end while a group runs: what is not known yet is not known.

use super::mux::Mux;
use super::seam::RankProcess;
use super::starter::{ALIVE_EVERY, Answer, Ask, HostHello, RANKS_MAX, SILENCE, TALK, is_late};
use super::talk::{hear_after, say};
use crate::session::clean;
use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// What is known of a starter.
#[derive(Default)]
struct Known {
    ranks: BTreeMap<u16, Rank>,
    last_channel: u16,
    /// Why nothing more will come.
    lost: Option<String>,
    /// We have closed it ourselves.
    is_closed: bool,
}

#[derive(Default)]
struct Rank {
    id: u32,
    ended: Option<String>,
    /// Nobody asks about it any more.
    is_forgotten: bool,
}

/// What the listener and the ranks share.
struct Shared {
    name: String,
    talk: Mutex<UnixStream>,
    known: Mutex<Known>,
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, ask: &Ask) -> io::Result<()> {
        say(&self.talk.lock().unwrap_or_else(PoisonError::into_inner), ask)
    }

    fn lost(&self) -> Option<String> {
        let known = self.known();
        let why = known.lost.as_ref()?;
        Some(format!("host {} is lost: {why}", self.name))
    }

    fn end(&self, channel: u16, how: String) {
        let mut known = self.known();
        match known.ranks.get_mut(&channel) {
            Some(rank) if rank.is_forgotten => {
                known.ranks.remove(&channel);
            }
            Some(rank) => rank.ended = Some(how),
            None => {}
        }
    }

    /// Take note of what it tells; its first word goes to whoever waits for it.
    fn take(&self, answer: Answer, first: &Sender<HostHello>) {
        match answer {
            Answer::Alive => {}
            Answer::Hello(hello) => {
                // Nobody waits for a second one.
                let _ = first.send(*hello);
            }
            Answer::Started { channel, id } => {
                if let Some(rank) = self.known().ranks.get_mut(&channel) {
                    rank.id = id;
                }
            }
            Answer::Failed { channel, why } => {
                self.end(
                    channel,
                    format!("it did not start on {}: {}", self.name, clean(&why)),
                );
            }
            Answer::Ended { channel, how } => {
                let how = clean(&how);
                let how = match how.strip_prefix("its process ") {
                    Some(rest) => format!("its process on {} {rest}", self.name),
                    None => format!("{}: {how}", self.name),
                };
                self.end(channel, how);
            }
        }
    }
}

/// A starter of ranks on the other side of a launcher's pipes. Dropped, it is told to end.
pub(crate) struct Post {
    shared: Arc<Shared>,
    mux: Mux,
    listener: Option<JoinHandle<()>>,
}

impl Post {
    /// The starter behind `mux`, on the host `name`, and where its first word arrives. `explain` is asked once, when nothing
    /// more comes although we have not closed it.
    pub(crate) fn over(
        mux: Mux,
        name: &str,
        explain: impl FnOnce() -> String + Send + 'static,
    ) -> io::Result<(Post, Receiver<HostHello>)> {
        let talk = mux.open(TALK)?;
        talk.set_write_timeout(Some(ALIVE_EVERY))?;
        let reader = talk.try_clone()?;
        reader.set_read_timeout(Some(ALIVE_EVERY))?;
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            talk: Mutex::new(talk),
            known: Mutex::default(),
        });
        let (first, arrived) = mpsc::channel();
        let here = shared.clone();
        let listening = move || {
            let silent = listen(&here, reader, &first);
            if here.known().is_closed {
                return;
            }
            let why = silent.unwrap_or_else(explain);
            here.known().lost = Some(clean(&why));
        };
        let listener = std::thread::Builder::new().name("host".into()).spawn(listening)?;
        let post = Post {
            shared,
            mux,
            listener: Some(listener),
        };
        Ok((post, arrived))
    }

    /// Have a rank started: its control channel, and its process as far as it is known.
    pub(crate) fn start(
        &self,
        arguments: Vec<String>,
        environment: Vec<(String, String)>,
    ) -> io::Result<(UnixStream, FarRank)> {
        if let Some(lost) = self.lost() {
            return Err(io::Error::other(lost));
        }
        let channel = {
            let mut known = self.shared.known();
            if known.ranks.len() >= RANKS_MAX {
                let text = format!("{} has {RANKS_MAX} ranks already", self.shared.name);
                return Err(io::Error::other(text));
            }
            loop {
                known.last_channel = known.last_channel.wrapping_add(1);
                let channel = known.last_channel;
                if channel != TALK && !known.ranks.contains_key(&channel) {
                    known.ranks.insert(channel, Rank::default());
                    break channel;
                }
            }
        };
        let rank = FarRank {
            shared: self.shared.clone(),
            channel,
        };
        let socket = self.mux.open(channel)?;
        self.shared.say(&Ask::Start {
            channel,
            arguments,
            environment,
        })?;
        Ok((socket, rank))
    }

    /// Why it is lost, once it is.
    pub(crate) fn lost(&self) -> Option<String> {
        self.shared.lost()
    }

    /// Tell it to end; it is not waited for.
    pub(crate) fn close(&self) {
        self.shared.known().is_closed = true;
        let talk = self.shared.talk.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is closed already needs no closing.
        let _ = talk.shutdown(Shutdown::Both);
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.close();
        if let Some(listener) = self.listener.take() {
            // It cannot panic.
            let _ = listener.join();
        }
    }
}

/// Hear the starter until nothing more comes; why, where it fell silent.
fn listen(shared: &Shared, reader: UnixStream, first: &Sender<HostHello>) -> Option<String> {
    let mut reader = BufReader::new(reader);
    let (mut begun, mut heard, mut said) = (Vec::new(), Instant::now(), Instant::now());
    loop {
        match hear_after::<Answer>(&mut reader, &mut begun) {
            Ok(Some(answer)) => {
                heard = Instant::now();
                shared.take(answer, first);
            }
            Err(error) if is_late(&error) && heard.elapsed() < SILENCE => {}
            Err(error) if is_late(&error) => return Some(format!("silent for {} s", SILENCE.as_secs())),
            Ok(None) => return None,
            Err(error) => return Some(format!("it does not speak our language: {error}")),
        }
        if said.elapsed() >= ALIVE_EVERY {
            said = Instant::now();
            // A pipe that is gone shows as the end of what comes.
            let _ = shared.say(&Ask::Alive);
        }
    }
}

/// A rank's process on another host. Dropped before its end, it is ended.
pub(crate) struct FarRank {
    shared: Arc<Shared>,
    channel: u16,
}

impl RankProcess for FarRank {
    fn id(&self) -> u32 {
        self.shared
            .known()
            .ranks
            .get(&self.channel)
            .map_or(0, |rank| rank.id)
    }

    fn ended(&mut self) -> Option<String> {
        let told = {
            let known = self.shared.known();
            known.ranks.get(&self.channel).and_then(|rank| rank.ended.clone())
        };
        told.or_else(|| self.shared.lost())
    }

    fn kill(&mut self) {
        // A starter that is gone has taken its ranks with it.
        let _ = self.shared.say(&Ask::Kill {
            channel: self.channel,
        });
    }
}

impl Drop for FarRank {
    fn drop(&mut self) {
        let has_ended = {
            let mut known = self.shared.known();
            match known.ranks.get_mut(&self.channel) {
                Some(rank) if rank.ended.is_none() => {
                    rank.is_forgotten = true;
                    false
                }
                _ => {
                    known.ranks.remove(&self.channel);
                    true
                }
            }
        };
        if !has_ended {
            self.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::starter;
    use super::*;
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
        assert_eq!(hello.machine, super::super::stdio::machine());
        let (mut a, mut first) = shell(&post, "echo $WORD >&0; read x; exit 3");
        let (_b, mut second) = shell(&post, "sleep 600");
        let mut word = [0; 6];
        a.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"hello\n");
        assert!(first.id() != 0, "it is known by then");
        a.write_all(b"go\n").unwrap();
        assert_eq!(end(&mut first), "its process on h1 ended with code 3");
        assert_eq!(a.read(&mut word).unwrap(), 0, "its channel is closed");
        second.kill();
        assert_eq!(end(&mut second), "its process on h1 was killed by signal 9");
        drop((first, second));
        assert!(post.shared.known().ranks.is_empty());
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
}
