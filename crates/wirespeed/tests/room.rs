//! How ranks wait follows from the CPUs that each of them may use, whoever bound them, and from the loads beside them.

use wirespeed::host::{allowed_cpus, restrict_thread};
use wirespeed::schema::case::{Case, IdlePolicy, Load, Stop};
use wirespeed::schema::outcome::Outcome;
use wirespeed::schema::test::{Layout, PingPong, Test};
use wirespeed::{Registry, ThreadBootstrap, measure};

/// The entries that have an option `wait` with a choice `auto`.
fn waiting() -> Vec<&'static str> {
    let registry = Registry::builtin();
    let has_auto = |entry: &&wirespeed::transport::registry::Entry| {
        let mut options = entry.options.iter();
        options.any(|option| option.name == "wait" && option.default == "auto")
    };
    registry
        .entries()
        .iter()
        .filter(has_auto)
        .map(|entry| entry.name)
        .collect()
}

/// The outcomes of a short ping-pong over `transport`, whose ranks are bound to `cpus` by somebody else.
fn outcomes(transport: &str, cpus: [&[u32]; 2], load: &Load) -> Vec<Outcome> {
    let mut case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), transport)
        .with_stop(Stop::Iterations { count: 100 })
        .with_warmup(10, 1_000_000);
    case.ranks[1].load = load.clone();
    let registry = Registry::builtin();
    std::thread::scope(|scope| {
        let ranks = ThreadBootstrap::group(2).into_iter().zip(cpus);
        let ranks: Vec<_> = ranks
            .map(|(bootstrap, cpus)| {
                let (case, registry) = (&case, &registry);
                scope.spawn(move || {
                    restrict_thread(cpus).unwrap();
                    measure(case, registry, &bootstrap, &mut |_| ()).unwrap()
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Asserts what both ranks did: how a poller idles, and whether the kernel wakes them.
fn assert_ways(outcomes: &[Outcome], idle: IdlePolicy, wait: &str) {
    for outcome in outcomes {
        let stated = outcome.transport_facts["wait"].as_str();
        assert_eq!((outcome.idle, stated), (idle, wait), "rank {}", outcome.rank);
    }
}

#[test]
fn ranks_that_somebody_bound_to_cpus_of_their_own_poll() {
    let [first, second, ..] = allowed_cpus()[..] else {
        println!("skipped: ranks on CPUs of their own: this process may use one CPU");
        return;
    };
    let load = Load::default();
    for transport in waiting() {
        println!("{transport}");
        let apart = outcomes(transport, [&[first], &[second]], &load);
        assert_ways(&apart, IdlePolicy::Spin, "poll");
        let free = outcomes(transport, [&[first, second], &[first, second]], &load);
        assert_ways(&free, IdlePolicy::Spin, "poll");
        let one_free = outcomes(transport, [&[first, second], &[first]], &load);
        assert_ways(&one_free, IdlePolicy::Spin, "poll");
    }
}

#[test]
fn ranks_on_one_cpu_give_it_to_each_other() {
    let cpu = [allowed_cpus()[0]];
    for transport in waiting() {
        println!("{transport}");
        let shared = outcomes(transport, [&cpu, &cpu], &Load::default());
        let kernel = !["shm", "inproc"].contains(&transport);
        let wait = if kernel { "block" } else { "poll" };
        assert_ways(&shared, IdlePolicy::Yield, wait);
    }
}

#[test]
fn loads_that_take_the_ranks_cpus_let_them_sleep() {
    let cpus = allowed_cpus();
    let Some(pair) = cpus.get(..2) else {
        println!("skipped: loads beside ranks: this process may use one CPU");
        return;
    };
    let load = Load {
        cpu_threads: 2,
        ..Load::default()
    };
    // What is compared with the case without it must not wait otherwise.
    let interference = Load {
        of_others: true,
        ..load.clone()
    };
    for transport in waiting() {
        println!("{transport}");
        let loaded = outcomes(transport, [pair, pair], &load);
        assert_ways(&loaded, IdlePolicy::Spin, "block");
        let disturbed = outcomes(transport, [pair, pair], &interference);
        assert_ways(&disturbed, IdlePolicy::Spin, "poll");
    }
}
