//! The C header, generated from the C interface's source, committed beside it, compared by the ladder.

use anyhow::{Context, Result, bail};
use std::path::Path;

/// The crate of the C interface.
const CRATE: &str = "crates/capi";
/// Where the header is committed.
const PATH: &str = "crates/capi/include/wirespeed.h";

/// Write the header, or with `check`, fail when the committed one is not what the source says.
pub fn run(root: &Path, check: bool) -> Result<()> {
    let folder = root.join(CRATE);
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))
        .map_err(|e| anyhow::anyhow!("{CRATE}/cbindgen.toml: {e}"))?;
    let bindings = cbindgen::generate_with_config(&folder, config).context("cannot read the C interface")?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    // Rust's heading for what a caller must see to, in the words of a C header.
    let header = String::from_utf8(header)?.replace("// # Safety\n", "// Requires:\n");
    let path = root.join(PATH);
    if !check {
        let folder = path.parent().context("the header has a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        return std::fs::write(&path, header).with_context(|| format!("cannot write {PATH}"));
    }
    let committed = std::fs::read_to_string(&path).with_context(|| format!("cannot read {PATH}"))?;
    if committed != header {
        bail!("{PATH} is not what the source says; run `cargo xtask header` and commit it");
    }
    Ok(())
}
