//! DIME (draft-nielsen-dime-02): an older framing of an envelope and its data in binary records, as a stream.
//!
//! It must never trust a length before it is checked, and never hold a record's data.

use super::MimeError;
use std::io::BufRead;

const VERSION: u8 = 1;
const MESSAGE_BEGIN: u8 = 0x04;
const MESSAGE_END: u8 = 0x02;
const CHUNK: u8 = 0x01;
const HEADER_BYTES: usize = 12;
/// Options, ID and type of one record together.
const FIELDS_BYTES_MAX: usize = 4 << 10;

/// How a record's type is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeFormat {
    /// As the record before (a further chunk).
    Unchanged = 0,
    /// A media type.
    Media = 1,
    /// A URI.
    Uri = 2,
    /// Unknown type.
    Unknown = 3,
    /// No data.
    None = 4,
}

/// What stands before a record's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHead {
    /// First record of the message.
    pub begins: bool,
    /// Last record of the message.
    pub ends: bool,
    /// More of the same data in the next record.
    pub chunked: bool,
    /// How `kind` is written.
    pub format: TypeFormat,
    /// ID of the record.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Bytes of data.
    pub data_bytes: u32,
}

fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}

/// Bytes that pad data of this length.
pub fn padding(data_bytes: u64) -> usize {
    (data_bytes.wrapping_neg() & 3) as usize
}

impl RecordHead {
    /// The record up to its data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags =
            flag(self.begins, MESSAGE_BEGIN) | flag(self.ends, MESSAGE_END) | flag(self.chunked, CHUNK);
        let mut bytes = vec![VERSION << 3 | flags, (self.format as u8) << 4, 0, 0];
        bytes.extend_from_slice(&(self.id.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&(self.kind.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&self.data_bytes.to_be_bytes());
        for field in [&self.id, &self.kind] {
            bytes.extend_from_slice(field.as_bytes());
            bytes.resize(padded(bytes.len()), 0);
        }
        bytes
    }

    /// Read a record up to its data.
    pub fn read(inner: &mut impl BufRead) -> Result<RecordHead, MimeError> {
        let mut header = [0; HEADER_BYTES];
        inner.read_exact(&mut header)?;
        if header[0] >> 3 != VERSION {
            return Err(MimeError::Malformed("DIME record: not version 1"));
        }
        let format = match header[1] >> 4 {
            0 => TypeFormat::Unchanged,
            1 => TypeFormat::Media,
            2 => TypeFormat::Uri,
            3 => TypeFormat::Unknown,
            4 => TypeFormat::None,
            _ => {
                return Err(MimeError::Malformed(
                    "DIME record: a type format that is not defined",
                ));
            }
        };
        let length = |at: usize| usize::from(u16::from_be_bytes([header[at], header[at + 1]]));
        let (options, id, kind) = (length(2), length(4), length(6));
        if padded(options) + padded(id) + padded(kind) > FIELDS_BYTES_MAX {
            return Err(MimeError::Malformed(
                "DIME record: its fields are longer than 4 KiB",
            ));
        }
        let mut field = |bytes: usize| -> Result<String, MimeError> {
            let mut text = vec![0; padded(bytes)];
            inner.read_exact(&mut text)?;
            text.truncate(bytes);
            String::from_utf8(text).map_err(|_| MimeError::Malformed("DIME record: a field that is not text"))
        };
        // Options may hold anything; they only must be there.
        let options = field(options).map(drop);
        match options {
            Ok(()) | Err(MimeError::Malformed(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(RecordHead {
            begins: header[0] & MESSAGE_BEGIN != 0,
            ends: header[0] & MESSAGE_END != 0,
            chunked: header[0] & CHUNK != 0,
            format,
            id: field(id)?,
            kind: field(kind)?,
            data_bytes: u32::from_be_bytes([header[8], header[9], header[10], header[11]]),
        })
    }
}

/// A message of an envelope and one record with data: everything but the data and their padding.
pub fn around(envelope: &str, id: &str, data_bytes: u32) -> Vec<u8> {
    let mut bytes = RecordHead {
        begins: true,
        ends: false,
        chunked: false,
        format: TypeFormat::Uri,
        id: format!("{id}-envelope"),
        kind: crate::soap::names::SOAP.to_owned(),
        data_bytes: envelope.len() as u32,
    }
    .to_bytes();
    bytes.extend_from_slice(envelope.as_bytes());
    bytes.resize(padded(bytes.len()), 0);
    let data = RecordHead {
        begins: false,
        ends: true,
        chunked: false,
        format: TypeFormat::Media,
        id: id.to_owned(),
        kind: "application/octet-stream".to_owned(),
        data_bytes,
    };
    bytes.extend_from_slice(&data.to_bytes());
    bytes
}

/// Data of a logical record, in pieces: this record and, where it is chunked, those that go on with it. Returns whether
/// it was the last of the message.
pub fn copy_record<E: From<MimeError>>(
    inner: &mut impl BufRead,
    head: &RecordHead,
    mut sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<bool, E> {
    let mut head = head.clone();
    loop {
        let mut left = u64::from(head.data_bytes);
        while left > 0 {
            let available = inner.fill_buf().map_err(MimeError::Io)?;
            if available.is_empty() {
                return Err(MimeError::Malformed("DIME message: it ends in the middle of a record").into());
            }
            let count = available.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            sink(&available[..count])?;
            inner.consume(count);
            left -= count as u64;
        }
        let mut pad = [0; 3];
        let pad = &mut pad[..padding(u64::from(head.data_bytes))];
        inner.read_exact(pad).map_err(MimeError::Io)?;
        if !head.chunked {
            return Ok(head.ends);
        }
        if head.ends {
            return Err(MimeError::Malformed("DIME message: its last record promises more").into());
        }
        head = RecordHead::read(inner)?;
        if head.format != TypeFormat::Unchanged {
            return Err(MimeError::Malformed("DIME message: a chunk that names a type of its own").into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(mut message: &[u8]) -> Result<Vec<(RecordHead, Vec<u8>)>, MimeError> {
        let mut records = Vec::new();
        loop {
            let head = RecordHead::read(&mut message)?;
            let mut data = Vec::new();
            let ends = copy_record(&mut message, &head, |piece| {
                data.extend_from_slice(piece);
                Ok::<_, MimeError>(())
            })?;
            records.push((head, data));
            if ends {
                return Ok(records);
            }
        }
    }

    #[test]
    fn chunks_join_and_lies_are_errors() {
        let chunk = |begins, ends, chunked, format, data: &[u8]| {
            let head = RecordHead {
                begins,
                ends,
                chunked,
                format,
                id: "i".into(),
                kind: String::new(),
                data_bytes: data.len() as u32,
            };
            let mut bytes = head.to_bytes();
            bytes.extend_from_slice(data);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let two = [
            chunk(true, false, true, TypeFormat::Media, b"abcde"),
            chunk(false, true, false, TypeFormat::Unchanged, b"fg"),
        ]
        .concat();
        let records = read(&two).unwrap();
        assert_eq!((records.len(), &records[0].1[..]), (1, &b"abcdefg"[..]));
        let own_type = [
            chunk(true, false, true, TypeFormat::Media, b"a"),
            chunk(false, true, false, TypeFormat::Media, b"b"),
        ]
        .concat();
        for bad in [&two[..10], &two[..two.len() - 1], &own_type, &[0xff; 64], b""] {
            assert!(read(bad).is_err());
        }
    }

    proptest! {
        #[test]
        fn messages_read_back(envelope in "[a-z]{0,40}", data in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut message = around(&envelope, "id", data.len() as u32);
            message.extend_from_slice(&data);
            message.resize(message.len() + padding(data.len() as u64), 0);
            let records = read(&message).unwrap();
            prop_assert_eq!(records[0].1.as_slice(), envelope.as_bytes());
            prop_assert_eq!(&records[1].1, &data);
            prop_assert_eq!(records.len(), 2);
        }

        #[test]
        fn no_bytes_panic(message in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&message);
        }
    }
}
