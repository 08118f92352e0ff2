//! Agents: callers of the tools, each with a credential that anybody mints in one call.
//!
//! Of a token only its digest is kept, in one small file that is replaced whole, so that an agent and its seats outlive
//! a restart. Nothing here is ever logged.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::error::PipesError;
use crate::inbox::{blocking, lock};
use crate::keys::{self, Token};
use crate::limits::{Bucket, Rate};
use crate::meta::sync_parent;
use crate::service::{Pipes, permit};
use crate::tools::Holder;

/// A new agent with its credential, which is shown once.
#[derive(Debug)]
pub struct Agent {
    /// To call the tools.
    pub token: Token,
    /// When it ends, Unix milliseconds.
    pub expires_ms: u64,
}

/// When each agent ends, by the digest of its token.
type Expiries = HashMap<String, u64>;

/// The agents of one server.
pub(crate) struct Agents {
    path: PathBuf,
    known: RwLock<Expiries>,
    /// Serializes changes, which are saved before they are seen. Held while blocking on the disk.
    changing: Mutex<()>,
    rate: Mutex<Bucket>,
}

impl Agents {
    /// Reads the file of a data directory, which need not exist.
    pub(crate) fn load(path: &Path, rate: Rate, now_ms: u64) -> io::Result<Self> {
        let known = match fs::read(path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|_| io::Error::other("the agents file is damaged"))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Expiries::new(),
            Err(error) => return Err(error),
        };
        let agents = Self {
            path: path.to_owned(),
            known: RwLock::new(known),
            changing: Mutex::default(),
            rate: Mutex::new(Bucket::new(rate, now_ms)),
        };
        agents.forget_expired(now_ms);
        Ok(agents)
    }

    /// Forgets agents whose time is over; the file follows with the next change.
    pub(crate) fn forget_expired(&self, now_ms: u64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, expires_ms| *expires_ms > now_ms);
    }

    fn is_good(&self, digest: &str, now_ms: u64) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(digest).is_some_and(|expires_ms| *expires_ms > now_ms)
    }

    /// Changes the agents: saved first, seen after. A refused change changes nothing. Blocks on the disk.
    fn change(&self, change: impl FnOnce(&mut Expiries) -> Result<(), PipesError>) -> Result<(), PipesError> {
        let _turn = lock(&self.changing);
        let mut changed = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        change(&mut changed)?;
        self.save(&changed)?;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = changed;
        Ok(())
    }

    fn save(&self, known: &Expiries) -> io::Result<()> {
        let draft = self.path.with_extension("new");
        let mut file = keys::private_file(&draft)?;
        file.write_all(&serde_json::to_vec(known).map_err(io::Error::other)?)?;
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        sync_parent(&self.path)
    }
}

/// Makes room for one more agent: the oldest one without a seat goes. All live equally long, so the oldest ends first.
fn make_room(
    agents: &mut Expiries,
    bound: usize,
    is_seated: impl Fn(&Holder) -> bool,
) -> Result<(), PipesError> {
    if agents.len() < bound {
        return Ok(());
    }
    let unseated = agents.iter().filter(|(digest, _)| !is_seated(&holder(digest)));
    let oldest = unseated.min_by_key(|(_, expires_ms)| **expires_ms).map(|(digest, _)| digest.clone());
    agents.remove(&oldest.ok_or(PipesError::Full)?);
    Ok(())
}

fn holder(digest: &str) -> Holder {
    Holder::new(&format!("agent\0{digest}"))
}

impl Pipes {
    /// Mints an agent. When there are [`agents`](crate::Limits::agents) already, the oldest one that holds no seat
    /// loses its token.
    ///
    /// # Errors
    /// [`PipesError::RateLimited`]; [`PipesError::Full`] when all hold seats; [`PipesError::Unavailable`].
    pub async fn mint_agent(self: &Arc<Self>) -> Result<Agent, PipesError> {
        let now = self.now_ms();
        permit(&self.agents.rate, now)?;
        let token = Token::mint_agent()?;
        let (pipes, digest) = (Arc::clone(self), token.digest());
        let expires_ms = now.saturating_add(self.limits().agent_life_ms);
        let minted = blocking(move || {
            pipes.agents.change(|agents| {
                agents.retain(|_, expires_ms| *expires_ms > now);
                make_room(agents, pipes.limits().agents, |holder| pipes.is_seated(holder))?;
                agents.insert(digest, expires_ms);
                Ok(())
            })
        });
        minted.await??;
        Ok(Agent { token, expires_ms })
    }

    /// Whom an agent's token stands for, if it is good.
    #[must_use]
    pub fn agent(&self, token: &str) -> Option<Holder> {
        // The digest is looked up, never compared byte by byte with what the caller can steer.
        let digest = keys::digest(token);
        self.agents.is_good(&digest, self.now_ms()).then(|| holder(&digest))
    }

    /// Ends an agent's token. Its seats stay, with nobody to play them.
    ///
    /// # Errors
    /// [`PipesError::NotFound`] for a token that is not good; [`PipesError::Unavailable`].
    pub async fn revoke_agent(self: &Arc<Self>, token: &str) -> Result<(), PipesError> {
        let (pipes, digest) = (Arc::clone(self), keys::digest(token));
        let revoked = blocking(move || {
            pipes.agents.change(|agents| agents.remove(&digest).map(drop).ok_or(PipesError::NotFound))
        });
        revoked.await?
    }

    fn is_seated(&self, holder: &Holder) -> bool {
        lock(&self.inboxes).held.contains_key(holder.digest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(count: u64) -> Expiries {
        (0..count).map(|at| (format!("agent {at}"), at)).collect()
    }

    #[test]
    fn the_oldest_agent_without_a_seat_makes_room() {
        let mut full = agents(4);
        let is_seated = |of: &Holder| *of == holder("agent 0") || *of == holder("agent 2");
        make_room(&mut full, 5, is_seated).unwrap();
        assert_eq!(full.len(), 4);
        make_room(&mut full, 4, is_seated).unwrap();
        assert!(!full.contains_key("agent 1"));
        make_room(&mut full, 3, is_seated).unwrap();
        assert!(!full.contains_key("agent 3"));
        assert_eq!(make_room(&mut full, 2, is_seated), Err(PipesError::Full));
        assert_eq!(full.len(), 2);
    }
}
