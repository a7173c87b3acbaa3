//! Many machines in one: a network namespace for each, on a bridge in a namespace of its own, which is where the test
//! itself goes. The host's own namespace never gets an interface, an address or a route.

use crate::lab::{Holder, namespace, succeed};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd as _;
use std::process::Command;
use wirespeed_byteio::lab::{Detour, DetourEnd, Shape};

/// The test's own place in each network.
const DESK: u8 = 254;
/// Most machines.
const HOSTS_MAX: usize = 200;
/// Most networks.
const NETWORKS_MAX: usize = 8;

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
        Bridge::with_networks(count, 1)
    }

    /// The same with several networks, each of which has every machine; an error as above.
    ///
    /// # Panics
    /// Where there are more than addresses.
    pub fn with_networks(count: usize, networks: usize) -> Result<Bridge, String> {
        assert!(count <= HOSTS_MAX && networks <= NETWORKS_MAX, "{count} machines");
        let hosts: Result<Vec<Holder>, String> = (0..count).map(|_| namespace()).collect();
        let bridge = Bridge {
            hosts: hosts?,
            desk: namespace()?,
        };
        (0..networks)
            .try_for_each(|network| bridge.connect(network))
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

    /// The address of a machine, in the first network.
    pub fn address(&self, host: usize) -> IpAddr {
        self.address_in(0, host)
    }

    /// The address of a machine in a network.
    pub fn address_in(&self, network: usize, host: usize) -> IpAddr {
        address(network, 1 + host as u8)
    }

    /// The address of the desk, in the first network.
    pub fn desk_address(&self) -> IpAddr {
        address(0, DESK)
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

    /// Let a machine send and receive no faster than `rate`, in tc's words: `100mbit`; in the first network.
    pub fn limit_rate(&self, host: usize, rate: &str) -> io::Result<()> {
        self.limit_rate_in(0, host, rate)
    }

    /// The same in a network.
    pub fn limit_rate_in(&self, network: usize, host: usize, rate: &str) -> io::Result<()> {
        for (holder, device) in [
            (&self.hosts[host], format!("eth{network}")),
            (&self.desk, port(network, host)),
        ] {
            let mut tc = holder.command("tc");
            tc.args(["qdisc", "replace", "dev", &device, "root", "tbf"]);
            tc.args(["burst", "32kbit", "latency", "50ms", "rate", rate]);
            succeed(&mut tc)?;
        }
        Ok(())
    }

    /// Let a machine send no faster than `rate` to one other, in tc's words; to all others as fast as before.
    pub fn limit_link(&self, from: usize, to: usize, rate: &str) -> io::Result<()> {
        let tc = |words: &str| succeed(self.command(from, "tc").args(words.split_whitespace()));
        let to = self.address(to);
        tc("qdisc replace dev eth0 root handle 1: htb default 1")?;
        tc("class add dev eth0 parent 1: classid 1:1 htb rate 10gbit quantum 60000")?;
        tc(&format!(
            "class add dev eth0 parent 1: classid 1:2 htb rate {rate} burst 32kbit quantum 60000"
        ))?;
        tc(&format!(
            "filter add dev eth0 parent 1: protocol ip u32 match ip dst {to}/32 flowid 1:2"
        ))
    }

    /// Let two machines reach each other by a wire of its own, such as a long or a lossy one, until that is dropped.
    pub fn detour(&self, a: usize, b: usize, shape: Shape) -> io::Result<Detour> {
        let end = |host: usize| DetourEnd {
            namespace: self.hosts[host].namespace(),
            address: Ipv4Addr::new(10, 77, 0, 1 + host as u8),
        };
        Detour::between([&end(a), &end(b)], [shape; 2])
    }

    /// Let nothing pass between two machines, as a firewall does that drops: nobody is told, and the others hear both.
    pub fn part(&self, a: usize, b: usize) -> io::Result<()> {
        for (from, to) in [(a, b), (b, a)] {
            // They send to a hardware address that nobody has.
            let mut ip = self.command(from, "ip");
            ip.args([
                "neighbour",
                "replace",
                &self.address(to).to_string(),
                "dev",
                "eth0",
            ]);
            succeed(ip.args(["lladdr", "02:00:00:00:00:99", "nud", "permanent"]))?;
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

    fn connect(&self, network: usize) -> io::Result<()> {
        let bridge = format!("br{network}");
        let desk = |arguments: &[&str]| succeed(self.desk.command("ip").args(arguments));
        desk(&["link", "set", "lo", "up"])?;
        desk(&["link", "add", &bridge, "type", "bridge", "forward_delay", "0"])?;
        let address = format!("{}/24", address(network, DESK));
        desk(&["address", "add", &address, "dev", &bridge])?;
        desk(&["link", "set", &bridge, "up"])?;
        for (number, host) in self.hosts.iter().enumerate() {
            let (name, own, other) = (
                port(network, number),
                format!("eth{network}"),
                host.id().to_string(),
            );
            desk(&[
                "link", "add", &name, "type", "veth", "peer", "name", &own, "netns", &other,
            ])?;
            desk(&["link", "set", &name, "master", &bridge, "up"])?;
            let ip = |arguments: &[&str]| succeed(host.command("ip").args(arguments));
            let address = format!("{}/24", self.address_in(network, number));
            ip(&["link", "set", "lo", "up"])?;
            ip(&["address", "add", &address, "dev", &own])?;
            ip(&["link", "set", &own, "up"])?;
        }
        Ok(())
    }
}

/// The desk's end of a machine's cable.
fn port(network: usize, host: usize) -> String {
    match network {
        0 => format!("h{host}"),
        _ => format!("h{host}n{network}"),
    }
}

fn address(network: usize, place: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 77 + network as u8, 0, place))
}
