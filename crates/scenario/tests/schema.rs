//! The JSON Schema describes what the loader takes.

use crate::common;
use std::fs;
use std::path::Path;

use crate::common::json_schema::Validator;
use crate::common::{Router, memory};
use serde_json::Value;
use spillgate_scenario::{Options, json_schema, load};

fn validator() -> Validator {
    Validator {
        root: json_schema().clone(),
    }
}

/// YAML to JSON by the loader's own reader: what a scenario writes back, before defaults.
fn as_json(text: &str) -> Value {
    spillgate_scenario::yaml_to_json(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Scenarios of a folder of the corpus: names and texts, those that are UTF-8.
fn corpus(folder: &str) -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut all: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|x| x == "yaml"))
        .filter_map(|p| {
            Some((
                p.file_name()?.to_string_lossy().into_owned(),
                fs::read_to_string(&p).ok()?,
            ))
        })
        .collect();
    all.sort();
    assert!(all.len() > 5);
    all
}

#[test]
fn good_scenarios_follow_the_schema() {
    let validator = validator();
    for (name, text) in corpus("good") {
        let json = as_json(&text);
        let errors = validator.errors(&json);
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

/// What the loader writes back after filling in defaults follows the schema, too.
#[test]
fn written_scenarios_follow_the_schema() {
    let validator = validator();
    let files = memory(&[("s.yaml", common::SMALL.as_bytes())]);
    let loaded = load(Path::new("s.yaml"), &files, &Router, &Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let json = serde_json::to_value(&loaded.scenario).unwrap();
    let errors = validator.errors(&json);
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Mistakes of keys, kinds, types and units are visible to editors that know the schema.
#[test]
fn the_schema_refuses_what_it_can() {
    let validator = validator();
    let visible = [
        "unknown-key",
        "unknown-top-key",
        "missing-keys",
        "wrong-types",
        "version",
        "unknown-kind",
        "two-kinds",
        "kind-without-settings",
        "unknown-metric",
        "yes-is-text",
        "missing-unit",
        "wrong-unit",
        "negative-rate",
        "count-zero",
        "cost-zero",
        "runs-zero",
        "port-range",
        "sessions-keys",
        "failure-keys",
    ];
    for (name, text) in corpus("bad") {
        if visible.contains(&name.trim_end_matches(".yaml")) {
            assert!(
                !validator.errors(&as_json(&text)).is_empty(),
                "{name} passes the schema"
            );
        }
    }
}

#[test]
fn every_key_is_described() {
    fn check(schema: &Value, path: &str, missing: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            for (key, p) in properties {
                let here = format!("{path}.{key}");
                // A kind is described as an alternative, around its only key.
                let described = [p, schema].iter().any(|s| s["description"].is_string())
                    || p["$ref"].is_string();
                if !described {
                    missing.push(here.clone());
                }
                check(p, &here, missing);
            }
        }
        for word in ["oneOf", "anyOf"] {
            for s in schema[word].as_array().into_iter().flatten() {
                check(s, path, missing);
            }
        }
    }
    let schema = json_schema();
    let mut missing = Vec::new();
    check(schema, "", &mut missing);
    for (name, s) in schema["$defs"].as_object().unwrap() {
        check(s, name, &mut missing);
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
