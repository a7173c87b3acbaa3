//! Templates to cases: the Cartesian product, in a fixed order.

use super::error::PlanError;
use super::keys::{EXCLUSIVE, canonical_key};
use super::parameters::{parameter, parameters};
use super::resolve::resolve;
use super::surroundings::Surroundings;
use super::{Plan, Template};
use crate::case::Case;
use crate::words::Words;

/// Most cases that one plan may expand to.
pub const CASES_MAX: usize = 10_000;

/// A case with what a group needs to know beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCase {
    /// The case, complete.
    pub case: Case,
    /// Index of the template it came from.
    pub template: usize,
}

/// Every case of `plan`, in order: templates as given, within one the first of [`parameters`] slowest and the
/// transport's own options fastest. Errors name the first nonsense found.
pub fn expand(plan: &Plan, around: &dyn Surroundings) -> Result<Vec<PlannedCase>, PlanError> {
    let mut cases = Vec::new();
    for (index, template) in plan.templates.iter().enumerate() {
        check_keys(template)?;
        let axes = ordered_axes(template);
        let room = CASES_MAX - cases.len();
        let total = axes
            .iter()
            .try_fold(1usize, |product, (_, values)| product.checked_mul(values.len()));
        if total.is_none_or(|t| t > room) {
            return Err(PlanError::new(
                format!("the plan expands to more than {CASES_MAX} cases"),
                "shorten its lists and ranges, or split the plan",
            ));
        }
        for number in 0..total.unwrap_or(0) {
            cases.push(resolve(&pick(&axes, number), index, around)?);
        }
    }
    if cases.is_empty() {
        return Err(PlanError::new(
            "the plan has no cases",
            "name a test and a transport: latency --via shm, or in a plan file a [[case]] with both",
        ));
    }
    Ok(cases)
}

fn check_keys(template: &Template) -> Result<(), PlanError> {
    for key in template.axes.keys() {
        canonical_key(key)?;
    }
    let named = template.axes.iter().chain(&template.options);
    if let Some((key, _)) = named.clone().find(|(_, values)| values.is_empty()) {
        return Err(PlanError::new(
            format!("--{} has no values", key.replace('_', "-")),
            "give at least one value, or leave it out",
        ));
    }
    for group in EXCLUSIVE {
        let given: Vec<_> = group
            .iter()
            .filter(|key| template.axes.contains_key(**key))
            .collect();
        if let [first, second, ..] = given[..] {
            return Err(PlanError::new(
                format!(
                    "{} and {} contradict each other",
                    parameter(first)?.option(),
                    parameter(second)?.option()
                ),
                "give one of them",
            ));
        }
    }
    Ok(())
}

/// An axis of the product: a parameter, or an option of the transport.
#[derive(Clone, Copy)]
enum Name<'a> {
    Key(&'static str),
    Option(&'a str),
}

fn ordered_axes(template: &Template) -> Vec<(Name<'_>, &[String])> {
    let own = parameters().filter_map(|parameter| {
        let values = template.axes.get(parameter.key)?;
        Some((Name::Key(parameter.key), values.as_slice()))
    });
    let options = template
        .options
        .iter()
        .map(|(name, values)| (Name::Option(name), values.as_slice()));
    own.chain(options).collect()
}

/// The combination with this number, the last axis counting fastest.
fn pick<'a>(axes: &[(Name<'a>, &'a [String])], number: usize) -> Words<'a> {
    let mut words = Words::default();
    let mut rest = number;
    for (name, values) in axes.iter().rev() {
        let value = values[rest % values.len()].as_str();
        rest /= values.len();
        match name {
            Name::Key(key) => words.keys.insert(key, value),
            Name::Option(option) => words.options.insert(option, value),
        };
    }
    words
}
