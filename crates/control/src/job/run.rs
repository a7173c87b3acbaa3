//! From "this process is a rank of a job" to the program's end: the ranks meet through the launcher's library, rank 0
//! runs the program in a thread of its own while its first thread is a rank like any other.

use super::admit::{Door, own_rank};
use super::visit::{attend, follow};
use super::{Job, JobError, JobRanks};
use crate::agent::{kill_this_process, run_agent_over};
use crate::error::ControlError;
use crate::session::Timing;
use crate::stop::StopFlag;
use crate::wire::unix;
use serde::{Deserialize, Serialize};
use std::os::unix::net::UnixStream;
use wirespeed::Registry;
use wirespeed_schema::job::{JobSeat, JobSection};

/// Longest wait for the ranks of a large job on few cores.
const START_PER_RANK_MS: u64 = 200;

/// What a rank tells all others of itself.
#[derive(Serialize, Deserialize)]
struct Introduction {
    leader: u32,
    node: String,
    cpus: Vec<u32>,
}

/// Run the program in a job: `front` is called on rank 0 alone, in a thread of its own, and gives the exit code; other
/// ranks measure what it asks for, and return 0 when told to go.
pub fn run_in_job(
    job: &dyn Job,
    registry: &Registry,
    front: impl FnOnce(Result<JobRanks, JobError>) -> u8 + Send,
) -> Result<u8, JobError> {
    let section = introduce(job)?;
    let door = match job.rank() {
        0 => Some(Door::open(section.nodes.len() > 1)),
        _ => None,
    };
    // An empty invitation says that there will be no measurement.
    let invitation = match &door {
        Some(Ok(door)) => door.invitation().as_bytes().to_vec(),
        _ => Vec::new(),
    };
    let invitation = String::from_utf8(job.broadcast(invitation)?).unwrap_or_default();
    let ended = match door {
        Some(Ok(door)) => lead(job, registry, door, section, front),
        Some(Err(error)) => Ok(front(Err(JobError::new(error.to_string(), error.remedy())))),
        None if invitation.is_empty() => Ok(0),
        None => follow(job, registry, &invitation).map(|()| 0),
    };
    job.leave(ended.as_ref().map_or(1, |code| *code));
    ended
}

/// Who is where: every rank tells every other.
fn introduce(job: &dyn Job) -> Result<JobSection, JobError> {
    let broken = |what: &str| JobError::new(what, "run the same wirespeed on every node");
    let (leader, node) = job.node();
    let own = Introduction {
        leader,
        node,
        cpus: wirespeed::host::allowed_cpus(),
    };
    let own = serde_json::to_vec(&own).map_err(|e| broken(&e.to_string()))?;
    let mut section = JobSection {
        facts: job.facts(),
        ..JobSection::default()
    };
    let mut leaders: Vec<u32> = Vec::new();
    for blob in job.gather(&own)? {
        let said: Introduction = serde_json::from_slice(&blob)
            .map_err(|_| broken("a rank of the job does not speak this wirespeed's language"))?;
        let node = leaders.iter().position(|l| *l == said.leader).unwrap_or_else(|| {
            leaders.push(said.leader);
            section.nodes.push(said.node);
            leaders.len() - 1
        });
        let seat = JobSeat {
            node: node as u32,
            cpus: said.cpus,
        };
        section
            .ranks
            .extend(std::iter::repeat_n(seat, job.threads() as usize));
    }
    Ok(section)
}

/// Rank 0: the others come in, the program runs, and this thread measures as rank 0.
fn lead(
    job: &dyn Job,
    registry: &Registry,
    door: Door,
    section: JobSection,
    front: impl FnOnce(Result<JobRanks, JobError>) -> u8 + Send,
) -> Result<u8, JobError> {
    let failed = |e: std::io::Error| {
        JobError::new(
            format!("cannot start rank 0: {e}"),
            "close some files and run again",
        )
    };
    let mut timing = Timing::default();
    let count = job.size() * job.threads();
    timing.start += std::time::Duration::from_millis(START_PER_RANK_MS * u64::from(count));
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let others: Vec<u32> = (1..count).collect();
    let invitation = door.invitation().to_owned();
    let gather = move || -> Result<JobRanks, JobError> {
        let own = own_rank(ours, timing).map_err(failed)?;
        let mut ranks = vec![own];
        let came = door.admit(&others, timing, &StopFlag::new(), || Ok(()));
        ranks.extend(came.map_err(|e: ControlError| JobError::new(e.to_string(), e.remedy()))?);
        Ok(JobRanks::new(ranks, section))
    };
    std::thread::scope(|scope| {
        let front = std::thread::Builder::new()
            .name("front".into())
            .spawn_scoped(scope, move || {
                let ranks = gather();
                let waiting = ranks.clone();
                let code = front(ranks);
                // The front may have ended before it measured anything.
                if let Ok(waiting) = waiting {
                    waiting.dismiss();
                }
                code
            })
            .map_err(failed)?;
        // Its other threads are ranks like those of any process; what became of them, the front has said.
        for rank in 1..job.threads() {
            let invitation = &invitation;
            scope.spawn(move || attend(rank, registry, invitation).is_ok());
        }
        // Ends when the front has let its ranks go, or failed.
        let measured = unix::halves(theirs)
            .map_err(failed)
            .and_then(|(sender, receiver)| {
                let greeting = super::visit::greeting_of_own_rank();
                run_agent_over(
                    sender,
                    receiver,
                    &greeting,
                    registry,
                    Timing::default(),
                    kill_this_process,
                )
                .map_err(|why| JobError::new(format!("rank 0: {why}"), "run again"))
            });
        let code = front.join().unwrap_or(1);
        // What the front has said already is the better explanation.
        measured.map_or(Ok(code.max(1)), |()| Ok(code))
    })
}
