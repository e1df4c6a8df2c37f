//! From classes as written to a running tree.

use std::collections::BTreeMap;

use spillgate_core::{Limit, Problem, Rate, RateOrPercent};

use super::{Hierarchy, Kin, Order};
use crate::classify::{Classifier, Entry, Rules, Target};
use crate::engine::Engine;
use crate::leaf::{Bound, Leaf};
use crate::recipe::{At, valid_names};
use crate::spec::{DisciplineSpec, MatchSpec, Scope};
use crate::tree::check::check_match;

/// The most classes: their numbers have 16 bits in Linux, and 0 is none.
const MAX_CLASSES: usize = 65_534;
/// The limit of a queue of which nothing is said: Linux takes the device's `txqueuelen`.
pub(crate) const USUAL_LIMIT: Limit = Limit::Packets(1000);
/// The name of the queue of packets that belong to no class.
pub(crate) const DIRECT: &str = "direct";

/// What the classes of all such disciplines have in common.
pub trait ClassKeys {
    /// Its name.
    fn name(&self) -> &str;
    /// The class around it.
    fn parent(&self) -> Option<&str>;
    /// Which packets belong to it.
    fn matching(&self) -> Option<&MatchSpec>;
    /// The queue of a leaf.
    fn queue(&self) -> Option<&DisciplineSpec>;
}

/// The relatives of each class, in the order of the list.
pub(super) fn kin<C: ClassKeys>(classes: &[C], at: &mut At<'_>) -> Result<Vec<Kin>, Problem> {
    at.check(
        classes.len() <= MAX_CLASSES,
        "classes",
        format!("{} classes", classes.len()),
        "there are at most 65534 classes",
        "leave some out",
    )?;
    let mut by_name = BTreeMap::new();
    for (i, c) in classes.iter().enumerate() {
        at.index("classes", i, |at| check_name(c.name(), at))
            .map_err(Problem::misfit)?;
        if by_name.insert(c.name(), i as u16).is_some() {
            return at.index("classes", i, |at| {
                Err(at
                    .error(
                        "name",
                        c.name(),
                        "there is a class of this name above",
                        "names of classes are unique",
                    )
                    .misfit())
            });
        }
    }
    let mut all = vec![Kin::default(); classes.len()];
    let mut has_children = vec![false; classes.len()];
    for (i, c) in classes.iter().enumerate() {
        let Some(parent) = c.parent() else { continue };
        let Some(p) = by_name.get(parent) else {
            let names: Vec<String> = by_name.keys().map(|n| (*n).to_owned()).collect();
            return at.index("classes", i, |at| {
                Err(at
                    .error(
                        "parent",
                        parent,
                        "there is no class of this name",
                        valid_names(parent, names.iter()),
                    )
                    .misfit())
            });
        };
        all[i].parent = Some(*p);
        has_children[usize::from(*p)] = true;
    }
    for (i, c) in classes.iter().enumerate() {
        let mut up = all[i].parent;
        while let Some(p) = up {
            all[i].depth += 1;
            if all[i].depth > classes.len() {
                return at.index("classes", i, |at| {
                    Err(at
                        .error(
                            "parent",
                            c.parent().unwrap_or_default(),
                            "the class is its own parent, or that of one around it",
                            "leave `parent` out at the top of the tree",
                        )
                        .misfit())
                });
            }
            up = all[usize::from(p)].parent;
        }
    }
    let mut leaf = 0;
    for (kin, inner) in all.iter_mut().zip(has_children) {
        if !inner {
            kin.leaf = Some(leaf);
            leaf += 1;
        }
    }
    Ok(all)
}

fn check_name(name: &str, at: &At<'_>) -> Result<(), Problem> {
    at.check(
        !name.trim().is_empty() && !name.contains('/') && name != DIRECT,
        "name",
        name,
        "a class needs a name without `/`, and not `direct`, which is the queue of no class",
        "give it the name under which results should show it",
    )
}

/// The rate of a class, above 0.
pub(super) fn rate_of(
    key: &str,
    written: RateOrPercent,
    line: Rate,
    at: &At<'_>,
) -> Result<Rate, Problem> {
    crate::tree::parts::positive(written, line, key, at)
}

/// The queue of packets that belong to no class.
pub(super) struct Direct<'a> {
    /// Its limit in packets.
    pub(super) limit: u32,
    /// Packets that go there before a class is asked.
    pub(super) matching: Option<&'a MatchSpec>,
}

/// The parts of a tree that do not depend on its order.
pub(super) struct Parts<'a, C> {
    pub(super) classes: &'a [C],
    pub(super) kin: Vec<Kin>,
    /// The class of packets that match no class; none: they go to the direct queue.
    pub(super) default: Option<u16>,
    pub(super) direct: Option<Direct<'a>>,
    /// The rate that a leaf has to itself.
    pub(super) rates: Vec<Rate>,
}

impl<C: ClassKeys> Parts<'_, C> {
    pub(super) fn build<O: Order>(
        self,
        order: O,
        at: &mut At<'_>,
        scope: &Scope<'_>,
    ) -> Result<Hierarchy<O>, Problem> {
        let mut leaves = Vec::new();
        let mut class_of = Vec::new();
        let mut names = Vec::new();
        for (i, (class, kin)) in self.classes.iter().zip(&self.kin).enumerate() {
            let leaf = at.index("classes", i, |at| {
                self.check_class(i, at)?;
                match kin.leaf {
                    Some(_) => queue(class.queue(), self.rates[i], at, scope).map(Some),
                    None => Ok(None),
                }
            })?;
            if let Some(leaf) = leaf {
                leaves.push(leaf);
                class_of.push(Some(i as u16));
                names.push(class.name().to_owned());
            }
        }
        if let Some(direct) = &self.direct {
            if let Some(m) = direct.matching {
                at.key("direct", |at| check_match(m, at))
                    .map_err(Problem::misfit)?;
            }
            let limit = Limit::Packets(direct.limit);
            let bound = at.bound("direct_qlen", limit, scope.line.rate)?;
            leaves.push(Leaf::fifo(bound, None));
            class_of.push(None);
            names.push(DIRECT.to_owned());
        }
        let classifier = Classifier::new(self.rules(leaves.len() as u16));
        Ok(Hierarchy {
            known: if classifier.looks_at_flow() {
                0
            } else {
                u32::MAX
            },
            classifier,
            leaves,
            class_of,
            order,
            names: names.into(),
            class_names: self.classes.iter().map(|c| c.name().to_owned()).collect(),
            kin: self.kin,
            counted: scope.line.counting.queues,
            unknown: 0,
        })
    }

    fn check_class(&self, i: usize, at: &mut At<'_>) -> Result<(), Problem> {
        let (class, kin) = (&self.classes[i], &self.kin[i]);
        if let Some(m) = class.matching() {
            at.key("match", |at| check_match(m, at))
                .map_err(Problem::misfit)?;
        }
        if kin.leaf.is_none() {
            return at.check(
                class.queue().is_none(),
                "queue",
                class.name(),
                "a class with children has no queue of its own",
                "put the queue into one of its children",
            );
        }
        if class.matching().is_none() && self.default != Some(i as u16) {
            at.warn(format!(
                "class {} has no `match` and is not the default: no packet comes to it",
                class.name()
            ));
        }
        Ok(())
    }

    /// Conditions are tried as the filters of Linux are: those of a class where the nearest class
    /// around it that has one leads, else at the root; what none takes goes to the default.
    fn rules(&self, leaves: u16) -> Rules {
        let default = match self.default {
            Some(class) => self.kin[usize::from(class)].leaf.unwrap_or(0),
            None => leaves.saturating_sub(1),
        };
        let direct = self.direct.as_ref().and_then(|d| d.matching);
        let direct = direct.map(|m| Entry {
            matching: Some(m.clone()),
            then: Target::Route(leaves.saturating_sub(1)),
        });
        // The node of the filters at each class with a condition and children.
        let mut nodes = vec![Vec::from_iter(direct)];
        let mut node_of = vec![None; self.kin.len()];
        for (i, kin) in self.kin.iter().enumerate() {
            if kin.leaf.is_none() && self.classes[i].matching().is_some() {
                node_of[i] = Some(nodes.len() as u16);
                nodes.push(Vec::new());
            }
        }
        for (i, class) in self.classes.iter().enumerate() {
            let Some(matching) = class.matching() else {
                continue;
            };
            let mut around = self.kin[i].parent;
            while let Some(p) = around.filter(|p| node_of[usize::from(*p)].is_none()) {
                around = self.kin[usize::from(p)].parent;
            }
            let node = around.and_then(|p| node_of[usize::from(p)]).unwrap_or(0);
            let then = match (self.kin[i].leaf, node_of[i]) {
                (Some(leaf), _) => Target::Route(leaf),
                (None, Some(inner)) => Target::Node(inner),
                (None, None) => continue,
            };
            nodes[usize::from(node)].push(Entry {
                matching: Some(matching.clone()),
                then,
            });
        }
        for node in &mut nodes {
            node.push(Entry {
                matching: None,
                then: Target::Route(default),
            });
        }
        Rules { nodes }
    }
}

/// The queue of a leaf, at the rate that it has to itself.
fn queue(
    written: Option<&DisciplineSpec>,
    rate: Rate,
    at: &mut At<'_>,
    scope: &Scope<'_>,
) -> Result<Leaf, Problem> {
    let Some(spec) = written else {
        return Ok(Leaf::fifo(Bound::new(USUAL_LIMIT, rate), None));
    };
    let scope = Scope {
        line: scope.line.at(rate),
        ..*scope
    };
    match spec.single_queue() {
        true => {}
        false => {
            return Err(at.error(
                "queue",
                spec.kind(),
                "it has classes or flow lists of its own, not one queue",
                "write one of fifo, flow-wfq, drr, fq, fq-codel, dualpi2; classes nest by `parent`",
            )
            .misfit());
        }
    }
    match at.key("queue", |at| spec.resolve(at, &scope))? {
        Engine::Queue(leaf) => Ok(leaf),
        _ => Err(at
            .error("queue", spec.kind(), "it is not one queue", "write `fifo`")
            .misfit()),
    }
}

/// The index of the default class, which is a leaf.
pub(super) fn default_class<C: ClassKeys>(
    name: &str,
    classes: &[C],
    kin: &[Kin],
    at: &At<'_>,
) -> Result<u16, Problem> {
    let leaves = || classes.iter().zip(kin).filter(|(_, k)| k.leaf.is_some());
    match classes
        .iter()
        .zip(kin)
        .position(|(c, k)| c.name() == name && k.leaf.is_some())
    {
        Some(i) => Ok(i as u16),
        None => {
            let names: Vec<String> = leaves().map(|(c, _)| c.name().to_owned()).collect();
            Err(at
                .error(
                    "default",
                    name,
                    "there is no class of this name without children",
                    valid_names(name, names.iter()),
                )
                .misfit())
        }
    }
}
