//! A tap that counts labels where packets come to ports.

use std::any::Any;
use std::collections::BTreeMap;

use spillgate_core::{Dropped, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::Plan;
use spillgate_sim::tap::{Place, PortView, Seen, Tap};
use spillgate_sim::{Stop, World};

/// Labels pushed, swapped, popped and lost in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelCounts {
    pub(crate) pushed: u64,
    /// Top labels that were replaced by that of the next node.
    pub(crate) swapped: u64,
    pub(crate) popped: u64,
    /// On packets that were lost.
    pub(crate) lost: u64,
}

#[derive(Default)]
struct Counter {
    counts: LabelCounts,
    /// How many a packet had at the last port, by flow and number.
    depths: BTreeMap<(u32, u32), u8>,
}

impl Tap for Counter {
    fn offered(&mut self, _: &PortView<'_>, seen: Seen<'_>) {
        let (packet, counts) = (seen.packet, &mut self.counts);
        let now = packet.labels.depth();
        let known = self.depths.insert((packet.flow, packet.seq), now);
        let before = known.unwrap_or(0);
        counts.pushed += u64::from(now.saturating_sub(before));
        counts.popped += u64::from(before.saturating_sub(now));
        counts.swapped += u64::from(now == before && now > 0);
    }

    fn lost(&mut self, _: Time, _: Place, lost: &Dropped, _: Seen<'_>) {
        let packet = lost.packet;
        self.counts.lost += u64::from(packet.labels.depth());
        self.depths.remove(&(packet.flow, packet.seq));
    }

    fn received(&mut self, _: Time, seen: Seen<'_>) {
        self.depths.remove(&(seen.packet.flow, seen.packet.seq));
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The labels of the first run of a plan.
pub(crate) fn labels<S: EventSet>(plan: &Plan, seed: u64) -> LabelCounts {
    let tap = Box::new(Counter::default());
    let mut world = World::<S>::tapped(&plan.variants[0].world, seed, 0, false, tap);
    while world.run(u64::MAX) != Stop::Done {}
    let tap = world.into_tap().expect("the tap").into_any();
    tap.downcast::<Counter>().expect("the counter").counts
}
