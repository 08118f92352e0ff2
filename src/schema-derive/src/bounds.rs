//! The `#[schema(…)]` attributes of a field: each bound is taken by the node that it belongs to, and one that no node
//! takes is an error.

use proc_macro2::Span;
use syn::{Attribute, Expr, Ident};

/// The names of all bounds.
const NAMES: [&str; 6] = ["min", "max", "max_length", "pattern", "max_items", "id"];

/// The declared bounds that no node has taken yet.
pub(crate) struct Bounds {
    field: Span,
    declared: Vec<(Ident, Expr)>,
}

impl Bounds {
    /// Reads the attributes of a field.
    pub(crate) fn of(field: Span, attributes: &[Attribute]) -> syn::Result<Self> {
        let mut declared: Vec<(Ident, Expr)> = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schema")) {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.require_ident()?.clone();
                if !NAMES.iter().any(|known| name == known) {
                    return Err(
                        meta.error("a field's bounds are min, max, max_length, pattern, max_items and id")
                    );
                }
                if declared.iter().any(|(earlier, _)| *earlier == name) {
                    return Err(meta.error("the bound is declared twice"));
                }
                declared.push((name, meta.value()?.parse()?));
                Ok(())
            })?;
        }
        Ok(Self { field, declared })
    }

    /// Takes a bound that the node may have.
    pub(crate) fn take(&mut self, name: &str) -> Option<Expr> {
        let position = self.declared.iter().position(|(declared, _)| declared == name)?;
        Some(self.declared.swap_remove(position).1)
    }

    /// Takes a bound that the node must have; `example` shows how to declare it.
    pub(crate) fn require(&mut self, name: &str, what: &str, example: &str) -> syn::Result<Expr> {
        self.take(name)
            .ok_or_else(|| syn::Error::new(self.field, format!("{what}: declare #[schema({example})]")))
    }

    /// Whether the bound is declared and still untaken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.declared.iter().any(|(declared, _)| declared == name)
    }

    /// Fails when a bound is left that no node has taken.
    pub(crate) fn finish(self) -> syn::Result<()> {
        match self.declared.first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(syn::Error::new(name.span(), format!("`{name}` does not apply to this field's type")))
            }
        }
    }
}
