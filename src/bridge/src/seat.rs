//! What is known of an agent's seat, and what of its changes wakes a client (§17): four kinds of events, in fixed words.
//!
//! Nothing of a game is in it: no observation, no event, no text of anybody.

use serde_json::{Value, json};

/// What is known of a seat.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Status {
    in_match: bool,
    /// The side of its seat, held or reserved before the match starts (§4), too.
    team: Option<String>,
    tick: u64,
    outcome: Option<Outcome>,
    /// Its newest request to its owner.
    approval: Option<Approval>,
    unread: u64,
}

/// A request of an agent to its owner (§7).
#[derive(Clone, Debug, PartialEq)]
struct Approval {
    id: String,
    is_pending: bool,
}

/// How a match ended for the seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Win,
    Loss,
    Draw,
}

/// Something that wakes a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Seated,
    MatchEnded(Outcome),
    ApprovalResolved,
    OwnerMessage,
}

impl Status {
    /// What a status resource says.
    pub(crate) fn of(status: &Value) -> Self {
        let approval = status.get("approval");
        let id = approval.and_then(|approval| approval["id"].as_str());
        let is_pending = approval.is_some_and(|approval| approval["status"] == "pending");
        Self {
            in_match: status["phase"] == "match",
            team: status["team"].as_str().map(str::to_owned),
            tick: status["tick"].as_u64().unwrap_or_default(),
            outcome: status["outcome"].as_str().and_then(Outcome::of),
            approval: id.map(|id| Approval { id: id.to_owned(), is_pending }),
            unread: status["unreadOwnerMessages"].as_u64().unwrap_or_default(),
        }
    }

    /// What of a first look is news: a seat, an end and messages wait for an agent, a decision that is over does not.
    pub(crate) fn at_first(&self) -> Vec<Event> {
        self.since(&Self { approval: self.approval.clone(), ..Self::default() })
    }

    /// What happened between two looks.
    pub(crate) fn since(&self, before: &Self) -> Vec<Event> {
        let is_seated = |status: &Self| status.team.is_some() && status.outcome.is_none();
        // A tick that went back is another match's.
        let is_new = !is_seated(before) || self.team != before.team || self.tick < before.tick;
        // A client that fell asleep again while its match was held is woken by the start.
        let starts = self.in_match && !before.in_match;
        let seated = (is_seated(self) && (is_new || starts)).then_some(Event::Seated);
        let ended = match self.outcome {
            Some(outcome) if before.outcome.is_none() => Some(Event::MatchEnded(outcome)),
            _ => None,
        };
        let resolved = self.has_answer_since(before).then_some(Event::ApprovalResolved);
        let told = (self.unread > before.unread).then_some(Event::OwnerMessage);
        [seated, ended, resolved, told].into_iter().flatten().collect()
    }

    /// Whether a request was answered: the one that waited, or another one that was made and answered meanwhile.
    fn has_answer_since(&self, before: &Self) -> bool {
        let waited = before.approval.as_ref().is_some_and(|approval| approval.is_pending);
        let is_answered = self.approval.as_ref().is_some_and(|approval| !approval.is_pending);
        self.approval != before.approval && (waited || is_answered)
    }

    /// What a briefing says of a role (§4 `commands`). Where it is in the lobby, its seat is known from its waits alone.
    pub(crate) fn briefed(&self, command: &Value) -> Self {
        match command["phase"].as_str() {
            Some("match") => {
                let team = command["team"].as_str().map(str::to_owned);
                Self { in_match: true, team, ..self.clone() }
            }
            _ if self.in_match => Self::default(),
            _ => self.clone(),
        }
    }

    /// What a wait says of its role.
    pub(crate) fn waited(&self, answer: &Value) -> Self {
        match answer["phase"].as_str() {
            Some("match") => {
                let outcome = answer["outcome"].as_str().and_then(Outcome::of);
                Self { in_match: true, outcome, ..self.clone() }
            }
            _ => {
                let team = answer["seat"]["team"].as_str().map(str::to_owned);
                Self { team, ..Self::default() }
            }
        }
    }
}

impl Outcome {
    /// Nothing while the match runs.
    fn of(outcome: &str) -> Option<Self> {
        [Self::Win, Self::Loss, Self::Draw].into_iter().find(|known| known.word() == outcome)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Loss => "loss",
            Self::Draw => "draw",
        }
    }
}

impl Event {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Seated => {
                "You have a seat in a match. Call game_wait, then game_briefing, and play, or call game_ready if it has yet to start."
            }
            Self::MatchEnded(_) => "Your match is over. Call game_wait for how it ended.",
            Self::ApprovalResolved => "Your owner answered your request. Call policy_status.",
            Self::OwnerMessage => "Your owner wrote to you. Call game_wait to read it.",
        }
    }

    pub(crate) fn meta(self) -> Value {
        match self {
            Self::Seated => json!({ "event": "seated" }),
            Self::MatchEnded(outcome) => json!({ "event": "match_ended", "outcome": outcome.word() }),
            Self::ApprovalResolved => json!({ "event": "approval_resolved" }),
            Self::OwnerMessage => json!({ "event": "owner_message" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happened(before: &Value, now: &Value) -> Vec<Event> {
        Status::of(now).since(&Status::of(before))
    }

    // §17: the four kinds, once each, and nothing for what stays as it was.
    #[test]
    fn events_are_what_changed_between_two_looks() {
        let lobby = json!({ "phase": "lobby", "unreadOwnerMessages": 0 });
        let playing =
            json!({ "phase": "match", "team": "red", "outcome": "running", "unreadOwnerMessages": 0 });
        let over = json!({ "phase": "match", "team": "red", "outcome": "win", "unreadOwnerMessages": 0 });
        assert_eq!(happened(&lobby, &playing), [Event::Seated]);
        assert_eq!(happened(&playing, &over), [Event::MatchEnded(Outcome::Win)]);
        assert_eq!(happened(&over, &over), []);
        let over = json!({ "phase": "match", "team": "red", "outcome": "loss", "unreadOwnerMessages": 0 });
        assert_eq!(happened(&over, &playing), [Event::Seated], "the next match");
        let asking =
            json!({ "phase": "match", "team": "red", "approval": { "id": "a1", "status": "pending" } });
        assert_eq!(happened(&playing, &asking), []);
        let answered =
            json!({ "phase": "match", "team": "red", "approval": { "id": "a1", "status": "approved" } });
        assert_eq!(happened(&asking, &answered), [Event::ApprovalResolved]);
        assert_eq!(happened(&asking, &playing), [Event::ApprovalResolved]);
        let told = json!({ "phase": "lobby", "unreadOwnerMessages": 2 });
        assert_eq!(happened(&lobby, &told), [Event::OwnerMessage]);
        assert_eq!(happened(&told, &told), []);
    }

    // §17: a request that is made and answered between two looks is answered, and so is one that was answered while a newer
    // one waits already; what was answered before the first look is no news.
    #[test]
    fn answers_of_the_owner_are_told_once_each() {
        let of =
            |id: &str, status: &str| json!({ "phase": "lobby", "approval": { "id": id, "status": status } });
        let none = json!({ "phase": "lobby" });
        let resolved = [Event::ApprovalResolved];
        assert_eq!(happened(&none, &of("a1", "rejected")), resolved);
        assert_eq!(happened(&of("a1", "approved"), &of("a2", "failed")), resolved);
        assert_eq!(happened(&of("a1", "pending"), &of("a2", "pending")), resolved);
        assert_eq!(happened(&of("a1", "pending"), &none), resolved);
        assert_eq!(happened(&of("a1", "approved"), &of("a2", "pending")), []);
        assert_eq!(happened(&of("a1", "approved"), &of("a1", "approved")), []);
        assert_eq!(Status::of(&of("a1", "approved")).at_first(), []);
        let waiting = json!({ "phase": "lobby", "team": "red", "unreadOwnerMessages": 1 });
        assert_eq!(Status::of(&waiting).at_first(), [Event::Seated, Event::OwnerMessage]);
    }

    // §17: a match that ends while the next one starts shows by its clock.
    #[test]
    fn a_clock_that_went_back_is_another_matchs() {
        let at = |tick: u64| json!({ "phase": "match", "team": "red", "tick": tick });
        assert_eq!(happened(&at(900), &at(3)), [Event::Seated]);
        assert_eq!(happened(&at(3), &at(900)), []);
    }

    // §17: briefings and waits together tell what a status would, in whatever order they come.
    #[test]
    fn briefings_and_waits_tell_a_seat_and_an_end_once() {
        let lobby = json!({ "role": "air", "phase": "lobby" });
        let seated = json!({ "role": "air", "phase": "match", "team": "red" });
        let held = json!({ "phase": "lobby", "seat": { "team": "red", "role": "air" } });
        let entry = json!({ "phase": "match", "outcome": "running" });
        let over = json!({ "phase": "match", "outcome": "loss", "wake": "ended" });
        let (seat, end) = (Event::Seated, Event::MatchEnded(Outcome::Loss));
        let briefed = |command: &Value| (true, command.clone());
        let waited = |answer: &Value| (false, answer.clone());
        for (looks, told) in [
            (vec![briefed(&lobby), waited(&held), briefed(&lobby)], vec![seat]),
            (vec![waited(&held), waited(&entry), briefed(&seated), waited(&entry)], vec![seat, seat]),
            (vec![waited(&entry), briefed(&seated)], vec![seat]),
            (vec![briefed(&seated), waited(&entry)], vec![seat]),
            (vec![briefed(&seated), waited(&over), briefed(&seated)], vec![seat, end]),
            (vec![briefed(&seated), waited(&over), briefed(&lobby), briefed(&seated)], vec![seat, end, seat]),
            (vec![briefed(&seated), briefed(&lobby), waited(&over)], vec![seat, end]),
        ] {
            let mut status = Status::default();
            let mut events = Vec::new();
            for (is_briefing, value) in &looks {
                let now = if *is_briefing { status.briefed(value) } else { status.waited(value) };
                events.extend(now.since(&status));
                status = now;
            }
            assert_eq!(events, told, "{looks:?}");
        }
    }

    // §4 "learns its seat at once": a seat of a match that waits for readiness is a seat.
    #[test]
    fn a_seat_is_told_before_its_match_starts() {
        let lobby = json!({ "phase": "lobby" });
        let held = json!({ "phase": "lobby", "team": "red" });
        let moved = json!({ "phase": "lobby", "team": "blue" });
        let started = json!({ "phase": "match", "team": "red", "outcome": "running" });
        let over = json!({ "phase": "lobby", "team": "red", "outcome": "win" });
        assert_eq!(happened(&lobby, &held), [Event::Seated]);
        assert_eq!(happened(&held, &held), []);
        assert_eq!(happened(&held, &moved), [Event::Seated]);
        assert_eq!(happened(&held, &started), [Event::Seated], "a client may sleep until the start");
        assert_eq!(happened(&started, &held), [], "held again");
        assert_eq!(happened(&held, &lobby), []);
        assert_eq!(happened(&over, &held), [Event::Seated]);
    }
}
