//! A link with the port that feeds it.

use std::borrow::Cow;

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Dur, Overhead, Packet, Rate, Time};
use spillgate_measure::{QueueMeter, Volume, Window};
use spillgate_scenario::plan::LinkPlan;

use crate::link_meter::LinkMeter;
use crate::port::Port;
use crate::precedence::Precedences;

/// A link and its port.
pub(crate) struct Link {
    /// None where a lane has a port of its own.
    pub(crate) port: Option<Box<Port>>,
    pub(crate) rate: Rate,
    pub(crate) delay: Dur,
    pub(crate) overhead: Overhead,
    /// Hash that orders the deliveries of this link among those of the same instant.
    pub(crate) tie: u64,
    /// Stages act on what goes to its port.
    pub(crate) staged: bool,
    /// Packets are handled by [`World::cross_special_link`](crate::World): stages act to its port,
    /// the link fails, or it loses or reorders packets.
    pub(crate) special: bool,
    pub(crate) meter: LinkMeter,
}

impl Link {
    /// The link of a plan, behind this port.
    pub(crate) fn new(plan: &LinkPlan, port: Option<Port>, fails: bool, staged: bool) -> Self {
        Self {
            port: port.map(Box::new),
            rate: plan.rate,
            delay: plan.delay,
            overhead: plan.overhead,
            tie: hash_bytes(format!("links/{}/pipe", plan.name).as_bytes()),
            staged,
            special: staged || fails || plan.loss.is_some() || plan.reorder.is_some(),
            meter: LinkMeter::default(),
        }
    }

    /// Length of a packet on the wire, in bytes.
    #[inline]
    pub(crate) fn wire_len(&self, packet: &Packet) -> u32 {
        match self.staged {
            false => self.overhead.wire_len(packet.l3_len),
            true => {
                let labels = packet.labels.bytes();
                self.overhead.labelled_len(packet.l3_len, labels)
            }
        }
    }

    /// A packet leaves its queue at `now` for the server, which sends it until `end`; that is the
    /// end of time where it is told later.
    #[inline]
    pub(crate) fn begins(&mut self, window: Window, packet: &Packet, now: Time, end: Time) {
        self.meter.total_bytes += u64::from(packet.len);
        if end < Time::MAX {
            let busy = window.overlap(now, end);
            self.meter.busy = self.meter.busy.saturating_add(busy);
        }
        if let Some(port) = &mut self.port {
            port.begins(window, packet, now, end);
        }
    }

    /// A packet that has left its queue is transmitted from `start` to `end`, as is known now.
    pub(crate) fn carries(&mut self, window: Window, packet: &Packet, start: Time, end: Time) {
        let busy = window.overlap(start, end);
        self.meter.busy = self.meter.busy.saturating_add(busy);
        if let Some(port) = &mut self.port {
            let queue = &mut port.queues[usize::from(packet.leaf)];
            queue.carried += window.part(packet.len, start, end);
        }
    }

    /// The share of the measured period in which it transmitted. Where its rate varies: `carried`
    /// as a share of what it could have sent in the measured period.
    pub(crate) fn utilization(&self, window: Window, carried: Volume) -> f64 {
        let server = self.port.as_ref().and_then(|p| p.server.as_ref());
        let Some(server) = server else {
            return self.meter.busy.as_secs_f64() / window.len().as_secs_f64();
        };
        let bits = carried.rate(window.len()) * window.len().as_secs_f64();
        let most = server.capacity(window.start(), window.end());
        // A packet that crosses an edge is counted by its transmission time, not by the rate's
        // capacity.
        match most > 0.0 {
            true => (bits / most).min(1.0),
            false => f64::NAN,
        }
    }

    /// The packets of its queues by code point at the end of the run, those that still wait
    /// included.
    pub(crate) fn precedences(&self, window: Window, now: Time) -> Vec<Option<Box<Precedences>>> {
        let Some(port) = &self.port else {
            return Vec::new();
        };
        let mut all = port.precedences.clone();
        port.for_each_waiting(now, |packet| {
            if let Some(Some(by)) = all.get_mut(usize::from(packet.leaf)) {
                by.on_still_waiting(window, packet);
            }
        });
        all
    }

    /// The meters of its queues at the end of the run, with the packets that still wait.
    pub(crate) fn queues(&self, window: Window, now: Time) -> Cow<'_, [QueueMeter]> {
        match &self.port {
            None => Cow::default(),
            Some(port) if port.holds_packets() => {
                let mut queues = port.queues.clone();
                port.for_each_waiting(now, |packet| {
                    queues[usize::from(packet.leaf)].on_still_waiting(window, packet, now);
                });
                queues.into()
            }
            Some(port) => Cow::Borrowed(&port.queues),
        }
    }
}
