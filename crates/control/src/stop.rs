//! The user's wish to stop: asked once it means "in order", twice "at once". Whoever waits is woken, nobody polls.

use crate::thread::spawn;
use parking_lot::Mutex;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

type Waker = Box<dyn Fn() + Send>;

/// How urgent the wish is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Nobody asked.
    None,
    /// In order: sources mark their last message, results are whole.
    Orderly,
    /// At once.
    Immediate,
}

#[derive(Default)]
struct Inner {
    level: AtomicU8,
    next_id: AtomicU64,
    wakers: Mutex<Vec<(u64, Waker)>>,
}

/// Shared between whoever catches Ctrl-C and whoever runs a group or a server.
#[derive(Clone, Default)]
pub struct StopFlag(Arc<Inner>);

impl fmt::Debug for StopFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.level().fmt(f)
    }
}

/// Wakes its owner until dropped.
pub struct Subscription {
    flag: StopFlag,
    id: u64,
}

impl StopFlag {
    /// A flag that nobody asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ask to stop; each further call raises the level. Not for signal handlers: see [`StopFlag::on_signals`].
    pub fn request(&self) {
        self.raise(|level| Some(level.saturating_add(1).min(2)));
    }

    /// Ask to end in order, however many ask: unlike [`StopFlag::request`] it hurries nobody who was asked already.
    pub fn request_orderly(&self) {
        self.raise(|level| (level == 0).then_some(1));
    }

    fn raise(&self, raise: impl Fn(u8) -> Option<u8>) {
        let level = &self.0.level;
        // Whoever counts how often he is woken is woken for what is new alone.
        if level
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, raise)
            .is_err()
        {
            return;
        }
        for (_, waker) in self.0.wakers.lock().iter() {
            waker();
        }
    }

    /// What was asked.
    pub fn level(&self) -> StopLevel {
        match self.0.level.load(Ordering::Acquire) {
            0 => StopLevel::None,
            1 => StopLevel::Orderly,
            _ => StopLevel::Immediate,
        }
    }

    /// Whether anything was asked.
    pub fn is_requested(&self) -> bool {
        self.level() > StopLevel::None
    }

    /// Have `waker` called at every request; at once when there was one. It must not block.
    pub fn subscribe(&self, waker: impl Fn() + Send + 'static) -> Subscription {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        let mut wakers = self.0.wakers.lock();
        if self.is_requested() {
            waker();
        }
        wakers.push((id, Box::new(waker)));
        Subscription {
            flag: self.clone(),
            id,
        }
    }

    /// Sleep for `time`, or until asked to stop: false where that was asked.
    pub fn pause(&self, time: Duration) -> bool {
        let (tell, told) = mpsc::channel();
        let _subscription = self.subscribe(move || {
            // Nobody may listen any more.
            let _ = tell.send(());
        });
        told.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout)
    }

    /// Ask at every SIGINT, SIGTERM and SIGHUP of this process, through a thread that sleeps in a read; the first of them
    /// hurries nobody who was asked already (by [`StopFlag::at_end_of`]: a wish may come two ways). Call it once. Who started
    /// the program with SIGHUP ignored (`nohup`) wants it to outlive the terminal.
    pub fn on_signals(&self) -> io::Result<()> {
        let (mut reader, writer) = UnixStream::pair()?;
        let hangup = (!ignored(libc::SIGHUP)).then_some(libc::SIGHUP);
        for signal in [libc::SIGINT, libc::SIGTERM].into_iter().chain(hangup) {
            signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        }
        let flag = self.clone();
        let hearing = spawn("signals", move || {
            let mut byte = [0u8; 1];
            let mut ask: fn(&StopFlag) = StopFlag::request_orderly;
            while matches!(reader.read(&mut byte), Ok(1)) {
                ask(&flag);
                ask = StopFlag::request;
            }
        });
        hearing.map(drop)
    }

    /// Ask to end in order when `held` ends, which somebody holds open who may be far away. One from which nothing ever came
    /// is held by nobody, and asks nothing.
    pub fn at_end_of(&self, mut held: impl Read + Send + 'static) -> io::Result<()> {
        let flag = self.clone();
        let hearing = spawn("held", move || {
            let mut piece = [0u8; 64];
            let mut is_held = false;
            loop {
                match held.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(1..) => is_held = true,
                    Ok(0) | Err(_) => break,
                }
            }
            if is_held {
                flag.request_orderly();
            }
        });
        hearing.map(drop)
    }
}

/// Whether this process was started with `signal` ignored: the mask `SigIgn` of proc(5).
pub(crate) fn ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Have ended children kept until they are waited for, also where this process was started with SIGCHLD ignored.
pub fn keep_children() -> io::Result<()> {
    match ignored(libc::SIGCHLD) {
        // Any handler does; no program that is started inherits it.
        true => signal_hook::flag::register(libc::SIGCHLD, Arc::default()).map(drop),
        false => Ok(()),
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut wakers = self.flag.0.wakers.lock();
        wakers.retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_stream_that_ends_asks_once_it_was_held() {
        for (sent, level) in [(&b""[..], StopLevel::None), (b"\n", StopLevel::Orderly)] {
            let stop = StopFlag::new();
            let (tell, told) = mpsc::channel();
            struct Watched {
                sent: &'static [u8],
                _tell: mpsc::Sender<()>,
            }
            impl Read for Watched {
                fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                    self.sent.read(into)
                }
            }
            stop.at_end_of(Watched { sent, _tell: tell }).unwrap();
            // It goes with the thread that reads it.
            assert!(told.recv().is_err());
            assert_eq!(stop.level(), level);
        }
    }

    #[test]
    fn a_pause_ends_with_the_wish_to_stop() {
        let stop = StopFlag::new();
        assert!(stop.pause(Duration::from_millis(1)));
        stop.request();
        assert!(!stop.pause(Duration::from_secs(3600)));
    }

    #[test]
    fn levels_rise_and_subscribers_wake() {
        let flag = StopFlag::new();
        let (tx, rx) = mpsc::channel();
        let subscription = flag.subscribe(move || tx.send(()).unwrap());
        assert_eq!(flag.level(), StopLevel::None);
        flag.request();
        assert_eq!((flag.level(), rx.try_recv()), (StopLevel::Orderly, Ok(())));
        drop(subscription);
        flag.request();
        flag.request();
        assert_eq!(flag.level(), StopLevel::Immediate);
        assert!(rx.try_recv().is_err());
    }

    /// Several that notice the same end hurry nobody.
    #[test]
    fn who_asks_for_order_does_not_raise_the_level() {
        let flag = StopFlag::new();
        (0..3).for_each(|_| flag.request_orderly());
        assert_eq!(flag.level(), StopLevel::Orderly);
        flag.request();
        flag.request_orderly();
        assert_eq!(flag.level(), StopLevel::Immediate);
    }
}
