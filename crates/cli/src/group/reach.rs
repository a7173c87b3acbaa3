//! How the user wants a far end to be reached. Nothing is reached here.

use crate::args::FarArgs;
use crate::errors::Failure;
use std::time::Duration;
use wirespeed::transport::Service;
use wirespeed_control::ControlError;
use wirespeed_control::auth::Identity;
use wirespeed_schema::units;

/// How the user wants groups to be reached.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// The credential for a server, as text.
    pub identity: Option<String>,
    /// IPv4 or IPv6 only.
    pub family: Option<Family>,
    /// New processes for every run.
    pub fresh: bool,
    /// The ranks of each end are threads of one process.
    pub together: bool,
    /// What becomes of a rank is told by whoever asked for the group, under a name of its own.
    pub ranks_have_names: bool,
    /// The user is told nothing of what happens to it.
    pub is_silent: bool,
    /// What groups share one turn at a server by.
    pub turn: Option<u64>,
    /// An end that says nothing for so long is lost.
    pub silence: Option<Duration>,
    /// A server that is not there yet gets so long to come.
    pub patience: Duration,
    /// The command that starts a server; `wirespeed serve` where nothing is said.
    pub server_command: Option<&'static str>,
    /// The service that bulk transfers go to or come from; at the case's address where nothing is said.
    pub service: Option<Service>,
}

/// Addresses of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Reach {
    /// Fresh processes of this machine for every run.
    pub fn of_processes() -> Self {
        Reach {
            fresh: true,
            ..Reach::default()
        }
    }

    /// What the options say.
    pub fn of(arguments: &FarArgs) -> Result<Self, Failure> {
        let silence = arguments.silence.as_deref().map(parse_silence).transpose()?;
        Identity::check(arguments.identity.as_deref())?;
        let family = match (arguments.ipv4, arguments.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        };
        Ok(Reach {
            identity: arguments.identity.clone(),
            family,
            silence,
            ..Reach::of_processes()
        })
    }

    /// The failure of reaching a server, with a remedy that names its command.
    pub(super) fn failure(&self, error: &ControlError) -> Failure {
        let remedy = error.remedy();
        let remedy = match self.server_command {
            Some(command) => remedy.replace("wirespeed serve", command),
            None => remedy,
        };
        Failure::with(error.exit_code(), error.to_string(), remedy)
    }
}

/// How long an end may say nothing, as typed.
pub fn parse_silence(text: &str) -> Result<Duration, Failure> {
    match units::parse_duration_ns(text) {
        Ok(ns @ 100_000_000..=3_600_000_000_000) => Ok(Duration::from_nanos(ns)),
        _ => Err(Failure::usage(
            format!("invalid --silence {text}"),
            "give a duration from 100ms to 1h, such as 10s",
        )),
    }
}
