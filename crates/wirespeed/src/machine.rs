//! What the expansion of a plan asks of this machine and of the registry.
//!
//! It must never open a port or connect: defaults are chosen from what can be read and probed.

use crate::transport::registry::Registry;
use crate::transport::{Availability, Limits, memory_obstacle};
use std::cell::RefCell;
use std::collections::BTreeMap;
use wirespeed_schema::case::{Case, GroupKind, TransportOptions};
use wirespeed_schema::job::JobSection;
use wirespeed_schema::plan::Surroundings;
use wirespeed_schema::test::Capability;

/// The machine that the plan was given to, and the transports of this program.
pub struct Machine<'a> {
    registry: &'a Registry,
    cpus: Vec<u32>,
    job: Option<&'a JobSection>,
    is_here: fn(&str) -> bool,
    /// Default CPUs by number of ranks: reading the topology again for every case of a sweep would take seconds.
    placed: RefCell<BTreeMap<usize, Vec<Option<u32>>>>,
    /// Memory that empties the caches, by ranks of a machine, for the same reason.
    cache_bytes: RefCell<BTreeMap<usize, u64>>,
}

impl<'a> Machine<'a> {
    /// Look at the machine once.
    pub fn new(registry: &'a Registry) -> Self {
        Machine {
            registry,
            cpus: crate::host::allowed_cpus(),
            job: None,
            is_here: |_| false,
            placed: RefCell::default(),
            cache_bytes: RefCell::default(),
        }
    }

    /// In a launcher's job, whose ranks are the group.
    #[must_use]
    pub fn in_job(mut self, job: Option<&'a JobSection>) -> Self {
        self.job = job;
        self
    }

    /// With a way to tell whether HOST or HOST:PORT is this machine; nobody knows without.
    #[must_use]
    pub fn with_addresses(mut self, is_here: fn(&str) -> bool) -> Self {
        self.is_here = is_here;
        self
    }

    /// What a transport can do with these options; `None` when it or one of them is unknown.
    pub fn limits(&self, transport: &str, options: &TransportOptions) -> Option<Limits> {
        let entry = self.registry.find(transport)?;
        (entry.limits)(options).ok()
    }

    /// Why the job that this process is in cannot carry a case.
    pub fn job_obstacle(&self, case: &Case) -> Option<String> {
        let limits = self.limits(&case.transport, &case.options)?;
        let nodes = self.job.map_or(1, |job| job.nodes.len());
        let far = [GroupKind::Job, GroupKind::Hosts];
        let reaches = far.iter().any(|kind| limits.groups.contains(kind));
        if case.group == GroupKind::Job && nodes > 1 && !reaches {
            return Some(format!(
                "it does not reach from node to node, and the job has {nodes} nodes"
            ));
        }
        memory_obstacle(case, self.local_ranks(case.group, case.ranks.len()))
    }

    /// The most ranks of a group that share a machine.
    fn local_ranks(&self, group: GroupKind, ranks: usize) -> usize {
        match (group, self.job) {
            (GroupKind::Job, Some(job)) => job.ranks_of_fullest_node(),
            (GroupKind::Hosts, _) => ranks.div_ceil(2),
            _ => ranks,
        }
    }

    /// Whether a transport can be used here at all; the reason when not.
    pub fn available(&self, transport: &str) -> Result<(), String> {
        match self.registry.find(transport).map(|entry| (entry.probe)()) {
            None => Err(format!("there is no transport {transport:?}")),
            Some(Availability::Ready) => Ok(()),
            Some(Availability::Missing(why) | Availability::NotPermitted(why)) => Err(why),
        }
    }
}

impl Surroundings for Machine<'_> {
    fn transports(&self) -> Vec<String> {
        let entries = self.registry.entries();
        entries.iter().map(|e| e.name.to_owned()).collect()
    }

    /// Two processes where the transport works between processes, else as many threads as it takes, up to two.
    /// In a job: its ranks.
    fn default_group(&self, transport: &str, options: &TransportOptions) -> (GroupKind, usize) {
        let Some(limits) = self.limits(transport, options) else {
            return (GroupKind::Processes, 2);
        };
        if let Some(job) = self.job
            && limits.works_in(GroupKind::Job)
        {
            return (GroupKind::Job, job.ranks.len());
        }
        let kind = match limits.groups {
            groups if groups.contains(&GroupKind::Processes) => GroupKind::Processes,
            groups if groups.contains(&GroupKind::Job) => GroupKind::Job,
            groups if groups == [GroupKind::Hosts] => GroupKind::Hosts,
            _ => GroupKind::Threads,
        };
        (kind, limits.ranks_max.clamp(1, 2) as usize)
    }

    fn process_group(&self, transport: &str) -> GroupKind {
        match self.limits(transport, &TransportOptions::new()) {
            Some(limits) if limits.groups.contains(&GroupKind::Processes) => GroupKind::Processes,
            Some(limits) if limits.groups.contains(&GroupKind::Job) => GroupKind::Job,
            _ => GroupKind::Processes,
        }
    }

    fn is_in_job(&self) -> bool {
        self.job.is_some()
    }

    fn has_capability(&self, transport: &str, capability: Capability) -> bool {
        let entry = self.registry.find(transport);
        entry.is_some_and(|entry| entry.runner(capability).is_some())
    }

    fn sends_in_place(&self, transport: &str) -> bool {
        self.registry.find(transport).is_some_and(|entry| entry.in_place)
    }

    fn has_tags_first(&self, transport: &str) -> bool {
        self.registry
            .find(transport)
            .is_some_and(|entry| entry.tags_first)
    }

    fn is_this_machine(&self, host: &str) -> bool {
        (self.is_here)(host)
    }

    fn cpus_allowed(&self) -> Vec<u32> {
        self.cpus.clone()
    }

    fn default_cpus(&self, ranks: usize) -> Vec<Option<u32>> {
        let place = || match crate::host::default_cpus(ranks) {
            Some(cpus) => cpus.into_iter().map(Some).collect(),
            None => vec![None; ranks],
        };
        self.placed
            .borrow_mut()
            .entry(ranks)
            .or_insert_with(place)
            .clone()
    }

    fn cache_bytes(&self, group: GroupKind, ranks: usize) -> u64 {
        let local = self.local_ranks(group, ranks);
        let mut known = self.cache_bytes.borrow_mut();
        *known
            .entry(local)
            .or_insert_with(|| crate::host::cache_bytes(local))
    }

    fn can_run(&self, case: &Case) -> bool {
        let entry = self.registry.find(&case.transport);
        entry.is_some_and(|entry| (entry.check)(case).is_ok()) && self.job_obstacle(case).is_none()
    }
}
