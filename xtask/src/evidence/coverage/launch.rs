//! One short launch of the program: what is launched, what is kept of it, and how that is written as a line and read
//! again. It must never keep a launch that is not whole.

use crate::command;
use anyhow::{Context as _, Result, bail};
use std::path::Path;
use std::process::Command;
use wirespeed_report::read_run;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::outcome::{Interval, Outcome};
use wirespeed_schema::run::{CaseResult, CaseStatus};

/// How long a launch measures: 80 slices where nothing disturbs it; the program draws blocks from 32 on.
const DURATION: &str = "80ms";
const SLICE: &str = "1ms";
/// So that 4800 launches take minutes.
const WARMUP: &str = "10ms";
/// Names the fields of [`Launch::line`].
pub const HEAD: &str = "launch,case,value,lower,upper,level,slices";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Median round trip, 8 B.
    Latency,
    /// Messages in a second, 8 B.
    Rate,
}

/// A transport and what is measured of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// The transport.
    pub transport: &'static str,
    /// The test.
    pub kind: Kind,
}

/// In the order of a round.
pub const SUBJECTS: [Subject; 6] = [
    Subject::new("shm", Kind::Latency),
    Subject::new("tcp", Kind::Latency),
    Subject::new("udp", Kind::Latency),
    Subject::new("shm", Kind::Rate),
    Subject::new("tcp", Kind::Rate),
    Subject::new("udp", Kind::Rate),
];

impl Subject {
    const fn new(transport: &'static str, kind: Kind) -> Subject {
        Subject { transport, kind }
    }

    /// The verb that measures it.
    const fn verb(self) -> &'static str {
        match self.kind {
            Kind::Latency => "latency",
            Kind::Rate => "rate",
        }
    }

    /// Its name in the archive: `shm latency`.
    pub fn name(self) -> String {
        format!("{} {}", self.transport, self.verb())
    }

    /// The figure that is published; its unit is at the end.
    pub const fn tag(self) -> &'static str {
        match self.kind {
            Kind::Latency => "rtt_p50_ns",
            Kind::Rate => "rate_msg_per_s",
        }
    }

    /// The program's arguments.
    pub fn words(self) -> Vec<&'static str> {
        let (verb, via) = (self.verb(), self.transport);
        let asked = ["run", verb, "--via", via, "--size", "8", "-t", DURATION];
        let kept = ["--interval", SLICE, "--warmup", WARMUP, "-q", "--json"];
        [&asked[..], &kept[..]].concat()
    }
}

/// The interval that a launch alone publishes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Own {
    /// Lower end, in the unit of the figure.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Level that it states.
    pub level: f64,
}

/// What is kept of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The published figure.
    pub value: f64,
    /// Its interval within the launch, where it has one.
    pub own: Option<Own>,
    /// The same figure slice by slice of time.
    pub slices: Vec<f64>,
}

impl Launch {
    /// Run the program once.
    pub fn measure(binary: &Path, subject: Subject) -> Result<Launch> {
        let text = command::capture(Command::new(binary).args(subject.words()))?;
        let run = read_run(text.as_bytes())?;
        Launch::of(run.cases.first().context("the result has no case")?, subject)
    }

    /// What is kept of a launch's result.
    pub fn of(case: &CaseResult, subject: Subject) -> Result<Launch> {
        if case.status != CaseStatus::Ok {
            bail!(
                "not measured to its end: {}",
                case.error.as_deref().unwrap_or("no reason")
            );
        }
        let metric = case
            .metrics
            .get(subject.tag())
            .context("the result lacks the figure")?;
        let ends = (metric.lower.zip(metric.upper)).zip(metric.level);
        let outcomes = case
            .repetitions
            .iter()
            .flat_map(|repetition| &repetition.outcomes);
        Ok(Launch {
            value: metric.value.get(),
            own: ends.map(|((lower, upper), level)| Own {
                lower: lower.get(),
                upper: upper.get(),
                level: level.get(),
            }),
            slices: slices(outcomes, subject.kind),
        })
    }

    /// A line of the archive, without its end.
    pub fn line(&self, number: usize, subject: Subject) -> String {
        let own = self.own.map_or(",,".to_owned(), |own| {
            format!("{},{},{}", own.lower, own.upper, own.level)
        });
        let slices: Vec<String> = self.slices.iter().map(f64::to_string).collect();
        format!(
            "{number},{},{},{own},{}",
            subject.name(),
            self.value,
            slices.join(" ")
        )
    }

    /// What a line says, which has to be launch `number` of `subject`.
    pub fn parse(line: &str, number: usize, subject: Subject) -> Result<Launch> {
        let fields: Vec<&str> = line.split(',').collect();
        let [at, name, value, lower, upper, level, slices] = fields[..] else {
            bail!("{} fields, not 7", fields.len());
        };
        if at != number.to_string() || name != subject.name() {
            bail!(
                "launch {at} of {name} where launch {number} of {} is due",
                subject.name()
            );
        }
        let finite = |text: &str| -> Result<f64> {
            let value: f64 = text
                .parse()
                .with_context(|| format!("{text:?} is not a number"))?;
            Ok(Finite::new(value)?.get())
        };
        let own = match [lower, upper, level] {
            ["", "", ""] => None,
            [lower, upper, level] => Some(Own {
                lower: finite(lower)?,
                upper: finite(upper)?,
                level: finite(level)?,
            }),
        };
        Ok(Launch {
            value: finite(value)?,
            own,
            slices: slices.split_whitespace().map(finite).collect::<Result<_>>()?,
        })
    }
}

/// Medians of the slices of the rank that has some, or what the sink, which comes last, received in a second: to four
/// digits, far finer than slices differ by, so that the archive stays small.
fn slices<'a>(outcomes: impl Iterator<Item = &'a Outcome>, kind: Kind) -> Vec<f64> {
    let of = |slice: &Interval| match kind {
        _ if slice.duration_ns == 0 => None,
        Kind::Latency => slice.p50_ns.map(Finite::get),
        Kind::Rate => Some(slice.received.messages as f64 * 1e9 / slice.duration_ns as f64),
    };
    let rounded = |value: f64| format!("{value:.3e}").parse::<f64>().ok();
    let values = |outcome: &Outcome| -> Vec<f64> {
        let slices = outcome.intervals.iter().filter_map(of);
        slices.filter_map(rounded).collect()
    };
    let mut all = outcomes.map(values).filter(|values| !values.is_empty());
    match kind {
        Kind::Latency => all.next(),
        Kind::Rate => all.last(),
    }
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_measured() {
        let bare = Launch {
            value: 3.5e6,
            own: None,
            slices: vec![3_499_001.0, 3_500_999.0],
        };
        let own = Own {
            lower: 130.25,
            upper: 131.5,
            level: 0.950_1,
        };
        let whole = Launch {
            own: Some(own),
            slices: Vec::new(),
            ..bare.clone()
        };
        for launch in [bare, whole] {
            let line = launch.line(7, SUBJECTS[3]);
            assert_eq!(Launch::parse(&line, 7, SUBJECTS[3]).unwrap(), launch);
            assert!(Launch::parse(&line, 8, SUBJECTS[3]).is_err(), "another launch");
            assert!(Launch::parse(&line, 7, SUBJECTS[4]).is_err(), "another case");
        }
        for torn in [
            "",
            "7,shm rate,3500",
            "7,shm rate,NaN,,,,",
            "7,shm rate,1,2,,,",
            "7,shm rate,1,,,,3 x",
        ] {
            assert!(Launch::parse(torn, 7, SUBJECTS[3]).is_err(), "{torn:?}");
        }
    }
}
