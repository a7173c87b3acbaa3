//! Message paths of sessions beside their aims: bare transports of the same run where the aim is one, fixed numbers where it is
//! a number. Two cores, or one where the row says so.

use super::documents::{condensed, largest};
use super::launch::Context;
use super::report::Report;
use super::side::Side;
use super::table::{Better, Comparison, at_most};
use crate::command;
use anyhow::{Context as _, Result};
use serde_json::Value;

/// Which number of a session's document.
#[derive(Debug, Clone, Copy)]
pub enum Figure {
    /// The largest value of a figure over the cases.
    Tag(&'static str),
    /// A number at a JSON pointer.
    At(&'static str),
    /// How many intervals the rank with this index has reported.
    Reports(&'static str),
    /// System calls of all processes, counted by strace, for each message received; start and end are among them.
    SystemCalls,
}
use Figure::{At, Reports, SystemCalls, Tag};

const fn ours(arguments: &'static str, figure: Figure) -> Side {
    Side::Session {
        arguments,
        figure,
        cores: 2,
    }
}

const fn row(
    name: &'static str,
    unit: &'static str,
    ours: Side,
    theirs: Side,
    (better, aim): (Better, f64),
) -> Comparison {
    Comparison {
        name,
        unit,
        ours,
        theirs,
        aim,
        better,
    }
}

/// At least this number.
const fn at_least(name: &'static str, unit: &'static str, ours: Side, number: f64) -> Comparison {
    row(name, unit, ours, Side::Number(number), (Better::Higher, 1.0))
}

macro_rules! stream {
    ($more:literal) => {
        concat!(
            "session --benchmarkPath=computation_to_computation --requestMb=0 --duration=1 ",
            $more
        )
    };
}

const ROUND_TRIP: Figure = Tag("ack_p50_ns");
const RATE: Figure = Tag("rate_msg_per_s");
const BANDWIDTH: Figure = Tag("bandwidth_bytes_per_s");
const CPU: Figure = Tag("cpu_ns_per_message");
const GIB: f64 = (1u64 << 30) as f64;

const BLOCKING: Side = ours(
    stream!("--bytes=1 --credits=1 --via unix --wait block"),
    ROUND_TRIP,
);
const THROUGH_DAEMON: Side = ours(
    stream!("--bytes=1 --credits=1 --via unix --wait block --route daemon"),
    ROUND_TRIP,
);
const DIRECT_100: &str = stream!("--bytes=1 --credits=100 --via tcp --wait block");
const DAEMON_100: &str = stream!("--bytes=1 --credits=100 --via unix --wait block --route daemon");
const IDLE: &str = "session --computations=2 --requestMb=0 --duration=10";
const FLOOD: &str = "session --benchmarkPath=computation_to_computation --requestMb=0 --bytes=16K --credits=1000000000 \
                     --duration=4 --report-frequency=1";

/// One credit: each message is a round trip.
pub const ROUND_TRIPS: &[Comparison] = &[
    at_most(
        "round trip 1 B, shm, spinning",
        "ns",
        ours(stream!("--bytes=1 --credits=1 --via shm --wait poll"), ROUND_TRIP),
        500.0,
    ),
    at_most(
        "round trip 1 B, unix, spinning",
        "ns",
        ours(
            stream!("--bytes=1 --credits=1 --via unix --wait poll"),
            ROUND_TRIP,
        ),
        4500.0,
    ),
    at_most(
        "round trip 1 B, tcp, spinning",
        "ns",
        ours(stream!("--bytes=1 --credits=1 --via tcp --wait poll"), ROUND_TRIP),
        8000.0,
    ),
    at_most("round trip 1 B, unix, blocking", "ns", BLOCKING, 85_000.0),
    at_most(
        "round trip 1 B, through the daemon, blocking",
        "ns",
        THROUGH_DAEMON,
        150_000.0,
    ),
    row(
        "round trip 1 B, through the daemon, blocking / bare unix ping-pong",
        "ns",
        THROUGH_DAEMON,
        Side::Ours {
            arguments: "run am_lat --via unix --size 1 --layout short --wait block --duration 1s",
            tag: "rtt_p50_ns",
        },
        (Better::Lower, 2.4),
    ),
    at_most(
        "round trip 1 B, through the daemon, blocking, one core",
        "ns",
        Side::Session {
            arguments: stream!("--bytes=1 --credits=1 --via unix --wait block --route daemon"),
            figure: ROUND_TRIP,
            cores: 1,
        },
        20_000.0,
    ),
];

/// Many credits, and what a message costs.
pub const RATES: &[Comparison] = &[
    at_least(
        "100 credits, shm",
        "msg/s",
        ours(stream!("--bytes=1 --credits=100 --via shm --wait poll"), RATE),
        10e6,
    ),
    at_least("100 credits, tcp", "msg/s", ours(DIRECT_100, RATE), 1e6),
    at_least(
        "100 credits, through the daemon",
        "msg/s",
        ours(DAEMON_100, RATE),
        250e3,
    ),
    at_least(
        "10 credits, the best of shm, unix and tcp",
        "msg/s",
        ours(stream!("--bytes=1 --credits=10 --via unix,tcp,shm"), RATE),
        200e3,
    ),
    at_least(
        "10 credits, through the daemon, blocking, the best of them",
        "msg/s",
        ours(
            stream!("--bytes=1 --credits=10 --via shm,unix,tcp --wait block --route daemon"),
            RATE,
        ),
        100e3,
    ),
    at_most(
        "CPU a message, 100 credits, tcp",
        "ns",
        ours(DIRECT_100, CPU),
        3000.0,
    ),
    at_most(
        "CPU a message, 100 credits, through the daemon",
        "ns",
        ours(DAEMON_100, CPU),
        8000.0,
    ),
    at_most(
        "system calls a message, tcp",
        "1",
        ours(DIRECT_100, SystemCalls),
        4.0,
    ),
    at_most(
        "system calls a message, through the daemon",
        "1",
        ours(DAEMON_100, SystemCalls),
        8.0,
    ),
];

/// Large messages.
pub const BANDWIDTHS: &[Comparison] = &[
    row(
        "tcp 32 MiB / the peak over sizes",
        "B/s",
        ours(stream!("--mb=32 --credits=10 --via tcp"), BANDWIDTH),
        ours(
            stream!("--bytes=64K..32M:x4,32M --credits=10 --via tcp"),
            BANDWIDTH,
        ),
        (Better::Higher, 0.85),
    ),
    row(
        "unix 32 MiB / the peak over sizes",
        "B/s",
        ours(stream!("--mb=32 --credits=10 --via unix"), BANDWIDTH),
        ours(
            stream!("--bytes=64K..32M:x4,32M --credits=10 --via unix"),
            BANDWIDTH,
        ),
        (Better::Higher, 0.85),
    ),
    at_least(
        "shm 1 MiB",
        "B/s",
        ours(stream!("--mb=1 --credits=10 --via shm --wait poll"), BANDWIDTH),
        11.0 * GIB,
    ),
    row(
        "tcp 1 MiB / am_bw",
        "B/s",
        ours(stream!("--mb=1 --credits=10 --via tcp --wait block"), BANDWIDTH),
        Side::Ours {
            arguments: "run am_bw --via tcp --size 1M --layout short --window 10 --wait block --duration 1s",
            tag: "bandwidth_bytes_per_s",
        },
        (Better::Higher, 0.9),
    ),
];

/// Sessions that do nothing, begin, or are flooded.
pub const LIVES: &[Comparison] = &[
    at_most(
        "idle computation, wake-ups",
        "1/s",
        ours(
            IDLE,
            At("/sections/session/sessions/0/computations/1/observed/wakeups_per_s"),
        ),
        1.0,
    ),
    at_most(
        "idle computation, cores",
        "1",
        ours(
            IDLE,
            At("/sections/session/sessions/0/computations/1/observed/cores_used"),
        ),
        0.001,
    ),
    at_most(
        "request to ready",
        "ns",
        ours(
            "session --computations=2 --duration=0",
            At("/sections/session/sessions/0/life/ready_ns"),
        ),
        50e6,
    ),
    at_most(
        "1e9 credits: memory of the sender",
        "B",
        ours(
            FLOOD,
            At("/sections/session/sessions/0/computations/0/observed/resident_max_bytes"),
        ),
        (64u64 << 20) as f64,
    ),
    at_least(
        "1e9 credits: reports of 4",
        "1",
        ours(FLOOD, Reports("/cases/0/repetitions/0/outcomes/2/intervals")),
        4.0,
    ),
];

/// Run a session once and return the figure.
pub fn run(
    context: &Context,
    report: &mut Report,
    arguments: &str,
    figure: Figure,
    cores: usize,
) -> Result<f64> {
    let cpus: Vec<String> = context.cores[..cores].iter().map(u32::to_string).collect();
    let counts = std::env::temp_dir().join(format!("wirespeed-strace-{}", std::process::id()));
    let mut command = command::bound("taskset");
    command.args(["-c", &cpus.join(",")]);
    if let SystemCalls = figure {
        command.args(["strace", "-f", "-c", "-o"]).arg(&counts);
    }
    command
        .arg(&context.binary)
        .args(arguments.split_whitespace())
        .arg("--json");
    let output = command::capture(&mut command)?;
    report.raw(&command::shown(&command), &condensed(&output));
    let document: Value = serde_json::from_str(&output).context("wirespeed printed no JSON")?;
    let found = match figure {
        Tag(tag) => largest(&document, tag),
        At(pointer) => document.pointer(pointer).and_then(Value::as_f64),
        Reports(pointer) => document
            .pointer(pointer)
            .and_then(|v| Some(v.as_array()?.len() as f64)),
        SystemCalls => {
            let text = std::fs::read_to_string(&counts).context("strace has counted nothing")?;
            // It is nobody's any more.
            let _ = std::fs::remove_file(&counts);
            report.raw("cat", &text);
            calls(&text)
                .zip(messages(&document))
                .map(|(calls, messages)| calls / messages)
        }
    };
    found.with_context(|| format!("{arguments}: the figure is not in the document"))
}

/// The last line of `strace -c`: `100.00    0.000000           4      1234        12 total`.
fn calls(text: &str) -> Option<f64> {
    let line = text.lines().rfind(|line| line.trim_end().ends_with("total"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

fn messages(document: &Value) -> Option<f64> {
    let outcomes = document.pointer("/cases/0/repetitions/0/outcomes")?.as_array()?;
    let received = outcomes
        .iter()
        .filter_map(|outcome| outcome.pointer("/received/messages")?.as_f64());
    Some(received.sum()).filter(|sum| *sum > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_strace_are_read() {
        let text = "% time     seconds  usecs/call     calls    errors syscall\n\
                    ------ ----------- ----------- --------- --------- ----------------\n\
                    100.00    0.012345           1      4321        12 total\n";
        assert_eq!(calls(text), Some(4321.0));
        assert_eq!(calls(""), None);
        let document = serde_json::json!({"cases": [{"repetitions": [{"outcomes": [
            {"received": {"messages": 3}}, {"received": {"messages": 4}}]}]}]});
        assert_eq!(messages(&document), Some(7.0));
    }

    #[test]
    fn every_row_has_the_words_of_a_session() {
        for comparison in [ROUND_TRIPS, RATES, BANDWIDTHS, LIVES].concat() {
            if let Side::Session { arguments, .. } = comparison.ours {
                assert!(arguments.starts_with("session "), "{arguments}");
                assert!(!arguments.contains("  "), "{arguments}");
            }
        }
    }
}
