//! Who talks to whom: both ends prove themselves before anything is measured.

use crate::common::{case, deadline, registry};
use crate::daemon::{Running, fact, hosts_case, options};
use std::io::{Read, Write};
use wirespeed_control::{ControlError, Group, GroupSpec, Identity, ServerSpec, StopFlag, run_case};
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::message::ServerLimits;

#[test]
fn a_case_runs_over_both_ends_and_again_over_the_same_session() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let mut group = daemon.group().unwrap();
    assert_eq!(group.servers()[0].limits, Some(&ServerLimits::default()));
    for _ in 0..3 {
        let result = group.run(&hosts_case(&[]), &mut |_| (), &StopFlag::new());
        assert!(result.error.is_none(), "{:?}", result.error);
        assert_eq!(result.overlapping_sessions, 0);
        assert_ne!(fact(&result, 0, "pid"), fact(&result, 1, "pid"));
        assert_eq!(fact(&result, 1, "bind"), "127.0.0.1");
    }
    let four = case(4, &[]).with_group(GroupKind::Hosts);
    let result = group.run(&four, &mut |_| (), &StopFlag::new());
    assert!(result.error.is_none() && result.outcomes.iter().all(Option::is_some));
}

#[test]
fn ipv6_works_where_the_machine_has_it() {
    let _deadline = deadline(60);
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6 loopback");
        return;
    }
    let daemon = Running::ordinary();
    let spec = GroupSpec::Hosts(vec![
        ServerSpec::new(
            format!("[::1]:{}", daemon.address.port()),
            daemon.identity.clone(),
        )
        .with_ranks(vec![0]),
    ]);
    let result = run_case(
        &spec,
        &hosts_case(&[]),
        &registry(),
        options(),
        &mut |_| (),
        &StopFlag::new(),
    );
    assert!(result.error.is_none(), "{:?}", result.error);
    assert_eq!(
        (fact(&result, 0, "bind"), fact(&result, 1, "bind")),
        ("::1".into(), "::1".into())
    );
}

#[test]
fn a_wrong_token_and_a_wrong_server_are_refused() {
    let _deadline = deadline(60);
    let (daemon, other) = (Running::ordinary(), Running::ordinary());
    let open = |identity: Identity| {
        let spec = GroupSpec::Hosts(vec![ServerSpec::new(daemon.address.to_string(), identity)]);
        let opened = Group::open(&spec, &registry(), options(), &mut |_| (), &StopFlag::new());
        opened.err().expect("it was let in")
    };
    let error = open(other.identity.clone());
    assert!(matches!(error, ControlError::WrongServer { .. }), "{error:?}");
    assert_eq!(error.exit_code(), 5);
    let forged = forged(&daemon.identity);
    let error = open(forged);
    assert!(matches!(error, ControlError::Refused(_)), "{error:?}");
    assert!(error.to_string().contains("token") && error.exit_code() == 5);
    daemon.assert_serves();
}

/// The right fingerprint with another token: bytes 32 and on of the text's 64.
fn forged(identity: &Identity) -> Identity {
    let mut text = identity.to_text();
    // Near the end of the base64 text lies the token's end; another letter there is another token.
    let position = text.len() - 6;
    let other = if text.as_bytes()[position] == b'A' {
        "B"
    } else {
        "A"
    };
    text.replace_range(position..=position, other);
    Identity::from_text(&text).unwrap()
}

#[test]
fn nobody_there_is_an_error_with_a_remedy() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let identity = daemon.identity.clone();
    let port = daemon.address.port();
    drop(daemon);
    let open = |address: &str| {
        let spec = GroupSpec::Hosts(vec![ServerSpec::new(address, identity.clone())]);
        Group::open(&spec, &registry(), options(), &mut |_| (), &StopFlag::new())
            .err()
            .unwrap()
    };
    let refused = open(&format!("127.0.0.1:{port}"));
    assert!(matches!(refused, ControlError::Connect { .. }));
    assert!(refused.remedy().contains("wirespeed serve") && refused.exit_code() == 1);
    assert_eq!(open("::::").exit_code(), 2);
    // Something that is no wirespeed.
    let echo = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = echo.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = echo.accept().unwrap();
        stream.write_all(b"220 mail.example ESMTP\r\n").unwrap();
        let _ = stream.read(&mut [0; 64]);
    });
    assert!(matches!(open(&address), ControlError::Protocol { .. }));
    server.join().unwrap();
}
