//! A node on the other side of a launcher's pipes: greeted, asked, heard. It must never wait for a node whose launcher has
//! ended, or past the user's patience.

use crate::Tell;
use crate::definition::Computation;
use crate::failed;
use crate::say::{Work, hear, say};
use crate::stdio_node::{Answer, Ask, GREETING, Hello, TALK};
use parking_lot::Mutex;
use std::io::{self, BufReader};
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use wirespeed_control::launch::child::LauncherChild;
use wirespeed_control::launch::greeted::{NoGreeting, greeted};
use wirespeed_control::launch::mux::Mux;
use wirespeed_control::thread::{drop_side_by_side, spawn};
use wirespeed_control::{Failure, StopFlag};

/// A node must have said its first word, or given any other answer, by then: the binary may have to travel, Slurm to find a
/// place, and a host that others load takes its time to start a process. One that is gone is noticed at once, by its pipe.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Between two looks at the stop flag and the launcher.
const LOOK: Duration = Duration::from_millis(20);

/// A node on the other side of a launcher's pipes.
pub(crate) struct Outpost {
    /// What it said first.
    pub(crate) hello: Hello,
    pub(crate) talk: UnixStream,
    answers: Receiver<Answer>,
    /// We have no more use for it: that it ends says nothing.
    released: Arc<AtomicBool>,
    pub(crate) mux: Mux,
    pub(crate) child: LauncherChild,
}

/// The end of a computation before its session's.
pub(crate) type Early = Arc<Mutex<Option<Failure>>>;

/// Hear the node in a thread of its own: early ends are noted, answers are passed on.
fn listen(talk: &UnixStream, early: Early, released: Arc<AtomicBool>) -> io::Result<Receiver<Answer>> {
    let mut reader = BufReader::new(talk.try_clone()?);
    let (sender, answers) = mpsc::channel();
    let note = move |failure: Failure| {
        let mut early = early.lock();
        early.get_or_insert(failure);
    };
    spawn("node", move || {
        let mut has_ended = false;
        while let Ok(Some(answer)) = hear::<Answer>(&mut reader) {
            has_ended |= matches!(answer, Answer::Ended(_));
            match answer {
                Answer::Died(why) => note(why.cleaned()),
                answer => {
                    if sender.send(answer).is_err() {
                        return;
                    }
                }
            }
        }
        if !has_ended && !released.load(Ordering::Acquire) {
            note(failed(
                "a node of the session is lost: its launcher's pipe has closed",
                "look at the launcher's messages, and run again",
            ));
        }
    })?;
    Ok(answers)
}

impl Outpost {
    /// Wait for a node's first word; `explain` makes a failure of what its launcher said instead. From then on `tell` has
    /// what the launcher says.
    pub(crate) fn meet(
        mut child: LauncherChild,
        stop: &StopFlag,
        early: &Early,
        tell: &Tell,
        explain: impl Fn(&str) -> Failure,
    ) -> Result<Outpost, Failure> {
        let greeted = greeted(&mut child, GREETING, ANSWER_TIME, stop);
        let mux = greeted.map_err(|error| {
            // There is nothing more to wait for.
            child.hurry();
            match error {
                NoGreeting::Said(said) => explain(&said),
                NoGreeting::Interrupted => failed("interrupted", "run again"),
                NoGreeting::Failed(error) => lost(error),
            }
        })?;
        let talk = mux.open(TALK).map_err(lost)?;
        let released = Arc::default();
        let answers = listen(&talk, early.clone(), Arc::clone(&released)).map_err(lost)?;
        let mut outpost = Outpost {
            hello: Hello::default(),
            talk,
            answers,
            released,
            mux,
            child,
        };
        match outpost.answer(stop)? {
            Answer::Hello(hello) => outpost.hello = hello,
            _ => return Err(strange()),
        }
        outpost.child.pass_on(tell.clone());
        Ok(outpost)
    }

    /// Its next answer.
    pub(crate) fn answer(&self, stop: &StopFlag) -> Result<Answer, Failure> {
        let deadline = Instant::now() + ANSWER_TIME;
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(Answer::Failed(why)) => return Err(why.cleaned()),
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
    pub(crate) fn start(
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

impl Drop for Outpost {
    fn drop(&mut self) {
        self.released.store(true, Ordering::Release);
    }
}

/// Nodes, which end side by side when they are dropped: one whose host is silent takes its launcher's patience.
#[derive(Default)]
pub(crate) struct Outposts(Vec<Outpost>);

impl Outposts {
    /// All that were begun, or why one was not.
    pub(crate) fn all(begun: Vec<Result<Outpost, Failure>>) -> Result<Outposts, Failure> {
        let (mut all, mut failed) = (Outposts::default(), None);
        for one in begun {
            match one {
                Ok(outpost) => all.0.push(outpost),
                Err(why) => failed = failed.or(Some(why)),
            }
        }
        failed.map_or(Ok(all), Err)
    }

    /// One more.
    pub(crate) fn push(&mut self, outpost: Outpost) {
        self.0.push(outpost);
    }

    /// Let those go that are not at one of these places.
    pub(crate) fn keep(&mut self, places: &[usize]) {
        let all = self.0.drain(..).enumerate();
        let (kept, others): (Vec<_>, Vec<_>) = all.partition(|(at, _)| places.contains(at));
        let plain =
            |numbered: Vec<(usize, Outpost)>| numbered.into_iter().map(|(_, outpost)| outpost).collect();
        self.0 = plain(kept);
        drop(Outposts(plain(others)));
    }
}

impl Deref for Outposts {
    type Target = [Outpost];

    fn deref(&self) -> &[Outpost] {
        &self.0
    }
}

impl Drop for Outposts {
    fn drop(&mut self) {
        let count = self.0.len();
        drop_side_by_side(self.0.drain(..), count);
    }
}

/// The pipe does not carry what is said.
pub(crate) fn lost(error: io::Error) -> Failure {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// What is noted of a node whose pipe closes.
    fn noted(is_released: bool) -> Option<Failure> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let early = Early::default();
        let answers = listen(&ours, early.clone(), Arc::new(AtomicBool::new(is_released))).unwrap();
        drop(theirs);
        // Its thread ends after the note.
        assert!(answers.recv().is_err());
        let noted = early.lock();
        noted.clone()
    }

    /// A node whose launcher does `script`.
    fn outpost(script: &str) -> Outpost {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        Outpost {
            hello: Hello::default(),
            talk: UnixStream::pair().unwrap().0,
            answers: mpsc::channel().1,
            released: Arc::default(),
            mux: Mux::over(io::empty(), io::sink()).unwrap(),
            child: LauncherChild::start(command).unwrap(),
        }
    }

    /// Each ends when both are asked to; one after the other, the first would have to be ended by force.
    #[test]
    fn nodes_that_are_let_go_end_side_by_side() {
        for has_failed in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let script = |own: &str| {
                let folder = folder.path().display();
                format!(
                    "cat > /dev/null; cd {folder}; : > {own}; until [ -e a ] && [ -e b ]; do sleep 0.05; done; : > {own}.whole"
                )
            };
            let mut begun = vec![Ok(outpost(&script("a"))), Ok(outpost(&script("b")))];
            match has_failed {
                true => {
                    begun.insert(1, Err(failed("x", "y")));
                    assert!(Outposts::all(begun).is_err());
                }
                false => {
                    begun.insert(1, Ok(outpost("cat > /dev/null")));
                    let mut all = Outposts::all(begun).unwrap_or_else(|why| panic!("{why:?}"));
                    all.keep(&[1]);
                    assert_eq!(all.len(), 1);
                }
            }
            for name in ["a.whole", "b.whole"] {
                assert!(folder.path().join(name).exists(), "{name}, {has_failed}");
            }
        }
    }

    #[test]
    fn a_node_is_lost_when_its_pipe_closes_unless_it_was_released() {
        assert!(noted(false).is_some_and(|why| why.message.contains("is lost")));
        assert!(noted(true).is_none());
    }
}
