//! Versions of the three contracts: the run document, the control protocol and the command line.

/// Version of the run document. Minor: fields added. Major: a field changed its meaning or went away.
///
/// 1.1 added `convergence` and `resampled` of a case and the sections of comparisons, sweeps and load curves.
/// 1.2 added `step_ns` of a histogram. 1.3 added `step_found` and `on_step_ratio` of the clock, and `lacking` of an outcome.
/// 1.4 lets `idle` of a case be absent: its outcomes have what each rank did. 1.5 added `rail` of a case,
/// 1.6 its `to`, `received_before_msgs` and `began_ns` of an outcome, `under` and `arm` of a result, `left_out_count` of a
/// mesh's pair and `remedy` of a transfer and of its pair, and lets `bandwidth_bytes_per_s` of a transfer be absent where
/// nothing moved. 1.7 added `cut_short` of a result.
pub const DOCUMENT_VERSION: &str = "1.7";

/// Newest control protocol that this build speaks. 2: ranks exchange where they may run before they connect. 3: a rank without a
/// part leaves. 4: a rank is told of its circle alone.
pub const PROTOCOL_VERSION: u32 = 4;

/// Oldest control protocol that this build still speaks.
pub const PROTOCOL_VERSION_MIN: u32 = 4;

/// Whether a document of `version` ("major.minor") can be read by this build: same major version.
pub fn document_is_readable(version: &str) -> bool {
    let major = |v: &str| v.split('.').next().and_then(|m| m.parse::<u32>().ok());
    match (major(version), major(DOCUMENT_VERSION)) {
        (Some(theirs), Some(ours)) => theirs == ours,
        _ => false,
    }
}

/// Whether a document of `version` may hold what this build does not know: same major version, larger minor one.
pub fn document_is_newer(version: &str) -> bool {
    let minor = |v: &str| v.split('.').nth(1).and_then(|m| m.parse::<u32>().ok());
    document_is_readable(version) && minor(version) > minor(DOCUMENT_VERSION)
}

/// The protocol version that both ends speak: the newest of the overlap, or `None`.
pub fn agree_protocol(theirs_min: u32, theirs_max: u32) -> Option<u32> {
    let newest = theirs_max.min(PROTOCOL_VERSION);
    (newest >= theirs_min && newest >= PROTOCOL_VERSION_MIN).then_some(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_agree_on_the_newest_common_one() {
        assert_eq!(agree_protocol(1, 7), Some(PROTOCOL_VERSION));
        assert_eq!(agree_protocol(1, PROTOCOL_VERSION_MIN - 1), None);
        assert_eq!(agree_protocol(PROTOCOL_VERSION + 1, PROTOCOL_VERSION + 2), None);
        assert!(document_is_readable("1.99"));
        assert!(!document_is_readable("2.0"));
        assert!(document_is_newer("1.99") && !document_is_newer(DOCUMENT_VERSION));
        assert!(!document_is_newer("1.0") && !document_is_newer("2.9") && !document_is_newer("1"));
        assert!(!document_is_readable("one"));
    }
}
