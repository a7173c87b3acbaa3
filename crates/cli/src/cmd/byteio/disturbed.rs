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

impl Measuring {
    /// All rounds of all jobs: each job's pairs, without load first, and what they say.
    pub(super) fn disturbed(
        &self,
        jobs: &[TransferOptions],
        loads: &[Interference],
    ) -> Result<(Vec<Pair>, Section), Failure> {
        let mut all: Vec<Vec<(Option<Loaded>, Pair)>> = Vec::new();
        for options in jobs {
            all.push(self.arms(options, loads)?);
        }
        let seed = fresh_seed();
        for visit in blocks(jobs.len(), loads.len() + 1, self.repeats, seed) {
            let (_, pair) = &mut all[visit.case][visit.arm];
            if self.stop.is_requested() || pair.error.is_some() {
                continue;
            }
            let load = match pair.load.is_idle() {
                true => None,
                false => Some(begin(pair)?),
            };
            self.once(&jobs[visit.case], pair)?;
            if let (Some(load), Some(run)) = (load, pair.runs.last_mut()) {
                run.load_done = load.stop();
            }
        }
        let mut compared = Vec::new();
        for arms in &mut all {
            arms.iter_mut().for_each(|(_, pair)| complete(pair));
            let (off, on) = arms
                .split_first()
                .map_or((None, &[][..]), |(off, on)| (Some(off), on));
            let with = on.iter().filter_map(|(loaded, pair)| {
                let measured = (!pair.runs.is_empty()).then(|| under_load(case(pair)))?;
                Some((loaded.clone()?, measured))
            });
            let off = off.filter(|(_, pair)| !pair.runs.is_empty());
            compared.extend(off.map(|(_, pair)| Arms {
                off: case(pair),
                on: with.collect(),
            }));
        }
        let found = Section::judged(&compared, seed, self.repeats);
        let pairs = all.into_iter().flatten().map(|(_, pair)| pair);
        Ok((pairs.filter(|pair| !pair.runs.is_empty()).collect(), found))
    }

    /// A job without load, and with each.
    fn arms(
        &self,
        options: &TransferOptions,
        loads: &[Interference],
    ) -> Result<Vec<(Option<Loaded>, Pair)>, Failure> {
        let plain = self.begun(options);
        let planned = PlannedCase {
            case: case(&plain).case,
            to: None,
            template: 0,
        };
        let mut arms = vec![(None, plain.clone())];
        for load in loads {
            let (words, disturbed) = loaded(&planned, load)?;
            let pair = Pair {
                name: format!("under {load}"),
                load: disturbed.case.ranks[0].load.clone(),
                ..plain.clone()
            };
            arms.push((Some(words), pair));
        }
        Ok(arms)
    }
}

fn begin(pair: &Pair) -> Result<Background, Failure> {
    Background::start(&pair.load, &Measured::alone(None)).map_err(|error| refused(&pair.name, &error))
}
