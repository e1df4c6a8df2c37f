//! A class queue that the exporters do not know is left out with a note, not in silence.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use spillgate_core::Rate;
use spillgate_export::{Exported, Port, Source, Tag, TcOptions, ios, tc};
use spillgate_queueing::spec::ClassSpec;
use spillgate_scenario::Platform;

/// A class of this queue, or of none, on both systems.
fn exported(queue: Option<&str>) -> [Exported; 2] {
    let mut class = json!({"name": "a", "match": {"dscp": "af11"}, "bandwidth": "30 %"});
    if let Some(kind) = queue {
        class[kind] = json!({});
    }
    let policy = json!({"class-based": {"classes": [class, {"name": "class-default"}]}});
    let source = Source {
        policies: BTreeMap::from([("p".to_owned(), serde_json::from_value(policy).unwrap())]),
        ports: vec![Port {
            name: "eth0".to_owned(),
            policy: "p".to_owned(),
            rate: Rate::from_bps(10_000_000),
            overhead: None,
            policers: None,
            longest: Default::default(),
            labels: false,
            tag: Tag::None,
            circuit: None,
            tx_ring: None,
        }],
        inputs: Vec::new(),
        platform: Platform::Ios,
        match_any: BTreeSet::new(),
        lost: Vec::new(),
        originals: Vec::new(),
    };
    [ios(&source), tc(&source, &TcOptions::default()).unwrap()]
}

#[test]
fn every_class_queue_is_translated_or_named() {
    let kinds = ClassSpec::flow_queue_kinds();
    assert!(kinds.contains(&"drr"));
    let plain = exported(None);
    for kind in kinds {
        for (plain, own) in plain.iter().zip(exported(Some(kind))) {
            let named = own.notes.iter().any(|n| n.reason.contains(kind));
            assert!(named || own.text != plain.text, "{kind}: {}", own.text);
        }
    }
}
