//! The input side: queues, their buffer, and their counters.

use std::collections::VecDeque;
use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, Drops, FlowKey, Packet, Rng, Time};
use spillgate_queueing::{Discipline, Evidence, Recipe};

use crate::switch::buffer::{Buffer, Occupied};
use crate::switch::matcher::Weights;
use crate::switch::ports::{PortSet, Requests};
use crate::switch::stats::{Counts, Level, Period};
use crate::switch::{Crossed, FabricOutbox, Lost};

/// A waiting packet.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    packet: Packet,
    /// Its number in the order of arrival at the switch.
    number: u64,
    output: u16,
}

/// Where the packets of a queue are.
#[derive(Clone, Debug)]
enum Store {
    Plain(VecDeque<Waiter>),
    Policy(Box<Discipline>),
}

/// A packet of which some cells have crossed.
#[derive(Clone, Debug)]
struct Begun {
    waiter: Waiter,
    /// Cells that have not.
    cells: u32,
    /// When its first cell began to cross.
    started: Time,
}

/// A virtual output queue, or the FIFO of an input.
#[derive(Clone, Debug)]
struct Queue {
    store: Store,
    begun: Option<Box<Begun>>,
    /// The number of the packet that came when it was empty.
    busy_since: u64,
}

/// The packets of one input for one output.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    level: Level,
    counts: Counts,
}

/// A packet that has just arrived at an empty queue and found no room in the buffer, with the limit
/// that it met.
#[derive(Clone, Debug)]
struct Unplaced {
    queue: usize,
    waiter: Waiter,
    evidence: Evidence,
}

/// The input side of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    ports: usize,
    /// Whether inputs have a queue for each output.
    is_voq: bool,
    /// By input, or by input and output.
    queues: Vec<Queue>,
    /// By input, then by output.
    pairs: Vec<Pair>,
    inputs: Vec<Level>,
    outputs: Vec<Level>,
    all: Occupied,
    buffer: Buffer,
    pub(crate) requests: Requests,
    /// By output: the packets of which some cells have crossed.
    begun: Vec<u32>,
    /// The outputs for which something waits, complete or begun.
    wanted: PortSet,
    /// The number of the next packet.
    next: u64,
    /// The packet that is lost unless it crosses at this instant.
    unplaced: Option<Unplaced>,
    pub(crate) period: Period,
}

impl Inputs {
    pub(crate) fn new(ports: usize, is_voq: bool, buffer: Buffer, policy: Option<&Recipe>) -> Self {
        let queues = if is_voq { ports * ports } else { ports };
        let flows: Arc<[FlowKey]> = Arc::new([]);
        let queue = || Queue {
            store: match policy {
                None => Store::Plain(VecDeque::new()),
                Some(recipe) => Store::Policy(Box::new(recipe.build(&flows))),
            },
            begun: None,
            busy_since: 0,
        };
        Self {
            ports,
            is_voq,
            queues: (0..queues).map(|_| queue()).collect(),
            pairs: vec![Pair::default(); ports * ports],
            inputs: vec![Level::default(); ports],
            outputs: vec![Level::default(); ports],
            all: Occupied::default(),
            buffer,
            requests: Requests::new(ports),
            begun: vec![0; ports],
            wanted: PortSet::EMPTY,
            next: 0,
            unplaced: None,
            period: Period {
                start: Time::ZERO,
                end: Time::MAX,
            },
        }
    }

    /// The flows of all packets, for policies that look at them.
    pub(crate) fn announce(&mut self, flows: &Arc<[FlowKey]>) {
        for queue in &mut self.queues {
            if let Store::Policy(discipline) = &mut queue.store {
                discipline.announce(flows);
            }
        }
    }

    #[inline]
    fn queue_of(&self, input: usize, output: usize) -> usize {
        if self.is_voq {
            input * self.ports + output
        } else {
            input
        }
    }

    /// The outputs for which a packet waits at some input.
    #[inline]
    pub(crate) fn wanted(&self) -> &PortSet {
        &self.wanted
    }

    pub(crate) fn output(&self, output: usize) -> &Level {
        &self.outputs[output]
    }

    pub(crate) fn input(&self, input: usize) -> &Level {
        &self.inputs[input]
    }

    pub(crate) fn pair(&self, input: usize, output: usize) -> (&Level, &Counts) {
        let pair = &self.pairs[input * self.ports + output];
        (&pair.level, &pair.counts)
    }

    /// A packet arrives: it is queued or lost. If its link or ports are free (`may_cross`), one
    /// that alone is in its queue needs no room: it requests, and [`Inputs::settle`] loses it if it
    /// has not crossed by then.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Time,
        (input, output): (usize, usize),
        packet: Packet,
        may_cross: bool,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) {
        let packet = Packet {
            arrived: now,
            ..packet
        };
        let counted = self.period.contains(now);
        let pair = &mut self.pairs[input * self.ports + output];
        if counted {
            pair.counts.offered_packets += 1;
            pair.counts.offered_bytes += u64::from(packet.len);
        }
        let own = if self.is_voq {
            Occupied::of(&pair.level)
        } else {
            Occupied::of(&self.inputs[input])
        };
        let of_input = Occupied::of(&self.inputs[input]);
        if let Some(limit) = self.buffer.refuses(packet.len, own, of_input, self.all) {
            let evidence = Evidence {
                queue_packets: own.packets,
                queue_bytes: own.bytes,
                limit,
                ..Evidence::default()
            };
            let waiter = self.numbered(packet, output);
            let queue = self.queue_of(input, output);
            let of = &mut self.queues[queue];
            if may_cross && own.packets == 0 && of.begun.is_none() {
                of.busy_since = waiter.number;
                self.unplaced = Some(Unplaced {
                    queue,
                    waiter,
                    evidence,
                });
                self.ask(input, output);
                return;
            }
            return self.refuse(now, (input, output), evidence, packet, out);
        }
        let waiter = self.numbered(packet, output);
        let q = self.queue_of(input, output);
        let queue = &mut self.queues[q];
        if own.packets == 0 && queue.begun.is_none() {
            queue.busy_since = waiter.number;
        }
        match &mut queue.store {
            Store::Plain(ring) => {
                ring.push_back(waiter);
                self.change(now, (input, output), 1, i64::from(packet.len));
            }
            Store::Policy(_) => {
                self.with_policy(now, (input, output), out, |discipline, drops| {
                    discipline.enqueue(now, packet, rng, drops);
                    None
                });
            }
        }
        self.ask(input, output);
    }

    /// The next packet in the order of arrival.
    #[inline]
    fn numbered(&mut self, packet: Packet, output: usize) -> Waiter {
        let number = self.next;
        self.next += 1;
        Waiter {
            packet,
            number,
            output: output as u16,
        }
    }

    /// Whether the packet without room would be in this queue.
    #[inline]
    fn has_unplaced(&self, queue: usize) -> bool {
        self.unplaced.as_ref().is_some_and(|u| u.queue == queue)
    }

    /// The fabric has taken all packets that cross at once: a packet without room that it left
    /// behind is lost.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, pair: (usize, usize), out: &mut FabricOutbox) {
        if let Some(Unplaced {
            waiter, evidence, ..
        }) = self.unplaced.take()
        {
            self.ask(pair.0, pair.1);
            self.refuse(now, pair, evidence, waiter.packet, out);
        }
    }

    /// A packet is lost for want of room.
    fn refuse(
        &mut self,
        now: Time,
        pair: (usize, usize),
        evidence: Evidence,
        packet: Packet,
        out: &mut FabricOutbox,
    ) {
        let reason = DropReason::InputQueue;
        self.lose(now, pair, evidence, Dropped { packet, reason }, out);
    }

    /// Runs `f` on the discipline of a virtual output queue, and accounts for what it did.
    #[cold]
    fn with_policy(
        &mut self,
        now: Time,
        (input, output): (usize, usize),
        out: &mut FabricOutbox,
        f: impl FnOnce(&mut Discipline, &mut Drops) -> Option<Packet>,
    ) -> Option<Packet> {
        let q = self.queue_of(input, output);
        let mut drops = Drops::default();
        let Store::Policy(discipline) = &mut self.queues[q].store else {
            return None;
        };
        let marks = |d: &Discipline| d.leaves().iter().map(|l| l.marks_ce).sum::<u64>();
        let before = marks(discipline);
        let taken = f(discipline, &mut drops);
        let (packets, bytes) = (discipline.backlog_packets(), discipline.backlog_bytes());
        let marked = marks(discipline) - before;
        let lost: Vec<_> = drops
            .as_slice()
            .iter()
            .map(|d| (discipline.evidence(now, d), *d))
            .collect();
        let pair = &mut self.pairs[input * self.ports + output];
        if self.period.contains(now) {
            pair.counts.marks_ce += marked;
        }
        let level = pair.level;
        self.change(
            now,
            (input, output),
            i64::from(packets) - i64::from(level.packets),
            bytes as i64 - level.bytes as i64,
        );
        for (evidence, dropped) in lost {
            self.lose(now, (input, output), evidence, dropped, out);
        }
        taken
    }

    fn lose(
        &mut self,
        now: Time,
        (input, output): (usize, usize),
        evidence: Evidence,
        dropped: Dropped,
        out: &mut FabricOutbox,
    ) {
        if self.period.counts_loss(dropped.packet.arrived, now) {
            let counts = &mut self.pairs[input * self.ports + output].counts;
            counts.lost[dropped.reason.index()] += 1;
        }
        out.lost.push(Lost {
            input: input as u16,
            output: output as u16,
            evidence,
            dropped,
        });
    }

    /// The backlog of a pair changes by so much.
    #[inline]
    fn change(&mut self, now: Time, (input, output): (usize, usize), packets: i64, bytes: i64) {
        let period = self.period;
        let levels = [
            &mut self.pairs[input * self.ports + output].level,
            &mut self.inputs[input],
            &mut self.outputs[output],
        ];
        for level in levels {
            let packets = (i64::from(level.packets) + packets) as u32;
            let bytes = (level.bytes as i64 + bytes) as u64;
            level.set(period, now, packets, bytes);
        }
        self.all.packets = (i64::from(self.all.packets) + packets) as u32;
        self.all.bytes = (self.all.bytes as i64 + bytes) as u64;
    }

    /// Sets what the queue of a pair requests, after it has changed.
    #[inline]
    fn ask(&mut self, input: usize, output: usize) {
        if self.is_voq {
            let pair = input * self.ports + output;
            let holds = self.pairs[pair].level.packets > 0 || self.queues[pair].begun.is_some();
            if holds || self.has_unplaced(pair) {
                self.requests.set(input, output);
            } else {
                self.requests.clear(input, output);
            }
        } else {
            for old in self.requests.outputs_of(input).iter() {
                self.requests.clear(input, old);
            }
            if let Some(head) = self.head(input) {
                self.requests.set(input, head.output.into());
            }
        }
        let waits = self.outputs[output].packets > 0 || self.begun[output] > 0;
        if waits || self.has_unplaced(self.queue_of(input, output)) {
            self.wanted.insert(output);
        } else {
            self.wanted.remove(output);
        }
    }

    /// The packet of a queue that crosses now or next; none for queues with a policy, since only
    /// the policy knows it.
    #[inline]
    fn head(&self, queue: usize) -> Option<&Waiter> {
        let of = &self.queues[queue];
        match (&of.begun, &of.store) {
            (Some(begun), _) => Some(&begun.waiter),
            (None, Store::Plain(ring)) => ring.front().or_else(|| {
                let unplaced = self.unplaced.as_ref().filter(|u| u.queue == queue);
                unplaced.map(|u| &u.waiter)
            }),
            (None, Store::Policy(_)) => None,
        }
    }

    /// Takes the next packet of a queue that requests; none if its policy gives none.
    #[inline]
    fn take(
        &mut self,
        now: Time,
        (input, output): (usize, usize),
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) -> Option<Waiter> {
        let q = self.queue_of(input, output);
        let unplaced = match self.has_unplaced(q) {
            true => self.unplaced.take().map(|u| u.waiter),
            false => None,
        };
        let waiter = match (&mut self.queues[q].store, unplaced) {
            (Store::Plain(_), Some(waiter)) => waiter,
            (Store::Plain(ring), None) => {
                let waiter = ring.pop_front()?;
                self.change(now, (input, output), -1, -i64::from(waiter.packet.len));
                waiter
            }
            (Store::Policy(_), unplaced) => {
                let packet = self.with_policy(now, (input, output), out, |discipline, drops| {
                    if let Some(waiter) = unplaced {
                        discipline.enqueue(now, waiter.packet, rng, drops);
                    }
                    discipline.dequeue(now, rng, drops)
                })?;
                Waiter {
                    packet,
                    number: 0,
                    output: output as u16,
                }
            }
        };
        if self.period.contains(now) {
            let counts = &mut self.pairs[input * self.ports + output].counts;
            counts.carried_packets += 1;
            counts.carried_bytes += u64::from(waiter.packet.len);
            counts.waited_ps += u128::from(now.since(waiter.packet.arrived).as_ps());
        }
        Some(waiter)
    }

    /// Lets a whole packet of a queue cross, if it gives one.
    pub(crate) fn carry(
        &mut self,
        now: Time,
        pair: (usize, usize),
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) -> Option<Packet> {
        let waiter = self.take(now, pair, rng, out);
        self.ask(pair.0, pair.1);
        waiter.map(|w| w.packet)
    }

    /// Lets a cell of a queue cross, if it gives one; with the last one of a packet, the packet.
    #[inline]
    pub(crate) fn carry_cell(
        &mut self,
        now: Time,
        (input, output): (usize, usize),
        cell: u32,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) -> Moved {
        let q = self.queue_of(input, output);
        let done = match &mut self.queues[q].begun {
            Some(begun) => {
                begun.cells -= 1;
                if begun.cells > 0 {
                    return Moved::Cell;
                }
                self.begun[output] -= 1;
                let begun = self.queues[q].begun.take();
                begun.map(|b| (b.waiter.packet, b.started))
            }
            None => match self.take(now, (input, output), rng, out) {
                None => {
                    self.ask(input, output);
                    return Moved::Nothing;
                }
                Some(waiter) if waiter.packet.len <= cell => Some((waiter.packet, now)),
                Some(waiter) => {
                    let cells = waiter.packet.len.div_ceil(cell) - 1;
                    let started = now;
                    self.queues[q].begun = Some(Box::new(Begun {
                        waiter,
                        cells,
                        started,
                    }));
                    self.begun[output] += 1;
                    None
                }
            },
        };
        self.ask(input, output);
        match done {
            None => Moved::Cell,
            Some((packet, started)) => Moved::Packet(Crossed {
                input: input as u16,
                output: output as u16,
                started,
                packet,
            }),
        }
    }

    /// When the policy of a virtual output queue, which gave no packet at `now`, may give one.
    pub(crate) fn releases(&self, now: Time, (input, output): (usize, usize)) -> Option<Time> {
        match &self.queues[self.queue_of(input, output)].store {
            Store::Plain(_) => None,
            Store::Policy(discipline) => discipline.next_wake(now),
        }
    }

    /// A packet, the last that left its queue, crosses until `end`.
    #[inline]
    pub(crate) fn crosses_until(&mut self, pair: (usize, usize), packet: &Packet, end: Time) {
        let q = self.queue_of(pair.0, pair.1);
        if let Store::Policy(discipline) = &mut self.queues[q].store {
            discipline.transmits_until(packet.leaf, end);
        }
    }
}

/// What crossed.
pub(crate) enum Moved {
    /// Nothing: the policy of the queue gave no packet.
    Nothing,
    /// A cell that does not complete its packet.
    Cell,
    /// The last or only cell of a packet.
    Packet(Crossed),
}

/// The weights of requests at an instant.
pub(crate) struct View<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) now: Time,
}

impl Weights for View<'_> {
    fn length(&self, input: usize, output: usize) -> u64 {
        let i = self.inputs;
        let queue = i.queue_of(input, output);
        let begun = i.queues[queue].begun.is_some() || i.has_unplaced(queue);
        u64::from(i.pairs[input * i.ports + output].level.packets) + u64::from(begun)
    }

    fn waited(&self, input: usize, output: usize) -> u64 {
        let head = self.inputs.head(self.inputs.queue_of(input, output));
        head.map_or(0, |h| self.now.since(h.packet.arrived).as_ps())
    }

    fn first(&self, input: usize, output: usize) -> u64 {
        let head = self.inputs.head(self.inputs.queue_of(input, output));
        head.map_or(u64::MAX, |h| h.number)
    }

    fn busy_since(&self, input: usize, output: usize) -> u64 {
        self.inputs.queues[self.inputs.queue_of(input, output)].busy_since
    }
}
