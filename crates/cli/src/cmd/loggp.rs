//! `wirespeed sweep --over loggp`: windows of one and of several messages over sizes, all in random order, for LogGP.

use super::dry_run;
use super::front::Front;
use super::run::prepare;
use super::sweep::{REPEATS, first_grid};
use crate::args::{ColorChoice, SweepArgs};
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Ranks};
use crate::group::{Groups, Reach};
use wirespeed::Registry;
use wirespeed_report::curve::section::SweepSection;
use wirespeed_schema::plan::expand;

/// The test whose iteration is PRTT: a window of messages one way, then a short answer.
const TEST: &str = "osu_bw";
/// Sizes where the words give none.
const SIZES: &str = "8..64K:x4";
/// One message, and several: the more, the less noise is in their difference.
const WINDOWS: &str = "1,16";

/// Measure the windows of every size.
pub fn loggp(registry: &Registry, arguments: &SweepArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let mut words = arguments.words.clone();
    if words.first().is_none_or(|word| word.starts_with('-')) {
        words.insert(0, TEST.to_owned());
    }
    if words.first().is_some_and(|word| word != TEST) {
        let cause = format!("LogGP is measured with {TEST}, not with {}", words[0]);
        return Err(Failure::usage(
            cause,
            "leave the test out: wirespeed sweep --over loggp -- --via tcp",
        ));
    }
    let (mut plan, run) = super::probe::plan_of(&words)?;
    let how = How::of(
        &arguments.experiment,
        (&mut plan, REPEATS),
        (&arguments.output, color),
    )?;
    let sizes = first_grid(&plan, ("size", SIZES), arguments, |_| Ok(()))?;
    let sizes: Vec<String> = sizes.iter().map(f64::to_string).collect();
    let sizes = sizes.join(",");
    for template in &mut plan.templates {
        for (key, values) in [("size", sizes.as_str()), ("window", WINDOWS)] {
            template.add_default(key, values)?;
        }
    }
    let machine = crate::job::machine(registry);
    let cases = prepare(registry, &machine, expand(&plan, &machine)?)?;
    if arguments.experiment.dry_run {
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    }
    let section = SweepSection {
        over: "loggp".to_owned(),
        seed: how.seed,
        probes: Vec::new(),
    };
    let mut ranks = Ranks::new(Groups::new(registry, Reach::of(&run.far)?));
    let mut front = Front::open((&arguments.output, color), Some(plan))?;
    front.draft.put(&section);
    front.measure(how, &mut ranks, vec![cases])
}
