//! How long flows waited for admission, at each link with flow admission and by class.
//!
//! A flow waits at a link from its first packet there until one of its packets is admitted. A flow
//! that still waits at the end has waited at least until then: it counts in means and percentiles
//! with that time, and the number of such flows is a metric of its own.

use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, Number, Place, Window};
use spillgate_queueing::Wait;
use spillgate_scenario::plan::WorldPlan;

use crate::measured::Group;

/// What flow admission at one link did to one flow. Stored runs have it in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// The link, by its number in the plan.
    pub link: u32,
    /// The flow, by its number in the plan; all sessions of a workload have the same.
    pub flow: u32,
    /// The flow of acknowledgments of its connection, not of its data.
    #[serde(rename = "acknowledgments")]
    pub answers: bool,
    /// When its first packet reached the link.
    #[serde(with = "spillgate_core::stored::ps")]
    pub offered: Time,
    /// When its first packet was admitted; none if none was.
    #[serde(with = "spillgate_core::stored::ps")]
    pub admitted: Option<Time>,
    /// From `offered` to `admitted`, or to the end of the run.
    #[serde(with = "spillgate_core::stored::ps")]
    pub waited: Dur,
    /// Packets refused before.
    pub refused: u64,
    /// Packets refused in all.
    pub refused_total: u64,
    /// How often it was put on the protected flow list of the link.
    pub admissions: u32,
    /// How often the congestion mechanism took it off.
    pub removals: u32,
    /// How often it was removed after a time-out without packets.
    pub timeouts: u32,
}

impl Admission {
    /// For a flow of the plan, in a run that ends at `end`.
    pub(crate) fn new(link: u32, flow: u32, answers: bool, wait: &Wait, end: Time) -> Self {
        let admitted = wait.admitted.filter(|at| *at <= end);
        Self {
            link,
            flow,
            answers,
            offered: wait.offered,
            admitted,
            waited: admitted.unwrap_or(end).since(wait.offered),
            refused: wait.refused,
            refused_total: wait.refused_total,
            admissions: wait.admissions,
            removals: wait.removals,
            timeouts: wait.timeouts,
        }
    }
}

/// Puts what happened to the flows of each group, then to those of each class at each link with
/// admission; nothing if no link has it. Flows count whose first packet arrived within the measured
/// period.
pub(crate) fn measure(
    plan: &WorldPlan,
    groups: &[Group<'_>],
    found: &[Admission],
    window: Window,
    out: &mut Measures,
) {
    let links = (0..).zip(&plan.links);
    let admitting: Vec<_> = links.filter(|(_, l)| l.discipline.admits()).collect();
    if admitting.is_empty() {
        return;
    }
    let members = |group: &Group<'_>, at: Option<u32>| -> Vec<&Admission> {
        let counted = found.iter().filter(|a| {
            let here = at.is_none_or(|link| link == a.link);
            here && !a.answers && window.contains(a.offered)
        });
        let of_group = |a: &&Admission| group.has(&plan.flows[a.flow as usize]);
        counted.filter(of_group).collect()
    };
    for group in groups {
        put(&members(group, None), out.of(group.scope, || group.name));
    }
    for (link, at) in admitting {
        for class in groups.iter().filter(|g| g.scope == Scope::Class) {
            let name = || format!("{}/{}", at.name, class.name);
            put(&members(class, Some(link)), out.of(Scope::Admission, name));
        }
    }
}

/// The times of those that still wait may become arbitrarily long.
fn put(members: &[&Admission], mut out: Place<'_>) {
    let waiting = members.iter().filter(|a| a.admitted.is_none()).count() as u64;
    let removed: u64 = members.iter().map(|a| u64::from(a.removals)).sum();
    let mut waits: Vec<Dur> = members.iter().map(|a| a.waited).collect();
    waits.sort_unstable();
    let total: f64 = waits.iter().map(|d| d.as_secs_f64()).sum();
    let most = |a: &&Admission| a.admitted.map_or(f64::INFINITY, |_| a.waited.as_secs_f64());
    let mut mosts: Vec<f64> = members.iter().map(most).collect();
    mosts.sort_unstable_by(f64::total_cmp);
    let up_to = |value: f64, most: f64| (waiting > 0).then_some((value, most));
    out.put(Metric::FlowsOffered, members.len() as f64);
    out.put(Metric::FlowsWaiting, waiting);
    out.put(Metric::FlowsRemoved, removed);
    // Without members 0 / 0, which is undefined, as it should be.
    let mean = total / waits.len() as f64;
    out.put_within(Metric::WaitingTime, mean, up_to(mean, f64::INFINITY));
    let (at, secs) = (at_95(waits.len()), |d: Option<&Dur>| d.copied().number());
    let (p95, longest) = (secs(waits.get(at)), secs(waits.last()));
    let most = mosts.get(at).and_then(|most| up_to(p95, *most));
    out.put_within(Metric::WaitingTimeP95, p95, most);
    out.put_within(
        Metric::WaitingTimeMax,
        longest,
        up_to(longest, f64::INFINITY),
    );
}

/// The index of the 95th percentile of this many sorted values: the smallest that 95 % of them do
/// not exceed.
fn at_95(values: usize) -> usize {
    (values * 95).div_ceil(100).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(ms: u64, admitted: bool) -> Admission {
        let offered = Time::ZERO + Dur::from_secs(1);
        let wait = Wait {
            flow: 0,
            offered,
            admitted: admitted.then_some(offered + Dur::from_ms(ms)),
            refused: 0,
            refused_total: 0,
            admissions: 0,
            removals: 1,
            timeouts: 0,
        };
        Admission::new(0, 0, false, &wait, offered + Dur::from_ms(ms))
    }

    /// Of 40 flows that waited 10, 20, ... 400 ms the 38th is the 95th percentile; those that wait
    /// still count with what they have waited so far.
    #[test]
    fn figures_of_a_group() {
        let all: Vec<_> = (1..=40).map(|i| waited(10 * i, i != 40)).collect();
        let of = |all: &[Admission]| {
            let mut out = Measures::values(6);
            let members: Vec<_> = all.iter().collect();
            put(&members, out.of(Scope::Total, || "all"));
            let most = |at| {
                let found = out.bounds.iter().find(|b| b.at == at);
                found.map(|b| b.high)
            };
            let most = (0..6).map(most).collect::<Vec<_>>();
            (<[f64; 6]>::try_from(out.values).unwrap(), most)
        };
        let ([n, waiting, removed, mean, p95, max], most) = of(&all);
        assert_eq!((n, waiting, removed), (40.0, 1.0, 40.0));
        assert!((mean - 0.205).abs() < 1e-12, "{mean}");
        assert_eq!((p95, max), (0.38, 0.4));
        // The one that waits is the longest: the 38th of 40 is known, of the last two the second is
        // not.
        let infinite = Some(f64::INFINITY);
        assert_eq!(most, [None, None, None, infinite, None, infinite]);
        assert_eq!(of(&all[38..]).1[4], infinite);
        assert_eq!(of(&all[..39]).1, [None; 6]);
        let ([n, waiting, removed, mean, p95, max], _) = of(&[]);
        assert_eq!((n, waiting, removed), (0.0, 0.0, 0.0));
        assert!(mean.is_nan() && p95.is_nan() && max.is_nan());
        assert_eq!(of(&all[..1]).0[4], 0.01);
    }
}
