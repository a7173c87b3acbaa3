//! What a transfer puts on the wire, counted by the program and by the network interface, over a link that is slow enough
//! for the end of a transfer to matter.

use crate::{LONG, home, transfer};
use serde_json::Value;
use std::process::Command;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::lab::{Lab, Side};
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

/// One block for each connection of the default shape.
const SIZE: usize = 32 << 20;
/// At this speed each transfer takes some seconds.
const RATE: &str = "100mbit";
/// Headers of Ethernet, IP and TCP, acknowledgements, and what the full link drops, for each byte on the sockets.
const BELOW_RATIO: f64 = 1.25;

fn on(lab: &Lab, side: Side, home: &Home, line: &str) -> Running {
    let mut command: Command = lab.command(side, home.program());
    command.args(line.split_whitespace());
    home.adopt(&mut command);
    Running::start(command)
}

/// Bytes that passed the interface of the near side, both ways.
fn passed(lab: &Lab) -> u64 {
    let output = lab.command(Side::A, "cat").arg("/proc/net/dev").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("eth0:"));
    let numbers: Vec<u64> = line
        .unwrap()
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    numbers[0] + numbers[8]
}

fn socket_bytes(run: &Value) -> u64 {
    let connections = run["connections"].as_array().unwrap();
    let part = |name: &str| connections.iter().map(|c| c[name].as_u64().unwrap()).sum::<u64>();
    part("socket_read_bytes") + part("socket_written_bytes")
}

/// The default shape, on a link that it fills: every byte is asked for once, whatever the mechanism.
#[test]
fn the_default_shape_moves_every_byte_once() {
    let lab = match Lab::new() {
        Ok(lab) => lab,
        Err(reason) => return skip(&reason),
    };
    for side in [Side::A, Side::B] {
        if let Err(error) = lab.limit_rate(side, RATE) {
            return skip(&format!("tc cannot limit a rate: {error}"));
        }
    }
    let home = home();
    std::fs::create_dir(home.path("served")).unwrap();
    std::fs::write(home.path("served/f"), vec![7; SIZE]).unwrap();
    std::fs::write(home.path("source"), vec![8; SIZE]).unwrap();
    let plain = on(
        &lab,
        Side::B,
        &home,
        "byteio serve served --listen all --plain --port 7412",
    );
    let secure = on(
        &lab,
        Side::B,
        &home,
        "byteio serve served --listen all --writable --port 7413",
    );
    for server in [&plain, &secure] {
        server.wait_until("listening", PATIENCE, |s| s.stdout().contains('\n'));
    }
    let at = lab.ipv4(Side::B);
    let gets = ["mtom", "simple", "dime", "http", "bulk"]
        .map(|way| (way, format!("byteio bench http://{at}:7412/f --mechanism {way}")));
    let puts = ["mtom", "bulk"].map(|way| {
        let line = format!("byteio bench https://{at}:7413/new --put source --mechanism {way}");
        (way, line)
    });
    for (way, line) in gets.into_iter().chain(puts) {
        let before = passed(&lab);
        let line = format!("{line} --repeats 1 --json");
        let ended = on(&lab, Side::A, &home, &line).end(LONG).code(0);
        let below = passed(&lab) - before;
        let run = transfer(&ended);
        let bytes = socket_bytes(&run);
        let most = if way == "simple" { 1.37 } else { 1.02 };
        let ratio = bytes as f64 / SIZE as f64;
        assert!((1.0..=most).contains(&ratio), "{line}: {ratio}: {ended}");
        assert_eq!(run["steals_count"], 0, "{line}: {ended}");
        let document = ended.json();
        let metric = document["cases"][0]["metrics"]["wire_ratio"]["value"].as_f64();
        assert!(
            (metric.unwrap() - ratio).abs() < 1e-9,
            "{line}: {metric:?} for {ratio}"
        );
        let remarks = document["cases"][0]["remarks"].to_string();
        assert!(!remarks.contains("wire_overhead"), "{line}: {remarks}");
        // The interface has not seen more than that either.
        let below = below as f64 / bytes as f64;
        assert!((1.0..BELOW_RATIO).contains(&below), "{line}: {below}: {ended}");
    }
}
