//! Random types: a few structs that hold each other, every kind of field among them.

use fastrand::Rng;

/// Whether all clients see the whole state.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reach {
    Open,
    Viewed,
}

/// A primitive: its Rust type and its name in the format.
pub(crate) type Primitive = (&'static str, &'static str);

const PRIMITIVES: [Primitive; 15] = [
    ("i8", "int8"),
    ("u8", "uint8"),
    ("i16", "int16"),
    ("u16", "uint16"),
    ("i32", "int32"),
    ("u32", "uint32"),
    ("i64", "int64"),
    ("u64", "uint64"),
    ("f32", "float32"),
    ("f64", "float64"),
    ("Number", "number"),
    ("BigInt", "bigint64"),
    ("BigUint", "biguint64"),
    ("bool", "boolean"),
    ("String", "string"),
];

/// What a collection holds.
#[derive(Clone, Copy)]
pub(crate) enum Item {
    Primitive(Primitive),
    /// The number of a struct.
    Struct(usize),
    Shared(usize),
}

#[derive(Clone, Copy)]
pub(crate) enum Collection {
    Map,
    ViewMap,
    List,
    Set,
    Bag,
}

#[derive(Clone, Copy)]
pub(crate) enum Content {
    Item(Item),
    Collection(Collection, Item),
}

pub(crate) struct Field {
    pub(crate) content: Content,
    pub(crate) optional: bool,
    pub(crate) renamed: bool,
    pub(crate) skipped: bool,
    pub(crate) tag: Option<u8>,
}

pub(crate) struct Struct {
    pub(crate) parent: Option<usize>,
    pub(crate) fields: Vec<Field>,
}

/// Structs, the root first. A struct has others only of a higher number, and itself in collections.
pub(crate) fn random(rng: &mut Rng, reach: Reach) -> Vec<Struct> {
    let count = rng.usize(2..=6);
    let mut types: Vec<Struct> = Vec::new();
    for number in (0..count).rev() {
        let known = count - number - 1;
        let inherited = |parent: usize| fields_of(&types, count, parent);
        let parent = (known > 0 && rng.u8(0..3) == 0)
            .then(|| number + 1 + rng.usize(0..known))
            .filter(|parent| inherited(*parent) < 60);
        let most = 63 - parent.map_or(0, inherited);
        let fields = fields(rng, reach, number, count, parent.map_or(0, inherited), most);
        types.push(Struct { parent, fields });
    }
    types.reverse();
    types
}

/// Fields of a type, inherited ones included, while only the later types are known, the last one first.
fn fields_of(types: &[Struct], count: usize, number: usize) -> usize {
    let known = &types[count - number - 1];
    let own = known.fields.iter().filter(|field| !field.skipped).count();
    own + known.parent.map_or(0, |parent| fields_of(types, count, parent))
}

/// A type's own fields. One type in four is wide, with references around field 21, whose operations are ambiguous.
fn fields(rng: &mut Rng, reach: Reach, number: usize, count: usize, first: usize, most: usize) -> Vec<Field> {
    let wide = rng.u8(0..4) == 0;
    let len = if wide { rng.usize(20..=63) } else { rng.usize(1..10) }.min(most);
    let mut structs = if number + 1 < count { 2 } else { 0 };
    let mut fields: Vec<Field> = (first..first + len)
        .map(|index| {
            let content = if wide && !(19..25).contains(&index) && rng.u8(0..8) > 0 {
                Content::Item(Item::Primitive(PRIMITIVES[1]))
            } else {
                content(rng, reach, number, count, &mut structs, wide && (19..25).contains(&index))
            };
            Field {
                content,
                optional: rng.u8(0..4) == 0,
                renamed: rng.u8(0..8) == 0,
                skipped: false,
                tag: (reach == Reach::Viewed && rng.u8(0..4) == 0).then(|| [0, 0, 1, 63][rng.usize(0..4)]),
            }
        })
        .collect();
    if rng.u8(0..4) == 0 {
        let content = Content::Item(Item::Primitive(PRIMITIVES[7]));
        let skipped = Field { content, optional: false, renamed: false, skipped: true, tag: None };
        fields.insert(rng.usize(0..=fields.len()), skipped);
    }
    fields
}

fn content(
    rng: &mut Rng,
    reach: Reach,
    number: usize,
    count: usize,
    structs: &mut usize,
    refers: bool,
) -> Content {
    let other = |rng: &mut Rng| number + 1 + rng.usize(0..count - number - 1);
    let is_struct = *structs > 0 && rng.bool();
    *structs -= usize::from(is_struct);
    if (is_struct || !refers) && rng.bool() {
        return Content::Item(match is_struct {
            false => Item::Primitive(rng.choice(PRIMITIVES).unwrap()),
            true if reach == Reach::Open && rng.u8(0..3) == 0 => Item::Shared(other(rng)),
            true => Item::Struct(other(rng)),
        });
    }
    let collection = match (rng.u8(0..6), reach) {
        (0, Reach::Viewed) => Collection::ViewMap,
        (0..=1, _) => Collection::Map,
        (2..=3, _) => Collection::List,
        (4, _) => Collection::Bag,
        _ if is_struct => Collection::Map,
        _ => Collection::Set,
    };
    let shares = reach == Reach::Open && matches!(collection, Collection::Map | Collection::List);
    let item = match is_struct {
        false => Item::Primitive(rng.choice(PRIMITIVES).unwrap()),
        true if shares && rng.u8(0..3) == 0 => Item::Shared(other(rng)),
        true if rng.u8(0..5) == 0 => Item::Struct(number),
        true => Item::Struct(other(rng)),
    };
    Content::Collection(collection, item)
}
