//! The benchmark beside the peers: ucx_perftest, sockperf, iperf3 and wirespeed in turn on the same cores; or, as a set
//! of its own, the loops of MPI benchmarks in C and wirespeed on two MPI libraries.
//!
//! Pairs are interleaved and their order alternates, so that a noisy machine disturbs both sides alike. This is never
//! a test: it fails only when something cannot run, not when a number is bad.

mod byteio;
mod derived;
mod documents;
mod launch;
mod mpi;
mod programs;
mod report;
mod session;
mod setup;
mod side;
mod table;
mod tools;
mod typed;
mod ucx;

use anyhow::{Context as _, Result};
use derived::Derived;
use launch::Context;
use report::{Figures, Report};
use side::Side;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use table::{COMPARISONS, Comparison, LIMITS, Limit};

/// Comparisons that are run and archived together.
pub struct Set {
    /// In the name of the archive.
    pub name: &'static str,
    /// Interleaved pairs, where nobody says how many.
    pub pairs: usize,
    /// Installs or builds the peers; the names of those that are there.
    pub prepare: fn(&Path) -> Result<BTreeSet<&'static str>>,
    /// The comparisons.
    pub comparisons: fn() -> Vec<Comparison>,
    /// Bounds on the harness.
    pub limits: &'static [Limit],
    /// Figures made of the comparisons' pairs.
    pub derived: &'static [Derived],
}

/// Beside programs that can be installed.
pub const PROGRAMS: Set = Set {
    name: "peers",
    pairs: 10,
    prepare: |_| tools::install(),
    comparisons: || COMPARISONS.to_vec(),
    limits: LIMITS,
    derived: &[],
};

/// Beside C programs on MPI.
pub const MPI: Set = Set {
    name: "mpi",
    pairs: 30,
    prepare: mpi::build,
    comparisons: || mpi::COMPARISONS.to_vec(),
    limits: &[],
    derived: mpi::DERIVED,
};

/// Sessions beside bare transports and fixed aims.
pub const SESSION: Set = Set {
    name: "session",
    pairs: 10,
    prepare: |_| tools::install(),
    comparisons: || session::COMPARISONS.to_vec(),
    limits: &[],
    derived: &[],
};

/// What users type, beside what they type of the peers.
pub const TYPED: Set = Set {
    name: "typed",
    pairs: 10,
    prepare: typed::prepare,
    comparisons: typed::comparisons,
    limits: &[],
    derived: &[],
};

/// The transport uct beside the tool of its library.
pub const UCX: Set = Set {
    name: "ucx-peers",
    pairs: 20,
    prepare: |_| tools::install(),
    comparisons: ucx::comparisons,
    limits: ucx::LIMITS,
    derived: &[],
};

/// Bulk transfers beside other movers and other SOAP stacks, and what paths of known speed allow.
pub const BYTEIO: Set = Set {
    name: "byteio",
    pairs: 10,
    prepare: byteio::prepare,
    comparisons: byteio::comparisons,
    limits: byteio::LIMITS,
    derived: &[],
};

/// Run `pairs` interleaved pairs of every comparison whose name contains `rows`, and archive output and summary under
/// docs/runs/.
pub fn run(root: &Path, set: &Set, pairs: usize, rows: &str) -> Result<()> {
    let all = (set.comparisons)();
    let comparisons: Vec<&Comparison> = all.iter().filter(|c| c.name.contains(rows)).collect();
    if comparisons.is_empty() {
        let names: Vec<&str> = all.iter().map(|c| c.name).collect();
        anyhow::bail!("no row contains {rows:?}; there are:\n{}", names.join("\n"));
    }
    let binary = root.join("target/release/wirespeed");
    if !binary.is_file() {
        anyhow::bail!("no target/release/wirespeed; run `make build` first");
    }
    let pairs = pairs.max(1);
    let available = (set.prepare)(root)?;
    let cores = tools::two_cores()?;
    let mut report = Report::create(root, set.name, &cores)?;
    let context = Context {
        binary,
        built: root.join(mpi::BUILT),
        cores,
        launched: RefCell::default(),
    };
    let mut figures = Figures::new();
    for pair in 0..pairs {
        context.launched.borrow_mut().clear();
        for comparison in &comparisons {
            if let Some((ours, theirs)) = measured(comparison, pair, &available, &context, &mut report) {
                report.pair(pair, comparison, ours, theirs)?;
                figures.entry(comparison.name).or_default().push((ours, theirs));
            }
        }
        report.summarize((pair + 1, pairs), &comparisons, &figures, &[], set.derived)?;
    }
    let mut limits = Vec::new();
    for limit in set.limits {
        match (limit.measure)(&context, &mut report) {
            Ok(value) => limits.push((limit, value)),
            Err(error) => report.note(&format!("failed: {}: {error:#}", limit.name)),
        }
    }
    let summary = report.summarize((pairs, pairs), &comparisons, &figures, &limits, set.derived)?;
    report.finish(&summary)?;
    Ok(())
}

/// Both sides of a comparison, one after the other; `None` when one cannot run, which is noted.
fn measured(
    comparison: &Comparison,
    pair: usize,
    available: &BTreeSet<&str>,
    context: &Context,
    report: &mut Report,
) -> Option<(f64, f64)> {
    let needed = comparison.theirs.program().or(comparison.ours.program());
    if let Some(program) = needed.filter(|program| !available.contains(program)) {
        report.note(&format!(
            "skipped: {}: {program} is not installed",
            comparison.name
        ));
        return None;
    }
    let mut measure = |side: &Side| {
        let figure = side.run(context, report);
        figure.with_context(|| format!("{} (pair {})", comparison.name, pair + 1))
    };
    // Alternate who goes first.
    let (ours, theirs) = if pair.is_multiple_of(2) {
        let theirs = measure(&comparison.theirs);
        (measure(&comparison.ours), theirs)
    } else {
        let ours = measure(&comparison.ours);
        (ours, measure(&comparison.theirs))
    };
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => Some((ours, theirs)),
        (Err(error), _) | (_, Err(error)) => {
            report.note(&format!("failed: {error:#}"));
            None
        }
    }
}
