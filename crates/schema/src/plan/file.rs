//! A plan as a TOML file: `repeats`, `[defaults]`, `[[case]]`, with the keys of the command line.
//!
//! ```toml
//! repeats = 3
//!
//! [defaults]
//! duration = "500ms"
//!
//! [[case]]
//! test = ["latency", "bandwidth"]
//! via = ["shm", "tcp"]
//!
//! [[case]]
//! test = "am_bw"
//! via = "tcp"
//! size = "8..1M:x2"
//! option.congestion = ["cubic", "reno"]
//! ```
//!
//! Values are scalars, lists and range strings. Unknown keys are refused with their line.

use super::error::PlanError;
use super::keys::{EXCLUSIVE, canonical_key, canonical_test, split_axis, takes};
use super::parameters::parameter;
use super::until::{UNTIL_REPEATS, Until};
use super::{Axis, Plan, Template};
use crate::parameter::split_words;
use crate::shown;
use crate::units;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Most repetitions of a plan.
pub const REPEATS_MAX: u32 = 10_000;

/// Largest plan file that is read, in bytes.
pub const PLAN_BYTES_MAX: u64 = 4 << 20;

/// Reads a plan file. Every error names its line.
pub fn parse_plan(text: &str) -> Result<Plan, PlanError> {
    if text.len() as u64 > PLAN_BYTES_MAX {
        return Err(PlanError::new("the plan file is above 4 MiB", "split the plan"));
    }
    let reader = Reader { text };
    let table = DeTable::parse(text).map_err(|e| {
        let error = PlanError::new(
            e.message().to_owned(),
            "write the plan in TOML, see `wirespeed run --help`",
        );
        match e.span() {
            Some(span) => error.at(reader.line(span.start)),
            None => error,
        }
    })?;
    reader.plan(table.get_ref())
}

struct Reader<'a> {
    text: &'a str,
}

type Key<'i> = Spanned<std::borrow::Cow<'i, str>>;
type Value<'i> = Spanned<DeValue<'i>>;

impl Reader<'_> {
    fn line(&self, byte: usize) -> usize {
        let before = &self.text.as_bytes()[..byte.min(self.text.len())];
        before.iter().filter(|b| **b == b'\n').count() + 1
    }

    fn plan(&self, table: &DeTable) -> Result<Plan, PlanError> {
        let mut plan = Plan {
            repeats: 0,
            ..Plan::default()
        };
        let (mut until, mut time) = (None, None);
        let mut defaults = Template::default();
        for (key, value) in table {
            let line = self.line(key.span().start);
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("repeats", _) => plan.repeats = self.repeats(value)?,
                ("until", _) => {
                    let text = self.scalar("until", value)?;
                    until = Some(Until::parse(&text).map_err(|e| e.at(line))?);
                }
                ("until_time", _) => time = Some((line, self.scalar("until_time", value)?)),
                ("defaults", DeValue::Table(table)) => defaults = self.template(table)?,
                ("case", DeValue::Array(cases)) => {
                    for case in cases.iter() {
                        plan.templates.push(self.case(case)?);
                    }
                }
                ("case", _) => {
                    return Err(PlanError::new("case is not a list", "write [[case]]").at(line));
                }
                ("defaults", _) => {
                    return Err(PlanError::new("defaults is not a table", "write [defaults]").at(line));
                }
                (other, _) => {
                    let known = ["repeats", "until", "until_time", "defaults", "case"];
                    return Err(PlanError::unknown("section", other, &known).at(line));
                }
            }
        }
        plan.until = with_time(until, time)?;
        plan.repeats = match (plan.repeats, &plan.until) {
            (0, Some(_)) => UNTIL_REPEATS,
            (repeats, _) => repeats.max(1),
        };
        for template in &mut plan.templates {
            add_defaults(template, &defaults);
        }
        Ok(plan)
    }

    fn case(&self, value: &Value) -> Result<Template, PlanError> {
        match value.get_ref() {
            DeValue::Table(table) => self.template(table),
            _ => {
                let line = self.line(value.span().start);
                Err(PlanError::new("a case is not a table", "write [[case]]").at(line))
            }
        }
    }

    fn repeats(&self, value: &Value) -> Result<u32, PlanError> {
        let line = self.line(value.span().start);
        parse_repeats("repeats", &self.scalar("repeats", value)?).map_err(|e| e.at(line))
    }

    fn template(&self, table: &DeTable) -> Result<Template, PlanError> {
        let mut template = Template::default();
        for (key, value) in table {
            let line = self.line(key.span().start);
            let name = key.get_ref().as_ref();
            if matches!(name, "option" | "options") {
                self.options(key, value, &mut template)?;
                continue;
            }
            let key = canonical_key(name).map_err(|e| e.at(line))?;
            let axis = self.axis(key, value, &|text| split_axis(key, text))?;
            if key == "test" {
                for test in &axis {
                    canonical_test(test).map_err(|e| e.at(line))?;
                }
            }
            if template.axes.insert(key.to_owned(), axis).is_some() {
                return Err(PlanError::new(format!("{key} is given twice"), "give it once").at(line));
            }
        }
        Ok(template)
    }

    fn options(&self, key: &Key, value: &Value, template: &mut Template) -> Result<(), PlanError> {
        let DeValue::Table(table) = value.get_ref() else {
            let line = self.line(key.span().start);
            return Err(PlanError::new("option is not a table", "write option.NAME = VALUE").at(line));
        };
        for (name, value) in table {
            let name = name.get_ref().to_string();
            let axis = self.axis(&name, value, &|text| split_words(&name, text, ','))?;
            template.options.insert(name, axis);
        }
        Ok(())
    }

    /// A scalar or a list of them; every string is split as on the command line.
    fn axis(
        &self,
        key: &str,
        value: &Value,
        split: &dyn Fn(&str) -> Result<Axis, PlanError>,
    ) -> Result<Axis, PlanError> {
        let one = |value: &Value| {
            let text = self.scalar(key, value)?;
            split(&text).map_err(|e| e.at(self.line(value.span().start)))
        };
        let DeValue::Array(values) = value.get_ref() else {
            return one(value);
        };
        let mut axis = Axis::new();
        for value in values.iter() {
            axis.extend(one(value)?);
        }
        if axis.is_empty() {
            let line = self.line(value.span().start);
            return Err(PlanError::new(format!("{key} has no values"), remedy_of(key)).at(line));
        }
        Ok(axis)
    }

    fn scalar(&self, key: &str, value: &Value) -> Result<String, PlanError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(flag) => Ok(flag.to_string()),
            _ => {
                let line = self.line(value.span().start);
                let cause = format!("{key} is neither a string, a decimal number, a flag nor a list of them");
                Err(PlanError::new(cause, remedy_of(key)).at(line))
            }
        }
    }
}

/// What to write for a key instead.
fn remedy_of(key: &str) -> &'static str {
    parameter(key).map_or("see `wirespeed run --help`", |parameter| parameter.remedy)
}

/// A goal with its limit of time; a limit without a goal is refused.
fn with_time(until: Option<Until>, time: Option<(usize, String)>) -> Result<Option<Until>, PlanError> {
    let Some((line, time)) = time else {
        return Ok(until);
    };
    let Some(until) = until else {
        let cause = "until_time limits nothing without until";
        return Err(PlanError::new(cause, "write until = \"p50:2%\" too").at(line));
    };
    let until = Until {
        time: Some(time),
        ..until
    };
    until.time_ns().map_err(|e| e.at(line))?;
    Ok(Some(until))
}

/// A number of repetitions as typed behind `name`, which an error names.
pub fn parse_repeats(name: &str, text: &str) -> Result<u32, PlanError> {
    match units::parse_count(text).map(u32::try_from) {
        Ok(Ok(count @ 1..=REPEATS_MAX)) => Ok(count),
        _ => Err(PlanError::new(
            format!("invalid {name} {}", shown::value(text)),
            format!("give a count from 1 to {REPEATS_MAX}"),
        )),
    }
}

/// A default holds where the case says nothing, one of its tests takes the parameter, and no contradicting key is given.
fn add_defaults(template: &mut Template, defaults: &Template) {
    let own: Vec<String> = template.axes.keys().cloned().collect();
    let contradicted = |key: &str| {
        let mut groups = EXCLUSIVE.iter().filter(|group| group.contains(&key));
        groups.any(|group| group.iter().any(|other| own.iter().any(|k| k == other)))
    };
    let tests = template.axes.get("test").or(defaults.axes.get("test")).cloned();
    let taken = |key: &str| {
        let mut tests = tests.iter().flatten().filter_map(|t| canonical_test(t).ok());
        tests.any(|test| takes(test, key))
    };
    for (key, axis) in &defaults.axes {
        if !contradicted(key) && taken(key) {
            template.axes.entry(key.clone()).or_insert_with(|| axis.clone());
        }
    }
    for (name, axis) in &defaults.options {
        template
            .options
            .entry(name.clone())
            .or_insert_with(|| axis.clone());
    }
}
