//! Both ends over UCX's transports: the letters that only UCX has, threads at each end, and ends that die.

use crate::{SOON, Server, home, turn};
use rustix::process::Signal;
use serde_json::Value;
use wirespeed_tests::deadline::{PATIENCE, SILENT};
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::ports;
use wirespeed_tests::product::share;
use wirespeed_tests::running::Running;
use wirespeed_tests::ucx::installed;

#[test]
fn letters_of_ucx_have_their_effect_between_two_ends() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    let server = Server::start(&home, "--forever");
    for (words, fact, value) in [
        ("-t stream_lat", "stream", "recv"),
        ("-t stream_bw -s 100000", "stream", "recv"),
        ("-t stream_bw -r recv_data -s 100000", "stream", "data"),
        ("-t stream_lat -r recv_data -E sleep", "wait", "sleep"),
        ("-t stream_bw -D iov -s 100,50", "iov", "100+50"),
        ("-t tag_lat -M multi", "thread_mode", "multi"),
        ("-t tag_lat -epeer", "errors", "peer"),
        ("-t tag_lat -enone", "errors", "none"),
        (
            "-t am_lat -x posix -d memory -M serialized",
            "thread_mode",
            "serialized",
        ),
        ("-t am_lat -x tcp -d lo -A thread_mutex", "events", "thread_mutex"),
        ("-t am_bw -x tcp -d lo -A signal", "events", "signal"),
        ("-t tag_lat -D iov,contig -s 8,24 -i 64", "listed", "send"),
        ("-t tag_bw -D contig,iov -s 3000,24 -i 4K", "listed", "recv"),
        (
            "-t am_bw -x tcp -d lo -D zcopy -s 500,24,76 -i 1K",
            "iov",
            "492+24+76",
        ),
        (
            "-t am_lat -x posix -d memory -D shortiov -s 16,24 -i 100",
            "stride",
            "100",
        ),
        ("-t ucp_put_bw -B -z", "nonblock", "yes"),
        ("-t put_lat -x posix -d memory -o", "passive", "yes"),
        ("-t ucp_fadd -o", "passive", "yes"),
        ("-t ucp_am_bw -y -s 1000", "receive_copy", "yes"),
        ("-t ucp_am_lat -y -s 1000000", "receive_copy", "yes"),
    ] {
        let ended = server
            .client(&home, &format!("{words} -n 300 -V --json"))
            .end(PATIENCE)
            .code(0);
        let run = ended.json();
        let facts = &run["cases"][0]["repetitions"][0]["outcomes"][0]["transport_facts"];
        assert_eq!(facts[fact], value, "{words}: {facts}");
    }
    server.running.signal(Signal::TERM);
    server.end().code(0);
    home.assert_nothing_left(SOON);
}

#[test]
fn messages_of_two_gigabytes_run() {
    let _turn = turn();
    let home = home();
    // Two buffers at each end, and room for the system.
    if installed().is_empty() || wirespeed::host::available_bytes() < 12 << 30 {
        return wirespeed_tests::skip("no UCX, or less than 12 GiB of memory");
    }
    let server = Server::start(&home, "--forever");
    // A message that is matched and one that is put: gigabytes are copied by one CPU after the other.
    for test in share(&["tag_bw", "stream_bw", "ucp_put_bw", "ucp_get"], 0, 2) {
        let words = format!("-t {test} -s 2G -n 1 -w 0 -O 1 --json");
        let run = server.client(&home, &words).end(PATIENCE).code(0).json();
        let outcome = &run["cases"][0]["repetitions"][0]["outcomes"][0];
        assert!(
            outcome["sent"]["bytes"].as_u64() >= Some(2 << 30),
            "{test}: {outcome}"
        );
    }
    server.running.signal(Signal::TERM);
    server.end().code(0);
}

#[test]
fn a_limit_is_told_as_sizes_are_counted() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    let words = "perftest -l -t am_lat -x posix -d memory -D short -n 10";
    let (cause, _) = home.run(&format!("{words} -s 1M")).code(2).complaint();
    let (_, after) = cause.split_once("above the limit of ").unwrap();
    let most: u64 = after.split(' ').next().unwrap().parse().unwrap();
    home.run(&format!("{words} -s {most}")).code(0);
    home.run(&format!("{words} -s {}", most + 1)).code(2);
    // Shared memory sends no message from where it is; what the copied ones hold is as little an answer without the header.
    let words = words.replace("-D short", "-D zcopy");
    let (cause, remedy) = home.run(&format!("{words} -s 1M")).code(2).complaint();
    assert!(
        cause.contains("-s 1048576 is") && remedy.contains("with another layout"),
        "{cause}: {remedy}"
    );
}

#[test]
fn threads_of_an_end_are_threads_of_one_process() {
    let _turn = turn();
    let home = home();
    let transports = match installed().is_empty() {
        true => &["-t am_lat -x shm"][..],
        false => &[
            "-t am_lat -x shm",
            "-t tag_lat",
            "-t ucp_put_bw",
            "-t am_bw -x posix -d memory",
        ],
    };
    for words in transports {
        let server = Server::start(&home, "-c 1,0");
        let client = server.client(
            &home,
            &format!("{words} -T 2 -c 0,1 -n unlimited -v --output all.json"),
        );
        let served = format!("{words}: two ranks in one process");
        server.running.wait_until(&served, PATIENCE, |r| {
            let ranks = home.ranks_of(r.pid());
            ranks.len() == 1 && threads_named(ranks[0], "rank ") == 2
        });
        client.wait_until("the same here", PATIENCE, |r| {
            let ranks = home.ranks_of(r.pid());
            ranks.len() == 1 && threads_named(ranks[0], "rank ") == 2
        });
        client.wait_until("a line of a running test", PATIENCE, |r| {
            r.stdout().lines().count() > 1
        });
        client.signal(Signal::INT);
        client.end(SOON).code(130);
        let run = std::fs::read(home.path("all.json")).unwrap();
        let run: Value = serde_json::from_slice(&run).unwrap();
        let outcomes = run["cases"][0]["repetitions"][0]["outcomes"]
            .as_array()
            .unwrap()
            .clone();
        let cpus: Vec<_> = outcomes.iter().map(|o| o["cpu"].as_u64()).collect();
        assert_eq!(cpus, [Some(0), Some(1), Some(1), Some(0)], "{words}: one by one");
        for outcome in &outcomes {
            assert_eq!(
                outcome["transport_facts"]["ranks_of_an_end"],
                "threads of one process"
            );
        }
        server.end().code(0);
    }
    home.assert_nothing_left(SOON);
}

/// Threads of a process whose names begin with `name`.
fn threads_named(pid: u32, name: &str) -> usize {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return 0;
    };
    let is_named = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.starts_with(name))
    };
    tasks.flatten().map(is_named).filter(|named| *named).count()
}

/// A transport of one of the layers, with its test, and what UCX is told to use.
type Path<'a> = (&'a str, Option<&'a str>);

/// Both layers.
const PATHS: &[Path] = &[
    ("-t am_lat -x posix -d memory", None),
    ("-t am_bw -x sysv -d memory", None),
    ("-t put_bw -x posix -d memory", None),
    ("-t am_bw -x tcp -d lo", None),
    ("-t put_bw -x tcp -d lo -D zcopy", None),
    ("-t get_bw -x cma -d memory -D zcopy -s 4K", None),
    ("-t tag_lat", None),
    ("-t tag_bw -s 100000", None),
    ("-t stream_bw", None),
    ("-t ucp_am_bw", None),
    ("-t ucp_put_lat", None),
    ("-t tag_lat -E sleep", None),
    ("-t tag_bw", Some("tcp")),
    ("-t stream_lat", Some("tcp")),
    ("-t ucp_am_bw", Some("tcp")),
    ("-t ucp_get", Some("tcp")),
    ("-t tag_bw -e", Some("tcp")),
];

/// Ends that poll until they are ended share the CPUs: so many pairs side by side take little more of them than one.
const BESIDE: usize = 6;

/// A test without an end on each of `paths`, in its measured phase.
fn endless<'a>(home: &Home, paths: &[Path<'a>]) -> Vec<(Path<'a>, Server, Running)> {
    let start = |&(words, tls): &Path<'a>| {
        let command = |line: String| {
            let mut command = home.command(line.split_whitespace());
            if let Some(tls) = tls {
                command.env("UCX_TLS", tls);
            }
            Running::start(command)
        };
        let port = ports::free(1);
        let server = Server::listening(command(format!("perftest -p {port}")), port);
        let client = command(format!("perftest -p {port} localhost {words} -n unlimited -v"));
        ((words, tls), server, client)
    };
    let pairs: Vec<_> = paths.iter().map(start).collect();
    for (_, _, client) in &pairs {
        client.wait_until("a line of a running test", PATIENCE, |r| {
            r.stdout().lines().count() > 1
        });
    }
    pairs
}

#[test]
fn an_end_that_is_killed_ends_the_other_at_once_on_every_road() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    let numbered: Vec<_> = PATHS.iter().enumerate().collect();
    for paths in numbered.chunks(BESIDE) {
        for victim in ["client", "server"] {
            let whose =
                |&&(number, _): &&(usize, _)| share(&["client", "server"], number, 2).contains(&victim);
            let paths: Vec<Path> = paths.iter().filter(whose).map(|(_, path)| **path).collect();
            an_end_that_is_killed_ends_the_other(&home, &paths, victim);
        }
    }
}

fn an_end_that_is_killed_ends_the_other(home: &Home, paths: &[Path], victim: &str) {
    for (path, server, client) in endless(home, paths) {
        let (survivor, dead) = match victim {
            "client" => (server.running, client),
            _ => (client, server.running),
        };
        kill(dead.pid(), Signal::KILL);
        let survivor = survivor.end(SOON);
        assert_eq!(survivor.code, Some(1), "{path:?}: {victim}: {survivor}");
        if victim == "server" {
            survivor.complaint();
        }
        dead.end(SOON);
    }
    home.assert_nothing_left(SOON);
}

#[test]
fn a_rank_that_is_killed_ends_both_ends_on_every_road() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    for paths in PATHS.chunks(BESIDE) {
        for (path, server, client) in endless(&home, paths) {
            kill(home.ranks_of(server.running.pid())[0], Signal::KILL);
            let client = client.end(SOON).code(1);
            let (cause, _) = client.complaint();
            assert!(cause.contains("killed by signal 9"), "{path:?}: {client}");
            server.end();
        }
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn an_end_that_is_stopped_is_given_up_on_every_road() {
    let _turn = turn();
    let home = home();
    if installed().is_empty() {
        return;
    }
    let paths = [
        ("-t am_bw -x posix -d memory", None),
        ("-t am_lat -x tcp -d lo", None),
        ("-t tag_lat", None),
        ("-t stream_bw", Some("tcp")),
    ];
    let pairs = endless(&home, &paths);
    let of_server = |server: &Server| {
        let mut all = home.ranks_of(server.running.pid());
        all.push(server.running.pid());
        all
    };
    let servers: Vec<u32> = pairs
        .iter()
        .flat_map(|(_, server, _)| of_server(server))
        .collect();
    servers.iter().for_each(|pid| kill(*pid, Signal::STOP));
    let mut stopped = Vec::new();
    for (path, server, client) in pairs {
        let client = client.end(SILENT);
        assert_eq!(client.code, Some(1), "{path:?}: {client}");
        client.complaint();
        stopped.push(server);
    }
    servers.iter().for_each(|pid| kill(*pid, Signal::CONT));
    for server in stopped {
        server.running.end(SILENT);
    }
    home.assert_nothing_left(SOON);
}
