//! What is refused, with which words and which code; and what must not disturb a result.

use crate::{command, document, home, run, turn};
use wirespeed_tests::running::Running;
use wirespeed_tests::ucx::installed;

#[test]
fn what_a_device_cannot_do_is_refused_with_the_reason() {
    let home = home();
    let Some(library) = installed().into_iter().next() else {
        return;
    };
    for (line, word) in [
        ("am_lat --via uct --size 100000 --layout bcopy", "above the limit"),
        ("am_lat --via uct --layout zcopy", "no zero-copy active message"),
        ("put_lat --via uct -O tl=tcp --layout short", "no short put"),
        ("get --via uct -O tl=tcp", "no"),
        ("fadd --via uct -O tl=tcp", "no atomic fadd"),
        ("am_lat --via uct -O tl=cma", "no"),
        (
            "put_lat --via uct --layout shortiov",
            "only messages are gathered",
        ),
        ("am_lat --via uct -O tl=nothing", "it has: tl="),
        ("am_lat --via uct -O device=nothing", "it has: tl="),
        ("am_lat --via uct -O header=7", "from 8 to 65536"),
        ("am_lat --via ucp -O header=1M", "from 8 to 65536"),
        ("am_lat --via uct -O tl=tcp,device=lo", "several values"),
        ("am_lat --via uct -O iov=17", "from 1 to 16"),
        ("am_lat --via uct -O iov=0", "from 1 to 16"),
        ("am_lat --via ucp -O iov=8+", "as many sizes"),
        ("tag_lat --via ucp -O stride=far", "stride"),
        ("am_lat --via ucp -O stream=yes", "no|recv|data"),
        ("am_lat --via uct -O events=none", "thread_spinlock"),
        (
            "put_lat --via uct -O tl=tcp --layout zcopy -O stride=64",
            "leave option stride out",
        ),
        ("am_lat --via uct -O depth=1", "has no option"),
        ("am_lat --via uct --procs 40", "at most 32 ranks"),
        ("am_lat --via uct -O ucx=/nowhere", "/nowhere has no libucp.so.0"),
        ("am_lat --via ucp -O ucx=/nowhere", "/nowhere has no libucp.so.0"),
        ("am_lat --via ucp --layout shortiov", "take layout zcopy"),
        ("put_lat --via ucp -O iov=2", "leave option iov out"),
        ("am_lat --via ucp --size 1G --layout zcopy", "above the limit"),
        ("am_lat --via ucp -O wait=nap", "poll|sleep"),
    ] {
        let ended = run(&home, &library, &format!("run {line} --iters 10")).code(2);
        let (cause, _) = ended.complaint();
        assert!(cause.contains(word), "{line}: {ended}");
    }
}

#[test]
fn what_a_stream_or_pieces_cannot_do_fails_with_the_reason() {
    let _turn = turn();
    let home = home();
    let Some(library) = installed().into_iter().next() else {
        return;
    };
    for (line, word) in [
        ("tag_lat --size 0 -O stream=recv", "no messages of 0 bytes"),
        ("tag_lat -O stream=recv -O sync=yes", "a stream has no tags"),
        ("msgrate -O stream=recv --procs 4", "in the order of sending"),
        ("tag_lat --size 100 -O iov=50+49", "pieces of 99 bytes"),
        ("tag_lat --size 100 -O iov=80+20 -O stride=64", "does not fit"),
    ] {
        let ended = run(
            &home,
            &library,
            &format!("run {line} --via ucp --iters 10 --json"),
        );
        let text = format!("{ended}");
        assert!(ended.code != Some(0) && text.contains(word), "{line}: {ended}");
    }
}

#[test]
fn transports_that_ucx_does_not_know_fail_the_run_with_its_words() {
    let _turn = turn();
    let home = home();
    let Some(library) = installed().into_iter().next() else {
        return;
    };
    let ended = run(
        &home,
        &library,
        "run am_lat --via ucp -O tls=nothing --iters 10 --json",
    )
    .code(1);
    let error = document(&ended).cases[0].error.clone().unwrap_or_default();
    assert!(error.contains("UCX"), "{ended}");
}

#[test]
fn what_ucx_prints_stays_out_of_the_document() {
    let _turn = turn();
    let home = home();
    for library in installed() {
        let line = "run am_lat --via uct,ucp --iters 10 --json";
        let mut command = command(&home, &library, line);
        // Newer releases warn of variables that they do not know, on stdout.
        command.env("UCX_NO_SUCH_VARIABLE", "1");
        let ended = Running::start(command).end(crate::SOON).code(0);
        assert_eq!(document(&ended).cases.len(), 2);
    }
}

#[test]
fn a_second_library_in_one_run_is_left_out_with_the_reason() {
    let _turn = turn();
    let home = home();
    let all = installed();
    let [first, second, ..] = &all[..] else { return };
    let Some(place) = &second.place else { return };
    let own = "/usr/lib/x86_64-linux-gnu";
    let line = format!(
        "run am_lat --via uct -O ucx={own},{} --iters 10 --json",
        place.display()
    );
    let ended = run(&home, first, &line);
    let errors: Vec<_> = document(&ended).cases.into_iter().map(|c| c.error).collect();
    assert!(errors[0].is_none(), "{ended}");
    assert!(
        errors[1]
            .as_deref()
            .is_some_and(|why| why.contains("give each a run of its own")),
        "{ended}"
    );
}

#[test]
fn without_the_library_both_are_listed_with_the_reason() {
    let home = home();
    let mut command = home.command(["list", "--json"]);
    command.env("WIRESPEED_UCX", "/nowhere");
    let ended = Running::start(command).end(crate::SOON).code(0);
    for transport in ended.json()["transports"].as_array().unwrap() {
        if ["uct", "ucp"].contains(&transport["name"].as_str().unwrap()) {
            assert_eq!(transport["available"], false);
            let why = transport["obstacle"].as_str().unwrap();
            assert!(
                why.contains("/nowhere has no libucp.so.0") && why.contains("libucx0"),
                "{why}"
            );
        }
    }
}
