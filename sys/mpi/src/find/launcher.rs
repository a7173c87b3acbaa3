//! Launchers: told by the name of the program behind every link, found beside a library or on `PATH`.

use super::Starter;
use crate::constants::Family;
use std::path::{Path, PathBuf};

/// Kinds of launchers by how they are told what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LauncherKind {
    /// `mpirun` of Open MPI up to 4 (ORTE).
    Orte,
    /// `mpirun` of Open MPI 5 (PRRTE).
    Prrte,
    /// `mpiexec.hydra` of MPICH, Intel MPI, MVAPICH.
    Hydra,
}

impl LauncherKind {
    /// Who sets the variables of its ranks.
    pub fn starter(self) -> Starter {
        match self {
            LauncherKind::Orte | LauncherKind::Prrte => Starter::OpenMpi,
            LauncherKind::Hydra => Starter::Pmi,
        }
    }

    /// Whether it starts the ranks of a library of `family`. Both kinds may start the standard ABI; only Hydra's library
    /// offers it today.
    pub fn fits(self, family: Family) -> bool {
        (self == LauncherKind::Hydra) == (family != Family::OpenMpi)
    }
}

/// A launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The program, as it is to be called.
    pub path: PathBuf,
    /// Its kind, where its name says.
    pub kind: Option<LauncherKind>,
}

const NAMES: [&str; 9] = [
    "mpirun.openmpi",
    "mpiexec.openmpi",
    "prterun",
    "orterun",
    "mpiexec.hydra",
    "mpiexec.mpich",
    "mpirun.mpich",
    "mpiexec",
    "mpirun",
];

/// The kind of the launcher or of its daemon that this program is, by its name alone.
pub fn kind_of_name(program: &Path) -> Option<LauncherKind> {
    let name = program.file_name()?.to_str()?;
    match name {
        "orterun" | "orted" | "mpirun.openmpi" | "mpiexec.openmpi" => Some(LauncherKind::Orte),
        "prterun" | "prted" | "prte" | "ompirun_wrapper" => Some(LauncherKind::Prrte),
        name if name.starts_with("hydra_") => Some(LauncherKind::Hydra),
        "mpiexec.hydra" | "mpiexec.mpich" | "mpirun.mpich" => Some(LauncherKind::Hydra),
        // Of no particular kind: what stands beside them tells.
        "mpiexec" | "mpirun" => beside(program),
        _ => None,
    }
}

/// The kind of a plainly named launcher, by the helpers in its folder.
fn beside(program: &Path) -> Option<LauncherKind> {
    let folder = program.parent()?;
    let there = |name: &str| folder.join(name).exists();
    // A system's folder may hold several libraries; there the links behind the plain name decide.
    match (there("prterun"), there("orterun"), there("hydra_pmi_proxy")) {
        (true, false, false) => Some(LauncherKind::Prrte),
        (false, true, false) => Some(LauncherKind::Orte),
        (false, false, true) => Some(LauncherKind::Hydra),
        _ => None,
    }
}

fn launcher_at(path: PathBuf) -> Option<Launcher> {
    let real = std::fs::canonicalize(&path).ok()?;
    let kind = kind_of_name(&real).or_else(|| kind_of_name(&path));
    Some(Launcher { path, kind })
}

fn in_folder(folder: &Path) -> Vec<Launcher> {
    NAMES
        .iter()
        .filter_map(|name| launcher_at(folder.join(name)))
        .collect()
}

/// Launchers on `PATH`, in its order; the plain names first, for they are what a user would type.
pub(super) fn on_path() -> Vec<Launcher> {
    let folders: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    let plain = |folder: &PathBuf| {
        let names = ["mpiexec", "mpirun"].map(|name| folder.join(name));
        names.into_iter().filter_map(launcher_at).collect::<Vec<_>>()
    };
    folders
        .iter()
        .flat_map(plain)
        .chain(folders.iter().flat_map(|folder| in_folder(folder)))
        .filter(|launcher| launcher.kind.is_some())
        .collect()
}

/// The launcher that starts ranks of the library in `file`: beside it, else on `PATH`.
pub fn launcher_for(file: &Path, family: Family) -> Option<Launcher> {
    let fits = |launcher: &Launcher| launcher.kind.is_some_and(|kind| kind.fits(family));
    let prefixes = file.ancestors().skip(1).take(4);
    let mut near = prefixes.flat_map(|prefix| in_folder(&prefix.join("bin")));
    near.find(fits).or_else(|| on_path().into_iter().find(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, b"").unwrap();
    }

    #[test]
    fn kinds_are_told_by_name_and_by_company() {
        let kind = |path: &str| kind_of_name(Path::new(path));
        assert_eq!(kind("/usr/bin/orterun"), Some(LauncherKind::Orte));
        assert_eq!(kind("/x/bin/hydra_pmi_proxy"), Some(LauncherKind::Hydra));
        assert_eq!(kind("/x/bin/prted"), Some(LauncherKind::Prrte));
        assert_eq!(kind("/bin/bash"), None);
    }

    #[test]
    fn the_launcher_beside_a_library_is_found() {
        let root = std::env::temp_dir().join(format!("wirespeed-launcher-{}", std::process::id()));
        let library = root.join("lib/libmpi.so.40");
        touch(&library);
        touch(&root.join("bin/mpirun"));
        touch(&root.join("bin/prterun"));
        let found = launcher_for(&library, Family::OpenMpi).unwrap();
        assert_eq!(found.kind, Some(LauncherKind::Prrte));
        assert!(found.path.starts_with(&root), "{found:?}");
        let other = launcher_for(&library, Family::Mpich);
        assert!(other.is_none_or(|l| !l.path.starts_with(&root)));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
