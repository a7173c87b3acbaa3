//! What a device can do, as plain data, and the limits that follow for the user.

use crate::options::HEADER_BYTES;
use wirespeed::transport::{Atomics, ByLayout, Limits, SizeLimit};
use wirespeed_schema::case::GroupKind;

/// Most ranks: one number of UCX's active messages for each peer, of which it has 32.
const RANKS_MAX: u32 = 32;
/// Largest put or get here.
const RMA_BYTES_MAX: u64 = 4 << 30;

/// What kind of device it is, and so whom it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The own thread only.
    Loopback,
    /// Ranks of one machine.
    SharedMemory,
    /// Memory of an accelerator, on one machine.
    Accelerator,
    /// Other machines too.
    Network,
}

impl Kind {
    /// Whom it reaches, in a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Loopback => "loopback",
            Kind::SharedMemory => "shared memory",
            Kind::Accelerator => "accelerator",
            Kind::Network => "network",
        }
    }

    fn groups(self) -> &'static [GroupKind] {
        match self {
            Kind::Loopback => &[GroupKind::Threads],
            Kind::SharedMemory | Kind::Accelerator => &[GroupKind::Threads, GroupKind::Processes],
            Kind::Network => &[GroupKind::Threads, GroupKind::Processes, GroupKind::Hosts],
        }
    }
}

/// Sizes and pieces of zero-copy operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zcopy {
    /// Least bytes.
    pub min: u64,
    /// Most bytes.
    pub max: u64,
    /// Most pieces.
    pub pieces: usize,
}

/// What UCX says about a device: largest sizes with UCX's headers, `None` for what it cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caps {
    /// Active messages inlined by the call, header included.
    pub am_short: Option<u64>,
    /// Active messages packed by a callback, header included.
    pub am_bcopy: Option<u64>,
    /// Active messages from registered memory, header included.
    pub am_zcopy: Option<Zcopy>,
    /// Longest header of a zero-copy message.
    pub am_header: u64,
    /// Pieces of a gathered message.
    pub am_pieces: usize,
    /// Puts by layout.
    pub put_short: Option<u64>,
    /// Puts by layout.
    pub put_bcopy: Option<u64>,
    /// Puts by layout.
    pub put_zcopy: Option<Zcopy>,
    /// Gets by layout.
    pub get_bcopy: Option<u64>,
    /// Gets by layout.
    pub get_zcopy: Option<Zcopy>,
    /// Atomic operations.
    pub atomics: Atomics,
    /// Whether it takes memory of the CPU.
    pub host_memory: bool,
    /// Whether endpoints can be connected by addresses.
    pub connects: bool,
    /// UCX's own estimate of its latency.
    pub latency_ns: u64,
}

impl Caps {
    /// Whether it carries messages between ranks.
    pub fn has_messages(&self) -> bool {
        self.am_short.is_some() || self.am_bcopy.is_some()
    }

    /// Whether a control word can be written to a peer, without which no one-sided test can end.
    fn has_put(&self) -> bool {
        self.put_short.is_some() || self.put_bcopy.is_some() || self.put_zcopy.is_some()
    }

    /// Messages by layout, in `pieces` pieces behind a header of `header_bytes`.
    fn messages(&self, what: &str, pieces: usize, header_bytes: usize) -> ByLayout {
        let header = header_bytes as u64;
        let message = |size, layout: &str| simple(what, size, header, "active message", layout);
        let short = match header_bytes {
            HEADER_BYTES => message(self.am_short, "short"),
            _ => SizeLimit::never("a short message's header has 8 bytes: leave option header out"),
        };
        let zcopy = match self.am_zcopy {
            Some(_) if self.am_header < header => SizeLimit::lacks(format!(
                "UCX takes at most {} bytes of header of a zero-copy message on {what}, not {header}",
                self.am_header
            )),
            known => zcopy(what, known, pieces, header, "active message"),
        };
        let gathered = match self.am_short {
            Some(_) if pieces < self.am_pieces => message(self.am_short, "gathered short"),
            Some(_) => SizeLimit::lacks(format!(
                "UCX gathers at most {} pieces of a short message on {what}, the header included",
                self.am_pieces
            )),
            None => lacks(what, "active message", "short"),
        };
        [short, message(self.am_bcopy, "buffered"), zcopy, gathered]
    }

    /// What can be done with data in `pieces` pieces, behind a header of `header_bytes` in messages; `what` names the
    /// device in reasons.
    pub fn limits(&self, kind: Kind, what: &str, pieces: usize, header_bytes: usize) -> Limits {
        let messages = self.messages(what, pieces, header_bytes);
        let zcopy = |sizes, operation: &str| zcopy(what, sizes, pieces, 0, operation);
        let reason = |operation: &str, layout: &str| lacks(what, operation, layout);
        let of = |size, operation: &str, layout: &str| simple(what, size, 0, operation, layout);
        const ONLY_MESSAGES: SizeLimit = SizeLimit::never("only messages are gathered by a short send");
        let put = [
            of(self.put_short, "put", "short"),
            of(self.put_bcopy, "put", "buffered"),
            zcopy(self.put_zcopy, "put"),
            ONLY_MESSAGES,
        ];
        let mut get = [
            SizeLimit::never("a get has nothing to inline"),
            of(self.get_bcopy, "get", "buffered"),
            zcopy(self.get_zcopy, "get"),
            ONLY_MESSAGES,
        ];
        let mut atomics = self.atomics;
        if !self.has_put() {
            get = std::array::from_fn(|_| reason("put, which must end a test,", "kind of"));
            atomics = Atomics::NONE;
        }
        let tagged = messages[1].clone();
        let limits = Limits::of_messages(kind.groups(), messages)
            .with_tagged(tagged)
            .with_one_sided(put, get)
            .with_atomics(atomics)
            .with_ranks_max(if kind == Kind::Loopback { 1 } else { RANKS_MAX });
        match self.unusable(what) {
            Some(why) => nothing(&why, limits.groups, limits.ranks_max),
            None => limits,
        }
    }

    fn unusable(&self, what: &str) -> Option<String> {
        if !self.host_memory {
            return Some(format!("{what} does not take memory of the CPU"));
        }
        (!self.connects).then(|| format!("{what} cannot be connected by addresses"))
    }
}

fn lacks(what: &str, operation: &str, layout: &str) -> SizeLimit {
    SizeLimit::lacks(format!("UCX has no {layout} {operation} on {what}"))
}

/// Data of up to `size` bytes with their header.
fn simple(what: &str, size: Option<u64>, header: u64, operation: &str, layout: &str) -> SizeLimit {
    match size {
        Some(max) if max >= header => SizeLimit::UpTo((max - header).min(RMA_BYTES_MAX)),
        _ => lacks(what, operation, layout),
    }
}

/// Data from registered memory in `pieces` pieces.
fn zcopy(what: &str, sizes: Option<Zcopy>, pieces: usize, header: u64, operation: &str) -> SizeLimit {
    match sizes {
        Some(z) if z.max >= header && z.pieces < pieces => SizeLimit::lacks(format!(
            "UCX gathers at most {} pieces of a zero-copy {operation} on {what}, not {pieces}",
            z.pieces
        )),
        Some(z) if z.max >= header => {
            range(z.min.saturating_sub(header), (z.max - header).min(RMA_BYTES_MAX))
        }
        _ => lacks(what, operation, "zero-copy"),
    }
}

fn range(min: u64, max: u64) -> SizeLimit {
    if min == 0 {
        SizeLimit::UpTo(max)
    } else {
        SizeLimit::Between(min, max)
    }
}

/// Limits where nothing can be done at all.
pub fn nothing(why: &str, groups: &'static [GroupKind], ranks_max: u32) -> Limits {
    let lacks = || -> ByLayout { std::array::from_fn(|_| SizeLimit::lacks(why.to_owned())) };
    Limits::of_messages(groups, lacks())
        .with_tagged(SizeLimit::lacks(why.to_owned()))
        .with_one_sided(lacks(), lacks())
        .with_ranks_max(ranks_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps() -> Caps {
        Caps {
            am_short: Some(100),
            am_bcopy: Some(8256),
            am_zcopy: None,
            am_header: 0,
            am_pieces: 4,
            put_short: Some(u64::from(u32::MAX)),
            put_bcopy: Some(u64::MAX),
            put_zcopy: None,
            get_bcopy: Some(u64::MAX),
            get_zcopy: Some(Zcopy {
                min: 33,
                max: 4096,
                pieces: 2,
            }),
            atomics: Atomics::ALL,
            host_memory: true,
            connects: true,
            latency_ns: 80,
        }
    }

    #[test]
    fn limits_leave_room_for_the_header() {
        let limits = caps().limits(Kind::SharedMemory, "x/y", 1, 8);
        assert_eq!(limits.messages[0], SizeLimit::UpTo(92));
        assert_eq!(limits.messages[1], SizeLimit::UpTo(8248));
        assert_eq!(limits.messages[3], SizeLimit::UpTo(92));
        assert_eq!(limits.get[2], SizeLimit::Between(33, 4096));
        assert_eq!(limits.put[0].largest(), Some(u64::from(u32::MAX)));
        assert_eq!(limits.put[1].largest(), Some(RMA_BYTES_MAX));
        assert!(
            matches!(&limits.messages[2], SizeLimit::Lacks(why) if why.contains("zero-copy active message on x/y"))
        );
    }

    #[test]
    fn a_longer_header_takes_room_and_short_messages_have_none() {
        let mut caps = caps();
        caps.am_zcopy = Some(Zcopy {
            min: 0,
            max: 4096,
            pieces: 2,
        });
        caps.am_header = 100;
        let limits = caps.limits(Kind::Network, "x/y", 1, 64);
        assert_eq!(limits.messages[0].largest(), None);
        assert_eq!(limits.messages[1], SizeLimit::UpTo(8192));
        assert_eq!(limits.messages[2], SizeLimit::UpTo(4032));
        assert_eq!(limits.messages[3], SizeLimit::UpTo(36));
        let limits = caps.limits(Kind::Network, "x/y", 1, 101);
        assert!(matches!(&limits.messages[2], SizeLimit::Lacks(why) if why.contains("100 bytes of header")));
    }

    #[test]
    fn more_pieces_than_there_may_be_are_refused() {
        let limits = caps().limits(Kind::SharedMemory, "x/y", 4, 8);
        assert!(matches!(&limits.messages[3], SizeLimit::Lacks(why) if why.contains("at most 4 pieces")));
        assert!(matches!(&limits.get[2], SizeLimit::Lacks(why) if why.contains("at most 2 pieces")));
    }

    #[test]
    fn a_device_without_puts_has_no_one_sided_test() {
        let mut caps = caps();
        (caps.put_short, caps.put_bcopy) = (None, None);
        let limits = caps.limits(Kind::Network, "x/y", 1, 8);
        assert!(limits.get.iter().all(|l| l.largest().is_none()));
        assert_eq!(limits.atomics, Atomics::NONE);
    }

    #[test]
    fn memory_of_a_device_only_is_said() {
        let mut caps = caps();
        caps.host_memory = false;
        let limits = caps.limits(Kind::Accelerator, "x/y", 1, 8);
        assert!(matches!(&limits.messages[0], SizeLimit::Lacks(why) if why.contains("memory of the CPU")));
    }
}
