//! Generic suites that hold a transport to the written contract of its ports, and to what its registry entry promises.
//!
//! A transport, of this workspace or a stranger's, runs [`messages`], [`tagged`] and [`one_sided`] on its type, and
//! [`measured`] on its registry entry; [`fields`] compares what the transports of a registry publish; [`run_all`] does what can be done for every entry of a registry. Every check is
//! reported as passed, failed, or skipped with the reason; nothing is passed over in silence.
//!
//! Suites must never time things: a deadline only turns a hang into a failure.

#![forbid(unsafe_code)]

mod fields;
mod group;
mod measured;
mod payload;
mod ports;
mod report;

pub use fields::fields;
pub use measured::measured;
pub use ports::messages::messages;
pub use ports::one_sided::one_sided;
pub use ports::tagged::tagged;
pub use report::{Report, Verdict, failures};

use wirespeed::Registry;
use wirespeed::schema::case::TransportOptions;
use wirespeed::transport::registry::Entry;
use wirespeed::transport::{Availability, Transport, inproc, null, shm, tcp, udp, unix};

/// Every check on every entry of `registry`: measured cases for all, port suites for the transports of the library. An
/// entry from outside is told to run the port suites on its type: the registry knows it by name only.
pub fn run_all(registry: &Registry) -> Vec<Report> {
    let mut reports = Vec::new();
    for entry in registry.entries() {
        reports.extend(run_entry(registry, entry));
    }
    reports.extend(fields(registry));
    reports
}

fn run_entry(registry: &Registry, entry: &Entry) -> Vec<Report> {
    match (entry.probe)() {
        Availability::Ready => {}
        Availability::Missing(why) | Availability::NotPermitted(why) => {
            return vec![Report::skipped(entry.name, "all", "probe", why)];
        }
        _ => {
            let why = "its probe gives an answer that this suite does not know".to_owned();
            return vec![Report::skipped(entry.name, "all", "probe", why)];
        }
    }
    let options = TransportOptions::new();
    let mut reports = match entry.name {
        null::Null::NAME => messages::<null::Null>(&options),
        inproc::Inproc::NAME => ports::all::<inproc::Inproc>(&options),
        shm::Shm::NAME => ports::all::<shm::Shm>(&options),
        unix::Unix::NAME => ports::all::<unix::Unix>(&options),
        tcp::Tcp::NAME => ports::all::<tcp::Tcp>(&options),
        udp::Udp::NAME => messages::<udp::Udp>(&options),
        _ => {
            let why =
                "the registry does not know its type; run messages::<T>, tagged::<T> and one_sided::<T>";
            vec![Report::skipped(entry.name, "ports", "all", why.to_owned())]
        }
    };
    reports.extend(measured(registry, entry.name, &options));
    reports
}
