//! The fabric: it carries packets from inputs to outputs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use spillgate_core::{Packet, Rng, Time};

use crate::switch::matcher::Matcher;
use crate::switch::pace::Pace;
use crate::switch::ports::{Matching, PortSet};
use crate::switch::queues::{Inputs, Moved, View};
use crate::switch::stats::{Period, Slots};
use crate::switch::{Crossed, FabricOutbox};

/// A fabric.
#[derive(Clone, Debug)]
pub(crate) enum Fabric {
    /// Packets pass at once: there are no queues at the inputs.
    Direct,
    Crossbar(Crossbar),
    Packets(Packets),
    Parallel(Parallel),
}

/// A crossbar that carries cells of one size in slots.
#[derive(Clone, Debug)]
pub(crate) struct Crossbar {
    matcher: Matcher,
    matching: Matching,
    cell: u32,
    pace: Pace,
    /// The number of the next slot, if one is due.
    next: Option<u64>,
    /// All slots below this one are over.
    first: u64,
    /// Packets whose last cell crosses in the present slot.
    crossing: Vec<Crossed>,
    slots: Vec<Slots>,
}

impl Crossbar {
    pub(crate) fn new(ports: usize, matcher: Matcher, cell: u32, pace: Pace) -> Self {
        Self {
            matcher,
            matching: Matching::default(),
            cell,
            pace,
            next: None,
            first: 0,
            crossing: Vec::new(),
            slots: vec![Slots::default(); ports],
        }
    }

    fn start(&self, slot: u64) -> Time {
        // A product beyond 64 bits lies beyond all times.
        Time::ZERO + self.pace.time(slot.saturating_mul(self.cell.into()))
    }

    pub(crate) fn next_wake(&self) -> Option<Time> {
        self.next.map(|slot| self.start(slot))
    }

    /// Something arrived: a slot is due.
    #[inline]
    pub(crate) fn offered(&mut self, now: Time) {
        if self.next.is_none() {
            self.next = Some(self.first_from(now).max(self.first));
        }
    }

    /// The number of the first slot that begins at `now` or later.
    fn first_from(&self, now: Time) -> u64 {
        let bytes = self.pace.bytes_until(now.since(Time::ZERO));
        bytes.div_ceil(self.cell.into())
    }

    /// The use of an output's time before `now`.
    pub(crate) fn slots(&self, now: Time, period: Period, output: usize) -> Slots {
        let end = now.min(period.end);
        let all = self
            .first_from(end)
            .saturating_sub(self.first_from(period.start));
        Slots {
            all,
            ..self.slots[output]
        }
    }

    /// Ends the slots before `now`, and begins those that are due.
    pub(crate) fn wake(
        &mut self,
        now: Time,
        inputs: &mut Inputs,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) {
        while let Some(slot) = self.next.filter(|s| self.start(*s) <= now) {
            out.crossed.append(&mut self.crossing);
            self.first = slot + 1;
            self.next = None;
            if !inputs.wanted().is_empty() {
                let mut crossing = std::mem::take(&mut self.crossing);
                self.phase(now, inputs, rng, out, &mut crossing);
                self.crossing = crossing;
                let end = self.start(slot + 1);
                for crossed in &self.crossing {
                    let pair = (crossed.input.into(), crossed.output.into());
                    inputs.crosses_until(pair, &crossed.packet, end);
                }
            }
            if !self.crossing.is_empty() || !inputs.wanted().is_empty() {
                self.next = Some(slot + 1);
            }
        }
    }

    /// One slot of the crossbar: a matching, and a cell for each pair of it.
    pub(crate) fn phase(
        &mut self,
        now: Time,
        inputs: &mut Inputs,
        rng: &mut Rng,
        out: &mut FabricOutbox,
        crossed: &mut Vec<Crossed>,
    ) {
        let wanted = *inputs.wanted();
        let view = View { inputs, now };
        self.matcher
            .find(&inputs.requests, &view, rng, &mut self.matching);
        let mut reached = PortSet::EMPTY;
        for &(input, output) in self.matching.pairs() {
            let pair = (input.into(), output.into());
            match inputs.carry_cell(now, pair, self.cell, rng, out) {
                Moved::Nothing => continue,
                Moved::Cell => {}
                Moved::Packet(packet) => crossed.push(packet),
            }
            reached.insert(pair.1);
        }
        if inputs.period.contains(now) {
            for output in wanted.iter() {
                let slots = &mut self.slots[output];
                slots.wanted += 1;
                slots.wasted += u64::from(!reached.contains(output));
            }
        }
    }
}

/// A crossbar that carries whole packets: a pair of ports is taken until the packet has crossed.
///
/// A matching is made whenever a packet arrives or has crossed, among the ports that are free. If a
/// single pair becomes free, it is matched again and continues with the same queue (packet-mode
/// scheduling: M. Ajmone Marsan and others, INFOCOM 2001).
#[derive(Clone, Debug)]
pub(crate) struct Packets {
    matcher: Matcher,
    matching: Matching,
    pace: Pace,
    /// When each transfer ends, with its ports.
    ends: BinaryHeap<Reverse<(Time, u16, u16)>>,
    /// By input: the packet that crosses, and since when.
    crossing: Vec<Option<(Packet, Time)>>,
    /// When a policy that had no packet to send may have one.
    retry: Option<Time>,
    /// Until when the slots are counted.
    since: Time,
    slots: Vec<Slots>,
}

impl Packets {
    pub(crate) fn new(ports: usize, matcher: Matcher, pace: Pace) -> Self {
        Self {
            matcher,
            matching: Matching::default(),
            pace,
            ends: BinaryHeap::with_capacity(ports),
            crossing: vec![None; ports],
            retry: None,
            since: Time::ZERO,
            slots: vec![Slots::default(); ports],
        }
    }

    pub(crate) fn next_wake(&self) -> Option<Time> {
        let end = self.ends.peek().map(|Reverse((end, ..))| *end);
        end.into_iter().chain(self.retry).min()
    }

    /// Counts the time since the last change.
    pub(crate) fn count(&mut self, now: Time, inputs: &Inputs) {
        if !inputs.period.overlap(self.since, now).is_zero() {
            for output in 0..self.slots.len() {
                self.slots[output] = self.slots(now, inputs, output);
            }
        }
        self.since = now;
    }

    /// How the time of an output was used before `now`.
    pub(crate) fn slots(&self, now: Time, inputs: &Inputs, output: usize) -> Slots {
        let time = inputs.period.overlap(self.since, now).as_ps();
        let is_free = inputs.requests.free_outputs().contains(output);
        let is_wanted = !is_free || inputs.wanted().contains(output);
        let of = self.slots[output];
        Slots {
            all: of.all + time,
            wanted: of.wanted + if is_wanted { time } else { 0 },
            wasted: of.wasted + if is_wanted && is_free { time } else { 0 },
        }
    }

    /// Whether neither port of a pair carries a packet.
    pub(crate) fn is_free(&self, (input, output): (usize, usize), inputs: &Inputs) -> bool {
        let requests = &inputs.requests;
        requests.free_inputs().contains(input) && requests.free_outputs().contains(output)
    }

    pub(crate) fn wake(
        &mut self,
        now: Time,
        inputs: &mut Inputs,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) {
        while let Some(&Reverse((end, input, output))) = self.ends.peek() {
            if end > now {
                break;
            }
            self.ends.pop();
            inputs.requests.release(input.into(), output.into());
            if let Some((packet, started)) = self.crossing[usize::from(input)].take() {
                out.crossed.push(Crossed {
                    input,
                    output,
                    started,
                    packet,
                });
            }
        }
        self.start(now, inputs, rng, out);
    }

    /// Connects free ports.
    pub(crate) fn start(
        &mut self,
        now: Time,
        inputs: &mut Inputs,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) {
        self.retry = None;
        let view = View { inputs, now };
        self.matcher
            .find(&inputs.requests, &view, rng, &mut self.matching);
        for &(input, output) in self.matching.pairs() {
            let pair = (usize::from(input), usize::from(output));
            let Some(packet) = inputs.carry(now, pair, rng, out) else {
                let again = inputs.releases(now, pair);
                // A queue without a packet now must not stop the others.
                self.retry = again
                    .into_iter()
                    .chain(self.retry)
                    .min()
                    .map(|t| t.max(now));
                continue;
            };
            let end = now + self.pace.time(packet.len.into());
            inputs.crosses_until(pair, &packet, end);
            inputs.requests.occupy(pair.0, pair.1);
            self.crossing[pair.0] = Some((packet, now));
            self.ends.push(Reverse((end, input, output)));
        }
    }
}

/// An internal link for each virtual output queue, all of the same rate.
#[derive(Clone, Debug)]
pub(crate) struct Parallel {
    ports: usize,
    pace: Pace,
    /// When each transfer ends, or a policy may give a packet, with its queue.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    /// By queue: whether it is among `ends`.
    is_busy: Vec<bool>,
    /// By queue: the packet that crosses, and since when.
    crossing: Vec<Option<(Packet, Time)>>,
}

impl Parallel {
    pub(crate) fn new(ports: usize, pace: Pace) -> Self {
        Self {
            ports,
            pace,
            ends: BinaryHeap::new(),
            is_busy: vec![false; ports * ports],
            crossing: vec![None; ports * ports],
        }
    }

    pub(crate) fn next_wake(&self) -> Option<Time> {
        self.ends.peek().map(|Reverse((end, _))| *end)
    }

    /// Whether the link of a queue carries nothing.
    pub(crate) fn is_free(&self, pair: (usize, usize)) -> bool {
        !self.is_busy[pair.0 * self.ports + pair.1]
    }

    #[inline]
    pub(crate) fn offered(
        &mut self,
        now: Time,
        pair: (usize, usize),
        inputs: &mut Inputs,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) {
        let queue = pair.0 * self.ports + pair.1;
        if self.is_busy[queue] {
            return;
        }
        if let Some(end) = self.start(now, pair, inputs, rng, out) {
            self.is_busy[queue] = true;
            self.ends.push(Reverse((end, queue as u32)));
        }
    }

    pub(crate) fn wake(
        &mut self,
        now: Time,
        inputs: &mut Inputs,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) {
        while let Some(&Reverse((end, queue))) = self.ends.peek() {
            if end > now {
                break;
            }
            let pair = (queue as usize / self.ports, queue as usize % self.ports);
            if let Some((packet, started)) = self.crossing[queue as usize].take() {
                out.crossed.push(Crossed {
                    input: pair.0 as u16,
                    output: pair.1 as u16,
                    started,
                    packet,
                });
            }
            let next = self.start(now, pair, inputs, rng, out);
            // A queue that goes on keeps its place in the heap.
            match (self.ends.peek_mut(), next) {
                (Some(mut top), Some(end)) => *top = Reverse((end, queue)),
                (Some(top), None) => {
                    PeekMut::pop(top);
                    self.is_busy[queue as usize] = false;
                }
                (None, _) => {}
            }
        }
    }

    /// Lets the next packet of a queue cross, if there is one: when its link is to be looked at
    /// again.
    fn start(
        &mut self,
        now: Time,
        pair: (usize, usize),
        inputs: &mut Inputs,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) -> Option<Time> {
        if !inputs.requests.has(pair.0, pair.1) {
            return None;
        }
        let Some(packet) = inputs.carry(now, pair, rng, out) else {
            return inputs.releases(now, pair);
        };
        let end = now + self.pace.time(packet.len.into());
        inputs.crosses_until(pair, &packet, end);
        self.crossing[pair.0 * self.ports + pair.1] = Some((packet, now));
        Some(end)
    }
}
