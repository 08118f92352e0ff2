// Air policy: scouts in circles around the middle, produces gunships, attacks with four of them together.
// It reads what stands on the ground too: that is what gunships are for.
detail = ['ground'];
var m = null;
var leg = 0;

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

  // 2. Gunships whenever a reactor works, both stocks allow it.
  // Until there is a reactor, the economy is asked for one, but not before the army has its factory.
  var works = function (kind) {
    return obs.buildings.some(function (b) { return b.kind === kind && b.done === 100; });
  };
  var hasFactory = obs.buildings.some(function (b) { return b.kind === 'factory'; });
  var asked = obs.signals.sent.some(function (s) { return s.state === 'submitted' || s.state === 'working'; });
  if (!works('reactor') && hasFactory && !asked) {
    out.push({ kind: 'signal', signal: { kind: 'supply', building: 'reactor', to: 'economy' } });
  }
  if (works('reactor')) obs.buildings.forEach(function (b) {
    if (b.kind === 'airfield' && b.done === 100 && b.queue === 0 && obs.alloy >= 100 && obs.energy >= 60) {
      out.push({ kind: 'produce', building: b.id, unit: 'gunship' });
    }
  });

  // 3. Gunships defend, and attack once there are four.
  var free = units.filter(function (u) { return u.kind === 'gunship' && u.order === 'idle'; });
  var threat = enemies.find(function (e) { return distance(e, home) < 1200; });
  if (threat && free.length) {
    out.push({ kind: 'advance', units: ids(free), x: threat.x, y: threat.y });
  } else if (free.length >= 4) {
    var target = m.starts.find(function (s) {
      return m.enemies.indexOf(s.side) >= 0 && obs.sides.some(function (o) {
        return o.side === s.side && o.outcome === 'running';
      });
    });
    if (target) out.push({ kind: 'advance', units: ids(free), x: target.x, y: target.y });
  }
  return out;
}
