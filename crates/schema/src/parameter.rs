//! What a parameter of a case is: one definition, from which its option, its key in plan files, its help, its column in CSV
//! and its row in the docs are made.
//!
//! What a value does to a test is not told here; each definition stands beside the code that reads it.

use crate::plan::error::PlanError;
use crate::shown;
use crate::units;

/// How the text of a parameter is split into the values of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Sizes: lists and ranges, `64,1K`, `8..1M:x2`.
    Sizes,
    /// Counts: lists and ranges, `1,2`, `1..256:x2`.
    Counts,
    /// Names, times: split at `,`.
    Names,
    /// `true` or `false`; the option alone means `true`.
    Flag,
    /// Values that use the comma themselves: split at `;`.
    Lists,
    /// As lists; on the command line several options are one value together.
    Clauses,
}

/// Where help shows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What is measured, and how long.
    Test,
    /// How messages are sent.
    Messages,
    /// What only a hub and its workers have.
    Hub,
    /// What only msgrate, OSU's and IMB's tests have.
    ManyRanks,
    /// Who takes part, and where.
    Ranks,
    /// A word or an option that each verb defines itself.
    Verb,
}

impl Section {
    /// Every section of options, in the order of help.
    pub const ALL: [Section; 5] = [
        Section::Test,
        Section::Messages,
        Section::Hub,
        Section::ManyRanks,
        Section::Ranks,
    ];

    /// The heading in help texts.
    pub const fn heading(self) -> &'static str {
        match self {
            Section::Test | Section::Verb => "Test",
            Section::Messages => "Messages",
            Section::Hub => "hub_lat",
            Section::ManyRanks => "msgrate, osu_*, imb_*",
            Section::Ranks => "Ranks",
        }
    }
}

/// One parameter of cases.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its key in plan files and documents; the option is the same with hyphens.
    pub key: &'static str,
    /// Short options: the first is shown in help.
    pub letters: &'static [char],
    /// What stands for the value in help: `SIZE`.
    pub value_name: &'static str,
    /// How its text is split.
    pub values: Values,
    /// Where help shows it.
    pub section: Section,
    /// One line of help, with the default.
    pub help: &'static str,
    /// What `--help` says beyond that line; may be empty.
    pub more: &'static str,
    /// What to write instead of a value that is refused.
    pub remedy: &'static str,
    /// A line of a plan file with it.
    pub example: &'static str,
    /// Its column in CSV, with the unit; empty where a column of another shape tells it.
    pub column: &'static str,
}

impl Parameter {
    /// What most definitions begin with: a list of counts that belongs to the messages.
    pub(crate) const COUNT: Parameter = Parameter {
        key: "",
        letters: &[],
        value_name: "N",
        values: Values::Counts,
        section: Section::Messages,
        help: "",
        more: "",
        remedy: "",
        example: "",
        column: "",
    };

    /// A definition of names.
    pub(crate) const NAME: Parameter = Parameter {
        value_name: "NAME",
        values: Values::Names,
        ..Parameter::COUNT
    };

    /// A definition of sizes.
    pub(crate) const SIZE: Parameter = Parameter {
        value_name: "SIZE",
        values: Values::Sizes,
        ..Parameter::COUNT
    };

    /// A definition of a flag.
    pub(crate) const FLAG: Parameter = Parameter {
        value_name: "BOOL",
        values: Values::Flag,
        remedy: "choose from: true, false",
        ..Parameter::COUNT
    };

    /// The words that it takes, where it takes no others: those that its remedy names.
    pub fn choices(&self) -> impl Iterator<Item = &'static str> {
        let words = self.remedy.strip_prefix("choose from: ");
        words.into_iter().flat_map(|words| words.split(", "))
    }

    /// The option without its hyphens in front: `fan-out`.
    pub fn long(&self) -> String {
        self.key.replace('_', "-")
    }

    /// As the command line spells it: `--fan-out`; the test is a word of its own.
    pub fn option(&self) -> String {
        match self.key {
            "test" => "test".to_owned(),
            _ => format!("--{}", self.long()),
        }
    }

    /// The error for a value that cannot be.
    pub fn refused(&self, text: &str) -> PlanError {
        PlanError::new(
            format!("invalid {} {}", self.option(), shown::value(text)),
            self.remedy,
        )
    }

    /// The values of a sweep. Errors where `text` is no list or range of them.
    pub fn split(&self, text: &str) -> Result<Vec<String>, PlanError> {
        if text.trim().is_empty() {
            return Err(self.refused(text));
        }
        let unit_error = |e: units::UnitError| PlanError::new(format!("{}: {e}", self.option()), self.remedy);
        match self.values {
            Values::Sizes => units::expand_list(text).map_err(unit_error),
            Values::Counts => units::expand_counts(text).map_err(unit_error),
            Values::Lists | Values::Clauses => split_words(&self.option(), text, ';'),
            Values::Names | Values::Flag => split_words(&self.option(), text, ','),
        }
    }
}

/// Split at `separator`; empty elements are refused. `option` names what `text` was given for.
pub(crate) fn split_words(option: &str, text: &str, separator: char) -> Result<Vec<String>, PlanError> {
    let values: Vec<String> = text.split(separator).map(|v| v.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err(PlanError::new(
            format!("{option}: {text:?} has an empty element"),
            format!("write the values with one {separator:?} between two of them"),
        ));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parameters;

    #[test]
    fn no_text_is_refused_as_any_other_that_is_no_value() {
        for parameter in parameters() {
            for text in ["", " ", "\t"] {
                let refused = parameter.split(text).unwrap_err();
                let named = format!("invalid {} ", parameter.option());
                assert!(refused.cause.starts_with(&named), "{refused:?}");
                assert_eq!(refused.remedy, parameter.remedy);
            }
            let doubled = match parameter.values {
                Values::Lists | Values::Clauses => "1;;1",
                _ => "1,,1",
            };
            let refused = parameter.split(doubled).unwrap_err();
            assert!(refused.cause.contains("empty element"), "{refused:?}");
        }
    }
}
