//! A starter of ranks as seen from here: what it is asked, and what it tells of its ranks and of itself. It must never wait
//! for the far end while a group runs: what is not known yet is not known.

use super::mux::Mux;
use super::seam::RankProcess;
use super::starter::{ALIVE_EVERY, Answer, Ask, HostHello, RANKS_MAX, SILENCE, TALK, is_late};
use super::talk::{Talk, hear_after};
use crate::session::clean;
use crate::thread::spawn;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
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
    talk: Talk,
    known: Mutex<Known>,
}

impl Shared {
    fn lost(&self) -> Option<String> {
        let known = self.known.lock();
        let why = known.lost.as_ref()?;
        Some(format!("host {} is lost: {why}", self.name))
    }

    fn end(&self, channel: u16, how: String) {
        let mut known = self.known.lock();
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
                if let Some(rank) = self.known.lock().ranks.get_mut(&channel) {
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
            talk: Talk::over(talk),
            known: Mutex::default(),
        });
        let (first, arrived) = mpsc::channel();
        let here = shared.clone();
        let listening = move || {
            let silent = listen(&here, reader, &first);
            if here.known.lock().is_closed {
                return;
            }
            let why = silent.unwrap_or_else(explain);
            here.known.lock().lost = Some(clean(&why));
        };
        let listener = spawn("host", listening)?;
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
            let mut known = self.shared.known.lock();
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
        let ask = Ask::Start {
            channel,
            arguments,
            environment,
        };
        let opened = self.mux.open(channel);
        let started = opened.and_then(|socket| self.shared.talk.say(&ask).map(|()| socket));
        if started.is_err() {
            // Nobody will tell of its end.
            self.shared.known.lock().ranks.remove(&channel);
        }
        Ok((started?, rank))
    }

    /// Why it is lost, once it is.
    pub(crate) fn lost(&self) -> Option<String> {
        self.shared.lost()
    }

    /// Tell it to end; it is not waited for.
    pub(crate) fn close(&self) {
        self.shared.known.lock().is_closed = true;
        self.shared.talk.close();
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
            let _ = shared.talk.say(&Ask::Alive);
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
            .known
            .lock()
            .ranks
            .get(&self.channel)
            .map_or(0, |rank| rank.id)
    }

    fn ended(&mut self) -> Option<String> {
        let told = {
            let known = self.shared.known.lock();
            known.ranks.get(&self.channel).and_then(|rank| rank.ended.clone())
        };
        told.or_else(|| self.shared.lost())
    }

    fn kill(&mut self) {
        // A starter that is gone has taken its ranks with it.
        let _ = self.shared.talk.say(&Ask::Kill {
            channel: self.channel,
        });
    }
}

impl Drop for FarRank {
    fn drop(&mut self) {
        let has_ended = {
            let mut known = self.shared.known.lock();
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
mod tests;
