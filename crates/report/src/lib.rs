//! Statistics, checks and renderers: turns the outcomes of ranks into published figures and a Run document into text.
//!
//! This crate must never open a socket, read a clock or use unsafe code. It depends on the schema alone, so that any
//! program that holds outcomes or a document can use it.
//!
//! ```text
//! Vec<Outcome> --repetition--> Repetition --case_result--> CaseResult --(in a Run)--> View --> render::{text, page, ..}
//! bytes --read_run--> Run --> render::{json, csv}          Event --render::event_line--> one line of NDJSON
//! ```
#![forbid(unsafe_code)]

pub mod assemble;
pub mod audit;
pub mod byteio;
pub mod charts;
mod checks;
pub mod compare;
pub mod curve;
pub mod explain;
mod figures;
mod fit;
pub mod import;
pub mod interference;
mod labels;
pub mod mesh;
mod names;
pub mod perftest;
pub mod read;
pub mod render;
mod schema;
mod smb;
mod standings;
pub mod stats;
pub mod svg;
pub mod table;
pub mod tags;
#[cfg(test)]
mod tests;
pub mod thresholds;
pub mod view;
mod wording;
pub mod workers;

pub use assemble::{
    Goal, Runs, UNREACHED, case_result, failed_case, is_unreached, repetition, repetition_metrics, result_of,
    run_status, skipped_case, unfinished, with_convergence, without_outcomes,
};
pub use checks::{Limits, Unusable, broken_law, host_remarks, run_remarks};
pub use figures::{figure_text, spoken};
pub use labels::Input;
pub use read::{ReadError, read_run};
pub use schema::schema_json;
