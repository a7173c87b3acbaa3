//! Options that both transports share: where the library is, how data are cut, how UCX is told to work.

use std::path::{Path, PathBuf};
use wirespeed::transport::Availability;
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::Facts;
use wirespeed_ucx_sys::{
    LoadError, Loaded, UCS_THREAD_MODE_MULTI, UCS_THREAD_MODE_SERIALIZED, UCS_THREAD_MODE_SINGLE, load,
    ucs_thread_mode_t,
};

/// Where the library is.
pub const UCX: OptionSpec = OptionSpec::new(
    "ucx",
    "PATH",
    "the UCX to load: its libucp.so.0, the folder of that, or the folder above (also $WIRESPEED_UCX)",
);

/// Into which pieces data are cut.
pub const IOV: OptionSpec = OptionSpec::new("iov", "COUNT|SIZE+..", "pieces from which data are gathered: how many of about one length, or their sizes (layouts shortiov and zcopy)").with_default("1");

/// How far pieces lie from each other.
pub const STRIDE: OptionSpec = OptionSpec::new(
    "stride",
    "BYTES",
    "distance in memory from the start of one piece of a message to the next; 0: they lie together",
)
.with_default("0");

/// The header of active messages.
pub const HEADER: OptionSpec = OptionSpec::new("header", "BYTES", "bytes of header before the data of each active message, 8 of them wirespeed's own (a short one has no more)").with_default("8");

/// Bytes of the engine's header, the least that a message has.
pub const HEADER_BYTES: usize = 8;
/// Longest copied data that UCP gets behind the engine's header, in one. A header of its own would lie behind the data, in a
/// line of memory more that the far end has to fetch.
pub const IN_FRONT_BYTES_MAX: usize = 4096;
/// Most bytes of header.
const HEADER_BYTES_MAX: u64 = 64 << 10;

/// The header that is asked for.
pub fn header_bytes(reader: &OptionReader) -> Result<usize, OptionError> {
    match reader.size(HEADER.name)?.unwrap_or(HEADER_BYTES as u64) {
        size @ 8..=HEADER_BYTES_MAX => Ok(size as usize),
        _ => Err(reader.refuse(
            HEADER.name,
            format!("a size from {HEADER_BYTES} to {HEADER_BYTES_MAX} bytes"),
        )),
    }
}

/// What a worker of UCX is told about threads. Each rank has its own in any case.
pub const THREAD_MODE: OptionSpec = OptionSpec::new(
    "thread_mode",
    "single|serialized|multi",
    "how a worker guards itself against other threads; there are none, so it shows what the guard costs",
)
.with_default("single");

/// Whether memory is registered at once.
pub const NONBLOCK: OptionSpec = OptionSpec::new(
    "nonblock",
    "no|yes",
    "yes: UCX may put off the registration of memory until it is used",
)
.with_default("no");

/// Whether the target of one-sided tests works for its peers.
pub const PASSIVE: OptionSpec = OptionSpec::new(
    "passive",
    "no|yes",
    "yes: the target of one-sided tests progresses once per 65,536 polls",
)
.with_default("no");

/// Polls of a passive target for one that makes progress: a transport that needs the target is slow, but ends.
pub const PASSIVE_POLLS: u32 = 1 << 16;

/// No or yes.
pub const NO_YES: [(&str, bool); 2] = [("no", false), ("yes", true)];

/// Values of [`THREAD_MODE`].
pub const THREAD_MODES: [(&str, ucs_thread_mode_t); 3] = [
    ("single", UCS_THREAD_MODE_SINGLE),
    ("serialized", UCS_THREAD_MODE_SERIALIZED),
    ("multi", UCS_THREAD_MODE_MULTI),
];

/// The word for a value of `choices`.
pub fn word<T: PartialEq + Copy>(choices: &[(&'static str, T)], value: T) -> String {
    let found = choices.iter().find(|(_, known)| *known == value);
    found.map_or("", |(word, _)| word).to_owned()
}

/// Most pieces.
pub const IOV_MAX: usize = 16;

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
