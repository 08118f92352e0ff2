//! Matchmaking: from a request with options to a reserved seat.
//!
//! Only a room gives out its seats, in its own task, so no number of simultaneous requests overfills one. What
//! happens here between two awaits never assumes that a room still is as it was listed.

use crate::definition::{AnyAuth, AnyDefinition};
use crate::id::{RoomId, SessionId, TokenDigest};
use crate::mail::{Control, Ticket};
use crate::refusal::Refusal;
use crate::registry::Entry;
use crate::room::AuthRequest;
use crate::shared::Shared;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;

/// A way to ask for a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    JoinOrCreate,
    Create,
    Join,
    JoinById,
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

/// A seat that waits for its client.
pub(crate) struct Reservation {
    pub(crate) entry: Arc<Entry>,
    pub(crate) session: SessionId,
}

/// A room kind under its name.
pub(crate) struct Kind {
    name: Arc<str>,
    definition: Box<dyn AnyDefinition>,
    filter_by: Vec<String>,
    /// Held while `joinOrCreate` creates, so that simultaneous callers share a room.
    creating: Mutex<()>,
}

impl Kind {
    pub(crate) fn new(name: Arc<str>, definition: Box<dyn AnyDefinition>) -> Self {
        let filter_by = definition.settings().filter_by;
        Self { name, definition, filter_by, creating: Mutex::new(()) }
    }

    /// The filtered options in a form where equal means equal.
    fn filter(&self, options: &Value) -> String {
        let values: Vec<&Value> = self.filter_by.iter().map(|field| &options[field.as_str()]).collect();
        // A list of JSON values always serializes.
        serde_json::to_string(&values).unwrap_or_default()
    }
}

pub(crate) struct Matchmaker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) kinds: HashMap<Arc<str>, Kind>,
}

impl Matchmaker {
    /// Finds or makes a seat. `target` is a room's name or, for `joinById` and `reconnect`, its id.
    pub(crate) async fn seat(
        &self,
        method: Method,
        target: &str,
        request: AuthRequest,
    ) -> Result<Reservation, Refusal> {
        if self.shared.is_closing() {
            return Err(Refusal::shutting_down());
        }
        match method {
            Method::Reconnect => self.reconnect(target, &request.options).await,
            Method::JoinById => {
                let entry = self.room(target)?;
                let ticket = self.authorize(self.kind(&entry.name)?, request).await?;
                reserve(&entry, &ticket).await
            }
            Method::Create | Method::Join | Method::JoinOrCreate => {
                let kind = self.kind(target)?;
                let options = request.options.clone();
                let ticket = self.authorize(kind, request).await?;
                match method {
                    Method::Create => self.create_and_reserve(kind, &options, &ticket).await,
                    Method::Join => match self.find(kind, &options, &ticket).await {
                        Some(reservation) => Ok(reservation),
                        None => Err(Refusal::no_match()),
                    },
                    _ => self.join_or_create(kind, &options, &ticket).await,
                }
            }
        }
    }

    /// Makes a room without a seat in it.
    pub(crate) fn create(&self, name: &str, options: &Value) -> Result<Arc<Entry>, Refusal> {
        if self.shared.is_closing() {
            return Err(Refusal::shutting_down());
        }
        let kind = self.kind(name)?;
        kind.definition.create(&self.shared, &kind.name, kind.filter(options), options)
    }

    fn kind(&self, name: &str) -> Result<&Kind, Refusal> {
        self.kinds.get(name).ok_or_else(Refusal::no_handler)
    }

    fn room(&self, id: &str) -> Result<Arc<Entry>, Refusal> {
        RoomId::parse(id).and_then(|id| self.shared.registry.get(id)).ok_or_else(Refusal::room_not_found)
    }

    async fn authorize(&self, kind: &Kind, request: AuthRequest) -> Result<Arc<Ticket>, Refusal> {
        let limit = self.shared.config.authorize_timeout;
        let auth: AnyAuth = timeout(limit, kind.definition.authorize(&request))
            .await
            .unwrap_or_else(|_| Err(Refusal::auth_failed()))?;
        Ok(Ticket::new(request.options, auth))
    }

    async fn join_or_create(
        &self,
        kind: &Kind,
        options: &Value,
        ticket: &Arc<Ticket>,
    ) -> Result<Reservation, Refusal> {
        if let Some(reservation) = self.find(kind, options, ticket).await {
            return Ok(reservation);
        }
        let _creating = kind.creating.lock().await;
        match self.find(kind, options, ticket).await {
            Some(reservation) => Ok(reservation),
            None => self.create_and_reserve(kind, options, ticket).await,
        }
    }

    /// Asks the open rooms that fit, from the oldest on, for a seat.
    async fn find(&self, kind: &Kind, options: &Value, ticket: &Arc<Ticket>) -> Option<Reservation> {
        let filter = kind.filter(options);
        let mut asked = None;
        loop {
            let entry = self.shared.registry.open_after(&kind.name, &filter, asked.as_deref())?;
            if let Ok(reservation) = reserve(&entry, ticket).await {
                return Some(reservation);
            }
            asked = Some(entry);
        }
    }

    async fn create_and_reserve(
        &self,
        kind: &Kind,
        options: &Value,
        ticket: &Arc<Ticket>,
    ) -> Result<Reservation, Refusal> {
        let entry = kind.definition.create(&self.shared, &kind.name, kind.filter(options), options)?;
        reserve(&entry, ticket).await
    }

    async fn reconnect(&self, id: &str, options: &Value) -> Result<Reservation, Refusal> {
        let entry = self.room(id)?;
        let token = options["reconnectionToken"].as_str().ok_or_else(Refusal::reconnect_expired)?;
        let token = TokenDigest::of(token.as_bytes());
        let (reply, answer) = oneshot::channel();
        let session = ask(&entry, Control::Reclaim { token, reply }, answer).await?;
        Ok(Reservation { entry, session })
    }
}

async fn reserve(entry: &Arc<Entry>, ticket: &Arc<Ticket>) -> Result<Reservation, Refusal> {
    let (reply, answer) = oneshot::channel();
    let session = ask(entry, Control::Reserve { ticket: ticket.clone(), reply }, answer).await?;
    Ok(Reservation { entry: entry.clone(), session })
}

/// Sends a control and waits for its answer. A room that ends meanwhile was not found.
async fn ask(
    entry: &Entry,
    control: Control,
    answer: oneshot::Receiver<Result<SessionId, Refusal>>,
) -> Result<SessionId, Refusal> {
    entry.link.send(control).await.map_err(|_| Refusal::room_not_found())?;
    answer.await.unwrap_or_else(|_| Err(Refusal::room_not_found()))
}
