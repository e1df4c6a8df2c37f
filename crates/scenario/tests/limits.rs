//! Limits hold before what they limit is read or multiplied: a case that would take gigabytes is
//! refused at once.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_scenario::{Options, load};

/// The first error: where it is, and what it says.
#[track_caller]
fn refused(scenario: &str, files: &[(&str, String)], memory_bytes: Option<u64>) -> String {
    let mut all = vec![("s.yaml", scenario.as_bytes())];
    all.extend(files.iter().map(|(name, text)| (*name, text.as_bytes())));
    let options = Options {
        memory: memory_bytes,
        ..Options::default()
    };
    let found = load(Path::new("s.yaml"), &memory(&all), &Router, &options);
    let errors = found.expect_err("too much");
    let d = &errors.0[0];
    let line = d.line.unwrap_or_default();
    format!("{}:{line}: {}", d.file, d.message)
}

fn lines(head: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    let rows: String = (0..rows).map(row).collect();
    format!("{head}\n{rows}")
}

fn scenario(nodes: &str, traffic: &str, rest: &str) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [{nodes}, hub]
  links: {{l: {{from: x, to: hub, rate: 10 Mb/s, delay: 1 ms, duplex: true}}}}
traffic:
{traffic}
measurement: {{warmup: 0 s, duration: 1 s}}
{rest}"
    )
}

const FLOW: &str =
    "  - flow: {name: f, from: x, to: hub, source: {cbr: {rate: 1 Mb/s, packet: 500 B}}}";

#[test]
fn tables_are_read_up_to_their_limits() {
    let table = lines("customer,rate,burst", 300_000, |i| {
        format!("c{i},1 Mb/s,3 kB\n")
    });
    let text = scenario("x", FLOW, "agreements: [{policy: P, file: t.csv}]\n");
    assert_eq!(
        refused(&text, &[("t.csv", table)], None),
        "t.csv:4098: the table has more than 4096 customers"
    );
    let table = lines("name,from,to,rate,packet,class", 1_000_002, |_| {
        ",,,,,\n".to_owned()
    });
    let text = scenario("x", "  - csv: {file: t.csv}", "");
    assert_eq!(
        refused(&text, &[("t.csv", table)], None),
        "t.csv:1000002: the table has more than 1000000 rows"
    );
    let table = lines("customer,class,metric,max", 100_001, |_| {
        "c,f,loss_ratio,1 %\n".to_owned()
    });
    let text = scenario("x", FLOW, "sla: [{file: t.csv}]\n");
    assert_eq!(
        refused(&text, &[("t.csv", table)], None),
        "t.csv:100002: the table has more than 100000 requirements"
    );
}

#[test]
fn flows_and_classes_of_tables_are_counted_while_these_are_read() {
    // The first row is enough, and the class beyond the last.
    let table = lines("name,count,from,to,rate,packet", 9, |i| {
        format!("f{i},400000,x,hub,1 kb/s,500 B\n")
    });
    let text = scenario("x", "  - csv: {file: t.csv}", "");
    assert_eq!(
        refused(&text, &[("t.csv", table)], None),
        "t.csv:4: the traffic has 1200000 flows"
    );
    let table = lines("name,from,to,rate,packet", 65_540, |i| {
        format!("f{i},x,hub,1 kb/s,500 B\n")
    });
    assert_eq!(
        refused(&text, &[("t.csv", table)], None),
        "t.csv:65537: more than 65535 classes of service"
    );
}

/// Each of them may be, all together not: a million flows, as many values of files.
#[test]
fn what_is_named_often_is_counted_together() {
    let pattern = |i| {
        format!(
            "  - flow: {{name: f{i}, from: x, to: x, pattern: all-to-all, source: {{cbr: {{rate: 1 Mb/s, packet: 500 B}}}}}}\n"
        )
    };
    let traffic: String = (0..3).map(pattern).collect();
    let text = scenario("{name: x, count: 700}", &traffic, "");
    assert_eq!(
        refused(&text, &[], None),
        "s.yaml:8: `all-to-all` makes 490000 flows, the patterns before it 980000"
    );
    let table = lines("customer,rate,burst", 4000, |i| {
        format!("c{i},1 Mb/s,3 kB\n")
    });
    let named: String = (0..40)
        .map(|i| format!("  - {{policy: P{i}, file: t.csv}}\n"))
        .collect();
    let text = scenario("x", FLOW, &format!("agreements:\n{named}"));
    let found = refused(&text, &[("t.csv", table)], None);
    assert!(
        found.ends_with("the files of `agreements` are too large together"),
        "{found}"
    );
}

/// A point is made, and is known to be too large a million times.
#[test]
fn points_are_multiplied_before_they_are_made() {
    let values: Vec<String> = (1..=1000).map(|i| format!("{i} kb/s")).collect();
    let delays: Vec<String> = (1..=1000).map(|i| format!("{i} us")).collect();
    let axes = format!(
        "axes:\n  - {{name: rate, set: traffic.f.source.rate, values: [{}]}}\n  - {{name: delay, set: topology.links.l.delay, values: [{}]}}\n",
        values.join(", "),
        delays.join(", ")
    );
    let found = refused(&scenario("x", FLOW, &axes), &[], Some(4_000_000_000));
    assert!(
        found.contains(" for 1000000 points, the machine has 4 GB"),
        "{found}"
    );
}
