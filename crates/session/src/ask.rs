//! What is asked for: a session's definition, and what its computations do beside messages.

use crate::definition::{Computation, Definition};
use crate::say::Work;
use serde::{Deserialize, Serialize};

/// The computation that passes messages on.
pub const DAEMON: &str = "router";

/// What is asked for; a client says it to a coordinator so.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The session.
    pub definition: Definition,
    /// What its main computation does beside messages; what is prepended to search paths, all of them have.
    #[serde(default)]
    pub work: Work,
    /// Start the daemon that passes messages on.
    #[serde(default)]
    pub daemon: bool,
}

impl Ask {
    /// Everything to start, with its work; the daemon comes last.
    pub(crate) fn computations(&self) -> Vec<(Computation, Work)> {
        let all = self.definition.expand().into_iter().enumerate();
        let work = |at: usize| match at {
            0 => self.work.clone(),
            _ => Work {
                prepend: self.work.prepend.clone(),
                ..Work::default()
            },
        };
        let daemon = self.daemon.then(|| Computation {
            name: DAEMON.into(),
            ..Computation::default()
        });
        let mut all: Vec<_> = all.map(|(at, computation)| (computation, work(at))).collect();
        all.extend(daemon.map(|daemon| (daemon, Work::default())));
        all
    }
}
