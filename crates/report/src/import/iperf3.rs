//! iperf3, `--json` and the text that it prints: the totals of a TCP or UDP stream.

use super::{Figures, Format, ImportError, Unsaid, stream};
use serde_json::Value;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::shown::quoted;
use wirespeed_schema::test::{Layout, Stream, Test};

const FORMAT: &str = Format::Iperf3.name();

/// Read documents or text, of one or several runs.
pub fn read(text: &str) -> Result<Vec<Figures>, ImportError> {
    match text.trim_start().starts_with('{') {
        true => json(text),
        false => super::iperf3_text::read(text),
    }
}

/// What both forms state of a run, in bytes a second.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Totals {
    /// Over UDP.
    pub udp: bool,
    /// Bytes of a write, where the file says so.
    pub size_bytes: Option<u64>,
    /// Connections at once.
    pub streams: u64,
    /// Both directions at once; the bandwidths are then their sums.
    pub both: bool,
    /// What the receivers got.
    pub received: f64,
    /// What the senders sent.
    pub sent: Option<f64>,
    /// Lost datagrams of all.
    pub loss_ratio: Option<f64>,
}

impl Totals {
    /// As figures; `taken`: the bytes of a write where the file does not say them, and why.
    pub fn figures(&self, taken: Option<(u64, &'static str)>) -> Figures {
        let size = self.size_bytes.or(taken.map(|(bytes, _)| bytes)).unwrap_or(0);
        let test = match self.both {
            true => Test::AmBibw(Stream::new(size, Layout::Short, 1)),
            false => stream(size, 1),
        };
        let transport = if self.udp { "udp" } else { "tcp" };
        let mut found = Figures::new(test, transport).with("bandwidth_bytes_per_s", self.received);
        if self.size_bytes.is_none() {
            let why = taken.map_or("unknown, shown as 0 B", |(_, why)| why);
            found = found.assuming(Unsaid::Size, why);
        }
        found.group = GroupKind::Hosts;
        found.streams = self.streams;
        if let Some(sent) = self.sent.filter(|sent| *sent != 0.0) {
            found = found.with("sender_bandwidth_bytes_per_s", sent);
        }
        // Of both directions only one is told.
        match self.loss_ratio.filter(|_| self.udp && !self.both) {
            Some(ratio) => found.with("loss_ratio", ratio),
            None => found,
        }
    }
}

/// Read one document after the other.
fn json(text: &str) -> Result<Vec<Figures>, ImportError> {
    let mut found = Vec::new();
    for document in serde_json::Deserializer::from_slice(text.as_bytes()).into_iter() {
        let document = document.map_err(|error| ImportError::Line {
            format: FORMAT,
            line: error.line(),
            what: "not JSON",
        })?;
        found.push(of_document(&document)?);
    }
    Ok(found)
}

/// The receiver's total is the delivered one; loss is that of UDP.
fn of_document(document: &Value) -> Result<Figures, ImportError> {
    if let Some(said) = document["error"].as_str() {
        return Err(ImportError::Failed {
            format: FORMAT,
            said: quoted(said, 200),
        });
    }
    let (start, end) = (&document["start"]["test_start"], &document["end"]);
    let bytes_per_s = |sum: &str| end[sum]["bits_per_second"].as_f64().map(|bits| bits / 8.0);
    // The other direction of --bidir has sums of its own.
    let of_both =
        |sum: &str| Some(bytes_per_s(sum)? + bytes_per_s(&format!("{sum}_bidir_reverse")).unwrap_or(0.0));
    let loss_ratio = end["sum"]["lost_percent"].as_f64().map(|lost| lost / 100.0);
    // Of UDP, older releases have one sum: what was sent, and how much of it was lost.
    let arrived = || Some(bytes_per_s("sum")? * (1.0 - loss_ratio.unwrap_or(0.0)));
    let received = of_both("sum_received")
        .or_else(arrived)
        .ok_or(ImportError::Empty { format: FORMAT })?;
    let totals = Totals {
        udp: start["protocol"].as_str() == Some("UDP"),
        size_bytes: start["blksize"].as_u64().filter(|size| *size > 0),
        streams: start["num_streams"].as_u64().unwrap_or(1),
        both: bytes_per_s("sum_received_bidir_reverse").is_some(),
        received,
        sent: of_both("sum_sent").or_else(|| bytes_per_s("sum")),
        loss_ratio,
    };
    let mut found = totals.figures(None);
    found.started_at = document["start"]["timestamp"]["time"].as_str().and_then(rfc3339);
    Ok(found)
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
            [
                ("bandwidth_bytes_per_s", 0.975e6),
                ("sender_bandwidth_bytes_per_s", 1e6),
                ("loss_ratio", 0.025)
            ]
        );
        let both = r#"{"start":{"test_start":{"protocol":"TCP","blksize":131072,"num_streams":2}},"intervals":[],
            "end":{"sum_received":{"bits_per_second":8e9},"sum_received_bidir_reverse":{"bits_per_second":4e9}}}"#;
        let found = read(both).unwrap();
        assert_eq!((found[0].test.name(), found[0].streams), ("am_bibw", 2));
        assert_eq!(found[0].figures, [("bandwidth_bytes_per_s", 1.5e9)]);
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
