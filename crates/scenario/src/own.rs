//! AQMs and schedulers that are given beside a scenario, which names them like any other.
//!
//! `aqm: {mine: {target: 0.02}}`, or `aqm: mine`, becomes the kind `own` on the tree, with what
//! tells it from others: that is part of the scenario's fingerprint. So does a policy `{mine: ..}`.
//! Overrides lead to its settings by its name (`set::find`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use spillgate_queueing::aqm::AqmSpec;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{CustomAqm, CustomDiscipline, OwnPart};

use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Span, Value};
use crate::schema::Scenario;

/// The kind that stands for all of them.
pub(crate) const KIND: &str = "own";

/// Parts of one family by name.
type Makers<T> = BTreeMap<String, Arc<dyn OwnPart<T>>>;

/// What is given beside a scenario, by name.
#[derive(Clone, Default)]
pub struct Own {
    aqms: Makers<dyn CustomAqm>,
    schedulers: Makers<dyn CustomDiscipline>,
    /// Why none can be given.
    refused: Option<&'static str>,
}

/// What the names of one family stand for: what tells each from others.
type Identities = BTreeMap<String, String>;

/// What a family is called, its option, and where one is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Aqm,
    Scheduler,
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Self::Aqm => "AQM",
            Self::Scheduler => "scheduler",
        }
    }

    /// Warns that no point names one of this family.
    pub(crate) fn unused(self, name: &str) -> Diagnostic {
        let (message, hint) = match self {
            Self::Aqm => ("no queue has the AQM", format!("write `aqm: {name}`")),
            Self::Scheduler => (
                "no policy is the scheduler",
                format!("write `{name}: {{}}` as a policy"),
            ),
        };
        let message = format!("{message} `{name}`, which is given");
        let d = Diagnostic::warning(codes::W_OWN, message);
        d.hint(format!("{hint} where it is to work"))
    }
}

impl Own {
    /// Where none can be given: `why` is a sentence for who names one.
    pub fn refused(why: &'static str) -> Self {
        Self {
            refused: Some(why),
            ..Self::default()
        }
    }

    /// Adds an AQM.
    ///
    /// # Errors
    /// If the name cannot be one, or is that of an AQM that is there.
    pub fn aqm(
        &mut self,
        name: &str,
        maker: Arc<dyn OwnPart<dyn CustomAqm>>,
    ) -> Result<(), String> {
        check_name(Family::Aqm, name, AqmSpec::NAMES)?;
        self.aqms.insert(name.to_owned(), maker);
        Ok(())
    }

    /// Adds a scheduler.
    ///
    /// # Errors
    /// If the name cannot be one, or is that of a discipline that is there.
    pub fn scheduler(
        &mut self,
        name: &str,
        maker: Arc<dyn OwnPart<dyn CustomDiscipline>>,
    ) -> Result<(), String> {
        check_name(Family::Scheduler, name, DisciplineSpec::NAMES)?;
        self.schedulers.insert(name.to_owned(), maker);
        Ok(())
    }

    /// All by family and name.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Family, &str)> {
        let aqms = self.aqms.keys().map(|name| (Family::Aqm, &**name));
        let schedulers = self.schedulers.keys();
        aqms.chain(schedulers.map(|name| (Family::Scheduler, &**name)))
    }

    /// Writes what is named below `policies` as the kind `own`; the names that were met.
    pub(crate) fn name(&self, root: &mut Node) -> BTreeSet<(Family, String)> {
        let mut naming = Naming {
            aqms: identities(&self.aqms),
            schedulers: identities(&self.schedulers),
            met: BTreeSet::new(),
        };
        if let Value::Map(entries) = &mut root.value {
            let policies = entries.iter_mut().filter(|(key, _)| key.name == "policies");
            for (_, policies) in policies {
                if let Value::Map(entries) = &mut policies.value {
                    entries
                        .iter_mut()
                        .for_each(|(_, policy)| naming.place(Family::Scheduler, policy));
                }
                naming.walk(policies);
            }
        }
        naming.met
    }

    /// The same error; that of a part that is not known says how to give one, or why none can be
    /// given.
    pub(crate) fn offered(&self, mut d: Diagnostic) -> Diagnostic {
        let policy = d.path.strip_prefix("policies.");
        let option = match d.code {
            codes::UNKNOWN_KIND if d.path.ends_with(".aqm") => "aqm",
            codes::UNKNOWN_KIND if policy.is_some_and(|name| !name.contains('.')) => "scheduler",
            _ => return d,
        };
        let own = match self.refused {
            Some(why) => why.to_owned(),
            None => format!("or give one of your own: `--{option} NAME=MODULE:CLASS`"),
        };
        d.hint = match d.hint {
            Some(hint) => Some(format!("{hint}; {own}")),
            None => Some(own),
        };
        d
    }

    /// Names the makers in the scenario.
    pub(crate) fn bind(&self, scenario: &mut Scenario) {
        for policy in scenario.policies.values_mut() {
            if let DisciplineSpec::Own(own) = policy {
                if let Some(maker) = self.schedulers.get(&own.name) {
                    own.set_maker(Arc::clone(maker));
                }
            }
            for aqm in policy.aqms_mut() {
                if let AqmSpec::Own(own) = aqm {
                    if let Some(maker) = self.aqms.get(&own.name) {
                        own.set_maker(Arc::clone(maker));
                    }
                }
            }
        }
    }
}

/// Refuses what cannot name a part, and what is one of `taken`.
fn check_name(family: Family, name: &str, taken: &[&str]) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let (a, of) = match family {
        Family::Aqm => ("an", family.name()),
        Family::Scheduler => ("a", family.name()),
    };
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
        return Err(format!(
            "`{name}` cannot name {a} {of}: a name is a letter, and letters, digits, `-` and `_` behind it"
        ));
    }
    if taken.contains(&name) {
        return Err(format!(
            "`{name}` is {a} {of} of Spillgate; choose another name"
        ));
    }
    Ok(())
}

fn identities<T: ?Sized>(of: &Makers<T>) -> Identities {
    let all = of.iter();
    all.map(|(name, maker)| (name.clone(), maker.identity()))
        .collect()
}

/// The names in a tree, which are written as what they are.
struct Naming {
    aqms: Identities,
    schedulers: Identities,
    /// Those that were met.
    met: BTreeSet<(Family, String)>,
}

impl Naming {
    fn walk(&mut self, node: &mut Node) {
        match &mut node.value {
            Value::Seq(items) => items.iter_mut().for_each(|item| self.walk(item)),
            Value::Map(entries) => {
                for (key, node) in entries {
                    if key.name == "aqm" {
                        self.place(Family::Aqm, node);
                    }
                    self.walk(node);
                }
            }
            _ => {}
        }
    }

    fn known(&self, family: Family) -> &Identities {
        match family {
            Family::Aqm => &self.aqms,
            Family::Scheduler => &self.schedulers,
        }
    }

    /// Of a part as written: the kind `own`, if it is one of these.
    fn place(&mut self, family: Family, node: &mut Node) {
        let span = node.span;
        if let Some((name, settings)) = self.meant(family, node) {
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
        let known = name.and_then(|name| self.known(family).get_key_value(name));
        if let (KIND, Some((name, identity))) = (&*kind.name, known) {
            if let Value::Map(entries) = &mut content.value {
                entries.retain(|(key, _)| key.name != "identity");
                entries.push(text("identity", identity, span));
            }
            let name = name.clone();
            self.met.insert((family, name));
        }
    }

    /// The name and the settings, if one of these is written like any other.
    fn meant(&self, family: Family, node: &Node) -> Option<(String, Node)> {
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
        self.known(family)
            .contains_key(name)
            .then(|| (name.clone(), settings))
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own")
            .field("aqms", &identities(&self.aqms))
            .field("schedulers", &identities(&self.schedulers))
            .finish()
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        identities(&self.aqms) == identities(&other.aqms)
            && identities(&self.schedulers) == identities(&other.schedulers)
    }
}

impl Eq for Own {}

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
