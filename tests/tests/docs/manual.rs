//! The manual page renders without a warning, and completions are valid in their shells.

use crate::stage::Stage;
use wirespeed_tests::skip;

fn is_here(stage: &Stage, program: &str) -> bool {
    stage.output(&format!("command -v {program}")).status.success()
}

#[test]
fn the_manual_pages_render_without_warnings() {
    let stage = Stage::new();
    let made =
        stage.output("wirespeed man > wirespeed.1 && wirespeed __man-all pages && cp wirespeed.1 pages/");
    assert!(made.status.success());
    let checks = [
        ("groff", "groff -man -Tutf8 -ww -z"),
        ("mandoc", "mandoc -T lint -W warning"),
    ];
    let mut checked = false;
    for (program, check) in checks {
        if !is_here(&stage, program) {
            continue;
        }
        checked = true;
        let output = stage.output(&format!(
            "for page in pages/*.1; do {check} \"$page\" 2>&1 || exit 1; done"
        ));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.is_empty(), "{check}:\n{said}");
    }
    if !checked {
        skip("neither groff nor mandoc is installed: manual pages are not rendered");
    }
}

#[test]
fn completions_are_valid_in_their_shells() {
    let stage = Stage::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = format!("wirespeed completions {shell} > script.{shell} && test -s script.{shell}");
        assert!(stage.output(&script).status.success(), "{shell}");
        if !is_here(&stage, shell) {
            skip(&format!("{shell} is not installed: its completions are not read"));
            continue;
        }
        let output = stage.output(&format!("{shell} -n script.{shell}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{shell}: {said}");
    }
}
