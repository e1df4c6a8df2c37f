//! Load-adaptive RED: RED whose thresholds follow the share of packets that it drops. A
//! reconstruction.
//!
//! Source: J. Aweya, M. Ouellette, D. Montuno, A. Chapman, "Enhancing TCP performance with a
//! load-adaptive RED mechanism", International Journal of Network Management 11(1), 2001, of which
//! we have the abstract only. It says that thresholds, not `max_p`, change with the load, so that
//! loss is controlled while the link stays busy; Chien and Liao 2003 cite it for that.
//!
//! Idea: many connections need a long queue, since each of them wants a few packets in flight. So
//! while more than a wanted share of packets is lost the thresholds rise, and while less is lost
//! they fall.
//!
//! Equations, ours, every `period` in which something arrived, of which the share d was dropped: d'
//! <- (1 - w) d' + w d; T <- T + gain (d' - target_loss), within its range; `min_th` = T / 2,
//! `max_th` = 3 T / 2, so that the slope of the curve has one shape.
//!
//! Deviations: all but the idea, see above. The period ends at the first arrival after it. Marks
//! count as drops, and so does what the limit of the queue refuses. Cost: O(1), one draw while
//! chance decides.

use spillgate_core::{Dur, Limit, Packet, Problem, Rate, Time, Verdict};

use super::curve::RedCurve;
use super::early::{Early, Law, Spread, early_spec};
use super::{AverageParams, LeafFacts, RedUnit};
use crate::Thresholds;
use crate::recipe::{At, UNLIMITED_BYTES};
use crate::stats::State;

early_spec! {
    /// Parameters of load-adaptive RED.
    pub struct LoadAdaptiveRedSpec {
        /// The share of packets that is to be lost, 0 to 1. Default 0.05.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub target_loss: f64 = 0.05,
        /// How often the threshold is changed. Default 1 s.
        pub period: Dur = Dur::from_secs(1),
        /// Weight of the loss of one period in its average, above 0 and at most 1. Default 0.1.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub loss_weight: f64 = 0.1,
        /// By how many packets the threshold rises in a period if the average of the loss is 1
        /// above its target. Default half the limit of the queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub gain: Option<f64> = None,
        /// The middle between both thresholds to begin with, in packets. Default `threshold_low`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub threshold: Option<f64> = None,
        /// The least middle, in packets; `min_th` is half of it. Default 10, or `threshold_high`
        /// if that is less.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub threshold_low: Option<f64> = None,
        /// The largest middle, in packets; `max_th` is one and a half times that. Default two
        /// thirds of the limit of the queue; a limit in bytes counts packets of `mean_packet`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub threshold_high: Option<f64> = None,
        /// The probability at `max_th`. Default 0.1.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.1,
        /// Weight of one sample in the average queue. Default 0.002.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 0.002,
        /// Between `max_th` and twice that the probability rises to 1 instead of jumping. Default
        /// false.
        pub gentle: bool = false,
    }
}

/// What a queue's limit makes of the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    gain: f64,
    first: f64,
    low: f64,
    high: f64,
}

impl LoadAdaptiveRedSpec {
    /// Of a queue with room for so many packets; infinite without a limit.
    fn range(&self, room: f64) -> Range {
        let high = self.threshold_high.unwrap_or(room / 1.5);
        let low = self.threshold_low.unwrap_or_else(|| high.min(10.0));
        Range {
            gain: self.gain.unwrap_or(room / 2.0),
            first: self.threshold.unwrap_or(low),
            low,
            high,
        }
    }

    /// The packets for which there is room within a limit.
    fn room(&self, limit: Limit, rate: Rate) -> f64 {
        let packet = self.mean_packet.0.max(1) as f64;
        match limit {
            Limit::Packets(u32::MAX) => f64::INFINITY,
            Limit::Packets(n) => n.into(),
            Limit::Bytes(n) if n >= UNLIMITED_BYTES => f64::INFINITY,
            Limit::Bytes(n) => n as f64 / packet,
            Limit::Time(t) => t.as_secs_f64() * rate.bytes_per_sec() / packet,
        }
    }

    /// The curve about a middle.
    fn curve(&self, threshold: f64) -> RedCurve {
        RedCurve {
            min_th: threshold / 2.0,
            max_th: 1.5 * threshold,
            max_p: self.max_p,
        }
    }

    /// The thresholds to begin with.
    pub(super) fn thresholds(&self, limit: Limit, rate: Rate) -> Vec<Thresholds> {
        let range = self.range(self.room(limit, rate));
        let written = self.threshold.is_some() || self.threshold_low.is_some();
        vec![Thresholds {
            written,
            ..self.curve(range.first).shown(Vec::new())
        }]
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<Early<LoadAdaptiveRed>, Problem> {
        let average = AverageParams::checked(at, leaf, self.weight, self.mean_packet, self.idle)?;
        for (key, share, least) in [
            ("target_loss", self.target_loss, 0.0),
            ("loss_weight", self.loss_weight, f64::MIN_POSITIVE),
        ] {
            at.check(
                (least..=1.0).contains(&share),
                key,
                share,
                match key {
                    "loss_weight" => "the weight of a period must be above 0 and at most 1",
                    _ => "a share must be between 0 and 1",
                },
                "leave it out for the usual value",
            )?;
        }
        at.check(
            self.period > Dur::ZERO,
            "period",
            self.period,
            "a share needs some time to be measured in",
            "the usual value is 1 s",
        )?;
        let room = match leaf.max_packets {
            Some(n) => f64::from(n),
            None => self.room(leaf.limit, leaf.rate),
        };
        let range = self.range(room);
        for (key, value) in [("threshold_high", range.high), ("gain", range.gain)] {
            at.check(
                value.is_finite() && value > 0.0,
                key,
                value,
                "it must be a finite number of packets above 0; by default it is a part of the queue's limit",
                "write it, or limit the queue",
            )?;
        }
        at.check(
            range.low > 0.0 && range.low <= range.high,
            "threshold_low",
            range.low,
            &format!(
                "it must be above 0 and at most threshold_high, which is {}",
                range.high
            ),
            "leave it out for 10 packets",
        )?;
        at.check(
            (range.low..=range.high).contains(&range.first),
            "threshold",
            range.first,
            &format!(
                "it must be between threshold_low, {}, and threshold_high, {}",
                range.low, range.high
            ),
            "leave it out to begin at threshold_low",
        )?;
        // It warns of drops that come from the limit.
        self.curve(range.high).checked(at, leaf, RedUnit::Packets)?;
        let spec = self.clone();
        let law = LoadAdaptiveRed { range, spec };
        Ok(Early::new(law, average, self.gentle, self.ecn))
    }
}

/// The law of load-adaptive RED.
#[derive(Clone, Debug)]
pub(crate) struct LoadAdaptiveRed {
    range: Range,
    spec: LoadAdaptiveRedSpec,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars {
    /// T in packets.
    threshold: f64,
    /// d', the average of the loss.
    loss: f64,
    /// When the present period began.
    began: Time,
    /// Packets that arrived in it.
    arrived: u64,
    /// Of these, dropped or marked.
    lost: u64,
    /// Whether the last of them was.
    last_lost: bool,
}

impl LoadAdaptiveRed {
    /// The change after a period with this loss.
    fn change(&self, v: &mut Vars, loss: f64) {
        v.loss += self.spec.loss_weight * (loss - v.loss);
        let step = self.range.gain * (v.loss - self.spec.target_loss);
        v.threshold = (v.threshold + step).clamp(self.range.low, self.range.high);
    }
}

impl Law for LoadAdaptiveRed {
    type Vars = Vars;
    type Averages = Spread;

    fn vars(&self) -> Vars {
        Vars {
            threshold: self.range.first,
            loss: 0.0,
            began: Time::ZERO,
            arrived: 0,
            lost: 0,
            last_lost: false,
        }
    }

    /// Ends the period if it is over.
    #[inline]
    fn moves(&self, v: &mut Vars, now: Time, _: f64, _: f64) {
        let period = self.spec.period;
        let passed = now.since(v.began);
        if passed < period {
            return;
        }
        v.began += period * (passed.as_ps() / period.as_ps());
        if v.arrived > 0 {
            // What is pushed out may have arrived before.
            let share = (v.lost as f64 / v.arrived as f64).min(1.0);
            self.change(v, share);
        }
        (v.arrived, v.lost) = (0, 0);
    }

    #[inline]
    fn curve(&self, v: &Vars, _: usize) -> RedCurve {
        self.spec.curve(v.threshold)
    }

    #[inline]
    fn judged(&self, v: &mut Vars, _: Time, _: &Packet, _: usize, verdict: Verdict) {
        v.arrived += 1;
        v.last_lost = verdict != Verdict::Pass;
        v.lost += u64::from(v.last_lost);
    }

    fn overflowed(&self, v: &mut Vars) {
        // A marked one counts already.
        v.lost += u64::from(!v.last_lost);
    }

    fn pushed_out(&self, v: &mut Vars, packets: u32) {
        v.lost += u64::from(packets);
    }

    fn state(&self, v: &Vars) -> State {
        let max_th = self.spec.curve(v.threshold).max_th;
        vec![("adapted_max_th", max_th), ("adapted_loss", v.loss)]
    }
}

#[cfg(test)]
#[path = "load_adaptive_red_tests.rs"]
mod tests;
