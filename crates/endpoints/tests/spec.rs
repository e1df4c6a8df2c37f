//! What a user may write, and what is said about mistakes.

use spillgate_core::Problem;
use spillgate_core::Size;
use spillgate_endpoints::source::spec::{
    GenomeSpec, Imix, PacketSizeSpec, SizeRange, SourceSpec, WeightedSize,
};

fn sizes(json: &str) -> Result<PacketSizeSpec, String> {
    // Streaming, without a buffered tree in between.
    serde_json::from_reader(json.as_bytes()).map_err(|e| e.to_string())
}

#[test]
fn packet_sizes_in_every_form() {
    let fixed = PacketSizeSpec::Fixed(Size(1500));
    let imix = PacketSizeSpec::Imix(Imix::Simple);
    let genome = PacketSizeSpec::Genome(GenomeSpec {
        sequence: "aag".to_owned(),
        sizes: [].into(),
        mtu: Size(1500),
        framing: Size(18),
    });
    let range = SizeRange {
        min: Size(64),
        max: Size(1500),
    };
    let row = WeightedSize {
        size: Size(40),
        weight: 7.0,
    };
    for (json, want) in [
        (r#""1500 B""#, fixed.clone()),
        (r#"" 1.5 kB ""#, fixed.clone()),
        (r#"{"fixed": "1500 B"}"#, fixed),
        (r#""imix""#, imix.clone()),
        (r#"{"imix": "simple"}"#, imix),
        (r#"{"imix": "tolly"}"#, PacketSizeSpec::Imix(Imix::Tolly)),
        (r#"{"genome": "aag"}"#, genome.clone()),
        (r#"{"genome": {"sequence": "aag"}}"#, genome),
        (
            r#"{"uniform": {"min": "64 B", "max": "1500 B"}}"#,
            PacketSizeSpec::Uniform(range),
        ),
        (
            r#"{"exponential": "500 B"}"#,
            PacketSizeSpec::Exponential(Size(500)),
        ),
        (
            r#"{"table": [{"size": "40 B", "weight": 7}]}"#,
            PacketSizeSpec::Table(vec![row]),
        ),
    ] {
        let got = sizes(json).unwrap();
        assert_eq!(got, want, "{json}");
        // From a tree as well, and back from what it is written as.
        let tree: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(
            serde_json::from_value::<PacketSizeSpec>(tree).unwrap(),
            want
        );
        assert_eq!(sizes(&serde_json::to_string(&got).unwrap()).unwrap(), want);
    }
}

/// Every message repeats what was found and says what is valid.
#[test]
fn mistakes_in_packet_sizes_are_explained() {
    for (json, found, valid) in [
        (
            r#""1500""#,
            "`1500`: the unit is missing",
            "a size such as 1500 B, imix",
        ),
        (
            "1500",
            "`1500`: the unit is missing",
            "a size such as 1500 B, imix",
        ),
        ("-3", "`-3`: the unit is missing", "a size such as 1500 B"),
        ("1.5", "`1.5`: the unit is missing", "a size such as 1500 B"),
        (
            r#""large""#,
            "`large`: this does not begin with a number",
            "{imix: simple}",
        ),
        (
            r#""20 ms""#,
            "`ms` is not a unit that fits here",
            "a size such as 1500 B",
        ),
        ("{}", "an empty table", "{exponential: 500 B}"),
        (
            "true",
            "invalid type: boolean `true`",
            "a size such as 1500 B, imix",
        ),
        (
            "null",
            "invalid type: null",
            "fixed, table, imix, genome, uniform, exponential",
        ),
        (r#"{"fixd": "1500 B"}"#, "unknown variant `fixd`", "`fixed`"),
        (
            r#"{"imix": "complex"}"#,
            "unknown variant `complex`",
            "`simple`",
        ),
        (r#"{"genome": 7}"#, "invalid type: integer `7`", "a string"),
        (
            r#"{"genome": {"sequenz": "a"}}"#,
            "unknown field `sequenz`",
            "`sequence`",
        ),
        (
            r#"{"fixed": "1 B", "imix": "simple"}"#,
            "`fixed` and `imix` exclude each other",
            "only one key",
        ),
        (
            r#"{"uniform": {"min": "1 B"}}"#,
            "missing field `max`",
            "max",
        ),
        (
            r#"{"uniform": {"min": "1 B", "mx": "2 B"}}"#,
            "unknown field `mx`",
            "`max`",
        ),
        (
            r#"{"table": [{"size": "40 B"}]}"#,
            "missing field `weight`",
            "weight",
        ),
    ] {
        let e = sizes(json).unwrap_err();
        assert!(e.contains(found) && e.contains(valid), "{json}: {e}");
    }
}

fn problem(json: &str) -> Problem {
    let spec: SourceSpec = serde_json::from_str(json).unwrap();
    spec.check().unwrap_err()
}

#[test]
fn values_out_of_range_are_located() {
    let cbr = |packet: &str| format!(r#"{{"cbr": {{"rate": "1 Mb/s", "packet": {packet}}}}}"#);
    let on_off = |peak: &str, on: &str, distribution: &str| {
        format!(
            r#"{{"on-off": {{"peak": "{peak}", "packet": "1500 B", "on": "{on}", "off": "1 s",
                "distribution": {distribution}}}}}"#
        )
    };
    let exponential = r#""exponential""#;
    let voip = |more: &str, codec: &str| format!(r#"{{"voip": {{"codec": "{codec}", {more}}}}}"#);
    let video = |more: &str| format!(r#"{{"video": {{"rate": "400 kb/s", {more}}}}}"#);
    for (json, path, found) in [
        (
            r#"{"cbr": {"rate": "1 Mb/s", "packet": "1500 B", "jitter": "51 %"}}"#.to_owned(),
            "cbr.jitter",
            "51 %",
        ),
        (cbr(r#""0 B""#), "cbr.packet.fixed", "0 B"),
        (cbr(r#""19 B""#), "cbr.packet.fixed", "19 B"),
        (cbr(r#""65536 B""#), "cbr.packet.fixed", "65536 B"),
        (
            cbr(r#"{"exponential": "10 B"}"#),
            "cbr.packet.exponential",
            "10 B",
        ),
        (
            cbr(r#"{"uniform": {"min": "10 B", "max": "90 B"}}"#),
            "cbr.packet.uniform.min",
            "10 B",
        ),
        (
            cbr(r#"{"uniform": {"min": "90 B", "max": "1 MB"}}"#),
            "cbr.packet.uniform.max",
            "1000000 B",
        ),
        (
            cbr(r#"{"uniform": {"min": "90 B", "max": "80 B"}}"#),
            "cbr.packet.uniform.min",
            "90 B",
        ),
        (cbr(r#"{"table": []}"#), "cbr.packet.table", "[]"),
        (
            cbr(r#"{"table": [{"size": "40 B", "weight": 1}, {"size": "40 B", "weight": 0}]}"#),
            "cbr.packet.table[1].weight",
            "0",
        ),
        (
            cbr(r#"{"table": [{"size": "4 B", "weight": 1}]}"#),
            "cbr.packet.table[0].size",
            "4 B",
        ),
        (
            cbr(r#"{"genome": "aQ"}"#),
            "cbr.packet.genome.sequence",
            "aQ",
        ),
        (
            voip(r#""bitrate": "7 kb/s""#, "g723"),
            "voip.bitrate",
            "7 kb/s",
        ),
        (
            voip(r#""bitrate": "5 kb/s""#, "opus"),
            "voip.bitrate",
            "5 kb/s",
        ),
        (
            voip(r#""packetization": "25 ms""#, "g729"),
            "voip.packetization",
            "25 ms",
        ),
        (
            voip(r#""packetization": "30 ms""#, "opus"),
            "voip.packetization",
            "30 ms",
        ),
        (
            voip(r#""packetization": "210 ms""#, "g711"),
            "voip.packetization",
            "210 ms",
        ),
        (voip(r#""vbr": "20 %""#, "g711"), "voip.vbr", "20 %"),
        (voip(r#""vbr": "0 %""#, "opus"), "voip.vbr", "0 %"),
        (voip(r#""extra": "2 kB""#, "opus"), "voip.extra", "2000 B"),
        (voip(r#""jitter": "60 %""#, "g711"), "voip.jitter", "60 %"),
        (
            voip(r#""vad": {"talk": "0 s"}"#, "g711"),
            "voip.vad.talk",
            "0 s",
        ),
        (
            voip(r#""vad": {"sid_every": "1 us"}"#, "g711"),
            "voip.vad.sid_every",
            "1 us",
        ),
        (
            voip(r#""vad": {"sid": "2 kB"}"#, "g711"),
            "voip.vad.sid",
            "2000 B",
        ),
        (video(r#""fps": 0"#), "video.fps", "0"),
        (video(r#""fps": 25, "gop": """#), "video.gop", ""),
        (video(r#""fps": 25, "gop": "IQ""#), "video.gop", "IQ"),
        (
            video(r#""fps": 25, "weights": {"b": 0}"#),
            "video.weights.b",
            "0",
        ),
        (
            video(r#""fps": 25, "scene": "39 ms""#),
            "video.scene",
            "39 ms",
        ),
        (video(r#""fps": 25, "mtu": "500 B""#), "video.mtu", "500 B"),
        (video(r#""fps": 1000"#), "video.rate", "400 kb/s"),
        (
            r#"{"poisson": {"rate": "1 Mb/s", "packet": "0 B"}}"#.to_owned(),
            "poisson.packet.fixed",
            "0 B",
        ),
        (
            r#"{"bernoulli": {"line": "1 Mb/s", "load": "0 %", "packet": "100 B"}}"#.to_owned(),
            "bernoulli.load",
            "0 %",
        ),
        (
            r#"{"bernoulli": {"line": "1 Mb/s", "load": "50 %", "packet": "19 B"}}"#.to_owned(),
            "bernoulli.packet",
            "19 B",
        ),
        (on_off("1 Mb/s", "0 s", exponential), "on-off.on", "0 s"),
        (
            on_off("1 Mb/s", "1 s", r#"{"pareto": 1.0}"#),
            "on-off.distribution.pareto",
            "1",
        ),
        // A packet takes 12 ms: bursts below 12 us are refused.
        (on_off("1 Mb/s", "11 us", exponential), "on-off.on", "11 us"),
        // The shortest Pareto burst is 1/101 of the mean.
        (
            on_off("1 Mb/s", "1 ms", r#"{"pareto": 1.01}"#),
            "on-off.on",
            "1 ms",
        ),
    ] {
        let p = problem(&json);
        assert_eq!((p.path.as_str(), p.found.as_str()), (path, found), "{json}");
        assert!(!p.message.is_empty() && !p.hint.is_empty());
        assert!(p.to_string().contains(found));
    }
    for json in [
        on_off("1 Mb/s", "13 us", exponential),
        on_off("1 Mb/s", "2 ms", r#"{"pareto": 1.01}"#),
        cbr(r#""20 B""#),
        cbr(r#""65535 B""#),
        cbr(r#"{"uniform": {"min": "80 B", "max": "80 B"}}"#),
    ] {
        let spec: SourceSpec = serde_json::from_str(&json).unwrap();
        assert_eq!(spec.check(), Ok(()), "{json}");
    }
}

#[test]
fn weights_must_be_finite() {
    for weight in [f64::NAN, f64::INFINITY, -1.0] {
        let mut spec: SourceSpec =
            serde_json::from_str(r#"{"poisson": {"rate": "1 Mb/s", "packet": "1500 B"}}"#).unwrap();
        if let SourceSpec::Poisson(p) = &mut spec {
            p.packet = PacketSizeSpec::Table(vec![WeightedSize {
                size: Size(100),
                weight,
            }]);
        }
        assert_eq!(
            spec.check().unwrap_err().path,
            "poisson.packet.table[0].weight"
        );
    }
}

#[test]
fn kinds_are_what_scenarios_say() {
    assert_eq!(
        SourceSpec::NAMES,
        [
            "cbr",
            "poisson",
            "bernoulli",
            "backlogged",
            "on-off",
            "mmpp",
            "voip",
            "video"
        ]
    );
    let schema = serde_json::to_value(schemars::schema_for!(SourceSpec)).unwrap();
    for (k, variant) in SourceSpec::KINDS
        .iter()
        .zip(schema["oneOf"].as_array().unwrap())
    {
        assert_eq!(variant["required"][0], k.kind);
        assert_eq!(variant["description"], k.summary);
    }
    let e = serde_json::from_str::<SourceSpec>(r#"{"cbb": {}}"#).unwrap_err();
    assert!(e.to_string().contains(
        "expected one of `cbr`, `poisson`, `bernoulli`, `backlogged`, `on-off`, `mmpp`, `voip`, `video`"
    ));
}

#[test]
fn the_schema_has_every_form_of_packet_sizes() {
    let schema = serde_json::to_value(schemars::schema_for!(PacketSizeSpec)).unwrap();
    let forms = schema["anyOf"].as_array().unwrap();
    assert!(forms.iter().any(|f| f["const"] == "imix"));
    for kind in ["fixed", "table", "imix", "genome", "uniform", "exponential"] {
        let form = forms.iter().find(|f| f["required"][0] == kind).unwrap();
        assert_eq!(form["additionalProperties"], false);
        assert!(form["properties"][kind].is_object());
    }
    let short = &forms[0]["allOf"][0]["$ref"];
    assert_eq!(short, "#/$defs/Size");
}
