//! What a process has once: the user's choice of library and thread level, the loaded library, and the place in the
//! world. MPI itself is a global of the process; so is this.

use std::path::PathBuf;
use std::sync::OnceLock;
use wirespeed_mpi_sys::constants::ThreadLevel;
use wirespeed_mpi_sys::{Loaded, find, load};

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// A library, or the folder of an installation.
    pub library: Option<PathBuf>,
    /// The thread level to ask for.
    pub threads: ThreadLevel,
}

impl Default for Choice {
    /// The library that is found, and the level that `MPI_Init` gives every program that does not ask: with any higher one
    /// some libraries take locks and atomics in every call. Our other threads never call MPI.
    fn default() -> Self {
        Choice {
            library: None,
            threads: ThreadLevel::Single,
        }
    }
}

/// This process's place in `MPI_COMM_WORLD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct World {
    /// The rank.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// The thread level that the library gave.
    pub threads: ThreadLevel,
}

static CHOICE: OnceLock<Choice> = OnceLock::new();
static LIBRARY: OnceLock<Result<Loaded, String>> = OnceLock::new();
static WORLD: OnceLock<World> = OnceLock::new();

/// Say what the user wants, before anything else here is called. The first word counts.
pub fn choose(choice: Choice) {
    let _ = CHOICE.set(choice);
}

/// What the user wants.
pub fn choice() -> Choice {
    CHOICE.get().cloned().unwrap_or_default()
}

/// The library of this process, loaded at the first call; the reason where none can be had.
pub fn library() -> Result<&'static Loaded, String> {
    LIBRARY
        .get_or_init(first_that_loads)
        .as_ref()
        .map_err(Clone::clone)
}

fn first_that_loads() -> Result<Loaded, String> {
    let mut why = String::new();
    for candidate in find::candidates(choice().library.as_deref()) {
        match load(&candidate.path) {
            Ok(loaded) => return Ok(loaded),
            Err(error) if candidate.named => return Err(format!("{error} ({})", candidate.because)),
            // A file that is there and does not load explains more than a name that nobody knows.
            Err(error) if candidate.path.is_absolute() && why.is_empty() => why = error.to_string(),
            Err(_) => {}
        }
    }
    Err(match why.is_empty() {
        true => format!(
            "no MPI library found: install Open MPI or MPICH, or name one with --mpi PATH or {}",
            find::LIBRARY_VARIABLE
        ),
        false => why,
    })
}

/// This process's place, once MPI is initialised.
pub fn world() -> Option<World> {
    WORLD.get().copied()
}

pub(crate) fn set_world(world: World) {
    let _ = WORLD.set(world);
}
