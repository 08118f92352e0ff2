//! `playerthree lint` (§17): vocabulary, bounds, documentation and observation size of a manifest.
//!
//! Faults break the contract; warnings are what makes agents play badly. Nothing is changed and nothing is run.

use crate::fault::Fault;
use crate::{Manifest, Name};
use playerthree_schema::{Fields, Kind, Schema, utf16_len};
use serde_json::{Value, json};
use std::fmt;

/// Observations whose bound is above this are warned about, in bytes: policies read one whole at every think.
const LARGE_OBSERVATION_BYTES: u64 = 262_144;
/// Match data may take this many bytes (§10 `MATCH_DATA_MAX_BYTES`).
const MATCH_DATA_MAX_BYTES: u64 = 131_072;

/// What a lint found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintReport {
    /// The game's id, or nothing when it breaks its grammar.
    pub game: Option<Name>,
    /// Breaches of the contract. Any of them keeps the host from starting.
    pub faults: Vec<Fault>,
    /// What works but serves agents badly.
    pub warnings: Vec<Fault>,
    /// Upper bounds of the JSON of each output, in bytes.
    pub max_bytes: Vec<(&'static str, u64)>,
}

/// Judges a manifest as the host would and adds advice.
pub fn lint(manifest: &Manifest) -> LintReport {
    let faults = manifest.faults();
    let named = !faults.iter().any(|fault| fault.path == "id");
    LintReport {
        game: named.then(|| manifest.id.clone()),
        faults,
        warnings: warnings(manifest),
        max_bytes: max_bytes(manifest),
    }
}

impl LintReport {
    /// A report on a manifest that could not even be read.
    pub fn unreadable(faults: Vec<Fault>) -> Self {
        Self { game: None, faults, warnings: Vec::new(), max_bytes: Vec::new() }
    }

    /// Whether the contract holds. Warnings do not count.
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    /// The `--json` form.
    pub fn to_json(&self) -> Value {
        let sizes: serde_json::Map<String, Value> =
            self.max_bytes.iter().map(|(name, bytes)| ((*name).to_owned(), json!(bytes))).collect();
        json!({
            "game": self.game,
            "ok": self.is_clean(),
            "faults": self.faults.iter().map(Fault::to_json).collect::<Vec<_>>(),
            "warnings": self.warnings.iter().map(Fault::to_json).collect::<Vec<_>>(),
            "maxBytes": sizes,
        })
    }
}

impl fmt::Display for LintReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.game.as_deref().unwrap_or("(unnamed game)"))?;
        for fault in &self.faults {
            writeln!(f, "  fault    {fault}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "  warning  {warning}")?;
        }
        for (name, bytes) in &self.max_bytes {
            writeln!(f, "  size     {name}: at most {bytes} bytes of JSON")?;
        }
        write!(f, "  {} faults, {} warnings", self.faults.len(), self.warnings.len())
    }
}

fn max_bytes(manifest: &Manifest) -> Vec<(&'static str, u64)> {
    let schemas = [
        ("observation", Some(&manifest.observation)),
        ("view", Some(&manifest.view)),
        ("matchData", manifest.match_data.as_ref()),
        ("event", Some(&manifest.event)),
        ("report", Some(&manifest.report)),
        ("observer", manifest.observer.as_ref()),
    ];
    schemas
        .into_iter()
        .filter_map(|(name, schema)| schema.map(|schema| (name, schema.max_json_bytes())))
        .collect()
}

fn warnings(manifest: &Manifest) -> Vec<Fault> {
    let mut warnings = Vec::new();
    let mut warn = |path: &str, what: &str, fix: &str| {
        warnings.push(Fault { path: path.into(), what: what.into(), fix: fix.into() });
    };
    if manifest.observation.max_json_bytes() > LARGE_OBSERVATION_BYTES {
        let fix = "lower list and text bounds, or declare observationScope";
        warn("observation", "an observation may be larger than 262144 bytes", fix);
    }
    if manifest.match_data.as_ref().is_some_and(|data| data.max_json_bytes() > MATCH_DATA_MAX_BYTES) {
        let fix = "keep real match data below the cap, or lower the bounds";
        warn("matchData", "match data may exceed the cap of 131072 bytes", fix);
    }
    for doc in manifest.role_docs.values().filter(|doc| !doc.contains("READ BEFORE PLAYING")) {
        let what = format!("a role document of {} units has no READ BEFORE PLAYING list", utf16_len(doc));
        warn("roleDocs", &what, "end it with the topics that the role must read first");
    }
    if manifest.skills.is_empty() {
        warn("skills", "the game has no strategy skill", "add a SKILL.md that teaches how to play well");
    }
    for (path, schema) in [
        ("observation", &manifest.observation),
        ("event", &manifest.event),
        ("directive", &manifest.directive),
    ] {
        let bare = undocumented(schema, manifest.signals.is_some());
        if bare > 0 {
            let what = format!("{bare} top-level fields have no doc");
            warn(path, &what, "say what each means and in which unit");
        }
    }
    warnings
}

/// Top-level fields of an object without a doc. Fields that enumerate words explain themselves, and what is generated
/// for signals (§22.1) is explained by its own topic.
fn undocumented(schema: &Schema, has_signals: bool) -> usize {
    let bare = |fields: &Fields| {
        let silent = |schema: &Schema| {
            schema.required().doc.is_none() && !matches!(schema.required().kind, Kind::Enum(_))
        };
        let explained = |name: &str| name == "tick" || (has_signals && name == "signals");
        fields.iter().filter(|(name, schema)| !explained(name) && silent(schema)).count()
    };
    match &schema.kind {
        Kind::Obj { fields, .. } => bare(fields),
        _ => 0,
    }
}
