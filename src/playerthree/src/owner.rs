//! `playerthree owner`: the demo's owners' API from the shell. A token never stands on a command line, where others could
//! read it.

use crate::credential;
use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

/// Longest answer that is read.
const ANSWER_BYTES: u64 = 4 << 20;

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// The server
    #[arg(long, default_value = "http://127.0.0.1:2567", value_name = "URL", global = true)]
    server: String,
    /// The file that holds the token of your login; without it the variable PLAYERTHREE_OWNER_TOKEN is read
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum Command {
    /// Signs a new name in and prints {token, name}; keep the token, it is who you are
    Login {
        /// 1 to 24 letters, digits, spaces or any of - _ . '
        name: String,
    },
    /// Lists your named commanders of every game
    Commanders,
    /// Adds a named commander and prints {id, token}; the token lets an agent play as it, and is shown once
    AddCommander {
        /// The game, such as agent-command
        #[arg(long)]
        game: String,
        /// What you call it; no agent sees it
        #[arg(long)]
        name: String,
        /// A role that it can take; may be repeated
        #[arg(long = "role", required = true, value_name = "ROLE")]
        roles: Vec<String>,
        /// Lets it share what it knows with your other shared commanders; it then never plays against them
        #[arg(long)]
        shared: bool,
    },
    /// Removes a commander that plays nowhere, with all its credentials
    RemoveCommander {
        /// The commander's id
        #[arg(allow_hyphen_values = true)]
        id: String,
    },
    /// Replaces a commander's token and prints the new one; the old one ends at once
    Rotate {
        /// The commander's id
        #[arg(allow_hyphen_values = true)]
        id: String,
    },
    /// Changes a commander's settings
    Settings {
        /// The commander's id
        #[arg(allow_hyphen_values = true)]
        id: String,
        /// The changes, as {"scopes": [...], "mandate": {...}, "botLevel": "..."}
        #[arg(value_parser = object)]
        patch: Map<String, Value>,
    },
    /// Lists your sign-in connections
    Connections,
    /// Changes the roles of a connection from its next call on
    Roles {
        /// The connection's id
        #[arg(allow_hyphen_values = true)]
        id: String,
        /// The roles that it keeps
        #[arg(required = true)]
        roles: Vec<String>,
    },
    /// Ends a connection at once
    Disconnect {
        /// The connection's id
        #[arg(allow_hyphen_values = true)]
        id: String,
    },
    /// Prints a token for an agent on one of your seats
    SeatToken {
        #[command(flatten)]
        seat: SeatArgs,
        /// Seconds that it waits for its first use, 5 to 600; the server's own where nothing is said
        #[arg(long, value_name = "SECONDS")]
        ttl: Option<u32>,
    },
    /// Ends every token of one of your seats
    RevokeSeat(SeatArgs),
    /// Puts one of your commanders into a seat that is yours or open
    Assign {
        #[command(flatten)]
        seat: SeatArgs,
        /// The commander's id
        #[arg(long, allow_hyphen_values = true)]
        commander: String,
    },
    /// Changes what the agent on one of your seats may do
    Scopes {
        #[command(flatten)]
        seat: SeatArgs,
        /// The scopes that it keeps, such as act; none takes all of them away
        scopes: Vec<String>,
    },
    /// Changes the mandate of the agent on one of your seats
    Mandate {
        #[command(flatten)]
        seat: SeatArgs,
        /// The whole mandate, as {"autonomy": "...", "directive": {...}, "whenAbsent": "..."}
        #[arg(value_parser = object)]
        mandate: Map<String, Value>,
    },
    /// Writes to the agent on one of your seats
    Tell {
        #[command(flatten)]
        seat: SeatArgs,
        /// What to say
        #[arg(allow_hyphen_values = true)]
        text: String,
    },
}

#[derive(clap::Args, Clone, Debug)]
struct SeatArgs {
    /// The match, by the id of its room
    #[arg(allow_hyphen_values = true)]
    match_id: String,
    /// The side
    team: String,
    /// The role
    role: String,
}

/// Parses an argument that has to be a JSON object.
fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|_| "not a JSON object".to_owned())
}

/// One request.
struct Ask {
    method: &'static str,
    path: String,
    body: Value,
}

impl Command {
    fn ask(self) -> Ask {
        let ask = |method, path: String, body| Ask { method, path, body };
        match self {
            Self::Login { name } => ask("POST", "/demo/login".into(), json!({ "name": name })),
            Self::Commanders => ask("GET", "/demo/commanders".into(), json!({})),
            Self::AddCommander { game, name, roles, shared } => {
                let isolation = if shared { "shared" } else { "independent" };
                let body = json!({ "game": game, "name": name, "roles": roles, "isolation": isolation });
                ask("POST", "/demo/commanders".into(), body)
            }
            Self::RemoveCommander { id } => ask("DELETE", at("/demo/commanders", &[&id]), json!({})),
            Self::Rotate { id } => ask("POST", at("/demo/commanders", &[&id, "token"]), json!({})),
            Self::Settings { id, patch } => ask("PATCH", at("/demo/commanders", &[&id]), patch.into()),
            Self::Connections => ask("GET", "/demo/connections".into(), json!({})),
            Self::Roles { id, roles } => {
                ask("PATCH", at("/demo/connections", &[&id]), json!({ "roles": roles }))
            }
            Self::Disconnect { id } => ask("DELETE", at("/demo/connections", &[&id]), json!({})),
            Self::SeatToken { seat, ttl } => {
                seat.ask("mint", ttl.map_or_else(|| json!({}), |ttl| json!({ "ttlSeconds": ttl })))
            }
            Self::RevokeSeat(seat) => seat.ask("revoke", json!({})),
            Self::Assign { seat, commander } => {
                seat.ask("assign", json!({ "kind": "agent", "commander": commander }))
            }
            Self::Scopes { seat, scopes } => seat.ask("scopes", json!({ "scopes": scopes })),
            Self::Mandate { seat, mandate } => seat.ask("mandate", json!({ "mandate": mandate })),
            Self::Tell { seat, text } => {
                let body = json!({ "team": seat.team, "roles": [seat.role], "text": text });
                ask("POST", at("/demo/matches", &[&seat.match_id, "tell"]), body)
            }
        }
    }

    fn needs_token(&self) -> bool {
        !matches!(self, Self::Login { .. })
    }
}

impl SeatArgs {
    fn ask(self, op: &str, mut body: Value) -> Ask {
        body["team"] = json!(self.team);
        body["role"] = json!(self.role);
        Ask { method: "POST", path: at("/demo/matches", &[&self.match_id, op]), body }
    }
}

/// A path whose parts stand for themselves, whatever they hold.
fn at(base: &str, parts: &[&str]) -> String {
    let parts: String = parts.iter().map(|part| format!("/{}", escape(part))).collect();
    format!("{base}{parts}")
}

fn escape(part: &str) -> String {
    url::form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Sends the request and prints its answer.
#[expect(clippy::print_stdout, reason = "the answer is what was asked for")]
pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let token = if args.command.needs_token() {
        Some(credential::read(args.token_file, "PLAYERTHREE_OWNER_TOKEN")?)
    } else {
        None
    };
    let answer = send(&args.server, &args.command.ask(), token.as_deref())?;
    println!("{}", serde_json::to_string_pretty(&answer)?);
    Ok(())
}

fn send(server: &str, ask: &Ask, token: Option<&str>) -> anyhow::Result<Value> {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        // The token is for this server alone.
        .max_redirects(0)
        .proxy(None)
        .http_status_as_error(false)
        .build()
        .new_agent();
    let mut request = axum::http::Request::builder()
        .method(ask.method)
        .uri(format!("{}{}", server.trim_end_matches('/'), ask.path))
        .header("content-type", "application/json");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let malformed = "the address or the token is malformed";
    let answer = match ask.method {
        "GET" | "DELETE" => agent.run(request.body(()).context(malformed)?),
        _ => agent.run(request.body(ask.body.to_string()).context(malformed)?),
    };
    let answer = answer.map_err(|_| anyhow::anyhow!("the server cannot be reached"))?;
    let status = answer.status();
    let mut text = String::new();
    answer
        .into_body()
        .into_reader()
        .take(ANSWER_BYTES)
        .read_to_string(&mut text)
        .context("no whole answer")?;
    let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    if !status.is_success() {
        match answer["error"].as_str() {
            Some(code) => bail!("the server refused: {code}"),
            None => bail!("the server answered {}", status.as_u16()),
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_path_stand_for_themselves() {
        assert_eq!(at("/demo/commanders", &["cmd_a", "token"]), "/demo/commanders/cmd_a/token");
        assert_eq!(at("/demo/commanders", &["../x y?"]), "/demo/commanders/..%2Fx%20y%3F");
    }
}
