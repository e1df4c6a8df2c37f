//! Sources of known parameters are captured, measured, and found again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_capture::testkit::{Pcap, arp, ethernet, tagged, tcp4, udp4};
use spillgate_capture::{Fault, Filter, LinkType};
use spillgate_core::{Rng, Time, math};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_import::ConfigImporter;
use spillgate_import::profile::{
    Classes, GroupBy, Profile, ProfileError, ProfileOptions, profile, profile_scenario,
};
use spillgate_scenario::{Importer as _, NoImporter, Options, Platform, load};

fn spec(json: &str) -> SourceSpec {
    serde_json::from_str(json).expect("a source")
}

/// `count` sources for so many seconds, each a five-tuple of its own, as a capture in nanoseconds.
fn captured(json: &str, count: u32, seconds: f64, dscp: u8) -> Vec<u8> {
    let source = spec(json);
    let mut sent = Vec::new();
    for i in 0..count {
        let mut rng = Rng::named(7, i, "captured", "source");
        let mut one = Source::new(&source, Time::ZERO);
        while let Some(e) = one.next(&mut rng).filter(|e| e.at.as_secs_f64() < seconds) {
            sent.push((e.at.as_ps() / 1000, i, e.len));
        }
    }
    sent.sort_unstable();
    let mut file = Pcap::new(LinkType::RAW);
    file.nanoseconds = true;
    for (ns, i, len) in sent {
        let src = format!("10.0.0.{}:{}", i % 250, 1000 + i);
        // The header is enough: the length stands in it.
        let packet = udp4(&src, "10.9.0.1:5000", dscp, usize::from(len) - 28);
        file.record_of(1_000_000_000 + ns, &packet[..28], u32::from(len));
    }
    file.finish()
}

fn measured(bytes: Vec<u8>, by: GroupBy) -> Result<Profile, ProfileError> {
    let options = ProfileOptions {
        by,
        only: Filter::default(),
        top: 20,
        max_groups: 1000,
    };
    profile("x.pcap", &Arc::<[u8]>::from(bytes), &options)
}

/// The only group's source, how many of it, and the profile.
fn found(json: &str, count: u32, seconds: f64) -> (SourceSpec, u32, Profile) {
    let profile = measured(captured(json, count, seconds, 46), GroupBy::Dscp).expect("a profile");
    let fit = profile.groups[0].fit.as_ref().expect("a source");
    (fit.source.clone(), fit.count, profile)
}

fn near(found: f64, expected: f64, within: f64, what: &str) {
    let off = (found / expected - 1.0).abs();
    assert!(
        off <= within,
        "{what}: {found}, not {expected} within {within}"
    );
}

#[test]
fn a_constant_rate_with_its_jitter() {
    let json = r#"{"cbr": {"rate": "160 kb/s", "packet": "200 B", "jitter": "20 %"}}"#;
    let (source, count, profile) = found(json, 1, 60.0);
    let SourceSpec::Cbr(cbr) = source else {
        panic!("{source:?}")
    };
    assert_eq!((count, profile.groups[0].name.as_str()), (1, "ef"));
    // 6000 packets in 5999 gaps, and the ends may be displaced by a fifth of one.
    near(cbr.rate.bps() as f64, 160e3, 1.5 / 6000.0, "rate");
    // The variance of 6000 gaps is known within 2 or 3 %, its root within half of it; rounded down.
    assert!((0.18..=0.205).contains(&cbr.jitter.0), "{:?}", cbr.jitter);
    let fit = profile.groups[0].fit.as_ref().unwrap();
    near(fit.check.rate, 1.0, 1.5 / 6000.0, "rate of the check");
}

#[test]
fn poisson_arrivals_with_their_sizes() {
    let sizes = r#"{"table": [{"size": "100 B", "weight": 3}, {"size": "1500 B", "weight": 1}]}"#;
    let json = format!(r#"{{"poisson": {{"rate": "3.6 Mb/s", "packet": {sizes}}}}}"#);
    let (source, _, profile) = found(&json, 1, 60.0);
    let SourceSpec::Poisson(poisson) = &source else {
        panic!("{source:?}")
    };
    // 1000 packets a second: bits have (cv² of the sizes + 1) / n as relative variance.
    let cv2 = (0.75 * 1e4 + 0.25 * 225e4) / (450.0 * 450.0) - 1.0;
    let within = 4.0 * f64::sqrt((cv2 + 1.0) / 60_000.0);
    near(poisson.rate.bps() as f64, 3.6e6, within, "rate");
    let shape = &profile.groups[0].shape;
    assert_eq!(shape.sizes.len(), 2);
    for d in &shape.dispersion {
        let error = f64::sqrt(2.0 / (d.windows as f64 - 1.0));
        assert!((d.packets - 1.0).abs() < 4.0 * error, "{d:?}");
    }
}

#[test]
fn bursts_and_silences() {
    let json =
        r#"{"on-off": {"peak": "1 Mb/s", "packet": "200 B", "on": "50 ms", "off": "150 ms"}}"#;
    let (source, _, profile) = found(json, 1, 400.0);
    let SourceSpec::OnOff(bursts) = &source else {
        panic!("{source:?}")
    };
    // 2000 bursts of exponential length: means are known within 1 / sqrt(2000); on and off share
    // the error of their number.
    let within = 4.0 * f64::sqrt(2.0 / 2000.0);
    near(bursts.on.as_secs_f64(), 0.05, within, "on");
    near(bursts.off.as_secs_f64(), 0.15, within, "off");
    near(bursts.peak.bps() as f64, 1e6, within, "peak");
    // The mean rate is kept, to the rounding of rates and times.
    near(
        Source::mean_rate(&source),
        profile.groups[0].shape.rate.unwrap(),
        1e-4,
        "rate",
    );
}

/// By the closed form: the index of dispersion at 100 ms and 1 s of what was fitted.
#[test]
fn a_modulated_rate_has_its_dispersion() {
    let json = r#"{"mmpp": {"high": "32 Mb/s", "low": "4 Mb/s", "high_for": "200 ms", "low_for": "600 ms", "packet": "1000 B"}}"#;
    let (source, _, profile) = found(json, 1, 300.0);
    let SourceSpec::Mmpp(_) = &source else {
        panic!("{source:?}")
    };
    let index = |s: &SourceSpec, t: f64| {
        let SourceSpec::Mmpp(m) = s else { panic!() };
        let (on, off) = (m.high_for.as_secs_f64(), m.low_for.as_secs_f64());
        let (a, b) = (
            m.high.bps() as f64 / 8e3,
            m.low.map_or(0.0, |r| r.bps() as f64 / 8e3),
        );
        let (p, s) = (on / (on + off), 1.0 / on + 1.0 / off);
        let mean = p * a + (1.0 - p) * b;
        let amplitude = 2.0 * p * (1.0 - p) * (a - b) * (a - b) / (s * mean);
        1.0 + amplitude * (1.0 - (1.0 - math::exp(-s * t)) / (s * t))
    };
    // The indices are fitted to ones of 3000 and 300 windows, of which neighbors within 150 ms are
    // alike: standard errors of sqrt(2 / 2000) and sqrt(2 / 300), four of them, and as much again
    // for the other lengths, through which the same curve is laid.
    let truth = spec(json);
    near(
        index(&source, 0.1),
        index(&truth, 0.1),
        8.0 * f64::sqrt(2.0 / 2000.0),
        "100 ms",
    );
    near(
        index(&source, 1.0),
        index(&truth, 1.0),
        8.0 * f64::sqrt(2.0 / 300.0),
        "1 s",
    );
    near(
        Source::mean_rate(&source),
        profile.groups[0].shape.rate.unwrap(),
        1e-3,
        "rate",
    );
}

#[test]
fn many_calls_are_as_many_constant_rates() {
    let json = r#"{"cbr": {"rate": "80 kb/s", "packet": "200 B"}}"#;
    let (source, count, profile) = found(json, 30, 30.0);
    let SourceSpec::Cbr(cbr) = &source else {
        panic!("{source:?}")
    };
    assert_eq!((count, profile.groups[0].flows), (30, 30));
    near(cbr.rate.bps() as f64, 80e3, 1.0 / 1500.0, "rate of each");
}

#[test]
fn the_fitted_sources_are_a_scenario() {
    let json = r#"{"poisson": {"rate": "2 Mb/s", "packet": "imix"}}"#;
    let profile = measured(captured(json, 3, 5.0, 10), GroupBy::Flow).unwrap();
    assert_eq!(profile.groups.len(), 3);
    let yaml = profile_scenario(&profile);
    let files = BTreeMap::from([(PathBuf::from("s.yaml"), yaml.clone().into_bytes())]);
    let loaded = load(
        Path::new("s.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    );
    let plan = loaded.unwrap_or_else(|e| panic!("{e}\n{yaml}")).plan;
    let flows = &plan.variants[0].world.flows;
    assert_eq!(flows.len(), 3);
    assert!(flows.iter().all(|f| f.dscp.to_string() == "af11"));
}

#[test]
fn classes_of_a_configuration() {
    let config = b"class-map match-any VOICE
 match dscp ef
class-map WEB
 match access-group 101
access-list 101 permit tcp any any eq 443
policy-map CHILD
 class WEB
  bandwidth percent 20
policy-map WAN
 class VOICE
  priority percent 20
 class class-default
  shape average 8000000
  service-policy CHILD
interface Serial0/0
 bandwidth 10000
 service-policy output WAN
";
    let imported = ConfigImporter::default()
        .ios("r.cfg", config, Platform::Ios)
        .unwrap();
    let mut file = Pcap::default();
    for i in 0..4_u64 {
        file.record(
            i * 1_000_000,
            &ethernet(&udp4("10.0.0.1:1", "10.0.0.2:2", 46, 100)),
        );
        file.record(
            i * 1_000_000,
            &ethernet(&tcp4("10.0.0.1:1", "10.0.0.2:443", 0, 1000)),
        );
    }
    file.record(
        5_000_000,
        &ethernet(&tcp4("10.0.0.1:1", "10.0.0.2:80", 0, 10)),
    );
    file.record(6_000_000, &arp());
    // Behind labels a router sees the EXP bits alone.
    let labelled = tagged(&[], &[(16, 5)], &udp4("10.0.0.1:1", "10.0.0.2:2", 46, 100));
    file.record(7_000_000, &labelled);
    let classes = Classes::of(&imported.policies, "WAN").expect("a policy");
    let profile = measured(file.finish(), GroupBy::Class(classes)).unwrap();
    let mut groups: Vec<_> = profile
        .groups
        .iter()
        .map(|g| (&*g.name, g.shape.packets))
        .collect();
    groups.sort_unstable();
    let expected = [
        ("VOICE", 4),
        ("class-default/WEB", 4),
        ("class-default/class-default", 2),
    ];
    assert_eq!(groups, expected);
    assert_eq!(profile.not_ip, [("ARP", 1)]);
    assert!(Classes::of(&imported.policies, "NONE").is_none());
}

#[test]
fn what_cannot_be_measured_says_why() {
    let nothing = |bytes| measured(bytes, GroupBy::Dscp).expect_err("an error");
    assert!(
        matches!(nothing(Pcap::default().finish()), ProfileError::Nothing(c) if c.records == 0)
    );
    let mut file = Pcap::default();
    file.record(0, &arp());
    assert!(matches!(nothing(file.finish()), ProfileError::Nothing(c) if c.records == 1));
    match nothing(Vec::new()) {
        ProfileError::Capture(e) => assert_eq!(e.fault, Fault::Empty),
        other => panic!("{other:?}"),
    }
    let flows = captured(
        r#"{"poisson": {"rate": "2 Mb/s", "packet": "imix"}}"#,
        5,
        1.0,
        0,
    );
    let options = ProfileOptions {
        by: GroupBy::Flow,
        only: Filter::default(),
        top: 2,
        max_groups: 4,
    };
    let refused = profile("x", &Arc::<[u8]>::from(flows.clone()), &options);
    assert!(matches!(refused, Err(ProfileError::TooMany(4))));
    let options = ProfileOptions {
        max_groups: 5,
        ..options
    };
    let two = profile("x", &Arc::<[u8]>::from(flows), &options).unwrap();
    assert_eq!((two.groups.len(), two.omitted.0), (2, 3));
    // One packet has no rate, and no source.
    let mut file = Pcap::default();
    file.record(0, &ethernet(&udp4("10.0.0.1:1", "10.0.0.2:2", 46, 100)));
    let one = measured(file.finish(), GroupBy::Dscp).unwrap();
    assert!(one.groups[0].shape.rate.is_none() && one.groups[0].fit.is_none());
    assert!(serde_json::to_string(&one).is_ok());
    assert!(profile_scenario(&one).contains("too few"));
}
