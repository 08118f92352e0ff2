//! Headless games for the tests: seats, bots, and a host in miniature.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "every test file uses its own part"
)]

pub(crate) mod measure;
pub(crate) mod random;

use playerthree_agent_command::AgentCommand;
use playerthree_game::{
    Bot, Checked, Context, Game, GameMatch, Name, Outcome, Seat, Setup, SignalBoard, Source,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

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

pub(crate) static MANIFEST: LazyLock<Checked> = LazyLock::new(|| AgentCommand.manifest().check().unwrap());

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

/// The tile that lies from the side's start place as this one does from the first corner's, which is (5, 5).
pub(crate) fn tile_of(game: &dyn GameMatch, side: &str, tile: (i64, i64)) -> (i64, i64) {
    let data = game.match_data(&Seat::new(side, "economy")).unwrap();
    let starts = data["starts"].as_array().unwrap();
    let start = starts.iter().find(|start| start["side"] == side).unwrap();
    let last = data["size"].as_i64().unwrap() - 1;
    let turns = (0..4).scan((5, 5), |at, _| Some(std::mem::replace(at, (last - at.1, at.0))));
    let start = ["x", "y"].map(|axis| start[axis].as_i64().unwrap() / 100);
    let corner = turns.into_iter().position(|at| [at.0, at.1] == start).unwrap();
    (0..corner).fold(tile, |(col, row), _| (last - row, col))
}

/// The `build` of one of the side's workers on the tile that lies to its start place as this one to the first corner's.
pub(crate) fn build(game: &dyn GameMatch, side: &str, unit: &Value, what: &str, tile: (i64, i64)) -> Value {
    let (col, row) = tile_of(game, side, tile);
    json!({ "kind": "build", "unit": unit, "building": what, "col": col, "row": row })
}

/// A match with a bot in every seat.
pub(crate) struct Headless {
    pub(crate) game: Box<dyn GameMatch>,
    pub(crate) teams: Vec<Name>,
    pub(crate) bots: Vec<(Seat, Box<dyn Bot>)>,
    /// What the commanders of each side ask of each other, kept as a host keeps it (§22.4).
    pub(crate) boards: BTreeMap<Name, SignalBoard>,
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
        let board = || SignalBoard::new(&MANIFEST, game.signal_limits()).unwrap();
        let boards = setup.teams.iter().map(|team| (team.clone(), board())).collect();
        Self { game, teams: setup.teams.clone(), bots, boards }
    }

    /// Lets every bot think, five times a second, then steps once.
    pub(crate) fn step(&mut self) {
        if self.game.tick().is_multiple_of(2) {
            self.think();
        }
        self.game.step();
        for board in self.boards.values_mut() {
            board.turn_over(self.game.tick());
        }
    }

    fn think(&mut self) {
        for (seat, bot) in &mut self.bots {
            if bot.next_think() > self.game.tick() || self.game.outcome(&seat.team).is_final() {
                continue;
            }
            let board = self.boards.get_mut(&seat.team).unwrap();
            let mut observation = self.game.observe(seat, -1, &all_sections());
            observation["signals"] = board.slice(&seat.role);
            for intent in bot.think(&observation) {
                let _ = send(&mut *self.game, board, seat, &intent);
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.teams.iter().all(|team| self.game.outcome(team) != Outcome::Running)
    }
}

/// Hands a bot's intent to the game, or to the board of its side if it is a signal. Whether it was accepted.
pub(crate) fn send(game: &mut dyn GameMatch, board: &mut SignalBoard, seat: &Seat, intent: &Value) -> bool {
    match intent["kind"].as_str() {
        Some("signal" | "signal_update") => board.apply(&seat.role, intent, game.tick()).is_ok(),
        _ => game.apply(seat, intent, &context()).is_ok(),
    }
}
