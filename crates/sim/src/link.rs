//! A link with the port that feeds it.

use std::collections::VecDeque;
use std::sync::Arc;

use spillgate_core::{Dur, FlowKey, Overhead, Rate, Rng};
use spillgate_scenario::plan::LinkPlan;

use crate::gauge::{LinkMeter, QueueMeter};
use crate::port::{FifoPort, InFlight, Port, QueuedPort};

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
            Some(limit) => Port::Fifo(FifoPort::new(limit)),
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
}
