//! What a node is, for people and programs.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A node that holds packets, with what it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// The key of its kind.
    pub kind: &'static str,
    /// What it was given.
    pub facts: Vec<Fact>,
}

/// One thing that a node was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it is: `input_queue`.
    pub key: &'static str,
    /// How much, or which.
    pub value: Value,
    /// The base unit of a number; empty if it has none.
    pub unit: &'static str,
}

/// A value of a node.
#[derive(Clone, Debug, PartialEq)]
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

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(n) => n.serialize(s),
            Self::Count(n) => n.serialize(s),
            Self::Text(text) => text.serialize(s),
            Self::Names(names) => names.serialize(s),
        }
    }
}

impl Serialize for Description {
    /// `name`, `kind`, each fact under its key, and `units` of the numbers that have one.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let units = self.facts.iter().filter(|f| !f.unit.is_empty());
        let units: std::collections::BTreeMap<_, _> = units.map(|f| (f.key, f.unit)).collect();
        let mut map = s.serialize_map(Some(self.facts.len() + 3))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("kind", self.kind)?;
        for fact in &self.facts {
            map.serialize_entry(fact.key, &fact.value)?;
        }
        map.serialize_entry("units", &units)?;
        map.end()
    }
}
