//! The modules of a crate, and what a name in one of them leads to. It must never follow a name into another crate.

use super::is_public;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Item, ItemImpl, Type, UseTree};

/// A path from the root of the crate; empty for the root.
type Module = Vec<String>;

/// Where something is defined, and its name there.
pub type Def = (Module, String);

/// How often a name may be passed on; beyond that names lead in a circle.
const PASSED_ON_MAX: usize = 8;

/// What `use` brings in.
struct Import {
    path: Vec<String>,
    /// Its name here; `*` for all of a module.
    name: String,
    public: bool,
}

/// A crate's modules with their items.
pub struct Crate {
    name: String,
    modules: BTreeMap<Module, Vec<Item>>,
}

impl Crate {
    /// Read the crate `name` from its root.
    pub fn read(name: &str, root: &Path) -> Result<Self> {
        let mut all = Crate {
            name: name.to_owned(),
            modules: BTreeMap::new(),
        };
        let folder = root.parent().context("a source has a folder")?;
        all.file(Vec::new(), root, folder)?;
        Ok(all)
    }

    fn file(&mut self, at: Module, path: &Path, folder: &Path) -> Result<()> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = syn::parse_file(&text).with_context(|| format!("cannot parse {}", path.display()))?;
        self.module(at, file.items, folder)
    }

    /// `folder` is where modules below this one are files.
    fn module(&mut self, at: Module, mut items: Vec<Item>, folder: &Path) -> Result<()> {
        items.extend(declared_by_macros(&items, folder)?);
        for item in &items {
            let Item::Mod(inner) = item else { continue };
            if is_for_tests(&inner.attrs) {
                continue;
            }
            let name = inner.ident.to_string();
            let below = [at.clone(), vec![name.clone()]].concat();
            let folder = folder.join(&name);
            match &inner.content {
                Some((_, items)) => self.module(below, items.clone(), &folder)?,
                None => {
                    let places: [PathBuf; 2] = [folder.with_extension("rs"), folder.join("mod.rs")];
                    let path = places.iter().find(|path| path.is_file());
                    self.file(
                        below,
                        path.with_context(|| format!("no file of {name}"))?,
                        &folder,
                    )?;
                }
            }
        }
        self.modules.insert(at, items);
        Ok(())
    }

    /// Every public item with the paths that lead to it.
    pub fn reach(&self, reached: &mut BTreeMap<Def, BTreeSet<Vec<String>>>) {
        let root = vec![self.name.clone()];
        self.walk(&Vec::new(), &root, reached, 0);
    }

    fn walk(
        &self,
        at: &Module,
        shown: &[String],
        to: &mut BTreeMap<Def, BTreeSet<Vec<String>>>,
        depth: usize,
    ) {
        let Some(items) = self.modules.get(at).filter(|_| depth < PASSED_ON_MAX) else {
            return;
        };
        for item in items {
            let Some(name) = public_name(item) else { continue };
            let path = [shown, std::slice::from_ref(&name)].concat();
            match item {
                Item::Mod(_) => self.walk(&[at.clone(), vec![name]].concat(), &path, to, depth),
                _ => drop(to.entry((at.clone(), name)).or_default().insert(path)),
            }
        }
        for import in imports(items).filter(|import| import.public) {
            let path = [shown, std::slice::from_ref(&import.name)].concat();
            let Some((module, name)) = self.resolve(at, &import.path, 0) else {
                // Of another crate: the name itself is what is public.
                to.entry((at.clone(), format!("use {}", import.path.join("::"))))
                    .or_default()
                    .insert(path);
                continue;
            };
            let inner = [module.clone(), vec![name.clone()]].concat();
            match (import.name == "*", self.modules.contains_key(&inner)) {
                (true, _) => self.walk(&inner, shown, to, depth + 1),
                (false, true) => self.walk(&inner, &path, to, depth + 1),
                (false, false) => drop(to.entry((module, name)).or_default().insert(path)),
            }
        }
    }

    /// Where `path`, as written in the module `at`, is defined; nothing where it leads out of the crate.
    fn resolve(&self, at: &Module, path: &[String], depth: usize) -> Option<Def> {
        if depth > PASSED_ON_MAX {
            return None;
        }
        let (last, before) = path.split_last()?;
        let mut module = at.clone();
        for (place, part) in before.iter().enumerate() {
            match part.as_str() {
                "crate" => module.clear(),
                "self" => (),
                "super" => drop(module.pop()?),
                name => {
                    let child = [module.clone(), vec![name.to_owned()]].concat();
                    if self.modules.contains_key(&child) {
                        module = child;
                        continue;
                    }
                    // A module under the name that an import gave it.
                    let import = self.import(&module, name)?;
                    if place == 0 && import.path.len() == 1 {
                        return None;
                    }
                    let (to, name) = self.resolve(&module, &import.path, depth + 1)?;
                    module = [to, vec![name]].concat();
                }
            }
        }
        let items = self.modules.get(&module)?;
        let is_here = items.iter().any(|item| name(item).as_deref() == Some(last));
        match is_here {
            true => Some((module, last.clone())),
            false => {
                let import = self.import(&module, last)?;
                self.resolve(&module, &import.path, depth + 1)
            }
        }
    }

    fn import(&self, module: &Module, name: &str) -> Option<Import> {
        imports(self.modules.get(module)?).find(|import| import.name == name)
    }

    /// The items of that name: a type and a function may share one.
    pub fn items_of(&self, def: &Def) -> Vec<&Item> {
        let items = self.modules.get(&def.0).into_iter().flatten();
        items
            .filter(|item| public_name(item).as_ref() == Some(&def.1))
            .collect()
    }

    /// Macros that everybody may call, wherever they stand.
    pub fn macros(&self) -> impl Iterator<Item = String> {
        let items = self.modules.values().flatten();
        items.filter_map(|item| match item {
            Item::Macro(i) if i.attrs.iter().any(|a| a.path().is_ident("macro_export")) => {
                Some(format!("{}::{}!", self.name, i.ident.as_ref()?))
            }
            _ => None,
        })
    }

    /// What is implemented for a type, wherever that stands.
    pub fn impls_of(&self, def: &Def) -> Vec<&ItemImpl> {
        let mut found = Vec::new();
        for (at, items) in &self.modules {
            for item in items {
                let Item::Impl(block) = item else { continue };
                let Type::Path(of) = &*block.self_ty else { continue };
                let parts = of.path.segments.iter().map(|part| part.ident.to_string());
                let parts: Vec<String> = parts.collect();
                if parts.last() != Some(&def.1) && self.import(at, &parts[0]).is_none() {
                    continue;
                }
                if !is_for_tests(&block.attrs) && self.resolve(at, &parts, 0).as_ref() == Some(def) {
                    found.push(block);
                }
            }
        }
        found
    }
}

/// Modules that a macro of the file declares: the folders that nothing else does.
fn declared_by_macros(items: &[Item], folder: &Path) -> Result<Vec<Item>> {
    let declares =
        |item: &Item| matches!(item, Item::Macro(i) if i.mac.tokens.to_string().contains("pub mod $"));
    if !items.iter().any(declares) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in folder.read_dir().context("cannot list the modules")? {
        let entry = entry?;
        let module = entry.file_name().to_string_lossy().into_owned();
        let is_declared = items.iter().any(|item| name(item).as_ref() == Some(&module));
        if !is_declared && entry.path().join("mod.rs").is_file() {
            found.push(syn::parse_str(&format!("pub mod {module};"))?);
        }
    }
    Ok(found)
}

/// Every import of `items`.
fn imports(items: &[Item]) -> impl Iterator<Item = Import> {
    let uses = items.iter().filter_map(|item| match item {
        Item::Use(all) if !is_for_tests(&all.attrs) => Some(all),
        _ => None,
    });
    uses.flat_map(|all| {
        let mut found = Vec::new();
        spread(&all.tree, Vec::new(), &mut found);
        let public = is_public(&all.vis);
        found
            .into_iter()
            .map(move |(path, name)| Import { path, name, public })
    })
}

fn spread(tree: &UseTree, before: Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let with = |name: String| [before.clone(), vec![name]].concat();
    match tree {
        UseTree::Path(path) => spread(&path.tree, with(path.ident.to_string()), found),
        UseTree::Name(name) if name.ident == "self" => {
            found.extend(before.last().cloned().map(|name| (before.clone(), name)));
        }
        UseTree::Name(name) => found.push((with(name.ident.to_string()), name.ident.to_string())),
        UseTree::Rename(name) => found.push((with(name.ident.to_string()), name.rename.to_string())),
        UseTree::Glob(_) => found.push((before, "*".to_owned())),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| spread(tree, before.clone(), found)),
    }
}

/// The name of an item that has one, where tests alone do not have it.
fn name(item: &Item) -> Option<String> {
    Some(described(item)?.0)
}

fn public_name(item: &Item) -> Option<String> {
    let (name, public) = described(item)?;
    public.then_some(name)
}

fn described(item: &Item) -> Option<(String, bool)> {
    let (name, visibility, attributes) = match item {
        Item::Const(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Enum(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Fn(i) => (&i.sig.ident, &i.vis, &i.attrs),
        Item::Mod(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Static(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Struct(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Trait(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Type(i) => (&i.ident, &i.vis, &i.attrs),
        _ => return None,
    };
    (!is_for_tests(attributes)).then(|| (name.to_string(), is_public(visibility)))
}

/// Whether it is there for tests alone.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}
