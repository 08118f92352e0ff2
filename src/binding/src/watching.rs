//! What observers get (§20.9): the newest released frame whole, then every later one as it is released, and nothing else.

use crate::ops;
use crate::push;
use crate::room::{Client, MatchRoom, Principal};
use playerthree_rooms::{Cx, SessionId};
use playerthree_session::{Code, ObserverState};
use serde_json::{Value, json};

impl MatchRoom {
    /// An observer asks for frames.
    pub(crate) fn observe(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        body: Value,
        within_rate: bool,
    ) {
        let game = self.live.game();
        let Some(Client { principal: Principal::Observer { reading, .. }, .. }) =
            self.clients.get_mut(&client)
        else {
            push::result(cx, client, None, &Err(Code::Forbidden.into()));
            return;
        };
        let request = ops::parse_observer(body).filter(|request| request.perspective == "all");
        let Some(request) = request.filter(|_| within_rate) else {
            let code = if within_rate { Code::BadMessage } else { Code::RateLimited };
            push::result(cx, client, None, &Err(code.into()));
            return;
        };
        let keyframe = game.observer_keyframe();
        let watermark = keyframe.as_ref().and_then(|frame| frame["sequence"].as_u64());
        let ahead = request.after.is_some_and(|after| watermark.is_none_or(|released| after > released));
        let state = if ahead { ObserverState::Closed } else { game.observer_state() };
        *reading = state != ObserverState::Closed;
        let mut answer = json!({ "op": "observer", "state": push::observer_state(state) });
        if let Some(grant) = game.observer_grant() {
            answer["grant"] = grant;
        }
        if let Some(keyframe) =
            keyframe.filter(|_| state == ObserverState::Ready && request.after != watermark)
        {
            answer["frame"] = keyframe;
        }
        push::send(cx, client, "playerthree:observer", &answer);
    }

    /// Sends frames that became due. A history that could not be kept closes its readers.
    pub(crate) fn send_frames(&mut self, cx: &mut Cx<'_, Self>, frames: Vec<Value>) {
        let readers = self.frame_readers();
        if self.live.game().observer_state() == ObserverState::Closed {
            push::to_all(
                cx,
                &readers,
                "playerthree:observer",
                &json!({ "op": "observer", "state": "closed" }),
            );
            for reader in readers {
                if let Some(Client { principal: Principal::Observer { reading, .. }, .. }) =
                    self.clients.get_mut(&reader)
                {
                    *reading = false;
                }
            }
            return;
        }
        for frame in frames {
            let message = json!({ "op": "observer", "state": "ready", "frame": frame });
            push::to_all(cx, &readers, "playerthree:observer", &message);
        }
    }

    /// Observers that asked for frames. Reauthorized at each delivery: a person who plays sees nothing of this any more.
    fn frame_readers(&self) -> Vec<SessionId> {
        let may_read = |client: &Client| match &client.principal {
            Principal::Observer { owner, reading } => *reading && !self.admission.has_played(owner),
            Principal::Player { .. } | Principal::Human { .. } | Principal::Spectator { .. } => false,
        };
        self.clients.iter().filter(|(_, client)| may_read(client)).map(|(id, _)| *id).collect()
    }
}
