//! State machines of control: they are told what arrived and what time it is, and answer what to do. They hold no
//! socket, thread or clock, so that every order of events can be tested. Time is a [`Duration`] since any fixed moment.

pub mod agent;
pub mod group;
pub mod heart;
pub mod meeting;

use std::time::Duration;
use wirespeed_schema::message::{Hello, Refusal, RefusalCode};
use wirespeed_schema::shown::quoted;
use wirespeed_schema::version::{PROTOCOL_VERSION, PROTOCOL_VERSION_MIN, agree_protocol};

/// How long control waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// An end that says nothing for so long during a run is lost.
    pub silence: Duration,
    /// A new connection must be through its handshake by then.
    pub handshake: Duration,
    /// A started process must have said hello by then.
    pub start: Duration,
    /// After a request to stop, ranks have so long to end in order; then they are cancelled.
    pub orderly: Duration,
    /// After a cancel, ranks have so long to deliver what they have; then they are given up.
    pub grace: Duration,
    /// A server gives a silent client's slot away after so long when others wait for it.
    pub lease: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            silence: Duration::from_secs(10),
            handshake: Duration::from_secs(5),
            start: Duration::from_secs(10),
            orderly: Duration::from_millis(700),
            grace: Duration::from_secs(2),
            lease: Duration::from_millis(3500),
        }
    }
}

/// This build, as it names itself to the other end.
pub fn build_name() -> String {
    concat!("wirespeed ", env!("CARGO_PKG_VERSION")).to_owned()
}

/// This build's hello, without a proof.
pub fn hello() -> Hello {
    Hello {
        protocol_min: PROTOCOL_VERSION_MIN,
        protocol_max: PROTOCOL_VERSION,
        build: build_name(),
        proof: None,
    }
}

/// The protocol version to speak with whoever says `hello`, or an explanation.
pub fn agree(hello: &Hello) -> Result<u32, Refusal> {
    agree_protocol(hello.protocol_min, hello.protocol_max).ok_or_else(|| {
        let newer = hello.protocol_min > PROTOCOL_VERSION;
        Refusal {
            code: RefusalCode::Version,
            reason: format!(
                "{} speaks control protocol {} to {}, {} speaks {PROTOCOL_VERSION_MIN} to {PROTOCOL_VERSION}",
                clean(&hello.build),
                hello.protocol_min,
                hello.protocol_max,
                build_name(),
            ),
            remedy: format!(
                "update the older of the two ({})",
                if newer { build_name() } else { clean(&hello.build) }
            ),
        }
    })
}

/// Text of the other end, safe for a terminal and a log line: printable, one line, not long.
pub fn clean(text: &str) -> String {
    quoted(text, 300)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_agree_or_explain() {
        assert_eq!(agree(&hello()), Ok(PROTOCOL_VERSION));
        let mut newer = hello();
        newer.protocol_max += 5;
        assert_eq!(agree(&newer), Ok(PROTOCOL_VERSION), "the newest that both speak");
        newer.protocol_min = PROTOCOL_VERSION + 1;
        newer.build = "wirespeed\u{1b}[31m 9".into();
        let refusal = agree(&newer).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Version);
        assert!(build_name().starts_with("wirespeed 0."));
        assert!(
            refusal.remedy.contains(&build_name()),
            "ours is older: {refusal:?}"
        );
        assert!(
            refusal.reason.starts_with("wirespeed[31m 9 speaks"),
            "{refusal:?}"
        );
        let mut older = hello();
        (older.protocol_min, older.protocol_max) = (1, PROTOCOL_VERSION_MIN - 1);
        older.build = "wirespeed 0.0.1".into();
        let refusal = agree(&older).unwrap_err();
        assert_eq!(refusal.remedy, "update the older of the two (wirespeed 0.0.1)");
        // The newest alone is no newer than ours.
        older.protocol_min = PROTOCOL_VERSION;
        let refusal = agree(&older).unwrap_err();
        assert!(refusal.remedy.ends_with("(wirespeed 0.0.1)"), "{refusal:?}");
    }
}
