//! Measure from your own program: two threads, one case, a report while it runs.
//!
//! `cargo run --release --example two_threads [TRANSPORT [SIZE_BYTES]]`

use std::error::Error;
use wirespeed::schema::case::{Case, IdlePolicy, RankSpec, Stop};
use wirespeed::schema::outcome::{Outcome, SampleKind};
use wirespeed::schema::test::{Layout, PingPong, Test};
use wirespeed::schema::units;
use wirespeed::{Bootstrap, MeasureError, Registry, ThreadBootstrap, host, measure};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let transport = arguments.next().unwrap_or_else(|| "inproc".to_owned());
    let size_bytes = units::parse_size(&arguments.next().unwrap_or_else(|| "8".to_owned()))?;

    // A core for each thread where there are enough; else they give way to each other.
    let cpus = host::default_cpus(2);
    let mut ranks = RankSpec::pair();
    for (rank, &cpu) in ranks.iter_mut().zip(cpus.iter().flatten()) {
        rank.cpu = Some(cpu);
    }
    let idle = match cpus {
        Some(_) => IdlePolicy::Spin,
        None => IdlePolicy::Yield,
    };
    let half_a_second = Stop::Duration {
        duration_ns: 500_000_000,
    };
    let case = Case::new(Test::AmLat(PingPong::new(size_bytes, Layout::Short)), transport)
        .with_ranks(ranks)
        .with_stop(half_a_second)
        .with_report_interval_ns(100_000_000)
        .with_idle(idle);

    // The registry is a value: here with the transports of UCX, which is loaded when a case asks for it; one of your own
    // joins with `.with(Entry::of::<Mine>())`.
    let registry = wirespeed_ucx::join(Registry::builtin());
    let outcomes = std::thread::scope(|scope| {
        let ranks: Vec<_> = ThreadBootstrap::group(2)
            .into_iter()
            .map(|bootstrap| {
                let (case, registry) = (&case, &registry);
                scope.spawn(move || {
                    let rank = bootstrap.rank();
                    measure(case, registry, &bootstrap, &mut |interval| {
                        if rank == 0 {
                            eprintln!(
                                "{:>4} ms: {} round trips",
                                interval.start_ns / 1_000_000,
                                interval.sent.messages
                            );
                        }
                    })
                })
            })
            .collect();
        ranks
            .into_iter()
            .map(|rank| rank.join().expect("a rank panicked"))
            .collect::<Result<Vec<_>, MeasureError>>()
    })?;
    print_latency(&case, &outcomes[0]);
    Ok(())
}

fn print_latency(case: &Case, source: &Outcome) {
    let Some(samples) = source.samples_of(SampleKind::RoundTrip) else {
        println!(
            "no samples: {}",
            source.error.as_deref().unwrap_or("the run was too short")
        );
        return;
    };
    let quantile = |q| {
        samples
            .histogram
            .quantile_ns(q)
            .map_or("-".to_owned(), units::format_ns)
    };
    println!("{}: {} round trips", case.label(), source.sent.messages);
    println!(
        "  RTT p50 {}  p99 {}  max {}",
        quantile(0.5),
        quantile(0.99),
        quantile(1.0)
    );
}
