//! Queues by flow in one store, for round-robin schedulers that push out from the longest queue.
//!
//! A packet's queue is its flow's own, or one of a fixed number, chosen by a salted hash of
//! addresses, ports and protocol (RFC 8290 §4.1.1); then flows can collide.

use spillgate_core::rng::mix;
use spillgate_core::{Packet, Rng};

use super::longest::LongestFlow;
use super::slab::Slab;
use super::table::{Flow, Table};
use crate::leaf::Bound;

/// How packets are sorted into queues.
#[derive(Clone, Debug)]
pub(crate) enum Sorting {
    /// One queue for each flow.
    Exact,
    /// One of `queues`, by a hash with `salt`, which is drawn with the first packet.
    Hashed { queues: u32, salt: Option<u64> },
}

impl Sorting {
    /// Into this number of queues, or one for each flow.
    pub(super) fn into_queues(queues: Option<u32>) -> Self {
        match queues {
            None => Self::Exact,
            Some(queues) => Self::Hashed { queues, salt: None },
        }
    }

    /// The number of queues; none: one for each flow.
    pub(super) fn queues(&self) -> Option<u32> {
        match self {
            Self::Exact => None,
            Self::Hashed { queues, .. } => Some(*queues),
        }
    }
}

/// The state of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Own<S, V> {
    /// The state of its AQM.
    pub(super) vars: V,
    /// The state of the scheduler.
    pub(super) sched: S,
    /// The number of its packets.
    pub(super) packets: u32,
}

/// The queues.
#[derive(Clone, Debug)]
pub(crate) struct Flows<S, V> {
    sorting: Sorting,
    slab: Slab,
    table: Table<Own<S, V>>,
    longest: LongestFlow,
    pub(super) packets: u32,
    pub(super) bytes: u64,
}

impl<S, V> Flows<S, V> {
    pub(super) fn new(sorting: Sorting) -> Self {
        Self {
            sorting,
            slab: Slab::new(),
            table: Table::new(),
            longest: LongestFlow::default(),
            packets: 0,
            bytes: 0,
        }
    }

    pub(super) fn sorting(&self) -> Sorting {
        self.sorting.clone()
    }

    /// Draws the salt of the hash, unless that has been done.
    #[inline]
    pub(super) fn prepare(&mut self, rng: &mut Rng) {
        if let Sorting::Hashed {
            salt: salt @ None, ..
        } = &mut self.sorting
        {
            *salt = Some(rng.u64());
        }
    }

    /// The number of a packet's queue.
    #[inline]
    pub(super) fn number(&self, packet: &Packet) -> u32 {
        match self.sorting {
            Sorting::Exact => packet.flow,
            Sorting::Hashed { queues, salt } => {
                let mixed = mix(u64::from(packet.hash) ^ salt.unwrap_or(0));
                ((u128::from(mixed) * u128::from(queues)) >> 64) as u32
            }
        }
    }

    /// The slot of a packet's queue, if it is remembered.
    #[inline]
    pub(super) fn find(&self, packet: &Packet) -> Option<u32> {
        self.table.find(self.number(packet))
    }

    /// The slot of a packet's queue, added with the state `fresh` if it is not remembered.
    #[inline]
    pub(super) fn slot(&mut self, packet: &Packet, fresh: impl FnOnce() -> (S, V)) -> u32 {
        let id = self.number(packet);
        match self.table.find(id) {
            Some(slot) => slot,
            None => {
                let (sched, vars) = fresh();
                let own = Own {
                    vars,
                    sched,
                    packets: 0,
                };
                self.table.insert(id, 0, own)
            }
        }
    }

    /// Appends a packet to its queue.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, packet: &Packet) {
        let flow = self.table.at_mut(slot);
        flow.waiting += packet.len;
        flow.own.packets += 1;
        self.packets += 1;
        self.bytes += u64::from(packet.len);
        self.slab.push(&mut flow.queue, *packet, slot);
        self.longest.grew(slot, flow.id, flow.waiting);
    }

    /// Takes the first packet of a queue out, which stays in its place until the next one is
    /// queued.
    #[inline]
    pub(super) fn unlink(&mut self, slot: u32) -> Option<u32> {
        let flow = self.table.at_mut(slot);
        let at = self.slab.unlink(&mut flow.queue)?;
        let packet = self.slab.packet(at);
        flow.waiting -= packet.len;
        flow.own.packets -= 1;
        self.packets -= 1;
        self.bytes -= u64::from(packet.len);
        self.longest.shrunk(self.packets);
        Some(at)
    }

    /// The packet in a place.
    #[inline]
    pub(super) fn packet(&self, at: u32) -> &Packet {
        self.slab.packet(at)
    }

    /// A queue, and the packet in a place.
    #[inline]
    pub(super) fn with_packet(&mut self, slot: u32, at: u32) -> (&mut Flow<Own<S, V>>, &Packet) {
        (self.table.at_mut(slot), self.slab.packet(at))
    }

    /// Drops packets until the backlog is within `bound`: each time half of the bytes of the
    /// longest queue, from its head, and at most `batch` packets; of equals the queue with the
    /// lowest number. `gave` is called with its slot and the number dropped. Returns whether the
    /// packet that `arrived` in this slot is kept.
    #[inline(never)]
    pub(super) fn make_room(
        &mut self,
        bound: &Bound,
        batch: u32,
        arrived: u32,
        evicted: &mut dyn FnMut(Packet),
        mut gave: impl FnMut(&mut Self, u32, u32),
    ) -> bool {
        let mut kept = true;
        while !bound.holds(self.packets, self.bytes) {
            let Some(slot) = self.longest.find(self.packets, &self.table) else {
                break;
            };
            let half = self.table.at(slot).waiting / 2;
            let (mut packets, mut bytes) = (0, 0);
            while let Some(at) = self.unlink(slot) {
                let victim = *self.packet(at);
                packets += 1;
                bytes += victim.len;
                // The packet that arrived is the last of its queue.
                if slot == arrived && self.table.at(slot).queue.is_empty() {
                    kept = false;
                } else {
                    evicted(victim);
                }
                if packets >= batch || bytes >= half {
                    break;
                }
            }
            gave(self, slot, packets);
        }
        kept
    }

    #[inline]
    pub(super) fn at(&self, slot: u32) -> &Flow<Own<S, V>> {
        self.table.at(slot)
    }

    #[inline]
    pub(super) fn at_mut(&mut self, slot: u32) -> &mut Flow<Own<S, V>> {
        self.table.at_mut(slot)
    }

    /// Length of the first packet of a queue.
    #[inline]
    pub(super) fn first_len(&self, slot: u32) -> Option<u32> {
        self.slab.first_len(&self.table.at(slot).queue)
    }

    /// The first packet of a queue.
    #[inline]
    pub(super) fn head(&self, slot: u32) -> Option<&Packet> {
        self.slab.first(&self.table.at(slot).queue)
    }

    /// How many queues hold packets.
    pub(super) fn backlogged(&self) -> usize {
        self.slots(|f| f.own.packets > 0).count()
    }

    /// The slots of the queues that satisfy `of`.
    pub(super) fn slots(&self, of: impl Fn(&Flow<Own<S, V>>) -> bool) -> impl Iterator<Item = u32> {
        let queues = self.table.iter();
        queues.filter(move |(_, f)| of(f)).map(|(slot, _)| slot)
    }

    /// Forgets an empty queue.
    #[inline]
    pub(super) fn forget(&mut self, slot: u32) {
        self.table.remove(slot);
    }

    /// Drops all packets, queue by queue, and forgets all queues.
    pub(super) fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
        let mut full: Vec<(u32, u32)> = self
            .table
            .iter()
            .filter_map(|(slot, f)| Some((f.candidate()?.0, slot)))
            .collect();
        full.sort_unstable();
        for (_, slot) in full {
            while let Some(at) = self.unlink(slot) {
                lost(*self.packet(at));
            }
        }
        self.table.clear();
        self.longest.reset();
        if let Sorting::Hashed { salt, .. } = &mut self.sorting {
            *salt = None;
        }
    }

    /// All queues are empty.
    #[inline]
    pub(super) fn emptied(&mut self) {
        self.longest.reset();
    }

    /// Upper estimate of the memory of this many queued packets, for this many flows; `place` is
    /// that of a queue in the order in which they send.
    pub(super) fn memory_bytes(&self, packets: u64, flows: usize, place: usize) -> u64 {
        let queues = match self.sorting {
            Sorting::Exact => flows as u64,
            Sorting::Hashed { queues, .. } => queues.into(),
        };
        // An entry in the order and in the heap of backlogs.
        let queue = (Table::<Own<S, V>>::FLOW + place + 20) as u64;
        Slab::PACKET as u64 * packets + queues * queue
    }
}
