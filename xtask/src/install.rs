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

/// A file to install: where it belongs below the prefix, and its mode.
struct File {
    path: String,
    bytes: Vec<u8>,
    mode: u32,
}

/// Install what `cargo build` left in the profile's folder (`release`, or as `WIRESPEED_PROFILE` says). Everything is read
/// before anything is written: what cannot be installed whole changes nothing.
pub fn run(root: &Path, prefix: &str) -> Result<()> {
    let profile = std::env::var("WIRESPEED_PROFILE").unwrap_or_else(|_| "release".to_owned());
    let built = root.join("target").join(profile);
    let mut files = program(&built)?;
    files.extend(library(root, &built, prefix)?);
    files.extend(documents(root, &built)?);
    let base = destination(root, prefix);
    for file in &files {
        put(&base.join(&file.path), &file.bytes, file.mode)?;
    }
    link(&base.join("lib"))?;
    println!("installed under {}", base.display());
    Ok(())
}

/// What is at `path`, to be installed as `name`.
fn read(path: &Path, name: &str, mode: u32) -> Result<File> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}; build it first", path.display()))?;
    Ok(File {
        path: name.to_owned(),
        bytes,
        mode,
    })
}

/// The program, and what it prints of itself.
fn program(built: &Path) -> Result<Vec<File>> {
    let binary = built.join("wirespeed");
    let mut files = vec![read(&binary, "bin/wirespeed", 0o755)?];
    let mut print = |path: &str, arguments: &[&str]| -> Result<()> {
        let bytes = command::capture(Command::new(&binary).args(arguments))?.into_bytes();
        files.push(File {
            path: path.to_owned(),
            bytes,
            mode: 0o644,
        });
        Ok(())
    };
    print("share/man/man1/wirespeed.1", &["man"])?;
    for (shell, path) in COMPLETIONS {
        print(path, &["completions", shell])?;
    }
    Ok(files)
}

/// The shared library under its full version.
fn shared() -> String {
    format!("libwirespeed.so.{}", env!("CARGO_PKG_VERSION"))
}

/// The C interface: shared and static library, header, pkg-config.
fn library(root: &Path, built: &Path, prefix: &str) -> Result<Vec<File>> {
    let interface = root.join("crates/capi");
    let template = fs::read_to_string(interface.join("wirespeed.pc.in"))?;
    let text = template
        .replace("@PREFIX@", prefix)
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    Ok(vec![
        read(
            &built.join("libwirespeed_c.so"),
            &format!("lib/{}", shared()),
            0o755,
        )?,
        read(&built.join("libwirespeed_c.a"), "lib/libwirespeed.a", 0o644)?,
        read(
            &interface.join("include/wirespeed.h"),
            "include/wirespeed.h",
            0o644,
        )?,
        File {
            path: "lib/pkgconfig/wirespeed.pc".to_owned(),
            bytes: text.into_bytes(),
            mode: 0o644,
        },
    ])
}

/// Licences and changes.
fn documents(root: &Path, built: &Path) -> Result<Vec<File>> {
    let place = |name: &str| format!("share/doc/wirespeed/{name}");
    let texts = built.join("THIRD-PARTY-LICENSES.txt");
    notices::write_texts(root, &texts)?;
    let mut files = vec![read(&texts, &place("THIRD-PARTY-LICENSES.txt"), 0o644)?];
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md", "CHANGELOG.md"] {
        files.push(read(&root.join(name), &place(name), 0o644)?);
    }
    Ok(files)
}

/// The usual links to the shared library.
fn link(folder: &Path) -> Result<()> {
    let major = env!("CARGO_PKG_VERSION_MAJOR");
    for name in [format!("libwirespeed.so.{major}"), "libwirespeed.so".to_owned()] {
        let link = folder.join(name);
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(shared(), &link)
            .with_context(|| format!("cannot link {}", link.display()))?;
    }
    Ok(())
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
