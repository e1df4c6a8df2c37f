//! AQMs that are given beside a scenario and named in it like any other.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use spillgate_core::{Limit, Problem, Rate};

use super::{Custom, CustomAqm, LeafFacts};
use crate::Thresholds;
use crate::recipe::At;

/// What makes an AQM of one's own for a queue that names it.
pub trait OwnAqm: Send + Sync {
    /// What tells its results from those of another: a stored run is used again only if this is the
    /// same.
    fn identity(&self) -> String;

    /// One for a queue, in its initial state, with the settings that the scenario writes.
    ///
    /// # Errors
    /// Why there is none with these settings, in a sentence without a period.
    fn make(
        &self,
        settings: &Map<String, Value>,
        queue: &OwnQueue,
    ) -> Result<Box<dyn CustomAqm>, String>;
}

/// The queue for which an AQM of one's own is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnQueue {
    /// The rate that the queue is guaranteed.
    pub rate: Rate,
    /// What it holds at most.
    pub limit: Limit,
}

/// The maker of an AQM of one's own, once it is known.
#[derive(Clone, Default)]
pub(crate) struct Maker(Option<Arc<dyn OwnAqm>>);

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let identity = self.0.as_ref().map(|m| m.identity());
        f.write_str(identity.as_deref().unwrap_or("unknown"))
    }
}

impl PartialEq for Maker {
    fn eq(&self, other: &Self) -> bool {
        let identity = |m: &Self| m.0.as_ref().map(|m| m.identity());
        identity(self) == identity(other)
    }
}

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
        pub(crate) maker: Maker = Maker::default(),
    }
}

fn is_true(value: &bool) -> bool {
    *value
}

impl OwnAqmSpec {
    /// Names its maker.
    pub fn set_maker(&mut self, maker: Arc<dyn OwnAqm>) {
        self.identity = Some(maker.identity());
        self.maker = Maker(Some(maker));
    }

    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Custom, Problem> {
        let Some(maker) = &self.maker.0 else {
            return Err(at.error(
                "name",
                &self.name,
                "no AQM of one's own is given under this name",
                "give its class: `--aqm NAME=MODULE:CLASS`, or `aqm={\"NAME\": CLASS}` in Python",
            ));
        };
        let queue = OwnQueue {
            rate: leaf.rate,
            limit: leaf.limit,
        };
        let made = maker.make(&self.with, &queue).map_err(|why| {
            let hint = "its settings are those that its class takes when it is made";
            at.error("with", &self.name, why, hint)
        })?;
        Ok(Custom::new(made, leaf.rate, self.ecn))
    }
}
