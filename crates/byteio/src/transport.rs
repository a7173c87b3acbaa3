//! The five ways to ask as transports of the registry: a case says what is moved and in which shape, the group's service
//! says where it is. Both together are the options of a transfer, which this reads from them and never makes up.

use crate::client::{
    Claim, ClientOptions, Direction, Moved, Target, TransferError, TransferOptions, Url, Way, measured, offer,
};
use crate::digest::DigestKind;
use std::sync::Arc;
use std::time::Duration;
use wirespeed::Registry;
use wirespeed::bulk::{Course, Pace};
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::Facts;
use wirespeed::transport::registry::Entry;
use wirespeed::transport::{
    Availability, Bulk, Carried, Connect, ConnectError, Limits, NO_MESSAGES, Service, SizeLimit, Support,
    Transport,
};
use wirespeed_control::{Identity, StopFlag};
use wirespeed_schema::Case;
use wirespeed_schema::byteio::{Between, TcpInfo, Transfer};
use wirespeed_schema::case::{GroupKind, Role, Stop, TransportOptions};
use wirespeed_schema::message::FailureClass;
use wirespeed_schema::units::{nanoseconds, parse_duration_ns};

/// Longest silence before a connection counts as lost, where nothing is said.
const STALL: Duration = Duration::from_secs(10);
const STALL_TEXT: &str = "10s";
/// Attempts at a block, where nothing is said.
const ATTEMPTS: u32 = 5;
const ATTEMPTS_TEXT: &str = "5";
const NONE: &str = "none";

static OPTIONS: [OptionSpec; 8] = [
    OptionSpec::new("destination", "discard|file|map", "where what comes goes").with_default("discard"),
    OptionSpec::new(
        "digest",
        "none|crc32c|blake3",
        "what every block is compared by afterwards",
    )
    .with_default(NONE),
    OptionSpec::new(
        "stream",
        "no|yes",
        "blocks as parts of a stream, seekRead and seekWrite",
    )
    .with_default("no"),
    OptionSpec::new(
        "encrypted",
        "no|yes",
        "whether the service is behind TLS; its address says so, too",
    )
    .with_default("no"),
    OptionSpec::new("congestion", "NAME", "congestion control of the end that sends"),
    OptionSpec::new(
        "stall",
        "TIME",
        "longest silence before a connection counts as lost",
    )
    .with_default(STALL_TEXT),
    OptionSpec::new("attempts", "N", "attempts at one block").with_default(ATTEMPTS_TEXT),
    OptionSpec::new("pair", "NAME", "what the reader and the service are called"),
];

/// What the options of a case say of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    destination: &'static str,
    digest: Option<DigestKind>,
    stream: bool,
    encrypted: bool,
    congestion: Option<String>,
    stall: Duration,
    attempts: u32,
}

/// One of [`Way::ALL`].
pub struct ByteIo<const WAY: usize>;

impl<const WAY: usize> Transport for ByteIo<WAY> {
    const NAME: &'static str = Way::ALL[WAY].transport();
    const SUMMARY: &'static str = Way::ALL[WAY].about();
    const OPTIONS: &'static [OptionSpec] = &OPTIONS;
    const MESSAGES: Support = NO_MESSAGES;
    const TAGGED: Support = NO_MESSAGES;
    const ONE_SIDED: Support = NO_MESSAGES;
    const BULK: Support = Support::Native;
    type Options = Words;

    fn parse(options: &TransportOptions) -> Result<Words, OptionError> {
        words(Way::ALL[WAY], options)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(_: &Words) -> Limits {
        let none = || SizeLimit::never("it moves files, no messages");
        Limits::of_messages(&[GroupKind::Hosts], [none(), none(), none(), none()]).with_ranks_max(1)
    }
}

impl<const WAY: usize> Bulk for ByteIo<WAY> {
    fn carry(ctx: &Connect, words: &Words, course: &mut Course) -> Result<Carried, ConnectError> {
        carry(Way::ALL[WAY], ctx, words, course)
    }
}

/// The options of a case, in words.
fn words(way: Way, options: &TransportOptions) -> Result<Words, OptionError> {
    let reader = OptionReader::new(way.transport(), &OPTIONS, options)?;
    let stall = reader.text("stall").unwrap_or(STALL_TEXT);
    let stall_ns = parse_duration_ns(stall).ok().filter(|ns| *ns > 0);
    let attempts = reader
        .parse("attempts", "a count of at least 1")?
        .unwrap_or(ATTEMPTS);
    let digests = [
        (NONE, None),
        (DigestKind::Crc32c.name(), Some(DigestKind::Crc32c)),
        (DigestKind::Blake3.name(), Some(DigestKind::Blake3)),
    ];
    let yes = |name| reader.choice(name, &[("no", false), ("yes", true)]);
    let words = Words {
        destination: reader.choice(
            "destination",
            &[("discard", "discard"), ("file", "file"), ("map", "map")],
        )?,
        digest: reader.choice("digest", &digests)?,
        stream: yes("stream")?,
        encrypted: yes("encrypted")?,
        congestion: reader.text("congestion").map(str::to_owned),
        stall: stall_ns
            .map(Duration::from_nanos)
            .ok_or_else(|| reader.refuse("stall", "a duration such as 500ms or 10s"))?,
        attempts: match attempts {
            0 => return Err(reader.refuse("attempts", "a count of at least 1")),
            attempts => attempts,
        },
    };
    match (words.stream, way) {
        (true, Way::Http | Way::Bulk) => Err(reader.refuse("stream", "no: only SOAP has streams")),
        _ => Ok(words),
    }
}

/// The case's transfer, or the offer of its requests.
fn carry(way: Way, ctx: &Connect, words: &Words, course: &mut Course) -> Result<Carried, ConnectError> {
    let other = |why: &str| ConnectError::Other(why.to_owned());
    let service = ctx
        .bootstrap
        .service()
        .ok_or_else(|| other("no service is named: --to http://HOST:PORT/PATH"))?;
    let options = options(ctx.case, way, words, service)?;
    let stop = Arc::new(StopFlag::new());
    ctx.cancel.wake_on_stop(&stop, StopFlag::request);
    let pace_interval_ns = ctx.case.test.bulk().and_then(|shape| shape.pace_interval_ns);
    let moved = match (pace_interval_ns, ctx.case.stop) {
        (None, _) => measured(&options, &stop, course, &|_| ()),
        (Some(interval_ns), Stop::Duration { duration_ns }) => {
            let duration = Duration::from_nanos(duration_ns);
            offer(
                &options,
                Pace {
                    interval_ns,
                    duration,
                },
                &stop,
                course,
            )
        }
        (Some(_), Stop::Iterations { .. }) => {
            return Err(other("requests are offered for a time, not for a number of them"));
        }
    };
    Ok(carried(&options, moved.map_err(told)?))
}

fn told(error: TransferError) -> ConnectError {
    let TransferError { cause, remedy, class } = error;
    match class {
        FailureClass::Refused => ConnectError::Refused { cause, remedy },
        _ => ConnectError::Unfit { cause, remedy },
    }
}

/// What the registry is told of a transfer.
fn carried(options: &TransferOptions, moved: Moved) -> Carried {
    let url = options.client.url.to_string();
    let mut facts = Facts::from([("url".to_owned(), url.clone())]);
    if let Some(info) = sender(&moved.transfer, options.client.direction) {
        facts.insert("congestion_control".to_owned(), info.congestion.clone());
        facts.insert("mss_bytes".to_owned(), info.mss_bytes.to_string());
    }
    let coding = moved.manner.coding.map(|coding| ("content_coding", coding));
    let ranges = moved.manner.one_stream.then(|| ("ranges", "none".to_owned()));
    let told = coding.into_iter().chain(ranges);
    facts.extend(told.map(|(name, value)| (name.to_owned(), value)));
    Carried {
        outcome: moved.outcome,
        record: Transfer {
            between: Some(Box::new(Between {
                url,
                far: moved.far,
                ..Between::default()
            })),
            ..moved.transfer
        },
        facts,
    }
}

/// The kernel's word on the first connection, from the end that sends.
fn sender(transfer: &Transfer, direction: Direction) -> Option<&TcpInfo> {
    let mut ends = transfer.connections.iter().map(|connection| match direction {
        Direction::Put => connection.near.as_ref(),
        Direction::Get => connection.far.as_ref(),
    });
    ends.find_map(|end| end)
}

/// The transfer that a case and the group's service are.
fn options(case: &Case, way: Way, words: &Words, service: &Service) -> Result<TransferOptions, ConnectError> {
    let other = |why: String| ConnectError::Other(why);
    let shape = case
        .test
        .bulk()
        .ok_or_else(|| other("not a bulk transfer".to_owned()))?;
    let url = Url::parse(&service.address).map_err(|e| other(e.to_string()))?;
    if url.secure != words.encrypted {
        return Err(other(format!(
            "{url} is {}, and the case says encrypted = {}",
            if url.secure { "https" } else { "http" },
            if words.encrypted { "yes" } else { "no" },
        )));
    }
    let identity = service.identity.as_deref().map(Identity::from_text).transpose();
    let direction = match case.ranks[0].role {
        Role::Source => Direction::Put,
        _ => Direction::Get,
    };
    let file = || {
        let file = service.file.clone();
        file.ok_or_else(|| other(format!("no file is named to {}", direction.name())))
    };
    Ok(TransferOptions {
        target: match (direction, words.destination) {
            (Direction::Put, _) | (_, "discard") => Target::Discard,
            (_, "map") => Target::Map {
                path: file()?,
                claim: Claim::Measure,
            },
            _ => Target::File {
                path: file()?,
                claim: Claim::Measure,
            },
        },
        source: match direction {
            Direction::Put => Some(whole(file()?, shape.total_bytes)?),
            Direction::Get => None,
        },
        client: ClientOptions {
            url,
            identity: identity.map_err(|e| other(e.to_string()))?,
            direction,
            way,
            stream: words.stream,
            patience: words.stall,
            stop: StopFlag::new(),
            congestion: words.congestion.clone(),
        },
        threads: usize::try_from(shape.connections).unwrap_or(usize::MAX),
        depth: usize::try_from(shape.outstanding_ops).unwrap_or(usize::MAX),
        block_bytes: shape.size_bytes,
        attempts_max: words.attempts,
        digest: words.digest,
        size_bytes: Some(shape.total_bytes),
    })
}

/// `file`, if it is as long as the case says.
fn whole(file: std::path::PathBuf, total_bytes: u64) -> Result<std::path::PathBuf, ConnectError> {
    match std::fs::metadata(&file) {
        Ok(there) if there.len() >= total_bytes => Ok(file),
        Ok(there) => Err(ConnectError::Unfit {
            cause: format!(
                "{} has {} bytes, and the case moves {total_bytes}",
                file.display(),
                there.len()
            ),
            remedy: "move fewer, or send a larger file".to_owned(),
        }),
        Err(source) => Err(ConnectError::os(format!("read {}", file.display()), source)),
    }
}

/// What of a transfer's options stands in its case: what makes it another question, where it is not usual.
pub fn case_options(options: &TransferOptions) -> TransportOptions {
    let mut words = TransportOptions::new();
    let mut word = |name: &str, value: &str, is_usual: bool| {
        if !is_usual {
            words.insert(name.to_owned(), value.to_owned());
        }
    };
    let (destination, client) = (options.target.name(), &options.client);
    word("destination", destination, destination == "discard");
    word(
        "digest",
        options.digest.map_or(NONE, DigestKind::name),
        options.digest.is_none(),
    );
    word("stream", "yes", !client.stream);
    word("encrypted", "yes", !client.url.secure);
    let congestion = client.congestion.as_deref();
    word("congestion", congestion.unwrap_or_default(), congestion.is_none());
    let stall_ns = nanoseconds(client.patience);
    let whole_ms = stall_ns.is_multiple_of(1_000_000);
    let stall = match (stall_ns / 1_000_000_000, whole_ms) {
        (seconds, _) if seconds * 1_000_000_000 == stall_ns => format!("{seconds}s"),
        (_, true) => format!("{}ms", stall_ns / 1_000_000),
        (_, false) => format!("{stall_ns}ns"),
    };
    word("stall", &stall, client.patience == STALL);
    word(
        "attempts",
        &options.attempts_max.to_string(),
        options.attempts_max == ATTEMPTS,
    );
    words
}

/// Where the transfer that has these options goes, and what of this end it needs.
pub fn service(options: &TransferOptions) -> Service {
    let mut service = Service::at(options.client.url.to_string());
    service.identity = options.client.identity.as_ref().map(Identity::to_text);
    service.file = match &options.target {
        Target::Discard => options.source.clone(),
        Target::File { path, .. } | Target::Map { path, .. } => Some(path.clone()),
    };
    service
}

/// `registry` with the five.
pub fn join(registry: Registry) -> Registry {
    registry
        .with(Entry::of_bulk::<ByteIo<0>>())
        .with(Entry::of_bulk::<ByteIo<1>>())
        .with(Entry::of_bulk::<ByteIo<2>>())
        .with(Entry::of_bulk::<ByteIo<3>>())
        .with(Entry::of_bulk::<ByteIo<4>>())
}
