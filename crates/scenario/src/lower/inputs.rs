//! Arrival at a node: policies at the receiving ends of links, classes by the link of arrival, and
//! the tags that carry a CoS.

use std::collections::BTreeMap;

use spillgate_core::Overhead;
use spillgate_nodes::stage::input::InputPlan;
use spillgate_queueing::spec::{
    ClassSpec, DisciplineSpec, MatchSpec, OneOrMany, PoliceAction, PoliceSpec,
};
use spillgate_queueing::{Counting, InputRecipe, Line};

use super::links::{Draft, Links, Named, line};
use super::policies::{Attached, Policies, Shared, report, warn};
use crate::agreements;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::import::Imported;
use crate::load::InputPolicy;
use crate::node::{Node, Step, steps};
use crate::plan::LinkPlan;
use crate::schema::Scenario;

/// A policy at the receiving end of a link.
pub(super) struct Arriving {
    policy: String,
    recipe: InputRecipe,
}

impl Arriving {
    /// The same on a link that has its own policy.
    pub(super) fn on(self, id: u32, link: &LinkPlan) -> InputPlan {
        let own: Vec<&str> = link.discipline.meter_names().collect();
        let shared = self.recipe.meter_names().map(|name| own.contains(&name));
        InputPlan {
            link: id,
            name: link.name.clone(),
            rate: link.rate,
            overhead: link.overhead,
            policy: self.policy,
            shared: shared.collect(),
            recipe: self.recipe,
        }
    }
}

/// The links that arrive where a link begins: its reverse links, or else the links in the opposite
/// direction.
fn ways_in(named: Named<'_, '_>, drafts: &[Draft<'_>]) -> Vec<u32> {
    let duplex = named.entry.spec.duplex;
    let forth: Vec<u32> = named.ids().step_by(1 + usize::from(duplex)).collect();
    if duplex {
        return forth.iter().map(|id| id + 1).collect();
    }
    let back = |id: &u32| {
        let (from, to) = drafts[*id as usize].ends();
        let mut others = (0..).zip(drafts).filter(|(_, d)| d.ends() == (to, from));
        // With several such links it is ambiguous which one is meant.
        let one = others.next().map(|(id, _)| id);
        one.filter(|_| others.next().is_none())
    };
    forth.iter().filter_map(back).collect()
}

/// The policies at arrival, with the links that leave by the same interfaces; one link for each
/// group.
pub(super) fn by_interface(inputs: BTreeMap<u32, Arriving>, links: &Links<'_>) -> Vec<InputPolicy> {
    let Some(drafts) = links.drafts() else {
        return Vec::new();
    };
    let written = |name: &str| {
        let base = links.find_way(name).map_or(name, Named::base);
        let back = if name.ends_with(".reverse") {
            ".reverse"
        } else {
            ""
        };
        format!("{base}{back}")
    };
    let mut all: Vec<InputPolicy> = Vec::new();
    for (id, plan) in inputs {
        let draft = &drafts[id as usize];
        let (from, to) = draft.ends();
        let mut back = drafts.iter().filter(|d| d.ends() == (to, from));
        let one = back.next().filter(|_| back.next().is_none());
        let found = InputPolicy {
            policy: plan.policy,
            interface: one.map(|d| written(d.name())),
            rate: draft.rate,
            dot1q: draft.dot1q,
        };
        if !all.contains(&found) {
            all.push(found);
        }
    }
    all
}

/// Replaces names of interfaces and of groups by names of links in conditions on the link of
/// arrival.
pub(super) fn name_links(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    policies: &mut Policies,
    links: &Links<'_>,
) {
    let Some(drafts) = links.drafts() else { return };
    let names = |ids: Vec<u32>| -> Vec<String> {
        let name = |id: u32| drafts[id as usize].name().to_owned();
        ids.into_iter().map(name).collect()
    };
    for (policy, spec) in &mut policies.all {
        let DisciplineSpec::ClassBased(spec) = spec else {
            continue;
        };
        let imported = policies.imported.get(policy);
        let config = imported.map(|config| &scenario.configs[*config]);
        for (i, class) in spec.classes.iter_mut().enumerate() {
            let path = steps!["policies", policy, "class-based", "classes", i, "match"];
            let name = class.name.clone();
            each_input(class, &mut |input| {
                let mut all = Vec::new();
                for written in &input.0 {
                    let mapped = config.iter().flat_map(|c| &c.interfaces);
                    let targets: Vec<Named<'_, '_>> = mapped
                        .filter(|(name, _)| is_of(name, written))
                        .filter_map(|(_, target)| links.find(target))
                        .collect();
                    match (imported, targets.is_empty()) {
                        (Some(_), false) => {
                            let ways = targets.into_iter().flat_map(|n| ways_in(n, &drafts));
                            all.extend(names(ways.collect()));
                        }
                        (Some(_), true) => {
                            let d = Diagnostic::warning(
                                codes::W_NO_WAY_IN,
                                format!("class `{name}` of policy `{policy}` is of packets that come in by {written}, and no link is mapped to that interface: it has none"),
                            )
                            .hint("name the interface under `interfaces` of the configuration");
                            ctx.warn(d, root, &path);
                        }
                        (None, _) => match links.find_way(written) {
                            Some(named) => all.extend(names(of_way(named, written))),
                            None if *written == name
                                && agreements::is_customer(&ctx.texts, root, policy, i) =>
                            {
                                ctx.error(no_customer(written, links), root, &path);
                            }
                            None => ctx.error(links.unknown(written), root, &path),
                        },
                    }
                }
                // A name that no link has matches nothing.
                if !all.is_empty() {
                    input.0 = all;
                }
            });
        }
    }
}

/// The error for a customer of a table whose name is not a link, and who has no other condition.
fn no_customer(name: &str, links: &Links<'_>) -> Diagnostic {
    let d = links.unknown(name);
    let message = format!("customer `{name}` matches no packets: {}", d.message);
    Diagnostic { message, ..d }
        .found(name)
        .hint("name the link of the customer's packets in the column `input`, or say in `src`, `dst`, `protocol`, `sport`, `dport`, `dscp` or `cos` which packets are meant")
}

/// The links that a name stands for; the reverse links if the name is that of a reverse link.
fn of_way(named: Named<'_, '_>, written: &str) -> Vec<u32> {
    let ways = 1 + usize::from(named.entry.spec.duplex);
    let back = written.ends_with(".reverse");
    named.ids().step_by(if back { 1 } else { ways }).collect()
}

/// Whether a name is that of an interface or of a circuit of it (`ATM0.1 1/32`).
fn is_of(name: &str, interface: &str) -> bool {
    let rest = name.strip_prefix(interface);
    rest.is_some_and(|r| r.is_empty() || r.starts_with(' '))
}

/// Whether a class of a configuration asks for packets that arrive by an interface.
pub(super) fn is_asked_for(imported: &Imported, interface: &str) -> bool {
    fn names(m: &MatchSpec, interface: &str) -> bool {
        let mut all = m.any.iter().chain(&m.all).flatten();
        let own = m.input.as_ref();
        own.is_some_and(|l| l.0.iter().any(|n| is_of(interface, n)))
            || all.any(|m| names(m, interface))
            || m.not.as_ref().is_some_and(|m| names(m, interface))
    }
    imported.policies.values().any(|spec| {
        let DisciplineSpec::ClassBased(spec) = spec else {
            return false;
        };
        let mut conditions = spec.classes.iter().filter_map(|c| c.matching.as_ref());
        conditions.any(|m| names(m, interface))
    })
}

/// Every list of links of arrival in the conditions of a class.
fn each_input(class: &mut ClassSpec, see: &mut impl FnMut(&mut OneOrMany<String>)) {
    let colors = class.police.iter_mut().flat_map(
        |PoliceSpec {
             conform_color,
             exceed_color,
             ..
         }| conform_color.iter_mut().chain(exceed_color),
    );
    for m in class.matching.iter_mut().chain(colors) {
        within(m, see);
    }
}

fn within(m: &mut MatchSpec, see: &mut impl FnMut(&mut OneOrMany<String>)) {
    if !m.looks_at_marks() {
        return;
    }
    m.input.iter_mut().for_each(&mut *see);
    for inner in m.any.iter_mut().chain(&mut m.all).flatten() {
        within(inner, see);
    }
    m.not.iter_mut().for_each(|inner| within(inner, see));
    for line in m.acl.iter_mut().flatten() {
        within(&mut line.matching, see);
    }
}

/// The policies at the receiving ends of links, by the links' numbers: from `input_policy` of links
/// and from interfaces of configurations.
pub(super) fn attach(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    policies: &Policies,
    links: &Links<'_>,
) -> BTreeMap<u32, Arriving> {
    let Some(drafts) = links.drafts() else {
        return BTreeMap::new();
    };
    let mut attacher = Attacher {
        ctx,
        root,
        scenario,
        policies,
        drafts: &drafts,
        known: BTreeMap::new(),
        inputs: BTreeMap::new(),
    };
    for (name, link) in &scenario.topology.links {
        let (Some(policy), Some(named)) = (&link.input_policy, links.find(name)) else {
            continue;
        };
        let path = steps!["topology", "links", name, "input_policy"].to_vec();
        if !policies.all.contains_key(policy) {
            attacher.ctx.error(policies.unknown(policy), root, &path);
            continue;
        }
        let ids = named.ids().step_by(1 + usize::from(link.duplex)).collect();
        let counting = |_| link.counting().unwrap_or_default();
        attacher.put(policy, ids, name, &path, &counting);
    }
    for (i, imported) in &policies.configs {
        let config = &scenario.configs[*i];
        for (name, target) in &config.interfaces {
            let facts = imported.interface(name).map(|(_, f)| f);
            let input = facts.and_then(|f| f.input_policy.as_ref());
            let (Some((policy, line)), Some(named)) = (input, links.find(target)) else {
                continue;
            };
            let path = steps!["configs", *i, "interfaces", name].to_vec();
            let ids = ways_in(named, &drafts);
            if ids.is_empty() {
                let file = attacher.ctx.file_name(config.file());
                let d = Diagnostic::warning(
                    codes::W_NO_WAY_IN,
                    format!(
                        "`service-policy input {policy}` of interface {name} ({file}:{line}) has nothing to act on: no one link leads back where `{target}` comes from"
                    ),
                )
                .hint(format!("make link `{target}` `duplex`, or add a link the other way"));
                attacher.ctx.warn(d, root, &path);
                continue;
            }
            let own = named.entry.spec.counting();
            let router = facts.map(|f| f.counted).unwrap_or_default();
            let counting = |over: Overhead| own.unwrap_or_else(|| router.on(over));
            attacher.put(policy, ids, target, &path, &counting);
        }
    }
    attacher.inputs
}

struct Attacher<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    root: &'a Node,
    scenario: &'a Scenario,
    policies: &'a Policies,
    drafts: &'a [Draft<'a>],
    /// Links often share policy and line.
    known: BTreeMap<(String, Line), Option<InputRecipe>>,
    inputs: BTreeMap<u32, Arriving>,
}

impl Attacher<'_, '_> {
    /// `counting`: the bytes of a packet that the rates of the policy count.
    fn put(
        &mut self,
        policy: &str,
        ids: Vec<u32>,
        link: &str,
        path: &[Step],
        counting: &dyn Fn(Overhead) -> Counting,
    ) {
        for id in ids {
            let draft = &self.drafts[id as usize];
            if let Some(first) = self.inputs.get(&id) {
                let d = Diagnostic::error(
                    codes::ATTACHED_TWICE,
                    format!(
                        "what arrives over link `{}` gets policy `{policy}` and policy `{}`",
                        draft.name(),
                        first.policy
                    ),
                )
                .found(link)
                .hint("one policy acts at the end of a link: remove one of the two");
                self.ctx.error(d, self.root, path);
                return;
            }
            let counting = counting(draft.spec.counted());
            let line = line(self.scenario, draft.spec, draft.rate, counting);
            let key = (policy.to_owned(), line);
            if !self.known.contains_key(&key) {
                let recipe = InputRecipe::resolve(policy, &self.policies.all, line);
                let recipe = match recipe {
                    Ok((recipe, warnings)) => {
                        warn(self.ctx, self.root, self.policies, warnings, draft.name());
                        Some(recipe)
                    }
                    Err(e) => {
                        report(self.ctx, self.root, self.policies, e, Some(draft.name()));
                        None
                    }
                };
                self.known.insert(key.clone(), recipe);
            }
            let Some(Some(recipe)) = self.known.get(&key) else {
                return;
            };
            let recipe = match self.without_others(policy, draft.name()) {
                Some(fewer) => match InputRecipe::resolve(policy, &fewer, line) {
                    Ok((recipe, _)) => recipe,
                    // The whole policy can be built.
                    Err(_) => recipe.clone(),
                },
                None => recipe.clone(),
            };
            let policy = policy.to_owned();
            self.inputs.insert(id, Arriving { policy, recipe });
        }
    }

    /// The policies without the customers whose packets arrive by other links, since results would
    /// list each of them without a packet. None if all customers use this link.
    fn without_others(&self, policy: &str, link: &str) -> Option<BTreeMap<String, DisciplineSpec>> {
        let Some(DisciplineSpec::ClassBased(spec)) = self.policies.get(policy) else {
            return None;
        };
        let elsewhere = |(i, class): (usize, &ClassSpec)| {
            let input = class.matching.as_ref().and_then(|m| m.input.as_ref());
            input.is_some_and(|l| l.0.iter().all(|n| n != link))
                && agreements::is_customer(&self.ctx.texts, self.root, policy, i)
        };
        let others: Vec<bool> = spec.classes.iter().enumerate().map(elsewhere).collect();
        if !others.contains(&true) {
            return None;
        }
        let mut all = self.policies.all.clone();
        if let Some(DisciplineSpec::ClassBased(spec)) = all.get_mut(policy) {
            let mut others = others.into_iter();
            spec.classes.retain(|_| !others.next().unwrap_or_default());
        }
        Some(all)
    }
}

/// Notes that policies at arrival are in use.
pub(super) fn register(shared: &mut Shared, inputs: &BTreeMap<u32, Arriving>) {
    let names = inputs.values().map(|i| i.policy.clone());
    shared.used.extend(names);
}

/// Warns of a CoS that no frame can carry, since the policy sets it on a link without tags.
pub(super) fn check_set_tags(
    ctx: &mut Ctx<'_>,
    root: &Node,
    policies: &Policies,
    attached: &BTreeMap<String, Attached>,
    links: &Links<'_>,
) {
    for (name, a) in attached {
        let untagged = links.find(name).is_some_and(|n| !n.entry.spec.dot1q);
        if let Some(class) = first(policies, &a.policy, 0, &sets_cos).filter(|_| untagged) {
            let what = format!("sets a CoS, and frames of link `{name}` carry no tag: it is lost");
            ctx.warn(no_tag((class, &a.policy), &what, name), root, &a.path);
        }
    }
}

/// Warns of a policy that matches a CoS where packets have none.
pub(super) fn check_tags(
    ctx: &mut Ctx<'_>,
    root: &Node,
    policies: &Policies,
    inputs: &BTreeMap<u32, Arriving>,
    drafts: &[Draft<'_>],
) {
    let mut said: Vec<&str> = Vec::new();
    for (id, input) in inputs {
        let draft = &drafts[*id as usize];
        let Some(class) = first(policies, &input.policy, 0, &asks_for_cos) else {
            continue;
        };
        if draft.dot1q || said.contains(&input.policy.as_str()) {
            continue;
        }
        said.push(&input.policy);
        let base = draft.name().trim_end_matches(".reverse");
        let what = format!(
            "asks for a CoS, and what arrives over link `{}` has none: it matches nothing there",
            draft.name()
        );
        let d = no_tag((class, &input.policy), &what, base);
        ctx.warn(d, root, &steps!["topology", "links", base]);
    }
}

/// The warning of a class whose CoS no frame of a link carries.
fn no_tag((class, policy): (&str, &str), what: &str, link: &str) -> Diagnostic {
    let message = format!("class `{class}` of policy `{policy}` {what}");
    let hint = format!("write `dot1q: true` on link `{link}` if its frames are tagged");
    Diagnostic::warning(codes::W_NO_TAG, message).hint(hint)
}

/// The first class, nested ones included, for which a predicate holds.
fn first<'p>(
    policies: &'p Policies,
    policy: &str,
    depth: usize,
    holds: &impl Fn(&ClassSpec) -> bool,
) -> Option<&'p str> {
    let Some(DisciplineSpec::ClassBased(spec)) = policies.get(policy).filter(|_| depth < 8) else {
        return None;
    };
    spec.classes.iter().find_map(|c| {
        let inner = || first(policies, c.policy.as_deref()?, depth + 1, holds);
        if holds(c) { Some(&*c.name) } else { inner() }
    })
}

fn sets_cos(c: &ClassSpec) -> bool {
    let of_police = |p: &PoliceSpec| {
        let colors = [Some(&p.conform), Some(&p.exceed), p.violate.as_ref()];
        let mut actions = colors.into_iter().flatten().flat_map(|a| a.iter());
        actions.any(|a| matches!(a, PoliceAction::SetCos(_)))
    };
    c.set_cos.is_some() || c.police.as_ref().is_some_and(of_police)
}

fn asks_for_cos(c: &ClassSpec) -> bool {
    fn in_match(m: &MatchSpec) -> bool {
        m.cos.is_some()
            || m.any.iter().chain(&m.all).flatten().any(in_match)
            || m.not.as_ref().is_some_and(|m| in_match(m))
    }
    c.matching.as_ref().is_some_and(in_match)
}
