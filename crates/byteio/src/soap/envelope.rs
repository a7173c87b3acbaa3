//! Reads an envelope up to the data in it, hands the data on, and checks the rest. One reader for requests, responses and
//! faults: all are a body element with small fields and, at most, one transfer-information.

use super::base64::Decoder;
use super::names::{ADDRESSING, BYTEIO, PROPERTIES, SOAP, XOP};
use super::reader::{Element, Node, XmlReader};
use super::{Name, SoapError};
use std::io::BufRead;

/// Fields of a body element; no operation has more than five.
const FIELDS_MAX: usize = 64;

/// Where the data of a message are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// There is no transfer-information, or nothing in it: no data, or a part that nothing refers to.
    Absent,
    /// Base64, next in the reader: [`Envelope::copy_inline`].
    Inline,
    /// A part with this content ID.
    Include(String),
}

/// The fault of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFault {
    /// Local name of the detail element, or the fault code without a prefix.
    pub name: String,
    /// The fault string.
    pub text: String,
}

/// What stands before the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The body's element.
    pub body: Name,
    /// Its children with text, by local name.
    pub fields: Vec<(String, String)>,
    /// Qualified names in text, where the body asks for resource properties.
    pub names: Vec<Name>,
    /// The transfer mechanism's URI.
    pub mechanism: Option<String>,
    /// Where the data are.
    pub payload: Payload,
    /// `wsa:MessageID`.
    pub message_id: Option<String>,
    /// The fault, if the body is one.
    pub fault: Option<ReadFault>,
}

impl Opening {
    /// The field with this local name.
    pub fn field(&self, local: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(name, _)| name == local);
        found.map(|(_, value)| value.as_str())
    }
}

/// An envelope being read.
pub struct Envelope<R: BufRead> {
    xml: XmlReader<R>,
    opening: Opening,
    finished: bool,
}

impl<R: BufRead> Envelope<R> {
    /// Read up to the data, or to the end where there are none.
    pub fn open(inner: R) -> Result<Self, SoapError> {
        let mut envelope = Envelope {
            xml: XmlReader::new(inner),
            opening: Opening {
                body: Name::new("", ""),
                fields: Vec::new(),
                names: Vec::new(),
                mechanism: None,
                payload: Payload::Absent,
                message_id: None,
                fault: None,
            },
            finished: false,
        };
        let root = loop {
            match envelope.xml.next_node()? {
                Node::Start(element) => break element,
                Node::Text(text) if text.trim().is_empty() => {}
                _ => return Err(SoapError::malformed("not an XML document")),
            }
        };
        if root.name.local == "Envelope" && root.name.namespace != SOAP {
            return Err(SoapError::Version);
        }
        if root.name != Name::new(SOAP, "Envelope") {
            return Err(SoapError::malformed("not a SOAP 1.1 envelope"));
        }
        let mut child = envelope.child("Body")?;
        if child.name == Name::new(SOAP, "Header") {
            envelope.header()?;
            child = envelope.child("Body")?;
        }
        if child.name != Name::new(SOAP, "Body") {
            return Err(SoapError::malformed("no Body where one belongs"));
        }
        let Some(body) = envelope.xml.next_child()? else {
            return Err(SoapError::malformed("an empty Body"));
        };
        envelope.opening.body = body.name.clone();
        if body.name == Name::new(SOAP, "Fault") {
            envelope.fault()?;
        } else {
            envelope.body(&body)?;
        }
        if envelope.opening.payload != Payload::Inline {
            envelope.finish()?;
        }
        Ok(envelope)
    }

    /// What stands before the data.
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Hand the inline data on, decoded, in pieces.
    pub fn copy_inline(
        &mut self,
        mut sink: impl FnMut(&[u8]) -> Result<(), SoapError>,
    ) -> Result<(), SoapError> {
        if self.opening.payload != Payload::Inline {
            return Ok(());
        }
        let mut decoder = Decoder::default();
        self.xml.raw_text(|text| decoder.push(text, &mut sink))?;
        decoder.finish(&mut sink)
    }

    /// Read to the end of the document, and give the reader below back.
    pub fn into_inner(mut self) -> Result<R, SoapError> {
        self.finish()?;
        Ok(self.xml.into_inner())
    }

    /// After the data: whatever is left must be well-formed.
    pub fn finish(&mut self) -> Result<(), SoapError> {
        while !self.finished {
            self.finished = self.xml.next_node()? == Node::Done;
        }
        Ok(())
    }

    fn child(&mut self, expected: &str) -> Result<Element, SoapError> {
        let child = self.xml.next_child()?;
        child.ok_or_else(|| SoapError::malformed(format!("no {expected}")))
    }

    /// Unknown headers are ignored, unless they must be understood.
    fn header(&mut self) -> Result<(), SoapError> {
        while let Some(block) = self.xml.next_child()? {
            let known = block.name.namespace == ADDRESSING;
            if !known && matches!(block.attribute("mustUnderstand"), Some("1" | "true")) {
                return Err(SoapError::MustUnderstand(block.name.local));
            }
            if block.name == Name::new(ADDRESSING, "MessageID") {
                self.opening.message_id = Some(self.xml.text()?);
            } else {
                self.xml.skip()?;
            }
        }
        Ok(())
    }

    fn body(&mut self, body: &Element) -> Result<(), SoapError> {
        let asks_names = body.name.namespace == PROPERTIES && !body.name.local.ends_with("Response");
        loop {
            match self.xml.next_node()? {
                Node::End => return Ok(()),
                Node::Text(text) if text.trim().is_empty() => {}
                Node::Text(text) if asks_names => {
                    let name = self.xml.qualified(text.trim())?;
                    self.opening.names.push(name);
                }
                Node::Text(_) => return Err(SoapError::malformed("text where elements belong")),
                Node::Start(child) if child.name.local == "transfer-information" => {
                    self.opening.mechanism = child.attribute("transfer-mechanism").map(str::to_owned);
                    self.transfer()?;
                    if self.opening.payload == Payload::Inline {
                        return Ok(());
                    }
                }
                Node::Start(child) => self.field(&child, asks_names)?,
                Node::Done => return Err(SoapError::malformed("the document ends early")),
            }
        }
    }

    /// A small field. What nests inside one (an endpoint reference, an extension) is flattened to its leaves.
    fn field(&mut self, child: &Element, asks_names: bool) -> Result<(), SoapError> {
        let mut path = vec![child.name.local.clone()];
        let mut text = String::new();
        while let Some(local) = path.last() {
            if self.opening.fields.len() + self.opening.names.len() > FIELDS_MAX {
                return Err(SoapError::Refused("more fields than any operation has"));
            }
            match self.xml.next_node()? {
                Node::Text(more) => text.push_str(&more),
                Node::Start(inner) => {
                    text.clear();
                    path.push(inner.name.local);
                }
                Node::End => {
                    let value = std::mem::take(&mut text).trim().to_owned();
                    if asks_names && !value.is_empty() {
                        let name = self.xml.qualified(&value)?;
                        self.opening.names.push(name);
                    } else {
                        self.opening.fields.push((local.clone(), value));
                    }
                    path.pop();
                }
                Node::Done => return Err(SoapError::malformed("the document ends early")),
            }
        }
        Ok(())
    }

    /// Inside transfer-information: the data, wherever they are; extensions beside them are ignored. UNICORE wraps the
    /// data into an element called `any`.
    fn transfer(&mut self) -> Result<(), SoapError> {
        let mut wrapped = 0;
        loop {
            let Some(child) = self.xml.next_child()? else {
                if wrapped == 0 {
                    return Ok(());
                }
                wrapped -= 1;
                continue;
            };
            if child.name == Name::new(BYTEIO, "any") {
                wrapped += 1;
            } else if child.name != Name::new(BYTEIO, "data") {
                self.xml.skip()?;
            } else if self.opening.payload != Payload::Absent {
                return Err(SoapError::malformed("two data elements"));
            } else if child.is_empty() || self.xml.at_markup()? {
                self.data_markup()?;
            } else {
                self.opening.payload = Payload::Inline;
                return Ok(());
            }
        }
    }

    /// A data element without text: an include, or nothing, which is no data at all.
    fn data_markup(&mut self) -> Result<(), SoapError> {
        let Some(include) = self.xml.next_child()? else {
            return Ok(());
        };
        if include.name != Name::new(XOP, "Include") {
            return Err(SoapError::malformed("data that are neither text nor an include"));
        }
        let href = include.attribute("href").unwrap_or_default();
        let Some(id) = href.strip_prefix("cid:") else {
            return Err(SoapError::Refused(
                "an include of something other than a part of this message",
            ));
        };
        let id = percent_encoding::percent_decode_str(id).decode_utf8();
        let id = id.map_err(|_| SoapError::malformed("a content ID that is not text"))?;
        self.opening.payload = Payload::Include(id.into_owned());
        self.xml.skip()?;
        self.xml.skip()
    }

    fn fault(&mut self) -> Result<(), SoapError> {
        let mut fault = ReadFault {
            name: String::new(),
            text: String::new(),
        };
        while let Some(part) = self.xml.next_child()? {
            match part.name.local.as_str() {
                "faultcode" => {
                    let code = self.xml.text()?;
                    let local = code.rsplit(':').next().unwrap_or_default();
                    if fault.name.is_empty() {
                        local.clone_into(&mut fault.name);
                    }
                }
                "faultstring" => fault.text = self.xml.text()?,
                "detail" => {
                    let mut first = true;
                    while let Some(detail) = self.xml.next_child()? {
                        if std::mem::take(&mut first) {
                            fault.name = detail.name.local;
                        }
                        self.xml.skip()?;
                    }
                }
                _ => self.xml.skip()?,
            }
        }
        self.opening.fault = Some(fault);
        Ok(())
    }
}
