//! What this build is.

use wirespeed_schema::run::Tool;

const COMMIT: Option<&str> = option_env!("WIRESPEED_COMMIT");

/// The version as `--version` prints it: with the commit, where it is known.
pub fn long() -> String {
    match COMMIT {
        Some(commit) => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
        None => env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// This program, as a document names it.
pub fn tool() -> Tool {
    Tool {
        name: "wirespeed".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: COMMIT.map(str::to_owned),
    }
}
