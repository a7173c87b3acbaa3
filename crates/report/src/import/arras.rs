//! The lines of `arras4benchmark`, and of `wirespeed session` in that form:
//! `Time: 5.00s Msgs: 38876 Rate: 7775.15msg/s (128.61µs) 0.01MB/s TOTALS: Time: ..`.
//!
//! Its µs are the inverse of the rate, no latency, and are not taken. A line names neither size nor credits: they come from
//! the command where the file shows it, else the size is what bandwidth over rate gives.

use super::{Figures, Format, ImportError, Unsaid, bad_line, stream};

const MIB: f64 = 1_048_576.0;
/// Two digits after the point: below this the bandwidth says little of the size.
const BANDWIDTH_MIN: f64 = MIB;
const TOTALS: &str = " TOTALS: ";

/// Whether a line is one of a report.
pub fn is_line(line: &str) -> bool {
    line.contains(TOTALS) && line.contains("Msgs: ")
}

/// What a command line asks for.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    size_bytes: Option<u64>,
    credits: Option<u64>,
}

/// The totals of a run so far.
#[derive(Debug, Clone, Copy)]
struct Totals {
    time_s: f64,
    messages: f64,
    rate_per_s: f64,
    bandwidth: f64,
}

/// The totals of each run: the last line before time begins anew, or before another command. Runs without a message are
/// left out.
pub fn read(text: &str) -> Result<Vec<Figures>, ImportError> {
    let (mut found, mut asked) = (Vec::new(), Asked::default());
    let mut last: Option<Totals> = None;
    for (number, line) in text.lines().enumerate() {
        if line.contains("arras4benchmark ") {
            found.extend(last.take().and_then(|totals| figures(totals, asked)));
            asked = command(line);
        } else if line.contains(TOTALS) || line.starts_with("Time: ") {
            let totals = totals(line).ok_or_else(|| bad_line(Format::Arras, number, "not a whole report"))?;
            if let Some(before) = last.filter(|before| totals.time_s <= before.time_s) {
                found.extend(figures(before, asked));
            }
            last = Some(totals);
        }
    }
    found.extend(last.and_then(|totals| figures(totals, asked)));
    Ok(found)
}

fn totals(line: &str) -> Option<Totals> {
    let words: Vec<&str> = line.split_once(TOTALS)?.1.split_whitespace().collect();
    let after = |name: &str| {
        words
            .iter()
            .position(|word| *word == name)
            .and_then(|at| words.get(at + 1))
    };
    let number = |word: &str, unit: &str| word.strip_suffix(unit)?.parse::<f64>().ok();
    Some(Totals {
        time_s: number(after("Time:")?, "s")?,
        messages: after("Msgs:")?.parse().ok()?,
        rate_per_s: number(after("Rate:")?, "msg/s")?,
        bandwidth: number(words.last()?, "MB/s")? * MIB,
    })
}

/// `--bytes=1 --credits 5 --mb=1`.
fn command(line: &str) -> Asked {
    let mut words = line.split_whitespace().flat_map(|word| word.split('='));
    let mut asked = Asked::default();
    while let Some(word) = words.next() {
        let mut count = || words.next().and_then(|word| word.parse::<u64>().ok());
        let mut add = |bytes: Option<u64>| {
            let sum = bytes.map(|bytes| bytes.saturating_add(asked.size_bytes.unwrap_or(0)));
            asked.size_bytes = sum.or(asked.size_bytes);
        };
        match word {
            "--bytes" => add(count()),
            "--mb" => add(count().map(|mb| mb.saturating_mul(1 << 20))),
            "--credits" => asked.credits = count(),
            _ => {}
        }
    }
    asked
}

fn figures(totals: Totals, asked: Asked) -> Option<Figures> {
    if totals.messages < 1.0 || totals.rate_per_s == 0.0 {
        return None;
    }
    let stated = (totals.bandwidth >= BANDWIDTH_MIN).then_some(totals.bandwidth);
    let size = asked
        .size_bytes
        .unwrap_or_else(|| (totals.bandwidth / totals.rate_per_s).round() as u64);
    let mut found = Figures::new(stream(size, asked.credits.unwrap_or(1)), "arras")
        .with("rate_msg_per_s", totals.rate_per_s);
    if asked.size_bytes.is_none() {
        let taken = match size {
            0 => "unknown, shown as 0 B",
            _ => "taken as bandwidth over rate",
        };
        found = found.assuming(Unsaid::Size, taken);
    }
    if asked.credits.is_none() {
        found = found.assuming(Unsaid::Window, "taken as 1 credit");
    }
    let computed = asked.size_bytes.map(|size| size as f64 * totals.rate_per_s);
    if let Some(bandwidth) = computed.or(stated).filter(|bandwidth| *bandwidth > 0.0) {
        found = found.with("bandwidth_bytes_per_s", bandwidth);
    }
    found.samples = totals.messages as u64;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As its documentation shows them.
    const PUBLISHED: &str = "\
$ arras4benchmark --host localhost --port 8087 --bandwidthPath=client_to_computation --bytes=1 --credits=1 --duration=30 --report-frequency=5
Time: 5.00s Msgs: 38876 Rate: 7775.15msg/s (128.61µs) 0.01MB/s TOTALS: Time: 5.00s Msgs: 38876 Rate: 7775.15msg/s (128.61µs) 0.01MB/s
Time: 5.00s Msgs: 37245 Rate: 7449.00msg/s (134.25µs) 0.01MB/s TOTALS: Time: 30.00s Msgs: 229411 Rate: 7646.85msg/s (130.77µs) 0.01MB/s
$ arras4benchmark --host localhost --port 8087 --bandwidthPath=client_to_computation --bytes=1 --credits 5 --duration=15
Time: 15.00s Msgs: 225236 Rate: 15015.72msg/s (66.60µs) 0.01MB/s TOTALS: Time: 15.00s Msgs: 225236 Rate: 15015.72msg/s (66.60µs) 0.01MB/s
";

    #[test]
    fn totals_size_and_credits_are_taken() {
        let found = read(PUBLISHED).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].test.size_bytes(), found[0].test.window()), (1, 1));
        let expected = [("rate_msg_per_s", 7646.85), ("bandwidth_bytes_per_s", 7646.85)];
        assert_eq!(
            (found[0].figures.as_slice(), found[0].samples),
            (expected.as_slice(), 229_411)
        );
        assert_eq!((found[1].test.window(), found[1].figures[0].1), (5, 15015.72));
    }

    #[test]
    fn without_the_command_the_size_is_what_the_figures_give_and_runs_are_told_apart() {
        let line = |time: &str, rate: &str| {
            let part = format!("Time: {time}s Msgs: 1000 Rate: {rate}msg/s (1.00µs) 100.00MB/s");
            format!("{part} TOTALS: {part}\n")
        };
        let found = read(&format!(
            "{}{}{}",
            line("1.00", "100.00"),
            line("2.00", "100.00"),
            line("1.00", "50.00")
        ));
        let found = found.unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].test.size_bytes(), 1 << 20);
        assert_eq!(found[1].figures[1], ("bandwidth_bytes_per_s", 100.0 * MIB));
    }

    #[test]
    fn cut_lines_are_refused_and_silence_is_left_out() {
        let cut = &PUBLISHED[..PUBLISHED.len() - 40];
        assert!(matches!(read(cut), Err(ImportError::Line { line: 5, .. })));
        let part = "Time: 1.00s Msgs: 0 Rate: 0.00msg/s (infµs) 0.00MB/s";
        assert!(read(&format!("{part} TOTALS: {part}\n")).unwrap().is_empty());
        assert!(read("Time: 5.00s Msgs: 38").is_err());
    }
}
