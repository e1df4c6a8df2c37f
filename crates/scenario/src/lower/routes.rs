//! Shortest paths.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// A link as routing sees it; its id is its index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) cost: u32,
}

/// Sum of costs, then number of links.
type Distance = (u64, u32);

/// `result[node][destination]`: the first link of the shortest path, none where
/// there is none or no flow goes to the destination.
///
/// The shortest path has the least cost, among those the fewest links, among
/// those the lowest next node, then the lowest link. Dijkstra's algorithm from
/// each destination backwards: O(destinations (links + nodes) log nodes).
pub(crate) fn next_hops(
    nodes: usize,
    edges: &[Edge],
    destinations: impl IntoIterator<Item = u32>,
) -> Vec<Vec<Option<u32>>> {
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (id, e) in edges.iter().enumerate() {
        into[e.to as usize].push(id as u32);
    }
    let mut table = vec![vec![None; nodes]; nodes];
    let destinations: BTreeSet<u32> = destinations.into_iter().collect();
    for dest in destinations {
        let mut best: Vec<Option<Distance>> = vec![None; nodes];
        let mut heap = BinaryHeap::from([Reverse(((0, 0), dest))]);
        best[dest as usize] = Some((0, 0));
        while let Some(Reverse((d, node))) = heap.pop() {
            if best[node as usize].is_some_and(|b| b < d) {
                continue;
            }
            for &id in &into[node as usize] {
                let e = edges[id as usize];
                let candidate = (d.0 + u64::from(e.cost), d.1 + 1);
                let known = &mut best[e.from as usize];
                if known.is_none_or(|b| candidate < b) {
                    *known = Some(candidate);
                    heap.push(Reverse((candidate, e.from)));
                }
            }
        }
        // Every link on a shortest path closes the distance exactly.
        let mut chosen: Vec<Option<(u32, u32)>> = vec![None; nodes];
        for (id, e) in edges.iter().enumerate() {
            let (Some(from), Some(to)) = (best[e.from as usize], best[e.to as usize]) else {
                continue;
            };
            if e.from != dest && from == (to.0 + u64::from(e.cost), to.1 + 1) {
                let link = (e.to, id as u32);
                let best = &mut chosen[e.from as usize];
                if best.is_none_or(|b| link < b) {
                    *best = Some(link);
                }
            }
        }
        for (node, choice) in chosen.into_iter().enumerate() {
            table[node][dest as usize] = choice.map(|(_, link)| link);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edge(from: u32, to: u32, cost: u32) -> Edge {
        Edge { from, to, cost }
    }

    #[test]
    fn cost_then_links_then_node_then_link_decide() {
        // 0 -> 3 directly for 3, over 1 for 1 + 1, over 2 for 1 + 1, twice.
        let edges = [
            edge(0, 3, 3),
            edge(0, 2, 1),
            edge(2, 3, 1),
            edge(0, 1, 1),
            edge(0, 1, 1),
            edge(1, 3, 1),
        ];
        let table = next_hops(4, &edges, [3]);
        assert_eq!(
            table[0][3],
            Some(3),
            "over the lower node, by the lower link"
        );
        assert_eq!(table[3][3], None);
        assert_eq!(table[3][0], None, "not asked for");
        let fewer = [edge(0, 1, 1), edge(1, 2, 1), edge(0, 2, 2)];
        assert_eq!(next_hops(3, &fewer, [2])[0][2], Some(2));
    }

    /// Distances by relaxing every link as often as there are nodes (Bellman-Ford).
    fn reference(nodes: usize, edges: &[Edge], dest: u32) -> Vec<Option<Distance>> {
        let mut best = vec![None; nodes];
        best[dest as usize] = Some((0, 0));
        for _ in 0..nodes {
            for e in edges {
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
        fn following_the_table_costs_what_bellman_ford_says(
            raw in prop::collection::vec((0_u32..7, 0_u32..7, 1_u32..5), 0..25),
        ) {
            let edges: Vec<_> = raw.into_iter().map(|(f, t, c)| edge(f, t, c)).collect();
            let table = next_hops(7, &edges, 0..7);
            for dest in 0..7_u32 {
                let best = reference(7, &edges, dest);
                for start in 0..7_u32 {
                    let (mut at, mut cost, mut links) = (start, 0_u64, 0_u32);
                    while let Some(id) = table[at as usize][dest as usize] {
                        let e = edges[id as usize];
                        prop_assert_eq!(e.from, at);
                        (at, cost, links) = (e.to, cost + u64::from(e.cost), links + 1);
                        prop_assert!(links <= 7, "a loop");
                    }
                    let reached = (at == dest).then_some((cost, links));
                    prop_assert_eq!(reached, best[start as usize]);
                }
            }
        }
    }
}
