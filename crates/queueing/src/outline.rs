//! A policy as a tree, to be shown: the guarantee, the queue and the thresholds of each class. Made
//! once when a policy is resolved.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_core::{Dscp, Limit, Rate, RateOrPercent};

use crate::leaf::Bound;
use crate::sched::flow_queue::FlowQueueSpec;
use crate::spec::{AqmSpec, ClassBasedSpec, ClassSpec, DisciplineSpec, FairQueueSpec};
use crate::tree::{Division, Enclosing};

/// A policy or a class of one. Rates are in b/s.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outline {
    /// Name of the class; at the top that of the policy.
    pub name: String,
    /// Kind of discipline, of the policy at the top and of nested ones; none for a plain class.
    pub kind: Option<&'static str>,
    /// Name of the policy at the top or nested in this class.
    pub policy: Option<String>,
    /// The leaf in which its packets are queued, as [`crate::Discipline::leaf_names`]; none for a
    /// container of other classes, and for a class without a queue, whose packets are queued with
    /// `class-default`.
    pub queue: Option<String>,
    /// Level of a priority class, 1 first.
    pub level: Option<u8>,
    /// The rate at which it may send while all classes are backlogged; the rate of the port at the
    /// top. For a priority class the rate at which it may send while the port is congested, none if
    /// that is unlimited.
    pub guaranteed: Option<u64>,
    /// Rate of its shaper.
    pub shape: Option<u64>,
    /// Rate of its policer.
    pub police: Option<u64>,
    /// The limit of its queue in packets.
    pub limit_packets: Option<u32>,
    /// The limit of its queue in bytes; a limit in time is given as bytes at the guaranteed rate.
    pub limit_bytes: Option<u64>,
    /// Limits of its queue for packets of some DSCPs, beside its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dscp_limits: Vec<DscpLimit>,
    /// The limit of one flow in packets, where flows have queues of their own.
    pub flow_packets: Option<u32>,
    /// Kind of its active queue management.
    pub aqm: Option<&'static str>,
    /// Its thresholds on the average queue.
    pub thresholds: Vec<Thresholds>,
    /// When flow admission refuses new flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionLimits>,
    /// The classes inside.
    pub classes: Vec<Self>,
}

/// When a link with flow admission admits no new flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdmissionLimits {
    /// New flows are refused while the fair rate is below this, in b/s.
    pub min_fair_rate: f64,
    /// New flows are refused while the priority load is above this, a share of the link.
    pub max_priority_load: f64,
    /// The mechanism that removes flows from the protected flow list meanwhile.
    pub mechanism: &'static str,
    /// Name of the list, if links share it.
    pub protected_list: Option<String>,
}

/// A limit of a queue for packets of some DSCPs (weighted tail drop).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DscpLimit {
    /// The DSCPs, by name.
    pub dscp: Vec<String>,
    /// In packets, counting queued packets of all DSCPs.
    pub packets: Option<u32>,
    /// In bytes, counting queued packets of all DSCPs.
    pub bytes: Option<u64>,
}

/// The averages of the queue between which an AQM drops or marks at random.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// The DSCPs to which they apply, by name; empty for all packets.
    pub dscp: Vec<String>,
    /// Lower threshold, in packets or bytes.
    pub min: f64,
    /// Upper threshold, at which the probability is `probability`, in packets or bytes.
    pub max: f64,
    /// Whether the thresholds are in bytes; else in packets.
    pub in_bytes: bool,
    /// Drop probability at `max`, 0 to 1.
    pub probability: f64,
    /// Whether the policy says so; else it is a default.
    pub written: bool,
}

/// The outline of the policy `name`, which has been resolved for a port of this rate.
pub(crate) fn outline(
    name: &str,
    policies: &BTreeMap<String, DisciplineSpec>,
    rate: Rate,
) -> Option<Outline> {
    let spec = policies.get(name)?;
    let mut top = Outline {
        name: name.to_owned(),
        kind: Some(spec.kind()),
        policy: Some(name.to_owned()),
        guaranteed: Some(rate.bps()),
        ..Outline::default()
    };
    match spec {
        DisciplineSpec::ClassBased(s) => top.classes = classes(s, policies, rate.into(), ""),
        DisciplineSpec::Fifo(s) => {
            top.queue = Some("fifo".to_owned());
            top.bound(s.limit, rate);
            top.manage(s.aqm.as_ref(), s.limit, rate);
        }
        DisciplineSpec::Wfq(s) => {
            top.queue = Some("wfq".to_owned());
            top.bound(s.hold_queue, rate);
            top.flow_packets = Bound::new(s.limit, rate).max_packets();
        }
        DisciplineSpec::FlowWfq(s) => {
            top.queue = Some("flow-wfq".to_owned());
            top.fair(s);
        }
        DisciplineSpec::Fan(s) => {
            top.queue = Some("fan".to_owned());
            top.bound(s.limit, rate);
            let bps = |r: RateOrPercent| match r {
                RateOrPercent::Percent(p) if p.0 <= 0.0 => 0.0,
                r => r.of(rate).bps() as f64,
            };
            top.admission = Some(AdmissionLimits {
                min_fair_rate: bps(s.min_fair_rate),
                max_priority_load: bps(s.max_priority_load) / rate.bps() as f64,
                mechanism: s.mechanism.kind(),
                protected_list: s.protected_list.clone(),
            });
        }
        flows => {
            top.queue = Some(spec.kind().to_owned());
            top.flows(flows.flow_queue()?, rate);
        }
    }
    Some(top)
}

fn classes(
    spec: &ClassBasedSpec,
    policies: &BTreeMap<String, DisciplineSpec>,
    around: Enclosing,
    prefix: &str,
) -> Vec<Outline> {
    let added = ClassSpec {
        name: crate::tree::DEFAULT.to_owned(),
        ..ClassSpec::default()
    };
    let divisions = spec.divide(around);
    // There may be one more division than classes: `class-default` need not be written.
    let written = spec.classes.iter().chain([&added]);
    written
        .zip(&divisions)
        .map(|(c, d)| class(c, d, policies, around.rate, prefix))
        .collect()
}

fn class(
    c: &ClassSpec,
    d: &Division,
    policies: &BTreeMap<String, DisciplineSpec>,
    rate: Rate,
    prefix: &str,
) -> Outline {
    let mut out = Outline {
        name: c.name.clone(),
        level: c.priority.as_ref().map(|p| p.level),
        guaranteed: d.guaranteed.map(Rate::bps),
        shape: d.shape.map(|(r, _)| r.bps()),
        police: d.police.map(|(r, _)| r.bps()),
        ..Outline::default()
    };
    if !d.queued {
        return out;
    }
    let name = format!("{prefix}{}", c.name);
    if let Some((policy, DisciplineSpec::ClassBased(inner))) =
        c.policy.as_ref().and_then(|p| policies.get_key_value(p))
    {
        out.policy = Some(policy.clone());
        out.kind = Some("class-based");
        out.classes = classes(inner, policies, d.inner, &format!("{name}/"));
        return out;
    }
    out.queue = Some(name);
    let own = d.guaranteed.unwrap_or(rate);
    match c.flow_queue() {
        Some((_, flows)) => out.flows(flows, own),
        None => out.queue_of(c, own),
    }
    out.dscp_limits = dscp_limits(c, own);
    if c.aqm.is_some() {
        out.manage(c.aqm.as_ref(), c.waiting_limit(), own);
    }
    out
}

impl Outline {
    fn queue_of(&mut self, c: &ClassSpec, own: Rate) {
        let out = self;
        match (&c.priority, &c.fair_queue, c.queue_limit) {
            (Some(p), ..) => out.bound(p.limit, own),
            (None, Some(f), limit) => {
                if let Some(limit) = limit {
                    out.bound(limit, own);
                }
                out.fair(f);
            }
            (None, None, limit) => out.bound(limit.unwrap_or(Limit::Packets(64)), own),
        }
    }

    fn flows(&mut self, f: &dyn FlowQueueSpec, rate: Rate) {
        let bound = f.bound(rate);
        self.holds(&bound);
        self.manage(f.aqm().as_ref(), bound.as_limit(), rate);
    }
}

/// The limits of a class's queue by DSCP, with times converted at `rate`; DSCPs of one limit are
/// listed together.
fn dscp_limits(c: &ClassSpec, rate: Rate) -> Vec<DscpLimit> {
    let mut all: Vec<DscpLimit> = Vec::new();
    for dscp in (0..64).filter_map(Dscp::new) {
        let by_precedence = || c.queue_limit_precedence.get(&dscp.precedence());
        let Some(limit) = c.queue_limit_dscp.get(&dscp).or_else(by_precedence) else {
            continue;
        };
        let limit = Bound::new(*limit, rate).limit();
        let alike = |l: &&mut DscpLimit| (l.packets, l.bytes) == (limit.packets, limit.bytes);
        match all.iter_mut().find(alike) {
            Some(l) => l.dscp.push(dscp.to_string()),
            None => all.push(DscpLimit {
                dscp: vec![dscp.to_string()],
                packets: limit.packets,
                bytes: limit.bytes,
            }),
        }
    }
    all
}

impl Outline {
    fn bound(&mut self, limit: Limit, rate: Rate) {
        self.holds(&Bound::new(limit, rate));
    }

    fn holds(&mut self, bound: &Bound) {
        self.limit_packets = bound.max_packets();
        self.limit_bytes = (bound.bytes < u64::MAX).then_some(bound.bytes);
    }

    fn fair(&mut self, f: &FairQueueSpec) {
        let own = self.limit_packets.unwrap_or(u32::MAX);
        self.limit_packets = Some(own.min(f.hold_queue));
        self.flow_packets = Some(f.threshold.into());
    }

    fn manage(&mut self, aqm: Option<&AqmSpec>, limit: Limit, rate: Rate) {
        self.aqm = aqm.map(AqmSpec::kind);
        self.thresholds = aqm.map(|a| a.thresholds(limit, rate)).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;

    fn policies(json: &str) -> BTreeMap<String, DisciplineSpec> {
        serde_json::from_str(json).unwrap()
    }

    fn leaves<'a>(o: &'a Outline, into: &mut Vec<&'a str>) {
        into.extend(o.queue.as_deref());
        o.classes.iter().for_each(|c| leaves(c, into));
    }

    const NESTED: &str = r#"{
        "edge": {"class-based": {"classes": [
            {"name": "customer", "match": {"dscp": "af11"}, "shape": {"rate": "50 Mb/s"}, "policy": "inner"},
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {"rate": "10 %"}},
            {"name": "tamed", "match": {"dscp": "af21"}, "bandwidth": "20 %", "queue_limit": "10 ms",
             "aqm": {"wred": {"dscp": {"af21": {"min": 5, "max": 9}}}}},
            {"name": "marked", "match": {"dscp": "cs1"}, "police": {"rate": "1 Mb/s"}},
            {"name": "fair", "match": {"dscp": "cs2"}, "fair_queue": {"hold_queue": 77}},
            {"name": "turns", "match": {"dscp": "cs3"}, "drr": {}},
            {"name": "short", "match": {"dscp": "cs4"}, "fq_codel": {}}
        ]}},
        "inner": {"class-based": {"classes": [
            {"name": "gold", "match": {"dscp": "af11"}, "bandwidth": "80 %"}
        ]}},
        "plain": {"fifo": {"limit": "30 packets", "aqm": {"red": {"min_th": 5, "max_th": 15}}}},
        "fair": {"wfq": {}},
        "aware": {"fan": {"scheduler": "pdrr", "mechanism": "raef", "max_priority_load": "60 Mb/s",
                          "protected_list": "west"}},
        "robin": {"drr": {}},
        "modern": {"fq-codel": {}},
        "flows": {"flow-wfq": {}}
    }"#;

    /// The outline names the same queues as the results, for every kind and nesting.
    #[test]
    fn queues_are_those_of_the_discipline() {
        let all = policies(NESTED);
        let rate = Rate::from_bps(100_000_000).unwrap();
        for name in all.keys() {
            let (recipe, _) = Recipe::resolve(name, &all, rate).unwrap();
            let mut found = Vec::new();
            leaves(recipe.outline().unwrap(), &mut found);
            assert_eq!(found, recipe.leaf_names(), "{name}");
        }
        assert!(Recipe::default_fifo().outline().is_none());
    }

    #[test]
    fn promises_and_thresholds() {
        let all = policies(NESTED);
        let rate = Rate::from_bps(100_000_000).unwrap();
        let edge = outline("edge", &all, rate).unwrap();
        let [customer, voice, tamed, marked, fair, turns, short, default] = &edge.classes[..]
        else {
            panic!("{edge:?}");
        };
        assert_eq!(
            (edge.guaranteed, edge.queue.as_ref()),
            (Some(100_000_000), None)
        );
        assert_eq!(
            (customer.shape, customer.policy.as_deref()),
            (Some(50_000_000), Some("inner"))
        );
        // 80 % of the shaper's 50 Mb/s.
        assert_eq!(customer.classes[0].guaranteed, Some(40_000_000));
        assert_eq!(customer.classes[0].queue.as_deref(), Some("customer/gold"));
        assert_eq!((voice.level, voice.guaranteed), (Some(1), Some(10_000_000)));
        assert_eq!(voice.limit_packets, Some(64));
        // 10 ms at 20 Mb/s.
        assert_eq!(
            (tamed.limit_packets, tamed.limit_bytes),
            (None, Some(25_000))
        );
        let of = |dscp: &str| {
            let has = |t: &&Thresholds| t.dscp.iter().any(|d| d == dscp);
            let t = tamed.thresholds.iter().find(has).unwrap();
            (t.min, t.max, t.probability)
        };
        assert_eq!((of("af21"), of("ef")), ((5.0, 9.0, 0.1), (36.0, 40.0, 0.1)));
        let written: Vec<_> = tamed.thresholds.iter().filter(|t| t.written).collect();
        assert_eq!(written.len(), 1);
        assert_eq!(written[0].dscp, ["af21"]);
        assert_eq!(
            (marked.police, marked.queue.as_ref()),
            (Some(1_000_000), None)
        );
        assert_eq!(
            (fair.limit_packets, fair.flow_packets),
            (Some(77), Some(64))
        );
        assert_eq!((turns.limit_packets, turns.aqm), (Some(1000), None));
        assert_eq!(
            (short.limit_packets, short.limit_bytes, short.aqm),
            (Some(10_240), Some(32 << 20), Some("codel"))
        );
        assert_eq!(default.name, "class-default");

        let aware = outline("aware", &all, rate).unwrap();
        assert_eq!(aware.limit_packets, Some(1000));
        let admission = AdmissionLimits {
            min_fair_rate: 5e6,
            max_priority_load: 0.6,
            mechanism: "raef",
            protected_list: Some("west".to_owned()),
        };
        assert_eq!(aware.admission, Some(admission));

        let plain = outline("plain", &all, rate).unwrap();
        assert_eq!(plain.limit_packets, Some(30));
        let red = &plain.thresholds[0];
        assert_eq!((red.min, red.max, red.dscp.len()), (5.0, 15.0, 0));
    }
}
