//! Tables of sizes: the OSU micro-benchmarks and the Intel MPI Benchmarks.

use super::told::test_named;
use super::{Figures, Format, ImportError, Unsaid, bad_line};
use std::collections::BTreeMap;
use wirespeed_schema::case::{RankSpec, Role};
use wirespeed_schema::plan::takes;
use wirespeed_schema::test::Layout;

/// Window of the OSU tests unless it was changed; only one of their tables says it.
const OSU_WINDOW: u64 = 64;
/// Window of IMB's Uniband and Biband.
const IMB_WINDOW: u64 = 256;
/// Most pairs of ranks.
const PAIRS_MAX: u64 = 1 << 16;

/// A test of these suites by its name here, between pairs of ranks: each of the first half with one of the second.
fn figures(name: &str, size: u64, window: u64, pairs: u64) -> Option<Figures> {
    let pairs = pairs.clamp(1, PAIRS_MAX) as u32;
    let end = |role, peer| (0..pairs).map(move |rank| RankSpec::new(role).with_peer(rank + peer));
    let ranks = end(Role::Source, pairs).chain(end(Role::Sink, 0)).collect();
    let test = test_named(name, size, Layout::Short, window)?;
    Some(Figures::of_job(test, ranks))
}

/// A latency in µs: the original's figure, and the round trip of which it is half.
fn latency(found: Figures, latency_us: f64) -> Figures {
    found
        .with("classic_latency_ns", latency_us * 1000.0)
        .with("rtt_mean_ns", latency_us * 2000.0)
}

/// A bandwidth of 10^6 bytes a second and perhaps a rate, of all iterations together: the original's figures, which stand for
/// ours, too.
fn bandwidth(found: Figures, megabytes: f64, messages: Option<f64>) -> Figures {
    let found = found
        .with("classic_bandwidth_bytes_per_s", megabytes * 1e6)
        .with("bandwidth_bytes_per_s", megabytes * 1e6);
    match messages {
        Some(rate) => found
            .with("classic_rate_msg_per_s", rate)
            .with("rate_msg_per_s", rate),
        None => found,
    }
}

/// The count that follows `name` in a heading.
fn count_after(line: &str, name: &str) -> Option<u64> {
    let words = line.split_once(name)?.1.split_whitespace();
    words.map_while(|word| word.parse().ok()).next()
}

/// The numbers of a line; `None` where a word is none.
fn numbers(line: &str) -> Option<Vec<f64>> {
    line.split_whitespace()
        .map(|word| word.parse().ok().filter(|v: &f64| v.is_finite()))
        .collect()
}

/// OSU: `# OSU MPI Latency Test`, then size and value. Latency is half of the mean round trip in µs, bandwidth in MB/s of
/// 10^6 bytes. All of it is what the tests of the same names measure here.
pub fn osu(text: &str) -> Result<Vec<Figures>, ImportError> {
    let (mut heading, mut found, mut other) = (OsuHeading::default(), Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let bad = |what| bad_line(Format::Osu, number, what);
        if line.starts_with("# Size") && !["(us)", "MB/s"].iter().any(|unit| line.contains(unit)) {
            return Err(bad("neither us nor MB/s stands at the column"));
        }
        heading.read(line);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if heading.title.is_empty() {
            return Err(bad("no heading says which OSU test this is"));
        }
        // What other tests time has no counterpart.
        let Some(name) = osu_name(&heading.title) else {
            other.get_or_insert(number);
            continue;
        };
        let (line, is_right) = match line.rsplit_once(char::is_whitespace) {
            Some((row, "Pass")) => (row, true),
            Some((row, "Fail")) => (row, false),
            _ => (line, true),
        };
        if !is_right {
            return Err(bad("the test says that its data were wrong"));
        }
        let values = numbers(line).ok_or_else(|| bad("not a row of numbers"))?;
        let (Some(&size), Some(&value)) = (values.first(), values.get(1)) else {
            return Err(bad("a row has a size and a value"));
        };
        let is_windowed = takes(name, "window");
        let under_way = if is_windowed {
            heading.window.unwrap_or(OSU_WINDOW)
        } else {
            1
        };
        let mut row = figures(name, size as u64, under_way, heading.pairs.unwrap_or(1))
            .ok_or_else(|| bad("a row has a size and a value"))?;
        if is_windowed {
            let rate = values.get(2).copied().filter(|_| name == "osu_mbw_mr");
            row = bandwidth(row, value, rate);
            if heading.window.is_none() {
                row = row.assuming(
                    Unsaid::Window,
                    format!("taken as {OSU_WINDOW}, the tool's default"),
                );
            }
        } else {
            row = latency(row, value);
        }
        found.push(row.with_options(heading.options.clone()));
    }
    match other.filter(|_| found.is_empty()) {
        Some(number) => Err(bad_line(
            Format::Osu,
            number,
            "this OSU test has no counterpart here",
        )),
        None => Ok(found),
    }
}

/// What the lines above a table of OSU's say.
#[derive(Default)]
struct OsuHeading {
    title: String,
    pairs: Option<u64>,
    window: Option<u64>,
    /// The kind of memory and the ends that have it, where it is not that of hosts.
    options: BTreeMap<String, String>,
}

impl OsuHeading {
    fn read(&mut self, line: &str) {
        if line.starts_with("# OSU MPI") {
            let title = line.to_lowercase();
            // `# osu mpi-cuda latency test`
            let kind = title
                .strip_prefix("# osu mpi-")
                .and_then(|rest| rest.split(' ').next());
            let kind = kind.map(|kind| ("memory".to_owned(), kind.to_owned()));
            *self = OsuHeading {
                options: kind.into_iter().collect(),
                title,
                ..OsuHeading::default()
            };
        }
        if line.starts_with('#') {
            self.pairs = count_after(line, "pairs:").or(self.pairs);
            self.window = count_after(line, "window size:").or(self.window);
            self.options.extend(osu_buffers(line));
        }
    }
}

/// Where the buffers of both ends are: `# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)`.
fn osu_buffers(line: &str) -> Option<(String, String)> {
    let ends = line
        .strip_prefix("# Send Buffer on ")?
        .split_once(" and Receive Buffer on ");
    let word = |end: &str| end.split(' ').next().unwrap_or_default().to_lowercase();
    ends.map(|(send, receive)| ("buffers".to_owned(), format!("{}-{}", word(send), word(receive))))
}

/// The test here that a heading of OSU's names: `# osu mpi latency test v7.4`, with the kind of memory behind `mpi`. Collective
/// and one-sided tests, and those of threads, begin and end alike.
fn osu_name(title: &str) -> Option<&'static str> {
    let names = [
        ("latency", "osu_latency"),
        ("multi latency", "osu_multi_lat"),
        ("bandwidth", "osu_bw"),
        ("bi-directional bandwidth", "osu_bibw"),
        ("multiple bandwidth / message rate", "osu_mbw_mr"),
    ];
    let (library, rest) = title.strip_prefix("# osu ")?.split_once(' ')?;
    let told = rest.split_once(" test")?.0.trim();
    let is_plain = library == "mpi" || library.starts_with("mpi-");
    let found = names.iter().find(|(words, _)| *words == told && is_plain);
    found.map(|(_, name)| *name)
}

/// IMB: `# Benchmarking PingPong`, then `#bytes #repetitions t[usec] Mbytes/sec` (PingPong: half of the round trip's
/// mean) or `#bytes #repetitions Mbytes/sec Msg/sec` (Uniband, Biband). Rows of a time-out are left out.
pub fn imb(text: &str) -> Result<Vec<Figures>, ImportError> {
    let (mut benchmark, mut processes, mut found) = (String::new(), 2, Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let bad = |what| bad_line(Format::Imb, number, what);
        if let Some(name) = line.strip_prefix("# Benchmarking ") {
            (benchmark, processes) = (name.trim().to_owned(), 2);
        }
        if line.starts_with("# #processes =") {
            processes = count_after(line, "=").unwrap_or(2);
        }
        if line.starts_with("#bytes")
            && !["t[usec]", "Mbytes/sec", "t_avg[usec]"]
                .iter()
                .any(|unit| line.contains(unit))
        {
            return Err(bad("neither usec nor Mbytes/sec stands at a column"));
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // What took too long has no figures; the rows before it count.
        if line.contains("time-out") {
            continue;
        }
        let Some(values) = numbers(line) else {
            return Err(bad("not a row of numbers"));
        };
        let &[size, repetitions, third, fourth, ..] = values.as_slice() else {
            return Err(bad("a row has four numbers"));
        };
        let size = size as u64;
        let windowed = |name| {
            let taken = format!("taken as {IMB_WINDOW}, the tool's default");
            let row = figures(name, size, IMB_WINDOW, processes / 2)?;
            Some(bandwidth(
                row.assuming(Unsaid::Window, taken),
                third,
                Some(fourth),
            ))
        };
        let row = match benchmark.as_str() {
            "PingPong" => figures("imb_pingpong", size, 1, 1).map(|row| latency(row, third)),
            "Uniband" => windowed("imb_uniband"),
            "Biband" => windowed("imb_biband"),
            // What other benchmarks time has no counterpart.
            _ => None,
        };
        found.extend(row.map(|mut row| {
            row.samples = repetitions as u64;
            row
        }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collectives, one-sided tests and the rest of OSU's are no tests of two ranks that answer each other.
    #[test]
    fn only_osu_tests_that_exist_here_are_read() {
        let table = |title: &str| {
            osu(&format!(
                "# OSU {title} Test v7.4\n# Size    Latency (us)\n1   5.11\n8  6.0\n"
            ))
        };
        for (title, name) in [
            ("MPI Latency", "osu_latency"),
            ("MPI-CUDA Latency", "osu_latency"),
            ("MPI Multi Latency", "osu_multi_lat"),
            ("MPI Bandwidth", "osu_bw"),
            ("MPI Bi-Directional Bandwidth", "osu_bibw"),
            ("MPI Multiple Bandwidth / Message Rate", "osu_mbw_mr"),
        ] {
            let found = table(title).unwrap();
            assert_eq!((found.len(), found[0].test.name()), (2, name), "{title}");
        }
        for title in [
            "MPI Allreduce Latency",
            "MPI_Put Latency",
            "MPI_Get Bandwidth",
            "MPI Non-Blocking Allreduce Latency",
            "MPI Multi-threaded Latency",
            "MPI Persistent Latency",
            "MPI_Put Bi-directional Bandwidth",
            "OpenSHMEM Put",
            "MPI_Accumulate latency",
            "MPI Partitioned Latency",
        ] {
            assert_eq!(table(title).unwrap_or_default().len(), 0, "{title}");
        }
        let checked =
            "# OSU MPI Latency Test v7.4\n# Size  Latency (us)  Validation\n1   0.25   Pass\n2  0.25  ";
        assert_eq!(osu(&format!("{checked}Pass\n")).unwrap().len(), 2);
        assert!(osu(&format!("{checked}Fail\n")).is_err());
    }

    #[test]
    fn osu_tables_are_read() {
        let text = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n1                       0.25\n1024     0.75\n";
        let found = osu(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[1].figures,
            [("classic_latency_ns", 750.0), ("rtt_mean_ns", 1500.0)]
        );
        assert_eq!(
            (found[1].test.name(), found[1].test.size_bytes()),
            ("osu_latency", 1024)
        );
        let bw = osu("# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n4096  1234.5\n").unwrap();
        assert_eq!(
            bw[0].figures,
            [
                ("classic_bandwidth_bytes_per_s", 1.2345e9),
                ("bandwidth_bytes_per_s", 1.2345e9)
            ]
        );
        assert_eq!((bw[0].test.name(), bw[0].assumed.len()), ("osu_bw", 1));
        let pairs = osu(
            "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# [ pairs: 3 ] [ window size: 16 ]\n\
             # Size                  MB/s        Messages/s\n8  10.5  1312500.5\n",
        );
        let pairs = &pairs.unwrap()[0];
        assert_eq!(
            (pairs.test.name(), pairs.test.window(), pairs.ranks.len()),
            ("osu_mbw_mr", 16, 6)
        );
        assert_eq!(
            (pairs.figures[2], pairs.assumed.len()),
            (("classic_rate_msg_per_s", 1312500.5), 0)
        );
        let one = osu(
            "# OSU MPI Multiple Bandwidth / Message Rate Test\n# [ pairs: 1 ] [ window size: 1 ]\n8  10.5  1312500.5\n",
        );
        assert_eq!(one.unwrap()[0].figures[0].0, "classic_bandwidth_bytes_per_s");
        let several = osu("# OSU MPI Multi Latency Test v7.4\n# Size  Latency (us)\n8  1.5\n").unwrap();
        assert_eq!(several[0].test.name(), "osu_multi_lat");
        assert!(osu("# OSU MPI Multi-threaded Latency Test\n8  1.5\n").is_err());
        assert!(matches!(
            osu("# OSU MPI Latency Test\n1 x\n"),
            Err(ImportError::Line { line: 2, .. })
        ));
        let other_unit = osu("# OSU MPI Latency Test\n# Size   Latency (ms)\n1 0.25\n");
        assert!(matches!(other_unit, Err(ImportError::Line { line: 2, .. })));
        let two =
            format!("{text}# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n4096  1234.5\n");
        assert_eq!(
            osu(&two).unwrap()[2].figures[0].0,
            "classic_bandwidth_bytes_per_s"
        );
        assert!(matches!(osu("1 2\n"), Err(ImportError::Line { line: 1, .. })));
    }

    #[test]
    fn imb_tables_are_read() {
        let text = "# Benchmarking PingPong \n# #processes = 2 \n       #bytes #repetitions      t[usec]   Mbytes/sec\n            8         1000         0.31        25.62\n\n# Benchmarking Uniband\n 8 100 50.5 6312500\n# Benchmarking Bcast\n 8 100 1 2\n";
        let found = imb(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0].figures,
            [("classic_latency_ns", 310.0), ("rtt_mean_ns", 620.0)]
        );
        assert_eq!(
            (found[0].samples, found[1].figures[2]),
            (1000, ("classic_rate_msg_per_s", 6312500.0))
        );
        let four = imb("# Benchmarking Biband\n# #processes = 4\n 8 100 50.5 6312500\n").unwrap();
        assert_eq!((four[0].test.name(), four[0].ranks.len()), ("imb_biband", 4));
        let late =
            imb("# Benchmarking PingPong\n8 100 0.31 25.6\n16 time-out.; Time limit is over\n").unwrap();
        assert_eq!(late.len(), 1);
        assert!(imb("# Benchmarking PingPong\n8 100\n").is_err());
    }
}
