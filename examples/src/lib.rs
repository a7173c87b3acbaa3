//! Home of the examples; see `embed/`.
