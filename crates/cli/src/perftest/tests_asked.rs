//! All tests of one run: those of the command line, or of every combination of the batch files' lines.

use super::batch::{self, BatchLine, Variables};
use super::case::{self, Asked, Common};
use super::numbers;
use super::unplanned::Unplanned;
use super::{TESTS_MAX, too_many};
use crate::args::{PerftestArgs, TestArgs};
use crate::errors::Failure;
use crate::experiment::Prepared;
use crate::words;
use std::path::Path;
use wirespeed::Machine;
use wirespeed::MeasureError;
use wirespeed_report::perftest::{Original, PerftestLine};
use wirespeed_schema::plan::{Plan, expand};

/// What was asked for, in order, and what of it is measured.
pub struct TestsAsked {
    /// Every test, also those that are no case; `case` is the place in `prepared`.
    pub lines: Vec<PerftestLine>,
    /// The cases.
    pub prepared: Vec<Prepared>,
    /// Of each case the original's test.
    pub originals: Vec<&'static Original>,
    /// Of each case the rank of its percentile.
    pub ranks: Vec<f64>,
    /// The cases as they can be asked for again.
    pub plan: Plan,
}

/// One test before it is looked at.
struct Combination {
    name: Vec<String>,
    places: Vec<String>,
    options: Result<TestArgs, Failure>,
}

/// Every test of `arguments`. A single invalid one ends the program; one of several is recorded.
pub fn all(arguments: &PerftestArgs, common: &Common) -> Result<TestsAsked, Failure> {
    let variables = batch::variables(&arguments.set)?;
    let combinations = combinations(arguments, &variables)?;
    let alone = combinations.len() == 1 && arguments.batch.is_empty();
    case::check_job(common, most_threads(&combinations).unwrap_or(1))?;
    let machine = crate::job::machine(common.registry);
    let mut all = TestsAsked {
        lines: Vec::new(),
        prepared: Vec::new(),
        originals: Vec::new(),
        ranks: Vec::new(),
        plan: Plan::of(Vec::new()),
    };
    for combination in combinations {
        let test = |options: &TestArgs| options.test.clone().unwrap_or_default();
        let mut line = PerftestLine {
            name: combination.name,
            test: combination.options.as_ref().map(test).unwrap_or_default(),
            places: combination.places,
            ..PerftestLine::default()
        };
        let ready = combination
            .options
            .map_err(Unplanned::Wrong)
            .and_then(|options| case::asked(&options, common))
            .and_then(|asked| Ok((prepare(&asked, common, &machine)?, asked)));
        match ready {
            Ok((prepared, asked)) => {
                if let Some((reason, remedy)) = prepared.skip.as_ref().filter(|_| alone) {
                    return Err(Failure::usage(reason, remedy));
                }
                line.case = Some(all.prepared.len());
                line.percentile_rank = Some(asked.percentile_rank);
                all.push(prepared, asked);
            }
            Err(Unplanned::Wrong(failure) | Unplanned::Unsupported(failure)) if alone => return Err(failure),
            Err(Unplanned::Wrong(failure)) => line.failed = Some(failure.cause),
            Err(Unplanned::Unsupported(failure)) => line.skipped = Some(failure.cause),
        }
        all.lines.push(line);
    }
    Ok(all)
}

/// Threads at each end of the test of `arguments` that has the most.
#[cfg(feature = "mpi")]
pub fn threads_most(arguments: &PerftestArgs) -> Option<u64> {
    let variables = batch::variables(&arguments.set).ok()?;
    most_threads(&combinations(arguments, &variables).ok()?)
}

fn most_threads(tests: &[Combination]) -> Option<u64> {
    let threads = |test: &Combination| numbers::threads(test.options.as_ref().ok()?).ok();
    tests.iter().filter_map(threads).max()
}

impl TestsAsked {
    fn push(&mut self, mut prepared: Prepared, asked: Asked) {
        prepared.planned.template = self.plan.templates.len();
        self.prepared.push(prepared);
        self.originals.push(asked.original);
        self.ranks.push(asked.percentile_rank);
        self.plan.templates.push(asked.template);
    }
}

/// The one case of a test, and whether its transport can run it. Its words have been read: what the plan or the transport
/// refuses is a combination of them that there is not.
fn prepare(asked: &Asked, common: &Common, machine: &Machine) -> Result<Prepared, Unplanned> {
    let plan = Plan::of(vec![asked.template.clone()]);
    let cases = expand(&plan, machine).map_err(|error| Unplanned::Unsupported(error.into()))?;
    let Some(planned) = cases.into_iter().next() else {
        return Err(Unplanned::not_offered("it is no case"));
    };
    let transport = planned.case.transport.clone();
    let checked = match machine.job_obstacle(&planned.case) {
        Some(why) => Some(Err(MeasureError::Unsupported(why))),
        None => common
            .registry
            .find(&transport)
            .map(|entry| (entry.check)(&planned.case)),
    };
    let remedy = format!("see `wirespeed list {transport}`");
    if !matches!(checked, Some(Ok(()))) {
        case::check_host(common, &planned.case)?;
        case::check_size(common, &planned.case, asked.original)?;
    }
    let skip = match checked {
        Some(Ok(())) => None,
        Some(Err(MeasureError::Unsupported(why))) => {
            Some((case::named(&planned.case, asked.original, &why), remedy))
        }
        Some(Err(why)) => {
            let why = case::named(&planned.case, asked.original, &why.to_string());
            return Err(Unplanned::unsupported(why, remedy));
        }
        None => Some((format!("there is no transport {transport}"), remedy)),
    };
    Ok(Prepared {
        skip,
        ..Prepared::planned(planned)
    })
}

/// The tests by their words: the command line's over those of one line of every file, the last file over the others.
fn combinations(arguments: &PerftestArgs, variables: &Variables) -> Result<Vec<Combination>, Failure> {
    let files: Vec<Vec<BatchLine>> = arguments
        .batch
        .iter()
        .map(|path| batch::read(path, variables))
        .collect::<Result<_, _>>()?;
    let total = files
        .iter()
        .try_fold(1usize, |total, lines| total.checked_mul(lines.len()));
    let total = total.filter(|total| *total <= TESTS_MAX).ok_or_else(too_many)?;
    let mut all = Vec::new();
    for number in 0..total {
        let lines = pick(&files, number);
        let name: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
        let places: Vec<String> = lines.iter().map(|line| line.place.clone()).collect();
        let merged = lines.iter().try_fold(TestArgs::default(), |base, line| {
            let options = line.options.clone().map_err(|failure| at(&line.place, failure))?;
            Ok(options.over(base))
        });
        let merged: Result<TestArgs, Failure> =
            merged.and_then(|base| loopback_of_a_line(&base).map(|()| base));
        let unrolled = merged.and_then(|base| arguments.test.clone().over(base).unrolled());
        match unrolled {
            Ok(unrolled) => all.extend(unrolled.into_iter().map(|(suffix, options)| Combination {
                name: named(&name, suffix),
                places: places.clone(),
                options: Ok(options),
            })),
            Err(failure) => all.push(Combination {
                name,
                places,
                options: Err(failure),
            }),
        }
        if all.len() > TESTS_MAX {
            return Err(too_many());
        }
    }
    Ok(all)
}

/// The combination with this number, the last file counting fastest.
fn pick(files: &[Vec<BatchLine>], number: usize) -> Vec<&BatchLine> {
    let mut rest = number;
    let mut lines: Vec<&BatchLine> = files
        .iter()
        .rev()
        .map(|file| {
            let line = &file[rest % file.len()];
            rest /= file.len();
            line
        })
        .collect();
    lines.reverse();
    lines
}

/// The name of a line's test, with what its ranges add.
fn named(name: &[String], suffix: String) -> Vec<String> {
    let mut name = name.to_vec();
    match name.last_mut() {
        _ if suffix.is_empty() => {}
        Some(last) => *last = format!("{last}:{suffix}"),
        None => name.push(suffix),
    }
    name
}

fn at(place: &str, failure: Failure) -> Failure {
    Failure {
        cause: format!("{place}: {}", failure.cause),
        ..failure
    }
}

/// Where the ends are is one question for all tests.
fn loopback_of_a_line(options: &TestArgs) -> Result<(), Failure> {
    match options.loopback {
        false => Ok(()),
        true => Err(Failure::usage(
            "-l on a line: the ends of all tests are in one place",
            "give -l on the command line",
        )),
    }
}

/// The names of the batch files' columns.
pub fn file_names(files: &[impl AsRef<Path>]) -> Vec<String> {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        batch::printable(&words::of(name))
    };
    files.iter().map(|path| name(path.as_ref())).collect()
}
