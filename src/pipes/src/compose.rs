//! Composes events, so that no player ever writes a hash by hand.
//!
//! It refuses what the verifier would fault, in the verifier's words, and never posts anything itself.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::canonical::{canonical_bytes, hex, sha256};
use crate::verify::{Dimensions, Fault, Hash, Mark, PROTOCOL, Started, State, sign};

/// A composed event: the body to post, and the hash by which it is found on the chain.
#[derive(Debug, Clone)]
pub(crate) struct Composed {
    pub(crate) body: Bytes,
    pub(crate) hash: Hash,
    pub(crate) seq: i64,
}

/// What a player does on its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Play {
    Move { row: i64, col: i64 },
    Resign,
}

/// Public keys that a start event declares.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeclaredKeys {
    pub(crate) x: Option<String>,
    pub(crate) o: Option<String>,
}

/// The start event of a game; with a key for X it is signed.
pub(crate) fn start(game: &str, board: Dimensions, keys: &DeclaredKeys, seed: &[u8; 32]) -> Composed {
    let mut rules = json!({"rows": board.rows, "cols": board.cols, "winLength": board.win_length});
    let named = [("X", &keys.x), ("O", &keys.o)];
    let declared: Map<String, Value> = named
        .into_iter()
        .filter_map(|(player, key)| Some((player.to_owned(), json!(key.as_ref()?))))
        .collect();
    if !declared.is_empty() {
        rules["keys"] = Value::Object(declared);
    }
    let event = json!({
        "game": game, "seq": 0, "prevHash": "", "player": "X", "action": "start", "protocol": PROTOCOL,
        "rules": rules, "status": State::InProgress.as_str(),
    });
    finish(event, 0, keys.x.is_some().then_some(seed))
}

/// The next event of a player.
pub(crate) fn next(
    game: &str,
    started: &Started,
    player: Mark,
    play: Play,
    seed: &[u8; 32],
) -> Result<Composed, Fault> {
    let seq = started.next_seq();
    let mut event = json!({
        "game": game, "seq": seq, "prevHash": hex(&started.tip_hash()), "player": player.as_str(),
    });
    match play {
        Play::Move { row, col } => {
            let state = started.foresee(player, row, col)?;
            event["action"] = json!("move");
            event["move"] = json!({"row": row, "col": col});
            event["status"] = json!(state.as_str());
        }
        Play::Resign => {
            let turn = started.turn().ok_or(Fault::AfterTerminal)?;
            if turn != player {
                return Err(Fault::WrongTurn);
            }
            event["action"] = json!("resign");
        }
    }
    Ok(finish(event, seq, started.needs_sig(player).then_some(seed)))
}

fn finish(mut event: Value, seq: i64, seed: Option<&[u8; 32]>) -> Composed {
    let bytes = canonical_bytes(&event);
    let hash = sha256(&bytes);
    if let Some(seed) = seed {
        event["sig"] = json!(sign(seed, &bytes));
    }
    Composed { body: event.to_string().into(), hash, seq }
}
