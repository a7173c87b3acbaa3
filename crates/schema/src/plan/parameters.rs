//! Every parameter of a case, in the order in which they vary in a sweep: the first slowest.
//!
//! A definition stands in the file that reads it; here is only the order.

use super::error::PlanError;
use super::{cpus, length, load, ranks};
use crate::kinds::Kind;
use crate::parameter::{Parameter, Section};
use crate::test::{asked, defined, hub, msgrate, stream};

/// `--via`.
pub static VIA: Parameter = Parameter {
    key: "via",
    value_name: "T[,T..]",
    section: Section::Test,
    help: "Transports to measure (see `wirespeed list`)",
    remedy: "see `wirespeed list`",
    example: "via = [\"shm\", \"tcp\"]",
    ..Parameter::NAME
};

/// The test: a word of its own on the command line.
pub static TEST: Parameter = Parameter {
    key: "test",
    value_name: "TEST",
    section: Section::Verb,
    help: "A test, or a list of tests",
    remedy: "name one, such as latency, rate or bandwidth",
    example: "test = [\"latency\", \"put_bw\"]",
    ..Parameter::NAME
};

static FIRST: [&Parameter; 2] = [&VIA, &TEST];
static WHERE: [&Parameter; 3] = [&ranks::TO, &ranks::THREADS, &ranks::PROCS];
static LAYOUT: [&Parameter; 1] = [&asked::LAYOUT];
static PAYLOAD: [&Parameter; 1] = [&asked::SIZE];
static UNDER_WAY: [&Parameter; 2] = [&asked::WINDOW, &asked::OUTSTANDING];
static WHO: [&Parameter; 3] = [&ranks::ROLES, &cpus::CPUS, &load::LOAD];
static LENGTH: [&Parameter; 6] = [
    &length::ITERS,
    &length::DURATION,
    &length::WARMUP,
    &length::INTERVAL,
    &length::RAW,
    &length::CHECK,
];

/// The groups, and whether every test takes them.
static ORDER: [(bool, &[&Parameter]); 11] = [
    (true, &FIRST),
    (false, &msgrate::OWN),
    (false, &defined::OWN),
    (true, &WHERE),
    (false, &LAYOUT),
    (true, &PAYLOAD),
    (false, &UNDER_WAY),
    (false, &stream::OWN),
    (false, &hub::OWN),
    (true, &WHO),
    (true, &LENGTH),
];

/// Every parameter, the one that varies slowest first.
pub fn parameters() -> impl Iterator<Item = &'static Parameter> {
    ORDER.iter().flat_map(|(_, group)| group.iter().copied())
}

/// Whether tests of `kind` take the parameter.
pub fn takes(kind: &Kind, parameter: &Parameter) -> bool {
    let is_in = |group: &[&Parameter]| group.iter().any(|known| known.key == parameter.key);
    kind.has(parameter) || ORDER.iter().any(|(is_common, group)| *is_common && is_in(group))
}

/// The parameter called `key`, with hyphens or underscores.
pub fn parameter(key: &str) -> Result<&'static Parameter, PlanError> {
    let spelled = key.replace('-', "_");
    parameters().find(|known| known.key == spelled).ok_or_else(|| {
        let known: Vec<_> = parameters().map(|known| known.key).collect();
        PlanError::unknown("parameter", key, &known)
    })
}
