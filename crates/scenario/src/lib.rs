//! Scenario files: from text to a plan, with every mistake at its place.
//!
//! [`load()`] reads a scenario with the tables and router configurations that
//! it refers to, applies overrides, checks all of it, and lowers it to a
//! [`plan::Plan`]: dense ids, resolved units, routes, recipes of queue
//! disciplines. The stages, each of which reports everything it finds:
//!
//! 1. bytes to UTF-8 text;
//! 2. YAML 1.2 to a tree in which every value knows its line and column;
//! 3. overrides (`--set`, variants) on the tree;
//! 4. the tree to [`schema::Scenario`], by a deserializer of our own because
//!    serde's usual ones lose places;
//! 5. the checks that concern several places, and the plan.
//!
//! [`schema`] is the one source of truth: keys, defaults and texts of the JSON
//! Schema ([`json_schema`]) come from it.
//!
//! Complexity: linear in the text, the nodes, the links and the flows; routing
//! takes O((links + nodes) log nodes) for each router that flows lead to.
#![forbid(unsafe_code)]
// An error ends the load: its size on the way out is no concern.
#![allow(clippy::result_large_err)]

mod agreements;
mod axes;
mod beside;
pub mod codes;
mod ctx;
mod de;
mod design;
pub mod error;
mod hash;
pub mod import;
pub mod key;
mod likely;
pub mod load;
mod lower;
mod memory;
mod node;
pub mod objectives;
pub mod offered;
pub mod originals;
mod outages;
mod own;
pub mod plan;
mod points;
mod range;
pub mod routes;
mod scalar;
pub mod schema;
mod schema_path;
mod set;
pub mod shift;
mod splice;
pub mod survey;
mod table;
mod text;
mod yaml;

use std::sync::OnceLock;

pub use error::{Diagnostic, Diagnostics, Severity};
pub use import::{
    Files, Imported, ImportedInterface, Importer, NoImporter, Platform, read_bounded,
};
pub use load::{
    Chosen, InputPolicy, LinkPolicy, Loaded, Options, PortPolicies, load, points_alone,
    port_policies,
};
pub use own::Own;
pub use text::{MAX_BYTES, decode};
pub use yaml::{MAX_ALIASED, MAX_DEPTH};

/// The JSON Schema (draft 2020-12) of scenario files. It is made once: every override walks along
/// it.
pub fn json_schema() -> &'static serde_json::Value {
    static SCHEMA: OnceLock<serde_json::Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let schema = schemars::schema_for!(schema::Scenario).to_value();
        named(
            schema,
            "urn:spillgate:schema:scenario:1",
            "Spillgate scenario",
        )
    })
}

/// The JSON Schema (draft 2020-12) of a customer's file of requirements, in YAML or JSON.
pub fn customer_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(schema::CustomerSpec).to_value();
    // A file of requirements names no other.
    if let Some(keys) = schema.pointer_mut("/$defs/SlaSpec/properties") {
        keys.as_object_mut().map(|k| k.remove("file"));
    }
    named(
        schema,
        "urn:spillgate:schema:sla:1",
        "Spillgate requirements of a customer",
    )
}

fn named(mut schema: serde_json::Value, id: &str, title: &str) -> serde_json::Value {
    let types = schema["$defs"].clone();
    add_kinds_alone(&mut schema, &types);
    if let Some(top) = schema.as_object_mut() {
        top.insert("$id".to_owned(), id.into());
        top.insert("title".to_owned(), title.into());
    }
    schema
}

/// Where one of several kinds is written, those whose settings all have defaults may stand alone.
fn add_kinds_alone(schema: &mut serde_json::Value, types: &serde_json::Value) {
    if let Some(kinds) = schema.get_mut("oneOf").and_then(|k| k.as_array_mut()) {
        let alone = kinds.iter().filter_map(|kind| {
            let (name, settings) = kind["properties"].as_object()?.iter().next()?;
            let at = settings["$ref"]
                .as_str()
                .and_then(|r| r.strip_prefix("#/$defs/"));
            let settings = at.map_or(settings, |name| &types[name]);
            let all_have = settings["type"] == "object" && settings.get("required").is_none();
            all_have.then(|| name.clone())
        });
        let alone: Vec<_> = alone.collect();
        if !alone.is_empty() {
            kinds.push(serde_json::json!({
                "type": "string",
                "description": "With the defaults of all settings.",
                "enum": alone
            }));
        }
    }
    match schema {
        serde_json::Value::Object(parts) => {
            parts
                .values_mut()
                .for_each(|part| add_kinds_alone(part, types));
        }
        serde_json::Value::Array(parts) => {
            parts
                .iter_mut()
                .for_each(|part| add_kinds_alone(part, types));
        }
        _ => {}
    }
}

/// Reads YAML as the loader does, without looking at what it means.
///
/// # Errors
/// What is wrong with the text, at its line and column of `-`.
pub fn yaml_to_json(text: &str) -> Result<serde_json::Value, Diagnostics> {
    let mut texts = text::Texts::default();
    let id = texts.file("-", text.as_bytes());
    let content = decode("-", text.as_bytes())?;
    let node = yaml::parse(content, id, &texts).map_err(Diagnostics)?;
    de::from_node(&node, &texts, &[]).map_err(Diagnostics)
}
