//! Names the commit that is being built, and changes that are in no commit.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

fn git(args: &[&str]) -> Option<Vec<u8>> {
    let out = Command::new("git").args(args).output().ok()?;
    out.status.success().then_some(out.stdout)
}

fn line(args: &[&str]) -> Option<String> {
    Some(String::from_utf8(git(args)?).ok()?.trim().to_owned())
}

fn main() {
    let commit = line(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    if let Some(log) = line(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../");
    println!("cargo:rustc-env=SPILLGATE_COMMIT={commit}");
    // Stored runs have the behavior of the engine that made them: what is not committed yet must
    // not pass for what is.
    let changes = git(&["diff", "HEAD", "--", "..", "../../Cargo.lock"]).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    changes.hash(&mut hasher);
    let edits = match changes.is_empty() {
        true => 0,
        false => hasher.finish() as u32 | 1 << 31,
    };
    println!("cargo:rustc-env=SPILLGATE_EDITS={edits}");
}
