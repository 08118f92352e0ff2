//! A stand-in for the game room that `play` needs, with the binding's messages and the least of a game: whoever is on
//! turn places a mark, and a full board is a draw. The true host plays in the end-to-end tests of the project.

use playerthree_rooms::{
    AuthRequest, BadMessage, Cx, Definition, Join, Message, MessageType, Refusal, Room, SessionId,
};
use serde_json::{Value, json};

/// The token that the login hands out and the room wants.
pub(super) const TOKEN: &str = "a-token";

const SIDES: [&str; 2] = ["x", "o"];

pub(super) struct FakeGame;

pub(super) struct FakeMatch {
    players: Vec<SessionId>,
    board: [[&'static str; 3]; 3],
    moves: usize,
}

impl Definition for FakeGame {
    type Room = FakeMatch;

    async fn authorize(&self, request: &AuthRequest) -> Result<(), Refusal> {
        if request.token.as_deref() == Some(TOKEN) { Ok(()) } else { Err(Refusal::auth_failed()) }
    }

    fn create(&self, cx: &mut Cx<'_, FakeMatch>, _: &Value) -> Result<FakeMatch, Refusal> {
        cx.set_max_clients(SIDES.len());
        Ok(FakeMatch { players: Vec::new(), board: [["."; 3]; 3], moves: 0 })
    }
}

impl Room for FakeMatch {
    type Event = ();
    type Auth = ();

    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: Join<()>) -> Result<(), Refusal> {
        let team = SIDES[self.players.len()];
        self.players.push(client);
        let welcome = json!({ "op": "welcome", "as": "player", "seat": { "team": team, "role": "player" } });
        cx.send(client, "playerthree:welcome", &welcome).unwrap();
        self.show(cx);
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let MessageType::Name("playerthree:call") = message.kind else { return Err(BadMessage::UnknownType) };
        let call: Value = message.payload.decode()?;
        let code = self.place(client, &call["args"]["intents"][0]);
        let ack = code.map_or(json!({ "ok": true }), |code| json!({ "ok": false, "code": code }));
        let result = json!({ "op": "result", "seq": call["seq"], "ok": true, "data": { "acks": [ack] } });
        cx.send(client, "playerthree:result", &result).unwrap();
        self.show(cx);
        Ok(())
    }
}

impl FakeMatch {
    fn turn(&self) -> usize {
        self.moves % SIDES.len()
    }

    /// Places a mark, or says why not.
    fn place(&mut self, client: SessionId, intent: &Value) -> Option<&'static str> {
        let at = |name: &str| intent[name].as_u64().and_then(|n| usize::try_from(n).ok());
        let square = self.board.get_mut(at("row")?)?.get_mut(at("col")?)?;
        if self.players.get(self.moves % SIDES.len()) != Some(&client) || *square != "." {
            return Some("game");
        }
        *square = SIDES[self.moves % SIDES.len()];
        self.moves += 1;
        None
    }

    /// Sends each side its view as a keyframe.
    fn show(&self, cx: &mut Cx<'_, Self>) {
        let over = self.moves == 9;
        let board: Vec<String> = self.board.iter().map(|row| row.concat()).collect();
        let turn = if over { "none" } else { SIDES[self.turn()] };
        let view = json!({ "board": board, "turn": turn, "result": if over { "draw" } else { "running" } });
        for (client, team) in self.players.iter().zip(SIDES) {
            let message = json!({ "op": "view", "team": team, "version": self.moves, "view": view });
            cx.send(*client, "playerthree:view", &message).unwrap();
        }
    }
}
