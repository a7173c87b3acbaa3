//! Home of the examples; see `embed/`.
#![forbid(unsafe_code)]
