// Economy policy: gathers, makes workers, and builds factories, a reactor and a turret.
// It keeps what it learnt from init in `m`, sends an order only when a worker needs a new one, and builds first what a
// teammate asked for.
detail = ['ground'];
var m = null;
// What to have, in this order.
var PLAN = ['factory', 'factory', 'reactor', 'turret', 'factory'];
var WORKERS = 12;

function init(matchData) {
  m = matchData;
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

// The patch with alloy left that lies nearest to a place.
function nearestPatch(obs, place) {
  var best = null;
  m.patchPlaces.forEach(function (patch, i) {
    var left = obs.economy.patches[i] > 0;
    if (left && (!best || distance(patch, place) < distance(best, place))) best = patch;
  });
  return best;
}

// A tile near the base, on the side of the middle of the map, that is free as far as we can see.
function site(obs, home) {
  var middle = m.size / 2;
  var homeCol = Math.floor(home.x / m.tile);
  var homeRow = Math.floor(home.y / m.tile);
  var things = obs.buildings.concat(obs.ground.enemyBuildings, obs.ground.allyBuildings, m.patchPlaces);
  var taken = things.map(function (b) {
    return { col: Math.floor(b.x / m.tile), row: Math.floor(b.y / m.tile) };
  });
  var best = null;
  for (var row = homeRow - 6; row <= homeRow + 6; row++) {
    for (var col = homeCol - 6; col <= homeCol + 6; col++) {
      if (row < 1 || col < 1 || row >= m.size - 1 || col >= m.size - 1) continue;
      if (m.terrain[row][col] !== '.') continue;
      var reach = Math.max(Math.abs(row - homeRow), Math.abs(col - homeCol));
      var near = taken.some(function (t) {
        return Math.abs(t.row - row) <= 1 && Math.abs(t.col - col) <= 1;
      });
      if (near || reach < 3) continue;
      var cost = reach * 3 + Math.abs(row - middle) + Math.abs(col - middle);
      if (!best || cost < best.cost) best = { row: row, col: col, cost: cost };
    }
  }
  return best;
}

// Answers requests for a building: done or declined when there is one, else taken. Returns the kinds still asked for.
function answer(obs, out) {
  var asked = [];
  obs.signals.inbox.forEach(function (s) {
    if (s.kind !== 'supply' || (s.state !== 'submitted' && s.state !== 'working')) return;
    var works = obs.buildings.some(function (b) { return b.kind === s.building && b.done === 100; });
    if (!works) asked.push(s.building);
    var update = works ? (s.state === 'working' ? 'done' : 'decline') : 'ack';
    if (works || s.state === 'submitted') out.push({ kind: 'signal_update', id: s.id, update: update });
  });
  return asked;
}

// The first building asked for, or of the plan, that is not there yet.
function missing(obs, asked) {
  var have = obs.buildings.map(function (b) { return b.kind; });
  var urgent = asked.find(function (kind) { return have.indexOf(kind) < 0; });
  if (urgent) return urgent;
  return PLAN.find(function (kind) {
    var at = have.indexOf(kind);
    if (at < 0) return true;
    have.splice(at, 1);
    return false;
  });
}

function price(kind) {
  return m.kinds.find(function (row) { return row.kind === kind; });
}

function think(obs) {
  var out = [];
  var workers = obs.economy.units;
  var base = obs.buildings.find(function (b) { return b.kind === 'base' && b.done === 100; });
  if (!m || !base) return out;
  var alloy = obs.alloy;
  var wanted = missing(obs, answer(obs, out));
  var builder = workers.find(function (u) { return u.order === 'build'; });

  // 1. One building at a time, in front of the base.
  if (wanted && builder) {
    alloy -= price(wanted).alloy;
  } else if (wanted && workers.length >= 4 && alloy >= price(wanted).alloy && obs.energy >= price(wanted).energy) {
    var place = site(obs, base);
    if (place) {
      builder = workers[0];
      out.push({ kind: 'build', unit: builder.id, building: wanted, col: place.col, row: place.row });
      alloy -= price(wanted).alloy;
    }
  }

  // 2. Idle workers dig.
  var idle = workers.filter(function (u) { return u.order === 'idle' && u !== builder; });
  var patch = nearestPatch(obs, base);
  if (idle.length && patch) {
    out.push({ kind: 'gather', units: idle.map(function (u) { return u.id; }), patch: patch.id });
  }

  // 3. Workers without a pause.
  if (base.queue === 0 && workers.length < WORKERS && alloy >= 50) {
    out.push({ kind: 'produce', building: base.id, unit: 'worker' });
  }
  return out;
}
