//! What master and workers tell beyond the figures of their cases: the grid of tests and payloads, the price of the first
//! round trip, a row for each worker and each host, latency and bandwidth by a fit.
//!
//! Everything is computed from case results, so a stored document gives the same again. A payload that travels one way
//! is never divided by two: what a round trip moved stands beside it.

mod cells;
mod charts;
mod log;
mod rows;
mod section;
mod speed;

pub use charts::{bandwidth_chart, tests_chart};
pub use log::{log_csv, log_lines};
pub(crate) use rows::slow_workers;
pub use section::{Cell, HostRow, Interval, Levelling, SpeedFit, WorkerRow, Workers, WorkersSection};

use crate::names::{Parameters, alike, varying};
use wirespeed_schema::Run;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::section::Section;

impl Section for WorkersSection {
    const NAME: &'static str = "workers";
}

impl WorkersSection {
    /// What `cases` tell; cases of other tests are left out.
    pub fn new(cases: &[CaseResult]) -> WorkersSection {
        let mut groups: Vec<(Parameters, Vec<&CaseResult>)> = Vec::new();
        let of_hubs = || cases.iter().filter(|result| result.case.test.hub().is_some());
        // Cells that nothing but the layout or the arm tells apart are no cells of one grid.
        let all: Vec<Parameters> = of_hubs().map(Parameters::of).collect();
        let bare = all.iter().map(|own| own.clone().without(&OF_CELLS[..APART]));
        let bare: Vec<Parameters> = bare.collect();
        let is_other = |at: usize| (0..at).any(|one| bare[one] == bare[at] && all[one] != all[at]);
        let of_cells = &OF_CELLS[APART * usize::from((0..all.len()).any(is_other))..];
        for result in of_hubs() {
            let own = Parameters::of(result).without(of_cells);
            match groups.iter_mut().find(|(known, _)| *known == own) {
                Some((_, cases)) => cases.push(result),
                None => groups.push((own, vec![result])),
            }
        }
        let mut section = WorkersSection {
            groups: groups.iter().map(|(_, cases)| group(cases)).collect(),
        };
        for group in alike(groups.iter().map(|(_, cases)| &cases[0].case.transport)) {
            let told = varying(group.iter().map(|at| &groups[*at].0).collect());
            for (at, apart) in group.into_iter().zip(told) {
                section.groups[at].apart = apart;
            }
        }
        section
    }

    /// Give the nodes of a job, which are numbered, their names.
    pub fn name_nodes(&mut self, names: &[String]) {
        let rename = |host: &mut String| {
            let number = host
                .strip_prefix(rows::NODE)
                .and_then(|number| number.parse::<usize>().ok());
            if let Some(name) = number.and_then(|number| names.get(number)) {
                host.clone_from(name);
            }
        };
        for group in &mut self.groups {
            group
                .rows
                .iter_mut()
                .filter_map(|row| row.host.as_mut())
                .for_each(rename);
            group.hosts.iter_mut().for_each(|row| rename(&mut row.host));
        }
    }

    /// The section of `run`, or what its cases tell.
    pub fn of(run: &Run) -> WorkersSection {
        let stored = run.sections.get();
        stored.unwrap_or_else(|| WorkersSection::new(&run.cases))
    }
}

/// What cells of one grid may differ in.
const OF_CELLS: [&str; 8] = [
    "layout",
    "arm",
    "test",
    "size",
    "iterations",
    "duration",
    "warmup",
    "interval",
];

/// How many of them, the first, may make grids of their own.
const APART: usize = 2;

fn group(cases: &[&CaseResult]) -> Workers {
    let hub = cases
        .iter()
        .find_map(|result| Some((result.case.test.hub()?, result.case.ranks.len())));
    let (fan_out, ranks) = hub.map_or((false, 0), |(hub, ranks)| (hub.fan_out, ranks));
    // Nothing both ways is no payload that goes both ways.
    let both_ways = cases
        .iter()
        .filter_map(|result| result.case.test.hub())
        .all(|hub| hub.reply_bytes.is_none() || hub.is_symmetric() && hub.size_bytes > 0);
    let (cells, rows) = (cells::cells(cases), rows::rows(cases));
    Workers {
        transport: cases
            .first()
            .map(|result| result.case.transport.clone())
            .unwrap_or_default(),
        apart: String::new(),
        workers: ranks.saturating_sub(1) as u32,
        fan_out,
        both_ways,
        hosts: rows::hosts(&rows),
        rows,
        fit: if fan_out { None } else { speed::fit(&cells) },
        at_the_end: speed::levelling(&cells),
        connect_ns: cells::connect_ns(cases),
        cells,
    }
}

impl Workers {
    /// What it is called: the transport, with what tells it from others.
    pub fn name(&self) -> String {
        format!("{}{}", self.transport, self.apart)
    }

    /// What a round trip is divided by for a time of one way: 2, or 1 where half of it is nobody's way.
    pub fn divisor(&self) -> f64 {
        if self.both_ways && !self.fan_out { 2.0 } else { 1.0 }
    }

    /// The largest number of tests; 0 without cells.
    pub fn tests_max(&self) -> u64 {
        self.cells.iter().map(|cell| cell.tests).max().unwrap_or(0)
    }

    /// The cells with most tests, by payload.
    pub fn longest(&self) -> Vec<&Cell> {
        speed::longest(&self.cells)
    }

    /// The payload whose cells stand for all where one is wanted: the one nearest to 1 kB, by ratio.
    pub fn reference_bytes(&self) -> Option<u64> {
        cells::nearest_to_kilobyte(self.cells.iter().map(|cell| cell.size_bytes))
    }
}
