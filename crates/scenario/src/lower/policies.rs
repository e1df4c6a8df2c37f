//! Policies: from the scenario and from router configurations, attached to
//! links and resolved for their rates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spillgate_core::Problem;
use spillgate_core::{Cells, Overhead, Rate};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Counting, Line, Recipe, Sizes};

use super::links::{self, Links};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::import::Imported;
use crate::node::{Key, Node, Step, Value, steps};
use crate::originals::Originals;
use crate::schema::Scenario;
use spillgate_core::suggest::{did_you_mean, list};

/// Every policy of a scenario.
#[derive(Default)]
pub(super) struct Policies {
    pub(super) all: BTreeMap<String, DisciplineSpec>,
    /// The policies of configurations, each with the index of its configuration.
    pub(super) imported: BTreeMap<String, usize>,
    /// The configurations with their indices.
    pub(super) configs: Vec<(usize, Arc<Imported>)>,
}

impl Policies {
    /// A policy by its name.
    pub(super) fn get(&self, name: &str) -> Option<&DisciplineSpec> {
        self.all.get(name)
    }

    /// That there is no policy of a name.
    pub(super) fn unknown(&self, name: &str) -> Diagnostic {
        let names = || self.all.keys().map(String::as_str);
        let near = did_you_mean(name, names());
        let message = format!("there is no policy `{name}`{near}");
        Diagnostic::error(codes::UNKNOWN_POLICY, message)
            .hint(format!("policies: {}", list(names())))
    }

    /// The texts of the configurations, as written.
    pub(super) fn originals(&self) -> Vec<Originals> {
        let all = self.configs.iter();
        all.map(|(_, imported)| imported.originals.clone())
            .collect()
    }

    /// All policies by name.
    pub(super) fn into_all(self) -> BTreeMap<String, DisciplineSpec> {
        self.all
    }
}

/// State that all variants share.
#[derive(Default)]
pub(crate) struct Shared {
    /// The policies that some link of some variant uses.
    pub(super) used: BTreeSet<String>,
}

/// The policies of the scenario, with those of its configurations marked.
pub(super) fn gather(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) -> Policies {
    let mut policies = Policies {
        all: scenario.policies.clone(),
        ..Policies::default()
    };
    for (i, config) in scenario.configs.iter().enumerate() {
        let path = steps!["configs", i, config.key()];
        let Some(imported) = ctx.import(config, root, &path) else {
            continue;
        };
        let text = ctx.text_of(config.file());
        let entries = match root.get("policies").map(|n| &n.value) {
            Some(Value::Map(entries)) => &entries[..],
            _ => &[],
        };
        // A policy that an override replaces as a whole belongs to the scenario. A file may be
        // imported under several prefixes.
        let from = |k: &Key| Some(k.span.text) == text && imported.policies.contains_key(&k.name);
        let here = entries.iter().filter(|(k, _)| from(k));
        let here = here.map(|(k, _)| (k.name.clone(), i));
        policies.imported.extend(here);
        policies.configs.push((i, imported));
    }
    policies
}

/// Refuses policies that are too large, nested policies included; false if there are any. This
/// check comes before any walk over policies.
pub(super) fn check_sizes(ctx: &mut Ctx<'_>, root: &Node, policies: &Policies) -> bool {
    let mut sizes = Sizes::new(&policies.all);
    let too_large: Vec<Problem> = policies
        .all
        .keys()
        .filter_map(|name| sizes.check(name).err())
        .collect();
    let fine = too_large.is_empty();
    for e in too_large {
        report(ctx, root, policies, e, None);
    }
    fine
}

/// A policy on a link, and where the scenario attaches it.
pub(super) struct Attached {
    pub(super) policy: String,
    pub(super) path: Vec<Step>,
    /// The bytes that its rates count.
    pub(super) counting: Counting,
}

/// The policy of each link: from `policy` of links and from interfaces of configurations.
pub(super) fn attach(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    policies: &Policies,
    links: &Links<'_>,
) -> BTreeMap<String, Attached> {
    let mut attached: BTreeMap<String, Attached> = BTreeMap::new();
    for (name, link) in &scenario.topology.links {
        let Some(policy) = &link.policy else { continue };
        let path = steps!["topology", "links", name, "policy"].to_vec();
        if policies.all.contains_key(policy) {
            attached.insert(
                name.clone(),
                Attached {
                    policy: policy.clone(),
                    path,
                    counting: link.counting().unwrap_or_default(),
                },
            );
        } else {
            ctx.error(policies.unknown(policy), root, &path);
        }
    }
    for (i, imported) in &policies.configs {
        let config = &scenario.configs[*i];
        let file = ctx.file_name(config.file());
        for (name, target) in &config.interfaces {
            let path = steps!["configs", *i, "interfaces", name].to_vec();
            let named = links.find(target);
            if named.is_none() {
                ctx.error(links.unknown(target), root, &path);
            }
            let Some((_, interface)) = imported.interface(name) else {
                let names = || imported.interfaces.keys().map(String::as_str);
                let near = did_you_mean(name, names());
                let d = Diagnostic::error(
                    codes::UNKNOWN_INTERFACE,
                    format!("`{}` has no interface `{name}`{near}", config.file()),
                )
                .found(name)
                .hint(format!("interfaces there: {}", list(names())));
                ctx.error(d, root, &path);
                continue;
            };
            let Some(named) = named else { continue };
            if !interface.circuits.is_empty() {
                let message = format!(
                    "interface {name} ({file}:{}) has several circuits",
                    interface.line
                );
                let d = Diagnostic::error(codes::BAD_ATM, message)
                    .found(name)
                    .hint(format!(
                        "map one of them to the link: {}",
                        interface.circuits.join(", ")
                    ));
                ctx.error(d, root, &path);
                continue;
            }
            let link = named.entry.spec;
            if interface.circuit.is_some() && link.atm.is_none() {
                let message = format!("the circuit of {name} cannot be put on `{target}`");
                let base = named.base();
                let hint = if base == target {
                    "replace single keys of the link, such as its `rate`, not the whole".to_owned()
                } else {
                    format!("map it to `{base}`: the links of a group are circuits alike")
                };
                let d = Diagnostic::error(codes::BAD_ATM, message).found(target);
                ctx.error(d.hint(hint), root, &path);
            }
            let rate = link.policy_rate();
            if let Some(bandwidth) = interface.bandwidth.filter(|b| *b != rate) {
                let (has, hint) = match interface.circuit {
                    Some(_) => (
                        "a contract",
                        "what the link says itself in `atm` holds, and percentages are taken of that",
                    ),
                    None => (
                        "a bandwidth",
                        "percentages are taken of the link's rate; IOS takes them of the interface's bandwidth",
                    ),
                };
                let d = Diagnostic::warning(
                    codes::W_BANDWIDTH,
                    format!(
                        "interface {name} ({file}:{}) has {has} of {bandwidth}, its link `{target}` a rate of {rate}",
                        interface.line
                    ),
                );
                ctx.warn(d.hint(hint), root, &path);
            }
            let own = link.counting();
            let counting = own.unwrap_or_else(|| interface.counted.on(link.counted()));
            let counted = counting.queues.or(counting.policers);
            let lighter = counted.filter(|c| own.is_none() && is_lighter(link.counted(), *c));
            if let Some(counted) = lighter {
                let d = Diagnostic::warning(
                    codes::W_COUNTED,
                    format!(
                        "rates of {} count {counted} beside each IP packet of interface {name}, of which link `{target}` carries {}",
                        config.meaning(),
                        link.counted()
                    ),
                )
                .hint(format!(
                    "the policy counts as the router does, and the link sends faster than the router's line: write what it adds, such as `overhead: {}`",
                    usual_overhead(name)
                ));
                ctx.warn(d, root, &path);
            }
            let Some((policy, line)) = &interface.output_policy else {
                // The interface may be mapped for its policy at arrival.
                if interface.input_policy.is_some() || super::inputs::is_asked_for(imported, name) {
                    continue;
                }
                let d = Diagnostic::warning(
                    codes::W_NO_POLICY,
                    format!(
                        "interface {name} ({file}:{}) has no output service-policy",
                        interface.line
                    ),
                )
                .hint(format!("link `{target}` gets no policy from it"));
                ctx.warn(d, root, &path);
                continue;
            };
            // The policy of a group is that of each member.
            let member = || {
                let mut others = attached.iter();
                let of_group =
                    |name: &&String| links.find(name).is_some_and(|n| n.base() == target);
                others.find(|(name, _)| named.is_group() && of_group(name))
            };
            let first = attached.get(target).or_else(|| attached.get(named.base()));
            if let Some(first) = first.or_else(|| member().map(|(_, a)| a)) {
                let d = Diagnostic::error(
                    codes::ATTACHED_TWICE,
                    format!(
                        "link `{target}` gets policy `{policy}` from interface {name} ({file}:{line}) and policy `{}` from `{}`",
                        first.policy,
                        crate::node::Path(&first.path)
                    ),
                )
                .found(target)
                .hint("a port has one policy: remove one of the two");
                ctx.error(d, root, &path);
                continue;
            }
            attached.insert(
                target.clone(),
                Attached {
                    policy: policy.clone(),
                    path,
                    counting,
                },
            );
        }
    }
    attached
}

/// Whether the link's overhead is smaller than the one that the router counts, so that the link is
/// faster than the router's line.
fn is_lighter(link: Overhead, counted: Overhead) -> bool {
    link.cells() == Cells::None && link.per_packet() < counted.per_packet()
}

/// The usual overhead of a router's interface, as a value of `overhead`.
fn usual_overhead(interface: &str) -> &'static str {
    match interface.starts_with("Serial") || interface.starts_with("Multilink") {
        true => "ppp",
        false if interface.contains('.') => "ethernet ether-vlan",
        false => "ethernet",
    }
}

/// Warns of interfaces with `mpls ip` whose links are outside the scenario's MPLS network.
pub(super) fn check_labels(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    policies: &Policies,
    links: &Links<'_>,
    inside: impl Fn(u32) -> bool,
) {
    for (i, imported) in &policies.configs {
        let config = &scenario.configs[*i];
        for (name, target) in &config.interfaces {
            let labels = imported.interface(name).and_then(|(_, f)| f.labels);
            let (Some(line), Some(named)) = (labels, links.find(target)) else {
                continue;
            };
            if named.ids().all(&inside) {
                continue;
            }
            let file = ctx.file_name(config.file());
            let d = Diagnostic::warning(
                codes::W_UNLABELLED,
                format!(
                    "interface {name} has `mpls ip` ({file}:{line}), but link `{target}` carries no labels"
                ),
            )
            .hint("list both of its nodes under `topology.mpls`");
            ctx.warn(d, root, &steps!["configs", *i, "interfaces", name]);
        }
    }
}

/// The recipes by link, with the policy's name. Policies that cannot be built are left out.
pub(super) fn resolve(
    ctx: &mut Ctx<'_>,
    shared: &mut Shared,
    (scenario, root): (&Scenario, &Node),
    policies: &Policies,
    attached: &BTreeMap<String, Attached>,
    links: &Links<'_>,
) -> BTreeMap<String, (String, Recipe)> {
    without_rates(ctx, (scenario, root), policies, attached);
    // Many links have the same policy and line.
    let mut known: BTreeMap<(&str, Line), Option<Recipe>> = BTreeMap::new();
    let mut recipes = BTreeMap::new();
    for (name, a) in attached {
        let Some(link) = links.find(name).map(|n| n.entry.spec) else {
            continue;
        };
        shared.used.insert(a.policy.clone());
        let line = links::line(scenario, link, link.policy_rate(), a.counting);
        let recipe = known.entry((&a.policy, line)).or_insert_with(|| {
            match Recipe::resolve(&a.policy, &policies.all, line) {
                Ok((recipe, warnings)) => {
                    warn(ctx, root, policies, warnings, name);
                    Some(recipe)
                }
                Err(e) => {
                    report(ctx, root, policies, e, Some(name));
                    None
                }
            }
        });
        if let Some(recipe) = recipe {
            recipes.insert(name.clone(), (a.policy.clone(), recipe.clone()));
        }
    }
    recipes
}

/// Warns of links with `policy_overhead` whose policies have no rates.
fn without_rates(
    ctx: &mut Ctx<'_>,
    (scenario, root): (&Scenario, &Node),
    policies: &Policies,
    attached: &BTreeMap<String, Attached>,
) {
    let mapped = scenario.configs.iter().flat_map(|c| c.interfaces.values());
    let mapped: BTreeSet<&String> = mapped.collect();
    for (name, link) in &scenario.topology.links {
        if link.policy_overhead.is_none() || link.input_policy.is_some() || mapped.contains(name) {
            continue;
        }
        let policy = attached.get(name).map(|a| &a.policy);
        let spec = policy.and_then(|p| policies.get(p));
        if spec.is_some_and(DisciplineSpec::has_rates) {
            continue;
        }
        let what = match (policy, spec) {
            (Some(policy), Some(spec)) => format!("policy `{policy}` is a {}", spec.kind()),
            _ => "the link has no policy".to_owned(),
        };
        let d = Diagnostic::warning(
            codes::W_POLICY,
            format!("`policy_overhead` of link `{name}` has no effect: {what}"),
        )
        .hint(
            "only policies of classes have rates and bursts; what a packet occupies is `overhead`",
        );
        let path = steps!["topology", "links", name, "policy_overhead"];
        ctx.warn(d, root, &path);
    }
}

/// Reports the warnings of a policy's builder.
pub(super) fn warn(
    ctx: &mut Ctx<'_>,
    root: &Node,
    policies: &Policies,
    warnings: Vec<String>,
    link: &str,
) {
    for w in warnings {
        let (path, text) = w.split_once(": ").unwrap_or(("", &w));
        let d = Diagnostic::warning(codes::W_POLICY, format!("{text} (link `{link}`)"));
        ctx.warn(d, root, &place(policies, path));
    }
}

/// Reports why a policy cannot be built, at its place in the scenario or the configuration.
pub(super) fn report(
    ctx: &mut Ctx<'_>,
    root: &Node,
    policies: &Policies,
    e: Problem,
    link: Option<&str>,
) {
    let at = link.map_or_else(String::new, |l| format!(" (on link `{l}`)"));
    let d = Diagnostic::error(codes::BAD_POLICY, format!("{}{at}", e.message))
        .found(e.found)
        .hint(e.hint);
    ctx.error(d, root, &place(policies, &e.path));
}

/// The steps of a policy's path.
pub(super) fn place(policies: &Policies, path: &str) -> Vec<Step> {
    let below = path.strip_prefix("policies.").unwrap_or(path);
    // Names may contain dots: the longest name that fits is taken.
    let name = policies
        .all
        .keys()
        .filter(|n| {
            below
                .strip_prefix(n.as_str())
                .is_some_and(|r| r.is_empty() || r.starts_with(['.', '[']))
        })
        .max_by_key(|n| n.len());
    let Some(name) = name else {
        return Step::parse_all(path);
    };
    let mut steps = steps!["policies", name].to_vec();
    steps.extend(Step::parse_all(&below[name.len()..]));
    steps
}

/// Checks the scenario's own policies that no link uses, so that a mistake in one is found before
/// somebody uses it. Importers check what they import.
pub(crate) fn unused_policies(
    ctx: &mut Ctx<'_>,
    shared: &Shared,
    scenario: &Scenario,
    root: &Node,
) {
    if !ctx.is_fine() {
        return;
    }
    // The line is faster than every rate that a policy can name, so that only mistakes at any rate
    // are reported.
    let Some(rate) = Rate::from_bps(1_000_000_000_000_000) else {
        return;
    };
    let policies = gather(ctx, scenario, root);
    let nested: BTreeSet<&str> = policies
        .all
        .values()
        .flat_map(DisciplineSpec::nested)
        .collect();
    let own = policies.all.keys();
    for name in own.filter(|n| !policies.imported.contains_key(*n)) {
        if !shared.used.contains(name) && !nested.contains(name.as_str()) {
            if let Err(e) = Recipe::resolve(name, &policies.all, rate) {
                report(ctx, root, &policies, e, None);
            }
        }
    }
}
