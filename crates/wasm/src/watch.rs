//! A run at one port, in order.

use std::sync::Arc;

use spillgate_core::DropReason;
use spillgate_output::{Report, watch};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Finished, RunInfo};
use wasm_bindgen::prelude::*;

use crate::fault::fault;
use crate::results::Results;

/// A run that is being made while a port is watched.
#[wasm_bindgen]
pub struct Watch {
    plan: Arc<Plan>,
    info: RunInfo,
    link: usize,
    watch: watch::Watch,
}

impl Watch {
    pub(crate) fn new(
        plan: &Arc<Plan>,
        variant: usize,
        run: u32,
        link: usize,
        limit: usize,
    ) -> Self {
        let world = &plan.variants[variant].world;
        Self {
            plan: Arc::clone(plan),
            info: RunInfo { variant, run },
            link,
            watch: watch::Watch::new(world, plan.seed, run, link as u32, limit),
        }
    }
}

#[wasm_bindgen]
impl Watch {
    /// Goes on for so many events; whether there is more to do.
    pub fn advance(&mut self, events: u32) -> bool {
        self.watch.advance(events.into())
    }

    /// How much of the run is made, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.watch.fraction()
    }

    /// What has come of it; the run must be over.
    ///
    /// # Errors
    /// Why the run failed.
    pub fn finish(self) -> Result<Watched, JsValue> {
        let (outcome, recording) = self.watch.finish().map_err(fault)?;
        let world = &self.plan.variants[self.info.variant].world;
        let link = &world.links[self.link];
        let head = serde_json::json!({
            "link": link.name,
            "rate": link.rate.bps(),
            "variant": self.plan.variants[self.info.variant].name,
            "end": (world.warmup + world.duration).as_secs_f64(),
            "digest": outcome.digest,
            "classes": world.classes,
            "queues": link.discipline.leaf_names(),
            "flows": world.flows.iter().map(|f| &f.name).collect::<Vec<_>>(),
            "reasons": DropReason::ALL.iter().map(|r| r.label()).collect::<Vec<_>>(),
            "count": recording.len(),
            "leftOut": recording.left_out,
        });
        let finished = Finished {
            info: self.info,
            outcome: Arc::new(outcome),
        };
        Ok(Watched {
            head: head.to_string(),
            recording,
            report: Some(Report::new(self.plan, vec![finished])),
        })
    }
}

/// What happened at a port: columns of equal length, each to be taken once.
#[wasm_bindgen]
pub struct Watched {
    head: String,
    recording: watch::Recording,
    report: Option<Report>,
}

/// Gives a column away.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $of:ty,)+) => {
        #[wasm_bindgen]
        impl Watched {
            $($(#[$doc])* pub fn $name(&mut self) -> Vec<$of> {
                std::mem::take(&mut self.recording.$name)
            })+
        }
    };
}

columns! {
    /// When, in seconds since the start of the run.
    time: f64,
    /// What: 0 arrives, 1 leaves, 2 dropped, 3 marked.
    kind: u8,
    /// The packet, numbered in the order of arrival at the port.
    packet: u32,
    /// Its flow.
    flow: u32,
    /// Its class of service.
    class: u16,
    /// Its queue.
    queue: u16,
    /// Its length in bytes, as the port counts it.
    bytes: u32,
    /// When its transmission ends, in seconds; NaN if it does not leave.
    until: f64,
    /// How long it has waited, in seconds; NaN if it does not leave.
    wait: f64,
    /// Why it is dropped, as place in `reasons`; 255 if it is not.
    reason: u8,
    /// The average queue of its AQM, in packets; NaN where there is none.
    average: f64,
    /// The probability of its AQM; NaN where there is none.
    probability: f64,
}

#[wasm_bindgen]
impl Watched {
    /// What it is of, as a JSON object: `link`, `rate` in b/s, `variant`, `end` in seconds,
    /// `digest`, `classes`, `queues`, `flows`, `reasons`, `count`, `leftOut`.
    pub fn head(&self) -> String {
        self.head.clone()
    }

    /// The results of the run; to be taken once.
    pub fn results(&mut self) -> Option<Results> {
        self.report.take().map(Results)
    }
}
