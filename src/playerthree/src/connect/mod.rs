//! `playerthree connect`: how common agents are given a server's MCP endpoint (§16). It prints and changes nothing. A
//! token is named by the variable that holds it and printed only where that was asked for.

mod catalog;

use crate::credential;
use anyhow::{Context as _, ensure};
use catalog::{Agent, Setup, Way};
use std::path::PathBuf;
use url::Url;

/// Prints how an agent's program is given a server's MCP endpoint.
///
/// Without an agent it lists those it knows. Signing in needs no token: the program opens a browser, where you choose a
/// named commander and consent. A token is for programs that cannot; it is looked up in the variable PLAYERTHREE_TOKEN
/// when the agent starts. Nothing is changed, and no secret is printed unless --show-token asks for it. Connecting alone
/// does not start an agent: the last lines are what to tell it.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// The agent's program
    #[arg(value_enum)]
    agent: Option<Agent>,
    /// The endpoint
    #[arg(long, default_value = "http://127.0.0.1:2567/mcp", value_name = "URL", value_parser = endpoint)]
    url: Url,
    /// What the program calls the server: 1 to 32 letters, digits or hyphens
    #[arg(long, default_value = "playerthree", value_name = "NAME", value_parser = name)]
    name: String,
    /// How the agent shows who it is
    #[arg(long, value_enum, default_value_t = Way::SignIn, value_name = "WAY")]
    with: Way,
    /// Has Claude Code woken by channel notifications, through `playerthree mcp --channel` and a token
    #[arg(long)]
    channel: bool,
    /// Also prints the token, as a line for the shell
    #[arg(long)]
    show_token: bool,
    /// The file that holds the token for --show-token; without it the variable PLAYERTHREE_TOKEN is read
    #[arg(long, value_name = "FILE", requires = "show_token")]
    token_file: Option<PathBuf>,
}

fn endpoint(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "not an address")?;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    // It is printed between quotes for a shell, which nothing in it may end.
    let is_quotable = !url.as_str().contains('\'');
    if is_plain && is_anonymous && is_quotable {
        Ok(url)
    } else {
        Err("not an http or https address without credentials and quotes")
    }
}

fn name(text: &str) -> Result<String, &'static str> {
    let fits = (1..=32).contains(&text.len());
    let plain =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') && !text.starts_with('-');
    if fits && plain {
        Ok(text.to_owned())
    } else {
        Err("1 to 32 letters, digits or hyphens, not first a hyphen")
    }
}

/// Prints the setup, or the catalog.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(agent) = args.agent else {
        print(&catalog::list());
        return Ok(());
    };
    ensure!(!args.channel || agent == Agent::ClaudeCode, "--channel is for claude-code alone");
    let program = std::env::current_exe().context("this program has no path")?;
    let setup = Setup {
        url: args.url.as_str(),
        name: &args.name,
        way: if args.channel && args.with == Way::SignIn { Way::Token } else { args.with },
        channel: args.channel,
        program: program.to_str().context("this program's path is no text")?,
    };
    print(&catalog::setup(agent, &setup)?);
    if args.show_token {
        let token = credential::read(args.token_file.clone(), "PLAYERTHREE_TOKEN")?;
        print(&format!(
            "\nThe token, for the shell that starts the agent:\n\n    export PLAYERTHREE_TOKEN='{token}'\n"
        ));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the setup is what was asked for")]
fn print(text: &str) {
    print!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_are_what_a_shell_and_a_file_can_hold() {
        for fine in ["http://127.0.0.1:2567/mcp", "https://game.example/mcp"] {
            assert_eq!(endpoint(fine).unwrap().as_str(), fine);
        }
        for bad in [
            "game.example/mcp",
            "file:///etc/passwd",
            "https://token@game.example/mcp",
            "https://game.example/'$(x)'",
            "",
        ] {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
        assert!(name("my-game").is_ok());
        for bad in ["", "-x", "a b", "a'b", "a\"b", &"x".repeat(33)] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }
}
