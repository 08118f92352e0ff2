//! Bounds the module's memory: a sandbox takes no module whose memory could grow without end (§11).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--max-memory=8388608");
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=65536");
    }
}
