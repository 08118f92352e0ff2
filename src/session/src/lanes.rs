//! An owner's roster of named commanders and where each of their lanes is (§4 "Lobby phase", §20.3): between matches,
//! reserved for a seat of the next one, or seated. One lane for each role of a commander.
//!
//! No wall clock and no randomness: ids and moments are handed in. `D` is whatever leads to a match; the rules only keep
//! it. Somebody else's commander is refused like one that does not exist.

mod chat;

pub use chat::{TellCommanders, ToldLane};

use crate::bucket::Bucket;
use crate::cards::Metadata;
use crate::chat::{Inbox, say_bucket};
use crate::commander::{CommanderId, CommanderKind, Isolation, Settings};
use crate::lane_policies::LanePolicies;
use crate::library::{Library, Shelf};
use crate::seat::OwnerId;
use crate::start::{StartsWhen, lobby_state};
use crate::status::SeatStatus;
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::{Name, Seat};
use playerthree_schema::t;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Most commanders of one owner.
pub const COMMANDERS_PER_OWNER: usize = 16;

/// Most commanders of one game in one process.
pub const COMMANDERS_MAX: usize = 10_000;

/// Most matches whose ends a lane keeps for its agent. Further ones end untold: an agent that stays away for so long hears
/// first of the match that it last saw (§4).
const ENDS_KEPT: usize = 4;

/// Longest name of a commander, in Unicode code points.
pub const COMMANDER_NAME_MAX: u32 = 24;

/// What an owner says of a new commander.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// What the owner calls it. Its agent and other people never see it.
    pub name: String,
    /// The roles it can take, in manifest order.
    pub roles: Vec<Name>,
    /// Whether it keeps its state apart.
    pub isolation: Isolation,
    /// Whether a live agent takes seats with it, or the policies that it wrote do.
    pub kind: CommanderKind,
    /// What the owner says of the model behind it.
    pub metadata: Metadata,
}

impl Draft {
    /// Reads `{name, roles, isolation?, kind?, metadata?: {provider?, model?, shared?}}`. Fails `invalid` with the path of
    /// the first fault.
    pub fn parse(surface: &Surface, value: &Value) -> Result<Self, CallError> {
        let roles = &surface.manifest.roles;
        let schema = t::obj([
            ("name", t::str(COMMANDER_NAME_MAX)),
            ("roles", t::list(t::literals(roles.iter().map(|role| &**role)), roles.len() as u64)),
            ("isolation", t::opt(t::literals(["independent", "shared"]))),
            ("kind", t::opt(t::literals(["agent", "policy"]))),
            ("metadata", t::opt(Metadata::schema())),
        ]);
        schema.validate(value)?;
        let name = value["name"].as_str().unwrap_or_default().trim().to_owned();
        let wanted: Vec<&str> =
            value["roles"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let roles: Vec<Name> = roles.iter().filter(|role| wanted.contains(&&***role)).cloned().collect();
        let readable = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '\'');
        if name.is_empty() || !name.chars().all(readable) || roles.is_empty() || roles.len() != wanted.len() {
            return Err(Code::Invalid.into());
        }
        let shared = value.get("isolation").is_some_and(|isolation| isolation == "shared");
        let isolation = if shared { Isolation::Shared } else { Isolation::Independent };
        let policy = value.get("kind").is_some_and(|kind| kind == "policy");
        let kind = if policy { CommanderKind::Policy } else { CommanderKind::Agent };
        let metadata = value.get("metadata").map(Metadata::read).transpose()?.unwrap_or_default();
        Ok(Self { name, roles, isolation, kind, metadata })
    }
}

/// A seat that a game's lobby keeps for a commander's lane. It seats nobody by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// The side of the seat; its role is the lane's.
    pub team: Name,
    /// The game's guarded pre-match summary.
    pub summary: Option<Value>,
    /// When the match starts, as the agent is told.
    pub start: StartsWhen,
}

/// Where a lane is.
#[derive(Clone, Debug, PartialEq)]
pub enum Place<D> {
    /// Nothing seats it.
    Lobby,
    /// It is seated in this match.
    Seated(D),
}

impl<D> Place<D> {
    /// What leads to the match that the lane plays.
    pub fn hold(self) -> Option<D> {
        match self {
            Self::Seated(hold) => Some(hold),
            Self::Lobby => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Live<D> {
    match_id: Arc<str>,
    team: Name,
    door: D,
}

#[derive(Debug)]
struct Reserved {
    reservation: Reservation,
    ready: bool,
}

#[derive(Debug)]
pub(crate) struct Lane<D> {
    reserved: Option<Reserved>,
    /// The match that the lane plays.
    live: Option<Live<D>>,
    /// The matches that are over for the lane, first to last, while its agent has not been told how they ended: at most
    /// [`ENDS_KEPT`].
    ended: VecDeque<Live<D>>,
    /// How often the lane's seat changed between matches, and how often it had when its agent was last told.
    changes: u64,
    told: u64,
    /// What the owner told between matches and the agent has not read.
    inbox: Inbox,
    /// How much the agent may still say between matches.
    say_bucket: Bucket,
    /// What its policies go through between matches.
    pub(crate) policies: LanePolicies,
}

impl<D> Lane<D> {
    fn new(library: &Library) -> Self {
        Self {
            reserved: None,
            live: None,
            ended: VecDeque::new(),
            changes: 0,
            told: 0,
            inbox: Inbox::default(),
            say_bucket: say_bucket(),
            policies: LanePolicies::of(library),
        }
    }

    /// The match that the lane was reserved for ran: there is nothing to tell of the reservation any more.
    fn use_reservation_up(&mut self) {
        self.reserved = None;
        self.told = self.changes;
    }
}

#[derive(Debug)]
pub(crate) struct Commander<D> {
    pub(crate) owner: OwnerId,
    pub(crate) draft: Draft,
    pub(crate) settings: Settings,
    pub(crate) library: Library,
    pub(crate) lanes: BTreeMap<Name, Lane<D>>,
    /// What its newest practice that succeeded came to, for its owner.
    last_practice: Option<Value>,
}

impl<D> Commander<D> {
    /// Whether the commander is seated or reserved on another side than this one: it is on one at a time (§4). The
    /// reservation of the lane `but` is left out, because it is about to be replaced.
    fn is_on_another_side(&self, team: &str, but: Option<&str>) -> bool {
        let elsewhere = |side: &Name| **side != *team;
        self.lanes.iter().any(|(role, lane)| {
            let reserved = lane.reserved.as_ref().filter(|_| but != Some(&**role));
            reserved.is_some_and(|reserved| elsewhere(&reserved.reservation.team))
                || lane.live.as_ref().is_some_and(|live| elsewhere(&live.team))
        })
    }

    fn plays_elsewhere(&self, match_id: &str) -> bool {
        self.lanes.values().filter_map(|lane| lane.live.as_ref()).any(|live| *live.match_id != *match_id)
    }
}

/// What a match needs to seat a commander.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Whether it may oppose its owner's other commanders.
    pub isolation: Isolation,
    /// What its owner settled.
    pub settings: Settings,
    /// Its policies.
    pub library: Library,
    /// What its owner says of the model behind it.
    pub metadata: Metadata,
    /// The ready mark of its reservation of this very seat.
    pub ready: bool,
}

/// Every commander of one game.
pub struct Commanders<D> {
    pub(crate) surface: Arc<Surface>,
    pub(crate) by_id: HashMap<CommanderId, Commander<D>>,
    /// What all their libraries together may keep.
    shelf: Shelf,
    /// How much each owner may still tell (§12); only of owners who have a commander.
    tell_buckets: HashMap<OwnerId, Bucket>,
}

impl<D: Clone> Commanders<D> {
    /// Nobody yet.
    pub fn new(surface: Arc<Surface>) -> Self {
        Self { surface, by_id: HashMap::new(), shelf: Shelf::default(), tell_buckets: HashMap::new() }
    }

    /// Adds a commander with the game's usual settings. Fails `busy` past [`COMMANDERS_PER_OWNER`] or
    /// [`COMMANDERS_MAX`].
    pub fn add(&mut self, owner: OwnerId, id: CommanderId, draft: Draft) -> Result<(), CallError> {
        let owned = self.by_id.values().filter(|commander| commander.owner == owner).count();
        if owned >= COMMANDERS_PER_OWNER || self.by_id.len() >= COMMANDERS_MAX {
            return Err(Code::Busy.into());
        }
        let library = Library::on(&self.shelf);
        let lanes = draft.roles.iter().map(|role| (role.clone(), Lane::new(&library))).collect();
        let settings = Settings::usual(&self.surface);
        let commander = Commander { owner, draft, settings, library, lanes, last_practice: None };
        self.by_id.insert(id, commander);
        Ok(())
    }

    /// Takes a commander off its owner's roster. Fails `forbidden` unless it is theirs, `busy` while it plays.
    pub fn remove(&mut self, owner: &OwnerId, id: &CommanderId) -> Result<(), CallError> {
        if self.owned(owner, id)?.lanes.values().any(|lane| lane.live.is_some()) {
            return Err(Code::Busy.into());
        }
        self.by_id.remove(id);
        self.forget_bucket_of(owner);
        Ok(())
    }

    /// Changes a commander's settings (§7 `CommanderSettingsPatch`). `follow` has the match that it plays, if it plays
    /// one, take them over; where that fails they stay as they were.
    pub fn patch(
        &mut self,
        owner: &OwnerId,
        id: &CommanderId,
        patch: &Value,
        follow: impl FnOnce(&D, &Settings) -> Result<(), CallError>,
    ) -> Result<Settings, CallError> {
        let commander = self.owned(owner, id)?;
        let settings = commander.settings.patched(&self.surface, patch)?;
        // One commander plays one match, so one door leads to all its seats.
        if let Some(live) = commander.lanes.values().find_map(|lane| lane.live.as_ref()) {
            follow(&live.door, &settings)?;
        }
        self.owned_mut(owner, id)?.settings = settings.clone();
        Ok(settings)
    }

    /// The owner's commanders as they see them (`CommanderStatus`), by name.
    pub fn list(&self, owner: &OwnerId) -> Vec<Value> {
        let mut owned: Vec<(&CommanderId, &Commander<D>)> =
            self.by_id.iter().filter(|(_, commander)| commander.owner == *owner).collect();
        owned.sort_by(|(a, left), (b, right)| (&left.draft.name, a).cmp(&(&right.draft.name, b)));
        owned.into_iter().map(|(id, commander)| status(id, commander)).collect()
    }

    /// Keeps a seat of the next match for a lane, changes what the lane is told of it, or with `None` gives it up
    /// (§4 `commanders.reserve`). The ready mark stays while the seat does.
    ///
    /// Fails `forbidden` unless the commander is the owner's, `invalid` for a role it does not have, a side the game
    /// does not have or a summary out of its schema, `busy` where the commander is on another side already.
    pub fn reserve(
        &mut self,
        owner: &OwnerId,
        id: &CommanderId,
        role: &str,
        reservation: Option<Reservation>,
    ) -> Result<(), CallError> {
        let surface = Arc::clone(&self.surface);
        let commander = self.owned_mut(owner, id)?;
        if !commander.lanes.contains_key(role) {
            return Err(Code::Invalid.into());
        }
        if let Some(wanted) = &reservation {
            if !surface.manifest.teams.contains(&wanted.team) {
                return Err(Code::Invalid.into());
            }
            if let Some(summary) = &wanted.summary {
                surface.manifest.lobby.as_ref().ok_or(Code::Invalid)?.validate(summary)?;
            }
            if commander.is_on_another_side(&wanted.team, Some(role)) {
                return Err(Code::Busy.into());
            }
        }
        let lane = commander.lanes.get_mut(role).ok_or(Code::Invalid)?;
        let before = lane.reserved.as_ref().map(|reserved| &reserved.reservation.team);
        let same_seat = before == reservation.as_ref().map(|wanted| &wanted.team);
        let ready = same_seat && lane.reserved.as_ref().is_some_and(|reserved| reserved.ready);
        lane.changes += u64::from(!same_seat);
        lane.reserved = reservation.map(|reservation| Reserved { reservation, ready });
        Ok(())
    }

    /// Routes a lane to a seat of a match, before the match itself assigns it. Nothing changes where it fails:
    /// `forbidden` unless the commander is the owner's, `invalid` for a role it does not have and for one whose policies
    /// play in place of a live agent, `busy` where it plays another match or is on another side.
    pub fn seat(
        &mut self,
        owner: &OwnerId,
        id: &CommanderId,
        seat: &Seat,
        match_id: &Arc<str>,
        door: D,
    ) -> Result<Taken, CallError> {
        let commander = self.owned_mut(owner, id)?;
        if !commander.lanes.contains_key(&seat.role) || commander.draft.kind != CommanderKind::Agent {
            return Err(Code::Invalid.into());
        }
        if commander.plays_elsewhere(match_id) || commander.is_on_another_side(&seat.team, None) {
            return Err(Code::Busy.into());
        }
        let (isolation, settings) = (commander.draft.isolation, commander.settings.clone());
        let library = commander.library.clone();
        let metadata = commander.draft.metadata.clone();
        let lane = commander.lanes.get_mut(&seat.role).ok_or(Code::Invalid)?;
        let ready = lane.reserved.as_ref().is_some_and(|reserved| reserved.ready);
        let live = Live { match_id: Arc::clone(match_id), team: seat.team.clone(), door };
        lane.live = Some(live);
        // The match tells its agent of the seat.
        lane.told = lane.changes;
        // What waited for the owner between matches ends with it.
        lane.policies = LanePolicies::of(&library);
        Ok(Taken { isolation, settings, library, metadata, ready })
    }

    /// A lane's hold of a seat ended: another occupant, a release, the end of the match's room. Before the start the
    /// ready mark goes back to the reservation, which is news where it was made meanwhile; after it the reservation is used
    /// up.
    pub fn release(&mut self, id: &CommanderId, seat: &Seat, match_id: &str, before_start: Option<bool>) {
        let Some(lane) = self.lane_mut(id, &seat.role) else { return };
        lane.ended.retain(|ended| *ended.match_id != *match_id);
        if lane.live.take_if(|live| *live.match_id == *match_id).is_none() {
            return;
        }
        match (before_start, &mut lane.reserved) {
            (Some(ready), Some(reserved)) => reserved.ready = ready,
            (Some(_), None) => {}
            (None, _) => lane.use_reservation_up(),
        }
    }

    /// The match is over for a seat's side: the commander is free again, and its lane's agent is told the outcome once.
    pub fn finished(&mut self, id: &CommanderId, seat: &Seat, match_id: &str) {
        let Some(lane) = self.lane_mut(id, &seat.role) else { return };
        if let Some(over) = lane.live.take_if(|live| *live.match_id == *match_id) {
            if lane.ended.len() < ENDS_KEPT {
                lane.ended.push_back(over);
            }
            lane.use_reservation_up();
        }
    }

    /// The agent was told how this match ended.
    pub fn told_the_end(&mut self, id: &CommanderId, role: &str, match_id: &str) {
        if let Some(lane) = self.lane_mut(id, role) {
            lane.ended.retain(|ended| *ended.match_id != *match_id);
        }
    }

    /// What leads to the matches whose ends the lane's agent has to be told, one by each of its next waits, first to last,
    /// wherever the lane is by now.
    pub fn ended(&self, id: &CommanderId, role: &str) -> impl Iterator<Item = D> + use<'_, D> {
        let ended = self.lane(id, role).into_iter().flat_map(|lane| &lane.ended);
        ended.map(|ended| ended.door.clone())
    }

    /// Where a lane is. Nothing for a commander or role that does not exist.
    pub fn place(&self, id: &CommanderId, role: &str) -> Option<Place<D>> {
        let lane = self.by_id.get(id)?.lanes.get(role)?;
        Some(match &lane.live {
            None => Place::Lobby,
            Some(live) => Place::Seated(live.door.clone()),
        })
    }

    /// The roles of a commander and the side where each is seated in a match.
    pub fn commands(&self, id: &CommanderId) -> Vec<(Name, Option<Name>)> {
        let lanes = self.by_id.get(id).map(|commander| &commander.lanes);
        let roles = self.surface.manifest.roles.iter().filter_map(|role| Some((role, lanes?.get(role)?)));
        roles.map(|(role, lane)| (role.clone(), lane.live.as_ref().map(|live| live.team.clone()))).collect()
    }

    /// A commander's settings, which its briefing between matches states.
    pub fn settings(&self, id: &CommanderId) -> Option<Settings> {
        self.by_id.get(id).map(|commander| commander.settings.clone())
    }

    /// The agent declares itself ready (§4 `ready`). Without a reservation nothing changes.
    pub fn ready(&mut self, id: &CommanderId, role: &str) {
        if let Some(reserved) = self.lane_mut(id, role).and_then(|lane| lane.reserved.as_mut()) {
            reserved.ready = true;
        }
    }

    /// The lobby state of a lane between matches (§4), which is thereby told. `None` when it does not exist.
    pub fn lobby_state(&mut self, id: &CommanderId, role: &Name, now: Millis) -> Option<Value> {
        let lane = self.lane_mut(id, role)?;
        lane.told = lane.changes;
        let Some(Reserved { reservation, ready }) = &lane.reserved else {
            return Some(lobby_state(None, None, false, StartsWhen::SEAT, now));
        };
        let seat = Seat { team: reservation.team.clone(), role: role.clone() };
        Some(lobby_state(Some(&seat), reservation.summary.as_ref(), *ready, reservation.start, now))
    }

    /// A practice of a lane ended with this `PracticeResult` (§4): its owner is shown what the newest one came to that
    /// succeeded.
    pub fn practised(&mut self, id: &CommanderId, role: &Name, result: &Value) {
        let Some(commander) = self.by_id.get_mut(id).filter(|_| result["ok"] == true) else { return };
        commander.last_practice = Some(json!({
            "role": role,
            "version": result["policy"]["version"],
            "outcome": result["outcome"],
            "ticks": result["ticks"],
            "wallMs": result["wallMs"],
        }));
    }

    /// The status of a lane while nothing seats it (§17). Nothing for one that does not exist.
    pub fn lane_status(&self, id: &CommanderId, role: &str) -> Option<SeatStatus> {
        let lane = self.lane(id, role)?;
        let team = lane.reserved.as_ref().map(|reserved| reserved.reservation.team.clone());
        Some(SeatStatus::in_lobby(team, lane.policies.approval(), lane.inbox.len()))
    }

    /// How often the lane's seat changed between matches, for a wait that begins now.
    pub fn changes(&self, id: &CommanderId, role: &str) -> u64 {
        self.lane(id, role).map_or(0, |lane| lane.changes)
    }

    /// Whether a lobby wait that began after so many changes of its lane's seat returns: there was another one since, or
    /// one that nobody was told.
    pub fn has_news(&self, id: &CommanderId, role: &str, since: u64) -> bool {
        self.lane(id, role).is_some_and(|lane| lane.changes != since || lane.told != lane.changes)
    }

    fn lane(&self, id: &CommanderId, role: &str) -> Option<&Lane<D>> {
        self.by_id.get(id)?.lanes.get(role)
    }

    pub(crate) fn lane_mut(&mut self, id: &CommanderId, role: &str) -> Option<&mut Lane<D>> {
        self.by_id.get_mut(id)?.lanes.get_mut(role)
    }

    pub(crate) fn owned(&self, owner: &OwnerId, id: &CommanderId) -> Result<&Commander<D>, CallError> {
        let commander = self.by_id.get(id).filter(|commander| commander.owner == *owner);
        commander.ok_or_else(|| Code::Forbidden.into())
    }

    pub(crate) fn owned_mut(
        &mut self,
        owner: &OwnerId,
        id: &CommanderId,
    ) -> Result<&mut Commander<D>, CallError> {
        let commander = self.by_id.get_mut(id).filter(|commander| commander.owner == *owner);
        commander.ok_or_else(|| Code::Forbidden.into())
    }
}

fn status<D>(id: &CommanderId, commander: &Commander<D>) -> Value {
    let Commander { draft, settings, library, lanes, last_practice, .. } = commander;
    let reservations: Vec<Value> = lanes
        .iter()
        .filter_map(|(role, lane)| Some((role, lane.reserved.as_ref()?)))
        .map(|(role, reserved)| {
            json!({ "team": reserved.reservation.team, "role": role, "ready": reserved.ready })
        })
        .collect();
    let seats: Vec<Value> = lanes
        .iter()
        .filter_map(|(role, lane)| Some((role, lane.live.as_ref()?)))
        .map(|(role, live)| json!({ "match": live.match_id, "team": live.team, "role": role }))
        .collect();
    json!({
        "id": id.0,
        "name": draft.name,
        "kind": draft.kind.as_str(),
        "roles": draft.roles,
        "isolation": draft.isolation.as_str(),
        "metadata": draft.metadata.to_json(),
        "settings": settings.to_json(),
        "library": library.to_json(),
        "reservations": reservations,
        "seats": seats,
        "lastPractice": last_practice,
    })
}
