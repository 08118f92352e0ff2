//! What the policies of all matches of a process share: the places for their instances, who answers for them, and the pools
//! that they are published in.
//!
//! Nobody's policies may ever keep everybody else's from running: each owner has a share of the places, and whoever's
//! policies keep costing workers is refused for a while.

use crate::pools::Pools;
use crate::practice::{OWNER_PRACTICES, PRACTICE_PLACES, Principal};
use crate::shares::{Share, Shares};
use dashmap::DashMap;
use playerthree_game::Seat;
use playerthree_sandbox as sandbox;
use playerthree_session::OwnerId;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most policy instances of one process, those on trial included. Each may take its memory limit.
pub const POLICY_PLACES: usize = 256;

/// Most policy instances of one owner, those on trial included: an eighth of the process's.
pub const OWNER_PLACES: u32 = 32;

/// Calls that may cost a worker for one owner within [`BLAME_WINDOW`] before their policies are refused: calls that ran out
/// of time, and engines that broke. Each of them has cost a worker process, or a thread that runs on for a while.
pub const BLAME_MAX: usize = 8;

/// How long a call that cost a worker counts against its owner.
pub const BLAME_WINDOW: Duration = Duration::from_secs(600);

/// Owners remembered. Past it the one blamed longest ago is forgotten.
const BLAMED_MAX: usize = 4_096;

/// Everything that the policies of a process share. Clones share it too.
#[derive(Clone, Debug)]
pub struct PolicyPlaces {
    places: Arc<Semaphore>,
    shares: Shares<OwnerId>,
    workers: sandbox::Workers,
    /// Workers of practices, which are started by threads that everything else goes before.
    practice_workers: sandbox::Workers,
    practice_places: Arc<Semaphore>,
    practising: Shares<Principal>,
    practice_shares: Shares<OwnerId>,
    /// The owners whose policies run or hang. Whoever has none is forgotten when the next one comes.
    tenants: Arc<DashMap<OwnerId, sandbox::Tenant>>,
    blamed: Arc<Mutex<HashMap<OwnerId, Vec<Instant>>>>,
    pools: Pools,
    /// What the seeds of policies are drawn with: nobody outside of this process knows it.
    dice: RandomState,
}

/// One policy instance's or practice's place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _place: OwnedSemaphorePermit,
    _share: Share<OwnerId>,
}

impl PolicyPlaces {
    /// So many places, whose scripts run in these workers.
    pub fn new(places: usize, workers: sandbox::Workers) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            shares: Shares::default(),
            practice_workers: workers.in_background(),
            workers,
            practice_places: Arc::new(Semaphore::new(PRACTICE_PLACES)),
            practising: Shares::default(),
            practice_shares: Shares::default(),
            tenants: Arc::default(),
            blamed: Arc::default(),
            pools: Pools::default(),
            dice: RandomState::new(),
        }
    }

    /// The pools of every game.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    /// A place for a policy of this owner, unless every one is taken, or as many as they may have.
    pub(crate) fn take(&self, owner: &OwnerId) -> Option<Place> {
        let share = self.shares.take(owner.clone(), OWNER_PLACES)?;
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some(Place { _place: place, _share: share })
    }

    /// A place for a practice of this owner, unless every one is taken, or as many as they may have.
    pub(crate) fn take_practice(&self, owner: &OwnerId) -> Option<Place> {
        let share = self.practice_shares.take(owner.clone(), OWNER_PRACTICES)?;
        let place = Arc::clone(&self.practice_places).try_acquire_owned().ok()?;
        Some(Place { _place: place, _share: share })
    }

    /// Workers for what this owner answers for.
    pub(crate) fn workers(&self, owner: &OwnerId) -> sandbox::Workers {
        self.workers.on_behalf_of(&self.tenant(owner))
    }

    /// Workers for this owner's practices.
    pub(crate) fn practice_workers(&self, owner: &OwnerId) -> sandbox::Workers {
        self.practice_workers.on_behalf_of(&self.tenant(owner))
    }

    fn tenant(&self, owner: &OwnerId) -> sandbox::Tenant {
        if let Some(tenant) = self.tenants.get(owner) {
            return tenant.clone();
        }
        self.tenants.retain(|_, tenant| !tenant.is_idle());
        self.tenants.entry(owner.clone()).or_default().clone()
    }

    /// The seed of `Math.random` of the policies that play a seat for its holder: the same for each instance of one, so that a
    /// restart is no new throw of the dice, and nothing that a rival could compute, or find out by drafting the policy.
    pub(crate) fn seed(&self, match_seed: u32, seat: &Seat, holder: &OwnerId) -> u64 {
        self.dice.hash_one((match_seed, seat, holder))
    }

    /// The practices under way, over all matches of the process.
    pub(crate) fn practising(&self) -> &Shares<Principal> {
        &self.practising
    }

    /// A policy of this owner cost a worker.
    pub(crate) fn blame(&self, owner: &OwnerId) {
        let now = Instant::now();
        let mut blamed = self.blamed.lock().unwrap_or_else(PoisonError::into_inner);
        if blamed.len() >= BLAMED_MAX && !blamed.contains_key(owner) {
            let oldest =
                blamed.iter().min_by_key(|(_, times)| times.last().copied()).map(|(owner, _)| owner.clone());
            oldest.map(|oldest| blamed.remove(&oldest));
        }
        let times = blamed.entry(owner.clone()).or_default();
        times.retain(|at| now.duration_since(*at) < BLAME_WINDOW);
        if times.len() < BLAME_MAX {
            times.push(now);
        }
    }

    /// Whether this owner's policies are refused for now.
    pub(crate) fn is_barred(&self, owner: &OwnerId) -> bool {
        let now = Instant::now();
        let blamed = self.blamed.lock().unwrap_or_else(PoisonError::into_inner);
        let recent =
            |times: &Vec<Instant>| times.iter().filter(|at| now.duration_since(**at) < BLAME_WINDOW).count();
        blamed.get(owner).map_or(0, recent) >= BLAME_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(places: usize) -> PolicyPlaces {
        PolicyPlaces::new(places, sandbox::Workers::of_this_program())
    }

    // §15: bounds for each owner and for all, so that nobody takes every place.
    #[test]
    fn one_owner_takes_a_share_of_the_places() {
        let all = places(POLICY_PLACES);
        let (ann, bob) = (OwnerId("ann".into()), OwnerId("bob".into()));
        let mut anns: Vec<Place> = (0..OWNER_PLACES).map(|_| all.take(&ann).unwrap()).collect();
        assert!(all.take(&ann).is_none());
        assert!(all.take(&bob).is_some());
        anns.pop();
        assert!(all.take(&ann).is_some());

        let one = places(1);
        let anns = one.take(&ann).unwrap();
        assert!(one.take(&bob).is_none(), "every place is taken");
        drop(anns);
        assert!(one.take(&bob).is_some());
    }

    // §13, §15: the same of practices, which are of many commanders and games.
    #[test]
    fn one_owner_takes_a_share_of_the_practices() {
        let all = places(1);
        let (ann, bob) = (OwnerId("ann".into()), OwnerId("bob".into()));
        let mut anns: Vec<Place> = (0..OWNER_PRACTICES).map(|_| all.take_practice(&ann).unwrap()).collect();
        assert!(all.take_practice(&ann).is_none());
        assert!(all.take_practice(&bob).is_some());
        anns.pop();
        assert!(all.take_practice(&ann).is_some());
    }

    // §11: seeded, the same for one seat of one match and for nobody else.
    #[test]
    fn the_dice_of_a_seat_are_its_own() {
        let (here, elsewhere) = (places(1), places(1));
        let (seat, ann) = (Seat::new("red", "ground"), OwnerId("ann".into()));
        let seed = here.seed(7, &seat, &ann);
        assert_eq!(here.seed(7, &seat, &ann), seed);
        let others = [
            here.seed(8, &seat, &ann),
            here.seed(7, &Seat::new("red", "air"), &ann),
            here.seed(7, &seat, &OwnerId("bob".into())),
            elsewhere.seed(7, &seat, &ann),
        ];
        assert!(!others.contains(&seed));
    }

    #[test]
    fn an_owner_without_policies_is_forgotten_when_the_next_one_comes() {
        let places = places(1);
        let (ann, bob) = (OwnerId("ann".into()), OwnerId("bob".into()));
        let held = places.workers(&ann);
        drop(places.workers(&bob));
        drop(places.workers(&OwnerId("cat".into())));
        assert!(places.tenants.contains_key(&ann) && !places.tenants.contains_key(&bob));
        drop(held);
        drop(places.workers(&bob));
        assert!(!places.tenants.contains_key(&ann));
    }
}
