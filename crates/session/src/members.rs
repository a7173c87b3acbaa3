//! Computations that run elsewhere, as their client sees them: an address for data, and a control channel that somebody
//! carries. Their nodes end them, never the client's group.

use crate::report::ComputationReport;
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

/// The first member whose channel was closed from its side.
pub(crate) fn lost(members: &[Member]) -> Option<Failure> {
    let lost = members.iter().find(|m| !m.open.load(Ordering::Acquire))?;
    Some(crate::failed(
        format!("{} is lost: its node {} closed its channel", lost.name, lost.node),
        "look at the node's messages, and ask for a new session",
    ))
}

/// Let `reports` tell of every member, in their order: of those whose node is gone, that nothing more is known.
pub(crate) fn account(members: &[Member], reports: &mut Vec<ComputationReport>) {
    for member in members {
        if reports.iter().all(|report| report.name != member.name) {
            reports.push(ComputationReport {
                name: member.name.clone(),
                node: member.node.clone(),
                exit: "not known: its node does not answer".into(),
                early: true,
                ..ComputationReport::default()
            });
        }
    }
    reports.order_by_key(|report| members.iter().position(|member| member.name == report.name));
}

/// Close the channels that no group has taken.
pub(crate) fn close(members: &[Member]) {
    for member in members {
        // Whoever has it closes it.
        member
            .take_channel()
            .map(|channel| channel.shutdown(Shutdown::Both));
    }
}

/// Starts ranks of a session elsewhere.
pub(crate) struct Channels {
    pub(crate) client: RankProgram,
    pub(crate) members: Arc<Vec<Member>>,
    pub(crate) local_address: IpAddr,
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
