//! The fingerprint of a scenario with all its files, and of each of its points.

use serde_json::Value;
use spillgate_core::Digest;

use crate::ctx::{Ctx, digest_bytes};
use crate::node::{self, Node};
use crate::plan::{VariantPlan, WorldPlan};
use crate::schema::Scenario;

/// 32 hexadecimal digits that are the same for the same scenario after
/// overrides and the same content of every file it refers to, and do not depend
/// on the order of keys, on comments, or on how a value was spelled. Files of requirements
/// `beside` the scenario do not count.
pub(crate) fn of(scenario: &Scenario, ctx: &Ctx<'_>, beside: &[String]) -> String {
    let mut digest = Digest::default();
    // A scenario consists of texts, numbers, lists and maps with text keys, so JSON can represent
    // it.
    if let Ok(value) = serde_json::to_value(scenario) {
        json(&mut digest, &value);
    }
    ctx.digest_files(&mut digest, beside);
    digest.hex()
}

/// Keys in alphabetical order, whatever order the map keeps.
fn json(digest: &mut Digest, value: &Value) {
    match value {
        Value::Null => digest.word(0),
        Value::Bool(b) => digest.word(1 + u64::from(*b)),
        Value::Number(n) => {
            digest.word(3);
            digest_bytes(digest, n.to_string().as_bytes());
        }
        Value::String(s) => {
            digest.word(4);
            digest_bytes(digest, s.as_bytes());
        }
        Value::Array(items) => {
            digest.word(5);
            digest.word(items.len() as u64);
            items.iter().for_each(|v| json(digest, v));
        }
        Value::Object(map) => {
            digest.word(6);
            digest.word(map.len() as u64);
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(k, _)| *k);
            for (key, v) in entries {
                digest_bytes(digest, key.as_bytes());
                json(digest, v);
            }
        }
    }
}

/// What of a scenario does not change a run.
const SAID: [&str; 7] = [
    "name", "runs", "sla", "verdicts", "variants", "axes", "study",
];

/// The fingerprint of what is written of a point, as long as its files are not in it. Nothing that
/// this version makes of it counts, so that later versions have the same.
pub(crate) fn of_point(root: &Node, world: &WorldPlan) -> u128 {
    let mut digest = Digest::default();
    if let node::Value::Map(entries) = &root.value {
        let mut entries: Vec<_> = entries.iter().map(|(k, v)| (&*k.name, v)).collect();
        entries.retain(|(key, _)| !SAID.contains(key));
        written(&mut digest, &mut entries);
    }
    // What requirements have measured.
    let gaps = world.gaps.map(|(from, to)| [from.as_ps(), to.as_ps()]);
    gaps.iter().flatten().for_each(|t| digest.word(*t));
    digest.word(world.backlog_percentiles.into());
    digest.value()
}

/// Adds the files that were read to the fingerprints of points, but for those `beside` the
/// scenario.
pub(crate) fn add_files(points: &mut [VariantPlan], ctx: &Ctx<'_>, beside: &[String]) {
    let mut files = Digest::default();
    ctx.digest_files(&mut files, beside);
    let files = files.value();
    for point in points {
        let mut digest = Digest::default();
        for half in [point.text, files] {
            digest.word((half >> 64) as u64);
            digest.word(half as u64);
        }
        point.text = digest.value();
    }
}

fn written(digest: &mut Digest, entries: &mut [(&str, &Node)]) {
    digest.word(6);
    digest.word(entries.len() as u64);
    entries.sort_by_key(|(key, _)| *key);
    for (key, value) in entries {
        digest_bytes(digest, key.as_bytes());
        tree(digest, value);
    }
}

fn tree(digest: &mut Digest, node: &Node) {
    match &node.value {
        node::Value::Null | node::Value::Pruned => digest.word(0),
        node::Value::Bool(b) => digest.word(1 + u64::from(*b)),
        node::Value::Int(_, text) | node::Value::Float(_, text) => {
            digest.word(3);
            digest_bytes(digest, text.as_bytes());
        }
        node::Value::Str(text) => {
            digest.word(4);
            digest_bytes(digest, text.as_bytes());
        }
        node::Value::Seq(items) => {
            digest.word(5);
            digest.word(items.len() as u64);
            items.iter().for_each(|item| tree(digest, item));
        }
        node::Value::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().map(|(k, v)| (&*k.name, v)).collect();
            written(digest, &mut entries);
        }
    }
}
