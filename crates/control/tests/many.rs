//! A group as large as a cluster: every rank has a channel and an agent of its own, in a thread in place of a machine.

mod common;

use common::{case, deadline, registry};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wirespeed_control::{
    Group, GroupOptions, GroupSpec, Launch, Launched, RankProcess, StopFlag, Timing, agent,
};
use wirespeed_schema::Case;
use wirespeed_schema::case::{GroupKind, RankSpec, Role};

/// Set for another number of ranks.
const RANKS_VARIABLE: &str = "WIRESPEED_TEST_RANKS";

#[derive(Debug)]
struct Threads;

struct Thread(std::thread::JoinHandle<()>);

impl RankProcess for Thread {
    fn id(&self) -> u32 {
        0
    }

    fn ended(&mut self) -> Option<String> {
        self.0.is_finished().then(|| "its thread ended".to_owned())
    }

    fn kill(&mut self) {}
}

impl Launch for Threads {
    fn name(&self) -> String {
        "a thread".to_owned()
    }

    fn launch(&self, _: u32) -> io::Result<Launched> {
        let (channel, theirs) = UnixStream::pair()?;
        let agent = std::thread::Builder::new().stack_size(256 << 10);
        let agent = agent.spawn(move || {
            let registry = registry();
            let _ = agent::run_agent(theirs, &registry, Timing::default(), || ());
        })?;
        let process = Box::new(Thread(agent));
        Ok(Launched { channel, process })
    }

    /// Each is a machine of its own.
    fn bind_address(&self, rank: u32) -> Option<IpAddr> {
        let [_, high, middle, low] = rank.to_be_bytes();
        Some(IpAddr::V4(Ipv4Addr::new(127, 1 + high, middle, low)))
    }
}

/// All in pairs at once, or one pair of all.
fn round(size: u32, pairs: u32) -> Case {
    let spec = |rank: u32| match (rank / 2 < pairs, rank % 2) {
        (false, _) => RankSpec::new(Role::Idle),
        (true, 0) => RankSpec::new(Role::Source).with_peer(rank + 1),
        (true, _) => RankSpec::new(Role::Sink).with_peer(rank - 1),
    };
    case(size, &[("all", "apart")])
        .with_group(GroupKind::Hosts)
        .with_ranks((0..size).map(spec).collect())
}

#[test]
fn hundreds_of_ranks_meet_in_pairs() {
    let _deadline = deadline(300);
    let size = std::env::var(RANKS_VARIABLE).map_or(500, |count| count.parse().unwrap());
    let options = GroupOptions {
        timing: Timing::default(),
        bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        ..GroupOptions::new().unwrap()
    };
    let stop = StopFlag::new();
    let spec = GroupSpec::Started(Arc::new(Threads));
    let mut group = Group::open(&spec, &registry(), options, &mut |_| (), &stop).unwrap();
    for (round, what) in [(round(size, size / 2), "all pairs"), (round(size, 1), "one pair")] {
        for _ in 0..3 {
            let began = Instant::now();
            let result = group.run(&round, &mut |_| (), &stop);
            let took: Duration = began.elapsed();
            println!("{what} of {size} ranks: {took:.0?}");
            assert!(result.error.is_none(), "{:?}", result.error);
            assert!(result.outcomes.iter().all(Option::is_some) && result.blamed.is_empty());
        }
    }
}
