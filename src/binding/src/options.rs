//! What a client says when it creates or joins a match: one closed schema, read once.

use playerthree_game::{Checked, Name, Seat};
use playerthree_schema::{Invalid, PathPart, Schema, SchemaCode, t};
use playerthree_session::{CallError, Match, Millis, ObserverPolicy, READY_SECONDS_MAX};
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest observer delay that a room can ask for: half an hour. A history of more of a real-time match outgrows its bound.
const OBSERVER_DELAY_MAX: i64 = 1_800_000;

/// How a client takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Plays: the first open seat that fits the wish.
    Player {
        /// Only a seat of this side.
        team: Option<Name>,
        /// Only a seat of this role.
        role: Option<Name>,
    },
    /// Watches one side's fogged view.
    Spectator {
        /// The side, the first of the match where none is named.
        team: Option<Name>,
    },
    /// Watches late, as the match's policy says.
    Observer(Sighting),
    /// Takes part as a token says (§20), in place of an account.
    Bearer {
        /// What a player of the match handed out.
        token: String,
    },
}

/// What an observer asks to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sighting {
    /// Everything.
    Everything,
    /// One side's view.
    Side(Name),
    /// What a player of a private match handed out.
    Ticket(String),
}

impl Part {
    pub(crate) fn is_player(&self) -> bool {
        matches!(self, Self::Player { .. })
    }

    /// Whether an open seat fits a player's wish.
    pub(crate) fn fits(&self, seat: &Seat) -> bool {
        match self {
            Self::Player { team, role } => {
                team.as_ref().is_none_or(|team| *team == seat.team)
                    && role.as_ref().is_none_or(|role| *role == seat.role)
            }
            Self::Spectator { .. } | Self::Observer(_) | Self::Bearer { .. } => false,
        }
    }
}

/// What the creator of a match chose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Creation {
    pub(crate) options: Option<Value>,
    pub(crate) seed: Option<u32>,
    pub(crate) teams: Option<Vec<Name>>,
    pub(crate) alliances: Option<BTreeMap<String, Vec<Name>>>,
    pub(crate) bots: Bots,
    pub(crate) private: bool,
    pub(crate) observers: ObserverPolicy,
    pub(crate) start: Start,
}

/// What holds the match before its first tick. A room that asks for nothing starts at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// Seconds of a ready check.
    pub(crate) ready_seconds: Option<u64>,
    /// Whether the room's host starts it.
    pub(crate) by_host: bool,
}

impl Start {
    /// Holds a fresh match.
    pub(crate) fn hold(self, game: &mut Match) -> Result<(), CallError> {
        if let Some(seconds) = self.ready_seconds {
            game.check_ready(seconds, 0)?;
        }
        if self.by_host {
            game.hold_start()?;
        }
        Ok(())
    }
}

/// Who plays seats that nobody took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bots {
    /// What the game is usually played with.
    Usual,
    /// Nobody.
    Nobody,
    /// Bots of this tier.
    Tier(Name),
}

/// The closed schema of all options of one game's rooms.
pub(crate) fn schema(manifest: &Checked) -> Schema {
    let teams = || t::literals(manifest.teams.iter().map(|team| &**team));
    let roles = t::literals(manifest.roles.iter().map(|role| &**role));
    let tiers = manifest.opponents.iter().map(|tier| &**tier).chain(["nobody"]);
    let mut fields = vec![
        ("as", t::opt(t::literals(["player", "spectator", "observer"]))),
        ("team", t::opt(teams())),
        ("role", t::opt(roles)),
        ("ticket", t::opt(t::str(32))),
        ("token", t::opt(t::str(32))),
        ("seed", t::opt(t::int(0, i64::from(u32::MAX)))),
        ("teams", t::opt(t::list(teams(), manifest.teams.len() as u64))),
        (
            "alliances",
            t::opt(t::list(t::list(teams(), manifest.teams.len() as u64), manifest.teams.len() as u64)),
        ),
        ("bots", t::opt(t::literals(tiers))),
        ("private", t::opt(t::bool())),
        ("readySeconds", t::opt(t::int(1, READY_SECONDS_MAX.cast_signed()))),
        ("hold", t::opt(t::bool())),
        ("observerDelayMs", t::opt(t::int(0, OBSERVER_DELAY_MAX))),
    ];
    if let Some(options) = &manifest.match_options {
        fields.push(("match", t::opt(options.clone())));
    }
    t::obj(fields)
}

/// Reads how a client takes part.
pub(crate) fn part(schema: &Schema, options: &Value) -> Result<Part, Invalid> {
    let options = schema.admit(options.clone())?;
    let name = |member: &str| options.get(member).and_then(Value::as_str).map(Name::from);
    // A token or a ticket alone says what it is good for.
    let alone = |beside: &[&'static str]| match beside.iter().find(|member| options.get(member).is_some()) {
        Some(member) => Err(Invalid::at(SchemaCode::UnknownField, [PathPart::Field((*member).into())])),
        None => Ok(()),
    };
    if let Some(token) = options.get("token").and_then(Value::as_str) {
        alone(&["as", "team", "role", "ticket"])?;
        return Ok(Part::Bearer { token: token.to_owned() });
    }
    Ok(match options.get("as").and_then(Value::as_str) {
        Some("spectator") => Part::Spectator { team: name("team") },
        Some("observer") => Part::Observer(match (name("ticket"), name("team")) {
            (Some(ticket), _) => {
                alone(&["team", "role"])?;
                Sighting::Ticket(ticket.to_string())
            }
            (None, Some(team)) => Sighting::Side(team),
            (None, None) => Sighting::Everything,
        }),
        _ => Part::Player { team: name("team"), role: name("role") },
    })
}

/// Reads what the creator of a match chose. A public match never shows observers anything sooner than §20.9 allows.
pub(crate) fn creation(schema: &Schema, options: &Value) -> Result<Creation, Invalid> {
    let options = schema.admit(options.clone())?;
    let private = options.get("private").and_then(Value::as_bool).unwrap_or(false);
    let delay: Option<Millis> = options.get("observerDelayMs").and_then(Value::as_u64);
    let observers = match (private, delay) {
        (true, Some(delay)) => ObserverPolicy::Private(delay),
        (true, None) => ObserverPolicy::Closed,
        (false, delay) => ObserverPolicy::public(delay.unwrap_or(0)),
    };
    let bots = match options.get("bots").and_then(Value::as_str) {
        None => Bots::Usual,
        Some("nobody") => Bots::Nobody,
        Some(tier) => Bots::Tier(tier.into()),
    };
    let names = |list: &Value| -> Vec<Name> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(Name::from).collect()
    };
    // Agents of other people read the names of alliances, so the creator does not choose them (§15 own text).
    let alliances = options.get("alliances").and_then(Value::as_array).map(|alliances| {
        (1_u32..).zip(alliances).map(|(number, sides)| (format!("alliance-{number}"), names(sides))).collect()
    });
    Ok(Creation {
        alliances,
        options: options.get("match").cloned(),
        seed: options.get("seed").and_then(Value::as_u64).and_then(|seed| u32::try_from(seed).ok()),
        teams: options.get("teams").map(names),
        bots,
        private,
        observers,
        start: Start {
            ready_seconds: options.get("readySeconds").and_then(Value::as_u64),
            by_host: options.get("hold").and_then(Value::as_bool).unwrap_or(false),
        },
    })
}
