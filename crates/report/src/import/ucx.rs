//! Rows of `ucx_perftest -v`: latencies of one way in µs, bandwidths in MB/s of 2^20 bytes, message rates; the overall ones
//! are taken.
//!
//! A row names neither test nor size. The size is bandwidth over rate. The test is what the command says where the file
//! shows it, what a batch file calls it, or what the user says; there is no guessing.

use super::told::test_named;
use super::{Figures, Format, ImportError, Unsaid};
use crate::perftest::{Api, ORIGINALS, Original, original};
use wirespeed_schema::shown::quoted;

const MIB: f64 = 1_048_576.0;

/// A row: names of batch files, then iterations, three latencies, two bandwidths, two rates.
fn row(line: &str) -> Option<(String, Vec<f64>)> {
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
}

/// The test that a command line asks for: `ucx_perftest -t tag_lat -v`.
fn asked(line: &str) -> Option<&'static Original> {
    let mut words = line
        .split_once("ucx_perftest")?
        .1
        .split_whitespace()
        .skip_while(|word| *word != "-t");
    original(words.nth(1)?)
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
    let mut rows: Vec<(Option<&'static Original>, String, Vec<f64>)> = Vec::new();
    let (mut command, mut fresh) = (None, true);
    for line in text.lines() {
        if let Some(found) = asked(line) {
            (command, fresh) = (Some(found), true);
        }
        let Some((names, values)) = row(line) else {
            continue;
        };
        let goes_on = |last: &&mut (_, String, Vec<f64>)| last.1 == names && last.2[0] < values[0];
        let stated = called(&names).or(command);
        match rows.last_mut().filter(|_| !fresh).filter(goes_on) {
            Some(last) => last.2 = values,
            None => rows.push((stated, names, values)),
        }
        fresh = false;
    }
    if told.is_some() && !rows.is_empty() && rows.iter().all(|(stated, ..)| stated.is_some()) {
        return Err(ImportError::Stated {
            format,
            what: Unsaid::Test.name(),
            option: Unsaid::Test.option(),
        });
    }
    let figures = rows.into_iter().map(|(stated, _, values)| {
        let original = stated.or(told).ok_or(ImportError::Unsaid {
            format,
            what: Unsaid::Test.name(),
        })?;
        figures(original, &values).ok_or_else(|| ImportError::NoTest {
            format,
            name: original.name.to_owned(),
        })
    });
    figures.collect()
}

fn figures(original: &Original, values: &[f64]) -> Option<Figures> {
    let (latency_us, bandwidth, rate) = (values[3], values[5] * MIB, values[7]);
    let size = if rate > 0.0 {
        (bandwidth / rate).round() as u64
    } else {
        0
    };
    let test = test_named(original.test, size, original.outstanding)?;
    let transport = match original.api {
        Api::Ucp => "ucp",
        Api::Uct => "uct",
    };
    let one_way = original.test.ends_with("_lat");
    let empty = Figures::new(test, transport);
    let mut figures = match (one_way, original.latency) {
        (true, _) => empty.with("rtt_mean_ns", latency_us * 2000.0),
        (false, true) => empty.with("completion_mean_ns", latency_us * 1000.0),
        (false, false) => empty
            .with("bandwidth_bytes_per_s", bandwidth)
            .with("rate_msg_per_s", rate)
            .assuming(
                Unsaid::Window,
                format!("taken as {}, the tool's default", original.outstanding),
            ),
    };
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
