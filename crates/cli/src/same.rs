//! Two options of one command that name the same file. A result must never take the place of what the command reads, nor of
//! another thing that it writes.

use crate::args::RunArgs;
use crate::errors::Failure;
use crate::{file, request};
use clap::ArgMatches;
use std::path::{Path, PathBuf};

/// The options under which a command writes.
const WRITTEN: [&str; 6] = ["chart", "charts", "figures", "junit", "log", "output"];

/// Refuse words of which one names what is written, and another the same file.
pub fn refuse(mut words: &ArgMatches) -> Result<(), Failure> {
    while let Some((_, inner)) = words.subcommand() {
        words = inner;
    }
    let ids: Vec<&str> = words.ids().map(clap::Id::as_str).collect();
    let of = |id: &&str| -> Vec<PathBuf> {
        let paths = words.try_get_many::<PathBuf>(id).ok().flatten();
        paths.map(|paths| paths.cloned().collect()).unwrap_or_default()
    };
    for written in ids.iter().filter(|id| WRITTEN.contains(id)) {
        for other in ids.iter().filter(|id| *id != written) {
            of(other).iter().try_for_each(|path| apart(path, &of(written)))?;
        }
    }
    Ok(())
}

/// Refuse a plan file, whose name is a word like that of a test, that is also one of those that are written.
pub fn plan_apart(run: &RunArgs, written: &[PathBuf]) -> Result<(), Failure> {
    match request::names_file(&run.what) {
        true => apart(Path::new(&run.what), written),
        false => Ok(()),
    }
}

/// Refuse a file that is also one of those that are written.
pub fn apart(path: &Path, written: &[PathBuf]) -> Result<(), Failure> {
    let Some(place) = place(path) else { return Ok(()) };
    match written
        .iter()
        .find(|one| self::place(one).as_ref() == Some(&place))
    {
        None => Ok(()),
        Some(one) => Err(Failure::usage(
            format!(
                "{} is named twice: a result would take the place of that file",
                file::shown(one)
            ),
            "write the result to another file",
        )),
    }
}

/// Where a regular file is or would be, links followed; nothing of devices and pipes, which hold nothing that can be lost.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(place) = path.canonicalize() {
        return place.is_file().then_some(place);
    }
    Some(file::folder(path).canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::builder::ValueParser;
    use clap::{Command, CommandFactory as _};
    use std::collections::BTreeSet;

    /// The options that name what is read, or a place where each command has files of its own.
    const READ: [&str; 19] = [
        "a",
        "b",
        "batch",
        "directory",
        "file",
        "hostfile",
        "into",
        "key",
        "mounted",
        "mpi",
        "pairs",
        "path",
        "prepend",
        "put",
        "result",
        "results",
        "root",
        "session",
        "ssh_config",
    ];

    fn path_options(command: &Command, found: &mut BTreeSet<String>) {
        let of_paths = ValueParser::path_buf().type_id();
        let paths = command
            .get_arguments()
            .filter(|arg| arg.get_value_parser().type_id() == of_paths);
        found.extend(paths.map(|arg| arg.get_id().to_string()));
        command
            .get_subcommands()
            .for_each(|inner| path_options(inner, found));
    }

    #[test]
    fn every_option_that_names_a_file_is_known_to_read_or_to_write() {
        let mut found = BTreeSet::new();
        path_options(&Cli::command(), &mut found);
        let known: BTreeSet<String> = WRITTEN.iter().chain(&READ).map(|id| (*id).to_owned()).collect();
        assert_eq!(found, known);
    }

    #[test]
    fn a_file_is_the_same_however_it_is_spelt() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f.json");
        std::fs::write(&file, "{}").unwrap();
        std::os::unix::fs::symlink(&file, folder.path().join("link.json")).unwrap();
        let spelt = |name: &str| folder.path().join(name);
        for same in ["f.json", "./f.json", "link.json", "../f.json"] {
            let same = match same {
                "../f.json" => spelt("..")
                    .join(folder.path().file_name().unwrap())
                    .join("f.json"),
                same => spelt(same),
            };
            assert!(
                apart(&same, &[spelt("other.json"), file.clone()]).is_err(),
                "{same:?}"
            );
        }
        // Neither is there yet.
        assert!(apart(&spelt("new.json"), &[spelt("./new.json")]).is_err());
        assert!(apart(&spelt("new.json"), std::slice::from_ref(&file)).is_ok());
        assert!(apart(Path::new("/dev/null"), &["/dev/null".into()]).is_ok());
    }

    #[test]
    fn verbs_refuse_what_they_would_destroy() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (a, b) = (path("a.json"), path("b.json"));
        for words in [
            vec!["compare", &a, &b, "-o", &b],
            vec!["report", &a, &b, "-o", &a],
            vec!["import", &a, "-o", &a],
            vec!["byteio", "put", &a, "http://x/y", "-o", &a],
            vec!["byteio", "get", "http://x/y", &a, "-o", &b, "-o", &a],
            vec!["byteio", "bench", "http://x/y", "--into", &a, "-o", &a],
            vec!["byteio", "bench", "http://x/y", "--put", &a, "-o", &a],
            vec!["byteio", "bench", "--pairs", &a, "-o", &a],
            vec!["workers", "--figures", &a, "-o", &a],
        ] {
            let typed = std::iter::once("wirespeed").chain(words.iter().copied());
            let parsed = Cli::command().try_get_matches_from(typed).unwrap();
            assert_eq!(
                refuse(&parsed).map_err(|failure| failure.code),
                Err(2),
                "{words:?}"
            );
        }
        let apart = ["wirespeed", "compare", &a, &b, "-o", &path("c.json")];
        assert!(refuse(&Cli::command().try_get_matches_from(apart).unwrap()).is_ok());
    }
}
