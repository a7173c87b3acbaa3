//! What other tools print as users run them, without any option for programs: `wirespeed import` reads it.

use crate::{home, turn};
use std::process::Command;
use std::time::{Duration, Instant};
use wirespeed_schema::run::Remark;
use wirespeed_tests::deadline::{PATIENCE, reached};
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::{ports, skip};

/// A tool's two ends (`PORT` stands for a free one), what the user says of the output, and what it is read as.
struct Case<'a> {
    server: &'static str,
    client: &'a str,
    said: &'static str,
    test: &'static str,
    transport: &'static str,
    size_bytes: u64,
    figure: &'static str,
}

const IPERF3: Case<'static> = Case {
    server: "iperf3 -s -1 -p PORT",
    client: "iperf3 -c 127.0.0.1 -p PORT -t 1",
    said: "",
    test: "am_bw",
    transport: "tcp",
    size_bytes: 128 << 10,
    figure: "bandwidth_bytes_per_s",
};
const UCX: Case<'static> = Case {
    server: "ucx_perftest -p PORT",
    client: "ucx_perftest 127.0.0.1 -p PORT -t tag_lat -n 100",
    said: "--test tag_lat",
    test: "tag_lat",
    transport: "ucp",
    size_bytes: 8,
    figure: "rtt_mean_ns",
};

fn cases() -> Vec<Case<'static>> {
    vec![
        IPERF3,
        Case {
            client: "iperf3 -c 127.0.0.1 -p PORT -t 1 -J",
            ..IPERF3
        },
        Case {
            client: "iperf3 -c 127.0.0.1 -p PORT -t 1 -P 2 --bidir",
            test: "am_bibw",
            ..IPERF3
        },
        Case {
            client: "iperf3 -c 127.0.0.1 -p PORT -t 1 -u -b 50M -l 1000",
            said: "--size 1000",
            transport: "udp",
            size_bytes: 1000,
            ..IPERF3
        },
        Case {
            server: "sockperf sr --tcp -i 127.0.0.1 -p PORT",
            client: "sockperf pp --tcp -i 127.0.0.1 -p PORT -t 1",
            said: "",
            test: "am_lat",
            transport: "tcp",
            size_bytes: 14,
            figure: "rtt_p50_ns",
        },
        UCX,
        Case {
            client: "ucx_perftest 127.0.0.1 -p PORT -t tag_lat -n 100 -v",
            ..UCX
        },
        Case {
            client: "ucx_perftest 127.0.0.1 -p PORT -t tag_bw -n 1000 -s 4096 -f",
            said: "--test tag_bw",
            test: "tag_bw",
            size_bytes: 4096,
            figure: "bandwidth_bytes_per_s",
            ..UCX
        },
        // One process is both ends, and prints what was measured above the figures.
        Case {
            server: "",
            client: "ucx_perftest -l -t tag_lat -n 100",
            said: "",
            ..UCX
        },
    ]
}

fn command(line: &str, port: u16) -> Command {
    let line = line.replace("PORT", &port.to_string());
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// What the client prints; its server may take a while to listen.
fn output(home: &Home, case: &Case) -> Ended {
    let port = ports::free(1);
    let start = |line| {
        let mut command = command(line, port);
        home.adopt(&mut command);
        Running::start(command)
    };
    let _server = (!case.server.is_empty()).then(|| start(case.server));
    let began = Instant::now();
    loop {
        let ended = start(case.client).end(PATIENCE);
        // iperf3 -J says in its document that it could not connect, and exits with 0.
        let is_refused = ended.code != Some(0) || ended.stdout.contains("refused");
        if !is_refused || began.elapsed() > PATIENCE {
            return ended.code(0);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_other_tools_print_is_read() {
    let _turn = turn();
    let home = home();
    for case in cases() {
        let tool = case.client.split(' ').next().unwrap();
        if Command::new(tool).arg("--version").output().is_err() {
            skip(&format!("{tool} is not installed"));
            continue;
        }
        let printed = output(&home, &case).stdout;
        home.write("other.txt", &printed);
        let ended = home.run(&format!("import other.txt {}", case.said)).code(0);
        let run = crate::document(&ended.stdout);
        let told = format!("{}: {printed}\n{ended}", case.client);
        assert_eq!(run.cases.len(), 1, "{told}");
        let (test, metrics) = (&run.cases[0].case.test, &run.cases[0].metrics);
        // On a machine that is slow for a moment, what is printed is rounded too much to tell the size; it is said so.
        let is_rounded = |remark: &Remark| remark.message.contains("over rate as rounded");
        let size = match run.cases[0].remarks.iter().any(is_rounded) {
            true => case.size_bytes,
            false => test.size_bytes(),
        };
        assert_eq!((test.name(), size), (case.test, case.size_bytes), "{told}");
        assert_eq!(run.cases[0].case.transport, case.transport, "{told}");
        assert!(metrics[case.figure].value.get() > 0.0, "{told}");
        // The same without an option, where the file holds the command that was typed.
        home.write("typed.txt", &format!("$ {}\n{printed}", case.client));
        let typed = home.run("import typed.txt");
        let is_json = printed.starts_with('{');
        assert_eq!(typed.code, Some(if is_json { 2 } else { 0 }), "{typed}");
    }
    home.assert_nothing_left(PATIENCE);
}

/// What is printed in the form of msgrate, and read again, are the cases that were measured, with the very figures.
#[test]
fn the_text_of_msgrate_is_read_as_the_cases_that_printed_it() {
    let _turn = turn();
    let home = home();
    for (form, name) in [("", "text"), ("-o", "lines")] {
        let line = format!("msgrate --format classic {form} -i 16 --ranks 3 -p 2 --output ours.json");
        let printed = home.run(&line).code(0).stdout;
        home.write("theirs.txt", &printed);
        // The original's ranks are always those of a job of MPI.
        let line = "compare theirs.txt ours.json --across transport,group --json";
        let ended = home.run(line).code(4);
        let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let rows = found["sections"]["comparison"]["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 4, "{name}: {printed}\n{ended}");
        for row in rows {
            assert_eq!(row["tag"], "classic_rate_msg_per_s", "{name}: {row}");
            let ratio = row["ratio"].as_f64().unwrap();
            assert!((ratio - 1.0).abs() < 1e-6, "{name}: {row}");
        }
    }
    home.assert_nothing_left(PATIENCE);
}

/// Tests of ucx_perftest, measured by it and here by the same command line, are one question.
#[test]
fn a_result_of_ucx_perftest_is_compared_with_that_of_the_same_command_line() {
    let _turn = turn();
    let home = home();
    if Command::new("ucx_perftest").arg("-h").output().is_err() {
        return skip("ucx_perftest is not installed");
    }
    // On one CPU each message of a ping-pong of the original waits until its other end has polled enough.
    for words in [
        "-t am_bw -x posix -d memory -n 1000",
        "-t ucp_am_bw -s 4096 -n 1000",
        "-t ucp_put_lat -n 100",
        "-t stream_bw -n 1000",
        "-t tag_sync_lat -n 100",
    ] {
        let case = Case {
            server: "ucx_perftest -p PORT",
            client: &format!("ucx_perftest 127.0.0.1 -p PORT {words}"),
            ..UCX
        };
        let printed = output(&home, &case).stdout;
        home.write("theirs.txt", &format!("$ {}\n{printed}", case.client));
        let port = ports::free(1);
        let server = home.start(format!("perftest -p {port}").split_whitespace());
        let line = format!("perftest 127.0.0.1 -p {port} {words} --output ours.json");
        assert!(reached(PATIENCE, || home.run(&line).code == Some(0)), "{line}");
        server.end(PATIENCE).code(0);
        let ended = home.run("compare theirs.txt ours.json --allow-inconclusive");
        let met = ended.code == Some(0) || ended.code == Some(3);
        assert!(met, "{words}: {ended}");
    }
    home.assert_nothing_left(PATIENCE);
}
