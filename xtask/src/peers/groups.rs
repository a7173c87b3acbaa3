//! What can be measured: sets of groups of rows. A group is the unit of everything: its rows take turns, it has a budget of
//! time, and it is resumed. Which rows there are is said here and in the tables; how they are run is not.

use super::derived::Derived;
use super::table::{self, Comparison};
use super::{before, byteio, mpi, session, typed, ucx};

/// Groups that are archived together, and named by the same word on the command line.
pub struct Set {
    /// What is typed behind `peers`; empty for the first set.
    pub word: &'static str,
    /// In the name of the archive.
    pub name: &'static str,
    /// What it compares.
    pub about: &'static str,
    /// Interleaved pairs a row, where nobody says how many.
    pub pairs: usize,
    /// Its groups.
    pub groups: fn() -> Vec<Group>,
    /// Figures made of the rows' pairs.
    pub derived: &'static [Derived],
}

/// Rows that take turns.
pub struct Group {
    /// What `--group` calls it.
    pub name: &'static str,
    /// How long a pair of a row takes on two cores of a virtual machine, in s: what is expected before anything is measured.
    pub pair_s: f64,
    /// The rows, in the order of the summary.
    pub rows: Vec<Comparison>,
}

fn group(name: &'static str, pair_s: f64, rows: Vec<Comparison>) -> Group {
    Group { name, pair_s, rows }
}

/// Every set; the first is what `peers` runs without a word.
pub const SETS: &[Set] = &[
    Set {
        word: "",
        name: "peers",
        about: "shared memory and TCP beside ucx_perftest, iperf3 and sockperf with options of the same meaning",
        pairs: 10,
        groups: || {
            vec![
                group("shm", 3.5, table::SHM.to_vec()),
                group("tcp", 7.0, table::TCP.to_vec()),
                group("harness", 1.5, table::HARNESS.to_vec()),
            ]
        },
        derived: &[],
    },
    Set {
        word: "typed",
        name: "typed",
        about: "the commands that users type, on both sides",
        pairs: 10,
        groups: typed::groups,
        derived: &[],
    },
    Set {
        word: "mpi",
        name: "mpi",
        about: "tests of MPI beside the same loops in C",
        pairs: 30,
        groups: || {
            vec![
                group("openmpi", 1.5, mpi::of("Open MPI")),
                group("mpich", 1.5, mpi::of("MPICH")),
            ]
        },
        derived: mpi::DERIVED,
    },
    Set {
        word: "ucx",
        name: "ucx-peers",
        about: "the transport uct beside ucx_perftest, test by test",
        pairs: 20,
        groups: || {
            vec![
                group("posix", 2.5, ucx::of("posix")),
                group("sysv", 2.5, ucx::of("sysv")),
                group("self", 1.5, ucx::of("self")),
                group("tcp", 4.0, ucx::of("tcp")),
                group("cma", 2.5, ucx::of("cma")),
                group("set-up", 8.0, ucx::set_ups()),
            ]
        },
        derived: &[],
    },
    Set {
        word: "byteio",
        name: "byteio",
        about: "bulk transfers beside iperf3, curl, GridFTP and other SOAP stacks, on loopback and on emulated paths (root)",
        pairs: 10,
        groups: || {
            vec![
                group("gets", 6.0, byteio::gets()),
                group("puts", 6.0, byteio::puts()),
                group("paths", 30.0, byteio::paths()),
                group("memory", 30.0, byteio::memory()),
            ]
        },
        derived: &[],
    },
    Set {
        word: "session",
        name: "session",
        about: "message paths of sessions beside bare transports and their aims",
        pairs: 10,
        groups: || {
            vec![
                group("round-trips", 2.0, session::ROUND_TRIPS.to_vec()),
                group("rates", 2.0, session::RATES.to_vec()),
                group("bandwidths", 6.0, session::BANDWIDTHS.to_vec()),
                group("lives", 6.0, session::LIVES.to_vec()),
            ]
        },
        derived: &[],
    },
    Set {
        word: "before",
        name: "before",
        about: "an earlier build of wirespeed itself, at target/before/wirespeed",
        pairs: 10,
        groups: || {
            let ours = ["inproc", "shm", "unix", "tcp", "udp", "uct", "ucp"];
            let groups = ours.map(|via| group(via, 2.5, before::of(via)));
            groups
                .into_iter()
                .chain([group("mpi", 3.5, before::of_mpi())])
                .collect()
        },
        derived: &[],
    },
];

/// The set that `word` names.
pub fn set(word: &str) -> Option<&'static Set> {
    SETS.iter().find(|set| set.word == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn groups_and_rows_have_names_of_their_own_and_figures_have_their_rows() {
        for set in SETS {
            let groups = (set.groups)();
            let names: BTreeSet<_> = groups.iter().map(|group| group.name).collect();
            assert_eq!(names.len(), groups.len(), "{}", set.name);
            let rows: Vec<_> = groups.iter().flat_map(|group| &group.rows).collect();
            let names: BTreeSet<_> = rows.iter().map(|row| row.name).collect();
            assert_eq!(names.len(), rows.len(), "{}", set.name);
            for group in &groups {
                assert!(!group.rows.is_empty() && group.pair_s > 0.0, "{}", group.name);
            }
            for derived in set.derived {
                assert!(
                    names.contains(derived.of),
                    "{}: no row {}",
                    derived.name,
                    derived.of
                );
            }
        }
    }
}
