//! Links that fail and are repaired, and routes that follow.
//!
//! What a link carries and what waits for it is lost when it fails, and what is offered to it until
//! its repair. Routing learns of a failure or repair when that has lasted for a time, the sum of
//! detection and convergence; then all nodes change to the new shortest paths at once.
//!
//! In a world with failures packets carry the number of their path in the plan instead of a place in
//! compiled paths, and every node looks up where the destination is reached now. Nothing is worked
//! out ahead, and the links that fail have queues that are asked packet by packet.
//!
//! Cost: O(1) per packet and node; after a change of routes once more the shortest paths to the
//! destinations in use.

use std::collections::{BTreeMap, VecDeque};

use spillgate_core::rng::hash_bytes;
use spillgate_core::{DropReason, Dropped, Dur, Packet, Rng, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_scenario::plan::{FailurePlan, WorldPlan};
use spillgate_scenario::routes::Routes;

use super::World;
use crate::port::Port;
use crate::window::grace_over;

/// What happens to a link; at one instant in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Repaired,
    Failed,
    /// Routing knows of its repair.
    KnownUp,
    /// Routing knows of its failure.
    KnownDown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    at: Time,
    what: What,
    link: u32,
}

/// All that is known of failures, past and to come, and the routes of the moment.
pub(super) struct Failures {
    /// By time.
    changes: Vec<Change>,
    /// The first one that has not happened yet.
    next: usize,
    /// Slot of the event set.
    slot: u32,
    routes: Routes,
    next_hops: NextHops,
    /// First and last node of each path of the plan.
    ends: Vec<(u32, u32)>,
    /// The node at the far end of each link.
    far: Vec<u32>,
    /// Hashes of the nodes' names, for the digest.
    places: Vec<u64>,
}

/// Which links fail, now or later.
pub(super) fn failing(plan: &WorldPlan) -> Vec<bool> {
    let mut fails = vec![false; plan.links.len()];
    plan.failures
        .iter()
        .for_each(|f| fails[f.link as usize] = true);
    fails
}

/// The failures of a run: each as late as its own stream says.
fn drawn(plan: &WorldPlan, seed: u64, run: u32) -> Vec<FailurePlan> {
    let late = |f: &FailurePlan| {
        if f.spread.is_zero() {
            return *f;
        }
        let path = format!("failures/{}", f.number);
        let share = Rng::named(seed, run, &path, "spread").f64();
        let by = Dur::from_secs_f64(share * f.spread.as_secs_f64());
        FailurePlan {
            down: f.down + by,
            up: if f.up < Time::MAX { f.up + by } else { f.up },
            ..*f
        }
    };
    plan.failures.iter().map(late).collect()
}

/// Everything that happens, by time.
fn changes(plan: &WorldPlan, failures: &[FailurePlan]) -> Vec<Change> {
    let mut all = Vec::new();
    // Failures of one link do not overlap, however late they are: from the last to the first, when
    // it fails next.
    let mut next_down = BTreeMap::new();
    for f in failures.iter().rev() {
        let next = next_down.insert(f.link, f.down).unwrap_or(Time::MAX);
        let link = f.link;
        let mut push = |at, what| {
            if at < Time::MAX {
                all.push(Change { at, what, link });
            }
        };
        push(f.down, What::Failed);
        push(f.up, What::Repaired);
        // What does not last until routing has reacted goes unnoticed.
        if f.down + plan.reroute < f.up {
            push(f.down + plan.reroute, What::KnownDown);
        }
        if f.up + plan.reroute < next {
            push(f.up + plan.reroute, What::KnownUp);
        }
    }
    all.sort_unstable();
    all
}

impl Failures {
    /// None if nothing fails.
    pub(super) fn new(plan: &WorldPlan, seed: u64, run: u32, slot: u32) -> Option<Self> {
        if plan.failures.is_empty() {
            return None;
        }
        let end = |link: Option<&u32>, of: fn(u32, u32) -> u32| {
            link.map_or(0, |&l| {
                let link = &plan.links[l as usize];
                of(link.from, link.to)
            })
        };
        let ends = plan
            .routes
            .iter()
            .map(|r| (end(r.first(), |from, _| from), end(r.last(), |_, to| to)))
            .collect();
        let name = |n: &String| hash_bytes(format!("nodes/{n}").as_bytes());
        Some(Self {
            changes: changes(plan, &drawn(plan, seed, run)),
            next: 0,
            slot,
            routes: plan.routing(),
            next_hops: NextHops::new(plan),
            ends,
            far: plan.links.iter().map(|l| l.to).collect(),
            places: plan.nodes.iter().map(name).collect(),
        })
    }

    /// The next change, if it is due at `now`.
    fn due(&mut self, now: Time) -> Option<Change> {
        let change = *self.changes.get(self.next).filter(|c| c.at <= now)?;
        self.next += 1;
        Some(change)
    }

    /// The first link from `node` to `dest`, if there is a path.
    #[inline]
    fn next_hop(&mut self, node: u32, dest: u32) -> Option<u32> {
        match self.next_hops.get(node, dest) {
            Some(link) => link,
            None => {
                let link = self.routes.next_hop(node, dest);
                self.next_hops.put(node, dest, link);
                link
            }
        }
    }

    /// The last node of the provider on the way from one of its nodes to `dest`, without leaving
    /// its network; none if that is the first one, or if there is no way.
    fn last_provider(
        &mut self,
        from: u32,
        dest: u32,
        is_provider: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut last = from;
        while last != dest {
            let link = self.next_hop(last, dest)?;
            let next = self.far[link as usize];
            if !is_provider(next) {
                break;
            }
            last = next;
        }
        (last != from).then_some(last)
    }

    /// What the wires of the longest path take.
    fn longest_wires(&mut self, plan: &WorldPlan) -> Dur {
        let mut longest = Dur::ZERO;
        for path in 0..self.ends.len() {
            let (mut node, dest) = self.ends[path];
            let mut wires = Dur::ZERO;
            while node != dest {
                let Some(link) = self.next_hop(node, dest) else {
                    break;
                };
                wires = wires + plan.links[link as usize].delay;
                node = self.far[link as usize];
            }
            longest = longest.max(wires);
        }
        longest
    }
}

impl<S: EventSet> World<S> {
    /// Sets the wake of the next change.
    pub(super) fn plan_change(&mut self) {
        if let Some(f) = &self.failures {
            if let Some(change) = f.changes.get(f.next) {
                self.events.schedule(f.slot, change.at, Rank::Control);
            }
        }
    }

    /// Everything that happens to links and routes at this instant.
    #[cold]
    pub(super) fn change_links(&mut self) {
        let mut learned = false;
        while let Some(change) = self.failures.as_mut().and_then(|f| f.due(self.now)) {
            match change.what {
                What::Repaired => self.repair(change.link as usize),
                What::Failed => self.fail(change.link as usize),
                What::KnownUp | What::KnownDown => {
                    if let Some(f) = &mut self.failures {
                        f.routes.set_up(change.link, change.what == What::KnownUp);
                        learned = true;
                    }
                }
            }
        }
        if learned {
            self.reroute();
        }
        self.plan_change();
    }

    fn reroute(&mut self) {
        if let Some(mpls) = &mut self.mpls {
            mpls.reroute();
        }
        if let Some(f) = &mut self.failures {
            f.next_hops.clear();
            let wires = f.longest_wires(&self.plan);
            let end = self.window.end() + grace_over(wires, &self.plan);
            self.give_up = self.give_up.max(end);
        }
    }

    /// A link goes down: what is in its pipe, which includes the packet in transmission, and what
    /// waits is lost.
    fn fail(&mut self, link: usize) {
        let (now, window, reason) = (self.now, self.window, DropReason::LinkDown);
        let l = &mut self.links[link];
        let Port::Queued(port) = &mut l.port else {
            return; // those that fail are not computed
        };
        port.down = true;
        if port.free_at > now {
            l.meter.on_cut(window, now, port.free_at);
            port.free_at = now;
        }
        port.wake = Time::MAX;
        self.events.cancel(port.slot);
        self.events.cancel(self.slots.wires + link as u32);
        let place = l.path;
        let pipe = self.wires.take(link);
        let leaves = port.wire.replace(VecDeque::new()).unwrap_or_default();
        for leaf in &leaves {
            port.queues[usize::from(*leaf)].on_lost_on_the_wire(window, now, reason);
        }
        for (head, _) in pipe.into_iter().zip(leaves) {
            let packet = head.packet();
            let lost = Dropped { packet, reason };
            if self.tap.is_some() {
                self.tap_lost(Some(link), false, &lost);
            }
            self.lose(now, place, &lost);
        }
        let Port::Queued(port) = &mut self.links[link].port else {
            return;
        };
        port.discipline.flush(now, reason, &mut self.drops);
        self.drain_drops(link);
    }

    /// A link is up again; its server is free and nothing waits.
    fn repair(&mut self, link: usize) {
        if let Port::Queued(port) = &mut self.links[link].port {
            port.down = false;
        }
    }

    /// A packet at the far end of `link`, or at its source, where paths are not compiled.
    #[inline(never)]
    pub(super) fn forward_by_routes(&mut self, link: Option<usize>, mut packet: Packet) {
        let Some(f) = &mut self.failures else {
            return;
        };
        let (source, mut dest) = f.ends[(packet.handle >> 32) as usize];
        let node = match link {
            None => source,
            Some(link) => {
                if let Port::Queued(port) = &mut self.links[link].port {
                    if let Some(wire) = &mut port.wire {
                        wire.pop_front();
                    }
                }
                f.far[link]
            }
        };
        if self.mpls.is_some() {
            dest = self.switch_labels(node, &mut packet);
        }
        let Some(f) = &mut self.failures else {
            return;
        };
        if node == dest {
            return self.receive(&packet);
        }
        match f.next_hop(node, dest) {
            Some(link) if !self.leaves_network(link, &packet) => {
                self.offer(link as usize, packet, self.now);
            }
            _ => self.lose_unroutable(node, packet),
        }
    }

    fn lose_unroutable(&mut self, node: u32, packet: Packet) {
        let Some(f) = &self.failures else {
            return;
        };
        let (place, reason) = (f.places[node as usize], DropReason::Unroutable);
        let lost = Dropped { packet, reason };
        if self.tap.is_some() {
            self.tap_lost(None, false, &lost);
        }
        self.lose(self.now, place, &lost);
    }

    /// Where a packet at `node` is bound for: it may leave a tunnel here, and enter one.
    fn switch_labels(&mut self, node: u32, packet: &mut Packet) -> u32 {
        let number = (packet.handle >> 32) as u32;
        let (Some(f), Some(mpls), Some(plan)) =
            (&mut self.failures, &mut self.mpls, &self.plan.mpls)
        else {
            return node;
        };
        let dest = f.ends[number as usize].1;
        let tunnel = mpls.tunnel(number);
        if tunnel.is_some() && node != dest {
            return dest;
        }
        let path = tunnel.map_or(number, |t| t.path);
        let dest = f.ends[path as usize].1;
        packet.handle = u64::from(path) << 32 | u64::from(packet.handle as u32);
        if node == dest || !plan.is_provider(node) {
            return dest;
        }
        let chosen = match mpls.chosen(path, node) {
            Some(chosen) => chosen,
            None => {
                let egress = f.last_provider(node, dest, |n| plan.is_provider(n));
                let (chosen, is_new) = mpls.choose(plan, path, node, egress);
                if let (true, Some(egress)) = (is_new, egress) {
                    f.ends.push((node, egress));
                    self.hops.push(super::ROUTED);
                }
                chosen
            }
        };
        let Some(number) = chosen else {
            return dest;
        };
        packet.handle = u64::from(number) << 32 | u64::from(packet.handle as u32);
        let dest = f.ends[number as usize].1;
        if tunnel.is_some() {
            self.leave_tunnel(packet);
        }
        dest
    }

    /// Whether a packet in a tunnel would go over a link to a node without labels.
    fn leaves_network(&self, link: u32, packet: &Packet) -> bool {
        let (Some(mpls), Some(plan)) = (&self.mpls, &self.plan.mpls) else {
            return false;
        };
        let tunnel = mpls.tunnel((packet.handle >> 32) as u32);
        tunnel.is_some() && !plan.is_provider(self.plan.links[link as usize].to)
    }
}

/// What [`Routes`] has said since the last change. In small networks a table of all pairs; in large
/// ones a cache of two places for each key, so that neither its size nor the time of a look-up grows
/// with nodes times destinations.
enum NextHops {
    /// By node, then destination: a link, [`NO_PATH`], or [`UNKNOWN`].
    All {
        links: Vec<u32>,
        nodes: usize,
    },
    Some(Cells),
}

const NO_PATH: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;
/// Most pairs in a table of all.
const MAX_PAIRS: usize = 1 << 16;

/// What a table says of a link.
#[inline]
fn named(link: u32) -> Option<u32> {
    (link != NO_PATH).then_some(link)
}

impl NextHops {
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

/// A cache of two places for each key.
struct Cells {
    /// Key and link, or [`NO_PATH`].
    cells: Vec<(u64, u32)>,
    shift: u32,
}

/// No key: a node's path to itself is never asked for.
const VACANT: u64 = u64::MAX;
/// Most cells, of 16 B each.
const MAX_CELLS: usize = 1 << 20;

impl Cells {
    /// For about so many pairs of a node and a destination in use.
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
