//! Admission and its mechanisms by example, each with the numbers that it must show.

use spillgate_core::{Dur, Packet, Rate, Rng, Time, math};

use super::link::Link;
use super::traffic::{Network, Source, greedy, ms, streams};
use crate::evidence::Refused;
use crate::spec::FanSpec;

fn mbps(n: u64) -> Rate {
    Rate::from_bps(n * 1_000_000).unwrap()
}

fn spec(json: &str) -> FanSpec {
    serde_json::from_str(json).unwrap()
}

/// Congested in every interval that has begun with some priority traffic in the one before.
const ANY_LOAD: &str = r#""min_fair_rate": "0 %", "max_priority_load": "0 %""#;

/// The last line of the ledger.
fn last(link: &Link) -> &'static str {
    link.ledger.last().unwrap().3
}

/// Lets a flow that is listed at time 0 keep the link busy until `end`, every 10 ms from 1 ms on.
fn keep_busy(link: &mut Link, flow: u32, end: Time) {
    let mut at = ms(1);
    while at < end {
        link.arrive(at, Packet::new(flow, 0, 100));
        at += Dur::from_ms(10);
    }
}

/// A4.
#[test]
fn silence_ends_protection_after_the_time_out() {
    for (silence, stays) in [(20_000, true), (20_001, false)] {
        let spec = spec(&format!("{{{ANY_LOAD}}}"));
        let mut link = Link::new(&spec, mbps(100));
        link.arrive(ms(0), Packet::new(1, 0, 100));
        keep_busy(&mut link, 2, ms(silence));
        assert!(link.state(ms(silence)).congested);
        link.arrive(ms(silence), Packet::new(1, 1, 100));
        let how = link.ledger.iter().rev().find(|l| l.1 == 1).unwrap().3;
        assert_eq!(how == "sent", stays, "{silence}");
        let wait = link.waits(ms(silence))[0];
        assert_eq!(
            (wait.timeouts, wait.refused_total),
            (u32::from(!stays), u64::from(!stays))
        );
        assert_eq!(wait.refused, 0, "it was admitted before");
    }
}

/// A5: the boundary lies between 19 and 20 greedy flows beside 20 streams.
#[test]
fn twenty_greedy_flows_close_the_link() {
    for scheduler in ["pfq", "pdrr"] {
        for (n, closed) in [(19, false), (20, true)] {
            let spec = spec(&format!(r#"{{"scheduler": {{"{scheduler}": {{}}}}}}"#));
            let mut sources = streams(20, 100, 1_600_000);
            sources.extend(greedy(n));
            let mut network = Network::new(&spec, mbps(100), sources);
            for tick in 2..10 {
                network.run_to(ms(500 * tick));
                let state = network.link.state(ms(500 * tick));
                assert_eq!(state.congested, closed, "{scheduler} {n}: {state:?}");
                assert_eq!(u64::from(state.listed), 20 + n);
            }
        }
    }
}

/// A6.
#[test]
fn too_much_priority_traffic_closes_the_link() {
    for (load, admitted) in [(71_000_000, false), (69_000_000, true)] {
        let sources = streams(100, 100, load);
        let mut network = Network::new(&spec("{}"), mbps(100), sources);
        network.run_to(ms(720));
        network.link.arrive(ms(720), Packet::new(100, 0, 100));
        let wait = network.link.waits(ms(720))[100];
        assert_eq!(wait.admitted.is_some(), admitted);
        if !admitted {
            assert_eq!(wait.refused, 1);
        }
    }
}

/// A2, A7, A10, A11: EFM flushes at most once per timer, removes all elastic flows and no other,
/// drops the packet that caused it, and leaves indicators and queue as they were.
#[test]
fn a_flush_removes_elastic_flows_and_nothing_else() {
    for elastic in ["sticky", "instant"] {
        for scheduler in ["pfq", "pdrr"] {
            let spec = spec(&format!(
                r#"{{"scheduler": {{"{scheduler}": {{}}}}, "elastic": "{elastic}", "mechanism": {{"efm": {{"pfl_flushing_timer": "2 s"}}}}}}"#
            ));
            let mut sources = streams(20, 100, 1_600_000);
            sources.extend(greedy(30));
            let mut network = Network::new(&spec, mbps(100), sources);
            network.run_to(ms(1_102));
            let before = network.link.state(ms(1_102));
            assert!(before.congested && before.listed == 50, "{before:?}");
            let backlog = network.link.discipline.backlog_packets();
            assert!(backlog > 100);
            network.link.arrive(ms(1_102), Packet::new(99, 0, 100));
            assert_eq!(last(&network.link), "drops_admission");
            let after = network.link.state(ms(1_102));
            assert_eq!((after.listed, after.flushes), (20, 1));
            assert_eq!(network.link.discipline.backlog_packets(), backlog);
            let frozen = |s: crate::AdmissionState| (s.fair_rate, s.priority_load, s.congested);
            assert_eq!(frozen(after), frozen(before));
            // What waited leaves: the link stays busy for it.
            let sent = |n: &Network| n.link.ledger.iter().filter(|l| l.3 == "sent").count();
            let was = sent(&network);
            let mut alone = network.link;
            alone.run_to(ms(2_000));
            let left = alone.ledger.iter().filter(|l| l.3 == "sent").count();
            assert_eq!(left - was, backlog as usize);
        }
    }
}

/// A7: the times of flushes.
#[test]
fn flushes_keep_their_distance() {
    let spec = spec(r#"{"mechanism": {"efm": {"pfl_flushing_timer": "700 ms"}}}"#);
    let mut sources = greedy(60);
    // Somebody must ask first; then those who were removed do.
    sources.extend((0..60).map(|i| Source::Stream {
        len: 100,
        every: Dur::from_ms(10),
        start: ms(1_200 + 111 * i),
        stop: Time::MAX,
    }));
    let mut network = Network::new(&spec, mbps(100), sources);
    let mut flushes = vec![];
    for t in 1..8_000 {
        network.run_to(ms(t));
        if network.link.state(ms(t)).flushes > flushes.len() as u64 {
            flushes.push(t);
        }
    }
    assert!(flushes.len() >= 5, "{flushes:?}");
    // Seen to a millisecond.
    assert!(
        flushes.windows(2).all(|w| w[1] - w[0] >= 699),
        "{flushes:?}"
    );
}

/// A8: RAEF removes those that are old enough, at every refused packet.
#[test]
fn the_old_leave_first() {
    for elastic in ["sticky", "instant"] {
        let spec = spec(&format!(
            r#"{{"elastic": "{elastic}", "mechanism": {{"raef": {{"active_time": "1 s"}}}}}}"#
        ));
        let mut sources = greedy(30);
        for s in &mut sources[15..] {
            if let Source::Greedy { start, .. } = s {
                *start += Dur::from_ms(200);
            }
        }
        let mut network = Network::new(&spec, mbps(100), sources);
        let listed = |network: &mut Network, t: u64| {
            network.run_to(ms(t));
            network.link.arrive(ms(t), Packet::new(99, 0, 100));
            network.link.state(ms(t)).listed
        };
        // The first 15 were admitted from 0 to 5 ms, the others from 205 to 210 ms.
        assert_eq!(listed(&mut network, 999), 30, "{elastic}");
        assert_eq!(listed(&mut network, 1_006), 15, "{elastic}");
        assert_eq!(listed(&mut network, 1_204), 15, "{elastic}");
        assert_eq!(listed(&mut network, 1_212), 0, "{elastic}");
        let removals = |r: std::ops::Range<usize>| -> u32 {
            network.link.discipline.waits(ms(1_212))[r]
                .iter()
                .map(|w| w.removals)
                .sum()
        };
        assert_eq!((removals(0..15), removals(15..30)), (15, 15));
    }
}

/// A9: RBAEF blocks to the instant, and blocked packets set nothing off.
#[test]
fn the_removed_are_blocked() {
    let spec =
        spec(r#"{"mechanism": {"rbaef": {"active_time": "1 s", "blocked_time": "600 ms"}}}"#);
    let mut sources = greedy(30);
    for s in &mut sources {
        if let Source::Greedy { stop, .. } = s {
            *stop = ms(1_100); // no retries
        }
    }
    let mut network = Network::new(&spec, mbps(100), sources);
    network.run_to(ms(1_100));
    let mut link = network.link;
    link.arrive(ms(1_100), Packet::new(99, 0, 100));
    let state = link.state(ms(1_100));
    assert_eq!((state.listed, state.blocked, state.flushes), (0, 30, 1));
    let until = ms(1_700);
    let just_before = Time::from_ps(until.as_ps() - 1);
    for t in [ms(1_101), ms(1_600), just_before] {
        link.run_to(t);
        let refusal = link.why(t, Packet::new(3, 1, 100)).unwrap();
        assert_eq!(refusal.why, Refused::Blocked { until });
    }
    assert_eq!(link.state(just_before).blocked, 30);
    assert_eq!(link.state(until).blocked, 0);
    assert_eq!(link.state(until).flushes, 1);
    // The link has been open since 1.5 s: at that instant the flow is one like any other.
    link.arrive(until, Packet::new(3, 2, 100));
    assert_eq!(link.state(until).listed, 1);
    let wait = link.waits(until)[3];
    assert_eq!(
        (wait.admissions, wait.removals, wait.refused_total),
        (2, 1, 3)
    );
}

#[test]
fn refusals_say_why() {
    let quota = spec(r#"{"mechanism": {"rbaef": {}}, "admissions_per_tick": 2}"#);
    let mut link = Link::new(&quota, mbps(100));
    for flow in 0..2 {
        assert_eq!(link.why(ms(0), Packet::new(flow, 0, 1500)), None);
    }
    let quota = link.why(ms(0), Packet::new(2, 0, 1500)).unwrap();
    assert_eq!((quota.why, quota.fair_rate), (Refused::Quota, 100e6));
    assert_eq!((quota.min_fair_rate, quota.max_priority_load), (5e6, 0.7));
    assert_eq!(quota.mechanism, "rbaef");
    // At the tick two more may come.
    link.run_to(ms(499));
    assert_eq!(link.why(ms(500), Packet::new(2, 1, 1500)), None);

    let mut network = Network::new(&spec("{}"), mbps(100), greedy(30));
    network.run_to(ms(1_200));
    let fair = network
        .link
        .why(ms(1_200), Packet::new(99, 0, 100))
        .unwrap();
    assert_eq!((fair.why, fair.mechanism), (Refused::FairRate, "basic"));
    assert!(fair.fair_rate < fair.min_fair_rate);

    let mut network = Network::new(&spec("{}"), mbps(100), streams(100, 100, 80_000_000));
    network.run_to(ms(1_200));
    let load = network
        .link
        .why(ms(1_200), Packet::new(199, 0, 100))
        .unwrap();
    assert_eq!(load.why, Refused::PriorityLoad);
    assert!(load.priority_load > load.max_priority_load);

    let mut link = Link::new(&spec(r#"{"scheduler": {"pfq": {"afl_max": 2}}}"#), mbps(1));
    for flow in 0..3 {
        assert_eq!(link.why(ms(0), Packet::new(flow, 0, 1500)), None);
    }
    let full = link.why(ms(0), Packet::new(3, 0, 1500)).unwrap();
    assert_eq!(full.why, Refused::ActiveFlows);
}

/// The packet that sets a removal off is admitted at once if the policy says so.
#[test]
fn the_trigger_may_be_accepted() {
    for mechanism in [r#"{"efm": {}}"#, r#"{"raef": {"active_time": "1 s"}}"#] {
        let spec = spec(&format!(
            r#"{{"accept_trigger": true, "mechanism": {mechanism}}}"#
        ));
        let mut network = Network::new(&spec, mbps(100), greedy(30));
        network.run_to(ms(1_102));
        assert!(network.link.state(ms(1_102)).congested);
        network.link.arrive(ms(1_102), Packet::new(99, 0, 100));
        let state = network.link.state(ms(1_102));
        assert_eq!(
            (state.fair_rate, state.congested, state.listed),
            (100e6, false, 1)
        );
        let wait = *network.link.waits(ms(1_102)).last().unwrap();
        assert_eq!(
            (wait.flow, wait.admitted, wait.refused),
            (99, Some(ms(1_102)), 0)
        );
    }
}

/// Quotas: no more flows are listed in an interval than allowed, however many ask.
#[test]
fn admissions_are_limited_between_ticks() {
    let spec = spec(r#"{"admissions_per_tick": 7}"#);
    let mut network = Network::new(&spec, mbps(100), streams(200, 100, 8_000_000));
    for tick in 1..=20 {
        // Just before each tick.
        let at = Time::from_ps(ms(500 * tick).as_ps() - 1);
        network.run_to(at);
        assert_eq!(u64::from(network.link.state(at).listed), 7 * tick);
    }
}

/// A full list: those beyond it pass without protection, and a time-out makes room.
#[test]
fn a_full_list_protects_no_more() {
    let spec = spec(&format!(
        r#"{{{ANY_LOAD}, "pfl_max": 3, "pfl_flow_timeout": "2 s"}}"#
    ));
    let mut link = Link::new(&spec, mbps(100));
    for flow in 0..5 {
        link.arrive(ms(1), Packet::new(flow, 0, 100));
    }
    assert_eq!(link.state(ms(1)).listed, 3);
    assert_eq!(link.ledger.len(), 1, "four wait or were lost");
    for flow in 0..5 {
        link.arrive(ms(60), Packet::new(flow, 1, 100));
    }
    let waits = link.waits(ms(60));
    let refused: Vec<u64> = waits.iter().map(|w| w.refused_total).collect();
    assert_eq!(refused, [0, 0, 0, 1, 1]);
    // All are silent since 60 ms: at 2.06 s they are listed, right after they are not.
    assert_eq!(link.state(ms(2_060)).listed, 3);
    assert_eq!(link.state(ms(2_061)).listed, 0);
    link.arrive(ms(2_061), Packet::new(4, 2, 100));
    assert_eq!(link.state(ms(2_061)).listed, 1);
}

/// A12: if n greedy flows with Pareto volumes are all admitted and nobody else is, the link opens
/// again when 19 are left, after T = n E[min(X, q)] / C with q = x_m (n / 19)^(2/3).
///
/// On a link of 1 Mb/s with packets of 100 B. The mean over ten seeds is to be within 10 %.
#[test]
fn closures_last_as_long_as_the_oracle_says() {
    let router = spec(r#"{"mtu": "150 B"}"#);
    for (n, minimum) in [(25_u64, 500_000.0), (100, 200_000.0), (200, 200_000.0)] {
        let q = minimum * math::pow(n as f64 / 19.0, 2.0 / 3.0);
        let least = minimum + 2.0 * minimum * (1.0 - (minimum / q).sqrt());
        let oracle = n as f64 * least / 1e6;
        let mut mean = 0.0;
        for seed in 0..10 {
            let mut rng = Rng::from_key(seed);
            let source = |i: u64| Source::Greedy {
                len: 100,
                window: 2,
                // Before the first tick of the fair rate, and few enough in each interval of the
                // priority load: 20 of 200 B in 50 ms.
                start: Time::from_ps(490_000_000_000 / n * i),
                stop: Time::MAX,
                // Shape 1.5, so the mean is three times the minimum.
                volume: (rng.pareto(3.0 * minimum, 1.5) / 8.0) as u64,
                retry: Dur::from_secs(1_000_000),
            };
            let sources: Vec<_> = (0..n).map(source).collect();
            let mut network = Network::new(&router, mbps(1), sources);
            let mut tick = 2;
            network.run_to(ms(1_000));
            assert_eq!(u64::from(network.link.state(ms(1_000)).listed), n);
            assert!(network.link.state(ms(1_000)).congested);
            while network.link.state(ms(500 * tick)).congested {
                tick += 1;
                network.run_to(ms(500 * tick));
            }
            mean += 0.05 * tick as f64;
            assert!(network.sent(0) > 0);
        }
        assert!(
            (mean / oracle - 1.0).abs() < 0.1,
            "n = {n}: {mean:.1} s, oracle {oracle:.1} s"
        );
    }
}

/// A13: under the basic router a stream that tries every 10 ms is admitted within 10 ms of the tick
/// that opens the link; on it, if a packet comes at that instant.
#[test]
fn streams_get_in_right_after_a_tick() {
    let mut sources = greedy(30);
    for s in &mut sources[..] {
        if let Source::Greedy { volume, .. } = s {
            *volume = 4_000_000;
        }
    }
    for i in 0..20_u64 {
        sources.push(Source::Stream {
            len: 100,
            every: Dur::from_ms(10),
            start: Time::from_ps(ms(2_000).as_ps() + i * 499_999_999),
            stop: Time::MAX,
        });
    }
    let mut network = Network::new(&spec("{}"), mbps(100), sources);
    network.run_to(ms(20_000));
    let waits = network.link.waits(ms(20_000));
    for w in &waits[30..] {
        let admitted = w.admitted.unwrap();
        assert!(admitted.since(w.offered) > Dur::from_secs(1), "{w:?}");
        let after_tick = admitted.as_ps() % ms(500).as_ps();
        assert!(after_tick < ms(10).as_ps(), "{w:?}");
        assert_eq!(
            w.refused,
            admitted.since(w.offered).as_ps().div_ceil(ms(10).as_ps())
        );
    }
}

/// A14.
#[test]
fn the_same_again() {
    let run = || {
        let spec = spec(r#"{"mechanism": {"raef": {}}, "p_add": 0.5}"#);
        let mut network = Network::new(&spec, mbps(10), greedy(40));
        network.run_to(ms(12_000));
        network.link.ledger
    };
    assert_eq!(run(), run());
}

/// The list keeps its flows across a failure of the link, the estimators count it as idle.
#[test]
fn a_link_comes_back_open_with_its_list() {
    let mut network = Network::new(&spec("{}"), mbps(100), greedy(30));
    network.run_to(ms(1_200));
    let mut link = network.link;
    assert!(link.state(ms(1_200)).congested);
    link.set_down(ms(1_200), true);
    assert_eq!(link.discipline.backlog_packets(), 0);
    link.arrive(ms(1_300), Packet::new(77, 0, 100));
    assert_eq!(last(&link), "drops_link_down");
    // 300 ms of the interval were down.
    let state = link.state(ms(1_500));
    assert_eq!((state.fair_rate, state.listed), (60e6, 30));
    let state = link.state(ms(2_000));
    assert_eq!((state.fair_rate, state.priority_load), (100e6, 0.0));
    link.set_down(ms(5_000), false);
    assert_eq!(
        link.waits(ms(5_000)).len(),
        30,
        "the refused one never got there"
    );
    // Silent since 1.2 s and listed until 21.2 s, up or down.
    // Each of the 30 had sent within 2.4 ms before.
    assert_eq!(link.state(ms(21_197)).listed, 30);
    assert_eq!(link.state(ms(21_201)).listed, 0);
}
