//! A result read aloud: a few sentences from rules, each with the figures that it rests on.
//!
//! A rule that lacks one of its figures says nothing; no sentence comes without numbers.

mod mesh;
mod pairs;

use crate::assemble::{busy_shares, sleeps};
use crate::charts::pictures;
use crate::curve::section::{LoadSection, load_missing, load_rows, offered_per_s};
use crate::curve::{InUse, load_words};
use crate::figures::figure_text;
use crate::interference::words::{answers_with_rows, load_subject};
use crate::interference::{Interference, InterferenceRow, undisturbed};
use crate::labels::Input;
use crate::names::{Names, Parameters};
use crate::standings::{ends, is_close};
use crate::thresholds::{
    BUSY_SHARE, CARRIED_SHARE_MIN, FALLEN_SHARE, FIRST_OPERATION_TIMES, FLOOR_SHARE_MAX, QUEUED_TIMES,
    TAIL_TIMES, WORTH_RATIO,
};
use crate::wording::{counted, often, percent_at_least, times};
use serde::Serialize;
use wirespeed_schema::Run;
use wirespeed_schema::byteio::ByteioSection;
use wirespeed_schema::host::Floor;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_ns, format_rate, format_size, significant};

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

/// What cases of one curve over size may differ in: what follows from the size where nobody says it, too.
const BUT_SIZE: [&str; 7] = [
    "size",
    "window",
    "layout",
    "iterations",
    "duration",
    "warmup",
    "arm",
];
/// Sentences of one rule at most.
const EACH_MAX: usize = 4;

/// The measured cases of a run, and what sentences call them.
struct Cases<'a> {
    all: Vec<&'a CaseResult>,
    names: Names<'a>,
}

/// Sentences that a run and its measured cases call for.
type Rule = fn(&Run, &Cases) -> Vec<Sentence>;

/// What the rules say of a run, the most telling first. Empty where none applies.
pub fn explain(run: &Run) -> Vec<Sentence> {
    let all: Vec<&CaseResult> = run
        .cases
        .iter()
        .filter(|case| !case.metrics.is_empty() && case.case.transport != Floor::TRANSPORT)
        .collect();
    let names = Names::among(all.iter().copied());
    let cases = Cases { all, names };
    let mut sentences = Vec::new();
    let rules: [Rule; 12] = [
        mesh::mesh,
        bulk,
        loads,
        pairs::waiting,
        pairs::encrypted,
        transports,
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
    case.figure(tag).filter(|value| *value > 0.0)
}

fn cite(case: &CaseResult, tag: &str) -> String {
    let value = figure(case, tag).map_or("none".to_owned(), |value| figure_text(tag, value));
    let options = case.case.options_text();
    format!("{}{options} {tag} {value}", case.case.label())
}

/// What each load did to each case.
fn loads(run: &Run, _: &Cases) -> Vec<Sentence> {
    let Some(found) = run.sections.get::<Interference>() else {
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
fn bulk(run: &Run, cases: &Cases) -> Vec<Sentence> {
    let section = run.sections.get::<ByteioSection>().unwrap_or_default();
    let with_verdict = section
        .pairs
        .iter()
        .filter_map(|pair| Some((pair, pair.verdict.as_ref()?)));
    with_verdict
        .map(|(pair, verdict)| {
            let own = cases.all.iter().filter(|case| {
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

/// What the step from each transport to the next costs: at the same test, else at one with messages of the same size.
fn transports(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let mut first = None;
    let mut steps: Vec<&CaseResult> = Vec::new();
    // MPI has no active messages: its round trip is another test.
    for is_same in [true, false] {
        for case in &cases.all {
            if figure(case, "rtt_p50_ns").is_none() {
                continue;
            }
            let test = &case.case.test;
            let first = *first.get_or_insert(test);
            let is_alike = (test == first) == is_same && test.size_bytes() == first.size_bytes();
            let is_known = |known: &&CaseResult| known.case.transport == case.case.transport;
            if is_alike && !steps.iter().any(is_known) {
                steps.push(case);
            }
        }
    }
    let are_alike = steps.iter().all(|case| case.case.test == steps[0].case.test);
    let value = |case: &CaseResult| figure(case, "rtt_p50_ns").unwrap_or(f64::INFINITY);
    steps.order_by(|a, b| value(a).total_cmp(&value(b)));
    let pairs = steps
        .windows(2)
        .filter(|pair| value(pair[1]) > WORTH_RATIO * value(pair[0]));
    let name = |case: &CaseResult| match are_alike {
        true => case.case.transport.clone(),
        false => format!("{} ({})", case.case.transport, case.case.test.name()),
    };
    pairs
        .map(|pair| Sentence {
            rule: "transports",
            text: format!(
                "A round trip over {} costs {} more than over {}, {} as much.",
                name(pair[1]),
                format_ns(value(pair[1]) - value(pair[0])),
                name(pair[0]),
                times(value(pair[1]) / value(pair[0]))
            ),
            evidence: vec![cite(pair[0], "rtt_p50_ns"), cite(pair[1], "rtt_p50_ns")],
        })
        .collect()
}

/// Whether a stream is held back by its window or by what carries it: its window is full in every run, and the time to an
/// acknowledgement tells whether messages wait.
fn window(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let mut found = Vec::new();
    for case in cases.all.iter().filter(|case| !meets_its_pace(case)) {
        let window = case.case.test.window();
        let (Some(used), Some(ack)) = (InUse::of(case), figure(case, "ack_mean_ns")) else {
            continue;
        };
        let unloaded = cases
            .all
            .iter()
            .filter(|other| other.case.transport == case.case.transport)
            // A longer message takes longer by itself.
            .filter(|other| other.case.test.size_bytes() == case.case.test.size_bytes());
        let Some(round_trip) = unloaded
            .filter_map(|other| figure(other, "rtt_p50_ns"))
            .reduce(f64::min)
            .filter(|_| used.is_full())
        else {
            continue;
        };
        let full = format!(
            "{} with a window of {window}: at least {} of the window is in flight in every run",
            cases.names.of(case),
            percent_at_least(used.least)
        );
        let waits = times(ack / round_trip);
        let text = match ack > QUEUED_TIMES * round_trip {
            false => format!(
                "{full}, and an acknowledgement takes {waits} an unloaded round trip: the window holds it back, a larger one \
                 would carry more."
            ),
            true => format!(
                "{full}, and an acknowledgement takes {waits} an unloaded round trip: messages wait, so what carries them is \
                 the limit, not the window."
            ),
        };
        let evidence = vec![
            format!(
                "{} in_flight_mean_msgs / window {}",
                cases.names.of(case),
                significant(used.median, 3)
            ),
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

/// A stream at a fixed rate that carries it: it has no limit to name.
fn meets_its_pace(case: &CaseResult) -> bool {
    offered_per_s(case).is_some_and(|pace| {
        figure(case, "rate_msg_per_s").is_some_and(|rate| rate >= CARRIED_SHARE_MIN * pace)
    })
}

/// An end whose CPU works all the time. Where the ends poll, the CPU is busy whatever the limit is, on either side of the
/// kernel's edge: then nothing is said.
fn processor(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let mut found = Vec::new();
    let streams = cases
        .all
        .iter()
        .filter(|case| figure(case, "rate_msg_per_s").is_some());
    for case in streams.filter(|case| sleeps(case) && !meets_its_pace(case)) {
        let least = busy_shares(case)
            .into_iter()
            .map(|(rank, (least, _))| (rank, least));
        let busiest = least.max_by(|a, b| a.1.total_cmp(&b.1));
        let (Some((rank, busy)), Some(each)) = (
            busiest.filter(|(_, busy)| *busy >= BUSY_SHARE),
            figure(case, "cpu_ns_per_message"),
        ) else {
            continue;
        };
        found.push(Sentence {
            rule: "processor",
            text: format!(
                "{}: rank {rank}, which sleeps while it waits, works at least {} of the time in every run: its CPU is the \
                 limit; a message takes {} of CPU time at all ends together.",
                cases.names.of(case),
                percent_at_least(busy),
                format_ns(each)
            ),
            evidence: vec![cite(case, "cpu_ns_per_message"), cite(case, "rate_msg_per_s")],
        });
    }
    found
}

/// A far tail beside what disturbed the ranks.
fn tail(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let mut found = Vec::new();
    for case in &cases.all {
        let families = ["rtt", "completion", "response"];
        let tagged = families.iter().find_map(|family| {
            let (p50, p99) = (format!("{family}_p50_ns"), format!("{family}_p99_ns"));
            Some((figure(case, &p50)?, figure(case, &p99)?, p50, p99))
        });
        let Some((half, far, p50, p99)) = tagged.filter(|(half, far, ..)| *far > TAIL_TIMES * half) else {
            continue;
        };
        let most = |what: fn(&Outcome) -> Option<u64>| case.outcomes().filter_map(what).max().unwrap_or(0);
        let waited = most(|outcome| outcome.cpu_taken().and(outcome.disturbance.run_queue_wait_ns));
        let switches = most(Outcome::cpu_taken);
        if waited == 0 && switches == 0 {
            continue;
        }
        found.push(Sentence {
            rule: "tail",
            text: format!(
                "{}: p99 is {} the median; a rank lost its CPU {} and waited {} for it, so the tail tells of the \
                 machine as much as of the transport.",
                cases.names.of(case),
                times(far / half),
                often(switches),
                format_ns(waited as f64)
            ),
            evidence: vec![cite(case, &p50), cite(case, &p99)],
        });
    }
    found
}

/// What the very first operation costs.
fn first_touch(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let with = cases.all.iter().filter_map(|case| {
        let (first, half) = (figure(case, "first_operation_ns")?, figure(case, "rtt_p50_ns")?);
        (first > FIRST_OPERATION_TIMES * half).then_some((*case, first, half))
    });
    let worst = with.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    let sentence = worst.map(|(case, first, half)| Sentence {
        rule: "first_touch",
        text: format!(
            "{}: the first operation takes {}, {} the median: connection, first touch of memory and cold caches. A run of \
             few operations is slower for that alone.",
            cases.names.of(case),
            format_ns(first),
            times(first / half)
        ),
        evidence: vec![cite(case, "first_operation_ns"), cite(case, "rtt_p50_ns")],
    });
    sentence.into_iter().collect()
}

/// How much of the fastest figure is the harness itself.
fn floor(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let with = cases.all.iter().filter_map(|case| {
        let floor = case
            .outcomes()
            .filter_map(|outcome| outcome.floor.as_ref())
            .map(|floor| floor.loop_ns.get())
            .reduce(f64::max)?;
        let half = figure(case, "rtt_p50_ns")?;
        Some((*case, floor, half))
    });
    let worst = with.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    let sentence = worst.filter(|(_, floor, half)| *floor > FLOOR_SHARE_MAX * half).map(|(case, floor, half)| Sentence {
        rule: "floor",
        text: format!(
            "{}: of the {} of the median the loop, the clock and the recording themselves take {}, {} as long; nothing is \
             subtracted.",
            cases.names.of(case),
            format_ns(half),
            format_ns(floor),
            times(floor / half)
        ),
        evidence: vec![cite(case, "rtt_p50_ns"), format!("floor.loop_ns {}", format_ns(floor))],
    });
    sentence.into_iter().collect()
}

/// What sweeps and load curves say, and where a cache ends.
fn curves(run: &Run, cases: &Cases) -> Vec<Sentence> {
    let mut found = Vec::new();
    if let Some(section) = run.sections.get::<LoadSection>() {
        let shown = undisturbed(run);
        let rows = load_rows(&shown);
        let most = format_rate(section.most_msg_per_s.get(), section.offers.unit());
        // One is about no rate, the others about what was offered.
        let alone = format!("The path carries {most}");
        let words = load_words(&section, &rows, load_missing(&shown)).into_iter();
        found.extend(words.map(|text| Sentence {
            rule: "load",
            evidence: vec![match text.starts_with(&alone) {
                true => format!("load.most_msg_per_s {most}"),
                false => counted(rows.len() as u64, "offered rate"),
            }],
            text,
        }));
    }
    for picture in pictures(&[Input { name: "run", run }]) {
        let points = picture.table.rows.len();
        // A load curve has no table of its own: its words are those of the rule above.
        if picture.is_curve && points > 0 {
            let evidence = vec![format!("{points} points of {}", picture.chart.subject())];
            let words = picture.answer.into_iter().chain(picture.words);
            let sentences = words.map(|text| Sentence {
                rule: "curve",
                text,
                evidence: evidence.clone(),
            });
            found.extend(sentences);
        }
    }
    found.extend(cache(run, cases));
    found
}

/// Where copies no longer fit the largest cache.
fn cache(run: &Run, cases: &Cases) -> Option<Sentence> {
    let best = cases
        .all
        .iter()
        .filter_map(|case| Some((*case, figure(case, "bandwidth_bytes_per_s")?)));
    let best: Vec<(&CaseResult, f64)> = best.collect();
    let (peak, most) = best.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let size = |case: &CaseResult| case.case.test.size_bytes();
    let cache = run
        .host
        .cache_largest_bytes
        .filter(|cache| size(peak) <= *cache)?;
    // Cases that differ in more than their size tell nothing of it. Of several windows or layouts the best stands for a size.
    let but_size = |case: &CaseResult| Parameters::of(case).without(&BUT_SIZE);
    let curve: Vec<&(&CaseResult, f64)> = best
        .iter()
        .filter(|(case, _)| but_size(case) == but_size(peak))
        .collect();
    let interval = |case: &CaseResult| case.metrics.get("bandwidth_bytes_per_s").and_then(ends);
    let is_best = |(case, value): &(&CaseResult, f64)| {
        let mut others = curve.iter().filter(|(other, _)| size(other) == size(case));
        others.all(|(_, other)| other <= value)
    };
    let fallen = curve
        .iter()
        .filter(|point| size(point.0) > cache && point.1 < FALLEN_SHARE * most && is_best(point))
        .filter(|point| !is_close(interval(point.0), interval(peak)));
    let (case, value) = fallen.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Sentence {
        rule: "cache",
        text: format!(
            "{}: behind the largest cache ({}) bandwidth falls to {} of the best: copies then go through memory.",
            cases.names.of(case),
            format_size(cache),
            figure_text("_ratio", value / most)
        ),
        evidence: vec![
            cite(peak, "bandwidth_bytes_per_s"),
            cite(case, "bandwidth_bytes_per_s"),
        ],
    })
}
