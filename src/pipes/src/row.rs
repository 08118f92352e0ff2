//! Rows as they are stored: the newest ones in memory, and the way from a line back to a capture.

use std::collections::VecDeque;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::error::PipesError;
use crate::verify::{Body, Capture};

/// Newest rows kept in memory, so that subscribers share one copy of each.
const RECENT_ROWS: usize = 256;
/// Bytes of those rows.
const RECENT_BYTES: usize = 1 << 20;

/// The newest rows, contiguous.
#[derive(Default)]
pub(crate) struct Recent {
    first: u64,
    rows: VecDeque<Bytes>,
    bytes: usize,
}

impl Recent {
    pub(crate) fn extend(&mut self, first: u64, lines: &[Bytes]) {
        if self.rows.is_empty() {
            self.first = first;
        }
        for line in lines {
            self.bytes += line.len();
            self.rows.push_back(line.slice(..line.len() - 1));
        }
        while self.rows.len() > RECENT_ROWS || self.bytes > RECENT_BYTES {
            let Some(oldest) = self.rows.pop_front() else { break };
            self.bytes -= oldest.len() + 1;
            self.first += 1;
        }
    }

    pub(crate) fn get(&self, seq: u64) -> Option<Bytes> {
        let at = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.rows.get(at).cloned()
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StoredRow {
    seq: i64,
    id: String,
    matched_signing_ref: Option<String>,
    body: String,
    #[serde(default)]
    body_encoding: Option<String>,
}

impl StoredRow {
    fn body(self) -> Vec<u8> {
        match self.body_encoding {
            // Bytes that are not UTF-8 stay what they are: no event.
            Some(_) => STANDARD.decode(self.body).unwrap_or_default(),
            None => self.body.into_bytes(),
        }
    }
}

pub(crate) fn read_row(row: &[u8]) -> Result<Capture, PipesError> {
    let mut row: StoredRow = serde_json::from_slice(row).map_err(|_| PipesError::Unavailable)?;
    let (seq, id, signing_ref) = (Some(row.seq), std::mem::take(&mut row.id), row.matched_signing_ref.take());
    Ok(Capture { seq, id, signing_ref, rejected: false, body: row.body() })
}

pub(crate) fn names_game(row: &[u8], game: &str) -> bool {
    let Ok(capture) = read_row(row) else { return false };
    Body::read(&capture.body).is_some_and(|body| *body.game == *game.as_bytes())
}
