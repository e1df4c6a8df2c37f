//! A switch with its outputs, in slots: arrivals, then phases of the crossbar, then one departure
//! for each output.

use std::collections::BTreeMap;

use spillgate_core::{Packet, Rate, Rng, Time};
use spillgate_nodes::switch::{FabricOutbox, Speedup, Switch, SwitchRecipe, SwitchSpec};

/// A switch of `ports` ports from its specification as JSON, on lines of 1 Gb/s.
pub(crate) fn recipe(json: &str, ports: usize) -> SwitchRecipe {
    let spec: SwitchSpec = serde_json::from_str(json).unwrap();
    SwitchRecipe::resolve(&spec, ports, Rate::from_bps(1_000_000_000).unwrap()).unwrap()
}

/// A crossbar with cells of 1000 B.
pub(crate) fn crossbar(architecture: &str, speedup: &str, matching: &str) -> String {
    format!(
        r#"{{"architecture": "{architecture}", "speedup": "{speedup}",
            "fabric": {{"crossbar": {{"cell": "1000 B", "matching": {{{matching}}}}}}}}}"#
    )
}

/// A switch in slots. A cell's [`Packet::sent`] is the slot of its arrival, its flow the input.
pub(crate) struct Slotted {
    pub(crate) switch: Switch,
    pub(crate) ports: usize,
    speedup: Speedup,
    pub(crate) slot: u64,
    /// By output: what waits there, by the number of its arrival, or by the order in which it
    /// crossed.
    outputs: Vec<BTreeMap<u64, Packet>>,
    in_order_of_arrival: bool,
    next: u64,
    rng: Rng,
    out: FabricOutbox,
    /// The cells that left in the last slot, with their outputs.
    pub(crate) left: Vec<(usize, Packet)>,
}

impl Slotted {
    pub(crate) fn new(json: &str, ports: usize, speedup: Speedup) -> Self {
        Self {
            switch: recipe(json, ports).build(&[].into()),
            ports,
            speedup,
            slot: 0,
            outputs: vec![BTreeMap::new(); ports],
            in_order_of_arrival: false,
            next: 0,
            rng: Rng::named(1, 0, "switch", "matching"),
            out: FabricOutbox::default(),
            left: Vec::new(),
        }
    }

    /// Outputs send what arrived at the switch first, not what crossed first.
    pub(crate) fn in_order_of_arrival(mut self) -> Self {
        self.in_order_of_arrival = true;
        self
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_ps(self.slot)
    }

    /// A cell arrives in the present slot.
    pub(crate) fn arrive(&mut self, input: usize, output: usize) {
        let mut packet = Packet::new(input as u32, 0, 1000);
        packet.sent = self.now();
        packet.handle = self.next;
        self.next += 1;
        let now = self.now();
        let pair = (input as u16, output as u16);
        self.switch
            .offer(now, pair, packet, &mut self.rng, &mut self.out);
        self.cross();
    }

    /// The rest of the slot.
    pub(crate) fn step(&mut self) {
        for _ in 0..self.speedup.phases_in(self.slot) {
            self.switch.phase(self.now(), &mut self.rng, &mut self.out);
            self.cross();
        }
        self.left.clear();
        for (output, queue) in self.outputs.iter_mut().enumerate() {
            if let Some((_, packet)) = queue.pop_first() {
                self.left.push((output, packet));
            }
        }
        self.slot += 1;
    }

    fn cross(&mut self) {
        for crossed in self.out.crossed.drain(..) {
            let key = if self.in_order_of_arrival {
                crossed.packet.handle
            } else {
                self.next += 1;
                self.next
            };
            self.outputs[usize::from(crossed.output)].insert(key, crossed.packet);
        }
    }

    pub(crate) fn waiting_at_inputs(&self) -> u32 {
        (0..self.ports as u16)
            .map(|o| self.switch.waiting_for(o).0)
            .sum()
    }
}

/// A mean with its standard error by the means of 20 batches: at an autocorrelation time far below
/// a batch, four of them hold with probability above 0.999 (Student's t with 19 degrees of freedom:
/// 0.9992).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    pub(crate) error: f64,
}

impl Estimate {
    /// Of `f`, which gives a sum and a count for each batch.
    pub(crate) fn of(mut batch: impl FnMut() -> (f64, f64)) -> Self {
        const N: usize = 20;
        let means: Vec<f64> = (0..N).map(|_| batch()).map(|(sum, n)| sum / n).collect();
        let mean = means.iter().sum::<f64>() / N as f64;
        let squares: f64 = means.iter().map(|m| (m - mean) * (m - mean)).sum();
        Self {
            mean,
            error: (squares / (N * (N - 1)) as f64).sqrt(),
        }
    }

    /// Fails unless the estimate agrees with `expected` within four standard errors, and these are
    /// below `resolution`.
    #[track_caller]
    pub(crate) fn agrees(self, expected: f64, resolution: f64, what: &str) {
        println!(
            "{what}: {:.5} +- {:.5}, expected {expected:.5}",
            self.mean, self.error
        );
        assert!(self.error < resolution, "{what}: {self:?} is too coarse");
        let off = (self.mean - expected).abs();
        assert!(
            off <= 4.0 * self.error,
            "{what}: {self:?}, expected {expected}"
        );
    }
}

/// How many times longer to run.
pub(crate) fn effort() -> u64 {
    u64::from(spillgate_core::testkit::effort())
}

/// Independent arrivals: an input has a cell in a slot with the sum of its row, for an output in
/// proportion.
pub(crate) struct Bernoulli {
    rows: Vec<Vec<f64>>,
    rng: Rng,
}

impl Bernoulli {
    pub(crate) fn new(rows: Vec<Vec<f64>>, seed: u64) -> Self {
        let rng = Rng::named(seed, 0, "traffic", "arrivals");
        Self { rows, rng }
    }

    pub(crate) fn uniform(ports: usize, load: f64, seed: u64) -> Self {
        Self::new(vec![vec![load / ports as f64; ports]; ports], seed)
    }

    /// Two thirds of the load from input i to output i, one third to output i + 1.
    pub(crate) fn diagonal(ports: usize, load: f64, seed: u64) -> Self {
        let mut rows = vec![vec![0.0; ports]; ports];
        for (i, row) in rows.iter_mut().enumerate() {
            row[i] += load * 2.0 / 3.0;
            row[(i + 1) % ports] += load / 3.0;
        }
        Self::new(rows, seed)
    }

    /// The arrivals of a slot.
    pub(crate) fn draw(&mut self) -> Vec<(usize, usize)> {
        let mut cells = Vec::new();
        for (input, row) in self.rows.iter().enumerate() {
            let mut u = self.rng.f64();
            for (output, rate) in row.iter().enumerate() {
                if u < *rate {
                    cells.push((input, output));
                    break;
                }
                u -= rate;
            }
        }
        cells
    }
}
