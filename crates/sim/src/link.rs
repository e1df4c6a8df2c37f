//! A link with the port that feeds it.

use std::borrow::Cow;
use std::sync::Arc;

use spillgate_core::{Dur, FlowKey, Limit, Overhead, Rate, Rng, Table, Time};
use spillgate_queueing::{ArrivalAqm, Discipline, SharedLists};
use spillgate_scenario::plan::LinkPlan;

use crate::gauge::{LinkMeter, QueueMeter};
use crate::port::{FifoPort, Line, Port, QueuedPort};
use crate::window::Window;

/// A link: its port, what is measured of it, and where its packets fly.
///
/// With its port's part for packets that need not wait it fills two cache lines.
#[repr(align(64))]
pub(crate) struct Link {
    pub(crate) rate: Rate,
    pub(crate) delay: Dur,
    pub(crate) overhead: Overhead,
    /// Labels may change at its port.
    pub(crate) labels: bool,
    /// All packets come over one other link, and departures are computed.
    pub(crate) solo: bool,
    /// What is at its far end answers at once, and nothing else gets there.
    pub(crate) answers: bool,
    /// What it sends is looked at once more: labels may change, or it fails.
    pub(crate) special: bool,
    /// Length and transmission time of the last packet: most are alike.
    last_len: u32,
    last_tx: Dur,
    pub(crate) port: Port,
    /// Where its packets are while they are on the wire.
    pub(crate) wire: u32,
    /// Hash that places its deliveries among those of the same instant.
    pub(crate) tie: u64,
    pub(crate) meter: LinkMeter,
    /// What can be done with a packet before it is at the far end, where links fail.
    pub(crate) then: Then,
}

const _: () = assert!(size_of::<Link>() == 128);

/// What can be done with a packet on a link before it is at the far end, as long as the routes are
/// these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing.
    Wait,
    /// It can be offered to this port, as all that are on the link.
    Port(u32),
    /// Nothing; all go on to this port.
    WaitFor(u32),
    /// Nothing; the way of all ends there.
    End,
    /// That depends on where it goes.
    Look,
}

/// Whether a link fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fails {
    Never,
    /// Before the window ends.
    InTime,
    /// When the window has ended or later, perhaps before that, too.
    Late,
}

/// How the packets of a link leave its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// Where the discipline allows it, departures are computed at arrival.
    Computed,
    /// The same, but somebody wants to see the averages that an AQM keeps.
    Sampled,
    /// One by one: somebody wants to see them.
    OneByOne,
    /// As it is where failures are to happen within the window: computed if there is no AQM.
    Failing,
    /// One by one, and the link fails.
    FailingOneByOne,
}

impl Service {
    pub(crate) fn of(fails: Fails, tapped: bool, sampled: bool) -> Self {
        match (fails, tapped, sampled) {
            (Fails::Never, false, false) => Self::Computed,
            (Fails::Never, false, true) => Self::Sampled,
            (Fails::Never, true, _) => Self::OneByOne,
            (Fails::InTime, false, false) => Self::Failing,
            (Fails::InTime | Fails::Late, _, _) => Self::FailingOneByOne,
        }
    }

    /// The FIFO whose departures are computed, if there is one.
    fn computed(self, discipline: &Discipline) -> Option<(Limit, Option<ArrivalAqm>)> {
        let fifo = discipline.decided_at_arrival()?;
        match self {
            Self::Computed => Some(fifo),
            Self::Sampled | Self::Failing => Some(fifo).filter(|(_, aqm)| aqm.is_none()),
            Self::OneByOne | Self::FailingOneByOne => None,
        }
    }
}

impl Link {
    /// The link of a plan; a computed port adds its line to `lines`.
    pub(crate) fn new(
        plan: &LinkPlan,
        service: Service,
        (flows, lists): (&Arc<[FlowKey]>, &mut SharedLists),
        seed: u64,
        run: u32,
        bits: u8,
        lines: &mut Table<Line>,
    ) -> Self {
        let discipline = plan.discipline.build_sharing(flows, lists);
        let path = format!("links/{}", plan.name);
        let meter = QueueMeter::new(bits);
        let fails = matches!(service, Service::Failing | Service::FailingOneByOne);
        let rng = || Rng::named(seed, run, &path, "queue");
        let port = match service.computed(&discipline) {
            Some((limit, aqm)) => {
                let aqm = aqm.map(|aqm| (aqm, rng()));
                Port::Fifo(FifoPort::new(limit, aqm, plan, fails, meter, lines))
            }
            None => Port::Queued(Box::new(QueuedPort::new(
                discipline,
                plan.mtu,
                rng(),
                fails,
                meter,
            ))),
        };
        Self {
            rate: plan.rate,
            delay: plan.delay,
            overhead: plan.overhead,
            labels: false,
            solo: false,
            answers: false,
            special: fails,
            last_len: 0,
            last_tx: plan.rate.tx_time(0),
            port,
            wire: 0,
            tie: spillgate_core::rng::hash_bytes(format!("{path}/pipe").as_bytes()),
            meter: LinkMeter::default(),
            then: Then::Wait,
        }
    }

    /// Whether its port computes departures.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(self.port, Port::Fifo(_))
    }

    /// How long the link takes to send `len` bytes.
    #[inline]
    pub(crate) fn tx_time(&mut self, len: u32) -> Dur {
        if len != self.last_len {
            (self.last_len, self.last_tx) = (len, self.rate.tx_time(len));
        }
        self.last_tx
    }

    /// Bytes whose transmission has begun, since the start of the run; a computed port must
    /// have been advanced to now.
    pub(crate) fn begun_bytes(&self, lines: &[Line]) -> u64 {
        let planned = match &self.port {
            Port::Fifo(fifo) => fifo.backlog(lines).1,
            Port::Queued(_) => 0,
        };
        self.meter.total_bytes - planned
    }

    /// The meters of the queues at the end of the run, what still waits included.
    ///
    /// A computed port has counted its packets on arrival.
    pub(crate) fn queues_at(
        &self,
        lines: &[Line],
        window: Window,
        now: Time,
    ) -> Cow<'_, [QueueMeter]> {
        match &self.port {
            Port::Queued(port) if port.discipline.backlog_packets() > 0 => {
                let mut queues = port.queues.clone();
                port.for_each_waiting(now, |packet| {
                    queues[usize::from(packet.leaf)].on_still_waiting(window, packet, now);
                });
                queues.into()
            }
            Port::Queued(port) => Cow::Borrowed(&port.queues),
            Port::Fifo(fifo) => vec![fifo.meter(lines)].into(),
        }
    }
}
