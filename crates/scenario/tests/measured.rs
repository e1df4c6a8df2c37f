//! Traffic matrices, and what routers have measured, as flows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spillgate_core::{Dscp, Dur, Percent};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::{Codec, SourceSpec, VadSpec, VoipSpec};
use spillgate_scenario::offered::{Offered, OfferedClass, OfferedPolicy};
use spillgate_scenario::plan::{FlowPlan, Traffic};
use spillgate_scenario::{Diagnostics, Imported, Importer, Loaded, Options, Platform, load};

/// Knows one output, whatever the file says.
struct Router(Offered);

impl Importer for Router {
    fn ios(&self, _: &str, _: &[u8], _: Platform) -> Result<Imported, Diagnostics> {
        unreachable!("no configuration in these scenarios")
    }

    fn offered(&self, _: &str, _: &[u8]) -> Result<Offered, Diagnostics> {
        Ok(self.0.clone())
    }
}

fn run(traffic: &str, file: &str, offered: Offered) -> Result<Loaded, String> {
    let scenario = format!(
        "schema_version: 1\ntopology:\n  nodes: [hq, b1, b2]\n  links:\n    a: {{from: hq, to: b1, rate: 1 Gb/s}}\n    \
         b: {{from: b1, to: b2, rate: 1 Gb/s}}\n    c: {{from: b2, to: hq, rate: 1 Gb/s}}\n\
         traffic:\n  - {traffic}\nmeasurement: {{warmup: 1 s, duration: 10 s}}\nruns: {{count: 2, seed: 1}}\n"
    );
    let files: BTreeMap<PathBuf, Vec<u8>> = [
        (PathBuf::from("s.yaml"), scenario.into_bytes()),
        (PathBuf::from("f"), file.as_bytes().to_vec()),
    ]
    .into();
    load(
        Path::new("s.yaml"),
        &files,
        &Router(offered),
        &Options::default(),
    )
    .map_err(|e| e.to_string())
}

/// Name, kind of source, rate in b/s and DSCP of every flow.
fn flows(loaded: &Loaded) -> Vec<(String, &'static str, f64, u8)> {
    let about = |f: &FlowPlan| match &f.traffic {
        Traffic::Source(s) => (
            f.name.to_string(),
            s.kind(),
            Source::mean_rate(s),
            f.dscp.value(),
        ),
        other => panic!("{other:?}"),
    };
    loaded.plan.variants[0]
        .world
        .flows
        .iter()
        .map(about)
        .collect()
}

fn matrix(options: &str, file: &str) -> Result<Loaded, String> {
    run(
        &format!("matrix: {{file: f{options}}}"),
        file,
        Offered::default(),
    )
}

#[test]
fn both_forms_of_a_matrix_say_the_same() {
    let wide = "from,hq,b1,b2\nhq,-,12,0\nb1,3.5,,\nb2,0.25,1 kb/s,-\n";
    let long = "from,to,rate\nhq,b1,12\nhq,b2,0\nb1,hq,3.5\nb2,hq,250 kb/s\nb2,b1,1 kb/s\n";
    let options = ", unit: Mb/s, scale: 2, defaults: {dscp: af21}";
    let wide = flows(&matrix(options, wide).unwrap());
    let names: Vec<_> = wide.iter().map(|f| (f.0.as_str(), f.1, f.2, f.3)).collect();
    assert_eq!(
        names,
        [
            ("hq:b1", "poisson", 24e6, 18),
            ("b1:hq", "poisson", 7e6, 18),
            ("b2:hq", "poisson", 500e3, 18),
            ("b2:b1", "poisson", 2e3, 18),
        ]
    );
    assert_eq!(flows(&matrix(options, long).unwrap()), wide);
    let classes = "from,to,class,dscp,rate,source,packet\nhq,b1,voice,ef,1 Mb/s,cbr,200 B\nhq,b1,data,,2 Mb/s,,\n";
    let got = flows(&matrix("", classes).unwrap());
    assert_eq!(got[0], ("voice:hq:b1".to_owned(), "cbr", 1e6, 46));
    assert_eq!(got[1], ("data:hq:b1".to_owned(), "poisson", 2e6, 0));
}

#[test]
fn mistakes_in_a_matrix_are_located() {
    for (options, file, place, message) in [
        ("", "", "f:1:1", "the matrix is empty"),
        ("", "from\nhq\n", "f:1:1", "one column"),
        ("", "from,hq,hq\n", "f:1:9", "`hq` occurs twice"),
        ("", "from,hq,\n", "f:1:9", "without a site"),
        (
            "",
            "from,hq,b1\nhq,1 Mb/s,2 Mb/s\n",
            "f:2:4",
            "from `hq` to itself",
        ),
        ("", "from,hq,b1\nhq,-\n", "f:2:1", "2 cells, the header 3"),
        ("", "from,hq,b1\nhq,-,12\n", "f:2:6", "the unit is missing"),
        ("", "from,hq,b1\nhq,-,-5 Mb/s\n", "f:2:6", ""),
        ("", "from,hq,b9\nhq,-,5 Mb/s\n", "f:2:6", "b9"),
        ("", "from,to,rate\nhq,b1,x Mb/s\n", "f:2:7", ""),
        ("", "from,to\nhq,b1\n", "f:1:1", "lacks the columns"),
        (
            "",
            "from,to,rate\nhq,b1\n",
            "f:2:1",
            "2 cells, the header 3",
        ),
        (
            "",
            "from,to,rate,sped\nhq,b1,1 Mb/s,1\n",
            "f:1:14",
            "no column `sped`",
        ),
        (
            ", scale: 0",
            "from,to,rate\nhq,b1,1 Mb/s\n",
            "s.yaml:9",
            "factor must be above 0",
        ),
        (", unit: ms", "from,to,rate\nhq,b1,1\n", "s.yaml:9", "unit"),
        (
            ", defaults: {x: 1}",
            "from,to,rate\nhq,b1,1 Mb/s\n",
            "s.yaml:9",
            "no column `x`",
        ),
        ("", "from,hq,b1\nhq,-,0\n", "s.yaml:8", "no traffic"),
    ] {
        let e = matrix(options, file).unwrap_err();
        assert!(e.contains(place) && e.contains(message), "{file}: {e}");
    }
}

fn class(name: &str, bps: u64, packets: u64, bytes: u64, dscp: &[u8]) -> OfferedClass {
    OfferedClass {
        name: name.to_owned(),
        line: 3,
        packets: Some(packets),
        bytes: Some(bytes),
        offered_bps: Some(bps),
        matches: vec![
            if dscp.is_empty() {
                "access-group 7"
            } else {
                "dscp"
            }
            .to_owned(),
        ],
        dscp: dscp.iter().filter_map(|d| Dscp::new(*d)).collect(),
        ..OfferedClass::default()
    }
}

fn measured() -> Offered {
    let parent = OfferedClass {
        child: Some("WAN".to_owned()),
        ..class("class-default", 9_000_000, 10, 1000, &[])
    };
    let mut within = class("class-default", 1_000_000, 10, 5140, &[]);
    within.within = vec!["class-default".to_owned()];
    let policy = |interface: &str, direction| OfferedPolicy {
        interface: interface.to_owned(),
        direction,
        policy: "WAN".to_owned(),
        line: 2,
        framing: Some(14),
        classes: vec![
            parent.clone(),
            class("VOICE", 741_000, 1000, 74_000, &[46]),
            class("DATA", 500_000, 0, 0, &[26, 28]),
            class("SAP", 100_000, 10, 10_140, &[]),
            class("IDLE", 0, 0, 0, &[8]),
            within.clone(),
        ],
    };
    Offered {
        policies: vec![
            policy("GigabitEthernet0/0", "input"),
            policy("GigabitEthernet0/0", "output"),
            policy("GigabitEthernet0/1", "output"),
        ],
        warnings: Vec::new(),
    }
}

fn show(options: &str) -> Result<Loaded, String> {
    let traffic = format!("show-policy-map: {{file: f, from: hq, to: b1{options}}}");
    run(
        &traffic,
        "GigabitEthernet0/1\n  Service-policy output: WAN\n    Class-map: VOICE (match-any)\n",
        measured(),
    )
}

/// The IP packets of what was counted with 14 B of layer 2 each: 60 of 74 B, 1000 of 1014 B; the
/// mean of the simple IMIX where nothing was counted.
#[test]
fn measured_classes_become_flows() {
    let loaded = show(", interface: gi0/1, scale: 2").unwrap();
    let got: Vec<_> = flows(&loaded)
        .into_iter()
        .map(|(name, kind, rate, dscp)| (name, kind, rate.round() as u64, dscp))
        .collect();
    let imix = 4084.0 / 12.0_f64;
    let data = (1e6 * imix / (imix + 14.0)).round() as u64;
    let want = |name: &str, rate, dscp| (name.to_owned(), "poisson", rate, dscp);
    assert_eq!(
        got,
        [
            // 1482 kb/s * 60 / 74, 200 kb/s * 1000 / 1014, 2 Mb/s * 500 / 514.
            want("VOICE", 1_201_622, 46),
            want("DATA", data, 26),
            want("SAP", 197_239, 0),
            want("class-default", 1_945_525, 0),
        ]
    );
    let said = loaded.plan.warnings.join("\n");
    for part in [
        "averages",
        "Poisson process",
        "14 B of layer 2 taken off",
        "nothing is offered to IDLE",
        "`DATA` matches 2 code points",
        "`SAP` does not match on DSCP (access-group 7)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn what_the_router_does_not_know_can_be_told() {
    let options = ", interface: GigabitEthernet0/0, framing: 0 B, source: cbr, prefix: m, \
        classes: {SAP: {dscp: af31, packet: 500 B, source: poisson, class: apps}, VOICE: {skip: true}}";
    let loaded = show(options).unwrap();
    let got = flows(&loaded);
    assert_eq!(got[0].0, "m:DATA");
    assert_eq!(got[1], ("m:SAP".to_owned(), "poisson", 100e3, 26));
    assert_eq!(got[2], ("m:class-default".to_owned(), "cbr", 1e6, 0));
    assert!(
        loaded.plan.variants[0]
            .world
            .classes
            .contains(&"apps".to_owned())
    );
    let said = loaded.plan.warnings.join("\n");
    assert!(!said.contains("`SAP`"), "{said}");
}

#[test]
fn outputs_that_do_not_fit_are_explained() {
    for (options, message) in [
        ("", "2 output policies"),
        (
            ", interface: gi0/7",
            "no output policy on an interface `gi0/7`",
        ),
        (
            ", interface: gi0/1, direction: input",
            "no input policy on an interface",
        ),
        (", interface: gi0/1, scale: -1", "factor must be above 0"),
        (
            ", interface: gi0/1, classes: {VOYCE: {skip: true}}",
            "no class `VOYCE`",
        ),
        (", interface: gi0/1, clases: {}", "clases"),
        (
            ", interface: gi0/1, classes: {VOICE: {skip: true}, DATA: {skip: true}, SAP: {skip: true}, class-default: {skip: true}}",
            "no class of policy `WAN` offers anything",
        ),
    ] {
        let e = show(options).unwrap_err();
        assert!(e.contains(message), "{options}: {e}");
    }
}

proptest! {
    #[test]
    fn any_matrix_ends_well(text in "(from|hq|b1|to|rate|,|,|\n|\"|1 Mb/s|-|0|9e99| ){0,40}", scale in any::<f64>()) {
        if let Err(e) = matrix(&format!(", unit: kb/s, scale: {scale:e}"), &text) {
            prop_assert!(e.contains("error"), "{}", e);
        }
    }

    #[test]
    fn any_numbers_of_a_router_end_well(bps in any::<u64>(), packets in any::<u64>(), bytes in any::<u64>(), scale in 1e-6_f64..1e6) {
        let mut offered = measured();
        offered.policies.truncate(2);
        offered.policies[1].classes = vec![class("A", bps, packets, bytes, &[46])];
        let traffic = format!("show-policy-map: {{file: f, from: hq, to: b1, scale: {scale}}}");
        if let Err(e) = run(&traffic, "a\nb\nc\n", offered) {
            prop_assert!(e.contains("error"), "{}", e);
        }
    }
}

/// A row with a codec is so many calls, whatever the defaults of other rows.
#[test]
fn tables_and_matrices_have_calls() {
    let csv = |file: &str| {
        let options = "csv: {file: f, defaults: {from: hq, to: b1, source: poisson, jitter: 10 %}}";
        flows(&run(options, file, Offered::default()).unwrap())
    };
    let got = csv("name,count,rate,packet,codec,packetization,vad\n\
                   data,2,3 Mb/s,1500 B,,,\n\
                   call,10,,,g729,40 ms,p59\n");
    assert_eq!(got.len(), 12);
    assert_eq!(got[0], ("data-0".to_owned(), "poisson", 3e6, 0));
    let spec = VoipSpec {
        packetization: Some(Dur::from_ms(40)),
        vad: Some(VadSpec::default()),
        jitter: Percent(0.1),
        ..VoipSpec::of(Codec::G729)
    };
    let rate = Source::mean_rate(&SourceSpec::Voip(spec));
    assert_eq!(got[11], ("call-9".to_owned(), "voip", rate, 0));

    // The long form of a matrix; scale multiplies calls as it does rates.
    let long = "from,to,class,codec,count,rate\n\
                hq,b1,voice,g711,5,\nhq,b1,data,,,2 Mb/s\nb1,hq,voice,g711,-,\n";
    let got = flows(&matrix(", scale: 2", long).unwrap());
    assert_eq!(got.len(), 11);
    assert_eq!(got[0].0, "voice:hq:b1-0");
    // 160 B of speech and 40 B of headers each 20 ms.
    assert_eq!((got[0].1, got[0].2), ("voip", 80e3));
    assert_eq!((got[10].1, got[10].2), ("poisson", 4e6));
    // The wide form, of numbers of calls.
    let wide = ",hq,b1\nhq,,3\nb1,2,-\n";
    let got = flows(&matrix(", defaults: {codec: g711, dscp: ef}", wide).unwrap());
    assert_eq!(got.len(), 5);
    assert!(got.iter().all(|f| f.1 == "voip" && f.3 == 46));
}

/// A table of this header and row is refused with what is wrong, and where.
#[track_caller]
fn is_located(header: &str, row: &str, place: &str, problem: &str) {
    let options = "csv: {file: f, defaults: {from: hq, to: b1}}";
    let file = format!("{header}\n{row}\n");
    let e = run(options, &file, Offered::default()).unwrap_err();
    assert!(e.contains(place) && e.contains(problem), "{file}{e}");
}

#[test]
fn mistakes_in_rows_of_calls_are_located() {
    for (header, row, place, problem) in [
        (
            "name,codec,rate",
            "call,g711,64 kb/s",
            "f:2:11",
            "unknown key `rate`",
        ),
        ("name,codec", "call,g7", "f:2:6", "g7"),
        (
            "name,codec,source",
            "call,g711,cbr",
            "f:2:1",
            "lacks a value for rate",
        ),
        (
            "name,source,codec",
            "call,voip,",
            "f:2:11",
            "lacks a value for codec",
        ),
        (
            "name,rate,packet,vad",
            "d,1 Mb/s,1500 B,p59",
            "f:2:17",
            "unknown key `vad`",
        ),
    ] {
        is_located(header, row, place, problem);
    }
}

/// A row with frames per second is a video, beside calls and other flows in one table.
#[test]
fn tables_and_matrices_have_videos() {
    let options = "csv: {file: f, defaults: {from: hq, to: b1, source: poisson, mtu: 1400 B}}";
    let file = "name,count,rate,packet,codec,fps,gop,weights,scene,distribution\n\
                data,,3 Mb/s,1500 B,,,,,,\n\
                call,,,,g729,,,,,\n\
                film,2,4 Mb/s,,,24.5,IBBP,8:4:1.5,5 s,gamma\n\
                cam,,1 Mb/s,,,25,,,,\n";
    let plan = run(options, file, Offered::default()).unwrap();
    let got = flows(&plan);
    let kinds: Vec<_> = got.iter().map(|f| (f.0.as_str(), f.1, f.2)).collect();
    assert_eq!(kinds[0], ("data", "poisson", 3e6));
    assert_eq!(kinds[1].1, "voip");
    assert_eq!(kinds[2], ("film-0", "video", 4e6));
    assert_eq!(kinds[4], ("cam", "video", 1e6));
    let video = |i: usize| match &plan.plan.variants[0].world.flows[i].traffic {
        Traffic::Source(s) => match s.as_ref() {
            SourceSpec::Video(v) => v.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let film = video(2);
    assert_eq!((film.fps, film.gop.as_str()), (24.5, "IBBP"));
    assert_eq!(
        (film.weights.i, film.weights.p, film.weights.b),
        (8.0, 4.0, 1.5)
    );
    assert_eq!((film.scene, film.mtu.0), (Some(Dur::from_ms(5000)), 1400));
    // What is not in the table is as in the scenario.
    assert_eq!(
        (video(4).gop.as_str(), video(4).weights.p),
        ("IBBPBBPBBPBB", 3.0)
    );

    let long = "from,to,class,fps,rate\nhq,b1,video,25,5 Mb/s\nhq,b1,data,,2 Mb/s\n";
    let got = flows(&matrix(", scale: 2", long).unwrap());
    assert_eq!((got[0].1, got[0].2, got[1].1), ("video", 1e7, "poisson"));
    let wide = ",hq,b1\nhq,,3 Mb/s\nb1,2 Mb/s,-\n";
    let got = flows(&matrix(", defaults: {fps: 25, dscp: af41}", wide).unwrap());
    assert_eq!(got.len(), 2);
    assert!(got.iter().all(|f| f.1 == "video" && f.3 == 34));
}

#[test]
fn mistakes_in_rows_of_videos_are_located() {
    for (header, row, place, problem) in [
        ("name,rate,fps", "v,1 Mb/s,fast", "f:2:10", "found: fast"),
        ("name,rate,fps", "v,1 Mb/s,5000", "f:2:10", "5000"),
        ("name,rate,fps", "v,,25", "f:2:3", "lacks a value for rate"),
        (
            "name,rate,source,fps",
            "v,1 Mb/s,video,",
            "f:2:16",
            "lacks a value for fps",
        ),
        ("name,rate,fps,gop", "v,1 Mb/s,25,IBX", "f:2:13", "IBX"),
        (
            "name,rate,fps,weights",
            "v,1 Mb/s,25,5:3",
            "f:2:13",
            "three numbers",
        ),
        (
            "name,rate,fps,weights",
            "v,1 Mb/s,25,5:x:1",
            "f:2:13",
            "three numbers",
        ),
        (
            "name,rate,fps,weights",
            "v,1 Mb/s,25,5:-3:1",
            "f:2:13",
            "-3",
        ),
        ("name,rate,fps,mtu", "v,1 Mb/s,25,80 B", "f:2:13", "80 B"),
        (
            "name,rate,fps,packet",
            "v,1 Mb/s,25,1500 B",
            "f:2:13",
            "unknown key `packet`",
        ),
        (
            "name,rate,packet,gop",
            "v,1 Mb/s,1500 B,IBB",
            "f:2:17",
            "unknown key `gop`",
        ),
    ] {
        is_located(header, row, place, problem);
    }
}
