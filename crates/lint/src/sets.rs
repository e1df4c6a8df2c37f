//! Sets of packets: the packets that a condition matches, and set operations on them.
//!
//! Idea: a set is a union of boxes; a box is the product of one set for each field of conditions.
//! The difference of two boxes is again a few boxes, so that "every packet of this class belongs to
//! an earlier one" is decided exactly, for any mixture of any, all, not and access lists in the
//! classes.
//!
//! Complexity: O(boxes × boxes) a pair of classes; a set of more than [`MAX_BOXES`] boxes is given
//! up, and there is no finding about it.

use std::collections::BTreeSet;
use std::sync::Arc;

#[cfg(test)]
use spillgate_core::FlowKey;
use spillgate_core::Ipv4Net;
use spillgate_queueing::spec::MatchSpec;

/// The most boxes of a set; a larger set is given up.
const MAX_BOXES: usize = 512;

/// Bit of packets without labels among the bits of [`Cell::exp`].
const PLAIN: u16 = 1 << 8;

/// Ranges of ports, ascending, disjoint.
type Ports = Vec<(u16, u16)>;

/// The links of arrival: the named ones, or all except these. Packets of the node's own flows have
/// no link of arrival, and belong to the latter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inputs {
    names: BTreeSet<Arc<str>>,
    all_but: bool,
}

impl Inputs {
    const ANY: Self = Self {
        names: BTreeSet::new(),
        all_but: true,
    };

    fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        Self {
            names: names.into_iter().map(|n| n.as_ref().into()).collect(),
            all_but: false,
        }
    }

    fn not(&self) -> Self {
        Self {
            all_but: !self.all_but,
            ..self.clone()
        }
    }

    fn is_empty(&self) -> bool {
        !self.all_but && self.names.is_empty()
    }

    fn and(&self, o: &Self) -> Self {
        let names = match (self.all_but, o.all_but) {
            (false, false) => &self.names & &o.names,
            (false, true) => &self.names - &o.names,
            (true, false) => &o.names - &self.names,
            (true, true) => &self.names | &o.names,
        };
        Self {
            names,
            all_but: self.all_but && o.all_but,
        }
    }
}

/// A product of sets of values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    /// EXP bits of the top label by value, and [`PLAIN`].
    exp: u16,
    inputs: Inputs,
    dscp: u64,
    protocol: [u128; 2],
    sport: Ports,
    dport: Ports,
    src: Ipv4Net,
    dst: Ipv4Net,
}

/// A set of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packets(Vec<Cell>);

impl Cell {
    fn all() -> Self {
        Self {
            exp: 0x1ff,
            inputs: Inputs::ANY,
            dscp: u64::MAX,
            protocol: [u128::MAX; 2],
            sport: vec![(0, u16::MAX)],
            dport: vec![(0, u16::MAX)],
            src: Ipv4Net::ANY,
            dst: Ipv4Net::ANY,
        }
    }

    /// Packets without labels, whose IP fields conditions can see.
    fn plain() -> Self {
        Self {
            exp: PLAIN,
            ..Self::all()
        }
    }

    fn and(&self, o: &Self) -> Option<Self> {
        let (exp, dscp) = (self.exp & o.exp, self.dscp & o.dscp);
        let protocol = [
            self.protocol[0] & o.protocol[0],
            self.protocol[1] & o.protocol[1],
        ];
        if exp == 0 || dscp == 0 || protocol == [0, 0] {
            return None;
        }
        let inputs = self.inputs.and(&o.inputs);
        let cell = Self {
            exp,
            inputs,
            dscp,
            protocol,
            src: net_and(self.src, o.src)?,
            dst: net_and(self.dst, o.dst)?,
            sport: ports_and(&self.sport, &o.sport),
            dport: ports_and(&self.dport, &o.dport),
        };
        let none = cell.inputs.is_empty() || cell.sport.is_empty() || cell.dport.is_empty();
        (!none).then_some(cell)
    }

    /// Adds the difference of this box and `o` to `rest`.
    fn without(&self, o: &Self, rest: &mut Vec<Self>) {
        let Some(both) = self.and(o) else {
            rest.push(self.clone());
            return;
        };
        // For each field: the part outside `o` in this field and inside `o` in the fields before.
        let mut left = self.clone();
        let mut push = |cell: Self| rest.push(cell);
        if left.exp & !o.exp != 0 {
            push(Self {
                exp: left.exp & !o.exp,
                ..left.clone()
            });
        }
        left.exp = both.exp;
        let inputs = left.inputs.and(&o.inputs.not());
        if !inputs.is_empty() {
            push(Self {
                inputs,
                ..left.clone()
            });
        }
        left.inputs.clone_from(&both.inputs);
        if left.dscp & !o.dscp != 0 {
            push(Self {
                dscp: left.dscp & !o.dscp,
                ..left.clone()
            });
        }
        left.dscp = both.dscp;
        let protocol = [
            left.protocol[0] & !o.protocol[0],
            left.protocol[1] & !o.protocol[1],
        ];
        if protocol != [0, 0] {
            push(Self {
                protocol,
                ..left.clone()
            });
        }
        left.protocol = both.protocol;
        let sport = ports_and(&left.sport, &ports_not(&o.sport));
        if !sport.is_empty() {
            push(Self {
                sport,
                ..left.clone()
            });
        }
        left.sport.clone_from(&both.sport);
        let dport = ports_and(&left.dport, &ports_not(&o.dport));
        if !dport.is_empty() {
            push(Self {
                dport,
                ..left.clone()
            });
        }
        left.dport.clone_from(&both.dport);
        for src in net_without(left.src, o.src) {
            push(Self {
                src,
                ..left.clone()
            });
        }
        left.src = both.src;
        for dst in net_without(left.dst, o.dst) {
            push(Self {
                dst,
                ..left.clone()
            });
        }
    }
}

impl Packets {
    /// No packet.
    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    /// Every packet.
    pub(crate) fn all() -> Self {
        Self(vec![Cell::all()])
    }

    /// The packets that a condition matches; none if the condition is too complex.
    pub(crate) fn of(m: &MatchSpec) -> Option<Self> {
        // Metadata of a node is not in the packet.
        if m.cos.is_some() || m.qos_group.is_some() {
            return None;
        }
        let mut cell = Cell::all();
        if let Some(l) = &m.input {
            cell.inputs = Inputs::listed(&l.0);
        }
        let mut fields = false;
        if let Some(l) = &m.dscp {
            fields = true;
            cell.dscp &= l.0.iter().fold(0, |b, d| b | 1 << d.value());
        }
        if let Some(l) = &m.precedence {
            fields = true;
            let bits = |p: &u8| 0xff_u64 << (8 * u32::from(*p & 7));
            cell.dscp &= l.0.iter().fold(0, |b, p| b | bits(p));
        }
        if let Some(l) = &m.protocol {
            fields = true;
            let mut bits = [0_u128; 2];
            for p in &l.0 {
                bits[usize::from(p.0 >> 7)] |= 1 << (p.0 & 127);
            }
            cell.protocol = bits;
        }
        if let Some(l) = &m.sport {
            fields = true;
            cell.sport = ports(l.0.iter().map(|r| (r.first, r.last)));
        }
        if let Some(l) = &m.dport {
            fields = true;
            cell.dport = ports(l.0.iter().map(|r| (r.first, r.last)));
        }
        let nets = m.src.is_some() || m.dst.is_some();
        if fields || nets {
            cell.exp &= PLAIN;
        }
        if let Some(l) = &m.exp {
            let bits = l.0.iter().fold(0, |b, e| b | 1 << (e & 7));
            cell.exp &= bits;
        }
        let empty = cell.exp == 0
            || cell.inputs.is_empty()
            || cell.dscp == 0
            || cell.protocol == [0, 0]
            || cell.sport.is_empty()
            || cell.dport.is_empty();
        let mut set = Self(if empty { Vec::new() } else { vec![cell] });
        for (list, source) in [(&m.src, true), (&m.dst, false)] {
            let Some(list) = list else { continue };
            let mut union = Self::none();
            for net in &list.0 {
                let mut one = Cell::plain();
                if source {
                    one.src = net.0;
                } else {
                    one.dst = net.0;
                }
                union = union.or(&Self(vec![one]))?;
            }
            set = set.and(&union)?;
        }
        if let Some(list) = &m.any {
            let mut union = Self::none();
            for inner in list {
                union = union.or(&Self::of(inner)?)?;
            }
            set = set.and(&union)?;
        }
        for inner in m.all.iter().flatten() {
            set = set.and(&Self::of(inner)?)?;
        }
        if let Some(inner) = &m.not {
            set = set.without(&Self::of(inner)?)?;
        }
        if let Some(entries) = &m.acl {
            // The first entry that matches decides; an access list is about IP packets.
            let (mut left, mut permitted) = (Self(vec![Cell::plain()]), Self::none());
            for entry in entries {
                let about = Self::of(&entry.matching)?;
                if entry.permit {
                    permitted.0.extend(left.and(&about)?.0);
                }
                left = left.without(&about)?;
            }
            set = set.and(&permitted.bounded()?)?;
        }
        Some(set)
    }

    /// Packets of a flow without labels, with their link of arrival, if any.
    #[cfg(test)]
    fn of_flow(key: &FlowKey, dscps: u64, input: Option<&str>) -> Self {
        let [src, dst] = key.ipv4().expect("flows of a scenario are of IPv4");
        let mut protocol = [0_u128; 2];
        protocol[usize::from(key.protocol >> 7)] = 1 << (key.protocol & 127);
        Self(vec![Cell {
            dscp: dscps,
            protocol,
            sport: vec![(key.sport, key.sport)],
            dport: vec![(key.dport, key.dport)],
            src: Ipv4Net::new(src, u32::MAX),
            dst: Ipv4Net::new(dst, u32::MAX),
            inputs: match input {
                Some(name) => Inputs::listed([name]),
                // No link of a scenario has this name.
                None => Inputs::listed([""]),
            },
            ..Cell::plain()
        }])
    }

    fn bounded(self) -> Option<Self> {
        (self.0.len() <= MAX_BOXES).then_some(self)
    }

    /// Union.
    pub(crate) fn or(mut self, o: &Self) -> Option<Self> {
        self.0.extend(o.0.iter().cloned());
        self.bounded()
    }

    /// Intersection.
    pub(crate) fn and(&self, o: &Self) -> Option<Self> {
        let pairs = self.0.iter().flat_map(|a| o.0.iter().map(move |b| (a, b)));
        let cells = pairs.filter_map(|(a, b)| a.and(b)).take(MAX_BOXES + 1);
        Self(cells.collect()).bounded()
    }

    /// Difference.
    pub(crate) fn without(&self, o: &Self) -> Option<Self> {
        let mut left = self.0.clone();
        for cell in &o.0 {
            let mut rest = Vec::with_capacity(left.len());
            for l in &left {
                l.without(cell, &mut rest);
                if rest.len() > MAX_BOXES {
                    return None;
                }
            }
            left = rest;
        }
        Some(Self(left))
    }

    /// Whether two sets have a packet in common.
    pub(crate) fn meets(&self, o: &Self) -> bool {
        let mut pairs = self.0.iter().flat_map(|a| o.0.iter().map(move |b| (a, b)));
        pairs.any(|(a, b)| a.and(b).is_some())
    }

    /// Whether no packet is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The DSCPs whose packets without labels are in the set for any other fields; none if the set
    /// has further packets.
    pub(crate) fn by_dscp_only(&self) -> Option<u64> {
        let plain = |c: &Cell| Cell {
            dscp: c.dscp,
            ..Cell::plain()
        };
        let pure = self.0.iter().all(|c| *c == plain(c));
        pure.then(|| self.dscps())
    }

    /// The DSCPs of packets without labels that are in it.
    pub(crate) fn dscps(&self) -> u64 {
        let plain = self.0.iter().filter(|c| c.exp & PLAIN != 0);
        plain.fold(0, |bits, c| bits | c.dscp)
    }

    /// Whether it has packets of a protocol.
    pub(crate) fn has_protocol(&self, number: u8) -> bool {
        let bit = 1 << (number & 127);
        let mut cells = self.0.iter();
        cells.any(|c| c.protocol[usize::from(number >> 7)] & bit != 0)
    }
}

fn ports(ranges: impl Iterator<Item = (u16, u16)>) -> Ports {
    let mut all: Ports = ranges.collect();
    all.sort_unstable();
    let mut merged: Ports = Vec::with_capacity(all.len());
    for (first, last) in all {
        match merged.last_mut() {
            Some(before) if u32::from(first) <= u32::from(before.1) + 1 => {
                before.1 = before.1.max(last);
            }
            _ => merged.push((first, last)),
        }
    }
    merged
}

fn ports_and(a: &Ports, b: &Ports) -> Ports {
    let (mut i, mut j, mut both) = (0, 0, Ports::new());
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (first, last) = (x.0.max(y.0), x.1.min(y.1));
        if first <= last {
            both.push((first, last));
        }
        if x.1 < y.1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    both
}

fn ports_not(a: &Ports) -> Ports {
    let mut rest = Ports::new();
    let mut next = Some(0_u16);
    for (first, last) in a {
        if let Some(n) = next.filter(|n| n < first) {
            rest.push((n, first - 1));
        }
        next = last.checked_add(1);
    }
    rest.extend(next.map(|n| (n, u16::MAX)));
    rest
}

fn net_and(a: Ipv4Net, b: Ipv4Net) -> Option<Ipv4Net> {
    let common = a.mask & b.mask;
    (a.addr & common == b.addr & common).then_some(Ipv4Net {
        addr: a.addr | b.addr,
        mask: a.mask | b.mask,
    })
}

/// The difference of `a` and `b`, which intersect: one net for each bit that only `b` tests.
fn net_without(a: Ipv4Net, b: Ipv4Net) -> Vec<Ipv4Net> {
    let mut nets = Vec::new();
    let mut left = a;
    for bit in (0..32).rev().map(|n| 1_u32 << n) {
        if b.mask & !a.mask & bit != 0 {
            nets.push(Ipv4Net {
                addr: left.addr | (!b.addr & bit),
                mask: left.mask | bit,
            });
            left = Ipv4Net {
                addr: left.addr | (b.addr & bit),
                mask: left.mask | bit,
            };
        }
    }
    nets
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;
    use spillgate_core::Dscp;
    use spillgate_queueing::spec::{AclEntry, NetSpec, OneOrMany, PortRange, Protocol};

    use super::*;

    /// Conditions on few values, so that sets meet often.
    fn condition() -> impl Strategy<Value = MatchSpec> {
        let leaf = (
            prop::option::of(prop::collection::vec(0..4_u8, 1..3)),
            prop::option::of(prop::sample::select(vec![6_u8, 17])),
            prop::option::of((0..6_u16, 0..6_u16)),
            prop::option::of((0..4_u32, 0..4_u32)),
            prop::option::weighted(0.3, prop::sample::subsequence(vec!["a", "b", "c"], 1..3)),
        )
            .prop_map(|(dscp, protocol, port, src, input)| MatchSpec {
                input: input.map(|l| OneOrMany(l.into_iter().map(str::to_owned).collect())),
                dscp: dscp.map(|l| OneOrMany(l.into_iter().filter_map(Dscp::new).collect())),
                protocol: protocol.map(|p| OneOrMany(vec![Protocol(p)])),
                dport: port.map(|(a, b)| {
                    OneOrMany(vec![PortRange {
                        first: a.min(b),
                        last: a.max(b),
                    }])
                }),
                src: src.map(|(addr, mask)| {
                    OneOrMany(vec![NetSpec(Ipv4Net::new(Ipv4Addr::from(addr), !mask))])
                }),
                ..MatchSpec::default()
            });
        leaf.prop_recursive(2, 8, 3, |inner| {
            let list = || prop::collection::vec(inner.clone(), 1..3);
            prop_oneof![
                list().prop_map(|l| MatchSpec {
                    any: Some(l),
                    ..MatchSpec::default()
                }),
                list().prop_map(|l| MatchSpec {
                    all: Some(l),
                    ..MatchSpec::default()
                }),
                inner.clone().prop_map(|m| MatchSpec {
                    not: Some(Box::new(m)),
                    ..MatchSpec::default()
                }),
                prop::collection::vec((any::<bool>(), inner.clone()), 1..3).prop_map(|l| {
                    let entry = |(permit, matching)| AclEntry { permit, matching };
                    MatchSpec {
                        acl: Some(l.into_iter().map(entry).collect()),
                        ..MatchSpec::default()
                    }
                }),
            ]
        })
    }

    /// What the conditions mean, packet by packet.
    fn holds(m: &MatchSpec, k: &FlowKey, dscp: u8, by: Option<&str>) -> bool {
        m.dscp
            .as_ref()
            .is_none_or(|l| l.0.iter().any(|d| d.value() == dscp))
            && m.protocol
                .as_ref()
                .is_none_or(|l| l.0.iter().any(|p| p.0 == k.protocol))
            && m.dport
                .as_ref()
                .is_none_or(|l| l.0.iter().any(|r| (r.first..=r.last).contains(&k.dport)))
            && m.src
                .as_ref()
                .is_none_or(|l| l.0.iter().any(|n| n.0.contains(k.src)))
            && m.input
                .as_ref()
                .is_none_or(|l| l.0.iter().any(|n| by == Some(n)))
            && m.any
                .as_ref()
                .is_none_or(|l| l.iter().any(|i| holds(i, k, dscp, by)))
            && m.all.iter().flatten().all(|i| holds(i, k, dscp, by))
            && m.not.as_ref().is_none_or(|i| !holds(i, k, dscp, by))
            && m.acl.as_ref().is_none_or(|l| {
                let first = l.iter().find(|e| holds(&e.matching, k, dscp, by));
                first.is_some_and(|e| e.permit)
            })
    }

    fn packets() -> impl Iterator<Item = (FlowKey, u8)> {
        (0..4_u8).flat_map(|dscp| {
            (0..4_u32).flat_map(move |src| {
                (0..6_u16).flat_map(move |dport| {
                    [6_u8, 17].map(|protocol| {
                        let key = FlowKey {
                            src: Ipv4Addr::from(src).into(),
                            dst: Ipv4Addr::UNSPECIFIED.into(),
                            protocol,
                            sport: 0,
                            dport,
                        };
                        (key, dscp)
                    })
                })
            })
        })
    }

    proptest! {
        /// The sets hold the packets for which the conditions hold, and so do their differences.
        #[test]
        fn sets_are_what_the_conditions_mean(a in condition(), b in condition()) {
            let (Some(x), Some(y)) = (Packets::of(&a), Packets::of(&b)) else {
                return Ok(());
            };
            let Some(rest) = x.without(&y) else { return Ok(()) };
            let all = packets().flat_map(|p| [None, Some("a"), Some("b"), Some("d")].map(|by| (p, by)));
            for ((key, dscp), by) in all {
                let one = Packets::of_flow(&key, 1 << dscp, by);
                let (in_a, in_b) = (holds(&a, &key, dscp, by), holds(&b, &key, dscp, by));
                prop_assert_eq!(x.meets(&one), in_a, "{:?} {:?}", key, by);
                prop_assert_eq!(rest.meets(&one), in_a && !in_b, "{:?} {:?}", key, by);
            }
        }
    }
}
