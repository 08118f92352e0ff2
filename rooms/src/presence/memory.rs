//! Presence that stays within this process: topics as broadcast channels, keys in one bounded store.

use super::store::{Held, Store, cost};
use super::{End, Pending, Presence, PresenceError, Subscription};
use crate::sync::lock;
use bytes::Bytes;
use dashmap::DashMap;
use futures_util::future::ready;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::Instant;

/// Messages that wait for the slowest subscriber of a topic before it misses the oldest.
const TOPIC_QUEUE: usize = 1_024;

/// Bytes that the keys and values of a [`MemoryPresence`] may take by default.
const DEFAULT_BYTES: usize = 64 << 20;

/// Presence within this process.
pub struct MemoryPresence {
    topics: Arc<DashMap<String, broadcast::Sender<Bytes>>>,
    store: Mutex<Store>,
}

impl Default for MemoryPresence {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_BYTES)
    }
}

impl MemoryPresence {
    /// One whose keys and values take at most about that many bytes. Beyond: [`PresenceError::Full`].
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self { topics: Arc::default(), store: Mutex::new(Store::new(bytes)) }
    }

    fn with<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Store) -> Result<T, PresenceError>,
    ) -> Pending<'static, T> {
        let mut store = lock(&self.store);
        store.expire(Instant::now());
        Box::pin(ready(operation(&mut store)))
    }
}

impl Presence for MemoryPresence {
    fn publish(&self, topic: &str, message: Bytes) {
        if let Some(sender) = self.topics.get(topic) {
            // Where the last subscriber just left, nobody misses it.
            let _ = sender.send(message);
        }
    }

    fn subscribe(&self, topic: &str) -> Pending<'_, Subscription> {
        let sender = self.topics.entry(topic.to_owned()).or_insert_with(|| broadcast::channel(TOPIC_QUEUE).0);
        let receiver = sender.subscribe();
        drop(sender);
        let (topics, topic) = (self.topics.clone(), topic.to_owned());
        let end = End(Box::new(move || {
            topics.remove_if(&topic, |_, sender| sender.receiver_count() == 0);
        }));
        Box::pin(ready(Ok(Subscription { receiver, _end: Some(end) })))
    }

    fn set(&self, key: &str, value: Bytes, expiry: Option<Duration>) -> Pending<'_, ()> {
        self.with(|store| {
            let until = expiry.map(|expiry| Instant::now() + expiry);
            store.put(key, value, until)
        })
    }

    fn get(&self, key: &str) -> Pending<'_, Option<Bytes>> {
        self.with(|store| match store.held(key) {
            None => Ok(None),
            Some(Held::Value(value)) => Ok(Some(value.clone())),
            Some(Held::Set(_) | Held::Hash(_)) => Err(PresenceError::WrongKind),
        })
    }

    fn remove(&self, key: &str) -> Pending<'_, ()> {
        self.with(|store| {
            store.take(key);
            Ok(())
        })
    }

    fn add(&self, key: &str, amount: i64) -> Pending<'_, i64> {
        self.with(|store| {
            let sum = match store.held(key) {
                None => amount,
                Some(Held::Value(value)) => {
                    let count = str::from_utf8(value).ok().and_then(|count| count.parse::<i64>().ok());
                    count.ok_or(PresenceError::WrongKind)?.saturating_add(amount)
                }
                Some(Held::Set(_) | Held::Hash(_)) => return Err(PresenceError::WrongKind),
            };
            let until = store.keys.get(key).and_then(|entry| entry.until);
            store.put(key, sum.to_string().into(), until)?;
            Ok(sum)
        })
    }

    fn set_insert(&self, key: &str, member: &str) -> Pending<'_, bool> {
        let bytes = cost(member, 0);
        self.with(|store| {
            store.change(key, bytes, Held::set, |held| {
                let is_new = held.as_set()?.insert(member.to_owned());
                Ok((is_new, if is_new { bytes } else { 0 }, 0))
            })
        })
    }

    fn set_remove(&self, key: &str, member: &str) -> Pending<'_, bool> {
        self.with(|store| {
            store.change(key, 0, Held::set, |held| {
                let was_in = held.as_set()?.remove(member);
                Ok((was_in, 0, if was_in { cost(member, 0) } else { 0 }))
            })
        })
    }

    fn set_members(&self, key: &str) -> Pending<'_, BTreeSet<String>> {
        self.with(|store| match store.held(key) {
            None => Ok(BTreeSet::new()),
            Some(Held::Set(members)) => Ok(members.clone()),
            Some(Held::Value(_) | Held::Hash(_)) => Err(PresenceError::WrongKind),
        })
    }

    fn hash_set(&self, key: &str, field: &str, value: Bytes) -> Pending<'_, ()> {
        let bytes = cost(field, value.len());
        self.with(|store| {
            store.change(key, bytes, Held::hash, |held| {
                let before = held.as_hash()?.insert(field.to_owned(), value);
                Ok(((), bytes, before.map_or(0, |before| cost(field, before.len()))))
            })
        })
    }

    fn hash_get(&self, key: &str, field: &str) -> Pending<'_, Option<Bytes>> {
        self.with(|store| match store.held(key) {
            None => Ok(None),
            Some(Held::Hash(fields)) => Ok(fields.get(field).cloned()),
            Some(Held::Value(_) | Held::Set(_)) => Err(PresenceError::WrongKind),
        })
    }

    fn hash_remove(&self, key: &str, field: &str) -> Pending<'_, bool> {
        self.with(|store| {
            store.change(key, 0, Held::hash, |held| {
                let before = held.as_hash()?.remove(field);
                let freed = before.as_ref().map_or(0, |before| cost(field, before.len()));
                Ok((before.is_some(), 0, freed))
            })
        })
    }

    fn hash_all(&self, key: &str) -> Pending<'_, BTreeMap<String, Bytes>> {
        self.with(|store| match store.held(key) {
            None => Ok(BTreeMap::new()),
            Some(Held::Hash(fields)) => Ok(fields.clone()),
            Some(Held::Value(_) | Held::Set(_)) => Err(PresenceError::WrongKind),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::ENTRY_BYTES;
    use super::*;
    use crate::presence::Delivery;

    fn bytes(text: &str) -> Bytes {
        Bytes::copy_from_slice(text.as_bytes())
    }

    #[tokio::test]
    async fn a_topic_reaches_its_subscribers_and_is_gone_with_the_last() {
        let presence = MemoryPresence::default();
        presence.publish("a", bytes("nobody hears this"));
        let mut one = presence.subscribe("a").await.unwrap();
        let mut two = presence.subscribe("a").await.unwrap();
        presence.publish("a", bytes("1"));
        presence.publish("b", bytes("elsewhere"));
        presence.publish("a", bytes("2"));
        for subscription in [&mut one, &mut two] {
            assert_eq!(subscription.next().await, Some(Delivery::Message(bytes("1"))));
            assert_eq!(subscription.next().await, Some(Delivery::Message(bytes("2"))));
        }
        drop(one);
        assert_eq!(presence.topics.len(), 1);
        drop(two);
        assert!(presence.topics.is_empty());
    }

    #[tokio::test]
    async fn a_slow_subscriber_hears_how_much_it_missed() {
        let presence = MemoryPresence::default();
        let mut slow = presence.subscribe("a").await.unwrap();
        for number in 0..TOPIC_QUEUE + 3 {
            presence.publish("a", bytes(&number.to_string()));
        }
        assert_eq!(slow.next().await, Some(Delivery::Missed(3)));
        assert_eq!(slow.next().await, Some(Delivery::Message(bytes("3"))));
    }

    #[tokio::test(start_paused = true)]
    async fn keys_expire_and_nothing_of_them_stays() {
        let presence = MemoryPresence::default();
        let second = Duration::from_secs(1);
        presence.set("k", bytes("v"), Some(second)).await.unwrap();
        presence.set("stays", bytes("v"), Some(second)).await.unwrap();
        presence.set("stays", bytes("w"), None).await.unwrap();
        assert_eq!(presence.get("k").await, Ok(Some(bytes("v"))));
        tokio::time::advance(second).await;
        assert_eq!(presence.get("k").await, Ok(None));
        assert_eq!(presence.get("stays").await, Ok(Some(bytes("w"))));
        presence.remove("stays").await.unwrap();
        let store = lock(&presence.store);
        assert_eq!((store.used, store.keys.len(), store.expiries.len()), (0, 0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn counts_add_up_and_keep_their_expiry() {
        let presence = MemoryPresence::default();
        assert_eq!(presence.add("n", 5).await, Ok(5));
        assert_eq!(presence.add("n", -7).await, Ok(-2));
        assert_eq!(presence.get("n").await, Ok(Some(bytes("-2"))));
        assert_eq!(presence.add("n", i64::MIN).await, Ok(i64::MIN));
        presence.set("n", bytes("1"), Some(Duration::from_secs(1))).await.unwrap();
        assert_eq!(presence.add("n", 1).await, Ok(2));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(presence.get("n").await, Ok(None));
        presence.set("n", bytes("no number"), None).await.unwrap();
        assert_eq!(presence.add("n", 1).await, Err(PresenceError::WrongKind));
    }

    #[tokio::test]
    async fn sets_and_hashes_hold_members_and_go_with_the_last() {
        let presence = MemoryPresence::default();
        assert_eq!(presence.set_insert("s", "a").await, Ok(true));
        assert_eq!(presence.set_insert("s", "a").await, Ok(false));
        assert_eq!(presence.set_members("s").await, Ok(BTreeSet::from(["a".to_owned()])));
        assert_eq!(presence.hash_set("s", "f", bytes("v")).await, Err(PresenceError::WrongKind));
        assert_eq!(presence.get("s").await, Err(PresenceError::WrongKind));
        assert_eq!(presence.set_remove("s", "b").await, Ok(false));
        assert_eq!(presence.set_remove("s", "a").await, Ok(true));
        presence.hash_set("h", "f", bytes("v")).await.unwrap();
        presence.hash_set("h", "f", bytes("w")).await.unwrap();
        assert_eq!(presence.hash_get("h", "f").await, Ok(Some(bytes("w"))));
        assert_eq!(presence.hash_all("h").await, Ok(BTreeMap::from([("f".to_owned(), bytes("w"))])));
        assert_eq!(presence.hash_remove("h", "f").await, Ok(true));
        assert_eq!(presence.hash_remove("h", "f").await, Ok(false));
        assert_eq!(lock(&presence.store).used, 0);
    }

    #[tokio::test]
    async fn a_full_store_takes_no_more_and_keeps_what_it_has() {
        let presence = MemoryPresence::with_capacity(2 * (ENTRY_BYTES + 2));
        presence.set("a", bytes("1"), None).await.unwrap();
        presence.set("b", bytes("2"), None).await.unwrap();
        assert_eq!(presence.set("c", bytes("3"), None).await, Err(PresenceError::Full));
        assert_eq!(presence.set("a", bytes("12"), None).await, Err(PresenceError::Full));
        assert_eq!(presence.get("a").await, Ok(Some(bytes("1"))));
        presence.remove("b").await.unwrap();
        assert_eq!(presence.set_insert("s", &"x".repeat(1_000)).await, Err(PresenceError::Full));
        assert_eq!(presence.set_members("s").await, Ok(BTreeSet::new()));
    }
}
