//! The two indicators on a link of 100 Mb/s whose load is known.

use spillgate_core::{Dur, Packet, Rate, Time};

use super::link::Link;
use super::traffic::{Network, Source, greedy, ms, streams};
use crate::spec::FanSpec;

const C: f64 = 100e6;
const SCHEDULERS: [&str; 2] = ["pfq", "pdrr"];

fn rate() -> Rate {
    Rate::from_bps(100_000_000).unwrap()
}

/// A router that is never congested.
fn open(scheduler: &str) -> FanSpec {
    let json = format!(
        r#"{{"scheduler": {{"{scheduler}": {{}}}}, "min_fair_rate": "0 %", "max_priority_load": "100 %"}}"#
    );
    serde_json::from_str(&json).unwrap()
}

/// Fair rates and priority loads at the ticks of both, from the first whole second on.
fn measure(mut network: Network, seconds: u64) -> (Vec<f64>, Vec<f64>) {
    let (mut fair, mut load) = (Vec::new(), Vec::new());
    for tick in 1..=20 * seconds {
        let at = ms(50 * tick);
        network.run_to(at);
        let state = network.link.state(at);
        if tick > 20 {
            load.push(state.priority_load);
            if tick % 10 == 0 {
                fair.push(state.fair_rate);
            }
        }
    }
    (fair, load)
}

#[track_caller]
fn all_within(values: &[f64], expected: f64, tolerance: f64) {
    assert!(!values.is_empty());
    for v in values {
        assert!(
            (v - expected).abs() <= tolerance,
            "{expected} ± {tolerance}: {values:?}"
        );
    }
}

/// E1, E7: an idle link, before traffic and between, at every tick of a silence.
#[test]
fn an_idle_link_is_free() {
    for scheduler in SCHEDULERS {
        let mut link = Link::new(&open(scheduler), rate());
        assert_eq!(link.state(ms(0)).fair_rate, C);
        assert_eq!(link.state(ms(7_777)).fair_rate, C);
        for seq in 0..100 {
            link.arrive(ms(8_100), Packet::new(seq % 3, seq, 1500));
        }
        // 12 ms of traffic in the interval.
        assert_eq!(link.state(ms(8_400)).fair_rate, C);
        let measured = link.state(ms(8_500));
        assert_eq!(measured.fair_rate, C * 488.0 / 500.0);
        for tick in 18..40 {
            let state = link.state(ms(500 * tick));
            assert_eq!((state.fair_rate, state.priority_load), (C, 0.0), "{tick}");
            assert_eq!(link.state(ms(500 * tick + 499)), state);
        }
        // A packet after hours finds the same.
        link.arrive(ms(40_000_100), Packet::new(1, 100, 1500));
        assert_eq!(link.state(ms(40_000_499)).fair_rate, C);
    }
}

/// E2: streams alone. The load of an interval is off by the packets at its edges at most, here
/// one of each of 100 flows: 80 kb in 5 Mb.
#[test]
fn constant_rates_are_measured() {
    for scheduler in SCHEDULERS {
        for mbps in [10_u64, 30, 65] {
            let sources = streams(100, 100, mbps * 1_000_000);
            let network = Network::new(&open(scheduler), rate(), sources);
            let (fair, load) = measure(network, 3);
            all_within(&fair, C - mbps as f64 * 1e6, 0.05e6);
            let share = mbps as f64 / 100.0;
            all_within(&load, share, 0.003);
            let mean = load.iter().sum::<f64>() / load.len() as f64;
            assert!((mean - share).abs() <= 0.0005, "{mean} {share}");
        }
    }
}

/// E3: the fair rate moves in steps of a packet (PFQ) or a quantum (PDRR): 24 kb/s at most.
#[test]
fn greedy_flows_share() {
    for scheduler in SCHEDULERS {
        for n in [1_u64, 2, 10, 20, 50] {
            let (fair, _) = measure(Network::new(&open(scheduler), rate(), greedy(n)), 3);
            all_within(&fair, C / n as f64, 24e3);
        }
    }
}

/// E4: what streams leave is shared by greedy flows.
#[test]
fn streams_and_greedy_flows() {
    for scheduler in SCHEDULERS {
        let mut sources = streams(20, 100, 1_600_000);
        sources.extend(greedy(20));
        let (fair, load) = measure(Network::new(&open(scheduler), rate(), sources), 4);
        all_within(&fair, (C - 1.6e6) / 20.0, 24e3);
        // The bound of the specification; greedy flows get priority once per stay only.
        all_within(&load, 0.016, 0.0005);
    }
}

/// E5: rounds of priority packets alone are no service of the imaginary flow.
#[test]
fn priority_traffic_is_no_fair_share() {
    for scheduler in SCHEDULERS {
        let network = Network::new(&open(scheduler), rate(), streams(100, 100, 70_000_000));
        let (fair, _) = measure(network, 3);
        assert!(fair.iter().all(|f| (0.0..=30.1e6).contains(f)), "{fair:?}");
    }
}

/// E6: of an interval that is half idle and half saturated the larger half counts, not the sum.
/// What waits when the flows stop, 50 packets of 80 µs, shortens the idle half by 4 ms.
#[test]
fn halves_do_not_add_up() {
    for scheduler in SCHEDULERS {
        let mut sources = greedy(10);
        for s in &mut sources {
            if let Source::Greedy { start, stop, .. } = s {
                (*start, *stop) = (ms(1_000), ms(1_250));
            }
        }
        let mut network = Network::new(&open(scheduler), rate(), sources);
        network.run_to(ms(1_500));
        let fair = network.link.state(ms(1_500)).fair_rate;
        assert!((49.1e6..=50e6).contains(&fair), "{fair}");
    }
}

/// With smoothing the value moves by the weight; a long silence ends at the same as many looks.
#[test]
fn smoothing_weighs_the_past() {
    let mut spec = open("pfq");
    spec.fair_rate.smoothing = 0.75;
    spec.priority_load.smoothing = 0.75;
    let load = |link: &mut Link| {
        for seq in 0..10 {
            link.arrive(ms(110), Packet::new(seq, seq, 1000));
        }
    };
    let mut link = Link::new(&spec, rate());
    load(&mut link);
    // 80 kb of 5 Mb, a quarter of which counts, then three quarters of what was.
    let first = 0.25 * 0.016;
    assert_eq!(link.state(ms(150)).priority_load, first);
    assert_eq!(link.state(ms(200)).priority_load, 0.75 * first);
    let mut patient = Link::new(&spec, rate());
    load(&mut patient);
    for t in 0..2000 {
        link.state(ms(100 * t.max(2)));
    }
    assert_eq!(link.state(ms(200_000)), patient.state(ms(200_000)));
    assert_eq!(link.state(ms(7_000_000)), patient.state(ms(7_000_000)));
}

/// Ticks that are off the start begin with a partial interval that is not measured.
#[test]
fn ticks_may_be_out_of_phase() {
    let mut spec = open("pfq");
    spec.tick_phase = Dur::from_ms(230);
    let mut link = Link::new(&spec, rate());
    link.arrive(Time::ZERO, Packet::new(0, 0, 1500));
    // Ticks of the priority load at 30, 80, 130, ...: the packet came before the first.
    assert_eq!(link.state(ms(80)).priority_load, 0.0);
    link.arrive(ms(81), Packet::new(0, 1, 1500));
    assert_eq!(link.state(ms(129)).priority_load, 0.0);
    assert_eq!(link.state(ms(130)).priority_load, 12_000.0 / 5e6);
    link.arrive(ms(300), Packet::new(0, 2, 1500));
    assert_eq!(link.state(ms(729)).fair_rate, C);
    assert_eq!(link.state(ms(730)).fair_rate, C * (500.0 - 0.12) / 500.0);
}
