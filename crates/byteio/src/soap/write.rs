//! Writes envelopes. Data never pass through here: an envelope is given as what stands before and behind them.

use super::escape::escape;
use super::names::{ADDRESSING, BYTEIO, Mechanism, PROPERTIES, RANDOM, SOAP, STREAM, XOP};
use super::request::Operation;
use std::fmt::Write as _;

/// An envelope around its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// Up to the data.
    pub before: String,
    /// Behind them.
    pub behind: String,
}

impl Around {
    /// Without data.
    pub fn whole(self) -> String {
        self.before + &self.behind
    }
}

/// How the data are in the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data<'a> {
    /// There are none: an empty transfer-information, as requests to read and the bare-part style have it.
    Elsewhere,
    /// Base64 between `before` and `behind`.
    Inline,
    /// A part with this content ID.
    Include(&'a str),
}

/// Namespace and local name of an operation's element.
pub fn element_of(operation: &Operation) -> (&'static str, &'static str) {
    match operation {
        Operation::Read { .. } => (RANDOM, "read"),
        Operation::Write { .. } => (RANDOM, "write"),
        Operation::Append => (RANDOM, "append"),
        Operation::TruncAppend { .. } => (RANDOM, "truncAppend"),
        Operation::SeekRead { .. } => (STREAM, "seekRead"),
        Operation::SeekWrite { .. } => (STREAM, "seekWrite"),
        Operation::OpenStream => (super::names::STREAM_FACTORY, "openStream"),
        Operation::Destroy => (super::names::LIFETIME, "Destroy"),
        Operation::Properties { multiple: false, .. } => (PROPERTIES, "GetResourceProperty"),
        Operation::Properties { multiple: true, .. } => (PROPERTIES, "GetMultipleResourceProperties"),
    }
}

/// The action of a request: `SOAPAction` and `wsa:Action`.
pub fn action_of(operation: &Operation) -> String {
    let (namespace, local) = element_of(operation);
    match operation {
        Operation::Properties { .. } => {
            format!("{}/{local}/{local}Request", super::names::PROPERTIES_ACTION)
        }
        _ => format!("{namespace}/{local}"),
    }
}

fn open(action: &str, headers: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soapenv:Envelope xmlns:soapenv=\"{SOAP}\" xmlns:wsa=\"{ADDRESSING}\">\
         <soapenv:Header><wsa:Action>{}</wsa:Action>{headers}</soapenv:Header><soapenv:Body>",
        escape(action)
    )
}

const CLOSE: &str = "</soapenv:Body></soapenv:Envelope>";

/// The transfer-information element around its data.
fn transfer(prefix: &str, mechanism: Mechanism, data: Data<'_>) -> Around {
    let (tag, uri) = (format!("{prefix}:transfer-information"), mechanism.uri());
    let open = format!("<{tag} transfer-mechanism=\"{uri}\">");
    let (before, behind) = match data {
        Data::Elsewhere => (String::new(), String::new()),
        Data::Inline => (format!("<b:data xmlns:b=\"{BYTEIO}\">"), "</b:data>".to_owned()),
        Data::Include(id) => (
            format!("<b:data xmlns:b=\"{BYTEIO}\"><xop:Include xmlns:xop=\"{XOP}\" href=\"cid:{id}\"/>"),
            "</b:data>".to_owned(),
        ),
    };
    Around {
        before: open + &before,
        behind: format!("{behind}</{tag}>"),
    }
}

/// A request. `to` is the address as the EPR has it, `message_id` a fresh URN.
pub fn request(
    operation: &Operation,
    mechanism: Mechanism,
    data: Data<'_>,
    to: &str,
    message_id: &str,
) -> Around {
    let (namespace, local) = element_of(operation);
    let headers = format!(
        "<wsa:To>{}</wsa:To><wsa:MessageID>{}</wsa:MessageID>",
        escape(to),
        escape(message_id)
    );
    let mut before = open(&action_of(operation), &headers);
    // A name in text needs its prefix declared where it stands.
    let declared = match operation {
        Operation::Properties {
            names,
            multiple: false,
        } => names
            .first()
            .map(|name| format!(" xmlns:q=\"{}\"", name.namespace)),
        _ => None,
    };
    // Writing to a String cannot fail.
    let _ = write!(
        before,
        "<p:{local} xmlns:p=\"{namespace}\"{}>",
        declared.unwrap_or_default()
    );
    before.push_str(&fields(operation));
    let around = match namespace {
        RANDOM | STREAM => transfer("p", mechanism, data),
        _ => Around {
            before: String::new(),
            behind: String::new(),
        },
    };
    Around {
        before: before + &around.before,
        behind: format!("{}</p:{local}>{CLOSE}", around.behind),
    }
}

/// The fields of a request, in the order of the schema.
fn fields(operation: &Operation) -> String {
    let mut text = String::new();
    let mut field = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a String cannot fail.
        let _ = write!(text, "<p:{name}>{value}</p:{name}>");
    };
    match operation {
        Operation::Read {
            start_offset,
            block_bytes,
            blocks,
            stride_bytes,
        } => {
            field("start-offset", start_offset);
            field("bytes-per-block", block_bytes);
            field("num-blocks", blocks);
            field("stride", stride_bytes);
        }
        Operation::Write {
            start_offset,
            block_bytes,
            stride_bytes,
        } => {
            field("start-offset", start_offset);
            field("bytes-per-block", block_bytes);
            field("stride", stride_bytes);
        }
        Operation::TruncAppend { offset } => field("offset", offset),
        Operation::SeekRead {
            offset,
            origin,
            bytes,
        } => {
            field("offset", offset);
            field("seek-origin", &origin.uri());
            field("num-bytes", bytes);
        }
        Operation::SeekWrite { offset, origin } => {
            field("offset", offset);
            field("seek-origin", &origin.uri());
        }
        Operation::Properties { names, multiple } => {
            for name in names {
                let local = &name.local;
                // Writing to a String cannot fail.
                let _ = match multiple {
                    true => write!(
                        text,
                        "<p:ResourceProperty xmlns:q=\"{}\">q:{local}</p:ResourceProperty>",
                        name.namespace
                    ),
                    false => write!(text, "q:{local}"),
                };
            }
        }
        Operation::Append | Operation::OpenStream | Operation::Destroy => {}
    }
    text
}

/// The response to an operation that moves data.
pub fn response(
    operation: &Operation,
    mechanism: Mechanism,
    data: Data<'_>,
    relates_to: Option<&str>,
) -> Around {
    let (namespace, local) = element_of(operation);
    let around = transfer("p", mechanism, data);
    Around {
        before: format!(
            "{}<p:{local}Response xmlns:p=\"{namespace}\">{}",
            open(&format!("{namespace}/{local}Response"), &relates(relates_to)),
            around.before
        ),
        behind: format!("{}</p:{local}Response>{CLOSE}", around.behind),
    }
}

/// A response with `content` in its body.
pub fn plain_response(action: &str, content: &str, relates_to: Option<&str>) -> String {
    format!("{}{content}{CLOSE}", open(action, &relates(relates_to)))
}

fn relates(relates_to: Option<&str>) -> String {
    relates_to.map_or(String::new(), |id| {
        format!("<wsa:RelatesTo>{}</wsa:RelatesTo>", escape(id))
    })
}
