//! What an owner may ask of a match from outside its room: seats of theirs, and what agents on them are given and told.
//! The rules are those of a client in the room; only the way in differs.

use crate::archive::Archive;
use crate::door::Event;
use crate::ops::{self, Numbered, Op, PlayerOp, Prompt, SeatWish};
use crate::rates::Payer;
use crate::room::MatchRoom;
use playerthree_game::Seat;
use playerthree_host::{Account, Answer};
use playerthree_rooms::{PostError, RoomHandle};
use playerthree_session::{CallError, Code, Match, Tell};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The running matches, by the id of their room.
#[derive(Clone, Debug, Default)]
pub struct Matches {
    rooms: Arc<Mutex<HashMap<Arc<str>, RoomHandle<Event>>>>,
    archive: Option<Arc<dyn Archive>>,
}

impl Matches {
    /// Matches whose replays are kept.
    pub fn archived(archive: Arc<dyn Archive>) -> Self {
        Self { archive: Some(archive), ..Self::default() }
    }

    /// Whether somebody will ask for a match's replay.
    pub(crate) fn are_archived(&self) -> bool {
        self.archive.is_some()
    }

    /// Carries out one of `mint`, `revoke`, `assign`, `tell`, `mandate` and `scopes` with the fields of the operation of
    /// that name. The side is always named. Fails as the operation does, and `forbidden` for a match that is not there.
    pub async fn operate(
        &self,
        match_id: &str,
        account: Account,
        name: &str,
        fields: Map<String, Value>,
    ) -> Answer {
        let prompt = read(name, fields)?;
        let room = self.rooms().get(match_id).cloned().ok_or(Code::Forbidden)?;
        let (reply, answer) = oneshot::channel();
        room.try_post(Event::Owner(OwnerCall { account, prompt, reply })).map_err(|error| match error {
            PostError::Full(_) => Code::Busy,
            PostError::Gone(_) => Code::Forbidden,
        })?;
        answer.await.unwrap_or_else(|_| Err(Code::Forbidden.into()))
    }

    pub(crate) fn open(&self, match_id: &Arc<str>, room: RoomHandle<Event>) {
        self.rooms().insert(Arc::clone(match_id), room);
    }

    /// The room is gone.
    pub(crate) fn close(&self, match_id: &str) {
        self.rooms().remove(match_id);
    }

    /// The match is over. Its replay is kept, unless nothing ever happened in it.
    pub(crate) fn keep(&self, match_id: &str, game: &Match) {
        let Some(archive) = self.archive.as_ref().filter(|_| game.tick() > 0 || game.is_over()) else {
            return;
        };
        // Of a match that outgrew its replay the log has told.
        if let Ok(replay) = game.replay() {
            archive.keep(match_id, replay);
        }
    }

    fn rooms(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, RoomHandle<Event>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One operation of an owner on its way into a match.
pub struct OwnerCall {
    account: Account,
    prompt: Prompt,
    reply: oneshot::Sender<Answer>,
}

impl std::fmt::Debug for OwnerCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnerCall").finish_non_exhaustive()
    }
}

/// Reads an operation as a client's message, which it is but for the number that its answer would carry.
fn read(name: &str, mut fields: Map<String, Value>) -> Result<Prompt, CallError> {
    fields.insert("op".into(), json!(name));
    fields.insert("seq".into(), json!(0));
    match ops::parse(name, fields.into()) {
        Ok(Numbered { op: Op::Player(PlayerOp::Prompt(prompt)), .. }) => Ok(prompt),
        Ok(_) => Err(Code::Forbidden.into()),
        Err((_, code)) => Err(code.into()),
    }
}

impl MatchRoom {
    /// Carries out an owner's operation and answers it.
    pub(crate) fn operate_for(&mut self, call: OwnerCall) {
        let OwnerCall { account, prompt, reply } = call;
        let now = self.now();
        // It is the budget of the person's own clients: another way in gives no more (§15.5).
        let answer = match self.rates.take(Payer::Person(account.owner.clone()), now) {
            true => self.carry_out_for(&account, prompt),
            false => Err(Code::RateLimited.into()),
        };
        self.live.seats_changed(now);
        _ = reply.send(answer);
    }

    fn carry_out_for(&mut self, account: &Account, prompt: Prompt) -> Answer {
        match prompt {
            Prompt::Mint(wish) => {
                let seat = self.owned_by_name(account, &wish.wish)?;
                self.mint(account, &seat, &wish)
            }
            Prompt::Revoke(wish) => self.revoke(&self.owned_by_name(account, &wish)?),
            Prompt::Assign { wish, assignment } => {
                let seat = named(&wish)?;
                let answer = self.assign_for(account, &seat, &wish, &assignment)?;
                self.handed.insert(seat, self.now());
                Ok(answer)
            }
            Prompt::Mandate(set) => {
                let seat = self.owned_by_name(account, &set.wish)?;
                self.live.game_mut().set_mandate(&seat, &set.value)?;
                Ok(json!({}))
            }
            Prompt::Scopes(set) => {
                let seat = self.owned_by_name(account, &set.wish)?;
                self.live.game_mut().set_scopes(&seat, &set.value)?;
                Ok(json!({}))
            }
            Prompt::Tell(tell) => {
                let team = tell.team.ok_or(Code::Invalid)?;
                let message = Tell::parse(&self.surface, tell.message)?;
                self.admission.may_command(&account.owner, &team.as_str().into())?;
                let now = self.now();
                self.live.game_mut().tell(&account.owner, &team, &message, now)?;
                Ok(json!({}))
            }
            _ => Err(Code::Forbidden.into()),
        }
    }

    fn owned_by_name(&self, account: &Account, wish: &SeatWish) -> Result<Seat, CallError> {
        self.owned(account, &named(wish)?, wish)
    }
}

/// The seat of a wish that names its side.
fn named(wish: &SeatWish) -> Result<Seat, CallError> {
    let team = wish.team.as_deref().ok_or(Code::Invalid)?;
    Ok(Seat::new(team, &wish.role))
}
