//! A result read aloud: a few sentences from rules, each with the figures that it rests on.
//!
//! A rule that lacks one of its figures says nothing; no sentence comes without numbers.

mod pairs;

use crate::curve::section::LoadSection;
use crate::html::{Input, pictures};
use crate::interference::{Interference, InterferenceRow};
use crate::render::{answers_with_rows, figure_text, load_subject, load_words};
use serde::Serialize;
use wirespeed_schema::Run;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_ns, format_size, significant};

/// One sentence and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// Stable name of the rule.
    pub rule: &'static str,
    /// For people.
    pub text: String,
    /// The figures: case, tag and value.
    pub evidence: Vec<String>,
}

/// A share of a CPU from which a rank is called busy.
const BUSY_SHARE: f64 = 0.95;
/// A waiting mode or a road that costs less than this more is not worth a sentence.
const WORTH_RATIO: f64 = 1.3;
/// Sentences of one rule at most.
const EACH_MAX: usize = 4;

/// Sentences that a run and its measured cases call for.
type Rule = fn(&Run, &[&CaseResult]) -> Vec<Sentence>;

/// What the rules say of a run, the most telling first. Empty where none applies.
pub fn explain(run: &Run) -> Vec<Sentence> {
    let cases: Vec<&CaseResult> = run
        .cases
        .iter()
        .filter(|case| !case.metrics.is_empty() && case.case.transport != "null")
        .collect();
    let mut sentences = Vec::new();
    let rules: [Rule; 11] = [
        bulk,
        loads,
        pairs::waiting,
        pairs::encrypted,
        roads,
        window,
        processor,
        tail,
        first_touch,
        floor,
        curves,
    ];
    for rule in rules {
        sentences.extend(rule(run, &cases).into_iter().take(EACH_MAX));
    }
    sentences
}

fn figure(case: &CaseResult, tag: &str) -> Option<f64> {
    case.metrics
        .get(tag)
        .map(|metric| metric.value.get())
        .filter(|value| *value > 0.0)
}

fn cite(case: &CaseResult, tag: &str) -> String {
    let value = figure(case, tag).map_or("none".to_owned(), |value| figure_text(tag, value));
    let options: String = case
        .case
        .options
        .iter()
        .map(|(name, value)| format!(" {name}={value}"))
        .collect();
    format!("{}{options} {tag} {value}", case.case.label())
}

fn times(ratio: f64) -> String {
    format!("{} times", significant(ratio, 2))
}

/// What each load did to each case.
fn loads(run: &Run, _: &[&CaseResult]) -> Vec<Sentence> {
    let Some(found) = Interference::of(run) else {
        return Vec::new();
    };
    let cite = |one: &InterferenceRow| {
        let (a, b) = (one.row.a.get(), one.row.b.get());
        let [off, on] = [a, b].map(|value| figure_text(&one.row.tag, value));
        format!("{} {} {on} against {off}", load_subject(one), one.row.tag)
    };
    let sentences = answers_with_rows(&found)
        .into_iter()
        .map(|(text, rows)| Sentence {
            rule: "interference",
            evidence: rows.into_iter().map(cite).collect(),
            text,
        });
    sentences.collect()
}

/// The verdict on each pair of machines.
fn bulk(run: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let section = crate::byteio::section(run).unwrap_or_default();
    let with_verdict = section
        .pairs
        .iter()
        .filter_map(|pair| Some((pair, pair.verdict.as_ref()?)));
    with_verdict
        .map(|(pair, verdict)| {
            let own = cases.iter().filter(|case| {
                case.case.transport.strip_prefix("byteio-") == Some(pair.mechanism.as_str())
                    && case.case.test.bulk().is_some_and(|bulk| {
                        (bulk.connections, bulk.outstanding_ops, bulk.size_bytes)
                            == (pair.threads, pair.depth_ops, pair.block_bytes)
                    })
            });
            Sentence {
                rule: "bulk",
                text: format!("{}: {}.", pair.name, verdict.text),
                evidence: own
                    .take(1)
                    .map(|case| cite(case, "bandwidth_bytes_per_s"))
                    .collect(),
            }
        })
        .collect()
}

/// What the step from each road to the next costs, at the same test.
fn roads(_: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let mut steps: Vec<&CaseResult> = Vec::new();
    for case in cases.iter().filter(|case| figure(case, "rtt_p50_ns").is_some()) {
        let first = steps
            .first()
            .is_none_or(|first| first.case.test == case.case.test);
        if first
            && steps
                .iter()
                .all(|known| known.case.transport != case.case.transport)
        {
            steps.push(case);
        }
    }
    let value = |case: &CaseResult| figure(case, "rtt_p50_ns").unwrap_or(f64::INFINITY);
    steps.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let pairs = steps
        .windows(2)
        .filter(|pair| value(pair[1]) > WORTH_RATIO * value(pair[0]));
    pairs
        .map(|pair| Sentence {
            rule: "roads",
            text: format!(
                "A round trip over {} costs {} more than over {}, {} as much.",
                pair[1].case.transport,
                format_ns(value(pair[1]) - value(pair[0])),
                pair[0].case.transport,
                times(value(pair[1]) / value(pair[0]))
            ),
            evidence: vec![cite(pair[0], "rtt_p50_ns"), cite(pair[1], "rtt_p50_ns")],
        })
        .collect()
}

/// Whether a stream is held back by its window or by what carries it.
fn window(_: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let mut found = Vec::new();
    for case in cases {
        let window = case.case.test.window() as f64;
        let (Some(rate), Some(ack)) = (figure(case, "rate_msg_per_s"), figure(case, "ack_mean_ns")) else {
            continue;
        };
        let unloaded = cases
            .iter()
            .filter(|other| other.case.transport == case.case.transport);
        let Some(round_trip) = unloaded
            .filter_map(|other| figure(other, "rtt_p50_ns"))
            .reduce(f64::min)
        else {
            continue;
        };
        let possible = window * 1e9 / round_trip;
        let used = rate * ack / 1e9 / window;
        let text = if rate >= 0.5 * possible {
            format!(
                "{} with a window of {window}: the window holds it back: {} are at most window / round trip = {}.",
                case.case.label(),
                figure_text("rate_msg_per_s", rate),
                figure_text("rate_msg_per_s", possible)
            )
        } else if used > 0.5 {
            format!(
                "{} with a window of {window}: the window is full ({} of it in flight), yet messages wait {} as long as a \
                 round trip takes unloaded: what carries them is the limit, not the window.",
                case.case.label(),
                figure_text("_ratio", used),
                times(ack / round_trip)
            )
        } else {
            continue;
        };
        let evidence = vec![
            cite(case, "rate_msg_per_s"),
            cite(case, "ack_mean_ns"),
            format!("unloaded rtt_p50_ns {}", format_ns(round_trip)),
        ];
        found.push(Sentence {
            rule: "window",
            text,
            evidence,
        });
    }
    found
}

fn outcomes(case: &CaseResult) -> impl Iterator<Item = &Outcome> {
    case.repetitions
        .iter()
        .flat_map(|repetition| &repetition.outcomes)
}

/// An end whose CPU is busy all the time while the other one waits.
fn processor(_: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let mut found = Vec::new();
    for case in cases
        .iter()
        .filter(|case| figure(case, "rate_msg_per_s").is_some())
    {
        let kernel = |outcome: &Outcome| {
            let (user, system) = (
                outcome.disturbance.user_ns as f64,
                outcome.disturbance.system_ns as f64,
            );
            (user + system, system / (user + system).max(1.0))
        };
        // A rank that spins is always busy; time in the kernel is work.
        let busiest = outcomes(case)
            .filter(|outcome| outcome.elapsed_ns > 0)
            .map(|outcome| (outcome, kernel(outcome)))
            .filter(|(outcome, (cpu, kernel))| {
                *cpu >= BUSY_SHARE * outcome.elapsed_ns as f64 && *kernel > 0.5
            })
            .max_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let (Some((outcome, (cpu, kernel))), Some(each)) = (busiest, figure(case, "cpu_ns_per_message"))
        else {
            continue;
        };
        found.push(Sentence {
            rule: "processor",
            text: format!(
                "{}: rank {} is busy {} of the time, {} of that in the kernel: its CPU is the limit, at {} a message.",
                case.case.label(),
                outcome.rank,
                figure_text("_ratio", (cpu / outcome.elapsed_ns as f64).min(1.0)),
                figure_text("_ratio", kernel),
                format_ns(each)
            ),
            evidence: vec![cite(case, "cpu_ns_per_message"), cite(case, "rate_msg_per_s")],
        });
    }
    found
}

/// A far tail beside what disturbed the ranks.
fn tail(_: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let mut found = Vec::new();
    for case in cases {
        let families = ["rtt", "completion", "response"];
        let tagged = families.iter().find_map(|family| {
            let (p50, p99) = (format!("{family}_p50_ns"), format!("{family}_p99_ns"));
            Some((figure(case, &p50)?, figure(case, &p99)?, p50, p99))
        });
        let Some((half, far, p50, p99)) = tagged.filter(|(half, far, ..)| *far > 5.0 * half) else {
            continue;
        };
        let sum = |what: fn(&Outcome) -> u64| outcomes(case).map(what).max().unwrap_or(0);
        let waited = sum(|outcome| outcome.disturbance.run_queue_wait_ns.unwrap_or(0));
        let switches = sum(|outcome| outcome.disturbance.involuntary_switches);
        if waited == 0 && switches == 0 {
            continue;
        }
        found.push(Sentence {
            rule: "tail",
            text: format!(
                "{}: p99 is {} the median; a rank lost its CPU {switches} times and waited {} for it, so the tail tells of the \
                 machine as much as of the road.",
                case.case.label(),
                times(far / half),
                format_ns(waited as f64)
            ),
            evidence: vec![cite(case, &p50), cite(case, &p99)],
        });
    }
    found
}

/// What the very first operation costs.
fn first_touch(_: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let with = cases.iter().filter_map(|case| {
        let (first, half) = (figure(case, "first_operation_ns")?, figure(case, "rtt_p50_ns")?);
        (first > 20.0 * half).then_some((*case, first, half))
    });
    let worst = with.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    let sentence = worst.map(|(case, first, half)| Sentence {
        rule: "first_touch",
        text: format!(
            "{}: the first operation takes {}, {} the median: connection, first touch of memory and cold caches. A run of \
             few operations is slower for that alone.",
            case.case.label(),
            format_ns(first),
            times(first / half)
        ),
        evidence: vec![cite(case, "first_operation_ns"), cite(case, "rtt_p50_ns")],
    });
    sentence.into_iter().collect()
}

/// How much of the fastest figure is the harness itself.
fn floor(_: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let with = cases.iter().filter_map(|case| {
        let floor = outcomes(case)
            .filter_map(|outcome| outcome.floor.as_ref())
            .map(|floor| floor.loop_ns.get())
            .reduce(f64::max)?;
        let half = figure(case, "rtt_p50_ns")?;
        Some((*case, floor, half))
    });
    let worst = with.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    let sentence = worst.filter(|(_, floor, half)| *floor > 0.05 * half).map(|(case, floor, half)| Sentence {
        rule: "floor",
        text: format!(
            "{}: {} of the {} are the loop, the clock and the recording themselves ({}); nothing is subtracted.",
            case.case.label(),
            format_ns(floor),
            format_ns(half),
            figure_text("_ratio", floor / half)
        ),
        evidence: vec![cite(case, "rtt_p50_ns"), format!("floor.loop_ns {}", format_ns(floor))],
    });
    sentence.into_iter().collect()
}

/// What sweeps and load curves say, and where a cache ends.
fn curves(run: &Run, cases: &[&CaseResult]) -> Vec<Sentence> {
    let mut found = Vec::new();
    if let Some(section) = LoadSection::of(run) {
        let evidence = vec![format!(
            "load.most_msg_per_s {}",
            figure_text("rate_msg_per_s", section.most_msg_per_s.get())
        )];
        found.extend(load_words(&section).into_iter().map(|text| Sentence {
            rule: "load",
            text,
            evidence: evidence.clone(),
        }));
    }
    for picture in pictures(&[Input { name: "run", run }]) {
        let title = &picture.chart.title;
        if ["against message size", "against window"]
            .iter()
            .any(|part| title.contains(part))
        {
            let evidence = vec![format!("{} points of {title}", picture.rows.len())];
            let sentences = picture.words.into_iter().map(|text| Sentence {
                rule: "curve",
                text,
                evidence: evidence.clone(),
            });
            found.extend(sentences);
        }
    }
    let best = cases
        .iter()
        .filter_map(|case| Some((*case, figure(case, "bandwidth_bytes_per_s")?)));
    let best: Vec<(&CaseResult, f64)> = best.collect();
    let most = best.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    if let (Some(cache), Some((peak, most))) = (run.host.cache_largest_bytes, most) {
        let beyond = best.iter().filter(|(case, value)| {
            case.case.transport == peak.case.transport
                && case.case.test.size_bytes() > cache
                && *value < 0.8 * most
        });
        if let Some((case, value)) = beyond.min_by(|a, b| a.1.total_cmp(&b.1)) {
            found.push(Sentence {
                rule: "cache",
                text: format!(
                    "{}: behind the largest cache ({}) bandwidth falls to {} of the best: copies then go through memory.",
                    case.case.label(),
                    format_size(cache),
                    figure_text("_ratio", value / most)
                ),
                evidence: vec![cite(peak, "bandwidth_bytes_per_s"), cite(case, "bandwidth_bytes_per_s")],
            });
        }
    }
    found
}
