//! What is wrong with the words that were typed: clap's many lines as two. It must never print.

use crate::args::Cli;
use crate::errors::Failure;
use crate::guesses;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// clap's many lines as two.
impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let mut cause = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        if let Some(word) = negative(&error) {
            return refused_negative(&format!("{word}..."));
        }
        if error.kind() == ErrorKind::MissingRequiredArgument {
            let missing: Vec<_> = strings(error.get(ContextKind::InvalidArg));
            cause = format!("missing: {}", missing.join(" "));
        }
        Failure::usage(cause, clap_remedy(&error))
    }
}

/// clap's error about `argv`: a value that begins with a dash is shown as it was typed, with its option.
pub fn of_words(error: clap::Error, argv: &[OsString]) -> Failure {
    let Some(start) = negative(&error) else {
        return error.into();
    };
    let words: Vec<String> = argv
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let typed = words.windows(2).find(|pair| pair[1].starts_with(&start));
    match typed {
        Some([option, value]) if option.starts_with('-') => refused_negative(&format!("{option} {value}")),
        Some([_, value]) => refused_negative(value),
        _ => error.into(),
    }
}

fn refused_negative(words: &str) -> Failure {
    Failure::usage(
        format!("{words}: no value here may be negative"),
        "give a positive one; a value that must begin with a dash is written --option=VALUE",
    )
}

/// A word such as -1s: clap takes it for an unknown option `-1`.
fn negative(error: &clap::Error) -> Option<String> {
    let unknown = (error.kind() == ErrorKind::UnknownArgument).then(|| error.get(ContextKind::InvalidArg))?;
    strings(unknown).into_iter().next().filter(|word| {
        word.strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// What `sweep`, `load` and others say to an experiment that other verbs have.
const WITH_LOAD: &str = "`wirespeed run TEST .. --interference=cpu`, over a grid of sizes too, `session` and `byteio bench` \
                         measure without and with a load in turn; or put --load cpu=1 behind the --";

fn clap_remedy(error: &clap::Error) -> String {
    let unknown = (error.kind() == ErrorKind::UnknownArgument).then(|| error.get(ContextKind::InvalidArg));
    if strings(unknown.flatten())
        .iter()
        .any(|word| word.starts_with("--interference"))
    {
        return WITH_LOAD.to_owned();
    }
    let command = command_of(error);
    if let (Some(command), [word, ..]) = (&command, strings(unknown.flatten()).as_slice())
        && has_words_of_run(command)
        && takes("wirespeed run", word)
    {
        let typed = word.split('=').next().unwrap_or(word);
        return format!(
            "{typed} is an option of the test: write it behind a --, as `{command} --help` shows"
        );
    }
    let suggested = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    for kind in suggested {
        if let Some(word) = strings(error.get(kind)).first() {
            return format!("did you mean {word:?}?");
        }
    }
    let valid = strings(error.get(ContextKind::ValidValue));
    if !valid.is_empty() {
        return format!("choose from: {}", valid.join(", "));
    }
    let known = |word: &str| command.as_ref().is_some_and(|command| takes(command, word));
    let unknown = strings(unknown.flatten());
    if let Some(word) = unknown.iter().find_map(|word| guesses::option(word, known)) {
        return format!("here it is called {word}");
    }
    let bare = unknown.iter().any(|word| !word.starts_with('-'));
    let missing_test = strings(error.get(ContextKind::InvalidArg))
        .iter()
        .any(|missing| missing.starts_with("<TEST"));
    match (error.kind(), command) {
        (ErrorKind::ArgumentConflict, _) => "give one of them".to_owned(),
        (_, None) => "see --help of the verb".to_owned(),
        (ErrorKind::MissingRequiredArgument, Some(command)) if missing_test => {
            format!("name a test such as latency, or see `{command} --help`")
        }
        // The program's own name may be another: it is the verb that counts.
        (ErrorKind::UnknownArgument, Some(command)) if bare && command.ends_with(" ab") => {
            format!("write each side behind a --: {command} -- latency --via unix -- latency --via tcp")
        }
        (ErrorKind::InvalidSubcommand, Some(command)) => format!("see `{command} --help` for the verbs"),
        (_, Some(command)) => format!("see `{command} --help`"),
    }
}

/// Whether the verb of `command`, the program's name and words behind it, takes the option `word`, long or short.
fn takes(command: &str, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    any_argument(command, |argument| match name.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => name
            .chars()
            .nth(1)
            .is_some_and(|short| argument.get_short() == Some(short)),
    })
}

/// Whether the verb of `command` takes words for `wirespeed run` behind a `--`.
fn has_words_of_run(command: &str) -> bool {
    any_argument(command, clap::Arg::is_last_set)
}

fn any_argument(command: &str, is: impl Fn(&clap::Arg) -> bool) -> bool {
    let whole = Cli::command();
    let mut verbs = command.split(' ').skip(1);
    let verb = verbs.try_fold(&whole, |verb, word| verb.find_subcommand(word));
    verb.is_some_and(|verb| verb.get_arguments().any(is))
}

/// The program and the verbs that were understood: the beginning of the usage line, which errors about values lack.
fn command_of(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return None;
    };
    let usage = usage.to_string();
    let words = usage.trim_start_matches("Usage:").split_whitespace();
    let words: Vec<&str> = words.take_while(|w| w.starts_with(char::is_alphabetic)).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn strings(value: Option<&ContextValue>) -> Vec<String> {
    match value {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(many)) => many.clone(),
        _ => Vec::new(),
    }
}
