// Every operation of the binding as PROTOCOL.md lists them (§4, §20), and the match that they are tried in. Nothing here
// talks to a server.

export const CANARY = "kanarienvogel";
/** A private match that is held before its start, so that its host can do everything. */
export const options = { teams: ["red", "blue"], bots: "nobody", seed: 11, private: true, observerDelayMs: 0, hold: true };
/** A mandate under which an agent asks its owner first. */
export const mandate = { autonomy: "supervised", directive: { objective: "attack" }, whenAbsent: "hold" };

/**
 * A row for each operation, in an order in which the host of a held match can do them all: its fields, which may come
 * from what was answered before, and
 * - `data`: the members of its answer, or `code`: that it is refused as long as nobody asked for what it answers;
 * - `unread`: the code for a member that it does not have, where that is not `bad_message`;
 * - `invalid`: fields that are out of their schema;
 * - `foreign`: the same operation on what is somebody else's.
 */
export const rows = [
  { op: "view", fields: {}, data: ["version", "view"] },
  {
    op: "call",
    fields: { role: "ground", method: "observe", args: {} },
    data: ["observation"],
    invalid: { role: "ground", method: "observe", args: { since: -1 } },
    foreign: { role: "air", method: "observe", args: {} },
  },
  { op: "readiness", fields: {}, data: ["mode", "pending", "seats"] },
  { op: "cards", fields: {}, data: ["cards"] },
  { op: "report", fields: {}, code: "not_in_match" },
  {
    op: "mint",
    fields: { role: "air" },
    data: ["expiresAt", "mcpPath", "role", "team", "token"],
    invalid: { role: "ground", ttlSeconds: 4 },
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "mandate",
    fields: { role: "air", mandate },
    data: [],
    invalid: { role: "ground", mandate: { [CANARY]: 1 } },
    foreign: { team: "blue", role: "ground", mandate },
  },
  {
    op: "resolveApproval",
    fields: ({ approval }) => ({ role: "air", id: approval, approve: true }),
    data: ["id", "status", "version"],
    foreign: { team: "blue", role: "ground", id: "ap_1", approve: true },
  },
  {
    op: "scopes",
    fields: { role: "air", scopes: ["act"] },
    data: [],
    invalid: { role: "ground", scopes: [CANARY] },
    foreign: { team: "blue", role: "ground", scopes: [] },
  },
  {
    op: "controller",
    fields: { role: "ground", controller: "human" },
    data: [],
    invalid: { role: "ground", controller: CANARY },
    foreign: { team: "blue", role: "ground", controller: "none" },
  },
  {
    op: "stream",
    fields: { role: "ground", everyTicks: 0 },
    data: ["everyTicks"],
    unread: "invalid",
    invalid: { role: "ground", everyTicks: -1 },
    foreign: { role: "air", everyTicks: 1 },
  },
  {
    op: "tell",
    fields: { roles: ["air"], text: "Hold." },
    data: [],
    unread: "invalid",
    invalid: { roles: "all", text: "" },
    foreign: { team: "blue", roles: ["ground"], text: "Hold." },
  },
  {
    op: "mintHuman",
    fields: { role: "ground" },
    data: ["expiresAt", "role", "team", "token"],
    invalid: { role: "ground", ttlSeconds: 601 },
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "renewHuman",
    fields: { role: "ground" },
    data: ["expiresAt"],
    invalid: { role: "ground", ttlSeconds: 601 },
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "mintSpectator",
    fields: {},
    data: ["expiresAt", "team", "token"],
    invalid: { ttlSeconds: 4 },
    foreign: { team: "blue" },
  },
  { op: "inviteObserver", fields: {}, data: ["expiresAt", "grant", "ticket"], invalid: { ttlSeconds: 4 } },
  { op: "revokeObserver", fields: ({ ticket }) => ({ ticket }), data: [] },
  {
    op: "revoke",
    fields: { role: "air" },
    data: [],
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "assign",
    fields: { role: "air", kind: "bot" },
    data: [],
    foreign: { team: "blue", role: "ground", kind: "bot" },
  },
  { op: "commanders", fields: {}, data: ["commanders"] },
  {
    op: "addCommander",
    fields: { name: "Falcon", roles: ["air"] },
    data: ["id", "mcpPath", "token"],
    unread: "invalid",
    invalid: { name: "", roles: ["air"] },
  },
  {
    op: "tellCommanders",
    fields: { commanders: "all", text: "Soon." },
    data: [],
    unread: "invalid",
    invalid: { commanders: "all", text: "" },
    foreign: { commanders: [CANARY], text: "Soon." },
  },
  {
    op: "commanderSettings",
    fields: ({ commander }) => ({ commander, settings: { scopes: ["act"] } }),
    data: ["settings"],
    foreign: { commander: CANARY, settings: {} },
  },
  {
    op: "commanderApproval",
    fields: ({ commander }) => ({ commander, id: "ap_1", approve: true }),
    code: "approval_not_found",
    foreign: { commander: CANARY, id: "ap_1", approve: true },
  },
  {
    op: "rotate",
    fields: ({ commander }) => ({ commander }),
    data: ["mcpPath", "token"],
    foreign: { commander: CANARY },
  },
  {
    op: "removeCommander",
    fields: ({ commander }) => ({ commander }),
    data: [],
    foreign: { commander: CANARY },
  },
  { op: "pool", fields: {}, data: ["entries"], unread: "invalid", invalid: { mine: "yes" } },
  { op: "unpublish", fields: { policyId: CANARY }, code: "forbidden" },
  {
    op: "ready",
    fields: { role: "ground", ready: true },
    data: [],
    foreign: { team: "blue", role: "ground", ready: true },
  },
  { op: "start", fields: {}, data: [], invalid: { inSeconds: 61 } },
];

/** The fields of a row, with what was answered before. */
export const fieldsOf = (fields, known) => (typeof fields === "function" ? fields(known) : fields);

/** What nothing was answered with: the fields of a row that names it are refused. */
export const nothingKnown = { approval: "ap_1", ticket: CANARY, commander: CANARY };

/** The columns of a table of PROTOCOL.md, by the names in its first column. */
export function documented(text, heading) {
  const section = text.split(`### ${heading}\n`)[1].split("\n### ")[0];
  const lines = section.split("\n").filter((line) => line.startsWith("| `"));
  const cells = lines.map((line) => line.split(" |").map((cell) => cell.replace(/^\| ?/, "").trim()));
  return new Map(cells.flatMap(([names, ...others]) => names.match(/\w+/g).map((name) => [name, others])));
}
