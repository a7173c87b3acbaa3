//! The options of `wirespeed lab`.

use clap::Args;

/// `wirespeed lab`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed lab --rate 100Mb/s --delay 15ms -- ping -c 3 192.0.2.2
  wirespeed lab --lan --rate 1Gb/s --far 'iperf3 -s -1' -- iperf3 -t 2 -c 192.0.2.2
  wirespeed lab --rate 1Gb/s --delay 30ms --loss 2e-4 --congestion cubic -- ip address

`wirespeed lab --check` measures known paths and says how near the figures come; exit code 3 when one is too far off.

The command runs in a network of its own whose other end is 192.0.2.2; --far runs a command there first. The rate counts \
the headers of Ethernet, IP and TCP, so that at most 95.6 % of it is payload. --delay is one way; a round trip has it \
twice. Root is needed, the machine's own network is left alone, and all of it vanishes at the end.")]
pub struct LabArgs {
    /// Speed of the link, each way [default: as fast as this machine goes]
    #[arg(long, value_name = "SPEED")]
    pub rate: Option<String>,

    /// A cable with a token bucket instead of tunnels: no delay, no loss
    #[arg(long, conflicts_with_all = ["delay", "loss", "queue"])]
    pub lan: bool,

    /// Delay of each packet, one way [default: 0]
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,

    /// Share of packets lost at random, each way: 2e-4 [default: 0]
    #[arg(long, value_name = "RATIO")]
    pub loss: Option<f64>,

    /// Bytes that may wait for the link, each way [default: what it carries in a round trip, at least 256K]
    #[arg(long, value_name = "SIZE")]
    pub queue: Option<String>,

    /// Congestion control of every connection inside: cubic, bbr, reno [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,

    /// Command to run at the far end, 192.0.2.2: started first, ended last
    #[arg(long, value_name = "COMMAND")]
    pub far: Option<String>,

    /// Give the far end's command this long to start before the near one
    #[arg(long, value_name = "TIME", default_value = "1s", requires = "far")]
    pub far_ready: String,

    /// Verify the lab in four minutes: links of 100 Mb/s and 1 Gb/s, 30 ms, 2e-4 lost, each measured by wirespeed and by
    /// iperf3 or ping
    #[arg(long, conflicts_with_all = ["rate", "lan", "delay", "loss", "queue", "congestion", "far", "command"])]
    pub check: bool,

    /// Command to run at the near end
    #[arg(last = true, required_unless_present = "check", value_name = "COMMAND")]
    pub command: Vec<String>,
}
