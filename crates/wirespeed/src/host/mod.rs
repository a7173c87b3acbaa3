//! The machine under the measurement: where a thread may run, what the machine is, what disturbed it.
//!
//! Reads `/proc`, `/sys` and the scheduler. It must never own a clock, print, or read secrets (environment, users).

mod affinity;
mod caches;
mod cgroup;
mod crash;
mod disturbance;
pub mod doctor;
mod error;
mod facts;
mod files;
mod fingerprint;
mod hypervisor;
mod memory;
mod noise;
mod offload;
pub(crate) mod topology;

pub use affinity::{
    PinGuard, allowed_cpus, default_cpus, format_cpu_list, parse_cpu_list, pin_thread, restrict_thread,
};
pub use caches::cache_bytes;
pub(crate) use cgroup::cpu_quotas;
pub use cgroup::{hierarchies, memberships};
pub use crash::tell_of_crashes;
pub use disturbance::Probe;
pub use error::HostError;
pub use facts::{boot_id, is_interface_name};
pub(crate) use fingerprint::recent_fingerprint;
pub use fingerprint::{FingerprintOptions, fingerprint};
pub(crate) use memory::begin_resident_max;
pub(crate) use memory::zeroed_bytes;
pub use memory::{available_bytes, of_process_bytes, resident_ever_bytes, resident_max_bytes};
pub use noise::scan;
pub(crate) use noise::work;
pub(crate) use topology::Topology;
