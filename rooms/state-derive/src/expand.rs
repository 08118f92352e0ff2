//! The implementation that the derive writes.

use crate::fields::{Field, Layout, layout};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::{DeriveInput, Error, Index};

/// DELETE_AND_ADD of this field is the byte that decoders take for a type id where a reference stands before it, so
/// that in a patch it comes first.
const AMBIGUOUS: u8 = 21;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream, Error> {
    let layout = layout(input)?;
    let name = &input.ident;
    let shadow = format_ident!("{}Shadow", name);
    let krate = quote!(::playerthree_rooms_state);
    let shadow_fields = shadow_fields(&layout, &krate);
    let (parent_fields, parent_tags) = match &layout.parent {
        Some((_, ty)) => (quote!(<#ty as #krate::State>::FIELDS), quote!(<#ty as #krate::State>::TAGS)),
        None => (quote!(0u8), quote!(0u64)),
    };
    let restricted = layout.fields.iter().filter(|field| field.tag.is_some()).map(|field| &field.ty);
    let own = Index::from(layout.fields.len());
    let mask = layout.fields.iter().filter_map(|field| field.tag).fold(0u64, |mask, tag| mask | 1 << tag);
    let describe_parent = layout.parent.iter().map(|(_, ty)| quote!(types.add::<#ty>();));
    let link_parent = layout.parent.iter().map(|(_, ty)| quote!(ty.parent::<#ty>();));
    let describe = layout.fields.iter().map(|Field { ty, name, .. }| quote!(ty.field::<#ty>(#name);));
    let patch_ambiguous = patch_fields(&layout, &quote!(==));
    let patch_fields = patch_fields(&layout, &quote!(!=));
    let patch_inner = by_group(
        &layout,
        |Field { ident, .. }| quote!(#krate::Value::patch_content(&mut self.#ident, &mut shadow.#ident, w);),
    );
    let repeat_fields = numbered(
        &layout,
        |index, Field { ident, .. }| quote!(repeat_field(FIRST + #index, &self.#ident, &shadow.#ident, w);),
    );
    let repeat_inner = by_group(
        &layout,
        |Field { ident, .. }| quote!(#krate::Value::repeat_content(&self.#ident, &shadow.#ident, w);),
    );
    let withdraw_fields = numbered(&layout, |index, _| quote!(withdraw_field(FIRST + #index, w);));
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
            use #krate::derive::{Group, TypeBuilder, Types, Writer, patch_field, repeat_field, withdraw_field};

            const FIRST: u8 = #parent_fields;
            const _: () = assert!(
                (FIRST as usize) + #own <= #krate::MAX_FIELDS as usize,
                "a type of a state has at most 63 fields, those of its parent included"
            );

            #(const _: () = ::core::assert!(
                !<#restricted as #krate::Value>::SHARES,
                "shared instances stand where every client sees them"
            );)*

            #[derive(Default)]
            pub struct #shadow {
                #shadow_fields
            }

            impl #krate::State for #name {
                type Shadow = #shadow;
                const FIELDS: u8 = FIRST + #own;
                const TAGS: u64 = #parent_tags | #mask;

                fn describe_parent(types: &mut Types) {
                    #(#describe_parent)*
                }

                fn describe(ty: &mut TypeBuilder<'_>) {
                    #(#link_parent)*
                    #(#describe)*
                }

                #[inline]
                fn patch_fields(&mut self, shadow: &mut #shadow, group: Group, fresh: bool, w: &mut Writer) {
                    match group { #patch_ambiguous }
                    #parent_patch
                    match group { #patch_fields }
                }

                #[inline]
                fn patch_inner(&mut self, shadow: &mut #shadow, group: Group, w: &mut Writer) {
                    #parent_patch_inner
                    match group { #patch_inner }
                }

                fn repeat_fields(&self, shadow: &#shadow, group: Group, w: &mut Writer) {
                    #parent_repeat
                    match group { #repeat_fields }
                }

                fn withdraw_fields(group: Group, w: &mut Writer) {
                    #parent_withdraw
                    match group { #withdraw_fields }
                }

                fn repeat_inner(&self, shadow: &#shadow, group: Group, w: &mut Writer) {
                    #parent_repeat_inner
                    match group { #repeat_inner }
                }

                fn search_fields(&self, search: &mut #krate::derive::Search) {
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

/// The fields of each group that are, or are not, the ambiguous one. How many fields the parent has is not known here.
fn patch_fields(layout: &Layout, comparison: &TokenStream) -> TokenStream {
    numbered(layout, |index, Field { ident, .. }| {
        quote! {
            if FIRST + #index #comparison #AMBIGUOUS {
                patch_field(FIRST + #index, &mut self.#ident, &mut shadow.#ident, fresh, w);
            }
        }
    })
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
    let everyone = arm(&members(None));
    let tags: BTreeSet<u8> = layout.fields.iter().filter_map(|field| field.tag).collect();
    let tagged = tags.into_iter().map(|tag| {
        let body = arm(&members(Some(tag)));
        quote!(Group::Tagged(#tag) => { #body })
    });
    quote! {
        Group::Everyone => { #everyone }
        #(#tagged)*
        Group::Tagged(_) => {}
    }
}
