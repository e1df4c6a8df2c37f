//! What faces show of a policy: numbers, and the sentences that go with them.

use serde::Serialize;
use spillgate_core::{Dscp, Limit, Rate, RateOrPercent};

use super::{Class, NOMINAL, Policy, words};
use crate::leaf::Bound;
use crate::sched::flow_queue::FlowQueueSpec;
use crate::spec::{AqmSpec, ClassSpec, DisciplineSpec, FairQueueSpec, PoliceSpec, WredBy};

/// A policy or a class of one. Rates are in b/s, bursts in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outline {
    /// Name of the class; at the top that of the policy.
    pub name: String,
    /// Kind of discipline, of the policy at the top and of nested ones; none for a plain class.
    pub kind: Option<&'static str>,
    /// Name of the policy at the top or nested in this class.
    pub policy: Option<String>,
    /// Line of a configuration where that policy is defined, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What that policy divides, if it is known.
    pub rate: Option<u64>,
    /// The leaf in which its packets are queued, as [`crate::Discipline::leaf_names`]; none for a
    /// container of other classes, and for a class without a queue, whose packets are queued with
    /// `class-default`.
    pub queue: Option<String>,
    /// Which packets belong to it, in words.
    pub condition: String,
    /// What a configuration asks for beside that, and what is not modelled of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What it writes into its packets, and what its policer does, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
    /// What its packets are promised, in words; of a policy when new flows are admitted.
    pub promise: String,
    /// The share of the rate that it asks for, such as `bandwidth 30 %`; empty if none.
    pub asked: String,
    /// Its place among the classes that go before all others, 1 first: the level of its priority,
    /// or behind those where the scheduler of the policy puts it.
    pub level: Option<u8>,
    /// The rate at which it may send while all classes are backlogged; the rate of the port at the
    /// top. For a priority class the rate at which it may send while the port is congested. None if
    /// that is unlimited or not known.
    pub guaranteed: Option<u64>,
    /// The policer of its priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_policer: Option<Bucket>,
    /// Its shaper.
    pub shape: Option<Bucket>,
    /// Its policer, unless every packet is dropped.
    pub police: Option<Bucket>,
    /// How much may wait, in words; empty where only the limits of its fair queue hold.
    pub limit: String,
    /// The limit of its queue in packets.
    pub limit_packets: Option<u32>,
    /// The limit of its queue in bytes; a limit in time is given as bytes at the guaranteed rate.
    pub limit_bytes: Option<u64>,
    /// Limits of its queue for packets of some DSCPs, beside its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dscp_limits: Vec<DscpLimit>,
    /// The queues of its flows, in words; empty where they share one.
    pub flows: String,
    /// The limit of one flow in packets, where flows have queues of their own.
    pub flow_packets: Option<u32>,
    /// Kind of its active queue management.
    pub aqm: Option<&'static str>,
    /// The same with all parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<AqmSpec>,
    /// Its thresholds on the average queue.
    pub thresholds: Vec<Thresholds>,
    /// When flow admission refuses new flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionLimits>,
    /// The classes inside.
    pub classes: Vec<Self>,
}

/// A token bucket.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bucket {
    /// Its rate, if known.
    pub rate: Option<u64>,
    /// Its depth, if known.
    pub burst: Option<u64>,
    /// Peak rate of a policer of two rates, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rate: Option<u64>,
    /// Depth of the second bucket of a policer of three colors, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_burst: Option<u64>,
    /// All of it in words.
    pub words: String,
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

/// A limit of a queue for packets of some DSCPs (weighted tail drop), all queued packets counting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DscpLimit {
    /// The DSCPs.
    pub dscp: Vec<Dscp>,
    /// Of which packets and how much, in words.
    pub words: String,
}

/// The averages of the queue between which an AQM drops or marks at random.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Thresholds {
    /// The DSCPs to which they apply; empty for all packets.
    pub dscp: Vec<Dscp>,
    /// Lower threshold, in packets or bytes; NaN if it depends on a rate that is not known.
    pub min: f64,
    /// Upper threshold, at which the probability is `probability`, in packets or bytes.
    pub max: f64,
    /// Whether the thresholds are in bytes; else in packets.
    pub in_bytes: bool,
    /// Drop probability at `max`, 0 to 1.
    pub probability: f64,
    /// Whether the policy says so; else it is a default.
    pub written: bool,
    /// Of which packets and from where to where, in words.
    pub words: String,
}

/// The DSCPs of packets whose limits and thresholds are of interest; none: all.
type Sent<'s> = Option<&'s [Dscp]>;

fn concerns(dscp: &[Dscp], sent: Sent<'_>) -> bool {
    sent.is_none_or(|sent| dscp.is_empty() || dscp.iter().any(|d| sent.contains(d)))
}

impl Policy<'_> {
    /// All of it. Limits and thresholds are those of packets with DSCPs among `sent`; where a
    /// policy states some for them, its defaults are left out.
    pub fn outline(&self, sent: Option<&[Dscp]>) -> Outline {
        let mut classes = self.outlines("", sent);
        classes.extend(self.tree_outlines(sent));
        Outline {
            classes,
            ..self.head(sent)
        }
    }

    /// The same without its classes.
    pub fn head(&self, sent: Option<&[Dscp]>) -> Outline {
        let mut top = Outline {
            name: self.name.to_owned(),
            kind: Some(self.spec.kind()),
            policy: Some(self.name.to_owned()),
            rate: self.rate().map(Rate::bps),
            guaranteed: self.rate().map(Rate::bps),
            queue: Some(self.spec.kind().to_owned()),
            ..Outline::default()
        };
        let rate = self.rate();
        match self.spec {
            DisciplineSpec::ClassBased(s) => {
                top.queue = None;
                top.promise = words::sharing(s);
            }
            DisciplineSpec::Htb(_) | DisciplineSpec::Hfsc(_) => top.queue = None,
            DisciplineSpec::Fifo(s) => {
                top.bound(s.limit, rate);
                top.manage(s.aqm.as_ref(), s.limit, rate, sent);
            }
            DisciplineSpec::Wfq(s) => {
                top.bound(s.hold_queue, rate);
                top.flow_packets = match s.limit {
                    Limit::Packets(n) => Some(n),
                    _ => None,
                };
                top.flows = format!("{} a flow", words::limit(s.limit, rate));
            }
            DisciplineSpec::FlowWfq(s) => top.fair(s),
            DisciplineSpec::Fan(s) => {
                top.bound(s.limit, rate);
                let bps = |r: RateOrPercent| match (r, rate) {
                    (RateOrPercent::Percent(p), _) if p.0 <= 0.0 => 0.0,
                    (r, Some(whole)) => r.of(whole).bps() as f64,
                    (_, None) => f64::NAN,
                };
                let limits = AdmissionLimits {
                    min_fair_rate: bps(s.min_fair_rate),
                    max_priority_load: bps(s.max_priority_load)
                        / rate.map_or(f64::NAN, |r| r.bps() as f64),
                    mechanism: s.mechanism.kind(),
                    protected_list: s.protected_list.clone(),
                };
                top.promise = words::admission(&limits);
                top.admission = Some(limits);
            }
            flows => {
                if let Some(queue) = flows.flow_queue() {
                    top.flow_queue(queue, rate, sent);
                }
            }
        }
        top
    }

    fn outlines(&self, prefix: &str, sent: Sent<'_>) -> Vec<Outline> {
        let all = self.classes().into_iter();
        all.map(|c| c.outline(prefix, sent)).collect()
    }
}

impl Class<'_> {
    /// A bucket of this rate and depth, which depend on a rate that may not be known.
    fn bucket(&self, of: Option<(Rate, u64)>) -> Bucket {
        let known = of.filter(|_| self.around.is_some());
        Bucket {
            rate: known.map(|(r, _)| r.bps()),
            burst: known.map(|(_, b)| b),
            ..Bucket::default()
        }
    }

    fn policer(&self, p: &PoliceSpec) -> Bucket {
        let second = self.bucket(self.division.police_excess);
        let mut bucket = Bucket {
            peak_rate: second.rate.filter(|_| p.peak_rate.is_some()),
            excess_burst: second.burst,
            ..self.bucket(self.division.police)
        };
        bucket.words = words::policer(&bucket, p);
        bucket
    }

    fn outline(&self, prefix: &str, sent: Sent<'_>) -> Outline {
        let (c, d) = (self.spec, &self.division);
        let police = c.police.as_ref().filter(|p| !p.drops_all());
        let mut out = Outline {
            name: c.name.clone(),
            condition: words::packets(self),
            marks: words::marks(c),
            promise: words::promise(self),
            asked: words::asked(c),
            level: d.level,
            guaranteed: self.guaranteed().map(Rate::bps),
            priority_policer: c.priority.as_ref().and_then(|p| {
                let mut bucket = self.bucket(d.priority);
                bucket.words = words::priority_policer(&bucket, p.rate?, p.police);
                Some(bucket)
            }),
            shape: c.shape.as_ref().map(|s| {
                let mut bucket = self.bucket(d.shape);
                bucket.words = format!("shape {}", words::bucket(&bucket, s.rate));
                bucket
            }),
            police: police.map(|p| self.policer(p)),
            ..Outline::default()
        };
        if !d.queued {
            return out;
        }
        let name = format!("{prefix}{}", c.name);
        if let Some(inner) = &self.inner {
            out.policy = Some(inner.name.to_owned());
            out.kind = Some(inner.spec.kind());
            out.rate = inner.rate().map(Rate::bps);
            out.classes = inner.outlines(&format!("{name}/"), sent);
            return out;
        }
        out.queue = Some(name);
        let own = self.guaranteed().or_else(|| self.around.map(|a| a.rate));
        match (c.flow_queue(), self.limit()) {
            (Some((_, flows)), _) => out.flow_queue(flows, own, sent),
            (None, limit) => {
                if let Some(limit) = limit {
                    out.bound(limit, own);
                }
                if let Some(fair) = c.fair_queue.as_ref().filter(|_| c.priority.is_none()) {
                    out.fair(fair);
                }
            }
        }
        out.dscp_limits = dscp_limits(c, own, sent);
        if c.aqm.is_some() {
            out.manage(c.aqm.as_ref(), c.waiting_limit(), own, sent);
        }
        out
    }
}

/// The limits of a class's queue by DSCP and by precedence.
fn dscp_limits(c: &ClassSpec, rate: Option<Rate>, sent: Sent<'_>) -> Vec<DscpLimit> {
    let own = c.queue_limit_dscp.iter();
    let own = own.map(|(dscp, limit)| (dscp.to_string(), vec![*dscp], limit));
    let by_precedence = c.queue_limit_precedence.iter().map(|(precedence, limit)| {
        let others = (0..64).filter_map(Dscp::new);
        let others =
            others.filter(|d| d.precedence() == *precedence && !c.queue_limit_dscp.contains_key(d));
        (format!("precedence {precedence}"), others.collect(), limit)
    });
    let all = own.chain(by_precedence);
    all.filter(|(_, dscp, _)| !dscp.is_empty() && concerns(dscp, sent))
        .map(|(of, dscp, limit)| DscpLimit {
            dscp,
            words: format!("{of}: {}", words::limit(*limit, rate)),
        })
        .collect()
}

impl Outline {
    fn bound(&mut self, limit: Limit, rate: Option<Rate>) {
        self.limit = words::limit(limit, rate);
        match (limit, rate.or(NOMINAL)) {
            (Limit::Time(_), _) if rate.is_none() => {}
            (_, at) => self.holds(at.map_or(Bound::NONE, |at| Bound::new(limit, at))),
        }
    }

    fn holds(&mut self, bound: Bound) {
        self.limit_packets = bound.max_packets();
        self.limit_bytes = (bound.bytes < u64::MAX).then_some(bound.bytes);
    }

    fn flow_queue(&mut self, f: &dyn FlowQueueSpec, rate: Option<Rate>, sent: Sent<'_>) {
        let Some(at) = rate else { return };
        let bound = f.bound(at);
        self.limit = words::bound(&bound);
        self.manage(f.aqm().as_ref(), bound.as_limit(), rate, sent);
        self.holds(bound);
    }

    fn fair(&mut self, f: &FairQueueSpec) {
        let own = self.limit_packets.unwrap_or(u32::MAX);
        self.limit_packets = Some(own.min(f.hold_queue));
        self.flow_packets = f.most_packets();
        self.flows = words::fair_queue(f);
    }

    fn manage(&mut self, aqm: Option<&AqmSpec>, limit: Limit, rate: Option<Rate>, sent: Sent<'_>) {
        let Some(aqm) = aqm else { return };
        self.aqm = Some(aqm.kind());
        self.parameters = Some(aqm.clone());
        let at = |rate: Option<Rate>| rate.map(|r| aqm.thresholds(limit, r)).unwrap_or_default();
        let mut all = at(rate.or(NOMINAL));
        if rate.is_none() {
            // What another rate changes depends on it.
            let other = at(Rate::from_bps(2_000_000_000));
            for (i, t) in all.iter_mut().enumerate() {
                if other.get(i) != Some(t) {
                    (t.min, t.max) = (f64::NAN, f64::NAN);
                }
            }
        }
        all.retain(|t| concerns(&t.dscp, sent));
        if let Some(sent) = sent {
            if all.iter().any(|t| t.written) {
                all.retain(|t| t.written);
            }
            all.iter_mut()
                .for_each(|t| t.dscp.retain(|d| sent.contains(d)));
        }
        let by = match aqm {
            AqmSpec::Wred(w) if w.by == WredBy::Precedence => "precedence",
            _ => "DSCP",
        };
        let by = (sent.is_none() || all.len() > 1).then_some(by);
        for t in &mut all {
            t.words = words::thresholds(t, by);
        }
        self.thresholds = all;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Recipe;

    fn outline(name: &str, all: &BTreeMap<String, DisciplineSpec>, rate: Rate) -> Outline {
        Policy::of(all, name, Some(rate.into()))
            .unwrap()
            .outline(None)
    }

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
        "aware": {"fan": {"scheduler": {"pdrr": {}}, "mechanism": {"raef": {}}, "max_priority_load": "60 Mb/s",
                          "protected_list": "west"}},
        "robin": {"drr": {}},
        "bucket": {"htb": {"classes": [
            {"name": "root", "rate": "50 Mb/s"},
            {"name": "a", "parent": "root", "match": {"dscp": "ef"}, "rate": "10 %", "ceil": "40 Mb/s", "queue": {"fq-codel": {}}},
            {"name": "b", "match": {"dscp": "af11"}, "rate": "10 Mb/s"}]}},
        "curves": {"hfsc": {"default": "b", "classes": [
            {"name": "a", "match": {"dscp": "ef"}, "rt": {"umax": "1500 B", "dmax": "5 ms", "rate": "1 Mb/s"}},
            {"name": "in", "ls": {"m2": "9 Mb/s"}},
            {"name": "b", "parent": "in", "sc": {"m1": "2 Mb/s", "d": "9 ms", "m2": "1 Mb/s"}, "ul": {"m2": "5 Mb/s"}}]}},
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
            let outline = recipe.policy().unwrap().outline(None);
            leaves(&outline, &mut found);
            assert_eq!(found, recipe.leaf_names(), "{name}");
        }
        assert!(Recipe::default_fifo().policy().is_none());
    }

    #[test]
    fn promises_and_thresholds() {
        let all = policies(NESTED);
        let rate = Rate::from_bps(100_000_000).unwrap();
        let edge = outline("edge", &all, rate);
        let [customer, voice, tamed, marked, fair, turns, short, default] = &edge.classes[..]
        else {
            panic!("{edge:?}");
        };
        assert_eq!(
            (edge.guaranteed, edge.queue.as_ref()),
            (Some(100_000_000), None)
        );
        assert_eq!(
            (
                customer.shape.as_ref().and_then(|b| b.rate),
                customer.policy.as_deref()
            ),
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
            let has = |t: &&Thresholds| t.dscp.iter().any(|d| d.to_string() == dscp);
            let t = tamed.thresholds.iter().find(has).unwrap();
            (t.min, t.max, t.probability)
        };
        assert_eq!((of("af21"), of("ef")), ((5.0, 9.0, 0.1), (36.0, 40.0, 0.1)));
        let written: Vec<_> = tamed.thresholds.iter().filter(|t| t.written).collect();
        assert_eq!(written.len(), 1);
        assert_eq!(written[0].words, "DSCP af21: 5 to 9 packets, up to 10 %");
        assert_eq!(
            (
                marked.police.as_ref().and_then(|b| b.rate),
                marked.queue.as_ref()
            ),
            (Some(1_000_000), None)
        );
        // The discard threshold is no limit of a conversation.
        assert_eq!((fair.limit_packets, fair.flow_packets), (Some(77), None));
        assert_eq!((turns.limit_packets, turns.aqm), (Some(1000), None));
        assert_eq!(
            (short.limit_packets, short.limit_bytes, short.aqm),
            (Some(10_240), Some(32 << 20), Some("codel"))
        );
        assert_eq!(default.name, "class-default");

        let aware = outline("aware", &all, rate);
        assert_eq!(aware.limit_packets, Some(1000));
        let admission = AdmissionLimits {
            min_fair_rate: 5e6,
            max_priority_load: 0.6,
            mechanism: "raef",
            protected_list: Some("west".to_owned()),
        };
        assert_eq!(aware.admission, Some(admission));

        let plain = outline("plain", &all, rate);
        assert_eq!(plain.limit_packets, Some(30));
        let red = &plain.thresholds[0];
        assert_eq!((red.min, red.max, red.dscp.len()), (5.0, 15.0, 0));
    }
}
