//! `wirespeed selftest`: the instrument against laws that are known.

use crate::args::{ColorChoice, SelftestArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::progress::Progress;
use crate::terminal::{self, Stream};
use crate::{output, view};
use wirespeed_report::render::{self, JsonForm, Style};
use wirespeed_report::table::{Row, Table, Tone, text};
use wirespeed_report::view::Part;
use wirespeed_schema::run::Status;
use wirespeed_schema::units::counted;
use wirespeed_selftest::{Check, Effort, SelftestSection};

/// Run every check and say how each came out.
pub fn selftest(arguments: &SelftestArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let effort = if arguments.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    let mut draft = Draft::begin(None, false);
    let stop = super::stop_on_signals()?;
    let mut progress = Progress::of_times(wirespeed_selftest::times(effort).into_iter(), false);
    let goes_on = || !stop.is_requested();
    let checks = wirespeed_selftest::run(effort, &goes_on, &mut |part| progress.start_as(part));
    progress.finish();
    let is_whole = goes_on();
    let failed = checks.iter().filter(|check| !check.passed).count();
    let text = match arguments.json {
        true => {
            draft.put(&SelftestSection {
                replicates: effort.replicates,
                checks: checks.clone(),
            });
            let mut run = draft.finish(Vec::new(), !is_whole);
            if failed > 0 {
                run.status = Status::Failed;
                run.error = Some(format!("{failed} checks failed"));
            }
            render::json(&run, JsonForm::Pretty).map_err(Failure::defect)?
        }
        false => screen(&checks, is_whole, &terminal::style(Stream::Stdout, color)),
    };
    output::print(&text)?;
    match (failed, is_whole) {
        (0, true) => Ok(Ended::OK),
        (0, false) => Ok(Ended::badly(Failure::interrupted("run again for all checks"))),
        _ => Ok(Ended::badly(Failure::failed(
            format!("{failed} of {} checks failed", checks.len()),
            "do not trust figures of this build; please report what failed",
        ))),
    }
}

fn screen(checks: &[Check], is_whole: bool, style: &Style) -> String {
    let columns = vec![
        text("", 0),
        text("check", 0),
        text("found", 0),
        text("expected", 0),
    ];
    let row = |check: &Check| Row {
        cells: vec![
            if check.passed { "ok" } else { "FAIL" }.to_owned(),
            check.name.clone(),
            check.got.clone(),
            check.expected.clone(),
        ],
        tone: (!check.passed).then_some(Tone::Bad),
    };
    let table = Table::new("", columns, checks.iter().map(row).collect());
    let passed = checks.iter().filter(|check| check.passed).count();
    let answer = match is_whole {
        true => format!("{passed} of {} checks passed", checks.len()),
        false => format!(
            "Incomplete: interrupted. {passed} of the {} run by then passed",
            counted(checks.len() as u64, "check")
        ),
    };
    view::told(answer, vec![Part::Table(table)], style)
}
