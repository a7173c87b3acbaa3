//! Message rates between many ranks: the figure of merit, what was at the start of an iteration, the table.

use super::cases;
use super::model::{Line, Part};
use crate::charts::Picture;
use crate::figures::with_interval;
use crate::interference::undisturbed;
use crate::labels::Input;
use wirespeed_schema::Run;
use wirespeed_schema::posted::{CacheState, Pattern};
use wirespeed_schema::run::{CaseResult, Metric};
use wirespeed_schema::units::{format_asked_size, format_size};

/// The figure of merit: the highest pre-posted rate, or that of the first pattern measured.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let found = undisturbed(input.run);
    let rated = || {
        let with = found
            .iter()
            .filter_map(|result| Some((result, result.case.test.msgrate()?)));
        with.filter_map(|(result, test)| Some((result, test, rate(result)?)))
    };
    let has_pre_post = rated().any(|(_, test, _)| test.pattern == Pattern::PrePost);
    let first = rated().map(|(_, test, _)| test.pattern).next();
    let merit = first.map(|first| if has_pre_post { Pattern::PrePost } else { first });
    let of_merit = || rated().filter(|(_, test, _)| Some(test.pattern) == merit);
    let best = of_merit().max_by(|a, b| a.2.value.get().total_cmp(&b.2.value.get()));
    let Some((result, test, rate)) = best else {
        return Vec::new();
    };
    let whose = match result.metrics.contains_key("rate_msg_per_s") {
        true => "by all of them together",
        false => "by each of them",
    };
    vec![format!(
        "{} ranks over {}, pattern {}: {}{} {whose}, with {} to {}.",
        result.case.ranks.len(),
        result.case.transport,
        test.pattern.name(),
        if of_merit().count() > 1 { "at most " } else { "" },
        with_interval("rate_msg_per_s", rate),
        format_asked_size(test.size_bytes),
        match test.neighbours() {
            1 => "one neighbour each".to_owned(),
            several => format!("{several} neighbours each"),
        }
    )]
}

/// The rate of all ranks; of texts of the original that of a rank, which is all that they have.
fn rate(result: &CaseResult) -> Option<&Metric> {
    let of = |tag| result.metrics.get(tag);
    of("rate_msg_per_s").or_else(|| of("classic_rate_msg_per_s"))
}

/// The conditions, then the table.
pub fn parts(run: &Run) -> Vec<Part> {
    let conditions: Vec<Line> = conditions(run).into_iter().map(Line::plain).collect();
    let tables = cases::tables(undisturbed(run).iter());
    let lines = std::iter::once(Part::Lines(conditions));
    lines.chain(tables.into_iter().map(Part::Table)).collect()
}

/// What columns of the table say only where there is room: ranks, and the caches at the start of an iteration.
fn conditions(run: &Run) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for (result, test) in run
        .cases
        .iter()
        .filter_map(|result| Some((result, result.case.test.msgrate()?)))
    {
        let caches = match test.cache_state {
            CacheState::Hot => "caches hot: all messages leave from one place and arrive in one".to_owned(),
            CacheState::Touched => {
                "caches touched: what is sent was just written, what came was read".to_owned()
            }
            CacheState::Rotating => format!(
                "caches rotating: iterations walk through at least {} a rank",
                format_size(test.cache_bytes)
            ),
            CacheState::Flushed => format!(
                "caches flushed: each rank fills {} of other memory between iterations",
                format_size(test.cache_bytes)
            ),
        };
        let line = format!("{} ranks; {caches}", result.case.ranks.len());
        if !said.contains(&line) {
            said.push(line);
        }
    }
    said
}
