//! Puts the commit into the program, where there is one, and whether the sources differ from it: `git` and its absence are
//! both fine.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=WIRESPEED_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    // All crates are in the program: a change in any of them makes it another one than the commit's.
    println!("cargo:rerun-if-changed=..");
    // A build from an archive can name its commit itself.
    let given = std::env::var("WIRESPEED_COMMIT").ok().filter(|c| !c.is_empty());
    let own = || {
        let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
        let changed = Command::new("git")
            .args(["diff", "--quiet", "HEAD", "--", ".."])
            .status();
        match changed.is_ok_and(|status| status.code() == Some(1)) {
            true => Some(format!("{commit}-dirty")),
            false => Some(commit),
        }
    };
    if let Some(commit) = given.or_else(own) {
        println!("cargo:rustc-env=WIRESPEED_COMMIT={commit}");
    }
}

/// The one line that git prints, or nothing at all.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.trim();
    (output.status.success() && !line.is_empty() && !line.contains('\n')).then(|| line.to_owned())
}
