//! What a node is, for people and programs.

use serde::Serialize;

/// A node that holds packets, with what it was given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// The key of its kind.
    pub kind: &'static str,
    /// What it was given.
    pub facts: Vec<Fact>,
}

/// One thing that a node was given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// What it is: `input_queue`.
    pub key: &'static str,
    /// How much, or which.
    pub value: Value,
    /// The base unit of a number; empty if it has none.
    pub unit: &'static str,
}

/// A value of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in a base unit.
    Number(f64),
    /// A whole number in a base unit.
    Count(u64),
    /// A word or a sentence; none if there is nothing.
    Text(Option<String>),
    /// Names of links.
    Names(Vec<String>),
}

impl Fact {
    /// A number in a base unit.
    pub fn number(key: &'static str, value: f64, unit: &'static str) -> Self {
        let value = Value::Number(value);
        Self { key, value, unit }
    }

    /// A whole number in a base unit.
    pub fn count(key: &'static str, count: u64, unit: &'static str) -> Self {
        let value = Value::Count(count);
        Self { key, value, unit }
    }

    /// A text, if there is one.
    pub fn text(key: &'static str, text: impl Into<Option<String>>) -> Self {
        let value = Value::Text(text.into());
        Self {
            key,
            value,
            unit: "",
        }
    }

    /// Names of links.
    pub fn names(key: &'static str, names: Vec<String>) -> Self {
        let value = Value::Names(names);
        Self {
            key,
            value,
            unit: "",
        }
    }
}
