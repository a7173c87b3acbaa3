//! Transfers without and with load beside them at the near end, in turn. The load never outlives the transfer that it was
//! started for.

use super::bench::Measuring;
use crate::errors::Failure;
use crate::interference::{loaded, refused};
use crate::order::{blocks, fresh_seed};
use wirespeed::load::{Background, Interference, Measuring as Measured};
use wirespeed_byteio::client::TransferOptions;
use wirespeed_report::byteio::{case, complete};
use wirespeed_report::interference::{Arms, Interference as Section, Loaded, under_load};
use wirespeed_schema::byteio::Pair;
use wirespeed_schema::plan::PlannedCase;

/// One job without load, and with each.
struct Turns {
    off: Pair,
    on: Vec<(Loaded, Pair)>,
}

impl Turns {
    /// The pair of an arm, and its load where it has one; arm 0 is without.
    fn arm(&mut self, arm: usize) -> (&mut Pair, Option<&Loaded>) {
        match arm {
            0 => (&mut self.off, None),
            arm => {
                let (loaded, pair) = &mut self.on[arm - 1];
                (pair, Some(loaded))
            }
        }
    }

    fn pairs(&mut self) -> impl Iterator<Item = &mut Pair> {
        std::iter::once(&mut self.off).chain(self.on.iter_mut().map(|(_, pair)| pair))
    }

    /// What is compared; nothing where an interruption left nothing without load.
    fn compared(&self) -> Option<Arms> {
        let measured = |pair: &Pair| (!pair.runs.is_empty()).then(|| case(pair));
        let with = |(loaded, pair): &(Loaded, Pair)| Some((loaded.clone(), under_load(measured(pair)?)));
        Some(Arms {
            off: measured(&self.off)?,
            on: self.on.iter().filter_map(with).collect(),
        })
    }
}

impl Measuring {
    /// All rounds of all jobs: each job's pairs, without load first, and what they say.
    pub(super) fn disturbed(
        &self,
        jobs: &[TransferOptions],
        loads: &[Interference],
    ) -> Result<(Vec<Pair>, Section), Failure> {
        let turns = jobs.iter().map(|options| self.turns(options, loads));
        let mut turns: Vec<Turns> = turns.collect::<Result<_, _>>()?;
        let seed = fresh_seed();
        for visit in blocks(jobs.len(), loads.len() + 1, self.repeats, seed) {
            let (pair, loaded) = turns[visit.case].arm(visit.arm);
            if self.stop.is_requested() || pair.error.is_some() {
                continue;
            }
            let load = match loaded {
                None => None,
                Some(loaded) => Some(begin(pair, loaded)?),
            };
            let before = pair.runs.len();
            let options = &jobs[visit.case];
            self.once(pair, |pair| self.run(options, pair))?;
            // A run that failed outright is not there.
            if let (Some(load), Some(run)) = (load, pair.runs.get_mut(before)) {
                run.load_done = load.stop();
            }
        }
        turns.iter_mut().flat_map(Turns::pairs).for_each(complete);
        let compared: Vec<Arms> = turns.iter().filter_map(Turns::compared).collect();
        let found = Section::judged(&compared, seed, self.repeats);
        let pairs = turns.iter_mut().flat_map(Turns::pairs);
        let measured = pairs.filter(|pair| !pair.runs.is_empty()).map(std::mem::take);
        Ok((measured.collect(), found))
    }

    fn turns(&self, options: &TransferOptions, loads: &[Interference]) -> Result<Turns, Failure> {
        let off = self.begun(options);
        let planned = PlannedCase {
            case: case(&off).case,
            to: None,
            template: 0,
        };
        let with = loads.iter().map(|load| {
            let (words, disturbed) = loaded(&planned, load)?;
            let pair = Pair {
                name: format!("under {load}"),
                load: disturbed.case.ranks[0].load.clone(),
                ..off.clone()
            };
            Ok((words, pair))
        });
        Ok(Turns {
            on: with.collect::<Result<_, Failure>>()?,
            off,
        })
    }
}

fn begin(pair: &Pair, loaded: &Loaded) -> Result<Background, Failure> {
    Background::start(&pair.load, &Measured::alone(None)).map_err(|error| refused(&loaded.load, &error))
}
