//! Reads stored results. A file that cannot be read gives one line of cause, with its name, and one of remedy.

use crate::errors::{Failure, exit};
use crate::{file, input, words};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use wirespeed_report::import::{ImportError, import};
use wirespeed_report::read::{DOCUMENT_BYTES_MAX, ReadError};
use wirespeed_report::read_run;
use wirespeed_schema::Run;

/// Whether a result was read from stdin, which then has no other.
static STDIN_TAKEN: AtomicBool = AtomicBool::new(false);

/// The run document in `path`; `-` is stdin. At most as much is read as a document may have.
pub fn load(path: &Path) -> Result<Run, Failure> {
    let bytes = bytes(path)?;
    read_run(&bytes).or_else(|error| {
        // A file of another tool is a result too; what is neither is refused as no document.
        let foreign = matches!(error, ReadError::NotJson { .. } | ReadError::Foreign { .. });
        let failed = |cause: &dyn std::fmt::Display, remedy: &str| {
            Failure::with(exit::USAGE, format!("{}: {cause}", file::shown(path)), remedy)
        };
        match foreign.then(|| import(&bytes, None)) {
            Some(Ok((_, run))) => Ok(run),
            // A file of a known tool that cannot be taken: why, in its own words.
            Some(Err(why))
                if !matches!(
                    why,
                    ImportError::Unknown | ImportError::NotText | ImportError::TooLarge { .. }
                ) =>
            {
                Err(failed(&why, why.remedy()))
            }
            _ => Err(failed(&error, error.remedy())),
        }
    })
}

/// All of a file, up to one byte more than a document may have.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let most = DOCUMENT_BYTES_MAX as u64 + 1;
    if path != Path::new("-") {
        return input::beginning(path, most);
    }
    match STDIN_TAKEN.swap(true, Ordering::Relaxed) {
        true => Err(Failure::usage(
            "two results cannot both be standard input (-)",
            "store one of them in a file, and name that",
        )),
        false => input::beginning_of(std::io::stdin().lock(), path, most),
    }
}

/// The names of results for people, each its own: those that share the names of their files have their folders too, and one that
/// is named twice its number.
pub fn names<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let paths: Vec<&Path> = paths.collect();
    let is_shared = |at: usize, own: &str| {
        paths
            .iter()
            .enumerate()
            .any(|(other, path)| other != at && name(path) == own)
    };
    let mut names: Vec<String> = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let mut own = name(path);
        if is_shared(at, &own) {
            own = file::shown(path);
        }
        let again = paths[..at].iter().filter(|before| *before == path).count();
        match again {
            0 => names.push(own),
            again => names.push(format!("{own} ({})", again + 1)),
        }
    }
    names
}

/// The name of a result for people: its file's name without folders.
pub fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| file::shown(path), words::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn results_have_names_of_their_own() {
        let paths = ["a/r.json", "b/r.json", "b/s.json", "b/r.json", "s.json"];
        let names = names(paths.iter().map(Path::new));
        assert_eq!(
            names,
            ["a/r.json", "b/r.json", "b/s.json", "b/r.json (2)", "s.json"]
        );
        assert_eq!(super::names([Path::new("c/x.json")].into_iter()), ["x.json"]);
        let bytes = Path::new(std::ffi::OsStr::from_bytes(b"c/caf\xe9.json"));
        assert_eq!(super::names([bytes].into_iter()), [r"$'caf\xe9.json'"]);
    }
}
