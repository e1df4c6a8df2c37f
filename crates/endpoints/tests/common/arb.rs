//! Random configurations for property tests.

use proptest::prelude::*;
use spillgate_endpoints::cc;

/// A consistent configuration of any algorithm and profile; each bit of `odd` sets one key away
/// from where most profiles have it.
pub(crate) fn arb_config() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(cc::CcSpec::NAMES);
    let profile = prop::sample::select(vec!["ns2", "linux", "rfc"]);
    let sizes = (
        1_u32..12,
        1_u32..40,
        prop::sample::select(vec![500, 1000, 1448, 9000]),
    );
    (kind, profile, any::<u16>(), 0_u8..4, sizes).prop_map(
        |(kind, profile, odd, every, (initial, window, mss))| {
            // Giving up is right after enough losses in a row: with 25 % each way, seven SYN are
            // lost once in 300 connections, 31 once in 10^11.
            let mut json = format!(
                r#"{{"cc": {{"{kind}": {{}}}}, "profile": "{profile}", "retries": 1000, "syn_retries": 30"#
            );
            let bit = |i: u16| odd >> i & 1 == 1;
            let old = ["tahoe", "reno"].contains(&kind);
            let scalable = ["dctcp", "prague"].contains(&kind);
            let sack = !old && (bit(0) || kind != "newreno");
            let mut key = |when: bool, text: &str| {
                if when {
                    json += ", ";
                    json += text;
                }
            };
            key(sack, r#""sack": true"#);
            key(sack && bit(1) && kind != "bbr", r#""prr": true"#);
            key(sack && bit(2), r#""rack_tlp": true"#);
            key(bit(3), r#""pacing": true"#);
            let paced = bit(3) || ["bbr", "prague"].contains(&kind);
            key(bit(11) && !paced, r#""send_jitter": "3 ms""#);
            key(bit(4), r#""timestamps": false"#);
            key(bit(5), r#""limited_transmit": false"#);
            key(bit(6), r#""handshake": false"#);
            key(bit(7) && !scalable, r#""ecn": "classic""#);
            let accurate = kind == "prague" || bit(12) && !bit(7) && kind != "dctcp";
            key(accurate && kind != "prague", r#""ecn": "accurate""#);
            key(accurate && bit(13), r#""ecn_option": false"#);
            key(bit(14) && kind != "dctcp", r#""peer_ecn": "classic""#);
            key(bit(8), &format!(r#""initial_window": {initial}"#));
            key(bit(9), &format!(r#""mss": "{mss} B""#));
            key(bit(10), &format!(r#""max_window": "{} B""#, 9000 * window));
            key(
                every > 0,
                &format!(r#""delayed_ack": {{"timeout": "40 ms", "every": {every}}}"#),
            );
            json + "}"
        },
    )
}
