//! The protected flow list by itself: a million flows, and the work that a flush leaves.

use super::*;

const N: u32 = 100_000;

fn at(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

/// A list of one link with `N` flows, admitted a microsecond apart, all of them elastic.
fn full(max: Option<u32>) -> (FlowList, u16) {
    let mut list = FlowList::new(Dur::from_secs(20), max, false);
    let member = list.join(false);
    for flow in 0..N {
        let now = Time::from_ps(u64::from(flow) * 1_000_000);
        assert!(list.insert(now, member, flow));
        assert!(list.mark(member, flow));
    }
    (list, member)
}

/// A flush touches no flow, and no packet after it more than a few.
#[test]
fn a_flush_of_many_flows_is_no_work() {
    let (mut list, member) = full(None);
    let before = list.work();
    list.flush(at(200), member);
    assert_eq!(list.work(), before);
    assert_eq!(list.listed(at(200)), 0);
    let mut most = 0;
    for flow in (0..N).step_by(3) {
        let before = list.work();
        assert!(!list.refresh(at(300), flow));
        assert!(list.insert(at(300), member, flow));
        most = most.max(list.work() - before);
    }
    // It is unlinked itself, and two others with it.
    assert!(most <= 3, "{most}");
    assert_eq!(list.listed(at(300)), N.div_ceil(3));
    let removals: u32 = list.waits(at(300), member).iter().map(|w| w.removals).sum();
    assert_eq!(removals, 0, "nobody was offered a packet");
    assert!((0..N).all(|f| list.records[0].of(f).removals <= 1));
}

/// Time-outs cost each flow one step, a bounded number per packet.
#[test]
fn time_outs_are_amortized() {
    let (mut list, member) = full(None);
    let mut most = 0;
    for flow in 0..N {
        let before = list.work();
        assert!(!list.refresh(at(30_000), N + flow));
        assert!(list.insert(at(30_000), member, N + flow));
        most = most.max(list.work() - before);
    }
    assert!(most <= 2, "{most}");
    assert_eq!(list.size, N);
    assert!((0..N).all(|f| list.records[0].of(f).timeouts == 1));
}

/// Without a limit a flow that sends all the time is relinked sixteen times in a time-out.
#[test]
fn few_packets_relink() {
    let (mut list, member) = full(None);
    list.insert(at(100), member, N);
    let before = list.work();
    for ms in 101..20_100 {
        assert!(list.refresh(at(ms), 7) && list.refresh(at(ms), 8));
    }
    // Two flows; a power of two at most twice as short as a sixteenth.
    let relinked = (list.work() - before) / 2;
    assert!((15..=33).contains(&relinked), "{relinked}");
}

/// With a limit, a flow that is silent for too long makes room, wherever it lies.
#[test]
fn room_is_exact() {
    let (mut list, member) = full(Some(N));
    assert!(!list.insert(at(200), member, N));
    // All but one show up; with 20 s of silence that one still has its place.
    for flow in (0..N).filter(|f| *f != 5000) {
        assert!(list.refresh(at(10_000), flow));
    }
    let silent = Time::from_ps(5_000_000_000) + Dur::from_secs(20);
    assert!(!list.insert(silent, member, N));
    assert!(list.insert(silent + Dur::from_ps(1), member, N));
    // What was flushed has none.
    list.flush(at(21_000), member);
    assert_eq!(list.listed(at(21_000)), 1);
    for flow in 0..N - 1 {
        assert!(list.insert(at(21_000), member, N + 1 + flow));
    }
    assert!(!list.insert(at(21_000), member, 3 * N));
}

#[test]
fn the_books_of_a_flow_take_20_bytes() {
    let list = FlowList::new(Dur::from_secs(20), None, false);
    let record = std::mem::size_of::<Record>() as u64;
    assert_eq!(list.memory_bytes(1_000_000), 1_000_000 * (20 + record));
    assert_eq!(record, 48);
}
