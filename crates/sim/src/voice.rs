//! Quality of calls: of each flow that carries speech, and of each class of such flows.

use spillgate_measure::FlowMeter;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::{FlowPlan, WorldPlan};
use spillgate_voice::Quality;

use crate::values::Values;

/// The metrics of a call.
const CALL: [Metric; 5] = [
    Metric::RFactor,
    Metric::Mos,
    Metric::MouthToEar,
    Metric::LateRatio,
    Metric::BurstRatio,
];

/// The metrics of a group of calls.
const CALLS: [Metric; 6] = [
    Metric::RFactor,
    Metric::Mos,
    Metric::MouthToEar,
    Metric::LateRatio,
    Metric::BurstRatio,
    Metric::MosMin,
];

/// The metrics of a scope.
pub(crate) fn metrics(scope: Scope) -> impl Iterator<Item = Metric> {
    match scope {
        Scope::Flow => CALL.iter(),
        _ => CALLS.iter(),
    }
    .copied()
}

/// The groups of calls, with the indexes of their flows: all calls, each class and site that has
/// some, each call. Empty if there are no calls.
pub(crate) fn groups(plan: &WorldPlan) -> Vec<(Scope, &str, Vec<usize>)> {
    let calls = |wanted: &dyn Fn(&FlowPlan) -> bool| -> Vec<usize> {
        let flows = plan.flows.iter().enumerate();
        flows
            .filter(|(_, f)| f.voice.is_some() && wanted(f))
            .map(|(i, _)| i)
            .collect()
    };
    let mut groups = vec![(Scope::Total, "all", calls(&|_| true))];
    for (class, name) in plan.classes.iter().enumerate() {
        let members = calls(&|f| usize::from(f.class) == class);
        groups.push((Scope::Class, name, members));
    }
    for site in &plan.sites {
        groups.push((Scope::Site, &site.name, calls(&|f| site.has(f))));
    }
    for i in calls(&|_| true) {
        groups.push((Scope::Flow, &plan.flows[i].name, vec![i]));
    }
    groups.retain(|(_, _, members)| !members.is_empty());
    groups
}

/// A packet that is still in flight is either lost or arrives too late to be played, or it is left
/// out.
pub(crate) fn values(out: &mut Values, plan: &WorldPlan, meters: &[FlowMeter]) {
    let assess = |packets: fn(&FlowMeter) -> u64| -> Vec<Option<Quality>> {
        let calls = plan.flows.iter().zip(meters);
        let quality = |(flow, meter): (&FlowPlan, &FlowMeter)| {
            let (profile, voice) = flow.voice.as_ref().zip(meter.voice.as_ref())?;
            profile.assess(&voice.heard(packets(meter)))
        };
        calls.map(quality).collect()
    };
    let known = assess(FlowMeter::resolved);
    let missing = assess(|m| m.sent_packets);
    for (scope, _, members) in groups(plan) {
        let one_scale = same_scale(plan, &members);
        let open: u64 = members.iter().map(|&i| meters[i].unresolved()).sum();
        let sent = members
            .iter()
            .map(|&i| &meters[i])
            .filter(|m| m.sent_packets > 0);
        let shares = sent.map(|m| m.unresolved() as f64 / m.sent_packets as f64);
        let (outstanding, assessed) = shares.fold((0.0, 0_u32), |(sum, n), x| (sum + x, n + 1));
        for metric in metrics(scope) {
            if !one_scale && is_score(metric) {
                out.push(f64::NAN);
                continue;
            }
            let of = |qualities: &[Option<Quality>]| {
                value(
                    metric,
                    members.iter().filter_map(|&i| qualities[i].as_ref()),
                )
            };
            let (value, other) = (of(&known), of(&missing));
            let (low, high) = (value.min(other), value.max(other));
            // With all that is outstanding.
            let late = || (other + outstanding / assessed as f64).min(1.0);
            let bounds = match metric {
                _ if open == 0 => None,
                // The outstanding packets may be late instead of lost.
                Metric::LateRatio => Some((low, high.max(late()))),
                _ => Some((low, high)),
            };
            out.push_within(value, bounds);
        }
    }
}

/// Whether all calls are rated on the same scale; scores of different scales do not compare.
fn same_scale(plan: &WorldPlan, members: &[usize]) -> bool {
    let scale = |i: usize| plan.flows[i].voice.as_ref().map(|p| p.scale);
    members.windows(2).all(|w| scale(w[0]) == scale(w[1]))
}

fn is_score(metric: Metric) -> bool {
    matches!(metric, Metric::RFactor | Metric::Mos | Metric::MosMin)
}

/// The mean or the extreme of a metric over calls of equal weight; NaN without calls.
fn value<'a>(metric: Metric, calls: impl Iterator<Item = &'a Quality>) -> f64 {
    let of: fn(&Quality) -> f64 = match metric {
        Metric::RFactor => |q| q.r,
        Metric::MouthToEar => |q| q.mouth_to_ear,
        Metric::LateRatio => |q| q.late,
        Metric::BurstRatio => |q| q.burst_ratio,
        _ => |q| q.mos,
    };
    let (mut n, mut sum, mut least) = (0_u32, 0.0, f64::INFINITY);
    for x in calls.map(of) {
        n += 1;
        sum += x;
        least = x.min(least);
    }
    match metric {
        _ if n == 0 => f64::NAN,
        Metric::MosMin => least,
        _ => sum / f64::from(n),
    }
}
