//! What is refused of CAKE, where, and by which rule; and what is only warned of.

use crate::common::{BPS, resolve};

/// Found, and a part of what is said of it.
#[track_caller]
fn refused(keys: &str, key: &str, found: &str, message: &str, hint: &str) {
    let json = format!(r#"{{"main": {{"cake": {{{keys}}}}}}}"#);
    let Err(e) = resolve(&json, BPS) else {
        panic!("accepted: {json}");
    };
    assert_eq!(e.path, format!("policies.main.cake.{key}"), "{e}");
    assert_eq!(e.found, found, "{e}");
    assert!(e.message.contains(message), "{e}");
    assert!(e.hint.contains(hint), "{e}");
}

#[test]
fn values_out_of_range() {
    let rtt = "above 0 and at most 100 s";
    refused(r#""rtt": "0 s""#, "rtt", "0 s", rtt, "100 ms");
    refused(r#""rtt": "101 s""#, "rtt", "101 s", rtt, "100 ms");
    refused(r#""mtu": "0 B""#, "mtu", "0 B", "", "");
    refused(
        r#""mtu": "2 MB""#,
        "mtu",
        "2000000 B",
        "longer than 1 MiB",
        "1514 B",
    );
    let fits = "does not fit into it";
    let short = r#""memory_limit": "1499 B""#;
    refused(short, "memory_limit", "1499 B", fits, "4 MiB");
}

#[test]
fn a_bandwidth_in_a_class() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "class-default", "cake": {"bandwidth": "500 kb/s"}}]}}}"#;
    let Err(e) = resolve(json, BPS) else {
        panic!("accepted");
    };
    let path = "policies.main.class-based.classes[0].cake.bandwidth";
    assert_eq!((&*e.path, &*e.found), (path, "500 kb/s"));
    assert!(e.message.contains("it is the class that shapes"), "{e}");
    assert!(e.hint.contains("`shape` of the class"), "{e}");
}

#[test]
fn what_is_only_warned_of() {
    let warned = |keys: &str, text: &str| {
        let json = format!(r#"{{"main": {{"cake": {{{keys}}}}}}}"#);
        let (_, warnings) = resolve(&json, BPS).unwrap();
        assert!(warnings.iter().any(|w| w.contains(text)), "{warnings:?}");
    };
    warned(r#""bandwidth": "2 Mb/s""#, "never holds a packet back");
    let short = r#""bandwidth": "1 Mb/s", "rtt": "10 ms""#;
    warned(short, "do not send one and a half packets");
    // The usual target is silently longer on slow lines.
    let json = r#"{"main": {"cake": {"bandwidth": "500 kb/s"}}}"#;
    assert!(resolve(json, BPS).unwrap().1.is_empty());
}
