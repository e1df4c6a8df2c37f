//! The traffic of a scenario, as classes see it.

use std::collections::BTreeMap;

use spillgate_core::{Dscp, Ecn, FlowKey, Overhead};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::tcp::config::EcnMode;
use spillgate_queueing::Counting;
use spillgate_queueing::spec::{ClassSpec, DisciplineSpec, PoliceAction};
use spillgate_scenario::plan::{Application, FlowPlan, LinkPlan, Traffic, WorldPlan};

use crate::sets::Packets;

/// A flow on a link.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Class of service that results show it under.
    pub(crate) service: String,
    /// With the DSCP that policies on the way give to what conforms.
    own: Packets,
    /// With every DSCP that it may have here.
    marked: Packets,
    /// Long-run rate in bits per second as its link counts; none where the network decides.
    pub(crate) rate: Option<f64>,
    /// The same as policers of the link's policy count.
    pub(crate) policed: Option<f64>,
    /// The longest packet in bytes as shapers of the link's policy count, labels apart; 0 if it is not known.
    pub(crate) longest: u32,
    /// Whether it slows down for losses.
    pub(crate) reacts: bool,
    /// Whether its packets may be marked.
    pub(crate) ecn: bool,
}

impl Load {
    /// The class that takes its packets, those that conform to every policer before; the last is
    /// class-default.
    pub(crate) fn class(&self, sets: &[Option<Packets>]) -> usize {
        let takes = |s: &Option<Packets>| s.as_ref().is_some_and(|s| s.meets(&self.own));
        let default = sets.len().saturating_sub(usize::from(
            sets.last().is_some_and(|s| *s == Some(Packets::all())),
        ));
        sets.iter().position(takes).unwrap_or(default)
    }

    /// Whether each class may get packets of it, whatever was marked on the way.
    pub(crate) fn reaches(&self, sets: &[Option<Packets>]) -> Vec<bool> {
        let mut left = Some(self.marked.clone());
        sets.iter()
            .map(|set| {
                let (Some(packets), Some(set)) = (&left, set) else {
                    // What cannot be said is taken for reached.
                    left = None;
                    return true;
                };
                let reached = packets.meets(set);
                left = packets.without(set);
                reached
            })
            .collect()
    }
}

/// The flows on a link, and what answers them; none where packets have labels, which hide what
/// classes match on.
pub(crate) fn on(
    world: &WorldPlan,
    link: u32,
    policies: &BTreeMap<String, DisciplineSpec>,
) -> Option<Vec<Load>> {
    let plan = world.links.get(link as usize)?;
    if world.carries_labels(plan) {
        return None;
    }
    let mut loads = Vec::new();
    let mut markers = Markers::new(policies);
    for flow in &world.flows {
        let ways = [
            (Some(flow.route), flow.key, true),
            (flow.back, flow.key.reversed(), false),
        ];
        for (route, key, forth) in ways {
            let Some(path) = route.and_then(|r| world.routes.get(r as usize)) else {
                continue;
            };
            let Some(at) = path.iter().position(|l| *l == link) else {
                continue;
            };
            let mut dscp = flow.dscp;
            let mut dscps = 1 << dscp.value();
            for before in &path[..at] {
                let Some(l) = world.links.get(*before as usize) else {
                    continue;
                };
                let input = l.input.as_ref().map(|i| &i.policy);
                for policy in input.into_iter().chain([&l.policy]) {
                    dscps |= marks(policy, policies, 0);
                }
                if let Some(policy) = input {
                    dscp = markers.after(policy, &key, dscp);
                }
                // Where packets have labels, classes do not see what is below them.
                if !world.carries_labels(l) {
                    dscp = markers.after(&l.policy, &key, dscp);
                }
            }
            let load = load(world, flow, &key, (dscp, dscps), (plan, forth));
            loads.push(load);
        }
    }
    Some(loads)
}

/// What a source asks of a link in b/s, where so much is counted beside its packets: at least, for the longest packets have
/// the smallest share of what is added.
fn occupied(source: &SourceSpec, overhead: Overhead) -> f64 {
    let rate = Source::mean_rate(source);
    if overhead == Overhead::NONE {
        return rate;
    }
    let longest = Source::longest(source).max(1);
    rate * f64::from(overhead.wire_len(longest)) / f64::from(longest)
}

/// `dscp`: what its packets have here, and all that they may have; `forth`: it is no answer.
fn load(
    world: &WorldPlan,
    flow: &FlowPlan,
    key: &FlowKey,
    (dscp, dscps): (Dscp, u64),
    (link, forth): (&LinkPlan, bool),
) -> Load {
    let counting = link.discipline.line().map(|l| l.counting);
    let Counting { policers, queues } = counting.unwrap_or_default();
    let policers = policers.unwrap_or(link.overhead);
    let mut policed = None;
    let (rate, reacts, mut ecn) = match &flow.traffic {
        Traffic::Source(_) if flow.traffic.is_backlogged() => (None, false, false),
        Traffic::Source(source) => {
            let share = flow.share();
            policed = Some(share * occupied(source, policers));
            (Some(share * occupied(source, link.overhead)), false, false)
        }
        Traffic::Replay(_) => (None, false, false),
        Traffic::Tcp {
            config,
            application,
        } => {
            let rate = match application {
                Application::Source(source) => Some(Source::mean_rate(source)),
                Application::Greedy | Application::Bytes(_) => None,
            };
            (rate, true, config.ecn != EcnMode::Off)
        }
        Traffic::Sessions(s) => (None, true, s.config.ecn != EcnMode::Off),
    };
    ecn |= flow.ecn != Ecn::NotEct;
    let longest = flow.traffic.longest();
    Load {
        service: world.classes[usize::from(flow.class)].clone(),
        own: Packets::of_flow(key, 1 << dscp.value()),
        marked: Packets::of_flow(key, dscps),
        // Acknowledgments: little, and as much as the connection's data.
        rate: if forth { rate } else { Some(0.0) },
        policed: if forth { policed.or(rate) } else { Some(0.0) },
        longest: match if forth { longest.0 } else { longest.1 } {
            0 => 0,
            len => queues.unwrap_or(link.overhead).wire_len(len),
        },
        reacts,
        ecn,
    }
}

/// What policies make of the DSCP of packets that conform to their policers.
struct Markers<'p> {
    policies: &'p BTreeMap<String, DisciplineSpec>,
    /// The packets of each class, of policies that mark.
    sets: BTreeMap<&'p str, Vec<Option<Packets>>>,
}

impl<'p> Markers<'p> {
    fn new(policies: &'p BTreeMap<String, DisciplineSpec>) -> Self {
        Self {
            policies,
            sets: BTreeMap::new(),
        }
    }

    /// The DSCP behind a policy.
    fn after(&mut self, policy: &str, key: &FlowKey, dscp: Dscp) -> Dscp {
        if marks(policy, self.policies, 0) == 0 {
            return dscp;
        }
        self.inside(policy, key, dscp, 0)
    }

    fn inside(&mut self, policy: &str, key: &FlowKey, dscp: Dscp, depth: usize) -> Dscp {
        let policies = self.policies;
        let Some((name, DisciplineSpec::ClassBased(spec))) =
            policies.get_key_value(policy).filter(|_| depth < 8)
        else {
            return dscp;
        };
        let sets = self.sets.entry(name).or_insert_with(|| {
            let set = |c: &ClassSpec| match &c.matching {
                Some(m) => Packets::of(m),
                None => Some(Packets::all()),
            };
            spec.classes.iter().map(set).collect()
        });
        let packets = Packets::of_flow(key, 1 << dscp.value());
        let takes = |s: &Option<Packets>| s.as_ref().is_some_and(|s| s.meets(&packets));
        let Some(class) = sets.iter().position(takes).map(|i| &spec.classes[i]) else {
            return dscp;
        };
        let inner = match &class.policy {
            Some(inner) => self.inside(inner, key, dscp, depth + 1),
            None => dscp,
        };
        let conform = class.police.iter().flat_map(|p| p.conform.iter());
        let conform = conform.filter_map(|a| match a {
            PoliceAction::SetDscp(d) => Some(d),
            _ => None,
        });
        conform.last().or(class.set_dscp).unwrap_or(inner)
    }
}

/// DSCPs that a policy may give to packets.
fn marks(policy: &str, policies: &BTreeMap<String, DisciplineSpec>, depth: usize) -> u64 {
    let Some(DisciplineSpec::ClassBased(spec)) = policies.get(policy).filter(|_| depth < 8) else {
        return 0;
    };
    let mut bits = 0;
    for class in &spec.classes {
        bits |= class.set_dscp.map_or(0, |d| 1 << d.value());
        if let Some(p) = &class.police {
            let all = [Some(&p.conform), Some(&p.exceed), p.violate.as_ref()];
            for action in all.into_iter().flatten().flat_map(|a| a.iter()) {
                if let PoliceAction::SetDscp(d) = action {
                    bits |= 1 << d.value();
                }
            }
        }
        bits |= class
            .policy
            .as_ref()
            .map_or(0, |p| marks(p, policies, depth + 1));
    }
    bits
}
