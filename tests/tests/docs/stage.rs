//! A place where documented commands are typed: an empty home, two machines where the test may make them, deadlines. It
//! must leave no process and no file behind.

use crate::pages::{Prompt, Shown};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use wirespeed_tests::lab::{Lab, Side};
use wirespeed_tests::skip;

/// Seconds for one documented command; on a busy machine a sweep takes its time.
const COMMAND_SECONDS: &str = "240";
/// Time for a server to end after Ctrl-C.
const STOP: Duration = Duration::from_secs(30);
/// The far machine in the documents: an address for documentation, and the lab's second machine.
const FAR: &str = "192.0.2.2";

/// An empty home directory, and two machines where there can be two.
pub struct Stage {
    home: tempfile::TempDir,
    lab: Option<Lab>,
    path: OsString,
}

/// A far end; ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    pub fn new() -> Stage {
        let program = program();
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders =
            std::iter::once(program.parent().unwrap().to_owned()).chain(std::env::split_paths(&rest));
        let lab = Lab::new()
            .map_err(|reason| {
                skip(&format!(
                    "two machines: {reason}; both ends run on loopback instead"
                ))
            })
            .ok();
        Stage {
            home: tempfile::tempdir().unwrap(),
            lab,
            path: std::env::join_paths(folders).unwrap(),
        }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// What `line` gives on this machine.
    pub fn output(&self, line: &str) -> Output {
        self.shell(None, line).output().unwrap()
    }

    /// Type all of `shown`, which stand together: a server lives until the next one or the end. Problems are returned.
    pub fn play(&self, shown: &[Shown]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut server = None;
        for one in shown {
            let line = self.adapted(&one.line);
            let problem = match one.prompt {
                Prompt::Server => {
                    let ended = server.take().and_then(|s| stop(s).err());
                    match self.serve(&line) {
                        Ok(started) => server = Some(started),
                        Err(why) => problems.push(format!("{}: {line}: {why}", one.place)),
                    }
                    ended
                }
                Prompt::Client => self.exits(self.lab.as_ref().map(|_| Side::A), &line, one.exits),
                Prompt::Here => self.exits(None, &line, one.exits),
            };
            problems.extend(problem.map(|why| format!("{}: {line}: {why}", one.place)));
        }
        problems.extend(server.and_then(|s| stop(s).err()));
        problems
    }

    fn exits(&self, side: Option<Side>, line: &str, expected: i32) -> Option<String> {
        let output = self.shell(side, line).output().unwrap();
        let said = || {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let last: Vec<&str> = text.lines().rev().take(4).collect();
            last.into_iter().rev().collect::<Vec<_>>().join("\n    ")
        };
        (output.status.code() != Some(expected))
            .then(|| format!("{} instead of {expected}\n    {}", output.status, said()))
    }

    /// Start a far end, and wait until it listens.
    fn serve(&self, line: &str) -> Result<Server, String> {
        let mut command = self.bare(self.lab.as_ref().map(|_| Side::B), "bash");
        command.args(["-c", &format!("exec {line}")]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Server(command.spawn().map_err(|e| e.to_string())?);
        let mut first = String::new();
        let stdout = server.0.stdout.as_mut().ok_or("no stdout")?;
        BufReader::new(stdout)
            .read_line(&mut first)
            .map_err(|e| e.to_string())?;
        match first.starts_with("listening on ") {
            true => Ok(server),
            false => Err(format!("it says {first:?} instead of listening")),
        }
    }

    fn shell(&self, side: Option<Side>, line: &str) -> Command {
        let mut command = self.bare(side, "timeout");
        command.args(["--kill-after=5", COMMAND_SECONDS, "bash", "-c", line]);
        command
    }

    fn bare(&self, side: Option<Side>, program: &str) -> Command {
        let mut command = match (side, &self.lab) {
            (Some(side), Some(lab)) => lab.command(side, program),
            _ => Command::new(program),
        };
        for name in [
            "WIRESPEED_IDENTITY",
            "WIRESPEED_KEY_FILE",
            "XDG_CONFIG_HOME",
            "COLUMNS",
        ] {
            command.env_remove(name);
        }
        command
            .env("PATH", &self.path)
            .env("HOME", self.home.path())
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    /// The line for this stage: one machine where there are not two, and runs that name no length of their own are
    /// short, for what is tested is that they are right.
    fn adapted(&self, line: &str) -> String {
        let mut line = line.to_owned();
        if self.lab.is_none() {
            line = line
                .replace(FAR, "127.0.0.1")
                .replace("--listen all", "--listen loopback");
        }
        let timed = [
            "--duration",
            "--iters",
            " -t ",
            " -n ",
            ".toml",
            "--dry-run",
            "--help",
        ];
        if line.contains("wirespeed run ") && !timed.iter().any(|word| line.contains(word)) {
            line = line.replace("wirespeed run ", "wirespeed run --duration 20ms ");
        }
        if line.contains("wirespeed quick") && !line.contains("--budget") {
            line = line.replace("wirespeed quick", "wirespeed quick --budget 5s");
        }
        line
    }
}

/// The program under test, beside the tests' own folder.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("wirespeed");
    assert!(
        program.exists(),
        "{} is missing: cargo build --bin wirespeed",
        program.display()
    );
    program
}

/// Ctrl-C, and a good end.
fn stop(mut server: Server) -> Result<(), String> {
    let interrupted = Command::new("kill")
        .args(["-INT", &server.0.id().to_string()])
        .status()
        .is_ok_and(|s| s.success());
    let deadline = Instant::now() + STOP;
    while Instant::now() < deadline {
        match server.0.try_wait() {
            Ok(Some(status)) if status.success() && interrupted => return Ok(()),
            Ok(Some(status)) => return Err(format!("the server ended with {status}")),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the server does not end".to_owned())
}
