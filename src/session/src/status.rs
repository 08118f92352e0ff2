//! What a credential may know of its seat at any moment (§17 "listen-based wake"): where the seat is, how its side stands,
//! its newest approval request, how much of its owner's is unread, and what holds the session.
//!
//! Reading it is no call and takes nothing: inboxes, approvals and retained transitions stay for the wait that tells them.
//! It holds no free text.

use crate::approval::Approval;
use crate::game_match::Match;
use playerthree_game::{Name, Outcome, Phase, Seat};
use serde_json::{Value, json};

/// A seat, or a lane between matches, as its status resource shows it; time aside, which alone is no news.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatStatus {
    /// Where the agent is.
    pub phase: Phase,
    /// The side of its seat, once it has one.
    pub team: Option<Name>,
    /// How the side stands, while the match runs or until its end was told.
    pub outcome: Option<Outcome>,
    /// `{id, kind, version, status}` of the newest request.
    approval: Option<Value>,
    /// Messages of the owner that the agent has not read.
    pub unread: usize,
    /// Which seats hold the session, while it is paused (§18).
    paused: Option<Value>,
}

impl SeatStatus {
    /// A lane that no match seats.
    pub(crate) fn in_lobby(reserved: Option<Name>, approval: Option<&Approval>, unread: usize) -> Self {
        let approval = approval.map(Approval::to_json);
        Self { phase: Phase::Lobby, team: reserved, outcome: None, approval, unread, paused: None }
    }

    /// A seat whose match is over, while its lane is back in the lobby and its agent was not told how the match ended.
    #[must_use]
    pub fn ended_before(self, lane: Self) -> Self {
        Self { approval: lane.approval.or(self.approval), unread: self.unread + lane.unread, ..self }
    }

    /// `{phase, team?, tick, outcome?, approval?, unreadOwnerMessages, paused?}`. The tick is 0 between matches.
    pub fn to_json(&self, tick: u64) -> Value {
        let mut status =
            json!({ "phase": self.phase.as_str(), "tick": tick, "unreadOwnerMessages": self.unread });
        if let Some(team) = &self.team {
            status["team"] = json!(team);
        }
        if let Some(outcome) = self.outcome {
            status["outcome"] = json!(outcome);
        }
        if let Some(approval) = &self.approval {
            status["approval"] = approval.clone();
        }
        if let Some(paused) = &self.paused {
            status["paused"] = paused.clone();
        }
        status
    }
}

impl Match {
    /// The status of a seat. Nothing for one that the match does not have.
    pub fn seat_status(&self, seat: &Seat) -> Option<SeatStatus> {
        let state = self.seats.get(seat)?;
        let (phase, outcome) = match self.is_held() {
            true => (Phase::Lobby, None),
            false => (Phase::Match, Some(self.outcome(&seat.team))),
        };
        Some(SeatStatus {
            phase,
            team: Some(seat.team.clone()),
            outcome,
            approval: state.policy.approval().map(Approval::to_json),
            unread: state.agent_lane.inbox.len(),
            paused: self.paused(),
        })
    }
}
