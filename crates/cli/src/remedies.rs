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
/// Where a verb that takes words of `run` has its options.
const BEHIND: &str = " behind the --";
/// What every verb that measures has.
const REPEATS: &str = "repeats";

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

/// A verb, and those that measure beside it: `byteio bench` beside `byteio get`.
struct Verb {
    command: Command,
    siblings: Vec<(String, Command)>,
}

/// The verb that `argv` names, with the options of the whole program.
fn verb_of(argv: &[OsString]) -> Verb {
    let mut command = Cli::command();
    // Options that hold everywhere are handed down.
    command.build();
    let mut path = command.get_name().to_owned();
    let mut siblings = Vec::new();
    for word in argv.iter().skip(1) {
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
    Verb { command, siblings }
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
    if text.contains("wirespeed ") {
        // It names the verb that it means.
        return text.to_owned();
    }
    let mut said = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("--") {
        let name = name_of(&rest[start + 2..]);
        said.push_str(&rest[..start]);
        let (option, after) = rest[start..].split_at(2 + name.len());
        let (value, after) = after.split_at(value_of(after));
        said.push_str(&match name {
            "" => format!("{option}{value}"),
            // It is in the words of the verb already.
            _ if after.starts_with(BEHIND) => format!("{option}{value}"),
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
    let run = || verb_of(&ANY_CASE.split(' ').map(OsString::from).collect::<Vec<_>>());
    let run = RUN.get_or_init(run);
    has(&run.command, name)
}

fn has(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
    })
}

/// `--NAME` with its value for `verb`.
fn option_of(name: &str, value: &str, verb: &Verb) -> String {
    let is_long = |arg: &&Arg| arg.get_long() == Some(name);
    let is_meant = |arg: &&Arg| arg.get_id().as_str() == name.replace('-', "_") && !arg.is_positional();
    let arguments = || verb.command.get_arguments();
    let mut siblings = verb.siblings.iter();
    let takes_words = |arg: &Arg| arg.is_last_set() || arg.is_trailing_var_arg_set();
    if arguments().any(|arg| is_long(&arg)) {
        return format!("--{name}{value}");
    }
    match arguments()
        .find(is_meant)
        .map(|arg| (arg.get_long(), arg.get_short()))
    {
        Some((Some(long), _)) => format!("--{long}{value}"),
        Some((None, Some(short))) => format!("-{short}{value}"),
        _ => match siblings.find(|(_, beside)| has(beside, name)) {
            Some((path, _)) => format!("{path} --{name}{value}"),
            None if !cases_have(name) => format!("--{name}{value}"),
            None if arguments().any(takes_words) => format!("--{name}{value}{BEHIND}"),
            None => format!("{ANY_CASE} --{name}{value}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn verb(words: &str) -> Verb {
        let argv: Vec<OsString> = std::iter::once("wirespeed")
            .chain(words.split(' '))
            .map(OsString::from)
            .collect();
        verb_of(&argv)
    }

    /// Every verb that publishes what it measured, once or often, and so may print any remark.
    fn measuring(command: &Command, path: &str) -> Vec<(String, Verb)> {
        let mut found = Vec::new();
        for named in command.get_subcommands() {
            let path = format!("{path} {}", named.get_name()).trim().to_owned();
            if has(named, "strict") {
                found.push((path.clone(), verb(&path)));
            }
            found.extend(measuring(named, &path));
        }
        found
    }

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => found.extend(sources(&path)),
                false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
                false => {}
            }
        }
        found
    }

    /// The string literals of a file before its tests, continued lines joined.
    fn literals(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n");
        let mut found = Vec::new();
        let mut literal: Option<String> = None;
        let mut characters = code.chars().peekable();
        while let Some(c) = characters.next() {
            match (&mut literal, c) {
                (None, '\'') if characters.clone().nth(1) == Some('\'') => {
                    characters.nth(1);
                }
                (None, '"') => literal = Some(String::new()),
                (Some(text), '\\') => match characters.next() {
                    Some('\n') => {
                        while characters.peek().is_some_and(|c| c.is_whitespace()) {
                            characters.next();
                        }
                    }
                    Some('n') => text.push('\n'),
                    Some(other) => text.push(other),
                    None => {}
                },
                (Some(_), '"') => found.extend(literal.take()),
                (Some(text), c) => text.push(c),
                _ => {}
            }
        }
        found
    }

    #[test]
    fn an_option_is_spelled_as_the_verb_has_it() {
        let pin = "pin the ranks with --cpus to cores that nothing else uses";
        assert_eq!(spelled(pin, &verb("run")), pin);
        assert_eq!(spelled(pin, &verb("--color never quick")), pin);
        let warm = "warm up longer (--warmup 1s)";
        assert_eq!(spelled(warm, &verb("run")), warm);
        assert_eq!(
            spelled(warm, &verb("quick")),
            "warm up longer (wirespeed run --warmup 1s)"
        );
        assert_eq!(
            spelled(warm, &verb("sweep")),
            "warm up longer (--warmup 1s behind the --)"
        );
        let twice = spelled(&spelled(warm, &verb("sweep")), &verb("sweep"));
        assert_eq!(twice, "warm up longer (--warmup 1s behind the --)");
        assert_eq!(
            spelled("see `wirespeed run --warmup`", &verb("quick")),
            "see `wirespeed run --warmup`"
        );
    }

    #[test]
    fn a_verb_that_measures_once_names_the_one_beside_it() {
        for once in ["byteio get", "byteio put"] {
            let said = |text: &str| spelled(text, &verb(once));
            let pin = "pin the ranks with --cpus to cores that nothing else uses";
            let other = "pin the ranks with wirespeed byteio bench --cpus to cores that nothing else uses";
            assert_eq!(said(pin), other);
            assert_eq!(said(&said(pin)), other);
            assert_eq!(said("give --nominal"), "give wirespeed byteio bench --nominal");
            assert_eq!(said("use --depth 2"), "use --depth 2");
        }
        assert_eq!(spelled("give --nominal", &verb("byteio bench")), "give --nominal");
    }

    #[test]
    fn options_of_other_programs_stay_as_they_are() {
        let bind = "bind them: --bind-to core (Open MPI), srun --cpu-bind=cores";
        for line in ["run", "quick", "sweep", "msgrate"] {
            assert_eq!(spelled(bind, &verb(line)), bind);
        }
    }

    #[test]
    fn a_value_stays_with_its_option() {
        for (text, said) in [
            ("--warmup 1s", "--warmup 1s behind the --"),
            (
                "use --size 8,64, or wait",
                "use --size 8,64 behind the --, or wait",
            ),
            ("use --check to look", "use --check behind the -- to look"),
            ("give --duration TIME.", "give --duration TIME behind the --."),
            ("--load=cpu=1 helps", "--load=cpu=1 behind the -- helps"),
            ("--warmup -- x", "--warmup behind the -- -- x"),
        ] {
            assert_eq!(spelled(text, &verb("sweep")), said);
        }
    }

    /// Whatever a check advises can be typed at the verb that prints it.
    #[test]
    fn every_remedy_of_a_remark_can_be_typed() {
        let (mut program, run) = (Cli::command(), verb("run"));
        program.build();
        let verbs = measuring(&program, "");
        assert!(verbs.len() > 8, "{}", verbs.len());
        for path in ["byteio get", "byteio put", "byteio bench", "mesh"] {
            assert!(verbs.iter().any(|(verb, _)| verb == path), "{path}");
        }
        let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src");
        let advice = |paths: &[PathBuf]| {
            let texts = paths.iter().flat_map(|path| literals(path));
            let texts: Vec<String> = texts.filter(|text| text.contains("--")).collect();
            assert!(texts.len() > 2, "{texts:?}");
            texts
        };
        let checks = advice(&sources(&report.join("checks")));
        let verdicts = advice(&[report.join("byteio/verdict.rs")]);
        for (path, verb) in &verbs {
            let moves = matches!(path.as_str(), "byteio get" | "byteio put" | "byteio bench");
            for text in checks.iter().chain(verdicts.iter().filter(|_| moves)) {
                can_be_typed((path, verb), &run, &spelled(text, verb));
            }
        }
    }

    /// Each option in `said` is one of the verb that says it, or of the one that is named before it.
    fn can_be_typed((path, verb): (&str, &Verb), run: &Verb, said: &str) {
        for (start, _) in said.match_indices("--") {
            let name = name_of(&said[start + 2..]);
            let after = &said[start + 2 + name.len()..];
            let of_run =
                said[..start].ends_with("wirespeed run ") || after[value_of(after)..].starts_with(BEHIND);
            let mut beside = verb.siblings.iter();
            let typed = name.is_empty()
                || has(&verb.command, name)
                || (of_run && has(&run.command, name))
                || beside
                    .any(|(path, beside)| said[..start].ends_with(&format!("{path} ")) && has(beside, name));
            assert!(typed, "{path} has no --{name}: {said}");
        }
    }

    /// A letter is another option in another verb: -t is a time in `run`, connections in `byteio bench`.
    #[test]
    fn no_sentence_of_a_result_names_an_option_by_its_letter() {
        let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src");
        let paths = sources(&report).into_iter();
        let texts = paths
            .filter(|path| !path.components().any(|part| part.as_os_str() == "import"))
            .flat_map(|path| literals(&path));
        for text in texts {
            for (start, _) in text.match_indices("(-") {
                let word: String = text[start + 2..].chars().take(2).collect();
                let letter =
                    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.ends_with([')', ' ', ',']);
                // Every verb that has results writes them there.
                assert!(!letter || word.starts_with('o'), "{text}");
            }
        }
    }

    /// `text` with a number in each place that is filled in.
    fn filled(text: &str) -> String {
        let mut parts = text.split('{');
        let mut said = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            said.push('1');
            said.push_str(part.split_once('}').map_or(part, |(_, after)| after));
        }
        said
    }

    /// A command of which an option is another verb's is not torn in two: it names its verb from the start.
    #[test]
    fn options_of_one_command_stay_together() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut program = Cli::command();
        program.build();
        let verbs = measuring(&program, "");
        // Crates whose remedies any verb may print.
        let folders = ["control", "report", "schema"].map(|name| crates.join(name).join("src"));
        let texts = folders.iter().flat_map(|folder| sources(folder));
        let texts = texts.flat_map(|path| literals(&path)).map(|text| filled(&text));
        let (torn, mut seen) = ("wirespeed run --", 0);
        for text in texts.filter(|text| text.matches(" --").count() > 1 && text.len() < 400) {
            seen += 1;
            for (path, verb) in &verbs {
                let said = spelled(&text, verb);
                for (start, _) in said.match_indices("--") {
                    let name = name_of(&said[start + 2..]);
                    let after = &said[start + 2 + name.len()..];
                    let rest = after[value_of(after)..].trim_start();
                    assert!(name.is_empty() || !rest.starts_with(torn), "{path}: {said}");
                }
            }
        }
        assert!(seen > 0);
    }

    /// Whatever the program advises to type names a verb, and options that this verb has.
    #[test]
    fn every_command_that_is_printed_exists() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut program = Cli::command();
        program.build();
        let mut commands = 0;
        for path in sources(&crates)
            .iter()
            .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
        {
            for text in literals(path) {
                for (start, _) in text.match_indices("wirespeed ") {
                    let line = text[start..]
                        .split(['`', '\n', '|', ';'])
                        .next()
                        .unwrap_or_default();
                    let mut command = &program;
                    for word in line.split_whitespace().skip(1) {
                        match command.find_subcommand(word) {
                            Some(named) => command = named,
                            None => break,
                        }
                    }
                    if std::ptr::eq(command, &program) {
                        continue;
                    }
                    commands += 1;
                    let run = program.find_subcommand("run").unwrap();
                    for word in line.split_whitespace().filter(|word| word.starts_with("--")) {
                        let name = name_of(&word[2..]);
                        let known = name.is_empty() || has(command, name) || has(run, name);
                        assert!(known, "{}: no --{name}: {line}", path.display());
                    }
                }
            }
        }
        assert!(commands > 50, "{commands}");
    }
}
