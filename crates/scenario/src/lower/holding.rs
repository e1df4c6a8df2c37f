//! Nodes that hold packets, and stages: what each kind finds of the scenario, and how it reports.

use std::collections::BTreeMap;

use spillgate_core::Problem;
use spillgate_core::Rate;
use spillgate_nodes::stage::{StagePlan, StageSpec};
use spillgate_nodes::{Around, Holding, LinkFacts, Reader};
use spillgate_queueing::Recipe;
use spillgate_queueing::spec::DisciplineSpec;

use super::check_name;
use super::links::{Draft, Links};
use super::nodes::{Nodes, Place};
use super::policies::{Policies, Shared, place};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::schema::Scenario;
use spillgate_core::suggest::list;

/// What the kinds of nodes and the stages read.
pub(super) struct Reading<'r, 'c, 's> {
    pub(super) ctx: &'r mut Ctx<'c>,
    pub(super) shared: &'r mut Shared,
    pub(super) root: &'r Node,
    pub(super) nodes: &'r Nodes<'s>,
    pub(super) links: &'r Links<'s>,
    pub(super) drafts: &'r [Draft<'s>],
    pub(super) policies: &'r Policies,
    /// The policies of links, by link.
    pub(super) recipes: &'r BTreeMap<String, (String, Recipe)>,
}

impl Reading<'_, '_, '_> {
    /// All nodes that hold packets, by kind, then by id; errors are reported and leave out the
    /// node.
    pub(super) fn holding(&mut self) -> Vec<Holding> {
        let nodes = self.nodes;
        let mut all = Vec::new();
        if !nodes.hold() {
            return all;
        }
        let links: Vec<LinkFacts<'_>> = self.drafts.iter().map(facts).collect();
        let mut ends = vec![(Vec::new(), Vec::new()); nodes.names.len()];
        for (id, link) in (0..).zip(&links) {
            ends[link.to as usize].0.push(id);
            ends[link.from as usize].1.push(id);
        }
        for kind in spillgate_nodes::NodePlan::KINDS {
            for holder in nodes.of(kind.kind) {
                let around = Around {
                    ends: &ends,
                    nodes: holder.nodes.clone(),
                    names: &nodes.names,
                    links: &links,
                };
                let mut at = At {
                    all: self,
                    base: holder.at(""),
                    bad: codes::BAD_NODE,
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

    /// The stages that are written under `topology`, in the order of the registry; errors are
    /// reported and leave out the stage.
    pub(super) fn stages(&mut self, scenario: &Scenario) -> Vec<StagePlan> {
        let mut written = scenario.topology.stages().peekable();
        if written.peek().is_none() {
            return Vec::new();
        }
        let links: Vec<LinkFacts<'_>> = self.drafts.iter().map(facts).collect();
        let around = Around {
            ends: &[],
            nodes: 0..self.nodes.names.len() as u32,
            names: &self.nodes.names,
            links: &links,
        };
        let resolve = |(key, stage): (&str, &dyn StageSpec)| {
            let mut at = At {
                all: self,
                base: steps!["topology", key].to_vec(),
                bad: codes::BAD_MPLS,
            };
            stage.resolve(&around, &mut at)
        };
        written.filter_map(resolve).collect()
    }
}

fn facts<'d>(link: &'d Draft<'_>) -> LinkFacts<'d> {
    let (from, to) = link.ends();
    LinkFacts {
        name: link.name(),
        written: link.entry,
        from,
        to,
        rate: link.rate,
    }
}

/// An entry that is read.
struct At<'a, 'r, 'c, 's> {
    all: &'a mut Reading<'r, 'c, 's>,
    /// Where its key stands.
    base: Vec<Step>,
    /// The code of what it cannot be.
    bad: &'static str,
}

impl At<'_, '_, '_, '_> {
    fn at(&self, path: &str) -> Vec<Step> {
        let mut steps = self.base.clone();
        steps.extend(Step::parse_all(path));
        steps
    }

    fn error(&mut self, path: &str, d: Diagnostic) {
        self.all.ctx.error(d, self.all.root, &self.at(path));
    }
}

/// Whether the packets of a policy leave it as they came: what a node has noted of them stays with
/// them, and nothing of the policy goes beyond one queue.
fn may_queue_inside(spec: &DisciplineSpec) -> bool {
    matches!(
        spec,
        DisciplineSpec::Fifo(_)
            | DisciplineSpec::Drr(_)
            | DisciplineSpec::Fair(_)
            | DisciplineSpec::Fq(_)
            | DisciplineSpec::FqCodel(_)
            | DisciplineSpec::FqPie(_)
            | DisciplineSpec::Sfq(_)
            | DisciplineSpec::DualPi2(_)
    )
}

impl Reader for At<'_, '_, '_, '_> {
    fn links(&mut self, path: &str, name: &str) -> Option<Vec<u32>> {
        let found = self.all.links.find_way(name);
        if found.is_none() {
            self.error(path, self.all.links.unknown(name));
        }
        Some(found?.ids().collect())
    }

    fn nodes(&mut self, path: &str, name: &str) -> Option<Vec<u32>> {
        let at = self.at(path);
        let found = self
            .all
            .nodes
            .expect(self.all.ctx, name, self.all.root, &at);
        Some(found.map(Place::ids)?.collect())
    }

    fn check_name(&mut self, path: &str, name: &str, what: &str) -> bool {
        let at = self.at(path);
        check_name(self.all.ctx, name, what, self.all.root, &at)
    }

    fn policy(&mut self, path: &str, name: &str, inside: &str, rate: Rate) -> Option<Recipe> {
        let policies = self.all.policies;
        let Some(spec) = policies.get(name) else {
            self.error(path, policies.unknown(name));
            return None;
        };
        self.all.shared.used.insert(name.to_owned());
        if !may_queue_inside(spec) {
            let kind = spec.kind();
            let message = format!("a `{kind}` policy cannot stand at a virtual output queue");
            let d = Diagnostic::error(codes::BAD_NODE, message)
                .found(name)
                .hint("name a policy of the kind fifo, drr, fair, fq, fq-codel, fq-pie, sfq or dualpi2, with any AQM");
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
        self.error(&problem.path, Diagnostic::of(&problem, self.bad));
    }

    fn refuse_link(&mut self, link: u32, problem: Problem) {
        let at = steps!["topology", "links", self.all.drafts[link as usize].entry];
        let d = Diagnostic::of(&problem, self.bad);
        self.all.ctx.error(d, self.all.root, &at);
    }

    fn warn(&mut self, problem: Problem) {
        let d = Diagnostic::warning(codes::W_NODE, &*problem.message);
        let at = self.at(&problem.path);
        self.all.ctx.warn(d.said(&problem), self.all.root, &at);
    }
}
