//! The transport's own options: what exists, what each may be, and what they are when not given.

use crate::transport::Room;
use crate::transport::options::{OptionError, OptionReader, OptionSpec};
use crate::transport::seal::{self, Cipher};
use std::net::IpAddr;
use wirespeed_schema::case::TransportOptions;

/// Whether the kernel may fragment datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DontFragment {
    /// What the kernel does by itself.
    Default,
    /// Never: a datagram larger than the path MTU is an error.
    On,
    /// Always allowed, by routers too.
    Off,
}

impl DontFragment {
    /// The name as typed.
    pub fn name(self) -> &'static str {
        match self {
            DontFragment::Default => "default",
            DontFragment::On => "on",
            DontFragment::Off => "off",
        }
    }
}

/// Options, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UdpOptions {
    /// Sleep in the kernel while waiting; absent where the room decides.
    pub block: Option<bool>,
    /// Send buffer asked for, in bytes.
    pub sndbuf: Option<u32>,
    /// Receive buffer asked for, in bytes.
    pub rcvbuf: Option<u32>,
    /// Microseconds for which the kernel polls the device before it sleeps.
    pub busy_poll_us: Option<u32>,
    /// Differentiated services code point, 0 to 63.
    pub dscp: Option<u8>,
    /// Local address instead of the group's.
    pub source: Option<IpAddr>,
    /// Local port of rank 0; rank r takes this plus r.
    pub port: Option<u16>,
    /// Fragmentation.
    pub df: DontFragment,
    /// Datagrams a system call, at most.
    pub batch: usize,
    /// What to encrypt the data with.
    pub cipher: Option<Cipher>,
}

/// Most datagrams that one system call takes (the kernel's UIO_MAXIOV).
const BATCH_MAX: u64 = 1024;

/// The kernel doubles what it is given and keeps it in a signed 32-bit number.
const BUFFER_BYTES_MAX: u64 = 1 << 30;

/// What there is.
pub const SPECS: &[OptionSpec] = &[
    spec(
        "wait",
        "auto|poll|block",
        "auto",
        "receive without sleeping, or sleep in the kernel; auto: poll where each rank has a CPU of its own, else block",
    ),
    spec("sndbuf", "SIZE", "", "send buffer (SO_SNDBUF)"),
    spec("rcvbuf", "SIZE", "", "receive buffer (SO_RCVBUF)"),
    spec(
        "busy_poll",
        "MICROSECONDS",
        "",
        "SO_BUSY_POLL: let the kernel poll the device this long",
    ),
    spec("dscp", "0..63", "", "differentiated services code point"),
    spec("source", "ADDRESS", "", "local address"),
    spec("port", "PORT", "", "local port of rank 0; rank r takes PORT + r"),
    spec(
        "df",
        "default|on|off",
        "default",
        "forbid (on) or allow (off) fragments; default: the kernel's choice",
    ),
    spec(
        "batch",
        "1..1024",
        "1",
        "datagrams a system call (sendmmsg, recvmmsg)",
    ),
    seal::OPTION,
];

const fn spec(
    name: &'static str,
    values: &'static str,
    default: &'static str,
    help: &'static str,
) -> OptionSpec {
    OptionSpec::new(name, values, help).with_default(default)
}

impl UdpOptions {
    /// Whether a port sleeps while it waits in `room`.
    pub fn blocks_in(&self, room: Room) -> bool {
        self.block.unwrap_or(room.is_crowded())
    }

    /// Parse what the user gave.
    pub fn parse(transport: &'static str, options: &TransportOptions) -> Result<Self, OptionError> {
        let reader = OptionReader::new(transport, SPECS, options)?;
        let buffer = |name| match reader.size(name)? {
            Some(bytes) if bytes == 0 || bytes > BUFFER_BYTES_MAX => {
                Err(reader.refuse(name, "a size from 1 to 1G"))
            }
            bytes => Ok(bytes.map(|b| b as u32)),
        };
        let dscp = reader.parse::<u8>("dscp", "a number from 0 to 63")?;
        if dscp.is_some_and(|d| d > 63) {
            return Err(reader.refuse("dscp", "a number from 0 to 63"));
        }
        let batch = reader.count("batch")?.unwrap_or(1);
        if !(1..=BATCH_MAX).contains(&batch) {
            return Err(reader.refuse("batch", "a number from 1 to 1024"));
        }
        let busy_poll_us = reader.parse("busy_poll", "a number of microseconds from 0 to 1000000")?;
        if busy_poll_us.is_some_and(|us: u32| us > 1_000_000) {
            return Err(reader.refuse("busy_poll", "a number of microseconds from 0 to 1000000"));
        }
        let port = reader.parse::<u16>("port", "a port number from 1 to 65535")?;
        if port == Some(0) {
            return Err(reader.refuse("port", "a port number from 1 to 65535"));
        }
        let source = reader.parse::<IpAddr>("source", "an IP address of this machine")?;
        if source.is_some_and(|ip| ip.is_unspecified() || ip.is_multicast()) {
            return Err(reader.refuse("source", "an IP address of this machine"));
        }
        Ok(UdpOptions {
            block: reader.choice(
                "wait",
                &[("auto", None), ("poll", Some(false)), ("block", Some(true))],
            )?,
            sndbuf: buffer("sndbuf")?,
            rcvbuf: buffer("rcvbuf")?,
            busy_poll_us,
            dscp,
            source,
            port,
            df: reader.choice(
                "df",
                &[
                    ("default", DontFragment::Default),
                    ("on", DontFragment::On),
                    ("off", DontFragment::Off),
                ],
            )?,
            batch: batch as usize,
            cipher: Cipher::read(&reader)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<UdpOptions, OptionError> {
        let options = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        UdpOptions::parse("udp", &options)
    }

    #[test]
    fn every_option_is_read() {
        let options = parse(&[
            ("wait", "block"),
            ("sndbuf", "64K"),
            ("rcvbuf", "1M"),
            ("busy_poll", "50"),
            ("dscp", "46"),
            ("source", "::1"),
            ("port", "4000"),
            ("df", "on"),
            ("batch", "32"),
            ("encrypt", "chacha20-poly1305"),
        ])
        .unwrap();
        assert_eq!(options.block, Some(true));
        assert_eq!((options.sndbuf, options.rcvbuf), (Some(65536), Some(1 << 20)));
        assert_eq!((options.busy_poll_us, options.dscp), (Some(50), Some(46)));
        assert_eq!((options.port, options.batch), (Some(4000), 32));
        assert_eq!(options.df, DontFragment::On);
        assert!(options.source.unwrap().is_ipv6());
        assert_eq!(options.cipher, Some(Cipher::ChaCha20Poly1305));
    }

    #[test]
    fn nonsense_is_refused() {
        for (name, value) in [
            ("wait", "nap"),
            ("sndbuf", "0"),
            ("rcvbuf", "8G"),
            ("busy_poll", "-1"),
            ("busy_poll", "1000001"),
            ("dscp", "64"),
            ("source", "localhost"),
            ("source", "0.0.0.0"),
            ("port", "0"),
            ("port", "65536"),
            ("df", "maybe"),
            ("batch", "0"),
            ("batch", "1025"),
            ("mss", "1400"),
            ("encrypt", "yes"),
        ] {
            assert!(parse(&[(name, value)]).is_err(), "{name}={value}");
        }
    }
}
