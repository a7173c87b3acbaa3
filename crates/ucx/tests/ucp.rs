//! UCP keeps the contract of ports, between threads of this process, with each of its options.

use wirespeed::Registry;
use wirespeed::transport::{Availability, Transport};
use wirespeed_conformance::{Report, Verdict, failures, measured, messages, one_sided, tagged};
use wirespeed_schema::case::TransportOptions;
use wirespeed_ucx::ucp::Ucp;

/// Run `suites` with `options`; how many checks passed.
fn conform(options: &[(&str, &str)], suites: &[fn(&TransportOptions) -> Vec<Report>]) -> usize {
    if !matches!(Ucp::probe(), Availability::Ready) {
        println!("skipped: {:?}", Ucp::probe());
        return usize::MAX;
    }
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let options = options.collect();
    let reports: Vec<Report> = suites.iter().flat_map(|suite| suite(&options)).collect();
    for report in &reports {
        println!("{options:?}: {report}");
    }
    assert_eq!(failures(&reports), Vec::<String>::new(), "{options:?}");
    reports.iter().filter(|r| r.verdict == Verdict::Passed).count()
}

fn measure_all(options: &TransportOptions) -> Vec<Report> {
    measured(&wirespeed_ucx::join(Registry::empty()), Ucp::NAME, options)
}

#[test]
fn as_it_is() {
    let passed = conform(
        &[],
        &[messages::<Ucp>, tagged::<Ucp>, one_sided::<Ucp>, measure_all],
    );
    assert!(passed > 80, "only {passed} checks ran");
}

#[test]
fn asleep_between_messages() {
    let passed = conform(
        &[("wait", "sleep")],
        &[messages::<Ucp>, tagged::<Ucp>, measure_all],
    );
    assert!(passed > 60, "only {passed} checks ran");
}

#[test]
fn in_pieces() {
    let passed = conform(&[("iov", "3")], &[messages::<Ucp>, tagged::<Ucp>, measure_all]);
    assert!(passed > 20, "only {passed} checks ran");
}

#[test]
fn over_tcp_with_registered_memory_and_watched_peers() {
    let options = [("tls", "tcp"), ("register", "yes"), ("errors", "peer")];
    let passed = conform(
        &options,
        &[messages::<Ucp>, tagged::<Ucp>, one_sided::<Ucp>, measure_all],
    );
    assert!(passed > 80, "only {passed} checks ran");
}

#[test]
fn tagged_in_every_way() {
    // A send that waits for its match cannot be done before its receive, as the suite on ports expects.
    let passed = conform(&[("sync", "yes")], &[measure_all]);
    assert!(passed > 50, "only {passed} checks ran");
    let passed = conform(&[("unexpected", "yes")], &[tagged::<Ucp>, measure_all]);
    assert!(passed > 60, "only {passed} checks ran");
}
