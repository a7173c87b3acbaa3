//! What a round says while it is measured: the commands with their outputs, and remarks. It goes into the state when the round
//! is whole, and is lost with a round that is not.

use super::table::Comparison;
use super::units::with_unit;
use std::path::Path;

/// The round under way.
pub struct Report {
    root: String,
    raw: String,
    notes: Vec<String>,
}

impl Report {
    /// Nothing yet, of the checkout at `root`.
    pub fn new(root: &Path) -> Report {
        Report {
            root: format!("{}/", root.display()),
            raw: String::new(),
            notes: Vec::new(),
        }
    }

    /// Keep a command with its output; where the checkout lies is nobody's business.
    pub fn raw(&mut self, command: &str, output: &str) {
        let text = format!("$ {command}\n{}\n\n", output.trim_end());
        self.raw.push_str(&text.replace(&self.root, ""));
    }

    /// Keep a remark and show it.
    pub fn note(&mut self, remark: &str) {
        println!("{remark}");
        self.notes.push(remark.replace(&self.root, ""));
    }

    /// Show the pair of this number.
    pub fn pair(&self, number: usize, comparison: &Comparison, (ours, theirs): (f64, f64)) {
        let (name, unit, ratio) = (comparison.name, comparison.unit, ours / theirs);
        let (us, them) = (with_unit(ours, unit), with_unit(theirs, unit));
        println!("{number:>3} {name}: {us} / {them} = {ratio:.3}");
    }

    /// Outputs and remarks since the last call.
    pub fn taken(&mut self) -> (String, Vec<String>) {
        (std::mem::take(&mut self.raw), std::mem::take(&mut self.notes))
    }
}
