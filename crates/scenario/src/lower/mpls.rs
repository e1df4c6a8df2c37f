//! A provider's MPLS network against the flows and the policies of a scenario.

use std::collections::BTreeMap;

use spillgate_nodes::stage::mpls::{MplsModel, MplsPlan, Role};
use spillgate_queueing::View;
use spillgate_queueing::spec::{ClassSpec, DisciplineSpec};

use super::links::Links;
use super::nodes::Nodes;
use super::policies::{Attached, Policies};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::FlowPlan;
use crate::routes::Edge;

/// The labels that the port of a link sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// No label, ever.
    None,
    /// Labels of some packets.
    Labels,
    /// No label, but the EXP bits of labels that the node removed.
    Remembered,
}

/// Where packets have labels.
pub(super) struct Labels<'a> {
    mpls: Option<&'a MplsPlan>,
    edges: &'a [Edge],
    /// The paths of the flows.
    paths: &'a [Box<[u32]>],
    /// By link: packets have labels on it.
    labelled: Vec<bool>,
}

impl<'a> Labels<'a> {
    /// Those of a network, if there is one.
    pub(super) fn new(
        mpls: Option<&'a MplsPlan>,
        edges: &'a [Edge],
        paths: &'a [Box<[u32]>],
    ) -> Self {
        let mut new = Self {
            mpls,
            edges,
            paths,
            labelled: vec![false; edges.len()],
        };
        for (mpls, path) in mpls.iter().flat_map(|m| paths.iter().map(move |p| (m, p))) {
            for (link, depth) in path.iter().zip(mpls.depths(path, |l| new.ends(l))) {
                new.labelled[*link as usize] |= depth > 0;
            }
        }
        new
    }

    fn ends(&self, link: u32) -> (u32, u32) {
        let e = self.edges[link as usize];
        (e.from, e.to)
    }

    /// Whether a link joins two nodes of the network.
    pub(super) fn inside(&self, link: u32) -> bool {
        let (from, to) = self.ends(link);
        self.mpls.is_some_and(|m| m.is_inside(from, to))
    }

    /// Whether a link leads to an edge that puts labels on.
    fn imposes(&self, link: u32) -> bool {
        let (from, to) = self.ends(link);
        let at_edge = |m: &MplsPlan| m.role(to) == Role::Edge && !m.is_provider(from);
        self.mpls.is_some_and(at_edge)
    }

    /// What the port of a link sees.
    fn seen(&self, link: u32) -> Seen {
        let removes =
            |m: &&MplsPlan| m.model == MplsModel::Pipe && m.is_provider(self.ends(link).0);
        if self.labelled[link as usize] {
            Seen::Labels
        } else if self.inside(link) || self.mpls.as_ref().is_some_and(removes) {
            Seen::Remembered
        } else {
            Seen::None
        }
    }

    /// Reports flows from one VPN to another, and warns if no packet ever gets a label.
    pub(super) fn check_flows(
        &self,
        ctx: &mut Ctx<'_>,
        root: &Node,
        flows: &[FlowPlan],
        nodes: &Nodes<'_>,
    ) {
        let Some(mpls) = self.mpls else { return };
        let mut crossed: BTreeMap<usize, (u16, u16)> = BTreeMap::new();
        for (route, path) in self.paths.iter().enumerate() {
            for t in mpls.tunnels(path, |l| self.ends(l)) {
                let vpn = |node: u32| mpls.vpn_of[node as usize];
                let before = t
                    .first
                    .checked_sub(1)
                    .and_then(|i| vpn(self.ends(path[i]).0));
                let after = path.get(t.end).and_then(|l| vpn(self.ends(*l).1));
                if let (Some(a), Some(b)) = (before, after) {
                    if a != b {
                        crossed.insert(route, (a, b));
                    }
                }
            }
        }
        for f in flows {
            let of_path = |r: u32| crossed.get(&(r as usize));
            if let Some(&(a, b)) = of_path(f.route).or_else(|| f.back.and_then(of_path)) {
                // One report for all flows of a row between the same nodes.
                crossed.remove(&(f.route as usize));
                let [a, b] = [a, b].map(|v| &mpls.vpns[usize::from(v)]);
                let [from, to] = [f.from, f.to].map(|id| &nodes.names[id as usize]);
                let message = format!(
                    "flow `{}` from `{from}` to `{to}` crosses from VPN `{a}` to VPN `{b}`, which have no routes to each other",
                    f.name
                );
                let d = Diagnostic::error(codes::BAD_MPLS, message)
                    .found(format!("{a} -> {b}"))
                    .hint("put both ends into one VPN, or send the flow elsewhere");
                ctx.error(d, root, &steps!["topology", "mpls", "vpns"]);
            }
        }
        if ctx.is_fine() && !self.labelled.contains(&true) {
            let d = Diagnostic::warning(
                codes::W_NO_LABELS,
                "no flow crosses the MPLS network: no packet gets a label",
            )
            .hint("flows get labels between two nodes of `mpls.pe`");
            ctx.warn(d, root, &steps!["topology", "mpls", "pe"]);
        }
    }

    /// Warns of classes that never match on a link, because packets have labels there or because
    /// they have none.
    pub(super) fn check_classes(
        &self,
        ctx: &mut Ctx<'_>,
        root: &Node,
        policies: &Policies,
        attached: &BTreeMap<String, Attached>,
        links: &Links<'_>,
    ) {
        for (name, a) in attached {
            let Some(DisciplineSpec::ClassBased(spec)) = policies.get(&a.policy) else {
                continue;
            };
            let Some(named) = links.find(name) else {
                continue;
            };
            // Reverse links have no policy.
            let ways = 1 + usize::from(named.entry.spec.duplex);
            let seen: Vec<Seen> = named.ids().step_by(ways).map(|l| self.seen(l)).collect();
            let labelled = seen.contains(&Seen::Labels);
            let plain = seen.iter().all(|s| *s == Seen::None);
            let mut warn = |class: &ClassSpec, what: &str, hint: &str| {
                let what = what.replace("LINK", &format!("link `{name}`"));
                let message = format!("class `{}` of policy `{}` {what}", class.name, a.policy);
                let d = Diagnostic::warning(codes::W_LABELS, message).hint(hint);
                ctx.warn(d, root, &a.path);
            };
            for class in &spec.classes {
                let Some(m) = class.matching.as_ref().filter(|m| !m.looks_at_marks()) else {
                    continue;
                };
                let by_label = (0..8).any(|exp| m.matches(View::Labelled { exp }));
                if labelled && !by_label {
                    warn(
                        class,
                        "matches no labelled packet, and LINK carries labels",
                        "a router does not look below labels: match EXP bits, such as `match: {exp: 5}`",
                    );
                } else if plain && m.exp.is_some() {
                    warn(
                        class,
                        "matches EXP bits, and no packet on LINK has a label",
                        "labels are on links between nodes of `topology.mpls`; elsewhere match `dscp`",
                    );
                }
            }
            for class in &spec.classes {
                let imposes = || named.ids().step_by(ways).any(|l| self.imposes(l));
                if class.set_exp.is_some() && !labelled {
                    warn(
                        class,
                        "sets EXP bits, and no packet on LINK has a label",
                        "before an edge puts labels on, write `set_exp_imposition`; `set_exp` is for links that carry labels",
                    );
                } else if class.set_exp_imposition.is_some() && !imposes() {
                    warn(
                        class,
                        "sets EXP bits for labels to come, and LINK does not lead to an edge that puts any on",
                        "write it in the policy of the link from the customer to the node of `mpls.pe`; on labelled packets `set_exp` changes the top label",
                    );
                }
            }
        }
    }
}
