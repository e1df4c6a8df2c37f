//! The longest time between arrivals of each flow in a period: how long a service was interrupted.

use spillgate_core::{Dur, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{FlowMeter, Measures};
use spillgate_scenario::plan::WorldPlan;

use crate::measured::Group;

/// Arrivals in the period `[from, to)`, 16 B for each flow of the plan.
pub(crate) struct Gaps {
    from: Time,
    to: Time,
    flows: Vec<Gap>,
}

#[derive(Clone, Copy)]
struct Gap {
    /// The last arrival, [`Time::MAX`] if there is none yet.
    last: Time,
    longest: Dur,
}

impl Gaps {
    /// None if the scenario does not ask for gaps.
    pub(crate) fn new(plan: &WorldPlan) -> Option<Box<Self>> {
        let (from, to) = plan.gaps?;
        let nothing = Gap {
            last: Time::MAX,
            longest: Dur::ZERO,
        };
        Some(Box::new(Self {
            from,
            to,
            flows: vec![nothing; plan.flows.len()],
        }))
    }

    /// A packet of a flow of the plan arrives at its destination.
    #[inline]
    pub(crate) fn on_arrival(&mut self, flow: u32, now: Time) {
        let Some(gap) = self.flows.get_mut(flow as usize).filter(|_| now < self.to) else {
            return;
        };
        if now >= self.from && gap.last < now {
            gap.longest = gap.longest.max(now.since(gap.last));
        }
        gap.last = now;
    }

    /// The longest gap of a flow, which may be one that lasts until the end of the period. It is
    /// the whole period for a flow of which no packet has ever arrived, and NaN for a flow that has
    /// sent nothing.
    fn longest(&self, flow: usize, meter: &FlowMeter) -> f64 {
        let Gap { last, longest } = self.flows[flow];
        let longest = match last {
            Time::MAX if meter.sent_packets == 0 => return f64::NAN,
            Time::MAX => self.to.since(self.from),
            last => longest.max(self.to.since(last)),
        };
        longest.as_secs_f64()
    }
}

/// Puts the longest gap of each group and each flow, if the scenario asks for gaps.
pub(crate) fn measure(
    plan: &WorldPlan,
    groups: &[Group<'_>],
    gaps: Option<&Gaps>,
    meters: &[FlowMeter],
    out: &mut Measures,
) {
    if plan.gaps.is_none() {
        return;
    }
    let longest = |flow: usize| {
        let found = gaps.zip(meters.get(flow));
        found.map_or(f64::NAN, |(gaps, meter)| gaps.longest(flow, meter))
    };
    for group in groups {
        let members = group.members(plan.flows.iter());
        // `max` leaves NaN out.
        let most = members.into_iter().map(longest).fold(f64::NAN, f64::max);
        let mut of = out.of(group.scope, || group.name);
        of.put(Metric::GapMax, most);
    }
    for (i, flow) in plan.flows.iter().enumerate() {
        let mut of = out.of(Scope::Flow, || &*flow.name);
        of.put(Metric::GapMax, longest(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    fn longest(arrivals: &[u64]) -> f64 {
        let mut gaps = Gaps {
            from: at(1000),
            to: at(2000),
            flows: vec![Gap {
                last: Time::MAX,
                longest: Dur::ZERO,
            }],
        };
        for &ms in arrivals {
            gaps.on_arrival(0, at(ms));
        }
        let mut meter = FlowMeter::new(3);
        meter.on_sent(100_u16);
        gaps.longest(0, &meter)
    }

    #[test]
    fn gaps_reach_into_the_period_and_end_with_it() {
        assert_eq!(longest(&[1000, 1400, 1900]), 0.5);
        // One that began before counts from its beginning.
        assert_eq!(longest(&[100, 300, 1100, 1500, 1999]), 0.8);
        assert_eq!(longest(&[900, 1000, 1200]), 0.8);
        // What comes later is not seen, what ended before neither.
        assert_eq!(longest(&[0, 900, 1000, 1900, 5000]), 0.9);
        assert_eq!(longest(&[500]), 1.5);
        assert_eq!(longest(&[]), 1.0);
        // The first arrival has none before it.
        assert_eq!(longest(&[1600, 1700]), 0.3);
    }

    #[test]
    fn a_flow_that_sends_nothing_has_none() {
        let gaps = Gaps {
            from: at(0),
            to: at(1),
            flows: vec![Gap {
                last: Time::MAX,
                longest: Dur::ZERO,
            }],
        };
        assert!(gaps.longest(0, &FlowMeter::new(3)).is_nan());
    }
}
