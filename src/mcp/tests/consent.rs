//! Consent to a token (§5 "Token fallback uses consent elicitation where supported; otherwise deliberate installation
//! counts as implicit consent"): who is asked, what their answer does, and that nothing happens before.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a test fails by panicking")]

mod support;

use playerthree_agent_command::AgentCommand;
use playerthree_mcp::Limits;
use playerthree_session::{CommanderId, CommanderKind, Draft, Isolation, Metadata, OwnerId};
use serde_json::{Value, json};
use std::sync::Arc;
use support::doors::Script;
use support::{Answer, Post, Table, meta};

fn asking(elicitation: Value) -> Value {
    let mut meta = meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": elicitation });
    meta
}

fn act(meta: Value, answers: Option<Value>) -> Value {
    let arguments = json!({ "intents": [{ "kind": "resign" }] });
    let mut params = json!({ "name": "game_act", "arguments": arguments, "_meta": meta });
    if let Some(answers) = answers {
        params["inputResponses"] = answers;
    }
    params
}

fn yes() -> Value {
    json!({ "consent": { "action": "accept", "content": { "allow": true } } })
}

fn is_question(answer: &Answer) -> bool {
    answer.result()["resultType"] == "input_required"
}

struct Seated {
    table: Table,
    session: String,
    kept: tokio::sync::mpsc::UnboundedReceiver<playerthree_host::AgentCall>,
}

impl Seated {
    /// A claimed seat whose match answers nothing: whatever reaches it is kept.
    async fn new() -> Self {
        let (script, kept) = Script::new(|_, _| None);
        let table = Table::scripted(script);
        let session = table.claim().await;
        Self { table, session, kept }
    }

    async fn send(&self, params: Value) -> Answer {
        self.table.send(self.table.post("tools/call", params).with("mcp-session-id", &self.session)).await
    }

    /// Sends a call that has to reach the match, which has it answered.
    async fn carried_out(&mut self, params: Value) -> Answer {
        let post = self.table.post("tools/call", params).with("mcp-session-id", &self.session);
        let answering = async {
            let call = self.kept.recv().await.unwrap();
            call.reply.send(Ok(json!({ "acks": [] }))).unwrap();
        };
        let (answer, ()) = tokio::join!(self.table.send(post), answering);
        answer
    }
}

#[tokio::test]
async fn a_client_that_can_ask_asks_before_its_first_call_is_carried_out_and_once() {
    let mut seated = Seated::new().await;
    for elicitation in [json!({}), json!({ "form": {} })] {
        let asked = seated.send(act(asking(elicitation), None)).await;
        assert!(is_question(&asked), "{}", asked.text);
        let question = &asked.result()["inputRequests"]["consent"];
        assert_eq!(question["method"], "elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("Tic-tac-toe") && message.contains("player"), "{message}");
        assert!(seated.kept.try_recv().is_err(), "nothing is carried out before");
    }
    let answer = seated.carried_out(act(asking(json!({})), Some(yes()))).await;
    assert_eq!(answer.structured(), json!({ "acks": [] }));
    let again = seated.carried_out(act(asking(json!({})), None)).await;
    assert_eq!(again.structured(), json!({ "acks": [] }));
}

#[tokio::test]
async fn a_no_fails_the_call_with_consent_declined_and_the_next_call_asks_again() {
    let mut seated = Seated::new().await;
    for answer in [
        json!({ "consent": { "action": "decline" } }),
        json!({ "consent": { "action": "cancel" } }),
        json!({ "consent": { "action": "accept" } }),
        json!({ "consent": { "action": "accept", "content": { "allow": false } } }),
        json!({ "consent": { "action": "accept", "content": { "allow": "true" } } }),
        json!({ "consent": "yes" }),
    ] {
        let declined = seated.send(act(asking(json!({})), Some(answer.clone()))).await;
        assert_eq!(declined.tool_error(), Some(json!({ "error": "consent_declined" })), "{answer}");
        assert!(is_question(&seated.send(act(asking(json!({})), None)).await));
    }
    assert!(is_question(&seated.send(act(asking(json!({})), Some(json!({ "other": {} })))).await));
    assert!(seated.kept.try_recv().is_err());
}

#[tokio::test]
async fn a_client_that_cannot_ask_has_its_token_as_consent() {
    let mut seated = Seated::new().await;
    for meta in [meta(), asking(json!({ "url": {} }))] {
        let answer = seated.carried_out(act(meta, None)).await;
        assert_eq!(answer.structured(), json!({ "acks": [] }));
    }
}

#[tokio::test(start_paused = true)]
async fn the_question_counts_against_the_rate_and_is_asked_of_calls_with_progress_too() {
    let seated = Seated::new().await;
    let mut meta = asking(json!({}));
    meta["progressToken"] = json!("p");
    let wait = json!({ "name": "game_wait", "arguments": { "seconds": 60 }, "_meta": meta });
    assert!(is_question(&seated.send(wait).await));
    for _ in 0..19 {
        assert!(is_question(&seated.send(act(asking(json!({})), None)).await));
    }
    let limited = seated.send(act(asking(json!({})), None)).await;
    assert_eq!(limited.tool_error(), Some(json!({ "error": "rate_limited" })));
}

/// §5: a commander's token is a token fallback too; a sign-in had its consent page.
#[tokio::test]
async fn a_commanders_token_asks_and_a_sign_in_does_not() {
    let door = Arc::new(Script::acks());
    let table = Table::new(Arc::new(AgentCommand), "red", door, Limits::default());
    let ann = OwnerId("ann".into());
    let draft = Draft {
        name: "Falcon".into(),
        roles: vec!["ground".into()],
        isolation: Isolation::Independent,
        kind: CommanderKind::Agent,
        metadata: Metadata::default(),
    };
    let (id, token) = table.agents.commanders().add(&table.surface, &ann, draft).unwrap();
    let wait = || json!({ "name": "game_wait", "arguments": { "seconds": 0 }, "_meta": asking(json!({})) });
    let asked = table.send(Post::new(token.reveal(), "tools/call", wait())).await;
    assert!(is_question(&asked));
    let message = asked.result()["inputRequests"]["consent"]["params"]["message"].to_string();
    assert!(
        message.contains("ground") && !message.contains("Falcon"),
        "an owner's own words are not repeated"
    );

    let signed_in = connected(&table, &ann, &id);
    let answer = table.send(Post::new(&signed_in, "tools/call", wait())).await;
    assert_eq!(answer.structured()["phase"], "lobby");
}

/// An access token of a sign-in connection.
fn connected(table: &Table, owner: &OwnerId, id: &CommanderId) -> String {
    let commanders = table.agents.commanders();
    let grant = commanders.connect(&table.surface, owner, id, &["ground".into()]).unwrap();
    let (token, _) = commanders.issue(&grant, std::time::Duration::from_secs(3600));
    token.reveal().to_owned()
}
