//! A node makes itself known to its coordinator, and goes on trying where it cannot. What changes is told at once, and what
//! stays wrong again now and then. It must never end the node, nor register an address at which nobody listens.

use crate::Tell;
use crate::api::Register;
use crate::http::Far;
use crate::refused;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};
use wirespeed_control::Failure;
use wirespeed_control::launch::stdio::local_address;
use wirespeed_schema::message::FailureClass;

/// Between two registrations.
pub(crate) const REGISTER_EVERY: Duration = Duration::from_secs(2);
/// Time for one.
const CALL_TIME: Duration = Duration::from_secs(5);
/// What stays wrong is told again after this time.
const TELL_AGAIN: Duration = Duration::from_secs(60);

/// A node at its coordinator.
pub(crate) struct Registration {
    far: Far,
    name: String,
    /// Where the node listens.
    listening: Vec<SocketAddr>,
    tell: Tell,
    tried: Option<Instant>,
    told: Option<(Instant, Result<(), String>)>,
}

impl Registration {
    pub(crate) fn new(far: Far, name: &str, listening: &[SocketAddr], tell: Tell) -> Self {
        Registration {
            far,
            name: name.to_owned(),
            listening: listening.to_vec(),
            tell,
            tried: None,
            told: None,
        }
    }

    /// Register if it is time to; tell how that went, if it went otherwise before.
    pub(crate) fn renew(&mut self) {
        if self.tried.is_some_and(|at| at.elapsed() < REGISTER_EVERY) {
            return;
        }
        self.tried = Some(Instant::now());
        let found = self.register();
        self.note(found);
    }

    fn note(&mut self, found: Result<(), Failure>) {
        let outcome = found.as_ref().copied().map_err(|failure| failure.message.clone());
        let is_news = self
            .told
            .as_ref()
            .is_none_or(|(at, told)| *told != outcome || (told.is_err() && at.elapsed() >= TELL_AGAIN));
        if !is_news {
            return;
        }
        match &found {
            Ok(()) => (self.tell)(&format!("registered as {} with {}", self.name, self.far.name())),
            Err(failure) => {
                let seconds = REGISTER_EVERY.as_secs();
                let cause = wirespeed_control::session::clean(&failure.message);
                (self.tell)(&format!(
                    "not registered: {cause}; trying again every {seconds} s"
                ));
                (self.tell)(&format!("  {}", remedy(failure)));
            }
        }
        self.told = Some((Instant::now(), outcome));
    }

    fn register(&self) -> Result<(), Failure> {
        let addresses = self.far.address.resolve(&self.far.stop);
        let addresses = addresses.map_err(|error| Failure::from(&error))?;
        let is_loopback = addresses.iter().all(|a| a.ip().is_loopback());
        // The address by which the coordinator sees this host is the one that others can reach.
        let host = match is_loopback {
            true => Some(addresses[0].ip()),
            false => local_address(addresses[0]),
        };
        let host = host.ok_or_else(|| {
            crate::failed(
                format!("this host has no way to {}", self.far.name()),
                "check the network, or name the coordinator with --coordinator",
            )
        })?;
        let address = reached_at(host, &self.listening)?;
        let register = Register {
            name: self.name.clone(),
            address: address.to_string(),
        };
        let registered = self
            .far
            .call("POST", "/coordinator/1/nodes", &register, CALL_TIME);
        registered.map(|_: Value| ())
    }
}

/// The address of a node that listens at `listening`, for those who see its host as `host`.
fn reached_at(host: IpAddr, listening: &[SocketAddr]) -> Result<SocketAddr, Failure> {
    let reaches = |at: &&SocketAddr| at.ip() == host || at.ip().is_unspecified();
    let found = listening.iter().find(reaches);
    let found = found.map(|at| SocketAddr::new(host, at.port()));
    found.ok_or_else(|| {
        let at: Vec<String> = listening.iter().map(|at| at.ip().to_string()).collect();
        refused(
            format!(
                "the coordinator would reach this node at {host}, and it listens at {}",
                at.join(", ")
            ),
            "start it with --listen all",
        )
    })
}

fn remedy(failure: &Failure) -> &str {
    match (&failure.class, &failure.remedy) {
        (FailureClass::Refused, Some(remedy)) => remedy,
        _ => "start `wirespeed coordinator` there, or name it with --coordinator HOST:PORT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::sync::Arc;
    use wirespeed_control::StopFlag;
    use wirespeed_control::address::Address;
    use wirespeed_control::auth::keyfile::KeyFile;

    #[test]
    fn what_changes_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::load_or_make(&folder.path().join("key")).unwrap();
        let far = Far {
            what: "coordinator",
            address: Address::parse("localhost:9").unwrap(),
            identity: key.identity().clone(),
            stop: StopFlag::new(),
        };
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let hears = heard.clone();
        let tell: Tell = Arc::new(move |line: &str| hears.lock().push(line.to_owned()));
        let mut registration = Registration::new(far, "here", &[], tell);
        let closed = || Err(crate::failed("connection refused", "leave --host out"));
        let strange = || Err(refused("another key", "copy the key file"));
        for found in [closed(), closed(), strange(), strange(), Ok(()), Ok(()), closed()] {
            registration.note(found);
        }
        let heard = heard.lock();
        let first: Vec<&str> = heard.iter().map(|line| line.split(';').next().unwrap()).collect();
        let start = "  start `wirespeed coordinator` there, or name it with --coordinator HOST:PORT";
        assert_eq!(
            first,
            [
                "not registered: connection refused",
                start,
                "not registered: another key",
                "  copy the key file",
                "registered as here with the coordinator at localhost:9",
                "not registered: connection refused",
                start,
            ]
        );
    }

    #[test]
    fn nobody_is_sent_where_nobody_listens() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let host: IpAddr = "192.0.2.1".parse().unwrap();
        let found = |listening: &[SocketAddr]| reached_at(host, listening).map_err(|failure| failure.message);
        assert_eq!(found(&[at("[::]:5"), at("0.0.0.0:5")]), Ok(at("192.0.2.1:5")));
        assert_eq!(found(&[at("192.0.2.1:7")]), Ok(at("192.0.2.1:7")));
        let refused = found(&[at("127.0.0.1:7"), at("[::1]:7")]).unwrap_err();
        assert!(
            refused.contains("192.0.2.1") && refused.contains("127.0.0.1, ::1"),
            "{refused}"
        );
    }
}
