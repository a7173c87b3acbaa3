//! What expansion asks of the machine and the registry, so that this crate needs to know neither.

use crate::case::{Case, GroupKind};

/// The facts on which defaults depend. Answers must not change during one expansion.
pub trait Surroundings {
    /// Names of the transports that there are.
    fn transports(&self) -> Vec<String>;

    /// Where ranks live, and how many, when the user says nothing.
    fn default_group(&self, transport: &str) -> (GroupKind, usize);

    /// CPUs that this process may use, ascending; empty when unknown.
    fn cpus_allowed(&self) -> Vec<u32>;

    /// CPUs for `ranks` ranks, on different cores where there are enough; `None` leaves a rank where the scheduler
    /// puts it.
    fn default_cpus(&self, ranks: usize) -> Vec<Option<u32>>;

    /// Whether the case can run, as far as can be known without opening anything. Asked only to choose defaults.
    fn can_run(&self, case: &Case) -> bool;
}
