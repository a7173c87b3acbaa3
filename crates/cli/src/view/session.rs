//! A session's own part of a result: what was asked, granted and observed, and how long its life took.

use std::fmt::Write as _;
use wirespeed_report::view::{Line, Part, Subject};
use wirespeed_schema::run::Status;
use wirespeed_schema::units::{counted, format_ns, format_rate, format_size};
use wirespeed_schema::{Finite, Run};
use wirespeed_session::report::{ComputationReport, DaemonCost, Phase, Queue, SessionSection};

/// Add what the session of `run` says, where it has one: what bounds a stream behind its figures, its life behind the tables.
pub fn add(subject: &mut Subject, run: &Run) {
    let Some(mut section) = section(run).filter(|s| !s.sessions.is_empty()) else {
        return;
    };
    if run.cases.is_empty() {
        subject.answer = vec![life_answer(&section)];
    }
    subject.answer.append(&mut section.bounds);
    let lines = report(&section).lines().map(Line::plain).collect();
    subject.parts.push(Part::Lines(lines));
}

/// What the original's form adds to its lines: the environment, the log's rate, and computations that ended badly. Where no
/// messages were asked for there are no lines, and what became of the resources is the answer.
pub fn classic(run: &Run) -> String {
    let mut text = String::new();
    let section = section(run);
    let held = section
        .as_ref()
        .filter(|s| s.path.is_none() && !s.sessions.is_empty());
    let reports = section.iter().flat_map(|s| &s.sessions);
    match held {
        Some(section) => text.push_str(&report(section)),
        None => reports
            .flat_map(|s| &s.computations)
            .for_each(|report| own_words(&mut text, report)),
    }
    // Where nothing came, standard error says why.
    match run.status {
        _ if text.is_empty() && run.cases.iter().all(|case| case.metrics.is_empty()) => {}
        Status::Ok => {}
        Status::Interrupted => text.push_str("interrupted: the lines above are not the whole run\n"),
        _ => text.push_str("failed: the lines above are not the whole run\n"),
    }
    text
}

fn section(run: &Run) -> Option<SessionSection> {
    run.sections.get()
}

fn own_words(text: &mut String, report: &ComputationReport) {
    // Writing to a String cannot fail.
    for variable in &report.environment {
        let _ = writeln!(text, "{variable}");
    }
    if let Some(logged) = &report.logged {
        let seconds = logged.elapsed_ns as f64 / 1e9;
        let of = match logged.lines < logged.lines_asked {
            true => format!(" of {}", logged.lines_asked),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "{}: logged {}{of} lines with {} threads to {} in {seconds:.2}s: {:.2}lines/s",
            report.name,
            logged.lines,
            logged.threads,
            logged.to,
            logged.lines as f64 / seconds.max(1e-9)
        );
    }
}

/// How many sessions there were, and how long one took to be ready: the answer where no stream was asked for.
fn life_answer(section: &SessionSection) -> String {
    let computations = section.sessions.last().map_or(0, |last| last.computations.len());
    let mut text = format!(
        "{} of {}",
        counted(section.sessions.len() as u64, "session"),
        counted(computations as u64, "computation")
    );
    let ready = section
        .phases
        .iter()
        .find(|phase| phase.phase == "request_to_ready");
    if let Some(phase) = ready {
        text.push_str(&format!(": ready after {}", phase_text(phase)));
    }
    text + "."
}

/// What the daemon costs a message: nothing that was seen, where it was not the slower way.
fn daemon_line(cost: &DaemonCost) -> String {
    let added_ns = cost.added_ns_per_message.get();
    let verdict = match added_ns < 0.0 {
        true => format!(
            "a message takes {} less, so no cost is seen",
            format_ns(-added_ns)
        ),
        false => format!("it adds {} to a message", format_ns(added_ns)),
    };
    format!(
        "daemon, {}: {} instead of {}; {verdict}",
        cost.case,
        format_rate(cost.daemon_msg_per_s.get(), "msg/s"),
        format_rate(cost.direct_msg_per_s.get(), "msg/s"),
    )
}

/// What was asked, granted and observed, and how long the phases of life took.
fn report(section: &SessionSection) -> String {
    let place = match section.coordinator.as_str() {
        "embedded" => "embedded on this machine".to_owned(),
        "slurm" => "started by srun".to_owned(),
        "ssh" => "started over ssh".to_owned(),
        other => format!("at {other}"),
    };
    let mut text = format!("session {} {place}\n", section.definition.name);
    // Writing to a String cannot fail.
    if let Some(policy) = &section.launcher_policy {
        let _ = writeln!(text, "  {} is configured with {policy}", section.coordinator);
    }
    if let Some(prepended) = &section.prepended {
        let _ = writeln!(text, "  prepended {prepended}");
    }
    if let Some(last) = section.sessions.last() {
        for (number, report) in last.computations.iter().enumerate() {
            let _ = writeln!(text, "  {} on {}: {}", report.name, report.node, report.exit);
            let asked = report.asked.cores.is_some() || report.asked.memory_bytes.is_some();
            // The first is the main one, which has what was asked for on the command line, memory to allocate among it.
            let seen = number == 0 || asked || !report.load_done.is_empty();
            for line in report.verdict.iter().filter(|_| seen) {
                let _ = writeln!(text, "    {line}");
            }
            own_words(&mut text, report);
        }
    }
    for cost in &section.daemon_cost {
        let _ = writeln!(text, "  {}", daemon_line(cost));
    }
    text.push_str(&queues(&section.queues));
    for phase in &section.phases {
        let _ = writeln!(text, "  {}: {}", phase.phase.replace('_', " "), phase_text(phase));
    }
    text
}

/// Median with its interval, quantiles and the longest of a phase of the sessions' lives.
fn phase_text(phase: &Phase) -> String {
    let time = |ns: Finite| format_ns(ns.get());
    if phase.sessions == 1 {
        return time(phase.max_ns);
    }
    let mut text = format!("p50 {}", time(phase.p50_ns));
    if let (Some(lower), Some(upper)) = (phase.p50_lower_ns, phase.p50_upper_ns) {
        text.push_str(&format!(" [{}, {}]", time(lower), time(upper)));
    }
    for (name, quantile) in [("p90", phase.p90_ns), ("p99", phase.p99_ns)] {
        if let Some(quantile) = quantile {
            text.push_str(&format!(", {name} {}", time(quantile)));
        }
    }
    text + &format!(", longest {} of {} sessions", time(phase.max_ns), phase.sessions)
}

/// What the streams had queued.
fn queues(queues: &[Queue]) -> String {
    let mut text = String::new();
    for queue in queues {
        let _ = write!(
            text,
            "  queued, {}: at most {} ({})",
            queue.case,
            counted(queue.unacknowledged_max_msgs, "message"),
            format_size(queue.unacknowledged_max_bytes)
        );
        for (name, time) in [
            ("p50", queue.ack_p50_ns),
            ("p99", queue.ack_p99_ns),
            ("longest", queue.ack_max_ns),
        ] {
            if let Some(time) = time {
                let _ = write!(text, ", {name} {}", format_ns(time.get()));
            }
        }
        match queue.resident_max_bytes {
            Some(bytes) => {
                let _ = writeln!(text, "; memory at most {}", format_size(bytes));
            }
            None => text.push('\n'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_session::report::Logged;

    #[test]
    fn a_faster_daemon_adds_nothing() {
        let line = |direct: f64, daemon: f64| {
            let finite = |value| Finite::maybe(value).unwrap();
            daemon_line(&DaemonCost {
                case: "unix 1 B, credits 1".to_owned(),
                direct_msg_per_s: finite(direct),
                daemon_msg_per_s: finite(daemon),
                added_ns_per_message: finite(1e9 / daemon - 1e9 / direct),
            })
        };
        assert!(line(1e6, 5e5).ends_with("it adds 1 µs to a message"));
        assert!(line(5e5, 1e6).ends_with("a message takes 1 µs less, so no cost is seen"));
    }

    #[test]
    fn lines_that_no_log_took_are_told() {
        let told = |lines, elapsed_ns| {
            let mut text = String::new();
            let logged = Logged {
                threads: 2,
                lines,
                lines_asked: 9,
                elapsed_ns,
                to: "null".to_owned(),
            };
            let report = ComputationReport {
                name: "main".to_owned(),
                logged: Some(logged),
                ..ComputationReport::default()
            };
            own_words(&mut text, &report);
            text
        };
        assert!(told(9, 1_000_000_000).contains("logged 9 lines with 2 threads"));
        let none = told(0, 0);
        assert!(
            none.contains("logged 0 of 9 lines") && none.ends_with(": 0.00lines/s\n"),
            "{none}"
        );
    }
}
