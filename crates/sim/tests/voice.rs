//! Speech: the rating of a call against the model, and that listening changes nothing.

use crate::common;
use spillgate_measure::table::{Metric, Scope};
use spillgate_voice::{Connection, EModel, mos};

fn scenario(voice: &str, background: &str) -> String {
    // Calls that do not meet each other: one each 5 ms, call i with packets of 200 i bytes.
    let calls = [1, 2, 3].map(|i| {
        format!(
            "  - flow: {{name: talk-{i}, class: talk, from: a, to: b, source: {{cbr: {{rate: {} kb/s, packet: {} B, phase: {} ms}}}}}}",
            80 * i,
            200 * i,
            5 * i
        )
    });
    format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 10 Mb/s, delay: 20 ms}}}}
{voice}
traffic:
{}
{background}
measurement: {{warmup: 1 s, duration: 10 s, interval: 1 s}}
runs: {{count: 2, seed: 1}}
",
        calls.join("\n")
    )
}

const G711: &str = "voice: {talk: {codec: g711, jitter_buffer: {fixed: 60 ms}}}";

#[test]
fn a_call_over_an_idle_link_has_the_rating_of_its_delay() {
    let plan = common::plan(&scenario(G711, ""));
    let finished = common::run(&plan, 1);
    let calls = |metric| -> Vec<f64> {
        let of = |i| common::values(&plan, &finished, Scope::Flow, &format!("talk-{i}"), metric)[0];
        let mut calls: Vec<f64> = (1..=3).map(of).collect();
        calls.sort_by(f64::total_cmp);
        calls
    };
    // 200 B at 10 Mb/s take 160 us. The worst rating is that of the longest delay.
    let delay = |i: usize| 20.0 + 0.160 * (i + 1) as f64 + 60.0 + 20.0 + 0.125;
    for (i, got) in calls(Metric::MouthToEar).into_iter().enumerate() {
        assert!((got * 1e3 - delay(i)).abs() < 1e-9, "{got} s");
    }
    let (ratings, scores) = (calls(Metric::RFactor), calls(Metric::Mos));
    for i in 0..3 {
        let rated = EModel::default().rate(&Connection {
            delay_ms: delay(2 - i),
            round_trip_ms: 2.0 * delay(2 - i),
            bpl: 25.1,
            burst_ratio: 1.0,
            ..Connection::default()
        });
        assert!((ratings[i] - rated.r).abs() < 1e-9, "{}", rated.r);
        assert!((scores[i] - mos(rated.r)).abs() < 1e-9);
    }
    assert_eq!(calls(Metric::LateRatio), [0.0; 3]);
    assert_eq!(calls(Metric::BurstRatio), [1.0; 3]);
    // The class has the mean of its calls, and the worst of them.
    let class = |metric| common::values(&plan, &finished, Scope::Class, "talk", metric)[0];
    assert!((class(Metric::Mos) - scores.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    assert_eq!(class(Metric::MosMin), scores[0]);
}

#[test]
fn scores_on_different_scales_are_not_averaged() {
    // The first call is wideband, the others are not; then all on one scale.
    let mixed = |scale: &str| {
        let text = scenario(
            &format!("voice: {{talk: {{codec: g711{scale}}}, hd: {{codec: g722}}}}"),
            "",
        )
        .replace("name: talk-1, class: talk", "name: talk-1, class: hd");
        let plan = common::plan(&text);
        let finished = common::run(&plan, 1);
        [
            (Scope::Total, "all", Metric::Mos),
            (Scope::Total, "all", Metric::LateRatio),
            (Scope::Class, "hd", Metric::RFactor),
            (Scope::Class, "talk", Metric::RFactor),
        ]
        .map(|(scope, name, metric)| common::values(&plan, &finished, scope, name, metric)[0])
    };
    let [all, late, wide, narrow] = mixed("");
    assert!(all.is_nan() && late == 0.0);
    // 13 of the codec, and about 1 for 100 ms of delay with echo.
    assert!(wide > 129.0 - 13.0 - 2.0 && wide < 116.0 && narrow < 93.2);
    let [all, _, _, on_wide] = mixed(", scale: wideband");
    assert!((1.0..4.5).contains(&all));
    // The band that is missing, less what echo costs more on the narrow scale.
    assert!(
        on_wide < 129.0 - 35.8 && on_wide > narrow,
        "{on_wide} {narrow}"
    );
}

/// Data that fill the link beyond what it carries, in a queue of 100 packets: 120 ms.
const FULL: &str =
    "  - flow: {name: data, from: a, to: b, source: {poisson: {rate: 10 Mb/s, packet: 1500 B}}}";

#[test]
fn late_and_lost_packets_are_missing() {
    let plan = common::plan(
        &scenario(&G711.replace("60 ms", "20 ms"), FULL)
            .replace("delay: 20 ms", "delay: 20 ms, policy: P")
            .replace(
                "traffic:",
                "policies: {P: {fifo: {limit: 100 packets}}}\ntraffic:",
            ),
    );
    let finished = common::run(&plan, 2);
    let talk = |metric| common::values(&plan, &finished, Scope::Class, "talk", metric);
    for run in 0..2 {
        let (late, lost) = (talk(Metric::LateRatio)[run], talk(Metric::LossRatio)[run]);
        assert!(late > 0.05 && lost > 0.0, "late {late}, lost {lost}");
        // Queues make losses and delays come together.
        assert!(talk(Metric::BurstRatio)[run] > 1.5);
        // The bound on R with both at random, which is better than what is heard.
        let missing = 100.0 * (late + lost);
        let ie_eff = 95.0 * missing / (missing + 25.1);
        assert!(talk(Metric::RFactor)[run] < 93.2 - ie_eff);
    }
}

#[test]
fn listening_changes_nothing() {
    let with = common::run(&common::plan(&scenario(G711, FULL)), 1);
    let without = common::run(&common::plan(&scenario("", FULL)), 1);
    assert_eq!(common::digests(&with), common::digests(&without));
    // What was measured before speech is at the same places; its metrics follow.
    for (a, b) in with.iter().zip(&without) {
        let n = b.outcome.values.len();
        assert!(a.outcome.values.len() > n);
        let bits = |v: &spillgate_measure::table::Row| -> Vec<u64> {
            v.iter().take(n).map(|x| x.to_bits()).collect()
        };
        assert_eq!(bits(&a.outcome.values), bits(&b.outcome.values));
    }
}

/// A queue grows all the time: nearly all packets come too late, and those that are under way at
/// the end may, too.
#[test]
fn no_more_than_all_packets_may_be_late() {
    let voice = "voice: {talk: {codec: g711, jitter_buffer: {fixed: 1 ms}}}\npolicies: {P: {fifo: {limit: 10000 packets}}}";
    let text = scenario(voice, "")
        .replace("rate: 10 Mb/s", "rate: 400 kb/s, policy: P")
        .replace("duration: 10 s", "duration: 10 s, grace: 100 ms");
    let plan = common::plan(&text);
    let finished = common::run(&plan, 1);
    let layout = spillgate_sim::layout(&plan.variants[0].world);
    for (scope, name) in [(Scope::Flow, "talk-1"), (Scope::Class, "talk")] {
        let of = |metric| common::values(&plan, &finished, scope, name, metric)[0];
        let (sent, open) = (of(Metric::PacketsSent), of(Metric::Unresolved));
        let at = layout.position(scope, name, Metric::LateRatio).unwrap();
        let found = finished[0].outcome.bounds.iter();
        let bounds = found.into_iter().find(|b| b.at as usize == at).unwrap();
        let late = of(Metric::LateRatio);
        assert!(open > 0.1 * sent && late > 0.9, "{open} of {sent}, {late}");
        // All that are outstanding late, or none.
        let known = late * (sent - open);
        if scope == Scope::Flow {
            assert!((bounds.high - (known + open) / sent).abs() < 1e-12);
            assert!((bounds.low - known / sent).abs() < 1e-12);
        }
        assert!(bounds.high <= 1.0, "{}", bounds.high);
    }
}
