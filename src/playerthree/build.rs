//! Builds the page that the program embeds: installs the JavaScript packages of `client-sdk/js` where they are missing
//! or older than their lock file, and lets `page/build.mjs` write the files into `OUT_DIR`. It changes no tracked file.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("cargo::error={}", problem.replace('\n', " | "));
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let client = here.join("../../client-sdk/js");
    for source in [here.join("page"), client.join("src"), client.join("package-lock.json")] {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    install(&client)?;
    let mut bundle = Command::new("node");
    bundle.arg(here.join("page/build.mjs")).arg(variable("OUT_DIR")?);
    run(&mut bundle, "the page could not be built")
}

/// Installs the packages where npm's own record of what it installed is missing or older than the lock file.
fn install(client: &Path) -> Result<(), String> {
    let wanted = changed(&client.join("package-lock.json"));
    let installed = changed(&client.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= wanted {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(client);
    run(
        &mut npm,
        "the page's JavaScript packages could not be installed; check the network, or run `npm ci` in client-sdk/js",
    )
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("{name}: {error}"))
}

/// Runs a program of Node.js. What it prints is shown only where it fails.
fn run(command: &mut Command, failure: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        format!("`{program}` cannot be run ({error}): the page is built with Node.js; install Node.js 20 or newer, which brings npm")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let printed = [output.stdout, output.stderr].concat();
    Err(format!("{failure}\n{}", String::from_utf8_lossy(&printed).trim()))
}
