//! The longest packet that a source is said to send against what it sends.

use spillgate_core::{Rng, Time};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::SourceSpec;

fn spec(yaml: &str) -> SourceSpec {
    serde_json::from_str(yaml).unwrap()
}

#[test]
fn nothing_is_longer_than_the_longest_packet() {
    // Whether so many draws give the longest one: all but those of unbounded or nearly so.
    for (text, reached) in [
        (r#"{"cbr": {"rate": "1 Mb/s", "packet": "200 B"}}"#, true),
        (r#"{"poisson": {"rate": "1 Mb/s", "packet": "imix"}}"#, true),
        (
            r#"{"cbr": {"rate": "1 Mb/s", "packet": {"uniform": {"min": "40 B", "max": "60 B"}}}}"#,
            true,
        ),
        (
            r#"{"cbr": {"rate": "1 Mb/s", "packet": {"genome": "aafe"}}}"#,
            true,
        ),
        (
            r#"{"cbr": {"rate": "1 Mb/s", "packet": {"table": [{"size": "40 B", "weight": 9}, {"size": "90 B", "weight": 1}]}}}"#,
            true,
        ),
        (
            r#"{"cbr": {"rate": "1 Mb/s", "packet": {"exponential": "400 B"}}}"#,
            false,
        ),
        (
            r#"{"bernoulli": {"line": "1 Mb/s", "load": "40 %", "packet": "200 B"}}"#,
            true,
        ),
        (r#"{"voip": {"codec": "g711", "vad": "p59"}}"#, true),
        (r#"{"voip": {"codec": "opus", "vbr": "40 %"}}"#, false),
        (
            r#"{"video": {"rate": "4 Mb/s", "fps": 25, "mtu": "1300 B"}}"#,
            true,
        ),
    ] {
        let spec = spec(text);
        let longest = Source::longest(&spec);
        let mut source = Source::new(&spec, Time::ZERO);
        let mut rng = Rng::from_key(7);
        let drawn = (0..20_000)
            .filter_map(|_| source.next(&mut rng))
            .map(|e| e.len);
        let most = drawn.max().unwrap();
        assert!(most <= longest, "{text}: {most} above {longest}");
        assert_eq!(most == longest, reached, "{text}: {most} of {longest}");
    }
}
