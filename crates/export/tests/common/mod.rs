//! What the tests share: trees and packets at random, and every configuration of the repository.

pub(crate) mod tc_script;

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use proptest::collection::btree_map;
use proptest::option::of as option;
use proptest::prelude::*;
use spillgate_core::{Burst, Dscp, Dur, FlowKey, Limit, Percent, Rate, RateOrPercent, Size};
use spillgate_queueing::aqm::{AqmSpec, WredBy, WredProfile, WredSpec, WredUnit};
use spillgate_queueing::spec::{
    AclEntry, ClassBasedSpec, ClassSpec, DisciplineSpec, FairQueueSpec, MatchSpec, NetSpec,
    OneOrMany, PoliceAction, PoliceActions, PoliceSpec, PortRange, PrioritySpec, Protocol,
    ShapeSpec,
};

fn dscp() -> impl Strategy<Value = Dscp> {
    (0..64_u8).prop_map(|v| Dscp::new(v).unwrap())
}

fn list<T: std::fmt::Debug + Clone + PartialEq>(
    of: impl Strategy<Value = T>,
    most: usize,
) -> impl Strategy<Value = OneOrMany<T>> {
    // A list names nothing twice.
    proptest::collection::vec(of, 1..=most).prop_map(|v| {
        let mut unique = Vec::new();
        for x in v {
            if !unique.contains(&x) {
                unique.push(x);
            }
        }
        OneOrMany(unique)
    })
}

fn net() -> impl Strategy<Value = NetSpec> {
    prop_oneof![
        Just("10.0.0.0/8"),
        Just("10.1.0.0/16"),
        Just("10.1.2.3"),
        Just("10.0.3.0 wildcard 0.255.0.255"),
        Just("any")
    ]
    .prop_map(|t| t.parse().unwrap())
}

fn port() -> impl Strategy<Value = PortRange> {
    prop_oneof![
        (0..=u16::MAX).prop_map(|p| PortRange { first: p, last: p }),
        (0..=u16::MAX, 0..=u16::MAX).prop_map(|(a, b)| PortRange {
            first: a.min(b),
            last: a.max(b)
        }),
        Just(PortRange {
            first: 5060,
            last: 5061
        }),
        Just(PortRange {
            first: 16384,
            last: 32767
        }),
    ]
}

/// What one access-list entry can say.
fn flow() -> impl Strategy<Value = MatchSpec> {
    let protocol = prop_oneof![Just(6_u8), Just(17), Just(1), Just(47), 0..=255_u8];
    (
        option(list(dscp(), 3)),
        option(list(0..8_u8, 2)),
        option(list(net(), 2)),
        option(list(net(), 2)),
        option(list(protocol.prop_map(Protocol), 2)),
        option(list(port(), 2)),
        option(list(port(), 2)),
    )
        .prop_map(
            |(dscp, precedence, src, dst, protocol, sport, dport)| MatchSpec {
                dscp,
                precedence,
                src,
                dst,
                protocol,
                sport,
                dport,
                ..MatchSpec::default()
            },
        )
}

fn condition() -> impl Strategy<Value = MatchSpec> {
    let entry =
        (any::<bool>(), flow()).prop_map(|(permit, matching)| AclEntry { permit, matching });
    let leaf = prop_oneof![
        3 => list(dscp(), 20).prop_map(|d| MatchSpec { dscp: Some(d), ..MatchSpec::default() }),
        2 => list(0..8_u8, 6).prop_map(|p| MatchSpec { precedence: Some(p), ..MatchSpec::default() }),
        1 => list(0..8_u8, 4).prop_map(|e| MatchSpec { exp: Some(e), ..MatchSpec::default() }),
        1 => list(0..4_u8, 4).prop_map(|c| MatchSpec { cos: Some(c), ..MatchSpec::default() }),
        1 => list(0..4_u16, 3).prop_map(|g| MatchSpec { qos_group: Some(g), ..MatchSpec::default() }),
        1 => list(proptest::sample::select(vec!["Vlan3".to_owned(), "GigabitEthernet0/1".to_owned()]), 2)
            .prop_map(|i| MatchSpec { input: Some(i), ..MatchSpec::default() }),
        2 => flow(),
        2 => proptest::collection::vec(entry, 0..4)
            .prop_map(|acl| MatchSpec { acl: Some(acl), ..MatchSpec::default() }),
        1 => Just(MatchSpec::default()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let many = || proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            many().prop_map(|any| MatchSpec {
                any: Some(any),
                ..MatchSpec::default()
            }),
            many().prop_map(|all| MatchSpec {
                all: Some(all),
                ..MatchSpec::default()
            }),
            inner.clone().prop_map(|not| MatchSpec {
                not: Some(Box::new(not)),
                ..MatchSpec::default()
            }),
            // A scenario's lists may hold what an entry of a router's cannot.
            proptest::collection::vec((any::<bool>(), inner.clone()), 1..4).prop_map(|entries| {
                let entry = |(permit, matching)| AclEntry { permit, matching };
                MatchSpec {
                    acl: Some(entries.into_iter().map(entry).collect()),
                    ..MatchSpec::default()
                }
            }),
            (inner.clone(), list(dscp(), 12), inner.clone()).prop_map(|(not, dscp, one)| {
                MatchSpec {
                    dscp: Some(dscp),
                    not: Some(Box::new(not)),
                    any: Some(vec![one.clone(), one]),
                    ..MatchSpec::default()
                }
            }),
        ]
    })
}

fn rate() -> impl Strategy<Value = RateOrPercent> {
    prop_oneof![
        (8_u64..1_000_000).prop_map(|k| RateOrPercent::Rate(Rate::from_bps(k * 1000).unwrap())),
        (1..=10_u32).prop_map(|p| RateOrPercent::Percent(Percent(f64::from(p) / 100.0))),
    ]
}

/// A burst as IOS can say it: in bytes of a rate, in time of a percentage.
fn burst(rate: RateOrPercent, n: u64) -> Burst {
    match rate {
        RateOrPercent::Rate(_) => Burst::Bytes(n),
        RateOrPercent::Percent(_) => Burst::Time(Dur::from_ms(n % 1000 + 1)),
    }
}

fn actions() -> impl Strategy<Value = PoliceActions> {
    prop_oneof![
        Just(PoliceAction::Transmit),
        Just(PoliceAction::Drop),
        dscp().prop_map(PoliceAction::SetDscp),
        (0..8_u8).prop_map(PoliceAction::SetExp),
        (0..8_u8).prop_map(PoliceAction::SetCos),
        (0..512_u16).prop_map(PoliceAction::SetQosGroup),
        (0..8_u8).prop_map(PoliceAction::SetExpImposition)
    ]
    .prop_map(PoliceActions::from)
}

fn police() -> impl Strategy<Value = PoliceSpec> {
    (
        (
            rate(),
            option(1..1_000_000_u64),
            option(rate()),
            option(1..1_000_000_u64),
        ),
        (actions(), actions(), option(actions())),
        option((condition(), option(condition()))),
    )
        .prop_map(
            |((rate, bc, peak_rate, be), (conform, exceed, violate), colors)| {
                let (conform_color, exceed_color) =
                    colors.map_or((None, None), |(c, e)| (Some(c), e));
                let three = peak_rate.is_some() || violate.is_some();
                PoliceSpec {
                    burst: bc.map(|n| burst(rate, n)),
                    peak_rate,
                    excess_burst: be
                        .filter(|_| three)
                        .map(|n| burst(peak_rate.unwrap_or(rate), n)),
                    conform,
                    exceed,
                    violate,
                    conform_color,
                    exceed_color,
                    ..PoliceSpec::new(rate)
                }
            },
        )
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1..10_000_u32).prop_map(Limit::Packets),
        (1..1_000_000_u64).prop_map(Limit::Bytes),
        (1..1000_u64).prop_map(|n| Limit::Time(Dur::from_ms(n))),
        (1..1000_u64).prop_map(|n| Limit::Time(Dur::from_us(n))),
    ]
}

fn profile() -> impl Strategy<Value = WredProfile> {
    (1..4096_u32, 1..4096_u32, 1..65_536_u32).prop_map(|(a, b, denominator)| WredProfile {
        min: a.min(b),
        max: a.max(b),
        denominator,
    })
}

fn wred() -> impl Strategy<Value = AqmSpec> {
    let by = prop_oneof![Just(WredBy::Dscp), Just(WredBy::Precedence)];
    // Thresholds in each unit, drop precedences of assured forwarding among the code points.
    let unit = prop_oneof![
        Just(WredUnit::Packets),
        Just(WredUnit::Bytes),
        Just(WredUnit::Ms)
    ];
    let dscps = btree_map(dscp(), profile(), 0..4);
    let precedences = btree_map(0..8_u8, profile(), 0..4);
    let parts = (by, unit, 1..=16_u8, dscps, precedences, any::<bool>());
    parts.prop_map(|(by, unit, n, dscp, precedence, ecn)| {
        let none = match by {
            WredBy::Dscp => dscp.is_empty(),
            WredBy::Precedence => precedence.is_empty(),
        };
        AqmSpec::Wred(WredSpec {
            by,
            // Without a profile nothing in a configuration says the unit.
            unit: if none { WredUnit::Packets } else { unit },
            exponential_weighting_constant: (n != 9).then_some(n),
            dscp: if by == WredBy::Dscp {
                dscp
            } else {
                BTreeMap::new()
            },
            precedence: if by == WredBy::Dscp {
                BTreeMap::new()
            } else {
                precedence
            },
            ecn,
            ..WredSpec::default()
        })
    })
}

/// How a class shares: at most one of these.
fn share() -> impl Strategy<Value = ClassSpec> {
    let none = ClassSpec::default;
    prop_oneof![
        Just(none()),
        rate().prop_map(move |r| ClassSpec {
            bandwidth: Some(r),
            ..none()
        }),
        (1..=1000_u32).prop_map(move |n| ClassSpec {
            bandwidth_remaining_ratio: Some(n),
            ..none()
        }),
        (1..=10_u32).prop_map(move |p| ClassSpec {
            bandwidth_remaining: Some(Percent(f64::from(p) / 100.0)),
            ..none()
        }),
    ]
}

fn class() -> impl Strategy<Value = ClassSpec> {
    let queue = (
        share(),
        option((rate(), option((1..1_000_000_u64, 0..3_u64)))),
        option(limit()),
        option((4..=12_u32, 1..=4096_u16)),
        option(wred()),
        btree_map(dscp(), limit(), 0..3),
        btree_map(0..8_u8, limit(), 0..3),
    )
        .prop_map(
            |(share, shape, queue_limit, fair, aqm, by_dscp, by_precedence)| ClassSpec {
                shape: shape.map(|(rate, b)| ShapeSpec {
                    kind: None,
                    rate,
                    burst: b.map(|(n, _)| burst(rate, n)),
                    // None, the same, twice as much.
                    excess_burst: b
                        .filter(|(_, times)| *times > 0)
                        .map(|(n, times)| burst(rate, n * times)),
                }),
                queue_limit,
                queue_limit_dscp: by_dscp,
                queue_limit_precedence: by_precedence,
                fair_queue: fair.map(|(n, threshold)| FairQueueSpec {
                    queues: 1 << n,
                    threshold,
                    ..FairQueueSpec::default()
                }),
                aqm,
                ..share
            },
        );
    let priority = (
        1..=2_u8,
        option((rate(), option(32..2_000_000_u64))),
        limit(),
    )
        .prop_map(|(level, rate, limit)| ClassSpec {
            priority: Some(PrioritySpec {
                level,
                rate: rate.map(|(r, _)| r),
                burst: rate.and_then(|(_, b)| b).map(Size),
                limit,
                ..PrioritySpec::default()
            }),
            ..ClassSpec::default()
        });
    (
        prop_oneof![3 => queue, 1 => priority],
        condition(),
        option(police()),
        option(dscp()),
        option(0..8_u8),
        option(0..8_u8),
        option(0..8_u8),
        option(0..512_u16),
    )
        .prop_map(
            |(class, matching, police, set_dscp, set_exp, imposition, cos, group)| ClassSpec {
                set_cos: cos,
                set_qos_group: group,
                matching: Some(matching),
                police,
                set_dscp,
                set_exp,
                set_exp_imposition: imposition,
                ..class
            },
        )
}

/// Policies: `inner` in the last class of `outer`.
pub(crate) fn policies() -> impl Strategy<Value = BTreeMap<String, DisciplineSpec>> {
    (
        proptest::collection::vec(class(), 1..4),
        proptest::collection::vec(class(), 0..3),
        share(),
    )
        .prop_map(|(outer, inner, default)| {
            let named = |classes: Vec<ClassSpec>, prefix: &str| -> Vec<ClassSpec> {
                let name = |(i, c)| ClassSpec {
                    name: format!("{prefix}{i}"),
                    ..c
                };
                classes.into_iter().enumerate().map(name).collect()
            };
            let mut outer = named(outer, "a");
            outer.push(ClassSpec {
                name: "class-default".to_owned(),
                policy: (!inner.is_empty()).then(|| "inner".to_owned()),
                ..default
            });
            let spec = |classes| {
                DisciplineSpec::ClassBased(ClassBasedSpec {
                    classes,
                    ..ClassBasedSpec::default()
                })
            };
            let mut all = BTreeMap::from([("outer".to_owned(), spec(outer))]);
            if !inner.is_empty() {
                all.insert("inner".to_owned(), spec(named(inner, "b")));
            }
            all
        })
}

/// Packets on which conditions are compared.
pub(crate) fn packets() -> impl Strategy<Value = Vec<(FlowKey, Dscp)>> {
    let address = prop_oneof![
        Just(Ipv4Addr::new(10, 1, 2, 3)),
        Just(Ipv4Addr::new(10, 1, 9, 9)),
        Just(Ipv4Addr::new(10, 7, 3, 9)),
        Just(Ipv4Addr::new(192, 0, 2, 1))
    ];
    // Others have no ports, and none is matched by one.
    let protocol = prop_oneof![Just(6_u8), Just(17)];
    let port = || prop_oneof![Just(5060_u16), Just(20_000), Just(80), 0..=u16::MAX];
    let packet = (address.clone(), address, protocol, port(), port(), dscp());
    let packet = packet.prop_map(|(src, dst, protocol, sport, dport, dscp)| {
        (
            FlowKey {
                src: src.into(),
                dst: dst.into(),
                protocol,
                sport,
                dport,
            },
            dscp,
        )
    });
    proptest::collection::vec(packet, 60)
}

pub(crate) fn configurations() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("crates/import/tests/configs")];
    for example in fs::read_dir(root.join("examples")).unwrap() {
        folders.push(example.unwrap().path());
    }
    let files = folders
        .iter()
        .filter_map(|f| fs::read_dir(f).ok())
        .flatten();
    let mut all: Vec<PathBuf> = files.map(|f| f.unwrap().path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "cfg"));
    all.sort();
    assert!(all.len() >= 10, "{all:?}");
    all
}
