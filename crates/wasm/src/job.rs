//! A scenario, loaded, and its runs.

use std::path::Path;
use std::sync::Arc;

use spillgate_import::ConfigImporter;
use spillgate_output::{Report, describe, explanation};
use spillgate_scenario::plan::{Plan, VariantPlan};
use spillgate_scenario::{Diagnostics, load};
use spillgate_sim::{Engine, Observed, Sliced};
use wasm_bindgen::prelude::*;

use crate::ask::{self, Asked, Files};
use crate::fault::{bad_input, fault, json};
use crate::results::Results;
use crate::watch::Watch;

/// A scenario, loaded and checked, and its runs.
#[wasm_bindgen]
pub struct Job {
    plan: Arc<Plan>,
    sliced: Sliced,
}

#[wasm_bindgen]
impl Job {
    /// Loads a scenario from files; `asked` is a JSON object: `set` (a list of `path=value`),
    /// `seed`, `runs`, `variant`, and `memory`, the bytes that there are.
    ///
    /// # Errors
    /// Bad input.
    #[wasm_bindgen(constructor)]
    pub fn new(files: &Files, path: &str, asked: &str) -> Result<Self, JsValue> {
        let memory = Asked::parse(asked)?.memory;
        let options = ask::options(asked)?;
        let importer = ConfigImporter { strict: false };
        let loaded = load(Path::new(path), &files.0, &importer, &options);
        let plan = Arc::new(loaded.map_err(|e| bad_input(&e))?.plan);
        if let Some(problem) = memory.and_then(|bytes| plan.check_memory(1, bytes)) {
            return Err(bad_input(&Diagnostics(vec![problem])));
        }
        let sliced = Sliced::new(Engine::default(), Arc::clone(&plan), Observed::First);
        Ok(Self { plan, sliced })
    }

    /// What the scenario says.
    ///
    /// # Errors
    /// None that is known.
    pub fn describe(&self) -> Result<String, JsValue> {
        json(&describe(&self.plan))
    }

    /// Bytes that the runs may need.
    pub fn memory(&self) -> f64 {
        self.plan.memory_estimate(1) as f64
    }

    /// Goes on for so many events; whether there is more to do.
    ///
    /// # Errors
    /// Why a run failed.
    pub fn advance(&mut self, events: u32) -> Result<bool, JsValue> {
        self.sliced.advance(events.into()).map_err(fault)
    }

    /// Fraction done, runs done, runs in all, and events so far.
    pub fn progress(&self) -> Vec<f64> {
        let p = self.sliced.campaign().progress();
        vec![
            p.fraction,
            p.runs_done as f64,
            p.runs as f64,
            p.events as f64,
        ]
    }

    /// The results of the runs that are finished.
    pub fn results(&self) -> Results {
        let finished = self.sliced.campaign().finished();
        Results(Report::new(Arc::clone(&self.plan), finished))
    }

    /// Repeats one run and tells where delays went and why packets were dropped; question and
    /// answer are JSON.
    ///
    /// # Errors
    /// If the question is wrong.
    pub fn explain(&self, variant: usize, run: u32, question: &str) -> Result<String, JsValue> {
        let world = &self.variant(variant)?.world;
        let (names, question) = spillgate_documents::question(question, world).map_err(fault)?;
        let seed = self.plan.seed;
        let answer = spillgate_sim::explain::explain(world, seed, run, &question, &|| false);
        let answer = answer.ok_or_else(|| fault("the run ended early"))?;
        Ok(explanation(world, &names, &answer).to_string())
    }

    /// Begins one run of a variant, of which the port of a link is watched; at most `limit`
    /// happenings are recorded.
    ///
    /// # Errors
    /// If there is no such variant or link.
    pub fn watch(
        &self,
        variant: usize,
        run: u32,
        link: &str,
        limit: usize,
    ) -> Result<Watch, JsValue> {
        let world = &self.variant(variant)?.world;
        let number = world.links.iter().position(|l| l.name == link);
        let number = number.ok_or_else(|| fault(format!("there is no link {link:?}")))?;
        Ok(Watch::new(&self.plan, variant, run, number, limit))
    }
}

impl Job {
    fn variant(&self, index: usize) -> Result<&VariantPlan, JsValue> {
        let missing = || fault("there is no such variant");
        self.plan.variants.get(index).ok_or_else(missing)
    }
}
