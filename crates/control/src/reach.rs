//! The way to a host: its name, and the first of its addresses that answers. Whoever waits here hears the wish to stop at once,
//! and no wait outlasts its time, however many addresses are silent.

use crate::error::ControlError;
use crate::stop::{StopFlag, Subscription};
use crate::thread::spawn;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The addresses of `host`, at least one, with `port`.
///
/// # Errors
/// [`ControlError::UnknownHost`], also where nobody answers within `time`; [`ControlError::Interrupted`].
pub fn resolve(
    host: &str,
    port: u16,
    time: Duration,
    stop: &StopFlag,
) -> Result<Vec<SocketAddr>, ControlError> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![(ip, port).into()]);
    }
    let name = host.to_owned();
    let ask = move || Ok((name.as_str(), port).to_socket_addrs()?.collect::<Vec<_>>());
    let found = match apart(time, stop, ask)? {
        Ok(found) if found.is_empty() => Err(io::Error::other("it has no address")),
        found => found,
    };
    found.map_err(|source| ControlError::UnknownHost {
        host: host.to_owned(),
        source,
    })
}

/// Connect to the first of `addresses` that answers. Each may take its share of what is left of `time`, so that a silent one
/// leaves time for the next.
///
/// # Errors
/// [`ControlError::Connect`] with the last address that was tried; [`ControlError::Interrupted`].
pub fn connect(
    addresses: &[SocketAddr],
    time: Duration,
    stop: &StopFlag,
) -> Result<(TcpStream, SocketAddr), ControlError> {
    let deadline = Instant::now() + time;
    let mut last = ControlError::Interrupted;
    for (index, &address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (addresses.len() - index) as u32;
        let connect = move || TcpStream::connect_timeout(&address, share);
        let connected = match share.is_zero() {
            true => Err(late()),
            // The share is the call's own limit; what it may be late by is the machine's.
            false => apart(share + share, stop, connect)?,
        };
        match connected {
            Ok(stream) => return Ok((stream, address)),
            Err(source) => last = ControlError::Connect { address, source },
        }
    }
    Err(last)
}

/// As long as it is kept, the wish to stop ends every wait for `stream`, whoever is in one.
///
/// # Errors
/// The system's, where the socket cannot be cloned.
pub fn ended_by(stop: &StopFlag, stream: &TcpStream) -> io::Result<Subscription> {
    let socket = stream.try_clone()?;
    Ok(stop.subscribe(move || {
        // It may be gone already.
        let _ = socket.shutdown(Shutdown::Both);
    }))
}

/// `error`, or the interruption that made it.
pub(crate) fn unless_stopped(stop: &StopFlag, error: ControlError) -> ControlError {
    match stop.is_requested() {
        true => ControlError::Interrupted,
        false => error,
    }
}

fn late() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "connection timed out")
}

/// Do `work`, which cannot be broken off, in a thread that ends by itself, and wait for it as long as nobody stops.
fn apart<T: Send + 'static>(
    time: Duration,
    stop: &StopFlag,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<io::Result<T>, ControlError> {
    let (tell, told) = channel();
    let stopped = tell.clone();
    let _subscription = stop.subscribe(move || {
        // Nobody may listen any more.
        let _ = stopped.send(None);
    });
    let spawned = spawn("reach", move || {
        // Whoever waited may have been stopped.
        let _ = tell.send(Some(work()));
    });
    if let Err(error) = spawned {
        return Ok(Err(error));
    }
    match told.recv_timeout(time) {
        Ok(Some(done)) => Ok(done),
        Ok(None) => Err(ControlError::Interrupted),
        Err(RecvTimeoutError::Timeout) => Ok(Err(late())),
        Err(RecvTimeoutError::Disconnected) => Ok(Err(io::Error::other("the thread that asked ended early"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    const LONG: Duration = Duration::from_secs(60);

    /// Listens, and answers nobody as long as its queue is full.
    fn silent() -> (TcpListener, Vec<TcpStream>, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let at = listener.local_addr().unwrap();
        let queue = (0..3).map_while(|_| TcpStream::connect_timeout(&at, Duration::from_millis(50)).ok());
        let queued = queue.collect();
        (listener, queued, at)
    }

    fn asleep() -> io::Result<()> {
        std::thread::sleep(Duration::from_secs(2));
        Ok(())
    }

    /// Raise a flag soon.
    fn stopping() -> StopFlag {
        let stop = StopFlag::new();
        let raised = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            raised.request();
        });
        stop
    }

    #[test]
    fn a_silent_address_leaves_time_for_the_next() {
        let (_listener, _queued, silent) = silent();
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listening.local_addr().unwrap();
        let time = Duration::from_millis(1000);
        // A machine that stands still may take the next one's time.
        let reach = || connect(&[silent, open], time, &StopFlag::new()).ok();
        let (_, address) = (0..5).find_map(|_| reach()).expect("one of five is in time");
        assert_eq!(address, open);
        let began = Instant::now();
        let error = connect(&[silent; 3], time, &StopFlag::new()).unwrap_err();
        assert!(
            matches!(&error, ControlError::Connect { source, .. } if source.kind() == io::ErrorKind::TimedOut),
            "{error:?}"
        );
        assert!(began.elapsed() >= time / 2, "{:?}", began.elapsed());
    }

    #[test]
    fn a_wish_to_stop_ends_every_wait() {
        let (_listener, _queued, silent) = silent();
        let error = connect(&[silent], LONG, &stopping()).unwrap_err();
        assert!(matches!(error, ControlError::Interrupted), "{error:?}");
        let slow = apart(LONG, &stopping(), asleep);
        assert!(matches!(slow, Err(ControlError::Interrupted)), "{slow:?}");
        let open = TcpListener::bind("127.0.0.1:0").unwrap();
        let stop = stopping();
        let (mut stream, _) = connect(&[open.local_addr().unwrap()], LONG, &stop).unwrap();
        let _subscription = ended_by(&stop, &stream).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    }

    #[test]
    fn names_are_found_or_told() {
        let ask = |host| resolve(host, 7, LONG, &StopFlag::new());
        assert_eq!(ask("127.0.0.9").unwrap(), ["127.0.0.9:7".parse().unwrap()]);
        assert!(ask("localhost").unwrap().iter().all(|at| at.ip().is_loopback()));
        assert!(matches!(
            ask("no-such-host.invalid"),
            Err(ControlError::UnknownHost { .. })
        ));
        let asked = apart(Duration::ZERO, &StopFlag::new(), asleep);
        assert_eq!(asked.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
