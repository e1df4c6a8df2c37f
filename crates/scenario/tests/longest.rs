//! Packets longer than the MTU of a flow-aware link are warned of when a scenario is loaded.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_scenario::{Options, load};

/// Three nodes in a row, the second link flow-aware with an MTU of 1000 B; what is warned of MTUs.
fn warned(link: &str, topology: &str, flow: &str) -> Vec<String> {
    let text = format!(
        "
schema_version: 1
topology:
  nodes: [a, b, c, d]
  links:
    first: {{from: a, to: b, rate: 10 Mb/s, duplex: true}}
    aware: {{from: b, to: c, rate: 10 Mb/s, policy: fan{link}}}
    back: {{from: c, to: b, rate: 10 Mb/s}}
    over: {{from: a, to: d, rate: 10 Mb/s, cost: 9, duplex: true, policy: narrow}}
    down: {{from: d, to: c, rate: 10 Mb/s, cost: 9, duplex: true}}
{topology}
policies: {{fan: {{fan: {{mtu: 1000 B}}}}, narrow: {{fan: {{mtu: 500 B}}}}}}
traffic:
  - flow: {{name: f, from: a, to: c, {flow}}}
  - flow: {{name: short, from: a, to: c, source: {{cbr: {{rate: 1 Mb/s, packet: 100 B}}}}}}
measurement: {{warmup: 1 s, duration: 10 s}}
"
    );
    let files = memory(&[("s.yaml", text.as_bytes())]);
    let loaded = load(Path::new("s.yaml"), &files, &Router, &Options::default());
    let warnings = loaded.expect("it loads").plan.warnings;
    let about = |w: &String| w.contains("`mtu` of policy");
    warnings.into_iter().filter(about).collect()
}

fn cbr(bytes: u32) -> String {
    format!("source: {{cbr: {{rate: 1 Mb/s, packet: {bytes} B}}}}")
}

/// Every kind of traffic says how long its packets are: the MTU is not exceeded by a byte, or is.
#[test]
fn the_longest_packet_of_every_kind_counts() {
    let sizes = |sizes: &str| format!("source: {{poisson: {{rate: 1 Mb/s, packet: {sizes}}}}}");
    let tcp = |mss, more: &str| format!("tcp: {{profile: ns2, mss: {mss} B{more}}}");
    for (fits, exceeds, bytes) in [
        (cbr(1000), cbr(1001), 1001),
        (
            sizes("{uniform: {min: 40 B, max: 1000 B}}"),
            sizes("{uniform: {min: 40 B, max: 1400 B}}"),
            1400,
        ),
        (
            sizes("{table: [{size: 1000 B, weight: 1}, {size: 40 B, weight: 2}]}"),
            sizes("{table: [{size: 40 B, weight: 99}, {size: 1200 B, weight: 1}]}"),
            1200,
        ),
        (
            sizes("{genome: aaa}"),
            sizes("{exponential: 300 B}"),
            65_535,
        ),
        // 40 B of headers, which this profile counts without options.
        (tcp(960, ""), tcp(961, ""), 1001),
        // A standard segment is an Ethernet packet, timestamps included.
        (tcp(500, ""), "tcp: {}".to_owned(), 1500),
        (
            "source: {voip: {codec: g711}}".to_owned(),
            "source: {video: {rate: 1 Mb/s, fps: 25}}".to_owned(),
            1500,
        ),
    ] {
        assert_eq!(warned("", "", &fits), [""; 0], "{fits}");
        let found = warned("", "", &exceeds);
        let [one] = &found[..] else {
            panic!("{exceeds}: {found:?}");
        };
        let said = format!(
            "packets of up to {bytes} B are longer than the `mtu` of policy `fan`, 1000 B: f"
        );
        assert!(one.contains(&said), "{exceeds}: {one}");
    }
}

/// What counts is what a packet occupies on the link.
#[test]
fn what_the_link_adds_counts() {
    let found = warned(", overhead: ethernet-frame", "", &cbr(990));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("packets of up to 1008 B with what link `aware` adds"),
        "{found:?}"
    );
    assert_eq!(warned(", overhead: ethernet-frame", "", &cbr(982)), [""; 0]);
    let mpls = "  mpls: {p: [b], pe: [a, c], php: false}";
    // One label, or two in a VPN.
    assert_eq!(warned("", mpls, &cbr(992)), [""; 0]);
    assert_eq!(warned("", mpls, &cbr(997)).len(), 1);
}

/// A flow-aware link that a flow meets only after a failure is one of its links.
#[test]
fn a_detour_counts() {
    assert_eq!(warned("", "", &cbr(600)), [""; 0]);
    let found = warned("", "  failures: [{link: first, at: 5 s}]", &cbr(600));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("600 B are longer than the `mtu` of policy `narrow`, 500 B: f"),
        "{found:?}"
    );
}
