//! A file of zeros to serve where the path is measured, not the disk: sparse, and in the page cache before anybody asks.

use crate::errors::Failure;
use crate::file::text_or;
use std::fs::File;
use std::io;
use tempfile::TempDir;

/// The file's name below its folder.
pub const NAME: &str = "file";

/// A folder with a file of `size_bytes`; it is gone when dropped.
pub struct Served {
    folder: TempDir,
}

impl Served {
    /// Make it, and bring it into memory. A service that takes pages in while it sends falls behind the wire whenever the
    /// kernel reads ahead, even where the pages are nothing but holes.
    pub fn warm(size_bytes: u64) -> Result<Served, Failure> {
        let made = || {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join(NAME);
            File::create(&path)?.set_len(size_bytes)?;
            io::copy(&mut File::open(&path)?, &mut io::sink())?;
            Ok(Served { folder })
        };
        made().map_err(failed)
    }

    /// The folder, as other programs are given it.
    pub fn folder(&self) -> Result<String, Failure> {
        text_or(self.folder.path(), "point TMPDIR to a folder whose path is UTF-8")
    }
}

fn failed(error: io::Error) -> Failure {
    Failure::failed(
        format!("cannot make the file to serve: {error}"),
        "point TMPDIR to a folder with room",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn it_is_as_long_as_asked_for_and_gone_at_the_end() {
        let served = Served::warm(3 << 20).unwrap();
        let path = Path::new(&served.folder().unwrap()).join(NAME);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 3 << 20);
        drop(served);
        assert!(!path.exists());
    }
}
