//! RED and what descends from it: an average of the queue gives an arriving packet a drop
//! probability, and gaps between drops are spread.
//!
//! A descendant is a [`Law`]: its curve, and what moves it. [`Early`] runs it.

use std::fmt::Debug;

use spillgate_core::{DropReason, Packet, Time, Verdict};

use super::automaton::DropStage;
use super::chance::signal;
use super::curve::{RedCurve, Region};
use super::gap::{Fell, Gap};
use super::red_spec::{RedMarks, RedRules, RedSpread};
use super::{Automaton, Average, AverageParams, Backlog, Draw, UpstreamUse};
use crate::evidence::Odds;
use crate::stats::State;

/// Parameters of an AQM that averages the queue: its own, then those that all of them have.
macro_rules! early_spec {
    ($(#[$about:meta])* pub struct $name:ident { $($own:tt)* }) => {
        spillgate_core::spec! {
            $(#[$about])*
            pub struct $name {
                $($own)*
                /// Mark ECN-capable packets instead of dropping them where chance decides. Default
                /// false.
                pub ecn: bool = false,
                /// Length of the typical small packet by which the average of an idle queue
                /// decays. Default 500 B.
                pub mean_packet: spillgate_core::Size = spillgate_core::Size(500),
                /// What the average does while the queue is idle. Default `decay` (1993).
                #[serde(skip_serializing_if = "crate::aqm::is_default")]
                pub idle: $crate::aqm::RedIdle = $crate::aqm::RedIdle::Decay,
            }
        }
    };
}
pub(super) use early_spec;

/// What makes an AQM of RED's kind: its curve, and what moves it. A class is what it tells packets
/// of one queue apart by.
pub(crate) trait Law: Clone + Debug + Send + Sync + 'static {
    /// What it keeps of one queue beside the averages.
    type Vars: Clone + Debug + Send + Sync;
    /// The averages of one queue.
    type Averages: Averages;
    /// Whether classes are told by code points.
    const TELLS_PRECEDENCES: bool = false;

    /// Its state of a queue that has never held a packet.
    fn vars(&self) -> Self::Vars;
    /// How gaps are spread, and what is marked; thresholds are those of the curve.
    #[inline]
    fn rules(&self) -> &RedRules {
        &RedRules::FLOYD
    }
    /// Whether averages and thresholds are in bytes.
    #[inline]
    fn in_bytes(&self) -> bool {
        self.rules().in_bytes()
    }
    /// Whether packets have classes, each with a curve of its own.
    const CLASSES: bool = false;
    /// The class of a packet.
    #[inline]
    fn class(&self, _: &Packet) -> usize {
        0
    }
    /// A packet arrives, by which the average went from `before` to `average`.
    #[inline]
    fn moves(&self, _: &mut Self::Vars, _now: Time, _before: f64, _average: f64) {}
    /// The curve by which a class is judged now.
    fn curve(&self, vars: &Self::Vars, class: usize) -> RedCurve;
    /// What this curve says of an average.
    #[inline]
    fn region(&self, curve: &RedCurve, average: f64, gentle: bool) -> Region {
        curve.region(average, gentle)
    }
    /// A packet was judged.
    #[inline]
    fn judged(&self, _: &mut Self::Vars, _now: Time, _: &Packet, _class: usize, _: Verdict) {}
    /// The hard limit refused the packet that was judged last.
    fn overflowed(&self, _: &mut Self::Vars) {}
    /// That many packets were dropped from the head of the queue to make room.
    fn pushed_out(&self, _: &mut Self::Vars, _packets: u32) {}
    /// What time series show of it: see [`Automaton::state`].
    fn state(&self, _: &Self::Vars) -> State {
        State::new()
    }
}

/// The averages of one queue, and the gaps between drops of each class.
pub(crate) trait Averages: Clone + Debug + Send + Sync {
    /// How they are kept.
    type Params: Clone + Debug + Send + Sync + 'static;
    /// Whether they have to see which packets enter and leave.
    const FOLLOWS: bool = false;
    /// Of a queue that has never held a packet.
    const NEW: Self;

    /// Samples what the arrival of a packet changes; the average by which it is judged.
    fn sample(
        &mut self,
        p: &Self::Params,
        now: Time,
        backlog: &Backlog,
        in_bytes: bool,
        class: usize,
    ) -> f64;
    /// The average that is shown.
    fn shown(&self) -> f64;
    /// The gap of a class, if gaps are spread.
    fn gap(&mut self, _class: usize) -> Option<&mut Gap> {
        None
    }
    /// A packet was let in.
    #[inline]
    fn enters(&mut self, _class: usize) {}
    /// The transmission of the packet that was let in last begins at `start`, now or later.
    #[inline]
    fn begins(&mut self, _: &Self::Params, _start: Time, _: &Packet) {}
    /// A packet left the head of the queue.
    #[inline]
    fn departs(&mut self, _: &Self::Params, _now: Time, _: &Packet) {}
    /// The hard limit refused the packet that was let in last.
    fn overflowed(&mut self) {
        if let Some(gap) = self.gap(0) {
            gap.restart();
        }
    }
    /// That many packets were dropped from the head of the queue.
    fn pushed_out(&mut self, _packets: u32) {
        self.overflowed();
    }
    /// The queue is empty, and idle from `at` on.
    fn emptied(&mut self, p: &Self::Params, at: Time);
    /// What they take into account of queues in front of this one.
    fn upstream_use(_: &Self::Params) -> UpstreamUse {
        UpstreamUse::Length
    }
}

/// An average by which every packet is judged by itself.
impl Averages for Average {
    type Params = AverageParams;
    const NEW: Self = Self::ZERO;

    #[inline]
    fn sample(
        &mut self,
        p: &AverageParams,
        now: Time,
        backlog: &Backlog,
        in_bytes: bool,
        _: usize,
    ) -> f64 {
        let length = match in_bytes {
            false => backlog.measure_packets(),
            true => backlog.measure_bytes(),
        };
        self.sample(p, now, length, &backlog.upstream)
    }

    fn shown(&self) -> f64 {
        self.value
    }

    fn emptied(&mut self, _: &AverageParams, at: Time) {
        self.idle_since = at;
    }
}

/// An average, and the gap between drops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(super) average: Average,
    pub(super) gap: Gap,
}

const _: () = assert!(size_of::<Spread>() <= 32);

impl Averages for Spread {
    type Params = AverageParams;
    const NEW: Self = Self {
        average: Average::ZERO,
        gap: Gap::NONE,
    };

    #[inline]
    fn sample(
        &mut self,
        p: &AverageParams,
        now: Time,
        backlog: &Backlog,
        in_bytes: bool,
        class: usize,
    ) -> f64 {
        Averages::sample(&mut self.average, p, now, backlog, in_bytes, class)
    }

    fn shown(&self) -> f64 {
        self.average.value
    }

    #[inline]
    fn gap(&mut self, _: usize) -> Option<&mut Gap> {
        Some(&mut self.gap)
    }

    fn emptied(&mut self, p: &AverageParams, at: Time) {
        self.average.emptied(p, at);
    }
}

/// A running AQM of RED's kind.
#[derive(Clone, Debug)]
pub(crate) struct Early<L: Law> {
    pub(super) law: L,
    pub(super) averages: <L::Averages as Averages>::Params,
    pub(super) gentle: bool,
    pub(super) ecn: bool,
    /// The odds of the last drop or mark.
    pub(super) odds: Option<Odds>,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars<A, V> {
    pub(super) averages: A,
    pub(super) law: V,
}

impl<L: Law> Early<L> {
    /// With `gentle` the probability rises to 1 at twice the upper threshold, if the law has it;
    /// with `ecn` packets that are capable of it are marked where the rules say so.
    pub(super) fn new(
        law: L,
        averages: <L::Averages as Averages>::Params,
        gentle: bool,
        ecn: bool,
    ) -> Self {
        Self {
            law,
            averages,
            gentle,
            ecn,
            odds: None,
        }
    }
}

impl<L: Law> Automaton for Early<L> {
    type Vars = Vars<L::Averages, L::Vars>;

    const TELLS_PRECEDENCES: bool = L::TELLS_PRECEDENCES;
    // It judges none, but may have to see which packet leaves, or to know when each will.
    const JUDGES_DEPARTURES: bool = L::Averages::FOLLOWS;
    const FORESEES: bool = L::Averages::FOLLOWS;

    fn vars(&self) -> Self::Vars {
        Vars {
            averages: L::Averages::NEW,
            law: self.law.vars(),
        }
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut Self::Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let (law, rules, in_bytes) = (&self.law, self.law.rules(), self.law.in_bytes());
        let class = law.class(packet);
        let before = v.averages.shown();
        let average = v
            .averages
            .sample(&self.averages, now, backlog, in_bytes, class);
        law.moves(&mut v.law, now, before, average);
        let curve = law.curve(&v.law, class);
        let waiting = match in_bytes {
            false => backlog.packets.into(),
            true => backlog.bytes,
        };
        let region = match rules.spare_short_queue && waiting <= 1 {
            true => Region::Pass,
            false => law.region(&curve, average, self.gentle),
        };
        let mut apart = Gap::NONE;
        let gap = v.averages.gap(class).unwrap_or(&mut apart);
        let verdict = match gap.judge(rules, region, packet, draw) {
            None => Verdict::Pass,
            Some(Fell {
                reason,
                probability,
                count,
                draw,
            }) => {
                self.odds = Some(Odds {
                    average,
                    min: curve.min_th,
                    max: curve.max_th,
                    in_bytes,
                    probability,
                    count,
                    draw,
                });
                let marks = match rules.marks {
                    RedMarks::BelowMax => average < curve.max_th,
                    // RFC 3168 section 7: between the thresholds mark, above them drop.
                    RedMarks::BelowCertain => reason == DropReason::Early,
                    RedMarks::Always => true,
                };
                signal(self.ecn && marks, packet, reason)
            }
        };
        if !matches!(verdict, Verdict::Drop(_)) {
            v.averages.enters(class);
        }
        law.judged(&mut v.law, now, packet, class, verdict);
        verdict
    }

    #[inline]
    fn departure<D: Draw>(
        &mut self,
        v: &mut Self::Vars,
        _: &mut DropStage,
        now: Time,
        _: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Verdict {
        v.averages.departs(&self.averages, now, packet);
        Verdict::Pass
    }

    #[inline]
    fn begins(&self, v: &mut Self::Vars, start: Time, packet: &Packet) {
        v.averages.begins(&self.averages, start, packet);
    }

    fn overflowed(&self, v: &mut Self::Vars) {
        // In Linux the child queue drops without informing its RED.
        if self.law.rules().spread != RedSpread::PerGap {
            v.averages.overflowed();
        }
        self.law.overflowed(&mut v.law);
    }

    fn pushed_out(&self, v: &mut Self::Vars, packets: u32) {
        if self.law.rules().spread != RedSpread::PerGap {
            v.averages.pushed_out(packets);
        }
        self.law.pushed_out(&mut v.law, packets);
    }

    fn emptied(&self, v: &mut Self::Vars, at: Time) {
        v.averages.emptied(&self.averages, at);
    }

    #[inline]
    fn average(&self, v: &Self::Vars) -> Option<f64> {
        Some(v.averages.shown())
    }

    fn averages_bytes(&self) -> bool {
        self.law.in_bytes()
    }

    fn probability(&self, v: &Self::Vars) -> Option<f64> {
        if L::CLASSES {
            return None;
        }
        let curve = self.law.curve(&v.law, 0);
        let region = (self.law).region(&curve, v.averages.shown(), self.gentle);
        Some(match region {
            Region::Pass => 0.0,
            Region::Random(p) => p,
            Region::Certain => 1.0,
        })
    }

    fn state(&self, v: &Self::Vars, _: Time) -> State {
        self.law.state(&v.law)
    }

    fn decides_by_packets(&self) -> bool {
        !self.law.in_bytes()
    }

    fn upstream_use(&self) -> UpstreamUse {
        L::Averages::upstream_use(&self.averages)
    }

    fn odds(&self) -> Option<Odds> {
        self.odds
    }
}
