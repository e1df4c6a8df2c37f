//! Questions about single packets.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::explain::Question;

/// A question as Python asks it: flows and links by index.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Names of the groups, and their flows.
    groups: Vec<(String, Vec<u32>)>,
    worst: usize,
    drops: usize,
    at: Option<u32>,
    number: Option<u32>,
    answers: bool,
}

/// Names of the groups, and the question.
pub(crate) fn question(json: &str, world: &WorldPlan) -> PyResult<(Vec<String>, Question)> {
    let asked: Asked =
        serde_json::from_str(json).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let known = |index: &u32, len: usize| (*index as usize) < len;
    let flows = asked.groups.iter().flat_map(|(_, flows)| flows);
    if !flows.into_iter().all(|f| known(f, world.flows.len()))
        || !asked.at.iter().all(|l| known(l, world.links.len()))
    {
        return Err(PyValueError::new_err("there is no such flow or link"));
    }
    let (names, groups) = asked.groups.into_iter().unzip();
    Ok((
        names,
        Question {
            groups,
            worst: asked.worst,
            drops: asked.drops,
            at: asked.at,
            number: asked.number,
            answers: asked.answers,
        },
    ))
}
