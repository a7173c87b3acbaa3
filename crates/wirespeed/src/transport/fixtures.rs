//! What tests of the transports' own parts need around them. It must never be built into the library.

use wirespeed_schema::case::{Case, IdlePolicy, Stop};
use wirespeed_schema::test::{Layout, PingPong, Test};

/// The least that can be measured, without ranks: a test changes what it is about.
pub(crate) fn case() -> Case {
    Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "any")
        .with_ranks(Vec::new())
        .with_stop(Stop::Iterations { count: 1 })
        .with_warmup(0, 0)
        // The tests run beside others, with fewer cores than ranks.
        .with_idle(IdlePolicy::Yield)
}
