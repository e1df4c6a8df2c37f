//! A provider's MPLS network, validated, and the labels that follow from it.

use std::fmt;

use spillgate_core::{Dscp, Labels};

use super::MplsModel;
use super::running::Mpls;
use crate::Start;
use crate::stage::{Acts, Network, Stage, StageRecipe};

/// The role of a node in the provider's network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Not part of it.
    #[default]
    Outside,
    /// Provider edge.
    Edge,
    /// Inside, without customers.
    Inside,
}

/// A provider's MPLS network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MplsPlan {
    /// By node.
    pub roles: Vec<Role>,
    /// Whether the label of the path is removed one hop before its end.
    pub php: bool,
    /// The treatment of EXP bits when a label is removed.
    pub model: MplsModel,
    /// EXP bits at imposition, by DSCP.
    pub exp_of: [u8; 64],
    /// With the uniform model: the DSCP after disposition, by EXP bits that were changed in the
    /// network.
    pub dscp_of: [Dscp; 8],
    /// Names of the VPNs, at least one.
    pub vpns: Vec<String>,
    /// By node: the VPN that it belongs to, if it is attached to a provider edge.
    pub vpn_of: Vec<Option<u16>>,
}

/// The first label value that is not reserved (RFC 3032 section 2.1).
const FIRST_LABEL: u32 = 16;
/// The label that carries only EXP bits.
const EXPLICIT_NULL: u32 = 0;

/// The part of a path inside the provider's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Position in the path of its first link.
    pub first: usize,
    /// Position of the link after its last one.
    pub end: usize,
    /// Id of the node that puts labels on.
    pub ingress: u32,
    /// Id of the node at which the path ends.
    pub egress: u32,
    /// Whether both are provider edges, so that packets have a VPN label.
    pub vpn: bool,
}

impl MplsPlan {
    /// Whether a node is of the provider.
    #[inline]
    pub fn is_provider(&self, node: u32) -> bool {
        self.role(node) != Role::Outside
    }

    /// The role of a node.
    #[inline]
    pub fn role(&self, node: u32) -> Role {
        self.roles.get(node as usize).copied().unwrap_or_default()
    }

    /// Whether a link joins two nodes of the provider.
    pub fn is_inside(&self, from: u32, to: u32) -> bool {
        self.is_provider(from) && self.is_provider(to)
    }

    /// The number of labels of a packet on an inner link to node `to`, towards `egress`.
    #[inline]
    pub fn depth(&self, to: u32, egress: u32, vpn: bool) -> u8 {
        u8::from(vpn) + u8::from(!(self.php && to == egress))
    }

    /// The label of the path to `egress` on a link to node `to`: one value for each egress in the
    /// whole network, from 16 on in the order of the provider's nodes, as with a block of labels
    /// for segment routing (RFC 8402); explicit null where the path ends (RFC 3032 section 2.1).
    pub fn transport_label(&self, to: u32, egress: u32) -> u32 {
        if to == egress {
            return EXPLICIT_NULL;
        }
        let before = self.roles.iter().take(egress as usize);
        FIRST_LABEL + before.filter(|r| **r != Role::Outside).count() as u32
    }

    /// The label of a VPN at every edge, below those of paths: one for each VPN (RFC 4364
    /// section 4.3.2 leaves that to the edge).
    pub fn vpn_label(&self, vpn: u16) -> u32 {
        let ways = self.roles.iter().filter(|r| **r != Role::Outside).count();
        FIRST_LABEL + ways as u32 + u32::from(vpn)
    }

    /// The VPN of the packets of a path, by the first node that belongs to one.
    pub fn vpn_of_path(&self, path: &[u32], ends: impl Fn(u32) -> (u32, u32)) -> u16 {
        let nodes = path.iter().flat_map(|l| {
            let (from, to) = ends(*l);
            [from, to]
        });
        let mut vpns = nodes.filter_map(|n| self.vpn_of.get(n as usize).copied().flatten());
        vpns.next().unwrap_or(0)
    }

    /// The values of a packet's labels, the top one first, on a link to node `to`.
    pub fn label_values(&self, labels: Labels, to: u32, egress: u32, vpn: u16) -> [u32; 2] {
        let way = self.transport_label(to, egress);
        // With popping one hop before the end the last label is the VPN's.
        match (labels.depth(), self.php && to == egress) {
            (2, _) => [way, self.vpn_label(vpn)],
            (1, true) => [self.vpn_label(vpn), 0],
            _ => [way, 0],
        }
    }

    /// The parts of a path inside the provider's network, in order. `ends` gives the ends of a
    /// link.
    pub fn tunnels(&self, path: &[u32], ends: impl Fn(u32) -> (u32, u32)) -> Vec<Tunnel> {
        let mut all: Vec<Tunnel> = Vec::new();
        for (i, &link) in path.iter().enumerate() {
            let (from, to) = ends(link);
            if !self.is_inside(from, to) {
                continue;
            }
            match all.last_mut().filter(|t| t.end == i) {
                Some(t) => {
                    t.end += 1;
                    t.egress = to;
                }
                None => all.push(Tunnel {
                    first: i,
                    end: i + 1,
                    ingress: from,
                    egress: to,
                    vpn: false,
                }),
            }
        }
        for t in &mut all {
            t.vpn = self.is_vpn(t.ingress, t.egress);
        }
        all
    }

    /// Whether packets between these nodes of the provider have a VPN label.
    pub fn is_vpn(&self, ingress: u32, egress: u32) -> bool {
        self.role(ingress) == Role::Edge && self.role(egress) == Role::Edge
    }

    /// How many labels packets have on each link of a path.
    pub fn depths(&self, path: &[u32], ends: impl Fn(u32) -> (u32, u32)) -> Vec<u8> {
        let mut depths = vec![0; path.len()];
        for t in self.tunnels(path, &ends) {
            for i in t.first..t.end {
                depths[i] = self.depth(ends(path[i]).1, t.egress, t.vpn);
            }
        }
        depths
    }

    /// Pushes or pops labels until the packet has `depth` labels, as on the next link. It has fewer
    /// labels before only if it has none.
    #[inline]
    pub(super) fn relabel(&self, labels: &mut Labels, dscp: &mut Dscp, depth: u8) {
        if labels.depth() == 0 && depth > 0 {
            let by_dscp = self.exp_of[usize::from(dscp.value() & 63)];
            let exp = labels.intended().unwrap_or(by_dscp);
            (0..depth).for_each(|_| labels.push(exp));
        }
        let uniform = self.model == MplsModel::Uniform;
        while labels.depth() > depth {
            let exp = labels.pop(uniform).unwrap_or(0);
            if labels.depth() == 0 {
                self.dispose(labels, dscp, exp);
            }
        }
    }

    /// The last label is gone, whose EXP bits were `exp`.
    fn dispose(&self, labels: &mut Labels, dscp: &mut Dscp, exp: u8) {
        match self.model {
            MplsModel::ShortPipe => {}
            MplsModel::Pipe => labels.remember(exp),
            // A DSCP whose EXP bits the network did not change keeps all its bits.
            MplsModel::Uniform if self.exp_of[usize::from(dscp.value() & 63)] == exp => {}
            MplsModel::Uniform => *dscp = self.dscp_of[usize::from(exp & 7)],
        }
    }
}

impl StageRecipe for MplsPlan {
    fn build(&self, start: &Start<'_>, network: &Network<'_>) -> Box<dyn Stage> {
        Box::new(Mpls::new(self, start.window, network))
    }

    fn path(&self) -> String {
        "mpls".to_owned()
    }

    /// At provider nodes and one hop behind them labels may change. Where links fail, provider
    /// nodes send packets into tunnels.
    fn declares(&self, network: &Network<'_>) -> Acts {
        let mut behind = vec![false; self.roles.len()];
        for (from, to) in network.ends {
            behind[*to as usize] |= self.is_provider(*from);
        }
        let links = |acts: &dyn Fn(u32, u32) -> bool| {
            let all = (0..).zip(network.ends);
            let found = all.filter(|(_, (from, to))| acts(*from, *to));
            found.map(|(id, _)| id).collect()
        };
        Acts {
            arrivals: links(&|_, to| network.looked_up && self.is_provider(to)),
            ports: links(&|from, _| self.is_provider(from) || behind[from as usize]),
            ways: network.looked_up,
            notes: false,
        }
    }

    fn marks(&self) -> Vec<Dscp> {
        match self.model {
            MplsModel::Uniform => self.dscp_of.to_vec(),
            MplsModel::ShortPipe | MplsModel::Pipe => Vec::new(),
        }
    }

    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes: a customer, an edge, one inside, an edge, two customers of different VPNs.
    fn plan(php: bool) -> MplsPlan {
        use Role::{Edge, Inside, Outside};
        MplsPlan {
            roles: vec![Outside, Edge, Inside, Edge, Outside, Outside],
            php,
            model: MplsModel::ShortPipe,
            exp_of: [0; 64],
            dscp_of: std::array::from_fn(|e| Dscp::class_selector(e as u8)),
            vpns: vec!["red".to_owned(), "blue".to_owned()],
            vpn_of: vec![Some(1), None, None, None, Some(1), Some(0)],
        }
    }

    fn stack(depth: u8) -> Labels {
        let mut labels = Labels::NONE;
        (0..depth).for_each(|_| labels.push(0));
        labels
    }

    #[test]
    fn labels_are_one_for_each_way_and_each_vpn() {
        let m = plan(true);
        // Ways to nodes 1, 2, 3 are 16, 17, 18; the VPNs 19 and 20.
        assert_eq!(m.label_values(stack(2), 2, 3, 1), [18, 20]);
        assert_eq!(m.label_values(stack(2), 2, 3, 0), [18, 19]);
        assert_eq!(m.label_values(stack(2), 2, 1, 1), [16, 20]);
        // One hop before the end only the VPN's is left.
        assert_eq!(m.label_values(stack(1), 3, 3, 1), [20, 0]);
        // The provider's own packets have one label for the way.
        assert_eq!(m.label_values(stack(1), 2, 3, 0), [18, 0]);
        // Without popping the last link carries explicit null.
        assert_eq!(plan(false).label_values(stack(2), 3, 3, 1), [0, 20]);
        let ends = |l: u32| (l, l + 1);
        assert_eq!(m.vpn_of_path(&[0, 1, 2, 3], ends), 1);
        assert_eq!(m.vpn_of_path(&[4], ends), 1);
        assert_eq!(m.vpn_of_path(&[1, 2], ends), 0);
    }
}
