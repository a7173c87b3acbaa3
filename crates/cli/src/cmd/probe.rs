//! One test as words for `wirespeed run`, of which one parameter varies.

use super::run::prepare;
use crate::args::{Cli, OutputArgs, RunArgs, Verb};
use crate::errors::Failure;
use crate::experiment::Prepared;
use crate::request;
use crate::typed;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, CommandFactory, Parser};
use std::ffi::OsString;
use wirespeed::{Machine, Registry};
use wirespeed_schema::plan::{Axis, Plan, expand, parameter};

/// Whether words for `wirespeed run` name a test, and are not options alone. Words that are wrong otherwise are taken to
/// name one: what is wrong with them is said where they are read.
pub fn names_test(words: &[String]) -> bool {
    !Cli::try_parse_from(argv(words)).is_err_and(|error| lacks_test(&error))
}

fn lacks_test(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::MissingRequiredArgument
}

fn argv(words: &[String]) -> Vec<OsString> {
    let run = ["wirespeed", "run"].into_iter();
    run.chain(words.iter().map(String::as_str))
        .map(OsString::from)
        .collect()
}

/// Words for `wirespeed run` as they stand behind the `--` of another verb, which must name a test and no option of the verb's.
pub fn parsed(words: &[String]) -> Result<Box<RunArgs>, Failure> {
    let argv = argv(words);
    let parsed = typed::read(&argv).map_err(|error| match lacks_test(&error) {
        true => Failure::usage(
            "no test is named behind the `--`",
            "name it before its options: -- latency --via shm",
        ),
        false => typed::of_words(error, &argv),
    });
    let (cli, typed) = parsed?;
    let Verb::Run(run) = cli.verb else {
        return Err(Failure::usage(
            "after `--` stands what `wirespeed run` takes",
            "see `wirespeed run --help`",
        ));
    };
    own_options(&run)?;
    match of_program(&typed) {
        Some(option) => Err(not_in_words(&option)),
        None => Ok(run),
    }
}

/// The plan that words for `wirespeed run` mean; options that belong to the verb itself are refused.
pub fn plan_of(words: &[String]) -> Result<(Plan, RunArgs), Failure> {
    let run = parsed(words)?;
    if run.experiment.live {
        return Err(not_in_words("--live"));
    }
    if request::names_file(&run.what) {
        return Err(Failure::usage(
            "a plan file has many tests",
            "name one test and its options",
        ));
    }
    Ok((request::plan(&run)?, *run))
}

/// Options that belong to the verb itself, before the first `--`.
fn own_options(run: &RunArgs) -> Result<(), Failure> {
    let of_results = run.output.is_given().then_some("an option for results");
    let strict = run.output.strict.then_some("--strict");
    match run.experiment.given().or(of_results).or(strict) {
        Some(name) => Err(not_in_words(name)),
        None => Ok(()),
    }
}

/// The first that was typed of the options that hold for the whole program. A variable of the environment holds for it, too.
fn of_program(typed: &ArgMatches) -> Option<String> {
    first_typed(
        typed.subcommand_matches("run")?,
        &OutputArgs::augment_args(Cli::command()),
    )
}

/// The first of the options of `all` that was typed among `words`.
pub fn first_typed(words: &ArgMatches, all: &Command) -> Option<String> {
    let is_typed = |id: &&clap::Id| words.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    let mut typed = words.ids().filter(is_typed);
    let option = typed.find_map(|id| all.get_arguments().find(|option| option.get_id() == id))?;
    Some(format!("--{}", option.get_long()?))
}

fn not_in_words(option: &str) -> Failure {
    Failure::usage(
        format!("{option} is not allowed behind `--`"),
        "it is an option of this verb: write it before the first `--`",
    )
}

/// The values that the words themselves give for `key`.
pub fn given(plan: &Plan, key: &str) -> Axis {
    let template = plan.templates.first();
    template
        .and_then(|template| template.axes.get(key))
        .cloned()
        .unwrap_or_default()
}

/// The one case that `plan` is with `key` at `value`.
pub fn prepared(
    (registry, machine): (&Registry, &Machine),
    plan: &Plan,
    (key, value): (&str, f64),
) -> Result<Prepared, Failure> {
    let mut plan = plan.clone();
    for template in &mut plan.templates {
        template
            .axes
            .insert(key.to_owned(), vec![(value as u64).to_string()]);
    }
    let cases = expand(&plan, machine)?;
    if cases.len() != 1 {
        return Err(not_one(&plan, cases.len()));
    }
    let mut prepared = prepare(registry, machine, cases)?;
    prepared
        .pop()
        .ok_or_else(|| Failure::usage("no case is left", "see `wirespeed list`"))
}

/// What makes several cases of the words.
fn not_one(plan: &Plan, cases: usize) -> Failure {
    let mut several: Vec<String> = Vec::new();
    let mut count = |name: &str, values: &Axis| {
        if values.len() > 1 {
            several.push(format!(
                "{name} has {} values ({})",
                values.len(),
                values.join(", ")
            ));
        }
    };
    if let Some(template) = plan.templates.first() {
        for (key, values) in &template.axes {
            if let Ok(known) = parameter(key) {
                count(&known.option(), values);
            }
        }
        for (name, values) in &template.options {
            count(&format!("the option {name}"), values);
        }
    }
    if several.is_empty() {
        several.push(format!("these words are {cases}"));
    }
    let why = several.join(" and ");
    Failure::usage(
        format!("each point of a curve is one case, but {why}"),
        "give one value of each, or several to `wirespeed run`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The advice on an option of `run` that stands before the `--` may be followed: behind it, the option is not refused.
    #[test]
    fn what_is_sent_behind_the_dashes_is_taken_there() {
        let whole = Cli::command();
        let run = whole.find_subcommand("run").unwrap();
        let (mut sent, mut kept) = (0, 0);
        for verb in ["sweep", "load", "mesh", "ab"] {
            for option in run.get_arguments().filter(|option| !option.is_positional()) {
                let long = option.get_long().map(|long| format!("--{long}"));
                let short = option.get_short().map(|short| format!("-{short}"));
                for typed in long.into_iter().chain(short) {
                    let words = ["wirespeed", verb, &typed, "1", "--", "latency"];
                    let Some(error) = Cli::try_parse_from(words).err() else {
                        continue;
                    };
                    if error.kind() != ErrorKind::UnknownArgument {
                        continue;
                    }
                    let remedy = Failure::from(error).remedy;
                    if !remedy.contains("write it behind a --") {
                        kept += 1;
                        continue;
                    }
                    sent += 1;
                    let argv = ["wirespeed", "run", "latency", &typed, "1"];
                    if let Ok(Verb::Run(run)) = Cli::try_parse_from(argv).map(|cli| cli.verb) {
                        assert!(own_options(&run).is_ok(), "{verb} {typed}: {remedy}");
                        let key = option.get_id().as_str();
                        let chosen = verb == "mesh" && crate::behind::CHOSEN_BY_HOSTS.contains(&key);
                        assert!(!chosen, "{verb} {typed}: {remedy}");
                    }
                }
            }
        }
        assert!(sent > 50 && kept > 5, "{sent} {kept}");
    }

    /// A file where no word belongs means something else in each verb.
    #[test]
    fn a_file_that_no_verb_takes_there_is_told_of_in_the_words_of_that_verb() {
        let remedy = |verb: &str| {
            let error = Cli::try_parse_from(["wirespeed", verb, "out.json", "b.json"]);
            Failure::from(error.err().unwrap()).remedy
        };
        assert!(remedy("ab").contains("behind a --"), "{}", remedy("ab"));
        let msgrate = remedy("msgrate");
        assert!(msgrate.contains("--output out.json"), "{msgrate}");
        assert!(!remedy("quick").contains("--output"), "{}", remedy("quick"));
    }
}
