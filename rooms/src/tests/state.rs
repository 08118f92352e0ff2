//! A room's state: which frames which clients are sent, and when. The bytes themselves are the state crate's business.

use super::*;
use playerthree_rooms_state::{
    Dialect, Fault, Full, Joining, List, Patch, State, Synced, Synchronized, TooManyTypes, View, ViewMap,
};

/// The patch interval of the rooms here.
const INTERVAL: Duration = Duration::from_millis(50);

#[derive(State, Default)]
struct Ghost {
    name: String,
}

#[derive(State, Default)]
struct Chain {
    next: List<Chain>,
}

#[derive(State, Default)]
struct Scene {
    text: String,
    ghosts: ViewMap<Ghost>,
    chain: Chain,
}

/// What a test has a room do.
type Deed = Box<dyn FnOnce(&mut Stage, &mut Cx<'_, Stage>) + Send>;

struct Stage {
    scene: Synced<Scene>,
    log: Log,
}

#[derive(Clone, Default)]
struct Stages {
    log: Log,
    handle: Arc<Mutex<Option<RoomHandle<Deed>>>>,
}

impl Definition for Stages {
    type Room = Stage;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, cx: &mut Cx<'_, Stage>, _: &Value) -> Result<Stage, Refusal> {
        *lock(&self.handle) = Some(cx.handle());
        Ok(Stage { scene: Synced::new(Scene::default()), log: self.log.clone() })
    }
}

impl Room for Stage {
    type Event = Deed;
    type Auth = ();

    fn state(&mut self) -> Option<&mut dyn Synchronized> {
        Some(&mut self.scene)
    }

    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: Join<()>) -> Result<(), Refusal> {
        cx.send(client, "welcome", &1).unwrap();
        Ok(())
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, deed: Deed) {
        deed(self, cx);
    }

    fn on_leave(&mut self, _: &mut Cx<'_, Self>, client: SessionId, reason: CloseReason) {
        lock(&self.log).push(Heard::Leave(client, reason.code()));
    }

    fn on_dispose(&mut self, _: &mut Cx<'_, Self>) {
        lock(&self.log).push(Heard::Dispose);
    }
}

/// A room with a state, and what it heard.
struct Theatre {
    server: Server,
    stages: Stages,
    first: Seat,
}

impl Theatre {
    async fn open(config: Config) -> Self {
        let stages = Stages::default();
        let server = Server::builder(config).define("stage", stages.clone()).build().unwrap();
        let first = seat(&server, Method::Create, "stage").await.unwrap();
        Self { server, stages, first }
    }

    /// One more seat.
    async fn seat(&self) -> Seat {
        seat(&self.server, Method::JoinById, self.first.room.as_str()).await.unwrap()
    }

    /// Opens a seat's socket and leaves the join unacknowledged.
    async fn enter(&self, seat: Seat) -> Client {
        let ours = testing::pipe(&self.server, (seat.room, seat.session), None, 1 << 20);
        let socket = WebSocketStream::from_raw_socket(ours, Role::Client, None).await;
        let mut client = Client { socket, seat, token: String::new() };
        assert_eq!(client.next().await.unwrap()[0], wire::JOIN_ROOM);
        client
    }

    /// A client that has the state, and has read it.
    async fn join(&self, seat: Seat) -> Client {
        let mut client = self.enter(seat).await;
        client.send_raw(vec![wire::JOIN_ROOM]).await;
        assert_eq!(client.next().await.unwrap()[0], wire::ROOM_STATE);
        assert_eq!(client.next().await.unwrap()[0], wire::ROOM_DATA);
        client
    }

    async fn act(&self, deed: impl FnOnce(&mut Stage, &mut Cx<'_, Stage>) + Send + 'static) {
        let handle = lock(&self.stages.handle).clone().unwrap();
        handle.post(Box::new(deed)).await.unwrap();
    }

    /// Has the room say something in its state.
    async fn say(&self, text: impl Into<String>) {
        let text = text.into();
        self.act(|stage, _| stage.scene.text = text).await;
    }

    fn heard(&self) -> Vec<Heard> {
        lock(&self.stages.log).clone()
    }
}

async fn seat(server: &Server, method: Method, target: &str) -> Result<Seat, Refusal> {
    let reservation = server.matchmake(method, target, testing::guest(nothing())).await?;
    Ok(Seat { room: reservation.room.room_id, session: reservation.session_id })
}

/// All that comes within `time`.
async fn within(client: &mut Client, time: Duration) -> Vec<Vec<u8>> {
    let end = tokio::time::Instant::now() + time;
    let mut frames = Vec::new();
    while let Ok(next) = tokio::time::timeout_at(end, client.next()).await {
        frames.push(next.unwrap());
    }
    frames
}

fn says(frame: &[u8], text: &str) -> bool {
    frame.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Shows a ghost to a client, or hides it.
async fn look(
    theatre: &Theatre,
    client: &Client,
    ghost: &'static str,
    change: fn(&mut View, crate::schema::Id),
) {
    let session = client.seat.session;
    theatre
        .act(move |stage, cx| {
            let id = stage.scene.ghosts.id(ghost).unwrap();
            change(cx.view(session).unwrap(), id);
        })
        .await;
}

fn show(view: &mut View, id: crate::schema::Id) {
    view.add(id);
}

#[tokio::test(start_paused = true)]
async fn the_state_comes_first_and_not_before_the_acknowledgement() {
    let theatre = Theatre::open(without_pings()).await;
    let mut client = theatre.enter(theatre.first).await;
    theatre.say("<one>").await;
    assert_eq!(within(&mut client, 2 * INTERVAL).await, Vec::<Vec<u8>>::new());
    client.send_raw(vec![wire::JOIN_ROOM]).await;
    let state = client.next().await.unwrap();
    assert_eq!(state[0], wire::ROOM_STATE);
    assert!(says(&state, "<one>"));
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa7welcome\x01");
    theatre.say("<two>").await;
    let patch = client.next().await.unwrap();
    assert_eq!(patch[0], wire::ROOM_STATE_PATCH);
    assert!(says(&patch, "<two>"));
}

#[tokio::test(start_paused = true)]
async fn a_state_that_did_not_change_is_silent_and_one_that_did_is_sent_once_an_interval() {
    let theatre = Theatre::open(without_pings()).await;
    let mut client = theatre.join(theatre.first).await;
    assert!(within(&mut client, 100 * INTERVAL).await.is_empty());
    theatre.say("").await;
    assert!(within(&mut client, 2 * INTERVAL).await.is_empty(), "it was borrowed and is what it was");
    let mut patches = 0;
    for turn in 0..50 {
        theatre.say(format!("{turn}")).await;
        patches += within(&mut client, INTERVAL / 5).await.len();
    }
    assert!((9..=11).contains(&patches), "{patches} patches in ten intervals");
    assert_eq!(within(&mut client, 2 * INTERVAL).await.len(), 1, "the last change");
    let interval = 4 * INTERVAL;
    theatre.act(move |_, cx| cx.set_patch_interval(interval)).await;
    let mut patches = 0;
    for turn in 100..140 {
        theatre.say(format!("{turn}")).await;
        patches += within(&mut client, INTERVAL / 5).await.len();
    }
    assert!((1..=3).contains(&patches), "{patches} patches in two longer intervals");
}

#[tokio::test(start_paused = true)]
async fn every_client_without_a_view_is_sent_the_same_patch() {
    let theatre = Theatre::open(without_pings()).await;
    let mut one = theatre.join(theatre.first).await;
    let mut other = theatre.join(theatre.seat().await).await;
    theatre.say("<news>").await;
    let patch = one.next().await.unwrap();
    assert!(says(&patch, "<news>"));
    assert_eq!(other.next().await.unwrap(), patch);
}

// An item gets its name when a view is to hold it, which changes no byte of the state.
#[tokio::test(start_paused = true)]
async fn a_view_is_shown_an_item_whose_name_is_new_and_nothing_else_changed() {
    let theatre = Theatre::open(without_pings()).await;
    let mut client = theatre.join(theatre.first).await;
    theatre
        .act(|stage, _| {
            for ghost in ["g", "h"] {
                stage.scene.ghosts.insert(ghost, Ghost { name: format!("<{ghost}>") });
            }
        })
        .await;
    assert!(within(&mut client, 2 * INTERVAL).await.is_empty(), "nobody sees a ghost by itself");
    for (ghost, text) in [("g", "<g>"), ("h", "<h>")] {
        look(&theatre, &client, ghost, show).await;
        assert!(says(&client.next().await.unwrap(), text), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_view_that_hides_and_shows_around_anothers_join_misses_nothing() {
    let theatre = Theatre::open(without_pings()).await;
    let mut client = theatre.join(theatre.first).await;
    theatre.act(|stage, _| drop(stage.scene.ghosts.insert("g", Ghost { name: "<old>".into() }))).await;
    look(&theatre, &client, "g", show).await;
    assert!(says(&client.next().await.unwrap(), "<old>"));
    let mut joining = theatre.enter(theatre.seat().await).await;
    look(&theatre, &client, "g", View::remove).await;
    theatre.act(|stage, _| stage.scene.ghosts.get_mut("g").unwrap().name = "<new>".into()).await;
    // The join's acknowledgement brings everybody up to date before the patch is due.
    joining.send_raw(vec![wire::JOIN_ROOM]).await;
    assert_eq!(joining.next().await.unwrap()[0], wire::ROOM_STATE);
    look(&theatre, &client, "g", show).await;
    let frames = within(&mut client, 2 * INTERVAL).await;
    assert!(frames.last().is_some_and(|last| says(last, "<new>")), "{frames:?}");
}

// Each join used to bring everybody a patch of its own.
#[tokio::test(start_paused = true)]
async fn many_joins_are_no_flood_of_patches_and_nobody_waits_long_for_the_state() {
    let theatre = Theatre::open(without_pings()).await;
    let mut watching = theatre.join(theatre.first).await;
    within(&mut watching, 2 * INTERVAL).await;
    let begin = tokio::time::Instant::now();
    let mut patches = 0;
    for turn in 0..50 {
        let mut joining = theatre.enter(theatre.seat().await).await;
        let text = format!("<{turn}>");
        theatre.say(text.clone()).await;
        joining.send_raw(vec![wire::JOIN_ROOM]).await;
        let asked = tokio::time::Instant::now();
        let state = joining.next().await.unwrap();
        assert!(
            state[0] == wire::ROOM_STATE && says(&state, &text),
            "{turn}: the first that comes is the state"
        );
        assert!(asked.elapsed() <= INTERVAL);
        patches += within(&mut watching, INTERVAL / 10).await.len();
    }
    let intervals = begin.elapsed().as_millis() / INTERVAL.as_millis() + 1;
    assert!(patches as u128 <= 2 * intervals, "{patches} patches in {intervals} intervals");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_lost_while_it_waits_for_the_state_is_no_fault() {
    let theatre = Theatre::open(without_pings()).await;
    let mut watching = theatre.join(theatre.first).await;
    within(&mut watching, 2 * INTERVAL).await;
    for turn in 0..2 {
        let mut joining = theatre.enter(theatre.seat().await).await;
        theatre.say(format!("<{turn}>")).await;
        joining.send_raw(vec![wire::JOIN_ROOM]).await;
        // The second waits for the next patch and does not live to see it.
        if turn == 0 {
            assert_eq!(joining.next().await.unwrap()[0], wire::ROOM_STATE);
        }
    }
    let frames = within(&mut watching, 2 * INTERVAL).await;
    assert!(says(frames.last().unwrap(), "<1>"));
    theatre.say("<after>").await;
    assert!(says(&watching.next().await.unwrap(), "<after>"));
}

/// A room that failed: its client was told so, and its handlers ran to the end.
fn failed(theatre: &Theatre, client: &Client) {
    let session = client.seat.session;
    assert!(
        theatre.heard().ends_with(&[Heard::Leave(session, 4002), Heard::Dispose]),
        "{:?}",
        theatre.heard()
    );
    assert_eq!(theatre.server.counters().rooms_failed, 1);
    assert!(theatre.server.listing().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_state_beyond_the_formats_limits_closes_its_room() {
    let theatre = Theatre::open(without_pings()).await;
    let mut client = theatre.join(theatre.first).await;
    theatre
        .act(|stage, _| {
            for _ in 0..crate::schema::MAX_DEPTH {
                let chain = std::mem::take(&mut stage.scene.chain);
                stage.scene.chain.next.push(chain);
            }
        })
        .await;
    assert_eq!(client.closed().await, 4002);
    failed(&theatre, &client);
}

/// Rooms whose clients' queues hold 10,000 bytes.
async fn narrow() -> Theatre {
    Theatre::open(Config { outbound_queue_bytes: 10_000, max_message_bytes: 1_000, ..without_pings() }).await
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_no_queue_can_hold_closes_its_room() {
    let theatre = narrow().await;
    let mut client = theatre.join(theatre.first).await;
    theatre.say("x".repeat(9_900)).await;
    assert_eq!(client.next().await.unwrap()[0], wire::ROOM_STATE_PATCH);
    theatre.say("y".repeat(10_000)).await;
    assert_eq!(client.closed().await, 4002);
    failed(&theatre, &client);
}

// As a slow reader, the client would come back to the same frame again and again.
#[tokio::test(start_paused = true)]
async fn a_full_state_that_no_queue_can_hold_closes_its_room() {
    let theatre = narrow().await;
    let mut client = theatre.enter(theatre.first).await;
    theatre.say("x".repeat(10_000)).await;
    client.send_raw(vec![wire::JOIN_ROOM]).await;
    assert_eq!(client.closed().await, 4002);
    failed(&theatre, &client);
}

/// A state of too many types to describe.
struct Endless(Synced<Scene>);

impl Synchronized for Endless {
    fn reflection(&self, _: Dialect) -> Result<Vec<u8>, TooManyTypes> {
        Err(TooManyTypes)
    }

    fn is_touched(&self) -> bool {
        self.0.is_touched()
    }

    fn patch(&mut self) -> Result<&Patch, Fault> {
        self.0.patch()
    }

    fn full(&mut self, joining: Joining) -> Result<(&Patch, Arc<Full>), Fault> {
        self.0.full(joining)
    }
}

struct Indescribable(Endless);

impl Room for Indescribable {
    type Event = ();
    type Auth = ();

    fn state(&mut self) -> Option<&mut dyn Synchronized> {
        Some(&mut self.0)
    }

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }
}

struct Indescribables;

impl Definition for Indescribables {
    type Room = Indescribable;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, Indescribable>, _: &Value) -> Result<Indescribable, Refusal> {
        Ok(Indescribable(Endless(Synced::new(Scene::default()))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_room_whose_state_has_too_many_types_is_not_created() {
    let server = Server::builder(without_pings()).define("endless", Indescribables).build().unwrap();
    assert_eq!(code(seat(&server, Method::Create, "endless").await), 523);
    assert!(server.listing().is_empty());
}
