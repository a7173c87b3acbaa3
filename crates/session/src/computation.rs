//! A computation's process: it becomes what its node tells it to be, works when everybody is ready, takes part in
//! measurements as a rank, and ends when told to, or when its node or client is gone.
//!
//! Its standard input is its rank's control channel, its standard output the socket to its node, its standard error
//! its log. It must never outlive its node.

use crate::groups;
use crate::say::{LogTo, Order, Said, Work, hear};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Signal, getpid, kill_process};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wirespeed::Registry;
use wirespeed::host::resident_ever_bytes;
use wirespeed::load::{Background, FloodWatch, LogTarget, flood};
use wirespeed_control::agent::{Here, run_stdio_agent};
use wirespeed_control::launch::talk::Talk;
use wirespeed_control::thread::spawn;
use wirespeed_schema::units::nanoseconds;

/// One that has said its last word is ended by its node, which reads its groups' counters first; it waits for so long.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// So long a flood may take to write what it was asked for, once the computation is to end.
const FLOOD_GRACE: Duration = Duration::from_millis(400);
/// So long its threads then may take to end behind their lines: one whose log takes nothing does not.
const FLOOD_WAIT: Duration = Duration::from_millis(200);
const FLOOD_LOOK: Duration = Duration::from_millis(1);

/// Be a computation until told to end. The value is the exit code; 2 when this was no node's doing.
pub fn run(registry: &Registry) -> u8 {
    let Some((talk, reader)) = sockets() else {
        return 2;
    };
    let mut reader = BufReader::new(reader);
    let Ok(Some(Order::Be { work, cpus, groups })) = hear(&mut reader) else {
        return 1;
    };
    // Under pressure the kernel ends computations before anything else of the user. Refused: all are equal.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    if let Some(cpus) = cpus
        && let Err(error) = wirespeed::host::restrict_thread(&cpus)
    {
        let why = error.to_string();
        tell(&talk, &Said::Failed { why });
        return 1;
    }
    let busy_threads = u32::try_from(work.load.threads()).unwrap_or(u32::MAX);
    let Ok(worker) = spawn("orders", move || obey(reader, talk, &work, &groups)) else {
        return 1;
    };
    run_stdio_agent(Here::from(registry).with_busy_threads(busy_threads));
    // Its client has gone; the node says when to end.
    worker.join().unwrap_or(1)
}

fn sockets() -> Option<(Talk, UnixStream)> {
    let talk = UnixStream::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    talk.peer_addr().ok()?;
    let reader = talk.try_clone().ok()?;
    Some((Talk::over(talk), reader))
}

/// Do what the node says, until it ends this process or is gone itself.
fn obey(mut reader: BufReader<UnixStream>, talk: Talk, work: &Work, groups: &[PathBuf]) -> u8 {
    let talk = &talk;
    tell(talk, &Said::Ready);
    let (mut background, mut flooding) = (None, None);
    let mut began = (Instant::now(), cpu_ns());
    loop {
        match hear::<Order>(&mut reader) {
            Ok(Some(Order::Go)) => {
                began = (Instant::now(), cpu_ns());
                match begin(talk, work) {
                    Ok(begun) => (background, flooding) = begun,
                    Err(why) => {
                        tell(talk, &Said::Failed { why });
                        await_end(reader, groups)
                    }
                }
            }
            Ok(Some(Order::Stop)) => {
                if let Some(flooding) = flooding.take() {
                    Flooding::end(flooding, talk);
                }
                let done = Said::Done {
                    cpu_ns: cpu_ns().saturating_sub(began.1),
                    elapsed_ns: nanoseconds(began.0.elapsed()),
                    load_done: background.take().map(Background::stop).unwrap_or_default(),
                    resident_max_bytes: resident_ever_bytes(),
                };
                tell(talk, &done);
                await_end(reader, groups)
            }
            Ok(Some(Order::Be { .. })) => {}
            Ok(None) | Err(_) => vanish(groups),
        }
    }
}

/// The last word is said. The node reads the groups' counters and ends this process; one that is gone cannot.
fn await_end(mut reader: BufReader<UnixStream>, groups: &[PathBuf]) -> ! {
    // Refused: it waits for the node's end.
    let _ = reader.get_ref().set_read_timeout(Some(LAST_WAIT));
    while let Ok(Some(_)) = hear::<Order>(&mut reader) {}
    vanish(groups)
}

/// End at once: a measurement may be under way in another thread, and an ordinary exit would wait for it.
fn vanish(groups: &[PathBuf]) -> ! {
    groups::leave(groups);
    loop {
        let _ = kill_process(getpid(), Signal::KILL);
    }
}

/// A node that is gone shows at the next read.
fn tell(talk: &Talk, said: &Said) {
    let _ = talk.say(said);
}

/// A flood under way: the node is heard all the while.
struct Flooding {
    watch: Arc<FloodWatch>,
    began: Instant,
    writer: JoinHandle<()>,
}

impl Flooding {
    fn begin(talk: &Talk, work: &Work) -> Result<Flooding, String> {
        let to = &work.log.to;
        let file = open(to).map_err(|e| format!("cannot write its log {}: {e}", to.name()))?;
        let (threads, lines) = (work.log.threads, work.log.lines);
        let watch = Arc::new(FloodWatch::default());
        let (talk, watched) = (talk.clone(), watch.clone());
        let write = move || {
            let said = match flood(&file, threads, lines, &watched) {
                Ok(flood) => Said::Logged {
                    lines: flood.lines,
                    elapsed_ns: flood.elapsed_ns,
                },
                Err(error) => Said::Failed {
                    why: error.to_string(),
                },
            };
            tell(&talk, &said);
        };
        let writer = spawn("flood", write);
        Ok(Flooding {
            watch,
            began: Instant::now(),
            writer: writer.map_err(|e| e.to_string())?,
        })
    }

    /// Let it end, and tell what it has written even where its log takes nothing more.
    fn end(self, talk: &Talk) {
        if self.ends_within(FLOOD_GRACE) {
            return;
        }
        self.watch.stop();
        let elapsed = self.began.elapsed();
        if !self.ends_within(FLOOD_WAIT) {
            let said = Said::Logged {
                lines: self.watch.lines(),
                elapsed_ns: nanoseconds(elapsed),
            };
            tell(talk, &said);
        }
    }

    fn ends_within(&self, time: Duration) -> bool {
        let since = Instant::now();
        while !self.writer.is_finished() {
            if since.elapsed() > time {
                return false;
            }
            std::thread::sleep(FLOOD_LOOK);
        }
        true
    }
}

/// Tell the environment, start the load and the flood.
fn begin(talk: &Talk, work: &Work) -> Result<(Option<Background>, Option<Flooding>), String> {
    if work.print_environment {
        let variable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
        };
        let mut variables: Vec<String> = std::env::vars_os().map(variable).collect();
        variables.sort_unstable();
        tell(talk, &Said::Environment { variables });
    }
    let background = match work.load.is_idle() {
        true => None,
        false => {
            let load = Background::start_beyond(&work.load, None, &LogTarget::Null);
            Some(load.map_err(|e| e.to_string())?)
        }
    };
    tell(talk, &Said::Working);
    let flooding = match work.log.lines {
        0 => None,
        _ => Some(Flooding::begin(talk, work)?),
    };
    Ok((background, flooding))
}

fn open(to: &LogTo) -> io::Result<File> {
    match to {
        LogTo::Stderr => Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?)),
        LogTo::Null => OpenOptions::new().write(true).open("/dev/null"),
        LogTo::File(path) => {
            // A pipe that nobody reads is refused rather than waited for; one that is read may make writers wait.
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .custom_flags(OFlags::NONBLOCK.bits() as i32)
                .open(path)?;
            fcntl_setfl(&file, OFlags::APPEND)?;
            Ok(file)
        }
    }
}

/// CPU time of all threads of this process.
fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
