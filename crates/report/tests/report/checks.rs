//! Every check: silent on a clean result, and found when its rule is broken.

use crate::fixture::*;
use wirespeed_report::{Limits, case_result, host_remarks, repetition, run_remarks};
use wirespeed_schema::Test;
use wirespeed_schema::case::{IdlePolicy, Role};
use wirespeed_schema::outcome::{Outcome, StopReason};
use wirespeed_schema::run::{CaseResult, CaseStatus, Severity};

fn latency(change: impl Fn(&mut Vec<Outcome>)) -> CaseResult {
    result(case("tcp", am_lat(64), 20_000), 1, |_| {
        let mut ends = ping_pong(64, 20_000, 1000.0);
        change(&mut ends);
        ends
    })
}

fn streamed(transport: &str, change: impl Fn(&mut Vec<Outcome>)) -> CaseResult {
    result(case(transport, Test::AmBw(stream(64, 64)), 100_000), 1, |_| {
        let mut ends = one_way_stream(64, 100_000, 50_000_000, 20_000.0);
        change(&mut ends);
        ends
    })
}

fn severity(result: &CaseResult, code: &str) -> Option<Severity> {
    result
        .remarks
        .iter()
        .find(|remark| remark.code == code)
        .map(|remark| remark.severity)
}

#[test]
fn clean_results_have_no_remarks() {
    assert_eq!(latency(|_| ()).remarks, []);
    assert_eq!(streamed("tcp", |_| ()).remarks, []);
    assert_eq!(streamed("udp", |_| ()).remarks, []);
}

#[test]
fn faults_are_wrong_data_on_reliable_transports_and_figures_on_udp() {
    let lose = |ends: &mut Vec<Outcome>| {
        ends[1].received = count(99_000, 64);
        ends[1].faults.lost_messages = 1000;
    };
    let reliable = streamed("tcp", lose);
    assert_eq!(
        (reliable.status, severity(&reliable, "lost_messages")),
        (CaseStatus::WrongData, Some(Severity::Suspect))
    );
    let datagrams = streamed("udp", |ends| {
        lose(ends);
        ends[0]
            .transport_facts
            .insert("delivery".into(), "unreliable".into());
    });
    assert_eq!(
        (datagrams.status, severity(&datagrams, "lost_messages")),
        (CaseStatus::Ok, Some(Severity::Warning))
    );
    assert_eq!(severity(&datagrams, "ends_disagree"), None);
    let corrupt = streamed("udp", |ends| ends[1].faults.corrupt_messages = 1);
    assert_eq!(corrupt.status, CaseStatus::WrongData);
    let twice = streamed("shm", |ends| ends[1].faults.duplicate_messages = 1);
    assert_eq!(twice.status, CaseStatus::WrongData);
}

#[test]
fn ends_that_count_differently_are_wrong_unless_the_run_was_cut() {
    let short = |ends: &mut Vec<Outcome>| ends[1].received = count(99_999, 64);
    let wrong = streamed("tcp", short);
    assert_eq!(
        (wrong.status, severity(&wrong, "ends_disagree")),
        (CaseStatus::WrongData, Some(Severity::Suspect))
    );
    assert!(
        wrong.remarks[0].message.contains("sent 100,000 messages"),
        "{:?}",
        wrong.remarks[0]
    );
    let cut = streamed("tcp", |ends| {
        short(ends);
        ends[0].stop = StopReason::Interrupted;
    });
    assert_eq!(
        (cut.status, severity(&cut, "ends_disagree")),
        (CaseStatus::Partial, None)
    );
    let bytes = streamed("tcp", |ends| ends[1].received.bytes -= 1);
    assert_eq!(bytes.status, CaseStatus::WrongData);
    let pong = latency(|ends| ends[0].received.messages -= 1);
    assert_eq!(pong.status, CaseStatus::WrongData);
}

#[test]
fn broken_laws_are_suspect() {
    // 2 M messages a second that each take 1 ms are 2000 in flight; the window is 64.
    let little = streamed("tcp", |ends| {
        ends[0].samples = vec![samples(
            wirespeed_schema::outcome::SampleKind::Acknowledged,
            &[1_000_000.0; 2000],
        )];
    });
    assert_eq!(severity(&little, "littles_law"), Some(Severity::Suspect));
    let clocks = streamed("tcp", |ends| ends[1].elapsed_ns /= 2);
    assert_eq!(severity(&clocks, "elapsed_disagrees"), Some(Severity::Warning));
    let starved = streamed("tcp", |ends| {
        ends[0].disturbance.run_queue_wait_ns = Some(ends[1].elapsed_ns / 2);
        ends[1].elapsed_ns /= 2;
    });
    assert_eq!(severity(&starved, "elapsed_disagrees"), None);
    assert_eq!(
        severity(&latency(|ends| ends[1].elapsed_ns /= 2), "elapsed_disagrees"),
        Some(Severity::Warning)
    );
    let time = latency(|ends| {
        ends.iter_mut()
            .for_each(|end| end.elapsed_ns = end.elapsed_ns * 9 / 10)
    });
    assert_eq!(severity(&time, "time_does_not_add_up"), Some(Severity::Suspect));
    // What late replies took beside the requests that followed them is no time of its own.
    let late = latency(|ends| {
        for end in ends.iter_mut() {
            let late_ns = end.elapsed_ns / 10;
            end.elapsed_ns -= late_ns;
            end.transport_facts
                .insert("late_replies_ns".to_owned(), late_ns.to_string());
        }
    });
    assert_eq!(severity(&late, "time_does_not_add_up"), None);
    let broken = latency(|ends| ends[0].samples[0].histogram.count += 1);
    assert_eq!(severity(&broken, "broken_samples"), Some(Severity::Suspect));
    assert!(!broken.metrics.contains_key("rtt_p50_ns"));

    let case = case("tcp", Test::AmBw(stream(64, 64)), 100_000);
    let ends = one_way_stream(64, 100_000, 50_000_000, 20_000.0);
    let of_limit = |medium_bytes_per_s| {
        let repetitions = vec![repetition(&case, 0, ends.clone(), 0, 0)];
        case_result(case.clone(), repetitions, &Limits { medium_bytes_per_s })
    };
    // 128 MB/s.
    assert_eq!(
        severity(&of_limit(Some(100e6)), "above_medium_limit"),
        Some(Severity::Suspect)
    );
    assert_eq!(severity(&of_limit(Some(128e6)), "above_medium_limit"), None);
}

#[test]
fn the_instrument_is_questioned() {
    let coarse = latency(|ends| ends[0].clock.step_ns = finite(100.0));
    assert_eq!(severity(&coarse, "clock_step"), Some(Severity::Warning));
    for (step_ns, is_cause) in [(10.0, false), (60.0, true)] {
        let batched = latency(|ends| {
            ends[0].clock.step_ns = finite(step_ns);
            ends[0].samples[0].batch_ops = 16;
            ends.iter_mut().for_each(|end| end.elapsed_ns *= 16);
        });
        assert_eq!(severity(&batched, "batched"), Some(Severity::Note));
        let remark = batched.remarks.iter().find(|remark| remark.code == "batched");
        let message = &remark.unwrap().message;
        assert_eq!(message.contains("too short for the clock"), is_cause, "{message}");
    }
    let floor = latency(|ends| ends[0].floor.as_mut().unwrap().loop_ns = finite(300.0));
    assert_eq!(severity(&floor, "harness_share"), Some(Severity::Warning));
    assert!(floor.remarks[0].message.contains("29 %"), "{:?}", floor.remarks);
    let drift = latency(|ends| ends[1].clock.calibration_error_ppm = finite(500.0));
    assert_eq!(severity(&drift, "calibration"), Some(Severity::Warning));
    let cold = latency(|ends| ends[0].first_operation_ns = Some(finite(1e6)));
    assert_eq!(severity(&cold, "cold_start"), Some(Severity::Note));
    let short = result(case("tcp", am_lat(64), 400), 1, |_| ping_pong(64, 400, 1000.0));
    assert_eq!(severity(&short, "too_short"), Some(Severity::Warning));
}

#[test]
fn ranks_that_yield_are_not_told_that_something_else_took_their_cpu() {
    // The kernel counts a yield as it counts a CPU that was taken, and what yields waits for its own peers.
    let yielding = latency(|ends| {
        for end in ends {
            end.idle = IdlePolicy::Yield;
            end.disturbance.involuntary_switches = 5000;
            end.disturbance.run_queue_wait_ns = Some(end.observed_ns() / 4);
        }
    });
    let [remark] = yielding.remarks.as_slice() else {
        panic!("{:?}", yielding.remarks);
    };
    assert_eq!(remark.code, "yielding");
    assert!(remark.message.contains("stood in line for 25 %"), "{remark:?}");
}

#[test]
fn disturbances_are_told_with_a_remedy() {
    type Change = fn(&mut Outcome);
    let expected: [(&str, Severity, Change); 12] = [
        ("involuntary_switches", Severity::Warning, |end| {
            end.disturbance.involuntary_switches = 40
        }),
        ("migrations", Severity::Warning, |end| {
            end.disturbance.migrations = Some(1)
        }),
        ("steal", Severity::Warning, |end| {
            end.disturbance.steal_ns = Some(1_000_000)
        }),
        ("run_queue_wait", Severity::Warning, |end| {
            end.disturbance.run_queue_wait_ns = Some(1_000_000)
        }),
        ("major_faults", Severity::Warning, |end| {
            end.disturbance.major_faults = 1
        }),
        ("minor_faults", Severity::Note, |end| {
            end.disturbance.minor_faults = 5000
        }),
        ("noise", Severity::Warning, |end| {
            end.noise.as_mut().unwrap().lost_ratio = finite(0.05)
        }),
        ("yielding", Severity::Warning, |end| end.idle = IdlePolicy::Yield),
        ("not_pinned", Severity::Note, |end| end.cpu = None),
        ("governor", Severity::Note, |end| {
            end.host.governor = Some("powersave".into())
        }),
        ("load_average", Severity::Warning, |end| {
            end.host.cpus_online = 2;
            end.host.load_average_1min = Some(finite(2.5));
        }),
        ("load_average", Severity::Note, |end| {
            end.host.cpus_online = 2;
            end.host.load_average_1min = Some(finite(1.5));
        }),
    ];
    for (code, severity, change) in expected {
        let result = latency(|ends| ends.iter_mut().for_each(change));
        let [remark] = result.remarks.as_slice() else {
            panic!("{code}: {:?}", result.remarks);
        };
        assert_eq!((remark.code.as_str(), remark.severity), (code, severity));
        assert!(
            remark.message.ends_with("; the worst of 2") && remark.remedy.is_some(),
            "{remark:?}"
        );
        assert_eq!(result.status, CaseStatus::Ok);
    }
    let emulated = latency(|ends| {
        ends[0]
            .transport_facts
            .insert("one_sided".into(), "emulated through messages".into());
    });
    assert_eq!(severity(&emulated, "emulated"), Some(Severity::Note));
    let case = case("tcp", am_lat(64), 20_000);
    let shared = vec![repetition(&case, 0, ping_pong(64, 20_000, 1000.0), 0, 2)];
    assert_eq!(
        severity(&case_result(case, shared, &Limits::default()), "shared_server"),
        Some(Severity::Warning)
    );
    let jumpy = result(crate::fixture::case("tcp", am_lat(64), 20_000), 3, |index| {
        ping_pong(64, 20_000, 1000.0 * f64::from(1 + index))
    });
    assert_eq!(severity(&jumpy, "runs_differ"), Some(Severity::Warning));
}

#[test]
fn a_cipher_is_remarked_on_once_and_clear_data_are_not() {
    let encryption = |said: &str| {
        latency(|ends| {
            for end in ends {
                end.transport_facts.insert("data_encryption".into(), said.into());
            }
        })
    };
    let [remark] = &encryption("aes-256-gcm").remarks[..] else {
        panic!("one remark for both ends");
    };
    assert_eq!((&*remark.code, remark.severity), ("encrypted", Severity::Note));
    assert!(remark.message.contains("aes-256-gcm") && !remark.message.contains("worst"));
    assert_eq!(
        encryption("none: only the control channel is encrypted").remarks,
        []
    );
}

#[test]
fn remarks_are_ranked_and_each_code_stands_once() {
    let bad = latency(|ends| {
        for end in ends.iter_mut() {
            end.cpu = None;
            end.disturbance.migrations = Some(3);
        }
        ends[0].faults.corrupt_messages = 2;
    });
    let codes: Vec<&str> = bad.remarks.iter().map(|remark| remark.code.as_str()).collect();
    assert_eq!(codes, ["corrupt_data", "migrations", "not_pinned"]);
    let over_cases = run_remarks(&[bad.clone(), bad]);
    assert_eq!(over_cases.len(), 3);
    assert!(over_cases[0].message.ends_with("; in 2 of 2 cases"));
    // Of one code the gravest speaks, wherever it stands.
    let migrated = |times: u64| latency(|ends| ends[0].disturbance.migrations = Some(times));
    for cases in [[1, 7, 3], [7, 3, 1]] {
        let remarks = run_remarks(&cases.map(migrated));
        assert_eq!(
            remarks[0].message,
            "rank 0 was moved to another CPU 7 times; in 3 of 3 cases"
        );
    }
    assert!(migrated(1).remarks[0].message.ends_with("another CPU once"));
    assert!(
        over_cases
            .windows(2)
            .all(|pair| pair[0].severity >= pair[1].severity)
    );
}

#[test]
fn a_target_that_counts_must_agree_with_the_origin() {
    let gets = |at_target: u64| {
        result(case("shm", get(8), 20_000), 1, |_| {
            let mut source = outcome(0, Role::Source, 30_000_000);
            source.sent = count(20_000, 8);
            let mut sink = outcome(1, Role::Sink, 30_000_000);
            sink.received = count(at_target, 8);
            vec![source, sink]
        })
        .status
    };
    // A target that takes no part counts nothing.
    assert_eq!((gets(20_000), gets(0)), (CaseStatus::Ok, CaseStatus::Ok));
    assert_eq!(gets(19_999), CaseStatus::WrongData);
}

#[test]
fn thin_acknowledgement_samples_prove_nothing() {
    let thin = streamed("tcp", |ends| {
        ends[0].samples = vec![samples(
            wirespeed_schema::outcome::SampleKind::Acknowledged,
            &[1_000_000.0; 20],
        )];
    });
    assert_eq!(severity(&thin, "littles_law"), None);
    assert!(!thin.metrics.contains_key("in_flight_mean_msgs"));
}

#[test]
fn the_machine_of_the_plan_is_judged_once() {
    let mut host = example().host;
    assert_eq!(host_remarks(&host), []);
    host.load_average_1min = Some(finite(3.0));
    let remarks = host_remarks(&host);
    assert_eq!((remarks.len(), remarks[0].code.as_str()), (1, "load_average"));
}

#[test]
fn a_slow_generator_is_told_from_a_full_path() {
    let kept = paced(100_000, 2_000.0, 2_100.0);
    for code in ["generator_limit", "saturated", "send_lateness"] {
        assert_eq!(severity(&kept, code), None, "{code}: {:?}", kept.remarks);
    }
    // Half the rate, though a tenth of a message is in flight on average.
    let slow = paced(50_000, 2_000.0, 900_000.0);
    assert_eq!(severity(&slow, "generator_limit"), Some(Severity::Warning));
    assert_eq!(severity(&slow, "saturated"), None);
    assert_eq!(severity(&slow, "send_lateness"), Some(Severity::Note));
    // The same rate with 50 of 64 in flight.
    let full = paced(50_000, 1_000_000.0, 2_000_000.0);
    assert_eq!(severity(&full, "saturated"), Some(Severity::Note));
    assert_eq!(severity(&full, "generator_limit"), None);
}

#[test]
fn a_core_that_changes_its_frequency_is_named() {
    let changed = |step_ns: f64| {
        let result = latency(|ends| {
            let mut after = ends[0].noise.clone().unwrap();
            after.step_ns = Some(finite(step_ns));
            ends[0].noise_after = Some(after);
            ends[0].noise.as_mut().unwrap().step_ns = Some(finite(1.0));
        });
        severity(&result, "frequency")
    };
    assert_eq!(changed(1.0), None);
    assert_eq!(changed(1.04), None);
    assert_eq!(changed(1.2), Some(Severity::Warning));
    assert_eq!(changed(0.8), Some(Severity::Warning));
    assert_eq!(changed(0.0), None, "a scan that says nothing");
    let busy = latency(|ends| {
        let before = ends[0].noise.as_mut().unwrap();
        before.step_ns = Some(finite(1.0));
        before.lost_ratio = finite(0.1);
        let mut after = before.clone();
        after.step_ns = Some(finite(2.0));
        ends[0].noise_after = Some(after);
    });
    assert_eq!(
        severity(&busy, "frequency"),
        None,
        "any turn may have been disturbed"
    );
}

#[test]
fn noise_that_comes_later_counts_too() {
    let noisy = latency(|ends| {
        let mut after = ends[0].noise.clone().unwrap();
        after.lost_ratio = finite(0.2);
        ends[0].noise_after = Some(after);
    });
    let remark = noisy
        .remarks
        .iter()
        .find(|remark| remark.code == "noise")
        .unwrap();
    assert!(
        remark.message.contains("20 %") && remark.message.contains("after the run"),
        "{remark:?}"
    );
    let text = crate::fixture::screen(&run(vec![noisy]), &wirespeed_report::render::Style::PLAIN);
    assert!(text.contains("noise 0.3 % before, 20 % after"), "{text}");
}
