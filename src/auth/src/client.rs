//! Who asks: public clients, by what they say of themselves and what of it is verified (§5).

use crate::fault::Fault;
use crate::redirect::Redirect;
use serde_json::{Map, Value};

/// Most redirect URIs of one client.
pub(crate) const REDIRECTS_MAX: usize = 16;

/// Longest name of a client, in Unicode code points.
const NAME_MAX: usize = 100;

/// A client of the authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// Its `client_id`.
    pub(crate) id: String,
    /// What it calls itself. Nobody verified it.
    pub(crate) name: Option<String>,
    /// The domain that its metadata was fetched from.
    pub(crate) domain: Option<String>,
    redirects: Vec<Redirect>,
}

impl Client {
    /// Reads client metadata (RFC 7591 §2). Members that mean nothing here are left alone; what this server cannot do is
    /// answered with what it can.
    pub(crate) fn parse(
        id: String,
        domain: Option<String>,
        metadata: &Map<String, Value>,
    ) -> Result<Self, Fault> {
        let redirects = redirects(metadata.get("redirect_uris"))?;
        let name = match metadata.get("client_name") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) if name.chars().take(NAME_MAX + 1).count() <= NAME_MAX => {
                readable(name)
            }
            Some(_) => return Err(Fault::InvalidClientMetadata),
        };
        Ok(Self { id, name, domain, redirects })
    }

    /// Whether an authorization may return there.
    pub(crate) fn returns_to(&self, redirect: &str) -> bool {
        self.redirects.iter().any(|registered| registered.matches(redirect))
    }

    /// Its redirect URIs as it gave them.
    pub(crate) fn redirects(&self) -> Vec<&str> {
        self.redirects.iter().map(Redirect::as_str).collect()
    }
}

fn redirects(listed: Option<&Value>) -> Result<Vec<Redirect>, Fault> {
    let listed = listed.and_then(Value::as_array).ok_or(Fault::InvalidRedirectUri)?;
    if listed.is_empty() || listed.len() > REDIRECTS_MAX {
        return Err(Fault::InvalidRedirectUri);
    }
    let parsed = listed.iter().map(|uri| uri.as_str().and_then(Redirect::parse));
    parsed.collect::<Option<_>>().ok_or(Fault::InvalidRedirectUri)
}

/// The name without what could make it look like something else: controls and marks that are not seen.
fn readable(name: &str) -> Option<String> {
    let unseen = |c: char| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let seen: String = name.chars().filter(|c| !c.is_control() && !unseen(*c)).collect();
    let seen = seen.trim();
    (!seen.is_empty()).then(|| seen.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn client(metadata: &Value) -> Result<Client, Fault> {
        Client::parse("id".into(), None, metadata.as_object().unwrap())
    }

    #[test]
    fn a_client_without_a_good_redirect_is_refused() {
        let many = vec!["https://app.example/"; REDIRECTS_MAX + 1];
        for redirects in [
            json!(null),
            json!([]),
            json!("https://app.example/"),
            json!(["https://app.example/", 1]),
            json!(["https://app.example/", "javascript:alert(1)"]),
            json!(many),
        ] {
            assert_eq!(client(&json!({ "redirect_uris": redirects })), Err(Fault::InvalidRedirectUri));
        }
        assert!(client(&json!({ "redirect_uris": ["http://localhost/cb"], "logo_uri": 7 })).is_ok());
    }

    #[test]
    fn names_are_bounded_and_hide_nothing() {
        let named = |name: Value| {
            client(&json!({ "redirect_uris": ["https://app.example/"], "client_name": name }))
                .map(|it| it.name)
        };
        assert_eq!(named(json!("Codex")), Ok(Some("Codex".into())));
        assert_eq!(named(json!("Co\u{202e}dex\n\u{200b}")), Ok(Some("Codex".into())));
        assert_eq!(named(json!("\u{200b} ")), Ok(None));
        for bad in [json!("x".repeat(NAME_MAX + 1)), json!(["x"]), json!(1)] {
            assert_eq!(named(bad), Err(Fault::InvalidClientMetadata));
        }
    }
}
