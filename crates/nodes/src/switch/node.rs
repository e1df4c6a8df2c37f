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

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use spillgate_core::{Dur, Packet, Rank, Rng, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Histogram, Measures, Place, Sampled, Samples, Window};

use super::{Backlog, Counts, Switch, SwitchRecipe, SwitchSpec};
use crate::{
    AtPort, Carries, Declared, Fact, Names, Node, NodeBound, NodeQueue, Outbox, Passage, Passed,
    PortEvent, Recipe, Start,
};

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
struct OutputQueue {
    /// The packets in it, in the order in which they have crossed.
    queued: VecDeque<Queued>,
    delay: Histogram,
    through: Through,
}

impl OutputQueue {
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

/// A switch between links, validated.
#[derive(Clone, Debug)]
pub struct SwitchPlan {
    /// Id of the node.
    pub node: u32,
    /// The links that end at its inputs, at least one.
    pub inputs: Vec<u32>,
    /// The links that begin at its outputs, at least one.
    pub outputs: Vec<u32>,
    /// How to build it.
    pub recipe: SwitchRecipe,
    /// How it was written.
    pub spec: Arc<SwitchSpec>,
}

impl SwitchPlan {
    /// The ports at which packets may wait for each other, input and output; none where inputs have
    /// no virtual output queues.
    pub fn voqs(&self) -> impl Iterator<Item = (u16, u16)> + use<> {
        let (inputs, outputs) = (self.inputs.len() as u16, self.outputs.len() as u16);
        let inputs = if self.recipe.is_voq() { inputs } else { 0 };
        (0..inputs).flat_map(move |i| (0..outputs).map(move |o| (i, o)))
    }

    /// What a virtual output queue is called: `in/out`, by the links of its ports.
    fn name_of_voq(&self, names: &dyn Names, (input, output): (u16, u16)) -> String {
        let input = names.link(self.inputs[usize::from(input)]);
        let output = names.link(self.outputs[usize::from(output)]);
        format!("{input}/{output}")
    }
}

impl Recipe for SwitchPlan {
    fn build(&self, start: &Start<'_>) -> Box<dyn Node> {
        let window = start.window;
        let mut switch = self.recipe.build(start.flows);
        switch.measure(window.start(), window.end());
        let output = |_: &u32| OutputQueue {
            queued: VecDeque::new(),
            delay: Histogram::new(BITS),
            through: Through::default(),
        };
        Box::new(SwitchNode {
            switch,
            rng: start.rng("switch"),
            window,
            input_of: Ports::new(&self.inputs),
            output_of: Ports::new(&self.outputs),
            by_output: self.outputs.iter().map(output).collect(),
            told: match self.recipe.nu() > 0.0 {
                true => vec![(0, 0); self.outputs.len()],
                false => Vec::new(),
            },
            out: super::FabricOutbox::default(),
            plan: self.clone(),
        })
    }

    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self {
            node,
            inputs,
            outputs,
            recipe,
            // The recipe counts.
            spec: _,
        } = self;
        write!(out, "{node} {inputs:?}{outputs:?}")?;
        recipe.write_identity(out)
    }

    fn describe(&self, names: &dyn Names) -> Vec<(u32, Vec<Fact>)> {
        let (spec, recipe) = (&self.spec, &self.recipe);
        let speedup = recipe.queues_inputs().then(|| recipe.speedup().to_string());
        let buffer = spec.buffer.as_ref();
        let buffer = buffer.map(|b| format!("{} {}", b.limit, b.per.in_words()));
        let links = |ids: &[u32]| ids.iter().map(|l| names.link(*l).to_owned()).collect();
        let facts = vec![
            Fact::text("architecture", spec.architecture.name().to_owned()),
            Fact::count("ports", recipe.ports() as u64, ""),
            Fact::count("line_rate", recipe.line().bps(), "b/s"),
            Fact::text("speedup", speedup),
            Fact::text("fabric", recipe.fabric_in_words()),
            Fact::text("buffer", buffer),
            Fact::text("policy", spec.policy.clone()),
            Fact::number("nu", recipe.nu(), ""),
            Fact::names("inputs", links(&self.inputs)),
            Fact::names("outputs", links(&self.outputs)),
        ];
        vec![(self.node, facts)]
    }

    fn bounds(&self, load: &[Passage], names: &dyn Names) -> Vec<NodeQueue> {
        let at = |links: &[u32], link| links.iter().position(|l| *l == link);
        let place = |t: &Passage| Some((at(&self.inputs, t.from)?, at(&self.outputs, t.to)?));
        let (mut queues, mut passing) = (BTreeMap::<_, Vec<usize>>::new(), Vec::new());
        for (i, through) in load.iter().enumerate() {
            match place(through).filter(|_| self.recipe.queues_inputs()) {
                Some(pair) => queues.entry(pair).or_default().push(i),
                None => passing.push(i),
            }
        }
        let queues = queues.into_iter().map(|((input, output), of)| NodeQueue {
            name: self.name_of_voq(names, (input as u16, output as u16)),
            bound: self.recipe.bound(of.iter().map(|i| &load[*i])),
            of,
        });
        // Where nothing waits at inputs, packets pass at once.
        let at_once = NodeQueue {
            name: "passing".to_owned(),
            of: passing,
            bound: Ok(NodeBound {
                delay: Dur::ZERO,
                backlog: 0,
                by_limit: false,
                lossless: true,
            }),
        };
        let at_once = Some(at_once).filter(|q| !q.of.is_empty());
        queues.chain(at_once).collect()
    }

    fn declares(&self) -> Declared {
        let nu = self.recipe.nu();
        Declared {
            inputs: self.inputs.clone(),
            follows: self.outputs.clone(),
            upstream: match nu > 0.0 {
                true => (self.outputs.clone(), nu),
                false => Default::default(),
            },
            series: self.voqs().count(),
            ..Declared::default()
        }
    }

    fn memory_bytes(&self, flows: usize, _: usize) -> u64 {
        self.recipe.memory_bytes(flows)
    }
}

/// The switch.
struct SwitchNode {
    switch: Switch,
    rng: Rng,
    window: Window,
    plan: SwitchPlan,
    input_of: Ports,
    output_of: Ports,
    by_output: Vec<OutputQueue>,
    /// By output: packets and bytes that wait for it, as its AQM was told; empty if no AQM is to
    /// know.
    told: Vec<(u32, u64)>,
    out: super::FabricOutbox,
}

impl SwitchNode {
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

    /// Of a virtual output queue, or of all at an input.
    fn measure_queue(&self, counts: &Counts, backlog: &Backlog, out: &mut Place<'_>) {
        out.put(Metric::Offered, self.rate(counts.offered_bytes));
        out.put(Metric::Carried, self.rate(counts.carried_bytes));
        let lost = ratio(counts.lost_packets(), counts.offered_packets);
        out.put(Metric::LossRatio, lost);
        out.put(Metric::SojournMean, counts.waited_mean());
        measure_backlog(backlog, out);
    }

    /// Of an output, or of all.
    fn measure_through(
        &self,
        through: &Through,
        delay: &Histogram,
        is_whole: bool,
        out: &mut Place<'_>,
    ) {
        let lost = |packets| ratio(packets, through.offered_packets);
        out.put(Metric::Offered, self.rate(through.offered_bytes));
        out.put(Metric::Carried, self.rate(through.sent_bytes));
        out.put(Metric::LossRatio, lost(through.lost_before + through.lost));
        if is_whole {
            out.put(Metric::LossInput, lost(through.lost_before));
            out.put(Metric::LossOutput, lost(through.lost));
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
            len: packet.size(),
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

    fn next_wake(&self) -> Option<(Time, Rank)> {
        Some((self.switch.next_wake()?, Rank::Control))
    }

    fn wake(&mut self, now: Time, out: &mut Outbox) {
        self.switch.wake(now, &mut self.rng, &mut self.out);
        self.drain(now, out);
    }

    fn at_port(&mut self, now: Time, at: &AtPort<'_>, _: &mut Outbox) -> Option<Carries> {
        let port = self.output_of.get(at.link)?;
        let output = &mut self.by_output[usize::from(port)];
        let is_sent = matches!(at.event, PortEvent::Begins { .. });
        let queued = output.take(at.packet, is_sent)?;
        if is_sent && self.window.contains(now) {
            output.delay.record(now.since(queued.arrived));
            output.through.sent_bytes += u64::from(at.packet.size());
        } else if !is_sent && self.window.counts_loss(queued.arrived, now) {
            output.through.lost += 1;
        }
        None
    }

    fn sample(&mut self, _: Time, _: &[u32], names: &dyn Names, out: &mut Samples) {
        for voq in self.plan.voqs() {
            let mut of = out.of(|| self.plan.name_of_voq(names, voq));
            of.put(Sampled::VoqBacklog, self.switch.waiting(voq.0, voq.1).0);
        }
    }

    fn measure(&self, now: Time, names: &dyn Names, out: &mut Measures) {
        let (switch, plan) = (&self.switch, &self.plan);
        let (mut delay, mut all) = (Histogram::new(BITS), Through::default());
        for output in &self.by_output {
            delay.merge(&output.delay);
            all = all.with(&output.through);
        }
        let mut of = out.of(Scope::Switch, || names.node(plan.node));
        self.measure_through(&all, &delay, true, &mut of);
        let queues_inputs = plan.recipe.queues_inputs();
        for (input, link) in (0..).zip(&plan.inputs).filter(|_| queues_inputs) {
            let counts = switch.counts_of_input(input);
            let backlog = switch.backlog_of_input(now, input);
            let mut of = out.of(Scope::SwitchInput, || names.link(*link));
            self.measure_queue(&counts, &backlog, &mut of);
            of.put(Metric::MarksCe, counts.marks_ce);
            of.put_lost(|why| counts.lost[why.index()]);
        }
        for ((output, link), own) in (0..).zip(&plan.outputs).zip(&self.by_output) {
            let mut of = out.of(Scope::SwitchOutput, || names.link(*link));
            self.measure_through(&own.through, &own.delay, false, &mut of);
            if queues_inputs {
                measure_backlog(&switch.backlog_of_output(now, output), &mut of);
            }
            if let Some(slots) = switch.slots(now, output) {
                let [used, wasted, idle] = slots.shares();
                of.put(Metric::SlotsUsed, used);
                of.put(Metric::SlotsWasted, wasted);
                of.put(Metric::SlotsIdle, idle);
            }
        }
        for voq in plan.voqs() {
            let counts = switch.counts(voq.0, voq.1);
            let backlog = switch.backlog(now, voq.0, voq.1);
            let mut of = out.of(Scope::Voq, || plan.name_of_voq(names, voq));
            self.measure_queue(&counts, &backlog, &mut of);
        }
    }
}
