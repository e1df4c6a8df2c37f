//! What the crate can do, as lists for help texts and tables.

/// One entry of a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The key under which a scenario writes it.
    pub kind: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
}

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
    Kind {
        kind: "phb",
        summary: "A per-hop behavior of DiffServ: its code points, and a queue that fits it.",
    },
    Kind {
        kind: "priority",
        summary: "Strict priority by level, policed to a rate under congestion (LLQ).",
    },
    Kind {
        kind: "bandwidth",
        summary: "Guaranteed rate; what is unused is shared in proportion (CBWFQ by SCFQ).",
    },
    Kind {
        kind: "bandwidth_remaining",
        summary: "Share of what priority and guaranteed classes leave.",
    },
    Kind {
        kind: "bandwidth_remaining_ratio",
        summary: "Share of what priority and guaranteed classes leave, as a ratio.",
    },
    Kind {
        kind: "shape",
        summary: "Token-bucket shaper: excess waits.",
    },
    Kind {
        kind: "police",
        summary: "Token-bucket policer: excess is dropped or re-marked on arrival.",
    },
    Kind {
        kind: "queue_limit",
        summary: "Tail drop above packets, bytes or time.",
    },
    Kind {
        kind: "queue_limit_dscp",
        summary: "Weighted tail drop: lower limits of the queue for packets of some DSCPs.",
    },
    Kind {
        kind: "queue_limit_precedence",
        summary: "Weighted tail drop: lower limits of the queue for packets of some IP precedences.",
    },
    Kind {
        kind: "aqm",
        summary: "Active queue management of the class's queue.",
    },
    Kind {
        kind: "fair_queue",
        summary: "Cisco's flow-based WFQ inside the class.",
    },
    Kind {
        kind: "drr",
        summary: "Deficit round robin by flow inside the class.",
    },
    Kind {
        kind: "fq",
        summary: "Fair queueing with new flows first inside the class, under any AQM.",
    },
    Kind {
        kind: "fq_codel",
        summary: "FQ-CoDel inside the class.",
    },
    Kind {
        kind: "set_dscp",
        summary: "Sets the DSCP on arrival.",
    },
    Kind {
        kind: "set_exp",
        summary: "Sets the EXP bits of the top MPLS label on arrival.",
    },
    Kind {
        kind: "set_exp_imposition",
        summary: "Sets the EXP bits that MPLS labels get when they are put on.",
    },
    Kind {
        kind: "set_cos",
        summary: "Sets the priority of the 802.1Q tag (CoS) on arrival.",
    },
    Kind {
        kind: "set_qos_group",
        summary: "Puts packets into a QoS group, for the policy of the port that they leave by.",
    },
    Kind {
        kind: "policy",
        summary: "A class-based policy inside the class.",
    },
];

/// Every family of the crate with its members, in the order of the registries.
pub fn kinds() -> &'static [Family] {
    &[
        Family {
            name: "disciplines",
            kinds: crate::spec::KINDS,
        },
        Family {
            name: "aqm",
            kinds: crate::aqm::KINDS,
        },
        Family {
            name: "class",
            kinds: CLASS,
        },
    ]
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

    #[test]
    fn kinds_are_the_keys_of_the_schema() {
        for kind in crate::spec::KINDS {
            let text = format!("{{\"{}\": {{\"classes\": []}}}}", kind.kind);
            let spec: Result<DisciplineSpec, _> = serde_json::from_str(&text)
                .or_else(|_| serde_json::from_str(&text.replace("\"classes\": []", "")));
            assert_eq!(spec.unwrap().kind(), kind.kind);
            assert!(kind.summary.starts_with(char::is_alphabetic));
        }
    }
}
