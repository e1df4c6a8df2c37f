//! Vectors of ns-3's test of FQ-CoDel, and a slow reading of RFC 8290 for any traffic.

use super::*;
use crate::aqm::{Automaton, Backlog, Codel, DropStage};
use crate::recipe::test_at;
use crate::sched::flow_queue::{Driven, Fair};
use crate::sched::fq::Lists;
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Ecn, Packet, Rng, Time, Verdict};
use std::collections::{BTreeMap, VecDeque};

type FqCodel = Driven<Lists, Codel>;

fn quantum(spec: &FqCodelSpec) -> i64 {
    spec.quantum.map_or(1514, |q| q.0 as i64)
}

fn fq(spec: &FqCodelSpec) -> FqCodel {
    let rate = Rate::from_bps(1_000_000).unwrap();
    let frame = test_at(|at| spec.parts().frame("fq-codel", "flows", at, &rate.into())).unwrap();
    let mut queue = Fair::new(frame, test_at(|at| spec.codel().running(at)).unwrap());
    queue.flows.prepare(&mut Rng::from_key(5));
    Driven::new(queue)
}

fn packet(flow: u32, seq: u32, len: u16) -> Packet {
    Packet {
        hash: flow.wrapping_mul(0x9e37_79b9),
        ..Packet::new(flow, seq, len)
    }
}

/// Drops of `n` packets of 1000 B of one flow where `limit` fit, and what CoDel has counted.
fn fat(n: u32, limit: u32) -> (usize, u32) {
    let mut queue = fq(&FqCodelSpec {
        limit: Limit::Packets(limit),
        ..FqCodelSpec::default()
    });
    let mut dropped = Vec::new();
    for seq in 0..n {
        let lost = queue.offer(packet(0, seq, 1000)).into_iter();
        dropped.extend(lost.map(|(_, seq)| seq));
    }
    // From the head, in order.
    assert!(dropped.iter().copied().eq(0..dropped.len() as u32));
    let count = queue.queue.flows.at(queue.queue.order.new[0]).own.vars;
    let codel = test_at(|at| FqCodelSpec::default().codel().running(at)).unwrap();
    let mut counted = codel.vars();
    codel.pushed_out(&mut counted, dropped.len() as u32);
    assert_eq!(count, counted);
    (dropped.len(), n - queue.queue.flows.packets)
}

#[test]
fn half_of_the_longest_goes_but_no_more_than_a_batch() {
    assert_eq!(fat(100, 99), (50, 50));
    assert_eq!(fat(200, 199), (64, 64));
}

#[test]
fn the_longest_flow_gives() {
    let mut queue = fq(&FqCodelSpec {
        limit: Limit::Packets(4),
        ..FqCodelSpec::default()
    });
    let mut dropped = Vec::new();
    for (flow, seq) in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)] {
        dropped.extend(queue.offer(packet(flow, seq, 500)));
    }
    // Three of 500 B: one is less than half, two are not.
    assert_eq!(dropped, [(1, 0), (1, 1)]);
    assert_eq!(queue.queue.flows_backlog(&packet(1, 9, 1)), (1, 500));
    assert_eq!(queue.queue.flows_backlog(&packet(2, 9, 1)), (2, 1000));
    assert_eq!(queue.queue.flows.packets, 3);
}

/// ns-3: quantum 90 B, packets of 120 B; a third flow keeps the port from running empty.
#[test]
fn deficits_go_round() {
    let mut queue = fq(&FqCodelSpec {
        quantum: Some(Size(90)),
        ..FqCodelSpec::default()
    });
    let add = |queue: &mut FqCodel, flow| {
        assert_eq!(queue.offer(packet(flow, 0, 120)), []);
    };
    let pop = |queue: &mut FqCodel| {
        let (dropped, left) = queue.pop(Time::ZERO);
        assert_eq!(dropped, []);
        left.unwrap().flow
    };
    let deficit = |queue: &FqCodel, flow: u32| {
        let queue = &queue.queue;
        let lists = queue
            .order
            .new
            .iter()
            .map(|s| (*s, true))
            .chain(queue.order.old.iter().map(|s| (*s, false)));
        let mut of = lists.filter(|(s, _)| {
            queue.flows_backlog(&packet(flow, 0, 1)).1 == u64::from(queue.flows.at(*s).waiting)
                && !queue.flows.at(*s).queue.is_empty()
        });
        of.next()
            .map(|(s, new)| (queue.flows.at(s).own.sched.deficit, new))
    };
    add(&mut queue, 9);
    add(&mut queue, 1);
    assert_eq!(pop(&mut queue), 9);
    // f9 owes 30; f1 is behind it, new with a quantum.
    assert_eq!(pop(&mut queue), 1);
    add(&mut queue, 9);
    assert_eq!(deficit(&queue, 9), Some((90, true)));
    assert_eq!(pop(&mut queue), 9);

    // The order of a round with credit below a packet: f1 f2 f3, then again.
    for flow in [1, 1, 2, 2, 3, 3] {
        add(&mut queue, flow);
    }
    let order: Vec<u32> = (0..6).map(|_| pop(&mut queue)).collect();
    assert_eq!(order, [1, 2, 3, 1, 2, 3]);
    assert!(queue.queue.order.new.is_empty() && queue.queue.order.old.is_empty());
}

/// Flow, number, whether marked.
type Left = (u32, u32, bool);

#[derive(Clone)]
struct SlowQueue {
    packets: VecDeque<Packet>,
    deficit: i64,
    codel: <Codel as Automaton>::Vars,
}

/// RFC 8290 §4.1 and §4.2 with lists that are searched.
struct Slow {
    queues: BTreeMap<u32, SlowQueue>,
    new: Vec<u32>,
    old: Vec<u32>,
    judge: Codel,
    spec: FqCodelSpec,
}

impl Slow {
    fn total(&self) -> (usize, u64) {
        let all = || self.queues.values().flat_map(|q| &q.packets);
        (all().count(), all().map(|p| u64::from(p.len)).sum())
    }

    fn offer(&mut self, bucket: u32, packet: Packet, limit: usize) -> Vec<(u32, u32)> {
        let fresh = SlowQueue {
            packets: VecDeque::new(),
            deficit: 0,
            codel: self.judge.vars(),
        };
        let queue = self.queues.entry(bucket).or_insert(fresh);
        queue.packets.push_back(packet);
        if !self.new.contains(&bucket) && !self.old.contains(&bucket) {
            queue.deficit = quantum(&self.spec);
            self.new.push(bucket);
        }
        let mut dropped = Vec::new();
        while self.total().0 > limit {
            let bytes = |q: &SlowQueue| q.packets.iter().map(|p| p.len).sum::<u32>();
            let most = self.queues.values().map(bytes).max().unwrap();
            let queue = self.queues.values_mut().find(|q| bytes(q) == most).unwrap();
            let (mut n, mut gone) = (0, 0);
            while n < self.spec.drop_batch && (n == 0 || gone < most / 2) {
                let Some(p) = queue.packets.pop_front() else {
                    break;
                };
                gone += p.len;
                n += 1;
                dropped.push((p.flow, p.seq));
            }
            self.judge.pushed_out(&mut queue.codel, n);
        }
        self.idle();
        dropped
    }

    /// Lists are left when nothing waits.
    fn idle(&mut self) {
        if self.total().0 == 0 {
            self.new.clear();
            self.old.clear();
            let judge = &self.judge;
            self.queues
                .values_mut()
                .for_each(|q| judge.retired(&mut q.codel));
        }
    }

    /// What was dropped, and what left, marked or not.
    fn pop(&mut self, now: Time) -> (Vec<(u32, u32)>, Option<Left>) {
        let mut dropped = Vec::new();
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            if list.is_empty() {
                return (dropped, None);
            }
            let bucket = list[0];
            let mut queue = self.queues[&bucket].clone();
            if queue.deficit <= 0 {
                queue.deficit += quantum(&self.spec);
                list.remove(0);
                self.old.push(bucket);
                self.queues.insert(bucket, queue);
                continue;
            }
            let mut turn = DropStage::First;
            let mut left = None;
            let mut found = None;
            while let Some(p) = queue.packets.pop_front() {
                self.queues.insert(bucket, queue.clone());
                let behind = match self.spec.guard {
                    Guard::Total => self.total().1,
                    Guard::Flow => queue.packets.iter().map(|p| u64::from(p.len)).sum(),
                };
                let backlog = Backlog::of(0, behind);
                let rng = &mut Rng::from_key(0);
                match self
                    .judge
                    .departure(&mut queue.codel, &mut turn, now, &backlog, &p, rng)
                {
                    Verdict::Drop(_) => dropped.push((p.flow, p.seq)),
                    verdict => {
                        left = Some(verdict == Verdict::Mark);
                        found = Some(p);
                        break;
                    }
                }
            }
            let Some(p) = found else {
                self.judge.exhausted(&mut queue.codel, now, turn);
                list_remove(if is_new { &mut self.new } else { &mut self.old }, bucket);
                if is_new && !self.old.is_empty() {
                    self.old.push(bucket);
                }
                self.queues.insert(bucket, queue);
                continue;
            };
            queue.deficit -= i64::from(p.len);
            self.queues.insert(bucket, queue);
            self.idle();
            return (dropped, Some((p.flow, p.seq, left == Some(true))));
        }
    }
}

fn list_remove(list: &mut Vec<u32>, bucket: u32) {
    list.retain(|b| *b != bucket);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000 * effort()))]

    #[test]
    fn agrees_with_the_slow_one(
        ops in prop::collection::vec(prop::option::weighted(0.55, (0_u32..9, 40_u16..1600, any::<bool>())), 1..150),
        gap in 1_u64..40,
        quantum in 64_u64..3000,
        limit in 1_u32..40,
        (drop_batch, flows, per_flow, ecn) in (1_u32..8, 1_u32..12, any::<bool>(), any::<bool>()),
    ) {
        let spec = FqCodelSpec {
            quantum: Some(Size(quantum)),
            limit: Limit::Packets(limit),
            drop_batch,
            flows,
            ecn,
            guard: if per_flow { Guard::Flow } else { Guard::Total },
            interval: Dur::from_ms(30),
            ..FqCodelSpec::default()
        };
        let mut fast = fq(&spec);
        let judge = test_at(|at| spec.codel().running(at)).unwrap();
        let mut slow = Slow { queues: BTreeMap::new(), new: Vec::new(), old: Vec::new(), judge, spec };
        let mut now = Time::ZERO;
        for (seq, op) in (0_u32..).zip(ops) {
            now += Dur::from_ms(gap);
            if let Some((flow, len, capable)) = op {
                let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
                let packet = Packet { arrived: now, ecn, ..packet(flow, seq, len) };
                let bucket = fast.queue.flows.number(&packet);
                prop_assert!(bucket < flows);
                prop_assert_eq!(fast.offer(packet), slow.offer(bucket, packet, limit as usize));
            } else {
                let promised = fast.queue.head().map_or(0, |p| p.len);
                let (dropped, got) = fast.pop(now);
                if dropped.is_empty() {
                    prop_assert_eq!(got.map_or(0, |p| p.len), promised);
                }
                let got = got.map(|p| (p.flow, p.seq, p.ecn == Ecn::Ce));
                prop_assert_eq!((dropped, got), slow.pop(now));
            }
            prop_assert_eq!(fast.queue.flows.packets as usize, slow.total().0);
        }
    }
}
