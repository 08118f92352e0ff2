//! What each credential in use holds: its rate, its calls in flight, the observations that it pages through. A seat
//! token's lease is made by its claim (§20), a commander token's by its first call; each ends with its credential.

use crate::agent::Agent;
use crate::config::Limits;
use crate::pages::Snapshot;
use crate::quota::Quota;
use dashmap::DashMap;
use playerthree_game::Name;
use playerthree_host::{CommanderGrant, SeatGrant, Token};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio_util::sync::CancellationToken;

/// One credential in use.
pub(crate) struct Lease {
    /// Whom it is for.
    pub(crate) agent: Agent,
    /// What it may still ask for.
    pub(crate) quota: Quota,
    /// By role.
    snapshots: Mutex<BTreeMap<Name, Arc<Snapshot>>>,
    /// Set once the client's person consented (§5).
    consent: OnceLock<()>,
    cut: CancellationToken,
}

impl Lease {
    fn new(agent: Agent, cut: CancellationToken, limits: &Limits) -> Self {
        let quota = Quota::new(limits, agent.surface().manifest.roles.iter().cloned());
        Self { agent, quota, snapshots: Mutex::default(), consent: OnceLock::new(), cut }
    }

    /// Whether the client's person consented to the token.
    pub(crate) fn has_consent(&self) -> bool {
        self.consent.get().is_some()
    }

    /// The client's person consented.
    pub(crate) fn give_consent(&self) {
        // A second yes says nothing new.
        _ = self.consent.set(());
    }

    /// The observation of a role that later pages are read from.
    pub(crate) fn snapshot(&self, role: &str) -> Option<Arc<Snapshot>> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner).get(role).cloned()
    }

    /// Keeps the observation of a role's newest unpaged call, or nothing if it fitted one result (§4 `game_observe`).
    pub(crate) fn keep(&self, role: &Name, snapshot: Option<Snapshot>) {
        let mut snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        match snapshot {
            Some(snapshot) => _ = snapshots.insert(role.clone(), Arc::new(snapshot)),
            None => _ = snapshots.remove(role),
        }
    }
}

/// Every lease of this process. There are never more than claimed seat tokens and commanders.
pub(crate) struct Leases {
    /// By the address of the grant, which the lease keeps alive and therefore unique.
    open: Arc<DashMap<usize, Arc<Lease>>>,
    limits: Limits,
    shutdown: CancellationToken,
}

impl Leases {
    pub(crate) fn new(limits: Limits, shutdown: CancellationToken) -> Self {
        Self { open: Arc::default(), limits, shutdown }
    }

    /// Claims a seat token. Nothing if another call claimed it before. `cut` becomes the lease's own.
    fn claim(&self, grant: &Arc<SeatGrant>, cut: CancellationToken) -> Option<(Token, Arc<Lease>)> {
        let session = grant.claim()?;
        let agent = Agent::Seat(Arc::clone(grant));
        let address = agent.address();
        let lease = Arc::new(Lease::new(agent, cut, &self.limits));
        self.open.insert(address, Arc::clone(&lease));
        self.end_with_credential(Arc::clone(&lease));
        Some((session, lease))
    }

    /// The one lease of a commander token, which all its clients share.
    pub(crate) fn shared(&self, grant: &Arc<CommanderGrant>) -> Arc<Lease> {
        let agent = Agent::Commander(Arc::clone(grant));
        let entry = self.open.entry(agent.address());
        let fresh = || {
            let lease = Arc::new(Lease::new(agent.clone(), CancellationToken::new(), &self.limits));
            self.end_with_credential(Arc::clone(&lease));
            lease
        };
        Arc::clone(&entry.or_insert_with(fresh))
    }

    /// The lease of a claimed seat token, if this is the session that holds it.
    fn find(&self, grant: &Arc<SeatGrant>, session: &str) -> Option<Arc<Lease>> {
        if !grant.is_session(session) {
            return None;
        }
        self.open.get(&Agent::Seat(Arc::clone(grant)).address()).map(|lease| Arc::clone(&lease))
    }

    /// Forgets the lease once its credential ends, and cuts what then is still open after the time to answer.
    /// Terminates when the credential is revoked or the server stops, whichever is first.
    fn end_with_credential(&self, lease: Arc<Lease>) {
        let (open, shutdown, cut_after) =
            (Arc::clone(&self.open), self.shutdown.clone(), self.limits.cut_after);
        tokio::spawn(async move {
            tokio::select! {
                () = lease.agent.revoked().cancelled() => {}
                () = shutdown.cancelled() => {}
            }
            open.remove(&lease.agent.address());
            tokio::time::sleep(cut_after).await;
            lease.cut.cancel();
        });
    }
}

/// How one request stands to its seat token's lease.
#[derive(Clone)]
pub(crate) enum Admission {
    /// It needs no lease and gets none: `server/discover`.
    Discovery,
    /// It named the session that holds the lease, or its token needs none.
    Held(Arc<Lease>),
    /// Nobody has claimed the token yet; the request will, once it is dispatched.
    First(Arc<FirstCall>),
}

impl Admission {
    /// Admits a request that needs a lease. Nothing when it names no session that holds one, or when it names none
    /// although the token is claimed.
    pub(crate) fn of(leases: &Arc<Leases>, grant: &Arc<SeatGrant>, session: Option<&str>) -> Option<Self> {
        match session {
            Some(session) => leases.find(grant, session).map(Self::Held),
            None if grant.is_claimed() => None,
            None => Some(Self::First(Arc::new(FirstCall {
                leases: Arc::clone(leases),
                grant: Arc::clone(grant),
                cut: CancellationToken::new(),
                claimed: OnceLock::new(),
            }))),
        }
    }

    /// The lease to work under, claimed now if nobody did before. Nothing when another request was faster.
    pub(crate) fn lease(&self) -> Option<Arc<Lease>> {
        match self {
            Self::Discovery => None,
            Self::Held(lease) => Some(Arc::clone(lease)),
            Self::First(first) => first.claim().as_ref().map(|(_, lease)| Arc::clone(lease)),
        }
    }

    /// Fires when the request must be cut, answered or not.
    pub(crate) fn cut(&self) -> CancellationToken {
        match self {
            Self::Discovery => CancellationToken::new(),
            Self::Held(lease) => lease.cut.clone(),
            Self::First(first) => first.cut.clone(),
        }
    }

    /// What came of a first call's claim: nothing if it was never dispatched.
    pub(crate) fn outcome(&self) -> Option<Claimed<'_>> {
        let Self::First(first) = self else { return None };
        Some(match first.claimed.get()? {
            Some((session, _)) => Claimed::Won(session),
            None => Claimed::Lost,
        })
    }
}

/// The outcome of a claim.
pub(crate) enum Claimed<'a> {
    /// The request holds the lease; this is its session.
    Won(&'a Token),
    /// Another request was faster.
    Lost,
}

/// The call that claims a seat token. It claims when it is carried out, not when it is admitted: what is refused
/// before that consumes nothing.
pub(crate) struct FirstCall {
    leases: Arc<Leases>,
    grant: Arc<SeatGrant>,
    cut: CancellationToken,
    claimed: OnceLock<Option<(Token, Arc<Lease>)>>,
}

impl FirstCall {
    fn claim(&self) -> &Option<(Token, Arc<Lease>)> {
        self.claimed.get_or_init(|| self.leases.claim(&self.grant, self.cut.clone()))
    }
}
