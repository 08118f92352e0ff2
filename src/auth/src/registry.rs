//! Dynamic registrations (RFC 7591). Anybody may register, so what nobody approves is soon forgotten, and a flood
//! pushes out registrations of its own kind: of the address that has most, while one that an owner approved stays for as
//! long as it is used.

use crate::client::Client;
use crate::fault::Fault;
use playerthree_host::Token;
use playerthree_rooms::Source;
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Most registrations at once.
pub(crate) const CLIENTS_MAX: usize = 4_096;

/// How long a registration waits for an owner's approval.
pub(crate) const UNAPPROVED: Duration = Duration::from_secs(3_600);

/// How long an approved registration is kept after it was last approved: as long as a refresh token.
const APPROVED: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Longest registration, in bytes.
pub(crate) const REGISTRATION_BYTES: usize = 8_192;

struct Registered {
    client: Arc<Client>,
    until: Instant,
    standing: Standing,
}

/// What keeps a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing yet: it waits for an owner, and came from there.
    Pending(Source),
    /// An owner approved it.
    Approved,
}

/// The registered clients.
#[derive(Default)]
pub(crate) struct Registry(HashMap<String, Registered>);

impl Registry {
    /// Registers a client. Fails for metadata out of bounds, and `temporarily_unavailable` where every registration is an
    /// approved one.
    pub(crate) fn register(
        &mut self,
        metadata: &Map<String, Value>,
        source: Source,
        now: Instant,
    ) -> Result<Arc<Client>, Fault> {
        let id = format!("dcr_{}", Token::mint().0.reveal());
        let client = Arc::new(Client::parse(id.clone(), None, metadata)?);
        self.make_room(now)?;
        let until = now + UNAPPROVED;
        let standing = Standing::Pending(source);
        self.0.insert(id, Registered { client: Arc::clone(&client), until, standing });
        Ok(client)
    }

    /// A client that is registered still.
    pub(crate) fn find(&self, id: &str, now: Instant) -> Option<Arc<Client>> {
        self.0.get(id).filter(|registered| now < registered.until).map(|it| Arc::clone(&it.client))
    }

    /// An owner approved the client.
    pub(crate) fn approve(&mut self, id: &str, now: Instant) {
        if let Some(registered) = self.0.get_mut(id) {
            registered.standing = Standing::Approved;
            registered.until = now + APPROVED;
        }
    }

    fn make_room(&mut self, now: Instant) -> Result<(), Fault> {
        if self.0.len() < CLIENTS_MAX {
            return Ok(());
        }
        self.0.retain(|_, registered| now < registered.until);
        let room = CLIENTS_MAX.saturating_sub(self.0.len());
        // Dropping a tenth at once keeps the scan rare however fast registrations come.
        for id in self.pending().into_iter().take((CLIENTS_MAX / 10).saturating_sub(room)) {
            self.0.remove(&id);
        }
        if self.0.len() < CLIENTS_MAX { Ok(()) } else { Err(Fault::TemporarilyUnavailable) }
    }

    /// The registrations that nobody approved, in the order in which they make room: each counts how many newer ones came from
    /// where it did, and those with the highest counts go first.
    fn pending(&self) -> Vec<String> {
        let mut newest_first: Vec<(Instant, Source, &String)> = self
            .0
            .iter()
            .filter_map(|(id, registered)| match registered.standing {
                Standing::Pending(source) => Some((registered.until, source, id)),
                Standing::Approved => None,
            })
            .collect();
        newest_first.sort_unstable_by_key(|(until, ..)| Reverse(*until));
        let mut newer: HashMap<Source, usize> = HashMap::new();
        let mut counted: Vec<(usize, Instant, &String)> = newest_first
            .into_iter()
            .map(|(until, source, id)| {
                let count = newer.entry(source).or_default();
                *count += 1;
                (*count, until, id)
            })
            .collect();
        counted.sort_unstable_by_key(|(count, until, _)| (Reverse(*count), *until));
        counted.into_iter().map(|(.., id)| id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::net::IpAddr;

    fn metadata() -> Map<String, Value> {
        json!({ "redirect_uris": ["http://127.0.0.1/cb"] }).as_object().unwrap().clone()
    }

    fn from(last: u8) -> Source {
        Source::of(Some(IpAddr::from([192, 0, 2, last])))
    }

    fn register_from(registry: &mut Registry, source: Source, now: Instant) -> String {
        registry.register(&metadata(), source, now).unwrap().id.clone()
    }

    fn register(registry: &mut Registry, now: Instant) -> String {
        register_from(registry, from(1), now)
    }

    /// §5 and RFC 7591: a flood stays within the bound, and pushes out nothing that an owner approved.
    #[tokio::test(start_paused = true)]
    async fn a_flood_is_bounded_and_leaves_approved_clients_alone() {
        let mut registry = Registry::default();
        let now = Instant::now();
        let approved = register(&mut registry, now);
        registry.approve(&approved, now);
        let first = register(&mut registry, now);
        for _ in 0..10_000 {
            let now = Instant::now();
            let id = register(&mut registry, now);
            assert!(registry.find(&id, now).is_some(), "the newest is always there");
            assert!(registry.0.len() <= CLIENTS_MAX);
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        let now = Instant::now();
        assert!(registry.find(&approved, now).is_some());
        assert!(registry.find(&first, now).is_none());
    }

    /// Field report: a flood of one address, or of a hundred, leaves a client of another one time for its owner.
    #[tokio::test(start_paused = true)]
    async fn a_flood_pushes_out_its_own_registrations_first() {
        for flooding in [1, 100] {
            let mut registry = Registry::default();
            let honest = register_from(&mut registry, from(200), Instant::now());
            let mut last = None;
            for flood in 0..10_000_u32 {
                tokio::time::advance(Duration::from_millis(1)).await;
                let source = from(u8::try_from(flood % flooding).unwrap());
                last = Some(register_from(&mut registry, source, Instant::now()));
            }
            let now = Instant::now();
            assert!(registry.find(&honest, now).is_some(), "{flooding} addresses");
            assert!(registry.find(&last.unwrap(), now).is_some());
            assert!(registry.0.len() <= CLIENTS_MAX);
        }
    }

    #[test]
    fn registrations_that_nobody_approves_expire() {
        let mut registry = Registry::default();
        let now = Instant::now();
        let (idle, approved) = (register(&mut registry, now), register(&mut registry, now));
        registry.approve(&approved, now);
        let later = now + UNAPPROVED;
        assert!(registry.find(&idle, later).is_none());
        assert!(registry.find(&approved, later).is_some());
        assert!(registry.find(&approved, now + APPROVED).is_none());
    }

    #[test]
    fn a_store_of_approved_clients_takes_no_more() {
        let mut registry = Registry::default();
        let now = Instant::now();
        for _ in 0..CLIENTS_MAX {
            let id = register(&mut registry, now);
            registry.approve(&id, now);
        }
        assert_eq!(registry.register(&metadata(), from(1), now), Err(Fault::TemporarilyUnavailable));
    }
}
