//! What is measured by code point: in queues that drop by it, and of the packets of each class with
//! the code points that policies gave them. And what the meters of policers found.
//!
//! Cost: nothing for other queues, and for worlds in which no policy marks.

use std::sync::Arc;

use spillgate_core::{DropReason, Dscp, Packet, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{FlowMeter, Histogram, Measures, Volume, Window};
use spillgate_nodes::stage::input::measure_colored;
use spillgate_queueing::Colored;
use spillgate_scenario::plan::WorldPlan;

use crate::measured::IDLE_BITS;

/// The code points that packets may have in a world.
#[derive(Debug)]
pub(crate) struct CodePoints {
    all: Vec<Dscp>,
    /// The place of each in `all`.
    place: [u8; 64],
}

impl CodePoints {
    fn new(bits: u64) -> Self {
        let has = |d: &Dscp| bits >> d.value() & 1 != 0;
        let all: Vec<Dscp> = (0..64).filter_map(Dscp::new).filter(has).collect();
        let mut place = [u8::MAX; 64];
        for (i, dscp) in (0..).zip(&all) {
            place[usize::from(dscp.value())] = i;
        }
        Self { all, place }
    }

    /// Those of the sources and those that policies may set, as queues see them: of labelled
    /// packets the class selector of their traffic class.
    pub(crate) fn of_queues(plan: &WorldPlan) -> Self {
        let labels = match plan.stages.mpls() {
            Some(_) => (0..8).map(Dscp::class_selector).collect(),
            None => Vec::new(),
        };
        let sent = plan.sent_with().into_iter().fold(0, |all, of| all | of);
        Self::new(sent | bits(plan.marks().into_iter().chain(labels)))
    }

    fn place(&self, dscp: Dscp) -> Option<usize> {
        let place = self.place[usize::from(dscp.value() & 63)];
        (place != u8::MAX).then_some(place.into())
    }
}

fn bits(dscps: impl Iterator<Item = Dscp>) -> u64 {
    dscps.fold(0, |all, d| all | 1 << d.value())
}

/// A queue's packets with one code point.
#[derive(Clone)]
struct Waited {
    offered: u64,
    lost: u64,
    sojourn: Histogram,
}

impl Waited {
    fn new(bits: u8) -> Self {
        Self {
            offered: 0,
            lost: 0,
            sojourn: Histogram::new(bits),
        }
    }
}

/// The packets of one queue by code point.
#[derive(Clone)]
pub(crate) struct Precedences {
    points: Arc<CodePoints>,
    waited: Vec<Waited>,
}

impl Precedences {
    fn new(points: &Arc<CodePoints>, bits: u8) -> Self {
        Self {
            waited: vec![Waited::new(bits); points.all.len()],
            points: points.clone(),
        }
    }

    /// Those of each leaf of a link, which is none if it does not tell them apart.
    pub(crate) fn of_leaves(
        tells: Vec<bool>,
        points: &Arc<CodePoints>,
        bits: u8,
    ) -> Vec<Option<Box<Self>>> {
        match points.all.len() > 1 && tells.contains(&true) {
            true => tells
                .into_iter()
                .map(|t| t.then(|| Box::new(Self::new(points, bits))))
                .collect(),
            false => Vec::new(),
        }
    }

    fn of(&mut self, packet: &Packet) -> Option<&mut Waited> {
        let place = self.points.place(packet.treated_as())?;
        self.waited.get_mut(place)
    }

    /// A packet leaves the queue at `at`, in order to be sent.
    #[inline]
    pub(crate) fn on_begun(&mut self, window: Window, packet: &Packet, at: Time) {
        let Some(waited) = self.of(packet) else {
            return;
        };
        waited.offered += u64::from(window.contains(packet.arrived));
        if window.contains(at) {
            waited.sojourn.record(at.since(packet.arrived));
        }
    }

    /// The queue drops a packet at `at`.
    #[inline]
    pub(crate) fn on_lost(&mut self, window: Window, packet: &Packet, at: Time) {
        let Some(waited) = self.of(packet) else {
            return;
        };
        waited.offered += u64::from(window.contains(packet.arrived));
        waited.lost += u64::from(window.counts_loss(packet.arrived, at));
    }

    /// A packet is lost at `at` on the link behind the queue.
    pub(crate) fn on_lost_in_flight(&mut self, window: Window, packet: &Packet, at: Time) {
        if let Some(waited) = self.of(packet) {
            waited.lost += u64::from(window.counts_loss(packet.arrived, at));
        }
    }

    /// A packet still waits at the end of the run.
    pub(crate) fn on_still_waiting(&mut self, window: Window, packet: &Packet) {
        if let Some(waited) = self.of(packet) {
            waited.offered += u64::from(window.contains(packet.arrived));
        }
    }
}

/// The packets of each class by the code point with which they arrived or were lost; only where
/// policies mark.
pub(crate) struct Marked {
    points: CodePoints,
    /// By class, then by code point.
    meters: Vec<FlowMeter>,
    /// The class of each flow.
    classes: Vec<u16>,
}

impl Marked {
    pub(crate) fn new(plan: &WorldPlan, bits: u8) -> Option<Self> {
        let points = Self::points(plan)?;
        let meters = points.all.len() * plan.classes.len();
        Some(Self {
            meters: (0..meters).map(|_| FlowMeter::new(bits)).collect(),
            classes: plan.flows.iter().map(|f| f.class).collect(),
            points,
        })
    }

    fn points(plan: &WorldPlan) -> Option<CodePoints> {
        let marks = bits(plan.marks().into_iter());
        let sent = plan.sent_with().into_iter().fold(0, |all, of| all | of);
        (marks != 0).then(|| CodePoints::new(sent | marks))
    }

    fn of(&mut self, flow: u32, packet: &Packet) -> Option<&mut FlowMeter> {
        let class = usize::from(*self.classes.get(flow as usize)?);
        let place = self.points.place(packet.dscp)?;
        self.meters.get_mut(class * self.points.all.len() + place)
    }

    /// The destination has received a packet of a flow, which was sent within the measured period.
    pub(crate) fn on_received(&mut self, flow: u32, packet: &Packet, now: Time) {
        if let Some(meter) = self.of(flow, packet) {
            meter.on_received(packet, now);
        }
    }

    /// So much of a packet has arrived within the measured period.
    pub(crate) fn on_arrived(&mut self, flow: u32, packet: &Packet, volume: Volume) {
        if let Some(meter) = self.of(flow, packet) {
            meter.on_arrived(volume);
        }
    }

    /// A packet of a flow, which was sent within the measured period, was lost.
    pub(crate) fn on_lost(&mut self, flow: u32, packet: &Packet, why: DropReason) {
        if let Some(meter) = self.of(flow, packet) {
            meter.on_lost(why);
        }
    }
}

/// By class, the code points that its packets may arrive with: those of its sources, and all that
/// policies set.
fn of_classes(plan: &WorldPlan) -> Vec<u64> {
    let marks = bits(plan.marks().into_iter());
    let sent = plan.sent_with().into_iter();
    sent.map(|own| own | marks).collect()
}

/// Puts what the meters of the policers of ports found.
pub(crate) fn measure(plan: &WorldPlan, window: Window, found: &[Colored], out: &mut Measures) {
    let names = plan.links.iter().flat_map(|l| {
        let meters = l.discipline.meter_names();
        meters.map(|class| format!("{}/{class}", l.name))
    });
    for (i, name) in names.enumerate() {
        let meter = found.get(i).copied().unwrap_or_default();
        measure_colored(&meter, window, out.of(Scope::Meter, || name));
    }
}

/// Puts what was counted by code point in queues that tell them apart; `of_link` gives that of a
/// link's leaves.
pub(crate) fn measure_queues(
    plan: &WorldPlan,
    of_link: impl Fn(usize) -> Vec<Option<Box<Precedences>>>,
    out: &mut Measures,
) {
    let points = CodePoints::of_queues(plan);
    if points.all.len() < 2 {
        return;
    }
    let idle = Waited::new(IDLE_BITS);
    for (i, link) in plan.links.iter().enumerate() {
        let tells = link.discipline.tells_precedences();
        if !tells.contains(&true) {
            continue;
        }
        let (queues, names) = (of_link(i), link.discipline.leaf_names());
        for leaf in (0..tells.len()).filter(|l| tells[*l]) {
            let queue = queues.get(leaf).and_then(Option::as_deref);
            for (place, dscp) in points.all.iter().enumerate() {
                let w = queue.map_or(&idle, |q| &q.waited[place]);
                let name = || format!("{}/{}/{dscp}", link.name, names[leaf]);
                let mut of = out.of(Scope::QueueDscp, name);
                of.put(Metric::PacketsOffered, w.offered);
                of.put(Metric::PacketsLost, w.lost);
                of.put(Metric::LossRatio, w.lost as f64 / w.offered as f64);
                of.put(Metric::SojournMean, w.sojourn.mean());
                of.put(Metric::SojournP99, w.sojourn.quantile(0.99));
                of.put(Metric::SojournMax, w.sojourn.max());
            }
        }
    }
}

/// Puts what was counted of the packets of each class by code point, if policies mark.
pub(crate) fn measure_classes(plan: &WorldPlan, marked: Option<&Marked>, out: &mut Measures) {
    let Some(points) = Marked::points(plan) else {
        return;
    };
    let idle = FlowMeter::new(IDLE_BITS);
    for (class, (name, has)) in plan.classes.iter().zip(of_classes(plan)).enumerate() {
        for (place, dscp) in points.all.iter().enumerate() {
            if has >> dscp.value() & 1 == 0 {
                continue;
            }
            let at = class * points.all.len() + place;
            let meter = marked.map_or(&idle, |m| &m.meters[at]);
            let mut of = out.of(Scope::ClassDscp, || format!("{name}/{dscp}"));
            meter.measure_marked(plan.duration, &mut of);
        }
    }
}
