//! Retained versions of policies (§4 "Agent sessions", §11). A commander has one library, which all its lanes share, so
//! that its versions are one sequence whatever role they were made for. An agent without a name has a library for as
//! long as it holds its seat.
//!
//! A library keeps code and hands it back. It never decides who may activate what, and it never grows past its bounds.

use crate::policy::{Artifact, runtime_name};
use crate::{CallError, Code};
use playerthree_game::Name;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Versions that a library keeps for a rollback. The oldest that is active nowhere goes first.
pub const VERSIONS_KEPT: usize = 8;

/// Bytes of code that a library keeps. Past it the oldest version that is active nowhere goes.
pub const LIBRARY_BYTES: usize = 2 << 20;

/// Bytes of code in all libraries of one [`Shelf`]. Past it nothing new is kept: `busy`.
pub const SHELF_BYTES: usize = 256 << 20;

/// What the libraries of many commanders share: how much code they keep together.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<AtomicUsize>);

impl Shelf {
    fn take(&self, bytes: usize) -> Option<Shelved> {
        let fits = |used: usize| used.checked_add(bytes).filter(|used| *used <= SHELF_BYTES);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Shelved { shelf: self.clone(), bytes })
    }
}

/// Room on a shelf, until it is dropped.
#[derive(Debug)]
struct Shelved {
    shelf: Shelf,
    bytes: usize,
}

impl Drop for Shelved {
    fn drop(&mut self) {
        self.shelf.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// An artifact as it was stored: its code and the surface that it was made for (§20.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The code.
    pub(crate) artifact: Artifact,
    /// The surface hash of the host that took it.
    pub(crate) surface: Arc<str>,
    /// The artifact hash, computed when it was taken (§20.10.1).
    pub(crate) hash: Arc<str>,
}

impl Stored {
    pub(crate) fn new(artifact: Artifact, surface: &str) -> Self {
        let hash = artifact.hash().into();
        Self { artifact, surface: surface.into(), hash }
    }
}

#[derive(Debug)]
struct Kept {
    number: u32,
    stored: Stored,
    room: Shelved,
}

#[derive(Debug, Default)]
struct Versions {
    shelf: Shelf,
    kept: VecDeque<Kept>,
    last: u32,
    /// The version that plays for each role.
    active: BTreeMap<Name, u32>,
    approvals_made: u64,
}

/// The versions of one commander, or of one nameless agent's hold of a seat. A clone is the same library.
#[derive(Clone, Debug, Default)]
pub struct Library(Arc<Mutex<Versions>>);

impl PartialEq for Library {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Library {
    /// An empty library whose code counts toward this shelf.
    pub fn on(shelf: &Shelf) -> Self {
        Self(Arc::new(Mutex::new(Versions { shelf: shelf.clone(), ..Versions::default() })))
    }

    /// The number that the next version gets.
    pub(crate) fn next_version(&self) -> u32 {
        self.versions().last + 1
    }

    /// Names an approval request. No two of a library share a name, wherever they were made.
    pub(crate) fn next_approval(&self) -> String {
        let mut versions = self.versions();
        versions.approvals_made += 1;
        format!("ap_{}", versions.approvals_made)
    }

    /// Keeps a new version and makes it the active one of a role. Fails `approval_failed` where a pinned number is not
    /// the next one any more, `busy` where the shelf is full.
    pub(crate) fn add(&self, role: &Name, stored: Stored, pinned: Option<u32>) -> Result<u32, CallError> {
        let mut versions = self.versions();
        let number = versions.last + 1;
        if pinned.is_some_and(|pinned| pinned != number) {
            return Err(Code::ApprovalFailed.into());
        }
        let room = versions.shelf.take(stored.artifact.code.len()).ok_or(Code::Busy)?;
        versions.last = number;
        versions.kept.push_back(Kept { number, stored, room });
        versions.active.insert(role.clone(), number);
        versions.bound();
        Ok(number)
    }

    /// Makes a retained version the active one of a role. Fails `invalid` for one that is not kept.
    pub(crate) fn activate(&self, role: &Name, number: u32) -> Result<(), CallError> {
        let mut versions = self.versions();
        if !versions.kept.iter().any(|kept| kept.number == number) {
            return Err(Code::Invalid.into());
        }
        versions.active.insert(role.clone(), number);
        Ok(())
    }

    /// A retained version.
    pub(crate) fn version(&self, number: u32) -> Option<Stored> {
        let versions = self.versions();
        versions.kept.iter().find(|kept| kept.number == number).map(|kept| kept.stored.clone())
    }

    /// The active version of a role, and its number.
    pub(crate) fn active(&self, role: &str) -> Option<(u32, Stored)> {
        let number = *self.versions().active.get(role)?;
        Some((number, self.version(number)?))
    }

    /// `{versions: [{version, runtime, bytes, artifactHash}], active: {role: version}}`, for the library's owner to choose
    /// from: no code.
    pub(crate) fn to_json(&self) -> Value {
        let versions = self.versions();
        let listed = |kept: &Kept| {
            let Artifact { runtime, code } = &kept.stored.artifact;
            json!({
                "version": kept.number,
                "runtime": runtime_name(*runtime),
                "bytes": code.len(),
                "artifactHash": *kept.stored.hash,
            })
        };
        json!({
            "versions": versions.kept.iter().map(listed).collect::<Vec<_>>(),
            "active": versions.active,
        })
    }

    fn versions(&self) -> MutexGuard<'_, Versions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Versions {
    /// Drops the oldest versions that are active nowhere until the library is within its bounds.
    fn bound(&mut self) {
        let bytes = |versions: &Self| versions.kept.iter().map(|kept| kept.room.bytes).sum::<usize>();
        while self.kept.len() > VERSIONS_KEPT || bytes(self) > LIBRARY_BYTES {
            let idle = |kept: &Kept| !self.active.values().any(|active| *active == kept.number);
            let Some(oldest) = self.kept.iter().position(idle) else { return };
            self.kept.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playerthree_game::Runtime;

    fn of_bytes(bytes: usize) -> Stored {
        let artifact = Artifact { runtime: Runtime::Js, code: vec![b' '; bytes].into() };
        Stored::new(artifact, "hash")
    }

    fn kept(library: &Library) -> Vec<u32> {
        library.versions().kept.iter().map(|kept| kept.number).collect()
    }

    #[test]
    fn the_oldest_versions_go_but_for_those_that_play() {
        let library = Library::default();
        let (air, ground) = (Name::from("air"), Name::from("ground"));
        library.add(&air, of_bytes(1), None).unwrap();
        for _ in 0..VERSIONS_KEPT + 2 {
            library.add(&ground, of_bytes(1), None).unwrap();
        }
        assert_eq!(kept(&library), [1, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(library.active("air").unwrap().0, 1);
        assert_eq!(library.active("ground").unwrap().0, 11);
    }

    #[test]
    fn a_library_and_its_shelf_are_bounded_in_bytes() {
        let shelf = Shelf::default();
        let library = Library::on(&shelf);
        let role = Name::from("air");
        for _ in 0..4 {
            library.add(&role, of_bytes(LIBRARY_BYTES / 2), None).unwrap();
        }
        assert_eq!(kept(&library), [3, 4]);
        assert_eq!(shelf.0.load(Ordering::Relaxed), LIBRARY_BYTES);
        let full = shelf.take(SHELF_BYTES - LIBRARY_BYTES).unwrap();
        assert_eq!(library.add(&role, of_bytes(1), None).unwrap_err().code, Code::Busy);
        assert_eq!(kept(&library), [3, 4]);
        drop(full);
        assert_eq!(library.add(&role, of_bytes(1), None).unwrap(), 5);
        drop(library);
        assert_eq!(shelf.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_pinned_number_is_taken_only_while_it_is_the_next_one() {
        let library = Library::default();
        let role = Name::from("air");
        assert_eq!(library.add(&role, of_bytes(1), Some(1)).unwrap(), 1);
        assert_eq!(library.add(&role, of_bytes(1), Some(1)).unwrap_err().code, Code::ApprovalFailed);
        assert_eq!(library.next_version(), 2);
    }
}
