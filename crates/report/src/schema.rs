//! The JSON Schema of the Run document, generated from the types, committed as `docs/run.schema.json`.

use wirespeed_schema::Run;

/// The JSON Schema (draft 2020-12) of [`wirespeed_schema::Run`], pretty, with a final newline.
pub fn schema_json() -> String {
    let schema = schemars::schema_for!(Run);
    // Cannot fail: a schema is a JSON value with string keys. The test on the committed file would see an empty text.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
