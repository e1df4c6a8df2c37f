//! Quality of calls: of each flow that carries speech, and of each group of such flows.

use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{FlowMeter, Measures, Place};
use spillgate_scenario::plan::{FlowPlan, WorldPlan};
use spillgate_voice::Quality;

use crate::measured::Group;

/// What a metric takes of a call.
type Aspect = fn(&Quality) -> f64;

/// The calls of a world, by flow.
struct Calls<'a> {
    plan: &'a WorldPlan,
    meters: &'a [FlowMeter],
    /// As far as is known.
    known: Vec<Option<Quality>>,
    /// With all that is outstanding lost.
    missing: Vec<Option<Quality>>,
}

/// Puts the quality of all calls, of those of each class and site that has some, and of each call.
///
/// A packet that is still in flight is either lost or arrives too late to be played, or it is left
/// out.
pub(crate) fn measure(
    plan: &WorldPlan,
    groups: &[Group<'_>],
    meters: &[FlowMeter],
    out: &mut Measures,
) {
    let assess = |packets: fn(&FlowMeter) -> u64| -> Vec<Option<Quality>> {
        let calls = plan.flows.iter().zip(meters);
        let quality = |(flow, meter): (&FlowPlan, &FlowMeter)| {
            let (profile, voice) = flow.voice.as_ref().zip(meter.voice.as_ref())?;
            profile.assess(&voice.heard(packets(meter)))
        };
        calls.map(quality).collect()
    };
    let calls = Calls {
        plan,
        meters,
        known: assess(FlowMeter::resolved),
        missing: assess(|m| m.sent_packets),
    };
    let is_call = |i: &usize| plan.flows[*i].voice.is_some();
    for group in groups {
        let mut members = group.members(plan.flows.iter());
        members.retain(is_call);
        if members.is_empty() {
            continue;
        }
        let mut of = out.of(group.scope, || group.name);
        calls.measure(&members, &mut of);
        let least = |all: &[Quality]| all.iter().map(|q| q.mos).reduce(f64::min);
        calls.put(Metric::MosMin, &members, &least, &mut of);
    }
    for i in (0..plan.flows.len()).filter(is_call) {
        calls.measure(&[i], &mut out.of(Scope::Flow, || &*plan.flows[i].name));
    }
}

impl Calls<'_> {
    /// Puts the means over some calls of equal weight.
    fn measure(&self, members: &[usize], out: &mut Place<'_>) {
        let metrics: [(Metric, Aspect); 5] = [
            (Metric::RFactor, |q| q.r),
            (Metric::Mos, |q| q.mos),
            (Metric::MouthToEar, |q| q.mouth_to_ear),
            (Metric::LateRatio, |q| q.late),
            (Metric::BurstRatio, |q| q.burst_ratio),
        ];
        for (metric, of) in metrics {
            let mean = |all: &[Quality]| {
                let sum: f64 = all.iter().map(of).sum();
                (!all.is_empty()).then(|| sum / all.len() as f64)
            };
            self.put(metric, members, &mean, out);
        }
    }

    /// Puts what `of` makes of some calls, with its bounds.
    fn put(
        &self,
        metric: Metric,
        members: &[usize],
        of: &dyn Fn(&[Quality]) -> Option<f64>,
        out: &mut Place<'_>,
    ) {
        let is_score = matches!(metric, Metric::RFactor | Metric::Mos | Metric::MosMin);
        if is_score && !self.on_one_scale(members) {
            return out.put(metric, f64::NAN);
        }
        let over = |found: &[Option<Quality>]| {
            let all = members.iter().filter_map(|i| found.get(*i).copied()?);
            of(&all.collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        let (value, other) = (over(&self.known), over(&self.missing));
        let (low, high) = (value.min(other), value.max(other));
        let meters = members.iter().filter_map(|i| self.meters.get(*i));
        let sent = meters.clone().filter(|m| m.sent_packets > 0);
        let shares = sent.map(|m| m.unresolved() as f64 / m.sent_packets as f64);
        let (outstanding, assessed) = shares.fold((0.0, 0_u32), |(sum, n), x| (sum + x, n + 1));
        let bounds = match metric {
            _ if meters.map(FlowMeter::unresolved).sum::<u64>() == 0 => None,
            // The outstanding packets may be late instead of lost.
            Metric::LateRatio => {
                let late = (other + outstanding / f64::from(assessed)).min(1.0);
                Some((low, high.max(late)))
            }
            _ => Some((low, high)),
        };
        out.put_within(metric, value, bounds);
    }

    /// Whether all calls are rated on the same scale; scores of different scales do not compare.
    fn on_one_scale(&self, members: &[usize]) -> bool {
        let scale = |i: usize| self.plan.flows[i].voice.as_ref().map(|p| p.scale);
        members.windows(2).all(|w| scale(w[0]) == scale(w[1]))
    }
}
