//! Quantities as they are typed and read.

use super::*;
use proptest::prelude::*;

#[test]
fn sizes() {
    assert_eq!(parse_size("64"), Ok(64));
    assert_eq!(parse_size("8K"), Ok(8192));
    assert_eq!(parse_size("1.5K"), Ok(1536));
    assert_eq!(parse_size("10MB"), Ok(10_000_000));
    assert_eq!(parse_size("1GiB"), Ok(1 << 30));
    for bad in ["", "x", "8x", "-1", "1.3", "99999999999T", "8 parsecs", "1..2"] {
        assert!(parse_size(bad).is_err(), "{bad}");
    }
}

#[test]
fn durations_need_a_unit() {
    assert_eq!(parse_duration_ns("500ms"), Ok(500_000_000));
    assert_eq!(parse_duration_ns("1.5s"), Ok(1_500_000_000));
    assert!(parse_duration_ns("10").is_err());
    assert!(parse_duration_ns("-1s").is_err());
    // Whatever is a whole number of nanoseconds is taken, though no binary fraction is it.
    for tenths in 0..1_000u64 {
        let text = format!("{}.{}", tenths / 10, tenths % 10);
        assert_eq!(
            parse_duration_ns(&format!("{text}s")),
            Ok(tenths * 100_000_000),
            "{text}"
        );
        assert_eq!(
            parse_duration_ns(&format!("{text}ms")),
            Ok(tenths * 100_000),
            "{text}"
        );
        assert_eq!(parse_count(&format!("{text}k")), Ok(tenths * 100), "{text}");
        assert_eq!(parse_size(&format!("{text}kB")), Ok(tenths * 100), "{text}");
    }
    for bad in [
        ".s",
        "1.5.5s",
        "0.1ns",
        "1.23456789012s",
        "1.+5s",
        "99999999999999999999.5s",
    ] {
        assert!(parse_duration_ns(bad).is_err(), "{bad}");
    }
}

#[test]
fn counts() {
    assert_eq!(parse_count("1e6"), Ok(1_000_000));
    assert_eq!(parse_count("10k"), Ok(10_000));
    assert!(parse_count("1e99").is_err());
    assert!(parse_count("abc").is_err());
}

#[test]
fn every_suffix_has_its_factor() {
    let sizes = [
        ("3", 1),
        ("3B", 1),
        ("3 b", 1),
        ("3K", 1 << 10),
        ("3ki", 0),
        ("3KiB", 1 << 10),
        ("3M", 1 << 20),
        ("3 MiB", 1 << 20),
        ("3g", 1 << 30),
        ("3Ti", 1 << 40),
        ("3kB", 1_000),
        ("3KB", 1_000),
        ("3MB", 1_000_000),
        ("3GB", 1_000_000_000),
        ("3TB", 1_000_000_000_000),
        ("3mb", 0),
    ];
    for (text, factor) in sizes {
        let expected = (factor > 0).then_some(3 * factor);
        assert_eq!(parse_size(text).ok(), expected, "{text}");
    }
    let durations = [
        ("2ns", 2),
        ("2us", 2_000),
        ("2 µs", 2_000),
        ("2ms", 2_000_000),
        ("2s", 2_000_000_000),
        ("2m", 120_000_000_000),
        ("2min", 120_000_000_000),
        ("2h", 7_200_000_000_000),
    ];
    for (text, ns) in durations {
        assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
    }
    let counts = [
        ("7", 7),
        ("7k", 7_000),
        ("7K", 7_000),
        ("7M", 7_000_000),
        ("7G", 7_000_000_000),
        ("7E2", 700),
        ("1.5e3", 1_500),
        ("1_000", 1_000),
    ];
    for (text, count) in counts {
        assert_eq!(parse_count(text), Ok(count), "{text}");
    }
}

#[test]
fn units_change_at_their_thousand() {
    let times = [999.9, 1e3, 999_900.0, 1e6, 999.9e6, 1e9, -2e6, 3.6e12].map(format_ns);
    let said = [
        "999.9 ns",
        "1 µs",
        "999.9 µs",
        "1 ms",
        "999.9 ms",
        "1 s",
        "-2 ms",
        "3600 s",
    ];
    assert_eq!(times, said);
    let rates = [999.9, 1e3, 999.9e3, 1e6, 999.9e6, 1e9, 999.9e9, 1e12, 5e15].map(|r| format_rate(r, "B/s"));
    let said = [
        "999.9 B/s",
        "1 kB/s",
        "999.9 kB/s",
        "1 MB/s",
        "999.9 MB/s",
        "1 GB/s",
        "999.9 GB/s",
        "1 TB/s",
        "5000 TB/s",
    ];
    assert_eq!(rates, said);
    let sizes = [1023, 1024, 1 << 20, 1 << 30, 1 << 40, 1 << 50, 1 << 60].map(format_size);
    let said = ["1023 B", "1 KiB", "1 MiB", "1 GiB", "1 TiB", "1 PiB", "1024 PiB"];
    assert_eq!(sizes, said);
    let exact = [0, 1, 1000, 1 << 10, 1 << 20, 3 << 30, 1 << 40, (1 << 40) + 1].map(format_size_exact);
    assert_eq!(exact, ["0", "1", "1000", "1K", "1M", "3G", "1T", "1099511627777"]);
    let digits =
        [(1234.5, 4), (0.001234, 2), (1.0, 3), (0.5, 1), (-12.34, 3)].map(|(v, d)| significant(v, d));
    assert_eq!(digits, ["1234", "0.0012", "1", "0.5", "-12.3"]);
    let grouped = [0, 999, 1000, 1_234_567].map(grouped);
    assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
}

#[test]
fn lists_and_ranges() {
    assert_eq!(expand_list("8..64:x2").unwrap(), ["8", "16", "32", "64"]);
    assert_eq!(expand_list("1..9:+4").unwrap(), ["1", "5", "9"]);
    assert_eq!(expand_list("64,1K..4K").unwrap(), ["64", "1K", "2K", "4K"]);
    assert_eq!(expand_counts("1k..4k:x2").unwrap(), ["1000", "2000", "4000"]);
    for most in ["1..9999:+1,7", "1..10000:+1"] {
        assert_eq!(expand_list(most).unwrap().len(), RANGE_VALUES_MAX, "{most}");
    }
    for more in ["1..9999:+1,7,8", "1..9999:+1,1..9999:+1"] {
        assert!(expand_list(more).is_err(), "{more}");
    }
    for bad in [
        "8..4", "0..8:x2", "8..64:x1", "1..9:+0", "1..x", ",", "1..9:2", "1..1T:+1",
    ] {
        assert!(expand_list(bad).is_err(), "{bad}");
    }
}

#[test]
fn numbers_for_people() {
    assert_eq!(format_ns(1873.2), "1.873 µs");
    assert_eq!(format_size(1536), "1.5 KiB");
    let asked = [8, 1000, 1500, 1536, 4000, 65_507, 65_536, 1_500_000, 10_000_000].map(format_asked_size);
    let said = [
        "8 B", "1000 B", "1500 B", "1.5 KiB", "4 kB", "65507 B", "64 KiB", "1500 kB", "10 MB",
    ];
    assert_eq!(asked, said);
    assert_eq!(format_rate(126e6, "msg/s"), "126 Mmsg/s");
    assert_eq!(significant(0.0, 3), "0");
    assert_eq!(
        [1, 2, 1000].map(|n| counted(n, "run")),
        ["1 run", "2 runs", "1,000 runs"]
    );
    assert_eq!([1, 2].map(often), ["once", "2 times"]);
    let exact = [90_000_000_000, 1_500_000_000, 250_000, 7, 0].map(format_duration_exact);
    assert_eq!(exact, ["90s", "1500ms", "250us", "7ns", "0ns"]);
}

proptest! {
    #[test]
    fn exact_sizes_read_back(bytes in any::<u64>()) {
        prop_assert_eq!(parse_size(&format_size_exact(bytes)), Ok(bytes));
    }

    #[test]
    fn nothing_panics(input in ".{0,30}") {
        let _ = (parse_size(&input), parse_duration_ns(&input), parse_count(&input), expand_list(&input));
    }
}

#[test]
fn numbers_of_protocols_are_digits_and_nothing_else() {
    for (text, expected) in [("0", Some(0)), ("42", Some(42)), ("007", Some(7))] {
        assert_eq!(parse_digits(text), expected, "{text}");
    }
    for wrong in ["", "+2", "-1", " 2", "2 ", "1e3", "0x1", "18446744073709551616"] {
        assert_eq!(parse_digits(wrong), None, "{wrong:?}");
    }
}
