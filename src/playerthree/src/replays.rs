//! The operator's directory of replays (`serve --replays`): one file for each match whose room is gone, the newest of them
//! (§17 "Recent sessions"). They show what every side did, so only the server's own user may read them.

use anyhow::Context as _;
use playerthree_binding::Archive;
use playerthree_session::Replay;
use std::fs::{self, DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, SystemTime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How the names of the files end. Nothing else in the directory is ever touched, but what ends like [`PARTIAL`].
const ENDING: &str = ".replay.json";

/// How the names of files end that are being written.
const PARTIAL: &str = ".replay.json.partial";

/// Files that are kept, the newest.
const FILES_MAX: usize = 50;

/// Bytes that they may take together.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How long one is kept.
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How often the bounds are kept where no match ends, and how old a file is that nobody is writing any more.
const TIDY_EVERY: Duration = Duration::from_secs(60 * 60);

/// Bytes of the replays that wait to be written, about as many as are kept. A room does not wait for the disk: past these,
/// replays are lost and the log says so.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What the smallest replay counts as while it waits, so that a thousand wait at most. All rooms of a server end at once.
const WAITING_BYTES_MIN: usize = 64 * 1024;

/// How long the last writes may take when the server ends.
const FINISH_MAX: Duration = Duration::from_secs(2);

enum Order {
    Keep {
        match_id: String,
        replay: Box<Replay>,
        /// What it takes of [`WAITING_BYTES_MAX`] until it is written.
        _waits: OwnedSemaphorePermit,
    },
    /// Nothing comes after it.
    Finish(SyncSender<()>),
}

/// The directory, written by a thread of its own.
#[derive(Clone, Debug)]
pub(crate) struct Replays {
    /// Bounded by `free`.
    orders: Sender<Order>,
    /// A permit for each byte that may still wait.
    free: Arc<Semaphore>,
}

impl Replays {
    /// Opens the directory, and makes it where there is none.
    pub(crate) fn open(directory: &Path) -> anyhow::Result<Self> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.with_context(|| format!("cannot use {}; choose another directory", directory.display()))?;
        let (orders, to_do) = channel();
        let shelf = Shelf(directory.to_owned());
        std::thread::Builder::new().name("replays".into()).spawn(move || shelf.serve(&to_do))?;
        Ok(Self { orders, free: Arc::new(Semaphore::new(WAITING_BYTES_MAX)) })
    }

    /// Waits until what came before is written. It blocks, for [`FINISH_MAX`] at most.
    pub(crate) fn finish(&self) {
        let (done, finished) = sync_channel(1);
        let asked = self.orders.send(Order::Finish(done)).is_ok();
        if !asked || finished.recv_timeout(FINISH_MAX).is_err() {
            tracing::warn!("some replays were not written in time");
        }
    }

    /// Hands a replay to the thread. Nothing, where too many wait.
    fn order(&self, match_id: &str, replay: Replay) -> Option<()> {
        let bytes = u32::try_from(replay.weight().max(WAITING_BYTES_MIN)).ok()?;
        let waits = Arc::clone(&self.free).try_acquire_many_owned(bytes).ok()?;
        let keep = Order::Keep { match_id: match_id.to_owned(), replay: Box::new(replay), _waits: waits };
        self.orders.send(keep).ok()
    }
}

impl Archive for Replays {
    fn keep(&self, match_id: &str, replay: Replay) {
        if self.order(match_id, replay).is_none() {
            tracing::warn!(match_id, "a replay is lost: too many wait to be written");
        }
    }
}

struct Shelf(PathBuf);

impl Shelf {
    /// Terminates with the order to finish, or when nobody can give one any more.
    fn serve(&self, orders: &Receiver<Order>) {
        loop {
            if let Err(error) = self.prune() {
                tracing::error!("the replays could not be pruned: {error}");
            }
            match orders.recv_timeout(TIDY_EVERY) {
                Ok(Order::Keep { match_id, replay, .. }) => {
                    if let Err(error) = self.write(&match_id, &replay.to_text()) {
                        tracing::error!(match_id, "a replay could not be kept: {error}");
                    }
                }
                Ok(Order::Finish(done)) => {
                    _ = done.send(());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Writes a whole file or none.
    fn write(&self, match_id: &str, text: &str) -> std::io::Result<()> {
        let partial = self.0.join(format!("{match_id}{PARTIAL}"));
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, self.0.join(format!("{match_id}{ENDING}")))
    }

    /// Deletes the oldest replays until the rest keep every bound, and what a server left half written. What cannot be
    /// deleted keeps nothing else from it; the last such fault is the answer.
    fn prune(&self) -> std::io::Result<()> {
        let now = SystemTime::now();
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        let mut gone: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&self.0)?.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let Ok(modified) = metadata.modified() else { continue };
            let name = entry.file_name();
            if name.as_encoded_bytes().ends_with(ENDING.as_bytes()) {
                kept.push((modified, metadata.len(), entry.path()));
            } else if name.as_encoded_bytes().ends_with(PARTIAL.as_bytes()) && modified < now - TIDY_EVERY {
                gone.push(entry.path());
            }
        }
        kept.sort_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
        let mut bytes = 0;
        for (place, (modified, length, path)) in kept.into_iter().enumerate() {
            bytes += length;
            if place >= FILES_MAX || bytes > BYTES_MAX || modified < now - AGE_MAX {
                gone.push(path);
            }
        }
        let deleted: Vec<_> = gone.into_iter().map(fs::remove_file).collect();
        deleted.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playerthree_session::{Config, Match, Surface};
    use playerthree_tic_tac_toe::TicTacToe;
    use std::os::unix::fs::MetadataExt as _;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn aged(directory: &Path, name: &str, seconds: u64, bytes: u64) {
        let file = File::create(directory.join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    fn replay() -> Replay {
        let surface = Arc::new(Surface::new(Arc::new(TicTacToe)).unwrap());
        let config = Config::of(7);
        Match::new(surface, config, 0).unwrap().replay().unwrap()
    }

    // §17: bounded by count, age and bytes, the oldest first; and an operator's own files are not ours to delete.
    #[test]
    fn the_oldest_replays_go_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf(directory.path().to_owned());
        aged(directory.path(), "notes.json", 1_000_000, 1);
        aged(directory.path(), "yesterday.replay.json", 86_401, 1);
        aged(directory.path(), "large.replay.json", 100, BYTES_MAX);
        for number in 0..FILES_MAX as u64 {
            aged(directory.path(), &format!("m{number:02}.replay.json"), 10 + number, 1);
        }
        shelf.write("now", "{}").unwrap();
        shelf.prune().unwrap();
        let kept = names(directory.path());
        assert_eq!(kept.len(), FILES_MAX + 1, "{kept:?}");
        assert_eq!((&*kept[0], &*kept[48]), ("m00.replay.json", "m48.replay.json"));
        assert_eq!(kept[49..], ["notes.json", "now.replay.json"]);
    }

    // What every side did is nobody's but the operator's.
    #[test]
    fn only_the_servers_own_user_reads_a_replay() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("replays");
        let replays = Replays::open(&directory).unwrap();
        Shelf(directory.clone()).write("m", "{}").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&directory.join("m.replay.json"))), (0o700, 0o600));
        replays.finish();
    }

    // §17: the bounds hold from the start on, also where no match ever ends, and one file that cannot go keeps no other.
    #[test]
    fn an_opened_directory_is_tidied() {
        let directory = tempfile::tempdir().unwrap();
        aged(directory.path(), "yesterday.replay.json", 86_401, 1);
        aged(directory.path(), "today.replay.json", 86_000, 1);
        aged(directory.path(), "cut.replay.json.partial", 3_601, 1);
        aged(directory.path(), "being-written.replay.json.partial", 10, 1);
        aged(directory.path(), "notes.partial", 1_000_000, 1);
        let folder = directory.path().join("folder.replay.json");
        fs::create_dir(&folder).unwrap();
        let long_ago = SystemTime::now() - 2 * AGE_MAX;
        File::open(&folder).unwrap().set_modified(long_ago).unwrap();
        Replays::open(directory.path()).unwrap().finish();
        let kept =
            ["being-written.replay.json.partial", "folder.replay.json", "notes.partial", "today.replay.json"];
        assert_eq!(names(directory.path()), kept);
    }

    // A server that stops ends all its matches at once, and keeps the replay of each.
    #[test]
    fn the_replays_of_a_server_that_stops_are_all_written() {
        let replay = replay();
        let directory = tempfile::tempdir().unwrap();
        let replays = Replays::open(directory.path()).unwrap();
        for number in 0..40 {
            replays.keep(&number.to_string(), replay.clone());
        }
        replays.finish();
        assert_eq!(names(directory.path()).len(), 40);
    }

    // What waits is bounded in bytes, and in number because nothing counts as less than a share of them.
    #[test]
    fn replays_that_wait_are_bounded() {
        let (orders, _unread) = channel();
        let replays = Replays { orders, free: Arc::new(Semaphore::new(2 * WAITING_BYTES_MIN)) };
        let replay = replay();
        let taken = [(); 3].map(|()| replays.order("m", replay.clone()).is_some());
        assert_eq!(taken, [true, true, false]);
    }
}
