//! Many moving dots: a room whose state is all there is to it. The room moves the dots, the clients draw what their
//! SDK has decoded; no message is sent. A client's click, the message `put` with `{x, y}`, adds a dot of its own.
//!
//! The room owns its state as a [`Synced`], hands it out by [`Room::state`], and changes it like any Rust value.

use playerthree_rooms::{
    AuthRequest, BadMessage, CloseReason, Cx, Definition, Join, Message, MessageType, Refusal, Room,
    SessionId, TimerId,
};
use playerthree_rooms_state::{Map, State, Synced, Synchronized};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Dots that are there from the start.
const DOTS: u16 = 200;

/// The side of the square in which dots move.
const SIDE: f32 = 1000.0;

/// The fastest a dot moves along an axis, a second.
const SPEED: f32 = 120.0;

/// The time between two steps.
const STEP: Duration = Duration::from_millis(50);

/// One dot. What is marked `skip` is the server's own, and no client hears of it.
#[derive(State, Debug)]
pub struct Dot {
    /// From the left, 0 to 1000.
    pub x: f32,
    /// From the top, 0 to 1000.
    pub y: f32,
    /// The hue, in degrees divided by two.
    pub hue: u8,
    #[state(skip)]
    velocity: (f32, f32),
}

/// What clients see.
#[derive(State, Debug, Default)]
pub struct Field {
    /// The dots by their names; a client's own has its session id.
    pub dots: Map<Dot>,
    /// Clients that look on.
    pub onlookers: u16,
}

/// The definition of the room.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dots;

/// One room of dots.
pub struct DotsRoom {
    field: Synced<Field>,
}

#[derive(Deserialize)]
struct Put {
    x: f32,
    y: f32,
}

impl Definition for Dots {
    type Room = DotsRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, cx: &mut Cx<'_, DotsRoom>, _: &Value) -> Result<DotsRoom, Refusal> {
        cx.set_fixed_step(STEP, 0);
        cx.set_patch_interval(STEP);
        let dots = (0..DOTS).map(|dot| (format!("{dot}"), Dot::random(at_random(), at_random()))).collect();
        Ok(DotsRoom { field: Synced::new(Field { dots, onlookers: 0 }) })
    }
}

impl Room for DotsRoom {
    type Event = ();
    type Auth = ();

    fn state(&mut self) -> Option<&mut dyn Synchronized> {
        Some(&mut self.field)
    }

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        self.field.onlookers += 1;
        Ok(())
    }

    fn on_message(
        &mut self,
        _: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        if message.kind != MessageType::Name("put") {
            return Err(BadMessage::UnknownType);
        }
        let Put { x, y } = message.payload.decode()?;
        let inside = |at: f32| (0.0..=SIDE).contains(&at);
        if !inside(x) || !inside(y) {
            return Err(BadMessage::Undecodable);
        }
        self.field.dots.insert(client.as_str(), Dot::random(x, y));
        Ok(())
    }

    fn on_leave(&mut self, _: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        self.field.onlookers -= 1;
        self.field.dots.remove(client.as_str());
    }

    fn on_timer(&mut self, _: &mut Cx<'_, Self>, _: TimerId) {
        self.field.dots.values_mut().for_each(Dot::step);
    }
}

impl Dot {
    fn random(x: f32, y: f32) -> Self {
        let speed = || (fastrand::f32() * 2.0 - 1.0) * SPEED;
        Self { x, y, hue: fastrand::u8(0..180), velocity: (speed(), speed()) }
    }

    /// Moves on, and turns back at the edges.
    fn step(&mut self) {
        let (dx, dy) = &mut self.velocity;
        for (at, speed) in [(&mut self.x, dx), (&mut self.y, dy)] {
            *at += *speed * STEP.as_secs_f32();
            if !(0.0..=SIDE).contains(at) {
                *at = at.clamp(0.0, SIDE);
                *speed = -*speed;
            }
        }
    }
}

fn at_random() -> f32 {
    fastrand::f32() * SIDE
}
