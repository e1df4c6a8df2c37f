//! No default burst, bucket or quantum is smaller than the longest packet, whatever counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Cells, Drops, Dscp, FlowKey, Overhead, Packet, Rate, Rng, Time};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Counting, InputRecipe, Line, Recipe, kinds};

/// Every discipline with defaults, and classes with everything that has a default burst or a
/// quantum.
fn policies() -> BTreeMap<String, DisciplineSpec> {
    let disciplines = kinds().iter().find(|f| f.name == "disciplines").unwrap();
    let plain = disciplines.kinds.iter().map(|k| k.kind);
    let mut all: BTreeMap<String, String> = plain
        .filter(|kind| !["class-based", "hfsc"].contains(kind))
        .map(|kind| (kind.to_owned(), format!(r#"{{"{kind}": {{}}}}"#)))
        .collect();
    let trees = [
        (
            "htb of 8 kb/s",
            r#"{"htb": {"default": "c", "classes": [{"name": "c", "rate": "8 kb/s"}]}}"#,
        ),
        (
            "hfsc",
            r#"{"hfsc": {"default": "c", "classes": [{"name": "c", "sc": {"m2": "8 kb/s"}, "ul": {"m2": "8 kb/s"}}]}}"#,
        ),
    ];
    all.extend(trees.map(|(name, policy)| (name.to_owned(), policy.to_owned())));
    all.insert(
        "pdrr".to_owned(),
        r#"{"fan": {"scheduler": {"pdrr": {}}}}"#.to_owned(),
    );
    let classes = [
        ("shape", r#""shape": {"rate": "8 kb/s"}"#),
        ("htb", r#""shape": {"as": "htb", "rate": "8 kb/s"}"#),
        ("percent", r#""shape": {"rate": "1 %"}"#),
        ("police", r#""police": {"rate": "8 kb/s"}"#),
        (
            "per-flow",
            r#""police": {"rate": "8 kb/s", "per_flow": true}"#,
        ),
        (
            "peak",
            r#""police": {"rate": "8 kb/s", "peak_rate": "9 kb/s", "conform": "transmit", "exceed": "drop", "violate": "drop"}"#,
        ),
        (
            "srtcm",
            r#""police": {"rate": "8 kb/s", "violate": "drop"}"#,
        ),
        (
            "priority",
            r#""priority": {"rate": "8 kb/s", "police": "always"}"#,
        ),
        ("drr", r#""bandwidth": "1 %", "drr": {}"#),
        ("fq", r#""shape": {"rate": "8 kb/s"}, "fq": {}"#),
        (
            "fq-codel in a class",
            r#""bandwidth": "1 %", "fq_codel": {}"#,
        ),
        (
            "fair in a class",
            r#""bandwidth": "1 %", "fair": {"scheduler": "qfq"}"#,
        ),
        ("fair-queue", r#""bandwidth": "1 %", "fair_queue": {}"#),
        (
            "inner",
            r#""shape": {"rate": "16 kb/s"}, "policy": "shape""#,
        ),
    ];
    for (name, what) in classes {
        let class = format!(r#"{{"name": "c", "match": {{"dscp": "ef"}}, {what}}}"#);
        let policy = format!(r#"{{"class-based": {{"classes": [{class}]}}}}"#);
        all.insert(name.to_owned(), policy);
    }
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    all.iter()
        .map(|(n, text)| (n.clone(), read(text)))
        .collect()
}

fn overhead() -> impl Strategy<Value = Overhead> {
    let cells = prop::sample::select(vec![Cells::None, Cells::Atm, Cells::Ptm]);
    (-40_i16..=100, 0_u16..200, cells).prop_map(|(n, mpu, cells)| Overhead::new(n, mpu, cells))
}

/// A line, and its longest packet as it arrives there.
fn line() -> impl Strategy<Value = (Line, Packet)> {
    let counted = || prop::option::of(overhead());
    let mtu = prop::option::of(prop_oneof![68_u16..2000, 68_u16..65_527]);
    let rate = prop_oneof![8_000_u64..200_000, 1_000_000_u64..10_000_000_000];
    (rate, overhead(), mtu, counted(), counted()).prop_map(|(bps, own, mtu, policers, queues)| {
        let counting = Counting { policers, queues };
        let rate = Rate::from_bps(bps).unwrap();
        let line = Line::new(rate, own, mtu, 0, counting);
        let mut packet = Packet::new(0, 0, mtu.unwrap_or(1500));
        packet.len = own.wire_len(packet.l3_len);
        packet.dscp = Dscp::new(46).unwrap();
        (line, packet)
    })
}

fn key() -> FlowKey {
    FlowKey {
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        protocol: 17,
        sport: 1,
        dport: 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * effort()))]

    #[test]
    fn a_lone_packet_of_the_longest_is_never_lost((line, packet) in line()) {
        let all = policies();
        let flows: Arc<[FlowKey]> = vec![key()].into();
        for name in all.keys() {
            let (recipe, _) = Recipe::resolve(name, &all, line).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut discipline = recipe.build(&flows);
            let (mut rng, mut drops, now) = (Rng::from_key(1), Drops::new(), Time::ZERO);
            discipline.enqueue(now, packet, &mut rng, &mut drops);
            let mut at = now;
            let sent = loop {
                match discipline.dequeue(at, &mut rng, &mut drops) {
                    Some(sent) => break Some(sent),
                    None => match discipline.next_wake(at) {
                        Some(later) if drops.is_empty() => at = later,
                        _ => break None,
                    },
                }
            };
            prop_assert!(sent.is_some() && drops.is_empty(), "{} loses {} B at {}", name, packet.len, line.rate);
            // It leaves as long as it came.
            prop_assert_eq!(sent.unwrap().len, packet.len);
            if matches!(all[name], DisciplineSpec::ClassBased(_)) {
                let (recipe, _) = InputRecipe::resolve(name, &all, line).unwrap();
                let mut input = recipe.build(&flows, &Vec::new().into());
                prop_assert!(input.admit(now, &mut packet.clone()).1, "{} refuses", name);
            }
        }
    }
}

/// Without an overhead, and with that of Ethernet, nothing is larger than it was.
#[test]
fn usual_lines_have_the_usual_defaults() {
    let policies = policies();
    let bursts = |policies: &BTreeMap<String, DisciplineSpec>, line: Line| {
        let DisciplineSpec::ClassBased(shape) = &policies["shape"] else {
            panic!("no classes");
        };
        let DisciplineSpec::ClassBased(police) = &policies["police"] else {
            panic!("no classes");
        };
        let shaper = shape.divide(line)[0].shape.unwrap().1;
        (shaper, police.divide(line)[0].police.unwrap().1)
    };
    let rate = Rate::from_bps(1_000_000).unwrap();
    let on = |overhead: &str| {
        let own = spillgate_core::overhead::parse_overhead(overhead).unwrap();
        Line::new(rate, own, None, 0, Counting::default())
    };
    assert_eq!(bursts(&policies, rate.into()), (1600, 1500));
    assert_eq!(bursts(&policies, on("ethernet")), (1600, 1538));
    // 32 cells; policers and shapers may count other bytes than the link.
    assert_eq!(bursts(&policies, on("ipoa-llcsnap")), (1696, 1696));
    let counting = Counting {
        policers: Some(Overhead::new(12, 0, Cells::None)),
        queues: None,
    };
    let own = spillgate_core::overhead::parse_overhead("ipoa-llcsnap").unwrap();
    let split = Line::new(rate, own, None, 0, counting);
    assert_eq!(bursts(&policies, split), (1696, 1512));
}
