//! What observers get (§20.9): the newest released frame whole or the ones since their cursor, then every later one as it
//! is released, and nothing else.

use crate::frames::News;
use crate::ops::{self, ObserverRequest};
use crate::push;
use crate::room::{Client, MatchRoom, Principal};
use playerthree_rooms::{Cx, SessionId};
use playerthree_session::{CallError, Code, FrameKey, ObserverPerspective, ObserverState};
use serde_json::{Value, json};

/// What an observer reads, and how far it is.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    perspective: ObserverPerspective,
    /// The last frame that was sent; nothing while it buffers.
    at: Option<u64>,
}

impl MatchRoom {
    /// An observer asks for frames.
    pub(crate) fn observe(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        body: Value,
        within_rate: bool,
    ) {
        let asked = if within_rate { self.ask(client, body) } else { Err(Code::RateLimited.into()) };
        match asked {
            Ok((grant, reading, keys)) => {
                let state = self.live.game().observer_state(&reading.perspective);
                let body = json!({ "op": "observer", "state": push::observer_state(state), "grant": grant });
                push::send(cx, client, "playerthree:observer", &body);
                self.read_on(client, (state != ObserverState::Closed).then_some(reading));
                self.send_keys(cx, client, &keys);
            }
            Err(error) if error.code == Code::BadToken => self.let_go(cx, client),
            Err(error) => push::result(cx, client, None, &Err(error)),
        }
    }

    /// Judges a request: the grant as it travels, what is read from where on, and what brings the reader up to date. A
    /// refused one changes nothing.
    fn ask(&mut self, client: SessionId, body: Value) -> Result<(Value, Reading, Vec<FrameKey>), CallError> {
        let now = self.now();
        let game = self.live.game();
        let Client { principal, .. } = self.clients.get(&client).ok_or(Code::Forbidden)?;
        let Principal::Observer { owner, grant, .. } = principal else {
            return Err(Code::Forbidden.into());
        };
        if !self.admission.may_observe(game, owner, grant) {
            return Err(Code::BadToken.into());
        }
        let ObserverRequest { perspective, after } = ops::parse_observer(body).ok_or(Code::BadMessage)?;
        let perspective = game.perspective(&perspective).ok_or(Code::Invalid)?;
        if !grant.admits(&perspective) {
            return Err(Code::Forbidden.into());
        }
        let keys = game.observer_since(&perspective, after)?;
        // A whole view costs what a fresh one costs a player.
        let is_whole = matches!(keys[..], [FrameKey::Keyframe(_)]);
        if is_whole && !self.rates.take_view(principal.payer(client), now) {
            return Err(Code::RateLimited.into());
        }
        let grant = grant.to_json();
        self.live.game_mut().observers_read(now);
        Ok((grant, Reading { perspective, at: after }, keys))
    }

    fn read_on(&mut self, client: SessionId, new: Option<Reading>) {
        if let Some(Client { principal: Principal::Observer { reading, .. }, .. }) =
            self.clients.get_mut(&client)
        {
            *reading = new;
        }
    }

    /// Sends frames that became due. A history that could not be kept closes its readers.
    pub(crate) fn send_frames(&mut self, cx: &mut Cx<'_, Self>) {
        for perspective in self.live.game().perspectives() {
            match self.frames.news(self.live.game(), &perspective) {
                Some(News::Frames) => self.deliver(cx, &perspective),
                Some(News::Closed) => self.close_readers(cx, &perspective),
                None => {}
            }
        }
    }

    /// Brings every reader of a perspective up to its watermark. Whoever may not read it any more is let go first. A frame
    /// that nobody is sent is no read, so that an unwatched stream falls to its idle rate.
    fn deliver(&mut self, cx: &mut Cx<'_, Self>, perspective: &ObserverPerspective) {
        let now = self.now();
        let mut is_read = false;
        for (client, at) in self.readers_of(perspective) {
            let game = self.live.game();
            let may_read = match self.clients.get(&client).map(|client| &client.principal) {
                Some(Principal::Observer { owner, grant, .. }) => {
                    grant.admits(perspective) && self.admission.may_observe(game, owner, grant)
                }
                _ => false,
            };
            if !may_read {
                self.let_go(cx, client);
                continue;
            }
            // A reader whose place is gone begins anew, never further ahead than the watermark.
            let keys =
                game.observer_since(perspective, at).or_else(|_| game.observer_since(perspective, None));
            self.send_keys(cx, client, &keys.unwrap_or_default());
            is_read = true;
        }
        if is_read {
            self.live.game_mut().observers_read(now);
        }
    }

    fn send_keys(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, keys: &[FrameKey]) {
        let Some(Client { principal: Principal::Observer { reading: Some(reading), .. }, .. }) =
            self.clients.get_mut(&client)
        else {
            return;
        };
        for key in keys {
            if let Some(frame) = self.frames.get(self.live.game(), &reading.perspective, *key) {
                cx.send_frame(client, &frame);
                reading.at = Some(key.sequence());
            }
        }
    }

    fn close_readers(&mut self, cx: &mut Cx<'_, Self>, perspective: &ObserverPerspective) {
        let readers: Vec<SessionId> =
            self.readers_of(perspective).into_iter().map(|(client, _)| client).collect();
        let closed = json!({ "op": "observer", "state": push::observer_state(ObserverState::Closed) });
        push::to_all(cx, &readers, "playerthree:observer", &closed);
        for reader in readers {
            self.read_on(reader, None);
        }
    }

    fn readers_of(&self, perspective: &ObserverPerspective) -> Vec<(SessionId, Option<u64>)> {
        let reads = |client: &Client| match &client.principal {
            Principal::Observer { reading: Some(reading), .. } if reading.perspective == *perspective => {
                Some(reading.at)
            }
            _ => None,
        };
        self.clients.iter().filter_map(|(id, client)| Some((*id, reads(client)?))).collect()
    }
}
