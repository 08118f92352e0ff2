//! This process's own limit of open files, which shells set far below what a server needs.

use anyhow::{Context as _, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are open beside the connections, and sockets that are just closing.
const SPARE: u64 = 256;

/// Raises the limit, as far as it may, to what `connections` need. It is never lowered.
///
/// # Errors
/// Where fewer may be open in the end.
pub(crate) fn allow(connections: usize) -> anyhow::Result<()> {
    let needed = connections as u64 + SPARE;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let granted = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
    setrlimit(Resource::Nofile, Rlimit { current: Some(granted), maximum: limit.maximum })
        .context("the limit of open files cannot be raised")?;
    ensure!(
        granted == needed,
        "{connections} connections need {needed} open files, {granted} are allowed; raise the limit of this shell (ulimit -n)"
    );
    Ok(())
}
