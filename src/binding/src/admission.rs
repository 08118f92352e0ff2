//! Who may join a match, and as what (§20, §20.9). A person who played a side, watched one live or observes them all
//! carries that history for the life of the match; nothing here forgets it.

use crate::options::{Part, Sighting};
use playerthree_game::{Name, Seat};
use playerthree_host::{Account, Credentials, Grant, Holder, Sight};
use playerthree_rooms::{Refusal, SessionId};
use playerthree_session::{Code, Match, Millis, ObserverGrant, OwnerId};
use std::collections::{BTreeMap, BTreeSet};

/// People whose history a match remembers. Past it nobody new is let in under a name, so that nobody is forgotten.
const HISTORY_MAX: usize = 4_096;

/// What a client is let in as.
pub(crate) enum Admitted {
    /// Plays this seat, once it is assigned.
    Player { account: Account, seat: Seat },
    /// Holds this seat for its owner, by a human token.
    Human { account: Account, seat: Seat },
    /// Watches this side live.
    Spectator { team: Name },
    /// Watches late what the grant says.
    Observer { owner: OwnerId, grant: ObserverGrant },
}

#[derive(Clone, Debug, Default)]
struct Seen {
    played: BTreeSet<Name>,
    watched: BTreeSet<Name>,
    observed: bool,
}

/// The memory of one match about people, and the seats it has promised to clients on their way.
#[derive(Default)]
pub(crate) struct Admission {
    people: BTreeMap<OwnerId, Seen>,
    promised: BTreeMap<SessionId, Seat>,
    /// Somebody was let in as an observer.
    was_observed: bool,
    /// What lets clients in besides their account.
    pub(crate) credentials: Credentials<SessionId>,
}

impl Admission {
    /// Judges a client that asks for a place, before it connects. A player's seat is promised to it.
    pub(crate) fn reserve(
        &mut self,
        game: &Match,
        client: SessionId,
        part: &Part,
        account: Option<&Account>,
        now: Millis,
    ) -> Result<(), Refusal> {
        match part {
            // A token is claimed by the connection that follows, and not by asking for a place.
            Part::Bearer { token } => {
                self.credentials.claimable(token, game, now).map(|_| ()).ok_or_else(bad_token)
            }
            Part::Spectator { team } => self.spectator(game, team.as_ref(), account).map(|_| ()),
            Part::Observer(sighting) => self.observer(game, sighting, account, now).map(|_| ()),
            wish @ Part::Player { .. } => {
                let account = account.ok_or_else(log_in_first)?;
                let seat = self.free_seat(game, wish, account)?;
                self.promised.insert(client, seat);
                Ok(())
            }
        }
    }

    /// The client never came.
    pub(crate) fn unreserve(&mut self, client: SessionId) {
        self.promised.remove(&client);
    }

    /// Lets a client in. Whatever changed since its reservation counts.
    pub(crate) fn admit(
        &mut self,
        game: &Match,
        client: SessionId,
        part: Part,
        account: Option<Account>,
        now: Millis,
    ) -> Result<Admitted, Refusal> {
        let promised = self.promised.remove(&client);
        match part {
            Part::Bearer { token } => {
                // Whoever joins by their account has a history, whatever token they bring beside it.
                if let Some(account) = &account {
                    self.bearer(game, &token, account, now)?;
                }
                match self.credentials.claim(&token, client, game, now).map_err(|_| bad_token())? {
                    Grant::Human { account, seat } => Ok(Admitted::Human { account, seat }),
                    Grant::Spectator { team } => Ok(Admitted::Spectator { team }),
                    Grant::Observer { .. } => Err(bad_token()),
                }
            }
            Part::Spectator { team } => {
                let team = self.spectator(game, team.as_ref(), account.as_ref())?;
                if let Some(account) = &account {
                    self.person(&account.owner)?.watched.insert(team.clone());
                }
                Ok(Admitted::Spectator { team })
            }
            Part::Observer(sighting) => {
                let (owner, grant) = self.observer(game, &sighting, account.as_ref(), now)?;
                self.check_room_for(&owner)?;
                if let Sighting::Ticket(ticket) = &sighting {
                    self.credentials.claim_observer(ticket, client, now).map_err(|_| no_ticket())?;
                }
                let seen = self.person(&owner)?;
                match grant.side() {
                    Some(team) => _ = seen.watched.insert(team.clone()),
                    None => seen.observed = true,
                }
                self.was_observed = true;
                Ok(Admitted::Observer { owner, grant })
            }
            wish @ Part::Player { .. } => {
                let account = account.ok_or_else(log_in_first)?;
                let still_free = promised.filter(|seat| {
                    self.may_play(&account.owner, &seat.team)
                        && game.joinable_seats(Some(&account.owner)).any(|free| free == seat)
                });
                let seat = still_free.map_or_else(|| self.free_seat(game, &wish, &account), Ok)?;
                self.person(&account.owner)?.played.insert(seat.team.clone());
                Ok(Admitted::Player { account, seat })
            }
        }
    }

    /// Whether a person may observe what the grant says (§20.9). While anything that they play or played can still go
    /// either way for them or their allies, they see no more than their own side.
    pub(crate) fn may_observe(&self, game: &Match, owner: &OwnerId, grant: &ObserverGrant) -> bool {
        let owned = game.seats_of(owner).into_iter().map(|seat| seat.team);
        let played = self.people.get(owner).into_iter().flat_map(|seen| seen.played.iter().cloned());
        let theirs: BTreeSet<Name> = owned.chain(played).collect();
        let is_out = theirs.iter().all(|team| game.is_out_of_play(team));
        is_out || grant.side().is_some_and(|team| theirs.contains(team))
    }

    /// Whether anybody came as an observer or may still come by a ticket: somebody waits for the end of this match.
    pub(crate) fn is_observed(&self, now: Millis) -> bool {
        self.was_observed || self.credentials.has_observers(now)
    }

    /// Seats that a stranger could take now.
    pub(crate) fn open_seats(&self, game: &Match) -> usize {
        game.joinable_seats(None).filter(|seat| !self.is_promised(seat)).count()
    }

    /// A person who holds a seat of this side, as the holder rule of human tokens judges them (§20).
    pub(crate) fn holder<'a>(&self, account: &'a Account, team: &Name) -> Holder<'a> {
        let sight = if self.may_play(&account.owner, team) { Sight::OwnSide } else { Sight::Broader };
        Holder { account, sight }
    }

    fn spectator(
        &self,
        game: &Match,
        wish: Option<&Name>,
        account: Option<&Account>,
    ) -> Result<Name, Refusal> {
        let team = wish.or(game.teams().first()).filter(|team| game.teams().contains(team)).cloned();
        let team = team.ok_or_else(|| Refusal::join_refused("this side does not play"))?;
        let seen = account.and_then(|account| self.people.get(&account.owner));
        if seen.is_some_and(|seen| seen.played.iter().any(|played| *played != team)) {
            return Err(Refusal::join_refused("players do not watch another side of their match"));
        }
        Ok(team)
    }

    /// A token that is not their own shows its side to somebody known, or lets them play it: by the rules for people who
    /// come without one, and for good.
    fn bearer(&mut self, game: &Match, token: &str, account: &Account, now: Millis) -> Result<(), Refusal> {
        let owner = &account.owner;
        match self.credentials.claimable(token, game, now) {
            Some(Grant::Spectator { team }) => {
                let team = self.spectator(game, Some(&team.clone()), Some(account))?;
                self.person(owner)?.watched.insert(team);
            }
            Some(Grant::Human { account: holder, seat }) if holder.owner != *owner => {
                let team = seat.team.clone();
                let opposes = !game.may_own(owner, &team) || game.holds_in_person_elsewhere(owner, &team);
                if opposes || !self.may_play(owner, &team) {
                    return Err(Refusal::join_refused(
                        "whoever saw or plays another side does not play this one",
                    ));
                }
                self.person(owner)?.played.insert(team);
            }
            _ => {}
        }
        Ok(())
    }

    /// Who observes, and what they are granted. A private match grants what a ticket says, and nothing without one.
    fn observer(
        &self,
        game: &Match,
        sighting: &Sighting,
        account: Option<&Account>,
        now: Millis,
    ) -> Result<(OwnerId, ObserverGrant), Refusal> {
        let owner = &account.ok_or_else(log_in_first)?.owner;
        let granted = |team: Option<&str>| {
            game.observer_grant(team).map_err(|error| match error.code {
                Code::Invalid => Refusal::join_refused("this side does not play"),
                _ => Refusal::join_refused("this match has no observers"),
            })
        };
        let grant = match (sighting, game.observer_policy().is_private()) {
            (Sighting::Ticket(ticket), true) => {
                self.credentials.claimable_sight(ticket, now).cloned().ok_or_else(no_ticket)?
            }
            (Sighting::Everything | Sighting::Side(_), true) => return Err(no_ticket()),
            (Sighting::Everything | Sighting::Ticket(_), false) => granted(None)?,
            (Sighting::Side(team), false) => granted(Some(team))?,
        };
        if !self.may_observe(game, owner, &grant) {
            return Err(Refusal::join_refused("players do not observe their own match, but their side"));
        }
        Ok((owner.clone(), grant))
    }

    /// The first seat that fits, is free and may be this person's.
    fn free_seat(&self, game: &Match, wish: &Part, account: &Account) -> Result<Seat, Refusal> {
        if self.people.get(&account.owner).is_some_and(|seen| seen.observed) {
            return Err(Refusal::join_refused("observers do not play the match that they see"));
        }
        let fits = |seat: &&Seat| {
            wish.fits(seat) && !self.is_promised(seat) && self.may_play(&account.owner, &seat.team)
        };
        let seat = game.joinable_seats(Some(&account.owner)).find(fits).cloned();
        seat.ok_or_else(|| Refusal::join_refused("no open seat for you of that side and role"))
    }

    /// A person plays one side, and none that they watched another side of.
    fn may_play(&self, owner: &OwnerId, team: &Name) -> bool {
        let Some(seen) = self.people.get(owner) else { return true };
        !seen.observed && seen.watched.iter().chain(&seen.played).all(|known| known == team)
    }

    /// Whether a person may command a seat of this side, themselves or through what they put there (§20): not one who saw
    /// more of the match than that side does. Fails `forbidden`, and `busy` where nobody new can be remembered.
    pub(crate) fn may_command(&self, owner: &OwnerId, team: &Name) -> Result<(), Code> {
        self.check_room_for(owner).map_err(|_| Code::Busy)?;
        let Some(seen) = self.people.get(owner) else { return Ok(()) };
        let sees_more = seen.observed || seen.watched.iter().any(|watched| watched != team);
        if sees_more { Err(Code::Forbidden) } else { Ok(()) }
    }

    /// Whether a person may take an open seat for themselves or what they put there: as [`Self::may_command`], and not one
    /// that is promised to a client on its way. Fails `forbidden` for that.
    pub(crate) fn may_take(&self, owner: &OwnerId, seat: &Seat) -> Result<(), Code> {
        if self.is_promised(seat) { Err(Code::Forbidden) } else { self.may_command(owner, &seat.team) }
    }

    /// A person has put something into a seat of this side. Whoever plays another one in person keeps that history (§20
    /// "isolated practice").
    pub(crate) fn commanded(&mut self, owner: &OwnerId, team: &Name) {
        if let Ok(seen) = self.person(owner)
            && seen.played.is_empty()
        {
            seen.played.insert(team.clone());
        }
    }

    fn is_promised(&self, seat: &Seat) -> bool {
        self.promised.values().any(|promised| promised == seat)
    }

    fn person(&mut self, owner: &OwnerId) -> Result<&mut Seen, Refusal> {
        self.check_room_for(owner)?;
        Ok(self.people.entry(owner.clone()).or_default())
    }

    fn check_room_for(&self, owner: &OwnerId) -> Result<(), Refusal> {
        let is_full = self.people.len() >= HISTORY_MAX && !self.people.contains_key(owner);
        if is_full { Err(Refusal::room_full()) } else { Ok(()) }
    }
}

fn log_in_first() -> Refusal {
    Refusal::new(401, "log in first: POST /demo/login with a name, then join with its token")
}

fn no_ticket() -> Refusal {
    Refusal::join_refused("a private match admits observers by a player's ticket alone")
}

/// Every token that is not good is refused alike.
fn bad_token() -> Refusal {
    Refusal::new(525, Code::BadToken.as_str())
}
