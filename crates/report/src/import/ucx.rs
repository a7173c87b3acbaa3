//! Rows of ucx_perftest, in its table and with `-v`: latencies of one way in µs, bandwidths in MB/s of 2^20 bytes, message
//! rates; the overall ones are taken.
//!
//! A row names neither test nor size. The size is what the box above the table says, else bandwidth over rate. The test
//! is what the box or the command says where the file shows it, what a batch file calls it, or what the user says; there
//! is no guessing.

use super::possible::is_count;
use super::told::test_named;
use super::ucx_typed::Typed;
use super::{Figures, Format, ImportError, Unsaid, bad_line};
use crate::perftest::{Api, Generation, HEADER_BYTES, ORIGINALS, Original, original};
use wirespeed_schema::plan::takes;
use wirespeed_schema::shown::quoted;
use wirespeed_schema::test::Layout;

const MIB: f64 = 1_048_576.0;

/// Bandwidths have two digits behind the point: the true one is within so many MB/s of what is written.
const ROUNDED_MB_PER_S: f64 = 0.005;

/// What is wrong with a row whose numbers none can be.
const NO_ROW: &str = "not a row of numbers";

/// A row of either form: names of batch files, then iterations, three latencies, two bandwidths, two rates.
fn row(line: &str) -> Option<(String, Vec<f64>)> {
    separated(line).or_else(|| of_table(line))
}

/// A row of the table: what stands before the numbers is its stage, or a name. Where several threads measure it has
/// iterations and overall figures alone. Numbers may have commas (`-N`).
fn of_table(line: &str) -> Option<(String, Vec<f64>)> {
    let line = line.trim();
    let staged = line.strip_prefix("Final:").or_else(|| {
        let progress = line.strip_prefix("[thread ")?;
        Some(progress.split_once(']')?.1)
    });
    let words: Vec<String> = staged
        .unwrap_or(line)
        .split_whitespace()
        .map(|word| word.replace(',', ""))
        .collect();
    let names = words
        .iter()
        .take_while(|word| word.parse::<f64>().is_err())
        .count();
    let values: Option<Vec<f64>> = words[names..].iter().map(|word| word.parse().ok()).collect();
    let values = match values?.as_slice() {
        [count, latency, bandwidth, rate] => {
            vec![*count, 0.0, 0.0, *latency, 0.0, *bandwidth, 0.0, *rate]
        }
        whole if whole.len() == 8 => whole.to_vec(),
        _ => return None,
    };
    (staged.is_none() || names == 0).then(|| (words[..names].join(" "), values))
}

/// A row of `-v`.
fn separated(line: &str) -> Option<(String, Vec<f64>)> {
    let line = line.trim();
    let bare = line
        .strip_prefix("[thread ")
        .and_then(|rest| rest.split_once(']'));
    let words: Vec<&str> = bare
        .map_or(line, |(_, row)| row)
        .split(',')
        .map(str::trim)
        .collect();
    let (names, numbers) = words.split_at_checked(words.len().checked_sub(8)?)?;
    let values: Option<Vec<f64>> = numbers.iter().map(|word| word.parse().ok()).collect();
    Some((names.join(" "), values?))
}

/// Whether a line is the header of the rows.
pub fn is_header(line: &str) -> bool {
    line.contains("overall_lat,avg_bw,overall_bw,avg_mr,overall_mr")
        || (line.starts_with("| ") && line.contains("# iterations |") && line.contains("| overall |"))
}

/// A layout by its name; none where the tool chose one itself.
pub(super) fn layout_named(text: &str) -> Option<Layout> {
    Layout::ALL.into_iter().find(|layout| layout.name() == text)
}

/// What the box above a table says of the test.
#[derive(Debug, Default)]
struct Boxed<'a> {
    layer: &'a str,
    test: &'a str,
    size_bytes: Option<u64>,
    layout: Option<Layout>,
}

impl<'a> Boxed<'a> {
    /// Take what `line` says; a new layer begins a new box.
    fn look(&mut self, line: &'a str) {
        let said = line
            .trim()
            .strip_prefix('|')
            .and_then(|line| line.split_once(':'));
        let Some((title, text)) = said else { return };
        let text = text.trim_end_matches('|').trim();
        match title.trim() {
            "API" => {
                *self = Boxed {
                    layer: text,
                    ..Boxed::default()
                }
            }
            "Test" => self.test = text,
            "Message size" => self.size_bytes = text.parse().ok(),
            "Data layout" => self.layout = layout_named(text),
            _ => {}
        }
    }

    fn original(&self) -> Option<&'static Original> {
        let is_here = |original: &&Original| {
            original.description == self.test
                && match original.api {
                    Api::Ucp => self.layer.starts_with("protocol"),
                    Api::Uct => self.layer.starts_with("transport"),
                }
        };
        ORIGINALS.iter().find(is_here)
    }
}

/// The name of a test of a batch, in the rule above its first row: `+small_tag_lat---+----`.
fn ruled(line: &str) -> Option<String> {
    let name = line.strip_prefix('+')?.split("--").next()?;
    (!name.is_empty() && !name.starts_with('-')).then(|| name.replace('/', " "))
}

/// A row, and what stands about it in the file.
struct Row {
    /// The line, from 0.
    line: usize,
    stated: Option<&'static Original>,
    size_bytes: Option<u64>,
    layout: Option<Layout>,
    typed: Typed,
    names: String,
    values: Vec<f64>,
}

impl Row {
    /// Whether what is told over all iterations can be. Averages of the last slice may be none: it may be empty.
    fn is_counted(&self) -> bool {
        [3, 5, 7].iter().all(|at| is_count(self.values[*at]))
    }
}

/// The test that the name of a batch line holds as a word: `small_tag_lat`.
fn called(names: &str) -> Option<&'static Original> {
    let holds = |name: &str, test: &str| {
        name == test || name.ends_with(&format!("_{test}")) || name.starts_with(&format!("{test}_"))
    };
    let all = names.split_whitespace().flat_map(|name| {
        ORIGINALS
            .iter()
            .filter(move |original| holds(name, original.name))
    });
    all.max_by_key(|original| original.name.len())
}

/// Rows of one run are cumulative and the last one counts; a run ends where iterations begin anew or another command stands.
pub fn read(text: &str, told: Option<&str>) -> Result<Vec<Figures>, ImportError> {
    let format = Format::UcxPerftest.name();
    let told = told
        .map(|name| {
            original(name).ok_or_else(|| ImportError::NoTest {
                format,
                name: quoted(name, 40),
            })
        })
        .transpose()?;
    let rows = rows(text)?;
    if told.is_some() && !rows.is_empty() && rows.iter().all(|row| row.stated.is_some()) {
        return Err(ImportError::stated(Format::UcxPerftest, Unsaid::Test));
    }
    let figures = rows.into_iter().map(|row| {
        if !row.is_counted() {
            return Err(bad_line(Format::UcxPerftest, row.line, NO_ROW));
        }
        let original = row.stated.or(told).ok_or(ImportError::Unsaid {
            format,
            what: Unsaid::Test.name(),
        })?;
        figures(original, &row).ok_or_else(|| ImportError::NoTest {
            format,
            name: original.name.to_owned(),
        })
    });
    figures.collect()
}

fn rows(text: &str) -> Result<Vec<Row>, ImportError> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut typed, mut named) = (Typed::default(), String::new());
    let (mut boxed, mut fresh) = (Boxed::default(), true);
    for (number, line) in text.lines().enumerate() {
        boxed.look(line);
        if let Some(found) = Typed::read(line) {
            (typed, named, boxed, fresh) = (found, String::new(), Boxed::default(), true);
        }
        if is_header(line) {
            (named, fresh) = (String::new(), true);
        }
        if let Some(name) = ruled(line) {
            (named, fresh) = (name, true);
        }
        let Some((mut names, values)) = row(line) else {
            continue;
        };
        if !is_count(values[0]) {
            return Err(bad_line(Format::UcxPerftest, number, NO_ROW));
        }
        if names.is_empty() {
            names.clone_from(&named);
        }
        let goes_on = |last: &&mut Row| last.names == names && last.values[0] < values[0];
        match rows.last_mut().filter(|_| !fresh).filter(goes_on) {
            Some(last) => (last.line, last.values) = (number, values),
            None => rows.push(Row {
                line: number,
                stated: called(&names).or(boxed.original()).or(typed.test),
                size_bytes: boxed.size_bytes.or(typed.size_bytes),
                layout: boxed.layout.or(typed.layout),
                typed: typed.clone(),
                names,
                values,
            }),
        }
        fresh = false;
    }
    Ok(rows)
}

fn figures(original: &Original, row: &Row) -> Option<Figures> {
    let values = &row.values;
    let (latency_us, bandwidth, rate) = (values[3], values[5] * MIB, values[7]);
    // The larger of both bandwidths is the less rounded one.
    let is_told = values[4].is_finite() && values[6].is_finite();
    let (per_s, msgs) = match is_told && values[4] > values[5] {
        true => (values[4], values[6]),
        false => (values[5], values[7]),
    };
    let derived = if msgs > 0.0 { per_s * MIB / msgs } else { 0.0 };
    let counted = row.size_bytes.unwrap_or(derived.round() as u64);
    let is_exact = row.size_bytes.is_some() || ROUNDED_MB_PER_S * MIB / msgs < 0.5;
    let typed = &row.typed;
    // A header that is longer than its message was not the default one, and nothing says which it was.
    let header = typed.header_bytes.filter(|_| original.has_header());
    let header = header.map_or(HEADER_BYTES, |bytes| bytes.max(HEADER_BYTES));
    let payload = original.payload_bytes(counted, header);
    let size = payload.unwrap_or(counted);
    let outstanding = typed.outstanding.unwrap_or(original.outstanding);
    let credits = original.credits(counted, typed.window_msgs, typed.outstanding, Generation::Today);
    let under_way = match original.test {
        test if takes(test, "window") => credits,
        test if takes(test, "outstanding") => outstanding,
        _ => 1,
    };
    let default = original.layout(size, header == HEADER_BYTES && typed.is_plain());
    let layout = row.layout.or(default).unwrap_or(Layout::Short);
    let test = test_named(original.test, size, layout, under_way)?;
    let transport = match original.api {
        Api::Ucp => "ucp",
        Api::Uct => "uct",
    };
    let one_way = original.test.ends_with("_lat");
    let mut empty = Figures::new(test, transport).with_options(typed.options(original, header));
    let is_default = typed.header_bytes.is_none();
    let taken = match (is_exact, original.counts_header(), payload) {
        (true, false, _) => None,
        (true, true, Some(_)) if !is_default => None,
        (true, true, Some(_)) => Some(format!(
            "{size} B behind the header of {HEADER_BYTES} B that the tool sends by default"
        )),
        (true, true, None) => Some(format!("{size} B, a header among them")),
        (false, ..) => Some(format!("about {size} B, bandwidth over rate as rounded")),
    };
    if let Some(taken) = taken {
        empty = empty.assuming(Unsaid::Size, taken);
    }
    if original.api == Api::Uct && !empty.options.contains_key("tl") {
        empty = empty.assuming(Unsaid::Transport, "uct over a device that it does not name");
    }
    let mut figures = match (one_way, original.latency) {
        (true, _) => empty.with("rtt_mean_ns", latency_us * 2000.0),
        (false, true) => empty.with("completion_mean_ns", latency_us * 1000.0),
        (false, false) => empty
            .with("bandwidth_bytes_per_s", bandwidth)
            .with("rate_msg_per_s", rate),
    };
    if !original.latency && typed.test.is_none() {
        let taken = format!("taken as {under_way}, the tool's default");
        figures = figures.assuming(Unsaid::Window, taken);
    }
    figures.samples = values[0] as u64;
    Some(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr";
    const ROW: &str = "10000,0.250,0.260,0.255,29.92,29.92,3921568,3921568";

    #[test]
    fn a_row_is_the_test_that_the_file_or_the_user_says() {
        let plain = format!("{HEADER}\n{ROW}\n");
        assert!(matches!(
            read(&plain, None),
            Err(ImportError::Unsaid { what: "test", .. })
        ));
        let latency = [("rtt_mean_ns", 510.0)];
        let told = read(&plain, Some("tag_lat")).unwrap();
        assert_eq!((told[0].test.name(), told[0].test.size_bytes()), ("tag_lat", 8));
        assert_eq!(
            (told[0].figures.as_slice(), told[0].transport.as_str()),
            (&latency[..], "ucp")
        );
        let shown = read(&format!("$ ucx_perftest host -t ucp_am_bw -v\n{plain}"), None).unwrap();
        assert_eq!(
            (shown[0].test.name(), shown[0].transport.as_str()),
            ("am_bw", "ucp")
        );
        assert_eq!(shown[0].figures[1], ("rate_msg_per_s", 3_921_568.0));
        let batch = read(&format!("{HEADER}\nsmall_tag_lat,{ROW}\nam_bw,{ROW}\n"), None).unwrap();
        assert_eq!(
            (batch[0].test.name(), batch[1].transport.as_str()),
            ("tag_lat", "uct")
        );
        assert!(matches!(
            read(&plain, Some("none")),
            Err(ImportError::NoTest { .. })
        ));
        let twice = read(&format!("tag_lat,{ROW}\n"), Some("tag_bw"));
        assert!(matches!(twice, Err(ImportError::Stated { .. })));
        let fetch = read(&plain, Some("get")).unwrap();
        assert_eq!(fetch[0].figures, [("completion_mean_ns", 255.0)]);
    }

    const TITLES: &str = "|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |";

    #[test]
    fn the_table_that_is_printed_without_options_is_read() {
        let rows = "[thread 0]              4000      0.410     0.4      0.4         18.0       18.0     2400000     2400000\n\
                    Final:                 10000      0.400     0.410     0.415       18.38      18.38     2409638     2409638\n";
        let bare = format!("{TITLES}\n{rows}");
        assert!(is_header(TITLES));
        assert!(matches!(read(&bare, None), Err(ImportError::Unsaid { .. })));
        let told = read(&bare, Some("tag_lat")).unwrap();
        assert_eq!((told.len(), told[0].samples), (1, 10_000));
        assert_eq!(
            (told[0].test.size_bytes(), &told[0].figures[..]),
            (8, &[("rtt_mean_ns", 830.0)][..])
        );
        let boxed = "| API:          protocol layer      |\n| Test:         put bandwidth       |\n\
                     | Message size: 4096                |\n";
        let threads = "Final:   3,000,000        0.143      53.18     13,614\n";
        let found = read(
            &format!("{boxed}{TITLES}\n{threads}{boxed}{TITLES}\n{threads}"),
            None,
        )
        .unwrap();
        assert_eq!(
            (found.len(), found[0].test.name(), found[0].transport.as_str()),
            (2, "put_bw", "ucp")
        );
        assert_eq!(
            (found[0].test.size_bytes(), found[0].figures[1]),
            (4096, ("rate_msg_per_s", 13_614.0))
        );
        let batch =
            format!("{TITLES}\n+small_tag_lat/8---+-----+\n{rows}+am_bw/8----+-----+\n{rows}+-------+\n");
        let names: Vec<&str> = read(&batch, None)
            .unwrap()
            .iter()
            .map(|run| run.test.name())
            .collect();
        assert_eq!(names, ["tag_lat", "am_bw"]);
        let cut = format!("{TITLES}\nPartial:  100 0.1 0.1 0.1 1.0 1.0 100 100 interrupted\n");
        assert!(read(&cut, Some("tag_lat")).unwrap().is_empty());
    }

    #[test]
    fn a_size_that_rounding_hides_is_told_as_such() {
        let slow = "100,0.250,0.260,0.255,0.01,0.01,1000,1000";
        let found = read(slow, Some("tag_bw")).unwrap();
        assert_eq!(found[0].assumed[0].what, Unsaid::Size);
    }

    #[test]
    fn the_header_that_a_size_counts_is_no_payload() {
        for original in &ORIGINALS {
            let found = &read(ROW, Some(original.name)).unwrap()[0];
            let (size, assumed) = match original.counts_header() {
                true => (0, "0 B behind the header of 8 B that the tool sends by default"),
                false => (8, ""),
            };
            assert_eq!(found.test.size_bytes(), size, "{}", original.name);
            let taken = found.assumed.iter().find(|assumed| assumed.what == Unsaid::Size);
            assert_eq!(
                taken.map_or("", |assumed| &assumed.taken),
                assumed,
                "{}",
                original.name
            );
        }
        let short = "10000,0.250,0.260,0.255,14.96,14.96,3921568,3921568";
        let found = &read(short, Some("am_lat")).unwrap()[0];
        assert_eq!(found.test.size_bytes(), 4);
        assert_eq!(found.assumed[0].taken, "4 B, a header among them");
    }

    #[test]
    fn rows_of_one_run_are_cumulative() {
        assert!(is_header(HEADER) && read("cut,1,2", None).unwrap().is_empty());
        let progress = "1000,0.2,0.2,0.2,1.0,1.0,1000,1000\n2000,0.2,0.2,0.2,1.0,1.0,1000,2000\n1000,0.2,0.2,0.2,1.0,1.0,1000,3000\n";
        let rates: Vec<f64> = read(progress, Some("tag_bw"))
            .unwrap()
            .iter()
            .map(|run| run.figures[1].1)
            .collect();
        assert_eq!(rates, [2000.0, 3000.0]);
    }

    #[test]
    fn every_test_of_the_original_can_be_told() {
        for original in &ORIGINALS {
            let found = read(ROW, Some(original.name)).unwrap();
            assert_eq!(found[0].test.name(), original.test, "{}", original.name);
        }
    }
}
