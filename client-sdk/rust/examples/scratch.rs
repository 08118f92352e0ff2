//! Scratch.
#[path = "../../../src/playerthree/src/load/mod.rs"]
mod load;
#[cfg(test)]
#[path = "../../../src/playerthree/src/relay.rs"]
mod relay;
#[derive(clap::Parser)]
struct Cli {
    #[command(flatten)]
    load: load::LoadArgs,
}
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    load::run(<Cli as clap::Parser>::parse().load).await
}
