//! The JSON Schema of the Run document.

/// The JSON Schema (draft 2020-12) of [`wirespeed_schema::Run`], pretty, with a final newline.
pub fn schema_json() -> String {
    String::new()
}
