//! Queues without a limit that traffic fills are warned of when a scenario is loaded.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_scenario::{Options, load};

/// A host, a router and a server; what is warned of queues.
fn warned(access: &str, line: &str, traffic: &str) -> Vec<String> {
    let text = format!(
        "
schema_version: 1
topology:
  nodes: [host, router, server, other]
  links:
    access: {{from: host, to: router, delay: 1 ms, {access}}}
    second: {{from: other, to: router, rate: 100 Mb/s, duplex: true}}
    line: {{from: router, to: server, delay: 20 ms, {line}}}
policies:
  P: {{fifo: {{}}}}
  MEANT: {{fifo: {{limit: 1 GB}}}}
  SHAPED: {{class-based: {{classes: [{{name: class-default, shape: {{rate: 5 Mb/s}}}}]}}}}
traffic: [{traffic}]
measurement: {{warmup: 1 s, duration: 10 s}}
"
    );
    let files = memory(&[("s.yaml", text.as_bytes())]);
    let loaded = load(Path::new("s.yaml"), &files, &Router, &Options::default());
    let warnings = loaded.unwrap_or_else(|e| panic!("{e}")).plan.warnings;
    let about = |w: &String| w.contains("has no limit");
    warnings.into_iter().filter(about).collect()
}

const WIDE: &str = "rate: 100 Mb/s, duplex: true";
const LINE: &str = "rate: 10 Mb/s, duplex: true, policy: P";
const UP: &str = "flow: {name: up, from: host, to: server, ";
const DOWN: &str = "flow: {name: down, from: server, to: host, ";

fn flow(way: &str, what: &str) -> String {
    format!("{way}{what}}}")
}

#[test]
fn a_way_back_is_without_a_policy() {
    let found = warned(WIDE, LINE, &flow(DOWN, "tcp: {}"));
    let [one] = &found[..] else {
        panic!("{found:?}");
    };
    let said = "the queue of link `line.reverse` has no limit (a FIFO of 1 GB), and flows fill it: TCP sends until packets are lost (down)";
    assert!(one.contains(said), "{one}");
    assert!(
        one.contains("write it as a link of its own with a `policy`"),
        "{one}"
    );
    // Where the link has its policy, nothing is wrong with greed.
    assert_eq!(warned(WIDE, LINE, &flow(UP, "tcp: {}")), [""; 0]);
    let load = |rate: u32| {
        flow(
            DOWN,
            &format!("source: {{cbr: {{rate: {rate} kb/s, packet: 1500 B}}}}"),
        )
    };
    assert_eq!(warned(WIDE, LINE, &load(9_900)), [""; 0]);
    let found = warned(WIDE, LINE, &load(12_000));
    assert!(
        found[0].contains("it is offered 12 Mb/s of 10 Mb/s (down)"),
        "{found:?}"
    );
    // The link counts what it adds.
    let more = format!("{LINE}, overhead: ethernet");
    assert_eq!(warned(WIDE, &more, &load(9_900)).len(), 1);
}

#[test]
fn a_queue_grows_where_the_line_is_slowest() {
    // At the host: its own link is as slow as the line, and TCP waits there.
    let narrow = "rate: 10 Mb/s, duplex: true";
    let found = warned(narrow, LINE, &flow(UP, "tcp: {}"));
    assert!(found[0].contains("link `access`"), "{found:?}");
    assert_eq!(
        warned(
            &format!("{narrow}, policy: MEANT"),
            LINE,
            &flow(UP, "tcp: {}")
        ),
        [""; 0]
    );
    // A window of 20 kB each 42 ms is 3.8 Mb/s, and one of 1 MB waits in the queues of usual
    // interfaces.
    for window in ["20 kB", "1 MB"] {
        let bounded = format!("tcp: {{max_window: {window}}}");
        assert_eq!(warned(narrow, LINE, &flow(UP, &bounded)), [""; 0]);
    }
    // The line is as fast and has another to serve: packets wait there.
    let other = "flow: {name: other, from: other, to: server, tcp: {}}";
    let two = format!("{}, {other}", flow(UP, "tcp: {}"));
    assert_eq!(warned(narrow, LINE, &two), [""; 0]);
    // A hundred connections get no more than the line that they share.
    let many = flow(UP, "count: 100, tcp: {}");
    assert_eq!(warned(WIDE, LINE, &many), [""; 0]);
    // A shaper on the way lets no more than 5 Mb/s come.
    let shaped = format!("{WIDE}, policy: SHAPED");
    assert_eq!(
        warned(&shaped, "rate: 10 Mb/s, duplex: true", &flow(UP, "tcp: {}")),
        [""; 0]
    );
    // Two flows of 8 Mb/s, each over a link of its own, and one alone.
    let eight = |name: &str, from: &str| {
        format!(
            "flow: {{name: {name}, from: {from}, to: server, source: {{cbr: {{rate: 8 Mb/s, packet: 1500 B}}}}}}"
        )
    };
    let open = "rate: 10 Mb/s, duplex: true";
    assert_eq!(warned(WIDE, open, &eight("one", "host")), [""; 0]);
    let both = format!("{}, {}", eight("one", "host"), eight("two", "other"));
    let found = warned(WIDE, open, &both);
    assert!(
        found[0].contains("link `line` has no limit") && found[0].contains("offered 16 Mb/s"),
        "{found:?}"
    );
}
