//! The two schedulers word by word, with a tag on every packet and nothing but scans: slow, and
//! plain enough to be read against the papers.

use std::collections::{BTreeMap, VecDeque};

use spillgate_core::Packet;

use crate::fan::scheduler::{FairQueueParams, FairScheduler, FairTotals, FanClass};

/// An entry of the active flow list.
#[derive(Clone, Copy, Debug, Default)]
struct Active {
    finish: u64,
    backlog: u64,
    bytes: u64,
}

/// A flow's packets without priority, each with its start tag.
#[derive(Clone, Debug, Default)]
struct Queue {
    packets: VecDeque<(u64, Packet)>,
    /// When it got its present first tag, as a count of such events.
    since: u64,
}

/// Priority fair queueing.
#[derive(Clone, Debug)]
pub(crate) struct PlainPfq {
    params: FairQueueParams,
    /// Whether the packet after a dropped one inherits its tag; without it, what is dropped counts
    /// as service.
    inherits: bool,
    v: u64,
    /// Priority packets, and whether their flow was listed with them.
    priority: VecDeque<(Packet, bool)>,
    queues: BTreeMap<u32, Queue>,
    afl: BTreeMap<u32, Active>,
    events: u64,
    priority_bytes: u64,
    unlisted: u64,
}

impl PlainPfq {
    pub(crate) fn new(params: FairQueueParams, inherits: bool) -> Self {
        Self {
            params,
            inherits,
            v: 0,
            priority: VecDeque::new(),
            queues: BTreeMap::new(),
            afl: BTreeMap::new(),
            events: 0,
            priority_bytes: 0,
            unlisted: 0,
        }
    }

    fn waiting(&self) -> impl Iterator<Item = &Packet> {
        let queued = self.queues.values().flat_map(|q| &q.packets);
        self.priority
            .iter()
            .map(|(p, _)| p)
            .chain(queued.map(|(_, p)| p))
    }

    fn evict(&mut self) -> Option<Packet> {
        let victim = self
            .queues
            .keys()
            .copied()
            .max_by_key(|f| (self.afl[f].backlog, std::cmp::Reverse(*f)))?;
        let queue = self.queues.get_mut(&victim)?;
        let (mut tag, packet) = queue.packets.pop_front()?;
        let flow = self.afl.get_mut(&victim)?;
        flow.backlog -= u64::from(packet.len);
        if self.inherits {
            flow.finish -= u64::from(packet.len);
            for (start, p) in &mut queue.packets {
                *start = tag;
                tag += u64::from(p.len);
            }
        }
        if queue.packets.is_empty() {
            self.queues.remove(&victim);
        }
        Some(packet)
    }
}

impl FairScheduler for PlainPfq {
    fn offer(&mut self, packet: Packet, evicted: &mut impl FnMut(Packet)) -> Option<FanClass> {
        let len = u64::from(packet.len);
        if !self.params.limit.admits(0, 0, packet.len) {
            return None;
        }
        while !self
            .params
            .limit
            .admits(self.totals().packets, self.totals().bytes, packet.len)
        {
            evicted(self.evict()?);
        }
        let room = self.afl.len() < self.params.afl_max as usize;
        match self.afl.get_mut(&packet.flow) {
            None => {
                self.priority.push_back((packet, room));
                self.priority_bytes += len;
                if room {
                    let entry = Active {
                        finish: self.v + len,
                        backlog: len,
                        bytes: len,
                    };
                    self.afl.insert(packet.flow, entry);
                } else {
                    self.unlisted += 1;
                }
                Some(FanClass::Priority)
            }
            Some(flow) if flow.bytes < u64::from(self.params.mtu) => {
                self.priority.push_back((packet, true));
                self.priority_bytes += len;
                flow.bytes += len;
                flow.finish = flow.finish.max(self.v) + len;
                flow.backlog += len;
                Some(FanClass::Priority)
            }
            Some(flow) => {
                let start = flow.finish.max(self.v);
                flow.finish = start + len;
                flow.backlog += len;
                let queue = self.queues.entry(packet.flow).or_default();
                if queue.packets.is_empty() {
                    self.events += 1;
                    queue.since = self.events;
                }
                queue.packets.push_back((start, packet));
                Some(FanClass::Backlog)
            }
        }
    }

    fn pop(&mut self) -> Option<Packet> {
        let (packet, listed) = match self.priority.pop_front() {
            Some(first) => first,
            None => {
                let (id, queue) = self
                    .queues
                    .iter_mut()
                    .min_by_key(|(_, q)| (q.packets[0].0, q.since))?;
                let (tag, packet) = queue.packets.pop_front()?;
                self.events += 1;
                queue.since = self.events;
                if queue.packets.is_empty() {
                    let id = *id;
                    self.queues.remove(&id);
                }
                assert!(tag >= self.v, "virtual time goes back");
                if tag != self.v {
                    self.v = tag;
                    self.afl.retain(|_, f| f.backlog > 0 || f.finish > tag);
                }
                (packet, true)
            }
        };
        if listed {
            self.afl.get_mut(&packet.flow)?.backlog -= u64::from(packet.len);
        }
        Some(packet)
    }

    fn idle(&mut self) {
        self.afl.clear();
    }

    fn is_backlogged(&self, flow: u32) -> bool {
        self.afl
            .get(&flow)
            .is_some_and(|f| f.bytes >= u64::from(self.params.mtu))
    }

    fn saturated(&self) -> bool {
        self.afl.len() >= self.params.afl_max as usize
    }

    fn totals(&self) -> FairTotals {
        FairTotals {
            priority_bytes: self.priority_bytes,
            fair_bytes: self.v,
            unlisted: self.unlisted,
            packets: self.waiting().count() as u32,
            bytes: self.waiting().map(|p| u64::from(p.len)).sum(),
        }
    }

    fn memory_bytes(&self, _: usize) -> u64 {
        0
    }

    fn flush(&mut self, lost: &mut impl FnMut(Packet)) {
        self.priority.drain(..).for_each(|(p, _)| lost(p));
        for queue in std::mem::take(&mut self.queues).into_values() {
            queue.packets.into_iter().for_each(|(_, p)| lost(p));
        }
        self.idle();
    }
}

/// An element of the active list.
#[derive(Clone, Debug)]
enum Element {
    Marker,
    Flow(u32),
}

/// A flow in the active list.
#[derive(Clone, Debug, Default)]
struct Robin {
    queue: VecDeque<Packet>,
    deficit: i64,
    count: u64,
}

/// Priority deficit round robin.
#[derive(Clone, Debug)]
pub(crate) struct PlainPdrr {
    params: FairQueueParams,
    priority: VecDeque<Packet>,
    list: VecDeque<Element>,
    flows: BTreeMap<u32, Robin>,
    in_turn: bool,
    served: bool,
    priority_bytes: u64,
    fair_bytes: u64,
}

impl PlainPdrr {
    pub(crate) fn new(params: FairQueueParams) -> Self {
        Self {
            params,
            priority: VecDeque::new(),
            list: VecDeque::from([Element::Marker]),
            flows: BTreeMap::new(),
            in_turn: false,
            served: false,
            priority_bytes: 0,
            fair_bytes: 0,
        }
    }

    fn waiting(&self) -> impl Iterator<Item = &Packet> {
        let queued = self.flows.values().flat_map(|f| &f.queue);
        self.priority.iter().chain(queued)
    }

    fn evict(&mut self) -> Option<Packet> {
        let bytes = |id: u32| -> u64 {
            let own = self.waiting().filter(|p| p.flow == id);
            own.map(|p| u64::from(p.len)).sum()
        };
        let victim = self
            .flows
            .iter()
            .filter(|(_, f)| !f.queue.is_empty())
            .map(|(id, _)| *id)
            .max_by_key(|id| (bytes(*id), std::cmp::Reverse(*id)))?;
        self.flows.get_mut(&victim)?.queue.pop_front()
    }
}

impl FairScheduler for PlainPdrr {
    fn offer(&mut self, packet: Packet, evicted: &mut impl FnMut(Packet)) -> Option<FanClass> {
        let limit = self.params.limit;
        if !limit.admits(0, 0, packet.len) {
            return None;
        }
        while !limit.admits(self.totals().packets, self.totals().bytes, packet.len) {
            evicted(self.evict()?);
        }
        let flow = self.flows.entry(packet.flow).or_insert_with(|| {
            self.list.push_back(Element::Flow(packet.flow));
            Robin::default()
        });
        flow.count += u64::from(packet.len);
        if flow.count <= u64::from(self.params.quantum) {
            self.priority.push_back(packet);
            self.priority_bytes += u64::from(packet.len);
            if self.params.charged {
                flow.deficit -= i64::from(packet.len);
            }
            return Some(FanClass::Priority);
        }
        flow.queue.push_back(packet);
        Some(FanClass::Backlog)
    }

    fn pop(&mut self) -> Option<Packet> {
        if let Some(packet) = self.priority.pop_front() {
            return Some(packet);
        }
        if self.totals().packets == 0 {
            return None;
        }
        loop {
            let Element::Flow(id) = self.list[0] else {
                if self.served {
                    self.fair_bytes += u64::from(self.params.quantum);
                    self.served = false;
                }
                self.list.rotate_left(1);
                continue;
            };
            let flow = self.flows.get_mut(&id)?;
            let Some(first) = flow.queue.front().copied() else {
                self.list.pop_front();
                self.flows.remove(&id);
                self.in_turn = false;
                continue;
            };
            if !self.in_turn {
                flow.deficit += i64::from(self.params.quantum);
                self.in_turn = true;
            }
            if i64::from(first.len) <= flow.deficit {
                flow.deficit -= i64::from(first.len);
                flow.queue.pop_front();
                self.served = true;
                if flow.queue.is_empty() {
                    self.list.pop_front();
                    self.flows.remove(&id);
                    self.in_turn = false;
                }
                return Some(first);
            }
            self.list.rotate_left(1);
            self.in_turn = false;
        }
    }

    fn idle(&mut self) {
        self.flows.clear();
        self.list = VecDeque::from([Element::Marker]);
        self.in_turn = false;
        self.served = false;
    }

    fn is_backlogged(&self, flow: u32) -> bool {
        let flow = self.flows.get(&flow);
        flow.is_some_and(|f| f.count > u64::from(self.params.quantum))
    }

    fn saturated(&self) -> bool {
        false
    }

    fn totals(&self) -> FairTotals {
        FairTotals {
            priority_bytes: self.priority_bytes,
            fair_bytes: self.fair_bytes,
            unlisted: 0,
            packets: self.waiting().count() as u32,
            bytes: self.waiting().map(|p| u64::from(p.len)).sum(),
        }
    }

    fn memory_bytes(&self, _: usize) -> u64 {
        0
    }

    fn flush(&mut self, lost: &mut impl FnMut(Packet)) {
        self.priority.drain(..).for_each(&mut *lost);
        for element in std::mem::take(&mut self.list) {
            if let Element::Flow(id) = element {
                self.flows.remove(&id).into_iter().for_each(|f| {
                    f.queue.into_iter().for_each(&mut *lost);
                });
            }
        }
        self.idle();
    }
}
