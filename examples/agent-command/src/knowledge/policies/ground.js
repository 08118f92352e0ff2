// Ground policy: makes soldiers without a pause, comes home together when the base is attacked, and attacks in groups.
// It keeps what it learnt from init in `m`. Idle units wait for a group; those near home follow what comes too close. Who
// asks it to guard or strike gets whoever waits.
var m = null;
var GROUP = 10;

function init(matchData) {
  m = matchData;
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function ids(list) {
  return list.slice(0, 32).map(function (unit) { return unit.id; });
}

// The start place of an enemy that is still in play.
function target(obs) {
  return m.starts.find(function (s) {
    return m.enemies.indexOf(s.side) >= 0 && obs.sides.some(function (o) {
      return o.side === s.side && o.outcome === 'running';
    });
  });
}

function think(obs) {
  var out = [];
  if (!m) return out;
  var home = m.starts.find(function (s) { return s.side === m.side; });
  var alloy = obs.alloy;

  // 1. A soldier in work in every factory.
  obs.buildings.forEach(function (b) {
    if (b.kind === 'factory' && b.done === 100 && b.queue === 0 && alloy >= 60) {
      out.push({ kind: 'produce', building: b.id, unit: 'soldier' });
      alloy -= 60;
    }
  });

  // 2. The army defends what is near, else attacks once it is a group.
  var enemies = obs.ground.enemies.concat(obs.ground.enemyBuildings);
  if (obs.air.nearest) enemies.push(obs.air.nearest);
  var close = function (thing) { return distance(thing, home) < 1200; };
  var threat = enemies.find(function (e) { return e.kind !== 'scout' && close(e); });
  var free = obs.ground.units.filter(function (u) { return u.order === 'idle'; });
  var ready = obs.ground.units.filter(function (u) { return u.order === 'idle' || close(u); });
  if (threat) {
    if (ready.length) out.push({ kind: 'advance', units: ids(ready), x: threat.x, y: threat.y });
  } else if (free.length >= GROUP) {
    var goal = target(obs);
    if (goal) out.push({ kind: 'advance', units: ids(free), x: goal.x, y: goal.y });
  }

  // 3. Requests: idle units go where a teammate asks, or the request is declined at once.
  obs.signals.inbox.forEach(function (s) {
    var there = obs.ground.units.some(function (u) { return distance(u, s) < 400; });
    if (s.state === 'submitted') {
      out.push({ kind: 'signal_update', id: s.id, update: free.length ? 'ack' : 'decline' });
      if (free.length) out.push({ kind: 'advance', units: ids(free), x: s.x, y: s.y });
    } else if (s.state === 'working' && s.by === 'ground' && (there || !obs.ground.units.length)) {
      out.push({ kind: 'signal_update', id: s.id, update: there ? 'done' : 'fail' });
    }
  });
  return out;
}
