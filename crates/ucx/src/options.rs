//! Options that both transports share: where the library is.

use std::path::{Path, PathBuf};
use wirespeed::transport::Availability;
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::Facts;
use wirespeed_ucx_sys::{LoadError, Loaded, load};

/// Where the library is.
pub const UCX: OptionSpec = OptionSpec {
    name: "ucx",
    values: "PATH",
    default: "",
    help: "the UCX to load: its libucp.so.0, the folder of that, or the folder above (also $WIRESPEED_UCX)",
};

/// Into how many pieces data are cut.
pub const IOV: OptionSpec = OptionSpec {
    name: "iov",
    values: "COUNT",
    default: "1",
    help: "pieces from which data are gathered (layouts shortiov and zcopy)",
};

/// Most pieces.
pub const IOV_MAX: usize = 16;

/// The number of pieces that the options ask for.
pub fn pieces(reader: &OptionReader) -> Result<usize, OptionError> {
    match reader.count(IOV.name)? {
        None => Ok(1),
        Some(count) => usize::try_from(count)
            .ok()
            .filter(|count| (1..=IOV_MAX).contains(count))
            .ok_or_else(|| reader.refuse(IOV.name, format!("a count from 1 to {IOV_MAX}"))),
    }
}

/// The library that `place` names, or the one of this machine.
pub fn library(place: Option<&PathBuf>) -> Result<&'static Loaded, LoadError> {
    load(place.map(PathBuf::as_path).filter(|p| *p != Path::new("")))
}

/// Release and file of the library, where there is one.
pub fn about() -> Facts {
    let mut facts = Facts::new();
    if let Ok(loaded) = library(None) {
        facts.insert("ucx".to_owned(), loaded.version.to_string());
        facts.insert("ucx_library".to_owned(), loaded.path.display().to_string());
    }
    facts
}

/// Whether there is a library.
pub fn available(place: Option<&PathBuf>) -> Availability {
    match library(place) {
        Ok(_) => Availability::Ready,
        Err(why) => Availability::Missing(why.to_string()),
    }
}
