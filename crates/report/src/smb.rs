//! What Sandia's msgrate calls its counts and rates, for those who write its form and those who read it. It must never format.

/// The counts of its text, in the order of its lines for programs.
pub(crate) const COUNTS: [&str; 7] = [
    "job size",
    "npeers",
    "niters",
    "nmsgs",
    "nbytes",
    "cache size",
    "ppn",
];
/// Its rates, in the order of [`wirespeed_schema::posted::Pattern::ALL`].
pub(crate) const RATES: [&str; 4] = ["single direction", "pair-based", "pre-post", "all-start"];
