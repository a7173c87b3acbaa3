//! `wirespeed msgrate`, and the program called `msgrate`: the original's options become a plan, its text a rendering.

use super::front::Front;
use super::{dry_run, run};
use crate::args::{ColorChoice, MsgrateArgs};
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared, Ranks};
use crate::group::{Groups, Reach};
use crate::job;
use wirespeed::Registry;
use wirespeed_report::render;
use wirespeed_schema::job::JobSection;
use wirespeed_schema::plan::{Plan, PlanError, Template, expand};
use wirespeed_schema::posted::CacheState;
use wirespeed_schema::units;

/// The original's defaults, where its own form is asked for.
const CLASSIC_ITERATIONS: &str = "4096";
const CLASSIC_CACHE: &str = "8M";
const PATTERNS: [&str; 4] = ["single", "pair", "pre-post", "all-start"];
const RING: &str = "ring";
const RANKS: u64 = 2;
const RANKS_MAX: u64 = 1024;

/// Measure message rates.
pub fn msgrate(registry: &Registry, arguments: &MsgrateArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let mut plan = plan(arguments)?;
    let how = How::of(&arguments.experiment, (&mut plan, 1), (&arguments.output, color))?;
    let machine = crate::job::machine(registry);
    let cases = expand(&plan, &machine).map_err(by_nodes)?;
    let cases = run::prepare(registry, &machine, cases)?;
    refuse_what_cannot_be_shown(arguments, &cases)?;
    if arguments.experiment.dry_run {
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    }
    let mut ranks = Ranks::new(Groups::new(registry, Reach::of_processes()));
    let mut front = Front::open((&arguments.output, color), Some(plan))?;
    match (arguments.is_classic(), arguments.one_line) {
        (true, true) => front.output.show_as(render::msgrate_line),
        (true, false) => front.output.show_as(render::msgrate_classic),
        (false, _) => {}
    }
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
            "-o is the original's form, and --native is ours",
            "leave one of them out; for programs there are --csv and --json",
        ));
    }
    if classic && !arguments.experiment.interference.is_empty() {
        return Err(Failure::usage(
            "--interference compares in a table of its own, which the original's form lacks",
            "leave --interference out, or use --native",
        ));
    }
    let is_given = |key: &str| !arguments.case.of(key).is_empty();
    if classic && (is_given("pattern") || is_given("grid")) {
        return Err(Failure::usage(
            "the original's form shows all four patterns on a ring",
            "leave --pattern and --grid out, or use --native",
        ));
    }
    Ok(())
}

/// The plan that the words ask for: one template, its patterns an axis.
fn plan(arguments: &MsgrateArgs) -> Result<Plan, Failure> {
    check_form(arguments)?;
    let classic = arguments.is_classic();
    let job = job::current().map(|job| job.section());
    let mut template = Template::default();
    let mut word = |key: &str, text: &str| template.add(key, &[text.to_owned()]);
    word("test", "msgrate")?;
    let case = &arguments.case;
    let is_left_out = |key: &str| case.of(key).is_empty();
    let via = if job.is_some() { "mpi" } else { "shm" };
    for (key, default) in [("via", via), ("pattern", &PATTERNS.join(","))] {
        if is_left_out(key) {
            word(key, default)?;
        }
    }
    let ranks = ranks(arguments, job)?;
    if job.is_none() {
        word("procs", &ranks.to_string())?;
    }
    let stride = stride(arguments.ranks_per_node.as_deref(), ranks, job)?;
    if classic && is_left_out("cache_size") && is_left_out("cache_state") {
        word("cache_size", CLASSIC_CACHE)?;
    }
    for (key, text) in length(arguments, classic)? {
        word(key, &text)?;
    }
    for (parameter, texts) in case.given() {
        template.add(parameter.key, texts)?;
    }
    let by_grid = by_grid(template, stride);
    let is_ring = |template: &Template| template.axes.contains_key("stride");
    if arguments.ranks_per_node.is_some() && !by_grid.iter().any(is_ring) {
        return Err(Failure::usage(
            "-n says how far neighbours on the ring are, and no ring is measured",
            "leave -n out, or add ring to --grid",
        ));
    }
    Ok(Plan::of(by_grid.into_iter().flat_map(by_cache_size).collect()))
}

/// Only on the ring are neighbours a stride apart: the other grids get a template of their own.
fn by_grid(mut template: Template, stride: u64) -> Vec<Template> {
    let grids = template.axes.remove("grid");
    let (ring, other): (Vec<_>, Vec<_>) = grids
        .unwrap_or_else(|| vec![RING.to_owned()])
        .into_iter()
        .partition(|grid| grid == RING);
    let with = |grids: Vec<String>, stride: Option<u64>| {
        let mut template = template.clone();
        template.axes.insert("grid".to_owned(), grids);
        let stride = stride.map(|stride| vec![stride.to_string()]);
        template
            .axes
            .extend(stride.map(|stride| ("stride".to_owned(), stride)));
        template
    };
    [(ring, Some(stride)), (other, None)]
        .into_iter()
        .filter(|(grids, _)| !grids.is_empty())
        .map(|(grids, stride)| with(grids, stride))
        .collect()
}

/// How long a case lasts and what comes before it, where the words leave it to the form.
fn length(arguments: &MsgrateArgs, classic: bool) -> Result<Vec<(&'static str, String)>, Failure> {
    let given = arguments.iters.as_deref();
    let iterations = given.or(classic.then_some(CLASSIC_ITERATIONS));
    let is_left_out = |key: &str| arguments.case.of(key).is_empty();
    let mut length = Vec::new();
    if let Some(iterations) = iterations.filter(|_| is_left_out("duration")) {
        length.push(("iters", measured(iterations, classic)?));
    }
    if classic && is_left_out("warmup") {
        // The only iteration of all cannot be the first one, which is apart.
        let warmup = if given == Some("1") { "1" } else { "0" };
        length.push(("warmup", warmup.to_owned()));
    }
    Ok(length)
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
            format!(
                "--ranks {count} contradicts the job, which has {}",
                units::counted(started, "rank")
            ),
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

/// How far neighbours are apart follows from the ranks of each node.
fn by_nodes(mut error: PlanError) -> PlanError {
    for text in [&mut error.cause, &mut error.remedy] {
        *text = text.replace("--stride", "-n");
    }
    error
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
        assert!(!axes.contains_key("peers"), "six, or fewer of few ranks");
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
    fn a_ring_among_grids_is_the_ring_alone() {
        let alone = parse(&["--ranks", "8", "--grid", "ring", "-n", "1"]).unwrap();
        let among = parse(&["--ranks", "8", "--grid", "2d,ring,3d", "-n", "1"]).unwrap();
        let [ring, other] = &among.templates[..] else {
            panic!("{among:?}");
        };
        assert_eq!(*ring, alone.templates[0]);
        assert_eq!(
            (&other.axes["grid"][..], other.axes.get("stride")),
            (&["2d".to_owned(), "3d".to_owned()][..], None)
        );
        for words in [
            &["--grid", "2d", "-n", "1"][..],
            &["--grid", "ring,2d", "-n", "3"],
            &["--grid", "2d", "-n", "abc"],
        ] {
            let refused = parse(&[&["--ranks", "9"][..], words].concat()).unwrap_err();
            assert!(refused.cause.starts_with("-n "), "{refused:?}");
        }
    }

    #[test]
    fn ours_leaves_open_what_the_machine_knows() {
        let axes = &parse(&["--ranks", "4"]).unwrap().templates[0].axes;
        for open in ["peers", "cache_size", "iters"] {
            assert!(!axes.contains_key(open), "{open}");
        }
        let native = &parse(&["--format", "classic", "--sound"]).unwrap().templates[0].axes;
        assert!(!native.contains_key("iters"));
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
