//! The examination of a machine as people read it: a line a check, and for each warning why it matters and what mends it.

use super::style::{Style, clean, wrap};
use super::text::finish;
use crate::table::Tone;
use wirespeed_schema::checkup::{Check, CheckState, Checkup};

/// The sum, then every check in the order of the examination.
pub fn checkup(found: &Checkup, style: &Style) -> String {
    let widest = found
        .checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    let mut lines = vec![style.paint(Tone::Strong, &wrap(&sum(found), style.prose(), 2))];
    lines.push(String::new());
    for check in &found.checks {
        lines.extend(check_lines(check, widest, style));
    }
    finish(lines, style)
}

fn check_lines(check: &Check, widest: usize, style: &Style) -> Vec<String> {
    let state = check.state.name();
    let line = format!(
        "{:<11}  {:<widest$}  {}",
        state,
        clean(&check.name),
        clean(&check.found)
    );
    let indent = 15 + widest;
    let line = wrap(&line, style.prose(), indent.min(style.prose() / 2));
    let detail = |text: String| wrap(&text, style.prose(), 15);
    match check.state {
        CheckState::Ok => vec![line],
        CheckState::CannotTell => vec![style.paint(Tone::Faint, &line)],
        CheckState::Warn => {
            let mut lines = vec![style.paint(Tone::Warning, &line)];
            lines.push(detail(format!("             why: {}", clean(&check.why))));
            // A command stays on one line, so that it can be copied.
            let fix = check
                .fix
                .iter()
                .map(|fix| format!("             fix: {}", clean(fix)));
            lines.extend(fix);
            lines
        }
    }
}

fn sum(found: &Checkup) -> String {
    let count = |state| found.count(state);
    let cpus: Vec<String> = found.cpus.iter().map(u32::to_string).collect();
    format!(
        "CPUs {}: {} ok, {} warn, {} cannot tell; nothing was changed",
        cpus.join(","),
        count(CheckState::Ok),
        count(CheckState::Warn),
        count(CheckState::CannotTell)
    )
}
