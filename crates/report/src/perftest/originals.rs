//! The original's tests: what each is called there, what it is here, and how the original speaks of it.

use wirespeed_schema::{Case, units};

/// Which layer of UCX a test is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// The transport layer.
    Uct,
    /// The protocol layer.
    Ucp,
}

/// A test of the original.
#[derive(Debug, PartialEq, Eq)]
pub struct Original {
    /// Its name there.
    pub name: &'static str,
    /// Its layer.
    pub api: Api,
    /// The test of ours that it is.
    pub test: &'static str,
    /// Options of transport `ucp` that make it that one.
    pub options: &'static [(&'static str, &'static str)],
    /// How the original describes it.
    pub description: &'static str,
    /// Whether the column of times is titled latency there, and not overhead.
    pub latency: bool,
    /// Operations outstanding when nobody says.
    pub outstanding: u64,
}

/// The header of active messages, where nobody asks for another one.
pub const HEADER_BYTES: u64 = 8;

/// Bytes of the header of a case's active messages, where it has some.
pub(super) fn header_of(case: &Case) -> u64 {
    let asked = case.options.get("header");
    asked
        .and_then(|text| units::parse_size(text).ok())
        .unwrap_or(HEADER_BYTES)
}

impl Original {
    /// Whether it sends active messages, which have a header.
    pub fn has_header(&self) -> bool {
        self.test.starts_with("am_")
    }

    /// Whether the original counts the header as part of a message's size, and wirespeed does not: in active messages of
    /// the transport layer.
    pub fn counts_header(&self) -> bool {
        self.api == Api::Uct && self.has_header()
    }

    /// The size of a message of `case` as the original counts it, in bytes.
    pub fn size_bytes(&self, case: &Case) -> u64 {
        let header = if self.counts_header() { header_of(case) } else { 0 };
        case.test.size_bytes().saturating_add(header)
    }

    /// The payload of a message of `size_bytes` as the original counts them, whose header has `header_bytes`; none where the
    /// header would be longer than the message.
    pub fn payload_bytes(&self, size_bytes: u64, header_bytes: u64) -> Option<u64> {
        let counted = if self.counts_header() { header_bytes } else { 0 };
        size_bytes.checked_sub(counted)
    }
}

const fn uct(name: &'static str, description: &'static str, latency: bool, outstanding: u64) -> Original {
    Original {
        name,
        api: Api::Uct,
        test: name,
        options: &[],
        description,
        latency,
        outstanding,
    }
}

const fn ucp(
    name: &'static str,
    test: &'static str,
    description: &'static str,
    latency: bool,
    outstanding: u64,
) -> Original {
    Original {
        name,
        api: Api::Ucp,
        test,
        options: &[],
        description,
        latency,
        outstanding,
    }
}

const fn with(original: Original, options: &'static [(&'static str, &'static str)]) -> Original {
    Original { options, ..original }
}

const SYNC: &[(&str, &str)] = &[("sync", "yes")];
const STREAM: &[(&str, &str)] = &[("stream", "recv")];

/// All of them in the original's order, then those that it lacks: both directions at once.
pub const ORIGINALS: [Original; 28] = [
    uct("am_lat", "active message latency", true, 1),
    uct("put_lat", "put latency", true, 1),
    uct("add_lat", "atomic add latency", true, 1),
    uct("get", "get latency / bandwidth / message rate", true, 1),
    uct("fadd", "atomic fetch-and-add latency / rate", true, 1),
    uct("swap", "atomic swap latency / rate", true, 1),
    uct("cswap", "atomic compare-and-swap latency / rate", true, 1),
    uct("am_bw", "active message bandwidth / message rate", false, 1),
    uct("put_bw", "put bandwidth / message rate", false, 32),
    uct("get_bw", "get bandwidth / message rate", false, 32),
    uct("add_mr", "atomic add message rate", false, 1),
    ucp("tag_lat", "tag_lat", "tag match latency", true, 1),
    ucp("tag_bw", "tag_bw", "tag match bandwidth", false, 32),
    with(
        ucp("tag_sync_lat", "tag_lat", "tag sync match latency", true, 1),
        SYNC,
    ),
    with(
        ucp("tag_sync_bw", "tag_bw", "tag sync match bandwidth", false, 32),
        SYNC,
    ),
    ucp("ucp_put_lat", "put_lat", "put latency", true, 1),
    ucp("ucp_put_bw", "put_bw", "put bandwidth", false, 32),
    ucp(
        "ucp_get",
        "get",
        "get latency / bandwidth / message rate",
        true,
        1,
    ),
    ucp(
        "ucp_add",
        "add_mr",
        "atomic add bandwidth / message rate",
        false,
        1,
    ),
    ucp(
        "ucp_fadd",
        "fadd",
        "atomic fetch-and-add latency / bandwidth / rate",
        true,
        1,
    ),
    ucp(
        "ucp_swap",
        "swap",
        "atomic swap latency / bandwidth / rate",
        true,
        1,
    ),
    ucp(
        "ucp_cswap",
        "cswap",
        "atomic compare-and-swap latency / bandwidth / rate",
        true,
        1,
    ),
    // One send at a time there, which is done when it is copied; here a window ends with an answer of the receiver.
    with(ucp("stream_bw", "tag_bw", "stream bandwidth", false, 32), STREAM),
    with(ucp("stream_lat", "tag_lat", "stream latency", true, 1), STREAM),
    ucp("ucp_am_lat", "am_lat", "am latency", true, 1),
    ucp("ucp_am_bw", "am_bw", "am bandwidth / message rate", false, 32),
    uct(
        "am_bibw",
        "active message bandwidth / message rate, both directions",
        false,
        1,
    ),
    ucp(
        "ucp_am_bibw",
        "am_bibw",
        "am bandwidth / message rate, both directions",
        false,
        32,
    ),
];

/// The test that the original calls `name`.
pub fn original(name: &str) -> Option<&'static Original> {
    ORIGINALS.iter().find(|original| original.name == name)
}

/// The original's test that `case` is; the plainest where several are.
pub fn original_of(case: &Case) -> Option<&'static Original> {
    let is_ucp = case.transport == "ucp" || case.test.name().starts_with("tag_");
    let api = if is_ucp { Api::Ucp } else { Api::Uct };
    let has = |options: &[(&str, &str)]| {
        let is_given = |name: &str, value: &str| {
            let given = case.options.get(name).map(String::as_str);
            // However a stream is received, it is the test of streams.
            given == Some(value) || name == "stream" && given == Some("data")
        };
        options.iter().all(|(name, value)| is_given(name, value))
    };
    ORIGINALS
        .iter()
        .filter(|original| original.api == api && original.test == case.test.name() && has(original.options))
        .max_by_key(|original| original.options.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_exists_here_under_one_name_only() {
        for (index, original) in ORIGINALS.iter().enumerate() {
            assert!(
                wirespeed_schema::kinds::kind(original.test).is_some(),
                "{}",
                original.name
            );
            assert!(ORIGINALS[..index].iter().all(|other| other.name != original.name));
        }
    }
}
