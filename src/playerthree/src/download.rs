//! A log from a server, for the verifier: one GET, bounded in time and size, into a file without a name.
//!
//! No address and no token ever gets into an error: an address may hold a token.

use anyhow::{Context as _, bail, ensure};
use axum::http::Uri;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::time::Duration;

/// Bytes of the longest log: more than the largest inbox can hold.
const LOG_BYTES: u64 = 32 << 30;

/// Bytes of a token file.
const TOKEN_BYTES: u64 = 1024;

/// How long connecting and the first byte of an answer may take, each.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the whole transfer may take.
const TRANSFER: Duration = Duration::from_secs(3600);

/// Where a log is, and what reads it.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    url: String,
    token: Option<String>,
}

/// Whether the name of a log is an address.
pub(crate) fn is_url(name: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| name.starts_with(scheme))
}

/// Fetches the log at `address` into a temporary file, read from its start. The token comes from the file, else from the
/// address.
pub(crate) fn fetch(address: &str, token_file: Option<&Path>) -> anyhow::Result<File> {
    let Source { url, token } = Source::parse(address)?;
    let token = match token_file {
        Some(path) => Some(read_token(path)?),
        None => token,
    };
    let agent = ureq::Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_global(Some(TRANSFER))
        // The token is for this server alone.
        .max_redirects(0)
        .proxy(None)
        .http_status_as_error(false)
        .build()
        .new_agent();
    let mut request = agent.get(&url);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let answer = request.call().map_err(|_| anyhow::anyhow!("the server cannot be reached"))?;
    match answer.status().as_u16() {
        200 => {}
        404 => bail!("there is no such inbox, or the token does not read it"),
        status => bail!("the server answered {status}"),
    }
    let mut log = tempfile::tempfile().context("cannot make a temporary file")?;
    let mut body = answer.into_body().into_reader().take(LOG_BYTES + 1);
    let length = std::io::copy(&mut body, &mut log).context("the log did not arrive whole")?;
    ensure!(length <= LOG_BYTES, "the log is longer than {LOG_BYTES} bytes");
    log.rewind().context("cannot read the temporary file")?;
    Ok(log)
}

fn read_token(path: &Path) -> anyhow::Result<String> {
    let mut token = String::new();
    let file = File::open(path).context("cannot read the token file")?;
    file.take(TOKEN_BYTES + 1).read_to_string(&mut token).context("cannot read the token file")?;
    let token = token.trim();
    ensure!(is_token(token), "the token file does not hold one token");
    Ok(token.to_owned())
}

/// What may stand in a header as a bearer token.
fn is_token(token: &str) -> bool {
    !token.is_empty()
        && token.len() as u64 <= TOKEN_BYTES
        && token.bytes().all(|byte| byte.is_ascii_graphic())
}

impl Source {
    /// Reads an address: an export, an inbox, or the page with a token in its fragment, whose inbox is the token's.
    fn parse(address: &str) -> anyhow::Result<Self> {
        let (address, fragment) = address.split_once('#').unwrap_or((address, ""));
        let token = fragment.strip_prefix("token=").map(str::to_owned);
        ensure!(fragment.is_empty() || token.as_deref().is_some_and(is_token), "the address is malformed");
        let uri: Uri = address.parse().map_err(|_| anyhow::anyhow!("the address is malformed"))?;
        ensure!(uri.scheme_str() == Some("http"), "only http:// is spoken; put a TLS tunnel before it");
        let authority = uri.authority().context("the address is malformed")?;
        ensure!(!authority.as_str().contains('@'), "a token stands behind the address, as #token=TOKEN");
        let path = uri.path().trim_end_matches('/');
        let path =
            match (path.strip_suffix("/pipes"), token.as_deref().and_then(|token| token.split_once('.'))) {
                (Some(_), Some((inbox, _))) => format!("{path}/v1/inboxes/{inbox}/export"),
                _ if is_inbox(path) => format!("{path}/export"),
                _ => path.to_owned(),
            };
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self { url: format!("http://{authority}{path}{query}"), token })
    }
}

/// Whether a path ends in an inbox's id, and not in a part of the inbox.
fn is_inbox(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(above, _)| above.ends_with("/pipes/v1/inboxes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(address: &str) -> (String, Option<String>) {
        let Source { url, token } = Source::parse(address).unwrap();
        (url, token)
    }

    #[test]
    fn an_inbox_an_export_and_the_page_are_the_same_log() {
        let export = "http://h:1/pipes/v1/inboxes/box/export";
        let token = Some("box.secret".to_owned());
        assert_eq!(source(export), (export.to_owned(), None));
        assert_eq!(source("http://h:1/pipes/v1/inboxes/box/"), (export.to_owned(), None));
        assert_eq!(
            source("http://h:1/pipes/v1/inboxes/box#token=box.secret"),
            (export.to_owned(), token.clone())
        );
        assert_eq!(source("http://h:1/pipes/#token=box.secret"), (export.to_owned(), token));
        assert_eq!(source("http://h:1/a.json?b=c"), ("http://h:1/a.json?b=c".to_owned(), None));
    }

    #[test]
    fn other_addresses_are_refused_without_an_echo() {
        for address in [
            "https://h/secret",
            "ftp://h/secret",
            "http://",
            "http://a b/secret",
            "http://secret@h/",
            "http://h/#secret",
        ] {
            let error = format!("{:#}", Source::parse(address).unwrap_err());
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
