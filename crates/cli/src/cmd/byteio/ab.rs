//! `wirespeed ab` between two bulk transfers: `ab -- byteio bench A.. -- byteio bench B..`.

use super::bench::{ends, shaped};
use super::{document, job};
use crate::args::{AbArgs, ByteioBenchArgs, ByteioVerb, Cli, ColorChoice, Verb};
use crate::cmd::compare::{Gate, refused};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::order::{blocks, fresh_seed};
use crate::output::Output;
use clap::Parser;
use wirespeed_byteio::client::TransferOptions;
use wirespeed_report::compare::compare_arms;
use wirespeed_schema::byteio::{ByteioSection, Pair};
use wirespeed_schema::run::Status;

/// Whether an arm is a bulk transfer.
pub fn is_bench(words: &[String]) -> bool {
    matches!(words, [byteio, bench, ..] if byteio == "byteio" && bench == "bench")
}

struct Arm {
    options: TransferOptions,
    pair: Pair,
}

/// Measure both arms in turn and compare them.
pub fn ab(arguments: &AbArgs, words: [&[String]; 2], color: ColorChoice) -> Result<Ended, Failure> {
    let gate = Gate::of(&arguments.gate, &[])?;
    let mut arms = [arm(words[0])?, arm(words[1])?];
    let stop = crate::cmd::stop_on_signals()?;
    let mut output = Output::open(&arguments.output, color, gate.table())?;
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let mut draft = Draft::begin(None, arguments.output.include_host_name);
    draft.section(
        "order",
        serde_json::json!({ "seed": seed, "within": "block of two pairs" }),
    );
    for arm in &mut arms {
        arm.pair.near = Some(Box::new(draft.host().clone()));
    }
    for visit in blocks(1, 2, arguments.pairs, seed) {
        let Arm { options, pair } = &mut arms[visit.arm];
        job::run(options, pair, &stop, arguments.output.quiet)?;
        // A pair of which one side is broken is none, and neither is what comes after it.
        if stop.is_requested() || pair.runs.last().is_some_and(|run| run.error.is_some()) {
            break;
        }
    }
    let pairs = arms.map(|Arm { mut pair, .. }| {
        wirespeed_report::byteio::complete(&mut pair);
        pair
    });
    let section = ByteioSection {
        profile: None,
        pairs: pairs.into(),
    };
    let (mut run, cause) = document(draft, &section, stop.is_requested())?;
    if run.status != Status::Ok {
        return super::finish(&run, &mut output, cause.as_deref(), false);
    }
    let names = words.map(|words| words.join(" "));
    let found = compare_arms(&run, (&names[0], &names[1]), &gate.question, gate.within_ratio);
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

fn arm(words: &[String]) -> Result<Arm, Failure> {
    if !is_bench(words) {
        return Err(Failure::usage(
            "one arm is a bulk transfer, the other is not",
            "write `byteio bench URL` in both arms, or in none",
        ));
    }
    let argv = std::iter::once("wirespeed").chain(words.iter().map(String::as_str));
    let parsed = Cli::try_parse_from(argv).map_err(Failure::from)?;
    let arguments = match parsed.verb {
        Verb::Byteio(byteio) => match byteio.verb {
            ByteioVerb::Bench(arguments) => arguments,
            _ => return Err(not_an_arm("another verb")),
        },
        _ => return Err(not_an_arm("another verb")),
    };
    if let Some(option) = own_option(&arguments) {
        return Err(not_an_arm(option));
    }
    let url = arguments.url.as_deref().unwrap_or_default();
    let ends = ends(&arguments).remove(0);
    let options = job::options(url, &shaped(&arguments), ends, arguments.verify)?;
    let mut pair = job::pair(job::name_of(&options), &options);
    pair.nominal_bytes_per_s = arguments.nominal.as_deref().map(super::speed).transpose()?;
    Ok(Arm { options, pair })
}

fn not_an_arm(what: &str) -> Failure {
    Failure::usage(
        format!("{what} cannot stand in an arm of byteio bench"),
        "an arm is one transfer; --pairs before the first `--` says how often both are run",
    )
}

/// An option that makes more of it than one transfer, or belongs before the first `--`.
fn own_option(bench: &ByteioBenchArgs) -> Option<&'static str> {
    let output = &bench.output;
    let given = [
        ("--repeats", bench.repeats.is_some()),
        ("--pairs", bench.pairs.is_some()),
        ("--sweep", bench.sweep),
        ("--both", bench.both),
        ("--emulated", bench.emulated),
        ("--dry-run", bench.dry_run),
        (
            "an option for results",
            output.json || output.csv || output.ndjson || !output.output.is_empty(),
        ),
    ];
    given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
}
