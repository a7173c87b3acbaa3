//! Hosts whose devices have different names: a host file gives each its own.

use super::{assert_nothing_left, machines, section, start_on};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::lab::succeed;
use wirespeed_tests::skip;
use wirespeed_tests::ucx::installed;

/// As devices are called where there are RDMA devices of several kinds; UCX takes interfaces of the kernel by the same option.
const OTHER_NAME: &str = "net7";

#[test]
fn a_host_has_options_of_its_own() {
    if installed().iter().all(|library| library.place.is_some()) {
        return skip("UCX of the distribution is not installed");
    }
    let Some((hosts, bridge)) = machines(3) else {
        return;
    };
    for words in [
        "link set eth0 down".to_owned(),
        format!("link set eth0 name {OTHER_NAME}"),
        format!("link set {OTHER_NAME} up"),
    ] {
        succeed(bridge.command(2, "ip").args(words.split(' '))).unwrap();
    }
    // UCX finds interfaces in sysfs, which is still this machine's there.
    for number in 0..bridge.count() {
        let mut mount = hosts.command(&bridge.name(number), "nsenter");
        mount.args("--net=/proc/1/ns/net mount -t sysfs sysfs /sys".split(' '));
        succeed(&mut mount).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts");
    let of = |word: &str| {
        std::fs::write(&file, format!("h0\nh1\nh2 {word}\n")).unwrap();
        let words = format!(
            "--hostfile {} --isolated --repeats 1 --json -- am_lat --via ucp -O tls=tcp -O devices=eth0 -n 200",
            file.display()
        );
        start_on((&hosts, &bridge), &words).end(PATIENCE)
    };
    // Only its own name of the device lets h2 take part, and the result tells that it had one.
    let ended = of(&format!("option=devices={OTHER_NAME}"));
    let (_, mesh) = section(&ended);
    let pairs = &mesh.probes[0].pairs;
    assert!(
        pairs.len() == 6 && pairs.iter().all(|pair| pair.failed.is_none()),
        "{ended}"
    );
    assert_eq!(mesh.hosts[2].options["devices"], OTHER_NAME);
    assert!(mesh.hosts[0].options.is_empty());
    // Without it h2 fails in its own pairs, though it stands by in the others.
    let (_, mesh) = section(&of("").code(1));
    let pairs = &mesh.probes[0].pairs;
    let failed = pairs.iter().filter(|pair| pair.failed.is_some());
    let of_h2 = pairs.iter().filter(|pair| pair.from == 2 || pair.to == 2);
    assert!(failed.eq(of_h2), "{:?}", mesh.probes);
    // What the transport does not have is told before anything starts.
    let ended = of("option=nosuch=1").code(2);
    assert!(ended.complaint().0.contains("nosuch"), "{ended}");
    assert_nothing_left(&hosts, &bridge, None);
}
