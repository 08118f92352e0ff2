//! A game with its MCP endpoint and authorization server, and the people and programs that come to it, as HTTP.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "helpers of which every test file uses its own part; a test fails by panicking"
)]

pub mod internet;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{HeaderMap, Method, Request, StatusCode};
use playerthree_agent_command::AgentCommand;
use playerthree_auth::{AuthConfig, AuthorizationServer, Fetcher, Owners, SignedIn, Site};
use playerthree_host::{Agents, PolicyPlaces};
use playerthree_mcp::{Legacy, Limits, McpConfig, SignIn};
use playerthree_sandbox::Workers;
use playerthree_session::{CommanderId, CommanderKind, Draft, Isolation, Metadata, OwnerId, Surface};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;
use url::form_urlencoded;

pub const HOST: &str = "127.0.0.1:2567";
pub const ISSUER: &str = "http://127.0.0.1:2567";
pub const RESOURCE: &str = "http://127.0.0.1:2567/mcp";
pub const REDIRECT: &str = "http://127.0.0.1:3000/callback";

/// RFC 7636, appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A game whose people say who they are.
struct ByCookie;

impl Owners for ByCookie {
    fn signed_in(&self, headers: &HeaderMap) -> Option<SignedIn> {
        let name = headers.get("cookie")?.to_str().ok()?.strip_prefix("owner=")?;
        Some(SignedIn { owner: OwnerId(name.into()), display: name.to_owned() })
    }

    fn sign_in_path(&self) -> &'static str {
        "/sign-in"
    }
}

pub fn owner(name: &str) -> OwnerId {
    OwnerId(name.into())
}

pub struct House {
    pub agents: Arc<Agents>,
    pub auth: Arc<AuthorizationServer>,
    pub surface: Arc<Surface>,
    router: Router,
}

/// One answer, whole.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Status and OAuth error code.
    pub fn error(&self) -> (u16, String) {
        (self.status.as_u16(), self.json()["error"].as_str().unwrap_or_default().to_owned())
    }
}

/// A form with some of its pairs replaced; an empty value takes one out.
pub fn form<'a>(base: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> String {
    let mut pairs: BTreeMap<&str, &str> = base.iter().copied().collect();
    pairs.extend(changes.iter().copied());
    pairs.retain(|_, value| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

impl House {
    pub fn new() -> Self {
        Self::with_rate(10_000)
    }

    pub fn with_rate(requests_per_second: u32) -> Self {
        Self::with(requests_per_second, Fetcher::public())
    }

    /// A house that fetches the documents of clients like this.
    pub fn fetching(fetcher: Fetcher) -> Self {
        Self::with(10_000, fetcher)
    }

    fn with(requests_per_second: u32, fetcher: Fetcher) -> Self {
        let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
        let agents = Arc::new(Agents::new(PolicyPlaces::new(1, Workers::of_this_program())));
        let site = Site::loopback(HOST);
        let sign_in = vec![SignIn { host: site.host().into(), resource_metadata: site.resource_metadata() }];
        let mcp = McpConfig {
            origins: Vec::new(),
            hosts: vec![HOST.into(), "unsigned.example".into()],
            sign_in,
            legacy: Legacy::Stateless,
            limits: Limits::default(),
            shutdown: CancellationToken::new(),
        };
        let config = AuthConfig {
            sites: vec![site, Site::https("game.example")],
            trusted_proxies: 0,
            requests_per_second,
            surfaces: vec![Arc::clone(&surface)],
            fetcher,
        };
        let auth = Arc::new(AuthorizationServer::new(config, Arc::clone(&agents), ByCookie));
        let router = playerthree_mcp::router(mcp, Arc::clone(&agents))
            .merge(playerthree_auth::router(Arc::clone(&auth)));
        Self { agents, auth, surface, router }
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        Answer { status: head.status, headers: head.headers, text: String::from_utf8(body.to_vec()).unwrap() }
    }

    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(request(Method::GET, path, headers, String::new())).await
    }

    pub async fn post(&self, path: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
        all.extend_from_slice(headers);
        self.send(request(Method::POST, path, &all, body)).await
    }

    pub async fn register(&self, metadata: Value) -> Answer {
        let headers = [("content-type", "application/json")];
        self.send(request(Method::POST, "/oauth/register", &headers, metadata.to_string())).await
    }

    /// A registered client's id.
    pub async fn client(&self) -> String {
        let answer = self.register(json!({ "client_name": "Tester", "redirect_uris": [REDIRECT] })).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        answer.json()["client_id"].as_str().unwrap().to_owned()
    }

    pub fn add_commander(&self, of: &str, name: &str) -> CommanderId {
        let roles = vec!["ground".into(), "air".into()];
        let draft = Draft {
            name: name.into(),
            roles,
            isolation: Isolation::Independent,
            kind: CommanderKind::Agent,
            metadata: Metadata::default(),
        };
        self.agents.commanders().add(&self.surface, &owner(of), draft).unwrap().0
    }

    /// The consent page of an owner, or what they get instead.
    pub async fn ask(&self, of: &str, query: &str) -> Answer {
        self.get(&format!("/oauth/authorize?{query}"), &[("cookie", &format!("owner={of}"))]).await
    }

    /// Sends the form of a consent page.
    pub async fn answer(&self, of: &str, form: String) -> Answer {
        let headers = [("cookie", &*format!("owner={of}")), ("origin", ISSUER)];
        self.post("/oauth/authorize", &headers, form).await
    }

    /// Allows a request for some roles of a commander. Returns the code.
    pub async fn allow(&self, of: &str, query: &str, commander: &CommanderId, roles: &[&str]) -> String {
        let page = self.ask(of, query).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        let answer = self.answer(of, decision(&page, "allow", commander, roles)).await;
        parameter(&address(&answer), "code").unwrap_or_else(|| panic!("{}", answer.text))
    }

    /// Goes the whole way.
    pub async fn connect(&self, of: &str, commander: &CommanderId, roles: &[&str]) -> Held {
        let client = self.client().await;
        let code = self.allow(of, &query(&client, &[]), commander, roles).await;
        let answer = self.post("/oauth/token", &[], redemption(&client, &code, &[])).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        Held::of(client, &answer)
    }

    /// A tool call at the MCP endpoint.
    pub async fn tool(&self, token: &str, name: &str, arguments: Value) -> Answer {
        let bearer = format!("Bearer {token}");
        self.call("/mcp", &[("authorization", &bearer)], name, arguments).await
    }

    pub async fn call(&self, path: &str, headers: &[(&str, &str)], name: &str, arguments: Value) -> Answer {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut all = vec![
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", name),
        ];
        all.extend_from_slice(headers);
        self.send(request(Method::POST, path, &all, body.to_string())).await
    }

    /// Whether a token is good at the MCP endpoint.
    pub async fn is_good(&self, token: &str) -> bool {
        self.tool(token, "game_briefing", json!({})).await.status == StatusCode::OK
    }
}

/// What a client holds after the whole way.
pub struct Held {
    pub client: String,
    pub access: String,
    pub refresh: String,
}

impl Held {
    pub fn of(client: String, answer: &Answer) -> Self {
        let text = |member: &str| answer.json()[member].as_str().unwrap().to_owned();
        Self { client, access: text("access_token"), refresh: text("refresh_token") }
    }

    /// The form that rotates the refresh token.
    pub fn rotation(&self, changes: &[(&str, &str)]) -> String {
        let base = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &*self.refresh),
            ("client_id", &*self.client),
            ("resource", RESOURCE),
        ];
        form(&base, changes)
    }
}

/// The query of an authorization request.
pub fn query(client: &str, changes: &[(&str, &str)]) -> String {
    let base = [
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("resource", RESOURCE),
        ("state", "s t"),
    ];
    form(&base, changes)
}

/// The form that redeems a code.
pub fn redemption(client: &str, code: &str, changes: &[(&str, &str)]) -> String {
    let base = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("code_verifier", VERIFIER),
        ("redirect_uri", REDIRECT),
        ("client_id", client),
        ("resource", RESOURCE),
    ];
    form(&base, changes)
}

/// The form of a consent page, filled in.
pub fn decision(page: &Answer, decision: &str, commander: &CommanderId, roles: &[&str]) -> String {
    let (request, proof) = (hidden(page, "request"), hidden(page, "proof"));
    let boxes: Vec<String> = roles.iter().map(|role| format!("role.{}.{role}", commander.0)).collect();
    let mut pairs = vec![
        ("request", &*request),
        ("proof", &*proof),
        ("decision", decision),
        ("commander", &*commander.0),
    ];
    pairs.extend(boxes.iter().map(|name| (&**name, "on")));
    form(&pairs, &[])
}

/// The value of a hidden field.
pub fn hidden(page: &Answer, name: &str) -> String {
    between(&page.text, &format!("name=\"{name}\" value=\""), "\"")
}

/// The address that a page sends its browser to.
pub fn address(page: &Answer) -> String {
    between(&page.text, "content=\"0;url=", "\"")
}

fn between(text: &str, before: &str, behind: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(behind).unwrap().0.replace("&amp;", "&")
}

/// A parameter of an address.
pub fn parameter(address: &str, name: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    form_urlencoded::parse(query.as_bytes())
        .find(|(found, _)| found == name)
        .map(|(_, value)| value.into_owned())
}

fn request(method: Method, path: &str, headers: &[(&str, &str)], body: String) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", HOST);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body)).unwrap()
}
