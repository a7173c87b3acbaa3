//! The words that a user gave for one case, and how each kind of value is read from them. Every refusal names the option
//! and its remedy.

use crate::parameter::Parameter;
use crate::plan::error::PlanError;
use crate::units;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// One value for each parameter that the user gave.
#[derive(Default)]
pub(crate) struct Words<'a> {
    /// Values by the keys of parameters.
    pub keys: BTreeMap<&'static str, &'a str>,
    /// The transport's own options.
    pub options: BTreeMap<&'a str, &'a str>,
}

impl<'a> Words<'a> {
    pub(crate) fn get(&self, parameter: &Parameter) -> Option<&'a str> {
        self.keys.get(parameter.key).copied()
    }

    /// A count within `range`, where one is given.
    pub(crate) fn count(
        &self,
        parameter: &Parameter,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, PlanError> {
        self.read(parameter, |text| {
            units::parse_count(text)
                .ok()
                .filter(|count| range.contains(count))
        })
    }

    /// A size within `range`, where one is given.
    pub(crate) fn size(
        &self,
        parameter: &Parameter,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, PlanError> {
        self.read(parameter, |text| {
            units::parse_size(text).ok().filter(|size| range.contains(size))
        })
    }

    /// `true` or `false`; false where nothing is given.
    pub(crate) fn flag(&self, parameter: &Parameter) -> Result<bool, PlanError> {
        self.named(parameter, false, &[("true", true), ("false", false)])
    }

    /// The one of `choices` that is named, or `default` where nothing is given.
    pub(crate) fn named<T: Copy>(
        &self,
        parameter: &Parameter,
        default: T,
        choices: &[(&str, T)],
    ) -> Result<T, PlanError> {
        let found = |text: &str| choices.iter().find(|(name, _)| *name == text);
        let read = self.read(parameter, |text| found(text).map(|(_, value)| *value))?;
        Ok(read.unwrap_or(default))
    }

    /// What `parse` makes of the word; refused where it makes nothing of it.
    pub(crate) fn read<T>(
        &self,
        parameter: &Parameter,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, PlanError> {
        let Some(text) = self.get(parameter) else {
            return Ok(None);
        };
        parse(text).map(Some).ok_or_else(|| parameter.refused(text))
    }
}
