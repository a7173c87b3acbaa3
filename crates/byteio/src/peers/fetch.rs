//! Clients of other movers: they fetch once, and what they say of it.

use super::Mover;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use wirespeed_control::launch::stdio::local_address;
use wirespeed_schema::order::map_of;
use wirespeed_schema::shown::quoted;
use wirespeed_schema::units::nanoseconds;

/// What stands as it is in the path of an address.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');

/// What is fetched, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The far end's address.
    pub at: IpAddr,
    /// Where the mover's server listens.
    pub port: u16,
    /// The file there, or where it is mounted here.
    pub file: String,
    /// Bytes of it.
    pub total_bytes: u64,
    /// Connections.
    pub threads: u32,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Longest time.
    pub limit: Duration,
    /// A folder for those that can only write files.
    pub folder: PathBuf,
}

impl Shape {
    pub(super) fn server(&self) -> SocketAddr {
        SocketAddr::new(self.at, self.port)
    }
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transferred {
    /// Payload.
    pub payload_bytes: u64,
    /// Its time, by [`Mover::clock`].
    pub elapsed_ns: u64,
    /// Payload sent again over payload sent, where it is told.
    pub retransmitted_ratio: Option<f64>,
    /// The sender's congestion control, where it is told.
    pub congestion: Option<String>,
}

impl Mover {
    /// Fetch once. An error is what the program said.
    pub fn fetch(self, shape: &Shape) -> Result<Transferred, String> {
        match self {
            Mover::Iperf3 => iperf3(shape, true),
            Mover::Curl => curl(shape),
            Mover::Aria2 => aria2(shape),
            Mover::GridFtp => gridftp(shape),
            Mover::Xrootd => xrootd(shape),
            Mover::Mounted => mounted(shape),
        }
    }
}

/// A program that ends by itself or is ended.
fn limited(shape: &Shape, program: &str) -> Command {
    let mut command = Command::new("timeout");
    // In the foreground, so that Ctrl-C reaches it.
    command
        .args(["--foreground", "--kill-after=5"])
        .arg(format!("{}s", shape.limit.as_secs_f64()))
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn judged(program: &str, output: Output) -> Result<String, String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    if output.status.code() == Some(124) {
        return Err(format!("{program} took longer than its limit"));
    }
    let said = [output.stderr, output.stdout].map(|text| String::from_utf8_lossy(&text).into_owned());
    let last = said
        .iter()
        .flat_map(|text| text.lines().rev())
        .find(|line| !line.trim().is_empty());
    Err(format!(
        "{program}: {}",
        quoted(last.unwrap_or("it said nothing"), 200)
    ))
}

/// Time of a whole command.
fn timed(program: &str, mut command: Command, payload_bytes: u64) -> Result<Transferred, String> {
    let began = Instant::now();
    let output = command
        .output()
        .map_err(|e| format!("cannot run {program}: {e}"))?;
    let elapsed_ns = nanoseconds(began.elapsed());
    judged(program, output)?;
    Ok(Transferred {
        payload_bytes,
        elapsed_ns,
        ..Transferred::default()
    })
}

/// How often iperf3 may end before its receiver has read anything: the sender ends the test once all is handed to its
/// kernel, which for a few megabytes can be sooner than the far process runs at all.
const IPERF3_ATTEMPTS: u32 = 8;

/// `far_sends`: data come from there.
pub(super) fn iperf3(shape: &Shape, far_sends: bool) -> Result<Transferred, String> {
    let mut attempts = 1;
    loop {
        match iperf3_once(shape, far_sends)? {
            Some(transferred) => return Ok(transferred),
            None if attempts < IPERF3_ATTEMPTS => {
                attempts += 1;
                // Its server takes the next test a moment after the last one.
                std::thread::sleep(Duration::from_millis(100));
            }
            None => {
                return Err(format!(
                    "iperf3 ended {IPERF3_ATTEMPTS} times before anything was received: the file is too small for it"
                ));
            }
        }
    }
}

fn iperf3_once(shape: &Shape, far_sends: bool) -> Result<Option<Transferred>, String> {
    let mut command = limited(shape, "iperf3");
    if far_sends {
        command.arg("-R");
    }
    command.args(["-J", "-c", &shape.at.to_string()]);
    command.args(["-p", &shape.port.to_string(), "-P", &shape.threads.to_string()]);
    command.args(["-n", &shape.total_bytes.to_string()]);
    let output = command.output().map_err(|e| format!("cannot run iperf3: {e}"))?;
    read_iperf3(&judged("iperf3", output)?)
}

/// `None`: nothing had been received when the sender ended the test.
fn read_iperf3(text: &str) -> Result<Option<Transferred>, String> {
    let document: serde_json::Value =
        serde_json::from_slice(text.as_bytes()).map_err(|_| "iperf3 printed no JSON".to_owned())?;
    let end = &document["end"];
    let received = &end["sum_received"];
    let (Some(payload_bytes), Some(seconds)) = (received["bytes"].as_u64(), received["seconds"].as_f64())
    else {
        return Err("iperf3 does not say what was received".to_owned());
    };
    if payload_bytes == 0 || seconds <= 0.0 {
        return Ok(None);
    }
    let segment = document["start"]["tcp_mss_default"].as_u64();
    let again = end["sum_sent"]["retransmits"].as_u64().zip(segment);
    Ok(Some(Transferred {
        payload_bytes,
        elapsed_ns: (seconds * 1e9) as u64,
        // It counts segments.
        retransmitted_ratio: again.map(|(count, segment)| (count * segment) as f64 / payload_bytes as f64),
        congestion: end["sender_tcp_congestion"].as_str().map(str::to_owned),
    }))
}

/// A process for each connection, each with its part of the file: one process alone would have one core.
fn curl(shape: &Shape) -> Result<Transferred, String> {
    let url = format!("http://{}/file", shape.server());
    let parts = parts(shape.total_bytes, shape.threads);
    let words = |(first, last): &(u64, u64)| {
        let range = format!("{first}-{last}");
        ["-r", &range, "-w", CURL_GOT, &url].map(str::to_owned).to_vec()
    };
    let sizes: Vec<u64> = parts.iter().map(|(first, last)| last - first + 1).collect();
    curls(shape, &sizes, &parts.iter().map(words).collect::<Vec<_>>())
}

/// Seconds until the first byte, seconds in all, bytes that came.
const CURL_GOT: &str = "%{time_pretransfer} %{time_total} %{size_download}";

/// A curl for each part, with words of its own; what they move together, and the time of the slowest.
pub(super) fn curls(shape: &Shape, sizes: &[u64], words: &[Vec<String>]) -> Result<Transferred, String> {
    let mut running: Vec<Child> = Vec::new();
    for words in words {
        let mut command = limited(shape, "curl");
        command
            .args(["-q", "-s", "-S", "-f", "-o", "/dev/null"])
            .args(words);
        running.push(command.spawn().map_err(|e| format!("cannot run curl: {e}"))?);
    }
    let outputs: Vec<_> = running.into_iter().map(Child::wait_with_output).collect();
    let mut moved = Transferred::default();
    for (output, size) in outputs.into_iter().zip(sizes) {
        let said = judged("curl", output.map_err(|e| format!("cannot wait for curl: {e}"))?)?;
        let numbers: Vec<f64> = said
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [before, total, bytes] = numbers[..] else {
            return Err(format!("curl said {said:?}"));
        };
        if bytes as u64 != *size {
            return Err(format!("curl moved {bytes} of {size} bytes"));
        }
        moved.payload_bytes += bytes as u64;
        moved.elapsed_ns = moved.elapsed_ns.max(((total - before) * 1e9) as u64);
    }
    Ok(moved)
}

/// First and last byte of as many parts, none of them empty.
fn parts(total_bytes: u64, threads: u32) -> Vec<(u64, u64)> {
    let each = total_bytes.div_ceil(u64::from(threads.max(1))).max(1);
    let starts = (0..total_bytes).step_by(usize::try_from(each).unwrap_or(usize::MAX));
    starts
        .map(|start| (start, (start + each).min(total_bytes) - 1))
        .collect()
}

fn aria2(shape: &Shape) -> Result<Transferred, String> {
    let mut command = limited(shape, "aria2c");
    let threads = shape.threads.to_string();
    // It takes nothing smaller for a piece.
    let block = shape.block_bytes.clamp(1 << 20, 1 << 30);
    command.args([
        "-q",
        "--no-conf",
        "--file-allocation=none",
        "--allow-overwrite=true",
    ]);
    command.args(["-x", &threads, "-s", &threads, "-k", &block.to_string(), "-d"]);
    command.arg(&shape.folder).args(["-o", "fetched"]);
    command.arg(format!("http://{}/file", shape.server()));
    let fetched = timed("aria2c", command, shape.total_bytes);
    let path = shape.folder.join("fetched");
    let size = std::fs::metadata(&path).map(|m| m.len()).unwrap_or(0);
    // The folder goes at the end in any case.
    let _ = std::fs::remove_file(&path);
    whole(fetched?, size)
}

/// A file that is not as long as the one asked for was not fetched.
fn whole(fetched: Transferred, size_bytes: u64) -> Result<Transferred, String> {
    match size_bytes == fetched.payload_bytes {
        true => Ok(fetched),
        false => Err(format!("{size_bytes} of {} bytes came", fetched.payload_bytes)),
    }
}

fn gridftp(shape: &Shape) -> Result<Transferred, String> {
    let mut command = limited(shape, "globus-url-copy");
    command.args([
        "-fast",
        "-p",
        &shape.threads.to_string(),
        "-bs",
        &shape.block_bytes.to_string(),
    ]);
    let path = utf8_percent_encode(&shape.file, PATH);
    command.arg(format!("ftp://{}{path}", shape.server()));
    command.arg("file:///dev/null");
    if let Some(own) = local_address(shape.server()) {
        // It looks its own name up, which takes long where no name service is.
        command.env("GLOBUS_HOSTNAME", own.to_string());
    }
    timed("globus-url-copy", command, shape.total_bytes)
}

fn xrootd(shape: &Shape) -> Result<Transferred, String> {
    let mut command = limited(shape, "xrdcp");
    command.args(["-f", "-s", "-S", &shape.threads.to_string()]);
    command.arg(format!("root://{}/{}", shape.server(), shape.file));
    command.arg("/dev/null");
    timed("xrdcp", command, shape.total_bytes)
}

/// A `dd` for each part. Past this machine's page cache where the file system can, or else a second run would not leave
/// the machine.
fn mounted(shape: &Shape) -> Result<Transferred, String> {
    const PIECE: u64 = 1 << 20;
    let there = std::fs::metadata(&shape.file)
        .map_err(|e| format!("{}: {e}", shape.file))?
        .len();
    if there != shape.total_bytes {
        return Err(format!(
            "the mounted file has {there} bytes, the far end's {}",
            shape.total_bytes
        ));
    }
    let input = format!("if={}", shape.file);
    let mut probe = limited(shape, "dd");
    probe.args([&input, "of=/dev/null", "bs=1M", "count=1", "iflag=direct"]);
    let probed = probe.output().map_err(|e| format!("cannot run dd: {e}"))?;
    let direct = probed.status.success();
    let each = shape
        .total_bytes
        .div_ceil(PIECE)
        .div_ceil(u64::from(shape.threads.max(1)))
        .max(1);
    let began = Instant::now();
    let mut running = Vec::new();
    for skip in (0..shape.total_bytes.div_ceil(PIECE)).step_by(usize::try_from(each).unwrap_or(usize::MAX)) {
        let mut command = limited(shape, "dd");
        command.args([&input, "of=/dev/null", "bs=1M"]);
        command.args([format!("skip={skip}"), format!("count={each}")]);
        if direct {
            command.arg("iflag=direct");
        }
        running.push(command.spawn().map_err(|e| format!("cannot run dd: {e}"))?);
    }
    let outputs: Vec<_> = running.into_iter().map(Child::wait_with_output).collect();
    let elapsed_ns = nanoseconds(began.elapsed());
    for output in outputs {
        judged("dd", output.map_err(|e| format!("cannot wait for dd: {e}"))?)?;
    }
    Ok(Transferred {
        payload_bytes: shape.total_bytes,
        elapsed_ns,
        ..Transferred::default()
    })
}

/// Facts of a run for the document.
impl Transferred {
    /// By name.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let congestion = self
            .congestion
            .iter()
            .map(|name| ("congestion_control".to_owned(), name.clone()));
        map_of(congestion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_whole_and_are_never_empty() {
        assert_eq!(parts(10, 4), [(0, 2), (3, 5), (6, 8), (9, 9)]);
        assert_eq!(parts(2, 7), [(0, 0), (1, 1)]);
        assert_eq!(parts(0, 7), []);
    }

    #[test]
    fn iperf3_is_read() {
        let text = r#"{"start":{"tcp_mss_default":1448},"end":{"sum_sent":{"retransmits":2},
            "sum_received":{"bytes":1000000,"seconds":0.5},"sender_tcp_congestion":"cubic"}}"#;
        let fetched = read_iperf3(text).unwrap().unwrap();
        assert_eq!(
            (fetched.payload_bytes, fetched.elapsed_ns),
            (1_000_000, 500_000_000)
        );
        assert!((fetched.retransmitted_ratio.unwrap() - 2896e-6).abs() < 1e-12);
        assert_eq!(fetched.facts()["congestion_control"], "cubic");
        for bad in ["", "{}", r#"{"end":{"sum_received":{"bytes":1}}}"#] {
            assert!(read_iperf3(bad).is_err(), "{bad}");
        }
        for none in [
            r#"{"end":{"sum_received":{"bytes":1,"seconds":0}}}"#,
            r#"{"end":{"sum_received":{"bytes":0,"seconds":1}}}"#,
        ] {
            assert_eq!(read_iperf3(none), Ok(None), "{none}");
        }
    }

    #[test]
    fn a_mounted_file_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, vec![1; 3_000_000]).unwrap();
        let mut shape = Shape {
            at: IpAddr::from([127, 0, 0, 1]),
            port: 1,
            file: path.display().to_string(),
            total_bytes: 3_000_000,
            threads: 2,
            block_bytes: 1 << 20,
            limit: Duration::from_secs(30),
            folder: folder.path().to_owned(),
        };
        let fetched = Mover::Mounted.fetch(&shape).unwrap();
        assert_eq!(fetched.payload_bytes, 3_000_000);
        assert!(fetched.elapsed_ns > 0);
        shape.file = "/no/such/file".into();
        assert!(Mover::Mounted.fetch(&shape).unwrap_err().contains("No such file"));
        // Nobody listens there.
        for mover in [Mover::Curl, Mover::Iperf3] {
            if crate::peers::is_installed(mover.near_program()) {
                assert!(mover.fetch(&shape).is_err(), "{}", mover.name());
            }
        }
    }
}
