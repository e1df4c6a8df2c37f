//! From packet to class: the first class whose condition holds.
//!
//! Conditions are evaluated once per flow and DSCP, or once per DSCP if none
//! of them looks at more than that; the packet path is a table look-up. All
//! levels of nested policies are classified at once, by the DSCP with which
//! the packet arrived. Of a labelled packet only the EXP bits of the top label
//! are seen (RFC 3032 §2.2), which have columns of their own.

use std::sync::Arc;

use spillgate_core::{Dscp, FlowKey, Packet};

use crate::spec::MatchSpec;

/// Where a matching packet goes: to a route, or on to a nested policy's classes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    Route(u16),
    Node(u16),
}

/// A class's condition (none: every packet) and where its packets go.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) matching: Option<MatchSpec>,
    pub(crate) then: Then,
}

/// The classes of every level; node 0 is the outermost policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) nodes: Vec<Vec<Entry>>,
}

impl Rules {
    /// The route of a packet. The last entry of every node matches all packets.
    fn route(&self, view: View<'_>) -> u16 {
        let mut node = 0;
        loop {
            let hit = self.nodes[node].iter().find(|e| match &e.matching {
                Some(m) => m.matches(view),
                None => true,
            });
            match hit.map(|e| e.then) {
                Some(Then::Route(r)) => return r,
                Some(Then::Node(n)) => node = usize::from(n),
                None => return 0,
            }
        }
    }
}

const NONE: FlowKey = FlowKey {
    src: std::net::Ipv4Addr::UNSPECIFIED,
    dst: std::net::Ipv4Addr::UNSPECIFIED,
    protocol: 0,
    sport: 0,
    dport: 0,
};

/// An entry of a row that was not asked for yet.
const UNKNOWN: u16 = u16::MAX;
/// A flow that has no row yet.
const NO_ROW: u32 = u32::MAX;
/// A column for each DSCP, then one for each value of the EXP bits of labelled packets.
const COLUMNS: usize = 64 + 8;
type Row = [u16; COLUMNS];

/// What a port sees of a packet.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// The IP header with the header behind it.
    Ip {
        /// Addresses, protocol, ports.
        key: &'a FlowKey,
        /// DSCP.
        dscp: Dscp,
    },
    /// The EXP bits of the top label, 0..=7: what is below the labels is not looked at.
    Labelled {
        /// EXP, since RFC 5462 called traffic class.
        exp: u8,
    },
}

impl<'a> View<'a> {
    /// What stands in a column of a row for this flow.
    fn of(column: usize, key: &'a FlowKey) -> Self {
        match Dscp::new(column as u8) {
            Some(dscp) => Self::Ip { key, dscp },
            None => Self::Labelled {
                exp: column as u8 & 7,
            },
        }
    }
}

/// The column of a packet.
#[inline]
fn column(packet: &Packet) -> usize {
    if packet.labels.is_plain() {
        return usize::from(packet.dscp.value() & 63);
    }
    match packet.labels.tc() {
        Some(tc) => 64 + usize::from(tc & 7),
        None => usize::from(packet.dscp.value() & 63),
    }
}

#[derive(Clone, Debug)]
enum Cache {
    /// The DSCP alone decides.
    ByDscp(Box<Row>),
    /// Rows by flow, made when its first packet comes.
    ByFlow {
        flows: Arc<[FlowKey]>,
        row_of: Vec<u32>,
        rows: Vec<Row>,
    },
}

/// A compiled classifier.
#[derive(Clone, Debug)]
pub(crate) struct Classifier {
    rules: Arc<Rules>,
    cache: Cache,
}

impl Classifier {
    pub(crate) fn new(rules: Rules) -> Self {
        let by_flow = rules
            .nodes
            .iter()
            .flatten()
            .any(|e| e.matching.as_ref().is_some_and(MatchSpec::looks_at_flow));
        let cache = if by_flow {
            Cache::ByFlow {
                flows: Arc::from([]),
                row_of: Vec::new(),
                rows: Vec::new(),
            }
        } else {
            Cache::ByDscp(Box::new(std::array::from_fn(|c| {
                rules.route(View::of(c, &NONE))
            })))
        };
        Self {
            rules: Arc::new(rules),
            cache,
        }
    }

    /// Tells the flows' addresses.
    pub(crate) fn attach(&mut self, keys: &Arc<[FlowKey]>) {
        if let Cache::ByFlow {
            flows,
            row_of,
            rows,
        } = &mut self.cache
        {
            *flows = Arc::clone(keys);
            *row_of = vec![NO_ROW; keys.len()];
            rows.clear();
        }
    }

    #[inline]
    pub(crate) fn route(&mut self, packet: &Packet) -> u16 {
        let column = column(packet);
        match &mut self.cache {
            Cache::ByDscp(row) => row[column],
            Cache::ByFlow {
                flows,
                row_of,
                rows,
            } => {
                let Some(row) = row_of.get_mut(packet.flow as usize) else {
                    // Not one of the flows that were announced.
                    return self.rules.route(View::of(column, &NONE));
                };
                if *row == NO_ROW {
                    *row = rows.len() as u32;
                    rows.push([UNKNOWN; COLUMNS]);
                }
                let cell = &mut rows[*row as usize][column];
                if *cell == UNKNOWN {
                    let view = View::of(column, &flows[packet.flow as usize]);
                    *cell = self.rules.route(view);
                }
                *cell
            }
        }
    }

    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        match &self.cache {
            Cache::ByDscp(_) => size_of::<Row>() as u64,
            Cache::ByFlow { .. } => flows as u64 * (4 + 2 * size_of::<Row>() as u64),
        }
    }
}

impl MatchSpec {
    /// Whether a packet that looks so satisfies the condition. What asks for IP fields fails on a
    /// labelled packet, what asks for EXP on one without labels.
    pub fn matches(&self, view: View<'_>) -> bool {
        let (ip, exp) = match view {
            View::Ip { key, dscp } => (Some((key, dscp)), None),
            View::Labelled { exp } => (None, Some(exp)),
        };
        let of_ip = |holds: &dyn Fn(&FlowKey, Dscp) -> bool| ip.is_some_and(|(k, d)| holds(k, d));
        let addr = |nets: &crate::spec::OneOrMany<crate::spec::NetSpec>, a| {
            nets.0.iter().any(|n| n.0.contains(a))
        };
        let port = |ranges: &crate::spec::OneOrMany<crate::spec::PortRange>, p| {
            ranges.0.iter().any(|r| (r.first..=r.last).contains(&p))
        };
        self.dscp
            .as_ref()
            .is_none_or(|l| of_ip(&|_, dscp| l.0.contains(&dscp)))
            && self
                .precedence
                .as_ref()
                .is_none_or(|l| of_ip(&|_, dscp| l.0.contains(&dscp.precedence())))
            && self
                .exp
                .as_ref()
                .is_none_or(|l| exp.is_some_and(|e| l.0.contains(&e)))
            && self
                .src
                .as_ref()
                .is_none_or(|l| of_ip(&|key, _| addr(l, key.src)))
            && self
                .dst
                .as_ref()
                .is_none_or(|l| of_ip(&|key, _| addr(l, key.dst)))
            && self
                .protocol
                .as_ref()
                .is_none_or(|l| of_ip(&|key, _| l.0.iter().any(|p| p.0 == key.protocol)))
            && self
                .sport
                .as_ref()
                .is_none_or(|l| of_ip(&|key, _| port(l, key.sport)))
            && self
                .dport
                .as_ref()
                .is_none_or(|l| of_ip(&|key, _| port(l, key.dport)))
            && self
                .any
                .as_ref()
                .is_none_or(|l| l.iter().any(|m| m.matches(view)))
            && self
                .all
                .as_ref()
                .is_none_or(|l| l.iter().all(|m| m.matches(view)))
            && self.not.as_ref().is_none_or(|m| !m.matches(view))
            && self.acl.as_ref().is_none_or(|lines| {
                // An access list is of IP packets, even where it permits any.
                ip.is_some()
                    && lines
                        .iter()
                        .find(|line| line.matching.matches(view))
                        .is_some_and(|line| line.permit)
            })
    }

    /// Whether any part of the condition is about labels.
    pub fn looks_at_labels(&self) -> bool {
        let within = |l: &Option<Vec<Self>>| l.iter().flatten().any(Self::looks_at_labels);
        self.exp.is_some()
            || within(&self.any)
            || within(&self.all)
            || self.not.as_ref().is_some_and(|m| m.looks_at_labels())
    }

    /// Whether the condition looks at more than the DSCP.
    pub(crate) fn looks_at_flow(&self) -> bool {
        let within = |l: &Option<Vec<Self>>| l.iter().flatten().any(Self::looks_at_flow);
        self.src.is_some()
            || self.dst.is_some()
            || self.protocol.is_some()
            || self.sport.is_some()
            || self.dport.is_some()
            || within(&self.any)
            || within(&self.all)
            || self.not.as_ref().is_some_and(|m| m.looks_at_flow())
            || self
                .acl
                .iter()
                .flatten()
                .any(|line| line.matching.looks_at_flow())
    }
}
