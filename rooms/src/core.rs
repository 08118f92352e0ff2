//! A room's seats and what it owes its clients: everything about a room except the application's own state.
//!
//! No handler runs here. Frames wait until the actor's turn ends or they are many, closes wait in `departures` until
//! the handler that caused them has returned.

mod sending;

use crate::arrivals::Arrivals;
use crate::close::CloseReason;
use crate::frame::Frame;
use crate::generation::Generation;
use crate::id::{SessionId, Token, TokenDigest};
use crate::later::Patches;
use crate::mail::{Claim, Connect, RoomHandle, SocketId};
use crate::refusal::Refusal;
use crate::registry::{Entry, Listing};
use crate::schedule::{Due, FAR, Schedule, Slot};
use crate::shared::Shared;
use crate::socket::{Broadcasts, Socket};
use crate::state::Reflections;
use playerthree_rooms_state::View;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

pub(crate) struct Core<E> {
    pub(crate) handle: RoomHandle<E>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) schedule: Schedule,
    pub(crate) patches: Patches,
    pub(crate) arrivals: Arrivals,
    /// The types of the room's state, where it has one.
    pub(crate) reflections: Option<Reflections>,
    /// What single clients see of the state.
    pub(crate) views: HashMap<SessionId, View>,
    members: hashbrown::HashMap<SessionId, Member>,
    /// Clients with frames of their own to hand over at the end of the turn.
    dirty: Vec<SessionId>,
    broadcasts: Broadcasts,
    /// Seats that ended and whose handlers have not run yet.
    departures: VecDeque<Departure>,
    max_clients: usize,
    pub(crate) locked: bool,
    pub(crate) private: bool,
    pub(crate) unlisted: bool,
    pub(crate) metadata: Arc<Value>,
    pub(crate) auto_dispose: bool,
    pub(crate) claimed: bool,
    pub(crate) closing: bool,
    /// Whether the listing is out of date.
    pub(crate) stale: bool,
}

struct Member {
    place: Place,
    /// When the present place ends by itself.
    expiry: Option<Slot>,
}

enum Place {
    /// Promised to a client that has not connected yet.
    Reserved(Claim),
    Connected(Socket),
    /// The connection ended; the handlers that say what follows have not run.
    Leaving(TokenDigest),
    /// The connection was lost and `on_drop` runs: it may ask for a hold.
    Dropped {
        token: TokenDigest,
        hold: Option<Duration>,
    },
    /// Kept for a client that may come back; no later than `until`.
    Held {
        token: TokenDigest,
        until: Instant,
    },
}

/// A seat whose connection, hold or promise ended.
pub(crate) struct Departure {
    pub(crate) session: SessionId,
    pub(crate) reason: CloseReason,
    pub(crate) was: Was,
}

/// What a seat was before it ended.
pub(crate) enum Was {
    Connected,
    /// Its drop has been handled before.
    Held,
    /// Its client never came, and it is free already.
    Reserved,
}

/// What happens to a seat whose connection was lost, once `on_drop` has run.
pub(crate) enum AfterDrop {
    Held,
    Leave,
}

/// Which handler runs for a seat whose time is over.
pub(crate) enum Expired {
    /// Its client had joined and must leave.
    Joined,
    /// Nobody came for it.
    Reserved,
    /// None, or one that is queued already.
    Nothing,
}

/// What a connecting socket is entitled to.
pub(crate) enum Entitled {
    Join(Claim),
    Resume,
    /// The token belongs to the connection that holds the seat now: that one must go first.
    Replace,
}

impl<E> Core<E> {
    pub(crate) fn new(
        handle: RoomHandle<E>,
        entry: Arc<Entry>,
        shared: Arc<Shared>,
        max_clients: Option<usize>,
    ) -> Self {
        let ceiling = shared.config.max_clients_per_room;
        Self {
            handle,
            entry,
            schedule: Schedule::default(),
            patches: Patches::new(Instant::now()),
            arrivals: Arrivals::new(Instant::now()),
            reflections: None,
            views: HashMap::new(),
            members: hashbrown::HashMap::new(),
            dirty: Vec::new(),
            broadcasts: Broadcasts::default(),
            departures: VecDeque::new(),
            max_clients: max_clients.unwrap_or(ceiling).min(ceiling),
            locked: false,
            private: false,
            unlisted: false,
            metadata: Arc::new(Value::Null),
            auto_dispose: true,
            claimed: false,
            closing: false,
            stale: true,
            shared,
        }
    }

    pub(crate) fn max_clients(&self) -> usize {
        self.max_clients
    }

    pub(crate) fn set_max_clients(&mut self, seats: usize) {
        self.max_clients = seats.min(self.shared.config.max_clients_per_room);
        self.stale = true;
    }

    pub(crate) fn seats(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn connected(&self) -> impl Iterator<Item = SessionId> {
        self.members
            .iter()
            .filter(|(_, member)| matches!(member.place, Place::Connected(_)))
            .map(|(session, _)| *session)
    }

    /// Whether a client is connected, has a held seat, or is about to leave.
    pub(crate) fn is_seated(&self, session: SessionId) -> bool {
        !matches!(self.members.get(&session), None | Some(Member { place: Place::Reserved(_), .. }))
    }

    /// Whether a client has been given the room's state, and is to be kept up to date.
    pub(crate) fn has_state(&self, session: SessionId) -> bool {
        matches!(self.members.get(&session), Some(Member { place: Place::Connected(socket), .. }) if socket.is_acknowledged())
    }

    /// The connected clients that have yet to be given the state.
    pub(crate) fn without_state(&self) -> impl Iterator<Item = SessionId> {
        self.connected().filter(|session| !self.has_state(*session))
    }

    pub(crate) fn is_connected(&self, session: SessionId) -> bool {
        matches!(self.members.get(&session), Some(Member { place: Place::Connected(_), .. }))
    }

    /// The generation of a connected client.
    pub(crate) fn generation(&self, session: SessionId) -> Option<Generation> {
        match &self.members.get(&session)?.place {
            Place::Connected(socket) => Some(socket.generation),
            _ => None,
        }
    }

    /// Brings the public listing up to date.
    pub(crate) fn publish(&mut self) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        let full = self.members.len() >= self.max_clients;
        let listing = Arc::new(Listing {
            connected: self.connected().count(),
            clients: self.members.len(),
            max_clients: self.max_clients,
            locked: self.locked || full || self.closing,
            private: self.private,
            unlisted: self.unlisted,
            metadata: self.metadata.clone(),
            ..Listing::clone(&self.entry.listing())
        });
        self.entry.set_listing(listing.clone());
        self.shared.driver.put(listing);
        self.shared.announce(self.entry.id);
    }

    /// Takes the room out of every listing, for good.
    pub(crate) fn withdraw(&self) {
        self.shared.registry.remove(self.entry.id);
        self.shared.driver.remove(self.entry.id);
        self.shared.announce(self.entry.id);
    }

    /// Ends a room that has no purpose: nobody joined it yet.
    pub(crate) fn give_up(&mut self) {
        self.closing = true;
        self.stale = true;
        self.depart_all(CloseReason::JoinRefused);
    }

    // Seats.

    /// Promises a seat for [`Config::seat_expiry`](crate::Config::seat_expiry).
    pub(crate) fn reserve(&mut self, session: SessionId, claim: Claim) {
        let expiry = self.schedule.at(Instant::now() + self.shared.config.seat_expiry, Due::Seat(session));
        self.members.insert(session, Member { place: Place::Reserved(claim), expiry: Some(expiry) });
        self.claimed = true;
        self.stale = true;
    }

    pub(crate) fn can_reserve(&self) -> Result<(), Refusal> {
        if self.closing {
            Err(Refusal::room_not_found())
        } else if self.locked {
            Err(Refusal::room_locked())
        } else if self.members.len() >= self.max_clients {
            Err(Refusal::room_full())
        } else {
            Ok(())
        }
    }

    /// Finds the seat that a reconnection token opens, and leaves its client the time to connect.
    ///
    /// The time is counted from the hold's own end, so that asking again and again holds a seat no longer.
    pub(crate) fn reclaim(&mut self, presented: &TokenDigest) -> Result<SessionId, Refusal> {
        let held = self.members.iter_mut().find_map(|(session, member)| match &member.place {
            Place::Held { token, until } if token.matches(presented) => Some((*session, Some(*until))),
            Place::Connected(socket) if socket.token.matches(presented) => Some((*session, None)),
            _ => None,
        });
        let Some((session, until)) = held else { return Err(Refusal::reconnect_expired()) };
        if let Some(until) = until {
            let grace = self.shared.config.seat_expiry;
            let connect_by = (Instant::now() + grace).clamp(until, until + grace);
            self.set_expiry(session, Some(connect_by));
        }
        Ok(session)
    }

    /// What a socket may do with the seat it names. Nothing changes on a refusal.
    pub(crate) fn entitled(
        &mut self,
        session: SessionId,
        token: Option<&TokenDigest>,
    ) -> Result<Entitled, Refusal> {
        let Some(member) = self.members.get_mut(&session) else {
            return Err(if token.is_some() { Refusal::reconnect_expired() } else { Refusal::seat_expired() });
        };
        match (&mut member.place, token) {
            (Place::Reserved(_), None) => match self.take_claim(session) {
                Some(claim) => Ok(Entitled::Join(claim)),
                None => Err(Refusal::seat_expired()),
            },
            (Place::Held { token, .. }, Some(presented)) if token.matches(presented) => Ok(Entitled::Resume),
            (Place::Connected(socket), Some(presented)) if socket.token.matches(presented) => {
                Ok(Entitled::Replace)
            }
            (_, Some(_)) => Err(Refusal::reconnect_expired()),
            (_, None) => Err(Refusal::seat_expired()),
        }
    }

    fn take_claim(&mut self, session: SessionId) -> Option<Claim> {
        match self.remove(session)?.place {
            Place::Reserved(claim) => Some(claim),
            _ => None,
        }
    }

    /// Seats a socket under a new token. Its frames wait until it acknowledges.
    pub(crate) fn seat(&mut self, connect: &Connect) -> Token {
        let session = connect.session;
        self.remove(session);
        let token = Token::random();
        let socket = Socket::new(connect, token.digest(), &self.broadcasts);
        let expiry =
            self.schedule.at(Instant::now() + self.shared.config.handshake_timeout, Due::Seat(session));
        self.members.insert(session, Member { place: Place::Connected(socket), expiry: Some(expiry) });
        self.stale = true;
        token
    }

    /// Sends the join answer, ahead of all that waits.
    pub(crate) fn welcome(&mut self, session: SessionId, token: &Token) {
        if let Some(Member { place: Place::Connected(socket), .. }) = self.members.get(&session) {
            let types = self.reflections.as_ref().map(|types| (types, socket.generation, socket.knows));
            socket.outbox.push(&[Frame::join(token, types).into_bytes()]);
        }
    }

    pub(crate) fn acknowledge(&mut self, session: SessionId) {
        let Some(socket) = self.socket(session) else { return };
        if socket.acknowledge() {
            self.dirty.push(session);
            self.set_expiry(session, None);
        }
    }

    /// Whether `socket` is the one that holds the seat.
    pub(crate) fn is_current(&self, session: SessionId, socket: SocketId) -> bool {
        matches!(self.members.get(&session), Some(Member { place: Place::Connected(current), .. }) if current.id == socket)
    }

    pub(crate) fn remove_seat(&mut self, session: SessionId) {
        self.views.remove(&session);
        self.remove(session);
    }

    /// Takes back a seat whose client was never told of it, so that none of its handlers runs.
    pub(crate) fn forget(&mut self, session: SessionId) {
        self.views.remove(&session);
        self.remove(session);
        self.departures.retain(|departure| departure.session != session);
    }

    fn remove(&mut self, session: SessionId) -> Option<Member> {
        let member = self.members.remove(&session)?;
        if let Some(slot) = member.expiry {
            self.schedule.remove(slot);
        }
        self.stale = true;
        Some(member)
    }

    fn set_expiry(&mut self, session: SessionId, when: Option<Instant>) {
        let Some(member) = self.members.get_mut(&session) else { return };
        if let Some(slot) = member.expiry.take() {
            self.schedule.remove(slot);
        }
        member.expiry = when.map(|when| self.schedule.at(when, Due::Seat(session)));
    }

    /// A seat's time is over.
    pub(crate) fn expire(&mut self, session: SessionId) -> Expired {
        let Some(member) = self.members.get_mut(&session) else { return Expired::Nothing };
        member.expiry = None;
        match member.place {
            Place::Connected(_) => {
                self.depart(session, CloseReason::HandshakeTimeout);
                Expired::Nothing
            }
            Place::Reserved(_) => {
                self.remove(session);
                Expired::Reserved
            }
            Place::Held { .. } => Expired::Joined,
            Place::Leaving(_) | Place::Dropped { .. } => Expired::Nothing,
        }
    }

    // Ends.

    /// Ends a seat for `reason`; its handlers run after the present one.
    pub(crate) fn depart(&mut self, session: SessionId, reason: CloseReason) {
        let Some(member) = self.members.get_mut(&session) else { return };
        let was = match &mut member.place {
            Place::Connected(socket) => {
                if reason != CloseReason::SlowReader {
                    self.shared.counters.sent(&socket.finish(&self.broadcasts));
                }
                socket.outbox.close(reason);
                member.place = Place::Leaving(socket.token);
                Was::Connected
            }
            Place::Held { token, .. } => {
                member.place = Place::Leaving(*token);
                Was::Held
            }
            Place::Reserved(_) => {
                self.remove(session);
                Was::Reserved
            }
            Place::Leaving(_) | Place::Dropped { .. } => return,
        };
        self.set_expiry(session, None);
        self.departures.push_back(Departure { session, reason, was });
        self.stale = true;
    }

    pub(crate) fn depart_all(&mut self, reason: CloseReason) {
        let sessions: Vec<_> = self.members.keys().copied().collect();
        for session in sessions {
            self.depart(session, reason);
        }
    }

    pub(crate) fn next_departure(&mut self) -> Option<Departure> {
        self.departures.pop_front()
    }

    /// `on_drop` is about to run for a lost connection.
    pub(crate) fn begin_drop(&mut self, session: SessionId) {
        if let Some(member) = self.members.get_mut(&session)
            && let Place::Leaving(token) = member.place
        {
            member.place = Place::Dropped { token, hold: None };
        }
    }

    /// Asks to hold a seat. Works while `on_drop` runs for it.
    pub(crate) fn hold(&mut self, session: SessionId, grace: Duration) -> bool {
        match self.members.get_mut(&session).map(|member| &mut member.place) {
            Some(Place::Dropped { hold, .. }) => {
                *hold = Some(grace.min(FAR));
                true
            }
            _ => false,
        }
    }

    pub(crate) fn end_drop(&mut self, session: SessionId) -> AfterDrop {
        let Some(member) = self.members.get_mut(&session) else { return AfterDrop::Leave };
        match member.place {
            Place::Dropped { token, hold: Some(grace) } if !self.closing => {
                let until = Instant::now() + grace;
                member.place = Place::Held { token, until };
                self.set_expiry(session, Some(until));
                AfterDrop::Held
            }
            _ => AfterDrop::Leave,
        }
    }
}
