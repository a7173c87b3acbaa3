//! The program as a rank of a launcher's job: `mpirun -n 8 wirespeed ...`. Every rank only measures what it is asked for,
//! and says nothing; the front, a process that rank 0 starts, goes on as usual. Where a job is none of our business (help,
//! list), rank 0 alone answers.

#[cfg(feature = "mpi")]
use crate::args::MpiArgs;
use crate::args::Verb;
use crate::errors::{Failure, exit};
use crate::mpi;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;
use wirespeed::{Machine, Registry};
use wirespeed_control::address::{Address, is_of_this_machine};
use wirespeed_control::job::{Detected, Front, JobError, Joining, run_launched_rank, run_rank, sheltered};
use wirespeed_control::{JobRanks, StopFlag};
use wirespeed_schema::job::JobSection;
use wirespeed_schema::run::{Remark, Severity};
use wirespeed_schema::units::{counted, format_ns};

/// The ranks of the job that this process speaks for: a process is in one job at most.
static RANKS: OnceLock<JobRanks> = OnceLock::new();

/// The job that this process speaks for, if it does.
pub fn current() -> Option<&'static JobRanks> {
    RANKS.get()
}

/// What the user says about MPI, before it is loaded. In a job of two processes each has the `threads` of its end, where the verb
/// has ends.
#[cfg(feature = "mpi")]
pub fn prepare(arguments: &mut MpiArgs, threads: impl FnOnce() -> Option<u64>) -> Result<(), Failure> {
    let found = mpi::jobs().detect();
    if arguments.mpi_threads_per_process.is_none() && found.is_some_and(|job| job.size == Some(2)) {
        arguments.mpi_threads_per_process = threads().map(|threads| threads.to_string());
    }
    wirespeed_mpi::process::choose(arguments.choice()?);
    Ok(())
}

/// How this process takes part.
pub enum Part {
    /// Not in a job, or alone in what it does: go on.
    Alone,
    /// In a job that matters.
    Member,
    /// A rank that has nothing to say.
    Silent,
}

/// What a verb means in a job.
pub fn part(verb: &Verb) -> Part {
    let Some(found) = mpi::jobs().detect() else {
        return Part::Alone;
    };
    match verb {
        Verb::Rank => Part::Alone,
        Verb::Perftest(arguments) if arguments.launched == Some(0) => Part::Alone,
        verb if verb.measures() => Part::Member,
        _ if found.rank == 0 => Part::Alone,
        _ => Part::Silent,
    }
}

/// What this process is, for whoever reads its last words.
pub fn name_of_process(argv: &[OsString]) -> String {
    let hidden = argv.get(1).map(|word| word.to_string_lossy());
    match (mpi::jobs().detect(), hidden) {
        (Some(found), _) => format!("rank {}", found.rank),
        (None, Some(word)) if word == "__rank" => format!("a rank (process {})", std::process::id()),
        (None, _) => format!("process {}", std::process::id()),
    }
}

/// Whether a launcher started this process.
pub fn is_in_job() -> bool {
    mpi::jobs().detect().is_some()
}

/// Whether a launcher started other processes beside this one.
pub fn has_others() -> bool {
    mpi::jobs()
        .detect()
        .and_then(|found| found.size)
        .is_some_and(|size| size > 1)
}

/// Whether some other rank of a job says what is to be said.
pub fn is_silent() -> bool {
    mpi::jobs().detect().is_some_and(|found| found.rank != 0)
}

/// Whether this process speaks for a job, beside the ranks that measure.
pub fn is_front() -> bool {
    wirespeed_control::job::is_front()
}

/// Run `program` when all ranks of the job are there.
pub fn run_front(program: impl FnOnce() -> u8, fail: impl Fn(Failure) -> u8) -> u8 {
    wirespeed_control::job::run_front(|ranks| match ranks {
        Ok(ranks) => {
            // The only job of this process.
            let _ = RANKS.set(ranks);
            program()
        }
        Err(error) => fail(Failure::failed(error.cause, error.remedy)),
    })
}

/// Be this process's part of the job: a rank, on rank 0 with the front that it starts.
pub fn run(registry: &Registry, fail: impl Fn(Failure) -> u8) -> u8 {
    let Some(found) = mpi::jobs().detect() else {
        return exit::FAILED;
    };
    let failed = |e: std::io::Error| {
        Failure::failed(
            format!("cannot start rank 0: {e}"),
            "close some files and start again",
        )
    };
    match sheltered(&found) {
        Ok(None) => (),
        Ok(Some(code)) => return code,
        Err(error) => return fail(failed(error)),
    }
    let (front, joining) = match begin(&found).map_err(failed) {
        Ok(begun) => begun,
        Err(failure) => return fail(failure),
    };
    let said = |error: JobError| {
        // One error is enough; a launcher would answer several with its own.
        match is_silent() {
            true => 0,
            false => fail(Failure::usage(error.cause, error.remedy)),
        }
    };
    let job = match mpi::jobs().join() {
        Ok(job) => job,
        Err(error) => {
            // It would say that its rank is gone.
            drop(front);
            return said(error);
        }
    };
    match run_rank(&*job, registry, front, || drop(joining)) {
        Ok(code) => code,
        Err(error) if job.rank() == 0 => fail(Failure::failed(error.cause, error.remedy)),
        // The front tells what became of this one.
        Err(_) => exit::FAILED,
    }
}

/// The front of rank 0, and the limit for all that comes before the ranks have met.
fn begin(found: &Detected) -> std::io::Result<(Option<Front>, Joining)> {
    let front = (found.rank == 0).then(Front::start).transpose()?;
    let rank = found.rank;
    let late = move |limit: Duration| {
        let cause = format!(
            "rank {rank}: the ranks of the job have not met within {}",
            format_ns(limit.as_nanos() as f64)
        );
        let remedy = "one of them may have crashed, see above; srun --kill-on-bad-exit ends a job at once";
        // The document is the front's.
        Failure::failed(cause, remedy).print(false, None);
    };
    let joining = Joining::begin(found.size.unwrap_or(1), late)?;
    Ok((front, joining))
}

/// Be a rank of a job that wirespeed started.
pub fn launched_rank(registry: &Registry, invitation: &str) -> Result<(), Failure> {
    run_launched_rank(mpi::jobs(), registry, invitation)
        .map_err(|error| Failure::failed(error.cause, error.remedy))
}

/// This machine, in the job that this process leads, if it does.
pub fn machine(registry: &Registry) -> Machine<'_> {
    Machine::new(registry)
        .in_job(current().map(JobRanks::section))
        .with_addresses(is_this_machine)
}

/// An address is this machine's when a socket can be bound to it.
fn is_this_machine(host: &str) -> bool {
    let found = Address::parse(host).and_then(|address| address.resolve(&StopFlag::new()));
    let ours = |at: &SocketAddr| is_of_this_machine(at.ip());
    found.is_ok_and(|addresses| addresses.iter().all(ours))
}

/// What a reader of the result must know about the job.
pub fn remarks(section: &JobSection) -> Vec<Remark> {
    let warning = |code: &str, message: String, remedy: &str| {
        Remark::new(Severity::Warning, code, message, Some(remedy))
    };
    let mut remarks = Vec::new();
    if let Some((node, ranks, cpus)) = section.crowded_node() {
        remarks.push(warning(
            "oversubscribed",
            format!(
                "node {node} has {ranks} ranks on {}: they give the CPU away while they wait",
                counted(cpus as u64, "CPU")
            ),
            "start at most one rank a CPU",
        ));
    } else if section.is_unpinned() {
        remarks.push(warning(
            "unpinned",
            "the launcher lets ranks share CPUs: they may meet on one, and move".to_owned(),
            "bind them: --bind-to core (Open MPI), -bind-to core (MPICH), --cpu-bind=cores (srun)",
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use clap::Parser as _;

    #[test]
    fn what_measures_between_ranks_does_so_in_a_job() {
        for (line, measures) in [
            ("sweep -- latency", true),
            ("sweep --over window -- am_bw", true),
            ("load -- --via mpi", true),
            ("load --dry-run -- --via mpi", false),
            ("ab --aa -- latency", false),
        ] {
            let words = std::iter::once("wirespeed").chain(line.split(' '));
            let cli = Cli::try_parse_from(words).unwrap();
            assert_eq!(cli.verb.measures(), measures, "{line}");
        }
    }
}
