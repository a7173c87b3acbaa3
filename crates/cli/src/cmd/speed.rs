//! A link's speed as people write it.

use crate::errors::Failure;
use wirespeed_schema::Finite;
use wirespeed_schema::units::parse_size;

/// Bits of a byte.
const BITS_PER_BYTE: f64 = 8.0;
/// Ends of a speed in bits; without any, it is in bits, too.
const BITS: [&str; 5] = ["bits", "bit", "bps", "b", ""];
/// Powers of ten, as the field writes them.
const FACTORS: [(&str, f64); 6] = [
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("K", 1e3),
    ("", 1.0),
];

/// A link's speed: in bits `100Mb/s`, `1 Gb/s`, `10Gbit`, in bytes `1.25GB`, each per second. The figure is in bytes.
pub fn speed(text: &str) -> Result<Finite, Failure> {
    per_second(text)
        .and_then(Finite::maybe)
        .filter(|bytes| bytes.get() > 0.0)
        .ok_or_else(|| {
            Failure::usage(
                format!("{text:?} is not the speed of a link"),
                "write bits as 100Mb/s or 10Gbit, bytes as 1.25GB/s",
            )
        })
}

fn per_second(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | ' ')).collect();
    let plain = plain.strip_suffix("/s").unwrap_or(&plain);
    let bytes = plain.strip_suffix("ps").unwrap_or(plain);
    if bytes.ends_with('B') {
        return parse_size(bytes).ok().map(|bytes| bytes as f64);
    }
    let number = BITS.iter().find_map(|unit| plain.strip_suffix(unit))?;
    let scaled = |(unit, factor): &(&str, f64)| Some((number.strip_suffix(unit)?, *factor));
    let (number, factor) = FACTORS.iter().find_map(scaled)?;
    let number: f64 = number.parse().ok()?;
    Some(number * factor / BITS_PER_BYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_in_bits_or_in_bytes() {
        for (text, bytes) in [
            ("100Mb/s", 12.5e6),
            ("1 Gb/s", 125e6),
            ("10,000 Mb/s", 1.25e9),
            ("8", 1.0),
            ("64kbps", 8e3),
            ("10Gbit", 1.25e9),
            ("1Gbit/s", 125e6),
            ("400Mbit/s", 5e7),
            ("8bit", 1.0),
            ("1.5kbit", 187.5),
            ("100MB", 1e8),
            ("1.25GB/s", 1.25e9),
            ("1GBps", 1e9),
        ] {
            assert_eq!(speed(text).unwrap().get(), bytes, "{text}");
        }
        for bad in [
            "",
            "fast",
            "-1Mb/s",
            "0",
            "0bit",
            "1e400Gb/s",
            "Mb/s",
            "-1Gbit",
            "NaNbit",
            "infbit",
            "10Xbit",
            "B",
        ] {
            assert_eq!(speed(bad).unwrap_err().code, 2, "{bad}");
        }
    }
}
