//! From words to one transfer: its options, the template of a plan that is its case, and a pair of the document around the
//! runs of one that is no measurement.

use crate::args::{ByteioMechanism, ExperimentArgs, TransferArgs, Verify};
use crate::errors::Failure;
use crate::experiment::{Prepared, fill};
use crate::progress::Progress;
use std::path::PathBuf;
use std::time::Duration;
use wirespeed::{Machine, Registry};
use wirespeed_byteio::client::{
    ClientOptions, Direction, Known, Manner, Moved, Target, TransferOptions, Url, Way, look_up, transfer,
};
use wirespeed_byteio::congestion;
use wirespeed_byteio::digest::DigestKind;
use wirespeed_byteio::soap::Mechanism;
use wirespeed_byteio::transport::case_options;
use wirespeed_control::auth::{self, IDENTITY_VARIABLE};
use wirespeed_control::{Identity, StopFlag};
use wirespeed_schema::byteio::{Pair, Transfer};
use wirespeed_schema::case::Stop;
use wirespeed_schema::plan::{Plan, Template, expand};
use wirespeed_schema::{Test, units};

/// A duration as typed.
pub fn time(option: &str, text: &str) -> Result<Duration, Failure> {
    let ns = units::parse_duration_ns(text);
    let ns = ns.map_err(|e| Failure::usage(format!("--{option}: {e}"), "write it like 500ms or 10s"))?;
    match ns {
        0 => Err(Failure::usage(
            format!("--{option} must be greater than zero"),
            "write it like 500ms or 10s",
        )),
        ns => Ok(Duration::from_nanos(ns)),
    }
}

/// Refuse a congestion control that this system does not know. Whether one may be used shows when it is.
pub fn congestion(name: Option<&str>) -> Result<(), Failure> {
    let refused = name.filter(|name| {
        let checked = congestion::check(name);
        checked.is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound)
    });
    refused.map_or(Ok(()), |name| {
        Err(Failure::usage(
            format!("--congestion: there is no congestion control {name:?} here"),
            format!("choose from: {}", congestion::here().permitted.join(", ")),
        ))
    })
}

/// A size as typed.
pub fn size(option: &str, text: &str) -> Result<u64, Failure> {
    units::parse_size(text).map_err(|e| Failure::usage(format!("--{option}: {e}"), "write it like 64K or 8M"))
}

/// What direction and place a transfer has.
pub enum Ends {
    /// Fetch into this.
    Get(Target),
    /// Send this.
    Put(PathBuf),
}

/// The option for a credential that was typed; the environment's `identity` is for whoever needs one.
pub fn credential(words: &TransferArgs, identity: Option<String>) -> Option<&'static str> {
    let typed = auth::typed(words.identity.as_deref(), identity.as_deref());
    let key = words.key.as_ref().map(|_| "--key");
    key.or(typed.map(|_| "--identity"))
}

/// What shows a service behind TLS who asks.
fn identity(url: &Url, words: &TransferArgs) -> Result<Option<Identity>, Failure> {
    Identity::check(words.identity.as_deref())?;
    match (
        url.secure,
        credential(words, std::env::var(IDENTITY_VARIABLE).ok()),
    ) {
        (true, _) => Ok(Some(Identity::find(
            words.identity.as_deref(),
            words.key.as_deref(),
        )?)),
        (false, None) => Ok(None),
        (false, Some(option)) => Err(Failure::usage(
            format!("{option}: the address is http, where nobody is asked who he is"),
            "leave it out, or write https:// if that is what the service prints",
        )),
    }
}

/// The options of a transfer.
pub fn options(
    url: &str,
    words: &TransferArgs,
    ends: Ends,
    verify: Verify,
) -> Result<TransferOptions, Failure> {
    let url = Url::parse(url).map_err(|e| {
        Failure::usage(
            e.to_string(),
            "write it as `wirespeed byteio serve` prints it, with the file's path",
        )
    })?;
    let identity = identity(&url, words)?;
    let block_bytes = size("block-size", &words.block_size)?;
    if block_bytes == 0 {
        return Err(Failure::usage(
            "--block-size: a block has at least one byte",
            "write it like 64K or 8M",
        ));
    }
    let way = match words.mechanism {
        ByteioMechanism::Simple => Way::Soap(Mechanism::Simple),
        ByteioMechanism::Mtom => Way::Soap(Mechanism::Mtom),
        ByteioMechanism::Dime => Way::Soap(Mechanism::Dime),
        ByteioMechanism::Http => Way::Http,
        ByteioMechanism::Bulk => Way::Bulk,
    };
    if words.stream && !matches!(way, Way::Soap(_)) {
        return Err(Failure::usage(
            format!("--stream: {} knows no streams", way.name()),
            "choose --mechanism simple, mtom or dime",
        ));
    }
    let (direction, target, source) = match ends {
        Ends::Get(target) => (Direction::Get, target, None),
        Ends::Put(source) => (Direction::Put, Target::Discard, Some(source)),
    };
    // What is read is sent by the service, which knows its own.
    congestion(
        words
            .congestion
            .as_deref()
            .filter(|_| direction == Direction::Put),
    )?;
    Ok(TransferOptions {
        client: ClientOptions {
            url,
            identity,
            direction,
            way,
            stream: words.stream,
            patience: time("stall", &words.stall)?,
            stop: StopFlag::new(),
            congestion: words.congestion.clone(),
        },
        threads: words.threads as usize,
        depth: words.depth as usize,
        block_bytes,
        attempts_max: words.attempts,
        target,
        source,
        digest: match verify {
            Verify::None => None,
            Verify::Crc32c => Some(DigestKind::Crc32c),
            Verify::Blake3 => Some(DigestKind::Blake3),
        },
        size_bytes: words.size.as_deref().map(|text| size("size", text)).transpose()?,
    })
}

/// Whether data go to the service.
pub fn is_put(options: &TransferOptions) -> bool {
    options.client.direction == Direction::Put
}

/// The pair that runs with these options belong to.
pub fn pair(name: &str, options: &TransferOptions) -> Pair {
    Pair {
        name: name.to_owned(),
        url: options.client.url.to_string(),
        direction: options.client.direction.name().to_owned(),
        mechanism: options.client.way.name().to_owned(),
        block_bytes: options.block_bytes,
        threads: options.threads as u64,
        depth_ops: options.depth as u64,
        destination: options.target.name().to_owned(),
        digest: options.digest.map_or("none", DigestKind::name).to_owned(),
        encrypted: options.client.url.secure,
        congestion: options.client.congestion.clone(),
        ..Pair::default()
    }
}

/// Offered requests ask for blocks, and the service sends the whole only.
pub fn needs_ranges() -> Failure {
    Failure::usage(
        "the service knows no ranges: blocks cannot be asked for",
        "offer requests to one that does",
    )
}

/// One transfer, with its progress where somebody watches; what was seen goes into the pair. Returns how the service sent.
pub fn run(
    options: &TransferOptions,
    pair: &mut Pair,
    stop: &StopFlag,
    quiet: bool,
) -> Result<Manner, Failure> {
    let way = if is_put(options) { "send" } else { "fetch" };
    let words = format!("{way} {}", options.client.url);
    let progress = Progress::of_bytes(&words, quiet);
    let moved = transfer(options, stop, &|step| progress.moved(step));
    progress.finish();
    let moved = match moved {
        // What could not begin because the user wants to stop is no failure.
        Err(_) if stop.is_requested() => Moved {
            transfer: Transfer {
                error: Some("stopped".to_owned()),
                ..Transfer::default()
            },
            ..Moved::default()
        },
        moved => moved?,
    };
    let manner = moved.manner.clone();
    record(pair, moved);
    Ok(manner)
}

/// Put what was seen of one transfer into its pair.
pub fn record(pair: &mut Pair, moved: Moved) {
    if moved.manner.one_stream {
        // What was asked for is not what was done.
        (pair.threads, pair.depth_ops, pair.block_bytes) = (1, 1, moved.total_bytes);
    }
    pair.total_bytes = moved.total_bytes;
    pair.far = pair.far.take().or(moved.far.map(Box::new));
    pair.runs.push(moved.transfer);
}

/// Ask the service and look at files, and put into each job how much it moves. Whether the service sends the whole in one
/// stream, whatever shape was asked for.
pub fn known(jobs: &mut [TransferOptions], stop: &StopFlag, quiet: bool) -> Result<bool, Failure> {
    let mut asked: Vec<(bool, Known)> = Vec::new();
    for options in jobs.iter_mut() {
        let known = asked.iter().find(|(put, _)| *put == is_put(options));
        let known = match known {
            Some((_, known)) => known.clone(),
            None => {
                let words = format!("asking {}", options.client.url);
                let waiting = Progress::waiting(&words, quiet);
                let known = look_up(options, stop);
                waiting.finish();
                let known = known?;
                asked.push((is_put(options), known.clone()));
                known
            }
        };
        options.size_bytes = Some(known.total_bytes);
        if known.manner.one_stream {
            (options.threads, options.depth) = (1, 1);
            options.block_bytes = known.total_bytes.max(1);
        }
    }
    // What is sent takes the place of what is fetched: in between, both have the bytes that the shorter one has.
    let sent = asked
        .iter()
        .find(|(put, _)| *put)
        .map(|(_, known)| known.total_bytes);
    for options in jobs.iter_mut().filter(|options| !is_put(options)) {
        options.size_bytes = options.size_bytes.map(|bytes| bytes.min(sent.unwrap_or(bytes)));
    }
    Ok(asked.iter().any(|(_, known)| known.manner.one_stream))
}

/// How often a transfer tells what it has moved.
const INTERVAL: &str = "500ms";

/// A transfer as the template of a plan.
fn template(options: &TransferOptions) -> Result<Template, Failure> {
    let test = if is_put(options) { "bulk_put" } else { "bulk_get" };
    let [total, size, connections, outstanding] = [
        options.size_bytes.unwrap_or(0),
        options.block_bytes,
        options.threads as u64,
        options.depth as u64,
    ]
    .map(|count| count.to_string());
    let url = options.client.url.to_string();
    let words = [
        ("test", test),
        ("via", options.client.way.transport()),
        // A comma would part one address from the next.
        ("to", &url.replace(',', "%2C")),
        ("total", &total),
        ("size", &size),
        ("connections", &connections),
        ("outstanding", &outstanding),
    ];
    let template = Template::of(words)?;
    let options = case_options(options).into_iter();
    Ok(options.fold(template, |template, (name, value)| {
        template.with_option(name, vec![value])
    }))
}

/// Transfers as the cases of a plan, in the same order; how much each moves is known, or 0.
pub fn cases(
    registry: &Registry,
    words: &ExperimentArgs,
    jobs: &[TransferOptions],
) -> Result<Vec<Prepared>, Failure> {
    let mut plan = Plan::of(jobs.iter().map(template).collect::<Result<_, _>>()?);
    fill(words, &mut plan)?;
    for template in &mut plan.templates {
        template.add_default("interval", INTERVAL)?;
    }
    let cases = expand(&plan, &Machine::new(registry))?;
    Ok(cases.into_iter().map(Prepared::planned).collect())
}

/// A transfer as the case in which its blocks are offered every so often, for so long.
pub fn offered(
    registry: &Registry,
    words: &ExperimentArgs,
    job: &TransferOptions,
    (interval_ns, duration): (u64, Duration),
) -> Result<Prepared, Failure> {
    let mut prepared = cases(registry, words, std::slice::from_ref(job))?.remove(0);
    let case = &mut prepared.planned.case;
    if let Test::BulkGet(shape) | Test::BulkPut(shape) = &mut case.test {
        *shape = shape.clone().with_pace_interval_ns(interval_ns);
    }
    case.stop = Stop::Duration {
        duration_ns: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
    };
    Ok(prepared)
}
