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
use spillgate_core::{Dscp, Limit, Packet, Problem, Rate, Time};

use super::curve::RedCurve;
use super::early::{Averages, Early, Law, early_spec};
use super::gap::Gap;
use super::{Average, AverageParams, Backlog, LeafFacts, RedUnit, Upstream, UpstreamUse};
use crate::Thresholds;
use crate::recipe::At;

early_spec! {
    /// Parameters of RIO.
    pub struct RioSpec {
        /// Which average judges packets that are out. Default `coupled`.
        pub mode: RioMode = RioMode::Coupled,
        /// The DSCPs of packets that are in profile; all others are out. Default AF11, AF21, AF31
        /// and AF41.
        pub profile: Vec<Dscp> = assured(),
        /// Thresholds for packets that are in, by the average of these. Default 40, 70, 0.02.
        #[serde(rename = "in")]
        pub within: RedCurve = RedCurve { min_th: 40.0, max_th: 70.0, max_p: 0.02 },
        /// Thresholds for packets that are out. Default 10, 30, 0.5.
        pub out: RedCurve = RedCurve { min_th: 10.0, max_th: 30.0, max_p: 0.5 },
        /// Weight of one sample in the averages. Default 0.002.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 0.002,
        /// Between `max_th` and twice that the probability rises to 1 instead of jumping. Default
        /// false.
        pub gentle: bool = false,
    }
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
fn assured() -> Vec<Dscp> {
    (1..=4).filter_map(|class| Dscp::af(class, 1)).collect()
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

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Early<Rio>, Problem> {
        let average = AverageParams::checked(at, leaf, self.weight, self.mean_packet, self.idle)?;
        at.check(
            !self.profile.is_empty(),
            "profile",
            "none",
            "no packet would be in profile",
            "write the DSCPs of assured packets, such as [af11]",
        )?;
        at.key("in", |at| self.within.checked(at, leaf, RedUnit::Packets))?;
        at.key("out", |at| self.out.checked(at, leaf, RedUnit::Packets))?;
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
        let colors = Colors {
            average,
            rate: leaf.rate,
            coupled: self.mode == RioMode::Coupled,
        };
        let law = Rio {
            profile: Profile::new(&self.profile),
            curves: [self.out, self.within],
        };
        Ok(Early::new(law, colors, self.gentle, self.ecn))
    }
}

/// A bit for each DSCP that is in profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile(u64);

impl Profile {
    pub(super) fn new(profile: &[Dscp]) -> Self {
        Self(profile.iter().fold(0, |bits, d| bits | 1 << d.value()))
    }

    /// The class of a packet: 1 if it is in profile, else 0.
    #[inline]
    pub(super) fn class(self, packet: &Packet) -> usize {
        (self.0 >> (packet.treated_as().value() & 63) & 1) as usize
    }
}

/// How the averages of two colors are kept.
#[derive(Clone, Debug)]
pub(crate) struct Colors {
    average: AverageParams,
    /// The rate at which the queue sends.
    rate: Rate,
    coupled: bool,
}

/// The averages of a queue of two colors. Arrays have that of packets out, or of all packets, then
/// that of packets in.
#[derive(Clone, Debug)]
pub(crate) struct TwoColors {
    averages: [Average; 2],
    waiting: [u32; 2],
    gaps: [Gap; 2],
    /// The waiting packets.
    queue: VecDeque<QueuedPacket>,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    class: usize,
    /// When its transmission ends; [`Time::MAX`] where that is seen when it leaves.
    end: Time,
}

impl TwoColors {
    /// The class of a waiting packet, which waits no more.
    fn leaves(&mut self, entry: Option<QueuedPacket>) -> Option<usize> {
        let class = entry?.class;
        self.waiting[class] -= 1;
        Some(class)
    }

    /// A packet left at the head, which ends its transmission at `end`.
    #[inline]
    fn left(&mut self, colors: &Colors, end: Time) {
        let left = self.queue.pop_front();
        let Some(class) = self.leaves(left) else {
            return;
        };
        let of_color = class == 1 || !colors.coupled;
        if of_color && self.waiting[class] == 0 {
            self.averages[class].idle_since = end;
        }
    }

    /// A packet was dropped that had been let in: the gap of its class ends.
    fn lost(&mut self, entry: Option<QueuedPacket>) {
        if let Some(class) = self.leaves(entry) {
            self.gaps[class].restart();
        }
    }
}

impl Averages for TwoColors {
    type Params = Colors;
    const FOLLOWS: bool = true;
    const NEW: Self = Self {
        averages: [Average::ZERO; 2],
        waiting: [0; 2],
        gaps: [Gap::NONE; 2],
        queue: VecDeque::new(),
    };

    #[inline]
    fn sample(
        &mut self,
        colors: &Colors,
        now: Time,
        backlog: &Backlog,
        _: bool,
        class: usize,
    ) -> f64 {
        // Of the packets whose end is known all but those of the backlog have left.
        while self.queue.len() > backlog.packets as usize {
            match self.queue.front() {
                Some(&QueuedPacket { end, .. }) if end < Time::MAX => self.left(colors, end),
                _ => break,
            }
        }
        let p = &colors.average;
        let mut own = 0.0;
        if class == 1 {
            let waiting = f64::from(self.waiting[1]);
            own = self.averages[1].sample(p, now, waiting, &Upstream::NONE);
        }
        let others = match colors.coupled {
            true => Some((backlog.measure_packets(), backlog.upstream)),
            false => (class == 0).then_some((self.waiting[0].into(), Upstream::NONE)),
        };
        if let Some((length, upstream)) = others {
            let all = self.averages[0].sample(p, now, length, &upstream);
            if class == 0 {
                own = all;
            }
        }
        own
    }

    fn shown(&self) -> f64 {
        self.averages[0].value
    }

    #[inline]
    fn gap(&mut self, class: usize) -> Option<&mut Gap> {
        Some(&mut self.gaps[class])
    }

    #[inline]
    fn enters(&mut self, class: usize) {
        // When it ends is seen when it leaves, unless it is said before.
        let end = Time::MAX;
        self.queue.push_back(QueuedPacket { class, end });
        self.waiting[class] += 1;
    }

    #[inline]
    fn begins(&mut self, colors: &Colors, start: Time, packet: &Packet) {
        if let Some(entry) = self.queue.back_mut() {
            entry.end = start + colors.rate.tx_time(packet.len);
        }
    }

    #[inline]
    fn departs(&mut self, colors: &Colors, now: Time, packet: &Packet) {
        self.left(colors, now + colors.rate.tx_time(packet.len));
    }

    fn overflowed(&mut self) {
        let last = self.queue.pop_back();
        self.lost(last);
    }

    fn pushed_out(&mut self, packets: u32) {
        for _ in 0..packets {
            let first = self.queue.pop_front();
            self.lost(first);
        }
    }

    fn emptied(&mut self, colors: &Colors, at: Time) {
        if colors.coupled {
            self.averages[0].idle_since = at;
        }
    }

    fn upstream_use(colors: &Colors) -> UpstreamUse {
        match colors.coupled {
            true => UpstreamUse::Length,
            // How many of the packets in front are in profile is not known.
            false => UpstreamUse::Unknown,
        }
    }
}

/// The law of RIO.
#[derive(Clone, Debug)]
pub(crate) struct Rio {
    profile: Profile,
    /// For packets out, then for packets in.
    curves: [RedCurve; 2],
}

impl Law for Rio {
    type Vars = ();
    type Averages = TwoColors;
    const TELLS_PRECEDENCES: bool = true;
    const CLASSES: bool = true;

    fn vars(&self) {}

    #[inline]
    fn class(&self, packet: &Packet) -> usize {
        self.profile.class(packet)
    }

    #[inline]
    fn curve(&self, (): &(), class: usize) -> RedCurve {
        self.curves[class]
    }
}

#[cfg(test)]
#[path = "rio_tests.rs"]
mod tests;
