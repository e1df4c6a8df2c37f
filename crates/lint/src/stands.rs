//! Where the policies of a scenario stand: ports, receiving ends of links, and switches.

use std::collections::BTreeSet;

use spillgate_queueing::Enclosing;
use spillgate_scenario::plan::{NO_POLICY, WorldPlan};

use crate::traffic::Attachment;

/// Of a thousand access links a few dozen say what their traffic is like.
pub(crate) const LOOKED_AT: usize = 32;

/// A policy at a rate, where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    pub(crate) policy: String,
    /// What it divides, and for which line it is made.
    pub(crate) around: Enclosing,
    /// Packets arrive at a node; nothing waits.
    pub(crate) arrival: bool,
    /// Each place, and its name; the first [`LOOKED_AT`] of them.
    pub(crate) spots: Vec<(Attachment, String)>,
    /// Whether there are more.
    pub(crate) more: bool,
}

/// Every place of a policy in a world, those with the same policy and rate together. Every key of a
/// scenario that names a policy of packets is here; policies inside classes are in the policies.
pub(crate) fn all(world: &WorldPlan) -> Vec<Stand> {
    let mut all: Vec<Stand> = Vec::new();
    let mut add =
        |policy: &str, arrival: bool, around: Enclosing, spot: Attachment, whose: &str| {
            let alike =
                |s: &&mut Stand| s.policy == policy && s.arrival == arrival && s.around == around;
            match all.iter_mut().find(alike) {
                Some(stand) if stand.spots.len() < LOOKED_AT => {
                    stand.spots.push((spot, whose.to_owned()));
                }
                Some(stand) => stand.more = true,
                None => all.push(Stand {
                    policy: policy.to_owned(),
                    around,
                    arrival,
                    spots: vec![(spot, whose.to_owned())],
                    more: false,
                }),
            }
        };
    for (id, link) in (0_u32..).zip(&world.links) {
        let line = link.discipline.line().filter(|_| link.policy != NO_POLICY);
        if let Some(line) = line {
            let whose = format!("link {}", link.name);
            add(
                &link.policy,
                false,
                line.into(),
                Attachment::Port(id),
                &whose,
            );
        }
        if let Some(input) = world.stages.input(id) {
            let whose = format!("what arrives over link {}", link.name);
            let around = input.recipe.line().into();
            add(&input.policy, true, around, Attachment::Arrival(id), &whose);
        }
    }
    for switch in world.switches() {
        let Some(policy) = &switch.spec.policy else {
            continue;
        };
        let whose = format!("the inputs of {}", world.nodes[switch.node as usize]);
        let around: Enclosing = switch.recipe.line().into();
        let crossed: BTreeSet<(u32, u32)> = world
            .routes
            .iter()
            .flat_map(|r| r.windows(2))
            .filter(|w| switch.inputs.contains(&w[0]) && switch.outputs.contains(&w[1]))
            .map(|w| (w[0], w[1]))
            .collect();
        for (i, o) in crossed {
            add(policy, false, around, Attachment::Crossing(i, o), &whose);
        }
    }
    all
}
