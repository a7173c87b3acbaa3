//! Data of one request until all of it is understood. Memory never holds more than a window of them.

use super::files::Root;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes held, and copied at once.
const WINDOW_BYTES: usize = 256 << 10;

/// Data of one request until all of it is understood: little in memory, much in a file without a name.
#[derive(Default)]
pub(super) struct Spool {
    held: Vec<u8>,
    file: Option<File>,
    /// Bytes in it.
    pub bytes: u64,
}

impl Spool {
    /// Take a piece; no more than `bytes_max` in all.
    pub fn put(&mut self, root: &Root, piece: &[u8], bytes_max: u64) -> io::Result<()> {
        if piece.len() as u64 > bytes_max.saturating_sub(self.bytes) {
            let why = "more data than this service takes at once";
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, why));
        }
        if self.held.len() + piece.len() > WINDOW_BYTES {
            self.flush(root)?;
        }
        self.held.extend_from_slice(piece);
        self.bytes += piece.len() as u64;
        Ok(())
    }

    fn flush(&mut self, root: &Root) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(root.nameless()?),
        };
        let at = self.bytes - self.held.len() as u64;
        file.write_all_at(&self.held, at)?;
        self.held.clear();
        Ok(())
    }

    /// Hand everything on, in order; it can be asked for again.
    pub fn copy<E: From<io::Error>>(&self, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if let Some(file) = &self.file {
            each_window(file, self.bytes - self.held.len() as u64, &mut sink)?;
        }
        match self.held.is_empty() {
            true => Ok(()),
            false => sink(&self.held),
        }
    }
}

/// Hand on the first `total_bytes` of a file in windows; an error when it ends before.
pub(super) fn each_window<E: From<io::Error>>(
    file: &impl FileExt,
    total_bytes: u64,
    mut sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut window, mut at) = (vec![0; WINDOW_BYTES], 0);
    while at < total_bytes {
        let want = window
            .len()
            .min(usize::try_from(total_bytes - at).unwrap_or(usize::MAX));
        file.read_exact_at(&mut window[..want], at)
            .map_err(|error| match error.kind() {
                // As it stands it would be taken for the end of the connection.
                io::ErrorKind::UnexpectedEof => io::Error::other("the data became shorter meanwhile"),
                _ => error,
            })?;
        sink(&window[..want])?;
        at += want as u64;
    }
    Ok(())
}

#[cfg(test)]
impl Spool {
    /// One whose file ends before what it says it has.
    pub fn torn(there: File, bytes: u64) -> Spool {
        Spool {
            held: Vec::new(),
            file: Some(there),
            bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spool_gives_back_what_it_took() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        let mut spool = Spool::default();
        let data: Vec<u8> = (0..700_001u32).map(|n| ((n * 7) >> 3) as u8).collect();
        for piece in data.chunks(100_003) {
            spool.put(&root, piece, 1 << 20).unwrap();
        }
        assert!(spool.put(&root, &data, 1 << 20).is_err());
        for _ in 0..2 {
            let mut found = Vec::new();
            spool
                .copy(|piece| {
                    found.extend_from_slice(piece);
                    io::Result::Ok(())
                })
                .unwrap();
            assert!(found == data);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
