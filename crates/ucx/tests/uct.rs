//! Every device that UCX finds here keeps the contract of ports, between threads of this process; a loopback device is
//! measured with a rank that is its own peer.

use wirespeed::transport::{Availability, Transport};
use wirespeed::{Registry, transport::Resource};
use wirespeed_conformance::{Report, Verdict, failures, measured, messages, one_sided, tagged};
use wirespeed_schema::case::TransportOptions;
use wirespeed_ucx::uct::Uct;

fn resources() -> Vec<Resource> {
    match Uct::probe() {
        Availability::Ready => Uct::resources(&Uct::parse(&TransportOptions::new()).unwrap()),
        other => {
            println!("skipped: {other:?}");
            Vec::new()
        }
    }
}

fn conform(options: &TransportOptions) -> Vec<Report> {
    let mut reports = messages::<Uct>(options);
    reports.extend(tagged::<Uct>(options));
    reports.extend(one_sided::<Uct>(options));
    reports.extend(measured(
        &wirespeed_ucx::join(Registry::empty()),
        Uct::NAME,
        options,
    ));
    reports
}

#[test]
fn every_device_conforms() {
    for resource in resources() {
        let mut options = resource.options;
        for iov in ["1", "3"] {
            options.insert("iov".into(), iov.into());
            let reports = conform(&options);
            for report in &reports {
                println!("{options:?}: {report}");
            }
            assert_eq!(failures(&reports), Vec::<String>::new(), "{options:?}");
            let passed = reports.iter().filter(|r| r.verdict == Verdict::Passed).count();
            println!("{options:?}: {passed} checks passed");
        }
    }
}
