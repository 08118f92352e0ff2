//! The way into a match's room for other tasks: agents' calls, commanders' settings and chat, and answers that took a
//! while. A caller of the door never waits for the room.

use crate::owning::OwnerCall;
use crate::room::Caller;
use playerthree_game::Seat;
use playerthree_host::{AgentCall, Answer, MatchDoor, SaidInLobby, StatusBoard};
use playerthree_rooms::{PostError, RoomHandle};
use playerthree_session::{CallError, Code, CommanderId, Message, Settings};
use std::sync::Arc;

/// What other tasks post into a match's room.
#[derive(Debug)]
pub enum Event {
    /// An agent calls.
    Agent(AgentCall),
    /// A commander's owner changed its settings.
    Follow(CommanderId, Settings),
    /// A commander's owner wrote to it at a seat of this match.
    Tell(CommanderId, Seat, Message),
    /// A commander of somebody who is here said something between matches.
    Said(SaidInLobby),
    /// An owner asks for something from outside the room.
    Owner(OwnerCall),
    /// A policy answered.
    Wake,
    /// What somebody asked beside the match has its answer.
    Answered(Caller, Answer),
}

/// The way in for agents.
pub(crate) struct Door {
    room: RoomHandle<Event>,
    board: Arc<StatusBoard>,
}

impl MatchDoor for Door {
    fn call(&self, call: AgentCall) -> Result<(), CallError> {
        self.post(Event::Agent(call))
    }

    fn follow(&self, commander: CommanderId, settings: Settings) -> Result<(), CallError> {
        self.post(Event::Follow(commander, settings))
    }

    fn tell(&self, commander: CommanderId, seat: Seat, message: Message) -> Result<(), CallError> {
        self.post(Event::Tell(commander, seat, message))
    }

    fn said(&self, said: SaidInLobby) -> Result<(), CallError> {
        self.post(Event::Said(said))
    }

    fn board(&self) -> Arc<StatusBoard> {
        Arc::clone(&self.board)
    }
}

impl Door {
    /// The way into this room, whose match shows its seats on this board.
    pub(crate) fn new(room: RoomHandle<Event>, board: Arc<StatusBoard>) -> Self {
        Self { room, board }
    }

    fn post(&self, event: Event) -> Result<(), CallError> {
        self.room.try_post(event).map_err(|error| match error {
            PostError::Full(_) => Code::Busy.into(),
            PostError::Gone(_) => Code::BadToken.into(),
        })
    }
}
