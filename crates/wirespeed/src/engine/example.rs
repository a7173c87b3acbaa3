//! A case for the tests of this folder. It must never be compiled into the library.

use wirespeed_schema::case::{Case, GroupKind, IdlePolicy, RankSpec, Role, Stop};
use wirespeed_schema::test::{Layout, PingPong, Test};

/// `count` operations of `test` between a source and a sink, checked, after a warm-up of 20.
pub fn case(test: Test, count: u64) -> Case {
    let spec = |role, peer| RankSpec {
        role,
        peer: Some(peer),
        cpu: None,
        load: Default::default(),
    };
    Case {
        test,
        transport: "example".into(),
        options: Default::default(),
        group: GroupKind::Threads,
        ranks: vec![spec(Role::Source, 1), spec(Role::Sink, 0)],
        stop: Stop::Iterations { count },
        warmup_iterations: 20,
        warmup_ns_max: 50_000_000,
        check: true,
        report_interval_ns: 0,
        raw_samples_max: 0,
        idle: IdlePolicy::Yield,
    }
}

/// Round trips of 24 bytes.
pub fn pingpong() -> Test {
    Test::AmLat(PingPong::new(24, Layout::Short))
}
