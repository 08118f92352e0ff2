// Requests to the agents' endpoint as no SDK would send them: any token with any session, any verb, cut at any time.

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "hostile test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** `tools/list`, or a DELETE, as `{status, session, text}`. */
export function toolsList(server, token, session, verb = "POST") {
  return request(server, { token, session, verb, method: "tools/list", params: {} });
}

/** A tool call, as `{status, session, text}`. `signal` cuts it. */
export function toolCall(server, token, session, name, args, signal) {
  return request(server, { token, session, method: "tools/call", params: { name, arguments: args }, signal });
}

async function request(server, { token, session, verb = "POST", method, params, signal }) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
  };
  if (params.name) headers["mcp-name"] = params.name;
  if (session) headers["mcp-session-id"] = session;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
  const options = { method: verb, headers, signal, body: verb === "POST" ? body : undefined };
  const response = await fetch(`${server.url}/mcp`, options);
  const text = await response.text();
  return { status: response.status, session: response.headers.get("mcp-session-id"), text };
}
