//! Batch files: lines of a name and options, in the original's form, with includes and variables beside it.
//!
//! An invalid line is kept with its reason, so that the others can run; only a file that cannot be read ends
//! the program. Nothing here knows what an option means.

use crate::args::TestArgs;
use crate::errors::Failure;
use crate::file;
use crate::front::attached;
use crate::input;
use clap::Parser;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wirespeed_schema::order::map_of;
use wirespeed_schema::shown::is_obeyed;

/// A file is not read beyond this.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Files within files.
const DEPTH_MAX: usize = 16;
/// Lines of one file with all that it includes.
const LINES_MAX: usize = 10_000;

/// A test of a batch file.
#[derive(Debug, Clone)]
pub struct BatchLine {
    /// Its first word.
    pub name: String,
    /// Its options, or why they make no sense.
    pub options: Result<TestArgs, Failure>,
    /// `FILE:LINE`.
    pub place: String,
}

/// Variables by name.
pub type Variables = BTreeMap<String, String>;

/// The words of a line, without a name in front.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, args_override_self = true)]
struct Words {
    #[command(flatten)]
    options: TestArgs,
}

/// `NAME=VALUE` of `--set`.
pub fn variables(words: &[String]) -> Result<Variables, Failure> {
    let parse = |word: &String| {
        assignment(word).ok_or_else(|| {
            Failure::usage(
                format!("--set {word:?} is not NAME=VALUE"),
                "write a name of letters, digits and _, then = and a value: --set SIZE=64",
            )
        })
    };
    let all: Result<Vec<_>, _> = words.iter().map(parse).collect();
    Ok(map_of(all?))
}

fn assignment(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name(name).then(|| (name.to_owned(), value.trim().to_owned()))
}

/// Every test of the file at `path`; `given` variables win over those that the file sets.
pub fn read(path: &Path, given: &Variables) -> Result<Vec<BatchLine>, Failure> {
    let mut reader = Reader {
        given,
        variables: given.clone(),
        open: Vec::new(),
        lines: Vec::new(),
    };
    reader.file(path)?;
    if reader.lines.is_empty() {
        return Err(Failure::usage(
            format!("batch file {} has no tests", file::shown(path)),
            "write one test a line: a name, then options such as -t am_lat -s 8",
        ));
    }
    Ok(reader.lines)
}

struct Reader<'a> {
    given: &'a Variables,
    variables: Variables,
    open: Vec<PathBuf>,
    lines: Vec<BatchLine>,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        let bytes = input::whole(path, "batch file", FILE_BYTES_MAX)?;
        // A pipe has no place, and cannot include itself.
        self.open.push(path.canonicalize().unwrap_or_default());
        for (number, line) in printable(&String::from_utf8_lossy(&bytes)).lines().enumerate() {
            self.line(line, path, number + 1);
            if self.lines.len() > LINES_MAX {
                return Err(Failure::usage(
                    format!("{} has more than {LINES_MAX} tests", file::shown(path)),
                    "split it",
                ));
            }
        }
        self.open.pop();
        Ok(())
    }

    fn line(&mut self, text: &str, path: &Path, number: usize) {
        let place = printable(&format!("{}:{number}", file::shown(path)));
        let mut words = text.split_whitespace();
        let Some(name) = words.next().filter(|word| !word.starts_with('#')) else {
            return;
        };
        let done = match name {
            "@set" => self.set(text),
            "@include" => self.include(path, &words.collect::<Vec<_>>()),
            _ => {
                let name = name.to_owned();
                let options = self.options(words);
                self.lines.push(BatchLine { name, options, place });
                return;
            }
        };
        if let Err(failure) = done {
            let (name, options) = (name.to_owned(), Err(failure));
            self.lines.push(BatchLine { name, options, place });
        }
    }

    fn set(&mut self, text: &str) -> Result<(), Failure> {
        let rest = text.trim_start().trim_start_matches("@set").trim();
        let (name, value) = assignment(rest).ok_or_else(|| {
            Failure::usage(format!("@set {rest:?} is not NAME=VALUE"), "write @set SIZE=64")
        })?;
        let value = self.filled(&value)?;
        if !self.given.contains_key(&name) {
            self.variables.insert(name, value);
        }
        Ok(())
    }

    /// Relative to the file that includes it.
    fn include(&mut self, from: &Path, words: &[&str]) -> Result<(), Failure> {
        let [name] = words else {
            return Err(Failure::usage("@include takes one file", "write @include FILE"));
        };
        let name = self.filled(name)?;
        let path = from.parent().unwrap_or(Path::new("")).join(&name);
        let circle = path.canonicalize().is_ok_and(|path| self.open.contains(&path));
        if circle || self.open.len() >= DEPTH_MAX {
            return Err(Failure::usage(
                format!("{name} is included within itself, or more than {DEPTH_MAX} deep"),
                "include each file once",
            ));
        }
        self.file(&path)
    }

    fn options<'w>(&self, words: impl Iterator<Item = &'w str>) -> Result<TestArgs, Failure> {
        let words: Vec<String> = words
            .take_while(|word| !word.starts_with('#'))
            .map(|word| self.filled(word).map(attached))
            .collect::<Result<_, Failure>>()?;
        let parsed = Words::try_parse_from(words);
        parsed.map(|words| words.options).map_err(|error| Failure {
            remedy: "see `wirespeed perftest --help` for the options of a test".to_owned(),
            ..Failure::from(error)
        })
    }

    /// `text` with the values of its `${NAME}`.
    fn filled(&self, text: &str) -> Result<String, Failure> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let variable = after
                .split_once('}')
                .and_then(|(name, tail)| Some((self.variables.get(name)?, tail)));
            let (value, tail) = variable.ok_or_else(|| {
                Failure::usage(
                    format!("{text}: no such variable"),
                    "set it before: @set NAME=VALUE in the file, or --set NAME=VALUE",
                )
            })?;
            filled.push_str(before);
            filled.push_str(value);
            rest = tail;
        }
        Ok(filled + rest)
    }
}

/// `text` without what a terminal would obey: names of files and of their tests are shown on it.
pub fn printable(text: &str) -> String {
    let shown = |c: char| {
        if is_obeyed(c) && !matches!(c, '\n' | '\r' | '\t') {
            '?'
        } else {
            c
        }
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &str) -> Vec<BatchLine> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("inner"), "inner -s ${SIZE}\n").unwrap();
        std::fs::write(dir.path().join("circle"), "@include circle\n").unwrap();
        let path = dir.path().join("batch");
        std::fs::write(&path, text).unwrap();
        read(&path, &Variables::new()).unwrap()
    }

    #[test]
    fn lines_comments_and_odd_blanks() {
        let lines = lines("# a comment\n\n  #-t am_lat\nfirst\t-t am_lat  -s 8\r\nsecond -s 16 # said\n");
        let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        let first = lines[0].options.as_ref().unwrap();
        assert_eq!(
            (first.test.as_deref(), first.size.as_deref()),
            (Some("am_lat"), Some("8"))
        );
        assert_eq!(lines[1].options.as_ref().unwrap().size.as_deref(), Some("16"));
        assert!(lines[0].place.ends_with("batch:4"));
    }

    #[test]
    fn every_letter_of_the_original_is_read() {
        let text = "all -t tag_bw -n 5 -s 8,8 -W 2 -O 3 -w 4 -D iov,contig -i 16 -H 0 -o -S -C -I -q -M multi -r recv \
                    -E poll -T 2 -d dev -x tl -A signal -B -U -epeer -m cuda,host -a cuda:0 -R 99 -l -y -z -L warp -F 4 \
                    -Y random:1 -V\n";
        let line = lines(text).remove(0);
        let options = line.options.unwrap();
        assert_eq!(options.error_mode.as_deref(), Some("peer"));
        assert_eq!(options.gpu_channel.as_deref(), Some("random:1"));
        assert!(options.loopback && options.check && options.nothing && options.silent);
    }

    #[test]
    fn variables_and_includes() {
        let lines = lines(
            "@set SIZE=64\n@set BOTH=${SIZE},${SIZE}\n@include inner\nouter -s ${BOTH}\nbad -s ${NONE}\n",
        );
        assert_eq!(lines[0].options.as_ref().unwrap().size.as_deref(), Some("64"));
        assert_eq!(lines[1].options.as_ref().unwrap().size.as_deref(), Some("64,64"));
        assert!(lines[2].options.as_ref().unwrap_err().cause.contains("${NONE}"));
    }

    /// As a shell hands over what another command prints: `-b <(command)`.
    #[test]
    fn a_pipe_is_read_as_a_file_is() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"piped -t am_lat -s 8\n").unwrap();
        drop(writer);
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let lines = read(&path, &Variables::new()).unwrap();
        assert_eq!((lines.len(), lines[0].name.as_str()), (1, "piped"));
    }

    #[test]
    fn nonsense_is_kept_with_its_reason() {
        for (text, told) in [
            ("a -?\n", "-?"),
            ("a -s\n", "-s"),
            ("a --no-such 5\n", "--no-such"),
            ("a word\n", "word"),
            ("@include\n", "@include"),
            ("@include missing\n", "missing"),
            ("@include circle\n", "circle"),
            ("@set 5\n", "@set"),
        ] {
            let line = lines(text).remove(0);
            let failure = line.options.unwrap_err();
            assert!(failure.cause.contains(told), "{text}: {failure:?}");
        }
    }

    #[test]
    fn a_given_variable_wins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("batch");
        std::fs::write(&path, "@set A=1\nx -s ${A}\n").unwrap();
        let given = variables(&["A=2".to_owned()]).unwrap();
        let lines = read(&path, &given).unwrap();
        assert_eq!(lines[0].options.as_ref().unwrap().size.as_deref(), Some("2"));
        assert!(variables(&["=2".to_owned()]).is_err());
        assert!(read(&dir.path().join("none"), &given).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-a-zA-Z0-9 \t#@${}=,.\n]{0,120}") {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("batch");
            std::fs::write(&path, text).unwrap();
            let _ = read(&path, &Variables::new());
        }
    }
}
