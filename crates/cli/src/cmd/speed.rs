//! A link's speed as people write it.

use crate::errors::Failure;
use wirespeed_schema::Finite;

/// A link's speed: `100Mb/s`, `1 Gb/s`; powers of ten, as the field writes it. The figure is in bytes.
pub fn speed(text: &str) -> Result<Finite, Failure> {
    let bad = || {
        Failure::usage(
            format!("{text:?} is not the speed of a link"),
            "write it like 100Mb/s or 1Gb/s",
        )
    };
    let short = text
        .trim()
        .trim_end_matches("/s")
        .trim_end_matches("ps")
        .trim_end_matches(['b', 'B']);
    let (number, factor) = match short.chars().last() {
        Some('k' | 'K') => (&short[..short.len() - 1], 1e3),
        Some('M') => (&short[..short.len() - 1], 1e6),
        Some('G') => (&short[..short.len() - 1], 1e9),
        _ => (short, 1.0),
    };
    let value: f64 = number.trim().replace(',', "").parse().map_err(|_| bad())?;
    Finite::maybe(value * factor / 8.0)
        .filter(|v| v.get() > 0.0)
        .ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_of_links() {
        for (text, bytes) in [
            ("100Mb/s", 12.5e6),
            ("1 Gb/s", 125e6),
            ("10,000 Mb/s", 1.25e9),
            ("8", 1.0),
            ("64kbps", 8e3),
        ] {
            assert_eq!(speed(text).unwrap().get(), bytes, "{text}");
        }
        for bad in ["", "fast", "-1Mb/s", "0", "1e400Gb/s", "Mb/s"] {
            assert_eq!(speed(bad).unwrap_err().code, 2, "{bad}");
        }
    }
}
