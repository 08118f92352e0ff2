//! The modes beside `act`, and the end: plans, streams and declared endings.

use super::{Driver, TYPED, right};
use crate::plan::{Declared, Planned, Speaker};
use playerthree_game::{Detail, Name, Outcome, Seat};
use playerthree_session::{
    Ack, Code, Ending, Plan, PlanStep, Pushed, Rejection, Right, Sequenced, StreamRequest,
};
use std::collections::BTreeSet;

/// Ticks between two pushed observations at this game's `maxHz`.
const LEAST_TICKS: u64 = 2;
/// Ticks between two steps of a plan of this game.
const SPACING: u32 = 2;

impl Driver {
    /// A plan is judged whole, needs the agent's authority, and does nothing before it is due (§9).
    pub(super) fn sequence(&mut self, seat: usize, speaker: Speaker, planned: Planned) {
        let (name, model) = self.seats[seat].clone();
        let before = (self.game.debug_view(), self.boards());
        let step = |number: u8| PlanStep {
            after: u32::from(planned.after) + SPACING * u32::from(number),
            intents: vec![planned.intent.to_json(&name)],
        };
        let plan = Plan {
            steps: (0..planned.steps).map(step).collect(),
            cancel_on: if planned.cancels { vec!["attacked".into()] } else { Vec::new() },
        };
        let may_act = model.may_act(Speaker::Agent) && !self.finals.is_out(&name.team);
        match self.game.sequence(&name, right(speaker), plan, self.now) {
            Ok(Sequenced::Accepted { acks, .. }) => {
                assert!(!self.game.is_held(), "nothing is planned before the start");
                assert!(may_act, "{name} planned without authority: {model:?}");
                assert!(acks.iter().flatten().all(|ack| *ack == Ack::Ok));
                self.seats[seat].1.planned = planned.steps > 0;
                self.seen.saw("plan");
            }
            Ok(Sequenced::Rejected { why, .. }) => {
                assert!(!may_act || why == Rejection::Invalid, "{why:?}");
                self.seen.saw("plan rejected");
            }
            Err(error) if self.game.is_held() && speaker == Speaker::Agent => {
                assert_eq!(error.code, Code::Paused);
            }
            Err(error) => assert_eq!((error.code, speaker), (Code::Forbidden, Speaker::Owner)),
        }
        assert_eq!((self.game.debug_view(), self.boards()), before);
    }

    /// The signals on the boards and who sent each.
    pub(super) fn signals(&self) -> BTreeSet<(Seat, String)> {
        let of_team = |(team, board): (&str, &serde_json::Value)| -> Vec<(Seat, String)> {
            let entries = board.as_array().unwrap().iter();
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            entries.map(|entry| (Seat::new(team, &text(&entry["from"])), text(&entry["id"]))).collect()
        };
        ["red", "blue"].into_iter().zip(&self.boards()).flat_map(of_team).collect()
    }

    /// In a tick nobody asks for anything but agents whose plan stands: bots and policies here send no requests.
    pub(super) fn judge_planned(&mut self, before: &BTreeSet<(Seat, String)>) {
        for (sender, _) in self.signals().difference(before) {
            let (_, model) = self.seats.iter().find(|(name, _)| name == sender).unwrap();
            assert!(
                model.planned && model.may_act(Speaker::Agent),
                "{sender} acted without a plan or authority: {model:?}"
            );
            self.seen.saw("planned signal");
        }
    }

    pub(super) fn stream(&mut self, seat: usize, speaker: Speaker, every: u8) {
        let (name, model) = &mut self.seats[seat];
        let request = StreamRequest { every_ticks: u32::from(every), detail: Detail::default() };
        let granted = self.game.stream(name, right(speaker), &request).unwrap();
        assert_eq!(granted, if every == 0 { 0 } else { u64::from(every).max(LEAST_TICKS) });
        model.streams[usize::from(speaker == Speaker::Agent)].every = granted;
    }

    /// Observations go to the side of a seat that asked for them, no faster than it was granted (§9).
    pub(super) fn pushed(&mut self, observations: Vec<Pushed>) {
        for pushed in observations {
            assert!(!pushed.observation.to_string().contains(TYPED), "text of people is in a stream");
            let (name, model) = self.seats.iter_mut().find(|(name, _)| *name == pushed.seat).unwrap();
            let stream = &mut model.streams[usize::from(pushed.right == Right::Agent)];
            assert!(stream.every > 0, "{name} is pushed what nobody asked for");
            assert!(
                stream.last.is_none_or(|last| pushed.tick >= last + stream.every),
                "{name} is pushed too fast"
            );
            stream.last = Some(pushed.tick);
            self.seen.saw("pushed");
        }
    }

    /// A declared ending covers every side and contradicts no outcome that was final before, or changes nothing (§10).
    pub(super) fn end(&mut self, declared: Declared) {
        let before = (self.game.debug_view(), self.boards());
        let was_over = self.game.is_over();
        let sides: Vec<Name> = self.game.teams().to_vec();
        let wins = |side: &Name| &**side != "blue";
        let outcome = |side: &Name| if wins(side) { Outcome::Win } else { Outcome::Loss };
        let outcomes = |sides: &[Name]| sides.iter().map(|side| (side.to_string(), outcome(side))).collect();
        let fits = sides.iter().all(|side| self.finals.allow(side, outcome(side)));
        let (ending, valid) = match declared {
            Declared::Draw => (Ending::Draw, true),
            Declared::Outcomes => (Ending::Outcomes(outcomes(&sides)), fits),
            Declared::Placements => {
                let place = |side: &Name| (side.to_string(), if wins(side) { 1 } else { 2 });
                (Ending::Placements(sides.iter().map(place).collect()), fits)
            }
            Declared::Uncovered => (Ending::Outcomes(outcomes(&sides[1..])), false),
        };
        let ended = self.game.end(&ending, self.now);
        assert_eq!(ended.is_ok(), valid || was_over, "{declared:?}");
        match ended {
            Ok(()) if !was_over => {
                assert!(self.game.is_over());
                self.seen.saw("declared");
            }
            Ok(()) => assert_eq!((self.game.debug_view(), self.boards()), before),
            Err(error) => {
                assert_eq!(error.code, Code::Invalid);
                assert_eq!((self.game.debug_view(), self.boards()), before);
                self.seen.saw("declared badly");
            }
        }
    }
}
