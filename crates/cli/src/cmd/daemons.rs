//! `wirespeed coordinator` and `wirespeed node`, and the hidden verb of a computation's process.

use crate::args::{CoordinatorArgs, DoorArgs, NodeArgs, StdioNodeArgs};
use crate::cmd::{serve, stop_on_signals};
use crate::errors::{Ended, Failure};
use crate::output;
use crate::stderr;
use std::net::SocketAddr;
use std::sync::Arc;
use wirespeed::Registry;
use wirespeed_control::RankProgram;
use wirespeed_control::address::Address;
use wirespeed_control::auth::keyfile::{self, KeyFile};
use wirespeed_session::Tell;
use wirespeed_session::coordinator::{Coordinator, CoordinatorOptions, DEFAULT_PORT};
use wirespeed_session::daemon::{NodeDaemon, NodeOptions};
use wirespeed_session::node::Node;
use wirespeed_session::stdio_node::{self, Arrival};

/// Place sessions until stopped.
pub fn coordinator(arguments: &CoordinatorArgs) -> Result<Ended, Failure> {
    let options = CoordinatorOptions {
        listen: serve::listen(&arguments.door.listen)?,
        port: arguments.port,
    };
    let (key, stop) = (key(&arguments.door)?, stop_on_signals()?);
    let coordinator = Coordinator::bind(&options, &key, &stop, tell())?;
    greet(coordinator.addresses(), &arguments.door, &key)?;
    coordinator.run()?;
    Ok(Ended::OK)
}

/// Run computations until stopped.
pub fn node(arguments: &NodeArgs) -> Result<Ended, Failure> {
    let options = NodeOptions {
        listen: serve::listen(&arguments.door.listen)?,
        port: arguments.port,
        coordinator: Some(Address::parse_or(&arguments.coordinator, DEFAULT_PORT)?),
    };
    let (key, stop) = (key(&arguments.door)?, stop_on_signals()?);
    let name = arguments.name.clone().unwrap_or_else(host_name);
    let daemon = NodeDaemon::bind(&options, Node::new(name, program()?), &key, &stop, tell())?;
    greet(daemon.addresses(), &arguments.door, &key)?;
    daemon.run()?;
    Ok(Ended::OK)
}

/// Be a computation, until the node says to end.
pub fn computation(registry: &Registry) -> Result<Ended, Failure> {
    let code = wirespeed_session::computation::run(registry);
    Ended::hidden(
        code,
        "__computation is started by a node",
        "use `wirespeed session`",
    )
}

/// Be a session's own node, over standard input and output.
pub fn stdio_node(arguments: &StdioNodeArgs) -> Result<Ended, Failure> {
    let arrival = Arrival {
        travelled: arguments.travelled,
        in_slurm: arguments.slurm,
    };
    let name = std::env::var("SLURMD_NODENAME").ok().filter(|_| arguments.slurm);
    Ended::hidden(
        stdio_node::run(name.unwrap_or_else(host_name), arrival),
        "__node is started by srun or ssh",
        "use `wirespeed session --launch`",
    )
}

/// The program that becomes a computation: this one.
pub fn program() -> Result<RankProgram, Failure> {
    Ok(RankProgram {
        arguments: vec!["__computation".into()],
        ..RankProgram::this()?
    })
}

/// The name of this host.
pub fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

fn key(door: &DoorArgs) -> Result<KeyFile, Failure> {
    Ok(KeyFile::load_or_make(&keyfile::path(door.key.as_deref())?)?)
}

/// Lines about what a daemon sees, on stderr.
fn tell() -> Tell {
    Arc::new(stderr::say)
}

/// Where a daemon listens, and what gets others in.
fn greet(addresses: &[SocketAddr], door: &DoorArgs, key: &KeyFile) -> Result<(), Failure> {
    let listening = addresses
        .iter()
        .map(|address| format!("listening on {address}\n"));
    let mut text: String = listening.collect();
    if door.print_identity {
        text.push_str(&serve::secrets(key.identity()));
        text.push_str(&serve::bearer(key.identity()));
    }
    output::print(&text)
}
