//! `make install`: binary, C library, man pages, completions and licences under a prefix, below DESTDIR where that is set.
//!
//! What is installed is what the program itself prints; nothing is written by hand here.

use crate::{command, notices};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Completions: shell, and where its file belongs below the prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/wirespeed"),
    ("zsh", "share/zsh/site-functions/_wirespeed"),
    ("fish", "share/fish/vendor_completions.d/wirespeed.fish"),
];

/// Install what `cargo build` left in the profile's folder (`release`, or as `WIRESPEED_PROFILE` says).
pub fn run(root: &Path, prefix: &str) -> Result<()> {
    let profile = std::env::var("WIRESPEED_PROFILE").unwrap_or_else(|_| "release".to_owned());
    let binary = root.join("target").join(&profile).join("wirespeed");
    let base = destination(root, prefix);
    put(
        &base.join("bin/wirespeed"),
        &fs::read(&binary).with_context(|| format!("cannot read {}; build it first", binary.display()))?,
        0o755,
    )?;
    let printed = |arguments: &[&str]| command::capture(Command::new(&binary).args(arguments));
    put(
        &base.join("share/man/man1/wirespeed.1"),
        printed(&["man"])?.as_bytes(),
        0o644,
    )?;
    for (shell, path) in COMPLETIONS {
        put(
            &base.join(path),
            printed(&["completions", shell])?.as_bytes(),
            0o644,
        )?;
    }
    library(root, &root.join("target").join(&profile), &base, prefix)?;
    let documents = base.join("share/doc/wirespeed");
    fs::create_dir_all(&documents)?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md", "CHANGELOG.md"] {
        put(&documents.join(file), &fs::read(root.join(file))?, 0o644)?;
    }
    notices::write_texts(root, &documents.join("THIRD-PARTY-LICENSES.txt"))?;
    println!("installed under {}", base.display());
    Ok(())
}

/// The C interface: shared library under its full version with the usual links, static library, header, pkg-config.
fn library(root: &Path, built: &Path, base: &Path, prefix: &str) -> Result<()> {
    let from = |name: &str| {
        let path = built.join(name);
        fs::read(&path).with_context(|| format!("cannot read {}; build it first", path.display()))
    };
    let (full, major) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_VERSION_MAJOR"));
    let folder = base.join("lib");
    let shared = format!("libwirespeed.so.{full}");
    put(&folder.join(&shared), &from("libwirespeed_c.so")?, 0o755)?;
    put(&folder.join("libwirespeed.a"), &from("libwirespeed_c.a")?, 0o644)?;
    for name in [format!("libwirespeed.so.{major}"), "libwirespeed.so".to_owned()] {
        let link = folder.join(name);
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&shared, &link)
            .with_context(|| format!("cannot link {}", link.display()))?;
    }
    let interface = root.join("crates/capi");
    let header = fs::read(interface.join("include/wirespeed.h"))?;
    put(&base.join("include/wirespeed.h"), &header, 0o644)?;
    let template = fs::read_to_string(interface.join("wirespeed.pc.in"))?;
    let text = template.replace("@PREFIX@", prefix).replace("@VERSION@", full);
    put(&folder.join("pkgconfig/wirespeed.pc"), text.as_bytes(), 0o644)
}

/// DESTDIR goes in front of the prefix, also of an absolute one.
fn destination(root: &Path, prefix: &str) -> PathBuf {
    match std::env::var("DESTDIR") {
        Ok(folder) if !folder.is_empty() => root.join(folder).join(prefix.trim_start_matches('/')),
        _ => root.join(prefix),
    }
}

/// Write `bytes` to `path` under another name first, so that a running program is replaced, not overwritten.
fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let folder = path.parent().context("a file has a folder")?;
    let place = || format!("cannot write {}", path.display());
    fs::create_dir_all(folder).with_context(place)?;
    let fresh = path.with_extension("new");
    fs::write(&fresh, bytes).with_context(place)?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(mode)).with_context(place)?;
    fs::rename(&fresh, path).with_context(place)
}
