//! A comparison for machines that gate changes: JUnit XML, and annotations of GitHub's workflows.
//!
//! Text from results is escaped here; it must never become markup or a workflow command.

use crate::compare::words::disturbance;
use crate::compare::{Comparison, Row, Verdict};
use crate::figures::figure_text;
use wirespeed_schema::shown::is_obeyed;
use wirespeed_schema::units::significant;

/// JUnit: a test case a figure; slower is a failure, inconclusive a failure of its own type unless that is allowed.
pub fn junit(comparison: &Comparison, allow_inconclusive: bool) -> String {
    let failed = |verdict: Verdict| {
        verdict == Verdict::Slower || (verdict == Verdict::Inconclusive && !allow_inconclusive)
    };
    let skipped = |verdict: Verdict| verdict == Verdict::Inconclusive && allow_inconclusive;
    let count = |which: &dyn Fn(Verdict) -> bool| comparison.verdicts().filter(|one| which(*one)).count();
    let missing: Vec<(&str, String)> = missing(comparison).collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str(&format!(
        "<testsuites><testsuite name=\"wirespeed\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
        comparison.rows.len() + comparison.unjudged.len() + comparison.noughts.len() + missing.len(),
        count(&failed),
        count(&skipped) + missing.len()
    ));
    let rows = comparison.rows.iter();
    let rows = rows.map(|row| (&row.label, &row.tag, row.verdict, said(row)));
    let others = comparison.unjudged.iter().chain(&comparison.noughts);
    let others = others.map(|one| (&one.label, &one.tag, one.verdict, one.why.clone()));
    for (label, tag, verdict, said) in rows.chain(others) {
        let (kind, said) = (verdict.name(), xml(&said));
        let found = match (failed(verdict), skipped(verdict)) {
            (true, _) => format!("<failure type=\"{kind}\" message=\"{said}\"/>"),
            (_, true) => format!("<skipped message=\"{said}\"/>"),
            _ => format!("<system-out>{kind}: {said}</system-out>"),
        };
        text.push_str(&format!(
            "  <testcase classname=\"{}\" name=\"{}\">{found}</testcase>\n",
            xml(label),
            xml(tag)
        ));
    }
    for (label, why) in missing {
        text.push_str(&format!(
            "  <testcase classname=\"{}\" name=\"compared\"><skipped message=\"{}\"/></testcase>\n",
            xml(label),
            xml(&why)
        ));
    }
    text.push_str("</testsuite></testsuites>\n");
    text
}

/// The cases that are not compared, each with the reason, which is no part of its name: a run is told from the next by names.
fn missing(comparison: &Comparison) -> impl Iterator<Item = (&str, String)> {
    let all = comparison.missing().into_iter();
    all.flat_map(|(cases, why)| {
        let told = move |reason: Option<&str>| match reason {
            Some(reason) => format!("{why}: {reason}"),
            None => why.to_owned(),
        };
        cases
            .into_iter()
            .map(move |(label, reason)| (label, told(reason)))
    })
}

/// JUnit of a run that has no verdicts: one error.
pub fn junit_error(why: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"wirespeed\" tests=\"1\" failures=\"0\" \
         errors=\"1\" skipped=\"0\">\n  <testcase classname=\"wirespeed\" name=\"run\"><error type=\"run\" message=\"{}\"/>\
         </testcase>\n</testsuite></testsuites>\n",
        xml(why)
    )
}

/// One annotation a figure that is not the same: errors for slower, warnings for inconclusive and for cases that are not compared,
/// notices for faster.
pub fn github(comparison: &Comparison) -> String {
    let rows = comparison
        .rows
        .iter()
        .map(|row| (&row.label, row.verdict, said(row)));
    let others = comparison.unjudged.iter();
    let others = others.map(|one| (&one.label, one.verdict, format!("{}: {}", one.tag, one.why)));
    let mut text = String::new();
    for (label, verdict, said) in rows.chain(others) {
        let command = match verdict {
            Verdict::Slower => "error",
            Verdict::Inconclusive => "warning",
            Verdict::Faster => "notice",
            Verdict::Same => continue,
        };
        let title = format!("{label} {}", verdict.name());
        text.push_str(&format!(
            "::{command} title={}::{}\n",
            property(title.trim()),
            message(&said)
        ));
    }
    for (label, why) in missing(comparison) {
        text.push_str(&format!(
            "::warning title={}::{}\n",
            property(label),
            message(&why)
        ));
    }
    text
}

fn said(row: &Row) -> String {
    let ratio = |value: f64| significant(value, 4);
    let interval = match (row.lower, row.upper) {
        (Some(lower), Some(upper)) => format!(" [{}, {}]", ratio(lower.get()), ratio(upper.get())),
        _ => String::new(),
    };
    let more = row
        .more_runs
        .map(|more| match row.lower {
            None => format!("; an interval needs {more} more runs"),
            Some(_) => format!("; about {more} more runs should tell"),
        })
        .or_else(|| Some(format!("; {}", disturbance(row)?)));
    format!(
        "{}: {} against {}, B/A {}{interval}{}",
        row.tag,
        figure_text(&row.tag, row.b.get()),
        figure_text(&row.tag, row.a.get()),
        ratio(row.ratio.get()),
        more.unwrap_or_default()
    )
}

/// Text of XML 1.0: markup escaped, characters that XML does not know replaced.
fn xml(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\'' => "&apos;".to_owned(),
            c if is_obeyed(c) => "?".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

/// The message of a workflow command: the characters that end one are escaped as GitHub documents.
fn message(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    super::style::clean(&text)
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::finite::Finite;

    fn comparison(label: &str) -> Comparison {
        let row = |verdict| Row {
            label: label.to_owned(),
            tag: "rtt_p50_ns".to_owned(),
            a: Finite::from(100u32),
            b: Finite::from(110u32),
            ratio: Finite::maybe(1.1).unwrap_or_default(),
            verdict,
            ..Row::default()
        };
        Comparison {
            rows: vec![
                row(Verdict::Slower),
                row(Verdict::Inconclusive),
                row(Verdict::Same),
            ],
            ..Comparison::default()
        }
    }

    #[test]
    fn verdicts_become_failures_and_annotations() {
        let text = junit(&comparison("shm am_lat"), false);
        assert!(
            text.contains("tests=\"3\" failures=\"2\" skipped=\"0\""),
            "{text}"
        );
        assert!(junit(&comparison("shm am_lat"), true).contains("failures=\"1\" skipped=\"1\""));
        let lines = github(&comparison("shm am_lat"));
        assert!(
            lines.starts_with(
                "::error title=shm am_lat slower::rtt_p50_ns: 110 ns against 100 ns, B/A 1.1\n::warning "
            ),
            "{lines}"
        );
        assert_eq!(lines.lines().count(), 2);
    }

    #[test]
    fn a_case_that_is_not_compared_is_no_pass() {
        let mut one_sided = comparison("shm am_lat");
        one_sided.only_a = vec!["shm <am_bw>".to_owned()];
        one_sided.lacking = vec!["tcp am_lat".to_owned()];
        one_sided.reasons.lacking = vec![Some("not measured in A: <no> route".to_owned())];
        let text = junit(&one_sided, true);
        assert!(
            text.contains("tests=\"5\" failures=\"1\" skipped=\"3\""),
            "{text}"
        );
        assert!(
            text.contains("\"shm &lt;am_bw&gt;\" name=\"compared\"><skipped"),
            "{text}"
        );
        let lines = github(&one_sided);
        assert!(
            lines.contains(
                "::warning title=tcp am_lat::without the figure, not compared: not measured in A: <no> route\n"
            ),
            "{lines}"
        );
        // What a case is known by is the same whatever became of it.
        assert!(
            text.contains("\"tcp am_lat\" name=\"compared\"><skipped message=\"without the figure, not compared: not measured in A: &lt;no&gt; route\"/>"),
            "{text}"
        );
    }

    #[test]
    fn hostile_labels_stay_text() {
        let hostile = "<x a=\"1\">&'\n::set-env name=A::b,%\u{1b}";
        let text = junit(&comparison(hostile), false);
        assert!(!text.contains("<x") && !text.contains('\u{1b}'), "{text}");
        let text = junit_error(hostile);
        assert!(!text.contains("<x") && text.contains("errors=\"1\""), "{text}");
        let lines = github(&comparison(hostile));
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert!(lines.contains("%0A%3A%3Aset-env"), "{lines}");
    }
}
