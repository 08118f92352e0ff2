//! A commander's calls (§4 "Agent sessions"): routed to the match that seats the lane, else answered in the lobby. A wait
//! that begins in the lobby goes on in the match that seats its lane meanwhile.

use crate::commanders::{CommanderGrant, Hold};
use playerthree_game::{Name, Phase, SeatFacts};
use playerthree_session::{Call, CallError, Code, Millis, Place};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

impl CommanderGrant {
    /// Carries out a call of one of the commander's lanes. Fails `bad_token` once the token is over, whatever the call
    /// was doing; `forbidden` for a role that the commander does not have.
    ///
    /// Cancel safe: a dropped call is dropped in the match too.
    pub async fn call(&self, role: &Name, method: &str, args: Value) -> Result<Value, CallError> {
        tokio::select! {
            biased;
            () = self.revoked().cancelled() => Err(Code::BadToken.into()),
            answer = self.route(role, method, args) => answer,
        }
    }

    async fn route(&self, role: &Name, method: &str, args: Value) -> Result<Value, CallError> {
        match self.place(role)? {
            Place::Seated(hold) => self.in_match(role, &hold, method, args).await,
            Place::Leaving(hold) if method == "wait" => self.last_wait(role, &hold, args).await,
            Place::Leaving(_) | Place::Lobby => self.in_lobby(role, method, &args).await,
        }
    }

    fn place(&self, role: &Name) -> Result<Place<Hold>, CallError> {
        self.roster.rules().place(&self.id, role).ok_or_else(|| Code::Forbidden.into())
    }

    async fn in_match(
        &self,
        role: &Name,
        hold: &Hold,
        method: &str,
        args: Value,
    ) -> Result<Value, CallError> {
        let answer = hold.call(method, args, self.revoked()).await;
        let ended = |answer: &Value| answer.get("wake").is_some_and(|wake| wake == "ended");
        match answer {
            Ok(answer) if ended(&answer) => {
                self.roster.rules().told_the_end(&self.id, role);
                Ok(answer)
            }
            // The hold ended under the call: it is answered where the lane is now (§4 "Mid-match seat assignment"). A
            // room that is gone without a word holds nobody.
            Err(error) if error.code == Code::BadToken => {
                self.roster.rules().release(&self.id, &hold.seat, &hold.match_id, None);
                self.after(role, method)
            }
            answer => answer,
        }
    }

    /// The terminal result, kept for one wait.
    async fn last_wait(&self, role: &Name, hold: &Hold, mut args: Value) -> Result<Value, CallError> {
        Call::parse(self.surface(), "wait", &args)?;
        args["seconds"] = json!(0);
        // Something else may be told first, such as an owner's message; the end stays for the wait after it.
        self.in_match(role, hold, "wait", args).await
    }

    /// What a call comes to whose seat was lost while it ran.
    fn after(&self, role: &Name, method: &str) -> Result<Value, CallError> {
        match method {
            "wait" | "observe" | "ready" => self.state(role),
            _ => Err(Code::NotInMatch.into()),
        }
    }

    async fn in_lobby(&self, role: &Name, method: &str, args: &Value) -> Result<Value, CallError> {
        let surface = self.surface();
        match Call::parse(surface, method, args)? {
            Call::Briefing { topic: None } => self.briefing(role),
            Call::Briefing { topic: Some((topic, page)) } => {
                let page = surface.knowledge.topic(&topic, page, None);
                page.map(|page| page.to_json()).ok_or_else(|| Code::Invalid.into())
            }
            Call::Skill { name, path, offset } => {
                let window = surface.knowledge.skill_window(&name, &path, offset);
                window.map(|window| window.to_json()).ok_or_else(|| Code::Invalid.into())
            }
            Call::Observe(_) => self.state(role),
            Call::Ready => {
                self.roster.rules().ready(&self.id, role);
                self.state(role)
            }
            Call::Wait(wait) => self.lobby_wait(role, wait.millis, args).await,
            Call::PolicyDeploy(artifact) => self.deploy(role, artifact).await,
            Call::PolicyRollback(version) => self.rollback(role, version).await,
            Call::PolicyStatus => {
                let status = self.roster.rules().policy_status(&self.id, role);
                Ok(json!({ "policy": status.ok_or(Code::Forbidden)? }))
            }
            Call::Publish => self.publish(role),
            // Nothing else can be done without a seat.
            _ => Err(Code::NotInMatch.into()),
        }
    }

    /// The core briefing between matches: no side, and the manifest's own (§4).
    fn briefing(&self, role: &Name) -> Result<Value, CallError> {
        let surface = self.surface();
        let settings = self.roster.rules().settings(&self.id).ok_or(Code::BadToken)?;
        let scopes = settings.scopes();
        let facts = SeatFacts {
            phase: Phase::Lobby,
            role,
            team: None,
            teams: &surface.manifest.teams,
            alliances: None,
            scopes: &scopes,
            mandate: settings.mandate(),
        };
        Ok(surface.knowledge.briefing(&facts, &surface.hash))
    }

    fn state(&self, role: &Name) -> Result<Value, CallError> {
        let state = self.roster.rules().lobby_state(&self.id, role, self.now());
        state.ok_or_else(|| Code::Forbidden.into())
    }

    fn now(&self) -> Millis {
        u64::try_from(self.roster.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Waits for a new or changed seat, at most so long; a lane that is seated meanwhile waits on in its match.
    async fn lobby_wait(&self, role: &Name, millis: Millis, args: &Value) -> Result<Value, CallError> {
        let bell = self.bells.get(role).ok_or(Code::Forbidden)?;
        let _place = bell.waits.try_acquire().map_err(|_| Code::Busy)?;
        let mut changed = bell.changed.subscribe();
        let deadline = Instant::now() + Duration::from_millis(millis);
        loop {
            if let Place::Seated(hold) = self.place(role)? {
                let left = deadline.saturating_duration_since(Instant::now());
                let mut args = args.clone();
                args["seconds"] = json!(left.as_secs_f64());
                return self.in_match(role, &hold, "wait", args).await;
            }
            if self.roster.rules().take_decided(&self.id, role) {
                let mut state = self.state(role)?;
                state["wake"] = json!("approval");
                return Ok(state);
            }
            let timed_out = Instant::now() >= deadline;
            if timed_out || self.roster.rules().has_news(&self.id, role) {
                return self.state(role);
            }
            // A bell that is gone went with its commander, whose token then has ended.
            _ = tokio::time::timeout_at(deadline, changed.changed()).await;
        }
    }
}
