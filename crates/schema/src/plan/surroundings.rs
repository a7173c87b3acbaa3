//! What expansion asks of the machine and the registry, so that this crate needs to know neither.

use crate::case::{Case, GroupKind, TransportOptions};
use crate::test::Capability;

/// The facts on which defaults depend. Answers must not change during one expansion.
pub trait Surroundings {
    /// Names of the transports that there are.
    fn transports(&self) -> Vec<String>;

    /// Where ranks live, and how many, when the user says nothing; a transport's options may leave room for one only.
    fn default_group(&self, transport: &str, options: &TransportOptions) -> (GroupKind, usize);

    /// What processes of a transport are when the user asks for some.
    fn process_group(&self, _transport: &str) -> GroupKind {
        GroupKind::Processes
    }

    /// Whether this process is inside a launcher's job.
    fn is_in_job(&self) -> bool {
        false
    }

    /// Whether `transport` can do what tests with this capability need.
    fn has_capability(&self, _transport: &str, _capability: Capability) -> bool {
        true
    }

    /// Whether `transport` sends payloads from where they are: then no other layout is faster, at any size.
    fn sends_in_place(&self, _transport: &str) -> bool {
        false
    }

    /// Whether tagged messages are `transport`'s own and its active messages are made of them: friendly names mean the tests of
    /// tagged messages there.
    fn has_tags_first(&self, _transport: &str) -> bool {
        false
    }

    /// Whether `host` (with or without a port) is this machine, so that processes there can share memory with ours.
    fn is_this_machine(&self, host: &str) -> bool;

    /// CPUs that this process may use, ascending; empty when unknown.
    fn cpus_allowed(&self) -> Vec<u32>;

    /// CPUs for `ranks` ranks, on different cores where there are enough; `None` leaves a rank where the scheduler
    /// puts it.
    fn default_cpus(&self, ranks: usize) -> Vec<Option<u32>>;

    /// Memory that each of `ranks` ranks of a group must walk through so that its caches hold nothing else.
    fn cache_bytes(&self, group: GroupKind, ranks: usize) -> u64;

    /// Whether the case can run, as far as can be known without opening anything. Asked only to choose defaults.
    fn can_run(&self, case: &Case) -> bool;
}
