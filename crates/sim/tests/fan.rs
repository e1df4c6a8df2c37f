//! Links with flow admission in a network: who is offered where and when, what a failure does, and
//! what no mechanism may change.

use crate::common;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use spillgate_core::{Dropped, Dur, Time};
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::{Plan, WorldPlan};
use spillgate_sim::tap::{FlowInfo, Place, Seen, Tap};
use spillgate_sim::{Admission, Finished, Outcome, Stop, World};

/// The six nodes of the experiment; 4 Mb/s, 0.4 Mb/s of fair rate are enough: ten greedy flows.
const SCENARIO: &str = "
schema_version: 1
topology:
  nodes: [s, r1, r2, r3, r4, r5, d1, d2]
  links:
    l1: {from: s, to: r1, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    l2: {from: r1, to: r2, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    l3: {from: r2, to: r3, rate: 4 Mb/s, delay: 1 ms, policy: fan}
    l3-back: {from: r3, to: r2, rate: 4 Mb/s, delay: 1 ms}
    l4: {from: r1, to: r4, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    l5: {from: r4, to: r5, rate: 4 Mb/s, delay: 1 ms, policy: fan}
    l5-back: {from: r5, to: r4, rate: 4 Mb/s, delay: 1 ms}
    l6: {from: r3, to: d1, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    l7: {from: r5, to: d2, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    l8: {from: r5, to: r3, rate: 100 Mb/s, delay: 1 ms, duplex: true}
  failures: [{link: l2, at: 20 s}]
policies:
  fan: {fan: {limit: 100 packets, min_fair_rate: 10 %, pfl_flow_timeout: 20 s}}
traffic:
  - flow: {name: stream, class: streams, count: 5, from: s, to: d1, start_gap: 1 s, source: {cbr: {rate: 80 kb/s, packet: 100 B}}}
  - flow: {name: main, class: elastic, count: 30, from: s, to: d1, start_gap: 50 ms, bytes: 2 MB, tcp: TCP}
  - flow: {name: backup, class: elastic, count: 30, from: s, to: d2, start_gap: 50 ms, bytes: 2 MB, tcp: TCP}
measurement: {warmup: 0 s, duration: 30 s, interval: 500 ms, gaps: {from: 20 s, to: 30 s}}
runs: {count: 2, seed: 11}
variants:
  - {name: basic, set: {}}
  - {name: efm, set: {policies.fan.fan.mechanism: {efm: {pfl_flushing_timer: 2 s}}}}
  - {name: raef, set: {policies.fan.fan.mechanism: {raef: {active_time: 2 s}}}}
  - {name: rbaef, set: {policies.fan.fan.mechanism: {rbaef: {active_time: 2 s, blocked_time: 1 s}}, policies.fan.fan.scheduler: pdrr}}
  - {name: shared, set: {policies.fan.fan.protected_list: everywhere}}
";

const TCP: &str = "{profile: ns2, handshake: true, mss: 960 B, max_window: 64 kB, retry: {constant: 500 ms}, syn_retries: unlimited, retries: unlimited}";

const END: Time = Time::from_ps(30_000_000_000_000);
const FAILURE: Time = Time::from_ps(20_000_000_000_000);

fn scenario() -> String {
    SCENARIO.replace("TCP", TCP)
}

fn link(world: &WorldPlan, name: &str) -> u32 {
    let at = world.links.iter().position(|l| l.name == name);
    at.expect(name) as u32
}

/// What a link did to the flows of a class in a run, their own packets alone.
fn at<'a>(plan: &'a Plan, f: &'a Finished, name: &str, class: &str) -> Vec<&'a Admission> {
    let world = &plan.variants[f.info.variant].world;
    let (link, class) = (link(world, name), class.to_owned());
    let found = f.outcome.admissions.iter();
    found
        .filter(|a| a.link == link && !a.answers)
        .filter(|a| world.classes[usize::from(world.flows[a.flow as usize].class)] == class)
        .collect()
}

/// All runs of the scenario, made once.
fn all() -> (Arc<Plan>, &'static [Finished]) {
    static ALL: OnceLock<(Arc<Plan>, Vec<Finished>)> = OnceLock::new();
    let (plan, finished) = ALL.get_or_init(|| {
        let plan = common::plan(&scenario());
        let finished = common::run(&plan, 2);
        (plan, finished)
    });
    (Arc::clone(plan), finished)
}

fn of(plan: &Plan, finished: &[Finished], variant: &str) -> Vec<Finished> {
    let wanted = plan.variants.iter().position(|v| v.name == variant);
    let found = finished.iter().filter(|f| Some(f.info.variant) == wanted);
    found.cloned().collect()
}

#[test]
fn threads_and_event_sets_change_nothing() {
    let (plan, two) = all();
    let one = common::run(&plan, 1);
    assert_eq!(common::digests(&one), common::digests(two));
    for (a, b) in one.iter().zip(two) {
        assert_eq!(a.outcome.admissions, b.outcome.admissions);
        let same = a
            .outcome
            .series
            .iter()
            .zip(&b.outcome.series)
            .all(|(a, b)| {
                let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                bits(&a.v) == bits(&b.v)
            });
        assert!(same, "series");
    }
    for (i, v) in plan.variants.iter().enumerate() {
        let reference = one.iter().find(|f| f.info.variant == i && f.info.run == 0);
        let reference = &reference.unwrap().outcome;
        for outcome in [
            alone::<WinnerTree>(&v.world, false, u64::MAX),
            alone::<Heap4>(&v.world, false, u64::MAX),
            alone::<WinnerTree>(&v.world, true, 101),
        ] {
            assert_eq!(outcome.digest, reference.digest, "{}", v.name);
            assert_eq!(outcome.admissions, reference.admissions, "{}", v.name);
        }
    }
}

fn alone<S: EventSet>(world: &Arc<WorldPlan>, observe: bool, budget: u64) -> Outcome {
    let mut w = World::<S>::new(world, 11, 0, observe);
    while w.run(budget) != Stop::Done {}
    w.outcome()
}

/// Emissions of each source that does not listen, first attempts of each connection, and drops by
/// reason.
#[derive(Default)]
struct Emissions {
    flows: Vec<FlowInfo>,
    streams: BTreeMap<u32, Vec<(Time, u16)>>,
    starts: BTreeMap<u32, Time>,
    lost: BTreeMap<&'static str, u64>,
}

impl Tap for Emissions {
    fn begin(&mut self, flows: &[FlowInfo]) {
        self.flows = flows.to_vec();
    }

    fn sent(&mut self, now: Time, seen: Seen<'_>, _: u32) {
        // When a run stops after its end depends on what is still on the way.
        if now >= END {
            return;
        }
        let flow = &self.flows[seen.packet.flow as usize];
        if flow.tcp {
            self.starts.entry(seen.packet.flow).or_insert(now);
        } else {
            let all = self.streams.entry(seen.packet.flow).or_default();
            all.push((now, seen.packet.l3_len));
        }
    }

    fn lost(&mut self, _: Time, _: Place, lost: &Dropped, _: Seen<'_>) {
        *self.lost.entry(lost.reason.metric()).or_default() += 1;
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn emissions(world: &Arc<WorldPlan>) -> Emissions {
    let tap: Box<dyn Tap> = Box::<Emissions>::default();
    let mut w = World::<WinnerTree>::tapped(world, 11, 0, false, tap);
    while w.run(u64::MAX) != Stop::Done {}
    *w.into_tap().unwrap().into_any().downcast().unwrap()
}

/// A14: a change of mechanism leaves all emission times and lengths of the streams, and when each
/// connection begins, as they are.
#[test]
fn mechanisms_do_not_touch_the_offered_traffic() {
    let (plan, _) = all();
    let reference = emissions(&plan.variants[0].world);
    assert_eq!(reference.streams.len(), 5);
    assert!(reference.lost["drops_admission"] > 1000);
    for v in &plan.variants[1..] {
        let other = emissions(&v.world);
        assert!(other.streams == reference.streams, "{}", v.name);
        // Acknowledgments begin when the network lets them: only the flows of the plan count.
        let of_plan = |e: &Emissions| -> BTreeMap<u32, Time> {
            let n = v.world.flows.len() as u32;
            e.starts.range(..n).map(|(k, t)| (*k, *t)).collect()
        };
        assert_eq!(of_plan(&other), of_plan(&reference), "{}", v.name);
    }
}

/// A15: after the failure all streams, and the elastic flows for D1 that still have something to
/// send, come to R4 as new flows; before it only flows for D2 did.
#[test]
fn after_the_failure_everything_for_d1_is_new_at_r4() {
    let (plan, finished) = all();
    for f in of(&plan, finished, "basic") {
        let world = &plan.variants[f.info.variant].world;
        let streams = at(&plan, &f, "l5", "streams");
        assert_eq!(streams.len(), 5);
        for s in &streams {
            // One packet every 10 ms: the first comes within one and what two wires take.
            let late = s.offered.since(FAILURE);
            assert!(s.offered >= FAILURE && late < Dur::from_ms(14), "{late}");
        }
        let to_d1: BTreeSet<u32> = at(&plan, &f, "l5", "elastic")
            .iter()
            .filter(|a| world.flows[a.flow as usize].name.starts_with("main"))
            .map(|a| {
                assert!(a.offered >= FAILURE);
                a.flow
            })
            .collect();
        // Each had 2 MB and 4 Mb/s for all in 20 s are 10 MB: few can have completed.
        assert!(to_d1.len() > 20, "{}", to_d1.len());
        let to_d2 = at(&plan, &f, "l5", "elastic").len() - to_d1.len();
        assert_eq!(to_d2, 30);
        assert!(
            at(&plan, &f, "l3", "streams")
                .iter()
                .all(|a| a.offered < FAILURE)
        );
    }
}

/// Streams repeat every 10 ms, so they are admitted within that after a tick at which the link
/// opens (A13), or with their first packet; mechanisms open it sooner than the basic router.
#[test]
fn streams_wait_for_ticks_and_mechanisms_shorten_the_wait() {
    let (plan, finished) = all();
    let mut means = BTreeMap::new();
    for v in ["basic", "efm", "raef", "rbaef"] {
        let (mut total, mut n) = (0.0, 0.0);
        for f in of(&plan, finished, v) {
            for a in at(&plan, &f, "l5", "streams") {
                total += a.waited.as_secs_f64();
                n += 1.0;
                let Some(admitted) = a.admitted else { continue };
                assert_eq!(a.waited, admitted.since(a.offered));
                if a.refused > 0 {
                    let past = admitted.as_ps() % Dur::from_ms(500).as_ps();
                    // A refused stream is admitted with the first packet after a tick; the
                    // priority load opens the link at ticks of 50 ms.
                    let past = past % Dur::from_ms(50).as_ps();
                    assert!(
                        past <= Dur::from_ms(10).as_ps(),
                        "{v}: {past} ps after a tick"
                    );
                    // Each packet of 10 ms was refused until then.
                    let expected = a.waited.as_ps() / Dur::from_ms(10).as_ps();
                    assert!(a.refused.abs_diff(expected) <= 1, "{v}: {a:?}");
                }
            }
        }
        means.insert(v, total / n);
    }
    let basic = means["basic"];
    for v in ["efm", "raef", "rbaef"] {
        // Half the timer of 2 s and one tick; the longest possible is the timer and a tick.
        assert!(means[v] <= 2.5, "{v}: {means:?}");
        assert!(means[v] < basic, "{v}: {means:?}");
    }
}

/// With one protected list for all links the streams keep their admission across the failure.
#[test]
fn a_shared_list_keeps_streams_admitted() {
    let (plan, finished) = all();
    let mut seen = 0;
    for f in of(&plan, finished, "shared") {
        let before = at(&plan, &f, "l3", "streams");
        for a in at(&plan, &f, "l5", "streams") {
            let known = before
                .iter()
                .any(|b| b.flow == a.flow && b.admitted.is_some());
            if known {
                assert_eq!((a.waited, a.refused), (Dur::ZERO, 0), "{a:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "no stream was admitted before the failure");
}

/// The metrics of a class are those of its rows.
#[test]
fn metrics_agree_with_the_rows() {
    let (plan, finished) = all();
    let get = |scope, name: &str, metric| common::values(&plan, finished, scope, name, metric);
    for (i, f) in of(&plan, finished, "basic").iter().enumerate() {
        let (mut waits, mut waiting) = (Vec::new(), 0.0);
        for l in ["l3", "l5"] {
            let rows = at(&plan, f, l, "streams");
            let mean = rows.iter().map(|a| a.waited.as_secs_f64()).sum::<f64>() / rows.len() as f64;
            let name = format!("{l}/streams");
            let said = get(Scope::Admission, &name, Metric::WaitingTime)[i];
            assert!((said - mean).abs() < 1e-9, "{l}: {said} {mean}");
            waits.extend(rows.iter().map(|a| a.waited.as_secs_f64()));
            waiting += rows.iter().filter(|a| a.admitted.is_none()).count() as f64;
        }
        assert_eq!(
            get(Scope::Class, "streams", Metric::FlowsOffered)[i],
            waits.len() as f64
        );
        assert_eq!(
            get(Scope::Class, "streams", Metric::FlowsWaiting)[i],
            waiting
        );
        let longest = waits.iter().copied().fold(0.0, f64::max);
        assert_eq!(
            get(Scope::Class, "streams", Metric::WaitingTimeMax)[i],
            longest
        );
    }
}

/// Links with admission that fail under load, several times, and are repaired; then no path is
/// left. Every packet has a fate, and the run goes on.
#[test]
fn failing_links_and_partitions() {
    for failures in [
        "[{link: l3, at: 3 s, repair: 4 s}, {link: l3, at: 5 s, repair: 5.2 s}, {link: l5, at: 3.5 s, repair: 8 s}]",
        "[{link: l3, at: 2 s}, {link: l5, at: 6 s}]",
        "[{link: l1, at: 2 s, repair: 12 s}]",
    ] {
        let yaml = scenario()
            .replace("[{link: l2, at: 20 s}]", failures)
            .replace("duration: 30 s", "duration: 15 s")
            .replace(", gaps: {from: 20 s, to: 30 s}", "");
        let plan = common::plan(&yaml);
        let finished = common::run(&plan, 2);
        let get = |metric| common::values(&plan, &finished, Scope::Class, "streams", metric);
        for run in 0..2 {
            let sent = get(Metric::PacketsSent)[run];
            let fates = [
                Metric::PacketsReceived,
                Metric::DropsTail,
                Metric::DropsPushedOut,
                Metric::DropsAdmission,
                Metric::DropsLinkDown,
                Metric::DropsUnroutable,
                Metric::Unresolved,
            ]
            .map(|m| get(m)[run]);
            assert_eq!(sent, fates.iter().sum::<f64>(), "{failures}: {fates:?}");
            assert_eq!(fates[6], 0.0, "{failures}");
            if failures.contains("l1") {
                // Five streams of 100 packets a second, those that had begun by then.
                assert!(fates[5] > 900.0, "{failures}: {fates:?}");
            }
        }
        if failures.contains("repair: 12 s") {
            // After the repair streams are carried again.
            let carried = get(Metric::Throughput)[0];
            assert!(carried > 0.0);
        }
    }
}

/// Sessions that take a place after one another are different flows, with ports of their own: each
/// waits for itself, and none passes because the one before it was admitted.
#[test]
fn each_session_is_a_new_flow() {
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    there: {from: a, to: b, rate: 4 Mb/s, delay: 1 ms, policy: fan}
    back: {from: b, to: a, rate: 4 Mb/s, delay: 1 ms, policy: fan}
policies: {fan: {fan: {min_fair_rate: 30 %}}}
traffic:
  - sessions:
      name: page
      class: pages
      from: a
      to: b
      arrivals: {fixed: {gap: 100 ms}}
      session: {transfer: {size: {fixed: 30 kB}}}
      active: 8
      tcp: {syn_retries: unlimited, retries: unlimited, retry: {constant: 200 ms}}
  - flow: {name: long, class: long, from: a, to: b, count: 3, tcp: {}}
measurement: {warmup: 0 s, duration: 20 s, interval: 1 s}
runs: {count: 1, seed: 3}
",
    );
    let finished = common::run(&plan, 1);
    let get = |metric| common::values(&plan, &finished, Scope::Class, "pages", metric)[0];
    let begun = get(Metric::TransfersBegun);
    assert!(
        get(Metric::TransfersRefused) > 0.0,
        "places were taken again"
    );
    // The last may not have got as far as the link.
    let offered = get(Metric::FlowsOffered);
    assert!(
        offered == begun || offered + 1.0 == begun,
        "{offered} of {begun}"
    );
    let rows: Vec<_> = finished[0].outcome.admissions.iter().collect();
    let pages = |answers: bool| {
        let of_pages = rows
            .iter()
            .filter(|a| a.flow == 0 && a.answers == answers && a.link == u32::from(!answers));
        of_pages.collect::<Vec<_>>()
    };
    assert_eq!(pages(false).len() as f64, offered);
    // Beside three endless flows there is no room for a page while the link is judged to be full.
    assert!(pages(false).iter().any(|a| a.refused > 0));
    assert!(pages(false).iter().filter(|a| a.admitted.is_some()).count() > 8);
    // Acknowledgments go back over a link that is never full.
    assert!(pages(true).iter().all(|a| a.waited == Dur::ZERO));
    assert!(pages(true).len() as f64 >= get(Metric::TransfersDone));
}
