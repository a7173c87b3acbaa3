//! That a result of the original, once imported, is the case that its own command line makes here: so that both can be compared.

use super::case::{Common, Place, asked};
use crate::args::{Generation, TestArgs};
use wirespeed::Machine;

use wirespeed_report::import::{Format, Told, import_told};
use wirespeed_report::perftest::{Api, ORIGINALS, Original};
use wirespeed_schema::Case;
use wirespeed_schema::plan::{Plan, expand};

/// Letters that say how messages are made up or how many are under way, each with its value.
const LETTERS: [&str; 7] = ["", "-W 7", "-O 3", "-H 16", "-z", "-D bcopy", "-D zcopy"];
const SIZES: [u64; 6] = [8, 1024, 1025, 4096, 4097, 1 << 16];

/// What the original prints under `line`, imported.
fn imported(line: &str) -> Case {
    let text = format!(
        "$ {line}\niterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n\
         10000,0.250,0.260,0.255,29.92,29.92,3921568,3921568\n"
    );
    let (_, run) = import_told(text.as_bytes(), Some(Format::UcxPerftest), &Told::default()).unwrap();
    run.cases[0].case.clone()
}

fn options(original: &Original, size: u64, letter: &str) -> TestArgs {
    let value = letter.split_whitespace().nth(1).map(str::to_owned);
    let given = |wanted: &str| value.clone().filter(|_| letter.starts_with(wanted));
    let device = |name: &str| (original.api == Api::Uct).then(|| name.to_owned());
    TestArgs {
        test: Some(original.name.to_owned()),
        size: Some(size.to_string()),
        transport: device("posix"),
        device: device("memory"),
        window: given("-W"),
        outstanding: given("-O"),
        header: given("-H"),
        layout: given("-D"),
        preregistered: letter == "-z",
        ..TestArgs::default()
    }
}

#[test]
fn a_result_of_the_original_is_the_case_of_its_command_line() {
    let registry = crate::registry();
    if registry.find("ucp").is_none() {
        return;
    }
    let machine = Machine::new(&registry);
    let common = Common {
        registry: &registry,
        place: Place::Here,
        generation: Generation::Today,
        cpus: None,
        intervals: false,
    };
    let mut same = 0;
    for (original, size, letter) in ORIGINALS
        .iter()
        .flat_map(|original| SIZES.map(|size| (original, size)))
        .flat_map(|(original, size)| LETTERS.map(|letter| (original, size, letter)))
    {
        // The original wants gets of the transport layer to say it.
        let says_nothing = original.api == Api::Uct && original.is_get() && !letter.starts_with("-D");
        let Ok(asked) = asked(&options(original, size, letter), &common) else {
            continue;
        };
        let mut plan = Plan::default();
        plan.templates = vec![asked.template];
        let Some(planned) = expand(&plan, &machine).ok().filter(|_| !says_nothing) else {
            continue;
        };
        let device = if original.api == Api::Uct {
            "-x posix -d memory"
        } else {
            ""
        };
        let line = format!(
            "ucx_perftest node7 -t {} -s {size} {device} {letter} -v",
            original.name
        );
        let (ours, theirs) = (&planned[0].case, imported(&line));
        assert_eq!(
            (&ours.test, &ours.transport, &ours.options),
            (&theirs.test, &theirs.transport, &theirs.options),
            "{line}"
        );
        same += 1;
    }
    assert!(same > 500, "only {same} command lines were tried");
}
