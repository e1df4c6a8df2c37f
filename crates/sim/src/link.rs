//! A link with the port that feeds it.

use std::borrow::Cow;
use std::mem::offset_of;
use std::sync::Arc;

use spillgate_core::{Dur, FlowKey, Limit, Overhead, Packet, Rate, Rng, Table, Time};
use spillgate_queueing::{ArrivalAqm, Discipline, SharedLists};
use spillgate_scenario::plan::LinkPlan;

use crate::gauge::{LinkMeter, QueueMeter};
use crate::port::{FifoPort, Line, Port, QueuedPort};
use crate::straight::Straight;
use crate::window::Window;

/// A link: its port, what is measured of it, and where its packets fly.
#[repr(C, align(64))]
pub(crate) struct Link {
    // What goes straight through touches no more than this cache line.
    pub(crate) straight: Straight,
    pub(crate) delay: Dur,
    /// Hash that places its deliveries among those of the same instant.
    pub(crate) tie: u64,
    /// What can be done with a packet before it is at the far end.
    pub(crate) then: Then,
    /// Where its packets are while they are on the wire.
    pub(crate) wire: u32,
    /// Labels may change at its port.
    pub(crate) labels: bool,
    /// All packets come over one other link, and departures are computed.
    pub(crate) solo: bool,
    /// What is at its far end answers at once, and nothing else gets there.
    pub(crate) answers: bool,
    /// What it sends is looked at once more: labels may change, or it fails.
    pub(crate) special: bool,
    // The rest has a second one.
    pub(crate) port: Port,
    pub(crate) rate: Rate,
    pub(crate) meter: LinkMeter,
    pub(crate) overhead: Overhead,
}

const _: () = assert!(size_of::<Link>() == 128 && offset_of!(Link, port) == 64);

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
    /// It can be received: the way of all ends there, at a host that answers at once.
    Receive,
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
            straight: Straight::closed(plan.rate.tx_time(plan.overhead.wire_len(0))),
            rate: plan.rate,
            delay: plan.delay,
            overhead: plan.overhead,
            labels: false,
            solo: false,
            answers: false,
            special: fails,
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

    /// Bytes of a packet on the wire.
    #[inline]
    pub(crate) fn wire_len(&self, packet: &Packet) -> u32 {
        match self.labels {
            false => self.overhead.wire_len(packet.l3_len),
            true => {
                let labels = packet.labels.bytes();
                self.overhead.labelled_len(packet.l3_len, labels)
            }
        }
    }

    /// How long the link takes to send a packet that has its length on the wire; from now on others
    /// that are as long may go straight through.
    #[inline]
    pub(crate) fn tx_time(&mut self, packet: &Packet, window: Window) -> Dur {
        if self.labels {
            return self.rate.tx_time(packet.len);
        }
        match self.straight.tx_time(packet.l3_len) {
            Some(tx) => tx,
            None => self.tune(packet.l3_len, window),
        }
    }

    /// Has packets of this length go straight through.
    #[inline(never)]
    fn tune(&mut self, l3_len: u16, window: Window) -> Dur {
        self.count_passed();
        let tx = self.rate.tx_time(self.overhead.wire_len(l3_len));
        self.straight.tune(l3_len, tx);
        self.open(window);
        tx
    }

    /// Counts what went straight through.
    fn count_passed(&mut self) {
        let (packets, len, busy) = self.passed();
        if packets == 0 {
            return;
        }
        self.meter.total_bytes += u64::from(packets) * u64::from(len);
        if let Port::Fifo(fifo) = &mut self.port
            && fifo.count_through(packets, len)
        {
            self.meter.busy = self.meter.busy + busy;
        }
        self.straight.counted();
    }

    /// What went straight through and is not counted yet: packets, the bytes of each on the wire, and
    /// the time that the link took to send them.
    fn passed(&self) -> (u32, u32, Dur) {
        let (packets, l3_len, tx) = self.straight.passed();
        let len = self.overhead.wire_len(l3_len);
        (packets, len, tx * u64::from(packets))
    }

    /// Lets packets go straight through as long as that is all there is to it.
    fn open(&mut self, window: Window) {
        let (_, l3_len, _) = self.straight.passed();
        let until = match &self.port {
            Port::Fifo(fifo) if !self.labels => {
                fifo.open_until(self.overhead.wire_len(l3_len), window)
            }
            _ => Time::ZERO,
        };
        self.straight.open_until(until);
    }

    /// The window has begun, if `now` lies in it or behind it.
    #[inline]
    pub(crate) fn begin_counting(&mut self, now: Time, lines: &mut [Line], window: Window) {
        if let Port::Fifo(fifo) = &self.port
            && fifo.begins(now, window)
        {
            self.count_from_now(lines, window);
        }
    }

    #[cold]
    fn count_from_now(&mut self, lines: &mut [Line], window: Window) {
        self.count_passed();
        if let Port::Fifo(fifo) = &mut self.port {
            fifo.begin_counting(lines, window);
        }
        self.open(window);
    }

    /// The transmission that was to end at `end` is cut off at `now`.
    pub(crate) fn cut_off(&mut self, now: Time, end: Time, window: Window) {
        self.count_passed();
        self.meter.on_cut(window, now, end);
    }

    /// A link with a computed port has failed at `now`.
    pub(crate) fn fail(&mut self, now: Time, lines: &mut [Line], window: Window) {
        // What waited when the window began is lost now.
        self.begin_counting(now, lines, window);
        if let Port::Fifo(fifo) = &mut self.port {
            fifo.fail(lines);
            self.straight.free_at = self.straight.free_at.min(now);
            self.open(window);
        }
    }

    /// A link is up until `next`; its server is free and nothing waits.
    pub(crate) fn repair(&mut self, next: Time, lines: &mut [Line], window: Window) {
        match &mut self.port {
            Port::Fifo(fifo) => fifo.repair(lines, next),
            Port::Queued(port) => port.down = false,
        }
        self.open(window);
    }

    /// Time in the window during which it transmitted.
    pub(crate) fn busy(&self) -> Dur {
        match &self.port {
            Port::Fifo(fifo) if fifo.is_counting() => self.meter.busy + self.passed().2,
            _ => self.meter.busy,
        }
    }

    /// Bytes whose transmission has begun, since the start of the run; a computed port must
    /// have been advanced to now.
    pub(crate) fn begun_bytes(&self, lines: &[Line]) -> u64 {
        let planned = match &self.port {
            Port::Fifo(fifo) => fifo.backlog(lines).1,
            Port::Queued(_) => 0,
        };
        let (packets, len, _) = self.passed();
        self.meter.total_bytes + u64::from(packets) * u64::from(len) - planned
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
            Port::Fifo(fifo) => {
                let (packets, len, _) = self.passed();
                let packets = if fifo.is_counting() { packets } else { 0 };
                vec![fifo.meter(lines, packets, len)].into()
            }
        }
    }
}
