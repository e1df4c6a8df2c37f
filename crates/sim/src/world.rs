//! One run: the state of everything, and what happens at each wake.

use std::sync::Arc;

use spillgate_core::rng::{hash_bytes, mix};
use spillgate_core::{
    Digest, DropReason, Dropped, Drops, Dscp, Dur, Ecn, FlowKey, Packet, Rng, Time,
};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::tcp::Segment;
use spillgate_events::{EventSet, Rank};
use spillgate_measure::{FlowMeter, Histogram};
use spillgate_scenario::plan::{Application, FlowPlan, Traffic, WorldPlan};

use crate::link::Link;
use crate::outcome::{Outcome, SeriesRecorder};
use crate::port::{InFlight, Port};
use crate::tcp::{Connection, Segments};
use crate::window::{Window, grace};

const NO_LINK: u32 = u32::MAX;

/// What a flow's packets carry and where they go.
///
/// The flows of the plan come first, then one for the acknowledgments of each connection.
struct Flow {
    origin: Origin,
    to: u32,
    from: u32,
    hash: u32,
    seq: u32,
    dscp: Dscp,
    ecn: Ecn,
}

/// Where a flow's packets come from.
enum Origin {
    /// A source that does not listen to the network.
    Open(OpenLoop),
    /// The sender of a connection.
    Data(u32),
    /// The receiver of a connection.
    Acknowledgments(u32),
}

/// A source, its stream, and the packet that it sends next.
struct OpenLoop {
    source: Source,
    rng: Rng,
    next_len: u16,
    stop: Time,
}

/// Why [`World::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every packet of the measured period is accounted for, or the time allowed for that is over.
    Done,
    /// The budget of events is used up; call again to go on.
    Paused,
}

/// A running world.
///
/// [`World::run`] advances it; [`World::outcome`] reads it. It is driven from
/// one thread and owns everything it needs.
pub struct World<S> {
    events: S,
    now: Time,
    flows: Vec<Flow>,
    tcp: Vec<Connection>,
    /// The flow of each connection's data, and that of its acknowledgments.
    data: Vec<u32>,
    acknowledgments: Vec<u32>,
    segments: Segments,
    meters: Vec<FlowMeter>,
    /// Bytes that each flow has received, since the start of the run; only kept for series.
    received: Vec<u64>,
    links: Vec<Link>,
    nodes: usize,
    next_hop: Vec<u32>,
    window: Window,
    /// The next edge of the window, [`Time::MAX`] when both are past.
    phase: Time,
    /// Latest end: how long the packets of the window may take to leave.
    give_up: Time,
    /// Packets of the window that are neither delivered nor lost yet.
    outstanding: u64,
    drops: Drops,
    digest: Digest,
    handled: u64,
    emitted: u64,
    hops: u64,
    pipe_slots: u32,
    port_slots: u32,
    observer_slot: u32,
    series: Option<SeriesRecorder>,
    plan: Arc<WorldPlan>,
}

impl<S: EventSet> World<S> {
    /// The world of `plan` at time 0. With `observe` it also keeps time series.
    pub fn new(plan: &Arc<WorldPlan>, seed: u64, run: u32, observe: bool) -> Self {
        let connections = |f: &&FlowPlan| f.traffic.is_closed_loop();
        let keys: Arc<[FlowKey]> = plan
            .flows
            .iter()
            .map(|f| f.key)
            .chain(
                plan.flows
                    .iter()
                    .filter(connections)
                    .map(|f| f.key.reversed()),
            )
            .collect();
        let bits = histogram_bits(plan.flows.len());
        let links: Vec<Link> = plan
            .links
            .iter()
            .map(|l| Link::new(l, &keys, seed, run, QUEUE_BITS))
            .collect();
        // Which conversations of a hashing queue share a bucket is an accident of addresses and of
        // the router's hash function. Each run has another, so that intervals cover that luck.
        let salt = Rng::named(seed, run, "hash", "salt").u64();
        let salted = |hash: u32| (mix(u64::from(hash) ^ salt) >> 32) as u32;
        let mut flows = Vec::with_capacity(keys.len());
        let mut tcp = Vec::new();
        for (f, key) in plan.flows.iter().zip(keys.iter()) {
            // Flows that start together may stay in step for ever.
            let mut rng = Rng::named(seed, run, &format!("flows/{}", f.name), "start");
            let start = f.start + Dur::from_secs_f64(rng.f64() * f.start_spread.as_secs_f64());
            let origin = match &f.traffic {
                Traffic::Source(spec) => Origin::Open(OpenLoop {
                    source: Source::new(spec, start),
                    rng: Rng::named(seed, run, &format!("flows/{}", f.name), "source"),
                    next_len: 0,
                    stop: f.stop,
                }),
                Traffic::Tcp {
                    config,
                    application,
                } => {
                    let bytes = match application {
                        Application::Bytes(n) => Some(*n),
                        Application::Greedy | Application::Source(_) => None,
                    };
                    tcp.push(Connection::new(config, bytes, start));
                    Origin::Data(tcp.len() as u32 - 1)
                }
                Traffic::Sessions(s) => {
                    tcp.push(Connection::new(&s.config, None, start));
                    Origin::Data(tcp.len() as u32 - 1)
                }
            };
            flows.push(Flow {
                origin,
                to: f.to,
                from: f.from,
                hash: salted(key.hash()),
                seq: 0,
                dscp: f.dscp,
                ecn: f.ecn,
            });
        }
        let reverse = plan
            .flows
            .iter()
            .filter(connections)
            .zip(&keys[plan.flows.len()..]);
        for (i, (f, key)) in (0..).zip(reverse) {
            flows.push(Flow {
                origin: Origin::Acknowledgments(i),
                to: f.from,
                from: f.to,
                hash: salted(key.hash()),
                seq: 0,
                dscp: f.dscp,
                ecn: Ecn::NotEct,
            });
        }

        let mut paths = Vec::with_capacity(flows.len() + 2 * links.len() + 1);
        paths.extend(
            plan.flows
                .iter()
                .map(|f| hash_bytes(format!("flows/{}", f.name).as_bytes())),
        );
        paths.extend(
            plan.flows
                .iter()
                .filter(connections)
                .map(|f| hash_bytes(format!("flows/{}/ack", f.name).as_bytes())),
        );
        for part in ["pipe", "port"] {
            paths.extend(
                plan.links
                    .iter()
                    .map(|l| hash_bytes(format!("links/{}/{part}", l.name).as_bytes())),
            );
        }
        paths.push(hash_bytes(b"observer"));

        let window = Window::new(plan.warmup, plan.duration);
        let pipe_slots = flows.len() as u32;
        let port_slots = pipe_slots + links.len() as u32;
        let observer_slot = port_slots + links.len() as u32;
        let mut next_hop = vec![NO_LINK; plan.nodes.len() * plan.nodes.len()];
        for f in &plan.flows {
            let there = (&plan.routes[f.route as usize], f.to);
            let back = f.back.map(|b| (&plan.routes[b as usize], f.from));
            for (route, dest) in [Some(there), back].into_iter().flatten() {
                for &link in route {
                    let at = plan.links[link as usize].from as usize;
                    next_hop[at * plan.nodes.len() + dest as usize] = link;
                }
            }
        }
        let mut world = Self {
            events: S::new(paths),
            now: Time::ZERO,
            meters: plan.flows.iter().map(|_| FlowMeter::new(bits)).collect(),
            received: if observe {
                vec![0; plan.flows.len()]
            } else {
                Vec::new()
            },
            acknowledgments: (0..flows.len() as u32).skip(plan.flows.len()).collect(),
            data: (0..plan.flows.len() as u32)
                .filter(|&f| matches!(flows[f as usize].origin, Origin::Data(_)))
                .collect(),
            tcp,
            segments: Segments::default(),
            flows,
            nodes: plan.nodes.len(),
            next_hop,
            window,
            phase: window.start(),
            give_up: window.end() + grace(plan),
            outstanding: 0,
            drops: Drops::new(),
            digest: Digest::default(),
            handled: 0,
            emitted: 0,
            hops: 0,
            pipe_slots,
            port_slots,
            observer_slot,
            series: observe.then(|| SeriesRecorder::new(plan)),
            links,
            plan: Arc::clone(plan),
        };
        for flow in 0..world.flows.len() {
            match &world.flows[flow].origin {
                Origin::Open(_) => world.plan_emission(flow),
                Origin::Data(c) => world.wake_sender(*c as usize),
                Origin::Acknowledgments(_) => {}
            }
        }
        if world.series.is_some() {
            let first = Time::ZERO + plan.interval;
            world.events.schedule(observer_slot, first, Rank::Observer);
        }
        world
    }

    /// Advances by at most `budget` events.
    pub fn run(&mut self, budget: u64) -> Stop {
        for _ in 0..budget {
            let Some((at, slot)) = self.events.next() else {
                self.close();
                return Stop::Done;
            };
            if slot == self.observer_slot {
                self.now = at;
                self.observe();
                continue;
            }
            if at >= self.window.end() && (self.outstanding == 0 || at >= self.give_up) {
                self.close();
                return Stop::Done;
            }
            while at >= self.phase {
                self.turn_phase();
            }
            self.now = at;
            self.handled += 1;
            if slot < self.pipe_slots {
                self.emit(slot as usize);
            } else if slot < self.port_slots {
                self.deliver((slot - self.pipe_slots) as usize);
            } else {
                self.serve((slot - self.port_slots) as usize);
            }
        }
        Stop::Paused
    }

    /// How much of the simulated time has passed, 0 to 1.
    pub fn fraction(&self) -> f64 {
        (self.now.as_ps() as f64 / self.window.end().as_ps() as f64).min(1.0)
    }

    /// Events handled so far, the observer's not counted.
    pub fn events(&self) -> u64 {
        self.handled
    }

    /// Packets that sources have emitted so far.
    pub fn packets(&self) -> u64 {
        self.emitted
    }

    /// Packet-hops so far: packets that have reached the far end of a link.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// What has been measured; of a run that has not ended, what there is so far, without the
    /// marks and peaks of queued ports, which are read at its end.
    pub fn outcome(&self) -> Outcome {
        let (plan, window) = (&self.plan, self.window);
        Outcome::collect(plan, window, self.now, &self.meters, &self.links, &self.tcp).with_run(
            self.digest,
            self.handled,
            self.emitted,
            self.series.as_ref(),
        )
    }

    /// Asks the source of `flow` for its next packet and sets its wake.
    #[inline]
    fn plan_emission(&mut self, flow: usize) {
        let Origin::Open(open) = &mut self.flows[flow].origin else {
            return;
        };
        if let Some(e) = open.source.next(&mut open.rng) {
            if e.at < open.stop {
                open.next_len = e.len;
                self.events.schedule(flow as u32, e.at, Rank::Timer);
            }
        }
    }

    /// The wake of a flow: its source sends, or its end of a connection has a timer.
    fn emit(&mut self, flow: usize) {
        match &self.flows[flow].origin {
            Origin::Open(open) => {
                let len = open.next_len;
                let (packet, from) = self.packet(flow, len, self.emitted);
                self.plan_emission(flow);
                self.forward(from, packet);
            }
            Origin::Data(c) => {
                let c = *c as usize;
                self.tcp[c].on_sender_wake(self.now);
                self.pump_data(c);
            }
            Origin::Acknowledgments(c) => {
                let c = *c as usize;
                self.tcp[c].receiver.handle_timeout(self.now);
                self.pump_acknowledgments(c);
            }
        }
    }

    /// A new packet of `flow`, counted as sent, and the node where it begins.
    #[inline]
    fn packet(&mut self, flow: usize, len: u16, handle: u64) -> (Packet, u32) {
        let f = &mut self.flows[flow];
        let mut packet = Packet::new(flow as u32, f.seq, len);
        packet.sent = self.now;
        packet.hash = f.hash;
        packet.dscp = f.dscp;
        packet.ecn = f.ecn;
        packet.handle = handle;
        f.seq = f.seq.wrapping_add(1);
        let from = f.from;
        self.emitted += 1;
        if let Some(meter) = self.meters.get_mut(flow) {
            if self.window.contains(self.now) {
                meter.on_sent(len);
                self.outstanding += 1;
            }
        }
        (packet, from)
    }

    /// Sends what the sender of connection `c` may send now, and sets its wake.
    fn pump_data(&mut self, c: usize) {
        while let Some(segment) = self.tcp[c].sender.poll_transmit(self.now) {
            self.send(self.data[c] as usize, c, segment);
        }
        self.wake_sender(c);
    }

    /// Sends the acknowledgments of connection `c` that are due, and sets its receiver's wake.
    fn pump_acknowledgments(&mut self, c: usize) {
        let flow = self.acknowledgments[c];
        while let Some(segment) = self.tcp[c].receiver.poll_transmit(self.now) {
            self.send(flow as usize, c, segment);
        }
        match self.tcp[c].receiver.poll_timeout() {
            Some(at) => self.events.schedule(flow, at.max(self.now), Rank::Timer),
            None => self.events.cancel(flow),
        }
    }

    fn wake_sender(&mut self, c: usize) {
        match self.tcp[c].sender_wake() {
            Some(at) => self
                .events
                .schedule(self.data[c], at.max(self.now), Rank::Timer),
            None => self.events.cancel(self.data[c]),
        }
    }

    /// Puts a segment of connection `c` on its way.
    fn send(&mut self, flow: usize, c: usize, segment: Segment) {
        let len = segment.wire_len(&self.tcp[c].config);
        let handle = self.segments.put(segment);
        let (mut packet, from) = self.packet(flow, len, handle);
        packet.ecn = segment.ect;
        self.forward(from, packet);
    }

    /// The head of the pipe of `link` reaches the far end.
    fn deliver(&mut self, link: usize) {
        let l = &mut self.links[link];
        let Some(InFlight { packet, .. }) = l.pipe.pop_front() else {
            return;
        };
        if let Some(next) = l.pipe.front() {
            self.events
                .schedule(self.pipe_slots + link as u32, next.due, Rank::Delivery);
        }
        self.hops += 1;
        self.digest.word(self.now.as_ps() ^ l.path);
        self.digest
            .word(u64::from(packet.flow) << 32 | u64::from(packet.seq));
        let node = l.to;
        self.forward(node, packet);
    }

    /// A packet is at `node`: it is received there or goes on.
    #[inline]
    fn forward(&mut self, node: u32, packet: Packet) {
        let to = self.flows[packet.flow as usize].to;
        if node == to {
            self.receive(&packet);
            return;
        }
        match self.next_hop[node as usize * self.nodes + to as usize] {
            NO_LINK => self.lose(
                node.into(),
                &Dropped {
                    packet,
                    reason: DropReason::Unroutable,
                },
            ),
            link => self.offer(link as usize, packet),
        }
    }

    #[inline]
    fn receive(&mut self, packet: &Packet) {
        let flow = packet.flow as usize;
        if let Some(bytes) = self.received.get_mut(flow) {
            *bytes += u64::from(packet.l3_len);
        }
        if let Some(meter) = self.meters.get_mut(flow) {
            if self.window.contains(packet.sent) {
                meter.on_received(packet, self.now);
                self.outstanding -= 1;
            }
        }
        match self.flows[flow].origin {
            Origin::Open(_) => {}
            Origin::Data(c) => {
                let segment = self.segments.take(packet.handle);
                let receiver = &mut self.tcp[c as usize].receiver;
                receiver.handle_segment(self.now, &segment, packet.ecn);
                self.pump_acknowledgments(c as usize);
            }
            Origin::Acknowledgments(c) => {
                let segment = self.segments.take(packet.handle);
                self.tcp[c as usize].on_acknowledgment(self.now, &segment, packet.ecn);
                self.pump_data(c as usize);
            }
        }
    }

    fn lose(&mut self, place: u64, lost: &Dropped) {
        self.digest
            .word(self.now.as_ps() ^ place ^ (1 + lost.reason.index() as u64));
        self.digest
            .word(u64::from(lost.packet.flow) << 32 | u64::from(lost.packet.seq));
        let flow = lost.packet.flow as usize;
        if let Some(meter) = self.meters.get_mut(flow) {
            if self.window.contains(lost.packet.sent) {
                meter.on_lost(lost.reason);
                self.outstanding -= 1;
            }
        }
        if !matches!(self.flows[flow].origin, Origin::Open(_)) {
            self.segments.take(lost.packet.handle);
        }
    }

    /// A packet arrives at the port of `link`.
    fn offer(&mut self, link: usize, mut packet: Packet) {
        let (now, window) = (self.now, self.window);
        let l = &mut self.links[link];
        packet.len = l.overhead.wire_len(packet.l3_len);
        packet.arrived = now;
        match &mut l.port {
            Port::Fifo(fifo) => {
                packet.leaf = 0;
                let tx = l.rate.tx_time(packet.len);
                match fifo.offer(now, packet.len, tx) {
                    Some(start) => {
                        if window.contains(now) {
                            // What goes straight through was in the queue too, as in a discipline.
                            let (packets, bytes) = fifo.backlog();
                            l.queues[0].on_backlog(
                                u64::from(packets).max(1),
                                bytes.max(packet.len.into()),
                            );
                        }
                        l.queues[0].on_served(window, &packet, start);
                        self.transmit(link, packet, start, start + tx);
                    }
                    None => {
                        l.queues[0].on_lost(window, &packet, now, DropReason::Tail);
                        let path = l.path;
                        self.lose(
                            path,
                            &Dropped {
                                packet,
                                reason: DropReason::Tail,
                            },
                        );
                    }
                }
            }
            Port::Queued(port) => {
                port.discipline
                    .enqueue(now, packet, &mut port.rng, &mut self.drops);
                let idle = port.free_at <= now;
                if !self.drops.is_empty() {
                    self.drain_drops(link);
                }
                if idle {
                    self.serve(link);
                } else {
                    self.wake_port_when_free(link);
                }
            }
        }
    }

    /// The server of `link` takes the next packet, if it may.
    fn serve(&mut self, link: usize) {
        let (now, window) = (self.now, self.window);
        let l = &mut self.links[link];
        let Port::Queued(port) = &mut l.port else {
            return;
        };
        port.wake = Time::MAX;
        if port.free_at > now {
            self.wake_port_when_free(link);
            return;
        }
        let served = port.discipline.dequeue(now, &mut port.rng, &mut self.drops);
        if let Some(packet) = served {
            let end = now + l.rate.tx_time(packet.len);
            port.free_at = end;
            let queue = &mut l.queues[usize::from(packet.leaf)];
            queue.on_served(window, &packet, now);
            self.transmit(link, packet, now, end);
        }
        if !self.drops.is_empty() {
            self.drain_drops(link);
        }
        self.wake_port_when_free(link);
    }

    /// Sets the port's wake: when the server is free and something waits, or
    /// when a shaper lets the next packet go.
    #[inline]
    fn wake_port_when_free(&mut self, link: usize) {
        let Port::Queued(port) = &mut self.links[link].port else {
            return;
        };
        let at = if port.discipline.backlog_packets() == 0 {
            return;
        } else if port.free_at > self.now {
            port.free_at
        } else {
            match port.discipline.next_wake(self.now) {
                Some(at) => at,
                None => return,
            }
        };
        if port.wake != at {
            port.wake = at;
            self.events
                .schedule(self.port_slots + link as u32, at, Rank::Service);
        }
    }

    /// A packet occupies the link from `start` to `end` and then the wire.
    #[inline]
    fn transmit(&mut self, link: usize, packet: Packet, start: Time, end: Time) {
        let l = &mut self.links[link];
        l.meter.on_transmit(self.window, start, end, packet.len);
        let due = end + l.delay;
        if l.pipe.is_empty() {
            self.events
                .schedule(self.pipe_slots + link as u32, due, Rank::Delivery);
        }
        l.pipe.push_back(InFlight { due, packet });
    }

    #[cold]
    fn drain_drops(&mut self, link: usize) {
        let drops = std::mem::take(&mut self.drops);
        for lost in drops.as_slice() {
            let l = &mut self.links[link];
            let leaf = usize::from(lost.packet.leaf);
            l.queues[leaf].on_lost(self.window, &lost.packet, self.now, lost.reason);
            let path = l.path;
            self.lose(path, lost);
        }
        self.drops = drops;
        self.drops.clear();
    }

    /// The run is over: the edges of the window that no event came after are passed now, and
    /// the last sample is taken if an event of the same instant came before it.
    #[cold]
    fn close(&mut self) {
        while self.phase < Time::MAX {
            self.turn_phase();
        }
        self.now = self.now.max(self.window.end());
        let due = self.series.as_ref().map(|s| s.last() + self.plan.interval);
        if due.is_some_and(|at| at <= self.window.end()) {
            self.observe();
        }
    }

    /// An edge of the window: the queues' own counters are read from here to there.
    #[cold]
    fn turn_phase(&mut self) {
        let begins = self.phase == self.window.start();
        self.phase = if begins { self.window.end() } else { Time::MAX };
        self.tcp.iter_mut().for_each(|c| c.on_edge(begins));
        for link in &mut self.links {
            let port = match &mut link.port {
                Port::Queued(port) => port,
                Port::Fifo(fifo) if begins => {
                    fifo.advance(self.window.start());
                    let (packets, bytes) = fifo.backlog();
                    link.queues[0].on_backlog(packets.into(), bytes);
                    continue;
                }
                Port::Fifo(_) => continue,
            };
            if begins {
                port.discipline.reset_peaks();
            }
            for (queue, leaf) in link.queues.iter_mut().zip(port.discipline.leaves()) {
                if begins {
                    queue.marks_ce = leaf.marks_ce;
                } else {
                    queue.marks_ce = leaf.marks_ce - queue.marks_ce;
                    queue.on_backlog(leaf.peak_packets, leaf.peak_bytes);
                }
            }
        }
    }

    fn observe(&mut self) {
        let (now, interval) = (self.now, self.plan.interval);
        if let Some(series) = &mut self.series {
            series.sample(now, &mut self.links, &self.received);
            if now + interval <= self.window.end() {
                self.events
                    .schedule(self.observer_slot, now + interval, Rank::Observer);
            }
        }
    }
}

/// Sub-buckets of the queues' histograms: 2⁸ an octave, 0.2 % wide at most from the middle.
const QUEUE_BITS: u8 = 8;

/// Resolution of the flows' histograms, so that 10,000 flows stay within tens of megabytes.
fn histogram_bits(flows: usize) -> u8 {
    match flows {
        0..=256 => 8,
        257..=2048 => 7,
        _ => 5,
    }
}

/// The largest relative error of a reported quantile in a world of this many flows.
pub fn quantile_error(flows: usize) -> f64 {
    Histogram::new(histogram_bits(flows)).relative_error()
}
