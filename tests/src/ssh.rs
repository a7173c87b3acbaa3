//! Hosts that are reached by ssh: a real sshd for each, on loopback or on the machines of a bridge, in namespaces of its own
//! (processes, mounts, shared memory, host name), with keys made for the test. All of it ends with the test, and nothing of the real user's ssh is
//! read or written.

use crate::bridge::Bridge;
use crate::deadline::{SOON, reached};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// sshd wants its whole path.
const SSHD: &str = "/usr/sbin/sshd";
/// Variables of the test that its processes on the hosts keep, so that those that stay behind can be found.
const KEPT: &str = "WIRESPEED_TEST_MARK";

struct Host {
    name: String,
    daemon: Child,
}

/// Where a daemon listens.
struct Door<'a> {
    address: IpAddr,
    port: u16,
    /// The machine that it runs on.
    on: Option<(&'a Bridge, usize)>,
    /// Hours since its start beyond those of this machine: its clocks differ by as much.
    hours: u32,
}

/// Hosts with the names of the test's choice; all of it goes when this is dropped.
pub struct SshHosts {
    folder: TempDir,
    hosts: Vec<Host>,
}

impl SshHosts {
    /// Start one daemon a name; an error is the reason for which a test is to be skipped.
    pub fn start(names: &[&str]) -> Result<SshHosts, String> {
        let door = |name: &&str| {
            let door = Door {
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                port: crate::ports::free(1),
                on: None,
                hours: 0,
            };
            ((*name).to_owned(), door)
        };
        Self::start_at(names.iter().map(door).collect())
    }

    /// Start one daemon on each machine of `bridge`, which its own desk reaches by name; an error as above.
    pub fn on(bridge: &Bridge) -> Result<SshHosts, String> {
        Self::with_hours(bridge, |_| 0)
    }

    /// The same, on machines that seem to have been up for that many hours more than this one; an error as above.
    pub fn with_hours(bridge: &Bridge, hours: impl Fn(usize) -> u32) -> Result<SshHosts, String> {
        let door = |number| {
            let door = Door {
                address: bridge.address(number),
                port: 22,
                on: Some((bridge, number)),
                hours: hours(number),
            };
            (bridge.name(number), door)
        };
        Self::start_at((0..bridge.count()).map(door).collect())
    }

    fn start_at(doors: Vec<(String, Door)>) -> Result<SshHosts, String> {
        let root = std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
        if !root {
            return Err("namespaces for an sshd need root".to_owned());
        }
        if !Path::new(SSHD).exists() {
            return Err("openssh-server is not installed".to_owned());
        }
        let folder = tempfile::tempdir().map_err(|e| format!("no folder for sshd: {e}"))?;
        let mut hosts = SshHosts {
            folder,
            hosts: Vec::new(),
        };
        hosts.key("client")?;
        let public = hosts.text("client.pub")?;
        hosts.write("authorized", &public)?;
        let (mut config, mut known) = (String::new(), String::new());
        for (name, door) in &doors {
            hosts.start_one(name, door)?;
            let key = hosts.text(&format!("{name}.pub"))?;
            let Door { address, port, .. } = door;
            known += &match port {
                22 => format!("{address} {key}"),
                _ => format!("[{address}]:{port} {key}"),
            };
            config += &format!("Host {name}\n  HostName {address}\n  Port {port}\n");
        }
        for (name, _) in &doors {
            hosts.wait_for(name)?;
        }
        hosts.write("known_hosts", &known)?;
        let folder = hosts.folder.path().display().to_string();
        config += &format!(
            "Host *\n  User root\n  IdentityFile {folder}/client\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n  \
             StrictHostKeyChecking no\n  SendEnv {KEPT}\n  LogLevel ERROR\n"
        );
        hosts.write("config", &config)?;
        Ok(hosts)
    }

    fn start_one(&mut self, name: &str, door: &Door) -> Result<(), String> {
        self.key(name)?;
        let folder = self.folder.path().display().to_string();
        std::fs::create_dir(self.temporary(name)).map_err(|e| e.to_string())?;
        let Door {
            address,
            port,
            on,
            hours,
        } = door;
        let text = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {folder}/{name}\nAuthorizedKeysFile {folder}/authorized\n\
             StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n\
             AcceptEnv {KEPT}\nSetEnv TMPDIR={}\n",
            self.temporary(name).display()
        );
        let file = self.write(&format!("{name}.sshd"), &text)?;
        let log = std::fs::File::create(self.folder.path().join(format!("{name}.log")));
        let log = log.map_err(|e| e.to_string())?;
        let mut command = match on {
            Some((bridge, number)) => bridge.command(*number, "setpriv"),
            None => Command::new("setpriv"),
        };
        command.args([
            "--pdeathsig",
            "KILL",
            "unshare",
            "--mount",
            "--uts",
            "--ipc",
            "--pid",
        ]);
        if *hours > 0 {
            let seconds = (hours * 3600).to_string();
            command.args(["--time", "--monotonic", &seconds, "--boottime", &seconds]);
        }
        command.args(["--fork", "--kill-child=KILL", "--mount-proc", "bash", "-c"]);
        command.arg(
            r#"hostname "$0"; mount -t tmpfs tmpfs /run; mkdir /run/sshd; mount -t tmpfs tmpfs /dev/shm; exec "$1" -D -e -f "$2""#,
        );
        command.args([name, SSHD]).arg(file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let daemon = command.spawn().map_err(|e| format!("cannot start sshd: {e}"))?;
        self.hosts.push(Host {
            name: name.to_owned(),
            daemon,
        });
        Ok(())
    }

    /// Until its daemon says that it listens.
    fn wait_for(&self, name: &str) -> Result<(), String> {
        let said = || self.text(&format!("{name}.log")).unwrap_or_default();
        match reached(SOON, || said().contains("Server listening")) {
            true => Ok(()),
            false => Err(format!(
                "sshd does not listen: {}",
                said().trim().replace('\n', " / ")
            )),
        }
    }

    /// ssh's configuration that leads to them, for `ssh -F`. It asks for no check of host keys, as careless users do.
    pub fn config(&self) -> String {
        self.folder.path().join("config").display().to_string()
    }

    /// Where programs put temporary files on a host.
    pub fn temporary(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}-tmp"))
    }

    /// A program among the processes and files of a host.
    ///
    /// # Panics
    /// Where there is no such host.
    pub fn command(&self, name: &str, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let namespaces = self.namespaces(name);
        let mut command = Command::new("nsenter");
        for (kind, file) in [("mount", "mnt"), ("pid", "pid_for_children")] {
            command.arg(format!("--{kind}={}", namespaces.join(file).display()));
        }
        command.arg("--").arg(program);
        command
    }

    /// The daemon of a host; whatever is done to it holds for all that ssh starts there.
    ///
    /// # Panics
    /// Where there is no such host.
    pub fn daemon(&self, name: &str) -> u32 {
        let host = self.hosts.iter().find(|host| host.name == name);
        host.expect("a host of this test").daemon.id()
    }

    /// Every process of a host beside its daemons: its number here, and its command line.
    ///
    /// # Panics
    /// Where there is no such host, or it is gone.
    pub fn processes(&self, name: &str) -> Vec<(u32, String)> {
        let own = std::fs::read_link(self.namespaces(name).join("pid_for_children"));
        let own = own.expect("a host that is up");
        let pids = std::fs::read_dir("/proc").expect("a proc").flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let inside = pids.filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/ns/pid")).is_ok_and(|namespace| namespace == own)
        });
        let described = inside.filter_map(|pid| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            Some((pid, String::from_utf8_lossy(&words).replace('\0', " ")))
        });
        // One of the daemons that is just ending has no words any more.
        let is_daemon = |words: &str| words.is_empty() || words.contains("sshd");
        described.filter(|(_, words)| !is_daemon(words)).collect()
    }

    fn namespaces(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns", self.daemon(name)))
    }

    /// Let a host report another kind of processor.
    ///
    /// # Panics
    /// Where there is no such host, or nothing can be mounted there.
    pub fn pretend_other_processor(&self, name: &str) {
        let script = "printf '#!/bin/sh\\necho riscv64\\n' > /run/uname && chmod 755 /run/uname && \
                      mount --bind /run/uname \"$(command -v uname)\"";
        let status = self.command(name, "sh").args(["-c", script]).status();
        assert!(status.is_ok_and(|status| status.success()), "uname of {name}");
    }

    /// A second name for a host.
    ///
    /// # Panics
    /// Where the configuration cannot be read or written.
    pub fn alias(&self, name: &str, address: IpAddr) {
        let config = self.text("config").expect("the folder is ours");
        let config = format!("Host {name}\n  HostName {address}\n{config}");
        self.write("config", &config).expect("the folder is ours");
    }

    /// Forget the hosts' keys: to ssh they are strangers.
    ///
    /// # Panics
    /// Where the file cannot be written.
    pub fn forget(&self) {
        self.write("known_hosts", "").expect("the folder is ours");
    }

    /// Forget the key of this host alone.
    ///
    /// # Panics
    /// Where the file cannot be read or written.
    pub fn forget_one(&self, name: &str) {
        let key = self.text(&format!("{name}.pub")).expect("a host of this test");
        let known = self.text("known_hosts").expect("the folder is ours");
        let others = known.lines().filter(|line| !line.contains(key.trim()));
        let others: String = others.map(|line| format!("{line}\n")).collect();
        self.write("known_hosts", &others).expect("the folder is ours");
    }

    /// Pull a host's plug: its daemon and all its processes are gone at once.
    ///
    /// # Panics
    /// Where there is no such host.
    pub fn crash(&mut self, name: &str) {
        let host = self.hosts.iter_mut().find(|host| host.name == name);
        end(&mut host.expect("a host of this test").daemon);
    }

    fn key(&self, name: &str) -> Result<(), String> {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]);
        keygen.arg(self.folder.path().join(name)).stdin(Stdio::null());
        match keygen.status() {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("ssh-keygen: {other:?}")),
        }
    }

    fn text(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.folder.path().join(name)).map_err(|e| e.to_string())
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).map_err(|e| e.to_string())?;
        Ok(path)
    }
}

fn end(child: &mut Child) {
    // It may have ended; then both fail, and nothing is lost. Its namespace of processes goes with it.
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for SshHosts {
    fn drop(&mut self) {
        for host in &mut self.hosts {
            end(&mut host.daemon);
        }
    }
}
