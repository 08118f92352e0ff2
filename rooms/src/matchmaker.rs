//! Matchmaking: from a request with options to a reserved seat.
//!
//! Only a room gives out its seats, in its own task, so no number of simultaneous requests overfills one. What
//! happens here between two awaits never assumes that a room still is as it was listed.

use crate::definition::Kind;
use crate::driver::{Among, DriverError, Query};
use crate::id::{RoomId, SessionId, TokenDigest};
use crate::mail::{Control, Ticket};
use crate::refusal::Refusal;
use crate::registry::{Entry, Listing};
use crate::room::AuthRequest;
use crate::shared::Shared;
use crate::weight;
use futures_util::future::join_all;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

/// How many rooms `join` and `joinOrCreate` look up at first, for one of them nearly always has a seat. Rooms that are
/// full or locked are not among them.
const FIRST_ROOMS: usize = 8;

/// How many times more they look up whenever none of those has one.
const MORE_ROOMS: usize = 16;

/// How long one of several rooms may take to answer. Beyond: it is passed over, by later requests at once, until it
/// has answered again.
const ONE_OF_MANY: Duration = Duration::from_secs(1);

/// How long the room that a request names may take to answer. Beyond: 503.
const THE_ONE: Duration = Duration::from_secs(10);

/// A way to ask for a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A seat in an open room of that name that fits, or else in a new one.
    JoinOrCreate,
    /// A seat in a new room.
    Create,
    /// A seat in an open room of that name that fits.
    Join,
    /// A seat in the room of that id, private or not.
    JoinById,
    /// The seat that a reconnection token holds, in the room of that id.
    Reconnect,
}

impl Method {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "joinOrCreate" => Self::JoinOrCreate,
            "create" => Self::Create,
            "join" => Self::Join,
            "joinById" => Self::JoinById,
            "reconnect" => Self::Reconnect,
            _ => return None,
        })
    }
}

/// A seat that waits for its client, for [`Config::seat_expiry`](crate::Config::seat_expiry).
///
/// It serializes as clients take it, `client.consumeSeatReservation(…)`, in the forms of every generation at once:
/// each ignores the other's keys.
#[derive(Clone)]
pub struct SeatReservation {
    /// The seat.
    pub session_id: SessionId,
    /// The room as it was when it promised the seat.
    pub room: Arc<Listing>,
}

/// Without the session: who knows it takes the seat.
impl fmt::Debug for SeatReservation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SeatReservation").field("room", &self.room).finish_non_exhaustive()
    }
}

impl Serialize for SeatReservation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seat = serializer.serialize_struct("SeatReservation", 5)?;
        seat.serialize_field("name", &self.room.name)?;
        seat.serialize_field("sessionId", &self.session_id)?;
        seat.serialize_field("roomId", &self.room.room_id)?;
        seat.serialize_field("processId", &self.room.process_id)?;
        seat.serialize_field("room", &self.room)?;
        seat.end()
    }
}

/// Why a group got no room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{refusal}")]
pub struct GroupRefused {
    /// The guest whose request was refused, by its place in the group; `None` where it was the room.
    pub guest: Option<usize>,
    /// Why.
    pub refusal: Refusal,
}

impl GroupRefused {
    fn room(refusal: Refusal) -> Self {
        Self { guest: None, refusal }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Matchmaker<'a> {
    pub(crate) shared: &'a Arc<Shared>,
}

impl Matchmaker<'_> {
    /// Finds or makes a seat. `target` is a room's name or, for `joinById` and `reconnect`, its id.
    pub(crate) async fn seat(
        self,
        method: Method,
        target: &str,
        request: AuthRequest,
    ) -> Result<SeatReservation, Refusal> {
        self.open()?;
        match method {
            Method::Reconnect => self.reconnect(target, &request.options).await,
            Method::JoinById => {
                let entry = self.room(target)?;
                let ticket = self.authorize(self.kind(&entry.name)?, request).await?;
                let (reply, answer) = oneshot::channel();
                ask(&entry, Control::Reserve { ticket, reply }, answer, THE_ONE).await
            }
            Method::Create | Method::Join | Method::JoinOrCreate => {
                let kind = self.kind(target)?;
                let options = request.options.clone();
                let ticket = self.authorize(kind, request).await?;
                match method {
                    Method::Create => self.create_and_reserve(kind, &options, &ticket),
                    Method::Join => self.join(kind, &options, &ticket).await,
                    _ => self.join_or_create(kind, &options, &ticket).await,
                }
            }
        }
    }

    /// Makes a room without a seat in it.
    pub(crate) fn create(self, name: &str, options: &Value) -> Result<Arc<Entry>, Refusal> {
        self.open()?;
        let kind = self.kind(name)?;
        kind.definition.create(self.shared, kind, options, &[]).map(|(entry, _)| entry)
    }

    /// Makes a room with a seat for each guest, or none at all. Nobody else can take one of the seats before.
    pub(crate) async fn create_for(
        self,
        name: &str,
        options: &Value,
        guests: Vec<AuthRequest>,
    ) -> Result<Vec<SeatReservation>, GroupRefused> {
        self.open().map_err(GroupRefused::room)?;
        let kind = self.kind(name).map_err(GroupRefused::room)?;
        let tickets = join_all(guests.into_iter().map(|guest| self.authorize(kind, guest))).await;
        let tickets = tickets
            .into_iter()
            .enumerate()
            .map(|(guest, ticket)| ticket.map_err(|refusal| GroupRefused { guest: Some(guest), refusal }))
            .collect::<Result<Vec<_>, _>>()?;
        let made = kind.definition.create(self.shared, kind, options, &tickets);
        let (entry, seats) = made.map_err(GroupRefused::room)?;
        let room = entry.listing();
        let reserved = |(guest, seat): (usize, Result<SessionId, Refusal>)| match seat {
            Ok(session_id) => Ok(SeatReservation { session_id, room: room.clone() }),
            Err(refusal) => Err(GroupRefused { guest: Some(guest), refusal }),
        };
        seats.into_iter().enumerate().map(reserved).collect()
    }

    fn open(self) -> Result<(), Refusal> {
        if self.shared.is_closing() { Err(Refusal::shutting_down()) } else { Ok(()) }
    }

    fn kind(&self, name: &str) -> Result<&Kind, Refusal> {
        self.shared.kinds.get(name).ok_or_else(Refusal::no_handler)
    }

    fn room(self, id: &str) -> Result<Arc<Entry>, Refusal> {
        RoomId::parse(id).and_then(|id| self.shared.registry.get(id)).ok_or_else(Refusal::room_not_found)
    }

    async fn authorize(self, kind: &Kind, request: AuthRequest) -> Result<Arc<Ticket>, Refusal> {
        let limit = self.shared.config.authorize_timeout;
        let space = self.shared.space_for(weight::of(&request.options))?;
        let auth = timeout(limit, kind.definition.authorize(&request))
            .await
            .unwrap_or_else(|_| Err(Refusal::auth_failed()))?;
        Ok(Ticket::new(request.options, auth, space))
    }

    async fn join(
        self,
        kind: &Kind,
        options: &Value,
        ticket: &Arc<Ticket>,
    ) -> Result<SeatReservation, Refusal> {
        match self.find(kind, options, ticket, &mut self.search()).await? {
            Found::Seat(reservation) => Ok(reservation),
            Found::Nothing => Err(Refusal::no_match()),
            Found::TooMany => Err(Refusal::search_ended()),
        }
    }

    async fn join_or_create(
        self,
        kind: &Kind,
        options: &Value,
        ticket: &Arc<Ticket>,
    ) -> Result<SeatReservation, Refusal> {
        let mut search = self.search();
        if let Found::Seat(reservation) = self.find(kind, options, ticket, &mut search).await? {
            return Ok(reservation);
        }
        // Of the rooms that came meanwhile one may have a seat. The others were asked, and nobody waits for them twice.
        let _creating = kind.creating.lock().await;
        match self.find(kind, options, ticket, &mut search).await? {
            Found::Seat(reservation) => Ok(reservation),
            Found::Nothing | Found::TooMany => self.create_and_reserve(kind, options, ticket),
        }
    }

    fn search(self) -> Search {
        let config = &self.shared.config;
        Search {
            asked: HashSet::new(),
            most: config.max_rooms_asked,
            end: Instant::now() + config.search_timeout,
        }
    }

    /// Asks the open rooms that fit for a seat, in the order that the definition wants, but for those asked before.
    async fn find(
        self,
        kind: &Kind,
        options: &Value,
        ticket: &Arc<Ticket>,
        search: &mut Search,
    ) -> Result<Found, Refusal> {
        let mut limit = FIRST_ROOMS.min(search.most);
        loop {
            let rooms = self.open_rooms(kind, options, limit).await?;
            let found = rooms.len();
            for room in rooms {
                // A room of another process is that process's to fill.
                let Some(entry) = self.shared.registry.get(room.room_id) else { continue };
                if entry.is_silent() || search.asked.contains(&entry.id) {
                    continue;
                }
                let Some(patience) = search.next(entry.id) else { return Ok(Found::TooMany) };
                if let Ok(reservation) = reserve(&entry, ticket, patience).await {
                    return Ok(Found::Seat(reservation));
                }
            }
            if found < limit {
                return Ok(Found::Nothing);
            }
            if limit == search.most {
                return Ok(Found::TooMany);
            }
            limit = limit.saturating_mul(MORE_ROOMS).min(search.most);
        }
    }

    async fn open_rooms(
        self,
        kind: &Kind,
        options: &Value,
        limit: usize,
    ) -> Result<Vec<Arc<Listing>>, Refusal> {
        let query = Query {
            name: Some(kind.name.clone()),
            filter: Some(kind.filter(options)),
            among: Among::Open,
            sort: kind.settings.sort_by.clone(),
            limit,
        };
        self.shared.driver.find(&query).await.map_err(|DriverError| Refusal::unavailable())
    }

    /// A new room whose first seat is the creator's: no one else hears of it before.
    fn create_and_reserve(
        self,
        kind: &Kind,
        options: &Value,
        ticket: &Arc<Ticket>,
    ) -> Result<SeatReservation, Refusal> {
        self.open()?;
        let (entry, seats) =
            kind.definition.create(self.shared, kind, options, std::slice::from_ref(ticket))?;
        let session_id = seats.into_iter().next().unwrap_or_else(|| Err(Refusal::failed()))?;
        Ok(SeatReservation { session_id, room: entry.listing() })
    }

    async fn reconnect(self, id: &str, options: &Value) -> Result<SeatReservation, Refusal> {
        let entry = self.room(id)?;
        let token = options["reconnectionToken"].as_str().ok_or_else(Refusal::reconnect_expired)?;
        let token = TokenDigest::of(token.as_bytes());
        let (reply, answer) = oneshot::channel();
        ask(&entry, Control::Reclaim { token, reply }, answer, THE_ONE).await
    }
}

/// One request's way through the open rooms, which has an end in rooms and in time.
struct Search {
    asked: HashSet<RoomId>,
    most: usize,
    end: Instant,
}

impl Search {
    /// How long the next room may take, or `None` where no further room may be asked.
    fn next(&mut self, room: RoomId) -> Option<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() || self.asked.len() >= self.most {
            return None;
        }
        self.asked.insert(room);
        Some(left.min(ONE_OF_MANY))
    }
}

/// What a search came to.
enum Found {
    Seat(SeatReservation),
    /// No open room has a seat for the request.
    Nothing,
    /// None of those that it may ask has one.
    TooMany,
}

/// Asks one of several rooms for a seat.
async fn reserve(
    entry: &Entry,
    ticket: &Arc<Ticket>,
    patience: Duration,
) -> Result<SeatReservation, Refusal> {
    let (reply, answer) = oneshot::channel();
    ask(entry, Control::Reserve { ticket: ticket.clone(), reply }, answer, patience).await
}

/// Sends a control and waits for its answer, for `patience` at most. A room that ends meanwhile was not found. What
/// it promises after that is void, for nobody hears it.
async fn ask(
    entry: &Entry,
    control: Control,
    mut answer: oneshot::Receiver<Result<SessionId, Refusal>>,
    patience: Duration,
) -> Result<SeatReservation, Refusal> {
    let asked = timeout(patience, async {
        entry.link.send(control).await.map_err(|_| Refusal::room_not_found())?;
        (&mut answer).await.unwrap_or_else(|_| Err(Refusal::room_not_found()))
    });
    let session_id = match asked.await {
        Ok(answered) => answered?,
        Err(_) => {
            entry.set_silent(true);
            // A room that answers from here on sees the mark and takes it back; one that did so just before has not.
            let late = answer.try_recv().inspect(|_| entry.set_silent(false));
            late.unwrap_or_else(|_| Err(Refusal::room_busy()))?
        }
    };
    Ok(SeatReservation { session_id, room: entry.listing() })
}
