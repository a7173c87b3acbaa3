//! `wirespeed ab`: two ways to run, measured in turn, and whether the second is slower.

use super::compare::{Gate, refused};
use super::run::prepare;
use crate::args::{AbArgs, Cli, ColorChoice, RunArgs, Verb};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::group::{Groups, Reach};
use crate::order::{Step, blocks, fresh_seed};
use crate::output::Output;
use crate::request;
use crate::session::{Prepared, Session};
use crate::watch::Watch;
use clap::Parser;
use wirespeed::Registry;
use wirespeed_report::compare::compare_arms;
use wirespeed_schema::plan::{Plan, expand};
use wirespeed_schema::run::{CaseResult, Repetition, Status};

/// Measure both arms in turn and compare them.
pub fn ab(registry: &Registry, arguments: &AbArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let words = halves(arguments)?;
    if words.iter().any(|words| super::byteio::is_bench(words)) {
        return super::byteio::ab(arguments, words, color);
    }
    let gate = Gate::of(&arguments.gate, &[])?;
    let arms = arms(registry, words)?;
    let stop = crate::cmd::stop_on_signals()?;
    let mut output = Output::open(&arguments.output, color, gate.table())?;
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let mut draft = Draft::begin(
        Some(plan(&arms, arguments.pairs)),
        arguments.output.include_host_name,
    );
    draft.section(
        "order",
        serde_json::json!({ "seed": seed, "within": "block of two pairs" }),
    );
    let [a, b] = &arms;
    let watch = watch(&arms, arguments.pairs, color);
    let quiet = arguments.output.quiet || watch.is_some();
    output.watch_with(watch);
    let mut session = Session::new(
        Groups::new(registry, a.reach.clone()),
        &mut output,
        stop.clone(),
        (color, quiet),
    );
    let mut other = Groups::new(registry, b.reach.clone());
    let results = measure(&mut session, &mut other, &arms, arguments.pairs, seed)?;
    let refused_by_server = session.refused;
    let mut run = draft.finish(results, stop.is_requested());
    if run.status != Status::Ok {
        if refused_by_server && run.status == Status::Failed {
            run.status = Status::Refused;
        }
        output.finish(&run)?;
        return Ok(super::ended(&run, false));
    }
    let found = compare_arms(&run, (&a.words, &b.words), &gate.question, gate.within_ratio);
    let mut comparison = match found {
        Ok(comparison) => comparison,
        // What cannot be compared is not lost.
        Err(error) => {
            output.finish(&run)?;
            return Err(refused(error));
        }
    };
    comparison.control = arguments.aa;
    gate.publish(&mut run, &mut output, &comparison)?;
    Ok(gate.ended(&comparison))
}

/// One way to run.
struct Arm {
    words: String,
    /// Its runs are shown while they go on.
    live: bool,
    plan: Plan,
    reach: Reach,
    cases: Vec<Prepared>,
}

/// The words of both arms.
fn halves(arguments: &AbArgs) -> Result<[&[String]; 2], Failure> {
    let mut parts = arguments.arms.split(|word| word == "--");
    let (a, b) = (parts.next().unwrap_or_default(), parts.next());
    let b = match (arguments.aa, b) {
        (true, None) => a,
        (false, Some(b)) => b,
        (true, Some(_)) => {
            return Err(Failure::usage(
                "--aa measures one arm against itself, but two are given",
                "leave the second `--` and what follows it out",
            ));
        }
        (false, None) => {
            return Err(Failure::usage(
                "there is one arm only",
                "write both: wirespeed ab -- A.. -- B.., or --aa for A against itself",
            ));
        }
    };
    if parts.next().is_some() {
        return Err(Failure::usage(
            "there are more than two arms",
            "compare two at a time",
        ));
    }
    Ok([a, b])
}

/// Both arms, checked: as many cases each, all of which can run here.
fn arms(registry: &Registry, [a, b]: [&[String]; 2]) -> Result<[Arm; 2], Failure> {
    let arms = [arm(registry, a)?, arm(registry, b)?];
    let [first, second] = &arms;
    if first.cases.len() != second.cases.len() {
        return Err(Failure::usage(
            format!("A has {} cases and B {}", first.cases.len(), second.cases.len()),
            "give both arms the same sweep, so that each case has its counterpart",
        ));
    }
    Ok(arms)
}

fn arm(registry: &Registry, words: &[String]) -> Result<Arm, Failure> {
    let argv = ["wirespeed", "run"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let parsed = Cli::try_parse_from(argv).map_err(Failure::from)?;
    let Verb::Run(run) = parsed.verb else {
        return Err(Failure::usage(
            "an arm is what `wirespeed run` takes",
            "see `wirespeed ab --help`",
        ));
    };
    own_options(&run)?;
    let plan = request::plan(&run)?;
    let machine = crate::job::machine(registry);
    let cases = expand(&plan, &machine).map_err(|e| request::named(&run, e.into()))?;
    let cases = prepare(registry, &machine, cases)?;
    if let Some((case, why)) = cases
        .iter()
        .find_map(|case| Some((&case.planned.case, case.skip.as_ref()?)))
    {
        return Err(Failure::usage(
            format!("{}: {why}", case.label()),
            format!("see `wirespeed list {}`", case.transport),
        ));
    }
    Ok(Arm {
        words: words.join(" "),
        live: run.live,
        plan,
        reach: Reach::of(&run.group)?,
        cases,
    })
}

/// A live view of the arms that ask for one.
fn watch(arms: &[Arm; 2], pairs: u32, color: ColorChoice) -> Option<Watch> {
    let cases = arms[0].cases.len() as u32;
    let shown = match (arms[0].live, arms[1].live) {
        (false, false) => return None,
        (true, true) => 0..2 * cases,
        (true, false) => 0..cases,
        (false, true) => cases..2 * cases,
    };
    let once = || {
        arms.iter()
            .flat_map(|arm| arm.cases.iter().map(|case| &case.planned.case))
    };
    let watch = Watch::open((0..pairs).flat_map(|_| once()), color)?;
    Some(watch.showing(shown))
}

/// Options that belong before the first `--`.
pub fn own_options(run: &RunArgs) -> Result<(), Failure> {
    let output = &run.output;
    let given = [
        ("--repeats", run.repeats.is_some()),
        ("--until", run.until.is_some()),
        ("--seed", run.seed.is_some()),
        ("--dry-run", run.dry_run),
        (
            "an option for results",
            output.json || output.csv || output.ndjson || !output.output.is_empty(),
        ),
        ("--strict", output.strict),
    ];
    if !run.interference.is_empty() {
        return Err(Failure::usage(
            "--interference is an experiment of its own, on cases that are known beforehand",
            "`wirespeed run TEST .. --interference=cpu` measures a whole grid without and with it; or put --load cpu=1 here",
        ));
    }
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::usage(
            format!("{name} cannot stand in an arm"),
            "write options for results before the first `--`; --pairs says how often both are run",
        )),
        None => Ok(()),
    }
}

/// What was asked for, as one plan: A's cases, then B's.
fn plan(arms: &[Arm; 2], pairs: u32) -> Plan {
    Plan {
        repeats: pairs,
        until: None,
        templates: arms.iter().flat_map(|arm| arm.plan.templates.clone()).collect(),
    }
}

/// Everything in turn; results of A's cases, then of B's. A case that fails is left out from then on, and its
/// counterpart with it.
fn measure<'a>(
    session: &mut Session<'a>,
    other: &mut Groups<'a>,
    arms: &[Arm; 2],
    pairs: u32,
    seed: u64,
) -> Result<Vec<CaseResult>, Failure> {
    let cases = arms[0].cases.len();
    let mut repetitions: Vec<Vec<Repetition>> = vec![Vec::new(); 2 * cases];
    let mut failures: Vec<Option<Failure>> = vec![None; 2 * cases];
    let order = blocks(cases, 2, pairs, seed);
    let planned = |visit: &crate::order::Visit| &arms[visit.arm].cases[visit.case].planned;
    let runs = order.iter().map(|visit| &planned(visit).case);
    let mut progress = crate::progress::Progress::new(runs, session.quiet);
    for visit in &order {
        let slot = visit.arm * cases + visit.case;
        let lost = failures[visit.case].is_some() || failures[cases + visit.case].is_some();
        if session.stop.is_requested() {
            break;
        }
        progress.start(&planned(visit).case);
        if !lost {
            let step = Step {
                repetition: visit.repetition,
                case: slot,
            };
            // The session measures with the groups of the arm whose turn it is.
            let away = visit.arm == 1;
            if away {
                std::mem::swap(&mut session.groups, other);
            }
            let measured = session.measure(step, 2 * cases, planned(visit));
            if away {
                std::mem::swap(&mut session.groups, other);
            }
            let measured = measured?;
            repetitions[slot].extend(measured.repetition);
            failures[slot] = measured.failure;
        }
        progress.end();
    }
    progress.finish();
    let all = arms
        .iter()
        .flat_map(|arm| &arm.cases)
        .zip(repetitions)
        .zip(failures);
    let mut results = Vec::new();
    for (number, ((prepared, mut repetitions), failure)) in all.enumerate() {
        repetitions.sort_by_key(|repetition| repetition.index);
        let result = session.assemble(prepared.planned.case.clone(), repetitions, failure.as_ref());
        session.announce(number, &result)?;
        results.push(result);
    }
    Ok(results)
}
