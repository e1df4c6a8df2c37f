//! The nodes of a network that hold packets, and where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use crate::{Declared, Description, Names, NodePlan};

/// Nodes that hold packets and run as one.
#[derive(Clone, Debug)]
pub struct Holding {
    /// Their ids, ascending, at least one.
    pub nodes: Vec<u32>,
    /// Names its random streams, and orders its wakes among those of the same instant.
    pub path: String,
    /// What they do.
    pub plan: NodePlan,
    /// What they declare.
    pub declared: Declared,
}

impl Holding {
    /// Nodes that run as one.
    pub fn new(nodes: Vec<u32>, path: String, plan: NodePlan) -> Self {
        Self {
            declared: plan.declares(),
            nodes,
            path,
            plan,
        }
    }

    /// Each of its nodes with what it was given.
    pub fn describe(&self, names: &dyn Names) -> Vec<Description> {
        let of = |(node, facts)| Description {
            name: names.node(node).to_owned(),
            kind: self.plan.kind(),
            facts,
        };
        self.plan.describe(names).into_iter().map(of).collect()
    }
}

/// All of a network, by kind, then by id.
#[derive(Clone, Debug, Default)]
pub struct Holdings {
    all: Vec<Holding>,
    at: BTreeMap<u32, usize>,
    served: BTreeSet<u32>,
    followed: BTreeSet<u32>,
}

impl Holdings {
    /// What a node is; of several the first.
    pub fn at(&self, node: u32) -> Option<&Holding> {
        self.at.get(&node).map(|i| &self.all[*i])
    }

    /// Whether a node serves a link itself: then nothing waits at the port of the link.
    pub fn serve(&self, link: u32) -> bool {
        self.served.contains(&link)
    }

    /// Whether a node is told what happens to packets at the port of a link, or serves it.
    pub fn follow(&self, link: u32) -> bool {
        self.followed.contains(&link)
    }

    /// The ids of all nodes.
    pub fn nodes(&self) -> impl Iterator<Item = u32> {
        self.at.keys().copied()
    }

    /// Without the index.
    pub fn into_vec(self) -> Vec<Holding> {
        self.all
    }
}

impl From<Vec<Holding>> for Holdings {
    fn from(all: Vec<Holding>) -> Self {
        let mut at = BTreeMap::new();
        let nodes = all.iter().enumerate();
        for (i, node) in nodes.flat_map(|(i, h)| h.nodes.iter().map(move |n| (i, *n))) {
            at.entry(node).or_insert(i);
        }
        let served: BTreeSet<u32> = all
            .iter()
            .flat_map(|h| &h.declared.serves)
            .copied()
            .collect();
        let follows = all.iter().flat_map(|h| &h.declared.follows);
        Self {
            followed: follows.chain(&served).copied().collect(),
            served,
            at,
            all,
        }
    }
}

impl Deref for Holdings {
    type Target = [Holding];

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}
