//! Two machines in one: two network namespaces joined by a virtual cable, for tests that must not touch the host's own
//! network.
//!
//! The namespaces have no names and live as long as their holder processes; the kernel ends those when the test's
//! thread goes, even by SIGKILL. The host's own namespace never gets an interface, an address or a route.

use crate::deadline::{SOON, reached};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Longest life of a holder, should everything else fail.
const LIFE_SECONDS: &str = "3600";

/// One end of the cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first machine.
    A,
    /// The second machine.
    B,
}

/// A process that keeps a network namespace alive.
pub(crate) struct Holder(Child);

impl Holder {
    pub(crate) fn start() -> io::Result<Holder> {
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "unshare", "--net", "sleep", LIFE_SECONDS])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let holder = Holder(child);
        let ours = std::fs::metadata("/proc/self/ns/net")?.ino();
        let has_own = || std::fs::metadata(holder.namespace()).map_or(ours, |m| m.ino()) != ours;
        match reached(SOON, has_own) {
            true => Ok(holder),
            false => Err(io::Error::other("no namespace of its own")),
        }
    }

    pub(crate) fn namespace(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns/net", self.0.id()))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// A program that runs in there, with everything else of the host unchanged.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.namespace().display()));
        command.arg("--").arg(program);
        command
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        if let Ok(ours) = std::fs::metadata(self.namespace()) {
            end_all_in(ours.ino(), self.0.id());
        }
        // It may be gone already; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two namespaces and the cable between them; all of it goes when this is dropped, with every process inside.
pub struct Lab {
    a: Holder,
    b: Holder,
}

impl Lab {
    /// Set both machines up; an error is the reason for which a test is to be skipped.
    pub fn new() -> Result<Lab, String> {
        let lab = Lab {
            a: namespace()?,
            b: namespace()?,
        };
        lab.connect()
            .map_err(|e| format!("cannot join two network namespaces: {e}"))?;
        Ok(lab)
    }

    /// A program that runs on one side, with everything else of the host unchanged.
    pub fn command(&self, side: Side, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.holder(side).command(program)
    }

    /// The IPv4 address of a side.
    pub fn ipv4(&self, side: Side) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, number(side)))
    }

    /// The IPv6 address of a side.
    pub fn ipv6(&self, side: Side) -> IpAddr {
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, number(side).into()))
    }

    /// Let `side` send no faster than `rate`, in tc's words: `100mbit`.
    pub fn limit_rate(&self, side: Side, rate: &str) -> io::Result<()> {
        let shape = [
            "qdisc", "replace", "dev", "eth0", "root", "tbf", "burst", "32kbit", "latency", "50ms", "rate",
        ];
        succeed(self.command(side, "tc").args(shape).arg(rate))
    }

    /// Pull the plug: nothing passes any more, and nobody is told.
    pub fn cut(&self) -> io::Result<()> {
        // Each side sends to a hardware address that nobody has; sends succeed, as they would into a dead cable.
        for (from, to) in [(Side::A, Side::B), (Side::B, Side::A)] {
            for address in [self.ipv4(to), self.ipv6(to)] {
                let mut ip = self.command(from, "ip");
                ip.args(["neighbour", "replace", &address.to_string(), "dev", "eth0"]);
                succeed(ip.args(["lladdr", "02:00:00:00:00:99", "nud", "permanent"]))?;
            }
        }
        Ok(())
    }

    fn holder(&self, side: Side) -> &Holder {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    fn connect(&self) -> io::Result<()> {
        let other = self.b.0.id().to_string();
        succeed(
            self.command(Side::A, "ip")
                .args(["link", "add", "eth0", "type", "veth", "peer"])
                .args(["name", "eth0", "netns", &other]),
        )?;
        for side in [Side::A, Side::B] {
            let ip = |arguments: &[&str]| succeed(self.command(side, "ip").args(arguments));
            ip(&["link", "set", "lo", "up"])?;
            ip(&[
                "address",
                "add",
                &format!("{}/24", self.ipv4(side)),
                "dev",
                "eth0",
            ])?;
            // Without the wait for other machines that might have the address: there are none.
            ip(&[
                "-6",
                "address",
                "add",
                &format!("{}/64", self.ipv6(side)),
                "dev",
                "eth0",
                "nodad",
            ])?;
            ip(&["link", "set", "eth0", "up"])?;
        }
        Ok(())
    }
}

/// A network namespace; an error is the reason for which a test is to be skipped.
pub(crate) fn namespace() -> Result<Holder, String> {
    // The owner of our own entry in /proc is our effective user.
    let root = std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
    if !root {
        return Err("network namespaces need root".to_owned());
    }
    Holder::start().map_err(|e| format!("cannot make a network namespace: {e}"))
}

fn number(side: Side) -> u8 {
    match side {
        Side::A => 1,
        Side::B => 2,
    }
}

/// Run a tool to its end; an error says what it said.
pub fn succeed(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(
        said.lines().last().unwrap_or("no reason given").to_owned(),
    ))
}

/// End every process in the namespace with this inode, except its holder. It is ours alone, so they are ours too.
fn end_all_in(namespace: u64, holder: u32) {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let inside = |path: &Path| std::fs::metadata(path).is_ok_and(|m| m.ino() == namespace);
        if name.parse::<u32>().is_ok_and(|pid| pid != holder) && inside(&entry.path().join("ns/net")) {
            // It may have ended meanwhile.
            let _ = Command::new("kill")
                .args(["-KILL", &name])
                .stderr(Stdio::null())
                .status();
        }
    }
}
