//! The ATM of a network, validated: switches, the lines at edges that circuits share, and the
//! circuits between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use spillgate_core::aal5::CELL;
use spillgate_core::curve::Curve;
use spillgate_core::{Dur, Rate};
use spillgate_queueing::{Reason, Service};

use super::guarantee::Sharers;
use super::network::Network;
use super::{AtmPortRecipe, AtmSwitchSpec, CellLine, CellPolice, Cells, Contract, Reassembly};
use crate::server::ServerPlan;
use crate::{Around, Declared, Fact, Names, Node, NodePlan, NodeSpec, Reader, Recipe, Start};

/// A node that is an ATM switch.
#[derive(Clone, Debug)]
pub struct AtmSwitchPlan {
    /// Id of the node.
    pub node: u32,
    /// The links that begin at its output ports.
    pub outputs: Vec<u32>,
    /// How to build a port.
    pub recipe: AtmPortRecipe,
    /// How it was written.
    pub spec: Arc<AtmSwitchSpec>,
}

/// A line at an edge that circuits share.
#[derive(Clone, Debug)]
pub struct AtmLinePlan {
    /// Its name: that of its node and its own, `edge/atm0`.
    pub name: String,
    /// Id of the sending node.
    pub node: u32,
    /// The links that are its circuits, at least one.
    pub circuits: Vec<u32>,
}

/// A link of the network.
pub struct AtmLink<'a> {
    /// Its name.
    pub name: &'a str,
    /// Id of the sending node.
    pub from: u32,
    /// Id of the receiving node.
    pub to: u32,
    /// Transmission rate, of its line if it is a circuit.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// Its server.
    pub server: Option<&'a ServerPlan>,
    /// Its port has a policy.
    pub has_policy: bool,
}

impl<'a> AtmLink<'a> {
    /// The circuit that it is.
    pub(super) fn circuit(&self) -> Option<&'a Cells> {
        match self.server? {
            ServerPlan::Cells(circuit) => Some(circuit),
            _ => None,
        }
    }

    /// What the cells of its circuit may be.
    fn contract(&self) -> Contract {
        let whole = || Contract::whole(self.rate);
        self.circuit().map_or_else(whole, |c| c.contract.clone())
    }
}

/// The switches and lines of a network, which run as one.
#[derive(Clone, Debug, Default)]
pub struct AtmPlan {
    /// The switches, by id of the node.
    pub switches: Vec<AtmSwitchPlan>,
    /// The lines, by node and name.
    pub lines: Vec<AtmLinePlan>,
    pub(super) ports: Vec<PortPlan>,
    pub(super) circuits: Vec<CircuitPlan>,
    /// By line, its circuits.
    pub(super) edges: Vec<Vec<EdgePlan>>,
    /// The links from edges over which cells come to switches.
    entering: Vec<u32>,
}

/// An output port.
#[derive(Clone, Debug)]
pub(super) struct PortPlan {
    pub(super) link: u32,
    pub(super) recipe: AtmPortRecipe,
    /// The time of a cell.
    pub(super) slot: Dur,
    pub(super) delay: Dur,
    /// Its line leads to an edge.
    pub(super) ends_frames: bool,
    pub(super) reassembly: Reassembly,
    pub(super) police: CellPolice,
}

/// A virtual circuit from the link of an edge to that behind the last switch.
#[derive(Clone, Debug)]
pub(super) struct CircuitPlan {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The ports on its way.
    pub(super) ports: Vec<u32>,
    pub(super) contract: Contract,
    /// By how much its cells may come late without fault.
    pub(super) tolerated: Dur,
}

/// A circuit of a line.
#[derive(Clone, Debug)]
pub(super) struct EdgePlan {
    pub(super) link: u32,
    pub(super) delay: Dur,
    /// The time of a cell.
    pub(super) slot: Dur,
    pub(super) contract: Contract,
    /// What its cells are shaped to.
    pub(super) shape: Contract,
    /// The longest phase of its line.
    pub(super) drift: Dur,
}

impl NodeSpec for AtmSwitchSpec {
    /// Each switch alone; [`AtmPlan::join`] makes a network of them.
    fn resolve(&self, around: &Around<'_>, reader: &mut dyn Reader) -> Vec<(u32, NodePlan)> {
        let recipe = match self.recipe() {
            Ok(recipe) => recipe,
            Err(problem) => {
                reader.refuse(problem);
                return Vec::new();
            }
        };
        let of = |node: u32| {
            let switch = AtmSwitchPlan {
                node,
                outputs: around.leaving(node),
                recipe,
                spec: Arc::new(self.clone()),
            };
            let plan = AtmPlan {
                switches: vec![switch],
                ..AtmPlan::default()
            };
            (node, Box::new(plan).into())
        };
        around.nodes.clone().map(of).collect()
    }
}

impl AtmPlan {
    /// The network of some switches and lines, given all links and the paths of packets.
    pub(super) fn join(
        switches: Vec<AtmSwitchPlan>,
        lines: Vec<AtmLinePlan>,
        links: &[AtmLink<'_>],
        routes: &[Box<[u32]>],
    ) -> Self {
        let mut new = Self::default();
        let is_switch = |node: u32| switches.iter().any(|s| s.node == node);
        for switch in &switches {
            new.ports.extend(switch.outputs.iter().map(|id| {
                let link = &links[*id as usize];
                PortPlan {
                    link: *id,
                    recipe: switch.recipe,
                    slot: link.rate.tx_time(CELL),
                    delay: link.delay,
                    ends_frames: !is_switch(link.to),
                    reassembly: switch.spec.reassembly,
                    police: switch.spec.police,
                }
            }));
        }
        for line in &lines {
            let edge = |id: &u32| EdgePlan::new(*id, &links[*id as usize]);
            new.edges.push(line.circuits.iter().map(edge).collect());
        }
        let port_of: BTreeMap<u32, u32> = (0..).zip(&new.ports).map(|(n, p)| (p.link, n)).collect();
        let mut known = BTreeSet::new();
        for route in routes {
            let mut rest = &**route;
            while let [from, after @ ..] = rest {
                rest = after;
                let ports: Vec<u32> = after
                    .iter()
                    .map_while(|l| port_of.get(l).copied())
                    .collect();
                let last = after.get(ports.len().wrapping_sub(1));
                let Some(to) = last.filter(|_| !port_of.contains_key(from)) else {
                    continue;
                };
                if known.insert((*from, *to)) {
                    let circuit = new.circuit(*from, *to, ports, &links[*from as usize]);
                    new.circuits.push(circuit);
                }
            }
        }
        new.entering = new.circuits.iter().map(|c| c.from).collect();
        new.entering.sort_unstable();
        new.entering.dedup();
        Self {
            switches,
            lines,
            ..new
        }
    }

    fn circuit(&self, from: u32, to: u32, ports: Vec<u32>, edge: &AtmLink<'_>) -> CircuitPlan {
        let drift = edge.circuit().map_or(Dur::ZERO, Cells::drift);
        let line = self.edges.iter().find(|l| l.iter().any(|e| e.link == from));
        let others = line.map_or(Dur::ZERO, |l| CellLine::lateness(l[0].slot, l.len()));
        CircuitPlan {
            from,
            to,
            ports,
            contract: edge.contract(),
            tolerated: drift + others,
        }
    }

    /// The line of a link with the circuits that `used` says are, and the place of the link among
    /// these.
    fn line_of(&self, link: u32, used: &dyn Fn(u32) -> bool) -> Option<(Sharers<'_>, usize)> {
        let line = self
            .edges
            .iter()
            .find(|l| l.iter().any(|e| e.link == link))?;
        let on_it = line.iter().filter(|e| e.link == link || used(e.link));
        let own = on_it.clone().position(|e| e.link == link)?;
        Some((Sharers::of(line, on_it), own))
    }

    /// What names its random streams, and orders its wakes.
    pub fn path(&self, names: &[String]) -> String {
        let first = self.switches.first().map(|s| s.node);
        let first = first.or_else(|| Some(self.lines.first()?.node));
        format!("nodes/{}/cells", names[first.unwrap_or_default() as usize])
    }

    /// The ids of its nodes, ascending.
    pub fn nodes(&self) -> Vec<u32> {
        let switches = self.switches.iter().map(|s| s.node);
        let mut nodes: Vec<u32> = switches.chain(self.lines.iter().map(|l| l.node)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

impl EdgePlan {
    fn new(id: u32, link: &AtmLink<'_>) -> Self {
        Self {
            link: id,
            delay: link.delay,
            slot: link.rate.tx_time(CELL),
            shape: link.circuit().map_or_else(|| link.contract(), Cells::shape),
            contract: link.contract(),
            drift: link.circuit().map_or(Dur::ZERO, Cells::drift),
        }
    }
}

impl Recipe for AtmPlan {
    fn build(&self, start: &Start<'_>) -> Box<dyn Node> {
        Box::new(Network::new(self, start))
    }

    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for switch in &self.switches {
            let AtmSwitchPlan {
                node,
                outputs,
                recipe,
                spec,
            } = switch;
            // The recipe counts for the rest of what was written.
            let (police, reassembly) = (spec.police, spec.reassembly);
            write!(out, "{node} {outputs:?}{recipe:?}{police:?}{reassembly:?}")?;
        }
        for line in &self.lines {
            let AtmLinePlan {
                name,
                node,
                circuits,
            } = line;
            write!(out, "{name:?}{node} {circuits:?}")?;
        }
        Ok(())
    }

    fn describe(&self, _: &dyn Names) -> Vec<(u32, Vec<Fact>)> {
        let of = |s: &AtmSwitchPlan| {
            let word = |key, word: &str| Fact::text(key, word.to_owned());
            let facts = vec![
                Fact::count("ports", s.outputs.len() as u64, ""),
                Fact::count("buffer", s.spec.buffer.into(), "cells"),
                word("queues", s.spec.queues.word()),
                word("service", s.spec.service_in_words()),
                Fact::text("discard", s.spec.discard_in_words()),
                word("police", s.spec.police.word()),
                word("reassembly", s.spec.reassembly.word()),
            ];
            (s.node, facts)
        };
        self.switches.iter().map(of).collect()
    }

    fn declares(&self) -> Declared {
        // Cells come from ports.
        let shared = self.lines.iter().flat_map(|l| &l.circuits);
        let mut follows: Vec<u32> = shared.chain(&self.entering).copied().collect();
        follows.sort_unstable();
        follows.dedup();
        Declared {
            follows,
            serves: self.ports.iter().map(|p| p.link).collect(),
            ..Declared::default()
        }
    }

    fn port_service(
        &self,
        link: u32,
        used: &dyn Fn(u32) -> bool,
        names: &dyn Names,
    ) -> Option<Result<Service, Reason>> {
        let (line, own) = self.line_of(link, used)?;
        Some(line.serves(own, &|link| names.link(link).to_owned()))
    }

    fn port_sends(&self, link: u32, longest: u32) -> Option<Curve> {
        let (line, own) = self.line_of(link, &|_| false)?;
        line.sends(own, longest).ok()
    }

    fn memory_bytes(&self, _: usize, routes: usize) -> u64 {
        let of = |s: &AtmSwitchPlan| {
            let port = s.recipe.memory_bytes(routes);
            port.saturating_mul(s.outputs.len() as u64)
        };
        self.switches.iter().map(of).fold(0, u64::saturating_add)
    }
}
