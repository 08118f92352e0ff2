//! `#[derive(Described)]`: a game's own structs and enums as its closed schemas (§3). `playerthree_schema::Described`
//! documents it.
//!
//! Names and tags are read from the serde attributes, so schema and JSON form cannot drift apart. What the vocabulary
//! cannot carry, or a bound that is missing, is a compile error; no bound is ever invented.

mod bounds;
mod docs;
mod expand;
mod leaf;
mod shape;
#[cfg(test)]
mod tests;

/// Implements `playerthree_schema::Described` for a struct with named fields or an enum.
#[proc_macro_derive(Described, attributes(schema))]
pub fn derive_described(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    expand::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
