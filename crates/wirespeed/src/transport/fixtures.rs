//! What tests of the transports' own parts need around them. It must never be built into the library.

use wirespeed_schema::case::{Case, GroupKind, IdlePolicy, Stop, TransportOptions};
use wirespeed_schema::test::{Layout, PingPong, Test};

/// The least that can be measured, without ranks: a test changes what it is about.
pub(crate) fn case() -> Case {
    Case {
        test: Test::AmLat(PingPong::new(8, Layout::Short)),
        transport: "any".into(),
        options: TransportOptions::new(),
        group: GroupKind::Threads,
        ranks: Vec::new(),
        stop: Stop::Iterations { count: 1 },
        warmup_iterations: 0,
        warmup_ns_max: 0,
        check: false,
        report_interval_ns: 0,
        raw_samples_max: 0,
        // The tests run beside others, with fewer cores than ranks.
        idle: IdlePolicy::Yield,
    }
}
