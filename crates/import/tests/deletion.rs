//! No line about queueing is without a trace: without it the policies, what is exported of them,
//! the list of lines without effect, or the warnings are others.

use std::fs;
use std::path::Path;

use spillgate_import::ConfigImporter;
use spillgate_scenario::{Imported, Platform};

/// First words of lines about queueing, from Cisco's QoS command references: not from the
/// importer's tables. With a second word where there are other commands of that name.
const ABOUT: &[&str] = &[
    "abr",
    "access-list",
    "bandwidth",
    "bgp-policy",
    "cbr",
    "class",
    "class-int",
    "class-map",
    "class-vc",
    "compress",
    "compression",
    "conform-action",
    "conform-color",
    "custom-queue-list",
    "deny",
    "drop",
    "exceed-action",
    "fair-queue",
    "frame-relay bc",
    "frame-relay be",
    "frame-relay cir",
    "frame-relay fair-queue",
    "frame-relay traffic-shaping",
    "group-object",
    "hold-queue",
    "host",
    "icmp",
    "ip access-list",
    "ip nbar",
    "ip nhrp map group",
    "ip rtp priority",
    "ipv4 access-list",
    "ipv6 access-list",
    "match",
    "max-reserved-bandwidth",
    "mls qos",
    "no bandwidth",
    "no class",
    "no fair-queue",
    "no match",
    "no policy-map",
    "no queue-limit",
    "no service-policy",
    "no set",
    "nhrp map group",
    "object-group",
    "permit",
    "platform qos",
    "police",
    "policy-map",
    "ppp multilink fragment",
    "ppp multilink fragment-delay",
    "ppp multilink interleave",
    "priority",
    "priority-group",
    "priority-list",
    "qos",
    "queue-limit",
    "random-detect",
    "range",
    "rate-limit",
    "service-policy",
    "set",
    "shape",
    "shaping-rate",
    "speed",
    "tcp-udp",
    "traffic-shape",
    "tx-ring-limit",
    "ubr",
    "udp",
    "vbr-nrt",
    "violate-action",
];

/// Lines without which nothing changes, on the router as here, and why; of those that are alike one
/// by its number.
const WITHOUT_TRACE: &[(&str, &str, &str)] = &[
    ("aggregation.ios-xr.cfg", "conform-action transmit", DEFAULT),
    ("aggregation.ios-xr.cfg", "exceed-action drop", DEFAULT),
    ("aggregation.ios-xr.cfg", "queue-limit 100 ms", DEFAULT),
    ("arrival.cfg", "conform-action transmit", DEFAULT),
    ("arrival.cfg", "exceed-action drop", DEFAULT),
    ("arrival.cfg", "set cos 6", UNDONE),
    ("arrival.cfg", "set qos-group 7", UNDONE),
    ("arrival.cfg", "service-policy input WAN", UNDONE),
    ("branch.cfg", "class-map this is not a class-map", BANNER),
    (
        "branch.cfg",
        "match not class-map INTERACTIVE",
        "its class-map has another criterion that matches nothing",
    ),
    ("branch.cfg", "match protocol http", FIREWALL),
    ("branch.cfg", "class type inspect FIREWALL", FIREWALL),
    (
        "branch.cfg",
        "random-detect precedence-based",
        "a profile by precedence says so",
    ),
    ("branch.cfg", "exceed-action drop", DEFAULT),
    ("branch.cfg", "no service-policy input OLD", "there is none"),
    (
        "branch.cfg",
        "permit ip 10.0.0.0 0.255.255.255 any reflect BACK",
        OTHER_LIST,
    ),
    ("branch.cfg", "ip access-list standard SNMP", OTHER_LIST),
    ("branch.cfg", "permit 10.9.0.0 0.0.255.255", OTHER_LIST),
    ("branch.cfg", "access-list 101 remark media", "a remark"),
    ("branch.cfg", "policy-map NOT-A-POLICY", BANNER),
    ("branch.cfg:139", "class VOICE", BANNER),
    (
        "ce-node.cfg",
        "random-detect dscp-based",
        "profiles by DSCP say so",
    ),
    (
        "ce-node.cfg",
        "random-detect exponential-weighting-constant 9",
        DEFAULT,
    ),
    ("combinations.cfg", "conform-action transmit", DEFAULT),
    (
        "combinations.cfg",
        "class type queueing Q1",
        "of a policy-map of a type, which is listed",
    ),
    (
        "combinations.cfg",
        "bandwidth percent 10",
        "of a policy-map of a type, which is listed",
    ),
    (
        "combinations.cfg",
        "match ip address 1",
        "of a route-map whose marking is listed",
    ),
    (
        "diffserv.ios-hqf.cfg:57",
        "random-detect dscp-based",
        "profiles by DSCP say so",
    ),
    (
        "diffserv.ios-hqf.cfg:64",
        "random-detect",
        "the next line says by what",
    ),
    (
        "diffserv.ios-hqf.cfg",
        "random-detect dscp-based aggregate",
        "profiles by DSCP say so",
    ),
    ("edge.ios-xr.cfg", "conform-action transmit", DEFAULT),
    ("edge.ios-xr.cfg", "exceed-action drop", DEFAULT),
    ("hub.ios-xe.cfg", "policy-map not really", BANNER),
    (
        "interfaces.cfg",
        "class class-default",
        "of a policy-map whose misspelt head is listed",
    ),
    (
        "internal.cfg",
        "deny ipv6 any any",
        "of a list of IPv6, which is listed wherever it is named",
    ),
    (
        "misspelt.cfg",
        "class VOICE",
        "the abbreviation before it has entered the class",
    ),
    (
        "spoke.ios-pre-hqf.cfg",
        "random-detect",
        "the lines after it say so",
    ),
    (
        "spoke.ios-pre-hqf.cfg",
        "access-list 10 permit 10.0.0.0 0.255.255.255",
        OTHER_LIST,
    ),
    ("thresholds.ios-xe.cfg", "queue-limit dscp af31 10", UNDONE),
];

const DEFAULT: &str = "the default";
const UNDONE: &str = "undone by a later line";
const BANNER: &str = "text of a banner";
const FIREWALL: &str = "of a firewall";
const OTHER_LIST: &str = "of a list that no class-map names";

/// Lines of this file are there to be undone.
const EDITS: &str = "edits.cfg";

fn is_about(line: &str) -> bool {
    let line = line.trim_start().to_lowercase();
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    ABOUT.iter().any(|about| {
        line.strip_prefix(about)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// All that tells of a configuration.
fn traces(text: &str, platform: Platform) -> String {
    match (ConfigImporter { strict: false }).read("r.cfg", text.as_bytes(), platform) {
        Ok((imported, _)) => {
            let Imported {
                policies,
                interfaces,
                unmodelled,
                warnings,
                match_any,
                ..
            } = imported;
            let interfaces: Vec<_> = interfaces
                .into_iter()
                // An interface without a policy tells of nothing.
                .filter(|(_, i)| {
                    i.output_policy.is_some() || i.input_policy.is_some() || i.bandwidth.is_some()
                })
                .collect();
            format!("{policies:?}\n{interfaces:?}\n{unmodelled:?}\n{warnings:?}\n{match_any:?}")
        }
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn every_line_about_queueing_leaves_a_trace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs");
    let mut all: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "cfg"));
    all.retain(|p| !p.ends_with(EDITS));
    all.sort();
    let (mut lines, mut silent) = (0, Vec::new());
    for path in &all {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let said = path.file_stem().unwrap().to_str().unwrap();
        let platform = said
            .rsplit_once('.')
            .and_then(|(_, p)| Platform::by_name(p));
        let platform = platform.unwrap_or_default();
        let whole = traces(&text, platform);
        let written: Vec<&str> = text.lines().collect();
        for (i, line) in written.iter().enumerate().filter(|(_, l)| is_about(l)) {
            lines += 1;
            let here = format!("{name}:{}", i + 1);
            // A comment in its place keeps the numbers of the others.
            let mut without = written.clone();
            without[i] = "!";
            let traced = traces(&without.join("\n"), platform) != whole;
            let known = WITHOUT_TRACE
                .iter()
                .any(|(at, of, _)| (*at == name || *at == here) && *of == line.trim());
            if traced == known {
                silent.push(format!("{here}: {line}"));
            }
        }
    }
    assert!(silent.is_empty(), "{lines} lines\n{}", silent.join("\n"));
    assert!(lines > 400, "{lines}");
}
