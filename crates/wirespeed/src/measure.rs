//! The one public entry: measure a case as one rank of a group, in the caller's thread.

use crate::engine::{self, Report};
use crate::error::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::cancel::CancelReason;
use crate::transport::registry::Registry;
use crate::transport::{Support, seal};
use wirespeed_schema::case::{Case, GroupKind};
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::test::Capability;

/// Measure `case` as the rank that `bootstrap` says. Collective: every rank of the group calls it with the same case.
/// `report` is called at the case's report interval, in this thread. Nothing is printed, nothing outlives the call.
///
/// When a rank fails, the group's cancel flag is set, so that the others return too. Errors where nothing was measured: the
/// case contradicts itself, the transport or machine cannot do it, the ranks do not meet.
///
/// ```
/// use wirespeed::schema::case::{Case, IdlePolicy, Stop};
/// use wirespeed::schema::test::{Layout, PingPong, Test};
/// use wirespeed::{Registry, ThreadBootstrap, measure};
///
/// let case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "inproc")
///     .with_stop(Stop::Iterations { count: 200 })
///     .with_warmup(10, 1_000_000)
///     .with_idle(IdlePolicy::Yield);
/// let registry = Registry::builtin();
/// let outcomes = std::thread::scope(|scope| {
///     let ranks: Vec<_> = ThreadBootstrap::group(2)
///         .into_iter()
///         .map(|rank| {
///             let (case, registry) = (&case, &registry);
///             scope.spawn(move || measure(case, registry, &rank, &mut |_interval| ()))
///         })
///         .collect();
///     ranks.into_iter().map(|rank| rank.join().unwrap()).collect::<Result<Vec<_>, _>>()
/// })?;
/// assert_eq!(outcomes[0].sent.messages, 200);
/// # Ok::<(), wirespeed::MeasureError>(())
/// ```
pub fn measure(
    case: &Case,
    registry: &Registry,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let result = run(case, registry, bootstrap, report);
    let failed = match &result {
        Err(_) => true,
        Ok(outcome) => outcome.error.is_some(),
    };
    if failed {
        bootstrap.cancel().cancel(CancelReason::PeerLost);
    }
    result
}

fn run(
    case: &Case,
    registry: &Registry,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let entry = registry.find(&case.transport).ok_or_else(|| {
        let known: Vec<_> = registry.entries().iter().map(|e| e.name).collect();
        MeasureError::Usage(format!(
            "no transport {:?}; there are: {}",
            case.transport,
            known.join(", ")
        ))
    })?;
    if case.ranks.len() != bootstrap.size() as usize || bootstrap.rank() >= bootstrap.size() {
        return Err(MeasureError::Usage(format!(
            "the case has {} ranks, the group has {}",
            case.ranks.len(),
            bootstrap.size()
        )));
    }
    if !entry.job_wide
        && let Some(outcome) = engine::absent(case, bootstrap)
    {
        return Ok(outcome);
    }
    (entry.check)(case)?;
    let capability = case.test.capability();
    let lacks = |why: &str| MeasureError::Unsupported(why.to_owned());
    let how = match entry.support(capability) {
        Support::Native => None,
        Support::Emulated(how) => Some(how),
        Support::Lacks(why) => return Err(lacks(why)),
    };
    let run = entry
        .runner(capability)
        .ok_or_else(|| lacks("its registry entry has no runner for this test"))?;
    let mut outcome = run(case, bootstrap, report)?;
    let mut fact = |name: &str, value: String| outcome.transport_facts.insert(name.to_owned(), value);
    if let Some(how) = how {
        fact(capability.name(), format!("emulated {how}"));
    }
    if entry.lossy {
        fact("delivery", "unreliable".to_owned());
    }
    if matches!(case.group, GroupKind::Hosts | GroupKind::Job) && capability != Capability::Bulk {
        // A port that encrypts has said so.
        let stated = outcome.transport_facts.entry(seal::FACT.to_owned());
        stated.or_insert_with(|| "none: only the control channel is encrypted".to_owned());
    }
    Ok(outcome)
}
