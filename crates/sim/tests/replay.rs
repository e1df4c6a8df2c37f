//! Captures replayed over links: delays by hand, classes, loops, faults.

use crate::common;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use spillgate_capture::testkit::{Pcap, arp, ethernet, tcp4, udp4, udp6};
use spillgate_capture::{LinkType, Opener};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{Files, NoImporter, Options, load};
use spillgate_sim::{Campaign, Failure};

/// Packets of 1000 bytes at 0, 1 and 1 ms, then one of 500 bytes at 30 ms; ARP in between.
fn capture() -> Vec<u8> {
    let mut file = Pcap::default();
    let voice = udp4("10.1.0.1:16384", "10.2.0.1:5004", 46, 972);
    file.record(5_000_000_000, &ethernet(&voice));
    file.record(5_000_500_000, &arp());
    file.record(5_001_000_000, &ethernet(&voice));
    file.record(
        5_001_000_000,
        &ethernet(&tcp4("10.1.0.2:50000", "10.2.0.2:443", 0, 960)),
    );
    file.record(
        5_030_000_000,
        &ethernet(&udp6("[2001:db8::1]:9", "[2001:db8::2]:9", 46, 452)),
    );
    file.finish()
}

fn scenario(policy: &str, capture: &str, rest: &str) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 1 Mb/s, delay: 5 ms, policy: P}}}}
policies: {{P: {policy}}}
traffic:
  - capture: {{name: c, file: c.pcap, from: a, to: b, {capture}}}
measurement: {{warmup: 0 s, duration: 1 s, interval: 100 ms}}
{rest}
"
    )
}

fn files(yaml: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    BTreeMap::from([
        (PathBuf::from("test.yaml"), yaml.as_bytes().to_vec()),
        (PathBuf::from("c.pcap"), capture()),
    ])
}

#[track_caller]
fn plan(yaml: &str) -> Arc<Plan> {
    match load(
        Path::new("test.yaml"),
        &files(yaml),
        &NoImporter,
        &Options::default(),
    ) {
        Ok(loaded) => Arc::new(loaded.plan),
        Err(e) => panic!("{e}"),
    }
}

fn refused(yaml: &str) -> String {
    let result = load(
        Path::new("test.yaml"),
        &files(yaml),
        &NoImporter,
        &Options::default(),
    );
    result.expect_err("an error").to_string()
}

const FIFO: &str = "{fifo: {limit: 100 packets}}";

/// On the link, 1000 bytes take 8 ms and 500 bytes 4 ms, then 5 ms of propagation.
#[test]
fn packets_are_sent_when_they_were_captured() {
    let plan = plan(&scenario(FIFO, "group: all", ""));
    let runs = common::run(&plan, 1);
    let value = |m| common::values(&plan, &runs, Scope::Flow, "c", m)[0];
    assert_eq!(value(Metric::PacketsSent), 4.0);
    assert_eq!(value(Metric::PacketsReceived), 4.0);
    // 8; 16 - 1; 24 - 1; 34 - 30; and 5 ms each.
    let delays = [13.0, 20.0, 28.0, 9.0];
    assert!((value(Metric::OwdMean) - delays.iter().sum::<f64>() / 4e3).abs() < 1e-12);
    assert_eq!(value(Metric::OwdMax), 28e-3);
    // The capture's ARP is told.
    assert!(
        plan.warnings.iter().any(|w| w.contains("1 ARP")),
        "{:?}",
        plan.warnings
    );
}

#[test]
fn speed_skip_take_loop_and_stop() {
    let sent = |capture: &str| {
        let plan = plan(&scenario(FIFO, &format!("group: all, {capture}"), ""));
        let runs = common::run(&plan, 1);
        let value = |m| common::values(&plan, &runs, Scope::Flow, "c", m)[0];
        (
            value(Metric::PacketsSent) as u32,
            (value(Metric::OwdMax) * 1e6 + 0.5) as u32,
        )
    };
    // Twice as slow: at 0, 2, 2 and 60 ms; the third waits 22 + 5 ms.
    assert_eq!(sent("speed: 0.5"), (4, 27_000));
    // From 1 ms on: both at once.
    assert_eq!(sent("skip: 1 ms"), (3, 21_000));
    // The window ends before what stands at its end.
    assert_eq!(sent("skip: 1 ms, take: 29 ms"), (2, 21_000));
    // Every 100 ms from 0 to 1 s, the end of the measured period not included.
    assert_eq!(sent("take: 100 ms, loop: true"), (40, 28_000));
    assert_eq!(
        sent("take: 100 ms, loop: true, start: 150 ms, stop: 350 ms"),
        (8, 28_000)
    );
    // Five records in 30 ms: a pass takes 37.5 ms, 27 of them begin within a second.
    assert_eq!(sent("loop: true, only: {dscp: default}").0, 27);
}

#[test]
fn filters_take_what_they_say() {
    for (only, n) in [
        ("{src: 10.1.0.0/16}", 3),
        ("{src: [10.1.0.1, 2001:db8::/32]}", 3),
        ("{host: 10.2.0.2}", 1),
        ("{protocol: udp}", 3),
        ("{protocol: udp, dscp: ef, dport: 5004}", 2),
        ("{port: [443, 9]}", 2),
        ("{sport: 49152-65535}", 1),
        ("{interface: 0}", 4),
    ] {
        let plan = plan(&scenario(FIFO, &format!("only: {only}, group: all"), ""));
        let runs = common::run(&plan, 1);
        let sent = common::values(&plan, &runs, Scope::Flow, "c", Metric::PacketsSent)[0];
        assert_eq!(sent, f64::from(n), "only: {only}");
        if n < 4 {
            let rest = plan_of_except(only);
            let runs = common::run(&rest, 1);
            let sent = common::values(&rest, &runs, Scope::Flow, "c", Metric::PacketsSent)[0];
            assert_eq!(sent, f64::from(4 - n), "except: {only}");
        }
    }
}

fn plan_of_except(what: &str) -> Arc<Plan> {
    plan(&scenario(FIFO, &format!("except: {what}, group: all"), ""))
}

/// Class-maps see ports and DSCP of each packet, however flows are reported.
#[test]
fn classes_look_at_packets() {
    let policy = "{class-based: {classes: [
        {name: media, match: {protocol: udp, dport: 5004}, priority: {rate: 50 %}},
        {name: web, match: {dst: 10.2.0.0/16, dport: 443}, bandwidth: 20 %},
        {name: rest-of-ef, match: {dscp: ef}, bandwidth: 10 %}]}}";
    for group in ["all", "dscp", "flow"] {
        let plan = plan(&scenario(policy, &format!("group: {group}"), ""));
        let runs = common::run(&plan, 1);
        // Bits that left in the second that is measured.
        let queue = |name: &str| {
            common::values(
                &plan,
                &runs,
                Scope::Queue,
                &format!("l/{name}"),
                Metric::Carried,
            )[0]
        };
        let carried = (queue("media"), queue("web"), queue("rest-of-ef"));
        assert_eq!(carried, (16_000.0, 8_000.0, 4_000.0), "{group}");
    }
    // Another DSCP for all: the captured one is no longer seen.
    let plan = plan(&scenario(policy, "dscp: cs1", ""));
    let runs = common::run(&plan, 1);
    let default = common::values(
        &plan,
        &runs,
        Scope::Queue,
        "l/class-default",
        Metric::Carried,
    );
    assert_eq!(default[0], 4_000.0);
}

#[test]
fn flows_and_classes_have_names() {
    let names = |capture: &str| {
        let plan = plan(&scenario(FIFO, capture, ""));
        let world = &plan.variants[0].world;
        let flows: Vec<String> = world.flows.iter().map(|f| f.name.to_string()).collect();
        (flows, world.classes.clone())
    };
    let (flows, classes) = names("classes: {EF: voice}");
    assert_eq!(
        (flows, classes),
        (
            vec!["c-ef".to_owned(), "c-default".to_owned()],
            vec!["voice".to_owned(), "c-default".to_owned()],
        )
    );
    let (flows, classes) = names("group: flow, classes: {ef: voice}, class: data");
    assert_eq!(flows[0], "c udp 10.1.0.1:16384 > 10.2.0.1:5004");
    assert_eq!(flows[2], "c udp [2001:db8::1]:9 > [2001:db8::2]:9");
    assert_eq!(classes, ["voice", "data"]);
}

#[test]
fn threads_and_repetition_change_nothing() {
    let policy = "{flow-wfq: {}}";
    let plan = plan(&scenario(
        policy,
        "loop: true, start_spread: 50 ms",
        "runs: {count: 4}",
    ));
    let one = common::digests(&common::run(&plan, 1));
    assert_eq!(one, common::digests(&common::run(&plan, 4)));
    // Runs differ, by the start.
    assert_ne!(one[&(0, 0)], one[&(0, 1)]);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let text = refused(&scenario(FIFO, "only: {dscp: af11}", ""));
    assert!(
        text.contains("E0522") && text.contains("traffic[0].capture.only"),
        "{text}"
    );
    assert!(
        text.contains("udp 10.1.0.1:16384 > 10.2.0.1:5004 ef"),
        "{text}"
    );
    let text = refused(&scenario(FIFO, "skip: 2 s", ""));
    assert!(text.contains("E0522"), "{text}");
    let text = refused(&scenario(FIFO, "max_flows: 2", ""));
    assert!(
        text.contains("E0507") && text.contains("more than 2 flows"),
        "{text}"
    );
    for (bad, code) in [
        ("speed: 0", "E0206"),
        ("max_flows: 0", "E0206"),
        ("take: 0 s", "E0206"),
        ("classes: {voice: ef}", "E0205"),
        ("only: {src: 10.1.0}", "E0205"),
        ("from: nowhere", "E0105"),
        ("sped: 2", "E0202"),
    ] {
        let text = refused(&scenario(FIFO, bad, ""));
        assert!(text.contains(code), "{bad}: {text}");
    }
    let yaml = scenario(FIFO, "", "").replace("c.pcap", "test.yaml");
    let text = refused(&yaml);
    assert!(
        text.contains("E0521") && text.contains("begins with text"),
        "{text}"
    );
    let yaml = scenario(FIFO, "", "").replace("c.pcap", "missing.pcap");
    assert!(refused(&yaml).contains("no such file"));
}

#[test]
fn a_capture_that_ends_too_soon_is_told() {
    let warns = |capture: &str| {
        let yaml = scenario(FIFO, capture, "").replace("warmup: 0 s", "warmup: 50 ms");
        plan(&yaml)
            .warnings
            .iter()
            .any(|w| w.contains("before the measured period"))
    };
    // It is 30 ms long.
    assert!(warns("") && !warns("speed: 0.5") && !warns("loop: true") && !warns("start: 30 ms"));
}

/// The scenario's hash is of the packets, too.
#[test]
fn the_content_is_part_of_the_provenance() {
    let yaml = scenario(FIFO, "take: 2 ms", "");
    let hash = |last: u8| {
        let mut files = files(&yaml);
        // Behind what is taken, in the payload of the last packet.
        *files
            .get_mut(Path::new("c.pcap"))
            .unwrap()
            .last_mut()
            .unwrap() = last;
        let loaded = load(
            Path::new("test.yaml"),
            &files,
            &NoImporter,
            &Options::default(),
        );
        let plan = loaded.unwrap().plan;
        assert_eq!(plan.files, ["c.pcap"]);
        plan.hash
    };
    assert_eq!(hash(0), hash(0));
    assert_ne!(hash(0), hash(1));
}

/// A file that has other packets at every second opening.
#[derive(Debug)]
struct Changing(AtomicU32);

impl Opener for Changing {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut bytes = capture();
        if self.0.fetch_add(1, Ordering::Relaxed) > 0 {
            bytes.truncate(1200);
        }
        Ok(Box::new(io::Cursor::new(bytes)))
    }
}

struct Disk(BTreeMap<PathBuf, Vec<u8>>);

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.read(path)
    }

    fn opener(&self, _: &Path) -> io::Result<Arc<dyn Opener>> {
        Ok(Arc::new(Changing(AtomicU32::new(0))))
    }
}

#[test]
fn a_file_that_changes_ends_the_campaign() {
    let disk = Disk(files(&scenario(FIFO, "", "")));
    let loaded = load(
        Path::new("test.yaml"),
        &disk,
        &NoImporter,
        &Options::default(),
    )
    .unwrap();
    let campaign = Campaign::new(Arc::new(loaded.plan));
    match campaign.execute(1) {
        Err(Failure::Input(why)) => assert!(why.contains("is not what it was"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// A capture without times cannot be spread out.
#[test]
fn packets_without_a_time_are_told() {
    let mut file = spillgate_capture::testkit::PcapNg::new(false);
    file.interface(LinkType::RAW, "x", None, 0);
    file.simple(&udp4("10.0.0.1:1", "10.0.0.2:2", 0, 100));
    let yaml = scenario(FIFO, "", "");
    let mut files = files(&yaml);
    files.insert("c.pcap".into(), file.finish());
    let loaded = load(
        Path::new("test.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    );
    let text = loaded.expect_err("an error").to_string();
    assert!(
        text.contains("E0522") && text.contains("no times"),
        "{text}"
    );
}
