//! Tests of MPI with no options, beside bare loops in C under the same launcher, in every way in which people launch two ranks.

use super::super::groups::Group;
use super::super::side::Side;
use super::super::table::{Better, Comparison, kept};
use super::{Read, Typed, Whose};

/// A launcher with the words that people give it.
struct Launcher {
    /// In the name of the row.
    name: &'static str,
    /// What is typed before the program.
    words: &'static str,
    /// The loops under its library.
    loops: &'static str,
    needs: &'static [&'static str],
}

const fn openmpi(name: &'static str, words: &'static str) -> Launcher {
    Launcher {
        name,
        words,
        loops: "mpi_loops.openmpi",
        needs: &["mpi_loops.openmpi"],
    }
}

const fn mpich(name: &'static str, words: &'static str) -> Launcher {
    Launcher {
        name,
        words,
        loops: "mpi_loops.mpich",
        needs: &["mpi_loops.mpich"],
    }
}

const OPEN_MPI: [Launcher; 3] = [
    openmpi("Open MPI", "mpirun.openmpi -n 2"),
    openmpi("Open MPI --bind-to core", "mpirun.openmpi --bind-to core -n 2"),
    openmpi("Open MPI --bind-to none", "mpirun.openmpi --bind-to none -n 2"),
];
const MPICH: [Launcher; 2] = [
    mpich("MPICH", "mpirun.mpich -n 2"),
    mpich("MPICH -bind-to core", "mpirun.mpich -bind-to core -n 2"),
];
const SLURM: [Launcher; 2] = [
    Launcher {
        needs: &["mpi_loops.openmpi", "srun"],
        ..openmpi("srun, Open MPI", "srun -N 1 -n 2 --mpi=pmix")
    },
    Launcher {
        needs: &["mpi_loops.mpich", "srun"],
        ..mpich("srun, MPICH", "srun -N 1 -n 2 --mpi=pmi2")
    },
];

/// A verb and the loop of the same size and window.
struct Test {
    name: &'static str,
    unit: &'static str,
    ours: (&'static str, &'static str),
    theirs: &'static str,
    bound: (Better, f64),
}

const PING_PONG: &str = "bare 8 1 1000000 1000 0";
const WINDOWS_8: &str = "osu_bw 8 128 16000 200 0";
const WINDOWS_128K: &str = "osu_bw 131072 64 300 20 0";
const TIME: (Better, f64) = (Better::Lower, 1.05);
const MANY: (Better, f64) = (Better::Higher, 0.97);

const TESTS: [Test; 5] = [
    Test {
        name: "tag_lat by default / MPI_Send and MPI_Recv in C",
        unit: "ns",
        ours: ("tag_lat", "rtt_mean_ns"),
        theirs: PING_PONG,
        bound: TIME,
    },
    Test {
        name: "latency by default / MPI_Send and MPI_Recv in C",
        unit: "ns",
        ours: ("latency", "rtt_mean_ns"),
        theirs: PING_PONG,
        bound: TIME,
    },
    Test {
        name: "tag_bw by default / windows in C",
        unit: "msg/s",
        ours: ("tag_bw", "rate_msg_per_s"),
        theirs: WINDOWS_128K,
        bound: MANY,
    },
    Test {
        name: "bandwidth by default / windows in C",
        unit: "msg/s",
        ours: ("bandwidth", "rate_msg_per_s"),
        theirs: WINDOWS_128K,
        bound: MANY,
    },
    Test {
        name: "rate by default / windows in C",
        unit: "msg/s",
        ours: ("rate", "rate_msg_per_s"),
        theirs: WINDOWS_8,
        bound: MANY,
    },
];

/// A group for each launcher.
pub fn groups() -> Vec<Group> {
    let group = |name, pair_s, launchers: &[Launcher]| {
        let rows = TESTS
            .iter()
            .flat_map(|test| launchers.iter().map(move |launcher| row(launcher, test)));
        Group {
            name,
            pair_s,
            rows: rows.collect(),
        }
    };
    vec![
        group("openmpi", 4.0, &OPEN_MPI),
        group("mpich", 4.0, &MPICH),
        group("slurm", 6.0, &SLURM),
    ]
}

fn row(launcher: &Launcher, test: &Test) -> Comparison {
    let side = |whose, program: String, read| {
        Side::Typed(Typed {
            whose,
            server: "",
            line: kept(format!("{} {program}", launcher.words)),
            read,
            needs: launcher.needs,
        })
    };
    let (verb, tag) = test.ours;
    let (better, aim) = test.bound;
    Comparison {
        name: kept(format!("{} {}", launcher.name, test.name)),
        unit: test.unit,
        ours: side(
            Whose::Ours,
            format!("wirespeed run {verb} --via mpi --json"),
            Read::Tag(tag),
        ),
        theirs: side(
            Whose::Theirs,
            format!("{} {}", launcher.loops, test.theirs),
            Read::Loop,
        ),
        aim,
        better,
    }
}
