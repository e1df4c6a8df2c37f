//! From a tree to IOS text and back: the same tree.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Burst, Cells, Dur, Overhead, Rate, RateOrPercent};
use spillgate_export::{Exported, Port, Source, Tag, TcOptions, ios};
use spillgate_import::ConfigImporter;
use spillgate_nodes::atm::{ContractSpec, VcSpec};
use spillgate_queueing::spec::{ClassSpec, DisciplineSpec, MatchSpec, ShapeSpec};
use spillgate_queueing::{Metadata, View};
use spillgate_scenario::import::Framing;
use spillgate_scenario::{Imported, Importer as _, Platform};

use crate::common::{configurations, packets, policies};

fn import(text: &str, platform: Platform) -> Imported {
    let read = ConfigImporter::default().ios("exported.cfg", text.as_bytes(), platform);
    read.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn export(imported: &Imported, platform: Platform) -> Exported {
    ios(&Source::of_configuration(imported, platform, None, &|_| None).unwrap())
}

/// Whether a note is about the syntax of a platform.
fn of_syntax(note: &str) -> bool {
    note.starts_with("the commands are those of IOS with")
}

/// The policies for what arrives.
fn arriving(imported: &Imported) -> Vec<(&str, &str)> {
    let interfaces = imported.interfaces.iter();
    interfaces
        .filter_map(|(name, i)| Some((name.as_str(), i.input_policy.as_ref()?.0.as_str())))
        .collect()
}

/// Circuits of the interfaces that an export says: VPI/VCI, name, contract and framing.
type Vc<'a> = (VcSpec, Option<&'a str>, Option<ContractSpec>, Framing);

fn circuits(imported: &Imported) -> BTreeMap<&str, Vc<'_>> {
    let interfaces = imported.interfaces.iter();
    interfaces
        .filter(|(_, i)| i.output_policy.is_some() || i.input_policy.is_some())
        .filter_map(|(name, i)| {
            let c = i.circuit.as_ref()?;
            let contract = c.contract.as_ref().map(|(c, _)| c.clone());
            let facts = (c.vc, c.name.as_deref(), contract, c.framing.0);
            Some((name.as_str(), facts))
        })
        .collect()
}

/// VLANs of the interfaces that an export says; none for a trunk.
fn tagged(imported: &Imported) -> BTreeMap<&str, Option<u16>> {
    let interfaces = imported.interfaces.iter();
    interfaces
        .filter(|(_, i)| i.output_policy.is_some() || i.input_policy.is_some())
        .filter_map(|(name, i)| i.dot1q.map(|_| (name.as_str(), i.vlan)))
        .collect()
}

/// The parts of the interfaces that an export says.
fn attached(imported: &Imported) -> BTreeMap<&str, (Option<Rate>, &str)> {
    imported
        .interfaces
        .iter()
        .filter_map(|(name, i)| {
            let (policy, _) = i.output_policy.as_ref()?;
            Some((name.as_str(), (i.bandwidth, policy.as_str())))
        })
        .collect()
}

#[test]
fn every_configuration_comes_back_as_it_was() {
    let (mut tags, mut contracts, mut kept) = (0, 0, 0);
    let mut left_out = std::collections::BTreeSet::new();
    for path in configurations() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let said = name
            .rsplit_once('.')
            .and_then(|(_, p)| Platform::by_name(p));
        let bytes = fs::read(&path).unwrap();
        // What a file is of, and every other meaning that it may be given.
        for platform in Platform::ALL {
            let Ok(imported) = ConfigImporter::default().ios(name, &bytes, platform) else {
                assert!(said.is_some_and(|s| s != platform), "{name}");
                continue;
            };
            let exported = export(&imported, platform);
            let again = import(&exported.text, platform);
            // What was lost in reading is lost, and nothing else.
            let lost = exported.notes.iter().filter(|n| !of_syntax(&n.reason));
            let lost: Vec<String> = lost.map(ToString::to_string).collect();
            assert_eq!(
                lost.len(),
                imported.unmodelled.len(),
                "{name} as {platform:?}
{lost:#?}
{}",
                exported.text
            );
            assert_eq!(
                again.policies, imported.policies,
                "{name} as {platform:?}\n{}",
                exported.text
            );
            assert_eq!(
                attached(&again),
                attached(&imported),
                "{name} as {platform:?}"
            );
            assert_eq!(
                arriving(&again),
                arriving(&imported),
                "{name} as {platform:?}"
            );
            assert_eq!(tagged(&again), tagged(&imported), "{name} as {platform:?}");
            assert_eq!(
                circuits(&again),
                circuits(&imported),
                "{name} as {platform:?}\n{}",
                exported.text
            );
            tags += tagged(&imported).len();
            contracts += circuits(&imported).len();
            // A listed line that is kept is listed again, and no other is.
            let listed = |i: &Imported| -> Vec<String> {
                let mut all: Vec<_> = i.unmodelled.iter().map(|u| u.text.clone()).collect();
                all.sort();
                all
            };
            let (mut was, is) = (listed(&imported), listed(&again));
            for text in &is {
                let at = was.iter().position(|t| t == text);
                was.remove(at.unwrap_or_else(|| panic!("{name}: {text}\n{}", exported.text)));
            }
            kept += is.len();
            for text in was {
                let said = format!(": {}: ", text.trim());
                let note = exported
                    .notes
                    .iter()
                    .find(|n| format!(": {}", n).contains(&said));
                let note = note.unwrap_or_else(|| panic!("{name}: {text}"));
                left_out.insert(format!("{name} {text}"));
                let stands = note.reason.ends_with("kept as it stands)");
                assert!(
                    !stands || is.contains(&text) || exported.text.contains(&text),
                    "{note}"
                );
            }
        }
    }
    assert!(kept > 200, "{kept}");
    assert!(left_out.len() < 20, "{left_out:#?}");
    assert!(tags > 0, "no interface has tags");
    assert!(contracts > 0, "no interface has circuits");
}

fn classes(policies: &BTreeMap<String, DisciplineSpec>) -> Vec<ClassSpec> {
    let of = |spec: &DisciplineSpec| match spec {
        DisciplineSpec::ClassBased(c) => c.classes.clone(),
        _ => panic!("not class-based"),
    };
    policies.values().flat_map(of).collect()
}

fn json(m: &Option<MatchSpec>) -> String {
    serde_json::to_string(m).unwrap()
}

fn source(policies: BTreeMap<String, DisciplineSpec>) -> Source {
    Source {
        policies,
        ports: Vec::new(),
        inputs: Vec::new(),
        platform: Platform::Ios,
        match_any: std::collections::BTreeSet::new(),
        lost: Vec::new(),
        originals: Vec::new(),
    }
}

/// A configuration that ends anywhere is an error or something that can be exported and comes back.
#[test]
fn whatever_can_be_read_can_be_written() {
    let mut exported = 0;
    for path in configurations() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for n in (1..lines.len()).step_by(3) {
            let part = lines[..n].join("\n");
            let Ok(imported) =
                ConfigImporter::default().ios("part", part.as_bytes(), Platform::Ios)
            else {
                continue;
            };
            let source =
                Source::of_configuration(&imported, Platform::Ios, None, &|_| None).unwrap();
            let again = import(&ios(&source).text, Platform::Ios);
            assert_eq!(
                again.policies,
                imported.policies,
                "{} to line {n}",
                path.display()
            );
            // Without a rate it is an error; that is all.
            let _ = spillgate_export::tc(&source, &TcOptions::default());
            exported += 1;
        }
    }
    assert!(exported > 50, "{exported}");
}

/// What a shaper without bursts is on the router: with Bc and no Be, or in percent, where a burst
/// would be of an unknown rate, with 4 ms of both.
fn settled(mut s: ShapeSpec) -> ShapeSpec {
    if (s.burst, s.excess_burst) == (None, None) {
        match s.rate {
            RateOrPercent::Rate(rate) => {
                let bytes = rate.bytes_in(Dur::from_ms(4)).max(1600);
                s.burst = Some(Burst::Bytes(bytes));
            }
            RateOrPercent::Percent(_) => s.excess_burst = Some(Burst::Time(Dur::from_ms(4))),
        }
    }
    s
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128 * effort(), failure_persistence: None, ..ProptestConfig::default() })]

    /// A tree that a scenario may have means the same once it was written and read, and that one
    /// comes back as it is.
    #[test]
    fn trees_come_back_as_they_were(policies in policies(), packets in packets()) {
        let written = ios(&source(policies.clone()));
        let lost = written.notes.iter().filter(|n| !of_syntax(&n.reason));
        prop_assert_eq!(lost.count(), 0, "{}", written.text);
        // The sums of percentages are nobody's concern here: ten per class at most, a few classes.
        let read = import(&written.text, Platform::Ios);
        prop_assert_eq!(read.unmodelled.len(), 0, "{}", written.text);
        // What is written again settles: parts that turn out to be everything are not written.
        let mut latest = read.policies.clone();
        let mut last = BTreeMap::new();
        for _ in 0..6 {
            last = std::mem::take(&mut latest);
            latest = import(&ios(&source(last.clone())).text, Platform::Ios).policies;
        }
        prop_assert_eq!(&latest, &last, "{}", written.text);

        for (was, is) in classes(&policies).into_iter().zip(classes(&read.policies)) {
            let same = |a: &Option<MatchSpec>, b: &Option<MatchSpec>| packets.iter().all(|(key, dscp)| {
                let views = [View::Ip { key, dscp: *dscp }, View::Labelled { exp: dscp.value() & 7 }];
                let seen = [Metadata::default(), Metadata { cos: Some(1), qos_group: Some(2), input: Some("Vlan3") }];
                let of = |m: &Option<MatchSpec>| {
                    m.as_ref().map(|m| views.map(|v| seen.map(|s| m.matches_with(v, &s))))
                };
                of(a) == of(b)
            });
            prop_assert!(same(&was.matching, &is.matching), "{}\n{}", json(&was.matching), json(&is.matching));
            // Conditions may be written otherwise; the rest must be the same to the letter.
            let without = |c: &ClassSpec| {
                let mut c = c.clone();
                c.matching = None;
                c.shape = c.shape.map(settled);
                if let Some(p) = &mut c.police {
                    (p.conform_color, p.exceed_color) = (None, None);
                }
                c
            };
            prop_assert_eq!(without(&was), without(&is));
            if let (Some(a), Some(b)) = (&was.police, &is.police) {
                prop_assert!(same(&a.conform_color, &b.conform_color), "{}\n{}\n{}", json(&a.conform_color), json(&b.conform_color), written.text);
                prop_assert!(same(&a.exceed_color, &b.exceed_color), "{}\n{}", json(&a.exceed_color), json(&b.exceed_color));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64 * effort(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Tags of interfaces come back, whether packets leave or arrive there.
    #[test]
    fn tags_come_back(vlans in prop::collection::btree_map(1_u16..=4094, any::<(bool, bool)>(), 1..6)) {
        let mut text = "policy-map P\n class class-default\n  set dscp af11\n".to_owned();
        for (vlan, (leaves, arrives)) in &vlans {
            text += &format!("interface GigabitEthernet0/1.{vlan}\n encapsulation dot1Q {vlan}\n");
            if *leaves {
                text += " service-policy output P\n";
            }
            if *arrives {
                text += " service-policy input P\n";
            }
        }
        let imported = import(&text, Platform::Ios);
        let expected = vlans.iter().filter(|(_, (a, b))| *a || *b).map(|(v, _)| Some(*v));
        let mut found: Vec<_> = tagged(&imported).into_values().collect();
        found.sort_unstable();
        prop_assert_eq!(found, expected.collect::<Vec<_>>());
        let again = import(&export(&imported, Platform::Ios).text, Platform::Ios);
        prop_assert_eq!(tagged(&again), tagged(&imported));
        prop_assert_eq!(arriving(&again), arriving(&imported));
    }
}

/// A scenario says that frames have tags, not of which VLAN.
#[test]
fn the_vlan_of_a_link_is_that_of_the_sub_interface() {
    let json = r#"{"P": {"class-based": {"classes": [{"name": "class-default", "set_cos": 3}]}}}"#;
    let port = |name: &str, tag| Port {
        name: name.to_owned(),
        policy: "P".to_owned(),
        rate: None,
        overhead: None,
        policers: None,
        longest: Default::default(),
        labels: false,
        tag,
        circuit: None,
        tx_ring: None,
    };
    let mut source = source(serde_json::from_str(json).unwrap());
    source.ports = vec![
        port("GigabitEthernet0/1.20", Tag::Unnumbered),
        port("GigabitEthernet0/2", Tag::Trunk),
        port("GigabitEthernet0/3", Tag::None),
        port("wan", Tag::Unnumbered),
    ];
    let written = ios(&source);
    let read = import(&written.text, Platform::Ios);
    let vlans: Vec<_> = tagged(&read).into_iter().collect();
    assert_eq!(
        vlans,
        [
            ("GigabitEthernet0/1.20", Some(20)),
            ("GigabitEthernet0/2", None)
        ]
    );
    let [note] = &written.notes[..] else {
        panic!("{:?}", written.notes);
    };
    assert_eq!(note.place, "interface wan");
    assert!(
        note.reason.contains("encapsulation dot1Q"),
        "{}",
        note.reason
    );
}

/// Queues that IOS does not have keep their own limits in those that stand for them.
#[test]
fn limits_of_queues_are_those_of_the_policy() {
    let written = |policy: &str, rate: Option<u64>| {
        let port = Port {
            name: "Serial0/0".to_owned(),
            policy: "P".to_owned(),
            rate: rate.map(|r| Rate::from_bps(r).unwrap()),
            overhead: None,
            policers: None,
            longest: Default::default(),
            labels: false,
            tag: Tag::None,
            circuit: None,
            tx_ring: None,
        };
        let source = Source {
            ports: vec![port],
            ..source(serde_json::from_str(&format!(r#"{{"P": {policy}}}"#)).unwrap())
        };
        let written = ios(&source);
        let reasons: Vec<String> = written.notes.iter().map(|n| n.reason.clone()).collect();
        (written.text, reasons.join("\n"))
    };
    let mbps = Some(10_000_000);
    for (policy, rate, lines, said) in [
        // 20 ms at 10 Mb/s are 25 kB, 17 packets.
        (
            r#"{"fifo": {"limit": "20 ms"}}"#,
            mbps,
            " hold-queue 17 out\n",
            "becomes 17 packets",
        ),
        (
            r#"{"fifo": {"limit": "20 ms"}}"#,
            None,
            " no fair-queue\n!",
            "it is left out",
        ),
        (
            r#"{"fifo": {"limit": "1 GB"}}"#,
            mbps,
            " hold-queue 240000 out\n",
            "takes 1 to 240000",
        ),
        (
            r#"{"wfq": {"limit": "30 packets", "hold_queue": "90 packets"}}"#,
            mbps,
            " fair-queue 30 256\n hold-queue 90 out\n",
            "by precedence (`weights`), not equally",
        ),
        (
            r#"{"fan": {"limit": "200 packets", "mechanism": {"raef": {}}}}"#,
            mbps,
            " fair-queue 200 256\n hold-queue 200 out\n",
            "left out with it: mechanism raef (active_time 5 s)",
        ),
        (
            r#"{"drr": {"limit": "200 packets", "quantum": "500 B", "queues": 100}}"#,
            mbps,
            " fair-queue 200 128\n hold-queue 200 out\n",
            "left out: quantum 500 B",
        ),
        (
            r#"{"fq-codel": {"target": "9 ms"}}"#,
            mbps,
            " fair-queue 4096 1024\n hold-queue 10240 out\n",
            "left out: target 9 ms",
        ),
    ] {
        let (text, notes) = written(policy, rate);
        assert!(text.contains(lines), "{policy}\n{text}");
        assert!(notes.contains(said), "{policy}\n{notes}");
        import(&text, Platform::Ios);
    }
}

/// What a link counts is not what the router counts.
#[test]
fn other_headers_are_noted() {
    let json = r#"{"P": {"class-based": {"classes": [{"name": "class-default", "set_cos": 3}]}}}"#;
    let noted = |platform, interface: &str, per_packet| {
        let port = Port {
            name: interface.to_owned(),
            policy: "P".to_owned(),
            rate: None,
            overhead: Some(Overhead::new(per_packet, 0, Cells::None)),
            policers: None,
            longest: Default::default(),
            labels: false,
            tag: Tag::None,
            circuit: None,
            tx_ring: None,
        };
        let source = Source {
            platform,
            ports: vec![port],
            ..source(serde_json::from_str(json).unwrap())
        };
        let notes = ios(&source).notes;
        notes
            .iter()
            .any(|n| n.reason.contains("14 B beside each IP packet there"))
    };
    assert!(noted(Platform::IosXe, "GigabitEthernet0/1", 18));
    assert!(!noted(Platform::IosXe, "GigabitEthernet0/1", 14));
    assert!(noted(Platform::Ios, "GigabitEthernet0/1", 18));
    // Of a name that is not an interface it is not known what it counts.
    assert!(!noted(Platform::IosXe, "wan", 18));
}

/// Conditions on ports are access lists, which match the same packets on every router:
/// `match ip rtp` takes the even ports of its range, and `match protocol ssh` asks NBAR.
#[test]
fn ports_are_matched_by_access_lists() {
    let written = |condition: &str, platform| {
        let json = format!(
            r#"{{"p": {{"class-based": {{"classes": [{{"name": "v", "match": {condition}, "set_dscp": "ef"}}]}}}}}}"#
        );
        let source = Source {
            platform,
            ..source(serde_json::from_str(&json).unwrap())
        };
        ios(&source)
    };
    let both = r#"{"protocol": "tcp", "any": [{"dport": 22}, {"sport": 22}]}"#;
    for (condition, entries) in [
        (
            r#"{"protocol": "udp", "dport": "16384-32767"}"#,
            " permit udp any any range 16384 32767\n",
        ),
        (
            r#"{"protocol": "udp", "dport": 5001}"#,
            " permit udp any any eq 5001\n",
        ),
        (
            r#"{"protocol": "udp", "dport": "2000-4000"}"#,
            " permit udp any any range 2000 4000\n",
        ),
        (
            both,
            " permit tcp any any eq 22\n permit tcp any eq 22 any\n",
        ),
    ] {
        for platform in [Platform::Ios, Platform::IosXr] {
            let Exported { text, notes } = written(condition, platform);
            assert!(
                text.contains(entries) && text.contains(" match access-group name v-acl1\n"),
                "{text}"
            );
            assert!(notes.iter().all(|n| of_syntax(&n.reason)), "{notes:?}");
        }
    }
    let gre = written(r#"{"protocol": "gre"}"#, Platform::Ios);
    assert!(gre.text.contains(" match protocol gre\n"), "{}", gre.text);
}

const UNMODELLED: &str = "\
ip access-list extended MEDIA
 permit udp any any range 16384 32767 fragments
 permit tcp any any established
class-map match-any AUDIO
 match protocol rtp audio
class-map match-any CALLS
 match dscp ef
 match class-map AUDIO
 match access-group name MEDIA
class-map match-all SHORT
 match dscp af21
 match packet length max 200
class-map match-all REST
 match not protocol skype
policy-map WAN
 class AUDIO
  priority percent 10
 class CALLS
  bandwidth 100 account user-defined 4
  set cos dscp table T
 class SHORT
  police cir 64000
   conform-action transmit
   exceed-action set-frde-transmit
  service-policy INNER
 class REST
  bandwidth remaining percent 5
policy-map INNER
 class class-default
  queue-limit 10 packets
interface Serial0/0
 bandwidth 2000
 ppp multilink interleave
 service-policy output WAN
interface Serial0/1
 traffic-shape rate 64000
map-class frame-relay M
 frame-relay cir 64000
";

/// What a configuration says and a simulation does not have stays as the line that it was, in its
/// place, and never becomes another.
#[test]
fn what_has_no_translation_stays_as_it_was() {
    let imported = import(UNMODELLED, Platform::Ios);
    let written = export(&imported, Platform::Ios);
    let body: Vec<&str> = written
        .text
        .lines()
        .filter(|l| !l.starts_with('!'))
        .collect();
    for line in UNMODELLED.lines() {
        assert!(
            body.iter().any(|l| l.trim() == line.trim()),
            "{line}\n{}",
            written.text
        );
    }
    for line in [
        " match any",
        " match protocol ip",
        " match not protocol ip",
        " permit tcp any any",
    ] {
        assert!(!body.contains(&line), "{line}\n{}", written.text);
    }
    // A policer stands with all its lines, and nothing stands twice.
    let lines = |of: &str| body.iter().filter(|l| l.trim().starts_with(of)).count();
    assert_eq!(
        (lines("police"), lines("bandwidth 100"), lines("class-map")),
        (1, 1, 4)
    );
    let again = import(&written.text, Platform::Ios);
    assert_eq!(
        (&again.policies, again.unmodelled.len()),
        (&imported.policies, imported.unmodelled.len())
    );
    assert_eq!(written.notes.len(), imported.unmodelled.len());
    for note in &written.notes {
        assert!(
            note.reason.ends_with("(the line is kept as it stands)"),
            "{note}"
        );
    }
    // `tc` has no such lines, and says so.
    let tc = spillgate_export::tc(
        &Source::of_configuration(&imported, Platform::Ios, Some("Serial0/0"), &|_| None).unwrap(),
        &TcOptions::default(),
    )
    .unwrap();
    for u in &imported.unmodelled {
        let said = format!("r.cfg:{}: {}: ", u.line, u.text).replace("r.cfg", &u.file);
        assert!(
            tc.text.contains(&format!("# not expressed: {said}")),
            "{}",
            tc.text
        );
    }
}

/// A class that was changed since is written from what it is, not from what it was.
#[test]
fn changed_classes_are_not_kept() {
    let imported = import(UNMODELLED, Platform::Ios);
    let mut source = Source::of_configuration(&imported, Platform::Ios, None, &|_| None).unwrap();
    let Some(DisciplineSpec::ClassBased(wan)) = source.policies.get_mut("WAN") else {
        panic!("no policy");
    };
    wan.classes[1].matching = serde_json::from_str(r#"{"dscp": "af41"}"#).unwrap();
    wan.classes[1].bandwidth = Some(RateOrPercent::Rate(Rate::from_bps(300_000).unwrap()));
    let written = ios(&source).text;
    assert!(written.contains("  bandwidth 300\n"), "{written}");
    assert!(!written.contains("\n  bandwidth 100"), "{written}");
    assert!(
        written.contains("class-map match-any CALLS\n match dscp af41\n"),
        "{written}"
    );
    // Others are.
    assert!(
        written.contains(" match packet length max 200\n"),
        "{written}"
    );
    let again = import(&written, Platform::Ios);
    assert_eq!(again.policies, source.policies);
}

/// A condition that is too much for a router is named, and its class left out: it does not match
/// other packets.
#[test]
fn a_condition_without_translation_leaves_its_class_out() {
    let hosts: Vec<String> = (0..150).map(|n| format!(r#""10.0.0.{n}""#)).collect();
    let ports: Vec<String> = (0..150)
        .map(|n| format!(r#""{}-{}""#, n * 10 + 1, n * 10 + 2))
        .collect();
    let (hosts, ports) = (hosts.join(","), ports.join(","));
    let json = format!(
        r#"{{"p": {{"class-based": {{"classes": [
            {{"name": "v", "match": {{"protocol": "udp", "src": [{hosts}], "dport": [{ports}]}}, "bandwidth": "10 %"}},
            {{"name": "w", "match": {{"dscp": "ef"}}, "bandwidth": "20 %"}}]}}}}}}"#
    );
    let written = ios(&source(serde_json::from_str(&json).unwrap()));
    let [note] = &written.notes[..] else {
        panic!("{:?}", written.notes);
    };
    assert_eq!(note.place, "policy p, class v");
    assert!(
        note.reason.starts_with("its condition has no translation"),
        "{note}"
    );
    assert!(
        written
            .text
            .contains(" ! class v: its condition has no translation\n")
    );
    let body = written.text.lines().filter(|l| !l.trim().starts_with('!'));
    assert_eq!(
        body.filter(|l| l.contains("permit") || l.contains("class v") || l.contains("v-"))
            .count(),
        0
    );
    let read = import(&written.text, Platform::Ios);
    let names: Vec<String> = classes(&read.policies)
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["w"]);
}

#[test]
fn what_ios_cannot_say_is_noted() {
    let json = r#"{"p": {"class-based": {"classes": [
        {"name": "v", "match": {"dscp": "ef"}, "priority": {"rate": "12.5 %", "police": "always", "burst": "10 B"}},
        {"name": "w", "match": {"dscp": "af11"}, "bandwidth": "1500 b/s", "aqm": {"red": {"min_th": 5.5}}},
        {"name": "z", "match": {"dscp": "af13"}, "police": {"rate": "8 Mb/s", "burst": "0 B", "excess_burst": "9 kB", "violate": "drop"}},
        {"name": "x", "match": {"dscp": "af12"}, "shape": {"rate": "10 %", "burst": "2000 B"},
         "fair_queue": {"hold_queue": 70, "cdt_policy": "block-quarter"}}]}},
      "q": {"class-based": {"classes": [{"name": "v", "match": {"dscp": "cs1"}}]}},
      "f": {"fifo": {}}}"#;
    let policies = serde_json::from_str(json).unwrap();
    let written = ios(&source(policies));
    let notes: Vec<String> = written.notes.iter().map(ToString::to_string).collect();
    for part in [
        "policy p, class v: `priority` is in whole percent: 12.5 % is written as 13",
        "policy p, class v: `priority` takes bursts of 32 to 2000000 B, not 10 B",
        "policy p, class v: the platform polices `priority` under congestion only",
        "policy p, class w: `bandwidth` is in whole kbit/s: 1.5 kb/s is written as 2 kb/s",
        "policy p, class w: RED is written as WRED with one profile (6 15 10) for every precedence and constant 9",
        "policy p, class x: the burst of a shaper in percent is in ms on IOS",
        "policy p, class x: a fair queue in a class has no limit of 70 packets",
        "policy p, class x: what happens at the congestive discard threshold",
        "policy p, class z: IOS takes no committed burst of 0 B (`burst`): the policer is left out",
        "policy q, class v: a class of this name in another policy matches otherwise: it is called `v-2`",
        "policy f: a fifo queue is of an interface, and none has it",
    ] {
        assert!(
            notes.iter().any(|n| n.starts_with(part)),
            "{part}\n{notes:#?}"
        );
    }
    assert_eq!(notes.len(), 11, "{notes:#?}");
    for note in &notes {
        assert!(written.text.contains(&format!("! not expressed: {note}")));
    }
    import(&written.text, Platform::Ios);
}

/// What is equivalent is written as it was: `match-any` of one criterion, Bc and Be, `drop`.
#[test]
fn what_is_equivalent_stays_as_written() {
    let text = "\
class-map match-any ONE
 match dscp ef
class-map match-any TWO
 match dscp af41
 match dscp cs4
class-map match-all ALL
 match dscp cs1
policy-map P
 class ONE
  shape average 512000 12800 6400
 class TWO
  shape average percent 20 40 ms 10 ms
 class ALL
  drop
";
    let imported = import(text, Platform::Ios);
    let written = export(&imported, Platform::Ios).text;
    for line in [
        "class-map match-any ONE",
        "class-map match-any TWO",
        "class-map match-all ALL",
        "  shape average 512000 12800 6400",
        "  shape average percent 20 40 ms 10 ms",
        "  drop",
    ] {
        assert!(written.lines().any(|l| l == line), "{line}\n{written}");
    }
    assert_eq!(import(&written, Platform::Ios).policies, imported.policies);
}
