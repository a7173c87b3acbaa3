//! Congestion controls of this machine: which one is usual, and which a connection may be given.

use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::TcpStream;

/// What an end can send with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Controls {
    /// The one that connections have unless told otherwise.
    pub usual: String,
    /// Those that this process may choose.
    pub permitted: Vec<String>,
}

impl Controls {
    /// Those permitted besides the one `asked` for, or else the usual one.
    pub fn others(&self, asked: Option<&str>) -> Vec<String> {
        let own = asked.unwrap_or(&self.usual);
        // They may be a stranger's words.
        let is_name = |name: &&String| {
            name.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        let others = self.permitted.iter().filter(|name| *name != own);
        others.filter(is_name).cloned().collect()
    }
}

fn listed(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{file}")).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Those of this machine. Whether one is permitted is found out by asking for it on a socket that goes nowhere.
pub fn here() -> Controls {
    let may = |name: &String| check(name).is_ok();
    Controls {
        usual: listed("tcp_congestion_control")
            .into_iter()
            .next()
            .unwrap_or_default(),
        permitted: listed("tcp_available_congestion_control")
            .into_iter()
            .filter(may)
            .collect(),
    }
}

/// Whether this process may choose it, as the system says.
pub fn check(name: &str) -> io::Result<()> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(name.as_bytes())
}

/// What a client asks of its connection. A name that is not loaded already is not looked for: a stranger's word must not
/// make the kernel load anything. What came of it is in the connection's counters.
pub fn set_as_asked(stream: &TcpStream, name: &str) {
    if listed("tcp_available_congestion_control")
        .iter()
        .any(|known| known == name)
    {
        // Where it is not permitted the usual one stays, and the counters say so.
        let _ = socket2::SockRef::from(stream).set_tcp_congestion(name.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_control_is_there_and_not_among_the_others() {
        let controls = here();
        assert!(!controls.usual.is_empty());
        assert!(controls.permitted.contains(&controls.usual), "{controls:?}");
        assert!(!controls.others(None).contains(&controls.usual));
        let asked = controls.others(Some("none such"));
        assert_eq!(asked, controls.permitted);
    }

    #[test]
    fn nothing_unknown_is_set() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let before = crate::sys::tcp_info(&stream).unwrap().congestion;
        for name in ["", "none such", "../x"] {
            set_as_asked(&stream, name);
        }
        assert_eq!(crate::sys::tcp_info(&stream).unwrap().congestion, before);
        let other = here().permitted.pop().unwrap();
        set_as_asked(&stream, &other);
        assert_eq!(crate::sys::tcp_info(&stream).unwrap().congestion, other);
    }
}
