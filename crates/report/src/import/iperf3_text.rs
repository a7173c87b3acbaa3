//! The text of iperf3: the totals that a client or server prints at its end, of each run in the file.

use super::iperf3::Totals;
use super::{Figures, Format, ImportError};
use wirespeed_schema::shown::quoted;
use wirespeed_schema::units::parse_size;

const FORMAT: &str = Format::Iperf3.name();
/// Bytes of a write over TCP, unless `-l` says otherwise.
const TCP_BYTES: u64 = 128 << 10;
const OF_TCP: &str = "taken as 128 KiB, the tool's default";
const OF_UDP: &str = "taken as bytes over datagrams, which the file rounds";

/// A line of totals: `[  5]   0.00-2.00   sec  3.34 GBytes  14.4 Gbits/sec  15  sender`.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    /// Of all connections together.
    is_sum: bool,
    /// Which direction, where there are two: `TX-C`, `RX-C`.
    role: &'a str,
    is_sender: bool,
    bytes_per_s: f64,
    loss_ratio: Option<f64>,
    /// Bytes of a datagram, by what this end sent or got.
    datagram_bytes: Option<u64>,
}

impl Line<'_> {
    /// Whether the receiver is said to have got nothing, though no datagram is said to be lost: what a client prints that was
    /// stopped before the server could tell.
    fn is_untold(&self) -> bool {
        !self.is_sender && self.bytes_per_s <= 0.0 && self.loss_ratio.is_none()
    }
}

/// The first line of a direction of which no end is told. One connection of several may have got nothing.
fn untold(lines: &[Line<'_>]) -> Option<usize> {
    let has_sum = lines.iter().any(|line| line.is_sum);
    lines.iter().position(|line| {
        let is_whole = |other: &&Line| !other.is_sender && other.role == line.role && other.is_sum == has_sum;
        line.is_untold() && lines.iter().filter(is_whole).all(Line::is_untold)
    })
}

fn line(text: &str) -> Option<Line<'_>> {
    let text = text.trim();
    let is_sender = text.ends_with("sender");
    if !is_sender && !text.ends_with("receiver") {
        return None;
    }
    let (id, rest) = text.strip_prefix('[')?.split_once(']')?;
    let (role, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let unit = words.iter().position(|word| word.ends_with("/sec"))?;
    let rate: f64 = words.get(unit.checked_sub(1)?)?.parse().ok()?;
    let share = words.iter().find_map(|word| {
        let (lost, all) = word.split_once('/')?;
        Some((lost.parse::<f64>().ok()?, all.parse::<f64>().ok()?))
    });
    let share = share.filter(|(_, all)| *all > 0.0);
    Some(Line {
        is_sum: id.trim() == "SUM",
        role,
        is_sender,
        bytes_per_s: rate * bytes_of(words[unit].trim_end_matches("/sec"))?,
        loss_ratio: share.map(|(lost, all)| lost / all),
        datagram_bytes: share.and_then(|(lost, all)| {
            let [.., bytes, prefixed, _, _] = words[..=unit] else {
                return None;
            };
            let bytes = bytes.parse::<f64>().ok()? * bytes_of(prefixed)?;
            let each = (bytes / if is_sender { all } else { all - lost }).round();
            (each >= 1.0 && each.is_finite()).then_some(each as u64)
        }),
    })
}

/// Bytes of a unit: those of bits are powers of 1000, those of bytes of 1024.
fn bytes_of(unit: &str) -> Option<f64> {
    let (prefix, base, whole) = match unit.strip_suffix("bits") {
        Some(prefix) => (prefix, 1000f64, 1.0 / 8.0),
        None => (unit.strip_suffix("Bytes")?, 1024.0, 1.0),
    };
    let power = ["", "K", "M", "G", "T"]
        .iter()
        .position(|known| *known == prefix)?;
    Some(whole * base.powi(power as i32))
}

/// Read every run of the text.
pub fn read(text: &str) -> Result<Vec<Figures>, ImportError> {
    if let Some((_, said)) = text.split_once("iperf3: error - ") {
        return Err(ImportError::Failed {
            format: FORMAT,
            said: quoted(said.lines().next().unwrap_or_default(), 200),
        });
    }
    let (mut found, mut size_bytes, mut at_server) = (Vec::new(), None, false);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, next)) = lines.next() {
        if next.contains("iperf3 ") {
            (size_bytes, at_server) = (length_of(next), false);
        }
        if next.trim() == "iperf Done." {
            at_server = false;
        }
        size_bytes = blocks_of(next).or(size_bytes);
        // The same run, as its other end saw it.
        at_server |= next.trim() == "Server output:";
        // The last titles of a run stand above its totals.
        if next.starts_with("[ ID]") && !at_server {
            let mut totals = Vec::new();
            while let Some(total) = lines.peek().and_then(|(_, next)| line(next)) {
                totals.push(total);
                lines.next();
            }
            if let Some(at) = untold(&totals) {
                return Err(ImportError::Line {
                    format: FORMAT,
                    line: number + at + 2,
                    what: "nothing arrived: the run was interrupted, or failed",
                });
            }
            found.extend(figures(&totals, next.contains("Datagrams"), size_bytes));
        }
    }
    Ok(found)
}

/// The length of a write in a command, however it is spelt: `-l 64K`, `-l64K`, `--length 64K`, `--length=64K`.
fn length_of(command: &str) -> Option<u64> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        let behind = match word {
            "-l" | "--length" => words.next(),
            _ => word.strip_prefix("--length=").or(word.strip_prefix("-l")),
        };
        if let Some(size) = behind.and_then(|size| parse_size(size).ok()) {
            return Some(size);
        }
    }
    None
}

/// The same, as `-V` has it: `Starting Test: protocol: TCP, 1 streams, 4096 byte blocks, ..`.
fn blocks_of(line: &str) -> Option<u64> {
    let (before, _) = line.strip_prefix("Starting Test:")?.split_once(" byte blocks")?;
    before.rsplit(' ').next()?.parse().ok()
}

fn figures(lines: &[Line<'_>], udp: bool, size_bytes: Option<u64>) -> Option<Figures> {
    let has_sum = lines.iter().any(|line| line.is_sum);
    let whole = |is_sender: bool| {
        let those = lines
            .iter()
            .filter(move |line| line.is_sum == has_sum && line.is_sender == is_sender);
        those.map(|line| line.bytes_per_s)
    };
    let mut roles: Vec<&str> = lines.iter().map(|line| line.role).collect();
    roles.sort_unstable();
    roles.dedup();
    let received = lines.iter().filter(|line| !line.is_sender && !line.is_sum);
    received.clone().next()?;
    // A server knows of the direction in which it sends only what it has sent.
    let arrived = |role: &&&str| lines.iter().any(|line| !line.is_sender && line.role == **role);
    let sent_only: Vec<&str> = roles.iter().filter(|role| !arrived(role)).copied().collect();
    let of_sent_only = lines
        .iter()
        .filter(|line| line.is_sum == has_sum && sent_only.contains(&line.role));
    let unheard: f64 = of_sent_only.map(|line| line.bytes_per_s).sum();
    let heard_roles = roles.len() - sent_only.len();
    let totals = Totals {
        udp,
        size_bytes,
        streams: (received.count() / heard_roles.max(1)) as u64,
        both: roles.len() == 2,
        received: whole(false).sum::<f64>() + unheard,
        sent: whole(true).reduce(|a, b| a + b),
        loss_ratio: lines
            .iter()
            .filter(|line| line.is_sum == has_sum && !line.is_sender)
            .find_map(|line| line.loss_ratio),
    };
    let mut of_datagrams = lines.iter().filter_map(|line| line.datagram_bytes);
    Some(totals.figures(match udp {
        false => Some((TCP_BYTES, OF_TCP)),
        true => of_datagrams.next().map(|bytes| (bytes, OF_UDP)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "$ iperf3 -c 192.0.2.1 -l 64K\n\
        [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
        [  5]   0.00-1.00   sec  1.0 GBytes  8.00 Gbits/sec    9   1023 KBytes\n\
        - - - - - - - -\n\
        [ ID] Interval           Transfer     Bitrate         Retr\n\
        [  5]   0.00-1.00   sec  1.0 GBytes  8.80 Gbits/sec   15             sender\n\
        [  5]   0.00-1.00   sec  1.0 GBytes  8.00 Gbits/sec                  receiver\n\n\
        iperf Done.\n";
    const UDP: &str = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n\
        [  5]   0.00-2.00   sec   888 MBytes  800 Mbits/sec  0.000 ms  0/1000 (0%)  sender\n\
        [  5]   0.00-2.00   sec   268 MBytes  600 Mbits/sec  0.001 ms  250/1000 (25%)  receiver\n";

    #[test]
    fn the_length_of_a_write_is_read_however_it_is_said() {
        for spelt in ["-l 64K", "-l64K", "--length 64K", "--length=64K"] {
            let found = read(&TCP.replace("-l 64K", spelt)).unwrap();
            assert_eq!(found[0].test.size_bytes(), 64 << 10, "{spelt}");
        }
        let verbose = "Starting Test: protocol: TCP, 1 streams, 4096 byte blocks, omitting 0 seconds\n";
        let found = read(&TCP.replace(" -l 64K\n", &format!("\n{verbose}"))).unwrap();
        assert_eq!((found[0].test.size_bytes(), found[0].assumed.len()), (4096, 0));
    }

    #[test]
    fn what_the_other_end_says_of_a_run_is_no_run_of_its_own() {
        let both = TCP.replace("\n\niperf Done.", "\n\nServer output:\n")
            + &TCP.replace("$ iperf3 -c 192.0.2.1 -l 64K\n", "");
        let found = read(&both.repeat(2)).unwrap();
        assert_eq!(found.len(), 2);
        // Outputs alone, as files that were put together have them.
        let (_, bare) = both.split_once('\n').unwrap();
        assert_eq!(read(&bare.repeat(3)).unwrap().len(), 3);
    }

    #[test]
    fn a_server_has_what_came_of_one_direction_and_what_it_sent_of_the_other() {
        let text = "[ ID][Role] Interval           Transfer     Bitrate         Retr\n\
            [  5][RX-S]   0.00-1.00   sec  1.0 GBytes  8.00 Gbits/sec                  receiver\n\
            [  8][TX-S]   0.00-1.00   sec  1.0 GBytes  4.00 Gbits/sec    0             sender\n";
        let found = read(text).unwrap();
        assert_eq!(found[0].test.name(), "am_bibw");
        assert_eq!(found[0].figures[0], ("bandwidth_bytes_per_s", 1.5e9));
    }

    #[test]
    fn totals_are_read_and_each_run_is_one() {
        let found = read(&TCP.repeat(3)).unwrap();
        assert_eq!((found.len(), found[0].test.size_bytes()), (3, 64 << 10));
        let figures = [
            ("bandwidth_bytes_per_s", 1e9),
            ("sender_bandwidth_bytes_per_s", 1.1e9),
        ];
        assert_eq!(found[2].figures, figures);
        let found = read(UDP).unwrap();
        assert_eq!(
            (found[0].transport.as_str(), found[0].figures[2]),
            ("udp", ("loss_ratio", 0.25))
        );
        assert_eq!(found[0].assumed[0].what, super::super::Unsaid::Size);
    }

    #[test]
    fn the_length_of_a_datagram_is_taken_from_their_number() {
        let size = |text: &str| read(text).unwrap()[0].test.size_bytes();
        let udp = |sent: &str, got: &str| UDP.replace("250/1000", got).replace("0/1000", sent);
        // 888 MiB in 20,000 datagrams.
        assert_eq!(size(&udp("0/20000", "250/20000")), 46_557);
        // A receiver has those that were not lost.
        let both = udp("0/20000", "15000/20000");
        let (titles, got) = (both.lines().next().unwrap(), both.lines().last().unwrap());
        assert_eq!(size(&format!("{titles}\n{got}\n")), 56_204);
        // All lost, or none counted: nothing is known.
        let none = udp("0/0", "0/0");
        assert_eq!(size(&none), 0);
        assert!(read(&none).unwrap()[0].assumed[0].taken.contains("unknown"));
        // What is said goes before what is worked out.
        assert_eq!(size(&format!("$ iperf3 -u -l 1448 -c host\n{UDP}")), 1448);
    }

    #[test]
    fn connections_and_directions_are_added_up() {
        let several = "[ ID] Interval\n\
            [  5]   0.00-2.00   sec  2.72 GBytes  1394 MBytes/sec    2             sender\n\
            [  5]   0.00-2.01   sec  2.72 GBytes  1000 MBytes/sec                  receiver\n\
            [  7]   0.00-2.01   sec  2.63 GBytes  1000 MBytes/sec                  receiver\n\
            [SUM]   0.00-2.01   sec  5.35 GBytes  2001 MBytes/sec                  receiver\n";
        let found = read(several).unwrap();
        assert_eq!(
            (found[0].streams, found[0].figures[0].1),
            (2, 2001.0 * 1_048_576.0)
        );
        let both = "[ ID][Role] Interval\n\
            [  5][TX-C]   0.00-1.00   sec  1.85 GBytes  8.0 Gbits/sec                  receiver\n\
            [  7][RX-C]   0.00-1.00   sec  1.83 GBytes  4.0 Gbits/sec                  receiver\n";
        let found = read(both).unwrap();
        assert_eq!((found[0].test.name(), found[0].streams), ("am_bibw", 1));
        assert_eq!(found[0].figures, [("bandwidth_bytes_per_s", 1.5e9)]);
    }

    #[test]
    fn a_run_that_was_stopped_before_the_other_end_told_is_no_result() {
        let tcp = TCP.replace(
            "8.00 Gbits/sec                  receiver",
            "0.00 bits/sec                  receiver",
        );
        let udp = UDP.replace(
            "600 Mbits/sec  0.001 ms  250/1000 (25%)",
            "0.00 bits/sec  0.000 ms  0/0 (0%)",
        );
        let both = "[ ID][Role] Interval\n\
            [  5][TX-C]   0.00-0.60   sec  1.85 GBytes  8.0 Gbits/sec    0             sender\n\
            [  5][TX-C]   0.00-0.60   sec  0.00 Bytes  0.00 bits/sec                  receiver\n\
            [  7][RX-C]   0.00-0.60   sec  1.83 GBytes  4.0 Gbits/sec                  receiver\n";
        for (text, line) in [
            (tcp.as_str(), 7),
            (&udp, 3),
            (both, 3),
            (&(TCP.to_owned() + both), 12),
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("line {line}: nothing arrived")),
                "{refused}"
            );
        }
        // One of several connections may have starved.
        let line = |id: &str, gbits: &str, end: &str| {
            format!("[{id}]   0.00-1.00   sec  1.0 GBytes  {gbits} Gbits/sec   {end}\n")
        };
        let starved = [("  5", "8.00"), ("  7", "0.00"), ("SUM", "8.00")];
        let starved = starved.map(|(id, gbits)| line(id, "8.00", "sender") + &line(id, gbits, "receiver"));
        let title = "[ ID] Interval           Transfer     Bitrate         Retr\n";
        assert_eq!(read(&(title.to_owned() + &starved.concat())).unwrap().len(), 1);
        // All datagrams of a whole run lost is a figure.
        let lost = UDP.replace(
            "600 Mbits/sec  0.001 ms  250/1000 (25%)",
            "0.00 bits/sec  0.000 ms  1000/1000 (100%)",
        );
        assert!(read(&lost).unwrap()[0].figures.contains(&("loss_ratio", 1.0)));
    }

    #[test]
    fn what_failed_or_is_cut_has_no_figure() {
        let refused = read("iperf3: error - unable to connect to server: refused\n").unwrap_err();
        assert!(refused.to_string().contains("unable to connect"));
        assert!(read(TCP.split("sender").next().unwrap()).unwrap().is_empty());
        for odd in [
            "[ ID]\n[5] 1 x/sec receiver",
            "[ ID]\n[5] /sec sender",
            "[ ID]\n[ receiver",
            "",
        ] {
            assert!(read(odd).unwrap().is_empty(), "{odd}");
        }
    }
}
