//! Who is out, who has won, and where everybody placed.

use crate::events::{Event, Happening};
use crate::kinds::Kind;
use crate::world::World;
use playerthree_game::Outcome;

impl World {
    pub(crate) fn is_over(&self) -> bool {
        self.parties.iter().all(|party| party.outcome.is_final())
    }

    /// Takes out parties without a base; the last one standing wins, and time draws.
    pub(crate) fn judge(&mut self) {
        let running: Vec<usize> = self.running();
        let (standing, fallen): (Vec<usize>, Vec<usize>) =
            running.iter().partition(|party| self.has_base(**party));
        if standing.is_empty() {
            // The last parties fell in the same tick: nobody is left to have won.
            self.settle_parties(&fallen, Outcome::Draw, 1);
        } else {
            let rank = u32::try_from(standing.len()).unwrap_or(u32::MAX) + 1;
            self.settle_parties(&fallen, Outcome::Loss, rank);
            if let [winner] = standing[..] {
                self.settle_parties(&[winner], Outcome::Win, 1);
            } else if self.tick >= self.max_ticks {
                self.settle_parties(&standing, Outcome::Draw, 1);
            }
        }
        if self.is_over() && !running.is_empty() {
            self.tell_all(&Event::new(self.tick, Happening::Ended));
        }
    }

    fn running(&self) -> Vec<usize> {
        (0..self.parties.len()).filter(|party| !self.parties[*party].outcome.is_final()).collect()
    }

    fn has_base(&self, party: usize) -> bool {
        self.sides.iter().any(|side| side.party == party && side.has(Kind::Base))
    }

    fn settle_parties(&mut self, parties: &[usize], outcome: Outcome, rank: u32) {
        for party in parties {
            self.parties[*party].outcome = outcome;
            self.parties[*party].rank = rank;
            if outcome == Outcome::Loss {
                self.remove_party(*party);
            }
        }
    }

    fn remove_party(&mut self, party: usize) {
        let members: Vec<usize> =
            (0..self.sides.len()).filter(|side| self.sides[*side].party == party).collect();
        for side in members {
            self.remove_forces(side);
            let event = Event::new(self.tick, Happening::Eliminated).side(&self.sides[side].name);
            self.tell_all(&event);
        }
    }

    /// Takes everything that the side has off the map.
    fn remove_forces(&mut self, side: usize) {
        self.sides[side].units.clear();
        self.sides[side].buildings.clear();
    }

    fn tell_all(&mut self, event: &Event) {
        for side in &mut self.sides {
            side.log.push(event.clone());
        }
    }

    /// The side concedes. The party is judged at the next step.
    pub(crate) fn forfeit(&mut self, side: usize) {
        if !self.party_of(side).outcome.is_final() {
            self.remove_forces(side);
        }
    }

    /// Adopts the outcomes and ranks that the host declared, and tells everybody when they end the match.
    pub(crate) fn declare(&mut self, verdicts: impl Iterator<Item = (usize, Outcome, Option<u32>)>) {
        let was_over = self.is_over();
        for (side, outcome, rank) in verdicts {
            let party = self.sides[side].party;
            self.parties[party].outcome = outcome;
            self.parties[party].rank = rank.unwrap_or(1);
        }
        if self.is_over() && !was_over {
            self.tell_all(&Event::new(self.tick, Happening::Ended));
        }
    }
}
