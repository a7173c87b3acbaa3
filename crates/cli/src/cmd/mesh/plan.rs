//! What a mesh measures: its hosts and cases, the schedule of pairs, and how figures are judged. Everything is checked here, before
//! anything is started.

use super::allowance::{Allowance, SURVEY_SHARE};
use super::case::{cases, expected_ns, plan, tag_of};
use super::congestion::{Asked, storms};
use super::pairs::pairs_of;
use super::rails;
use super::roster::{Roster, Source};
use crate::args::MeshArgs;
use crate::cmd::dry_run;
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared};
use crate::group::parse_silence;
use crate::view;
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_control::Identity;
use wirespeed_mesh::{Campaign, MeshError, Mode, Options, Pair, Plan as Pairs, Schedule, Setup};
use wirespeed_schema::case::{RankSpec, Role, Stop};
use wirespeed_schema::plan::{Plan, pin};
use wirespeed_schema::units;
use wirespeed_schema::units::counted;

/// Rounds that a dry run lists.
const LISTED_ROUNDS: usize = 8;
/// Matchings that give a host the partners that it needs to be judged.
const PARTNERS: u64 = 3;

/// What is to be measured, between whom.
pub struct Mesh {
    pub roster: Roster,
    pub plan: Plan,
    pub cases: Vec<Prepared>,
    pub unit_names: Vec<String>,
    units: Vec<usize>,
    pub pairs: Pairs,
    pub options: Options,
    pub cycles: u32,
    /// The time for everything, where it is limited.
    budget: Option<Duration>,
    /// Storms that each case is measured in.
    pub storms: Vec<Asked>,
    /// Loads that each case is measured beside.
    loads: usize,
    /// Who is silent this long is lost.
    pub silence: Option<Duration>,
}

impl Mesh {
    /// Hosts, and the plan that the words are; cases follow with [`Mesh::settle`].
    pub fn of(arguments: &MeshArgs) -> Result<Mesh, Failure> {
        Identity::check(arguments.hosts.identity.as_deref())?;
        let mut roster = Roster::of(&arguments.hosts)?;
        pin_hosts(&arguments.experiment.cpus, &mut roster)?;
        let (unit_names, units) = roster.units()?;
        let options = Options {
            false_alarm: arguments.false_alarm,
            material: share(&arguments.material)?,
            mode: mode(arguments, &roster),
            ..Options::default()
        };
        // What storms are made of has to carry them, too.
        let usual = match arguments.pattern.is_empty() {
            true => roster.source,
            false => roster.beside(),
        };
        Ok(Mesh {
            plan: plan(&arguments.words, usual)?,
            roster,
            cases: Vec::new(),
            unit_names,
            units,
            pairs: Pairs::All,
            options,
            cycles: 0,
            budget: None,
            storms: Vec::new(),
            loads: 0,
            silence: arguments
                .hosts
                .silence
                .as_deref()
                .map(parse_silence)
                .transpose()?,
        })
    }

    /// The cases, and the pairs that they are measured between.
    pub fn settle(&mut self, registry: &Registry, arguments: &MeshArgs, how: &How) -> Result<(), Failure> {
        (self.cycles, self.options.seed) = (how.repeats, how.seed);
        self.loads = how.loads.len();
        let rails = rails::named(&arguments.hosts.rail, &self.roster)?;
        self.cases = rails::each(registry, cases(registry, &self.plan, &self.roster)?, &rails)?;
        self.storms = storms(&arguments.pattern, &self.roster)?;
        self.pairs = match (&arguments.pairs, &arguments.budget) {
            _ if !self.storms.is_empty() => Pairs::Given(self.split(&arguments.victims)?),
            (Some(path), _) => Pairs::Given(pairs_of(path, &self.roster)?),
            (None, Some(budget)) => Pairs::Budget(self.matchings(budget)?),
            (None, None) => Pairs::All,
        };
        self.campaigns().map(drop)
    }

    /// Cells of the experiment that each case has: by itself, beside each load, in each storm.
    pub fn cells_of_case(&self) -> usize {
        1 + self.loads + self.storms.len()
    }

    /// The unit of a host, where hosts have units.
    pub fn unit_of(&self, host: usize) -> Option<u32> {
        self.units.get(host).map(|unit| *unit as u32)
    }

    /// The schedule of one cycle.
    pub fn schedule(&self) -> Result<Schedule, Failure> {
        let hosts = self.roster.hosts.len();
        let made = Schedule::new(hosts, self.pairs.clone(), self.options.mode, self.options.seed);
        made.map_err(|error| refused(&error))
    }

    /// A campaign for each case, and the tag of the figure that it is judged by.
    pub fn campaigns(&self) -> Result<(Vec<Campaign>, Vec<&'static str>), Failure> {
        let tags: Vec<&str> = self
            .cases
            .iter()
            .map(|case| tag_of(&case.planned.case.test))
            .collect();
        let campaign = |tag: &&str| {
            Campaign::new(Setup {
                hosts: self.roster.hosts.len(),
                units: self.units.clone(),
                plan: self.pairs.clone(),
                options: Options {
                    higher_is_better: tag.ends_with("_per_s"),
                    ..self.options
                },
            })
        };
        let campaigns: Result<Vec<Campaign>, MeshError> = tags.iter().map(campaign).collect();
        Ok((campaigns.map_err(|error| refused(&error))?, tags))
    }

    /// Matchings of a budget: a number, or as many as fit into a time.
    fn matchings(&mut self, budget: &str) -> Result<usize, Failure> {
        let invalid = || {
            Failure::usage(
                format!("invalid --budget {budget}"),
                "give a number of matchings from 2 on, or a time such as 5m",
            )
        };
        if let Ok(count) = budget.parse::<usize>() {
            return Ok(count);
        }
        let time_ns = units::parse_duration_ns(budget).map_err(|_| invalid())?;
        let together = match self.options.mode {
            Mode::Loaded => 1,
            Mode::Isolated => (self.roster.hosts.len() / 2).max(1) as u64,
        };
        self.budget = Some(Duration::from_nanos(time_ns));
        // A matching is measured in both directions.
        let of_one = (2 * together * self.round_ns()).max(1);
        let for_survey = (time_ns as f64 * SURVEY_SHARE) as u64;
        let fitting = |cycles: u32| for_survey / (of_one * u64::from(cycles));
        // Rather fewer cycles than hosts with too few partners to be judged.
        let cycles = (1..=self.cycles)
            .rev()
            .find(|cycles| fitting(*cycles) >= PARTNERS);
        self.cycles = cycles.unwrap_or(1);
        match usize::try_from(fitting(self.cycles)) {
            Ok(count) if count >= 2 => Ok(count),
            _ => Err(Failure::usage(
                format!(
                    "--budget {budget} is too short: two matchings and their checks take about {}",
                    units::format_ns(2.0 * of_one as f64 / SURVEY_SHARE)
                ),
                "give more time, or a shorter --duration behind the `--`",
            )),
        }
    }

    /// What there is time for.
    pub fn allowance(&self) -> Allowance {
        let cells = self.cases.len() * self.cells_of_case();
        let expected = |case: &Prepared| Duration::from_nanos(expected_ns(&case.planned.case));
        let expected: Vec<Duration> = self.cases.iter().map(expected).collect();
        Allowance::new(self.budget, &expected, cells)
    }

    /// One round of every cell, about.
    fn round_ns(&self) -> u64 {
        let cases = self.cases.iter().filter(|case| case.skip.is_none());
        let once: u64 = cases.map(|case| expected_ns(&case.planned.case)).sum();
        once.saturating_mul(self.cells_of_case() as u64)
    }

    /// Operations of one pair in all cases, where all end by their number.
    fn pair_operations(&self) -> Option<u64> {
        let cases = self.cases.iter().filter(|case| case.skip.is_none());
        let count = |case: &Prepared| match case.planned.case.stop {
            Stop::Iterations { count } => Some(count),
            Stop::Duration { .. } => None,
        };
        cases.map(count).sum()
    }

    /// What would be measured, and nothing done.
    pub fn dry_run(&self, how: &How, json: bool) -> Result<Ended, Failure> {
        let schedule = self.schedule()?;
        let estimate = schedule.estimate();
        let name = |pair: &Pair| [pair.from, pair.to].map(|host| self.roster.hosts[host].name.clone());
        let survey_ns = u64::from(self.cycles) * estimate.rounds as u64 * self.round_ns();
        let operations = self
            .pair_operations()
            .map(|of_pair| of_pair.saturating_mul((estimate.pairs * self.cells_of_case()) as u64));
        if json {
            let rounds = schedule
                .rounds()
                .map(|round| round.iter().map(name).collect::<Vec<_>>());
            let mesh = serde_json::json!({
                "hosts": self.roster.hosts.iter().map(|host| &host.name).collect::<Vec<_>>(),
                "mode": if self.options.mode == Mode::Loaded { "loaded" } else { "isolated" },
                "seed": self.options.seed,
                "cycles": self.cycles,
                "rounds_of_a_cycle": rounds.collect::<Vec<_>>(),
                "survey_ns": survey_ns,
                "operations_of_a_cycle": operations,
            });
            return dry_run::show_as_json(&self.plan, &how.listed(self.cases())?, Some(("mesh", mesh)));
        }
        let mut text = String::new();
        for (number, round) in (1..).zip(schedule.rounds().take(LISTED_ROUNDS)) {
            let pairs: Vec<String> = round.iter().map(|pair| name(pair).join(" -> ")).collect();
            text += &format!("round {number}: {}\n", pairs.join(", "));
        }
        if estimate.rounds > LISTED_ROUNDS {
            text += &format!(
                "and {} more\n",
                counted((estimate.rounds - LISTED_ROUNDS) as u64, "round")
            );
        }
        let mode = match self.options.mode {
            Mode::Loaded => "all pairs of a round at once",
            Mode::Isolated => "one pair at a time",
        };
        let each = operations.map(|operations| format!(" of {}", counted(operations, "operation")));
        let answer = format!(
            "{}, {} in {}, {mode}; {}{} {} about {}, and what seems slow is measured again after that",
            counted(self.roster.hosts.len() as u64, "host"),
            counted(estimate.pairs as u64, "ordered pair"),
            counted(estimate.rounds as u64, "round"),
            counted(self.cycles.into(), "cycle"),
            each.unwrap_or_default(),
            if self.cycles == 1 { "takes" } else { "take" },
            units::format_ns(survey_ns as f64)
        );
        let cases = dry_run::lines(&how.listed(self.cases())?);
        dry_run::tell(answer, vec![view::lines(&text), cases])
    }

    /// The cases, to be measured.
    pub fn cases(&self) -> Vec<Prepared> {
        let copy = |case: &Prepared| Prepared {
            skip: case.skip.clone(),
            ..Prepared::planned(case.planned.clone())
        };
        self.cases.iter().map(copy).collect()
    }
}

/// An error of the schedule or the judgement, as one of words.
pub fn refused(error: &MeshError) -> Failure {
    let remedy = match error {
        MeshError::Budget { .. } => "give --budget 2 at least",
        MeshError::Share { .. } => "give a probability between 0 and 1, and a percentage between 0 and 100",
        MeshError::TooFew { .. } => "name more hosts",
        MeshError::Storm { .. } => "name fewer hosts, or another pattern",
        MeshError::SelfPair { .. } | MeshError::Duplicate { .. } => "name each pair of two hosts once",
        _ => "see `wirespeed mesh --help`",
    };
    Failure::usage(error.to_string(), remedy)
}

/// `5%` or `5`, as a share.
fn share(text: &str) -> Result<f64, Failure> {
    let number = text.trim_end_matches('%').parse::<f64>();
    match number {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err(Failure::usage(
            format!("invalid --material {text}"),
            "give a percentage above 0 and below 100, such as 5%",
        )),
    }
}

/// Pairs at once, unless hosts would share CPUs.
fn mode(arguments: &MeshArgs, roster: &Roster) -> Mode {
    let crowded = roster.crowd().is_some_and(|(ranks, cpus)| ranks > cpus);
    match (arguments.isolated, arguments.loaded) {
        (true, _) => Mode::Isolated,
        (_, true) => Mode::Loaded,
        _ if crowded => Mode::Isolated,
        _ => Mode::Loaded,
    }
}

/// `--cpus`: one a host, or none.
fn pin_hosts(texts: &[String], roster: &mut Roster) -> Result<(), Failure> {
    let Some(text) = texts.last() else {
        return Ok(());
    };
    let mut ranks = vec![RankSpec::new(Role::Idle); roster.hosts.len()];
    let (local, allowed) = match roster.source {
        Source::Here => (ranks.len(), wirespeed::host::allowed_cpus()),
        _ => (0, Vec::new()),
    };
    pin(text, &mut ranks, (local, &allowed))?;
    for (host, rank) in roster.hosts.iter_mut().zip(ranks) {
        host.cpu = rank.cpu;
    }
    if roster.source == Source::Here {
        roster.name_by_cpu();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_chooses_its_pairs_itself() {
        use clap::Parser as _;
        for other in [["--pairs", "f"], ["--budget", "2s"]] {
            let words = ["wirespeed", "mesh", "--pattern", "incast"]
                .into_iter()
                .chain(other);
            let refused = crate::args::Cli::try_parse_from(words).err().unwrap();
            assert_eq!(refused.kind(), clap::error::ErrorKind::ArgumentConflict);
        }
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(share("5%").unwrap(), 0.05);
        assert_eq!(share("2.5").unwrap(), 0.025);
        for text in ["0", "100%", "-1", "x", ""] {
            assert_eq!(share(text).unwrap_err().code, 2, "{text}");
        }
    }
}
