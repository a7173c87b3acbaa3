//! Which library to load, which launcher started this process, and which launcher fits a library.
//!
//! Order: the path that the user names, the variable `WIRESPEED_MPI`, the launcher that started this process (its
//! variables and its own folder), the launcher on `PATH`, the names that the system's loader knows. Nothing here may load
//! or start anything.

mod launcher;
mod variables;

pub use launcher::{Launcher, LauncherKind, launcher_for};
pub use variables::{JobVariables, Starter, job_variables, switch_of_node};

use std::path::{Path, PathBuf};

/// The environment variable that names a library.
pub const LIBRARY_VARIABLE: &str = "WIRESPEED_MPI";

/// Names of libraries, those of Open MPI first.
const OPEN_MPI_NAMES: [&str; 1] = ["libmpi.so.40"];
/// Names of libraries that Hydra and PMI start.
const PMI_NAMES: [&str; 5] = [
    "libmpi.so.12",
    "libmpich.so.12",
    "libmpi_cray.so.12",
    "libmpi_abi.so.1",
    "libmpi_abi.so.0",
];

/// Folders below an installation's prefix where libraries are.
const FOLDERS: [&str; 7] = [
    "lib",
    "lib64",
    "lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "lib/release",
    "lib64/openmpi/lib",
    "lib64/mpich/lib",
];

/// How many processes above this one are looked at for a launcher.
const ANCESTORS_MAX: usize = 6;

/// A library that may be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// A file, or a name for the system's loader.
    pub path: PathBuf,
    /// Where the wish comes from, for messages.
    pub because: &'static str,
    /// Whether the user named it: then no other one is tried.
    pub named: bool,
}

/// Libraries to try, best first. `given` is what the user named on the command line: a file or an installation's folder.
pub fn candidates(given: Option<&Path>) -> Vec<Candidate> {
    let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let named = given.map(|path| (path.to_owned(), "--mpi"));
    let named = named.or_else(|| variable(LIBRARY_VARIABLE).map(|v| (PathBuf::from(v), LIBRARY_VARIABLE)));
    if let Some((path, because)) = named {
        return vec![Candidate {
            path: library_at(&path),
            because,
            named: true,
        }];
    }
    let started_by = job_variables(&variable).map(|v| v.starter);
    let names = names_for(started_by);
    let mut found = Vec::new();
    let mut add = |path: PathBuf, because| {
        let known = found.iter().any(|c: &Candidate| c.path == path);
        if !known {
            found.push(Candidate {
                path,
                because,
                named: false,
            });
        }
    };
    if started_by.is_some() {
        for prefix in prefixes_of_ancestors() {
            files_below(&prefix, &names).for_each(|file| add(file, "the launcher that started this process"));
        }
        for prefix in ["OPAL_PREFIX", "I_MPI_ROOT", "MPI_HOME"]
            .into_iter()
            .filter_map(variable)
        {
            files_below(Path::new(&prefix), &names).for_each(|file| add(file, "the launcher's environment"));
        }
    } else {
        for launcher in launcher::on_path() {
            let names = names_for(launcher.kind.map(|kind| kind.starter()));
            let prefix = launcher.path.parent().and_then(Path::parent);
            if let Some(prefix) = prefix {
                files_below(prefix, &names).for_each(|file| add(file, "the launcher on PATH"));
            }
        }
    }
    for name in names {
        add(PathBuf::from(name), "the system's loader");
    }
    found
}

/// The names to look for, best first.
fn names_for(starter: Option<Starter>) -> Vec<&'static str> {
    let (first, second) = match starter {
        Some(Starter::Pmi | Starter::Slurm) => (&PMI_NAMES[..], &OPEN_MPI_NAMES[..]),
        _ => (&OPEN_MPI_NAMES[..], &PMI_NAMES[..]),
    };
    first.iter().chain(second).copied().collect()
}

/// The library that `path` means: itself, or the one in the installation at this folder.
fn library_at(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let names = names_for(None);
    let beside = names
        .iter()
        .map(|name| path.join(name))
        .find(|file| file.exists());
    let below = || files_below(path, &names).next();
    beside.or_else(below).unwrap_or_else(|| path.to_owned())
}

/// Existing libraries of these names in the installation at `prefix`.
fn files_below(prefix: &Path, names: &[&'static str]) -> impl Iterator<Item = PathBuf> {
    let in_folders = names
        .iter()
        .flat_map(|name| FOLDERS.iter().map(move |folder| (folder, name)));
    let files: Vec<PathBuf> = in_folders
        .map(|(folder, name)| prefix.join(folder).join(name))
        .filter(|file| file.exists())
        .collect();
    files.into_iter()
}

/// Prefixes of the launchers among the processes above this one, nearest first.
fn prefixes_of_ancestors() -> Vec<PathBuf> {
    let mut prefixes = Vec::new();
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..ANCESTORS_MAX {
        if process <= 1 {
            break;
        }
        let program = std::fs::read_link(format!("/proc/{process}/exe")).ok();
        if let Some(program) = program.filter(|p| launcher::kind_of_name(p).is_some())
            && let Some(prefix) = program.parent().and_then(Path::parent)
        {
            prefixes.push(prefix.to_owned());
        }
        match parent_of(process) {
            Some(parent) => process = parent,
            None => break,
        }
    }
    prefixes
}

/// The parent of a process, from the fourth word of its `stat`; the second may contain blanks and ends with `)`.
fn parent_of(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_names_is_the_only_candidate() {
        let named = candidates(Some(Path::new("/opt/mpi/libmpi.so")));
        assert_eq!(named.len(), 1);
        assert!(named[0].named && named[0].path == Path::new("/opt/mpi/libmpi.so"));
    }

    #[test]
    fn an_installation_is_searched_for_its_library() {
        let prefix = std::env::temp_dir().join(format!("wirespeed-find-{}", std::process::id()));
        std::fs::create_dir_all(prefix.join("lib64")).unwrap();
        let library = prefix.join("lib64/libmpi.so.12");
        std::fs::write(&library, b"").unwrap();
        assert_eq!(library_at(&prefix), library);
        assert_eq!(library_at(&prefix.join("lib64")), library);
        std::fs::remove_dir_all(&prefix).unwrap();
        assert_eq!(library_at(&prefix), prefix);
    }

    #[test]
    fn the_starter_decides_which_names_come_first() {
        assert_eq!(names_for(Some(Starter::Pmi))[0], "libmpi.so.12");
        assert_eq!(names_for(Some(Starter::OpenMpi))[0], "libmpi.so.40");
        assert_eq!(names_for(None).len(), 6);
    }

    #[test]
    fn this_process_has_a_parent() {
        let me = std::process::id();
        assert_eq!(parent_of(me), Some(std::os::unix::process::parent_id()));
        assert_eq!(parent_of(u32::MAX), None);
    }
}
