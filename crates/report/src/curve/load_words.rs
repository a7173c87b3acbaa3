//! A load curve in words. Every sentence is derived from the rows that are shown beside it, and true of each of them.

use super::load::{Capacity, LoadPoint, NoKnee, capacity, carried, knee};
use super::section::LoadSection;
use crate::stats::{LEVEL, samples_needed};
use crate::thresholds::{CARRIED_MESSAGES_MIN, CARRIED_SHARE_MIN, FIT_RESIDUAL_MAX, KNEE_POINTS_MIN};
use crate::wording::{counted, percent};
use wirespeed_schema::units::{format_ns, format_rate};

/// What `rows` say; of the section only what no row has: the unit, the bound, the rate without a schedule. `missing` rates were
/// offered and have no row, `unreached` of them because the run ended before, which is said of all its cases.
pub fn load_words(
    section: &LoadSection,
    rows: &[LoadPoint],
    (missing, unreached): (usize, usize),
) -> Vec<String> {
    let unit = section.offers.unit();
    let rate = |value: f64| format_rate(value, unit);
    let most = section.most_msg_per_s.get();
    let mut words = Vec::new();
    if let Some(bound) = section.p99_max_ns {
        let kept = capacity(rows, bound.get());
        words.extend(bound_words(&kept, (rows, bound.get()), &rate));
    }
    words.push(match most > 0.0 {
        true => format!("The path carries {} with no rate set.", rate(most)),
        false => "What the path carries is not known: no run without a rate came to its end.".to_owned(),
    });
    let short = rows.iter().filter(|row| row.is_too_short()).count();
    words.extend(carried_words(&carried(rows), (rows.len(), missing, short), &rate));
    words.extend(missing_words(missing - unreached));
    words.push(knee_words(rows, &rate));
    words
}

fn missing_words(missing: usize) -> Option<String> {
    let verb = if missing == 1 { "has" } else { "have" };
    (missing > 0).then(|| format!("{} {verb} no result.", counted(missing as u64, "offered rate")))
}

fn carried_words(
    found: &Capacity,
    (rows, missing, short): (usize, usize, usize),
    rate: &dyn Fn(f64) -> String,
) -> Vec<String> {
    let again = match found.again {
        0 => String::new(),
        1 => ", though one of the higher rates is: something disturbed these runs".to_owned(),
        again => format!(", though {again} of the higher rates are: something disturbed these runs"),
    };
    let mut words = Vec::new();
    words.extend(match (found.passes_per_s, found.fails_per_s) {
        (Some(passes), Some(fails)) => Some(format!(
            "Offered rates are carried up to {}; at {} less than {} is delivered{again}.",
            rate(passes),
            rate(fails),
            percent(CARRIED_SHARE_MIN)
        )),
        (None, Some(fails)) => Some(format!(
            "At {} less than {} is delivered, and no lower rate is known to be carried{again}.",
            rate(fails),
            percent(CARRIED_SHARE_MIN)
        )),
        (Some(passes), None) if found.unknown + missing == 0 => Some(match rows {
            1 => format!("The only offered rate is carried: {}.", rate(passes)),
            _ => format!("All {rows} offered rates are carried, up to {}.", rate(passes)),
        }),
        (Some(passes), None) => Some(format!("Offered rates are carried up to {}.", rate(passes))),
        (None, None) => None,
    });
    let untold = |count: usize, why: String| {
        let rates = counted(rows as u64, "offered rate");
        (count > 0).then(|| {
            format!("Of {count} of {rates} the runs cannot tell whether the load is carried: {why}.")
        })
    };
    words.extend(untold(
        found.unknown.saturating_sub(short),
        format!("some deliver {}, some less", percent(CARRIED_SHARE_MIN)),
    ));
    words.extend(untold(
        short,
        format!("fewer than {CARRIED_MESSAGES_MIN} come through in a run, which has to be longer"),
    ));
    words
}

fn knee_words(rows: &[LoadPoint], rate: &dyn Fn(f64) -> String) -> String {
    match knee(rows) {
        Ok(knee) => format!(
            "Knee at {}: beyond it more load buys mostly waiting. The fit ends at {} (residuals {}).",
            rate(knee.offered_per_s),
            rate(knee.limit_per_s),
            percent(knee.residual_ratio)
        ),
        Err(NoKnee::TooFew(carried)) => format!(
            "No knee reported: the fit needs {KNEE_POINTS_MIN} rates that are carried, and has {carried}."
        ),
        Err(NoKnee::Flat) => "No knee: response time does not rise as that of a queue would.".to_owned(),
        Err(NoKnee::Residual(residual)) => format!(
            "No knee reported: these response times are off the curve of a queue by {}, more than {}.",
            percent(residual),
            percent(FIT_RESIDUAL_MAX)
        ),
        Err(NoKnee::Beyond) => "No knee among the rates that are carried.".to_owned(),
    }
}

fn bound_words(
    kept: &Capacity,
    (rows, bound_ns): (&[LoadPoint], f64),
    rate: &dyn Fn(f64) -> String,
) -> Vec<String> {
    let bound = format_ns(bound_ns);
    // A load that is not carried keeps no bound, whatever those messages waited that came through.
    let kept_by = |row: &&LoadPoint| row.response_p99_ns.is_some_and(|p99| p99 <= bound_ns);
    let first = |fails: f64| rows.iter().find(|row| row.offered_per_s == fails);
    let is_queue = |fails: f64| first(fails).filter(kept_by).is_some();
    let again = match kept.again {
        0 => String::new(),
        1 => ", though at one of the higher rates it does".to_owned(),
        again => format!(", though at {again} of the higher rates it does"),
    };
    let (rows, known) = (rows.len(), rows.len() - kept.unknown.min(rows.len()));
    let mut words = Vec::new();
    match (kept.passes_per_s, kept.fails_per_s) {
        (Some(passes), Some(fails)) => words.push(format!(
            "p99 stays within {bound} up to {}; at {} {}{again}.",
            rate(passes),
            rate(fails),
            match is_queue(fails) {
                true => "the load is not carried, and a queue grows",
                false => "it does not",
            }
        )),
        (Some(passes), None) => words.push(format!(
            "p99 stays within {bound} at {}, up to {}.",
            match known {
                1 => "the only rate that tells".to_owned(),
                known => format!("every one of {known} rates"),
            },
            rate(passes)
        )),
        (None, Some(fails)) => words.push(format!(
            "{} at {}, the lowest rate of which it is known{again}: name lower ones with --offered.",
            match is_queue(fails) {
                true => format!("Whatever p99 is against {bound}, the load is not carried even"),
                false => format!("p99 does not stay within {bound} even"),
            },
            rate(fails)
        )),
        (None, None) => {}
    }
    if kept.unknown > 0 || rows == 0 {
        words.push(format!(
            "Whether p99 stays within {bound} is not known at {} of {}: one needs {} samples for it. Measure longer.",
            kept.unknown,
            counted(rows as u64, "rate"),
            samples_needed(0.99, LEVEL).unwrap_or_default()
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirespeed_schema::Finite;

    const BOUND_NS: f64 = 5e6;

    fn any_row() -> impl Strategy<Value = LoadPoint> {
        let share = prop_oneof![Just(1.0), Just(0.991), Just(0.98), 0.2..1.01f64];
        let p99 = prop_oneof![
            2 => (0.5..2.0f64).prop_map(|times| Some(times * BOUND_NS)),
            1 => Just(None),
            1 => Just(Some(BOUND_NS))
        ];
        let upper = prop_oneof![Just(None), (1.0..1.05f64).prop_map(Some)];
        (share, upper, p99, 1.0..3.0f64).prop_map(|(share, upper, response_p99_ns, times)| LoadPoint {
            offered_per_s: 0.0,
            achieved_per_s: share,
            achieved_upper_per_s: upper.map(|times| times * share),
            messages: 10_000,
            response_ns: times * 1e5,
            response_p99_ns,
        })
    }

    fn any_rows() -> impl Strategy<Value = Vec<LoadPoint>> {
        prop::collection::vec(any_row(), 0..9).prop_map(|mut rows| {
            for (row, number) in rows.iter_mut().zip(1..) {
                row.offered_per_s = f64::from(number) * 1000.0;
                row.achieved_per_s *= row.offered_per_s;
                row.achieved_upper_per_s = row.achieved_upper_per_s.map(|upper| upper * row.offered_per_s);
            }
            rows
        })
    }

    fn rate(row: &LoadPoint) -> String {
        format_rate(row.offered_per_s, "msg/s")
    }

    /// The rate that one message makes, the end of the run between two of them, says nothing of what is carried.
    #[test]
    fn rates_that_a_run_has_no_time_for_are_not_called_carried() {
        let row = |offered_per_s: f64, messages| LoadPoint {
            offered_per_s,
            achieved_per_s: 0.86 * offered_per_s,
            achieved_upper_per_s: None,
            messages,
            response_ns: 1000.0,
            response_p99_ns: None,
        };
        let said = |rows: &[LoadPoint]| load_words(&LoadSection::default(), rows, (0, 0)).join(" ");
        let (short, long) = (
            said(&[row(10.0, 1), row(20.0, 2)]),
            said(&[row(10.0, 1), row(1e6, 30_000)]),
        );
        assert!(
            !short.contains("rates are carried up") && !short.contains("All 2"),
            "{short}"
        );
        assert!(
            short.contains("Of 2 of 2 offered rates the runs cannot tell"),
            "{short}"
        );
        assert!(short.contains("to be longer"), "{short}");
        assert!(long.contains("no lower rate is known to be carried"), "{long}");
        assert!(
            long.contains("Of 1 of 2 offered rates") && !long.contains("some deliver"),
            "{long}"
        );
    }

    /// Of M/D/1 with a service time of 1 µs.
    #[test]
    fn a_knee_or_its_lack_is_told_with_the_reason() {
        let row = |tenth: usize, times: f64| LoadPoint {
            offered_per_s: tenth as f64 * 1e5,
            achieved_per_s: tenth as f64 * 1e5,
            achieved_upper_per_s: None,
            messages: 10_000,
            response_ns: 1000.0 * times,
            response_p99_ns: None,
        };
        let queue = |tenth: usize| 1.0 + tenth as f64 / (20.0 - 2.0 * tenth as f64);
        let rows =
            |last, law: &dyn Fn(usize) -> f64| (1..=last).map(|at| row(at, law(at))).collect::<Vec<_>>();
        for (rows, said) in [
            (rows(9, &queue), "Knee at 0.6 M: beyond"),
            (rows(4, &queue), "needs 5 rates that are carried, and has 4."),
            (rows(9, &|_| 1.0), "No knee: response time does not rise"),
            (
                rows(9, &|at| queue(at) * [1.0, 3.0][at % 2]),
                "off the curve of a queue by",
            ),
            (rows(5, &queue), "No knee among the rates"),
        ] {
            let words = knee_words(&rows, &|rate| format!("{:.1} M", rate / 1e6));
            assert!(words.contains(said), "{words}");
        }
    }

    #[test]
    fn what_has_no_result_is_said_and_no_rate_of_nothing() {
        let row = |offered_per_s: f64| LoadPoint {
            offered_per_s,
            achieved_per_s: offered_per_s,
            achieved_upper_per_s: None,
            messages: 1000,
            response_ns: 1000.0,
            response_p99_ns: None,
        };
        let rows = [row(1000.0), row(2000.0)];
        let said = |missing| load_words(&LoadSection::default(), &rows, (missing, 0)).join(" ");
        assert!(said(0).contains("All 2 offered rates are carried"), "{}", said(0));
        assert!(
            said(0).starts_with("What the path carries is not known"),
            "{}",
            said(0)
        );
        assert!(said(1).contains("1 offered rate has no result."), "{}", said(1));
        assert!(!said(2).contains("All "), "{}", said(2));
        // What the run did not reach is said of the run, and is no rate that is carried.
        let cut = load_words(&LoadSection::default(), &rows, (2, 2)).join(" ");
        assert!(!cut.contains("no result") && !cut.contains("All "), "{cut}");
    }

    proptest! {
        /// Each sentence is held against the rows by nothing but looking at them.
        #[test]
        fn no_row_contradicts_a_sentence(rows in any_rows()) {
            let section = LoadSection {
                p99_max_ns: Finite::maybe(BOUND_NS),
                ..LoadSection::default()
            };
            let words = load_words(&section, &rows, (0, 0));
            let is_carried = |row: &LoadPoint| row.achieved_per_s >= 0.99 * row.offered_per_s;
            let is_saturated = |row: &LoadPoint| {
                row.achieved_upper_per_s.unwrap_or(0.0).max(row.achieved_per_s) < 0.99 * row.offered_per_s
            };
            let untold = rows.iter().filter(|row| !is_carried(row) && !is_saturated(row)).count();
            let rates = counted(rows.len() as u64, "offered rate");
            let told = format!("Of {untold} of {rates} the runs cannot tell");
            prop_assert_eq!(untold > 0, words.iter().any(|text| text.starts_with(&told)), "{:?}: {:?}", words, rows);
            let keeps = |row: &LoadPoint| !is_saturated(row) && row.response_p99_ns.is_some_and(|p99| p99 <= BOUND_NS);
            let breaks = |row: &LoadPoint| is_saturated(row) || row.response_p99_ns.is_some_and(|p99| p99 > BOUND_NS);
            let is_within = |row: &LoadPoint| row.response_p99_ns.is_some_and(|p99| p99 <= BOUND_NS);
            let named = |text: &str, before: &str| -> Option<usize> {
                let rest = &text[text.find(before)? + before.len()..];
                rows.iter().position(|row| rest.starts_with(&rate(row)))
            };
            for text in &words {
                if text.starts_with("All ") {
                    prop_assert!(rows.iter().all(is_carried), "{text}: {rows:?}");
                }
                if text.starts_with("Offered rates") {
                    let upto = named(text, "up to ").unwrap();
                    let at = named(text, "; at ").unwrap_or(rows.len());
                    prop_assert!(is_carried(&rows[upto]) && !rows[..=upto].iter().any(is_saturated), "{text}: {rows:?}");
                    prop_assert!(at > upto && rows.get(at).is_none_or(is_saturated), "{text}: {rows:?}");
                    let again = rows[at..].iter().filter(|row| is_carried(row)).count();
                    prop_assert_eq!(again > 0, text.contains("of the higher rates"), "{}: {:?}", text, rows);
                }
                if text.starts_with("At ") {
                    let at = named(text, "At ").unwrap();
                    prop_assert!(is_saturated(&rows[at]) && !rows[..at].iter().any(is_carried), "{text}: {rows:?}");
                }
                if text.contains("at every one of") {
                    prop_assert!(!rows.iter().any(breaks), "{text}: {rows:?}");
                    let known = rows.iter().filter(|row| keeps(row)).count();
                    prop_assert!(text.contains(&format!("every one of {known} rates")), "{text}: {rows:?}");
                }
                if text.starts_with("p99 stays within") && text.contains("up to") {
                    let upto = named(text, "up to ").unwrap();
                    prop_assert!(keeps(&rows[upto]) && !rows[..=upto].iter().any(breaks), "{text}: {rows:?}");
                }
                if text.contains("it does not") {
                    let row = &rows[named(text, "; at ").unwrap()];
                    prop_assert!(breaks(row) && !is_within(row), "{text}: {rows:?}");
                }
                if text.contains("a queue grows") {
                    let row = &rows[named(text, "; at ").unwrap()];
                    prop_assert!(is_saturated(row) && is_within(row), "{text}: {rows:?}");
                }
                if text.starts_with("p99 does not stay") {
                    let at = named(text, "even at ").unwrap();
                    prop_assert!(breaks(&rows[at]) && !rows[..at].iter().any(keeps), "{text}: {rows:?}");
                    prop_assert!(!is_within(&rows[at]), "{text}: {rows:?}");
                }
                if text.starts_with("Whatever p99") {
                    let at = named(text, "even at ").unwrap();
                    prop_assert!(is_saturated(&rows[at]) && is_within(&rows[at]), "{text}: {rows:?}");
                }
            }
            let all = !rows.is_empty() && rows.iter().all(is_carried);
            let is_all = |text: &String| text.starts_with("All ") || text.starts_with("The only offered");
            prop_assert_eq!(all, words.iter().any(is_all), "{:?}: {:?}", words, rows);
            let unknown = rows.iter().filter(|row| !keeps(row) && !breaks(row)).count();
            prop_assert_eq!(unknown > 0 || rows.is_empty(), words.iter().any(|text| text.contains("is not known at")));
        }
    }
}
