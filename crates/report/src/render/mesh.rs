//! A mesh as CSV: a row a pair of each probe, each with all that it takes to be read alone; and a row a host, for pages that cannot
//! hold every pair. It must never hold a sentence.

use super::RenderError;
use super::tamed::tamed;
use crate::mesh::standing::{self, Standing};
use crate::mesh::{PairFigure, Probed};
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshPair, MeshSection};

/// Columns of every row, before those of a pair or host.
const PROBE: [&str; 13] = [
    "document_version",
    "tool_version",
    "started_at",
    "case",
    "transport",
    "options",
    "rail",
    "test",
    "parameters",
    "mode",
    "tag",
    "higher_is_better",
    "complete",
];
const PAIR: [&str; 20] = [
    "from",
    "to",
    "from_unit",
    "to_unit",
    "values_count",
    "survey_count",
    "median",
    "min",
    "max",
    "of_median_ratio",
    "values",
    "from_sends_ratio",
    "to_receives_ratio",
    "failed",
    "from_lost",
    "to_lost",
    "failed_count",
    "wrong_data",
    "unsettled",
    "left_out_count",
];
const HOST: [&str; 6] = [
    "host",
    "unit",
    "sends_ratio",
    "receives_ratio",
    "standing",
    "lost",
];

/// A row a pair that was to be measured, by probe, sender and receiver. `median`, `min`, `max` and `values` are in the unit that
/// the tag ends with; ratios are of performances, 1 is the median, below it is slower. `failed` says why a pair has no figure at
/// all, `failed_count` how many measurements gave none, `left_out_count` how many cycles left it out, since it or one of its
/// hosts had fallen silent.
pub(super) fn pairs(run: &Run, section: &MeshSection) -> Result<String, RenderError> {
    let names = Names::of(section);
    written(&PAIR, |write| {
        for probed in Probed::all(run, section) {
            let lead = lead(run, section, &probed);
            let mut figures = probed.pairs.iter().peekable();
            for pair in &probed.probe.pairs {
                let figure = figures.next_if(|figure| (figure.from, figure.to) == (pair.from, pair.to));
                write(&lead, pair_fields(&probed, &names, pair, figure))?;
            }
        }
        Ok(())
    })
}

/// A row a host of each probe.
pub(super) fn hosts(run: &Run, section: &MeshSection) -> Result<String, RenderError> {
    let names = Names::of(section);
    written(&HOST, |write| {
        for probed in Probed::all(run, section) {
            let lead = lead(run, section, &probed);
            let standings = standing::of_probe(section, probed.probe);
            for (number, host) in (0u32..).zip(&section.hosts) {
                let effect = probed.effect(number);
                let standing = match standings.get(number as usize) {
                    None | Some(Standing::Good) => "good",
                    Some(other) => other.word(),
                };
                let row = [
                    names.host(number),
                    names.unit(number),
                    or_empty(effect.sends_ratio.map(|ratio| ratio.get())),
                    or_empty(effect.receives_ratio.map(|ratio| ratio.get())),
                    standing.to_owned(),
                    host.lost.clone().unwrap_or_default(),
                ];
                write(&lead, row.to_vec())?;
            }
        }
        Ok(())
    })
}

type Write<'a> = dyn FnMut(&[String], Vec<String>) -> Result<(), ::csv::Error> + 'a;

fn written(
    columns: &[&str],
    rows: impl FnOnce(&mut Write) -> Result<(), ::csv::Error>,
) -> Result<String, RenderError> {
    let failed = |reason: String| RenderError { form: "CSV", reason };
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let header: Vec<&str> = PROBE.iter().chain(columns).copied().collect();
    writer.write_record(header).map_err(|e| failed(e.to_string()))?;
    rows(&mut |lead, row| writer.write_record(lead.iter().cloned().chain(tamed(row))))
        .map_err(|e| failed(e.to_string()))?;
    let bytes = writer.into_inner().map_err(|e| failed(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| failed(e.to_string()))
}

/// What all rows of a probe share, as it is written.
fn lead(run: &Run, section: &MeshSection, probed: &Probed) -> Vec<String> {
    let case = run
        .cases
        .get(probed.probe.case as usize)
        .map(|result| &result.case);
    let joined = |pairs: Vec<(String, String)>| {
        let all: Vec<String> = pairs
            .into_iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        all.join(";")
    };
    let options = case.map_or_else(Vec::new, |case| case.options.clone().into_iter().collect());
    let values = case.map_or_else(Vec::new, |case| case.test.values());
    let values = values
        .into_iter()
        .map(|(parameter, value)| (parameter.column.to_owned(), value));
    tamed([
        run.document_version.clone(),
        run.tool.version.clone(),
        run.started_at.clone(),
        probed.probe.case.to_string(),
        case.map_or_else(String::new, |case| case.transport.clone()),
        joined(options),
        case.and_then(|case| case.rail.clone()).unwrap_or_default(),
        case.map_or_else(String::new, |case| case.test.name().to_owned()),
        joined(values.filter(|(column, _)| !column.is_empty()).collect()),
        section.mode.name().to_owned(),
        probed.probe.tag.clone(),
        probed.probe.higher_is_better.to_string(),
        probed.probe.complete.to_string(),
    ])
}

fn pair_fields(probed: &Probed, names: &Names, pair: &MeshPair, figure: Option<&PairFigure>) -> Vec<String> {
    let values = || pair.values.iter().map(|value| value.get());
    let all: Vec<String> = values().map(|value| value.to_string()).collect();
    let median = probed.median.filter(|median| *median > 0.0);
    // A ratio of performances is that of figures for a rate, and its inverse for a latency: the same holds the other way round.
    let ratio = figure
        .zip(median)
        .map(|(figure, median)| probed.of_figures(figure.value / median));
    let (sends, receives) = (
        probed.effect(pair.from).sends_ratio,
        probed.effect(pair.to).receives_ratio,
    );
    vec![
        names.host(pair.from),
        names.host(pair.to),
        names.unit(pair.from),
        names.unit(pair.to),
        pair.values.len().to_string(),
        pair.survey_count.to_string(),
        or_empty(figure.map(|figure| figure.value)),
        or_empty(values().reduce(f64::min)),
        or_empty(values().reduce(f64::max)),
        or_empty(ratio.filter(|ratio| ratio.is_finite())),
        all.join(";"),
        or_empty(sends.map(|ratio| ratio.get())),
        or_empty(receives.map(|ratio| ratio.get())),
        pair.failure().unwrap_or_default().to_owned(),
        names.lost(pair.from),
        names.lost(pair.to),
        pair.failed_count.to_string(),
        pair.wrong_data.clone().unwrap_or_default(),
        pair.unsettled.to_string(),
        pair.left_out_count.to_string(),
    ]
}

/// Names of hosts and units, each made once.
struct Names<'a> {
    section: &'a MeshSection,
    hosts: Vec<String>,
}

impl<'a> Names<'a> {
    fn of(section: &'a MeshSection) -> Names<'a> {
        let numbers = 0..section.hosts.len() as u32;
        Names {
            section,
            hosts: numbers.map(|number| section.host_name(number)).collect(),
        }
    }

    fn host(&self, number: u32) -> String {
        let known = self.hosts.get(number as usize).cloned();
        known.unwrap_or_else(|| self.section.host_name(number))
    }

    fn unit(&self, number: u32) -> String {
        let unit = self.section.hosts.get(number as usize).and_then(|host| host.unit);
        unit.map_or_else(String::new, |unit| self.section.unit_name(unit))
    }

    fn lost(&self, number: u32) -> String {
        let host = self.section.hosts.get(number as usize);
        host.and_then(|host| host.lost.clone()).unwrap_or_default()
    }
}

fn or_empty(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
