//! Tables of sizes: the OSU micro-benchmarks and the Intel MPI Benchmarks.

use super::{Figures, Format, ImportError, Unsaid, bad_line, stream, tagged_ping_pong};
use wirespeed_schema::Test;
use wirespeed_schema::test::{Layout, Stream};

/// Window of `osu_bw` unless it was changed; its table does not say.
const OSU_WINDOW: u64 = 64;
/// Window of IMB's Uniband and Biband.
const IMB_WINDOW: u64 = 256;

fn both_ways(size_bytes: u64, window_msgs: u64) -> Test {
    Test::AmBibw(Stream::new(size_bytes, Layout::Short, window_msgs))
}

/// The numbers of a line; `None` where a word is none.
fn numbers(line: &str) -> Option<Vec<f64>> {
    line.split_whitespace()
        .map(|word| word.parse().ok().filter(|v: &f64| v.is_finite()))
        .collect()
}

/// OSU: `# OSU MPI Latency Test`, then size and value. Latency is half of the mean round trip in µs, bandwidth in MB/s of
/// 10^6 bytes.
pub fn osu(text: &str) -> Result<Vec<Figures>, ImportError> {
    let (mut title, mut found) = (String::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let bad = |what| bad_line(Format::Osu, number, what);
        if line.starts_with("# OSU MPI") {
            title = line.to_lowercase();
        }
        if line.starts_with("# Size") && !["(us)", "MB/s"].iter().any(|unit| line.contains(unit)) {
            return Err(bad("neither us nor MB/s stands at the column"));
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let values = numbers(line).ok_or_else(|| bad("not a row of numbers"))?;
        let (Some(&size), Some(&value)) = (values.first(), values.get(1)) else {
            return Err(bad("a row has a size and a value"));
        };
        let size = size as u64;
        let bandwidth = value * 1e6;
        let windowed = |test| {
            let taken = format!("taken as {OSU_WINDOW}, the tool's default");
            Figures::new(test, "mpi").assuming(Unsaid::Window, taken)
        };
        found.push(match title.as_str() {
            title if title.contains("latency") => {
                let round_trip_ns = value * 2000.0;
                Figures::new(tagged_ping_pong(size), "mpi").with("rtt_mean_ns", round_trip_ns)
            }
            title if title.contains("bi-directional") => {
                windowed(both_ways(size, OSU_WINDOW)).with("bandwidth_bytes_per_s", bandwidth)
            }
            title if title.contains("message rate") => {
                let figures = windowed(stream(size, OSU_WINDOW)).with("bandwidth_bytes_per_s", bandwidth);
                match values.get(2) {
                    Some(&rate) => figures.with("rate_msg_per_s", rate),
                    None => figures,
                }
            }
            title if title.contains("bandwidth") => {
                windowed(stream(size, OSU_WINDOW)).with("bandwidth_bytes_per_s", bandwidth)
            }
            _ => return Err(bad("no heading says which OSU test this is")),
        });
    }
    Ok(found)
}

/// IMB: `# Benchmarking PingPong`, then `#bytes #repetitions t[usec] Mbytes/sec` (PingPong: half of the round trip's
/// mean) or `#bytes #repetitions Mbytes/sec Msg/sec` (Uniband, Biband). Rows of a time-out are left out.
pub fn imb(text: &str) -> Result<Vec<Figures>, ImportError> {
    let (mut benchmark, mut found) = (String::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("# Benchmarking ") {
            benchmark = name.trim().to_owned();
        }
        if line.starts_with("#bytes")
            && !["t[usec]", "Mbytes/sec", "t_avg[usec]"]
                .iter()
                .any(|unit| line.contains(unit))
        {
            return Err(bad_line(
                Format::Imb,
                number,
                "neither usec nor Mbytes/sec stands at a column",
            ));
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // What took too long has no figures; the rows before it count.
        if line.contains("time-out") {
            continue;
        }
        let Some(values) = numbers(line) else {
            return Err(bad_line(Format::Imb, number, "not a row of numbers"));
        };
        let &[size, repetitions, third, fourth, ..] = values.as_slice() else {
            return Err(bad_line(Format::Imb, number, "a row has four numbers"));
        };
        let size = size as u64;
        let mut figures = match benchmark.as_str() {
            "PingPong" => Figures::new(tagged_ping_pong(size), "mpi").with("rtt_mean_ns", third * 2000.0),
            "Uniband" => rates(stream(size, IMB_WINDOW), (third, fourth)),
            "Biband" => rates(both_ways(size, IMB_WINDOW), (third, fourth)),
            // What other benchmarks time has no counterpart.
            _ => continue,
        };
        figures.samples = repetitions as u64;
        found.push(figures);
    }
    Ok(found)
}

fn rates(test: Test, (megabytes, messages): (f64, f64)) -> Figures {
    Figures::new(test, "mpi")
        .assuming(
            Unsaid::Window,
            format!("taken as {IMB_WINDOW}, the tool's default"),
        )
        .with("bandwidth_bytes_per_s", megabytes * 1e6)
        .with("rate_msg_per_s", messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn osu_tables_are_read() {
        let text = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n1                       0.25\n1024     0.75\n";
        let found = osu(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].figures, [("rtt_mean_ns", 1500.0)]);
        assert_eq!(found[1].test.size_bytes(), 1024);
        let bw = osu("# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n4096  1234.5\n").unwrap();
        assert_eq!(bw[0].figures, [("bandwidth_bytes_per_s", 1.2345e9)]);
        assert!(matches!(
            osu("# OSU MPI Latency Test\n1 x\n"),
            Err(ImportError::Line { line: 2, .. })
        ));
        let other_unit = osu("# OSU MPI Latency Test\n# Size   Latency (ms)\n1 0.25\n");
        assert!(matches!(other_unit, Err(ImportError::Line { line: 2, .. })));
        let two =
            format!("{text}# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n4096  1234.5\n");
        assert_eq!(osu(&two).unwrap()[2].figures[0].0, "bandwidth_bytes_per_s");
        assert!(matches!(osu("1 2\n"), Err(ImportError::Line { line: 1, .. })));
    }

    #[test]
    fn imb_tables_are_read() {
        let text = "# Benchmarking PingPong \n# #processes = 2 \n       #bytes #repetitions      t[usec]   Mbytes/sec\n            8         1000         0.31        25.62\n\n# Benchmarking Uniband\n 8 100 50.5 6312500\n# Benchmarking Bcast\n 8 100 1 2\n";
        let found = imb(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].figures, [("rtt_mean_ns", 620.0)]);
        assert_eq!(
            (found[0].samples, found[1].figures[1]),
            (1000, ("rate_msg_per_s", 6312500.0))
        );
        let late =
            imb("# Benchmarking PingPong\n8 100 0.31 25.6\n16 time-out.; Time limit is over\n").unwrap();
        assert_eq!(late.len(), 1);
        assert!(imb("# Benchmarking PingPong\n8 100\n").is_err());
    }
}
