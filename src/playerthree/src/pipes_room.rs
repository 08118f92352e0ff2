//! `pipes`: a room in which clients follow one inbox live and post to it.
//!
//! It keeps no row and judges none: the inbox numbers and stores, the room hands on, each row once and in order. A client
//! that is behind is sent a page at a time, at its own pace, so that no history ever waits in a queue.

use playerthree_pipes::{Feed, Follower, Inbox, Incoming, Listing, Pipes, PipesError, Posted, Writer};
use playerthree_rooms::{
    AuthRequest, BadMessage, CloseReason, Cx, Definition, Frame, Join, Message, MessageType, Refusal, Room,
    RoomHandle, RoomSettings, SessionId, Visibility,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Rooms at most. Each keeps its inbox open, so they take no more than half of what the inboxes may.
const MAX_ROOMS: usize = 256;

/// Posts of one client that may wait for their receipts.
const MAX_POSTS: usize = 8;

/// Close code of a client whose right to read has ended, or that asks for rows without having had one.
const NOT_A_READER: CloseReason = CloseReason::Application(4403);

/// Close code of everybody when the inbox has ended.
const INBOX_ENDED: CloseReason = CloseReason::Application(4404);

/// The definition of the room.
pub(crate) struct PipesRooms {
    pipes: Arc<Pipes>,
    places: Arc<Semaphore>,
}

impl PipesRooms {
    /// Rooms for the inboxes of one server.
    pub(crate) fn new(pipes: Arc<Pipes>) -> Self {
        Self { pipes, places: Arc::new(Semaphore::new(MAX_ROOMS)) }
    }
}

/// What a client says when it comes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    inbox: String,
    read_token: Option<String>,
    write_token: Option<String>,
    after: Option<u64>,
}

/// What its tokens allow a client.
pub(crate) struct Rights {
    inbox: Arc<Inbox>,
    reader: Option<Follower>,
    writer: Option<Writer>,
    after: Option<u64>,
}

impl Definition for PipesRooms {
    type Room = PipesRoom;

    async fn authorize(&self, request: &AuthRequest) -> Result<Rights, Refusal> {
        let options = Options::deserialize(&request.options).map_err(|_| bad_options())?;
        let reader = match &options.read_token {
            Some(token) => Some(self.pipes.follower(token).await.map_err(|error| refusal(&error))?),
            None => None,
        };
        let writer = match &options.write_token {
            Some(token) => Some(self.pipes.writer(token).await.map_err(|error| refusal(&error))?),
            None => None,
        };
        let inboxes = [reader.as_ref().map(Follower::inbox), writer.as_ref().map(Writer::inbox)];
        let named = |inbox: &&Arc<Inbox>| inbox.id() == options.inbox;
        // A token of another inbox is as good as none.
        let inbox = inboxes.iter().flatten().next().filter(|_| inboxes.iter().flatten().all(named));
        let inbox = Arc::clone(inbox.ok_or_else(|| refusal(&PipesError::NotFound))?);
        if options.after.is_some_and(|after| after > inbox.head()) {
            return Err(bad_options());
        }
        Ok(Rights { inbox, reader, writer, after: options.after })
    }

    fn create(&self, cx: &mut Cx<'_, PipesRoom>, options: &Value) -> Result<PipesRoom, Refusal> {
        let Options { inbox, .. } = Options::deserialize(options).map_err(|_| bad_options())?;
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Refusal::at_capacity())?;
        cx.set_visibility(Visibility::Unlisted);
        let pipes = Arc::clone(&self.pipes);
        Ok(PipesRoom { pipes, inbox, clients: HashMap::new(), live: None, _place: place })
    }

    fn settings(&self) -> RoomSettings {
        RoomSettings { filter_by: vec!["inbox".to_owned()], ..RoomSettings::default() }
    }
}

fn bad_options() -> Refusal {
    Refusal::new(400, "options of a wrong shape, or a cursor beyond the inbox")
}

fn refusal(error: &PipesError) -> Refusal {
    match error {
        PipesError::NotFound => Refusal::new(404, "no such inbox, or not yours"),
        PipesError::RateLimited { .. } => Refusal::at_capacity(),
        _ => Refusal::failed(),
    }
}

/// One inbox with its clients.
pub(crate) struct PipesRoom {
    pipes: Arc<Pipes>,
    inbox: String,
    clients: HashMap<SessionId, Client>,
    /// The newest row that was handed on, once somebody reads.
    live: Option<u64>,
    _place: OwnedSemaphorePermit,
}

/// A client with what it may do.
struct Client {
    reader: Option<Reader>,
    writer: Option<Writer>,
    /// Posts whose receipts are due.
    posts: usize,
}

/// A client that reads.
struct Reader {
    right: Follower,
    /// The last row that it was sent, or had before.
    cursor: u64,
    pace: Pace,
}

/// How a reader gets its rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// As they come.
    Live,
    /// A page is being read for it.
    Paging,
    /// It has a page and was told to ask for more.
    Behind,
}

/// A row as it is sent: its number and its frame, which readers share.
type Row = (u64, Frame);

/// What other tasks tell the room.
pub(crate) enum Event {
    /// New rows, without gaps.
    Rows(Vec<Row>),
    /// Rows for one reader that is behind, and where they end.
    Page(SessionId, Vec<Row>, u64),
    /// What became of a post.
    Receipt(SessionId, u32, Result<Posted, PipesError>),
    /// The inbox has no more rows to give.
    Ended(PipesError),
}

/// A post.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Post {
    request_id: u32,
    body: String,
    signature: Option<String>,
    idempotency_key: Option<String>,
}

/// A wish for rows after this one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    cursor: u64,
}

impl Room for PipesRoom {
    type Event = Event;
    type Auth = Rights;

    fn on_join(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        join: Join<Rights>,
    ) -> Result<(), Refusal> {
        let Rights { inbox, reader, writer, after } = join.auth;
        if inbox.id() != self.inbox {
            return Err(refusal(&PipesError::NotFound));
        }
        let hello = json!({
            "inbox": inbox.id(), "kind": inbox.kind(), "head": inbox.head(),
            "mayRead": reader.is_some(), "mayPost": writer.is_some(),
        });
        send(cx, client, "pipes:hello", &hello);
        let reader = reader.map(|right| {
            let live = *self.live.get_or_insert_with(|| begin(cx.handle(), &inbox));
            Reader { right, cursor: after.unwrap_or(live), pace: Pace::Live }
        });
        self.clients.insert(client, Client { reader, writer, posts: 0 });
        self.catch_up(cx, client);
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        match message.kind {
            MessageType::Name("pipes:post") => {
                self.post(cx, client, message.payload.decode()?);
                Ok(())
            }
            MessageType::Name("pipes:after") => self.go_on(cx, client, &message.payload.decode()?),
            _ => Err(BadMessage::UnknownType),
        }
    }

    fn on_leave(&mut self, _: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        self.clients.remove(&client);
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, event: Event) {
        match event {
            Event::Rows(rows) => self.hand_on(cx, &rows),
            Event::Page(client, rows, next) => self.page(cx, client, &rows, next),
            Event::Receipt(client, request, outcome) => self.receipt(cx, client, request, outcome),
            Event::Ended(PipesError::NotFound) => cx.disconnect(INBOX_ENDED),
            Event::Ended(_) => cx.disconnect(CloseReason::RoomFailed),
        }
    }
}

impl PipesRoom {
    /// Sends new rows to every reader that is not behind, and lets go of those whose right has ended.
    fn hand_on(&mut self, cx: &mut Cx<'_, Self>, rows: &[Row]) {
        for (client, reader) in readers(&mut self.clients) {
            if !reader.right.is_good() {
                cx.kick(client, NOT_A_READER);
            } else if reader.pace == Pace::Live {
                reader.send(cx, client, rows);
            }
        }
        self.live = rows.last().map(|(last, _)| *last).or(self.live);
    }

    /// Sends a page to a reader that is behind.
    fn page(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, rows: &[Row], next: u64) {
        let Some(reader) = self.reader(client) else { return };
        if !reader.right.is_good() {
            return cx.kick(client, NOT_A_READER);
        }
        reader.send(cx, client, rows);
        reader.cursor = reader.cursor.max(next);
        reader.pace = Pace::Live;
        let cursor = reader.cursor;
        if self.live.is_some_and(|live| cursor < live) {
            if let Some(reader) = self.reader(client) {
                reader.pace = Pace::Behind;
            }
            send(cx, client, "pipes:more", &json!({ "cursor": cursor }));
        }
    }

    /// A reader asks for the rows after a cursor. One that waits for a page already gets that page.
    fn go_on(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        After { cursor }: &After,
    ) -> Result<(), BadMessage> {
        let Some(reader) = self.reader(client) else {
            cx.kick(client, NOT_A_READER);
            return Ok(());
        };
        if *cursor > reader.right.inbox().head() {
            return Err(BadMessage::Undecodable);
        }
        if reader.pace != Pace::Paging {
            reader.cursor = *cursor;
            self.catch_up(cx, client);
        }
        Ok(())
    }

    /// Reads a page for a client that is behind what was handed on.
    fn catch_up(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        let live = self.live;
        let Some(reader) = self.reader(client) else { return };
        if live.is_none_or(|live| reader.cursor >= live) {
            reader.pace = Pace::Live;
            return;
        }
        reader.pace = Pace::Paging;
        let (inbox, after, room) = (Arc::clone(reader.right.inbox()), reader.cursor, cx.handle());
        tokio::spawn(async move {
            let event = match inbox.list(Listing { after, ..Listing::default() }).await {
                Ok(page) => match frames(after, &page.rows) {
                    Ok(rows) => Event::Page(client, rows, page.next),
                    Err(error) => Event::Ended(error),
                },
                Err(error) => Event::Ended(error),
            };
            // A room that is gone has nobody to page for.
            _ = room.post(event).await;
        });
    }

    /// Stores a post away from the room; the receipt follows.
    fn post(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, post: Post) {
        let Some(Client { writer, posts, .. }) = self.clients.get_mut(&client) else { return };
        let request = post.request_id;
        let Some(writer) = writer.clone() else {
            return send(cx, client, "pipes:receipt", &refused(request, "forbidden"));
        };
        if *posts == MAX_POSTS {
            return send(cx, client, "pipes:receipt", &refused(request, "busy"));
        }
        *posts += 1;
        let (pipes, room) = (Arc::clone(&self.pipes), cx.handle());
        tokio::spawn(async move {
            let incoming = Incoming {
                body: post.body.into(),
                content_type: Some("application/json".to_owned()),
                signature: post.signature,
                idempotency_key: post.idempotency_key,
            };
            let outcome = pipes.post(&writer, incoming).await;
            // The post is stored, or not, whether or not anybody is left to be told.
            _ = room.post(Event::Receipt(client, request, outcome)).await;
        });
    }

    fn receipt(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        request: u32,
        outcome: Result<Posted, PipesError>,
    ) {
        let Some(waiting) = self.clients.get_mut(&client) else { return };
        waiting.posts = waiting.posts.saturating_sub(1);
        let receipt = match outcome {
            Ok(Posted { capture_id, seq }) => {
                json!({ "requestId": request, "captureId": capture_id, "seq": seq })
            }
            Err(error) => {
                let mut receipt = refused(request, error.code());
                if let PipesError::RateLimited { retry_after_s } = error {
                    receipt["retryAfterSeconds"] = retry_after_s.into();
                }
                receipt
            }
        };
        send(cx, client, "pipes:receipt", &receipt);
    }

    fn reader(&mut self, client: SessionId) -> Option<&mut Reader> {
        self.clients.get_mut(&client)?.reader.as_mut()
    }
}

impl Reader {
    /// Sends the rows that this reader does not have yet.
    fn send(&mut self, cx: &mut Cx<'_, PipesRoom>, client: SessionId, rows: &[Row]) {
        for (number, frame) in rows {
            if *number > self.cursor {
                cx.send_frame(client, frame);
                self.cursor = *number;
            }
        }
    }
}

fn readers(clients: &mut HashMap<SessionId, Client>) -> impl Iterator<Item = (SessionId, &mut Reader)> {
    clients.iter_mut().filter_map(|(id, client)| Some((*id, client.reader.as_mut()?)))
}

fn refused(request: u32, code: &str) -> Value {
    json!({ "requestId": request, "error": code })
}

/// Sends what is always encodable: short texts and numbers below 2^53.
fn send(cx: &mut Cx<'_, PipesRoom>, client: SessionId, kind: &'static str, payload: &impl Serialize) {
    if cx.send(client, kind, payload).is_err() {
        tracing::error!(kind, "a message of the pipes room could not be encoded");
    }
}

/// Starts to hand on what comes from now on; the number of the newest row that is there already.
fn begin(room: RoomHandle<Event>, inbox: &Arc<Inbox>) -> u64 {
    let head = inbox.head();
    tokio::spawn(follow(inbox.feed(head), room));
    head
}

/// Hands the rows of a feed to a room. Terminates if the room is gone, or when the inbox ends or cannot be read.
async fn follow(mut feed: Feed, room: RoomHandle<Event>) {
    loop {
        let after = feed.cursor();
        let next = tokio::select! {
            () = room.closed() => return,
            next = feed.next() => next,
        };
        let event = match next.and_then(|rows| frames(after, &rows)) {
            Ok(rows) => Event::Rows(rows),
            Err(error) => Event::Ended(error),
        };
        let is_over = matches!(event, Event::Ended(_));
        if room.post(event).await.is_err() || is_over {
            return;
        }
    }
}

/// Rows as messages, encoded once for everybody. Rows are numbered without gaps.
fn frames(after: u64, rows: &[impl AsRef<[u8]>]) -> Result<Vec<Row>, PipesError> {
    let encoded = rows.iter().zip(after + 1..).map(|(row, number)| {
        let row: Value = serde_json::from_slice(row.as_ref()).ok()?;
        Some((number, Frame::message("pipes:capture", &row).ok()?))
    });
    encoded.collect::<Option<_>>().ok_or(PipesError::Unavailable)
}
