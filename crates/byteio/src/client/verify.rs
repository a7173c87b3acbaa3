//! Comparing what is here with what the service has, block by block, after the transfer: a phase of its own, because the
//! service has to read everything once more for it.

use super::journal::Done;
use super::lookup;
use super::session::Session;
use super::{ClientOptions, Found};
use crate::digest::{DigestKind, from_hex};
use parking_lot::Mutex;
use wirespeed::bulk::BulkError;

/// Connections that ask at the same time, at most.
const THREADS_MAX: usize = 8;

/// The blocks whose digest at the service differs. Errors when it cannot be asked.
pub(super) fn wrong_blocks(
    options: &ClientOptions,
    kind: DigestKind,
    digests: &Done,
    (total_bytes, block_bytes): (u64, u64),
    threads: usize,
) -> Result<Vec<u64>, BulkError> {
    let left = Mutex::new(digests.iter());
    let next = || left.lock().next();
    let compare = || -> Result<Vec<u64>, BulkError> {
        let mut session = Session::connect(options)?;
        let mut wrong = Vec::new();
        while let Some((&index, digest)) = next() {
            let offset = index * block_bytes;
            let size = block_bytes.min(total_bytes - offset);
            let query = format!("digest={}&offset={offset}&size={size}", kind.name());
            let answer = session.small("GET", &options.url.with_query(&query), "", "")?;
            // A service that cannot digest the block any more does not have it any more.
            if answer.head.status != 200 || from_hex(answer.body.trim()).as_ref() != Some(digest) {
                wrong.push(index);
            }
            if !answer.head.keeps {
                session = Session::connect(options)?;
            }
        }
        Ok(wrong)
    };
    let threads = threads.clamp(1, THREADS_MAX);
    let found: Vec<Result<Vec<u64>, BulkError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(compare)).collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|one| one.unwrap_or_else(|_| Err(BulkError::lasting("a thread that compared ended early"))))
            .collect()
    });
    let mut wrong = Vec::new();
    for one in found {
        wrong.extend(one?);
    }
    wrong.sort_unstable();
    Ok(wrong)
}

/// Whether the resource is still the one that was looked up.
pub(super) fn is_unchanged(options: &ClientOptions, before: &Found) -> Result<bool, BulkError> {
    let now = lookup::find(options, false)?;
    Ok(now.tag == before.tag && now.size_bytes == before.size_bytes)
}
