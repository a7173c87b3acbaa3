//! The ranks of this machine, or of a job: processes that are there already where they fit, else new ones; each is given the
//! case. It must never start one before every server has begun.

use super::drive::Drive;
use super::event::Incoming;
use super::{Group, GroupSpec};
use crate::error::ControlError;
use crate::job::{JobError, JobRanks, LauncherProcess};
use crate::launch::local::{Heard, RankSet};
use crate::launch::seam::Launch;
use crate::launch::together::Together;
use crate::stop::StopFlag;
use wirespeed_schema::circle::CasePart;
use wirespeed_schema::message::RankMessage;
use wirespeed_schema::units::counted;

impl Drive<'_> {
    /// Have a process ready for each local rank and give it the case.
    pub(super) fn start_local(&mut self, stop: &StopFlag) -> Result<(), ControlError> {
        let timing = self.group.options.timing;
        have_processes(self.group, &self.local, stop)?;
        // Their start took its time, in which none of them was silent.
        let now = self.group.now();
        self.local_begun = true;
        let group = &mut *self.group;
        let Some(set) = &mut group.local else {
            return Ok(());
        };
        set.begin_run(timing, now);
        let machines = set.by_address(&self.local);
        let groups: Vec<&[u32]> = machines.iter().map(Vec::as_slice).collect();
        let parts = CasePart::for_each(self.case, &groups);
        let of_rank = machines
            .iter()
            .zip(&parts)
            .flat_map(|(ranks, part)| ranks.iter().map(move |rank| (*rank, part)));
        for (rank, part) in of_rank {
            // Data come from where the peer's server knows this machine.
            let peer = self.case.ranks.get(rank as usize).and_then(|spec| spec.peer);
            let server = peer.and_then(|peer| group.servers.of_rank(peer));
            let known_as = group.servers.own_address(server);
            let bind_address = known_as.unwrap_or(group.options.bind_address);
            set.send(
                rank,
                &RankMessage::Prepare {
                    run: group.runs,
                    rank,
                    case: part.clone(),
                    bind_address: set.address(rank).unwrap_or(bind_address),
                },
            );
        }
        Ok(())
    }
}

/// Have a process for each of `ranks`.
fn have_processes(group: &mut Group, ranks: &[u32], stop: &StopFlag) -> Result<(), ControlError> {
    let now = group.now();
    let timing = group.options.timing;
    let serves = group.local.as_ref().is_some_and(|set| set.serves(ranks));
    match group.spec.clone() {
        GroupSpec::Job(job) => job_ranks(group, &job, ranks.len())?,
        _ if serves && !group.options.fresh => {}
        spec => {
            group.local = None;
            group.generation += 1;
            if ranks.is_empty() {
                // All are the servers'.
                return Ok(());
            }
            let hear = hearing(group);
            let program = &group.options.program;
            group.local = Some(match spec {
                GroupSpec::Launched(launcher) => {
                    let refused = |e: JobError| ControlError::Job(e);
                    let count = ranks.len() as u32;
                    let command = launcher.0.command(count).map_err(refused)?;
                    let program = program.clone();
                    let (process, arrived) = LauncherProcess::start(&command, &program, count, timing, stop)?;
                    RankSet::adopt(arrived, Some(process), timing, now, hear)?
                }
                GroupSpec::Started(starter) => RankSet::start(&*starter, ranks, timing, stop, now, hear)?,
                _ => {
                    let together = Together::new(program, ranks.len() as u32);
                    let own: &dyn Launch = if group.options.together {
                        &together
                    } else {
                        program
                    };
                    RankSet::start(own, ranks, timing, stop, now, hear)?
                }
            });
        }
    }
    Ok(())
}

/// Passes on what local ranks of this generation say, by the numbers with which they came.
fn hearing(group: &Group) -> impl Fn(u32, Heard) + Clone + Send + 'static {
    let (generation, tx) = (group.generation, group.sender.clone());
    move |seat, heard| {
        // Nobody listens any more when the group is gone.
        let _ = tx.send(Incoming::Local(generation, seat, heard));
    }
}

/// The ranks of a job are the same for all cases, and cannot be had again; those that are gone may be left out.
fn job_ranks(group: &mut Group, job: &JobRanks, wanted: usize) -> Result<(), ControlError> {
    if group.local.is_none() {
        let (timing, now) = (group.options.timing, group.now());
        let set = RankSet::adopt(job.take()?, None, timing, now, hearing(group))?;
        group.local = Some(set);
    }
    let Some(set) = &mut group.local else {
        return Ok(());
    };
    if set.left() == wanted {
        // Whoever asks has left out those that are gone.
        set.close_up();
    }
    if let Some(rank) = set.gone() {
        let lost = ControlError::lost(format!("rank {rank}"), "its connection was closed");
        return Err(lost.of_rank(rank));
    }
    if set.len() != wanted {
        return Err(ControlError::Job(JobError::new(
            format!(
                "the job has {}, the case {wanted}",
                counted(set.len() as u64, "rank")
            ),
            "start as many ranks as the case needs, or name a role for each: --roles source,sink,idle",
        )));
    }
    Ok(())
}
