//! What a mesh measures: the case of one pair from the words of `run`, the schedule of pairs, and how figures are judged.
//! Everything is checked here, before anything is started.

use super::congestion::{Asked, storms};
use super::rails;
use super::roster::{Roster, Source};
use crate::args::MeshArgs;
use crate::cmd::dry_run;
use crate::cmd::probe::plan_of;
use crate::cmd::run::prepare;
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared};
use crate::view;
use std::path::Path;
use wirespeed::{Machine, Registry};
use wirespeed_mesh::{Campaign, MeshError, Mode, Options, Pair, Plan as Pairs, Schedule, Setup};
use wirespeed_schema::case::{Case, GroupKind, RankSpec, Role, Stop};
use wirespeed_schema::kinds::{Roles, UnderWay};
use wirespeed_schema::plan::{Plan, expand, pin};
use wirespeed_schema::test::Test;
use wirespeed_schema::units;

/// Time of one pair where the words do not say.
const DURATION: &str = "200ms";
/// Warm-up of one pair, in the same way.
const WARMUP: &str = "20ms";
/// What meeting and connecting are taken to cost a round.
const SETUP_NS: u64 = 60_000_000;
/// Payload from which on a stream is judged by its bytes and not by its messages.
const LARGE_BYTES: u64 = 1024;
/// A longer file names no pairs.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Rounds that a dry run lists.
const LISTED_ROUNDS: usize = 8;

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
    /// Storms that each case is measured in.
    pub storms: Vec<Asked>,
}

impl Mesh {
    /// Hosts, and the plan that the words are; cases follow with [`Mesh::settle`].
    pub fn of(arguments: &MeshArgs) -> Result<Mesh, Failure> {
        let mut roster = Roster::of(&arguments.hosts)?;
        pin_hosts(&arguments.experiment.cpus, &mut roster)?;
        let (unit_names, units) = roster.units()?;
        let options = Options {
            false_alarm: arguments.false_alarm,
            material: share(&arguments.material)?,
            mode: mode(arguments, &roster),
            ..Options::default()
        };
        Ok(Mesh {
            plan: plan(&arguments.words, roster.source)?,
            roster,
            cases: Vec::new(),
            unit_names,
            units,
            pairs: Pairs::All,
            options,
            cycles: 0,
            storms: Vec::new(),
        })
    }

    /// The cases, and the pairs that they are measured between.
    pub fn settle(
        &mut self,
        registry: &Registry,
        arguments: &MeshArgs,
        (cycles, seed): (u32, u64),
    ) -> Result<(), Failure> {
        (self.cycles, self.options.seed) = (cycles, seed);
        let rails = rails::named(&arguments.hosts.rail, &self.roster)?;
        self.cases = rails::each(registry, cases(registry, &self.plan, &self.roster)?, &rails)?;
        self.storms = storms(&arguments.pattern, &self.roster)?;
        self.pairs = match (&arguments.pairs, &arguments.budget) {
            _ if !self.storms.is_empty() => Pairs::Given(self.split(&arguments.victims)?),
            (Some(path), _) => Pairs::Given(pairs_of(path, &self.roster)?),
            (None, Some(budget)) => Pairs::Budget(self.matchings(budget)?),
            (None, None) => Pairs::All,
        };
        self.schedule().map(drop)
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
    fn matchings(&self, budget: &str) -> Result<usize, Failure> {
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
        // A matching is measured in both directions.
        let of_one = 2 * together * u64::from(self.cycles) * self.round_ns();
        match usize::try_from(time_ns / of_one.max(1)) {
            Ok(count) if count >= 2 => Ok(count),
            _ => Err(Failure::usage(
                format!(
                    "--budget {budget} is too short: two matchings take about {}",
                    units::format_ns(2.0 * of_one as f64)
                ),
                "give more time, fewer --repeats or a shorter --duration behind the `--`",
            )),
        }
    }

    /// One round of every case, about.
    fn round_ns(&self) -> u64 {
        let cases = self.cases.iter().filter(|case| case.skip.is_none());
        cases.map(|case| expected_ns(&case.planned.case)).sum()
    }

    /// What would be measured, and nothing done.
    pub fn dry_run(&self, how: &How, json: bool) -> Result<Ended, Failure> {
        let schedule = self.schedule()?;
        let estimate = schedule.estimate();
        let name = |pair: &Pair| [pair.from, pair.to].map(|host| self.roster.hosts[host].name.clone());
        let survey_ns = u64::from(self.cycles) * estimate.rounds as u64 * self.round_ns();
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
            });
            return dry_run::show_as_json(&self.plan, &how.listed(self.cases())?, Some(("mesh", mesh)));
        }
        let mut text = String::new();
        for (number, round) in (1..).zip(schedule.rounds().take(LISTED_ROUNDS)) {
            let pairs: Vec<String> = round.iter().map(|pair| name(pair).join(" -> ")).collect();
            text += &format!("round {number}: {}\n", pairs.join(", "));
        }
        if estimate.rounds > LISTED_ROUNDS {
            text += &format!("and {} rounds more\n", estimate.rounds - LISTED_ROUNDS);
        }
        let mode = match self.options.mode {
            Mode::Loaded => "all pairs of a round at once",
            Mode::Isolated => "one pair at a time",
        };
        let answer = format!(
            "{} hosts, {} ordered pairs in {} rounds, {mode}; {} cycles take about {}, and a closer look at what seems slow comes \
             after them",
            self.roster.hosts.len(),
            estimate.pairs,
            estimate.rounds,
            self.cycles,
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

/// The number of the host of this name.
pub fn find(roster: &Roster, name: &str) -> Result<usize, Failure> {
    roster.find(name).ok_or_else(|| {
        let near = roster.nearest(name);
        let near = near.map_or_else(String::new, |near| format!("; is it {near}?"));
        Failure::usage(
            format!("no host is called {name:?}{near}"),
            "name a host as `wirespeed mesh --dry-run` shows it",
        )
    })
}

/// The figure that pairs are compared by.
pub fn tag_of(test: &Test) -> &'static str {
    let kind = test.kind();
    match kind {
        Some(kind) if kind.is_round_trip => "rtt_p50_ns",
        Some(kind) if matches!(kind.under_way, UnderWay::Fixed(1)) => "completion_p50_ns",
        _ if test.size_bytes() >= LARGE_BYTES => "bandwidth_bytes_per_s",
        _ => "rate_msg_per_s",
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
    Ok(())
}

/// The plan that the words behind `--` are.
fn plan(words: &[String], source: Source) -> Result<Plan, Failure> {
    let usual = match source {
        Source::Here => ["latency,bandwidth", "--via", "shm"],
        Source::Job => ["latency,bandwidth", "--via", "mpi"],
        Source::Ssh | Source::Servers => ["latency,bandwidth", "--via", "tcp"],
    };
    let mut words: Vec<String> = words.to_vec();
    if words.is_empty() {
        words = usual.map(str::to_owned).to_vec();
    }
    let (mut plan, _) = plan_of(&words)?;
    for template in &mut plan.templates {
        for key in ["to", "roles", "procs", "threads", "cpus"] {
            if template.axes.contains_key(key) {
                return Err(Failure::usage(
                    format!("--{key} is not allowed behind `--`"),
                    "a mesh gives each host a rank, and each pair a source and a sink: leave it out",
                ));
            }
        }
        if !template.axes.contains_key("iters") {
            template.add_default("duration", DURATION)?;
        }
        template.add_default("warmup", WARMUP)?;
    }
    Ok(plan)
}

/// The cases of `plan` between two hosts, each checked between all.
pub fn cases(registry: &Registry, plan: &Plan, roster: &Roster) -> Result<Vec<Prepared>, Failure> {
    let mut plan = plan.clone();
    if matches!(roster.source, Source::Ssh | Source::Servers) {
        // Cases between two machines; where they are is the group's business.
        for template in &mut plan.templates {
            template.add("to", &["elsewhere".to_owned()])?;
        }
    }
    let mut planned = expand(&plan, &Machine::new(registry))?;
    for case in &mut planned {
        case.to = None;
        // Each host has its own.
        case.case.ranks.iter_mut().for_each(|rank| rank.cpu = None);
        let kind = case.case.test.kind();
        if kind.is_none_or(|kind| kind.roles != Roles::Pairs) {
            return Err(Failure::usage(
                format!("{} is no test between two ranks", case.case.test.name()),
                "name one that is: latency, rate, bandwidth, tag_lat, put_bw, ..",
            ));
        }
        if roster.source == Source::Job {
            case.case.group = GroupKind::Job;
        }
        if case.case.group == GroupKind::Threads {
            return Err(Failure::usage(
                format!("{} works within one process only", case.case.transport),
                "name a transport between processes: --via shm, unix, tcp",
            ));
        }
        check_all(registry, &case.case, roster.hosts.len())?;
    }
    prepare(registry, &crate::job::machine(registry), planned)
}

/// Whether the transport takes as many ranks as there are hosts.
fn check_all(registry: &Registry, case: &Case, hosts: usize) -> Result<(), Failure> {
    let whole = case.clone().with_ranks(
        (0..hosts as u32)
            .map(|rank| match (rank ^ 1) as usize >= hosts {
                true => RankSpec::new(Role::Idle),
                false if rank % 2 == 0 => RankSpec::new(case.ranks[0].role).with_peer(rank + 1),
                false => RankSpec::new(case.ranks[1].role).with_peer(rank - 1),
            })
            .collect(),
    );
    let checked = registry.find(&case.transport).map(|entry| (entry.check)(&whole));
    match checked {
        Some(Err(wirespeed::MeasureError::Unsupported(_))) | Some(Ok(())) | None => Ok(()),
        Some(Err(why)) => Err(Failure::usage(
            why.to_string(),
            format!("see `wirespeed list {}`", case.transport),
        )),
    }
}

fn expected_ns(case: &Case) -> u64 {
    let measured = match case.stop {
        Stop::Duration { duration_ns } => duration_ns,
        // Nobody knows beforehand.
        Stop::Iterations { .. } => 500_000_000,
    };
    measured + case.warmup_ns_max.min(100_000_000) + SETUP_NS
}

/// The pairs of a file: two names of hosts a line.
fn pairs_of(path: &Path, roster: &Roster) -> Result<Vec<Pair>, Failure> {
    let unreadable = |error: &std::io::Error| Failure {
        code: crate::errors::exit::USAGE,
        ..Failure::file("read", path, error)
    };
    let size = std::fs::metadata(path).map_err(|e| unreadable(&e))?.len();
    let text = match size > FILE_BYTES_MAX {
        true => String::new(),
        false => std::fs::read_to_string(path).map_err(|e| unreadable(&e))?,
    };
    let remedy = "write FROM TO, two names of hosts, a line each";
    let found = parse_pairs(&text, roster)
        .map_err(|(line, why)| Failure::usage(format!("{}, line {line}: {why}", path.display()), remedy))?;
    match found.is_empty() {
        true => Err(Failure::usage(
            format!("{} names no pair", path.display()),
            remedy,
        )),
        false => Ok(found),
    }
}

fn parse_pairs(text: &str, roster: &Roster) -> Result<Vec<Pair>, (usize, String)> {
    let mut pairs = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "->").collect();
        let host = |name: &str| {
            roster.find(name).ok_or_else(|| {
                let near = roster.nearest(name);
                let near = near.map_or_else(String::new, |near| format!("; is it {near}?"));
                (number, format!("no host is called {name:?}{near}"))
            })
        };
        match words[..] {
            [] => {}
            [from, to] => pairs.push(Pair {
                from: host(from)?,
                to: host(to)?,
            }),
            _ => return Err((number, format!("{} words", words.len()))),
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::super::roster::Host;
    use super::*;

    fn roster(names: &[&str]) -> Roster {
        let host = |name: &&str| Host {
            name: (*name).to_owned(),
            ..Host::default()
        };
        Roster {
            source: Source::Ssh,
            hosts: names.iter().map(host).collect(),
        }
    }

    #[test]
    fn pairs_of_a_file_are_found_by_name() {
        let roster = roster(&["node1", "node2", "node3"]);
        let found = parse_pairs("# two\nnode1 node2\n\nnode3 -> node1 # back\n", &roster).unwrap();
        assert_eq!(found, [Pair { from: 0, to: 1 }, Pair { from: 2, to: 0 }]);
        for (text, line, word) in [
            ("node1 node2\nnode1 node4", 2, "node4"),
            ("node1", 1, "1 words"),
            ("node1 node2 node3", 1, "3 words"),
        ] {
            let (at, why) = parse_pairs(text, &roster).unwrap_err();
            assert!(at == line && why.contains(word), "{text}: {at} {why}");
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

    #[test]
    fn each_kind_of_test_is_judged_by_its_own_figure() {
        let tag = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let registry = crate::registry();
            let plan = plan(&words, Source::Here).unwrap();
            let cases = cases(&registry, &plan, &roster(&["a", "b", "c"])).unwrap();
            tag_of(&cases[0].planned.case.test)
        };
        assert_eq!(tag(&["am_lat", "--via", "tcp"]), "rtt_p50_ns");
        assert_eq!(tag(&["put_lat", "--via", "tcp"]), "rtt_p50_ns");
        assert_eq!(tag(&["am_bw", "--via", "tcp"]), "bandwidth_bytes_per_s");
        assert_eq!(tag(&["rate", "--via", "tcp"]), "rate_msg_per_s");
    }

    #[test]
    fn words_that_name_ranks_are_refused() {
        let registry = crate::registry();
        let refused = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let made =
                plan(&words, Source::Here).and_then(|plan| cases(&registry, &plan, &roster(&["a", "b"])));
            made.map(|_| ()).unwrap_err()
        };
        for words in [
            &["am_lat", "--via", "tcp", "--to", "far"][..],
            &["am_lat", "--via", "tcp", "--roles", "source,sink"],
            &["am_lat", "--via", "inproc"],
            &["hub_lat", "--via", "tcp"],
            &["am_lat", "--via", "tcp", "--json"],
        ] {
            let failure = refused(words);
            assert_eq!(failure.code, 2, "{words:?}: {}", failure.cause);
        }
    }
}
