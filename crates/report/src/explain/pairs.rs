//! Sentences on two cases that differ in one option of the transport: what a way of waiting costs, and what a cipher does.

use super::{Cases, Sentence, cite, figure};
use crate::assemble::way_of_waiting;
use crate::figures::figure_text;
use crate::thresholds::WORTH_RATIO;
use crate::wording::times;
use wirespeed_schema::Run;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_ns;

/// Pairs of cases that are the same but for the option `name`.
fn pairs<'a>(cases: &[&'a CaseResult], name: &str) -> Vec<(&'a CaseResult, &'a CaseResult)> {
    let others = |case: &CaseResult| {
        let mut options = case.case.options.clone();
        options.remove(name);
        options
    };
    let same = |a: &CaseResult, b: &CaseResult| {
        a.case.transport == b.case.transport && a.case.test == b.case.test && others(a) == others(b)
    };
    let mut found = Vec::new();
    for (number, &a) in cases.iter().enumerate() {
        let later = cases[number + 1..].iter().filter(|b| same(a, b));
        found.extend(later.map(|&b| (a, b)));
    }
    found
}

/// The option `name` of a case, or what it is when not given.
fn option<'a>(case: &'a CaseResult, name: &str, default: &'a str) -> &'a str {
    case.case.options.get(name).map_or(default, String::as_str)
}

/// The same case with two ways to wait.
pub(super) fn waiting(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let mode = |case| way_of_waiting(case).unwrap_or("poll");
    let mut found = Vec::new();
    for (a, b) in pairs(&cases.all, "wait") {
        let (Some(of_a), Some(of_b)) = (figure(a, "rtt_p50_ns"), figure(b, "rtt_p50_ns")) else {
            continue;
        };
        let (fast, slow, ratio) = if of_a <= of_b {
            (a, b, of_b / of_a)
        } else {
            (b, a, of_a / of_b)
        };
        if mode(a) == mode(b) || ratio < WORTH_RATIO {
            continue;
        }
        found.push(Sentence {
            rule: "waiting",
            text: format!(
                "{}: waiting with {} takes {} as long as with {}: {} of each round trip are wake-ups.",
                fast.case.label(),
                mode(slow),
                times(ratio),
                mode(fast),
                format_ns((of_a - of_b).abs())
            ),
            evidence: vec![cite(fast, "rtt_p50_ns"), cite(slow, "rtt_p50_ns")],
        });
    }
    found
}

/// The same case in the clear and encrypted, also where they hardly differ: that is an answer too.
pub(super) fn encrypted(_: &Run, cases: &Cases) -> Vec<Sentence> {
    let cipher = |case| option(case, "encrypt", "off");
    let mut found = Vec::new();
    for (a, b) in pairs(&cases.all, "encrypt") {
        let (clear, sealed) = match (cipher(a), cipher(b)) {
            ("off", other) if other != "off" => (a, b),
            (other, "off") if other != "off" => (b, a),
            _ => continue,
        };
        let tags = ["rtt_p50_ns", "bandwidth_bytes_per_s"];
        for tag in tags {
            let (Some(before), Some(after)) = (figure(clear, tag), figure(sealed, tag)) else {
                continue;
            };
            let what = match tag {
                "rtt_p50_ns" => "a round trip",
                _ => "its bandwidth",
            };
            found.push(Sentence {
                rule: "encryption",
                text: format!(
                    "{}: encrypted with {}, {what} is {} against {} in the clear, {} as much.",
                    clear.case.label(),
                    cipher(sealed),
                    figure_text(tag, after),
                    figure_text(tag, before),
                    times(after / before)
                ),
                evidence: vec![cite(clear, tag), cite(sealed, tag)],
            });
        }
    }
    found
}
