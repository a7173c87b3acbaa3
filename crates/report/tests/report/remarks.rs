//! Remarks to the word: silent at the threshold, told behind it, with the figures that a reader can work out.

use crate::fixture::*;
use wirespeed_report::{Limits, case_result, repetition};
use wirespeed_schema::Finite;
use wirespeed_schema::case::{IdlePolicy, Role};
use wirespeed_schema::outcome::{Outcome, SampleKind, StopReason};
use wirespeed_schema::run::{CaseResult, CaseStatus, Remark, Severity};
use wirespeed_schema::test::{Bulk, Test};

/// 20,000 round trips of 1 us in a run of a second at both ends, so that shares and rates are round.
fn second(change: impl Fn(&mut [Outcome])) -> CaseResult {
    result(case("tcp", am_lat(64), 20_000), 1, |_| {
        let mut ends = ping_pong(64, 20_000, 1000.0);
        ends[0].samples = vec![samples(SampleKind::RoundTrip, &[1000.0; 20_000])];
        ends.iter_mut().for_each(|end| end.elapsed_ns = 1_000_000_000);
        change(&mut ends);
        ends
    })
}

/// All remarks, a line each.
fn told(result: &CaseResult) -> Vec<String> {
    let line = |remark: &Remark| {
        let severity = match remark.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Suspect => "suspect",
        };
        format!("{severity} {}: {}", remark.code, remark.message)
    };
    result.remarks.iter().map(line).collect()
}

/// A change of rank 0, and all that is said then.
type Row = (fn(&mut Outcome), &'static [&'static str]);

/// Hold each row; what is told must have a remedy where it is a warning.
fn hold(rows: &[Row]) {
    for (place, (change, expected)) in rows.iter().enumerate() {
        let result = second(|ends| change(&mut ends[0]));
        assert_eq!(told(&result), *expected, "row {place}");
        for remark in result.remarks {
            assert!(
                remark.severity == Severity::Note || remark.remedy.is_some(),
                "{remark:?}"
            );
        }
    }
}

#[test]
fn what_took_the_cpu() {
    hold(&[
        (|_| (), &[]),
        (
            |end| end.disturbance.involuntary_switches = 10,
            &["note involuntary_switches: rank 0 lost its CPU to something else 10 times, 10 a second"],
        ),
        (
            |end| end.disturbance.involuntary_switches = 11,
            &["warning involuntary_switches: rank 0 lost its CPU to something else 11 times, 11 a second"],
        ),
        (|end| end.disturbance.migrations = Some(0), &[]),
        (
            |end| end.disturbance.migrations = Some(2),
            &["warning migrations: rank 0 was moved to another CPU 2 times"],
        ),
        (
            |end| end.cpu = None,
            &["note not_pinned: rank 0 is not pinned to a CPU"],
        ),
        (|end| end.disturbance.steal_ns = Some(1_000_000), &[]),
        (
            |end| end.disturbance.steal_ns = Some(1_100_000),
            &["warning steal: the hypervisor took 0.11 % of rank 0's time (1.1 ms)"],
        ),
        (
            |end| end.disturbance.steal_ns = Some(2_000_000_000),
            &[
                "warning steal: the hypervisor took 2 s in ticks of the kernel, of which rank 0's 1 s are a part",
            ],
        ),
        (|end| end.disturbance.run_queue_wait_ns = Some(1_000_000), &[]),
        (
            |end| end.disturbance.run_queue_wait_ns = Some(250_000_000),
            &["warning run_queue_wait: waiting for a CPU took 25 % of rank 0's time (250 ms)"],
        ),
        (|end| end.role = Role::Idle, &[]),
    ]);
}

#[test]
fn what_was_taken_from_all_cpus() {
    let unpinned = |cpus: u32, steal_ns: u64| {
        let result = second(|ends| {
            ends[0].cpu = None;
            ends[0].host.cpus_online = cpus;
            ends[0].disturbance.steal_ns = Some(steal_ns);
        });
        told(&result).into_iter().find(|line| line.contains("steal"))
    };
    assert_eq!(unpinned(4, 4_000_000), None);
    assert_eq!(
        unpinned(4, 400_000_000).unwrap(),
        "warning steal: the hypervisor took 10 % of the time of all CPUs (400 ms) while rank 0 measured"
    );
    let whole =
        "warning steal: the hypervisor took 5 s from all CPUs together in the 1 s that rank 0 measured";
    assert_eq!(unpinned(4, 5_000_000_000).unwrap(), whole);
    let one =
        "warning steal: the hypervisor took 100 ms from all CPUs together in the 1 s that rank 0 measured";
    assert_eq!(unpinned(1, 100_000_000).unwrap(), one);
    assert_eq!(
        unpinned(0, 100_000_000).unwrap(),
        one,
        "a machine that does not say"
    );
}

#[test]
fn ranks_that_yield() {
    let yields = "warning yielding: rank 0 yields its core while it waits: there are more ranks than cores";
    let said = |waited: Option<u64>| {
        told(&second(|ends| {
            ends[0].idle = IdlePolicy::Yield;
            ends[0].disturbance.run_queue_wait_ns = waited;
        }))
    };
    assert_eq!(said(None), [yields]);
    assert_eq!(said(Some(1_000_000)), [yields]);
    assert_eq!(
        said(Some(300_000_000)),
        [format!("{yields}; it stood in line for 30 % of its time")]
    );
    assert_eq!(
        said(Some(3_000_000_000)),
        [format!("{yields}; it stood in line for 100 % of its time")]
    );
    let rationed = second(|ends| {
        ends[0].idle = IdlePolicy::Yield;
        ends[0]
            .transport_facts
            .insert("cpu_quota".into(), "grants less".into());
    });
    let granted =
        "warning yielding: rank 0 yields its core while it waits: a CPU quota grants less than a core a rank";
    assert_eq!(told(&rationed), [granted]);
}

#[test]
fn memory_noise_and_the_machine() {
    hold(&[
        (
            |end| end.disturbance.major_faults = 1,
            &["warning major_faults: rank 0 waited for 1 page from storage"],
        ),
        (|end| end.disturbance.minor_faults = 1_000, &[]),
        (
            |end| end.disturbance.minor_faults = 1_001,
            &["note minor_faults: rank 0 had 1,001 page faults during the run"],
        ),
        (|end| end.noise.as_mut().unwrap().lost_ratio = finite(0.01), &[]),
        (
            |end| end.noise.as_mut().unwrap().lost_ratio = finite(0.02),
            &["warning noise: CPU 0 lost 2 % of its time to other things before the run, 4 µs at once"],
        ),
        (
            |end| {
                end.host.cpus_online = 2;
                end.host.load_average_1min = Some(finite(1.0));
            },
            &[],
        ),
        (
            |end| {
                end.host.cpus_online = 2;
                end.host.load_average_1min = Some(finite(2.0));
            },
            &["note load_average: the load average was 2 on 2 CPUs when the run began"],
        ),
        (
            |end| {
                end.host.cpus_online = 2;
                end.host.load_average_1min = Some(finite(3.5));
            },
            &["warning load_average: the load average was 3.5 on 2 CPUs when the run began"],
        ),
        (|end| end.host.governor = Some("performance".into()), &[]),
        (
            |end| end.host.governor = Some("powersave".into()),
            &["note governor: the frequency governor is powersave"],
        ),
        (
            |end| {
                end.transport_facts
                    .insert("one_sided".into(), "emulated: by messages".into());
            },
            &["note emulated: tcp has no one-sided operations of its own: they are emulated, by messages"],
        ),
        (
            |end| {
                end.transport_facts.insert("atomics".into(), "native".into());
            },
            &[],
        ),
    ]);
}

#[test]
fn the_instrument_in_words() {
    hold(&[
        (|end| end.clock.step_ns = finite(50.0), &[]),
        (
            |end| end.clock.step_ns = finite(62.5),
            &["warning clock_step: what was timed lasts 1 µs but the clock (tsc) moves in steps of 62.5 ns"],
        ),
        (
            |end| {
                end.samples[0].batch_ops = 2;
                end.clock.step_ns = finite(62.5);
            },
            &[
                "note batched: batched: each sample is the mean of 2 operations, which are too short for the clock; extremes are those of batches",
            ],
        ),
        (
            |end| {
                end.samples[0].batch_ops = 16;
                end.clock.cost_ns = finite(49.0);
            },
            &[
                "note batched: batched: each sample is the mean of 16 operations; extremes are those of batches",
            ],
        ),
        (|end| end.floor.as_mut().unwrap().loop_ns = finite(200.0), &[]),
        (
            |end| end.floor.as_mut().unwrap().loop_ns = finite(1000.0),
            &["warning harness_share: the harness itself takes 1 µs, 100 % of the median of 1 µs"],
        ),
        (
            |end| end.floor.as_mut().unwrap().loop_ns = finite(1500.0),
            &["warning harness_share: the harness itself takes 1.5 µs, 1.5 times the median of 1 µs"],
        ),
        (|end| end.first_operation_ns = Some(finite(10_000.0)), &[]),
        (
            |end| end.first_operation_ns = Some(finite(25_000.0)),
            &[
                "note cold_start: the first operation took 25 µs, 25 times the median: cold caches, first touch, connection",
            ],
        ),
        (|end| end.clock.calibration_error_ppm = finite(100.0), &[]),
        (
            |end| end.clock.calibration_error_ppm = finite(250.0),
            &["warning calibration: the clock's rate (tsc) is known only to 250 ppm"],
        ),
    ]);
    let lasting = |elapsed_ns: u64| {
        let run = result(case("tcp", Test::AmBw(stream(64, 64)), 10), 1, |_| {
            let mut ends = one_way_stream(64, 10, 20_000_000, 20_000.0);
            ends.iter_mut().for_each(|end| end.elapsed_ns = elapsed_ns);
            ends
        });
        told(&run).into_iter().find(|line| line.contains("too_short"))
    };
    assert_eq!(lasting(10_000_000), None);
    assert_eq!(
        lasting(9_999_999).unwrap(),
        "warning too_short: the run took only 10 ms"
    );
    assert_eq!(lasting(0), None, "nothing was measured");
    let null = result(case("null", am_lat(64), 20_000), 1, |_| {
        let mut ends = ping_pong(64, 20_000, 1000.0);
        ends[0].floor.as_mut().unwrap().loop_ns = finite(900.0);
        ends
    });
    assert_eq!(told(&null), [""; 0], "the floor itself");
}

#[test]
fn samples_of_no_length_are_compared_with_nothing() {
    hold(&[(
        |end| end.samples[0] = samples(SampleKind::RoundTrip, &[0.0; 20_000]),
        &[],
    )]);
}

#[test]
fn what_is_too_short_is_lengthened_by_what_the_test_takes() {
    let whole = || Bulk::new(65_536, 1 << 20, 4, 2);
    for (test, remedy) in [
        (Test::AmBw(stream(64, 64)), "run longer: a larger --iters"),
        (Test::BulkGet(whole()), "move more: a larger file"),
        (
            Test::BulkGet(whole().with_pace_interval_ns(1000)),
            "offer for longer: --duration",
        ),
    ] {
        let short = result(case("tcp", test, 16), 1, |_| {
            vec![outcome(0, Role::Source, 5_000_000)]
        });
        let told = |remark: &&Remark| remark.code == "too_short";
        let found = short.remarks.iter().find(told).unwrap();
        assert_eq!(found.remedy.as_deref(), Some(remedy));
    }
}

/// Of several ranks the one with the most of it speaks.
#[test]
fn a_remark_weighs_as_much_as_it_is_about() {
    type Weighed = (&'static str, f64, fn(&mut Outcome));
    let rows: [Weighed; 12] = [
        ("clock_step", 0.0625, |end| end.clock.step_ns = finite(62.5)),
        ("batched", 16.0, |end| end.samples[0].batch_ops = 16),
        ("harness_share", 0.9, |end| {
            end.floor.as_mut().unwrap().loop_ns = finite(900.0)
        }),
        ("cold_start", 25.0, |end| {
            end.first_operation_ns = Some(finite(25_000.0))
        }),
        ("calibration", 250.0, |end| {
            end.clock.calibration_error_ppm = finite(250.0)
        }),
        ("involuntary_switches", 11.0, |end| {
            end.disturbance.involuntary_switches = 11
        }),
        ("migrations", 2.0, |end| end.disturbance.migrations = Some(2)),
        ("steal", 0.25, |end| end.disturbance.steal_ns = Some(250_000_000)),
        ("minor_faults", 1001.0, |end| end.disturbance.minor_faults = 1001),
        ("noise", 0.02, |end| {
            end.noise.as_mut().unwrap().lost_ratio = finite(0.02)
        }),
        ("elapsed_disagrees", 0.75, |end| end.elapsed_ns /= 4),
        ("time_does_not_add_up", 2.0, |end| end.elapsed_ns = 10_000_000),
    ];
    for (code, weight, change) in rows {
        let result = second(|ends| change(&mut ends[0]));
        let found = result.remarks.iter().find(|remark| remark.code == code);
        let found = found.and_then(|remark| remark.weight).map(Finite::get);
        assert_eq!(found, Some(weight), "{code}");
    }
}

#[test]
fn what_a_sender_or_a_medium_cannot_do_weighs_as_much_as_it_lacks() {
    let weight = |result: &CaseResult| result.remarks[0].weight.map(Finite::get);
    let slow = paced(50_000, 600_000.0, 600_000.0);
    assert_eq!(weight(&slow), Some(0.5), "half of what was due");
    let case = case("tcp", Test::AmBw(stream(64, 64)), 100_000);
    let ends = one_way_stream(64, 100_000, 50_000_000, 20_000.0);
    let repetitions = vec![repetition(&case, 0, ends, 0, 0)];
    let limits = Limits {
        medium_bytes_per_s: Some(64e6),
    };
    let fast = case_result(case, repetitions, &limits);
    assert_eq!(weight(&fast), Some(2.0), "twice what the medium moves");
}

#[test]
fn times_of_the_ends() {
    let ends_of = |one_ns: u64, other_ns: u64, waited_ns: u64| {
        let result = second(|ends| {
            // Nothing else to say: fewer round trips than the time holds.
            ends[0].samples = vec![samples(SampleKind::RoundTrip, &[100.0; 10])];
            (ends[0].elapsed_ns, ends[1].elapsed_ns) = (one_ns, other_ns);
            ends[1].disturbance.steal_ns = Some(waited_ns);
        });
        told(&result)
            .into_iter()
            .find(|line| line.contains("elapsed_disagrees"))
    };
    assert_eq!(ends_of(1_000_000_000, 900_000_000, 0), None);
    let differ = "warning elapsed_disagrees: the ends measured different times, 1 s and 880 ms";
    assert_eq!(ends_of(1_000_000_000, 880_000_000, 0).unwrap(), differ);
    assert_eq!(
        ends_of(1_000_000_000, 880_000_000, 119_000_000),
        None,
        "within a ms of it"
    );
    assert!(ends_of(1_000_000_000, 880_000_000, 118_000_000).is_some());
    assert_eq!(ends_of(2_000_000, 1_000_000, 0), None, "a ms is nothing");
    assert_eq!(ends_of(1_000_000_000, 0, 0), None, "a passive end states no time");
    let cut = second(|ends| {
        ends[1].elapsed_ns /= 2;
        ends[0].stop = StopReason::Interrupted;
    });
    assert!(!told(&cut).iter().any(|line| line.contains("elapsed")), "{cut:?}");
}

#[test]
fn laws_in_words() {
    let adds_up = |elapsed_ns: u64| {
        let result = second(|ends| ends.iter_mut().for_each(|end| end.elapsed_ns = elapsed_ns));
        told(&result).into_iter().find(|line| line.contains("add up"))
    };
    // 20 ms of round trips.
    assert_eq!(adds_up(19_610_000), None);
    assert_eq!(
        adds_up(10_000_000).unwrap(),
        "suspect time_does_not_add_up: the round trips of rank 0 add up to 2 times its time of 10 ms"
    );
    assert_eq!(adds_up(0), None);
    let batched = second(|ends| {
        ends[0].samples[0].batch_ops = 16;
        ends.iter_mut().for_each(|end| end.elapsed_ns = 100_000_000);
    });
    assert!(
        told(&batched)[0].contains("add up to 3.2 times its time of 100 ms"),
        "{batched:?}"
    );
    let in_flight = |ack_ns: f64| {
        let result = result(case("tcp", Test::AmBw(stream(64, 64)), 100_000), 1, |_| {
            let mut ends = one_way_stream(64, 100_000, 100_000_000, 20_000.0);
            ends[0].samples[0] = samples(SampleKind::Acknowledged, &[ack_ns; 2000]);
            ends
        });
        told(&result)
            .into_iter()
            .find(|line| line.contains("littles_law"))
    };
    // A million a second.
    assert_eq!(in_flight(80_000.0), None);
    assert_eq!(
        in_flight(96_000.0).unwrap(),
        "suspect littles_law: rate x latency puts 96.0 messages in flight at rank 0, but the window is 64"
    );
    let case = case("tcp", Test::AmBw(stream(64, 64)), 100_000);
    let of_medium = |limit: f64| {
        let ends = one_way_stream(64, 100_000, 50_000_000, 20_000.0);
        let repetitions = vec![repetition(&case, 0, ends, 0, 0)];
        let medium_bytes_per_s = Some(limit);
        let result = case_result(case.clone(), repetitions, &Limits { medium_bytes_per_s });
        told(&result).into_iter().find(|line| line.contains("medium"))
    };
    assert_eq!(
        of_medium(64e6).unwrap(),
        "suspect above_medium_limit: 128 MB/s is more than the medium can move (64 MB/s)"
    );
    assert_eq!((of_medium(0.0), of_medium(127e6)), (None, None));
}

#[test]
fn the_limit_of_a_paced_stream() {
    let paced = |sent, ack_ns, response_ns| told(&paced(sent, ack_ns, response_ns));
    assert_eq!(paced(99_000, 2_000.0, 2_000.0), [""; 0], "99 % is carried");
    // A run of a few messages ends between two of them.
    let few = |sent: u64| {
        let test = Test::AmBw(stream(64, 64).with_pace(100));
        let result = result(case("tcp", test, sent), 1, |_| {
            let mut ends = one_way_stream(64, sent, 50_000_000, 2_000.0);
            ends[0].samples = vec![samples(SampleKind::Acknowledged, &[2_000.0; 2000])];
            ends
        });
        told(&result).len()
    };
    assert_eq!((few(4), few(3)), (0, 1), "of the five that were due");
    let said = "rank 0 sent 50 kmsg/s of the 100 kmsg/s that were due, with";
    // In flight are 50,000 a second times the latency.
    assert_eq!(
        paced(50_000, 600_000.0, 600_000.0),
        [format!(
            "warning generator_limit: {said} 30.0 of 64 messages in flight: the generator is the limit, not the path"
        )]
    );
    assert_eq!(
        paced(50_000, 640_000.0, 640_000.0),
        [format!("note saturated: {said} 32.0 of 64 messages in flight")]
    );
    assert_eq!(
        paced(50_000, 960_000.0, 960_000.0),
        [format!(
            "note saturated: {said} 48.0 of 64 messages in flight: the path takes no more"
        )]
    );
    assert_eq!(paced(100_000, 2_000.0, 12_000.0), [""; 0], "an interval late");
    assert_eq!(
        paced(100_000, 2_000.0, 27_000.0),
        [
            "note send_lateness: rank 0's median response time is 25 µs above its service time, 2.5 times the interval between messages: they leave late"
        ]
    );
}

/// What is said of 1,000 messages over `transport`, and their status.
fn faulty(transport: &str, change: fn(&mut Outcome)) -> (Vec<String>, CaseStatus) {
    let result = result(case(transport, Test::AmBw(stream(64, 64)), 1000), 1, |_| {
        let mut ends = one_way_stream(64, 1000, 50_000_000, 20_000.0);
        if transport == "udp" {
            let fact = ("delivery".to_owned(), "unreliable".to_owned());
            ends[0].transport_facts.extend([fact]);
        }
        change(&mut ends[1]);
        ends
    });
    (told(&result), result.status)
}

#[test]
fn what_did_not_arrive() {
    use CaseStatus::{Ok, WrongData};
    let broken = "on a transport that must not let that happen";
    let lost: fn(&mut Outcome) = |end| {
        end.received = count(990, 64);
        end.faults.lost_messages = 10;
    };
    assert_eq!(
        faulty("udp", lost),
        (
            vec!["warning lost_messages: 10 messages (1 %) were lost".to_owned()],
            Ok
        )
    );
    assert_eq!(
        faulty("tcp", lost),
        (
            vec![format!(
                "suspect lost_messages: 10 messages (1 %) were lost {broken}"
            )],
            WrongData
        )
    );
    let twice: fn(&mut Outcome) = |end| {
        end.received = count(1001, 64);
        end.faults.duplicate_messages = 1;
    };
    assert_eq!(
        faulty("udp", twice),
        (
            vec!["note duplicate_messages: 1 message (0.1 %) came twice".to_owned()],
            Ok
        )
    );
    let late: fn(&mut Outcome) = |end| end.faults.reordered_messages = 20;
    assert_eq!(
        faulty("udp", late),
        (
            vec!["note reordered_messages: 20 messages (2 %) came after a later one".to_owned()],
            Ok
        )
    );
    let corrupt: fn(&mut Outcome) = |end| end.faults.corrupt_messages = 2;
    assert_eq!(
        faulty("udp", corrupt),
        (
            vec!["suspect corrupt_data: 2 messages arrived with other data than sent".to_owned()],
            WrongData
        )
    );
    // More lost than is missing, or less: the ends do not count the same.
    let miscounted: fn(&mut Outcome) = |end| {
        end.received = count(995, 64);
        end.faults.lost_messages = 4;
    };
    let (said, status) = faulty("udp", miscounted);
    assert_eq!(
        said[0],
        "suspect ends_disagree: the ends disagree: sent 1,000 messages (64,000 bytes), received 995 (63,680 bytes), lost 4"
    );
    assert_eq!(status, Ok, "datagrams");
    let short: fn(&mut Outcome) = |end| end.received.bytes -= 1;
    assert_eq!(faulty("tcp", short).1, WrongData);
    // Of a message that came twice a receiver may count one.
    let once: fn(&mut Outcome) = |end| end.faults.duplicate_messages = 1;
    assert_eq!(faulty("udp", once).0.len(), 1);
}

#[test]
fn what_runs_and_samples_show() {
    // Two modes, far apart: their shares add up.
    let mut two = vec![1000.0; 15_000];
    two.extend([3000.0; 5_000]);
    let modes = second(|ends| ends[0].samples = vec![samples(SampleKind::RoundTrip, &two)]);
    assert_eq!(
        told(&modes),
        ["note modes: the samples have 2 modes: 1 µs (75 %), 3.002 µs (25 %)"]
    );
    let batched = second(|ends| {
        ends[0].samples = vec![samples(SampleKind::RoundTrip, &two)];
        ends[0].samples[0].batch_ops = 4;
    });
    assert!(!told(&batched).iter().any(|line| line.contains("modes")));
    let raw = |values: Vec<f64>| {
        let result = second(|ends| {
            ends[0].samples[0].raw_ns = values.iter().map(|value| finite(*value)).collect();
        });
        told(&result)
    };
    assert_eq!(raw(vec![1000.0; 400]), [""; 0]);
    let mut cold = vec![2000.0; 40];
    cold.extend([1000.0; 360]);
    assert_eq!(
        raw(cold),
        [
            "warning not_steady: rank 0: the first 40 of 400 raw samples are not yet steady: median 2 µs against 1 µs afterwards"
        ]
    );
    let rising = (0..400).map(|i| 1000.0 + f64::from(i)).collect();
    assert_eq!(
        raw(rising),
        [
            "warning not_steady: rank 0: the raw samples never become steady: the halves' medians differ by 15 %"
        ]
    );
    let runs = |rtts: &[f64]| {
        let result = result(case("tcp", am_lat(64), 20_000), rtts.len() as u32, |index| {
            ping_pong(64, 20_000, rtts[index as usize])
        });
        told(&result)
    };
    let mut rtts = vec![1000.0, 1001.0, 1002.0, 1001.5, 1000.5, 1001.2, 1000.8, 1001.9];
    assert_eq!(runs(&rtts), [""; 0]);
    rtts[4] = 1080.0;
    assert_eq!(
        runs(&rtts),
        [
            "note runs_stand_out: RTT p50: 1 of 8 runs far out of the others (repetition 4), marked and counted like all"
        ]
    );
    let drifting: Vec<f64> = (0..12).map(|i| 1000.0 + 4.0 * f64::from(i)).collect();
    assert_eq!(
        runs(&drifting),
        ["note runs_drift: RTT p50: the runs drift: their interval describes these minutes only"]
    );
}

#[test]
fn samples_that_settle_by_a_few_percent_are_steady() {
    let settling = |value: fn(u32) -> f64| {
        told(&second(|ends| {
            ends[0].samples[0].raw_ns = (0..400).map(|at| finite(value(at))).collect();
        }))
    };
    assert_eq!(settling(|at| if at < 40 { 1030.0 } else { 1000.0 }), [""; 0]);
    assert_eq!(settling(|at| 1000.0 + f64::from(at) / 10.0), [""; 0]);
}

#[test]
fn runs_that_fall_into_groups_are_told_with_their_medians() {
    let rtts = [
        1253.0, 5315.0, 1304.0, 5417.0, 1284.0, 5352.0, 1253.0, 5330.0, 1275.0, 5400.0, 1304.0,
    ];
    let grouped = |count: usize| {
        let result = result(case("tcp", am_lat(64), 20_000), count as u32, |index| {
            ping_pong(64, 20_000, rtts[index as usize])
        });
        let told = told(&result)
            .into_iter()
            .find(|line| line.starts_with("note run_groups"));
        told.unwrap_or_default()
    };
    let said = grouped(rtts.len());
    assert!(
        said.contains("the runs fall into 2 groups: ")
            && said.contains("(6 runs), ")
            && said.ends_with("(5 runs)"),
        "{said}"
    );
    assert_eq!(grouped(1), "");
}

#[test]
fn only_what_cannot_be_is_a_broken_law() {
    let of = |change: fn(&mut [Outcome])| {
        let case = case("udp", Test::AmBw(stream(64, 64)), 1000);
        let mut ends = one_way_stream(64, 1000, 50_000_000, 20_000.0);
        let fact = ("delivery".to_owned(), "unreliable".to_owned());
        ends[0].transport_facts.extend([fact]);
        change(&mut ends);
        wirespeed_report::broken_law(&case, &repetition(&case, 0, ends, 0, 0))
    };
    assert_eq!(of(|_| ()), None);
    // Datagrams may be lost, and a disturbed machine breaks no law.
    let lost = of(|ends| {
        ends[1].received = count(990, 64);
        ends[1].faults.lost_messages = 10;
        ends[0].disturbance.involuntary_switches = 1000;
    });
    assert_eq!(lost, None);
    let corrupt = of(|ends| {
        ends[1].faults.corrupt_messages = 2;
        ends[1].received = count(900, 64);
    });
    let gravest =
        "the ends disagree: sent 1,000 messages (64,000 bytes), received 900 (57,600 bytes), lost 0";
    let corrupt = corrupt.unwrap();
    assert_eq!((corrupt.why.as_str(), corrupt.is_wrong_data), (gravest, true));
    let impossible = of(|ends| ends[0].elapsed_ns = 1).unwrap();
    assert!(!impossible.is_wrong_data, "{impossible:?}");
}

#[test]
fn a_core_that_changed_its_frequency() {
    let changed = |before_ns: f64, after_ns: f64| {
        let result = second(|ends| {
            let scan = |step_ns| {
                let mut noise = ends[0].noise.clone().unwrap();
                noise.step_ns = Some(finite(step_ns));
                Some(noise)
            };
            (ends[0].noise, ends[0].noise_after) = (scan(before_ns), scan(after_ns));
        });
        told(&result)
    };
    assert_eq!(changed(20.0, 20.0), [""; 0]);
    assert_eq!(changed(20.0, 19.5), [""; 0]);
    assert_eq!(
        changed(20.0, 16.0),
        [
            "warning frequency: a step of work took rank 0's core 20 ns before the run and 16 ns after it: its frequency changed, or a sibling was busy"
        ]
    );
}

#[test]
fn of_remarks_alike_the_first_speaks_and_one_case_needs_no_count() {
    let migrated = |size: u64| {
        result(case("tcp", am_lat(size), 20_000), 1, |_| {
            let mut ends = ping_pong(size, 20_000, 1000.0);
            ends[usize::from(size > 64)].disturbance.migrations = Some(3);
            ends
        })
    };
    let said = |cases: &[CaseResult]| wirespeed_report::run_remarks(cases)[0].message.clone();
    let moved = "was moved to another CPU 3 times";
    assert_eq!(said(&[migrated(64)]), format!("rank 0 {moved}"));
    assert_eq!(said(&[migrated(128)]), format!("rank 1 {moved}"));
    let both = said(&[migrated(128), migrated(64)]);
    assert_eq!(both, format!("rank 1 {moved}; in 2 of 2 cases"));
}
