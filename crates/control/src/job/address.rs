//! Addresses of this machine that other nodes may reach, as the kernel lists them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses beyond loopback first, IPv4 before IPv6; loopback last, for nodes that are one machine in truth.
pub(super) fn of_this_machine() -> Vec<IpAddr> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let v4 = ipv4_addresses(&read("/proc/net/fib_trie"))
        .into_iter()
        .map(IpAddr::V4);
    let v6 = ipv6_addresses(&read("/proc/net/if_inet6"))
        .into_iter()
        .map(IpAddr::V6);
    v4.chain(v6).chain([IpAddr::V4(Ipv4Addr::LOCALHOST)]).collect()
}

/// `|-- 10.0.0.5` followed by `/32 host LOCAL`.
fn ipv4_addresses(trie: &str) -> Vec<Ipv4Addr> {
    let mut found: Vec<Ipv4Addr> = Vec::new();
    let mut leaf = None;
    for line in trie.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse::<Ipv4Addr>().ok();
        } else if line == "/32 host LOCAL"
            && let Some(address) = leaf.take()
            && !address.is_loopback()
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

/// Address in hex, index, prefix length, scope (00: global), flags, name.
fn ipv6_addresses(table: &str) -> Vec<Ipv6Addr> {
    let global = table.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (address, scope) = (words.next()?, words.nth(2)?);
        let bits = u128::from_str_radix(address, 16).ok()?;
        (scope == "00").then_some(Ipv6Addr::from(bits))
    });
    global.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_tables_are_read() {
        let trie = "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.79.0.2\n        /32 host LOCAL\n     \
                    |-- 10.79.0.255\n        /32 link BROADCAST\n     |-- 127.0.0.1\n        /32 host LOCAL\n     \
                    |-- 10.79.0.2\n        /32 host LOCAL\n";
        assert_eq!(ipv4_addresses(trie), [Ipv4Addr::new(10, 79, 0, 2)]);
        let table = "00000000000000000000000000000001 01 80 10 80       lo\n\
                     fd000000000000000000000000000007 02 40 00 80     eth0\n\
                     fe800000000000000000000000000007 02 40 20 80     eth0\n";
        assert_eq!(ipv6_addresses(table), ["fd00::7".parse::<Ipv6Addr>().unwrap()]);
    }

    #[test]
    fn loopback_comes_last() {
        assert_eq!(of_this_machine().last(), Some(&IpAddr::V4(Ipv4Addr::LOCALHOST)));
    }
}
