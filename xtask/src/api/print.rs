//! Items on a line each, without bodies, values and comments. It must never depend on how the source is laid out.

use super::is_public;
use syn::{Attribute, Fields, Item, ItemFn, Signature, TraitItem, Type};

/// The lines of an item: behind what its path goes on with, and what it is.
pub fn lines(item: &Item) -> impl Iterator<Item = (String, String)> + use<> {
    let own = |text: String| (String::new(), text);
    let found = match item {
        Item::Fn(f) => vec![own(format!("pub {}", signature(&f.sig)))],
        Item::Const(c) => vec![own(format!("pub const: {}", ty(&c.ty)))],
        Item::Static(s) => vec![own(format!("pub static: {}", ty(&s.ty)))],
        Item::Type(t) => vec![own(format!("pub type: {}", ty(&t.ty)))],
        Item::Struct(s) => {
            let head = syn::ItemStruct {
                attrs: Vec::new(),
                fields: Fields::Unit,
                semi_token: Some(Default::default()),
                ..s.clone()
            };
            let head = format!("{}{}", said(&s.attrs), text(Item::Struct(head)));
            let mut lines = vec![own(head)];
            lines.extend(fields(&s.fields));
            lines
        }
        Item::Enum(e) => {
            let mut head = e.clone();
            head.attrs.clear();
            head.variants.clear();
            let mut lines = vec![own(format!("{}{}", said(&e.attrs), text(Item::Enum(head))))];
            lines.extend(e.variants.iter().map(variant));
            lines
        }
        Item::Trait(t) => {
            let mut head = t.clone();
            head.attrs.clear();
            head.items.clear();
            let mut lines = vec![own(text(Item::Trait(head)))];
            lines.extend(t.items.iter().filter_map(required));
            lines
        }
        _ => Vec::new(),
    };
    found.into_iter()
}

/// A type as written.
pub fn ty(ty: &Type) -> String {
    let alias: syn::ItemType = syn::parse_quote!(type T = #ty;);
    let line = text(Item::Type(alias));
    line.trim_start_matches("type T = ").to_owned()
}

/// A path as written.
pub fn path(path: &syn::Path) -> String {
    ty(&Type::Path(syn::TypePath {
        qself: None,
        path: path.clone(),
    }))
}

fn fields(fields: &Fields) -> Vec<(String, String)> {
    let numbered = fields.iter().enumerate();
    let public = numbered.filter(|(_, field)| is_public(&field.vis));
    let line = |(number, field): (usize, &syn::Field)| {
        let name = field
            .ident
            .as_ref()
            .map_or(number.to_string(), ToString::to_string);
        (format!("::{name}"), format!("pub: {}", ty(&field.ty)))
    };
    public.map(line).collect()
}

fn variant(variant: &syn::Variant) -> (String, String) {
    let mut bare = variant.clone();
    bare.attrs.clear();
    bare.fields.iter_mut().for_each(|field| field.attrs.clear());
    let whole: syn::ItemEnum = syn::parse_quote!(enum E { #bare });
    let line = text(Item::Enum(whole));
    let line = line
        .trim_start_matches("enum E { ")
        .trim_end_matches(" }")
        .trim_end_matches(',');
    // The last brace may be the variant's own.
    let own = if line.matches('{').count() > line.matches('}').count() {
        " }"
    } else {
        ""
    };
    (format!("::{}", variant.ident), format!("{line}{own}"))
}

fn required(item: &TraitItem) -> Option<(String, String)> {
    let has = |given: bool| if given { "provided" } else { "required" };
    match item {
        TraitItem::Fn(f) => Some((
            format!("::{}", f.sig.ident),
            format!("{} {}", has(f.default.is_some()), signature(&f.sig)),
        )),
        TraitItem::Const(c) => Some((
            format!("::{}", c.ident),
            format!("{} const: {}", has(c.default.is_some()), ty(&c.ty)),
        )),
        TraitItem::Type(t) => Some((format!("::{}", t.ident), "required type".to_owned())),
        _ => None,
    }
}

fn signature(signature: &Signature) -> String {
    let item = ItemFn {
        attrs: Vec::new(),
        vis: syn::Visibility::Inherited,
        sig: signature.clone(),
        block: syn::parse_quote!({}),
    };
    text(Item::Fn(item))
}

/// What the attributes say to those who use the item: derived traits by name, and that more will come.
fn said(attributes: &[Attribute]) -> String {
    let mut derived = Vec::new();
    let mut rest = String::new();
    for attribute in attributes {
        if attribute.path().is_ident("derive") {
            // What is no list of names was refused by the compiler.
            let _ = attribute.parse_nested_meta(|meta| {
                derived.push(path(&meta.path));
                Ok(())
            });
        } else if attribute.path().is_ident("non_exhaustive") {
            rest.push_str("#[non_exhaustive] ");
        }
    }
    derived.sort();
    match derived.is_empty() {
        true => rest,
        false => format!("#[derive({})] {rest}", derived.join(", ")),
    }
}

/// An item without its body on one line.
fn text(item: Item) -> String {
    let file = syn::File {
        shebang: None,
        attrs: Vec::new(),
        items: vec![item],
    };
    let text = prettyplease::unparse(&file);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.replace("( ", "(").replace(",)", ")").replace(", )", ")");
    line.trim_end_matches(" {}").trim_end_matches(';').to_owned()
}
