//! What a plan is made of: operations that name owners, seats and texts by small numbers, drawn from a seed.

use serde::{Deserialize, Serialize};

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

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Op {
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
    Tick {
        ticks: u8,
    },
    Pass {
        millis: u32,
    },
    /// For the test of the driver itself.
    BreakARule,
}

/// An endless stream of operations.
pub(crate) struct Plan {
    random: fastrand::Rng,
    drawn: usize,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), drawn: 0 }
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

impl Iterator for Plan {
    type Item = Op;

    fn next(&mut self) -> Option<Op> {
        let (seat, speaker) = (self.seat(), self.speaker());
        self.drawn += 1;
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
            130..480 => Op::Act { seat, speaker, intent: self.intent() },
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
                // Long enough at times for a signal to expire.
                ticks: if self.random.u8(..60) == 0 { 250 } else { self.random.u8(1..4) },
            },
            _ => Op::Pass { millis: self.random.u32(..12_000) },
        })
    }
}
