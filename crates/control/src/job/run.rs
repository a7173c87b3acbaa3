//! From "this process is a rank of a job" to the program's end: the ranks meet through the launcher's library, rank 0
//! passes what they say on to its front, and is a rank like any other.

use super::admit::{Door, own_rank};
use super::front::{Front, RankZero};
use super::visit::{attend, follow, greeting_of_own_rank};
use super::{Job, JobError, JobRanks, Known};
use crate::agent::{kill_this_process, run_agent_over};
use crate::error::ControlError;
use crate::session::Timing;
use crate::stop::StopFlag;
use crate::wire::unix;
use serde::{Deserialize, Serialize};
use wirespeed::Registry;
use wirespeed_schema::job::JobSeat;

/// Longest wait for the ranks of a large job on few cores.
const START_PER_RANK_MS: u64 = 200;

/// What a rank tells all others of itself.
#[derive(Serialize, Deserialize)]
struct Introduction {
    leader: u32,
    node: String,
    unit: Option<String>,
    cpus: Vec<u32>,
}

/// Be a rank of a job that has been joined; on rank 0 with its `front`. `met` is called when the ranks no longer need the
/// library to talk. The exit code is the front's, and 0 for a rank that was told to go.
pub fn run_rank(
    job: &dyn Job,
    registry: &Registry,
    front: Option<Front>,
    met: impl FnOnce(),
) -> Result<u8, JobError> {
    let known = introduce(job)?;
    // An empty invitation says that there will be no measurement.
    let invitation = match &front {
        Some(front) => front.introduce(&known).unwrap_or_default(),
        None => String::new(),
    };
    let invitation = String::from_utf8(job.broadcast(invitation.into_bytes())?).unwrap_or_default();
    met();
    let ended = match front {
        Some(front) if !invitation.is_empty() => lead(job, registry, front, &invitation),
        Some(front) => front.wait().map_err(no_front).map(|code| (code, false)),
        None if invitation.is_empty() => Ok((0, false)),
        None => follow(job, registry, &invitation).map(|is_lost| (0, is_lost)),
    };
    let (code, is_lost) = *ended.as_ref().unwrap_or(&(1, false));
    let code = job.leave(code, is_lost);
    ended.map(|_| code)
}

/// Be the front of a job: `program` is called when all ranks are there, and gives the exit code.
pub fn run_front(program: impl FnOnce(Result<JobRanks, JobError>) -> u8) -> u8 {
    let zero = match RankZero::find() {
        Ok(zero) => zero,
        Err(error) => return program(Err(error)),
    };
    let ranks = admit(zero);
    let waiting = ranks.clone();
    let code = program(ranks);
    // It may have ended before it measured anything.
    if let Ok(waiting) = waiting {
        waiting.dismiss();
    }
    code
}

/// Invite the ranks, and let them in.
fn admit(zero: RankZero) -> Result<JobRanks, JobError> {
    let lost = |e: std::io::Error| JobError::new(format!("rank 0 went away: {e}"), "run again");
    let of_control = |e: ControlError| JobError::new(e.to_string(), e.remedy());
    let door = match Door::open(zero.known.section.nodes.len() > 1) {
        Ok(door) => door,
        Err(error) => {
            // The reason is told; the ranks have to know that there is nothing to wait for.
            let _ = zero.invite("");
            return Err(of_control(error));
        }
    };
    zero.invite(door.invitation()).map_err(lost)?;
    let count = zero.known.section.ranks.len() as u32;
    let mut timing = Timing::default();
    timing.start += std::time::Duration::from_millis(START_PER_RANK_MS * u64::from(count));
    let mut ranks = vec![own_rank(zero.stream, timing).map_err(lost)?];
    let others: Vec<u32> = (1..count).collect();
    let came = door.admit(&others, timing, &StopFlag::new(), || Ok(()));
    ranks.extend(came.map_err(of_control)?);
    Ok(JobRanks::new(ranks, zero.known))
}

/// Who is where: every rank tells every other.
fn introduce(job: &dyn Job) -> Result<Known, JobError> {
    let broken = |what: &str| JobError::new(what, "run the same wirespeed on every node");
    let (leader, node) = job.node();
    let own = Introduction {
        leader,
        node,
        unit: job.unit(),
        cpus: wirespeed::host::allowed_cpus(),
    };
    let own = serde_json::to_vec(&own).map_err(|e| broken(&e.to_string()))?;
    let mut known = Known::default();
    let section = &mut known.section;
    section.facts = job.facts();
    let mut leaders: Vec<u32> = Vec::new();
    for blob in job.gather(&own)? {
        let said: Introduction = serde_json::from_slice(&blob)
            .map_err(|_| broken("a rank of the job does not speak this wirespeed's language"))?;
        let node = leaders.iter().position(|l| *l == said.leader).unwrap_or_else(|| {
            leaders.push(said.leader);
            section.nodes.push(said.node);
            known.units.push(said.unit);
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
    Ok(known)
}

/// Rank 0: measures in this thread what its front asks for, until that ends. The front's exit code, and whether a rank was lost.
fn lead(job: &dyn Job, registry: &Registry, front: Front, invitation: &str) -> Result<(u8, bool), JobError> {
    let channel = front.channel().map_err(no_front)?;
    let _passed_on = front.pass_signals_on().map_err(no_front)?;
    std::thread::scope(|scope| {
        // Its other threads are ranks like those of any process; what became of them, the front has said.
        for rank in 1..job.threads() {
            scope.spawn(move || attend(rank, registry, invitation).is_ok());
        }
        let (sender, receiver) = unix::halves(channel).map_err(no_front)?;
        let greeting = greeting_of_own_rank();
        let measured = run_agent_over(
            sender,
            receiver,
            &greeting,
            registry.into(),
            Timing::default(),
            kill_this_process,
        );
        let code = front.wait().map_err(no_front)?;
        // What the front has said already is the better explanation.
        Ok(measured.map_or((code.max(1), false), |is_lost| (code, is_lost)))
    })
}

fn no_front(error: std::io::Error) -> JobError {
    JobError::new(
        format!("the process that reports for rank 0 failed: {error}"),
        "close some files and run again",
    )
}
