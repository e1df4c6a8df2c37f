//! The next hop from a node to a destination, while links fail.

use spillgate_scenario::plan::WorldPlan;
use spillgate_scenario::routes::Routes;

/// The current routes, with the next hops that were looked up since the last change.
pub(crate) struct NextHops {
    routes: Routes,
    known: Known,
}

impl NextHops {
    pub(crate) fn new(plan: &WorldPlan) -> Self {
        Self {
            routes: plan.routing(),
            known: Known::new(plan),
        }
    }

    /// The first link from `node` to `dest`, if there is a path.
    #[inline]
    pub(crate) fn get(&mut self, node: u32, dest: u32) -> Option<u32> {
        match self.known.get(node, dest) {
            Some(link) => link,
            None => {
                let link = self.routes.next_hop(node, dest);
                self.known.put(node, dest, link);
                link
            }
        }
    }

    /// Routing has learned that a link is up, or down.
    pub(crate) fn set_up(&mut self, link: u32, up: bool) {
        self.routes.set_up(link, up);
        self.known.clear();
    }
}

/// Next hops that were looked up. Small networks have a table of all pairs; large ones a two-way
/// associative cache, so that neither its size nor the time of a look-up grows with nodes times
/// destinations.
enum Known {
    /// By node, then destination: a link, [`NO_PATH`], or [`UNKNOWN`].
    All {
        links: Vec<u32>,
        nodes: usize,
    },
    Some(Cells),
}

const NO_PATH: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;
/// The largest number of pairs for a table of all pairs.
const MAX_PAIRS: usize = 1 << 16;

/// A table entry as an option.
#[inline]
fn named(link: u32) -> Option<u32> {
    (link != NO_PATH).then_some(link)
}

impl Known {
    fn new(plan: &WorldPlan) -> Self {
        let nodes = plan.nodes.len();
        match nodes.checked_mul(nodes) {
            Some(pairs) if pairs <= MAX_PAIRS => Self::All {
                links: vec![UNKNOWN; pairs],
                nodes,
            },
            _ => Self::Some(Cells::new(plan.routes.iter().map(|r| r.len()).sum())),
        }
    }

    #[inline]
    fn get(&self, node: u32, dest: u32) -> Option<Option<u32>> {
        match self {
            Self::All { links, nodes } => {
                let link = links[node as usize * nodes + dest as usize];
                (link != UNKNOWN).then_some(named(link))
            }
            Self::Some(cells) => cells.get(Cells::key(node, dest)),
        }
    }

    fn put(&mut self, node: u32, dest: u32, link: Option<u32>) {
        match self {
            Self::All { links, nodes } => {
                links[node as usize * *nodes + dest as usize] = link.unwrap_or(NO_PATH);
            }
            Self::Some(cells) => cells.put(Cells::key(node, dest), link),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::All { links, .. } => links.fill(UNKNOWN),
            Self::Some(cells) => cells.clear(),
        }
    }
}

/// A two-way associative cache.
struct Cells {
    /// Key and link, or [`NO_PATH`].
    cells: Vec<(u64, u32)>,
    shift: u32,
}

/// Marks an empty cell; a node's path to itself is never looked up.
const VACANT: u64 = u64::MAX;
/// The largest number of cells, of 16 B each.
const MAX_CELLS: usize = 1 << 20;

impl Cells {
    /// Sized for about this many pairs of a node and a destination.
    fn new(pairs: usize) -> Self {
        let cells = pairs.saturating_mul(8).clamp(64, MAX_CELLS);
        let bits = cells.next_power_of_two().trailing_zeros();
        Self {
            cells: vec![(VACANT, NO_PATH); 1 << bits],
            shift: u64::BITS - bits,
        }
    }

    #[inline]
    fn key(node: u32, dest: u32) -> u64 {
        u64::from(node) << 32 | u64::from(dest)
    }

    /// Fibonacci hashing of both parts: the upper bits of products, which spread small numbers.
    #[inline]
    fn cell(&self, key: u64) -> usize {
        let node = (key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let dest = (key as u32 as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (node.wrapping_add(dest) >> self.shift) as usize
    }

    #[inline]
    fn get(&self, key: u64) -> Option<Option<u32>> {
        let cell = self.cell(key);
        let (mut found, mut link) = self.cells[cell];
        if found != key {
            (found, link) = self.cells[cell ^ 1];
        }
        (found == key).then_some(named(link))
    }

    fn put(&mut self, key: u64, link: Option<u32>) {
        let cell = self.cell(key);
        self.cells[cell ^ 1] = self.cells[cell];
        self.cells[cell] = (key, link.unwrap_or(NO_PATH));
    }

    fn clear(&mut self) {
        self.cells.fill((VACANT, NO_PATH));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_forgets_what_another_key_overwrites() {
        let mut table = Cells::new(0);
        let keys: Vec<u64> = (0..200).map(|i| Cells::key(i, i / 7 + 1000)).collect();
        for (i, key) in (0_u32..).zip(&keys) {
            assert_eq!(table.get(*key), None);
            let link = (i % 3 > 0).then_some(i);
            table.put(*key, link);
            assert_eq!(table.get(*key), Some(link));
        }
        // 64 cells hold at most 64 of the 200, each what was put.
        let held = (0_u32..)
            .zip(&keys)
            .filter_map(|(i, k)| Some((i, table.get(*k)?)));
        let held: Vec<_> = held.collect();
        assert!(held.len() <= 64 && held.len() > 32, "{}", held.len());
        assert!(
            held.iter()
                .all(|(i, link)| *link == (i % 3 > 0).then_some(*i))
        );
        table.clear();
        assert!(keys.iter().all(|k| table.get(*k).is_none()));
    }
}
