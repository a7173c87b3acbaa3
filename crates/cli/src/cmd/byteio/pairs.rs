//! A pairs file: machines, how a command is run on each, and which pairs to measure. The reader of a pair may be this
//! machine, or any other that a command reaches (ssh, a container, a network namespace); it runs `wirespeed byteio bench`
//! there and hands its document back on stdout.

mod plan;
mod reader;

use plan::rounds;
pub use plan::{Planned, read, this_program};

use super::job::size;
use super::{ANEW, Close, Known, publish};
use crate::args::{ByteioBenchArgs, ColorChoice, TransferArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure, exit};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::words;
use std::fmt::Write as _;
use wirespeed_control::StopFlag;
use wirespeed_report::byteio::{complete, result_of};
use wirespeed_report::view;
use wirespeed_report::{UNREACHED, skipped_case};
use wirespeed_schema::byteio::{ByteioSection, Pair};
use wirespeed_schema::run::{CaseResult, Event, Status};

impl Planned {
    /// The command that measures the pair, document on stdout.
    fn command(&self, words: &TransferArgs, arguments: &ByteioBenchArgs, repeats: u32) -> Vec<String> {
        let mut command = self.reader.clone();
        command.extend(["byteio", "bench"].map(str::to_owned));
        command.push(self.url.clone());
        let mut option = |key: &str, value: String| command.extend([format!("--{key}"), value]);
        option("mechanism", name(&words.mechanism));
        option("threads", words.threads.to_string());
        option("block-size", words.block_size.clone());
        option("depth", words.depth.to_string());
        option("attempts", words.attempts.to_string());
        option("stall", words.stall.clone());
        option("repeats", repeats.to_string());
        option("verify", name(&arguments.verify));
        if let Some(size) = &words.size {
            option("size", size.clone());
        }
        if let Some(congestion) = &words.congestion {
            option("congestion", congestion.clone());
        }
        if let Some(nominal) = self.nominal {
            option("nominal", format!("{}b/s", nominal.get() * 8.0));
        }
        if words.stream {
            command.push("--stream".to_owned());
        }
        command.extend(["--stop-with-stdin", "--json"].map(str::to_owned));
        command
    }

    /// What helps where its reader says nothing of use.
    fn advice(&self) -> &'static str {
        match self.emulated {
            Some(_) => "run it as root, and see what `wirespeed lab --check` finds here",
            None => "try its command by hand: --dry-run shows it",
        }
    }

    /// A pair that was to be measured when the run ended.
    fn unreached(&self, words: &TransferArgs) -> Measured {
        let remedy = Some("run again".to_owned());
        let pair = self.lost(words, (UNREACHED.to_owned(), remedy.clone()));
        let mut case = skipped_case(result_of(&pair).case, UNREACHED, remedy);
        case.case.options.insert("pair".to_owned(), self.name.clone());
        Measured {
            pair,
            case,
            refused: false,
        }
    }

    /// A pair that gave nothing of what was asked for: why, and what helps.
    fn lost(&self, words: &TransferArgs, (error, remedy): Known) -> Pair {
        Pair {
            name: self.name.clone(),
            url: self.url.clone(),
            direction: "get".to_owned(),
            mechanism: name(&words.mechanism),
            // What cannot be read every reader refuses.
            block_bytes: size("block-size", &words.block_size).unwrap_or_default(),
            threads: words.threads.into(),
            depth_ops: words.depth.into(),
            error: Some(error),
            remedy,
            ..Pair::default()
        }
    }
}

/// A choice as it is typed.
fn name(value: &dyn std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

/// A pair of the section, its case, and whether the service refused its reader.
struct Measured {
    pair: Pair,
    case: CaseResult,
    refused: bool,
}

/// Why a reader gave no pair.
#[derive(Debug)]
struct Lost {
    known: Known,
    refused: bool,
}

/// Run a reader and read its document: the pair, its case, and whether it was refused. `advice`: what helps where it names
/// nothing.
fn output_of(
    command: &[String],
    advice: &str,
    stop: &StopFlag,
) -> Result<(Pair, Option<CaseResult>, bool), Lost> {
    let lost = |why: String, remedy: Option<&str>, refused: bool| Lost {
        known: (why, remedy.map(str::to_owned)),
        refused,
    };
    let output = reader::said_by(command, stop).map_err(|why| lost(why, Some(advice), false))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let told = |label| said.lines().rev().find_map(|line: &str| line.strip_prefix(label));
    let last = || {
        told("error: ")
            .or(said.lines().last())
            .unwrap_or("it said nothing")
    };
    let run = wirespeed_report::read_run(&output.stdout).map_err(|_| {
        let why = format!("the reader gave no result: {}", last());
        let refused = output.status.code() == Some(exit::REFUSED.into());
        lost(why, Some(told("help: ").unwrap_or(advice)), refused)
    })?;
    let section = run.sections.get::<ByteioSection>();
    let pair = section.and_then(|section| section.pairs.into_iter().next());
    match (pair, run.status) {
        (Some(pair), status) => {
            let case = run.cases.into_iter().next();
            Ok((pair, case, status == Status::Refused))
        }
        (None, Status::Ok) => {
            let why = "the reader's result has no transfer".to_owned();
            Err(lost(why, Some(advice), false))
        }
        (None, status) => {
            let why = run.error.unwrap_or_else(|| last().to_owned());
            Err(lost(why, told("help: "), status == Status::Refused))
        }
    }
}

/// Print what would run, a line a pair.
fn show(plan: &[Planned], command: impl Fn(&Planned) -> Vec<String>) -> Result<Ended, Failure> {
    let mut text = String::new();
    for (number, round) in (1..).zip(rounds(plan)) {
        for one in round {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "round {number}: {}: {}",
                one.name,
                words::line(&command(one))
            );
        }
    }
    output::print(&text).map(|()| Ended::OK)
}

/// The same as JSON.
fn show_as_json(plan: &[Planned], command: impl Fn(&Planned) -> Vec<String>) -> Result<Ended, Failure> {
    let pair = |one: &Planned| serde_json::json!({ "pair": one.name, "command": command(one) });
    let rounds: Vec<Vec<_>> = rounds(plan)
        .into_iter()
        .map(|round| round.into_iter().map(pair).collect())
        .collect();
    let document = serde_json::json!({ "rounds": rounds });
    output::print(&format!("{document:#}\n")).map(|()| Ended::OK)
}

/// What every reader is asked for.
struct Asked<'a> {
    words: &'a TransferArgs,
    arguments: &'a ByteioBenchArgs,
    repeats: u32,
    stop: &'a StopFlag,
}

impl Asked<'_> {
    fn quiet(&self) -> bool {
        self.arguments.output.quiet
    }

    fn at_once(&self, plan: &[Planned]) -> Vec<Measured> {
        let all = format!("{} pairs at once", plan.len());
        let waiting = Progress::waiting(&all, self.quiet());
        let lost = |one: &Planned| {
            let pair = one.lost(self.words, ("its reader was lost".to_owned(), None));
            let case = result_of(&pair);
            Measured {
                pair,
                case,
                refused: false,
            }
        };
        let found = std::thread::scope(|scope| {
            let start = |one| (one, scope.spawn(move || self.measure(one)));
            let readers: Vec<_> = plan.iter().map(start).collect();
            let readers = readers.into_iter();
            readers
                .map(|(one, reader)| reader.join().unwrap_or_else(|_| lost(one)))
                .collect()
        });
        waiting.finish();
        alone(plan, found)
    }

    fn in_turn(&self, plan: &[Planned]) -> Vec<Measured> {
        let mut progress = Progress::of_steps(plan.len(), self.quiet());
        let measured = |one: &Planned| match self.stop.is_requested() {
            true => one.unreached(self.words),
            false => {
                progress.start_as(&one.name);
                self.measure(one)
            }
        };
        let found = plan.iter().map(measured).collect();
        progress.finish();
        found
    }

    /// A pair, and the case that its reader measured; a pair without runs where it gave none.
    fn measure(&self, one: &Planned) -> Measured {
        let command = one.command(self.words, self.arguments, self.repeats);
        let (mut pair, case, refused) = match output_of(&command, one.advice(), self.stop) {
            Ok(read) => read,
            Err(lost) => (one.lost(self.words, lost.known), None, lost.refused),
        };
        pair.name.clone_from(&one.name);
        pair.nominal_bytes_per_s = one.nominal;
        pair.emulated.clone_from(&one.emulated);
        complete(&mut pair);
        let mut case = case.unwrap_or_else(|| result_of(&pair));
        case.case.options.insert("pair".to_owned(), one.name.clone());
        Measured { pair, case, refused }
    }
}

/// Measure every pair.
pub fn bench(
    arguments: &ByteioBenchArgs,
    words: &TransferArgs,
    plan: &[Planned],
    repeats: u32,
    color: ColorChoice,
) -> Result<Ended, Failure> {
    if arguments.experiment.dry_run {
        let command = |one: &Planned| one.command(words, arguments, repeats);
        return match arguments.output.json {
            true => show_as_json(plan, command),
            false => show(plan, command),
        };
    }
    let stop = crate::cmd::stop_on_signals()?;
    let mut output = Output::open(&arguments.output, color)?;
    let draft = Draft::begin(None, arguments.output.include_host_name);
    let asked = Asked {
        words,
        arguments,
        repeats,
        stop: &stop,
    };
    let found = match arguments.at_once {
        true => asked.at_once(plan),
        false => asked.in_turn(plan),
    };
    let refused = found.iter().position(|one| one.refused);
    let (pairs, cases): (Vec<Pair>, Vec<CaseResult>) =
        found.into_iter().map(|one| (one.pair, one.case)).unzip();
    // What a case is, its reader has told with its result.
    for (number, result) in (0..).zip(&cases) {
        output.event(&Event::CaseStarted {
            case: number,
            cases: cases.len() as u32,
            label: result.case.label(),
            repetition: 0,
        })?;
    }
    let section = ByteioSection {
        profile: arguments.profile.map(|_| view::PROFILE_2009.to_owned()),
        pairs,
    };
    let how = Close {
        interrupted: stop.is_requested(),
        refused,
        strict: arguments.output.strict,
    };
    publish(draft, &mut output, (&section, cases), how, ANEW)
}

/// The CPU time of a service is that of all its readers: where several read at once, none of them has it.
fn alone(plan: &[Planned], mut found: Vec<Measured>) -> Vec<Measured> {
    let server = |one: &Planned| one.name.split_once(" -> ").map(|(_, server)| server.to_owned());
    for (one, Measured { pair, .. }) in plan.iter().zip(&mut found) {
        if plan.iter().filter(|other| server(other) == server(one)).count() > 1 {
            pair.runs.iter_mut().for_each(|run| run.cpu_far_ns = None);
            complete(pair);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::plan::parse;
    use super::plan::tests::machines;
    use super::*;
    use clap::Parser as _;
    use wirespeed_schema::Finite;
    use wirespeed_schema::byteio::Transfer;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        words: TransferArgs,
    }

    #[test]
    fn a_service_of_several_readers_at_once_is_charged_to_none() {
        let plan = machines(3, "[\"m1 -> m0\", \"m2 -> m0\", \"m0 -> m1\"]");
        let measured = |one: &Planned| {
            let mut pair = Pair {
                name: one.name.clone(),
                ..Pair::default()
            };
            pair.runs = vec![Transfer {
                elapsed_ns: 1000,
                bandwidth_bytes_per_s: Some(Finite::from(1000u32)),
                cpu_far_ns: Some(1000),
                ..Transfer::default()
            }];
            complete(&mut pair);
            let case = result_of(&pair);
            Measured {
                pair,
                case,
                refused: false,
            }
        };
        let found = alone(&plan, plan.iter().map(measured).collect());
        let known = |Measured { pair, .. }: &Measured| {
            let limit = &pair.verdict.as_ref().unwrap().limit;
            (pair.runs[0].cpu_far_ns.is_some(), limit == "server")
        };
        let known: Vec<(bool, bool)> = found.iter().map(known).collect();
        assert_eq!(known, [(false, false), (false, false), (true, true)]);
    }

    #[test]
    fn what_helps_is_what_the_reader_says_or_what_can_be_followed() {
        let said = |words: &str, advice| {
            let command = ["sh", "-c", words].map(str::to_owned);
            output_of(&command, advice, &StopFlag::new()).unwrap_err().known
        };
        let (why, remedy) = said("echo 'error: no room' >&2; echo 'help: make room' >&2", "advice");
        assert!(
            why.ends_with("no room") && remedy.as_deref() == Some("make room"),
            "{why}"
        );
        assert_eq!(said("exit 1", "advice").1.as_deref(), Some("advice"));
        let emulated = super::super::emulated::plan("folder").unwrap();
        assert!(emulated.iter().all(|one| one.advice().contains("root")));
        assert!(
            machines(2, "\"all\"")
                .iter()
                .all(|one| one.advice().contains("--dry-run"))
        );
    }

    #[test]
    fn a_pair_that_was_not_reached_has_its_case() {
        let text = "pairs = [\"a -> b\"]\n[[machine]]\nname = \"a\"\nrun = [\"ssh\", \"a\"]\n[[machine]]\nname = \"b\"\nurl = \"http://b/f\"\n";
        let words = Line::parse_from(["bench"]).words;
        let Measured { pair, case, .. } = parse(text, false).unwrap()[0].unreached(&words);
        assert_eq!((pair.name.as_str(), pair.runs.len()), ("a -> b", 0));
        assert_eq!(case.error, pair.error);
        assert_eq!(
            super::super::first_error(&pair),
            None,
            "it is no error of the run"
        );
        assert!(wirespeed_report::view::unreached(&[case]).is_some());
    }
}
