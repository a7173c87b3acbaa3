//! One combination of words to one complete case: units are parsed, defaults filled in, nonsense refused.

use super::error::PlanError;
use super::expand::PlannedCase;
use super::parameters::{TEST, VIA, parameter, takes};
use super::surroundings::Surroundings;
use super::{length, ranks};
use crate::case::{Case, GroupKind, TransportOptions};
use crate::kinds::{self, Kind, Payload};
use crate::test::asked::{Asked, LAYOUT, SIZE, SIZE_MAX_BYTES};
use crate::test::{Layout, PingPong, Test};
use crate::units;
use crate::words::Words;

/// Where the search for a default payload that the transport takes ends.
const SIZE_LARGE_MIN: u64 = 1 << 10;

/// The case that `words` describe.
pub(super) fn resolve(
    words: &Words,
    template: usize,
    around: &dyn Surroundings,
) -> Result<PlannedCase, PlanError> {
    let typed = words
        .get(&TEST)
        .ok_or_else(|| PlanError::new("no test is named", TEST.remedy))?;
    let named = kinds::named(typed)?;
    let via = transport(words, named, around)?;
    let kind = tagged(words, via, around).unwrap_or(named);
    for key in words.keys.keys() {
        let parameter = parameter(key)?;
        if !takes(kind, parameter) {
            return Err(PlanError::new(
                format!("{} takes no {}", kind.name, parameter.option()),
                "leave it out, or give that test a [[case]] of its own in a plan file",
            ));
        }
    }
    let group = ranks::group(words, kind, via, around)?;
    let draft = Case::new(
        Test::AmLat(PingPong {
            size_bytes: 0,
            layout: Layout::Short,
        }),
        via,
    )
    .with_options(
        ranks::transport_options(words)
            .into_iter()
            .chain(group.options)
            .collect(),
    )
    .with_group(group.kind)
    .with_to(group.to)
    .with_ranks(group.ranks)
    .with_stop(length::stop(words, None)?)
    .with_warmup(0, 0)
    .with_check(words.flag(&length::CHECK)?)
    .with_report_interval_ns(length::interval_ns(words)?)
    .with_raw_samples(length::raw_samples(words)?);
    let mut case = with_test(draft, (words, typed), kind, around)?;
    let own = match case.test.bulk() {
        Some(shape) => Some((shape.blocks(), 0)),
        None => kind.repeats.map(|repeats| repeats(case.test.size_bytes())),
    };
    case.stop = length::stop(words, own.map(|(iterations, _)| iterations))?;
    (case.warmup_iterations, case.warmup_ns_max) = length::warmup(words, own.map(|(_, warmup)| warmup))?;
    Ok(PlannedCase { case, template })
}

/// The test of tagged messages behind a friendly name, over a transport that has these first, where it takes all that is asked.
fn tagged(words: &Words, via: &str, around: &dyn Surroundings) -> Option<&'static Kind> {
    let friendly = kinds::friendly(words.get(&TEST)?).filter(|_| around.has_tags_first(via))?;
    let kind = kinds::kind(friendly.tagged)?;
    let mut keys = words.keys.keys();
    keys.all(|key| parameter(key).is_ok_and(|parameter| takes(kind, parameter)))
        .then_some(kind)
}

fn transport<'a>(words: &Words<'a>, kind: &Kind, around: &dyn Surroundings) -> Result<&'a str, PlanError> {
    let transports = around.transports();
    let known: Vec<&str> = transports.iter().map(String::as_str).collect();
    let via = words.get(&VIA).ok_or_else(|| {
        let is_of_job = |via: &str| around.default_group(via, &TransportOptions::new()).0 == GroupKind::Job;
        let fits = |via: &&str| {
            around.has_capability(via, kind.capability()) && (!around.is_in_job() || is_of_job(via))
        };
        let fitting: Vec<&str> = known.iter().copied().filter(fits).collect();
        let remedy = format!("add --via TRANSPORT: {}", fitting.join(", "));
        PlanError::new("no transport is named", remedy)
    })?;
    match known.contains(&via) {
        true => Ok(via),
        false => Err(PlanError::unknown("transport", via, &known)),
    }
}

/// Puts the test in: where size or layout are left open, the first of the defaults that the transport takes.
fn with_test(
    mut case: Case,
    (words, typed): (&Words, &str),
    kind: &'static Kind,
    around: &dyn Surroundings,
) -> Result<Case, PlanError> {
    let layout = words.get(&LAYOUT).map(parse_layout).transpose()?;
    let friendly = kinds::friendly(typed);
    let (place, ranks) = (case.group, case.ranks.len());
    let paired = case.ranks.iter().filter(|rank| rank.peer.is_some()).count();
    let in_place = around.sends_in_place(&case.transport);
    let mut first = None;
    for size_bytes in sizes(
        words,
        friendly.map_or(kind.size_bytes, |name| name.size_bytes),
        kind,
    )? {
        let window = friendly
            .filter(|name| name.test == kind.name)
            .and_then(|name| name.window_msgs);
        let chosen = layout.as_ref().map(std::slice::from_ref);
        for layout in chosen.unwrap_or(kind.layouts(size_bytes, in_place)) {
            case.test = (kind.read)(&Asked {
                words,
                test: kind.name,
                size_bytes,
                layout: *layout,
                under_way_ops: window.unwrap_or(kind.under_way.count(size_bytes)),
                ranks: ranks as u32,
                paired_ranks: paired,
                cache_bytes: &|| around.cache_bytes(place, ranks),
            })?;
            if around.can_run(&case) {
                return Ok(case);
            }
            first.get_or_insert_with(|| case.test.clone());
        }
    }
    // None fits: the first says best why.
    if let Some(test) = first {
        case.test = test;
    }
    Ok(case)
}

/// The size asked for, or the defaults in order of preference: `preferred`, and its halves down to 1 KiB.
fn sizes(words: &Words, preferred: u64, kind: &Kind) -> Result<Vec<u64>, PlanError> {
    if let Some(text) = words.get(&SIZE) {
        let size =
            units::parse_size(text).map_err(|e| PlanError::new(format!("--size: {e}"), SIZE.remedy))?;
        check_size(kind, size)?;
        return Ok(vec![size]);
    }
    let halves = std::iter::successors(Some(preferred), |size| {
        (size / 2 >= SIZE_LARGE_MIN).then_some(size / 2)
    });
    Ok(halves.collect())
}

fn check_size(kind: &Kind, size: u64) -> Result<(), PlanError> {
    match (kind.payload, size) {
        (Payload::Word, 4 | 8) => Ok(()),
        (Payload::Word, _) => Err(PlanError::new(
            format!("{} works on words of 4 or 8 bytes, not {size}", kind.name),
            "use --size 4 or --size 8",
        )),
        (Payload::NotEmpty, 0) => Err(PlanError::new(
            format!("{} cannot move 0 bytes", kind.name),
            "use --size 1 or more",
        )),
        (_, ..=SIZE_MAX_BYTES) => Ok(()),
        _ => Err(PlanError::new(
            format!("--size {size} is above 1 TiB"),
            SIZE.remedy,
        )),
    }
}

fn parse_layout(text: &str) -> Result<Layout, PlanError> {
    let names = Layout::ALL.map(Layout::name);
    let found = Layout::ALL.into_iter().find(|l| l.name() == text);
    found.ok_or_else(|| PlanError::unknown("layout", text, &names))
}
