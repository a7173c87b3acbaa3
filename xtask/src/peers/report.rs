//! The archive of one benchmark, under docs/runs/: raw output and every pair as they come, and a summary after each round,
//! so that a run that is cut off leaves what it has.

use super::derived::{self, Derived};
use super::table::{Better, Comparison, Limit};
use crate::{command, runs};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use wirespeed_report::stats::{LEVEL, RunSummary, nearest_rank, summarize};
use wirespeed_schema::units::{format_ns, format_rate, significant};

/// Pairs of figures by the comparison's name.
pub type Figures = BTreeMap<&'static str, Vec<(f64, f64)>>;

/// Three files: raw.txt and pairs.csv are written as it goes, README.md anew after each round.
pub struct Report {
    root: String,
    folder: PathBuf,
    title: String,
    facts: String,
    raw: File,
    pairs: File,
    notes: Vec<String>,
}

impl Report {
    /// Start an archive for today.
    pub fn create(root: &Path, name: &str, cores: &[u32; 2]) -> Result<Report> {
        let date = command::capture(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
        let date = date.trim();
        let folder = runs::fresh_folder(&root.join("docs/runs"), &format!("{date}-{name}"))?;
        let file = |name: &str, start: &str| -> Result<File> {
            let path = folder.join(name);
            let begun =
                File::create(&path).and_then(|mut file| file.write_all(start.as_bytes()).map(|()| file));
            begun.with_context(|| format!("cannot write {}", path.display()))
        };
        Ok(Report {
            root: format!("{}/", root.display()),
            title: format!("# wirespeed beside its peers: {name}, {date}"),
            facts: facts(root, cores),
            raw: file("raw.txt", "")?,
            pairs: file("pairs.csv", "pair,comparison,unit,ours,theirs,ratio\n")?,
            folder,
            notes: Vec::new(),
        })
    }

    /// Keep a command with its output; where the checkout lies is nobody's business.
    pub fn raw(&mut self, command: &str, output: &str) -> Result<()> {
        let text = format!("$ {command}\n{}\n\n", output.trim_end());
        let text = text.replace(&self.root, "");
        self.raw
            .write_all(text.as_bytes())
            .context("cannot write raw.txt")
    }

    /// Keep a remark, once, and show it.
    pub fn note(&mut self, remark: &str) {
        println!("{remark}");
        let remark = remark.replace(&self.root, "");
        if !self.notes.contains(&remark) {
            self.notes.push(remark);
        }
    }

    /// Keep one pair and show it.
    pub fn pair(&mut self, pair: usize, comparison: &Comparison, ours: f64, theirs: f64) -> Result<()> {
        let (number, name, ratio) = (pair + 1, comparison.name, ours / theirs);
        let unit = comparison.unit;
        let (us, them) = (with_unit(ours, unit), with_unit(theirs, unit));
        println!("{number:>3} {name}: {us} / {them} = {ratio:.3}");
        let line = format!(
            "{number},\"{name}\",{},{ours},{theirs},{ratio}\n",
            comparison.unit
        );
        let written = self.pairs.write_all(line.as_bytes());
        written.context("cannot write pairs.csv")
    }

    /// Write the summary of `rounds`: those that are whole, and those wanted.
    pub fn summarize(
        &self,
        rounds: (usize, usize),
        comparisons: &[&Comparison],
        figures: &Figures,
        limits: &[(&Limit, f64)],
        derived: &[Derived],
    ) -> Result<String> {
        let (done, wanted) = rounds;
        let count = match done == wanted {
            true => wanted.to_string(),
            false => format!("{done} of {wanted}"),
        };
        let mut summary = format!("{}\n\n{count} interleaved pairs {}", self.title, self.facts);
        summary.push_str("\n| comparison | ours, median | theirs, median | ratio, median | interval | spread, ours / theirs | aim | |\n|---|---|---|---|---|---|---|---|\n");
        for comparison in comparisons {
            match figures.get(comparison.name) {
                Some(pairs) => summary.push_str(&row(comparison, pairs)),
                None => {
                    let _ = writeln!(summary, "| {} | | | | | | | not measured |", comparison.name);
                }
            }
        }
        for (limit, value) in limits {
            let verdict = if *value <= limit.limit { "met" } else { "missed" };
            let _ = writeln!(
                summary,
                "| {} | {value:.2} {unit} | | | | | at most {} {unit} | {verdict} |",
                limit.name,
                limit.limit,
                unit = limit.unit
            );
        }
        summary.push_str(&derived::table(derived, |name| figures.get(name)));
        for note in &self.notes {
            let _ = write!(summary, "\n- {note}");
        }
        summary.push('\n');
        // Whoever is cut off here leaves the summary before.
        let (path, next) = (self.folder.join("README.md"), self.folder.join("README.md.new"));
        let written = fs::write(&next, &summary).and_then(|()| fs::rename(&next, &path));
        written.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(summary)
    }

    /// Compress the raw output, show the summary, and where it is. A run that is cut off keeps its output as it is.
    pub fn finish(&self, summary: &str) -> Result<()> {
        command::run(
            Command::new("gzip")
                .args(["-9n", "raw.txt"])
                .current_dir(&self.folder),
        )?;
        println!("\n{summary}\nwritten to {}", self.folder.display());
        Ok(())
    }
}

/// The machine and the programs.
fn facts(root: &Path, cores: &[u32; 2]) -> String {
    let said = |words: &[&str]| {
        let output = command::capture(Command::new(words[0]).args(&words[1..]).current_dir(root));
        output
            .map(|o| o.lines().next().unwrap_or_default().trim().to_owned())
            .unwrap_or_default()
    };
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .unwrap_or(": unknown")
        .trim_start_matches(['\t', ' ', ':']);
    format!(
        "on CPUs {} and {}; load average at the start {}.\n\n\
         - CPU: {cpu}\n- kernel: {}\n- congestion control of the kernel: {}\n- wirespeed: {} (commit {})\n\
         - ucx_perftest: package {}\n- iperf3: {}\n- sockperf: {}\n- Open MPI: package {}\n- MPICH: package {}\n\n\
         Made by `cargo xtask peers`; every command and output is in raw.txt.gz, every pair in pairs.csv.\n",
        cores[0],
        cores[1],
        read("/proc/loadavg"),
        read("/proc/sys/kernel/osrelease"),
        read("/proc/sys/net/ipv4/tcp_congestion_control"),
        said(&["target/release/wirespeed", "--version"]),
        said(&["git", "-c", "safe.directory=*", "rev-parse", "--short=12", "HEAD"]),
        said(&["dpkg-query", "-W", "-f=${Version}", "ucx-utils"]),
        said(&["iperf3", "--version"]),
        said(&["dpkg-query", "-W", "-f=${Version}", "sockperf"]),
        said(&["dpkg-query", "-W", "-f=${Version}", "openmpi-bin"]),
        said(&["dpkg-query", "-W", "-f=${Version}", "mpich"]),
    )
}

fn row(comparison: &Comparison, pairs: &[(f64, f64)]) -> String {
    let of = |pick: fn(&(f64, f64)) -> f64| pairs.iter().map(pick).collect::<Vec<_>>();
    let median = |values: &[f64]| summarize(values, LEVEL).map_or(f64::NAN, |summary| summary.median);
    let (ours, theirs, ratios) = (of(|p| p.0), of(|p| p.1), of(|p| p.0 / p.1));
    let ratio = median(&ratios);
    let interval =
        summarize(&ratios, LEVEL).map_or_else(|| TOO_FEW.to_owned(), |summary| interval(&summary, ""));
    // How far apart launches are: p90 - p10 of the median.
    let spread = |values: &[f64]| {
        let ratio = spread_ratio(values);
        ratio.map_or(TOO_FEW.to_owned(), |ratio| format!("{:.1} %", ratio * 100.0))
    };
    let (bound, met) = match comparison.better {
        Better::Lower => ("at most", ratio <= comparison.aim),
        Better::Higher => ("at least", ratio >= comparison.aim),
    };
    format!(
        "| {} | {} | {} | {ratio:.3} | {interval} | {} / {} | {bound} {} | {} |\n",
        comparison.name,
        with_unit(median(&ours), comparison.unit),
        with_unit(median(&theirs), comparison.unit),
        spread(&ours),
        spread(&theirs),
        significant(comparison.aim, 3),
        if met { "met" } else { "missed" },
    )
}

/// What stands where there are too few pairs for a figure.
pub const TOO_FEW: &str = "too few pairs";
/// Values below which a spread by percentiles says nothing.
const SPREAD_VALUES_MIN: usize = 10;

/// The interval of a median with its level; [`TOO_FEW`] where there is none.
pub fn interval(summary: &RunSummary, unit: &str) -> String {
    match summary.level {
        Some(level) => format!(
            "{:.3} .. {:.3}{unit} ({:.1} %)",
            summary.lower,
            summary.upper,
            level * 100.0
        ),
        None => TOO_FEW.to_owned(),
    }
}

/// (p90 - p10) / median, by nearest rank; `None` for few values, or where the median is not above 0.
pub fn spread_ratio(values: &[f64]) -> Option<f64> {
    let median = summarize(values, LEVEL)?.median;
    let mut values = values.to_vec();
    let spread = nearest_rank(&mut values, 0.9) - nearest_rank(&mut values, 0.1);
    (values.len() >= SPREAD_VALUES_MIN && median > 0.0).then(|| spread / median)
}

/// A figure as people say it: `131.5 ns`, `3.669 GB/s`.
fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "ns" => format_ns(value),
        "B/s" | "msg/s" => format_rate(value, unit),
        _ => format!("{} {unit}", significant(value, 4)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::side::Side;
    use super::*;

    const COMPARISON: Comparison = Comparison {
        name: "ours / theirs",
        unit: "B/s",
        ours: Side::Number(2.0),
        theirs: Side::Number(1.0),
        aim: 1.0,
        better: Better::Higher,
    };

    /// A run that is cut off in its second round.
    #[test]
    fn what_is_measured_is_on_disk_at_once() {
        let root = tempfile::tempdir().unwrap();
        let mut report = Report::create(root.path(), "some", &[0, 1]).unwrap();
        let read = |name: &str| fs::read_to_string(report_folder(root.path()).join(name)).unwrap();
        assert_eq!(read("pairs.csv").lines().count(), 1);
        report.raw("first", "said").unwrap();
        report.pair(0, &COMPARISON, 2.0, 1.0).unwrap();
        assert!(!report_folder(root.path()).join("README.md").exists());
        let figures = Figures::from([(COMPARISON.name, vec![(2.0, 1.0)])]);
        report
            .summarize((1, 3), &[&COMPARISON], &figures, &[], &[])
            .unwrap();
        report.raw("second", "said more").unwrap();
        report.pair(1, &COMPARISON, 4.0, 1.0).unwrap();
        assert!(read("README.md").contains("1 of 3 interleaved pairs"));
        assert_eq!(read("raw.txt"), "$ first\nsaid\n\n$ second\nsaid more\n\n");
        assert!(
            read("pairs.csv").ends_with("\n1,\"ours / theirs\",B/s,2,1,2\n2,\"ours / theirs\",B/s,4,1,4\n")
        );
        // The next run of the day takes nothing away.
        Report::create(root.path(), "some", &[0, 1]).unwrap();
        assert_eq!(read("pairs.csv").lines().count(), 3);
        assert_eq!(fs::read_dir(root.path().join("docs/runs")).unwrap().count(), 2);
    }

    fn report_folder(root: &Path) -> PathBuf {
        let folders = fs::read_dir(root.join("docs/runs")).unwrap();
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders.swap_remove(0)
    }
}
