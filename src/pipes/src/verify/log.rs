//! The reader of a whole log: gathers captures into games, in inbox order, and collects what is found.
//!
//! It never sorts. A newest-first listing is read backwards and several inboxes are merged per game; both hold rows
//! back, up to [`Bounds::held_bytes`]. A single inbox in order is read as it comes, holding nothing.

use std::collections::{HashMap, VecDeque};

use super::capture::{Capture, LogError};
use super::event::{Body, Fault, Note};
use super::game::{Facts, Game, Keys, Outcome, Started, is_our_protocol};
use super::report::{
    Accepted, FaultRow, FirstFault, GameSummary, NoteRow, Options, Report, SigKeys, Verdict,
};
use super::sig::PublicKey;
use super::{Bounds, Detail, Request};
use crate::canonical::hex;

/// Inboxes that one log may merge.
const MAX_INBOXES: usize = 64;

/// A body of some game with its place in the log.
struct Row {
    place: u64,
    id: String,
    signer: Option<String>,
    body: Body,
}

impl Row {
    fn size(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.signer.as_ref().map_or(0, String::len) + self.body.size()
    }
}

/// How rows reach their games.
enum Flow {
    /// At once: there is one inbox.
    Streaming,
    /// Queued per game and inbox, because another inbox may follow.
    Holding(HashMap<usize, Vec<(usize, VecDeque<Row>)>>),
}

/// One game of the log with what was said about it.
struct Entry {
    id: Box<[u8]>,
    game: Game,
    first_fault: Option<(u64, FirstFault)>,
    faults: u64,
    notes: u64,
    accepted: Vec<Accepted>,
}

impl Entry {
    fn is_skipped(&self) -> bool {
        matches!(self.game, Game::Foreign { .. })
    }

    fn name(&self) -> String {
        String::from_utf8_lossy(&self.id).into_owned()
    }
}

/// A listed fault or note; `game` is none for captures of no game.
struct Listed<T> {
    place: u64,
    game: Option<usize>,
    capture_id: String,
    what: T,
}

/// Reads captures one by one and answers with a [`Report`] at any time.
pub struct LogReader {
    given: Options,
    options: Options,
    facts: Facts,
    only: Option<Box<[u8]>>,
    detail: Detail,
    bounds: Bounds,
    flow: Flow,
    inboxes: usize,
    /// Rows of the current inbox while their `Seq` strictly falls; `None` once the order is known to be oldest first.
    falling: Option<Vec<Capture>>,
    held: usize,
    places: u64,
    index: HashMap<Box<[u8]>, usize>,
    games: Vec<Entry>,
    accepted: usize,
    faults: Vec<Listed<(Option<i64>, Fault)>>,
    notes: Vec<Listed<Note>>,
    gameless_notes: u64,
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogReader").field("games", &self.games.len()).field("places", &self.places).finish()
    }
}

impl LogReader {
    /// A reader of one or more inboxes in whatever order their listings have.
    ///
    /// # Errors
    /// [`LogError::BadOptions`] when a key is malformed.
    pub fn new(request: Request) -> Result<Self, LogError> {
        Self::with_flow(request, Flow::Holding(HashMap::new()))
    }

    /// A reader of one inbox whose captures arrive oldest first: it holds nothing back.
    ///
    /// # Errors
    /// [`LogError::BadOptions`] when a key is malformed.
    pub fn live(request: Request) -> Result<Self, LogError> {
        let mut reader = Self::with_flow(request, Flow::Streaming)?;
        reader.inboxes = 1;
        reader.falling = None;
        Ok(reader)
    }

    fn with_flow(request: Request, flow: Flow) -> Result<Self, LogError> {
        let Request { options, game, detail, bounds } = request;
        Ok(Self {
            facts: facts(&options)?,
            given: options.clone(),
            options,
            only: game.map(|game| game.into_bytes().into()),
            detail,
            bounds,
            flow,
            inboxes: 0,
            falling: None,
            held: 0,
            places: 0,
            index: HashMap::new(),
            games: Vec::new(),
            accepted: 0,
            faults: Vec::new(),
            notes: Vec::new(),
            gameless_notes: 0,
        })
    }

    /// Takes the log's own options; those that the request gave win.
    ///
    /// # Errors
    /// [`LogError::LateOptions`] when rows were already read; [`LogError::BadOptions`].
    pub fn log_options(&mut self, options: Options) -> Result<(), LogError> {
        if matches!(self.flow, Flow::Streaming) && self.places > 0 {
            return Err(LogError::LateOptions);
        }
        self.options = self.given.clone().or(options);
        self.facts = facts(&self.options)?;
        Ok(())
    }

    /// Starts the next inbox of the log.
    ///
    /// # Errors
    /// [`LogError::TooManyInboxes`], or any error of the rows that were held back.
    pub fn begin_inbox(&mut self) -> Result<(), LogError> {
        self.end_inbox()?;
        self.inboxes += 1;
        self.falling = Some(Vec::new());
        if self.inboxes > MAX_INBOXES { Err(LogError::TooManyInboxes) } else { Ok(()) }
    }

    /// Reads the next row of the current inbox.
    ///
    /// # Errors
    /// Any bound of [`Bounds`].
    pub fn capture(&mut self, capture: Capture) -> Result<(), LogError> {
        if capture.body.len() > self.bounds.capture_bytes {
            return Err(LogError::CaptureTooLarge);
        }
        let Some(rows) = &mut self.falling else { return self.gather(capture) };
        let falls = match rows.last() {
            None => capture.seq.is_some(),
            Some(last) => capture.seq.is_some_and(|seq| Some(seq) < last.seq),
        };
        if falls {
            self.held += capture.size();
            rows.push(capture);
            return if self.held > self.bounds.held_bytes { Err(LogError::TooLargeToHold) } else { Ok(()) };
        }
        let rows = self.falling.take().unwrap_or_default();
        self.release(rows)?;
        self.gather(capture)
    }

    /// Reads everything held back and answers.
    ///
    /// # Errors
    /// Any bound of [`Bounds`].
    pub fn finish(mut self) -> Result<Report, LogError> {
        self.end_inbox()?;
        self.drain()?;
        Ok(self.report())
    }

    /// The report on what was read so far; rows held back are not in it.
    #[must_use]
    pub fn report(&self) -> Report {
        let kept = self.games.iter().filter(|entry| !entry.is_skipped());
        let first = kept.clone().filter_map(|entry| Some((entry, entry.first_fault.as_ref()?)));
        let verdict = match first.min_by_key(|(_, (place, _))| *place) {
            None => Verdict::Valid { ok: true },
            Some((entry, (_, fault))) => {
                Verdict::Faulty { ok: false, game_id: entry.name(), seq: fault.seq, reason: fault.reason }
            }
        };
        Report {
            verdict,
            games: self.games.iter().map(Entry::summary).collect(),
            faults: self.listed_faults(),
            ignored: self.listed_notes(),
            chain: (self.detail == Detail::Chains)
                .then(|| kept.clone().flat_map(|entry| entry.accepted.iter().cloned()).collect()),
            fault_count: kept.clone().map(|entry| entry.faults).sum(),
            ignored_count: kept.map(|entry| entry.notes).sum::<u64>() + self.gameless_notes,
            options: self.options.clone(),
        }
    }

    /// The summary of one game.
    #[must_use]
    pub fn summary(&self, game: &str) -> Option<GameSummary> {
        self.index.get(game.as_bytes()).map(|at| self.games[*at].summary())
    }

    /// A game that has a chain, as it stands.
    pub(crate) fn started(&self, game: &str) -> Option<&Started> {
        match &self.games[*self.index.get(game.as_bytes())?].game {
            Game::Started(started) => Some(started),
            Game::Unstarted | Game::Foreign { .. } => None,
        }
    }

    /// Whether any event named this game.
    pub(crate) fn knows(&self, game: &str) -> bool {
        self.index.contains_key(game.as_bytes())
    }

    fn listed_faults(&self) -> Vec<FaultRow> {
        let mut rows: Vec<_> = self
            .faults
            .iter()
            .filter_map(|row| Some((row, &self.games[row.game?])))
            .filter(|(_, e)| !e.is_skipped())
            .collect();
        rows.sort_by_key(|(row, _)| row.place);
        let row = |(row, entry): (&Listed<(Option<i64>, Fault)>, &Entry)| FaultRow {
            capture_id: row.capture_id.clone(),
            game_id: entry.name(),
            seq: row.what.0,
            reason: row.what.1.as_str(),
        };
        rows.into_iter().map(row).collect()
    }

    fn listed_notes(&self) -> Vec<NoteRow> {
        let is_kept = |row: &&Listed<Note>| row.game.is_none_or(|game| !self.games[game].is_skipped());
        let mut rows: Vec<_> = self.notes.iter().filter(is_kept).collect();
        rows.sort_by_key(|row| row.place);
        rows.into_iter()
            .map(|row| NoteRow { capture_id: row.capture_id.clone(), reason: row.what.as_str() })
            .collect()
    }

    /// Settles the direction of the current inbox: rows whose `Seq` fell to the end are a newest-first listing.
    fn end_inbox(&mut self) -> Result<(), LogError> {
        let mut rows = self.falling.take().unwrap_or_default();
        rows.reverse();
        self.release(rows)
    }

    fn release(&mut self, rows: Vec<Capture>) -> Result<(), LogError> {
        for row in rows {
            self.held = self.held.saturating_sub(row.size());
            self.gather(row)?;
        }
        Ok(())
    }

    /// Finds the game of a row, in reading order.
    fn gather(&mut self, capture: Capture) -> Result<(), LogError> {
        self.places += 1;
        let place = self.places;
        if capture.rejected {
            self.note_gameless(place, capture.id, Note::RejectedCapture);
            return Ok(());
        }
        let Some(body) = Body::read(&capture.body) else {
            self.note_gameless(place, capture.id, Note::NotAnEvent);
            return Ok(());
        };
        if self.only.as_ref().is_some_and(|only| *only != body.game) {
            return Ok(());
        }
        let game = self.entry(&body.game)?;
        self.deliver(game, Row { place, id: capture.id, signer: capture.signing_ref, body })
    }

    fn entry(&mut self, id: &[u8]) -> Result<usize, LogError> {
        if let Some(at) = self.index.get(id) {
            return Ok(*at);
        }
        if self.games.len() >= self.bounds.games {
            return Err(LogError::TooManyGames);
        }
        let at = self.games.len();
        self.index.insert(id.into(), at);
        self.games.push(Entry {
            id: id.into(),
            game: Game::Unstarted,
            first_fault: None,
            faults: 0,
            notes: 0,
            accepted: Vec::new(),
        });
        Ok(at)
    }

    fn deliver(&mut self, game: usize, row: Row) -> Result<(), LogError> {
        let Flow::Holding(queues) = &mut self.flow else {
            if self.inboxes > 1 {
                return Err(LogError::TooLargeToHold);
            }
            return self.read(game, row);
        };
        self.held += row.size();
        let queues = queues.entry(game).or_default();
        match queues.last_mut() {
            Some((inbox, queue)) if *inbox == self.inboxes => queue.push_back(row),
            _ => queues.push((self.inboxes, VecDeque::from([row]))),
        }
        if self.held <= self.bounds.held_bytes {
            Ok(())
        } else if self.inboxes > 1 {
            Err(LogError::TooLargeToHold)
        } else {
            self.drain()
        }
    }

    /// Reads all queued rows, merging the inboxes of each game, and streams from here on.
    fn drain(&mut self) -> Result<(), LogError> {
        let Flow::Holding(mut queues) = std::mem::replace(&mut self.flow, Flow::Streaming) else {
            return Ok(());
        };
        for game in 0..self.games.len() {
            let mut queues = queues.remove(&game).unwrap_or_default();
            while let Some(row) = next_head(&mut queues) {
                self.held = self.held.saturating_sub(row.size());
                self.read(game, row)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, game: usize, row: Row) -> Result<(), LogError> {
        let entry = &mut self.games[game];
        match entry.game.read(&row.body, row.signer.as_deref(), &self.facts) {
            Outcome::Accepted { wrong_claim } => {
                self.accepted += 1;
                if self.accepted > self.bounds.accepted_events {
                    return Err(LogError::TooManyEvents);
                }
                self.keep_accepted(game, &row);
                if wrong_claim {
                    self.fault(game, row, Fault::WrongStatus);
                }
            }
            Outcome::Refused(fault) => self.fault(game, row, fault),
            Outcome::Ignored(note) => {
                entry.notes += 1;
                self.note(row.place, Some(game), row.id, note);
            }
            Outcome::Skipped => {}
        }
        Ok(())
    }

    fn keep_accepted(&mut self, game: usize, row: &Row) {
        let (Detail::Chains, Some(event)) = (self.detail, &row.body.event) else { return };
        let entry = &mut self.games[game];
        let game_id = entry.name();
        let (seq, hash) = (event.seq, hex(&event.hash));
        entry.accepted.push(Accepted { capture_id: row.id.clone(), game_id, seq, hash });
    }

    fn fault(&mut self, game: usize, row: Row, fault: Fault) {
        let entry = &mut self.games[game];
        entry.faults += 1;
        let seq = row.body.seq;
        if entry.first_fault.is_none() {
            let first = FirstFault { capture_id: row.id.clone(), seq, reason: fault.as_str() };
            entry.first_fault = Some((row.place, first));
        }
        if self.faults.len() < self.bounds.listed_rows {
            self.faults.push(Listed {
                place: row.place,
                game: Some(game),
                capture_id: row.id,
                what: (seq, fault),
            });
        }
    }

    fn note_gameless(&mut self, place: u64, id: String, note: Note) {
        if self.only.is_none() {
            self.gameless_notes += 1;
            self.note(place, None, id, note);
        }
    }

    fn note(&mut self, place: u64, game: Option<usize>, capture_id: String, what: Note) {
        if self.notes.len() < self.bounds.listed_rows {
            self.notes.push(Listed { place, game, capture_id, what });
        }
    }
}

impl Entry {
    fn summary(&self) -> GameSummary {
        let fault = self.first_fault.as_ref().map(|(_, fault)| fault.clone());
        GameSummary::new(self.name(), &self.game, fault)
    }
}

/// Takes the head with the lowest claimed seq, no integer counting as lowest and the first inbox winning a tie.
fn next_head(queues: &mut [(usize, VecDeque<Row>)]) -> Option<Row> {
    let heads = queues.iter_mut().filter(|(_, queue)| !queue.is_empty());
    let (_, queue) = heads.min_by_key(|(_, queue)| queue.front().map(|row| row.body.seq))?;
    queue.pop_front()
}

fn facts(options: &Options) -> Result<Facts, LogError> {
    let assumes_ours = match &options.assume_protocol {
        None => true,
        Some(None) => false,
        Some(Some(name)) => is_our_protocol(name),
    };
    let SigKeys { x, o } = options.keys.clone().unwrap_or_default();
    let key = |text: Option<String>| match text {
        None => Ok(None),
        Some(text) => PublicKey::parse(&text).map(Some).ok_or(LogError::BadOptions),
    };
    Ok(Facts {
        assumes_ours,
        params: options.params.unwrap_or_default(),
        seats: options.seats.clone(),
        keys: Keys { x: key(x)?, o: key(o)? },
    })
}
