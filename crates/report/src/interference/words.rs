//! What background load did, in words: for each case and load the figure that moved most, and what a verdict still needs.

use super::{Interference, InterferenceRow, Loaded, Work};
use crate::compare::{Verdict, more_is_better};
use crate::figures::spoken;
use crate::thresholds::ROUNDS_WORTH_MAX;
use crate::wording::{counted, grouped, percent};
use wirespeed_schema::units::{format_rate, significant};

/// The load that is none: what the machine alone does to a ratio.
const CONTROL: &str = "none";

/// The load and where it ran: `cpu@same`.
pub fn load_name(loaded: &Loaded) -> String {
    let load = loaded.load.clone();
    match load.contains('@') || load == CONTROL || loaded.place.is_empty() {
        true => load,
        false => format!("{load}@{}", loaded.place),
    }
}

/// `beside shm am_lat 8 B the load cpu@same did 120 k CPU loops/s`
pub fn work_line(work: &Work) -> String {
    let parts: Vec<String> = work
        .per_s
        .iter()
        .map(|(key, per_s)| match key.strip_suffix("_bytes") {
            Some(what) => format!("{} {what}", format_rate(per_s.get(), "B/s")),
            None => {
                let what = key.replace('_', " ").replace("cpu", "CPU");
                format!("{} {what}/s", format_rate(per_s.get(), "").trim_end())
            }
        })
        .collect();
    format!(
        "beside {} the load {} did {}",
        work.label,
        load_name(&work.loaded),
        parts.join(", ")
    )
}

/// What was measured under which load: `shm am_lat 8 B under cpu@same`.
pub fn load_subject(found: &InterferenceRow) -> String {
    format!("{} under {}", found.row.label, load_name(&found.loaded))
}

/// For each case and load the figure that moved most, and whether anything did.
pub fn interference_answers(found: &Interference) -> Vec<String> {
    let answers = answers_with_rows(found).into_iter();
    answers.map(|(answer, _)| answer).collect()
}

/// The same, each answer with the rows that it rests on.
pub fn answers_with_rows(found: &Interference) -> Vec<(String, Vec<&InterferenceRow>)> {
    let mut answers = Vec::new();
    let mut seen: Vec<(&str, &Loaded)> = Vec::new();
    for first in &found.rows {
        let key = (first.row.label.as_str(), &first.loaded);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let of_pair: Vec<&InterferenceRow> = found
            .rows
            .iter()
            .filter(|other| (other.row.label.as_str(), &other.loaded) == key)
            .collect();
        answers.push((answer(&of_pair, found), of_pair));
    }
    answers
}

fn answer(rows: &[&InterferenceRow], found: &Interference) -> String {
    // How many times worse: a rate suffers by shrinking.
    let harm = |found: &InterferenceRow| match more_is_better(&found.row.tag) {
        true => 1.0 / found.row.ratio.get().max(f64::MIN_POSITIVE),
        false => found.row.ratio.get(),
    };
    let with = |verdict: Verdict| rows.iter().filter(move |found| found.row.verdict == verdict);
    let worst = with(Verdict::Slower).max_by(|a, b| harm(a).total_cmp(&harm(b)));
    let best = with(Verdict::Faster).min_by(|a, b| harm(a).total_cmp(&harm(b)));
    let subject = rows.first().map_or_else(String::new, |first| load_subject(first));
    let moved = |found: &InterferenceRow| {
        let ends = found
            .row
            .lower
            .zip(found.row.upper)
            .map_or(String::new(), |(lower, upper)| {
                format!(
                    " [{}, {}]",
                    significant(lower.get(), 3),
                    significant(upper.get(), 3)
                )
            });
        format!(
            "{subject}: {} is {} times that without load{ends}",
            spoken(&found.row.tag),
            significant(found.row.ratio.get(), 3)
        )
    };
    match (worst, best) {
        (Some(worst), _) => moved(worst),
        (None, Some(best)) => format!("{}: better", moved(best)),
        (None, None) => match with(Verdict::Inconclusive).count() {
            0 => format!(
                "{subject}: no figure changes by more than {}",
                percent(found.within_ratio.get())
            ),
            _ if rows.iter().all(|one| one.loaded.load == CONTROL) => {
                format!("{subject}: no difference can be told, as should be without load")
            }
            open => format!(
                "{subject}: no verdict on {open} of {}: {}",
                counted(rows.len() as u64, "figure"),
                lacking(rows, found)
            ),
        },
    }
}

/// What the figures without a verdict lack, and the option that gives it: first an interval, where some have none.
fn lacking(rows: &[&InterferenceRow], found: &Interference) -> String {
    let open = || rows.iter().filter(|one| one.row.verdict == Verdict::Inconclusive);
    let without = open().any(|one| one.row.lower.is_none());
    let lacking = || open().filter(|one| !without || one.row.lower.is_none());
    let ran = lacking().map(|one| one.row.b_runs).min().unwrap_or(0);
    let more = lacking().map(|one| Some(u64::from(one.row.b_runs) + one.row.more_runs?));
    let (option, count) = (&found.rounds_option, counted(u64::from(ran), "round"));
    match (without, more.flatten().max()) {
        (true, Some(needed)) => {
            let which = match lacking().count() {
                all if all == open().count() => {
                    format!("{count} {} no interval", if ran == 1 { "gives" } else { "give" })
                }
                some => format!(
                    "{some} of them {} no interval after {count}",
                    if some == 1 { "has" } else { "have" }
                ),
            };
            format!("{which}, at least {needed} are needed: {option} {needed}")
        }
        (false, Some(needed)) if needed > ROUNDS_WORTH_MAX => format!(
            "after {count} the differences may be chance, and it takes about {} rounds to tell: measure each longer",
            grouped(two_digits(needed))
        ),
        (false, Some(needed)) => format!(
            "after {count} the differences may be chance; about {needed} rounds should tell: {option} {needed}"
        ),
        (_, None) => format!(
            "they are too near to the margin of {} for more rounds to tell",
            percent(found.within_ratio.get())
        ),
    }
}

/// A number that is only estimated, without the digits that nobody knows.
fn two_digits(number: u64) -> u64 {
    let beyond = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    number.saturating_add(beyond / 2) / beyond * beyond
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_has_two_digits() {
        assert_eq!(
            [0, 7, 99, 540, 64_740, u64::MAX].map(two_digits),
            [0, 7, 99, 540, 65_000, 18_000_000_000_000_000_000]
        );
    }
}
