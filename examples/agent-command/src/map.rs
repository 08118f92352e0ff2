//! The battlefield: rocks, alloy patches and start places, the same from each corner, and the ways across it.
//!
//! A map never changes during a match. Paths are computed once per destination tile and shared by every copy of the match.

use crate::kinds::TILE;
use crate::rng::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// Smallest and largest side of the square map, in tiles. A row of tiles fits one 64-bit word.
pub(crate) const MIN_SIZE: u8 = 24;
pub(crate) const MAX_SIZE: u8 = 40;
/// Side of the map when nobody asks, in tiles.
pub(crate) const DEFAULT_SIZE: u8 = 32;
/// Corners to start from.
pub(crate) const CORNERS: usize = 4;
/// Alloy in a fresh patch.
pub(crate) const PATCH_ALLOY: u16 = 1000;
/// Patches of every map: each of these places in each of the four quarters.
pub(crate) const PATCHES: usize = CORNERS * 9;

/// Start places keep this many tiles around them free of rocks.
const CLEARING: i32 = 4;
const NO_WAY: u8 = u8::MAX;
/// The eight neighbours, straight ones first.
const NEIGHBOURS: [(i32, i32); 8] = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];

/// A tile, by column and row from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tile {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

/// A place in points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

impl Tile {
    pub(crate) fn centre(self) -> Point {
        Point { x: self.x * TILE + TILE / 2, y: self.y * TILE + TILE / 2 }
    }
}

impl Point {
    /// This place moved by an offset that is given for the first corner and turned to another.
    pub(crate) fn offset(self, (dx, dy): (i32, i32), corner: usize) -> Self {
        let (dx, dy) = (0..corner % CORNERS).fold((dx, dy), |(dx, dy), _| (-dy, dx));
        Self { x: self.x + dx, y: self.y + dy }
    }

    pub(crate) fn tile(self) -> Tile {
        Tile { x: self.x.div_euclid(TILE), y: self.y.div_euclid(TILE) }
    }

    pub(crate) fn distance_squared(self, other: Self) -> i32 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        dx * dx + dy * dy
    }

    pub(crate) fn is_within(self, other: Self, range: i32) -> bool {
        self.distance_squared(other) <= range * range
    }

    /// The place `speed` points nearer to the goal, or the goal itself when it is that near.
    pub(crate) fn towards(self, goal: Self, speed: i32) -> Self {
        let squared = self.distance_squared(goal);
        if squared <= speed * speed {
            return goal;
        }
        let distance = squared.isqrt();
        Self {
            x: self.x + ((goal.x - self.x) * speed) / distance,
            y: self.y + ((goal.y - self.y) * speed) / distance,
        }
    }
}

/// The battlefield.
#[derive(Debug)]
pub(crate) struct Map {
    size: i32,
    /// A bit per tile, one word per row.
    rocks: Vec<u64>,
    patches: Vec<Tile>,
    starts: [Tile; CORNERS],
    /// Per destination tile, the neighbour to take from every other tile. Filled on first use.
    ways: Vec<OnceLock<Box<[u8]>>>,
}

impl Map {
    /// The map of a seed. `size` is within [`MIN_SIZE`] and [`MAX_SIZE`].
    pub(crate) fn generate(seed: u32, size: u8) -> Self {
        let size = i32::from(size);
        let mut map = Self::empty(size);
        let mut rng = Rng::new(seed, 1);
        for _ in 0..size * size / 40 {
            map.add_rocks(&mut rng);
        }
        map
    }

    fn empty(size: i32) -> Self {
        let half = size / 2;
        let quarter = [
            (1, 5),
            (2, 2),
            (5, 1),
            (1, 3),
            (3, 1),
            (half - 1, 1),
            (half, 2),
            (half + 1, 1),
            (half - 4, half - 3),
        ];
        let turned = |tile: Tile, corner| (0..corner).fold(tile, |tile, _| turn(tile, size));
        let patches =
            (0..CORNERS).flat_map(|corner| quarter.map(|(x, y)| turned(Tile { x, y }, corner))).collect();
        let starts = [0, 1, 2, 3].map(|corner| turned(Tile { x: 5, y: 5 }, corner));
        let ways = (0..size * size).map(|_| OnceLock::new()).collect();
        Self { size, rocks: (0..size).map(|_| 0).collect(), patches, starts, ways }
    }

    /// Puts one cluster of rocks into every quarter, unless it would cut off a start or a patch.
    fn add_rocks(&mut self, rng: &mut Rng) {
        let size = self.size;
        let mut at = Tile { x: draw(rng, size), y: draw(rng, size) };
        let before = self.rocks.clone();
        for _ in 0..2 + draw(rng, 5) {
            let mut copy = at;
            for _ in 0..CORNERS {
                if self.may_be_rock(copy) {
                    self.set_rock(copy);
                }
                copy = turn(copy, size);
            }
            let (dx, dy) = NEIGHBOURS[usize::try_from(draw(rng, 4)).unwrap_or(0)];
            at = Tile { x: (at.x + dx).clamp(0, size - 1), y: (at.y + dy).clamp(0, size - 1) };
        }
        if !self.is_connected() {
            self.rocks = before;
        }
    }

    fn may_be_rock(&self, tile: Tile) -> bool {
        let near = |other: &Tile, reach: i32| (tile.x - other.x).abs().max((tile.y - other.y).abs()) <= reach;
        !self.starts.iter().any(|start| near(start, CLEARING))
            && !self.patches.iter().any(|patch| near(patch, 1))
    }

    fn set_rock(&mut self, tile: Tile) {
        if let Some(row) = usize::try_from(tile.y).ok().and_then(|y| self.rocks.get_mut(y)) {
            *row |= 1 << tile.x;
        }
    }

    /// Whether every free tile can be reached from every other one.
    fn is_connected(&self) -> bool {
        let mut seen = vec![false; self.ways.len()];
        let mut open = vec![self.starts[0]];
        while let Some(tile) = open.pop() {
            if !std::mem::replace(&mut seen[self.index(tile)], true) {
                open.extend(NEIGHBOURS[..4].iter().filter_map(|step| self.neighbour(tile, *step)));
            }
        }
        self.tiles().all(|tile| !self.is_free(tile) || seen[self.index(tile)])
    }

    pub(crate) fn size(&self) -> i32 {
        self.size
    }

    pub(crate) fn patches(&self) -> &[Tile] {
        &self.patches
    }

    /// The start place of a corner, counted clockwise from the top left.
    pub(crate) fn start(&self, corner: usize) -> Tile {
        self.starts[corner % CORNERS]
    }

    /// A tile given for the first corner, turned to its like place at another corner.
    pub(crate) fn turned(&self, tile: Tile, corner: usize) -> Tile {
        (0..corner % CORNERS).fold(tile, |tile, _| turn(tile, self.size))
    }

    /// The rows from the top, `#` for a rock and `.` for free ground.
    pub(crate) fn rows(&self) -> Vec<String> {
        let letter = |row: &u64, x: i32| if row >> x & 1 == 1 { '#' } else { '.' };
        self.rocks.iter().map(|row| (0..self.size).map(|x| letter(row, x)).collect()).collect()
    }

    pub(crate) fn contains(&self, tile: Tile) -> bool {
        (0..self.size).contains(&tile.x) && (0..self.size).contains(&tile.y)
    }

    /// Whether the tile is on the map and without a rock.
    pub(crate) fn is_free(&self, tile: Tile) -> bool {
        self.contains(tile) && self.row(tile.y) >> tile.x & 1 == 0
    }

    fn row(&self, y: i32) -> u64 {
        usize::try_from(y).ok().and_then(|y| self.rocks.get(y)).copied().unwrap_or(u64::MAX)
    }

    fn index(&self, tile: Tile) -> usize {
        usize::try_from(tile.y * self.size + tile.x).unwrap_or(0)
    }

    fn tiles(&self) -> impl Iterator<Item = Tile> {
        let size = self.size;
        (0..size).flat_map(move |y| (0..size).map(move |x| Tile { x, y }))
    }

    /// The neighbour in this direction, if a ground unit can step there without cutting a rock's corner.
    fn neighbour(&self, from: Tile, (dx, dy): (i32, i32)) -> Option<Tile> {
        let to = Tile { x: from.x + dx, y: from.y + dy };
        let open = self.is_free(to)
            && self.is_free(Tile { x: to.x, y: from.y })
            && self.is_free(Tile { x: from.x, y: to.y });
        open.then_some(to)
    }

    /// The nearest point of the map that a ground unit can stand on.
    pub(crate) fn nearest_free(&self, point: Point) -> Point {
        let point = self.clamp(point);
        let tile = point.tile();
        if self.is_free(tile) {
            return point;
        }
        let distance = |other: &Tile| (tile.x - other.x).pow(2) + (tile.y - other.y).pow(2);
        let nearest =
            self.tiles().filter(|tile| self.is_free(*tile)).min_by_key(|tile| (distance(tile), *tile));
        nearest.map_or(point, Tile::centre)
    }

    /// The nearest point on the map.
    pub(crate) fn clamp(&self, point: Point) -> Point {
        let last = self.size * TILE - 1;
        Point { x: point.x.clamp(0, last), y: point.y.clamp(0, last) }
    }

    /// One tick of walking: straight at the goal when nothing is in between, else along the shortest way.
    pub(crate) fn walk(&self, from: Point, goal: Point, speed: i32) -> Point {
        if self.is_line_free(from, goal) {
            return from.towards(goal, speed);
        }
        let way = self.ways[self.index(goal.tile())].get_or_init(|| self.ways_to(goal.tile()));
        let tile = from.tile();
        match way.get(self.index(tile)).and_then(|step| NEIGHBOURS.get(usize::from(*step))) {
            Some((dx, dy)) => from.towards(Tile { x: tile.x + dx, y: tile.y + dy }.centre(), speed),
            None => from.towards(tile.centre(), speed),
        }
    }

    /// Whether the straight line touches no rock. A row of tiles is tested with one mask.
    fn is_line_free(&self, a: Point, b: Point) -> bool {
        let (top, bottom) = if a.y <= b.y { (a, b) } else { (b, a) };
        let x_at = |y: i32| top.x + (bottom.x - top.x) * (y - top.y) / (bottom.y - top.y).max(1);
        (top.tile().y..=bottom.tile().y).all(|row| {
            let (enter, leave) = if top.y == bottom.y {
                (top.x, bottom.x)
            } else {
                (x_at(top.y.max(row * TILE)), x_at(bottom.y.min(row * TILE + TILE)))
            };
            // One point to either side makes up for the division's rounding.
            let left = (enter.min(leave) - 1).div_euclid(TILE).max(0);
            let right = (enter.max(leave) + 1).div_euclid(TILE).min(self.size - 1);
            let mask = (u64::MAX >> (63 - (right - left))) << left;
            self.row(row) & mask == 0
        })
    }

    /// The first step of the shortest way to `goal` from every tile.
    fn ways_to(&self, goal: Tile) -> Box<[u8]> {
        let mut ways = vec![NO_WAY; self.ways.len()];
        let mut costs = vec![u32::MAX; self.ways.len()];
        let mut open = BinaryHeap::from([Reverse((0_u32, goal))]);
        costs[self.index(goal)] = 0;
        while let Some(Reverse((cost, tile))) = open.pop() {
            if cost > costs[self.index(tile)] {
                continue;
            }
            for (direction, (dx, dy)) in (0_u8..).zip(NEIGHBOURS) {
                // The way leads against the direction in which the search grows.
                let Some(from) = self.neighbour(tile, (-dx, -dy)) else { continue };
                let next = cost + if dx == 0 || dy == 0 { 10 } else { 14 };
                let index = self.index(from);
                if next < costs[index] {
                    costs[index] = next;
                    ways[index] = direction;
                    open.push(Reverse((next, from)));
                }
            }
        }
        ways.into()
    }
}

/// A quarter turn of the map, clockwise.
fn turn(tile: Tile, size: i32) -> Tile {
    Tile { x: size - 1 - tile.y, y: tile.x }
}

fn draw(rng: &mut Rng, bound: i32) -> i32 {
    u32::try_from(bound).ok().filter(|bound| *bound > 0).map_or(0, |bound| rng.below(bound).cast_signed())
}
