//! The JSON Schema of the Run document, generated from the types, committed as `docs/run.schema.json`.

use wirespeed_schema::Run;

/// The JSON Schema (draft 2020-12) of [`wirespeed_schema::Run`], pretty, with a final newline.
pub fn schema_json() -> String {
    let schema = schemars::schema_for!(Run);
    // A schema is plain JSON; the alternate form of its value is the pretty one and cannot fail.
    format!("{:#}\n", schema.to_value())
}
