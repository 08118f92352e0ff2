//! A commander's calls (§4 "Agent sessions"): routed to the match that seats the lane, else answered in the lobby. A wait
//! that begins in the lobby goes on in the match that seats its lane meanwhile. What the owner told between matches (§12)
//! is delivered with the lane's next answer to `observe` or `wait`, once.

use crate::commanders::Hold;
use crate::grant::CommanderGrant;
use crate::listeners::SaidInLobby;
use crate::practice::{self, Principal};
use crate::ticks::Ticks;
use crate::trial::Trial;
use playerthree_game::{Name, Phase, Seat, SeatFacts};
use playerthree_session::{Call, CallError, Code, Millis, Place, Practice};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl CommanderGrant {
    /// [`Self::call_counting`], for whoever does not ask how far a practice has come.
    ///
    /// Cancel safe: a dropped call is dropped in the match too.
    pub async fn call(&self, role: &Name, method: &str, args: Value) -> Result<Value, CallError> {
        self.call_counting(role, method, args, Ticks::default()).await
    }

    /// Carries out a call of one of the commander's lanes; a practice counts its ticks meanwhile. Fails `bad_token` once the token is over, whatever the call
    /// was doing; `forbidden` for a role that it was not granted.
    ///
    /// Cancel safe: a dropped call is dropped in the match too.
    pub async fn call_counting(
        &self,
        role: &Name,
        method: &str,
        args: Value,
        ticks: Ticks,
    ) -> Result<Value, CallError> {
        let _in_flight = self.begin_call();
        if !self.has(role) {
            return Err(Code::Forbidden.into());
        }
        tokio::select! {
            biased;
            () = self.revoked().cancelled() => Err(Code::BadToken.into()),
            answer = self.route(role, method, args, ticks) => answer,
        }
    }

    async fn route(&self, role: &Name, method: &str, args: Value, ticks: Ticks) -> Result<Value, CallError> {
        if method == "wait"
            && let Some(told) = self.told_an_end(role, &args).await
        {
            return told;
        }
        let answer = match self.place(role)? {
            Place::Seated(hold) => self.in_match(role, &hold, method, args, ticks).await,
            Place::Lobby => self.in_lobby(role, method, &args, ticks).await,
        }?;
        if method == "practice" {
            self.desk.roster.rules().practised(&self.id, role, &answer);
        }
        Ok(answer)
    }

    fn place(&self, role: &Name) -> Result<Place<Hold>, CallError> {
        self.desk.roster.rules().place(&self.id, role).ok_or_else(|| Code::Forbidden.into())
    }

    async fn in_match(
        &self,
        role: &Name,
        hold: &Hold,
        method: &str,
        args: Value,
        ticks: Ticks,
    ) -> Result<Value, CallError> {
        let answer = hold.call(method, args, ticks, &self.credential).await;
        match answer {
            Ok(answer) if is_end(&answer) => {
                self.forget_the_end(role, hold);
                Ok(answer)
            }
            // The hold ended under the call: it is answered where the lane is now (§4 "Mid-match seat assignment"). A
            // room that is gone without a word holds nobody; a hold that was ended may have a newer one after it.
            Err(error) if error.code == Code::BadToken => {
                if !hold.has_ended() {
                    self.desk.roster.rules().release(&self.id, &hold.seat, &hold.match_id, None);
                }
                self.after(role, method)
            }
            answer => answer,
        }
    }

    /// The first terminal result that was kept for a wait. A message comes before it, and it stays for the next wait (§4).
    async fn told_an_end(&self, role: &Name, args: &Value) -> Option<Result<Value, CallError>> {
        while !self.has_messages(role) {
            let ended = self.desk.roster.rules().ended(&self.id, role).next();
            // One that was told already is kept no longer, so the next look finds another one or none.
            let told = self.told_the_end(role, &ended?, args).await;
            if told.is_some() {
                return told;
            }
        }
        None
    }

    /// The terminal result, kept for one wait. Nothing where it was told already, to a caller that never read it or to
    /// another credential of the seat: then the wait is one like any other.
    async fn told_the_end(&self, role: &Name, hold: &Hold, args: &Value) -> Option<Result<Value, CallError>> {
        if let Err(error) = Call::parse(self.surface(), "wait", args) {
            return Some(Err(error));
        }
        let mut last = args.clone();
        last["seconds"] = json!(0);
        // Something else may be told first, such as an owner's message; the end stays for the wait after it.
        let answer = hold.call("wait", last, Ticks::default(), &self.credential).await;
        match answer {
            Err(error) if matches!(error.code, Code::NotInMatch | Code::BadToken) => {
                self.forget_the_end(role, hold);
                None
            }
            Ok(answer) if is_end(&answer) => {
                self.forget_the_end(role, hold);
                Some(Ok(answer))
            }
            answer => Some(answer),
        }
    }

    /// The end of the lane's match was told.
    fn forget_the_end(&self, role: &Name, hold: &Hold) {
        self.desk.roster.rules().told_the_end(&self.id, role, &hold.match_id);
        self.desk.ring(role);
    }

    /// What a call comes to whose seat was lost while it ran.
    fn after(&self, role: &Name, method: &str) -> Result<Value, CallError> {
        match method {
            "wait" | "observe" => self.observed(role),
            "ready" => self.state(role),
            _ => Err(Code::NotInMatch.into()),
        }
    }

    async fn in_lobby(
        &self,
        role: &Name,
        method: &str,
        args: &Value,
        ticks: Ticks,
    ) -> Result<Value, CallError> {
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
            Call::Observe(_) => self.observed(role),
            Call::Ready => {
                self.desk.roster.rules().ready(&self.id, role);
                self.state(role)
            }
            Call::Say(text) => self.say(role, &text),
            Call::Wait(wait) => self.lobby_wait(role, wait.millis, args).await,
            Call::PolicyDeploy(artifact) => self.deploy(role, artifact).await,
            Call::PolicyRollback(version) => self.rollback(role, version).await,
            Call::PolicyStatus => {
                let status = self.desk.roster.rules().policy_status(&self.id, role);
                Ok(json!({ "policy": status.ok_or(Code::Forbidden)? }))
            }
            Call::Publish => self.publish(role),
            Call::Practice(practice) => self.practise(role, *practice, ticks).await,
            // Nothing else can be done without a seat.
            _ => Err(Code::NotInMatch.into()),
        }
    }

    /// The core briefing between matches: no side, and the manifest's own (§4).
    fn briefing(&self, role: &Name) -> Result<Value, CallError> {
        let surface = self.surface();
        let settings = self.desk.roster.rules().settings(&self.id).ok_or(Code::BadToken)?;
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
        let state = self.desk.roster.rules().lobby_state(&self.id, role, self.desk.roster.now());
        state.ok_or_else(|| Code::Forbidden.into())
    }

    /// The lobby state and what the owner told, which is read with it.
    fn observed(&self, role: &Name) -> Result<Value, CallError> {
        let mut state = self.state(role)?;
        if let Some(messages) = self.desk.roster.rules().take_inbox(&self.id, role).take() {
            state["messages"] = messages;
            self.desk.ring(role);
        }
        Ok(state)
    }

    /// The answer of a lobby wait: what [`Self::observed`] says, and whether a message ended it.
    fn waited(&self, role: &Name) -> Result<Value, CallError> {
        let mut state = self.observed(role)?;
        if state.get("messages").is_some() {
            state["wake"] = json!("owner_message");
        }
        Ok(state)
    }

    fn has_messages(&self, role: &Name) -> bool {
        self.desk.roster.rules().has_messages(&self.id, role)
    }

    /// A word to the owner, who hears it in the matches where they are.
    fn say(&self, role: &Name, text: &str) -> Result<Value, CallError> {
        let (owner, text) = self.desk.roster.rules().say(&self.id, role, text, self.desk.roster.now())?;
        let (commander, role) = (self.id.clone(), role.clone());
        self.desk.roster.listeners.tell(&SaidInLobby { owner, commander, role, text });
        Ok(json!({ "ok": true, "tick": 0 }))
    }

    /// A practice between matches (§13): a match of the game's own sides, and of the options that were given.
    async fn practise(&self, role: &Name, practice: Practice, ticks: Ticks) -> Result<Value, CallError> {
        let surface = Arc::clone(self.surface());
        let seat = Seat::new(surface.manifest.teams.first().ok_or(Code::Internal)?, role);
        let (artifact, version) =
            self.desk.roster.rules().practice_artifact(&self.id, role, practice.artifact)?;
        let owner = self.desk.roster.rules().owner(&self.id).cloned().ok_or(Code::BadToken)?;
        let trial = Trial {
            teams: None,
            alliances: None,
            seat,
            artifact,
            version,
            opponent: practice.opponent,
            allies: practice.allies,
            ticks: practice.ticks,
            seed: practice.seed,
            options: practice.options,
            surface,
        };
        let principal = Principal { owner, commander: Some(self.id.clone()) };
        practice::played(&self.desk.roster.places, principal, trial, ticks).await
    }

    /// Waits for a word of the owner's, a decided approval or a new or changed seat, at most so long; a lane that is seated
    /// meanwhile waits on in its match.
    async fn lobby_wait(&self, role: &Name, millis: Millis, args: &Value) -> Result<Value, CallError> {
        let bell = self.desk.bells.get(role).ok_or(Code::Forbidden)?;
        let _place = bell.waits.try_acquire().map_err(|_| Code::Busy)?;
        let mut changed = bell.changed.subscribe();
        let deadline = Instant::now() + Duration::from_millis(millis);
        let since = self.desk.roster.rules().changes(&self.id, role);
        loop {
            // A match may have seated the lane and ended since the last look.
            if let Some(told) = self.told_an_end(role, args).await {
                return told;
            }
            if let Place::Seated(hold) = self.place(role)? {
                let left = deadline.saturating_duration_since(Instant::now());
                let mut args = args.clone();
                args["seconds"] = json!(left.as_secs_f64());
                return self.in_match(role, &hold, "wait", args, Ticks::default()).await;
            }
            if self.has_messages(role) {
                return self.waited(role);
            }
            if self.desk.roster.rules().take_decided(&self.id, role) {
                let mut state = self.state(role)?;
                state["wake"] = json!("approval");
                return Ok(state);
            }
            let timed_out = Instant::now() >= deadline;
            if timed_out || self.desk.roster.rules().has_news(&self.id, role, since) {
                return self.waited(role);
            }
            // A bell that is gone went with its commander, whose token then has ended.
            _ = tokio::time::timeout_at(deadline, changed.changed()).await;
        }
    }
}

/// Whether a wait's answer tells how the match ended for its seat.
fn is_end(answer: &Value) -> bool {
    answer.get("wake").is_some_and(|wake| wake == "ended")
}
