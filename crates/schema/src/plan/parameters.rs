//! Every parameter of a case, in the order in which they vary in a sweep: the first slowest.
//!
//! A definition stands in the file that reads it; here is only the order.

use super::error::PlanError;
use super::{cpus, length, load, ranks};
use crate::kinds::{Kind, Roles};
use crate::parameter::{Parameter, Section};
use crate::test::{asked, bulk, defined, hub, msgrate, stream};

/// `--via`.
pub static VIA: Parameter = Parameter {
    key: "via",
    value_name: "T[,T..]",
    section: Section::Test,
    help: "Transports to measure; `wirespeed list` shows which work here",
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
static FAR: [&Parameter; 1] = [&ranks::TO];
static NEAR: [&Parameter; 2] = [&ranks::THREADS, &ranks::PROCS];
static LAYOUT: [&Parameter; 1] = [&asked::LAYOUT];
static PAYLOAD: [&Parameter; 1] = [&asked::SIZE];
static UNDER_WAY: [&Parameter; 2] = [&asked::WINDOW, &asked::OUTSTANDING];
static ROLES: [&Parameter; 1] = [&ranks::ROLES];
static BESIDE: [&Parameter; 2] = [&cpus::CPUS, &load::LOAD];
static LENGTH: [&Parameter; 3] = [&length::ITERS, &length::DURATION, &length::WARMUP];
static REPORTS: [&Parameter; 1] = [&length::INTERVAL];
static KEPT: [&Parameter; 2] = [&length::RAW, &length::CHECK];

/// Which tests take a group of parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takers {
    /// Every test.
    All,
    /// Those whose both ends are ranks of ours.
    Ranks,
    /// Those that name it.
    Named,
}
use Takers::{All, Named, Ranks};

/// The groups.
static ORDER: [(Takers, &[&Parameter]); 16] = [
    (All, &FIRST),
    (Named, &msgrate::OWN),
    (Named, &defined::OWN),
    (All, &FAR),
    (Ranks, &NEAR),
    (Named, &LAYOUT),
    (Named, &bulk::OWN),
    (All, &PAYLOAD),
    (Named, &UNDER_WAY),
    (Named, &stream::OWN),
    (Named, &hub::OWN),
    (Ranks, &ROLES),
    (All, &BESIDE),
    (Ranks, &LENGTH),
    (All, &REPORTS),
    (Ranks, &KEPT),
];

/// Every parameter, the one that varies slowest first.
pub fn parameters() -> impl Iterator<Item = &'static Parameter> {
    ORDER.iter().flat_map(|(_, group)| group.iter().copied())
}

/// Whether tests of `kind` take the parameter.
pub fn takes(kind: &Kind, parameter: &Parameter) -> bool {
    let is_in = |group: &[&Parameter]| group.iter().any(|known| known.key == parameter.key);
    let is_between_ranks = !matches!(kind.roles, Roles::Near(_));
    let takes = |takers| takers == All || takers == Ranks && is_between_ranks;
    kind.has(parameter) || ORDER.iter().any(|(takers, group)| takes(*takers) && is_in(group))
}

/// The parameter called `key`, with hyphens or underscores.
pub fn parameter(key: &str) -> Result<&'static Parameter, PlanError> {
    let spelled = key.replace('-', "_");
    parameters().find(|known| known.key == spelled).ok_or_else(|| {
        let known: Vec<_> = parameters().map(|known| known.key).collect();
        PlanError::unknown("parameter", key, &known)
    })
}
