//! The C interface as C sees it: the examples, compiled by the C compiler against the header, with the shared and with
//! the static library, run with good and with bad words.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use wirespeed::Registry;
use wirespeed::transport::Availability;

const STRICT: [&str; 6] = [
    "-std=c11",
    "-D_POSIX_C_SOURCE=200809L",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder where cargo left the libraries: that of this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

/// A folder with the libraries under the names that they have when installed.
fn installed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("libwirespeed_c.so", "libwirespeed.so"),
        ("libwirespeed_c.so", "libwirespeed.so.0"),
        ("libwirespeed_c.a", "libwirespeed.a"),
    ] {
        let from = built().join(from);
        assert!(from.is_file(), "{} is not there", from.display());
        std::os::unix::fs::symlink(from, folder.path().join(to)).unwrap();
    }
    folder
}

fn compile(compiler: &str, example: &str, folder: &Path, more: &[&str]) -> PathBuf {
    let program = folder.join(example.trim_end_matches(".c"));
    let output = Command::new(compiler)
        .args(STRICT)
        .arg(format!("-I{}", here().join("include").display()))
        .arg(here().join("examples").join(example))
        .arg(format!("-L{}", folder.display()))
        .args(more)
        .args(["-pthread", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

fn run(program: &Path, folder: &Path, words: &[&str]) -> Output {
    Command::new(program)
        .args(words)
        .env("LD_LIBRARY_PATH", folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A test of every capability, with its size.
const TESTS: [(&str, &str); 8] = [
    ("am_lat", "8"),
    ("am_bw", "64"),
    ("am_bibw", "64"),
    ("put_lat", "8"),
    ("get", "4K"),
    ("fadd", "8"),
    ("tag_lat", "8"),
    ("tag_bw", "1K"),
];

/// Transports of UCX, unless this machine has no UCX.
fn of_ucx() -> &'static [&'static str] {
    let registry = wirespeed_ucx::join(Registry::builtin());
    match (registry.find("ucp").unwrap().probe)() {
        Availability::Ready => &["uct", "ucp"],
        _ => {
            println!("skipped: UCX is not installed (`make test` installs it)");
            &[]
        }
    }
}

/// How long is measured where the result only has to be there.
const BRIEFLY: &str = "30ms";

/// Words of the examples: every test over every transport of UCX.
fn tests_over_ucx() -> impl Iterator<Item = [&'static str; 4]> {
    let over = |via: &&'static str| {
        let via = *via;
        TESTS
            .into_iter()
            .map(move |(test, size)| [via, test, size, BRIEFLY])
    };
    of_ucx().iter().flat_map(over)
}

/// The example measures `words`, and says nothing but what it means to.
fn measures(program: &Path, folder: &Path, words: [&str; 4]) {
    let output = run(program, folder, &words);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{words:?}: {out}{err}");
    assert_eq!(
        out.matches("operations, typical").count(),
        1,
        "{words:?}: {out}{err}"
    );
    assert!(!out.contains("typical -"), "{words:?}: {out}");
    // Reports are the example's own; the library says nothing.
    let silent = err.lines().all(|line| line.contains(" ms: "));
    assert!(silent, "{words:?}: {err}");
}

#[test]
fn two_threads_and_two_processes_measure_over_ucx() {
    let folder = installed();
    for example in ["two_threads.c", "two_processes.c"] {
        let program = compile("cc", example, folder.path(), &["-lwirespeed"]);
        for words in tests_over_ucx() {
            measures(&program, folder.path(), words);
        }
    }
}

#[test]
fn two_processes_measure_with_transports_of_our_own() {
    let folder = installed();
    let program = compile("cc", "two_processes.c", folder.path(), &["-lwirespeed"]);
    for words in [
        ["shm", "am_lat", "8", BRIEFLY],
        ["tcp", "put_bw", "4K", BRIEFLY],
        ["unix", "tag_bw", "64", BRIEFLY],
        ["shm", "msgrate", "8", BRIEFLY],
        ["tcp", "osu_bw", "64", BRIEFLY],
    ] {
        measures(&program, folder.path(), words);
    }
}

#[test]
fn without_its_library_a_transport_says_why() {
    let folder = installed();
    for example in ["two_threads.c", "two_processes.c"] {
        let program = compile("cc", example, folder.path(), &["-lwirespeed"]);
        for via in ["uct", "ucp"] {
            let output = Command::new(&program)
                .args([via, "am_lat", "8"])
                .env("LD_LIBRARY_PATH", folder.path())
                .env("WIRESPEED_UCX", "/nowhere")
                .output()
                .unwrap();
            let err = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{example} {via}: {err}");
            assert!(err.contains("/nowhere has no libucp"), "{example} {via}: {err}");
            assert_eq!(text(&output.stdout), "");
        }
    }
}

#[test]
fn two_threads_measure_with_the_shared_library() {
    let folder = installed();
    let program = compile("cc", "two_threads.c", folder.path(), &["-lwirespeed"]);
    for words in [
        ["inproc", "am_lat", "8"],
        ["shm", "am_bw", "4K"],
        ["tcp", "fadd", "8"],
        ["unix", "am_bibw", "64"],
    ] {
        let output = run(&program, folder.path(), &words);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{words:?}: {err}");
        assert!(out.contains("operations, typical"), "{words:?}: {out}");
        assert!(err.contains(" ms: "), "no report: {err}");
        assert_eq!(
            out.contains("99 of 100 round trips"),
            words[1] == "am_lat",
            "{out}"
        );
    }
}

#[test]
fn two_threads_measure_with_the_static_library() {
    let folder = installed();
    let archive = folder.path().join("libwirespeed.a");
    let archive = archive.to_str().unwrap();
    let private = ["-lpthread", "-ldl", "-lm", "-lrt", "-lutil", "-lgcc_s"];
    let more: Vec<&str> = std::iter::once(archive).chain(private).collect();
    let program = compile("cc", "two_threads.c", folder.path(), &more);
    let output = run(&program, Path::new("/nonexistent"), &["inproc", "put_lat", "8"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn nonsense_gets_two_lines_and_the_programs_exit_code() {
    let folder = installed();
    let program = compile("cc", "two_threads.c", folder.path(), &["-lwirespeed"]);
    for (words, cause) in [
        (["tpc", "am_lat", "8"], "tpc"),
        (["inproc", "latncy", "8"], "latncy"),
        (["inproc", "am_lat", "many"], "many"),
        (["inproc", "am_lat", "8,16"], "2 cases"),
        (["udp", "put_lat", "8"], "udp"),
        (["inproc", "am_lat", "10G"], "limit"),
    ] {
        let output = run(&program, folder.path(), &words);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {err}");
        assert!(err.contains(cause), "{words:?}: {err}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
    }
}

#[test]
fn the_header_is_c_plus_plus_too() {
    let folder = installed();
    let source = folder.path().join("version.cc");
    std::fs::write(
        &source,
        "#include <wirespeed.h>\n#include <cstring>\nint main() { return std::strlen(ws_version()) > 0 ? 0 : 1; }\n",
    )
    .unwrap();
    let program = folder.path().join("version");
    let compiled = Command::new("c++")
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg(format!("-I{}", here().join("include").display()))
        .arg(&source)
        .arg(format!("-L{}", folder.path().display()))
        .args(["-lwirespeed", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    assert!(run(&program, folder.path(), &[]).status.success());
}

#[test]
fn the_ranks_of_an_mpi_job_meet_through_their_communicator() {
    for (compiler, launcher) in [
        ("mpicc.openmpi", "mpirun.openmpi"),
        ("mpicc.mpich", "mpirun.mpich"),
    ] {
        let found = Command::new(compiler).arg("--version").output().is_ok();
        if !found {
            eprintln!("skipped: {compiler} is not installed (`make test` installs it)");
            continue;
        }
        let folder = installed();
        let program = compile(compiler, "mpi.c", folder.path(), &["-lwirespeed"]);
        let own = [["shm", "am_lat", "8", BRIEFLY], ["tcp", "am_bw", "64", BRIEFLY]];
        for words in own.into_iter().chain(tests_over_ucx()) {
            let mut command = Command::new(launcher);
            command.env("LD_LIBRARY_PATH", folder.path());
            command.envs([
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ]);
            let output = command
                .args(["-n", "2"])
                .arg(&program)
                .args(words)
                .output()
                .unwrap();
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            assert!(output.status.success(), "{compiler} {words:?}: {err}");
            assert_eq!(out.matches("operations, typical").count(), 1, "{out}{err}");
        }
    }
}
