//! Files and addresses out of the ordinary: empty ones, names that are no text, fragments, more than there is. What has no
//! rate is given none.

use crate::{home, run, serve};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use wirespeed_tests::deadline::PATIENCE;

#[test]
fn where_nothing_moves_there_is_neither_a_rate_nor_a_limit() {
    let home = home();
    let (_server, url) = serve(&home, "--writable");
    for name in ["source", "served/f"] {
        std::fs::write(home.path(name), "").unwrap();
    }
    for line in [
        format!("byteio get {url}/f copy --overwrite"),
        format!("byteio put source {url}/g"),
        format!("byteio bench {url}/f"),
    ] {
        let shown = run(&home, &line).code(0).stdout;
        let answer = shown.split("\n\n").next().unwrap();
        assert!(answer.contains("0 bytes, there was nothing to move"), "{shown}");
        for untrue in ["limit:", "failed", "all runs", "no reason"] {
            assert!(!shown.contains(untrue), "{untrue}: {shown}");
        }
        let pair =
            run(&home, &format!("{line} --json")).code(0).json()["sections"]["byteio"]["pairs"][0].clone();
        assert!(pair["summary"].is_null() && pair["verdict"].is_null(), "{pair}");
        let moved = &pair["runs"][0];
        assert_eq!(moved["payload_bytes"], 0, "{moved}");
        assert!(moved["bandwidth_bytes_per_s"].is_null(), "{moved}");
        let rows = run(&home, &format!("{line} --csv")).code(0).stdout;
        let mut rows = rows.lines().map(|row| row.split(',').collect::<Vec<_>>());
        let names = rows.next().unwrap();
        let value = |row: &[&str], name| row[names.iter().position(|n| *n == name).unwrap()].to_owned();
        for row in rows {
            let told = ["payload_bytes", "bandwidth_bytes_per_s"].map(|name| value(&row, name));
            assert_eq!(told, ["0", ""], "{line}");
        }
        let again = run(&home, &format!("{line} -o empty.json")).code(0);
        let report = run(&home, "report empty.json").code(0).stdout;
        assert!(
            !report.contains("0 of 1 case") && !report.contains("no reason"),
            "{again} {report}"
        );
    }
    assert_eq!(std::fs::read(home.path("copy")).unwrap(), b"");
    assert_eq!(std::fs::read(home.path("served/g")).unwrap(), b"");
}

#[test]
fn a_name_that_is_no_text_is_a_name_and_a_fragment_is_none() {
    let home = home();
    let (_server, url) = serve(&home, "--writable");
    let odd = OsStr::from_bytes(b"a \xff\n.bin");
    let place = home.path(".").join(odd);
    std::fs::write(&place, "content").unwrap();
    let end = |words: &[&OsStr]| home.start(words).end(PATIENCE).code(0);
    let to = format!("{url}/f#part");
    end(&["byteio".as_ref(), "put".as_ref(), odd, to.as_ref()]);
    assert_eq!(std::fs::read(home.path("served/f")).unwrap(), b"content");
    std::fs::remove_file(&place).unwrap();
    end(&["byteio".as_ref(), "get".as_ref(), to.as_ref(), odd]);
    assert_eq!(std::fs::read(&place).unwrap(), b"content");
    end(&["byteio".as_ref(), "get".as_ref(), to.as_ref()]);
    assert_eq!(std::fs::read(home.path("f")).unwrap(), b"content");
}

#[test]
fn a_case_that_wants_more_than_there_is_is_told_what_helps() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), "content").unwrap();
    let line = format!("run bulk_get --via byteio-http --to {url}/f --total 8 --repeats 1");
    let (cause, remedy) = run(&home, &line).code(1).complaint();
    assert!(cause.contains("has 7 bytes, fewer than the 8"), "{cause}");
    assert_eq!(remedy, "ask for fewer, or serve a larger file");
}
