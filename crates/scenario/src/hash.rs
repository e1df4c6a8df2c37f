//! The fingerprint of a scenario with all its files.

use serde_json::Value;
use spillgate_core::Digest;

use crate::ctx::{Ctx, digest_bytes};
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
