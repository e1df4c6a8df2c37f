//! CAKE's ACK filter in plain words, and rows of acknowledgments of which it is known what stays.

use std::collections::BTreeSet;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Acknowledgment, DropReason, Drops, Ecn, Packet, Rng, Time};

use crate::cake::{cake, keys, packet};

/// The bytes of a range.
fn bytes((from, to): (u64, u64)) -> BTreeSet<u64> {
    (from..to).collect()
}

/// Whether dropping `old` loses nothing once `new` is there, and `new` is no duplicate of it.
fn says_no_more(old: &Acknowledgment, new: &Acknowledgment) -> bool {
    if !old.is_pure || old.number > new.number {
        return false;
    }
    if old.stamps[0] > new.stamps[0] || old.stamps[1] > new.stamps[1] {
        return false;
    }
    for block in old.selective() {
        let is_duplicate = block.0 < old.number;
        let kept = new.selective().any(|b| bytes(b).is_superset(&bytes(block)));
        if is_duplicate || !kept {
            return false;
        }
    }
    let all = |a: &Acknowledgment| a.selective().map(|b| bytes(b).len()).sum::<usize>();
    new.number > old.number || all(new) > all(old)
}

/// The place in a queue, without the new packet, of the acknowledgment that goes.
///
/// Those that might go come in pairs, the second being the next one after the first. Of the first
/// pair whose flags no packet of the flow changes the first one goes. Aggressive: where there is no
/// pair, the last packet of the queue, if it might go and has the flags of the new one.
pub(crate) fn goes(
    queue: &[(u32, Option<Acknowledgment>)],
    new: (u32, Option<Acknowledgment>),
    is_aggressive: bool,
) -> Option<usize> {
    let flags = |a: &Acknowledgment| (a.ece, a.cwr);
    let trigger = new.1?;
    let own: Vec<(usize, Acknowledgment)> = queue
        .iter()
        .enumerate()
        .filter(|(_, (flow, _))| *flow == new.0)
        .filter_map(|(at, (_, ack))| Some((at, (*ack)?)))
        .collect();
    let might: Vec<usize> = (0..own.len())
        .filter(|i| says_no_more(&own[*i].1, &trigger))
        .collect();
    for pair in might.windows(2) {
        let row = &own[pair[0]..=pair[1]];
        if row.iter().all(|(_, a)| flags(a) == flags(&row[0].1)) {
            return Some(row[0].0);
        }
    }
    let (at, last) = own[*might.last()?];
    let alone = at + 1 == queue.len() && flags(&last) == flags(&trigger);
    (is_aggressive && alone).then_some(at)
}

/// Acknowledgments of few bytes, so that they often have to do with each other.
pub(crate) fn acks() -> impl Strategy<Value = Acknowledgment> {
    let block = (0_u64..8, 1_u64..4);
    let blocks = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec(block, 1..=3)
    ];
    let flags = prop_oneof![6 => Just((false, false)), 1 => any::<(bool, bool)>()];
    let stamps = prop_oneof![4 => Just((0, 0)), 1 => (0_u64..4, 0_u64..4)];
    (0_u64..6, blocks, flags, stamps, 0_u8..8).prop_map(
        |(number, said, (ece, cwr), (sent, echo), pure)| {
            let mut blocks = [(0, 0); 3];
            for (block, (from, len)) in blocks.iter_mut().zip(said) {
                *block = (from, from + len);
            }
            Acknowledgment {
                blocks,
                stamps: [Time::from_ps(sent), Time::from_ps(echo)],
                is_pure: pure > 0,
                ece,
                cwr,
                ..Acknowledgment::of(number)
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200 * effort()))]

    /// Of rows of two flows that share a queue, too.
    #[test]
    fn agrees_with_plain_words(
        row in prop::collection::vec((0_u32..2, prop::option::weighted(0.95, acks())), 1..60),
        is_aggressive in any::<bool>()
    ) {
        let flows = keys(2);
        let filter = if is_aggressive { "aggressive" } else { "filter" };
        let words = format!(r#""ack_filter": "{filter}", "isolation": "flowblind""#);
        let mut cake = cake(&words, &flows);
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        let now = Time::from_ps(1);
        let mut queue: Vec<(u32, Option<Acknowledgment>)> = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        for (seq, new) in (0..).zip(row) {
            drops.clear();
            let packet = packet(&flows, new.0, seq, 40, 0, Ecn::NotEct);
            cake.enqueue_with(now, packet, new.1.as_ref(), &mut rng, &mut drops);
            let lost: Vec<u32> = drops.as_slice().iter().map(|d| d.packet.seq).collect();
            let gone = goes(&queue, new, is_aggressive);
            prop_assert_eq!(lost, gone.map(|at| numbers[at]).into_iter().collect::<Vec<_>>());
            if let Some(at) = gone {
                queue.remove(at);
                numbers.remove(at);
            }
            queue.push(new);
            numbers.push(seq);
        }
        let mut next = || cake.dequeue(now, &mut rng, &mut drops);
        let left: Vec<u32> = std::iter::from_fn(|| next().map(|p| p.seq)).collect();
        prop_assert_eq!(left, numbers);
    }
}

/// A row of acknowledgments of one flow that comes to an empty CAKE at once: the places in the row
/// of those that are left in the end.
fn left(filter: &str, row: &[Acknowledgment]) -> Vec<u32> {
    let flows = keys(1);
    let mut cake = cake(&format!(r#""ack_filter": "{filter}""#), &flows);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    let now = Time::from_ps(1);
    for (seq, ack) in (0..).zip(row) {
        let packet = packet(&flows, 0, seq, 40, 0, Ecn::NotEct);
        cake.enqueue_with(now, packet, Some(ack), &mut rng, &mut drops);
    }
    assert!(
        drops
            .as_slice()
            .iter()
            .all(|d| d.reason == DropReason::Filtered)
    );
    let lost = drops.as_slice().len();
    let mut next = || cake.dequeue(now, &mut rng, &mut drops);
    let left: Vec<u32> = std::iter::from_fn(|| next().map(|p: Packet| p.seq)).collect();
    assert_eq!(left.len() + lost, row.len());
    left
}

/// What the paper and `tc-cake(8)` say in words.
#[test]
fn the_newest_stay_and_signals_of_loss_and_congestion_do() {
    let of = Acknowledgment::of;
    let row = [of(1), of(2), of(3), of(4), of(5)];
    assert_eq!(left("no", &row), [0, 1, 2, 3, 4]);
    // Two that might go are wanted, so that one of them stays.
    assert_eq!(left("filter", &row), [3, 4]);
    assert_eq!(left("aggressive", &row), [4]);
    // Duplicates.
    let row = [of(1), of(1), of(1), of(1)];
    assert_eq!(left("aggressive", &row), [0, 1, 2, 3]);
    // What comes after them acknowledges more: they may go, one for each.
    let row = [of(1), of(1), of(1), of(2)];
    assert_eq!(left("filter", &row), [1, 2, 3]);
    // Every change of ECE is seen.
    let ece = |n: u64| Acknowledgment { ece: true, ..of(n) };
    let row = [of(1), ece(2), of(3), ece(4), of(5)];
    assert_eq!(left("aggressive", &row), [0, 1, 2, 3, 4]);
    let row = [of(1), of(2), ece(3), ece(4), ece(5), of(6)];
    assert_eq!(left("aggressive", &row), [1, 4, 5]);
    // Data are not dropped, and acknowledge what comes before them.
    let data = Acknowledgment {
        is_pure: false,
        ..of(3)
    };
    assert_eq!(left("aggressive", &[of(1), of(2), data, of(4)]), [2, 3]);
}

/// Selective acknowledgments go once a later one has them, and a report of a duplicate does not.
#[test]
fn selective_acknowledgments_are_not_lost() {
    let sack = |n: u64, blocks: &[(u64, u64)]| {
        let mut of = Acknowledgment::of(n);
        of.blocks[..blocks.len()].copy_from_slice(blocks);
        of
    };
    let growing = [
        sack(1, &[(3, 4)]),
        sack(1, &[(3, 5)]),
        sack(1, &[(3, 6)]),
        sack(1, &[(3, 7)]),
    ];
    assert_eq!(left("filter", &growing), [2, 3]);
    assert_eq!(left("aggressive", &growing), [3]);
    let others = [sack(1, &[(3, 4)]), sack(1, &[(5, 6)]), sack(2, &[(5, 6)])];
    assert_eq!(left("aggressive", &others), [0, 2]);
    // Below its number: a duplicate.
    let twice = [sack(5, &[(3, 4)]), sack(6, &[(3, 4)]), sack(7, &[(3, 4)])];
    assert_eq!(left("aggressive", &twice), [0, 1, 2]);
}
