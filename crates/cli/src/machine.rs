//! What expansion asks of this machine and of the registry.

use wirespeed::Registry;
use wirespeed::transport::{Availability, Limits};
use wirespeed_schema::case::{Case, GroupKind, TransportOptions};
use wirespeed_schema::plan::Surroundings;

/// The machine that the plan was given to, and the transports of this program.
pub struct Machine<'a> {
    registry: &'a Registry,
    cpus: Vec<u32>,
}

impl<'a> Machine<'a> {
    /// Look at the machine once.
    pub fn new(registry: &'a Registry) -> Self {
        Machine {
            registry,
            cpus: wirespeed::host::allowed_cpus(),
        }
    }

    /// What a transport can do with its default options; `None` when it is unknown.
    pub fn limits(&self, transport: &str) -> Option<Limits> {
        let entry = self.registry.find(transport)?;
        (entry.limits)(&TransportOptions::new()).ok()
    }

    /// Whether a transport can be used here at all; the reason when not.
    pub fn available(&self, transport: &str) -> Result<(), String> {
        match self.registry.find(transport).map(|entry| (entry.probe)()) {
            None => Err(format!("there is no transport {transport:?}")),
            Some(Availability::Ready) => Ok(()),
            Some(Availability::Missing(why) | Availability::NotPermitted(why)) => Err(why),
            Some(_) => Err("not available".to_owned()),
        }
    }
}

impl Surroundings for Machine<'_> {
    fn transports(&self) -> Vec<String> {
        let entries = self.registry.entries();
        entries.iter().map(|e| e.name.to_owned()).collect()
    }

    /// Two processes where the transport works between processes, else as many threads as it takes, up to two.
    fn default_group(&self, transport: &str) -> (GroupKind, usize) {
        let Some(limits) = self.limits(transport) else {
            return (GroupKind::Processes, 2);
        };
        let kind = match limits.groups {
            groups if groups.contains(&GroupKind::Processes) => GroupKind::Processes,
            _ => GroupKind::Threads,
        };
        (kind, limits.ranks_max.clamp(1, 2) as usize)
    }

    fn cpus_allowed(&self) -> Vec<u32> {
        self.cpus.clone()
    }

    fn default_cpus(&self, ranks: usize) -> Vec<Option<u32>> {
        match wirespeed::host::default_cpus(ranks) {
            Some(cpus) => cpus.into_iter().map(Some).collect(),
            None => vec![None; ranks],
        }
    }

    fn can_run(&self, case: &Case) -> bool {
        let entry = self.registry.find(&case.transport);
        entry.is_some_and(|entry| (entry.check)(case).is_ok())
    }
}
