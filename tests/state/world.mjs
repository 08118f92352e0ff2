// What a client's author would write for the state `open`.

const REFERENCES = { 20: "Point", 21: ["Point"], 22: "Point", 40: ["uint8"] };
const wide = Object.fromEntries(Array.from({ length: 63 }, (_, index) => [`f${index}`, REFERENCES[index] ?? "uint8"]));
const elder = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`e${index}`, index === 20 ? "Point" : "uint8"]));

const FIELDS = {
  Point: { x: "float32", y: "float32" },
  Base: { id: "uint32", at: "Point" },
  Stack: { kind: "uint8", count: "uint16", history: ["int16"] },
  Unit: {
    name: "string",
    x: "float32",
    y: "float64",
    tags: ["string"],
    stacks: { map: "Stack" },
    spot: "Point",
    alive: "boolean",
  },
  Wide: wide,
  Elder: elder,
  Heir: { e21: ["uint8"], e22: "Point" },
  Tree: { name: "string", children: ["Tree"] },
  Hero: { name: "string", x: "float32", tags: ["string"], stacks: { map: "Stack" }, mark: "Point" },
  Team: { lead: "Hero", next: "Hero", members: ["Hero"], names: { map: "Hero" } },
  World: {
    a: "int8",
    b: "uint8",
    c: "int16",
    d: "uint16",
    e: "int32",
    f: "uint32",
    g: "int64",
    h: "uint64",
    i: "float32",
    j: "float64",
    k: "number",
    l: "bigint64",
    m: "biguint64",
    n: "boolean",
    o: "string",
    p: "string",
    q: "float64",
    flags: { map: "boolean" },
    numbers: ["number"],
    words: ["string"],
    units: { map: "Unit" },
    stacks: ["Stack"],
    set: { set: "int32" },
    names: { set: "string" },
    bag: { collection: "string" },
    things: { collection: "Stack" },
    wide: "Wide",
    unit: "Unit",
    map: { map: "uint8" },
    tree: "Tree",
    first: "Hero",
    second: "Hero",
    heroes: { map: "Hero" },
    row: ["Hero"],
    team: "Team",
    teams: { map: "Team" },
    ranks: ["Team"],
    squads: { collection: "Team" },
    marks: { map: "Point" },
    heir: "Heir",
  },
};

const PARENTS = { Unit: "Base", Heir: "Elder" };

/** The types of the state `open`; `World` is the root. */
export const WORLD = Object.entries(FIELDS).map(([name, fields]) => ({
  name,
  parent: PARENTS[name],
  fields: Object.entries(fields),
}));
