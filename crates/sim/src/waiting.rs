//! The packets that wait at a computed port.

use std::collections::VecDeque;

use spillgate_core::Time;

/// Service start and length of packets, in order.
///
/// The first lies here, not behind a pointer: at most ports of a large network that one packet
/// now and then has to wait for another, nothing is in the cache.
#[derive(Default)]
pub(crate) struct Waiting {
    first: (Time, u32),
    /// With the first.
    len: u32,
    rest: VecDeque<(Time, u32)>,
}

impl Waiting {
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, start: Time, bytes: u32) {
        if self.len == 0 {
            self.first = (start, bytes);
        } else {
            self.rest.push_back((start, bytes));
        }
        self.len += 1;
    }

    /// Takes out the first if its service has started by `now`.
    #[inline]
    pub(crate) fn pop_started(&mut self, now: Time) -> Option<(Time, u32)> {
        // At one instant departures precede arrivals.
        if self.len == 0 || self.first.0 > now {
            return None;
        }
        let first = self.first;
        self.len -= 1;
        if self.len > 0 {
            self.first = self.rest.pop_front()?;
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// It does what a queue does.
        #[test]
        fn it_is_a_queue(steps in prop::collection::vec((any::<bool>(), 0..20_u64), 1..200)) {
            let (mut waiting, mut queue) = (Waiting::default(), VecDeque::new());
            let (mut clock, mut last) = (0, 0);
            for (number, (push, step)) in (0..).zip(steps) {
                if push {
                    last += step;
                    waiting.push(Time::from_ps(last), number);
                    queue.push_back((Time::from_ps(last), number));
                } else {
                    clock += step;
                    let now = Time::from_ps(clock);
                    let started = queue.front().is_some_and(|f| f.0 <= now);
                    let expected = if started { queue.pop_front() } else { None };
                    prop_assert_eq!(waiting.pop_started(now), expected);
                }
                prop_assert_eq!(waiting.len() as usize, queue.len());
            }
        }
    }
}
