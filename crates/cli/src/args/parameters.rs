//! The parameters of cases as options: made of their definitions in the schema, so that a new one is an option, a help text,
//! a completion and a line of the manual without a word here.

use super::known::Known;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use std::marker::PhantomData;
use wirespeed_schema::parameter::{Parameter, Section, Values};
use wirespeed_schema::plan::parameters;

/// Which parameters a verb takes, and what is different about them there.
pub trait Taken {
    /// Whether an option that is given again takes the place of the earlier one, as getopt has it, instead of adding to it.
    const LAST_WINS: bool = false;

    /// The verb's own form of an option, if it has this parameter at all.
    fn form(parameter: &'static Parameter) -> Option<Form>;
}

/// An option of a verb for a parameter.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The short options: the first is shown in help.
    pub letters: &'static [char],
    /// The option without its hyphens, where it differs from the key.
    pub long: Option<&'static str>,
    /// The help, where it differs from the definition's.
    pub help: Option<&'static str>,
    /// The heading, where it differs from the section's.
    pub heading: Option<&'static str>,
}

impl Form {
    /// The option as it is defined.
    pub fn of(parameter: &'static Parameter) -> Form {
        Form {
            letters: parameter.letters,
            long: None,
            help: None,
            heading: None,
        }
    }
}

/// What was given for the parameters that `T` takes, as typed.
#[derive(Debug, Clone)]
pub struct Parameters<T> {
    given: Vec<(&'static Parameter, Vec<String>)>,
    taken: PhantomData<T>,
}

impl<T> Default for Parameters<T> {
    fn default() -> Self {
        Parameters {
            given: Vec::new(),
            taken: PhantomData,
        }
    }
}

impl<T> Parameters<T> {
    /// Every parameter that was given, with its texts in order; the one that varies slowest first.
    pub fn given(&self) -> impl Iterator<Item = (&'static Parameter, &[String])> {
        self.given
            .iter()
            .map(|(parameter, texts)| (*parameter, &texts[..]))
    }

    /// The texts that were given for `key`; none where it was left out.
    pub fn of(&self, key: &str) -> &[String] {
        let found = self.given.iter().find(|(parameter, _)| parameter.key == key);
        found.map_or(&[], |(_, texts)| texts)
    }
}

/// An option for `parameter`, which may be given several times.
fn option(parameter: &'static Parameter, form: Form) -> Arg {
    let help = form.help.unwrap_or(parameter.help);
    let mut option = Arg::new(parameter.key)
        .long(form.long.map_or_else(|| parameter.long(), str::to_owned))
        .value_name(parameter.value_name)
        .action(ArgAction::Append)
        .allow_negative_numbers(true)
        .value_parser(Known::Of(parameter))
        .hide_possible_values(true)
        .help_heading(form.heading.unwrap_or(parameter.section.heading()))
        .help(help);
    if let Some((shown, others)) = form.letters.split_first() {
        option = option.short(*shown).short_aliases(others.to_vec());
    }
    if !parameter.more.is_empty() && form.help.is_none() {
        option = option.long_help(format!("{help}\n\n{}", parameter.more));
    }
    if parameter.values == Values::Flag {
        option = option
            .num_args(0..=1)
            .default_missing_value("true")
            .require_equals(true);
    }
    option
}

impl<T: Taken> clap::Args for Parameters<T> {
    fn augment_args(command: Command) -> Command {
        let of = |section| parameters().filter(move |parameter| parameter.section == section);
        let options = Section::ALL.into_iter().flat_map(of);
        let taken = options.filter_map(|parameter| Some(option(parameter, T::form(parameter)?)));
        command.args(taken.map(|option| match T::LAST_WINS {
            true => {
                let own = option.get_id().clone();
                option.overrides_with(own)
            }
            false => option,
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Taken> FromArgMatches for Parameters<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut found = Parameters::default();
        found.update_from_arg_matches(matches)?;
        Ok(found)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let taken = parameters()
            .filter(|parameter| parameter.section != Section::Verb && T::form(parameter).is_some());
        let texts = |parameter: &Parameter| Some(matches.get_many(parameter.key)?.cloned().collect());
        self.given = taken
            .filter_map(|parameter| Some((parameter, texts(parameter)?)))
            .collect();
        Ok(())
    }
}
