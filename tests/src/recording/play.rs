//! Types a line on a pseudo-terminal and notes what comes back. It must never change what the program prints, but for the
//! prompt and the typing, which are its own.

use super::cast::Cast;
use super::{COLUMNS, PROMPT, Story};
use crate::home::Home;
use crate::terminal::on_terminal;
use std::io;
use std::path::Path;
use std::process::Command;

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
    let status = on_terminal(
        &mut command(&home, line)?,
        (COLUMNS, story.rows),
        |after_s, said| {
            cast.push(now_s + after_s, said);
        },
    )?;
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
