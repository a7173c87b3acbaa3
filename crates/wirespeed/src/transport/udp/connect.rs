//! From a bootstrap to a socket whose peers have proved their addresses.
//!
//! It must never give a port to the engine before the whole group has agreed that everyone met its peers.

use super::handshake::{HANDSHAKE_TIME_MAX, Handshake};
use super::link_sys;
use super::options::{DontFragment, UdpOptions};
use super::wire::{self, HEADER_BYTES, Head};
use crate::transport::port::Facts;
use crate::transport::{Connect, ConnectError};
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;

/// A blocking receive returns this often with nothing, so that the caller can count a message as lost or see a cancel.
const BLOCKED_RECEIVE_MAX: Duration = Duration::from_millis(4);

/// A rank that this rank exchanges datagrams with.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// Where it receives.
    pub address: SocketAddr,
    /// The tag that it expects.
    pub tag: u64,
    /// Its rank.
    pub rank: u32,
}

/// What a port is made from: the socket and who may be talked to.
pub struct Ends {
    /// Bound; connected when there is one peer.
    pub socket: Socket,
    /// By slot.
    pub peers: Vec<Peer>,
    /// The tag that datagrams to this rank must carry.
    pub tag: u64,
    /// This rank.
    pub rank: u16,
    /// Datagrams dropped because they were not from a peer.
    pub stray_datagrams: u64,
    /// Datagrams above the path MTU are cut.
    pub may_fragment: bool,
    slot_of_rank: Vec<Option<u16>>,
    facts: Facts,
}

impl Ends {
    /// The slot of the peer that `head`, from `from`, belongs to; `None` for a stray.
    #[inline(always)]
    pub fn slot(&self, head: &Head, from: SocketAddr) -> Option<usize> {
        let slot = usize::from((*self.slot_of_rank.get(usize::from(head.rank))?)?);
        let peer = &self.peers[slot];
        (head.tag == self.tag && same_end(peer.address, from)).then_some(slot)
    }

    /// Whether the socket is connected to the only peer.
    #[inline(always)]
    pub fn is_connected(&self) -> bool {
        self.peers.len() == 1
    }

    /// Facts of the run so far.
    pub fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        facts.insert("stray_datagrams".to_owned(), self.stray_datagrams.to_string());
        if let Ok(drops) = link_sys::kernel_drops(self.socket.as_fd()) {
            facts.insert("receiver_kernel_drops".to_owned(), drops.to_string());
        }
        facts
    }

    /// Bind, tell the group, and have every peer prove its address. Collective.
    pub fn meet(ctx: &Connect, options: &UdpOptions) -> Result<Self, ConnectError> {
        let rank = ctx.bootstrap.rank();
        let (socket, local) = bind(ctx, options)?;
        let mut secret = [0; 24];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(|e| ConnectError::os("getting random bytes", e.into()))?;
        let (mut token, mut nonce) = ([0; 16], [0; 8]);
        token.copy_from_slice(&secret[..16]);
        nonce.copy_from_slice(&secret[16..]);
        let blobs = ctx.exchange(&wire::encode_blob(local, &token))?;
        let (peers, slot_of_rank) = read_blobs(ctx, local, &blobs)?;
        let mut ends = Ends {
            socket,
            peers,
            tag: wire::tag_of(&token),
            rank: rank as u16,
            stray_datagrams: 0,
            may_fragment: options.df != DontFragment::On,
            slot_of_rank,
            facts: Facts::new(),
        };
        let mut handshake = Handshake::new(&mut ends, u64::from_le_bytes(nonce));
        let met = handshake.run(ctx);
        // Slower peers are still asking.
        ctx.bootstrap.barrier(&mut || {
            // An error here shows again in the run.
            let _ = handshake.take_datagrams();
        })?;
        agree(ctx, met)?;
        ends.prepare(ctx, options)?;
        Ok(ends)
    }

    /// What needs to know the peers: the connected socket, the path MTU.
    fn prepare(&mut self, ctx: &Connect, options: &UdpOptions) -> Result<(), ConnectError> {
        if let [peer] = self.peers[..] {
            self.socket
                .connect(&SockAddr::from(peer.address))
                .map_err(|e| ConnectError::os("connecting the UDP socket", e))?;
        }
        let blocks = options.blocks_in(ctx.room);
        if blocks {
            self.socket
                .set_read_timeout(Some(BLOCKED_RECEIVE_MAX))
                .map_err(|e| ConnectError::os("setting SO_RCVTIMEO", e))?;
        }
        self.facts = describe(&self.socket, options, blocks);
        let mut mtu_min = None;
        for peer in &self.peers {
            let mtu = path_mtu(&self.socket, peer.address)?;
            mtu_min = Some(mtu_min.map_or(mtu, |least: u32| least.min(mtu)));
        }
        let Some(mtu) = mtu_min else { return Ok(()) };
        let is_v6 = self.peers[0].address.is_ipv6();
        let fragments = fragments(ctx.needs.message_bytes, mtu, is_v6);
        if fragments > 1 && options.df == DontFragment::On {
            return Err(ConnectError::Other(format!(
                "messages of {} bytes do not fit the path MTU of {mtu} bytes unfragmented; use df=off or a smaller size",
                ctx.needs.message_bytes
            )));
        }
        self.facts.insert("path_mtu_bytes".to_owned(), mtu.to_string());
        if fragments > 1 {
            self.facts
                .insert("ip_fragments_per_message".to_owned(), fragments.to_string());
        }
        Ok(())
    }
}

/// IP packets that carry one datagram with `payload_bytes`. A fragment's data are a multiple of 8 bytes; IPv6 needs 8
/// more for its fragment header.
fn fragments(payload_bytes: usize, mtu: u32, is_v6: bool) -> usize {
    let (ip_header, fragment_header) = if is_v6 { (40, 8) } else { (20, 0) };
    let udp_bytes = 8 + HEADER_BYTES + payload_bytes;
    let room = (mtu as usize).saturating_sub(ip_header);
    if udp_bytes <= room {
        return 1;
    }
    udp_bytes.div_ceil((room.saturating_sub(fragment_header) & !7).max(8))
}

/// Whether two addresses are one end (an IPv6 flow label or scope does not make another).
#[inline(always)]
fn same_end(a: SocketAddr, b: SocketAddr) -> bool {
    a.port() == b.port() && a.ip() == b.ip()
}

/// A bound socket with its options set, and its address.
fn bind(ctx: &Connect, options: &UdpOptions) -> Result<(Socket, SocketAddr), ConnectError> {
    let ip = options.source.unwrap_or_else(|| ctx.bootstrap.bind_address());
    let port = match options.port {
        None => 0,
        Some(base) => u16::try_from(u32::from(base) + ctx.bootstrap.rank())
            .map_err(|_| ConnectError::Other(format!("port={base} leaves no port for every rank")))?,
    };
    let wanted = SocketAddr::new(ip, port);
    let socket = Socket::new(Domain::for_address(wanted), Type::DGRAM, Some(Protocol::UDP))
        .map_err(|e| ConnectError::os("opening a UDP socket", e))?;
    set_options(&socket, ip, options)?;
    socket
        .bind(&SockAddr::from(wanted))
        .map_err(|e| ConnectError::os(format!("binding a UDP socket to {wanted}"), e))?;
    let local = local_address(&socket).map_err(|e| ConnectError::os("reading the socket's address", e))?;
    Ok((socket, local))
}

fn local_address(socket: &Socket) -> std::io::Result<SocketAddr> {
    socket
        .local_addr()?
        .as_socket()
        .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::Unsupported))
}

fn set_options(socket: &Socket, ip: IpAddr, options: &UdpOptions) -> Result<(), ConnectError> {
    let named = |op: &'static str| move |e: std::io::Error| ConnectError::os(op, e);
    if let Some(bytes) = options.sndbuf {
        socket
            .set_send_buffer_size(bytes as usize)
            .map_err(named("setting SO_SNDBUF"))?;
    }
    if let Some(bytes) = options.rcvbuf {
        socket
            .set_recv_buffer_size(bytes as usize)
            .map_err(named("setting SO_RCVBUF"))?;
    }
    if let Some(microseconds) = options.busy_poll_us {
        link_sys::set_busy_poll(socket.as_fd(), microseconds).map_err(named("setting SO_BUSY_POLL"))?;
    }
    if let Some(dscp) = options.dscp {
        let class = dscp << 2;
        if ip.is_ipv6() {
            rustix::net::sockopt::set_ipv6_tclass(socket, u32::from(class))
        } else {
            rustix::net::sockopt::set_ip_tos(socket, class)
        }
        .map_err(|e| ConnectError::os("setting the DSCP", e.into()))?;
    }
    let allow = match options.df {
        DontFragment::Default => return Ok(()),
        DontFragment::On => false,
        DontFragment::Off => true,
    };
    if ip.is_ipv6() {
        let value = if allow {
            Ipv6PathMtuDiscovery::DONT
        } else {
            Ipv6PathMtuDiscovery::DO
        };
        rustix::net::sockopt::set_ipv6_mtu_discover(socket, value)
    } else {
        let value = if allow {
            Ipv4PathMtuDiscovery::DONT
        } else {
            Ipv4PathMtuDiscovery::DO
        };
        rustix::net::sockopt::set_ip_mtu_discover(socket, value)
    }
    .map_err(|e| ConnectError::os("setting the fragmentation option", e.into()))
}

/// The peers by slot, and the slot of every rank.
fn read_blobs(
    ctx: &Connect,
    local: SocketAddr,
    blobs: &[Vec<u8>],
) -> Result<(Vec<Peer>, Vec<Option<u16>>), ConnectError> {
    let mut peers = Vec::with_capacity(ctx.peers.len());
    let mut slot_of_rank = vec![None; blobs.len()];
    for (slot, &rank) in ctx.peers.iter().enumerate() {
        let bad = |what| ConnectError::BadPeer { rank, what };
        let blob = blobs
            .get(rank as usize)
            .ok_or_else(|| bad("no such rank".to_owned()))?;
        let (address, token) = wire::decode_blob(blob).map_err(bad)?;
        if address.is_ipv6() != local.is_ipv6() {
            return Err(bad(format!("{address} is not of the family of {local}")));
        }
        slot_of_rank[rank as usize] = Some(slot as u16);
        peers.push(Peer {
            address,
            tag: wire::tag_of(&token),
            rank,
        });
    }
    Ok((peers, slot_of_rank))
}

/// Tell its peers whether this rank met them: they fail together, at once.
fn agree(ctx: &Connect, met: Result<(), ConnectError>) -> Result<(), ConnectError> {
    let verdicts = ctx.exchange(&[u8::from(met.is_ok())])?;
    met?;
    // Of a rank that has left, or is of another circle, there is none.
    match verdicts.iter().position(|v| !matches!(v[..], [] | [1])) {
        None => Ok(()),
        Some(rank) => Err(ConnectError::Other(format!(
            "rank {rank} could not exchange datagrams with its peers within {} s; is UDP blocked on the way?",
            HANDSHAKE_TIME_MAX.as_secs()
        ))),
    }
}

/// What the socket became.
fn describe(socket: &Socket, options: &UdpOptions, blocks: bool) -> Facts {
    let wait = if blocks { "block" } else { "poll" };
    let mut facts = Facts::from([
        ("wait".to_owned(), wait.to_owned()),
        ("batch".to_owned(), options.batch.to_string()),
        ("df".to_owned(), options.df.name().to_owned()),
    ]);
    if let Ok(bytes) = socket.send_buffer_size() {
        facts.insert("sndbuf_bytes".to_owned(), bytes.to_string());
    }
    if let Ok(bytes) = socket.recv_buffer_size() {
        facts.insert("rcvbuf_bytes".to_owned(), bytes.to_string());
    }
    if let Some(microseconds) = options.busy_poll_us {
        facts.insert("busy_poll_us".to_owned(), microseconds.to_string());
    }
    if let Some(dscp) = options.dscp {
        facts.insert("dscp".to_owned(), dscp.to_string());
    }
    if let Ok(local) = local_address(socket) {
        let version = if local.is_ipv6() { "6" } else { "4" };
        facts.insert("ip_version".to_owned(), version.to_owned());
    }
    facts
}

/// The kernel's idea of the MTU on the way to `peer`: asked of a socket of its own, because only a connected one knows.
fn path_mtu(like: &Socket, peer: SocketAddr) -> Result<u32, ConnectError> {
    let ask = || -> std::io::Result<u32> {
        let local = local_address(like)?;
        let probe = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
        probe.bind(&SockAddr::from(SocketAddr::new(local.ip(), 0)))?;
        probe.connect(&SockAddr::from(peer))?;
        let mtu = if peer.is_ipv6() {
            rustix::net::sockopt::ipv6_mtu(&probe)?
        } else {
            rustix::net::sockopt::ip_mtu(&probe)?
        };
        Ok(mtu)
    };
    ask().map_err(|e| ConnectError::os("reading the path MTU", e))
}

#[cfg(test)]
mod tests {
    use super::super::wire::Kind;
    use super::*;
    use crate::transport::port::LinkError;
    use rustix::io::Errno;

    fn ends() -> Ends {
        let address: SocketAddr = "127.0.0.1:1000".parse().unwrap();
        Ends {
            socket: Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap(),
            peers: vec![Peer {
                address,
                tag: 7,
                rank: 2,
            }],
            tag: 42,
            rank: 0,
            stray_datagrams: 0,
            may_fragment: true,
            slot_of_rank: vec![None, None, Some(0)],
            facts: Facts::new(),
        }
    }

    #[test]
    fn only_the_right_tag_rank_and_address_pass() {
        let ends = ends();
        let address = ends.peers[0].address;
        let head = |rank, tag| Head {
            kind: Kind::Data,
            rank,
            tag,
            value: 0,
        };
        let elsewhere = "127.0.0.1:1001".parse().unwrap();
        assert_eq!(ends.slot(&head(2, 42), address), Some(0));
        assert_eq!(ends.slot(&head(2, 7), address), None, "the peer's tag, not ours");
        assert_eq!(ends.slot(&head(1, 42), address), None, "a rank that is no peer");
        assert_eq!(ends.slot(&head(9, 42), address), None, "no such rank");
        assert_eq!(ends.slot(&head(2, 42), elsewhere), None);
    }

    #[test]
    fn a_report_of_a_smaller_mtu_ends_only_what_may_not_be_cut() {
        let mut ends = ends();
        assert_eq!(ends.refused("recvmsg", Errno::MSGSIZE), Ok(()));
        assert_eq!(
            ends.refused("recvmsg", Errno::CONNREFUSED),
            Err(LinkError::Closed)
        );
        ends.may_fragment = false;
        let error = ends.refused("sendmsg", Errno::MSGSIZE).unwrap_err();
        assert!(error.to_string().contains("use df=off or a smaller size"));
    }

    #[test]
    fn fragments_follow_the_mtu() {
        // 1500 less 20 (IPv4) or 40 (IPv6), less 8 (UDP), less 24 (header).
        assert_eq!(
            (fragments(1448, 1500, false), fragments(1449, 1500, false)),
            (1, 2)
        );
        assert_eq!((fragments(1428, 1500, true), fragments(1429, 1500, true)), (1, 2));
        assert_eq!(fragments(65_483, 1500, false), 65_515_usize.div_ceil(1480));
        assert_eq!(fragments(65_483, 65_536, false), 1);
        assert!(fragments(100, 0, false) > 1);
    }
}
