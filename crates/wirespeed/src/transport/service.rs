//! A service at the far end that is no rank of the group: where it is, what proves each end to the other, and where at this
//! end data come from or go to.
//!
//! Nothing of it may enter a case: where things lie is no part of what is measured, and the proof is a secret.

use std::fmt;
use std::path::PathBuf;

/// Where a bulk transfer goes to and comes from.
///
/// ```
/// use wirespeed::transport::Service;
///
/// let service = Service::at("https://192.0.2.2:7412/file").with_identity("WS1:secret");
/// assert!(!format!("{service:?}").contains("secret"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Service {
    /// Its address, as the transport reads it.
    pub address: String,
    /// What proves each end to the other, as text: a secret.
    pub identity: Option<String>,
    /// The file here that comes or goes, where one does.
    pub file: Option<PathBuf>,
}

impl Service {
    /// The service at `address`, unproved; what comes from it is dropped.
    pub fn at(address: impl Into<String>) -> Self {
        Service {
            address: address.into(),
            ..Service::default()
        }
    }

    /// Proved by this text.
    #[must_use]
    pub fn with_identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// With this file as what is sent, or as the place of what comes; one that is there is replaced.
    #[must_use]
    pub fn with_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Service { address, file, .. } = self;
        f.debug_struct("Service")
            .field("address", address)
            .field("file", file)
            .finish_non_exhaustive()
    }
}
