//! `wirespeed ab` between two bulk transfers: `ab -- byteio bench A.. -- byteio bench B..`.

use super::bench::{ends, shaped};
use super::job;
use super::runner::Transfers;
use crate::args::{
    AbArgs, ByteioArgs, ByteioBenchArgs, ByteioVerb, Cli, ColorChoice, ExperimentArgs, OutputArgs, Verb,
};
use crate::cmd::ab::PAIRS;
use crate::cmd::compare::Gate;
use crate::cmd::dry_run;
use crate::cmd::front::Front;
use crate::cmd::probe::first_typed;
use crate::errors::{Ended, Failure};
use crate::experiment::How;
use crate::{same, typed};
use clap::{Args as _, CommandFactory as _};
use std::ffi::OsString;
use wirespeed_byteio::client::TransferOptions;
use wirespeed_report::byteio::take_pairs;
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::ByteioSection;
use wirespeed_schema::plan::Plan;

/// Whether an arm is a bulk transfer.
pub fn is_bench(words: &[String]) -> bool {
    matches!(words, [byteio, bench, ..] if byteio == "byteio" && bench == "bench")
}

struct Arm {
    options: TransferOptions,
    nominal: Option<Finite>,
}

/// Measure both arms in turn and compare them.
pub fn ab(arguments: &AbArgs, words: [&[String]; 2], color: ColorChoice) -> Result<Ended, Failure> {
    let gate = Gate::of(&arguments.gate, &[])?;
    let arms = [arm(words[0], arguments)?, arm(words[1], arguments)?];
    let mut plan = Plan::default();
    let common = (&arguments.output, color);
    let mut how = How::of(&arguments.experiment, (&mut plan, PAIRS), common)?;
    how.paired = true;
    let registry = crate::registry();
    let (nominal, mut jobs): (Vec<_>, Vec<_>) =
        arms.into_iter().map(|arm| (arm.nominal, [arm.options])).unzip();
    let cases = |jobs: &[[TransferOptions; 1]]| {
        let cases = jobs
            .iter()
            .map(|job| job::cases(&registry, &arguments.experiment, job));
        cases.collect::<Result<Vec<_>, _>>()
    };
    if arguments.experiment.dry_run {
        let cases = how.listed(cases(&jobs)?.into_iter().flatten().collect())?;
        return dry_run::show(&plan, cases, arguments.output.json);
    }
    let mut front = Front::open(common, None)?;
    gate.show(&mut front.output);
    let known = jobs
        .iter_mut()
        .try_for_each(|job| job::known(job, &front.stop, how.quiet).map(drop));
    let both = jobs.iter().map(|job| job.as_slice()).zip(nominal);
    let mut transfers = Transfers::new(&registry, both.collect());
    transfers.refused = known.err();
    let mut found = front.run(how, &mut transfers, cases(&jobs)?)?;
    let section = ByteioSection {
        profile: None,
        pairs: take_pairs(&mut found.results, front.draft.host()),
    };
    front.draft.put(&section);
    gate.conclude(front, found, &words.map(crate::cmd::ab::name), arguments.aa)
}

fn arm(words: &[String], own: &AbArgs) -> Result<Arm, Failure> {
    if !is_bench(words) {
        return Err(Failure::usage(
            "one arm is a bulk transfer, the other is not",
            "write `byteio bench URL` in both arms, or in none",
        ));
    }
    let argv = std::iter::once("wirespeed").chain(words.iter().map(String::as_str));
    let argv: Vec<OsString> = argv.map(OsString::from).collect();
    let (parsed, typed) = typed::parse(&argv)?;
    let Verb::Byteio(ByteioArgs {
        verb: ByteioVerb::Bench(arguments),
    }) = parsed.verb
    else {
        return Err(not_an_arm("another verb"));
    };
    let words = typed
        .subcommand_matches("byteio")
        .and_then(|byteio| byteio.subcommand_matches("bench"));
    let all = OutputArgs::augment_args(ExperimentArgs::augment_args(Cli::command()));
    let of_both = words.and_then(|words| first_typed(words, &all));
    if let Some(option) = of_both.or(own_option(&arguments)) {
        return Err(not_an_arm(&option));
    }
    let (read, written) = (arguments.put.iter().chain(&arguments.into), own.written());
    read.into_iter()
        .try_for_each(|path| same::apart(path, &written))?;
    let url = arguments.url.as_deref().unwrap_or_default();
    let ends = ends(&arguments).remove(0);
    let options = job::options(url, &shaped(&arguments), ends, arguments.verify)?;
    Ok(Arm {
        nominal: arguments
            .nominal
            .as_deref()
            .map(crate::cmd::speed::speed)
            .transpose()?,
        options,
    })
}

fn not_an_arm(what: &str) -> Failure {
    Failure::usage(
        format!("{what} is not allowed inside an `ab` arm of byteio bench"),
        "an arm is one transfer; write what holds for both, such as --pairs, before the first `--`",
    )
}

/// An option that makes more of it than one transfer.
fn own_option(bench: &ByteioBenchArgs) -> Option<String> {
    let given = [
        ("--at-once", bench.at_once),
        ("--pairs", bench.pairs.is_some()),
        ("--sweep", bench.sweep),
        ("--both", bench.both),
        ("--emulated", bench.emulated),
        ("--offered", bench.open_loop.offered.is_some()),
    ];
    let first = given.iter().find(|(_, given)| *given);
    first.map(|(name, _)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    /// What an arm would take and not heed is refused: every option of measuring, of results and of the program.
    #[test]
    fn options_of_the_whole_comparison_are_refused_in_an_arm() {
        let words = |option: &[&str]| -> Vec<String> {
            let arm = ["byteio", "bench", "http://h/a"];
            arm.iter().chain(option).map(|word| (*word).to_owned()).collect()
        };
        let Verb::Ab(own) = Cli::try_parse_from(["wirespeed", "ab", "--", "a", "--", "b"])
            .unwrap()
            .verb
        else {
            panic!("it is ab")
        };
        assert!(arm(&words(&[]), &own).is_ok());
        let all = OutputArgs::augment_args(ExperimentArgs::augment_args(Cli::command()));
        for option in all.get_arguments() {
            let long = format!("--{}", option.get_long().unwrap());
            let value = match option.get_id().as_str() {
                "repeats" => Some("2"),
                "until" => Some("p50:2%"),
                "until_time" => Some("1s"),
                "interference" => Some("cpu"),
                "cpus" | "seed" => Some("0"),
                "output" => Some("x.json"),
                "mpi" => Some("libmpi.so"),
                "mpi_threads" => Some("single"),
                "mpi_threads_per_process" => Some("2"),
                "color" => Some("never"),
                _ => None,
            };
            let given = value.map_or(long.clone(), |value| format!("{long}={value}"));
            let refused = arm(&words(&[&given]), &own).err();
            let refused = refused.unwrap_or_else(|| panic!("{long} is taken"));
            assert!(
                refused.cause.contains("not allowed inside"),
                "{long}: {}",
                refused.cause
            );
        }
    }
}
