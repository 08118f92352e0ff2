//! One authorization request (RFC 6749 §4.1.1 with PKCE, resource indicators and issuer identification), judged. What is
//! wrong with the client or its redirect is shown to the person and sent nowhere; the rest goes back to the client.

use crate::client::Client;
use crate::fault::Fault;
use crate::params::Params;
use crate::pkce::Challenge;
use crate::site::Site;
use std::sync::Arc;
use url::form_urlencoded;

/// A request that an owner may be asked about.
pub(crate) struct AuthorizationRequest {
    pub(crate) client: Arc<Client>,
    pub(crate) challenge: Challenge,
    pub(crate) back: Return,
}

/// Where an answer goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Return {
    pub(crate) redirect: String,
    state: Option<String>,
    issuer: String,
}

impl Return {
    /// The way back of a request, if its client registered it.
    pub(crate) fn of(client: &Client, params: &Params, site: &Site) -> Option<Self> {
        let redirect = params.get("redirect_uri").filter(|redirect| client.returns_to(redirect))?;
        let state = params.get("state").map(str::to_owned);
        Some(Self { redirect: redirect.to_owned(), state, issuer: site.issuer().to_owned() })
    }

    /// The address that hands a code over.
    pub(crate) fn with_code(&self, code: &str) -> String {
        self.with("code", code)
    }

    /// The address that says why there is none.
    pub(crate) fn with_error(&self, fault: Fault) -> String {
        self.with("error", fault.code())
    }

    /// RFC 9207: every answer names its issuer.
    fn with(&self, name: &str, value: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair(name, value);
        if let Some(state) = &self.state {
            query.append_pair("state", state);
        }
        query.append_pair("iss", &self.issuer);
        let joint = if self.redirect.contains('?') { '&' } else { '?' };
        format!("{}{joint}{}", self.redirect, query.finish())
    }
}

impl AuthorizationRequest {
    /// Judges a request of a client whose way back is known. A fault goes back that way.
    pub(crate) fn judge(
        client: Arc<Client>,
        back: Return,
        params: &Params,
        site: &Site,
    ) -> Result<Self, Fault> {
        match params.get("response_type") {
            Some("code") => {}
            Some(_) => return Err(Fault::UnsupportedResponseType),
            None => return Err(Fault::InvalidRequest),
        }
        let challenge = Challenge::of(params)?;
        if !params.get("resource").is_some_and(|resource| site.is_resource(resource)) {
            return Err(Fault::InvalidTarget);
        }
        Ok(Self { client, challenge, back })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    type Pairs = Vec<(&'static str, &'static str)>;

    fn judged(change: impl FnOnce(&mut Pairs)) -> Option<Result<String, Fault>> {
        let site = Site::loopback("127.0.0.1:2567");
        let metadata = json!({ "redirect_uris": ["https://app.example/cb?x=1", "http://127.0.0.1/cb"] });
        let client = Client::parse("one".into(), None, metadata.as_object().unwrap()).unwrap();
        let mut pairs = vec![
            ("response_type", "code"),
            ("redirect_uri", "https://app.example/cb?x=1"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("resource", "http://127.0.0.1:2567/mcp"),
            ("state", "a&b"),
        ];
        change(&mut pairs);
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let params = Params::parse(&form).unwrap();
        let back = Return::of(&client, &params, &site)?;
        let request = AuthorizationRequest::judge(Arc::new(client), back, &params, &site);
        Some(request.map(|request| request.back.with_code("C")))
    }

    fn set(pairs: &mut Pairs, name: &'static str, value: &'static str) {
        pairs.retain(|(other, _)| *other != name);
        pairs.push((name, value));
    }

    /// RFC 9207 and RFC 6749 §4.1.2: an answer has the state and the issuer, and keeps the redirect's own query.
    #[test]
    fn an_answer_goes_where_the_client_registered_with_state_and_issuer() {
        let answer = "https://app.example/cb?x=1&code=C&state=a%26b&iss=http%3A%2F%2F127.0.0.1%3A2567";
        assert_eq!(judged(|_| {}), Some(Ok(answer.into())));
        let loopback = judged(|pairs| set(pairs, "redirect_uri", "http://127.0.0.1:5/cb"));
        assert!(loopback.unwrap().unwrap().starts_with("http://127.0.0.1:5/cb?code=C&"));
    }

    /// §5: an address that was not registered gets no answer at all.
    #[test]
    fn a_foreign_redirect_has_no_way_back() {
        for uri in ["https://evil.example/cb", "https://app.example/cb", "http://127.0.0.1:5/other", ""] {
            assert_eq!(judged(|pairs| set(pairs, "redirect_uri", uri)), None, "{uri}");
        }
    }

    #[test]
    fn what_else_is_wrong_goes_back_to_the_client() {
        for (name, value, fault) in [
            ("response_type", "token", Fault::UnsupportedResponseType),
            ("response_type", "", Fault::InvalidRequest),
            ("code_challenge_method", "plain", Fault::InvalidRequest),
            ("code_challenge", "", Fault::InvalidRequest),
            ("resource", "", Fault::InvalidTarget),
            ("resource", "http://127.0.0.1:2567", Fault::InvalidTarget),
            ("resource", "https://other.example/mcp", Fault::InvalidTarget),
        ] {
            assert_eq!(judged(|pairs| set(pairs, name, value)), Some(Err(fault)), "{name}={value}");
        }
    }
}
