//! Several sockets over one pair of pipes, for a program whose only way here is its standard input and output: a line of
//! text for every piece of bytes, `NUMBER BASE64`, and `NUMBER` alone when a socket was closed. Launchers pass lines on
//! at once, and nothing else without waiting for more.
//!
//! A socket that nobody reads, or that is not open here yet, must never hold up the others or lose anything: what comes for it
//! is kept in memory until somebody does. The far end is of the same job, and sends no more than a rank has to say.

use crate::thread::spawn;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of one piece.
const PIECE_BYTES: usize = 32 << 10;
/// Longest line: a piece in base64, and its number.
const LINE_BYTES_MAX: u64 = 2 * PIECE_BYTES as u64;

/// Where what comes for sockets goes.
#[derive(Default)]
struct Ends {
    of: BTreeMap<u16, End>,
    /// The pipe has ended: nothing comes any more.
    are_closed: bool,
}

/// Where what comes for a socket goes, in order; no bytes when its far end was closed, as in the lines.
struct End {
    pieces: Sender<Vec<u8>>,
    /// Until the socket is open here.
    unclaimed: Option<Receiver<Vec<u8>>>,
    /// Its far end was closed: nothing comes for it any more.
    is_closed: bool,
}

impl Ends {
    /// The end of socket `number`, which may be opened later.
    fn end(&mut self, number: u16) -> &mut End {
        self.of.entry(number).or_insert_with(|| {
            let (pieces, arrived) = channel();
            End {
                pieces,
                unclaimed: Some(arrived),
                is_closed: false,
            }
        })
    }

    /// Nothing comes any more: whoever has what came is told so, and what nobody has opened yet is kept.
    fn close(&mut self) {
        self.are_closed = true;
        self.of.retain(|_, end| end.unclaimed.is_some());
    }

    /// A piece for socket `number`; one without bytes is its last.
    fn hand(&mut self, number: u16, piece: Vec<u8>) {
        let end = self.end(number);
        end.is_closed = piece.is_empty();
        let is_over = end.is_closed && end.unclaimed.is_none();
        // One that nobody reads any more is closed already.
        let _ = end.pieces.send(piece);
        if is_over {
            self.of.remove(&number);
        }
    }

    /// What comes for socket `number`, for whoever opens it; a second time, what comes from then on.
    fn claim(&mut self, number: u16) -> Receiver<Vec<u8>> {
        if self.are_closed {
            // What came before, and then the end.
            let before = self.of.remove(&number).and_then(|end| end.unclaimed);
            return before.unwrap_or_else(|| channel().1);
        }
        let end = self.end(number);
        let (unclaimed, is_closed) = (end.unclaimed.take(), end.is_closed);
        if let Some(arrived) = unclaimed {
            if is_closed {
                self.of.remove(&number);
            }
            return arrived;
        }
        let (pieces, arrived) = channel();
        self.end(number).pieces = pieces;
        arrived
    }
}

/// One end of the pair of pipes.
pub struct Mux {
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    ends: Arc<Mutex<Ends>>,
}

impl Mux {
    /// Over these pipes. When `reader` ends, or what comes is no such line, every socket is closed.
    pub fn over(
        reader: impl BufRead + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<Mux> {
        let ends = Arc::new(Mutex::new(Ends::default()));
        let here = ends.clone();
        spawn("pipes", move || {
            hand_out(reader, &here);
            here.lock().close();
        })?;
        Ok(Mux {
            writer: Arc::new(Mutex::new(Box::new(writer))),
            ends,
        })
    }

    /// Socket `number`, with what has come for it already.
    pub fn open(&self, number: u16) -> io::Result<UnixStream> {
        let (theirs, ours) = UnixStream::pair()?;
        self.attach(number, ours)?;
        Ok(theirs)
    }

    /// Make `socket` number `number`: what its peer writes goes through the pipe.
    pub fn attach(&self, number: u16, socket: UnixStream) -> io::Result<()> {
        let inward = socket.try_clone()?;
        let arrived = self.ends.lock().claim(number);
        spawn("pipe", move || write_all(&arrived, inward))?;
        let writer = self.writer.clone();
        spawn("pipe", move || send_all(number, socket, &writer)).map(drop)
    }
}

/// Pass on what comes from `ours` until it is closed.
fn send_all(number: u16, mut ours: UnixStream, writer: &Mutex<Box<dyn Write + Send>>) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = ours.read(&mut piece).unwrap_or(0);
        let line = match count {
            0 => format!("{number}\n"),
            _ => format!("{number} {}\n", STANDARD.encode(&piece[..count])),
        };
        let mut writer = writer.lock();
        let written = writer.write_all(line.as_bytes()).and_then(|()| writer.flush());
        if count == 0 || written.is_err() {
            return;
        }
    }
}

/// Give every piece to its socket until the pipe ends.
fn hand_out(mut reader: impl BufRead, ends: &Mutex<Ends>) {
    let mut line = String::new();
    loop {
        line.clear();
        match reader.by_ref().take(LINE_BYTES_MAX).read_line(&mut line) {
            Ok(1..) if line.ends_with('\n') => {}
            _ => return,
        }
        let (number, piece) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
        let (Ok(number), Ok(piece)) = (number.parse::<u16>(), STANDARD.decode(piece)) else {
            return;
        };
        ends.lock().hand(number, piece);
    }
}

/// Write what arrives for a socket, however slowly its peer reads, until the peer or the far end is gone, or the pipe ends,
/// which closes it.
fn write_all(arrived: &Receiver<Vec<u8>>, mut socket: UnixStream) {
    for piece in arrived {
        if piece.is_empty() {
            // Its peer may still have something to say.
            let _ = socket.shutdown(Shutdown::Write);
            return;
        }
        if socket.write_all(&piece).is_err() {
            return;
        }
    }
    // One that is closed already needs no closing.
    let _ = socket.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn pair() -> (Mux, Mux) {
        let ((a, b), (c, d)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        let here = Mux::over(BufReader::new(a), c).unwrap();
        (here, Mux::over(BufReader::new(d), b).unwrap())
    }

    #[test]
    fn sockets_carry_their_own_bytes_and_close_by_themselves() {
        let (here, there) = pair();
        let (mut a, mut b) = (here.open(0).unwrap(), here.open(7).unwrap());
        let (mut x, mut y) = (there.open(0).unwrap(), there.open(7).unwrap());
        let long: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
        let expected = long.clone();
        let sender = std::thread::spawn(move || {
            b.write_all(&long).unwrap();
            b
        });
        a.write_all(b"one").unwrap();
        let mut three = [0; 3];
        x.read_exact(&mut three).unwrap();
        assert_eq!(&three, b"one");
        let mut received = vec![0; expected.len()];
        y.read_exact(&mut received).unwrap();
        assert_eq!(received, expected);
        let b = sender.join().unwrap();
        drop(b);
        assert_eq!(y.read(&mut three).unwrap(), 0, "its end is seen");
        x.write_all(b"two").unwrap();
        a.read_exact(&mut three).unwrap();
        assert_eq!(&three, b"two", "the other one goes on");
    }

    #[test]
    fn a_socket_that_nobody_reads_holds_up_no_other() {
        let (here, there) = pair();
        let (mut a, mut b) = (here.open(0).unwrap(), here.open(7).unwrap());
        let (mut x, mut y) = (there.open(0).unwrap(), there.open(7).unwrap());
        let sent = vec![1; 3 << 20];
        b.write_all(&sent).unwrap();
        a.write_all(b"one").unwrap();
        let mut one = [0; 3];
        x.read_exact(&mut one).unwrap();
        drop(b);
        let mut late = Vec::new();
        y.read_to_end(&mut late).unwrap();
        assert_eq!(late.len(), sent.len(), "nothing of it is lost");
    }

    #[test]
    fn what_comes_before_a_socket_is_open_is_not_lost() {
        let (mut far, near) = UnixStream::pair().unwrap();
        let mux = Mux::over(BufReader::new(near), io::sink()).unwrap();
        let line = |number: u16, text: &str| format!("{number} {}\n", STANDARD.encode(text));
        far.write_all((line(3, "early ") + &line(9, "other")).as_bytes())
            .unwrap();
        let mut other = mux.open(9).unwrap();
        let mut five = [0; 5];
        other.read_exact(&mut five).unwrap();
        // The line before has come, too, by then.
        let mut late = mux.open(3).unwrap();
        far.write_all((line(3, "late") + "3\n").as_bytes()).unwrap();
        let mut all = String::new();
        late.read_to_string(&mut all).unwrap();
        assert_eq!(all, "early late");
        far.write_all(line(5, "last!").as_bytes()).unwrap();
        drop(far);
        assert_eq!(other.read(&mut five).unwrap(), 0);
        mux.open(5).unwrap().read_exact(&mut five).unwrap();
        assert_eq!(&five, b"last!", "it came before the end");
        assert_eq!(
            mux.open(4).unwrap().read(&mut five).unwrap(),
            0,
            "nothing comes any more"
        );
    }

    #[test]
    fn a_socket_that_both_ends_have_closed_leaves_nothing() {
        let (here, there) = pair();
        for round in 0..3 {
            let (a, mut x) = (here.open(4).unwrap(), there.open(4).unwrap());
            (&a).write_all(&[round]).unwrap();
            drop(a);
            let mut all = Vec::new();
            x.read_to_end(&mut all).unwrap();
            assert_eq!(all, [round], "a number may be used again");
            assert!(there.ends.lock().of.is_empty());
            drop(x);
            while !here.ends.lock().of.is_empty() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn garbage_and_the_end_of_the_pipe_close_everything() {
        for sent in [
            &b"7 ***\n"[..],
            b"no number\n",
            b"0 without an end",
            &[b'A'; 200_000],
            b"",
        ] {
            let (mut far, near) = UnixStream::pair().unwrap();
            let mux = Mux::over(BufReader::new(near), io::sink()).unwrap();
            let mut socket = mux.open(0).unwrap();
            let _ = far.write_all(sent);
            drop(far);
            assert_eq!(socket.read(&mut [0; 8]).unwrap(), 0, "{sent:.20?}");
        }
    }
}
