//! What a transport can do with given options: layouts, sizes, atomic operations, groups. Nothing is tried here.

use super::port::{AtomicOp, Width};
use std::borrow::Cow;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::kinds::Operation;
use wirespeed_schema::test::{Layout, Test};

/// Whether a layout can be used for an operation, and for which sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeLimit {
    /// Up to so many bytes.
    UpTo(u64),
    /// From the first to the second number of bytes.
    Between(u64, u64),
    /// Not at all, and why. The reason may come from a device: it is not always known beforehand.
    Lacks(Cow<'static, str>),
}

impl SizeLimit {
    /// Not at all, and why.
    pub fn lacks(why: impl Into<Cow<'static, str>>) -> Self {
        SizeLimit::Lacks(why.into())
    }

    /// Not at all, for a reason that is known beforehand.
    pub const fn never(why: &'static str) -> Self {
        SizeLimit::Lacks(Cow::Borrowed(why))
    }

    /// The largest size that is taken; `None` where none is.
    pub fn largest(&self) -> Option<u64> {
        match self {
            SizeLimit::UpTo(max) | SizeLimit::Between(_, max) => Some(*max),
            SizeLimit::Lacks(_) => None,
        }
    }
}

/// Limits by layout, indexed by `Layout as usize`.
pub type ByLayout = [SizeLimit; Layout::COUNT];

/// Why most transports have no layout `shortiov`.
pub const NO_SHORTIOV: SizeLimit =
    SizeLimit::never("its short sends take one piece, there is nothing to gather");

/// Atomic operations that a transport has, by width of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomics([u8; 2]);

impl Atomics {
    /// None of them.
    pub const NONE: Atomics = Atomics([0; 2]);
    /// All of them.
    pub const ALL: Atomics = Atomics([0xF; 2]);

    /// With one more.
    #[must_use]
    pub fn with(mut self, op: AtomicOp, width: Width) -> Self {
        self.0[width as usize] |= 1 << op as u8;
        self
    }

    /// Whether `op` on words of `width` is among them.
    pub fn has(self, op: AtomicOp, width: Width) -> bool {
        self.0[width as usize] & 1 << op as u8 != 0
    }
}

/// What a transport can do with given options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Active messages by layout.
    pub messages: ByLayout,
    /// Puts by layout.
    pub put: ByLayout,
    /// Gets by layout (`short` never: a get has nothing to inline).
    pub get: ByLayout,
    /// Atomic operations.
    pub atomics: Atomics,
    /// Tagged messages.
    pub tagged: SizeLimit,
    /// Kinds of groups that it works in.
    pub groups: &'static [GroupKind],
    /// Most ranks of one group.
    pub ranks_max: u32,
}

impl Limits {
    /// Messages of these sizes and nothing else, between any number of ranks in these kinds of groups.
    pub const fn of_messages(groups: &'static [GroupKind], messages: ByLayout) -> Self {
        const NONE: SizeLimit = SizeLimit::never("the transport has messages alone");
        Limits {
            messages,
            put: [NONE; Layout::COUNT],
            get: [NONE; Layout::COUNT],
            atomics: Atomics::NONE,
            tagged: NONE,
            groups,
            ranks_max: u32::MAX,
        }
    }

    /// With tagged messages of these sizes.
    #[must_use]
    pub fn with_tagged(mut self, tagged: SizeLimit) -> Self {
        self.tagged = tagged;
        self
    }

    /// With puts and gets of these sizes.
    #[must_use]
    pub fn with_one_sided(mut self, put: ByLayout, get: ByLayout) -> Self {
        (self.put, self.get) = (put, get);
        self
    }

    /// With these atomic operations.
    #[must_use]
    pub fn with_atomics(mut self, atomics: Atomics) -> Self {
        self.atomics = atomics;
        self
    }

    /// With at most so many ranks in a group.
    #[must_use]
    pub fn with_ranks_max(mut self, ranks: u32) -> Self {
        self.ranks_max = ranks;
        self
    }

    /// The limit that applies to `test`.
    pub fn of(&self, test: &Test) -> SizeLimit {
        let [short, bcopy, zcopy, shortiov] = self.by_layout(test);
        match test.layout().unwrap_or(Layout::Short) {
            Layout::Short => short,
            Layout::Bcopy => bcopy,
            Layout::Zcopy => zcopy,
            Layout::Shortiov => shortiov,
        }
    }

    /// Whether it works in groups of this kind. The ranks of a job are processes like others; whether they share a
    /// machine is for the one who knows the job to say.
    pub fn works_in(&self, group: GroupKind) -> bool {
        let between_processes = [GroupKind::Processes, GroupKind::Hosts];
        let is_process = || between_processes.iter().any(|kind| self.groups.contains(kind));
        self.groups.contains(&group) || group == GroupKind::Job && is_process()
    }

    /// The most that any layout takes of `test`; 0 when none does.
    pub fn largest_of(&self, test: &Test) -> u64 {
        let by_layout = self.by_layout(test);
        by_layout.iter().filter_map(SizeLimit::largest).max().unwrap_or(0)
    }

    fn by_layout(&self, test: &Test) -> ByLayout {
        let any = |limit: SizeLimit| std::array::from_fn(|_| limit.clone());
        match test.operation() {
            Operation::Message => self.messages.clone(),
            Operation::Tagged => any(self.tagged.clone()),
            Operation::Put => self.put.clone(),
            Operation::Get => self.get.clone(),
            Operation::Add => any(self.atomic(AtomicOp::Add, test)),
            Operation::FetchAdd => any(self.atomic(AtomicOp::FetchAdd, test)),
            Operation::Swap => any(self.atomic(AtomicOp::Swap, test)),
            Operation::CompareSwap => any(self.atomic(AtomicOp::CompareSwap, test)),
            // Windows of fixed size, whatever the block.
            Operation::Block => any(SizeLimit::UpTo(u64::MAX)),
        }
    }

    fn atomic(&self, op: AtomicOp, test: &Test) -> SizeLimit {
        let (width, bytes) = if test.size_bytes() == 4 {
            (Width::W4, 4)
        } else {
            (Width::W8, 8)
        };
        match self.atomics.has(op, width) {
            true => SizeLimit::UpTo(8),
            false => SizeLimit::lacks(format!(
                "there is no atomic {} on words of {bytes} bytes",
                op.name()
            )),
        }
    }
}
