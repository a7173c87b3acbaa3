//! `wirespeed ab` between two bulk transfers: `ab -- byteio bench A.. -- byteio bench B..`.

use super::bench::{ends, shaped};
use super::job::case;
use super::runner::Transfers;
use super::{as_json, job};
use crate::args::{AbArgs, ByteioBenchArgs, ByteioVerb, Cli, ColorChoice, Verb};
use crate::cmd::ab::PAIRS;
use crate::cmd::compare::Gate;
use crate::cmd::dry_run;
use crate::cmd::front::Front;
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared, pin};
use clap::Parser;
use wirespeed_byteio::client::TransferOptions;
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::{ByteioSection, SECTION};
use wirespeed_schema::plan::Plan;

/// Whether an arm is a bulk transfer.
pub fn is_bench(words: &[String]) -> bool {
    matches!(words, [byteio, bench, ..] if byteio == "byteio" && bench == "bench")
}

struct Arm {
    options: TransferOptions,
    nominal: Option<Finite>,
    case: Prepared,
}

/// Measure both arms in turn and compare them.
pub fn ab(arguments: &AbArgs, words: [&[String]; 2], color: ColorChoice) -> Result<Ended, Failure> {
    let gate = Gate::of(&arguments.gate, &[])?;
    let [a, b] = [arm(words[0])?, arm(words[1])?];
    let mut plan = Plan::default();
    let common = (&arguments.output, color);
    let mut how = How::of(&arguments.experiment, (&mut plan, PAIRS), common)?;
    how.paired = true;
    if arguments.experiment.dry_run {
        let cases = how.listed(vec![a.case, b.case])?;
        return dry_run::show(&plan, cases, arguments.output.json);
    }
    let mut front = Front::open(common, None)?;
    gate.show(&mut front.output);
    let host = front.draft.host().clone();
    let arms = vec![vec![a.options], vec![b.options]];
    let mut transfers = Transfers::new(arms, vec![a.nominal, b.nominal], host);
    transfers.bar = how.shows_its_own();
    let mut cases = vec![vec![a.case], vec![b.case]];
    for prepared in cases.iter_mut().flatten() {
        pin(&arguments.experiment, &mut prepared.planned.case)?;
    }
    let found = front.run(how, &mut transfers, cases)?;
    let section = ByteioSection {
        profile: None,
        pairs: transfers.into_pairs(),
    };
    front.draft.section(SECTION, as_json(&section)?);
    gate.conclude(front, found, &words.map(|words| words.join(" ")), arguments.aa)
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
    if let Some(option) = arguments.experiment.given().or(own_option(&arguments)) {
        return Err(not_an_arm(option));
    }
    let url = arguments.url.as_deref().unwrap_or_default();
    let ends = ends(&arguments).remove(0);
    let options = job::options(url, &shaped(&arguments), ends, arguments.verify)?;
    Ok(Arm {
        case: case(&arguments, &options, None)?,
        nominal: arguments.nominal.as_deref().map(super::speed).transpose()?,
        options,
    })
}

fn not_an_arm(what: &str) -> Failure {
    Failure::usage(
        format!("{what} is not allowed inside an `ab` arm of byteio bench"),
        "an arm is one transfer; --pairs before the first `--` says how often both are run",
    )
}

/// An option that makes more of it than one transfer, or belongs before the first `--`.
fn own_option(bench: &ByteioBenchArgs) -> Option<&'static str> {
    let output = &bench.output;
    let given = [
        ("--pairs", bench.pairs.is_some()),
        ("--sweep", bench.sweep),
        ("--both", bench.both),
        ("--emulated", bench.emulated),
        ("--offered", bench.open_loop.offered.is_some()),
        (
            "an option for results",
            output.json || output.csv || output.ndjson || !output.output.is_empty(),
        ),
    ];
    given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
}
