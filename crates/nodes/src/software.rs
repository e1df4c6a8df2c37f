//! A router that forwards in software: one processor handles the packets of all links.
//!
//! The processor takes packets in the order of their arrival and spends the same time on each, so
//! the start and the end of its work on a packet are known when the packet arrives. In addition a
//! packet may take a constant delay. Packets that wait for the processor are counted by the link
//! that they came over; a packet that finds the queue of its link full is lost. O(1) for each
//! packet, except for the choice of its queue: O(log n) in the number of links.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::curve::{Curve, Exact, NoBound, Slope, UNITS};
use spillgate_core::{DropReason, Dropped, Dur, Packet, Rank, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, QueueMeter, Window};
use spillgate_queueing::{Evidence, QueueLimit};

use crate::guarantee::{in_order, sum};
use crate::{
    Around, Carried, Declared, Fact, Names, Node, NodeBound, NodePlan, NodeQueue, NodeSpec, Outbox,
    Passage, Passed, Reader, Recipe, Start,
};
use spillgate_core::{Mistake, Problem};

/// A router that forwards in software: one processor looks each packet up, whichever link it came
/// over, in the order of their arrival.
///
/// It applies to packets that arrive over a link and leave over another one, not to flows that
/// begin or end at the node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardingSpec {
    /// What a packet takes of the processor, so that 1 / `per_packet` is the forwarding rate
    /// (RFC 2285 section 3.6) at which it is fully busy. Default 0 s: no limit.
    #[serde(default)]
    pub per_packet: Dur,
    /// What a packet takes beside that, without keeping the processor from the next one. Default
    /// 0 s.
    #[serde(default)]
    pub delay: Dur,
    /// Packets from each link that wait for the processor at most, the one that it works on not
    /// counted; what comes to a full queue is lost (`drops_input_queue`). Default 75, as
    /// `hold-queue 75 in` of IOS.
    #[serde(default = "default_input_queue")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub input_queue: u32,
}

fn default_input_queue() -> u32 {
    75
}

/// Most that a node takes for a packet.
const MOST_TIME: Dur = Dur::from_secs(10);
/// Most packets from a link that wait in a node.
const MOST_WAITING: u32 = 1_000_000;

impl NodeSpec for ForwardingSpec {
    fn resolve(&self, around: &Around<'_>, reader: &mut dyn Reader) -> Vec<(u32, NodePlan)> {
        let mut refuse = |path: &str, message: String, hint: String| {
            reader.refuse(Problem::new(path, "", message, hint).of(Mistake::Range));
        };
        for (key, time) in [("per_packet", self.per_packet), ("delay", self.delay)] {
            if time > MOST_TIME {
                let hint = format!("write at most {MOST_TIME}, such as 20 us");
                refuse(key, format!("{time} for a packet"), hint);
            }
        }
        if !(1..=MOST_WAITING).contains(&self.input_queue) {
            let hint = format!("write a whole number from 1 to {MOST_WAITING}");
            let message = format!("an input queue of {} packets", self.input_queue);
            refuse("input_queue", message, hint);
        }
        let plan = |node| {
            let inputs = around.arriving(node);
            let spec = self.clone();
            (node, Box::new(SoftwarePlan { node, inputs, spec }).into())
        };
        around.nodes.clone().map(plan).collect()
    }
}

/// A validated router.
#[derive(Clone, Debug)]
pub struct SoftwarePlan {
    /// Id of the node.
    pub node: u32,
    /// The links that end there.
    pub inputs: Vec<u32>,
    /// How it was written.
    pub spec: ForwardingSpec,
}

impl Recipe for SoftwarePlan {
    fn build(&self, start: &Start<'_>) -> Box<dyn Node> {
        let ForwardingSpec {
            per_packet,
            delay,
            input_queue,
        } = self.spec;
        Box::new(Software {
            node: self.node,
            per_packet,
            delay,
            input_queue,
            window: start.window,
            free_at: Time::ZERO,
            waiters: VecDeque::new(),
            queues: BTreeMap::new(),
            all: Waiting::default(),
            held: VecDeque::new(),
            meter: QueueMeter::of(start.window, 8, start.percentiles),
            busy: Dur::ZERO,
        })
    }

    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self:?}")
    }

    fn describe(&self, _: &dyn Names) -> Vec<(u32, Vec<Fact>)> {
        let spec = &self.spec;
        let facts = vec![
            Fact::number("per_packet", spec.per_packet.as_secs_f64(), "s"),
            Fact::number("delay", spec.delay.as_secs_f64(), "s"),
            Fact::count("input_queue", spec.input_queue.into(), "packets"),
        ];
        vec![(self.node, facts)]
    }

    /// The processor serves in the order of arrival, a packet in each `per_packet`. Before a packet
    /// wait no more than the full queues of all links that packets come over, its own included, and
    /// the one that it works on. A packet is lost only if it finds a full queue of its link and the
    /// processor at work, so there is none while at most one more than a queue is in the node.
    fn bounds(&self, load: &[Passage], _: &dyn Names) -> Vec<NodeQueue> {
        let ForwardingSpec {
            per_packet,
            delay,
            input_queue,
        } = self.spec;
        let bound = || -> Result<NodeBound, NoBound> {
            let mut inputs: Vec<u32> = load.iter().map(|t| t.from).collect();
            inputs.sort_unstable();
            inputs.dedup();
            let longest = load.iter().map(|t| u64::from(t.longest)).max().unwrap_or(0);
            let waiting = inputs.len() as u64 * u64::from(input_queue);
            let full = per_packet.as_ps().checked_mul(waiting + 1);
            let full = Dur::from_ps(full.ok_or(NoBound::Overflow)?);
            let (work, in_order) = match Slope::below(UNITS, per_packet.as_ps().into()) {
                // It takes no time, so each is alone.
                Err(_) => (Dur::ZERO, Some((Dur::ZERO, 1))),
                Ok(rate) => {
                    let service = Curve::line(Exact::from_integer(0), rate.exact());
                    let come = sum(load.iter().map(|t| t.packets.as_ref()));
                    (full, in_order(come.as_ref(), &service))
                }
            };
            let (come, packets) = in_order.unwrap_or((Dur::MAX, u64::MAX));
            Ok(NodeBound {
                delay: come.min(work) + delay,
                backlog: packets.min(waiting).saturating_mul(longest),
                by_limit: work < come,
                lossless: packets <= u64::from(input_queue) + 1,
            })
        };
        vec![NodeQueue {
            name: "processor".to_owned(),
            of: (0..load.len()).collect(),
            bound: bound().map_err(Into::into),
        }]
    }

    fn declares(&self) -> Declared {
        Declared {
            inputs: self.inputs.clone(),
            passing: self.spec.per_packet + self.spec.delay,
            ..Declared::default()
        }
    }
}

/// The packets of one link, or of all, that wait for the processor.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    packets: u32,
    bytes: u64,
}

/// A packet that waits for the processor.
struct QueuedPacket {
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
struct Software {
    node: u32,
    per_packet: Dur,
    delay: Dur,
    input_queue: u32,
    window: Window,
    /// When the processor is done with all packets that have arrived.
    free_at: Time,
    /// In the order in which the processor takes them.
    waiters: VecDeque<QueuedPacket>,
    /// By link.
    queues: BTreeMap<u32, Waiting>,
    all: Waiting,
    held: VecDeque<Held>,
    /// Its queue, in bytes of IP packets and labels.
    meter: QueueMeter,
    /// Time in the measured period during which it forwarded.
    busy: Dur,
}

impl Software {
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
        let bytes = packet.size();
        let counted = Packet {
            len: bytes,
            arrived: now,
            ..*packet
        };
        let queue = self.queues.entry(from).or_default();
        let start = self.free_at.max(now);
        if start > now && queue.packets >= self.input_queue {
            let reason = DropReason::InputQueue;
            self.meter.on_lost(self.window, &counted, now, reason);
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
        let meter = &mut self.meter;
        meter.on_served(self.window, &counted, start, end);
        let busy = self.window.overlap(start, end);
        self.busy = self.busy.saturating_add(busy);
        if start > now {
            for waiting in [queue, &mut self.all] {
                waiting.packets += 1;
                waiting.bytes += u64::from(bytes);
            }
            self.waiters.push_back(QueuedPacket { start, from, bytes });
            meter.on_wait(now, start, bytes);
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

    fn next_wake(&self) -> Option<(Time, Rank)> {
        Some((self.held.front()?.due, Rank::Delivery))
    }

    fn wake(&mut self, now: Time, out: &mut Outbox) {
        while let Some(held) = pop_if(&mut self.held, |h| h.due <= now) {
            out.passed.push(Passed::plainly(held.to, held.packet));
        }
    }

    fn edge(&mut self, edge: Time, _: &mut Vec<Carried>) {
        if edge == self.window.start() {
            self.begin(edge);
            let Waiting { packets, bytes } = self.all;
            self.meter.on_backlog(packets.into(), bytes);
        }
    }

    fn measure(&self, _: Time, names: &dyn Names, out: &mut Measures) {
        let mut out = out.of(Scope::Node, || names.node(self.node));
        self.meter.measure_arrivals(self.window, &mut out);
        self.meter.measure_waiting(self.window, &mut out);
        let lost = self.meter.lost.of(DropReason::InputQueue);
        out.put(Metric::DropsInputQueue, lost);
        let busy = self.busy.as_secs_f64() / self.window.len().as_secs_f64();
        out.put(Metric::Utilization, busy);
    }
}
