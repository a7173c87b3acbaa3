//! Meshes of hosts as people read them: the figure of each pair, where each host stands, verdicts as sentences. It must never
//! judge: what is slow comes with the document.
//!
//! ```text
//! MeshSection --Probed--> medians of pairs, order of hosts ┐
//! MeshVerdict --words---> sentences                        ├─> view/mesh, charts/mesh, render/mesh, compare/mesh
//! verdicts, losses --standing--> good hosts, hosts to leave out┘
//! ```

pub(crate) mod gaps;
pub mod outcome;
mod probed;
pub(crate) mod silence;
pub(crate) mod standing;
pub mod words;

pub use probed::{PairFigure, Probed};
pub use standing::{drained, good};
