//! One game: its chain of hashes, its board, and the rule that decides about each next event.
//!
//! A game never looks at other games, at times or at labels. A refused event leaves it exactly as it was.

use super::event::{Action, Body, Event, Fault, Note, Pointer, Protocol, Rules};
use super::report::{Params, Seats};
use super::sig::PublicKey;
use crate::canonical::Hash;
use playerthree_tic_tac_toe_rules::{Board, Dimensions, Mark, Placed, Refused, Sparse};

/// Boards above this size are not drawn in reports.
const DRAWN_CELLS: u64 = 1024;

/// Where a game stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Moves are still possible.
    InProgress,
    /// Somebody won, by a line or by the other's resignation.
    Win,
    /// The board is full without a line.
    Draw,
}

impl State {
    /// The wire name, which is also what an event may claim.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Win => "win",
            Self::Draw => "draw",
        }
    }

    pub(crate) fn from_claim(text: &str) -> Option<Self> {
        [Self::InProgress, Self::Win, Self::Draw].into_iter().find(|state| state.as_str() == text)
    }
}

/// What ended a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// A line of the winner.
    Line,
    /// A full board.
    Draw,
    /// The loser's resignation.
    Resign,
}

impl EndedBy {
    /// The wire name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Draw => "draw",
            Self::Resign => "resign",
        }
    }
}

/// What became of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// On the chain at this seq, perhaps with a wrong claim.
    Accepted {
        wrong_claim: bool,
    },
    Refused(Fault),
    Ignored(Note),
    /// The game speaks a protocol that is not ours; all that was said about it is withdrawn.
    Skipped,
}

/// The reader's own facts, as one game needs them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) assumes_ours: bool,
    pub(crate) params: Params,
    pub(crate) seats: Option<Seats>,
    pub(crate) keys: Keys,
}

/// Public keys by player.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keys {
    pub(crate) x: Option<PublicKey>,
    pub(crate) o: Option<PublicKey>,
}

impl Keys {
    fn of(self, player: Mark) -> Option<PublicKey> {
        match player {
            Mark::X => self.x,
            Mark::O => self.o,
        }
    }

    /// These keys, completed by those that the start event declares.
    fn or_declared(self, rules: Option<&Rules>) -> Self {
        let declared = rules.copied().unwrap_or_default();
        Self { x: self.x.or(declared.x_key), o: self.o.or(declared.o_key) }
    }
}

/// A game after its start event was taken.
#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) protocol: Option<Box<str>>,
    /// Hash of the event at each seq; it starts with the genesis.
    pub(crate) chain: Vec<Hash>,
    dimensions: Dimensions,
    pub(crate) position: Position,
    seats: Option<Seats>,
    keys: Keys,
    pub(crate) verified_sigs: u64,
}

/// The board of a game that goes on, or what is left of it once it is over.
#[derive(Debug, Clone)]
pub(crate) enum Position {
    Open(Board<Sparse>),
    Over { winner: Option<Mark>, by: EndedBy, drawing: Option<Box<[String]>> },
}

/// A game as its events have left it so far.
#[derive(Debug, Clone)]
pub(crate) enum Game {
    /// No start event was taken yet.
    Unstarted,
    Started(Box<Started>),
    /// Another protocol's game.
    Foreign {
        protocol: Option<Box<str>>,
    },
}

impl Game {
    /// Reads the next event of this game; `signer` is the transport key that the inbox matched.
    pub(crate) fn read(&mut self, body: &Body, signer: Option<&str>, facts: &Facts) -> Outcome {
        match self {
            Self::Foreign { .. } => Outcome::Skipped,
            Self::Started(started) => started.read(body, signer),
            Self::Unstarted => match open(body, signer, facts) {
                Opening::Started(started, outcome) => {
                    *self = Self::Started(started);
                    outcome
                }
                Opening::Foreign(protocol) => {
                    *self = Self::Foreign { protocol };
                    Outcome::Skipped
                }
                Opening::Refused(fault) => Outcome::Refused(fault),
            },
        }
    }
}

enum Opening {
    Started(Box<Started>, Outcome),
    Foreign(Option<Box<str>>),
    Refused(Fault),
}

fn open(body: &Body, signer: Option<&str>, facts: &Facts) -> Opening {
    if !body.opens {
        return Opening::Refused(Fault::MissingGenesis);
    }
    match &body.protocol {
        Protocol::Named(name) if !is_ours(name) => return Opening::Foreign(Some(name.clone())),
        Protocol::Absent if !facts.assumes_ours => return Opening::Foreign(None),
        _ => {}
    }
    match open_ours(body, signer, facts) {
        Ok((started, wrong_claim)) => Opening::Started(Box::new(started), Outcome::Accepted { wrong_claim }),
        Err(fault) => Opening::Refused(fault),
    }
}

fn open_ours(body: &Body, signer: Option<&str>, facts: &Facts) -> Result<(Started, bool), Fault> {
    let event = body.event.as_deref().ok_or(Fault::MalformedEvent)?;
    if let Some(fault) = event.fault_alone() {
        return Err(fault);
    }
    let keys = facts.keys.or_declared(event.rules.as_ref());
    check_signer(facts.seats.as_ref(), event.player, signer)?;
    let is_signed = check_sig(keys, event)?;
    if event.pointer != Pointer::Empty {
        return Err(Fault::WrongPrevHash);
    }
    let dimensions = dimensions(event.rules.unwrap_or_default(), &facts.params)?;
    let seats = facts.seats.clone().or_else(|| signer.map(|x| Seats { x: Some(x.to_owned()), o: None }));
    let started = Started {
        protocol: if let Protocol::Named(name) = &body.protocol { Some(name.clone()) } else { None },
        chain: vec![event.hash],
        dimensions,
        position: Position::Open(Board::new(dimensions)),
        seats,
        keys,
        verified_sigs: u64::from(is_signed),
    };
    Ok((started, event.claim.is_some_and(|claim| claim != State::InProgress)))
}

/// A trailing `@<digits>` pins a version of the same recipe.
fn is_ours(protocol: &str) -> bool {
    let recipe = match protocol.rsplit_once('@') {
        Some((recipe, pin)) if !pin.is_empty() && pin.bytes().all(|b| b.is_ascii_digit()) => recipe,
        _ => protocol,
    };
    recipe == super::PROTOCOL
}

/// Whether a protocol name is this recipe's.
pub(crate) fn is_our_protocol(name: &str) -> bool {
    is_ours(name)
}

fn dimensions(rules: Rules, params: &Params) -> Result<Dimensions, Fault> {
    let sides = [(rules.rows, params.rows), (rules.cols, params.cols), (rules.win_length, params.win_length)];
    let mut read = [0; 3];
    for (slot, (declared, installed)) in read.iter_mut().zip(sides) {
        *slot = declared.or(installed).ok_or(Fault::MissingRules)?;
        if installed.is_some_and(|installed| installed != *slot) {
            return Err(Fault::RulesMismatch);
        }
    }
    let [rows, cols, win_length] = read;
    Ok(Dimensions { rows, cols, win_length })
}

fn check_signer(seats: Option<&Seats>, player: Mark, signer: Option<&str>) -> Result<(), Fault> {
    let Some(seats) = seats else { return Ok(()) };
    let signer = signer.ok_or(Fault::WrongSigner)?;
    let is_stranger = match seats.of(player) {
        Some(bound) => signer != bound,
        None => Some(signer) == seats.x.as_deref(),
    };
    if is_stranger { Err(Fault::WrongSigner) } else { Ok(()) }
}

/// Whether a key is known for the author, whose `sig` has then been verified.
fn check_sig(keys: Keys, event: &Event) -> Result<bool, Fault> {
    let Some(key) = keys.of(event.player) else { return Ok(false) };
    let signed = event.signed.as_ref().ok_or(Fault::MissingSignature)?;
    if key.accepts(&signed.sig, &signed.bytes) { Ok(true) } else { Err(Fault::BadSignature) }
}

impl Started {
    fn read(&mut self, body: &Body, signer: Option<&str>) -> Outcome {
        self.judge(body, signer).unwrap_or_else(Outcome::Refused)
    }

    fn judge(&mut self, body: &Body, signer: Option<&str>) -> Result<Outcome, Fault> {
        let event = body.event.as_deref().ok_or(Fault::MalformedEvent)?;
        if let Some(fault) = event.fault_alone() {
            return Err(fault);
        }
        check_signer(self.seats.as_ref(), event.player, signer)?;
        let is_signed = check_sig(self.keys, event)?;
        if event.action == Action::Start {
            return self.judge_second_start(event);
        }
        if event.pointer != Pointer::Hash(self.tip_hash()) {
            return self.judge_stale(event);
        }
        let wrong_claim = self.join(event)?;
        self.bind_guest(event.player, signer);
        self.verified_sigs += u64::from(is_signed);
        Ok(Outcome::Accepted { wrong_claim })
    }

    fn judge_second_start(&self, event: &Event) -> Result<Outcome, Fault> {
        if event.pointer != Pointer::Empty {
            Err(Fault::WrongPrevHash)
        } else if self.chain.first() == Some(&event.hash) {
            Ok(Outcome::Ignored(Note::DuplicateEvent))
        } else {
            Err(Fault::TwoGeneses)
        }
    }

    /// An event that is not built on the tip: a copy or a late rival of a seq that is taken, or else a break.
    fn judge_stale(&self, event: &Event) -> Result<Outcome, Fault> {
        let seq = usize::try_from(event.seq).map_err(|_| Fault::WrongPrevHash)?;
        let before = seq.checked_sub(1).and_then(|before| self.chain.get(before));
        match (before, self.chain.get(seq)) {
            (Some(before), Some(taken)) if event.pointer == Pointer::Hash(*before) => {
                Ok(Outcome::Ignored(if *taken == event.hash { Note::DuplicateEvent } else { Note::RaceLost }))
            }
            _ => Err(Fault::WrongPrevHash),
        }
    }

    /// Puts an event on the tip; whether its claim was wrong.
    fn join(&mut self, event: &Event) -> Result<bool, Fault> {
        if event.seq != self.next_seq() {
            return Err(Fault::WrongSeq);
        }
        let Position::Open(board) = &mut self.position else { return Err(Fault::AfterTerminal) };
        let over = match (event.action, event.cell) {
            (Action::Move, Some((row, col))) => {
                board.check(row, col).map_err(refusal)?;
                ending(board.place(row, col, event.player), event.player)
            }
            _ => Some((Some(event.player.other()), EndedBy::Resign)),
        };
        self.chain.push(event.hash);
        if let Some((winner, by)) = over {
            let drawing = draw(board).map(Vec::into_boxed_slice);
            self.position = Position::Over { winner, by, drawing };
            self.chain.shrink_to_fit();
        }
        let is_compared = event.action == Action::Move;
        Ok(is_compared && event.claim.is_some_and(|claim| claim != self.state()))
    }

    /// Without a seat map, the first other key whose O event is taken is O from then on.
    fn bind_guest(&mut self, player: Mark, signer: Option<&str>) {
        if let (Mark::O, Some(seats)) = (player, &mut self.seats)
            && seats.o.is_none()
        {
            seats.o = signer.map(str::to_owned);
        }
    }

    /// What a move would lead to, leaving the game as it is.
    pub(crate) fn foresee(&self, player: Mark, row: i64, col: i64) -> Result<State, Fault> {
        let Position::Open(board) = &self.position else { return Err(Fault::AfterTerminal) };
        if self.turn() != Some(player) {
            return Err(Fault::WrongTurn);
        }
        board.check(row, col).map_err(refusal)?;
        Ok(match board.foresee(row, col, player) {
            Placed::Open => State::InProgress,
            Placed::Line => State::Win,
            Placed::Full => State::Draw,
        })
    }

    pub(crate) fn state(&self) -> State {
        match &self.position {
            Position::Open(_) => State::InProgress,
            Position::Over { by: EndedBy::Draw, .. } => State::Draw,
            Position::Over { .. } => State::Win,
        }
    }

    /// Whose event is next; `None` when the game is over.
    pub(crate) fn turn(&self) -> Option<Mark> {
        match self.position {
            Position::Over { .. } => None,
            Position::Open(_) if self.chain.len() % 2 == 1 => Some(Mark::X),
            Position::Open(_) => Some(Mark::O),
        }
    }

    pub(crate) fn next_seq(&self) -> i64 {
        i64::try_from(self.chain.len()).unwrap_or(i64::MAX)
    }

    /// The hash of the newest event on the chain.
    pub(crate) fn tip_hash(&self) -> Hash {
        self.chain.last().copied().unwrap_or_default()
    }

    pub(crate) fn dimensions(&self) -> Dimensions {
        self.dimensions
    }

    pub(crate) fn seats(&self) -> Option<&Seats> {
        self.seats.as_ref()
    }

    /// Whether every event of this player needs a `sig`.
    pub(crate) fn needs_sig(&self, player: Mark) -> bool {
        self.keys.of(player).is_some()
    }

    pub(crate) fn drawing(&self) -> Option<Vec<String>> {
        match &self.position {
            Position::Open(board) => draw(board),
            Position::Over { drawing, .. } => drawing.as_deref().map(<[String]>::to_vec),
        }
    }
}

/// One string a row, `.` for a free cell; nothing above [`DRAWN_CELLS`].
fn draw(board: &Board<Sparse>) -> Option<Vec<String>> {
    let dimensions = board.dimensions();
    if dimensions.size() > u128::from(DRAWN_CELLS) {
        return None;
    }
    let side = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let (rows, cols) = (side(dimensions.rows), side(dimensions.cols));
    let at = |row, col| board.at(row, col).map_or(".", Mark::as_str);
    Some((0..rows).map(|row| (0..cols).map(|col| at(row, col)).collect()).collect())
}

fn ending(placed: Placed, player: Mark) -> Option<(Option<Mark>, EndedBy)> {
    match placed {
        Placed::Open => None,
        Placed::Line => Some((Some(player), EndedBy::Line)),
        Placed::Full => Some((None, EndedBy::Draw)),
    }
}

fn refusal(refused: Refused) -> Fault {
    match refused {
        Refused::OutOfRange => Fault::CellOutOfRange,
        Refused::Occupied => Fault::CellOccupied,
    }
}
