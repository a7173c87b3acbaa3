//! The examination of a machine as people read it: the answer, then a line a check, and for each warning why it matters and
//! what mends it.

use super::style::{Style, clean, wrap};
use super::text::finish;
use crate::table::Tone;
use wirespeed_schema::checkup::{Check, CheckState, Checkup};

/// How a fix begins that is a command and no advice.
const COMMANDS: [&str; 8] = [
    "sudo ",
    "for ",
    "echo ",
    "cpupower ",
    "ip ",
    "mount ",
    "prlimit ",
    "sysctl ",
];

/// The answer and the sum, then every check in the order of the examination.
pub fn checkup(found: &Checkup, style: &Style) -> String {
    let widest = found
        .checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    let mut lines = vec![
        style.paint(Tone::Strong, &wrap(&clean(&answer(found)), style.prose(), 2)),
        wrap(&sum(found), style.prose(), 2),
        String::new(),
    ];
    for check in &found.checks {
        lines.extend(check_lines(check, widest, style));
    }
    finish(lines, style)
}

/// Columns that what was found needs beside the name of its check; where fewer are left it stands below.
const FOUND_COLUMNS: usize = 24;

fn check_lines(check: &Check, widest: usize, style: &Style) -> Vec<String> {
    let beside = 15 + widest;
    let (state, name, found) = (check.state.name(), clean(&check.name), clean(&check.found));
    let is_narrow = style.prose() < beside + FOUND_COLUMNS;
    let line = match is_narrow {
        true => wrap(&format!("{state}: {name}: {found}"), style.prose(), 2),
        false => wrap(
            &format!("{state:<11}  {name:<widest$}  {found}"),
            style.prose(),
            beside,
        ),
    };
    let gap = if is_narrow { 2 } else { 13 };
    let detail = |text: String| wrap(&text, style.prose(), gap + 2);
    match check.state {
        CheckState::Ok => vec![line],
        CheckState::CannotTell => vec![style.paint(Tone::Faint, &line)],
        CheckState::Warn => {
            let mut lines = vec![style.paint(Tone::Warning, &line)];
            lines.push(detail(format!("{:gap$}why: {}", "", clean(&check.why))));
            lines.extend(check.fix.iter().map(|fix| {
                let text = format!("{:gap$}fix: {}", "", clean(fix));
                // A command stays on one line, so that it can be copied.
                let is_command = COMMANDS.iter().any(|word| fix.starts_with(word));
                if is_command { text } else { detail(text) }
            }));
            lines
        }
    }
}

/// How many checks found something, and the gravest of them.
fn answer(found: &Checkup) -> String {
    let (total, warned) = (found.checks.len(), found.count(CheckState::Warn));
    match found.gravest() {
        Some(check) if warned == 1 => format!(
            "fit with reservations: 1 of {total} checks warns: {}: {}",
            check.name, check.found
        ),
        Some(check) => format!(
            "fit with reservations: {warned} of {total} checks warn; the gravest is {}: {}",
            check.name, check.found
        ),
        None => match found.count(CheckState::CannotTell) {
            0 => format!("fit to measure on: all {total} checks are ok"),
            unknown => {
                format!("fit as far as is known: none of {total} checks warns, but {unknown} cannot tell")
            }
        },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(states: &[CheckState]) -> String {
        let check = |(number, state): (usize, &CheckState)| Check {
            name: format!("check_{number}"),
            state: *state,
            found: "as it is".to_owned(),
            why: "it matters".to_owned(),
            fix: None,
        };
        let found = Checkup {
            checks: states.iter().enumerate().map(check).collect(),
            ..Checkup::default()
        };
        checkup(&found, &Style::PLAIN)
    }

    #[test]
    fn the_first_line_is_the_answer_and_names_the_gravest() {
        use CheckState::{CannotTell, Ok, Warn};
        let cases: [(&[CheckState], &str); 4] = [
            (
                &[Ok, Warn, Warn],
                "fit with reservations: 2 of 3 checks warn; the gravest is check_1: as it is",
            ),
            (
                &[Warn, Ok],
                "fit with reservations: 1 of 2 checks warns: check_0: as it is",
            ),
            (
                &[Ok, CannotTell],
                "fit as far as is known: none of 2 checks warns, but 1 cannot tell",
            ),
            (&[Ok, Ok], "fit to measure on: all 2 checks are ok"),
        ];
        for (states, answer) in cases {
            assert_eq!(of(states).lines().next(), Some(answer));
        }
    }
}
