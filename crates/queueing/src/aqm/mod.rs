//! Active queue management: verdict automata.
//!
//! An automaton is asked on every arrival, or on every departure, and returns a
//! [`spillgate_core::Verdict`], which the leaf executes. Parameters (shared, read only) and
//! variables (changed by every packet) are separate.
//!
//! To add one: a file with its specification, parameters and variables, and one line in the
//! registry below.

mod adaptive_red;
mod adaptive_rio;
mod arrival;
mod automaton;
mod average;
mod avq;
mod base_probability;
mod blue;
mod chance;
mod choke;
mod clock;
mod cobalt;
mod codel;
mod curve;
mod custom;
mod drain;
mod dred;
mod dsred;
mod early;
mod gap;
mod green;
mod green_tcp;
mod law;
mod load_adaptive_red;
mod own;
mod pi;
mod pi2;
mod pie;
mod red;
mod red_spec;
mod rem;
mod rio;
mod sampled;
mod self_configuring_red;
mod sfb;
mod sred;
mod step;
mod upstream;
mod wred;
mod wred_defaults;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Kind, Limit, Packet, Problem, Rate, Rng, Time, Verdict};

pub use adaptive_red::AdaptiveRedSpec;
pub use adaptive_rio::AdaptiveRioSpec;
pub use arrival::ArrivalAqm;
pub(crate) use automaton::{Automaton, DropStage, Managed, Unmanaged};
pub use automaton::{Backlog, Draw};
pub use average::RedIdle;
use average::{Average, AverageParams};
pub use avq::{AvqSpec, AvqVariant};
pub(crate) use base_probability::{Base, Pi};
pub use blue::BlueSpec;
use chance::ByChance;
pub use choke::{ChokeSpec, ChokeVariant};
pub(crate) use cobalt::{CobaltParams, CobaltVars, Ruling};
pub use cobalt::{CobaltSpec, CobaltVariant};
pub use codel::{CodelSpec, CodelVariant, InverseSqrt};
pub use curve::RedCurve;
pub(crate) use custom::Custom;
pub use custom::{CustomAqm, OwnFault, fail};
pub use dred::DredSpec;
pub use dsred::DsredSpec;
pub(crate) use early::Early;
pub use green::GreenSpec;
pub use green_tcp::GreenTcpSpec;
pub use law::ControlLaw;
pub use load_adaptive_red::LoadAdaptiveRedSpec;
pub use own::OwnAqmSpec;
pub use pi::PiSpec;
pub use pi2::Pi2Spec;
pub(crate) use pi2::{check_coupling, is_scalable};
pub use pie::{PieSpec, PieVariant};
pub(crate) use red::Red;
pub use red_spec::{
    RedMarks, RedRules, RedShape, RedSpec, RedSpread, RedUnit, RedVariant, SizeScaling,
};
pub use rem::RemSpec;
pub use rio::{RioMode, RioSpec};
use sampled::Sampled;
pub use self_configuring_red::SelfConfiguringRedSpec;
pub use sfb::SfbSpec;
pub use sred::{SredMode, SredSpec};
pub use step::StepSpec;
pub use upstream::{Upstream, UpstreamUse};
pub use wred::{WredBy, WredProfile, WredSpec, WredUnit};
pub use wred_defaults::WredDefaults;
#[cfg(test)]
pub(crate) use {codel::Codel, wred::Wred};

use crate::evidence::Cause;
use crate::leaf::Queue;
use crate::recipe::At;
use crate::sched::flow_queue::{FlowQueue, Frame, Order};
use crate::stats::State;

/// Facts about a leaf that are needed to resolve its AQM.
pub(crate) struct LeafFacts {
    /// The rate that the leaf is guaranteed.
    pub(crate) rate: Rate,
    /// The hard limit in packets, if there is one.
    pub(crate) max_packets: Option<u32>,
    /// The hard limit.
    pub(crate) limit: Limit,
}

/// Whether a key has its default, and is not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

spillgate_core::family! {
    /// Active queue management of a queue. Algorithms may be added; code that matches on one of
    /// them must handle the others.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[non_exhaustive]
    pub written enum AqmSpec by spec;
    /// A running AQM of one queue.
    #[derive(Clone, Debug)]
    pub(crate) running enum Aqm by each;

    /// Random early detection (Floyd and Jacobson 1993).
    "red": Red(RedSpec) => Managed<Early<red::Red>>;
    /// Weighted RED with profiles by DSCP or precedence (Cisco IOS).
    "wred": Wred(WredSpec) => Managed<Early<wred::Wred>>;
    /// CoDel, controlled delay: drops at departure what waited too long for too long (RFC 8289).
    "codel": Codel(CodelSpec) => Managed<codel::Codel>;
    /// COBALT: CoDel and BLUE side by side, the AQM of CAKE (Palmei and others 2019).
    "cobalt": Cobalt(CobaltSpec) => Managed<cobalt::Cobalt>;
    /// PIE, proportional integral controller enhanced: drops at arrival by how long packets wait
    /// (RFC 8033).
    "pie": Pie(PieSpec) => Managed<pie::Pie>;
    /// PI2: PIE's controller without its heuristics, whose result is squared (De Schepper and
    /// others 2016).
    "pi2": Pi2(Pi2Spec) => Managed<pi2::Pi2>;
    /// A step: marks what finds more than a threshold waiting (RFC 8257).
    "step": Step(StepSpec) => Managed<step::Step>;
    /// Adaptive RED: RED whose highest probability follows the load (Floyd, Gummadi and Shenker
    /// 2001).
    "adaptive-red": AdaptiveRed(AdaptiveRedSpec) => Managed<Early<adaptive_red::AdaptiveRed>>;
    /// Self-configuring RED, whose highest probability changes when the average leaves the
    /// thresholds (Feng and others 1999).
    "self-configuring-red": SelfConfiguringRed(SelfConfiguringRedSpec) => Managed<Early<self_configuring_red::SelfConfiguringRed>>;
    /// Load-adaptive RED, whose thresholds follow the loss (after Aweya and others 2001).
    "load-adaptive-red": LoadAdaptiveRed(LoadAdaptiveRedSpec) => Managed<Early<load_adaptive_red::LoadAdaptiveRed>>;
    /// DSRED, RED with two slopes (Zheng and Atiquzzaman 2001).
    "dsred": Dsred(DsredSpec) => Managed<Early<dsred::Dsred>>;
    /// RIO, RED for packets in and out of profile (Clark and Fang 1998).
    "rio": Rio(RioSpec) => Managed<Early<rio::Rio>>;
    /// Adaptive RIO, whose thresholds for packets out of profile follow the load (Chien and Liao
    /// 2003).
    "adaptive-rio": AdaptiveRio(AdaptiveRioSpec) => Managed<Early<adaptive_rio::AdaptiveRio>>;
    /// GREEN: drops so that packets arrive just below the rate of the link (Wydrowski and Zukerman
    /// 2002).
    "green": Green(GreenSpec) => Managed<ByChance<green::Green>>;
    /// GREEN by TCP's equation: drops what makes the connections share the link (Feng, Kapadia and
    /// Thulasidasan 2002).
    "green-tcp": GreenTcp(GreenTcpSpec) => Managed<ByChance<green_tcp::GreenTcp>>;
    /// BLUE: a probability that losses raise and idle times lower (Feng and others 1999).
    "blue": Blue(BlueSpec) => Managed<ByChance<blue::Blue>>;
    /// CHOKe: RED that drops what arrives together with a queued packet of its flow (Pan and others
    /// 2000).
    "choke": Choke(ChokeSpec) => Managed<choke::Choke>;
    /// PI, a proportional integral controller of the queue (Hollot and others 2001).
    "pi": Pi(PiSpec) => Managed<ByChance<Sampled<pi::Pi>>>;
    /// REM, random exponential marking by a price of the link (Athuraliya and others 2001).
    "rem": Rem(RemSpec) => Managed<ByChance<Sampled<rem::Rem>>>;
    /// AVQ, an adaptive virtual queue (Kunniyur and Srikant 2001).
    "avq": Avq(AvqSpec) => Managed<ByChance<avq::Avq>>;
    /// SRED, stabilized RED: drops by an estimate of the number of flows (Ott and others 1999).
    "sred": Sred(SredSpec) => Managed<ByChance<sred::Sred>>;
    /// DRED, dynamic RED: an integral controller of the queue (Aweya and others 2001).
    "dred": Dred(DredSpec) => Managed<ByChance<Sampled<dred::Dred>>>;
    /// SFB, stochastic fair BLUE: a probability for each flow by hashes (Feng and others 2001).
    "sfb": Sfb(SfbSpec) => Managed<ByChance<sfb::Sfb>>;
    /// An AQM of one's own, given beside the scenario.
    "own": Own(OwnAqmSpec) => Managed<Custom>;
}

impl AqmSpec {
    /// Whether it decides when packets leave; then the queue has to be first in, first out.
    pub fn judges_departures(&self) -> bool {
        spec!(self, _s: A => A::JUDGES_DEPARTURES)
    }

    /// Whether it marks packets that are capable of ECN in place of dropping them.
    pub fn ecn(&self) -> bool {
        spec!(self, s => s.ecn)
    }

    /// Its thresholds on the queue, or on its average, in a queue with this limit and this
    /// guaranteed rate; none of AQMs that do not judge by length. Words are not filled in.
    pub fn thresholds(&self, limit: Limit, rate: Rate) -> Vec<crate::Thresholds> {
        spec!(self, s => s.thresholds(limit, rate))
    }

    /// Whether it compares packets by their flows; then it is refused in fair queues, which tell
    /// them apart already.
    pub fn tells_flows(&self) -> bool {
        spec!(self, _s: A => A::TELLS_FLOWS)
    }

    /// Where it was published.
    pub(crate) fn source(&self) -> Option<&'static str> {
        Kind::find(Self::KINDS, self.kind())?.source()
    }

    pub(crate) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Aqm, Problem> {
        spec!(self, s => at
            .key(self.kind(), |at| s.resolve(at, leaf))
            .map(|running| Managed::new(running).into())
            .map_err(|problem| problem.cite(self.source())))
    }

    /// A fair queue that has this AQM in each of its queues.
    pub(crate) fn manage<O: Order>(
        &self,
        frame: Frame<O>,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<Box<dyn FlowQueue>, Problem> {
        at.check(
            !self.tells_flows(),
            "",
            self.kind(),
            "it compares flows that share a queue, and each flow has a queue of its own here",
            "set it for a fifo or for a class with one queue",
        )
        .map_err(Problem::misfit)?;
        spec!(self, s => at
            .key(self.kind(), |at| s.resolve(at, leaf))
            .map(|running| frame.under(running))
            .map_err(|problem| problem.cite(self.source())))
    }
}

/// What waits where a packet arrives or leaves, from which an AQM is told what it asks for.
pub(crate) struct Waiting<'a> {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    pub(crate) queue: &'a Queue,
    pub(crate) upstream: &'a Upstream,
}

/// What an AQM says of an arriving packet.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// The average by which it judged, if there is one.
    pub(crate) average: Option<f64>,
    /// The place of a queued packet that is dropped, too.
    pub(crate) victim: Option<u32>,
}

impl<A: Automaton> Managed<A> {
    const JUDGES_DEPARTURES: bool = A::JUDGES_DEPARTURES;
    const FORESEES: bool = A::FORESEES;
    const TELLS_PRECEDENCES: bool = A::TELLS_PRECEDENCES;
    const TELLS_FLOWS: bool = A::TELLS_FLOWS;

    #[inline(always)]
    fn backlog(&self, waiting: &Waiting<'_>) -> Backlog {
        let head = || waiting.queue.first().map(|p| p.arrived);
        Backlog {
            packets: waiting.packets,
            bytes: waiting.bytes,
            head: if A::ASKS_HEAD { head() } else { None },
            drain_rate: self.automaton.drain_rate(&self.vars),
            upstream: *waiting.upstream,
        }
    }

    #[inline(always)]
    fn judged(
        &mut self,
        now: Time,
        waiting: &Waiting<'_>,
        packet: &Packet,
        rng: &mut Rng,
    ) -> Judged {
        let backlog = self.backlog(waiting);
        let victim = match A::PICKS {
            true => self.matches(now, &backlog, waiting.queue, packet, rng),
            false => None,
        };
        let verdict = match victim {
            Some(_) => Verdict::Drop(DropReason::Early),
            None => self.arrival(now, &backlog, packet, rng),
        };
        Judged {
            verdict,
            average: self.average(),
            victim,
        }
    }

    /// The place of the queued packet that it picked, if that is of the flow of this one.
    fn matches(
        &mut self,
        now: Time,
        backlog: &Backlog,
        queue: &Queue,
        packet: &Packet,
        rng: &mut Rng,
    ) -> Option<u32> {
        let at = self.automaton.picks(&mut self.vars, now, backlog, rng)?;
        let same = queue.at(at).is_some_and(|there| there.flow == packet.flow);
        same.then(|| {
            self.automaton.matched();
            at
        })
    }
}

impl Aqm {
    /// Takes its parameters from the same AQM at another rate.
    pub(crate) fn retune(&mut self, fresh: Self) {
        each!(fresh, f: A => if let Ok(a) = <&mut A>::try_from(self) {
            a.automaton = f.automaton;
        });
    }

    /// What it says of an arriving packet.
    #[inline]
    pub(crate) fn judge_arrival(
        &mut self,
        now: Time,
        waiting: &Waiting<'_>,
        packet: &Packet,
        rng: &mut Rng,
    ) -> Judged {
        each!(self, a => a.judged(now, waiting, packet, rng))
    }

    /// The verdict on a packet that was taken from the head of the queue.
    #[inline]
    pub(crate) fn judge_departure(
        &mut self,
        stage: &mut DropStage,
        now: Time,
        waiting: &Waiting<'_>,
        packet: &Packet,
        rng: &mut Rng,
    ) -> Verdict {
        each!(self, a => a.departure(stage, now, &a.backlog(waiting), packet, rng))
    }

    /// The verdict on an arriving packet by the number of waiting packets alone.
    #[inline]
    pub(crate) fn arrival(
        &mut self,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        rng: &mut Rng,
    ) -> Verdict {
        each!(self, a => a.arrival(now, backlog, packet, rng))
    }

    #[inline]
    pub(crate) fn overflowed(&mut self) {
        each!(self, a => a.overflowed());
    }

    /// So many packets were dropped to make room for one.
    pub(crate) fn pushed_out(&mut self, packets: u32) {
        each!(self, a => a.automaton.pushed_out(&mut a.vars, packets));
    }

    /// This packet, which was `at` in the queue, was dropped to make room.
    pub(crate) fn evicted(&mut self, at: u32, packet: &Packet) {
        each!(self, a => a.automaton.evicted(&mut a.vars, at, packet));
    }

    #[inline]
    pub(crate) fn emptied(&mut self, at: Time) {
        each!(self, a => a.emptied(at));
    }

    pub(crate) fn exhausted(&mut self, now: Time, stage: DropStage) {
        each!(self, a => a.exhausted(now, stage));
    }

    #[inline]
    pub(crate) fn average(&self) -> Option<f64> {
        each!(self, a => a.average())
    }

    /// Whether its average is in bytes.
    pub(crate) fn averages_bytes(&self) -> bool {
        each!(self, a => a.automaton.averages_bytes())
    }

    /// See [`LeafGauges::probability`](crate::LeafGauges).
    pub(crate) fn probability(&self) -> Option<f64> {
        each!(self, a => a.automaton.probability(&a.vars))
    }

    pub(crate) fn state(&self, now: Time) -> State {
        each!(self, a => a.automaton.state(&a.vars, now))
    }

    pub(crate) fn cause(&self, packet: &Packet) -> Option<Cause> {
        each!(self, a => a.automaton.cause(packet))
    }

    /// What it takes into account of queues in front of its own.
    pub(crate) fn upstream_use(&self) -> UpstreamUse {
        each!(self, a => a.automaton.upstream_use())
    }

    /// `bytes` arrived in front of its queue.
    #[inline]
    pub(crate) fn upstream_arrival(&mut self, now: Time, upstream: &Upstream, bytes: u32) {
        each!(self, a => a.automaton.upstream_arrival(&mut a.vars, now, upstream, bytes));
    }

    /// Whether it decides when packets leave.
    pub(crate) fn judges_departures(&self) -> bool {
        each!(self, _a: A => A::JUDGES_DEPARTURES)
    }

    /// Whether a FIFO with this AQM may compute departures at arrival.
    pub(crate) fn decides_by_packets(&self) -> bool {
        each!(self, a => a.automaton.decides_by_packets())
    }

    /// Whether it treats packets of one queue by their code points.
    pub(crate) fn tells_precedences(&self) -> bool {
        each!(self, _a: A => A::TELLS_PRECEDENCES)
    }

    /// Whether such a FIFO has to tell it of departures.
    pub(crate) fn foresees(&self) -> bool {
        each!(self, _a: A => A::FORESEES)
    }

    /// The transmission of the packet that was let in last begins at `start`.
    #[inline]
    pub(crate) fn begins(&mut self, start: Time, packet: &Packet) {
        each!(self, a => a.automaton.begins(&mut a.vars, start, packet));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Scripted numbers; drawing more than were written is a failure.
    pub(crate) struct Script {
        pub(crate) numbers: Vec<f64>,
        pub(crate) drawn: usize,
    }

    impl Script {
        pub(crate) fn new(numbers: &[f64]) -> Self {
            Self {
                numbers: numbers.to_vec(),
                drawn: 0,
            }
        }
    }

    impl Draw for Script {
        fn draw(&mut self) -> f64 {
            self.drawn += 1;
            self.numbers[self.drawn - 1]
        }
    }

    /// Facts of a leaf at 1.5 Mb/s: 375 packets of 500 B a second.
    pub(crate) fn facts() -> LeafFacts {
        LeafFacts {
            rate: Rate::from_bps(1_500_000).unwrap(),
            max_packets: None,
            limit: Limit::Packets(u32::MAX),
        }
    }
}
