//! Types as Rust source, and as a description from which a client's author would write classes.

use crate::types::{Collection, Content, Field, Item, Reach, Struct};
use std::fmt::Write as _;

/// A state of the family.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) reach: Reach,
    pub(crate) types: Vec<Struct>,
}

pub(crate) fn write(seed: u64, members: &[Member]) -> String {
    let mut source =
        format!("/// What the family follows from.\npub(crate) const SCHEMA_SEED: u64 = {seed};\n");
    for member in members {
        write!(
            source,
            "pub(crate) mod {} {{
                #[allow(unused_imports, reason = \"not every state has every type\")]
                use playerthree_rooms_state::{{Bag, BigInt, BigUint, List, Map, Number, Set, Shared, State, ViewMap}};
                {}
            }}\n",
            member.name,
            (0..member.types.len()).map(|number| write_struct(&member.types, number)).collect::<String>(),
        )
        .unwrap();
    }
    let entries: String = members
        .iter()
        .map(|Member { name, reach, types }| {
            let plan = if *reach == Reach::Open { "open" } else { "viewed" };
            format!(
                "Member {{ name: {name:?}, types: {:?}, plan: crate::plans::{plan}::<{name}::T0> }},\n",
                describe(types)
            )
        })
        .collect();
    write!(source, "pub(crate) const FAMILY: &[Member] = &[\n{entries}];\n").unwrap();
    source
}

fn ident(number: usize, place: usize) -> String {
    format!("f{number}_{place}")
}

/// The name that clients hold a field under.
fn name(number: usize, place: usize, field: &Field) -> String {
    if field.renamed { format!("${number}${place}") } else { ident(number, place) }
}

fn write_struct(types: &[Struct], number: usize) -> String {
    let Struct { parent, fields } = &types[number];
    let (mut members, mut model) = (String::new(), String::new());
    if let Some(parent) = parent {
        writeln!(members, "#[state(extends)] parent: T{parent},").unwrap();
        model.push_str("parent parent, ");
    }
    for (place, field) in fields.iter().enumerate() {
        let ident = ident(number, place);
        let mut attributes = Vec::new();
        if field.skipped {
            attributes.push("skip".to_owned());
        }
        if field.renamed {
            attributes.push(format!("rename = {:?}", name(number, place, field)));
        }
        if let Some(tag) = field.tag {
            attributes.push(if tag == 0 { "view".to_owned() } else { format!("view = {tag}") });
        }
        if !attributes.is_empty() {
            write!(members, "#[state({})] ", attributes.join(", ")).unwrap();
        }
        writeln!(members, "{ident}: {},", rust_type(field)).unwrap();
        write!(model, "{} {ident}", if field.skipped { "skipped" } else { "field" }).unwrap();
        if field.renamed {
            write!(model, " as {:?}", name(number, place, field)).unwrap();
        }
        if let Some(tag) = field.tag {
            write!(model, " = {tag}").unwrap();
        }
        model.push_str(", ");
    }
    format!(
        "#[derive(State)] pub(crate) struct T{number} {{\n{members}}}\ncrate::model::model!(T{number} {{ {model} }});\n"
    )
}

fn rust_type(field: &Field) -> String {
    let content = match field.content {
        Content::Item(item) => rust_item(item),
        Content::Collection(collection, item) => {
            let collection = match collection {
                Collection::Map => "Map",
                Collection::ViewMap => "ViewMap",
                Collection::List => "List",
                Collection::Set => "Set",
                Collection::Bag => "Bag",
            };
            format!("{collection}<{}>", rust_item(item))
        }
    };
    if field.optional { format!("Option<{content}>") } else { content }
}

fn rust_item(item: Item) -> String {
    match item {
        Item::Primitive((rust, _)) => rust.to_owned(),
        Item::Struct(number) => format!("T{number}"),
        Item::Shared(number) => format!("Shared<T{number}>"),
    }
}

/// The types as JSON, parents before children: `{"name", "parent", "fields": [[name, type]]}`.
fn describe(types: &[Struct]) -> String {
    let all: Vec<String> = (0..types.len())
        .rev()
        .map(|number| {
            let Struct { parent, fields } = &types[number];
            let fields: Vec<String> = fields
                .iter()
                .enumerate()
                .filter(|(_, field)| !field.skipped)
                .map(|(place, field)| format!("[{:?},{}]", name(number, place, field), client_type(field)))
                .collect();
            let parent = parent.map_or("null".to_owned(), |parent| format!("\"T{parent}\""));
            format!("{{\"name\":\"T{number}\",\"parent\":{parent},\"fields\":[{}]}}", fields.join(","))
        })
        .collect();
    format!("[{}]", all.join(","))
}

fn client_type(field: &Field) -> String {
    let item = |item| match item {
        Item::Primitive((_, client)) => format!("\"{client}\""),
        Item::Struct(number) | Item::Shared(number) => format!("\"T{number}\""),
    };
    match field.content {
        Content::Item(one) => item(one),
        Content::Collection(Collection::List, of) => format!("[{}]", item(of)),
        Content::Collection(Collection::Map | Collection::ViewMap, of) => format!("{{\"map\":{}}}", item(of)),
        Content::Collection(Collection::Set, of) => format!("{{\"set\":{}}}", item(of)),
        Content::Collection(Collection::Bag, of) => format!("{{\"collection\":{}}}", item(of)),
    }
}
