//! What observers of a match get (§20.9): their grants, the frames that are released, and when the rest of the world may
//! be told how the match stands.

use crate::game_match::{Match, VIEW_HZ};
use crate::guard::Refused;
use crate::observer::{
    self, FrameKey, ObserverFrame, ObserverGrant, ObserverHistory, ObserverPerspective, ObserverPolicy,
    ObserverState,
};
use crate::outcomes::Parties;
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::Clock;

/// The empty history of a match: all that its policy could ever grant is kept from the first moment on, so that nobody who
/// comes later has to be shown anything sooner.
pub(crate) fn history(
    surface: &Surface,
    parties: &Parties,
    policy: ObserverPolicy,
    epoch: Millis,
) -> ObserverHistory {
    let manifest = &surface.manifest;
    let everything = manifest.observer.as_ref().map(|_| ObserverPerspective::All);
    let perspectives =
        everything.into_iter().chain(parties.teams.iter().cloned().map(ObserverPerspective::Team));
    let per_second = match surface.game.clock() {
        Clock::Realtime => manifest.tick_rate,
        Clock::Turns => manifest.tick_rate.max(VIEW_HZ),
    };
    ObserverHistory::new(policy, perspectives, per_second, epoch)
}

impl Match {
    /// Who may observe, and how late.
    pub fn observer_policy(&self) -> ObserverPolicy {
        self.observer_policy
    }

    /// What an observer of this match may be granted: one side's view, or without one everything that the game shows
    /// observers.
    ///
    /// # Errors
    /// `mode_unavailable` where nobody may observe or the game shows no such thing, `invalid` for a side that does not
    /// play.
    pub fn observer_grant(&self, team: Option<&str>) -> Result<ObserverGrant, CallError> {
        let delay = self.observer_policy.delay().ok_or(Code::ModeUnavailable)?;
        match team {
            Some(team) => {
                let team = self.teams().iter().find(|side| ***side == *team).ok_or(Code::Invalid)?;
                Ok(ObserverGrant::team(team.clone(), delay))
            }
            None if self.surface.manifest.observer.is_none() => Err(Code::ModeUnavailable.into()),
            None => Ok(ObserverGrant::omniscient(self.teams().to_vec(), delay)),
        }
    }

    /// What of this match observers could be granted: everything, and each side's view.
    pub fn perspectives(&self) -> Vec<ObserverPerspective> {
        self.observers.perspectives()
    }

    /// Reads `"all"` or a side of the match. Nothing for anything else.
    pub fn perspective(&self, text: &str) -> Option<ObserverPerspective> {
        ObserverPerspective::parse(text, self.teams())
    }

    /// Whether a reader of this perspective has something to see.
    pub fn observer_state(&self, perspective: &ObserverPerspective) -> ObserverState {
        self.observers.state(perspective)
    }

    /// The newest released sequence of a perspective.
    pub fn observer_watermark(&self, perspective: &ObserverPerspective) -> Option<u64> {
        self.observers.watermark(perspective)
    }

    /// What brings a reader at `after` (none: a fresh reader) up to the watermark (§20.9 `observerMessage`): every
    /// released frame since, or the newest one whole.
    ///
    /// # Errors
    /// `invalid` for a cursor that is no released frame, or none that is still retained.
    pub fn observer_since(
        &self,
        perspective: &ObserverPerspective,
        after: Option<u64>,
    ) -> Result<Vec<FrameKey>, CallError> {
        self.observers.since(perspective, after)
    }

    /// A released frame. Nothing about any other one is told.
    pub fn observer_frame(&self, perspective: &ObserverPerspective, key: FrameKey) -> Option<ObserverFrame> {
        self.observers.frame(perspective, key)
    }

    /// Somebody observes: a stream without delay is recorded in full for a while.
    pub fn observers_read(&mut self, now: Millis) {
        self.observers.read_now(now);
    }

    /// Whether every outcome so far may be told outside the match: at once where nobody observes it late, else as late as
    /// observers are told (§20.9).
    pub fn outcomes_are_released(&self) -> bool {
        self.observers.outcomes_are_released()
    }

    /// Whether the end of the match may be told outside it.
    pub fn end_is_released(&self) -> bool {
        self.is_over() && self.outcomes_are_released()
    }

    /// Whether a side and all its allies are final, so that nothing its owners know can change the match any more.
    pub fn is_out_of_play(&self, team: &str) -> bool {
        self.parties.party_of(team).iter().all(|member| self.outcome(member).is_final())
    }

    /// Makes a frame, if one is wanted now.
    pub(crate) fn record_observation(&mut self, now: Millis) -> Result<(), Refused> {
        let finals = self.outcomes.values().filter(|outcome| outcome.is_final()).count();
        if !self.observers.wants_frame(now, finals) {
            return Ok(());
        }
        let outputs = self.outputs();
        let guarded = |perspective: ObserverPerspective| {
            let world = match &perspective {
                ObserverPerspective::All => outputs.world(),
                ObserverPerspective::Team(team) => outputs.snapshot(team),
            };
            world.map(|world| (perspective, world))
        };
        // All or none: one moment is the same moment from every perspective.
        let worlds = self.observers.perspectives().into_iter().map(guarded).collect::<Result<Vec<_>, _>>()?;
        let outcomes = self.is_over().then(|| observer::outcomes_json(&self.outcomes));
        self.observers.record(self.game.tick(), worlds, outcomes.as_ref());
        Ok(())
    }

    /// What became due: a frame that came too early before, and frames whose time has come.
    pub(crate) fn release_frames(&mut self, now: Millis) {
        if let Err(refused) = self.record_observation(now) {
            _ = Code::from(refused);
            // The next moment may be shown, but after the last one there is none.
            if self.is_over() {
                self.observers.close();
            } else {
                self.observers.touch();
            }
        }
        self.observers.release(now);
        if self.outcomes_are_released() {
            self.changes.fared.append(&mut self.faring);
        }
    }

    /// Nobody observes this match any more, so that nothing about it has to wait.
    pub fn end_watching(&mut self) {
        self.changes.fared.append(&mut self.faring);
    }
}
