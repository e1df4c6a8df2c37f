//! Requirements.

mod bounds;
mod entries;
mod files;

use std::collections::BTreeSet;
use std::sync::Arc;

use spillgate_measure::{FlowMeter, Metric, Needs, Tag};

use super::nodes::GroupNames;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::objectives::Preset;
use crate::plan::{FlowPlan, SitePlan, SlaPlan, VariantPlan, WorldPlan, Written};
use crate::schema::{Literal, Scenario, SlaSpec};
use bounds::in_base_unit;
use entries::{Entry, Site};
use spillgate_core::suggest::{did_you_mean, list};

/// The requirements with bounds in base units; those with an error are left out. For requirements
/// on sites the variants get groups of flows to measure.
pub(crate) fn sla(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    required: &[SlaSpec],
    root: &Node,
    plans: &mut [VariantPlan],
) -> Vec<SlaPlan> {
    let (roots, entries) = entries::collect(ctx, required, root);
    let mut lowering = Lowering {
        ctx,
        roots: &roots,
        plans,
        groups: GroupNames::new(&scenario.topology),
        seen: BTreeSet::new(),
        out: Vec::new(),
    };
    entries.iter().for_each(|e| lowering.entry(e));
    lowering.out
}

/// Why some variant has no flows of a class, or of a group of it, for which the metric can be
/// measured; none if each has.
pub(crate) fn unmeasured(
    plans: &[VariantPlan],
    class: &str,
    group: Option<&str>,
    metric: Metric,
) -> Option<Diagnostic> {
    let lacks = |wanted: fn(&FlowPlan) -> bool| {
        let has = |world: &WorldPlan| {
            let site = world.sites.iter().find(|s| group == Some(&s.name));
            world.flows.iter().any(|f| {
                let of_class = world.classes[usize::from(f.class)] == class;
                wanted(f) && of_class && site.is_none_or(|s| s.has(f))
            })
        };
        plans.iter().any(|p| !has(&p.world))
    };
    let admits = |p: &VariantPlan| p.world.links.iter().any(|l| l.discipline.admits());
    let about = group.unwrap_or(class);
    Some(match metric.needs()? {
        Needs::Tcp if lacks(|f| f.traffic.is_closed_loop()) => Diagnostic::error(
            codes::BAD_BOUND,
            format!("class `{about}` has no TCP traffic"),
        )
        .hint("bound `throughput`, delays or losses, or add a flow with `tcp` or `sessions` to the class"),
        Needs::Speech if lacks(|f| f.voice.is_some()) => Diagnostic::error(
            codes::BAD_BOUND,
            format!("class `{about}` has no flow that carries speech"),
        )
        .hint("say so under `voice`: a codec for the class, such as {codec: g711}"),
        Needs::Admission if !plans.iter().any(admits) => {
            Diagnostic::error(codes::BAD_BOUND, "no link admits flows")
                .hint("give a link a policy of kind `fan`; a variant without one is not judged")
        }
        Needs::Gaps if plans.iter().any(|p| p.world.gaps.is_none()) => {
            Diagnostic::error(codes::BAD_BOUND, "gaps are not measured").hint(
                "write `gaps: {}` under `measurement`, or a period: {from: 10 s, to: 20 s}",
            )
        }
        _ => return None,
    })
}

/// Which metrics may be required for certain.
fn certain_metrics() -> String {
    let all = Metric::ALL.iter().filter(|m| m.has(Tag::Certain));
    let names: Vec<_> = all.map(|m| format!("`{}`", m.name())).collect();
    format!("`certain` is for {}", names.join(", "))
}

struct Lowering<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    roots: &'a [Node],
    plans: &'a mut [VariantPlan],
    groups: GroupNames,
    /// Customer, group, and metric or preset of each requirement so far.
    seen: BTreeSet<(Option<String>, String, String)>,
    out: Vec<SlaPlan>,
}

impl Lowering<'_, '_> {
    fn error(&mut self, e: &Entry, path: &[Step], d: Diagnostic) {
        let path = [&e.path, path].concat();
        self.ctx.error(d, &self.roots[e.root], &path);
    }

    fn entry(&mut self, e: &Entry) {
        let s = &e.spec;
        let Some(class) = &s.class else {
            let d = Diagnostic::error(codes::BAD_SLA, "the requirement names no class")
                .hint("write `class`, or `file` with the path of a customer's requirements");
            self.error(e, &[], d);
            return;
        };
        if !self.check_class(e, class) {
            return;
        }
        let Some(group) = self.group(e, class) else {
            return;
        };
        if !self.check_dscp(e, class) {
            return;
        }
        match (&s.preset, s.metric) {
            (Some(preset), None) => self.preset(e, class, group, preset),
            (None, Some(metric)) => self.single(e, class, group, metric.metric()),
            (Some(_), Some(_)) => {
                let d = Diagnostic::error(
                    codes::BAD_SLA,
                    "both `preset` and `metric`: a preset names its metrics",
                )
                .hint("write two requirements");
                self.error(e, &steps!["metric"], d);
            }
            (None, None) => {
                let d = Diagnostic::error(codes::BAD_SLA, "the requirement names no metric")
                    .hint("write `metric` with `max` or `min`, or `preset`");
                self.error(e, &[], d);
            }
        }
    }

    /// Checks that the class has flows in every variant.
    fn check_class(&mut self, e: &Entry, class: &str) -> bool {
        let missing = self
            .plans
            .iter()
            .find(|p| !p.world.classes.iter().any(|c| c == class));
        let Some(plan) = missing else { return true };
        let classes = || plan.world.classes.iter().map(String::as_str);
        let near = did_you_mean(class, classes());
        let of = match self.plans.len() {
            1 => String::new(),
            _ => format!(" in variant `{}`", plan.name),
        };
        let d = Diagnostic::error(
            codes::UNKNOWN_CLASS,
            format!("no flow belongs to a class `{class}`{of}{near}"),
        )
        .hint(format!("classes of the traffic: {}", list(classes())));
        self.error(e, &steps!["class"], d);
        false
    }

    /// Checks that the metric can be measured of packets with the code point in some variant.
    fn check_dscp(&mut self, e: &Entry, class: &str) -> bool {
        let s = &e.spec;
        let Some(dscp) = s.dscp else { return true };
        let by_dscp = FlowMeter::marked_metrics();
        let metric = s.metric.map(|m| m.metric());
        let may = |p: &VariantPlan| p.world.may_end_with(class, dscp);
        let d = if e.site.is_some() || s.preset.is_some() {
            let what = if e.site.is_some() {
                "a site"
            } else {
                "a preset"
            };
            Diagnostic::error(
                codes::BAD_SLA,
                format!("{what} cannot be restricted to a code point"),
            )
            .hint("write `dscp` beside a class and a metric")
        } else if let Some(metric) = metric.filter(|m| !by_dscp.contains(m)) {
            Diagnostic::error(
                codes::BAD_SLA,
                format!("`{}` is not measured by code point", metric.name()),
            )
            .hint("bound throughput, loss_ratio, or owd_mean, owd_p50 and others to owd_max")
        } else if !self.plans.iter().any(may) {
            Diagnostic::error(
                codes::BAD_SLA,
                format!("no policy marks packets of class `{class}` with {dscp}"),
            )
            .hint("write a code point that a policy sets (`set_dscp`, `set-dscp` of `police`, `phb` of agreements)")
        } else {
            return true;
        };
        self.error(e, &steps!["dscp"], d.found(dscp.to_string()));
        false
    }

    /// The group of flows that the requirement is about, which is added to the variants;
    /// `Some(None)` for the whole class, none after an error.
    fn group(&mut self, e: &Entry, class: &str) -> Option<Option<String>> {
        let Some(site) = &e.site else {
            return Some(None);
        };
        let name = format!("{class} @ {}", site.nodes.join("+"));
        for i in 0..self.plans.len() {
            let members = self.members(e, site, i)?;
            let world = &self.plans[i].world;
            let of_class = world.classes.iter().position(|c| c == class)?;
            let plan = SitePlan {
                name: name.clone(),
                class: of_class as u16,
                nodes: members,
            };
            if !world.flows.iter().any(|f| plan.has(f)) {
                let d = Diagnostic::error(
                    codes::BAD_SLA,
                    format!(
                        "no flow of class `{class}` begins or ends at site `{}`",
                        site.name
                    ),
                )
                .hint("name the nodes at which the customer's flows begin or end");
                self.error(e, &steps!["class"], d);
                return None;
            }
            // No other reference to the plan exists yet.
            if let Some(world) = Arc::get_mut(&mut self.plans[i].world) {
                if !world.sites.contains(&plan) {
                    world.sites.push(plan);
                }
            }
        }
        Some(Some(name))
    }

    /// Ids of a site's nodes in a variant.
    fn members(&mut self, e: &Entry, site: &Site, plan: usize) -> Option<Vec<u32>> {
        let mut ids = Vec::new();
        for name in &site.nodes {
            let nodes = &self.plans[plan].world.nodes;
            let found: Vec<u32> = (0..)
                .zip(nodes)
                .filter(|(_, n)| *n == name || self.groups.is_member(n, name))
                .map(|(i, _)| i)
                .collect();
            if found.is_empty() {
                let near = did_you_mean(name, nodes.iter().map(String::as_str));
                let d = Diagnostic::error(
                    codes::UNKNOWN_NODE,
                    format!("the topology has no node `{name}`{near}"),
                )
                .found(name)
                .hint("write names of nodes or groups of `topology.nodes`");
                self.ctx.error(d, &self.roots[e.root], &site.path);
                return None;
            }
            ids.extend(found);
        }
        Some(ids)
    }

    fn preset(&mut self, e: &Entry, class: &str, group: Option<String>, name: &str) {
        let s = &e.spec;
        let Some(preset) = Preset::by_name(name) else {
            let names = || crate::objectives::PRESETS.iter().map(|p| p.name);
            let near = did_you_mean(name, names());
            let d = Diagnostic::error(
                codes::BAD_SLA,
                format!("no preset is called `{name}`{near}"),
            )
            .hint(format!("presets: {}", list(names())));
            self.error(e, &steps!["preset"], d);
            return;
        };
        for (key, given) in [("max", s.max.is_some()), ("min", s.min.is_some())] {
            if given {
                let d = Diagnostic::error(codes::BAD_BOUND, "a preset has its own bounds")
                    .hint("remove it; `share` says how much of them this part may spend");
                self.error(e, &steps![key], d);
                return;
            }
        }
        if s.certain {
            let d =
                Diagnostic::error(codes::BAD_SLA, "a preset cannot be required for certain").hint(
                    format!("write its bounds one by one; {}", certain_metrics()),
                );
            self.error(e, &steps!["certain"], d.found("true"));
            return;
        }
        let share = s.share.map_or(1.0, |p| p.0);
        if share <= 0.0 {
            let d = Diagnostic::error(codes::BAD_BOUND, "a share of 0 %")
                .hint("write a percentage above 0 %, such as 10 %");
            self.error(e, &steps!["share"], d);
            return;
        }
        if preset.objectives.is_empty() {
            let d = Diagnostic::error(
                codes::BAD_SLA,
                format!("`{name}` states no objective, so there is nothing to judge"),
            )
            .hint("remove the requirement, or choose another preset");
            self.error(e, &steps!["preset"], d);
            return;
        }
        self.first(e, class, group.as_deref(), name, "preset");
        let share_text = match s.share {
            Some(p) => format!(", {p}"),
            None => String::new(),
        };
        let written = self.written(e, "preset");
        for o in preset.objectives {
            self.out.push(SlaPlan {
                class: class.to_owned(),
                group: group.clone(),
                dscp: None,
                site: e.site.as_ref().map(|s| s.name.clone()),
                customer: e.customer.clone(),
                basis: Some(format!("{name} {}{share_text}", o.parameter)),
                metric: o.metric,
                max: Some(o.part(share)),
                min: None,
                certain: false,
                written: written.clone(),
            });
        }
    }

    fn single(&mut self, e: &Entry, class: &str, group: Option<String>, metric: Metric) {
        let s = &e.spec;
        if !self.has_metric(e, class, group.as_deref(), metric) {
            return;
        }
        if s.share.is_some() {
            let d = Diagnostic::error(codes::BAD_SLA, "`share` belongs to a preset")
                .hint("write the bound for this part of the path");
            self.error(e, &steps!["share"], d);
            return;
        }
        if s.certain && !metric.has(Tag::Certain) {
            let message = format!("nothing bounds `{}` for certain", metric.name());
            let d = Diagnostic::error(codes::BAD_SLA, message).found(metric.name());
            self.error(e, &steps!["metric"], d.hint(certain_metrics()));
            return;
        }
        if s.certain && s.min.is_some() {
            let message = "a lower bound cannot be required for certain";
            let d = Diagnostic::error(codes::BAD_SLA, message).found("true");
            let hint = "write `max`: bounds say what delays and losses cannot exceed";
            self.error(e, &steps!["certain"], d.hint(hint));
            return;
        }
        // The same metric may be bounded once in the mean and once for certain.
        let key = format!("{metric:?}{}", if s.certain { " for certain" } else { "" });
        self.first(e, class, group.as_deref(), &key, "metric");
        if s.max.is_some() == s.min.is_some() {
            let which = if s.max.is_some() {
                "both `max` and `min`"
            } else {
                "neither `max` nor `min`"
            };
            let d = Diagnostic::error(
                codes::BAD_BOUND,
                format!("{which}: a requirement has one bound"),
            )
            .found(which)
            .hint(
                "write `max` for delays, jitter and losses, `min` for a throughput, goodput or MOS",
            );
            self.error(e, &[], d);
            return;
        }
        let mut bound = |b: &Option<Literal>, key: &str| {
            let Literal(text) = b.as_ref()?;
            match in_base_unit(metric, text) {
                Ok(value) => Some(value),
                Err(problem) => {
                    let d = Diagnostic::error(codes::BAD_BOUND, problem.message)
                        .found(problem.found)
                        .hint(problem.hint);
                    self.error(e, &steps![key], d);
                    None
                }
            }
        };
        let (max, min) = (bound(&s.max, "max"), bound(&s.min, "min"));
        self.out.push(SlaPlan {
            class: class.to_owned(),
            group,
            dscp: s.dscp,
            site: e.site.as_ref().map(|s| s.name.clone()),
            customer: e.customer.clone(),
            basis: None,
            metric,
            max,
            min,
            certain: s.certain,
            written: self.written(e, if max.is_some() { "max" } else { "min" }),
        });
    }

    /// The place of a key of a requirement.
    fn written(&self, e: &Entry, key: &str) -> Written {
        let path = [&e.path[..], &steps![key]].concat();
        self.ctx.written(&self.roots[e.root], &path)
    }

    /// Checks that the class has flows for which the metric can be measured.
    fn has_metric(&mut self, e: &Entry, class: &str, group: Option<&str>, metric: Metric) -> bool {
        let Some(d) = unmeasured(self.plans, class, group, metric) else {
            return true;
        };
        self.error(e, &steps!["metric"], d);
        false
    }

    /// Reports a requirement that was stated before.
    fn first(&mut self, e: &Entry, class: &str, group: Option<&str>, what: &str, key: &str) {
        let mut about = group.unwrap_or(class).to_owned();
        if let Some(dscp) = e.spec.dscp {
            about = format!("{about} ({dscp})");
        }
        if !self
            .seen
            .insert((e.customer.clone(), about, what.to_owned()))
        {
            let message = match key {
                "metric" => format!("a second bound for the same metric of class `{class}`"),
                _ => format!("the same preset for class `{class}` again"),
            };
            let d = Diagnostic::error(codes::BAD_BOUND, message)
                .hint("write one bound for a class and metric");
            self.error(e, &steps![key], d);
        }
    }
}
