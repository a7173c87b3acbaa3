//! Bodies of the fuzz targets: each takes any bytes, and must neither panic, hang nor allocate without bound. They are
//! plain functions, so that the stable toolchain replays them too (`tests/replay.rs`).
#![forbid(unsafe_code)]

use wirespeed::sync::SharedBytes;
use wirespeed::sync::ring::{Consumer, Producer, RingMemory, payload_max};
use wirespeed_schema::units;
use wirespeed_schema::{Plan, Run};

/// A target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 5] = [
    ("units", units),
    ("plan", plan),
    ("run_document", run_document),
    ("ring", ring),
    ("frame", frame),
];

/// Sizes, durations, counts, lists and ranges as typed by a user.
pub fn units(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(bytes) = units::parse_size(text) {
        assert_eq!(
            units::parse_size(&units::format_size_exact(bytes)),
            Ok(bytes),
            "sizes read back"
        );
    }
    // Only that these return matters.
    let _ = (units::parse_duration_ns(text), units::parse_count(text));
    if let Ok(values) = units::expand_list(text) {
        assert!(values.len() <= units::RANGE_VALUES_MAX, "lists are bounded");
    }
}

/// A plan file.
pub fn plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(plan) = toml::from_str::<Plan>(text)
        && let Ok(again) = toml::to_string(&plan)
    {
        assert_eq!(
            toml::from_str::<Plan>(&again).as_ref(),
            Ok(&plan),
            "plans read back"
        );
    }
}

/// A run document, as `compare` and other tools read it: also its histograms, whose buckets may lie.
pub fn run_document(data: &[u8]) {
    let Ok(run) = serde_json::from_slice::<Run>(data) else {
        return;
    };
    let again = serde_json::to_vec(&run).map(|text| serde_json::from_slice::<Run>(&text));
    assert!(
        matches!(again, Ok(Ok(again)) if again == run),
        "documents read back"
    );
    for outcome in run
        .cases
        .iter()
        .flat_map(|c| &c.repetitions)
        .flat_map(|r| &r.outcomes)
    {
        for samples in &outcome.samples {
            let histogram = &samples.histogram;
            let mut merged = histogram.clone();
            merged.merge(histogram);
            for q in [0.0, 0.5, 0.999, 1.0] {
                // Only that it returns matters: the counts may be lies.
                let _ = (
                    histogram.quantile_ns(q),
                    merged.quantile_ns(q),
                    histogram.mean_ns(),
                );
            }
        }
    }
}

/// A ring whose other side writes anything anywhere. Each 32 bytes say where to write, what, and what to send.
pub fn ring(data: &[u8]) {
    const CAPACITY: usize = 1024;
    let Some(bytes) = SharedBytes::heap(RingMemory::size_bytes(CAPACITY)) else {
        return;
    };
    let Some(memory) = RingMemory::new(bytes.clone()) else {
        panic!("a zeroed, aligned memory of the right size is a ring");
    };
    let mut producer = Producer::new(memory.clone());
    let mut consumer = Consumer::new(memory);
    for chunk in data.chunks(32) {
        let [low, high, rest @ ..] = chunk else {
            return;
        };
        if producer.send(7, rest).is_err() {
            return;
        }
        let at = usize::from(u16::from_le_bytes([*low, *high])) % bytes.len();
        let len = rest.len().min(bytes.len() - at);
        bytes.write(at, &rest[..len]);
        for _ in 0..8 {
            match consumer.next(|_, payload| assert!(payload.len() <= payload_max(CAPACITY))) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return,
            }
        }
    }
}

/// A control connection: frames cut at arbitrary places, and every message that they may hold.
pub fn frame(data: &[u8]) {
    wirespeed_control::frame::fuzz_frame(data);
}
