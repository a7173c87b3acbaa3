//! The lists of public items, made of the source and committed beside each crate that others build on: a change of the public
//! face is a change of such a list, and seen in review. Of what macros make, the modules alone are in it.

mod names;
mod print;

use anyhow::{Context, Result, bail};
use names::{Crate, Def};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::{ImplItem, Item, Visibility};

/// Crates that others build on: name and folder.
const CRATES: [(&str, &str); 5] = [
    ("wirespeed", "crates/wirespeed"),
    ("wirespeed_schema", "crates/schema"),
    ("wirespeed_report", "crates/report"),
    ("wirespeed_control", "crates/control"),
    ("wirespeed_mesh", "crates/mesh"),
];

/// Write the lists, or with `check`, fail when a committed one is not what the source says.
pub fn run(root: &Path, check: bool) -> Result<()> {
    for (name, folder) in CRATES {
        let list = list(&Crate::read(name, &root.join(folder).join("src/lib.rs"))?);
        let path = format!("{folder}/api.txt");
        if !check {
            std::fs::write(root.join(&path), &list).with_context(|| format!("cannot write {path}"))?;
            println!("{path}: {} items", list.lines().count());
            continue;
        }
        let committed =
            std::fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
        if let Some(line) = difference(&committed, &list) {
            bail!(
                "{path} is not what the source says: {line}; look at what the change does to those who build on the \
                 crate, then run `cargo xtask api` and commit it"
            );
        }
    }
    Ok(())
}

/// The first line that only one of them has.
fn difference(committed: &str, made: &str) -> Option<String> {
    let [old, new] = [committed, made].map(|text| text.lines().collect::<BTreeSet<_>>());
    let gone = old.difference(&new).map(|line| format!("gone is {line:?}"));
    let come = new.difference(&old).map(|line| format!("new is {line:?}"));
    gone.chain(come).next()
}

/// A line for each public item: where it is reached, and what it is.
fn list(all: &Crate) -> String {
    let mut reached = BTreeMap::<Def, BTreeSet<Vec<String>>>::new();
    all.reach(&mut reached);
    let mut lines: BTreeSet<String> = all.macros().map(|at| format!("{at}  macro_rules")).collect();
    for (def, paths) in &reached {
        // Of several ways the shortest has the members, and the others lead to it.
        let Some(best) = paths.iter().min_by_key(|path| path.len()) else {
            continue;
        };
        let at = best.join("::");
        for other in paths.iter().filter(|path| *path != best) {
            lines.insert(format!("{}  = {at}", other.join("::")));
        }
        if def.1.starts_with("use ") {
            lines.insert(format!("{at}  pub {}", def.1));
        }
        for item in all.items_of(def) {
            lines.extend(print::lines(item).map(|(member, text)| format!("{at}{member}  {text}")));
        }
        for block in all.impls_of(def) {
            let Some((_, of, _)) = &block.trait_ else {
                lines.extend(members(block, &at));
                continue;
            };
            lines.insert(format!("{at}  impl {}", print::path(of)));
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What a type has of its own.
fn members(block: &syn::ItemImpl, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in &block.items {
        match item {
            ImplItem::Fn(f) if is_public(&f.vis) => {
                let item = Item::Fn(syn::ItemFn {
                    attrs: Vec::new(),
                    vis: f.vis.clone(),
                    sig: f.sig.clone(),
                    block: Box::new(f.block.clone()),
                });
                found.extend(print::lines(&item).map(|(_, text)| format!("{at}::{}  {text}", f.sig.ident)));
            }
            ImplItem::Const(c) if is_public(&c.vis) => {
                found.push(format!("{at}::{}  pub const: {}", c.ident, print::ty(&c.ty)));
            }
            _ => (),
        }
    }
    found
}

/// Whether everybody may name it.
fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let all = Crate::read("a", &folder.path().join("lib.rs")).unwrap();
        list(&all).lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_can_be_reached_is_listed_once_with_its_members() {
        let lib = "mod inner;\npub mod open;\npub use inner::{Thing, other as another};\npub(crate) fn hidden() {}\n";
        let inner = "/// Words.\n#[derive(Debug, Clone)]\n#[non_exhaustive]\npub struct Thing { pub size: u64, own: u8 }\n\
                     impl Thing {\n pub const MAX: u64 = 3;\n pub fn new(size: u64) -> Self { todo() }\n fn own(&self) {}\n}\n\
                     impl Drop for Thing { fn drop(&mut self) {} }\npub fn other<T: Copy>(\n    of: &T,\n) -> Option<T> { None }\n\
                     pub struct Unreached;\n";
        let open = "pub use crate::inner::Thing;\n#[cfg(test)]\nmod tests { pub fn none() {} }\n\
                    pub trait Port { const SLOW: bool = false; fn send(&mut self) -> bool; }\npub enum Way { In(u8), Out { to: u8 } }\n";
        let lines = listed(&[("lib.rs", lib), ("inner.rs", inner), ("open/mod.rs", open)]);
        assert_eq!(
            lines,
            [
                "a::Thing  #[derive(Clone, Debug)] #[non_exhaustive] pub struct Thing",
                "a::Thing  impl Drop",
                "a::Thing::MAX  pub const: u64",
                "a::Thing::new  pub fn new(size: u64) -> Self",
                "a::Thing::size  pub: u64",
                "a::another  pub fn other<T: Copy>(of: &T) -> Option<T>",
                "a::open::Port  pub trait Port",
                "a::open::Port::SLOW  provided const: bool",
                "a::open::Port::send  required fn send(&mut self) -> bool",
                "a::open::Thing  = a::Thing",
                "a::open::Way  pub enum Way",
                "a::open::Way::In  In(u8)",
                "a::open::Way::Out  Out { to: u8 }",
            ]
        );
    }

    #[test]
    fn names_are_followed_through_other_modules() {
        let lib = "mod a;\nmod b;\npub use a::*;\npub use std::fmt::Debug;\n";
        let a = "pub use super::b::deep::Far;\npub const ONE: u8 = 1;\n";
        let b = "pub mod deep {\n pub struct Far(pub u8, u8);\n}\nuse deep::Far as Near;\nimpl Near { pub fn go() {} }\n";
        let lines = listed(&[("lib.rs", lib), ("a.rs", a), ("b.rs", b)]);
        assert_eq!(
            lines,
            [
                "a::Debug  pub use std::fmt::Debug",
                "a::Far  pub struct Far",
                "a::Far::0  pub: u8",
                "a::Far::go  pub fn go()",
                "a::ONE  pub const: u8",
            ]
        );
    }

    #[test]
    fn modules_that_a_macro_declares_are_read() {
        let lib = "mod list;\nmacro_rules! m { ($($of:ident)*) => { $(pub mod $of;)* } }\ncrate::list!(m);\n";
        let list = "#[macro_export]\nmacro_rules! list { ($each:ident) => { $each! { fog } } }\n";
        let lines = listed(&[
            ("lib.rs", lib),
            ("list.rs", list),
            ("fog/mod.rs", "pub struct Fog;\n"),
        ]);
        assert_eq!(lines, ["a::fog::Fog  pub struct Fog", "a::list!  macro_rules"]);
    }

    #[test]
    fn a_difference_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\n", "a\nb\n").as_deref(), Some("new is \"b\""));
        assert_eq!(difference("a\nb\n", "b\n").as_deref(), Some("gone is \"a\""));
    }
}
