//! The pairs of the section `byteio` out of the results of a run: each run's record leaves its outcome, in which a document
//! would say it a second time.
//!
//! It must never change a figure of a result.

use crate::assemble::UNREACHED;
use wirespeed_schema::byteio::{Between, Pair, Transfer};
use wirespeed_schema::case::Role;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;

/// The pairs of those of `results` that are bulk transfers of the engine, in their order; those of offered requests by
/// rising rate. `near`: this machine.
pub fn take_pairs<'a>(
    results: impl IntoIterator<Item = &'a mut CaseResult>,
    near: &HostFingerprint,
) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = results
        .into_iter()
        .filter_map(|result| take_pair(result, near))
        .collect();
    pairs.order_by_key(|pair| std::cmp::Reverse(pair.pace_interval_ns));
    pairs.iter_mut().for_each(super::complete);
    pairs
}

/// What a transfer between this machine and a service is called: the way that the data go.
pub fn name_of_own(is_put: bool) -> &'static str {
    match is_put {
        true => "here to service",
        false => "service to here",
    }
}

/// Whether its run came as far as this pair: one that it did not is not measured, and no failure.
pub fn was_reached(pair: &Pair) -> bool {
    pair.error.as_deref() != Some(UNREACHED)
}

/// Who reads and who serves in the pair `name`; `None` where that is no pair of machines.
pub(crate) fn ends_of(name: &str) -> Option<(&str, &str)> {
    match name {
        own if own == name_of_own(false) => Some(("here", "service")),
        own if own == name_of_own(true) => Some(("service", "here")),
        pair => pair.split_once(" -> "),
    }
}

fn take_pair(result: &mut CaseResult, near: &HostFingerprint) -> Option<Pair> {
    let is_put = result.case.ranks.first()?.role == Role::Source;
    let shape = result.case.test.bulk()?.clone();
    let mechanism = result.case.transport.strip_prefix("byteio-")?.to_owned();
    let outcomes = result.seen_mut().flat_map(|run| &mut run.outcomes);
    let taken = |outcome: &mut wirespeed_schema::Outcome| {
        let mut run = *outcome.transfer.take()?;
        run.load_done.clone_from(&outcome.load_done);
        Some(run)
    };
    let mut runs: Vec<Transfer> = outcomes.filter_map(taken).collect();
    let between = runs.iter_mut().filter_map(|run| run.between.take());
    let between = between
        .reduce(|first, _| first)
        .map_or(Between::default(), |first| *first);
    let case = &result.case;
    let option = |name: &str, usual: &str| case.options.get(name).map_or(usual, String::as_str).to_owned();
    let direction = if is_put { "put" } else { "get" };
    let name = match between.name.as_str() {
        "" => name_of_own(is_put),
        name => name,
    };
    // A run that could not even begin has no record of its own.
    let unrecorded = result.error != runs.last()?.error;
    Some(Pair {
        name: option("pair", name),
        url: between.url,
        direction: direction.to_owned(),
        mechanism,
        total_bytes: shape.total_bytes,
        block_bytes: shape.size_bytes,
        threads: shape.connections,
        depth_ops: shape.outstanding_ops,
        pace_interval_ns: shape.pace_interval_ns,
        destination: option("destination", "discard"),
        digest: option("digest", "none"),
        encrypted: case.options.contains_key("encrypted"),
        congestion: case.options.get("congestion").cloned(),
        nominal_bytes_per_s: between.nominal_bytes_per_s,
        load: case.ranks[0].load.clone(),
        near: Some(Box::new(near.clone())),
        far: between.far.map(Box::new),
        error: result.error.clone().filter(|_| unrecorded),
        remedy: result.remedy.clone().filter(|_| unrecorded),
        runs,
        ..Pair::default()
    })
}
