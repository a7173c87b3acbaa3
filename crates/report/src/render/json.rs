//! JSON: one document (pretty or on one line) and one event a line. Numbers are finite by the schema's types.

use super::RenderError;
use serde::Serialize;
use serde_json::Value;
use wirespeed_schema::Run;
use wirespeed_schema::run::Event;

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonForm {
    /// Indented; arrays of numbers (histograms) on one line.
    Pretty,
    /// One line.
    Compact,
}

/// The document as JSON, with a final newline.
pub fn json(run: &Run, form: JsonForm) -> Result<String, RenderError> {
    let value = serde_json::to_value(run).map_err(failed)?;
    let mut text = match form {
        JsonForm::Compact => compact(&value)?,
        JsonForm::Pretty => {
            let mut text = String::new();
            write_value(&mut text, &value, 0)?;
            text
        }
    };
    text.push('\n');
    Ok(text)
}

/// One event as one line of NDJSON, newline included: write and flush it as it is.
pub fn event_line(event: &Event) -> Result<String, RenderError> {
    let mut line = compact(event)?;
    line.push('\n');
    Ok(line)
}

fn compact(value: &impl Serialize) -> Result<String, RenderError> {
    serde_json::to_string(value).map_err(failed)
}

fn failed(error: serde_json::Error) -> RenderError {
    RenderError::of("JSON", &error)
}

/// Indented by two spaces a level; an array without objects stays on one line, so that a histogram is one line.
fn write_value(text: &mut String, value: &Value, depth: usize) -> Result<(), RenderError> {
    let indent = |text: &mut String, depth: usize| {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Array(items) if !items.is_empty() && !items.iter().all(is_flat) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                indent(text, depth + 1);
                write_value(text, item, depth + 1)?;
            }
            indent(text, depth);
            text.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            text.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                indent(text, depth + 1);
                text.push_str(&compact(key)?);
                text.push_str(": ");
                write_value(text, member, depth + 1)?;
            }
            indent(text, depth);
            text.push('}');
        }
        flat => text.push_str(&compact(flat)?),
    }
    Ok(())
}

/// No object anywhere inside.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => items.iter().all(is_flat),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_json_is_the_same_document() {
        let value = serde_json::json!({
            "buckets": [[1, 2], [3, 4]], "cases": [{"a": 1.5, "b": "x\"\n"}], "empty": [], "none": {}, "null": null
        });
        let mut text = String::new();
        write_value(&mut text, &value, 0).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(
            text.contains("\n  \"buckets\": [[1,2],[3,4]],\n  \"cases\": [\n    {\n"),
            "{text}"
        );
    }
}
