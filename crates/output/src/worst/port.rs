//! A port by itself: what its discipline, transmit ring and line make of arrivals that may react to
//! what leaves. It takes microseconds where the whole network takes milliseconds; what it finds is
//! run there afterwards.

use std::collections::VecDeque;

use spillgate_core::{Drops, Packet, Rng, Time};
use spillgate_queueing::Discipline;

use super::shape::Stage;
use super::trial::{Passed, Sent};

/// The port of a stage.
pub(super) struct Port<'a> {
    stage: &'a Stage<'a>,
    discipline: Discipline,
    rng: Rng,
    drops: Drops,
    /// Places of packets in `sent` that wait in the ring.
    ring: VecDeque<usize>,
    pub(super) now: u64,
    free_at: u64,
    /// Packets that wait in the discipline, by flow.
    pub(super) waiting: Vec<u32>,
    /// Packets so far, by flow.
    numbers: Vec<u32>,
    /// What came and was queued, in order.
    pub(super) sent: Vec<Sent>,
    /// What became of each.
    pub(super) passed: Vec<Passed>,
    /// The flows of the packets that the discipline has let go since this was cleared.
    pub(super) taken: Vec<usize>,
}

impl<'a> Port<'a> {
    pub(super) fn new(stage: &'a Stage<'a>) -> Self {
        let flows = stage.feeds.len();
        Self {
            stage,
            discipline: stage.discipline.clone(),
            rng: Rng::from_key(0),
            drops: Drops::new(),
            ring: VecDeque::new(),
            now: 0,
            free_at: 0,
            waiting: vec![0; flows],
            numbers: vec![0; flows],
            sent: Vec::new(),
            passed: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Whether the queue of a flow's class has room, so that nothing is pushed out.
    pub(super) fn fits(&self, feed: usize) -> bool {
        let leaf = usize::from(self.stage.feeds[feed].leaf);
        let (packets, bytes) = self.discipline.leaves()[leaf].backlog();
        let limit = self.stage.limits[leaf];
        let len = u64::from(self.stage.wire[feed]);
        limit.packets.is_none_or(|n| packets < n) && limit.bytes.is_none_or(|n| bytes + len <= n)
    }

    /// A packet comes; whether it and all others are kept.
    pub(super) fn offer(&mut self, feed: usize, len: u16) -> bool {
        let (of, place) = (&self.stage.feeds[feed], self.sent.len());
        let mut packet = Packet::new(feed as u32, self.numbers[feed], len);
        packet.handle = place as u64;
        packet.len = self.stage.overhead.wire_len(len);
        packet.dscp = of.dscp;
        packet.ecn = self.stage.ecn[feed];
        packet.hash = self.stage.hash[feed];
        packet.sent = Time::from_ps(self.now);
        packet.arrived = packet.sent;
        let at = packet.arrived;
        let leaf = self
            .discipline
            .enqueue(at, packet, &mut self.rng, &mut self.drops);
        self.sent.push(Sent {
            feed,
            at: self.now,
            len,
        });
        self.passed.push(Passed {
            feed,
            seq: self.numbers[feed],
            leaf,
            arrived: self.now,
            taken: None,
            end: None,
        });
        self.numbers[feed] += 1;
        self.waiting[feed] += 1;
        let kept = self.drops.is_empty();
        self.count_drops(Some(place));
        self.settle();
        kept
    }

    /// `came`: the packet that has just come, which leaves no trace if it is refused.
    fn count_drops(&mut self, came: Option<usize>) {
        for lost in self.drops.as_slice() {
            let feed = lost.packet.flow as usize;
            self.waiting[feed] -= 1;
            if came == Some(lost.packet.handle as usize) {
                self.sent.pop();
                self.passed.pop();
                self.numbers[feed] -= 1;
            }
        }
        self.drops.clear();
    }

    fn dequeue(&mut self) -> Option<usize> {
        let now = Time::from_ps(self.now);
        let packet = self.discipline.dequeue(now, &mut self.rng, &mut self.drops);
        self.count_drops(None);
        let packet = packet?;
        let place = packet.handle as usize;
        self.waiting[packet.flow as usize] -= 1;
        self.passed[place].taken = Some(self.now);
        self.taken.push(packet.flow as usize);
        Some(place)
    }

    /// Fills the line, and the ring.
    fn settle(&mut self) {
        loop {
            if self.free_at <= self.now {
                let next = self.ring.pop_front().or_else(|| self.dequeue());
                let Some(place) = next else { break };
                let s = self.sent[place];
                let wire = self.stage.overhead.wire_len(s.len);
                self.free_at = self.now + self.stage.rate.tx_time(wire).as_ps();
                self.passed[place].end = Some(self.free_at);
                let leaf = self.passed[place].leaf;
                let end = Time::from_ps(self.free_at);
                self.discipline.transmits_until(leaf, end);
            } else if self.ring.len() + 1 < self.stage.ring as usize {
                let Some(place) = self.dequeue() else { break };
                self.ring.push_back(place);
            } else {
                break;
            }
        }
    }

    /// When something leaves next, if nothing comes.
    pub(super) fn next(&self) -> Option<u64> {
        let now = Time::from_ps(self.now);
        if self.free_at > self.now && self.ring.len() + 1 >= self.stage.ring as usize {
            let waits = self.discipline.backlog_packets() > 0 || !self.ring.is_empty();
            return waits.then_some(self.free_at);
        }
        let sends = (!self.ring.is_empty()).then_some(self.free_at);
        let released = self
            .discipline
            .next_wake(now)
            .map(|t| t.as_ps().max(self.now));
        let released = released.or_else(|| {
            let waits = self.discipline.backlog_packets() > 0;
            waits.then_some(self.free_at.max(self.now))
        });
        sends.into_iter().chain(released).min()
    }

    /// Moves on to a time at which something leaves or comes.
    pub(super) fn advance(&mut self, to: u64) {
        self.now = self.now.max(to);
        self.settle();
    }

    /// What these packets meet.
    pub(super) fn replayed(stage: &'a Stage<'a>, sent: &[Sent]) -> Self {
        let mut port = Self::new(stage);
        for s in sent {
            while let Some(t) = port.next().filter(|t| *t <= s.at) {
                if t == port.now && t > 0 {
                    break;
                }
                port.advance(t);
            }
            port.now = port.now.max(s.at);
            port.offer(s.feed, s.len);
        }
        while let Some(t) = port.next().filter(|t| *t > port.now) {
            port.advance(t);
        }
        port
    }

    /// The packet of the queue that takes longest, and how long.
    pub(super) fn worst(&self) -> Option<(usize, u64)> {
        let took = |(i, p): (usize, &Passed)| Some((i, p.end?.saturating_sub(p.arrived)));
        let own = self.passed.iter().enumerate();
        let own = own.filter(|(_, p)| self.stage.has(p)).filter_map(took);
        own.max_by_key(|(_, took)| *took)
    }
}
