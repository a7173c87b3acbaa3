//! The names that the program answers to. Called by the name of an original (through a link or a copy), it is the front
//! end of that original: the words that follow are the original's own. It only rewrites words; what they mean is
//! decided in the front end's verb.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// An original's name and what it stands for.
pub struct Front {
    /// Name of the original's program, without a directory.
    pub program: &'static str,
    /// Words that take the name's place: the verb, then options that only hold under the original's name.
    pub words: &'static [&'static str],
}

/// Every front end that there is.
pub const FRONTS: &[Front] = &[
    // The original stays connected for ten seconds where nothing is said.
    Front {
        program: "arras4benchmark",
        words: &["session", "--format", "classic", "--stay-connected=10"],
    },
    Front {
        program: "msgrate",
        words: &["msgrate", "--format", "classic"],
    },
    // The original's server listens everywhere; here a client must prove that it has the key.
    Front {
        program: "ucx_perftest",
        words: &["perftest", "--listen", "all"],
    },
];

/// The name that stands in messages and recorded commands.
const PROGRAM: &str = "wirespeed";

/// This process's arguments, rewritten.
pub fn argv() -> Vec<OsString> {
    let argv: Vec<OsString> = std::env::args_os().collect();
    attach(words(&argv, FRONTS))
}

/// The one option of an original whose value is part of its word, or absent: clap would take the value for other letters.
fn attach(argv: Vec<OsString>) -> Vec<OsString> {
    let verb = verb(&argv);
    let is_perftest = argv.get(verb).is_some_and(|word| word == "perftest");
    let options = match is_perftest {
        true => verb..argv.iter().position(|word| word == "--").unwrap_or(argv.len()),
        false => 0..0,
    };
    let attach = |(number, word): (usize, OsString)| match word.into_string() {
        Ok(word) if options.contains(&number) => attached(word).into(),
        Ok(word) => word.into(),
        Err(word) => word,
    };
    argv.into_iter().enumerate().map(attach).collect()
}

/// The place of the verb: before it stand options of the whole program only, each with a value.
fn verb(argv: &[OsString]) -> usize {
    let mut place = 1;
    while let Some(word) = argv.get(place).map(|word| word.as_encoded_bytes())
        && word.starts_with(b"--")
    {
        place += if word.contains(&b'=') { 1 } else { 2 };
    }
    place
}

/// `-epeer`, as getopt takes an optional value, in the form that is parsed here.
pub fn attached(word: String) -> String {
    match word.strip_prefix("-e") {
        Some(mode) if !mode.is_empty() && !mode.starts_with('=') => format!("-e={mode}"),
        _ => word,
    }
}

/// `argv` as if it had been typed as `wirespeed VERB ...`; a program name that stands for nothing changes nothing.
fn words(argv: &[OsString], fronts: &[Front]) -> Vec<OsString> {
    let Some((program, rest)) = argv.split_first() else {
        return vec![PROGRAM.into()];
    };
    let name = Path::new(program).file_name();
    let front = fronts.iter().find(|f| name == Some(OsStr::new(f.program)));
    // Ranks are started under whatever name the file has, and are no front end.
    let hidden = rest
        .first()
        .is_some_and(|word| word.as_encoded_bytes().starts_with(b"__"));
    match front {
        Some(front) if !hidden => {
            let own = std::iter::once(&PROGRAM).chain(front.words).map(OsString::from);
            own.chain(rest.iter().cloned()).collect()
        }
        _ => asked_for_help(argv),
    }
}

/// `wirespeed help VERB ..` as `wirespeed VERB .. --help`.
fn asked_for_help(argv: &[OsString]) -> Vec<OsString> {
    match argv {
        [program, help, verbs @ ..] if help == "help" => {
            let words = std::iter::once(program).chain(verbs).cloned();
            words.chain(["--help".into()]).collect()
        }
        _ => argv.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, SessionFormat, Verb};
    use clap::{CommandFactory as _, Parser as _};

    const KNOWN: &[Front] = &[Front {
        program: "oldtool",
        words: &["verb", "--format", "classic"],
    }];

    fn rewritten(argv: &[&str]) -> Vec<OsString> {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        words(&argv, KNOWN)
    }

    #[test]
    fn an_original_name_becomes_its_verb() {
        let classic = ["wirespeed", "verb", "--format", "classic", "-n", "5"];
        assert_eq!(rewritten(&["oldtool", "-n", "5"]), classic);
        assert_eq!(rewritten(&["/opt/bin/oldtool", "-n", "5"]), classic);
        assert_eq!(rewritten(&["oldtool"]), classic[..4]);
    }

    /// Whatever a wrapper or the front itself has put before: what comes last holds, as with getopt.
    #[test]
    fn under_an_originals_name_the_last_of_an_option_wins() {
        for front in FRONTS {
            let mut all = Cli::command();
            all.build();
            let verb = all.find_subcommand(front.words[0]).unwrap();
            for option in verb.get_arguments().filter(|option| !option.is_positional()) {
                let name = match (option.get_long(), option.get_short()) {
                    (Some(long), _) => format!("--{long}"),
                    (None, letter) => format!("-{}", letter.unwrap()),
                };
                let value = option.get_possible_values();
                let value = value.first().map_or("1", |value| value.get_name());
                let once = match option.get_action().takes_values() {
                    true if option.is_require_equals_set() => vec![format!("{name}={value}")],
                    true => vec![name.clone(), value.to_owned()],
                    false => vec![name.clone()],
                };
                let typed: Vec<String> = [once.clone(), once].concat();
                let argv = [
                    &[front.program][..],
                    &typed.iter().map(String::as_str).collect::<Vec<_>>(),
                ];
                let argv = words(
                    &argv.concat().iter().map(OsString::from).collect::<Vec<_>>(),
                    FRONTS,
                );
                if let Err(error) = Cli::try_parse_from(&argv) {
                    let twice = error.to_string().contains("multiple times");
                    assert!(!twice, "{} {typed:?}: {error}", front.program);
                }
            }
        }
        let parsed = |line: &str| {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            Cli::try_parse_from(words(&argv, FRONTS)).unwrap().verb
        };
        let Verb::Msgrate(rates) =
            parsed("msgrate -p 8 -s 16 -p 4 -n 2 -i 7 -s 32 -n 1 -i 9 --via tcp --via shm")
        else {
            panic!("a verb of its own");
        };
        for (key, last) in [("peers", "4"), ("size", "32"), ("via", "shm")] {
            assert_eq!(rates.case.of(key), [last]);
        }
        assert_eq!(
            (rates.iters.as_deref(), rates.ranks_per_node.as_deref()),
            (Some("9"), Some("1"))
        );
        let Verb::Perftest(tests) = parsed("ucx_perftest --listen loopback") else {
            panic!("a verb of its own");
        };
        assert_eq!(tests.listen, ["loopback"]);
        let Verb::Session(session) = parsed("arras4benchmark --format table --stay-connected 0") else {
            panic!("a verb of its own");
        };
        assert_eq!(
            (session.format, session.stay_connected.as_str()),
            (SessionFormat::Table, "0")
        );
    }

    #[test]
    fn a_value_that_is_part_of_its_word_stays_one() {
        let attached = |argv: &[&str]| attach(argv.iter().map(OsString::from).collect());
        assert_eq!(
            attached(&["wirespeed", "perftest", "-epeer", "-e", "-e=none", "-1"]),
            ["wirespeed", "perftest", "-e=peer", "-e", "-e=none", "-1"]
        );
        assert_eq!(
            attached(&["wirespeed", "--mpi", "x", "--color=never", "perftest", "-epeer"])[5],
            "-e=peer"
        );
        for others in [
            &["wirespeed", "run", "-epeer"][..],
            &["wirespeed", "lab", "--lan", "--", "./prog", "perftest", "-e2e"],
            &["wirespeed", "perftest", "--", "-epeer"],
        ] {
            assert_eq!(attached(others), others);
        }
    }

    #[test]
    fn help_is_a_verb_and_an_option() {
        assert_eq!(rewritten(&["wirespeed", "help"]), ["wirespeed", "--help"]);
        assert_eq!(
            rewritten(&["wirespeed", "help", "byteio", "get"]),
            ["wirespeed", "byteio", "get", "--help"]
        );
        assert_eq!(rewritten(&["oldtool", "help"])[4..], ["help"]);
    }

    #[test]
    fn other_names_and_ranks_stay_as_they_are() {
        for argv in [
            &["wirespeed", "oldtool"][..],
            &["/tmp/oldtool2", "x"],
            &["oldtool", "__rank"],
        ] {
            assert_eq!(rewritten(argv), argv);
        }
        assert_eq!(rewritten(&[]), ["wirespeed"]);
    }
}
