//! What runs: every test, layout, device and library; and that killed ranks end a run.

use crate::{SOON, devices, document, endless, home, run, turn};
use rustix::process::Signal;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::product::share;
use wirespeed_tests::ucx::{Library, installed};

/// Cases whose parts are all combined; `{via}` stands for transport and options.
const LINES: [&str; 6] = [
    "am_lat,am_bw,am_bibw,put_lat,put_bw {via} --layout short,bcopy,zcopy,shortiov --size 8,3000",
    "get,get_bw {via} --layout bcopy,zcopy --size 8,3000",
    "add_lat,add_mr,fadd,swap,cswap {via} --size 4,8",
    "fadd,swap,cswap {via} --outstanding 8",
    "tag_lat,tag_bw {via} --size 8,3000",
    "hub_lat {via} --layout short,bcopy --size 8 --procs 3",
];

/// The same for libraries beyond the first: other releases differ in their structures, not in what is measured.
const FEWER: [&str; 4] = [
    "am_lat,am_bw,put_lat {via} --layout short,bcopy,zcopy,shortiov --size 8",
    "get {via} --layout bcopy,zcopy --size 3000",
    "add_lat,fadd,cswap {via} --size 4,8",
    "tag_bw {via} --size 8",
];

/// Why a device may leave a case out.
const REASONS: [&str; 10] = [
    "UCX has no",
    "UCX gathers at most",
    "above the limit",
    "nothing to inline",
    "there is no atomic",
    "only messages are gathered",
    "take layout zcopy",
    "take zcopy",
    "a short message's header has 8 bytes",
    "bytes of header of a zero-copy message",
];

/// Run `lines` over `via`; how many cases were measured. None may fail, and what is left out has one of the reasons.
fn every(home: &Home, library: &Library, via: &str, lines: &[&str]) -> usize {
    let mut measured = 0;
    for line in lines {
        let line = line.replace("{via}", via);
        let line = format!("run {line} --iters 100 --warmup 0 --check --json");
        let ended = run(home, library, &line);
        for case in document(&ended).cases {
            let label = case.case.label();
            let why = case.error.unwrap_or_default();
            match case.status {
                CaseStatus::Ok => measured += 1,
                CaseStatus::Skipped => {
                    let known = REASONS.iter().any(|r| why.contains(r));
                    assert!(known, "{} {via}: {label} was left out: {why}", library.name);
                }
                other => panic!("{} {via}: {label}: {other:?}: {why}", library.name),
            }
        }
    }
    measured
}

#[test]
fn every_test_in_every_layout_over_every_device() {
    let _turn = turn();
    let home = home();
    for (number, library) in installed().into_iter().enumerate() {
        for (tl, device) in devices(&home, &library) {
            let via = format!("--via uct -O tl={tl} -O device={device}");
            // A rank of its own has no hub, and no peer to match tags with.
            let lines = match (number, is_loopback(&home, &library, &via)) {
                (0, false) => &LINES[..],
                (0, true) => &LINES[..4],
                (_, false) => &FEWER[..],
                (_, true) => &FEWER[..3],
            };
            if let Some(why) = unreachable(&home, &library, &via) {
                wirespeed_tests::skip(&format!("{}: {tl}/{device}: {why}", library.name));
                continue;
            }
            let measured = every(&home, &library, &via, lines);
            println!("{}: {tl}/{device}: {measured} cases", library.name);
            assert!(
                measured >= 2,
                "{}: {tl}/{device}: only {measured} cases",
                library.name
            );
        }
        home.assert_nothing_left(SOON);
    }
}

/// Whether the device reaches its own rank only.
fn is_loopback(home: &Home, library: &Library, via: &str) -> bool {
    let ended = run(home, library, &format!("run am_lat {via} --iters 10 --json"));
    document(&ended).cases.iter().any(|c| c.case.ranks.len() == 1)
}

/// Why UCX itself says that ranks cannot reach each other over the device, if it does.
fn unreachable(home: &Home, library: &Library, via: &str) -> Option<String> {
    let ended = run(home, library, &format!("run am_lat {via} --iters 10 --json"));
    let errors = document(&ended).cases.into_iter().filter_map(|c| c.error);
    let mut said = errors.filter(|why| why.contains("cannot be reached over this device"));
    said.next()
}

#[test]
fn gathered_messages_come_whole() {
    let _turn = turn();
    let home = home();
    for library in share(&installed(), 0, 3) {
        let lines = [
            "am_lat,am_bw {via} --layout shortiov,zcopy --size 1,8,60 -O iov=1,2,3",
            "put_bw,get {via} --layout zcopy --size 1,4096 -O iov=1,3",
        ];
        assert!(every(&home, &library, "--via uct", &lines) >= 12);
        let lines = [
            "am_lat,am_bw {via} --layout zcopy --size 1,8,100000 -O iov=1,3,16",
            "tag_lat,tag_bw {via} --size 1,8,100000 -O iov=1,3,16",
        ];
        assert_eq!(every(&home, &library, "--via ucp", &lines), 36);
    }
}

#[test]
fn headers_of_any_size_travel_before_the_data() {
    let _turn = turn();
    let home = home();
    for library in share(&installed(), 1, 3) {
        let lines =
            ["am_lat,am_bw {via} --layout short,shortiov,bcopy,zcopy --size 1,40,1000 -O header=24,100,4000"];
        for (device, least) in [("tl=posix", 14), ("tl=tcp -O device=lo", 14)] {
            let via = format!("--via uct -O {device}");
            if let Some(why) = unreachable(&home, &library, &via) {
                wirespeed_tests::skip(&format!("{} {device}: {why}", library.name));
                continue;
            }
            let measured = every(&home, &library, &via, &lines);
            assert!(measured >= least, "{} {device}: {measured}", library.name);
        }
        let lines = ["am_lat,am_bw {via} --layout short,bcopy,zcopy --size 1,100000 -O header=8,100,4000"];
        assert_eq!(every(&home, &library, "--via ucp", &lines), 36);
    }
}

#[test]
fn messages_of_any_size_that_ucx_announces_come_whole() {
    let _turn = turn();
    let home = home();
    for library in share(&installed(), 2, 3) {
        let announcing = Library {
            variables: &[("UCX_RNDV_THRESH", "0"), ("UCX_MEM_MMAP_HOOK_MODE", "none")],
            ..library
        };
        let lines = ["am_lat,am_bw {via} --layout short,bcopy,zcopy --size 0,1,4096,4097"];
        assert_eq!(every(&home, &announcing, "--via ucp", &lines), 24);
    }
}

#[test]
fn every_test_over_ucp() {
    let _turn = turn();
    let home = home();
    let ways = [
        "-O wait=sleep",
        "-O tls=tcp -O errors=peer",
        "-O register=yes",
        "-O sync=yes",
        "-O wildcard=yes",
        "-O unexpected=yes",
        "-O thread_mode=multi",
        "-O nonblock=yes -O register=yes",
        "-O receive_copy=yes",
        "-O passive=yes",
    ];
    for (number, library) in installed().into_iter().enumerate() {
        let lines = if library.place.is_none() {
            &LINES[..]
        } else {
            &FEWER[..]
        };
        let measured = every(&home, &library, "--via ucp", lines);
        assert!(measured > 15, "{}: only {measured} cases", library.name);
        let long = [
            "am_lat,put_lat,get {via} --layout zcopy --size 1M",
            "am_bw {via} --layout zcopy --size 1M --window 4",
            "tag_lat {via} --size 1M",
            "tag_bw {via} --size 1M --window 4",
        ];
        assert_eq!(every(&home, &library, "--via ucp", &long), 6);
        for options in share(&ways, number, 3) {
            let via = format!("--via ucp {options}");
            let lines = [
                "am_lat,tag_lat,put_lat {via} --size 8",
                "am_bw,tag_bw {via} --size 100000",
            ];
            assert_eq!(
                every(&home, &library, &via, &lines),
                5,
                "{}: {options}",
                library.name
            );
        }
        if !library.variables.is_empty() {
            let plain = Library {
                variables: &[],
                ..library.clone()
            };
            assert_eq!(every(&home, &plain, "--via ucp", &["am_lat,tag_lat {via}"]), 2);
        }
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn streams_carry_every_size_in_pieces_or_not() {
    let _turn = turn();
    let home = home();
    for library in installed() {
        for stream in ["recv", "data"] {
            let via = format!("--via ucp -O stream={stream}");
            let lines = [
                "tag_lat {via} --size 1,8,3000,100K,1M",
                "tag_bw {via} --size 1,8,3000,100K,1M --window 3,64",
                "tag_lat,tag_bw {via} --size 8,3000 -O iov=1,3 -O register=no,yes",
                "tag_lat,tag_bw {via} --size 3000 -O iov=1000+1999+1 -O stride=4K -O listed=both,send,recv",
                "tag_bw {via} --size 100 -O wait=sleep",
                "tag_bw {via} --size 100 -O tls=tcp -O errors=none,peer",
                "tag_lat {via} --size 8 --procs 4",
            ];
            // Other releases differ in their structures, not in what a stream carries.
            let (lines, count) = match library.place {
                None => (&lines[..], 5 + 10 + 16 + 6 + 1 + 2 + 1),
                Some(_) => (&lines[..1], 5),
            };
            assert_eq!(
                every(&home, &library, &via, lines),
                count,
                "{}: {stream}",
                library.name
            );
        }
    }
    home.assert_nothing_left(SOON);
}

#[test]
fn pieces_may_lie_apart() {
    let _turn = turn();
    let home = home();
    for library in share(&installed(), 2, 3) {
        let lines = [
            "tag_lat,tag_bw {via} --size 8 -O iov=3+5,2 -O stride=16,4K",
            "tag_lat,tag_bw {via} --size 50000 -O iov=20000+20000+10000 -O stride=32K -O listed=both,send,recv",
            "am_lat,am_bw {via} --layout zcopy --size 100,50000 -O iov=3 -O stride=17K",
        ];
        assert_eq!(every(&home, &library, "--via ucp", &lines), 8 + 6 + 4);
        let lines = ["am_lat,am_bw {via} --layout shortiov --size 8,60 -O iov=2 -O stride=64"];
        assert!(every(&home, &library, "--via uct", &lines) >= 4);
        let tcp = "--via uct -O tl=tcp -O device=lo";
        if unreachable(&home, &library, tcp).is_none() {
            let line = ["am_bw {via} --layout zcopy --size 4K -O iov=2 -O stride=8K"];
            assert_eq!(every(&home, &library, tcp, &line), 1);
        }
        let line =
            "run put_bw --via uct -O tl=tcp --layout zcopy --size 64 -O iov=2 -O stride=64 --iters 10 --json";
        let why = run(&home, &library, line);
        assert!(format!("{why}").contains("leave option stride out"), "{why}");
    }
}

#[test]
fn uct_works_in_every_way_that_it_is_told_to() {
    let _turn = turn();
    let home = home();
    let Some(library) = installed().into_iter().next() else {
        return;
    };
    for options in [
        "-O thread_mode=serialized",
        "-O events=thread_mutex,signal",
        "-O nonblock=yes",
        "-O passive=yes",
    ] {
        let lines = [
            "am_lat,am_bw,put_lat,put_bw,fadd {via}",
            "get {via} --layout bcopy --size 64",
        ];
        let count = 6 * options.split(',').count();
        assert_eq!(
            every(&home, &library, &format!("--via uct {options}"), &lines),
            count,
            "{options}"
        );
    }
    // A target that the transport needs makes progress now and then.
    let line = ["put_bw {via} --layout zcopy --size 64"];
    let tcp = "--via uct -O tl=tcp -O device=lo -O passive=yes";
    assert_eq!(every(&home, &library, tcp, &line), 1);
    // What a device cannot do UCX says itself.
    let line = "run am_lat --via uct -O tl=posix -O thread_mode=multi --iters 10 --json";
    let why = document(&run(&home, &library, line)).cases.remove(0).error;
    assert!(
        why.as_deref()
            .is_some_and(|why| why.contains("multi-threaded worker")),
        "{why:?}"
    );
}

#[test]
fn a_killed_rank_ends_the_run_at_once() {
    let _turn = turn();
    for library in installed().into_iter().take(1) {
        for line in [
            "am_lat --via uct",
            "am_bw --via uct",
            "put_lat --via uct",
            "fadd --via uct",
            "am_lat --via uct -O tl=tcp",
            "am_bw --via uct -O tl=tcp --size 4K",
            "get_bw --via uct -O tl=cma",
            "am_lat --via ucp",
            "am_bw --via ucp",
            "am_bw --via ucp -O tls=tcp",
            "put_bw --via ucp -O tls=tcp",
            "tag_bw --via ucp -O stream=recv",
            "tag_lat --via ucp -O stream=data -O tls=tcp",
            "am_bw --via ucp -O tls=tcp -O errors=peer",
            "am_lat --via ucp -O wait=sleep",
            "tag_lat --via ucp",
            "get_bw --via ucp",
        ] {
            let home = home();
            let client = endless(&home, &library, line);
            let ranks = home.ranks_of(client.pid());
            kill(*ranks.last().unwrap(), Signal::KILL);
            let ended = client.end(SOON).code(1);
            let (cause, _) = ended.complaint();
            assert!(cause.contains("killed"), "{}: {line}: {ended}", library.name);
            home.assert_nothing_left(SOON);
        }
    }
}
