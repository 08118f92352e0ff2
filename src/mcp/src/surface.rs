//! What is offered for a game, and the tools of a toolbox, as they are listed and checked: made once, shared by every
//! call.

use crate::skills::Catalog;
use dashmap::DashMap;
use jsonschema::Validator;
use playerthree_session::{Surface, Tool};
use rmcp::model::{CacheScope, ListToolsResult, MetaObject, ToolAnnotations};
use serde_json::{Map, Value};
use std::sync::Arc;

/// How long a client may keep what never changes, in milliseconds (§4).
pub(crate) const STATIC_TTL_MS: u64 = 3_600_000;

/// The `_meta` member that pins the surface (§4 "Surface pinning").
const HASH_MEMBER: &str = "dev.playerthree/surfaceHash";

/// Every tool of the contract. One that a game lacks is no unknown name: its mode is unavailable (§4).
const TOOLS: [&str; 13] = [
    "game_act",
    "game_briefing",
    "game_observe",
    "game_ready",
    "game_say",
    "game_sequence",
    "game_skill",
    "game_wait",
    "policy_deploy",
    "policy_rollback",
    "policy_status",
    "pool_publish",
    "practice_run",
];

/// Whether the contract has a tool of this name.
pub(crate) fn is_tool(name: &str) -> bool {
    TOOLS.contains(&name)
}

/// One tool of a game, ready to be called.
pub(crate) struct Offered {
    /// The method of `SeatControl`.
    pub(crate) method: &'static str,
    output: Validator,
}

impl Offered {
    /// Whether a structured result is of the declared output schema.
    pub(crate) fn allows(&self, result: &Value) -> bool {
        self.output.is_valid(result)
    }
}

/// The tools of one game or one toolbox.
pub(crate) struct Offer {
    tools: Vec<(&'static str, Offered)>,
    list: ListToolsResult,
    meta: Option<MetaObject>,
    /// The same as JSON.
    meta_json: Option<String>,
}

/// A tool's output schema is no valid JSON Schema, so nothing could be checked against it, or a skill has no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unservable;

impl Offer {
    /// The tools of a game, with its surface hash beside them.
    fn of_game(surface: &Surface) -> Result<Self, Unservable> {
        let meta = MetaObject(Map::from_iter([(HASH_MEMBER.to_owned(), surface.hash.clone().into())]));
        Self::new(&surface.tools, Some(meta))
    }

    /// Tools that are no game's.
    pub(crate) fn of_tools(tools: &[Tool]) -> Result<Self, Unservable> {
        Self::new(tools, None)
    }

    fn new(tools: &[Tool], meta: Option<MetaObject>) -> Result<Self, Unservable> {
        let mut list = ListToolsResult::with_all_items(tools.iter().map(listed).collect());
        list.meta = meta.clone();
        list.ttl_ms = Some(STATIC_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        let tools = tools.iter().map(offered).collect::<Result<_, _>>()?;
        let meta_json = meta.as_ref().map(|meta| Value::Object(meta.0.clone()).to_string());
        Ok(Self { tools, list, meta, meta_json })
    }

    /// The tool of this name, if the game offers it.
    pub(crate) fn tool(&self, name: &str) -> Option<&Offered> {
        self.tools.iter().find(|(known, _)| *known == name).map(|(_, tool)| tool)
    }

    /// The answer to `tools/list`.
    pub(crate) fn list(&self) -> ListToolsResult {
        self.list.clone()
    }

    /// The `_meta` of every result.
    pub(crate) fn meta(&self) -> Option<MetaObject> {
        self.meta.clone()
    }

    /// The same as JSON.
    pub(crate) fn meta_json(&self) -> Option<&str> {
        self.meta_json.as_deref()
    }
}

fn offered(tool: &Tool) -> Result<(&'static str, Offered), Unservable> {
    let output = jsonschema::validator_for(&tool.output_schema).map_err(|_| Unservable)?;
    Ok((tool.name, Offered { method: tool.method, output }))
}

fn listed(tool: &Tool) -> rmcp::model::Tool {
    let object = |schema: &Value| Arc::new(schema.as_object().cloned().unwrap_or_default());
    let mut listed = rmcp::model::Tool::new(tool.name, tool.description, object(&tool.input_schema));
    listed.title = Some(tool.title.to_owned());
    listed.output_schema = Some(object(&tool.output_schema));
    listed.annotations = Some(ToolAnnotations::new().read_only(tool.read_only).open_world(false));
    listed
}

/// What the endpoint offers to the agents of one game.
pub(crate) struct GameOffer {
    /// Its tools.
    pub(crate) tools: Offer,
    /// Its skills.
    pub(crate) skills: Catalog,
}

/// The offers of every game that was called so far, by surface hash. There are as many as the host has games.
#[derive(Default)]
pub(crate) struct Offers(DashMap<String, Arc<GameOffer>>);

impl Offers {
    /// The offer of a game.
    pub(crate) fn of(&self, surface: &Arc<Surface>) -> Result<Arc<GameOffer>, Unservable> {
        if let Some(offer) = self.0.get(&surface.hash) {
            return Ok(Arc::clone(&offer));
        }
        let offer = GameOffer { tools: Offer::of_game(surface)?, skills: Catalog::new(surface)? };
        let offer = Arc::new(offer);
        self.0.insert(surface.hash.clone(), Arc::clone(&offer));
        Ok(offer)
    }
}
