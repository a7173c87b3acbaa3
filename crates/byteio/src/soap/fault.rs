//! Faults that the specification names, and the plain ones of SOAP. A fault says what is wrong with the request, never
//! anything of the machine that serves it.

use super::escape::escape;
use super::names::{ADDRESSING, BASE_FAULTS, BYTEIO, RANDOM, RESOURCE, SOAP, STREAM};
use wirespeed_schema::shown::quoted;

/// A fault to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Local part of the fault code: `Client`, `Server`, `MustUnderstand`, `VersionMismatch`.
    pub code: &'static str,
    /// Detail element with its namespace, where the specification names one.
    pub detail: Option<(&'static str, &'static str)>,
    /// One line.
    pub text: String,
}

impl Fault {
    fn named(
        namespace: &'static str,
        name: &'static str,
        code: &'static str,
        text: impl Into<String>,
    ) -> Self {
        Fault {
            code,
            detail: Some((namespace, name)),
            text: text.into(),
        }
    }

    /// The request is not one.
    pub fn client(text: impl Into<String>) -> Self {
        Fault {
            code: "Client",
            detail: None,
            text: text.into(),
        }
    }

    /// A mechanism that is not offered.
    pub fn unsupported_transfer(uri: &str) -> Self {
        Self::named(
            BYTEIO,
            "UnsupportedTransferFault",
            "Client",
            format!("no transfer mechanism {}", quoted(uri, 200)),
        )
    }

    /// The resource may not be read.
    pub fn read_not_permitted(text: impl Into<String>) -> Self {
        Self::named(BYTEIO, "ReadNotPermittedFault", "Client", text)
    }

    /// The resource may not be written.
    pub fn write_not_permitted(text: impl Into<String>) -> Self {
        Self::named(BYTEIO, "WriteNotPermittedFault", "Client", text)
    }

    /// The resource may not be cut.
    pub fn truncate_not_permitted(text: impl Into<String>) -> Self {
        Self::named(RANDOM, "TruncateNotPermittedFault", "Client", text)
    }

    /// The stream cannot be moved there.
    pub fn seek_not_permitted(text: impl Into<String>) -> Self {
        Self::named(STREAM, "SeekNotPermittedFault", "Client", text)
    }

    /// No such resource.
    pub fn resource_unknown(text: impl Into<String>) -> Self {
        Self::named(RESOURCE, "ResourceUnknownFault", "Client", text)
    }

    /// Arguments out of range, and failures of the service: the specification's catch-all.
    pub fn custom(text: impl Into<String>) -> Self {
        Self::named(BYTEIO, "CustomFault", "Client", text)
    }

    /// The service failed.
    pub fn server(text: impl Into<String>) -> Self {
        Self::named(BYTEIO, "CustomFault", "Server", text)
    }

    /// The envelope; `timestamp` is RFC 3339 in UTC.
    pub fn envelope(&self, timestamp: &str) -> String {
        let text = escape(&self.text);
        let detail = self.detail.map_or(String::new(), |(namespace, name)| {
            format!(
                "<detail><f:{name} xmlns:f=\"{namespace}\" xmlns:bf=\"{BASE_FAULTS}\">\
                 <bf:Timestamp>{timestamp}</bf:Timestamp><bf:Description>{text}</bf:Description></f:{name}></detail>"
            )
        });
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soapenv:Envelope xmlns:soapenv=\"{SOAP}\" xmlns:wsa=\"{ADDRESSING}\">\
             <soapenv:Body><soapenv:Fault><faultcode>soapenv:{}</faultcode><faultstring>{text}</faultstring>{detail}\
             </soapenv:Fault></soapenv:Body></soapenv:Envelope>",
            self.code
        )
    }
}

impl From<super::SoapError> for Fault {
    fn from(error: super::SoapError) -> Self {
        let code = match &error {
            super::SoapError::MustUnderstand(_) => "MustUnderstand",
            super::SoapError::Version => "VersionMismatch",
            _ => "Client",
        };
        Fault {
            code,
            detail: None,
            text: error.to_string(),
        }
    }
}
