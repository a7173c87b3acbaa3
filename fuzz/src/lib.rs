//! Bodies of the fuzz targets: each takes any bytes, and must neither panic, hang nor allocate without bound. They are
//! plain functions, so that the stable toolchain replays them too (`tests/replay.rs`).
#![forbid(unsafe_code)]

use wirespeed::sync::SharedBytes;
use wirespeed::sync::ring::{Consumer, Producer, RingMemory, payload_max};
use wirespeed_report::import::{Format, import};
use wirespeed_schema::units;
use wirespeed_schema::{Plan, Run};

/// A target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 11] = [
    ("units", units),
    ("plan", plan),
    ("run_document", run_document),
    ("ring", ring),
    ("frame", frame),
    ("soap", soap),
    ("multipart", multipart),
    ("dime", dime),
    ("http", http),
    ("imports", imports),
    ("session", session),
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

/// A SOAP envelope: read, its data decoded, and judged as a request.
pub fn soap(data: &[u8]) {
    use wirespeed_byteio::soap::{Envelope, Request};
    let Ok(mut envelope) = Envelope::open(data) else {
        return;
    };
    let mut decoded = 0;
    let copied = envelope.copy_inline(|piece| {
        decoded += piece.len();
        Ok(())
    });
    assert!(decoded <= data.len(), "base64 never grows");
    // Only that these return matters.
    let _ = (copied, Request::of(envelope.opening()));
}

/// A multipart message with the boundary `B`, through a window of a few bytes.
pub fn multipart(data: &[u8]) {
    use wirespeed_byteio::mime::MimeError;
    use wirespeed_byteio::mime::multipart::{Multipart, Part};
    for window in [3, 64] {
        let Ok(mut parts) = Multipart::new(std::io::BufReader::with_capacity(window, data), "B") else {
            return;
        };
        let mut bytes = 0;
        while let Ok(Part::Head(_)) = parts.next_part() {
            let copied = parts.copy_body(|piece| {
                assert!(
                    !piece.windows(5).any(|w| w == b"\r\n--B"),
                    "a part holds no boundary"
                );
                bytes += piece.len();
                Ok::<_, MimeError>(())
            });
            if copied.is_err() {
                break;
            }
        }
        assert!(bytes <= data.len(), "parts are parts of the message");
    }
}

/// Records of a DIME message.
pub fn dime(mut data: &[u8]) {
    use wirespeed_byteio::mime::MimeError;
    use wirespeed_byteio::mime::dime::{RecordHead, copy_record};
    let length = data.len();
    let mut bytes = 0;
    while let Ok(head) = RecordHead::read(&mut data) {
        let ended = copy_record(&mut data, &head, |piece| {
            bytes += piece.len();
            Ok::<_, MimeError>(())
        });
        if !matches!(ended, Ok(false)) {
            break;
        }
    }
    assert!(bytes <= length, "records are parts of the message");
}

/// A request and a response with their bodies.
pub fn http(data: &[u8]) {
    use std::io::Read as _;
    use wirespeed_byteio::http::body::Body;
    use wirespeed_byteio::http::head::{RequestHead, ResponseHead};
    use wirespeed_byteio::http::range;
    let drain = |mut rest: &[u8], framing| {
        let mut found = Vec::new();
        // Only that it returns, and with no more than there is, matters.
        let _ = Body::new(&mut rest, framing).read_to_end(&mut found);
        assert!(found.len() <= data.len(), "bodies are parts of the message");
    };
    let mut rest = data;
    if let Ok(head) = RequestHead::read(&mut rest) {
        let _ = range::asked(head.headers.get("range"), 1000);
        drain(rest, head.framing);
    }
    let mut rest = data;
    if let Ok(head) = ResponseHead::read(&mut rest) {
        let _ = head.headers.get("content-range").map(range::carried);
        drain(rest, head.framing);
    }
}

/// What another tool may have written: its format guessed, and taken for each.
pub fn imports(data: &[u8]) {
    let formats = Format::ALL.into_iter().map(Some);
    for format in formats.chain([None]) {
        if let Ok((_, run)) = import(data, format) {
            let text = serde_json::to_string(&run).unwrap_or_default();
            assert!(
                serde_json::from_str::<Run>(&text).is_ok(),
                "imported results read back"
            );
        }
    }
}

/// What a coordinator reads: a request, an answer, and the definition of a session, which is expanded.
pub fn session(data: &[u8]) {
    use wirespeed_session::{COMPUTATIONS_MAX, definition::Definition};
    wirespeed_session::fuzz_http(data);
    if let Ok(definition) = Definition::from_json(data) {
        assert!(
            definition.expand().len() <= COMPUTATIONS_MAX,
            "arrays are bounded"
        );
    }
}
