//! Requests of one block offered at rates, in an open loop. It must never stand for a transfer of the whole.

use super::job::{self, time};
use super::runner::Transfers;
use crate::args::{ByteioBenchArgs, Verify};
use crate::cmd::front::Front;
use crate::errors::Failure;
use crate::experiment::{Found, How, Points, Prepared};
use crate::open_loop::{Asked, Rates};
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_byteio::client::TransferOptions;
use wirespeed_schema::units::{counted, format_ns};

/// How long each rate is offered where the user says nothing.
const DURATION: &str = "2s";
/// The longest: nobody waits for more.
const DURATION_MAX: Duration = Duration::from_secs(24 * 3600);

/// What is offered, and for how long each rate.
pub struct Offer {
    asked: Asked,
    duration: Duration,
}

impl Offer {
    /// Read and check the words; `None` where no rate is offered.
    pub fn of(arguments: &ByteioBenchArgs) -> Result<Option<Offer>, Failure> {
        let Some(asked) = Asked::of(&arguments.open_loop, Rates::Any)? else {
            return Ok(None);
        };
        let duration = time("duration", arguments.duration.as_deref().unwrap_or(DURATION))?;
        if duration > DURATION_MAX {
            return Err(Failure::usage(
                "--duration: a rate is offered for a day at most",
                "write it like 500ms or 10s",
            ));
        }
        if arguments.verify != Verify::None {
            return Err(Failure::usage(
                "--verify compares a whole transfer; offered requests are dropped",
                "leave --verify or --offered out",
            ));
        }
        // A rate needs the time between two answers at the least.
        if let Some(rate) = asked.lowest().filter(|rate| rate * duration.as_secs_f64() < 2.0) {
            return Err(Failure::usage(
                format!("--offered {rate}: not even two requests are due in {duration:?}"),
                "offer for longer, with --duration",
            ));
        }
        Ok(Some(Offer { asked, duration }))
    }

    /// What would be offered so often, in words.
    pub fn about(&self, repeats: u32) -> String {
        let each = format_ns(self.duration.as_nanos() as f64);
        let runs = counted(repeats.into(), "run");
        format!("{}, {runs} of each, {each} each", self.asked.about())
    }

    /// The cases of the rates that are known before anything is measured.
    pub fn known(
        &self,
        words: (&ByteioBenchArgs, &Registry),
        job: &TransferOptions,
    ) -> Result<Vec<Prepared>, Failure> {
        let rates = self.asked.known().into_iter();
        rates.map(|rate| self.prepared(words, job, rate)).collect()
    }

    fn prepared(
        &self,
        (arguments, registry): (&ByteioBenchArgs, &Registry),
        job: &TransferOptions,
        rate: f64,
    ) -> Result<Prepared, Failure> {
        let interval_ns = (1e9 / rate).round().max(1.0) as u64;
        job::offered(registry, &arguments.experiment, job, (interval_ns, self.duration))
    }

    /// All runs of all rates, by rising rate. The section goes into the draft.
    pub fn run(
        self,
        (arguments, registry): (&ByteioBenchArgs, &Registry),
        (how, job): (How, &TransferOptions),
        front: &mut Front,
        transfers: &mut Transfers,
    ) -> Result<Found, Failure> {
        let seed = how.seed;
        let mut points = Points::new(front.experiment(how, transfers), |rate| {
            self.prepared((arguments, registry), job, rate)
        });
        self.asked.offer(&mut points)?;
        let found = points.finish()?;
        let section = self.asked.section(&found.undisturbed(), seed);
        front.draft.put(&section);
        Ok(found)
    }
}
