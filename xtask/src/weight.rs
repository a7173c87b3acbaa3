//! How heavy the program is: machine code by crate, the heaviest families of instances, and a budget that must not be
//! exceeded. It reads the symbols of the program that [`crate::hotcheck`] builds, and builds nothing of its own.

use crate::command;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Crates and families that are printed.
const SHOWN: usize = 20;

/// Most machine code in bytes: of the library, of the program's own crates that are next to it, and of all together.
/// They may go down; what makes one go up needs a reason.
const BUDGETS: [(&str, u64); 5] = [
    ("wirespeed", 4_720_000),
    ("wirespeed_cli", 698_500),
    ("wirespeed_report", 606_200),
    ("wirespeed_byteio", 422_500),
    ("all", 13_270_000),
];

/// Code of one crate or one family.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Weight {
    instances: u64,
    bytes: u64,
}

impl Weight {
    fn add(&mut self, bytes: u64) {
        self.instances += 1;
        self.bytes += bytes;
    }
}

/// Print the weight of the program, and fail where it is over a budget.
pub fn run(root: &Path) -> Result<()> {
    let Some(program) = crate::hotcheck::program(root)? else {
        return Ok(());
    };
    let listing = command::capture(
        Command::new("nm")
            .args(["-S", "-C", "--defined-only"])
            .arg(&program),
    )?;
    let functions: Vec<(u64, &str)> = listing.lines().filter_map(function).collect();
    if functions.is_empty() {
        bail!("{} has no functions", program.display());
    }
    let (mut crates, mut families) = (BTreeMap::new(), BTreeMap::new());
    let mut all = Weight::default();
    for (bytes, name) in functions {
        let family = family(name);
        all.add(bytes);
        let of: &mut Weight = crates.entry(crate_of(&family).to_owned()).or_default();
        of.add(bytes);
        let of: &mut Weight = families.entry(family).or_default();
        of.add(bytes);
    }
    let file_bytes = program
        .metadata()
        .with_context(|| format!("cannot look at {}", program.display()))?
        .len();
    println!(
        "machine code: {} bytes, file with symbols: {file_bytes}",
        all.bytes
    );
    print("by crate", &crates, SHOWN);
    print("heaviest families", &families, SHOWN);
    crates.insert("all".to_owned(), all);
    let over: Vec<String> = BUDGETS
        .iter()
        .filter_map(|budget| excess(&crates, *budget))
        .collect();
    match over.is_empty() {
        true => Ok(()),
        false => bail!("over the budget (xtask/src/weight.rs): {}", over.join("; ")),
    }
}

fn excess(crates: &BTreeMap<String, Weight>, (name, most): (&str, u64)) -> Option<String> {
    let bytes = crates.get(name).map_or(0, |weight| weight.bytes);
    (bytes > most).then(|| format!("{name} has {bytes} bytes, {most} are allowed"))
}

fn print(title: &str, weights: &BTreeMap<String, Weight>, most: usize) {
    let mut sorted: Vec<_> = weights.iter().collect();
    sorted.sort_by_key(|(_, weight)| std::cmp::Reverse(weight.bytes));
    println!("{title}:");
    println!("{:>10} {:>9}  name", "bytes", "instances");
    for (name, weight) in sorted.into_iter().take(most) {
        println!("{:>10} {:>9}  {name}", weight.bytes, weight.instances);
    }
}

/// Size and name of a function in a line of `nm -S`: address, size, kind, name.
fn function(line: &str) -> Option<(u64, &str)> {
    let mut words = line.splitn(4, ' ');
    let _address = words.next()?;
    let bytes = u64::from_str_radix(words.next()?, 16).ok()?;
    let kind = words.next()?;
    let name = words.next()?;
    matches!(kind, "t" | "T" | "w" | "W").then_some((bytes, name))
}

/// `name` without the arguments of its generic parts: `a::f::<b::C>` is `a::f`, `<a::B<C> as d::E>::f` is
/// `<a::B as d::E>::f`.
fn family(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    // Depth of the arguments that are left out.
    let mut depth = 0_usize;
    let mut before = ' ';
    for letter in name.chars() {
        match letter {
            '<' if depth > 0 => depth += 1,
            '<' if before.is_alphanumeric() || before == '_' || before == ':' || before == '}' => depth = 1,
            // An arrow closes nothing.
            '>' if depth > 0 && before != '-' => depth -= 1,
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
        before = letter;
    }
    kept.trim_end_matches("::").replace("::::", "::")
}

/// The crate in which a family is written.
fn crate_of(family: &str) -> &str {
    let path = family.trim_start_matches(['<', '&', '[', '(', '*', ' ']);
    let path = path
        .strip_prefix("mut ")
        .or(path.strip_prefix("dyn "))
        .unwrap_or(path);
    let end = path.find("::");
    // What has no path is a function of a C library.
    end.map_or("(no crate)", |end| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An override of a profile does not inherit what is stripped: the program's must say it again.
    #[test]
    fn the_program_is_stripped_by_its_own_override() {
        let manifest = include_str!("../../Cargo.toml");
        let block = manifest
            .split("[profile.release.package.wirespeed-cli]")
            .nth(1)
            .and_then(|rest| rest.split("\n[").next());
        assert!(
            block.is_none_or(|block| block.contains("strip = \"symbols\"")),
            "{block:?}"
        );
    }

    #[test]
    fn families_have_no_arguments() {
        for (name, expected) in [
            ("a::b::f", "a::b::f"),
            ("a::f::<b::C<D>, 3>", "a::f"),
            ("<a::B<C> as d::E<F>>::f", "<a::B as d::E>::f"),
            ("<a::B<C>>::f::{closure#0}", "<a::B>::f::{closure#0}"),
            ("a::f::<fn(B) -> C>::g", "a::f::g"),
            ("a::f::<B>::{closure#0}", "a::f::{closure#0}"),
        ] {
            assert_eq!(family(name), expected);
        }
    }

    #[test]
    fn a_family_belongs_to_the_crate_that_wrote_it() {
        for (name, expected) in [
            ("a::b::f", "a"),
            ("<a::B as d::E>::f", "a"),
            ("<&mut a::B as d::E>::f", "a"),
            ("<[a::B] as d::E>::f", "a"),
            ("ring_core_0_17_14__x25519_ge", "(no crate)"),
        ] {
            assert_eq!(crate_of(&family(name)), expected);
        }
    }

    #[test]
    fn functions_are_told_from_data() {
        let line = "0000000000401000 0000000000000010 t a::f::<b::C, d::E>";
        assert_eq!(function(line), Some((16, "a::f::<b::C, d::E>")));
        assert_eq!(function("0000000000401000 0000000000000010 D a::DATA"), None);
        assert_eq!(function("0000000000401000 T end"), None);
    }

    #[test]
    fn more_than_the_budget_is_a_fault() {
        let mut crates = BTreeMap::new();
        crates.insert(
            "a".to_owned(),
            Weight {
                instances: 1,
                bytes: 11,
            },
        );
        assert!(excess(&crates, ("a", 10)).is_some());
        assert!(excess(&crates, ("a", 11)).is_none());
    }
}
