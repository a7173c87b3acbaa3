//! Load as an experiment: a case with and without a disturber, to be measured in turn. The disturber becomes the background
//! load of the case's ranks, so that it runs wherever they run, starts after their pinning and ends with them.

use super::place::{Measuring, measuring_ranks, ranks_here};
use super::{LoadError, THREADS_MAX};
use crate::host::{Topology, allowed_cpus};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use wirespeed_schema::case::{Case, Place};

/// What is contended for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disturber {
    /// Nothing: the control, whose ratio should be 1.
    None,
    /// Cycles.
    Cpu,
    /// The way to the memory.
    Memory,
    /// The largest cache.
    Cache,
}

impl Disturber {
    /// All of them.
    pub const ALL: [Disturber; 4] = [
        Disturber::Cpu,
        Disturber::Memory,
        Disturber::Cache,
        Disturber::None,
    ];

    /// The word that users write.
    pub fn name(self) -> &'static str {
        match self {
            Disturber::None => "none",
            Disturber::Cpu => "cpu",
            Disturber::Memory => "memory",
            Disturber::Cache => "cache",
        }
    }
}

/// A disturber, where it runs and how strong it is. Written `KIND[=THREADS][@PLACE]`: `cpu`, `memory=4@apart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interference {
    /// What is contended for.
    pub disturber: Disturber,
    /// Threads of each measuring rank; `None`: as many as there are CPUs at the place, shared among the ranks.
    pub threads: Option<u32>,
    /// Where; `None`: apart from the measuring cores where there are others, else on them.
    pub place: Option<Place>,
}

/// Why words name no interference; displays as one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {why}")]
pub struct InterferenceError {
    text: String,
    why: String,
}

impl FromStr for Interference {
    type Err = InterferenceError;

    fn from_str(text: &str) -> Result<Self, InterferenceError> {
        let fail = |why: String| InterferenceError {
            text: text.to_owned(),
            why,
        };
        let (rest, place) = match text.split_once('@') {
            None => (text, None),
            Some((rest, name)) => {
                let names = Place::ALL.map(Place::name).join(", ");
                let place =
                    Place::of_name(name).ok_or_else(|| fail(format!("no such place; there are: {names}")))?;
                (rest, Some(place))
            }
        };
        let (name, threads) = match rest.split_once('=') {
            None => (rest, None),
            Some((name, count)) => match count.parse() {
                Ok(count @ 1..=THREADS_MAX) => (name, Some(count)),
                _ => return Err(fail(format!("threads are a number from 1 to {THREADS_MAX}"))),
            },
        };
        let names = Disturber::ALL.map(Disturber::name).join(", ");
        let found = Disturber::ALL.into_iter().find(|kind| kind.name() == name);
        let disturber = found.ok_or_else(|| fail(format!("no such load; there are: {names}")))?;
        Ok(Interference {
            disturber,
            threads,
            place,
        })
    }
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.disturber.name())?;
        if let Some(threads) = self.threads {
            write!(f, "={threads}")?;
        }
        match self.place {
            Some(place) => write!(f, "@{}", place.name()),
            None => Ok(()),
        }
    }
}

impl Interference {
    /// `case` with the disturber in every rank that measures, sized by this machine's CPUs, and the place that was chosen.
    /// Errors where a rank has a load already, and where the place has no CPU.
    pub fn applied(&self, case: &Case) -> Result<(Case, Place), LoadError> {
        self.applied_on(case, &Topology::read(Path::new("/")), &allowed_cpus())
    }

    fn applied_on(
        &self,
        case: &Case,
        topology: &Topology,
        allowed: &[u32],
    ) -> Result<(Case, Place), LoadError> {
        let mut disturbed = case.clone();
        let mut chosen = self.place.unwrap_or(Place::Beside);
        for number in measuring_ranks(case) {
            if !case.ranks[number].load.is_idle() {
                return Err(LoadError::Twice { rank: number });
            }
            let measuring = Measuring::in_case(case, number as u32);
            let place = self
                .place
                .unwrap_or_else(|| default_place(&measuring, topology, allowed));
            // What the far end allows its ranks is for the far end to say.
            let here = number < ranks_here(case);
            let cpus = match measuring.cpus_on(topology, place, allowed) {
                Ok(cpus) => cpus.len(),
                Err(error) if here => return Err(error),
                Err(_) => 1,
            };
            let sharing = match place {
                Place::Beside | Place::Apart => ranks_here(case),
                Place::Sibling | Place::Same => 1,
            };
            let threads = self
                .threads
                .unwrap_or(cpus.div_ceil(sharing).min(THREADS_MAX as usize) as u32);
            let load = &mut disturbed.ranks[number].load;
            match self.disturber {
                Disturber::None => continue,
                Disturber::Cpu => load.cpu_threads = threads,
                Disturber::Memory => load.bandwidth_threads = threads,
                Disturber::Cache => load.cache_threads = threads,
            }
            (load.place, load.of_others) = (place, true);
            if here {
                chosen = place;
            }
        }
        Ok((disturbed, chosen))
    }
}

/// Apart from the measuring cores where there are others, else on them; beside a rank that is not pinned.
fn default_place(measuring: &Measuring, topology: &Topology, allowed: &[u32]) -> Place {
    match measuring.own {
        None => Place::Beside,
        Some(_) if measuring.cpus_on(topology, Place::Apart, allowed).is_ok() => Place::Apart,
        Some(_) => Place::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::memory_bytes;
    use proptest::prelude::*;
    use wirespeed_schema::case::{GroupKind, RankSpec, Role, Stop};
    use wirespeed_schema::test::{Layout, PingPong, Test};

    fn case(cpus: [Option<u32>; 2]) -> Case {
        let rank = |number: usize| {
            RankSpec::new([Role::Source, Role::Sink][number])
                .with_peer(1 - number as u32)
                .with_cpu(cpus[number])
        };
        Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "shm")
            .with_group(GroupKind::Processes)
            .with_ranks(vec![rank(0), rank(1)])
            .with_stop(Stop::Iterations { count: 1 })
            .with_warmup(0, 0)
    }

    fn of(words: &str) -> Interference {
        words.parse().expect("an interference")
    }

    #[test]
    fn words_survive_a_round_trip() {
        for words in ["cpu", "memory=4@apart", "cache@same", "none", "cpu=1024"] {
            assert_eq!(of(words).to_string(), words);
        }
        for bad in [
            "",
            "disk",
            "cpu=0",
            "cpu=x",
            "cpu=9999",
            "cpu@",
            "cpu@there",
            "cpu@same=2",
            "@same",
        ] {
            let error = bad.parse::<Interference>().expect_err(bad).to_string();
            assert!(error.starts_with(&format!("{bad:?}: ")), "{error}");
        }
    }

    #[test]
    fn a_pinned_case_is_disturbed_apart_where_there_is_room() {
        let (disturbed, place) = of("cpu")
            .applied_on(&case([Some(0), Some(1)]), &Topology::default(), &[0, 1, 2, 3, 4])
            .expect("applied");
        assert_eq!(place, Place::Apart);
        assert_eq!(disturbed.ranks[0].load.cpu_threads, 2, "three CPUs for two ranks");
        assert_eq!(disturbed.ranks[0].load, disturbed.ranks[1].load);
    }

    #[test]
    fn without_room_it_runs_where_is_measured() {
        let (disturbed, place) = of("memory")
            .applied_on(&case([Some(0), Some(1)]), &Topology::default(), &[0, 1])
            .expect("applied");
        assert_eq!(place, Place::Same);
        assert_eq!(disturbed.ranks[1].load.bandwidth_threads, 1);
        assert!(memory_bytes(&disturbed.ranks[1].load) > 0);
        let (disturbed, place) = of("cache=3")
            .applied_on(&case([None, None]), &Topology::default(), &[0, 1])
            .expect("applied");
        assert_eq!((place, disturbed.ranks[0].load.cache_threads), (Place::Beside, 3));
    }

    #[test]
    fn what_cannot_be_is_refused_and_the_control_changes_nothing() {
        let pinned = case([Some(0), Some(1)]);
        let refused = of("cpu@apart").applied_on(&pinned, &Topology::default(), &[0, 1]);
        assert!(matches!(
            refused,
            Err(LoadError::Place {
                place: Place::Apart,
                ..
            })
        ));
        let mut loaded = pinned.clone();
        loaded.ranks[1].load.log_threads = 1;
        let refused = of("cpu").applied_on(&loaded, &Topology::default(), &[0, 1]);
        assert!(matches!(refused, Err(LoadError::Twice { rank: 1 })));
        let control = of("none").applied_on(&pinned, &Topology::default(), &[0, 1]);
        assert_eq!(control.expect("applied").0, pinned);
    }

    proptest! {
        #[test]
        fn any_words_parse_or_tell(words in "[a-z0-9=@]{0,16}") {
            if let Ok(found) = words.parse::<Interference>() {
                prop_assert_eq!(found.to_string().parse::<Interference>(), Ok(found));
            }
        }
    }
}
