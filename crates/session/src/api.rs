//! What clients, coordinator and nodes send each other: the bodies of requests and answers. Plain data.

use crate::definition::{Computation, Definition};
use crate::node::Free;
use crate::say::Work;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wirespeed_control::Failure;
use wirespeed_schema::message::FailureClass;

/// A client asks a coordinator for a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateSession {
    /// The session.
    pub definition: Definition,
    /// What its main computation does beside messages.
    #[serde(default)]
    pub work: Work,
    /// Start the daemon that passes messages on.
    #[serde(default)]
    pub daemon: bool,
}

/// A computation, ready on a node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Placed {
    /// Its name.
    pub name: String,
    /// Its process there.
    pub pid: u32,
    /// The node.
    pub node: String,
    /// The node's `HOST:PORT`.
    pub address: String,
    /// The machine: the same for nodes that share memory.
    pub machine: String,
}

/// A session that was created: everybody is ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Created {
    /// Its number.
    pub id: String,
    /// Its computations in order, the daemon last.
    pub computations: Vec<Placed>,
}

/// A coordinator asks a node to start computations of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartOnNode {
    /// The session.
    pub id: String,
    /// What to start, with what each does.
    pub computations: Vec<(Computation, Work)>,
}

/// A node and what is free there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// The machine that it runs on.
    pub machine: String,
    /// What is not set aside.
    pub free: Free,
    /// Sessions with computations there.
    pub sessions: Vec<String>,
}

/// A node makes itself known to a coordinator, again and again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// Its `HOST:PORT`.
    pub address: String,
}

/// A computation as its node sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ComputationStatus {
    /// Its name.
    pub name: String,
    /// How it ended, once it has.
    pub ended: Option<String>,
    /// Why the session cannot go on, when it ended early.
    pub early_end: Option<String>,
}

/// The answer to what cannot be done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refused {
    /// What kind: `usage`, `refused`, `failed`.
    pub class: FailureClass,
    /// One line of cause.
    pub error: String,
    /// One line of remedy.
    pub remedy: Option<String>,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Refused {
            class: failure.class,
            error: failure.message,
            remedy: failure.remedy,
        }
    }
}

impl Refused {
    /// The answer for `failure`, and its status.
    pub(crate) fn of(failure: &Failure) -> (u16, Value) {
        let status = match failure.class {
            FailureClass::Usage | FailureClass::Unsupported => 400,
            FailureClass::Refused => 503,
            _ => 409,
        };
        let refused = Refused {
            class: failure.class,
            error: failure.message.clone(),
            remedy: failure.remedy.clone(),
        };
        (status, serde_json::to_value(refused).unwrap_or_default())
    }

    /// What the far end stated, safe for a terminal.
    pub(crate) fn into_failure(self) -> Failure {
        Failure {
            class: self.class,
            message: wirespeed_control::session::clean(&self.error),
            remedy: self
                .remedy
                .map(|remedy| wirespeed_control::session::clean(&remedy)),
        }
    }
}
