//! A case for the tests of this folder. It must never be compiled into the library.

use wirespeed_schema::case::{Case, IdlePolicy, Stop};
use wirespeed_schema::test::{Layout, PingPong, Test};

/// `count` operations of `test` between a source and a sink, checked, after a warm-up of 20.
pub fn case(test: Test, count: u64) -> Case {
    Case::new(test, "example")
        .with_stop(Stop::Iterations { count })
        .with_warmup(20, 50_000_000)
        .with_check(true)
        .with_idle(IdlePolicy::Yield)
}

/// Round trips of 24 bytes.
pub fn pingpong() -> Test {
    Test::AmLat(PingPong::new(24, Layout::Short))
}
