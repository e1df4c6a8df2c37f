//! RIO of ns-2's DiffServ module beside ours: the same scenarios with its rule as it is, and with
//! what is wrong in it mended.
//!
//! `diffserv/dsredq.cc` of ns-2.35 spreads gaps by p_a = p_b / (1 - count p_b) as RED does, but
//! without a bound: where p_b grows between two packets, count p_b passes 1, p_a is negative, and
//! nothing more is dropped by chance until the average leaves the thresholds. `bench/diffserv.py`
//! compares both programs; where they differ this tells whether that is why.

use crate::common;
use std::path::Path;
use std::sync::Arc;

use spillgate_core::{DropReason, Packet, Time, Verdict, math};
use spillgate_measure::table::{Metric, Scope};
use spillgate_queueing::{Backlog, CustomAqm, Draw};
use spillgate_scenario::plan::Plan;

const RUNS: u32 = 20;
const RUNS_OF_NS2: u32 = 100;

/// The module's rule for two precedences, in plain words, with thresholds, `max_p` and weight of
/// `bench/cases/diffserv.yaml`.
#[derive(Clone, Debug)]
struct Dsred {
    /// RIO-C: the average of what is out is that of all.
    coupled: bool,
    /// Negative probabilities drop nothing.
    negative: bool,
    waiting: [u32; 2],
    /// Of what is in, and of what is out or of all.
    average: [f64; 2],
    count: [i64; 2],
    /// Since when there is nothing of it; none while there is.
    idle: [Option<Time>; 2],
    /// Whether the packet that was let in last is out.
    last: usize,
}

impl Dsred {
    fn new(coupled: bool, negative: bool) -> Self {
        Self {
            coupled,
            negative,
            waiting: [0; 2],
            average: [0.0; 2],
            count: [0; 2],
            idle: [Some(Time::ZERO); 2],
            last: 0,
        }
    }

    fn precedence(packet: &Packet) -> usize {
        // AF11 is in.
        usize::from(packet.dscp.value() != 10)
    }

    /// Packets by which the average of this precedence is sampled.
    fn length(&self, prec: usize) -> u32 {
        match self.coupled {
            true => self.waiting[..=prec].iter().sum(),
            false => self.waiting[prec],
        }
    }

    fn sample(&mut self, prec: usize, now: Time) {
        // 1250 packets of 1000 B a second at 10 Mb/s; whole ones count.
        let missed = self.idle[prec].map_or(0.0, |since| {
            (1250.0 * now.since(since).as_secs_f64()).floor()
        });
        self.average[prec] *= math::pow(0.99, 1.0 + missed);
        self.average[prec] += 0.01 * f64::from(self.length(prec));
    }

    fn takes(&mut self, prec: usize) {
        self.waiting[prec] += 1;
        self.idle[prec] = None;
        if self.coupled {
            self.idle[1] = None;
        }
        self.last = prec;
    }
}

impl CustomAqm for Dsred {
    fn arrival(&mut self, now: Time, _: &Backlog, packet: &Packet, draw: &mut dyn Draw) -> Verdict {
        let prec = Self::precedence(packet);
        self.sample(prec, now);
        if self.coupled && prec == 0 {
            self.sample(1, now);
        }
        let (min, max, max_p) = [(40.0, 70.0, 0.02), (10.0, 30.0, 0.1)][prec];
        let average = self.average[prec];
        if average <= min {
            self.count[prec] = -1;
        } else if average > max {
            self.count[prec] = 0;
            return Verdict::Drop(DropReason::Forced);
        } else {
            self.count[prec] += 1;
            let p_b = max_p * (average - min) / (max - min);
            let left = 1.0 - self.count[prec] as f64 * p_b;
            let bounded = !self.negative && left <= 0.0;
            if bounded || draw.draw() <= p_b / left {
                self.count[prec] = 0;
                return Verdict::Drop(DropReason::Early);
            }
        }
        self.takes(prec);
        Verdict::Pass
    }

    fn departure(&mut self, now: Time, _: &Backlog, packet: &Packet, _: &mut dyn Draw) -> Verdict {
        let prec = Self::precedence(packet);
        self.waiting[prec] -= 1;
        if self.waiting[prec] == 0 {
            if !self.coupled || prec == 0 {
                self.idle[prec] = Some(now);
            }
            if self.coupled && self.waiting == [0; 2] {
                self.idle[1] = Some(now);
            }
        }
        Verdict::Pass
    }

    fn overflowed(&mut self) {
        self.waiting[self.last] -= 1;
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

/// A case of `bench/diffserv.py`.
struct Case {
    name: &'static str,
    coupled: bool,
    /// What is other than in the file.
    replaced: &'static [(&'static str, &'static str)],
    /// What is compared: the mean queue in packets, or the share of packets in profile that are
    /// lost, in percent.
    what: What,
    /// Mean and standard deviation of it over 100 runs of ns-2, with seeds 1 to 100.
    ns2: (f64, f64),
    /// Whether enough is dropped by chance for these runs to tell the module's rule from ours.
    told_apart: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Queue,
    InLost,
}

const SOURCE: &str = "source: {poisson: {rate: 6 Mb/s, packet: 1000 B}}";
const TCP: [(&str, &str); 4] = [
    ("{name: s, count: 2}", "{name: s, count: 4}"),
    ("count: 2, from", "count: 4, from"),
    (SOURCE, "tcp: {profile: ns2, cc: newreno, mss: 960 B}"),
    (
        "to: edge, rate: 100 Mb/s, delay: 1 ms",
        "to: edge, rate: 100 Mb/s, delay: [5 ms, 10 ms, 20 ms, 40 ms]",
    ),
];
const METER: &str = "rate: 3 Mb/s, window: 1 s";

const CASES: [Case; 5] = [
    Case {
        name: "RIO-D, 12 Mb/s",
        coupled: false,
        replaced: &[],
        what: What::InLost,
        ns2: (0.4767, 0.0484),
        told_apart: true,
    },
    Case {
        name: "RIO-D, 10.2 Mb/s",
        coupled: false,
        replaced: &[("6 Mb/s", "5.1 Mb/s")],
        what: What::Queue,
        ns2: (36.942, 2.328),
        told_apart: false,
    },
    Case {
        name: "RIO-C, 10.2 Mb/s",
        coupled: true,
        replaced: &[("6 Mb/s", "5.1 Mb/s")],
        what: What::Queue,
        ns2: (15.661, 0.535),
        told_apart: false,
    },
    Case {
        name: "RIO-C, TSW2CM, TCP",
        coupled: true,
        replaced: &[
            TCP[0],
            TCP[1],
            TCP[2],
            TCP[3],
            (METER, "rate: 2 Mb/s, window: 1 s"),
        ],
        what: What::Queue,
        ns2: (11.695, 0.226),
        told_apart: true,
    },
    Case {
        name: "RIO-D, token bucket, TCP",
        coupled: false,
        replaced: &[
            TCP[0],
            TCP[1],
            TCP[2],
            TCP[3],
            (METER, "rate: 2 Mb/s, burst: 25 kB"),
        ],
        what: What::Queue,
        ns2: (45.273, 1.963),
        told_apart: true,
    },
];

/// Mean and standard deviation over the runs of what is compared; with an AQM in place of RIO, if
/// there is one.
fn measured(case: &Case, aqm: Option<Dsred>) -> (f64, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/cases/diffserv.yaml");
    let mut text = std::fs::read_to_string(path).expect("the scenario");
    let mode = if case.coupled { "coupled" } else { "decoupled" };
    for (from, to) in case.replaced.iter().chain([&("coupled", mode)]) {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let mut plan: Arc<Plan> = common::plan(&text);
    if let Some(aqm) = aqm {
        let own = Arc::get_mut(&mut plan).expect("nobody else has it");
        let world = Arc::get_mut(&mut own.variants[0].world).expect("nobody else has it");
        let core = world
            .links
            .iter_mut()
            .find(|l| &*l.name == "core")
            .expect("a core");
        core.discipline
            .manage("fifo", Box::new(aqm))
            .expect("a queue");
    }
    let finished = common::run(&plan, 2);
    assert_eq!(finished.len(), RUNS as usize);
    let of = |scope, name: &str, metric| common::values(&plan, &finished, scope, name, metric);
    let carried = |class| of(Scope::Input, class, Metric::Carried);
    let all: Vec<f64> = match case.what {
        What::Queue => of(Scope::Queue, "core/fifo", Metric::BacklogPacketsMean),
        What::InLost => {
            let both = carried("marked/af11").into_iter().zip(carried("core/af11"));
            both.map(|(came, left)| 100.0 * (1.0 - left / came))
                .collect()
        }
    };
    let n = f64::from(RUNS);
    let mean = all.iter().sum::<f64>() / n;
    let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, variance.sqrt())
}

/// How far two means of so many runs may be apart: five such intervals hold together with 95 %
/// (Student's t with 19 degrees of freedom, of which Welch's never are fewer).
fn most(a: (f64, u32), b: (f64, u32)) -> f64 {
    let part = |(deviation, runs): (f64, u32)| deviation * deviation / f64::from(runs);
    2.8609 * (part(a) + part(b)).sqrt()
}

#[test]
fn negative_probabilities_are_the_difference_to_ns_2() {
    for case in &CASES {
        let (name, ns2) = (case.name, case.ns2);
        let ours = measured(case, None);
        let mended = measured(case, Some(Dsred::new(case.coupled, false)));
        let as_it_is = measured(case, Some(Dsred::new(case.coupled, true)));
        let apart = |(what, of): (&str, (f64, f64))| {
            let (less, most) = (of.0 - ns2.0, most((of.1, RUNS), (ns2.1, RUNS_OF_NS2)));
            println!(
                "{name}: {what} {:.3}, ns-2 {:.3}: {less:+.3} +- {most:.3}",
                of.0, ns2.0
            );
            less.abs() > most
        };
        let told_apart = apart(("ours", ours));
        assert!(told_apart || !case.told_apart, "{name}");
        assert!(!apart(("the module's rule", as_it_is)), "{name}");
        apart(("that mended", mended));
        let less = ours.0 - mended.0;
        let most = most((ours.1, RUNS), (mended.1, RUNS));
        assert!(
            less.abs() <= most,
            "{name}: ours less mended {less} +- {most}"
        );
    }
}
