//! TCP, over IPv4 or IPv6 as the session's address says, between threads, processes or machines.
//!
//! A rank listens on a port that the kernel picks (or `port`) and lets in only who knows its token.
//!
//! Loops may call: sockets.

mod link;
mod options;

use super::options::{OptionError, OptionReader, OptionSpec};
use super::stream_socket::{self, Family, Link, Listening};
use super::{
    Availability, Connect, ConnectError, Limits, MessageRunner, Messages, OneSided, Ran, SizeLimit, Support,
    Tagged, Transport, adapt,
};
use options::TcpOptions;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use wirespeed_schema::case::{GroupKind, TransportOptions};

/// The TCP transport.
pub struct Tcp;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

impl Transport for Tcp {
    const NAME: &'static str = "tcp";
    const SUMMARY: &'static str = "TCP over IPv4 or IPv6 between threads, processes or machines";
    const OPTIONS: &'static [OptionSpec] = &options::OPTIONS;
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Emulated(adapt::tagged::MEANS);
    const ONE_SIDED: Support = Support::Emulated(adapt::one_sided::MEANS);
    const COPIED_BY_CPU: bool = true;
    const IN_PLACE: bool = true;
    type Options = TcpOptions;

    fn parse(options: &TransportOptions) -> Result<TcpOptions, OptionError> {
        TcpOptions::read(&OptionReader::new(Self::NAME, Self::OPTIONS, options)?)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(options: &TcpOptions) -> Limits {
        let zcopy = SizeLimit::UpTo(stream_socket::ZCOPY_BYTES_MAX);
        let groups = &[GroupKind::Threads, GroupKind::Processes, GroupKind::Hosts];
        stream_socket::limits(&options.stream, zcopy, groups)
    }
}

impl Messages for Tcp {
    fn open<R: MessageRunner>(ctx: &Connect, options: &TcpOptions, runner: R) -> Ran<R::Output> {
        let family = Internet {
            options,
            address: ctx.bootstrap.bind_address(),
        };
        let links = stream_socket::meet(ctx, &family)?;
        let options_read = options.clone();
        let room = ctx.room;
        let describe = Box::new(move |links: &[&Link]| options_read.facts(links, room));
        stream_socket::run(ctx, &options.stream, links, describe, runner)
    }
}

impl Tagged for Tcp {}

impl OneSided for Tcp {}

/// Internet addresses.
struct Internet<'a> {
    options: &'a TcpOptions,
    address: IpAddr,
}

impl Internet<'_> {
    fn socket(&self, of: SocketAddr) -> Result<Socket, ConnectError> {
        let socket = Socket::new(Domain::for_address(of), Type::STREAM, Some(Protocol::TCP))
            .map_err(|e| ConnectError::os("making a TCP socket", e))?;
        self.options.apply_early(socket.as_fd())?;
        self.options.apply(socket.as_fd())?;
        Ok(socket)
    }
}

impl Family for Internet<'_> {
    fn listen(&self) -> Result<Listening, ConnectError> {
        let wanted = SocketAddr::new(self.address, self.options.port.unwrap_or(0));
        let failed = |e| ConnectError::os(format!("listening on {wanted}"), e);
        if self.address.is_unspecified() {
            return Err(ConnectError::Other(format!(
                "peers cannot connect to {}: give an address of this machine",
                self.address
            )));
        }
        let socket = self.socket(wanted)?;
        // A fixed port must be usable again at once, though connections of the last run still linger.
        socket.set_reuse_address(true).map_err(failed)?;
        socket.bind(&wanted.into()).map_err(failed)?;
        socket.listen(BACKLOG).map_err(failed)?;
        let bound = socket.local_addr().map_err(failed)?.as_socket().unwrap_or(wanted);
        Ok(Listening {
            socket,
            address: bound.to_string().into_bytes(),
        })
    }

    fn dial(&self, address: &[u8]) -> Result<Option<(Socket, SockAddr)>, ConnectError> {
        let address = std::str::from_utf8(address)
            .ok()
            .and_then(|text| text.parse().ok());
        let Some(address): Option<SocketAddr> = address else {
            return Ok(None);
        };
        let socket = self.socket(address)?;
        if let Some(source) = self.options.source {
            let source = SocketAddr::new(source, 0);
            socket.bind(&source.into()).map_err(|e| ConnectError::Unfit {
                cause: format!("sending from {}: {e}", source.ip()),
                remedy: "give source an address of this machine, or none".to_owned(),
            })?;
        }
        Ok(Some((socket, address.into())))
    }

    fn admit(&self, socket: BorrowedFd<'_>) -> Result<bool, ConnectError> {
        // A guest that is gone again takes no options; that must not end the wait for the others.
        Ok(self.options.apply(socket).is_ok())
    }
}
