//! From a struct or an enum to its implementation of `Described`.
//!
//! Names come from serde's own reading of its attributes. An attribute that would make the JSON form another than the
//! schema's is refused.

use crate::bounds::Bounds;
use crate::{docs, leaf, shape};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use serde_derive_internals::ast::{Container, Data, Field, Style, Variant};
use serde_derive_internals::attr::{self, TagType};
use serde_derive_internals::name::{MultiName, Name};
use serde_derive_internals::{Ctxt, Derive};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Ident, LitStr, Type};

/// The implementation, or everything that is wrong with the type.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let serde = Ctxt::new();
    let private = Ident::new("__private", Span::call_site());
    let container = Container::from_ast(&serde, input, Derive::Serialize, &private);
    serde.check()?;
    let Some(container) = container else { return refuse(input, "only structs and enums can be described") };
    check_container(&container)?;
    let doc = docs::text(&input.attrs)?.map(|text| quote!(.doc(#text)));
    let replace = replaces_on_merge(&input.attrs)?;
    let (schema, variants) = match &container.data {
        Data::Struct(Style::Struct, fields) => {
            let fields = all(fields.iter().map(|field| member(&container, field)))?;
            let replace = replace.then(|| quote!(.replace_on_merge()));
            (quote!(::playerthree_schema::t::obj([#(#fields),*]) #replace), quote!())
        }
        Data::Struct(..) => return refuse(input, "only a struct with named fields can be described"),
        Data::Enum(_) if replace => return refuse(input, "only a struct can be replaced on merge"),
        Data::Enum(variants) => (enumeration(&container, variants)?, variant_docs(variants)?),
    };
    let name = &container.ident;
    Ok(quote! {
        #[automatically_derived]
        impl ::playerthree_schema::Described for #name {
            fn schema() -> &'static ::playerthree_schema::Schema {
                static SCHEMA: ::std::sync::LazyLock<::playerthree_schema::Schema> =
                    ::std::sync::LazyLock::new(|| #schema #doc);
                &SCHEMA
            }

            #variants
        }
    })
}

fn refuse<T>(at: impl ToTokens, why: &str) -> syn::Result<T> {
    Err(syn::Error::new_spanned(at, why))
}

/// All results, or all errors together.
fn all<T>(results: impl Iterator<Item = syn::Result<T>>) -> syn::Result<Vec<T>> {
    let mut good = Vec::new();
    let mut bad: Option<syn::Error> = None;
    for result in results {
        match (result, &mut bad) {
            (Ok(one), _) => good.push(one),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), None) => bad = Some(error),
        }
    }
    bad.map_or(Ok(good), Err)
}

fn check_container(container: &Container<'_>) -> syn::Result<()> {
    let (attrs, input) = (&container.attrs, container.original);
    if !input.generics.params.is_empty() {
        return refuse(&input.generics, "a described type has no parameters");
    }
    let converted = attrs.type_from().or(attrs.type_try_from()).or(attrs.type_into()).is_some();
    if attrs.transparent() || converted || attrs.remote().is_some() {
        return refuse(
            &input.ident,
            "a described type is its own JSON form: no transparent, from, into or remote",
        );
    }
    if matches!((&container.data, attrs.tag()), (Data::Struct(..), TagType::Internal { .. })) {
        return refuse(&input.ident, "a tag belongs to an enum: its variants are the alternatives");
    }
    Ok(())
}

/// Whether `#[schema(merge = "replace")]` stands on the type.
fn replaces_on_merge(attributes: &[Attribute]) -> syn::Result<bool> {
    let mut replace = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schema")) {
        attribute.parse_nested_meta(|meta| {
            let known = meta.path.is_ident("merge") && meta.value()?.parse::<LitStr>()?.value() == "replace";
            replace = known;
            if known { Ok(()) } else { Err(meta.error("a type's only attribute is merge = \"replace\"")) }
        })?;
    }
    Ok(replace)
}

/// One name for writing and reading. Serde counts the name itself among its aliases.
fn one_name<'n>(at: impl ToTokens, name: &'n MultiName, aliases: &BTreeSet<Name>) -> syn::Result<&'n str> {
    let written = &name.serialize_name().value;
    let mut read = aliases.iter().chain([name.deserialize_name()]);
    if read.all(|name| name.value == *written) {
        Ok(written)
    } else {
        refuse(at, "a described name is the same in both directions and has no alias")
    }
}

/// A field as `("name", schema)`.
fn member(container: &Container<'_>, field: &Field<'_>) -> syn::Result<TokenStream> {
    let at = field.original;
    check_field(at, &field.attrs)?;
    let optional = matches!(shape::of(field.ty), shape::Shape::Optional(_));
    let left_out =
        field.attrs.skip_serializing_if().map(|path| path.to_token_stream().to_string().replace(' ', ""));
    match (optional, left_out.as_deref()) {
        (true, Some(path)) if path.ends_with("Option::is_none") => {}
        (true, _) => {
            let why = "an optional field is left out, never null: add #[serde(skip_serializing_if = \"Option::is_none\")]";
            return refuse(at, why);
        }
        (false, Some(_)) => return refuse(at, "only an Option can be left out"),
        (false, None) => {}
    }
    if names_itself(field.ty, &container.ident) {
        return refuse(field.ty, "a closed schema has a fixed depth: a described type cannot hold itself");
    }
    let name = one_name(at, field.attrs.name(), field.attrs.aliases())?;
    let span = at.ident.as_ref().map_or_else(|| at.span(), Ident::span);
    let schema = leaf::field(field.ty, Bounds::of(span, &at.attrs)?)?;
    let doc = docs::text(&at.attrs)?.map(|text| quote!(.doc(#text)));
    Ok(quote!((#name, #schema #doc)))
}

fn check_field(at: &syn::Field, attrs: &attr::Field) -> syn::Result<()> {
    let skipped = attrs.skip_serializing() || attrs.skip_deserializing();
    let converted = attrs.serialize_with().or(attrs.deserialize_with()).or(attrs.getter()).is_some();
    if attrs.flatten() || skipped || converted {
        return refuse(at, "a described field is its type's JSON form: no flatten, skip or with");
    }
    Ok(())
}

/// Whether the container's own name stands anywhere in the type.
fn names_itself(ty: &Type, container: &Ident) -> bool {
    match shape::of(ty) {
        shape::Shape::Optional(item) | shape::Shape::List(item) => names_itself(item, container),
        shape::Shape::Named(Type::Path(path)) => path.path.is_ident(container) || path.path.is_ident("Self"),
        _ => false,
    }
}

fn enumeration(container: &Container<'_>, variants: &[Variant<'_>]) -> syn::Result<TokenStream> {
    match container.attrs.tag() {
        TagType::Internal { tag } => {
            let variants = all(variants.iter().map(|variant| alternative(container, variant)))?;
            Ok(quote!(::playerthree_schema::t::union(#tag, [#(#variants),*])))
        }
        TagType::External => {
            let names = all(variants.iter().map(literal))?;
            Ok(quote!(::playerthree_schema::t::literals([#(#names),*])))
        }
        TagType::Adjacent { .. } | TagType::None => refuse(
            &container.ident,
            "a union carries its tag beside its fields: write #[serde(tag = \"kind\")] alone",
        ),
    }
}

fn variant_name<'v>(variant: &'v Variant<'_>) -> syn::Result<&'v str> {
    let attrs = &variant.attrs;
    let converted = attrs.serialize_with().or(attrs.deserialize_with()).is_some();
    if attrs.skip_serializing()
        || attrs.skip_deserializing()
        || attrs.other()
        || attrs.untagged()
        || converted
    {
        return refuse(
            variant.original,
            "a described variant is always itself: no skip, other, untagged or with",
        );
    }
    if let Some(attribute) =
        variant.original.attrs.iter().find(|attribute| attribute.path().is_ident("schema"))
    {
        return refuse(attribute, "bounds belong to the fields of a variant");
    }
    one_name(variant.original, attrs.name(), attrs.aliases())
}

fn literal<'v>(variant: &'v Variant<'_>) -> syn::Result<&'v str> {
    match variant.style {
        Style::Unit => variant_name(variant),
        _ => refuse(variant.original, "an enum whose variants have fields needs #[serde(tag = \"kind\")]"),
    }
}

/// A variant of a union as `("name", fields)`.
fn alternative(container: &Container<'_>, variant: &Variant<'_>) -> syn::Result<TokenStream> {
    let name = variant_name(variant)?;
    if matches!(variant.style, Style::Tuple | Style::Newtype) {
        return refuse(variant.original, "a variant of a union names its fields");
    }
    let fields = all(variant.fields.iter().map(|field| member(container, field)))?;
    Ok(quote!((#name, ::std::vec![#(#fields),*])))
}

fn variant_docs(variants: &[Variant<'_>]) -> syn::Result<TokenStream> {
    let docs = all(variants.iter().map(|variant| {
        let name = variant_name(variant)?;
        let doc = docs::text(&variant.original.attrs)?.unwrap_or_default();
        Ok(quote!(::playerthree_schema::VariantDoc { name: #name, doc: #doc }))
    }))?;
    Ok(quote! {
        fn variants() -> &'static [::playerthree_schema::VariantDoc] {
            &[#(#docs),*]
        }
    })
}
