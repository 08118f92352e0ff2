//! What a plan is made of: operations that name owners, seats and texts by small numbers, drawn from a seed.

use crate::driver::TYPED;
use playerthree_game::Seat;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Owners, by number.
pub(crate) const OWNERS: u8 = 4;
/// Seats of the duel, by number: red ground, red air, blue ground, blue air.
pub(crate) const SEATS: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Speaker {
    Owner,
    Agent,
}

/// Who is to hold a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Holder {
    Human(u8),
    Agent(u8),
    Bot,
    Nobody,
}

/// An intent, by what is expected of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Intent {
    /// Legal for every role.
    Stop,
    /// Of the ground alone, and refused by the rules.
    Gather,
    /// Out of the schema.
    Garbage,
    /// A request to a teammate.
    Look,
    Strike,
    Supply,
    /// An answer to a signal of this number.
    Update(u8, u8),
}

const UPDATES: [&str; 5] = ["ack", "decline", "done", "fail", "cancel"];

impl Intent {
    /// What a seat sends: red asks at even places, blue at odd ones.
    pub(crate) fn to_json(self, seat: &Seat) -> Value {
        let x = 1000 + u32::from(&*seat.team == "blue");
        let signal = |signal: Value| json!({ "kind": "signal", "signal": signal });
        match self {
            Self::Stop => json!({ "kind": "stop", "units": [] }),
            Self::Gather => json!({ "kind": "gather", "units": ["e_999"], "patch": "p_0" }),
            Self::Garbage => json!({ "kind": TYPED, TYPED: TYPED }),
            Self::Look => signal(json!({ "kind": "look", "x": x, "y": 5, "to": "air" })),
            Self::Strike => {
                signal(json!({ "kind": "strike", "target": "workers", "x": x, "y": 5, "to": "team" }))
            }
            Self::Supply => signal(json!({ "kind": "supply", "building": "reactor", "to": "economy" })),
            Self::Update(id, update) => {
                let update = UPDATES[usize::from(update)];
                json!({ "kind": "signal_update", "id": format!("sg_{id}"), "update": update })
            }
        }
    }
}

/// A plan of so many steps of one intent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) steps: u8,
    /// Ticks to the first step.
    pub(crate) after: u8,
    pub(crate) intent: Intent,
    /// Whether an event ends it.
    pub(crate) cancels: bool,
}

/// How an end is declared: for red and its ally, against blue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Declared {
    Draw,
    Outcomes,
    Placements,
    /// A side is missing.
    Uncovered,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Op {
    /// Starts over, with alliances.
    Allied,
    Sequence {
        seat: u8,
        speaker: Speaker,
        planned: Planned,
    },
    Stream {
        seat: u8,
        speaker: Speaker,
        every: u8,
    },
    End {
        declared: Declared,
    },
    Assign {
        seat: u8,
        holder: Holder,
    },
    Controller {
        seat: u8,
        controller: u8,
    },
    Scopes {
        seat: u8,
        mask: u8,
    },
    Mandate {
        seat: u8,
        supervised: bool,
        when_absent: u8,
    },
    Act {
        seat: u8,
        speaker: Speaker,
        intent: Intent,
    },
    /// More intents than the bucket holds.
    Flood {
        seat: u8,
        speaker: Speaker,
    },
    Observe {
        seat: u8,
        speaker: Speaker,
    },
    Wait {
        seat: u8,
        speaker: Speaker,
        millis: u16,
    },
    CancelWait {
        number: u8,
    },
    CallStarts {
        seat: u8,
    },
    CallEnds {
        seat: u8,
    },
    Tell {
        owner: u8,
        blue: bool,
        roles: u8,
    },
    Say {
        seat: u8,
        speaker: Speaker,
    },
    Deploy {
        seat: u8,
    },
    Rollback {
        seat: u8,
        version: u8,
    },
    Probed {
        good: bool,
    },
    Resolve {
        seat: u8,
        current: bool,
        approve: bool,
    },
    Forfeit {
        blue: bool,
    },
    /// The host holds the match before its start.
    Hold,
    Start,
    Tick {
        ticks: u16,
    },
    Pass {
        millis: u32,
    },
    /// For the test of the driver itself.
    BreakARule,
}

/// An endless stream of operations.
pub(crate) struct Plan {
    seed: u64,
    random: fastrand::Rng,
    drawn: usize,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, random: fastrand::Rng::with_seed(seed), drawn: 0 }
    }

    fn seat(&mut self) -> u8 {
        self.random.u8(..SEATS)
    }

    fn speaker(&mut self) -> Speaker {
        if self.random.u8(..3) == 0 { Speaker::Owner } else { Speaker::Agent }
    }

    fn holder(&mut self) -> Holder {
        let owner = self.random.u8(..OWNERS);
        match self.random.u8(..8) {
            0 | 1 => Holder::Human(owner),
            2 => Holder::Bot,
            3 => Holder::Nobody,
            _ => Holder::Agent(owner),
        }
    }

    fn intent(&mut self) -> Intent {
        match self.random.u8(..12) {
            0 | 1 => Intent::Stop,
            2 => Intent::Gather,
            3 => Intent::Garbage,
            4 => Intent::Look,
            5 => Intent::Strike,
            6 => Intent::Supply,
            _ => Intent::Update(self.random.u8(..24), self.random.u8(..5)),
        }
    }
}

/// The operation in which a held match starts.
const HELD: usize = 120;

/// The operation in which an end is declared that may hold.
const END: usize = 1_500;

impl Plan {
    fn planned(&mut self) -> Planned {
        Planned {
            steps: self.random.u8(..4),
            after: self.random.u8(..6),
            intent: self.intent(),
            cancels: self.random.bool(),
        }
    }

    fn declared(&mut self) -> Declared {
        [Declared::Draw, Declared::Outcomes, Declared::Placements][self.random.usize(..3)]
    }
}

impl Iterator for Plan {
    type Item = Op;

    fn next(&mut self) -> Option<Op> {
        let (seat, speaker) = (self.seat(), self.speaker());
        self.drawn += 1;
        match self.drawn {
            1 if self.seed.is_multiple_of(2) => return Some(Op::Allied),
            2 if self.seed.is_multiple_of(3) => return Some(Op::Hold),
            HELD => return Some(Op::Start),
            END => return Some(Op::End { declared: self.declared() }),
            _ => {}
        }
        Some(match self.random.u16(..1000) {
            0..50 => Op::Assign { seat, holder: self.holder() },
            // Mostly an agent with every scope: whatever is refused to everybody proves little.
            50..80 => {
                let any = self.random.u8(..5);
                Op::Controller { seat, controller: if self.random.u8(..4) == 0 { any } else { 1 } }
            }
            80..98 => {
                let any = self.random.u8(..8);
                Op::Scopes { seat, mask: if self.random.u8(..3) == 0 { any } else { 7 } }
            }
            98..100 => Op::Flood { seat, speaker },
            100..130 => {
                Op::Mandate { seat, supervised: self.random.bool(), when_absent: self.random.u8(..3) }
            }
            130..155 => Op::Sequence {
                seat,
                speaker: if self.random.u8(..8) == 0 { Speaker::Owner } else { Speaker::Agent },
                planned: self.planned(),
            },
            155..170 => Op::Stream { seat, speaker, every: self.random.u8(..5) },
            170..172 => Op::End { declared: Declared::Uncovered },
            172..480 => Op::Act { seat, speaker, intent: self.intent() },
            480..540 => Op::Observe { seat, speaker },
            540..600 => Op::Wait { seat, speaker, millis: self.random.u16(..20_000) },
            600..610 => Op::CancelWait { number: self.random.u8(..4) },
            610..650 => Op::CallStarts { seat },
            650..690 => Op::CallEnds { seat },
            690..760 => Op::Tell {
                owner: self.random.u8(..OWNERS),
                blue: self.random.bool(),
                roles: self.random.u8(..4),
            },
            760..790 => Op::Say { seat, speaker },
            790..815 => Op::Deploy { seat },
            815..825 => Op::Rollback { seat, version: self.random.u8(1..4) },
            825..845 => Op::Probed { good: self.random.u8(..4) > 0 },
            845..870 => Op::Resolve { seat, current: self.random.u8(..4) > 0, approve: self.random.bool() },
            870..871 if self.drawn > 1000 => Op::Forfeit { blue: self.random.bool() },
            870..960 => Op::Tick {
                // Long enough at times for a signal to expire, and too short to forget that it did.
                ticks: if self.random.u8(..60) == 0 { 605 } else { self.random.u16(1..4) },
            },
            _ => Op::Pass { millis: self.random.u32(..12_000) },
        })
    }
}
