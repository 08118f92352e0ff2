//! The agents' programs that the connect kit knows, each with the words of its own settings. Tokens appear as the variable
//! that holds them, in the form that the program itself expands.

use anyhow::bail;
use clap::ValueEnum as _;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The variable that holds a token.
const VARIABLE: &str = "PLAYERTHREE_TOKEN";

/// An agent's program.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// Claude Code
    ClaudeCode,
    /// OpenAI Codex: shell, editor extension and desktop app
    Codex,
    /// Gemini CLI
    GeminiCli,
    /// Cursor
    Cursor,
    /// Visual Studio Code with Copilot
    Vscode,
    /// OpenCode
    Opencode,
    /// Claude Desktop
    ClaudeDesktop,
    /// The Claude API's MCP connector, with a token alone
    ClaudeApi,
    /// Any other program
    Other,
}

/// How the agent shows who it is.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It signs in: you consent in a browser
    SignIn,
    /// With a commander's token
    Token,
    /// With a seat's token, through `playerthree mcp`: good for one match and one process
    SeatToken,
}

/// What to set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) url: &'a str,
    pub(crate) name: &'a str,
    pub(crate) way: Way,
    pub(crate) channel: bool,
    /// The path of this program, which is the bridge.
    pub(crate) program: &'a str,
}

/// The catalog.
pub(crate) fn list() -> String {
    let mut text = "playerthree connect AGENT prints how it is given the endpoint:\n\n".to_owned();
    for value in Agent::value_variants().iter().filter_map(clap::ValueEnum::to_possible_value) {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        // Writing to a string cannot fail.
        _ = writeln!(text, "    {:<16}{help}", value.get_name());
    }
    text
}

/// The setup of an agent.
///
/// # Errors
/// When the agent cannot be set up that way.
pub(crate) fn setup(agent: Agent, setup: &Setup<'_>) -> anyhow::Result<String> {
    let steps = match (agent, setup.way) {
        (Agent::ClaudeApi, Way::Token) => claude_api(setup),
        (Agent::ClaudeApi, _) => bail!("the Claude API takes a commander's token: add --with token"),
        (Agent::Other, way) => other(setup, way),
        (agent, Way::SignIn) => sign_in(agent, setup),
        (Agent::ClaudeDesktop, Way::Token) => bridged(agent, setup),
        (agent, Way::Token) if !setup.channel => token(agent, setup),
        (agent, Way::Token | Way::SeatToken) => bridged(agent, setup),
    };
    let needed = match (setup.way, agent) {
        (Way::SignIn, _) | (_, Agent::ClaudeApi) => "",
        (_, Agent::ClaudeDesktop) => "\nThe file has to hold the token and nothing else.\n",
        (_, Agent::Vscode) => "\nVS Code asks for the token when it starts the server.\n",
        _ => "\nThe variable PLAYERTHREE_TOKEN has to hold the token where the agent starts.\n",
    };
    Ok(format!("{steps}{needed}{}", kickoff()))
}

/// What an owner tells an agent that plays by turns of its own (§16 `kickoffPrompt`).
fn kickoff() -> &'static str {
    "\nConnecting alone starts nothing. Tell your agent, for instance:\n\n    \
     Play my seat. Call game_briefing first and keep within its mandate, then read\n    \
     game_skill(name: \"playerthree-commander\", path: \"SKILL.md\") and the game's own skill.\n    \
     Play until the match is over: observe, act, wait.\n"
}

/// A sign-in needs the address alone.
fn sign_in(agent: Agent, setup: &Setup<'_>) -> String {
    let Setup { url, name, .. } = setup;
    match agent {
        Agent::ClaudeCode => format!(
            "Run in your shell, then sign in with /mcp inside Claude Code:\n\n    \
             claude mcp add --transport http {name} '{url}'\n"
        ),
        Agent::Codex => format!(
            "Run in your shell:\n\n    codex mcp add {name} --url '{url}'\n    codex mcp login {name}\n"
        ),
        Agent::GeminiCli => format!(
            "Run in your shell, then sign in with /mcp auth {name} inside Gemini CLI:\n\n    \
             gemini mcp add --transport http {name} '{url}'\n"
        ),
        Agent::ClaudeDesktop => {
            format!(
                "In Claude Desktop: Settings, Connectors, Add custom connector, with the address\n\n    {url}\n"
            )
        }
        Agent::Opencode => format!(
            "{}\nThen run `opencode mcp auth {name}`.\n",
            file("opencode.json", &json!({ "mcp": { *name: { "type": "remote", "url": url } } }))
        ),
        Agent::Cursor => {
            let entry = json!({ "mcpServers": { *name: { "url": url } } });
            format!("{}\nThen sign in under Cursor's MCP settings.\n", file(".cursor/mcp.json", &entry))
        }
        Agent::Vscode | Agent::ClaudeApi | Agent::Other => {
            let entry = json!({ "servers": { *name: { "type": "http", "url": url } } });
            format!(
                "{}\nThen start the server above its entry, and sign in.\n",
                file(".vscode/mcp.json", &entry)
            )
        }
    }
}

/// A commander's token goes into a header.
fn token(agent: Agent, setup: &Setup<'_>) -> String {
    let Setup { url, name, .. } = setup;
    let authorization = json!({ "Authorization": format!("Bearer {}", expansion(agent)) });
    let entry = match agent {
        Agent::Codex => {
            return format!(
                "Add to ~/.codex/config.toml:\n\n    [mcp_servers.{name}]\n    url = {}\n    \
                 bearer_token_env_var = \"{VARIABLE}\"\n",
                json!(url)
            );
        }
        Agent::GeminiCli => json!({ "httpUrl": url, "headers": authorization }),
        Agent::Cursor => json!({ "url": url, "headers": authorization }),
        Agent::Opencode => json!({ "type": "remote", "url": url, "headers": authorization, "oauth": false }),
        _ => json!({ "type": "http", "url": url, "headers": authorization }),
    };
    in_file(agent, name, &entry)
}

/// A program of the shell that the agent starts: the bridge.
fn bridged(agent: Agent, setup: &Setup<'_>) -> String {
    let Setup { url, name, program, .. } = setup;
    let mut args = vec!["mcp", "--url", url];
    if setup.channel {
        args.push("--channel");
    }
    let environment = json!({ VARIABLE: expansion(agent) });
    let entry = match agent {
        Agent::Codex => {
            return format!(
                "Add to ~/.codex/config.toml:\n\n    [mcp_servers.{name}]\n    command = {}\n    args = {}\n    \
                 env_vars = [\"{VARIABLE}\"]\n",
                json!(program),
                json!(args)
            );
        }
        Agent::Opencode => {
            let command: Vec<&str> = std::iter::once(*program).chain(args).collect();
            json!({ "type": "local", "command": command, "environment": environment })
        }
        // Its file knows no variables.
        Agent::ClaudeDesktop => {
            args.extend(["--token-file", "/path/to/a/file/with/the/token"]);
            json!({ "command": program, "args": args })
        }
        Agent::Vscode => json!({ "type": "stdio", "command": program, "args": args, "env": environment }),
        _ => json!({ "command": program, "args": args, "env": environment }),
    };
    let steps = in_file(agent, name, &entry);
    if !setup.channel {
        return steps;
    }
    format!(
        "{steps}\nThen start Claude Code with its flag for custom channels, an experiment that works in interactive use \
         alone:\n\n    claude --dangerously-load-development-channels server:{name}\n"
    )
}

/// How an agent's settings name the variable.
fn expansion(agent: Agent) -> String {
    match agent {
        Agent::Cursor => format!("${{env:{VARIABLE}}}"),
        Agent::Vscode => "${input:playerthree-token}".to_owned(),
        Agent::Opencode => format!("{{env:{VARIABLE}}}"),
        Agent::GeminiCli => format!("${VARIABLE}"),
        _ => format!("${{{VARIABLE}}}"),
    }
}

/// An entry of the file where an agent keeps its servers.
fn in_file(agent: Agent, name: &str, entry: &Value) -> String {
    match agent {
        Agent::GeminiCli => file("~/.gemini/settings.json", &json!({ "mcpServers": { name: entry } })),
        Agent::Cursor => file(".cursor/mcp.json", &json!({ "mcpServers": { name: entry } })),
        Agent::ClaudeDesktop => file("claude_desktop_config.json", &json!({ "mcpServers": { name: entry } })),
        Agent::Opencode => file("opencode.json", &json!({ "mcp": { name: entry } })),
        Agent::Vscode => {
            let input = json!({
                "type": "promptString",
                "id": "playerthree-token",
                "description": "The token of a commander or a seat",
                "password": true,
            });
            file(".vscode/mcp.json", &json!({ "servers": { name: entry }, "inputs": [input] }))
        }
        _ => file(".mcp.json", &json!({ "mcpServers": { name: entry } })),
    }
}

fn file(path: &str, content: &Value) -> String {
    let mut text = format!("Add to {path}:\n\n");
    for line in format!("{content:#}").lines() {
        // Writing to a string cannot fail.
        _ = writeln!(text, "    {line}");
    }
    text
}

/// §17 "Hosted Claude": tools alone, a public HTTPS address, and a commander's token.
fn claude_api(setup: &Setup<'_>) -> String {
    let Setup { url, name, .. } = setup;
    let server = json!({
        "type": "url",
        "url": url,
        "name": name,
        "authorization_token": format!("the commander's token, out of {VARIABLE}"),
    });
    let request = json!({
        "mcp_servers": [server],
        "tools": [{ "type": "mcp_toolset", "mcp_server_name": name }],
    });
    let text = file("the body of POST /v1/messages, with the beta of the MCP connector", &request);
    format!("{text}\nThe address has to be https and public.\n")
}

fn other(setup: &Setup<'_>, way: Way) -> String {
    let Setup { url, program, .. } = setup;
    match way {
        Way::SignIn => format!("Add an MCP server over HTTP (streamable), without a token:\n\n    {url}\n"),
        Way::Token => format!(
            "Add an MCP server over HTTP (streamable) with a header:\n\n    {url}\n    \
             Authorization: Bearer ${{{VARIABLE}}}\n"
        ),
        Way::SeatToken => {
            format!(
                "Add an MCP server that is a program of the shell:\n\n    '{program}' mcp --url '{url}'\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(agent: Agent, way: Way, channel: bool) -> anyhow::Result<String> {
        let url = "https://game.example/mcp";
        setup(agent, &Setup { url, name: "game", way, channel, program: "/bin/playerthree" })
    }

    // §16: one shared address for every agent, browser sign-in first, a token only where it is asked for.
    #[test]
    fn every_agent_gets_the_address_and_no_token_to_sign_in() {
        for agent in Agent::value_variants() {
            let Ok(text) = of(*agent, Way::SignIn, false) else {
                assert_eq!(*agent, Agent::ClaudeApi, "§16: a token choice alone");
                continue;
            };
            assert!(text.contains("https://game.example/mcp"), "{text}");
            assert!(!text.contains(VARIABLE), "{text}");
            assert!(text.contains("playerthree-commander"), "{text}");
        }
    }

    #[test]
    fn a_token_is_named_by_what_holds_it() {
        for agent in Agent::value_variants() {
            let text = of(*agent, Way::Token, false).unwrap();
            let holder = match agent {
                Agent::ClaudeDesktop => "/path/to/a/file/with/the/token",
                Agent::Vscode => "${input:playerthree-token}",
                _ => VARIABLE,
            };
            assert!(text.contains(holder), "{text}");
        }
    }

    // §20: a seat token's session has to be kept, which the bridge does for any client.
    #[test]
    fn a_seat_token_goes_through_the_bridge() {
        for agent in Agent::value_variants().iter().filter(|agent| **agent != Agent::ClaudeApi) {
            let text = of(*agent, Way::SeatToken, false).unwrap();
            assert!(text.contains("/bin/playerthree"), "{text}");
            assert!(text.contains("mcp"), "{text}");
        }
        assert!(of(Agent::ClaudeApi, Way::SeatToken, false).is_err());
    }

    // §16 `SetupOptions.channel`: Claude Code's stdio setup.
    #[test]
    fn a_channel_is_claude_codes_bridge_with_its_flag() {
        let text = of(Agent::ClaudeCode, Way::Token, true).unwrap();
        for part in ["\"--channel\"", "--dangerously-load-development-channels server:game"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
