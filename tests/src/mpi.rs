//! The MPI libraries that tests/lab/install.sh brings, each with its launcher and the words that it wants.

use crate::home::{Home, parent_of};
use crate::running::{Ended, Running};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One installation.
#[derive(Debug, Clone)]
pub struct Installed {
    /// What it is, for messages.
    pub name: &'static str,
    /// The library.
    pub library: PathBuf,
    /// Its launcher.
    pub launcher: PathBuf,
    /// Words that let any number of ranks share any number of CPUs.
    words: &'static [&'static str],
    /// Variables that it needs.
    variables: Vec<(&'static str, PathBuf)>,
    /// Whether it needs every CPU, though the test has one of them.
    everywhere: bool,
}

/// The folder of what tests install for themselves.
fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/lab")
}

const OPEN_MPI_WORDS: &[&str] = &["--oversubscribe", "--bind-to", "none"];
const HYDRA_WORDS: &[&str] = &[];

/// Every library that could be installed; those that could not are named with [`crate::skip`].
pub fn installed() -> Vec<Installed> {
    let debian = PathBuf::from("/usr/lib/x86_64-linux-gnu");
    let bin = PathBuf::from("/usr/bin");
    let all = [
        Installed {
            name: "Open MPI 4 of the distribution",
            library: debian.join("libmpi.so.40"),
            launcher: bin.join("mpirun.openmpi"),
            words: OPEN_MPI_WORDS,
            variables: Vec::new(),
            everywhere: false,
        },
        Installed {
            name: "MPICH 4 of the distribution",
            library: debian.join("libmpich.so.12"),
            launcher: bin.join("mpirun.mpich"),
            words: HYDRA_WORDS,
            variables: Vec::new(),
            everywhere: false,
        },
        Installed {
            name: "Open MPI 5",
            library: lab().join("openmpi5/lib/libmpi.so.40"),
            launcher: lab().join("openmpi5/bin/mpirun"),
            words: OPEN_MPI_WORDS,
            variables: Vec::new(),
            everywhere: false,
        },
        Installed {
            name: "MPICH 5",
            library: lab().join("mpich5/lib/libmpi.so.12"),
            launcher: lab().join("mpich5/bin/mpiexec"),
            words: HYDRA_WORDS,
            variables: Vec::new(),
            everywhere: false,
        },
        Installed {
            name: "MPICH 5, standard ABI",
            library: lab().join("mpich5/lib/libmpi_abi.so.1"),
            launcher: lab().join("mpich5/bin/mpiexec"),
            words: HYDRA_WORDS,
            variables: Vec::new(),
            everywhere: false,
        },
        Installed {
            name: "Intel MPI",
            library: lab().join("impi/lib/libmpi.so.12"),
            launcher: lab().join("impi/bin/mpiexec.hydra"),
            words: HYDRA_WORDS,
            variables: vec![
                ("I_MPI_ROOT", lab().join("impi")),
                ("FI_PROVIDER_PATH", lab().join("impi/lib/libfabric/prov")),
                ("I_MPI_FABRICS", PathBuf::from("shm")),
            ],
            // It aborts in MPI_Init on some CPUs where a rank has but one (`cache3_id[pin] >= 0`).
            everywhere: true,
        },
    ];
    let (here, missing): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|mpi| mpi.library.exists() && mpi.launcher.exists());
    for mpi in missing {
        crate::skip(&format!("{} is not installed", mpi.name));
    }
    here
}

/// `program` on every CPU of the machine, not only on those of this process.
fn on_every_cpu(program: &Path) -> Command {
    let cpus = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let mut command = Command::new("taskset");
    command.args(["-c", cpus.trim()]).arg(program);
    command
}

/// A program that stands for ssh and runs the command here, whatever host is named.
/// Each host has a folder for temporary files of its own, beside the program: launchers' daemons that share one trip over
/// each other's directories.
///
/// # Panics
/// Where it cannot be written.
pub fn stay_here(home: &Home) -> String {
    stay_here_in(&home.path("stay-here"))
}

/// As [`stay_here`], in the file `path`.
///
/// # Panics
/// Where it cannot be written.
pub fn stay_here_in(path: &Path) -> String {
    let text = "#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nexport TMPDIR=\"$0.$1\"\nmkdir -p \"$TMPDIR\"\n\
                shift\nexec bash -c \"$*\"\n";
    std::fs::write(path, text).expect("a script in the home");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(path, mode).expect("a script that can be run");
    path.display().to_string()
}

impl Installed {
    /// `launcher -n RANKS wirespeed LINE`, with the library named, not yet started.
    pub fn command(&self, home: &Home, ranks: u32, line: &str) -> Command {
        let mut command = self.bare(home, ranks, line);
        command.env("WIRESPEED_MPI", &self.library);
        command
    }

    /// As `command`, without a word about the library.
    pub fn bare(&self, home: &Home, ranks: u32, line: &str) -> Command {
        let mut command = self.launching();
        command
            .args(["-n", &ranks.to_string()])
            .arg(home.program())
            .args(line.split_whitespace());
        home.adopt(&mut command);
        command.env_remove("WIRESPEED_MPI");
        self.surround(&mut command);
        command
    }

    /// The launcher with its words.
    fn launching(&self) -> Command {
        let mut command = match self.everywhere {
            true => on_every_cpu(&self.launcher),
            false => Command::new(&self.launcher),
        };
        command.args(self.words);
        command
    }

    /// A library whose functions are those of the C code `text`, and else this one's.
    ///
    /// # Errors
    /// There is no compiler.
    ///
    /// # Panics
    /// Where the code cannot be written, or is none.
    pub fn behind(&self, home: &Home, text: &str) -> Result<PathBuf, String> {
        let (source, library) = (home.path("front.c"), home.path("libmpi_front.so"));
        std::fs::write(&source, text).expect("a file in the home");
        let folder = self.library.parent().unwrap_or(Path::new("/"));
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]);
        compile.arg(&library).arg(&source).arg(&self.library);
        compile.arg(format!("-Wl,-rpath,{}", folder.display()));
        let compiled = compile.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{}: {said}", self.name);
        Ok(library)
    }

    /// The variables that library and launcher need.
    pub fn surround(&self, command: &mut Command) {
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"] {
            command.env(name, "1").env(format!("{name}_CONFIRM"), "1");
        }
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
    }

    /// The ranks of a job that runs, by number: processes of `home` whose launcher's variables say so.
    pub fn ranks(&self, home: &Home) -> Vec<(u32, u32)> {
        let rank_of = |pid: u32| {
            let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
            let ours = std::fs::canonicalize(home.program()).ok()?;
            let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            let environment = String::from_utf8_lossy(&environment).into_owned();
            let variables = environment.split('\0').filter_map(|v| v.split_once('='));
            // The process that speaks for rank 0 has its variables, and one more.
            if variables.clone().any(|(name, _)| name == "WIRESPEED_FRONT_OF") {
                return None;
            }
            let mut rank = variables.filter(|(name, _)| ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].contains(name));
            let rank = rank.next()?.1.parse().ok()?;
            (program == ours).then_some((rank, pid))
        };
        let mut ranks: Vec<_> = home
            .processes()
            .iter()
            .filter_map(|(pid, _)| rank_of(*pid))
            .collect();
        // Rank 0 may work in a child of the process that the launcher knows.
        let parents: Vec<Option<u32>> = ranks.iter().map(|(_, pid)| parent_of(*pid)).collect();
        ranks.retain(|(_, pid)| !parents.contains(&Some(*pid)));
        ranks.sort_unstable();
        ranks
    }

    /// Whether its launcher is Hydra.
    pub fn is_hydra(&self) -> bool {
        self.words.is_empty()
    }

    /// As `command`, on two nodes that are this machine: the launcher reaches each through a shell that stays here.
    /// `None` where the launcher cannot be had to do that.
    pub fn on_two_nodes(&self, home: &Home, line: &str) -> Option<Command> {
        let shell = stay_here(home);
        let words: Vec<String> = match (self.is_hydra(), self.name.contains("Open MPI 4")) {
            (true, _) => vec![
                "-launcher".into(),
                "ssh".into(),
                "-launcher-exec".into(),
                shell,
                "-hosts".into(),
            ],
            (false, true) => vec!["--mca".into(), "plm_rsh_agent".into(), shell, "--host".into()],
            (false, false) => return None,
        };
        let hosts = if self.is_hydra() {
            "node1,node2"
        } else {
            "node1:1,node2:1"
        };
        let mut command = self.launching();
        command.args(words).arg(hosts).args(["-n", "2"]);
        command.arg(home.program()).args(line.split_whitespace());
        home.adopt(&mut command);
        command.env("WIRESPEED_MPI", &self.library);
        self.surround(&mut command);
        Some(command)
    }

    /// Run to the end. A launcher of the Hydra family whose job ends while it is being started may be killed by a signal before it
    /// has passed on a word of it: it is asked once more.
    pub fn run(&self, home: &Home, ranks: u32, line: &str) -> Ended {
        let once = || Running::start(self.command(home, ranks, line)).end(crate::deadline::PATIENCE);
        let ended = once();
        match self.is_hydra() && ended.signal.is_some() && ended.stdout.is_empty() && ended.stderr.is_empty()
        {
            true => once(),
            false => ended,
        }
    }
}
