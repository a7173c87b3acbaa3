//! Meshes as people read them: sentences, tables, maps, lists, CSV, the page, comparison. Documents are made here, with known
//! faults.

mod changes;
pub mod made;
mod page;
mod rails;
mod shown;
mod silence;
