//! What a request asks for, out of its opening: numbers in range, known mechanisms, known origins. It never touches data.

use super::Name;
use super::envelope::Opening;
use super::fault::Fault;
use super::names::{Mechanism, Origin, PROPERTIES, RANDOM, STREAM, STREAM_FACTORY};
use super::wsdl;

/// Largest offset: both published schemas agree on 63 bits.
pub const OFFSET_MAX: u64 = i64::MAX as u64;
/// Largest block and largest number of blocks: both published schemas agree on 31 bits.
pub const BLOCK_MAX: u64 = i32::MAX as u64;

/// An operation with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// RandomByteIO read.
    Read {
        /// Offset of the first block.
        start_offset: u64,
        /// Bytes of a block.
        block_bytes: u64,
        /// Blocks.
        blocks: u64,
        /// From the start of a block to the start of the next; may be negative.
        stride_bytes: i64,
    },
    /// RandomByteIO write.
    Write {
        /// Offset of the first block.
        start_offset: u64,
        /// Bytes of a block.
        block_bytes: u64,
        /// From the start of a block to the start of the next.
        stride_bytes: i64,
    },
    /// Write behind the last byte.
    Append,
    /// Cut off at an offset, then write there.
    TruncAppend {
        /// The new length before the data.
        offset: u64,
    },
    /// StreamableByteIO read.
    SeekRead {
        /// From the origin.
        offset: i64,
        /// Where the offset counts from.
        origin: Origin,
        /// At most so many.
        bytes: u64,
    },
    /// StreamableByteIO write.
    SeekWrite {
        /// From the origin.
        offset: i64,
        /// Where the offset counts from.
        origin: Origin,
    },
    /// Make a stream of this resource.
    OpenStream,
    /// End this stream.
    Destroy,
    /// Resource properties by name.
    Properties {
        /// Which.
        names: Vec<Name>,
        /// Whether it was asked for in the plural.
        multiple: bool,
    },
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub operation: Operation,
    /// How data travel; `simple` where the operation has none.
    pub mechanism: Mechanism,
}

impl Request {
    /// The request that an opening asks for.
    pub fn of(opening: &Opening) -> Result<Request, Fault> {
        let operation = operation(opening)?;
        only_known_fields(opening)?;
        let moves_data = !matches!(
            operation,
            Operation::OpenStream | Operation::Destroy | Operation::Properties { .. }
        );
        let mechanism = match &opening.mechanism {
            Some(uri) => Mechanism::of_uri(uri).ok_or_else(|| Fault::unsupported_transfer(uri))?,
            None if moves_data => {
                return Err(Fault::client(
                    "the request has no transfer-information with a mechanism",
                ));
            }
            None => Mechanism::Simple,
        };
        Ok(Request { operation, mechanism })
    }
}

fn operation(opening: &Opening) -> Result<Operation, Fault> {
    let Name { namespace, local } = &opening.body;
    let number = |field: &str, max: u64| number(opening, field, max);
    match (namespace.as_str(), local.as_str()) {
        (RANDOM, "read") => Ok(Operation::Read {
            start_offset: number("start-offset", OFFSET_MAX)?,
            block_bytes: number("bytes-per-block", BLOCK_MAX)?,
            blocks: number("num-blocks", BLOCK_MAX)?,
            stride_bytes: signed(opening, "stride")?,
        }),
        (RANDOM, "write") => Ok(Operation::Write {
            start_offset: number("start-offset", OFFSET_MAX)?,
            block_bytes: number("bytes-per-block", BLOCK_MAX)?,
            stride_bytes: signed(opening, "stride")?,
        }),
        (RANDOM, "append") => Ok(Operation::Append),
        (RANDOM, "truncAppend") => Ok(Operation::TruncAppend {
            offset: number("offset", OFFSET_MAX)?,
        }),
        (STREAM, "seekRead") => Ok(Operation::SeekRead {
            offset: signed(opening, "offset")?,
            origin: origin(opening)?,
            bytes: number("num-bytes", u64::from(u32::MAX))?,
        }),
        (STREAM, "seekWrite") => Ok(Operation::SeekWrite {
            offset: signed(opening, "offset")?,
            origin: origin(opening)?,
        }),
        (STREAM_FACTORY, "openStream") => Ok(Operation::OpenStream),
        (super::names::LIFETIME, "Destroy") => Ok(Operation::Destroy),
        (PROPERTIES, "GetResourceProperty" | "GetMultipleResourceProperties") => Ok(Operation::Properties {
            names: opening.names.clone(),
            multiple: local == "GetMultipleResourceProperties",
        }),
        _ => Err(Fault::client(format!("no operation {{{namespace}}}{local}"))),
    }
}

/// What is not understood is a fault: it may be the part that matters. Elements of the other port types are Genesis II's
/// and WSRF's, which nest as they like.
fn only_known_fields(opening: &Opening) -> Result<(), Fault> {
    let Name { namespace, local } = &opening.body;
    let operations: &[(&str, &[(&str, &str)])] = match namespace.as_str() {
        RANDOM => &wsdl::RANDOM_OPERATIONS,
        STREAM => &wsdl::STREAM_OPERATIONS,
        _ => return Ok(()),
    };
    let described = operations.iter().find(|(name, _)| name == local);
    let is_known = |field: &str| described.is_some_and(|(_, all)| all.iter().any(|(name, _)| *name == field));
    for (at, (name, _)) in opening.fields.iter().enumerate() {
        let Name {
            namespace: space,
            local: field,
        } = name;
        if space != namespace || !is_known(field) {
            return Err(Fault::client(format!("{local} has no {{{space}}}{field}")));
        }
        if opening.fields[..at].iter().any(|(earlier, _)| earlier == name) {
            return Err(Fault::client(format!("{local} has {field} twice")));
        }
    }
    Ok(())
}

fn field<'a>(opening: &'a Opening, name: &str) -> Result<&'a str, Fault> {
    let value = opening.field(name);
    value.ok_or_else(|| {
        Fault::client(format!(
            "{} lacks {name}, or has it after the data",
            opening.body.local
        ))
    })
}

fn number(opening: &Opening, name: &str, max: u64) -> Result<u64, Fault> {
    let text = field(opening, name)?;
    let value = text.strip_prefix('+').unwrap_or(text).parse::<u64>().ok();
    let value = value.filter(|value| *value <= max);
    value.ok_or_else(|| Fault::custom(format!("{name} is not a whole number from 0 to {max}")))
}

fn signed(opening: &Opening, name: &str) -> Result<i64, Fault> {
    let text = field(opening, name)?;
    text.parse()
        .map_err(|_| Fault::custom(format!("{name} is not a whole number of 64 bits")))
}

fn origin(opening: &Opening) -> Result<Origin, Fault> {
    let uri = field(opening, "seek-origin")?;
    Origin::of_uri(uri).ok_or_else(|| Fault::custom("seek-origin is none of beginning, current, end"))
}
