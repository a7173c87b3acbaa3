//! From the options of one test to a template of the plan. What an option of the original means here is decided in this
//! file; whether a case makes sense is the plan's to say, and whether it can run the transport's.

use super::numbers::{
    self, cpu_list, header, iterations, outstanding, payload, percentile_rank, sizes, stride, threads,
    warmup, window,
};
use super::ucx;
use super::unplanned::Unplanned;
use crate::args::{Generation, TestArgs};
use crate::cmd::run::without_label;
use crate::errors::Failure;
use std::collections::BTreeMap;
use wirespeed::Registry;
use wirespeed_control::StopFlag;
use wirespeed_control::address::Address;
use wirespeed_report::perftest::{Api, HEADER_BYTES, ORIGINALS, Original, original};
use wirespeed_schema::case::{Case, GroupKind, Role};
use wirespeed_schema::order::map_of;
use wirespeed_schema::plan::{Template, nearest, takes};
use wirespeed_schema::units::counted;

/// Where the ends of a test are.
#[derive(Debug, Clone)]
pub enum Place {
    /// Half of the ranks here, half at the server `HOST:PORT`.
    Server(String),
    /// All are threads of this process.
    Loopback,
    /// All are processes of this machine.
    Here,
    /// All are ranks that a launcher has started, so many.
    Job(u64),
}

/// What all tests of a run have in common.
pub struct Common<'a> {
    /// The transports that there are.
    pub registry: &'a Registry,
    /// Where the ends are.
    pub place: Place,
    /// Whose defaults.
    pub generation: Generation,
    /// CPUs of this end.
    pub cpus: Option<&'a str>,
    /// Whether somebody reads lines while a test runs.
    pub intervals: bool,
}

/// A test, ready for the plan.
#[derive(Debug)]
pub struct Asked {
    /// The original's test.
    pub original: &'static Original,
    /// Rank of the percentile column.
    pub percentile_rank: f64,
    /// Its one case.
    pub template: Template,
}

/// What `options` ask for.
pub fn asked(options: &TestArgs, common: &Common) -> Result<Asked, Unplanned> {
    let original = test_of(options)?;
    numbers::check(options)?;
    ucx::check_words(options)?;
    ucx::check_letters(options, original)?;
    let via = via(options, original, common)?;
    let header = header(options, original)?;
    let (size, pieces) = sizes(options, via.entries, header, original)?;
    let size_bytes = payload(size, header, original)?;
    let stride = stride(options, pieces.as_ref())?;
    let threads = threads(options)?;
    let mut axes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut set = |key: &str, value: String| axes.insert(key.to_owned(), vec![value]);
    set("test", original.test.to_owned());
    set("via", via.transport.clone());
    set("size", size_bytes.to_string());
    let iterations = iterations(options)?;
    set("iters", iterations.to_string());
    set("warmup", warmup(options, iterations, common.generation)?);
    let default = || default_layout(&via.transport, options, original, (header, size_bytes));
    if let Some(layout) = via.layout.or_else(default) {
        set("layout", layout.to_owned());
    }
    if takes(original.test, "window") {
        let credits = window(options, (original, size), common.generation)?;
        set("window", credits.to_string());
    }
    if takes(original.test, "outstanding") {
        let count = outstanding(options, original, common.generation)?;
        set("outstanding", count.to_string());
    }
    if options.check {
        set("check", "true".to_owned());
    }
    if common.intervals {
        set("interval", "1s".to_owned());
    }
    if let Some(cpus) = cpus(common, threads)? {
        set("cpus", cpus);
    }
    match &common.place {
        Place::Server(host) => {
            set("to", host.clone());
            set("procs", (2 * threads).to_string());
        }
        Place::Loopback if via.lone => drop(set("threads", "1".to_owned())),
        Place::Loopback => drop(set("threads", (2 * threads).to_string())),
        Place::Here => drop(set("procs", (2 * threads).to_string())),
        // The job has its ranks already.
        Place::Job(ranks) => match ranks / 2 {
            each if each == threads => {}
            each if each > threads => drop(set("roles", roles(threads, each))),
            _ => return Err(job_too_small(*ranks, threads)),
        },
    }
    Ok(Asked {
        original,
        percentile_rank: percentile_rank(options)?,
        template: Template {
            axes,
            options: map_of(
                via.options
                    .into_iter()
                    .chain(shape(pieces, header, stride))
                    .map(|(name, value)| (name, vec![value])),
            ),
        },
    })
}

/// The layout where `-D` does not say it. Of tests of UCP over transports of ours the plan knows it.
fn default_layout(
    transport: &str,
    options: &TestArgs,
    original: &Original,
    (header, size_bytes): (u64, u64),
) -> Option<&'static str> {
    let is_known = original.api == Api::Uct || transport == "ucp";
    is_known.then(|| ucx::default_layout(options, original, header, size_bytes))?
}

/// The transport's options that say how a message is made up.
fn shape(pieces: Option<String>, header: u64, stride: Option<u64>) -> impl Iterator<Item = (String, String)> {
    let shape = [
        ("iov", pieces),
        ("header", (header != HEADER_BYTES).then(|| header.to_string())),
        ("stride", stride.map(|stride| stride.to_string())),
    ];
    shape
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
}

pub fn test_of(options: &TestArgs) -> Result<&'static Original, Failure> {
    let names: Vec<&str> = ORIGINALS.iter().map(|original| original.name).collect();
    let Some(name) = &options.test else {
        return Err(Failure::usage(
            "no test is named",
            "add -t TEST: am_lat, put_bw, tag_lat, ... (see `wirespeed perftest --help`)",
        ));
    };
    original(name).ok_or_else(|| {
        let remedy = match nearest(name, &names) {
            Some(known) => format!("did you mean {known:?}?"),
            None => format!("choose from: {}", names.join(", ")),
        };
        Failure::usage(format!("there is no test {name:?}"), remedy)
    })
}

/// The transport of a test, and what its choice settles.
struct Via {
    transport: String,
    options: BTreeMap<String, String>,
    layout: Option<&'static str>,
    /// Whether several sizes are entries of a scatter-gather list, and not just their sum.
    entries: bool,
    /// Whether a loopback is one rank that is its own peer.
    lone: bool,
}

fn via(options: &TestArgs, original: &Original, common: &Common) -> Result<Via, Unplanned> {
    let named = options.transport.as_deref();
    let own = named.filter(|name| options.device.is_none() && is_own(common.registry, name));
    if let Some(name) = own {
        return own_via(name, options, original, common);
    }
    let (transport, settings) = match original.api {
        Api::Uct => ("uct", ucx::uct_options(options, common.generation)?),
        Api::Ucp => ("ucp", ucx::ucp_options(options, original)?),
    };
    if common.registry.find(transport).is_none() {
        return Err(Unplanned::not_offered(format!(
            "there is no transport {transport} in this program, which -t {} needs without -x of `wirespeed list`",
            original.name
        )));
    }
    Ok(Via {
        transport: transport.to_owned(),
        entries: ucx::has_entries(options, original),
        lone: is_lone(common.registry, transport, &settings),
        options: settings,
        layout: ucx::layout(options, original)?,
    })
}

/// Whether the only peer that a rank can have is itself.
fn is_lone(registry: &Registry, transport: &str, options: &BTreeMap<String, String>) -> bool {
    let limits = registry
        .find(transport)
        .and_then(|entry| (entry.limits)(options).ok());
    limits.is_some_and(|limits| limits.ranks_max == 1)
}

/// Whether `name` is a transport of ours that is not UCX's.
fn is_own(registry: &Registry, name: &str) -> bool {
    name != "uct" && name != "ucp" && registry.find(name).is_some()
}

fn own_via(name: &str, options: &TestArgs, original: &Original, common: &Common) -> Result<Via, Unplanned> {
    let layout = ucx::layout(options, original)?;
    let foreign = ucx::foreign_letter(options, original);
    if let Some((letter, what)) = foreign {
        return Err(Unplanned::not_offered(format!("{name} has no {what} ({letter})")));
    }
    let entry = common.registry.find(name);
    let mut settings = BTreeMap::new();
    let waits = |entry: &wirespeed::transport::registry::Entry| {
        entry.options.iter().any(|option| option.name == "wait")
    };
    if let Some(mode) = &options.wait {
        let mode = match mode.as_str() {
            "sleep" => "block",
            _ => "poll",
        };
        if !entry.is_some_and(waits) {
            return Err(Unplanned::not_offered(format!(
                "{name} has one way of waiting (-E)"
            )));
        }
        settings.insert("wait".to_owned(), mode.to_owned());
    }
    Ok(Via {
        transport: name.to_owned(),
        lone: is_lone(common.registry, name, &settings),
        options: settings,
        layout,
        entries: false,
    })
}

/// Of `each` ranks at either end the first `threads` take part.
fn roles(threads: u64, each: u64) -> String {
    let end = |role: Role| {
        let takes_part = move |rank| if rank < threads { role } else { Role::Idle };
        (0..each).map(move |rank| takes_part(rank).name())
    };
    end(Role::Source)
        .chain(end(Role::Sink))
        .collect::<Vec<_>>()
        .join(",")
}

fn job_too_small(ranks: u64, threads: u64) -> Unplanned {
    Unplanned::unsupported(
        format!(
            "the job has {}, a test of {} at each end needs {}",
            counted(ranks, "rank"),
            counted(threads, "thread"),
            2 * threads
        ),
        "start two ranks for each thread of -T, or two processes with --mpi-threads-per-process",
    )
}

/// A job must have two ranks for each thread of the test that has the most.
pub fn check_job(common: &Common, threads_most: u64) -> Result<(), Failure> {
    match common.place {
        Place::Job(ranks) if ranks % 2 != 0 || ranks > 2 * threads_most => Err(Failure::usage(
            format!(
                "the job has {}, and {} take part at most",
                counted(ranks, "rank"),
                2 * threads_most
            ),
            "start two ranks, mpirun -n 2, or two for each thread of -T",
        )),
        _ => Ok(()),
    }
}

/// Of a host that nobody knows, what its transport could do between machines is not the reason.
pub fn check_host(common: &Common, case: &Case) -> Result<(), Failure> {
    match &common.place {
        Place::Server(to) if case.group == GroupKind::Hosts => {
            Address::parse(to).and_then(|address| address.resolve(&StopFlag::new()))?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `why` there is no such case, under the names that were typed: of the original's test, and of UCX's transport where one is meant.
pub fn named(case: &Case, original: &Original, why: &str) -> String {
    let why = without_label(case, why);
    let meant = case
        .options
        .get("tl")
        .zip(why.strip_prefix(&format!("{} ", case.transport)));
    let why = meant.map_or(why.clone(), |(named, rest)| format!("{named} {rest}"));
    format!("{}: {why}", original.name)
}

/// A limit is told as `-s` counts, header and all.
pub fn check_size(common: &Common, case: &Case, original: &Original) -> Result<(), Unplanned> {
    let limits = common.registry.find(&case.transport);
    let Some(limits) = limits.and_then(|entry| (entry.limits)(&case.options).ok()) else {
        return Ok(());
    };
    // Where there is no such layout, and no other takes as much, the size is the reason.
    let (most, which) = match limits.of(&case.test).largest() {
        Some(most) => (most, "or"),
        None => (limits.largest_of(&case.test), "with"),
    };
    if most == 0 || case.test.size_bytes() <= most || !original.counts_header() {
        return Ok(());
    }
    let size = original.size_bytes(case);
    let most = most + (size - case.test.size_bytes());
    Err(Unplanned::unsupported(
        format!(
            "{}: -s {size} is above the limit of {most} bytes, the header among them",
            original.name
        ),
        format!("use -s {most} or less, {which} another layout (-D)"),
    ))
}

/// One CPU a rank of this end, in turn; the other end has its own `-c`.
fn cpus(common: &Common, threads: u64) -> Result<Option<String>, Failure> {
    let Some(text) = common.cpus else {
        // Where ranks of a job run is for the launcher to say.
        let is_job = matches!(common.place, Place::Job(_));
        return Ok((!is_job).then(|| "none".to_owned()));
    };
    let list = cpu_list(text)?;
    let (here, there) = match common.place {
        Place::Server(_) => (threads, threads),
        Place::Loopback | Place::Here => (2 * threads, 0),
        Place::Job(ranks) => (ranks, 0),
    };
    let ours = list.iter().cycle().take(here as usize).map(u32::to_string);
    let theirs = std::iter::repeat_n("none".to_owned(), there as usize);
    Ok(Some(ours.chain(theirs).collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::test::{Layout, PingPong, Test};

    type Pick = fn(&mut TestArgs) -> &mut Option<String>;

    /// Every option whose words can be wrong, and words that are.
    const WRONG: [(Pick, &str); 15] = [
        (|o| &mut o.size, "8x"),
        (|o| &mut o.iters, "0"),
        (|o| &mut o.warmup, "-1"),
        (|o| &mut o.window, "abc"),
        (|o| &mut o.outstanding, "-1"),
        (|o| &mut o.header, "8x"),
        (|o| &mut o.stride, "far"),
        (|o| &mut o.threads, "0"),
        (|o| &mut o.percentile, "101"),
        (|o| &mut o.wait, "never"),
        (|o| &mut o.thread_mode, "all"),
        (|o| &mut o.stream_recv, "send"),
        (|o| &mut o.error_mode, "all"),
        (|o| &mut o.async_mode, "never"),
        (|o| &mut o.layout, "fast"),
    ];

    fn common(registry: &Registry) -> Common<'_> {
        Common {
            registry,
            place: Place::Loopback,
            generation: Generation::Today,
            cpus: None,
            intervals: false,
        }
    }

    #[test]
    fn a_refusal_has_the_names_that_were_typed() {
        let mut case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "uct");
        let put = original("put_lat").unwrap();
        let label = case.label();
        let why = |case: &Case, why: &str| named(case, put, &format!("{label}: {why}"));
        assert_eq!(why(&case, "uct does not"), "put_lat: uct does not");
        case.options.insert("tl".to_owned(), "posix".to_owned());
        assert_eq!(why(&case, "uct does not"), "put_lat: posix does not");
        assert_eq!(why(&case, "UCX has no tl=x"), "put_lat: UCX has no tl=x");
    }

    #[test]
    fn where_data_lie_is_for_transports_of_ours_to_say_in_tests_of_ucp() {
        let registry = Registry::builtin();
        for original in ORIGINALS.iter().filter(|original| original.api == Api::Ucp) {
            let options = TestArgs {
                test: Some(original.name.to_owned()),
                transport: Some("inproc".to_owned()),
                ..TestArgs::default()
            };
            match asked(&options, &common(&registry)) {
                Ok(asked) => assert_eq!(asked.template.axes.get("layout"), None, "{}", original.name),
                Err(other) => assert!(matches!(other, Unplanned::Unsupported(_)), "{}", original.name),
            }
        }
    }

    #[test]
    fn data_of_which_ucx_is_told_more_are_handed_over_where_they_are() {
        type Change = fn(&mut TestArgs);
        let plain: Change = |_| ();
        let long: Change = |options| options.size = Some("4097".to_owned());
        let header: Change = |options| options.header = Some("16".to_owned());
        let registered: Change = |options| options.preregistered = true;
        let list: Change = |options| options.layout = Some("iov".to_owned());
        let registry = crate::registry();
        if registry.find("ucp").is_none() {
            return;
        }
        let rows = [
            ("ucp_am_lat", plain, Some("short")),
            ("ucp_am_lat", long, Some("zcopy")),
            ("ucp_am_bibw", header, Some("zcopy")),
            ("ucp_am_bw", registered, Some("zcopy")),
            ("ucp_am_bw", list, Some("zcopy")),
            ("ucp_get", plain, Some("zcopy")),
            ("tag_bw", long, None),
        ];
        for (name, change, expected) in rows {
            let mut options = TestArgs {
                test: Some(name.to_owned()),
                ..TestArgs::default()
            };
            change(&mut options);
            let Ok(asked) = asked(&options, &common(&registry)) else {
                panic!("{name} is refused");
            };
            let layout = asked.template.axes.get("layout").map(|words| words.join(","));
            assert_eq!(layout.as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn words_are_read_by_tests_that_have_no_use_for_them() {
        let registry = Registry::builtin();
        let common = common(&registry);
        for original in &ORIGINALS {
            for (pick, text) in WRONG {
                let mut options = TestArgs {
                    test: Some(original.name.to_owned()),
                    transport: Some("inproc".to_owned()),
                    ..TestArgs::default()
                };
                *pick(&mut options) = Some(text.to_owned());
                match asked(&options, &common) {
                    Err(Unplanned::Wrong(failure)) => {
                        assert!(failure.cause.contains(text), "{}: {failure:?}", original.name);
                    }
                    other => panic!("{} with {text}: {other:?}", original.name),
                }
            }
        }
    }
}
