//! wirespeed measures how fast messages and data move between threads, processes and machines.
//!
//! One measurement, top to bottom: [`measure()`] looks the transport up in a [`Registry`] once; its entry opens a port
//! through a [`Bootstrap`]; [`engine`] runs warm-up and the timed loop, monomorphic to the end; the rank's view comes
//! back as a [`wirespeed_schema::Outcome`].
//!
//! The library must never print, exit the process, keep global state or know how ranks were started.

pub mod bulk;
pub mod calibrate;
pub mod clock;
pub mod engine;
mod error;
pub mod host;
pub mod load;
mod machine;
mod measure;
pub mod record;
pub mod sync;
pub mod transport;

pub use error::MeasureError;
pub use machine::Machine;
pub use measure::measure;
pub use transport::bootstrap::{Bootstrap, BootstrapError, ThreadBootstrap};
pub use transport::cancel::Cancel;
pub use transport::registry::Registry;
pub use wirespeed_schema as schema;
