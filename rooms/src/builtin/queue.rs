//! A room in which clients wait until others of about their rank are there, and then get seats in a new room.
//!
//! A client joins with `{rank, teamId?, teamSize?}`. To it: `clients` with how many players could play together now,
//! itself counted, whenever that changes; then `seat` with a reservation for `client.consumeSeatReservation`. From it:
//! `confirm` once it took the seat, upon which it is let go. One that leaves is out of the queue.
//!
//! Each match room authorizes its players as if they had asked by themselves, with the token they joined the queue
//! with. One that it refuses is told so and goes; the others keep their place. Who waited too long is told so and goes too.

use super::grouping::{self, PLAYERS_MAX, Party};
use crate::close::CloseReason;
use crate::cx::{Cx, TimerId, Visibility};
use crate::id::SessionId;
use crate::matchmaker::{GroupRefused, SeatReservation};
use crate::messages::Messages;
use crate::refusal::Refusal;
use crate::room::{AuthRequest, Definition, Join, Room, RoomSettings};
use crate::shared::Space;
use crate::weight;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Between two attempts to make matches.
const CYCLE: Duration = Duration::from_secs(1);

/// The longest name of a team, in bytes.
const TEAM_BYTES: usize = 64;

/// How far another's rank may be from one's own, in units of rank: it widens while one waits.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// At first. Default 50.
    pub start: f64,
    /// More for each second of waiting. Default 10.
    pub per_second: f64,
    /// In the end. Default 1,000.
    pub most: f64,
}

impl Default for Window {
    fn default() -> Self {
        Self { start: 50.0, per_second: 10.0, most: 1_000.0 }
    }
}

impl Window {
    fn after(self, waited: Duration) -> f64 {
        (self.start + self.per_second * waited.as_secs_f64()).min(self.most)
    }
}

/// Finds the rank in a request; `None` where it has none.
type Ranked = Arc<dyn Fn(&AuthRequest) -> Option<f64> + Send + Sync>;

/// Queue rooms for matches in rooms of another name.
#[derive(Clone)]
pub struct Queue {
    room: String,
    options: Value,
    players: usize,
    fewest: usize,
    window: Window,
    patience: Duration,
    longest: Duration,
    entries: usize,
    ranked: Ranked,
}

impl Queue {
    /// A queue for rooms defined as `room`, for `players` each, 1 to 100.
    #[must_use]
    pub fn new(room: &str, players: usize) -> Self {
        let players = players.clamp(1, PLAYERS_MAX);
        Self {
            room: room.to_owned(),
            options: json!({}),
            players,
            fewest: players,
            window: Window::default(),
            patience: Duration::from_secs(30),
            longest: Duration::from_secs(600),
            entries: 1_000,
            ranked: Arc::new(|request| request.options["rank"].as_f64()),
        }
    }

    /// The options that match rooms are created with. Default none.
    #[must_use]
    pub fn options(mut self, options: Value) -> Self {
        self.options = options;
        self
    }

    /// After `patience` a player is content with a match of at least `fewest`, 1 to the number of players. Default:
    /// 30 s and the whole number, so that everyone waits until a match is full.
    #[must_use]
    pub fn fewest(mut self, fewest: usize, patience: Duration) -> Self {
        self.fewest = fewest.clamp(1, self.players);
        self.patience = patience;
        self
    }

    /// How long a client may wait, alone or for the rest of its team. Default 10 minutes. Beyond: it is told 521
    /// `no_match` and let go.
    #[must_use]
    pub fn longest_wait(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }

    /// How ranks find each other.
    #[must_use]
    pub fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// Clients in one queue. Default 1,000. Beyond: the queue is full, and matchmaking opens another.
    #[must_use]
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Where a player's rank comes from. Default: the option `rank`, which clients choose; an application that keeps
    /// ranks looks them up by the request's token. A request without a finite rank is refused.
    #[must_use]
    pub fn ranked_by(mut self, ranked: impl Fn(&AuthRequest) -> Option<f64> + Send + Sync + 'static) -> Self {
        self.ranked = Arc::new(ranked);
        self
    }

    /// The team that a request names, and its size.
    fn team(&self, options: &Value) -> Option<Option<Team>> {
        match (&options["teamId"], &options["teamSize"]) {
            (Value::Null, Value::Null) => Some(None),
            (Value::String(name), size) => {
                let size = usize::try_from(size.as_u64()?).ok()?;
                let fits = (1..=TEAM_BYTES).contains(&name.len()) && (1..=self.players).contains(&size);
                fits.then(|| Some(Team { name: name.clone(), size }))
            }
            _ => None,
        }
    }
}

/// People who want to play together.
#[derive(Clone, PartialEq, Eq)]
struct Team {
    name: String,
    size: usize,
}

/// A player as the queue authorized it.
pub struct Guest {
    request: AuthRequest,
    rank: f64,
    team: Option<Team>,
}

impl Definition for Queue {
    type Room = QueueRoom;

    async fn authorize(&self, request: &AuthRequest) -> Result<Guest, Refusal> {
        let rank = (self.ranked)(request).filter(|rank| rank.is_finite());
        let team = self.team(&request.options);
        let (rank, team) = rank.zip(team).ok_or_else(Refusal::bad_options)?;
        Ok(Guest { request: request.clone(), rank, team })
    }

    fn create(&self, cx: &mut Cx<'_, QueueRoom>, _: &Value) -> Result<QueueRoom, Refusal> {
        cx.set_visibility(Visibility::Unlisted);
        cx.set_interval(CYCLE);
        Ok(QueueRoom { queue: self.clone(), entries: HashMap::new() })
    }

    fn messages(&self) -> Messages<QueueRoom> {
        Messages::new().on("confirm", |room: &mut QueueRoom, cx, client, _: Option<Value>| {
            if matches!(room.entries.get(&client), Some(Entry { stage: Stage::Seated(_), .. })) {
                cx.kick(client, CloseReason::Consented);
            }
        })
    }

    fn settings(&self) -> RoomSettings {
        RoomSettings { max_clients: Some(self.entries), ..RoomSettings::default() }
    }
}

/// One queue.
pub struct QueueRoom {
    queue: Queue,
    entries: HashMap<SessionId, Entry>,
}

struct Entry {
    guest: Guest,
    /// The request's share of [`Config::max_reserved_bytes`](crate::Config::max_reserved_bytes).
    _space: Space,
    since: Instant,
    stage: Stage,
    /// How many players it was last told of.
    told: usize,
}

enum Stage {
    Waiting,
    /// A match room is being made for it.
    Grouped,
    /// It was given a seat, which it should take.
    Seated(Instant),
}

/// What came of the making of a match room.
pub struct Made {
    players: Vec<SessionId>,
    seats: Result<Vec<SeatReservation>, GroupRefused>,
}

impl Room for QueueRoom {
    type Event = Made;
    type Auth = Guest;

    fn on_join(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        join: Join<Guest>,
    ) -> Result<(), Refusal> {
        if let Some(team) = &join.auth.team {
            let mates = || self.entries.values().filter_map(|entry| entry.guest.team.as_ref());
            let mates = mates().filter(|other| other.name == team.name);
            if mates.clone().any(|other| other.size != team.size) || mates.count() >= team.size {
                return Err(Refusal::join_refused("the team is full or of another size"));
            }
        }
        let space = cx.server().shared().space_for(weight::of_request(&join.auth.request))?;
        let entry =
            Entry { guest: join.auth, _space: space, since: Instant::now(), stage: Stage::Waiting, told: 0 };
        self.entries.insert(client, entry);
        self.tell(cx, client, 1);
        Ok(())
    }

    fn on_leave(&mut self, _: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        self.entries.remove(&client);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, _: TimerId) {
        let now = Instant::now();
        let (mut members, mut parties) = self.parties(now);
        let made = grouping::matches(&parties, self.queue.players, self.queue.fewest);
        let mut grouped = Vec::new();
        for group in made {
            let players = group.iter().flat_map(|&party| members[party].clone()).collect();
            self.make(cx, players);
            grouped.extend(group);
        }
        grouped.sort_unstable();
        for party in grouped.into_iter().rev() {
            members.remove(party);
            parties.remove(party);
        }
        let company = grouping::company(&parties, self.queue.players);
        for (members, company) in members.into_iter().zip(company) {
            for client in members {
                self.tell(cx, client, company);
            }
        }
        self.dismiss(cx, now);
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, made: Made) {
        let seats = match made.seats {
            Ok(seats) => seats,
            Err(refused) => return self.requeue(cx, &made.players, &refused),
        };
        for (client, seat) in made.players.into_iter().zip(seats) {
            let Some(entry) = self.entries.get_mut(&client) else { continue };
            entry.stage = Stage::Seated(Instant::now());
            if let Err(error) = cx.send(client, "seat", &seat) {
                tracing::error!(%error, "a seat could not be sent");
            }
        }
    }
}

impl QueueRoom {
    fn tell(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, company: usize) {
        let Some(entry) = self.entries.get_mut(&client) else { return };
        if std::mem::replace(&mut entry.told, company) != company
            && let Err(error) = cx.send(client, "clients", &company)
        {
            tracing::error!(%error, "a count could not be sent");
        }
    }

    /// Lets those go that were given a seat and never said that they took it, and those that waited too long.
    fn dismiss(&self, cx: &mut Cx<'_, Self>, now: Instant) {
        let expiry = cx.server().config().seat_expiry;
        for (client, entry) in &self.entries {
            match entry.stage {
                Stage::Seated(since) if now - since >= expiry => cx.kick(*client, CloseReason::Consented),
                Stage::Waiting if now - entry.since >= self.queue.longest => {
                    cx.send_error(*client, &Refusal::no_match());
                    cx.kick(*client, CloseReason::JoinRefused);
                }
                Stage::Waiting | Stage::Grouped | Stage::Seated(_) => {}
            }
        }
    }

    /// The complete parties that wait, the longest-waiting first, each with its members.
    fn parties(&self, now: Instant) -> (Vec<Vec<SessionId>>, Vec<Party>) {
        let mut alone = Vec::new();
        let mut teams: BTreeMap<&str, Vec<SessionId>> = BTreeMap::new();
        for (client, entry) in &self.entries {
            match (&entry.stage, &entry.guest.team) {
                (Stage::Waiting, Some(team)) => teams.entry(&team.name).or_default().push(*client),
                (Stage::Waiting, None) => alone.push(vec![*client]),
                (Stage::Grouped | Stage::Seated(_), _) => {}
            }
        }
        let is_complete = |members: &Vec<SessionId>| {
            self.entry(members[0]).guest.team.as_ref().is_none_or(|team| members.len() == team.size)
        };
        let mut waiting: Vec<_> = alone
            .into_iter()
            .chain(teams.into_values())
            .filter(is_complete)
            .map(|members| {
                let since = members.iter().map(|member| self.entry(*member).since).max().unwrap_or(now);
                (since, members)
            })
            .collect();
        waiting.sort_unstable();
        waiting
            .into_iter()
            .map(|(since, members)| (members.clone(), self.party(&members, now - since)))
            .unzip()
    }

    #[expect(clippy::cast_precision_loss, reason = "a party has at most 100 members")]
    fn party(&self, members: &[SessionId], waited: Duration) -> Party {
        let ranks: f64 = members.iter().map(|member| self.entry(*member).guest.rank).sum();
        Party {
            rank: ranks / members.len() as f64,
            size: members.len(),
            reach: self.queue.window.after(waited),
            is_patient_no_more: waited >= self.queue.patience,
        }
    }

    fn entry(&self, client: SessionId) -> &Entry {
        &self.entries[&client]
    }

    fn make(&mut self, cx: &mut Cx<'_, Self>, players: Vec<SessionId>) {
        let mut guests = Vec::new();
        for player in &players {
            if let Some(entry) = self.entries.get_mut(player) {
                entry.stage = Stage::Grouped;
                guests.push(entry.guest.request.clone());
            }
        }
        let (server, room, options) = (cx.server(), self.queue.room.clone(), self.queue.options.clone());
        cx.spawn(async move {
            let seats = server.create_for(&room, &options, guests).await;
            Made { players, seats }
        });
    }

    /// A match room could not be made: who was refused goes, the others keep their place.
    fn requeue(&mut self, cx: &mut Cx<'_, Self>, players: &[SessionId], refused: &GroupRefused) {
        if refused.guest.is_none() {
            tracing::warn!(room = %self.queue.room, refusal = %refused.refusal, "no match room could be made");
        }
        for (place, client) in players.iter().enumerate() {
            let Some(entry) = self.entries.get_mut(client) else { continue };
            entry.stage = Stage::Waiting;
            if refused.guest == Some(place) {
                cx.send_error(*client, &refused.refusal);
                cx.kick(*client, CloseReason::JoinRefused);
            }
        }
    }
}
