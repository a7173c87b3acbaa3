//! A folder in memory for movers that can only write files. A shell holds it and removes it when this process is gone,
//! however it goes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// The folder; gone when dropped.
pub struct Room {
    child: Child,
    stdin: Option<ChildStdin>,
    path: PathBuf,
}

const SCRIPT: &str = "dir=$(mktemp -d -p /dev/shm wirespeed-XXXXXX 2>/dev/null || mktemp -d) || exit 1; \
                      trap 'rm -rf \"$dir\"' EXIT; trap 'exit 1' HUP INT TERM; echo \"$dir\"; cat >/dev/null";

impl Room {
    /// Make it: in memory where there is such a file system, else among temporary files.
    pub fn make() -> std::io::Result<Room> {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut line = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let room = Room {
            child,
            stdin,
            path: PathBuf::from(line.trim_end()),
        };
        match room.path.is_dir() && room.path.is_absolute() {
            true => Ok(room),
            false => Err(std::io::Error::other("no folder could be made")),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // The shell ends with its stdin.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_and_then_gone_with_all_in_it() {
        let room = Room::make().unwrap();
        let path = room.path().to_owned();
        std::fs::write(path.join("f"), "x").unwrap();
        drop(room);
        assert!(!path.exists());
    }
}
