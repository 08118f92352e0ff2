//! What the army does: every factory makes soldiers, and a tank for every few of them; the fighters gather before the
//! base, go together, and come home when it is attacked.

use crate::json::Json;

/// Fighters that start an attack.
const GROUP: usize = 10;
/// Soldiers for each tank.
const SOLDIERS_PER_TANK: usize = 4;
/// How near to its base a side meets an enemy, in points.
const GUARD: i64 = 1200;
/// Most units that one intent may name.
const MAX_UNITS: usize = 32;

/// The intents of this moment as JSON, for a commander of the ground with this match data and observation.
#[must_use]
pub fn orders(field: &Json<'_>, observation: &Json<'_>) -> String {
    let mut orders = production(observation);
    orders.extend(march(field, observation));
    ["[", &orders.join(","), "]"].concat()
}

/// A unit in every free factory, while the stock lasts.
fn production(observation: &Json<'_>) -> Vec<String> {
    let (mut alloy, mut energy) = (observation.get("alloy").number(), observation.get("energy").number());
    let units = observation.get("ground").get("units").items();
    let count = |kind: &str| units.iter().filter(|unit| unit.get("kind").word() == kind).count();
    let buildings = observation.get("buildings").items();
    let works = |kind: &str| {
        let kind = kind.to_owned();
        buildings.iter().filter(move |one| one.get("kind").word() == kind && one.get("done").number() == 100)
    };
    let wants_tank =
        count("soldier") > SOLDIERS_PER_TANK * (count("tank") + 1) && works("reactor").next().is_some();
    let mut orders = Vec::new();
    for factory in works("factory").filter(|factory| factory.get("queue").number() == 0) {
        let tank = wants_tank && energy >= 40;
        let (unit, price) = if tank { ("tank", 120) } else { ("soldier", 60) };
        if alloy >= price {
            alloy -= price;
            energy -= if tank { 40 } else { 0 };
            let id = factory.get("id").word();
            orders.push([r#"{"kind":"produce","building":""#, id, r#"","unit":""#, unit, r#""}"#].concat());
        }
    }
    orders
}

/// Home when it is attacked, else to the enemy as a full group.
fn march(field: &Json<'_>, observation: &Json<'_>) -> Option<String> {
    let starts = field.get("starts").items();
    let home = starts.iter().find(|start| start.get("side") == field.get("side"))?;
    let near = |thing: &Json<'_>| {
        let [across, down] = ["x", "y"].map(|axis| thing.get(axis).number() - home.get(axis).number());
        across * across + down * down <= GUARD * GUARD
    };
    let (ground, air) = (observation.get("ground"), observation.get("air"));
    let lists = [ground.get("enemies"), ground.get("enemyBuildings"), air.get("enemies")];
    let mut threats = lists.into_iter().flat_map(Json::items);
    let units = ground.get("units").items().iter();
    let is_idle = |unit: &&Json<'_>| unit.get("order").word() == "idle";
    if let Some(enemy) = threats.find(|enemy| enemy.get("kind").word() != "scout" && near(enemy)) {
        return advance(units.filter(|unit| is_idle(unit) || near(unit)), enemy);
    }
    let is_enemy = |start: &&Json<'_>| field.get("enemies").items().contains(start.get("side"));
    let plays = |side: &Json<'_>| {
        let sides = observation.get("sides").items();
        sides.iter().any(|other| other.get("side") == side && other.get("outcome").word() == "running")
    };
    let goal = starts.iter().filter(is_enemy).find(|start| plays(start.get("side")))?;
    let idle = units.filter(is_idle);
    if idle.clone().count() >= GROUP { advance(idle, goal) } else { None }
}

fn advance<'a>(units: impl Iterator<Item = &'a Json<'a>>, to: &Json<'_>) -> Option<String> {
    let ids: Vec<&str> = units.take(MAX_UNITS).map(|unit| unit.get("id").word()).collect();
    let [x, y] = ["x", "y"].map(|axis| to.get(axis).number().to_string());
    let units = ids.join("\",\"");
    let order = [r#"{"kind":"advance","units":[""#, &units, r#""],"x":"#, &x, r#","y":"#, &y, "}"];
    (!ids.is_empty()).then(|| order.concat())
}
