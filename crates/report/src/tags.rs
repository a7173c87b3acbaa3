//! The list of every figure that can be published: the single source for assembly, CSV columns and docs/metrics.md.
