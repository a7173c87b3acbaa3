//! Puts the commit into the program, where there is one: `git` and its absence are both fine.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=WIRESPEED_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    // A build from an archive can name its commit itself.
    let given = std::env::var("WIRESPEED_COMMIT").ok().filter(|c| !c.is_empty());
    if let Some(commit) = given.or_else(|| git(&["rev-parse", "--short=12", "HEAD"])) {
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
