//! AQMs that are given beside a scenario and named in it like any other.

use std::sync::Arc;

use serde_json::{Map, Value};
use spillgate_core::{Limit, Problem, Rate};

use super::{Custom, CustomAqm, LeafFacts};
use crate::Thresholds;
use crate::own::{Maker, OwnPart, OwnQueue};
use crate::recipe::At;

spillgate_core::spec! {
    /// An AQM of one's own.
    pub struct OwnAqmSpec {
        /// The name under which it is given beside the scenario.
        pub name: String = String::new(),
        /// Its settings; it is made with them.
        #[serde(skip_serializing_if = "Map::is_empty")]
        pub with: Map<String, Value> = Map::new(),
        /// Mark ECN-capable packets where it says so; false: drop them. Default true.
        #[serde(skip_serializing_if = "is_true")]
        pub ecn: bool = true,
        /// What it is, which is known when the scenario is read.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub identity: Option<String> = None,
        /// Who makes it.
        #[serde(skip)]
        pub(crate) maker: Maker<dyn CustomAqm> = Maker(None),
    }
}

fn is_true(value: &bool) -> bool {
    *value
}

impl OwnAqmSpec {
    /// Names its maker.
    pub fn set_maker(&mut self, maker: Arc<dyn OwnPart<dyn CustomAqm>>) {
        self.identity = Some(maker.identity());
        self.maker = Maker(Some(maker));
    }

    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Custom, Problem> {
        let queue = OwnQueue {
            rate: leaf.rate,
            limit: Some(leaf.limit),
        };
        let kind = ("AQM", "aqm");
        let made = self.maker.make(kind, &self.name, &self.with, &queue, at)?;
        Ok(Custom::new(made, leaf.rate, self.ecn))
    }
}
