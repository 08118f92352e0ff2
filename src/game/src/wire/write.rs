//! Writing the wire form. Every map keeps its declaration order until it becomes a `Value`, which has none.

use crate::{
    ChatLimits, Control, IntentKind, Manifest, ObservationScope, PolicyLimits, Signals, Skill, StreamLimits,
    Topic,
};
use playerthree_schema::{Fields, Ordered, Schema, t};
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Manifest {
    /// The wire form (§3). Members of a `Value` have no order; [`Self::to_ordered`] keeps it.
    pub fn to_json(&self) -> Value {
        self.to_ordered().into()
    }

    /// The wire form with topics, intents, fields and enums in declaration order.
    pub fn to_ordered(&self) -> Ordered {
        let schema =
            |name, schema: &Option<Schema>| schema.as_ref().map(|schema| (name, schema.to_ordered()));
        let topics = self.topics.iter().map(|topic| (&*topic.name, topic_to_ordered(topic)));
        let intents = self.intents.iter().map(|intent| (&*intent.name, intent_to_ordered(intent)));
        let required = [
            ("id", Ordered::from(&*self.id)),
            ("version", Ordered::from(&*self.version)),
            ("title", Ordered::from(&*self.title)),
            ("doc", Ordered::from(&*self.doc)),
            ("tickRate", self.tick_rate.into()),
            ("teams", literals(&self.teams)),
            ("roles", literals(&self.roles)),
            ("roleDocs", text_map(&self.role_docs)),
            ("topics", Ordered::map(topics)),
            ("intents", Ordered::map(intents)),
            ("observation", self.observation.to_ordered()),
            ("view", self.view.to_ordered()),
            ("directive", self.directive.to_ordered()),
            ("errors", literals(&self.errors)),
            ("event", self.event.to_ordered()),
            ("opponents", literals(&self.opponents)),
            ("report", self.report.to_ordered()),
            ("skills", Ordered::List(self.skills.iter().map(skill_to_ordered).collect())),
            ("control", control_to_ordered(&self.control)),
        ];
        let optional = [
            self.observation_scope.as_ref().map(|scope| ("observationScope", scope_to_ordered(scope))),
            schema("matchData", &self.match_data),
            schema("lobby", &self.lobby),
            schema("observer", &self.observer),
            schema("limits", &self.limits),
            schema("matchOptions", &self.match_options),
            self.signals.as_ref().map(|signals| ("signals", signals_to_ordered(signals))),
        ];
        Ordered::map(required.into_iter().chain(optional.into_iter().flatten()))
    }
}

fn literals(values: &[Arc<str>]) -> Ordered {
    t::literals(values.iter().map(|value| &**value)).to_ordered()
}

fn text_map(map: &BTreeMap<Arc<str>, Arc<str>>) -> Ordered {
    Ordered::map(map.iter().map(|(name, text)| (&**name, Ordered::from(&**text))))
}

fn topic_to_ordered(topic: &Topic) -> Ordered {
    Ordered::map([("summary", Ordered::from(&*topic.summary)), ("text", Ordered::from(&*topic.text))])
}

pub(crate) fn intent_to_ordered(intent: &IntentKind) -> Ordered {
    kind_to_ordered(&intent.roles, &intent.params, &intent.doc)
}

fn kind_to_ordered(roles: &[Arc<str>], params: &Fields, doc: &str) -> Ordered {
    Ordered::map([
        ("roles", Ordered::texts(roles)),
        ("params", Schema::fields_to_ordered(params)),
        ("doc", Ordered::from(doc)),
    ])
}

fn scope_to_ordered(scope: &ObservationScope) -> Ordered {
    let defaults = scope.defaults.iter().map(|(role, sections)| (&**role, Ordered::texts(sections)));
    Ordered::map([("sections", literals(&scope.sections)), ("defaults", Ordered::map(defaults))])
}

fn skill_to_ordered(skill: &Skill) -> Ordered {
    Ordered::map([
        ("name", Ordered::from(&*skill.name)),
        ("description", Ordered::from(&*skill.description)),
        ("files", text_map(&skill.files)),
    ])
}

fn signals_to_ordered(signals: &Signals) -> Ordered {
    let kinds =
        signals.kinds.iter().map(|kind| (&*kind.name, kind_to_ordered(&kind.roles, &kind.params, &kind.doc)));
    let cards = signals.cards.iter().map(|(role, card)| {
        let skills = card.iter().map(|skill| {
            let only = skill.only.iter().map(|(param, values)| (&**param, Ordered::texts(values)));
            let condition = (!skill.only.is_empty()).then(|| ("where", Ordered::map(only)));
            Ordered::map([("kind", Ordered::from(&*skill.kind))].into_iter().chain(condition))
        });
        (&**role, Ordered::List(skills.collect()))
    });
    Ordered::map([("kinds", Ordered::map(kinds)), ("cards", Ordered::map(cards))])
}

/// A rate, in integer form where it is one.
fn rate(value: f64) -> Ordered {
    #[expect(clippy::cast_possible_truncation, reason = "integral and far within the range of i64")]
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Ordered::from(value as i64);
    }
    Number::from_f64(value).map_or(Ordered::Null, Ordered::Number)
}

/// The modes that are on, with their limits (§3 "Control modes and limits").
pub(crate) fn control_to_ordered(control: &Control) -> Ordered {
    let intents = [("perSecond", rate(control.intents.per_second)), ("burst", control.intents.burst.into())];
    let optional = [
        control.sequence.as_ref().map(|sequence| {
            let limits = [
                ("maxSteps", sequence.max_steps.into()),
                ("maxTicksAhead", sequence.max_ticks_ahead.into()),
                ("minSpacingTicks", sequence.min_spacing_ticks.into()),
            ];
            ("sequence", Ordered::map(limits))
        }),
        control.policy.as_ref().map(|policy| ("policy", policy_to_ordered(policy))),
        control.stream.as_ref().map(|stream| ("stream", stream_to_ordered(*stream))),
        control.practice.as_ref().map(|practice| {
            let limits =
                [("maxTicks", practice.max_ticks.into()), ("concurrent", practice.concurrent.into())];
            ("practice", Ordered::map(limits))
        }),
        control.pool.as_ref().map(|pool| {
            ("pool", Ordered::map([("maxPublishedPerPrincipal", pool.max_published_per_principal.into())]))
        }),
        control.chat.as_ref().map(|chat| ("chat", chat_to_ordered(chat))),
        control.pausable.as_ref().map(|pausable| {
            (
                "pausable",
                Ordered::map(pausable.max_pause_seconds.map(|seconds| ("maxPauseSeconds", seconds.into()))),
            )
        }),
        control.signals.as_ref().map(|signals| {
            let limits = [
                ("perSecond", rate(signals.per_second)),
                ("burst", signals.burst.into()),
                ("maxOpen", signals.max_open.into()),
                ("ttlTicks", signals.ttl_ticks.into()),
                ("keepTicks", signals.keep_ticks.into()),
            ];
            ("signals", Ordered::map(limits))
        }),
    ];
    Ordered::map([("intents", Ordered::map(intents))].into_iter().chain(optional.into_iter().flatten()))
}

fn policy_to_ordered(policy: &PolicyLimits) -> Ordered {
    Ordered::map([
        ("runtimes", Ordered::texts(policy.runtimes.iter().map(|runtime| runtime.as_str()))),
        ("hz", rate(policy.hz)),
        ("msPerCall", policy.ms_per_call.into()),
        ("memoryBytes", policy.memory_bytes.into()),
        ("maxArtifactBytes", policy.max_artifact_bytes.into()),
        ("maxIntentsPerCall", policy.max_intents_per_call.into()),
        ("maxLogLines", policy.max_log_lines.into()),
        ("maxLogLineBytes", policy.max_log_line_bytes.into()),
    ])
}

fn stream_to_ordered(stream: StreamLimits) -> Ordered {
    Ordered::map([("maxHz", rate(stream.max_hz)), ("intentsPerTick", stream.intents_per_tick.into())])
}

fn chat_to_ordered(chat: &ChatLimits) -> Ordered {
    let limits = [("maxTellChars", chat.max_tell_chars.into()), ("maxSayChars", chat.max_say_chars.into())];
    let ping = chat.ping.as_ref().map(|ping| ("ping", ping.to_ordered()));
    Ordered::map(limits.into_iter().chain(ping))
}
