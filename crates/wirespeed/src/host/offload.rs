//! Whether an interface cuts and joins packets itself (TSO, GSO, GRO): it changes every TCP result. Only asks; it must
//! never change a setting.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// Requests of linux/ethtool.h that read one flag, none of which needs a privilege.
const REQUESTS: [(&str, u32); 3] = [("tso", 0x1e), ("gso", 0x23), ("gro", 0x2b)];

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct Value {
    request: u32,
    data: u32,
}

/// Name and state of each offload that the interface tells.
pub(super) fn offloads(interface: &str) -> Vec<(&'static str, bool)> {
    let Ok(socket) = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None) else {
        return Vec::new();
    };
    let states = REQUESTS
        .iter()
        .filter_map(|&(name, request)| Some((name, ask(&socket, interface, request)?)));
    states.collect()
}

fn ask(socket: &OwnedFd, interface: &str, request: u32) -> Option<bool> {
    let mut value = Value { request, data: 0 };
    let mut name = [0 as libc::c_char; libc::IFNAMSIZ];
    // The closing zero needs a place.
    if interface.len() >= name.len() {
        return None;
    }
    for (place, byte) in name.iter_mut().zip(interface.bytes()) {
        *place = byte as libc::c_char;
    }
    let mut call = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru {
            ifru_data: (&raw mut value).cast(),
        },
    };
    // SAFETY: SIOCETHTOOL takes a pointer to an `ifreq` whose `ifru_data` points to the structure that belongs to the
    // request; for these three it is `ethtool_value` (8 bytes). Both live on this stack frame for the whole call, the
    // name ends with a zero, and the kernel writes within `value` only.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut call) };
    (status == 0).then_some(value.data != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_overlong_interfaces_tell_nothing() {
        assert_eq!(offloads("none-such"), []);
        assert_eq!(offloads(""), []);
        assert_eq!(offloads("a-name-of-more-than-sixteen-bytes"), []);
    }
}
