//! `subscriptions/listen` (§17): word of what changes for a credential's own seats, by address alone. One stream is one
//! request; what changes while its client does not read is told once.

use crate::agent::{Agent, RoleEdits};
use crate::status::Statuses;
use futures_util::future::select_all;
use playerthree_game::Name;
use playerthree_host::StatusWatch;
use rmcp::model::SubscriptionFilter;
use rmcp::service::{SubscriptionContext, SubscriptionSink};
use std::pin::Pin;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

/// Most addresses that one stream may name.
pub(crate) const ADDRESSES_MAX: usize = 64;

/// A stream that was admitted and not acknowledged yet. It misses nothing from here on.
pub(crate) struct Stream {
    _place: OwnedSemaphorePermit,
    edits: RoleEdits,
    watched: Vec<Watched>,
}

struct Watched {
    uri: String,
    role: Name,
    watch: StatusWatch,
}

impl Stream {
    /// Watches those of the wanted addresses that are the credential's own, each once. Any other is left out as if it did
    /// not exist.
    pub(crate) fn open(
        place: OwnedSemaphorePermit,
        agent: &Agent,
        statuses: &Statuses,
        wanted: &SubscriptionFilter,
    ) -> Self {
        let edits = agent.role_edits();
        let mut watched: Vec<Watched> = Vec::new();
        for uri in wanted.resource_subscriptions.iter().flatten() {
            if watched.iter().any(|known| known.uri == *uri) {
                continue;
            }
            if let Some(role) = statuses.role_of(agent, uri)
                && let Some(watch) = agent.watch_status(&role)
            {
                watched.push(Watched { uri: uri.clone(), role, watch });
            }
        }
        Self { _place: place, edits, watched }
    }

    /// What the client is told that it gets.
    pub(crate) fn accepted(&self) -> SubscriptionFilter {
        let uris = self.watched.iter().map(|watched| &*watched.uri);
        SubscriptionFilter::builder().resource_subscriptions(uris).build()
    }

    /// Tells the client of changes. Terminates when the client is gone, the credential is revoked, one of the watched
    /// roles is taken from it, or the server stops.
    pub(crate) async fn run(
        self,
        context: &SubscriptionContext,
        agent: &Agent,
        shutdown: &CancellationToken,
    ) {
        let Self { _place, mut edits, watched } = self;
        let roles: Vec<Name> = watched.iter().map(|watched| watched.role.clone()).collect();
        tokio::select! {
            biased;
            () = context.cancelled() => {}
            () = agent.revoked().cancelled() => {}
            () = shutdown.cancelled() => {}
            () = edits.until_one_is_lost(&roles) => {}
            () = tell(context.sink(), watched) => {}
        }
    }
}

/// Terminates when the client is gone.
async fn tell(sink: &SubscriptionSink, mut watched: Vec<Watched>) {
    while !watched.is_empty() {
        let changes = watched.iter_mut().map(|watched| {
            let change = async {
                watched.watch.changed().await;
                watched.uri.clone()
            };
            Box::pin(change) as Pin<Box<dyn Future<Output = String> + Send + '_>>
        });
        let (uri, ..) = select_all(changes).await;
        if sink.notify_resource_updated(uri).await.is_err() {
            return;
        }
    }
    std::future::pending::<()>().await;
}
