//! `doctor` from outside: on this machine, on a made-up one, and with words that make no sense.

use crate::home;

#[test]
fn this_machine_is_examined() {
    let home = home();
    let ended = home.run("doctor");
    assert!(matches!(ended.code, Some(0 | 3)), "{ended}");
    for word in [
        "governor",
        "clocksource",
        "socket_buffers",
        "memlock",
        "nothing was changed",
    ] {
        assert!(ended.stdout.contains(word), "{word}: {ended}");
    }
    let ended = home.run("doctor --json --cpus 0 --rate 10Gbit --rtt 20ms");
    let found = ended.json();
    assert_eq!(found["cpus"], serde_json::json!([0]));
    let checks = found["checks"].as_array().expect("checks");
    let buffers = checks
        .iter()
        .find(|check| check["name"] == "socket_buffers")
        .expect("a check");
    assert!(
        buffers["found"]
            .as_str()
            .is_some_and(|text| text.contains("in flight")),
        "{buffers}"
    );
}

#[test]
fn exit_codes_are_those_of_a_gate() {
    let home = home();
    for folder in [
        "root/proc/sys/kernel",
        "root/sys/devices/system/clocksource/clocksource0",
    ] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
    }
    let clock = "root/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::write(home.path(clock), "tsc\n").unwrap();
    let quiet = home.run("doctor --root root").code(0);
    assert!(
        quiet.stdout.contains("cannot tell") && !quiet.stdout.contains("warn  "),
        "{quiet}"
    );
    home.run("doctor --root root --strict").code(4).complaint();
    std::fs::write(home.path(clock), "hpet\n").unwrap();
    let warned = home.run("doctor --root root").code(3);
    assert!(warned.stdout.contains("fix:"), "{warned}");
    warned.complaint();
}

#[test]
fn nonsense_is_a_usage_error() {
    let home = home();
    for words in [
        "--cpus x",
        "--rate fast",
        "--rtt 20",
        "--interface ../lo",
        "--root /nowhere",
        "more",
    ] {
        home.run(&format!("doctor {words}")).code(2).complaint();
    }
}
