//! A provider's MPLS network: its nodes, tables and VPNs.

use std::collections::BTreeMap;

use spillgate_core::Dscp;
use spillgate_queueing::View;
use spillgate_queueing::spec::DisciplineSpec;

use super::links::{Draft, Links, edges};
use super::nodes::{Nodes, Place};
use super::paths::Paths;
use super::policies::{Attached, Policies};
use super::{bad_name, check_name};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::mpls::{MplsPlan, Role};
use crate::node::{Node, Step, steps};
use crate::plan::FlowPlan;
use crate::routes::Edge;
use crate::schema::{MplsModel, MplsSpec, Scenario};
use crate::suggest::list;

/// Most VPNs: their ids have 16 bits.
const MAX_VPNS: usize = 60_000;

fn at<const N: usize>(rest: [Step; N]) -> Vec<Step> {
    let mut path = steps!["topology", "mpls"].to_vec();
    path.extend(rest);
    path
}

/// The network of a scenario; none if it has no network, or after an error.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    drafts: &[Draft<'_>],
) -> Option<MplsPlan> {
    let spec = scenario.topology.mpls.as_ref()?;
    let mut reader = MplsReader {
        ctx,
        root,
        nodes,
        roles: vec![Role::Outside; nodes.names.len()],
        fine: true,
    };
    reader.roles(spec);
    let (exp_of, dscp_of) = reader.tables(spec);
    let edges = edges(drafts);
    if reader.fine {
        reader.neighbors(spec, &edges, links, drafts);
    }
    let (vpns, vpn_of) = reader.vpns(spec, &edges);
    reader.fine.then_some(MplsPlan {
        roles: reader.roles,
        php: spec.php,
        model: spec.model,
        exp_of,
        dscp_of,
        vpns,
        vpn_of,
    })
}

struct MplsReader<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    root: &'a Node,
    nodes: &'a Nodes<'a>,
    roles: Vec<Role>,
    fine: bool,
}

impl MplsReader<'_, '_> {
    fn error(&mut self, d: Diagnostic, path: &[Step]) {
        self.ctx.error(d, self.root, path);
        self.fine = false;
    }

    /// The nodes that a name of a list stands for.
    fn members(&mut self, name: &str, path: &[Step]) -> Vec<u32> {
        match self.nodes.expect(self.ctx, name, self.root, path) {
            Some(Place::One(id)) => vec![id],
            Some(Place::Group { first, count }) => (first..first + count).collect(),
            None => {
                self.fine = false;
                Vec::new()
            }
        }
    }

    fn roles(&mut self, spec: &MplsSpec) {
        let mut edges = 0;
        for (key, names, role) in [("pe", &spec.pe, Role::Edge), ("p", &spec.p, Role::Inside)] {
            for (i, name) in names.iter().enumerate() {
                let path = at(steps![key, i]);
                for node in self.members(name, &path) {
                    let known = std::mem::replace(&mut self.roles[node as usize], role);
                    if known != Role::Outside {
                        let d = Diagnostic::error(
                            codes::DUPLICATE_NAME,
                            format!("node `{}` is listed twice", self.nodes.names[node as usize]),
                        )
                        .hint("a node is a provider edge (`pe`) or inside (`p`); list it once");
                        self.error(d, &path);
                    }
                    edges += u32::from(role == Role::Edge);
                }
            }
        }
        if self.fine && edges < 2 {
            let d = Diagnostic::error(
                codes::BAD_MPLS,
                format!(
                    "{edges} provider edges: no packet could come in at one and leave at another"
                ),
            )
            .hint("list at least two nodes under `pe`");
            self.error(d, &at(steps!["pe"]));
        }
    }

    fn tables(&mut self, spec: &MplsSpec) -> ([u8; 64], [Dscp; 8]) {
        // RFC 3032 left EXP open; Cisco IOS copies the IP precedence.
        let mut exp_of = std::array::from_fn(|d| d as u8 >> 3);
        let mut dscp_of = std::array::from_fn(|e| Dscp::class_selector(e as u8));
        for (dscp, exp) in &spec.imposition {
            if *exp > 7 {
                let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("EXP bits of {exp}"))
                    .hint("the EXP bits of a label are between 0 and 7");
                self.error(d, &at(steps!["imposition", &dscp.to_string()]));
                continue;
            }
            exp_of[usize::from(dscp.value())] = *exp;
        }
        for (exp, dscp) in &spec.disposition {
            match dscp_of.get_mut(usize::from(*exp)) {
                Some(place) => *place = *dscp,
                None => {
                    let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("EXP bits of {exp}"))
                        .hint("the EXP bits of a label are between 0 and 7");
                    self.error(d, &at(steps!["disposition", &exp.to_string()]));
                }
            }
        }
        if !spec.disposition.is_empty() && spec.model != MplsModel::Uniform {
            let d = Diagnostic::error(
                codes::BAD_MPLS,
                "the DSCP is set at disposition only with the uniform model",
            )
            .hint("write `model: uniform`, or leave `disposition` out");
            self.error(d, &at(steps!["disposition"]));
        }
        (exp_of, dscp_of)
    }

    /// Checks that provider nodes have no customers, and that provider edges are connected.
    fn neighbors(
        &mut self,
        spec: &MplsSpec,
        edges: &[Edge],
        links: &Links<'_>,
        drafts: &[Draft<'_>],
    ) {
        let mut inside = vec![[false; 2]; self.roles.len()];
        let mut reported = "";
        for (edge, draft) in edges.iter().zip(drafts) {
            let role = |n: u32| self.roles[n as usize];
            let (from, to) = (role(edge.from), role(edge.to));
            if from != Role::Outside && to != Role::Outside {
                inside[edge.from as usize][0] = true;
                inside[edge.to as usize][1] = true;
                continue;
            }
            if from != Role::Inside && to != Role::Inside {
                continue;
            }
            let written = links.find_way(draft.name()).map_or("", |n| n.base());
            if std::mem::replace(&mut reported, written) == written {
                continue;
            }
            let name = |n: u32| &self.nodes.names[n as usize];
            let (p, other) = match from {
                Role::Inside => (edge.from, edge.to),
                _ => (edge.to, edge.from),
            };
            let d = Diagnostic::error(
                codes::BAD_MPLS,
                format!(
                    "link `{}` joins `{}`, a node inside the MPLS network, to `{}`, which is not part of it",
                    draft.name(),
                    name(p),
                    name(other)
                ),
            )
            .found(draft.name())
            .hint(format!(
                "list `{}` under `mpls.pe` if customers are attached to it, or `{}` under `mpls.p`",
                name(p),
                name(other)
            ));
            self.error(d, &steps!["topology", "links", written]);
        }
        for (key, names) in [("pe", &spec.pe), ("p", &spec.p)] {
            for (i, name) in names.iter().enumerate() {
                let path = at(steps![key, i]);
                for node in self.members(name, &path) {
                    let missing = match inside[node as usize] {
                        [true, true] => continue,
                        [false, _] => "no link leads from it into",
                        [true, false] => "no link leads to it from",
                    };
                    let d = Diagnostic::error(
                        codes::BAD_MPLS,
                        format!(
                            "`{}` has no path: {missing} the rest of the MPLS network",
                            self.nodes.names[node as usize]
                        ),
                    )
                    .hint("add a link to another node of `mpls`, `duplex` for both directions");
                    // A path in one direction is enough for one-way traffic.
                    if inside[node as usize] == [false, false] {
                        self.error(d, &path);
                    }
                }
            }
        }
    }

    /// Names of the VPNs, and which node is in which.
    fn vpns(&mut self, spec: &MplsSpec, edges: &[Edge]) -> (Vec<String>, Vec<Option<u16>>) {
        let mut of = vec![None; self.roles.len()];
        // Nodes that are attached to a provider edge.
        let mut attached = vec![None; self.roles.len()];
        for edge in edges {
            let outside = |n: u32| self.roles[n as usize] == Role::Outside;
            match (outside(edge.from), outside(edge.to)) {
                (true, false) => attached[edge.from as usize] = Some(edge.to),
                (false, true) => attached[edge.to as usize] = Some(edge.from),
                _ => {}
            }
        }
        if spec.vpns.is_empty() {
            for (of, attached) in of.iter_mut().zip(&attached) {
                *of = attached.map(|_| 0);
            }
            return (vec!["vpn".to_owned()], of);
        }
        if spec.vpns.len() > MAX_VPNS {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("{} VPNs", spec.vpns.len()))
                .hint(format!("a network has at most {MAX_VPNS} VPNs"));
            self.error(d, &at(steps!["vpns"]));
        }
        for (v, (vpn, names)) in spec.vpns.iter().enumerate() {
            if bad_name(vpn).is_some() {
                self.fine = false;
                check_name(self.ctx, vpn, "VPN", self.root, &at(steps!["vpns", vpn]));
            }
            for (i, name) in names.iter().enumerate() {
                let path = at(steps!["vpns", vpn, i]);
                for node in self.members(name, &path) {
                    let written = &self.nodes.names[node as usize];
                    let problem = if attached[node as usize].is_none() {
                        Some((
                            format!("`{written}` is not attached to a provider edge"),
                            "list the nodes outside the MPLS network that have a link to or from a node of `mpls.pe`",
                        ))
                    } else {
                        let taken = of[node as usize].replace(v as u16);
                        taken.map(|other: u16| {
                            let other = spec.vpns.keys().nth(other.into());
                            (
                                format!(
                                    "`{written}` is listed twice, in VPN `{}` before",
                                    other.map_or("", String::as_str)
                                ),
                                "a node belongs to one VPN",
                            )
                        })
                    };
                    if let Some((message, hint)) = problem {
                        let d = Diagnostic::error(codes::BAD_MPLS, message)
                            .found(name)
                            .hint(hint);
                        self.error(d, &path);
                    }
                }
            }
        }
        for node in 0..of.len() {
            let (Some(edge), None) = (attached[node], of[node]) else {
                continue;
            };
            if !self.fine {
                break;
            }
            let d = Diagnostic::error(
                codes::BAD_MPLS,
                format!(
                    "`{}` is attached to provider edge `{}`, but belongs to no VPN",
                    self.nodes.names[node], self.nodes.names[edge as usize]
                ),
            )
            .hint(format!(
                "add it to one of {}",
                list(spec.vpns.keys().map(String::as_str))
            ));
            self.error(d, &at(steps!["vpns"]));
        }
        (spec.vpns.keys().cloned().collect(), of)
    }
}

/// The links on which packets have labels. Reports flows from one VPN to another, and warns if no
/// packet ever gets a label.
pub(super) fn check_paths(
    ctx: &mut Ctx<'_>,
    root: &Node,
    mpls: &MplsPlan,
    paths: &Paths,
    flows: &[FlowPlan],
    edges: &[Edge],
    nodes: &Nodes<'_>,
) -> Vec<bool> {
    let ends = |link: u32| {
        let e = edges[link as usize];
        (e.from, e.to)
    };
    let mut labelled = vec![false; edges.len()];
    let mut crossed: BTreeMap<usize, (u16, u16)> = BTreeMap::new();
    for (route, path) in paths.all.iter().enumerate() {
        for (link, depth) in path.iter().zip(mpls.depths(path, ends)) {
            labelled[*link as usize] |= depth > 0;
        }
        for t in mpls.tunnels(path, ends) {
            let vpn = |node: u32| mpls.vpn_of[node as usize];
            let before = t.first.checked_sub(1).and_then(|i| vpn(ends(path[i]).0));
            let after = path.get(t.end).and_then(|l| vpn(ends(*l).1));
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
            let name = |v: u16| &mpls.vpns[usize::from(v)];
            let node = |id: u32| &nodes.names[id as usize];
            let d = Diagnostic::error(
                codes::BAD_MPLS,
                format!(
                    "flow `{}` from `{}` to `{}` crosses from VPN `{}` to VPN `{}`, which have no routes to each other",
                    f.name,
                    node(f.from),
                    node(f.to),
                    name(a),
                    name(b)
                ),
            )
            .found(format!("{} -> {}", name(a), name(b)))
            .hint("put both ends into one VPN, or send the flow elsewhere");
            ctx.error(d, root, &at(steps!["vpns"]));
        }
    }
    if ctx.is_fine() && !labelled.contains(&true) {
        let d = Diagnostic::warning(
            codes::W_NO_LABELS,
            "no flow crosses the MPLS network: no packet gets a label",
        )
        .hint("flows get labels between two nodes of `mpls.pe`");
        ctx.warn(d, root, &at(steps!["pe"]));
    }
    labelled
}

/// Warns of classes that never match on a link, because packets have labels there or because they
/// have none.
pub(super) fn check_classes(
    ctx: &mut Ctx<'_>,
    root: &Node,
    policies: &Policies,
    attached: &BTreeMap<String, Attached>,
    links: &Links<'_>,
    seen: impl Fn(u32) -> Seen,
    imposes: impl Fn(u32) -> bool,
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
        let seen: Vec<Seen> = named.ids().step_by(ways).map(&seen).collect();
        let labelled = seen.contains(&Seen::Labels);
        let plain = seen.iter().all(|s| *s == Seen::None);
        for class in &spec.classes {
            let Some(m) = class.matching.as_ref().filter(|m| !m.looks_at_marks()) else {
                continue;
            };
            let by_label = (0..8).any(|exp| m.matches(View::Labelled { exp }));
            let d = if labelled && !by_label {
                Diagnostic::warning(
                    codes::W_LABELS,
                    format!(
                        "class `{}` of policy `{}` matches no labelled packet, and link `{name}` carries labels",
                        class.name, a.policy
                    ),
                )
                .hint("a router does not look below labels: match EXP bits, such as `match: {exp: 5}`")
            } else if plain && m.exp.is_some() {
                Diagnostic::warning(
                    codes::W_LABELS,
                    format!(
                        "class `{}` of policy `{}` matches EXP bits, and no packet on link `{name}` has a label",
                        class.name, a.policy
                    ),
                )
                .hint("labels are on links between nodes of `topology.mpls`; elsewhere match `dscp`")
            } else {
                continue;
            };
            ctx.warn(d, root, &a.path);
        }
        for class in &spec.classes {
            let d = if class.set_exp.is_some() && !labelled {
                Diagnostic::warning(
                    codes::W_LABELS,
                    format!(
                        "class `{}` of policy `{}` sets EXP bits, and no packet on link `{name}` has a label",
                        class.name, a.policy
                    ),
                )
                .hint("before an edge puts labels on, write `set_exp_imposition`; `set_exp` is for links that carry labels")
            } else if class.set_exp_imposition.is_some() && !named.ids().step_by(ways).any(&imposes)
            {
                Diagnostic::warning(
                    codes::W_LABELS,
                    format!(
                        "class `{}` of policy `{}` sets EXP bits for labels to come, and link `{name}` does not lead to an edge that puts any on",
                        class.name, a.policy
                    ),
                )
                .hint("write it in the policy of the link from the customer to the node of `mpls.pe`; on labelled packets `set_exp` changes the top label")
            } else {
                continue;
            };
            ctx.warn(d, root, &a.path);
        }
    }
}

/// The labels that the port of a link sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// No label, ever.
    None,
    /// Labels of some packets.
    Labels,
    /// No label, but the EXP bits of labels that the node removed.
    Remembered,
}

/// The labels that the port of each link sees.
pub(super) fn seen(mpls: Option<&MplsPlan>, labelled: &[bool], edges: &[Edge]) -> Vec<Seen> {
    let of = |(e, labelled): (&Edge, &bool)| match mpls {
        Some(m) if *labelled || m.is_inside(e.from, e.to) => {
            if *labelled {
                Seen::Labels
            } else {
                Seen::Remembered
            }
        }
        Some(m) if m.model == MplsModel::Pipe && m.is_provider(e.from) => Seen::Remembered,
        _ => Seen::None,
    };
    edges.iter().zip(labelled).map(of).collect()
}
