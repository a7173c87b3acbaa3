//! Addresses of servers as people type them.

use crate::error::ControlError;
use crate::reach;
use crate::stop::StopFlag;
use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// How long a name may take. A resolver's own limit is 10 s: two attempts of 5 s (resolv.conf(5)).
const RESOLVE_TIME: Duration = Duration::from_secs(12);

/// The port of `wirespeed serve`: not assigned, and not the port of another measuring tool.
pub const DEFAULT_PORT: u16 = 7411;

/// A host and a port, not resolved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or IP address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Address {
    /// Read `HOST`, `HOST:PORT`, `IPv6`, `[IPv6]` or `[IPv6]:PORT`; without a port that of `wirespeed serve`.
    pub fn parse(text: &str) -> Result<Self, ControlError> {
        Address::parse_or(text, DEFAULT_PORT)
    }

    /// The same with another port where none is named.
    pub fn parse_or(text: &str, default_port: u16) -> Result<Self, ControlError> {
        let bad = || ControlError::BadAddress(text.to_owned());
        let port = |digits: &str| {
            let number = digits
                .bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| digits.parse::<u16>().ok());
            number.flatten().filter(|p| *p != 0).ok_or_else(bad)
        };
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, after) = rest.split_once(']').ok_or_else(bad)?;
            if !host.contains(':') {
                return Err(bad());
            }
            match after.strip_prefix(':') {
                Some(digits) => (host, port(digits)?),
                None if after.is_empty() => (host, default_port),
                None => return Err(bad()),
            }
        } else {
            match text.split_once(':') {
                // More than one colon: a bare IPv6 address.
                Some((_, rest)) if rest.contains(':') => (text, default_port),
                Some((host, digits)) => (host, port(digits)?),
                None => (text, default_port),
            }
        };
        let is_v6 = host.contains(':');
        let readable = if is_v6 {
            host.split('%')
                .next()
                .is_some_and(|a| a.parse::<std::net::Ipv6Addr>().is_ok())
        } else {
            !host.is_empty()
                && host
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
        };
        if !readable {
            return Err(bad());
        }
        Ok(Address {
            host: host.to_owned(),
            port,
        })
    }

    /// Every socket address that the name stands for, at least one. Waits for names that nobody answers for, but not past the
    /// wish to stop.
    pub fn resolve(&self, stop: &StopFlag) -> Result<Vec<SocketAddr>, ControlError> {
        reach::resolve(&self.host, self.port, RESOLVE_TIME, stop)
    }

    /// The hosts that the name stands for: itself where that is one, else each of its addresses, sorted, none twice. Of a name
    /// with addresses of both families those count that the system prefers, since a host may have one of each.
    pub fn hosts(&self, stop: &StopFlag) -> Result<Vec<Address>, ControlError> {
        let found = self.resolve(stop)?;
        let is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
        let of_family: BTreeSet<SocketAddr> = found.into_iter().filter(|at| at.is_ipv6() == is_v6).collect();
        if of_family.len() == 1 {
            return Ok(vec![self.clone()]);
        }
        Ok(of_family.into_iter().map(Address::from).collect())
    }
}

impl From<SocketAddr> for Address {
    fn from(at: SocketAddr) -> Self {
        let host = match at {
            SocketAddr::V6(at) if at.scope_id() != 0 => format!("{}%{}", at.ip(), at.scope_id()),
            _ => at.ip().to_string(),
        };
        Address {
            host,
            port: at.port(),
        }
    }
}

/// As [`Address::parse`] reads it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// Whether this machine has the address: every 127.x is one, and whatever its name stands for. A socket can be bound to it then.
pub fn is_of_this_machine(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// Where a server that listens on loopback alone is found by those who know this machine by one of `addresses`.
pub(crate) fn on_loopback(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let loopback = |at: &SocketAddr| -> SocketAddr {
        match at.ip() {
            IpAddr::V4(_) => (Ipv4Addr::LOCALHOST, at.port()).into(),
            IpAddr::V6(_) => (Ipv6Addr::LOCALHOST, at.port()).into(),
        }
    };
    let ours = addresses.iter().filter(|at| is_of_this_machine(at.ip()));
    let mut found: Vec<SocketAddr> = ours.map(loopback).collect();
    found.dedup();
    found.retain(|at| !addresses.contains(at));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        let parsed = |text: &str| Address::parse(text).map(|a| (a.host, a.port)).unwrap();
        assert_eq!(parsed("node7"), ("node7".into(), DEFAULT_PORT));
        assert_eq!(parsed("10.0.0.7:80"), ("10.0.0.7".into(), 80));
        assert_eq!(parsed("::1"), ("::1".into(), DEFAULT_PORT));
        assert_eq!(parsed("[fe80::1%eth0]:9"), ("fe80::1%eth0".into(), 9));
        assert_eq!(parsed("[::1]"), ("::1".into(), DEFAULT_PORT));
        for bad in [
            "", ":", ":80", "a:", "a:0", "a:65536", "a:-1", "a:+1", "[::1", "[::1]x", "[a]:1", "a b",
            "1:2:3", "a/b",
        ] {
            assert_eq!(Address::parse(bad).unwrap_err().exit_code(), 2, "{bad}");
        }
    }

    #[test]
    fn a_port_that_is_named_holds_whatever_the_default_is() {
        let port = |text: &str| Address::parse_or(text, 80).unwrap().port;
        for text in ["node7", "10.0.0.7", "::1", "fe80::7411", "[::1]"] {
            assert_eq!(port(text), 80, "{text}");
        }
        for text in ["node7:7411", "10.0.0.7:7411", "[::1]:7411"] {
            assert_eq!(port(text), 7411, "{text}");
        }
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for text in ["node7:80", "10.0.0.7:80", "[::1]:80", "[fe80::1%eth0]:80"] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        let scoped: SocketAddr = "[fe80::1%3]:80".parse().unwrap();
        assert_eq!(Address::from(scoped).to_string(), "[fe80::1%3]:80");
    }

    #[test]
    fn one_address_is_one_host() {
        for text in ["127.0.0.1:80", "[::1]:80", "localhost"] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.hosts(&StopFlag::new()).unwrap(), [address]);
        }
        let unknown = Address::parse("no-such-host.invalid").unwrap();
        assert!(unknown.hosts(&StopFlag::new()).is_err());
    }

    #[test]
    fn unknown_hosts_are_told() {
        let error = Address::parse("no-such-host.invalid")
            .unwrap()
            .resolve(&StopFlag::new())
            .unwrap_err();
        assert!(matches!(error, ControlError::UnknownHost { .. }));
        assert_eq!(error.exit_code(), 1);
    }

    #[test]
    fn this_machine_has_more_than_one_address() {
        for ours in ["127.0.0.1", "127.0.1.1", "127.255.255.254"] {
            assert!(is_of_this_machine(ours.parse().unwrap()), "{ours}");
        }
        assert!(!is_of_this_machine("192.0.2.1".parse().unwrap()));
        let at = |text: &str| -> SocketAddr { text.parse().unwrap() };
        assert_eq!(on_loopback(&[at("127.0.1.1:7")]), [at("127.0.0.1:7")]);
        assert_eq!(on_loopback(&[at("127.0.0.1:7"), at("127.0.1.1:7")]), []);
        assert_eq!(on_loopback(&[at("192.0.2.1:7")]), []);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".{0,40}") {
            let _ = Address::parse(&text);
        }
    }
}
