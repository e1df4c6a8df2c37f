//! Classification: a packet belongs to the first class whose condition holds.
//!
//! Conditions are evaluated once per flow and DSCP, or once per DSCP if none of them looks at more
//! than that; the packet path is a table look-up. All levels of nested policies are classified at
//! once, by the DSCP with which the packet arrived. Of a labelled packet only the EXP bits of the
//! top label are visible (RFC 3032 §2.2), which have columns of their own.
//!
//! Where a condition looks at CoS, QoS group or the link of arrival, rows depend on these, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{Cos, Dscp, FlowKey, Marks, Packet};

use crate::spec::{MatchSpec, OneOrMany, PortRange};

/// Where a matching packet goes: to a route, or on to a nested policy's classes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Route(u16),
    Node(u16),
}

/// A class's condition (none: every packet) and where its packets go.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) matching: Option<MatchSpec>,
    pub(crate) then: Target,
}

/// The classes of every level; node 0 is the outermost policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) nodes: Vec<Vec<Entry>>,
}

impl Rules {
    /// The route of a packet. The last entry of every node matches all packets.
    fn route(&self, view: View<'_>, metadata: &Metadata<'_>) -> u16 {
        let mut node = 0;
        loop {
            let hit = self.nodes[node].iter().find(|e| match &e.matching {
                Some(m) => m.matches_with(view, metadata),
                None => true,
            });
            match hit.map(|e| e.then) {
                Some(Target::Route(r)) => return r,
                Some(Target::Node(n)) => node = usize::from(n),
                None => return 0,
            }
        }
    }
}

const NONE: FlowKey = FlowKey {
    src: std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    dst: std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    protocol: 0,
    sport: 0,
    dport: 0,
};

/// An entry of a row that was not looked up yet.
const UNKNOWN: u16 = u16::MAX;
/// A flow that has no row yet.
const NO_ROW: u32 = u32::MAX;
/// A column for each DSCP, then one for each value of the EXP bits of labelled packets.
const COLUMNS: usize = 64 + 8;
type Row = [u16; COLUMNS];

/// The headers of a packet that a port sees.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// The IP header with the header behind it.
    Ip {
        /// Addresses, protocol, ports.
        key: &'a FlowKey,
        /// DSCP.
        dscp: Dscp,
    },
    /// The EXP bits of the top label, 0..=7. The IP header below the labels is not visible.
    Labelled {
        /// EXP, since RFC 5462 called traffic class.
        exp: u8,
    },
}

impl<'a> View<'a> {
    /// The view that a column of a row stands for, for this flow.
    fn of(column: usize, key: &'a FlowKey) -> Self {
        match Dscp::new(column as u8) {
            Some(dscp) => Self::Ip { key, dscp },
            None => Self::Labelled {
                exp: column as u8 & 7,
            },
        }
    }
}

/// Metadata of a packet, outside of its IP header and labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// The priority of its 802.1Q tag, 0..=7.
    pub cos: Option<u8>,
    /// Its QoS group.
    pub qos_group: Option<u16>,
    /// Name of the link over which it came to the node.
    pub input: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    fn of(cos: Cos, marks: Marks, links: &'a [String]) -> Self {
        let name = |l: u32| links.get(l as usize).map(String::as_str);
        Self {
            cos: cos.value(),
            qos_group: marks.qos_group(),
            input: marks.link().and_then(name),
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

/// The known flows, by number: those that were announced together, then those that were added
/// later.
#[derive(Clone, Debug, Default)]
struct Keys {
    announced: Arc<[FlowKey]>,
    later: Vec<FlowKey>,
}

impl Keys {
    fn get(&self, flow: u32) -> Option<&FlowKey> {
        let flow = flow as usize;
        match flow.checked_sub(self.announced.len()) {
            None => self.announced.get(flow),
            Some(later) => self.later.get(later),
        }
    }
}

#[derive(Clone, Debug)]
enum Cache {
    /// The DSCP alone decides.
    ByDscp(Box<Row>),
    /// Rows by flow, made when its first packet comes.
    ByFlow {
        keys: Keys,
        row_of: Vec<u32>,
        rows: Vec<Row>,
    },
    /// Rows by metadata, and by flow if conditions look at addresses.
    Marked(Box<ByMarks>),
}

/// A cache for conditions on metadata.
#[derive(Clone, Debug, Default)]
struct ByMarks {
    keys: Keys,
    /// Names of links by number.
    links: Arc<[String]>,
    /// Whether conditions look at addresses.
    by_flow: bool,
    rows: BTreeMap<(u32, Cos, Marks), Box<Row>>,
}

impl ByMarks {
    fn route(&mut self, rules: &Rules, packet: &Packet) -> u16 {
        let (cos, marks) = (packet.cos, packet.marks());
        let flow = match self.by_flow {
            true if self.keys.get(packet.flow).is_none() => {
                // Not cached: the flow may be announced later.
                let metadata = Metadata::of(cos, marks, &self.links);
                return rules.route(View::of(column(packet), &NONE), &metadata);
            }
            true => packet.flow,
            false => 0,
        };
        let row = self.rows.entry((flow, cos, marks));
        let cell = &mut row.or_insert_with(|| Box::new([UNKNOWN; COLUMNS]))[column(packet)];
        if *cell == UNKNOWN {
            let key = self.keys.get(packet.flow).unwrap_or(&NONE);
            let metadata = Metadata::of(cos, marks, &self.links);
            *cell = rules.route(View::of(column(packet), key), &metadata);
        }
        *cell
    }
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
        let by_marks = rules
            .nodes
            .iter()
            .flatten()
            .any(|e| e.matching.as_ref().is_some_and(MatchSpec::looks_at_marks));
        let cache = if by_marks {
            Cache::Marked(Box::new(ByMarks {
                by_flow,
                ..ByMarks::default()
            }))
        } else if by_flow {
            Cache::ByFlow {
                keys: Keys::default(),
                row_of: Vec::new(),
                rows: Vec::new(),
            }
        } else {
            Cache::ByDscp(Box::new(std::array::from_fn(|c| {
                rules.route(View::of(c, &NONE), &Metadata::default())
            })))
        };
        Self {
            rules: Arc::new(rules),
            cache,
        }
    }

    /// Sets the flows.
    pub(crate) fn attach(&mut self, flows: &Arc<[FlowKey]>) {
        let told = Keys {
            announced: Arc::clone(flows),
            later: Vec::new(),
        };
        match &mut self.cache {
            Cache::ByDscp(_) => {}
            Cache::ByFlow { keys, row_of, rows } => {
                *keys = told;
                *row_of = vec![NO_ROW; flows.len()];
                rows.clear();
            }
            Cache::Marked(by) => {
                by.keys = told;
                by.rows.clear();
            }
        }
    }

    /// Adds a flow, with the next number.
    pub(crate) fn add_flow(&mut self, key: FlowKey) {
        match &mut self.cache {
            Cache::ByDscp(_) => {}
            Cache::ByFlow { keys, row_of, .. } => {
                keys.later.push(key);
                row_of.push(NO_ROW);
            }
            Cache::Marked(by) => by.keys.later.push(key),
        }
    }

    /// Whether a condition looks at addresses, protocol or ports.
    pub(crate) fn looks_at_flow(&self) -> bool {
        match &self.cache {
            Cache::ByDscp(_) => false,
            Cache::ByFlow { .. } => true,
            Cache::Marked(by) => by.by_flow,
        }
    }

    /// Sets the names of the links, by number.
    pub(crate) fn attach_links(&mut self, names: &Arc<[String]>) {
        if let Cache::Marked(by) = &mut self.cache {
            by.links = Arc::clone(names);
            by.rows.clear();
        }
    }

    /// Whether a condition looks at metadata.
    pub(crate) fn looks_at_marks(&self) -> bool {
        matches!(self.cache, Cache::Marked(_))
    }

    #[inline]
    pub(crate) fn route(&mut self, packet: &Packet) -> u16 {
        let column = column(packet);
        match &mut self.cache {
            Cache::ByDscp(row) => row[column],
            Cache::ByFlow { keys, row_of, rows } => {
                let Some(row) = row_of.get_mut(packet.flow as usize) else {
                    // The flow was not announced.
                    return self
                        .rules
                        .route(View::of(column, &NONE), &Metadata::default());
                };
                if *row == NO_ROW {
                    *row = rows.len() as u32;
                    rows.push([UNKNOWN; COLUMNS]);
                }
                let cell = &mut rows[*row as usize][column];
                if *cell == UNKNOWN {
                    let view = View::of(column, keys.get(packet.flow).unwrap_or(&NONE));
                    *cell = self.rules.route(view, &Metadata::default());
                }
                *cell
            }
            Cache::Marked(by) => by.route(&self.rules, packet),
        }
    }

    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        match &self.cache {
            Cache::ByDscp(_) => size_of::<Row>() as u64,
            Cache::ByFlow { .. } => flows as u64 * (4 + 2 * size_of::<Row>() as u64),
            // The metadata of a flow seldom change.
            Cache::Marked(by) => {
                let rows = if by.by_flow { flows as u64 } else { 64 };
                rows * (64 + 2 * size_of::<Row>() as u64)
            }
        }
    }
}

impl MatchSpec {
    /// Whether a packet with these headers satisfies the condition. Conditions on IP fields fail on
    /// a labelled packet, conditions on EXP on one without labels, conditions on CoS, QoS group or
    /// the link of arrival on all.
    pub fn matches(&self, view: View<'_>) -> bool {
        self.matches_with(view, &Metadata::default())
    }

    /// Whether a packet with these headers and metadata satisfies the condition.
    pub fn matches_with(&self, view: View<'_>, metadata: &Metadata<'_>) -> bool {
        let (ip, exp) = match view {
            View::Ip { key, dscp } => (Some((key, dscp)), None),
            View::Labelled { exp } => (None, Some(exp)),
        };
        let of_ip = |holds: &dyn Fn(&FlowKey, Dscp) -> bool| ip.is_some_and(|(k, d)| holds(k, d));
        let port = |r: &PortRange, p| (r.first..=r.last).contains(&p);
        one_of(&self.dscp, |d| of_ip(&|_, dscp| dscp == *d))
            && one_of(&self.precedence, |p| {
                of_ip(&|_, dscp| dscp.precedence() == *p)
            })
            && one_of(&self.exp, |e| exp == Some(*e))
            && one_of(&self.cos, |c| metadata.cos == Some(*c))
            && one_of(&self.qos_group, |g| metadata.qos_group == Some(*g))
            && one_of(&self.input, |i| metadata.input == Some(i))
            && one_of(&self.src, |n| of_ip(&|key, _| n.0.contains(key.src)))
            && one_of(&self.dst, |n| of_ip(&|key, _| n.0.contains(key.dst)))
            && one_of(&self.protocol, |p| of_ip(&|key, _| p.0 == key.protocol))
            && one_of(&self.sport, |r| of_ip(&|key, _| port(r, key.sport)))
            && one_of(&self.dport, |r| of_ip(&|key, _| port(r, key.dport)))
            && self
                .any
                .as_ref()
                .is_none_or(|l| l.iter().any(|m| m.matches_with(view, metadata)))
            && self
                .all
                .iter()
                .flatten()
                .all(|m| m.matches_with(view, metadata))
            && self
                .not
                .as_ref()
                .is_none_or(|m| !m.matches_with(view, metadata))
            && self.acl.as_ref().is_none_or(|lines| {
                // An access list applies to IP packets only, even where it permits any.
                let mut lines = lines.iter();
                let hit = lines.find(|line| line.matching.matches_with(view, metadata));
                ip.is_some() && hit.is_some_and(|line| line.permit)
            })
    }

    /// Whether the condition, or a condition in it, has some key.
    fn has(&self, key: fn(&Self) -> bool) -> bool {
        let within = |l: &Option<Vec<Self>>| l.iter().flatten().any(|m| m.has(key));
        key(self)
            || within(&self.any)
            || within(&self.all)
            || self.not.as_ref().is_some_and(|m| m.has(key))
            || self.acl.iter().flatten().any(|l| l.matching.has(key))
    }

    /// Whether any part of the condition looks at labels.
    pub fn looks_at_labels(&self) -> bool {
        self.has(|m| m.exp.is_some())
    }

    /// Whether any part of the condition looks at CoS, QoS group or the link of arrival.
    pub fn looks_at_marks(&self) -> bool {
        self.has(|m| m.cos.is_some() || m.qos_group.is_some() || m.input.is_some())
    }

    /// Whether the condition looks at more than the DSCP.
    pub(crate) fn looks_at_flow(&self) -> bool {
        self.has(|m| {
            let nets = m.src.is_some() || m.dst.is_some();
            nets || m.protocol.is_some() || m.sport.is_some() || m.dport.is_some()
        })
    }
}

/// Whether a key is absent, or one of its values holds.
fn one_of<T>(list: &Option<OneOrMany<T>>, holds: impl FnMut(&T) -> bool) -> bool {
    list.as_ref().is_none_or(|l| l.0.iter().any(holds))
}
