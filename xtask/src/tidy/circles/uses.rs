//! The paths that a file names, and the file that each leads to.

use crate::tidy::source::Source;
use std::collections::BTreeMap;

/// A path from the root of its crate: `transport`, `tcp`, `Tcp`.
pub type Path = Vec<String>;

/// A path in `use`, its name here, and whether it is passed on by `pub use`.
type Import = (Path, String, bool);

/// How often a name may be passed on; beyond that names lead in a circle.
const PASSED_ON_MAX: usize = 8;

/// A file as a module.
pub struct Module {
    /// Where it stands, from the root; empty for the root.
    at: Path,
    /// What `use` brings in.
    imports: Vec<Import>,
    /// Paths in the code itself, as written.
    named: Vec<Path>,
}

/// The modules of a crate, by their paths.
pub struct Crate<'a> {
    files: BTreeMap<&'a [String], usize>,
    modules: &'a [Module],
}

impl Module {
    /// Read what `source` names, its tests left out.
    pub fn read(source: &Source) -> Module {
        let text: Vec<&str> = source.shipped().map(|(_, line)| line).collect();
        let inside = source.path.split_once("/src/").map_or("", |(_, inside)| inside);
        let inside = inside.trim_end_matches(".rs");
        let mut at: Path = inside.split('/').map(str::to_owned).collect();
        if at
            .last()
            .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
        {
            at.pop();
        }
        let (imports, rest) = imports_of(&text.join("\n"));
        Module {
            at,
            imports,
            named: paths_in(&rest),
        }
    }

    /// Whether it is the root of its crate.
    pub fn is_root(&self) -> bool {
        self.at.is_empty()
    }

    /// Every path that it uses, from the root. What it only passes on is not used here.
    pub fn paths(&self, all: &Crate) -> Vec<Path> {
        let own = self.imports.iter().filter(|(_, _, passed_on)| !passed_on);
        let mut paths: Vec<Path> = own.filter_map(|(path, ..)| self.absolute(path, all)).collect();
        for path in &self.named {
            let first = path[0].as_str();
            if ["crate", "super", "self"].contains(&first) {
                paths.extend(self.absolute(path, all));
                continue;
            }
            // A module under the name that an import gave it.
            let import = self.imports.iter().find(|(_, name, _)| name == first);
            let module = import.and_then(|(path, ..)| self.absolute(path, all));
            let module = module.filter(|module| all.files.contains_key(module.as_slice()));
            paths.extend(module.map(|module| [module, path[1..].to_vec()].concat()));
        }
        paths
    }

    /// `path` from the root; nothing where it leads out of the crate.
    fn absolute(&self, path: &[String], all: &Crate) -> Option<Path> {
        let rest = |from: usize| path[from..].iter().cloned();
        match path.first()?.as_str() {
            "crate" => Some(rest(1).collect()),
            "self" => Some(self.at.iter().cloned().chain(rest(1)).collect()),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                let stays = self.at.len().checked_sub(up)?;
                Some(self.at[..stays].iter().cloned().chain(rest(up)).collect())
            }
            first => {
                let child: Path = self.at.iter().cloned().chain([first.to_owned()]).collect();
                let path = self.at.iter().cloned().chain(rest(0)).collect();
                all.files.contains_key(child.as_slice()).then_some(path)
            }
        }
    }
}

impl<'a> Crate<'a> {
    /// The crate that `modules` make up.
    pub fn of(modules: &'a [Module]) -> Self {
        let numbered = modules.iter().enumerate();
        Crate {
            files: numbered
                .map(|(file, module)| (module.at.as_slice(), file))
                .collect(),
            modules,
        }
    }

    /// The file that defines what `path` names.
    pub fn locate(&self, path: &[String]) -> Option<usize> {
        let mut path = path.to_vec();
        for _ in 0..PASSED_ON_MAX {
            let is_file = |depth: &usize| self.files.contains_key(&path[..*depth]);
            let depth = (0..=path.len()).rev().find(is_file)?;
            let file = self.files[&path[..depth]];
            let Some(name) = path.get(depth) else {
                return Some(file);
            };
            let module = &self.modules[file];
            let passes = |import: &&Import| import.2 && import.1 == *name;
            let Some((from, ..)) = module.imports.iter().find(passes) else {
                return Some(file);
            };
            let more = path[depth + 1..].to_vec();
            path = [module.absolute(from, self)?, more].concat();
        }
        None
    }
}

/// The imports of `text`, and what is left of it without them.
fn imports_of(text: &str) -> (Vec<Import>, String) {
    let mut imports = Vec::new();
    let (mut rest, mut ahead) = (String::new(), text);
    while let Some(at) = ahead.find("use ") {
        let (before, behind) = ahead.split_at(at);
        rest.push_str(before);
        let end = behind.find(';').unwrap_or(behind.len());
        match begins_an_item(&rest) {
            true => imports.extend(import(&behind[4..end], is_public(&rest))),
            // Part of another word.
            false => rest.push_str(&behind[..end]),
        }
        ahead = &behind[end..];
    }
    rest.push_str(ahead);
    (imports, rest)
}

/// Whether an item can begin behind `before`.
fn begins_an_item(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty() || before.ends_with([';', '{', '}', ']']) || is_public(before)
}

fn is_public(before: &str) -> bool {
    let before = before.trim_end();
    let visible = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    visible == "pub" || visible.starts_with("pub(")
}

/// What stands between `use` and the end of the statement.
fn import(text: &str, passed_on: bool) -> impl Iterator<Item = Import> {
    spread(text).into_iter().filter_map(move |one| {
        let (path, name) = match one.split_once(" as ") {
            Some((path, name)) => (path, Some(name.trim().to_owned())),
            None => (one.as_str(), None),
        };
        let mut path: Path = path.split("::").map(|part| part.trim().to_owned()).collect();
        path.retain(|part| !part.is_empty() && part != "*");
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = name.or_else(|| path.last().cloned())?;
        Some((path, name, passed_on))
    })
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn spread(text: &str) -> Vec<String> {
    let Some((before, inside)) = text.split_once('{') else {
        return vec![text.to_owned()];
    };
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in inside.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut().filter(|_| depth >= 0) {
            part.push(c);
        }
    }
    let full = parts.iter().filter(|part| !part.trim().is_empty());
    full.flat_map(|part| spread(&format!("{}{}", before.trim(), part.trim())))
        .collect()
}

/// Every `a::b::..` of `text`.
fn paths_in(text: &str) -> Vec<Path> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = text.split(|c: char| !part(c)).filter(|word| word.contains("::"));
    let paths = words.map(|word| word.split("::").map(str::to_owned).collect::<Path>());
    paths
        .filter(|path| path.iter().take(2).all(|part| !part.is_empty()))
        .collect()
}
