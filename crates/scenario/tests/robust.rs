//! No input panics, whatever it is: every text ends in a plan or in located errors.

use std::path::Path;

use crate::common::{Router, SMALL, memory};
use proptest::prelude::*;
use spillgate_scenario::{Diagnostics, Options, load};

const TABLE: &str = "name,count,from,to,rate,packet,source\nx,2,a,b,1 kb/s,100 B,cbr\n\"y\",,a,b,5 kb/s,imix,poisson\n";
const CONFIG: &str = "policy LLQ percent 40\ninterface Gi0/0 bandwidth 5Mb/s\noutput LLQ\n";

fn with_files() -> String {
    SMALL
        .replace("traffic:\n", "traffic:\n  - csv: {file: t.csv, defaults: {jitter: 5 %}}\n")
        .replace(", policy: Q", "")
        .replace("policies:", "configs: [{ios: r.cfg, interfaces: {Gi0/0: wan}}]\npolicies:")
        .replace("{fifo: {limit: 50 packets}}", "{class-based: {classes: [{name: v, match: {dscp: [ef, 10], not: {src: 10.0.0.0/8}}, priority: {rate: 20 %}}]}}")
        + "sla: [{class: voice, metric: owd_p99, max: 20 ms}]\nvariants:\n  - {name: p, set: {topology.links.wan.rate: 5 Mb/s}}\n  - {name: q, set: {traffic.voice.source.cbr.jitter: 5 %}}\n"
}

/// Groups, failures and sessions.
const HOSTS: &str = "schema_version: 1
topology:
  nodes: [a, b, {name: s, count: 3}, {name: d, count: 3}]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, duplex: true, policy: Q}
    in: {from: s, to: a, rate: 1 Gb/s, delay: [1 ms, 2 ms], duplex: true}
    out: {from: b, to: d, rate: 1 Gb/s, duplex: true}
  failures:
    - {link: wan, at: 3 s, repair: 5 s}
    - {link: in-1.reverse, at: 4 s}
  routing: {detection: 50 ms, convergence: 200 ms}
policies:
  Q: {fifo: {limit: 50 packets}}
traffic:
  - flow: {name: bulk, count: 5, from: s, to: d, stop: 8 s, tcp: {}}
  - flow: {name: video, from: s-1, to: d, tcp: {}, source: {on-off: {peak: 4 Mb/s, packet: 1500 B, on: 1 s, off: 1 s}}}
  - sessions: {name: web, count: 2, from: s, to: d, active: 5, arrivals: {poisson: {gap: 20 ms}}, session: {transfer: {size: {table: web}}}}
  - sessions: {name: rr, from: d, to: s, arrivals: {fixed: {gap: 1 s, count: 9}}, session: {request-response: {request: {fixed: 300 B}, response: {table: [{size: 1 kB, cdf: 1}]}}}}
measurement: {warmup: 1 s, duration: 10 s, interval: 1 s}
";

/// Customers with agreements.
const AGREEMENTS: [&str; 3] = [
    include_str!("good/agreements.yaml"),
    include_str!("good/agreements.csv"),
    include_str!("good/agreements-shaped.csv"),
];

/// The same with another table of customers, or another scenario.
fn agree(scenario: &[u8], table: &[u8], opts: &Options) -> Result<(), Diagnostics> {
    let files = [
        ("s.yaml", scenario),
        ("agreements.csv", table),
        ("agreements-shaped.csv", AGREEMENTS[2].as_bytes()),
    ];
    ends_well(&files, opts)
}

fn try_load(scenario: &[u8], table: &[u8], opts: &Options) -> Result<(), Diagnostics> {
    let files = [
        ("s.yaml", scenario),
        ("t.csv", table),
        ("r.cfg", CONFIG.as_bytes()),
    ];
    ends_well(&files, opts)
}

fn ends_well(files: &[(&str, &[u8])], opts: &Options) -> Result<(), Diagnostics> {
    let files = memory(files);
    let result = load(Path::new("s.yaml"), &files, &Router, opts).map(|_| ());
    if let Err(e) = &result {
        assert!(e.has_errors(), "an error without errors");
        assert!(e.0.iter().all(|d| !d.message.is_empty()));
        // Rendering must not panic either.
        assert!(!e.to_string().is_empty());
        assert!(serde_json::to_string(e).is_ok());
    }
    result
}

#[test]
fn the_template_is_fine() {
    try_load(
        with_files().as_bytes(),
        TABLE.as_bytes(),
        &Options::default(),
    )
    .unwrap_or_else(|e| panic!("{e}"));
    try_load(HOSTS.as_bytes(), b"", &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let [scenario, table, _] = AGREEMENTS.map(str::as_bytes);
    agree(scenario, table, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn damaged_agreements_end_well() {
    let [scenario, table, _] = AGREEMENTS.map(str::as_bytes);
    let none = Options::default();
    for end in 0..scenario.len() {
        let _ = agree(&scenario[..end], table, &none);
    }
    for at in 0..table.len() {
        let _ = agree(scenario, &table[..at], &none);
        for byte in *b"\0\n,\"#0 \xe9" {
            let mut bad = table.to_vec();
            bad[at] = byte;
            let _ = agree(scenario, &bad, &none);
        }
    }
}

/// Every truncation, and every byte replaced by each of some that matter in YAML.
#[test]
fn truncations_and_corruptions_end_well() {
    let text = with_files().into_bytes();
    let none = Options::default();
    for end in 0..text.len() {
        let _ = try_load(&text[..end], TABLE.as_bytes(), &none);
    }
    for end in 0..HOSTS.len() {
        let _ = try_load(&HOSTS.as_bytes()[..end], b"", &none);
        let mut bad = HOSTS.to_owned();
        bad.remove(end);
        let _ = try_load(bad.as_bytes(), b"", &none);
    }
    for at in 0..text.len() {
        for byte in *b"\0\t\n #\"&*-:[]{}0\xe9" {
            let mut bad = text.clone();
            bad[at] = byte;
            let _ = try_load(&bad, TABLE.as_bytes(), &none);
        }
    }
    for at in 0..TABLE.len() {
        for byte in *b"\0\r\n,\"#;0\xe9" {
            let mut bad = TABLE.as_bytes().to_vec();
            bad[at] = byte;
            let _ = try_load(&text, &bad, &none);
        }
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = try_load(text.as_bytes(), TABLE.as_bytes(), &Options::default());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = try_load(&bytes, &bytes, &Options::default());
    }

    /// Texts of YAML's own characters reach deeper than random ones.
    #[test]
    fn no_yaml_like_text_panics(text in "([a-c]: |- |\\[|\\]|\\{|\\}|, |&x |\\*x|\"|'|\n|\n  |\\| |> |\\? |!!str |--- |#|1|~|<<: ){0,60}") {
        let _ = try_load(text.as_bytes(), b"", &Options::default());
    }

    #[test]
    fn no_table_panics(table in "[a-c,\"\r\n #0-9]{0,80}") {
        let _ = try_load(with_files().as_bytes(), table.as_bytes(), &Options::default());
    }

    #[test]
    fn no_override_panics(path in "[a-z.\\[\\]\"0-9=]{0,30}", value in "\\PC{0,30}") {
        let overrides = vec![format!("{path}={value}"), path];
        let opts = Options { overrides, ..Options::default() };
        let _ = try_load(with_files().as_bytes(), TABLE.as_bytes(), &opts);
    }

    /// Any words in any columns of a table of agreements.
    #[test]
    fn any_agreement_ends_well(
        header in prop::sample::subsequence(vec![
            "rate", "burst", "phb", "peak_rate", "excess_burst", "window", "meter", "action", "color_aware", "per_flow",
            "input", "src", "dscp", "cos", "sport",
        ], 0..15),
        cells in prop::collection::vec(prop::sample::select(vec![
            "", "1 Mb/s", "2 Mb/s", "10 %", "0 %", "5 kB", "0 B", "50 ms", "0 s", "af1", "ef", "le", "af11", "cs0", "srtcm", "trtcm",
            "tsw2cm", "tsw3cm", "token-bucket", "mark", "drop", "shape", "yes", "no", "acme", "bolt line", "10.0.0.0/8", "8", "x",
        ]), 15),
        defaults in prop::sample::select(vec!["{}", "{meter: tsw3cm}", "{action: shape}", "{rate: 1 Mb/s, phb: af4}", "{cos: 9}"]),
    ) {
        let row: Vec<&str> = cells.into_iter().take(header.len()).collect();
        let table = format!("customer,{}\nacme,{}\n", header.join(","), row.join(","));
        let table = table.replace(",\n", "\n");
        let set = format!("agreements[0].defaults={defaults}");
        let opts = Options { overrides: vec![set], ..Options::default() };
        let _ = agree(AGREEMENTS[0].as_bytes(), table.as_bytes(), &opts);
    }

    /// Any value at any place that exists.
    #[test]
    fn any_value_anywhere_ends_well(
        path in prop::sample::select(vec![
            "schema_version", "topology", "topology.nodes", "topology.nodes[1]", "topology.links", "topology.links.wan",
            "topology.links.wan.rate", "topology.links.wan.delay", "topology.links.wan.overhead", "topology.links.wan.cost",
            "topology.links.wan.duplex", "configs", "configs[0].interfaces", "policies", "policies.Q",
            "policies.Q.class-based.classes", "policies.Q.class-based.classes.v.priority.rate", "traffic", "traffic[0]",
            "traffic[0].csv.defaults", "traffic.voice", "traffic.voice.count", "traffic.voice.src", "traffic.voice.source",
            "traffic.voice.source.cbr.packet", "measurement", "measurement.interval", "measurement.duration", "sla",
            "sla[0].max", "runs", "runs.seed", "variants", "variants[0].set",
        ]),
        value in prop::sample::select(vec![
            "", "null", "0", "1", "-1", "3.5", "18446744073709551616", ".nan", "true", "x", "''", "[]", "{}", "[x, x]",
            "{a: {}}", "10 Mb/s", "100 days", "2400 h", "1 ns", "100 %", "65535 B", "4000000000 packets", "1 GB",
            "{fifo: {}}", "{x: {wfq: {}}}", "[{flow: {}}]", "10.0.0.0/8", "any", "1000 Tb/s", "1 b/s",
            "{cbr: {rate: 1 b/s, packet: {table: []}}}", "{x: 1, y: [2]}",
        ]),
    ) {
        let opts = Options { overrides: vec![format!("{path}={value}")], ..Options::default() };
        let _ = try_load(with_files().as_bytes(), TABLE.as_bytes(), &opts);
    }

    /// The same among groups, failures and sessions.
    #[test]
    fn any_value_among_hosts_ends_well(
        path in prop::sample::select(vec![
            "topology.nodes[2]", "topology.nodes.s.count", "topology.nodes.d.name", "topology.links.in.from",
            "topology.links.in.to", "topology.links.in.delay", "topology.links.in.delay[0]", "topology.links.in.duplex",
            "topology.failures", "topology.failures[0]", "topology.failures[1].link", "topology.failures[0].at",
            "topology.failures[0].repair", "topology.routing", "topology.routing.detection", "traffic.bulk.count",
            "traffic.bulk.from", "traffic.bulk.to", "traffic.bulk.source", "traffic.bulk.bytes", "traffic.bulk.stop",
            "traffic.web", "traffic.web.active", "traffic.web.arrivals", "traffic.web.arrivals.poisson.gap",
            "traffic.web.session", "traffic.web.session.transfer.size", "traffic.web.tcp", "traffic.web.src",
            "traffic.rr.arrivals.fixed.count", "traffic.rr.session.request-response.requests",
            "traffic.rr.session.request-response.response.table",
        ]),
        value in prop::sample::select(vec![
            "", "null", "0", "1", "-1", "3.5", "100000", "100001", "4294967295", ".nan", "true", "s", "d", "s-0", "a-0",
            "wan", "in", "in-2", "wan.reverse", "[]", "{}", "[1 ms, x]", "[{size: 1 B, cdf: .nan}]", "web", "100 days",
            "0 s", "1 ns", "10.0.0.0/30", "{lifetime: {mean: 1 ns}}", "{fixed: {gap: 0 s}}", "{name: s, count: 2}",
            "{link: wan, at: 4 s}", "{cbr: {rate: 1 b/s, packet: 20 B}}", "{cc: tahoe, sack: true}",
        ]),
    ) {
        let opts = Options { overrides: vec![format!("{path}={value}")], ..Options::default() };
        let _ = try_load(HOSTS.as_bytes(), b"", &opts);
    }
}
