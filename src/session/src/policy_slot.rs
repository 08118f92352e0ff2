//! What the policies of one seat, or of one lane between matches, go through (§7, §11, §20.5): deploys, rollbacks, what
//! the seat was given to begin with, and the one pending approval. The code runs elsewhere.

use crate::approval::{Approval, ApprovalKind, ApprovalStatus};
use crate::library::{Library, Stored};
use crate::policy::{Artifact, PolicyError, Stats, Subject};
use crate::pool::PolicyId;
use crate::seat::OwnerId;
use crate::{CallError, Code};
use playerthree_game::Name;
use serde_json::{Value, json};

/// Where the code of an activation comes from, which says what its trial has to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A new version.
    New,
    /// A retained version that its agent wants back.
    Retained,
    /// A version that the seat was given.
    Given,
    /// A policy of the pool that the seat was given.
    Drafted { id: PolicyId, author: OwnerId },
}

/// A probe that the sandbox must run before code becomes active.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The version that becomes active if the probe succeeds; 0 for a policy of the pool.
    pub version: u32,
    /// Its code.
    pub artifact: Artifact,
    /// The approval that asked for it, if one did.
    pub approval: Option<String>,
    pub(crate) origin: Origin,
}

impl Activation {
    /// Who wrote the code, where that is not the seat's owner.
    pub fn author(&self) -> Option<&OwnerId> {
        match &self.origin {
            Origin::Drafted { author, .. } => Some(author),
            Origin::New | Origin::Retained | Origin::Given => None,
        }
    }

    /// Whether its trial must bring valid intents alone (§20.5). A new version is its author's to improve (§11).
    pub(crate) fn is_strict(&self) -> bool {
        self.origin != Origin::New
    }

    /// What its owner is asked for where they supervise: nothing for what they gave or approved themselves.
    fn unapproved(&self) -> Option<ApprovalKind> {
        match self.origin {
            _ if self.approval.is_some() => None,
            Origin::New => Some(ApprovalKind::Deploy),
            Origin::Retained => Some(ApprovalKind::Rollback),
            Origin::Given | Origin::Drafted { .. } => None,
        }
    }

    fn subject(&self, version: u32) -> Subject {
        match &self.origin {
            Origin::Drafted { id, .. } => Subject::Drafted(*id),
            Origin::New | Origin::Retained | Origin::Given => Subject::Version(version),
        }
    }
}

/// What a trial came to.
#[derive(Debug)]
pub enum Activated {
    /// This version is active; 0 for a policy of the pool.
    Active(u32),
    /// The code failed. What was active stays so.
    Failed(PolicyError),
    /// The code works and still cannot be taken. What was active stays so.
    Refused(CallError),
    /// The code works, and its owner, who supervises since it was asked for, must approve it first; this is the agent's
    /// answer.
    Asked(Value),
}

/// What a deploy or rollback leads to.
#[derive(Debug)]
pub enum Deploy {
    /// Probe it, then report back with `activated`.
    Probe(Activation),
    /// The owner must approve first; this is the agent's answer.
    Approval(Value),
}

/// The active version on its way into the pool (§13).
#[derive(Clone, Debug)]
pub struct Publication {
    /// The version.
    pub version: u32,
    /// Its code.
    pub artifact: Artifact,
    /// The approval that asked for it, if one did.
    pub approval: Option<String>,
}

/// What a call of `publish` leads to.
#[derive(Debug)]
pub enum Publish {
    /// Put it into the pool.
    Now(Publication),
    /// The owner must approve first; this is the agent's answer.
    Approval(Value),
}

/// What an approval that the owner gave leads to.
#[derive(Debug)]
pub enum Approved {
    /// Probe it, then report back with `activated`.
    Probe(Activation),
    /// Put it into the pool, then report back with `published`.
    Publish(Publication),
}

/// Why a seat does not run what it was given (§20.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It was made for another surface.
    Stale,
    /// Its trial failed, or the host stopped it for good.
    Failed,
}

impl Problem {
    /// The name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale_policy",
            Self::Failed => "policy_failed",
        }
    }
}

/// What became of the policy that a seat was given.
#[derive(Debug, Default)]
enum Given {
    /// The seat was given none, or runs it, or its agent deployed another one.
    #[default]
    Settled,
    /// It has to be tried.
    Due(Activation),
    /// It is being tried.
    Trying,
    /// It does not run.
    Problem(Problem),
}

/// What is known of the policies of a seat or a lane.
#[derive(Debug, Default)]
pub(crate) struct PolicySlot {
    /// The active policy's statistics.
    pub(crate) active: Option<Stats>,
    /// What the policy did that was active until the host stopped it, while none is active.
    stopped: Option<Stats>,
    pub(crate) library: Library,
    given: Given,
    approval: Option<Approval>,
    /// Which hold of its seat this is; 0 for a lane between matches. No two requests of one seat share a name (§7).
    pub(crate) hold: u32,
    /// A probe is under way. One at a time, so that answers follow the order of the calls.
    probing: bool,
    /// The first tick of the next think.
    pub(crate) due: u64,
}

impl PolicySlot {
    /// Nothing active, and what this library keeps.
    pub(crate) fn of(library: Library) -> Self {
        Self { library, ..Self::default() }
    }

    /// Gives the seat a version or a policy of the pool, which has to show on this surface that it works (§20.5).
    pub(crate) fn give(&mut self, version: u32, stored: Stored, origin: Origin, surface: &str) {
        self.given = match *stored.surface == *surface {
            true => Given::Due(Activation { version, artifact: stored.artifact, approval: None, origin }),
            false => Given::Problem(Problem::Stale),
        };
    }

    /// What the seat was given and has not been tried.
    pub(crate) fn take_due(&mut self) -> Option<Activation> {
        if self.probing {
            return None;
        }
        match std::mem::replace(&mut self.given, Given::Trying) {
            Given::Due(activation) => {
                self.probing = true;
                Some(activation)
            }
            other => {
                self.given = other;
                None
            }
        }
    }

    /// Why the seat does not run what it was given, if it does not.
    pub(crate) fn problem(&self) -> Option<Problem> {
        match self.given {
            Given::Problem(problem) => Some(problem),
            Given::Settled | Given::Due(_) | Given::Trying => None,
        }
    }

    /// Takes an artifact: for the sandbox to probe, or under supervision for the owner to approve.
    pub(crate) fn deploy(&mut self, artifact: Artifact, supervised: bool) -> Result<Deploy, CallError> {
        let version = self.library.next_version();
        self.start((ApprovalKind::Deploy, Origin::New), version, artifact, supervised)
    }

    /// Takes a retained version back. Fails `invalid` for one that is not kept or was made for another surface.
    pub(crate) fn rollback(
        &mut self,
        version: u32,
        surface: &str,
        supervised: bool,
    ) -> Result<Deploy, CallError> {
        let kept = self.library.version(version).filter(|stored| *stored.surface == *surface);
        let artifact = kept.ok_or(Code::Invalid)?.artifact;
        self.start((ApprovalKind::Rollback, Origin::Retained), version, artifact, supervised)
    }

    fn start(
        &mut self,
        (kind, origin): (ApprovalKind, Origin),
        version: u32,
        artifact: Artifact,
        supervised: bool,
    ) -> Result<Deploy, CallError> {
        if self.probing {
            return Err(Code::Busy.into());
        }
        if supervised {
            return Ok(Deploy::Approval(self.ask(kind, version, artifact)));
        }
        self.probing = true;
        Ok(Deploy::Probe(Activation { version, artifact, approval: None, origin }))
    }

    /// Takes the active version of `active` for the pool, or under supervision for the owner to approve (§7, §13).
    pub(crate) fn publish(
        &mut self,
        (version, artifact): (u32, Artifact),
        supervised: bool,
    ) -> Result<Publish, CallError> {
        if !supervised {
            return Ok(Publish::Now(Publication { version, artifact, approval: None }));
        }
        if self.probing {
            // The request would take the place of the one that is being resolved.
            return Err(Code::Busy.into());
        }
        Ok(Publish::Approval(self.ask(ApprovalKind::Publish, version, artifact)))
    }

    /// Makes a request, in place of the one before.
    fn ask(&mut self, kind: ApprovalKind, version: u32, artifact: Artifact) -> Value {
        let mut id = self.library.next_approval();
        if self.hold > 0 {
            id = format!("{id}_{}", self.hold);
        }
        let approval = Approval { id, kind, version, status: ApprovalStatus::Pending, artifact };
        let request = approval.request();
        self.approval = Some(approval);
        request
    }

    /// The owner's answer to a request. An agreed one comes back to be carried out.
    pub(crate) fn resolve(&mut self, id: &str, approve: bool) -> Result<Option<Approved>, CallError> {
        let next_version = self.library.next_version();
        let approval =
            self.approval.as_mut().filter(|approval| approval.id == id).ok_or(Code::ApprovalNotFound)?;
        match approval.status {
            ApprovalStatus::Pending => {}
            ApprovalStatus::Resolving => return Err(Code::ApprovalPending.into()),
            _ => return Err(Code::ApprovalNotFound.into()),
        }
        if !approve {
            approval.status = ApprovalStatus::Rejected;
            return Ok(None);
        }
        if self.probing {
            return Err(Code::Busy.into());
        }
        let (version, artifact, id) =
            (approval.version, approval.artifact.clone(), Some(approval.id.clone()));
        let origin = match approval.kind {
            ApprovalKind::Publish => {
                approval.status = ApprovalStatus::Resolving;
                return Ok(Some(Approved::Publish(Publication { version, artifact, approval: id })));
            }
            ApprovalKind::Deploy if approval.version != next_version => {
                approval.status = ApprovalStatus::Failed;
                return Err(Code::ApprovalFailed.into());
            }
            ApprovalKind::Rollback if self.library.version(version).is_none() => {
                approval.status = ApprovalStatus::Failed;
                return Err(Code::ApprovalFailed.into());
            }
            ApprovalKind::Deploy => Origin::New,
            ApprovalKind::Rollback => Origin::Retained,
        };
        self.probing = true;
        approval.status = ApprovalStatus::Resolving;
        Ok(Some(Approved::Probe(Activation { version, artifact, approval: id, origin })))
    }

    /// A probe ended. A success makes the code active for the role, if its owner need not be asked by now; a failure leaves
    /// the active one alone.
    pub(crate) fn activated(
        &mut self,
        activation: &Activation,
        probe: Result<(), PolicyError>,
        (role, surface): (&Name, &str),
        supervised: bool,
        tick: u64,
    ) -> Activated {
        self.probing = false;
        let activated = match (probe, activation.unapproved().filter(|_| supervised)) {
            (Ok(()), None) => self.take(activation, role, surface),
            (Ok(()), Some(kind)) => {
                let version = match kind {
                    ApprovalKind::Deploy => self.library.next_version(),
                    ApprovalKind::Rollback | ApprovalKind::Publish => activation.version,
                };
                Activated::Asked(self.ask(kind, version, activation.artifact.clone()))
            }
            (Err(error), _) => Activated::Failed(error),
        };
        let works = matches!(activated, Activated::Active(_));
        self.settle(activation.approval.as_deref(), works);
        match &activated {
            Activated::Active(version) => {
                let runtime = activation.artifact.runtime;
                self.active = Some(Stats::of(activation.subject(*version), runtime));
                self.stopped = None;
                self.given = Given::Settled;
                self.due = tick;
            }
            Activated::Failed(_) | Activated::Refused(_) | Activated::Asked(_) => {
                if matches!(self.given, Given::Trying) {
                    self.given = Given::Problem(Problem::Failed);
                }
            }
        }
        activated
    }

    fn take(&self, activation: &Activation, role: &Name, surface: &str) -> Activated {
        match activation.origin {
            Origin::Drafted { .. } | Origin::Given => Activated::Active(activation.version),
            // Another lane of the commander may have deployed so much meanwhile that it is kept no more.
            Origin::Retained => match self.library.activate(role, activation.version) {
                Ok(()) => Activated::Active(activation.version),
                Err(error) => Activated::Refused(error),
            },
            Origin::New => {
                let stored = Stored::new(activation.artifact.clone(), surface);
                // Another lane of the commander may have deployed meanwhile; what was approved was this number.
                let pinned = activation.approval.is_some().then_some(activation.version);
                match self.library.add(role, stored, pinned) {
                    Ok(version) => Activated::Active(version),
                    Err(error) => Activated::Refused(error),
                }
            }
        }
    }

    /// An approved publication ended.
    pub(crate) fn published(&mut self, publication: &Publication, works: bool) {
        self.settle(publication.approval.as_deref(), works);
    }

    fn settle(&mut self, approval: Option<&str>, works: bool) {
        if let Some(request) = self.request(approval) {
            request.status = if works { ApprovalStatus::Approved } else { ApprovalStatus::Failed };
        }
    }

    fn request(&mut self, id: Option<&str>) -> Option<&mut Approval> {
        self.approval.as_mut().filter(|approval| id == Some(&*approval.id))
    }

    /// The active policy runs no more. What it did can still be read, and its version can be taken back.
    pub(crate) fn stop(&mut self) {
        if let Some(stats) = self.active.take() {
            self.stopped = Some(stats);
            self.given = Given::Problem(Problem::Failed);
        }
    }

    /// There was no place to try the artifact in: an approval for it, or what the seat was given, is as it was.
    pub(crate) fn not_tried(&mut self, activation: &Activation) {
        self.probing = false;
        if let Some(request) = self.request(activation.approval.as_deref()) {
            request.status = ApprovalStatus::Pending;
        }
        if matches!(self.given, Given::Trying) {
            self.given = Given::Due(activation.clone());
        }
    }

    /// The active version's code and number, if it is the owner's own.
    pub(crate) fn active_artifact(&self) -> Option<(u32, Artifact)> {
        match self.active.as_ref()?.subject() {
            Subject::Version(version) => Some((version, self.library.version(version)?.artifact)),
            Subject::Drafted(_) => None,
        }
    }

    /// The policy of the pool that plays the seat.
    pub(crate) fn drafted(&self) -> Option<PolicyId> {
        match self.active.as_ref()?.subject() {
            Subject::Drafted(id) => Some(id),
            Subject::Version(_) => None,
        }
    }

    /// The newest request.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// Whether the newest request has this id.
    pub(crate) fn asked_as(&self, id: &str) -> bool {
        self.approval.as_ref().is_some_and(|approval| approval.id == id)
    }

    /// `PolicyStatus` (§4): null, or the active statistics (or `{version: null}`) with the newest request. Of a policy that
    /// was stopped the statistics are shown without a version: none is active.
    pub(crate) fn status(&self) -> Value {
        let mut shown = status(self.active.as_ref().or(self.stopped.as_ref()), self.approval.as_ref());
        if self.active.is_none() && self.stopped.is_some() {
            shown["version"] = Value::Null;
        }
        shown
    }

    /// The same for a lane that no match seats: the version that would play for the role, of which nothing is counted.
    pub(crate) fn status_between_matches(&self, role: &str) -> Value {
        let active = self.library.active(role);
        let stats = active.map(|(version, stored)| Stats::new(version, stored.artifact.runtime));
        status(stats.as_ref(), self.approval.as_ref())
    }
}

fn status(active: Option<&Stats>, approval: Option<&Approval>) -> Value {
    let mut status = match (active, approval) {
        (None, None) => return Value::Null,
        (None, Some(_)) => json!({ "version": null }),
        (Some(stats), _) => stats.to_json(),
    };
    if let Some(approval) = approval {
        status["approval"] = approval.to_json();
    }
    status
}
