//! Lowers a scenario to a plan: references become ids, defaults are filled in, and contradictions
//! are reported with their places.

mod admissible;
mod atm;
mod backlogged;
mod captures;
mod columns;
mod ends;
mod failures;
mod flows;
mod holding;
mod horizon;
mod inputs;
mod irregular;
mod links;
mod longest;
mod matrix;
mod mpls;
mod nodes;
mod offered;
mod paths;
mod pattern;
mod period;
mod policies;
mod promised;
mod replication;
mod rings;
mod rows;
mod sla;
mod traffic;
mod unlimited;
mod voice;
mod watched;

pub(crate) use failures::{Ends, ends_of_links};
pub(crate) use nodes::GroupNames;
pub(crate) use period::runs;
pub(crate) use policies::{Shared, unused_policies};
pub(crate) use replication::replication;
pub(crate) use sla::sla;

use std::collections::BTreeMap;

use spillgate_nodes::stage::{Network, StagePlan, Stages};
use spillgate_queueing::spec::DisciplineSpec;

use failures::Failures;
use links::{Draft, Links};
use nodes::Nodes;
use paths::Paths;

use crate::codes;
use crate::ctx::Ctx;
use crate::de::repeated;
use crate::error::Diagnostic;
use crate::load::{LinkPolicy, PortPolicies};
use crate::node::{Node, Step, steps};
use crate::plan::{LinkPlan, VariantPlan, WorldPlan};
use crate::schema::{Scenario, VerdictsSpec};
use spillgate_core::suggest::{did_you_mean, list};

/// Lowers one variant; none only after an error was reported.
pub(crate) fn world(
    ctx: &mut Ctx<'_>,
    shared: &mut Shared,
    scenario: &Scenario,
    root: &Node,
) -> Option<WorldPlan> {
    let mut nodes = Nodes::read(ctx, scenario, root);
    let links = Links::read(ctx, scenario, root, &nodes);
    let mut policies = policies::gather(ctx, scenario, root);
    if !policies::check_sizes(ctx, root, &policies) {
        return None;
    }
    inputs::name_links(ctx, scenario, root, &mut policies, &links);
    let attached = policies::attach(ctx, scenario, root, &policies, &links);
    let inputs = inputs::attach(ctx, scenario, root, &policies, &links);
    inputs::register(shared, &inputs);
    let recipes = policies::resolve(ctx, shared, (scenario, root), &policies, &attached, &links);
    let (mut rows, all_read) = rows::collect(ctx, scenario, root);
    let times = period::measurement(ctx, scenario, root)?;
    let failures = Failures::read(ctx, scenario, root, &links, &times);
    let irregular = irregular::read(ctx, root, &links, &times);
    let drafts = links.drafts()?;
    let mut reading = holding::Reading {
        ctx: &mut *ctx,
        shared,
        root,
        nodes: &nodes,
        links: &links,
        drafts: &drafts,
        policies: &policies,
        recipes: &recipes,
    };
    let (holding, written) = (reading.holding(), reading.stages(scenario));
    let mut edges = links::edges(&drafts);
    atm::set_far_ends(ctx, root, &nodes, &links, &mut edges);
    let ends = ends::all(ctx, root, &mut rows, &nodes, scenario.runs.seed);
    let mut paths = Paths::new(nodes.names.len(), edges.clone());
    let mut lowered = flows::lower(ctx, root, &rows, &ends, &mut paths, &nodes, &times)?;
    voice::attach(ctx, scenario, root, &rows, &mut lowered);
    let flows::Lowered { flows, classes } = lowered;
    // A class may seem to be unknown because its rows could not be read.
    if !all_read {
        return None;
    }
    let failures = failures?;
    inputs::check_set_tags(ctx, root, &policies, &attached, &links);
    inputs::check_tags(ctx, root, &policies, &inputs, &drafts);
    let mpls = written.iter().find_map(StagePlan::mpls);
    let labels = mpls::Labels::new(mpls, &edges, &paths.all);
    labels.check_flows(ctx, root, &flows, &nodes);
    policies::check_labels(ctx, scenario, root, &policies, &links, |l| labels.inside(l));
    labels.check_classes(ctx, root, &policies, &attached, &links);
    if ctx.is_fine() {
        failures.warn_of_islands(ctx, scenario, root, &mut paths, &flows, &times);
    }
    let rings = rings::Rings::read(ctx, scenario, root, &policies);
    let finish = |l: Draft<'_>| l.finish(&recipes, &rings, &irregular);
    let finished: Vec<LinkPlan> = drafts.into_iter().map(finish).collect();
    let failures = failures.into_plan();
    let inputs = inputs.into_iter();
    let inputs = inputs.map(|(id, input)| Box::new(input.on(id, &finished[id as usize])).into());
    let joins: Vec<(u32, u32)> = finished.iter().map(|l| (l.from, l.to)).collect();
    let network = Network {
        ends: &joins,
        routes: &paths.all,
        looked_up: !failures.is_empty(),
        watched: false,
    };
    let stages = Stages::new(inputs.chain(written).collect(), &network);
    let mut world = WorldPlan {
        nodes: std::mem::take(&mut nodes.names),
        holding: holding.into(),
        stages,
        links: finished,
        routes: paths.all,
        failures,
        reroute: Failures::reroute(scenario),
        flows,
        patterns: ends::patterns(&rows, &ends),
        classes,
        sites: Vec::new(),
        warmup: times.warmup,
        auto_warmup: times.auto,
        grace: times.grace,
        duration: times.duration,
        interval: times.interval,
        watched: Vec::new(),
        watched_nodes: Vec::new(),
        gaps: times.gaps,
        backlog_percentiles: times.backlog_percentiles,
    };
    atm::join(ctx, scenario, root, &nodes, &links, &mut world);
    watched::set(ctx, (scenario, root), (&links, &nodes), &mut world);
    longest::check(ctx, root, &policies, &world);
    promised::check(ctx, root, &policies, &world);
    admissible::check(ctx, root, &nodes, &world);
    backlogged::check(ctx, root, &rows, &world);
    unlimited::check(ctx, root, &links, &world);
    horizon::check(ctx, root, &rows, &world);
    Some(world)
}

/// The policies of a variant and the links that have them.
pub(crate) fn ports(
    ctx: &mut Ctx<'_>,
    variant: &str,
    scenario: &Scenario,
    root: &Node,
) -> PortPolicies {
    let nodes = Nodes::read(ctx, scenario, root);
    let links = Links::read(ctx, scenario, root, &nodes);
    let policies = policies::gather(ctx, scenario, root);
    let attached = policies::attach(ctx, scenario, root, &policies, &links);
    let inputs = inputs::attach(ctx, scenario, root, &policies, &links);
    let with_policy = attached.iter().filter_map(|(link, a)| {
        let spec = links.find(link)?.entry.spec;
        let line = links::line(scenario, spec, spec.policy_rate(), a.counting);
        Some(LinkPolicy {
            link: link.clone(),
            policy: a.policy.clone(),
            line,
            overhead: spec.counted(),
            dot1q: spec.dot1q,
            atm: spec.atm.as_deref().cloned(),
            tx_ring: spec.tx_ring.map(|ring| ring.0),
        })
    });
    PortPolicies {
        variant: variant.to_owned(),
        links: with_policy.collect(),
        inputs: inputs::by_interface(inputs, &links),
        originals: policies.originals(),
        policies: policies.into_all(),
    }
}

/// Every policy, with the names of links where classes say over what packets come in.
pub(crate) fn policies_with_links(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
) -> BTreeMap<String, DisciplineSpec> {
    let nodes = Nodes::read(ctx, scenario, root);
    let links = Links::read(ctx, scenario, root, &nodes);
    let mut policies = policies::gather(ctx, scenario, root);
    inputs::name_links(ctx, scenario, root, &mut policies, &links);
    policies.into_all()
}

/// The point with which each point is compared: it has the same coordinates and the variant that
/// the scenario names, or the first variant. Without variants it is the first point. None after an
/// error.
pub(crate) fn against(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    points: &[VariantPlan],
) -> Option<Vec<usize>> {
    let names = || scenario.variants.iter().map(|v| v.name.as_str());
    let named = scenario.verdicts.against.as_ref();
    let Some(name) = named.filter(|_| !compares_all(scenario)) else {
        return Some(same_coordinates(points, names().next()));
    };
    if names().any(|n| n == name) {
        return Some(same_coordinates(points, Some(name)));
    }
    let hint = match scenario.variants.len() {
        0 => "there are no `variants` to compare".to_owned(),
        _ => format!("variants: {}; or `all`: every two of them", list(names())),
    };
    let message = format!(
        "there is no variant `{name}`{}",
        did_you_mean(name, names())
    );
    let d = Diagnostic::error(codes::UNKNOWN_VARIANT, message).hint(hint);
    ctx.error(d, root, &steps!["verdicts", "against"]);
    None
}

/// Whether every two variants are compared: a variant may be called `all`, too.
pub(crate) fn compares_all(scenario: &Scenario) -> bool {
    let all = VerdictsSpec::ALL;
    scenario.verdicts.against.as_deref() == Some(all)
        && !scenario.variants.iter().any(|v| v.name == all)
}

/// Refuses a level of verdicts at which they would say nothing.
pub(crate) fn level(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) {
    if !(0.5..1.0).contains(&scenario.verdicts.level.0) {
        let d = Diagnostic::error(codes::BAD_BOUND, "a level of no use")
            .hint("at least 50 % and below 100 %");
        ctx.error(d, root, &steps!["verdicts", "level"]);
    }
}

/// For each point, the point of the given variant with the same coordinates.
fn same_coordinates(points: &[VariantPlan], variant: Option<&str>) -> Vec<usize> {
    let Some(variant) = variant else {
        return vec![0; points.len()];
    };
    let of_variant = points
        .iter()
        .enumerate()
        .filter(|(_, p)| p.variant == variant);
    let places: BTreeMap<_, usize> = of_variant.map(|(i, p)| (&p.coordinates, i)).collect();
    let found = points.iter().map(|p| places.get(&p.coordinates));
    found.map(|i| i.copied().unwrap_or_default()).collect()
}

/// Checks that names of variants differ.
pub(crate) fn variant_names(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) -> bool {
    let before = ctx.is_fine();
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
    before == ctx.is_fine()
}

/// Why a name cannot be shown in a table, if so.
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

/// Whether a name can be shown in a table; reported otherwise.
pub(crate) fn check_name(
    ctx: &mut Ctx<'_>,
    name: &str,
    what: &str,
    root: &Node,
    path: &[Step],
) -> bool {
    let problem = bad_name(name);
    if let Some(problem) = problem {
        let d = Diagnostic::error(
            codes::BAD_NAME,
            format!("the name of this {what} {problem}"),
        )
        .hint("write a short text such as `voice`");
        ctx.error(d, root, path);
    }
    problem.is_none()
}
