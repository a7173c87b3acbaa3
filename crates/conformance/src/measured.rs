//! Measured cases on a registry entry, as a run makes them: every test in every layout, data checked, and groups of
//! more ranks than two, with roles.

use crate::group::{ensure, run_for};
use crate::report::Report;
use wirespeed::schema::case::{Case, IdlePolicy, RankSpec, Role, Stop, TransportOptions};
use wirespeed::schema::neighbours::neighbours;
use wirespeed::schema::outcome::{Outcome, StopReason};
use wirespeed::schema::posted::{Buffers, CacheState, Defined, MsgRate, Pattern};
use wirespeed::schema::test::{Atomic, Hub, Layout, PingPong, Rma, Stream, Tagged, Test};
use wirespeed::transport::registry::Entry;
use wirespeed::{Bootstrap, BootstrapError, Cancel, MeasureError, Registry, ThreadBootstrap, measure};

const SUITE: &str = "measured";
const ITERATIONS: u64 = 200;
const SIZES: [u64; 2] = [8, 3000];
/// Windows; 96 does not divide the iterations.
const WINDOW: u64 = 96;

/// Run measured cases on the entry called `transport`.
pub fn measured(registry: &Registry, transport: &str, options: &TransportOptions) -> Vec<Report> {
    let Some(entry) = registry.find(transport) else {
        let why = "the registry has no such transport".to_owned();
        return vec![Report::of(transport, SUITE, "all", Err(why))];
    };
    let pair = |test: &Test| case(entry, options, test.clone(), vec![Role::Source, Role::Sink]);
    let mut reports: Vec<Report> = tests(&SIZES)
        .iter()
        .map(|test| run_case((registry, Leaving::Idle), entry, &pair(test), label(test)))
        .collect();
    for (name, test, roles) in groups() {
        let name = format!("{name}: {}", label(&test));
        let case = case(entry, options, test, roles);
        if case.ranks.iter().any(|rank| rank.role == Role::Idle) {
            let name = format!("{name}, with a bootstrap that lets nobody go");
            reports.push(run_case((registry, Leaving::None), entry, &case, name));
        }
        reports.push(run_case((registry, Leaving::Idle), entry, &case, name));
    }
    reports.push(stopped(registry, entry, options));
    reports
}

fn tests(sizes: &[u64]) -> Vec<Test> {
    let mut tests = Vec::new();
    for &size_bytes in sizes {
        for layout in Layout::ALL {
            let stream = |window_msgs| Stream::new(size_bytes, layout, window_msgs);
            let rma = |outstanding_ops| Rma::new(size_bytes, layout, outstanding_ops);
            tests.extend([
                Test::AmLat(PingPong::new(size_bytes, layout)),
                Test::AmBw(stream(WINDOW)),
                Test::AmBibw(stream(WINDOW)),
                Test::PutLat(PingPong::new(size_bytes, layout)),
                Test::PutBw(rma(WINDOW)),
            ]);
            // A get has nothing to inline on any transport.
            if layout != Layout::Short {
                tests.extend([Test::Get(rma(1)), Test::GetBw(rma(WINDOW))]);
            }
        }
        let tagged = |window_msgs| Tagged::new(size_bytes, window_msgs);
        tests.extend([Test::TagLat(tagged(1)), Test::TagBw(tagged(WINDOW))]);
    }
    for size_bytes in [4, 8] {
        let atomic = |outstanding_ops| Atomic::new(size_bytes, outstanding_ops);
        tests.extend([
            Test::AddLat(atomic(1)),
            Test::AddMr(atomic(WINDOW)),
            Test::Fadd(atomic(1)),
            Test::Fadd(atomic(WINDOW)),
            Test::Swap(atomic(1)),
            Test::Cswap(atomic(1)),
        ]);
    }
    tests
}

/// Groups of more than two ranks: name, test, roles.
fn groups() -> Vec<(&'static str, Test, Vec<Role>)> {
    use Role::{Hub as HubRole, Idle, Sink, Source, Worker};
    let size_bytes = 64;
    let mut groups = Vec::new();
    let pairs = vec![Source, Sink, Source, Sink];
    let stream = Stream::new(size_bytes, Layout::Short, WINDOW);
    let put = Rma::new(size_bytes, Layout::Bcopy, 1);
    let tagged = Tagged::new(size_bytes, WINDOW);
    for test in [Test::AmBw(stream.clone()), Test::PutBw(put), Test::TagBw(tagged)] {
        groups.push(("two pairs", test.clone(), pairs.clone()));
        groups.push(("a pair and an idle rank", test, vec![Idle, Source, Sink]));
    }
    for layout in Layout::ALL {
        for (fan_out, reply_bytes, name) in [
            (false, None, "a hub, three workers in turn"),
            (true, None, "a hub, three workers at once"),
            (false, Some(0), "a hub, three workers in turn, empty answers"),
            (
                true,
                Some(size_bytes / 2),
                "a hub, three workers at once, shorter answers",
            ),
        ] {
            let test = Test::HubLat(
                Hub::new(size_bytes, layout)
                    .with_reply(reply_bytes)
                    .with_fan_out(fan_out),
            );
            groups.push((name, test, vec![HubRole, Worker, Worker, Worker]));
        }
    }
    let defined = Defined::new(size_bytes, WINDOW, Buffers::Multiple);
    groups.push(("two pairs", Test::OsuMbwMr(defined), pairs));
    for pattern in Pattern::ALL {
        let test =
            Test::Msgrate(MsgRate::new(size_bytes, pattern, 2, 24).with_caches(CacheState::Touched, 0));
        groups.push((pattern.name(), test, vec![Role::Neighbour; 4]));
    }
    groups
}

/// One case of each test, and of each group of more ranks than two: name, test, roles.
pub(crate) fn least() -> Vec<(String, Test, Vec<Role>)> {
    let pairs = tests(&SIZES[..1])
        .into_iter()
        .map(|test| ("a pair", test, pair_roles()));
    let mut least: Vec<(String, Test, Vec<Role>)> = Vec::new();
    for (group, test, roles) in pairs.chain(groups()) {
        let name = format!("{group}: {}", test.name());
        if least.iter().all(|(seen, ..)| *seen != name) {
            least.push((name, test, roles));
        }
    }
    least
}

fn label(test: &Test) -> String {
    let layout = test.layout().map_or(String::new(), |l| format!(" {}", l.name()));
    format!(
        "{}{layout} {} B window {}",
        test.name(),
        test.size_bytes(),
        test.window()
    )
}

pub(crate) fn case(entry: &Entry, options: &TransportOptions, test: Test, roles: Vec<Role>) -> Case {
    let ranks = roles.iter().enumerate().map(|(rank, &role)| {
        RankSpec::new(role).with_peer(match role {
            Role::Source => Some(rank as u32 + 1),
            Role::Sink => Some(rank as u32 - 1),
            _ => None,
        })
    });
    Case::new(test, entry.name)
        .with_options(options.clone())
        .with_ranks(ranks.collect())
        .with_stop(Stop::Iterations { count: ITERATIONS })
        .with_warmup(40, 50_000_000)
        .with_check(true)
        .with_idle(IdlePolicy::Yield)
}

/// Which ranks may leave the meetings of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Those without a part.
    Idle,
    /// None: as with a bootstrap that does not know how.
    None,
}

/// A bootstrap of threads that lets nobody go.
struct Staying<'a>(&'a ThreadBootstrap);

impl Bootstrap for Staying<'_> {
    fn size(&self) -> u32 {
        self.0.size()
    }

    fn rank(&self) -> u32 {
        self.0.rank()
    }

    fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), BootstrapError> {
        self.0.barrier(progress)
    }

    fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        self.0.exchange(blob)
    }

    fn cancel(&self) -> Cancel {
        self.0.cancel()
    }
}

fn run_case((registry, leaving): (&Registry, Leaving), entry: &Entry, case: &Case, name: String) -> Report {
    let outcomes = match run_ranks((registry, leaving), entry, case, |_| ()) {
        Ok(outcomes) => outcomes,
        Err(Stopped::Skipped(why)) => return Report::skipped(entry.name, SUITE, name, why),
        Err(Stopped::Failed(why)) => return Report::of(entry.name, SUITE, name, Err(why)),
    };
    Report::of(entry.name, SUITE, name, judge(case, &outcomes))
}

/// Why a case gave no outcomes.
pub(crate) enum Stopped {
    Skipped(String),
    Failed(String),
}

/// The outcomes of all ranks of `case`; `before` runs on each rank first.
pub(crate) fn run_ranks(
    (registry, leaving): (&Registry, Leaving),
    entry: &Entry,
    case: &Case,
    before: impl Fn(&ThreadBootstrap) + Clone + Send + 'static,
) -> Result<Vec<Outcome>, Stopped> {
    match (entry.check)(case) {
        Ok(()) => {}
        Err(MeasureError::Unsupported(why)) => return Err(Stopped::Skipped(why)),
        Err(other) => return Err(Stopped::Failed(other.to_string())),
    }
    let (owned, registry) = (case.clone(), registry.clone());
    let results = run_for(case.ranks.len() as u32, move |bootstrap| {
        before(bootstrap);
        let staying = Staying(bootstrap);
        let meeting: &dyn Bootstrap = match leaving {
            Leaving::Idle => bootstrap,
            Leaving::None => &staying,
        };
        match measure(&owned, &registry, meeting, &mut |_| ()) {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(MeasureError::Unsupported(why)) => Ok(Err(why)),
            Err(other) => Err(other.to_string()),
        }
    });
    let results = results.map_err(Stopped::Failed)?;
    // What the engine finds unsupported on one rank fails the others too.
    let unsupported = results.iter().find_map(|result| match result {
        Ok(Err(why)) => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = unsupported {
        return Err(Stopped::Skipped(why));
    }
    let outcomes: Result<Vec<_>, _> = results.into_iter().map(|r| r.and_then(|inner| inner)).collect();
    outcomes.map_err(Stopped::Failed)
}

/// Whether what was measured holds together.
fn judge(case: &Case, outcomes: &[Outcome]) -> Result<(), String> {
    for outcome in outcomes {
        let rank = outcome.rank;
        if let Some(error) = &outcome.error {
            return Err(format!("rank {rank}: {error}"));
        }
        ensure(outcome.stop == StopReason::Completed, || {
            format!("rank {rank} stopped: {:?}", outcome.stop)
        })?;
        ensure(outcome.faults.corrupt_messages == 0, || {
            format!("rank {rank}: {:?}", outcome.faults)
        })?;
        match outcome.role {
            Role::Source => pair(case, outcome, &outcomes[rank as usize + 1])?,
            Role::Hub => hub(case, outcome, outcomes)?,
            Role::Neighbour => neighbour(case, outcome)?,
            _ => {}
        }
    }
    Ok(())
}

fn pair(case: &Case, source: &Outcome, sink: &Outcome) -> Result<(), String> {
    let sent = source.sent.messages;
    // An iteration of these is a window.
    let expected = match case.test.is_posted() {
        true => ITERATIONS * case.test.window(),
        false => ITERATIONS,
    };
    ensure(sent == expected, || format!("{sent} sent, not {expected}"))?;
    let (received, lost) = (sink.received.messages, sink.faults.lost_messages);
    ensure(received + lost == sent, || {
        format!("{sent} sent, {received} received, {lost} lost")
    })?;
    let bytes = received * case.test.size_bytes();
    ensure(sink.received.bytes == bytes, || {
        format!("{} bytes received, not {bytes}", sink.received.bytes)
    })?;
    let samples: u64 = source.samples.iter().map(|s| s.histogram.count).sum();
    ensure(samples > 0 && source.elapsed_ns > 0, || {
        "the source took no samples".into()
    })
}

/// A rank that sends to and receives from as many as its lists say.
fn neighbour(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let Test::Msgrate(test) = &case.test else {
        return Err("neighbours in a test that has none".into());
    };
    let lists = neighbours(test, case.ranks.len() as u32, outcome.rank);
    let messages = |list: &[u32]| list.len() as u64 * test.window_msgs * ITERATIONS;
    let counted = (outcome.sent.messages, outcome.received.messages);
    ensure(
        counted == (messages(&lists.to_ranks), messages(&lists.from_ranks)),
        || {
            format!(
                "rank {} sent and received {counted:?}, but has {lists:?}",
                outcome.rank
            )
        },
    )
}

fn hub(case: &Case, hub: &Outcome, outcomes: &[Outcome]) -> Result<(), String> {
    let workers = outcomes.len() as u64 - 1;
    let answered = hub.received.messages + hub.faults.lost_messages;
    ensure(answered == ITERATIONS * workers, || {
        format!("{answered} answers of {workers} workers in {ITERATIONS} rounds")
    })?;
    let (out, back) = match &case.test {
        Test::HubLat(test) => (test.size_bytes, test.reply()),
        other => (other.size_bytes(), other.size_bytes()),
    };
    let bytes = (hub.sent.bytes, hub.received.bytes);
    ensure(bytes == (answered * out, answered * back), || {
        format!("{bytes:?} bytes sent and received, not {out} and {back} a message")
    })?;
    ensure(
        hub.peers
            .iter()
            .all(|p| p.first_ns.is_some_and(|t| t.get() > 0.0)),
        || "a worker's first round trip was not timed".into(),
    )?;
    let peers: Vec<u32> = hub.peers.iter().map(|p| p.peer).collect();
    let expected: Vec<u32> = (1..case.ranks.len() as u32).collect();
    ensure(peers == expected, || {
        format!("samples of workers {peers:?}, not {expected:?}")
    })?;
    let each: u64 = hub.peers.iter().map(|p| p.samples.count).sum();
    let all = hub.samples.first().map_or(0, |s| s.histogram.count);
    ensure(each == all, || format!("{all} samples in all, {each} by worker"))?;
    let served = |o: &&Outcome| o.role == Role::Worker && o.received.messages == ITERATIONS;
    let all_served = outcomes.iter().filter(served).count() as u64 == workers;
    ensure(all_served, || "a worker did not get every round".into())
}

/// The first test that the entry can run, without an end in sight, and an orderly stop after a while.
fn stopped(registry: &Registry, entry: &Entry, options: &TransportOptions) -> Report {
    const CHECK: &str = "an orderly stop ends a run whole";
    let runs = |test: &Test| (entry.check)(&case(entry, options, test.clone(), pair_roles())).is_ok();
    let Some(test) = tests(&SIZES).into_iter().find(runs) else {
        let why = "no test of two ranks runs on it".to_owned();
        return Report::skipped(entry.name, SUITE, CHECK, why);
    };
    let mut endless = case(entry, options, test, pair_roles());
    endless.stop = Stop::Duration {
        duration_ns: 3_600_000_000_000,
    };
    let outcomes = run_ranks((registry, Leaving::Idle), entry, &endless, |bootstrap| {
        if bootstrap.rank() == 0 {
            let cancel = bootstrap.cancel();
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(50));
                cancel.request_stop();
            });
        }
    });
    let result = match outcomes {
        Err(Stopped::Skipped(why)) => return Report::skipped(entry.name, SUITE, CHECK, why),
        Err(Stopped::Failed(why)) => Err(why),
        Ok(outcomes) => {
            let whole = |o: &Outcome| o.error.is_none() && o.stop == StopReason::Interrupted;
            let ends: Vec<_> = outcomes.iter().map(|o| (o.stop, o.error.clone())).collect();
            ensure(outcomes.iter().all(whole), || {
                format!("ranks ended with {ends:?}")
            })
        }
    };
    Report::of(entry.name, SUITE, CHECK, result)
}

fn pair_roles() -> Vec<Role> {
    vec![Role::Source, Role::Sink]
}
