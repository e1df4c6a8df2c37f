//! The text of a configuration, kept for exporters.

use std::collections::BTreeMap;

use spillgate_queueing::spec::{ClassSpec, MatchSpec};

/// The lines of a configuration that policies came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Originals {
    /// The class-maps of classes, by the names that those have in policies.
    pub class_maps: BTreeMap<String, OriginalMatch>,
    /// Class-maps, access lists and object groups that class-maps name.
    pub blocks: BTreeMap<BlockName, OriginalBlock>,
    /// The classes with listed lines, by policy and class.
    pub classes: BTreeMap<(String, String), OriginalClass>,
    /// Listed lines of interfaces, by the name under which the interface or circuit is imported,
    /// and whether they are of the circuit.
    pub interfaces: BTreeMap<String, Vec<(bool, String)>>,
    /// Listed lines of other blocks, each block with its head; lines outside a block have none.
    pub rest: Vec<(Option<String>, Vec<String>)>,
}

/// The kind and the name of a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockName {
    /// `class-map`.
    ClassMap(String),
    /// An access list.
    List(String),
    /// `object-group`.
    Group(String),
}

/// A block as written.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalBlock {
    /// Its first line; that of a class-map is without the name. None if each line is complete
    /// (`access-list 101 ...`).
    pub head: Option<String>,
    /// Its lines, without indentation.
    pub lines: Vec<String>,
    /// The blocks that it names.
    pub names: Vec<BlockName>,
}

/// A class-map of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalMatch {
    /// The condition that the class-map became.
    pub condition: MatchSpec,
    /// The class-map as written.
    pub block: OriginalBlock,
    /// A criterion, of it or of a class-map that it names, that simulated packets do not have.
    pub lost: Option<String>,
}

/// A class of a policy-map.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalClass {
    /// What it became.
    pub spec: ClassSpec,
    /// Its lines, without indentation.
    pub lines: Vec<String>,
    /// The class-maps that its policer names.
    pub names: Vec<BlockName>,
}

impl Originals {
    /// The originals after policies were renamed by `named`.
    pub(crate) fn renamed(&mut self, named: impl Fn(&str) -> String) {
        let classes = std::mem::take(&mut self.classes);
        let renamed = classes.into_iter().map(|((policy, class), mut original)| {
            if let Some(inner) = &mut original.spec.policy {
                *inner = named(inner);
            }
            ((named(&policy), class), original)
        });
        self.classes = renamed.collect();
    }
}
