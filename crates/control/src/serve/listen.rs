//! Listening sockets: one for each address, IPv4 and IPv6 apart, watched by one thread that sleeps.

use super::Listen;
use crate::error::ControlError;
use crate::stop::StopFlag;
use rustix::event::{PollFd, PollFlags, poll};
use socket2::{Domain, Socket, Type};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: i32 = 256;

/// Pause after a failed accept: files or memory ran out, and come back when connections end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Listen on `port` of every address that `at` stands for. Those that were not named and that this machine lacks, as all of
/// IPv6 where the kernel has none, are left out, unless all are.
pub fn bind(at: &Listen, port: u16) -> Result<Vec<TcpListener>, ControlError> {
    bind_with(at, port, bind_one)
}

fn bind_with(
    at: &Listen,
    port: u16,
    bind_one: impl Fn(SocketAddr) -> io::Result<TcpListener>,
) -> Result<Vec<TcpListener>, ControlError> {
    let some = !matches!(at, Listen::Addresses(_));
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut refused = None;
    for address in at.addresses() {
        // With any free port, the later addresses take the port that the first one got.
        let port = listeners
            .first()
            .and_then(|l| l.local_addr().ok())
            .map_or(port, |a| a.port());
        let address = SocketAddr::new(address, port);
        match bind_one(address) {
            Ok(listener) => listeners.push(listener),
            Err(source) if some && is_lacking(&source) => refused = Some((address, source)),
            Err(source) => return Err(ControlError::Listen { address, source }),
        }
    }
    match (listeners.is_empty(), refused) {
        (true, Some((address, source))) => Err(ControlError::Listen { address, source }),
        _ => Ok(listeners),
    }
}

fn is_lacking(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(libc::EADDRNOTAVAIL) || code == Some(libc::EAFNOSUPPORT)
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        // So that the IPv4 socket beside it can have the same port, and addresses are what they seem.
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Hand every connection to `accepted`, until the stop flag is raised.
pub fn accept(
    listeners: &[TcpListener],
    stop: &StopFlag,
    mut accepted: impl FnMut(io::Result<(TcpStream, SocketAddr)>),
) -> Result<(), ControlError> {
    let failed = |source: io::Error| ControlError::File {
        what: "cannot wait for connections".into(),
        source,
    };
    let (woken, waker) = UnixStream::pair().map_err(failed)?;
    waker.set_nonblocking(true).map_err(failed)?;
    let _subscription = stop.subscribe(move || {
        // A full pipe wakes as well.
        let _ = (&waker).write(&[1]);
    });
    while !stop.is_requested() {
        let mut watched: Vec<_> = listeners.iter().map(|l| PollFd::new(l, PollFlags::IN)).collect();
        watched.push(PollFd::new(&woken, PollFlags::IN));
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        for listener in listeners {
            match listener.accept() {
                Ok((stream, client)) => {
                    let blocking = stream.set_nonblocking(false);
                    accepted(blocking.map(|()| (stream, client)));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                // The client was gone before it was accepted.
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) => {
                    accepted(Err(e));
                    std::thread::sleep(ACCEPT_PAUSE);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv6Addr};

    /// Where `at` listens on a machine on which sockets of IPv6 fail with `code`.
    fn without_v6(at: &Listen, code: i32) -> Result<Vec<IpAddr>, ControlError> {
        let bound = bind_with(at, 0, |address| match address {
            SocketAddr::V4(_) => bind_one(address),
            SocketAddr::V6(_) => Err(io::Error::from_raw_os_error(code)),
        });
        let listeners = bound?.into_iter();
        Ok(listeners.map(|one| one.local_addr().unwrap().ip()).collect())
    }

    #[test]
    fn without_ipv6_whoever_names_no_address_listens_on_ipv4() {
        for code in [libc::EAFNOSUPPORT, libc::EADDRNOTAVAIL] {
            for at in [Listen::Loopback, Listen::Everywhere] {
                assert_eq!(
                    without_v6(&at, code).unwrap(),
                    at.addresses()[..1],
                    "{at:?} {code}"
                );
            }
            let named = Listen::Addresses(vec![Ipv6Addr::LOCALHOST.into()]);
            assert!(without_v6(&named, code).is_err(), "{code}");
        }
        assert!(without_v6(&Listen::Everywhere, libc::EADDRINUSE).is_err());
    }
}
