//! Definitions without their types, so that one server holds many kinds of rooms.

use crate::actor::Actor;
use crate::core::Core;
use crate::counters::count;
use crate::cx::Cx;
use crate::id::SessionId;
use crate::mail::{Control, RoomHandle, Ticket};
use crate::messages::Messages;
use crate::refusal::Refusal;
use crate::registry::Entry;
use crate::room::{AuthRequest, Definition, RoomSettings};
use crate::shared::Shared;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};

/// What a definition found out about a client, as its room will get it back.
pub(crate) type AnyAuth = Box<dyn Any + Send>;

/// A new room, and the seats it promised at birth.
pub(crate) type Made = (Arc<Entry>, Vec<Result<SessionId, Refusal>>);

/// A room kind under its name.
pub(crate) struct Kind {
    pub(crate) name: Arc<str>,
    pub(crate) definition: Box<dyn AnyDefinition>,
    pub(crate) settings: RoomSettings,
    /// Held while `joinOrCreate` creates, so that simultaneous callers share a room.
    pub(crate) creating: Mutex<()>,
}

impl Kind {
    pub(crate) fn new(name: Arc<str>, definition: impl Definition) -> Self {
        let settings = definition.settings();
        let messages = Arc::new(definition.messages());
        let definition = Box::new(Defined { definition, messages });
        Self { name, definition, settings, creating: Mutex::new(()) }
    }

    /// The filtered options in a form where equal means equal.
    pub(crate) fn filter(&self, options: &Value) -> Arc<str> {
        let values: Vec<&Value> =
            self.settings.filter_by.iter().map(|field| &options[field.as_str()]).collect();
        // A list of JSON values always serializes.
        serde_json::to_string(&values).unwrap_or_default().into()
    }
}

pub(crate) trait AnyDefinition: Send + Sync {
    fn authorize<'a>(&'a self, request: &'a AuthRequest) -> BoxFuture<'a, Result<AnyAuth, Refusal>>;

    /// Makes a room with a seat for each ticket, and only then lets others find it. A room that refuses one of them
    /// ends at once.
    fn create(
        &self,
        shared: &Arc<Shared>,
        kind: &Kind,
        options: &Value,
        tickets: &[Arc<Ticket>],
    ) -> Result<Made, Refusal>;
}

/// A definition with the handlers of its rooms' messages, which all of them share.
struct Defined<D: Definition> {
    definition: D,
    messages: Arc<Messages<D::Room>>,
}

impl<D: Definition> AnyDefinition for Defined<D> {
    fn authorize<'a>(&'a self, request: &'a AuthRequest) -> BoxFuture<'a, Result<AnyAuth, Refusal>> {
        Box::pin(async move {
            let authorized = AssertUnwindSafe(self.definition.authorize(request)).catch_unwind().await;
            let auth = authorized.unwrap_or_else(|_| {
                tracing::error!("a definition panicked while it authorized a client");
                Err(Refusal::failed())
            })?;
            Ok(Box::new(auth) as AnyAuth)
        })
    }

    fn create(
        &self,
        shared: &Arc<Shared>,
        kind: &Kind,
        options: &Value,
        tickets: &[Arc<Ticket>],
    ) -> Result<Made, Refusal> {
        let filter = kind.filter(options);
        if filter.len() > shared.config.max_metadata_bytes {
            return Err(Refusal::bad_options());
        }
        let permit = shared.room_permits.clone().try_acquire_owned().map_err(|_| Refusal::at_capacity())?;
        let (sender, mailbox) = mpsc::channel(shared.config.mailbox);
        let home = shared.homes.next();
        let entry = shared.registry.entry(&kind.name, filter, Box::new(sender.clone()), home);
        let handle = RoomHandle::new(entry.id, sender);
        let mut core = Core::new(handle, entry.clone(), shared.clone(), kind.settings.max_clients);
        let made = catch_unwind(AssertUnwindSafe(|| {
            let room = self.definition.create(&mut Cx::new(&mut core), options)?;
            let mut actor = Actor { room, core, messages: self.messages.clone(), mailbox, permit };
            actor.describe_state()?;
            let seats = actor.reserve_all(tickets);
            Ok((actor, seats))
        }));
        let (mut actor, seats) = made.unwrap_or_else(|_| {
            tracing::error!(name = %kind.name, "a definition panicked while it created a room");
            count(&shared.counters.rooms_failed);
            Err(Refusal::failed())
        })?;
        shared.registry.insert(&entry);
        actor.core.publish();
        count(&shared.counters.rooms_created);
        match &entry.home {
            Some(home) => shared.tasks.spawn_on(actor.run(), home),
            None => shared.tasks.spawn(actor.run()),
        };
        // A shutdown that began meanwhile may not have seen this room.
        if shared.is_closing() {
            // The mailbox is new, and a room that is gone needs no telling.
            let _ = entry.link.try_send(Control::Shutdown);
        }
        Ok((entry, seats))
    }
}
