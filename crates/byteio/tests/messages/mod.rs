//! Messages of every operation that stores, right and wrong, with what must come of them.

use wirespeed_byteio::mime::dime::{RecordHead, TypeFormat, padding};
use wirespeed_byteio::soap::names::{BYTEIO, RANDOM, SOAP, STREAM, XOP};

pub const OLD: &[u8] = b"0123456789";
pub const NEW: &[u8] = b"ABCDEFGH";
pub const BASE64: &str = "QUJDREVGR0g=";

/// What must come of a request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    /// Stored, every byte.
    Stored,
    /// Refused.
    Refused,
    /// No bytes were sent, and none are stored.
    Nothing,
    /// Refused, or stored exactly.
    Either,
}
use Fate::{Nothing, Refused, Stored};

/// An operation: its element with fields before the transfer-information, and what it makes of [`OLD`].
pub struct Stores {
    pub name: &'static str,
    pub namespace: &'static str,
    pub fields: &'static str,
    pub streams: bool,
    pub result: fn(&[u8]) -> Vec<u8>,
}

pub const ORIGIN: &str = "http://schemas.ggf.org/byteio/2005/10/streamable-access/seek-origins/beginning";

pub fn operations() -> [Stores; 5] {
    fn over(old: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
        let mut all = old.to_vec();
        all.resize(all.len().max(at + new.len()), 0);
        all[at..at + new.len()].copy_from_slice(new);
        all
    }
    [
        Stores {
            name: "write",
            namespace: RANDOM,
            fields: "<o:start-offset>4</o:start-offset><o:bytes-per-block>8</o:bytes-per-block><o:stride>0</o:stride>",
            streams: false,
            result: |new| over(OLD, 4, new),
        },
        Stores {
            name: "write",
            namespace: RANDOM,
            fields: "<o:start-offset>1</o:start-offset><o:bytes-per-block>2</o:bytes-per-block><o:stride>3</o:stride>",
            streams: false,
            result: |new| {
                let blocks = new.chunks(2).enumerate();
                blocks.fold(OLD.to_vec(), |all, (n, block)| over(&all, 1 + 3 * n, block))
            },
        },
        Stores {
            name: "append",
            namespace: RANDOM,
            fields: "",
            streams: false,
            result: |new| [OLD, new].concat(),
        },
        Stores {
            name: "truncAppend",
            namespace: RANDOM,
            fields: "<o:offset>3</o:offset>",
            streams: false,
            result: |new| [&OLD[..3], new].concat(),
        },
        Stores {
            name: "seekWrite",
            namespace: STREAM,
            fields: "<o:offset>5</o:offset><o:seek-origin>ORIGIN</o:seek-origin>",
            streams: true,
            result: |new| over(OLD, 5, new),
        },
    ]
}

/// Spellings of the transfer-information's content for data that travel in the envelope.
pub fn inline() -> Vec<(String, Fate)> {
    let data = |content: &str| format!("<b:data>{content}</b:data>");
    let mut all: Vec<(String, Fate)> = Vec::new();
    for text in [
        "QUJDREVGR0g=",
        "  QUJD\r\n\tREVG R0g=\n",
        "<![CDATA[QUJDREVGR0g=]]>",
        "QUJD<![CDATA[REVG]]>R0g=",
        "<![CDATA[QUJD]]><![CDATA[]]><![CDATA[REVGR0g=]]>",
        " <![CDATA[ QUJD REVG ]]> R0g= ",
        "<!-- x -->QUJDREVGR0g=",
        "QUJD<!-- x -->REVG<!---->R0g=<!-- y -->",
        "<!-- a --> <!-- b --><![CDATA[QUJDREVGR0g=]]><!-- c -->",
        "QUJD&#82;&#x45;VGR0g&#61;",
        "&#x51;UJDREVGR0g=",
        "QUJD&#xd;&#10;REVGR0g=&#13;",
    ] {
        all.push((data(text), Stored));
    }
    for text in [
        "QUJD<x/>REVGR0g=",
        "QUJD<b:data>REVGR0g=</b:data>",
        "<b:data>QUJDREVGR0g=</b:data>",
        "<x>QUJDREVGR0g=</x>",
        "QUJDREVGR0g=<x/>",
        "QUJD<?x y?>REVGR0g=",
        "<?x y?>QUJDREVGR0g=",
        "QUJD&lt;REVGR0g=",
        "QUJD&amp;REVGR0g=",
        "QUJD&x;REVGR0g=",
        "QUJDREVGR0g",
        "QUJDREVGR0g==",
        "QUJDREVGR0=g",
        "QUJDREVGR0g=QUJD",
        "QUJDREVGR0h=",
        "QUJDREVGR0g-",
        "QUJD\u{a0}REVGR0g=",
        "QUJDREVGR0g=]]>",
        "QUJDREVGR0g=<i:Include href=\"cid:d\"/>",
        "<i:Include href=\"cid:d\"/>",
        "<i:Include href=\"http://127.0.0.1/\"/>",
    ] {
        all.push((data(text), Refused));
    }
    let whole = data(BASE64);
    all.extend([
        (format!("<!-- x -->{whole}<!-- y --> "), Stored),
        (format!("<b:any>{whole}</b:any>"), Stored),
        (format!("<b:any><b:any> {whole} </b:any></b:any>"), Stored),
        ("<b:data/>".to_owned(), Nothing),
        (data(" <!-- x --> "), Nothing),
        (String::new(), Refused),
        ("<!-- x -->".to_owned(), Refused),
        ("<b:any/>".to_owned(), Refused),
        (BASE64.to_owned(), Refused),
        (format!("{whole}{whole}"), Refused),
        (format!("{whole}<b:data/>"), Refused),
        (format!("<b:data/>{whole}"), Refused),
        (format!("<b:any>{whole}</b:any>{whole}"), Refused),
        (format!("{whole}<x xmlns=\"urn:x\">QUJD</x>"), Refused),
        (format!("<x xmlns=\"urn:x\">QUJD</x>{whole}"), Refused),
        (format!("{whole}QUJD"), Refused),
        (format!("QUJD{whole}"), Refused),
        (format!("<data xmlns=\"urn:x\">{BASE64}</data>"), Refused),
        (format!("<data xmlns=\"\">{BASE64}</data>"), Refused),
        (format!("<o:data>{BASE64}</o:data>"), Refused),
        (format!("<b:Data>{BASE64}</b:Data>"), Refused),
    ]);
    all
}

/// The envelope of an operation around the content of its transfer-information.
pub fn envelope(operation: &Stores, mechanism: &str, content: &str) -> String {
    let fields = operation.fields.replace("ORIGIN", ORIGIN);
    let (name, namespace) = (operation.name, operation.namespace);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><s:Envelope xmlns:s=\"{SOAP}\" xmlns:o=\"{namespace}\" xmlns:b=\"{BYTEIO}\" xmlns:i=\"{XOP}\">\
         <s:Body><o:{name}>{fields}<o:transfer-information transfer-mechanism=\"http://schemas.ggf.org/byteio/2005/10/transfer-mechanisms/{mechanism}\">\
         {content}</o:transfer-information></o:{name}></s:Body></s:Envelope>"
    )
}

/// A whole request's body with its content type.
pub struct Message {
    pub what: String,
    pub kind: String,
    pub body: Vec<u8>,
    pub fate: Fate,
}

pub fn message(what: impl Into<String>, kind: &str, body: impl Into<Vec<u8>>, fate: Fate) -> Message {
    Message {
        what: what.into(),
        kind: kind.to_owned(),
        body: body.into(),
        fate,
    }
}

pub const XML: &str = "text/xml; charset=utf-8";
pub const RELATED: &str = "multipart/related; type=\"application/xop+xml\"; start=\"<r>\"; boundary=B";

pub fn simple(operation: &Stores) -> Vec<Message> {
    let mut all = Vec::new();
    for (content, fate) in inline() {
        for mechanism in ["simple", "mtom", "dime"] {
            let text = envelope(operation, mechanism, &content);
            all.push(message(format!("{mechanism} {content}"), XML, text, fate));
        }
        let root = envelope(operation, "mtom", &content);
        let (bare, alone) = ("<b:data/>", package(&[("r", root.as_bytes(), "")]));
        let fate = if content == bare { Nothing } else { fate };
        all.push(message(format!("a lone part {content}"), RELATED, alone, fate));
    }
    all.extend(wholes(operation));
    all
}

/// Envelopes that are more, less or other than one.
pub fn wholes(operation: &Stores) -> Vec<Message> {
    let whole = envelope(operation, "simple", &format!("<b:data>{BASE64}</b:data>"));
    let twice = |tag: &str| {
        let at = whole.find(tag).unwrap();
        let (_, rest) = whole.split_at(at);
        let element = rest
            .split_at(rest.find(&tag.replace('<', "</")).unwrap() + tag.len() + 2)
            .0;
        whole.replacen(element, &format!("{element}{element}"), 1)
    };
    let name = operation.name;
    let utf16: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let inside = |extra: &str| whole.replace(&format!("</o:{name}>"), &format!("{extra}</o:{name}>"));
    vec![
        message("as it is", XML, whole.clone(), Stored),
        message("a comment behind", XML, format!("{whole}<!-- x -->\n"), Stored),
        message("ascii", "text/xml; charset=us-ascii", whole.clone(), Stored),
        message("text behind", XML, format!("{whole}QUJD"), Refused),
        message("an element behind", XML, format!("{whole}<x/>"), Refused),
        message(
            "two transfer-informations",
            XML,
            twice("<o:transfer-information"),
            Refused,
        ),
        message("two operations", XML, twice(&format!("<o:{name}")), Refused),
        message(
            "a foreign sibling",
            XML,
            inside("<x xmlns=\"urn:x\">QUJD</x>"),
            Refused,
        ),
        message("text beside", XML, inside("QUJD"), Refused),
        message("a field behind", XML, inside("<o:offset>3</o:offset>"), Refused),
        message(
            "an unknown field",
            XML,
            whole.replacen("<o:transfer", "<o:num-blocks>7</o:num-blocks><o:transfer", 1),
            Refused,
        ),
        message(
            "a foreign transfer-information",
            XML,
            whole.replace("o:transfer-information", "b:transfer-information"),
            Refused,
        ),
        message(
            "another mechanism",
            XML,
            whole.replace("/simple", "/gridftp"),
            Refused,
        ),
        message(
            "no mechanism",
            XML,
            whole.replace("transfer-mechanism=", "mechanism="),
            Refused,
        ),
        message("cut", XML, &whole.as_bytes()[..whole.len() - 20], Refused),
        message("utf-16", "text/xml; charset=utf-16", utf16.clone(), Refused),
        message("utf-16 untold", "text/xml", utf16, Refused),
        message("latin", "text/xml; charset=iso-8859-1", whole.clone(), Refused),
        message("gzip untold", XML, &b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], Refused),
        message("no type", "", whole.clone(), Refused),
    ]
}

/// A part of a package: content ID, bytes, further header lines.
pub type Part<'a> = (&'a str, &'a [u8], &'a str);

/// A package of parts.
pub fn package(parts: &[Part<'_>]) -> Vec<u8> {
    let mut all = Vec::new();
    for (id, bytes, more) in parts {
        all.extend_from_slice(format!("--B\r\nContent-ID: <{id}>\r\n{more}\r\n").as_bytes());
        all.extend_from_slice(bytes);
        all.extend_from_slice(b"\r\n");
    }
    all.extend_from_slice(b"--B--\r\n");
    all
}

/// Envelopes of packages: with an include, with nothing, with their data.
pub struct Roots([String; 3]);

impl Roots {
    fn of(operation: &Stores) -> Roots {
        let inline = format!("<b:data>{BASE64}</b:data>");
        let include = "<b:data><i:Include href=\"cid:d\"/></b:data>";
        Roots([include, "", &inline].map(|content| envelope(operation, "mtom", content)))
    }

    fn bytes(&self) -> (&[u8], &[u8], &[u8]) {
        let [included, bare, inline] = &self.0;
        (included.as_bytes(), bare.as_bytes(), inline.as_bytes())
    }
}

pub fn packages(rows: &[(&str, &[Part<'_>], Fate)]) -> Vec<Message> {
    let one =
        |(what, parts, fate): &(&str, &[Part<'_>], Fate)| message(*what, RELATED, package(parts), *fate);
    rows.iter().map(one).collect()
}

pub fn right_packages(operation: &Stores) -> Vec<Message> {
    let roots = Roots::of(operation);
    let (included, bare, _) = roots.bytes();
    packages(&[
        ("an include", &[("r", included, ""), ("d", NEW, "")], Stored),
        ("a bare part", &[("r", bare, ""), ("x", NEW, "")], Stored),
        ("the root behind", &[("d", NEW, ""), ("r", included, "")], Stored),
        (
            "a told length",
            &[("r", included, ""), ("d", NEW, "Content-Length: 8\r\n")],
            Stored,
        ),
        ("no bytes", &[("r", included, ""), ("d", b"", "")], Nothing),
        (
            "binary",
            &[
                ("r", included, ""),
                ("d", NEW, "Content-Transfer-Encoding: binary\r\n"),
            ],
            Stored,
        ),
    ])
}

pub fn wrong_packages(operation: &Stores) -> Vec<Message> {
    let roots = Roots::of(operation);
    let (included, bare, inline) = roots.bytes();
    packages(&[
        (
            "a wrong length",
            &[("r", included, ""), ("d", NEW, "Content-Length: 9\r\n")],
            Refused,
        ),
        (
            "a wrong length first",
            &[("d", NEW, "Content-Length: 7\r\n"), ("r", included, "")],
            Refused,
        ),
        (
            "no length",
            &[("r", included, ""), ("d", NEW, "Content-Length: x\r\n")],
            Refused,
        ),
        ("no such part", &[("r", included, "")], Refused),
        ("another part", &[("r", included, ""), ("x", NEW, "")], Refused),
        ("no part", &[("r", bare, "")], Refused),
        (
            "two parts",
            &[("r", included, ""), ("d", NEW, ""), ("x", NEW, "")],
            Refused,
        ),
        (
            "two bare parts",
            &[("r", bare, ""), ("x", NEW, ""), ("y", NEW, "")],
            Refused,
        ),
        ("text and a part", &[("r", inline, ""), ("d", NEW, "")], Refused),
        ("a part and text", &[("d", NEW, ""), ("r", inline, "")], Refused),
        (
            "base64",
            &[
                ("r", included, ""),
                ("d", b"QUJD", "Content-Transfer-Encoding: base64\r\n"),
            ],
            Refused,
        ),
        (
            "a quoted root",
            &[
                ("r", included, "Content-Transfer-Encoding: quoted-printable\r\n"),
                ("d", NEW, ""),
            ],
            Refused,
        ),
    ])
}

pub fn mtom(operation: &Stores) -> Vec<Message> {
    let roots = Roots::of(operation);
    let (included, ..) = roots.bytes();
    let root = |content: &str| envelope(operation, "mtom", content);
    let mut all = right_packages(operation);
    all.extend(wrong_packages(operation));
    for (what, content) in [
        (
            "two includes",
            "<b:data><i:Include href=\"cid:d\"/><i:Include href=\"cid:d\"/></b:data>",
        ),
        (
            "an include and text",
            "<b:data><i:Include href=\"cid:d\"/>QUJD</b:data>",
        ),
        (
            "text and an include",
            "<b:data>QUJD<i:Include href=\"cid:d\"/></b:data>",
        ),
        (
            "an include with content",
            "<b:data><i:Include href=\"cid:d\">QUJD</i:Include></b:data>",
        ),
        ("an include of no address", "<b:data><i:Include/></b:data>"),
        (
            "a foreign include",
            "<b:data><Include xmlns=\"urn:x\" href=\"cid:d\"/></b:data>",
        ),
        (
            "two data elements",
            "<b:data><i:Include href=\"cid:d\"/></b:data><b:data>QUJD</b:data>",
        ),
    ] {
        let body = package(&[("r", root(content).as_bytes(), ""), ("d", NEW, "")]);
        all.push(message(what, RELATED, body, Refused));
    }
    let spelled = root("<b:data> <!-- x --> <i:Include href=\"cid:%64\"/> <!-- y --></b:data>");
    let body = package(&[("r", spelled.as_bytes(), ""), ("d", NEW, "")]);
    all.push(message("a spelled include", RELATED, body, Stored));
    let good = package(&[("r", included, ""), ("d", NEW, "")]);
    let cut = good[..good.len() - 8].to_vec();
    all.push(message("no closing boundary", RELATED, cut, Refused));
    all.push(message(
        "an epilogue",
        RELATED,
        [&good[..], b"bye"].concat(),
        Stored,
    ));
    all
}

/// A record, its data padded.
pub fn record(flags: (bool, bool, bool), format: TypeFormat, id: &str, data: &[u8]) -> Vec<u8> {
    let head = RecordHead {
        begins: flags.0,
        ends: flags.1,
        chunked: flags.2,
        format,
        id: id.to_owned(),
        kind: String::new(),
        data_bytes: data.len() as u32,
    };
    let mut all = head.to_bytes();
    all.extend_from_slice(data);
    all.resize(all.len() + padding(data.len() as u64), 0);
    all
}

pub fn right_records(operation: &Stores) -> Vec<Message> {
    const KIND: &str = "application/dime";
    let root = |content: &str, ends| {
        let text = envelope(operation, "dime", content);
        record((true, ends, false), TypeFormat::Uri, "r", text.as_bytes())
    };
    let media = TypeFormat::Media;
    let last = |data: &[u8]| record((false, true, false), media, "d", data);
    let include = "<b:data><i:Include href=\"cid:d\"/></b:data>";
    let inline = format!("<b:data>{BASE64}</b:data>");
    let first = record((false, false, true), media, "d", &NEW[..5]);
    let next = |ends, format| record((false, ends, false), format, "", &NEW[5..]);
    let good = [root("", false), last(NEW)].concat();
    [
        ("a record", good.clone(), Stored),
        ("an include", [root(include, false), last(NEW)].concat(), Stored),
        (
            "chunks",
            [root("", false), first.clone(), next(true, TypeFormat::Unchanged)].concat(),
            Stored,
        ),
        ("no bytes", [root("", false), last(b"")].concat(), Nothing),
        ("text", root(&inline, true), Stored),
    ]
    .into_iter()
    .map(|(what, body, fate)| message(what, KIND, body, fate))
    .collect()
}

pub fn wrong_records(operation: &Stores) -> Vec<Message> {
    const KIND: &str = "application/dime";
    let root = |content: &str, ends| {
        let text = envelope(operation, "dime", content);
        record((true, ends, false), TypeFormat::Uri, "r", text.as_bytes())
    };
    let media = TypeFormat::Media;
    let last = |data: &[u8]| record((false, true, false), media, "d", data);
    let other = "<b:data><i:Include href=\"cid:x\"/></b:data>";
    let inline = format!("<b:data>{BASE64}</b:data>");
    let first = record((false, false, true), media, "d", &NEW[..5]);
    let next = |ends, format| record((false, ends, false), format, "", &NEW[5..]);
    let good = [root("", false), last(NEW)].concat();
    let no_first = record(
        (false, false, false),
        TypeFormat::Uri,
        "r",
        envelope(operation, "dime", "").as_bytes(),
    );
    [
        ("no record", root("", true), Refused),
        (
            "text and a record",
            [root(&inline, false), last(NEW)].concat(),
            Refused,
        ),
        (
            "another record",
            [root(other, false), last(NEW)].concat(),
            Refused,
        ),
        (
            "no last record",
            [root("", false), record((false, false, false), media, "d", NEW)].concat(),
            Refused,
        ),
        (
            "a third record",
            [
                root("", false),
                record((false, false, false), media, "d", NEW),
                last(NEW),
            ]
            .concat(),
            Refused,
        ),
        (
            "a chunk with a type",
            [root("", false), first.clone(), next(true, media)].concat(),
            Refused,
        ),
        (
            "a chunk too few",
            [root("", false), record((false, true, true), media, "d", NEW)].concat(),
            Refused,
        ),
        (
            "a chunk that is missing",
            [root("", false), first].concat(),
            Refused,
        ),
        ("cut", good[..good.len() - 3].to_vec(), Refused),
        ("more behind", [&good[..], b"more"].concat(), Refused),
        ("no first record", [no_first, last(NEW)].concat(), Refused),
    ]
    .into_iter()
    .map(|(what, body, fate)| message(what, KIND, body, fate))
    .collect()
}

/// Every message of an operation.
pub fn all(operation: &Stores) -> Vec<Message> {
    let by_mechanism = [
        simple(operation),
        mtom(operation),
        right_records(operation),
        wrong_records(operation),
    ];
    by_mechanism.into_iter().flatten().collect()
}
