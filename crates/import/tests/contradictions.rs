//! One line that a router would refuse costs that line, and no other.

use spillgate_import::ConfigImporter;
use spillgate_queueing::spec::{ClassSpec, DisciplineSpec};
use spillgate_scenario::{Imported, Platform};

fn read(text: &str, platform: Platform) -> Imported {
    match ConfigImporter::default().read("r.cfg", text.as_bytes(), platform) {
        Ok((imported, _)) => imported,
        Err(e) => panic!("{e}\n{text}"),
    }
}

fn class<'i>(imported: &'i Imported, policy: &str, name: &str) -> &'i ClassSpec {
    let DisciplineSpec::ClassBased(spec) = &imported.policies[policy] else {
        panic!("not class-based");
    };
    spec.classes.iter().find(|c| c.name == name).unwrap()
}

const HEAD: &str = "class-map match-any V\n match dscp ef\nclass-map match-any D\n match dscp af21\npolicy-map P\n";

/// On IOS XR a class with priority may be shaped; elsewhere the second of the two is refused.
#[test]
fn a_shaped_priority_class_is_ios_xr() {
    let text = format!(
        "{HEAD} class V\n  priority level 1\n  shape average 10 mbps\n class D\n  bandwidth percent 10\n"
    );
    for platform in Platform::ALL {
        let imported = read(&text, platform);
        let v = class(&imported, "P", "V");
        let left_out: Vec<_> = imported
            .warnings
            .iter()
            .filter(|w| w.code == "W0709")
            .collect();
        assert!(v.priority.is_some() && class(&imported, "P", "D").bandwidth.is_some());
        if platform == Platform::IosXr {
            assert_eq!(v.shape.as_ref().unwrap().rate.to_string(), "10 Mb/s");
            assert!(left_out.is_empty(), "{left_out:?}");
        } else {
            assert!(v.shape.is_none());
            assert_eq!(left_out[0].line, Some(8), "{left_out:?}");
        }
    }
}

/// Of two lines that exclude each other the one that comes first stays, in whatever order; what
/// stands around them stays in every case.
#[test]
fn the_line_that_comes_second_is_left_out() {
    for (other, key) in [
        ("bandwidth 100", "bandwidth"),
        ("bandwidth remaining percent 5", "bandwidth_remaining"),
        ("shape average 1000000", "shape"),
        ("random-detect", "aqm"),
        ("fair-queue", "fair_queue"),
    ] {
        for (first, second) in [("priority 50", other), (other, "priority 50")] {
            let text = format!(
                "{HEAD} class V\n  {first}\n  set dscp cs5\n  {second}\n class D\n  bandwidth 200\ninterface Serial0/0\n bandwidth 2000\n service-policy output P\n"
            );
            let imported = read(&text, Platform::Ios);
            let w = &imported.warnings[0];
            assert_eq!(
                (imported.warnings.len(), w.code, w.line),
                (1, "W0709", Some(9)),
                "{text}"
            );
            let v = serde_json::to_value(class(&imported, "P", "V")).unwrap();
            assert_eq!(v.get("priority").is_some(), first == "priority 50", "{v}");
            assert_eq!(v.get(key).is_some(), first == other, "{v}");
            assert!(v.get("set_dscp").is_some());
            assert!(class(&imported, "P", "D").bandwidth.is_some());
            assert!(imported.interfaces["Serial0/0"].output_policy.is_some());
            let strict = ConfigImporter { strict: true };
            let errors = strict
                .read("r.cfg", text.as_bytes(), Platform::Ios)
                .unwrap_err();
            assert_eq!((errors.0.len(), errors.0[0].code), (1, "E0713"));
        }
    }
}

/// Whatever line contradicts another, the rest of the file is read: each with the code that it has
/// where nothing may stand in.
#[test]
fn no_contradiction_ends_the_file() {
    for (lines, code) in [
        (
            "policy-map P\n class class-default\n  priority 100\n",
            "E0713",
        ),
        (
            "policy-map P\n class V\n  bandwidth percent 60\n class D\n  bandwidth percent 41\n",
            "E0707",
        ),
        (
            "policy-map P\n class V\n  bandwidth remaining percent 60\n class D\n  bandwidth remaining percent 41\n",
            "E0707",
        ),
        ("class-map match-all V\n match dscp 1\n", "E0713"),
        ("class-map match-any V\n match class-map V\n", "E0711"),
        ("policy-map P\n class V\n  service-policy P\n", "E0712"),
        (
            "interface Serial0/0\n service-policy output Q\n service-policy output P\n",
            "E0714",
        ),
        (
            "object-group network G\n host 10.0.0.1\n group-object G\nip access-list extended L\n permit ip object-group G any\nclass-map match-any V\n match access-group name L\n",
            "E0724",
        ),
        ("banner motd #\nwelcome\n", "E0703"),
        ("macro name X\n no such\n", "E0703"),
    ] {
        let text = format!(
            "{HEAD} class V\n  set dscp cs5\npolicy-map Q\n class D\n  bandwidth 77\n{lines}interface Serial0/1\n bandwidth 1000\n service-policy output Q\n"
        );
        let imported = read(&text, Platform::Ios);
        assert!(
            imported.interfaces["Serial0/1"].output_policy.is_some(),
            "{text}"
        );
        assert!(class(&imported, "Q", "D").bandwidth.is_some(), "{text}");
        let left_out = imported
            .warnings
            .iter()
            .filter(|w| w.code == "W0709")
            .count();
        assert_eq!(left_out, 1, "{text}{:?}", imported.warnings);
        let strict = ConfigImporter { strict: true };
        let errors = strict
            .read("r.cfg", text.as_bytes(), Platform::Ios)
            .unwrap_err();
        assert!(errors.0.iter().any(|e| e.code == code), "{errors}");
    }
}
