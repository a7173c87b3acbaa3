//! Types a line on a pseudo-terminal and notes what comes back. It must never change what the program prints, but for the
//! prompt and the typing, which are its own.

use super::cast::Cast;
use super::{COLUMNS, PROMPT, Story};
use crate::home::Home;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// Before and after typing, in seconds.
const THOUGHT_S: f64 = 0.8;
/// A character, in seconds.
const TYPED_S: f64 = 0.05;
/// The longest that a line may take, in seconds.
const LIMIT_S: &str = "240";

/// Type `line` of a story, with `program` as `wirespeed`.
///
/// # Errors
/// Where there is no terminal to be had, or the line cannot be started or takes too long.
pub fn play(story: &Story, line: &str, program: &Path) -> io::Result<Cast> {
    let home = Home::new(program);
    let mut cast = Cast {
        columns: COLUMNS,
        rows: story.rows,
        title: story.title.to_owned(),
        events: Vec::new(),
    };
    cast.push(0.0, PROMPT);
    let mut now_s = THOUGHT_S;
    for word in line.split_inclusive(' ') {
        cast.push(now_s, word);
        now_s += TYPED_S * word.chars().count() as f64;
    }
    now_s += THOUGHT_S;
    cast.push(now_s, "\r\n");
    let status = on_terminal(&mut command(&home, line)?, story.rows, |after_s, said| {
        cast.push(now_s + after_s, said);
    })?;
    match status.code() {
        // The shell says what `timeout` says of a line that took too long, or what it cannot find or start.
        Some(0..124) => Ok(cast),
        _ => Err(io::Error::other(format!("{line}: {status}"))),
    }
}

/// A shell that is given `line`, in a folder where the program has its name.
fn command(home: &Home, line: &str) -> io::Result<Command> {
    let folder = home.path("bin");
    std::fs::create_dir(&folder)?;
    std::os::unix::fs::symlink(home.program().canonicalize()?, folder.join("wirespeed"))?;
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(folder).chain(std::env::split_paths(&rest));
    let mut command = Command::new("timeout");
    command.args([LIMIT_S, "bash", "-c", line]);
    home.adopt(&mut command);
    command
        .env_remove("COLUMNS")
        .env("TERM", "xterm-256color")
        .env("PATH", std::env::join_paths(path).map_err(io::Error::other)?);
    Ok(command)
}

/// Run `command` on a terminal of its own, with so many `rows`, to its end; `hear` is told what it writes, and how many seconds after its start.
fn on_terminal(command: &mut Command, rows: u16, mut hear: impl FnMut(f64, &str)) -> io::Result<ExitStatus> {
    let ours = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = rustix::pty::openpt(ours)?;
    rustix::pty::grantpt(&terminal)?;
    rustix::pty::unlockpt(&terminal)?;
    let theirs = rustix::pty::ioctl_tiocgptpeer(&terminal, ours)?;
    let size = Winsize {
        ws_row: rows,
        ws_col: COLUMNS,
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
        let status = on_terminal(&mut command, 7, |_, said| heard.push_str(said)).unwrap();
        assert_eq!(status.code(), Some(3), "{heard}");
        assert_eq!(heard, format!("7 {COLUMNS}\r\n⣀"));
    }
}
