//! What is wrong with the words that were typed: clap's many lines as two. It must never print.

mod numbers;

use crate::args::Cli;
use crate::behind::{CHOSEN_BY_HOSTS, HOSTS_CHOOSE, PACE, RATES_ARE_OFFERED};
use crate::document::without_secrets;
use crate::errors::Failure;
use crate::{file, guesses, needs, output, words};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches as _};
use std::ffi::OsString;
use wirespeed_schema::kinds;
use wirespeed_schema::plan::nearest;

/// clap's many lines about `argv` as two.
fn in_two_lines(error: &clap::Error, argv: &[OsString]) -> Failure {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let mut cause = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    if error.kind() == ErrorKind::MissingRequiredArgument {
        let missing: Vec<_> = strings(error.get(ContextKind::InvalidArg));
        cause = format!("missing: {}", missing.join(" "));
    }
    if error.kind() == ErrorKind::InvalidUtf8 {
        return Failure::usage(
            format!("not UTF-8: {}", not_text(argv).join(" ")),
            "write it in UTF-8; names of files alone may have other bytes",
        );
    }
    Failure::usage(cause, clap_remedy(error, argv))
}

/// The words that may enter a message: no secret among them.
fn shown(argv: &[OsString]) -> Vec<String> {
    without_secrets(argv.iter().map(|word| words::of(word))).collect()
}

/// The words of `argv` that were to be text: clap does not say which. Each is tried with all others as text; where another error
/// hides them it may be any.
fn not_text(argv: &[OsString]) -> Vec<String> {
    let bytes = || (0..argv.len()).filter(|at| argv[*at].to_str().is_none());
    let is_refused = |at: &usize| {
        let tried = argv.iter().enumerate().map(|(other, word)| match other == *at {
            true => word.clone(),
            false => word.to_string_lossy().into_owned().into(),
        });
        let tried: Vec<OsString> = tried.collect();
        read(&tried).is_err_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    let mut refused: Vec<usize> = bytes().filter(is_refused).collect();
    if refused.is_empty() {
        refused = bytes().collect();
    }
    let shown = shown(argv);
    refused.into_iter().map(|at| shown[at].clone()).collect()
}

/// Of words that are not the program's own.
impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        of_words(error, &[])
    }
}

/// The program's words `argv`, as typed and by their names.
pub fn read(argv: &[OsString]) -> Result<(Cli, ArgMatches), clap::Error> {
    let mut command = Cli::command();
    let words = command.try_get_matches_from_mut(argv)?;
    match Cli::from_arg_matches(&words) {
        Ok(cli) => Ok((cli, words)),
        Err(error) => Err(error.format(&mut command)),
    }
}

/// The program's words `argv`, parsed, and as typed.
pub fn parse(argv: &[OsString]) -> Result<(Cli, ArgMatches), Failure> {
    let (cli, words) = read(argv).map_err(|error| of_words(error, argv))?;
    needs::refuse(&words).map(|()| (cli, words))
}

/// clap's error about `argv`: a value that begins with a dash is shown as it was typed, with its option, and what is no number
/// of an option with those that are.
pub fn of_words(error: clap::Error, argv: &[OsString]) -> Failure {
    if let Some(failure) = numbers::refused(&error, argv) {
        return failure;
    }
    let Some(start) = negative(&error) else {
        return in_two_lines(&error, argv);
    };
    let words = shown(argv);
    let typed = words.windows(2).find(|pair| pair[1].starts_with(&start));
    match typed {
        Some([option, value]) if option.starts_with('-') => refused_negative(&format!("{option} {value}")),
        Some([_, value]) => refused_negative(value),
        _ => refused_negative(&format!("{start}...")),
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

fn clap_remedy(error: &clap::Error, argv: &[OsString]) -> String {
    let unknown = (error.kind() == ErrorKind::UnknownArgument).then(|| error.get(ContextKind::InvalidArg));
    if strings(unknown.flatten())
        .iter()
        .any(|word| word.starts_with("--interference"))
    {
        return WITH_LOAD.to_owned();
    }
    let command = command_of(error).unwrap_or_else(|| verbs_in(argv));
    let unknown = strings(unknown.flatten());
    if let [word, ..] = unknown.as_slice()
        && has_words_of_run(&command)
        && let Some(advice) = of_option_of_run(word, &command)
    {
        return advice;
    }
    if let [word, ..] = unknown.as_slice()
        && word.split('=').next() == Some("--key")
        && takes(&command, "--identity")
    {
        return "name the key file in WIRESPEED_KEY_FILE, or give its line with --identity".to_owned();
    }
    if let [word, ..] = unknown.as_slice()
        && argv
            .windows(2)
            .any(|two| two[0] == "--interference" && two[1] == word.as_str())
    {
        return format!("write it as one word: --interference={word}");
    }
    if let Some(advice) = of_bare_word(error, &command) {
        return advice;
    }
    let known = |word: &str| takes(&command, word);
    if let Some(word) = unknown.iter().find_map(|word| guesses::option(word, known)) {
        return format!("here it is called {word}");
    }
    for (kind, given) in [
        (ContextKind::SuggestedArg, ContextKind::InvalidArg),
        (ContextKind::SuggestedValue, ContextKind::InvalidValue),
    ] {
        let given = strings(error.get(given)).into_iter().next().unwrap_or_default();
        let offered = strings(error.get(kind));
        // What is offered may be far from what was typed.
        let near = |word: &&String| word.starts_with(&given) || nearest(&given, &[word]).is_some();
        if let Some(word) = offered.iter().find(near) {
            return format!("did you mean {word:?}?");
        }
    }
    let valid = strings(error.get(ContextKind::ValidValue));
    if !valid.is_empty() {
        return format!("choose from: {}", valid.join(", "));
    }
    let missing_test = strings(error.get(ContextKind::InvalidArg))
        .iter()
        .any(|missing| missing.starts_with("<TEST"));
    match error.kind() {
        ErrorKind::ArgumentConflict => "give one of them".to_owned(),
        ErrorKind::MissingRequiredArgument if missing_test => {
            format!("name a test such as latency, or see `{command} --help`")
        }
        ErrorKind::InvalidSubcommand => format!("see `{command} --help` for the verbs"),
        _ => format!("see `{command} --help`"),
    }
}

/// What to do with the option `word` of `wirespeed run` before the `--` of `command`: most belong behind it, but not those that
/// the verb has itself under another name, nor those that it gives itself.
fn of_option_of_run(word: &str, command: &str) -> Option<String> {
    let whole = Cli::command();
    let run = verb_of(&whole, "wirespeed run")?;
    let option = run.get_arguments().find(|argument| is_typed(argument, word))?;
    let own = verb_of(&whole, command)?
        .get_arguments()
        .find(|own| own.get_id() == option.get_id());
    if let Some(long) = own.and_then(clap::Arg::get_long) {
        return Some(format!("write it in full, before the --: --{long}"));
    }
    let key = option.get_id().as_str();
    let typed = word.split('=').next().unwrap_or(word);
    Some(match command.rsplit(' ').next() {
        Some("mesh") if CHOSEN_BY_HOSTS.contains(&key) || key == "reverse" => HOSTS_CHOOSE.to_owned(),
        Some("load") if key == PACE => RATES_ARE_OFFERED.to_owned(),
        _ => format!("{typed} is an option of the test: write it behind a --, as `{command} --help` shows"),
    })
}

/// What to do with a word without a dash in a place where there is none: a test that stands where a verb belongs, or before the
/// `--` behind which the words of `run` stand; a verb that is spelt wrongly.
fn of_bare_word(error: &clap::Error, command: &str) -> Option<String> {
    let (kind, word) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, true),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, false),
        _ => return None,
    };
    let (is_verb, word) = (word, strings(error.get(kind)).into_iter().next()?);
    if word.starts_with('-') {
        return None;
    }
    let test = test_named(&word);
    // The program's own name may be another: it is the verb that counts.
    match (is_verb, test) {
        (true, Some(test)) if !command.contains(' ') => {
            Some(format!("{test} is a test: {command} run {test} --via tcp"))
        }
        (true, _) => {
            let whole = Cli::command();
            let verbs = verb_of(&whole, command)?.get_subcommands();
            let verbs: Vec<&str> = verbs.map(clap::Command::get_name).collect();
            let near = nearest(&word, &verbs)?;
            Some(format!("did you mean {near:?}?"))
        }
        (false, _) if command.ends_with(" ab") => Some(format!(
            "write each side behind a --: {command} -- latency --via unix -- latency --via tcp"
        )),
        (false, Some(test)) if command.ends_with(" load") => Some(format!(
            "{test} is a test, and load has one of its own: leave it out, {command} -- --via tcp"
        )),
        (false, Some(test)) if has_words_of_run(command) => Some(format!(
            "{test} is a test: write it behind a --, {command} -- {test} --via tcp"
        )),
        (false, _) => o_of_the_original(command, &word),
    }
}

/// The verbs in which `-o` is the original's.
const WITH_O_OF_THE_ORIGINAL: [&str; 2] = [" msgrate", " perftest"];

/// What is meant by a file that follows the original's `-o`, which takes none.
fn o_of_the_original(command: &str, file: &str) -> Option<String> {
    let mut verbs = WITH_O_OF_THE_ORIGINAL.into_iter();
    let verb = verbs.find(|verb| command.ends_with(verb) && output::has_form(file.as_ref()))?;
    Some(format!(
        "in{verb} -o is the original's: write --output {}",
        file::shown(file.as_ref())
    ))
}

/// The test that a word names, here or elsewhere.
fn test_named(word: &str) -> Option<&'static str> {
    guesses::name(word, &kinds::names())
}

/// Whether the verb of `command`, the program's name and words behind it, takes the option `word`, long or short.
fn takes(command: &str, word: &str) -> bool {
    any_argument(command, |argument| is_typed(argument, word))
}

/// Whether `word` is `argument` as it is typed, long or short.
fn is_typed(argument: &clap::Arg, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    match name.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => {
            let short = name.strip_prefix('-').and_then(|letters| letters.chars().next());
            short.is_some() && argument.get_short() == short
        }
    }
}

/// Whether the verb of `command` takes words for `wirespeed run` behind a `--`.
fn has_words_of_run(command: &str) -> bool {
    any_argument(command, clap::Arg::is_last_set)
}

fn any_argument(command: &str, is: impl Fn(&clap::Arg) -> bool) -> bool {
    let whole = Cli::command();
    verb_of(&whole, command).is_some_and(|verb| verb.get_arguments().any(is))
}

fn verb_of<'a>(whole: &'a clap::Command, command: &str) -> Option<&'a clap::Command> {
    let mut verbs = command.split(' ').skip(1);
    verbs.try_fold(whole, |verb, word| verb.find_subcommand(word))
}

/// The program and the verbs that `argv` begins with.
fn verbs_in(argv: &[OsString]) -> String {
    let whole = Cli::command();
    let mut verb = &whole;
    let verbs = argv.iter().skip(1).map_while(|word| {
        verb = verb.find_subcommand(word)?;
        Some(verb.get_name())
    });
    let verbs: Vec<&str> = std::iter::once(whole.get_name()).chain(verbs).collect();
    verbs.join(" ")
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn only_the_word_that_was_to_be_text_is_named_and_no_secret() {
        let said = |words: &[&[u8]]| {
            let argv = [&b"wirespeed"[..], b"run", b"latency"]
                .into_iter()
                .chain(words.iter().copied());
            let argv: Vec<OsString> = argv.map(|word| OsStr::from_bytes(word).to_owned()).collect();
            parse(&argv).unwrap_err().cause
        };
        let file = &b"caf\xe9.json"[..];
        assert_eq!(said(&[b"-o", file, b"--via", b"t\xff"]), r"not UTF-8: $'t\xff'");
        for secret in [
            &[&b"--identity"[..], b"s3cret\xff"][..],
            &[&b"--identity=s3cret\xff"[..]][..],
        ] {
            let said = said(&[&[&b"-o"[..], file][..], secret].concat());
            assert!(!said.contains("s3cret") && !said.contains("caf"), "{said}");
        }
        let said = said(&[b"--identity", b"-1s3cret"]);
        assert!(!said.contains("s3cret"), "{said}");
    }
}
