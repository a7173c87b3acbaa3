//! What can go wrong between ranks: one line of cause, one of remedy, and the program's exit code.

use crate::job::error::JobError;
use crate::session::group::Failure;
use crate::thread::Panicked;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use wirespeed_schema::message::{FailureClass, Refusal};

/// Why control failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// An address that cannot be read.
    #[error("{0:?} is not an address")]
    BadAddress(String),
    /// No such host.
    #[error("cannot find host {host:?}: {source}")]
    UnknownHost {
        /// As typed.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// Nobody listens there, or the way there is closed.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// Where to.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The server cannot listen.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// There is no credential: neither an identity nor a key file.
    #[error("no key: neither an identity nor the key file {} is there", path.display())]
    NoKey {
        /// The key file that was looked for.
        path: PathBuf,
    },
    /// Others can read the key file.
    #[error("key file {} has mode {mode:03o}: others can read it", path.display())]
    KeyMode {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file is damaged.
    #[error("{what} is damaged: {why}")]
    BadKey {
        /// Which.
        what: String,
        /// What is wrong.
        why: String,
    },
    /// The text of an identity is damaged.
    #[error("{}the identity is damaged: {why}", .from.map(|from| format!("{from}: ")).unwrap_or_default())]
    BadIdentity {
        /// The option or variable that has it, where that is known.
        from: Option<&'static str>,
        /// What is wrong.
        why: &'static str,
    },
    /// A file could not be read or made.
    #[error("{what}: {source}")]
    File {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no such congestion control, or does not let this process choose it.
    #[error("cannot send with congestion control {name:?}: {source}")]
    Congestion {
        /// As typed.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The server has another certificate than the pinned one.
    #[error("{address} is not the server that this key belongs to")]
    WrongServer {
        /// The server.
        address: SocketAddr,
    },
    /// The far end refuses.
    #[error("{}", .0.reason)]
    Refused(Refusal),
    /// The far end does not speak the protocol.
    #[error("{peer} does not speak the control protocol: {why}")]
    Protocol {
        /// Which end.
        peer: String,
        /// What it sent.
        why: String,
    },
    /// The far end went away.
    #[error("{peer} went away: {why}")]
    Lost {
        /// Which end.
        peer: String,
        /// How it was noticed.
        why: String,
    },
    /// A rank's process could not be started.
    #[error("cannot start {program}: {source}")]
    Launch {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// A rank could not be started, or was gone before it began.
    #[error("{error}")]
    Rank {
        /// The rank.
        rank: u32,
        /// What is wrong with it.
        error: Box<ControlError>,
    },
    /// More hosts or ranks than this process may have files for.
    #[error("{count} {kind} need {files} open files, this process may have {allowed}")]
    TooFewFiles {
        /// What needs them.
        kind: &'static str,
        /// How many were asked for.
        count: usize,
        /// Files that they need.
        files: u64,
        /// Files that may be open.
        allowed: u64,
    },
    /// A defect.
    #[error("a thread {0}")]
    Panicked(#[from] Panicked),
    /// A launcher's job cannot be joined, started or used.
    #[error(transparent)]
    Job(JobError),
    /// The user stopped it before anything ran.
    #[error("interrupted")]
    Interrupted,
}

/// Whether an address that others would name is one of this machine: only then can it be listened on.
fn is_own(ip: IpAddr) -> bool {
    !ip.is_loopback() && UdpSocket::bind((ip, 0)).is_ok()
}

impl ControlError {
    /// One line of remedy.
    pub fn remedy(&self) -> String {
        match self {
            Self::BadAddress(_) => "write HOST, HOST:PORT or [IPv6]:PORT".into(),
            Self::UnknownHost { .. } => "check the spelling, or give its IP address".into(),
            Self::Connect { address, source } if source.kind() == io::ErrorKind::ConnectionRefused => {
                let whose = match is_own(address.ip()) {
                    true => " (an address of this machine itself)",
                    false => "",
                };
                format!("start `wirespeed serve` there, or check that it listens on {address}{whose}")
            }
            Self::Connect { .. } => "check that the host is up and that no firewall drops the port".into(),
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "another server runs there; use it, or choose another --port".into()
            }
            Self::Listen { .. } => "listen on an address of this machine, and a port above 1023".into(),
            Self::NoKey { .. } => {
                "copy the key file from the server's account, or set WIRESPEED_IDENTITY to the line that \
                 `wirespeed serve --print-identity` shows there"
                    .into()
            }
            Self::KeyMode { path, .. } => format!("chmod 600 {}", path.display()),
            Self::BadKey { .. } => "copy it again in full, or remove the file to have a new one made".into(),
            Self::BadIdentity { .. } => {
                "copy the line that `wirespeed serve --print-identity` shows, in full".into()
            }
            Self::Congestion { .. } => {
                "choose one of /proc/sys/net/ipv4/tcp_allowed_congestion_control".into()
            }
            Self::File { .. } => "check the path and its permissions".into(),
            Self::WrongServer { .. } => "copy the key or identity of that server again".into(),
            Self::Refused(refusal) => refusal.remedy.clone(),
            Self::Protocol { .. } => "check the port, and that both ends run wirespeed".into(),
            Self::Lost { .. } => "look at the far end's messages and run again".into(),
            Self::Launch { .. } => {
                "check that the program may be executed and that processes may be started".into()
            }
            Self::Rank { error, .. } => error.remedy(),
            Self::TooFewFiles { kind, files, .. } => {
                format!("raise the limit: ulimit -n {files}; or have fewer {kind}")
            }
            Self::Panicked(_) => "this is a defect of wirespeed; please report it".into(),
            Self::Job(error) => error.remedy.clone(),
            Self::Interrupted => "run again".into(),
        }
    }

    /// The class: usage, refused, or failed.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::BadAddress(_) | Self::BadIdentity { from: Some(_), .. } => FailureClass::Usage,
            Self::NoKey { .. }
            | Self::KeyMode { .. }
            | Self::BadKey { .. }
            | Self::BadIdentity { .. }
            | Self::WrongServer { .. }
            | Self::Refused(_) => FailureClass::Refused,
            Self::Rank { error, .. } => error.class(),
            _ => FailureClass::Failed,
        }
    }

    /// The program's exit code: 2 usage, 5 refused, 130 interrupted, 1 anything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Rank { error, .. } => error.exit_code(),
            other => exit_code(other.class()),
        }
    }

    /// As an error of `rank`, unless it is the user's wish.
    pub(crate) fn of_rank(self, rank: u32) -> Self {
        match self {
            Self::Interrupted => self,
            error => Self::Rank {
                rank,
                error: Box::new(error),
            },
        }
    }

    /// An error of `peer` while it was read from or written to.
    pub(crate) fn lost(peer: impl Into<String>, why: impl ToString) -> Self {
        ControlError::Lost {
            peer: peer.into(),
            why: why.to_string(),
        }
    }
}

impl From<&ControlError> for Failure {
    fn from(error: &ControlError) -> Self {
        Failure::with_remedy(error.class(), error.to_string(), error.remedy())
    }
}

impl From<Panicked> for Failure {
    fn from(panicked: Panicked) -> Self {
        Failure::from(&ControlError::from(panicked))
    }
}

/// The program's exit code for a failure: 2 usage (and what a transport cannot do), 5 refused, 1 anything else.
pub fn exit_code(class: FailureClass) -> u8 {
    match class {
        FailureClass::Usage | FailureClass::Unsupported => 2,
        FailureClass::Refused => 5,
        FailureClass::Failed | FailureClass::PeerLost | FailureClass::Memory => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::message::RefusalCode;

    #[test]
    fn exit_codes_and_remedies() {
        let refused = ControlError::Refused(Refusal {
            code: RefusalCode::Limit,
            reason: "too long".into(),
            remedy: "ask for less".into(),
        });
        assert_eq!(
            (refused.exit_code(), refused.remedy().as_str()),
            (5, "ask for less")
        );
        let nobody = |address: &str| {
            let (address, source) = (address.parse().unwrap(), io::ErrorKind::ConnectionRefused.into());
            ControlError::Connect { address, source }.remedy()
        };
        assert!(nobody("192.0.2.77:7411").ends_with("listens on 192.0.2.77:7411"));
        assert!(nobody("127.0.0.1:7411").ends_with("listens on 127.0.0.1:7411"));
        // Any address of the machine that is not its loopback.
        let route = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
            socket.connect("192.0.2.77:9")?;
            socket.local_addr()
        });
        if let Some(own) = route.ok().map(|own| own.ip()).filter(|ip| !ip.is_loopback()) {
            assert!(nobody(&format!("{own}:7411")).contains("of this machine itself"));
        }
        assert_eq!(ControlError::BadAddress("x:y".into()).exit_code(), 2);
        assert_eq!(ControlError::Interrupted.exit_code(), 130);
        assert_eq!(ControlError::lost("rank 1", "killed").exit_code(), 1);
        assert_eq!(ControlError::Interrupted.of_rank(1).exit_code(), 130);
        let text = refused.to_string();
        let of_rank = refused.of_rank(1);
        assert_eq!(
            (
                of_rank.to_string(),
                of_rank.remedy().as_str(),
                of_rank.exit_code()
            ),
            (text, "ask for less", 5)
        );
    }
}
