//! Flows that are announced as their packets come, and disciplines without other policies.

use std::sync::Arc;

use crate::common::{BPS, Preset, flows, packet, presets, resolve};
use spillgate_core::{Cos, Drops, Packet, Rng, Time};
use spillgate_queueing::{Discipline, FlowNumbers};

/// What leaves and what is lost, in order, when the flows are told first or one by one.
fn run(preset: &Preset, later: bool) -> Vec<(u64, bool)> {
    let (recipe, _) = resolve(preset.json, BPS).unwrap();
    let keys = flows();
    let mut port = recipe.build(&if later {
        Arc::from([])
    } else {
        Arc::clone(&keys)
    });
    let mut numbers = FlowNumbers::new();
    let (mut rng, mut drops, mut out) = (Rng::from_key(3), Drops::new(), Vec::new());
    for seq in 0..400_u32 {
        // One flow more every 40 packets, all of them while others wait.
        let flow = (seq * 7 % (seq / 40 + 1)).min(7);
        let now = Time::from_secs_f64(f64::from(seq) * 0.003);
        let mut p = packet(flow, seq, 500);
        p.arrived = now;
        if later {
            // The first packet of each flow comes in the order of their numbers.
            for key in &keys[..=flow as usize] {
                numbers.announce(*key, &mut port);
            }
            numbers.label(&mut p, keys[flow as usize], &mut port);
            assert_eq!(numbers.number(&keys[flow as usize]), Some(flow));
            assert_eq!(numbers.key(flow), Some(&keys[flow as usize]));
        }
        port.enqueue(now, p, &mut rng, &mut drops);
        if seq % 2 == 0 {
            let left = port.dequeue(now, &mut rng, &mut drops);
            out.extend(left.map(|p| (p.handle, false)));
        }
        out.extend(drops.as_slice().iter().map(|d| (d.packet.handle, true)));
        drops.clear();
    }
    out
}

#[test]
fn it_does_not_matter_when_flows_are_announced() {
    for preset in presets() {
        let (first, later) = (run(preset, false), run(preset, true));
        assert_eq!(first, later, "{}: {}", preset.name, preset.json);
        assert!(!first.is_empty());
    }
}

/// The same for a protected flow list that is shared, under every mechanism.
#[test]
fn a_shared_list_learns_of_flows_that_come_later() {
    for mechanism in [
        r#"{"efm": {"pfl_flushing_timer": "100 ms"}}"#,
        r#"{"raef": {"active_time": "20 ms"}}"#,
        r#"{"rbaef": {"active_time": "20 ms", "blocked_time": "80 ms"}}"#,
    ] {
        let json = format!(
            r#"{{"main": {{"fan": {{"scheduler": {{"pfq": {{}}}}, "limit": "40 packets", "min_fair_rate": "90 %", "p_add": 1.0,
            "mechanism": {mechanism}, "elastic": "instant", "protected_list": "all",
            "fair_rate": {{"interval": "20 ms"}}}}}}}}"#
        );
        let preset = Preset {
            name: "fan, shared",
            json: json.leak(),
            work_conserving: true,
        };
        assert_eq!(run(&preset, false), run(&preset, true), "{mechanism}");
    }
}

/// Packets of flows that a driver forgot to announce are counted where a class or a policer asks
/// for addresses or ports, and nowhere else. Once announced, the flow is classified by what it is.
#[test]
fn forgotten_flows_are_counted() {
    let classes = |first: &str| {
        format!(r#"{{"main": {{"class-based": {{"classes": [{{"name": "a", {first}}}]}}}}}}"#)
    };
    let police =
        r#""police": {"rate": "1 Mb/s", "conform_color": {"dport": 5000}, "exceed": "transmit"}"#;
    for (json, counts) in [
        (classes(r#""match": {"sport": 40000}"#), true),
        (classes(r#""match": {"not": {"dport": 1}}"#), true),
        (
            classes(r#""match": {"all": [{"cos": 0}, {"sport": 40000}]}"#),
            true,
        ),
        (
            classes(&format!(r#""match": {{"dscp": "ef"}}, {police}"#)),
            true,
        ),
        (classes(r#""match": {"dscp": "ef"}"#), false),
        (classes(r#""match": {"cos": 0}"#), false),
        (r#"{"main": {"drr": {}}}"#.to_owned(), false),
        (r#"{"main": {"wfq": {}}}"#.to_owned(), false),
        (r#"{"main": {"fifo": {}}}"#.to_owned(), false),
    ] {
        let (recipe, _) = resolve(&json, BPS).unwrap();
        let mut port = recipe.build(&Arc::from([]));
        let (mut rng, mut drops) = (Rng::from_key(3), Drops::new());
        let mut offer = |port: &mut Discipline, mut p: Packet| {
            p.cos = Cos::of(0);
            port.enqueue(Time::ZERO, p, &mut rng, &mut drops);
            assert!(drops.as_slice().is_empty(), "{json}");
            let found = port.dequeue(Time::ZERO, &mut rng, &mut drops).unwrap();
            (found.leaf, port.unknown())
        };
        assert_eq!(port.unknown(), 0);
        let (_, unknown) = offer(&mut port, packet(0, 0, 100));
        assert_eq!(unknown, u64::from(counts), "{json}");
        // Of a labelled packet nobody sees the addresses.
        let mut labelled = packet(0, 1, 100);
        labelled.labels.push(3);
        assert_eq!(offer(&mut port, labelled).1, unknown, "{json}");
        assert_eq!(port.add_flow(flows()[0]), 0);
        let (found, after) = offer(&mut port, packet(0, 2, 100));
        assert_eq!((found, after), (0, unknown), "{json}");
    }
}
