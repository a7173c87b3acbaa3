//! A wire of its own between two network namespaces that are connected otherwise: what they send to each other takes it, with its
//! rate, delay and loss, and all other traffic goes as before. It ends when dropped.

use super::pump::Pumps;
use super::{Shape, run};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use wirespeed_control::thread::spawn;

/// A namespace and its address that the other one sends to.
#[derive(Debug, Clone)]
pub struct DetourEnd {
    /// The file that is the namespace, such as `/proc/7/ns/net`.
    pub namespace: PathBuf,
    /// Its address.
    pub address: Ipv4Addr,
}

/// The wire.
pub struct Detour {
    pumps: Option<Pumps>,
}

impl Detour {
    /// Between two ends; `shapes`: what the first sends, and what the second does. Needs root, iproute2 and /dev/net/tun.
    pub fn between(ends: [&DetourEnd; 2], shapes: [Shape; 2]) -> io::Result<Detour> {
        let (from, to) = (tunnel(ends[0], ends[1])?, tunnel(ends[1], ends[0])?);
        let pumps = Pumps::start(&from, &to, shapes, false)?;
        Ok(Detour { pumps: Some(pumps) })
    }
}

impl Drop for Detour {
    fn drop(&mut self) {
        if let Some(pumps) = self.pumps.take() {
            pumps.finish();
        }
    }
}

/// The way from `own` to `other`, as a tunnel that somebody pumps. Its interface ends with the file.
fn tunnel(own: &DetourEnd, other: &DetourEnd) -> io::Result<File> {
    let (own, other) = (own.clone(), other.address);
    let name = format!("to{}", u32::from(other));
    let inside = move || {
        let namespace = File::open(&own.namespace)?;
        rustix::thread::move_into_link_name_space(
            namespace.as_fd(),
            Some(rustix::thread::LinkNameSpaceType::Network),
        )?;
        let file = crate::sys::open_tun(&name, false)?;
        run(&format!("ip link set {name} txqueuelen 10000 up"))?;
        run(&format!(
            "ip route replace {other}/32 dev {name} src {}",
            own.address
        ))?;
        Ok(file)
    };
    // The namespace is the thread's, and ends with it.
    let joined = spawn("detour", inside)?.join();
    joined.unwrap_or_else(|_| Err(io::Error::other("its thread failed")))
}
