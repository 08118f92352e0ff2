// Classes as a client's author writes them, from a description `[{name, parent, fields: [[name, type]]}]`, parents
// before their children. A type is a primitive's name, a class's, `[type]`, or `{map | set | collection: type}`.

/** The classes by name, written with one schema library. */
export function classesOf(types, { Schema, defineTypes }) {
  const classes = {};
  for (const { name, parent } of types) {
    classes[name] = { [name]: class extends (parent ? classes[parent] : Schema) {} }[name];
  }
  const resolve = (type) => {
    if (typeof type === "string") return classes[type] ?? type;
    if (Array.isArray(type)) return type.map(resolve);
    return Object.fromEntries(Object.entries(type).map(([kind, item]) => [kind, resolve(item)]));
  };
  for (const { name, fields } of types) {
    defineTypes(classes[name], Object.fromEntries(fields.map(([field, type]) => [field, resolve(type)])));
  }
  return classes;
}
