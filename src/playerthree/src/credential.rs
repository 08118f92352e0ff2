//! Tokens for commands of the shell, from a file or the environment. None ever stands on a command line, where others
//! could read it.

use anyhow::{Context as _, ensure};
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// Longest file with a token.
const TOKEN_BYTES: u64 = 256;

/// The token in the file, or in the variable where no file is named.
pub(crate) fn read(file: Option<PathBuf>, variable: &str) -> anyhow::Result<String> {
    let token = match file {
        Some(path) => from_file(path).context("cannot read the token file")?,
        None => std::env::var(variable).with_context(|| {
            format!("no token: name a file that holds it with --token-file, or set {variable}")
        })?,
    };
    let token = token.trim();
    ensure!(!token.is_empty(), "the token is empty");
    Ok(token.to_owned())
}

fn from_file(path: PathBuf) -> std::io::Result<String> {
    let mut token = String::new();
    File::open(path)?.take(TOKEN_BYTES).read_to_string(&mut token)?;
    Ok(token)
}
