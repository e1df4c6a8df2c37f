//! Streams: what a source draws, and that nobody else's draws matter.

use std::fmt::Write as _;

use crate::common::{first, spec, stream};
use proptest::prelude::*;
use spillgate_core::curve::{Exact, UNITS};
use spillgate_core::{Dur, Percent, Rate, Rng, Size, Time};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::{
    BernoulliSpec, CbrSpec, Codec, FrameWeights, GenomeSpec, Headers, Imix, OnOffSpec,
    PacketSizeSpec, PeriodDistribution, PoissonSpec, SizeDistribution, SizeRange, SourceSpec,
    VadModel, VadSpec, VideoSpec, VoipSpec, WeightedSize,
};

const SOURCES: [&str; 14] = [
    r#"{"cbr": {"rate": "0.666 Mb/s", "packet": "1500 B", "jitter": "10 %"}}"#,
    r#"{"cbr": {"rate": "10 Mb/s", "packet": "imix"}}"#,
    r#"{"poisson": {"rate": "3 Mb/s", "packet": {"exponential": "400 B"}}}"#,
    r#"{"poisson": {"rate": "3 Mb/s", "packet": {"uniform": {"min": "64 B", "max": "1500 B"}}}}"#,
    r#"{"on-off": {"peak": "1 Mb/s", "packet": "200 B", "on": "5 ms", "off": "20 ms"}}"#,
    r#"{"on-off": {"peak": "1 Mb/s", "packet": "200 B", "on": "5 ms", "off": "20 ms", "distribution": {"pareto": 1.4}}}"#,
    r#"{"cbr": {"rate": "1 Mb/s", "packet": {"genome": {"sequence": "2aAg", "sizes": {"A": "100 B"}}}, "phase": "0 s"}}"#,
    r#"{"voip": {"codec": "g729"}}"#,
    r#"{"voip": {"codec": "opus", "vbr": "25 %", "vad": {"talk": "100 ms", "pause": "900 ms"}, "jitter": "10 %"}}"#,
    r#"{"video": {"rate": "1 Mb/s", "fps": 25, "scene": "1 s", "spread": "50 %"}}"#,
    r#"{"video": {"rate": "300 kb/s", "fps": 15, "gop": "IPPP", "distribution": "gamma", "phase": "0 s"}}"#,
    r#"{"mmpp": {"high": "4 Mb/s", "low": "1 Mb/s", "high_for": "5 ms", "low_for": "20 ms", "packet": "500 B"}}"#,
    r#"{"bernoulli": {"line": "7 Mb/s", "load": "30 %", "packet": "500 B"}}"#,
    r#"{"bernoulli": {"line": "7 Mb/s", "load": "100 %", "packet": "20 B"}}"#,
];

/// The first emissions of every kind, frozen: a sample must not change with a version.
#[test]
fn emissions_are_those_of_the_golden_file() {
    let mut got = String::new();
    for json in SOURCES {
        writeln!(got, "{json}").unwrap();
        for e in first(&spec(json), Time::ZERO, &mut stream("golden", 0), 8) {
            writeln!(got, "  {} ps {} B", e.at.as_ps(), e.len).unwrap();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/emissions.txt");
    if std::env::var_os("SPILLGATE_BLESS").is_some() {
        std::fs::write(path, &got).unwrap();
    }
    assert_eq!(got, std::fs::read_to_string(path).unwrap());
}

#[test]
fn another_source_beside_changes_nothing() {
    for json in SOURCES {
        let s = spec(json);
        let alone = first(&s, Time::ZERO, &mut stream("mine", 0), 200);
        let (mut mine, mut theirs) = (stream("mine", 0), stream("theirs", 0));
        let mut a = Source::new(&s, Time::ZERO);
        let mut others: Vec<_> = SOURCES.map(|o| Source::new(&spec(o), Time::ZERO)).into();
        for e in alone {
            for o in &mut others {
                o.next(&mut theirs);
            }
            assert_eq!(a.next(&mut mine), Some(e));
        }
    }
}

#[test]
fn what_is_written_reads_back() {
    for json in SOURCES {
        let s = spec(json);
        assert_eq!(spec(&serde_json::to_string(&s).unwrap()), s);
    }
}

#[test]
fn a_clone_goes_on_alike() {
    for json in SOURCES {
        let (mut a, mut rng) = (Source::new(&spec(json), Time::ZERO), stream("clone", 0));
        for _ in 0..50 {
            a.next(&mut rng);
        }
        let (mut b, mut same) = (a.clone(), rng.clone());
        for _ in 0..50 {
            assert_eq!(a.next(&mut rng), b.next(&mut same));
        }
    }
}

/// Any sizes, those that `check` refuses included.
fn sizes() -> impl Strategy<Value = PacketSizeSpec> {
    let size = || prop_oneof![0_u64..2_000, any::<u64>()].prop_map(Size);
    let row = (size(), prop_oneof![0.1_f64..10.0, any::<f64>()])
        .prop_map(|(size, weight)| WeightedSize { size, weight });
    prop_oneof![
        size().prop_map(PacketSizeSpec::Fixed),
        Just(PacketSizeSpec::Imix(Imix::Simple)),
        (size(), size()).prop_map(|(min, max)| PacketSizeSpec::Uniform(SizeRange { min, max })),
        size().prop_map(PacketSizeSpec::Exponential),
        prop::collection::vec(row, 0..5).prop_map(PacketSizeSpec::Table),
        prop::sample::select(Imix::ALL).prop_map(PacketSizeSpec::Imix),
        ("[a-jzA-C0-9]{0,8}", size(), size(), size()).prop_map(|(sequence, a, mtu, framing)| {
            PacketSizeSpec::Genome(GenomeSpec {
                sequence,
                sizes: [("A".to_owned(), a)].into(),
                mtu,
                framing,
            })
        }),
    ]
}

/// Any call, those that `check` refuses included.
fn calls() -> impl Strategy<Value = VoipSpec> {
    let dur = || prop_oneof![0_u64..4_000_000_000_000, any::<u64>()].prop_map(Dur::from_ps);
    let frames = prop_oneof![(1_u64..8).prop_map(|n| Dur::from_ms(10 * n)), dur()];
    let rate = prop_oneof![
        prop::sample::select(vec![5_300, 12_200, 24_000, 64_000]),
        1..=u64::MAX
    ];
    let share = || prop_oneof![0.0..=0.5, any::<f64>()].prop_map(Percent);
    let headers = prop::sample::select(vec![Headers::Ipv4, Headers::Ipv6, Headers::Crtp]);
    let vad = (
        prop::option::of(dur()),
        prop::option::of(dur()),
        prop::option::of(any::<u64>().prop_map(Size)),
        prop::option::of(dur()),
    )
        .prop_map(|(talk, pause, sid, sid_every)| VadSpec {
            model: VadModel::SriramWhitt,
            talk,
            pause,
            sid,
            sid_every,
        });
    (
        (prop::sample::select(Codec::ALL), headers, share()),
        prop::option::of(rate.prop_map(|r| Rate::from_bps(r).unwrap())),
        (prop::option::of(frames), prop::option::of(dur())),
        prop::option::of(share()),
        any::<u64>().prop_map(|n| Size(n >> (n % 64))),
        prop::option::of(vad),
    )
        .prop_map(
            |((codec, headers, jitter), bitrate, (packetization, phase), vbr, extra, vad)| {
                VoipSpec {
                    codec,
                    bitrate,
                    packetization,
                    vbr,
                    headers,
                    extra,
                    vad,
                    phase,
                    jitter,
                }
            },
        )
}

/// Any video, those that `check` refuses included.
fn videos() -> impl Strategy<Value = VideoSpec> {
    let dur = || prop_oneof![0_u64..4_000_000_000_000, any::<u64>()].prop_map(Dur::from_ps);
    let number = || prop_oneof![0.1_f64..100.0, any::<f64>()];
    let share = || prop_oneof![0.0..=1.0, any::<f64>()].prop_map(Percent);
    (
        (prop_oneof![1_u64..1_000_000_000, 1..=u64::MAX], number()),
        ("[IPB]{0,12}|[A-Z]{0,3}", number(), number()),
        (share(), share(), share(), any::<bool>()),
        (prop::option::of(dur()), prop::option::of(dur())),
        prop_oneof![576_u64..1600, any::<u64>()],
    )
        .prop_map(
            |(
                (rate, fps),
                (gop, i, b),
                (variation, scene_variation, spread, gamma),
                (scene, phase),
                mtu,
            )| {
                VideoSpec {
                    rate: Rate::from_bps(rate).unwrap(),
                    fps,
                    gop,
                    weights: FrameWeights { i, p: 3.0, b },
                    variation,
                    distribution: match gamma {
                        true => SizeDistribution::Gamma,
                        false => SizeDistribution::Lognormal,
                    },
                    scene,
                    scene_variation,
                    mtu: Size(mtu),
                    spread,
                    phase,
                }
            },
        )
}

fn sources() -> impl Strategy<Value = SourceSpec> {
    let rate = || {
        prop_oneof![1_u64..1_000_000_000_000, 1..=u64::MAX].prop_map(|r| Rate::from_bps(r).unwrap())
    };
    let dur = || prop_oneof![0_u64..1_000_000_000_000, any::<u64>()].prop_map(Dur::from_ps);
    let jitter = prop_oneof![Just(0.0), 0.0..=0.5, any::<f64>()].prop_map(Percent);
    let shape = prop_oneof![
        Just(PeriodDistribution::Exponential),
        (1.01_f64..4.0).prop_map(PeriodDistribution::Pareto),
        any::<f64>().prop_map(PeriodDistribution::Pareto),
    ];
    prop_oneof![
        (rate(), sizes(), prop::option::of(dur()), jitter).prop_map(
            |(rate, packet, phase, jitter)| SourceSpec::Cbr(CbrSpec {
                rate,
                packet,
                phase,
                jitter
            })
        ),
        (rate(), sizes())
            .prop_map(|(rate, packet)| SourceSpec::Poisson(PoissonSpec { rate, packet })),
        (rate(), sizes(), dur(), dur(), shape).prop_map(|(peak, packet, on, off, distribution)| {
            SourceSpec::OnOff(OnOffSpec {
                peak,
                packet,
                on,
                off,
                distribution,
            })
        }),
        (
            rate(),
            any::<f64>(),
            prop_oneof![Just(0), 20_u64..2_000, any::<u64>()]
        )
            .prop_map(|(line, load, packet)| SourceSpec::Bernoulli(BernoulliSpec {
                line,
                load: Percent(load),
                packet: Size(packet),
            })),
        calls().prop_map(SourceSpec::Voip),
        videos().prop_map(SourceSpec::Video),
    ]
}

proptest! {
    #[test]
    fn emissions_never_go_back(spec in sources(), start in any::<u64>(), seed in any::<u64>()) {
        let start = Time::from_ps(start >> (seed % 64));
        let mut rng = Rng::from_key(seed);
        let mut s = Source::new(&spec, start);
        let mut last = start;
        let mut ended = false;
        for _ in 0..100 {
            match s.next(&mut rng) {
                Some(e) => {
                    prop_assert!(!ended, "sent again after the end");
                    prop_assert!(e.at >= last);
                    // Compressed headers make packets that plain IP does not have.
                    let least = if spec.kind() == "voip" { 1 } else { 20 };
                    prop_assert!(e.len >= least);
                    last = e.at;
                }
                None => ended = true,
            }
        }
        prop_assert!(Source::mean_rate(&spec) >= 0.0);
        let _ = spec.check();
    }
}

/// Of every stretch of packets: no more bytes on the link than the curve allows in that time. Of a
/// grid of equal packets the curve has not a byte to spare, so it cannot be a packet too large.
#[test]
fn nothing_exceeds_its_arrival_curve() {
    // Bytes are added, and short packets filled up.
    let occupied = |len: u16| (u32::from(len) + 18).max(84);
    let tight = r#"{"cbr": {"rate": "1 Mb/s", "packet": "500 B"}}"#;
    let mut bounded = Vec::new();
    for json in SOURCES.into_iter().chain([tight]) {
        let s = spec(json);
        let Some(curve) = Source::arrivals(&s, &occupied) else {
            continue;
        };
        let curve = curve.unwrap();
        let packets = first(&s, Time::ZERO, &mut stream("curve", 0), 2000);
        let mut spare = i128::MAX;
        for (i, begin) in packets.iter().enumerate() {
            let mut sum = 0;
            for p in packets[i..].iter().take(60) {
                sum += i128::from(occupied(p.len));
                let time = Exact::from_integer(p.at.since(begin.at).as_ps().into());
                let most = curve.right_of(time).unwrap().floor().to_integer() / UNITS;
                assert!(
                    sum <= most,
                    "{json}: {sum} B in {time} ps, {most} B at most"
                );
                spare = spare.min(most - sum);
            }
        }
        assert!(json != tight || spare == 0, "{spare} B");
        bounded.push(s.kind());
    }
    bounded.dedup();
    assert_eq!(
        bounded,
        ["cbr", "on-off", "cbr", "voip", "bernoulli", "cbr"]
    );
}
