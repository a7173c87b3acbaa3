//! Options that take a number, and were given something else. What a verb takes is asked of clap, which knows the range of each
//! option and tells it to nobody but in an error.

use crate::args::Cli;
use crate::errors::Failure;
use clap::error::{ContextKind, ErrorKind};
use clap::{Command, CommandFactory, Parser};
use std::ffi::OsString;

/// From here on, a largest value is that of the integer and not of the option.
const NO_LIMIT: u64 = u32::MAX as u64;

/// A value that its option does not take, and which numbers it takes; `None` where the error is another.
pub fn refused(error: &clap::Error, argv: &[OsString]) -> Option<Failure> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let option = super::strings(error.get(ContextKind::InvalidArg))
        .into_iter()
        .next()?;
    let option = option
        .split([' ', '='])
        .next()
        .filter(|name| name.starts_with('-'))?;
    let value = super::strings(error.get(ContextKind::InvalidValue))
        .into_iter()
        .next()?;
    let value = wirespeed_schema::shown::value(&value);
    let why = std::error::Error::source(error)
        .map(ToString::to_string)
        .unwrap_or_default();
    let verb = verb(argv);
    let range = [i64::MAX, i64::MIN]
        .iter()
        .find_map(|beyond| range(&verb, option, *beyond));
    let is_whole = ["digit", "integer", "number"]
        .iter()
        .any(|word| why.contains(word));
    let wanted = match range {
        _ if why.contains("float") => "give a number such as 0.5; ".to_owned(),
        Some((least, most)) if most < NO_LIMIT => format!("give a whole number from {least} to {most}; "),
        Some((least, _)) => format!("give a whole number of at least {least}; "),
        None if is_whole => "give a whole number; ".to_owned(),
        None => String::new(),
    };
    let cause = match wanted.is_empty() {
        true => format!("invalid {option} {value}: {why}"),
        false => format!("invalid {option} {value}"),
    };
    Some(Failure::usage(
        cause,
        format!("{wanted}see `{} --help`", verb.join(" ")),
    ))
}

/// The program's name and the verbs at the beginning of `argv`.
fn verb(argv: &[OsString]) -> Vec<String> {
    let mut found = vec!["wirespeed".to_owned()];
    let mut command: Command = Cli::command();
    for word in argv.iter().skip(1) {
        let Some(named) = command.find_subcommand(word) else {
            continue;
        };
        found.push(named.get_name().to_owned());
        command = named.clone();
    }
    found
}

/// The least and the largest number that `option` of `verb` takes, as clap says of a number `beyond` them.
fn range(verb: &[String], option: &str, beyond: i64) -> Option<(u64, u64)> {
    let typed = [verb, &[format!("{option}={beyond}")]].concat();
    let error = Cli::try_parse_from(typed).err()?;
    let why = std::error::Error::source(&error)?.to_string();
    let (_, range) = why.split_once(" is not in ")?;
    let (least, most) = range.split_once("..")?;
    let most: u64 = most.trim_start_matches('=').parse().ok()?;
    Some((least.parse().ok()?, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    fn failure(words: &[&str]) -> Failure {
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        crate::typed::parse(&argv).unwrap_err()
    }

    #[test]
    fn the_numbers_that_are_taken_are_told() {
        for (words, told) in [
            (
                &["wirespeed", "sweep", "--points", "x"][..],
                "give a whole number from 3 to 1000; see `wirespeed sweep --help`",
            ),
            (
                &["wirespeed", "sweep", "--points", "0"],
                "give a whole number from 3 to 1000; see `wirespeed sweep --help`",
            ),
            (
                &["wirespeed", "quick", "--seed", "x"],
                "give a whole number; see `wirespeed quick --help`",
            ),
            (
                &["wirespeed", "serve", "--port", "99999"],
                "give a whole number from 0 to 65535; see `wirespeed serve --help`",
            ),
            (
                &["wirespeed", "serve", "--ranks-max", "0"],
                "give a whole number of at least 1; see `wirespeed serve --help`",
            ),
            (
                &["wirespeed", "mesh", "--false-alarm", "x"],
                "give a number such as 0.5; see `wirespeed mesh --help`",
            ),
        ] {
            let failure = failure(words);
            assert_eq!(failure.remedy, told, "{words:?}");
            let shown = format!("invalid {} {}", words[2], words[3]);
            assert_eq!(failure.cause, shown, "{words:?}");
        }
    }

    /// Every option of every verb that wants a number says so in plain words.
    #[test]
    fn no_option_speaks_of_digits() {
        fn verbs(command: &Command, path: &[String], found: &mut Vec<Vec<String>>) {
            for verb in command.get_subcommands() {
                let path = [path, &[verb.get_name().to_owned()]].concat();
                verbs(verb, &path, found);
                found.push(path);
            }
        }
        let whole = Cli::command();
        let mut all = Vec::new();
        verbs(&whole, &["wirespeed".to_owned()], &mut all);
        let mut asked = 0;
        for path in all {
            let command = path
                .iter()
                .skip(1)
                .fold(&whole, |command, word| command.find_subcommand(word).unwrap());
            let takes = |option: &&Arg| option.get_action().takes_values() && !option.is_positional();
            for option in command.get_arguments().filter(takes) {
                let Some(name) = option.get_long() else { continue };
                for value in ["x1y", "999999999999999999999999"] {
                    let argv = [&path[..], &[format!("--{name}={value}")]].concat();
                    let argv: Vec<OsString> = argv.into_iter().map(OsString::from).collect();
                    let Err(failure) = crate::typed::parse(&argv) else {
                        continue;
                    };
                    asked += usize::from(failure.remedy.starts_with("give a "));
                    for word in ["digit", "is not in", "literal", "too large", "out of range"] {
                        let said = format!("{} {}", failure.cause, failure.remedy);
                        assert!(!said.contains(word), "{path:?} --{name}={value}: {said}");
                    }
                }
            }
        }
        assert!(asked > 20, "{asked}");
    }
}
