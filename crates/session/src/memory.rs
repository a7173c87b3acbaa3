//! How much memory the benchmark's main computation asks for where nobody says: what the original asks for, or what the
//! buffers of large messages hold. It must never look at the machine: what is too much is for the node to say.

use crate::definition::REQUEST_BYTES;
use crate::path::{self, Path, Route, Streaming};
use wirespeed::Registry;
use wirespeed_schema::case::GroupKind;

/// What a computation takes beside its messages.
const OWN_BYTES: u64 = 64 << 20;
/// Of each peer, what is being received and what is being sent.
const COPIES_OF_A_PEER: u64 = 2;
/// Encrypted, a message is worked on once more at either side.
const COPIES_ENCRYPTED: u64 = 2;

/// What is asked for, for `streams` in a session of so many computations. One that its transport cannot carry takes nothing.
pub fn request_bytes(streams: &[Streaming], computations: usize) -> u64 {
    let registry = Registry::builtin();
    let runs = |stream: &&Streaming| {
        let case = path::case(stream, computations, true, GroupKind::Processes);
        registry
            .find(&stream.via)
            .is_some_and(|entry| (entry.check)(&case).is_ok())
    };
    let most = streams
        .iter()
        .filter(runs)
        .map(|stream| buffers(stream, computations))
        .max();
    most.unwrap_or(0).saturating_add(OWN_BYTES).max(REQUEST_BYTES)
}

/// The payload, and its copies on the way in and out.
fn buffers(stream: &Streaming, computations: usize) -> u64 {
    let peers = match (stream.path, stream.route) {
        (Path::ComputationsToComputations, Route::Direct) => computations.saturating_sub(1) as u64,
        _ => 1,
    };
    let encrypted = stream
        .options
        .get("encrypt")
        .is_some_and(|cipher| cipher != "off");
    let copies = 1 + COPIES_OF_A_PEER * peers + if encrypted { COPIES_ENCRYPTED } else { 0 };
    stream.size_bytes.saturating_mul(copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::case::TransportOptions;

    #[test]
    fn large_messages_ask_for_their_buffers() {
        let stream = |path, route, size_bytes, encrypt: Option<&str>| Streaming {
            path,
            route,
            via: "tcp".into(),
            size_bytes,
            credits: 1,
            duration_ns: 1,
            report_ns: 1,
            block: None,
            client_sleep_ns: 0,
            pace_msg_per_s: None,
            check: false,
            options: TransportOptions::from_iter(encrypt.map(|cipher| ("encrypt".into(), cipher.into()))),
        };
        let (one, all) = (Path::ClientToComputation, Path::ComputationsToComputations);
        let large = 1 << 30;
        for (streams, asked) in [
            (vec![], REQUEST_BYTES),
            (vec![stream(one, Route::Direct, 1, None)], REQUEST_BYTES),
            (
                vec![stream(one, Route::Direct, large, None)],
                3 * large + OWN_BYTES,
            ),
            (
                vec![
                    stream(one, Route::Daemon, large, None),
                    stream(one, Route::Direct, 1, None),
                ],
                3 * large + OWN_BYTES,
            ),
            (
                vec![stream(one, Route::Direct, large, Some("off"))],
                3 * large + OWN_BYTES,
            ),
            (
                vec![stream(one, Route::Direct, large, Some("aes-256-gcm"))],
                5 * large + OWN_BYTES,
            ),
            (
                vec![stream(all, Route::Direct, large, None)],
                7 * large + OWN_BYTES,
            ),
            (
                vec![stream(all, Route::Daemon, large, None)],
                3 * large + OWN_BYTES,
            ),
            (vec![stream(one, Route::Direct, 1 << 40, None)], REQUEST_BYTES),
        ] {
            assert_eq!(request_bytes(&streams, 4), asked, "{streams:?}");
        }
    }
}
