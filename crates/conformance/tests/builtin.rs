//! Every transport of the library keeps the contract, between threads of this process: a test a line of the list.

use wirespeed::Registry;
use wirespeed::schema::case::TransportOptions;
use wirespeed::transport::shm::Shm;
use wirespeed::transport::tcp::Tcp;
use wirespeed::transport::unix::Unix;
use wirespeed::transport::{self, Availability, Messages, OneSided, Support, Tagged, Transport};
use wirespeed_conformance::{Report, Verdict, failures, fields, measured, messages, one_sided, tagged};

macro_rules! tests {
    ($($of:ident $folder:ident::$transport:ident,)*) => {
        $(
            #[test]
            fn $folder() {
                conforms::<transport::$folder::$transport>($of::<transport::$folder::$transport>);
            }
        )*
    };
}
wirespeed::transports!(tests);

/// `suites` pass, in each way to wait that the transport has.
fn conforms<T: Transport>(suites: fn(&[(&str, &str)]) -> Vec<Report>) {
    let waits = T::OPTIONS.iter().find(|option| option.name == "wait");
    let waits = waits.into_iter().flat_map(|wait| wait.values.split('|'));
    // The first is the default.
    let ways = waits.skip(1).map(|wait| vec![("wait", wait)]);
    for options in [vec![]].into_iter().chain(ways) {
        let parsed = T::parse(&options_of(&options)).unwrap();
        if let Availability::Missing(why) | Availability::NotPermitted(why) = T::ready(&parsed) {
            println!("skipped: {} {options:?}: {why}", T::NAME);
            continue;
        }
        let reports = suites(&options);
        assert_eq!(failures(&reports), Vec::<String>::new());
        // Skips alone would be a silent pass.
        let passed = reports.iter().filter(|r| r.verdict == Verdict::Passed).count();
        let least = match T::ONE_SIDED {
            Support::Native | Support::Emulated(_) if options.is_empty() => 80,
            Support::Native | Support::Emulated(_) => 41,
            _ => 3,
        };
        assert!(passed >= least, "only {passed} checks ran");
    }
}

/// The suites of a transport with every capability, with some options set.
fn of<T: Messages + Tagged + OneSided>(options: &[(&str, &str)]) -> Vec<Report> {
    let set = options_of(options);
    let mut reports = messages::<T>(&set);
    reports.extend(tagged::<T>(&set));
    reports.extend(one_sided::<T>(&set));
    also_measured::<T>(options, reports)
}

/// The suites of a transport that has messages alone.
fn of_messages<T: Messages>(options: &[(&str, &str)]) -> Vec<Report> {
    also_measured::<T>(options, messages::<T>(&options_of(options)))
}

fn options_of(options: &[(&str, &str)]) -> TransportOptions {
    let owned = options.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
    owned.collect()
}

fn also_measured<T: Transport>(options: &[(&str, &str)], mut reports: Vec<Report>) -> Vec<Report> {
    reports.extend(measured(&Registry::builtin(), T::NAME, &options_of(options)));
    for report in reports.iter().filter(|r| r.verdict != Verdict::Passed) {
        println!("{options:?}: {report}");
    }
    reports
}

#[test]
fn all_fill_the_same_fields() {
    assert_eq!(failures(&fields(&Registry::builtin())), Vec::<String>::new());
}

#[test]
fn encrypted_ports_conform() {
    let mut reports = of::<Tcp>(&[("encrypt", "aes-256-gcm")]);
    reports.extend(of::<Unix>(&[("encrypt", "chacha20-poly1305")]));
    reports.extend(of::<Unix>(&[("encrypt", "aes-256-gcm"), ("wait", "block")]));
    reports.extend(of::<Tcp>(&[("encrypt", "chacha20-poly1305"), ("wait", "uring")]));
    assert_eq!(failures(&reports), Vec::<String>::new());
    let passed = reports.iter().filter(|r| r.verdict == Verdict::Passed).count();
    assert!(passed > 120, "only {passed} checks ran");
}

#[test]
fn a_ring_of_few_messages_conforms() {
    // Busy most of the time, and messages that wrap.
    let reports = of::<Shm>(&[("ring", "512K")]);
    assert_eq!(failures(&reports), Vec::<String>::new());
}
