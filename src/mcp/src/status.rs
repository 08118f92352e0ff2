//! Status resources (§17): for each role of each credential an address that nobody else can guess, and the status of the
//! seat behind it. An address proves nothing: whoever shows one is asked for their credential all the same.

use crate::agent::Agent;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use playerthree_game::Name;
use playerthree_host::Token;
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// What every address begins with.
const PREFIX: &str = "playerthree://seat/";

/// The addresses of this process.
pub(crate) struct Statuses {
    /// What they are derived with; credentials end with the process, and so does this.
    key: Hmac<Sha256>,
}

impl Statuses {
    /// Addresses under a key of its own.
    pub(crate) fn new() -> Self {
        #[expect(clippy::expect_used, reason = "an HMAC takes a key of any length")]
        let key = Hmac::new_from_slice(Token::mint().0.reveal().as_bytes()).expect("a key");
        Self { key }
    }

    /// The address of one role of a credential.
    fn uri(&self, agent: &Agent, role: &str) -> String {
        let mut mac = self.key.clone();
        mac.update(&agent.credential().to_bytes());
        mac.update(role.as_bytes());
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    /// Which of its roles this address of a credential is for, if it is one of its own now.
    pub(crate) fn role_of(&self, agent: &Agent, uri: &str) -> Option<Name> {
        if !uri.starts_with(PREFIX) {
            return None;
        }
        let is_its = |role: &Name| bool::from(self.uri(agent, role).as_bytes().ct_eq(uri.as_bytes()));
        agent.commands().into_iter().map(|(role, _)| role).find(is_its)
    }

    /// A credential's own resources: one for each role that it holds.
    pub(crate) fn list(&self, agent: &Agent) -> impl Iterator<Item = Resource> {
        agent.commands().into_iter().map(|(role, _)| {
            Resource::new(self.uri(agent, &role), format!("status-{role}"))
                .with_title(format!("Status of {role}"))
                .with_description(
                    "Phase, side, tick, outcome, newest approval and number of unread owner messages. \
                     Listen to it to learn when to call game_wait.",
                )
                .with_mime_type("application/json")
        })
    }

    /// What a credential reads at one of its addresses.
    pub(crate) fn read(&self, agent: &Agent, uri: &str) -> Option<ReadResourceResult> {
        let status = agent.status(&self.role_of(agent, uri)?)?;
        let text = ResourceContents::text(status.to_string(), uri).with_mime_type("application/json");
        Some(ReadResourceResult::new(vec![text]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }
}
