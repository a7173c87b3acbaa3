//! What clients, coordinator and nodes send each other: the bodies of requests and answers. Plain data.

use crate::definition::Computation;
use crate::node::Free;
use crate::say::Work;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
