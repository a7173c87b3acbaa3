//! A program that a launcher has started on its host, and whose only way back are its standard input and output: the
//! greeting, the pipes, and where it is. There is nothing to connect to, so there is nobody to keep out.

use super::mux::Mux;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Write as _};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// Whether somebody typed the hidden verb: what a launcher carries is no terminal.
pub fn is_typed() -> bool {
    io::stdin().is_terminal()
}

/// The pipes to whoever started this program, after `greeting`, a line before which everything is noise of somebody's
/// shell.
pub fn pipes(greeting: &str) -> io::Result<Mux> {
    let reader = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut writer = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // Behind a line's end, should a shell have left one unfinished.
    writer.write_all(format!("\n{greeting}\n").as_bytes())?;
    Mux::over(BufReader::new(reader), writer)
}

/// Remove this program's file: a copy that was sent ahead is of no use to anybody else. It can still start itself, as
/// `/proc/self/exe`.
pub fn remove_own_copy() {
    if let Ok(own) = std::env::current_exe() {
        // Whoever started it removes it otherwise.
        let _ = std::fs::remove_file(own);
    }
}

/// How this host and the launcher's find each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// This host's address on the way to the launcher's.
    pub address: Option<IpAddr>,
    /// The launcher's address as this host knows it.
    pub client_address: Option<IpAddr>,
}

impl Whereabouts {
    /// As ssh or Slurm tell a program that they have started.
    pub fn find() -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        Self::of(&variable("SSH_CONNECTION"), &variable("SLURM_LAUNCH_NODE_IPADDR"))
    }

    fn of(ssh: &str, slurm: &str) -> Self {
        let mut ssh = ssh.split(' ').filter_map(|word| word.parse::<IpAddr>().ok());
        let client_address = ssh.next().or(slurm.parse().ok());
        let toward = client_address.map(|ip| SocketAddr::new(ip, 9));
        Whereabouts {
            address: ssh.next().or(toward.and_then(local_address)),
            client_address,
        }
    }
}

/// The address of this host from which `far` is reached; nothing is sent.
pub fn local_address(far: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr = if far.is_ipv4() {
        ([0; 4], 0).into()
    } else {
        ([0u16; 8], 0).into()
    };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(far).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// The machine that this process runs on: the same for every process that shares its memory, files and network. Programs
/// in namespaces of their own are on machines of their own.
pub fn machine() -> String {
    let mut id = wirespeed::host::boot_id().unwrap_or_default();
    for namespace in ["ipc", "mnt", "net", "pid"] {
        let inode = std::fs::read_link(format!("/proc/self/ns/{namespace}"));
        id += &inode.map_or(String::new(), |inode| format!(" {}", inode.display()));
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_ssh_or_slurm() {
        let ip = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        let both = |address, client_address| Whereabouts {
            address,
            client_address,
        };
        let by_ssh = Whereabouts::of("10.0.0.9 50000 10.0.0.1 22", "");
        assert_eq!(by_ssh, both(ip("10.0.0.1"), ip("10.0.0.9")));
        let by_slurm = Whereabouts::of("", "127.0.0.1");
        assert_eq!(by_slurm, both(ip("127.0.0.1"), ip("127.0.0.1")));
        assert_eq!(Whereabouts::of("UNKNOWN 65535", "x"), Whereabouts::default());
    }
}
