//! Calls and video: published rates, closed forms, what the packets add up to.

use crate::common::{assert_near, first, moments, spec, stream};
use spillgate_core::{Dur, Time, math};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::{Codec, SourceSpec, VoipSpec};

fn call(json: &str) -> VoipSpec {
    match spec(&format!(r#"{{"voip": {json}}}"#)) {
        SourceSpec::Voip(call) => call,
        other => panic!("{other:?}"),
    }
}

/// Every row of Cisco's table of bandwidth per call.
#[test]
fn calls_have_the_rates_that_cisco_publishes() {
    let table = include_str!("vectors/voip-cisco.csv");
    let rows: Vec<_> = table
        .lines()
        .filter(|l| !l.starts_with('#'))
        .skip(1)
        .collect();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().unwrap();
        let json = |headers: &str| {
            format!(
                r#"{{"codec": "{}", "bitrate": "{} kb/s", "headers": "{headers}"}}"#,
                cells[0], cells[1]
            )
        };
        let (plain, compressed) = (call(&json("ipv4")), call(&json("crtp")));
        assert_eq!(
            plain.packetization().as_secs_f64() * 1e3,
            number(2),
            "{row}"
        );
        assert_eq!(f64::from(plain.payload()), number(3), "{row}");
        for (call, layer2, published) in [(&plain, 7, 4), (&compressed, 7, 5), (&plain, 18, 6)] {
            let bytes = f64::from(call.speech_packet() + layer2);
            let kbps = bytes * 8.0 / number(2);
            // Half a unit of the last digit that the table prints.
            let digits = cells[published].split_once('.').map_or(0, |(_, d)| d.len());
            let rounding = 0.5 * math::pow(10.0, -(digits as f64)) + 1e-9;
            assert!(
                (kbps - number(published)).abs() <= rounding,
                "{row}: {kbps}"
            );
        }
        // The source sends what the numbers say.
        let s = SourceSpec::Voip(plain);
        let sent = first(&s, Time::ZERO, &mut stream("cisco", 0), 3);
        assert_eq!(f64::from(sent[0].len), number(3) + 40.0);
        let gap = sent[2].at.since(sent[1].at).as_secs_f64();
        assert!((gap * 1e3 - number(2)).abs() < 1e-9);
        assert!((Source::mean_rate(&s) - 8.0 * (number(3) + 40.0) / gap).abs() < 1e-6);
    }
}

/// RFC 4867 (octet-aligned), RFC 3551, RFC 7587.
#[test]
fn payloads_of_the_other_codecs() {
    for (json, payload) in [
        (r#"{"codec": "amr"}"#, 32 + 1),
        (
            r#"{"codec": "amr", "bitrate": "4.75 kb/s", "packetization": "40 ms"}"#,
            1 + 2 * 13,
        ),
        (r#"{"codec": "amr-wb"}"#, 34),
        (r#"{"codec": "amr-wb", "bitrate": "23.85 kb/s"}"#, 62),
        (r#"{"codec": "gsm"}"#, 33),
        (r#"{"codec": "gsm-efr"}"#, 31),
        (r#"{"codec": "g711", "packetization": "10 ms"}"#, 80),
        (r#"{"codec": "g711", "packetization": "30 ms"}"#, 240),
        (r#"{"codec": "g729", "packetization": "60 ms"}"#, 60),
        (r#"{"codec": "g726", "bitrate": "16 kb/s"}"#, 40),
        (r#"{"codec": "opus"}"#, 60),
        (
            r#"{"codec": "opus", "bitrate": "64 kb/s", "packetization": "2.5 ms"}"#,
            20,
        ),
        (
            r#"{"codec": "opus", "bitrate": "32 kb/s", "packetization": "60 ms"}"#,
            240,
        ),
        (r#"{"codec": "ilbc", "bitrate": "13.3 kb/s"}"#, 50),
    ] {
        assert_eq!(call(json).payload(), payload, "{json}");
    }
    let ipv6 = call(r#"{"codec": "g729", "headers": "ipv6", "extra": "10 B"}"#);
    assert_eq!(ipv6.speech_packet(), 20 + 60 + 10);
    let compressed =
        call(r#"{"codec": "g729", "packetization": "10 ms", "headers": "crtp-checksum"}"#);
    assert_eq!(compressed.speech_packet(), 14);
}

/// What the E-model and reports ask of a call.
#[test]
fn a_call_tells_its_codec_and_delays() {
    let g723 = call(r#"{"codec": "g723", "bitrate": "5.3 kb/s", "packetization": "60 ms"}"#);
    assert_eq!(g723.label(), "g723 5.3 kb/s");
    assert_eq!(g723.codec.name(), "g723");
    let ms = |d: Dur| d.as_secs_f64() * 1e3;
    assert_eq!((ms(g723.frame()), ms(g723.lookahead())), (30.0, 7.5));
    let ilbc = call(r#"{"codec": "ilbc", "bitrate": "13.33 kb/s"}"#);
    assert_eq!(
        (ms(ilbc.packetization()), ms(ilbc.lookahead())),
        (30.0, 10.0)
    );
    for codec in Codec::ALL {
        let spec = SourceSpec::Voip(VoipSpec::of(*codec));
        assert_eq!(spec.check(), Ok(()));
        assert!(Source::mean_rate(&spec) > 8_000.0, "{codec:?}");
    }
}

/// Packets and bits within `window` of time zero, and how many packets are of `noise` bytes.
fn window(s: &SourceSpec, window: Dur, purpose: &str, i: u32, noise: u16) -> [f64; 3] {
    let mut rng = stream(purpose, i);
    let mut source = Source::new(s, Time::ZERO);
    let mut sums = [0.0; 3];
    while let Some(e) = source.next(&mut rng) {
        if e.at >= Time::ZERO + window {
            break;
        }
        sums[0] += 1.0;
        sums[1] += 8.0 * f64::from(e.len);
        sums[2] += f64::from(u8::from(e.len == noise));
    }
    sums
}

/// The process is stationary from the start, so the expected number of packets of each kind in a
/// window is its share times the window: many independent windows, with their standard error.
#[test]
fn silence_suppression_has_its_closed_form() {
    for (json, noise) in [
        (r#"{"codec": "g729", "vad": "p59"}"#, 42),
        (
            r#"{"codec": "g711", "packetization": "10 ms", "vad": {"talk": "50 ms", "pause": "30 ms"}}"#,
            51,
        ),
        (
            r#"{"codec": "amr", "vad": {"talk": "300 ms", "pause": "700 ms"}}"#,
            47,
        ),
        (
            r#"{"codec": "amr", "vad": {"talk": "30 ms", "pause": "2 s", "sid_every": "40 ms"}}"#,
            47,
        ),
        (
            r#"{"codec": "opus", "vbr": "40 %", "vad": "sriram-whitt"}"#,
            0,
        ),
        (
            r#"{"codec": "g729", "vad": {"sid": "0 B", "talk": "1 ms", "pause": "1 s"}}"#,
            42,
        ),
    ] {
        let call = call(json);
        let s = SourceSpec::Voip(call.clone());
        let period = Dur::from_ms(600);
        let n = 6_000;
        let all: Vec<_> = (0..n).map(|i| window(&s, period, json, i, noise)).collect();
        let seconds = period.as_secs_f64();
        let near = |index: usize, want: f64| {
            let (mean, variance) = moments(&all.iter().map(|w| w[index]).collect::<Vec<_>>());
            assert_near(mean, want * seconds, (variance / f64::from(n)).sqrt());
        };
        near(0, call.mean_packets());
        near(1, Source::mean_rate(&s));
        let activity = call.vad.as_ref().unwrap().activity();
        let speech = activity / call.packetization().as_secs_f64();
        // Each noise is told from speech by its length.
        if noise > 0 && call.vad.as_ref().unwrap().sid.is_none() {
            near(2, call.mean_packets() - speech);
        }
    }
}

/// A talk spurt's number of packets has the mean 1 / a of a geometric distribution.
#[test]
fn talk_spurts_have_their_length() {
    let json = r#"{"codec": "g729", "phase": "0 s", "vad": {"talk": "400 ms", "pause": "600 ms"}}"#;
    let s = SourceSpec::Voip(call(json));
    let sent = first(&s, Time::ZERO, &mut stream("spurts", 0), 200_000);
    // A pause begins with comfort noise.
    let spurts: Vec<f64> = sent
        .split(|e| e.len == 42)
        .skip(1)
        .map(|spurt| spurt.len() as f64)
        .filter(|n| *n > 0.0)
        .collect();
    let a = 0.6 * (1.0 - math::exp(-0.02 * (1.0 / 0.4 + 1.0 / 0.6)));
    let (mean, _) = moments(&spurts);
    assert_near(
        mean,
        1.0 / a,
        (1.0 - a).sqrt() / a / (spurts.len() as f64).sqrt(),
    );
    // Every packet lies on the grid.
    for e in &sent {
        assert_eq!(e.at.as_ps() % 20_000_000_000, 0);
    }
}

/// Sizes of variable-rate Opus: mean and spread as asked, bounds kept, the first moment exact.
#[test]
fn variable_rate_opus_keeps_its_mean() {
    let s = spec(r#"{"voip": {"codec": "opus", "bitrate": "32 kb/s", "vbr": "30 %"}}"#);
    let n = 100_000;
    let sizes: Vec<f64> = first(&s, Time::ZERO, &mut stream("vbr", 0), n)
        .iter()
        .map(|e| f64::from(e.len) - 40.0)
        .collect();
    let (mean, variance) = moments(&sizes);
    assert_near(mean, 80.0, 24.0 / (n as f64).sqrt());
    // Kurtosis of the log-normal, and 1/6 byte² of variance by rounding with carry at most.
    let w: f64 = 1.0 + 0.09;
    let kurtosis = w * w * (w * w + 2.0 * w + 3.0) - 3.0;
    assert_near(
        variance,
        576.0,
        576.0 * (kurtosis / n as f64).sqrt() + 1.0 / 6.0,
    );
    assert!(sizes.iter().all(|s| (1.0..=1275.0).contains(s)));
}

/// The bytes of each frame by due time.
fn frames(s: &SourceSpec, purpose: &str, n: usize, period: f64) -> Vec<f64> {
    let mut sums = vec![0.0; n];
    let mut rng = stream(purpose, 0);
    let mut source = Source::new(s, Time::ZERO);
    while let Some(e) = source.next(&mut rng) {
        let k = (e.at.as_secs_f64() / period + 1e-6) as usize;
        if k >= n {
            break;
        }
        sums[k] += f64::from(e.len);
    }
    sums
}

/// Means and spread of each type of frame; the rate over all.
#[test]
fn video_has_the_frames_that_were_asked_for() {
    for distribution in ["lognormal", "gamma"] {
        let s = spec(&format!(
            r#"{{"video": {{"rate": "4 Mb/s", "fps": 25, "gop": "IBBPBB", "variation": "40 %",
                "weights": {{"i": 8, "p": 4, "b": 1}}, "distribution": "{distribution}",
                "phase": "0 s", "spread": "100 %"}}}}"#
        ));
        let n = 60_000;
        let sizes = frames(&s, distribution, n, 0.04);
        // 16 parts in a group of 6 frames of 20 kB on average.
        let part = 6.0 * 20_000.0 / 16.0;
        for (place, weight) in [(0, 8.0), (1, 1.0), (3, 4.0)] {
            let of_type: Vec<f64> = sizes.iter().skip(place).step_by(6).copied().collect();
            let (mean, variance) = moments(&of_type);
            let (want, m) = (weight * part, of_type.len() as f64);
            // A rest of up to 40 B moves between frames.
            assert_near(mean, want, 0.4 * want / m.sqrt() + 40.0 / m);
            // The log-normal's kurtosis, above the gamma's 3.96.
            let error = 0.16 * want * want * (6.0 / m).sqrt();
            assert_near(
                variance,
                0.16 * want * want,
                error + 2.0 * 40.0 * 0.4 * want / m.sqrt(),
            );
        }
        let (mean, _) = moments(&sizes);
        let spread = 0.4 * part * ((64.0 + 16.0 + 4.0) / 6.0_f64).sqrt();
        assert_near(mean, 20_000.0, spread / (n as f64).sqrt());
        assert_eq!(Source::mean_rate(&s), 4e6);
    }
}

/// Packets are full but for a frame's last, none is too short, and they keep to their share of the
/// frame's time, evenly.
#[test]
fn frames_are_cut_into_packets() {
    for (spread, share) in [("0 %", 0.0), ("50 %", 0.5), ("100 %", 1.0)] {
        let s = spec(&format!(
            r#"{{"video": {{"rate": "6 Mb/s", "fps": 50, "mtu": "1400 B", "spread": "{spread}",
                "phase": "5 ms"}}}}"#
        ));
        let sent = first(
            &s,
            Time::from_ps(1_000_000_000_000),
            &mut stream("cut", 0),
            20_000,
        );
        assert_eq!(sent[0].at.as_ps(), 1_005_000_000_000);
        let frame = |at: Time| (at.as_ps() - 1_005_000_000_000) / 20_000_000_000;
        for packets in sent.chunk_by(|a, b| frame(a.at) == frame(b.at)) {
            let (last, full) = packets.split_last().unwrap();
            assert!(full.iter().all(|e| e.len == 1400));
            assert!((41..=1400).contains(&last.len));
            // The list ends within a frame.
            if last == sent.last().unwrap() {
                continue;
            }
            let start = 1_005_000_000_000 + 20_000_000_000 * frame(last.at);
            for (i, e) in packets.iter().enumerate() {
                let want = share * 0.02 * i as f64 / packets.len() as f64;
                let got = (e.at.as_ps() - start) as f64 * 1e-12;
                assert!((got - want).abs() < 1e-11, "{got} for {want}");
            }
        }
    }
}

/// Scenes: the factor's share of the variance, and its correlation e^(-lag / mean).
#[test]
fn scenes_are_correlated_as_asked() {
    let s = spec(
        r#"{"video": {"rate": "5 Mb/s", "fps": 25, "gop": "P", "variation": "0 %", "phase": "0 s",
            "scene": "400 ms", "scene_variation": "50 %"}}"#,
    );
    let n = 200_000;
    let sizes = frames(&s, "scenes", n, 0.04);
    let (mean, variance) = moments(&sizes);
    // Correlation e^(-1/10) a frame: as good as n (1-r)/(1+r) independent ones.
    let r = math::exp(-0.1);
    let independent = n as f64 * (1.0 - r) / (1.0 + r);
    assert_near(mean, 25_000.0, 12_500.0 / independent.sqrt());
    // Of the log-normal with cv 0.5; neighbors' squares are no more correlated than they.
    let w: f64 = 1.25;
    let kurtosis = w * w * (w * w + 2.0 * w + 3.0) - 3.0;
    assert_near(
        variance / 12_500.0 / 12_500.0,
        1.0,
        (kurtosis / independent).sqrt(),
    );
    for lag in [5, 20] {
        let pairs = sizes.iter().zip(&sizes[lag..]);
        let sum: f64 = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum();
        let got = sum / (n - lag) as f64 / variance;
        assert_near(
            got,
            math::exp(-0.1 * lag as f64),
            (kurtosis / independent).sqrt(),
        );
    }
}

/// Without `phase` flows begin anywhere in the group: over many flows each place is as likely.
#[test]
fn videos_are_not_in_step() {
    let s = spec(
        r#"{"video": {"rate": "1 Mb/s", "fps": 25, "gop": "IBBB", "variation": "0 %",
            "weights": {"i": 9, "b": 1}}}"#,
    );
    let n = 4_000;
    let begins = (0..n).filter(|i| {
        let mut source = Source::new(&s, Time::ZERO);
        let mut rng = stream("step", *i);
        let (a, b) = (
            source.next(&mut rng).unwrap(),
            source.next(&mut rng).unwrap(),
        );
        // An I frame is 15 kB, a B frame 1667 B: two packets.
        a.len == 1500 && b.at == a.at && b.len == 1500
    });
    assert_near(
        begins.count() as f64 / f64::from(n),
        0.25,
        (0.1875 / f64::from(n)).sqrt(),
    );
}
