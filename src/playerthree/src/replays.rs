//! The operator's directory of replays (`serve --replays`): one file for each match whose room is gone, the newest of them
//! (§17 "Recent sessions"). They show what every side did, so only the server's own user may read them.

use anyhow::Context as _;
use playerthree_binding::Archive;
use playerthree_session::Replay;
use std::fs::{self, DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

/// How the names of the files end. Nothing else in the directory is ever touched.
const ENDING: &str = ".replay.json";

/// Files that are kept, the newest.
const FILES_MAX: usize = 50;

/// Bytes that they may take together.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How long one is kept.
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Replays that wait to be written. A room does not wait for the disk: past these, replays are lost and the log says so.
const WAITING_MAX: usize = 8;

/// How long the last writes may take when the server ends.
const FINISH_MAX: Duration = Duration::from_secs(2);

enum Order {
    Keep {
        match_id: String,
        replay: Box<Replay>,
    },
    /// Nothing comes after it.
    Finish(SyncSender<()>),
}

/// The directory, written by a thread of its own.
#[derive(Clone, Debug)]
pub(crate) struct Replays(SyncSender<Order>);

impl Replays {
    /// Opens the directory, and makes it where there is none.
    pub(crate) fn open(directory: &Path) -> anyhow::Result<Self> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.with_context(|| format!("cannot use {}; choose another directory", directory.display()))?;
        let (to, orders) = sync_channel(WAITING_MAX);
        let shelf = Shelf(directory.to_owned());
        std::thread::Builder::new().name("replays".into()).spawn(move || shelf.serve(&orders))?;
        Ok(Self(to))
    }

    /// Waits until what came before is written. It blocks, for [`FINISH_MAX`] at most.
    pub(crate) fn finish(&self) {
        let (done, finished) = sync_channel(1);
        let asked = self.0.try_send(Order::Finish(done)).is_ok();
        if !asked || finished.recv_timeout(FINISH_MAX).is_err() {
            tracing::warn!("some replays were not written in time");
        }
    }
}

impl Archive for Replays {
    fn keep(&self, match_id: &str, replay: Replay) {
        if self.0.try_send(Order::Keep { match_id: match_id.to_owned(), replay: Box::new(replay) }).is_err() {
            tracing::warn!(match_id, "a replay is lost: too many wait to be written");
        }
    }
}

struct Shelf(PathBuf);

impl Shelf {
    /// Terminates with the order to finish, or when nobody can give one any more.
    fn serve(&self, orders: &Receiver<Order>) {
        for order in orders {
            match order {
                Order::Keep { match_id, replay } => {
                    let kept = self.write(&match_id, &replay.to_text()).and_then(|()| self.prune());
                    if let Err(error) = kept {
                        tracing::error!(match_id, "a replay could not be kept: {error}");
                    }
                }
                Order::Finish(done) => {
                    _ = done.send(());
                    return;
                }
            }
        }
    }

    /// Writes a whole file or none.
    fn write(&self, match_id: &str, text: &str) -> std::io::Result<()> {
        let partial = self.0.join(format!("{match_id}.partial"));
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, self.0.join(format!("{match_id}{ENDING}")))
    }

    /// Deletes the oldest replays until the rest keep every bound.
    fn prune(&self) -> std::io::Result<()> {
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(ENDING) {
                let metadata = entry.metadata()?;
                kept.push((metadata.modified()?, metadata.len(), entry.path()));
            }
        }
        kept.sort_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
        let oldest = SystemTime::now() - AGE_MAX;
        let mut bytes = 0;
        for (place, (modified, length, path)) in kept.into_iter().enumerate() {
            bytes += length;
            if place >= FILES_MAX || bytes > BYTES_MAX || modified < oldest {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
