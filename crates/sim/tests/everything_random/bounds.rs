//! What no rate of a network may exceed, nor any share of a whole.

use proptest::prelude::*;
use spillgate_measure::table::{Key, Layout, Metric, Scope};
use spillgate_nodes::switch::SwitchPlan;
use spillgate_scenario::plan::{LinkPlan, Plan, WorldPlan};
use spillgate_sim::{Outcome, layout};

/// A rate at which each transmission, of 40 B at least, may end a picosecond early.
pub(crate) fn with_rounding(rate: f64) -> f64 {
    rate * (1.0 + 1e-12 * rate / 320.0)
}

/// Every share of a whole, of every scope, is from 0 to 1 or not defined, and so is what it could
/// have been.
pub(crate) fn every_share_is_of_its_whole(plan: &Plan, of: &Outcome) -> Result<(), TestCaseError> {
    let layout = layout(&plan.variants[0].world);
    // Sums of floating-point numbers are in Jain's index only.
    let is_share = |v: f64| v.is_nan() || (0.0..=1.0 + 1e-12).contains(&v);
    let key = |k: &Key| format!("{} {} {}", k.scope.name(), layout.name(k), k.metric.name());
    for (k, v) in layout.keys.iter().zip(&of.values) {
        prop_assert!(k.metric.unit() != "1" || is_share(*v), "{}: {v}", key(k));
    }
    for b in &of.bounds {
        let k = &layout.keys[b.at as usize];
        let fine = k.metric.unit() != "1" || is_share(b.low) && is_share(b.high);
        prop_assert!(fine, "{}: {} to {}", key(k), b.low, b.high);
    }
    Ok(())
}

/// What each link, each of its queues, its labels and the policy at its end carried, and what the
/// flows got whose last link it is.
pub(crate) fn no_rate_exceeds_its_line(plan: &Plan, of: &Outcome) -> Result<(), TestCaseError> {
    let world = &plan.variants[0].world;
    let layout = layout(world);
    let values: Vec<_> = layout.keys.iter().zip(&of.values).collect();
    for (number, link) in (0..).zip(&world.links) {
        // A packet across an edge of the period counts by its time on the link, not by the rate in
        // it.
        let edge = if link.server.is_some() {
            // The longest packet is 32 cells of ATM.
            2.0 * 32.0 * 424.0
        } else {
            0.0
        };
        let line = with_rounding(link.rate.bps() as f64);
        // What was late arrives beside what is not.
        let late = link
            .reorder
            .as_ref()
            .map_or(0.0, |r| line * r.by.as_secs_f64());
        let rate = line + (edge + late) / world.duration.as_secs_f64();
        for scope in [
            Scope::Link,
            Scope::Queue,
            Scope::Exp,
            Scope::Input,
            Scope::AtmPort,
        ] {
            let of_link =
                |name: &str| name == link.name || name.starts_with(&format!("{}/", link.name));
            let sum: f64 = values
                .iter()
                .filter(|(k, _)| {
                    k.scope == scope && k.metric == Metric::Carried && of_link(layout.name(k))
                })
                .map(|(_, v)| **v)
                .sum();
            // Of a sum of 2^52 parts none is off by more.
            prop_assert!(
                sum <= rate * (1.0 + 1e-12),
                "{} {}: {sum} b/s",
                scope.name(),
                link.name
            );
        }
        if !world.failures.is_empty() {
            continue;
        }
        // By what is on its way from queue to queue they may differ; the last link gives them no
        // more than a packet beyond its rate.
        let last = |f: &&spillgate_scenario::plan::FlowPlan| {
            world.routes[f.route as usize].last() == Some(&number) && !f.traffic.is_closed_loop()
        };
        let names: Vec<&str> = world.flows.iter().filter(last).map(|f| &*f.name).collect();
        let sum: f64 = values
            .iter()
            .filter(|(k, _)| {
                k.scope == Scope::Flow
                    && k.metric == Metric::Throughput
                    && names.contains(&layout.name(k))
            })
            .map(|(_, v)| **v)
            .sum();
        let packet = 12_000.0 / world.duration.as_secs_f64();
        let rate = rate * ip_per_byte(link);
        prop_assert!(sum <= rate + packet, "flows over {}: {sum} b/s", link.name);
    }
    for line in super::atm(world).into_iter().flat_map(|atm| &atm.lines) {
        let circuits = line.circuits.iter().map(|l| &world.links[*l as usize]);
        let names: Vec<&str> = circuits.clone().map(|l| &*l.name).collect();
        let carried = values.iter().filter(|(k, _)| {
            k.scope == Scope::Link && k.metric == Metric::Carried && names.contains(&layout.name(k))
        });
        let sum: f64 = carried.map(|(_, v)| **v).sum();
        let rate = circuits.map(|l| l.rate.bps()).max().unwrap_or(0);
        // A packet of each may lie across each edge of the period.
        let edges = names.len() as f64 * 2.0 * 32.0 * 424.0 / world.duration.as_secs_f64();
        let most = with_rounding(rate as f64) + edges;
        prop_assert!(sum <= most, "line {}: {sum} b/s", line.name);
    }
    for switch in world.switches() {
        no_rate_exceeds_the_fabric(world, switch, &values, &layout)?;
    }
    Ok(())
}

/// Bytes of IP for each byte that the link sends, at most: more than one where it compresses
/// headers.
fn ip_per_byte(link: &LinkPlan) -> f64 {
    let shrunk = |l: u16| f64::from(l) / f64::from(link.overhead.wire_len(l));
    (40..=1500).map(shrunk).fold(1.0, f64::max)
}

/// What crosses from each input, from each virtual output queue and to each output.
fn no_rate_exceeds_the_fabric(
    world: &WorldPlan,
    switch: &SwitchPlan,
    values: &[(&Key, &f64)],
    layout: &Layout,
) -> Result<(), TestCaseError> {
    let recipe = &switch.recipe;
    let carried = |scope, matches: &dyn Fn(&str) -> bool| -> f64 {
        let of = values.iter().filter(|(k, _)| {
            k.scope == scope && k.metric == Metric::Carried && matches(layout.name(k))
        });
        of.map(|(_, v)| **v).sum()
    };
    let name = |link: &u32| &*world.links[*link as usize].name;
    let of_outputs = |input: &str| carried(Scope::Voq, &|n| n.starts_with(&format!("{input}/")));
    let (num, den) = recipe.speedup().fraction();
    let fabric = with_rounding(recipe.line().bps() as f64) * num as f64 / den as f64;
    // A packet counts whole when it, or its last cell, begins to cross; on parallel links one from
    // each port.
    let packets = if recipe.is_crossbar() {
        1
    } else {
        recipe.ports()
    };
    let packet = 12_000.0 * packets as f64 / world.duration.as_secs_f64();
    for input in &switch.inputs {
        let sum = carried(Scope::SwitchInput, &|n| n == name(input));
        let most = fabric + packet;
        prop_assert!(
            sum <= most * (1.0 + 1e-12),
            "from {}: {sum} b/s",
            name(input)
        );
        if recipe.is_voq() {
            let voqs = of_outputs(name(input));
            prop_assert!((voqs - sum).abs() <= 1e-9 * sum, "VOQs: {voqs}, {sum}");
        }
    }
    for output in &switch.outputs {
        let end = format!("/{}", name(output));
        let crossed = carried(Scope::Voq, &|n| n.ends_with(&end));
        let most = fabric + packet;
        prop_assert!(
            crossed <= most * (1.0 + 1e-12),
            "to {}: {crossed} b/s",
            name(output)
        );
        let line = &world.links[*output as usize];
        if line.server.is_none() {
            let sent = carried(Scope::SwitchOutput, &|n| n == name(output));
            let most = with_rounding(line.rate.bps() as f64) * ip_per_byte(line)
                + 12_000.0 / world.duration.as_secs_f64();
            prop_assert!(sent <= most * (1.0 + 1e-12), "{}: {sent} b/s", name(output));
        }
    }
    Ok(())
}
