//! The leases of claimed seat tokens (§20) and what each of them holds: its rate, its calls in flight, the observation
//! that it pages through. A lease is made by the claim and ends with its credential.

use crate::config::Limits;
use crate::pages::Snapshot;
use crate::quota::Quota;
use dashmap::DashMap;
use playerthree_host::{SeatGrant, Token};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio_util::sync::CancellationToken;

/// One claimed seat token.
pub(crate) struct Lease {
    /// The seat.
    pub(crate) grant: Arc<SeatGrant>,
    /// What it may still ask for.
    pub(crate) quota: Quota,
    snapshot: Mutex<Option<Arc<Snapshot>>>,
    cut: CancellationToken,
}

impl Lease {
    fn new(grant: Arc<SeatGrant>, cut: CancellationToken, limits: &Limits) -> Self {
        Self { grant, quota: Quota::new(limits), snapshot: Mutex::new(None), cut }
    }

    /// The observation that later pages are read from.
    pub(crate) fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the observation of the newest unpaged call, or nothing if it fitted one result (§4 `game_observe`).
    pub(crate) fn keep(&self, snapshot: Option<Snapshot>) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = snapshot.map(Arc::new);
    }
}

/// Every lease of this process. There are never more than claimed seat tokens.
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
        let lease = Arc::new(Lease::new(Arc::clone(grant), cut, &self.limits));
        self.open.insert(address(grant), Arc::clone(&lease));
        self.end_with_credential(Arc::clone(&lease));
        Some((session, lease))
    }

    /// The lease of a claimed seat token, if this is the session that holds it.
    fn find(&self, grant: &Arc<SeatGrant>, session: &str) -> Option<Arc<Lease>> {
        if !grant.is_session(session) {
            return None;
        }
        self.open.get(&address(grant)).map(|lease| Arc::clone(&lease))
    }

    /// Forgets the lease once its credential ends, and cuts what then is still open after the time to answer.
    /// Terminates when the credential is revoked or the server stops, whichever is first.
    fn end_with_credential(&self, lease: Arc<Lease>) {
        let (open, shutdown, cut_after) =
            (Arc::clone(&self.open), self.shutdown.clone(), self.limits.cut_after);
        tokio::spawn(async move {
            tokio::select! {
                () = lease.grant.revoked().cancelled() => {}
                () = shutdown.cancelled() => {}
            }
            open.remove(&address(&lease.grant));
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
    /// It named the session that holds the lease.
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

fn address(grant: &Arc<SeatGrant>) -> usize {
    Arc::as_ptr(grant).addr()
}
