//! Base64 in pieces: data of the `simple` mechanism pass through a small window in either direction.

use super::SoapError;
use super::reader::is_space;
use base64_simd::{AsOut, STANDARD};

/// Characters decoded at once; a multiple of four.
const WINDOW_CHARS: usize = 64 << 10;
/// Bytes encoded at once: a multiple of three, so that pieces join without padding.
pub const ENCODE_BYTES: usize = 48 << 10;

/// Decodes text that comes in pieces, white space anywhere in it.
pub struct Decoder {
    text: Vec<u8>,
    bytes: Vec<u8>,
    ended: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder {
            text: Vec::with_capacity(WINDOW_CHARS),
            bytes: vec![0; WINDOW_CHARS / 4 * 3],
            ended: false,
        }
    }
}

impl Decoder {
    /// Take more text; decoded bytes go to `sink`.
    pub fn push(
        &mut self,
        mut text: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), SoapError>,
    ) -> Result<(), SoapError> {
        while !text.is_empty() {
            let (now, later) = text.split_at(text.len().min(WINDOW_CHARS - self.text.len()));
            match now.iter().any(|b| is_space(*b)) {
                false => self.text.extend_from_slice(now),
                true => self.text.extend(now.iter().filter(|b| !is_space(**b))),
            }
            text = later;
            if self.text.len() == WINDOW_CHARS {
                self.decode(sink)?;
            }
        }
        Ok(())
    }

    /// No more text: the rest goes to `sink`.
    pub fn finish(&mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), SoapError>) -> Result<(), SoapError> {
        self.decode(sink)
    }

    fn decode(&mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), SoapError>) -> Result<(), SoapError> {
        if self.text.is_empty() {
            return Ok(());
        }
        if self.ended {
            return Err(SoapError::malformed("data after the padding of base64"));
        }
        self.ended = self.text.ends_with(b"=");
        let decoded = STANDARD
            .decode(&self.text, self.bytes[..].as_out())
            .map_err(|_| SoapError::malformed("the data are not base64"))?;
        sink(decoded)?;
        self.text.clear();
        Ok(())
    }
}

/// Length of the text of so many bytes.
pub fn encoded_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(3) * 4
}

/// `data` (at most [`ENCODE_BYTES`]) as text in `text`, replacing what is there.
pub fn encode(data: &[u8], text: &mut Vec<u8>) {
    text.clear();
    STANDARD.encode_append(data, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<u8>, SoapError> {
        let mut found = Vec::new();
        let mut decoder = Decoder::default();
        let mut sink = |bytes: &[u8]| {
            found.extend_from_slice(bytes);
            Ok(())
        };
        for piece in pieces {
            decoder.push(piece, &mut sink)?;
        }
        decoder.finish(&mut sink)?;
        Ok(found)
    }

    #[test]
    fn pieces_join_and_nonsense_is_refused() {
        assert_eq!(decode(&[b"SE", b"\r\n VM", b"TE8="]).unwrap(), b"HELLO");
        assert_eq!(decode(&[]).unwrap(), b"");
        for bad in [
            &b"A"[..],
            b"A===",
            b"!!!!",
            b"SEVMTE8=SEVM",
            b"SEVMTE8",
            b"QR==",
            b"QUJ=",
            b"QU\x0cJD",
        ] {
            assert!(decode(&[bad]).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_was_encoded_is_decoded_wherever_it_is_cut() {
        for bytes in (0..=4)
            .chain([255, 3 * ENCODE_BYTES + 2])
            .chain(ENCODE_BYTES - 1..=ENCODE_BYTES + 1)
        {
            let data: Vec<u8> = (0..bytes).map(|at| (at * 167 + (at >> 8)) as u8).collect();
            let (mut whole, mut text) = (Vec::new(), Vec::new());
            for piece in data.chunks(ENCODE_BYTES) {
                encode(piece, &mut text);
                whole.extend_from_slice(&text);
            }
            assert_eq!(whole.len() as u64, encoded_bytes(data.len() as u64));
            let lines = whole.chunks(76).collect::<Vec<_>>().join(&b"\r\n"[..]);
            for text in [&whole, &lines] {
                for cut in (0..=4)
                    .chain([77, 2 * WINDOW_CHARS])
                    .chain(WINDOW_CHARS - 1..=WINDOW_CHARS + 1)
                {
                    let (head, tail) = text.split_at(cut.min(text.len()));
                    assert!(
                        decode(&[head, tail]).unwrap() == data,
                        "{bytes} bytes, cut at {cut}"
                    );
                }
            }
        }
    }
}
