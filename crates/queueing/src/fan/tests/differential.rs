//! The router and the plain one do the same, packet by packet.

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dur, Limit, Packet, Percent, Rate, RateOrPercent, Rng, Size, Time};

use super::link::Link;
use super::plain::Plain;
use crate::fan::scheduler::{FairQueueParams, FairScheduler};
use crate::fan::spec::{
    BasicSpec, EfmSpec, ElasticRule, FairRateSpec, FanMechanism, FanScheduler, FanSpec, PdrrMode,
    PdrrSpec, PfqSpec, PriorityLoadSpec, RaefSpec, RbaefSpec,
};
use crate::leaf::Bound;
use crate::line::Longest;
use crate::sched::fair_tests::reference::{PlainPdrr, PlainPfq};

const FLOWS: u32 = 9;

#[derive(Clone, Copy, Debug)]
enum Op {
    Arrive(u32, u16),
    Pass(u64),
    /// To the next multiple of so many milliseconds, where ticks are.
    Align(u64),
    Look,
    Down,
    Up,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let len = prop_oneof![Just(1500_u16), Just(100), 40_u16..1500];
    let op = prop_oneof![
        24 => (0..FLOWS, len).prop_map(|(f, n)| Op::Arrive(f, n)),
        12 => (0_u64..12_000_000).prop_map(Op::Pass),
        2 => (0_u64..400_000_000).prop_map(Op::Pass),
        3 => prop_oneof![Just(5_u64), Just(20), Just(50)].prop_map(Op::Align),
        3 => Just(Op::Look),
        1 => Just(Op::Down),
        2 => Just(Op::Up),
    ];
    prop::collection::vec(op, 1..400)
}

fn mechanism() -> impl Strategy<Value = FanMechanism> {
    let ms = |range: std::ops::Range<u64>| range.prop_map(Dur::from_ms);
    prop_oneof![
        1 => Just(FanMechanism::Basic(BasicSpec {})),
        3 => ms(1..200).prop_map(|pfl_flushing_timer| FanMechanism::Efm(EfmSpec { pfl_flushing_timer })),
        3 => ms(1..200).prop_map(|active_time| FanMechanism::Raef(RaefSpec { active_time })),
        3 => (ms(1..200), ms(1..200)).prop_map(|(active_time, blocked_time)| {
            FanMechanism::Rbaef(RbaefSpec { active_time, blocked_time })
        }),
    ]
}

fn scheduler() -> impl Strategy<Value = FanScheduler> {
    let quantum = prop::option::of((4000_u64..9000).prop_map(Size));
    prop_oneof![
        prop::option::weighted(0.3, 1_u32..6)
            .prop_map(|afl_max| FanScheduler::Pfq(PfqSpec { afl_max })),
        (any::<bool>(), quantum).prop_map(|(literal, quantum)| {
            let mode = match literal {
                true => PdrrMode::Literal,
                false => PdrrMode::Charged,
            };
            FanScheduler::Pdrr(PdrrSpec { mode, quantum })
        }),
    ]
}

fn spec() -> impl Strategy<Value = FanSpec> {
    let percent =
        || (0_u32..=100).prop_map(|p| RateOrPercent::Percent(Percent(f64::from(p) / 100.0)));
    let smoothing = || prop_oneof![3 => Just(0.0), 1 => 0.0..0.999];
    let router = (scheduler(), mechanism(), percent(), percent());
    let measuring = (
        1_u64..80,
        smoothing(),
        1_u64..40,
        smoothing(),
        prop_oneof![2 => Just(0_u64), 1 => 0_u64..100],
    );
    let limits = (
        prop_oneof![
            Just(Limit::Packets(6)),
            Just(Limit::Bytes(9_000)),
            Just(Limit::Packets(40))
        ],
        prop_oneof![Just(1500_u64), Just(300), Just(4000)],
        prop::option::weighted(0.3, 1_u32..6),
        prop_oneof![3 => Just(1.0), 1 => Just(0.5)],
        prop::option::weighted(0.3, 1_u32..4),
        1_u64..300,
    );
    (router, measuring, limits, any::<bool>(), any::<bool>()).prop_map(
        |(router, m, limits, instant, accept_trigger)| FanSpec {
            scheduler: router.0,
            mechanism: router.1,
            min_fair_rate: router.2,
            max_priority_load: router.3,
            fair_rate: FairRateSpec {
                interval: Dur::from_ms(m.0),
                smoothing: m.1,
            },
            priority_load: PriorityLoadSpec {
                interval: Dur::from_ms(m.2),
                smoothing: m.3,
            },
            tick_phase: Dur::from_ms(m.4),
            limit: limits.0,
            mtu: Some(Size(limits.1)),
            pfl_max: limits.2,
            p_add: limits.3,
            admissions_per_tick: limits.4,
            pfl_flow_timeout: Dur::from_ms(limits.5),
            elastic: if instant {
                ElasticRule::Instant
            } else {
                ElasticRule::Sticky
            },
            accept_trigger,
            protected_list: None,
        },
    )
}

fn params(spec: &FanSpec, rate: Rate) -> FairQueueParams {
    let mtu = spec.unit(Longest::default()).0 as u32;
    let base = FairQueueParams {
        limit: Bound::new(spec.limit, rate),
        mtu,
        quantum: mtu,
        charged: true,
        afl_max: u32::MAX,
    };
    match &spec.scheduler {
        FanScheduler::Pfq(s) => FairQueueParams {
            afl_max: s.afl_max.unwrap_or(u32::MAX),
            ..base
        },
        FanScheduler::Pdrr(s) => FairQueueParams {
            quantum: s.quantum.map_or(mtu, |q| q.0 as u32),
            charged: s.mode == PdrrMode::Charged,
            ..base
        },
    }
}

fn compare<S: FairScheduler>(
    spec: &FanSpec,
    rate: Rate,
    scheduler: S,
    ops: &[Op],
) -> Result<(), TestCaseError> {
    let mut fast = Link::new(spec, rate);
    let mut plain = Plain::new(spec, rate, scheduler, fast.rng());
    let mut now = Time::ZERO;
    for (seq, op) in (0..).zip(ops) {
        match *op {
            Op::Arrive(flow, len) => {
                let packet = Packet::new(flow, seq, len);
                fast.arrive(now, packet);
                plain.arrive(now, packet);
            }
            Op::Pass(ns) => now += Dur::from_ns(ns),
            Op::Align(ms) => {
                let grid = Dur::from_ms(ms).as_ps();
                now = Time::from_ps(now.as_ps().div_ceil(grid) * grid);
            }
            Op::Look => {
                prop_assert_eq!(fast.state(now), plain.state(now), "at {}", now);
                prop_assert_eq!(fast.waits(now), plain.waits(now), "at {}", now);
            }
            Op::Down => {
                fast.set_down(now, true);
                plain.set_down(now, true);
            }
            Op::Up => {
                fast.set_down(now, false);
                plain.set_down(now, false);
            }
        }
    }
    // Until all have been silent for too long and no block lasts.
    for _ in 0..3 {
        now += Dur::from_ms(217);
        prop_assert_eq!(fast.state(now), plain.state(now));
        prop_assert_eq!(fast.waits(now), plain.waits(now));
    }
    prop_assert_eq!(&fast.ledger, &plain.ledger);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600 * effort()))]

    #[test]
    fn the_router_does_what_the_text_says(spec in spec(), ops in ops()) {
        // 1500 B take 12 ms.
        let rate = Rate::from_bps(1_000_000).unwrap();
        let params = params(&spec, rate);
        match &spec.scheduler {
            FanScheduler::Pfq(_) => compare(&spec, rate, PlainPfq::new(params, true), &ops)?,
            FanScheduler::Pdrr(_) => compare(&spec, rate, PlainPdrr::new(params), &ops)?,
        }
    }
}

/// Long runs under a load that congests, with many flows and every mechanism.
#[test]
fn long_runs_agree() {
    let rate = Rate::from_bps(1_000_000).unwrap();
    let mut outcomes = std::collections::BTreeSet::new();
    for (case, mechanism) in (0..).zip(["basic", "efm", "raef", "rbaef"]) {
        for elastic in ["sticky", "instant"] {
            let json = format!(
                r#"{{"mechanism": {{"{mechanism}": {{}}}}, "elastic": "{elastic}", "limit": "30 packets", "min_fair_rate": "8 %",
                    "pfl_flow_timeout": "2 s"}}"#
            );
            let mut spec: FanSpec = serde_json::from_str(&json).unwrap();
            if case % 2 == 1 {
                spec.scheduler = FanScheduler::Pdrr(PdrrSpec::default());
            }
            let ops: Vec<Op> = {
                let mut rng = Rng::from_key(case);
                let mut step = || match rng.below(40) {
                    0 => Op::Look,
                    // Few packets of flows 100 to 999, many of the others.
                    1..=9 => Op::Arrive(100 + rng.below(900), 100),
                    10..=24 => Op::Arrive(rng.below(60), 40 + rng.below(1460) as u16),
                    _ => Op::Pass(u64::from(rng.below(16_000_000))),
                };
                (0..20_000).map(|_| step()).collect()
            };
            let params = params(&spec, rate);
            let compared = match &spec.scheduler {
                FanScheduler::Pfq(_) => compare(&spec, rate, PlainPfq::new(params, true), &ops),
                FanScheduler::Pdrr(_) => compare(&spec, rate, PlainPdrr::new(params), &ops),
            };
            compared.unwrap_or_else(|e| panic!("{json}: {e}"));
            // The load must have been one that means something.
            let mut link = Link::new(&spec, rate);
            let mut now = Time::ZERO;
            for (seq, op) in (0..).zip(&ops) {
                match *op {
                    Op::Arrive(flow, len) => link.arrive(now, Packet::new(flow, seq, len)),
                    Op::Pass(ns) => now += Dur::from_ns(ns),
                    _ => {}
                }
            }
            let flushes = link.state(now).flushes;
            assert_eq!(flushes > 3, mechanism != "basic", "{json}: {flushes}");
            outcomes.extend(link.ledger.iter().map(|(.., how)| *how));
        }
    }
    let expected = ["drops_admission", "drops_pushed_out", "sent"];
    assert!(
        expected.iter().all(|e| outcomes.contains(e)),
        "{outcomes:?}"
    );
}
