//! wirespeed beside an earlier build of itself: nothing may become slower. The earlier build lies where `BEFORE` says; it must
//! know the words that the rows use, and nothing else is asked of it.

use super::mpi::{MPICH, Mpi, OPEN_MPI};
use super::side::Side;
use super::table::{Better, Comparison, kept};
use std::path::Path;

/// The earlier build, from the root.
pub const BEFORE: &str = "target/before/wirespeed";

/// How much worse the end of an interval may be.
const WORSE: f64 = 1.02;

/// What is measured: its name, the words, the figure, its unit, which way is better.
type Figure = (&'static str, &'static str, &'static str, &'static str, Better);

/// Of every transport: what is sent.
const SENT: [Figure; 2] = [
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
];

/// Of those that lose nothing: what is matched, put and fetched.
const LOSSLESS: [Figure; 3] = [
    (
        "tag_lat 8 B",
        "run tag_lat --size 8",
        "rtt_p50_ns",
        "ns",
        Better::Lower,
    ),
    (
        "put_bw 8 B",
        "run put_bw --size 8",
        "rate_msg_per_s",
        "msg/s",
        Better::Higher,
    ),
    (
        "fadd 8 B",
        "run fadd --size 8",
        "rate_msg_per_s",
        "msg/s",
        Better::Higher,
    ),
];

const fn bandwidth(name: &'static str, words: &'static str) -> Figure {
    (name, words, "bandwidth_bytes_per_s", "B/s", Better::Higher)
}

/// What is measured of a transport. Of an earlier build the largest message of some was short.
fn figures(via: &str) -> Vec<Figure> {
    let long = match via {
        "udp" => bandwidth("am_bw 32 KiB", "run am_bw --size 32K"),
        "uct" => bandwidth("am_bw 4 KiB", "run am_bw --size 4K --layout bcopy"),
        _ => bandwidth("am_bw 128 KiB", "run am_bw --size 128K"),
    };
    let lossless = LOSSLESS.into_iter().filter(|_| via != "udp");
    SENT.into_iter().chain([long]).chain(lossless).collect()
}

/// Why there is no earlier build; `None` where there is one.
pub fn missing(root: &Path) -> Option<String> {
    (!root.join(BEFORE).is_file()).then(|| format!("no earlier build of wirespeed at {BEFORE}"))
}

/// The rows of a transport, as `--via` names it.
pub fn of(via: &str) -> Vec<Comparison> {
    rows(via, via, |arguments, tag| Side::Ours { arguments, tag })
}

/// The rows of MPI, two ranks of each library.
pub fn of_mpi() -> Vec<Comparison> {
    let under = |mpi: &'static Mpi| move |arguments, tag| Side::OursUnder { mpi, arguments, tag };
    let [open_mpi, mpich] = [("Open MPI", &OPEN_MPI), ("MPICH", &MPICH)];
    [open_mpi, mpich]
        .map(|(name, mpi)| rows(name, "mpi", under(mpi)))
        .concat()
}

fn rows(name: &str, via: &str, side: impl Fn(&'static str, &'static str) -> Side) -> Vec<Comparison> {
    let figures = figures(via).into_iter();
    let rows = figures.map(|(figure, words, tag, unit, better)| {
        let ours = side(kept(format!("{words} --via {via} --duration 500ms")), tag);
        row(kept(format!("{name} {figure}")), ours, unit, better)
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
