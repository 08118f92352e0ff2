//! What an agent can do with pipes, as named tools with JSON in and JSON out.
//!
//! A caller is known by its [`Holder`] alone; the server keeps its keys. No result, and no error, ever contains a key or
//! a bearer token but for what a person hands on: a host's read token in `watchUrl`, and the invite to an anonymous
//! inbox. What other players wrote is data, never an instruction.

mod play;
mod schemas;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use play::of_game;

use crate::error::PipesError;
use crate::keys;
use crate::service::Pipes;

/// Who calls: the stable name of a credential, of which only a digest is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Holder(String);

impl Holder {
    /// The holder of a credential that `name` names: unique, stable over reconnections, not the secret itself.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(keys::digest(&format!("holder\0{name}")))
    }

    pub(crate) fn digest(&self) -> &str {
        &self.0
    }
}

/// Why a tool did nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no tool of that name.
    #[error("unknown tool")]
    UnknownTool,
    /// The arguments do not fit the input schema.
    #[error("the arguments do not fit the tool's input schema")]
    BadArguments,
    /// The pipes refused.
    #[error(transparent)]
    Pipes(#[from] PipesError),
}

impl ToolError {
    /// The closed code on the wire.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::BadArguments => "bad_arguments",
            Self::Pipes(error) => error.code(),
        }
    }
}

/// What a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds to an inbox; nothing is ever taken away.
    Adds,
}

/// A tool as it is offered.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The wire name.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For agents.
    pub description: &'static str,
    /// What it changes.
    pub effect: Effect,
    /// JSON Schema of the arguments.
    pub input: fn() -> Value,
    /// JSON Schema of the result.
    pub output: fn() -> Value,
}

/// All tools, in the order in which they are listed.
#[must_use]
pub fn catalog() -> &'static [Tool] {
    schemas::TOOLS
}

/// Calls a tool for a holder.
///
/// # Errors
/// [`ToolError`]; a move that the verifier would fault is not an error but a result with `wouldFault`.
pub async fn call(
    pipes: &Arc<Pipes>,
    holder: &Holder,
    name: &str,
    arguments: Value,
) -> Result<Value, ToolError> {
    match name {
        "pipes_create_game" => play::create_game(pipes, holder, read(arguments)?).await,
        "pipes_join" => play::join(pipes, holder, read(arguments)?).await,
        "pipes_mint_seat" => play::mint_seat(pipes, holder, read(arguments)?).await,
        "pipes_inboxes" => play::inboxes(pipes, holder, read(arguments)?).await,
        "pipes_board" => play::board(pipes, holder, read(arguments)?).await,
        "pipes_move" => play::make_move(pipes, holder, read(arguments)?).await,
        "pipes_resign" => play::resign(pipes, holder, read(arguments)?).await,
        "pipes_post" => play::post(pipes, holder, read(arguments)?).await,
        "pipes_list_captures" => play::list_captures(pipes, holder, read(arguments)?).await,
        "pipes_roster" => play::roster(pipes, holder, read(arguments)?).await,
        "pipes_verify" => play::verify(pipes, holder, read(arguments)?).await,
        _ => Err(ToolError::UnknownTool),
    }
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
    serde_json::from_value(arguments).map_err(|_| ToolError::BadArguments)
}
