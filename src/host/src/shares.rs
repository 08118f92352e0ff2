//! Who has how much of what many share: so many things for each of many, counted until they are given back.
//!
//! Nobody is remembered who has nothing.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much each of many has. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Shares<K>(Arc<Mutex<HashMap<K, u32>>>);

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K> Shares<K> {
    fn counts(&self) -> MutexGuard<'_, HashMap<K, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> Shares<K> {
    /// One more for this one, who may have so many.
    pub(crate) fn take(&self, of: K, most: u32) -> Option<Share<K>> {
        let mut counts = self.counts();
        let count = counts.get(&of).copied().unwrap_or_default();
        if count >= most {
            return None;
        }
        counts.insert(of.clone(), count + 1);
        Some(Share { shares: self.clone(), of })
    }
}

/// One thing of somebody's, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share<K: Eq + Hash> {
    shares: Shares<K>,
    of: K,
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut counts = self.shares.counts();
        if let Some(count) = counts.get_mut(&self.of) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_share_and_whoever_gave_back_everything_is_forgotten() {
        let shares = Shares::default();
        let (first, second) = (shares.take("ann", 2).unwrap(), shares.take("ann", 2).unwrap());
        assert!(shares.take("ann", 2).is_none());
        assert!(shares.take("bob", 1).is_some());
        drop(first);
        drop(shares.take("ann", 2).unwrap());
        drop(second);
        assert!(shares.counts().is_empty());
    }
}
