//! The switches of a scenario.

use serde::Serialize;
use spillgate_scenario::plan::{CellSwitchPlan, SwitchPlan, WorldPlan};

/// A switch, in base units.
#[derive(Clone, Debug, Serialize)]
pub struct SwitchDescription {
    /// Its name.
    pub name: String,
    /// Where it queues packets, in the word of the scenario.
    pub architecture: String,
    /// How many inputs and outputs it has.
    pub ports: usize,
    /// The rate of a line in b/s.
    pub line_rate: u64,
    /// How many times faster than a line its fabric is; none where packets cross at once.
    pub speedup: Option<String>,
    /// What carries packets to the outputs, in words.
    pub fabric: String,
    /// How much may wait at inputs, and what that is of; none without limit.
    pub buffer: Option<String>,
    /// The policy of its virtual output queues.
    pub policy: Option<String>,
    /// Weight of what waits at inputs in the congestion measure of the outputs; 0 without.
    pub nu: f64,
    /// The links at its inputs, in their order.
    pub inputs: Vec<String>,
    /// The links at its outputs, in their order.
    pub outputs: Vec<String>,
}

/// The switches of a world.
pub(super) fn describe(world: &WorldPlan) -> Vec<SwitchDescription> {
    let names = |links: &[u32]| -> Vec<String> {
        let name = |l: &u32| world.links[*l as usize].name.clone();
        links.iter().map(name).collect()
    };
    let one = |s: &SwitchPlan| {
        let (spec, recipe) = (&s.spec, &s.recipe);
        let buffer = spec.buffer.as_ref();
        SwitchDescription {
            name: world.nodes[s.node as usize].clone(),
            architecture: spec.architecture.name().to_owned(),
            ports: recipe.ports(),
            line_rate: recipe.line().bps(),
            speedup: recipe.queues_inputs().then(|| recipe.speedup().to_string()),
            fabric: recipe.fabric_in_words(),
            buffer: buffer.map(|b| format!("{} {}", b.limit, b.per.in_words())),
            policy: spec.policy.clone(),
            nu: recipe.nu(),
            inputs: names(&s.inputs),
            outputs: names(&s.outputs),
        }
    };
    world.switches.iter().map(one).collect()
}

/// An ATM switch.
#[derive(Clone, Debug, Serialize)]
pub struct AtmSwitchDescription {
    /// Its name.
    pub name: String,
    /// How many output ports it has.
    pub ports: usize,
    /// Cells that a queue holds.
    pub buffer: u32,
    /// Which cells wait in one queue.
    pub queues: &'static str,
    /// Which of them sends next.
    pub service: &'static str,
    /// What is lost when there is no room, with its thresholds.
    pub discard: String,
    /// What becomes of cells that do not conform.
    pub police: &'static str,
    /// How frames are put together behind it.
    pub reassembly: &'static str,
}

/// The ATM switches of a world.
pub(super) fn describe_atm(world: &WorldPlan) -> Vec<AtmSwitchDescription> {
    let one = |s: &CellSwitchPlan| AtmSwitchDescription {
        name: world.nodes[s.node as usize].clone(),
        ports: s.outputs.len(),
        buffer: s.spec.buffer,
        queues: s.spec.queues.word(),
        service: s.spec.service_in_words(),
        discard: s.spec.discard_in_words(),
        police: s.police.word(),
        reassembly: s.reassembly.word(),
    };
    world.cell_switches.iter().map(one).collect()
}
