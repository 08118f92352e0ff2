//! A manifest that passed every check, and what the rest of the program asks of one.
//!
//! Only [`Manifest::check`] makes one, so whoever holds it need not check again.

use crate::{IntentKind, Manifest, Name};
use playerthree_schema::{Described, Fields, Invalid, Kind, Merge, PathPart, Schema, SchemaCode};
use serde_json::Value;
use std::ops::Deref;
use std::sync::Arc;

/// A manifest that passed every check. Cloning shares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    manifest: Manifest,
    /// A union by `kind` of all intents.
    intents: Schema,
    event_kinds: Vec<Name>,
}

impl Deref for Checked {
    type Target = Manifest;

    fn deref(&self) -> &Manifest {
        &self.0.manifest
    }
}

impl Checked {
    pub(crate) fn new(manifest: Manifest) -> Self {
        let variants = manifest.intents.iter().map(|intent| (intent.name.clone(), intent.params.clone()));
        let intents =
            Schema { kind: Kind::Union { tag: "kind".into(), variants: variants.collect() }, doc: None };
        let event_kinds = event_kinds(&manifest.event);
        Self(Arc::new(Inner { manifest, intents, event_kinds }))
    }

    /// The intent kind of this name.
    pub fn intent(&self, name: &str) -> Option<&IntentKind> {
        self.intents.iter().find(|intent| &*intent.name == name)
    }

    /// The kinds that a role may send, in manifest order.
    pub fn intents_of<'a>(&'a self, role: &'a str) -> impl Iterator<Item = &'a IntentKind> {
        self.intents.iter().filter(move |intent| intent.allows(role))
    }

    /// The whole schema of one intent: its kind as a literal and its parameters.
    pub fn intent_schema(&self, intent: &IntentKind) -> Schema {
        intent.schema()
    }

    /// The schema of any intent: a union by `kind`.
    pub fn intents_schema(&self) -> &Schema {
        &self.0.intents
    }

    /// Judges one intent (§3): a declared kind with exactly its parameters. Roles are judged by the caller.
    pub fn validate_intent(&self, value: &Value) -> Result<&IntentKind, Invalid> {
        self.0.intents.validate(value)?;
        let kind = value.get("kind").and_then(Value::as_str).and_then(|kind| self.intent(kind));
        kind.ok_or_else(|| Invalid::at(SchemaCode::Tag, [PathPart::Field("kind".into())]))
    }

    /// Judges one intent and gives it back with its integers in integer form, ready for the game.
    pub fn admit_intent(&self, value: Value) -> Result<(Value, &IntentKind), Invalid> {
        let value = self.0.intents.admit(value)?;
        let intent = self.validate_intent(&value)?;
        Ok((value, intent))
    }

    /// The kinds of event, in declared order.
    pub fn event_kinds(&self) -> &[Name] {
        &self.0.event_kinds
    }

    /// The top-level members of an observation, in schema order (§4 `fields`).
    pub fn observation_keys(&self) -> Vec<Name> {
        top_level(&self.observation)
    }

    /// The declared section names, none without `observationScope`.
    pub fn sections(&self) -> &[Name] {
        self.observation_scope.as_ref().map_or(&[], |scope| &scope.sections)
    }

    /// The declared name of a role.
    pub fn role(&self, name: &str) -> Option<&Name> {
        self.roles.iter().find(|role| &***role == name)
    }

    /// The declared name of a side.
    pub fn team(&self, name: &str) -> Option<&Name> {
        self.teams.iter().find(|team| &***team == name)
    }

    /// Resolves requested sections against a role's defaults (§3 "Observation scope"), in section order.
    /// An unknown or repeated section is `enum`; without `observationScope` any request is.
    pub fn detail(&self, role: &str, requested: &Detail) -> Result<Vec<Name>, Invalid> {
        let Some(scope) = &self.observation_scope else {
            return if *requested == Detail::default() { Ok(Vec::new()) } else { Err(unknown_section(0)) };
        };
        let extra = match requested {
            Detail::All => return Ok(scope.sections.clone()),
            Detail::Sections(names) => names,
        };
        for (index, name) in extra.iter().enumerate() {
            if !scope.sections.contains(name) || extra[..index].contains(name) {
                return Err(unknown_section(index));
            }
        }
        let defaults = scope.defaults.get(role).map_or(&[][..], Vec::as_slice);
        let wanted = |section: &&Name| defaults.contains(section) || extra.contains(section);
        Ok(scope.sections.iter().filter(wanted).cloned().collect())
    }
}

fn unknown_section(index: usize) -> Invalid {
    Invalid::at(SchemaCode::Enum, [PathPart::Field("detail".into()), PathPart::Index(index)])
}

/// Sections asked for in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Every section.
    All,
    /// These, beside the role's defaults.
    Sections(Vec<Name>),
}

impl Default for Detail {
    fn default() -> Self {
        Self::Sections(Vec::new())
    }
}

impl IntentKind {
    /// One kind for each variant of an enum that is tagged by `kind`, with its doc comment, open to each of these roles;
    /// none for any other type. Kinds for fewer roles are narrowed afterwards.
    pub fn all_of<T: Described>(roles: &[Name]) -> Vec<Self> {
        let Kind::Union { tag, variants } = &T::schema().kind else { return Vec::new() };
        let doc =
            |name: &str| T::variants().iter().find(|variant| variant.name == name).map_or("", |v| v.doc);
        let kind = |(name, params): &(Name, Fields)| Self {
            name: name.clone(),
            roles: roles.to_vec(),
            params: params.clone(),
            doc: doc(name).into(),
        };
        if &**tag == "kind" { variants.iter().map(kind).collect() } else { Vec::new() }
    }

    /// Whether a role may send it.
    pub fn allows(&self, role: &str) -> bool {
        self.roles.iter().any(|allowed| &**allowed == role)
    }

    /// The whole schema: `kind` as a literal and the parameters.
    pub fn schema(&self) -> Schema {
        let kind = Schema { kind: Kind::Enum(vec![self.name.clone()]), doc: None };
        let fields: Fields =
            std::iter::once(("kind".into(), kind)).chain(self.params.iter().cloned()).collect();
        Schema { kind: Kind::Obj { fields, merge: Merge::Fields }, doc: Some(self.doc.clone()) }
    }
}

fn event_kinds(event: &Schema) -> Vec<Name> {
    let Kind::Obj { fields, .. } = &event.kind else { return Vec::new() };
    let kind = fields.iter().find(|(name, _)| &**name == "kind").map(|(_, schema)| &schema.kind);
    match kind {
        Some(Kind::Enum(values)) => values.clone(),
        _ => Vec::new(),
    }
}

/// Top-level member names: an object's fields, or a union's tag and every variant's fields once.
pub(crate) fn top_level(schema: &Schema) -> Vec<Name> {
    match &schema.kind {
        Kind::Obj { fields, .. } => fields.iter().map(|(name, _)| name.clone()).collect(),
        Kind::Union { tag, variants } => {
            let mut names = vec![tag.clone()];
            for (name, _) in variants.iter().flat_map(|(_, fields)| fields) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            names
        }
        _ => Vec::new(),
    }
}
