//! The description of the service, one document for both port types, made for the address that it is asked at.
//!
//! Types are the narrower of the two published schemas, so that every stack's generated client stays within both.

use super::escape::escape;
use super::names::{BYTEIO, PROPERTIES, PROPERTIES_ACTION, RANDOM, STREAM, STREAM_FACTORY};
use std::fmt::Write as _;
use wirespeed_schema::order::InOrder;

const XSD: &str = "http://www.w3.org/2001/XMLSchema";
const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
const WSDL_SOAP: &str = "http://schemas.xmlsoap.org/wsdl/soap/";

/// Operations with the fields of their requests, in order.
pub(super) const RANDOM_OPERATIONS: [(&str, &[(&str, &str)]); 4] = [
    (
        "read",
        &[
            ("start-offset", "unsignedLong"),
            ("bytes-per-block", "unsignedInt"),
            ("num-blocks", "unsignedInt"),
            ("stride", "long"),
        ],
    ),
    (
        "write",
        &[
            ("start-offset", "unsignedLong"),
            ("bytes-per-block", "unsignedInt"),
            ("stride", "long"),
        ],
    ),
    ("append", &[]),
    ("truncAppend", &[("offset", "unsignedLong")]),
];
pub(super) const STREAM_OPERATIONS: [(&str, &[(&str, &str)]); 2] = [
    (
        "seekRead",
        &[
            ("offset", "long"),
            ("seek-origin", "anyURI"),
            ("num-bytes", "unsignedInt"),
        ],
    ),
    ("seekWrite", &[("offset", "long"), ("seek-origin", "anyURI")]),
];

/// The document for the service at `location`.
pub fn describe(location: &str) -> String {
    let location = escape(location);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <wsdl:definitions xmlns:wsdl=\"{WSDL}\" xmlns:soap=\"{WSDL_SOAP}\" xmlns:xsd=\"{XSD}\" xmlns:b=\"{BYTEIO}\" \
         xmlns:r=\"{RANDOM}\" xmlns:s=\"{STREAM}\" xmlns:f=\"{STREAM_FACTORY}\" xmlns:rp=\"{PROPERTIES}\" \
         targetNamespace=\"{RANDOM}\">\n<wsdl:types>\n{}{}{}{}{}</wsdl:types>\n",
        common_schema(),
        port_schema(RANDOM, &RANDOM_OPERATIONS),
        port_schema(STREAM, &STREAM_OPERATIONS),
        factory_schema(),
        properties_schema(),
    );
    let properties = ["GetResourceProperty", "GetMultipleResourceProperties"];
    let random = RANDOM_OPERATIONS
        .iter()
        .map(|(name, _)| Described::of("r", RANDOM, name));
    let stream = STREAM_OPERATIONS
        .iter()
        .map(|(name, _)| Described::of("s", STREAM, name));
    let shared = properties.iter().map(|name| Described {
        prefix: "rp",
        name,
        action: format!("{PROPERTIES_ACTION}/{name}/{name}Request"),
    });
    let open = Described::of("f", STREAM_FACTORY, "openStream");
    let random: Vec<_> = random.chain(shared.clone()).chain([open]).collect();
    let stream: Vec<_> = stream.chain(shared).collect();
    let mut messages: Vec<&Described> = random.iter().chain(&stream).collect();
    messages.order_by_key(|d| (d.prefix, d.name));
    messages.dedup_by_key(|d| (d.prefix, d.name));
    for described in messages {
        described.messages(&mut text);
    }
    port(&mut text, "RandomByteIO", &random, &location);
    port(&mut text, "StreamableByteIO", &stream, &location);
    text.push_str("</wsdl:definitions>\n");
    text
}

/// An operation of a port type.
#[derive(Clone)]
struct Described {
    prefix: &'static str,
    name: &'static str,
    action: String,
}

impl Described {
    fn of(prefix: &'static str, namespace: &str, name: &'static str) -> Self {
        Described {
            prefix,
            name,
            action: format!("{namespace}/{name}"),
        }
    }

    fn messages(&self, text: &mut String) {
        for (suffix, element) in [("Request", ""), ("Response", "Response")] {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "<wsdl:message name=\"{name}{suffix}\"><wsdl:part name=\"parameters\" element=\"{}:{name}{element}\"/></wsdl:message>",
                self.prefix,
                name = self.name,
            );
        }
    }
}

fn port(text: &mut String, kind: &str, operations: &[Described], location: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "<wsdl:portType name=\"{kind}PortType\">");
    for Described { name, .. } in operations {
        let _ = writeln!(
            text,
            "<wsdl:operation name=\"{name}\"><wsdl:input message=\"r:{name}Request\"/><wsdl:output message=\"r:{name}Response\"/></wsdl:operation>"
        );
    }
    let _ = writeln!(
        text,
        "</wsdl:portType>\n<wsdl:binding name=\"{kind}Binding\" type=\"r:{kind}PortType\">\n\
         <soap:binding style=\"document\" transport=\"http://schemas.xmlsoap.org/soap/http\"/>"
    );
    for Described { name, action, .. } in operations {
        let _ = writeln!(
            text,
            "<wsdl:operation name=\"{name}\"><soap:operation soapAction=\"{action}\"/>\
             <wsdl:input><soap:body use=\"literal\"/></wsdl:input><wsdl:output><soap:body use=\"literal\"/></wsdl:output></wsdl:operation>"
        );
    }
    let _ = writeln!(
        text,
        "</wsdl:binding>\n<wsdl:service name=\"{kind}Service\"><wsdl:port name=\"{kind}Port\" binding=\"r:{kind}Binding\">\
         <soap:address location=\"{location}\"/></wsdl:port></wsdl:service>"
    );
}

fn schema(namespace: &str, content: &str) -> String {
    format!(
        "<xsd:schema targetNamespace=\"{namespace}\" elementFormDefault=\"qualified\">\n{content}</xsd:schema>\n"
    )
}

fn common_schema() -> String {
    schema(
        BYTEIO,
        "<xsd:complexType name=\"transfer-information-type\"><xsd:sequence>\
         <xsd:any namespace=\"##any\" processContents=\"lax\" minOccurs=\"0\" maxOccurs=\"unbounded\"/></xsd:sequence>\
         <xsd:attribute name=\"transfer-mechanism\" type=\"xsd:anyURI\" use=\"required\"/></xsd:complexType>\n\
         <xsd:element name=\"data\" type=\"xsd:base64Binary\"/>\n",
    )
}

fn port_schema(namespace: &str, operations: &[(&str, &[(&str, &str)])]) -> String {
    let import = format!("<xsd:import namespace=\"{BYTEIO}\"/>\n");
    let transfer = "<xsd:element name=\"transfer-information\" type=\"b:transfer-information-type\"/>";
    let elements = operations.iter().map(|(name, fields)| {
        let fields: String = fields
            .iter()
            .map(|(field, kind)| format!("<xsd:element name=\"{field}\" type=\"xsd:{kind}\"/>"))
            .collect();
        let element = |name: &str, content: &str| {
            format!(
                "<xsd:element name=\"{name}\"><xsd:complexType><xsd:sequence>{content}</xsd:sequence></xsd:complexType></xsd:element>\n"
            )
        };
        element(name, &format!("{fields}{transfer}")) + &element(&format!("{name}Response"), transfer)
    });
    schema(namespace, &(import + &elements.collect::<String>()))
}

fn factory_schema() -> String {
    schema(
        STREAM_FACTORY,
        "<xsd:element name=\"openStream\"><xsd:complexType/></xsd:element>\n\
         <xsd:element name=\"openStreamResponse\"><xsd:complexType><xsd:sequence>\
         <xsd:element name=\"endpoint\"><xsd:complexType><xsd:sequence>\
         <xsd:any namespace=\"##any\" processContents=\"lax\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>\
         </xsd:sequence></xsd:complexType></xsd:element></xsd:sequence></xsd:complexType></xsd:element>\n",
    )
}

fn properties_schema() -> String {
    let any = "<xsd:complexType><xsd:sequence>\
               <xsd:any namespace=\"##any\" processContents=\"lax\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>\
               </xsd:sequence></xsd:complexType>";
    schema(
        PROPERTIES,
        &format!(
            "<xsd:element name=\"GetResourceProperty\" type=\"xsd:QName\"/>\n\
             <xsd:element name=\"GetResourcePropertyResponse\">{any}</xsd:element>\n\
             <xsd:element name=\"GetMultipleResourceProperties\"><xsd:complexType><xsd:sequence>\
             <xsd:element name=\"ResourceProperty\" type=\"xsd:QName\" maxOccurs=\"unbounded\"/>\
             </xsd:sequence></xsd:complexType></xsd:element>\n\
             <xsd:element name=\"GetMultipleResourcePropertiesResponse\">{any}</xsd:element>\n"
        ),
    )
}
