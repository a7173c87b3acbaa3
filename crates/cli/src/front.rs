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
    words(&argv, FRONTS)
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
