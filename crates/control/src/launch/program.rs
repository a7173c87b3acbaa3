//! The program that becomes a rank.

use crate::error::ControlError;
use std::ffi::OsString;
use std::path::PathBuf;

/// The program that becomes a rank: it must call [`crate::agent::run_stdio_agent`].
#[derive(Debug, Clone)]
pub struct RankProgram {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables beside the inherited ones.
    pub environment: Vec<(OsString, OsString)>,
}

impl RankProgram {
    /// This program with the hidden verb `__rank`.
    pub fn this() -> Result<Self, ControlError> {
        let path = std::env::current_exe().map_err(|source| ControlError::Launch {
            program: "this program".into(),
            source,
        })?;
        Ok(RankProgram {
            path,
            arguments: vec!["__rank".into()],
            environment: Vec::new(),
        })
    }
}
