//! A shell beside this program that ends its commands, should the program be killed. It must do nothing where the program ends
//! its commands itself.

use rustix::process::{Pid, getpgid};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Its input ends with the program that writes there.
const SCRIPT: &str = "all=; while read -r one; do all=\"$all $one\"; done; \
                      kill -TERM $all; kill -CONT $all; sleep 1; kill -KILL $all";

/// The shell; dropped, it ends without a deed.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Start it, in a group of its own: what ends this program is not to end it.
    pub fn start() -> io::Result<Guard> {
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT]).process_group(0);
        let shell = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        shell.spawn().map(Guard)
    }

    /// End `child` too, and all of its group where it leads one.
    pub fn watch(&mut self, child: &Child) {
        let pid = Pid::from_child(child);
        let sign = match getpgid(Some(pid)) == Ok(pid) {
            true => "-",
            false => "",
        };
        let line = format!("{sign}{pid}\n");
        if let Some(stdin) = &mut self.0.stdin {
            // A shell that somebody has ended guards nobody; the command can do without.
            let _ = stdin.write_all(line.as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Before its input ends. One that is gone already needs no ending.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    fn sleeper() -> Child {
        Command::new("sleep")
            .arg("1000")
            .process_group(0)
            .spawn()
            .unwrap()
    }

    #[test]
    fn it_ends_what_it_watches_when_its_program_has_gone_and_not_before() {
        let (mut kept, mut ended) = (sleeper(), sleeper());
        for (child, is_left) in [(&mut kept, false), (&mut ended, true)] {
            let mut guard = Guard::start().unwrap();
            guard.watch(child);
            if is_left {
                // As the kernel does at the end of a program.
                drop(guard.0.stdin.take());
                assert_eq!(child.wait().unwrap().signal(), Some(15));
            }
        }
        assert!(kept.try_wait().unwrap().is_none());
        kept.kill().unwrap();
        kept.wait().unwrap();
    }
}
