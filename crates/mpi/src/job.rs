//! Jobs of MPI launchers: told by their variables, joined through the library, started by the launcher that fits it.

use crate::process::{self, World};
use crate::{link, link_lanes, link_pmix, options};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use wirespeed::transport::port::Facts;
use wirespeed_control::job::{Detected, Job, JobError, JobKind, LaunchCommand};
use wirespeed_mpi_sys::find::{
    JobVariables, LIBRARY_VARIABLE, LauncherKind, Starter, job_variables, launcher_for, switch_of_node,
};
use wirespeed_mpi_sys::{Handle, Loaded, Mpi};

/// The variable that `--mpi-threads` reads; tells ranks that are started here what was asked for.
pub const THREADS_VARIABLE: &str = "WIRESPEED_MPI_THREADS";
/// The variable that `--mpi-threads-per-process` reads.
pub const THREADS_PER_PROCESS_VARIABLE: &str = "WIRESPEED_MPI_THREADS_PER_PROCESS";

struct MpiJobs;

/// Jobs of MPI launchers.
pub fn jobs() -> &'static dyn JobKind {
    &MpiJobs
}

fn variables() -> Option<JobVariables> {
    job_variables(&|name| std::env::var(name).ok())
}

/// Library and launcher, for people.
pub fn about() -> Facts {
    let mut facts = Facts::new();
    let Ok(library) = process::library() else {
        return facts;
    };
    facts.insert("library".into(), library.version().to_owned());
    facts.insert("file".into(), library.file().display().to_string());
    facts.insert("abi".into(), library.family().name().to_owned());
    let launcher = match variables() {
        Some(variables) => format!("inside a job of {}", variables.starter.name()),
        None => launcher_for(library.file(), library.family())
            .map_or("none found beside the library or on PATH".into(), |l| {
                l.path.display().to_string()
            }),
    };
    facts.insert("launcher".into(), launcher);
    facts
}

/// Why no ranks can be had here: no library, or nothing that starts its ranks.
pub fn obstacle() -> Option<String> {
    let library = match process::library() {
        Ok(library) => library,
        Err(why) => return Some(why),
    };
    let in_job = process::world().is_some() || variables().is_some();
    let lonely = !in_job && launcher_for(library.file(), library.family()).is_none();
    lonely.then(|| no_launcher(library))
}

fn no_launcher(library: &Loaded) -> String {
    format!(
        "no launcher for {} ({})",
        library.version(),
        library.file().display()
    )
}

impl JobKind for MpiJobs {
    fn detect(&self) -> Option<Detected> {
        variables().map(|found| Detected {
            rank: found.rank,
            size: found.size,
            launcher: found.starter.name().to_owned(),
            kills_at_once: found.starter == Starter::Pmi && !found.slurm,
        })
    }

    fn join(&self) -> Result<Box<dyn Job>, JobError> {
        let found = variables();
        if let Some(found) = found.filter(|f| f.starter == Starter::Slurm) {
            return Err(JobError::new(
                format!(
                    "srun started {} ranks without PMI, so they cannot meet",
                    found.size.unwrap_or(0)
                ),
                "use srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH; srun --mpi=list shows what there is",
            ));
        }
        let library = process::library().map_err(|why| {
            JobError::new(
                why,
                "name the library of the launcher: --mpi PATH, or WIRESPEED_MPI=PATH",
            )
        })?;
        match library {
            Loaded::Pointers(mpi) => join(mpi, found),
            Loaded::Integers(mpi) => join(mpi, found),
        }
    }

    fn command(&self, ranks: u32) -> Result<LaunchCommand, JobError> {
        let remedy = "name the library of the launcher that you have: --mpi PATH";
        let library = process::library().map_err(|why| JobError::new(why, remedy))?;
        let launcher = launcher_for(library.file(), library.family())
            .ok_or_else(|| JobError::new(no_launcher(library), "install it, or put its mpiexec on PATH"))?;
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let chosen = process::choice();
        let threads = chosen.threads_per_process.max(1);
        if !ranks.is_multiple_of(threads) {
            return Err(JobError::new(
                format!("{ranks} ranks are no whole number of processes with {threads} threads each"),
                "let --procs be a multiple of --mpi-threads-per-process",
            ));
        }
        let count = (ranks / threads).to_string();
        let kind = launcher.kind.unwrap_or(LauncherKind::Hydra);
        let arguments = match kind {
            LauncherKind::Orte | LauncherKind::Prrte => {
                words(&["--bind-to", "none", "--oversubscribe", "-n", &count])
            }
            // It binds nothing by itself; Intel's does, unless told.
            LauncherKind::Hydra => words(&["-n", &count]),
        };
        let library_path = library.file().as_os_str().to_owned();
        let mut environment = vec![
            (OsString::from(LIBRARY_VARIABLE), library_path),
            (THREADS_VARIABLE.into(), chosen.threads.name().into()),
            (THREADS_PER_PROCESS_VARIABLE.into(), threads.to_string().into()),
        ];
        if kind.starter() == Starter::OpenMpi && is_root() {
            // Open MPI asks root to confirm; the ranks here are our own, and harmless.
            for name in ["OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"] {
                environment.push((name.into(), "1".into()));
                environment.push((format!("{name}_CONFIRM").into(), "1".into()));
            }
        }
        if library.version().starts_with("Intel") {
            environment.push(("I_MPI_PIN".into(), "off".into()));
            environment.extend(surroundings_of_intel(library.file()));
        }
        Ok(LaunchCommand {
            launcher: launcher.path,
            arguments,
            environment,
        })
    }
}

/// What Intel's own script would set, where nobody has: the installation, and where its network providers are.
fn surroundings_of_intel(library: &Path) -> Vec<(OsString, OsString)> {
    let prefix = library.ancestors().find(|folder| folder.join("bin").is_dir());
    let Some(prefix) = prefix.filter(|_| std::env::var_os("I_MPI_ROOT").is_none()) else {
        return Vec::new();
    };
    let mut found = vec![("I_MPI_ROOT".into(), prefix.into())];
    let providers = ["lib/libfabric/prov", "opt/mpi/libfabric/lib/prov"].map(|folder| prefix.join(folder));
    if let Some(folder) = providers.into_iter().find(|folder| folder.is_dir()) {
        found.push(("FI_PROVIDER_PATH".into(), folder.into()));
    }
    found
}

/// Whether this process belongs to root, as the kernel says.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

struct MpiJob<H: Handle> {
    mpi: &'static Mpi<H>,
    world: World,
    node: (u32, String),
    started: Option<JobVariables>,
}

/// Initialise, and see whether library and launcher know each other.
fn join<H: Handle>(mpi: &'static Mpi<H>, started: Option<JobVariables>) -> Result<Box<dyn Job>, JobError> {
    let broken = |why: String| {
        JobError::new(
            format!("{}: {why}", mpi.version),
            "see what the library says above",
        )
    };
    let wanted = process::choice().threads;
    let (rank, size, threads) = link::initialise(mpi, wanted).map_err(broken)?;
    if started.is_some_and(|found| found.starter == Starter::Pmix) {
        link_pmix::meet();
    }
    let world = World { rank, size, threads };
    process::set_world(world);
    let expected = started.and_then(|s| s.size.map(|size| (s, size)));
    if let Some((started, expected)) = expected.filter(|(_, expected)| *expected != size) {
        link::finalise(mpi, 1, false);
        return Err(mismatch(mpi, started, expected, size));
    }
    if threads < wanted {
        link::finalise(mpi, 1, false);
        return Err(JobError::new(
            format!(
                "{} offers thread level {}, not {}",
                mpi.version,
                threads.name(),
                wanted.name()
            ),
            "ask for less with --mpi-threads, or use another library",
        ));
    }
    let lanes = process::choice().threads_per_process;
    if lanes > 1 {
        link_lanes::make(mpi, lanes).map_err(broken)?;
    }
    let node = link::node(mpi, rank).map_err(broken)?;
    Ok(Box::new(MpiJob {
        mpi,
        world,
        node,
        started,
    }))
}

fn mismatch<H: Handle>(mpi: &Mpi<H>, started: JobVariables, expected: u32, size: u32) -> JobError {
    let fitting = launcher_for(&mpi.file, mpi.family);
    let fitting = fitting.map_or("its own launcher".to_owned(), |l| l.path.display().to_string());
    JobError::new(
        format!(
            "{} started {expected} ranks, but {} ({}) sees {size}: launcher and library do not belong together",
            started.starter.name(),
            mpi.version,
            mpi.file.display(),
        ),
        format!("start the ranks with {fitting}, or name the launcher's library: --mpi PATH"),
    )
}

impl<H: Handle> Job for MpiJob<H> {
    fn rank(&self) -> u32 {
        self.world.rank
    }

    fn size(&self) -> u32 {
        self.world.size
    }

    fn threads(&self) -> u32 {
        process::choice().threads_per_process.max(1)
    }

    fn node(&self) -> (u32, String) {
        self.node.clone()
    }

    fn unit(&self) -> Option<String> {
        self.started.filter(|found| found.slurm)?;
        switch_of_node(&|name| std::env::var(name).ok())
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, JobError> {
        link::broadcast(self.mpi, bytes).map_err(|why| JobError::new(why, "start the job again"))
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, JobError> {
        link::gather(self.mpi, own, self.world.size).map_err(|why| JobError::new(why, "start the job again"))
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = options::facts();
        if let Some(started) = self.started {
            facts.insert("launcher".into(), started.starter.name().into());
        }
        facts
    }

    fn leave(&self, code: u8, is_lost: bool) -> u8 {
        link::finalise(self.mpi, code, is_lost)
    }
}
