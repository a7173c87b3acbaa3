//! Machines behind one name: three network namespaces on a bridge, a daemon in each, and a fourth for the client. The client
//! finds them by a name with three addresses and measures between them. All of it goes with the test's processes.

mod common;

use common::{deadline, eventually};
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use wirespeed::Registry;
use wirespeed_control::address::Address;
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_control::{
    Daemon, Group, GroupEvent, GroupOptions, GroupSpec, Listen, ServeOptions, ServerSpec, StopFlag, Timing,
};
use wirespeed_schema::Case;
use wirespeed_schema::case::Stop;
use wirespeed_schema::message::ServerLimits;
use wirespeed_schema::outcome::StopReason;

/// Set in the process that runs in namespaces of its own: the folder that it shares with the test.
const INSIDE: &str = "WIRESPEED_TEST_NAMESPACES";
/// Set in a process that is a daemon: where it listens.
const SERVES: &str = "WIRESPEED_TEST_SERVES";

/// Three machines `n1` to `n3` with 192.0.2.1 to 192.0.2.3, and ours with 192.0.2.254. Names of namespaces are files, which only
/// our own view of the file system has.
const NETWORK: &str = "set -e
mount -t tmpfs tmpfs /run
mount --bind \"$1/hosts\" /etc/hosts
ip link set lo up
ip link add br0 type bridge
ip address add 192.0.2.254/24 dev br0
ip link set br0 up
for n in 1 2 3; do
  ip netns add n$n
  ip link add v$n type veth peer name eth0 netns n$n
  ip link set v$n master br0 up
  ip -n n$n link set lo up
  ip -n n$n address add 192.0.2.$n/24 dev eth0
  ip -n n$n link set eth0 up
done
shift
exec \"$@\"
";

const HOSTS: &str = "127.0.0.1 localhost
192.0.2.3 cluster
192.0.2.1 cluster
192.0.2.2 cluster
192.0.2.1 cluster
192.0.2.2 alone
";

#[test]
fn rank_entry() {
    if std::env::var_os(common::RANK_VARIABLE).is_some() {
        std::process::exit(wirespeed_control::agent::run_stdio_agent(&Registry::builtin()).into());
    }
}

/// The test binary again, for one of its tests.
fn again(wrapper: &[&str], test: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).args(wrapper);
    command.arg(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command
}

#[test]
fn a_name_with_many_addresses_is_as_many_hosts() {
    let _deadline = deadline(120);
    if let Some(folder) = std::env::var_os(INSIDE) {
        return inside(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hosts"), HOSTS).unwrap();
    let can = Command::new("unshare")
        .args([
            "--net",
            "--mount",
            "sh",
            "-c",
            "mount -t tmpfs tmpfs /run && ip link add br0 type bridge",
        ])
        .output();
    if let Some(why) = match can {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ")),
        Err(error) => Some(error.to_string()),
    } {
        // By the test harness's capture.
        let _ = writeln!(std::io::stderr(), "skipped: no network namespaces: {why}");
        return;
    }
    let path = folder.path().to_str().unwrap();
    let wrapper = [
        "unshare", "--net", "--mount", "--", "sh", "-c", NETWORK, "network", path,
    ];
    let mut test = again(&wrapper, "a_name_with_many_addresses_is_as_many_hosts");
    let status = test.env(INSIDE, path).status().unwrap();
    assert!(status.success(), "{status}");
}

/// A daemon in the namespace in which this process was started, until it is killed.
#[test]
fn serve_entry() {
    let (Ok(listen), Some(folder)) = (std::env::var(SERVES), std::env::var_os(INSIDE)) else {
        return;
    };
    let options = ServeOptions {
        once: false,
        cpus: None,
        listen: match listen.parse() {
            Ok(address) => Listen::Addresses(vec![address]),
            Err(_) => Listen::Everywhere,
        },
        port: wirespeed_control::DEFAULT_PORT,
        limits: ServerLimits::default(),
        timing: Timing::default(),
        program: common::program(),
    };
    let key = KeyFile::load_or_make(&Path::new(&folder).join("key")).unwrap();
    let daemon = Daemon::bind(options, &key, &StopFlag::new(), Arc::new(|_| ())).unwrap();
    daemon.run().unwrap();
}

struct Serving(Child);

impl Serving {
    fn start(wrapper: &[&str], listen: &str) -> Serving {
        let mut daemon = again(wrapper, "serve_entry");
        let daemon = daemon.env(SERVES, listen).stdout(Stdio::null());
        Serving(daemon.spawn().unwrap())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn options() -> GroupOptions {
    GroupOptions {
        timing: Timing::default(),
        program: common::program(),
        fresh: false,
        together: false,
        turn: None,
        bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

/// A pair of `ranks`, the others idle.
fn case(transport: &str, [from, to]: [usize; 2]) -> Case {
    let mut ranks = vec![serde_json::json!({"role": "idle"}); 3];
    ranks[from] = serde_json::json!({"role": "source", "peer": to});
    ranks[to] = serde_json::json!({"role": "sink", "peer": from});
    serde_json::from_value(serde_json::json!({
        "test": "am_lat", "size_bytes": 64, "layout": "short", "transport": transport, "group": "hosts",
        "ranks": ranks, "stop": {"by": "iterations", "count": 100},
        "warmup_iterations": 10, "warmup_ns_max": 100_000_000, "idle": "yield", "check": true,
    }))
    .unwrap()
}

fn inside(folder: &Path) {
    let key = KeyFile::load_or_make(&folder.join("key")).unwrap();
    let mut daemons =
        ["n1", "n2", "n3"].map(|name| Serving::start(&["ip", "netns", "exec", name], "everywhere"));
    let _here = Serving::start(&[], "127.0.0.1");
    for host in [[192, 0, 2, 1], [192, 0, 2, 2], [192, 0, 2, 3], [127, 0, 0, 1]] {
        let at = (Ipv4Addr::from(host), wirespeed_control::DEFAULT_PORT);
        eventually("a daemon", || TcpStream::connect(at).is_ok());
    }
    let hosts = Address::parse("cluster")
        .unwrap()
        .hosts(&StopFlag::new())
        .unwrap();
    let mut names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["192.0.2.1:7411", "192.0.2.2:7411", "192.0.2.3:7411"]);
    let alone = Address::parse("alone:80").unwrap();
    assert_eq!(
        alone.hosts(&StopFlag::new()).unwrap(),
        [alone],
        "a name with one address stays a name"
    );
    names.push("localhost".into());
    let server = |name: &String| ServerSpec::new(name, key.identity().clone());
    let spec = GroupSpec::Hosts(names.iter().map(server).collect());
    let (stop, registry) = (StopFlag::new(), Registry::builtin());
    let (mut group, errors) = Group::open_each(&spec, &registry, options(), &mut |_| (), &stop);
    assert!(errors.iter().all(Option::is_none), "{errors:?}");
    group.assign(&[vec![0], vec![1], vec![2]]);
    for transport in ["tcp", "udp"] {
        for pair in [[0, 1], [2, 0], [1, 2]] {
            let result = group.run(&case(transport, pair), &mut |_| (), &stop);
            assert!(result.error.is_none(), "{transport}: {:?}", result.error);
            let sent = pair.map(|rank| result.outcomes[rank].as_ref().unwrap().sent.messages);
            assert!(sent[0] >= 100 && sent[1] >= 100, "{transport}: {sent:?}");
        }
    }
    // A rank of this machine, measured with a server's.
    group.assign(&[vec![0], vec![1]]);
    let result = group.run(&case("tcp", [2, 1]), &mut |_| (), &stop);
    assert!(result.error.is_none(), "{:?}", result.error);
    // Known by an address that means another machine everywhere else.
    group.assign(&[vec![0], vec![1], vec![], vec![2]]);
    let result = group.run(&case("tcp", [0, 1]), &mut |_| (), &stop);
    let error = result.error.unwrap();
    assert!(
        error.message.contains("localhost") && error.message.contains("loopback"),
        "{error:?}"
    );
    let blamed: Vec<u32> = result.blamed.iter().map(|blamed| blamed.rank).collect();
    assert_eq!(blamed, [2]);
    group.assign(&[vec![0], vec![1], vec![2]]);
    let result = group.run(&case("tcp", [0, 2]), &mut |_| (), &stop);
    assert!(result.error.is_none(), "{:?}", result.error);
    one_is_killed(&mut group, &mut daemons[1], &stop);
}

/// A daemon dies while its rank measures; the others go on without it.
fn one_is_killed(group: &mut Group, daemon: &mut Serving, stop: &StopFlag) {
    let endless = case("tcp", [0, 1]).with_stop(Stop::Duration {
        duration_ns: 60_000_000_000,
    });
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Interval { rank: 0, .. } = event {
            daemon.0.kill().unwrap();
        }
    };
    let result = group.run(&endless.with_report_interval_ns(50_000_000), &mut events, stop);
    let blamed: Vec<(u32, &str)> = result
        .blamed
        .iter()
        .map(|b| (b.rank, b.reason.as_str()))
        .collect();
    let [(1, reason)] = blamed[..] else {
        panic!("{blamed:?}");
    };
    assert!(
        reason.starts_with("the server at 192.0.2.2:7411 is lost"),
        "{reason}"
    );
    let survivor = result.outcomes[0].as_ref().unwrap();
    assert!(survivor.stop == StopReason::PeerLost && survivor.sent.messages > 0);
    group.assign(&[vec![0], vec![], vec![1], vec![]]);
    let mut left = case("tcp", [0, 1]);
    left.ranks.truncate(2);
    let result = group.run(&left, &mut |_| (), stop);
    assert!(result.error.is_none(), "{:?}", result.error);
}
