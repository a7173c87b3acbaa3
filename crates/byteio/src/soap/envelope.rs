//! Reads an envelope up to the data in it, hands the data on, and checks the rest. One reader for requests, responses and
//! faults: all are a body element with small fields and, at most, one transfer-information.

use super::base64::Decoder;
use super::names::{ADDRESSING, BYTEIO, PROPERTIES, SOAP, XOP};
use super::reader::{Ahead, Element, Node, OTHER_ENCODING, XmlReader, is_blank};
use super::{Name, SoapError};
use std::io::BufRead;

/// Fields of a body element; no operation has more than five.
const FIELDS_MAX: usize = 64;

/// Where the data of a message are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// There is no transfer-information, or nothing in it: no data, or a part that nothing refers to.
    Absent,
    /// A `data` element with nothing in it: no bytes, or a part that nothing refers to.
    Empty,
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
    /// The service failed, for no reason that it has a name for: the same request may succeed later (SOAP 1.1, 4.4.1).
    pub passing: bool,
}

/// What stands before the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The body's element.
    pub body: Name,
    /// Its children with text; of what nests, the leaves come before what they are in.
    pub fields: Vec<(Name, String)>,
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
        let found = self.fields.iter().find(|(name, _)| name.local == local);
        found.map(|(_, value)| value.as_str())
    }
}

/// An envelope being read.
pub struct Envelope<R: BufRead> {
    xml: XmlReader<R>,
    opening: Opening,
    /// Elements called `any` around the data.
    wrapped: usize,
    /// The inline data were read.
    copied: bool,
}

impl<R: BufRead> Envelope<R> {
    /// Read up to the data, or to the end where there are none.
    pub fn open(mut inner: R) -> Result<Self, SoapError> {
        match inner.fill_buf()? {
            [0xfe | 0xff, ..] | [0, ..] | [b'<', 0, ..] => return Err(SoapError::Refused(OTHER_ENCODING)),
            [0x1f, 0x8b, ..] => return Err(SoapError::Refused("compressed bytes where XML belongs")),
            _ => {}
        }
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
            wrapped: 0,
            copied: false,
        };
        let root = loop {
            match envelope.xml.next_node()? {
                Node::Start(element) => break element,
                Node::Text(text) if is_blank(&text) => {}
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
            envelope.end()?;
        }
        Ok(envelope)
    }

    /// What stands before the data.
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Hand the inline data on, decoded, in pieces, and read the rest, which must be the envelope's end.
    pub fn copy_inline(
        &mut self,
        mut sink: impl FnMut(&[u8]) -> Result<(), SoapError>,
    ) -> Result<(), SoapError> {
        if self.opening.payload != Payload::Inline || std::mem::replace(&mut self.copied, true) {
            return Ok(());
        }
        let mut decoder = Decoder::default();
        self.xml.data_text(|text| decoder.push(text, &mut sink))?;
        decoder.finish(&mut sink)?;
        // The elements around the data, the transfer-information and the body's element.
        for _ in 0..self.wrapped + 2 {
            self.nothing_more("something behind the data")?;
        }
        self.end()
    }

    /// The reader below, to go on where the document ended.
    pub fn into_inner(self) -> R {
        self.xml.into_inner()
    }

    /// The end of the innermost element, and nothing before it.
    fn nothing_more(&mut self, why: &'static str) -> Result<(), SoapError> {
        self.nothing_before(&Node::End, why)
    }

    fn nothing_before(&mut self, end: &Node, why: &'static str) -> Result<(), SoapError> {
        loop {
            match self.xml.next_node()? {
                node if node == *end => return Ok(()),
                Node::Text(text) if is_blank(&text) => {}
                _ => return Err(SoapError::malformed(why)),
            }
        }
    }

    /// Behind the body's element: the ends of Body and Envelope, and nothing else.
    fn end(&mut self) -> Result<(), SoapError> {
        self.nothing_more("a Body of more than one element")?;
        self.nothing_more("something behind the Body")?;
        self.nothing_before(&Node::Done, "something behind the envelope")
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
        let transfer = Name::new(body.name.namespace.clone(), "transfer-information");
        let mut transfers = 0;
        loop {
            match self.xml.next_node()? {
                Node::End => return Ok(()),
                Node::Text(text) if is_blank(&text) => {}
                Node::Text(text) if asks_names => {
                    let name = self.xml.qualified(text.trim())?;
                    self.opening.names.push(name);
                }
                Node::Text(_) => return Err(SoapError::malformed("text where elements belong")),
                Node::Start(child) if child.name == transfer => {
                    transfers += 1;
                    if transfers > 1 {
                        return Err(SoapError::malformed("two transfer-informations"));
                    }
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
        let mut path = vec![child.name.clone()];
        let mut text = String::new();
        while let Some(innermost) = path.last() {
            if self.opening.fields.len() + self.opening.names.len() > FIELDS_MAX {
                return Err(SoapError::Refused("more fields than any operation has"));
            }
            match self.xml.next_node()? {
                Node::Text(more) => text.push_str(&more),
                Node::Start(inner) => {
                    if !is_blank(&std::mem::take(&mut text)) {
                        return Err(SoapError::malformed("a field of text and elements"));
                    }
                    path.push(inner.name);
                }
                Node::End => {
                    let value = std::mem::take(&mut text).trim().to_owned();
                    if asks_names && !value.is_empty() {
                        let name = self.xml.qualified(&value)?;
                        self.opening.names.push(name);
                    } else {
                        self.opening.fields.push((innermost.clone(), value));
                    }
                    path.pop();
                }
                Node::Done => return Err(SoapError::malformed("the document ends early")),
            }
        }
        Ok(())
    }

    /// Inside transfer-information: one `data` element or none, and nothing else, so that no data pass by unseen. UNICORE
    /// wraps it into an element called `any`.
    fn transfer(&mut self) -> Result<(), SoapError> {
        loop {
            let Some(child) = self.xml.next_child()? else {
                if self.wrapped == 0 {
                    return Ok(());
                }
                self.wrapped -= 1;
                continue;
            };
            if self.opening.payload != Payload::Absent {
                return Err(SoapError::malformed(
                    "a transfer-information with more than one data element",
                ));
            }
            if child.name == Name::new(BYTEIO, "any") {
                self.wrapped += 1;
            } else if child.name == Name::new(BYTEIO, "data") {
                self.opening.payload = match self.xml.peek()? {
                    Ahead::Text => {
                        self.opening.payload = Payload::Inline;
                        return Ok(());
                    }
                    Ahead::Element => self.include()?,
                    Ahead::End => Payload::Empty,
                };
                self.nothing_more("data that are more than an include")?;
            } else {
                let Name { namespace, local } = child.name;
                return Err(SoapError::malformed(format!(
                    "{{{namespace}}}{local} where data belong"
                )));
            }
        }
    }

    /// An include, where the data are elsewhere.
    fn include(&mut self) -> Result<Payload, SoapError> {
        let include = self.child("include")?;
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
        self.nothing_more("an include that is not empty")?;
        Ok(Payload::Include(id.into_owned()))
    }

    fn fault(&mut self) -> Result<(), SoapError> {
        let mut fault = ReadFault {
            name: String::new(),
            text: String::new(),
            passing: false,
        };
        let mut named = false;
        while let Some(part) = self.xml.next_child()? {
            match part.name.local.as_str() {
                "faultcode" => {
                    let code = self.xml.text()?;
                    let local = code.rsplit(':').next().unwrap_or_default();
                    fault.passing = local.split('.').next() == Some("Server");
                    if fault.name.is_empty() {
                        local.clone_into(&mut fault.name);
                    }
                }
                "faultstring" => fault.text = self.xml.text()?,
                "detail" => {
                    let mut first = true;
                    loop {
                        match self.xml.next_node()? {
                            Node::Start(detail) => {
                                if std::mem::take(&mut first) {
                                    named = detail.name.local.ends_with("Fault");
                                    fault.name = detail.name.local;
                                }
                                self.xml.skip()?;
                            }
                            // Some services say it in words.
                            Node::Text(_) => {}
                            Node::End => break,
                            Node::Done => return Err(SoapError::malformed("the document ends early")),
                        }
                    }
                }
                _ => self.xml.skip()?,
            }
        }
        fault.passing &= !named;
        self.opening.fault = Some(fault);
        Ok(())
    }
}
