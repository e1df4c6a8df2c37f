//! Weighted tail drop: limits of one queue by DSCP.

use crate::common::{build, packet, resolve};
use proptest::prelude::*;
use spillgate_core::{Drops, Dscp, Packet, Rng, Time};
use spillgate_queueing::{Cause, Discipline};

fn dscp(name: &str) -> Dscp {
    name.parse().unwrap()
}

fn marked(name: &str, len: u16) -> Packet {
    Packet {
        dscp: dscp(name),
        ..packet(0, 0, len)
    }
}

/// Offers a packet at time 0; why it was dropped, if it was.
fn offer(d: &mut Discipline, p: Packet) -> Option<Cause> {
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    d.enqueue(Time::ZERO, p, &mut rng, &mut drops);
    let lost = drops.as_slice().first()?;
    assert_eq!(lost.reason.metric(), "drops_tail");
    Some(d.evidence(Time::ZERO, lost).cause)
}

fn class(limits: &str) -> Discipline {
    let json = format!(
        r#"{{"main": {{"class-based": {{"classes": [
            {{"name": "a", "match": {{}}, "bandwidth": "40 %", {limits}}}]}}}}}}"#
    );
    build(&json, 1_000_000)
}

/// All packets of the queue count, and the queue's own limit holds for all.
#[test]
fn a_threshold_is_compared_with_the_whole_queue() {
    let mut d = class(
        r#""queue_limit": "8 packets", "queue_limit_dscp": {"af33": "3 packets", "af32": "5 packets"}"#,
    );
    for _ in 0..2 {
        assert_eq!(offer(&mut d, marked("af31", 100)), None);
    }
    assert_eq!(offer(&mut d, marked("af33", 100)), None);
    let Some(Cause::Threshold { dscp: of, limit }) = offer(&mut d, marked("af33", 100)) else {
        panic!("three wait, one of them af33");
    };
    assert_eq!(
        (of, limit.packets, limit.bytes),
        (dscp("af33"), Some(3), None)
    );
    for _ in 0..2 {
        assert_eq!(offer(&mut d, marked("af32", 100)), None);
    }
    assert!(offer(&mut d, marked("af32", 100)).is_some());
    for _ in 0..3 {
        assert_eq!(offer(&mut d, marked("ef", 100)), None);
    }
    // The queue itself is full, for af33 too.
    for name in ["ef", "af33"] {
        assert_eq!(
            offer(&mut d, marked(name, 100)),
            Some(Cause::Plain),
            "{name}"
        );
    }
    assert_eq!(d.backlog_packets(), 8);
}

/// 20 ms at the guaranteed 400 kb/s are 1000 B; precedence 2 holds where no DSCP is named.
#[test]
fn times_count_at_the_guaranteed_rate_and_dscp_goes_before_precedence() {
    let mut d = class(
        r#""queue_limit_dscp": {"af23": "20 ms"}, "queue_limit_precedence": {"2": "1500 B"}"#,
    );
    assert_eq!(offer(&mut d, marked("ef", 400)), None);
    assert_eq!(offer(&mut d, marked("af23", 600)), None);
    assert!(offer(&mut d, marked("af23", 1)).is_some());
    assert_eq!(offer(&mut d, marked("cs2", 500)), None);
    assert!(offer(&mut d, marked("af21", 1)).is_some());
    assert_eq!(offer(&mut d, marked("ef", 1)), None);
}

/// A labelled packet goes by its EXP bits, as everywhere in a queue.
#[test]
fn labelled_packets_go_by_their_exp_bits() {
    let mut d = class(r#""queue_limit_precedence": {"1": "1 packets"}"#);
    let mut labelled = marked("ef", 100);
    labelled.labels.push(1);
    assert_eq!(offer(&mut d, labelled), None);
    assert!(offer(&mut d, labelled).is_some());
    assert_eq!(offer(&mut d, marked("ef", 100)), None);
}

#[test]
fn what_cannot_be_is_said_with_its_place() {
    let error = |limits: &str| {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [
                {{"name": "a", "match": {{}}, {limits}}}]}}}}}}"#
        );
        let e = resolve(&json, 1_000_000).map(|_| ()).unwrap_err();
        (e.path.rsplit_once("].").unwrap().1.to_owned(), e.message)
    };
    let (path, message) = error(r#""queue_limit_dscp": {"ef": "0 packets"}"#);
    assert_eq!(
        (path.as_str(), message.as_str()),
        ("queue_limit_dscp.ef", "nothing fits into it")
    );
    let (path, _) = error(r#""queue_limit_precedence": {"8": "1 packets"}"#);
    assert_eq!(path, "queue_limit_precedence.8");
    let (path, message) = error(r#""queue_limit_dscp": {"ef": "1 packets"}, "policy": "x""#);
    assert_eq!(path, "queue_limit_dscp");
    assert!(message.contains("nested policy"), "{message}");
}

proptest! {
    /// Against a model of three lines: whatever waits, a packet is queued if and only if it fits
    /// under both limits.
    #[test]
    fn a_packet_is_queued_if_it_fits_under_both_limits(
        arrivals in proptest::collection::vec((0..3_usize, 40..1500_u16), 1..200),
        limit in 1..40_u32,
        own in proptest::array::uniform3(1..40_u32),
    ) {
        let names = ["af11", "af12", "af13"];
        let thresholds: Vec<_> = names.iter().zip(own).map(|(n, t)| format!(r#""{n}": "{t} packets""#)).collect();
        let mut d = class(&format!(
            r#""queue_limit": "{limit} packets", "queue_limit_dscp": {{{}}}"#,
            thresholds.join(",")
        ));
        let mut waiting = 0;
        for (kind, len) in arrivals {
            let fits = waiting < limit && waiting < own[kind];
            prop_assert_eq!(offer(&mut d, marked(names[kind], len)).is_none(), fits);
            waiting += u32::from(fits);
        }
        prop_assert_eq!(d.backlog_packets(), waiting);
    }
}
