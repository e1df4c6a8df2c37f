//! Questions about single packets.

use serde::Deserialize;
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::explain::Question;

/// A question as front ends ask it: flows and links by index.
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

/// Names of the groups, and the question, from JSON.
///
/// # Errors
/// What is wrong with it, in words.
pub fn question(json: &str, world: &WorldPlan) -> Result<(Vec<String>, Question), String> {
    let asked: Asked = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let known = |index: &u32, len: usize| (*index as usize) < len;
    let flows = asked.groups.iter().flat_map(|(_, flows)| flows);
    if !flows.into_iter().all(|f| known(f, world.flows.len()))
        || !asked.at.iter().all(|l| known(l, world.links.len()))
    {
        return Err("there is no such flow or link".to_owned());
    }
    let (names, groups) = asked.groups.into_iter().unzip();
    let question = Question {
        groups,
        worst: asked.worst,
        drops: asked.drops,
        at: asked.at,
        number: asked.number,
        answers: asked.answers,
    };
    Ok((names, question))
}
