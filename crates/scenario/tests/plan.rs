//! What a scenario becomes: ids, defaults, routes, flows, requirements.

use std::path::Path;

use crate::common::{Router, SMALL, memory};
use spillgate_core::{Dscp, Dur, Time};
use spillgate_scenario::plan::{Application, FailurePlan, NO_POLICY, Plan, Traffic};
use spillgate_scenario::{Diagnostics, NoImporter, Options, load};

fn plan_with(text: &str, files: &[(&str, &str)], opts: &Options) -> Result<Plan, Diagnostics> {
    let mut all: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (*n, t.as_bytes())).collect();
    all.push(("dir/s.yaml", text.as_bytes()));
    load(Path::new("dir/s.yaml"), &memory(&all), &Router, opts).map(|l| l.plan)
}

/// What is said of queues of links without a policy.
const NO_LIMIT: &str = "has no limit (a FIFO of 1 GB)";

fn plan(text: &str) -> Plan {
    plan_with(text, &[], &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn defaults_are_filled_in() {
    let p = plan(SMALL);
    assert_eq!((p.name.as_str(), p.seed, p.runs), ("s", 1, 10));
    let w = &p.variants[0].world;
    assert_eq!(
        (w.warmup, w.duration, w.interval),
        (Dur::from_secs(1), Dur::from_secs(10), Dur::from_secs(1))
    );
    assert_eq!(w.classes, ["voice"]);
    let names: Vec<_> = w.flows.iter().map(|f| &*f.name).collect();
    assert_eq!(names, ["voice-0", "voice-1", "voice-2"]);
    let f = &w.flows[1];
    assert_eq!(
        f.key.to_string(),
        "10.0.0.2:49153 -> 10.255.0.1:5001 protocol 17"
    );
    assert_eq!((f.from, f.to, f.class, f.dscp), (0, 1, 0, Dscp::EF));
    assert_eq!((f.lifetime.start, f.lifetime.stop), (Time::ZERO, Time::MAX));
    let l = &w.links[0];
    assert_eq!(
        (l.name.as_str(), l.policy.as_str(), l.rate.bps()),
        ("wan", "Q", 10_000_000)
    );
    assert_eq!(l.discipline.leaf_names(), ["fifo"]);
}

#[test]
fn flows_take_what_they_are_given() {
    let text = SMALL.replace(
        "from: a, to: b, dscp: ef,",
        "from: b, to: a, dscp: 34, ecn: ect0, class: rt, src: 192.168.1.250, dst: 10.9.9.9, protocol: tcp, sport: 7, dport: 8, start: 1 s, stop: 2 s,",
    ).replace("policy: Q}", "policy: Q, duplex: true}");
    let p = plan(&text);
    let w = &p.variants[0].world;
    let f = &w.flows[2];
    assert_eq!(
        f.key.to_string(),
        "192.168.1.252:7 -> 10.9.9.9:8 protocol 6"
    );
    assert_eq!(
        (
            f.lifetime.start.as_secs_f64(),
            f.lifetime.stop.as_secs_f64()
        ),
        (1.0, 2.0)
    );
    assert_eq!(w.classes, ["rt"]);
    let back = &w.links[1];
    assert_eq!(
        (back.name.as_str(), back.from, back.to, back.policy.as_str()),
        ("wan.reverse", 1, 0, "none")
    );
    assert_eq!(
        (&w.routes[..], f.route, f.back),
        (&[Box::from([1])][..], 0, None)
    );
}

#[test]
fn protocols_without_ports_have_none() {
    let p = plan(&SMALL.replace("dscp: ef,", "dscp: ef, protocol: icmp,"));
    let key = p.variants[0].world.flows[0].key;
    assert_eq!((key.protocol, key.sport, key.dport), (1, 0, 0));
}

/// A flow in a table and the same flow in the scenario lower to the same plan.
#[test]
fn tables_mean_the_same_as_flows() {
    let inline = "traffic:
  - flow: {name: v, count: 3, class: c, from: a, to: b, dscp: ef, ecn: ect1, src: 10.1.0.0/24, dst: 10.2.0.1, protocol: tcp, sport: 5004, dport: 5005, start: 1 s, stop: 8 s, source: {cbr: {rate: 64 kb/s, packet: 200 B, jitter: 10 %, phase: 1 ms}}}
  - flow: {name: w, from: a, to: b, source: {poisson: {rate: 1 Mb/s, packet: imix}}}
";
    let table = "# two rows\r\nsource,name,count,class,from,to,dscp,ecn,src,dst,protocol,sport,dport,start,stop,rate,packet,jitter,phase\r\n\
        cbr,v,3,c,a,b,ef,ect1,10.1.0.0/24,10.2.0.1,tcp,5004,5005,1 s,8 s,64 kb/s,200 B,10 %,1 ms\r\n\
        poisson,w,,,a,b,,,,,,,,,,1 Mb/s,imix,,\r\n";
    let cut = |traffic: &str| {
        let start = SMALL.find("traffic:").unwrap();
        let end = SMALL.find("measurement:").unwrap();
        format!("{}{traffic}{}", &SMALL[..start], &SMALL[end..])
    };
    let a = plan(&cut(inline));
    let b = plan_with(
        &cut("traffic: [{csv: {file: t.csv}}]\n"),
        &[("dir/t.csv", table)],
        &Options::default(),
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let (a, b) = (&a.variants[0].world, &b.variants[0].world);
    assert_eq!(format!("{:?}", a.flows), format!("{:?}", b.flows));
    assert_eq!(a.classes, b.classes);
}

#[test]
fn variants_differ_in_what_they_set() {
    let text = format!(
        "{SMALL}variants:\n  - {{name: fast, set: {{topology.links.wan.rate: 20 Mb/s}}}}\n  - {{name: bare, set: {{topology.links.wan.policy: null, traffic.voice.count: 1}}}}\n"
    );
    let p = plan(&text);
    let worlds: Vec<_> = p
        .variants
        .iter()
        .map(|v| {
            (
                &v.name[..],
                v.world.links[0].rate.bps(),
                &v.world.links[0].policy[..],
                v.world.flows.len(),
            )
        })
        .collect();
    assert_eq!(
        worlds,
        [
            ("fast", 20_000_000, "Q", 3),
            ("bare", 10_000_000, "none", 1)
        ]
    );
}

#[test]
fn options_win_over_the_file() {
    let opts = Options {
        overrides: vec![
            "runs.seed=3".into(),
            "topology.links.wan.rate=1 Mb/s".into(),
            "topology.links.wan.rate=2 Mb/s".into(),
        ],
        seed: Some(9),
        runs: Some(4),
        ..Options::default()
    };
    let p = plan_with(SMALL, &[], &opts).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((p.seed, p.runs), (9, 4));
    assert_eq!(
        p.variants[0].world.links[0].rate.bps(),
        2_000_000,
        "the last of two"
    );
}

#[test]
fn requirements_come_in_base_units() {
    let text = format!(
        "{SMALL}sla:\n  - {{class: voice, metric: owd_p99, max: 20 ms}}\n  - {{class: voice, metric: throughput, min: 60 kb/s}}\n  - {{class: voice, metric: loss_ratio, max: 25 %}}\n"
    );
    let bounds: Vec<_> = plan(&text).sla.iter().map(|s| (s.max, s.min)).collect();
    assert_eq!(
        bounds,
        [
            (Some(0.02), None),
            (None, Some(60_000.0)),
            (Some(0.25), None)
        ]
    );
}

#[test]
fn the_hash_follows_content_and_nothing_else() {
    let hash = |text: &str, table: &str| {
        let text = text.replace("traffic:\n", "traffic:\n  - csv: {file: t.csv}\n");
        plan_with(&text, &[("dir/t.csv", table)], &Options::default())
            .unwrap_or_else(|e| panic!("{e}"))
            .hash
    };
    let table = "name,from,to,rate,packet\nx,a,b,1 kb/s,100 B\n";
    let base = hash(SMALL, table);
    assert_eq!(base.len(), 32);
    let respelled = SMALL
        .replace(
            "rate: 10 Mb/s, delay: 5 ms",
            "delay: 5000 us, rate: 10000 kb/s",
        )
        .replace("# ", "");
    assert_eq!(base, hash(&format!("# a comment\n{respelled}"), table));
    assert_ne!(base, hash(&SMALL.replace("10 Mb/s", "11 Mb/s"), table));
    assert_ne!(base, hash(SMALL, &table.replace("1 kb/s", "2 kb/s")));
    let seeded = Options {
        seed: Some(2),
        ..Options::default()
    };
    assert_ne!(
        plan_with(SMALL, &[], &seeded)
            .unwrap_or_else(|e| panic!("{e}"))
            .hash,
        plan(SMALL).hash
    );
}

#[test]
fn router_policies_join_and_warn() {
    let config = "policy LLQ fifo 40\ninterface Gi0/0 bandwidth 5Mb/s\noutput LLQ\ninterface Gi0/1\nignored line\n";
    let text = SMALL
        .replace(", policy: Q", "")
        .replace(
            "policies:",
            "configs: [{ios: r.cfg, interfaces: {Gi0/0: wan}}]\npolicies:",
        )
        .replace("warmup: 1 s", "warmup: 0 s");
    let p = plan_with(&text, &[("dir/r.cfg", config)], &Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(p.variants[0].world.links[0].policy, "LLQ");
    assert_eq!(p.warnings.len(), 2, "{:?}", p.warnings);
    assert!(p.warnings[0].starts_with("dir/s.yaml:6: interface Gi0/0 (dir/r.cfg:2) has a bandwidth of 5 Mb/s, its link `wan` a rate of 10 Mb/s"), "{:?}", p.warnings);
    assert!(
        p.warnings[1].starts_with("dir/s.yaml:11: no warm-up"),
        "{:?}",
        p.warnings
    );
    assert_eq!(
        (p.unmodelled[0].file.as_str(), p.unmodelled[0].line),
        ("dir/r.cfg", 5)
    );
}

#[test]
fn the_platform_goes_to_the_importer_and_says_what_it_counts() {
    let config = "policy LLQ fifo 40\ninterface Gi0/0 bandwidth 10Mb/s\noutput LLQ\n";
    let warnings = |platform: &str| {
        let text = SMALL.replace(", policy: Q", "").replace(
            "policies:",
            &format!("configs: [{{ios: r.cfg, {platform}interfaces: {{Gi0/0: wan}}}}]\npolicies:"),
        );
        plan_with(&text, &[("dir/r.cfg", config)], &Options::default()).map(|p| p.warnings)
    };
    assert_eq!(warnings("").unwrap_or_else(|e| panic!("{e}")), [""; 0]);
    let counted = warnings("platform: ios-xe, ").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(counted.len(), 1, "{counted:?}");
    let start = "dir/s.yaml:6: rates of platform ios-xe count 14 B beside each IP packet of interface Gi0/0, of which link `wan` carries none";
    assert!(counted[0].starts_with(start), "{counted:?}");
    let e = warnings("platform: junos, ").unwrap_err();
    assert!(e.to_string().contains("ios-pre-hqf"), "{e}");
}

#[test]
fn a_policy_without_rates_counts_nothing_otherwise() {
    let warned = |link: &str| {
        let text = SMALL.replace("policy: Q}", link);
        let e = plan_with(&text, &[], &Options::default());
        let all = e.unwrap_or_else(|e| panic!("{e}")).warnings;
        all.into_iter().find(|w| w.contains("`policy_overhead`"))
    };
    assert_eq!(warned("policy: Q}"), None);
    let said = warned("policy: Q, policy_overhead: 12 B}").unwrap();
    assert!(said.contains("policy `Q` is a fifo"), "{said}");
    let said = warned("policy_overhead: {police: 12 B}}").unwrap();
    assert!(said.contains("the link has no policy"), "{said}");
    let bad = SMALL.replace("policy: Q}", "policy: Q, policy_overhead: {polise: 12 B}}");
    let e = plan_with(&bad, &[], &Options::default())
        .unwrap_err()
        .to_string();
    assert!(e.contains("polise") && e.contains("police"), "{e}");
}

#[test]
fn memory_is_estimated_before_anything_runs() {
    let p = plan(SMALL);
    let one = p.memory_bytes(1);
    assert!(p.memory_bytes(8) > one);
    assert_eq!(
        p.memory_bytes(10),
        p.memory_bytes(1000),
        "threads beyond the runs stay idle"
    );
    assert!(p.check_memory(1, one).is_none());
    let e = p.check_memory(1, one / 2).unwrap();
    assert_eq!(
        (e.code, e.message.starts_with("may need ")),
        ("E0605", true)
    );
    // Sessions cost what may be open, the rest about as much as a flow.
    let web = |active: u32| {
        let sessions = format!(
            "  - sessions: {{name: web, from: a, to: b, active: {active}, arrivals: {{fixed: {{gap: 1 s}}}}, session: {{lifetime: {{mean: 1 s}}}}}}\nmeasurement:"
        );
        plan(
            &SMALL
                .replace("policy: Q", "duplex: true")
                .replace("measurement:", &sessions),
        )
        .memory_bytes(1)
    };
    assert!(web(10_001) >= web(1) + 4096 * 10_000);
    // A flow more must cost at least what its meters take: 4 KB.
    let more = plan(&SMALL.replace("count: 3", "count: 1003"));
    assert!(more.memory_bytes(1) >= one + 4096 * 1000);
}

#[test]
fn what_open_loop_traffic_leaves_empty_takes_no_memory() {
    // A ring of fast links of 20 ms, deep queues, and 90 Mb/s in all.
    let mut links = String::new();
    for i in 0..10 {
        let j = (i + 1) % 10;
        links += &format!(
            "    l{i}: {{from: n{i}, to: n{j}, rate: 400 Gb/s, delay: 20 ms, duplex: true, policy: Q}}\n"
        );
    }
    let nodes: Vec<String> = (0..10).map(|i| format!("n{i}")).collect();
    let scenario = |traffic: &str| {
        let text = format!(
            "schema_version: 1\ntopology:\n  nodes: [{}]\n  links:\n{links}policies: {{Q: {{fifo: {{limit: 1000000 packets}}}}}}\ntraffic:\n{traffic}measurement: {{warmup: 1 s, duration: 10 s}}\n",
            nodes.join(", ")
        );
        plan(&text).memory_bytes(1)
    };
    let poisson = "  - flow: {name: p, count: 9, from: n0, to: n4, source: {poisson: {rate: 10 Mb/s, packet: 500 B}}}\n";
    let greedy = "  - flow: {name: t, from: n0, to: n4, tcp: {}}\n";
    // Ten seconds of 90 Mb/s wait at one of four ports at most.
    let little = scenario(poisson);
    assert!(little < 5_000_000_000, "{little}");
    // What TCP sends depends on the links.
    let much = scenario(&format!("{poisson}{greedy}"));
    assert!(much > 10 * little, "{much}");
}

#[test]
fn ten_thousand_flows_of_a_table_lower() {
    let mut table = String::from("name,class,from,to,dscp,rate,packet,jitter\n");
    for i in 0..10_000 {
        table.push_str(&format!(
            "flow-{i},class-{},a,b,af{}1,{} kb/s,1500 B,10 %\n",
            i % 7,
            1 + i % 4,
            1 + i
        ));
    }
    let text = SMALL.replace("traffic:\n", "traffic:\n  - csv: {file: t.csv}\n");
    let p = plan_with(&text, &[("dir/t.csv", &table)], &Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let w = &p.variants[0].world;
    assert_eq!((w.flows.len(), w.classes.len()), (10_003, 8));
    assert_eq!(w.flows[9_999].key.src.to_string(), "10.0.39.16");
}

#[test]
fn without_an_importer_configurations_are_refused() {
    let text = SMALL.replace("policies:", "configs: [{ios: r.cfg}]\npolicies:");
    let files = memory(&[("s.yaml", text.as_bytes()), ("r.cfg", b"x")]);
    let e = load(
        Path::new("s.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    )
    .unwrap_err();
    assert_eq!((e.0[0].code, e.0[0].file.as_str()), ("E0407", "r.cfg"));
}

/// The text of a scenario of the corpus of good ones.
fn good(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    std::fs::read_to_string(path.join(name)).unwrap()
}

fn names(links: &[u32], p: &Plan) -> Vec<String> {
    let w = &p.variants[0].world;
    let name = |l: &u32| w.links[*l as usize].name.clone();
    links.iter().map(name).collect()
}

#[test]
fn groups_become_nodes_links_and_dealt_flows() {
    let config = "policy P fifo 7\ninterface Gi0/1\noutput P\n";
    let text = good("many-hosts.yaml").replace("{}}\n", "{Gi0/1: in-3}}\n");
    let p = plan_with(&text, &[("dir/policies.cfg", config)], &Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let w = &p.variants[0].world;
    assert_eq!(
        w.nodes,
        [
            "left", "right", "s-0", "s-1", "s-2", "s-3", "s-4", "d-0", "d-1"
        ]
    );
    let link = |name: &str| w.links.iter().find(|l| l.name == name).unwrap();
    // Five links in, two out, one between, each with its reverse link.
    assert_eq!(w.links.len(), 16);
    let (third, back) = (link("in-3"), link("in-3.reverse"));
    assert_eq!((third.from, third.to, back.from, back.to), (5, 0, 0, 5));
    assert_eq!(
        (third.delay, back.delay),
        (Dur::from_ms(1), Dur::from_ms(1))
    );
    assert_eq!(link("in-2").delay, Dur::from_ms(3));
    assert_eq!(
        (third.policy.as_str(), link("in-2").policy.as_str()),
        ("P", "none")
    );
    // Flow 7 of 10 goes from member 7 mod 5 to member 7 mod 2.
    let bulk = &w.flows[7];
    assert_eq!(&*bulk.name, "bulk-7");
    assert_eq!(bulk.key.dst.to_string(), "10.255.0.8");
    let there = names(&w.routes[bulk.route as usize], &p);
    assert_eq!(there, ["in-2", "bottleneck", "out-1"]);
    let back = names(&w.routes[bulk.back.unwrap() as usize], &p);
    assert_eq!(
        back,
        ["out-1.reverse", "bottleneck.reverse", "in-2.reverse"]
    );
    // Ten pairs of members, both ways; phone and the sessions use the same.
    assert_eq!(w.routes.len(), 20);
    let video = &w.flows[10].traffic;
    assert!(
        matches!(
            video,
            Traffic::Tcp {
                application: Application::Source(_),
                ..
            }
        ),
        "{video:?}"
    );
    let Traffic::Sessions(web) = &w.flows[16].traffic else {
        panic!()
    };
    assert_eq!((web.active, &*w.flows[16].name), (100, "web-0"));
    assert_eq!(
        (w.flows[16].dscp.to_string(), w.flows[16].key.protocol),
        ("af11".to_owned(), 6)
    );
    assert_eq!(w.flows[16].lifetime.stop, Time::from_secs_f64(8.0));
    assert!(p.warnings.is_empty(), "{:?}", p.warnings);
}

#[test]
fn failures_name_links_and_who_is_cut_off() {
    let p = plan(&good("failures.yaml"));
    let w = &p.variants[0].world;
    assert_eq!(w.reroute, Dur::from_ms(250));
    let s = Time::from_secs_f64;
    let found: Vec<_> = w
        .failures
        .iter()
        .map(|f| (f.down, names(&[f.link], &p).remove(0), f.up))
        .collect();
    let expected = [
        (3.0, "bc", s(5.0)),
        (3.0, "bc.reverse", s(5.0)),
        (4.0, "lan-1", Time::MAX),
        (4.0, "lan-1.reverse", Time::MAX),
        (5.0, "ac.reverse", s(6.0)),
        (5.5, "bc", Time::MAX),
        (5.5, "bc.reverse", Time::MAX),
    ];
    assert_eq!(
        found,
        expected.map(|(at, name, up)| (s(at), name.to_owned(), up))
    );
    assert!(w.failures.windows(2).all(|f: &[FailurePlan]| f[0] < f[1]));
    // The ring has a path around until the reverse link of `ac` is gone, too.
    let mut warnings = p.warnings;
    warnings.retain(|w| !w.contains(NO_LIMIT));
    assert_eq!(
        warnings,
        [
            "dir/s.yaml:12: when link `lan-1` fails at 4 s, flows are left without a path: bulk-1, bulk-4, phone-1; until a repair their packets are lost, and connections time out",
            "dir/s.yaml:14: when link `bc` fails at 5.5 s, flows are left without a path: bulk-0, bulk-2, bulk-3, bulk-5; until a repair their packets are lost, and connections time out",
        ]
    );
    let late = good("failures.yaml").replace("at: 5500 ms", "at: 10 s");
    let mut warnings = plan(&late).warnings;
    warnings.retain(|w| !w.contains(NO_LIMIT));
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("link `bc` fails after the end of the run at 10 s"))
    );
    // A flow that is over by then loses nothing.
    let over = good("failures.yaml").replace("count: 6", "count: 6, stop: 2 s");
    let cut: Vec<_> = plan(&over)
        .warnings
        .into_iter()
        .filter(|w| w.contains("bulk") && !w.contains(NO_LIMIT))
        .collect();
    assert_eq!(cut, Vec::<String>::new());
}

/// Without propagation delays transmissions still take time, a picosecond at least: a round
/// trip is never instant, and the connection is as good as any.
#[test]
fn a_round_trip_without_delay_is_fine() {
    let text = SMALL
        .replace("delay: 5 ms, policy: Q", "duplex: true")
        .replace(
            "dscp: ef, source: {cbr: {rate: 64 kb/s, packet: 200 B}}",
            "tcp: {}",
        )
        .replace("10 Mb/s", "1000 Tb/s");
    let p = plan(&text);
    let mut others = p.warnings.iter().filter(|w| !w.contains(NO_LIMIT));
    assert!(others.next().is_none(), "{:?}", p.warnings);
    let link = &p.variants[0].world.links[0];
    assert_eq!(
        (link.delay, link.rate.tx_time(40).is_zero()),
        (Dur::ZERO, false)
    );
}

/// Ten thousand hosts with links of their own: megabytes, not a table of all pairs.
#[test]
fn ten_thousand_hosts_load() {
    let text = "schema_version: 1
topology:
  nodes: [left, right, {name: s, count: 10000}]
  links:
    in: {from: s, to: left, rate: 1 Gb/s, delay: [1 ms, 2 ms, 3 ms], duplex: true}
    bottleneck: {from: left, to: right, rate: 10 Gb/s, delay: 10 ms, duplex: true, policy: Q}
policies:
  Q: {fifo: {limit: 30000 packets}}
traffic:
  - flow: {name: bulk, count: 10000, from: s, to: right, tcp: {profile: ns2}}
runs: {count: 1}
";
    let p = plan(text);
    let w = &p.variants[0].world;
    assert_eq!(
        (w.nodes.len(), w.links.len(), w.routes.len()),
        (10_002, 20_002, 20_000)
    );
    let megabytes = p.memory_bytes(1) / 1_000_000;
    assert!((100..1000).contains(&megabytes), "{megabytes} MB");
    let mut routing = w.routing();
    let path = routing.path(w.flows[9999].from, w.flows[9999].to);
    assert_eq!(
        path.as_deref(),
        Some(&w.routes[w.flows[9999].route as usize][..])
    );
}

#[test]
fn a_group_grows_by_its_name() {
    let opts = Options {
        overrides: vec![
            "topology.nodes.s.count=7".into(),
            "traffic.web.active=9".into(),
        ],
        ..Options::default()
    };
    let text = good("many-hosts.yaml");
    let p = plan_with(&text, &[("dir/policies.cfg", "")], &opts).unwrap_or_else(|e| panic!("{e}"));
    let w = &p.variants[0].world;
    assert_eq!((w.nodes.len(), w.links.len()), (11, 20));
    assert!(p.warnings.is_empty(), "{:?}", p.warnings);
    let one = Options {
        overrides: vec!["traffic.phone.count=1".into()],
        ..Options::default()
    };
    let p = plan_with(&text, &[("dir/policies.cfg", "")], &one).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        p.warnings,
        [
            "dir/s.yaml:16: flow `phone` is one: of group `d` it takes `d-0`; write `count: 2` for one of each member, or `from: d-0`",
            "dir/s.yaml:16: flow `phone` is one: of group `s` it takes `s-0`; write `count: 5` for one of each member, or `to: s-0`",
        ]
    );
    let Traffic::Sessions(web) = &w.flows[16].traffic else {
        panic!()
    };
    assert_eq!(web.active, 9);
}

#[test]
fn nodes_and_links_are_bounded() {
    let fails = |nodes: &str, links: &str, what: &str| {
        let text = format!(
            "schema_version: 1\ntopology: {{nodes: [{nodes}], links: {{{links}}}}}\ntraffic:\n  - flow: {{name: x, from: a, to: b, tcp: {{}}}}\n"
        );
        let e = plan_with(&text, &[], &Options::default())
            .unwrap_err()
            .to_string();
        assert!(e.contains(what), "{e}");
    };
    let groups: Vec<_> = (0..11)
        .map(|i| format!("{{name: g{i}, count: 100000}}"))
        .collect();
    fails(
        &groups.join(", "),
        "x: {from: a, to: b, rate: 1 Mb/s}",
        "1100000 nodes",
    );
    let links: Vec<_> = (0..6)
        .map(|i| format!("l{i}: {{from: g, to: a, rate: 1 Mb/s, duplex: true}}"))
        .collect();
    fails(
        "a, b, {name: g, count: 100000}",
        &links.join(", "),
        "1200000 links",
    );
}

/// Axes and variants in all combinations, the last axis fastest; each point is the scenario with
/// its values written in.
#[test]
fn points_are_all_combinations() {
    let axes = "axes:
  - {name: rate, set: topology.links.wan.rate, values: [10 Mb/s, 2 Mb/s]}
  - name: calls
    points:
      - {name: few, set: {traffic.voice.count: 1}}
      - {name: many, set: {traffic.voice.count: 5, measurement.duration: 3 s}}
";
    let variants = "variants:
  - {name: near, set: {}}
  - {name: far, set: {topology.links.wan.delay: 90 ms}}
";
    let p = plan(&format!(
        "{SMALL}{axes}{variants}verdicts: {{against: far}}\n"
    ));
    let names: Vec<_> = p.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(
        names[..5],
        [
            "near (rate=10 Mb/s, calls=few)",
            "near (rate=10 Mb/s, calls=many)",
            "near (rate=2 Mb/s, calls=few)",
            "near (rate=2 Mb/s, calls=many)",
            "far (rate=10 Mb/s, calls=few)"
        ]
    );
    assert_eq!(p.against, [4, 5, 6, 7, 4, 5, 6, 7]);
    assert_eq!(p.variants[6].coordinates, [1, 0]);
    assert_eq!(p.axes[0].unit, Some("b/s"));
    assert_eq!(p.axes[0].numbers, Some(vec![1e7, 2e6]));
    assert_eq!(
        (p.axes[1].unit, &p.axes[1].labels[..]),
        (None, &["few".to_owned(), "many".to_owned()][..])
    );
    for point in &p.variants {
        let set = [
            (point.coordinates[0] == 1).then_some("topology.links.wan.rate=2 Mb/s"),
            Some(["traffic.voice.count=1", "traffic.voice.count=5"][point.coordinates[1] as usize]),
            (point.coordinates[1] == 1).then_some("measurement.duration=3 s"),
            (point.variant == "far").then_some("topology.links.wan.delay=90 ms"),
        ];
        let opts = Options {
            overrides: set.into_iter().flatten().map(str::to_owned).collect(),
            ..Options::default()
        };
        let alone = plan_with(SMALL, &[], &opts).unwrap();
        let worlds = [&point.world, &alone.variants[0].world].map(|w| format!("{w:?}"));
        assert_eq!(worlds[0], worlds[1], "{}", point.name);
    }
}

/// An axis may choose a configuration, and another change its policies: they are read first.
#[test]
fn axes_reach_policies_of_configurations() {
    let text = format!(
        "{}axes:
  - {{name: site, set: configs.0.ios, values: [one.cfg, two.cfg]}}
  - {{name: limit, set: policies.LLQ.fifo.limit, values: [10 packets, 20 packets]}}
",
        SMALL.replace("policy: Q}", "}").replace(
            "policies:",
            "configs:\n  - {ios: one.cfg, interfaces: {Serial0: wan}}\npolicies:"
        )
    );
    let router = "policy LLQ fifo 5\ninterface Serial0\noutput LLQ\n";
    let router2 = "policy LLQ fifo 6\ninterface Serial0\n";
    let files = [("dir/one.cfg", router), ("dir/two.cfg", router2)];
    let p = plan_with(&text, &files, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let policies = p.variants.iter().map(|v| v.world.links[0].policy.as_str());
    let policies: Vec<_> = policies.collect();
    assert_eq!(policies, ["LLQ", "LLQ", NO_POLICY, NO_POLICY]);
    let limit = |i: usize| format!("{:?}", p.variants[i].world.links[0].discipline.policy());
    assert_ne!(limit(0), limit(1));
    assert_eq!(p.variants.len(), 4);
    assert_eq!(p.axes[1].unit, Some("packets"));
}

/// Ports of switches that are offered more than they carry are named, once each.
#[test]
fn inadmissible_traffic_is_warned_of() {
    let text = |keys: &str, to_c: &str| {
        format!(
            "schema_version: 1\ntopology:\n  nodes: [a, b, c, d, {{name: s, switch: {{{keys}}}}}]\n  links:\n    \
             a: {{from: a, to: s, rate: 10 Mb/s}}\n    b: {{from: b, to: s, rate: 10 Mb/s}}\n    \
             c: {{from: s, to: c, rate: 10 Mb/s}}\n    d: {{from: s, to: d, rate: 10 Mb/s}}\n    back: {{from: c, to: b, rate: 10 Mb/s}}\n\
             traffic:\n  \
             - flow: {{name: f, from: a, to: c, source: {{cbr: {{rate: 6 Mb/s, packet: 500 B}}}}}}\n  \
             - flow: {{name: g, from: b, to: c, {to_c}source: {{poisson: {{rate: 5 Mb/s, packet: 500 B}}}}}}\n  \
             - flow: {{name: t, from: b, to: c, tcp: {{}}}}\n\
             measurement: {{warmup: 1 s, duration: 4 s}}\nruns: {{count: 2}}\n"
        )
    };
    let warnings = |keys: &str, to_c: &str| {
        let all = plan(&text(keys, to_c)).warnings;
        let of_switch = |w: &String| w.contains("inadmissible");
        all.into_iter().filter(of_switch).collect::<Vec<_>>()
    };
    let found = warnings("architecture: voq", "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with(
            "dir/s.yaml:3: the traffic matrix is inadmissible: output `c` of `s` carries 10 Mb/s and is offered 11 Mb/s"
        ),
        "{found:?}"
    );
    // Half of the measured period: 2.5 Mb/s.
    assert!(warnings("architecture: voq", "stop: 3 s, ").is_empty());
    let slow = warnings("architecture: voq, line_rate: 5500 kb/s", "");
    assert_eq!(slow.len(), 2, "{slow:?}");
    assert!(
        slow[0].contains("input `a` of `s` carries 5.5 Mb/s and is offered 6 Mb/s"),
        "{slow:?}"
    );
    assert!(
        warnings(
            "architecture: cioq, speedup: 2, line_rate: 5500 kb/s",
            "stop: 3 s, "
        )
        .is_empty()
    );
}

/// A reverse link has the delay and the cost of its link, also those that a list deals to the links
/// of a group.
#[test]
fn a_way_back_is_as_long_and_as_dear_as_its_link() {
    let text = SMALL
        .replace("nodes: [a, b]", "nodes: [{name: a, count: 3}, b]")
        .replace(
            "delay: 5 ms,",
            "delay: [1 ms, 2 ms, 3 ms], cost: 7, duplex: true,",
        );
    let links = &plan(&text).variants[0].world.links;
    let found: Vec<_> = links.iter().map(|l| (l.delay, l.cost)).collect();
    let of = |ms| (Dur::from_ms(ms), 7);
    assert_eq!(found, [1, 1, 2, 2, 3, 3].map(of));
}

/// Packets are waited for for a second: in a short measurement for half of it at most, in a long
/// one for a tenth.
#[test]
fn the_usual_grace_is_no_large_part_of_a_measurement() {
    for (duration, grace) in [("1 s", 500), ("4 s", 1000), ("60 s", 6000)] {
        let text = SMALL.replace("duration: 10 s", &format!("duration: {duration}"));
        let world = &plan(&text).variants[0].world;
        assert_eq!(world.grace, Dur::from_ms(grace), "{duration}");
    }
}

/// Flows without ports of their own have different ones, whatever row they are in.
#[test]
fn default_ports_differ_between_rows() {
    let more = "  - flow: {name: data, count: 2, from: a, to: b, source: {cbr: {rate: 64 kb/s, packet: 200 B}}}\nmeasurement";
    let p = plan(&SMALL.replace("measurement", more));
    let flows = p.variants[0].world.flows.iter();
    let ports: Vec<u16> = flows.map(|f| f.key.sport).collect();
    assert_eq!(ports, [49_152, 49_153, 49_154, 49_155, 49_156]);
}

/// No circuit carries a longer packet than an AAL5 frame holds behind its 8 bytes of LLC/SNAP.
#[test]
fn a_circuit_has_the_mtu_of_its_frames() {
    let p = plan(&SMALL.replace("policy: Q}", "policy: Q, atm: {}}"));
    assert_eq!(p.variants[0].world.links[0].mtu, 65_535 - 8);
}

/// A failure lasts until its repair and its spread: only then may its link fail again.
#[test]
fn a_link_does_not_fail_again_within_the_spread() {
    let failing = |again: &str| {
        let failures = format!(
            "  failures: [{{link: wan, at: 2 s, repair: 3 s, spread: 2 s}}, {{link: wan, at: {again}}}]\npolicies"
        );
        let text = SMALL.replacen("policies", &failures, 1);
        plan_with(&text, &[], &Options::default()).map(|p| p.variants[0].world.failures.len())
    };
    assert_eq!(failing("5500 ms").unwrap(), 2);
    let error = failing("4 s").unwrap_err().to_string();
    assert!(error.contains("has it down from 2 s until 5 s"), "{error}");
}

/// Inside an MPLS network packets come with labels: the longest packet, for which default bursts
/// are made, has room for them.
#[test]
fn the_longest_packet_of_a_labelled_link_has_room_for_labels() {
    let text = "schema_version: 1
topology:
  nodes: [a, pe1, p, pe2, b]
  links:
    access: {from: a, to: pe1, rate: 10 Mb/s, policy: Q}
    core: {from: pe1, to: p, rate: 10 Mb/s, policy: Q}
    last: {from: p, to: pe2, rate: 10 Mb/s, policy: Q}
    out: {from: pe2, to: b, rate: 10 Mb/s, policy: Q}
  mpls: {pe: [pe1, pe2], p: [p]}
policies:
  Q: {class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 8 kb/s}}]}}
traffic:
  - flow: {name: f, from: a, to: b, source: {cbr: {rate: 8 kb/s, packet: 100 B}}}
measurement: {warmup: 1 s, duration: 1 s}
runs: {count: 1, seed: 1}
";
    let p = plan(text);
    let longest = |name: &str| {
        let link = p.variants[0].world.links.iter().find(|l| l.name == name);
        let line = link.and_then(|l| l.discipline.line()).unwrap();
        (line.longest.occupied, line.longest.policed)
    };
    assert_eq!(longest("access"), (1500, 1500));
    // A label of the tunnel and one of the destination, 4 bytes each (RFC 3032).
    assert_eq!(longest("core"), (1508, 1508));
    assert_eq!(longest("last"), (1508, 1508));
    assert_eq!(longest("out"), (1500, 1500));
}
