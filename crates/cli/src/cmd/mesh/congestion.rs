//! What a mesh measures under congestion: the words of `--pattern`, who is measured and who sends meanwhile, and what the storms
//! moved. Everything is checked before anything is started.

use super::case::{cases, is_of_jobs};
use super::pairs::find;
use super::plan::{Mesh, refused};
use super::roster::{Roster, Source};
use super::storm::{Moved, SLICE_NS, Storm};
use crate::errors::Failure;
use wirespeed::Registry;
use wirespeed_mesh::{Pair, Pattern};
use wirespeed_report::stats::{OverRounds, Random, fairness};
use wirespeed_schema::case::Case;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::mesh::{MeshShare, MeshStorm, MeshStream};
use wirespeed_schema::plan::{Plan, PlanError, Template};

/// One host of so many is measured in a storm, where the words name none.
const VICTIMS: usize = 5;

/// A storm as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `incast@node3`.
    pub load: String,
    pattern: Pattern,
    centre: Option<usize>,
    streams: Vec<Pair>,
}

impl Mesh {
    /// Choose who is measured in a storm and who makes it; the pairs of the former.
    pub fn split(&mut self, victims: &[String]) -> Result<Vec<Pair>, Failure> {
        let count = self.roster.hosts.len();
        let mut order: Vec<usize> = (0..count).collect();
        Random::new(self.options.seed).shuffle(&mut order);
        let mut measured: Vec<usize> = match victims.is_empty() {
            true => order[..(count / VICTIMS).max(2)].to_vec(),
            false => {
                let found = victims.iter().map(|name| find(&self.roster, name));
                found.collect::<Result<_, _>>()?
            }
        };
        measured.sort_unstable();
        measured.dedup();
        if measured.len() < 2 {
            return Err(Failure::usage(
                "--victims names one host",
                "name two at least: pairs are measured",
            ));
        }
        // Who measures does not send; of too few hosts all do.
        let mut others: Vec<usize> = (0..count).filter(|host| !measured.contains(host)).collect();
        if others.len() < 2 {
            others = (0..count).collect();
        }
        for storm in &mut self.storms {
            let streams = storm.pattern.streams(&others, storm.centre, self.options.seed);
            storm.streams = streams.map_err(|error| refused(&error))?;
        }
        let of = |from: usize| {
            measured
                .iter()
                .filter(move |to| **to != from)
                .map(move |to| Pair { from, to: *to })
        };
        Ok(measured.iter().flat_map(|from| of(*from)).collect())
    }

    /// The storms beside a case: streams of large messages over its transport, between ranks of their own.
    pub fn storms_of(&self, registry: &Registry, case: &Case) -> Result<Vec<Storm>, Failure> {
        let needs_job = self.roster.source == Source::Job && is_of_jobs(registry, case);
        if needs_job && !self.storms.is_empty() {
            return Err(Failure::usage(
                format!(
                    "--pattern needs ranks beside those that measure, and {} has none but those of the job",
                    case.transport
                ),
                "measure over another transport: -- latency,bandwidth --via tcp",
            ));
        }
        let others = Roster {
            source: self.roster.beside(),
            hosts: self.roster.hosts.clone(),
        };
        let own = |pair: &Pair| [pair.from, pair.to].map(|host| self.roster.hosts[host].options.clone());
        let stream = |asked: &Asked| {
            let mut template = Template::of([("test", "am_bw"), ("via", case.transport.as_str())])?;
            let options = case.options.iter();
            template.options = options
                .map(|(name, value)| (name.clone(), vec![value.clone()]))
                .collect();
            let found = cases(registry, &Plan::of(vec![template]), &others)?;
            let stream = found.into_iter().next().filter(|found| found.skip.is_none());
            let stream = stream.ok_or_else(|| {
                Failure::usage(
                    format!("--pattern {}: {} cannot stream", asked.load, case.transport),
                    "name a transport that has am_bw, see `wirespeed list`",
                )
            })?;
            Ok(Storm {
                load: asked.load.clone(),
                streams: asked.streams.clone(),
                options: asked.streams.iter().map(own).collect(),
                case: stream.planned.case.with_rail(case.rail.clone()),
            })
        };
        self.storms.iter().map(stream).collect()
    }

    /// What is published of the storms of a case; `subject` is its number in the plan, `case` in the document.
    pub fn published_storms(
        &self,
        (subject, case): (usize, usize),
        moved: &[(usize, usize, Moved)],
    ) -> Vec<MeshStorm> {
        let of = |(number, asked): (usize, &Asked)| {
            let runs = moved.iter().filter(|(of, at, _)| (*of, *at) == (subject, number));
            let runs: Vec<&Moved> = runs.map(|(_, _, moved)| moved).collect();
            let finite = |values: Vec<f64>| values.into_iter().filter_map(Finite::maybe).collect();
            let stream = |(at, pair): (usize, &Pair)| MeshStream {
                from: pair.from as u32,
                to: pair.to as u32,
                rates_bytes_per_s: finite(runs.iter().map(|run| run.rates[at]).collect()),
                slices_bytes_per_s: runs.iter().map(|run| finite(run.slices[at].clone())).collect(),
            };
            let tables: Vec<Vec<Vec<f64>>> = runs.iter().map(|run| even(&run.slices)).collect();
            let fair = fairness(&tables);
            MeshStorm {
                load: asked.load.clone(),
                case: case as u32,
                streams: asked.streams.iter().enumerate().map(stream).collect(),
                slice_ns: SLICE_NS,
                jain_ratio: fair.and_then(|fair| shared(fair.index)),
                least_ratio: fair.and_then(|fair| shared(fair.least)),
                greatest_ratio: fair.and_then(|fair| shared(fair.greatest)),
                within_slices_ratio: fair.and_then(|fair| Finite::maybe(fair.within_slices)),
            }
        };
        let all = self.storms.iter().enumerate().map(of);
        all.filter(|storm| {
            storm
                .streams
                .iter()
                .any(|stream| !stream.rates_bytes_per_s.is_empty())
        })
        .collect()
    }
}

/// The slices that all streams have: one that began later or ended earlier has fewer, and the last is cut short.
fn even(slices: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let count = slices
        .iter()
        .map(|stream| stream.len().saturating_sub(1))
        .min()
        .unwrap_or(0);
    slices.iter().map(|stream| stream[..count].to_vec()).collect()
}

fn shared(figure: OverRounds) -> Option<MeshShare> {
    let end = |at: usize| figure.interval.and_then(|interval| Finite::maybe(interval[at]));
    Some(MeshShare {
        value: Finite::maybe(figure.mean)?,
        lower: end(0),
        upper: end(1),
    })
}

/// The storms that words such as `incast@node3,bisection` name; their streams are chosen later.
pub fn storms(words: &[String], roster: &Roster) -> Result<Vec<Asked>, Failure> {
    let mut storms: Vec<Asked> = Vec::new();
    for word in words {
        let (name, centre) = word
            .split_once('@')
            .map_or((word.as_str(), None), |(name, host)| (name, Some(host)));
        let names = Pattern::ALL.map(Pattern::name);
        let pattern = Pattern::of_name(name).ok_or_else(|| PlanError::unknown("pattern", name, &names))?;
        if centre.is_some() && !pattern.has_centre() {
            return Err(Failure::usage(
                format!("{name} has no host that it turns on"),
                "write @HOST behind incast or outcast",
            ));
        }
        if storms.iter().any(|known| known.load == *word) {
            return Err(Failure::usage(
                format!("--pattern names {word} twice"),
                "name each once",
            ));
        }
        storms.push(Asked {
            load: word.clone(),
            pattern,
            centre: centre.map(|host| find(roster, host)).transpose()?,
            streams: Vec::new(),
        });
    }
    Ok(storms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_name_storms() {
        let roster = Roster::named(&["n1", "n2", "n3"]);
        let found = storms(&words(&["incast@n2", "bisection"]), &roster).unwrap();
        assert_eq!((found[0].pattern, found[0].centre), (Pattern::Incast, Some(1)));
        assert_eq!((found[1].load.as_str(), found[1].centre), ("bisection", None));
        for (list, word) in [
            (&["incst"][..], "incast"),
            (&["incast@n4"], "n4"),
            (&["bisection@n1"], "turns on"),
            (&["incast", "incast"], "twice"),
        ] {
            let failure = storms(&words(list), &roster).unwrap_err();
            let told = format!("{} {}", failure.cause, failure.remedy);
            assert!(failure.code == 2 && told.contains(word), "{told}");
        }
    }

    #[test]
    fn storms_of_a_job_are_between_processes_beside_it() {
        let beside = |names: &[&str], source| Roster {
            source,
            ..Roster::named(names)
        };
        assert_eq!(beside(&["n1", "n1"], Source::Job).beside(), Source::Here);
        assert_eq!(beside(&["n1", "n2", "n1"], Source::Job).beside(), Source::Ssh);
        assert_eq!(beside(&["n1", "n2"], Source::Servers).beside(), Source::Servers);
    }

    #[test]
    fn slices_are_those_that_all_have() {
        let slices = vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0]];
        assert_eq!(even(&slices), [[1.0], [4.0]]);
        assert_eq!(even(&[Vec::new()]), [Vec::<f64>::new()]);
    }
}
