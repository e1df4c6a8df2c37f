//! A router that forwards in software: one processor handles the packets of all links.
//!
//! The processor takes packets in the order of their arrival and spends the same time on each, so
//! the start and the end of its work on a packet are known when the packet arrives. In addition a
//! packet may take a constant delay. Packets that wait for the processor are counted by the link
//! that they came over; a packet that finds the queue of its link full is lost. O(1) for each
//! packet, except for the choice of its queue: O(log n) in the number of links.

use std::collections::{BTreeMap, VecDeque};

use spillgate_core::{DropReason, Dropped, Dur, Packet, Time};
use spillgate_measure::Measures;
use spillgate_measure::table::{Metric, Scope};
use spillgate_queueing::{Evidence, QueueLimit};
use spillgate_scenario::plan::{ForwardingPlan, WorldPlan};

use super::holding::{Node, Outbox, Passed};
use crate::gauge::NodeMeter;
use crate::measured::{measure_arrivals, measure_waiting};
use crate::port::size;
use crate::window::Window;

/// The packets of one link, or of all, that wait for the processor.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    packets: u32,
    bytes: u64,
}

/// A packet that waits for the processor.
struct Waiter {
    /// When the processor takes it.
    start: Time,
    from: u32,
    bytes: u32,
}

/// A packet that the node holds.
struct Held {
    /// When the node passes it on.
    due: Time,
    to: u32,
    packet: Packet,
}

/// Takes out the first element of a queue, if it is wanted.
fn pop_if<T>(queue: &mut VecDeque<T>, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
    if !queue.front().is_some_and(is_wanted) {
        return None;
    }
    queue.pop_front()
}

/// The router.
pub(crate) struct Software {
    node: u32,
    per_packet: Dur,
    delay: Dur,
    input_queue: u32,
    window: Window,
    /// When the processor is done with all packets that have arrived.
    free_at: Time,
    /// In the order in which the processor takes them.
    waiters: VecDeque<Waiter>,
    /// By link.
    queues: BTreeMap<u32, Waiting>,
    all: Waiting,
    /// The packets that arrived before the measured period and wait at its start.
    at_start: Waiting,
    held: VecDeque<Held>,
    meter: NodeMeter,
}

impl Software {
    pub(crate) fn new(plan: &ForwardingPlan, world: &WorldPlan, window: Window) -> Self {
        Self {
            node: plan.node,
            per_packet: plan.per_packet,
            delay: plan.delay,
            input_queue: plan.input_queue,
            window,
            free_at: Time::ZERO,
            waiters: VecDeque::new(),
            queues: BTreeMap::new(),
            all: Waiting::default(),
            at_start: Waiting::default(),
            held: VecDeque::new(),
            meter: NodeMeter::of(world),
        }
    }

    /// Removes the packets that the processor has taken by `now`.
    fn begin(&mut self, now: Time) {
        while let Some(waiter) = pop_if(&mut self.waiters, |w| w.start <= now) {
            let queue = self.queues.entry(waiter.from).or_default();
            for waiting in [queue, &mut self.all] {
                waiting.packets -= 1;
                waiting.bytes -= u64::from(waiter.bytes);
            }
        }
    }
}

impl Node for Software {
    fn arrive(&mut self, now: Time, from: u32, to: u32, packet: &Packet, out: &mut Outbox) {
        self.begin(now);
        let bytes = size(packet);
        let counted = Packet {
            len: bytes,
            arrived: now,
            ..*packet
        };
        let queue = self.queues.entry(from).or_default();
        let start = self.free_at.max(now);
        if start > now && queue.packets >= self.input_queue {
            let reason = DropReason::InputQueue;
            self.meter.queue.on_lost(self.window, &counted, now, reason);
            let evidence = Evidence {
                queue_packets: queue.packets,
                queue_bytes: queue.bytes,
                limit: QueueLimit {
                    packets: Some(self.input_queue),
                    bytes: None,
                },
                ..Evidence::default()
            };
            let lost = Dropped {
                packet: counted,
                reason,
            };
            out.lost.push((from, evidence, lost));
            return;
        }
        let end = start + self.per_packet;
        self.free_at = end;
        let meter = &mut self.meter.queue;
        meter.on_served(self.window, &counted, start, end);
        let busy = self.window.overlap(start, end);
        self.meter.busy = self.meter.busy.saturating_add(busy);
        if start > now {
            for waiting in [queue, &mut self.all] {
                waiting.packets += 1;
                waiting.bytes += u64::from(bytes);
            }
            self.waiters.push_back(Waiter { start, from, bytes });
            meter.on_wait(now, start, bytes);
            if now < self.window.start() && start > self.window.start() {
                self.at_start.packets += 1;
                self.at_start.bytes += u64::from(bytes);
                meter.on_backlog(self.at_start.packets.into(), self.at_start.bytes);
            }
        }
        if self.window.contains(now) {
            // A packet that need not wait counts as queued for an instant, as at a port.
            let at_once = start <= now;
            let packets = u64::from(self.all.packets) + u64::from(at_once);
            let own = if at_once { bytes.into() } else { 0 };
            meter.on_backlog(packets, self.all.bytes + own);
        }
        let due = end + self.delay;
        if due > now {
            let packet = *packet;
            self.held.push_back(Held { due, to, packet });
        } else {
            out.passed.push(Passed::plainly(to, *packet));
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.held.front().map(|h| h.due)
    }

    fn wake(&mut self, now: Time, out: &mut Outbox) {
        while let Some(held) = pop_if(&mut self.held, |h| h.due <= now) {
            out.passed.push(Passed::plainly(held.to, held.packet));
        }
    }

    fn measure(&self, _: Time, plan: &WorldPlan, out: &mut Measures) {
        let mut of = out.of(Scope::Node, || &*plan.nodes[self.node as usize]);
        let queue = &self.meter.queue;
        measure_arrivals(queue, self.window, &mut of);
        measure_waiting(queue, self.window, &mut of);
        of.put(
            Metric::DropsInputQueue,
            queue.lost.of(DropReason::InputQueue),
        );
        let busy = self.meter.busy.as_secs_f64() / self.window.len().as_secs_f64();
        of.put(Metric::Utilization, busy);
    }
}
