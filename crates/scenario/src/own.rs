//! AQMs that are given beside a scenario, which names them like any other.
//!
//! `aqm: {mine: {target: 0.02}}`, or `aqm: mine`, becomes the kind `own` on the tree, with what
//! tells it from others: that is part of the scenario's fingerprint. Overrides lead to its settings
//! by its name (`set::find`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use spillgate_queueing::OwnAqm;
use spillgate_queueing::aqm::AqmSpec;

use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Span, Value};
use crate::schema::Scenario;

/// The kind that stands for all of them.
pub(crate) const KIND: &str = "own";

/// What is given beside a scenario, by name.
#[derive(Clone, Default)]
pub struct Own {
    aqms: BTreeMap<String, Arc<dyn OwnAqm>>,
}

impl Own {
    /// Adds an AQM.
    ///
    /// # Errors
    /// If the name cannot be one, or is that of an AQM that is there.
    pub fn aqm(&mut self, name: &str, maker: Arc<dyn OwnAqm>) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
            return Err(format!(
                "`{name}` cannot name an AQM: a name is a letter, and letters, digits, `-` and `_` behind it"
            ));
        }
        if AqmSpec::NAMES.contains(&name) {
            return Err(format!(
                "`{name}` is an AQM of Spillgate; choose another name"
            ));
        }
        self.aqms.insert(name.to_owned(), maker);
        Ok(())
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.aqms.keys().map(String::as_str)
    }

    /// Writes what is named below `policies` as the kind `own`; the names that were met.
    pub(crate) fn name(&self, root: &mut Node) -> BTreeSet<String> {
        let mut met = BTreeSet::new();
        if let Value::Map(entries) = &mut root.value {
            let policies = entries.iter_mut().filter(|(key, _)| key.name == "policies");
            policies.for_each(|(_, node)| self.walk(node, &mut met));
        }
        met
    }

    fn walk(&self, node: &mut Node, met: &mut BTreeSet<String>) {
        match &mut node.value {
            Value::Seq(items) => items.iter_mut().for_each(|item| self.walk(item, met)),
            Value::Map(entries) => {
                for (key, node) in entries {
                    if key.name == "aqm" {
                        self.place(node, met);
                    }
                    self.walk(node, met);
                }
            }
            _ => {}
        }
    }

    /// Of an AQM as written: the kind `own`, if it is one of these.
    fn place(&self, node: &mut Node, met: &mut BTreeSet<String>) {
        let span = node.span;
        if let Some((name, settings)) = self.meant(node) {
            let entries = vec![text("name", &name, span), (key("with", span), settings)];
            let content = Node {
                span,
                value: Value::Map(entries),
            };
            node.value = Value::Map(vec![(key(KIND, span), content)]);
        }
        let Value::Map(kinds) = &mut node.value else {
            return;
        };
        let [(kind, content)] = &mut kinds[..] else {
            return;
        };
        let name = content.get("name").and_then(Node::text);
        let maker = name.and_then(|name| self.aqms.get_key_value(name));
        if let (KIND, Some((name, maker))) = (&*kind.name, maker) {
            met.insert(name.clone());
            if let Value::Map(entries) = &mut content.value {
                entries.retain(|(key, _)| key.name != "identity");
                entries.push(text("identity", &maker.identity(), span));
            }
        }
    }

    /// The name and the settings, if one of these is written like any other AQM.
    fn meant(&self, node: &Node) -> Option<(String, Node)> {
        let empty = Node {
            span: node.span,
            value: Value::Map(Vec::new()),
        };
        let (name, settings) = match &node.value {
            Value::Str(name) => (name, empty),
            Value::Map(kinds) => match &kinds[..] {
                [(kind, settings)] if settings.value == Value::Null => (&kind.name, empty),
                [(kind, settings)] => (&kind.name, settings.clone()),
                _ => return None,
            },
            _ => return None,
        };
        self.aqms
            .contains_key(name)
            .then(|| (name.clone(), settings))
    }

    /// Names the makers in the scenario.
    pub(crate) fn bind(&self, scenario: &mut Scenario) {
        let policies = scenario.policies.values_mut();
        for aqm in policies.flat_map(|policy| policy.aqms_mut()) {
            if let AqmSpec::Own(own) = aqm {
                if let Some(maker) = self.aqms.get(&own.name) {
                    own.set_maker(Arc::clone(maker));
                }
            }
        }
    }

    fn identities(&self) -> BTreeMap<&str, String> {
        let all = self.aqms.iter();
        all.map(|(name, maker)| (&**name, maker.identity()))
            .collect()
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.identities()).finish()
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        self.identities() == other.identities()
    }
}

impl Eq for Own {}

/// The same error; that of an AQM that is not known says how to give one.
pub(crate) fn offered(mut d: Diagnostic) -> Diagnostic {
    if d.code == codes::UNKNOWN_KIND && d.path.ends_with(".aqm") {
        let own = "or give one of your own: `--aqm NAME=MODULE:CLASS`";
        d.hint = match d.hint {
            Some(hint) => Some(format!("{hint}; {own}")),
            None => Some(own.to_owned()),
        };
    }
    d
}

fn key(name: &str, span: Span) -> Key {
    Key {
        name: name.to_owned(),
        span,
    }
}

fn text(name: &str, value: &str, span: Span) -> (Key, Node) {
    let value = Value::Str(value.to_owned());
    (key(name, span), Node { span, value })
}
