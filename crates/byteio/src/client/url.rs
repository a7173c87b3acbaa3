//! Addresses of resources: `http://host:port/path`, `https://` for a service behind TLS.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::fmt;

/// What a path must not have as it is.
const IN_PATHS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// An address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Whether inside TLS.
    pub secure: bool,
    /// Name or address, IPv6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query, percent-encoded, from its slash.
    pub target: String,
}

/// It is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not http://HOST[:PORT]/PATH")]
pub struct BadUrl(pub String);

impl Url {
    /// Read an address as typed.
    pub fn parse(text: &str) -> Result<Url, BadUrl> {
        let bad = || BadUrl(text.to_owned());
        // A fragment is the reader's own: no server hears of it (RFC 3986, 3.5).
        let (text, _) = text.split_once('#').unwrap_or((text, ""));
        let (secure, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(bad()),
        };
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or_else(bad)?;
                let port = match after.strip_prefix(':') {
                    Some(port) => Some(port),
                    None if after.is_empty() => None,
                    None => return Err(bad()),
                };
                (host, port)
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let default = if secure { 443 } else { 80 };
        let port = port.map_or(Ok(default), |port| port.parse().map_err(|_| bad()))?;
        let fine = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
        if host.is_empty() || port == 0 || !host.chars().all(fine) {
            return Err(bad());
        }
        Ok(Url {
            secure,
            host: host.to_owned(),
            port,
            target: utf8_percent_encode(path, IN_PATHS).to_string(),
        })
    }

    /// The value of `Host`.
    pub fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// The target with a parameter more.
    pub fn with_query(&self, query: &str) -> String {
        let join = if self.target.contains('?') { '&' } else { '?' };
        format!("{}{join}{query}", self.target)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let url = Url::parse("http://node7:7412/a b?stream=1").unwrap();
        assert_eq!(url.to_string(), "http://node7:7412/a%20b?stream=1");
        assert_eq!(url.with_query("x=2"), "/a%20b?stream=1&x=2");
        // A fragment is not sent; a name with that character has it as %23.
        for (typed, target) in [
            ("/a#b", "/a"),
            ("/a?q#b/c", "/a?q"),
            ("/a%23b", "/a%23b"),
            ("#b/c", "/"),
        ] {
            assert_eq!(Url::parse(&format!("http://a{typed}")).unwrap().target, target);
        }
        let six = Url::parse("https://[::1]").unwrap();
        assert_eq!(
            (six.authority().as_str(), six.target.as_str(), six.secure),
            ("[::1]:443", "/", true)
        );
        for bad in [
            "",
            "node7/a",
            "ftp://a/b",
            "http://",
            "http://:80/",
            "http://a:0/",
            "http://a:x/",
            "http://[::1/",
            "http://a b/",
        ] {
            assert!(Url::parse(bad).is_err(), "{bad}");
        }
    }
}
