//! Walking the JSON Schema along a path: which keys may stand where.

use serde_json::Value;

/// The schemas that a place of a document may follow.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    root: &'a Value,
    here: Vec<&'a Value>,
}

impl<'a> Cursor<'a> {
    /// The cursor at the top of a document.
    pub(crate) fn new(root: &'a Value) -> Self {
        let mut cursor = Self {
            root,
            here: Vec::new(),
        };
        cursor.here = cursor.open([root]);
        cursor
    }

    /// Whether the key may stand here under its own name.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.here.iter().any(|s| !s["properties"][key].is_null())
    }

    /// Whether the key may stand here alone, to say of which kind its value is.
    pub(crate) fn is_kind(&self, key: &str) -> bool {
        self.here.iter().any(|s| {
            let only = s["properties"].as_object().is_some_and(|p| p.len() == 1);
            only && !s["properties"][key].is_null()
        })
    }

    /// Whether keys are the user's choice here.
    pub(crate) fn takes_any(&self) -> bool {
        self.here.iter().any(|s| match &s["additionalProperties"] {
            Value::Bool(any) => *any,
            Value::Object(_) => true,
            _ => false,
        })
    }

    /// The keys that the format names here.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        self.here
            .iter()
            .filter_map(|s| s["properties"].as_object())
            .flat_map(|p| p.keys().map(String::as_str))
            .collect()
    }

    /// Goes to the value of a key.
    pub(crate) fn key(&mut self, key: &str) {
        let next: Vec<_> = self
            .here
            .iter()
            .filter_map(|s| match &s["properties"][key] {
                Value::Null => Some(&s["additionalProperties"]).filter(|a| a.is_object()),
                schema => Some(schema),
            })
            .collect();
        self.here = self.open(next);
    }

    /// Goes to the items of a list.
    pub(crate) fn item(&mut self) {
        let next: Vec<_> = self.here.iter().map(|s| &s["items"]).collect();
        self.here = self.open(next);
    }

    /// Follows references and lays alternatives side by side.
    fn open(&self, schemas: impl IntoIterator<Item = &'a Value>) -> Vec<&'a Value> {
        let mut todo: Vec<_> = schemas.into_iter().collect();
        let mut open: Vec<&Value> = Vec::new();
        while let Some(schema) = todo.pop() {
            // The same schema may be reached again through a reference.
            if schema.is_null() || open.iter().any(|s| std::ptr::eq(*s, schema)) {
                continue;
            }
            open.push(schema);
            if let Some(pointer) = schema["$ref"].as_str().and_then(|r| r.strip_prefix('#')) {
                todo.extend(self.root.pointer(pointer));
            }
            for word in ["anyOf", "oneOf", "allOf"] {
                todo.extend(schema[word].as_array().into_iter().flatten());
            }
        }
        open
    }
}
