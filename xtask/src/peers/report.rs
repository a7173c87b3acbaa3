//! The archive of one benchmark: raw output, every pair, and a summary, under docs/runs/DATE-peers/.

use super::derived::{self, Derived};
use super::stats::{self, Median};
use super::table::{Better, Comparison, Limit};
use crate::command;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Collects everything and writes it at the end; what a crash would lose is on the screen.
pub struct Report {
    root: String,
    folder: PathBuf,
    heading: String,
    raw: String,
    pairs: String,
    notes: Vec<String>,
}

impl Report {
    /// Start an archive for today.
    pub fn create(root: &Path, name: &str, pairs: usize, cores: &[u32; 2]) -> Result<Report> {
        let said = |words: &[&str]| {
            let output = command::capture(Command::new(words[0]).args(&words[1..]).current_dir(root));
            output
                .map(|o| o.lines().next().unwrap_or_default().trim().to_owned())
                .unwrap_or_default()
        };
        let date = said(&["date", "-u", "+%Y-%m-%d"]);
        let folder = root.join("docs/runs").join(format!("{date}-{name}"));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let cpu = read("/proc/cpuinfo");
        let cpu = cpu
            .lines()
            .find_map(|l| l.strip_prefix("model name"))
            .unwrap_or(": unknown")
            .trim_start_matches(['\t', ' ', ':']);
        let heading = format!(
            "# wirespeed beside its peers: {name}, {date}\n\n\
             {pairs} interleaved pairs on CPUs {} and {}; load average at the start {}.\n\n\
             - CPU: {cpu}\n- kernel: {}\n- congestion control of the kernel: {}\n- wirespeed: {} (commit {})\n\
             - ucx_perftest: package {}\n- iperf3: {}\n- sockperf: {}\n- Open MPI: package {}\n- MPICH: package {}\n\n\
             Made by `cargo xtask peers`; every command and output is in raw.txt, every pair in pairs.csv.\n",
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
        );
        Ok(Report {
            root: format!("{}/", root.display()),
            folder,
            heading,
            raw: String::new(),
            pairs: "pair,comparison,unit,ours,theirs,ratio\n".to_owned(),
            notes: Vec::new(),
        })
    }

    /// Keep a command with its output; where the checkout lies is nobody's business.
    pub fn raw(&mut self, command: &str, output: &str) {
        let text = format!("$ {command}\n{}\n\n", output.trim_end());
        self.raw.push_str(&text.replace(&self.root, ""));
    }

    /// Keep a remark, once, and show it.
    pub fn note(&mut self, remark: &str) {
        println!("{remark}");
        if !self.notes.iter().any(|n| n == remark) {
            self.notes.push(remark.to_owned());
        }
    }

    /// Keep one pair and show it.
    pub fn pair(&mut self, pair: usize, comparison: &Comparison, ours: f64, theirs: f64) {
        let ratio = ours / theirs;
        println!(
            "{:>3} {}: {ours:.4e} / {theirs:.4e} = {ratio:.3}",
            pair + 1,
            comparison.name
        );
        let _ = writeln!(
            self.pairs,
            "{},\"{}\",{},{ours},{theirs},{ratio}",
            pair + 1,
            comparison.name,
            comparison.unit
        );
    }

    /// Write the archive and print the summary.
    pub fn finish(
        self,
        comparisons: &[&Comparison],
        figures: &BTreeMap<&str, Vec<(f64, f64)>>,
        limits: &[(&Limit, f64)],
        derived: &[Derived],
    ) -> Result<()> {
        let mut summary = self.heading;
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
        for (name, text) in [
            ("README.md", &summary),
            ("raw.txt", &self.raw),
            ("pairs.csv", &self.pairs),
        ] {
            let path = self.folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        println!("\n{summary}\nwritten to {}", self.folder.display());
        Ok(())
    }
}

fn row(comparison: &Comparison, pairs: &[(f64, f64)]) -> String {
    let of = |pick: fn(&(f64, f64)) -> f64| stats::median(&pairs.iter().map(pick).collect::<Vec<_>>());
    let empty = Median {
        value: f64::NAN,
        interval: None,
    };
    let ours = of(|p| p.0).unwrap_or(empty).value;
    let theirs = of(|p| p.1).unwrap_or(empty).value;
    let ratio = of(|p| p.0 / p.1).unwrap_or(empty);
    let interval = match ratio.interval {
        Some((low, high, level)) => format!("{low:.3} .. {high:.3} ({:.1} %)", level * 100.0),
        None => "too few pairs".to_owned(),
    };
    // How far apart launches are: p90 - p10 of the median.
    let spread = |pick: fn(&(f64, f64)) -> f64| {
        let ratio = stats::spread_ratio(&pairs.iter().map(pick).collect::<Vec<_>>());
        ratio.map_or("too few pairs".to_owned(), |ratio| {
            format!("{:.1} %", ratio * 100.0)
        })
    };
    let (bound, met) = match comparison.better {
        Better::Lower => ("at most", ratio.value <= comparison.aim),
        Better::Higher => ("at least", ratio.value >= comparison.aim),
    };
    format!(
        "| {} | {ours:.4e} {unit} | {theirs:.4e} {unit} | {:.3} | {interval} | {} / {} | {bound} {} | {} |\n",
        comparison.name,
        ratio.value,
        spread(|p| p.0),
        spread(|p| p.1),
        comparison.aim,
        if met { "met" } else { "missed" },
        unit = comparison.unit,
    )
}
