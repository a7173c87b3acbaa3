//! What starts ranks on a host that a launcher reaches (`wirespeed __ranks`): one small process, asked over its standard
//! input and output, which also carry the control channels of its ranks. It ends with its pipe, or when nothing comes
//! through it any more, and no rank of it ever outlives it.

use super::mux::Mux;
use super::program::RankProgram;
use super::seam::describe;
use super::stdio::{self, Whereabouts};
use super::talk::{Talk, hear_after};
use crate::session::hello;
use crate::thread::spawn;
use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wirespeed_schema::message::Hello;

/// The line before which everything on the way here is noise of somebody's shell.
pub(crate) const GREETING: &str = "wirespeed ranks, protocol 1";
/// The socket on which the two talk; every other is the control channel of a rank.
pub(crate) const TALK: u16 = 0;
/// Each says something this often.
pub(crate) const ALIVE_EVERY: Duration = Duration::from_secs(5);
/// One that says nothing this long is lost: a launcher's own watch is quicker, where it has one.
pub(crate) const SILENCE: Duration = Duration::from_secs(30);
/// Most ranks of one host at a time.
pub(crate) const RANKS_MAX: usize = 1024;

/// What a starter is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// Start a rank; its control channel is this socket.
    Start {
        channel: u16,
        arguments: Vec<String>,
        environment: Vec<(String, String)>,
    },
    /// End that rank by force.
    Kill { channel: u16 },
    /// Nothing but a sign of life.
    Alive,
}

/// What a starter tells.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The first word.
    Hello(Box<HostHello>),
    /// A rank runs; its process.
    Started { channel: u16, id: u32 },
    /// A rank could not be started.
    Failed { channel: u16, why: String },
    /// A rank has ended.
    Ended { channel: u16, how: String },
    /// Nothing but a sign of life.
    Alive,
}

/// A host, as its starter describes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HostHello {
    pub(crate) hello: Hello,
    pub(crate) machine: String,
    pub(crate) architecture: String,
    pub(crate) address: Option<IpAddr>,
    pub(crate) client_address: Option<IpAddr>,
}

impl HostHello {
    fn here() -> Self {
        let whereabouts = Whereabouts::find();
        HostHello {
            hello: hello(),
            machine: stdio::machine(),
            architecture: std::env::consts::ARCH.to_owned(),
            address: whereabouts.address,
            client_address: whereabouts.client_address,
        }
    }
}

/// Start ranks of this program for whoever is at the other end of standard input and output, until that is gone;
/// `travelled` where the program is a copy that was sent ahead. The value is the exit code; 2 when nobody else is there.
pub fn run(travelled: bool) -> u8 {
    if stdio::is_typed() {
        return 2;
    }
    if travelled {
        stdio::remove_own_copy();
    }
    // The file may have no name any more; this is the file itself.
    let program = PathBuf::from("/proc/self/exe");
    u8::from(
        stdio::pipes(GREETING)
            .and_then(|mux| serve(&mux, program))
            .is_err(),
    )
}

/// Do what is asked until nobody asks any more.
pub(crate) fn serve(mux: &Mux, program: PathBuf) -> io::Result<()> {
    let socket = mux.open(TALK)?;
    socket.set_read_timeout(Some(ALIVE_EVERY))?;
    socket.set_write_timeout(Some(SILENCE))?;
    let mut reader = BufReader::new(socket.try_clone()?);
    let starter = Starter {
        mux,
        program,
        talk: Talk::over(socket),
        ranks: Ranks::default(),
    };
    starter.talk.say(&Answer::Hello(Box::new(HostHello::here())))?;
    let (mut begun, mut heard, mut said) = (Vec::new(), Instant::now(), Instant::now());
    loop {
        match hear_after::<Ask>(&mut reader, &mut begun) {
            Ok(None) => return Ok(()),
            Ok(Some(ask)) => {
                heard = Instant::now();
                starter.answer(ask)?;
            }
            Err(error) if is_late(&error) && heard.elapsed() < SILENCE => {}
            Err(error) => return Err(error),
        }
        if said.elapsed() >= ALIVE_EVERY {
            said = Instant::now();
            starter.talk.say(&Answer::Alive)?;
        }
    }
}

/// Whether `error` says that nothing came in time.
pub(crate) fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Ranks that run, by channel. Dropped by the starter, all of them are ended.
#[derive(Clone, Default)]
struct Ranks(Arc<Mutex<BTreeMap<u16, Child>>>);

impl Ranks {
    /// Wait for the end of the rank of `channel`; how it ended, unless it was ended with all others.
    fn wait(&self, channel: u16, id: u32) -> Option<String> {
        let pid = Pid::from_raw(id.cast_signed())?;
        // It is left for its owner to reap, so that its number stays its own until then.
        let asleep = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), asleep), Err(Errno::INTR)) {}
        let mut child = self.0.lock().remove(&channel)?;
        child.wait().ok().map(describe)
    }

    fn end(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        for (_, mut child) in all {
            // It may have ended; then there is nothing to kill.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

struct Starter<'a> {
    mux: &'a Mux,
    program: PathBuf,
    talk: Talk,
    ranks: Ranks,
}

impl Drop for Starter<'_> {
    fn drop(&mut self) {
        self.ranks.end();
    }
}

impl Starter<'_> {
    fn answer(&self, ask: Ask) -> io::Result<()> {
        match ask {
            Ask::Alive => Ok(()),
            Ask::Kill { channel } => {
                if let Some(child) = self.ranks.0.lock().get_mut(&channel) {
                    // It may have ended meanwhile.
                    let _ = child.kill();
                }
                Ok(())
            }
            Ask::Start {
                channel,
                arguments,
                environment,
            } => {
                let program = RankProgram {
                    path: self.program.clone(),
                    arguments: arguments.into_iter().map(Into::into).collect(),
                    environment: environment
                        .into_iter()
                        .map(|(key, value)| (key.into(), value.into()))
                        .collect(),
                };
                let Err(error) = self.start(channel, &program) else {
                    return Ok(());
                };
                // Whoever waits at its channel is told, too.
                drop(self.mux.open(channel)?);
                let why = error.to_string();
                self.talk.say(&Answer::Failed { channel, why })
            }
        }
    }

    fn start(&self, channel: u16, program: &RankProgram) -> io::Result<()> {
        let is_free = {
            let ranks = self.ranks.0.lock();
            channel != TALK && ranks.len() < RANKS_MAX && !ranks.contains_key(&channel)
        };
        if !is_free {
            return Err(io::Error::other("it has no room for another rank"));
        }
        let (channel_end, child) = program.spawn()?;
        let id = child.id();
        self.ranks.0.lock().insert(channel, child);
        let started = self.talk.say(&Answer::Started { channel, id });
        let watched = started.and_then(|()| self.watch(channel, id));
        watched
            .and_then(|()| self.mux.attach(channel, channel_end))
            .inspect_err(|_| {
                if let Some(mut child) = self.ranks.0.lock().remove(&channel) {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            })
    }

    /// Tell how it ends.
    fn watch(&self, channel: u16, id: u32) -> io::Result<()> {
        let (ranks, talk) = (self.ranks.clone(), self.talk.clone());
        let watching = move || {
            if let Some(how) = ranks.wait(channel, id) {
                // Nobody listens any more when the other end is gone.
                let _ = talk.say(&Answer::Ended { channel, how });
            }
        };
        spawn("end", watching).map(drop)
    }
}
