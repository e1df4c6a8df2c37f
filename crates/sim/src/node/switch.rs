//! A switch: packets wait at its inputs, cross its fabric, and are queued at the ports of its
//! outputs.
//!
//! [`Switch`] is the input side and the fabric; the queue of an output is the port of the link that
//! begins there. This node connects the two, and measures what concerns both: delay through the
//! switch and losses at its outputs. What comes over a link that is at no input, or leaves over one
//! that is at no output, passes at once. O(1) for each packet beside the fabric if the queue of the
//! output is a FIFO, else O(packets in it).
//!
//! Arrivals come before what the fabric does at the same instant, so a cell that arrives as a slot
//! begins takes part in its matching.

use std::collections::VecDeque;
use std::sync::Arc;

use spillgate_core::{FlowKey, Packet, Rng, Time};
use spillgate_events::Rank;
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Histogram, Measures, Place, Sampled, Samples};
use spillgate_scenario::plan::{SwitchPlan, WorldPlan};
use spillgate_switching::{Backlog, Counts, Switch};

use super::holding::{Node, Outbox, Passed};
use crate::port::size;
use crate::window::Window;

/// Resolution of the histograms of delay.
const BITS: u8 = 8;

/// The ports of links.
struct Ports {
    first: u32,
    /// By link from the first one on; [`Ports::NONE`] for none.
    of: Vec<u16>,
}

impl Ports {
    const NONE: u16 = u16::MAX;

    fn new(links: &[u32]) -> Self {
        let first = links.iter().min().copied().unwrap_or(0);
        let last = links.iter().max().copied().unwrap_or(0);
        let mut of = vec![Self::NONE; (last - first) as usize + 1];
        for (port, link) in (0..).zip(links) {
            of[(link - first) as usize] = port;
        }
        Self { first, of }
    }

    #[inline]
    fn get(&self, link: u32) -> Option<u16> {
        let at = link.checked_sub(self.first)?;
        let port = *self.of.get(at as usize)?;
        Some(port).filter(|p| *p != Self::NONE)
    }
}

/// A packet in the queue of an output.
#[derive(Clone, Copy)]
struct Queued {
    flow: u32,
    seq: u32,
    /// When it arrived at the switch.
    arrived: Time,
}

/// What an output counts in the measured period.
#[derive(Clone, Default)]
struct Through {
    /// Packets that came to the switch for it, and their bytes.
    offered_packets: u64,
    offered_bytes: u64,
    /// Bytes of packets that left its queue.
    sent_bytes: u64,
    /// Packets that were lost at inputs.
    lost_before: u64,
    /// Packets that were lost in its queue.
    lost: u64,
}

impl Through {
    /// What it and another one count.
    fn with(self, other: &Self) -> Self {
        Self {
            offered_packets: self.offered_packets + other.offered_packets,
            offered_bytes: self.offered_bytes + other.offered_bytes,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            lost_before: self.lost_before + other.lost_before,
            lost: self.lost + other.lost,
        }
    }
}

/// The queue of an output.
struct Output {
    /// The packets in it, in the order in which they have crossed.
    queued: VecDeque<Queued>,
    delay: Histogram,
    through: Through,
}

impl Output {
    /// Takes out a packet, which is more likely the first or the last one.
    fn take(&mut self, packet: &Packet, is_first: bool) -> Option<Queued> {
        let same = |q: &Queued| (q.flow, q.seq) == (packet.flow, packet.seq);
        let at = match is_first {
            true => self.queued.iter().position(same),
            false => self.queued.iter().rposition(same),
        };
        self.queued.remove(at?)
    }
}

/// The switch.
pub(crate) struct SwitchNode {
    switch: Switch,
    rng: Rng,
    window: Window,
    plan: SwitchPlan,
    input_of: Ports,
    output_of: Ports,
    by_output: Vec<Output>,
    /// By output: packets and bytes that wait for it, as its AQM was told; empty if no AQM is to
    /// know.
    told: Vec<(u32, u64)>,
    /// By flow of the plan: whether it keeps a queue filled; empty if none does.
    backlogged: Arc<[bool]>,
    out: spillgate_switching::Outbox,
}

impl SwitchNode {
    pub(super) fn new(
        plan: &SwitchPlan,
        window: Window,
        flows: &Arc<[FlowKey]>,
        backlogged: &Arc<[bool]>,
        (seed, run, path): (u64, u32, &str),
    ) -> Self {
        let mut switch = plan.recipe.build(flows);
        switch.measure(window.start(), window.end());
        let output = |_: &u32| Output {
            queued: VecDeque::new(),
            delay: Histogram::new(BITS),
            through: Through::default(),
        };
        Self {
            switch,
            rng: Rng::named(seed, run, path, "switch"),
            window,
            plan: plan.clone(),
            input_of: Ports::new(&plan.inputs),
            output_of: Ports::new(&plan.outputs),
            by_output: plan.outputs.iter().map(output).collect(),
            told: match plan.recipe.nu() > 0.0 {
                true => vec![(0, 0); plan.outputs.len()],
                false => Vec::new(),
            },
            backlogged: backlogged.clone(),
            out: spillgate_switching::Outbox::default(),
        }
    }

    /// Hands over what has left the fabric, and what its AQMs are to know.
    fn drain(&mut self, now: Time, out: &mut Outbox) {
        for (output, told) in (0..).zip(&mut self.told) {
            let waiting = self.switch.waiting_for(output);
            if waiting != *told {
                *told = waiting;
                let link = self.plan.outputs[usize::from(output)];
                out.waiting.push((link, waiting.0, waiting.1));
            }
        }
        for crossed in self.out.crossed.drain(..) {
            let (output, packet) = (usize::from(crossed.output), crossed.packet);
            if self.backlogged.get(packet.flow as usize) == Some(&true) {
                out.crossed.push(packet.flow);
            }
            self.by_output[output].queued.push_back(Queued {
                flow: packet.flow,
                seq: packet.seq,
                arrived: packet.arrived,
            });
            out.passed.push(Passed {
                to: self.plan.outputs[output],
                packet,
                crossed_since: self.plan.recipe.queues_inputs().then_some(crossed.started),
            });
        }
        for lost in self.out.lost.drain(..) {
            if self.window.counts_loss(lost.dropped.packet.arrived, now) {
                self.by_output[usize::from(lost.output)].through.lost_before += 1;
            }
            let from = self.plan.inputs[usize::from(lost.input)];
            out.lost.push((from, lost.evidence, lost.dropped));
        }
    }

    fn rate(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / self.window.len().as_secs_f64()
    }

    /// Puts what a queue, or all of an input, has counted.
    fn measure_queue(&self, counts: &Counts, backlog: &Backlog, out: &mut Place<'_>) {
        out.put(Metric::Offered, self.rate(counts.offered_bytes));
        out.put(Metric::Carried, self.rate(counts.carried_bytes));
        let lost = ratio(counts.lost_packets(), counts.offered_packets);
        out.put(Metric::LossRatio, lost);
        out.put(Metric::SojournMean, counts.waited_mean());
        measure_backlog(backlog, out);
    }

    /// Puts what outputs have counted together, and how long packets took; of the whole switch also
    /// where they were lost.
    fn measure_through(&self, all: &Through, delay: &Histogram, whole: bool, out: &mut Place<'_>) {
        let share = |lost| ratio(lost, all.offered_packets);
        out.put(Metric::Offered, self.rate(all.offered_bytes));
        out.put(Metric::Carried, self.rate(all.sent_bytes));
        out.put(Metric::LossRatio, share(all.lost_before + all.lost));
        if whole {
            out.put(Metric::LossInput, share(all.lost_before));
            out.put(Metric::LossOutput, share(all.lost));
        }
        out.put(Metric::SwitchDelayMean, delay.mean());
        out.put(Metric::SwitchDelayP99, delay.quantile(0.99));
    }
}

fn measure_backlog(backlog: &Backlog, out: &mut Place<'_>) {
    out.put(Metric::BacklogPacketsMean, backlog.packets_mean);
    out.put(Metric::BacklogPacketsMax, backlog.packets_max);
    out.put(Metric::BacklogBytesMean, backlog.bytes_mean);
    out.put(Metric::BacklogBytesMax, backlog.bytes_max);
}

/// NaN for nothing of nothing.
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

impl Node for SwitchNode {
    fn arrive(&mut self, now: Time, from: u32, to: u32, packet: &Packet, out: &mut Outbox) {
        let (Some(input), Some(output)) = (self.input_of.get(from), self.output_of.get(to)) else {
            out.passed.push(Passed::plainly(to, *packet));
            return;
        };
        let packet = Packet {
            len: size(packet),
            ..*packet
        };
        if self.window.contains(now) {
            let through = &mut self.by_output[usize::from(output)].through;
            through.offered_packets += 1;
            through.offered_bytes += u64::from(packet.len);
        }
        if !self.told.is_empty() {
            out.arrived = Some((to, packet.len));
        }
        let switch = &mut self.switch;
        switch.offer(now, (input, output), packet, &mut self.rng, &mut self.out);
        self.drain(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        self.switch.next_wake()
    }

    fn wake(&mut self, now: Time, out: &mut Outbox) {
        self.switch.wake(now, &mut self.rng, &mut self.out);
        self.drain(now, out);
    }

    fn rank(&self) -> Rank {
        Rank::Control
    }

    fn sent(&mut self, now: Time, to: u32, packet: &Packet) {
        let Some(port) = self.output_of.get(to) else {
            return;
        };
        let output = &mut self.by_output[usize::from(port)];
        let Some(queued) = output.take(packet, true) else {
            return;
        };
        if self.window.contains(now) {
            output.delay.record(now.since(queued.arrived));
            output.through.sent_bytes += u64::from(size(packet));
        }
    }

    fn dropped(&mut self, now: Time, to: u32, packet: &Packet) {
        let Some(port) = self.output_of.get(to) else {
            return;
        };
        let output = &mut self.by_output[usize::from(port)];
        let queued = output.take(packet, false);
        if queued.is_some_and(|q| self.window.counts_loss(q.arrived, now)) {
            output.through.lost += 1;
        }
    }

    fn sample(&mut self, _: Time, plan: &WorldPlan, out: &mut Samples) {
        let watched = plan.watched_switches.iter();
        let mut nodes = watched.map(|s| plan.switches[*s as usize].node);
        if nodes.all(|node| node != self.plan.node) {
            return;
        }
        for voq in self.plan.voqs() {
            let mut of = out.of(|| plan.name_of_voq(&self.plan, voq));
            of.put(Sampled::VoqBacklog, self.switch.waiting(voq.0, voq.1).0);
        }
    }

    fn measure(&self, now: Time, plan: &WorldPlan, out: &mut Measures) {
        let (switch, ports) = (&self.switch, &self.plan);
        let link = |l: u32| &*plan.links[l as usize].name;
        let mut delay = Histogram::new(BITS);
        let mut all = Through::default();
        for output in &self.by_output {
            delay.merge(&output.delay);
            all = all.with(&output.through);
        }
        let mut of = out.of(Scope::Switch, || &*plan.nodes[ports.node as usize]);
        self.measure_through(&all, &delay, true, &mut of);
        let queues_inputs = ports.recipe.queues_inputs();
        for (input, from) in (0..).zip(ports.inputs.iter().filter(|_| queues_inputs)) {
            let mut of = out.of(Scope::SwitchInput, || link(*from));
            let counts = switch.counts_of_input(input);
            self.measure_queue(&counts, &switch.backlog_of_input(now, input), &mut of);
            of.put(Metric::MarksCe, counts.marks_ce);
            of.put_lost(|why| counts.lost[why.index()]);
        }
        for (output, counted) in (0..).zip(&self.by_output) {
            let to = ports.outputs[usize::from(output)];
            let mut of = out.of(Scope::SwitchOutput, || link(to));
            self.measure_through(&counted.through, &counted.delay, false, &mut of);
            if queues_inputs {
                measure_backlog(&switch.backlog_of_output(now, output), &mut of);
            }
            if let Some([used, wasted, idle]) = switch.slots(now, output).map(|s| s.shares()) {
                of.put(Metric::SlotsUsed, used);
                of.put(Metric::SlotsWasted, wasted);
                of.put(Metric::SlotsIdle, idle);
            }
        }
        for (input, output) in ports.voqs() {
            let name = || plan.name_of_voq(ports, (input, output));
            let mut of = out.of(Scope::Voq, name);
            let counts = switch.counts(input, output);
            self.measure_queue(&counts, &switch.backlog(now, input, output), &mut of);
        }
    }
}
