//! The options of an open loop, for every verb that can offer a rate.

use clap::Args;

/// Which rates are offered.
#[derive(Debug, Clone, Default, Args)]
pub struct OpenLoopArgs {
    /// Offer this many messages or requests per second, whether earlier ones are done or not, and time each from when it was due
    ///
    /// A list, a range 100..900:+100, or auto: from a tenth of what is carried to a little above. It shows the delay that users
    /// of a service at this rate would see, which a sender that waits for answers hides.
    #[arg(long, value_name = "RATES|auto", help_heading = "Open loop")]
    pub offered: Option<String>,

    /// Number of rates that auto offers [default: 10]
    #[arg(long, value_name = "N", requires = "offered", help_heading = "Open loop")]
    #[arg(value_parser = clap::value_parser!(u32).range(3..=100))]
    pub points: Option<u32>,

    /// Find the highest rate whose 99th percentile of response time stays within TIME
    #[arg(long, value_name = "TIME", requires = "offered", help_heading = "Open loop")]
    pub p99: Option<String>,
}
