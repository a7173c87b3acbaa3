//! ssh as what carries this program to a host on which nothing is installed: the binary goes ahead through the same
//! connection, runs there, and removes itself as soon as it runs. The host's key is checked, always; nothing of ours is
//! forwarded; a password is never asked for.

use super::child::LauncherChild;
use super::program::RankProgram;
use crate::error::ControlError;
use crate::session::group::Failure;
use crate::stop::StopFlag;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use wirespeed_schema::message::FailureClass;

/// Options that no configuration overrides. A host that is gone is noticed within ten seconds.
const OPTIONS: [&str; 8] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=3",
    "ServerAliveCountMax=2",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
];

/// Longest wait for a host to take more of the binary. Before it takes any, ssh must connect and log in.
const SEND_TIME: Duration = Duration::from_secs(30);
/// Between two looks at the stop flag meanwhile.
const SEND_LOOK: Duration = Duration::from_millis(100);
/// One that takes no more has this long to say why.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Bytes that are read of the binary at once.
const PIECE_BYTES: usize = 64 << 10;

/// Run by the host's shell, whatever that is: no single quotes. A folder is found in which programs may be written and run;
/// the program must arrive whole; it is removed should it not come to run.
const SCRIPT: &str = r##"umask 077
[ "$(uname -m)" = MACHINE ] || { echo "error: its processor is $(uname -m), the program is for MACHINE" >&2; exit 1; }
f=; trap "rm -f \"\$f\"" EXIT HUP INT TERM PIPE
for d in "${TMPDIR:-/tmp}" "$HOME" /dev/shm; do
f=$(mktemp "$d/wirespeed.XXXXXXXX" 2>/dev/null) || continue
printf "#!/bin/sh\nexit 0\n" > "$f" && chmod 700 "$f" && "$f" 2>/dev/null && break
rm -f "$f"; f=
done
[ -n "$f" ] || { echo "error: no folder for a program in TMPDIR, HOME or /dev/shm" >&2; exit 1; }
head -c SIZE > "$f"
[ "$(wc -c < "$f")" -eq SIZE ] || { echo "error: the program did not arrive whole" >&2; exit 1; }
"$f" ARGUMENTS"##;

/// A host, as ssh names it: `HOST` or `USER@HOST`, or a name of its configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshHost {
    name: String,
    /// ssh's configuration, where it is not the user's.
    config: Option<PathBuf>,
}

impl SshHost {
    /// `name` as typed.
    pub fn parse(name: &str, config: Option<PathBuf>) -> Result<Self, ControlError> {
        let good = |c: char| c.is_ascii_alphanumeric() || "-_.@:%[]".contains(c);
        // A leading dash would be an option.
        if name.is_empty() || name.starts_with('-') || !name.chars().all(good) {
            return Err(ControlError::BadAddress(name.to_owned()));
        }
        Ok(SshHost {
            name: name.to_owned(),
            config,
        })
    }

    /// As typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Start `program` there with its arguments, which must be plain words. Returns when the binary has been sent; what the
    /// program does then shows in its output.
    pub fn start(&self, program: &RankProgram, stop: &StopFlag) -> Result<LauncherChild, ControlError> {
        let failed = |source| ControlError::Launch {
            program: program.path.display().to_string(),
            source,
        };
        let mut binary = File::open(&program.path).map_err(failed)?;
        let size_bytes = binary.metadata().map_err(failed)?.len();
        let mut child = LauncherChild::start(self.command(size_bytes, &program.arguments))?;
        child.tells_last();
        let Some(stdin) = child.child().stdin.as_mut() else {
            return Ok(child);
        };
        let sent = send(&mut binary, stdin, stop);
        match sent {
            Ok(()) => Ok(child),
            Err(_) if stop.is_requested() => {
                child.hurry();
                Err(ControlError::Interrupted)
            }
            Err(source) if source.kind() == io::ErrorKind::TimedOut => {
                child.hurry();
                Err(ControlError::lost("ssh", source))
            }
            Err(source) => {
                // It is gone, and says why better than its pipe does.
                let deadline = Instant::now() + LAST_WORDS;
                while Instant::now() < deadline {
                    child.check()?;
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(failed(source))
            }
        }
    }

    /// What `said`, the words of ssh or of the host, means for whoever wants to go there.
    pub fn failure(&self, said: &str) -> Failure {
        let name = &self.name;
        let (class, remedy) = match said {
            _ if said.contains("verification failed") || said.contains("host key") => (
                FailureClass::Refused,
                format!("compare the host's key and accept it once: ssh {name} true"),
            ),
            _ if said.contains("denied") => (
                FailureClass::Refused,
                format!("let `ssh {name} true` work without a password"),
            ),
            _ if said.contains("resolve hostname") => (
                FailureClass::Failed,
                "check the spelling, or give its IP address".to_owned(),
            ),
            _ if said.contains("its processor is") => (
                FailureClass::Failed,
                "leave it out, or run wirespeed on a machine of that kind".to_owned(),
            ),
            _ => (
                FailureClass::Failed,
                format!("check `ssh {name} true`; it needs this machine's kind of processor and C library"),
            ),
        };
        Failure::with_remedy(class, format!("{name}: {said}"), remedy)
    }

    fn command(&self, size_bytes: u64, arguments: &[std::ffi::OsString]) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.args(["-T", "-e", "none"]);
        if let Some(config) = &self.config {
            ssh.arg("-F").arg(config);
        }
        for option in OPTIONS {
            ssh.args(["-o", option]);
        }
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let script = script(size_bytes, &words.join(" "));
        ssh.arg("--").arg(&self.name);
        ssh.arg(format!("exec sh -c '{script}'"));
        ssh.stdin(Stdio::piped()).stdout(Stdio::piped());
        ssh
    }
}

fn script(size_bytes: u64, arguments: &str) -> String {
    let kernel = rustix::system::uname();
    SCRIPT
        .replace("MACHINE", &kernel.machine().to_string_lossy())
        .replace("SIZE", &size_bytes.to_string())
        .replace("ARGUMENTS", arguments)
}

/// Copy `binary` into the pipe, which may be full for long while ssh finds its way; an error when the user or the host has
/// had enough.
fn send(binary: &mut File, stdin: &mut ChildStdin, stop: &StopFlag) -> io::Result<()> {
    rustix::io::ioctl_fionbio(&*stdin, true)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = binary.read(&mut piece)?;
        if count == 0 {
            break;
        }
        let mut left = &piece[..count];
        let mut deadline = Instant::now() + SEND_TIME;
        while !left.is_empty() {
            if stop.is_requested() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match stdin.write(left) {
                Ok(written) => {
                    left = &left[written..];
                    deadline = Instant::now() + SEND_TIME;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() > deadline {
                        let text = format!("it takes no data for {} s", SEND_TIME.as_secs());
                        return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                    }
                    wait_for_room(stdin)?;
                }
                Err(error) => return Err(error),
            }
        }
    }
    rustix::io::ioctl_fionbio(&*stdin, false)?;
    Ok(())
}

fn wait_for_room(stdin: &ChildStdin) -> io::Result<()> {
    let look = Timespec::try_from(SEND_LOOK).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(stdin, PollFlags::OUT)], Some(&look)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_never_options() {
        for name in ["", "-oProxyCommand=x", "a b", "a;b", "a'b", "a\nb"] {
            assert!(SshHost::parse(name, None).is_err(), "{name:?}");
        }
        for name in ["host", "me@host.example", "[::1]", "192.0.2.1"] {
            assert!(SshHost::parse(name, None).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn keys_are_checked_and_nothing_is_forwarded() {
        let host = SshHost::parse("host", None).unwrap();
        let command = host.command(1, &["__node".into()]);
        let words: Vec<_> = command.get_args().map(|w| w.to_string_lossy()).collect();
        for option in [
            "StrictHostKeyChecking=yes",
            "BatchMode=yes",
            "ClearAllForwardings=yes",
        ] {
            assert!(words.iter().any(|word| word == option), "{words:?}");
        }
        assert!(!SCRIPT.contains('\''));
    }

    #[test]
    fn words_of_ssh_become_cause_and_remedy() {
        let host = SshHost::parse("me@h1", None).unwrap();
        for (said, class, remedy) in [
            (
                "Host key verification failed.",
                FailureClass::Refused,
                "accept it once",
            ),
            (
                "me@h1: Permission denied (publickey).",
                FailureClass::Refused,
                "without a password",
            ),
            (
                "Could not resolve hostname h1: Name or service not known",
                FailureClass::Failed,
                "spelling",
            ),
            (
                "error: its processor is riscv64",
                FailureClass::Failed,
                "machine of that kind",
            ),
            ("Connection refused", FailureClass::Failed, "ssh me@h1 true"),
        ] {
            let failure = host.failure(said);
            assert_eq!(failure.class, class, "{failure:?}");
            assert!(failure.message.starts_with("me@h1: "), "{failure:?}");
            assert!(failure.remedy.unwrap().contains(remedy), "{said}");
        }
    }

    #[test]
    fn a_host_that_takes_nothing_is_left_when_the_user_stops() {
        let mut command = Command::new("sleep");
        command.arg("60").stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = LauncherChild::start(command).unwrap();
        child.hurry();
        let mut binary = tempfile::tempfile().unwrap();
        binary.set_len(1 << 20).unwrap();
        let stop = StopFlag::new();
        let asking = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            asking.request();
        });
        let stdin = child.child().stdin.as_mut().unwrap();
        let sent = send(&mut binary, stdin, &stop);
        assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    /// The script itself, in a folder of its own: the program runs with what comes behind it, and is gone afterwards.
    #[test]
    fn the_program_travels_and_is_gone_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\necho \"$1\"; cat\n";
        for (sent, expected) in [(&program[..], "word\nmore"), (&program[..9], "")] {
            let script = script(program.len() as u64, "word");
            let mut child = Command::new("sh")
                .args(["-c", &script])
                .env("TMPDIR", folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // Nobody hears its complaints, which must not keep it from cleaning up.
            drop(child.stderr.take());
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(sent).unwrap();
            if sent.len() == program.len() {
                stdin.write_all(b"more").unwrap();
            }
            drop(stdin);
            let mut said = String::new();
            child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
            assert_eq!(said, expected);
            assert_eq!(child.wait().unwrap().success(), !expected.is_empty());
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
