//! The fields of a struct, with what their attributes say.

use std::collections::HashSet;
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Error, Fields, Ident, LitInt, LitStr, Path, Type, parse_quote};

/// The most tags that restrict fields.
const TAGS: u8 = 64;

/// Names that mean something else to a decoder: it throws, or loses the field without a word.
const TAKEN: [&str; 4] = ["__proto__", "constructor", "isTrackingPaused", "toJSON"];

/// A field that clients hold.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) name: String,
    /// The tag under which views hold it, where not everybody sees it.
    pub(crate) tag: Option<u8>,
}

/// A struct's fields.
pub(crate) struct Layout {
    /// Where the crate of the trait is.
    pub(crate) krate: Path,
    pub(crate) parent: Option<(Ident, Type)>,
    pub(crate) fields: Vec<Field>,
}

#[derive(Default)]
struct Attributes {
    skip: bool,
    extends: bool,
    name: Option<String>,
    tag: Option<u8>,
}

pub(crate) fn layout(input: &DeriveInput) -> Result<Layout, Error> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "State is for structs; the format has no enums or unions",
        ));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(
            &input.ident,
            "State is for structs with named fields: clients see the names",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "State is for types without parameters: clients see one type",
        ));
    }
    let mut layout = Layout { krate: krate(input)?, parent: None, fields: Vec::new() };
    let mut names = HashSet::new();
    for (place, field) in named.named.iter().enumerate() {
        let attributes = attributes(field)?;
        let Some(ident) = field.ident.clone() else { continue };
        if attributes.skip {
            continue;
        }
        if attributes.extends {
            if place != 0 {
                return Err(Error::new_spanned(field, "the parent's fields come first, so must this one"));
            }
            layout.parent = Some((ident, field.ty.clone()));
            continue;
        }
        let name = attributes.name.unwrap_or_else(|| ident.unraw().to_string());
        if !is_carried(&name) {
            return Err(Error::new_spanned(
                field,
                "clients cannot hold a field of this name: a name is letters, digits, `_` and `$`, does not begin \
                 with a digit, and is none that their decoders use",
            ));
        }
        if !names.insert(name.clone()) {
            return Err(Error::new_spanned(field, "another field has this name"));
        }
        layout.fields.push(Field { ident, ty: field.ty.clone(), name, tag: attributes.tag });
    }
    Ok(layout)
}

/// Whether the decoders of all generations hold a field of this name. They keep numbers for indexes and `~` for
/// themselves.
fn is_carried(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    name.starts_with(is_letter)
        && name.chars().all(|c| is_letter(c) || c.is_numeric())
        && !TAKEN.contains(&name)
}

fn krate(input: &DeriveInput) -> Result<Path, Error> {
    let mut krate = parse_quote!(::playerthree_rooms_state);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("state")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("expected `crate = \"…\"`"));
            }
            krate = meta.value()?.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?;
            Ok(())
        })?;
    }
    Ok(krate)
}

fn attributes(field: &syn::Field) -> Result<Attributes, Error> {
    let mut found = Attributes::default();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("state")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("skip") {
                found.skip = true;
            } else if meta.path.is_ident("extends") {
                found.extends = true;
            } else if meta.path.is_ident("rename") {
                found.name = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.path.is_ident("view") {
                found.tag = Some(tag(&meta)?);
            } else {
                return Err(
                    meta.error("expected `skip`, `extends`, `rename = \"…\"`, `view` or `view = 0..=63`")
                );
            }
            Ok(())
        })?;
    }
    if (found.skip || found.extends)
        && (found.name.is_some() || found.tag.is_some() || found.skip == found.extends)
    {
        return Err(Error::new_spanned(field, "`skip` and `extends` stand alone"));
    }
    Ok(found)
}

fn tag(meta: &syn::meta::ParseNestedMeta<'_>) -> Result<u8, Error> {
    let Ok(value) = meta.value() else { return Ok(0) };
    let literal: LitInt = value.parse()?;
    match literal.base10_parse::<u8>() {
        Ok(tag) if tag < TAGS => Ok(tag),
        _ => Err(Error::new_spanned(literal, "tags are 0 to 63")),
    }
}
