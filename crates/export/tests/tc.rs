//! The commands for Linux: read back by a small strict reader, compared with the policy in meaning,
//! and given to a real `tc` where there is one.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::{Drops, Dscp, FlowKey, Packet, Rate, Rng, Time};
use spillgate_export::{Exported, Port, Source, tc};
use spillgate_import::{IosImporter, interface_bandwidth};
use spillgate_queueing::Recipe;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::{Importer as _, Platform};

use common::{configurations, packets, policies};

fn source(policies: BTreeMap<String, DisciplineSpec>, policy: &str, rate: Rate) -> Source {
    Source {
        policies,
        ports: vec![Port {
            name: "wan".to_owned(),
            policy: policy.to_owned(),
            rate: Some(rate),
            labels: false,
        }],
        platform: Platform::Ios,
        lost: Vec::new(),
    }
}

fn mbps(n: u64) -> Rate {
    Rate::from_bps(n * 1_000_000).unwrap()
}

/// A class of `htb`.
#[derive(Debug)]
struct Htb {
    parent: u16,
    minor: u16,
    rate: u64,
    ceil: u64,
    prio: u8,
}

/// A filter and the class that it leads to.
#[derive(Debug, Default)]
struct Filter {
    prio: u32,
    protocol: Option<u8>,
    src: Option<(u32, u32)>,
    dst: Option<(u32, u32)>,
    sport: Option<(u16, u16)>,
    dport: Option<(u16, u16)>,
    tos: Option<(u8, u8)>,
    class: u16,
    /// DSCP that it sets at last, and policers that it passes.
    marks: Vec<u8>,
    policers: Vec<u32>,
}

impl Filter {
    fn takes(&self, key: &FlowKey, dscp: Dscp) -> bool {
        let within = |r: Option<(u16, u16)>, p: u16| r.is_none_or(|(a, b)| (a..=b).contains(&p));
        let net = |n: Option<(u32, u32)>, a: std::net::Ipv4Addr| {
            n.is_none_or(|(addr, mask)| u32::from(a) & mask == addr)
        };
        self.protocol.is_none_or(|p| p == key.protocol)
            && net(self.src, key.src)
            && net(self.dst, key.dst)
            && within(self.sport, key.sport)
            && within(self.dport, key.dport)
            && self.tos.is_none_or(|(v, m)| (dscp.value() << 2) & m == v)
    }
}

/// What a script says; filters in the order in which they are tried.
#[derive(Debug, Default)]
struct Script {
    root: String,
    default: u16,
    classes: Vec<Htb>,
    /// Queueing discipline of each leaf, by the minor number of its class.
    leaves: Vec<(u16, String)>,
    filters: Vec<Filter>,
    /// Rate and burst of policers, and what they do.
    policers: BTreeMap<u32, (u64, u64, String)>,
}

struct Words<'t>(std::iter::Peekable<std::str::SplitWhitespace<'t>>, &'t str);

impl<'t> Words<'t> {
    fn next(&mut self) -> &'t str {
        self.0
            .next()
            .unwrap_or_else(|| panic!("too short: {}", self.1))
    }
    fn expect(&mut self, words: &str) {
        for w in words.split_whitespace() {
            assert_eq!(self.next(), w, "{}", self.1);
        }
    }
    fn take(&mut self, word: &str) -> bool {
        self.0.next_if_eq(&word).is_some()
    }
    fn end(&mut self) {
        assert_eq!(self.0.next(), None, "{}", self.1);
    }
    fn rate(&mut self) -> u64 {
        let w = self.next();
        w.strip_suffix("bit")
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| panic!("{w}: {}", self.1))
    }
    /// `b` is bytes in the sizes of `tc`.
    fn size(&mut self) -> u64 {
        let w = self.next();
        w.strip_suffix('b')
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| panic!("{w}: {}", self.1))
    }
    fn number<T: std::str::FromStr>(&mut self) -> T {
        let w = self.next();
        w.parse().unwrap_or_else(|_| panic!("{w}: {}", self.1))
    }
    fn minor(&mut self) -> u16 {
        let w = self.next();
        let n = w
            .strip_prefix("1:")
            .filter(|n| !n.is_empty())
            .unwrap_or_else(|| panic!("{w}: {}", self.1));
        u16::from_str_radix(n, 16).unwrap()
    }
    fn hex(&mut self) -> Vec<u8> {
        let w = self.next();
        w.split('/')
            .map(|h| u8::from_str_radix(h.strip_prefix("0x").unwrap(), 16).unwrap())
            .collect()
    }
    fn ports(&mut self) -> (u16, u16) {
        let w = self.next();
        let (a, b) = w.split_once('-').unwrap_or((w, w));
        (a.parse().unwrap(), b.parse().unwrap())
    }
    fn net(&mut self) -> (u32, u32) {
        let w = self.next();
        let (a, n) = w.split_once('/').unwrap();
        let n: u32 = n.parse().unwrap();
        assert!((1..=32).contains(&n), "{}", self.1);
        let mask = u32::MAX << (32 - n);
        let addr = u32::from(a.parse::<std::net::Ipv4Addr>().unwrap());
        assert_eq!(addr & !mask, 0, "{}", self.1);
        (addr, mask)
    }
    /// Kind and arguments of a queueing discipline, checked.
    fn qdisc(&mut self) -> String {
        let start: Vec<&str> = self.0.clone().collect();
        match self.next() {
            "pfifo" => {
                self.expect("limit");
                assert!(self.number::<u32>() > 0);
            }
            "bfifo" => {
                self.expect("limit");
                assert!(self.size() > 0);
            }
            "sfq" => {
                self.expect("limit");
                self.number::<u32>();
                self.expect("depth");
                assert!((1..=127).contains(&self.number::<u32>()));
                self.expect("divisor");
                assert!(self.number::<u32>().is_power_of_two());
            }
            "red" => {
                self.expect("limit");
                let limit = self.size();
                self.expect("min");
                let min = self.size();
                self.expect("max");
                let max = self.size();
                assert!(min < max && max < limit, "{}", self.1);
                self.expect("avpkt");
                let avpkt = self.size();
                self.expect("burst");
                let burst: u64 = self.number();
                assert!(burst > min / avpkt, "{}", self.1);
                self.expect("probability");
                assert!((0.0..=1.0).contains(&self.number::<f64>()));
                self.expect("bandwidth");
                self.rate();
                if self.take("ecn") {
                    self.expect("harddrop");
                }
            }
            other => panic!("{other}: {}", self.1),
        }
        self.end();
        start.join(" ")
    }
}

/// Reads a script of one device, and refuses what is no command that it knows.
fn read(text: &str, device: &str) -> Script {
    let mut script = Script::default();
    let mut handles = std::collections::BTreeSet::new();
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let mut w = Words(line.split_whitespace().peekable(), line);
        if line == "set -e" || line == format!("tc qdisc del dev {device} root 2>/dev/null || true")
        {
            continue;
        }
        w.expect("tc");
        match w.next() {
            "qdisc" => {
                w.expect("add dev");
                w.expect(device);
                if w.take("root") {
                    w.expect("handle 1:");
                    if w.take("htb") {
                        w.expect("default");
                        script.default = u16::from_str_radix(w.next(), 16).unwrap();
                        "htb".clone_into(&mut script.root);
                        w.end();
                    } else {
                        script.root = w.qdisc();
                    }
                } else {
                    w.expect("parent");
                    let parent = w.minor();
                    w.expect("handle");
                    assert!(handles.insert(w.next().to_owned()), "{line}");
                    let qdisc = w.qdisc();
                    assert!(script.classes.iter().any(|c| c.minor == parent), "{line}");
                    script.leaves.push((parent, qdisc));
                }
            }
            "class" => {
                w.expect("add dev");
                w.expect(device);
                w.expect("parent");
                let parent = if w.take("1:") { 0 } else { w.minor() };
                w.expect("classid");
                let minor = w.minor();
                w.expect("htb rate");
                let rate = w.rate();
                w.expect("ceil");
                let ceil = w.rate();
                let prio = if w.take("prio") { w.number() } else { 0 };
                w.expect("quantum");
                assert!(w.number::<u32>() >= 1514);
                if w.take("cburst") {
                    assert!(w.size() > 0);
                }
                w.end();
                assert!(
                    parent == 0 || script.classes.iter().any(|c| c.minor == parent),
                    "{line}"
                );
                assert!(script.classes.iter().all(|c| c.minor != minor), "{line}");
                script.classes.push(Htb {
                    parent,
                    minor,
                    rate,
                    ceil,
                    prio,
                });
            }
            "actions" => {
                w.expect("replace action police rate");
                let rate = w.rate();
                w.expect("burst");
                let burst = w.size();
                w.expect("mtu");
                w.size();
                w.expect("conform-exceed");
                let control = w.next().to_owned();
                w.expect("index");
                let index = w.number();
                w.end();
                assert!(
                    script
                        .policers
                        .insert(index, (rate, burst, control))
                        .is_none(),
                    "{line}"
                );
            }
            "filter" => script
                .filters
                .push(filter(&mut w, device, &script.policers)),
            other => panic!("{other}: {line}"),
        }
    }
    // Older kernels take one mask only in a priority.
    assert!(script.filters.windows(2).all(|f| f[0].prio < f[1].prio));
    script
}

fn filter(w: &mut Words<'_>, device: &str, policers: &BTreeMap<u32, (u64, u64, String)>) -> Filter {
    let mut f = Filter::default();
    w.expect("add dev");
    w.expect(device);
    w.expect("parent 1: protocol");
    let all = w.take("all");
    if !all {
        w.expect("ip");
    }
    w.expect("prio");
    f.prio = w.number();
    if w.take("matchall") {
        assert!(all);
    } else {
        assert!(!all);
        w.expect("flower");
        loop {
            if w.take("ip_proto") {
                f.protocol = Some(match w.next() {
                    "icmp" => 1,
                    "tcp" => 6,
                    "udp" => 17,
                    "sctp" => 132,
                    n => u8::from_str_radix(n.strip_prefix("0x").unwrap(), 16).unwrap(),
                });
            } else if w.take("src_ip") {
                f.src = Some(w.net());
            } else if w.take("dst_ip") {
                f.dst = Some(w.net());
            } else if w.take("src_port") {
                f.sport = Some(w.ports());
            } else if w.take("dst_port") {
                f.dport = Some(w.ports());
            } else if w.take("ip_tos") {
                let pair = w.hex();
                f.tos = Some((pair[0], pair[1]));
            } else {
                break;
            }
        }
        assert!(
            f.sport.is_none() && f.dport.is_none() || f.protocol.is_some(),
            "{}",
            w.1
        );
    }
    w.expect("classid");
    f.class = w.minor();
    while w.take("action") {
        if w.take("police") {
            w.expect("index");
            let index = w.number();
            assert!(policers.contains_key(&index), "{}", w.1);
            f.policers.push(index);
        } else {
            w.expect("pedit ex munge ip tos set");
            f.marks.push(w.hex()[0] >> 2);
            w.expect("retain 0xfc pipe action csum ip4h pipe");
        }
    }
    w.end();
    f
}

fn exported(policies: &BTreeMap<String, DisciplineSpec>, policy: &str, rate: Rate) -> Exported {
    tc(&source(policies.clone(), policy, rate), None).unwrap_or_else(|e| panic!("{e}"))
}

/// The leaf that a discipline puts a packet into.
fn leaf_of(recipe: &Recipe, key: FlowKey, dscp: Dscp) -> usize {
    let flows: Arc<[FlowKey]> = Arc::from([key]);
    let mut d = recipe.build(&flows);
    let packet = Packet {
        dscp,
        ..Packet::new(0, 0, 100)
    };
    d.enqueue(Time::ZERO, packet, &mut Rng::from_key(0), &mut Drops::new());
    d.leaves()
        .iter()
        .position(|l| l.offered_packets == 1)
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Filters lead every packet to the leaf that the policy puts it into.
    #[test]
    fn filters_classify_as_the_policy_does(policies in policies(), packets in packets()) {
        let rate = mbps(1000);
        let Ok((recipe, _)) = Recipe::resolve("outer", &policies, rate) else { return Ok(()) };
        let written = exported(&policies, "outer", rate);
        let script = read(&written.text, "wan");
        prop_assert_eq!(script.leaves.len(), recipe.leaf_names().len());
        let inexact = ["filters can test", "other wildcards", "more than"];
        if written.notes.iter().any(|n| inexact.iter().any(|i| n.reason.contains(i))) {
            return Ok(());
        }
        for (key, dscp) in packets {
            let mut hits = script.filters.iter().filter(|f| f.takes(&key, dscp));
            let class = hits.next().map_or(script.default, |f| f.class);
            let leaf = script.leaves.iter().position(|(minor, _)| *minor == class);
            prop_assert_eq!(leaf, Some(leaf_of(&recipe, key, dscp)), "{:?} {}\n{}", key, dscp, written.text);
        }
    }
}

/// Rates, limits and bursts of a policy with everything in it.
#[test]
fn meaning_is_that_of_the_policy() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "voice", "match": {"dscp": "ef"}, "priority": {"rate": "10 %", "police": "always", "limit": "30 packets"}},
        {"name": "gold", "match": {"any": [{"dscp": ["af31", "af32"]}, {"protocol": "tcp", "dport": 443}]},
         "bandwidth": "40 %", "queue_limit": "20 ms", "police": {"rate": "30 Mb/s", "burst": "40 kB", "peak_rate": "50 Mb/s",
         "excess_burst": "60 kB", "exceed": {"set-dscp": "af33"}, "violate": "drop"}},
        {"name": "site", "match": {"src": "10.1.0.0/16"}, "shape": {"rate": "20 Mb/s", "burst": "10 kB"}, "policy": "child"},
        {"name": "marked", "match": {"precedence": 1}, "set_dscp": "cs1"},
        {"name": "class-default", "aqm": {"wred": {"by": "dscp", "ecn": true}}, "queue_limit": "96 kB"}]}},
      "child": {"class-based": {"classes": [
        {"name": "inner", "match": {"dscp": "af21"}, "bandwidth": "50 %"},
        {"name": "class-default", "fair_queue": {"queues": 64}}]}}}"#;
    let policies = serde_json::from_str(json).unwrap();
    let written = exported(&policies, "main", mbps(100));
    let script = read(&written.text, "wan");
    let class = |minor| script.classes.iter().find(|c| c.minor == minor).unwrap();
    assert_eq!(
        (class(1).parent, class(1).rate, class(1).ceil),
        (0, 100_000_000, 100_000_000)
    );
    let leaf = |i: usize| {
        let (minor, qdisc) = &script.leaves[i];
        let c = class(*minor);
        (c.parent, c.rate, c.ceil, c.prio, qdisc.as_str())
    };
    let whole = 100_000_000;
    assert_eq!(leaf(0), (1, 10_000_000, whole, 0, "pfifo limit 30"));
    // 20 ms at 40 Mb/s.
    assert_eq!(leaf(1), (1, 40_000_000, whole, 7, "bfifo limit 100000b"));
    // Half of the shaped 20 Mb/s, whose class has the number 4.
    let site = class(4);
    // It and class-default share what is left, 50 %, but the shaper binds.
    assert_eq!(
        (site.parent, site.rate, site.ceil),
        (1, 20_000_000, 20_000_000)
    );
    assert_eq!(leaf(2), (4, 10_000_000, 20_000_000, 7, "pfifo limit 64"));
    assert_eq!(
        leaf(3),
        (
            4,
            10_000_000,
            20_000_000,
            7,
            "sfq limit 1000 depth 64 divisor 64"
        )
    );
    let (_, rate, ceil, _, red) = leaf(4);
    assert_eq!((rate, ceil), (25_000_000, whole));
    assert!(
        red.starts_with("red limit 96000b min 20000b max 40000b avpkt 1000b burst "),
        "{red}"
    );
    assert!(
        red.ends_with(" probability 0.1 bandwidth 25000000bit ecn harddrop"),
        "{red}"
    );
    assert_eq!(script.default, script.leaves[4].0);
    let policers: Vec<_> = script
        .policers
        .values()
        .map(|(r, b, c)| (*r, *b, c.as_str()))
        .collect();
    assert_eq!(
        policers,
        [
            // 200 ms at 10 Mb/s.
            (10_000_000, 250_000, "drop/pipe"),
            (50_000_000, 60_000, "drop/pipe"),
            (30_000_000, 40_000, "pipe/pass")
        ]
    );
    let of = |minor| {
        script
            .filters
            .iter()
            .filter(move |f: &&Filter| f.class == minor)
    };
    assert_eq!(
        of(script.leaves[0].0).map(|f| f.tos).collect::<Vec<_>>(),
        [Some((0xb8, 0xfc))]
    );
    let gold: Vec<_> = of(script.leaves[1].0).collect();
    assert!(
        gold.iter().all(|f| f.policers == [2, 3] && f.marks == [30]),
        "{gold:?}"
    );
    assert_eq!(gold.len(), 3);
    assert_eq!(gold[2].dport, Some((443, 443)));
    // What only marks waits with class-default.
    let marked: Vec<_> = of(script.default).collect();
    assert_eq!(
        (marked[0].tos, &marked[0].marks[..]),
        (Some((0x20, 0xe0)), &[8][..])
    );
    let notes: Vec<String> = written.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes
            .iter()
            .any(|n| n.starts_with("policy main, class class-default: red has one drop profile")),
        "{notes:#?}"
    );
    assert!(
        notes
            .iter()
            .any(|n| n
                .starts_with("policy child, class class-default: sfq stands for the fair queue")),
        "{notes:#?}"
    );
}

/// Every configuration of the repository with an attached policy, at its rates.
fn scripts() -> Vec<(PathBuf, Exported)> {
    let mut all = Vec::new();
    for path in configurations() {
        let bytes = fs::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let said = name
            .rsplit_once('.')
            .and_then(|(_, p)| Platform::by_name(p));
        let platform = said.unwrap_or_default();
        let imported = IosImporter.ios(name, &bytes, platform).unwrap();
        let rate = |n: &str| interface_bandwidth(n).or_else(|| Some(mbps(2)));
        let source = Source::of_configuration(&imported, platform, None, &rate).unwrap();
        for port in &source.ports {
            let one = Source {
                ports: vec![port.clone()],
                ..source.clone()
            };
            all.push((path.clone(), tc(&one, Some("lo")).unwrap()));
        }
        // Those that no interface has, too.
        for policy in source.policies.keys() {
            let one = Source {
                ports: vec![Port {
                    name: "lo".to_owned(),
                    policy: policy.clone(),
                    rate: Some(mbps(100)),
                    labels: false,
                }],
                ..source.clone()
            };
            all.push((path.clone(), tc(&one, None).unwrap()));
        }
    }
    assert!(all.len() > 20);
    all
}

#[test]
fn scripts_of_all_configurations_are_well_formed() {
    for (path, written) in scripts() {
        let script = read(&written.text, "lo");
        assert!(
            !script.root.is_empty(),
            "{}\n{}",
            path.display(),
            written.text
        );
        // A child is guaranteed and may send no more than what is around it may.
        for c in script.classes.iter().filter(|c| c.parent != 0) {
            let parent = script.classes.iter().find(|p| p.minor == c.parent).unwrap();
            assert!(
                c.rate <= c.ceil && c.ceil <= parent.ceil,
                "{}\n{c:?}",
                path.display()
            );
        }
    }
}

/// Runs a script line by line in a network namespace of its own. What the kernel has a module for
/// must be accepted; of the rest `tc` must at least understand the words: it must be the kernel that
/// refuses.
#[test]
fn a_real_tc_takes_every_command() {
    let shell = |script: &str| {
        Command::new("unshare")
            .args(["-n", "sh", "-c", script])
            .output()
    };
    let usable =
        shell("tc -V && tc qdisc add dev lo root htb default 1").is_ok_and(|o| o.status.success());
    if !usable {
        eprintln!("SKIPPED: no tc with htb in a network namespace of one's own");
        return;
    }
    let has = |kind: &str| {
        let probe = match kind {
            "flower" | "matchall" => {
                let filter = if kind == "flower" { "flower ip_proto tcp" } else { "matchall" };
                format!("tc qdisc add dev lo root handle 1: htb && tc filter add dev lo parent 1: protocol ip prio 1 {filter} classid 1:1")
            }
            "police" => "tc actions add action police rate 1mbit burst 10k".to_owned(),
            "pedit" => "tc actions add action pedit ex munge ip tos set 0x10 retain 0xfc".to_owned(),
            "csum" => "tc actions add action csum ip4h".to_owned(),
            "red" => "tc qdisc add dev lo root red limit 60000 min 5000 max 15000 avpkt 1000 burst 20 probability 0.1 bandwidth 10mbit".to_owned(),
            kind => format!("tc qdisc add dev lo root {kind} limit 10"),
        };
        shell(&probe).is_ok_and(|o| o.status.success())
    };
    let kinds = [
        "pfifo", "bfifo", "red", "sfq", "flower", "matchall", "police", "pedit", "csum",
    ];
    let missing: Vec<&str> = kinds.into_iter().filter(|k| !has(k)).collect();
    if !missing.is_empty() {
        eprintln!(
            "SKIPPED in part: the kernel has no {}; of these only the words are checked",
            missing.join(", ")
        );
    }
    for (path, written) in scripts() {
        // Every command with its status in front, whether it works or not.
        let mut run = String::from("ip link set lo up\n");
        for line in written
            .text
            .lines()
            .filter(|l| l.starts_with("tc ") && !l.contains(" del "))
        {
            run.push_str(&format!("m=$({line} 2>&1); echo \"$? {line} :: \"$m\n"));
        }
        let out = shell(&run).unwrap();
        let mut commands = 0;
        for result in String::from_utf8_lossy(&out.stdout).lines() {
            let Some((status, line)) = result.split_once(" tc ") else {
                continue;
            };
            commands += 1;
            let needs = missing
                .iter()
                .any(|k| line.split_whitespace().any(|w| w == *k));
            let refused = status == "2" || line.contains("error talking to the kernel");
            assert!(
                status == "0" || needs && refused,
                "{}\n{status}: tc {line}",
                path.display()
            );
        }
        assert!(commands > 0, "{}", path.display());
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let policies: BTreeMap<String, DisciplineSpec> =
        serde_json::from_str(r#"{"p": {"fifo": {}}}"#).unwrap();
    let mut s = source(policies, "p", mbps(1));
    assert_eq!(
        read(&tc(&s, None).unwrap().text, "wan").root,
        "pfifo limit 40"
    );
    assert!(
        tc(&s, Some("a b"))
            .unwrap_err()
            .to_string()
            .contains("cannot be the name")
    );
    s.ports[0].rate = None;
    assert!(
        tc(&s, None)
            .unwrap_err()
            .to_string()
            .contains("the rate of `wan` is not known")
    );
    s.ports[0].rate = Some(mbps(1));
    s.ports[0].name = "GigabitEthernet0/0".to_owned();
    let written = tc(&s, None).unwrap();
    assert!(
        written.notes[0]
            .reason
            .contains("device eth0 stands for it")
    );
    let other = s.ports[0].clone();
    s.ports.push(other);
    assert!(
        tc(&s, Some("eth0"))
            .unwrap_err()
            .to_string()
            .contains("several")
    );
    s.ports.clear();
    assert!(
        tc(&s, None)
            .unwrap_err()
            .to_string()
            .contains("no interface has an output policy")
    );
    // A name must not end the comment that it stands in, nor reach the shell.
    let policies: BTreeMap<String, DisciplineSpec> =
        serde_json::from_str(r#"{"x\nreboot": {"fifo": {}}}"#).unwrap();
    let mut s = source(policies, "x\nreboot", mbps(1));
    "$(reboot)".clone_into(&mut s.ports[0].name);
    read(&tc(&s, None).unwrap().text, "eth0");
}
