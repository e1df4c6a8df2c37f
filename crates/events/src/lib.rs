//! The event set: which component wakes next.
//!
//! Every component owns one *slot* and has at most one pending wake, so there
//! are no event objects, no cancellation tokens and no allocation. The order
//! is total and a property of the model, not of the data structure: `(time,
//! rank, hash(time, component path), slot)`. A tie broken by a sequence number
//! would depend on when an implementation files its wakes; a stable hash gives
//! every implementation the same run, favors nobody, and lets each
//! optimization be checked by digest.
//!
//! Two structures implement [`EventSet`]: [`WinnerTree`] (the default) and
//! [`Heap4`] (the checked alternative). Both give the same order.
#![forbid(unsafe_code)]

mod heap4;
mod key;
mod winner_tree;

pub use heap4::Heap4;
pub use key::Key;
pub use spillgate_core::Rank;
pub use winner_tree::WinnerTree;

use spillgate_core::Time;

/// A set of at most one pending wake per slot.
///
/// The caller's loop is [`EventSet::next`], handle, repeat. While the slot that
/// `next` returned is being handled it may be scheduled again; if it is not,
/// it is idle from the following `next` on.
pub trait EventSet {
    /// A set for the components with these path hashes; slot i is the i-th. Those from `busy` on
    /// are expected to be set much more often than those below; the order of wakes does not depend
    /// on it.
    fn new(paths: Vec<u64>, busy: u32) -> Self;

    /// Sets the only wake of `slot`, replacing an earlier one.
    fn schedule(&mut self, slot: u32, at: Time, rank: Rank);

    /// The same for a slot that wakes on behalf of the component with path hash `path`: among the
    /// wakes of an instant this one has its place.
    fn schedule_for(&mut self, slot: u32, at: Time, rank: Rank, path: u64);

    /// Removes the wake of `slot`, if it has one.
    fn cancel(&mut self, slot: u32);

    /// Takes the earliest wake: when and whose; none if all slots are idle.
    fn next(&mut self) -> Option<(Time, u32)>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::Rng;

    fn paths(n: u32) -> Vec<u64> {
        (0..n)
            .map(|i| spillgate_core::rng::hash_bytes(&i.to_le_bytes()))
            .collect()
    }

    const RANKS: [Rank; 5] = [
        Rank::Service,
        Rank::Delivery,
        Rank::Control,
        Rank::Timer,
        Rank::Observer,
    ];

    /// Drives a set with random reschedules and cancels; returns the order of wakes.
    fn trace<S: EventSet>(slots: u32, steps: u32, seed: u64) -> Vec<(Time, u32)> {
        let mut set = S::new(paths(slots), slots / 3);
        let mut rng = Rng::from_key(seed);
        let mut out = Vec::new();
        let schedule = |set: &mut S, rng: &mut Rng, slot: u32, now: u64| {
            // Few distinct times, so that ties are frequent.
            let at = Time::from_ps(now + u64::from(rng.below(4)));
            set.schedule(slot, at, RANKS[rng.below(5) as usize]);
        };
        for slot in 0..slots {
            schedule(&mut set, &mut rng, slot, 0);
        }
        for _ in 0..steps {
            let Some((at, slot)) = set.next() else { break };
            out.push((at, slot));
            if rng.chance(0.8) {
                schedule(&mut set, &mut rng, slot, at.as_ps() + 1);
            }
            if rng.chance(0.3) {
                let other = rng.below(slots);
                schedule(&mut set, &mut rng, other, at.as_ps() + 1);
            }
            if rng.chance(0.1) {
                set.cancel(rng.below(slots));
            }
        }
        out
    }

    proptest! {
        #[test]
        fn both_structures_give_the_same_order(slots in 1_u32..70, seed: u64) {
            let a = trace::<WinnerTree>(slots, 500, seed);
            let b = trace::<Heap4>(slots, 500, seed);
            prop_assert!(a.windows(2).all(|w| w[0].0 <= w[1].0), "time runs backwards");
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn ranks_order_one_instant() {
        let mut set = WinnerTree::new(paths(5), 2);
        let t = Time::from_ps(5);
        for (slot, rank) in [
            (0, Rank::Observer),
            (1, Rank::Timer),
            (2, Rank::Control),
            (3, Rank::Delivery),
            (4, Rank::Service),
        ] {
            set.schedule(slot, t, rank);
        }
        let order: Vec<u32> = std::iter::from_fn(|| set.next()).map(|(_, s)| s).collect();
        assert_eq!(order, [4, 3, 2, 1, 0]);
    }

    /// At a tie each of two components goes first about equally often over many instants.
    #[test]
    fn ties_favor_nobody() {
        let mut set = WinnerTree::new(paths(2), 1);
        let first = (0..10_000)
            .filter(|&i| {
                let t = Time::from_ps(i * 1_000);
                set.schedule(0, t, Rank::Delivery);
                set.schedule(1, t, Rank::Delivery);
                let (_, winner) = set.next().unwrap();
                set.next();
                winner == 0
            })
            .count();
        // Binomial(10 000, 1/2): five standard deviations are 250.
        assert!(first.abs_diff(5_000) < 250, "{first}");
    }
}
