//! A link with the port that feeds it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use spillgate_core::{Dur, FlowKey, Overhead, Rate, Rng, Time};
use spillgate_scenario::plan::LinkPlan;

use crate::gauge::{LinkMeter, QueueMeter};
use crate::port::{FifoPort, InFlight, Port, QueuedPort};
use crate::window::Window;

/// A FIFO pipe of packets by value: only its head has a wake.
pub(crate) struct Link {
    pub(crate) to: u32,
    pub(crate) rate: Rate,
    pub(crate) delay: Dur,
    pub(crate) overhead: Overhead,
    pub(crate) port: Port,
    pub(crate) pipe: VecDeque<InFlight>,
    pub(crate) meter: LinkMeter,
    /// One for each queue of the port.
    pub(crate) queues: Vec<QueueMeter>,
    /// Hash of the link's name, for the digest.
    pub(crate) path: u64,
}

impl Link {
    pub(crate) fn new(
        plan: &LinkPlan,
        flows: &Arc<[FlowKey]>,
        seed: u64,
        run: u32,
        bits: u8,
    ) -> Self {
        let discipline = plan.discipline.build(flows);
        let queues = discipline
            .leaves()
            .iter()
            .map(|_| QueueMeter::new(bits))
            .collect();
        let path = format!("links/{}", plan.name);
        let port = match discipline.plain_fifo() {
            Some(limit) => Port::Fifo(FifoPort::new(limit, plan.rate)),
            None => {
                let rng = Rng::named(seed, run, &path, "queue");
                Port::Queued(Box::new(QueuedPort::new(discipline, rng)))
            }
        };
        Self {
            to: plan.to,
            rate: plan.rate,
            delay: plan.delay,
            overhead: plan.overhead,
            port,
            pipe: VecDeque::new(),
            meter: LinkMeter::default(),
            queues,
            path: spillgate_core::rng::hash_bytes(path.as_bytes()),
        }
    }

    /// Bytes whose transmission has begun, since the start of the run; a computed port must
    /// have been advanced to now.
    pub(crate) fn begun_bytes(&self) -> u64 {
        let planned = match &self.port {
            Port::Fifo(fifo) => fifo.backlog().1,
            Port::Queued(_) => 0,
        };
        self.meter.total_bytes - planned
    }

    /// The meters of the queues at the end of the run, what still waits included.
    ///
    /// A computed port has counted its packets on arrival.
    pub(crate) fn queues_at(&self, window: Window, now: Time) -> Cow<'_, [QueueMeter]> {
        match &self.port {
            Port::Queued(port) if port.discipline.backlog_packets() > 0 => {
                let mut queues = self.queues.clone();
                port.for_each_waiting(now, |packet| {
                    queues[usize::from(packet.leaf)].on_still_waiting(window, packet, now);
                });
                queues.into()
            }
            Port::Queued(_) | Port::Fifo(_) => Cow::Borrowed(&self.queues),
        }
    }
}
