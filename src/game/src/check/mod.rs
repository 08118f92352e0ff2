//! Every rule of §3 and §22.1 that a manifest must keep, judged once, at start.
//!
//! All faults come back together. Nothing here changes the manifest.

mod control;
mod names;
mod schemas;
mod signals;
mod skills;
mod texts;

pub(crate) use skills::reference_skill_name;

use crate::fault::{Fault, Faults};
use crate::{Checked, Manifest};

/// Ticks of game time per second at most.
const MAX_TICK_RATE: u32 = 1000;

impl Manifest {
    /// Judges the manifest (§3, §22.1) and gives it back as one that the rest of the program may trust, or all of its
    /// faults together.
    pub fn check(self) -> Result<Checked, Vec<Fault>> {
        match self.faults() {
            faults if faults.is_empty() => Ok(Checked::new(self)),
            faults => Err(faults),
        }
    }

    /// All faults of this manifest, in the order of §3; none for a good one.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Faults::default();
        let what = "the tick rate is outside 1 to 1000";
        names::check(self, &mut faults);
        faults.expect(
            (1..=MAX_TICK_RATE).contains(&self.tick_rate),
            "tickRate",
            what,
            "declare 1 to 1000 ticks a second",
        );
        texts::check(self, &mut faults);
        schemas::check(self, &mut faults);
        skills::check(self, &mut faults);
        control::check(self, &mut faults);
        signals::check(self, &mut faults);
        faults.into_result().err().unwrap_or_default()
    }
}
