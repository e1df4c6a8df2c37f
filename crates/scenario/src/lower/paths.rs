//! The paths of the flows, each stored once.

use std::collections::BTreeMap;

use crate::routes::{Edge, Routes};

/// Paths by their ends, which determine them.
pub(super) struct Paths {
    pub(super) routes: Routes,
    known: BTreeMap<(u32, u32), Option<u32>>,
    /// By number: the links in order.
    pub(super) all: Vec<Box<[u32]>>,
    /// By number: the ends.
    pub(super) ends: Vec<(u32, u32)>,
}

impl Paths {
    pub(super) fn new(nodes: usize, edges: Vec<Edge>) -> Self {
        Self {
            routes: Routes::new(nodes, edges),
            known: BTreeMap::new(),
            all: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The number of the path between two nodes, if there is one.
    pub(super) fn between(&mut self, from: u32, to: u32) -> Option<u32> {
        let Self {
            routes,
            known,
            all,
            ends,
        } = self;
        *known.entry((from, to)).or_insert_with(|| {
            let links = routes.path(from, to)?;
            all.push(links.into());
            ends.push((from, to));
            Some(all.len() as u32 - 1)
        })
    }
}
