//! Properties of the renderers that golden files do not show.

use crate::fixture::*;
use wirespeed_report::render::{CsvRows, Style, case_line, csv, event_line, hdr};
use wirespeed_report::view::{QuickSection, QuickTransport};
use wirespeed_report::{failed_case, tags, without_outcomes};
use wirespeed_schema::run::{Event, Severity, Status};

fn style(width: usize) -> Style {
    Style {
        width,
        ..Style::PLAIN
    }
}

#[test]
fn every_csv_row_has_every_column_and_lines_end_as_the_standard_says() {
    for rows in [CsvRows::Cases, CsvRows::Repetitions] {
        let text = csv(&example(), rows).unwrap();
        let mut reader = ::csv::ReaderBuilder::new()
            .flexible(false)
            .from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let records: Vec<_> = reader.records().map(Result::unwrap).collect();
        let expected = match rows {
            CsvRows::Cases => 10,
            CsvRows::Repetitions => 2 * 7 + 6 * 2 + 1 + 1,
        };
        assert_eq!(records.len(), expected);
        assert!(
            tags::ALL
                .iter()
                .all(|tag| header.iter().any(|name| name == tag.name))
        );
        assert_eq!(text.matches("\r\n").count(), expected + 1);
        assert_eq!(text.matches('\n').count(), expected + 1);
    }
}

#[test]
fn a_csv_row_tells_the_load_and_the_arm_that_the_case_was_measured_in() {
    let mut cases = vec![failed_case(case("tcp", am_lat(8), 1), "no", None); 2];
    cases[1].under = Some("none".to_owned());
    cases[1].arm = Some("B".to_owned());
    let text = csv(&run(cases), CsvRows::Cases).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = ["under", "arm"].map(|name| header.iter().position(|column| column == name).unwrap());
    let told = reader.records().map(|row| {
        let row = row.unwrap();
        at.map(|at| row[at].to_owned()).join(" ")
    });
    assert_eq!(told.collect::<Vec<_>>(), [" ", "none B"]);
}

#[test]
fn the_histogram_log_reads_back_with_the_same_figures() {
    use base64::Engine as _;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    let mut run = example();
    // What was cut short beside others is in the document alone.
    let cut_short = run.cases[0].repetitions.pop();
    run.cases[0].cut_short.extend(cut_short);
    assert!(!run.cases[0].repetitions.is_empty());
    let text = hdr::log(&run).unwrap();
    assert!(
        text.starts_with("#[Histogram log format version 1.3]\n"),
        "{text}"
    );
    let series = run
        .cases
        .iter()
        .flat_map(|c| &c.repetitions)
        .flat_map(|r| &r.outcomes);
    let mut series = series.flat_map(|outcome| &outcome.samples);
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        let LogEntry::Interval(line) = entry.unwrap() else {
            continue;
        };
        let ours = &series.next().unwrap().histogram;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(line.encoded_histogram())
            .unwrap();
        let theirs: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(theirs.len(), ours.count, "{:?}", line.tag());
        for q in [0.5, 0.9, 0.99] {
            let (ours, theirs) = (ours.quantile_ns(q).unwrap(), theirs.value_at_quantile(q) as f64);
            assert!(
                (ours - theirs).abs() <= ours * 0.004 + 1.0,
                "{q}: {ours} and {theirs}"
            );
        }
    }
    assert!(series.next().is_none(), "a series is missing");
}

#[test]
fn awkward_text_survives_csv_and_cannot_drive_the_terminal() {
    let mut failed = failed_case(
        case("tcp", am_lat(8), 1),
        "no \"route\", to\r\nhost\x1b[31m",
        None,
    );
    failed.case.options.insert("congestion".into(), "a,b;c".into());
    let run = run(vec![failed]);
    let text = csv(&run, CsvRows::Cases).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let error = reader
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "error")
        .unwrap();
    let record = reader.records().next().unwrap().unwrap();
    assert_eq!(&record[error], "no \"route\", to host?[31m");
    for text in [
        screen(&run, &style(80)),
        screen(&run, &style(80)),
        case_line(&run.cases[0], &style(80)),
    ] {
        assert!(!text.contains('\x1b') && text.contains("route"), "{text}");
    }
}

#[test]
fn colour_and_wide_characters_only_where_allowed() {
    let ascii = Style {
        width: 80,
        color: false,
        unicode: false,
    };
    for text in [screen(&example(), &ascii), screen(&example(), &ascii)] {
        assert!(text.is_ascii(), "{text}");
        assert!(!text.contains('\x1b'));
    }
    let colour = Style { color: true, ..ascii };
    assert!(screen(&example(), &colour).contains("\x1b[1m"));
}

#[test]
fn lines_fit_the_width_where_columns_can_be_left_out() {
    for width in [60, 70, 80, 100, 120, 200] {
        for text in [
            screen(&example(), &style(width)),
            screen(&example(), &style(width)),
        ] {
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{widest} for {width}:\n{text}");
        }
    }
}

#[test]
fn the_status_of_a_run_that_went_wrong_is_the_last_line() {
    let mut run = example();
    run.status = Status::Failed;
    assert!(
        screen(&run, &style(100))
            .lines()
            .last()
            .unwrap()
            .starts_with("the run failed")
    );
    run.status = Status::Refused;
    run.error = Some("one session at a time".into());
    run.cases.clear();
    assert_eq!(
        screen(&run, &style(100)),
        "the run was refused: one session at a time\n"
    );
}

#[test]
fn the_quick_section_names_transports_and_reasons() {
    let mut run = example();
    let section = QuickSection {
        transports: vec![
            QuickTransport {
                transport: "tcp".into(),
                title: "loopback TCP".into(),
                unavailable: None,
            },
            QuickTransport {
                transport: "ucp".into(),
                title: String::new(),
                unavailable: Some("libucp is not installed".into()),
            },
        ],
        next: vec!["wrote quick.json".into()],
    };
    run.sections.put(&section);
    assert_eq!(QuickSection::of(&run), section);
    let text = screen(&run, &style(120));
    assert!(text.contains("\ntcp ") && !text.contains("\nshm "), "{text}");
    assert!(text.contains("Not measured: ucp (libucp is not installed)."));
    let last = "wrote quick.json\nHow sure is that? wirespeed run latency --via tcp --repeats 10\n";
    assert!(text.ends_with(last), "{text}");
    // A section of another shape is no reason to fail.
    run.sections = serde_json::from_str(r#"{"quick": [1]}"#).unwrap();
    assert!(screen(&run, &style(120)).contains("shm"));
}

#[test]
fn an_event_is_one_line_that_reads_back() {
    let events = [
        Event::CaseStarted {
            case: 0,
            cases: 2,
            label: "a\nb".into(),
            repetition: 0,
        },
        Event::CaseFinished {
            case: 0,
            result: Box::new(without_outcomes(&example().cases[0])),
        },
        Event::RunFinished {
            status: Status::Ok,
            error: None,
        },
    ];
    for event in events {
        let line = event_line(&event).unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
    }
}

#[test]
fn remarks_stand_under_the_table_worst_first() {
    let mut run = example();
    let mut remark = run
        .cases
        .iter()
        .find_map(|case| case.remarks.first())
        .unwrap()
        .clone();
    remark.severity = Severity::Suspect;
    remark.code = "made_up".into();
    run.remarks.push(remark);
    let text = screen(&run, &style(100));
    let (suspect, note) = (text.find("suspect:").unwrap(), text.find("note:").unwrap());
    assert!(suspect < note);
}
