//! Against a slow reading of the paper, for any traffic.

use super::*;
use crate::aqm::Unmanaged;
use crate::sched::flow_queue::{Driven, Fair};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use std::collections::BTreeMap;

type Drr = Driven<Rounds<false>, Unmanaged>;

fn drr(spec: &DrrSpec) -> Drr {
    let rate = Rate::from_bps(1_000_000).unwrap();
    let frame = crate::recipe::test_at(|at| spec.frame(at, &rate.into())).unwrap();
    Driven::new(Fair::new(frame, Unmanaged))
}

fn pop(queue: &mut Drr) -> Option<Packet> {
    let (dropped, left) = queue.pop(Time::ZERO);
    assert_eq!(dropped, []);
    left
}

/// One map of queues, one list of flows; what is longest is looked up.
#[derive(Default)]
struct Slow {
    queues: BTreeMap<u32, VecDeque<Packet>>,
    deficit: BTreeMap<u32, i64>,
    round: VecDeque<u32>,
    in_turn: bool,
}

impl Slow {
    fn offer(&mut self, packet: Packet, limit: usize) -> Vec<(u32, u32)> {
        if !self.round.contains(&packet.flow) {
            self.round.push_back(packet.flow);
            self.deficit.insert(packet.flow, 0);
        }
        self.queues
            .entry(packet.flow)
            .or_default()
            .push_back(packet);
        let mut dropped = Vec::new();
        while self.queues.values().map(VecDeque::len).sum::<usize>() > limit {
            let bytes = |q: &VecDeque<Packet>| q.iter().map(|p| p.len).sum::<u32>();
            let most = self.queues.values().map(bytes).max().unwrap();
            let longest = self.queues.iter_mut().find(|(_, q)| bytes(q) == most);
            let (flow, queue) = longest.unwrap();
            let victim = queue.pop_front().unwrap();
            if queue.is_empty() {
                self.deficit.insert(*flow, 0);
            }
            dropped.push((victim.flow, victim.seq));
        }
        dropped
    }

    fn pop(&mut self, quantum: i64) -> Option<(u32, u32)> {
        if self.queues.values().all(VecDeque::is_empty) {
            return None;
        }
        loop {
            let flow = *self.round.front().unwrap();
            let queue = self.queues.get_mut(&flow).unwrap();
            let Some(head) = queue.front().copied() else {
                self.round.pop_front();
                self.in_turn = false;
                continue;
            };
            let deficit = self.deficit.get_mut(&flow).unwrap();
            if !self.in_turn {
                *deficit += quantum;
                self.in_turn = true;
            }
            if i64::from(head.len) > *deficit {
                self.round.rotate_left(1);
                self.in_turn = false;
                continue;
            }
            *deficit -= i64::from(head.len);
            queue.pop_front();
            if queue.is_empty() {
                self.round.pop_front();
                self.in_turn = false;
            }
            if self.queues.values().all(VecDeque::is_empty) {
                self.round.clear();
                self.in_turn = false;
            }
            return Some((flow, head.seq));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000 * effort()))]

    #[test]
    fn agrees_with_the_slow_one(
        ops in prop::collection::vec(prop::option::weighted(0.55, (0_u32..6, 40_u16..1600)), 1..150),
        quantum in 64_u64..3000,
        limit in 1_u32..25,
    ) {
        let spec = DrrSpec {
            quantum: Some(Size(quantum)),
            limit: Limit::Packets(limit),
            ..DrrSpec::default()
        };
        let (mut fast, mut slow) = (drr(&spec), Slow::default());
        for (seq, op) in (0_u32..).zip(ops) {
            if let Some((flow, len)) = op {
                let packet = Packet::new(flow, seq, len);
                prop_assert_eq!(fast.offer(packet), slow.offer(packet, limit as usize));
            } else {
                let promised = fast.queue.head().map_or(0, |p| p.len);
                let got = pop(&mut fast);
                prop_assert_eq!(got.map_or(0, |p| p.len), promised);
                prop_assert_eq!(got.map(|p| (p.flow, p.seq)), slow.pop(quantum as i64));
            }
            let waiting: usize = slow.queues.values().map(VecDeque::len).sum();
            prop_assert_eq!(fast.queue.flows.packets as usize, waiting);
        }
    }

    /// Shreedhar and Varghese, theorem 2: while both are backlogged, what two flows have sent
    /// differs by at most a quantum and two of the longest packets.
    #[test]
    fn backlogged_flows_share_alike(
        lens in prop::collection::vec((40_u16..1500, 40_u16..1500), 300..301),
        quantum in 1500_u64..4000,
    ) {
        let mut fast = drr(&DrrSpec { quantum: Some(Size(quantum)), limit: Limit::Packets(10_000), ..DrrSpec::default() });
        for (seq, (a, b)) in (0_u32..).zip(&lens) {
            fast.offer(Packet::new(0, seq, *a));
            fast.offer(Packet::new(1, seq, *b));
        }
        let mut sent = [0_i64; 2];
        // Fewer than either has.
        for _ in 0..300 {
            let p = pop(&mut fast).unwrap();
            sent[p.flow as usize] += i64::from(p.len);
            let waits = |flow| fast.queue.flows_backlog(&Packet::new(flow, 0, 0)).0 > 0;
            if waits(0) && waits(1) {
                prop_assert!((sent[0] - sent[1]).abs() <= quantum as i64 + 2 * 1500, "{sent:?}");
            }
        }
    }
}
