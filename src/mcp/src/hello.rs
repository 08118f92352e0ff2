//! What a client is told about a mount before anything else: name, version, revision, what it offers and the reading
//! order.

use crate::guard::{Method, OLDER};
use crate::surface::STATIC_TTL_MS;
use rmcp::model::{
    CacheScope, DiscoverResult, Implementation, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use std::borrow::Cow;

/// The revisions that a request may agree on: the one that is spoken, and for a handshake of the older era those of it.
pub(crate) fn versions(method: Method) -> Cow<'static, [ProtocolVersion]> {
    match method {
        Method::Initialize => Cow::Borrowed(&OLDER),
        _ => Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]),
    }
}

/// What a game's endpoint offers: tools, resources that can be listened to, and skills as files (§4, §17). A client of the
/// older era can neither listen nor list skills.
pub(crate) fn game(method: Method) -> ServerCapabilities {
    let offered = ServerCapabilities::builder().enable_tools().enable_resources();
    match method {
        Method::Initialize => offered.build(),
        _ => offered.enable_resources_subscribe().enable_skills().build(),
    }
}

/// What a toolbox offers.
pub(crate) fn toolbox() -> ServerCapabilities {
    ServerCapabilities::builder().enable_tools().build()
}

/// The server with the offers and instructions of one mount.
pub(crate) fn info(offered: ServerCapabilities, instructions: &str) -> ServerConfig {
    let mut info = ServerConfig::new(offered);
    info.server_info = Implementation::new("playerthree", env!("CARGO_PKG_VERSION"));
    info.instructions = Some(instructions.to_owned());
    info
}

/// The answer to `server/discover`.
pub(crate) fn discovered(info: ServerConfig) -> DiscoverResult {
    let mut result = DiscoverResult::from_server_info(versions(Method::Discover).into_owned(), info);
    result.ttl_ms = STATIC_TTL_MS;
    result.cache_scope = CacheScope::Private;
    result
}
