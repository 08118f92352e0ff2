//! Headless games for the tests: seats, bots, and a host in miniature.

#![allow(dead_code, clippy::unwrap_used, reason = "every test file uses its own part")]

pub(crate) mod measure;
pub(crate) mod random;

use playerthree_agent_command::AgentCommand;
use playerthree_game::{Bot, Context, Game, GameMatch, Name, Outcome, Seat, Setup, Source};
use serde_json::Value;

pub(crate) const SIDES: [&str; 4] = ["red", "blue", "green", "gold"];
pub(crate) const ROLES: [&str; 3] = ["economy", "ground", "air"];

/// A match of these sides with these options.
pub(crate) fn setup(seed: u32, teams: &[&str], options: Option<Value>) -> Setup {
    Setup { seed, options, teams: teams.iter().map(|team| (*team).into()).collect(), alliances: None }
}

/// The same in alliances of so many sides each, when a number is given.
pub(crate) fn setup_allied(seed: u32, teams: &[&str], options: Option<Value>, each: Option<usize>) -> Setup {
    let plain = setup(seed, teams, options);
    let alliances = each.map(|each| {
        let groups = plain.teams.chunks(each).enumerate();
        groups.map(|(number, sides)| (format!("party-{number}"), sides.to_vec())).collect()
    });
    Setup { alliances, ..plain }
}

pub(crate) fn start(setup: &Setup) -> Box<dyn GameMatch> {
    AgentCommand.create(setup).unwrap()
}

pub(crate) fn seats(teams: &[Name]) -> Vec<Seat> {
    teams.iter().flat_map(|team| ROLES.map(|role| Seat::new(team, role))).collect()
}

pub(crate) fn context() -> Context {
    Context { source: Source::Bot, owner_roles: None }
}

pub(crate) fn all_sections() -> Vec<Name> {
    ROLES.map(Into::into).to_vec()
}

/// A match with a bot in every seat.
pub(crate) struct Headless {
    pub(crate) game: Box<dyn GameMatch>,
    pub(crate) teams: Vec<Name>,
    pub(crate) bots: Vec<(Seat, Box<dyn Bot>)>,
}

impl Headless {
    /// `tier_of` names the tier of every side.
    pub(crate) fn new(setup: &Setup, tier_of: impl Fn(&str) -> &'static str) -> Self {
        let game = start(setup);
        let bots = seats(&setup.teams).into_iter().map(|seat| {
            let mut bot = AgentCommand.create_bot(&seat, tier_of(&seat.team)).unwrap();
            bot.init(&game.match_data(&seat).unwrap());
            (seat, bot)
        });
        let bots = bots.collect();
        Self { game, teams: setup.teams.clone(), bots }
    }

    /// Lets every bot think, five times a second, then steps once.
    pub(crate) fn step(&mut self) {
        if self.game.tick().is_multiple_of(2) {
            self.think();
        }
        self.game.step();
    }

    fn think(&mut self) {
        for (seat, bot) in &mut self.bots {
            if bot.next_think() > self.game.tick() || self.game.outcome(&seat.team).is_final() {
                continue;
            }
            let observation = self.game.observe(seat, -1, &all_sections());
            for intent in bot.think(&observation) {
                let _ = self.game.apply(seat, &intent, &context());
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.teams.iter().all(|team| self.game.outcome(team) != Outcome::Running)
    }
}
