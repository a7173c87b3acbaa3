//! Comparing what is here with what the service has, block by block, after the transfer: a phase of its own, because the
//! service has to read everything once more for it. A service that cannot answer must never count as one with other data.

use super::faults::{of_source, refused};
use super::journal::Done;
use super::lookup;
use super::session::{STOPPED, Session, insist};
use super::{ClientOptions, Direction, Found};
use crate::digest::{self, DigestKind, from_hex};
use parking_lot::Mutex;
use std::fs::File;
use std::time::{Duration, Instant};
use wirespeed::bulk::BulkError;

/// Connections that ask at the same time, at most.
const THREADS_MAX: usize = 8;

/// What is compared.
pub(super) struct Compared<'a> {
    pub options: &'a ClientOptions,
    pub kind: DigestKind,
    /// What was sent, which is read again; what was fetched has its digests.
    pub source: Option<&'a File>,
    /// Bytes of the whole and of a block.
    pub shape: (u64, u64),
    pub threads: usize,
}

impl Compared<'_> {
    /// The blocks whose digest at the service differs. Errors when it cannot be asked.
    pub fn wrong_blocks(&self, digests: &Done) -> Result<Vec<u64>, BulkError> {
        let left = Mutex::new(digests.iter());
        let moved = Mutex::new(Instant::now());
        let compare = || -> Result<Vec<u64>, BulkError> {
            let (mut session, mut wrong) = (None, Vec::new());
            loop {
                let Some((&index, digest)) = left.lock().next() else {
                    return Ok(wrong);
                };
                if self.options.stop.is_requested() {
                    return Err(BulkError::lasting(STOPPED));
                }
                if !self.is_same((index, digest), &mut session, &moved)? {
                    wrong.push(index);
                }
            }
        };
        let threads = self.threads.clamp(1, THREADS_MAX);
        let found: Vec<Result<Vec<u64>, BulkError>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(compare)).collect();
            let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined
                .map(|one| {
                    one.unwrap_or_else(|_| Err(BulkError::lasting("a thread that compared ended early")))
                })
                .collect()
        });
        let mut wrong = Vec::new();
        for one in found {
            wrong.extend(one?);
        }
        wrong.sort_unstable();
        Ok(wrong)
    }

    /// Whether the service has a block as it is here. `moved`: when any thread last came further; as long as one does, a
    /// service without a place for this one is asked again.
    fn is_same(
        &self,
        (index, fetched): (u64, &[u8]),
        session: &mut Option<Session>,
        moved: &Mutex<Instant>,
    ) -> Result<bool, BulkError> {
        let (total_bytes, block_bytes) = self.shape;
        let offset = index * block_bytes;
        let size = block_bytes.min(total_bytes - offset);
        // Right before the service is asked for the same: while the source is read, its version must not grow old.
        let digest = match self.source {
            Some(source) => &digest::of_file(self.kind, source, offset, size).map_err(of_source)?,
            None => fetched,
        };
        *moved.lock() = Instant::now();
        let query = format!("digest={}&offset={offset}&size={size}", self.kind.name());
        let target = self.options.url.with_query(&query);
        let waited = || -> Duration { moved.lock().elapsed() };
        let same = insist(self.options, waited, || self.ask(session, &target, digest))?;
        *moved.lock() = Instant::now();
        Ok(same)
    }

    fn ask(&self, session: &mut Option<Session>, target: &str, digest: &[u8]) -> Result<bool, BulkError> {
        let mut open = match session.take() {
            Some(open) => open,
            None => Session::connect(self.options)?,
        };
        let answer = open.small("GET", target, "", "")?;
        if answer.head.keeps {
            *session = Some(open);
        }
        match (answer.head.status, self.options.direction) {
            (200, _) => match from_hex(answer.body.trim()) {
                Some(theirs) if theirs.len() == digest.len() => Ok(theirs == digest),
                _ => Err(BulkError::lasting(
                    "the service answered something else than a digest",
                )),
            },
            // It does not have the block any more.
            (416, _) | (404, Direction::Get) => Ok(false),
            _ => Err(refused(&answer.head, answer.body.trim())),
        }
    }
}

/// Whether the resource is still the one that was looked up.
pub(super) fn is_unchanged(options: &ClientOptions, before: &Found) -> Result<bool, BulkError> {
    let began = Instant::now();
    let now = insist(options, || began.elapsed(), || lookup::again(options, before))?;
    let sizes = now.size_bytes.zip(before.size_bytes);
    Ok(now.tag == before.tag && sizes.is_none_or(|(now, before)| now == before))
}

#[cfg(test)]
mod tests {
    use super::super::Url;
    use super::super::tests::{PATIENCE, scripted};
    use super::*;
    use crate::digest::hex;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::os::unix::fs::FileExt as _;
    use std::sync::atomic::Ordering;

    const KIND: DigestKind = DigestKind::Crc32c;

    /// What comes of comparing one block of a source with what a service answers, and how often it was asked.
    fn compared(
        direction: Direction,
        answers: &[(u16, &str)],
        (stops, patience): (bool, Option<Duration>),
    ) -> (Result<Vec<u64>, String>, usize) {
        let answers = answers.iter().map(|(status, body)| (*status, (*body).to_owned()));
        let (mut options, given) = scripted(answers.collect(), Duration::ZERO);
        options.direction = direction;
        options.patience = patience.unwrap_or(options.patience);
        if stops {
            options.stop.request();
        }
        let source = tempfile::tempfile().unwrap();
        source.write_all_at(b"block", 0).unwrap();
        let compared = Compared {
            options: &options,
            kind: KIND,
            source: Some(&source),
            shape: (5, 5),
            threads: 1,
        };
        // What was once sent of the source is not what counts.
        let found = compared.wrong_blocks(&Done::from([(0, b"old".to_vec())]));
        (found.map_err(|error| error.why), given.load(Ordering::SeqCst))
    }

    #[test]
    fn only_another_digest_and_an_early_end_are_wrong_data() {
        let source = tempfile::tempfile().unwrap();
        source.write_all_at(b"block", 0).unwrap();
        let right = hex(&digest::of_file(KIND, &source, 0, 5).unwrap());
        let right = right.as_str();
        let (get, put) = (Direction::Get, Direction::Put);
        assert_eq!(compared(put, &[(200, right)], (false, None)), (Ok(vec![]), 1));
        assert_eq!(
            compared(put, &[(503, ""), (408, ""), (200, right)], (false, None)),
            (Ok(vec![]), 3)
        );
        for (direction, status, body) in [(put, 200, "00000000"), (put, 416, ""), (get, 404, "")] {
            assert_eq!(
                compared(direction, &[(status, body)], (false, None)),
                (Ok(vec![0]), 1),
                "{status}"
            );
        }
        for (status, body) in [(404, "why"), (401, "why"), (403, "why"), (200, "why: no digest")] {
            let (found, asked) = compared(put, &[(status, body)], (false, None));
            let why = found.unwrap_err();
            assert!(
                ["why", "digest"].iter().any(|word| why.contains(word)) && asked == 1,
                "{status}"
            );
        }
        assert_eq!(
            compared(put, &[(200, right)], (true, None)),
            (Err(STOPPED.to_owned()), 0)
        );
    }

    /// A service that cuts its first connection, and tells HEAD another tag than GET.
    fn cutting() -> ClientOptions {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (mut options, _) = scripted(vec![(200, String::new())], Duration::ZERO);
        options.url = Url::parse(&format!("http://{}/x", listener.local_addr().unwrap())).unwrap();
        options.direction = Direction::Get;
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten().skip(1) {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let asked = lines.next().unwrap_or_default();
                lines.find(String::is_empty);
                let answer = match asked.starts_with("HEAD") {
                    true => "200 X\r\nAccept-Ranges: bytes\r\nContent-Length: 7\r\nETag: \"head\"",
                    false => "206 X\r\nContent-Range: bytes 0-0/7\r\nContent-Length: 1\r\nETag: \"get\"",
                };
                // The client may be gone.
                let _ = (&stream).write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes());
            }
        });
        options
    }

    #[test]
    fn what_was_found_is_asked_for_again_in_the_same_way() {
        for (by_get, tag, expected) in [
            (false, "\"head\"", true),
            (false, "\"get\"", false),
            (true, "\"get\"", true),
            (true, "\"head\"", false),
        ] {
            let before = Found {
                size_bytes: Some(7),
                tag: Some(tag.to_owned()),
                by_get,
                ..Found::default()
            };
            assert_eq!(is_unchanged(&cutting(), &before), Ok(expected), "{by_get} {tag}");
        }
    }

    #[test]
    fn a_service_without_a_place_is_not_asked_for_ever() {
        // Where the machine stands still in the pause before it is asked again, it is not.
        let is_asked_again = (0..5).any(|_| {
            let began = Instant::now();
            let (found, asked) = compared(Direction::Put, &[(503, "full")], (false, Some(PATIENCE)));
            assert!(found.unwrap_err().contains("full") && began.elapsed() >= PATIENCE);
            asked > 1
        });
        assert!(is_asked_again);
    }
}
