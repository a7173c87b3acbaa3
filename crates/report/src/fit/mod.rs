//! Fits of models to measured values. A fit never hides how badly it fits: intervals and residuals come with it.

mod hockney;
mod line;
mod loggp;

pub use hockney::{Hockney, hockney};
pub use line::{Observation, Parameter};
pub use loggp::{LogGp, Windows, loggp};
