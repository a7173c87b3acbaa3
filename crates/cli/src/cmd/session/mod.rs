//! `wirespeed session`: sessions begin, their streams are measured, they end; as often as asked.

mod ask;
mod chart;
mod classic;
mod life;
mod sessions;

use super::front::{Front, ended_with};
use super::run::without_label;
use super::{daemons, dry_run};
use crate::args::{ColorChoice, SessionArgs, SessionFormat};
use crate::errors::{Ended, Failure};
use crate::experiment::{Found, How, Points, Prepared, pin};
use crate::open_loop::TRIALS;
use crate::output;
use crate::view::session;
use ask::Request;
use sessions::Sessions;
use std::sync::Arc;
use wirespeed::{MeasureError, Registry};
use wirespeed_control::RankProgram;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::plan::Plan;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_asked_size;
use wirespeed_schema::{Case, Finite};
use wirespeed_session::definition::Definition;
use wirespeed_session::launched::Engine;
use wirespeed_session::live::Place;
use wirespeed_session::node::Node;
use wirespeed_session::path::{self, Path, Route, Streaming};
use wirespeed_session::report::{DaemonCost, SessionReport, SessionSection};
use wirespeed_session::say::LogTo;

/// Do what the arguments ask for.
pub fn session(registry: &Registry, arguments: &SessionArgs, color: ColorChoice) -> Result<Ended, Failure> {
    if arguments.schema {
        let schema = serde_json::to_string_pretty(&Definition::schema());
        let text = schema.map_err(|e| Failure::failed(e.to_string(), "please report it"))?;
        output::print(&format!("{text}\n"))?;
        return Ok(Ended::OK);
    }
    let request = ask::request(arguments)?;
    check_options(registry, arguments)?;
    let mut plan = Plan::default();
    let usual = if request.offered.is_some() { TRIALS } else { 1 };
    let how = How::of(
        &arguments.experiment,
        (&mut plan, usual),
        (&arguments.output, color),
    )?;
    let foreseen = |kind: GroupKind| -> Result<Vec<Prepared>, Failure> {
        let streams = request.streams.iter();
        let cases = streams.map(|stream| request.prepared((registry, arguments), stream, kind));
        cases.collect()
    };
    let here = foreseen(GroupKind::Processes)?;
    if arguments.experiment.dry_run {
        return foretell(&request, &plan, how.listed(here)?, arguments.output.json);
    }
    // For what runs nowhere no session is started.
    let failed = |cases: &[Prepared]| cases.iter().find_map(|case| case.failure.clone());
    if let (Some(failure), Some(_)) = (failed(&here), failed(&foreseen(GroupKind::Hosts)?)) {
        return Err(failure);
    }
    check_files(arguments, &request)?;
    let mut front = Front::open((&arguments.output, color), None)?;
    let classic = arguments.format == SessionFormat::Classic && front.output.shows_table();
    if classic {
        let report_ns = request.streams.first().map_or(0, |stream| stream.report_ns);
        let lines = classic::Lines::of(&receivers(&request), report_ns);
        front.output.show_live(Box::new(lines));
    }
    let mut sessions = Sessions {
        registry,
        arguments,
        request: &request,
        place: place(&request)?,
        stop: front.stop.clone(),
        kept: request.offered.is_some() || !how.loads.is_empty(),
        reports: Vec::new(),
        broken: false,
        lives: Vec::new(),
        groups: None,
    };
    let found = measure(&mut front, &mut sessions, how)?;
    let section = section(&request, sessions.reports, &found);
    front.draft.put(&section);
    let failure = found.failure.clone();
    let run = found.into_run(front.draft);
    let published = front.output.finish(&run);
    if let Some(path) = &arguments.chart {
        chart::write(path, &run).map_err(Failure::documented)?;
    }
    published?;
    if classic {
        output::print(&session::classic(&run))?;
    }
    Ok(ended_with(&run, failure, arguments.output.strict))
}

/// Errors where a file cannot be written that this program, or a computation of this machine, is to write.
fn check_files(arguments: &SessionArgs, request: &Request) -> Result<(), Failure> {
    if let Some(path) = &arguments.chart {
        crate::file::check(path)?;
    }
    let log = &request.ask.work.log;
    match (&log.to, &request.engine, &request.coordinator) {
        (LogTo::File(path), None, None) if log.lines > 0 => crate::file::check(path),
        _ => Ok(()),
    }
}

/// What would be measured, and where, as far as that is known.
fn foretell(request: &Request, plan: &Plan, cases: Vec<Prepared>, json: bool) -> Result<Ended, Failure> {
    match &request.coordinator {
        Some((address, _)) => dry_run::show_about(plan, cases, json, &format!("in a session at {address}")),
        None => dry_run::show(plan, cases, json),
    }
}

/// What was asked for: streams as often as asked, or one of them at offered rates; the section of rates goes into the
/// draft. The error is one of output, or of loads that cannot run.
fn measure(front: &mut Front, sessions: &mut Sessions, how: How) -> Result<Found, Failure> {
    let request = sessions.request;
    let about = (sessions.registry, sessions.arguments);
    let kind = match sessions.open() {
        Ok(kind) => kind,
        Err(failure) => {
            // What failed first is told; those that had begun tell of their computations.
            let _ = sessions.close();
            return Ok(Found::nothing(match sessions.stop.is_requested() {
                true => Failure::interrupted("run again"),
                false => failure,
            }));
        }
    };
    let mut load = None;
    let found = match (&request.offered, request.streams.first()) {
        (Some(asked), Some(stream)) => {
            let seed = how.seed;
            let mut points = Points::new(front.experiment(how, sessions), |rate| {
                let paced = Streaming {
                    pace_msg_per_s: Some(rate as u64),
                    ..stream.clone()
                };
                request.prepared(about, &paced, kind)
            });
            let offered = asked.offer(&mut points);
            let found = offered.and_then(|()| points.finish());
            found.inspect(|found| load = Some(asked.section(&found.undisturbed(), seed)))
        }
        _ => {
            let streams = request.streams.iter();
            let cases: Result<_, Failure> = streams
                .map(|stream| request.prepared(about, stream, kind))
                .collect();
            cases.and_then(|cases| front.run(how, sessions, vec![cases]))
        }
    };
    // Sessions end whatever became of their streams.
    let closed = sessions.close();
    let mut found = found?;
    found.failure = found.failure.or(closed.err());
    if let Some(load) = load {
        front.draft.put(&load);
    }
    Ok(found)
}

/// The ranks that receive.
fn receivers(request: &Request) -> Vec<u32> {
    match request.path {
        Some(Path::ComputationToClient) => vec![0],
        Some(Path::ComputationToComputation) => vec![2],
        Some(Path::ComputationsToComputations) => {
            (1..=request.ask.definition.expand().len() as u32).collect()
        }
        Some(Path::ClientToComputation) | None => vec![1],
    }
}

fn place(request: &Request) -> Result<Place, Failure> {
    if let Some(engine) = &request.engine {
        return Ok(Place::Launched {
            engine: engine.clone(),
            program: RankProgram::this()?,
        });
    }
    Ok(match &request.coordinator {
        Some((address, identity)) => Place::Coordinator {
            address: address.clone(),
            identity: identity.clone(),
        },
        None => Place::Embedded(Arc::new(Node::new("this host", daemons::program()?))),
    })
}

impl Request {
    fn case(&self, stream: &Streaming, kind: GroupKind) -> wirespeed_schema::Case {
        let computations = self.ask.definition.expand().len();
        let mut stream = stream.clone();
        if self.any_road && kind == GroupKind::Hosts {
            stream.via = "tcp".into();
        }
        path::case(&stream, computations, self.ask.daemon, kind)
    }

    /// The stream as a case, and what the transport says of it before anything is opened.
    fn prepared(
        &self,
        sessions: (&Registry, &SessionArgs),
        stream: &Streaming,
        kind: GroupKind,
    ) -> Result<Prepared, Failure> {
        let (registry, arguments) = sessions;
        let mut case = self.case(stream, kind);
        pin(&arguments.experiment, &mut case)?;
        let mut prepared = Prepared::of(case);
        if let Err((reason, remedy)) = check(registry, &prepared.planned.case) {
            let reason = without_label(&prepared.planned.case, &reason);
            // Alone, what cannot run is a failure; among others, it is left out.
            match self.streams.len() {
                1 => prepared.failure = Some(Failure::usage(reason, remedy)),
                _ => prepared.skip = Some((reason, remedy)),
            }
        }
        Ok(prepared)
    }
}

/// Refuse options that a transport does not take, before a session is started for them.
fn check_options(registry: &Registry, arguments: &SessionArgs) -> Result<(), Failure> {
    let options = ask::options(&arguments.options)?;
    for via in ask::transports(arguments)? {
        let read = registry.find(via).map(|entry| (entry.limits)(&options));
        read.transpose()
            .map_err(|error| Failure::usage(error.to_string(), format!("see `wirespeed list {via}`")))?;
    }
    Ok(())
}

/// Why the transport cannot do it, and what can be done.
fn check(registry: &Registry, case: &Case) -> Result<(), (String, String)> {
    let transport = &case.transport;
    let entry = registry.find(transport).ok_or_else(|| {
        let remedy = "see `wirespeed list`".to_owned();
        (format!("there is no transport {transport:?}"), remedy)
    })?;
    (entry.check)(case).map_err(|error| {
        let remedy = match &error {
            MeasureError::Unsupported(_) if case.group == GroupKind::Hosts => {
                "between hosts, take --via tcp".to_owned()
            }
            _ => format!("see `wirespeed list {transport}`"),
        };
        (error.to_string(), remedy)
    })
}

fn section(request: &Request, sessions: Vec<SessionReport>, found: &Found) -> SessionSection {
    // What a load does to a stream, and one that is held back, say nothing about credits and sizes.
    let mut undisturbed = found.undisturbed().into_owned();
    undisturbed.retain(|result| result.case.test.pace_per_s().is_none());
    let coordinator = request.coordinator.as_ref();
    let engine = request.engine.as_ref();
    let place = match (engine, coordinator) {
        (Some(engine), _) => engine.name().to_owned(),
        (None, Some((address, _))) => address.to_string(),
        (None, None) => "embedded".to_owned(),
    };
    SessionSection {
        coordinator: place,
        launcher_policy: engine.and_then(Engine::policy),
        definition: request.ask.definition.clone(),
        path: request.path.map(|path| path.name().to_owned()),
        bounds: wirespeed_report::curve::bounds(&undisturbed),
        queues: life::queues(&found.undisturbed()),
        phases: life::phases(&sessions),
        sessions,
        daemon_cost: daemon_cost(&request.streams, &undisturbed),
        prepended: request.prepended.clone(),
    }
}

/// Pairs of streams that differ in their route alone.
fn daemon_cost(streams: &[Streaming], results: &[CaseResult]) -> Vec<DaemonCost> {
    if streams.len() != results.len() {
        return Vec::new();
    }
    let rate = |result: &CaseResult| result.figure("rate_msg_per_s");
    let measured = || streams.iter().zip(results);
    let cost = |(direct, result): (&Streaming, &CaseResult)| {
        let twin = Streaming {
            route: Route::Daemon,
            ..direct.clone()
        };
        let (_, routed) = measured().find(|(stream, _)| **stream == twin)?;
        let (fast, slow) = (rate(result)?, rate(routed)?);
        let size = format_asked_size(direct.size_bytes);
        Some(DaemonCost {
            case: format!("{} {size}, credits {}", direct.via, direct.credits),
            direct_msg_per_s: Finite::maybe(fast)?,
            daemon_msg_per_s: Finite::maybe(slow)?,
            added_ns_per_message: Finite::maybe(1e9 / slow - 1e9 / fast)?,
        })
    };
    measured()
        .filter(|(stream, _)| stream.route == Route::Direct)
        .filter_map(cost)
        .collect()
}
