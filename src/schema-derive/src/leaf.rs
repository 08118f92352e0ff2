//! The expression that builds the node of one field.
//!
//! Bounds are constants: they are compared with each other and with the Rust type when the game is compiled, so that a
//! value which conforms to the schema always fits the type.

use crate::bounds::Bounds;
use crate::shape::{self, Shape};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprUnary, Lit, LitFloat, Type, UnOp};

/// The node of a field, `Option<T>` included.
pub(crate) fn field(ty: &Type, mut bounds: Bounds) -> syn::Result<TokenStream> {
    let built = match shape::of(ty) {
        Shape::Optional(item) => {
            let item = node(item, &mut bounds)?;
            quote!(::playerthree_schema::t::opt(#item))
        }
        _ => node(ty, &mut bounds)?,
    };
    bounds.finish()?;
    Ok(built)
}

fn node(ty: &Type, bounds: &mut Bounds) -> syn::Result<TokenStream> {
    let refuse = |why: &str| Err(syn::Error::new(ty.span(), why));
    match shape::of(ty) {
        Shape::Optional(_) => refuse("an Option stands only directly in a field: the contract has no null"),
        Shape::List(item) => list(item, bounds),
        Shape::Integer(low, high) => {
            let range = integer(ty.span(), low, high, bounds)?;
            Ok(quote!({ #range ::playerthree_schema::t::int(__SCHEMA_MIN, __SCHEMA_MAX) }))
        }
        Shape::Number => number(bounds),
        Shape::Bool => Ok(quote!(::playerthree_schema::t::bool())),
        Shape::Text => text(bounds),
        // An alias of a text type, as its bounds tell.
        Shape::Named(_) if bounds.has("max_length") || bounds.has("id") => text(bounds),
        Shape::Named(ty) => Ok(quote_spanned! { ty.span() =>
            ::core::clone::Clone::clone(<#ty as ::playerthree_schema::Described>::schema())
        }),
        Shape::Unfit(why) => refuse(why),
    }
}

fn list(item: &Type, bounds: &mut Bounds) -> syn::Result<TokenStream> {
    let max = bounds.require("max_items", "a list needs its most items", "max_items = 16")?;
    match shape::of(item) {
        Shape::Integer(low, high) => {
            let range = integer(item.span(), low, high, bounds)?;
            Ok(quote!({ #range ::playerthree_schema::t::ints(#max, __SCHEMA_MIN, __SCHEMA_MAX) }))
        }
        Shape::List(_) => Err(syn::Error::new(
            item.span(),
            "a list of lists needs two bounds: put the inner list into a struct of its own",
        )),
        _ => {
            let item = node(item, bounds)?;
            Ok(quote!(::playerthree_schema::t::list(#item, #max)))
        }
    }
}

/// Constants of an integer's bounds, with the proof that the type holds them.
fn integer(span: Span, low: i64, high: i64, bounds: &mut Bounds) -> syn::Result<TokenStream> {
    let (min, max) = range("an integer needs its bounds", "min = 0, max = 100", bounds)?;
    Ok(quote_spanned! { span =>
        const __SCHEMA_MIN: i64 = #min;
        const __SCHEMA_MAX: i64 = #max;
        const _: () = ::core::assert!(__SCHEMA_MIN <= __SCHEMA_MAX, "min is above max");
        const _: () = ::core::assert!(
            #low <= __SCHEMA_MIN && __SCHEMA_MAX <= #high,
            "the bounds are outside the field's integer type"
        );
    })
}

fn number(bounds: &mut Bounds) -> syn::Result<TokenStream> {
    let (min, max) = range("a number needs its bounds", "min = 0, max = 1", bounds)?;
    let (min, max) = (float(min), float(max));
    Ok(quote!({
        const __SCHEMA_MIN: f64 = #min;
        const __SCHEMA_MAX: f64 = #max;
        const _: () = ::core::assert!(__SCHEMA_MIN <= __SCHEMA_MAX, "min is above max");
        ::playerthree_schema::t::num(__SCHEMA_MIN, __SCHEMA_MAX)
    }))
}

fn range(what: &str, example: &str, bounds: &mut Bounds) -> syn::Result<(Expr, Expr)> {
    Ok((bounds.require("min", what, example)?, bounds.require("max", what, example)?))
}

/// An integer literal as a float literal, so that `max = 1` bounds a number too.
fn float(bound: Expr) -> Expr {
    match bound {
        Expr::Lit(ExprLit { attrs, lit: Lit::Int(int) }) if int.suffix().is_empty() => {
            let lit = Lit::Float(LitFloat::new(&format!("{}.0", int.base10_digits()), int.span()));
            Expr::Lit(ExprLit { attrs, lit })
        }
        Expr::Unary(ExprUnary { attrs, op: UnOp::Neg(op), expr }) => {
            Expr::Unary(ExprUnary { attrs, op: UnOp::Neg(op), expr: Box::new(float(*expr)) })
        }
        other => other,
    }
}

fn text(bounds: &mut Bounds) -> syn::Result<TokenStream> {
    if let Some(prefix) = bounds.take("id") {
        return Ok(quote!(::playerthree_schema::t::id(#prefix)));
    }
    let max = bounds.require("max_length", "a text needs its longest length", "max_length = 40")?;
    Ok(match bounds.take("pattern") {
        None => quote!(::playerthree_schema::t::str(#max)),
        Some(pattern) => quote!(::playerthree_schema::t::pattern(#max, #pattern)),
    })
}
