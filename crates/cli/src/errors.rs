//! Errors at the terminal: one line of cause, one of remedy, and an exit code. Never a panic, never a backtrace.

use crate::file;
use crate::remedies::as_typed;
use crate::{guesses, outlet, stderr};
use std::fmt::Display;
use std::io::ErrorKind;
use wirespeed_control::ControlError;
use wirespeed_report::render::wrap;
use wirespeed_schema::plan::{PlanError, nearest};
use wirespeed_schema::run::Status;
use wirespeed_schema::shown::{quoted, without_numbers};

/// What helps where stdout has no reader.
pub const READ_OR_OUTPUT: &str = "read it to its end, or write the result to a file with --output";

/// Exit codes that are not a run's status.
pub mod exit {
    /// The command line or the plan is invalid.
    pub const USAGE: u8 = 2;
    /// A run failed.
    pub const FAILED: u8 = 1;
    /// What was looked for was found: something is slower, a host is slow, a check warns.
    pub const GATE: u8 = 3;
    /// The result tells nothing: a comparison without verdict, figures that contradict each other, with `--strict` a warning.
    pub const INCONCLUSIVE: u8 = 4;
    /// The far end refused.
    pub const REFUSED: u8 = 5;
    /// The user stopped it.
    pub const INTERRUPTED: u8 = 130;
}

/// How a verb ended that has published its result, or has none to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The exit code.
    pub code: u8,
    /// What to say last, where the code is not 0.
    pub failure: Option<Failure>,
}

impl Ended {
    /// All is well.
    pub const OK: Ended = Ended {
        code: 0,
        failure: None,
    };

    /// Published, but not well.
    pub fn badly(failure: Failure) -> Self {
        Ended {
            code: failure.code,
            failure: Some(failure),
        }
    }

    /// With this code, which says all that there is to say.
    pub fn with(code: u8) -> Self {
        Ended { code, failure: None }
    }

    /// A process that others start ended with `code`; whoever started it by hand is told `cause`.
    pub fn hidden(code: u8, cause: &str, remedy: &str) -> Result<Self, Failure> {
        match code {
            exit::USAGE => Err(Failure::usage(cause, remedy)),
            code => Ok(Ended::with(code)),
        }
    }
}

/// Why the program ends without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// One line of cause.
    pub cause: String,
    /// One line of remedy.
    pub remedy: String,
    /// The exit code.
    pub code: u8,
    /// Stdout has a document already, whose status is the run's.
    pub documented: bool,
}

impl Failure {
    /// The command line or plan is invalid.
    pub fn usage(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::with(exit::USAGE, cause, remedy)
    }

    /// Something did not work.
    pub fn failed(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::with(exit::FAILED, cause, remedy)
    }

    /// With an exit code of its own.
    pub fn with(code: u8, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (cause, remedy) = (one_line(&cause.into()), one_line(&remedy.into()));
        Failure {
            remedy: meant(&cause, &remedy).unwrap_or(remedy),
            cause,
            code,
            documented: false,
        }
    }

    /// The user stopped it. The words hold for a screen, a pipe and `--output` alike.
    pub fn interrupted(remedy: &str) -> Self {
        Self::with(
            exit::INTERRUPTED,
            "interrupted; the result is of what was done until then",
            remedy,
        )
    }

    /// What only a mistake of ours can be.
    pub fn defect(error: impl Display) -> Self {
        Self::failed(
            error.to_string(),
            "this is a defect of wirespeed; please report it",
        )
    }

    /// The same, after a document went to stdout.
    pub fn documented(self) -> Self {
        Failure {
            documented: true,
            ..self
        }
    }

    /// A name for `--output` whose ending is none that is written; `taken` says which are.
    pub fn ending(path: &std::path::Path, why: &str, taken: &str) -> Self {
        Self::usage(
            format!("--output {}: {why}", file::shown(path)),
            format!("end the name with {taken}"),
        )
    }

    /// A file that could not be read or written.
    pub fn file(what: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let (shown, folder) = (file::shown(path), file::folder(path));
        if error.kind() == ErrorKind::InvalidData {
            return Self::failed(
                format!("{shown}: the file is not text"),
                "name a file of text, in UTF-8",
            );
        }
        if outlet::is_given_up(error) {
            return Self::unread(&shown, "have it read to its end, or name a file");
        }
        // A name that is to be made lacks its folder, not itself.
        if error.kind() == ErrorKind::NotFound && what != "read" && !folder.is_dir() {
            return Self::failed(
                format!(
                    "cannot {what} {shown}: there is no folder {}",
                    file::shown(folder)
                ),
                "make the folder first, or name a file in one that is there",
            );
        }
        Self::failed(
            format!("cannot {what} {shown}: {error}"),
            match is_full(error) {
                true => {
                    "make room there, or name a file on another file system; an earlier file is unchanged"
                }
                false => "check the path and its permissions",
            },
        )
    }

    /// The user wanted an end while whoever should read `what` did not.
    fn unread(what: &str, remedy: &str) -> Self {
        let cause = format!("interrupted while nobody read {what}, which lacks the rest");
        Self::with(exit::INTERRUPTED, cause, remedy)
    }

    /// Stdout that could not be written.
    pub fn stdout(error: &std::io::Error) -> Self {
        if outlet::is_given_up(error) {
            return Self::unread("stdout", READ_OR_OUTPUT);
        }
        let remedy = match is_full(error) {
            true => "make room there, or send stdout to another file system",
            false => "check where stdout goes",
        };
        Self::failed(format!("cannot write to stdout: {error}"), remedy)
    }

    /// The status of a document that holds nothing but this error.
    pub fn status(&self) -> Status {
        match self.code {
            exit::REFUSED => Status::Refused,
            exit::INTERRUPTED => Status::Interrupted,
            _ => Status::Failed,
        }
    }

    /// Write both lines to stderr, last on the screen; on a terminal they are broken at its edge.
    pub fn print(&self, color: bool, columns: Option<usize>) {
        let (red, cyan, reset) = match color {
            true => ("\x1b[1;31m", "\x1b[1;36m", "\x1b[0m"),
            false => ("", "", ""),
        };
        for (label, paint, text) in [(&*self.label(), red, &self.cause), ("help:", cyan, &self.remedy)] {
            let line = format!("{label} {text}");
            let line = columns.map_or(line.clone(), |columns| wrap(&line, columns, 2));
            stderr::say_painted(&line.replacen(label, &format!("{paint}{label}{reset}"), 1));
        }
    }

    /// A finding is no error: all worked, and the exit code is the answer.
    fn label(&self) -> String {
        match self.code {
            exit::GATE | exit::INCONCLUSIVE => format!("exit {}:", self.code),
            _ => "error:".to_owned(),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Failure::usage(as_typed(&error.to_string()), as_typed(&error.remedy))
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        Self::with(error.exit_code(), error.to_string(), error.remedy())
    }
}

impl From<wirespeed_control::Failure> for Failure {
    fn from(failure: wirespeed_control::Failure) -> Self {
        let remedy = failure.remedy.unwrap_or_else(|| "run again".to_owned());
        Self::with(
            wirespeed_control::exit_code(failure.class),
            failure.message,
            remedy,
        )
    }
}

/// Whether there is no room for a file, on its file system or by its owner's quota.
fn is_full(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

/// Where either line lists what there is, and one of that is near the word that was refused: the question whether it was
/// meant. The word stands last before the list, or last of all: in quotation marks, where there are any.
fn meant(cause: &str, remedy: &str) -> Option<String> {
    let list = |text: &str, mark: &str| {
        text.split_once(mark)
            .map(|(before, list)| (before.to_owned(), list.to_owned()))
    };
    let in_cause = ["expected one of ", "expected ", "it takes: ", "there are: "];
    let found = in_cause.iter().find_map(|mark| list(cause, mark));
    let (said, choices) = match remedy.strip_prefix("choose from: ") {
        Some(choices) => (cause.to_owned(), choices.to_owned()),
        None => found?,
    };
    let choices: Vec<&str> = choices.split([',', '|']).map(str::trim).collect();
    let quoted = said.rsplit('"').nth(1);
    let word = quoted.or_else(|| said.split_whitespace().last())?;
    // A value may have several parts, such as KIND@PLACE; a number is no slip of another.
    let is_name = |part: &&str| part.contains(char::is_alphabetic) && !choices.contains(part);
    let mut parts = word.split(['=', '@', ':']).filter(is_name);
    let near = parts.find_map(|part| guesses::name(part, &choices).or_else(|| nearest(part, &choices)))?;
    Some(format!("did you mean {near:?}?"))
}

/// Errors of the system may have line ends and control characters of their own; a terminal must not obey them.
fn one_line(text: &str) -> String {
    without_numbers(quoted(text, usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_one_line_without_control_characters() {
        let failure = Failure::usage("two\nlines \x1b[2J", "a\r\nb");
        assert_eq!(failure.cause, "two lines [2J");
        assert_eq!(failure.remedy, "a b");
    }

    #[test]
    fn a_file_that_is_no_text_or_has_no_folder_is_named_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bad\x1b[31m\u{202e}name");
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        let failure = Failure::file("read", &path, &std::fs::read_to_string(&path).unwrap_err());
        assert!(
            failure.cause.ends_with("bad[31mname: the file is not text"),
            "{failure:?}"
        );
        let lost = dir.path().join("no/such.json");
        let failure = file::check(&lost).unwrap_err();
        let folder = format!("there is no folder {}/no", dir.path().to_string_lossy());
        assert!(failure.cause.ends_with(&folder), "{failure:?}");
        let closed = file::check(std::path::Path::new("/proc/1/x/y.json")).unwrap_err();
        assert!(!closed.cause.contains(".partial"), "{closed:?}");
    }

    #[test]
    fn findings_are_named_by_their_exit_code_and_errors_as_such() {
        for code in 1..=6 {
            let label = Failure::with(code, "cause", "remedy").label();
            let expected = match code {
                3 | 4 => format!("exit {code}:"),
                _ => "error:".to_owned(),
            };
            assert_eq!(label, expected);
        }
    }

    #[test]
    fn numbers_of_the_system_are_left_out() {
        let cause =
            "cannot connect to [::1]:1: Connection refused (os error 111); File too large (os error 27)";
        assert_eq!(
            Failure::failed(cause, "try").cause,
            "cannot connect to [::1]:1: Connection refused; File too large"
        );
        assert_eq!(
            Failure::failed("odd (os error x)", "try").cause,
            "odd (os error x)"
        );
    }

    #[test]
    fn a_slip_is_told_wherever_the_choices_stand() {
        for (cause, remedy, near) in [
            (
                "there is no route \"dierct\"",
                "choose from: direct, daemon",
                "direct",
            ),
            (
                "invalid -M mutli",
                "choose from: single, serialized, multi",
                "multi",
            ),
            (
                "shm option wait=\"blcok\": expected poll|block",
                "see `wirespeed list shm`",
                "block",
            ),
            (
                "shm has no option \"wiat\"; it takes: wait, spin",
                "see `wirespeed list shm`",
                "wait",
            ),
            (
                "--interference \"cpu@aprat\": no such place; there are: beside, apart",
                "write",
                "apart",
            ),
        ] {
            assert_eq!(
                Failure::usage(cause, remedy).remedy,
                format!("did you mean {near:?}?"),
                "{cause}"
            );
        }
        for (cause, remedy) in [
            ("there is no route \"elephant\"", "choose from: direct, daemon"),
            ("invalid -c 12", "choose from: 11, 13"),
            (
                "tcp option mss=\"5\": expected 88 to 32767",
                "see `wirespeed list tcp`",
            ),
        ] {
            assert_eq!(Failure::usage(cause, remedy).remedy, remedy);
        }
    }
}
