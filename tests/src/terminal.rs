//! A pseudo-terminal of a size of its own: what a program draws there is heard as it comes, and read as a screen shows it; or one
//! that programs are in front of. It must never change what the program writes.

use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// Run `command` on a terminal of this many columns and rows to its end; `hear` is told what it writes, and how many seconds
/// after its start.
///
/// # Errors
/// Where there is no terminal to be had, or the command cannot be started.
pub fn on_terminal(
    command: &mut Command,
    (columns, rows): (u16, u16),
    mut hear: impl FnMut(f64, &str),
) -> io::Result<ExitStatus> {
    let (terminal, theirs) = both_sides()?;
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&theirs, size)?;
    command.stdin(theirs.try_clone()?).stdout(theirs.try_clone()?);
    let began = Instant::now();
    let mut child = command.stderr(theirs).spawn()?;
    // The command holds the other side as well: while it does, its end would not be seen.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut terminal = File::from(terminal);
    let (mut buffer, mut held) = ([0; 65536], Vec::new());
    // The end of the last writer is an error here.
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        held.extend_from_slice(&buffer[..read]);
        let whole = match std::str::from_utf8(&held) {
            Ok(_) => held.len(),
            // A character may come in two parts.
            Err(error) => error.valid_up_to(),
        };
        let rest = held.split_off(whole);
        hear(began.elapsed().as_secs_f64(), &String::from_utf8_lossy(&held));
        held = rest;
    }
    child.wait()
}

/// Our side of a terminal, and that of a program.
fn both_sides() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&terminal)?;
    rustix::pty::unlockpt(&terminal)?;
    let theirs = rustix::pty::ioctl_tiocgptpeer(&terminal, flags)?;
    Ok((terminal, theirs))
}

/// A terminal at which somebody types.
pub struct Keyboard {
    ours: File,
    /// Open, so that it goes on when a program closes it.
    theirs: OwnedFd,
}

impl Keyboard {
    /// A fresh one.
    ///
    /// # Errors
    /// Where there is no terminal to be had.
    pub fn new() -> io::Result<Keyboard> {
        let (ours, theirs) = both_sides()?;
        let ours = File::from(ours);
        Ok(Keyboard { ours, theirs })
    }

    /// `program` in front of this terminal, whose streams are elsewhere.
    ///
    /// # Errors
    /// Where the terminal has no name.
    pub fn before(&self, program: &Path) -> io::Result<Command> {
        let name = std::fs::read_link(format!("/proc/self/fd/{}", self.theirs.as_raw_fd()))?;
        let mut command = Command::new("setsid");
        // Who leads a session gets the terminal that it opens.
        command
            .args(["sh", "-c", ": < \"$0\"; exec \"$@\""])
            .arg(name)
            .arg(program);
        Ok(command)
    }

    /// Type these keys.
    ///
    /// # Errors
    /// Where the terminal takes none.
    pub fn press(&self, keys: &str) -> io::Result<()> {
        (&self.ours).write_all(keys.as_bytes())
    }
}

/// The lines that stand on a terminal of this many columns after `written`, without blanks at their ends; whether the
/// terminal had to break each.
pub fn screen(written: &str, columns: u16) -> Vec<(String, bool)> {
    let size = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
    let mut parser = vt100::Parser::new(size(ROWS), size(columns), 0);
    parser.process(written.as_bytes());
    let screen = parser.screen();
    let lines = screen.rows(0, columns).enumerate();
    let mut lines: Vec<(String, bool)> = lines
        .map(|(row, text)| {
            let row = u16::try_from(row).unwrap_or(u16::MAX);
            (text.trim_end().to_owned(), screen.row_wrapped(row))
        })
        .collect();
    while lines.last().is_some_and(|(text, _)| text.is_empty()) {
        lines.pop();
    }
    lines
}

/// Rows of a screen that holds all that a verb writes.
const ROWS: u16 = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_on_a_terminal_is_heard_to_its_end() {
        let mut heard = String::new();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "test -t 0 && test -t 2 && stty size && printf '\\342\\243\\200' && exit 3",
        ]);
        let status = on_terminal(&mut command, (40, 7), |_, said| heard.push_str(said)).unwrap();
        assert_eq!(status.code(), Some(3), "{heard}");
        assert_eq!(heard, "7 40\r\n⣀");
    }

    #[test]
    fn a_screen_shows_what_was_drawn_last() {
        let lines = screen("[>  ] 1\r[=> ] 2\r\u{1b}[Kan answer that is long\r\nend\r\n", 10);
        let text: Vec<&str> = lines.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(text, ["an answer", "that is lo", "ng", "end"]);
        assert_eq!(
            lines.iter().map(|(_, wrapped)| *wrapped).collect::<Vec<_>>(),
            [true, true, false, false]
        );
    }
}
