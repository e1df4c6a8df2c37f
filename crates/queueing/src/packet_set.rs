//! Sets of packets: what conditions match, and set operations on it.
//!
//! Idea: a set is a union of boxes; a box is the product of one set for each field of conditions.
//! The difference of two boxes is again a few boxes, so that "every packet of this class belongs to
//! an earlier one" is decided exactly, for any mixture of any, all, not and access lists in the
//! classes.
//!
//! Complexity: O(boxes × boxes) an operation; a set of more than [`MAX_BOXES`] boxes is given up.

use std::collections::BTreeSet;
use std::sync::Arc;

use spillgate_core::Ipv4Net;

use crate::spec::{MatchSpec, OneOrMany, PortRange};

/// The most boxes of a set; a larger set is given up.
const MAX_BOXES: usize = 512;

/// Bit of packets without labels among the bits of EXP.
const PLAIN: u16 = 1 << 8;

/// A set of values of one field.
trait Field: Sized {
    /// The intersection; none if it is empty.
    fn and(&self, o: &Self) -> Option<Self>;

    /// The difference to a set that intersects, in disjoint parts.
    fn without(&self, o: &Self) -> Vec<Self>;
}

macro_rules! bits {
    ($($type:ty),+) => {$(
        impl Field for $type {
            fn and(&self, o: &Self) -> Option<Self> {
                Some(self & o).filter(|both| *both != 0)
            }

            fn without(&self, o: &Self) -> Vec<Self> {
                self.and(&!o).into_iter().collect()
            }
        }
    )+};
}

bits!(u16, u64);

/// A bit for each of 256 values.
impl Field for [u128; 2] {
    fn and(&self, o: &Self) -> Option<Self> {
        Some([self[0] & o[0], self[1] & o[1]]).filter(|both| *both != [0, 0])
    }

    fn without(&self, o: &Self) -> Vec<Self> {
        self.and(&o.map(|bits| !bits)).into_iter().collect()
    }
}

/// The links of arrival: the named ones, or all except these. Packets of the node's own flows have
/// no link of arrival, and belong to the latter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inputs {
    names: BTreeSet<Arc<str>>,
    all_but: bool,
}

impl Field for Inputs {
    fn and(&self, o: &Self) -> Option<Self> {
        let names = match (self.all_but, o.all_but) {
            (false, false) => &self.names & &o.names,
            (false, true) => &self.names - &o.names,
            (true, false) => &o.names - &self.names,
            (true, true) => &self.names | &o.names,
        };
        let all_but = self.all_but && o.all_but;
        (all_but || !names.is_empty()).then_some(Self { names, all_but })
    }

    fn without(&self, o: &Self) -> Vec<Self> {
        let all_but = !o.all_but;
        let rest = self.and(&Self {
            all_but,
            ..o.clone()
        });
        rest.into_iter().collect()
    }
}

/// Ranges of ports, ascending, disjoint, not adjacent.
type Ports = Vec<(u16, u16)>;

impl Field for Ports {
    fn and(&self, o: &Self) -> Option<Self> {
        let (mut i, mut j, mut both) = (0, 0, Self::new());
        while let (Some(x), Some(y)) = (self.get(i), o.get(j)) {
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
        Some(both).filter(|b| !b.is_empty())
    }

    fn without(&self, o: &Self) -> Vec<Self> {
        let mut rest = Self::new();
        let mut next = Some(0_u16);
        for (first, last) in o {
            if let Some(n) = next.filter(|n| n < first) {
                rest.push((n, first - 1));
            }
            next = last.checked_add(1);
        }
        rest.extend(next.map(|n| (n, u16::MAX)));
        self.and(&rest).into_iter().collect()
    }
}

fn ports(OneOrMany(ranges): &OneOrMany<PortRange>) -> Ports {
    let mut all: Ports = ranges.iter().map(|r| (r.first, r.last)).collect();
    all.sort_unstable();
    let mut merged = Ports::with_capacity(all.len());
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

impl Field for Ipv4Net {
    fn and(&self, o: &Self) -> Option<Self> {
        let common = self.mask & o.mask;
        (self.addr & common == o.addr & common).then_some(Self {
            addr: self.addr | o.addr,
            mask: self.mask | o.mask,
        })
    }

    /// One net for each bit that only `o` tests.
    fn without(&self, o: &Self) -> Vec<Self> {
        let mut left = *self;
        let bits = (0..32).rev().map(|n| 1_u32 << n);
        let apart = bits.filter(|bit| o.mask & !self.mask & bit != 0);
        let cut = apart.map(|bit| {
            let with = |addr: u32| Self {
                addr: left.addr | (addr & bit),
                mask: left.mask | bit,
            };
            let (part, rest) = (with(!o.addr), with(o.addr));
            left = rest;
            part
        });
        cut.collect()
    }
}

/// The box from one line a field: its set of values, and that of all values.
macro_rules! fields {
    ($($(#[doc = $doc:literal])* $see:vis $field:ident: $type:ty = $all:expr;)+) => {
        /// A product of sets of values: the packets whose fields all lie in these.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct PacketBox {
            $($(#[doc = $doc])* $see $field: $type,)+
        }

        impl PacketBox {
            fn all() -> Self {
                Self { $($field: $all,)+ }
            }

            fn and(&self, o: &Self) -> Option<Self> {
                Some(Self { $($field: self.$field.and(&o.$field)?,)+ })
            }

            /// Adds the difference of this box and `o` to `rest`: for each field the part outside
            /// `o` in this field and inside `o` in the fields before.
            fn without(&self, o: &Self, rest: &mut Vec<Self>) {
                let Some(both) = self.and(o) else {
                    rest.push(self.clone());
                    return;
                };
                let mut left = self.clone();
                $(
                    for $field in left.$field.without(&o.$field) {
                        rest.push(Self { $field, ..left.clone() });
                    }
                    left.$field = both.$field;
                )+
            }
        }
    };
}

fields! {
    /// EXP bits of the top label by value, and [`PLAIN`].
    exp: u16 = 0x1ff;
    inputs: Inputs = Inputs { names: BTreeSet::new(), all_but: true };
    /// A bit for each DSCP.
    pub dscps: u64 = u64::MAX;
    protocols: [u128; 2] = [u128::MAX; 2];
    /// Source addresses.
    pub src: Ipv4Net = Ipv4Net::ANY;
    /// Destination addresses.
    pub dst: Ipv4Net = Ipv4Net::ANY;
    /// Source ports: ranges, ascending, disjoint.
    pub sport: Ports = vec![(0, u16::MAX)];
    /// Destination ports, likewise.
    pub dport: Ports = vec![(0, u16::MAX)];
}

impl PacketBox {
    /// Packets without labels, whose IP fields conditions can see.
    fn plain() -> Self {
        Self {
            exp: PLAIN,
            ..Self::all()
        }
    }

    /// Whether it has packets of a protocol.
    pub fn has_protocol(&self, number: u8) -> bool {
        self.protocols[usize::from(number >> 7)] >> (number & 127) & 1 != 0
    }

    /// Whether the link of arrival matters.
    pub fn asks_input(&self) -> bool {
        self.inputs != Self::all().inputs
    }
}

/// A set of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketSet(Vec<PacketBox>);

impl PacketSet {
    /// Every packet.
    pub fn all() -> Self {
        Self(vec![PacketBox::all()])
    }

    /// Every packet without labels.
    pub fn plain() -> Self {
        Self(vec![PacketBox::plain()])
    }

    /// The packets that a condition matches; none if the condition is too complex, or asks for
    /// CoS or the QoS group, which are not in the packet.
    pub fn of(m: &MatchSpec) -> Option<Self> {
        if m.cos.is_some() || m.qos_group.is_some() {
            return None;
        }
        let plain = PacketBox::plain;
        let mut set = Self::all();
        let mut keep = |boxes: Vec<PacketBox>| -> Option<()> {
            set = set.and(&Self(boxes).bounded()?)?;
            Some(())
        };
        if let Some(OneOrMany(l)) = &m.input {
            let names = l.iter().map(|n| n.as_str().into()).collect();
            let all_but = false;
            keep(vec![PacketBox {
                inputs: Inputs { names, all_but },
                ..PacketBox::all()
            }])?;
        }
        if let Some(OneOrMany(l)) = &m.dscp {
            let dscps = l.iter().fold(0, |b, d| b | 1 << d.value());
            keep(vec![PacketBox { dscps, ..plain() }])?;
        }
        if let Some(OneOrMany(l)) = &m.precedence {
            let of = |p: &u8| 0xff_u64 << (8 * u32::from(*p & 7));
            let dscps = l.iter().fold(0, |b, p| b | of(p));
            keep(vec![PacketBox { dscps, ..plain() }])?;
        }
        if let Some(OneOrMany(l)) = &m.exp {
            let exp = l.iter().fold(0, |b, e| b | 1 << (e & 7));
            keep(vec![PacketBox {
                exp,
                ..PacketBox::all()
            }])?;
        }
        if let Some(OneOrMany(l)) = &m.protocol {
            let mut protocols = [0_u128; 2];
            for p in l {
                protocols[usize::from(p.0 >> 7)] |= 1 << (p.0 & 127);
            }
            let one = plain();
            keep(vec![PacketBox { protocols, ..one }])?;
        }
        if let Some(OneOrMany(l)) = &m.src {
            let of = l.iter().map(|n| PacketBox {
                src: n.0,
                ..plain()
            });
            keep(of.collect())?;
        }
        if let Some(OneOrMany(l)) = &m.dst {
            let of = l.iter().map(|n| PacketBox {
                dst: n.0,
                ..plain()
            });
            keep(of.collect())?;
        }
        if let Some(l) = &m.sport {
            let sport = ports(l);
            keep(vec![PacketBox { sport, ..plain() }])?;
        }
        if let Some(l) = &m.dport {
            let dport = ports(l);
            keep(vec![PacketBox { dport, ..plain() }])?;
        }
        if let Some(list) = &m.any {
            let mut union = Vec::new();
            for inner in list {
                union.extend(Self::of(inner)?.0);
            }
            keep(union)?;
        }
        for inner in m.all.iter().flatten() {
            keep(Self::of(inner)?.0)?;
        }
        if let Some(inner) = &m.not {
            set = set.without(&Self::of(inner)?)?;
        }
        if let Some(entries) = &m.acl {
            // The first entry that matches decides; an access list is about IP packets.
            let (mut left, mut permitted) = (Self::plain(), Vec::new());
            for entry in entries {
                let about = Self::of(&entry.matching)?;
                if entry.permit {
                    permitted.extend(left.and(&about)?.0);
                } else {
                    // What is permitted need not be cut out: a set holds a packet once.
                    left = left.without(&about)?;
                }
            }
            set = set.and(&Self(permitted).bounded()?)?;
        }
        Some(set)
    }

    fn bounded(self) -> Option<Self> {
        (self.0.len() <= MAX_BOXES).then_some(self)
    }

    /// Its boxes, which may overlap.
    pub fn boxes(&self) -> &[PacketBox] {
        &self.0
    }

    /// Intersection; none if it is too complex.
    pub fn and(&self, o: &Self) -> Option<Self> {
        let mut boxes = Vec::new();
        for a in &self.0 {
            for b in &o.0 {
                boxes.extend(a.and(b).filter(|c| !boxes.contains(c)));
            }
            if boxes.len() > MAX_BOXES {
                return None;
            }
        }
        Some(Self(boxes))
    }

    /// Difference; none if it is too complex.
    pub fn without(&self, o: &Self) -> Option<Self> {
        let mut left = self.0.clone();
        for one in &o.0 {
            let mut rest = Vec::with_capacity(left.len());
            for l in &left {
                l.without(one, &mut rest);
                if rest.len() > MAX_BOXES {
                    return None;
                }
            }
            left = rest;
        }
        Some(Self(left))
    }

    /// Whether two sets have a packet in common.
    pub fn meets(&self, o: &Self) -> bool {
        let mut pairs = self.0.iter().flat_map(|a| o.0.iter().map(move |b| (a, b)));
        pairs.any(|(a, b)| a.and(b).is_some())
    }

    /// Whether no packet is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The DSCPs whose packets without labels are in the set for any other fields, a bit each; none
    /// if the set has further packets.
    pub fn by_dscp_only(&self) -> Option<u64> {
        let plain = |c: &PacketBox| PacketBox {
            dscps: c.dscps,
            ..PacketBox::plain()
        };
        let pure = self.0.iter().all(|c| *c == plain(c));
        pure.then(|| self.dscps())
    }

    /// The DSCPs of packets without labels that are in it, a bit each.
    pub fn dscps(&self) -> u64 {
        let plain = self.0.iter().filter(|c| c.exp & PLAIN != 0);
        plain.fold(0, |bits, c| bits | c.dscps)
    }

    /// Whether it has packets of a protocol.
    pub fn has_protocol(&self, number: u8) -> bool {
        self.0.iter().any(|c| c.has_protocol(number))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;
    use spillgate_core::{Dscp, FlowKey};

    use super::*;
    use crate::spec::{AclEntry, NetSpec, Protocol};
    use crate::{Metadata, View};

    /// Conditions on few values, so that sets meet often.
    fn condition() -> impl Strategy<Value = MatchSpec> {
        let ports = || {
            let range = (0..6_u16, 0..6_u16).prop_map(|(a, b)| PortRange {
                first: a.min(b),
                last: a.max(b),
            });
            prop::collection::vec(range, 1..3)
        };
        let nets = || {
            let net = (0..4_u32, 0..4_u32)
                .prop_map(|(addr, mask)| NetSpec(Ipv4Net::new(Ipv4Addr::from(addr), !mask)));
            prop::collection::vec(net, 1..3)
        };
        let one = prop_oneof![
            prop::collection::vec(0..4_u8, 1..3).prop_map(|l| {
                let dscps: Vec<Dscp> = l.into_iter().filter_map(Dscp::new).collect();
                MatchSpec::dscp(dscps)
            }),
            prop::collection::vec(0..2_u8, 1..3).prop_map(MatchSpec::precedence),
            prop::collection::vec(0..3_u8, 1..3).prop_map(MatchSpec::exp),
            prop::sample::subsequence(vec![1_u8, 6, 17], 1..3).prop_map(|l| {
                let protocols: Vec<Protocol> = l.into_iter().map(Protocol).collect();
                MatchSpec::protocol(protocols)
            }),
            ports().prop_map(MatchSpec::sport),
            ports().prop_map(MatchSpec::dport),
            nets().prop_map(MatchSpec::src),
            nets().prop_map(MatchSpec::dst),
            prop::sample::subsequence(vec!["a", "b", "c"], 1..3).prop_map(|l| {
                let names: Vec<String> = l.into_iter().map(str::to_owned).collect();
                MatchSpec::input(names)
            }),
        ];
        let leaf = prop::collection::vec(one, 0..4).prop_map(|keys| {
            let mut all = MatchSpec::default();
            for key in keys {
                let _ = all.merge(key);
            }
            all
        });
        leaf.prop_recursive(2, 8, 3, |inner| {
            let list = || prop::collection::vec(inner.clone(), 1..3);
            prop_oneof![
                list().prop_map(MatchSpec::any),
                list().prop_map(MatchSpec::all),
                inner.clone().prop_map(MatchSpec::not),
                prop::collection::vec((any::<bool>(), inner.clone()), 1..4).prop_map(|l| {
                    let entry = |(permit, matching)| AclEntry { permit, matching };
                    MatchSpec::acl(l.into_iter().map(entry).collect::<Vec<_>>())
                }),
            ]
        })
    }

    fn packet() -> impl Strategy<Value = (FlowKey, u8, Option<u8>, Option<&'static str>)> {
        let key = (
            0..4_u32,
            0..4_u32,
            prop::sample::select(vec![1_u8, 6, 17, 132]),
            0..7_u16,
            0..7_u16,
        );
        let key = key.prop_map(|(src, dst, protocol, sport, dport)| FlowKey {
            src: Ipv4Addr::from(src).into(),
            dst: Ipv4Addr::from(dst).into(),
            protocol,
            sport,
            dport,
        });
        let exp = prop::option::weighted(0.2, 0..4_u8);
        let input = prop::option::of(prop::sample::select(vec!["a", "b", "d"]));
        (key, 0..16_u8, exp, input)
    }

    /// The set of one packet.
    fn only(key: &FlowKey, dscp: u8, exp: Option<u8>, input: Option<&str>) -> PacketSet {
        let [src, dst] = key.ipv4().unwrap();
        let mut protocols = [0_u128; 2];
        protocols[usize::from(key.protocol >> 7)] = 1 << (key.protocol & 127);
        // No link of a condition has the name of none.
        let name = Arc::from(input.unwrap_or_default());
        PacketSet(vec![PacketBox {
            exp: exp.map_or(PLAIN, |exp| 1 << exp),
            inputs: Inputs {
                names: BTreeSet::from([name]),
                all_but: false,
            },
            dscps: 1 << dscp,
            protocols,
            src: Ipv4Net::new(src, u32::MAX),
            dst: Ipv4Net::new(dst, u32::MAX),
            sport: vec![(key.sport, key.sport)],
            dport: vec![(key.dport, key.dport)],
        }])
    }

    proptest! {
        /// A set holds the packets for which the classifier finds that the condition holds, and so
        /// do intersections and differences.
        #[test]
        fn sets_are_what_the_conditions_mean(
            a in condition(),
            b in condition(),
            packets in prop::collection::vec(packet(), 64),
        ) {
            let (Some(x), Some(y)) = (PacketSet::of(&a), PacketSet::of(&b)) else {
                return Ok(());
            };
            let (both, rest) = (x.and(&y), x.without(&y));
            for (key, dscp, exp, input) in &packets {
                let view = match *exp {
                    Some(exp) => View::Labelled { exp },
                    None => View::Ip { key, dscp: Dscp::new(*dscp).unwrap() },
                };
                let around = Metadata { input: *input, ..Metadata::default() };
                let holds = |m: &MatchSpec| m.matches_with(view, &around);
                let one = only(key, *dscp, *exp, *input);
                prop_assert_eq!(x.meets(&one), holds(&a), "{:?} {:?}", view, input);
                if let Some(both) = &both {
                    prop_assert_eq!(both.meets(&one), holds(&a) && holds(&b), "{:?}", view);
                }
                if let Some(rest) = &rest {
                    prop_assert_eq!(rest.meets(&one), holds(&a) && !holds(&b), "{:?}", view);
                }
            }
        }
    }
}
