//! What the crate can do, as lists for help texts and tables.

use spillgate_core::Kind;

/// A family of interchangeable or combinable parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name: `disciplines`, `aqm`, ...
    pub name: &'static str,
    /// Its members.
    pub kinds: &'static [Kind],
}

/// What a class of a class-based policy may do, by the keys of [`crate::spec::ClassSpec`].
const CLASS: &[Kind] = &[
    Kind::new(
        "phb",
        "A per-hop behavior of DiffServ: its code points, and a queue that fits it.",
    ),
    Kind::new(
        "priority",
        "Strict priority by level, policed to a rate under congestion (LLQ).",
    ),
    Kind::new(
        "bandwidth",
        "Guaranteed rate; what is unused is shared in proportion (CBWFQ by SCFQ).",
    ),
    Kind::new(
        "bandwidth_remaining",
        "Share of what priority and guaranteed classes leave.",
    ),
    Kind::new(
        "bandwidth_remaining_ratio",
        "Share of what priority and guaranteed classes leave, as a ratio.",
    ),
    Kind::new("shape", "Token-bucket shaper: excess waits."),
    Kind::new(
        "police",
        "Token-bucket policer: excess is dropped or re-marked on arrival.",
    ),
    Kind::new("queue_limit", "Tail drop above packets, bytes or time."),
    Kind::new(
        "queue_limit_dscp",
        "Weighted tail drop: lower limits of the queue for packets of some DSCPs.",
    ),
    Kind::new(
        "queue_limit_precedence",
        "Weighted tail drop: lower limits of the queue for packets of some IP precedences.",
    ),
    Kind::new("aqm", "Active queue management of the class's queue."),
    Kind::new("fair_queue", "Cisco's flow-based WFQ inside the class."),
    Kind::new("drr", "Deficit round robin by flow inside the class."),
    Kind::new(
        "fair",
        "Packet fair queueing by flow inside the class: SCFQ, WF2Q+, QFQ and others.",
    ),
    Kind::new(
        "fq",
        "Fair queueing with new flows first inside the class, under any AQM.",
    ),
    Kind::new("fq_codel", "FQ-CoDel inside the class."),
    Kind::new("fq_pie", "FQ-PIE inside the class."),
    Kind::new("sfq", "Stochastic fairness queueing inside the class."),
    Kind::new("dualpi2", "DualPI2 inside the class."),
    Kind::new("cake", "CAKE without its shaper inside the class."),
    Kind::new("set_dscp", "Sets the DSCP on arrival."),
    Kind::new(
        "set_exp",
        "Sets the EXP bits of the top MPLS label on arrival.",
    ),
    Kind::new(
        "set_exp_imposition",
        "Sets the EXP bits that MPLS labels get when they are put on.",
    ),
    Kind::new(
        "set_cos",
        "Sets the priority of the 802.1Q tag (CoS) on arrival.",
    ),
    Kind::new(
        "set_qos_group",
        "Puts packets into a QoS group, for the policy of the port that they leave by.",
    ),
    Kind::new("policy", "A class-based policy inside the class."),
];

/// The kinds that are here: not the last, which is what a user gives.
const fn but_own(kinds: &'static [Kind]) -> &'static [Kind] {
    match kinds.split_last() {
        Some((_, rest)) => rest,
        None => kinds,
    }
}

/// Every family of the crate with its members, in the order of the registries; what is given beside
/// a scenario (`own`) is not among them.
pub fn kinds() -> &'static [Family] {
    const ALL: &[Family] = &[
        Family {
            name: "disciplines",
            kinds: but_own(crate::spec::DisciplineSpec::KINDS),
        },
        Family {
            name: "aqm",
            kinds: but_own(crate::aqm::AqmSpec::KINDS),
        },
        Family {
            name: "class",
            kinds: CLASS,
        },
    ];
    ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ClassSpec, DisciplineSpec};

    #[test]
    fn every_feature_of_a_class_is_listed() {
        let schema = schemars::schema_for!(ClassSpec);
        let keys = schema.get("properties").unwrap().as_object().unwrap();
        for key in keys.keys().filter(|k| *k != "name" && *k != "match") {
            assert!(CLASS.iter().any(|k| k.kind == key), "{key} is not listed");
        }
        assert_eq!(CLASS.len(), keys.len() - 2);
    }

    /// What is refused names a source, but of a FIFO, and of what users give.
    #[test]
    fn every_discipline_and_scheduler_has_a_source() {
        use crate::spec::{ClassScheduler, FlowScheduler};
        for kind in DisciplineSpec::KINDS {
            let named = kind.source().is_some();
            assert_eq!(
                named,
                !matches!(kind.kind, "fifo" | "fair" | "own"),
                "{kind:?}"
            );
        }
        fn each<S: serde::de::DeserializeOwned + schemars::JsonSchema>(
            source: impl Fn(S) -> Option<&'static str>,
        ) {
            let schema = schemars::schema_for!(S);
            let of = schema.get("oneOf").unwrap().as_array().unwrap();
            for name in of.iter().map(|s| s["const"].clone()) {
                let scheduler = serde_json::from_value(name.clone()).unwrap();
                assert!(source(scheduler).is_some(), "{name}");
            }
        }
        each(ClassScheduler::source);
        each(FlowScheduler::source);
    }

    #[test]
    fn kinds_are_the_keys_of_the_schema() {
        for kind in DisciplineSpec::KINDS {
            let needs = match kind.kind {
                "class-based" => r#""classes": []"#,
                "hfsc" => r#""default": "a", "classes": []"#,
                _ => "",
            };
            let text = format!("{{\"{}\": {{{needs}}}}}", kind.kind);
            let spec: Result<DisciplineSpec, _> = serde_json::from_str(&text);
            assert_eq!(spec.unwrap().kind(), kind.kind);
            assert!(kind.summary.starts_with(char::is_alphabetic));
        }
    }
}
