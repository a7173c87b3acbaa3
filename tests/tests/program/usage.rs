//! Nonsense: one line of cause, one of remedy, exit 2, nothing on stdout, and nothing opened.

use crate::{document, home};

/// What is typed; what the cause must name; what the remedy must say.
const NONSENSE: &[(&str, &str, &str)] = &[
    ("load --via tcp", "--via", "behind a --"),
    ("load -t 1s", "-t", "behind a --"),
    ("sweep --size=8 -- latency", "--size", "behind a --"),
    ("ab --via tcp", "--via", "behind a --"),
    ("load -- latency --via tcp", "latency", "wirespeed sweep"),
    ("run am_lat --via shm --iters 0", "--iters 0", "at least 1"),
    ("run am_lat --via shm --iters -5", "--iters -5", "at least 1"),
    ("run am_lat --via shm --iters abc", "--iters abc", "1000"),
    ("run am_lat --via shm --iters 8x", "--iters 8x", "1000"),
    ("run am_lat --via shm --size 8..4", "8..4", "range"),
    ("run am_lat --via shm --size nan", "nan", "1MiB"),
    ("run am_lat --via shm --size 10EiB", "10EiB", "1MiB"),
    ("run am_lat --via shm --size -1", "-1", "1MiB"),
    ("run am_bw --via shm --window 0", "--window 0", "at least 1"),
    (
        "run put_bw --via shm --outstanding 0",
        "--outstanding 0",
        "at least 1",
    ),
    ("run am_lat --via shm --window 4", "window", ""),
    ("run am_lat --via shm --duration 0", "--duration 0", "unit"),
    ("run am_lat --via shm --duration 10", "--duration 10", "unit"),
    (
        "run am_lat --via shm --duration -1s",
        "--duration -1s",
        "positive",
    ),
    (
        "run am_lat --via shm --iters 10 --duration 1s",
        "contradict",
        "one of them",
    ),
    (
        "run am_lat --via shm --threads 2 --procs 2",
        "contradict",
        "one of them",
    ),
    ("run get --via shm --layout short", "short", "bcopy"),
    ("run fadd --via shm --layout bcopy", "--layout", "leave it out"),
    ("run fadd --via shm --size 3", "4 or 8", "--size 8"),
    ("run latncy --via shm", "latncy", "latency"),
    ("run latency --via tpc", "tpc", "tcp"),
    (
        "run latency --via tcp -O cogestion=bbr",
        "cogestion",
        "congestion",
    ),
    (
        "run latency --via tcp -O encrypt=yes",
        "off|aes-256-gcm|chacha20-poly1305",
        "list tcp",
    ),
    (
        "run latency --via tcp -O encrypt=",
        "is not NAME=VALUE",
        "list TRANSPORT",
    ),
    (
        "run latency --via shm -O encrypt=aes-256-gcm",
        "for tcp, unix and udp",
        "list shm",
    ),
    (
        "run latency --via inproc -O encrypt=aes-256-gcm",
        "inproc cannot encrypt",
        "",
    ),
    (
        "run latency --via null -O encrypt=aes-256-gcm",
        "null cannot encrypt",
        "",
    ),
    (
        "run latency --via shm,tcp -O encrypt=aes-256-gcm",
        "shm cannot encrypt",
        "",
    ),
    (
        "run am_bw --via tcp --layout zcopy -O encrypt=aes-256-gcm",
        "the cipher writes every byte anew",
        "list tcp",
    ),
    ("run latency --via shm --layout shrt", "shrt", "short"),
    ("run latency --via shm --wait sometimes", "sometimes", ""),
    ("run latency --via tcp --dscp 900", "900", ""),
    ("run latency --via shm --cpus 98,99", "98", "0"),
    ("run latency --via shm --cpus 0,0,0", "--cpus", "one CPU a rank"),
    ("run latency --via shm --cpus x", "x", ""),
    ("run latency --via tcp --to a:b:c", "a:b:c", "HOST:PORT"),
    ("run latency --via tcp --to [::1", "[::1", "HOST:PORT"),
    ("run latency --via tcp --to [::1]7", "[::1]7", "HOST:PORT"),
    ("run latency --via tcp --to [::1]:0", "[::1]:0", "HOST:PORT"),
    ("run latency --via tcp --to :7411", ":7411", "HOST:PORT"),
    (
        "run latency --via tcp --to localhost --identity nonsense",
        "--identity",
        "--print-identity",
    ),
    ("session --identity nonsense", "--identity", "--print-identity"),
    (
        "mesh --hosts a,b --identity nonsense",
        "--identity",
        "--print-identity",
    ),
    (
        "mesh --to a,b --identity nonsense",
        "--identity",
        "--print-identity",
    ),
    (
        "perftest a -t am_lat --identity nonsense",
        "--identity",
        "--print-identity",
    ),
    (
        "byteio bench http://localhost:1/f --identity nonsense",
        "--identity",
        "--print-identity",
    ),
    ("run latency --via tcp --to host:99999", "99999", "HOST:PORT"),
    ("run latency --via shm --to localhost", "shm", ""),
    ("run latency --via shm --port 7411", "--to", ""),
    ("run latency --via shm --procs 0", "--procs 0", "1024"),
    ("run latency --via shm --procs 1", "2 ranks", "--procs 2"),
    ("run latency --via shm --procs 9999999", "9999999", "1024"),
    ("run latency --via shm --repeats 0", "0", "1"),
    (
        "run latency --via shm --until p50:2%,p99:5%",
        "p99",
        "one STATISTIC:WIDTH",
    ),
    (
        "run latency --via shm --interference cpu",
        "cpu",
        "--interference=cpu",
    ),
    (
        "session --benchmarkPath client_to_computation --bytes x",
        "x",
        "such as 64",
    ),
    (
        "session --benchmarkPath client_to_computation --credits x",
        "x",
        "such as 10",
    ),
    (
        "run latency --via shm --roles source,sink,hub --procs 2",
        "--roles",
        "one role a rank",
    ),
    ("run latency --via shm --roles king,sink", "king", ""),
    ("run latency --via shm --load 9:cpu=1", "9:cpu=1", "cpu=N"),
    ("run latency --via shm --load 0:sleep=1", "sleep", "cpu=N"),
    ("run latency --via shm -o result.xml", "result.xml", ".json"),
    ("run latency", "transport", "--via"),
    ("run", "TEST", "latency"),
    ("run latency --via shm --frobnicate", "--frobnicate", "help"),
    ("quick --budget 0", "--budget 0", "25s"),
    ("calibrate --cpus 977", "977", "0"),
    ("list nosuch", "nosuch", "shm"),
    ("completions tcsh", "tcsh", ""),
    ("frobnicate", "frobnicate", ""),
    ("serve --listen everywhere", "everywhere", "all"),
    ("serve --duration-max 5", "duration-max", "help"),
];

#[test]
fn nonsense_is_refused_in_two_lines_before_anything_is_opened() {
    let home = home();
    for (line, cause, remedy) in NONSENSE {
        let ended = home.run(line).code(2);
        let said = ended.complaint();
        assert!(said.0.contains(cause), "cause does not name {cause:?}: {ended}");
        assert!(said.1.contains(remedy), "remedy does not say {remedy:?}: {ended}");
        assert_eq!(ended.stdout, "", "{ended}");
        assert_eq!(ended.stderr.lines().count(), 2, "{ended}");
    }
    assert!(!home.path("key").exists(), "no key is made for nonsense");
    assert!(!home.path("result.xml").exists());
}

#[test]
fn programs_get_the_same_as_one_document() {
    let home = home();
    for line in [
        "run am_lat --via shm --iters 0 --json",
        "run --json latncy --via shm",
        "run latency --via shm --json --frobnicate",
        "run latency -J --via shm --size 8..4",
    ] {
        let ended = home.run(line).code(2);
        let (cause, _) = ended.complaint();
        let run = document(&ended.stdout);
        assert_eq!(run.error.as_deref(), Some(cause.as_str()), "{ended}");
        assert_eq!(serde_json::to_value(run.status).unwrap(), "failed", "{ended}");
        assert!(run.cases.is_empty());
    }
}

#[test]
fn plans_are_refused_with_the_line() {
    let home = home();
    let plans = [
        (
            "[[case]]\ntest = \"latency\"\nvia = \"shm\"\nsise = 3\n",
            "line 4",
            "size",
        ),
        ("repeats = \n", "line 1", ""),
        ("\n\nthis is no toml\n", "line 3", "TOML"),
        (
            "[[case]]\ntest = \"latency\"\nvia = \"shm\"\niters = -1\n",
            "--iters -1",
            "at least 1",
        ),
        ("repeat = 3\n", "line 1", "repeats"),
        ("", "no case", "[[case]]"),
    ];
    for (number, (text, cause, remedy)) in plans.iter().enumerate() {
        let name = format!("plan{number}.toml");
        home.write(&name, text);
        let ended = home.run(&format!("run {name}")).code(2);
        let said = ended.complaint();
        assert!(said.0.contains(&name) || text.is_empty(), "{ended}");
        assert!(said.0.contains(cause), "cause does not say {cause:?}: {ended}");
        assert!(said.1.contains(remedy), "remedy does not say {remedy:?}: {ended}");
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn what_is_no_plan_at_all_is_refused() {
    let home = home();
    std::fs::write(home.path("bytes.toml"), [0xff, 0xfe, 0, 1, 2, 3]).unwrap();
    std::fs::create_dir(home.path("folder.toml")).unwrap();
    for line in ["run bytes.toml", "run folder.toml", "run missing.toml"] {
        let ended = home.run(line).code(2);
        ended.complaint();
    }
}
