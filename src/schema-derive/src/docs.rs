//! Doc comments as the developer documentation of a schema node (§3).

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments: the lines of a paragraph joined by spaces, paragraphs by a line break. None without any.
pub(crate) fn text(attributes: &[Attribute]) -> syn::Result<Option<String>> {
    let mut paragraphs: Vec<Vec<String>> = vec![Vec::new()];
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        for line in lines(attribute)?.lines().map(str::trim) {
            match paragraphs.last_mut() {
                Some(paragraph) if !line.is_empty() => paragraph.push(line.to_owned()),
                _ => paragraphs.push(Vec::new()),
            }
        }
    }
    let paragraphs: Vec<String> =
        paragraphs.iter().map(|lines| lines.join(" ")).filter(|text| !text.is_empty()).collect();
    Ok((!paragraphs.is_empty()).then(|| paragraphs.join("\n")))
}

/// The text of one doc attribute; an attribute such as `#[doc(hidden)]` has none.
fn lines(attribute: &Attribute) -> syn::Result<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return Ok(String::new()) };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.value().is_empty() => Ok("\n".into()),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.value()),
        other => Err(syn::Error::new_spanned(other, "a described item's doc is a plain text")),
    }
}
