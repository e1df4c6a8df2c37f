//! Codecs: what each costs in delay and in quality.
//!
//! Ie (impairment without loss) and Bpl (robustness to packet loss) are the
//! provisional planning values of ITU-T G.113 Appendix I (05/2002, 11/2007),
//! tables I.1 and I.4; frames and look-ahead those of ITU-T G.114 (05/2003)
//! Annex A. Where G.113 has no Bpl, [`Codec::assumed`] says what stands there
//! instead. Wideband codecs (G.722, AMR-WB, Opus) have no place on the
//! narrow-band scale of the E-model and are not in the table.

use spillgate_core::Dur;

/// A speech codec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, with the source of its values.
    pub summary: &'static str,
    /// Equipment impairment factor without loss, Ie.
    pub ie: f64,
    /// Packet-loss robustness factor, Bpl.
    pub bpl: f64,
    /// Length of a frame; of codecs that code samples, the time between two.
    pub frame: Dur,
    /// What the coder must hear beyond the frame.
    pub look_ahead: Dur,
    /// Speech in a packet where nobody says otherwise.
    pub packetization: Dur,
    /// What is not a published value, if anything.
    pub assumed: Option<&'static str>,
}

/// The lower end of the range of Bpl in G.107 Table 2, that of G.711 without concealment.
const LEAST_ROBUST: &str = "Bpl: none published; 4.3, the least robust value of G.107's range";
const LIKE_G729A: &str = "Bpl: that of G.729A";
const LIKE_G7231: &str = "Bpl: that of G.723.1 at 6.3 kb/s";

const SAMPLE: Dur = Dur::from_us(125);
const NONE: Dur = Dur::ZERO;

/// Every codec in the table.
pub const CODECS: &[Codec] = &[
    Codec {
        name: "g711",
        summary: "G.711, 64 kb/s, with the packet-loss concealment of its Appendix I (G.113 App. I)",
        ie: 0.0,
        bpl: 25.1,
        frame: SAMPLE,
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: None,
    },
    Codec {
        name: "g711-no-plc",
        summary: "G.711, 64 kb/s, silence in place of lost packets (G.113 App. I)",
        ie: 0.0,
        bpl: 4.3,
        frame: SAMPLE,
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: None,
    },
    Codec {
        name: "g729",
        summary: "G.729, CS-ACELP, 8 kb/s (G.113 App. I)",
        ie: 10.0,
        bpl: 19.0,
        frame: Dur::from_ms(10),
        look_ahead: Dur::from_ms(5),
        packetization: Dur::from_ms(20),
        assumed: Some(LIKE_G729A),
    },
    Codec {
        name: "g729a",
        summary: "G.729 Annex A, with or without voice activity detection (Annex B), 8 kb/s (G.113 App. I)",
        ie: 11.0,
        bpl: 19.0,
        frame: Dur::from_ms(10),
        look_ahead: Dur::from_ms(5),
        packetization: Dur::from_ms(20),
        assumed: None,
    },
    Codec {
        name: "g723.1-6.3",
        summary: "G.723.1, MP-MLQ, 6.3 kb/s (G.113 App. I)",
        ie: 15.0,
        bpl: 16.1,
        frame: Dur::from_ms(30),
        look_ahead: Dur::from_us(7_500),
        packetization: Dur::from_ms(30),
        assumed: None,
    },
    Codec {
        name: "g723.1-5.3",
        summary: "G.723.1, ACELP, 5.3 kb/s (G.113 App. I)",
        ie: 19.0,
        bpl: 16.1,
        frame: Dur::from_ms(30),
        look_ahead: Dur::from_us(7_500),
        packetization: Dur::from_ms(30),
        assumed: Some(LIKE_G7231),
    },
    Codec {
        name: "gsm-efr",
        summary: "GSM enhanced full rate, ACELP, 12.2 kb/s (G.113 App. I)",
        ie: 5.0,
        bpl: 10.0,
        frame: Dur::from_ms(20),
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: None,
    },
    Codec {
        name: "amr-12.2",
        summary: "AMR at 12.2 kb/s, the same coding as GSM-EFR (3GPP TS 26.071; G.113 App. I)",
        ie: 5.0,
        bpl: 10.0,
        frame: Dur::from_ms(20),
        look_ahead: Dur::from_ms(5),
        packetization: Dur::from_ms(20),
        assumed: None,
    },
    Codec {
        name: "gsm-fr",
        summary: "GSM full rate, RPE-LTP, 13 kb/s (G.113 App. I)",
        ie: 20.0,
        bpl: 4.3,
        frame: Dur::from_ms(20),
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: Some(LEAST_ROBUST),
    },
    Codec {
        name: "g726-40",
        summary: "G.726, ADPCM, 40 kb/s (G.113 App. I)",
        ie: 2.0,
        bpl: 4.3,
        frame: SAMPLE,
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: Some(LEAST_ROBUST),
    },
    Codec {
        name: "g726-32",
        summary: "G.726, ADPCM, 32 kb/s (G.113 App. I)",
        ie: 7.0,
        bpl: 4.3,
        frame: SAMPLE,
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: Some(LEAST_ROBUST),
    },
    Codec {
        name: "g726-24",
        summary: "G.726, ADPCM, 24 kb/s (G.113 App. I)",
        ie: 25.0,
        bpl: 4.3,
        frame: SAMPLE,
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: Some(LEAST_ROBUST),
    },
    Codec {
        name: "g726-16",
        summary: "G.726, ADPCM, 16 kb/s (G.113 App. I)",
        ie: 50.0,
        bpl: 4.3,
        frame: SAMPLE,
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: Some(LEAST_ROBUST),
    },
    Codec {
        name: "g728",
        summary: "G.728, LD-CELP, 16 kb/s (G.113 App. I)",
        ie: 7.0,
        bpl: 4.3,
        frame: Dur::from_us(625),
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: Some(LEAST_ROBUST),
    },
];

/// Other spellings of names.
const ALIASES: &[(&str, &str)] = &[
    ("g711a", "g711"),
    ("g711u", "g711"),
    ("g711-alaw", "g711"),
    ("g711-ulaw", "g711"),
    ("pcma", "g711"),
    ("pcmu", "g711"),
    ("g729ab", "g729a"),
    ("g729b", "g729"),
    ("g723", "g723.1-6.3"),
    ("g723.1", "g723.1-6.3"),
    ("g726", "g726-32"),
    ("amr", "amr-12.2"),
    ("gsm", "gsm-fr"),
];

impl Codec {
    /// The codec of that name or of another spelling of it, in any case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        let name = name.trim().to_ascii_lowercase();
        let name = ALIASES
            .iter()
            .find(|(alias, _)| *alias == name)
            .map_or(name.as_str(), |(_, known)| *known);
        CODECS.iter().find(|c| c.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_written() {
        for codec in CODECS {
            assert_eq!(Codec::by_name(codec.name), Some(codec));
            assert!(codec.summary.contains("G.113"), "{}", codec.name);
            assert!((0.0..=50.0).contains(&codec.ie) && codec.bpl >= 4.3);
            assert_eq!(codec.packetization.as_ps() % codec.frame.as_ps(), 0);
        }
        for (alias, known) in ALIASES {
            assert_eq!(Codec::by_name(alias).map(|c| c.name), Some(*known));
        }
        assert_eq!(Codec::by_name(" G729A ").map(|c| c.ie), Some(11.0));
        assert_eq!(Codec::by_name("opus"), None);
    }

    #[test]
    fn values_of_g113() {
        // Table I.4: codec, Ie, Bpl.
        for (name, ie, bpl) in [
            ("g711-no-plc", 0.0, 4.3),
            ("g711", 0.0, 25.1),
            ("g729a", 11.0, 19.0),
            ("g723.1-6.3", 15.0, 16.1),
            ("gsm-efr", 5.0, 10.0),
        ] {
            let codec = Codec::by_name(name).unwrap();
            assert_eq!((codec.ie, codec.bpl, codec.assumed), (ie, bpl, None));
        }
    }
}
