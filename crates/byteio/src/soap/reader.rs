//! XML as SOAP may have it, read as a stream with limits: no DTD, no entities beyond the predefined, no processing
//! instructions, bounded bytes and depth. It must never expand anything, nor hold more than one small node.

use super::{Name, SoapError};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::{NsReader, XmlVersion};
use std::io::{self, BufRead, Read};

/// Bytes of an envelope, the data in it not counted.
const ENVELOPE_BYTES_MAX: usize = 64 << 10;
const DEPTH_MAX: usize = 32;
/// Longest reference that is a character: `&#x10FFFF;`.
const REFERENCE_BYTES_MAX: usize = 10;

/// A reader that stops at a limit, except while data pass.
struct Limited<R> {
    inner: R,
    left_bytes: usize,
    data: bool,
}

impl<R: BufRead> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Limited<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let available = self.inner.fill_buf()?;
        if self.data || available.is_empty() {
            return Ok(available);
        }
        match self.left_bytes {
            0 => Err(io::Error::other("the envelope is longer than 64 KiB")),
            left => Ok(&available[..available.len().min(left)]),
        }
    }

    fn consume(&mut self, count: usize) {
        if !self.data {
            self.left_bytes -= count.min(self.left_bytes);
        }
        self.inner.consume(count);
    }
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// An element begins.
    Start(Element),
    /// The innermost element ends.
    End,
    /// Text; a run of it may come in pieces.
    Text(String),
    /// The document ended.
    Done,
}

/// An element's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Its name, prefix resolved.
    pub name: Name,
    /// Its attributes with their local names, declarations of namespaces left out.
    pub attributes: Vec<(String, String)>,
    empty: bool,
}

impl Element {
    /// The value of the attribute with this local name.
    pub fn attribute(&self, local: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(name, _)| name == local);
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads nodes.
pub struct XmlReader<R: BufRead> {
    xml: NsReader<Limited<R>>,
    buffer: Vec<u8>,
    depth: usize,
    /// An empty element was begun and is to end.
    pending_end: bool,
}

impl<R: BufRead> XmlReader<R> {
    /// Reads one document from `inner`.
    pub fn new(inner: R) -> Self {
        let mut xml = NsReader::from_reader(Limited {
            inner,
            left_bytes: ENVELOPE_BYTES_MAX,
            data: false,
        });
        xml.config_mut().enable_all_checks(true);
        XmlReader {
            xml,
            buffer: Vec::new(),
            depth: 0,
            pending_end: false,
        }
    }

    /// The next node.
    pub fn next_node(&mut self) -> Result<Node, SoapError> {
        if std::mem::take(&mut self.pending_end) {
            self.depth -= 1;
            return Ok(Node::End);
        }
        loop {
            self.buffer.clear();
            let (resolved, event) = self.xml.read_resolved_event_into(&mut self.buffer)?;
            let namespace = match resolved {
                ResolveResult::Bound(namespace) => Some(namespace.0.to_owned()),
                ResolveResult::Unbound => Some(String::new()),
                ResolveResult::Unknown(_) => None,
            };
            let undeclared = || SoapError::malformed("a prefix that is not declared");
            match event {
                Event::Start(start) => {
                    let element = element(namespace.ok_or_else(undeclared)?, &start, false)?;
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        return Err(SoapError::Refused("elements nest deeper than 32"));
                    }
                    return Ok(Node::Start(element));
                }
                Event::Empty(start) => {
                    let element = element(namespace.ok_or_else(undeclared)?, &start, true)?;
                    self.depth += 1;
                    self.pending_end = true;
                    return Ok(Node::Start(element));
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Node::End);
                }
                Event::Text(text) => return Ok(Node::Text(text.into_inner().into_owned())),
                Event::CData(text) => return Ok(Node::Text(text.into_inner().into_owned())),
                Event::GeneralRef(reference) => return Ok(Node::Text(character(&reference.into_inner())?)),
                Event::Comment(_) => {}
                Event::Decl(declaration) => {
                    let encoding = declaration.encoding().transpose();
                    let encoding = encoding.map_err(|e| SoapError::malformed(e.to_string()))?;
                    if encoding.is_some_and(|name| !name.eq_ignore_ascii_case("utf-8")) {
                        return Err(SoapError::Refused("an encoding other than UTF-8"));
                    }
                }
                Event::PI(_) => return Err(SoapError::Refused("a processing instruction")),
                Event::DocType(_) => return Err(SoapError::Refused("a document type declaration")),
                Event::Eof if self.depth > 0 => return Err(SoapError::malformed("the document ends early")),
                Event::Eof => return Ok(Node::Done),
            }
        }
    }

    /// The next element's start, or `None` at the end of the innermost element. Text between is dropped.
    pub fn next_child(&mut self) -> Result<Option<Element>, SoapError> {
        loop {
            match self.next_node()? {
                Node::Start(element) => return Ok(Some(element)),
                Node::End => return Ok(None),
                Node::Text(_) => {}
                Node::Done => return Err(SoapError::malformed("the document ends early")),
            }
        }
    }

    /// The text up to the end of the innermost element; elements inside are refused.
    pub fn text(&mut self) -> Result<String, SoapError> {
        let mut text = String::new();
        loop {
            match self.next_node()? {
                Node::Text(more) => text.push_str(&more),
                Node::End => return Ok(text.trim().to_owned()),
                Node::Start(_) => return Err(SoapError::malformed("an element where text belongs")),
                Node::Done => return Err(SoapError::malformed("the document ends early")),
            }
        }
    }

    /// Everything up to the end of the innermost element, dropped.
    pub fn skip(&mut self) -> Result<(), SoapError> {
        let target = self.depth - usize::from(self.depth > 0);
        while self.depth > target {
            if self.next_node()? == Node::Done {
                return Err(SoapError::malformed("the document ends early"));
            }
        }
        Ok(())
    }

    /// The name that `text` stands for, its prefix resolved where the reader stands.
    pub fn qualified(&self, text: &str) -> Result<Name, SoapError> {
        let (local, prefix) = QName(text).decompose();
        match self.xml.resolver().resolve_prefix(prefix, true) {
            ResolveResult::Bound(namespace) => Ok(Name::new(namespace.0, local.into_inner())),
            ResolveResult::Unbound => Ok(Name::new("", local.into_inner())),
            ResolveResult::Unknown(_) => Err(SoapError::malformed("a prefix that is not declared")),
        }
    }

    /// Raw text up to the next `<`, in pieces, straight from below: not counted, not held. References to white space
    /// are passed as a blank; any other is refused. Call it right after the start of an element that is not empty.
    pub fn raw_text(
        &mut self,
        mut piece: impl FnMut(&[u8]) -> Result<(), SoapError>,
    ) -> Result<(), SoapError> {
        if self.pending_end {
            return Ok(());
        }
        self.xml.get_mut().data = true;
        let copied = copy_text(self.xml.get_mut(), &mut piece);
        self.xml.get_mut().data = false;
        copied
    }

    /// Whether the next byte begins markup, white space before it dropped.
    pub fn at_markup(&mut self) -> Result<bool, SoapError> {
        if self.pending_end {
            return Ok(true);
        }
        let stream = self.xml.get_mut();
        loop {
            let available = stream.fill_buf()?;
            let Some(at) = available.iter().position(|b| !b.is_ascii_whitespace()) else {
                let count = available.len();
                if count == 0 {
                    return Err(SoapError::malformed("the document ends early"));
                }
                stream.consume(count);
                continue;
            };
            let markup = available[at] == b'<';
            stream.consume(at);
            return Ok(markup);
        }
    }

    /// The reader below, to go on where the document ended.
    pub fn into_inner(self) -> R {
        self.xml.into_inner().inner
    }
}

fn copy_text(
    stream: &mut impl BufRead,
    piece: &mut impl FnMut(&[u8]) -> Result<(), SoapError>,
) -> Result<(), SoapError> {
    loop {
        let available = stream.fill_buf()?;
        if available.is_empty() {
            return Err(SoapError::malformed(
                "the document ends in the middle of its data",
            ));
        }
        let end = memchr::memchr2(b'<', b'&', available);
        let text = &available[..end.unwrap_or(available.len())];
        let count = text.len();
        let stop = end.map(|at| available[at]);
        piece(text)?;
        stream.consume(count);
        match stop {
            Some(b'<') => return Ok(()),
            Some(_) => {
                white_reference(stream)?;
                piece(b" ")?;
            }
            None => {}
        }
    }
}

/// Axis 1.4 writes line ends of base64 as references.
fn white_reference(stream: &mut impl BufRead) -> Result<(), SoapError> {
    let mut reference = Vec::new();
    stream
        .by_ref()
        .take(REFERENCE_BYTES_MAX as u64)
        .read_until(b';', &mut reference)?;
    match &reference[..] {
        b"&#13;" | b"&#10;" | b"&#9;" | b"&#32;" | b"&#xd;" | b"&#xD;" | b"&#xa;" | b"&#xA;" | b"&#x9;" => {
            Ok(())
        }
        _ => Err(SoapError::malformed("a reference inside base64 data")),
    }
}

fn element(namespace: String, start: &BytesStart<'_>, empty: bool) -> Result<Element, SoapError> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|e| SoapError::malformed(e.to_string()))?;
        if attribute.key.as_namespace_binding().is_some() {
            continue;
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        attributes.push((
            attribute.key.local_name().into_inner().to_owned(),
            value.into_owned(),
        ));
    }
    let local = start.local_name().into_inner().to_owned();
    Ok(Element {
        name: Name { namespace, local },
        attributes,
        empty,
    })
}

impl Element {
    /// Whether it was written as `<a/>`.
    pub fn is_empty(&self) -> bool {
        self.empty
    }
}

/// A reference in text: one of the predefined five, or a character by number.
fn character(reference: &str) -> Result<String, SoapError> {
    if let Some(text) = resolve_xml_entity(reference) {
        return Ok(text.to_owned());
    }
    let number = reference
        .strip_prefix('#')
        .and_then(|digits| match digits.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        });
    let character = number.and_then(char::from_u32);
    character
        .map(String::from)
        .ok_or(SoapError::Refused("an entity that is not predefined"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<Node>, SoapError> {
        let mut reader = XmlReader::new(text.as_bytes());
        let mut nodes = Vec::new();
        loop {
            match reader.next_node()? {
                Node::Done => return Ok(nodes),
                node => nodes.push(node),
            }
        }
    }

    #[test]
    fn names_are_resolved_and_references_read() {
        let nodes =
            all("<?xml version='1.0' encoding='utf-8'?><a:b xmlns:a='urn:x' c='&lt;'>x&amp;&#65;<d/></a:b>")
                .unwrap();
        let Node::Start(first) = &nodes[0] else {
            panic!("{nodes:?}");
        };
        assert_eq!(first.name, Name::new("urn:x", "b"));
        assert_eq!(first.attribute("c"), Some("<"));
        let text: String = nodes
            .iter()
            .filter_map(|n| {
                if let Node::Text(t) = n {
                    Some(t.as_str())
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(text, "x&A");
        assert_eq!(nodes.iter().filter(|n| **n == Node::End).count(), 2);
    }

    #[test]
    fn bombs_are_refused() {
        let deep = "<a>".repeat(40);
        let long = format!("<a b='{}'/>", "x".repeat(70_000));
        let text = format!("<a>{}</a>", "x".repeat(70_000));
        for bad in [
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            "<a>&b;</a>",
            "<?php x?><a/>",
            "<?xml version='1.0' encoding='utf-16'?><a/>",
            "<x:a/>",
            "<a>",
            "<a></b>",
            "<a b='1' b='2'/>",
            &deep,
            &long,
            &text,
        ] {
            assert!(all(bad).is_err(), "{}", &bad[..bad.len().min(60)]);
        }
    }

    #[test]
    fn raw_text_passes_without_limit() {
        let text = format!("<a>{}&#xd;AA</a>", "QUJD".repeat(50_000));
        let mut reader = XmlReader::new(text.as_bytes());
        assert!(matches!(reader.next_node(), Ok(Node::Start(_))));
        assert!(!reader.at_markup().unwrap());
        let mut bytes = 0;
        reader
            .raw_text(|piece| {
                bytes += piece.len();
                Ok(())
            })
            .unwrap();
        assert_eq!(bytes, 200_003);
        assert_eq!(reader.next_node().unwrap(), Node::End);
        assert_eq!(reader.next_node().unwrap(), Node::Done);
    }
}
