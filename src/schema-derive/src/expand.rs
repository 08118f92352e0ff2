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

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    /// What the compiler says of a type that cannot be described.
    fn refusal(input: &DeriveInput) -> String {
        match expand(input) {
            Ok(_) => "described".into(),
            Err(error) => error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"),
        }
    }

    /// A struct with one field of this type and these attributes.
    fn field(attributes: &str, ty: &str) -> String {
        refusal(&syn::parse_str(&format!("struct S {{ {attributes} a: {ty} }}")).expect("a struct"))
    }

    /// §3: there is no unbounded node, so a bound is never invented, and one that does not apply is not ignored.
    #[test]
    fn missing_and_misplaced_bounds_are_named() {
        for (attributes, ty, expected) in [
            ("", "u8", "an integer needs its bounds: declare #[schema(min = 0, max = 100)]"),
            ("#[schema(min = 0)]", "i64", "an integer needs its bounds"),
            ("#[schema(max = 0)]", "f64", "a number needs its bounds: declare #[schema(min = 0, max = 1)]"),
            ("", "String", "a text needs its longest length: declare #[schema(max_length = 40)]"),
            ("#[schema(pattern = \"^a$\")]", "Arc<str>", "a text needs its longest length"),
            ("", "Vec<bool>", "a list needs its most items: declare #[schema(max_items = 16)]"),
            ("#[schema(max_items = 1)]", "Vec<u8>", "an integer needs its bounds"),
            ("#[schema(min = 0)]", "bool", "`min` does not apply to this field's type"),
            ("#[schema(max_items = 1)]", "Unit", "`max_items` does not apply"),
            ("#[schema(id = \"e\", pattern = \"^a$\")]", "String", "`pattern` does not apply"),
            ("#[schema(min = 0, min = 1, max = 2)]", "u8", "declared twice"),
            ("#[schema(least = 0)]", "u8", "a field's bounds are min, max, max_length"),
            ("#[schema(max_length = 3)]", "Name", "described"),
            ("#[schema(id = \"e\")]", "String", "described"),
        ] {
            assert!(field(attributes, ty).contains(expected), "{attributes} {ty}: {}", field(attributes, ty));
        }
    }

    /// §3: no open objects, tuples, nulls or numbers beyond the safe integers.
    #[test]
    fn types_outside_the_vocabulary_are_refused() {
        let bounded = "#[schema(max_items = 1)]";
        for (attributes, ty, expected) in [
            ("", "HashMap<String, u8>", "no open objects"),
            ("", "serde_json::Value", "no open objects"),
            ("", "(u8, u8)", "no tuples"),
            ("", "[u8; 3]", "no fixed length"),
            ("", "&'static str", "owns its data"),
            ("", "f32", "use f64"),
            ("", "char", "no characters"),
            ("", "u128", "use i64"),
            ("", "fn()", "cannot carry this type"),
            (bounded, "Vec<Vec<bool>>", "a list of lists needs two bounds"),
            (bounded, "Vec<Option<bool>>", "stands only directly in a field"),
            ("", "Option<bool>", "left out, never null"),
            ("#[serde(skip_serializing_if = \"Vec::is_empty\")]", "bool", "only an Option can be left out"),
            ("#[serde(skip_serializing_if = \"Option::is_none\")]", "Option<Option<bool>>", "no null"),
            ("#[serde(skip_serializing_if = \"Option::is_none\")]", "Option<Box<S>>", "cannot hold itself"),
        ] {
            assert!(field(attributes, ty).contains(expected), "{attributes} {ty}: {}", field(attributes, ty));
        }
    }

    /// The JSON form and the schema are one: what serde would write otherwise is refused.
    #[test]
    fn attributes_that_change_the_json_form_are_refused() {
        for (attributes, expected) in [
            ("#[serde(flatten)]", "no flatten, skip or with"),
            ("#[serde(skip)]", "no flatten, skip or with"),
            ("#[serde(with = \"other\")]", "no flatten, skip or with"),
            ("#[serde(alias = \"b\")]", "no alias"),
            ("#[serde(rename(serialize = \"b\"))]", "the same in both directions"),
            ("#[serde(rename = \"b\", default)]", "described"),
        ] {
            assert!(
                field(attributes, "bool").contains(expected),
                "{attributes}: {}",
                field(attributes, "bool")
            );
        }
        let table: [(DeriveInput, &str); 12] = [
            (
                parse_quote!(
                    struct S;
                ),
                "named fields",
            ),
            (
                parse_quote!(
                    struct S(bool);
                ),
                "named fields",
            ),
            (
                parse_quote!(
                    struct S<T> {
                        a: T,
                    }
                ),
                "no parameters",
            ),
            (parse_quote!(union S { a: bool }), "does not support derive for unions"),
            (
                parse_quote!(
                    #[serde(transparent)]
                    struct S {
                        a: bool,
                    }
                ),
                "its own JSON form",
            ),
            (
                parse_quote!(
                    #[serde(from = "T")]
                    struct S {
                        a: bool,
                    }
                ),
                "its own JSON form",
            ),
            (
                parse_quote!(
                    enum S {
                        A { a: bool },
                    }
                ),
                "needs #[serde(tag",
            ),
            (
                parse_quote!(
                    #[serde(tag = "t")]
                    enum S {
                        A(T),
                    }
                ),
                "names its fields",
            ),
            (
                parse_quote!(
                    #[serde(tag = "t", content = "c")]
                    enum S {
                        A,
                    }
                ),
                "beside its fields",
            ),
            (
                parse_quote!(
                    #[serde(untagged)]
                    enum S {
                        A,
                    }
                ),
                "beside its fields",
            ),
            (
                parse_quote!(
                    enum S {
                        A,
                        #[serde(other)]
                        B,
                    }
                ),
                "always itself",
            ),
            (
                parse_quote!(
                    enum S {
                        #[serde(alias = "b")]
                        A,
                    }
                ),
                "no alias",
            ),
        ];
        for (input, expected) in table {
            assert!(refusal(&input).contains(expected), "{expected}: {}", refusal(&input));
        }
    }

    /// All faults of a type come back together.
    #[test]
    fn all_faults_come_back_together() {
        let found = refusal(&parse_quote!(
            struct S {
                a: u8,
                b: String,
                c: bool,
                d: (u8, u8),
            }
        ));
        assert_eq!(found.lines().count(), 3, "{found}");
    }

    /// `merge` belongs to structs and bounds to fields.
    #[test]
    fn attributes_stand_where_they_mean_something() {
        let table: [(DeriveInput, &str); 5] = [
            (
                parse_quote!(
                    #[schema(merge = "replace")]
                    struct S {
                        a: bool,
                    }
                ),
                "described",
            ),
            (
                parse_quote!(
                    #[schema(merge = "deep")]
                    struct S {
                        a: bool,
                    }
                ),
                "merge = \"replace\"",
            ),
            (
                parse_quote!(
                    #[schema(max = 3)]
                    struct S {
                        a: bool,
                    }
                ),
                "merge = \"replace\"",
            ),
            (
                parse_quote!(
                    #[schema(merge = "replace")]
                    enum S {
                        A,
                    }
                ),
                "only a struct",
            ),
            (
                parse_quote!(
                    enum S {
                        #[schema(max = 1)]
                        A,
                    }
                ),
                "fields of a variant",
            ),
        ];
        for (input, expected) in table {
            assert!(refusal(&input).contains(expected), "{expected}: {}", refusal(&input));
        }
    }
}
