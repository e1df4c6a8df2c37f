//! Parts of a policy that are given beside a scenario and named in it like any other.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use spillgate_core::{Limit, Problem, Rate};

use crate::custom::{CustomDiscipline, CustomEngine};
use crate::recipe::At;
use crate::spec::Scope;

/// What makes a part of one's own where a scenario names it: an AQM ([`crate::CustomAqm`]) or a
/// scheduler ([`CustomDiscipline`]).
pub trait OwnPart<T: ?Sized>: Send + Sync {
    /// What tells its results from those of another: a stored run is used again only if this is the
    /// same.
    fn identity(&self) -> String;

    /// One for a queue, in its initial state, with the settings that the scenario writes.
    ///
    /// # Errors
    /// Why there is none with these settings, in a sentence without a period.
    fn make(&self, settings: &Map<String, Value>, queue: &OwnQueue) -> Result<Box<T>, String>;
}

/// The queue for which a part of one's own is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnQueue {
    /// The rate that the queue is guaranteed; that of the port for a scheduler.
    pub rate: Rate,
    /// What it holds at most; none for a scheduler, which limits itself.
    pub limit: Option<Limit>,
}

/// The maker of a part of one's own, once it is known.
pub(crate) struct Maker<T: ?Sized>(pub(crate) Option<Arc<dyn OwnPart<T>>>);

impl<T: ?Sized> Maker<T> {
    /// A part with these settings, which the scenario calls `name`. `kind`: what it is, with the
    /// option that gives one.
    pub(crate) fn make(
        &self,
        (kind, option): (&str, &str),
        name: &str,
        settings: &Map<String, Value>,
        queue: &OwnQueue,
        at: &At<'_>,
    ) -> Result<Box<T>, Problem> {
        let Some(maker) = &self.0 else {
            let message = format!("no {kind} of one's own is given under this name");
            let hint = format!(
                "give its class: `--{option} NAME=MODULE:CLASS`, or `{option}={{\"NAME\": CLASS}}` in Python"
            );
            return Err(at.error("name", name, message, hint));
        };
        maker.make(settings, queue).map_err(|why| {
            let hint = "its settings are those that its class takes when it is made";
            at.error("with", name, why, hint)
        })
    }

    fn identity(&self) -> Option<String> {
        self.0.as_ref().map(|maker| maker.identity())
    }
}

impl<T: ?Sized> Clone for Maker<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> fmt::Debug for Maker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.identity().as_deref().unwrap_or("unknown"))
    }
}

impl<T: ?Sized> PartialEq for Maker<T> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

spillgate_core::spec! {
    /// A scheduler of one's own.
    pub struct OwnSchedulerSpec {
        /// The name under which it is given beside the scenario.
        pub name: String = String::new(),
        /// Its settings; it is made with them.
        #[serde(skip_serializing_if = "Map::is_empty")]
        pub with: Map<String, Value> = Map::new(),
        /// What it is, which is known when the scenario is read.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub identity: Option<String> = None,
        /// Who makes it.
        #[serde(skip)]
        pub(crate) maker: Maker<dyn CustomDiscipline> = Maker(None),
    }
}

impl OwnSchedulerSpec {
    /// Names its maker.
    pub fn set_maker(&mut self, maker: Arc<dyn OwnPart<dyn CustomDiscipline>>) {
        self.identity = Some(maker.identity());
        self.maker = Maker(Some(maker));
    }

    pub(crate) fn engine(
        &self,
        at: &mut At<'_>,
        scope: &Scope<'_>,
    ) -> Result<CustomEngine, Problem> {
        let queue = OwnQueue {
            rate: scope.line.rate,
            limit: None,
        };
        let kind = ("scheduler", "scheduler");
        let made = self.maker.make(kind, &self.name, &self.with, &queue, at)?;
        Ok(CustomEngine::new(made))
    }
}
