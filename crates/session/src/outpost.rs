//! A node on the other side of a launcher's pipes: greeted, asked, heard. It must never wait for a node whose launcher has
//! ended, or past the user's patience.

use crate::Tell;
use crate::definition::Computation;
use crate::failed;
use crate::say::{Work, hear, say};
use crate::stdio_node::{Answer, Ask, GREETING, Hello, TALK};
use parking_lot::Mutex;
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use wirespeed_control::launch::child::LauncherChild;
use wirespeed_control::launch::greeted::{NoGreeting, greeted};
use wirespeed_control::launch::mux::Mux;
use wirespeed_control::thread::spawn;
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

    #[test]
    fn a_node_is_lost_when_its_pipe_closes_unless_it_was_released() {
        assert!(noted(false).is_some_and(|why| why.message.contains("is lost")));
        assert!(noted(true).is_none());
    }
}
