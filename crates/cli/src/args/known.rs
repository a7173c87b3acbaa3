//! Words that an argument takes, for shells to complete.
//!
//! It must never refuse a word: what is typed may be a list, a range or a mistake, and whoever reads it says so.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;
use wirespeed_report::perftest::ORIGINALS;
use wirespeed_schema::kinds;
use wirespeed_schema::parameter::Parameter;

/// A parser that takes any text, and knows some.
#[derive(Clone, Copy)]
pub enum Known {
    /// What a parameter of a case is chosen from.
    Of(&'static Parameter),
    /// Transports of this program.
    Transports,
    /// Tests.
    Tests,
    /// Tests of ucx_perftest.
    Originals,
}

impl Known {
    /// The words.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Known::Of(parameter) if parameter.key == "via" => Known::Transports.words(),
            Known::Of(parameter) => parameter.choices().collect(),
            Known::Transports => crate::registry()
                .entries()
                .iter()
                .map(|entry| entry.name)
                .collect(),
            Known::Tests => kinds::names(),
            Known::Originals => ORIGINALS.iter().map(|original| original.name).collect(),
        }
    }
}

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = self.words();
        (!words.is_empty()).then(|| Box::new(words.into_iter().map(PossibleValue::new)) as Box<_>)
    }
}
