//! Names of the ByteIO specification (GFD.87, GFD.88) and of what it builds on. Plain constants, no logic beyond look-up.

/// SOAP 1.1 envelope.
pub const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// WS-Addressing 1.0.
pub const ADDRESSING: &str = "http://www.w3.org/2005/08/addressing";
/// Types, the `data` element and the common faults.
pub const BYTEIO: &str = "http://schemas.ggf.org/byteio/2005/10/byte-io";
/// The random-access port type.
pub const RANDOM: &str = "http://schemas.ggf.org/byteio/2005/10/random-access";
/// The streamable port type.
pub const STREAM: &str = "http://schemas.ggf.org/byteio/2005/10/streamable-access";
/// Opening a stream has no name in the specification; this is what Genesis II calls it.
pub const STREAM_FACTORY: &str = "http://vcgr.cs.virginia.edu/sbyteio/2006/11/factory";
/// The include element of XOP.
pub const XOP: &str = "http://www.w3.org/2004/08/xop/include";
/// Resource properties.
pub const PROPERTIES: &str = "http://docs.oasis-open.org/wsrf/rp-2";
/// The actions of resource properties.
pub const PROPERTIES_ACTION: &str = "http://docs.oasis-open.org/wsrf/rpw-2";
/// Base faults.
pub const BASE_FAULTS: &str = "http://docs.oasis-open.org/wsrf/bf-2";
/// Faults of resources.
pub const RESOURCE: &str = "http://docs.oasis-open.org/wsrf/r-2";
/// Lifetime of resources.
pub const LIFETIME: &str = "http://docs.oasis-open.org/wsrf/rl-2";

const MECHANISMS: &str = "http://schemas.ggf.org/byteio/2005/10/transfer-mechanisms/";
const ORIGINS: &str = "http://schemas.ggf.org/byteio/2005/10/streamable-access/seek-origins/";

/// How data travel with a SOAP message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// Base64 inside the envelope.
    Simple,
    /// A part of a multipart/related message, included by XOP or bare.
    Mtom,
    /// The second record of a DIME message.
    Dime,
}

impl Mechanism {
    /// Every mechanism, best first.
    pub const ALL: [Mechanism; 3] = [Mechanism::Mtom, Mechanism::Dime, Mechanism::Simple];

    /// The name as typed.
    pub const fn name(self) -> &'static str {
        match self {
            Mechanism::Simple => "simple",
            Mechanism::Mtom => "mtom",
            Mechanism::Dime => "dime",
        }
    }

    /// The URI in `transfer-mechanism`.
    pub fn uri(self) -> String {
        format!("{MECHANISMS}{}", self.name())
    }

    /// The mechanism with this URI.
    pub fn of_uri(uri: &str) -> Option<Mechanism> {
        let name = uri.strip_prefix(MECHANISMS)?;
        Mechanism::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// Where the offset of a seek counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The first byte.
    Beginning,
    /// The stream's position.
    Current,
    /// Behind the last byte.
    End,
}

impl Origin {
    /// The URI in `seek-origin`.
    pub fn uri(self) -> String {
        let name = match self {
            Origin::Beginning => "beginning",
            Origin::Current => "current",
            Origin::End => "end",
        };
        format!("{ORIGINS}{name}")
    }

    /// The origin with this URI.
    pub fn of_uri(uri: &str) -> Option<Origin> {
        [Origin::Beginning, Origin::Current, Origin::End]
            .into_iter()
            .find(|origin| origin.uri() == uri)
    }
}
