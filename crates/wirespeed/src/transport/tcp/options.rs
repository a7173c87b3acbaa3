//! Options of TCP: what the user may ask for, set on every socket, and what the kernel made of it.

use super::link;
use crate::transport::options::{OptionError, OptionReader, OptionSpec};
use crate::transport::port::Facts;
use crate::transport::stream_socket::{COMMON_OPTIONS, Link, StreamOptions};
use crate::transport::{ConnectError, Room};
use rustix::net::sockopt;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

/// Every option of TCP.
pub const OPTIONS: [OptionSpec; 13] = [
    COMMON_OPTIONS[0],
    COMMON_OPTIONS[1],
    COMMON_OPTIONS[2],
    COMMON_OPTIONS[3],
    COMMON_OPTIONS[4],
    OptionSpec::new(
        "nodelay",
        "on|off",
        "TCP_NODELAY: send at once, instead of waiting to fill a segment",
    )
    .with_default("on"),
    OptionSpec::new(
        "congestion",
        "NAME",
        "congestion control of both ends, such as cubic or bbr",
    ),
    OptionSpec::new(
        "busy_poll",
        "MICROSECONDS",
        "SO_BUSY_POLL: let the kernel poll the device this long; raising it needs CAP_NET_ADMIN",
    ),
    OptionSpec::new(
        "quickack",
        "on|off",
        "TCP_QUICKACK at the start of the run; the kernel may change it later",
    ),
    OptionSpec::new("mss", "BYTES", "TCP_MAXSEG: largest segment, 88 to 32767"),
    OptionSpec::new(
        "dscp",
        "0-63",
        "differentiated services code point of every packet",
    ),
    OptionSpec::new("source", "ADDRESS", "local address of the connecting end"),
    OptionSpec::new(
        "port",
        "1-65535",
        "port of the listening end; by default the kernel picks one",
    ),
];

/// What the kernel accepts as a segment size.
const MSS_BYTES: std::ops::RangeInclusive<u32> = 88..=32767;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Parsed options of TCP.
#[derive(Debug, Clone)]
pub struct TcpOptions {
    /// Those of every stream socket.
    pub stream: StreamOptions,
    nodelay: bool,
    congestion: Option<String>,
    busy_poll_us: Option<u32>,
    quickack: Option<bool>,
    mss_bytes: Option<u32>,
    dscp: Option<u32>,
    /// Address to connect from.
    pub source: Option<IpAddr>,
    /// Port to listen on.
    pub port: Option<u16>,
}

impl TcpOptions {
    /// Read them. Asks the kernel whether it knows the congestion control.
    pub fn read(reader: &OptionReader) -> Result<Self, OptionError> {
        let on_off = [("on", true), ("off", false)];
        let within = |name, range: std::ops::RangeInclusive<u32>, expected: &str| match reader
            .parse::<u32>(name, expected)?
        {
            Some(value) if !range.contains(&value) => Err(reader.refuse(name, expected)),
            value => Ok(value),
        };
        let quickack = match reader.text("quickack") {
            Some(_) => Some(reader.choice("quickack", &on_off)?),
            None => None,
        };
        let congestion = reader.text("congestion");
        if let Some(name) = congestion
            && !knows_congestion(name)
        {
            let available = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
            let names: Vec<_> = available.split_whitespace().collect();
            return Err(reader.refuse("congestion", format!("one of {}", names.join(", "))));
        }
        let port = within("port", 1..=65535, "a port from 1 to 65535")?;
        Ok(TcpOptions {
            stream: StreamOptions::read(reader)?,
            nodelay: reader.choice("nodelay", &on_off)?,
            congestion: congestion.map(str::to_owned),
            busy_poll_us: within("busy_poll", 0..=1_000_000, "microseconds from 0 to 1000000")?,
            quickack,
            mss_bytes: within("mss", MSS_BYTES, "bytes from 88 to 32767")?,
            dscp: within("dscp", 0..=63, "a code point from 0 to 63")?,
            source: reader.parse("source", "an IPv4 or IPv6 address")?,
            port: port.map(|p| p as u16),
        })
    }

    /// What must be set before connecting or listening, because the hand-shake uses it.
    pub fn apply_early(&self, fd: BorrowedFd<'_>) -> Result<(), ConnectError> {
        self.stream.apply(fd)?;
        let socket = SockRef::from(&fd);
        if let Some(bytes) = self.mss_bytes {
            socket
                .set_tcp_mss(bytes)
                .map_err(|e| ConnectError::os("setting TCP_MAXSEG", e))?;
        }
        if let Some(name) = &self.congestion {
            sockopt::set_tcp_congestion(fd, name)
                .map_err(|e| ConnectError::os(format!("setting the congestion control {name}"), e.into()))?;
        }
        Ok(())
    }

    /// What an accepted socket does not inherit for certain.
    pub fn apply(&self, fd: BorrowedFd<'_>) -> Result<(), ConnectError> {
        let socket = SockRef::from(&fd);
        let failed = |what: &'static str| move |e| ConnectError::os(what, e);
        socket
            .set_tcp_nodelay(self.nodelay)
            .map_err(failed("setting TCP_NODELAY"))?;
        if let Some(microseconds) = self.busy_poll_us {
            socket.set_busy_poll(microseconds).map_err(failed(
                "setting SO_BUSY_POLL (above net.core.busy_read it needs CAP_NET_ADMIN)",
            ))?;
        }
        if let Some(on) = self.quickack {
            socket
                .set_tcp_quickack(on)
                .map_err(failed("setting TCP_QUICKACK"))?;
        }
        if let Some(dscp) = self.dscp {
            // The code point is the upper six bits; the lower two belong to congestion notification.
            let byte = dscp << 2;
            let is_v6 = socket.domain().is_ok_and(|domain| domain == Domain::IPV6);
            if is_v6 {
                socket.set_tclass_v6(byte)
            } else {
                socket.set_tos_v4(byte)
            }
            .map_err(failed("setting the DSCP"))?;
        }
        Ok(())
    }

    /// What the options are in truth, and what TCP saw, read from the sockets as they are now.
    pub fn facts(&self, links: &[&Link], room: Room) -> Facts {
        let mut facts = self.stream.facts(links, room);
        let Some(link) = links.first() else {
            return facts;
        };
        let tx = link.tx();
        let socket = SockRef::from(&tx);
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                facts.insert(name.into(), value);
            }
        };
        let on_off = |on| if on { "on" } else { "off" }.to_owned();
        let is_v6 = socket.domain().is_ok_and(|domain| domain == Domain::IPV6);
        let dscp = if is_v6 {
            socket.tclass_v6()
        } else {
            socket.tos_v4()
        };
        put("ip_version", Some(if is_v6 { "6" } else { "4" }.into()));
        put("nodelay", socket.tcp_nodelay().ok().map(on_off));
        put("quickack", socket.tcp_quickack().ok().map(on_off));
        put("congestion", sockopt::tcp_congestion(tx).ok());
        put("mss_bytes", socket.tcp_mss().ok().map(|b| b.to_string()));
        put("busy_poll_us", socket.busy_poll().ok().map(|us| us.to_string()));
        put("dscp", dscp.ok().map(|byte| (byte >> 2).to_string()));
        for (name, value) in link::path_figures(links) {
            put(name, Some(value));
        }
        facts
    }
}

/// Whether the kernel lets us have this congestion control (it may load it for that).
fn knows_congestion(name: &str) -> bool {
    let usable = |socket: Socket| sockopt::set_tcp_congestion(&socket, name).is_ok();
    !name.is_empty()
        && Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
            .or_else(|_| Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP)))
            .is_ok_and(usable)
}
