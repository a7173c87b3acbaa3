//! Lines of sockperf, Sandia's msgrate and of the workers' log.

use super::{Figures, Format, ImportError, UNKNOWN, Unsaid, bad_line, ping_pong, stream};
use wirespeed_schema::HistogramData;

/// Size of sockperf's messages unless its command, which its output does not repeat, says otherwise.
const SOCKPERF_BYTES: f64 = 14.0;

/// `sockperf: ---> percentile 50.000 =   4.321`: half of the round trip, in µs.
pub fn sockperf(text: &str) -> Result<Vec<Figures>, ImportError> {
    let size = ["--msg-size=", "--msg-size ", " -m "]
        .iter()
        .find_map(|option| after(text, option));
    let transport = ["TCP", "UDP"].iter().find(|name| text.contains(**name));
    let mut found = Figures::new(
        ping_pong(size.unwrap_or(SOCKPERF_BYTES) as u64),
        transport.map_or(UNKNOWN.to_owned(), |name| name.to_lowercase()),
    );
    if size.is_none() {
        found = found.assuming(Unsaid::Size, "taken as 14 B, the tool's default");
    }
    if transport.is_none() {
        found = found.assuming(Unsaid::Transport, UNKNOWN);
    }
    let percentiles = [
        ("percentile 50.000", "rtt_p50_ns"),
        ("percentile 90.000", "rtt_p90_ns"),
        ("percentile 99.000", "rtt_p99_ns"),
        ("percentile 99.900", "rtt_p999_ns"),
        ("percentile 99.990", "rtt_p9999_ns"),
        ("<MIN> observation", "rtt_min_ns"),
        ("<MAX> observation", "rtt_max_ns"),
    ];
    for (number, line) in text.lines().enumerate() {
        let Some((_, tag)) = percentiles.iter().find(|(name, _)| line.contains(name)) else {
            continue;
        };
        let value = line
            .rsplit('=')
            .next()
            .and_then(|value| value.trim().parse::<f64>().ok());
        let value = value.ok_or_else(|| bad_line(Format::Sockperf, number, "no number after ="))?;
        found = found.with(tag, value * 2000.0);
    }
    let counted = text
        .split(" observations")
        .next()
        .and_then(|before| before.rsplit(' ').next());
    found.samples = counted.and_then(|count| count.parse().ok()).unwrap_or(0);
    Ok(vec![found])
}

/// The number that follows `name` somewhere in the text.
fn after(text: &str, name: &str) -> Option<f64> {
    let rest = text.split(name).nth(1)?.trim_start();
    let digits: String = rest
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    digits.parse().ok()
}

/// The title of msgrate's text whose rate is taken.
pub const SMB_RATE: &str = "single direction:";

/// Sandia's msgrate, of whose rates that of a single direction is taken: its text, or what `-o` wrote.
pub fn smb(text: &str) -> Result<Vec<Figures>, ImportError> {
    match text.contains(SMB_RATE) {
        true => smb_text(text),
        false => smb_lines(text),
    }
}

/// A name and a number a line; the rate ends what belongs to it.
fn smb_text(text: &str) -> Result<Vec<Figures>, ImportError> {
    let mut found = Vec::new();
    let mut counts = [0.0; 3];
    for (number, line) in text.lines().enumerate() {
        let Some((title, value)) = line.split_once(':') else {
            continue;
        };
        let titles = ["niters", "nmsgs", "nbytes"];
        let place = titles.iter().position(|known| *known == title.trim());
        let is_rate = line.starts_with(SMB_RATE);
        if place.is_none() && !is_rate {
            continue;
        }
        let value = value.trim().parse::<f64>();
        let value = value.map_err(|_| bad_line(Format::Smb, number, "no number after :"))?;
        match place {
            Some(at) => counts[at] = value,
            None => found.push(smb_figures(counts, value)),
        }
    }
    Ok(found)
}

/// Eleven numbers a line: ranks, peers, iterations, messages, bytes, cache, ranks a node, then the rates of single direction,
/// pairs, pre-posted and all-start.
fn smb_lines(text: &str) -> Result<Vec<Figures>, ImportError> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let refused = || bad_line(Format::Smb, number, "a line has eleven numbers");
        let mut values = [0.0; 11];
        if words.len() != values.len() {
            return Err(refused());
        }
        for (value, word) in values.iter_mut().zip(words) {
            *value = word.parse().map_err(|_| refused())?;
        }
        found.push(smb_figures([values[2], values[3], values[4]], values[7]));
    }
    Ok(found)
}

fn smb_figures([iterations, messages, size]: [f64; 3], rate: f64) -> Figures {
    let mut figures = Figures::new(stream(size as u64, (messages as u64).max(1)), "mpi")
        .with("rate_msg_per_s", rate)
        .with("bandwidth_bytes_per_s", rate * size);
    figures.samples = (iterations * messages) as u64;
    figures
}

/// One round-trip time in ns a line.
pub fn workers(text: &str) -> Result<Vec<Figures>, ImportError> {
    let mut samples = Vec::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let value = line
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite() && *value >= 0.0);
        samples.push(value.ok_or_else(|| bad_line(Format::Workers, number, "not a time in ns"))?);
    }
    let data = HistogramData::from_samples_ns(&samples);
    let mut found = Figures::new(ping_pong(0), UNKNOWN)
        .assuming(Unsaid::Size, "unknown, shown as 0 B")
        .assuming(Unsaid::Transport, UNKNOWN);
    found.samples = data.count;
    for (tag, p) in [("rtt_p50_ns", 0.5), ("rtt_p90_ns", 0.9), ("rtt_p99_ns", 0.99)] {
        if let Ok(estimate) = crate::stats::quantile(&data, p, crate::stats::LEVEL) {
            found = found.with(tag, estimate.value_ns);
        }
    }
    if data.count > 0 {
        found = found
            .with("rtt_mean_ns", data.mean_ns())
            .with("rtt_max_ns", data.max_ns.get());
    }
    Ok(vec![found])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockperf_halves_are_doubled() {
        let text = "sockperf: == version 3.7 ==\nsockperf[CLIENT] send on: IP = 127.0.0.1 PORT = 11111 # TCP\nsockperf: Total 100 observations; each percentile contains 1.00 observations\nsockperf: ---> <MAX> observation =  123.5\nsockperf: ---> percentile 99.000 =   9.250\nsockperf: ---> percentile 50.000 =    4.500\n";
        let found = sockperf(text).unwrap();
        assert_eq!(found[0].transport, "tcp");
        assert!(found[0].figures.contains(&("rtt_p50_ns", 9000.0)));
        assert!(found[0].figures.contains(&("rtt_max_ns", 247_000.0)));
        assert_eq!((found[0].samples, found[0].test.size_bytes()), (100, 14));
        let with_command = format!("$ sockperf pp --tcp -m 64 -t 2\n{text}");
        assert_eq!(sockperf(&with_command).unwrap()[0].test.size_bytes(), 64);
        assert!(sockperf("sockperf: ---> percentile 50.000 = x").is_err());
    }

    #[test]
    fn msgrate_lines_and_the_workers_log_are_read() {
        let found = smb("8 6 4096 128 8 8388608 1 1000000.0 2000000.0 3000000.0 4000000.0 \n").unwrap();
        assert_eq!(found[0].figures[0], ("rate_msg_per_s", 1_000_000.0));
        let text = "job size:   8\nniters:     4096\nnmsgs:      128\nnbytes:     8\nsingle direction: 1000000.00\n  pre-post: 3.00\n";
        assert_eq!(smb(text).unwrap(), found);
        assert!(smb("1 2 3\n").is_err() && smb("single direction: x\n").is_err());
        let log: String = (1..=100).map(|i| format!("{}\n", i * 1000)).collect();
        let found = workers(&log).unwrap();
        assert!((found[0].figures[0].1 - 50_500.0).abs() < 200.0);
        assert!(matches!(
            workers("12\nx\n"),
            Err(ImportError::Line { line: 2, .. })
        ));
    }
}
