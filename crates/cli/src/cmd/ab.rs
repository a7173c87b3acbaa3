//! `wirespeed ab`: two ways to run, measured in turn, and whether the second is slower.

use super::compare::Gate;
use super::dry_run;
use super::front::Front;
use super::probe::parsed;
use super::run::prepare;
use crate::args::{AbArgs, ColorChoice};
use crate::document::without_secrets;
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared, Ranks, fill};
use crate::group::{Groups, Reach};
use crate::{request, same};
use wirespeed::Registry;
use wirespeed_schema::plan::{Plan, STATISTICS, expand};
use wirespeed_schema::units::counted;

/// Pairs of runs where the words do not say.
pub const PAIRS: u32 = 10;

/// Measure both arms in turn and compare them.
pub fn ab(registry: &Registry, arguments: &AbArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let words = halves(arguments)?;
    if words.iter().any(|words| super::byteio::is_bench(words)) {
        return super::byteio::ab(arguments, words, color);
    }
    if !arguments.experiment.dry_run && crate::job::has_others() {
        return Err(Failure::usage(
            "ab measures in processes of its own, not between the ranks of a job",
            "start it without the launcher, or name both transports in one `wirespeed run` of the job",
        ));
    }
    let gate = Gate::of(&arguments.gate, &[])?;
    let arms = arms(registry, words, arguments)?;
    comparable(&arms, &arguments.gate.figure)?;
    let mut plan = plan(&arms);
    let how = how(arguments, &arms, &mut plan, color)?;
    if arguments.experiment.dry_run {
        let cases = arms.into_iter().flat_map(|arm| arm.cases).collect();
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    }
    let groups = arms.iter().map(|arm| Groups::new(registry, arm.reach.clone()));
    let mut ranks = Ranks::of_arms(groups.collect());
    let mut front = Front::open((&arguments.output, color), Some(plan))?;
    gate.show(&mut front.output);
    let names = words.map(name);
    let cases = arms.into_iter().map(|arm| arm.cases).collect();
    let found = front.run(how, &mut ranks, cases)?;
    gate.conclude(front, found, &names, arguments.aa)
}

/// What an arm is called in the result: its words.
pub(super) fn name(words: &[String]) -> String {
    let words: Vec<String> = without_secrets(words.iter().cloned()).collect();
    words.join(" ")
}

/// How the arms are measured: a live view shows those that ask for one.
fn how(arguments: &AbArgs, arms: &[Arm; 2], plan: &mut Plan, color: ColorChoice) -> Result<How, Failure> {
    let mut how = How::of(&arguments.experiment, (plan, PAIRS), (&arguments.output, color))?;
    how.paired = true;
    let cells = (arms[0].cases.len() * (1 + how.loads.len())) as u32;
    how.live = match (how.live, arms[0].live, arms[1].live) {
        (Some(all), ..) => Some(all),
        (None, true, true) => Some(0..2 * cells),
        (None, true, false) => Some(0..cells),
        (None, false, true) => Some(cells..2 * cells),
        (None, false, false) => None,
    };
    Ok(how)
}

/// One way to run.
struct Arm {
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
fn arms(registry: &Registry, [a, b]: [&[String]; 2], own: &AbArgs) -> Result<[Arm; 2], Failure> {
    let arms = [arm(registry, a, own)?, arm(registry, b, own)?];
    let [first, second] = &arms;
    if first.cases.len() != second.cases.len() {
        return Err(Failure::usage(
            format!(
                "A has {} and B {}",
                counted(first.cases.len() as u64, "case"),
                second.cases.len()
            ),
            "give both arms the same sweep, so that each case has its counterpart",
        ));
    }
    Ok(arms)
}

/// Errors where a case and its counterpart will have no figure in common, before they are measured: round trips have times, and
/// streams and single operations have rates. A figure by its own name may be one of both.
fn comparable([a, b]: &[Arm; 2], figures: &[String]) -> Result<(), Failure> {
    if figures.iter().any(|name| !STATISTICS.contains(&name.as_str())) {
        return Ok(());
    }
    let pairs = a.cases.iter().zip(&b.cases);
    let mut tests = pairs.map(|(a, b)| [a, b].map(|one| &one.planned.case.test));
    match tests.find(|[a, b]| a.is_round_trip() != b.is_round_trip()) {
        None => Ok(()),
        Some([a, b]) => Err(Failure::usage(
            format!("{} and {} have no figure in common", a.name(), b.name()),
            "give both arms the same test",
        )),
    }
}

fn arm(registry: &Registry, words: &[String], own: &AbArgs) -> Result<Arm, Failure> {
    let run = parsed(words)?;
    same::plan_apart(&run, &own.written())?;
    let mut plan = request::plan(&run)?;
    if plan.repeats > 1 || plan.until.is_some() {
        return Err(Failure::usage(
            "an arm's plan file has repeats or until, which both arms share",
            "leave them out of the file, and give --pairs or --until before the first `--`",
        ));
    }
    fill(&run.experiment, &mut plan)?;
    fill(&own.experiment, &mut plan)?;
    let machine = crate::job::machine(registry);
    let cases = expand(&plan, &machine).map_err(|e| request::named(&run, e.into()))?;
    let cases = prepare(registry, &machine, cases)?;
    if let Some((case, (why, remedy))) = cases
        .iter()
        .find_map(|case| Some((&case.planned.case, case.skip.as_ref()?)))
    {
        return Err(Failure::usage(format!("{}: {why}", case.label()), remedy.clone()));
    }
    Ok(Arm {
        live: run.experiment.live,
        plan,
        reach: Reach::of(&run.far)?,
        cases,
    })
}

/// What was asked for, as one plan: A's cases, then B's.
fn plan(arms: &[Arm; 2]) -> Plan {
    Plan::of(arms.iter().flat_map(|arm| arm.plan.templates.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_is_named_without_its_secret() {
        let words = [
            "latency",
            "--identity",
            "s3cret",
            "--identity=s3cret",
            "--via",
            "tcp",
        ]
        .map(str::to_owned);
        let name = name(&words);
        assert!(!name.contains("s3cret") && name.ends_with("--via tcp"), "{name}");
    }
}
