//! The contract that drivers rely on, for every discipline; its wording is at [`Discipline`].

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use spillgate_core::{DropReason, Drops, Dscp, Dur, Ecn, FlowKey, Packet, Rng, Time};

use crate::{Discipline, LeafStats};

/// DSCPs of [`flows`], by number: EF, AF41, AF31, AF33, AF21, AF23, AF11, default.
const DSCPS: [u8; 8] = [46, 34, 26, 30, 18, 22, 10, 0];

/// Eight flows between different hosts, alternately of UDP and TCP, from port 40000 on to port 5000
/// on.
pub fn flows() -> Arc<[FlowKey]> {
    (0..8).map(flow).collect()
}

fn flow(i: u16) -> FlowKey {
    FlowKey {
        src: Ipv4Addr::new(10, 0, 0, i as u8).into(),
        dst: Ipv4Addr::new(10, 1, 0, 1).into(),
        protocol: if i % 2 == 0 { 17 } else { 6 },
        sport: 40_000 + i,
        dport: 5_000 + i,
    }
}

/// Packet `seq` of one of [`flows`], `len` bytes long: each flow has a different DSCP, every third
/// is ECN-capable, and the sixth is that of a scalable sender.
pub fn packet(number: u32, seq: u32, len: u16) -> Packet {
    let value = DSCPS[number as usize % DSCPS.len()];
    let hash = u16::try_from(number).ok().filter(|n| *n < 8);
    Packet {
        handle: u64::from(number) << 32 | u64::from(seq),
        dscp: Dscp::new(value).unwrap_or_default(),
        ecn: match number {
            // A scalable sender.
            5 => Ecn::Ect1,
            n if n % 3 == 0 => Ecn::Ect0,
            _ => Ecn::NotEct,
        },
        hash: hash.map_or(number, |n| flow(n).hash()),
        ..Packet::new(number, seq, len)
    }
}

/// An operation of a driver.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A packet of one of [`flows`] arrives.
    Arrive {
        /// Its flow.
        flow: u32,
        /// Its length in bytes.
        len: u16,
    },
    /// The server asks for a packet.
    Serve,
    /// Time passes.
    Pass(Dur),
    /// The link fails: all queued packets are dropped.
    Flush,
    /// An arrival while the link is down.
    Refuse {
        /// Its flow.
        flow: u32,
        /// Its length in bytes.
        len: u16,
    },
}

/// That many random operations: packets of all lengths, pauses, now and then a failure.
pub fn random_ops(rng: &mut Rng, n: usize) -> Vec<Op> {
    let arrival = |rng: &mut Rng| {
        let len = match rng.below(2) {
            0 => 1500,
            _ => 40 + rng.below(1460) as u16,
        };
        (rng.below(8), len)
    };
    let op = |rng: &mut Rng| match rng.below(42) {
        0..16 => {
            let (flow, len) = arrival(rng);
            Op::Arrive { flow, len }
        }
        16..28 => Op::Serve,
        28..36 => Op::Pass(Dur::from_us(rng.below(20_000).into())),
        // Tokens fill up, averages decay.
        36..40 => Op::Pass(Dur::from_secs(rng.below(3).into())),
        40 => Op::Flush,
        _ => {
            let (flow, len) = arrival(rng);
            Op::Refuse { flow, len }
        }
    };
    (0..n).map(|_| op(rng)).collect()
}

/// An entry of the ledger, one for each packet that left or was dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry {
    /// A packet left.
    Sent(Time, Packet),
    /// A packet was dropped, with the metric that counts it.
    Dropped(Time, Packet, &'static str),
}

/// Promises of a discipline beyond those that all must keep.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Packets of a flow leave in the order of their arrival.
    pub in_order: bool,
    /// It never delays packets: if some are queued, one leaves.
    pub work_conserving: bool,
}

impl Contract {
    /// Runs that many random sequences of operations on the discipline that `build` makes, and
    /// checks after each operation:
    ///
    /// - every packet leaves or is dropped, once, and the counters agree;
    /// - a discipline that gives no packet says when it will, and does so then, not before;
    /// - asking more often than needed changes nothing;
    /// - a clone goes on as the original does, and the same seed gives the same results;
    /// - a flush drops all queued packets, in order within a flow.
    ///
    /// # Panics
    /// If the discipline breaks the contract, with the rule that it broke.
    pub fn check(&self, build: impl Fn() -> Discipline, cases: u64) {
        for seed in 0..cases {
            let mut rng = Rng::named(seed, 0, "contract", "operations");
            let n = 1 + rng.below(160) as usize;
            let ops = random_ops(&mut rng, n);
            self.check_ops(&build, seed, &ops, rng.below(160) as usize);
        }
    }

    /// Checks one sequence; a clone is made before operation `fork_at`.
    ///
    /// # Panics
    /// If the discipline breaks the contract.
    pub fn check_ops(&self, build: impl Fn() -> Discipline, seed: u64, ops: &[Op], fork_at: usize) {
        let (mut d, mut nosy) = (Driver::new(build(), seed), Driver::new(build(), seed));
        nosy.nosy = true;
        let mut forked = None;
        for (i, op) in ops.iter().enumerate() {
            if i == fork_at {
                forked = Some(d.fork());
            }
            d.apply(*op);
            nosy.apply(*op);
            if let Some(f) = &mut forked {
                f.apply(*op);
            }
            self.check_wake(&d);
            let gone = d.ledger.len() as u32;
            let waiting = d.discipline.backlog_packets();
            assert_eq!(
                d.seq.iter().sum::<u32>(),
                gone + waiting,
                "the backlog is what came minus what went"
            );
        }
        d.drain();
        nosy.drain();
        assert_eq!(d.ledger, nosy.ledger, "polling matters");
        if let Some(mut f) = forked {
            f.drain();
            assert_eq!(d.ledger, f.ledger, "a clone differs");
        }
        self.check_ledger(&d);
    }

    /// Checks that if no packet may leave now, none leaves before the wake-up and one leaves at it.
    ///
    /// # Panics
    /// If not.
    pub fn check_wake(&self, d: &Driver) {
        let mut now = d.fork();
        if now.does_something() {
            return;
        }
        let wake = d.discipline.next_wake(d.now);
        if d.discipline.backlog_packets() == 0 {
            assert_eq!(wake, None, "nothing waits");
            return;
        }
        assert!(!self.work_conserving, "it holds packets back");
        let wake = wake.expect("what waits leaves one day");
        assert!(wake > d.now, "it would leave now");
        let gap = wake.since(d.now).as_ps();
        for early in [gap - 1, gap / 2, gap / 3, 1.min(gap - 1)] {
            let mut before = d.fork();
            before.now += Dur::from_ps(early);
            assert!(!before.does_something(), "too early by {}", gap - early);
            let again = before.discipline.next_wake(before.now);
            assert_eq!(again, Some(wake), "the wake-up moves");
        }
        let mut at = d.fork();
        at.now = wake;
        assert!(at.does_something(), "nothing at the wake-up");
    }

    /// Checks that every packet left or was dropped, once, of a discipline that is drained.
    ///
    /// # Panics
    /// If not.
    pub fn check_ledger(&self, d: &Driver) {
        let mut seen = BTreeSet::new();
        let mut last = BTreeMap::new();
        let mut sent = 0;
        for entry in &d.ledger {
            let (Entry::Sent(_, p) | Entry::Dropped(_, p, _)) = entry;
            assert!(seen.insert((p.flow, p.seq)), "{p:?} twice");
            assert!(usize::from(p.leaf) < d.discipline.leaves().len());
            if let Entry::Sent(..) = entry {
                sent += 1;
                let before = last.insert(p.flow, p.seq);
                assert!(!self.in_order || before < Some(p.seq), "{p:?} overtakes");
            }
        }
        let offered: u32 = d.seq.iter().sum();
        assert_eq!(seen.len(), offered as usize, "packets are lost");
        let count = |f: fn(&LeafStats) -> u64| d.discipline.leaves().iter().map(f).sum::<u64>();
        assert_eq!(count(|s| s.offered_packets), u64::from(offered));
        assert_eq!(count(|s| s.dequeued_packets()), sent);
        let dropped = d.ledger.len() as u64 - sent;
        assert_eq!(count(LeafStats::dropped_packets), dropped);
        assert_eq!(d.discipline.backlog_bytes(), 0);
    }
}

/// A discipline under test, with the state of a driver.
#[derive(Debug)]
pub struct Driver {
    /// The discipline.
    pub discipline: Discipline,
    /// Its random numbers.
    pub rng: Rng,
    /// The present.
    pub now: Time,
    /// The number of packets that have arrived, by flow.
    pub seq: [u32; 8],
    /// The packets that left or were dropped.
    pub ledger: Vec<Entry>,
    /// Whether to poll far more than needed.
    pub nosy: bool,
    drops: Drops,
}

impl Driver {
    /// A driver at time 0, which announces [`flows`].
    pub fn new(mut discipline: Discipline, seed: u64) -> Self {
        discipline.announce(&flows());
        Self {
            discipline,
            rng: Rng::from_key(seed),
            now: Time::ZERO,
            seq: [0; 8],
            ledger: Vec::new(),
            nosy: false,
            drops: Drops::new(),
        }
    }

    /// An independent copy.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            discipline: self.discipline.clone(),
            rng: self.rng.clone(),
            ledger: self.ledger.clone(),
            drops: Drops::new(),
            ..*self
        }
    }

    fn collect_drops(&mut self) {
        for d in self.drops.as_slice() {
            let reason = d.reason.metric();
            self.ledger.push(Entry::Dropped(self.now, d.packet, reason));
        }
        self.drops.clear();
    }

    /// Asks for a packet.
    ///
    /// # Panics
    /// If there is none although some are queued, and the discipline does not say when to ask
    /// again.
    pub fn serve(&mut self) -> Option<Packet> {
        let p = self
            .discipline
            .dequeue(self.now, &mut self.rng, &mut self.drops);
        self.collect_drops();
        if let Some(p) = p {
            self.ledger.push(Entry::Sent(self.now, p));
        } else if self.discipline.backlog_packets() > 0 {
            let wake = self.discipline.next_wake(self.now);
            assert!(wake > Some(self.now), "what waits is stuck");
        }
        p
    }

    /// Whether a packet leaves, or one is dropped that might have left.
    fn does_something(&mut self) -> bool {
        let before = self.ledger.len();
        self.serve();
        self.ledger.len() > before
    }

    /// Operations that must change nothing: gauges, and dequeues that give no packet.
    fn poll(&mut self) {
        if !self.nosy {
            return;
        }
        for leaf in 0..=self.discipline.leaves().len() {
            self.discipline.gauges(leaf, self.now);
        }
        let ready = self.fork().does_something();
        self.discipline.next_wake(self.now);
        if !ready {
            assert_eq!(self.serve(), None);
        }
    }

    fn next_packet(&mut self, flow: u32, len: u16) -> Packet {
        let seq = &mut self.seq[flow as usize];
        *seq += 1;
        let mut p = packet(flow, *seq - 1, len);
        p.arrived = self.now;
        // Two of the flows have one and two labels.
        for exp in [3, 5].iter().take((flow as usize).saturating_sub(5)) {
            p.labels.push(*exp);
        }
        p
    }

    /// The link fails: every queued packet is dropped, each once, and none is left.
    ///
    /// # Panics
    /// If not.
    pub fn flush(&mut self) {
        let waiting = self.discipline.backlog_packets() as usize;
        let before = self.ledger.len();
        self.discipline
            .flush(self.now, DropReason::LinkDown, &mut self.drops);
        self.collect_drops();
        let flushed = &self.ledger[before..];
        assert_eq!(flushed.len(), waiting, "a flush gives up all that waits");
        let mut last = BTreeMap::new();
        for entry in flushed {
            let Entry::Dropped(_, p, "drops_link_down") = entry else {
                panic!("{entry:?}");
            };
            assert!(last.insert(p.flow, p.seq) < Some(p.seq), "{p:?} overtakes");
        }
        assert_eq!(self.discipline.backlog_packets(), 0);
        assert_eq!(self.discipline.backlog_bytes(), 0);
        assert_eq!(self.discipline.next_wake(self.now), None);
        assert_eq!(self.serve(), None);
    }

    /// Applies an operation.
    ///
    /// # Panics
    /// If the discipline breaks the contract.
    pub fn apply(&mut self, op: Op) {
        self.poll();
        match op {
            Op::Arrive { flow, len } => {
                let p = self.next_packet(flow, len);
                self.discipline
                    .enqueue(self.now, p, &mut self.rng, &mut self.drops);
                self.collect_drops();
            }
            Op::Flush => self.flush(),
            Op::Refuse { flow, len } => {
                let p = self.next_packet(flow, len);
                let before = self.discipline.backlog_packets();
                self.discipline
                    .refuse(self.now, p, DropReason::LinkDown, &mut self.drops);
                assert_eq!(self.drops.as_slice().len(), 1);
                assert_eq!(self.discipline.backlog_packets(), before);
                self.collect_drops();
            }
            Op::Serve => {
                self.serve();
            }
            Op::Pass(d) => self.now += d,
        }
        self.poll();
    }

    /// Serves until no packet is queued.
    ///
    /// # Panics
    /// If packets are left that never leave.
    pub fn drain(&mut self) {
        while self.discipline.backlog_packets() > 0 {
            if !self.does_something() {
                self.now = self.discipline.next_wake(self.now).expect("a wake-up");
            }
        }
    }
}
