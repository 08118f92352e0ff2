//! One match: its seats, its clock and its outcomes. Everything else a match does is in the files beside this one.
//!
//! Synchronous and deterministic inside a tick: time is handed in, policies think elsewhere and their answers are
//! handed in, and whatever must leave is collected in [`Changes`] for the caller to deliver.

use crate::bucket::Bucket;
use crate::chat::Said;
use crate::guard::Refused;
use crate::observer::{self, ObserverHistory, ObserverPolicy};
use crate::observing;
use crate::outcomes::Parties;
use crate::persistent::Persistent;
use crate::pool::PolicyId;
use crate::replay::{Past, Recorder};
use crate::roster::fresh_seat;
use crate::seat::{OwnerId, SeatState};
use crate::signals::{self, Boards};
use crate::start::Start;
use crate::streaming::Pushed;
use crate::thinking::Round;
use crate::views::{ViewMessage, ViewStream};
use crate::waiting::WaitId;
use crate::{CallError, Code, Millis, Surface};
use indexmap::IndexMap;
use playerthree_game::{Clock, Controller, GameMatch, Name, Outcome, Seat, Setup};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Views of a realtime match are pushed at most so many times a second of game time.
pub(crate) const VIEW_HZ: u32 = 10;

/// How a match is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The only source of randomness.
    pub seed: u32,
    /// Match options as somebody sent them; checked here.
    pub options: Option<Value>,
    /// The sides that play; none: all that the manifest declares.
    pub teams: Option<Vec<Name>>,
    /// A partition of those sides whose parts share outcome and rank; none: every side plays for itself.
    pub alliances: Option<BTreeMap<String, Vec<Name>>>,
    /// What plays open seats, and stands in for absent agents: a tier of `manifest.opponents`, or nothing.
    pub bots: Option<Name>,
    /// Who may observe.
    pub observers: ObserverPolicy,
    /// Milliseconds since the Unix epoch at match time zero.
    pub epoch: Millis,
    /// A session without an end (§18), and what is kept of its past; none: a match that ends.
    pub persistent: Option<Persistent>,
}

impl Config {
    /// A match of every declared side that ends, with the game's own options, that nobody observes and no bot plays.
    pub fn of(seed: u32) -> Self {
        Self {
            seed,
            options: None,
            teams: None,
            alliances: None,
            bots: None,
            observers: ObserverPolicy::Closed,
            epoch: 0,
            persistent: None,
        }
    }
}

/// A match could not be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CannotStart {
    /// The options or sides are out of the manifest.
    #[error("{0}")]
    Refused(#[from] CallError),
    /// The game's first output broke its own schemas.
    #[error("{0}")]
    Output(#[from] Refused),
}

/// What has to leave the match, collected until [`Match::take_changes`].
#[derive(Debug, Default)]
pub struct Changes {
    /// A seat changed: everybody's seat list is out of date.
    pub seats: bool,
    /// An outcome became final: everybody's status is out of date.
    pub status: bool,
    /// New versions of watched views.
    pub views: Vec<(Name, ViewMessage)>,
    /// Replies of agents to their owners, for nobody else.
    pub said: Vec<Said>,
    /// Observations of streams.
    pub observations: Vec<Pushed>,
    /// Waits that ended.
    pub waits: Vec<(WaitId, Result<Value, CallError>)>,
    /// Seats whose policy is gone: their running instances must end.
    pub policies_ended: Vec<Seat>,
    /// How the side of a drafted policy ended, for its record in the pool (§13), once observers may know it (§20.9).
    pub fared: Vec<(PolicyId, Outcome)>,
}

/// One running match.
pub struct Match {
    pub(crate) surface: Arc<Surface>,
    pub(crate) game: Box<dyn GameMatch>,
    pub(crate) options: Option<Value>,
    pub(crate) parties: Parties,
    /// Sides that conceded.
    pub(crate) forfeited: BTreeSet<Name>,
    /// In manifest order: sides, then roles within a side.
    pub(crate) seats: IndexMap<Seat, SeatState>,
    pub(crate) outcomes: BTreeMap<Name, Outcome>,
    pub(crate) ranks: Option<BTreeMap<Name, u32>>,
    /// What the seats of each side ask of each other (§22).
    pub(crate) boards: Boards,
    /// How much each owner may still tell (§12); only of owners who hold a seat.
    pub(crate) tell_buckets: BTreeMap<OwnerId, Bucket>,
    pub(crate) views: BTreeMap<Name, ViewStream>,
    pub(crate) recorder: Recorder,
    /// What a persistent session keeps of its past; nothing in a match that ends.
    pub(crate) past: Option<Past>,
    pub(crate) observers: ObserverHistory,
    pub(crate) observer_policy: ObserverPolicy,
    /// How drafted policies fared, until observers may know it.
    pub(crate) faring: Vec<(PolicyId, Outcome)>,
    pub(crate) start: Start,
    /// The game's guarded pre-match summary (§4 `match`).
    pub(crate) lobby: Option<Value>,
    pub(crate) round: Round,
    pub(crate) last_wait: u64,
    /// Since when the session stands still (§18).
    pub(crate) paused_since: Option<Millis>,
    /// A side of a game of turns conceded while the session stood still: its tick comes with the end of the pause.
    pub(crate) concession_due: bool,
    /// One owner held played seats of two sides (§4 "Same-owner opposition"); it stays so.
    pub(crate) opposed: bool,
    /// A seat changed since the last views.
    pub(crate) views_stale: bool,
    /// New versions of the watched views are due with the next delivery.
    pub(crate) views_due: bool,
    pub(crate) changes: Changes,
}

impl Match {
    /// Creates a match. Every seat is open; whatever the game shows first has passed the guard. A persistent session needs a
    /// game that can be copied, and fails `invalid` for another.
    pub fn new(surface: Arc<Surface>, config: Config, now: Millis) -> Result<Self, CannotStart> {
        let manifest = &surface.manifest;
        let parties = Parties::new(&manifest.teams, config.teams.as_deref(), config.alliances.as_ref())?;
        let teams = &parties.teams;
        let options = match (config.options, &manifest.match_options) {
            (None, _) => None,
            (Some(options), Some(schema)) => Some(schema.admit(options).map_err(CallError::from)?),
            (Some(_), None) => return Err(CallError::from(Code::Invalid).into()),
        };
        if config.bots.as_ref().is_some_and(|level| !manifest.opponents.contains(level)) {
            return Err(CallError::from(Code::Invalid).into());
        }
        let setup = Setup {
            seed: config.seed,
            options: options.clone(),
            teams: teams.clone(),
            alliances: parties.alliances.clone(),
        };
        let game = surface.game.create(&setup).map_err(|_| CallError::from(Code::Invalid))?;
        if config.persistent.is_some() && game.clone_match().is_none() {
            return Err(CallError::from(Code::Invalid).into());
        }
        let boards = signals::boards(&surface.manifest, &*game, teams)?;
        let seats = open_seats(&surface, teams, config.bots.as_ref());
        let mut fresh = Self {
            game,
            options,
            seats,
            outcomes: teams.iter().map(|team| (team.clone(), Outcome::Running)).collect(),
            ranks: None,
            boards,
            tell_buckets: BTreeMap::new(),
            views: teams.iter().map(|team| (team.clone(), ViewStream::default())).collect(),
            recorder: Recorder::new(config.seed),
            past: config.persistent.map(Past::new),
            observers: observing::history(&surface, &parties, config.observers, config.epoch),
            observer_policy: config.observers,
            faring: Vec::new(),
            parties,
            forfeited: BTreeSet::new(),
            surface,
            start: Start::default(),
            lobby: None,
            round: Round::default(),
            last_wait: 0,
            paused_since: None,
            concession_due: false,
            opposed: false,
            views_stale: false,
            views_due: false,
            changes: Changes::default(),
        };
        fresh.check_first_outputs()?;
        fresh.lobby = fresh.outputs().lobby()?;
        fresh.tell_game_all_seats();
        fresh.observers.touch();
        fresh.record_observation(now)?;
        fresh.observers.release(now);
        Ok(fresh)
    }

    /// The only source of the match's randomness.
    pub fn seed(&self) -> u32 {
        self.recorder.seed()
    }

    /// Everything that a game shows before its first tick must conform, or the match does not exist.
    pub(crate) fn check_first_outputs(&self) -> Result<(), Refused> {
        for seat in self.seats.keys() {
            self.outputs().observation(seat, -1, &[])?;
            self.outputs().match_data(seat)?;
        }
        for team in self.teams() {
            self.outputs().snapshot(team)?;
        }
        Ok(())
    }

    /// Ticks stepped so far.
    pub fn tick(&self) -> u64 {
        self.game.tick()
    }

    /// The game that is played.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// What the caller must deliver since it last asked.
    pub fn take_changes(&mut self) -> Changes {
        // Here and not with each tick: several ticks at once lead to one version, so that nobody receives more of them
        // than in realtime (§4). A realtime match shows a changed seat with its next due view; a game of turns may have
        // no next one for long.
        if self.views_due || (self.views_stale && self.surface.game.clock() == Clock::Turns) {
            self.push_views();
        }
        self.take_changes_amid_ticks()
    }

    /// [`Self::take_changes`] while a step of several ticks is under way: its views come with its last tick (§4).
    pub fn take_changes_amid_ticks(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// `{tick, phase, outcomes, ranks?, sameOwnerOpposed?, paused?}`.
    pub fn status(&self) -> Value {
        let mut status = json!({
            "tick": self.tick(),
            "phase": if self.is_held() { "lobby" } else { "match" },
            "outcomes": observer::outcomes_json(&self.outcomes),
        });
        if self.opposed {
            status["sameOwnerOpposed"] = json!(true);
        }
        if let Some(paused) = self.paused() {
            status["paused"] = paused;
        }
        if let Some(ranks) = &self.ranks {
            status["ranks"] = ranks.iter().map(|(team, rank)| (team.to_string(), json!(rank))).collect();
        }
        status
    }

    // --- the clock -------------------------------------------------------------------------------------------------

    /// Wall time passed: waits and pauses run out, agents become absent, frames become due.
    pub fn heartbeat(&mut self, now: Millis) {
        self.settle_start(now);
        // In a game of turns no due tick would notice that somebody is absent who has to move.
        if self.is_paused() || self.surface.game.clock() == Clock::Turns {
            self.settle_pause(now);
        }
        self.notice_acting(now);
        self.settle_waits(now);
        self.push_observations(now);
        self.release_frames(now);
    }

    /// Steps the game once and settles everything that a new tick settles.
    pub(crate) fn step(&mut self, now: Millis) {
        self.game.step();
        self.turn_boards_over();
        self.keep_checkpoint();
        self.round.stepped();
        self.settle(now);
    }

    /// Shows and records what the game is now.
    pub(crate) fn settle(&mut self, now: Millis) {
        self.settle_outcomes();
        self.show_change(now);
    }

    /// Whoever sees the match is due to see what happened in it.
    pub(crate) fn show_change(&mut self, now: Millis) {
        let every = u64::from(self.surface.manifest.tick_rate.div_ceil(VIEW_HZ));
        self.views_due |=
            self.surface.game.clock() == Clock::Turns || self.tick().is_multiple_of(every) || self.is_over();
        self.observers.touch();
        self.heartbeat(now);
    }
}

/// Every seat of the sides, held by bots of the given tier or by nobody.
fn open_seats(surface: &Surface, teams: &[Name], bots: Option<&Name>) -> IndexMap<Seat, SeatState> {
    let manifest = &surface.manifest;
    let level = bots.or(manifest.opponents.first()).cloned().unwrap_or_else(|| "".into());
    let seats = teams.iter().flat_map(|team| manifest.roles.iter().map(|role| Seat::new(team, role)));
    let state = |seat: Seat| {
        let mut state = fresh_seat(surface, seat, level.clone());
        if bots.is_some() {
            state.controller = Controller::Bot;
        }
        state
    };
    seats.map(|seat| (seat.clone(), state(seat))).collect()
}
