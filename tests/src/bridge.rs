//! Many machines in one: a network namespace for each, on a bridge in a namespace of its own, which is where the test
//! itself goes. The host's own namespace never gets an interface, an address or a route.

use crate::lab::{Holder, namespace, succeed};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd as _;
use std::process::Command;

/// The test's own address.
const DESK: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 254);
/// Most machines.
const HOSTS_MAX: usize = 200;

/// Machines h0, h1, .., and the desk; all of it goes when this is dropped, with every process inside.
pub struct Bridge {
    /// Before the desk, whose bridge they are on.
    hosts: Vec<Holder>,
    desk: Holder,
}

impl Bridge {
    /// Set up `count` machines; an error is the reason for which a test is to be skipped.
    ///
    /// # Panics
    /// Where there are more than addresses.
    pub fn new(count: usize) -> Result<Bridge, String> {
        assert!(count <= HOSTS_MAX, "{count} machines");
        let hosts: Result<Vec<Holder>, String> = (0..count).map(|_| namespace()).collect();
        let bridge = Bridge {
            hosts: hosts?,
            desk: namespace()?,
        };
        bridge
            .connect()
            .map_err(|e| format!("cannot join network namespaces by a bridge: {e}"))?;
        Ok(bridge)
    }

    /// Machines beside the desk.
    pub fn count(&self) -> usize {
        self.hosts.len()
    }

    /// The name of a machine: h0, h1, ..
    pub fn name(&self, host: usize) -> String {
        format!("h{host}")
    }

    /// The address of a machine.
    pub fn address(&self, host: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1 + host as u8))
    }

    /// The address of the desk.
    pub fn desk_address(&self) -> IpAddr {
        IpAddr::V4(DESK)
    }

    /// A program that runs on the desk, from where every machine is reached.
    pub fn at_desk(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.desk.command(program)
    }

    /// A program that runs on a machine.
    pub fn command(&self, host: usize, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.hosts[host].command(program)
    }

    /// Take the calling thread to the desk, with every thread and process that it starts from here on.
    pub fn enter(&self) -> io::Result<()> {
        let desk = File::open(self.desk.namespace())?;
        rustix::thread::move_into_link_name_space(
            desk.as_fd(),
            Some(rustix::thread::LinkNameSpaceType::Network),
        )?;
        Ok(())
    }

    /// Let a machine send and receive no faster than `rate`, in tc's words: `100mbit`.
    pub fn limit_rate(&self, host: usize, rate: &str) -> io::Result<()> {
        for (holder, device) in [
            (&self.hosts[host], "eth0".to_owned()),
            (&self.desk, self.name(host)),
        ] {
            let mut tc = holder.command("tc");
            tc.args(["qdisc", "replace", "dev", &device, "root", "tbf"]);
            tc.args(["burst", "32kbit", "latency", "50ms", "rate", rate]);
            succeed(&mut tc)?;
        }
        Ok(())
    }

    /// Pull a machine's plug: nothing passes any more, and nobody is told.
    pub fn cut(&self, host: usize) -> io::Result<()> {
        // Its link stays up; the far end of it leads nowhere.
        succeed(
            self.desk
                .command("ip")
                .args(["link", "set", &self.name(host), "nomaster"]),
        )
    }

    fn connect(&self) -> io::Result<()> {
        let desk = |arguments: &[&str]| succeed(self.desk.command("ip").args(arguments));
        desk(&["link", "set", "lo", "up"])?;
        desk(&["link", "add", "br0", "type", "bridge", "forward_delay", "0"])?;
        desk(&["address", "add", &format!("{DESK}/24"), "dev", "br0"])?;
        desk(&["link", "set", "br0", "up"])?;
        for (number, host) in self.hosts.iter().enumerate() {
            let (name, other) = (self.name(number), host.id().to_string());
            desk(&[
                "link", "add", &name, "type", "veth", "peer", "name", "eth0", "netns", &other,
            ])?;
            desk(&["link", "set", &name, "master", "br0", "up"])?;
            let ip = |arguments: &[&str]| succeed(host.command("ip").args(arguments));
            let address = format!("{}/24", self.address(number));
            ip(&["link", "set", "lo", "up"])?;
            ip(&["address", "add", &address, "dev", "eth0"])?;
            ip(&["link", "set", "eth0", "up"])?;
        }
        Ok(())
    }
}
