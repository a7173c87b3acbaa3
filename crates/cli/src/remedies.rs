//! Remedies in the words of the verb that prints them: an option that it spells otherwise is written its way, one that it
//! lacks is named with the verb that has it. Nothing else of a remedy may change here, options of other programs least of all.

use crate::args::Cli;
use crate::front;
use clap::{Arg, Command, CommandFactory};
use std::ffi::OsString;
use std::sync::OnceLock;
use wirespeed_schema::run::Remark;

/// The verb that has every option of a case.
const ANY_CASE: &str = "wirespeed run";
/// The verb that has every option of a transfer.
const ANY_TRANSFER: &str = "wirespeed byteio bench";
/// Where a verb that takes words of `run` has its options.
const BEHIND: &str = " behind the --";
/// The same in a sentence that its verb has written in whole.
const SAID_BEHIND: &str = "behind the `--`";
/// What every verb that measures has.
const REPEATS: &str = "repeats";
/// What bounds the whole of what a few verbs do; the others are only ended by whoever started them.
const BUDGET: &str = "budget";

/// `remedy` as the verb of this process would say it.
pub fn in_own_words(remedy: &str) -> String {
    static VERB: OnceLock<Verb> = OnceLock::new();
    spelled(remedy, VERB.get_or_init(|| verb_of(&front::argv())))
}

/// The same for those of `remarks`.
pub fn told(remarks: &mut [Remark]) {
    for remedy in remarks.iter_mut().filter_map(|remark| remark.remedy.as_mut()) {
        *remedy = in_own_words(remedy);
    }
}

/// A refusal of words as they were typed: of an option with several spellings, the one on the command line. Nothing is added.
pub fn as_typed(text: &str) -> String {
    static VERB: OnceLock<(Command, Vec<OsString>)> = OnceLock::new();
    let (verb, argv) = VERB.get_or_init(|| {
        let argv = front::argv();
        (verb_of(&argv).command, argv)
    });
    typed_in(text, verb, argv)
}

fn typed_in(text: &str, verb: &Command, argv: &[OsString]) -> String {
    let mut names_verb = false;
    beside_quotes(text, &mut |part| {
        names_verb |= part.contains("wirespeed ");
        String::new()
    });
    match names_verb {
        true => text.to_owned(),
        false => beside_quotes(text, &mut |part| respelled(part, verb, argv)),
    }
}

fn respelled(text: &str, verb: &Command, argv: &[OsString]) -> String {
    let mut parts = text.split("--");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = name_of(part);
        let spelling = meant(verb, name).and_then(|arg| spelling(arg, argv));
        said.push_str(&spelling.unwrap_or_else(|| format!("--{name}")));
        said.push_str(&part[name.len()..]);
    }
    said
}

/// `text` with `change` made to what is not in quotation marks: those are somebody's own words.
pub fn beside_quotes(text: &str, change: &mut dyn FnMut(&str) -> String) -> String {
    let (mut said, mut start) = (String::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        let is_mark = letter == '"' && !is_escaped;
        is_escaped = is_quoted && letter == '\\' && !is_escaped;
        if is_mark {
            let (part, end) = match is_quoted {
                true => (text[start..=at].to_owned(), at + 1),
                false => (change(&text[start..at]), at),
            };
            said.push_str(&part);
            (start, is_quoted) = (end, !is_quoted);
        }
    }
    let rest = &text[start..];
    match is_quoted {
        true => said + rest,
        false => said + &change(rest),
    }
}

/// As `argv` spells the option before any `--`; else by its first name.
fn spelling(arg: &Arg, argv: &[OsString]) -> Option<String> {
    let own = || argv.iter().skip(1).take_while(|word| *word != "--");
    let is_long = |name: &str| {
        own().any(|word| word.to_str().and_then(|word| word.split('=').next()) == Some(&*format!("--{name}")))
    };
    let is_short = |letter: char| own().any(|word| word.to_string_lossy().starts_with(&format!("-{letter}")));
    let mut longs = arg
        .get_long()
        .into_iter()
        .chain(arg.get_all_aliases().unwrap_or_default());
    let mut letters = arg
        .get_short()
        .into_iter()
        .chain(arg.get_all_short_aliases().unwrap_or_default());
    let long = longs.find(|name| is_long(name)).map(|name| format!("--{name}"));
    let letter = || {
        letters
            .find(|letter| is_short(*letter))
            .map(|letter| format!("-{letter}"))
    };
    long.or_else(letter).or_else(|| first_name(arg))
}

fn first_name(arg: &Arg) -> Option<String> {
    let letter = || arg.get_short().map(|letter| format!("-{letter}"));
    arg.get_long().map(|name| format!("--{name}")).or_else(letter)
}

/// A sentence about the result of `command` as a verb says it that reads results: with the options of the verb that measured, and
/// by its name where the reader has no such option.
pub fn retold(text: &str, command: &[String]) -> String {
    let own = verb_of(&front::argv());
    retold_by(text, command, own.command)
}

fn retold_by(text: &str, command: &[String], reader: Command) -> String {
    let words: Vec<OsString> = command.iter().map(OsString::from).collect();
    let (path, maker) = named_by(&words);
    let said = spelled(text, &maker);
    let has_words = maker.command.get_arguments().any(takes_words);
    let reader = Verb {
        command: reader,
        words_of: has_words.then(|| path.clone()),
        siblings: vec![(path, maker.command)],
    };
    spelled(&said, &reader)
}

/// A verb, and those that measure beside it: `byteio bench` beside `byteio get`.
struct Verb {
    command: Command,
    siblings: Vec<(String, Command)>,
    /// Of one that reads results, the verb behind whose `--` words of `run` stand.
    words_of: Option<String>,
}

/// The verb that `argv` names, with the options of the whole program.
fn verb_of(argv: &[OsString]) -> Verb {
    named_by(argv).1
}

/// The same, with its name.
fn named_by(argv: &[OsString]) -> (String, Verb) {
    let mut command = Cli::command();
    // Options that hold everywhere are handed down.
    command.build();
    let mut path = command.get_name().to_owned();
    let mut siblings = Vec::new();
    // What stands behind `--` is said to others.
    for word in argv.iter().skip(1).take_while(|word| *word != "--") {
        let Some(named) = command.find_subcommand(word) else {
            continue;
        };
        siblings = match path.contains(' ') {
            true => beside(&command, &path),
            false => Vec::new(),
        };
        path = format!("{path} {}", named.get_name());
        command = named.clone();
    }
    let verb = Verb {
        command,
        siblings,
        words_of: None,
    };
    (path, verb)
}

/// The verbs of the family `command`, which is called by `path`, that measure.
fn beside(command: &Command, path: &str) -> Vec<(String, Command)> {
    let verbs = command.get_subcommands().filter(|verb| has(verb, REPEATS));
    verbs
        .map(|verb| (format!("{path} {}", verb.get_name()), verb.clone()))
        .collect()
}

/// `text` with each option as `verb` spells it.
fn spelled(text: &str, verb: &Verb) -> String {
    if text.contains("wirespeed ") || text.contains(SAID_BEHIND) {
        // It names the verb that it means, or the place.
        return text.to_owned();
    }
    let text = match has(&verb.command, BUDGET) {
        true => text.to_owned(),
        false => text.replace(&format!(" (--{BUDGET})"), ""),
    };
    let mut said = String::new();
    let mut rest = &*text;
    while let Some(start) = rest.find("--") {
        let name = name_of(&rest[start + 2..]);
        said.push_str(&rest[..start]);
        let (option, after) = rest[start..].split_at(2 + name.len());
        let (value, after) = after.split_at(value_of(after));
        said.push_str(&match name {
            "" => format!("{option}{value}"),
            // It is in the words of the verb already.
            _ if after.starts_with(BEHIND) => match &verb.words_of {
                Some(path) => format!("{path} .. {option}{value}"),
                None => format!("{option}{value}"),
            },
            name => option_of(name, value, verb),
        });
        rest = after;
    }
    said + rest
}

/// The name at the beginning of `text`.
fn name_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    text[..end.unwrap_or(text.len())].trim_end_matches('-')
}

/// The bytes at the beginning of `text`, which follows an option, that are its value: `=cpu`, ` 1s`, ` 0,1`, ` TIME`. Words of
/// the sentence have neither a digit nor capitals alone.
fn value_of(text: &str) -> usize {
    let (lead, rest) = match text.strip_prefix(' ') {
        Some(rest) => (1, rest),
        None if text.starts_with('=') => (0, text),
        None => return 0,
    };
    let word = rest.split([' ', '`', ')', ';']).next().unwrap_or_default();
    let word = word.trim_end_matches(['.', ',', ':']);
    let is_name = !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let is_value = lead == 0 || is_name || word.contains(|c: char| c.is_ascii_digit());
    match is_value && !word.starts_with('-') {
        true => lead + word.len(),
        false => 0,
    }
}

/// Whether `run` has the option: else it is that of another program.
fn cases_have(name: &str) -> bool {
    static RUN: OnceLock<Verb> = OnceLock::new();
    has(&RUN.get_or_init(|| verb_named(ANY_CASE)).command, name)
}

/// Whether transfers have the option, which stand in the arms of `ab` beside cases.
fn transfers_have(name: &str) -> bool {
    static BENCH: OnceLock<Verb> = OnceLock::new();
    has(&BENCH.get_or_init(|| verb_named(ANY_TRANSFER)).command, name)
}

fn verb_named(words: &str) -> Verb {
    verb_of(&words.split(' ').map(OsString::from).collect::<Vec<_>>())
}

fn has(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|arg| spells(arg, name))
}

/// What `--name` is in `command`: the option that is spelt so, else the one that sets this parameter.
fn meant<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let sets = |arg: &&Arg| arg.get_id().as_str() == name.replace('-', "_") && !arg.is_positional();
    let spelt = command.get_arguments().find(|arg| spells(arg, name));
    spelt.or_else(|| command.get_arguments().find(sets))
}

fn spells(arg: &Arg, name: &str) -> bool {
    arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
}

/// Whether the words of another verb stand there.
fn takes_words(arg: &Arg) -> bool {
    arg.is_last_set() || arg.is_trailing_var_arg_set()
}

/// `--NAME` with its value for `verb`.
fn option_of(name: &str, value: &str, verb: &Verb) -> String {
    let mut siblings = verb.siblings.iter();
    if has(&verb.command, name) {
        return format!("--{name}{value}");
    }
    match meant(&verb.command, name).and_then(first_name) {
        Some(own) => format!("{own}{value}"),
        None => match siblings.find(|(_, beside)| has(beside, name)) {
            Some((path, _)) => format!("{path} --{name}{value}"),
            None if !cases_have(name) => match verb.command.get_name() == "ab" && transfers_have(name) {
                true => format!("{ANY_TRANSFER} --{name}{value}"),
                false => format!("--{name}{value}"),
            },
            None if verb.command.get_arguments().any(takes_words) => format!("--{name}{value}{BEHIND}"),
            None => format!("{ANY_CASE} --{name}{value}"),
        },
    }
}

#[cfg(test)]
mod tests;
