//! The lab itself: two machines that reach each other, and a host that keeps nothing of them.

use std::process::{Command, Stdio};
use wirespeed_tests::lab::{Lab, Side};
use wirespeed_tests::skip;

/// Interfaces of the host's own namespace.
fn interfaces() -> String {
    std::fs::read_to_string("/proc/net/dev")
        .unwrap()
        .lines()
        .filter_map(|l| l.split_once(':').map(|(name, _)| format!("{} ", name.trim())))
        .collect()
}

/// Whether an answer comes within `patience_s`, to a question a second: the kernel tells its neighbours of a new link when it
/// has the time.
fn reaches(lab: &Lab, from: Side, address: std::net::IpAddr, patience_s: u32) -> bool {
    let mut ping = lab.command(from, "ping");
    ping.args(["-c", "1", "-w", &patience_s.to_string(), &address.to_string()])
        .stdout(Stdio::null());
    ping.status().unwrap().success()
}

#[test]
fn two_machines_reach_each_other_and_leave_nothing() {
    let before = interfaces();
    let lab = match Lab::new() {
        Ok(lab) => lab,
        Err(reason) => return skip(&reason),
    };
    if Command::new("ping")
        .arg("-V")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        return skip("ping is not installed");
    }
    for address in [lab.ipv4(Side::B), lab.ipv6(Side::B)] {
        assert!(reaches(&lab, Side::A, address, 30), "{address}");
    }
    assert!(reaches(&lab, Side::B, lab.ipv4(Side::A), 30));
    assert_eq!(interfaces(), before, "the host has no interface of ours");
    let mut inside = lab.command(Side::A, "sleep").arg("600").spawn().unwrap();
    // On a busy machine it takes a moment to get there.
    let net = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).unwrap();
    while net(&inside.id().to_string()) == net("self") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(lab);
    assert!(
        !inside.wait().unwrap().success(),
        "processes inside end with the lab"
    );
}

#[test]
fn a_cut_cable_passes_nothing() {
    let lab = match Lab::new() {
        Ok(lab) => lab,
        Err(reason) => return skip(&reason),
    };
    if Command::new("ping")
        .arg("-V")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        return skip("ping is not installed");
    }
    assert!(reaches(&lab, Side::A, lab.ipv4(Side::B), 30));
    lab.cut().unwrap();
    assert!(!reaches(&lab, Side::A, lab.ipv4(Side::B), 2));
}
