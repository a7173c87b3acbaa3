//! `iperf3 --json`: the totals of a TCP or UDP stream.

use super::{Figures, Format, ImportError, Unsaid, stream};
use serde_json::Value;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::shown::quoted;

/// Read one document. The receiver's total is the delivered one; loss is that of UDP.
pub fn read(text: &str) -> Result<Vec<Figures>, ImportError> {
    let format = Format::Iperf3.name();
    let document: Value = serde_json::from_slice(text.as_bytes()).map_err(|error| ImportError::Line {
        format,
        line: error.line(),
        what: "not JSON",
    })?;
    if let Some(said) = document["error"].as_str() {
        return Err(ImportError::Failed {
            format,
            said: quoted(said, 200),
        });
    }
    let start = &document["start"]["test_start"];
    let udp = start["protocol"].as_str() == Some("UDP");
    let size = start["blksize"].as_u64().filter(|size| *size > 0);
    let end = &document["end"];
    // UDP has one sum; of TCP what the receiver got is what was delivered.
    let received = ["sum_received", "sum"]
        .iter()
        .map(|name| &end[*name])
        .find(|sum| sum["bits_per_second"].is_number());
    let Some(received) = received else {
        return Err(ImportError::Empty { format });
    };
    let bits = received["bits_per_second"].as_f64().unwrap_or(0.0);
    let transport = if udp { "udp" } else { "tcp" };
    let mut found =
        Figures::new(stream(size.unwrap_or(0), 1), transport).with("bandwidth_bytes_per_s", bits / 8.0);
    if size.is_none() {
        found = found.assuming(Unsaid::Size, "unknown, shown as 0 B");
    }
    found.started_at = document["start"]["timestamp"]["time"].as_str().and_then(rfc3339);
    found.group = GroupKind::Hosts;
    if let Some(bits) = end["sum_sent"]["bits_per_second"]
        .as_f64()
        .filter(|bits| *bits > 0.0)
    {
        found = found.with("sender_bandwidth_bytes_per_s", bits / 8.0);
    }
    if let Some(lost) = end["sum"]["lost_percent"]
        .as_f64()
        .filter(|lost| udp && *lost > 0.0)
    {
        found = found.with("loss_ratio", lost / 100.0);
    }
    Ok(vec![found])
}

/// `Sun, 22 Nov 2026 01:12:42 GMT` as RFC 3339; `None` for another form.
fn rfc3339(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT" | "UTC"] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let (day, year): (u32, u32) = (day.parse().ok()?, year.parse().ok()?);
    let clock = time.len() == 8 && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    clock.then(|| format!("{year:04}-{month:02}-{day:02}T{time}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_those_of_the_receiver() {
        let tcp = r#"{"start":{"test_start":{"protocol":"TCP","blksize":131072}},"intervals":[],
            "end":{"sum_sent":{"bits_per_second":9.6e9},"sum_received":{"bits_per_second":8e9}}}"#;
        let found = read(tcp).unwrap();
        assert_eq!(
            found[0].figures,
            [
                ("bandwidth_bytes_per_s", 1e9),
                ("sender_bandwidth_bytes_per_s", 1.2e9)
            ]
        );
        let udp = r#"{"start":{"test_start":{"protocol":"UDP","blksize":1448}},"intervals":[],
            "end":{"sum":{"bits_per_second":8e6,"lost_percent":2.5}}}"#;
        let found = read(udp).unwrap();
        assert_eq!(
            found[0].figures,
            [("bandwidth_bytes_per_s", 1e6), ("loss_ratio", 0.025)]
        );
    }

    #[test]
    fn the_time_is_what_the_file_says() {
        let said = rfc3339("Sun, 22 Nov 2026 01:12:42 GMT");
        assert_eq!(said.as_deref(), Some("2026-11-22T01:12:42Z"));
        for other in ["", "Sun, 22 Nov 2026 01:12:42", "a b c d e GMT"] {
            assert_eq!(rfc3339(other), None);
        }
    }

    #[test]
    fn failures_and_cuts_are_told() {
        let failed = read(r#"{"start":{},"intervals":[],"end":{},"error":"unable to connect"}"#);
        assert!(failed.unwrap_err().to_string().contains("unable to connect"));
        assert!(matches!(read("{\"start\":"), Err(ImportError::Line { .. })));
        assert!(matches!(read("{\"end\":{}}"), Err(ImportError::Empty { .. })));
    }
}
