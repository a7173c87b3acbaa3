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
    /// Markup that was looked at and is to be read again.
    held: &'static [u8],
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
        if !self.held.is_empty() {
            return Ok(self.held);
        }
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
        if !self.held.is_empty() {
            self.held = &self.held[count..];
            return;
        }
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
            held: b"",
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
                    let element = element(namespace.ok_or_else(undeclared)?, &start)?;
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        return Err(SoapError::Refused("elements nest deeper than 32"));
                    }
                    return Ok(Node::Start(element));
                }
                Event::Empty(start) => {
                    let element = element(namespace.ok_or_else(undeclared)?, &start)?;
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
                    if encoding.is_some_and(|name| !is_utf8(&name)) {
                        return Err(SoapError::Refused(OTHER_ENCODING));
                    }
                }
                Event::PI(_) => return Err(SoapError::Refused("a processing instruction")),
                Event::DocType(_) => return Err(SoapError::Refused("a document type declaration")),
                Event::Eof if self.depth > 0 => return Err(SoapError::malformed("the document ends early")),
                Event::Eof => return Ok(Node::Done),
            }
        }
    }

    /// The next element's start, or `None` at the end of the innermost element. Text between is refused.
    pub fn next_child(&mut self) -> Result<Option<Element>, SoapError> {
        loop {
            match self.next_node()? {
                Node::Start(element) => return Ok(Some(element)),
                Node::End => return Ok(None),
                Node::Text(text) if is_blank(&text) => {}
                Node::Text(_) => return Err(SoapError::malformed("text where elements belong")),
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

    /// The text up to the end of the innermost element, however it is spelled (sections, references, comments between),
    /// in pieces, straight from below: not counted, not held. Elements and processing instructions inside are refused.
    /// Call it right after the start of the element, or after [`XmlReader::peek`] found text.
    pub fn data_text(
        &mut self,
        mut piece: impl FnMut(&[u8]) -> Result<(), SoapError>,
    ) -> Result<(), SoapError> {
        if !self.pending_end {
            copy_text(self.xml.get_mut(), &mut piece)?;
        }
        match self.next_node()? {
            Node::End => Ok(()),
            _ => Err(SoapError::malformed("an element inside the data")),
        }
    }

    /// What comes next in the innermost element; white space and comments before it are passed over.
    pub fn peek(&mut self) -> Result<Ahead, SoapError> {
        if self.pending_end {
            return Ok(Ahead::End);
        }
        let stream = self.xml.get_mut();
        loop {
            match peek_byte(stream)? {
                byte if is_space(byte) => stream.consume(1),
                b'<' => match markup(stream)? {
                    Markup::Comment => {}
                    Markup::Section => {
                        stream.held = SECTION;
                        return Ok(Ahead::Text);
                    }
                    Markup::End => return Ok(Ahead::End),
                    Markup::Element => return Ok(Ahead::Element),
                },
                _ => return Ok(Ahead::Text),
            }
        }
    }

    /// The reader below, to go on where the document ended.
    pub fn into_inner(self) -> R {
        self.xml.into_inner().inner
    }
}

/// What an element goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// Text, in whatever spelling.
    Text,
    /// An element, or markup that is refused when it is read.
    Element,
    /// Its end.
    End,
}

/// Why another encoding is refused.
pub const OTHER_ENCODING: &str = "an encoding other than UTF-8";

/// Whether text of this encoding can be read: UTF-8 and what is a part of it.
pub fn is_utf8(name: &str) -> bool {
    let names = ["utf-8", "utf8", "us-ascii", "ascii"];
    names.iter().any(|known| name.trim().eq_ignore_ascii_case(known))
}

/// White space of XML, which has fewer kinds of it than Unicode and ASCII.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether text between elements means nothing.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(is_space)
}

/// How a section begins.
const SECTION: &[u8] = b"<![CDATA[";

/// Markup inside of text.
enum Markup {
    /// A comment, which was read.
    Comment,
    /// A section, whose start was read.
    Section,
    /// The end of an element, to be read.
    End,
    /// Anything else, to be read.
    Element,
}

fn peek_byte(stream: &mut impl BufRead) -> Result<u8, SoapError> {
    let available = stream.fill_buf()?;
    let byte = available.first().copied();
    byte.ok_or_else(|| SoapError::malformed("the document ends in the middle of its data"))
}

/// Take `wanted` from the stream, or fail.
fn expect(stream: &mut impl BufRead, wanted: &[u8]) -> Result<(), SoapError> {
    for byte in wanted {
        if peek_byte(stream)? != *byte {
            return Err(SoapError::malformed("markup that is not XML"));
        }
        stream.consume(1);
    }
    Ok(())
}

/// The markup at a `<`.
fn markup<R: BufRead>(stream: &mut Limited<R>) -> Result<Markup, SoapError> {
    expect(stream, b"<")?;
    match peek_byte(stream)? {
        b'!' => {}
        b'/' => {
            stream.held = b"<";
            return Ok(Markup::End);
        }
        _ => {
            stream.held = b"<";
            return Ok(Markup::Element);
        }
    }
    stream.consume(1);
    if peek_byte(stream)? == b'[' {
        expect(stream, &SECTION[2..])?;
        return Ok(Markup::Section);
    }
    expect(stream, b"--")?;
    loop {
        let byte = peek_byte(stream)?;
        stream.consume(1);
        // Two hyphens end a comment and cannot be inside one.
        if byte == b'-' && peek_byte(stream)? == b'-' {
            expect(stream, b"->")?;
            return Ok(Markup::Comment);
        }
    }
}

/// Text up to the end of its element, or to whatever cannot be in it. Only characters are free of the envelope's limit.
fn copy_text<R: BufRead>(
    stream: &mut Limited<R>,
    piece: &mut impl FnMut(&[u8]) -> Result<(), SoapError>,
) -> Result<(), SoapError> {
    loop {
        stream.data = true;
        let stopped = copy_run(stream, |rest| memchr::memchr2(b'<', b'&', rest), piece);
        stream.data = false;
        match stopped? {
            b'<' => match markup(stream)? {
                Markup::Comment => {}
                Markup::Section => copy_section(stream, piece)?,
                Markup::End | Markup::Element => return Ok(()),
            },
            _ => piece(reference(stream)?.as_bytes())?,
        }
    }
}

/// Bytes up to the one that `find` finds, which is left and returned.
fn copy_run<R: BufRead>(
    stream: &mut Limited<R>,
    find: impl Fn(&[u8]) -> Option<usize>,
    piece: &mut impl FnMut(&[u8]) -> Result<(), SoapError>,
) -> Result<u8, SoapError> {
    loop {
        peek_byte(stream)?;
        let available = stream.fill_buf()?;
        let end = find(available);
        let stop = end.map(|at| available[at]);
        let count = end.unwrap_or(available.len());
        piece(&available[..count])?;
        stream.consume(count);
        if let Some(stop) = stop {
            return Ok(stop);
        }
    }
}

/// The rest of a section, which ends with `]]>` and has no markup in it.
fn copy_section<R: BufRead>(
    stream: &mut Limited<R>,
    piece: &mut impl FnMut(&[u8]) -> Result<(), SoapError>,
) -> Result<(), SoapError> {
    loop {
        stream.data = true;
        let stopped = copy_run(stream, |rest| memchr::memchr(b']', rest), piece);
        stream.data = false;
        stopped?;
        let mut brackets = 0;
        while peek_byte(stream)? == b']' {
            stream.consume(1);
            brackets += 1;
        }
        let ends = brackets >= 2 && peek_byte(stream)? == b'>';
        let text = if ends { brackets - 2 } else { brackets };
        for _ in 0..text {
            piece(b"]")?;
        }
        if ends {
            stream.consume(1);
            return Ok(());
        }
    }
}

/// The character that a reference stands for.
fn reference(stream: &mut impl BufRead) -> Result<String, SoapError> {
    let mut bytes = Vec::new();
    let limit = REFERENCE_BYTES_MAX as u64;
    stream.by_ref().take(limit).read_until(b';', &mut bytes)?;
    let name = bytes.strip_prefix(b"&").and_then(|rest| rest.strip_suffix(b";"));
    let name = name.and_then(|name| std::str::from_utf8(name).ok());
    character(name.ok_or_else(|| SoapError::malformed("a reference that does not end"))?)
}

fn element(namespace: String, start: &BytesStart<'_>) -> Result<Element, SoapError> {
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
    })
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

    /// The data of an element in this spelling, read through a buffer of any size.
    fn data(spelling: &str, buffer: usize) -> Result<String, SoapError> {
        let text = format!("<a>{spelling}</a>");
        let mut reader = XmlReader::new(std::io::BufReader::with_capacity(buffer, text.as_bytes()));
        assert!(matches!(reader.next_node(), Ok(Node::Start(_))));
        let mut found = Vec::new();
        reader.peek()?;
        reader.data_text(|piece| {
            found.extend_from_slice(piece);
            Ok(())
        })?;
        assert_eq!(reader.next_node()?, Node::Done);
        Ok(String::from_utf8(found).unwrap())
    }

    #[test]
    fn text_is_the_same_in_every_spelling() {
        for buffer in [1, 2, 7, 64] {
            for same in [
                "QUJD",
                "<![CDATA[QUJD]]>",
                "<!-- x -->QUJD",
                "QU<!-- - x - -->JD<!---->",
                "QU<![CDATA[]]>J<![CDATA[D]]>",
                "Q&#85;&#x4a;D",
                "<!--a--><!--b--> <![CDATA[QU]]>JD",
            ] {
                assert_eq!(data(same, buffer).unwrap(), "QUJD", "{same} by {buffer}");
            }
            assert_eq!(data("<![CDATA[a]]b]]]]>", buffer).unwrap(), "a]]b]]");
            for bad in [
                "QU<x/>JD",
                "QUJD<x>x</x>",
                "QU<?php x?>JD",
                "QU&x;JD",
                "QU&#x110000;JD",
                "QU<!-- -- -->JD",
                "QU<!DOCTYPE x>JD",
                "QU<![CDATA[JD",
                "QU<!-- x",
            ] {
                assert!(data(bad, buffer).is_err(), "{bad} by {buffer}");
            }
        }
    }

    #[test]
    fn characters_pass_without_limit_and_markup_does_not() {
        let plain = format!("{}&#xd;AA", "QUJD".repeat(50_000));
        assert_eq!(data(&plain, 8192).unwrap().len(), 200_003);
        let section = format!("<![CDATA[{}]]>", "QUJD".repeat(50_000));
        assert_eq!(data(&section, 8192).unwrap().len(), 200_000);
        let comment = format!("<!--{}-->", "x".repeat(70_000));
        assert!(data(&comment, 8192).is_err());
    }
}
