//! From a scenario to what runs: references become ids, defaults are filled
//! in, and what makes no sense is reported with its place.

mod flows;
mod paths;
mod period;
mod policies;
mod rows;
mod sla;
mod topology;

use std::collections::BTreeMap;

pub(crate) use period::runs;
pub(crate) use policies::{Shared, unused_policies};
pub(crate) use sla::sla;

use paths::Paths;
use spillgate_core::Dur;

use crate::codes;
use crate::ctx::Ctx;
use crate::de::repeated;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::WorldPlan;
use crate::schema::Scenario;

/// Ids by name.
type Ids<'a> = BTreeMap<&'a str, u32>;

/// Lowers one variant; none only after an error was reported.
pub(crate) fn world(
    ctx: &mut Ctx<'_>,
    shared: &mut Shared,
    scenario: &Scenario,
    root: &Node,
) -> Option<WorldPlan> {
    let nodes = topology::nodes(ctx, scenario, root);
    let policies = policies::gather(ctx, scenario, root);
    let links = topology::links(ctx, scenario, root, &nodes);
    let attached = policies::attach(ctx, scenario, root, &policies);
    let recipes = policies::resolve(ctx, shared, root, &policies, &attached, scenario);
    let (rows, all_read) = rows::collect(ctx, scenario, root);
    let times = period::measurement(ctx, scenario, root);
    let (Some(links), Some(times)) = (links, times) else {
        return None;
    };
    let ends = flows::ends(ctx, root, &rows, &nodes);
    let mut paths = Paths::new(scenario.topology.nodes.len(), topology::edges(&links));
    let flows::Lowered { flows, classes } =
        flows::lower(ctx, root, &rows, &ends, &mut paths, &nodes, &times)?;
    // A class may seem unknown because its rows could not be read.
    if !all_read {
        return None;
    }
    let links = links.into_iter().map(|l| l.finish(&recipes)).collect();
    Some(WorldPlan {
        nodes: scenario.topology.nodes.clone(),
        links,
        routes: paths.all,
        failures: Vec::new(),
        reroute: Dur::ZERO,
        flows,
        classes,
        warmup: times.warmup,
        duration: times.duration,
        interval: times.interval,
    })
}

/// Names of variants must differ.
pub(crate) fn variant_names(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) {
    for (i, variant) in scenario.variants.iter().enumerate() {
        check_name(
            ctx,
            &variant.name,
            "variant",
            root,
            &steps!["variants", i, "name"],
        );
    }
    let names = scenario.variants.iter().map(|v| v.name.as_str());
    for (i, name) in repeated(names) {
        let d = Diagnostic::error(
            codes::DUPLICATE_NAME,
            format!("two variants are called `{name}`"),
        )
        .hint("give each variant a name of its own");
        ctx.error(d, root, &steps!["variants", i, "name"]);
    }
}

/// What is wrong with a name, if anything: it must be something that a table can show.
fn bad_name(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("is empty")
    } else if name.chars().any(char::is_control) {
        Some("contains a control character")
    } else if name.trim() != name {
        Some("begins or ends with a space")
    } else {
        None
    }
}

fn check_name(ctx: &mut Ctx<'_>, name: &str, what: &str, root: &Node, path: &[Step]) {
    if let Some(problem) = bad_name(name) {
        let d = Diagnostic::error(
            codes::BAD_NAME,
            format!("the name of this {what} {problem}"),
        )
        .hint("write a short text such as `voice`");
        ctx.error(d, root, path);
    }
}
