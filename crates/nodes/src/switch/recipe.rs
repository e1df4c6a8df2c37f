//! From a switch as written to a running one.

use std::fmt;
use std::sync::Arc;

use spillgate_core::curve::{Curve, Exact, NoBound, Slope};
use spillgate_core::{FlowKey, Rate};
use spillgate_queueing::{Reason, Recipe};

use crate::guarantee::{in_order, sum};
use crate::switch::buffer::Buffer;
use crate::switch::fabric::{Crossbar, Fabric, Packets, Parallel};
use crate::switch::matcher::MatchingSpec;
use crate::switch::pace::Pace;
use crate::switch::ports::MAX_PORTS;
use crate::switch::queues::Inputs;
use crate::switch::running::Switch;
use crate::switch::spec::{Architecture, FabricSpec, SlotSize, Speedup, SwitchSpec};
use crate::{NodeBound, Passage};
use spillgate_core::Problem;

/// A packet that waits, in a ring that is full and grows to twice its size.
const PER_PACKET: u64 = 3 * 72;
/// The state of an input for an output, without packets.
const PER_PAIR: u64 = 1024;

/// A validated switch: building it cannot fail.
#[derive(Clone, Debug)]
pub struct SwitchRecipe {
    ports: usize,
    line: Rate,
    is_voq: bool,
    speedup: Speedup,
    fabric: Option<FabricSpec>,
    buffer: Buffer,
    policy: Option<Recipe>,
    nu: f64,
}

impl SwitchRecipe {
    /// A switch of so many inputs and outputs, whose lines have the rate `line` unless the
    /// specification says another.
    ///
    /// # Errors
    /// The first value out of range, or key that has no meaning beside another, with its path.
    pub fn resolve(spec: &SwitchSpec, ports: usize, line: Rate) -> Result<Self, Problem> {
        Problem::check(
            (1..=MAX_PORTS).contains(&ports),
            "",
            format!("{ports} ports"),
            "a switch has 1 to 256 inputs and outputs",
            "attach fewer links to it, or list some of them under `inputs` and `outputs`",
        )?;
        let speedup = speedup(spec, ports)?;
        let is_voq = matches!(spec.architecture, Architecture::Voq | Architecture::Cioq);
        let fabric = fabric(spec, ports)?;
        if spec.architecture == Architecture::OutputQueued && spec.buffer.is_some() {
            return Err(Problem::new(
                "buffer",
                "a buffer at the inputs",
                "an output-queued switch has no queues there",
                "limit the policies of the links that leave the switch",
            ));
        }
        if let Some(policy) = spec.policy.as_ref().filter(|_| !is_voq) {
            return Err(Problem::new(
                "policy",
                policy,
                format!(
                    "`{}` has no virtual output queues",
                    spec.architecture.name()
                ),
                "leave it out, or write `architecture: voq` or `cioq`",
            ));
        }
        let nu = nu(spec, is_voq)?;
        let buffer = Buffer::resolve(spec.buffer.as_ref()).map_err(|p| p.under("buffer"))?;
        Ok(Self {
            ports,
            line: spec.line_rate.unwrap_or(line),
            is_voq,
            speedup,
            fabric,
            buffer,
            policy: None,
            nu,
        })
    }

    /// Sets the policy of each virtual output queue, which [`SwitchSpec::policy`] names; see
    /// [`SwitchRecipe::queue_rate`].
    #[must_use]
    pub fn with_policy(mut self, policy: Recipe) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The rate for which to resolve the policy of the virtual output queues: what one gets if it
    /// is served alone.
    pub fn queue_rate(&self) -> Rate {
        let share = match self.fabric {
            Some(FabricSpec::Parallel(_)) => self.ports as f64,
            _ => 1.0,
        };
        self.line.scaled(self.speedup.as_f64() / share)
    }

    /// Writes everything that decides the behavior of the switch, and nothing else.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self {
            ports,
            line,
            is_voq,
            speedup,
            fabric,
            buffer,
            policy,
            nu,
        } = self;
        write!(out, "{ports} {line:?} {is_voq} {speedup:?} {fabric:?}")?;
        write!(out, "{buffer:?} {nu:?}")?;
        match policy {
            None => Ok(()),
            Some(policy) => policy.write_identity(out, false),
        }
    }

    /// Upper estimate, in bytes, of the memory of a switch with all its queues full, for so many
    /// flows. Byte limits count at 64 B a packet; no limit counts as nothing.
    pub fn memory_bytes(&self, flows: usize) -> u64 {
        let ports = self.ports as u64;
        let queues = if self.is_voq { ports * ports } else { ports };
        let policies = self.policy.as_ref().map(|p| p.memory_bytes(flows));
        let waiting = match (self.buffer.packets(queues, ports), policies) {
            (Some(packets), _) => packets.saturating_mul(PER_PACKET),
            (None, Some(each)) => each.saturating_mul(queues),
            (None, None) => 0,
        };
        waiting.saturating_add(ports * ports * PER_PAIR)
    }

    /// The fabric in words: `crossbar, islip, cells of 64 B`.
    pub fn fabric_in_words(&self) -> String {
        match &self.fabric {
            None => "packets cross at once".to_owned(),
            Some(FabricSpec::Parallel(_)) => {
                let links = self.ports * self.ports;
                format!("{links} internal links of {}", self.queue_rate())
            }
            Some(FabricSpec::Crossbar(spec)) => {
                let cells = match spec.cell {
                    SlotSize::Packets => "whole packets".to_owned(),
                    size => format!("cells of {size}"),
                };
                format!("crossbar, {}, {cells}", spec.matching.kind())
            }
        }
    }

    /// What the virtual output queue that this goes through cannot exceed: behind a parallel fabric
    /// each is first in, first out, and has a link of its own.
    pub(crate) fn bound<'a>(
        &self,
        load: impl Iterator<Item = &'a Passage> + Clone,
    ) -> Result<NodeBound, Reason> {
        if !matches!(self.fabric, Some(FabricSpec::Parallel(_))) {
            let why = "when a crossbar serves an input depends on what waits at all others, and no bound of its matching is known";
            return Err(why.into());
        }
        if self.policy.is_some() {
            return Err("no bound of virtual output queues with a policy is known".into());
        }
        let (num, den) = self.speedup.fraction();
        let bits = u128::from(self.line.bps()) * u128::from(num);
        let parts = i128::from(den) * self.ports as i128;
        let bits = i128::try_from(bits).map_err(|_| NoBound::Overflow)?;
        let service = Curve::line(Exact::from_integer(0), Slope::below(bits, parts)?.exact());
        let longest = load.clone().map(|t| t.longest).max().unwrap_or(0);
        let come = sum(load.map(|t| t.bytes.as_ref()));
        let in_order = in_order(come.as_ref(), &service);
        // The packet that crosses is beside them.
        let full = self.buffer.bytes(longest);
        let by_limit = full.map(|full| service.serves(full.saturating_add(longest.into())));
        let by_limit = by_limit.transpose()?;
        let nothing = "nothing bounds what comes, and the queue has no limit";
        let delay = in_order
            .map(|(delay, _)| delay)
            .into_iter()
            .chain(by_limit)
            .min();
        let delay = delay.ok_or(nothing)?;
        let backlog = in_order.map_or(u64::MAX, |(_, backlog)| backlog);
        Ok(NodeBound {
            delay,
            backlog: backlog.min(full.unwrap_or(u64::MAX)),
            by_limit: in_order.is_none_or(|(come, _)| come > delay),
            lossless: full.is_none(),
        })
    }

    /// The rate of a line.
    pub fn line(&self) -> Rate {
        self.line
    }

    /// How many times faster than a line the fabric is.
    pub fn speedup(&self) -> Speedup {
        self.speedup
    }

    /// The fabric; none where packets pass at once.
    pub fn fabric(&self) -> Option<&FabricSpec> {
        self.fabric.as_ref()
    }

    /// The number of inputs, and of outputs.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// The weight of what waits at the inputs in the congestion measure of the outputs; 0 without
    /// one.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// Whether the switch has queues at its inputs.
    pub fn queues_inputs(&self) -> bool {
        self.fabric.is_some()
    }

    /// Whether inputs have a queue for each output.
    pub fn is_voq(&self) -> bool {
        self.is_voq
    }

    /// Whether it is a crossbar, which chooses what it connects.
    pub fn is_crossbar(&self) -> bool {
        matches!(self.fabric, Some(FabricSpec::Crossbar(_)))
    }

    /// A switch at its start. `flows`, by [`spillgate_core::Packet::flow`], are for policies that
    /// look at them.
    pub fn build(&self, flows: &Arc<[FlowKey]>) -> Switch {
        let mut inputs = Inputs::new(self.ports, self.is_voq, self.buffer, self.policy.as_ref());
        inputs.announce(flows);
        let (num, den) = self.speedup.fraction();
        let fabric = match &self.fabric {
            None => Fabric::Direct,
            Some(FabricSpec::Parallel(_)) => {
                let den = den * self.ports as u32;
                Fabric::Parallel(Parallel::new(self.ports, Pace::new(self.line, num, den)))
            }
            Some(FabricSpec::Crossbar(spec)) => {
                let pace = Pace::new(self.line, num, den);
                // Its parameters were checked.
                match (spec.matching.resolve(self.ports), spec.cell) {
                    (Err(_), _) => Fabric::Direct,
                    (Ok(matcher), SlotSize::Packets) => {
                        Fabric::Packets(Packets::new(self.ports, matcher, pace))
                    }
                    (Ok(matcher), SlotSize::Bytes(cell)) => {
                        Fabric::Crossbar(Crossbar::new(self.ports, matcher, cell as u32, pace))
                    }
                }
            }
        };
        Switch::new(inputs, fabric)
    }
}

fn speedup(spec: &SwitchSpec, ports: usize) -> Result<Speedup, Problem> {
    let Some(written) = spec.speedup else {
        return Ok(Speedup::ONE);
    };
    let has = matches!(
        spec.architecture,
        Architecture::InputQueued | Architecture::Cioq
    );
    if !has && written != Speedup::ONE {
        let of = match spec.architecture {
            Architecture::Voq => "at `voq` it is 1",
            _ => "at `output-queued` it is the number of ports",
        };
        return Err(Problem::new(
            "speedup",
            written,
            format!("the architecture decides the speedup: {of}"),
            "leave it out, or write `architecture: cioq`",
        ));
    }
    let (num, den) = written.fraction();
    let most = u64::from(den) * ports as u64;
    Problem::check(
        num >= den && u64::from(num) <= most && den <= 1_000_000,
        "speedup",
        written,
        &match ports {
            1 => "a switch of one port has a speedup of 1".to_owned(),
            n => format!("a switch of {n} ports has a speedup of 1 to {n}"),
        },
        "write a number or a fraction, such as 1.5 or 4/3",
    )?;
    Ok(written)
}

fn fabric(spec: &SwitchSpec, ports: usize) -> Result<Option<FabricSpec>, Problem> {
    let fabric = match (spec.architecture, &spec.fabric) {
        (Architecture::OutputQueued, None) => return Ok(None),
        (Architecture::OutputQueued, Some(_)) => {
            return Err(Problem::new(
                "fabric",
                "a fabric",
                "an output-queued switch carries packets at once",
                "leave it out, or write another architecture",
            ));
        }
        (Architecture::InputQueued, Some(FabricSpec::Parallel(_))) => {
            return Err(Problem::new(
                "fabric",
                "parallel",
                "each internal link needs a queue of its own",
                "write `architecture: cioq`, or `fabric: {crossbar: {}}`",
            ));
        }
        (_, written) => written.clone().unwrap_or_default(),
    };
    if let FabricSpec::Crossbar(crossbar) = &fabric {
        let matcher = crossbar
            .matching
            .resolve(ports)
            .map_err(|p| p.under("fabric.crossbar.matching"))?;
        if let SlotSize::Bytes(n) = crossbar.cell {
            Problem::check(
                (1..=65_535).contains(&n),
                "fabric.crossbar.cell",
                crossbar.cell,
                "a cell has 1 B to 65535 B",
                "write a size such as 64 B, or `packets`",
            )?;
        }
        if !matcher.always_finds() && crossbar.cell == SlotSize::Packets {
            return Err(no_slots(&crossbar.matching));
        }
        if matcher.asks_order() && spec.policy.is_some() {
            return Err(no_order(&crossbar.matching));
        }
    }
    Ok(Some(fabric))
}

fn no_slots(matching: &MatchingSpec) -> Problem {
    Problem::new(
        "fabric.crossbar.matching",
        matching.kind(),
        "it goes on from slot to slot, and packets of any length have no slots",
        "write the size of a cell, such as `cell: 64 B`, or another matching, such as `islip: {}`",
    )
}

fn no_order(matching: &MatchingSpec) -> Problem {
    Problem::new(
        "fabric.crossbar.matching",
        matching.kind(),
        "it asks which packet came first, which virtual output queues with a `policy` do not tell",
        "leave out `policy`, or write another matching, such as `islip: {}`",
    )
}

fn nu(spec: &SwitchSpec, is_voq: bool) -> Result<f64, Problem> {
    let Some(measure) = &spec.congestion_measure else {
        return Ok(0.0);
    };
    if !is_voq {
        return Err(Problem::new(
            "congestion_measure",
            "a congestion measure",
            format!(
                "`{}` has no virtual output queues",
                spec.architecture.name()
            ),
            "leave it out, or write `architecture: voq` or `cioq`",
        ));
    }
    Problem::check(
        measure.nu.is_finite() && measure.nu >= 0.0,
        "congestion_measure.nu",
        measure.nu,
        "the weight of what waits at the inputs is 0 or more",
        "usual values are 0.125 to 0.5",
    )?;
    Ok(measure.nu)
}
