//! A node whose only port is its standard input and output (`wirespeed __node`): srun or ssh has started it for one
//! session, and carries what it says. There is nothing to connect to, so there is nobody to keep out. It ends, with its
//! computations, when its client's end is closed.

use crate::api::NodeStatus;
use crate::definition::Computation;
use crate::node::Node;
use crate::report::ComputationReport;
use crate::running::Running;
use crate::say::{Work, hear};
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader};
use std::net::IpAddr;
use std::sync::Arc;
use wirespeed_control::launch::mux::Mux;
use wirespeed_control::launch::stdio::{self, Whereabouts};
use wirespeed_control::launch::talk::Talk;
use wirespeed_control::thread::spawn;
use wirespeed_control::{Failure, RankProgram};

/// The line before which everything on the way here is noise of somebody's shell.
pub(crate) const GREETING: &str = "wirespeed node, protocol 1";
/// The socket on which the two talk; computation N has the control channel N + 1.
pub(crate) const TALK: u16 = 0;

/// What a client says to its node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// Start these; their channels are open.
    Start(Vec<(Computation, Work)>),
    /// Everybody is ready.
    Go,
    /// End all of them, tell, and end.
    End,
}

/// What a node says to its client.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The first word.
    Hello(Hello),
    /// All are ready; their processes.
    Ready(Vec<u32>),
    /// It cannot be done.
    Failed(Failure),
    /// A computation ended early.
    Died(Failure),
    /// The last word.
    Ended(Vec<ComputationReport>),
}

/// A node, and how it is reached for data.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) status: NodeStatus,
    /// This host's address on the way to the client's.
    pub(crate) address: Option<IpAddr>,
    /// The client's address as this host knows it.
    pub(crate) client_address: Option<IpAddr>,
}

/// How this node came here.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrival {
    /// Its program is a copy that was sent ahead: it is removed as soon as it runs.
    pub travelled: bool,
    /// It is a step of Slurm.
    pub in_slurm: bool,
}

/// Be a node until the client has no more use for it. The value is the exit code; 2 when nobody else is there.
pub fn run(name: String, arrival: Arrival) -> u8 {
    if stdio::is_typed() {
        return 2;
    }
    if arrival.travelled {
        stdio::remove_own_copy();
    }
    // The program of its computations may have no name any more; this is the file itself.
    let program = RankProgram {
        path: "/proc/self/exe".into(),
        arguments: vec!["__computation".into()],
        environment: Vec::new(),
    };
    let node = match arrival.in_slurm {
        true => Node::in_slurm(name, program),
        false => Node::new(name, program),
    };
    match stdio::pipes(GREETING).and_then(|mux| serve(&node, &mux)) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn serve(node: &Node, mux: &Mux) -> io::Result<()> {
    let socket = mux.open(TALK)?;
    let mut reader = BufReader::new(socket.try_clone()?);
    let talk = Talk::over(socket);
    talk.say(&Answer::Hello(hello(node)))?;
    let mut all: Vec<Arc<Running>> = Vec::new();
    // A client that is gone shows as the end; dropped, the computations are ended.
    while let Some(ask) = hear::<Ask>(&mut reader)? {
        match ask {
            Ask::Start(computations) => match start(node, mux, &talk, &computations) {
                Ok(started) => {
                    all = started;
                    talk.say(&Answer::Ready(all.iter().map(|running| running.pid()).collect()))?;
                }
                Err(failure) => talk.say(&Answer::Failed(failure))?,
            },
            Ask::Go => all.iter().for_each(|running| running.go()),
            Ask::End => {
                let reports = Running::end_all(std::mem::take(&mut all));
                talk.say(&Answer::Ended(reports))?;
            }
        }
    }
    Ok(())
}

fn hello(node: &Node) -> Hello {
    let whereabouts = Whereabouts::find();
    Hello {
        status: NodeStatus {
            name: node.name().to_owned(),
            machine: stdio::machine(),
            free: node.free(),
            sessions: Vec::new(),
        },
        address: whereabouts.address,
        client_address: whereabouts.client_address,
    }
}

/// Start all and wait until they are ready; nothing is left when one is not.
fn start(
    node: &Node,
    mux: &Mux,
    talk: &Talk,
    computations: &[(Computation, Work)],
) -> Result<Vec<Arc<Running>>, Failure> {
    let all = node.start_all(&computations[..computations.len().min(crate::COMPUTATIONS_MAX)])?;
    let broken = |e: io::Error| crate::failed(e.to_string(), "close some files and run again");
    for (running, number) in all.iter().zip(TALK + 1..) {
        if let Some(channel) = running.take_channel() {
            mux.attach(number, channel).map_err(broken)?;
        }
        let (watch, talk) = (running.end_watch(), talk.clone());
        let watching = spawn("end", move || {
            if let Some(failure) = watch() {
                // Nobody listens any more when the client is gone.
                let _ = talk.say(&Answer::Died(failure));
            }
        });
        watching.map_err(broken)?;
    }
    Ok(all)
}
