//! wirespeed beside an earlier build of itself: nothing may become slower. The earlier build lies where `BEFORE` says; it must
//! know the words that the rows use, and nothing else is asked of it.

use super::mpi::{MPICH, OPEN_MPI};
use super::side::Side;
use super::table::{Better, Comparison, kept};
use std::path::Path;

/// The earlier build, from the root.
pub const BEFORE: &str = "target/before/wirespeed";

/// How much worse the end of an interval may be.
const WORSE: f64 = 1.02;

/// What is measured of each transport: its name, the words, the figure, its unit, which way is better.
const FIGURES: [(&str, &str, &str, &str, Better); 3] = [
    (
        "am_lat 8 B",
        "run am_lat --size 8",
        "rtt_p50_ns",
        "ns",
        Better::Lower,
    ),
    (
        "am_bw 8 B",
        "run am_bw --size 8",
        "rate_msg_per_s",
        "msg/s",
        Better::Higher,
    ),
    (
        "am_bw 128 KiB",
        "run am_bw --size 128K",
        "bandwidth_bytes_per_s",
        "B/s",
        Better::Higher,
    ),
];

/// Why there is no earlier build; `None` where there is one.
pub fn missing(root: &Path) -> Option<String> {
    (!root.join(BEFORE).is_file()).then(|| format!("no earlier build of wirespeed at {BEFORE}"))
}

/// The rows of a transport, as `--via` names it.
pub fn of(via: &str) -> Vec<Comparison> {
    let row = |(name, words, tag, unit, better)| {
        let arguments = kept(format!("{words} --via {via} --duration 1s"));
        row(
            kept(format!("{via} {name}")),
            Side::Ours { arguments, tag },
            unit,
            better,
        )
    };
    FIGURES.map(row).to_vec()
}

/// The rows of MPI, two ranks of each library.
pub fn of_mpi() -> Vec<Comparison> {
    let libraries = [("Open MPI", &OPEN_MPI), ("MPICH", &MPICH)];
    let rows = libraries.iter().flat_map(|(library, mpi)| {
        FIGURES.map(|(name, words, tag, unit, better)| {
            let arguments = kept(format!("{words} --via mpi --duration 1s"));
            let ours = Side::OursUnder { mpi, arguments, tag };
            row(kept(format!("{library} {name}")), ours, unit, better)
        })
    });
    rows.collect()
}

fn row(name: &'static str, ours: Side, unit: &'static str, better: Better) -> Comparison {
    Comparison {
        name,
        unit,
        theirs: Side::Before(Box::leak(Box::new(ours.clone()))),
        ours,
        aim: match better {
            Better::Lower => WORSE,
            Better::Higher => 1.0 / WORSE,
        },
        better,
    }
}
