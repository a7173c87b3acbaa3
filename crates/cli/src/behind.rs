//! Options of `wirespeed run` that a verb gives itself, so that they stand neither behind its `--` nor before it, and what to do
//! about them.

/// Keys of a plan that the hosts of a mesh choose.
pub const CHOSEN_BY_HOSTS: [&str; 5] = ["to", "roles", "procs", "threads", "cpus"];
/// What to do with them.
pub const HOSTS_CHOOSE: &str =
    "a mesh gives each host a rank, and each pair a source and a sink: leave it out";
/// The key that `load` varies.
pub const PACE: &str = "pace";
/// What to do with it.
pub const RATES_ARE_OFFERED: &str = "leave --pace out; --offered before the -- names rates";
