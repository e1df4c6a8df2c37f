//! Everything that happens at one port of one run, in order, for a picture that moves.
//!
//! To watch changes neither the fingerprint of a run nor any value of it (ADR 25).

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, Packet, Time};
use spillgate_events::WinnerTree;
use spillgate_queueing::Evidence;
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::tap::{FlowInfo, Place, PortView, Seen, Tap};
use spillgate_sim::{Failure, Outcome, Stop, World};

/// What happens to a packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Happening {
    /// It arrives, and is neither policed nor queued yet.
    Arrives = 0,
    /// Its transmission begins.
    Leaves = 1,
    /// It is dropped.
    Dropped = 2,
    /// It was queued, and marked with congestion experienced.
    Marked = 3,
}

/// In [`Recording::reason`]: it is not dropped.
pub const NO_REASON: u8 = u8::MAX;

/// What happened at a port: columns of equal length, in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// When, in seconds since the start of the run.
    pub time: Vec<f64>,
    /// What, as numbers of [`Happening`].
    pub kind: Vec<u8>,
    /// The packet, numbered from 0 in the order of arrival at this port.
    pub packet: Vec<u32>,
    /// Its flow of the plan.
    pub flow: Vec<u32>,
    /// Its class of service.
    pub class: Vec<u16>,
    /// Its queue: the leaf of the discipline.
    pub queue: Vec<u16>,
    /// Its length as the port counts it.
    pub bytes: Vec<u32>,
    /// If it leaves: when its transmission ends, in seconds; else NaN.
    pub until: Vec<f64>,
    /// If it leaves: how long it has waited here, in seconds; else NaN.
    pub wait: Vec<f64>,
    /// If it is dropped: why, as place in [`DropReason::ALL`]; else [`NO_REASON`].
    pub reason: Vec<u8>,
    /// The average queue of its queue's AQM then, in packets; NaN where there is none.
    pub average: Vec<f64>,
    /// The probability that this AQM drops or marks with then; NaN where there is none.
    pub probability: Vec<f64>,
    /// What happened later than is recorded.
    pub left_out: u64,
}

impl Recording {
    /// How much is recorded.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }
}

/// A run that is made while one of its ports is watched.
pub struct Watch {
    world: World<WinnerTree>,
}

impl Watch {
    /// Begins run `run` of a plan, and watches the port of `link`; at most `limit` happenings are
    /// recorded.
    pub fn new(plan: &Arc<WorldPlan>, seed: u64, run: u32, link: u32, limit: usize) -> Self {
        let tap = Recorder {
            plan: Arc::clone(plan),
            link,
            limit,
            flows: Vec::new(),
            known: BTreeMap::new(),
            arrived: 0,
            gauges: Vec::new(),
            sending: None,
            out: Recording::default(),
        };
        Self {
            world: World::tapped(plan, seed, run, true, Box::new(tap)),
        }
    }

    /// Goes on for so many events; whether there is more to do.
    pub fn advance(&mut self, events: u64) -> bool {
        self.world.run(events) == Stop::Paused
    }

    /// How much of the run is made, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.world.fraction()
    }

    /// What has come of a run that is over: its outcome with time series, and what happened at the
    /// port.
    ///
    /// # Errors
    /// Why the run failed.
    pub fn finish(self) -> Result<(Outcome, Recording), Failure> {
        if let Some(why) = self.world.fault() {
            return Err(why.clone());
        }
        let outcome = self.world.outcome();
        let tap = self.world.into_tap().map(Tap::into_any);
        let recorder = tap.and_then(|tap| tap.downcast::<Recorder>().ok());
        Ok((outcome, recorder.map(|r| r.out).unwrap_or_default()))
    }
}

struct Recorder {
    plan: Arc<WorldPlan>,
    link: u32,
    limit: usize,
    flows: Vec<FlowInfo>,
    /// Numbers of the packets that are at the port, by flow and number in it.
    known: BTreeMap<(u32, u32), u32>,
    arrived: u32,
    /// By queue: average and probability as they were seen last.
    gauges: Vec<(f64, f64)>,
    /// The place of the packet in transmission, whose end may not be known yet.
    sending: Option<usize>,
    out: Recording,
}

impl Recorder {
    /// Looks at the AQM of a packet's queue.
    fn look(&mut self, port: &PortView<'_>, packet: &Packet) {
        let leaf = usize::from(packet.leaf);
        if self.gauges.len() <= leaf {
            self.gauges.resize(leaf + 1, (f64::NAN, f64::NAN));
        }
        let gauges = port.discipline.gauges(leaf, port.now);
        let mut state = gauges.state.iter();
        let kept = state.find(|(name, _)| name.ends_with("probability"));
        let probability = gauges.probability.or_else(|| kept.map(|(_, p)| *p));
        self.gauges[leaf] = (
            gauges.average_queue.unwrap_or(f64::NAN),
            probability.unwrap_or(f64::NAN),
        );
    }

    /// Writes down what happens to a packet; its place, if there is room for it.
    fn put(&mut self, now: Time, kind: Happening, packet: &Packet) -> Option<usize> {
        let key = (packet.flow, packet.seq);
        let number = match kind {
            Happening::Arrives => {
                self.known.insert(key, self.arrived);
                self.arrived += 1;
                self.arrived - 1
            }
            Happening::Marked => *self.known.get(&key)?,
            Happening::Leaves | Happening::Dropped => self.known.remove(&key)?,
        };
        let out = &mut self.out;
        let place = out.len();
        if place >= self.limit {
            out.left_out += 1;
            return None;
        }
        let flow = self.flows[packet.flow as usize].of;
        let gauges = self.gauges.get(usize::from(packet.leaf));
        let (average, probability) = gauges.copied().unwrap_or((f64::NAN, f64::NAN));
        out.time.push(now.as_secs_f64());
        out.kind.push(kind as u8);
        out.packet.push(number);
        out.flow.push(flow);
        out.class.push(self.plan.flows[flow as usize].class);
        out.queue.push(packet.leaf);
        out.bytes.push(packet.len);
        out.until.push(f64::NAN);
        out.wait.push(f64::NAN);
        out.reason.push(NO_REASON);
        out.average.push(average);
        out.probability.push(probability);
        Some(place)
    }
}

impl Tap for Recorder {
    fn begin(&mut self, flows: &[FlowInfo]) {
        self.flows = flows.to_vec();
    }

    fn offered(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link == self.link {
            self.look(port, seen.packet);
            self.put(port.now, Happening::Arrives, seen.packet);
        }
    }

    fn marked(&mut self, port: &PortView<'_>, _: &Evidence, seen: Seen<'_>) {
        if port.link == self.link {
            self.look(port, seen.packet);
            self.put(port.now, Happening::Marked, seen.packet);
        }
    }

    fn served(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link != self.link {
            return;
        }
        self.look(port, seen.packet);
        self.sending = self.put(port.now, Happening::Leaves, seen.packet);
        if let Some(place) = self.sending {
            let waited = port.now.since(seen.packet.arrived);
            self.out.wait[place] = waited.as_secs_f64();
            if port.free_at < Time::MAX {
                self.out.until[place] = port.free_at.as_secs_f64();
            }
        }
    }

    fn sent_until(&mut self, link: u32, end: Time, _: Time, _: Seen<'_>) {
        if let Some(place) = self.sending.filter(|_| link == self.link) {
            self.out.until[place] = end.as_secs_f64();
        }
    }

    fn lost(&mut self, now: Time, place: Place, lost: &Dropped, _: Seen<'_>) {
        if !matches!(place, Place::Port(link, _) if link == self.link) {
            return;
        }
        if let Some(place) = self.put(now, Happening::Dropped, &lost.packet) {
            let reasons = DropReason::ALL.iter();
            let reason = reasons.zip(0..).find(|(r, _)| **r == lost.reason);
            self.out.reason[place] = reason.map_or(NO_REASON, |(_, number)| number);
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
