//! Clients of other movers that send: as `fetch`, the other way round.

use super::Mover;
use super::fetch::{Shape, Transferred, curls, iperf3};
use std::fs::File;
use std::io::Read as _;

/// Seconds until the first byte, seconds in all, bytes that went.
const CURL_SENT: &str = "%{time_pretransfer} %{time_total} %{size_upload}";

impl Mover {
    /// Whether it can send here, to a far end that takes.
    pub fn sends(self) -> bool {
        matches!(self, Mover::Iperf3 | Mover::Curl)
    }

    /// Send once. An error is what the program said.
    pub fn send(self, shape: &Shape) -> Result<Transferred, String> {
        match self {
            Mover::Iperf3 => iperf3(shape, false),
            Mover::Curl => curl(shape),
            _ => Err(format!("{} does not send here", self.name())),
        }
    }
}

/// A process and a file for each connection: the web server takes no part of a file. All send the first part of ours,
/// which has as many bytes as any.
fn curl(shape: &Shape) -> Result<Transferred, String> {
    let threads = u64::from(shape.threads.max(1)).min(shape.total_bytes.max(1));
    let each = shape.total_bytes / threads;
    let part = shape.folder.join("part");
    let copied = || {
        std::io::copy(
            &mut File::open(&shape.file)?.take(each),
            &mut File::create(&part)?,
        )
    };
    copied().map_err(|e| format!("cannot make a part of {}: {e}", shape.file))?;
    let to = format!("http://{}/to", shape.server());
    let words = |number: u64| {
        // Asking whether to go on would be a round trip more.
        let words = ["-H", "Expect:", "-w", CURL_SENT, "-T"].map(str::to_owned);
        let ends = [part.display().to_string(), format!("{to}/{number}")];
        words.into_iter().chain(ends).collect()
    };
    let words: Vec<Vec<String>> = (0..threads).map(words).collect();
    let sent = curls(shape, &vec![each; words.len()], &words);
    // The folder goes at the end in any case.
    let _ = std::fs::remove_file(&part);
    sent
}
