//! Which node of the vocabulary a Rust type asks for, judged by the type's name as it is written.

use syn::{GenericArgument, PathArguments, Type, TypePath};

/// Bounds of the integers that every JSON reader holds exactly, 2^53 - 1 (§3).
const SAFE: i64 = 9_007_199_254_740_991;

/// What a type asks for.
pub(crate) enum Shape<'a> {
    /// `Option<T>`.
    Optional(&'a Type),
    /// `Vec<T>`.
    List(&'a Type),
    /// An integer type, with the range that it holds on every platform.
    Integer(i64, i64),
    /// `f64`.
    Number,
    /// `bool`.
    Bool,
    /// A text type.
    Text,
    /// Another type, which has to be described itself.
    Named(&'a Type),
    /// What the vocabulary cannot carry, and what to use instead.
    Unfit(&'static str),
}

/// The shape of a type.
pub(crate) fn of(ty: &Type) -> Shape<'_> {
    match ty {
        Type::Path(path) if path.qself.is_none() => of_path(ty, path),
        Type::Paren(inner) => of(&inner.elem),
        Type::Group(inner) => of(&inner.elem),
        Type::Array(_) => {
            Shape::Unfit("a list has no fixed length in the vocabulary: use a Vec with max_items")
        }
        Type::Tuple(_) => Shape::Unfit("the vocabulary has no tuples: use a struct with named fields"),
        Type::Reference(_) => Shape::Unfit("a described type owns its data: use String, Vec or a struct"),
        _ => Shape::Unfit(
            "the vocabulary cannot carry this type: use a struct, an enum, a Vec, a text or a number",
        ),
    }
}

fn of_path<'a>(ty: &'a Type, path: &'a TypePath) -> Shape<'a> {
    let Some(last) = path.path.segments.last() else { return Shape::Named(ty) };
    match (last.ident.to_string().as_str(), argument(&last.arguments)) {
        ("Option", Some(item)) => Shape::Optional(item),
        ("Vec", Some(item)) => Shape::List(item),
        ("Box" | "Arc" | "Rc", Some(inner)) => of(inner),
        ("String" | "str", None) => Shape::Text,
        ("bool", None) => Shape::Bool,
        ("f64", None) => Shape::Number,
        ("f32", None) => Shape::Unfit("an f32 does not hold a JSON number exactly: use f64"),
        ("char", None) => Shape::Unfit("the vocabulary has no characters: use a String with max_length = 1"),
        ("u128" | "i128", None) => Shape::Unfit("integers stay within ±9007199254740991: use i64"),
        ("HashMap" | "BTreeMap" | "IndexMap" | "Map" | "Value", _) => {
            Shape::Unfit("the vocabulary has no open objects: use a struct that names every field")
        }
        ("HashSet" | "BTreeSet" | "VecDeque", _) => Shape::Unfit("use a Vec with max_items"),
        (name, None) => integer(name).unwrap_or(Shape::Named(ty)),
        _ => Shape::Named(ty),
    }
}

fn integer(name: &str) -> Option<Shape<'static>> {
    let (low, high) = match name {
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" | "usize" => (0, u32::MAX.into()),
        "u64" => (0, SAFE),
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" | "isize" => (i32::MIN.into(), i32::MAX.into()),
        "i64" => (-SAFE, SAFE),
        _ => return None,
    };
    Some(Shape::Integer(low, high))
}

/// The only type argument.
fn argument(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(list) = arguments else { return None };
    match (list.args.len(), list.args.first()) {
        (1, Some(GenericArgument::Type(ty))) => Some(ty),
        _ => None,
    }
}
