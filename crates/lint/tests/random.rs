//! Random networks that have everything at once: the rules look at each without a panic, in every
//! form of output, and every finding has a place.

#[allow(dead_code, reason = "the runs of these networks need more of it")]
#[path = "../../sim/tests/everything_random/net.rs"]
mod net;
#[path = "../../sim/tests/common/words.rs"]
mod words;

use proptest::prelude::*;
use spillgate_core::testkit::effort;

/// What the generator asks of whoever uses it: here the networks are looked at, not run.
mod common {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    use spillgate_import::ConfigImporter;
    use spillgate_lint::{Finding, Selection, scenario};
    use spillgate_scenario::plan::Plan;
    use spillgate_scenario::{Options, load};

    pub(crate) use super::words::{overhead, ring};

    thread_local! {
        /// What was found in the last network.
        pub(crate) static FOUND: RefCell<Vec<Finding>> = const { RefCell::new(Vec::new()) };
    }

    pub(crate) fn plan_with<const N: usize>(yaml: &str, beside: [(&str, Vec<u8>); N]) -> Arc<Plan> {
        let path = PathBuf::from("s.yaml");
        let mut files = BTreeMap::from([(path.clone(), yaml.as_bytes().to_vec())]);
        files.extend(beside.map(|(name, bytes)| (PathBuf::from(name), bytes)));
        let options = Options::default();
        let found = scenario(&path, &files, &options, &Selection::default());
        FOUND.with(|f| *f.borrow_mut() = found.unwrap_or_else(|e| panic!("{e}")));
        let loaded = load(&path, &files, &ConfigImporter::default(), &options);
        Arc::new(loaded.unwrap_or_else(|e| panic!("{e}")).plan)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128 * effort()))]

    #[test]
    fn every_random_network_is_looked_at(net in net::net(net::TRAFFIC.len())) {
        let plan = net.plan("", "warmup: 100 ms, duration: 400 ms, interval: 50 ms");
        let points = plan.variants.len();
        let found = common::FOUND.with(|f| f.borrow().clone());
        for f in &found {
            prop_assert!(f.line.is_some() && !f.message.is_empty(), "{:?}", f);
            prop_assert!(f.variants.len() <= points && (points > 1 || f.holds.is_empty()), "{:?}", f);
        }
        let log = spillgate_lint::sarif(&found, "1");
        prop_assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(found.len()));
        prop_assert_eq!(spillgate_lint::text(&found).is_empty(), found.is_empty());
    }
}
