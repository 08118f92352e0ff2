//! The tools themselves: each reads its arguments, finds the caller's seat, acts, and answers with public facts.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Holder, ToolError};
use crate::compose::{self, Composed, DeclaredKeys, Play};
use crate::error::PipesError;
use crate::inbox::{Inbox, Listing};
use crate::keys;
use crate::limits::timestamp;
use crate::meta::{InboxKind, Seat, SeatRole};
use crate::pairing::PairingCode;
use crate::seats::{Host, Recipient, SeatOffer};
use crate::service::Pipes;
use crate::verify::{Dimensions, Fault, GameSummary, LogReader, Mark};

/// Characters of a game id that a tool makes or takes.
const MAX_GAME_ID: usize = 128;
/// Bytes of a log that a tool verifies; escaped in a request, it still fits an MCP message of 1 MiB.
pub(super) const MAX_LOG: usize = 512 << 10;
/// The largest side of a board, 2^53-1.
const MAX_SIDE: u64 = (1 << 53) - 1;

type Answer = Result<Value, ToolError>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateGame {
    inbox: Option<String>,
    #[serde(default = "signed")]
    mode: InboxKind,
    #[serde(default = "three")]
    rows: u64,
    #[serde(default = "three")]
    cols: u64,
    #[serde(default = "three")]
    win_length: u64,
    game: Option<String>,
    guest_name: Option<String>,
}

fn signed() -> InboxKind {
    InboxKind::Signed
}

fn three() -> u64 {
    3
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Join {
    code: Option<String>,
    invite: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MintSeat {
    inbox: String,
    guest_name: Option<String>,
    seat_hours: Option<u64>,
    code_minutes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InboxOnly {
    inbox: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GameOf {
    inbox: String,
    game: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveOf {
    inbox: String,
    game: String,
    row: i64,
    col: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPost {
    inbox: String,
    body: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListCaptures {
    inbox: String,
    #[serde(default)]
    after: u64,
    limit: Option<usize>,
    game: Option<String>,
    #[serde(default)]
    wait_seconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verify {
    inbox: Option<String>,
    game: Option<String>,
    log: Option<String>,
}

/// The caller's place at an inbox.
struct Place {
    inbox: Arc<Inbox>,
    seat: Seat,
}

impl Place {
    async fn find(pipes: &Arc<Pipes>, holder: &Holder, inbox: &str) -> Result<Self, ToolError> {
        let inbox = pipes.find(inbox).await?;
        let seat = inbox.meta().held_by(holder.digest(), pipes.now_ms()).cloned();
        Ok(Self { seat: seat.ok_or(PipesError::NotFound)?, inbox })
    }

    async fn find_host(pipes: &Arc<Pipes>, holder: &Holder, inbox: &str) -> Result<Self, ToolError> {
        let place = Self::find(pipes, holder, inbox).await?;
        if place.seat.role == SeatRole::Host { Ok(place) } else { Err(PipesError::NotFound.into()) }
    }

    fn player(&self) -> Mark {
        match self.seat.role {
            SeatRole::Host => Mark::X,
            SeatRole::Guest => Mark::O,
        }
    }
}

pub(super) async fn create_game(pipes: &Arc<Pipes>, holder: &Holder, ask: CreateGame) -> Answer {
    let sides = [ask.rows, ask.cols, ask.win_length];
    if sides.iter().any(|side| !(1..=MAX_SIDE).contains(side))
        || ask.game.as_deref().is_some_and(is_no_game_id)
    {
        return Err(ToolError::BadArguments);
    }
    let (place, mut handed) = match &ask.inbox {
        Some(inbox) => (Place::find_host(pipes, holder, inbox).await?, json!({})),
        None => open(pipes, holder, ask.mode, ask.guest_name).await?,
    };
    let game = match ask.game {
        Some(game) => game,
        None => format!("ttt-{}", keys::new_id().map_err(PipesError::from)?),
    };
    let board = Dimensions { rows: ask.rows, cols: ask.cols, win_length: ask.win_length };
    let seed = pipes.sig_seed(&place.inbox, &place.seat);
    let start = compose::start(&game, board, &declared_keys(pipes, &place), &seed);
    let known = game.clone();
    let is_taken = place.inbox.with_log(move |log| log.knows(&known)).await?;
    let mut answer = if is_taken {
        refusal(&place, &game, Fault::TwoGeneses).await?
    } else {
        post_composed(pipes, &place, &game, start).await?
    };
    if let (Some(answer), Some(handed)) = (answer.as_object_mut(), handed.as_object_mut()) {
        answer.append(handed);
    }
    add_watch_url(pipes, &place, &mut answer);
    Ok(answer)
}

/// Gives the host of an inbox the address of the page that shows it, as a path of this server with the read token in
/// its fragment. The guest gets none: who may watch is the host's to say.
fn add_watch_url(pipes: &Pipes, place: &Place, answer: &mut Value) {
    if let (SeatRole::Host, Some(token)) = (place.seat.role, pipes.read_token(&place.inbox)) {
        answer["watchUrl"] = json!(format!("/pipes/#token={}", token.reveal()));
    }
}

fn is_no_game_id(game: &str) -> bool {
    game.is_empty() || game.chars().count() > MAX_GAME_ID || game.chars().any(char::is_control)
}

/// Opens an inbox with what the guest needs to come in.
async fn open(
    pipes: &Arc<Pipes>,
    holder: &Holder,
    kind: InboxKind,
    guest_name: Option<String>,
) -> Result<(Place, Value), ToolError> {
    let opened = pipes.open_inbox_for(kind, Some(holder.digest().to_owned())).await?;
    let place = Place::find(pipes, holder, opened.inbox.id()).await?;
    let invitation = match kind {
        InboxKind::Signed => {
            let offer = SeatOffer::default();
            let offer = SeatOffer { label: guest_name.unwrap_or_else(|| offer.label.clone()), ..offer };
            pairing(&pipes.mint_seat(&Host(Arc::clone(&opened.inbox)), offer).await?)
        }
        // In anonymous play the capture URL is the capability, and it is handed to the other agent.
        InboxKind::Anonymous => {
            json!({"invite": format!("{}~{}", opened.capture_token.reveal(), opened.read_token.reveal())})
        }
    };
    Ok((place, invitation))
}

fn pairing(code: &PairingCode) -> Value {
    let code = code.reveal();
    json!({
        "pairingCode": code,
        "handOver": format!("Paste this to the other player's agent: join the game with pairing code {code}"),
    })
}

/// Public keys for a start event, so that the game can be checked by anyone after it left this server: the host's, and
/// the guest's when there is exactly one.
fn declared_keys(pipes: &Pipes, place: &Place) -> DeclaredKeys {
    if place.inbox.kind() == InboxKind::Anonymous {
        return DeclaredKeys::default();
    }
    let (meta, now) = (place.inbox.meta(), pipes.now_ms());
    let mut guests = meta.seats.iter().filter(|seat| seat.role == SeatRole::Guest && seat.is_live(now));
    let o = match (guests.next(), guests.next()) {
        (Some(guest), None) => pipes.public_key(&place.inbox, guest),
        _ => None,
    };
    DeclaredKeys { x: pipes.public_key(&place.inbox, &place.seat), o }
}

pub(super) async fn join(pipes: &Arc<Pipes>, holder: &Holder, ask: Join) -> Answer {
    match (ask.code, ask.invite) {
        (Some(code), None) => join_signed(pipes, holder, &code).await,
        (None, Some(invite)) => join_anonymous(pipes, holder, &invite).await,
        _ => Err(ToolError::BadArguments),
    }
}

async fn join_signed(pipes: &Arc<Pipes>, holder: &Holder, code: &str) -> Answer {
    let code = PairingCode::parse(code).ok_or(ToolError::BadArguments)?;
    let nonce = keys::new_id().map_err(PipesError::from)?;
    let proof = code.prove(&nonce, &timestamp(pipes.now_ms()));
    let redeemed = pipes.redeem_for(proof, Recipient::Holder(holder.digest().to_owned())).await?;
    joined(&redeemed.inbox, redeemed.expires_ms, redeemed.cursor).await
}

async fn join_anonymous(pipes: &Arc<Pipes>, holder: &Holder, invite: &str) -> Answer {
    let (capture, read) = invite.trim().split_once('~').ok_or(ToolError::BadArguments)?;
    let inbox = pipes.writer(capture).await?.0;
    if pipes.reader(read).await?.id() != inbox.id() || inbox.kind() != InboxKind::Anonymous {
        return Err(PipesError::NotFound.into());
    }
    let cursor = inbox.head();
    let (now, bound, digest) = (pipes.now_ms(), pipes.limits().seats, holder.digest().to_owned());
    let seat_ref = format!("seat_{}", keys::new_id().map_err(PipesError::from)?);
    let expires_ms = inbox.change(move |meta| {
        if meta.held_by(&digest, now).is_none() {
            if meta.seats.len() >= bound {
                return Err(PipesError::Full);
            }
            meta.seats.push(Seat {
                seat_ref,
                label: "Guest".to_owned(),
                role: SeatRole::Guest,
                generation: 0,
                revoked: false,
                expires_ms: meta.expires_ms,
                token: None,
                holder: Some(digest),
                public_key: None,
            });
        }
        Ok(meta.expires_ms)
    });
    let expires_ms = expires_ms.await?;
    pipes.remember(holder.digest(), inbox.id());
    joined(&inbox, expires_ms, cursor).await
}

async fn joined(inbox: &Arc<Inbox>, expires_ms: u64, cursor: u64) -> Answer {
    let games = games(inbox).await?;
    Ok(json!({
        "inbox": inbox.id(), "you": Mark::O.as_str(), "expiresAt": timestamp(expires_ms), "cursor": cursor,
        "games": games,
    }))
}

pub(super) async fn mint_seat(pipes: &Arc<Pipes>, holder: &Holder, ask: MintSeat) -> Answer {
    let place = Place::find_host(pipes, holder, &ask.inbox).await?;
    let usual = SeatOffer::default();
    let offer = SeatOffer {
        label: ask.guest_name.unwrap_or(usual.label),
        seat_hours: ask.seat_hours.unwrap_or(usual.seat_hours),
        code_minutes: ask.code_minutes.unwrap_or(usual.code_minutes),
    };
    Ok(pairing(&pipes.mint_seat(&Host(place.inbox), offer).await?))
}

pub(super) async fn inboxes(pipes: &Arc<Pipes>, holder: &Holder, _ask: Nothing) -> Answer {
    let mut held = Vec::new();
    for inbox in pipes.held_by(holder.digest()) {
        // A seat or an inbox that has ended meanwhile is left out.
        let Ok(place) = Place::find(pipes, holder, &inbox).await else { continue };
        let you = place.player().as_str();
        let mut answer = json!({"inbox": place.inbox.id(), "you": you, "games": games(&place.inbox).await?});
        add_watch_url(pipes, &place, &mut answer);
        held.push(answer);
    }
    Ok(json!({"inboxes": held}))
}

async fn games(inbox: &Arc<Inbox>) -> Result<Vec<GameSummary>, ToolError> {
    Ok(inbox.with_log(|log| log.report().games).await?)
}

pub(super) async fn board(pipes: &Arc<Pipes>, holder: &Holder, ask: GameOf) -> Answer {
    let place = Place::find(pipes, holder, &ask.inbox).await?;
    view(&place, &ask.game).await
}

/// The game as the caller sees it, with every fault found in it so far.
async fn view(place: &Place, game: &str) -> Answer {
    let name = game.to_owned();
    let seen = place.inbox.with_log(move |log| {
        let faults: Vec<_> = log.report().faults.into_iter().filter(|fault| fault.game_id == name).collect();
        Some((log.summary(&name)?, faults))
    });
    let (summary, faults) = seen.await?.ok_or(PipesError::NotFound)?;
    let you = place.player().as_str();
    let is_yours = matches!(&summary, GameSummary::Played(played) if played.turn == Some(you));
    Ok(json!({
        "inbox": place.inbox.id(), "you": you, "yourTurn": is_yours, "game": summary, "faults": faults,
    }))
}

pub(super) async fn make_move(pipes: &Arc<Pipes>, holder: &Holder, ask: MoveOf) -> Answer {
    act(pipes, holder, &ask.inbox, &ask.game, Play::Move { row: ask.row, col: ask.col }).await
}

pub(super) async fn resign(pipes: &Arc<Pipes>, holder: &Holder, ask: GameOf) -> Answer {
    act(pipes, holder, &ask.inbox, &ask.game, Play::Resign).await
}

async fn act(pipes: &Arc<Pipes>, holder: &Holder, inbox: &str, game: &str, play: Play) -> Answer {
    let place = Place::find(pipes, holder, inbox).await?;
    let seed = pipes.sig_seed(&place.inbox, &place.seat);
    let (name, player, me) = (game.to_owned(), place.player(), place.seat.seat_ref.clone());
    let is_signed = place.inbox.kind() == InboxKind::Signed;
    let composed = place.inbox.with_log(move |log| {
        if !log.knows(&name) {
            return None;
        }
        let Some(started) = log.started(&name) else { return Some(Err(Fault::MissingGenesis)) };
        let bound = started.seats().and_then(|seats| seats.of(player));
        if is_signed && bound.is_some_and(|bound| bound != me) {
            return Some(Err(Fault::WrongSigner));
        }
        Some(compose::next(&name, started, player, play, &seed))
    });
    match composed.await?.ok_or(PipesError::NotFound)? {
        Ok(composed) => post_composed(pipes, &place, game, composed).await,
        Err(fault) => refusal(&place, game, fault).await,
    }
}

async fn refusal(place: &Place, game: &str, fault: Fault) -> Answer {
    let mut answer = view(place, game).await?;
    answer["posted"] = json!(false);
    answer["wouldFault"] = json!(fault.as_str());
    Ok(answer)
}

/// Posts a composed event and tells whether the chain took it: another writer may have been faster.
async fn post_composed(pipes: &Arc<Pipes>, place: &Place, game: &str, composed: Composed) -> Answer {
    let Composed { body, hash, seq } = composed;
    let posted = pipes.post_held(&place.inbox, &place.seat, body).await?;
    let name = game.to_owned();
    let is_taken = move |log: &LogReader| {
        let at = usize::try_from(seq).unwrap_or(usize::MAX);
        log.started(&name).is_some_and(|started| started.chain.get(at) == Some(&hash))
    };
    let accepted = place.inbox.with_log(is_taken).await?;
    let mut answer = view(place, game).await?;
    answer["posted"] = json!(true);
    answer["accepted"] = json!(accepted);
    answer["captureId"] = json!(posted.capture_id);
    Ok(answer)
}

pub(super) async fn post(pipes: &Arc<Pipes>, holder: &Holder, ask: RawPost) -> Answer {
    let place = Place::find(pipes, holder, &ask.inbox).await?;
    let posted = pipes.post_held(&place.inbox, &place.seat, Bytes::from(ask.body)).await?;
    Ok(json!({"captureId": posted.capture_id, "seq": posted.seq}))
}

pub(super) async fn list_captures(pipes: &Arc<Pipes>, holder: &Holder, ask: ListCaptures) -> Answer {
    let place = Place::find(pipes, holder, &ask.inbox).await?;
    let listing = Listing { after: ask.after, limit: ask.limit, game: ask.game };
    let page = match ask.wait_seconds {
        0 => place.inbox.list(listing).await?,
        seconds => place.inbox.wait(listing, Duration::from_secs(seconds)).await?,
    };
    let rows: Result<Vec<Value>, _> = page.rows.iter().map(|row| serde_json::from_slice(row)).collect();
    let rows = rows.map_err(|_| PipesError::Unavailable)?;
    Ok(json!({"captures": rows, "total": page.total, "nextCursor": page.next}))
}

pub(super) async fn roster(pipes: &Arc<Pipes>, holder: &Holder, ask: InboxOnly) -> Answer {
    let place = Place::find(pipes, holder, &ask.inbox).await?;
    Ok(json!({"seats": place.inbox.roster()}))
}

pub(super) async fn verify(pipes: &Arc<Pipes>, holder: &Holder, ask: Verify) -> Answer {
    match (ask.inbox, ask.log) {
        (Some(inbox), None) => {
            let place = Place::find(pipes, holder, &inbox).await?;
            let report = place.inbox.with_log(|log| log.report().to_json()).await?;
            Ok(match ask.game {
                Some(game) => of_game(report, &game),
                None => report,
            })
        }
        (None, Some(log)) if log.len() > MAX_LOG => Err(PipesError::TooLarge.into()),
        (None, Some(log)) => Ok(pipes.verify(log.into(), ask.game).await?.to_json()),
        _ => Err(ToolError::BadArguments),
    }
}

/// A report narrowed to one game.
pub(crate) fn of_game(mut report: Value, game: &str) -> Value {
    for list in ["games", "faults", "chain"] {
        if let Some(rows) = report.get_mut(list).and_then(Value::as_array_mut) {
            rows.retain(|row| row["gameId"] == game);
        }
    }
    let first = report["games"][0]["fault"].clone();
    report["verdict"] = match first {
        Value::Null => json!({"ok": true}),
        fault => json!({"ok": false, "gameId": game, "seq": fault["seq"], "reason": fault["reason"]}),
    };
    // Notes carry no game; in a report on one game they would be about others.
    report["ignored"] = json!([]);
    report
}
