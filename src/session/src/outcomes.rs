//! How a match ends (§10): sides and the alliances that share an outcome, the first final outcome of each side, ranks,
//! the host's own declaration, and a side that concedes.

use crate::game_match::Match;
use crate::replay::Input;
use crate::{CallError, Code, Millis};
use playerthree_game::{Clock, Controller, GameMatch, Name, Outcome, Seat};
use std::collections::{BTreeMap, BTreeSet};

/// Longest name of an alliance, in bytes.
const ALLIANCE_NAME_MAX: usize = 48;

/// The sides of a match and the parties that they form: alliances, and lone sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parties {
    /// In manifest order.
    pub(crate) teams: Vec<Name>,
    pub(crate) alliances: Option<BTreeMap<String, Vec<Name>>>,
}

impl Parties {
    /// A nonempty subset of the declared sides (none: all of them), and a partition of it. Fails `invalid`.
    pub(crate) fn new(
        declared: &[Name],
        wanted: Option<&[Name]>,
        alliances: Option<&BTreeMap<String, Vec<Name>>>,
    ) -> Result<Self, CallError> {
        let teams = match_teams(declared, wanted)?;
        let alliances = alliances.map(|alliances| partition(&teams, alliances)).transpose()?;
        Ok(Self { teams, alliances })
    }

    /// The sides that share this side's outcome, itself included.
    pub(crate) fn party_of(&self, team: &str) -> Vec<Name> {
        let has = |members: &&Vec<Name>| members.iter().any(|member| **member == *team);
        let party = self.alliances.iter().flat_map(BTreeMap::values).find(has);
        party.cloned().unwrap_or_else(|| vec![team.into()])
    }

    /// Whether two sides play against each other: neither the same one nor allies.
    pub(crate) fn oppose(&self, team: &str, other: &str) -> bool {
        !self.party_of(team).iter().any(|member| **member == *other)
    }

    /// The sides that a key of an [`Ending`] stands for: one side, or the members of an alliance.
    fn covered(&self, key: &str) -> Option<Vec<Name>> {
        let alliance = self.alliances.as_ref().and_then(|alliances| alliances.get(key));
        let team = || self.teams.iter().find(|team| ***team == *key).map(|team| vec![team.clone()]);
        alliance.cloned().or_else(team)
    }

    /// One value for each side, out of values for sides and alliances. Fails `invalid` unless every side is covered and
    /// allies agree.
    fn spread<T: Copy + PartialEq>(
        &self,
        declared: &BTreeMap<String, T>,
    ) -> Result<BTreeMap<Name, T>, CallError> {
        let mut values: BTreeMap<Name, T> = BTreeMap::new();
        for (key, value) in declared {
            for team in self.covered(key).ok_or(Code::Invalid)? {
                if values.insert(team, *value).is_some_and(|earlier| earlier != *value) {
                    return Err(Code::Invalid.into());
                }
            }
        }
        let agree = |team: &Name| self.party_of(team).iter().all(|ally| values.get(ally) == values.get(team));
        let whole = values.len() == self.teams.len() && self.teams.iter().all(agree);
        if whole { Ok(values) } else { Err(Code::Invalid.into()) }
    }

    /// 1, 2, 2, 4 over parties: each rank is one more than the number of parties before it, and allies share theirs.
    fn is_ranking(&self, ranks: &BTreeMap<Name, u32>) -> bool {
        let parties: BTreeSet<Vec<Name>> = self.teams.iter().map(|team| self.party_of(team)).collect();
        let mut places: Vec<u32> = Vec::with_capacity(parties.len());
        for party in &parties {
            let of_party: BTreeSet<Option<&u32>> = party.iter().map(|team| ranks.get(team)).collect();
            match of_party.first() {
                Some(Some(rank)) if of_party.len() == 1 => places.push(**rank),
                _ => return false,
            }
        }
        let before = |rank: u32| places.iter().filter(|other| **other < rank).count();
        places.iter().all(|rank| usize::try_from(*rank).is_ok_and(|place| place == before(*rank) + 1))
    }

    /// Ranks by outcome alone: winners, then those who drew, then losers. Sides of one party have one outcome unless the
    /// game failed to share it; then the party ranks by its best.
    fn ranks_by_outcome(&self, outcomes: &BTreeMap<Name, Outcome>) -> BTreeMap<Name, u32> {
        let place = |outcome: Option<&Outcome>| match outcome {
            Some(Outcome::Win) => 0,
            Some(Outcome::Draw | Outcome::Running) | None => 1,
            Some(Outcome::Loss) => 2,
        };
        let best = |party: &[Name]| party.iter().map(|team| place(outcomes.get(team))).min().unwrap_or(1);
        let parties: BTreeSet<Vec<Name>> = self.teams.iter().map(|team| self.party_of(team)).collect();
        let rank = |team: &Name| {
            let own = best(&self.party_of(team));
            let better = parties.iter().filter(|party| best(party) < own).count();
            u32::try_from(better + 1).unwrap_or(u32::MAX)
        };
        self.teams.iter().map(|team| (team.clone(), rank(team))).collect()
    }

    /// The game's ranks, or ranks by outcome where it gives none or no competition ranking.
    pub(crate) fn final_ranks(
        &self,
        game: &dyn GameMatch,
        outcomes: &BTreeMap<Name, Outcome>,
    ) -> BTreeMap<Name, u32> {
        let from_game: Option<BTreeMap<Name, u32>> =
            self.teams.iter().map(|team| Some((team.clone(), game.rank(team)?))).collect();
        let valid = from_game.filter(|ranks| self.is_ranking(ranks));
        valid.unwrap_or_else(|| self.ranks_by_outcome(outcomes))
    }

    /// A single first-placed party wins, a shared first place draws, the rest lose.
    fn placed(&self, placements: &BTreeMap<Name, u32>) -> BTreeMap<Name, Outcome> {
        let first: BTreeSet<Vec<Name>> =
            placements.iter().filter(|(_, rank)| **rank == 1).map(|(team, _)| self.party_of(team)).collect();
        let best = if first.len() == 1 { Outcome::Win } else { Outcome::Draw };
        let outcome = |rank: u32| if rank == 1 { best } else { Outcome::Loss };
        placements.iter().map(|(team, rank)| (team.clone(), outcome(*rank))).collect()
    }

    /// Whether a host can have declared these final outcomes and ranks together (§10 `end`).
    pub(crate) fn could_be_declared(
        &self,
        outcomes: &BTreeMap<Name, Outcome>,
        ranks: &BTreeMap<Name, u32>,
    ) -> bool {
        let agree =
            |team: &Name| self.party_of(team).iter().all(|ally| outcomes.get(ally) == outcomes.get(team));
        let by_outcome = || self.ranks_by_outcome(outcomes) == *ranks;
        let by_place = || self.is_ranking(ranks) && self.placed(ranks) == *outcomes;
        self.teams.iter().all(agree) && (by_outcome() || by_place())
    }
}

/// The wanted sides in manifest order: a nonempty subset without repeats.
fn match_teams(declared: &[Name], wanted: Option<&[Name]>) -> Result<Vec<Name>, CallError> {
    let Some(wanted) = wanted else { return Ok(declared.to_vec()) };
    let teams: Vec<Name> = declared.iter().filter(|team| wanted.contains(team)).cloned().collect();
    if teams.is_empty() || teams.len() != wanted.len() {
        return Err(Code::Invalid.into());
    }
    Ok(teams)
}

/// The alliances with their members in manifest order: every side in exactly one of them, and no name that could also
/// mean a side of another alliance.
fn partition(
    teams: &[Name],
    alliances: &BTreeMap<String, Vec<Name>>,
) -> Result<BTreeMap<String, Vec<Name>>, CallError> {
    let named: usize = alliances.values().map(Vec::len).sum();
    let alliances: BTreeMap<String, Vec<Name>> = alliances
        .iter()
        .map(|(name, members)| {
            let members = teams.iter().filter(|team| members.contains(team)).cloned().collect();
            (name.clone(), members)
        })
        .collect();
    let found: BTreeSet<&Name> = alliances.values().flatten().collect();
    let clear = |(name, members): (&String, &Vec<Name>)| {
        let is_side = teams.iter().any(|team| **team == **name);
        let means_itself = matches!(members.as_slice(), [only] if **only == **name);
        let named = !name.is_empty() && name.len() <= ALLIANCE_NAME_MAX;
        named && !members.is_empty() && (!is_side || means_itself)
    };
    let once = named == teams.len() && found.len() == teams.len();
    if once && alliances.iter().all(clear) { Ok(alliances) } else { Err(Code::Invalid.into()) }
}

/// What the host declares when it ends a match itself (§10 `end(spec)`). Keys are sides or alliances of the match.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// Whoever is still in play draws.
    Draw,
    /// Final outcomes.
    Outcomes(BTreeMap<String, Outcome>),
    /// Placements: a single first wins, a shared first draws, the rest lose.
    Placements(BTreeMap<String, u32>),
}

/// What an ending comes to, for each side.
struct Final {
    outcomes: BTreeMap<Name, Outcome>,
    ranks: BTreeMap<Name, u32>,
}

impl Match {
    /// How a side stands. A side that does not play has lost nothing and is still `running`.
    pub fn outcome(&self, team: &str) -> Outcome {
        self.outcomes.get(team).copied().unwrap_or(Outcome::Running)
    }

    /// Whether every side is final, which a persistent session's never are (§18).
    pub fn is_over(&self) -> bool {
        self.outcomes.values().all(|outcome| outcome.is_final())
    }

    /// A side's final placement, nothing until the match is over.
    pub fn rank(&self, team: &str) -> Option<u32> {
        self.ranks.as_ref()?.get(team).copied()
    }

    /// The sides that play, in manifest order.
    pub fn teams(&self) -> &[Name] {
        &self.parties.teams
    }

    /// The alliances that the match declares.
    pub fn alliances(&self) -> Option<&BTreeMap<String, Vec<Name>>> {
        self.parties.alliances.as_ref()
    }

    /// Keeps the first final outcome of each side (§10 "Per-team terminal rule").
    pub(crate) fn settle_outcomes(&mut self) {
        if self.is_persistent() {
            return;
        }
        let reported: Vec<(Name, Outcome)> = self
            .outcomes
            .iter()
            .filter(|(_, kept)| !kept.is_final())
            .map(|(team, _)| (team.clone(), self.game.outcome(team)))
            .filter(|(_, outcome)| outcome.is_final())
            .collect();
        for (team, outcome) in reported {
            self.take_out(team, outcome);
        }
        if self.ranks.is_none() && self.is_over() {
            self.ranks = Some(self.parties.final_ranks(&*self.game, &self.outcomes));
        }
    }

    /// The side is out of play: what plans and thinks for it ends.
    fn take_out(&mut self, team: Name, outcome: Outcome) {
        let seats: Vec<Seat> = self.seats.keys().filter(|seat| seat.team == team).cloned().collect();
        let mut drafted = BTreeSet::new();
        for seat in &seats {
            if let Some(state) = self.seats.get_mut(seat) {
                state.sequence = None;
                let plays = state.controller == Controller::Policy;
                drafted.extend(state.policy.drafted().filter(|_| plays));
            }
        }
        if !self.opposed {
            // One owner's practice against themselves counts for nothing (§4 "Same-owner opposition").
            self.faring.extend(drafted.into_iter().map(|id| (id, outcome)));
        }
        self.changes.policies_ended.extend(seats);
        self.changes.status = true;
        self.outcomes.insert(team, outcome);
    }

    /// Declares final outcomes (§10 `end`), of a match that is held too. Nothing happens once the match is over.
    ///
    /// # Errors
    /// `invalid` unless every side is covered, allies agree, placements are a competition ranking and no outcome that
    /// was kept already is contradicted, and in a persistent session (§18). Nothing has changed then.
    pub fn end(&mut self, ending: &Ending, now: Millis) -> Result<(), CallError> {
        if self.is_persistent() {
            return Err(Code::Invalid.into());
        }
        if self.is_over() {
            return Ok(());
        }
        let Final { outcomes, ranks } = self.declared(ending)?;
        self.game.end(&outcomes, &ranks);
        for (team, outcome) in outcomes {
            if !self.outcome(&team).is_final() {
                self.take_out(team, outcome);
            }
        }
        self.ranks = Some(ranks);
        // A match that ends before its start is prepared no longer: whoever waits for it hears of the end.
        self.give_start_up();
        self.settle(now);
        Ok(())
    }

    /// The outcome and rank of each side that an ending declares.
    fn declared(&self, ending: &Ending) -> Result<Final, CallError> {
        let (outcomes, placements) = match ending {
            Ending::Draw => {
                let drawn = |outcome: Outcome| if outcome.is_final() { outcome } else { Outcome::Draw };
                let outcomes = self.outcomes.iter().map(|(team, kept)| (team.clone(), drawn(*kept)));
                (outcomes.collect(), None)
            }
            Ending::Outcomes(declared) => (self.parties.spread(declared)?, None),
            Ending::Placements(declared) => {
                let placements = self.parties.spread(declared)?;
                if !self.parties.is_ranking(&placements) {
                    return Err(Code::Invalid.into());
                }
                (self.parties.placed(&placements), Some(placements))
            }
        };
        let fits = |(team, outcome): (&Name, &Outcome)| match self.outcome(team) {
            Outcome::Running => outcome.is_final(),
            kept => kept == *outcome,
        };
        if !outcomes.iter().all(fits) {
            return Err(Code::Invalid.into());
        }
        let ranks = placements.unwrap_or_else(|| self.parties.ranks_by_outcome(&outcomes));
        Ok(Final { outcomes, ranks })
    }

    /// A side concedes while the others play on (§10 `forfeit`). Nothing happens for a side that conceded before or is
    /// out of play. Its outcome is final once the game says so; a session that is paused asks the game when it goes on.
    ///
    /// # Errors
    /// `invalid` for a side that does not play, in a game that has no such thing and in a persistent session (§18); `paused`
    /// while the match is held.
    pub fn forfeit(&mut self, team: &str, now: Millis) -> Result<(), CallError> {
        if self.is_persistent() {
            return Err(Code::Invalid.into());
        }
        if self.is_held() {
            return Err(Code::Paused.into());
        }
        let (team, outcome) = self.outcomes.get_key_value(team).ok_or(Code::Invalid)?;
        if outcome.is_final() || self.forfeited.contains(team) {
            return Ok(());
        }
        let team = team.clone();
        self.game.forfeit(&team).map_err(|_| Code::Invalid)?;
        if let Some(role) = self.surface.manifest.roles.first() {
            self.record(&Seat::new(&team, role), Input::Forfeit);
        }
        self.forfeited.insert(team);
        self.settle_pause(now);
        match self.surface.game.clock() {
            Clock::Turns if self.is_paused() => {
                self.concession_due = true;
                self.show_change(now);
            }
            Clock::Turns => self.step(now),
            Clock::Realtime => self.settle(now),
        }
        Ok(())
    }
}
