//! `#[derive(State)]`: a game's own structs as room state. `playerthree_rooms_state::State` documents it.
//!
//! What the format cannot carry is a compile error; nothing is left out silently.

mod expand;
mod fields;

/// Implements `playerthree_rooms_state::State` for a struct with named fields.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    expand::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
