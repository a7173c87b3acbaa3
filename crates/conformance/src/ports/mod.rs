//! Suites on the ports of one transport, by capability, driven directly.

pub mod cold;
pub mod messages;
pub mod one_sided;
pub mod tagged;

use crate::report::Report;
use wirespeed::schema::case::TransportOptions;
use wirespeed::transport::{Messages, OneSided, Tagged};

/// All suites of a transport that has all capabilities.
pub fn all<T: Messages + Tagged + OneSided>(options: &TransportOptions) -> Vec<Report> {
    let mut reports = messages::messages::<T>(options);
    reports.extend(tagged::tagged::<T>(options));
    reports.extend(one_sided::one_sided::<T>(options));
    reports
}
