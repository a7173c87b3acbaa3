//! `wirespeed session`: sessions begin, their streams are measured, they end; as often as asked.

mod ask;
mod chart;
mod classic;
mod disturbed;
mod life;
mod offered;
mod show;

use super::{daemons, ended};
use crate::args::{ColorChoice, SessionArgs, SessionFormat};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::group::Groups;
use crate::order::Step;
use crate::output::{self, Output};
use crate::session::Session;
use ask::Request;
use std::sync::Arc;
use std::time::Duration;
use wirespeed::{MeasureError, Registry};
use wirespeed_control::{RankProgram, StopFlag};
use wirespeed_schema::Finite;
use wirespeed_schema::case::{GroupKind, Role};
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::{CaseResult, Repetition, Status};
use wirespeed_schema::units::format_size;
use wirespeed_session::definition::Definition;
use wirespeed_session::launched::Engine;
use wirespeed_session::live::{Live, Place};
use wirespeed_session::node::Node;
use wirespeed_session::path::{self, Path, Route, Streaming};
use wirespeed_session::report::{DaemonCost, SessionReport, SessionSection};

/// How a computation ended is known this long after its group has failed, also over a launcher's pipes.
const END_TOLD: Duration = Duration::from_millis(500);

/// What is known of a stream after some repetitions.
#[derive(Default)]
struct Collected {
    repetitions: Vec<Repetition>,
    failure: Option<Failure>,
}

/// Do what the arguments ask for.
pub fn session(registry: &Registry, arguments: &SessionArgs, color: ColorChoice) -> Result<Ended, Failure> {
    if arguments.schema {
        let schema = serde_json::to_string_pretty(&Definition::schema());
        let text = schema.map_err(|e| Failure::failed(e.to_string(), "please report it"))?;
        output::print(&format!("{text}\n"))?;
        return Ok(Ended::OK);
    }
    let request = ask::request(arguments)?;
    check_options(registry, &request.streams)?;
    let stop = daemons::stop()?;
    let classic = arguments.format == SessionFormat::Classic;
    let mut output = Output::open(&arguments.output, color, show::table)?;
    let classic = classic && output.shows_table();
    if classic {
        let report_ns = request.streams.first().map_or(0, |stream| stream.report_ns);
        output.show_live(Box::new(classic::Lines::of(&receivers(&request), report_ns)));
    }
    if let Some(path) = &arguments.chart {
        crate::file::check(path)?;
    }
    let place = place(&request)?;
    let mut draft = Draft::begin(None, arguments.output.include_host_name);
    let mut runner = Runner {
        registry,
        arguments,
        request: &request,
        place: &place,
        output: &mut output,
        stop: &stop,
        sessions: Vec::new(),
        color,
    };
    let (results, failure) = measure(&mut runner, &mut draft)?;
    let sessions = std::mem::take(&mut runner.sessions);
    let section = section(&request, sessions, &results);
    let value = serde_json::to_value(&section);
    draft.section(show::SECTION, value.unwrap_or_default());
    let mut run = match (&failure, results.is_empty()) {
        (Some(failure), true) => draft.fail(failure.status(), failure.cause.clone()),
        _ => draft.finish(results, stop.is_requested()),
    };
    if let (Some(failure), Status::Ok | Status::Failed) = (&failure, run.status) {
        // Every stream may have been measured, and the session failed all the same.
        run.status = failure.status();
        run.error.get_or_insert_with(|| failure.cause.clone());
    }
    let published = output.finish(&run);
    if let Some(path) = &arguments.chart {
        chart::write(path, &run).map_err(Failure::documented)?;
    }
    published?;
    if classic {
        output::print(&show::classic(&run))?;
    }
    match failure {
        Some(failure) if run.status == failure.status() => Ok(Ended::badly(failure)),
        _ => Ok(ended(&run, arguments.output.strict)),
    }
}

/// What was asked for: streams alone, under loads in turn, or at offered rates; the sections beside them go into the draft.
fn measure(runner: &mut Runner, draft: &mut Draft) -> Result<(Vec<CaseResult>, Option<Failure>), Failure> {
    let request = runner.request;
    if let (Some(asked), Some(stream)) = (&request.offered, request.streams.first()) {
        let offered = runner.run_offered(asked, stream)?;
        if let Some(found) = offered.found {
            draft.section(wirespeed_report::curve::section::LOAD, found);
        }
        return Ok((offered.results, offered.failure));
    }
    if request.loads.is_empty() {
        return runner.run();
    }
    let disturbed = runner.run_disturbed()?;
    if let Some(found) = &disturbed.found {
        draft.section(wirespeed_report::interference::NAME, found.to_value());
    }
    Ok((disturbed.results, disturbed.failure))
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

struct Runner<'a> {
    registry: &'a Registry,
    arguments: &'a SessionArgs,
    request: &'a Request,
    place: &'a Place,
    output: &'a mut Output,
    stop: &'a StopFlag,
    sessions: Vec<SessionReport>,
    color: ColorChoice,
}

impl Runner<'_> {
    /// Every repetition; the results of the streams, and why it did not end well. The error is one of output.
    fn run(&mut self) -> Result<(Vec<CaseResult>, Option<Failure>), Failure> {
        let mut collected: Vec<Collected> = self
            .request
            .streams
            .iter()
            .map(|_| Collected::default())
            .collect();
        let mut failure = None;
        let mut kind = GroupKind::Processes;
        for repetition in 0..self.arguments.repeat.unwrap_or(1) {
            if self.stop.is_requested() || failure.is_some() {
                break;
            }
            let lives = match self.begin() {
                Ok(lives) => lives,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            };
            kind = lives[0].group_kind();
            let measured = self.measure(&lives, repetition, &mut collected);
            self.end(lives);
            failure = measured?;
        }
        let request = self.request;
        let mut session = self.session(Groups::new(self.registry, Default::default()));
        let mut results = Vec::new();
        for (number, (stream, slot)) in request.streams.iter().zip(collected).enumerate() {
            if slot.repetitions.is_empty() && slot.failure.is_none() {
                continue;
            }
            let case = request.case(stream, kind);
            let result = session.assemble(case, slot.repetitions, slot.failure.as_ref());
            session.announce(number, &result)?;
            results.push(result);
        }
        Ok((results, failure))
    }

    /// The sessions of one repetition: side by side, all gone.
    fn begin(&self) -> Result<Vec<Live>, Failure> {
        let begin = |number: u32| -> Result<Live, Failure> {
            std::thread::sleep(self.request.delay_start * number);
            let live = Live::begin(&self.request.ask, self.place, self.stop)?;
            if !self.arguments.phased_start {
                live.go()?;
            }
            Ok(live)
        };
        let lives: Vec<Result<Live, Failure>> = match self.arguments.sessions {
            1 => vec![begin(0)],
            count => std::thread::scope(|scope| {
                let begun: Vec<_> = (0..count).map(|n| scope.spawn(move || begin(n))).collect();
                let broken = || Failure::failed("a session's thread failed", "please report it");
                begun
                    .into_iter()
                    .map(|b| b.join().unwrap_or_else(|_| Err(broken())))
                    .collect()
            }),
        };
        let lives: Vec<Live> = lives.into_iter().collect::<Result<_, _>>()?;
        if self.arguments.phased_start {
            lives.iter().try_for_each(|live| live.go())?;
        }
        Ok(lives)
    }

    /// Measure every stream in the first session, or hold them all. A failure of the session ends its repetition.
    fn measure(
        &mut self,
        lives: &[Live],
        repetition: u32,
        collected: &mut [Collected],
    ) -> Result<Option<Failure>, Failure> {
        let (live, request, stop) = (&lives[0], self.request, self.stop.clone());
        let hold = |time| Live::hold(lives, time, &stop).err().map(Failure::from);
        if request.streams.is_empty() {
            return Ok(hold(request.hold).or_else(|| hold(request.stay_connected)));
        }
        let groups = Groups::launched_by(self.registry, live.launcher(RankProgram::this()?));
        let mut session = self.session_until(groups, live.run_flag());
        for (number, stream) in request.streams.iter().enumerate() {
            if live.run_flag().is_requested() {
                break;
            }
            let step = Step {
                repetition,
                case: number,
            };
            if let Some(failure) = stream_once(&mut session, live, request, (stream, step), collected)? {
                return Ok(Some(failure));
            }
        }
        // The group keeps its channels meanwhile.
        Ok(hold(request.stay_connected))
    }

    /// End all sessions at once, and keep what they tell.
    fn end(&mut self, lives: Vec<Live>) {
        let reports = std::thread::scope(|scope| {
            let ends: Vec<_> = lives
                .into_iter()
                .map(|live| scope.spawn(move || live.end()))
                .collect();
            ends.into_iter()
                .filter_map(|end| end.join().ok())
                .collect::<Vec<_>>()
        });
        self.sessions.extend(reports);
    }

    fn session<'s>(&'s mut self, groups: Groups<'s>) -> Session<'s> {
        let stop = self.stop.clone();
        self.session_until(groups, &stop)
    }

    /// Streams that end in order when `stop` is raised.
    fn session_until<'s>(&'s mut self, groups: Groups<'s>, stop: &StopFlag) -> Session<'s> {
        let looks = (self.color, self.arguments.output.quiet);
        Session::new(groups, self.output, stop.clone(), looks)
    }
}

/// One stream in one session. Of the failures, the inner one is the session's, the outer one of output.
fn stream_once(
    session: &mut Session,
    live: &Live,
    request: &Request,
    (stream, step): (&Streaming, Step),
    collected: &mut [Collected],
) -> Result<Option<Failure>, Failure> {
    let planned = request.planned(stream, live.group_kind());
    let slot = &mut collected[step.case];
    if let Err(refused) = check(session.groups.registry(), &planned) {
        slot.failure.get_or_insert(refused);
        return Ok(None);
    }
    let before = live.age();
    let measured = session.measure(step, request.streams.len(), &planned)?;
    if let Some(first) = measured.repetition.as_ref().and_then(first_message) {
        live.note_first_message((before + first).as_nanos() as u64);
    }
    slot.repetitions.extend(measured.repetition);
    // A computation's own end says more than what its group saw of it.
    let failure = match measured.failure {
        Some(failure) => Some(live.early_end_within(END_TOLD).map_or(failure, Failure::from)),
        None => live.early_end().map(Failure::from),
    };
    if let Some(failure) = &failure {
        slot.failure.get_or_insert(failure.clone());
    }
    Ok(failure)
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

    fn planned(&self, stream: &Streaming, kind: GroupKind) -> PlannedCase {
        PlannedCase {
            case: self.case(stream, kind),
            to: None,
            template: 0,
        }
    }
}

/// Refuse options that a transport does not take, before a session is started for them.
fn check_options(registry: &Registry, streams: &[Streaming]) -> Result<(), Failure> {
    for stream in streams {
        let read = registry
            .find(&stream.via)
            .map(|entry| (entry.limits)(&stream.options));
        let remedy = || format!("see `wirespeed list {}`", stream.via);
        read.transpose()
            .map_err(|error| Failure::usage(error.to_string(), remedy()))?;
    }
    Ok(())
}

/// What the transport says before anything is opened.
fn check(registry: &Registry, planned: &PlannedCase) -> Result<(), Failure> {
    let transport = &planned.case.transport;
    let entry = registry.find(transport).ok_or_else(|| {
        Failure::usage(
            format!("there is no transport {transport:?}"),
            "see `wirespeed list`",
        )
    })?;
    (entry.check)(&planned.case).map_err(|error| {
        let remedy = match &error {
            MeasureError::Unsupported(_) if planned.case.group == GroupKind::Hosts => {
                "between hosts, take --via tcp".to_owned()
            }
            _ => format!("see `wirespeed list {transport}`"),
        };
        Failure::usage(error.to_string(), remedy)
    })
}

/// From the start of a repetition to its first answered message.
fn first_message(repetition: &Repetition) -> Option<Duration> {
    let mut sources = repetition.outcomes.iter().filter(|o| o.role == Role::Source);
    let first = sources.find_map(|source| source.first_operation_ns)?;
    Some(Duration::from_nanos(repetition.setup_ns + first.get() as u64))
}

fn section(request: &Request, sessions: Vec<SessionReport>, results: &[CaseResult]) -> SessionSection {
    // What a load does to a stream, and one that is held back, say nothing about credits and sizes.
    let idle = |result: &&CaseResult| {
        let paced = result.case.test.pace_per_s().is_some();
        !paced && result.case.ranks.iter().all(|rank| rank.load.is_idle())
    };
    let undisturbed: Vec<CaseResult> = results.iter().filter(idle).cloned().collect();
    let coordinator = request.coordinator.as_ref();
    let engine = request.engine.as_ref();
    let place = match (engine, coordinator) {
        (Some(engine), _) => engine.name().to_owned(),
        (None, Some((address, _))) => format!("{}:{}", address.host, address.port),
        (None, None) => "embedded".to_owned(),
    };
    SessionSection {
        coordinator: place,
        launcher_policy: engine.and_then(Engine::policy),
        definition: request.ask.definition.clone(),
        path: request.path.map(|path| path.name().to_owned()),
        answers: wirespeed_report::curve::answers(&undisturbed),
        queues: life::queues(results),
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
    let rate = |result: &CaseResult| {
        result
            .metrics
            .get("rate_msg_per_s")
            .map(|metric| metric.value.get())
    };
    let measured = || streams.iter().zip(results);
    let cost = |(direct, result): (&Streaming, &CaseResult)| {
        let twin = Streaming {
            route: Route::Daemon,
            ..direct.clone()
        };
        let (_, routed) = measured().find(|(stream, _)| **stream == twin)?;
        let (fast, slow) = (rate(result)?, rate(routed)?);
        let size = format_size(direct.size_bytes);
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
