//! What the importer says it understood, and what platforms make of one configuration.

use serde_json::Value;
use spillgate_import::ConfigImporter;
use spillgate_scenario::Platform;

const CONFIG: &str = "\
class-map match-any VOICE
 match ip dscp ef
 match vlan 5
class-map match-all WEB
 match protocol http
policy-map CHILD
 class VOICE
  priority percent 20
 class WEB
  bandwidth percent 30
  police cir 1000000
 class class-default
  fair-queue
policy-map PARENT
 class class-default
  shape average 50000000
  service-policy CHILD
interface GigabitEthernet0/1
 bandwidth 100000
 max-reserved-bandwidth 90
interface GigabitEthernet0/1.20
 service-policy output PARENT
interface Serial0/0
 bandwidth 2000
 hold-queue 200 out
interface GigabitEthernet0/2
";

fn understood(platform: Platform, interface: Option<&str>) -> Value {
    let u = ConfigImporter::default()
        .understand("r.cfg", CONFIG.as_bytes(), platform, interface)
        .unwrap_or_else(|e| panic!("{e}"));
    serde_json::to_value(u).unwrap()
}

fn at<'v>(v: &'v Value, path: &str) -> &'v Value {
    v.pointer(path)
        .unwrap_or_else(|| panic!("no {path} in {v}"))
}

#[test]
fn the_tree_of_an_interface_has_rates_in_bits_per_second() {
    let u = understood(Platform::Ios, Some("gi0/1.20"));
    let interface = at(&u, "/interfaces/0");
    assert_eq!(interface["name"], "GigabitEthernet0/1.20");
    assert_eq!(interface["rate"], 100_000_000);
    assert_eq!(
        interface["rate_from"],
        "the bandwidth command of the main interface"
    );
    let shaped = at(interface, "/policy/classes/0");
    assert_eq!(at(shaped, "/shape/rate"), 50_000_000);
    let classes = at(shaped, "/classes");
    // Of the shaped 50 Mb/s: 20 %, 30 %, and the half that is left.
    for (i, mbps) in [(0, 10), (1, 15), (2, 25)] {
        assert_eq!(classes[i]["guaranteed"], mbps * 1_000_000, "{}", classes[i]);
    }
    let voice = &classes[0];
    assert_eq!(voice["condition"], "dscp ef");
    assert_eq!(at(voice, "/notes/0"), "not modelled: match vlan 5 (line 3)");
    // 200 ms at 10 Mb/s.
    assert_eq!(at(voice, "/priority_policer/burst"), 250_000);
    // 250 ms at 1 Mb/s.
    assert_eq!(at(&classes[1], "/police/burst"), 31_250);
    assert_eq!(at(&u, "/unmodelled/0/line"), 3);
}

#[test]
fn without_an_interface_those_with_a_policy_are_listed() {
    let u = understood(Platform::Ios, None);
    let all = u["interfaces"].as_array().unwrap();
    let names: Vec<&str> = all.iter().map(|i| i["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["GigabitEthernet0/1.20", "Serial0/0"]);
    assert_eq!(at(&all[0], "/policy/classes").as_array().unwrap().len(), 0);
    assert_eq!(at(&all[1], "/policy/limit"), "200 packets");
}

#[test]
fn an_unknown_interface_is_an_error_with_the_names() {
    let read = |name| {
        ConfigImporter::default()
            .understand("r.cfg", CONFIG.as_bytes(), Platform::Ios, Some(name))
            .unwrap_err()
    };
    let e = &read("Gi0/9").0[0];
    assert_eq!((e.code, e.file.as_str()), ("E0716", "r.cfg"));
    assert!(
        e.hint
            .as_deref()
            .is_some_and(|h| h.contains("GigabitEthernet0/"))
    );
    let none = understood(Platform::Ios, Some("GigabitEthernet0/2"));
    assert_eq!(at(&none, "/interfaces/0/policy"), &Value::Null);
}

/// Ten classes that each hold ten that each hold ten ...: nothing walks them.
#[test]
fn policies_that_multiply_are_refused() {
    let mut text: String = (0..10)
        .map(|c| format!("class-map C{c}\n match dscp {c}\n"))
        .collect();
    for level in 0..8 {
        text += &format!("policy-map P{level}\n");
        for c in 0..10 {
            text += &format!(" class C{c}\n  shape average 1000000\n");
            if level < 7 {
                text += &format!("  service-policy P{}\n", level + 1);
            }
        }
    }
    text += "interface Gi0/0\n bandwidth 1000\n service-policy output P0\n";
    let understand = |interface| {
        ConfigImporter::default().understand("r.cfg", text.as_bytes(), Platform::Ios, interface)
    };
    assert_eq!(understand(Some("Gi0/0")).unwrap_err().0[0].code, "E0702");
    assert_eq!(understand(None).unwrap_err().0[0].code, "E0702");
}

/// An access list that permits nothing is said, with the line that names it.
#[test]
fn access_lists_without_a_permit_are_warned_of() {
    let text = "class-map A\n match access-group name L\nip access-list extended L\n deny ip any any\npolicy-map P\n class A\n";
    let (imported, _) = ConfigImporter::default()
        .read("r.cfg", text.as_bytes(), Platform::Ios)
        .unwrap();
    let w = &imported.warnings[0];
    assert_eq!((w.code, w.line, w.column), ("W0702", Some(2), Some(26)));
}

/// Queue limits and policers by platform, each from the sources that the table names.
#[test]
fn platforms_differ_where_the_table_says() {
    let child = |platform| {
        let u = understood(platform, Some("GigabitEthernet0/1.20"));
        at(&u, "/interfaces/0/policy/classes/0/classes").clone()
    };
    let limit = |c: &Value| at(c, "/limit").as_str().unwrap().to_owned();
    let fair = |c: &Value| at(c, "/flows").as_str().unwrap().to_owned();

    let ios = child(Platform::Ios);
    assert_eq!(
        [limit(&ios[0]), limit(&ios[1])],
        ["64 packets", "64 packets"]
    );
    assert_eq!(
        (limit(&ios[2]), fair(&ios[2])),
        (
            String::new(),
            "256 conversations, 1000 packets in all; from 64 on one takes only places of others' packets that would leave later".into()
        )
    );

    let hqf = child(Platform::IosHqf);
    assert_eq!(
        (limit(&hqf[2]), at(&hqf[2], "/flow_packets").clone()),
        ("64 packets".into(), 16.into())
    );

    // 50 ms at the shaped 50 Mb/s are 312500 B, 208 packets of 1500 B; a quarter is 52.
    let xe = child(Platform::IosXe);
    assert_eq!(
        [limit(&xe[0]), limit(&xe[1])],
        ["512 packets", "208 packets"]
    );
    let flows = fair(&xe[2]);
    assert!(
        flows.starts_with("16 conversations, 208 packets in all; each at most 52"),
        "{flows}"
    );

    // 10 ms at the 50 Mb/s around the priority class; 100 ms at its own 15 Mb/s for the other.
    let xr = child(Platform::IosXr);
    assert_eq!(
        [limit(&xr[0]), limit(&xr[1])],
        ["62500 B", "100 ms (187.5 kB)"]
    );
    assert_eq!(
        at(&xr[0], "/priority_policer/words"),
        "policer 10 Mb/s (20 %), burst 250000 B: drops what exceeds it"
    );
    let whole = understood(Platform::IosXr, Some("GigabitEthernet0/1.20"));
    assert_eq!(at(&whole, "/interfaces/0/rate"), 1_000_000_000);
    assert_eq!(at(&whole, "/interfaces/0/counted_bytes"), 18);
}

/// What may be reserved, before and after hierarchical queueing.
#[test]
fn reservations_above_what_the_platform_takes_are_warned_of() {
    let text = |percent: u32, max: &str| {
        format!(
            "class-map A\n match dscp 8\npolicy-map P\n class A\n  bandwidth percent {percent}\ninterface Serial0/0\n bandwidth 2000\n{max} service-policy output P\n"
        )
    };
    let warned = |platform, percent, max| {
        let text = text(percent, max);
        let (imported, _) = ConfigImporter::default()
            .read("r.cfg", text.as_bytes(), platform)
            .unwrap();
        let found = imported.warnings.iter().filter(|w| w.code == "W0707");
        found.map(|w| (w.line, w.column)).collect::<Vec<_>>()
    };
    assert_eq!(warned(Platform::IosPreHqf, 75, ""), []);
    assert_eq!(warned(Platform::IosPreHqf, 76, ""), [(Some(8), Some(24))]);
    assert_eq!(
        warned(Platform::IosPreHqf, 90, " max-reserved-bandwidth 90\n"),
        []
    );
    assert_eq!(warned(Platform::IosHqf, 100, ""), []);
    // Releases differ: more than the older ones take is a warning, unless the configuration raises
    // the limit.
    assert_eq!(warned(Platform::Ios, 75, ""), []);
    assert_eq!(warned(Platform::Ios, 76, ""), [(Some(8), Some(24))]);
    for (max, raised) in [
        (80, " max-reserved-bandwidth 80\n"),
        (100, " max-reserved-bandwidth 100\n"),
    ] {
        assert_eq!(warned(Platform::Ios, max, raised), []);
        let text = text(max, raised);
        let (imported, _) = ConfigImporter::default()
            .read("r.cfg", text.as_bytes(), Platform::Ios)
            .unwrap();
        assert_eq!(imported.unmodelled, []);
    }
    let kbps = "class-map A\n match dscp 8\npolicy-map P\n class A\n  bandwidth 2500\ninterface Serial0/0\n bandwidth 2000\n service-policy output P\n";
    let (imported, _) = ConfigImporter::default()
        .read("r.cfg", kbps.as_bytes(), Platform::Ios)
        .unwrap();
    assert_eq!(imported.warnings[0].line, Some(5));
    assert!(
        imported.warnings[0].message.contains("reserve 2.5 Mb/s"),
        "{:?}",
        imported.warnings
    );
}

/// All criteria of a `match-all` class-map hold, EXP bits among them.
#[test]
fn exp_bits_stand_beside_other_criteria() {
    let text = b"access-list 1 permit any\nclass-map match-all A\n match not access-group 1\n match mpls experimental topmost 5\npolicy-map P\n class A\n  bandwidth percent 10\n";
    let (imported, _) = ConfigImporter::default()
        .read("r.cfg", text, Platform::Ios)
        .unwrap();
    let spec = serde_json::to_value(&imported.policies["P"]).unwrap();
    let matching = &spec["class-based"]["classes"][0]["match"];
    assert_eq!(matching["exp"], 5, "{matching}");
    assert!(matching["not"]["acl"].is_array(), "{matching}");
}

/// Nested `police cir percent` and `shape average percent`: of the parent's shaper or policer, and
/// of the interface where the parent has `bandwidth` only (Cisco IOS QoS command reference,
/// `police (percent)`, "Bandwidth and Hierarchical Policy Maps", both of its examples).
#[test]
fn nested_percentages_are_of_the_maximum_around_them() {
    let of = |parent: &str, bandwidth: u64, percent: u64| {
        let text = format!(
            "class-map P\n match dscp 8\nclass-map C\n match dscp 8\npolicy-map CHILD\n class C\n  police cir percent {percent}\n  shape average percent {percent}\npolicy-map PARENT\n class P\n  {parent}\n  service-policy CHILD\ninterface Serial4/0\n bandwidth {bandwidth}\n service-policy output PARENT\n"
        );
        let u = ConfigImporter::default()
            .understand("r.cfg", text.as_bytes(), Platform::Ios, Some("Serial4/0"))
            .unwrap_or_else(|e| panic!("{e}"));
        let u = serde_json::to_value(u).unwrap();
        let class = at(&u, "/interfaces/0/policy/classes/0/classes/0").clone();
        assert_eq!(at(&class, "/police/rate"), at(&class, "/shape/rate"));
        at(&class, "/police/rate").as_u64().unwrap()
    };
    assert_eq!(of("shape average 512000", 1500, 30), 153_600);
    assert_eq!(of("bandwidth 512", 1500, 30), 450_000);
    assert_eq!(of("police cir 10000000", 100_000, 15), 1_500_000);
    assert_eq!(of("bandwidth remaining percent 50", 1500, 30), 450_000);
    assert_eq!(of("set dscp 8", 1500, 30), 450_000);
}

/// Every threshold of WRED in force, with the platform's defaults: on IOS XE shares of the queue
/// limit (recorded: github.com/CiscoTestAutomation/genieparser, `ShowPolicyMapInterface`).
#[test]
fn thresholds_in_force_are_said() {
    let text = "class-map A\n match dscp 8\npolicy-map P\n class A\n  bandwidth percent 10\n  queue-limit 562500 bytes\n  random-detect\n  random-detect precedence 4 150 bytes 300 bytes 15\n class class-default\n  random-detect dscp-based\ninterface Gi0/0\n bandwidth 50000\n service-policy output P\n";
    let of = |platform, class: usize| {
        let u = ConfigImporter::default()
            .understand("r.cfg", text.as_bytes(), platform, Some("Gi0/0"))
            .unwrap_or_else(|e| panic!("{e}"));
        let u = serde_json::to_value(u).unwrap();
        let path = format!("/interfaces/0/policy/classes/{class}/thresholds");
        at(&u, &path).as_array().unwrap().clone()
    };
    let shown = |t: &Value| t["words"].as_str().unwrap().to_owned();
    let xe: Vec<String> = of(Platform::IosXe, 0).iter().map(shown).collect();
    assert_eq!(
        xe,
        [
            "precedence 0: 140625 to 281250 B, up to 10 % (default)",
            "precedence 1: 158203 to 281250 B, up to 10 % (default)",
            "precedence 2: 175781 to 281250 B, up to 10 % (default)",
            "precedence 3: 193359 to 281250 B, up to 10 % (default)",
            "precedence 4: 150 to 300 B, up to 6.667 %",
            "precedence 5: 228515 to 281250 B, up to 10 % (default)",
            "precedence 6: 246093 to 281250 B, up to 10 % (default)",
            "precedence 7: 263671 to 281250 B, up to 10 % (default)",
        ]
    );
    // 50 ms at 50 Mb/s are 208 packets of 1500 B.
    let packets: Vec<String> = of(Platform::IosXe, 1).iter().map(shown).collect();
    assert!(
        packets[0].starts_with("DSCP default, ")
            && packets[0].ends_with(": 52 to 104 packets, up to 10 % (default)")
    );
    assert!(
        packets.contains(&"DSCP cs1: 58 to 104 packets, up to 10 % (default)".to_owned()),
        "{packets:?}"
    );
    // On IOS whatever the limit, 1000 B for each packet.
    let ios: Vec<String> = of(Platform::Ios, 0).iter().map(shown).collect();
    assert_eq!(
        (ios[0].as_str(), ios[7].as_str()),
        (
            "precedence 0: 20000 to 40000 B, up to 10 % (default)",
            "precedence 7: 35000 to 40000 B, up to 10 % (default)"
        )
    );
}

/// `speed` of a port is its rate, unless `bandwidth` says another; on IOS XR always.
#[test]
fn the_speed_of_a_port_decides_its_rate() {
    let of = |lines: &str, name: &str, platform| {
        let text = format!(
            "class-map A\n match dscp 8\npolicy-map P\n class A\n  bandwidth percent 10\n{lines}interface {name}\n service-policy output P\n"
        );
        let u = ConfigImporter::default()
            .understand("r.cfg", text.as_bytes(), platform, Some(name))
            .unwrap_or_else(|e| panic!("{e}"));
        let u = serde_json::to_value(u).unwrap();
        let warned = u["warnings"].as_array().unwrap().len();
        let i = at(&u, "/interfaces/0");
        let from = i["rate_from"].as_str().unwrap().to_owned();
        (i["rate"].as_u64().unwrap() / 1_000_000, from, warned)
    };
    let speed = "the speed of its port".to_owned();
    let gi = "interface GigabitEthernet0/1\n";
    let (port, sub) = ("GigabitEthernet0/1", "GigabitEthernet0/1.20");
    let ios = Platform::Ios;
    let fixed = format!("{gi} duplex full\n speed 100\n");
    assert_eq!(of(&fixed, port, ios), (100, speed.clone(), 0));
    assert_eq!(of(&fixed, sub, ios), (100, speed.clone(), 0));
    assert_eq!(
        of(&format!("{fixed} bandwidth 20000\n"), port, ios),
        (20, "its bandwidth command".to_owned(), 0)
    );
    assert_eq!(
        of(&format!("{fixed} bandwidth 20000\n"), port, Platform::IosXr),
        (100, speed.clone(), 0)
    );
    assert_eq!(
        of(&format!("{fixed} bandwidth 20000\n"), sub, ios).1,
        "the bandwidth command of the main interface"
    );
    let type_only = (
        1000,
        "no bandwidth command; the default of its type".to_owned(),
        1,
    );
    for lines in [
        " speed auto\n",
        " speed auto 10 100\n",
        " speed 100\n no speed\n",
        " speed nonegotiate\n",
    ] {
        assert_eq!(of(&format!("{gi}{lines}"), port, ios), type_only, "{lines}");
    }
    // A line in b/s.
    let serial = "interface Serial0/0\n speed 9600\n";
    assert_eq!(of(serial, "Serial0/0", ios).1, type_only.1);
}

/// `drop` drops what belongs to the class, whatever else is in it.
#[test]
fn a_class_that_drops_is_said_to() {
    let text = "class-map A\n match dscp 8\npolicy-map P\n class A\n  drop\n  police 8000\ninterface Gi0/0\n bandwidth 1000\n service-policy output P\n";
    let u = ConfigImporter::default()
        .understand("r.cfg", text.as_bytes(), Platform::Ios, Some("Gi0/0"))
        .unwrap();
    let u = serde_json::to_value(u).unwrap();
    let class = at(&u, "/interfaces/0/policy/classes/0");
    assert_eq!(at(class, "/marks/0"), "drops every packet");
    assert_eq!(class["police"], Value::Null);
    assert_eq!(at(&u, "/unmodelled/0/line"), 6);
    let (imported, _) = ConfigImporter::default()
        .read("r.cfg", text.as_bytes(), Platform::Ios)
        .unwrap();
    let spec = serde_json::to_value(&imported.policies["P"]).unwrap();
    let police = at(&spec, "/class-based/classes/0/police");
    assert_eq!(
        (&police["conform"], &police["exceed"]),
        (&"drop".into(), &"drop".into())
    );
}
