//! The running switch: its inputs and its fabric.

use std::sync::Arc;

use spillgate_core::{Dropped, FlowKey, Packet, Rng, Time};
use spillgate_queueing::Evidence;

use crate::switch::fabric::Fabric;
use crate::switch::queues::Inputs;
use crate::switch::stats::{Backlog, Counts, Period, Slots};

/// A switch without its outputs: it queues packets at its inputs and carries them to its outputs,
/// whose queues are the driver's.
///
/// The driver calls [`Switch::offer`] for every arrival and [`Switch::wake`] at the time that
/// [`Switch::next_wake`] gives, which may change with every call. Both put what has reached an
/// output, and what is lost, into an [`FabricOutbox`]. Times must not decrease from call to call. A
/// packet has reached its output when its last bit has.
///
/// A driver that works in slots calls [`Switch::phase`] for each slot of a crossbar with cells
/// instead of [`Switch::wake`].
#[derive(Clone, Debug)]
pub struct Switch {
    inputs: Inputs,
    fabric: Fabric,
}

/// A packet that has reached its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossed {
    /// The input that it came by.
    pub input: u16,
    /// Its output.
    pub output: u16,
    /// When it, or its first cell, began to cross.
    pub started: Time,
    /// The packet, with the time of its arrival at the switch.
    pub packet: Packet,
}

/// A packet that was lost at an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// The input that it came by.
    pub input: u16,
    /// Its output.
    pub output: u16,
    /// Why, in numbers.
    pub evidence: Evidence,
    /// The packet and the reason.
    pub dropped: Dropped,
}

/// The packets that leave a switch in one call. The driver empties it.
#[derive(Clone, Debug, Default)]
pub struct FabricOutbox {
    /// What has reached outputs, in order.
    pub crossed: Vec<Crossed>,
    /// What is lost.
    pub lost: Vec<Lost>,
}

impl Switch {
    pub(crate) fn new(inputs: Inputs, fabric: Fabric) -> Self {
        Self { inputs, fabric }
    }

    /// Counts what happens from `start` on and before `end`; without this call, all. To be called
    /// before the first arrival.
    pub fn measure(&mut self, start: Time, end: Time) {
        self.inputs.period = Period { start, end };
    }

    /// Sets the list of flows, by [`Packet::flow`], for policies that look at them.
    pub fn announce(&mut self, flows: &Arc<[FlowKey]>) {
        self.inputs.announce(flows);
    }

    /// A packet arrives at `input` for `output`, both counted from 0 and below the number of ports.
    #[inline]
    pub fn offer(
        &mut self,
        now: Time,
        (input, output): (u16, u16),
        packet: Packet,
        rng: &mut Rng,
        out: &mut FabricOutbox,
    ) {
        let pair = (usize::from(input), usize::from(output));
        match &mut self.fabric {
            Fabric::Direct => {
                let packet = Packet {
                    arrived: now,
                    ..packet
                };
                out.crossed.push(Crossed {
                    input,
                    output,
                    started: now,
                    packet,
                });
            }
            // A cell waits for the matching of a slot, be it one that begins now.
            Fabric::Crossbar(crossbar) => {
                self.inputs.offer(now, pair, packet, false, rng, out);
                crossbar.offered(now);
            }
            Fabric::Packets(packets) => {
                packets.count(now, &self.inputs);
                let is_free = packets.is_free(pair, &self.inputs);
                self.inputs.offer(now, pair, packet, is_free, rng, out);
                packets.start(now, &mut self.inputs, rng, out);
                self.inputs.settle(now, pair, out);
            }
            Fabric::Parallel(parallel) => {
                let is_free = parallel.is_free(pair);
                self.inputs.offer(now, pair, packet, is_free, rng, out);
                parallel.offered(now, pair, &mut self.inputs, rng, out);
                self.inputs.settle(now, pair, out);
            }
        }
    }

    /// When [`Switch::wake`] has something to do; none if nothing waits or crosses.
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        match &self.fabric {
            Fabric::Direct => None,
            Fabric::Crossbar(crossbar) => crossbar.next_wake(),
            Fabric::Packets(packets) => packets.next_wake(),
            Fabric::Parallel(parallel) => parallel.next_wake(),
        }
    }

    /// Does what is due by `now`.
    #[inline]
    pub fn wake(&mut self, now: Time, rng: &mut Rng, out: &mut FabricOutbox) {
        match &mut self.fabric {
            Fabric::Direct => {}
            Fabric::Crossbar(crossbar) => crossbar.wake(now, &mut self.inputs, rng, out),
            Fabric::Packets(packets) => {
                packets.count(now, &self.inputs);
                packets.wake(now, &mut self.inputs, rng, out);
            }
            Fabric::Parallel(parallel) => parallel.wake(now, &mut self.inputs, rng, out),
        }
    }

    /// One slot of a crossbar with cells, in which cells take no time to cross; other fabrics do
    /// nothing.
    #[inline]
    pub fn phase(&mut self, now: Time, rng: &mut Rng, out: &mut FabricOutbox) {
        if let Fabric::Crossbar(crossbar) = &mut self.fabric {
            let mut crossed = std::mem::take(&mut out.crossed);
            crossbar.phase(now, &mut self.inputs, rng, out, &mut crossed);
            out.crossed = crossed;
        }
    }

    /// The backlog at all inputs for an output now, in packets and in bytes.
    #[inline]
    pub fn waiting_for(&self, output: u16) -> (u32, u64) {
        let level = self.inputs.output(output.into());
        (level.packets, level.bytes)
    }

    /// The backlog at an input for an output now, in packets and in bytes.
    pub fn waiting(&self, input: u16, output: u16) -> (u32, u64) {
        let (level, _) = self.inputs.pair(input.into(), output.into());
        (level.packets, level.bytes)
    }

    /// The backlog at an input for an output until `now`.
    pub fn backlog(&self, now: Time, input: u16, output: u16) -> Backlog {
        let (level, _) = self.inputs.pair(input.into(), output.into());
        level.backlog(self.inputs.period, now)
    }

    /// What waited at an input until `now`.
    pub fn backlog_of_input(&self, now: Time, input: u16) -> Backlog {
        self.inputs
            .input(input.into())
            .backlog(self.inputs.period, now)
    }

    /// The backlog at all inputs for an output until `now`.
    pub fn backlog_of_output(&self, now: Time, output: u16) -> Backlog {
        self.inputs
            .output(output.into())
            .backlog(self.inputs.period, now)
    }

    /// Counters of packets from an input to an output.
    pub fn counts(&self, input: u16, output: u16) -> Counts {
        *self.inputs.pair(input.into(), output.into()).1
    }

    /// Counters of packets from an input.
    pub fn counts_of_input(&self, input: u16) -> Counts {
        self.sum(|i, _| i == input)
    }

    /// Counters of packets for an output.
    pub fn counts_of_output(&self, output: u16) -> Counts {
        self.sum(|_, o| o == output)
    }

    fn sum(&self, wanted: impl Fn(u16, u16) -> bool) -> Counts {
        let mut sum = Counts::default();
        let ports = self.inputs.requests.ports() as u16;
        for input in 0..ports {
            for output in (0..ports).filter(|&o| wanted(input, o)) {
                sum.add(&self.counts(input, output));
            }
        }
        sum
    }

    /// How the time of an output was used until `now`; none where nothing is matched.
    pub fn slots(&self, now: Time, output: u16) -> Option<Slots> {
        let output = usize::from(output);
        match &self.fabric {
            Fabric::Crossbar(crossbar) => Some(crossbar.slots(now, self.inputs.period, output)),
            Fabric::Packets(packets) => Some(packets.slots(now, &self.inputs, output)),
            Fabric::Direct | Fabric::Parallel(_) => None,
        }
    }
}
