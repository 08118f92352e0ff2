//! The directory of inboxes: which exist, which are open, and how both are found again at start.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use crate::inbox::Inbox;
use crate::meta::Meta;

/// Which inboxes exist, and those that are open.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) expiry: HashMap<String, u64>,
    pub(crate) open: HashMap<String, Arc<Inbox>>,
    /// Inbox of each pairing code by its handle.
    pub(crate) handles: HashMap<String, String>,
    /// Inboxes of each caller of the tools, by the digest of its name.
    pub(crate) held: HashMap<String, BTreeSet<String>>,
}

impl Known {
    /// Closes an idle inbox when as many are open as may be; whether there is room now. An inbox is idle when nobody
    /// holds it: callers, feeds and waiting posts all do.
    pub(crate) fn make_room(&mut self, bound: usize) -> bool {
        if self.open.len() < bound {
            return true;
        }
        let idle =
            self.open.iter().find(|(_, inbox)| Arc::strong_count(inbox) == 1).map(|(id, _)| id.clone());
        idle.is_some_and(|id| self.open.remove(&id).is_some())
    }
}

/// Reads a directory. An inbox whose file is damaged is left out, and its files are left alone.
pub(crate) fn find_inboxes(dir: &Path) -> io::Result<Known> {
    let mut known = Known::default();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let Ok(meta) = Meta::load(&path) else {
                tracing::error!("an inbox is left out because its file is damaged");
                continue;
            };
            known.handles.extend(meta.codes.iter().map(|code| (code.handle.clone(), meta.id.clone())));
            for holder in meta.seats.iter().filter_map(|seat| seat.holder.clone()) {
                known.held.entry(holder).or_default().insert(meta.id.clone());
            }
            known.expiry.insert(meta.id, meta.expires_ms);
        }
    }
    Ok(known)
}

/// Deletes a file that may be gone already.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
