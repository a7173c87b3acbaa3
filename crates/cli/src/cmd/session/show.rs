//! A session's own part of the table: what was asked, granted and observed, and how long its life took.

use std::fmt::Write as _;
use wirespeed_report::render::{self, Style};
use wirespeed_report::stats::runs::summarize;
use wirespeed_schema::Run;
use wirespeed_schema::units::{format_ns, format_rate};
use wirespeed_session::report::{ComputationReport, SessionReport, SessionSection};

/// Level of intervals over sessions.
const LEVEL: f64 = 0.95;

/// The name of the section in the document.
pub const SECTION: &str = "session";

/// The table of the streams, then the sessions.
pub fn table(run: &Run, style: &Style) -> String {
    let mut text = match run.cases.is_empty() {
        true => String::new(),
        false => render::table(run, style),
    };
    if let Some(section) = section(run).filter(|s| !s.sessions.is_empty()) {
        text.push_str(&sessions(&section));
    }
    text
}

/// What the original's form adds to its lines: the environment, the log's rate, and computations that ended badly.
pub fn classic(run: &Run) -> String {
    let mut text = String::new();
    let section = section(run);
    let reports = section
        .iter()
        .flat_map(|s| &s.sessions)
        .flat_map(|s| &s.computations);
    for report in reports {
        own_words(&mut text, report);
    }
    text
}

fn section(run: &Run) -> Option<SessionSection> {
    let section = run.sections.get(SECTION)?;
    serde_json::from_value(section.clone()).ok()
}

fn own_words(text: &mut String, report: &ComputationReport) {
    // Writing to a String cannot fail.
    for variable in &report.environment {
        let _ = writeln!(text, "{variable}");
    }
    if let Some(logged) = &report.logged {
        let seconds = logged.elapsed_ns as f64 / 1e9;
        let _ = writeln!(
            text,
            "{}: logged {} lines with {} threads to {} in {seconds:.2}s: {:.2}lines/s",
            report.name,
            logged.lines,
            logged.threads,
            logged.to,
            logged.lines as f64 / seconds
        );
    }
}

fn sessions(section: &SessionSection) -> String {
    let mut text = String::new();
    let place = match section.coordinator.as_str() {
        "embedded" => "embedded on this machine".to_owned(),
        other => format!("at {other}"),
    };
    let _ = writeln!(text, "session {} {place}", section.definition.name);
    if let Some(prepended) = &section.prepended {
        let _ = writeln!(text, "  prepended {prepended}");
    }
    if let Some(last) = section.sessions.last() {
        for report in &last.computations {
            let _ = writeln!(text, "  {} on {}: {}", report.name, report.node, report.exit);
            let asked = report.asked.cores.is_some() || report.asked.memory_bytes.is_some();
            let seen = asked || !report.load_done.is_empty();
            for line in report.verdict.iter().filter(|_| seen) {
                let _ = writeln!(text, "    {line}");
            }
            own_words(&mut text, report);
        }
    }
    for answer in &section.answers {
        let _ = writeln!(text, "  {answer}");
    }
    for cost in &section.daemon_cost {
        let _ = writeln!(
            text,
            "  daemon, {}: {} instead of {}; it adds {} to a message",
            cost.case,
            format_rate(cost.daemon_msg_per_s.get(), "msg/s"),
            format_rate(cost.direct_msg_per_s.get(), "msg/s"),
            format_ns(cost.added_ns_per_message.get())
        );
    }
    text.push_str(&life(&section.sessions));
    text
}

/// Picks one part of a session's life.
type Part = fn(&SessionReport) -> Option<u64>;

/// Median, its interval over sessions, and the longest, of every part of a session's life.
fn life(sessions: &[SessionReport]) -> String {
    let mut text = String::new();
    let parts: [(&str, Part); 4] = [
        ("request to ready", |s| Some(s.life.ready_ns)),
        ("request to go", |s| Some(s.life.go_ns)),
        ("request to first message", |s| s.life.first_message_ns),
        ("end to gone", |s| Some(s.life.gone_ns)),
    ];
    for (name, part) in parts {
        let values: Vec<f64> = sessions.iter().filter_map(part).map(|ns| ns as f64).collect();
        let Some(summary) = summarize(&values, LEVEL) else {
            continue;
        };
        let longest = values.iter().copied().fold(0.0, f64::max);
        let _ = match values.len() {
            1 => writeln!(text, "  {name}: {}", format_ns(longest)),
            count => writeln!(
                text,
                "  {name}: median {} [{}, {}], longest {} of {count} sessions",
                format_ns(summary.median),
                format_ns(summary.lower),
                format_ns(summary.upper),
                format_ns(longest)
            ),
        };
    }
    text
}
