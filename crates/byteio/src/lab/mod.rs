//! A path of known speed on one machine: two network namespaces, joined by a virtual cable with a token bucket (LAN), or
//! by two tunnels with rate, delay, loss and queue between them (WAN).
//!
//! Namespaces have no names and end with the last process inside. The machine's own network gets no interface, no address
//! and no route.

mod detour;
mod model;
mod pump;
mod truth;

pub use detour::{Detour, DetourEnd};
pub use model::{Counts, Direction, Shape};
pub use truth::Truth;

use pump::Pumps;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use wirespeed_control::thread::spawn;

/// The near end's address.
pub const NEAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The far end's address.
pub const FAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// Largest socket buffers inside: the default of 4 MiB would be the limit of any long path.
const BUFFER_BYTES_MAX: u64 = 64 << 20;
const ETHERNET: &str = "eth0";
/// Add the lines `$1` to the hosts that are known, and be the command behind them. The file is in a file system of this command's
/// own, which ends with it; where that is refused it runs without the names. Servers read it that gave root's rights up.
const WITH_NAMES: &str = r#"
if mount -t tmpfs lab /tmp; then
    { cat /etc/hosts; printf '\n%s\n' "$1"; } > /tmp/hosts
    chmod 644 /tmp/hosts && mount -o bind /tmp/hosts /etc/hosts
    umount -l /tmp
fi 2>/dev/null
shift
exec "$@""#;

/// What joins the ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// A virtual cable, each end sending through a token bucket of so many bits a second.
    Lan {
        /// Bits a second; `None` for as fast as it goes.
        rate_bits_per_s: Option<u64>,
    },
    /// Two tunnels; the near end's direction first.
    Wan([Shape; 2]),
}

type Job = Box<dyn FnOnce() + Send>;

/// One end: a thread in a namespace of its own, which starts everything that is to run there.
struct End {
    jobs: Sender<Job>,
    thread_id: u32,
}

impl End {
    fn new() -> io::Result<End> {
        let (jobs, inbox) = channel::<Job>();
        let (tell, told) = channel();
        spawn("lab", move || {
            let entered = crate::sys::new_network_namespace();
            let id = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            // Nobody listens only if the lab is gone already.
            let _ = tell.send(entered.map(|()| id));
            while let Ok(job) = inbox.recv() {
                job();
            }
        })?;
        let thread_id = told.recv().map_err(io::Error::other)??;
        Ok(End { jobs, thread_id })
    }

    /// Do something inside.
    fn inside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        let (tell, told) = channel();
        let job: Job = Box::new(move || {
            // Nobody listens only if the lab is gone already.
            let _ = tell.send(work());
        });
        self.jobs
            .send(job)
            .map_err(|_| io::Error::other("the end is gone"))?;
        told.recv().map_err(io::Error::other)
    }

    /// Run a tool inside to its end.
    fn run(&self, line: &str) -> io::Result<()> {
        let line = line.to_owned();
        self.inside(move || run(&line))?
    }
}

/// Run a tool in this thread's namespace to its end.
fn run(line: &str) -> io::Result<()> {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    let output = command.args(words).stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("no reason given");
            Err(io::Error::other(format!("{line}: {last}")))
        }
    }
}

/// Two ends and what joins them.
pub struct Lab {
    near: End,
    far: End,
    pumps: Option<Pumps>,
    _tunnels: Vec<File>,
}

impl Lab {
    /// Set it up. Needs CAP_NET_ADMIN and CAP_SYS_ADMIN, and iproute2; a WAN also /dev/net/tun. `congestion`: the control
    /// of every connection inside.
    pub fn new(link: &Link, congestion: Option<&str>) -> io::Result<Lab> {
        let mut lab = Lab {
            near: End::new()?,
            far: End::new()?,
            pumps: None,
            _tunnels: Vec::new(),
        };
        match link {
            Link::Lan { rate_bits_per_s } => lab.cable(*rate_bits_per_s)?,
            Link::Wan(shapes) => lab.tunnels(*shapes)?,
        }
        for end in [&lab.near, &lab.far] {
            end.run("ip link set lo up")?;
            let buffers = format!("4096 131072 {BUFFER_BYTES_MAX}");
            end.inside(move || {
                // Where they cannot be raised the system's own hold; the result's facts show them.
                for name in ["tcp_rmem", "tcp_wmem"] {
                    let _ = std::fs::write(format!("/proc/sys/net/ipv4/{name}"), &buffers);
                }
            })?;
        }
        if let Some(name) = congestion {
            for (end, other) in [(&lab.near, FAR), (&lab.far, NEAR)] {
                end.run(&format!(
                    "ip route replace {other}/32 dev {ETHERNET} congctl lock {name}"
                ))?;
            }
        }
        Ok(lab)
    }

    fn cable(&self, rate_bits_per_s: Option<u64>) -> io::Result<()> {
        let far = self.far.thread_id;
        self.near.run(&format!(
            "ip link add {ETHERNET} type veth peer name {ETHERNET} netns {far}"
        ))?;
        for (end, address) in [(&self.near, NEAR), (&self.far, FAR)] {
            end.run(&format!("ip address add {address}/24 dev {ETHERNET}"))?;
            end.run(&format!("ip link set {ETHERNET} up"))?;
            if let Some(rate) = rate_bits_per_s {
                let burst = burst_bytes(rate);
                end.run(&format!(
                    "tc qdisc replace dev {ETHERNET} root tbf rate {rate}bit burst {burst}b latency 20ms"
                ))?;
            }
        }
        Ok(())
    }

    fn tunnels(&mut self, shapes: [Shape; 2]) -> io::Result<()> {
        // Loss must hit single packets; without it the kernel may leave them uncut, which is ten times cheaper.
        let offload = shapes.iter().all(|shape| shape.loss_ratio == 0.0);
        let mut files = Vec::new();
        for (end, address, other) in [(&self.near, NEAR, FAR), (&self.far, FAR, NEAR)] {
            files.push(end.inside(move || crate::sys::open_tun(ETHERNET, offload))??);
            end.run(&format!("ip address add {address} peer {other} dev {ETHERNET}"))?;
            end.run(&format!("ip link set {ETHERNET} txqueuelen 10000 up"))?;
        }
        self.pumps = Some(Pumps::start(&files[0], &files[1], shapes, offload)?);
        self._tunnels = files;
        Ok(())
    }

    /// A command for either end, which knows the two as `near` and `far`, where a file system of its own can be had: there is
    /// no name service inside, and some programs ask one for every address.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        // What cannot be started is to be said of itself, not of the shell around it.
        if !crate::peers::is_installed("unshare") || !crate::peers::is_installed(program.as_ref()) {
            return Command::new(program);
        }
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", WITH_NAMES, "sh"])
            .arg(format!("{NEAR} near\n{FAR} far"))
            .arg(program);
        command
    }

    /// Start a command at the near end.
    pub fn start_near(&self, command: Command) -> io::Result<Child> {
        start(&self.near, command)
    }

    /// Start a command at the far end.
    pub fn start_far(&self, command: Command) -> io::Result<Child> {
        start(&self.far, command)
    }

    /// The words that run a command at the far end, for whoever is inside: it lasts as long as the lab.
    pub fn far_words(&self) -> String {
        let (process, thread) = (std::process::id(), self.far.thread_id);
        format!("nsenter --net=/proc/{process}/task/{thread}/ns/net --")
    }

    /// Take it down; what became of the packets, near end's direction first, where there were tunnels.
    pub fn finish(mut self) -> Vec<Counts> {
        self.pumps.take().map_or(Vec::new(), Pumps::finish)
    }
}

/// What a token bucket may send at once: all that came due in 2 ms, the time by which its timer may be late; and at least
/// an uncut packet. A transfer is too fast by as much.
fn burst_bytes(rate_bits_per_s: u64) -> u64 {
    const UNCUT_BYTES: u64 = 80 << 10;
    UNCUT_BYTES.max(rate_bits_per_s / 8 / 500)
}

/// A child inherits the namespace of the thread that starts it.
fn start(end: &End, mut command: Command) -> io::Result<Child> {
    end.inside(move || command.spawn())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_an_uncut_packet_and_two_milliseconds() {
        assert_eq!(burst_bytes(1_000), 81_920);
        assert_eq!(burst_bytes(10_000_000_000), 2_500_000);
    }
}
