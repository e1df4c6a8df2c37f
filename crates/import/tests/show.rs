//! Outputs of `show policy-map interface`.

use proptest::prelude::*;
use spillgate_core::Dscp;
use spillgate_import::{is_show_output, offered};
use spillgate_scenario::offered::{Offered, OfferedClass};

const BRANCH: &str = include_str!("show/branch.txt");

fn read(text: &str) -> Offered {
    offered("show.txt", text.as_bytes()).unwrap()
}

fn problem(text: &str) -> (Option<u32>, String) {
    let e = offered("show.txt", text.as_bytes()).unwrap_err();
    (e.0[0].line, e.0[0].message.clone())
}

/// Every number of the output, told from those of statements, other interfaces and queues.
#[test]
fn every_class_has_its_numbers() {
    let all = read(BRANCH);
    let heads: Vec<_> = all
        .policies
        .iter()
        .map(|p| {
            let classes = p.classes.len();
            (
                p.interface.as_str(),
                p.direction,
                p.policy.as_str(),
                p.framing,
                classes,
            )
        })
        .collect();
    assert_eq!(
        heads,
        [
            ("GigabitEthernet0/0", "input", "MARK", Some(14), 2),
            ("GigabitEthernet0/0", "output", "SHAPE-2M", Some(14), 6),
            ("Serial0/1/0", "output", "OLD", Some(4), 2),
        ]
    );
    let rows: Vec<_> = all.policies[1]
        .classes
        .iter()
        .map(|c| {
            let rates = (c.offered_bps.unwrap(), c.drop_bps.unwrap());
            (
                c.name.as_str(),
                c.within.len(),
                rates,
                c.queue_depth,
                c.total_drops,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (
                "class-default",
                0,
                (1_890_000, 46_000),
                Some(3),
                Some(41_234)
            ),
            ("VOICE", 1, (740_000, 0), None, Some(12)),
            ("VIDEO", 1, (500_000, 6_000), Some(2), Some(1_200)),
            ("BUSINESS", 1, (150_000, 0), Some(0), Some(0)),
            ("SCAVENGER", 1, (0, 0), None, None),
            ("class-default", 1, (500_000, 40_000), Some(1), Some(40_022)),
        ]
    );
    let class = |i: usize, j: usize| -> &OfferedClass { &all.policies[i].classes[j] };
    assert_eq!(class(1, 0).child.as_deref(), Some("WAN"));
    assert_eq!(
        class(1, 2).dscp,
        [Dscp::af(4, 1).unwrap(), Dscp::af(4, 2).unwrap()]
    );
    assert_eq!(class(1, 2).mean_packet(), Some(1214.0));
    assert_eq!(class(1, 4).mean_packet(), None);
    assert_eq!(class(1, 3).matches, ["access-group 101"]);
    let gold = class(2, 0);
    assert_eq!((gold.interval_s, gold.offered_bps), (Some(30), Some(8_000)));
    assert_eq!(gold.dscp, [Dscp::new(40).unwrap()]);
    assert_eq!((gold.total_drops, gold.no_buffer_drops), (Some(7), Some(1)));
    assert!(all.warnings.is_empty());
}

/// Text that lost its indentation on the way says the same.
#[test]
fn indentation_may_be_lost() {
    let flat: String = BRANCH.lines().map(|l| format!("{}\n", l.trim())).collect();
    assert_eq!(read(&flat), read(BRANCH));
    let tabs = BRANCH.replace("        ", "\t");
    assert_eq!(read(&tabs), read(BRANCH));
    let windows = BRANCH.replace('\n', "\r\n");
    assert_eq!(read(&windows), read(BRANCH));
}

#[test]
fn outputs_are_told_from_configurations() {
    assert!(is_show_output(BRANCH.as_bytes()));
    let config = "policy-map WAN\n class VOICE\n  priority 100\ninterface Gi0/0\n service-policy output WAN\n";
    assert!(!is_show_output(config.as_bytes()));
}

#[test]
fn mistakes_are_located() {
    let head = "Gi0/0\n  Service-policy output: WAN\n    Class-map: A (match-any)\n";
    for (text, line, message) in [
        (String::new(), 1, "no policy"),
        ("hostname r1\n".to_owned(), 1, "no policy"),
        (
            "  Class-map: A (match-any)\n".to_owned(),
            1,
            "outside a policy",
        ),
        ("  Service-policy output:\n".to_owned(), 1, "no name"),
        (format!("{head}      Class-map:\n"), 4, "no name"),
        (
            format!("{head}      5 minute offered rate 12\n"),
            4,
            "cut off",
        ),
        (
            format!("{head}      5 minute offered rate 99999999999999999999 bps\n"),
            4,
            "too large",
        ),
        (format!("{head}      12 packets, 1e4 bytes\n"), 4, "cut off"),
        (
            "x\n  Service-policy output: W\n  Service-policy : C\n".to_owned(),
            3,
            "outside a class",
        ),
    ] {
        let (at, what) = problem(&text);
        assert!(
            at == Some(line) && what.contains(message),
            "{text}: {at:?} {what}"
        );
    }
    let deep: String = (0..9)
        .map(|i| {
            let space = "  ".repeat(2 * i);
            format!("{space} Class-map: A{i} (match-any)\n{space}  Service-policy : P{i}\n")
        })
        .collect();
    let (_, what) = problem(&format!("Service-policy output: W\n{deep}"));
    assert!(what.contains("too deeply"), "{what}");
    // Cut off before the rate: said, not refused.
    assert!(
        read(head).warnings[0]
            .message
            .contains("shows no offered rate")
    );
    assert!(offered("show.txt", b"\xff\xfeS\0").is_err());
}

/// Whatever is cut off or mistyped: numbers, or errors with a line.
fn never_fails_silently(text: &[u8]) {
    if let Err(e) = offered("show.txt", text) {
        assert!(e.has_errors());
        assert!(e.0.iter().all(|d| d.line.is_some()), "{e}");
    }
    let _ = is_show_output(text);
}

#[test]
fn every_truncation_ends_well() {
    for end in 0..BRANCH.len() {
        never_fails_silently(&BRANCH.as_bytes()[..end]);
    }
}

proptest! {
    #[test]
    fn corruptions_end_well(at in 0..BRANCH.len(), byte in any::<u8>(), second in 0..BRANCH.len()) {
        let mut text = BRANCH.as_bytes().to_vec();
        text[at] = byte;
        never_fails_silently(&text);
        text[second] = b' ';
        never_fails_silently(&text);
    }

    #[test]
    fn lines_in_any_order_end_well(seed in prop::collection::vec(0_usize..200, 0..60)) {
        let lines: Vec<&str> = BRANCH.lines().collect();
        let text: String = seed.iter().map(|i| format!("{}\n", lines[i % lines.len()])).collect();
        never_fails_silently(text.as_bytes());
    }
}

const CORE: &str = include_str!("show/core.ios-xr.txt");

/// The form of IOS XR: interfaces in the policy's line, nested classes with their policy, kbit/s.
#[test]
fn ios_xr_has_another_form() {
    assert!(is_show_output(CORE.as_bytes()));
    let all = read(CORE);
    assert!(all.warnings.is_empty(), "{:?}", all.warnings);
    let heads = all.policies.iter().map(|p| {
        (
            p.interface.as_str(),
            p.direction,
            p.policy.as_str(),
            p.framing,
        )
    });
    assert_eq!(
        heads.collect::<Vec<_>>(),
        [
            ("TenGigE0/2/0/3", "output", "SHAPE-1G", Some(14)),
            ("Bundle-Ether203.100", "input", "CUSTOMER", Some(18)),
        ]
    );
    let rows: Vec<_> = all.policies[0]
        .classes
        .iter()
        .map(|c| {
            let drops = (c.drop_bps, c.total_drops);
            (
                c.name.as_str(),
                c.within.clone(),
                c.offered_bps,
                drops,
                c.queue_depth,
            )
        })
        .collect();
    let within = vec!["class-default".to_owned()];
    assert_eq!(
        rows,
        [
            (
                "class-default",
                vec![],
                Some(410_000_000),
                (Some(500_000), Some(1000)),
                None
            ),
            (
                "VOICE",
                within.clone(),
                Some(40_000_000),
                (Some(0), Some(0)),
                Some(0)
            ),
            (
                "class-default",
                within,
                Some(370_000_000),
                (Some(500_000), Some(1000)),
                Some(12)
            ),
        ]
    );
    assert_eq!(all.policies[0].classes[0].child.as_deref(), Some("CORE"));
    assert_eq!(all.policies[0].classes[1].mean_packet(), Some(220.0));
    let voice = &all.policies[1].classes[0];
    assert_eq!(
        (voice.packets, voice.offered_bps, voice.drop_bps),
        (Some(638), Some(10_000), None)
    );
    // Without its indentation the same.
    let flat: String = CORE.lines().map(|l| format!("{}\n", l.trim())).collect();
    let names = |o: &Offered| -> Vec<(String, Vec<String>)> {
        let classes = o.policies.iter().flat_map(|p| &p.classes);
        classes
            .map(|c| (c.name.clone(), c.within.clone()))
            .collect()
    };
    assert_eq!(names(&read(&flat)), names(&all));
}

#[test]
fn mistakes_in_ios_xr_are_located() {
    let cut = CORE.replace("638/42108                10", "638/");
    assert_eq!(
        problem(&cut),
        (Some(48), "a number is cut off or too large".to_owned())
    );
    let orphan = "Class VOICE\n";
    assert_eq!(problem(orphan).0, Some(1));
    for end in 0..CORE.len() {
        if let Err(e) = offered("x", &CORE.as_bytes()[..end]) {
            assert!(e.0[0].line.is_some(), "{end}");
        }
    }
}
