//! Named commanders with their credentials (§5, §20.3): one token each, good across matches until it is rotated, and the
//! access tokens of sign-in connections, each for some of its roles.
//!
//! Where a commander may be is decided by `session::Commanders`; here tokens are kept as digests, and whoever waits for
//! one of its lanes is woken when that lane changes.

use crate::agents::{AgentCall, Credential, MatchDoor, Revoked};
use crate::grant::CommanderGrant;
use crate::listeners::Listeners;
use crate::places::PolicyPlaces;
use crate::secret::{self, Digest, Token};
use crate::ticks::Ticks;
use dashmap::DashMap;
use playerthree_game::{Name, Seat};
use playerthree_session::{
    CallError, Code, CommanderId, Commanders as Rules, Draft, FromLibrary, Inbox, Millis, OwnerId, Place,
    Reservation, Seated, Settings, Surface, TellCommanders, ToldLane, WAITS_MAX,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// One commander's hold of one seat.
#[derive(Clone)]
pub(crate) struct Hold {
    pub(crate) match_id: Arc<str>,
    pub(crate) seat: Seat,
    pub(crate) door: Arc<dyn MatchDoor>,
    ended: CancellationToken,
}

impl Hold {
    /// Whether the seat was taken from the lane, or the lane from the seat.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Carries a call into the match and waits for its answer. `bad_token` once the hold or the credential is over, or
    /// the match gone.
    pub(crate) async fn call(
        &self,
        method: &str,
        args: Value,
        ticks: Ticks,
        credential: &Credential,
    ) -> Result<Value, CallError> {
        let (reply, answer) = oneshot::channel();
        let revoked = Revoked::any([credential.revoked().clone(), self.ended.clone()]);
        let (seat, method, harness) = (self.seat.clone(), method.to_owned(), credential.harness());
        self.door.call(AgentCall { seat, method, args, harness, revoked, ticks, reply })?;
        // The match answers every wait of a hold that ends; a room that is gone drops the reply.
        answer.await.unwrap_or_else(|_| Err(Code::BadToken.into()))
    }
}

/// What wakes the lobby waits of one lane, and how many there may be.
pub(crate) struct LaneBell {
    pub(crate) changed: watch::Sender<()>,
    pub(crate) waits: Semaphore,
}

/// One game's roster.
pub(crate) struct Roster {
    pub(crate) surface: Arc<Surface>,
    rules: Mutex<Rules<Hold>>,
    pub(crate) listeners: Listeners,
    /// Milliseconds since this is what the rules' moments count.
    clock: Instant,
    pub(crate) places: PolicyPlaces,
}

impl Roster {
    /// Milliseconds since the roster was made: the rules' time.
    pub(crate) fn now(&self) -> Millis {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn rules(&self) -> MutexGuard<'_, Rules<Hold>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What every credential of one commander shares.
pub(crate) struct Desk {
    pub(crate) roster: Arc<Roster>,
    pub(crate) bells: BTreeMap<Name, LaneBell>,
    /// Fires when the commander is taken off its owner's roster, and with it every credential.
    removed: CancellationToken,
    /// The commander token.
    token: Mutex<Digest>,
}

impl Desk {
    /// Something about a lane changed: its lobby waits and whoever watches its status look again.
    pub(crate) fn ring(&self, role: &str) {
        if let Some(bell) = self.bells.get(role) {
            bell.changed.send_replace(());
        }
    }

    /// Ends when the commander does.
    pub(crate) fn credential(&self) -> CancellationToken {
        self.removed.child_token()
    }
}

/// Every commander of this process.
pub struct Commanders {
    places: PolicyPlaces,
    /// By surface hash: a commander is of one game.
    rosters: DashMap<String, Arc<Roster>>,
    desks: DashMap<CommanderId, Arc<Desk>>,
    /// By the digest of a commander token or an access token.
    tokens: DashMap<Digest, Issued>,
}

/// One token in circulation.
struct Issued {
    grant: Arc<CommanderGrant>,
    /// Its end, if it has one of its own.
    until: Option<Instant>,
}

impl Issued {
    fn is_good(&self) -> bool {
        !self.grant.revoked().is_cancelled() && self.until.is_none_or(|until| Instant::now() < until)
    }
}

impl Commanders {
    /// Nobody yet. What commanders deploy between matches is tried in these places.
    pub(crate) fn new(places: PolicyPlaces) -> Self {
        Self { places, rosters: DashMap::new(), desks: DashMap::new(), tokens: DashMap::new() }
    }

    /// Adds a commander to an owner's roster, and its first token. Fails `busy` past the rosters' bounds.
    pub fn add(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        draft: Draft,
    ) -> Result<(CommanderId, Token), CallError> {
        let roster = self.roster(surface);
        let id = CommanderId(format!("cmd_{}", Token::mint().0.reveal()).into());
        let bell = |role: &Name| {
            let bell = LaneBell { changed: watch::Sender::new(()), waits: Semaphore::new(WAITS_MAX) };
            (role.clone(), bell)
        };
        let bells = draft.roles.iter().map(bell).collect();
        roster.rules().add(owner.clone(), id.clone(), draft)?;
        let (token, digest) = Token::mint();
        let desk = Desk { roster, bells, removed: CancellationToken::new(), token: Mutex::new(digest) };
        let desk = Arc::new(desk);
        self.desks.insert(id.clone(), Arc::clone(&desk));
        self.put(digest, CommanderGrant::whole(id.clone(), desk));
        Ok((id, token))
    }

    /// Takes a commander off its owner's roster; its credentials end at once. Fails `forbidden` unless it is theirs, `busy`
    /// while it plays.
    pub fn remove(&self, surface: &Arc<Surface>, owner: &OwnerId, id: &CommanderId) -> Result<(), CallError> {
        self.roster(surface).rules().remove(owner, id)?;
        if let Some((_, desk)) = self.desks.remove(id) {
            desk.removed.cancel();
            self.tokens.retain(|_, issued| issued.is_good());
        }
        Ok(())
    }

    /// Replaces a commander's token. The old one ends at once, calls in flight included (§5). Fails `forbidden` unless
    /// the commander is the owner's.
    pub fn rotate(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        id: &CommanderId,
    ) -> Result<Token, CallError> {
        let desk = self.owned(surface, owner, id)?;
        // Held to the end, so that of two rotations at once only one token lives on.
        let mut current = desk.token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, before)) = self.tokens.remove(&*current) {
            before.grant.revoke();
        }
        let (token, digest) = Token::mint();
        self.put(digest, CommanderGrant::whole(id.clone(), Arc::clone(&desk)));
        *current = digest;
        Ok(token)
    }

    /// The authority of a new sign-in connection (§5): these roles of one commander, independent of every other
    /// credential. It has no token yet. Fails `forbidden` unless the commander is the owner's, `invalid` unless the roles
    /// are some of its own and at least one.
    pub fn connect(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        id: &CommanderId,
        roles: &[Name],
    ) -> Result<Arc<CommanderGrant>, CallError> {
        let desk = self.owned(surface, owner, id)?;
        CommanderGrant::partial(id.clone(), desk, roles).map(Arc::new)
    }

    /// Mints an access token of a connection, good for so long. It also ends with the connection.
    pub fn issue(&self, grant: &Arc<CommanderGrant>, lifetime: Duration) -> (Token, Digest) {
        let (token, digest) = Token::mint();
        self.tokens
            .insert(digest, Issued { grant: Arc::clone(grant), until: Some(Instant::now() + lifetime) });
        (token, digest)
    }

    /// Forgets an access token. Calls in flight go on: they end with their connection.
    pub fn withdraw(&self, token: &Digest) {
        self.tokens.remove(token);
    }

    /// The owner's commanders of a game, as they see them.
    pub fn list(&self, surface: &Arc<Surface>, owner: &OwnerId) -> Vec<Value> {
        self.roster(surface).rules().list(owner)
    }

    /// Changes a commander's settings (§7), in the lobby and at its live seats. Fails `forbidden` unless the commander is
    /// the owner's, `invalid` for a patch out of its schema, `busy` where its match has too much to do; nothing
    /// changes then.
    pub fn patch(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        id: &CommanderId,
        patch: &Value,
    ) -> Result<Settings, CallError> {
        let follow = |hold: &Hold, settings: &Settings| match hold.door.follow(id.clone(), settings.clone()) {
            // A match that is gone has no seat to follow.
            Err(error) if error.code == Code::BadToken => Ok(()),
            followed => followed,
        };
        self.roster(surface).rules().patch(owner, id, patch, follow)
    }

    /// Keeps a seat of the next match for a lane, or gives it up (§4 `commanders.reserve`).
    pub fn reserve(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        id: &CommanderId,
        role: &str,
        reservation: Option<Reservation>,
    ) -> Result<(), CallError> {
        let roster = self.roster(surface);
        roster.rules().reserve(owner, id, role, reservation)?;
        self.ring(id, role);
        Ok(())
    }

    /// Routes a commander's lane to a seat, before the match assigns it. [`Self::release`] takes it back where the match
    /// then refuses.
    pub fn seat(
        &self,
        surface: &Arc<Surface>,
        owner: (&OwnerId, &str),
        id: &CommanderId,
        seat: &Seat,
        match_id: &Arc<str>,
        door: Arc<dyn MatchDoor>,
    ) -> Result<Seated, CallError> {
        let roster = self.roster(surface);
        let ended = CancellationToken::new();
        let hold = Hold { match_id: Arc::clone(match_id), seat: seat.clone(), door, ended };
        let taken = roster.rules().seat(owner.0, id, seat, match_id, hold)?;
        Ok(Seated {
            owner: owner.0.clone(),
            display: owner.1.to_owned(),
            commander: id.clone(),
            isolation: taken.isolation,
            settings: taken.settings,
            library: taken.library,
            metadata: taken.metadata,
            ready: taken.ready,
        })
    }

    /// A version of a commander's library for a seat that no live agent is expected on, as `session::Commanders::version`
    /// finds it.
    pub fn version(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        id: &CommanderId,
        role: &str,
        version: Option<u32>,
    ) -> Result<FromLibrary, CallError> {
        self.roster(surface).rules().version(owner, id, role, version)
    }

    /// The match has assigned the seat: the lane's lobby waits go on there, and so does what its agent has not read.
    pub fn seated(&self, surface: &Arc<Surface>, id: &CommanderId, seat: &Seat) -> Inbox {
        let unread = self.roster(surface).rules().take_inbox(id, &seat.role);
        self.ring(id, &seat.role);
        unread
    }

    /// An owner writes to commanders of theirs, wherever they are (§12 `commanders.tell`). Fails like the rules do, and
    /// `busy` where a match has too much to do; other lanes have the message then. A match in which its owner must not
    /// coach a side drops it.
    pub fn tell(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        tell: &TellCommanders,
    ) -> Result<(), CallError> {
        let roster = self.roster(surface);
        let told = roster.rules().tell(owner, tell, roster.now())?;
        let mut done = Ok(());
        for ToldLane { commander, role, hold } in told {
            match hold {
                None => self.ring(&commander, &role),
                Some(hold) => done = done.and(hold.door.tell(commander, hold.seat, tell.message().clone())),
            }
        }
        done
    }

    /// A hold ended. `before_start` is the seat's ready mark where the match never started.
    pub fn release(
        &self,
        surface: &Arc<Surface>,
        id: &CommanderId,
        seat: &Seat,
        match_id: &str,
        before_start: Option<bool>,
    ) {
        let roster = self.roster(surface);
        let mut rules = roster.rules();
        let live = rules.place(id, &seat.role).and_then(Place::hold);
        let holds = live.into_iter().chain(rules.ended(id, &seat.role));
        holds.filter(|hold| *hold.match_id == *match_id).for_each(|hold| hold.ended.cancel());
        rules.release(id, seat, match_id, before_start);
        drop(rules);
        self.ring(id, &seat.role);
    }

    /// The match is over for the seat's side: its commander is free again, and a wait that had not yet gone on into the
    /// match hears of the end.
    pub fn finished(&self, surface: &Arc<Surface>, id: &CommanderId, seat: &Seat, match_id: &str) {
        self.roster(surface).rules().finished(id, seat, match_id);
        self.ring(id, &seat.role);
    }

    /// The owner is in this match, and hears there what their commanders say between matches (§12), until
    /// [`Self::unlisten`].
    pub fn listen(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        match_id: &Arc<str>,
        door: Arc<dyn MatchDoor>,
    ) {
        self.roster(surface).listeners.add(owner, match_id, door);
    }

    /// The owner is in this match no more.
    pub fn unlisten(&self, surface: &Arc<Surface>, owner: &OwnerId, match_id: &str) {
        self.roster(surface).listeners.remove(owner, match_id);
    }

    /// The authority of a presented token, nothing for one that is unknown or over.
    pub fn find(&self, token: &str) -> Option<Arc<CommanderGrant>> {
        let digest = secret::digest(token);
        let grant =
            self.tokens.get(&digest).filter(|issued| issued.is_good()).map(|it| Arc::clone(&it.grant));
        if grant.is_none() {
            self.tokens.remove_if(&digest, |_, issued| !issued.is_good());
        }
        grant
    }

    /// Ends every token: the server stops.
    pub fn revoke_all(&self) {
        for desk in &self.desks {
            desk.removed.cancel();
        }
        self.tokens.clear();
    }

    pub(crate) fn roster(&self, surface: &Arc<Surface>) -> Arc<Roster> {
        let fresh = || {
            let rules = Mutex::new(Rules::new(Arc::clone(surface)));
            let (surface, listeners) = (Arc::clone(surface), Listeners::default());
            let places = self.places.clone();
            Arc::new(Roster { surface, rules, listeners, clock: Instant::now(), places })
        };
        Arc::clone(&self.rosters.entry(surface.hash.clone()).or_insert_with(fresh))
    }

    /// The commander, if it is the owner's.
    fn owned(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        id: &CommanderId,
    ) -> Result<Arc<Desk>, CallError> {
        // An empty patch changes nothing and says whose commander it is.
        self.roster(surface).rules().patch(owner, id, &serde_json::json!({}), |_, _| Ok(()))?;
        self.desk(id).ok_or_else(|| Code::Forbidden.into())
    }

    fn desk(&self, id: &CommanderId) -> Option<Arc<Desk>> {
        self.desks.get(id).map(|desk| Arc::clone(&desk))
    }

    fn put(&self, digest: Digest, grant: CommanderGrant) {
        self.tokens.insert(digest, Issued { grant: Arc::new(grant), until: None });
    }

    pub(crate) fn ring(&self, id: &CommanderId, role: &str) {
        if let Some(desk) = self.desk(id) {
            desk.ring(role);
        }
    }
}

impl std::fmt::Debug for Commanders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commanders").field("tokens", &self.tokens.len()).finish_non_exhaustive()
    }
}
