//! The original's table and CSV, character by character. Numbers only get their columns here.

use super::figures::{Figures, Stretch};
use super::originals::{Api, header_of, original_of};
use super::{Generation, Original};
use std::fmt::Write as _;
use wirespeed_schema::Case;
use wirespeed_schema::test::Layout;

const BOX_RULE: &str = "+----------------------------------------------------------------------------------------------------------+\n";

/// How lines look.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Whose table.
    pub generation: Generation,
    /// CSV instead of a table.
    pub csv: bool,
    /// No lines but the final ones.
    pub final_only: bool,
    /// Thousands separators in integers.
    pub numeric: bool,
    /// Rank of the percentile column.
    pub percentile_rank: f64,
}

/// Rules and titles of a generation's table.
struct Frame {
    top: &'static str,
    rule: &'static str,
    groups: (&'static str, &'static str, usize),
}

const TODAY: Frame = Frame {
    top: "+--------------+--------------+------------------------------+---------------------+-----------------------+",
    rule: "+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+",
    groups: (
        "|              |              |",
        "|   bandwidth (MB/s)  |  message rate (msg/s) |",
        30,
    ),
};

const OF_2015: Frame = Frame {
    top: "+--------------+-----------------------------+---------------------+-----------------------+",
    rule: "+--------------+---------+---------+---------+----------+----------+-----------+-----------+",
    groups: (
        "|              |",
        "|   bandwidth (MB/s)  |  message rate (msg/s) |",
        29,
    ),
};

impl Form {
    fn frame(&self) -> &'static Frame {
        match self.generation {
            Generation::Today => &TODAY,
            Generation::Y2015 => &OF_2015,
        }
    }

    /// What stands above the lines of `tests`: titles, or the names of the columns with those of `files` first.
    pub fn header(&self, tests: &[&Original], files: &[String]) -> String {
        if self.csv {
            let percentile = match self.generation {
                Generation::Today => format!("{:.1}_percentile_lat", self.percentile_rank),
                Generation::Y2015 => "typical_lat".to_owned(),
            };
            let own =
                format!("iterations,{percentile},avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n");
            return files
                .iter()
                .map(|file| format!("{},", field(file)))
                .collect::<String>()
                + &own;
        }
        let frame = self.frame();
        let (left, right, width) = frame.groups;
        let title = match (
            tests.iter().any(|test| test.latency),
            tests.iter().any(|test| !test.latency),
        ) {
            (true, true) => "latency | overhead (usec)",
            (false, _) => "overhead (usec)",
            _ => "latency (usec)",
        };
        let titles = match self.generation {
            Generation::Today => format!(
                "|    {}| # iterations | {:4.1}%ile | average | overall |  average |  overall |  average  |  overall  |",
                if self.final_only {
                    " Test     "
                } else {
                    "Stage     "
                },
                self.percentile_rank
            ),
            Generation::Y2015 => {
                "| # iterations | typical | average | overall |  average |  overall |   average |   overall |"
                    .to_owned()
            }
        };
        format!(
            "{}\n{left}{}{right}\n{}\n{titles}\n{}\n",
            frame.top,
            centred(title, width),
            frame.rule,
            frame.rule
        )
    }

    /// The line with a test's name, before its first figures; nothing where names stand in the lines themselves.
    pub fn name_rule(&self, name: &[String]) -> String {
        if self.csv || self.final_only || name.is_empty() {
            return String::new();
        }
        let name = name.join("/");
        let rule = self.frame().rule;
        format!("+{name}{}\n", rule.get(1 + name.len()..).unwrap_or_default())
    }

    /// A line while the test runs, of thread 0 as the original would call it.
    pub fn interim(&self, name: &[String], figures: &Figures) -> String {
        if self.final_only {
            return String::new();
        }
        self.line(name, "[thread 0]", figures, "")
    }

    /// The final line; `unfinished` says of what kind the figures are that an end before the last message left, and
    /// `extra` follows it.
    pub fn last(&self, name: &[String], figures: &Figures, unfinished: Option<&str>, extra: &str) -> String {
        match unfinished {
            None => self.line(name, "Final:", figures, extra),
            Some(word) if self.csv => {
                let line = self.line(name, "", figures, "");
                format!("{},{word}\n", line.trim_end())
            }
            Some(word) => self.line(name, "Partial:", figures, format!("{word} {extra}").trim_end()),
        }
    }

    fn line(&self, name: &[String], stage: &str, figures: &Figures, extra: &str) -> String {
        if self.csv {
            return self.csv_line(name, figures);
        }
        let mut line = match (self.generation, self.final_only) {
            (Generation::Y2015, false) => String::new(),
            (Generation::Y2015, true) if name.is_empty() => String::new(),
            (_, true) => format!("{:>10}", name.join("/")),
            (Generation::Today, false) => format!("{stage:<10}"),
        };
        // The widths are those of the original's format strings.
        let (iterations, percentile, bandwidth) = match self.generation {
            Generation::Today => (18, 10, 11),
            Generation::Y2015 => (14, 9, 10),
        };
        let overall = &figures.overall;
        let columns: Vec<(usize, String)> = match &figures.average {
            Some(average) => vec![
                // Readers that split lines at blanks must find every column.
                (
                    percentile,
                    three(figures.percentile_us).unwrap_or_else(|| "-".to_owned()),
                ),
                (9, format!("{:.3}", average.latency_us)),
                (9, format!("{:.3}", overall.latency_us)),
                (bandwidth, format!("{:.2}", average.bandwidth_mib_per_s)),
                (10, format!("{:.2}", overall.bandwidth_mib_per_s)),
                (11, self.integer(average.rate_msg_per_s)),
                (11, self.integer(overall.rate_msg_per_s)),
            ],
            None => vec![
                (29, format!("{:.3}", overall.latency_us)),
                (22, format!("{:.2}", overall.bandwidth_mib_per_s)),
                (23, self.integer(overall.rate_msg_per_s)),
            ],
        };
        // Writing to a String cannot fail.
        let _ = write!(line, "{:>iterations$}", self.integer(figures.iterations as f64));
        for (width, text) in columns {
            let _ = write!(line, " {text:>width$}");
        }
        if !extra.is_empty() {
            let _ = write!(line, "  {extra}");
        }
        line + "\n"
    }

    fn csv_line(&self, name: &[String], figures: &Figures) -> String {
        let average = |pick: fn(&Stretch) -> String| figures.average.as_ref().map(pick).unwrap_or_default();
        let overall = &figures.overall;
        let mut fields: Vec<String> = name.iter().map(|part| field(part)).collect();
        fields.extend([
            format!("{:4}", figures.iterations),
            three(figures.percentile_us).unwrap_or_default(),
            average(|s| format!("{:.3}", s.latency_us)),
            format!("{:.3}", overall.latency_us),
            average(|s| format!("{:.2}", s.bandwidth_mib_per_s)),
            format!("{:.2}", overall.bandwidth_mib_per_s),
            average(|s| format!("{:.0}", s.rate_msg_per_s)),
            format!("{:.0}", overall.rate_msg_per_s),
        ]);
        fields.join(",") + "\n"
    }

    fn integer(&self, value: f64) -> String {
        let digits = format!("{value:.0}");
        if !self.numeric {
            return digits;
        }
        let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
        String::from_utf8_lossy(&groups.join(&b","[..])).into_owned()
    }
}

/// In the middle of `width`, one more blank after than before where they do not fit evenly.
fn centred(text: &str, width: usize) -> String {
    let room = width.saturating_sub(text.len());
    let before = room / 2;
    format!("{}{text}{}", " ".repeat(before), " ".repeat(room - before))
}

/// Three decimals, or nothing.
fn three(value: Option<f64>) -> Option<String> {
    value.map(|value| format!("{value:.3}"))
}

/// A field of CSV, in quotes where it must be.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// The box that tells of a test, without its last rule: layer, test, layout, memory, size.
pub fn box_of(case: &Case) -> String {
    let original = original_of(case);
    let is_ucp = original.is_some_and(|original| original.api == Api::Ucp);
    let size = original.map_or_else(|| case.test.size_bytes(), |original| original.size_bytes(case));
    let layout = match case.test.layout() {
        _ if is_ucp => "(automatic)",
        Some(Layout::Bcopy) => "bcopy",
        Some(Layout::Zcopy) => "zcopy",
        Some(Layout::Shortiov) => "short iov",
        _ => "short",
    };
    let rows = [
        (
            "API:",
            if is_ucp {
                "protocol layer"
            } else {
                "transport layer"
            },
        ),
        (
            "Test:",
            original.map_or_else(|| case.test.name(), |original| original.description),
        ),
        ("Data layout:", layout),
        ("Send memory:", "host"),
        ("Recv memory:", "host"),
        ("Message size:", &size.to_string()),
    ];
    let rows = rows
        .iter()
        .map(|(title, text)| format!("| {title:<14}{text:<90} |\n"));
    // Narrower in the original too.
    let header = match is_ucp && case.test.name().starts_with("am_") {
        true => format!("| AM header size: {:<73}|\n", header_of(case)),
        false => String::new(),
    };
    BOX_RULE.to_owned() + &rows.collect::<String>() + &header
}

#[cfg(test)]
mod tests {
    use super::super::originals::original;
    use super::*;

    const FORM: Form = Form {
        generation: Generation::Today,
        csv: false,
        final_only: false,
        numeric: false,
        percentile_rank: 50.0,
    };

    fn figures(average: bool) -> Figures {
        let stretch = Stretch {
            latency_us: 0.143,
            bandwidth_mib_per_s: 53.18,
            rate_msg_per_s: 6_970_405.0,
        };
        Figures {
            iterations: 3_000_000,
            percentile_us: Some(0.044),
            average: average.then_some(stretch),
            overall: stretch,
        }
    }

    /// What release 1.13.1 printed.
    #[test]
    fn lines_are_those_of_the_original() {
        let line = FORM.last(&[], &figures(true), None, "");
        assert_eq!(
            line,
            "Final:               3000000      0.044     0.143     0.143       53.18      53.18     6970405     6970405\n"
        );
        let threads = FORM.last(&[], &figures(false), None, "");
        assert_eq!(
            threads,
            "Final:               3000000                         0.143                  53.18                 6970405\n"
        );
        let name = ["put_short".to_owned(), "8".to_owned()];
        let rule = FORM.name_rule(&name);
        assert_eq!(
            rule,
            "+put_short/8---+--------------+----------+---------+---------+----------+----------+-----------+-----------+\n"
        );
        let long = ["n".repeat(300)];
        assert_eq!(FORM.name_rule(&long), format!("+{}\n", long[0]));
    }

    #[test]
    fn groups_names_and_missing_figures_keep_the_columns() {
        let numeric = Form {
            numeric: true,
            ..FORM
        };
        assert!(
            numeric
                .last(&[], &figures(true), None, "")
                .contains(" 3,000,000 ")
        );
        let mut without = figures(true);
        without.percentile_us = None;
        let columns = |line: &str| line.split_whitespace().count();
        let line = FORM.last(&[], &without, None, "");
        assert_eq!(columns(&line), columns(&FORM.last(&[], &figures(true), None, "")));
        let csv = Form { csv: true, ..FORM };
        let name = ["a,b".to_owned()];
        let fields = "\"a,b\",3000000,,0.143,0.143,53.18,53.18,6970405,6970405\n";
        assert_eq!(csv.last(&name, &without, None, ""), fields);
        let marked = csv.last(&name, &without, Some("interrupted"), "");
        assert_eq!(marked, format!("{},interrupted\n", fields.trim_end()));
        let marked = FORM.last(&[], &figures(true), Some("interrupted"), "tl=self");
        assert!(
            marked.starts_with("Partial:") && marked.ends_with("interrupted tl=self\n"),
            "{marked}"
        );
    }

    #[test]
    fn titles_name_what_the_tests_time() {
        let (lat, bw) = (original("am_lat").unwrap(), original("am_bw").unwrap());
        let titled = |tests: &[&Original]| FORM.header(tests, &[]).lines().nth(1).unwrap().to_owned();
        assert!(titled(&[lat]).contains("|        latency (usec)        |"));
        assert!(titled(&[bw]).contains("|       overhead (usec)        |"));
        assert!(titled(&[lat, bw]).contains("latency | overhead (usec)"));
        let lines = FORM.header(&[lat, bw], &[]);
        assert!(lines.lines().all(|line| line.len() == 108), "{lines}");
    }
}
