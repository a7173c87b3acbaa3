//! Computations that run elsewhere, as their client sees them: an address for data, and a control channel that somebody
//! carries. Their nodes end them, never the client's group.

use crate::report::{ComputationReport, SessionReport};
use parking_lot::Mutex;
use std::io;
use std::net::{IpAddr, Shutdown};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wirespeed_control::{Failure, Launch, Launched, RankProcess, RankProgram};
use wirespeed_schema::order::InOrder;

/// One computation's place and channel.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) node: String,
    pub(crate) address: IpAddr,
    pub(crate) pid: u32,
    /// Our end of its control channel, until a group takes it.
    pub(crate) channel: Mutex<Option<UnixStream>>,
    /// Whether the channel still leads to it.
    pub(crate) open: Arc<AtomicBool>,
}

impl Member {
    fn take_channel(&self) -> Option<UnixStream> {
        self.channel.lock().take()
    }
}

/// The computations of a session, in their order.
pub(crate) struct Members {
    pub(crate) all: Arc<Vec<Member>>,
    /// This end's address, as they reach it.
    pub(crate) local_address: IpAddr,
    /// They run on this machine.
    pub(crate) here: bool,
}

impl Members {
    /// The first one whose channel was closed from its side.
    pub(crate) fn lost(&self) -> Option<Failure> {
        let lost = self.all.iter().find(|m| !m.open.load(Ordering::Acquire))?;
        Some(crate::failed(
            format!("{} is lost: its node {} closed its channel", lost.name, lost.node),
            "look at the node's messages, and ask for a new session",
        ))
    }

    /// Starts their ranks: `client` for the client, their own processes for the others.
    pub(crate) fn launcher(&self, client: RankProgram) -> Arc<dyn Launch> {
        Arc::new(Channels {
            client,
            members: self.all.clone(),
            local_address: self.local_address,
        })
    }

    /// What `computations` tell of every one, in their order: of those whose node is gone, that nothing more is known.
    pub(crate) fn account(&self, mut computations: Vec<ComputationReport>) -> SessionReport {
        for member in &*self.all {
            if computations.iter().all(|report| report.name != member.name) {
                computations.push(ComputationReport {
                    name: member.name.clone(),
                    node: member.node.clone(),
                    exit: "not known: its node does not answer".into(),
                    early: true,
                    ..ComputationReport::default()
                });
            }
        }
        computations.order_by_key(|report| self.all.iter().position(|member| member.name == report.name));
        SessionReport {
            computations,
            ..SessionReport::default()
        }
    }

    /// Close the channels that no group has taken.
    pub(crate) fn close(&self) {
        for member in &*self.all {
            // Whoever has it closes it.
            member
                .take_channel()
                .map(|channel| channel.shutdown(Shutdown::Both));
        }
    }
}

/// Starts ranks of a session elsewhere.
struct Channels {
    client: RankProgram,
    members: Arc<Vec<Member>>,
    local_address: IpAddr,
}

impl std::fmt::Debug for Channels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channels(..)")
    }
}

impl Launch for Channels {
    fn name(&self) -> String {
        "a rank of the session".into()
    }

    fn launch(&self, rank: u32) -> io::Result<Launched> {
        if rank == 0 {
            return self.client.launch(rank);
        }
        let member = self.members.get(rank as usize - 1);
        let member = member.ok_or_else(|| io::Error::other("the session has no such computation"))?;
        let channel = member.take_channel();
        let used = || io::Error::other(format!("{} has left its group and cannot come back", member.name));
        Ok(Launched {
            channel: channel.ok_or_else(used)?,
            process: Box::new(Elsewhere {
                pid: member.pid,
                open: member.open.clone(),
            }),
        })
    }

    fn bind_address(&self, rank: u32) -> Option<IpAddr> {
        match rank {
            0 => Some(self.local_address),
            rank => self.members.get(rank as usize - 1).map(|member| member.address),
        }
    }
}

/// A computation on a node, as its group sees it: the node ends it with its session.
struct Elsewhere {
    pid: u32,
    open: Arc<AtomicBool>,
}

impl RankProcess for Elsewhere {
    fn id(&self) -> u32 {
        self.pid
    }

    fn ended(&mut self) -> Option<String> {
        let open = self.open.load(Ordering::Acquire);
        Some(
            if open {
                "its part has ended"
            } else {
                "its node closed its channel"
            }
            .into(),
        )
    }

    fn kill(&mut self) {}
}
