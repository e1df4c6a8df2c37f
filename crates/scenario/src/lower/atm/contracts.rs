//! Contracts of circuits that no policer or shaper enforces, that packets cannot conform to, or
//! that guarantee more than a line carries.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Rate, aal5};
use spillgate_nodes::atm::{AtmSwitchPlan, CellPolice, Contract};
use spillgate_nodes::server::ServerPlan;

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::lower::links::Links;
use crate::node::{Node, Step, steps};
use crate::plan::WorldPlan;
use crate::suggest::list;

/// The lines that circuits take.
struct Ways<'a> {
    world: &'a WorldPlan,
    /// For each circuit, by its link: the links after switches that its cells take.
    over: BTreeMap<u32, BTreeSet<u32>>,
}

impl<'a> Ways<'a> {
    fn new(world: &'a WorldPlan) -> Self {
        let mut over: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for route in &world.routes {
            let mut circuit = None;
            for link in route {
                // The reverse direction of a circuit has its contract too, and is a line of the
                // switch.
                let is_line = switch(world, *link).is_some();
                if !is_line {
                    circuit = contract(world, *link).map(|_| *link);
                }
                if let Some(circuit) = circuit.filter(|_| is_line) {
                    over.entry(circuit).or_default().insert(*link);
                }
            }
        }
        Self { world, over }
    }

    /// The switches whose ports a circuit crosses.
    fn switches(&self, circuit: u32) -> impl Iterator<Item = &'a AtmSwitchPlan> {
        let over = self.over.get(&circuit).into_iter().flatten();
        let world = self.world;
        over.filter_map(move |l| switch(world, *l))
    }
}

/// The contract of a link that is a circuit.
fn contract(world: &WorldPlan, link: u32) -> Option<&Contract> {
    match world.links[link as usize].server.as_deref() {
        Some(ServerPlan::Cells(circuit)) => Some(&circuit.contract),
        _ => None,
    }
}

/// The ATM switch that a link leaves.
fn switch(world: &WorldPlan, link: u32) -> Option<&AtmSwitchPlan> {
    all_switches(world).find(|s| s.outputs.contains(&link))
}

fn all_switches(world: &WorldPlan) -> impl Iterator<Item = &AtmSwitchPlan> {
    world.atm().into_iter().flat_map(|atm| &atm.switches)
}

/// Warns of all such contracts.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, links: &Links<'_>, world: &WorldPlan) {
    let ways = Ways::new(world);
    check_effect(ctx, root, links, &ways);
    check_frames(ctx, root, links, world);
    check_sums(ctx, root, links, &ways);
}

/// Warns of contracts and minimum rates without effect.
fn check_effect(ctx: &mut Ctx<'_>, root: &Node, links: &Links<'_>, ways: &Ways<'_>) {
    for (name, spec) in links.specs() {
        let Some(atm) = &spec.atm else { continue };
        let Some(named) = links.find(name) else {
            continue;
        };
        let ids: Vec<u32> = named.ids().collect();
        let Some(contract) = ids.first().and_then(|id| contract(ways.world, *id)) else {
            continue;
        };
        let polices = ids.iter().any(|id| {
            let to = ways.world.links[*id as usize].to;
            let mut switches = all_switches(ways.world);
            switches.any(|s| s.node == to && s.spec.police != CellPolice::None)
        });
        let mut switches = ids.iter().flat_map(|id| ways.switches(*id));
        let serves = atm.line.is_some() || switches.any(|s| s.recipe.goes_by_category());
        let mut warn = |message: &str, hint: &str| {
            let d = Diagnostic::warning(codes::W_ATM, message).hint(hint);
            let at = steps!["topology", "links", name, "atm", "contract"];
            ctx.warn(d, root, &at);
        };
        if !atm.shaped && atm.contract != Default::default() && !polices && !serves {
            warn(
                "the circuit is not shaped, and nobody polices it: its contract has no effect",
                "leave out `shaped: false`, or let it end at an ATM switch with `police`",
            );
        } else if contract.minimum_rate().is_some()
            && !serves
            && !(polices && contract.frames().is_some())
        {
            warn(
                "no line on the way of the circuit gives it its minimum rate, which has no effect",
                "write `service: priority` at a switch with `queues: per-vc`, `line` for one that circuits share, or leave the minimum out",
            );
        }
    }
}

/// Warns of packets whose frames are longer than the maximum of GFR.
fn check_frames(ctx: &mut Ctx<'_>, root: &Node, links: &Links<'_>, world: &WorldPlan) {
    for (name, spec) in links.specs() {
        let Some(named) = links.find(name) else {
            continue;
        };
        let ids: Vec<u32> = named.ids().collect();
        let frames = ids.first().and_then(|id| contract(world, *id)?.frames());
        let Some((_, mfs)) = frames else { continue };
        let crosses = |route: u32| world.routes[route as usize].iter().any(|l| ids.contains(l));
        let cells = |len: u16| spec.counted().wire_len(len) / aal5::CELL;
        let too_long = world.flows.iter().filter(|f| {
            let (forth, back) = f.traffic.longest();
            let ways = [(Some(f.route), forth), (f.back, back)];
            ways.into_iter()
                .any(|(route, len)| cells(len) > mfs && route.is_some_and(crosses))
        });
        let names: Vec<&str> = too_long.map(|f| &*f.name).collect();
        if names.is_empty() {
            continue;
        }
        let d = Diagnostic::warning(
            codes::W_ATM,
            format!(
                "frames are longer than {mfs} cells, the maximum of the contract, and do not conform: {}",
                list(names.into_iter())
            ),
        )
        .hint("write a larger `mfs`, or send shorter packets");
        let at = steps!["topology", "links", name, "atm", "contract", "gfr", "mfs"];
        ctx.warn(d, root, &at);
    }
}

/// Warns of lines whose circuits are guaranteed more than the line carries. The admission control
/// of a network would refuse them.
fn check_sums(ctx: &mut Ctx<'_>, root: &Node, links: &Links<'_>, ways: &Ways<'_>) {
    let mut promised: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
    for (circuit, over) in &ways.over {
        let Some(rate) = contract(ways.world, *circuit).and_then(Contract::guaranteed) else {
            continue;
        };
        for line in over {
            let (sum, circuits) = promised.entry(*line).or_default();
            *sum = sum.saturating_add(rate.bps());
            *circuits += 1;
        }
    }
    let mut said = BTreeSet::new();
    for (line, (sum, circuits)) in promised {
        let link = &ways.world.links[line as usize];
        let Some(sum) = Rate::from_bps(sum).filter(|sum| *sum > link.rate) else {
            continue;
        };
        // The first of several equal links stands for all.
        let Some(named) = links.find_way(&link.name) else {
            continue;
        };
        let name = named.base();
        if !said.insert(name) {
            continue;
        }
        let message = format!(
            "{circuits} circuits over `{}` are guaranteed {sum} together, and the line carries {}",
            link.name, link.rate
        );
        let d = Diagnostic::warning(codes::W_PROMISES, message)
            .hint("a network would not admit them all; lower PCR of CBR, SCR of VBR or the minimum rates, or raise `rate`");
        let at: Vec<Step> = steps!["topology", "links", name, "rate"].to_vec();
        ctx.warn(d, root, &at);
    }
}
