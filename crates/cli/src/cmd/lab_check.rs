//! `wirespeed lab --check`: known paths, measured by wirespeed and by somebody else, held against the truth.
//!
//! What is checked is the path and the clock, so nothing else may be the limit: the file is in memory, the congestion
//! control fills the wire, and the programs wait for no CPU.

use super::byteio::{NAME, Served, far_service, this_program};
use crate::errors::{Ended, Failure, exit};
use crate::output;
use crate::progress::Progress;
use std::process::{Command, Output, Stdio};
use wirespeed_byteio::lab::Truth;
use wirespeed_byteio::peers::is_installed;
use wirespeed_schema::units::{format_ns, significant};

/// A path and what is to be seen on it.
struct Row {
    name: &'static str,
    /// Words for `wirespeed lab`.
    path: &'static str,
    truth: Truth,
    /// Payload to move.
    size: &'static str,
    /// The figure of our own that is held against the truth.
    tag: &'static str,
    /// Turns of both; the median of each counts.
    turns: usize,
}

const LOSS_RATIO: f64 = 2e-4;

/// bbr sends 1 % below what it believes the wire to carry and leaves no queue (`bbr_pacing_margin_percent`), so that the wire
/// idles when anybody is late. cubic always has a queue, which here is long enough that what it drops does not count.
const ROWS: [Row; 6] = [
    rate(
        "cable of 100 Mb/s",
        "--lan --rate 100Mb/s --congestion cubic",
        1e8,
        "64M",
    ),
    rate(
        "tunnel of 100 Mb/s",
        "--rate 100Mb/s --congestion cubic",
        1e8,
        "64M",
    ),
    rate(
        "cable of 1 Gb/s",
        "--lan --rate 1Gb/s --congestion cubic",
        1e9,
        "512M",
    ),
    rate(
        "tunnel of 1 Gb/s",
        "--rate 1Gb/s --queue 1M --congestion cubic",
        1e9,
        "512M",
    ),
    Row {
        name: "round trip of 30 ms",
        path: "--rate 1Gb/s --delay 15ms",
        truth: Truth::RoundTrip { ns: 30e6 },
        size: "8M",
        tag: "tcp_min_rtt_ns",
        turns: 1,
    },
    Row {
        name: "2e-4 lost",
        path: "--rate 300Mb/s --loss 2e-4 --queue 64M --congestion cubic",
        // A little over a million packets; a queue that never drops, so that what is sent again was lost.
        truth: Truth::Loss {
            ratio: LOSS_RATIO,
            packets: 1e6,
        },
        size: "1400M",
        tag: "retransmitted_ratio",
        turns: 1,
    },
];

const fn rate(name: &'static str, path: &'static str, bits_per_s: f64, size: &'static str) -> Row {
    Row {
        name,
        path,
        truth: Truth::Rate { bits_per_s },
        size,
        tag: "bandwidth_bytes_per_s",
        turns: 3,
    }
}

/// Measure every row and say how near it comes.
pub fn check() -> Result<Ended, Failure> {
    let served = Served::warm(2 << 30)?;
    let ends = Ends {
        served: served.folder()?,
        before: if may_be_first() { FIRST } else { &[] },
    };
    let mut far_off = Vec::new();
    let mut progress = Progress::of_steps(ROWS.len(), false);
    for row in &ROWS {
        progress.start_as(row.name);
        let (ours, theirs) = row.both(&ends)?;
        let near = |other: f64| row.truth.agrees(ours, other);
        let good = near(row.truth.value()) && theirs.as_ref().is_none_or(|(_, figure)| near(*figure));
        let beside = theirs.map_or("nobody else is here to ask".to_owned(), |(who, figure)| {
            format!("{who} {}", row.shown(figure))
        });
        let line = format!(
            "{}: truth {}, {beside}, wirespeed {} ({} % off, {} % allowed): {}\n",
            row.name,
            row.shown(row.truth.value()),
            row.shown(ours),
            significant((ours / row.truth.value() - 1.0) * 100.0, 2),
            significant(row.truth.tolerance_ratio() * 100.0, 2),
            if good { "ok" } else { "too far off" }
        );
        if !output::is_taken(&line)? {
            return Err(output::unread());
        }
        if !good {
            far_off.push(row.name);
        }
    }
    progress.finish();
    Ok(match far_off.as_slice() {
        [] => Ended::OK,
        names => Ended::badly(Failure::with(
            exit::GATE,
            format!("too far from the truth: {}", names.join(", ")),
            "try it again on a machine that does nothing else",
        )),
    })
}

/// Words before a command that is to run before every ordinary one, as the wires do; they themselves come first (10).
const FIRST: &[&str] = &["chrt", "--rr", "1"];

/// Whether this machine lets us.
fn may_be_first() -> bool {
    let mut command = Command::new(FIRST[0]);
    command.args(&FIRST[1..]).arg("true").stdin(Stdio::null());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What both ends of every path have in common.
struct Ends {
    /// The folder that is served.
    served: String,
    /// Words before every command.
    before: &'static [&'static str],
}

/// Figures of a row, and of whoever stands beside it.
type Figures = (f64, Option<(&'static str, f64)>);

impl Row {
    /// Both in turn, so that a noisy minute disturbs them alike.
    fn both(&self, ends: &Ends) -> Result<Figures, Failure> {
        let (mut ours, mut theirs, mut who) = (Vec::new(), Vec::new(), "");
        for _ in 0..self.turns {
            let (figure, said) = self.ours(ends)?;
            ours.push(figure);
            if let Some((name, figure)) = self.theirs(ends, &said)? {
                who = name;
                theirs.push(figure);
            }
        }
        let ours = median(ours).unwrap_or(f64::NAN);
        Ok((ours, median(theirs).map(|figure| (who, figure))))
    }

    fn shown(&self, figure: f64) -> String {
        match self.truth {
            Truth::Rate { .. } => format!("{:.2} Mb/s", figure * 8.0 / 1e6),
            Truth::RoundTrip { .. } => format_ns(figure),
            Truth::Loss { .. } => format!("{} lost", significant(figure, 3)),
        }
    }

    /// What wirespeed says, and what the lab says of its packets.
    fn ours(&self, ends: &Ends) -> Result<(f64, String), Failure> {
        let program = this_program()?;
        let far = far_service(&program, &ends.served);
        let bench = format!(
            "byteio bench http://192.0.2.2:7412/{NAME} --mechanism bulk --threads 1 --depth 4 --size {} --repeats 1 --json",
            self.size
        );
        let mut near = vec![program.as_str()];
        near.extend(bench.split(' '));
        let output = self.lab(ends, &far, &near)?;
        let run = wirespeed_report::read_run(&output.stdout).map_err(|e| {
            Failure::failed(
                format!("{}: no result: {e}", self.name),
                "try `wirespeed lab -- true`",
            )
        })?;
        let metric = run.cases.first().and_then(|case| case.metrics.get(self.tag));
        let figure = metric.map(|metric| metric.value.get()).ok_or_else(|| {
            let why = run
                .error
                .unwrap_or_else(|| format!("its result has no {}", self.tag));
            Failure::failed(format!("{}: {why}", self.name), "look at `wirespeed lab --help`")
        })?;
        Ok((figure, String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// What somebody else says of the same path; of loss the lab itself, which counts every packet (`said`).
    fn theirs(&self, ends: &Ends, said: &str) -> Result<Option<(&'static str, f64)>, Failure> {
        match self.truth {
            Truth::Rate { .. } if is_installed("iperf3") => {
                let bytes = wirespeed_schema::units::parse_size(self.size)
                    .unwrap_or_default()
                    .to_string();
                let near = ["iperf3", "-c", "192.0.2.2", "-R", "-J", "-n", &bytes];
                let text = self.lab(ends, "iperf3 -s -1", &near)?.stdout;
                let document: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
                let bits = document["end"]["sum_received"]["bits_per_second"].as_f64();
                Ok(bits.map(|bits| ("iperf3", bits / 8.0)))
            }
            Truth::RoundTrip { .. } if is_installed("ping") => {
                let near = ["ping", "-q", "-c", "20", "-i", "0.2", "192.0.2.2"];
                let text = self.lab(ends, "sleep 600", &near)?.stdout;
                Ok(ping_ns(&String::from_utf8_lossy(&text)).map(|ns| ("ping", ns)))
            }
            Truth::Loss { .. } => Ok(lost_ratio(said).map(|ratio| ("the lab itself", ratio))),
            _ => Ok(None),
        }
    }

    fn lab(&self, ends: &Ends, far: &str, near: &[&str]) -> Result<Output, Failure> {
        let far = [&ends.before.join(" "), far].join(" ");
        let output = Command::new(this_program()?)
            .arg("lab")
            .args(self.path.split(' '))
            .args(["--far", far.trim_start(), "--"])
            .args(ends.before)
            .args(near)
            .stdin(Stdio::null())
            .output();
        let failed = |cause: String| {
            Failure::failed(
                format!("{}: {cause}", self.name),
                "run it as root; try `wirespeed lab -- true`",
            )
        };
        let output = output.map_err(|e| failed(e.to_string()))?;
        match output.status.success() {
            true => Ok(output),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                let cause = said.lines().find_map(|line| line.strip_prefix("error: "));
                Err(failed(cause.unwrap_or("the lab could not run it").to_owned()))
            }
        }
    }
}

/// The one in the middle, of an odd number.
fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// The least of `rtt min/avg/max/mdev = 30.1/30.2/30.9/0.1 ms`.
fn ping_ns(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("rtt "))?;
    let least = line.split(" = ").nth(1)?.split('/').next()?;
    Some(least.parse::<f64>().ok()? * 1e6)
}

/// Of `lab: back: 1000 packets, 2 lost, ..`: data come back.
fn lost_ratio(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("lab: back: "))?;
    let mut numbers = line
        .split(", ")
        .map(|part| part.split(' ').next().and_then(|n| n.parse::<f64>().ok()));
    let (packets, lost) = (numbers.next()??, numbers.next()??);
    (packets > 0.0).then_some(lost / packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_an_odd_number_of_turns_and_their_middle_counts() {
        assert!(ROWS.iter().all(|row| row.turns % 2 == 1));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn what_others_say_is_read() {
        let ping = "2 packets transmitted\nrtt min/avg/max/mdev = 30.120/30.200/30.900/0.100 ms\n";
        assert_eq!(ping_ns(ping).map(f64::round), Some(30_120_000.0));
        let lab = "lab: there: 7 packets, 0 lost, 0 dropped by the full queue\nlab: back: 10000 packets, 2 lost, 1 dropped by the full queue\n";
        assert_eq!(lost_ratio(lab), Some(2e-4));
        assert_eq!((ping_ns(""), lost_ratio("lab: back: none")), (None, None));
    }
}
