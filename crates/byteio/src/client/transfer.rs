//! One transfer, phase by phase: look-up, connections, blocks, comparison. Each has its own time; only the blocks' counts
//! as bandwidth.

use super::found::changed;
use super::journal::{Done, Journal, Subject};
use super::link::Link;
use super::place::Place;
use super::session::STOPPED;
use super::verify::{Compared, is_unchanged};
use super::{ClientOptions, Direction, Found, Way, lookup};
use crate::digest::{Blake3, Crc32c, DigestKind};
use crate::sys::cpu_ns;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use wirespeed::bulk::{
    self, Block, BulkError, BulkErrorKind, BulkOutcome, BulkPlan, Connector, Course, Hooks, NoDigest, Wire,
};
use wirespeed::clock::Timebase;
use wirespeed_control::StopFlag;
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::{Connection, TcpInfo, Transfer};
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::message::FailureClass;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::units::{counted, nanoseconds as ns};

/// Blocks of one transfer: each takes some bytes of memory.
const BLOCKS_MAX: u64 = 1 << 24;

/// What helps where no more is known.
pub const AGAIN: &str = "look at the service, and give the same command again";
const DAMAGED: &str =
    "give the same command again; blocks that differ again come of memory or disks at either end";
const UNNAMED: &str = "move away what has that name, or check the folder, and give the same command again";

/// While other connections move, this part of the longest silence is enough for one to count as lost.
const STALL_PART: u32 = 3;

/// What a get may find where its file goes, and what it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// No file may be there. What an interrupted transfer left is gone on with.
    New,
    /// A file that is there is replaced when its successor is whole. What an interrupted transfer left is begun anew.
    Replace,
    /// As [`Claim::Replace`], and nothing stays of a transfer that breaks off: it was measured.
    Measure,
}

/// Where the bytes of a get go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nowhere.
    Discard,
    /// Into a file, by position.
    File {
        /// Its path.
        path: PathBuf,
        /// What may be there.
        claim: Claim,
    },
    /// Into a mapping of a file.
    Map {
        /// Its path.
        path: PathBuf,
        /// What may be there.
        claim: Claim,
    },
}

impl Target {
    /// As printed.
    pub fn name(&self) -> &'static str {
        match self {
            Target::Discard => "discard",
            Target::File { .. } => "file",
            Target::Map { .. } => "map",
        }
    }
}

/// What to transfer, and how.
#[derive(Debug, Clone)]
pub struct TransferOptions {
    /// The resource and the way to it.
    pub client: ClientOptions,
    /// Connections.
    pub threads: usize,
    /// Blocks outstanding on each.
    pub depth: usize,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Attempts at one block.
    pub attempts_max: u32,
    /// Where a get goes.
    pub target: Target,
    /// What a put sends.
    pub source: Option<PathBuf>,
    /// Digest to compare with, where the service offers it.
    pub digest: Option<DigestKind>,
    /// Only so many bytes from the start; needed where the service does not say how many there are.
    pub size_bytes: Option<u64>,
}

/// What was transferred.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moved {
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// What was seen.
    pub transfer: Transfer,
    /// What the engine counted and timed.
    pub outcome: BulkOutcome,
    /// The service's machine, where it is wirespeed.
    pub far: Option<HostFingerprint>,
    /// How the service sent it.
    pub manner: Manner,
}

/// How a service sends a resource, where that is not in blocks of what it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manner {
    /// It knows no ranges: the whole comes at once over one connection, whatever is asked for.
    pub one_stream: bool,
    /// It sends another coding (gzip, ..), though nobody asked for one: what is counted and stored is coded.
    pub coding: Option<String>,
}

impl Manner {
    pub(super) fn of(found: &Found) -> Self {
        Manner {
            one_stream: found.whole_only,
            coding: found.coding.clone(),
        }
    }
}

/// Why there was no transfer at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct TransferError {
    /// One line of cause.
    pub cause: String,
    /// One line of remedy.
    pub remedy: String,
    /// Usage where what the user asked for is invalid, refused where a key or token is wrong; failed else.
    pub class: FailureClass,
}

impl TransferError {
    pub(super) fn usage(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        TransferError {
            cause: cause.into(),
            remedy: remedy.into(),
            class: FailureClass::Usage,
        }
    }

    pub(super) fn failed(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        TransferError {
            class: FailureClass::Failed,
            ..Self::usage(cause, remedy)
        }
    }
}

impl From<BulkError> for TransferError {
    fn from(error: BulkError) -> Self {
        let remedy = error.remedy.as_deref();
        let remedy = remedy.unwrap_or("check the address, and what the service says");
        TransferError {
            class: match error.kind {
                BulkErrorKind::Refused => FailureClass::Refused,
                _ => FailureClass::Failed,
            },
            ..TransferError::failed(error.why.as_str(), remedy)
        }
    }
}

/// What the kernel said of a connection, near end first, by worker.
pub(super) type Counters = BTreeMap<usize, (Option<TcpInfo>, Option<TcpInfo>)>;

/// Makes links, and keeps what the kernel said of them when their work was done.
pub(super) struct Links {
    pub options: Arc<ClientOptions>,
    source: Option<Arc<File>>,
    found: Arc<Found>,
    pub counters: Mutex<Counters>,
}

impl Links {
    /// Links with these options to what was found.
    pub fn new(client: ClientOptions, source: Option<Arc<File>>, found: &Found) -> Self {
        Links {
            options: Arc::new(client),
            source,
            found: Arc::new(found.clone()),
            counters: Mutex::default(),
        }
    }
}

impl Connector for Links {
    type Port = Link;

    fn connect(&self, _: usize, wire: &Arc<Wire>) -> Result<Link, BulkError> {
        Link::connect(&self.options, self.source.as_ref(), &self.found, wire)
    }

    fn retire(&self, worker: usize, mut port: Link) {
        let found = port.counters();
        let mut counters = self.counters.lock();
        counters.insert(worker, found);
    }
}

/// Looks at every block that is done.
struct Watch<'a> {
    journal: Option<&'a Journal>,
    digests: Mutex<Done>,
    stop: &'a StopFlag,
    total_bytes: u64,
    progress: &'a (dyn Fn(Step) + Sync),
}

/// What a transfer tells while it goes on.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Bytes that are there now and were not before; first of all those of an earlier transfer.
    pub bytes: u64,
    /// Bytes of the whole.
    pub total_bytes: u64,
}

impl Hooks for Watch<'_> {
    fn done(&self, block: Block, digest: &[u8]) -> Result<(), BulkError> {
        (self.progress)(Step {
            bytes: block.size_bytes,
            total_bytes: self.total_bytes,
        });
        let mut digests = self.digests.lock();
        digests.insert(block.index, digest.to_vec());
        drop(digests);
        let noted = self
            .journal
            .map_or(Ok(()), |journal| journal.note(block.index, digest));
        noted.map_err(|e| {
            BulkError::lasting(format!("cannot write the journal: {e}"))
                .with_remedy("check the disk of the file and its room, then give the same command again")
        })
    }

    fn stop(&self) -> bool {
        self.stop.is_requested()
    }
}

/// What there is to transfer, found out before any of it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// How the service sends it.
    pub manner: Manner,
}

/// Ask the service, and look at the file that is put. Errors as of [`transfer`].
pub fn look_up(options: &TransferOptions, stop: &StopFlag) -> Result<Known, TransferError> {
    let (options, found) = looked_up(options, stop)?;
    let source = open_source(&options)?;
    Ok(Known {
        total_bytes: total_bytes(&options, &found, source.as_deref())?,
        manner: Manner::of(&found),
    })
}

/// What the service has, and the options that fit it.
fn looked_up(options: &TransferOptions, stop: &StopFlag) -> Result<(TransferOptions, Found), TransferError> {
    let mut options = options.clone();
    options.client.stop = stop.clone();
    let found = lookup::find(&options.client, options.size_bytes.is_some())?;
    if found.whole_only {
        as_one_stream(&mut options, &found)?;
    }
    Ok((options, found))
}

/// Transfer once, for the sake of the data. `progress` is told the bytes of every block that is done. An error: nothing was
/// transferred; a transfer that broke off carries its error in the result.
pub fn transfer(
    options: &TransferOptions,
    stop: &StopFlag,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Moved, TransferError> {
    let timebase = Timebase::start();
    let mut nobody = |_: &Interval| ();
    measured(options, stop, &mut Course::new(&timebase, &mut nobody), progress)
}

/// Transfer once, measured with `course`.
pub(crate) fn measured(
    options: &TransferOptions,
    stop: &StopFlag,
    course: &mut Course,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Moved, TransferError> {
    let began = Instant::now();
    let (options, found) = &looked_up(options, stop)?;
    let before = found.own.then(|| lookup::facts(&options.client)).flatten();
    let lookup_ns = ns(began.elapsed());
    let source = open_source(options)?;
    let total_bytes = total_bytes(options, found, source.as_deref())?;
    let digest = options.digest.filter(|_| found.own);
    let subject = subject(options, found, total_bytes, digest)?;
    let block_bytes = subject.block_bytes;
    let (place, ready) = opened(options, &subject, found.own)?;
    let already: Vec<u64> = place.done.keys().copied().collect();
    let bytes = bytes_of(&place.done, total_bytes, block_bytes);
    progress(Step { bytes, total_bytes });
    let links = Links::new(ready.links.clone(), source.clone(), found);
    let watch = Watch {
        journal: place.journal.as_ref(),
        digests: Mutex::new(place.done.clone()),
        stop,
        total_bytes,
        progress,
    };
    let plan = shape(options, total_bytes, block_bytes);
    let cpu_before = cpu_ns();
    let outcome = run(course, plan, digest, (&links, &place), &watch, &already);
    let cpu_near_ns = cpu_ns() - cpu_before;
    let after = found.own.then(|| lookup::facts(&options.client)).flatten();
    lookup::close_stream(&links.options, ready.opened);
    let mut transfer = describe(&outcome, links.counters.into_inner());
    (transfer.lookup_ns, transfer.cpu_near_ns, transfer.resumed_bytes) = (lookup_ns, cpu_near_ns, bytes);
    transfer.cpu_far_ns = cpu_between(before.as_ref(), after);
    let digests = watch.digests.into_inner();
    let nothing_came = digests.len() == already.len();
    let refusal = refusal(&outcome).filter(|_| nothing_came);
    if outcome.is_whole() {
        let check = Check {
            client: ready.version.as_ref().unwrap_or(&options.client),
            threads: options.threads,
            found,
            digest,
            source,
            shape: (total_bytes, block_bytes),
        };
        check.run(&mut transfer, digests, place, &subject);
    } else {
        place.break_off(digests.is_empty() || outcome.error.as_ref().is_some_and(is_outdated));
    }
    ready.end(&mut transfer, total_bytes);
    if let Some(error) = refusal {
        return Err(error);
    }
    if stop.is_requested() && transfer.error.is_some() {
        broke_off(&mut transfer, &stopped());
    }
    Ok(Moved {
        total_bytes,
        transfer,
        outcome,
        far: before.map(|facts| facts.host),
        manner: Manner::of(found),
    })
}

/// Where the bytes go, and what they come from or go to; an error leaves both as they were.
fn opened(options: &TransferOptions, subject: &Subject, own: bool) -> Result<(Place, Ready), TransferError> {
    let place = Place::open(&options.target, subject, &options.client.stop)?;
    match made_ready(&options.client, own, subject.total_bytes, subject.block_bytes) {
        Ok(ready) => Ok((place, ready)),
        Err(error) => {
            let is_empty = place.done.is_empty();
            place.break_off(is_empty);
            Err(error)
        }
    }
}

/// Whether a transfer broke off because its blocks are of a version that is gone.
fn is_outdated(error: &BulkError) -> bool {
    error.kind == BulkErrorKind::Outdated
}

/// CPU time that a service of ours says it used meanwhile.
pub(super) fn cpu_between(before: Option<&lookup::Facts>, after: Option<lookup::Facts>) -> Option<u64> {
    after?.cpu_ns.checked_sub(before?.cpu_ns)
}

/// That the service wants another key or token, where this is what it broke off for: where nothing came before, there was no
/// transfer at all.
pub(super) fn refusal(outcome: &BulkOutcome) -> Option<TransferError> {
    let error = outcome.error.as_ref()?;
    (error.kind == BulkErrorKind::Refused).then(|| error.clone().into())
}

/// What a transfer broke off for that the user stopped.
fn stopped() -> BulkError {
    BulkError::lasting(STOPPED).with_remedy("give the same command again")
}

/// All there is in one block over one connection.
fn as_one_stream(options: &mut TransferOptions, found: &Found) -> Result<(), TransferError> {
    let sizes = found.size_bytes.zip(options.size_bytes);
    if let Some((there, _)) = sizes.filter(|(there, wanted)| there != wanted) {
        return Err(TransferError::usage(
            "the service knows no ranges and sends the whole resource only",
            format!("ask for all of its {there} bytes"),
        ));
    }
    (options.threads, options.depth, options.block_bytes) = (1, 1, u64::MAX);
    Ok(())
}

/// What a transfer's blocks go to or come from.
pub(super) struct Ready {
    /// Options of the links.
    pub links: ClientOptions,
    /// Whether a stream was opened.
    pub opened: bool,
    /// The new version that a put writes, where the service is ours.
    version: Option<ClientOptions>,
}

impl Ready {
    /// The version takes its place if the transfer is right, and is forgotten if not.
    pub fn end(&self, transfer: &mut Transfer, total_bytes: u64) {
        let Some(version) = &self.version else { return };
        if transfer.error.is_none() {
            let Err(error) = lookup::commit_version(version, total_bytes) else {
                return;
            };
            transfer.verified = false;
            broke_off(
                transfer,
                &BulkError {
                    why: format!("could not put the new version in its place: {error}"),
                    ..error
                },
            );
        }
        lookup::drop_version(version);
    }

    /// Forget the version.
    pub fn forget(&self) {
        self.version.as_ref().map(lookup::drop_version);
    }
}

/// A put to a service of ours writes a new version; what it writes to elsewhere is emptied, unless one request replaces it.
/// A stream is opened. `own`: the service is wirespeed. A foreign stream cannot be cut.
pub(super) fn made_ready(
    options: &ClientOptions,
    own: bool,
    total_bytes: u64,
    block_bytes: u64,
) -> Result<Ready, TransferError> {
    let version = match (options.direction, own) {
        (Direction::Put, true) => lookup::begin_version(options)?,
        (Direction::Put, false) if options.way == Way::Bulk => {
            return Err(TransferError::usage(
                "the service is not wirespeed, and does not offer the bulk stream",
                "choose another mechanism",
            ));
        }
        (Direction::Put, false) if options.way == Way::Http && total_bytes > block_bytes => {
            return Err(TransferError::usage(
                format!(
                    "the service is not wirespeed: it may take each block for the whole file, unless there is one of \
                     {total_bytes} bytes"
                ),
                format!("send the file in one block of {total_bytes} bytes"),
            ));
        }
        (Direction::Put, false) if options.way == Way::Http && total_bytes > 0 => None,
        (Direction::Put, false) if !options.stream => {
            lookup::clear(options)?;
            None
        }
        _ => None,
    };
    let whole = version.as_ref().unwrap_or(options);
    let stream = match options.stream {
        true => lookup::open_stream(whole).inspect_err(|_| {
            version.as_ref().map(lookup::drop_version);
        })?,
        false => None,
    };
    Ok(Ready {
        opened: stream.is_some(),
        links: ClientOptions {
            url: stream.unwrap_or_else(|| whole.url.clone()),
            ..options.clone()
        },
        version,
    })
}

/// Bytes of a block: no more than there are.
pub(super) fn block_bytes(options: &TransferOptions, total_bytes: u64) -> u64 {
    options.block_bytes.clamp(1, total_bytes.max(1))
}

/// The engine's part of the options.
pub(super) fn shape(options: &TransferOptions, total_bytes: u64, block_bytes: u64) -> BulkPlan {
    BulkPlan {
        total_bytes,
        block_bytes,
        threads: options.threads,
        depth: options.depth,
        attempts_max: options.attempts_max,
        writes: options.client.direction == Direction::Put,
        stall: options.client.patience / STALL_PART,
    }
}

/// What the journal has to fit.
fn subject(
    options: &TransferOptions,
    found: &Found,
    total_bytes: u64,
    digest: Option<DigestKind>,
) -> Result<Subject, TransferError> {
    let block_bytes = block_bytes(options, total_bytes);
    if total_bytes.div_ceil(block_bytes) > BLOCKS_MAX {
        return Err(TransferError::usage(
            "more than 16 million blocks",
            "choose larger blocks",
        ));
    }
    Ok(Subject {
        journal: 1,
        url: options.client.url.to_string(),
        total_bytes,
        block_bytes,
        tag: found.tag.clone(),
        digest: digest.map_or("", DigestKind::name).to_owned(),
        // What was written and not compared may be lost with the machine.
        boot: match digest {
            None => wirespeed::host::boot_id().ok(),
            Some(_) => None,
        },
    })
}

/// Bytes of the blocks that an earlier transfer left.
fn bytes_of(done: &Done, total_bytes: u64, block_bytes: u64) -> u64 {
    let sizes = done
        .keys()
        .map(|index| block_bytes.min(total_bytes - index * block_bytes));
    sizes.sum()
}

fn run(
    course: &mut Course,
    plan: BulkPlan,
    digest: Option<DigestKind>,
    (links, place): (&Links, &Place),
    watch: &Watch<'_>,
    already: &[u64],
) -> BulkOutcome {
    let ends = (links, &place.destination);
    match digest {
        Some(DigestKind::Crc32c) => bulk::run::<Crc32c, _, _>(course, plan, ends, watch, already),
        Some(DigestKind::Blake3) => bulk::run::<Blake3, _, _>(course, plan, ends, watch, already),
        None => bulk::run::<NoDigest, _, _>(course, plan, ends, watch, already),
    }
}

pub(super) fn open_source(options: &TransferOptions) -> Result<Option<Arc<File>>, TransferError> {
    let Some(path) = options
        .source
        .as_ref()
        .filter(|_| options.client.direction == Direction::Put)
    else {
        return Ok(None);
    };
    let file = File::open(path).map_err(|e| {
        TransferError::usage(
            format!("cannot read {}: {e}", path.display()),
            "check the path and its permissions",
        )
    })?;
    Ok(Some(Arc::new(file)))
}

pub(super) fn total_bytes(
    options: &TransferOptions,
    found: &Found,
    source: Option<&File>,
) -> Result<u64, TransferError> {
    if let Some(source) = source {
        let metadata = source.metadata().ok().filter(std::fs::Metadata::is_file);
        let there = metadata
            .map(|m| m.len())
            .ok_or_else(|| TransferError::usage("what is put must be a regular file", "name a file"))?;
        return match options.size_bytes {
            Some(wanted) if wanted > there => Err(TransferError::usage(
                format!("the file has {there} bytes, fewer than the {wanted} asked for"),
                "ask for fewer, or send a larger file",
            )),
            wanted => Ok(wanted.unwrap_or(there)),
        };
    }
    match (found.size_bytes, options.size_bytes) {
        (Some(there), Some(wanted)) if wanted > there => Err(TransferError::usage(
            format!("the resource has {there} bytes, fewer than the {wanted} asked for"),
            "ask for fewer, or serve a larger file",
        )),
        (_, Some(wanted)) => Ok(wanted),
        (Some(there), None) => Ok(there),
        (None, None) => Err(TransferError::failed(
            "the service does not say how large the resource is",
            "give --size",
        )),
    }
}

/// Comparing after a transfer that is whole.
struct Check<'a> {
    client: &'a ClientOptions,
    threads: usize,
    found: &'a Found,
    digest: Option<DigestKind>,
    source: Option<Arc<File>>,
    /// Bytes of the whole and of a block.
    shape: (u64, u64),
}

impl Check<'_> {
    fn run(&self, transfer: &mut Transfer, mut digests: Done, mut place: Place, subject: &Subject) {
        let began = Instant::now();
        let error = match self.compare(&digests) {
            Err(error) => Some(BulkError {
                why: format!("could not compare with the service: {error}"),
                ..error
            }),
            // Blocks of an earlier version differ rightly.
            Ok((_, false)) => Some(changed()),
            Ok((wrong, true)) if !wrong.is_empty() => {
                transfer.wrong_blocks_count = wrong.len() as u64;
                digests.retain(|index, _| !wrong.contains(index));
                if let Some(journal) = place.journal.take() {
                    // Without a journal the next transfer begins anew, which is right too.
                    let _ = journal.rewrite(subject, &digests);
                }
                let blocks = counted(wrong.len() as u64, "block");
                let why = format!(
                    "not as the service has it: {blocks}, the first is block {}",
                    wrong[0]
                );
                Some(BulkError::lasting(why).with_remedy(DAMAGED))
            }
            Ok(_) => {
                transfer.verified = self.digest.is_some();
                let unnamed = |e| BulkError::lasting(format!("cannot give the file its name: {e}"));
                place.finish().err().map(|e| unnamed(e).with_remedy(UNNAMED))
            }
        };
        if let Some(error) = error {
            broke_off(transfer, &error);
            place.break_off(is_outdated(&error));
        }
        transfer.verify_ns = ns(began.elapsed());
    }

    /// Blocks that differ, and whether the resource is still the same.
    fn compare(&self, digests: &Done) -> Result<(Vec<u64>, bool), BulkError> {
        let client = self.client;
        let put = client.direction == Direction::Put;
        let compared = |kind| Compared {
            options: client,
            kind,
            source: self.source.as_deref(),
            shape: self.shape,
            threads: self.threads,
        };
        let wrong = match self.digest {
            Some(kind) => compared(kind).wrong_blocks(digests)?,
            None => Vec::new(),
        };
        let tells = self.found.own || client.way == Way::Http;
        let same = put || !tells || is_unchanged(client, self.found)?;
        Ok((wrong, same))
    }
}

pub(super) fn describe(outcome: &BulkOutcome, mut counters: Counters) -> Transfer {
    let connections = outcome.workers.iter().enumerate().map(|(worker, seen)| {
        let (near, far) = counters.remove(&worker).unwrap_or_default();
        Connection {
            payload_bytes: seen.bytes,
            request_ns: ns(seen.request),
            first_byte_ns: ns(seen.first_byte),
            stream_ns: ns(seen.stream),
            store_ns: ns(seen.store),
            digest_ns: ns(seen.verify),
            idle_ns: ns(seen.idle),
            retries_count: seen.retries,
            retries_ns: ns(seen.retrying),
            socket_read_bytes: seen.read_bytes,
            socket_written_bytes: seen.written_bytes,
            repeated_bytes: seen.repeated_bytes,
            failure: seen.failure.clone(),
            near,
            far,
        }
    });
    let seconds = outcome.elapsed.as_secs_f64();
    // Where nothing moved there is no rate.
    let rate = (outcome.bytes > 0).then(|| outcome.bytes as f64 / seconds);
    let mut transfer = Transfer {
        payload_bytes: outcome.bytes,
        elapsed_ns: ns(outcome.elapsed),
        bandwidth_bytes_per_s: rate.and_then(Finite::maybe),
        connect_ns: ns(outcome.connect),
        steals_count: outcome.taken_over,
        connections: connections.collect(),
        ..Transfer::default()
    };
    if let Some(error) = &outcome.error {
        broke_off(&mut transfer, error);
    }
    transfer
}

/// The transfer is not whole because of `error`, and what helps.
fn broke_off(transfer: &mut Transfer, error: &BulkError) {
    transfer.error = Some(error.why.clone());
    transfer.remedy = Some(error.remedy.clone().unwrap_or_else(|| AGAIN.to_owned()));
}
