//! Byte ranges (RFC 9110, 14): one range of a request, and the range that a response or a partial PUT says it carries.

use wirespeed_schema::units::parse_digits;

/// A range of bytes: first and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start_bytes: u64,
    /// How many.
    pub size_bytes: u64,
}

/// What a `Range` header asks for, of a resource of so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// All of it: no header, one of another unit, or several ranges, which a server may ignore.
    All,
    /// This part.
    Part(Span),
    /// Nothing that there is.
    Unsatisfiable,
}

/// Read a `Range` header.
pub fn asked(header: Option<&str>, total_bytes: u64) -> Asked {
    let Some(range) = header.and_then(|h| h.trim().strip_prefix("bytes=")) else {
        return Asked::All;
    };
    let Some((first, last)) = range.split_once('-').filter(|_| !range.contains(',')) else {
        return Asked::All;
    };
    let (first, last) = (first.trim(), last.trim());
    let (start, end) = match (first.is_empty(), last.is_empty()) {
        (true, true) => return Asked::All,
        (true, false) => match parse_digits(last) {
            Some(suffix) => (total_bytes.saturating_sub(suffix), total_bytes),
            None => return Asked::All,
        },
        (false, true) => match parse_digits(first) {
            Some(start) => (start, total_bytes),
            None => return Asked::All,
        },
        (false, false) => match (parse_digits(first), parse_digits(last)) {
            (Some(start), Some(last)) if last >= start => (start, last.saturating_add(1).min(total_bytes)),
            _ => return Asked::All,
        },
    };
    match start < end {
        true => Asked::Part(Span {
            start_bytes: start,
            size_bytes: end - start,
        }),
        false => Asked::Unsatisfiable,
    }
}

/// Whether a `Content-Range` header says that there is no byte at all.
pub fn is_of_nothing(header: &str) -> bool {
    let total = header.trim().strip_prefix("bytes */");
    total.and_then(|total| parse_digits(total.trim())) == Some(0)
}

/// Read a `Content-Range` header: the part, and the size of the whole where it is given. A part that ends behind the whole
/// is none (RFC 9110, 14.4).
pub fn carried(header: &str) -> Option<(Span, Option<u64>)> {
    let (range, total) = header.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (parse_digits(first.trim())?, parse_digits(last.trim())?);
    let total = match total.trim() {
        "*" => None,
        total => Some(parse_digits(total).filter(|total| *total > last)?),
    };
    let size_bytes = last.checked_sub(first)?.checked_add(1)?;
    Some((
        Span {
            start_bytes: first,
            size_bytes,
        },
        total,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let part = |start_bytes, size_bytes| {
            Asked::Part(Span {
                start_bytes,
                size_bytes,
            })
        };
        assert_eq!(asked(None, 10), Asked::All);
        assert_eq!(asked(Some("bytes=2-4"), 10), part(2, 3));
        assert_eq!(asked(Some("bytes=2-"), 10), part(2, 8));
        assert_eq!(asked(Some("bytes=-3"), 10), part(7, 3));
        assert_eq!(asked(Some("bytes=8-18446744073709551615"), 10), part(8, 2));
        assert_eq!(asked(Some("bytes=10-"), 10), Asked::Unsatisfiable);
        assert_eq!(asked(Some("bytes=-0"), 10), Asked::Unsatisfiable);
        assert_eq!(asked(Some("bytes=4-4"), 10), part(4, 1));
        assert_eq!(asked(Some("bytes=9-"), 10), part(9, 1));
        assert_eq!(asked(Some("bytes=-11"), 10), part(0, 10));
        assert_eq!(asked(Some("bytes=-3"), 0), Asked::Unsatisfiable);
        for all in [
            "bytes=4-2",
            "bytes=1-2,4-5",
            "items=1-2",
            "bytes=+1-2",
            "bytes=a-b",
            "bytes=-",
        ] {
            assert_eq!(asked(Some(all), 10), Asked::All, "{all}");
        }
        let span = Span {
            start_bytes: 5,
            size_bytes: 5,
        };
        assert_eq!(carried("bytes 5-9/20"), Some((span, Some(20))));
        assert_eq!(carried("bytes 5-9/*"), Some((span, None)));
        assert_eq!(carried("bytes 5-9/10"), Some((span, Some(10))));
        for bad in [
            "bytes 9-5/20",
            "bytes 5-9/9",
            "bytes +5-9/20",
            "bytes 5-9/+20",
            "bytes 5-9/",
            "bytes 5/20",
            "5-9/20",
            "bytes 0-18446744073709551615/*",
        ] {
            assert_eq!(carried(bad), None, "{bad}");
        }
    }
}
