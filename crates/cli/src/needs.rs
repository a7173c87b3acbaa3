//! Options that mean something beside another one only. clap asks for that one, but not where it conflicts with something else
//! that was typed: then nothing would be said, and the option be ignored. It must never print.

use crate::errors::Failure;
use clap::ArgMatches;
use clap::parser::ValueSource;

/// A verb, an option of it, and those of which it needs one.
const NEEDS: [(&str, &str, &[&str]); 10] = [
    ("byteio bench", "at_once", &["pairs", "emulated"]),
    ("byteio bench", "both", &["pairs", "put"]),
    ("byteio bench", "duration", &["offered"]),
    ("byteio bench", "p99", &["offered"]),
    ("byteio bench", "points", &["offered"]),
    ("lab", "far_ready", &["far"]),
    ("mesh", "victims", &["pattern"]),
    ("run", "port", &["to"]),
    ("session", "p99", &["offered"]),
    ("session", "points", &["offered"]),
];

/// Refuse words of which one needs another that is not there.
pub fn refuse(mut words: &ArgMatches) -> Result<(), Failure> {
    let mut verb = Vec::new();
    while let Some((name, inner)) = words.subcommand() {
        verb.push(name);
        words = inner;
    }
    let verb = verb.join(" ");
    let is_typed = |id: &str| {
        words
            .value_source(id)
            .is_some_and(|source| source != ValueSource::DefaultValue)
    };
    let of_verb = NEEDS.iter().filter(|(of, _, _)| *of == verb);
    let mut lacking = of_verb.filter(|(_, id, needed)| is_typed(id) && !needed.iter().any(|id| is_typed(id)));
    let Some((_, id, needed)) = lacking.next() else {
        return Ok(());
    };
    let option = |id: &str| format!("--{}", id.replace('_', "-"));
    let needed: Vec<String> = needed.iter().map(|id| option(id)).collect();
    let (option, needed) = (option(id), needed.join(" or "));
    Err(Failure::usage(
        format!("{option} is of use with {needed} only"),
        format!("add {needed}, or leave {option} out"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{Arg, ArgAction, Command, CommandFactory as _};

    /// How an argument may be typed.
    fn typed(arg: &Arg) -> Option<String> {
        let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
        match (arg.get_long(), takes) {
            (Some("help" | "version"), _) | (None, false) => None,
            (Some(long), true) => Some(format!("--{long}=3")),
            (Some(long), false) => Some(format!("--{long}")),
            (None, true) if arg.is_last_set() => Some("-- x".to_owned()),
            (None, true) => Some("x".to_owned()),
        }
    }

    fn is_refused(line: &str) -> bool {
        match Cli::command().try_get_matches_from(line.split(' ')) {
            Ok(words) => refuse(&words).is_err(),
            Err(_) => true,
        }
    }

    fn verb<'a>(program: &'a Command, path: &str) -> &'a Command {
        path.split(' ')
            .fold(program, |verb, name| verb.find_subcommand(name).unwrap())
    }

    /// Whatever else is typed: what conflicts with the option that is needed does not take its place.
    #[test]
    fn an_option_without_the_one_that_it_needs_is_refused_beside_every_other() {
        let program = Cli::command();
        for (path, id, needed) in NEEDS {
            let arguments = || verb(&program, path).get_arguments();
            let option = arguments()
                .find(|arg| arg.get_id() == id)
                .and_then(typed)
                .unwrap();
            let others =
                arguments().filter(|arg| arg.get_id() != id && !needed.contains(&arg.get_id().as_str()));
            for other in others.filter_map(typed) {
                let line = format!("wirespeed {path} {option} {other}");
                assert!(is_refused(&line), "{line}");
            }
        }
    }

    #[test]
    fn an_option_beside_the_one_that_it_needs_is_taken() {
        for line in [
            "byteio bench http://x/y --put f --both",
            "byteio bench --pairs f --both --at-once",
            "byteio bench --emulated --profile byteio2009 --at-once",
            "byteio bench http://x/y --offered auto --points 3 --duration 1s --p99 1ms",
            "lab --far x --far-ready 2s -- y",
            "lab -- y",
            "byteio bench http://x/y",
        ] {
            let line = format!("wirespeed {line}");
            assert!(!is_refused(&line), "{line}");
        }
    }

    /// What a known experiment or a sweep chooses by itself cannot be chosen too.
    #[test]
    fn a_shape_that_is_not_used_is_refused() {
        for whole in ["--sweep", "--profile byteio2009"] {
            for shape in ["--threads 3", "--block-size 1M", "--depth 2"] {
                let line = format!("wirespeed byteio bench http://x/y {whole} {shape}");
                assert!(is_refused(&line), "{line}");
            }
        }
        assert!(is_refused(
            "wirespeed byteio bench http://x/y --profile byteio2009 -m http"
        ));
        assert!(!is_refused("wirespeed byteio bench http://x/y --sweep -m http"));
    }
}
