//! Who may be loaded: this machine, or another where the user said so. A load tool is a weapon in careless hands.

use anyhow::{Context, bail};
use playerthree_client::{Client, Config, Elsewhere};

/// A client of the server at `url`. Without `allow_remote` every address of its host must be a loopback address, and
/// a matchmaker that sends clients elsewhere is not followed.
pub(super) async fn client(url: &str, allow_remote: bool) -> anyhow::Result<Client> {
    let mut config = Config::default();
    if !allow_remote {
        config.elsewhere = Elsewhere::Refuse;
    }
    let client = Client::with_config(url, config).context("--url")?;
    if !allow_remote {
        ensure_loopback(&client).await?;
    }
    Ok(client)
}

async fn ensure_loopback(client: &Client) -> anyhow::Result<()> {
    let addresses =
        tokio::net::lookup_host(client.address()).await.context("the host of --url does not resolve")?;
    for address in addresses {
        if !address.ip().to_canonical().is_loopback() {
            bail!("--url is not on this machine; --allow-remote loads it all the same");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_this_machine_is_loaded_unless_allowed() {
        for url in
            ["http://127.0.0.1:2567", "ws://127.9.9.9", "http://[::1]:80", "http://[::ffff:127.0.0.1]:80"]
        {
            client(url, false).await.unwrap();
        }
        for url in ["http://192.0.2.1:2567", "http://0.0.0.0:1", "http://[2001:db8::1]:80"] {
            assert!(client(url, false).await.is_err(), "{url}");
            client(url, true).await.unwrap();
        }
    }
}
