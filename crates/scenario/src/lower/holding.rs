//! Nodes that hold packets: what each kind finds of the scenario, and how it reports.

use std::collections::BTreeMap;

use spillgate_core::Rate;
use spillgate_nodes::{Around, Holding, LinkFacts, Problem, Reader};
use spillgate_queueing::Recipe;
use spillgate_queueing::spec::DisciplineSpec;

use super::links::{Draft, Links};
use super::nodes::{Holder, Nodes};
use super::policies::{Policies, Shared, place};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step};
use crate::suggest::{did_you_mean, list};

/// What the kinds of nodes read.
pub(super) struct Reading<'r, 'c, 's> {
    pub(super) ctx: &'r mut Ctx<'c>,
    pub(super) shared: &'r mut Shared,
    pub(super) root: &'r Node,
    pub(super) links: &'r Links<'s>,
    pub(super) drafts: &'r [Draft<'s>],
    pub(super) policies: &'r Policies,
    /// The policies of links, by link.
    pub(super) recipes: &'r BTreeMap<String, (String, Recipe)>,
}

impl Reading<'_, '_, '_> {
    /// All nodes that hold packets, by kind, then by id; errors are reported and leave out the
    /// node.
    pub(super) fn all(mut self, nodes: &Nodes<'_>) -> Vec<Holding> {
        let links: Vec<LinkFacts<'_>> = self.drafts.iter().map(facts).collect();
        let mut all = Vec::new();
        if !nodes.hold() {
            return all;
        }
        let mut ends = vec![(Vec::new(), Vec::new()); nodes.names.len()];
        for (id, link) in (0..).zip(&links) {
            ends[link.to as usize].0.push(id);
            ends[link.from as usize].1.push(id);
        }
        for kind in spillgate_nodes::KINDS {
            for holder in nodes.of(kind.kind) {
                let around = Around {
                    ends: &ends,
                    nodes: holder.nodes.clone(),
                    names: &nodes.names,
                    links: &links,
                };
                let mut at = At {
                    all: &mut self,
                    holder,
                };
                let plans = holder.kind.resolve(&around, &mut at);
                all.extend(plans.into_iter().map(|(node, plan)| {
                    let path = format!("nodes/{}/{}", nodes.names[node as usize], plan.kind());
                    Holding::new(vec![node], path, plan)
                }));
            }
        }
        all
    }
}

fn facts<'d>(link: &'d Draft<'_>) -> LinkFacts<'d> {
    let (from, to) = link.ends();
    LinkFacts {
        name: link.name(),
        from,
        to,
        rate: link.rate,
    }
}

/// An entry that is read.
struct At<'a, 'h, 'r, 'c, 's> {
    all: &'a mut Reading<'r, 'c, 's>,
    holder: &'a Holder<'h>,
}

impl At<'_, '_, '_, '_, '_> {
    fn error(&mut self, path: &str, d: Diagnostic) {
        let at = self.holder.at(path);
        self.all.ctx.error(d, self.all.root, &at);
    }
}

/// Whether the packets of a policy leave it as they came: what a node has noted of them stays with
/// them, and nothing of the policy goes beyond one queue.
fn may_queue_inside(spec: &DisciplineSpec) -> bool {
    matches!(
        spec,
        DisciplineSpec::Fifo(_)
            | DisciplineSpec::Drr(_)
            | DisciplineSpec::Fq(_)
            | DisciplineSpec::FqCodel(_)
    )
}

impl Reader for At<'_, '_, '_, '_, '_> {
    fn links(&mut self, path: &str, name: &str) -> Option<Vec<u32>> {
        let found = self.all.links.find_way(name);
        if found.is_none() {
            self.error(path, self.all.links.unknown(name));
        }
        Some(found?.ids().collect())
    }

    fn policy(&mut self, path: &str, name: &str, inside: &str, rate: Rate) -> Option<Recipe> {
        let policies = self.all.policies;
        let Some(spec) = policies.get(name) else {
            let names = || policies.all.keys().map(String::as_str);
            let near = did_you_mean(name, names());
            let message = format!("there is no policy `{name}`{near}");
            let d = Diagnostic::error(codes::UNKNOWN_POLICY, message);
            self.error(path, d.hint(format!("policies: {}", list(names()))));
            return None;
        };
        self.all.shared.used.insert(name.to_owned());
        if !may_queue_inside(spec) {
            let kind = spec.kind();
            let message = format!("a `{kind}` policy cannot stand at a virtual output queue");
            let d = Diagnostic::error(codes::BAD_NODE, message)
                .found(name)
                .hint("name a policy of the kind fifo, drr, fq or fq-codel, with any AQM");
            self.error(path, d);
            return None;
        }
        match Recipe::resolve(name, &policies.all, rate) {
            Ok((policy, warnings)) => {
                for w in warnings {
                    let (path, text) = w.split_once(": ").unwrap_or(("", &w));
                    let d = Diagnostic::warning(codes::W_POLICY, format!("{text} ({inside})"));
                    self.all.ctx.warn(d, self.all.root, &place(policies, path));
                }
                Some(policy)
            }
            Err(e) => {
                let message = format!("{} (at {inside})", e.message);
                let d = Diagnostic::error(codes::BAD_POLICY, message)
                    .found(e.found)
                    .hint(e.hint);
                self.all
                    .ctx
                    .error(d, self.all.root, &place(policies, &e.path));
                None
            }
        }
    }

    fn list(&self, names: &[&str]) -> String {
        list(names.iter().copied())
    }

    fn policy_of(&self, link: u32) -> Option<(&str, &Recipe)> {
        let (name, recipe) = self.all.drafts[link as usize].policy(self.all.recipes)?;
        Some((name, recipe))
    }

    fn refuse(&mut self, problem: Problem) {
        self.error(&problem.path, Diagnostic::of(&problem, codes::BAD_NODE));
    }

    fn warn(&mut self, problem: Problem) {
        let d = Diagnostic::warning(codes::W_NODE, &*problem.message);
        let at: Vec<Step> = self.holder.at(&problem.path);
        self.all.ctx.warn(d.said(&problem), self.all.root, &at);
    }
}
