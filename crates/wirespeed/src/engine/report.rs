//! Reports while a case runs.

use wirespeed_schema::outcome::Interval;

/// Receives interval reports in the measuring thread.
pub type Report<'a> = &'a mut dyn FnMut(&Interval);
