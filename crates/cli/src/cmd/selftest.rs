//! `wirespeed selftest`: the instrument against laws that are known.

use crate::args::{ColorChoice, SelftestArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::output;
use crate::terminal::{self, Stream};
use std::io::Write as _;
use wirespeed_report::render::{self, JsonForm};
use wirespeed_schema::run::Status;
use wirespeed_selftest::{Check, Effort};

/// Run every check and say how each came out.
pub fn selftest(arguments: &SelftestArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let effort = if arguments.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    let mut draft = Draft::begin(None, false);
    let watched = terminal::is_terminal(Stream::Stderr);
    let checks = wirespeed_selftest::run(effort, &mut |part| {
        if watched {
            // Nobody is left to be told that stderr is gone.
            let _ = writeln!(std::io::stderr(), "checking: {part}");
        }
    });
    let failed = checks.iter().filter(|check| !check.passed).count();
    let text = match arguments.json {
        true => {
            draft.section(
                "selftest",
                serde_json::json!({ "replicates": effort.replicates, "checks": checks }),
            );
            let mut run = draft.finish(Vec::new(), false);
            if failed > 0 {
                run.status = Status::Failed;
                run.error = Some(format!("{failed} checks failed"));
            }
            render::json(&run, JsonForm::Pretty).map_err(|e| {
                Failure::failed(e.to_string(), "this is a defect of wirespeed; please report it")
            })?
        }
        false => table(&checks, terminal::style(Stream::Stdout, color).color),
    };
    output::print(&text)?;
    match failed {
        0 => Ok(Ended::OK),
        _ => Ok(Ended::badly(Failure::failed(
            format!("{failed} of {} checks failed", checks.len()),
            "do not trust figures of this build; please report what failed",
        ))),
    }
}

fn table(checks: &[Check], color: bool) -> String {
    let (red, reset) = if color { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
    let width = checks
        .iter()
        .map(|check| check.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let line = format!(
            "{:<width$}  {}  (expected {})",
            check.name, check.got, check.expected
        );
        match check.passed {
            true => text.push_str(&format!("ok    {line}\n")),
            false => text.push_str(&format!("{red}FAIL  {line}{reset}\n")),
        }
    }
    let passed = checks.iter().filter(|check| check.passed).count();
    text.push_str(&format!("{passed} of {} checks passed\n", checks.len()));
    text
}
