//! What leaves a match's room after each of its events, and who reads it: status, seats, views, chat, observations and
//! answers. Observers' frames are in `watching`. Nothing here changes the match.

use crate::push;
use crate::room::{Caller, Client, MatchRoom, Principal};
use playerthree_host::{Answer, SaidInLobby};
use playerthree_rooms::{Cx, SessionId};
use playerthree_session::{CommanderId, Pushed, Said};
use serde_json::{Value, json};

impl MatchRoom {
    pub(crate) fn status(&self) -> Value {
        let mut status = self.live.game().status();
        status["op"] = json!("status");
        if let Some(readiness) = self.start_facts() {
            status["readiness"] = readiness;
            status["host"] = json!(self.host_display());
        }
        status
    }

    /// The seats as this client may see them.
    pub(crate) fn seats(&self, client: SessionId) -> Option<Value> {
        let game = self.live.game();
        let seats = match &self.clients.get(&client)?.principal {
            Principal::Player { account, .. } => game.seats_json_for(&account.owner, self.now()),
            Principal::Human { seat, .. } => game.seats_json_for_seat(seat, self.now()),
            Principal::Spectator { .. } => game.seats_json(self.now()),
            Principal::Observer { .. } => return None,
        };
        Some(Value::from_iter([("op", Value::from("seats")), ("seats", seats.into())]))
    }

    /// The seats for everybody who may see them: each holder of seats their own list, all spectators the same one.
    fn send_seats(&self, cx: &mut Cx<'_, Self>) {
        let watches = |client: &SessionId| {
            self.clients
                .get(client)
                .is_some_and(|client| matches!(client.principal, Principal::Spectator { .. }))
        };
        let (spectators, holders): (Vec<_>, Vec<_>) = self.readers(None).into_iter().partition(watches);
        for holder in holders {
            if let Some(seats) = self.seats(holder) {
                push::send(cx, holder, "playerthree:seats", &seats);
            }
        }
        if let Some(seats) = spectators.first().and_then(|spectator| self.seats(*spectator)) {
            push::to_all(cx, &spectators, "playerthree:seats", &seats);
        }
    }

    /// The identity cards for everybody who sees the seats, when one of them changed (§20.2).
    fn send_cards(&mut self, cx: &mut Cx<'_, Self>) {
        let cards = self.live.game().cards(self.now());
        if cards != self.cards {
            push::to_all(cx, &self.readers(None), "playerthree:cards", &push::cards(&cards));
            self.cards = cards;
        }
    }

    /// Readers of a side's live view, or of any.
    fn readers(&self, side: Option<&str>) -> Vec<SessionId> {
        let reads = |client: &Client| {
            client.principal.side().is_some_and(|read| side.is_none_or(|side| **read == *side))
        };
        self.clients.iter().filter(|(_, client)| reads(client)).map(|(id, _)| *id).collect()
    }

    /// What streams bring, each to the one client that reads it.
    fn send_observations(&self, cx: &mut Cx<'_, Self>, observations: &[Pushed]) {
        for pushed in observations {
            if let Some(reader) = self.streams.get(&pushed.seat) {
                push::observation(cx, *reader, pushed);
            }
        }
    }

    /// Delivers everything that the last event led to.
    pub(crate) fn flush(&mut self, cx: &mut Cx<'_, Self>) {
        self.end_credentials(cx);
        let changes = self.live.take_changes(self.now());
        for (team, message) in &changes.views {
            let frame = push::view(team, message);
            for reader in self.readers(Some(team)) {
                cx.send_frame(reader, &frame);
            }
        }
        if changes.status {
            self.free_commanders();
            push::to_all(cx, &self.readers(None), "playerthree:status", &self.status());
        }
        if changes.seats || changes.status {
            self.send_seats(cx);
            self.send_cards(cx);
            self.list(cx);
        }
        self.send_said(cx, &changes.said);
        self.send_observations(cx, &changes.observations);
        self.send_frames(cx);
        for (caller, answer) in self.live.take_answers() {
            self.answer(cx, caller, answer);
        }
        if self.live.game().is_over() {
            // Its bearers have just been told the end; their credentials end with the match.
            self.admission.credentials.end_match();
            self.end_credentials(cx);
        }
    }

    /// Answers whoever asked. A caller that went away misses it; nobody else may have it.
    pub(crate) fn answer(&self, cx: &mut Cx<'_, Self>, caller: Caller, answer: Answer) {
        match caller {
            Caller::Client { client, seq } if self.clients.contains_key(&client) => {
                push::result(cx, client, Some(seq), &answer);
            }
            Caller::Client { .. } => {}
            Caller::Agent(reply) => _ = reply.send(answer),
        }
    }

    /// Replies of agents, each to its own owner's clients. An owner who is away misses them: chat is not kept (§12).
    fn send_said(&self, cx: &mut Cx<'_, Self>, said: &[Said]) {
        for Said { owner, seat, commander, tick, text } in said {
            let clients = self.clients.iter();
            let theirs = clients.filter(|(_, client)| client.principal.answers_for(owner, seat));
            let theirs: Vec<SessionId> = theirs.map(|(id, _)| *id).collect();
            let mut body =
                json!({ "op": "said", "team": seat.team, "role": seat.role, "tick": tick, "text": text });
            if let Some(CommanderId(id)) = commander {
                body["commander"] = json!(id);
            }
            push::to_all(cx, &theirs, "playerthree:said", &body);
        }
    }

    /// A reply of a commander between matches, to its owner's own clients: a human token is good for a seat alone.
    pub(crate) fn send_said_in_lobby(&self, cx: &mut Cx<'_, Self>, said: &SaidInLobby) {
        let is_theirs = |client: &Client| matches!(&client.principal, Principal::Player { account, .. } if account.owner == said.owner);
        let theirs = self.clients.iter().filter(|(_, client)| is_theirs(client));
        let theirs: Vec<SessionId> = theirs.map(|(id, _)| *id).collect();
        let SaidInLobby { commander: CommanderId(id), role, text, .. } = said;
        let body = json!({ "op": "said", "commander": id, "role": role, "tick": 0, "text": text });
        push::to_all(cx, &theirs, "playerthree:said", &body);
    }
}
