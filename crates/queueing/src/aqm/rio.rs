//! RED with in and out (RIO), coupled and decoupled.
//!
//! Source: D. Clark, W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service",
//! IEEE/ACM Transactions on Networking 6(4), 1998; the decoupled variant is that of ns-2.35
//! `diffserv/dsredq.cc`.
//!
//! Idea: one queue, packets *in* and *out* of their profile. A packet that is in is judged by the
//! average number of packets in, with high thresholds; one that is out by the average of all
//! packets (RIO-C), or of those that are out (RIO-D), with low ones. So what is out goes first, and
//! what is in only if it fills the queue by itself.
//!
//! Deviations: an average over packets of one color idles from the end of the transmission of its
//! last one, at the rate of the queue, so that what is out keeps no average of what is in from
//! decaying. `Queue/RED/RIO` of ns-2 updates no average when a packet that is out arrives, and
//! takes the slope of one color for both; `dsredq.cc` has negative p_a. Behind the inputs of a
//! switch, of whose packets the colors are not known, they count in the average of all packets
//! (RIO-C). Cost: O(1), an entry for each waiting packet, one draw between the thresholds.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Limit, Packet, Rate, Size, Time, Verdict};

use super::automaton::DropStage;
use super::early::{Count, RedCurve, checked_average};
use super::{
    Automaton, Average, AverageParams, Backlog, Draw, LeafFacts, RedIdle, Upstream, UpstreamUse,
    is_default,
};
use crate::Thresholds;
use crate::evidence::Odds;
use crate::recipe::At;
use spillgate_core::Problem;

/// Parameters of RIO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RioSpec {
    /// Which average judges packets that are out. Default `coupled`.
    pub mode: RioMode,
    /// The DSCPs of packets that are in profile; all others are out. Default AF11, AF21, AF31 and
    /// AF41.
    pub profile: Vec<Dscp>,
    /// Thresholds for packets that are in, by the average of these. Default 40, 70, 0.02.
    #[serde(rename = "in")]
    pub within: RedCurve,
    /// Thresholds for packets that are out. Default 10, 30, 0.5.
    pub out: RedCurve,
    /// Weight of one sample in the averages. Default 0.002.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
    /// Between `max_th` and twice that the probability rises to 1 instead of jumping. Default
    /// false.
    pub gentle: bool,
    /// Mark ECN-capable packets instead of dropping them where chance decides. Default false.
    pub ecn: bool,
    /// Length of the typical small packet by which the averages of an idle queue decay. Default
    /// 500 B.
    pub mean_packet: Size,
    /// What the average does while the queue is idle. Default `decay` (1993).
    #[serde(skip_serializing_if = "is_default")]
    pub idle: RedIdle,
}

/// Which average judges packets that are out of profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RioMode {
    /// That of all packets (RIO-C).
    #[default]
    Coupled,
    /// That of packets that are out (RIO-D).
    Decoupled,
}

/// AFx1, the lowest drop precedence of each class (RFC 2597).
pub(super) fn assured() -> Vec<Dscp> {
    (1..=4).filter_map(|class| Dscp::af(class, 1)).collect()
}

impl Default for RioSpec {
    fn default() -> Self {
        Self {
            mode: RioMode::Coupled,
            profile: assured(),
            within: RedCurve {
                min_th: 40.0,
                max_th: 70.0,
                max_p: 0.02,
            },
            out: RedCurve {
                min_th: 10.0,
                max_th: 30.0,
                max_p: 0.5,
            },
            weight: 0.002,
            gentle: false,
            ecn: false,
            mean_packet: Size(500),
            idle: RedIdle::Decay,
        }
    }
}

impl RioSpec {
    /// The thresholds of packets in and out.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        let names = |wanted: bool| {
            let all = (0..64).filter_map(Dscp::new);
            let mine = all.filter(|d| self.profile.contains(d) == wanted);
            mine.collect()
        };
        vec![self.within.shown(names(true)), self.out.shown(names(false))]
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Rio, Problem> {
        checked_average(at, self.weight, self.mean_packet, self.idle)?;
        at.check(
            !self.profile.is_empty(),
            "profile",
            "none",
            "no packet would be in profile",
            "write the DSCPs of assured packets, such as [af11]",
        )?;
        at.key("in", |at| self.within.checked(at, leaf.max_packets))?;
        at.key("out", |at| self.out.checked(at, leaf.max_packets))?;
        let (within, out) = (&self.within, &self.out);
        for (key, inner, outer) in [
            ("min_th", within.min_th, out.min_th),
            ("max_th", within.max_th, out.max_th),
        ] {
            if inner < outer {
                at.warn(format!(
                    "in.{key} of {inner} is below out.{key} of {outer}: packets in profile are dropped first"
                ));
            }
        }
        if within.max_p > out.max_p {
            at.warn(format!(
                "in.max_p of {} is above out.max_p of {}: packets in profile are dropped more often",
                within.max_p, out.max_p
            ));
        }
        Ok(Rio {
            colors: Colors {
                within: profile_bits(&self.profile),
                average: AverageParams::new(self.weight, self.mean_packet.0, leaf.rate, self.idle),
                rate: leaf.rate,
                coupled: self.mode == RioMode::Coupled,
            },
            curves: [self.out, self.within],
            gentle: self.gentle,
            ecn: self.ecn,
            odds: None,
        })
    }
}

/// A bit for each DSCP that is in profile.
pub(super) fn profile_bits(profile: &[Dscp]) -> u64 {
    profile.iter().fold(0, |bits, d| bits | 1 << d.value())
}

/// What tells packets in from packets out, and how their averages are kept.
#[derive(Clone, Debug)]
pub(super) struct Colors {
    pub(super) within: u64,
    pub(super) average: AverageParams,
    /// The rate at which the queue sends.
    pub(super) rate: Rate,
    pub(super) coupled: bool,
}

/// The averages of a queue of two colors. Arrays have that of packets out, then that of packets in.
#[derive(Clone, Debug)]
pub(crate) struct Vars {
    averages: [Average; 2],
    waiting: [u32; 2],
    pub(super) counts: [Count; 2],
    /// The waiting packets.
    queue: VecDeque<QueuedPacket>,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    within: bool,
    /// When its transmission ends; [`Time::MAX`] where that is seen when it leaves.
    end: Time,
}

impl Vars {
    pub(super) fn new() -> Self {
        Self {
            averages: [Average::ZERO; 2],
            waiting: [0; 2],
            counts: [Count::NONE; 2],
            queue: VecDeque::new(),
        }
    }

    /// The average of the color, or of all packets in place of that of packets out.
    pub(super) fn value(&self, within: bool) -> f64 {
        self.averages[usize::from(within)].value
    }

    fn leaves(&mut self, entry: Option<QueuedPacket>) -> Option<bool> {
        let color = entry?.within;
        self.waiting[usize::from(color)] -= 1;
        Some(color)
    }

    /// A packet left at the head, which ends its transmission at `end`.
    #[inline]
    fn departs(&mut self, colors: &Colors, end: Time) {
        let left = self.queue.pop_front();
        let Some(color) = self.leaves(left) else {
            return;
        };
        let of_color = color || !colors.coupled;
        if of_color && self.waiting[usize::from(color)] == 0 {
            self.averages[usize::from(color)].idle_since = end;
        }
    }

    /// Of the packets whose end is known all but `waiting` have left.
    #[inline]
    fn catch_up(&mut self, colors: &Colors, waiting: u32) {
        while self.queue.len() > waiting as usize {
            match self.queue.front() {
                Some(&QueuedPacket { end, .. }) if end < Time::MAX => self.departs(colors, end),
                _ => return,
            }
        }
    }

    /// The hard limit refused the packet that was passed last.
    pub(super) fn overflowed(&mut self) {
        let last = self.queue.pop_back();
        if let Some(color) = self.leaves(last) {
            self.counts[usize::from(color)].restart();
        }
    }

    /// So many packets were dropped from the head.
    pub(super) fn pushed_out(&mut self, packets: u32) {
        for _ in 0..packets {
            let first = self.queue.pop_front();
            if let Some(color) = self.leaves(first) {
                self.counts[usize::from(color)].restart();
            }
        }
    }

    /// All have left; the last transmission ends at `end`.
    pub(super) fn emptied(&mut self, colors: &Colors, end: Time) {
        if colors.coupled {
            self.averages[0].idle_since = end;
        }
    }
}

impl Colors {
    pub(super) fn is_in(&self, packet: &Packet) -> bool {
        self.within >> (packet.treated_as().value() & 63) & 1 == 1
    }

    /// Samples the averages that an arrival changes; the one that judges it.
    #[inline]
    pub(super) fn sample(&self, v: &mut Vars, now: Time, backlog: &Backlog, within: bool) -> f64 {
        v.catch_up(self, backlog.packets);
        let p = &self.average;
        let mut own = 0.0;
        if within {
            let waiting = f64::from(v.waiting[1]);
            own = v.averages[1].sample(p, now, waiting, &Upstream::NONE);
        }
        let others = match self.coupled {
            true => Some((backlog.measure_packets(), backlog.upstream)),
            false => (!within).then_some((v.waiting[0].into(), Upstream::NONE)),
        };
        if let Some((length, upstream)) = others {
            let all = v.averages[0].sample(p, now, length, &upstream);
            if !within {
                own = all;
            }
        }
        own
    }

    /// Remembers a packet that was let in.
    #[inline]
    pub(super) fn enters(&self, v: &mut Vars, within: bool) {
        let end = Time::MAX;
        v.queue.push_back(QueuedPacket { within, end });
        v.waiting[usize::from(within)] += 1;
    }

    #[inline]
    pub(super) fn departs(&self, v: &mut Vars, now: Time, packet: &Packet) {
        v.departs(self, now + self.rate.tx_time(packet.len));
    }

    /// The packet that was let in last leaves at `start`.
    #[inline]
    pub(super) fn begins(&self, v: &mut Vars, start: Time, packet: &Packet) {
        if let Some(entry) = v.queue.back_mut() {
            entry.end = start + self.rate.tx_time(packet.len);
        }
    }
}

/// A running RIO.
#[derive(Clone, Debug)]
pub(crate) struct Rio {
    colors: Colors,
    /// For packets out, then for packets in.
    curves: [RedCurve; 2],
    gentle: bool,
    ecn: bool,
    /// The odds of the last drop or mark.
    odds: Option<Odds>,
}

impl Automaton for Rio {
    const TELLS_PRECEDENCES: bool = true;
    type Vars = Vars;

    // It judges none, but has to see which packet leaves, or to know when each will.
    const JUDGES_DEPARTURES: bool = true;
    const FORESEES: bool = true;

    fn vars(&self) -> Vars {
        Vars::new()
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let within = self.colors.is_in(packet);
        let avg = self.colors.sample(v, now, backlog, within);
        let curve = &self.curves[usize::from(within)];
        let certain = Odds::certain(avg, curve.min_th, curve.max_th);
        let region = curve.region(avg, self.gentle);
        let count = &mut v.counts[usize::from(within)];
        let (verdict, odds) = count.verdict(region, true, self.ecn, certain, packet, draw);
        self.odds = odds.or(self.odds);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.colors.enters(v, within);
        }
        verdict
    }

    #[inline]
    fn departure<D: Draw>(
        &mut self,
        v: &mut Vars,
        _: &mut DropStage,
        now: Time,
        _: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Verdict {
        self.colors.departs(v, now, packet);
        Verdict::Pass
    }

    #[inline]
    fn begins(&self, v: &mut Vars, start: Time, packet: &Packet) {
        self.colors.begins(v, start, packet);
    }

    fn overflowed(&self, v: &mut Vars) {
        v.overflowed();
    }

    fn pushed_out(&self, v: &mut Vars, packets: u32) {
        v.pushed_out(packets);
    }

    fn emptied(&self, v: &mut Vars, at: Time) {
        v.emptied(&self.colors, at);
    }

    fn average(&self, v: &Vars) -> Option<f64> {
        Some(v.value(false))
    }

    fn decides_by_packets(&self) -> bool {
        true
    }

    fn upstream_use(&self) -> UpstreamUse {
        match self.colors.coupled {
            true => UpstreamUse::Length,
            // How many of the packets in front are in profile is not known.
            false => UpstreamUse::Unknown,
        }
    }

    fn odds(&self) -> Option<Odds> {
        self.odds
    }
}

#[cfg(test)]
#[path = "rio_tests.rs"]
mod tests;
