//! One running match: intents become moves, positions become views (§10). It draws no randomness and keeps no
//! rule of its own; [`crate::rules`] decides what is legal.

use crate::intent::Intent;
use crate::manifest::MAX_EVENTS;
use crate::rules::{Mark, Position, Refused, Ruleset, Square, Verdict};
use playerthree_game::{
    CannotCreate, Context, Controller, GameMatch, Name, NoForfeit, Outcome, Seat, SeatInfo, Setup, ViewKind,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};

/// A match. Moves act at once; the host's step after each of them only counts it.
#[derive(Clone, Debug)]
pub(crate) struct TicTacToeMatch {
    tick: u64,
    salt: u32,
    position: Position,
    resigned: bool,
    /// Outcomes that the host declared, which stand before the position's own verdict.
    declared: Option<(Outcome, Outcome)>,
    controllers: (Controller, Controller),
    /// The newest [`MAX_EVENTS`] events, oldest first.
    events: VecDeque<(u64, Value)>,
}

impl TicTacToeMatch {
    pub(crate) fn new(setup: &Setup) -> Result<Self, CannotCreate> {
        if setup.teams.len() != 2 {
            return Err(CannotCreate("tic-tac-toe needs both sides"));
        }
        if setup.alliances.as_ref().is_some_and(|alliances| alliances.len() < 2) {
            return Err(CannotCreate("the two sides cannot be allies"));
        }
        Ok(Self {
            tick: 0,
            salt: setup.seed,
            position: Position::new(ruleset(setup.options.as_ref())?),
            resigned: false,
            declared: None,
            controllers: (Controller::None, Controller::None),
            events: VecDeque::new(),
        })
    }

    fn verdict_of(&self, mark: Mark) -> Outcome {
        match self.position.verdict() {
            Verdict::Running => Outcome::Running,
            Verdict::Drawn => Outcome::Draw,
            Verdict::Won(winner) if winner == mark => Outcome::Win,
            Verdict::Won(_) => Outcome::Loss,
        }
    }

    fn outcome_of(&self, mark: Mark) -> Outcome {
        match (self.declared, mark) {
            (Some((x, _)), Mark::X) => x,
            (Some((_, o)), Mark::O) => o,
            (None, mark) => self.verdict_of(mark),
        }
    }

    fn result(&self) -> &'static str {
        match (self.outcome_of(Mark::X), self.outcome_of(Mark::O)) {
            (Outcome::Running, _) | (_, Outcome::Running) => "running",
            (Outcome::Win, _) => "x",
            (_, Outcome::Win) => "o",
            _ => "draw",
        }
    }

    fn place(&mut self, mark: Mark, row: u8, col: u8) -> Result<(), &'static str> {
        let square = self.position.ruleset().square(row.into(), col.into()).ok_or("out_of_bounds")?;
        let verdict = self.position.play(mark, square).map_err(code)?;
        self.log(json!({ "kind": "move", "side": mark.name(), "row": square.row, "col": square.col }));
        match verdict {
            Verdict::Running => {}
            Verdict::Won(winner) => self.log(json!({ "kind": "win", "side": winner.name() })),
            Verdict::Drawn => self.log(json!({ "kind": "draw" })),
        }
        Ok(())
    }

    fn resign(&mut self, mark: Mark) -> Result<(), &'static str> {
        self.position.resign(mark).map_err(code)?;
        self.resigned = true;
        self.log(json!({ "kind": "resign", "side": mark.name() }));
        self.log(json!({ "kind": "win", "side": mark.other().name() }));
        Ok(())
    }

    /// Keeps an event under the tick that the coming step ends on, so that a reader of this tick gets it later.
    fn log(&mut self, mut event: Value) {
        let tick = self.tick + 1;
        event["tick"] = tick.into();
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back((tick, event));
    }

    fn events_since(&self, since: i64) -> Vec<Value> {
        let is_new = |tick: u64| i64::try_from(tick).is_ok_and(|tick| tick > since);
        self.events.iter().filter(|(tick, _)| is_new(*tick)).map(|(_, event)| event.clone()).collect()
    }

    fn board(&self) -> Vec<String> {
        let ruleset = self.position.ruleset();
        let square = |row, col| self.position.at(Square { row, col }).map_or(".", Mark::name);
        (0..ruleset.rows()).map(|row| (0..ruleset.cols()).map(|col| square(row, col)).collect()).collect()
    }

    /// What everybody may see; the board hides nothing.
    fn open_view(&self) -> Map<String, Value> {
        let ruleset = self.position.ruleset();
        let mut view = Map::new();
        view.insert("tick".into(), self.tick.into());
        view.insert("rows".into(), ruleset.rows().into());
        view.insert("cols".into(), ruleset.cols().into());
        view.insert("winLength".into(), ruleset.win_length().into());
        view.insert("board".into(), self.board().into());
        view.insert("turn".into(), self.turn().map_or("none", Mark::name).into());
        view.insert("result".into(), self.result().into());
        if let Some(square) = self.position.last() {
            let side = self.position.at(square).map_or("x", Mark::name);
            view.insert("last".into(), json!({ "side": side, "row": square.row, "col": square.col }));
        }
        let line = self.position.line().iter().map(|at| json!({ "row": at.row, "col": at.col }));
        view.insert("line".into(), line.collect());
        let (x, o) = self.controllers;
        view.insert("controllers".into(), json!({ "x": x, "o": o }));
        view
    }

    fn turn(&self) -> Option<Mark> {
        self.position.turn().filter(|mark| self.outcome_of(*mark) == Outcome::Running)
    }
}

impl GameMatch for TicTacToeMatch {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn step(&mut self) {
        self.tick += 1;
    }

    fn outcome(&self, team: &str) -> Outcome {
        Mark::from_name(team).map_or(Outcome::Running, |mark| self.outcome_of(mark))
    }

    fn view(&self, _team: &str, _kind: ViewKind) -> Value {
        Value::Object(self.open_view())
    }

    fn observe(&self, seat: &Seat, since: i64, _detail: &[Name]) -> Value {
        let mut observation = self.open_view();
        let your_turn = self.turn().is_some_and(|mark| mark.name() == &*seat.team);
        observation.insert("you".into(), (*seat.team).into());
        observation.insert("yourTurn".into(), your_turn.into());
        observation.insert("events".into(), self.events_since(since).into());
        Value::Object(observation)
    }

    fn apply(&mut self, seat: &Seat, intent: &Value, _context: &Context) -> Result<(), &'static str> {
        let mark = Mark::from_name(&seat.team).ok_or("over")?;
        if self.declared.is_some() {
            return Err("over");
        }
        match Intent::deserialize(intent) {
            Ok(Intent::Move { row, col }) => self.place(mark, row, col),
            Ok(Intent::Resign) => self.resign(mark),
            // The host lets only intents of the declared shape through.
            Err(_) => Err("out_of_bounds"),
        }
    }

    fn report(&self, team: &str) -> Value {
        json!({
            "side": team,
            "result": self.result(),
            "moves": self.position.placed(),
            "resigned": self.resigned,
        })
    }

    fn events(&self, _seat: &Seat, since: i64) -> Vec<Value> {
        self.events_since(since)
    }

    fn set_seat_info(&mut self, seat: &Seat, info: &SeatInfo) {
        match Mark::from_name(&seat.team) {
            Some(Mark::X) => self.controllers.0 = info.controller,
            Some(Mark::O) => self.controllers.1 = info.controller,
            None => {}
        }
    }

    fn match_data(&self, _seat: &Seat) -> Option<Value> {
        let ruleset = self.position.ruleset();
        Some(json!({
            "rows": ruleset.rows(),
            "cols": ruleset.cols(),
            "winLength": ruleset.win_length(),
            "salt": self.salt,
        }))
    }

    fn debug_view(&self) -> Option<Value> {
        let mut view = self.open_view();
        view.insert("events".into(), self.events_since(-1).into());
        Some(Value::Object(view))
    }

    fn observer_view(&self) -> Option<Value> {
        Some(Value::Object(self.open_view()))
    }

    fn clone_match(&self) -> Option<Box<dyn GameMatch>> {
        Some(Box::new(self.clone()))
    }

    fn rank(&self, team: &str) -> Option<u32> {
        match self.outcome(team) {
            Outcome::Running => None,
            Outcome::Win | Outcome::Draw => Some(1),
            // A declared double loss leaves both sides in first place.
            Outcome::Loss if self.result() == "draw" => Some(1),
            Outcome::Loss => Some(2),
        }
    }

    fn end(&mut self, outcomes: &BTreeMap<Name, Outcome>, _ranks: &BTreeMap<Name, u32>) {
        let of = |team: &str| outcomes.get(team).copied().unwrap_or(Outcome::Draw);
        self.declared = Some((of("x"), of("o")));
    }

    fn forfeit(&mut self, team: &str) -> Result<(), NoForfeit> {
        if let Some(mark) = Mark::from_name(team) {
            // A game that is over has nothing left to concede.
            let _ = self.resign(mark);
        }
        Ok(())
    }
}

fn code(refused: Refused) -> &'static str {
    match refused {
        Refused::Over => "over",
        Refused::NotYourTurn => "not_your_turn",
        Refused::Occupied => "occupied",
    }
}

fn ruleset(options: Option<&Value>) -> Result<Ruleset, CannotCreate> {
    let default = Ruleset::default();
    let option = |name: &str, default: u8| match options.and_then(|options| options.get(name)) {
        None => Ok(default),
        Some(value) => value.as_u64().and_then(|n| u8::try_from(n).ok()).ok_or(OUT_OF_BOUNDS),
    };
    let rows = option("rows", default.rows())?;
    let cols = option("cols", default.cols())?;
    let win_length = option("winLength", default.win_length())?;
    Ruleset::new(rows, cols, win_length).ok_or(OUT_OF_BOUNDS)
}

const OUT_OF_BOUNDS: CannotCreate = CannotCreate("board options are 1 to 20");
