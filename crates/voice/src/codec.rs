//! Codecs: what each costs in delay and in quality.
//!
//! Narrow band: Ie (impairment without loss) and Bpl (robustness to packet loss) are the
//! provisional planning values of ITU-T G.113 Appendix I (05/2002, 11/2007),
//! tables I.1 and I.4; frames and look-ahead those of ITU-T G.114 (05/2003)
//! Annex A. Wideband: Ie,WB and Bpl,WB of G.113 (09/2024) Appendix IV, tables
//! IV.1 (one ear) and IV.4 (both ears: none is published for one). Where G.113 has no value,
//! [`Codec::assumed`] says what stands there instead.

use spillgate_core::Dur;

use crate::Scale;

/// A speech codec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, with the source of its values.
    pub summary: &'static str,
    /// The scale of its values, and on which it is rated unless said otherwise.
    pub scale: Scale,
    /// Equipment impairment factor without loss, Ie or Ie,WB.
    pub ie: f64,
    /// Packet-loss robustness factor, Bpl or Bpl,WB.
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

const LIKE_GSM_EFR: &str = "Ie and Bpl: those of GSM-EFR, the same coding; G.113 has no AMR";
const G722: &str =
    "Ie,WB: recalled from G.113 App. IV, not checked; Bpl,WB: that of AMR-WB at 12.65 kb/s";
const BOTH_EARS: &str = "Bpl,WB: of listening with both ears (table IV.4)";
const NO_BPL: &str = "Bpl,WB: that of AMR-WB at 12.65 kb/s, the least robust that is published";
const OPUS: &str = "a guess on the safe side: Ie,WB and Bpl,WB of AMR-WB at 23.85 kb/s";

const SAMPLE: Dur = Dur::from_us(125);
const NONE: Dur = Dur::ZERO;
const FRAME: Dur = Dur::from_ms(20);

const fn wideband(
    name: &'static str,
    summary: &'static str,
    ie: f64,
    bpl: f64,
    frame: Dur,
    assumed: Option<&'static str>,
) -> Codec {
    Codec {
        name,
        summary,
        scale: Scale::Wideband,
        ie,
        bpl,
        frame,
        look_ahead: NONE,
        packetization: FRAME,
        assumed,
    }
}

/// A mode of AMR-WB; the look-ahead is that of 3GPP TS 26.190.
const fn amr_wb(
    name: &'static str,
    summary: &'static str,
    ie: f64,
    bpl: f64,
    assumed: &'static str,
) -> Codec {
    Codec {
        look_ahead: Dur::from_ms(5),
        ..wideband(name, summary, ie, bpl, FRAME, Some(assumed))
    }
}

/// Every codec in the table.
pub const CODECS: &[Codec] = &[
    Codec {
        name: "g711",
        summary: "G.711, 64 kb/s, with the packet-loss concealment of its Appendix I (G.113 App. I)",
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
        ie: 5.0,
        bpl: 10.0,
        frame: Dur::from_ms(20),
        look_ahead: Dur::from_ms(5),
        packetization: Dur::from_ms(20),
        assumed: Some(LIKE_GSM_EFR),
    },
    Codec {
        name: "gsm-fr",
        summary: "GSM full rate, RPE-LTP, 13 kb/s (G.113 App. I)",
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
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
        scale: Scale::Narrowband,
        ie: 7.0,
        bpl: 4.3,
        frame: Dur::from_us(625),
        look_ahead: NONE,
        packetization: Dur::from_ms(20),
        assumed: Some(LEAST_ROBUST),
    },
    Codec {
        look_ahead: Dur::from_us(1_500),
        ..wideband(
            "g722",
            "G.722, sub-band ADPCM, 64 kb/s (G.113 App. IV)",
            13.0,
            4.3,
            SAMPLE,
            Some(G722),
        )
    },
    Codec {
        look_ahead: Dur::from_us(1_500),
        ..wideband(
            "g722-56",
            "G.722 at 56 kb/s (G.113 App. IV)",
            20.0,
            4.3,
            SAMPLE,
            Some(G722),
        )
    },
    Codec {
        look_ahead: Dur::from_us(1_500),
        ..wideband(
            "g722-48",
            "G.722 at 48 kb/s (G.113 App. IV)",
            31.0,
            4.3,
            SAMPLE,
            Some(G722),
        )
    },
    amr_wb(
        "amr-wb-6.6",
        "AMR-WB (G.722.2) at 6.6 kb/s (G.113 App. IV)",
        41.0,
        4.3,
        NO_BPL,
    ),
    amr_wb(
        "amr-wb-8.85",
        "AMR-WB at 8.85 kb/s (G.113 App. IV)",
        26.0,
        4.3,
        NO_BPL,
    ),
    amr_wb(
        "amr-wb-12.65",
        "AMR-WB at 12.65 kb/s (G.113 App. IV)",
        13.0,
        4.3,
        BOTH_EARS,
    ),
    amr_wb(
        "amr-wb-14.25",
        "AMR-WB at 14.25 kb/s (G.113 App. IV)",
        10.0,
        4.3,
        NO_BPL,
    ),
    amr_wb(
        "amr-wb-15.85",
        "AMR-WB at 15.85 kb/s (G.113 App. IV)",
        7.0,
        4.3,
        NO_BPL,
    ),
    amr_wb(
        "amr-wb-18.25",
        "AMR-WB at 18.25 kb/s (G.113 App. IV)",
        5.0,
        4.3,
        NO_BPL,
    ),
    amr_wb(
        "amr-wb-19.85",
        "AMR-WB at 19.85 kb/s (G.113 App. IV)",
        3.0,
        4.3,
        NO_BPL,
    ),
    amr_wb(
        "amr-wb-23.05",
        "AMR-WB at 23.05 kb/s (G.113 App. IV)",
        1.0,
        4.6,
        BOTH_EARS,
    ),
    amr_wb(
        "amr-wb-23.85",
        "AMR-WB at 23.85 kb/s (G.113 App. IV)",
        8.0,
        4.9,
        BOTH_EARS,
    ),
    Codec {
        look_ahead: Dur::from_us(6_500),
        ..wideband(
            "opus",
            "Opus from 20 kb/s, of whose band 50 to 7000 Hz are rated (not in G.113)",
            8.0,
            4.9,
            FRAME,
            Some(OPUS),
        )
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
    ("amr-wb", "amr-wb-12.65"),
    ("g722-64", "g722"),
    ("g722.2", "amr-wb-12.65"),
];

/// What a narrow-band codec loses on the wideband scale for the band that it leaves out: the
/// difference of two perfect calls, 129 - 93.2.
pub const MISSING_BAND: f64 = 35.8;

impl Codec {
    /// Its equipment impairment on a scale; none where a scale does not reach so far.
    pub fn ie_on(&self, scale: Scale) -> Option<f64> {
        match (self.scale, scale) {
            (Scale::Narrowband, Scale::Wideband) => Some(self.ie + MISSING_BAND),
            (Scale::Wideband, Scale::Narrowband) => None,
            _ => Some(self.ie),
        }
    }

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
            let wide = codec.scale == Scale::Wideband;
            assert_eq!(codec.ie_on(Scale::Narrowband).is_none(), wide);
            assert!(codec.ie_on(Scale::Wideband) >= Some(codec.ie));
        }
        for (alias, known) in ALIASES {
            assert_eq!(Codec::by_name(alias).map(|c| c.name), Some(*known));
        }
        assert_eq!(Codec::by_name(" G729A ").map(|c| c.ie), Some(11.0));
        assert_eq!(Codec::by_name("speex"), None);
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
    #[test]
    fn values_of_appendix_iv() {
        // Tables IV.1 (Ie,WB of the nine modes of AMR-WB, one ear) and IV.4 (Bpl,WB), as another
        // program quotes them (github.com/NormB/sipnab, docs/mos-and-codecs.md). The best mode is
        // not the fastest; that is as published.
        for (mode, ie, bpl) in [
            ("6.6", 41.0, None),
            ("8.85", 26.0, None),
            ("12.65", 13.0, Some(4.3)),
            ("14.25", 10.0, None),
            ("15.85", 7.0, None),
            ("18.25", 5.0, None),
            ("19.85", 3.0, None),
            ("23.05", 1.0, Some(4.6)),
            ("23.85", 8.0, Some(4.9)),
        ] {
            let codec = Codec::by_name(&format!("amr-wb-{mode}")).unwrap();
            assert_eq!(codec.ie, ie, "{mode}");
            assert_eq!(codec.bpl, bpl.unwrap_or(4.3), "{mode}");
            assert_eq!(bpl.is_none(), codec.assumed == Some(NO_BPL), "{mode}");
        }
    }
}
