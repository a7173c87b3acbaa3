//! ssh as what carries this program to a host on which nothing is installed: the binary goes ahead through the same
//! connection, runs there, and removes itself as soon as it runs. The host's key is checked, always; nothing of ours is
//! forwarded; a password is never asked for.

use super::child::LauncherChild;
use super::program::RankProgram;
use crate::error::ControlError;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

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

/// Run by the host's shell, whatever that is: no single quotes. A folder is found in which programs may be written and run;
/// the program must arrive whole; it is removed should it not come to run.
const SCRIPT: &str = r##"umask 077
for d in "${TMPDIR:-/tmp}" "$HOME" /dev/shm; do
f=$(mktemp "$d/wirespeed.XXXXXXXX" 2>/dev/null) || continue
printf "#!/bin/sh\nexit 0\n" > "$f" && chmod 700 "$f" && "$f" 2>/dev/null && break
rm -f "$f"; f=
done
[ -n "$f" ] || { echo "error: no folder for a program in TMPDIR, HOME or /dev/shm" >&2; exit 1; }
trap "rm -f \"$f\"" EXIT HUP INT TERM
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
    pub fn start(&self, program: &RankProgram) -> Result<LauncherChild, ControlError> {
        let failed = |source| ControlError::Launch {
            program: program.path.display().to_string(),
            source,
        };
        let mut binary = File::open(&program.path).map_err(failed)?;
        let size_bytes = binary.metadata().map_err(failed)?.len();
        let mut child = LauncherChild::start(self.command(size_bytes, &program.arguments))?;
        let Some(stdin) = child.child().stdin.as_mut() else {
            return Ok(child);
        };
        match io::copy(&mut binary, stdin) {
            Ok(_) => Ok(child),
            Err(source) => {
                // It is gone, and says why better than its pipe does.
                let deadline = std::time::Instant::now() + std::time::Duration::from_secs(2);
                while std::time::Instant::now() < deadline {
                    child.check()?;
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                Err(failed(source))
            }
        }
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
        let script = SCRIPT
            .replace("SIZE", &size_bytes.to_string())
            .replace("ARGUMENTS", &words.join(" "));
        ssh.arg("--").arg(&self.name);
        ssh.arg(format!("exec sh -c '{script}'"));
        ssh.stdin(Stdio::piped()).stdout(Stdio::piped());
        ssh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

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

    /// The script itself, in a folder of its own: the program runs with what comes behind it, and is gone afterwards.
    #[test]
    fn the_program_travels_and_is_gone_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\necho \"$1\"; cat\n";
        for (sent, expected) in [(&program[..], "word\nmore"), (&program[..9], "")] {
            let script = SCRIPT
                .replace("SIZE", &program.len().to_string())
                .replace("ARGUMENTS", "word");
            let mut child = Command::new("sh")
                .args(["-c", &script])
                .env("TMPDIR", folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
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
