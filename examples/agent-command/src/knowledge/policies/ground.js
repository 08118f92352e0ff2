// Ground policy: gathers, produces, builds factories and attacks in groups.
// It keeps what it learnt from init in `m` and sends an order only when a unit needs a new one.
var m = null;
var GROUP = 8;

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
    if (obs.patches[i] > 0 && (!best || distance(patch, place) < distance(best, place))) best = patch;
  });
  return best;
}

// A tile near the base, on the side of the middle of the map, that is free as far as we can see.
function site(obs, home) {
  var middle = m.size / 2;
  var homeCol = Math.floor(home.x / m.tile);
  var homeRow = Math.floor(home.y / m.tile);
  var taken = obs.buildings.concat(obs.enemyBuildings, obs.allyBuildings, m.patchPlaces).map(function (b) {
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

function count(list, kind) {
  return list.filter(function (thing) { return thing.kind === kind; }).length;
}

function think(obs) {
  var out = [];
  var units = obs.ground.units || [];
  var enemies = (obs.ground.enemies || []).concat(obs.enemyBuildings);
  var base = obs.buildings.find(function (b) { return b.kind === 'base' && b.done === 100; });
  if (!m || !base) return out;
  var alloy = obs.alloy;
  var workers = units.filter(function (u) { return u.kind === 'worker'; });
  var army = units.filter(function (u) { return u.kind !== 'worker'; });

  // 1. One building at a time: factory, second factory, reactor.
  var factories = count(obs.buildings, 'factory');
  var reactors = count(obs.buildings, 'reactor');
  var wanted = factories < 1 ? 'factory' : factories < 2 ? 'factory' : reactors < 1 ? 'reactor' : null;
  var price = wanted === 'reactor' ? 100 : 150;
  var busy = workers.some(function (u) { return u.order === 'build'; });
  if (wanted && !busy && alloy >= price && workers.length >= 4) {
    var place = site(obs, base);
    if (place) {
      out.push({ kind: 'build', unit: workers[0].id, building: wanted, col: place.col, row: place.row });
      workers[0] = { order: 'build' };
      alloy -= price;
    }
  } else if (busy) {
    alloy -= price;
  }

  // 2. Idle workers dig.
  var idle = workers.filter(function (u) { return u.order === 'idle'; });
  var patch = nearestPatch(obs, base);
  if (idle.length && patch) {
    out.push({ kind: 'gather', units: idle.map(function (u) { return u.id; }), patch: patch.id });
  }

  // 3. Production without a pause.
  if (base.queue === 0 && workers.length < 12 && alloy >= 50) {
    out.push({ kind: 'produce', building: base.id, unit: 'worker' });
    alloy -= 50;
  }
  obs.buildings.forEach(function (b) {
    if (b.kind === 'factory' && b.done === 100 && b.queue < 2 && alloy >= 60) {
      out.push({ kind: 'produce', building: b.id, unit: 'soldier' });
      alloy -= 60;
    }
  });

  // 4. The army defends what is near, else attacks once it is a group.
  var threat = enemies.find(function (e) { return distance(e, base) < 1200; });
  var free = army.filter(function (u) { return u.order === 'idle'; });
  if (threat && free.length) {
    out.push({ kind: 'advance', units: free.map(function (u) { return u.id; }), x: threat.x, y: threat.y });
  } else if (free.length >= GROUP) {
    var target = m.starts.find(function (s) {
      return m.enemies.indexOf(s.side) >= 0 && obs.sides.some(function (o) {
        return o.side === s.side && o.outcome === 'running';
      });
    });
    if (target) {
      out.push({ kind: 'advance', units: free.slice(0, 32).map(function (u) { return u.id; }), x: target.x, y: target.y });
    }
  }
  return out;
}
