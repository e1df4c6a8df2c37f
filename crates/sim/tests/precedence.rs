//! What was in profile, and what became of it, against what a tap sees: colors by a reference of
//! RFC 2697 and RFC 2698 beside it, losses and delays of each code point in the core and from end
//! to end.

use crate::common;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dropped, Dscp, Time};
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::tap::{FlowInfo, Place, PortView, Seen, Tap};
use spillgate_sim::{Engine, Stop, World, layout};

const CORE: &str = "line";

/// The measured period in picoseconds.
const START: u64 = 2_000_000_000_000;
const END: u64 = 5_000_000_000_000;

fn within(at: Time) -> bool {
    (START..END).contains(&at.as_ps())
}

/// What is seen at the port of the core and at the destination.
#[derive(Default)]
struct Log {
    core: u32,
    flows: Vec<FlowInfo>,
    /// When it came, flow, bytes of IP, code point.
    came: Vec<(Time, u32, u16, Dscp)>,
    /// By code point: packets that came and were lost in the period, and waits of those that began
    /// to leave.
    queue: BTreeMap<Dscp, (u64, u64, Vec<f64>)>,
    /// By flow and code point: packets sent in the period that arrived and that were lost, and
    /// delays.
    ends: BTreeMap<(u32, Dscp), (u64, u64, Vec<f64>)>,
}

impl Tap for Log {
    fn begin(&mut self, flows: &[FlowInfo]) {
        self.flows = flows.to_vec();
    }

    fn offered(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link != self.core {
            return;
        }
        let p = seen.packet;
        self.came.push((port.now, p.flow, p.l3_len, p.dscp));
        if within(port.now) {
            self.queue.entry(p.dscp).or_default().0 += 1;
        }
    }

    fn served(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link == self.core && within(port.now) {
            let wait = port.now.since(seen.packet.arrived).as_secs_f64();
            self.queue.entry(seen.packet.dscp).or_default().2.push(wait);
        }
    }

    fn lost(&mut self, now: Time, place: Place, lost: &Dropped, _: Seen<'_>) {
        let p = &lost.packet;
        if matches!(place, Place::Port(link, _) if link == self.core) && within(now) {
            self.queue.entry(p.dscp).or_default().1 += 1;
        }
        if within(p.sent) {
            let flow = self.flows[p.flow as usize].of;
            self.ends.entry((flow, p.dscp)).or_default().1 += 1;
        }
    }

    fn received(&mut self, now: Time, seen: Seen<'_>) {
        let p = seen.packet;
        let info = self.flows[p.flow as usize];
        if within(p.sent) && !info.answers {
            let end = self.ends.entry((info.of, p.dscp)).or_default();
            end.0 += 1;
            end.2.push(now.since(p.sent).as_secs_f64());
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The values of the plan's one run, which are the same on both engines, and what a tap saw.
#[track_caller]
fn run(plan: &Plan) -> (impl Fn(Scope, &str, Metric) -> f64 + use<>, Log) {
    let world = &plan.variants[0].world;
    let [express, plain] = [Engine::Express, Engine::Plain].map(|engine| {
        let mut world = World::<WinnerTree>::on(engine, world, plan.seed, 0, true);
        while world.run(u64::MAX) != Stop::Done {}
        world.outcome()
    });
    assert_eq!(express.digest, plain.digest);
    let bits = |values: &spillgate_measure::table::Row| {
        values.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(&express.values), bits(&plain.values));
    let core = world.links.iter().position(|l| l.name == CORE).unwrap() as u32;
    let tap = Box::new(Log {
        core,
        ..Log::default()
    });
    let mut tapped = World::<WinnerTree>::tapped(world, plan.seed, 0, false, tap);
    while tapped.run(u64::MAX) != Stop::Done {}
    assert_eq!(tapped.digest(), express.digest);
    let log = tapped.into_tap().unwrap().into_any().downcast::<Log>();
    let layout = layout(world);
    let values = express.values;
    let of = move |scope, name: &str, metric: Metric| {
        let at = layout.position(scope, name, metric);
        values[at.unwrap_or_else(|| panic!("no {} of {name}", metric.name()))]
    };
    (of, *log.unwrap())
}

/// A site of two flows before a core; `police` is what the edge does with all of it, `queue` the
/// core's.
fn plan(police: &str, queue: &str, traffic: &str) -> Arc<Plan> {
    common::plan(&format!(
        "schema_version: 1
topology:
  nodes: [site, edge, core]
  links:
    site: {{from: site, to: edge, rate: 50 Mb/s, delay: 1 ms, duplex: true, input_policy: EDGE}}
    line: {{from: edge, to: core, rate: 4 Mb/s, delay: 5 ms, duplex: true, policy: CORE}}
policies:
  EDGE: {{class-based: {{classes: [{{name: acme, match: {{}}, police: {{{police}}}}}]}}}}
  CORE: {queue}
traffic:
{traffic}measurement: {{warmup: 2 s, duration: 3 s}}
runs: {{count: 1, seed: 3}}
"
    ))
}

/// A meter as the RFCs write it: counters in bytes times 8e12, to which a picosecond adds the rate.
struct Reference {
    rates: [u128; 2],
    bursts: [u128; 2],
    tokens: [u128; 2],
    last: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    TwoColors,
    /// RFC 2697.
    SingleRate,
    /// RFC 2698.
    TwoRates,
}

impl Reference {
    fn new(kind: Kind, rates: [u64; 2], bursts: [u64; 2]) -> Self {
        let bursts = bursts.map(|b| u128::from(b) * 8_000_000_000_000);
        Self {
            rates: rates.map(u128::from),
            bursts,
            tokens: bursts,
            last: 0,
            kind,
        }
    }

    /// 0: conforms, 1: exceeds, 2: violates.
    fn color(&mut self, at: u64, len: u16) -> usize {
        let passed = u128::from(at - self.last);
        self.last = at;
        let need = u128::from(len) * 8_000_000_000_000;
        let [first, second] = &mut self.tokens;
        *first += passed * self.rates[0];
        match self.kind {
            Kind::TwoColors => {}
            // "If Tc is less than CBS, Tc is incremented, else if Te is less than EBS, Te is."
            Kind::SingleRate => *second += first.saturating_sub(self.bursts[0]),
            Kind::TwoRates => *second += passed * self.rates[1],
        }
        *first = (*first).min(self.bursts[0]);
        *second = (*second).min(self.bursts[1]);
        let (has_first, has_second) = (*first >= need, *second >= need);
        let color = match self.kind {
            Kind::TwoColors => usize::from(!has_first),
            Kind::SingleRate if has_first => 0,
            Kind::SingleRate => 2 - usize::from(has_second),
            Kind::TwoRates if !has_second => 2,
            Kind::TwoRates => usize::from(!has_first),
        };
        if color == 0 {
            *first -= need;
        }
        if color == 1 && self.kind != Kind::TwoColors || color == 0 && self.kind == Kind::TwoRates {
            *second -= need;
        }
        color
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48 * effort()))]

    /// Every packet has the color of the reference, and results count them: within the measured
    /// period alone, as numbers, bytes, rates and shares.
    #[test]
    fn meters_find_what_the_rfcs_say(
        kind in prop_oneof![Just(Kind::TwoColors), Just(Kind::SingleRate), Just(Kind::TwoRates)],
        (cir, more) in (300_u64..3000, 1_u64..2000),
        (cbs, ebs) in (1500_u64..9000, 1500_u64..9000),
        load in 500_u32..4000,
    ) {
        let pir = cir + more;
        let actions = "conform: {set-dscp: af11}, exceed: {set-dscp: af12}";
        let police = match kind {
            Kind::TwoColors => format!("rate: {cir} kb/s, burst: {cbs} B, {actions}"),
            Kind::SingleRate => format!("rate: {cir} kb/s, burst: {cbs} B, excess_burst: {ebs} B, {actions}, violate: {{set-dscp: af13}}"),
            Kind::TwoRates => format!("rate: {cir} kb/s, burst: {cbs} B, peak_rate: {pir} kb/s, excess_burst: {ebs} B, {actions}, violate: {{set-dscp: af13}}"),
        };
        let traffic = format!("  - flow: {{name: a, from: site, to: core, source: {{poisson: {{rate: {load} kb/s, packet: imix}}}}}}
  - flow: {{name: b, from: site, to: core, source: {{on-off: {{peak: {load} kb/s, packet: 333 B, on: 40 ms, off: 40 ms}}}}}}
");
        let (of, log) = run(&plan(&police, "{fifo: {limit: 30 packets}}", &traffic));
        let mut reference = Reference::new(kind, [cir * 1000, pir * 1000], [cbs, ebs]);
        let (mut packets, mut bytes) = ([0_u64; 3], [0_u64; 3]);
        for (at, _, len, dscp) in &log.came {
            let color = reference.color(at.as_ps(), *len);
            prop_assert_eq!(Some(*dscp), Dscp::af(1, color as u8 + 1), "{} at {:?}", len, at);
            if within(*at) {
                packets[color] += 1;
                bytes[color] += u64::from(*len);
            }
        }
        let value = |metric| of(Scope::Meter, "site/acme", metric);
        use Metric::*;
        let all: u64 = bytes.iter().sum();
        prop_assert_eq!(value(PacketsOffered), packets.iter().sum::<u64>() as f64);
        prop_assert_eq!(value(Offered), all as f64 * 8.0 / 3.0);
        for (color, metrics) in [
            [PacketsConform, BytesConform, Conform, ConformRatio],
            [PacketsExceed, BytesExceed, Exceed, ExceedRatio],
            [PacketsViolate, BytesViolate, Violate, ViolateRatio],
        ].into_iter().enumerate() {
            let b = bytes[color] as f64;
            let expected = [packets[color] as f64, b, b * 8.0 / 3.0, b / all as f64];
            prop_assert_eq!(metrics.map(value), expected);
        }
    }

    /// Losses and waits of each code point in the core's queue, and losses and delays of each
    /// class's packets by the code point that they had at their end, are what a tap sees.
    #[test]
    fn losses_and_delays_by_precedence_are_what_a_tap_sees(
        queue in 0..QUEUES.len(),
        (cir, load) in (300_u64..3000, 1000_u32..5000),
        tcp in any::<bool>(),
    ) {
        let police = format!("rate: {cir} kb/s, burst: 5 kB, conform: {{set-dscp: af11}}, exceed: {{set-dscp: af12}}");
        let other = match tcp {
            true => "tcp: {profile: linux}".to_owned(),
            false => "source: {cbr: {rate: 700 kb/s, packet: 300 B}}".to_owned(),
        };
        let traffic = format!("  - flow: {{name: a, class: x, from: site, to: core, source: {{poisson: {{rate: {load} kb/s, packet: imix}}}}}}
  - flow: {{name: b, class: y, from: site, to: core, {other}}}
");
        let (leaf, policy) = QUEUES[queue];
        let (of, log) = run(&plan(&police, policy, &traffic));
        for dscp in ["af11", "af12"].map(|d| d.parse::<Dscp>().unwrap()) {
            let (came, lost, waits) = log.queue.get(&dscp).cloned().unwrap_or_default();
            let value = |metric| of(Scope::QueueDscp, &format!("line/{leaf}/{dscp}"), metric);
            prop_assert_eq!(value(Metric::PacketsOffered), came as f64);
            prop_assert_eq!(value(Metric::PacketsLost), lost as f64);
            mean_is(value(Metric::SojournMean), &waits)?;
            for (flow, class) in [(0, "x"), (1, "y")] {
                let (received, lost, delays) = log.ends.get(&(flow, dscp)).cloned().unwrap_or_default();
                let value = |metric| of(Scope::ClassDscp, &format!("{class}/{dscp}"), metric);
                prop_assert_eq!(value(Metric::PacketsReceived), received as f64);
                prop_assert_eq!(value(Metric::PacketsLost), lost as f64);
                if received + lost > 0 {
                    prop_assert_eq!(value(Metric::LossRatio), lost as f64 / (received + lost) as f64);
                }
                mean_is(value(Metric::OwdMean), &delays)?;
            }
        }
    }
}

/// Queues that tell precedences apart: with known departures, and of classes.
const QUEUES: [(&str, &str); 6] = [
    (
        "fifo",
        "{fifo: {limit: 30 packets, aqm: {wred: {defaults: staggered}}}}",
    ),
    (
        "fifo",
        "{fifo: {limit: 40 packets, aqm: {rio: {profile: [af11], in: {min_th: 10, max_th: 30, max_p: 0.1}, out: {min_th: 2, max_th: 10, max_p: 0.5}, weight: 0.1}}}}",
    ),
    (
        "fifo",
        "{fifo: {limit: 20 kB, aqm: {adaptive-rio: {profile: [af11], in: {min_th: 4, max_th: 12, max_p: 0.1}, max_th_low: 3, max_th_high: 12}}}}",
    ),
    ("a", "{class-based: {classes: [{name: a, phb: af1}]}}"),
    (
        "a",
        "{class-based: {classes: [{name: a, match: {dscp: [af11, af12]}, queue_limit: 30 packets, queue_limit_dscp: {af12: 10 packets}}]}}",
    ),
    (
        "drr",
        "{drr: {limit: 40 packets, aqm: {wred: {exponential_weighting_constant: 2, dscp: {af11: {min: 10, max: 20}, af12: {min: 3, max: 9}}}}}}",
    ),
];

/// A mean of some values, which are added in picoseconds.
fn mean_is(got: f64, values: &[f64]) -> Result<(), TestCaseError> {
    match values.len() {
        0 => prop_assert!(got.is_nan()),
        n => {
            let mean = values.iter().sum::<f64>() / n as f64;
            prop_assert!(
                (got - mean).abs() <= 1e-9 * mean.max(1e-9),
                "{got}, not {mean}"
            );
        }
    }
    Ok(())
}

/// A container's meter counts what all its classes let through to it, each meter under its own
/// name; what arrives is told from what leaves where both have one name.
#[test]
fn every_meter_has_its_own_counts() {
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [a, edge, b]
  links:
    in: {from: a, to: edge, rate: 50 Mb/s, input_policy: EDGE, policy: OUT}
    line: {from: edge, to: b, rate: 10 Mb/s}
policies:
  EDGE: {class-based: {classes: [{name: site, match: {}, police: {rate: 1 Mb/s, burst: 3 kB}, policy: INNER}]}}
  INNER: {class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 400 kb/s, burst: 2 kB}}]}}
  OUT: {class-based: {classes: [{name: site, match: {dscp: ef}, police: {rate: 5 Mb/s, exceed: {set-dscp: 0}}}]}}
traffic:
  - flow: {name: v, from: a, to: b, dscp: ef, source: {cbr: {rate: 800 kb/s, packet: 500 B}}}
  - flow: {name: d, from: a, to: b, source: {cbr: {rate: 2 Mb/s, packet: 500 B}}}
measurement: {warmup: 2 s, duration: 3 s}
runs: {count: 1, seed: 3}
",
    );
    let world = &plan.variants[0].world;
    let mut w = World::<WinnerTree>::new(world, 3, 0, false);
    while w.run(u64::MAX) != Stop::Done {}
    let (layout, of) = (layout(world), w.outcome());
    let value =
        |name: &str, metric| of.values[layout.position(Scope::Meter, name, metric).unwrap()];
    // 600 packets of voice, of which half conform to their own meter; 1500 others beside them.
    assert_eq!(value("in/site", Metric::PacketsConform), 600.0);
    let voice = value("in/site/v", Metric::PacketsConform);
    assert_eq!(value("in/site/v", Metric::PacketsOffered), 600.0);
    assert!((voice - 300.0).abs() <= 1.0, "{voice}");
    assert_eq!(
        value("in/site (arrival)", Metric::PacketsOffered),
        1500.0 + voice
    );
    let conform = value("in/site (arrival)", Metric::PacketsConform);
    assert!((conform - 750.0).abs() <= 1.0, "{conform}");
    assert_eq!(
        value("in/site (arrival)", Metric::PacketsExceed),
        1500.0 + voice - conform
    );
}
