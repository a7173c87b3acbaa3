//! `wirespeed msgrate`, and the program called `msgrate`: the original's options become a plan, its text a rendering.

use super::front::Front;
use super::{dry_run, run};
use crate::args::{ColorChoice, MsgrateArgs};
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared, Ranks};
use crate::group::{Groups, Reach};
use crate::job;
use crate::output::Table;
use wirespeed::Registry;
use wirespeed_report::render;
use wirespeed_schema::job::JobSection;
use wirespeed_schema::plan::{Plan, Template, expand, split_axis};
use wirespeed_schema::posted::CacheState;
use wirespeed_schema::units;

/// The original's defaults, where its own form is asked for.
const CLASSIC_PEERS: &str = "6";
const CLASSIC_ITERATIONS: &str = "4096";
const CLASSIC_CACHE: &str = "8M";
const PATTERNS: [&str; 4] = ["single", "pair", "pre-post", "all-start"];
const RANKS: u64 = 2;
const RANKS_MAX: u64 = 1024;

/// Measure message rates.
pub fn msgrate(registry: &Registry, arguments: &MsgrateArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let mut plan = plan(arguments)?;
    let how = How::of(&arguments.experiment, (&mut plan, 1), (&arguments.output, color))?;
    let machine = crate::job::machine(registry);
    let cases = expand(&plan, &machine).map_err(|e| in_letters(e.into()))?;
    let cases = run::prepare(registry, &machine, cases)?;
    refuse_what_cannot_be_shown(arguments, &cases)?;
    if arguments.experiment.dry_run {
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    }
    let table: Table = match (arguments.is_classic(), arguments.one_line) {
        (true, true) => render::msgrate_line,
        (true, false) => render::msgrate_classic,
        (false, _) => how.table(render::msgrate),
    };
    let mut ranks = Ranks::new(Groups::new(registry, Reach::of_processes()));
    let front = Front::open((&arguments.output, color), table, Some(plan))?;
    front.measure(how, &mut ranks, vec![cases])
}

/// The original's form has no word for a pattern that cannot run; and where nothing can, there is nothing to show.
fn refuse_what_cannot_be_shown(arguments: &MsgrateArgs, cases: &[Prepared]) -> Result<(), Failure> {
    let skipped = || cases.iter().filter_map(|case| Some((case, case.skip.as_ref()?)));
    let all = skipped().count() == cases.len();
    // The pattern that needs most says it best.
    let worst = skipped().next_back().filter(|_| all || arguments.is_classic());
    match worst {
        Some((case, (why, _))) => Err(Failure::usage(
            format!("{}: {why}", case.planned.case.label()),
            "use a smaller -s, fewer messages (-m), fewer peers (-p) or fewer ranks",
        )),
        None => Ok(()),
    }
}

/// What the original's form cannot show.
fn check_form(arguments: &MsgrateArgs) -> Result<(), Failure> {
    let classic = arguments.is_classic();
    if arguments.one_line && !classic {
        return Err(Failure::usage(
            "-o is the original's form, and --sound is ours",
            "leave one of them out; for programs there are --csv and --json",
        ));
    }
    if classic && !arguments.experiment.interference.is_empty() {
        return Err(Failure::usage(
            "--interference compares in a table of its own, which the original's form lacks",
            "leave --interference out, or use --sound",
        ));
    }
    if classic && !(arguments.pattern.is_empty() && arguments.grid.is_empty()) {
        return Err(Failure::usage(
            "the original's form shows all four patterns on a ring",
            "leave --pattern and --grid out, or use --sound",
        ));
    }
    Ok(())
}

/// Words of one template; each key's values may come as lists and ranges.
#[derive(Default)]
struct Words(Template);

impl Words {
    fn add(&mut self, key: &str, values: &[String]) -> Result<(), Failure> {
        for text in values {
            let axis = self.0.axes.entry(key.to_owned()).or_default();
            axis.extend(split_axis(key, text)?);
        }
        Ok(())
    }

    fn word(&mut self, key: &str, text: &str) -> Result<(), Failure> {
        self.add(key, &[text.to_owned()])
    }

    /// What was given, or else `default`, where there is one.
    fn given_or(&mut self, key: &str, given: &[String], default: Option<&str>) -> Result<(), Failure> {
        match (given, default) {
            ([], Some(default)) => self.word(key, default),
            (given, _) => self.add(key, given),
        }
    }
}

/// The plan that the words ask for: one template, its patterns an axis.
fn plan(arguments: &MsgrateArgs) -> Result<Plan, Failure> {
    check_form(arguments)?;
    let classic = arguments.is_classic();
    let job = job::current().map(|job| job.section());
    let mut words = Words::default();
    words.word("test", "msgrate")?;
    let via = if job.is_some() { "mpi" } else { "shm" };
    words.given_or("via", &arguments.via, Some(via))?;
    words.given_or("pattern", &arguments.pattern, Some(&PATTERNS.join(",")))?;
    words.add("grid", &arguments.grid)?;
    let ranks = ranks(arguments, job)?;
    if job.is_none() {
        words.word("procs", &ranks.to_string())?;
    }
    if arguments.grid.iter().all(|grid| grid == "ring") {
        let stride = stride(arguments.ranks_per_node.as_deref(), ranks, job)?;
        words.word("stride", &stride.to_string())?;
    }
    words.given_or("peers", &arguments.peers, classic.then_some(CLASSIC_PEERS))?;
    words.add("window", &arguments.messages)?;
    words.add("size", &arguments.size)?;
    words.add("cache_state", &arguments.cache_state)?;
    let cache = (classic && arguments.cache_state.is_empty()).then_some(CLASSIC_CACHE);
    words.given_or("cache_size", arguments.cache_size.as_slice(), cache)?;
    add_length(&mut words, arguments, classic)?;
    if arguments.check {
        words.word("check", "true")?;
    }
    Ok(Plan {
        repeats: 1,
        until: None,
        templates: by_cache_size(words.0),
    })
}

/// How long a case lasts, and what comes before it.
fn add_length(words: &mut Words, arguments: &MsgrateArgs, classic: bool) -> Result<(), Failure> {
    let given = arguments.iters.as_deref();
    let iterations = given.or(classic.then_some(CLASSIC_ITERATIONS));
    match (&arguments.duration, iterations) {
        (Some(duration), _) => words.word("duration", duration)?,
        (None, Some(iterations)) => words.word("iters", &measured(iterations, classic)?)?,
        (None, None) => (),
    }
    match &arguments.warmup {
        Some(warmup) => words.word("warmup", warmup),
        // The only iteration of all cannot be the first one, which is apart.
        None if classic && given == Some("1") => words.word("warmup", "1"),
        None if classic => words.word("warmup", "0"),
        None => Ok(()),
    }
}

/// A size of memory belongs to some states of the caches only: the others get a template of their own.
fn by_cache_size(template: Template) -> Vec<Template> {
    let has_size = |state: &String| {
        let known = CacheState::ALL.iter().find(|known| known.name() == state);
        known.is_none_or(|known| known.has_size())
    };
    let states = template.axes.get("cache_state").cloned().unwrap_or_default();
    let (with, without): (Vec<_>, Vec<_>) = states.into_iter().partition(has_size);
    if with.is_empty() || without.is_empty() || !template.axes.contains_key("cache_size") {
        return vec![template];
    }
    let mut bare = template.clone();
    bare.axes.remove("cache_size");
    bare.axes.insert("cache_state".to_owned(), without);
    let mut sized = template;
    sized.axes.insert("cache_state".to_owned(), with);
    vec![bare, sized]
}

/// The original counts the first iteration, which is apart here: one less is measured beside it.
fn measured(iterations: &str, classic: bool) -> Result<String, Failure> {
    match units::parse_count(iterations) {
        Ok(count @ 2..) if classic => Ok((count - 1).to_string()),
        Ok(count @ 1..) => Ok(count.to_string()),
        _ => Err(Failure::usage(
            format!("-i {iterations} is not a number of iterations"),
            "give a count of at least 1, such as 4096",
        )),
    }
}

fn ranks(arguments: &MsgrateArgs, job: Option<&JobSection>) -> Result<u64, Failure> {
    let started = job.map(|job| job.ranks.len() as u64);
    let Some(text) = &arguments.ranks else {
        return Ok(started.unwrap_or(RANKS));
    };
    match (units::parse_count(text), started) {
        (Ok(count), Some(started)) if count != started => Err(Failure::usage(
            format!("--ranks {count} contradicts the job, which has {started} ranks"),
            "leave --ranks out: the launcher says how many there are",
        )),
        (Ok(count @ 2..=RANKS_MAX), _) => Ok(count),
        _ => Err(Failure::usage(
            format!("--ranks {text} is not a number of ranks"),
            format!("give a number from 2 to {RANKS_MAX}, such as 8"),
        )),
    }
}

/// Ranks between two neighbours on the ring. Nodes are found, not believed: what contradicts them is refused, except for
/// 1 on a single node, by which the original is told to stay within it.
fn stride(asked: Option<&str>, ranks: u64, job: Option<&JobSection>) -> Result<u64, Failure> {
    let nodes = job.map_or(1, |job| job.nodes.len().max(1) as u64);
    let found = match job {
        Some(job) => job.ranks_per_node().map(u64::from),
        None => Some(ranks),
    };
    let Some(text) = asked else {
        return Ok(if nodes == 1 { 1 } else { found.unwrap_or(1) });
    };
    let contradicts = |count: u64, what: String| {
        Failure::usage(
            format!("-n {count} contradicts the nodes found: {what}"),
            match nodes {
                1 => "leave -n out, or use -n 1 for neighbours on the same node",
                _ => "leave -n out: nodes are found",
            },
        )
    };
    match (units::parse_count(text), found) {
        (Ok(1), _) if nodes == 1 => Ok(1),
        (Ok(count @ 1..), Some(found)) if count == found => Ok(count),
        (Ok(count @ 1..), Some(found)) => {
            let each = if nodes == 1 {
                "on one node".into()
            } else {
                format!("on {nodes} nodes, {found} on each")
            };
            Err(contradicts(count, format!("{ranks} ranks are {each}")))
        }
        (Ok(count @ 1..), None) => Err(contradicts(
            count,
            format!(
                "{ranks} ranks are on {nodes} nodes, which are not alike or not filled one after the other"
            ),
        )),
        _ => Err(Failure::usage(
            format!("-n {text} is not a number of ranks per node"),
            "give a count of at least 1, or leave -n out",
        )),
    }
}

/// Errors of the plan name the options as they are typed here.
fn in_letters(failure: Failure) -> Failure {
    let named = |text: &str| {
        [
            ("--iters", "-i"),
            ("--window", "-m"),
            ("--size", "-s"),
            ("--cache-size", "-c"),
            ("--peers", "-p"),
            ("--stride", "-n"),
        ]
        .iter()
        .fold(text.to_owned(), |text, (long, short)| text.replace(long, short))
    };
    Failure::with(failure.code, named(&failure.cause), named(&failure.remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    fn parse(words: &[&str]) -> Result<Plan, Failure> {
        let argv = ["wirespeed", "msgrate"].iter().chain(words);
        match Cli::try_parse_from(argv)?.verb {
            Verb::Msgrate(arguments) => plan(&arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn classic_has_the_defaults_of_the_original() {
        let axes = &parse(&["--format", "classic", "--ranks", "8", "-n", "1"])
            .unwrap()
            .templates[0]
            .axes;
        assert_eq!(axes["peers"], ["6"]);
        assert_eq!(axes["iters"], ["4095"]);
        assert_eq!(axes["cache_size"], ["8M"]);
        assert_eq!(axes["warmup"], ["0"]);
        assert_eq!(axes["pattern"], PATTERNS);
        let axes = &parse(&["-o", "-p", "8", "-s", "1024", "-c", "64M"])
            .unwrap()
            .templates[0]
            .axes;
        assert_eq!(
            (
                &axes["peers"][0][..],
                &axes["size"][0][..],
                &axes["cache_size"][0][..]
            ),
            ("8", "1024", "64M")
        );
    }

    #[test]
    fn ours_leaves_open_what_the_machine_knows() {
        let axes = &parse(&["--ranks", "4"]).unwrap().templates[0].axes;
        for open in ["peers", "cache_size", "iters"] {
            assert!(!axes.contains_key(open), "{open}");
        }
        let sound = &parse(&["--format", "classic", "--sound"]).unwrap().templates[0].axes;
        assert!(!sound.contains_key("iters"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for words in [
            &["-i", "0"][..],
            &["-i", "-5"],
            &["-n", "0"],
            &["-n", "3"],
            &["--ranks", "1"],
            &["--ranks", "-2"],
            &["-o", "--pattern", "pair"],
            &["--format", "classic", "--grid", "2d"],
        ] {
            assert_eq!(parse(words).unwrap_err().code, 2, "{words:?}");
        }
    }
}
