//! Handshake and counters by the tables of RFC 9768, and what a sender makes of lost feedback.

use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::{Dur, Ecn, Time};

use super::*;
use crate::tcp::{Receiver, Segment, Sender, TcpConfig, TcpSpec};

fn config(json: &str) -> Arc<TcpConfig> {
    let spec: TcpSpec = serde_json::from_str(json).unwrap();
    Arc::new(spec.resolve().unwrap())
}

/// The handshake as it goes over the wire; SYN arrives with `syn` and SYN-ACK with `syn_ack` in the
/// IP header. Flags of SYN, SYN-ACK and the acknowledgment, and the first segment with data.
fn handshake(cfg: &Arc<TcpConfig>, syn: Ecn, syn_ack: Ecn) -> ([u8; 3], Segment) {
    let at = |ms| Time::ZERO + Dur::from_ms(ms);
    let (mut tx, mut rx) = (Sender::new(cfg, at(0)), Receiver::new(cfg));
    tx.write(at(0), 100_000);
    let first = tx.poll_transmit(at(0)).unwrap();
    rx.handle_segment(at(1), &first, syn);
    let second = rx.poll_transmit(at(1)).unwrap();
    tx.handle_segment(at(2), &second, syn_ack);
    let sent: Vec<Segment> = std::iter::from_fn(|| tx.poll_transmit(at(2))).collect();
    let data = *sent.iter().find(|s| s.len > 0).unwrap();
    let flags = [&first, &second, &sent[0]].map(|s| s.flags.ace_field());
    (flags, data)
}

/// Every pair of capabilities: what SYN and SYN-ACK say, and the codepoint of data (table 2 and
/// RFC 3168 §6.1.1).
#[test]
fn every_pair_of_capabilities_agrees_on_what_both_have() {
    let (off, e0, e1) = (Ecn::NotEct, Ecn::Ect0, Ecn::Ect1);
    for (client, server, syn, syn_ack, data) in [
        ("off", "off", 0b000, 0b000, off),
        ("off", "classic", 0b000, 0b000, off),
        ("off", "accurate", 0b000, 0b000, off),
        ("classic", "off", 0b011, 0b000, off),
        ("classic", "classic", 0b011, 0b001, e0),
        ("classic", "accurate", 0b011, 0b001, e0),
        ("accurate", "off", 0b111, 0b000, off),
        ("accurate", "classic", 0b111, 0b001, e0),
        ("accurate", "accurate", 0b111, 0b010, e0),
        ("l4s", "off", 0b111, 0b000, off),
        ("l4s", "classic", 0b111, 0b001, e0),
        ("l4s", "accurate", 0b111, 0b010, e1),
    ] {
        let cc = if client == "l4s" { "prague" } else { "newreno" };
        let json =
            format!(r#"{{"cc": {{"{cc}": {{}}}}, "ecn": "{client}", "peer_ecn": "{server}"}}"#);
        let (flags, first) = handshake(&config(&json), Ecn::NotEct, Ecn::NotEct);
        let accurate = syn_ack == 0b010;
        assert_eq!(flags[..2], [syn, syn_ack], "{json}");
        assert_eq!(first.ect, data, "{json}");
        // The counter begins at 5; without it, no flag is set on data.
        assert_eq!(
            first.flags.ace_field(),
            if accurate { 5 } else { 0 },
            "{json}"
        );
    }
}

/// Tables 2 and 3: both ends tell what arrived. A SYN that was altered on its way ends ECT, but no
/// feedback (§3.2.2.3); a marked SYN-ACK counts.
#[test]
fn the_handshake_reflects_the_ip_header() {
    let cfg = config(r#"{"cc": {"prague": {}}}"#);
    for (ecn, code) in [
        (Ecn::NotEct, 0b010),
        (Ecn::Ect1, 0b011),
        (Ecn::Ect0, 0b100),
        (Ecn::Ce, 0b110),
    ] {
        let (flags, data) = handshake(&cfg, ecn, Ecn::NotEct);
        assert_eq!(flags, [0b111, code, 0b010]);
        assert_eq!(data.ect.is_capable(), ecn == Ecn::NotEct);
        let (flags, data) = handshake(&cfg, Ecn::NotEct, ecn);
        assert_eq!(flags, [0b111, 0b010, code]);
        assert_eq!(data.flags.ace_field(), if ecn == Ecn::Ce { 6 } else { 5 });
    }
}

/// Table 2, all eight values, as a client reads them; §3.1.3: a reserved one means support.
#[test]
fn a_client_reads_every_answer() {
    use EcnMode::{Accurate, Classic, Off};
    let answers = [
        Off, Classic, Accurate, Accurate, Accurate, Accurate, Accurate, Off,
    ];
    for (bits, want) in (0..8).zip(answers) {
        assert_eq!(confirm(Accurate, Flags::ace(bits)), want, "{bits:03b}");
    }
    let classic = [Off, Classic, Off, Off, Off, Classic, Off, Off];
    for (bits, want) in (0..8).zip(classic) {
        assert_eq!(confirm(Classic, Flags::ace(bits)), want, "{bits:03b}");
    }
}

/// SYN is sent with the flags twice, then without (§3.1.4.1); SYN-ACK with the option, without, and
/// without flags (§3.2.3.2.2).
#[test]
fn retransmissions_of_the_handshake_ask_for_less() {
    let cfg = config(r#"{"cc": {"prague": {}}}"#);
    let mut tx = Sender::new(&cfg, Time::ZERO);
    tx.write(Time::ZERO, 1);
    let mut syns = vec![];
    let mut now = Time::ZERO;
    for _ in 0..4 {
        tx.handle_timeout(now);
        syns.extend(std::iter::from_fn(|| tx.poll_transmit(now)).map(|s| s.flags.ace_field()));
        now = tx.poll_timeout().unwrap();
    }
    assert_eq!(syns, [0b111, 0b111, 0, 0]);

    let mut rx = Receiver::new(&cfg);
    let syn = Segment::bare(0, Flags::SYN | Flags::ace(0b111), Time::ZERO);
    rx.handle_segment(Time::ZERO, &syn, Ecn::NotEct);
    let mut now = Time::ZERO;
    let mut answers = vec![];
    for _ in 0..3 {
        rx.handle_timeout(now);
        let s = rx.poll_transmit(now).unwrap();
        answers.push((s.flags.ace_field(), s.counters().is_some()));
        now = rx.poll_timeout().unwrap();
    }
    assert_eq!(answers, [(0b010, true), (0b010, false), (0, false)]);
}

/// Appendix A.2, by hand: ACE, s.cep, packets acknowledged, marked bytes by an option; then marked
/// packets. Segments have 1000 bytes.
#[test]
fn ace_is_decoded_as_the_safest_likely_case() {
    for (ace, seen, acked, bytes, want) in [
        (5, 5, 2, None, 0),
        (6, 5, 2, None, 1),
        (1, 5, 4, None, 4),
        (0, 7, 1, None, 1),
        // s.cep is a whole number of which ACE has the low bits: 13 = 8 + 5.
        (7, 13, 2, None, 2),
        // More marks than packets: ACE is right (§3.2.2.5.2).
        (3, 0, 1, None, 3),
        // Up to seven packets cannot wrap.
        (7, 0, 7, None, 7),
        // With eight the same field may mean none or all; the latter is safe.
        (5, 5, 8, None, 8),
        (6, 5, 8, None, 1),
        (6, 5, 9, None, 9),
        (7, 5, 20, None, 18),
        // An option knows better.
        (5, 5, 8, Some(0), 0),
        (7, 5, 20, Some(2000), 2),
        (7, 5, 20, Some(10_000), 10),
        (7, 5, 20, Some(17_500), 18),
    ] {
        let got = marked_packets(ace, seen, acked, bytes, 1000);
        assert_eq!(got, want, "{ace} {seen} {acked} {bytes:?}");
    }
}

/// §3.2.3: 24 bits wrap, and an option that is overtaken takes nothing back.
#[test]
fn counters_of_the_option_wrap_and_never_go_back() {
    let mut f = Feedback::new();
    f.ce = FIELD - 500;
    let option = |ect, ce| Some(Counters::of(Ecn::Ect1, ect, ce));
    assert_eq!(f.read(6, option(1, 500), 1000, 1000).bytes, 1000);
    assert_eq!(f.ce, 500);
    assert_eq!(f.read(6, option(1, 200), 1000, 1000).bytes, 0);
    assert_eq!(f.ce, 500);
}

/// §3.2.2.4: a first field of 0 means that something clears it.
#[test]
fn a_cleared_field_is_no_counter() {
    let mut f = Feedback::new();
    assert!(f.read(0, None, 1000, 1000).cleared);
    let mut f = Feedback::new();
    assert!(!f.read(5, None, 1000, 1000).cleared);
    assert!(!f.read(0, None, 3000, 1000).cleared);
}

proptest! {
    /// Packets of one length, marked at random, and acknowledgments of which most are lost: by the
    /// option the sender knows every marked byte; by ACE alone it knows every marked packet while
    /// no more than seven packets go without an acknowledgment, and never less than there were
    /// marks in any run of fewer than eight; counters do not go back.
    #[test]
    fn feedback_survives_lost_acknowledgments(
        marks in proptest::collection::vec(any::<bool>(), 1..400),
        gaps in proptest::collection::vec(1_usize..24, 400),
        by_option in any::<bool>(),
        most in 1_usize..24,
    ) {
        const MSS: u16 = 1000;
        let (mut rx, mut tx) = (Counts::default(), Feedback::new());
        let (mut known, mut marked, mut waiting, mut gap) = (0, 0, 0, 0);
        for &m in &marks {
            let ecn = if m { Ecn::Ce } else { Ecn::Ect1 };
            rx.add(MSS, ecn, Ecn::Ect1);
            marked += u64::from(m) * u64::from(MSS);
            waiting += 1;
            // The first one arrives: three marks before it would look like a cleared field.
            if gap > 0 && waiting < gaps[gap].min(most) {
                continue;
            }
            gap += 1;
            let option = by_option.then(|| rx.option(Ecn::Ect1));
            let ace = Flags::ace(rx.packets).ace_field();
            let told = tx.read(ace, option, waiting as u64 * u64::from(MSS), MSS);
            known += told.bytes;
            waiting = 0;
            if by_option || most <= 7 {
                prop_assert_eq!(known, marked);
            } else {
                prop_assert!(known >= marked, "{known} of {marked}");
            }
            prop_assert!(!told.cleared);
            prop_assert_eq!(tx.packets & 7, rx.packets & 7);
        }
    }
}
