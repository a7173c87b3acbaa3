//! Maps of very many cells as one picture: a PNG whose pixels are the cells, so that a page of 512 hosts holds one element and
//! 180 kB for 262,144 cells, whatever the noise; rectangles or runs of equal shades would be megabytes that a browser lays out one
//! by one. Nothing is compressed and nothing is fetched: the picture stands in the drawing. It must never hold text.

use super::shades::SHADES;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Bytes of an uncompressed block, by RFC 1951.
const BLOCK_MAX: usize = 65_535;

/// Address of a picture of `pixels`, row by row from the top, `width` to a row: the number of a shade, or nothing.
pub fn address(pixels: &[Option<usize>], width: usize) -> String {
    format!("data:image/png;base64,{}", base64(&png(pixels, width)))
}

/// PNG (W3C Recommendation of 2003) with a palette of four bits: transparent, then the shades.
fn png(pixels: &[Option<usize>], width: usize) -> Vec<u8> {
    let rows = pixels.chunks(width.max(1));
    let mut raw = Vec::new();
    for row in rows.clone() {
        // No filter.
        raw.push(0);
        let index = |pixel: &Option<usize>| pixel.map_or(0, |shade| shade.min(SHADES.len() - 1) as u8 + 1);
        raw.extend(
            row.chunks(2)
                .map(|two| (index(&two[0]) << 4) | two.get(1).map_or(0, index)),
        );
    }
    let [w, h] = [width, rows.len()].map(|side| (side as u32).to_be_bytes());
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut bytes, b"IHDR", &[&w[..], &h[..], &[4, 3, 0, 0, 0]].concat());
    let mut palette = vec![0; 3];
    palette.extend(SHADES.iter().flat_map(|shade| color(shade)));
    chunk(&mut bytes, b"PLTE", &palette);
    chunk(&mut bytes, b"tRNS", &[0]);
    chunk(&mut bytes, b"IDAT", &stored(&raw));
    chunk(&mut bytes, b"IEND", &[]);
    bytes
}

/// Red, green and blue of `#rrggbb`.
fn color(shade: &str) -> [u8; 3] {
    let part = |at: usize| {
        shade
            .get(at..at + 2)
            .and_then(|text| u8::from_str_radix(text, 16).ok())
    };
    [1, 3, 5].map(|at| part(at).unwrap_or(0))
}

fn chunk(bytes: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    bytes.extend((data.len() as u32).to_be_bytes());
    let start = bytes.len();
    bytes.extend(name);
    bytes.extend(data);
    let check = crc(&bytes[start..]);
    bytes.extend(check.to_be_bytes());
}

/// A zlib stream (RFC 1950) of uncompressed blocks.
fn stored(raw: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x78, 0x01];
    let blocks = raw.chunks(BLOCK_MAX);
    let last = blocks.len().saturating_sub(1);
    for (number, block) in blocks.enumerate() {
        let length = block.len() as u16;
        bytes.push(u8::from(number == last));
        bytes.extend(length.to_le_bytes());
        bytes.extend((!length).to_le_bytes());
        bytes.extend(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for byte in raw {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    bytes.extend(((b << 16) | a).to_be_bytes());
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(!0, step)
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for place in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= three.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    #[test]
    fn checks_and_letters_are_those_of_their_standards() {
        // The check value of CRC-32/ISO-HDLC, and Adler-32 of "Wikipedia".
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        assert_eq!(stored(b"Wikipedia")[16..], 0x11e6_0398u32.to_be_bytes());
        let engine = base64::engine::general_purpose::STANDARD;
        for length in 0..9u8 {
            let bytes: Vec<u8> = (0..length)
                .map(|at| at.wrapping_mul(137).wrapping_add(200))
                .collect();
            assert_eq!(super::base64(&bytes), engine.encode(&bytes));
        }
    }

    #[test]
    fn a_picture_has_a_pixel_a_cell() {
        let pixels: Vec<Option<usize>> = (0..15).map(|at| (at != 4).then_some(at % 12)).collect();
        let bytes = png(&pixels, 5);
        assert_eq!(&bytes[16..24], [0, 0, 0, 5, 0, 0, 0, 3]);
        let data = bytes.windows(4).position(|four| four == b"IDAT").unwrap() + 4 + 2 + 5;
        // Filter, then shades 0 to 3 and nothing.
        assert_eq!(&bytes[data..data + 4], [0, 0x12, 0x34, 0x00]);
        // Two bytes of head, two blocks with five each, four of the check.
        assert_eq!(stored(&vec![7; 70_000]).len(), 70_000 + 2 + 10 + 4);
    }
}
