//! Envelopes there and back, and what is refused of them. No service: `tests/` has that.

use super::base64::{encode, encoded_bytes};
use super::envelope::ReadFault;
use super::escape::escape;
use super::names::{BYTEIO, PROPERTIES, RANDOM, SOAP, STREAM, XOP};
use super::reader::OTHER_ENCODING;
use super::request::{BLOCK_MAX, OFFSET_MAX};
use super::write::{Data, action_of, element_of, request, response};
use super::*;

fn operations() -> Vec<Operation> {
    let mut operations = vec![
        Operation::Read {
            start_offset: OFFSET_MAX,
            block_bytes: BLOCK_MAX,
            blocks: 7,
            stride_bytes: -3,
        },
        Operation::Write {
            start_offset: 5,
            block_bytes: 6,
            stride_bytes: i64::MIN,
        },
        Operation::Append,
        Operation::TruncAppend { offset: 9 },
        Operation::OpenStream,
        Operation::Destroy,
    ];
    for origin in [Origin::Beginning, Origin::Current, Origin::End] {
        let offset = -8;
        operations.push(Operation::SeekWrite { offset, origin });
        operations.push(Operation::SeekRead {
            offset,
            origin,
            bytes: u64::from(u32::MAX),
        });
    }
    let names = vec![Name::new("urn:one", "Size"), Name::new("urn:two", "Readable")];
    operations.push(Operation::Properties {
        names: names[..1].to_vec(),
        multiple: false,
    });
    operations.push(Operation::Properties {
        names,
        multiple: true,
    });
    operations
}

fn opened(text: &str) -> Result<Opening, SoapError> {
    Envelope::open(text.as_bytes()).map(|envelope| envelope.opening().clone())
}

/// The opening, and inline data.
fn read(text: &str) -> Result<(Opening, Vec<u8>), SoapError> {
    let mut envelope = Envelope::open(text.as_bytes())?;
    let mut data = Vec::new();
    envelope.copy_inline(|piece| {
        data.extend_from_slice(piece);
        Ok(())
    })?;
    Ok((envelope.opening().clone(), data))
}

fn enveloped(body: &str) -> String {
    format!("<s:Envelope xmlns:s='{SOAP}' xmlns:p='{RANDOM}'><s:Body>{body}</s:Body></s:Envelope>")
}

/// An append around what stands in its transfer-information.
fn append(transfer: &str) -> String {
    let uri = Mechanism::Simple.uri();
    enveloped(&format!(
        "<p:append xmlns:b='{BYTEIO}' xmlns:x='{XOP}'>\
         <p:transfer-information transfer-mechanism='{uri}'>{transfer}</p:transfer-information></p:append>"
    ))
}

#[test]
fn every_request_that_is_written_is_read_as_the_same() {
    for operation in operations() {
        let data = matches!(operation, Operation::Append).then_some(Mechanism::Dime);
        let mechanism = data.unwrap_or(Mechanism::Simple);
        let text = request(
            &operation,
            mechanism,
            Data::Elsewhere,
            "http://h/f?a&b",
            "urn:<1>",
        )
        .whole();
        let opening = opened(&text).unwrap();
        assert_eq!(opening.message_id.as_deref(), Some("urn:<1>"));
        assert_eq!(Request::of(&opening), Ok(Request { operation, mechanism }));
    }
}

/// Whoever makes a client from the description sends what is read here.
#[test]
fn the_description_has_the_elements_and_actions_of_every_request() {
    let text = super::wsdl::describe("http://here:1/file");
    for operation in operations() {
        let (namespace, local) = element_of(&operation);
        if operation == Operation::Destroy {
            continue;
        }
        for part in [
            format!("soapAction=\"{}\"", action_of(&operation)),
            format!("<xsd:schema targetNamespace=\"{namespace}\""),
            format!("<xsd:element name=\"{local}\""),
            format!("<xsd:element name=\"{local}Response\""),
            format!("<wsdl:message name=\"{local}Request\">"),
        ] {
            assert!(text.contains(&part), "{part}");
        }
    }
    assert_eq!(Mechanism::ALL.map(Mechanism::name), ["mtom", "dime", "simple"]);
}

#[test]
fn what_is_no_text_is_refused_by_its_first_bytes() {
    for (bytes, why) in [
        ([0x1f, 0x8b, 8, 0], "compressed bytes where XML belongs"),
        ([0xff, 0xfe, b'<', 0], OTHER_ENCODING),
        ([b'<', 0, b's', 0], OTHER_ENCODING),
    ] {
        let found = Envelope::open(&bytes[..]).map(|_| ());
        assert_eq!(
            found.unwrap_err().to_string(),
            SoapError::Refused(why).to_string()
        );
    }
}

#[test]
fn every_response_says_where_its_data_are() {
    let data = b"thirteen bytes";
    let mut base64 = Vec::new();
    encode(data, &mut base64);
    assert_eq!(base64.len() as u64, encoded_bytes(data.len() as u64));
    let base64 = String::from_utf8(base64).unwrap();
    for mechanism in Mechanism::ALL {
        for (place, between, payload, found) in [
            (Data::Elsewhere, "", Payload::Absent, &b""[..]),
            (Data::Inline, "", Payload::Empty, b""),
            (Data::Inline, base64.as_str(), Payload::Inline, data),
            (
                Data::Include("a%40b"),
                "",
                Payload::Include("a@b".to_owned()),
                b"",
            ),
        ] {
            let around = response(&Operation::Append, mechanism, place, Some("urn:1"));
            let text = around.before + between + &around.behind;
            let (opening, bytes) = read(&text).unwrap();
            assert_eq!(opening.body, Name::new(RANDOM, "appendResponse"));
            assert_eq!(opening.mechanism, Some(mechanism.uri()));
            assert_eq!((opening.payload, bytes.as_slice()), (payload, found));
        }
    }
}

#[test]
fn what_stands_around_or_beside_the_data_is_refused_but_for_white_space_and_any() {
    for (same, payload) in [
        ("<b:data>QUJD</b:data>", Payload::Inline),
        (" <b:data> QUJD </b:data>\n", Payload::Inline),
        (
            "<b:any> <b:any><b:data>QUJD</b:data> </b:any></b:any>",
            Payload::Inline,
        ),
        (
            "<b:any><b:data><x:Include href='cid:i'/> </b:data></b:any>",
            Payload::Include("i".into()),
        ),
        ("<b:any></b:any>", Payload::Absent),
    ] {
        let (opening, data) = read(&append(same)).unwrap_or_else(|e| panic!("{same}: {e}"));
        let expected: &[u8] = if payload == Payload::Inline { b"ABC" } else { b"" };
        assert_eq!(
            (&opening.payload, data.as_slice()),
            (&payload, expected),
            "{same}"
        );
    }
    for bad in [
        "<b:data>QUJD</b:data><b:data>QUJD</b:data>",
        "<b:data/><b:data/>",
        "<b:data/><b:any/>",
        "<b:data>QUJD</b:data>x",
        "<b:any><b:data>QUJD</b:data>x</b:any>",
        "<b:data><x:Include href='cid:i'/>x</b:data>",
        "<b:data><x:Include href='cid:i'>x</x:Include></b:data>",
        "<b:data><x:Include href='http://h/'/></b:data>",
        "<b:data><x:Include/></b:data>",
        "<b:data><x:Include href='cid:%ff'/></b:data>",
        "<b:data><b:Include href='cid:i'/></b:data>",
        "<x:data>QUJD</x:data>",
        "<p:any/>",
    ] {
        assert!(read(&append(bad)).is_err(), "{bad}");
    }
}

#[test]
fn inline_data_are_handed_on_once() {
    let text = append("<b:data>QUJD</b:data>");
    let mut envelope = Envelope::open(text.as_bytes()).unwrap();
    let mut count = 0;
    for _ in 0..2 {
        envelope
            .copy_inline(|piece| {
                count += piece.len();
                Ok(())
            })
            .unwrap();
    }
    assert_eq!(count, 3);
    assert!(
        envelope.into_inner().is_empty(),
        "the document was read to its end"
    );
}

#[test]
fn a_document_is_one_envelope_with_one_body_of_one_element() {
    let good = enveloped("<p:append/>");
    for same in [
        format!(" \n{good}\n "),
        good.replace("<s:Body>", "<s:Header/> <s:Body> ")
            .replace("</s:Body>", " </s:Body> "),
    ] {
        assert_eq!(opened(&same).unwrap().body.local, "append", "{same}");
    }
    for bad in [
        format!("x{good}"),
        format!("{good}x"),
        format!("{good}{good}"),
        good.replace("Body>", "Corpus>"),
        good.replace("s:Body>", "p:Body>"),
        good.replace("<s:Body>", "<s:Header/><s:Header/><s:Body>"),
        good.replace("</s:Body>", "</s:Body><s:Body/>"),
        good.replace("</s:Body>", "</s:Body>x"),
        enveloped(""),
        enveloped("<p:append/><p:append/>"),
        enveloped("<p:append>x</p:append>"),
        enveloped("<p:append><p:transfer-information/><p:transfer-information/></p:append>"),
        enveloped("<p:append><p:a>x<p:b/></p:a></p:append>"),
        "<Envelopes/>".to_owned(),
        String::new(),
    ] {
        assert!(opened(&bad).is_err(), "{bad}");
    }
    let later = good.replace(SOAP, "http://www.w3.org/2003/05/soap-envelope");
    assert!(matches!(opened(&later), Err(SoapError::Version)));
    for bytes in [
        &b"\xfe\xff\0<"[..],
        b"\xff\xfe<\0",
        b"\0<\0?",
        b"<\0?\0",
        b"\x1f\x8b\x08",
    ] {
        assert!(
            matches!(Envelope::open(bytes), Err(SoapError::Refused(_))),
            "{bytes:?}"
        );
    }
}

#[test]
fn a_header_that_must_be_understood_is_a_fault_unless_it_is_known() {
    let with = |header: &str| {
        let header = format!("<s:Header>{header}</s:Header><s:Body>");
        opened(&enveloped("<p:append/>").replace("<s:Body>", &header))
    };
    let addressing = super::names::ADDRESSING;
    for fine in [
        "<p:Trace><p:deep>x</p:deep></p:Trace>".to_owned(),
        "<p:Trace s:mustUnderstand='0'/>".to_owned(),
        format!("<a:To xmlns:a='{addressing}' s:mustUnderstand='1'>x</a:To>"),
    ] {
        assert_eq!(with(&fine).unwrap().message_id, None, "{fine}");
    }
    for yes in ["1", "true"] {
        let Err(error) = with(&format!("<p:Lock s:mustUnderstand='{yes}'/>")) else {
            panic!("{yes} was accepted");
        };
        assert!(error.to_string().contains("Lock"));
        assert_eq!(Fault::from(error).code, "MustUnderstand");
    }
    assert_eq!(Fault::from(SoapError::Version).code, "VersionMismatch");
    assert_eq!(Fault::from(SoapError::malformed("x")).code, "Client");
}

#[test]
fn fields_are_flattened_to_their_leaves_and_bounded() {
    let opening = opened(&enveloped(
        "<p:a><p:size> 5 </p:size><p:end><p:port>7</p:port></p:end></p:a>",
    ))
    .unwrap();
    let found: Vec<_> = opening
        .fields
        .iter()
        .map(|(name, value)| (name.local.as_str(), value.as_str()))
        .collect();
    assert_eq!(found, [("size", "5"), ("port", "7"), ("end", "")]);
    assert_eq!((opening.field("port"), opening.field("host")), (Some("7"), None));
    let many = |count: usize| opened(&enveloped(&format!("<p:a>{}</p:a>", "<p:b/>".repeat(count))));
    assert_eq!(many(64).unwrap().fields.len(), 64);
    assert!(matches!(many(100), Err(SoapError::Refused(_))));
}

#[test]
fn requests_with_numbers_out_of_range_or_fields_unknown_missing_or_twice_are_faults() {
    let uri = Mechanism::Simple.uri();
    let transfer = format!("<p:transfer-information transfer-mechanism='{uri}'/>");
    let ask = |namespace: &str, local: &str, fields: &str, transfer: &str| {
        let body = format!("<p:{local} xmlns:p='{namespace}'>{fields}{transfer}</p:{local}>");
        Request::of(&opened(&enveloped(&body)).unwrap())
    };
    let cut = |fields: &str| ask(RANDOM, "truncAppend", fields, &transfer);
    for fine in ["0", "+5", "9223372036854775807"] {
        assert!(cut(&format!("<p:offset>{fine}</p:offset>")).is_ok(), "{fine}");
    }
    for bad in ["9223372036854775808", "-1", "x", ""] {
        let fault = cut(&format!("<p:offset>{bad}</p:offset>")).unwrap_err();
        assert_eq!(fault.detail, Some((BYTEIO, "CustomFault")), "{bad}");
    }
    for bad in [
        "",
        "<p:offset>1</p:offset><p:offset>1</p:offset>",
        "<p:offset>1</p:offset><p:length>1</p:length>",
        "<q:offset xmlns:q='urn:q'>1</q:offset>",
    ] {
        let fault = cut(bad).unwrap_err();
        assert_eq!((fault.code, fault.detail), ("Client", None), "{bad}");
    }
    let offset = "<p:offset>1</p:offset>";
    assert!(
        ask(RANDOM, "append", offset, &transfer).is_err(),
        "append takes nothing"
    );
    assert!(ask(RANDOM, "truncAppend", offset, "").is_err(), "no mechanism");
    assert!(
        ask(RANDOM, "erase", offset, &transfer).is_err(),
        "no such operation"
    );
    let seek = |origin: &str, more: &str| {
        let origin = format!("{offset}<p:seek-origin>{origin}</p:seek-origin>{more}");
        ask(STREAM, "seekWrite", &origin, &transfer)
    };
    assert!(seek(&Origin::End.uri(), "").is_ok());
    assert!(seek(&Origin::End.uri(), "<p:num-bytes>1</p:num-bytes>").is_err());
    assert!(seek("urn:middle", "").is_err());
    let other = "<p:transfer-information transfer-mechanism='urn:pigeon'/>";
    let fault = ask(RANDOM, "append", "", other).unwrap_err();
    assert_eq!(fault.detail, Some((BYTEIO, "UnsupportedTransferFault")));
    let asked = ask(PROPERTIES, "GetResourceProperty", "", "");
    assert_eq!(asked.unwrap().mechanism, Mechanism::Simple, "it moves no data");
}

#[test]
fn a_fault_comes_back_by_name_and_only_an_unnamed_one_of_the_server_may_pass() {
    let (long, text) = ("u".repeat(500), "a < b & \"c\"");
    assert!(Fault::unsupported_transfer(&long).text.len() < 250);
    for (fault, name) in [
        (Fault::client(text), "Client"),
        (Fault::read_not_permitted(text), "ReadNotPermittedFault"),
        (Fault::write_not_permitted(text), "WriteNotPermittedFault"),
        (Fault::truncate_not_permitted(text), "TruncateNotPermittedFault"),
        (Fault::seek_not_permitted(text), "SeekNotPermittedFault"),
        (Fault::resource_unknown(text), "ResourceUnknownFault"),
        (Fault::custom(text), "CustomFault"),
        (Fault::server(text), "CustomFault"),
    ] {
        let opening = opened(&fault.envelope("2026-01-01T00:00:00Z")).unwrap();
        let read = ReadFault {
            name: name.to_owned(),
            text: text.to_owned(),
            passing: false,
        };
        assert_eq!(opening.fault, Some(read));
    }
    for (code, detail, passing) in [
        ("s:Server", "", true),
        ("s:Server.Busy", "<detail>in words<p:Busy/></detail>", true),
        ("s:Server", "<detail><p:CustomFault/></detail>", false),
        ("s:Client.Server", "", false),
    ] {
        let fault =
            format!("<s:Fault><faultcode>{code}</faultcode><faultactor>x</faultactor>{detail}</s:Fault>");
        let read = opened(&enveloped(&fault)).unwrap().fault.unwrap();
        assert_eq!(read.passing, passing, "{code} {detail}");
    }
}

#[test]
fn text_is_escaped_and_what_xml_cannot_hold_is_a_question_mark() {
    assert_eq!(
        escape("<a b=\"c\">&\n\r\t'\u{1}\u{e9}"),
        "&lt;a b=&quot;c&quot;&gt;&amp;\n\r\t'?\u{e9}"
    );
}

#[test]
fn fields_are_counted_wherever_they_are() {
    for (begin, end) in [("", ""), ("<p:in>", "</p:in>")] {
        let body = |fields: usize| {
            let field = format!("{begin}<p:f>1</p:f>{end}");
            enveloped(&format!("<p:read>{}</p:read>", field.repeat(fields)))
        };
        let each = 1 + usize::from(!begin.is_empty());
        let found = opened(&body(65 / each)).unwrap();
        assert_eq!(found.fields.len(), 65 / each * each);
        let refused = opened(&body(66 / each + 1)).unwrap_err();
        assert!(matches!(refused, SoapError::Refused(_)), "{refused:?}");
    }
}

#[test]
fn a_plain_response_has_its_content_and_what_it_relates_to() {
    for (relates_to, header) in [
        (None, ""),
        (Some("urn:<1>"), "<wsa:RelatesTo>urn:&lt;1&gt;</wsa:RelatesTo>"),
    ] {
        let text = super::write::plain_response("urn:a", "<a xmlns='urn:b'><c>d</c></a>", relates_to);
        let opening = opened(&text).unwrap();
        assert_eq!((opening.body, opening.fields.len()), (Name::new("urn:b", "a"), 1));
        assert!(
            text.contains(&format!("<wsa:Action>urn:a</wsa:Action>{header}</")),
            "{text}"
        );
    }
}
