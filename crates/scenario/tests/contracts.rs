//! Contracts of ATM that nobody keeps, that packets cannot keep, or that promise more than a line
//! carries, are warned of.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_scenario::{Options, load};

/// Two circuits to a switch, and a line of 10 Mb/s; what is warned of beside the number of runs.
fn warned(switch: &str, a: &str, b: &str, packet: u32) -> Vec<String> {
    let text = format!(
        "
schema_version: 1
topology:
  nodes: [a, b, d, {{name: s, atm_switch: {{{switch}}}}}]
  links:
    a: {{from: a, to: s, rate: 10 Mb/s, atm: {{{a}}}}}
    b: {{from: b, to: s, rate: 10 Mb/s, atm: {{{b}}}}}
    out: {{from: s, to: d, rate: 10 Mb/s, atm: {{}}, duplex: true}}
traffic:
  - flow: {{name: f, from: a, to: d, source: {{cbr: {{rate: 1 Mb/s, packet: {packet} B}}}}}}
  - flow: {{name: g, from: b, to: d, source: {{cbr: {{rate: 1 Mb/s, packet: {packet} B}}}}}}
measurement: {{warmup: 1 s, duration: 10 s}}
"
    );
    let files = memory(&[("s.yaml", text.as_bytes())]);
    let loaded = load(Path::new("s.yaml"), &files, &Router, &Options::default());
    let warnings = loaded.expect("it loads").plan.warnings;
    let about = |w: &String| !w.contains("run");
    warnings.into_iter().filter(about).collect()
}

const PRIORITY: &str = "queues: per-vc, service: priority";
const GFR: &str = "contract: {gfr: {mcr: 2 Mb/s, mbs: 64, mfs: 32}}";
const UBR: &str = "contract: {ubr: {mdcr: 2 Mb/s}}";
const CBR: &str = "contract: {cbr: {pcr: 8 Mb/s}}";
const VBR: &str = "contract: {nrt-vbr: {pcr: 10 Mb/s, scr: 3 Mb/s, mbs: 64}}";

#[test]
fn a_minimum_rate_that_nobody_gives_has_no_effect() {
    for (switch, a, warns) in [
        ("", GFR, true),
        ("queues: per-vc", GFR, true),
        (PRIORITY, GFR, false),
        ("police: tag", GFR, false),
        ("", UBR, true),
        ("police: tag", UBR, true),
        (PRIORITY, UBR, false),
        ("", CBR, false),
    ] {
        let found = warned(switch, a, "", 1500);
        assert_eq!(found.len(), usize::from(warns), "{switch} {a}: {found:?}");
        assert!(
            found.iter().all(|w| w.contains("minimum rate")),
            "{found:?}"
        );
    }
}

#[test]
fn a_contract_that_is_not_enforced_has_an_effect_where_categories_count() {
    let unshaped = format!("shaped: false, {CBR}");
    for (switch, warns) in [("", 1), ("police: discard", 0), (PRIORITY, 0)] {
        assert_eq!(warned(switch, &unshaped, "", 1500).len(), warns, "{switch}");
    }
}

#[test]
fn frames_above_the_maximum_do_not_conform() {
    assert_eq!(warned(PRIORITY, GFR, "", 1520), [""; 0]);
    // 1,521 bytes, LLC and the trailer are a byte more than 32 cells hold.
    let found = warned(PRIORITY, GFR, "", 1521);
    assert!(
        found.len() == 1 && found[0].contains("32 cells"),
        "{found:?}"
    );
    assert!(found[0].contains("do not conform: f"), "{found:?}");
}

#[test]
fn a_line_cannot_keep_more_than_it_carries() {
    for (a, b, sum) in [
        (CBR, UBR, None),
        (CBR, VBR, Some("11 Mb/s")),
        (CBR, CBR, Some("16 Mb/s")),
        (CBR, "", None),
    ] {
        let found = warned(PRIORITY, a, b, 1500);
        assert_eq!(
            found.len(),
            usize::from(sum.is_some()),
            "{a} {b}: {found:?}"
        );
        let said = sum.is_none_or(|s| found[0].contains(&format!("guaranteed {s} together")));
        assert!(said, "{found:?}");
    }
}

#[test]
fn circuits_of_a_line_are_looked_at_together() {
    for (a, b, to, wanted) in [
        (
            "vc: 1/32, contract: {cbr: {pcr: 1 Mb/s}}",
            "vc: 1/33",
            "b",
            "",
        ),
        ("vc: 1/32", "vc: 0/5", "b", "VCI 0 to 31 are reserved"),
        (
            "vc: 1/32",
            "vc: 1/33",
            "a",
            "`a` and `b` lead to the same node",
        ),
        (CBR, UBR, "b", ""),
        (
            CBR,
            VBR,
            "b",
            "2 circuits over `e/one` are guaranteed 11 Mb/s",
        ),
    ] {
        let text = format!(
            "
schema_version: 1
topology:
  nodes: [e, a, b]
  links:
    a: {{from: e, to: a, rate: 10 Mb/s, atm: {{line: one, {a}}}}}
    b: {{from: e, to: {to}, rate: 10 Mb/s, atm: {{line: one, {b}}}}}
traffic:
  - flow: {{name: f, from: e, to: a, source: {{cbr: {{rate: 500 kb/s, packet: 1500 B}}}}}}
measurement: {{warmup: 1 s, duration: 10 s}}
"
        );
        let files = memory(&[("s.yaml", text.as_bytes())]);
        let loaded = load(Path::new("s.yaml"), &files, &Router, &Options::default());
        let warnings = loaded.expect("it loads").plan.warnings;
        let found: Vec<&String> = warnings.iter().filter(|w| !w.contains("run")).collect();
        let is_it = match wanted {
            "" => found.is_empty(),
            _ => found.len() == 1 && found[0].contains(wanted),
        };
        assert!(is_it, "{a} {b}: {warnings:?}");
    }
}
