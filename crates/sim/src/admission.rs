//! How long flows waited for admission, at each link with flow admission and by class.
//!
//! A flow waits at a link from its first packet there until one of its packets is admitted. A flow
//! that still waits at the end has waited at least until then: it counts in means and percentiles
//! with that time, and the number of such flows is a metric of its own.

use spillgate_core::{Dur, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_queueing::Wait;
use spillgate_scenario::plan::{FlowPlan, WorldPlan};

use crate::values::Values;
use crate::window::Window;

/// The metrics of flow admission for a group of flows.
pub(crate) const ADMISSION: [Metric; 6] = [
    Metric::FlowsOffered,
    Metric::FlowsWaiting,
    Metric::FlowsRemoved,
    Metric::WaitingTime,
    Metric::WaitingTimeP95,
    Metric::WaitingTimeMax,
];

/// What flow admission at one link did to one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The link, by its number in the plan.
    pub link: u32,
    /// The flow, by its number in the plan; all sessions of a workload have the same.
    pub flow: u32,
    /// The flow of acknowledgments of its connection, not of its data.
    pub answers: bool,
    /// When its first packet reached the link.
    pub offered: Time,
    /// When its first packet was admitted; none if none was.
    pub admitted: Option<Time>,
    /// From `offered` to `admitted`, or to the end of the run.
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

/// A group of flows for which metrics are given.
pub(crate) struct Group<'a> {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    /// The link, for a group at one link.
    link: Option<u32>,
    has: Box<dyn Fn(&FlowPlan) -> bool + 'a>,
}

/// All flows, each class, each site, then the flows of each class at each link with admission. No
/// groups if no link has admission.
pub(crate) fn groups(plan: &WorldPlan) -> Vec<Group<'_>> {
    let links: Vec<_> = (0..).zip(&plan.links).collect();
    let mut admitting = links.into_iter().filter(|(_, l)| l.discipline.admits());
    let Some(first) = admitting.next() else {
        return Vec::new();
    };
    let of_class = |class: usize| move |f: &FlowPlan| usize::from(f.class) == class;
    let mut groups = vec![Group {
        scope: Scope::Total,
        name: "all".to_owned(),
        link: None,
        has: Box::new(|_| true),
    }];
    let classes = || plan.classes.iter().enumerate();
    groups.extend(classes().map(|(class, name)| Group {
        scope: Scope::Class,
        name: name.clone(),
        link: None,
        has: Box::new(of_class(class)),
    }));
    groups.extend(plan.sites.iter().map(|site| Group {
        scope: Scope::Site,
        name: site.name.clone(),
        link: None,
        has: Box::new(|f| site.has(f)),
    }));
    for (number, link) in std::iter::once(first).chain(admitting) {
        groups.extend(classes().map(|(class, name)| Group {
            scope: Scope::Admission,
            name: format!("{}/{name}", link.name),
            link: Some(number),
            has: Box::new(of_class(class)),
        }));
    }
    groups
}

/// The values of the groups, each in the order of [`ADMISSION`], for flows whose first packet
/// arrived within the measured period.
pub(crate) fn values(out: &mut Values, plan: &WorldPlan, found: &[Admission], window: Window) {
    for group in groups(plan) {
        let members: Vec<&Admission> = found
            .iter()
            .filter(|a| !a.answers && window.contains(a.offered))
            .filter(|a| group.link.is_none_or(|l| l == a.link))
            .filter(|a| (group.has)(&plan.flows[a.flow as usize]))
            .collect();
        let most = most(&members);
        for (value, most) in of(&members).into_iter().zip(most) {
            out.push_within(value, most.map(|most| (value, most)));
        }
    }
}

fn of(members: &[&Admission]) -> [f64; ADMISSION.len()] {
    let waiting = members.iter().filter(|a| a.admitted.is_none()).count();
    let removed: u64 = members.iter().map(|a| u64::from(a.removals)).sum();
    let mut waits: Vec<Dur> = members.iter().map(|a| a.waited).collect();
    waits.sort_unstable();
    let total: f64 = waits.iter().map(|d| d.as_secs_f64()).sum();
    let secs = |d: Option<&Dur>| d.map_or(f64::NAN, |d| d.as_secs_f64());
    [
        members.len() as f64,
        waiting as f64,
        removed as f64,
        // Without members 0 / 0, which is undefined, as it should be.
        total / waits.len() as f64,
        secs(waits.get(at_95(waits.len()))),
        secs(waits.last()),
    ]
}

/// The largest possible values of those metrics that count flows which still wait with the time
/// that they have waited so far.
fn most(members: &[&Admission]) -> [Option<f64>; ADMISSION.len()] {
    let waiting = members.iter().any(|a| a.admitted.is_none());
    if !waiting {
        return [None; ADMISSION.len()];
    }
    let most = |a: &&Admission| a.admitted.map_or(f64::INFINITY, |_| a.waited.as_secs_f64());
    let mut waits: Vec<f64> = members.iter().map(most).collect();
    waits.sort_unstable_by(f64::total_cmp);
    let longest = Some(f64::INFINITY);
    [
        None,
        None,
        None,
        longest,
        waits.get(at_95(waits.len())).copied(),
        longest,
    ]
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
        let [n, waiting, removed, mean, p95, max] = of(&all.iter().collect::<Vec<_>>());
        assert_eq!((n, waiting, removed), (40.0, 1.0, 40.0));
        assert!((mean - 0.205).abs() < 1e-12, "{mean}");
        assert_eq!((p95, max), (0.38, 0.4));
        let [n, waiting, removed, mean, p95, max] = of(&[]);
        assert_eq!((n, waiting, removed), (0.0, 0.0, 0.0));
        assert!(mean.is_nan() && p95.is_nan() && max.is_nan());
        assert_eq!(of(&[&all[0]])[4], 0.01);
        // The one that waits is the longest: the 38th of 40 is known, of the last two the second is
        // not.
        let most_of = |all: &[Admission]| most(&all.iter().collect::<Vec<_>>());
        assert_eq!(most_of(&all)[4..], [Some(0.38), Some(f64::INFINITY)]);
        assert_eq!(most_of(&all[38..])[4], Some(f64::INFINITY));
        assert_eq!(most_of(&all[..39]), [None; 6]);
    }
}
