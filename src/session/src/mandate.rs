//! What an owner allows and asks of a seat: scopes (§6) and the mandate (§7).

use crate::{CallError, Code};
use playerthree_game::Manifest;
use playerthree_schema::{Schema, t, utf16_len};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// UTF-16 units of JSON that a mandate may take. Every core briefing carries it whole, and has to fit into one result (§4
/// `RESULT_TEXT_MAX`).
pub const MANDATE_UNITS_MAX: usize = 6_000;

/// What a credential may do for its seat (§6). The vocabulary is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Act directly.
    Act,
    /// Deploy and roll back policies.
    Policy,
    /// Run practice matches.
    Practice,
    /// Publish to the pool.
    Publish,
    /// Answer the owner.
    Say,
}

impl Scope {
    /// All scopes, in the order of the contract.
    pub const ALL: [Self; 5] = [Self::Act, Self::Policy, Self::Practice, Self::Publish, Self::Say];

    /// The scope on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Policy => "policy",
            Self::Practice => "practice",
            Self::Publish => "publish",
            Self::Say => "say",
        }
    }

    /// Whether the game has a mode that this scope is for.
    pub fn supported(self, manifest: &Manifest) -> bool {
        let control = &manifest.control;
        match self {
            Self::Act => true,
            Self::Policy => control.policy.is_some(),
            Self::Practice => control.practice.is_some(),
            Self::Publish => control.pool.is_some(),
            Self::Say => control.chat.is_some(),
        }
    }
}

/// Every scope that the game has a mode for: what a fresh seat grants (§6).
pub(crate) fn default_scopes(manifest: &Manifest) -> BTreeSet<Scope> {
    Scope::ALL.into_iter().filter(|scope| scope.supported(manifest)).collect()
}

/// Reads an owner's new scopes: a list of distinct scopes that the game supports.
pub(crate) fn parse_scopes(manifest: &Manifest, value: &Value) -> Result<BTreeSet<Scope>, CallError> {
    let names = value.as_array().filter(|names| names.len() <= Scope::ALL.len()).ok_or(Code::Invalid)?;
    let mut scopes = BTreeSet::new();
    for name in names {
        let scope = Scope::ALL.into_iter().find(|scope| name == scope.as_str()).ok_or(Code::Invalid)?;
        if !scope.supported(manifest) || !scopes.insert(scope) {
            return Err(Code::Invalid.into());
        }
    }
    Ok(scopes)
}

/// Whether artifacts wait for the owner's approval (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autonomy {
    /// The agent acts within scopes, rules and limits without asking.
    Autonomous,
    /// Deploy, rollback and publish become approval requests.
    Supervised,
}

/// What acts for an agent seat whose agent is absent (§8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenAbsent {
    /// The deployed policy, else the fallback bot.
    Policy,
    /// The fallback bot.
    Bot,
    /// Nothing.
    Hold,
    /// Nothing, and the whole session stands still (§18). Only in games that declare `pausable`.
    Pause,
}

impl WhenAbsent {
    fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Bot => "bot",
            Self::Hold => "hold",
            Self::Pause => "pause",
        }
    }
}

/// An owner's instructions to a seat (§7), always conforming to the game's manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Mandate {
    json: Value,
    autonomy: Autonomy,
    when_absent: WhenAbsent,
}

impl Mandate {
    /// The mandate of a fresh seat: autonomous, with an empty directive.
    pub fn default_for(manifest: &Manifest, when_absent: WhenAbsent) -> Self {
        // `Surface::new` admits only directives that have a default.
        let directive = manifest.directive.default_value();
        let json =
            json!({ "autonomy": "autonomous", "directive": directive, "whenAbsent": when_absent.as_str() });
        Self { json, autonomy: Autonomy::Autonomous, when_absent }
    }

    /// Reads a mandate that an owner sent. Fails `invalid`: with the path of the first fault, or for one that takes more
    /// than [`MANDATE_UNITS_MAX`].
    pub fn parse(manifest: &Manifest, value: &Value) -> Result<Self, CallError> {
        let value = mandate_schema(manifest).admit(value.clone())?;
        if utf16_len(&value.to_string()) > MANDATE_UNITS_MAX {
            return Err(Code::Invalid.into());
        }
        let autonomy = match value["autonomy"].as_str() {
            Some("supervised") => Autonomy::Supervised,
            _ => Autonomy::Autonomous,
        };
        let when_absent = match value["whenAbsent"].as_str() {
            Some("policy") => WhenAbsent::Policy,
            Some("bot") => WhenAbsent::Bot,
            Some("pause") => WhenAbsent::Pause,
            _ => WhenAbsent::Hold,
        };
        Ok(Self { json: value, autonomy, when_absent })
    }

    /// The mandate on the wire.
    pub fn to_json(&self) -> &Value {
        &self.json
    }

    /// Whether artifacts wait for approval.
    pub fn autonomy(&self) -> Autonomy {
        self.autonomy
    }

    pub(crate) fn is_supervised(&self) -> bool {
        self.autonomy == Autonomy::Supervised
    }

    /// What acts while the agent is absent.
    pub fn when_absent(&self) -> WhenAbsent {
        self.when_absent
    }
}

/// The closed schema of a mandate of this game. `pause` is among the values of `whenAbsent` where the game is pausable (§18).
pub(crate) fn mandate_schema(manifest: &Manifest) -> Schema {
    let usual = [WhenAbsent::Policy, WhenAbsent::Bot, WhenAbsent::Hold];
    let pause = manifest.control.pausable.as_ref().map(|_| WhenAbsent::Pause);
    let when_absent = usual.into_iter().chain(pause).map(WhenAbsent::as_str);
    let mut fields = vec![
        ("autonomy", t::literals(["autonomous", "supervised"])),
        ("directive", manifest.directive.clone()),
        ("whenAbsent", t::literals(when_absent)),
    ];
    if let Some(limits) = &manifest.limits {
        fields.push(("limits", t::opt(limits.clone())));
    }
    t::obj(fields)
}
