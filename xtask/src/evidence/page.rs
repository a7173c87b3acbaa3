//! How long a browser needs for the page of a large result.

use super::Context;
use super::archive::Archive;
use anyhow::{Context as _, Result};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const BROWSER: &str = "chromium";
/// Five transports, two tests, fifty sizes.
const SIZES: u64 = 50;
const OPENINGS: usize = 5;
const SECONDS_MAX: f64 = 2.0;

fn plan() -> String {
    let sizes: Vec<String> = (1..=SIZES).map(|step| format!("\"{}\"", step * 1000)).collect();
    format!(
        "[defaults]\niters = 200\nwarmup = 0\n\n[[case]]\ntest = [\"am_lat\", \"am_bw\"]\nvia = [\"inproc\", \"shm\", \"unix\", \
         \"tcp\", \"udp\"]\nsize = [{}]\n",
        sizes.join(", ")
    )
}

/// Seconds from starting the browser until it has drawn `page` and ended.
fn drawn_s(page: &Path, scratch: &Path) -> Result<f64> {
    let started = Instant::now();
    let status = Command::new(BROWSER)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args([
            "--disable-extensions",
            "--disable-background-networking",
            "--window-size=1000,1600",
        ])
        .arg(format!("--user-data-dir={}", scratch.join("profile").display()))
        .arg(format!("--screenshot={}", scratch.join("shot.png").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {BROWSER}"))?;
    anyhow::ensure!(status.success(), "{BROWSER} failed: {status}");
    Ok(started.elapsed().as_secs_f64())
}

/// Measure 500 cases, write their page, and draw it and an empty page in turn.
pub fn opening(context: &Context, archive: &mut Archive) -> Result<()> {
    let scratch = context.root.join("target/evidence");
    std::fs::create_dir_all(&scratch)?;
    let path = |name: &str| scratch.join(name);
    std::fs::write(path("plan.toml"), plan())?;
    std::fs::write(path("empty.html"), "<!DOCTYPE html><title>empty</title>")?;
    let mut run = Command::new(&context.binary);
    crate::command::run(
        run.arg("run")
            .arg(path("plan.toml"))
            .arg("-q")
            .arg("-o")
            .arg(path("result.json")),
    )?;
    let mut report = Command::new(&context.binary);
    crate::command::run(
        report
            .arg("report")
            .arg(path("result.json"))
            .arg("-o")
            .arg(path("page.html")),
    )?;
    let bytes = std::fs::metadata(path("page.html"))?.len();
    let (mut full, mut empty, mut values) = (Vec::new(), Vec::new(), "page_s,empty_s\n".to_owned());
    for _ in 0..OPENINGS {
        full.push(drawn_s(&path("page.html"), &scratch)?);
        empty.push(drawn_s(&path("empty.html"), &scratch)?);
        // Writing to a String cannot fail.
        let _ = writeln!(values, "{},{}", full[full.len() - 1], empty[empty.len() - 1]);
    }
    archive.values("page.csv", &values)?;
    let median = |mut seconds: Vec<f64>| {
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    };
    let (full, empty) = (median(full), median(empty));
    let met = if full - empty <= SECONDS_MAX {
        "met"
    } else {
        "missed"
    };
    archive.note(&format!(
        "The page has {bytes} bytes. {BROWSER} starts, draws it and ends in {full:.2} s, with an empty page in {empty:.2} s \
         (medians of {OPENINGS}, in turn): {:.2} s for the page: {met}.",
        full - empty
    ));
    Ok(())
}
