//! Lists that links share.

use spillgate_core::{Packet, Rate};

use super::link::{Link, recipe};
use super::traffic::ms;
use crate::SharedLists;
use crate::spec::FanSpec;

fn rate() -> Rate {
    Rate::from_bps(1_000_000).unwrap()
}

fn spec(more: &str) -> FanSpec {
    // Congested from the first tick on after any load.
    let json = format!(
        r#"{{"min_fair_rate": "99 %", "max_priority_load": "0 %", "protected_list": "all"{more}}}"#
    );
    serde_json::from_str(&json).unwrap()
}

/// Two links of one world; the second is congested.
fn pair(more: &str) -> (Link, Link, SharedLists) {
    let mut lists = SharedLists::new();
    let first = Link::sharing(&spec(more), rate(), &mut lists);
    let mut second = Link::sharing(&spec(more), rate(), &mut lists);
    for seq in 0..8 {
        second.arrive(ms(440), Packet::new(9, seq, 1500));
    }
    (first, second, lists)
}

#[test]
fn a_flow_that_one_link_admitted_passes_the_others() {
    let (mut first, mut second, _lists) = pair("");
    first.arrive(ms(100), Packet::new(1, 0, 100));
    assert!(second.state(ms(510)).congested);
    second.arrive(ms(510), Packet::new(1, 1, 100));
    second.arrive(ms(510), Packet::new(2, 0, 100));
    let waits = second.waits(ms(510));
    let seen: Vec<_> = waits
        .iter()
        .map(|w| (w.flow, w.admitted, w.admissions))
        .collect();
    assert_eq!(
        seen,
        [(1, Some(ms(510)), 0), (2, None, 0), (9, Some(ms(440)), 1)]
    );
    assert_eq!(first.state(ms(510)).listed, 2, "both of both");
    // The link that listed it tells of its end.
    let late = ms(21_000);
    assert_eq!(
        (
            first.waits(late)[0].timeouts,
            second.waits(late)[0].timeouts
        ),
        (1, 0)
    );
}

#[test]
fn a_mechanism_removes_what_its_own_link_backlogged() {
    for mechanism in [
        r#", "mechanism": {"efm": {}}"#,
        r#", "mechanism": {"raef": {"active_time": "1 ms"}}"#,
        r#", "mechanism": {"rbaef": {"active_time": "1 ms"}}"#,
        r#", "mechanism": {"efm": {}}, "elastic": "instant""#,
    ] {
        let (mut first, mut second, _lists) = pair(mechanism);
        // Flow 5 is elastic at the first link, flow 9 at the second.
        for seq in 0..8 {
            first.arrive(ms(490), Packet::new(5, seq, 1500));
        }
        assert_eq!(first.state(ms(495)).listed, 2);
        second.arrive(ms(510), Packet::new(2, 0, 100));
        let state = second.state(ms(510));
        assert_eq!((state.flushes, state.listed), (1, 1), "{mechanism}");
        first.arrive(ms(511), Packet::new(5, 8, 1500));
        assert_eq!(first.waits(ms(511))[0].refused_total, 0, "{mechanism}");
        let nine = second.waits(ms(511))[1];
        assert_eq!((nine.flow, nine.removals), (9, 1), "{mechanism}");
        // Flow 9 comes back over the other link, which has not blocked it and has not had a tick
        // with load.
        let blocked = u32::from(mechanism.contains("rbaef"));
        assert_eq!(
            (first.state(ms(512)).blocked, second.state(ms(512)).blocked),
            (0, blocked)
        );
    }
}

#[test]
fn a_flow_that_two_links_backlog_is_elastic_at_the_last() {
    let (mut first, mut second, _lists) = pair(r#", "mechanism": {"efm": {}}"#);
    for seq in 8..16 {
        first.arrive(ms(480), Packet::new(9, seq, 1500));
    }
    second.arrive(ms(510), Packet::new(2, 0, 100));
    assert_eq!(
        second.state(ms(510)).listed,
        1,
        "its mark is the first link's now"
    );
    first.arrive(ms(510), Packet::new(3, 0, 100));
    assert_eq!(first.state(ms(510)).listed, 0);
    assert_eq!(
        (
            first.waits(ms(511))[1].removals,
            second.waits(ms(511))[1].removals
        ),
        (1, 0)
    );
}

#[test]
fn copies_and_other_worlds_share_nothing() {
    let (mut first, mut second, _lists) = pair("");
    first.arrive(ms(100), Packet::new(1, 0, 100));
    let copy = second.discipline.clone();
    first.arrive(ms(200), Packet::new(3, 0, 100));
    assert_eq!(second.state(ms(300)).listed, 3);
    assert_eq!(copy.admission(ms(300)).unwrap().listed, 2);
    // Nor does the recipe remember anything.
    let recipe = recipe(&spec(""), rate());
    let mut lists = SharedLists::new();
    let flows = std::sync::Arc::from([]);
    let one = recipe.build_sharing(&flows, &mut lists);
    let alone = recipe.build(&flows);
    let other = recipe.build_sharing(&flows, &mut SharedLists::new());
    for d in [one, alone, other] {
        assert_eq!(d.admission(ms(0)).unwrap().listed, 0);
    }
}
