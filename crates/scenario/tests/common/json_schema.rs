//! The part of JSON Schema (draft 2020-12) that the scenario's schema uses.
//! A keyword that is not handled here is a failure, not a pass.

use serde_json::Value;

/// Checks documents against a schema.
pub(crate) struct Validator {
    pub(crate) root: Value,
}

impl Validator {
    /// What is wrong with a document, each with its place.
    pub(crate) fn errors(&self, document: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        self.check(&self.root, document, "", &mut errors);
        errors
    }

    fn fits(&self, schema: &Value, v: &Value) -> bool {
        let mut errors = Vec::new();
        self.check(schema, v, "", &mut errors);
        errors.is_empty()
    }

    fn check(&self, schema: &Value, v: &Value, at: &str, errors: &mut Vec<String>) {
        let schema = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return errors.push(format!("{at}: nothing fits here")),
            schema => schema.as_object().unwrap(),
        };
        for (keyword, rule) in schema {
            let fine = match keyword.as_str() {
                "$schema"
                | "$id"
                | "$defs"
                | "title"
                | "description"
                | "default"
                | "examples"
                | "format"
                | "required"
                | "additionalProperties"
                | "patternProperties"
                | "properties" => true,
                "type" => match rule {
                    Value::Array(types) => types.iter().any(|t| is(v, t)),
                    one => is(v, one),
                },
                "$ref" => {
                    let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    self.check(self.root.pointer(pointer).unwrap(), v, at, errors);
                    true
                }
                "anyOf" => rule.as_array().unwrap().iter().any(|s| self.fits(s, v)),
                "oneOf" => {
                    rule.as_array()
                        .unwrap()
                        .iter()
                        .filter(|s| self.fits(s, v))
                        .count()
                        == 1
                }
                "allOf" => rule.as_array().unwrap().iter().all(|s| self.fits(s, v)),
                "enum" => rule.as_array().unwrap().contains(v),
                "const" => rule == v,
                "minimum" => v.as_f64().is_none_or(|x| x >= rule.as_f64().unwrap()),
                "maximum" => v.as_f64().is_none_or(|x| x <= rule.as_f64().unwrap()),
                "minItems" => v
                    .as_array()
                    .is_none_or(|a| a.len() as u64 >= rule.as_u64().unwrap()),
                "pattern" => v.as_str().is_none_or(|s| {
                    regex_lite::Regex::new(rule.as_str().unwrap())
                        .unwrap()
                        .is_match(s)
                }),
                "items" => {
                    for (i, item) in v.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}[{i}]"), errors);
                    }
                    true
                }
                other => panic!("keyword {other} is not handled"),
            };
            if !fine {
                errors.push(format!("{at}: {v} breaks {keyword} {rule}"));
            }
        }
        if let Some(object) = v.as_object() {
            for key in schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                if !object.contains_key(key.as_str().unwrap()) {
                    errors.push(format!("{at}: {key} is missing"));
                }
            }
            for (key, value) in object {
                let named = schema.get("properties").and_then(|p| p.get(key));
                let patterns = schema.get("patternProperties").and_then(Value::as_object);
                let alike = patterns.into_iter().flatten().find_map(|(pattern, rule)| {
                    let is_match = regex_lite::Regex::new(pattern).unwrap().is_match(key);
                    is_match.then_some(rule)
                });
                let other = || schema.get("additionalProperties");
                if let Some(rule) = named.or(alike).or_else(other) {
                    self.check(rule, value, &format!("{at}.{key}"), errors);
                }
            }
        }
    }
}

fn is(v: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => v.is_null(),
        "boolean" => v.is_boolean(),
        "integer" => v.is_i64() || v.is_u64(),
        "number" => v.is_number(),
        "string" => v.is_string(),
        "array" => v.is_array(),
        "object" => v.is_object(),
        other => panic!("type {other}"),
    }
}
