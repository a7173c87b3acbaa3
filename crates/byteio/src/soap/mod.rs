//! SOAP 1.1 as ByteIO uses it: reading with limits, writing, faults, the description of the service. No sockets, no files.

pub mod base64;
pub mod envelope;
pub mod escape;
pub mod fault;
pub mod names;
pub mod reader;
pub mod request;
pub mod write;
pub mod wsdl;

pub use envelope::{Envelope, Opening, Payload};
pub use fault::Fault;
pub use names::{Mechanism, Origin};
pub use request::{Operation, Request};

#[cfg(test)]
mod tests;

use std::io;

/// A name with its namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The namespace, empty for none.
    pub namespace: String,
    /// The local part.
    pub local: String,
}

impl Name {
    /// Both parts.
    pub fn new(namespace: impl Into<String>, local: impl Into<String>) -> Self {
        Name {
            namespace: namespace.into(),
            local: local.into(),
        }
    }
}

/// Why a message cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SoapError {
    /// The bytes below failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not what it should be.
    #[error("malformed message: {0}")]
    Malformed(String),
    /// It has what is refused on sight.
    #[error("refused: the message has {0}")]
    Refused(&'static str),
    /// A header block that must be understood is not.
    #[error("the header block {0} must be understood and is not")]
    MustUnderstand(String),
    /// An envelope of another version of SOAP.
    #[error("an envelope that is not of SOAP 1.1")]
    Version,
}

impl SoapError {
    pub(crate) fn malformed(why: impl Into<String>) -> Self {
        SoapError::Malformed(why.into())
    }
}

impl From<quick_xml::Error> for SoapError {
    fn from(error: quick_xml::Error) -> Self {
        match error {
            // The reader below may have failed with a reason of its own; its kind decides what is done about it.
            quick_xml::Error::Io(e) => SoapError::Io(io::Error::new(e.kind(), e.to_string())),
            quick_xml::Error::Encoding(_) => SoapError::Refused("bytes that are not UTF-8"),
            other => SoapError::Malformed(other.to_string()),
        }
    }
}

impl From<quick_xml::events::attributes::AttrError> for SoapError {
    fn from(error: quick_xml::events::attributes::AttrError) -> Self {
        SoapError::Malformed(error.to_string())
    }
}
