//! Reading the wire form. Reading is total: every fault of shape is reported, and reading goes on with a placeholder.
//!
//! What was read still has to pass [`Manifest::check`]. Unknown members are refused; none is repeated.

use super::beside::beside;
use crate::fault::{Fault, Faults};
use crate::{
    ChatLimits, Control, IntentKind, IntentLimits, Manifest, ObservationScope, PauseLimits, PolicyLimits,
    PoolLimits, PracticeLimits, Runtime, SequenceLimits, SignalKind, SignalLimits, SignalSkill, Signals,
    Skill, StreamLimits, Topic,
};
use playerthree_schema::{Fields, Kind, Ordered, Schema, is_field_name, is_literal, t};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most UTF-8 bytes of a manifest file.
const MAX_TEXT_BYTES: usize = 16 * 1_048_576;

impl Manifest {
    /// Reads the wire form out of a `Value`, whose members have no order: topics and fields come sorted by name.
    pub fn from_json(wire: &Value) -> Result<Self, Vec<Fault>> {
        Self::from_ordered(&Ordered::from(wire))
    }

    /// Reads a manifest file of at most 16 MiB, in the order it is written. Repeated members are refused.
    pub fn from_text(text: &str) -> Result<Self, Vec<Fault>> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(vec![Fault {
                path: "manifest".into(),
                what: "the manifest is larger than 16 MiB".into(),
                fix: "shorten its documents".into(),
            }]);
        }
        let wire = Ordered::parse(text).map_err(|error| {
            let fix = "write one JSON object and name each member once".into();
            vec![Fault { path: "manifest".into(), what: error.to_string(), fix }]
        })?;
        Self::from_ordered(&wire)
    }

    /// Reads the wire form. All faults come back together: of shape, and then of the members that could be read. A manifest
    /// that was read whole still has to pass [`Self::check`].
    pub fn from_ordered(wire: &Ordered) -> Result<Self, Vec<Fault>> {
        let mut reader = Reader { faults: Faults::default() };
        let manifest = reader.manifest(&At { path: "manifest".into(), wire: Some(wire) });
        match reader.faults.into_result() {
            Ok(()) => Ok(manifest),
            Err(mut faults) => {
                let others = beside(&faults, &manifest);
                faults.extend(others);
                Err(faults)
            }
        }
    }
}

/// A place in the wire form, which may be empty.
struct At<'a> {
    path: String,
    wire: Option<&'a Ordered>,
}

impl<'a> At<'a> {
    fn member(&self, name: &str) -> Self {
        let path = if self.path == "manifest" { name.to_owned() } else { format!("{}.{name}", self.path) };
        At { path, wire: self.wire.and_then(|wire| wire.get(name)) }
    }

    fn absent(&self) -> bool {
        self.wire.is_none()
    }
}

struct Reader {
    faults: Faults,
}

impl Reader {
    fn manifest(&mut self, at: &At<'_>) -> Manifest {
        self.members(
            at,
            &[
                "id",
                "version",
                "title",
                "doc",
                "tickRate",
                "teams",
                "roles",
                "roleDocs",
                "topics",
                "intents",
                "observation",
                "view",
                "observationScope",
                "matchData",
                "lobby",
                "observer",
                "directive",
                "limits",
                "errors",
                "event",
                "opponents",
                "report",
                "matchOptions",
                "skills",
                "control",
                "signals",
            ],
        );
        Manifest {
            id: self.text(&at.member("id")),
            version: self.text(&at.member("version")),
            title: self.text(&at.member("title")),
            doc: self.text(&at.member("doc")),
            tick_rate: self.integer(&at.member("tickRate")),
            teams: self.literals(&at.member("teams")),
            roles: self.literals(&at.member("roles")),
            role_docs: self.text_map(&at.member("roleDocs")),
            topics: self.each(&at.member("topics"), Self::topic),
            intents: self.each(&at.member("intents"), Self::intent),
            observation: self.schema(&at.member("observation")),
            view: self.schema(&at.member("view")),
            observation_scope: self.optional(&at.member("observationScope"), Self::scope),
            match_data: self.optional(&at.member("matchData"), Self::schema),
            lobby: self.optional(&at.member("lobby"), Self::schema),
            observer: self.optional(&at.member("observer"), Self::schema),
            directive: self.schema(&at.member("directive")),
            limits: self.optional(&at.member("limits"), Self::schema),
            errors: self.literals(&at.member("errors")),
            event: self.schema(&at.member("event")),
            opponents: self.literals(&at.member("opponents")),
            report: self.schema(&at.member("report")),
            match_options: self.optional(&at.member("matchOptions"), Self::schema),
            skills: self.list(&at.member("skills"), Self::skill),
            control: self.control(&at.member("control")),
            signals: self.optional(&at.member("signals"), Self::signals),
        }
    }

    /// An object with no member beyond these.
    fn members(&mut self, at: &At<'_>, allowed: &[&str]) {
        match at.wire {
            Some(Ordered::Map(members)) => {
                let known = members.iter().all(|(name, _)| allowed.contains(&name.as_str()));
                self.faults.expect(known, &format!("{}.?", at.path), "a member is unknown", "leave it out");
            }
            _ => self.faults.add(&at.path, "an object is missing here", "write an object"),
        }
    }

    fn optional<T>(&mut self, at: &At<'_>, read: impl FnOnce(&mut Self, &At<'_>) -> T) -> Option<T> {
        if at.absent() { None } else { Some(read(self, at)) }
    }

    fn text(&mut self, at: &At<'_>) -> Arc<str> {
        match at.wire.and_then(Ordered::as_str) {
            Some(text) => text.into(),
            None => {
                self.faults.add(&at.path, "a text is missing here", "write a text");
                "".into()
            }
        }
    }

    fn integer(&mut self, at: &At<'_>) -> u32 {
        let number = self.number(at);
        let whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
        self.faults.expect(
            whole,
            &at.path,
            "the number is not a nonnegative 32-bit integer",
            "write such an integer",
        );
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was judged just above"
        )]
        if whole { number as u32 } else { 0 }
    }

    fn number(&mut self, at: &At<'_>) -> f64 {
        match at.wire {
            Some(Ordered::Number(number)) => number.as_f64().unwrap_or(0.0),
            _ => {
                self.faults.add(&at.path, "a number is missing here", "write a number");
                0.0
            }
        }
    }

    fn schema(&mut self, at: &At<'_>) -> Schema {
        match at.wire.map(Schema::from_ordered) {
            Some(Ok(schema)) => return schema,
            Some(Err(faults)) => self.faults.schema(&at.path, Err(faults)),
            None => self.faults.add(&at.path, "a schema is missing here", "declare it"),
        }
        t::bool()
    }

    fn fields(&mut self, at: &At<'_>) -> Fields {
        match at.wire.map(Schema::fields_from_ordered) {
            Some(Ok(fields)) => return fields,
            Some(Err(faults)) => self.faults.schema(&at.path, Err(faults)),
            None => self.faults.add(&at.path, "the parameters are missing", "write {} for none"),
        }
        Fields::new()
    }

    /// The values of an enum schema.
    fn literals(&mut self, at: &At<'_>) -> Vec<Arc<str>> {
        match self.schema(at).kind {
            Kind::Enum(values) => values,
            _ => {
                self.faults.add(
                    &at.path,
                    "the schema is not an enum",
                    "write {\"t\":\"enum\",\"values\":[…]}",
                );
                Vec::new()
            }
        }
    }

    /// The entries of a map, each read with its name.
    fn each<T>(&mut self, at: &At<'_>, read: impl Fn(&mut Self, &str, &At<'_>) -> T) -> Vec<T> {
        let Some(Ordered::Map(entries)) = at.wire else {
            self.faults.add(&at.path, "an object is missing here", "write an object");
            return Vec::new();
        };
        let mut all = Vec::with_capacity(entries.len());
        for (index, (name, wire)) in entries.iter().enumerate() {
            let path =
                if safe_name(name) { format!("{}.{name}", at.path) } else { format!("{}[{index}]", at.path) };
            all.push(read(self, name, &At { path, wire: Some(wire) }));
        }
        all
    }

    fn list<T>(&mut self, at: &At<'_>, read: impl Fn(&mut Self, &At<'_>) -> T) -> Vec<T> {
        let Some(Ordered::List(items)) = at.wire else {
            self.faults.add(&at.path, "a list is missing here", "write a list");
            return Vec::new();
        };
        let mut all = Vec::with_capacity(items.len());
        for (index, wire) in items.iter().enumerate() {
            all.push(read(self, &At { path: format!("{}[{index}]", at.path), wire: Some(wire) }));
        }
        all
    }

    fn texts(&mut self, at: &At<'_>) -> Vec<Arc<str>> {
        self.list(at, Self::text)
    }

    fn text_map(&mut self, at: &At<'_>) -> BTreeMap<Arc<str>, Arc<str>> {
        self.each(at, |reader, name, at| (name.into(), reader.text(at))).into_iter().collect()
    }

    fn lists(&mut self, at: &At<'_>) -> BTreeMap<Arc<str>, Vec<Arc<str>>> {
        self.each(at, |reader, name, at| (name.into(), reader.texts(at))).into_iter().collect()
    }

    fn topic(&mut self, name: &str, at: &At<'_>) -> Topic {
        self.members(at, &["summary", "text"]);
        Topic {
            name: name.into(),
            summary: self.text(&at.member("summary")),
            text: self.text(&at.member("text")),
        }
    }

    fn intent(&mut self, name: &str, at: &At<'_>) -> IntentKind {
        self.members(at, &["roles", "params", "doc"]);
        IntentKind {
            name: name.into(),
            roles: self.texts(&at.member("roles")),
            params: self.fields(&at.member("params")),
            doc: self.text(&at.member("doc")),
        }
    }

    fn scope(&mut self, at: &At<'_>) -> ObservationScope {
        self.members(at, &["sections", "defaults"]);
        ObservationScope {
            sections: self.literals(&at.member("sections")),
            defaults: self.lists(&at.member("defaults")),
        }
    }

    fn skill(&mut self, at: &At<'_>) -> Skill {
        self.members(at, &["name", "description", "files"]);
        Skill {
            name: self.text(&at.member("name")),
            description: self.text(&at.member("description")),
            files: self.text_map(&at.member("files")),
        }
    }

    fn signals(&mut self, at: &At<'_>) -> Signals {
        self.members(at, &["kinds", "cards"]);
        let kinds = self.each(&at.member("kinds"), |reader, name, at| {
            let IntentKind { name, roles, params, doc } = reader.intent(name, at);
            SignalKind { name, roles, params, doc }
        });
        let cards =
            self.each(&at.member("cards"), |reader, role, at| (role.into(), reader.list(at, Self::card)));
        Signals { kinds, cards: cards.into_iter().collect() }
    }

    fn card(&mut self, at: &At<'_>) -> SignalSkill {
        self.members(at, &["kind", "where"]);
        SignalSkill {
            kind: self.text(&at.member("kind")),
            only: self.optional(&at.member("where"), Self::lists).unwrap_or_default(),
        }
    }

    fn control(&mut self, at: &At<'_>) -> Control {
        self.members(
            at,
            &["intents", "sequence", "policy", "stream", "practice", "pool", "chat", "pausable", "signals"],
        );
        let intents = at.member("intents");
        self.members(&intents, &["perSecond", "burst"]);
        Control {
            intents: IntentLimits {
                per_second: self.number(&intents.member("perSecond")),
                burst: self.integer(&intents.member("burst")),
            },
            sequence: self.optional(&at.member("sequence"), Self::sequence),
            policy: self.optional(&at.member("policy"), Self::policy),
            stream: self.optional(&at.member("stream"), Self::stream),
            practice: self.optional(&at.member("practice"), Self::practice),
            pool: self.optional(&at.member("pool"), Self::pool),
            chat: self.optional(&at.member("chat"), Self::chat),
            pausable: self.optional(&at.member("pausable"), Self::pausable),
            signals: self.optional(&at.member("signals"), Self::signal_limits),
        }
    }

    fn sequence(&mut self, at: &At<'_>) -> SequenceLimits {
        self.members(at, &["maxSteps", "maxTicksAhead", "minSpacingTicks"]);
        SequenceLimits {
            max_steps: self.integer(&at.member("maxSteps")),
            max_ticks_ahead: self.integer(&at.member("maxTicksAhead")),
            min_spacing_ticks: self.integer(&at.member("minSpacingTicks")),
        }
    }

    fn policy(&mut self, at: &At<'_>) -> PolicyLimits {
        self.members(
            at,
            &[
                "runtimes",
                "hz",
                "msPerCall",
                "memoryBytes",
                "maxArtifactBytes",
                "maxIntentsPerCall",
                "maxLogLines",
                "maxLogLineBytes",
            ],
        );
        PolicyLimits {
            runtimes: self.list(&at.member("runtimes"), Self::runtime).into_iter().flatten().collect(),
            hz: self.number(&at.member("hz")),
            ms_per_call: self.integer(&at.member("msPerCall")),
            memory_bytes: self.integer(&at.member("memoryBytes")),
            max_artifact_bytes: self.integer(&at.member("maxArtifactBytes")),
            max_intents_per_call: self.integer(&at.member("maxIntentsPerCall")),
            max_log_lines: self.integer(&at.member("maxLogLines")),
            max_log_line_bytes: self.integer(&at.member("maxLogLineBytes")),
        }
    }

    fn runtime(&mut self, at: &At<'_>) -> Option<Runtime> {
        let runtime = at.wire.and_then(Ordered::as_str).and_then(Runtime::from_wire);
        self.faults.expect(runtime.is_some(), &at.path, "the runtime is unknown", "write \"js\" or \"wasm\"");
        runtime
    }

    fn stream(&mut self, at: &At<'_>) -> StreamLimits {
        self.members(at, &["maxHz", "intentsPerTick"]);
        StreamLimits {
            max_hz: self.number(&at.member("maxHz")),
            intents_per_tick: self.integer(&at.member("intentsPerTick")),
        }
    }

    fn practice(&mut self, at: &At<'_>) -> PracticeLimits {
        self.members(at, &["maxTicks", "concurrent"]);
        PracticeLimits {
            max_ticks: self.integer(&at.member("maxTicks")),
            concurrent: self.integer(&at.member("concurrent")),
        }
    }

    fn pool(&mut self, at: &At<'_>) -> PoolLimits {
        self.members(at, &["maxPublishedPerPrincipal"]);
        PoolLimits { max_published_per_principal: self.integer(&at.member("maxPublishedPerPrincipal")) }
    }

    fn chat(&mut self, at: &At<'_>) -> ChatLimits {
        self.members(at, &["maxTellChars", "maxSayChars", "ping"]);
        ChatLimits {
            max_tell_chars: self.integer(&at.member("maxTellChars")),
            max_say_chars: self.integer(&at.member("maxSayChars")),
            ping: self.optional(&at.member("ping"), Self::schema),
        }
    }

    fn pausable(&mut self, at: &At<'_>) -> PauseLimits {
        self.members(at, &["maxPauseSeconds"]);
        PauseLimits { max_pause_seconds: self.optional(&at.member("maxPauseSeconds"), Self::integer) }
    }

    fn signal_limits(&mut self, at: &At<'_>) -> SignalLimits {
        self.members(at, &["perSecond", "burst", "maxOpen", "ttlTicks", "keepTicks"]);
        SignalLimits {
            per_second: self.number(&at.member("perSecond")),
            burst: self.integer(&at.member("burst")),
            max_open: self.integer(&at.member("maxOpen")),
            ttl_ticks: self.integer(&at.member("ttlTicks")),
            keep_ticks: self.integer(&at.member("keepTicks")),
        }
    }
}

/// Whether a path may repeat a member's name: one that keeps a grammar of §3.
fn safe_name(name: &str) -> bool {
    is_literal(name) || is_field_name(name)
}
