//! Shortest paths through links that come and go.
//!
//! The shortest path has the least cost, among those the fewest links, among
//! those the lowest next node, then the lowest link: from every node one link
//! per destination, so that paths to one destination form a tree.
//!
//! Trees are computed when they are first asked for (Dijkstra's algorithm from
//! the destination backwards, O((links + nodes) log nodes)) and kept. A host
//! behind a router needs none of its own: what leads to it leads to the router
//! first. So the memory is that of the routers among the destinations.
//!
//! ```
//! use spillgate_scenario::routes::{Edge, Routes};
//!
//! let edge = |from, to, cost| Edge { from, to, cost, far_end: None, is_line: false };
//! let mut routes = Routes::new(3, vec![edge(0, 1, 1), edge(1, 2, 1), edge(0, 2, 5)]);
//! assert_eq!(routes.path(0, 2), Some(vec![0, 1]));
//! routes.set_up(1, false);
//! assert_eq!(routes.path(0, 2), Some(vec![2]));
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A link as routing sees it; its id is its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Id of the sending node.
    pub from: u32,
    /// Id of the receiving node.
    pub to: u32,
    /// What it costs to use it, at least 1.
    pub cost: u32,
    /// A circuit of ATM that ends at this node, behind switches: for routing a link to there, with
    /// what the way costs.
    pub far_end: Option<u32>,
    /// Whether it begins at an ATM switch.
    pub is_line: bool,
}

/// Sum of costs, then number of links.
type Distance = (u64, u32);

/// No link.
const NONE: u32 = u32::MAX;
/// Bytes of trees that are kept; beyond, all are computed anew.
const KEPT_BYTES: usize = 256 << 20;
/// Routers in a row behind which a host is looked for. It bounds the walk in a
/// long chain and around a ring; where it ends changes no answer.
const MAX_CHAIN: usize = 8;

/// The state of all links, and the paths that follow from it.
#[derive(Clone, Debug)]
pub struct Routes {
    edges: Vec<Edge>,
    up: Vec<bool>,
    /// Links into each node, ascending, up or not.
    into: Vec<Vec<u32>>,
    /// By circuit with a far end: the lines from its first switch to there.
    ways: BTreeMap<u32, Vec<u32>>,
    /// By destination: the first link from each node, or [`NONE`].
    trees: BTreeMap<u32, Box<[u32]>>,
}

impl Routes {
    /// All links up.
    ///
    /// # Panics
    /// If an end of a link is not below `nodes`.
    pub fn new(nodes: usize, mut edges: Vec<Edge>) -> Self {
        let ways = ways(nodes, &edges);
        for (id, way) in &ways {
            let costs = way.iter().map(|l| edges[*l as usize].cost);
            let cost = costs.fold(0, u32::saturating_add);
            let circuit = &mut edges[*id as usize];
            circuit.cost = circuit.cost.saturating_add(cost);
            circuit.to = circuit.far_end.unwrap_or(circuit.to);
        }
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for (id, e) in edges.iter().enumerate() {
            assert!((e.from as usize) < nodes, "link {id} begins at no node");
            into[e.to as usize].push(id as u32);
        }
        Self {
            up: vec![true; edges.len()],
            edges,
            into,
            ways,
            trees: BTreeMap::new(),
        }
    }

    /// Notes that a link is up, or that it is down and leads nowhere.
    pub fn set_up(&mut self, link: u32, up: bool) {
        if std::mem::replace(&mut self.up[link as usize], up) != up {
            self.trees.clear();
        }
    }

    /// Whether a link is up.
    pub fn is_up(&self, link: u32) -> bool {
        self.up[link as usize]
    }

    /// The first link of the path from `node` to `dest`; none if there is no path,
    /// and none at the destination.
    pub fn next_hop(&mut self, node: u32, dest: u32) -> Option<u32> {
        if node == dest {
            return None;
        }
        let mut root = dest;
        for _ in 0..MAX_CHAIN {
            let Some(link) = self.only_link_into(root) else {
                break;
            };
            root = self.edges[link as usize].from;
            if root == node {
                return Some(link);
            }
        }
        Some(self.tree(root)[node as usize]).filter(|&link| link != NONE)
    }

    /// The links of the path, in order; none if there is no path.
    pub fn path(&mut self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        let mut at = from;
        while at != to {
            let link = self.next_hop(at, to)?;
            path.push(link);
            path.extend(self.ways.get(&link).into_iter().flatten());
            at = self.edges[link as usize].to;
        }
        Some(path)
    }

    /// The link that everything to `node` comes over, if there is just one.
    fn only_link_into(&self, node: u32) -> Option<u32> {
        let mut up = self.into[node as usize]
            .iter()
            .filter(|&&id| self.up[id as usize]);
        up.next().copied().filter(|_| up.next().is_none())
    }

    fn tree(&mut self, dest: u32) -> &[u32] {
        let bytes = self.into.len() * size_of::<u32>();
        if !self.trees.contains_key(&dest) {
            if self.trees.len().saturating_mul(bytes) > KEPT_BYTES {
                self.trees.clear();
            }
            let tree = self.compute(dest);
            self.trees.insert(dest, tree);
        }
        &self.trees[&dest]
    }

    fn compute(&self, dest: u32) -> Box<[u32]> {
        let nodes = self.into.len();
        let mut best: Vec<Option<Distance>> = vec![None; nodes];
        let mut heap = BinaryHeap::from([Reverse(((0, 0), dest))]);
        best[dest as usize] = Some((0, 0));
        while let Some(Reverse((d, node))) = heap.pop() {
            if best[node as usize].is_some_and(|b| b < d) {
                continue;
            }
            for &id in &self.into[node as usize] {
                let e = self.edges[id as usize];
                let candidate = (d.0 + u64::from(e.cost), d.1 + 1);
                let known = &mut best[e.from as usize];
                if self.up[id as usize] && known.is_none_or(|b| candidate < b) {
                    *known = Some(candidate);
                    heap.push(Reverse((candidate, e.from)));
                }
            }
        }
        // Every link on a shortest path closes the distance exactly.
        let mut tree = vec![NONE; nodes];
        for (id, e) in (0_u32..).zip(&self.edges) {
            let (Some(from), Some(to)) = (best[e.from as usize], best[e.to as usize]) else {
                continue;
            };
            let closes = from == (to.0 + u64::from(e.cost), to.1 + 1);
            if self.up[id as usize] && e.from != dest && closes {
                let known = &mut tree[e.from as usize];
                // Links are visited in ascending order.
                if *known == NONE || e.to < self.edges[*known as usize].to {
                    *known = id;
                }
            }
        }
        tree.into()
    }
}

/// The cheapest ways of circuits from their first switch to their far end. Only switches have
/// lines, so that a way leads through nothing else.
fn ways(nodes: usize, edges: &[Edge]) -> BTreeMap<u32, Vec<u32>> {
    let circuits = (0..).zip(edges).filter(|(_, e)| e.far_end.is_some());
    let mut circuits = circuits.peekable();
    if circuits.peek().is_none() {
        return BTreeMap::new();
    }
    let plain = |e: &Edge| Edge {
        far_end: None,
        ..*e
    };
    let mut lines = Routes::new(nodes, edges.iter().map(plain).collect());
    for (id, _) in (0..).zip(edges).filter(|(_, e)| !e.is_line) {
        lines.set_up(id, false);
    }
    let way = |(id, e): (u32, &Edge)| Some((id, lines.path(e.to, e.far_end?)?));
    circuits.filter_map(way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edge(from: u32, to: u32, cost: u32) -> Edge {
        Edge {
            from,
            to,
            cost,
            far_end: None,
            is_line: false,
        }
    }

    fn line(from: u32, to: u32, cost: u32) -> Edge {
        Edge {
            is_line: true,
            ..edge(from, to, cost)
        }
    }

    fn circuit(from: u32, to: u32, far_end: u32) -> Edge {
        Edge {
            far_end: Some(far_end),
            ..edge(from, to, 1)
        }
    }

    /// A hub 0 and branches 1 and 2 around switches 3 and 4; branches have circuits to the hub
    /// only.
    #[test]
    fn circuits_lead_to_their_far_ends() {
        let edges = vec![
            line(3, 0, 1),
            line(3, 1, 1),
            line(3, 4, 1),
            line(4, 3, 1),
            line(4, 2, 1),
            circuit(0, 3, 1),
            circuit(0, 3, 2),
            circuit(1, 3, 0),
            circuit(2, 4, 0),
        ];
        let mut routes = Routes::new(5, edges.clone());
        assert_eq!(routes.path(0, 1), Some(vec![5, 1]));
        assert_eq!(routes.path(0, 2), Some(vec![6, 2, 4]));
        assert_eq!(routes.path(2, 0), Some(vec![8, 3, 0]));
        assert_eq!(routes.path(1, 2), Some(vec![7, 0, 6, 2, 4]));
        assert_eq!(routes.path(2, 1), Some(vec![8, 3, 0, 5, 1]));
        // A circuit between the branches is shorter.
        let mut more = edges.clone();
        more.push(circuit(1, 3, 2));
        assert_eq!(Routes::new(5, more).path(1, 2), Some(vec![9, 2, 4]));
        let mut without = edges;
        without[6].far_end = None;
        assert_eq!(Routes::new(5, without).path(0, 2), Some(vec![6, 2, 4]));
    }

    #[test]
    fn cost_then_links_then_node_then_link_decide() {
        // 0 -> 3 directly for 3, over 1 for 1 + 1, over 2 for 1 + 1, twice.
        let edges = vec![
            edge(0, 3, 3),
            edge(0, 2, 1),
            edge(2, 3, 1),
            edge(0, 1, 1),
            edge(0, 1, 1),
            edge(1, 3, 1),
        ];
        let mut routes = Routes::new(4, edges);
        assert_eq!(
            routes.next_hop(0, 3),
            Some(3),
            "over the lower node, by the lower link"
        );
        assert_eq!(routes.next_hop(3, 3), None);
        assert_eq!(routes.path(3, 3), Some(vec![]));
        assert_eq!(routes.path(3, 0), None);
        let fewer = vec![edge(0, 1, 1), edge(1, 2, 1), edge(0, 2, 2)];
        assert_eq!(Routes::new(3, fewer).next_hop(0, 2), Some(2));
    }

    #[test]
    fn hosts_share_the_tree_of_their_router() {
        // Nodes 0 and 1 are routers, the others hosts of one of them.
        let mut edges = vec![edge(0, 1, 1), edge(1, 0, 1)];
        for host in 2..1002 {
            edges.push(edge(host, host % 2, 1));
            edges.push(edge(host % 2, host, 1));
        }
        let mut routes = Routes::new(1002, edges);
        for host in 2..1001 {
            let path = vec![2 * host - 2, host % 2, 2 * host + 1];
            assert_eq!(routes.path(host, host + 1), Some(path));
        }
        assert_eq!(routes.trees.len(), 2);
    }

    #[test]
    fn a_walk_around_a_ring_ends() {
        let ring = vec![edge(0, 1, 1), edge(1, 0, 1), edge(2, 3, 1)];
        let mut routes = Routes::new(4, ring);
        assert_eq!(routes.path(0, 1), Some(vec![0]));
        assert_eq!(routes.path(2, 1), None);
        assert_eq!(routes.path(0, 3), None);
        assert_eq!(routes.path(2, 3), Some(vec![2]));
    }

    /// Distances by relaxing every link that is up as often as there are nodes (Bellman-Ford).
    fn reference(nodes: usize, edges: &[Edge], up: &[bool], dest: u32) -> Vec<Option<Distance>> {
        let mut best = vec![None; nodes];
        best[dest as usize] = Some((0, 0));
        for _ in 0..nodes {
            for (e, _) in edges.iter().zip(up).filter(|(_, up)| **up) {
                if let Some((c, h)) = best[e.to as usize] {
                    let d = (c + u64::from(e.cost), h + 1);
                    let known: &mut Option<Distance> = &mut best[e.from as usize];
                    if known.is_none_or(|b| d < b) {
                        *known = Some(d);
                    }
                }
            }
        }
        best
    }

    proptest! {
        #[test]
        fn paths_cost_what_bellman_ford_says(
            raw in prop::collection::vec((0_u32..7, 0_u32..7, 1_u32..5), 0..25),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..6),
        ) {
            let edges: Vec<_> = raw.into_iter().map(|(f, t, c)| edge(f, t, c)).collect();
            let mut up = vec![true; edges.len()];
            let mut routes = Routes::new(7, edges.clone());
            let steps = changes.iter().filter(|_| !edges.is_empty()).map(Some);
            for change in std::iter::once(None).chain(steps) {
                if let Some((link, state)) = change {
                    let link = link.index(edges.len());
                    up[link] = *state;
                    routes.set_up(link as u32, *state);
                    prop_assert_eq!(routes.is_up(link as u32), *state);
                }
                for dest in 0..7_u32 {
                    let best = reference(7, &edges, &up, dest);
                    for start in 0..7_u32 {
                        let path = routes.path(start, dest);
                        let cost = path.map(|links| {
                            let mut at = start;
                            for id in &links {
                                let e = edges[*id as usize];
                                assert!(up[*id as usize] && e.from == at);
                                // The tree of the destination itself says the same.
                                assert_eq!(routes.tree(dest)[at as usize], *id);
                                at = e.to;
                            }
                            assert_eq!(at, dest);
                            let sum = links.iter().map(|id| u64::from(edges[*id as usize].cost)).sum();
                            (sum, links.len() as u32)
                        });
                        prop_assert_eq!(cost, best[start as usize]);
                    }
                }
            }
        }
    }
}
