//! A router that forwards in software: one processor for the packets of all links.
//!
//! The processor takes packets in the order in which they come, each for the same time, so that
//! start and end of its work on a packet are known when that arrives; beside that a packet may take
//! a constant delay. What waits for the processor is counted by the link that it came over, and a
//! packet that finds the queue of its link full is lost. O(1) a packet, but for the choice of its
//! queue: O(log n) in the links.

use std::collections::{BTreeMap, VecDeque};

use spillgate_core::{DropReason, Dropped, Dur, Packet, Time};
use spillgate_queueing::{Evidence, QueueLimit};
use spillgate_scenario::plan::ForwardingPlan;

use super::keeping::{Node, Outbox};
use crate::gauge::NodeMeter;
use crate::port::size;
use crate::window::Window;

/// What waits for the processor of one link's packets.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    packets: u32,
    bytes: u64,
}

/// A packet that waits for the processor.
struct Waiter {
    /// When its turn comes.
    start: Time,
    from: u32,
    bytes: u32,
}

/// A packet that the node keeps.
struct Held {
    /// When it goes on.
    due: Time,
    to: u32,
    packet: Packet,
}

/// The first of a queue, if it is wanted.
fn pop_if<T>(queue: &mut VecDeque<T>, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
    if !queue.front().is_some_and(is_wanted) {
        return None;
    }
    queue.pop_front()
}

/// The router.
pub(crate) struct Software {
    per_packet: Dur,
    delay: Dur,
    input_queue: u32,
    window: Window,
    /// When the processor is done with all that has come.
    free_at: Time,
    /// In the order of their turns.
    waiters: VecDeque<Waiter>,
    /// By link.
    queues: BTreeMap<u32, Waiting>,
    all: Waiting,
    /// Of those that have come before the measured period and wait as it begins.
    at_start: Waiting,
    kept: VecDeque<Held>,
    meter: NodeMeter,
}

impl Software {
    pub(crate) fn new(plan: &ForwardingPlan, window: Window) -> Self {
        Self {
            per_packet: plan.per_packet,
            delay: plan.delay,
            input_queue: plan.input_queue,
            window,
            free_at: Time::ZERO,
            waiters: VecDeque::new(),
            queues: BTreeMap::new(),
            all: Waiting::default(),
            at_start: Waiting::default(),
            kept: VecDeque::new(),
            meter: NodeMeter::default(),
        }
    }

    /// The processor has begun with all whose turn has come.
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
            if now < self.window.start() && start > self.window.start() {
                self.at_start.packets += 1;
                self.at_start.bytes += u64::from(bytes);
                meter.on_backlog(self.at_start.packets.into(), self.at_start.bytes);
            }
        }
        if self.window.contains(now) {
            // One that need not wait was in the queue, too, as at a port.
            let at_once = start <= now;
            let packets = u64::from(self.all.packets) + u64::from(at_once);
            let own = if at_once { bytes.into() } else { 0 };
            meter.on_backlog(packets, self.all.bytes + own);
        }
        let due = end + self.delay;
        if due > now {
            let packet = *packet;
            self.kept.push_back(Held { due, to, packet });
        } else {
            out.passed.push((to, *packet));
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.kept.front().map(|k| k.due)
    }

    fn wake(&mut self, now: Time, out: &mut Outbox) {
        while let Some(kept) = pop_if(&mut self.kept, |k| k.due <= now) {
            out.passed.push((kept.to, kept.packet));
        }
    }

    fn meter(&self) -> &NodeMeter {
        &self.meter
    }
}
