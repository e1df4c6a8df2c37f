//! The example of an AQM of one's own does what its page says.

#[allow(dead_code)]
#[path = "../examples/own_aqm.rs"]
mod example;

/// It holds the delay near 20 ms above the line's 20 ms, by probabilities that are a series.
#[test]
fn an_aqm_of_ones_own_has_state() {
    let (without, none) = example::run(false).unwrap();
    let (with, most) = example::run(true).unwrap();
    assert_eq!(none, None);
    assert!(without > 0.15 && with < 0.08, "{without} {with}");
    let most = most.expect("a series");
    assert!(0.0 < most && most <= 1.0, "{most}");
}
