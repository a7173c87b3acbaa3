//! Files that a user names to be read. It must never read more of one than what it should be may have: a device has no end.

use crate::errors::{Failure, exit};
use crate::file;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use wirespeed_schema::units::format_size;

/// The first bytes of a file; all where there are fewer.
pub fn beginning(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    beginning_of(file, path, most)
}

/// The first bytes of what is called `path`.
pub fn beginning_of(reader: impl Read, path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = reader.take(most).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| unreadable(path, &error))
}

/// All of a file that should be `what` (`plan file`) and have at most `bytes_max`.
pub fn whole(path: &Path, what: &str, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let bytes = beginning(path, bytes_max + 1)?;
    match bytes.len() as u64 > bytes_max {
        true => Err(Failure::usage(
            format!(
                "{} is longer than any {what} may be ({})",
                file::shown(path),
                format_size(bytes_max)
            ),
            "name another file, or split this one",
        )),
        false => Ok(bytes),
    }
}

/// As [`whole`], where it should be text.
pub fn text(path: &Path, what: &str, bytes_max: u64) -> Result<String, Failure> {
    String::from_utf8(whole(path, what, bytes_max)?)
        .map_err(|_| unreadable(path, &io::ErrorKind::InvalidData.into()))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure {
        code: exit::USAGE,
        ..Failure::file("read", path, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_to_its_bound_and_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(text(&path, "plan file", 4).unwrap(), "four");
        assert_eq!(beginning(&path, 2).unwrap(), b"fo");
        let long = text(&path, "plan file", 3).unwrap_err();
        assert!(
            long.cause.ends_with("is longer than any plan file may be (3 B)"),
            "{}",
            long.cause
        );
        assert!(whole(Path::new("/dev/zero"), "plan file", 1 << 20).is_err());
        std::fs::write(&path, [0xff]).unwrap();
        let binary = text(&path, "plan file", 3).unwrap_err();
        assert_eq!(
            (binary.code, binary.cause.contains("not text")),
            (exit::USAGE, true)
        );
    }
}
