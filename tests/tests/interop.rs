//! byteio with other people's SOAP stacks, both ways: zeep, Apache CXF, Metro and Axis 1.4 against our service, our client
//! against services on CXF, Metro and Axis. tests/lab/interop.sh builds them; what is not there is skipped with its reason.

use std::path::{Path, PathBuf};
use std::process::Command;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::ports;
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;
use wirespeed_tests::under_test::program;

const SIZE: usize = 3_000_017;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of a peer, when it is there.
fn peer(name: &str) -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = target.join("interop").join(name);
    if folder.join("ready").exists() {
        return folder.canonicalize().ok();
    }
    skip(&format!(
        "interoperability with {name}: not built; tests/lab/interop.sh says why"
    ));
    None
}

fn content() -> Vec<u8> {
    (0..SIZE as u64)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8)
        .collect()
}

fn java(home: &Home, folder: &Path, words: &[&str]) -> Running {
    let mut command = Command::new("java");
    let class_path = format!(
        "{}:{}/*",
        folder.join("classes").display(),
        folder.join("lib").display()
    );
    // Java heeds no TMPDIR.
    let aside = format!("-Djava.io.tmpdir={}", home.path("tmp").display());
    command.args(["-Xmx512m", &aside, "-cp", &class_path]).args(words);
    home.adopt(&mut command);
    Running::start(command)
}

fn home() -> Home {
    Home::new(program(env!("CARGO_BIN_EXE_wirespeed-under-test")))
}

/// Our service over a folder with one file; its address.
fn serve(home: &Home) -> (Running, String) {
    let folder = home.path("served");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("f"), content()).unwrap();
    let server = home.start(["byteio", "serve", "served", "--writable", "--port", "0"]);
    server.wait_until("listening", PATIENCE, |s| s.stdout().contains('\n'));
    let line = server.stdout().lines().next().unwrap().to_owned();
    let address = line.strip_prefix("listening on ").unwrap().to_owned();
    (server, format!("{address}f"))
}

/// A foreign client against our service.
fn client_works(name: &str, arguments: impl FnOnce(&Home, &Path, &str, &str) -> Running) {
    let Some(folder) = peer(name) else {
        return;
    };
    let home = home();
    let (_server, url) = serve(&home);
    let file = home.path("served/f").display().to_string();
    let ended = arguments(&home, &folder, &url, &file).end(PATIENCE);
    assert!(ended.stdout.contains("all ok"), "{name}: {ended}");
}

#[test]
fn zeep_talks_to_our_service() {
    client_works("zeep", |home, folder, url, file| {
        let mut command = Command::new(folder.join("bin/python"));
        command
            .arg(root().join("tests/interop/zeep/client.py"))
            .args([url, file]);
        home.adopt(&mut command);
        Running::start(command)
    });
}

#[test]
fn cxf_talks_to_our_service() {
    client_works("cxf", |home, folder, url, file| {
        java(home, folder, &["Client", url, file])
    });
}

#[test]
fn metro_talks_to_our_service() {
    client_works("metro", |home, folder, url, file| {
        java(home, folder, &["Client", url, file])
    });
}

#[test]
fn axis_talks_to_our_service() {
    client_works("axis", |home, folder, url, file| {
        java(home, folder, &["AxisClient", url, file])
    });
}

/// Our client against a foreign service: reads, and writes read back.
fn service_works(
    name: &str,
    (mechanisms, more): (&[&str], &str),
    start: impl FnOnce(&Home, &Path, u16, &str) -> (Running, String),
) {
    let Some(folder) = peer(name) else {
        return;
    };
    let home = home();
    std::fs::write(home.path("f"), content()).unwrap();
    std::fs::write(
        home.path("other"),
        content().iter().map(|b| b ^ 0x55).collect::<Vec<_>>(),
    )
    .unwrap();
    let file = home.path("f").display().to_string();
    let (server, url) = start(&home, &folder, ports::free(1), &file);
    server.wait_until("listening", PATIENCE, |s| s.stdout().contains("listening"));
    let shape = format!("--block-size 300000 --threads 3 --depth 2 --stall 30s{more}");
    for mechanism in mechanisms {
        let line =
            format!("byteio get {url} got --overwrite --size {SIZE} --mechanism {mechanism} {shape} --json");
        let ended = home.start(line.split(' ')).end(PATIENCE).code(0);
        assert!(
            std::fs::read(home.path("got")).unwrap() == content(),
            "{name} {mechanism}: {ended}"
        );
    }
    for mechanism in mechanisms {
        let line = format!("byteio put other {url} --mechanism {mechanism} {shape} --json");
        home.start(line.split(' ')).end(PATIENCE).code(0);
        let right = std::fs::read(home.path("f")).unwrap() == std::fs::read(home.path("other")).unwrap();
        assert!(right, "{name} {mechanism}: what was put is not what is there");
        std::fs::write(home.path("f"), vec![0; SIZE]).unwrap();
    }
}

#[test]
fn our_client_talks_to_cxf() {
    service_works("cxf", (&["mtom", "simple"], ""), |home, folder, port, file| {
        let url = format!("http://127.0.0.1:{port}/byteio");
        (java(home, folder, &["Server", &url, file]), url)
    });
}

#[test]
fn our_client_talks_to_metro() {
    service_works("metro", (&["mtom", "simple"], ""), |home, folder, port, file| {
        let url = format!("http://127.0.0.1:{port}/byteio");
        (java(home, folder, &["Server", &url, file]), url)
    });
}

#[test]
fn our_client_talks_to_axis() {
    service_works("axis", (&["mtom", "dime"], ""), |home, folder, port, file| {
        let property = format!("-Dfile={file}");
        let running = java(home, folder, &[&property, "AxisService", &port.to_string()]);
        (running, format!("http://127.0.0.1:{port}/axis/services/byteio"))
    });
}

#[test]
fn our_client_talks_to_streams_of_cxf_and_metro() {
    for name in ["cxf", "metro"] {
        service_works(
            name,
            (&["mtom", "simple"], " --stream"),
            |home, folder, port, file| {
                let url = format!("http://127.0.0.1:{port}/stream");
                (java(home, folder, &["StreamServer", &url, file]), url)
            },
        );
    }
}
