//! The places where packets wait and an AQM may stand: one list for every kind of policy, so that
//! who looks at queues looks at all of them.

use spillgate_core::Limit;

use super::{Class, Policy};
use crate::aqm::AqmSpec;
use crate::sched::flow_queue::FlowQueueSpec;
use crate::spec::{ClassSpec, DisciplineSpec, FanScheduler};

/// The queue of a port or of a class, or the queues of its flows. Keys are below the discipline or
/// the class.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// How much may wait in all, by key; the default where nothing is written.
    pub limits: Vec<(String, Limit)>,
    /// How much of one flow may wait, if that is limited by itself.
    pub flow_limit: Option<(String, Limit)>,
    /// Its AQM.
    pub aqm: Option<PlacedAqm>,
    /// Bytes that a flow of weight 1 may send in its turn, where flows take turns by deficit and
    /// this is written.
    pub quantum: Option<(String, u64)>,
    /// Whether flows have queues of their own; thresholds of an AQM are then those of one of them.
    pub by_flow: bool,
}

/// An AQM, and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedAqm {
    /// Its parameters.
    pub spec: AqmSpec,
    /// The key of the whole: `aqm`, `fq.aqm` or `fq_codel`; empty where the discipline is one with
    /// its AQM.
    pub key: String,
    /// What its parameters begin with: `aqm.red.`, `fq_codel.` or nothing.
    pub prefix: String,
}

impl PlacedAqm {
    fn below(spec: AqmSpec, parent: &str) -> Self {
        let key = format!("{parent}aqm");
        let prefix = format!("{key}.{}.", spec.kind());
        Self { spec, key, prefix }
    }
}

/// A limit under a key.
fn limit(key: &str, limit: Limit) -> (String, Limit) {
    (key.to_owned(), limit)
}

impl Place {
    /// The same with all keys behind a prefix.
    pub(super) fn below(mut self, prefix: &str) -> Self {
        let keys = self.limits.iter_mut().chain(&mut self.flow_limit);
        keys.for_each(|(key, _)| key.insert_str(0, prefix));
        if let Some(aqm) = &mut self.aqm {
            aqm.key.insert_str(0, prefix);
            aqm.prefix.insert_str(0, prefix);
        }
        if let Some((key, _)) = &mut self.quantum {
            key.insert_str(0, prefix);
        }
        self
    }

    pub(super) fn fifo(limits: Vec<(String, Limit)>, aqm: Option<AqmSpec>) -> Self {
        Self {
            limits,
            flow_limit: None,
            aqm: aqm.map(|spec| PlacedAqm::below(spec, "")),
            quantum: None,
            by_flow: false,
        }
    }

    fn flows(limits: Vec<(String, Limit)>) -> Self {
        Self {
            by_flow: true,
            ..Self::fifo(limits, None)
        }
    }

    /// A fair queue by flow below `parent`; `whole` is its own key.
    fn flow_queue(spec: &dyn FlowQueueSpec, parent: &str, whole: &str) -> Self {
        let limits = spec.limits().into_iter();
        let aqm = spec.aqm().map(|aqm| match spec.is_one_with_aqm() {
            true => PlacedAqm {
                spec: aqm,
                key: whole.to_owned(),
                prefix: parent.to_owned(),
            },
            false => PlacedAqm::below(aqm, parent),
        });
        Self {
            aqm,
            by_flow: spec.by_flow(),
            quantum: spec.quantum().map(|q| (format!("{parent}quantum"), q.0)),
            ..Self::flows(
                limits
                    .map(|(key, limit)| (format!("{parent}{key}"), limit))
                    .collect(),
            )
        }
    }
}

impl DisciplineSpec {
    /// Where its packets wait; none of classes, which have places of their own.
    pub fn place(&self) -> Option<Place> {
        Some(match self {
            Self::ClassBased(_) | Self::Htb(_) | Self::Hfsc(_) => return None,
            Self::Fifo(s) => Place::fifo(vec![limit("limit", s.limit)], s.aqm.clone()),
            Self::Wfq(s) => Place {
                flow_limit: Some(limit("limit", s.limit)),
                ..Place::flows(vec![limit("hold_queue", s.hold_queue)])
            },
            Self::FlowWfq(s) => {
                Place::flows(vec![limit("hold_queue", Limit::Packets(s.hold_queue))])
            }
            Self::Fan(s) => Place {
                quantum: match &s.scheduler {
                    FanScheduler::Pdrr(p) => p
                        .quantum
                        .map(|q| ("scheduler.pdrr.quantum".to_owned(), q.0)),
                    FanScheduler::Pfq(_) => None,
                },
                ..Place::flows(vec![limit("limit", s.limit)])
            },
            flows => Place::flow_queue(flows.flow_queue()?, "", ""),
        })
    }
}

impl Class<'_> {
    /// Where its packets wait; none without a queue of its own, and where a policy inside it queues
    /// them.
    pub fn place(&self) -> Option<Place> {
        if !self.division.queued || self.spec.policy.is_some() {
            return None;
        }
        Some(self.spec.place(self.limit()))
    }
}

impl ClassSpec {
    /// `own` is the limit of its queue beside those of a fair queue.
    fn place(&self, own: Option<Limit>) -> Place {
        let key = match self.priority {
            Some(_) => "priority.limit",
            None => "queue_limit",
        };
        let own = own.map(|l| limit(key, l));
        let mut place = match (self.flow_queue(), &self.fair_queue) {
            (Some((key, spec)), _) => Place::flow_queue(spec, &format!("{key}."), key),
            (None, Some(fair)) => Place::flows(vec![limit(
                "fair_queue.hold_queue",
                Limit::Packets(fair.hold_queue),
            )]),
            (None, None) => Place::fifo(Vec::new(), None),
        };
        place.limits.extend(own);
        if let Some(aqm) = &self.aqm {
            // With `fair_queue`, too, it judges by the whole queue.
            place.aqm = Some(PlacedAqm::below(aqm.clone(), ""));
        }
        place
    }
}

impl<'a> Policy<'a> {
    /// Every place of the policy but those of policies inside it, each with its class.
    pub fn places(&self) -> Vec<(Option<Class<'a>>, Place)> {
        let own = self.spec.place().map(|place| (None, place));
        let classes = self.classes().into_iter();
        let classes = classes.filter_map(|c| {
            let place = c.place()?;
            Some((Some(c), place))
        });
        let trees = self.tree_places().into_iter().map(|place| (None, place));
        own.into_iter().chain(classes).chain(trees).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::{Value, json};

    use super::*;

    /// Every path of keys to an AQM below `node`, through lists and references, but not into an
    /// AQM.
    fn paths(all: &Value, node: &Value, path: &str, into: &mut BTreeSet<String>, depth: usize) {
        if depth > 24 {
            return;
        }
        if let Some(name) = node.get("$ref").and_then(Value::as_str) {
            let name = name.trim_start_matches("#/$defs/");
            if name == "AqmSpec" {
                into.insert(path.to_owned());
            } else if name != "DisciplineSpec" {
                // The queue of a class of a tree is a discipline again.
                paths(all, &all["$defs"][name], path, into, depth + 1);
            }
        }
        for (key, inner) in node["properties"].as_object().into_iter().flatten() {
            paths(all, inner, &format!("{path}/{key}"), into, depth + 1);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for inner in node[key].as_array().into_iter().flatten() {
                paths(all, inner, path, into, depth + 1);
            }
        }
        if let Some(items) = node.get("items") {
            paths(all, items, &format!("{path}/[]"), into, depth + 1);
        }
    }

    /// A policy that has an AQM at a path.
    fn policy(path: &str, aqm: &Value) -> Value {
        let mut value = aqm.clone();
        for key in path.split('/').rev().filter(|k| !k.is_empty()) {
            value = match key {
                "[]" => {
                    let mut class = value;
                    class["name"] = "class-default".into();
                    json!([class])
                }
                key => json!({ key: value }),
            };
        }
        value
    }

    /// The schema has every place where an AQM can be written: the walk comes to each of them.
    #[test]
    fn the_walk_comes_to_every_place_where_an_aqm_can_stand() {
        let schema = serde_json::to_value(schemars::schema_for!(DisciplineSpec)).unwrap();
        let mut found = BTreeSet::new();
        paths(&schema, &schema, "", &mut found, 0);
        let known = [
            "/class-based/classes/[]/aqm",
            "/class-based/classes/[]/drr/aqm",
            "/class-based/classes/[]/fair/aqm",
            "/class-based/classes/[]/fq/aqm",
            "/class-based/classes/[]/sfq/aqm",
            "/drr/aqm",
            "/fair/aqm",
            "/fifo/aqm",
            "/fq/aqm",
            "/sfq/aqm",
        ];
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), known);
        let aqm = json!({"red": {"min_th": 3, "max_th": 9}});
        for path in found {
            let text = policy(&path, &aqm).to_string();
            let spec: DisciplineSpec = serde_json::from_str(&text).unwrap();
            let all = BTreeMap::from([("p".to_owned(), spec)]);
            let places = Policy::of(&all, "p", None).unwrap().places();
            let [(_, place)] = &places[..] else {
                panic!("{path}: {places:?}")
            };
            let placed = place.aqm.as_ref().unwrap();
            let written: AqmSpec = serde_json::from_value(aqm.clone()).unwrap();
            assert_eq!(placed.spec, written, "{path}");
            let end = path.rsplit("[]/").next().unwrap_or_default();
            let end = end.trim_start_matches('/').replace('/', ".");
            assert!(end.ends_with(&placed.key), "{path}: {}", placed.key);
            assert_eq!(placed.prefix, format!("{}.red.", placed.key));
            assert_eq!(place.by_flow, end != "aqm" && !path.starts_with("/fifo"));
        }
    }

    /// The queues of classes of a tree are places like others, with their keys.
    #[test]
    fn the_walk_comes_to_the_queues_of_trees() {
        let spec = json!({"htb": {"classes": [
            {"name": "root", "rate": "1 Mb/s"},
            {"name": "a", "parent": "root", "rate": "1 Mb/s", "queue": {"fifo": {"aqm": {"red": {}}}}},
            {"name": "b", "parent": "root", "rate": "1 Mb/s", "queue": {"drr": {"quantum": "900 B"}}}]}});
        let all = BTreeMap::from([("p".to_owned(), serde_json::from_value(spec).unwrap())]);
        let places = Policy::of(&all, "p", None).unwrap().places();
        let [(_, red), (_, drr), (_, direct)] = &places[..] else {
            panic!("{places:?}")
        };
        let placed = red.aqm.as_ref().unwrap();
        assert_eq!(placed.key, "classes[1].queue.fifo.aqm");
        assert_eq!(placed.prefix, "classes[1].queue.fifo.aqm.red.");
        let quantum = ("classes[2].queue.drr.quantum".to_owned(), 900);
        assert_eq!(drr.quantum, Some(quantum));
        assert_eq!(direct.limits[0].0, "direct_qlen");
    }

    /// Every discipline of the registry has a place with a limit, but one of the user's own, which
    /// limits itself; and so has a class of any kind.
    #[test]
    fn every_discipline_and_every_class_has_a_place() {
        for kind in crate::spec::DisciplineSpec::KINDS.iter().map(|k| k.kind) {
            let body = match kind {
                "class-based" => json!({"classes": []}),
                "hfsc" => {
                    json!({"default": "a", "classes": [{"name": "a", "queue": {"fifo": {}}}]})
                }
                _ => json!({}),
            };
            let spec: DisciplineSpec = serde_json::from_value(json!({ kind: body })).unwrap();
            let all = BTreeMap::from([("p".to_owned(), spec)]);
            let places = Policy::of(&all, "p", None).unwrap().places();
            if kind == "own" {
                assert!(places.is_empty());
                continue;
            }
            assert_eq!(places.len(), 1, "{kind}");
            assert!(!places[0].1.limits.is_empty(), "{kind}");
            let modern = places[0].1.aqm.is_some();
            assert_eq!(
                modern,
                matches!(kind, "fq-codel" | "fq-pie" | "dualpi2" | "cake"),
                "{kind}"
            );
        }
        let by_turns = |key: &&str| !matches!(*key, "dualpi2" | "cake" | "fair");
        for key in ClassSpec::flow_queue_kinds().into_iter().filter(by_turns) {
            let class = json!({"name": "class-default", key: {"quantum": "900 B"}});
            let spec = json!({"class-based": {"classes": [class]}});
            let all = BTreeMap::from([("p".to_owned(), serde_json::from_value(spec).unwrap())]);
            let places = Policy::of(&all, "p", None).unwrap().places();
            let place = &places[0].1;
            assert!(
                place.by_flow && place.limits[0].0 == format!("{key}.limit"),
                "{place:?}"
            );
            assert_eq!(place.quantum, Some((format!("{key}.quantum"), 900)));
        }
    }
}
