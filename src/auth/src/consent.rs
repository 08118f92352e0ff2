//! What an owner is asked, and what they answered: which named commander, for which of its roles (§5). An agent has no
//! part in it, and it changes no scope.

use crate::ledger::Approval;
use crate::params::Params;
use playerthree_game::Name;
use playerthree_host::Commanders;
use playerthree_session::{CommanderId, Draft, OwnerId, Settings, Surface};
use serde_json::{Value, json};
use std::sync::Arc;

/// What stands before the game's id in the choice of a commander that does not exist yet.
const NEW: &str = "new:";

/// A commander that the owner may choose.
pub(crate) struct Choice {
    /// What the form sends.
    pub(crate) value: String,
    pub(crate) surface: Arc<Surface>,
    /// The name of an existing commander. A new one has none yet.
    pub(crate) name: Option<String>,
    pub(crate) roles: Vec<Name>,
    pub(crate) scopes: Vec<String>,
    pub(crate) autonomy: String,
    pub(crate) isolation: String,
}

impl Choice {
    /// Every choice of an owner: their commanders of every game, and a new one for each game.
    pub(crate) fn all(commanders: &Commanders, surfaces: &[Arc<Surface>], owner: &OwnerId) -> Vec<Self> {
        let existing = surfaces.iter().flat_map(|surface| {
            commanders.list(surface, owner).into_iter().map(|status| Self::existing(surface, &status))
        });
        existing.chain(surfaces.iter().map(Self::fresh)).collect()
    }

    fn existing(surface: &Arc<Surface>, status: &Value) -> Self {
        let name = Some(text(&status["name"]));
        let roles = texts(&status["roles"]).into_iter().map(Name::from).collect();
        let isolation = text(&status["isolation"]);
        Self::new(surface, text(&status["id"]), name, roles, &status["settings"], isolation)
    }

    fn fresh(surface: &Arc<Surface>) -> Self {
        let value = format!("{NEW}{}", surface.manifest.id);
        let (roles, settings) = (surface.manifest.roles.clone(), Settings::usual(surface).to_json());
        Self::new(surface, value, None, roles, &settings, "independent".into())
    }

    fn new(
        surface: &Arc<Surface>,
        value: String,
        name: Option<String>,
        roles: Vec<Name>,
        settings: &Value,
        isolation: String,
    ) -> Self {
        let (scopes, autonomy) = (texts(&settings["scopes"]), text(&settings["mandate"]["autonomy"]));
        Self { value, surface: Arc::clone(surface), name, roles, scopes, autonomy, isolation }
    }

    /// The form's name of a role's box.
    pub(crate) fn box_of(&self, role: &str) -> String {
        format!("role.{}.{role}", self.value)
    }

    /// The form's name of a new commander's name.
    pub(crate) fn name_field(&self) -> String {
        format!("name.{}", self.value)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// What the owner allowed.
pub(crate) struct Allowed {
    pub(crate) surface: Arc<Surface>,
    pub(crate) commander: CommanderId,
    pub(crate) roles: Vec<Name>,
}

/// Why an answer allows nothing: the person is told and asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unclear {
    /// No commander was chosen, or one that is gone.
    Commander,
    /// No role was chosen.
    Roles,
    /// A new commander's name is none.
    Name,
    /// The owner has as many commanders as they may.
    TooMany,
}

impl Allowed {
    /// Reads the form, and adds the commander where it is a new one. `before` is what an earlier answer to the same page
    /// allowed: a new commander that it added is not added again.
    pub(crate) fn read(
        commanders: &Commanders,
        choices: &[Choice],
        owner: &OwnerId,
        form: &Params,
        before: Option<&Approval>,
    ) -> Result<Self, Unclear> {
        let chosen = form.get("commander").ok_or(Unclear::Commander)?;
        let choice = choices.iter().find(|choice| choice.value == chosen).ok_or(Unclear::Commander)?;
        let ticked = |role: &&Name| form.get(&choice.box_of(role)).is_some();
        let roles: Vec<Name> = choice.roles.iter().filter(ticked).cloned().collect();
        if roles.is_empty() {
            return Err(Unclear::Roles);
        }
        let surface = Arc::clone(&choice.surface);
        let commander = if choice.name.is_some() {
            CommanderId(choice.value.as_str().into())
        } else {
            let name = form.get(&choice.name_field()).unwrap_or_default();
            let is_named = |id: &CommanderId| {
                choices.iter().any(|known| known.value == *id.0 && known.name.as_deref() == Some(name))
            };
            let is_it = |before: &&Approval| {
                before.surface.hash == surface.hash && before.roles == roles && is_named(&before.commander)
            };
            match before.filter(is_it) {
                Some(before) => before.commander.clone(),
                None => add(commanders, &surface, owner, name, &roles)?,
            }
        };
        Ok(Self { surface, commander, roles })
    }
}

/// Adds a commander. Nobody is given its token: its owner mints one when they want it.
fn add(
    commanders: &Commanders,
    surface: &Arc<Surface>,
    owner: &OwnerId,
    name: &str,
    roles: &[Name],
) -> Result<CommanderId, Unclear> {
    let draft = json!({ "name": name, "roles": roles });
    let draft = Draft::parse(surface, &draft).map_err(|_| Unclear::Name)?;
    commanders.add(surface, owner, draft).map(|(id, _)| id).map_err(|_| Unclear::TooMany)
}
