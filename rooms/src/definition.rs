//! Definitions without their types, so that one server holds many kinds of rooms.

use crate::actor::Actor;
use crate::core::Core;
use crate::counters::count;
use crate::cx::Cx;
use crate::id::RoomId;
use crate::mail::{Control, RoomHandle};
use crate::refusal::Refusal;
use crate::registry::Entry;
use crate::room::{AuthRequest, Definition, RoomSettings};
use crate::shared::Shared;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::mpsc;

/// What a definition found out about a client, as its room will get it back.
pub(crate) type AnyAuth = Box<dyn Any + Send>;

pub(crate) trait AnyDefinition: Send + Sync {
    fn settings(&self) -> RoomSettings;
    fn authorize<'a>(&'a self, request: &'a AuthRequest) -> BoxFuture<'a, Result<AnyAuth, Refusal>>;
    /// Makes a room, starts its task and enters it into the registry.
    fn create(
        &self,
        shared: &Arc<Shared>,
        name: &Arc<str>,
        filter: String,
        options: &Value,
    ) -> Result<Arc<Entry>, Refusal>;
}

impl<D: Definition> AnyDefinition for D {
    fn settings(&self) -> RoomSettings {
        Definition::settings(self)
    }

    fn authorize<'a>(&'a self, request: &'a AuthRequest) -> BoxFuture<'a, Result<AnyAuth, Refusal>> {
        Box::pin(async move {
            let auth = Definition::authorize(self, request).await?;
            Ok(Box::new(auth) as AnyAuth)
        })
    }

    fn create(
        &self,
        shared: &Arc<Shared>,
        name: &Arc<str>,
        filter: String,
        options: &Value,
    ) -> Result<Arc<Entry>, Refusal> {
        let permit = shared.room_permits.clone().try_acquire_owned().map_err(|_| Refusal::at_capacity())?;
        let (sender, mailbox) = mpsc::channel(shared.config.mailbox);
        let id = RoomId::random();
        let entry = shared.registry.entry(id, name, filter, Box::new(sender.clone()));
        let handle = RoomHandle::new(id, sender);
        let settings = Definition::settings(self);
        let mut core = Core::new(handle, entry.clone(), shared.clone(), settings.max_clients);
        let made =
            catch_unwind(AssertUnwindSafe(|| Definition::create(self, &mut Cx::new(&mut core), options)));
        let room = made.unwrap_or_else(|_| {
            tracing::error!(%name, "a definition panicked while it created a room");
            count(&shared.counters.rooms_failed);
            Err(Refusal::failed())
        })?;
        core.publish();
        shared.registry.insert(&entry);
        count(&shared.counters.rooms_created);
        shared.tasks.spawn(Actor { room, core, mailbox, permit }.run());
        // A shutdown that began meanwhile may not have seen this room.
        if shared.is_closing() {
            // The mailbox is new, and a room that is gone needs no telling.
            let _ = entry.link.try_send(Control::Shutdown);
        }
        Ok(entry)
    }
}
