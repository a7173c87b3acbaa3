//! What a file of another tool does not say, and what the user says instead. Nothing unsaid becomes a fact in silence.

use super::{Figures, Format, ImportError};
use serde::Deserialize;
use wirespeed_schema::Test;
use wirespeed_schema::test::Layout;

/// What the user says of a file that does not say it itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// Which test it was, by its name here or in ucx_perftest.
    pub test: Option<String>,
    /// Its message size.
    pub size_bytes: Option<u64>,
    /// Messages that may be unacknowledged at once.
    pub window_msgs: Option<u64>,
    /// The transport.
    pub transport: Option<String>,
}

/// Something that a file does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsaid {
    /// Which test it was.
    Test,
    /// The message size.
    Size,
    /// The window.
    Window,
    /// The transport.
    Transport,
}

impl Unsaid {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Unsaid::Test => "test",
            Unsaid::Size => "message size",
            Unsaid::Window => "window",
            Unsaid::Transport => "transport",
        }
    }

    /// The option of `wirespeed import` that says it.
    pub fn option(self) -> &'static str {
        match self {
            Unsaid::Test => "--test",
            Unsaid::Size => "--size",
            Unsaid::Window => "--window",
            Unsaid::Transport => "--transport",
        }
    }
}

/// What stands in for something unsaid, and where it comes from: `14 B, the tool's default`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assumed {
    /// What.
    pub what: Unsaid,
    /// In words.
    pub taken: String,
}

/// A test by its name with a size, a layout, and how many may be under way; `None` for one that other tools do not have.
pub(super) fn test_named(name: &str, size_bytes: u64, layout: Layout, under_way: u64) -> Option<Test> {
    let words = [("test", name), ("layout", layout.name()), ("buffers", "single")];
    let numbers = [
        ("size_bytes", size_bytes),
        ("window_msgs", under_way),
        ("outstanding_ops", under_way),
    ];
    test_of(&words, &numbers)
}

/// A test of these fields, as documents have them; those of other tests are left out.
pub(super) fn test_of(words: &[(&str, &str)], numbers: &[(&str, u64)]) -> Option<Test> {
    let mut fields = serde_json::Map::new();
    for (name, word) in words {
        fields.insert((*name).to_owned(), (*word).into());
    }
    for (name, number) in numbers {
        fields.insert((*name).to_owned(), (*number).into());
    }
    Deserialize::deserialize(&serde_json::Value::Object(fields)).ok()
}

/// Put what the user says in the place of what the file does not say. Errors where the file says it.
pub(super) fn apply(found: &mut [Figures], told: &Told, format: Format) -> Result<(), ImportError> {
    let given = [
        (Unsaid::Size, told.size_bytes.is_some()),
        (Unsaid::Window, told.window_msgs.is_some()),
        (Unsaid::Transport, told.transport.is_some()),
    ];
    for (what, _) in given.into_iter().filter(|(_, given)| *given) {
        let open = |figures: &Figures| figures.assumed.iter().any(|assumed| assumed.what == what);
        if !found.is_empty() && !found.iter().any(open) {
            return Err(ImportError::stated(format, what));
        }
        for figures in found.iter_mut().filter(|figures| open(figures)) {
            figures.assumed.retain(|assumed| assumed.what != what);
            match (what, told.size_bytes, told.window_msgs) {
                (Unsaid::Size, Some(size), _) => set(&mut figures.test, "size_bytes", size),
                (Unsaid::Window, _, Some(window)) => set(&mut figures.test, "window_msgs", window),
                _ => {}
            }
            match (what, &told.transport) {
                (Unsaid::Transport, Some(device)) if figures.transport == "uct" => {
                    let (tl, device) = device.split_once('/').unwrap_or((device, ""));
                    let named = [("tl", tl), ("device", device)].into_iter();
                    let named = named.filter(|(_, value)| !value.is_empty());
                    figures
                        .options
                        .extend(named.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                (Unsaid::Transport, Some(transport)) => figures.transport.clone_from(transport),
                _ => {}
            }
        }
    }
    Ok(())
}

fn set(test: &mut Test, field: &str, value: u64) {
    let changed = serde_json::to_value(&*test).ok().and_then(|mut fields| {
        *fields.get_mut(field)? = value.into();
        Deserialize::deserialize(&fields).ok()
    });
    if let Some(changed) = changed {
        *test = changed;
    }
}
