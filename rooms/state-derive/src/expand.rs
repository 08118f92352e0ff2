//! The implementation that the derive writes.
//!
//! It stands where the user's names are in scope, and names everything by its path or with `__` in front, so that it
//! takes none of theirs.

use crate::fields::{Field, Layout, layout};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use std::collections::BTreeSet;
use syn::{DeriveInput, Error, Index};

/// DELETE_AND_ADD of this field is the byte that decoders take for a type id where a reference stands before it, so
/// that it comes first.
const AMBIGUOUS: u8 = 21;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream, Error> {
    let layout = layout(input)?;
    let name = &input.ident;
    let krate = layout.krate.to_token_stream();
    let derive = quote!(#krate::derive);
    let shadow_fields = shadow_fields(&layout, &krate);
    let (parent_fields, parent_tags) = match &layout.parent {
        Some((_, ty)) => (quote!(<#ty as #krate::State>::FIELDS), quote!(<#ty as #krate::State>::TAGS)),
        None => (quote!(0u8), quote!(0u64)),
    };
    let restricted = layout.fields.iter().filter(|field| field.tag.is_some()).map(|field| &field.ty);
    let parent_names = match &layout.parent {
        Some((_, ty)) => quote!(::core::option::Option::Some(<#ty as #krate::State>::NAMES)),
        None => quote!(::core::option::Option::None),
    };
    let names = layout.fields.iter().map(|Field { name, .. }| name);
    let own = Index::from(layout.fields.len());
    let mask = layout.fields.iter().filter_map(|field| field.tag).fold(0u64, |mask, tag| mask | 1 << tag);
    let describe_parent = layout.parent.iter().map(|(_, ty)| quote!(types.add::<#ty>();));
    let link_parent = layout.parent.iter().map(|(_, ty)| quote!(ty.parent::<#ty>();));
    let describe = layout.fields.iter().map(|Field { ty, name, .. }| quote!(ty.field::<#ty>(#name);));
    let patch = |index: u8, Field { ident, .. }: &Field| quote!(#derive::patch_field(__FIRST + #index, &mut self.#ident, &mut shadow.#ident, fresh, w););
    let (patch_ambiguous, patch_fields) = ambiguous_apart(&layout, patch);
    let patch_inner = by_group(
        &layout,
        |Field { ident, .. }| quote!(#krate::Value::patch_content(&mut self.#ident, &mut shadow.#ident, w);),
    );
    let repeat = |index: u8, Field { ident, .. }: &Field| quote!(#derive::repeat_field(__FIRST + #index, &self.#ident, &shadow.#ident, w););
    let (repeat_ambiguous, repeat_fields) = ambiguous_apart(&layout, repeat);
    let repeat_inner = by_group(
        &layout,
        |Field { ident, .. }| quote!(#krate::Value::repeat_content(&self.#ident, &shadow.#ident, w);),
    );
    let withdraw_fields = numbered(&layout, |index, _| quote!(#derive::withdraw_field(__FIRST + #index, w);));
    let search_fields = layout
        .fields
        .iter()
        .map(|Field { ident, .. }| quote!(#krate::Value::find_shared(&self.#ident, search);));
    let parent = |call: fn(&syn::Ident, &syn::Type, &TokenStream) -> TokenStream| {
        layout.parent.as_ref().map(|(ident, ty)| call(ident, ty, &krate))
    };
    let parent_patch = parent(
        |ident, _, krate| quote!(#krate::State::patch_fields(&mut self.#ident, &mut shadow.#ident, group, fresh, w);),
    );
    let parent_patch_inner = parent(
        |ident, _, krate| quote!(#krate::State::patch_inner(&mut self.#ident, &mut shadow.#ident, group, w);),
    );
    let parent_repeat = parent(
        |ident, _, krate| quote!(#krate::State::repeat_fields(&self.#ident, &shadow.#ident, group, w);),
    );
    let parent_repeat_inner = parent(
        |ident, _, krate| quote!(#krate::State::repeat_inner(&self.#ident, &shadow.#ident, group, w);),
    );
    let parent_search = parent(|ident, _, krate| quote!(#krate::State::search_fields(&self.#ident, search);));
    let parent_withdraw = parent(|_, ty, krate| quote!(<#ty as #krate::State>::withdraw_fields(group, w);));
    Ok(quote! {
        #[automatically_derived]
        #[allow(non_camel_case_types, unused_variables, unreachable_pub, missing_docs, clippy::all, clippy::pedantic)]
        const _: () = {
            const __FIRST: u8 = #parent_fields;
            const _: () = ::core::assert!(
                (__FIRST as usize) + #own <= #krate::MAX_FIELDS as usize,
                "a type of a state has at most 63 fields, those of its parent included"
            );
            const _: () = ::core::assert!(
                <#name as #krate::State>::NAMES.are_distinct(),
                "a field of a state has the name of one of its parent's"
            );

            #(const _: () = ::core::assert!(
                !<#restricted as #krate::Value>::SHARES,
                "shared instances stand where every client sees them"
            );)*

            #[derive(::core::default::Default)]
            pub struct __Shadow {
                #shadow_fields
            }

            impl #krate::State for #name {
                type Shadow = __Shadow;
                const FIELDS: u8 = __FIRST + #own;
                const NAMES: &'static #derive::Names = &#derive::Names { own: &[#(#names),*], parent: #parent_names };
                const TAGS: u64 = #parent_tags | #mask;

                fn describe_parent(types: &mut #derive::Types) {
                    #(#describe_parent)*
                }

                fn describe(ty: &mut #derive::TypeBuilder<'_>) {
                    #(#link_parent)*
                    #(#describe)*
                }

                #[inline]
                fn patch_fields(
                    &mut self,
                    shadow: &mut __Shadow,
                    group: #derive::Group,
                    fresh: bool,
                    w: &mut #derive::Fields<'_>,
                ) {
                    match group { #patch_ambiguous }
                    #parent_patch
                    match group { #patch_fields }
                }

                #[inline]
                fn patch_inner(&mut self, shadow: &mut __Shadow, group: #derive::Group, w: &mut #derive::Writer) {
                    #parent_patch_inner
                    match group { #patch_inner }
                }

                fn repeat_fields(&self, shadow: &__Shadow, group: #derive::Group, w: &mut #derive::Writer) {
                    match group { #repeat_ambiguous }
                    #parent_repeat
                    match group { #repeat_fields }
                }

                fn withdraw_fields(group: #derive::Group, w: &mut #derive::Writer) {
                    #parent_withdraw
                    match group { #withdraw_fields }
                }

                fn repeat_inner(&self, shadow: &__Shadow, group: #derive::Group, w: &mut #derive::Writer) {
                    #parent_repeat_inner
                    match group { #repeat_inner }
                }

                fn search_fields(&self, search: &mut #derive::Search) {
                    #parent_search
                    #(#search_fields)*
                }
            }
        };
    })
}

fn shadow_fields(layout: &Layout, krate: &TokenStream) -> TokenStream {
    let parent = layout.parent.iter().map(|(ident, ty)| quote!(#ident: <#ty as #krate::State>::Shadow,));
    let fields =
        layout.fields.iter().map(|Field { ident, ty, .. }| quote!(#ident: <#ty as #krate::Value>::Shadow,));
    quote!(#(#parent)* #(#fields)*)
}

/// What is written of the ambiguous field of each group, and of the others. How many fields the parent has is not known
/// here.
fn ambiguous_apart(layout: &Layout, write: impl Fn(u8, &Field) -> TokenStream) -> (TokenStream, TokenStream) {
    let where_it = |comparison: TokenStream| {
        numbered(layout, |index, field| {
            let write = write(index, field);
            quote!(if __FIRST + #index #comparison #AMBIGUOUS { #write })
        })
    };
    (where_it(quote!(==)), where_it(quote!(!=)))
}

fn numbered(layout: &Layout, write: impl Fn(u8, &Field) -> TokenStream) -> TokenStream {
    groups(layout, |members| members.iter().map(|(index, field)| write(*index, field)).collect())
}

fn by_group(layout: &Layout, write: impl Fn(&Field) -> TokenStream) -> TokenStream {
    groups(layout, |members| members.iter().map(|(_, field)| write(field)).collect())
}

/// One match arm a group of fields, and one for groups that the type has none of.
fn groups(layout: &Layout, arm: impl Fn(&[(u8, &Field)]) -> TokenStream) -> TokenStream {
    let members = |tag: Option<u8>| -> Vec<(u8, &Field)> {
        (0..).zip(&layout.fields).filter(|(_, field)| field.tag == tag).collect()
    };
    let krate = &layout.krate;
    let group = quote!(#krate::derive::Group);
    let everyone = arm(&members(None));
    let tags: BTreeSet<u8> = layout.fields.iter().filter_map(|field| field.tag).collect();
    let tagged = tags.into_iter().map(|tag| {
        let body = arm(&members(Some(tag)));
        quote!(#group::Tagged(#tag) => { #body })
    });
    quote! {
        #group::Everyone => { #everyone }
        #(#tagged)*
        #group::Tagged(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::expand;

    fn derived(source: &str) -> Result<String, String> {
        let input = syn::parse_str(source).unwrap();
        expand(&input).map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    // Each of these makes a decoder throw, or lose the field without a word.
    #[test]
    fn names_that_a_decoder_cannot_hold_are_refused() {
        for name in [
            "",
            "0",
            "17",
            "1a",
            "~refId",
            "a b",
            "x-y",
            "__proto__",
            "constructor",
            "toJSON",
            "isTrackingPaused",
        ] {
            let refused = derived(&format!("struct S {{ #[state(rename = {name:?})] x: u8 }}")).unwrap_err();
            assert!(refused.starts_with("clients cannot hold a field of this name"), "{name}: {refused}");
        }
        assert!(derived("struct S { constructor: u8 }").is_err());
        for name in ["x", "_x", "$x", "x1", "ключ", "valueOf", "type"] {
            let derived = derived(&format!("struct S {{ #[state(rename = {name:?})] x: u8 }}"));
            assert!(derived.is_ok(), "{name}: {derived:?}");
        }
    }

    #[test]
    fn the_crate_is_found_where_the_attribute_says() {
        let fields = "{ #[state(extends)] parent: Parent, x: u8, #[state(view)] y: u8 }";
        let derived_here =
            derived(&format!("#[state(crate = \"rooms::schema\")] struct S {fields}")).unwrap();
        assert!(
            derived_here.contains("rooms :: schema") && !derived_here.contains("playerthree_rooms_state")
        );
        assert!(
            derived(&format!("struct S {fields}")).unwrap().contains(":: playerthree_rooms_state :: State")
        );
        assert_eq!(derived("#[state(krate = \"x\")] struct S {}").unwrap_err(), "expected `crate = \"…\"`");
    }
}
