//! Controllers of a queue: gains under which the loop with TCP swings, and targets out of reach.
//!
//! The loop is that of C. V. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved
//! Controllers for AQM Routers Supporting TCP Flows", IEEE INFOCOM 2001, equation (3): N alike
//! connections over a link of C packets a second, linearized where they fill it,
//!
//! P(s) = C²/(2N) e^(-s R) / ((s + 2N/(R² C)) (s + 1/R)).
//!
//! A controller (Kp + Ki/s) / (1 + s lag) closes it. It is stable while its gain is below 1 where
//! its phase reaches -180 degrees (Nyquist). `spillgate fluid` judges by the same loop.

use std::f64::consts::PI;

use spillgate_core::math::ln;
use spillgate_core::show::rough_plain;
use spillgate_core::{Limit, Rate};
use spillgate_queueing::PlacedAqm;
use spillgate_queueing::spec::AqmSpec;

use super::{Ask, When};
use crate::registry::rule_text;
use crate::view::{Queue, View, bytes_of, seconds, time};

pub(super) const ASKED: &[Ask] = &[Ask(&[&GAINS, &OUT_OF_REACH], check, When::Queued)];

rule_text! { GAINS = "SG-A011", "gains-unstable", Warning, "A controller has gains under which its loop with TCP is unstable";
    why "An AQM and the connections whose packets it drops are a control loop: what it decides shows in the queue one round trip later. With few connections, a fast link or a long round trip the same gain does more. Above a bound every correction is larger than the error that it corrects: the probability swings between too much and nothing, the queue between full and empty, whatever the target is.\n\nThe message names the bound for the connections of the scenario that have no end, all of which are taken as alike, with the longest of their round trips. The bound is that of the linear model: somewhat below it the queue swings for a while after each change.";
    fix "Multiply both gains by what the message says, or less, or by half of it for a margin; `spillgate fluid` shows the margins of PIE.";
    from "Hollot, Misra, Towsley and Gong, \"On Designing Improved Controllers for AQM Routers Supporting TCP Flows\", INFOCOM 2001; the gains of PIE by RFC 8033, section 4.2, those of PI2 and DualPI2 by De Schepper and others, \"PI2\", CoNEXT 2016, section 4, of REM by Athuraliya and others 2001, of DRED by Aweya and others 2001";
}

rule_text! { OUT_OF_REACH = "SG-A012", "target-out-of-reach", Warning, "A queue is never as long as the delay that its AQM aims at";
    why "CoDel, PIE, PI2 and their kin act when packets wait longer than a target. Where the queue is full before that, nothing but its limit ever drops: the AQM is there and does nothing, and the losses come in bursts as without it.";
    fix "Raise the queue limit to several times the target, or lower the target.";
    from "RFC 8033, section 4.1; RFC 8289, section 4.1: the buffer is larger than the target";
}

fn check(v: &mut View<'_>) {
    v.each_queue(|v, q| {
        let Some(aqm) = &q.place.aqm else { return };
        // A controller whose target is out of reach controls nothing.
        if !out_of_reach(v, q, aqm) {
            gains(v, q, aqm);
        }
    });
}

/// A controller in packets and seconds; the probability is that of a drop.
#[derive(Clone, Copy, Debug)]
struct Controller {
    /// Per packet.
    proportional: f64,
    /// Per packet and second.
    integral: f64,
    /// Seconds of the filter in front of it.
    lag: f64,
    /// Seconds for which packets wait where it comes to rest.
    wait: f64,
}

/// The connections without end of a queue.
#[derive(Clone, Copy, Debug)]
struct Connections {
    count: f64,
    /// Packets a second that the queue sends.
    capacity: f64,
    /// Bytes of a packet.
    packet: f64,
    /// Seconds of a round trip, waiting included.
    rtt: f64,
}

impl Connections {
    /// Those of a queue, without waiting; none if there are none, or the traffic is not known.
    fn of(q: &Queue<'_>) -> Option<Self> {
        let flows = q.flows.as_ref()?.iter();
        let endless: Vec<_> = flows.filter_map(|l| Some((l, l.endless?))).collect();
        let packet = endless.iter().map(|(l, _)| l.sizes.longest).max()?;
        let rtt = endless.iter().map(|(_, rtt)| *rtt).reduce(f64::max)?;
        let packet = f64::from(packet);
        Some(Self {
            count: endless.len() as f64,
            capacity: q.rate?.bps() as f64 / 8.0 / packet,
            packet,
            rtt,
        })
    }

    /// The probability at which they fill the link: W² p = 2, a window W being R C / N.
    fn probability(&self) -> f64 {
        let window = self.rtt * self.capacity / self.count;
        (2.0 / (window * window)).min(1.0)
    }

    /// The factor by which the gains of a controller may grow; none if nothing is too much.
    fn gain_margin(&self, c: Controller) -> Option<f64> {
        let (n, r) = (self.count, self.rtt);
        let slow = 2.0 * n / (r * r * self.capacity);
        let phase = |w: f64| {
            let controller = (w * c.proportional / c.integral).atan() - PI / 2.0;
            controller - (w * c.lag).atan() - w * r - (w / slow).atan() - (w * r).atan()
        };
        let mut low = 1e-6 / r;
        let mut high = low;
        while phase(high) > -PI {
            low = high;
            high *= 1.05;
            if high > 100.0 / r {
                return None;
            }
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            match phase(middle) > -PI {
                true => low = middle,
                false => high = middle,
            }
        }
        let w = high;
        let plant = self.capacity * self.capacity
            / (2.0 * n)
            / ((w * w + slow * slow) * (w * w + 1.0 / (r * r))).sqrt();
        let controller = (c.proportional * c.proportional + (c.integral / w) * (c.integral / w))
            .sqrt()
            / (1.0 + (w * c.lag) * (w * c.lag)).sqrt();
        Some(1.0 / (plant * controller))
    }
}

/// By what PIE divides its gains at a probability (RFC 8033, section 4.2).
fn pie_scale(p: f64) -> f64 {
    const STEPS: [(f64, f64); 6] = [
        (1e-6, 2048.0),
        (1e-5, 512.0),
        (1e-4, 128.0),
        (1e-3, 32.0),
        (1e-2, 8.0),
        (1e-1, 2.0),
    ];
    let below = STEPS.iter().find(|(step, _)| p < *step);
    below.map_or(1.0, |(_, scale)| *scale)
}

/// A controller of the delay: `alpha` and `beta` per second at each `update`.
fn of_delay(alpha: f64, beta: f64, update: f64, target: f64, n: &Connections) -> Controller {
    Controller {
        proportional: (beta + 0.5 * alpha) / n.capacity,
        integral: alpha / update / n.capacity,
        lag: 0.0,
        wait: target,
    }
}

impl Controller {
    fn times(self, factor: f64) -> Self {
        Self {
            proportional: factor * self.proportional,
            integral: factor * self.integral,
            ..self
        }
    }

    /// That of an AQM, with the keys of its gains; none of other kinds of law.
    fn of(spec: &AqmSpec, q: &Queue<'_>, n: &Connections) -> Option<(Self, &'static str, f64)> {
        // Windows of the round trip with the target.
        let resting = |wait: f64| {
            Connections {
                rtt: n.rtt + wait,
                ..*n
            }
            .probability()
        };
        match spec {
            AqmSpec::Pi(s) => {
                let (update, unit) = (s.update.as_secs_f64(), s.mean_packet.map(|b| b.0 as f64));
                // Lengths in packets of another size.
                let each = unit.map_or(1.0, |bytes| n.packet / bytes);
                let c = Self {
                    proportional: 0.5 * (s.a + s.b),
                    integral: (s.a - s.b) / update,
                    lag: 0.0,
                    wait: s.target / each / n.capacity,
                };
                Some((c.times(each), "a", s.a))
            }
            AqmSpec::Pie(s) => {
                let wait = s.target.as_secs_f64();
                let c = of_delay(s.alpha, s.beta, s.update.as_secs_f64(), wait, n);
                Some((c.times(1.0 / pie_scale(resting(wait))), "alpha", s.alpha))
            }
            AqmSpec::Pi2(s) => {
                let wait = s.target.as_secs_f64();
                let c = of_delay(s.alpha, s.beta, s.update.as_secs_f64(), wait, n);
                // p = p'², so that a step of p' is one of 2 p' in p.
                Some((c.times(2.0 * resting(wait).sqrt()), "alpha", s.alpha))
            }
            AqmSpec::Rem(s) if s.weight >= 1.0 => {
                let update = s.update.as_secs_f64();
                let each = n.packet / s.mean_packet.0 as f64;
                let wait = s.target / n.capacity;
                // p = 1 - phi^(-price), of which dp = ln(phi) (1 - p) d(price).
                let step = s.gamma * ln(s.phi) * (1.0 - resting(wait)) * each;
                let c = Self {
                    proportional: 1.0 + 0.5 * s.alpha,
                    integral: s.alpha / update,
                    lag: 0.0,
                    wait,
                };
                Some((c.times(step), "gamma", s.gamma))
            }
            AqmSpec::Dred(s) => {
                let rate = q.rate?;
                let update = s.period(rate).as_secs_f64();
                let limit = q.table_limit();
                let room = bytes_of(limit, rate, n.packet as u64) as f64 / n.packet;
                let c = Self {
                    proportional: 0.5 / room,
                    integral: 1.0 / room / update,
                    // The filter remembers 1/beta samples.
                    lag: match s.beta < 1.0 {
                        true => -update / ln(1.0 - s.beta),
                        false => 0.0,
                    },
                    wait: s.target.unwrap_or(0.5 * room) / n.capacity,
                };
                Some((c.times(s.alpha), "alpha", s.alpha))
            }
            _ => None,
        }
    }
}

/// Gains above those at which the loop with the queue's connections is stable.
fn gains(v: &mut View<'_>, q: &Queue<'_>, aqm: &PlacedAqm) {
    // A queue of its own for each flow has one connection.
    let Some(n) = Connections::of(q).filter(|_| !q.place.by_flow) else {
        return;
    };
    let Some((controller, key, gain)) = Controller::of(&aqm.spec, q, &n) else {
        return;
    };
    let n = Connections {
        rtt: n.rtt + controller.wait,
        ..n
    };
    let Some(margin) = n.gain_margin(controller).filter(|m| *m < 1.0) else {
        return;
    };
    let message = format!(
        "the gains of {} make {} swing: with {} TCP connections, {} packets a second and a round trip of {} the loop is stable up to {} times them, `{key}` {} (linear model of Hollot and others 2001)",
        aqm.spec.kind(),
        q.what,
        n.count,
        rough_plain(n.capacity),
        time(n.rtt),
        rough_plain(margin),
        rough_plain(gain * margin),
    );
    v.hit(&GAINS, q.class, &format!("{}{key}", aqm.prefix), message);
}

/// The delay that an AQM aims at, in seconds.
fn target(spec: &AqmSpec) -> Option<f64> {
    let target = match spec {
        AqmSpec::Codel(s) => s.target,
        AqmSpec::Cobalt(s) => s.target,
        AqmSpec::Pie(s) => s.target,
        AqmSpec::Pi2(s) => s.target,
        _ => return None,
    };
    Some(target.as_secs_f64())
}

/// Seconds for which packets wait behind a queue that is full.
fn full(limit: Limit, rate: Option<Rate>, each: u64) -> Option<f64> {
    match limit {
        Limit::Time(t) => Some(t.as_secs_f64()),
        _ => rate.map(|r| seconds(bytes_of(limit, r, each), r)),
    }
}

/// Whether the target of an AQM is above what its queue holds.
fn out_of_reach(v: &mut View<'_>, q: &Queue<'_>, aqm: &PlacedAqm) -> bool {
    let (Some((_, limit)), Some(target)) = (q.limit(), target(&aqm.spec)) else {
        return false;
    };
    let Some(most) = full(limit, q.rate, q.each()).filter(|most| *most < target) else {
        return false;
    };
    let message = format!(
        "{} of {} aims at a delay of {}, and packets wait {} where the queue is full: only the limit drops",
        aqm.spec.kind(),
        q.what,
        time(target),
        time(most),
    );
    v.hit(
        &OUT_OF_REACH,
        q.class,
        &format!("{}target", aqm.prefix),
        message,
    );
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop of Hollot and others 2001, section V: 60 connections, 3750 packets a second and a
    /// round trip of 246 ms with the queue, 200 packets.
    const PUBLISHED: Connections = Connections {
        count: 60.0,
        capacity: 3750.0,
        packet: 500.0,
        rtt: 0.246,
    };

    #[track_caller]
    fn margin(n: Connections, c: Controller, expected: f64) {
        let found = n.gain_margin(c).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{found}");
    }

    /// Margins of `fluid.Model(...).margins(simplified=True)`, which finds them from the state
    /// space.
    #[test]
    fn margins_are_those_of_the_fluid_model() {
        let pi = Controller {
            proportional: 0.5 * (1.822e-5 + 1.816e-5),
            integral: (1.822e-5 - 1.816e-5) * 160.0,
            lag: 0.0,
            wait: 0.0,
        };
        margin(PUBLISHED, pi, 8.800_927_384);
        let n = Connections {
            count: 10.0,
            capacity: 1250.0,
            packet: 1000.0,
            rtt: 0.115,
        };
        let pie = of_delay(0.125, 1.25, 0.015, 0.015, &n).times(1.0 / pie_scale(n.probability()));
        margin(n, pie, 1.887_802_836);
    }

    /// An integrator alone, with a round trip of 1 s and both poles of the plant at 1/s: the phase
    /// is -180 degrees where w + 2 atan(w) is 90 degrees, and L = gain / (w (1 + w²)) there.
    #[test]
    fn the_gain_is_one_at_the_margin() {
        let n = Connections {
            count: 0.5,
            capacity: 1.0,
            packet: 1.0,
            rtt: 1.0,
        };
        let c = Controller {
            proportional: 0.0,
            integral: 1.0,
            lag: 0.0,
            wait: 0.0,
        };
        let margin = n.gain_margin(c).unwrap();
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for _ in 0..60 {
            let w = 0.5 * (low + high);
            match w + 2.0 * w.atan() < PI / 2.0 {
                true => low = w,
                false => high = w,
            }
        }
        assert!((margin / (low * (1.0 + low * low)) - 1.0).abs() < 1e-9);
    }
}
