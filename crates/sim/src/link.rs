//! A link with the port that feeds it.

use std::borrow::Cow;
use std::mem::offset_of;
use std::sync::Arc;

use spillgate_core::{Dur, FlowKey, Overhead, Packet, Rate, Rng, Table, Time};
use spillgate_measure::Volume;
use spillgate_queueing::SharedLists;
use spillgate_scenario::plan::LinkPlan;

use crate::channel::Channel;
use crate::express::Uncontended;
use crate::express::{FifoPort, FifoQueue};
use crate::gauge::{LinkMeter, QueueMeter};
use crate::port::{Port, QueuedPort};
use crate::precedence::{CodePoints, Precedences};
use crate::rate::Server;
use crate::ring::Ring;
use crate::window::Window;

/// A link: its port, its meters, and the pipe of its packets.
#[repr(C, align(64))]
pub(crate) struct Link {
    // The first cache line, all that an uncontended packet touches.
    pub(crate) uncontended: Uncontended,
    pub(crate) onward: Onward,
    // The second cache line.
    pub(crate) port: Port,
    pub(crate) rate: Rate,
    pub(crate) meter: LinkMeter,
    pub(crate) overhead: Overhead,
    /// The number of uncontended packets when the latest other packet arrived.
    pub(crate) seen: u32,
}

const _: () = assert!(size_of::<Link>() == 128 && offset_of!(Link, port) == 64);

/// Facts about a link behind its server, valid as long as routes do not change.
#[derive(Clone, Copy)]
pub(crate) struct Onward {
    pub(crate) delay: Dur,
    /// Hash that orders the deliveries of this link among those of the same instant.
    pub(crate) tie: u64,
    /// What the express lane may do with a packet before it is at the far end.
    pub(crate) ahead: Ahead,
    /// The pipe of its packets.
    pub(crate) pipe: u32,
    /// Packets are handled by [`World::cross_special_link`](crate::World): labels may change, the
    /// link fails, or it loses or reorders packets.
    pub(crate) special: bool,
    /// Labels may change at its port.
    pub(crate) labels: bool,
    /// The port has known departures, and all its packets come over one other link.
    pub(crate) single_feeder: bool,
    /// The host at its far end acknowledges at once, and receives packets over this link only.
    pub(crate) acks_at_once: bool,
}

/// What the express lane may do with a packet on a link before it is at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// Nothing.
    Nothing,
    /// Offer it to this port: every packet on the link goes there.
    Offer(u32),
    /// Receive it: its path ends there, at a host that acknowledges at once.
    Receive,
    /// It depends on the packet's next hop.
    PerPacket,
}

impl Link {
    /// The link of a plan. If its departures may be `computed` and its discipline decides at arrival, it is a FIFO with
    /// known departures, whose queue is added to `fifos`. `meter` is that of an empty queue.
    pub(crate) fn new(
        plan: &LinkPlan,
        (computed, fails): (bool, bool),
        (flows, lists): (&Arc<[FlowKey]>, &mut SharedLists),
        points: &Arc<CodePoints>,
        (seed, run): (u64, u32),
        meter: &QueueMeter,
        fifos: &mut Table<FifoQueue>,
    ) -> Self {
        let mut discipline = plan.discipline.build_sharing(flows, lists);
        let path = format!("links/{}", plan.name);
        discipline.seed(&|class| Rng::named(seed, run, &path, &format!("police {class}")));
        let rng = || Rng::named(seed, run, &path, "queue");
        let tells = plan.discipline.tells_precedences();
        let mut precedences = Precedences::of_leaves(tells, points, meter.sojourn.bits());
        let fifo = discipline.decided_at_arrival().filter(|_| computed);
        let port = match fifo {
            Some((limit, aqm)) => {
                let aqm = aqm.map(|aqm| (aqm, rng(), precedences.pop().flatten()));
                Port::Fifo(FifoPort::new(limit, aqm, plan, meter.clone(), fifos))
            }
            None => {
                let mut port = QueuedPort::new(discipline, plan.mtu, rng(), fails, meter);
                let server = |p| Box::new(Server::new(p, seed, run, &path));
                port.server = plan.process.as_ref().map(server);
                port.precedences = precedences;
                port.channel = Channel::new(plan, seed, run).map(Box::new);
                port.ring = Ring::of(plan.tx_ring.packets, port.queues.len());
                Port::Queued(Box::new(port))
            }
        };
        let special = fails || plan.loss.is_some() || plan.reorder.is_some();
        Self {
            uncontended: Uncontended::closed(plan.rate.tx_time(plan.overhead.wire_len(0))),
            rate: plan.rate,
            overhead: plan.overhead,
            port,
            onward: Onward {
                delay: plan.delay,
                tie: spillgate_core::rng::hash_bytes(format!("{path}/pipe").as_bytes()),
                ahead: Ahead::Nothing,
                pipe: 0,
                special,
                labels: false,
                single_feeder: false,
                acks_at_once: false,
            },
            meter: LinkMeter::default(),
            seen: 0,
        }
    }

    /// Whether its port has known departures.
    pub(crate) fn knows_departures(&self) -> bool {
        matches!(self.port, Port::Fifo(_))
    }

    /// Length of a packet on the wire, in bytes.
    #[inline]
    pub(crate) fn wire_len(&self, packet: &Packet) -> u32 {
        match self.onward.labels {
            false => self.overhead.wire_len(packet.l3_len),
            true => {
                let labels = packet.labels.bytes();
                self.overhead.labelled_len(packet.l3_len, labels)
            }
        }
    }

    /// The transmission time of a packet, whose length on the wire is set.
    #[inline]
    pub(crate) fn tx_time(&mut self, packet: &Packet) -> Dur {
        if self.onward.labels {
            return self.rate.tx_time(packet.len);
        }
        match self.uncontended.tx_time(packet.l3_len) {
            Some(tx) => tx,
            None => {
                let tx = self.rate.tx_time(packet.len);
                self.uncontended.tune(packet.l3_len, tx);
                tx
            }
        }
    }

    /// A packet that has left its queue is transmitted from `start` to `end`.
    pub(crate) fn carries(&mut self, window: Window, packet: &Packet, start: Time, end: Time) {
        let busy = window.overlap(start, end);
        self.meter.busy = self.meter.busy.saturating_add(busy);
        if let Port::Queued(port) = &mut self.port {
            let queue = &mut port.queues[usize::from(packet.leaf)];
            queue.carried += window.part(packet.len, start, end);
        }
    }

    /// The share of the measured period in which it transmitted. Where its rate varies: `carried`
    /// as a share of what it could have sent in the measured period.
    pub(crate) fn utilization(&self, fifos: &[FifoQueue], window: Window, carried: Volume) -> f64 {
        if let Some(server) = self.port.queued().and_then(|p| p.server.as_ref()) {
            let bits = carried.rate(window.len()) * window.len().as_secs_f64();
            let most = server.capacity(window.start(), window.end());
            // A packet that crosses an edge is counted by its transmission time, not by the rate's
            // capacity.
            return if most > 0.0 {
                (bits / most).min(1.0)
            } else {
                f64::NAN
            };
        }
        self.busy(fifos).as_secs_f64() / window.len().as_secs_f64()
    }

    /// The packets of the queues by code point at the end of the run, those that are still queued included.
    pub(crate) fn precedences_at(
        &self,
        fifos: &[FifoQueue],
        window: Window,
        now: Time,
    ) -> Vec<Option<Box<Precedences>>> {
        match &self.port {
            Port::Queued(port) => {
                let mut all = port.precedences.clone();
                port.for_each_waiting(now, |packet| {
                    if let Some(Some(by)) = all.get_mut(usize::from(packet.leaf)) {
                        by.on_still_waiting(window, packet);
                    }
                });
                all
            }
            Port::Fifo(fifo) => vec![fifo.precedences(fifos)],
        }
    }

    /// The meters of the queues at the end of the run, with the packets that are still queued.
    ///
    /// A FIFO with known departures has counted its packets at arrival.
    pub(crate) fn queues_at(
        &self,
        fifos: &[FifoQueue],
        window: Window,
        now: Time,
    ) -> Cow<'_, [QueueMeter]> {
        match &self.port {
            Port::Queued(port) if port.holds_packets() => {
                let mut queues = port.queues.clone();
                port.for_each_waiting(now, |packet| {
                    queues[usize::from(packet.leaf)].on_still_waiting(window, packet, now);
                });
                queues.into()
            }
            Port::Queued(port) => Cow::Borrowed(&port.queues),
            Port::Fifo(_) => self.known_departures_queue(fifos).into(),
        }
    }
}
