//! Stream sockets of the Unix domain, between threads or processes of one machine.
//!
//! Ranks meet at a name in the abstract namespace, random and gone with its socket, so that nothing is left behind even by
//! a killed process. Any process may connect there, so a peer must know the token and belong to the same user.
//!
//! Loops may call: sockets.

use super::options::{OptionError, OptionReader, OptionSpec};
use super::stream_socket::{self, COMMON_OPTIONS, Family, Link, Listening, StreamOptions};
use super::{
    Availability, Connect, ConnectError, Limits, MessageRunner, Messages, OneSided, Ran, SizeLimit, Support,
    Tagged, Transport, adapt,
};
use socket2::{Domain, SockAddr, Socket, Type};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use wirespeed_schema::case::{GroupKind, TransportOptions};

/// The Unix socket transport.
pub struct Unix;

const NO_ZCOPY: SizeLimit = SizeLimit::never("the kernel has no zero-copy send on Unix sockets");
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// Random bytes of a name; it is written in hexadecimal.
const NAME_BYTES: usize = 16;

impl Transport for Unix {
    const NAME: &'static str = "unix";
    const SUMMARY: &'static str = "Unix domain stream sockets between threads or processes";
    const OPTIONS: &'static [OptionSpec] = &COMMON_OPTIONS;
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Emulated(adapt::tagged::MEANS);
    const ONE_SIDED: Support = Support::Emulated(adapt::one_sided::MEANS);
    const COPIED_BY_CPU: bool = true;
    const IN_PLACE: bool = true;
    type Options = StreamOptions;

    fn parse(options: &TransportOptions) -> Result<StreamOptions, OptionError> {
        StreamOptions::read(&OptionReader::new(Self::NAME, Self::OPTIONS, options)?)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(options: &StreamOptions) -> Limits {
        stream_socket::limits(options, NO_ZCOPY, &[GroupKind::Threads, GroupKind::Processes])
    }
}

impl Messages for Unix {
    fn open<R: MessageRunner>(ctx: &Connect, options: &StreamOptions, runner: R) -> Ran<R::Output> {
        let links = stream_socket::meet(ctx, &Abstract { options })?;
        let options_read = options.clone();
        let room = ctx.room;
        let describe = Box::new(move |links: &[&Link]| options_read.facts(links, room));
        stream_socket::run(ctx, options, links, describe, runner)
    }
}

impl Tagged for Unix {}

impl OneSided for Unix {}

/// Addresses in the abstract namespace.
struct Abstract<'a> {
    options: &'a StreamOptions,
}

/// The address of `name`: a zero byte before it says that it is abstract.
fn address_of(name: &[u8]) -> std::io::Result<SockAddr> {
    let path = [&[0], name].concat();
    SockAddr::unix(std::ffi::OsStr::from_bytes(&path))
}

impl Abstract<'_> {
    fn socket(&self) -> Result<Socket, ConnectError> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)
            .map_err(|e| ConnectError::os("making a Unix socket", e))?;
        self.options.apply(socket.as_fd())?;
        Ok(socket)
    }
}

impl Family for Abstract<'_> {
    fn listen(&self) -> Result<Listening, ConnectError> {
        let failed = |e| ConnectError::os("listening on a Unix socket", e);
        let mut random = [0; NAME_BYTES];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
            .map_err(|e| failed(e.into()))?;
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("wirespeed-{digits}").into_bytes();
        let socket = self.socket()?;
        socket.bind(&address_of(&name).map_err(failed)?).map_err(failed)?;
        socket.listen(BACKLOG).map_err(failed)?;
        Ok(Listening {
            socket,
            address: name,
        })
    }

    fn dial(&self, address: &[u8]) -> Result<Option<(Socket, SockAddr)>, ConnectError> {
        match address_of(address) {
            Ok(address) => Ok(Some((self.socket()?, address))),
            Err(_) => Ok(None),
        }
    }

    fn admit(&self, socket: BorrowedFd<'_>) -> Result<bool, ConnectError> {
        self.options.apply(socket)?;
        let own = rustix::process::geteuid();
        Ok(rustix::net::sockopt::socket_peercred(socket).is_ok_and(|peer| peer.uid == own))
    }
}
