// Air policy: scouts in circles around the middle, produces gunships, attacks with them in pairs.
// It reads what stands on the ground too: that is what gunships are for.
detail = ['ground'];
var m = null;
var leg = 0;
// The tick from which it may ask for a reactor again.
var askAgain = 0;

function init(matchData) {
  m = matchData;
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function ids(list) {
  return list.map(function (unit) { return unit.id; });
}

function think(obs) {
  var out = [];
  if (!m) return out;
  var units = obs.air.units;
  var enemies = obs.ground.enemies.concat(obs.air.enemies).filter(function (e) { return e.kind !== 'scout'; });
  var home = m.starts.find(function (s) { return s.side === m.side; });

  // 1. The scout flies from corner to corner of the inner square.
  var inner = [[0.3, 0.3], [0.7, 0.3], [0.7, 0.7], [0.3, 0.7]];
  units.forEach(function (u) {
    if (u.kind === 'scout' && u.order === 'idle') {
      var corner = inner[leg++ % inner.length];
      var width = m.size * m.tile;
      out.push({ kind: 'move', units: [u.id], x: Math.floor(corner[0] * width), y: Math.floor(corner[1] * width) });
    }
  });

  // 2. Requests: the scout looks, the gunships guard and strike; what cannot be done is declined at once.
  obs.signals.inbox.forEach(function (s) {
    var able = units.filter(function (u) { return u.kind === (s.kind === 'look' ? 'scout' : 'gunship'); });
    var there = able.some(function (u) { return distance(u, s) < 400; });
    if (s.state === 'submitted') {
      out.push({ kind: 'signal_update', id: s.id, update: able.length ? 'ack' : 'decline' });
      var order = s.kind === 'look' ? 'move' : 'advance';
      if (able.length) out.push({ kind: order, units: ids(able), x: s.x, y: s.y });
    } else if (s.state === 'working' && s.by === 'air' && (there || !able.length)) {
      out.push({ kind: 'signal_update', id: s.id, update: there ? 'done' : 'fail' });
    }
  });

  // 3. Gunships whenever a reactor works, both stocks allow it.
  // Until there is a reactor, the economy is asked for one, but not before the army has its factory.
  var works = function (kind) {
    return obs.buildings.some(function (b) { return b.kind === kind && b.done === 100; });
  };
  var hasFactory = obs.buildings.some(function (b) { return b.kind === 'factory'; });
  if (!works('reactor') && hasFactory && obs.tick >= askAgain) {
    out.push({ kind: 'signal', signal: { kind: 'supply', building: 'reactor', to: 'economy' } });
    // A request nobody answers expires after 600 ticks.
    askAgain = obs.tick + 600;
  }
  if (works('reactor')) obs.buildings.forEach(function (b) {
    if (b.kind === 'airfield' && b.done === 100 && b.queue === 0 && obs.alloy >= 100 && obs.energy >= 60) {
      out.push({ kind: 'produce', building: b.id, unit: 'gunship' });
    }
  });

  // 4. Gunships defend, and attack once there are two; against stronger opponents wait for four.
  var free = units.filter(function (u) { return u.kind === 'gunship' && u.order === 'idle'; });
  var threat = enemies.find(function (e) { return distance(e, home) < 1200; });
  if (threat && free.length) {
    out.push({ kind: 'advance', units: ids(free), x: threat.x, y: threat.y });
  } else if (free.length >= 2) {
    var target = m.starts.find(function (s) {
      return m.enemies.indexOf(s.side) >= 0 && obs.sides.some(function (o) {
        return o.side === s.side && o.outcome === 'running';
      });
    });
    if (target) out.push({ kind: 'advance', units: ids(free), x: target.x, y: target.y });
  }
  return out;
}
