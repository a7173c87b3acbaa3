//! The journal of a transfer: which blocks are in the file, and their digests, so that a transfer that was killed goes on.
//!
//! Text, a line a block, appended after the block was stored. The first line says of what; anything that does not fit is
//! an error, never a guess. A last line without its end was cut by the kill and does not count.

use crate::digest::{from_hex, hex};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// A journal has a line a block; more than this is not one.
const JOURNAL_BYTES_MAX: u64 = 1 << 30;

/// What is transferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Version of this format.
    pub journal: u32,
    /// The address.
    pub url: String,
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// The resource's tag, where the service gives one.
    pub tag: Option<String>,
    /// Kind of the digests, empty for none.
    pub digest: String,
    /// Without digests, the boot of the machine that wrote it: after another, blocks may be lost that nothing tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

/// Digests of the blocks that are there.
pub type Done = BTreeMap<u64, Vec<u8>>;

/// The path of the journal of a file.
pub fn path_of(destination: &Path) -> PathBuf {
    let mut name = destination.as_os_str().to_owned();
    name.push(".wirespeed-journal");
    PathBuf::from(name)
}

impl Journal {
    /// Go on with the journal of `destination`, or begin one. `Ok(None)` in place of blocks: there was none.
    pub fn open(destination: &Path, subject: &Subject) -> io::Result<(Journal, Option<Done>)> {
        let path = path_of(destination);
        let there = path.exists();
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        let done = match there {
            true => Some(read(&mut file, subject)?),
            false => {
                file.write_all(first_line(subject)?.as_bytes())?;
                None
            }
        };
        let file = Mutex::new(file);
        Ok((Journal { path, file }, done))
    }

    /// A block is stored.
    pub fn note(&self, index: u64, digest: &[u8]) -> io::Result<()> {
        let line = format!("{index} {}\n", hex(digest));
        let mut file = self.file.lock();
        file.write_all(line.as_bytes())
    }

    /// Begin anew with the blocks that are right.
    pub fn rewrite(self, subject: &Subject, done: &Done) -> io::Result<()> {
        std::fs::remove_file(&self.path)?;
        let destination = self.path.with_extension("");
        let (journal, _) = Journal::open(&destination, subject)?;
        done.iter()
            .try_for_each(|(index, digest)| journal.note(*index, digest))
    }

    /// The transfer is whole: the journal goes.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// The blocks of a journal, which is then ready for the next line.
fn read(file: &mut File, subject: &Subject) -> io::Result<Done> {
    let mut bytes = Vec::new();
    (&*file).take(JOURNAL_BYTES_MAX).read_to_end(&mut bytes)?;
    let first = first_line(subject)?;
    if first.len() > bytes.len() && first.as_bytes().starts_with(&bytes) {
        // The kill came before the first line was whole, and so before any block.
        file.rewind()?;
        file.write_all(first.as_bytes())?;
        return Ok(Done::new());
    }
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let text = std::str::from_utf8(&bytes[..whole]).map_err(|_| "it is not text".to_owned());
    let done = text
        .and_then(|text| parse(text, subject))
        .map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
    // What was cut goes, so that the next line begins at a line's start.
    file.set_len(whole as u64)?;
    file.seek(io::SeekFrom::End(0))?;
    Ok(done)
}

/// The line that says what is transferred.
fn first_line(subject: &Subject) -> io::Result<String> {
    Ok(serde_json::to_string(subject)? + "\n")
}

fn parse(text: &str, subject: &Subject) -> Result<Done, String> {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let found: Subject =
        serde_json::from_slice(first.as_bytes()).map_err(|_| "it is not a journal".to_owned())?;
    if found != *subject {
        return Err(
            "it is of another transfer: address, size, block, digest or version of the resource differ, \
             or this machine was started anew"
                .to_owned(),
        );
    }
    let blocks = subject.total_bytes.div_ceil(subject.block_bytes.max(1));
    let mut done = Done::new();
    for line in lines {
        let entry = line.split_once(' ').and_then(|(index, digest)| {
            let index = index.parse::<u64>().ok().filter(|index| *index < blocks)?;
            Some((index, from_hex(digest)?))
        });
        let (index, digest) = entry.ok_or_else(|| "a line of it is damaged".to_owned())?;
        done.insert(index, digest);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        Subject {
            journal: 1,
            url: "http://a/b".into(),
            total_bytes: 100,
            block_bytes: 10,
            tag: Some("x".into()),
            digest: "crc32c".into(),
            boot: None,
        }
    }

    #[test]
    fn a_cut_line_does_not_count_and_strangers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let destination = folder.path().join("file");
        let (journal, done) = Journal::open(&destination, &subject()).unwrap();
        assert_eq!(done, None);
        journal.note(3, &[1, 2]).unwrap();
        journal.note(0, &[]).unwrap();
        drop(journal);
        let mut file = OpenOptions::new()
            .append(true)
            .open(path_of(&destination))
            .unwrap();
        file.write_all(b"9 ab").unwrap();
        let (journal, done) = Journal::open(&destination, &subject()).unwrap();
        assert_eq!(done, Some(Done::from([(0, vec![]), (3, vec![1, 2])])));
        journal.note(9, &[7]).unwrap();
        drop(journal);
        let (journal, done) = Journal::open(&destination, &subject()).unwrap();
        assert_eq!(done.unwrap().len(), 3);
        let other = Subject {
            total_bytes: 101,
            ..subject()
        };
        assert!(
            Journal::open(&destination, &other)
                .unwrap_err()
                .to_string()
                .contains("another transfer")
        );
        journal.note(10, &[7]).unwrap();
        assert!(
            Journal::open(&destination, &subject())
                .unwrap_err()
                .to_string()
                .contains("damaged")
        );
        journal.remove().unwrap();
        assert!(!path_of(&destination).exists());
    }

    #[test]
    fn a_first_line_that_was_cut_is_a_journal_without_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let destination = folder.path().join("file");
        let subject = Subject {
            tag: Some("\u{fffd}".into()),
            ..subject()
        };
        let line = first_line(&subject).unwrap();
        for cut in 0..line.len() {
            std::fs::write(path_of(&destination), &line.as_bytes()[..cut]).unwrap();
            let (journal, done) = Journal::open(&destination, &subject).unwrap();
            assert_eq!(done, Some(Done::new()));
            journal.note(3, &[1]).unwrap();
            drop(journal);
            let (_, done) = Journal::open(&destination, &subject).unwrap();
            assert_eq!(done, Some(Done::from([(3, vec![1])])), "cut after {cut} bytes");
        }
        for foreign in ["x", "{\"journal\":2"] {
            std::fs::write(path_of(&destination), foreign).unwrap();
            let refused = Journal::open(&destination, &subject).unwrap_err();
            assert!(refused.to_string().contains("not a journal"), "{foreign}");
            assert_eq!(std::fs::read(path_of(&destination)).unwrap(), foreign.as_bytes());
        }
    }
}
