//! The JSON Schema of the run document, generated from the types, committed under docs/, compared by the ladder.

use anyhow::{Context, Result, bail};
use std::path::Path;

/// Where the schema is committed.
const PATH: &str = "docs/run.schema.json";

/// Write the schema, or with `check`, fail when the committed one is not what the types say.
pub fn run(root: &Path, check: bool) -> Result<()> {
    let schema = wirespeed_report::schema_json();
    let path = root.join(PATH);
    if !check {
        return std::fs::write(&path, schema).with_context(|| format!("cannot write {PATH}"));
    }
    let committed = std::fs::read_to_string(&path).with_context(|| format!("cannot read {PATH}"))?;
    if committed != schema {
        bail!("{PATH} is not what the types say; run `cargo xtask schema` and commit it");
    }
    Ok(())
}
