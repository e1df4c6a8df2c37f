//! From a network as written to a plan: its nodes, tables and VPNs.

use spillgate_core::Dscp;

use super::{MplsModel, MplsPlan, MplsSpec, Role};
use crate::stage::{StagePlan, StageSpec};
use crate::{Around, Reader};
use spillgate_core::{Mistake, Problem};

/// Most VPNs: their ids have 16 bits.
const MAX_VPNS: usize = 60_000;

impl StageSpec for MplsSpec {
    fn resolve(&self, around: &Around<'_>, reader: &mut dyn Reader) -> Option<StagePlan> {
        let mut resolver = Resolver {
            spec: self,
            around,
            reader,
            roles: vec![Role::Outside; around.names.len()],
            fine: true,
        };
        resolver.roles();
        let (exp_of, dscp_of) = resolver.tables();
        if resolver.fine {
            resolver.neighbors();
        }
        let (vpns, vpn_of) = resolver.vpns();
        let plan = MplsPlan {
            roles: resolver.roles,
            php: self.php,
            model: self.model,
            exp_of,
            dscp_of,
            vpns,
            vpn_of,
        };
        resolver.fine.then(|| Box::new(plan).into())
    }
}

struct Resolver<'a> {
    spec: &'a MplsSpec,
    around: &'a Around<'a>,
    reader: &'a mut dyn Reader,
    roles: Vec<Role>,
    fine: bool,
}

/// A number outside of three bits.
fn no_exp(path: String, exp: u8) -> Problem {
    let hint = "the EXP bits of a label are between 0 and 7";
    Problem::new(path, "", format!("EXP bits of {exp}"), hint).of(Mistake::Range)
}

impl<'a> Resolver<'a> {
    fn refuse(&mut self, problem: Problem) {
        self.reader.refuse(problem);
        self.fine = false;
    }

    /// The same, of what stands at a path.
    fn bad(&mut self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.refuse(Problem::new(path, "", message, hint));
    }

    fn name(&self, node: u32) -> &'a str {
        &self.around.names[node as usize]
    }

    fn role(&self, node: u32) -> Role {
        self.roles[node as usize]
    }

    fn is_outside(&self, node: u32) -> bool {
        self.role(node) == Role::Outside
    }

    /// The nodes that a name stands for.
    fn members(&mut self, path: &str, name: &str) -> Vec<u32> {
        let found = self.reader.nodes(path, name);
        self.fine &= found.is_some();
        found.unwrap_or_default()
    }

    /// The names of provider nodes, each with its path and role.
    fn listed(&self) -> Vec<(String, &'a str, Role)> {
        let lists = [
            ("pe", &self.spec.pe, Role::Edge),
            ("p", &self.spec.p, Role::Inside),
        ];
        let of = |(key, names, role): (&str, &'a Vec<String>, Role)| {
            let names = names.iter().enumerate();
            let path = |(i, name): (usize, &'a String)| (format!("{key}[{i}]"), &**name, role);
            names.map(path).collect::<Vec<_>>()
        };
        lists.into_iter().flat_map(of).collect()
    }

    fn roles(&mut self) {
        let mut edges = 0;
        for (path, name, role) in self.listed() {
            for node in self.members(&path, name) {
                let known = std::mem::replace(&mut self.roles[node as usize], role);
                if known != Role::Outside {
                    let message = format!("node `{}` is listed twice", self.name(node));
                    let hint = "a node is a provider edge (`pe`) or inside (`p`); list it once";
                    self.refuse(Problem::new(&*path, "", message, hint).of(Mistake::Twice));
                }
                edges += u32::from(role == Role::Edge);
            }
        }
        if self.fine && edges < 2 {
            let message = format!(
                "{edges} provider edges: no packet could come in at one and leave at another"
            );
            let hint = "list at least two nodes under `pe`";
            self.bad("pe", message, hint);
        }
    }

    fn tables(&mut self) -> ([u8; 64], [Dscp; 8]) {
        let spec = self.spec;
        // RFC 3032 left EXP open; Cisco IOS copies the IP precedence.
        let mut exp_of = std::array::from_fn(|d| d as u8 >> 3);
        let mut dscp_of = std::array::from_fn(|e| Dscp::class_selector(e as u8));
        for (dscp, exp) in &spec.imposition {
            match exp {
                0..=7 => exp_of[usize::from(dscp.value())] = *exp,
                _ => self.refuse(no_exp(format!("imposition.\"{dscp}\""), *exp)),
            }
        }
        for (exp, dscp) in &spec.disposition {
            match dscp_of.get_mut(usize::from(*exp)) {
                Some(place) => *place = *dscp,
                None => self.refuse(no_exp(format!("disposition.\"{exp}\""), *exp)),
            }
        }
        if !spec.disposition.is_empty() && spec.model != MplsModel::Uniform {
            let message = "the DSCP is set at disposition only with the uniform model";
            let hint = "write `model: uniform`, or leave `disposition` out";
            self.bad("disposition", message, hint);
        }
        (exp_of, dscp_of)
    }

    /// Checks that provider nodes have no customers, and that provider edges are connected.
    fn neighbors(&mut self) {
        let around = self.around;
        // By node: whether a link leads from it to a node of the provider, and from one to it.
        let mut inside = vec![[false; 2]; self.roles.len()];
        let mut reported = "";
        for (id, link) in (0..).zip(around.links) {
            let (from, to) = (self.role(link.from), self.role(link.to));
            if from != Role::Outside && to != Role::Outside {
                inside[link.from as usize][0] = true;
                inside[link.to as usize][1] = true;
                continue;
            }
            let joins = from == Role::Inside || to == Role::Inside;
            if !joins || std::mem::replace(&mut reported, link.written) == link.written {
                continue;
            }
            let (p, other) = match from {
                Role::Inside => (self.name(link.from), self.name(link.to)),
                _ => (self.name(link.to), self.name(link.from)),
            };
            let name = link.name;
            let message = format!(
                "link `{name}` joins `{p}`, a node inside the MPLS network, to `{other}`, which is not part of it"
            );
            let hint = format!(
                "list `{p}` under `mpls.pe` if customers are attached to it, or `{other}` under `mpls.p`"
            );
            self.reader
                .refuse_link(id, Problem::new("", name, message, hint));
            self.fine = false;
        }
        for (path, name, _) in self.listed() {
            for node in self.members(&path, name) {
                // A path in one direction is enough for one-way traffic.
                if inside[node as usize] == [false, false] {
                    let message = format!(
                        "`{}` has no path: no link leads from it into the rest of the MPLS network",
                        self.name(node)
                    );
                    let hint = "add a link to another node of `mpls`, `duplex` for both directions";
                    self.bad(&path, message, hint);
                }
            }
        }
    }

    /// Names of the VPNs, and which node is in which.
    fn vpns(&mut self) -> (Vec<String>, Vec<Option<u16>>) {
        let (spec, around) = (self.spec, self.around);
        let mut of: Vec<Option<u16>> = vec![None; self.roles.len()];
        // Nodes that are attached to a provider edge.
        let mut attached = vec![None; self.roles.len()];
        for link in around.links {
            match (self.is_outside(link.from), self.is_outside(link.to)) {
                (true, false) => attached[link.from as usize] = Some(link.to),
                (false, true) => attached[link.to as usize] = Some(link.from),
                _ => {}
            }
        }
        if spec.vpns.is_empty() {
            let of = attached.iter().map(|a| a.map(|_| 0)).collect();
            return (vec!["vpn".to_owned()], of);
        }
        if spec.vpns.len() > MAX_VPNS {
            let message = format!("{} VPNs", spec.vpns.len());
            let hint = format!("a network has at most {MAX_VPNS} VPNs");
            self.refuse(Problem::new("vpns", "", message, hint).of(Mistake::Range));
        }
        for (v, (vpn, names)) in spec.vpns.iter().enumerate() {
            self.fine &= self
                .reader
                .check_name(&format!("vpns.\"{vpn}\""), vpn, "VPN");
            for (i, name) in names.iter().enumerate() {
                let path = format!("vpns.\"{vpn}\"[{i}]");
                for node in self.members(&path, name) {
                    let written = self.name(node);
                    let (message, hint) = if attached[node as usize].is_none() {
                        (
                            format!("`{written}` is not attached to a provider edge"),
                            "list the nodes outside the MPLS network that have a link to or from a node of `mpls.pe`",
                        )
                    } else {
                        let Some(other) = of[node as usize].replace(v as u16) else {
                            continue;
                        };
                        let other = spec.vpns.keys().nth(other.into());
                        let other = other.map_or("", String::as_str);
                        (
                            format!("`{written}` is listed twice, in VPN `{other}` before"),
                            "a node belongs to one VPN",
                        )
                    };
                    self.refuse(Problem::new(&*path, name, message, hint));
                }
            }
        }
        for (node, of) in (0..).zip(&of) {
            let (Some(edge), None, true) = (attached[node as usize], of, self.fine) else {
                continue;
            };
            let message = format!(
                "`{}` is attached to provider edge `{}`, but belongs to no VPN",
                self.name(node),
                self.name(edge)
            );
            let names: Vec<&str> = spec.vpns.keys().map(String::as_str).collect();
            let hint = format!("add it to one of {}", self.reader.list(&names));
            self.bad("vpns", message, hint);
        }
        (spec.vpns.keys().cloned().collect(), of)
    }
}
