//! One transfer, phase by phase: look-up, connections, blocks, comparison. Each has its own time; only the blocks' counts
//! as bandwidth.

use super::asked::{Known, Manner, Moved, Step, TransferError, TransferOptions};
use super::found::changed;
use super::journal::{Done, Journal, Subject};
use super::link::Link;
use super::place::Place;
use super::ready::{Ready, made_ready};
use super::session::STOPPED;
use super::told::{Counters, broke_off, cpu_between, describe, refusal};
use super::verify::{Compared, is_unchanged};
use super::{ClientOptions, Direction, Found, Way, lookup};
use crate::digest::{Blake3, Crc32c, DigestKind};
use crate::sys::cpu_ns;
use parking_lot::Mutex;
use std::fs::File;
use std::sync::Arc;
use std::time::Instant;
use wirespeed::bulk::{
    self, Block, BulkError, BulkErrorKind, BulkOutcome, BulkPlan, Connector, Course, Hooks, NoDigest, Wire,
};
use wirespeed::clock::Timebase;
use wirespeed_control::StopFlag;
use wirespeed_schema::byteio::Transfer;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::units::{counted, nanoseconds as ns};

/// Blocks of one transfer: each takes some bytes of memory.
const BLOCKS_MAX: u64 = 1 << 24;

const DAMAGED: &str =
    "give the same command again; blocks that differ again come of memory or disks at either end";
const UNNAMED: &str = "move away what has that name, or check the folder, and give the same command again";

/// While other connections move, this part of the longest silence is enough for one to count as lost.
const STALL_PART: u32 = 3;

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
