// The shapes of messages as PROTOCOL.md writes them, `{op, tick, ranks?, seats: [seat]}`, and as TypeScript declares them.
// Only the members of the outermost level are read: each name, and whether it may be missing.

/** What stands between the bracket at `start` and its partner. */
function within(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if ("{[(".includes(text[at])) depth++;
    else if ("}])".includes(text[at]) && --depth === 0) return text.slice(start + 1, at);
  }
  throw new Error(`a bracket without its partner: ${text.slice(start, start + 60)}`);
}

/** The parts of a text between separators that stand outside of brackets. */
function parts(text, separator) {
  const found = [""];
  let depth = 0;
  for (const char of text) {
    if ("{[(".includes(char)) depth++;
    if ("}])".includes(char)) depth--;
    if (depth === 0 && char === separator) found.push("");
    else found[found.length - 1] += char;
  }
  return found.map((part) => part.trim()).filter((part) => part !== "");
}

/** The members of the first shape behind `anchor` in a text: `name` for one that is always there, `name?` for another. */
export function shapeBehind(text, anchor) {
  const from = text.indexOf(anchor);
  if (from < 0) throw new Error(`there is no ${anchor}`);
  const start = text.indexOf("{", from + anchor.length);
  return parts(within(text, start), ",").map((member) => member.split(":")[0].trim()).sort();
}

/** The members of an interface of TypeScript, written the same way. */
export function membersOf(source, name) {
  const from = source.search(new RegExp(`interface ${name}\\b`));
  if (from < 0) throw new Error(`there is no interface ${name}`);
  const body = within(source, source.indexOf("{", from)).replace(/\/\*\*[\s\S]*?\*\//g, "");
  return parts(body, ";").map((member) => member.match(/^readonly (\w+\??):/)[1]).sort();
}
