//! The list of every figure that can be published: the single source for assembly, CSV columns and docs/metrics.md.
//!
//! A tag ends with its unit. A figure that is not listed here must never enter a document's `metrics`.

/// One publishable figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// The key in `metrics`.
    pub name: &'static str,
    /// How it is taken over repetitions.
    pub over_runs: OverRuns,
    /// Whether it carries an interval, so that CSV has columns for it.
    pub interval: bool,
}

/// How a case's figure follows from its repetitions'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverRuns {
    /// The median of the repetitions' values.
    Median,
    /// The smallest value of all.
    Least,
    /// The largest value of all.
    Greatest,
    /// Computed anew from the sums of all repetitions' counts.
    Pooled,
    /// Exists for a case only.
    CaseOnly,
}

const fn figure(name: &'static str) -> Tag {
    Tag {
        name,
        over_runs: OverRuns::Median,
        interval: true,
    }
}

const fn plain(name: &'static str, over_runs: OverRuns) -> Tag {
    Tag {
        name,
        over_runs,
        interval: false,
    }
}

/// Every figure, in the order of CSV columns and of docs/metrics.md.
pub const ALL: &[Tag] = &[
    figure("rtt_p50_ns"),
    figure("rtt_p90_ns"),
    figure("rtt_p99_ns"),
    figure("rtt_p999_ns"),
    figure("rtt_p9999_ns"),
    plain("rtt_min_ns", OverRuns::Least),
    plain("rtt_max_ns", OverRuns::Greatest),
    figure("rtt_mean_ns"),
    plain("rtt_sd_ns", OverRuns::Median),
    figure("one_way_p50_ns"),
    figure("one_way_p90_ns"),
    figure("one_way_p99_ns"),
    figure("one_way_p999_ns"),
    figure("one_way_p9999_ns"),
    plain("one_way_min_ns", OverRuns::Least),
    plain("one_way_max_ns", OverRuns::Greatest),
    figure("one_way_mean_ns"),
    figure("completion_p50_ns"),
    figure("completion_p90_ns"),
    figure("completion_p99_ns"),
    figure("completion_p999_ns"),
    figure("completion_p9999_ns"),
    plain("completion_min_ns", OverRuns::Least),
    plain("completion_max_ns", OverRuns::Greatest),
    figure("completion_mean_ns"),
    plain("completion_sd_ns", OverRuns::Median),
    figure("ack_p50_ns"),
    figure("ack_p90_ns"),
    figure("ack_p99_ns"),
    plain("ack_max_ns", OverRuns::Greatest),
    plain("ack_mean_ns", OverRuns::Median),
    figure("response_p50_ns"),
    figure("response_p90_ns"),
    figure("response_p99_ns"),
    figure("response_p999_ns"),
    plain("response_max_ns", OverRuns::Greatest),
    figure("response_mean_ns"),
    figure("send_interval_p50_ns"),
    figure("send_interval_p99_ns"),
    plain("send_interval_max_ns", OverRuns::Greatest),
    figure("receive_interval_p50_ns"),
    figure("receive_interval_p99_ns"),
    plain("receive_interval_max_ns", OverRuns::Greatest),
    figure("iteration_p50_ns"),
    figure("iteration_p90_ns"),
    plain("iteration_min_ns", OverRuns::Least),
    plain("iteration_max_ns", OverRuns::Greatest),
    figure("iteration_mean_ns"),
    figure("slowest_iteration_p50_ns"),
    figure("slowest_iteration_p90_ns"),
    plain("slowest_iteration_min_ns", OverRuns::Least),
    plain("slowest_iteration_max_ns", OverRuns::Greatest),
    figure("slowest_iteration_mean_ns"),
    figure("rate_msg_per_s"),
    figure("bandwidth_bytes_per_s"),
    figure("sender_rate_msg_per_s"),
    figure("sender_bandwidth_bytes_per_s"),
    figure("receiver_rate_msg_per_s"),
    figure("receiver_bandwidth_bytes_per_s"),
    figure("forward_rate_msg_per_s"),
    figure("forward_bandwidth_bytes_per_s"),
    figure("backward_rate_msg_per_s"),
    figure("backward_bandwidth_bytes_per_s"),
    figure("rank_rate_msg_per_s"),
    figure("slowest_rank_rate_msg_per_s"),
    figure("fastest_rank_rate_msg_per_s"),
    figure("node_rate_msg_per_s"),
    figure("classic_rate_msg_per_s"),
    figure("classic_bandwidth_bytes_per_s"),
    figure("classic_latency_ns"),
    plain("loss_ratio", OverRuns::Pooled),
    plain("reorder_ratio", OverRuns::Pooled),
    plain("duplicate_ratio", OverRuns::Pooled),
    plain("first_operation_ns", OverRuns::Median),
    plain("connect_ns", OverRuns::Median),
    plain("lookup_ns", OverRuns::Median),
    plain("verify_ns", OverRuns::Median),
    plain("tcp_rtt_ns", OverRuns::Median),
    plain("tcp_min_rtt_ns", OverRuns::Least),
    plain("retransmitted_ratio", OverRuns::Median),
    plain("wire_ratio", OverRuns::Median),
    plain("nominal_ratio", OverRuns::Median),
    plain("ceiling_ratio", OverRuns::Median),
    plain("setup_ns", OverRuns::Median),
    plain("cpu_ns_per_message", OverRuns::Median),
    plain("in_flight_mean_msgs", OverRuns::Median),
    plain("within_run_spread_ratio", OverRuns::Median),
    plain("effective_samples_ratio", OverRuns::Median),
    plain("rtt_p50_trimmed_mean_ns", OverRuns::CaseOnly),
    plain("rtt_p50_between_runs_ratio", OverRuns::CaseOnly),
    plain("completion_p50_trimmed_mean_ns", OverRuns::CaseOnly),
    plain("completion_p50_between_runs_ratio", OverRuns::CaseOnly),
    plain("rate_trimmed_mean_msg_per_s", OverRuns::CaseOnly),
    plain("rate_between_runs_ratio", OverRuns::CaseOnly),
    plain("bandwidth_trimmed_mean_bytes_per_s", OverRuns::CaseOnly),
    plain("bandwidth_between_runs_ratio", OverRuns::CaseOnly),
    plain("delivered_msgs", OverRuns::Median),
];

/// The tag called `name`.
pub fn find(name: &str) -> Option<&'static Tag> {
    ALL.iter().find(|tag| tag.name == name)
}

/// A headline: its tag, and the tags of its trimmed mean and of its spread between runs.
pub const HEADLINES: [(&str, &str, &str); 4] = [
    (
        "rtt_p50_ns",
        "rtt_p50_trimmed_mean_ns",
        "rtt_p50_between_runs_ratio",
    ),
    (
        "completion_p50_ns",
        "completion_p50_trimmed_mean_ns",
        "completion_p50_between_runs_ratio",
    ),
    (
        "rate_msg_per_s",
        "rate_trimmed_mean_msg_per_s",
        "rate_between_runs_ratio",
    ),
    (
        "bandwidth_bytes_per_s",
        "bandwidth_trimmed_mean_bytes_per_s",
        "bandwidth_between_runs_ratio",
    ),
];

/// `tag` with `part` (`lower`, `upper`) before its unit: `rtt_p50_lower_ns`.
pub fn with_part(tag: &str, part: &str) -> String {
    let (stem, unit) = split(tag);
    format!("{stem}_{part}{unit}")
}

/// The name of the column for the confidence level of `tag`: `rtt_p50_level`.
pub fn level_column(tag: &str) -> String {
    format!("{}_level", split(tag).0)
}

/// `tag` without its unit, and the unit.
fn split(tag: &str) -> (&str, &'static str) {
    let units = ["_ns", "_msg_per_s", "_bytes_per_s", "_ratio"].into_iter();
    let mut known = units.filter_map(|unit| Some((tag.strip_suffix(unit)?, unit)));
    known.next().unwrap_or((tag, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text between backquotes that looks like a figure: lower case with a unit at its end.
    fn tags_in(document: &str) -> Vec<&str> {
        document
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .filter_map(|rest| rest.split('`').next())
            .collect()
    }

    #[test]
    fn every_tag_stands_in_the_documentation_and_nothing_else_does() {
        let documented = tags_in(include_str!("../../../docs/metrics.md"));
        for tag in ALL {
            let rows = documented.iter().filter(|name| **name == tag.name).count();
            assert_eq!(rows, 1, "docs/metrics.md has {rows} rows for {}", tag.name);
        }
        for name in documented {
            assert!(
                find(name).is_some(),
                "docs/metrics.md has {name}, which is never published"
            );
        }
    }

    #[test]
    fn tags_are_unique_and_end_with_a_unit() {
        for (index, tag) in ALL.iter().enumerate() {
            assert!(
                ALL[..index].iter().all(|other| other.name != tag.name),
                "{}",
                tag.name
            );
            let units = ["_ns", "_per_s", "_ratio", "_msgs", "_per_message"];
            assert!(units.iter().any(|unit| tag.name.ends_with(unit)), "{}", tag.name);
        }
        for (headline, trimmed, spread) in HEADLINES {
            assert!(
                [headline, trimmed, spread]
                    .iter()
                    .all(|name| find(name).is_some())
            );
        }
    }

    #[test]
    fn parts_go_before_the_unit() {
        assert_eq!(with_part("rtt_p50_ns", "lower"), "rtt_p50_lower_ns");
        assert_eq!(with_part("rate_msg_per_s", "upper"), "rate_upper_msg_per_s");
        assert_eq!(level_column("bandwidth_bytes_per_s"), "bandwidth_level");
    }
}
