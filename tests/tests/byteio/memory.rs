//! Memory of client and service stays small, whatever they move.

use crate::{LONG, home, serve};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wirespeed_tests::home::{Home, peak_bytes};
use wirespeed_tests::skip;

/// Time for 64 GiB: a service in a debug build, on cores that others share.
const HOUR: Duration = Duration::from_secs(3600);
/// What a process may hold, whatever it moves.
const MEMORY_BYTES_MAX: u64 = 64 << 20;

/// Peak memory of the client while it moves a sparse file of so many bytes.
fn peak_of_client(home: &Home, url: &str, mechanism: &str, shape: &str, limit: Duration) -> u64 {
    let line = format!(
        "byteio bench {url}/sparse --mechanism {mechanism} {shape} --repeats 1 -q -o {mechanism}.json"
    );
    let client = home.start(line.split(' '));
    let peak = AtomicU64::new(0);
    client.wait_until("its end", limit, |client| match peak_bytes(client.pid()) {
        Some(now) => {
            peak.fetch_max(now, Ordering::Relaxed);
            false
        }
        None => true,
    });
    client.end(LONG).code(0);
    peak.into_inner()
}

#[test]
fn memory_does_not_grow_with_file_or_block() {
    let home = home();
    let (server, url) = serve(&home, "");
    let sparse = std::fs::File::create(home.path("served/sparse")).unwrap();
    sparse.set_len(3 << 30).unwrap();
    for mechanism in ["mtom", "bulk", "http"] {
        let peak = peak_of_client(&home, &url, mechanism, "--threads 4 --block-size 512M", LONG);
        assert!(
            peak > 0 && peak < MEMORY_BYTES_MAX,
            "the client held {peak} bytes"
        );
    }
    let peak = peak_bytes(server.pid()).unwrap();
    assert!(peak < MEMORY_BYTES_MAX, "the service held {peak} bytes");
}

#[test]
fn sixty_four_gibibytes_pass_through_a_small_window() {
    if std::env::var_os("WIRESPEED_LONG_TESTS").is_none() {
        return skip("64 GiB through byteio: takes minutes; set WIRESPEED_LONG_TESTS=1");
    }
    let home = home();
    let (server, url) = serve(&home, "");
    let sparse = std::fs::File::create(home.path("served/sparse")).unwrap();
    sparse.set_len(64 << 30).unwrap();
    let peak = peak_of_client(&home, &url, "mtom", "--threads 7 --block-size 1G", HOUR);
    assert!(
        peak > 0 && peak < MEMORY_BYTES_MAX,
        "the client held {peak} bytes"
    );
    let peak = peak_bytes(server.pid()).unwrap();
    assert!(peak < MEMORY_BYTES_MAX, "the service held {peak} bytes");
}
