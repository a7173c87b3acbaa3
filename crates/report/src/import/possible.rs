//! Figures that no run can have: a line that holds one was not understood, and leaving it out would make a result of what is
//! left.
//!
//! It must never judge what is merely unlikely.

use super::Figures;

/// No count, time in ns, rate or bandwidth is larger: 30 years, an exabyte a second.
pub const FIGURE_MAX: f64 = 1e18;

/// Whether it can be a count, a time or a rate.
pub fn is_count(value: f64) -> bool {
    (0.0..=FIGURE_MAX).contains(&value)
}

/// The first figure that is no number, below zero, or beyond what any run can reach.
pub fn none_can_have(found: &Figures) -> Option<(&'static str, f64)> {
    let may_be = |tag: &str, value: f64| match tag.ends_with("_ratio") {
        true => (0.0..=1.0).contains(&value),
        false => is_count(value),
    };
    let figures = found.figures.iter().copied();
    figures.into_iter().find(|(tag, value)| !may_be(tag, *value))
}

#[cfg(test)]
mod tests {
    use super::super::{CaseResult, Told, import_told};

    const OSU: &str = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n8    0.24\n";
    const SMB: &str = "8 6 4096 16 8 16777216 1  3920110.5 4015310.25 3911223.5 4120033.75\n";

    /// The values of each case, under the case and the names of its figures.
    fn figures_of(text: &str, told: &Told) -> Option<Vec<(String, String)>> {
        let (_, run) = import_told(text.as_bytes(), None, told).ok()?;
        let values =
            |case: &CaseResult| -> Vec<f64> { case.metrics.values().map(|one| one.value.get()).collect() };
        let told = |case: &CaseResult| {
            let names: Vec<&String> = case.metrics.keys().collect();
            (
                format!("{:?} {names:?}", case.case.test),
                format!("{:?}", values(case)),
            )
        };
        Some(run.cases.iter().map(told).collect())
    }

    /// Where numbers stand in the text.
    fn numbers_in(text: &str) -> Vec<std::ops::Range<usize>> {
        let is_part = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let bytes = text.as_bytes();
        let begins = |&at: &usize| bytes[at].is_ascii_digit() && (at == 0 || !is_part(bytes[at - 1]));
        let end = |at: usize| (at..bytes.len()).find(|&at| !is_part(bytes[at]));
        let places = (0..bytes.len()).filter(begins);
        places.map(|at| at..end(at).unwrap_or(bytes.len())).collect()
    }

    #[test]
    fn a_figure_that_no_run_can_have_is_refused_wherever_it_stands() {
        let tag_lat = Told {
            test: Some("tag_lat".to_owned()),
            ..Told::default()
        };
        let files = [
            (include_str!("../../tests/imports/sockperf.txt"), Told::default()),
            (
                include_str!("../../tests/imports/iperf3-tcp.json"),
                Told::default(),
            ),
            (
                include_str!("../../tests/imports/iperf3-udp.json"),
                Told::default(),
            ),
            (include_str!("../../tests/imports/imb.txt"), Told::default()),
            (include_str!("../../tests/imports/arras.txt"), Told::default()),
            (include_str!("../../tests/imports/ucx_perftest.csv"), tag_lat),
            (OSU, Told::default()),
            (SMB, Told::default()),
        ];
        for (text, told) in files {
            let as_written = figures_of(text, &told).expect("the sample is read");
            let cases =
                |found: &[(String, String)]| found.iter().map(|(case, _)| case.clone()).collect::<Vec<_>>();
            let mut tried = 0;
            for place in numbers_in(text) {
                let with = |value: &str| format!("{}{value}{}", &text[..place.start], &text[place.end..]);
                let value: f64 = text[place.clone()].parse().unwrap_or(0.0);
                let is_figure = figures_of(&with(&format!("{}", value * 2.0)), &told)
                    .is_some_and(|found| found != as_written && cases(&found) == cases(&as_written));
                for value in ["-3", "nan", "1e300"].into_iter().filter(|_| is_figure) {
                    tried += 1;
                    let told = figures_of(&with(value), &told);
                    assert_eq!(
                        told,
                        None,
                        "{value} for {} at {}",
                        &text[place.clone()],
                        place.start
                    );
                }
            }
            assert!(tried >= 3, "{text}");
        }
    }
}
