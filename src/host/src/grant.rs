//! What a credential of a commander is good for (§5): all of its lanes for the commander token, those that its owner
//! granted for a sign-in connection. Roles are looked at on every call, so an edit holds from the next one on.

use crate::agents::{Credential, CredentialId};
use crate::commanders::Desk;
use playerthree_game::Name;
use playerthree_session::{CallError, Code, CommanderId, PRESENCE_MS, Surface};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The authority over some lanes of one commander, and nothing else.
pub struct CommanderGrant {
    pub(crate) id: CommanderId,
    pub(crate) desk: Arc<Desk>,
    /// In manifest order, never empty.
    roles: watch::Sender<Vec<Name>>,
    pub(crate) credential: Credential,
    origin: Origin,
    activity: Activity,
}

/// How a client came by its credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Its owner handed it a token.
    Token,
    /// Its owner consented to it on the game's own page (§5).
    SignIn,
}

impl CommanderGrant {
    /// The authority over every lane.
    pub(crate) fn whole(id: CommanderId, desk: Arc<Desk>) -> Self {
        let roles = own_roles(&id, &desk);
        Self::new(id, desk, roles, Origin::Token)
    }

    /// The authority over the lanes of these roles. Fails `invalid` unless they are the commander's and at least one.
    pub(crate) fn partial(id: CommanderId, desk: Arc<Desk>, roles: &[Name]) -> Result<Self, CallError> {
        let roles = checked(&id, &desk, roles)?;
        Ok(Self::new(id, desk, roles, Origin::SignIn))
    }

    fn new(id: CommanderId, desk: Arc<Desk>, roles: Vec<Name>, origin: Origin) -> Self {
        let credential = Credential::until(desk.credential());
        Self { id, desk, roles: watch::Sender::new(roles), credential, origin, activity: Activity::default() }
    }

    /// The commander.
    pub fn commander(&self) -> &CommanderId {
        &self.id
    }

    /// Which credential it is: one for each generation of the commander token, one for each connection.
    pub fn credential(&self) -> CredentialId {
        self.credential.id()
    }

    /// Whether it is a sign-in connection's rather than the commander's token.
    pub fn is_sign_in(&self) -> bool {
        self.origin == Origin::SignIn
    }

    /// Fires when the credential stops being good.
    pub fn revoked(&self) -> &CancellationToken {
        self.credential.revoked()
    }

    /// The client says what program it is. Whatever is no [`Label`](playerthree_session::Label) says nothing.
    pub fn introduce(&self, harness: &str) {
        self.credential.introduce(harness);
    }

    /// Ends the credential at once, calls in flight included.
    pub fn revoke(&self) {
        self.revoked().cancel();
    }

    /// The game.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.desk.roster.surface
    }

    /// The granted roles in manifest order, and the side where each is seated in a match.
    pub fn commands(&self) -> Vec<(Name, Option<Name>)> {
        let mut commands = self.desk.roster.rules().commands(&self.id);
        commands.retain(|(role, _)| self.has(role));
        commands
    }

    /// The granted roles.
    pub fn roles(&self) -> Vec<Name> {
        self.roles.borrow().clone()
    }

    /// The granted roles, and word of every later edit of them.
    pub fn role_edits(&self) -> watch::Receiver<Vec<Name>> {
        self.roles.subscribe()
    }

    /// Replaces the granted roles from the next call on. Fails `invalid` unless they are the commander's and at least one.
    pub fn set_roles(&self, roles: &[Name]) -> Result<(), CallError> {
        let roles = checked(&self.id, &self.desk, roles)?;
        self.roles.send_replace(roles);
        Ok(())
    }

    /// Whether its agent called of late or has a call in flight (§5 `ConnectionInfo.active`).
    pub fn is_active(&self) -> bool {
        self.activity.is_recent()
    }

    pub(crate) fn has(&self, role: &str) -> bool {
        self.roles.borrow().iter().any(|granted| **granted == *role)
    }

    /// Counts a call in flight for as long as it is held.
    pub(crate) fn begin_call(&self) -> InFlight<'_> {
        self.activity.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.activity)
    }
}

impl std::fmt::Debug for CommanderGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommanderGrant").field("id", &self.id).finish_non_exhaustive()
    }
}

fn own_roles(id: &CommanderId, desk: &Desk) -> Vec<Name> {
    desk.roster.rules().commands(id).into_iter().map(|(role, _)| role).collect()
}

fn checked(id: &CommanderId, desk: &Desk, wanted: &[Name]) -> Result<Vec<Name>, CallError> {
    let own = own_roles(id, desk);
    if wanted.is_empty() || !wanted.iter().all(|role| own.contains(role)) {
        return Err(Code::Invalid.into());
    }
    Ok(own.into_iter().filter(|role| wanted.contains(role)).collect())
}

/// When a credential was last used.
#[derive(Default)]
struct Activity {
    in_flight: AtomicUsize,
    last: Mutex<Option<Instant>>,
}

impl Activity {
    fn is_recent(&self) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.in_flight.load(Ordering::Relaxed) > 0
            || last.is_some_and(|last| last.elapsed() < Duration::from_millis(PRESENCE_MS))
    }
}

/// One call in flight.
pub(crate) struct InFlight<'a>(&'a Activity);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
